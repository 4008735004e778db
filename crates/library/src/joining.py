"""Arrays made of several arrays, and several made of one."""

import numpy as np

from weft.language import Static, axis_of, refuse, unrolled

from .shapes import expand_dims, moveaxis


def concatenate(arrays, axis: Static = 0, out=None, dtype: Static = None):
    """Arrays joined along an axis. Their other axes have the same lengths; without an axis each is one row.

    >>> np.concatenate((np.array([1, 2]), np.array([3])))
    array([1, 2, 3])
    """
    if not isinstance(arrays, tuple):
        refuse("concatenate takes a tuple of arrays")
    if len(arrays) == 0:
        raise ValueError("need at least one array to concatenate")
    if axis is None:
        rows = ()
        for a in unrolled(arrays):
            rows = rows + (np.ravel(a),)
        return concatenate(rows, 0, out, dtype)
    first = np.asarray(arrays[0])
    axis = axis_of(axis, first.ndim)
    total = 0
    for a in unrolled(arrays):
        if np.ndim(a) != first.ndim:
            refuse("all the input array dimensions must match in number for concatenate")
        for i in unrolled(range(first.ndim)):
            if i != axis:
                if np.shape(a)[i] != first.shape[i]:
                    raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
        total += np.shape(a)[axis]
    if out is None:
        if dtype is None:
            joined = np.empty(first.shape[:axis] + (total,) + first.shape[axis + 1 :], np.result_type(*arrays))
        else:
            joined = np.empty(first.shape[:axis] + (total,) + first.shape[axis + 1 :], dtype)
    else:
        if out.shape != first.shape[:axis] + (total,) + first.shape[axis + 1 :]:
            raise ValueError("Output array is the wrong shape")
        joined = out
    place = moveaxis(joined, axis, 0)
    at = 0
    for a in unrolled(arrays):
        n = np.shape(a)[axis]
        place[at : at + n] = moveaxis(a, axis, 0)
        at += n
    return joined


def stack(arrays, axis: Static = 0, out=None, dtype: Static = None):
    """Arrays of one shape joined along a new axis.

    >>> np.stack((np.array([1, 2]), np.array([3, 4])), axis=1)
    array([[1, 3],
           [2, 4]])
    """
    if not isinstance(arrays, tuple):
        refuse("stack takes a tuple of arrays")
    if len(arrays) == 0:
        raise ValueError("need at least one array to stack")
    raised = ()
    for a in unrolled(arrays):
        if np.ndim(a) != np.ndim(arrays[0]) or np.shape(a) != np.shape(arrays[0]):
            raise ValueError("all input arrays must have the same shape")
        raised = raised + (expand_dims(a, axis),)
    return concatenate(raised, axis, out, dtype)

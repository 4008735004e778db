"""Views of arrays with other axes, and arrays with their elements in other places."""

import numpy as np

from weft.language import Static, axes_of, axis_of, refuse, unrolled


def moveaxis(a, source: Static, destination: Static):
    """The array with axes moved to other places: a view. `source` and `destination`: an axis or a tuple of axes.

    >>> np.moveaxis(np.zeros((3, 4, 5)), 0, -1).shape
    (4, 5, 3)
    """
    a = np.asarray(a)
    source = axes_of(source, a.ndim)
    destination = axes_of(destination, a.ndim)
    if len(source) != len(destination):
        refuse("moveaxis takes as many destinations as sources")
    order = ()
    rest = ()
    for axis in unrolled(range(a.ndim)):
        if axis not in source:
            rest = rest + (axis,)
    taken = 0
    for place in unrolled(range(a.ndim)):
        if place in destination:
            for i in unrolled(range(len(source))):
                if destination[i] == place:
                    order = order + (source[i],)
        else:
            order = order + (rest[taken],)
            taken = taken + 1
    return np.transpose(a, order)


def swapaxes(a, axis1: Static, axis2: Static):
    """The array with two axes exchanged: a view.

    >>> np.swapaxes(np.zeros((3, 4, 5)), 0, 2).shape
    (5, 4, 3)
    """
    a = np.asarray(a)
    axis1 = axis_of(axis1, a.ndim)
    axis2 = axis_of(axis2, a.ndim)
    order = ()
    for axis in unrolled(range(a.ndim)):
        if axis == axis1:
            order = order + (axis2,)
        elif axis == axis2:
            order = order + (axis1,)
        else:
            order = order + (axis,)
    return np.transpose(a, order)


def expand_dims(a, axis: Static):
    """A view with axes of length 1 put in where `axis`, an integer or a tuple, says: places in the result.

    >>> np.expand_dims(np.zeros((3, 4)), (0, 3)).shape
    (1, 3, 4, 1)
    """
    a = np.asarray(a)
    if isinstance(axis, tuple):
        places = axes_of(axis, a.ndim + len(axis))
    else:
        places = axes_of(axis, a.ndim + 1)
    index = ()
    for place in unrolled(range(a.ndim + len(places))):
        if place in places:
            index = index + (None,)
        else:
            index = index + (slice(None),)
    return a[index]


def squeeze(a, axis: Static = None):
    """A view without axes of length 1, which `axis` names: how many axes an array has must be known.

    >>> np.squeeze(np.zeros((1, 3, 1)), axis=(0, 2)).shape
    (3,)
    """
    a = np.asarray(a)
    if axis is None:
        refuse("squeeze needs the axes in compiled functions, where lengths are known at run time only: squeeze(a, axis=0)")
    places = axes_of(axis, a.ndim)
    index = ()
    for place in unrolled(range(a.ndim)):
        if place in places:
            if a.shape[place] != 1:
                raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
            index = index + (0,)
        else:
            index = index + (slice(None),)
    return a[index]


def flip(m, axis: Static = None):
    """A view with the elements in reverse order along axes, all of them by default.

    >>> np.flip(np.array([1, 2, 3]))
    array([3, 2, 1])
    """
    m = np.asarray(m)
    places = axes_of(axis, m.ndim)
    index = ()
    for place in unrolled(range(m.ndim)):
        if place in places:
            index = index + (slice(None, None, -1),)
        else:
            index = index + (slice(None),)
    return m[index]


def roll(a, shift, axis: Static = None):
    """The elements moved along an axis, those that leave at its end come in at its start. Without an axis, along the array as one row.

    >>> np.roll(np.arange(5), 2)
    array([3, 4, 0, 1, 2])
    """
    a = np.asarray(a)
    out = np.empty(a.shape, a.dtype)
    if axis is None:
        flat = a.ravel()
        _roll(flat, shift, out.reshape(-1))
    else:
        axis = axis_of(axis, a.ndim)
        _roll(moveaxis(a, axis, 0), shift, moveaxis(out, axis, 0))
    return out


def _roll(a, shift, out):
    n = len(a)
    if n > 0:
        k = shift % n
        out[k:] = a[: n - k]
        out[:k] = a[n - k :]

"""Concatenation, stacking, splitting and repetition: arrays made of several, and several made of one."""

import numpy as np

from weft.language import Static, axis_of, highest, refuse, unrolled

from .shapes import _flat, atleast_2d, atleast_3d, expand_dims, moveaxis


def concatenate(arrays, /, axis: Static = 0, out=None, *, dtype: Static = None, casting: Static = "same_kind"):
    """Arrays joined along an axis. Their other axes have the same lengths; without an axis each is one row.

    >>> np.concatenate((np.array([1, 2]), np.array([3])))
    array([1, 2, 3])
    """
    _check_casting(casting)
    if isinstance(arrays, np.ndarray):
        return _merged(arrays, axis, out, dtype, casting)
    if not isinstance(arrays, (tuple, list)):
        refuse("concatenate takes a tuple of arrays")
    if len(arrays) == 0:
        raise ValueError("need at least one array to concatenate")
    parts = ()
    for a in unrolled(tuple(arrays)):
        if axis is None:
            parts = parts + (_flat(_array(a)),)
        else:
            parts = parts + (_array(a),)
    axis = 0 if axis is None else axis
    first = parts[0]
    if first.ndim == 0:
        refuse("zero-dimensional arrays cannot be concatenated")
    axis = axis_of(axis, first.ndim)
    total = 0
    for a in unrolled(parts):
        if a.ndim != first.ndim:
            refuse("all the input array dimensions must match in number for concatenate")
        for i in unrolled(range(first.ndim)):
            if i != axis:
                if a.shape[i] != first.shape[i]:
                    raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
        total += a.shape[axis]
        if total < 0:
            raise ValueError("array is too big")
    shape = first.shape[:axis] + (total,) + first.shape[axis + 1 :]
    if out is None:
        joined = np.empty(shape, np.result_type(*parts) if dtype is None else dtype)
    else:
        if dtype is not None:
            refuse("concatenate takes either out or dtype")
        if out.ndim != first.ndim:
            refuse("the array for the result has another number of axes")
        if out.shape != shape:
            raise ValueError("Output array is the wrong shape")
        joined = np.empty(shape, out.dtype)
    start = 0
    for a in unrolled(parts):
        _check_cast(a.dtype, joined.dtype, casting)
        for at in np.ndindex(a.shape):
            joined[at[:axis] + (at[axis] + start,) + at[axis + 1 :]] = a[at]
        start += a.shape[axis]
    if out is None:
        return joined
    # It may share memory with the parts.
    out[...] = joined
    return out


def _array(items):
    """An array of what is given: an array, numbers, or a list of arrays of one shape."""
    if isinstance(items, (tuple, list)):
        for item in unrolled(tuple(items)):
            if isinstance(item, np.ndarray):
                return stack(items)
    return np.asarray(items)


def _merged(arrays, axis: Static, out, dtype: Static, casting: Static):
    """The items of one array joined: its first axis and the one behind become one."""
    _check_casting(casting)
    if arrays.ndim < 2:
        refuse("zero-dimensional arrays cannot be concatenated")
    if len(arrays) == 0:
        raise ValueError("need at least one array to concatenate")
    if axis is None:
        return concatenate((arrays.ravel(),), 0, out, dtype=dtype, casting=casting)
    axis = axis_of(axis, arrays.ndim - 1)
    a = moveaxis(arrays, 0, axis).copy()
    a = a.reshape(a.shape[:axis] + (a.shape[axis] * a.shape[axis + 1],) + a.shape[axis + 2 :])
    if out is None and dtype is None:
        return a
    return concatenate((a,), axis, out, dtype=dtype, casting=casting)


def _check_casting(casting: Static):
    if casting != "same_kind" and casting != "unsafe":
        refuse("casting is 'same_kind' or 'unsafe' in compiled functions")


def _check_cast(given: Static, wanted: Static, casting: Static):
    """Refuses to convert to a kind of numbers that holds less."""
    if casting == "unsafe":
        return
    kinds = ("b", "u", "i", "f", "c")
    place = 0
    for i in unrolled(range(5)):
        if kinds[i] == wanted.kind:
            place = i
    if given.kind not in kinds[: place + 1]:
        refuse(f"{given} is not converted to {wanted} with casting 'same_kind'")


def stack(arrays, axis: Static = 0, out=None, *, dtype: Static = None, casting: Static = "same_kind"):
    """Arrays of one shape joined along a new axis.

    >>> np.stack((np.array([1, 2]), np.array([3, 4])), axis=1)
    array([[1, 3],
           [2, 4]])
    """
    if axis is None:
        refuse("stack needs an axis")
    if isinstance(arrays, np.ndarray):
        if arrays.ndim == 0:
            refuse("stack takes a tuple of arrays")
        return _merged(expand_dims(arrays, 1 + axis_of(axis, arrays.ndim)), axis, out, dtype, casting)
    if not isinstance(arrays, (tuple, list)):
        refuse("stack takes a tuple of arrays")
    if len(arrays) == 0:
        raise ValueError("need at least one array to stack")
    raised = ()
    for a in unrolled(tuple(arrays)):
        if np.ndim(np.asarray(a)) != np.ndim(np.asarray(arrays[0])):
            refuse("all input arrays must have the same shape")
        if np.shape(np.asarray(a)) != np.shape(np.asarray(arrays[0])):
            raise ValueError("all input arrays must have the same shape")
        raised = raised + (expand_dims(a, axis),)
    return concatenate(raised, axis, out, dtype=dtype, casting=casting)


def vstack(tup, *, dtype: Static = None, casting: Static = "same_kind"):
    """Arrays joined along the first axis, rows to a matrix.

    >>> np.vstack((np.array([1, 2]), np.array([3, 4])))
    array([[1, 2],
           [3, 4]])
    """
    if isinstance(tup, np.ndarray):
        if tup.ndim == 1:
            return concatenate(tup[:, None, None], 0, None, dtype=dtype, casting=casting)
        if tup.ndim == 2:
            return concatenate(tup[:, None], 0, None, dtype=dtype, casting=casting)
        return concatenate(tup, 0, None, dtype=dtype, casting=casting)
    if not isinstance(tup, (tuple, list)):
        refuse("vstack takes a tuple of arrays")
    raised = ()
    for a in unrolled(tuple(tup)):
        raised = raised + (atleast_2d(a),)
    return concatenate(raised, 0, None, dtype=dtype, casting=casting)


def hstack(tup, *, dtype: Static = None, casting: Static = "same_kind"):
    """Arrays joined along the second axis, rows one behind the other.

    >>> np.hstack((np.array([1, 2]), np.array([3])))
    array([1, 2, 3])
    """
    if isinstance(tup, np.ndarray):
        if tup.ndim == 1:
            return concatenate(tup[:, None], 0, None, dtype=dtype, casting=casting)
        return concatenate(tup, 0 if tup.ndim == 2 else 1, None, dtype=dtype, casting=casting)
    if not isinstance(tup, (tuple, list)):
        refuse("hstack takes a tuple of arrays")
    raised = ()
    for a in unrolled(tuple(tup)):
        raised = raised + (np.atleast_1d(a),)
    if len(raised) > 0 and raised[0].ndim == 1:
        return concatenate(raised, 0, None, dtype=dtype, casting=casting)
    return concatenate(raised, 1, None, dtype=dtype, casting=casting)


def dstack(tup):
    """Arrays joined along the third axis.

    >>> np.dstack((np.array([1, 2]), np.array([3, 4])))
    array([[[1, 3],
            [2, 4]]])
    """
    if isinstance(tup, np.ndarray):
        if tup.ndim == 1:
            return concatenate(tup[:, None, None, None], 2)
        if tup.ndim == 2:
            return concatenate(tup[:, None, :, None], 2)
        if tup.ndim == 3:
            return concatenate(tup[:, :, :, None], 2)
        return concatenate(tup, 2)
    if not isinstance(tup, (tuple, list)):
        refuse("dstack takes a tuple of arrays")
    raised = ()
    for a in unrolled(tuple(tup)):
        raised = raised + (atleast_3d(a),)
    return concatenate(raised, 2)


def column_stack(tup):
    """Arrays joined as columns of a matrix; what has two axes is joined as it is.

    >>> np.column_stack((np.array([1, 2]), np.array([3, 4])))
    array([[1, 3],
           [2, 4]])
    """
    if isinstance(tup, np.ndarray):
        if tup.ndim == 1:
            return concatenate(tup[:, None, None], 1)
        if tup.ndim == 2:
            return concatenate(tup[:, :, None], 1)
        return concatenate(tup, 1)
    if not isinstance(tup, (tuple, list)):
        refuse("column_stack takes a tuple of arrays")
    columns = ()
    for a in unrolled(tuple(tup)):
        if np.asarray(a).ndim < 2:
            columns = columns + (np.atleast_1d(a)[:, None],)
        else:
            columns = columns + (np.asarray(a),)
    return concatenate(columns, 1)


def append(arr, values, axis: Static = None):
    """The array with values behind its end; without an axis both are one row.

    >>> np.append(np.array([1, 2]), 3)
    array([1, 2, 3])
    """
    return concatenate((arr, values), axis)


def array_split(ary, indices_or_sections, axis: Static = 0):
    """Views of parts of the array along an axis: a tuple. So many parts, nearly of one length, or the parts between given places.

    >>> first, second = np.array_split(np.arange(5), 2)
    >>> second
    array([3, 4])
    """
    ary = np.asarray(ary)
    axis = axis_of(axis, ary.ndim)
    parts = ()
    if isinstance(indices_or_sections, (tuple, list)):
        start = 0
        for stop in unrolled(tuple(indices_or_sections)):
            parts = parts + (_part(ary, axis, start, stop),)
            start = stop
        return parts + (_part(ary, axis, start, None),)
    if isinstance(indices_or_sections, np.ndarray):
        refuse("array_split takes a number or a tuple: how many parts there are must be known")
    return _even_parts(ary, indices_or_sections, axis)


def _even_parts(a, sections: Static, axis: Static):
    """So many parts; those in front are longer by one where the length does not divide."""
    if not isinstance(sections, int):
        refuse("the number of parts is an integer")
    if sections <= 0:
        raise ValueError("number sections must be larger than 0.")
    length = a.shape[axis] // sections
    longer = a.shape[axis] % sections
    parts = ()
    for i in unrolled(range(sections)):
        parts = parts + (_part(a, axis, i * length + min(i, longer), (i + 1) * length + min(i + 1, longer)),)
    return parts


def _part(a, axis: Static, start, stop):
    """A slice along one axis."""
    if axis == 0:
        return a[start:stop]
    if axis == 1:
        return a[:, start:stop]
    if axis == 2:
        return a[:, :, start:stop]
    if axis == 3:
        return a[:, :, :, start:stop]
    return moveaxis(moveaxis(a, axis, 0)[start:stop], 0, axis)


def split(ary, indices_or_sections, axis: Static = 0):
    """Views of parts of the array along an axis: a tuple. So many parts of one length, or the parts between given places.

    >>> first, second = np.split(np.arange(4), 2)
    >>> second
    array([2, 3])
    """
    ary = np.asarray(ary)
    axis = axis_of(axis, ary.ndim)
    if isinstance(indices_or_sections, int):
        if indices_or_sections == 0:
            raise ZeroDivisionError("integer modulo by zero")
        if ary.shape[axis] % indices_or_sections != 0:
            raise ValueError("array split does not result in an equal division")
    return array_split(ary, indices_or_sections, axis)


def hsplit(ary, indices_or_sections):
    """Views of parts along the second axis, of rows along the only one.

    >>> first, second = np.hsplit(np.arange(4), 2)
    >>> second
    array([2, 3])
    """
    ary = np.asarray(ary)
    if ary.ndim == 0:
        refuse("hsplit only works on arrays of 1 or more dimensions")
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def vsplit(ary, indices_or_sections):
    """Views of parts along the first axis, of an array that has two axes at least.

    >>> first, second = np.vsplit(np.array([[1, 2], [3, 4]]), 2)
    >>> second
    array([[3, 4]])
    """
    ary = np.asarray(ary)
    if ary.ndim < 2:
        refuse("vsplit only works on arrays of 2 or more dimensions")
    return split(ary, indices_or_sections, 0)


def dsplit(ary, indices_or_sections):
    """Views of parts along the third axis.

    >>> first, second = np.dsplit(np.zeros((1, 1, 2)), 2)
    >>> second
    array([[[0.]]])
    """
    ary = np.asarray(ary)
    if ary.ndim < 3:
        refuse("dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)


def repeat(a, repeats, axis: Static = None):
    """Every element several times along an axis: one number for all, or one for each. Without an axis, of the array as one row.

    >>> np.repeat(np.array([1, 2]), 2)
    array([1, 1, 2, 2])
    """
    a = np.asarray(a)
    if axis is None:
        return repeat(_flat(a), repeats, 0)
    axis = axis_of(axis, a.ndim)
    if isinstance(repeats, (tuple, list, np.ndarray)):
        counts = np.asarray(repeats)
        if counts.ndim > 1:
            refuse("repeat takes one number or a row of numbers")
        if counts.dtype.kind not in ("b", "i", "u") or counts.dtype == np.uint64:
            refuse(f"repeat takes integers that fit in int64, not {counts.dtype}")
        if counts.ndim == 0:
            return repeat(a, int(counts.item()), axis)
        return _repeat_each(a, counts, axis)
    if isinstance(repeats, (float, np.inexact, np.uint64)):
        refuse("repeat takes integers")
    times = int(repeats)
    if times < 0:
        raise ValueError("repeats may not contain negative values.")
    n = a.shape[axis]
    if times > 0 and n > highest(np.int64) // times:
        raise ValueError("array is too big")
    out = np.empty(a.shape[:axis] + (n * times,) + a.shape[axis + 1 :], a.dtype)
    if axis == a.ndim - 1:
        for at in np.ndindex(a.shape):
            element = a[at]
            start = at[axis] * times
            for i in range(times):
                out[at[:axis] + (start + i,)] = element
    else:
        for at in np.ndindex(a.shape[: axis + 1]):
            for i in range(times):
                to = out[at[:axis] + (at[axis] * times + i,)]
                row = a[at]
                for rest in np.ndindex(row.shape):
                    to[rest] = row[rest]
    return out


def _repeat_each(a, counts, axis: Static):
    """Every element as often as its own number says."""
    n = a.shape[axis]
    if len(counts) == 1:
        return repeat(a, int(counts[0]), axis)
    if len(counts) != n:
        raise ValueError("operands could not be broadcast together")
    starts = np.empty(n + 1, np.int64)
    total = 0
    for i in range(n):
        if counts[i] < 0:
            raise ValueError("repeats may not contain negative values.")
        starts[i] = total
        total += int(counts[i])
        if total < 0:
            raise ValueError("array is too big")
    starts[n] = total
    out = np.empty(a.shape[:axis] + (total,) + a.shape[axis + 1 :], a.dtype)
    for at in np.ndindex(a.shape[: axis + 1]):
        for i in range(starts[at[axis]], starts[at[axis] + 1]):
            if axis == a.ndim - 1:
                out[at[:axis] + (i,)] = a[at]
            else:
                to = out[at[:axis] + (i,)]
                row = a[at]
                for rest in np.ndindex(row.shape):
                    to[rest] = row[rest]
    return out


def tile(A, reps):
    """The array side by side with itself, as often along each axis as `reps`, a number or a tuple, says.

    >>> np.tile(np.array([1, 2]), 2)
    array([1, 2, 1, 2])
    """
    A = np.asarray(A)
    if isinstance(reps, np.ndarray):
        refuse("tile takes a number or a tuple of numbers: how many axes there are must be known")
    if not isinstance(reps, (tuple, list)):
        return tile(A, (reps,))
    times = tuple(reps)
    rank = max(A.ndim, len(times))
    times = (1,) * (rank - len(times)) + times
    lengths = (1,) * (rank - A.ndim) + A.shape
    shape = ()
    pairs = ()
    index = ()
    for i in unrolled(range(rank)):
        if times[i] < 0:
            raise ValueError("negative dimensions are not allowed")
        if times[i] > 0:
            if lengths[i] > highest(np.int64) // times[i]:
                raise ValueError("array is too big")
        shape = shape + (lengths[i] * times[i],)
        pairs = pairs + (times[i], lengths[i])
        if i < rank - A.ndim:
            index = index + (None, None)
        else:
            index = index + (None, slice(None))
    out = np.empty(shape, A.dtype)
    if A.ndim == 0:
        out[...] = A.item()
    elif rank == 1:
        _repeat_row(A, out)
    else:
        out.reshape(pairs)[...] = A[index]
    return out


def _repeat_row(row, out):
    """Fills an array with a row again and again; of a short one, with what is filled already."""
    filled = min(len(row), len(out))
    for i in range(filled):
        out[i] = row[i]
    period = filled
    while filled < len(out):
        n = min(period, len(out) - filled)
        for i in range(n):
            out[filled + i] = out[i]
        filled += n
        if period < 1000:
            period = filled

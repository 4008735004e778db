"""Elements taken from, and put into, the places that indices or masks select."""

import numpy as np

from weft.language import Static, axis_of, refuse, unrolled

from .comparing import _given
from .shapes import _flat


def take(a, indices, axis: Static = None, out=None, mode: Static = "raise"):
    """The elements with these indices along an axis; without one, of the array as one row.

    >>> np.take(np.array([4, 5, 6]), np.array([0, 2]))
    array([4, 6])
    """
    a = np.asarray(a)
    if axis is None:
        return take(_flat(a), indices, 0, out, mode)
    if a.ndim == 0:
        refuse("there is no axis in an array that is a number")
    axis = axis_of(axis, a.ndim)
    if isinstance(indices, (tuple, list)) and len(indices) == 0:
        return take(a, np.empty(0, np.int64), axis, out, mode)
    indices = _given(indices)
    if indices.dtype.kind not in "biu":
        refuse(f"indices are integers, not {indices.dtype}")
    n = a.shape[axis]
    if indices.ndim == 0 and a.ndim == 1:
        if out is not None:
            refuse("one element is a number in compiled functions: there is no array to put it into")
        return a[_position(indices.item(), n, mode)]
    shape = a.shape[:axis] + indices.shape + a.shape[axis + 1 :]
    if out is None:
        taken = np.empty(shape, a.dtype)
    else:
        if out.ndim != len(shape) or out.dtype != a.dtype:
            refuse("the array for the elements has another type or number of axes")
        if out.shape != shape:
            raise ValueError("output array does not match result of ndarray.take")
        # It may share memory with the array.
        out[...] = take(a, indices, axis, None, mode)
        return out
    if mode != "raise" and n == 0 and taken.size == 0:
        return taken
    if indices.ndim == 0:
        i = _position(indices.item(), n, mode)
        for at in np.ndindex(shape):
            taken[at] = a[at[:axis] + (i,) + at[axis:]]
    elif axis == a.ndim - 1:
        for at in np.ndindex(a.shape[:axis]):
            row = a[at]
            result = taken[at]
            for place in np.ndindex(indices.shape):
                result[place] = row[_position(int(indices[place]), n, mode)]
    else:
        for at in np.ndindex(a.shape[:axis]):
            for place in np.ndindex(indices.shape):
                item = a[at + (_position(int(indices[place]), n, mode),)]
                result = taken[at + place]
                for rest in np.ndindex(item.shape):
                    result[rest] = item[rest]
    return taken


def _position(i, n, mode: Static):
    """The place of an index on an axis of n elements."""
    if mode == "raise":
        if i < -n or i >= n:
            raise IndexError("index is out of bounds for its axis")
        return i + n if i < 0 else i
    if mode == "wrap":
        if n == 0:
            raise IndexError("cannot do a non-empty take from an empty axes.")
        return i % n if i < 0 or i >= n else i
    if mode == "clip":
        if n == 0:
            raise IndexError("cannot do a non-empty take from an empty axes.")
        return min(max(i, 0), n - 1)
    refuse("clipmode must be one of 'clip', 'raise', or 'wrap'")


def take_along_axis(arr, indices, axis: Static = -1):
    """The elements at indices along an axis, where each row of the array has its own; without an axis, of the array as one row.

    >>> np.take_along_axis(np.array([[4, 5], [6, 7]]), np.array([[1], [0]]), 1)
    array([[5],
           [6]])
    """
    arr = np.asarray(arr)
    indices = np.asarray(indices)
    if axis is None:
        if indices.ndim != 1:
            refuse("when axis=None, `indices` must have a single dimension.")
        return take_along_axis(_flat(arr), indices, 0)
    axis = axis_of(axis, arr.ndim)
    _refuse_unless_along(arr, indices)
    n = arr.shape[axis]
    out = np.empty(_along_shape(arr, indices, axis), arr.dtype)
    for at in np.ndindex(out.shape):
        i = _position(int(indices[_stretched(at, indices.shape)]), n, "raise")
        out[at] = arr[_stretched(at[:axis], arr.shape[:axis]) + (i,) + _stretched(at[axis + 1 :], arr.shape[axis + 1 :])]
    return out


def put_along_axis(arr, indices, values, axis: Static):
    """Puts values at indices along an axis, where each row of the array has its own; without an axis, into the array as one row.

    >>> a = np.array([[1, 2], [3, 4]])
    >>> np.put_along_axis(a, np.array([[1], [0]]), 0, 1)
    >>> a
    array([[1, 0],
           [0, 4]])
    """
    if not isinstance(arr, np.ndarray):
        refuse("put_along_axis takes an array")
    indices = np.asarray(indices)
    if axis is None:
        if indices.ndim != 1:
            refuse("when axis=None, `indices` must have a single dimension.")
        if arr.ndim != 1:
            refuse("put_along_axis needs an axis in compiled functions")
        put_along_axis(arr, indices, values, 0)
        return
    axis = axis_of(axis, arr.ndim)
    _refuse_unless_along(arr, indices)
    n = arr.shape[axis]
    shape = _along_shape(arr, indices, axis)
    values = _given(values)
    if values.ndim > arr.ndim:
        refuse("the values have more axes than the array")
    before = arr.ndim - values.ndim
    for i in unrolled(range(values.ndim)):
        if values.shape[i] != 1 and values.shape[i] != shape[before + i]:
            raise ValueError("shape mismatch: value array could not be broadcast to indexing result")
    # They may be elements of the array.
    given = values.copy() if values.ndim > 0 else values.item()
    for at in np.ndindex(shape):
        _position(int(indices[_stretched(at, indices.shape)]), n, "raise")
    for at in np.ndindex(shape):
        i = _position(int(indices[_stretched(at, indices.shape)]), n, "raise")
        there = _stretched(at[:axis], arr.shape[:axis]) + (i,) + _stretched(at[axis + 1 :], arr.shape[axis + 1 :])
        if values.ndim > 0:
            arr[there] = given[_stretched(at[before:], given.shape)]
        else:
            arr[there] = given


def _refuse_unless_along(arr, indices):
    if indices.dtype.kind not in "iu":
        refuse("`indices` must be an integer array")
    if indices.ndim != arr.ndim:
        refuse("`indices` and `arr` must have the same number of dimensions")


def _along_shape(arr, indices, axis: Static):
    """The lengths of what indices along an axis select: those of the other axes broadcast."""
    shape = ()
    for i in unrolled(range(arr.ndim)):
        n = indices.shape[i]
        if i != axis:
            if n == 1:
                n = arr.shape[i]
            elif arr.shape[i] != 1 and arr.shape[i] != n:
                raise IndexError("shape mismatch: indexing arrays could not be broadcast together")
        shape = shape + (n,)
    return shape


def _stretched(at, shape):
    """A position in an array that is broadcast: along an axis of length 1 there is one."""
    there = ()
    for i in unrolled(range(len(shape))):
        there = there + (0 if shape[i] == 1 else at[i],)
    return there


def put(a, ind, v, mode: Static = "raise"):
    """Puts values at indices into the array as one row, from the first again where there are fewer values than indices.

    >>> a = np.array([1, 2, 3])
    >>> np.put(a, np.array([0, 2]), 9)
    >>> a
    array([9, 2, 9])
    """
    if not isinstance(a, np.ndarray):
        refuse("put takes an array")
    indices = _given(ind)
    if indices.dtype.kind not in "biu" or indices.dtype == np.uint64:
        refuse(f"indices are integers that fit in int64, not {indices.dtype}")
    values = _given(v)
    if indices.ndim == 0:
        if values.size > 0:
            _put_flat(a, _position(indices.item(), a.size, mode), values.item() if values.ndim == 0 else values.ravel()[0])
        return
    # Indices and values may be elements of the array.
    if indices.dtype == a.dtype:
        indices = indices.copy()
    if values.ndim == 0:
        for place in np.ndindex(indices.shape):
            _put_flat(a, _position(int(indices[place]), a.size, mode), values.item())
        return
    row = values.copy().reshape(-1)
    if len(row) > 0:
        at = 0
        for place in np.ndindex(indices.shape):
            _put_flat(a, _position(int(indices[place]), a.size, mode), row[at])
            at += 1
            if at == len(row):
                at = 0


def _put_flat(a, i, value):
    """Puts a value into the array as one row."""
    if a.ndim == 1:
        a[i] = value
    else:
        a[_point(i, a.shape)] = value


def _point(i, shape):
    """The position of an element of that number in C's order."""
    rest = i
    point = ()
    for axis in unrolled(range(len(shape) - 1, 0, -1)):
        point = (rest % shape[axis],) + point
        rest = rest // shape[axis]
    return (rest,) + point


def place(arr, mask, vals):
    """Puts values where a mask is true, from the first again where they do not suffice.

    >>> a = np.array([1, 2, 3])
    >>> np.place(a, a > 1, np.array([8, 9]))
    >>> a
    array([1, 8, 9])
    """
    if not isinstance(arr, np.ndarray):
        refuse("place takes an array")
    flags = _flat(np.asarray(mask))
    values = _flat(np.asarray(vals))
    if len(flags) != arr.size:
        raise ValueError("place: mask and data must be the same size")
    number = 0
    used = 0
    for at in np.ndindex(arr.shape):
        if flags[number] != 0:
            if len(values) == 0:
                raise ValueError("Cannot insert from an empty array!")
            arr[at] = values[used]
            used += 1
            if used == len(values):
                used = 0
        number += 1


def extract(condition, arr):
    """The elements of the array, as one row, where a condition is true.

    >>> np.extract(np.array([True, False, True]), np.array([4, 5, 6]))
    array([4, 6])
    """
    return compress(_flat(np.asarray(condition)), arr)


def compress(condition, a, axis: Static = None, out=None):
    """The elements along an axis where a condition is true; without an axis, of the array as one row.

    >>> np.compress(np.array([True, False, True]), np.array([4, 5, 6]))
    array([4, 6])
    """
    a = np.asarray(a)
    condition = np.asarray(condition)
    if condition.ndim != 1:
        refuse("condition must be a 1-d array")
    if axis is None:
        return compress(condition, _flat(a), 0, out)
    axis = axis_of(axis, a.ndim)
    n = a.shape[axis]
    count = 0
    for i in range(min(len(condition), n)):
        count += 1 if condition[i] != 0 else 0
    rows = 1
    for length in unrolled(a.shape[:axis]):
        rows = rows * length
    for i in range(n, len(condition)):
        if condition[i] != 0:
            if rows > 0:
                raise IndexError("index is out of bounds for its axis")
            count += 1
    shape = a.shape[:axis] + (count,) + a.shape[axis + 1 :]
    if out is None:
        chosen = np.empty(shape, a.dtype)
    else:
        if out.ndim != a.ndim or out.dtype != a.dtype:
            refuse("the array for the elements has another type or number of axes")
        if out.shape != shape:
            raise ValueError("output array does not match result of ndarray.take")
        chosen = out
    end = min(len(condition), n)
    while end > 0 and condition[end - 1] == 0:
        end -= 1
    for at in np.ndindex(a.shape[:axis]):
        k = 0
        if axis == a.ndim - 1:
            # What is not chosen is written over: the last element is one that is.
            row = a[at]
            result = chosen[at]
            for i in range(end):
                result[k] = row[i]
                k += 1 if condition[i] != 0 else 0
        else:
            for i in range(end):
                if condition[i] != 0:
                    item = a[at + (i,)]
                    result = chosen[at + (k,)]
                    for rest in np.ndindex(item.shape):
                        result[rest] = item[rest]
                    k += 1
    return chosen


def _compress_of(a, condition, axis: Static = None, out=None):
    """The method, whose first argument is the array."""
    return compress(condition, a, axis, out)


def fill_diagonal(a, val, wrap=False):
    """Puts a value, or values in turn, on the diagonal of an array; with `wrap` on the next one, too, below the end of a tall matrix.

    >>> a = np.zeros((2, 2))
    >>> np.fill_diagonal(a, 1)
    >>> a
    array([[1., 0.],
           [0., 1.]])
    """
    if not isinstance(a, np.ndarray):
        refuse("fill_diagonal takes an array")
    if a.ndim < 2:
        refuse("array must be at least 2-d")
    n = a.shape[0]
    if a.ndim > 2:
        for i in unrolled(range(1, a.ndim)):
            if a.shape[i] != n:
                raise ValueError("All dimensions of input must be of equal length")
    elif wrap:
        step = a.shape[1] + 1
        n = (a.size + step - 1) // step
    else:
        n = min(n, a.shape[1])
    values = _given(val)
    if values.ndim == 0:
        for i in range(n):
            a[_on_diagonal(i, a.shape)] = values.item()
    else:
        row = values.copy().reshape(-1)
        if len(row) > 0:
            for i in range(n):
                a[_on_diagonal(i, a.shape)] = row[i % len(row)]


def _on_diagonal(i, shape):
    """The position of an element of the diagonal; of a matrix, which may be tall, in C's order."""
    if len(shape) == 2:
        return i + i // shape[1], i % shape[1]
    return (i,) * len(shape)


def ravel_multi_index(multi_index, dims, mode: Static = "raise", order: Static = "C"):
    """The numbers that elements at positions have in an array as one row: a number or an array for each axis, and the lengths of the axes.

    >>> np.ravel_multi_index((1, 2), (3, 4))
    np.int64(6)
    """
    lengths = dims if isinstance(dims, (tuple, list)) else (dims,)
    rank = len(lengths)
    if order != "C" and order != "F":
        refuse("order is 'C' or 'F'")
    places = ()
    if isinstance(multi_index, np.ndarray):
        if len(multi_index) != rank:
            raise ValueError("parameter multi_index must be a sequence of length of dims")
        for i in unrolled(range(rank)):
            places = places + (multi_index[i],)
    else:
        if len(multi_index) != rank:
            refuse(f"parameter multi_index must be a sequence of length {rank}")
        places = tuple(multi_index)
    modes = mode if isinstance(mode, tuple) else (mode,) * rank
    if len(modes) != rank:
        refuse("there are as many modes as axes")
    number = np.int64(0)
    for i in unrolled(range(rank)):
        axis = i if order == "C" else rank - 1 - i
        if isinstance(lengths[axis], (float, np.inexact)):
            refuse("lengths are integers")
        n = np.int64(lengths[axis])
        x = _given(places[axis])
        if x.dtype.kind not in "biu":
            refuse("only int indices permitted")
        at = x.astype(np.int64)
        if modes[axis] == "raise":
            if np.any((at < 0) | (at >= n)):
                raise ValueError("invalid entry in coordinates array")
        elif modes[axis] == "wrap":
            at = at % n
        elif modes[axis] == "clip":
            at = np.minimum(np.maximum(at, 0), n - 1)
        else:
            refuse("clipmode must be one of 'clip', 'raise', or 'wrap'")
        number = number * n + at
    return number


def unravel_index(indices, shape, order: Static = "C"):
    """The positions of elements from their numbers in an array as one row: a number or an array for each axis.

    >>> np.unravel_index(6, (3, 4))
    (np.int64(1), np.int64(2))
    """
    lengths = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    rank = len(lengths)
    if order != "C" and order != "F":
        refuse("order is 'C' or 'F'")
    indices = _given(indices)
    if indices.dtype.kind not in "biu":
        refuse("only int indices permitted")
    if rank == 0 and indices.ndim > 0:
        refuse("multiple indices are not supported for 0d array")
    size = 1
    for n in unrolled(lengths):
        if isinstance(n, (float, np.inexact)):
            refuse("lengths are integers")
        size = size * n
    if indices.ndim == 0:
        i = np.int64(indices.item())
        if i < 0 or i >= size:
            raise ValueError("index is out of bounds for an array of that size")
        return _unravelled(i, lengths, order)
    found = ()
    for _ in unrolled(range(rank)):
        found = found + (np.empty(indices.shape, np.int64),)
    for at in np.ndindex(indices.shape):
        i = np.int64(indices[at])
        if i < 0 or i >= size:
            raise ValueError("index is out of bounds for an array of that size")
        point = _unravelled(i, lengths, order)
        for axis in unrolled(range(rank)):
            found[axis][at] = point[axis]
    return found


def _unravelled(i, lengths, order: Static):
    rest = i
    point = ()
    for turn in unrolled(range(len(lengths))):
        if order == "C":
            n = lengths[len(lengths) - 1 - turn]
            point = (rest % n,) + point
        else:
            n = lengths[turn]
            point = point + (rest % n,)
        rest = rest // n
    return point

"""Elements read and written by arrays of indices and by masks, as functions. What depends on the indices is computed at once."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from weft._weft import _assign, _cast, _fold, _followed, _order, _reshape, _select, _strided, _to_numpy, ndarray
from weft.kernels.launching import fits, launched, on_a_device

from . import _compiled, indexing
from ._common import (
    array_of,
    arrays_of,
    axis_of,
    beside,
    broadcast_shape,
    check_order,
    checked_out,
    counting_dtype,
    flat,
    given,
    in_order,
    out_of_order,
    place_in,
    result_dtype,
    row_of_number,
    shape_of,
    stretched,
    together,
    u,
    values_for,
    weak_or_arrays,
)
from .shapes import diagonal


def _indices(given: Any, *others: Any, allow_bool: bool = False) -> ndarray:
    """Indices as int64."""
    found = beside(given, *others)
    if found.size == 0 and not isinstance(given, (ndarray, np.ndarray)):
        return _cast(found, np.dtype(np.int64))
    if found.dtype.kind not in ("biu" if allow_bool else "iu"):
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    return found if found.dtype == np.int64 else _cast(found, np.dtype(np.int64))


def _numbers(given: Any, a: ndarray) -> Any:
    """Indices as an array; beside an array that is not on the CPU those of the host stay NumPy's, which are looked at without a sync."""
    host = None if isinstance(given, ndarray) or not on_a_device(a) else np.asarray(given)
    return array_of(given) if host is None or host.dtype.kind not in "iu" else host


def _check_mode(mode: Any) -> None:
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")


def _put_out(result: ndarray, out: ndarray | None) -> ndarray:
    """The result, or `out` with the result in it. As in NumPy, what `out` has must be safe to convert to what is gathered."""
    checked_out(out)
    if out is not None and not np.can_cast(out.dtype, result.dtype, "safe"):
        raise TypeError(f"Cannot cast array data from {out.dtype!r} to {result.dtype!r} according to the rule 'safe'")
    return given(result, out, "unsafe")


def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> ndarray:
    """The elements with these indices along an axis; without one, of the array as one row.

    An index outside is an IndexError, or with `mode` "wrap" or "clip" one inside.

    >>> weft.take(weft.asarray([4, 5, 6]), weft.asarray([0, 2]))
    array([4, 6])
    """
    a = beside(a, indices)
    checked_out(out)
    _check_mode(mode)
    if axis is None:
        a, axis = flat(a), 0
    a = row_of_number(a, axis)
    axis = axis_of(axis, a.ndim)
    number = _numbers(indices, a)
    if number.size and number.dtype.kind not in "biu":
        raise TypeError(f"Cannot cast array data from {number.dtype!r} to dtype('int64') according to the rule 'safe'")
    shape = (*a.shape[:axis], *number.shape, *a.shape[axis + 1 :])
    if type(indices) is int and mode == "raise":
        # One part is a slice: nothing is read.
        n = a.shape[axis]
        if not -n <= indices < n:
            raise IndexError(f"index {indices} is out of bounds for axis {axis} with size {n}")
        found = a[(slice(None),) * axis + (indices,)]
        return _put_out(_cast(found, a.dtype, True), out)
    if number.size and a.shape[axis] == 0 and 0 not in a.shape[:axis] + a.shape[axis + 1 :]:
        raise IndexError("cannot do a non-empty take from an empty axes.")
    if _followed(a, number):
        key = (*(slice(None),) * axis, _inside(number, a, a.shape[axis], mode))
        return _put_out(indexing.getitem(a, key), out)
    if on_a_device(a) and fits(a):
        from weft.kernels.subscripts import taken_along

        return _put_out(launched(taken_along, a, number, axis, mode), out)
    number = _cast(array_of(number), np.dtype(np.int64))
    found = _compiled.call(f"np.take(a, i, {axis}, mode={mode!r})", a=a, i=flat(number))
    return _put_out(_reshape(found, shape), out)


def _inside(number: Any, a: ndarray, n: int, mode: str) -> ndarray:
    """Indices beside an array as `mode` has them: those outside are others inside, unless they are to raise."""
    counting = counting_dtype(a.device)
    number = _cast(number, counting) if isinstance(number, ndarray) else array_of(number.astype(counting), device=a.device)
    if mode == "raise" or n == 0:
        return number
    return u("remainder", number, n) if mode == "wrap" else u("minimum", u("maximum", number, 0), n - 1)


def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> ndarray:
    """The elements at indices along an axis, where each row of the array has its own; without an axis, of the array as one row.

    >>> weft.take_along_axis(weft.asarray([[4, 5], [6, 7]]), weft.asarray([[1], [0]]), 1)
    array([[5],
           [6]])
    """
    arr, indices, axis = _beside(arr, indices, axis)
    if _followed(arr, indices):
        return arr[_mesh(arr, indices, axis)]
    order = _order([indices])
    place = place_in(order, axis)
    if on_a_device(arr) and fits(arr, indices):
        from weft.kernels.subscripts import taken_beside

        return out_of_order(launched(taken_beside, in_order(arr, order), in_order(indices, order), place), order)
    found = _compiled.call(f"np.take_along_axis(a, i, {place})", a=in_order(arr, order), i=in_order(indices, order))
    return out_of_order(found, order)


def _mesh(arr: ndarray, indices: ndarray, axis: int) -> tuple[ndarray, ...]:
    """The subscript that selects what lies at indices along an axis, where each row has its own."""
    from weft.gradients.rules.subscripts import along

    return along(arr, indices, axis)


def _beside(arr: Any, indices: Any, axis: Any) -> tuple[ndarray, ndarray, int]:
    """An array and indices beside it, along an axis counted from the front."""
    arr = beside(arr, indices)
    # Indices of the host stay there, since not every device has 64-bit integers: the kernels move them as they count.
    indices = array_of(indices)
    if indices.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if axis is None:
        if indices.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        arr, axis = flat(arr), 0
    axis = axis_of(axis, arr.ndim)
    if arr.ndim != indices.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    shapes = [tuple(1 if i == axis else n for i, n in enumerate(x.shape)) for x in (arr, indices)]
    try:
        broadcast_shape(*shapes)
    except ValueError:
        raise IndexError(
            "shape mismatch: indexing arrays could not be broadcast together with shapes " + " ".join(map(str, shapes))
        ) from None
    return arr, indices if on_a_device(arr) else _cast(indices, np.dtype(np.int64)), axis


def _written(a: ndarray, text: str, **arguments: Any) -> None:
    """Runs a function that writes into an array on a copy, and writes that back."""
    if not isinstance(a, ndarray):
        raise TypeError(f"argument 1 must be a weft.ndarray, not {type(a).__name__}")
    fresh = np.atleast_1d(_to_numpy(a)).copy()
    names = ", ".join(arguments)
    values = [_to_numpy(value) if isinstance(value, ndarray) else value for value in arguments.values()]
    _compiled.function_of(text, f"a, {names}")(fresh, *values)
    _assign(a, _reshape(array_of(fresh, device=a.device), a.shape))


def put_along_axis(arr: ndarray, indices: Any, values: Any, axis: Any) -> None:
    """Puts values at indices along an axis, where each row of the array has its own; without an axis, into the array as one row.

    >>> a = weft.asarray([[1, 2], [3, 4]])
    >>> weft.put_along_axis(a, weft.asarray([[1], [0]]), 0, 1)
    >>> a
    array([[1, 0],
           [0, 4]])
    """
    if axis is None and isinstance(arr, ndarray) and arr.ndim != 1:
        row = _cast(flat(arr), arr.dtype)
        put_along_axis(row, indices, values, 0)
        _assign(arr, _reshape(row, arr.shape))
        return
    _, found, axis = _beside(arr, indices, axis)
    if _followed(arr, found, values):
        arr[_mesh(arr, found, axis)] = values_for(values, arr.dtype, arr.device)
        return
    if on_a_device(arr) and fits(arr, found):
        from weft.kernels.subscripts import with_values_beside

        _assign(arr, launched(with_values_beside, arr, found, values_for(values, arr.dtype, arr.device), axis))
        return
    found = _cast(found, np.dtype(np.int64))
    _written(arr, f"np.put_along_axis(a, i, v, {axis})", i=found, v=values_for(values, arr.dtype, arr.device))


def put(a: ndarray, ind: Any, v: Any, mode: str = "raise") -> None:
    """Puts values at indices into the array as one row, from the first again where there are fewer values than indices.

    >>> a = weft.asarray([1, 2, 3])
    >>> weft.put(a, [0, 2], 9)
    >>> a
    array([9, 2, 9])
    """
    _check_mode(mode)
    if not isinstance(a, ndarray):
        raise TypeError(f"argument 1 must be a weft.ndarray, not {type(a).__name__}")
    number = _numbers(ind, a)
    if number.size and (number.dtype.kind not in "biu" or number.dtype == np.uint64):
        raise TypeError(f"Cannot cast array data from {number.dtype!r} to dtype('int64') according to the rule 'safe'")
    values = flat(values_for(v, a.dtype, a.device))
    if _followed(a, number, values):
        _put_followed(a, flat(_inside(number, a, a.size, mode)), values)
        return
    if on_a_device(a) and fits(a, number):
        from weft.kernels.subscripts import with_values

        _assign(a, launched(with_values, a, number, values, mode))
        return
    _written(a, f"np.put(a, i, v, mode={mode!r})", i=flat(_cast(array_of(number), np.dtype(np.int64))), v=values)


def _put_followed(a: ndarray, number: ndarray, values: ndarray) -> None:
    """Puts values, over and over, at indices into an array as one row, by what gradients know."""
    from .shapes import resize

    if number.size == 0 or values.size == 0:
        return
    row = _cast(flat(a), a.dtype, True)
    row[number] = resize(values, (number.size,))
    _assign(a, _reshape(row, a.shape))


def place(arr: ndarray, mask: Any, vals: Any) -> None:
    """Puts values where a mask is true, from the first again where they do not suffice.

    >>> a = weft.asarray([1, 2, 3])
    >>> weft.place(a, a > 1, [8, 9])
    >>> a
    array([1, 8, 9])
    """
    if not isinstance(arr, ndarray):
        raise TypeError(f"argument 1 must be a weft.ndarray, not {type(arr).__name__}")
    flags = beside(mask, arr)
    if flags.size != arr.size:
        raise ValueError("place: mask and data must be the same size")
    if _followed(arr, mask, vals):
        from .searching import flatnonzero

        number, values = flatnonzero(flags), flat(_safely(vals, arr))
        if number.size and not values.size:
            raise ValueError("Cannot insert from an empty array!")
        _put_followed(arr, number, values)
        return
    if on_a_device(arr) and fits(arr):
        from weft.kernels.subscripts import with_values_where

        _assign(arr, launched(with_values_where, arr, _truths(flags), flat(_safely(vals, arr))))
        return
    _written(arr, "np.place(a, m, v)", m=flat(_truths(flags)), v=flat(_safely(vals, arr)))


def _safely(values: Any, a: ndarray) -> ndarray:
    """Values to put into an array, whose dtype has all of them if they are an array's."""
    dtype = a.dtype
    if isinstance(values, (ndarray, np.ndarray)) and not np.can_cast(values.dtype, dtype):
        raise TypeError(f"Cannot cast array data from {values.dtype!r} to {dtype!r} according to the rule 'safe'")
    return values_for(values, dtype, a.device)


def _truths(x: ndarray) -> ndarray:
    return x if x.dtype.kind == "b" else u("not_equal", x, x.dtype.type(0))


def putmask(a: ndarray, mask: Any, values: Any) -> None:
    """Writes values where a mask is true: those at the same places, which are repeated if there are fewer.

    >>> a = weft.asarray([1, 2, 3])
    >>> weft.putmask(a, a > 1, [10, 20, 30])
    >>> a
    array([ 1, 20, 30])
    """
    from .shapes import resize

    if not isinstance(a, ndarray):
        raise TypeError(f"argument 1 must be a weft.ndarray, not {type(a).__name__}")
    flags, values = beside(mask, a), _safely(values, a)
    if flags.size != a.size:
        raise ValueError("putmask: mask and data must be the same size")
    if values.size == 0:
        return
    wide = values if values.size == 1 else resize(values, a.shape)
    wide = _reshape(wide, ()) if wide.size == 1 and a.shape != wide.shape else wide
    _assign(a, _select(_truths(_reshape(flags, a.shape)), wide, a))


def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> ndarray:
    """The elements along an axis where a condition is true; without an axis, of the array as one row.

    >>> weft.compress([True, False, True], weft.asarray([4, 5, 6]))
    array([4, 6])
    """
    a, condition = together(a, condition)
    if condition.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    if axis is None:
        a, axis = flat(a), 0
    a = row_of_number(a, axis)
    axis = axis_of(axis, a.ndim)
    if _followed(a, condition):
        from .searching import flatnonzero

        return _put_out(take(a, flatnonzero(condition), axis), out)
    if on_a_device(a) and fits(a, condition):
        from weft.kernels.moving import moved_to
        from weft.kernels.subscripts import compressed

        flags = _truths(moved_to(condition, a))
        return _put_out(launched(compressed, flags, a, axis, keeps_shape=False), out)
    return _put_out(_compiled.call(f"np.compress(c, a, {axis})", c=_truths(condition), a=a), out)


def extract(condition: Any, arr: Any) -> ndarray:
    """The elements of the array, as one row, where a condition is true.

    >>> weft.extract([True, False, True], weft.asarray([4, 5, 6]))
    array([4, 6])
    """
    return compress(flat(beside(condition, arr)), arr)


def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> ndarray:
    """Elements of several arrays: of which one, the indices in an array say.

    With `mode="raise"` an index outside is a ValueError, for which the indices are read.

    >>> weft.choose(weft.asarray([0, 1, 0]), ([1, 2, 3], [10, 20, 30]))
    array([ 1, 20,  3])
    """
    _check_mode(mode)
    given_parts = [choices[i] for i in range(len(choices))] if isinstance(choices, ndarray) else list(choices)
    index = _indices(a, *given_parts, allow_bool=True)
    parts = [_choice(each, index, *given_parts) for each in given_parts]
    if not parts:
        raise ValueError("0-length sequence.")
    count = len(parts)
    if mode == "wrap":
        index = u("remainder", index, count)
    elif mode == "clip":
        index = u("minimum", u("maximum", index, 0), count - 1)
    elif index.size:
        index = _compiled.unless(_outside(index, count), ValueError("invalid entry in choice array"), index)
    dtype = result_dtype(*weak_or_arrays(given_parts, parts))
    if dtype.kind in "biu" and any(part.dtype.kind == "f" for part in parts):
        raise OverflowError("Python int too large to convert to C long")
    shape = broadcast_shape(index.shape, *(part.shape for part in parts))
    found = stretched(_cast(parts[-1], dtype), shape)
    for number in reversed(range(count - 1)):
        found = _select(u("equal", index, number), _cast(parts[number], dtype), found)
    return given(_cast(found, dtype, True), out, "unsafe")


def _choice(x: Any, *others: Any) -> ndarray:
    if type(x) is int and not -(2**63) <= x < 2**64:
        # Only floats have it.
        x = float(x)
    return beside(x, *others)


def fill_diagonal(a: ndarray, val: Any, wrap: bool = False) -> None:
    """Writes a number, or a row of them, along the diagonal of an array whose axes have one length if there are more than two.

    With `wrap=True` the diagonal of a high matrix starts again below.

    >>> a = weft.zeros((2, 2))
    >>> weft.fill_diagonal(a, 5)
    >>> a
    array([[5., 0.],
           [0., 5.]])
    """
    if not isinstance(a, ndarray):
        raise TypeError(f"argument 1 must be a weft.ndarray, not {type(a).__name__}")
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    values = flat(values_for(val, a.dtype, a.device)) if not isinstance(val, (bool, int, float, complex)) else val
    if a.ndim > 2:
        if len(set(a.shape)) != 1:
            raise ValueError("All dimensions of input must be of equal length")
        line = _line(a, a.shape[0])
        _write_row(line, values)
        return
    rows, columns = a.shape
    if not wrap or rows <= columns + 1 or columns == 0:
        _write_row(diagonal(a), values)
        return
    used = 0
    for top in range(0, rows, columns + 1):
        part = diagonal(a[top:])
        _write_row(part, values, used)
        used += part.size


def _line(a: ndarray, n: int) -> ndarray:
    """The elements with equal indices along all axes."""
    return _strided(a, (n,), (sum(a.strides),), 0)


def _write_row(line: ndarray, values: Any, start: int = 0) -> None:
    """Writes values, repeated as often as it takes, beginning at one of them."""
    if not isinstance(values, ndarray) or values.size == 1:
        line[...] = values[0] if isinstance(values, ndarray) else values
        return
    if line.size:
        from .joining import tile

        line[...] = tile(values, -(-(start + line.size) // values.size))[start : start + line.size]


def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> ndarray:
    """The positions in an array as one row of elements whose indices along each axis are given. Computed at once.

    >>> weft.ravel_multi_index(([0, 1], [2, 0]), (2, 3))
    array([2, 3])
    """
    modes = mode if isinstance(mode, (tuple, list)) else (mode,) * len(shape_of(dims))
    for each in modes:
        _check_mode(each)
    check_order("ravel_multi_index", order, "CF")
    lengths = shape_of(dims)
    if math.prod(lengths) > _MOST:
        raise ValueError("invalid dims: array size defined by dims is larger than the maximum possible size.")
    parts = [multi_index[i] for i in range(len(multi_index))] if isinstance(multi_index, ndarray) else list(multi_index)
    if len(parts) != len(lengths):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(lengths)}")
    arrays = arrays_of(*parts)
    if any(part.size and part.dtype.kind not in "iu" for part in arrays):
        raise TypeError("only int indices permitted")
    found: Any = None
    step = 1
    axes = range(len(lengths)) if order == "F" else reversed(range(len(lengths)))
    for axis in axes:
        index = _in_range(_cast(arrays[axis], np.dtype(np.int64)), lengths[axis], modes[axis])
        scaled = u("multiply", index, step)
        found = scaled if found is None else u("add", found, scaled)
        step *= lengths[axis]
    return found


_MOST = np.iinfo(np.intp).max
"""Elements that an array may have."""


def _in_range(index: ndarray, n: int, mode: str) -> ndarray:
    if n == 0 and index.size:
        raise ValueError("invalid entry in coordinates array")
    if mode == "wrap":
        return u("remainder", index, n)
    if mode == "clip":
        return u("minimum", u("maximum", index, 0), n - 1)
    host = np.zeros(0) if on_a_device(index) and not _some_outside(index, n) else _to_numpy(index)
    if host.size and (host.min() < 0 or host.max() >= n):
        raise ValueError("invalid entry in coordinates array")
    return index


def _some_outside(index: ndarray, n: int) -> bool:
    """Whether an index is not from 0 to n - 1: one flag is read, not the indices."""
    return bool(_outside(index, n))


def _outside(index: ndarray, n: int) -> ndarray:
    """A flag without axes: whether an index is not from 0 to n - 1."""
    outside = u("logical_or", u("less", index, 0), u("greater_equal", index, n))
    return _fold("logical_or", outside, tuple(range(outside.ndim))) if index.ndim else outside


def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[ndarray, ...]:
    """The indices along each axis of elements at positions in an array as one row. They are read, to see whether they are inside.

    >>> weft.unravel_index([2, 3], (2, 3))
    (array([0, 1]), array([2, 0]))
    """
    check_order("unravel_index", order, "CF")
    lengths = shape_of(shape)
    rest = array_of(indices)
    if rest.dtype.kind not in "iu":
        raise TypeError("only int indices permitted" if rest.size else "indices must be integral: an empty sequence is one of floats")
    rest = _cast(rest, np.dtype(np.int64))
    total = math.prod(lengths)
    if total > _MOST:
        raise ValueError("dimensions are too large; arrays and shapes with a total size greater than 'intp' are not supported.")
    if not lengths and rest.ndim:
        raise ValueError("multiple indices are not supported for 0d array")
    host = np.zeros(0) if on_a_device(rest) and not _some_outside(rest, total) else _to_numpy(rest)
    if host.size and (host.min() < 0 or host.max() >= total):
        bad = host[(host < 0) | (host >= total)].reshape(-1)[0]
        raise ValueError(f"index {bad} is out of bounds for array with size {total}")
    found = {}
    for axis in range(len(lengths)) if order == "F" else reversed(range(len(lengths))):
        found[axis] = u("remainder", rest, lengths[axis]) if lengths[axis] else rest
        rest = u("floor_divide", rest, lengths[axis]) if lengths[axis] else rest
    return tuple(found[axis] for axis in range(len(lengths)))


def ix_(*args: Any) -> tuple[ndarray, ...]:
    """Rows of indices, or masks, in shapes that broadcast: what takes the elements of a grid.

    >>> [each.shape for each in weft.ix_([0, 1], [2, 3, 4])]
    [(2, 1), (1, 3)]
    """
    from .searching import flatnonzero

    found = []
    for axis, arg in enumerate(args):
        row = array_of(arg)
        if row.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if row.size == 0:
            row = _cast(row, np.dtype(np.int64))
        if row.dtype.kind == "b":
            row = flatnonzero(row)
        found.append(row[tuple(slice(None) if i == axis else None for i in range(len(args)))])
    return tuple(found)


def diag_indices(n: int, ndim: int = 2) -> tuple[ndarray, ...]:
    """The indices of the diagonal of an array with axes of one length.

    >>> weft.diag_indices(2)
    (array([0, 1]), array([0, 1]))
    """
    from .ranges import arange

    return (arange(operator.index(n)),) * ndim


def diag_indices_from(arr: Any) -> tuple[ndarray, ...]:
    """The indices of the diagonal of an array of two axes or more, which have one length.

    >>> weft.diag_indices_from(weft.zeros((2, 2)))
    (array([0, 1]), array([0, 1]))
    """
    a = array_of(arr)
    if a.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    if any(n != a.shape[0] for n in a.shape):
        raise ValueError("All dimensions of input must be of equal length")
    return diag_indices(a.shape[0], a.ndim)


def mask_indices(n: int, mask_func: Any, k: int = 0) -> tuple[ndarray, ...]:
    """The indices of a square matrix where a function such as `triu` leaves something of ones.

    >>> weft.mask_indices(2, weft.triu)
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    from .creation import ones
    from .searching import nonzero

    return nonzero(mask_func(ones((n, n), dtype=int), k))

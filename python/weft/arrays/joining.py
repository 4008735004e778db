"""Arrays joined, split, repeated and padded."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from weft._weft import _assign, _broadcast, _cast, _followed, _full, _order_of_copy, _reshape, _to_numpy, ndarray
from weft.kernels.launching import fits, launched, on_a_device

from . import _compiled
from ._common import (
    Order,
    array_of,
    arrays_of,
    as_dtype,
    axis_of,
    beside,
    checked_out,
    flat,
    in_c_order,
    kind_of,
    lying,
    place_of,
    result_dtype,
    row_of_number,
    turned_if_fortran,
    values_for,
    weak_or_arrays,
)
from .shapes import atleast_1d, atleast_2d, atleast_3d, expand_dims, moveaxis


def _parts(arrays: Any, function: str) -> list[ndarray]:
    if isinstance(arrays, ndarray) and arrays.ndim == 0:
        raise TypeError("iteration over a 0-d array")
    if not hasattr(arrays, "__getitem__"):
        raise TypeError('arrays to stack must be passed as a "sequence" type such as list or tuple.')
    found = [arrays[i] for i in range(len(arrays))] if isinstance(arrays, ndarray) else list(arrays_of(*arrays))
    if not found:
        raise ValueError(f"need at least one array to {function}")
    return found


def concatenate(arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> ndarray:
    """Arrays joined along an axis; without one, each as one row.

    Their other axes have the same lengths, else ValueError. The dtype is the one that they promote to, or `dtype`, to which `casting`
    must allow to convert.

    >>> weft.concatenate((weft.asarray([1, 2]), weft.asarray([3.0])))
    array([1., 2., 3.])
    """
    checked_out(out)
    if out is not None and dtype is not None:
        raise TypeError("concatenate() only takes `out` or `dtype` as an argument, but both were provided.")
    parts = _parts(arrays, "concatenate")
    promoting = parts if isinstance(arrays, ndarray) else weak_or_arrays(arrays, parts)
    if axis is None:
        parts, axis = [flat(part) for part in parts], 0
    first = parts[0]
    if first.ndim == 0:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    axis = axis_of(axis, first.ndim)
    for i, part in enumerate(parts):
        _check_meets(first, part, axis, i)
    joined_dtype = out.dtype if out is not None else as_dtype(dtype) if dtype is not None else result_dtype(*promoting)
    for part in parts:
        if not np.can_cast(part.dtype, joined_dtype, casting):
            raise TypeError(f"Cannot cast array data from {part.dtype!r} to {joined_dtype!r} according to the rule '{casting}'")
    shape = (*first.shape[:axis], sum(part.shape[axis] for part in parts), *first.shape[axis + 1 :])
    if out is not None and out.shape != shape:
        raise ValueError("Output array is the wrong shape")
    joined = lying(shape, _order_joined(parts), 0, joined_dtype, first.device)
    start = 0
    for part in parts:
        end = start + part.shape[axis]
        joined[(slice(None),) * axis + (slice(start, end),)] = part if part.dtype == joined_dtype else _cast(part, joined_dtype)
        start = end
    if out is None:
        return joined
    _assign(out, joined)
    return out


concat = concatenate


def _order_joined(parts: list[ndarray]) -> Order:
    """The order that joined arrays lie in: axes by the lengths of their steps, in which the arrays have to agree, or C's order wins."""
    rank = parts[0].ndim
    if rank < 2 or all(in_c_order(part) for part in parts):
        return None
    lies = [(part.shape, part.strides) for part in parts]
    order: list[int] = []
    for axis in range(rank):
        place = len(order)
        for at in reversed(range(len(order))):
            longer = [abs(steps[axis]) > abs(steps[order[at]]) for shape, steps in lies if shape[axis] != 1 and shape[order[at]] != 1]
            if longer and not all(longer):
                break
            place = at if longer else place
        order.insert(place, axis)
    return order if order != sorted(order) else None


def _check_meets(first: ndarray, part: ndarray, axis: int, number: int) -> None:
    if part.ndim != first.ndim:
        raise ValueError(
            "all the input arrays must have same number of dimensions, but "
            f"the array at index 0 has {first.ndim} dimension(s) and the array at index {number} has {part.ndim} dimension(s)"
        )
    for i, (n, m) in enumerate(zip(first.shape, part.shape)):
        if i != axis and n != m:
            raise ValueError(
                f"all the input array dimensions except for the concatenation axis must match exactly, but along dimension {i}, "
                f"the array at index 0 has size {n} and the array at index {number} has size {m}"
            )


def stack(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> ndarray:
    """Arrays of one shape joined along a new axis.

    >>> weft.stack((weft.asarray([1, 2]), weft.asarray([3, 4])), axis=1)
    array([[1, 3],
           [2, 4]])
    """
    parts = _parts(arrays, "stack")
    if any(part.shape != parts[0].shape for part in parts):
        raise ValueError("all input arrays must have the same shape")
    axis = axis_of(axis, parts[0].ndim + 1)
    return concatenate([expand_dims(part, axis) for part in parts], axis, out, dtype=dtype, casting=casting)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[ndarray, ...]:
    """Views of the parts of an array along an axis, which they do not have any more.

    >>> weft.unstack(weft.asarray([[1, 2], [3, 4]]))
    (array([1, 2]), array([3, 4]))
    """
    x = array_of(x)
    if x.ndim == 0:
        raise ValueError("Input array must be at least 1-d.")
    turned = moveaxis(x, axis, 0)
    return tuple(turned[i] for i in range(turned.shape[0]))


def vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> ndarray:
    """Arrays joined along the first axis; rows become a matrix.

    >>> weft.vstack(([1, 2], [3, 4]))
    array([[1, 2],
           [3, 4]])
    """
    return concatenate([atleast_2d(part) for part in _parts(tup, "concatenate")], 0, dtype=dtype, casting=casting)


def hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> ndarray:
    """Arrays joined along the second axis; rows one behind the other.

    >>> weft.hstack(([1, 2], [3]))
    array([1, 2, 3])
    """
    parts = [atleast_1d(part) for part in _parts(tup, "concatenate")]
    return concatenate(parts, 0 if parts[0].ndim == 1 else 1, dtype=dtype, casting=casting)


def dstack(tup: Any) -> ndarray:
    """Arrays joined along the third axis.

    >>> weft.dstack(([1, 2], [3, 4]))
    array([[[1, 3],
            [2, 4]]])
    """
    return concatenate([atleast_3d(part) for part in _parts(tup, "concatenate")], 2)


def column_stack(tup: Any) -> ndarray:
    """Arrays joined as the columns of a matrix; those of two axes are joined as they are.

    >>> weft.column_stack(([1, 2], [3, 4]))
    array([[1, 3],
           [2, 4]])
    """
    parts = [part if part.ndim > 1 else atleast_1d(part)[:, None] for part in _parts(tup, "concatenate")]
    return concatenate(parts, 1)


def block(arrays: Any) -> ndarray:
    """Arrays joined as nested lists say: the innermost along the last axis, the next along the last but one.

    >>> weft.block([[weft.eye(1), weft.zeros((1, 2))], [weft.ones((1, 3))]])
    array([[1., 0., 0.],
           [1., 1., 1.]])
    """
    depth = _depth(arrays)
    rank = max([depth, *(array_of(leaf).ndim for leaf in _leaves(arrays))])
    return _block(arrays, depth, rank, place_of(arrays))


def _depth(arrays: Any) -> int:
    """How deep the lists are nested, which is the same everywhere."""
    first = None
    empty = None
    for place in _places_in(arrays, ()):
        first = first or place
        if len(place) != len(first):
            raise ValueError(
                f"List depths are mismatched. First element was at depth {len(first)}, but there is an element at depth {len(place)} "
                f"({_shown(place)})"
            )
        empty = place if place and place[-1] is None else empty
    if empty is not None:
        raise ValueError(f"List at {_shown(empty)} cannot be empty")
    return len(first or ())


def _places_in(arrays: Any, place: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Where the parts stand in nested lists; None stands for what an empty list lacks."""
    if isinstance(arrays, tuple):
        raise TypeError(
            f"{_shown(place)} is a tuple. Only lists can be used to arrange blocks, and np.block does not allow implicit conversion from "
            "tuple to ndarray."
        )
    if not isinstance(arrays, list):
        yield place
    elif not arrays:
        yield (*place, None)
    else:
        for i, each in enumerate(arrays):
            yield from _places_in(each, (*place, i))


def _shown(place: tuple[Any, ...]) -> str:
    return "arrays" + "".join(f"[{i}]" for i in place if i is not None)


def _leaves(arrays: Any) -> list[Any]:
    return [leaf for each in arrays for leaf in _leaves(each)] if isinstance(arrays, list) else [arrays]


def _block(arrays: Any, depth: int, rank: int, place: Any) -> ndarray:
    if depth == 0:
        part = array_of(arrays, device=place)
        found = part[(None,) * (rank - part.ndim) + (Ellipsis,)]
        return _cast(found, found.dtype)
    return concatenate([_block(each, depth - 1, rank, place) for each in arrays], -depth)


def append(arr: Any, values: Any, axis: Any = None) -> ndarray:
    """A copy with values behind the end of an axis; without one, both as one row.

    >>> weft.append(weft.asarray([1, 2]), 3)
    array([1, 2, 3])
    """
    return concatenate(arrays_of(arr, values), axis)


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[ndarray]:
    """Views of parts along an axis: so many of nearly one length, or those between given places.

    >>> weft.array_split(weft.arange(5), 2)
    [array([0, 1, 2]), array([3, 4])]
    """
    ary = array_of(ary)
    axis = axis_of(axis, ary.ndim)
    n = ary.shape[axis]
    places = _places(indices_or_sections)
    if isinstance(places, int):
        if places <= 0:
            raise ValueError("number sections must be larger than 0.")
        length, longer = divmod(n, places)
        ends = [i * length + min(i, longer) for i in range(places + 1)]
        return [_part(ary, axis, start, end) for start, end in itertools.pairwise(ends)]
    return [_part(ary, axis, start, end) for start, end in zip([0, *places], [*places, None])]


def _places(given: Any) -> Any:
    """A number of parts, or the places between them."""
    if isinstance(given, (ndarray, np.ndarray)):
        given = np.asarray(_to_numpy(given) if isinstance(given, ndarray) else given).tolist()
    if isinstance(given, (tuple, list)):
        return [operator.index(each) for each in given]
    return operator.index(given)


def _part(a: ndarray, axis: int, start: Any, end: Any) -> ndarray:
    return a[(slice(None),) * axis + (slice(start, end),)]


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[ndarray]:
    """Views of parts along an axis: so many of one length, or those between given places.

    ValueError where the length does not divide.

    >>> weft.split(weft.arange(4), [1])
    [array([0]), array([1, 2, 3])]
    """
    ary = array_of(ary)
    places = _places(indices_or_sections)
    if isinstance(places, int) and ary.shape[axis_of(axis, ary.ndim)] % places:
        raise ValueError("array split does not result in an equal division")
    return array_split(ary, indices_or_sections, axis)


def hsplit(ary: Any, indices_or_sections: Any) -> list[ndarray]:
    """Views of parts along the second axis, of rows along the only one.

    >>> weft.hsplit(weft.arange(4), 2)
    [array([0, 1]), array([2, 3])]
    """
    ary = array_of(ary)
    if ary.ndim == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def vsplit(ary: Any, indices_or_sections: Any) -> list[ndarray]:
    """Views of parts along the first axis of an array of two axes or more.

    >>> weft.vsplit(weft.asarray([[1, 2], [3, 4]]), 2)
    [array([[1, 2]]), array([[3, 4]])]
    """
    ary = array_of(ary)
    if ary.ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(ary, indices_or_sections, 0)


def dsplit(ary: Any, indices_or_sections: Any) -> list[ndarray]:
    """Views of parts along the third axis.

    >>> weft.dsplit(weft.zeros((1, 1, 2)), 2)
    [array([[[0.]]]), array([[[0.]]])]
    """
    ary = array_of(ary)
    if ary.ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)


def repeat(a: Any, repeats: Any, axis: Any = None) -> ndarray:
    """Every element several times along an axis: one number for all, or one for each. Without an axis, of the array as one row.

    With one number for each, the numbers are read and the work is done at once.

    >>> weft.repeat(weft.asarray([1, 2]), 2)
    array([1, 1, 2, 2])
    """
    a = beside(a, repeats)
    if axis is None:
        a, axis = flat(a), 0
    a = row_of_number(a, axis)
    axis = axis_of(axis, a.ndim)
    if not isinstance(repeats, (int, np.integer)):
        counts = array_of(repeats)
        if kind_of(counts.dtype) not in "biu" or counts.dtype == np.uint64:
            raise TypeError(f"Cannot cast array data from {counts.dtype!r} to dtype('int64') according to the rule 'safe'")
        if counts.ndim > 1:
            raise ValueError("object too deep for desired array")
        if counts.size != 1:
            if counts.size != a.shape[axis]:
                raise ValueError(f"operands could not be broadcast together with shape ({a.shape[axis]},) ({counts.size},)")
            if _followed(a):
                from .gathering import take

                return take(a, np.repeat(np.arange(counts.size), _to_numpy(counts)), axis)
            if on_a_device(a) and fits(a):
                from weft.kernels.subscripts import repeated

                return launched(repeated, a, counts, axis, keeps_shape=False)
            return _compiled.call(f"np.repeat(a, n, {axis})", a=a, n=counts)
        repeats = int(_to_numpy(counts).reshape(())[()])
    times = operator.index(repeats)
    if times < 0:
        raise ValueError("repeats may not contain negative values.")
    wide = expand_dims(a, axis + 1)
    wide = _broadcast(wide, (*a.shape[: axis + 1], times, *a.shape[axis + 1 :]))
    return _reshape(_cast(wide, a.dtype, True), (*a.shape[:axis], a.shape[axis] * times, *a.shape[axis + 1 :]))


def tile(A: Any, reps: Any) -> ndarray:
    """The array several times beside itself, as often along each axis as a tuple says.

    >>> weft.tile(weft.asarray([1, 2]), (2, 2))
    array([[1, 2, 1, 2],
           [1, 2, 1, 2]])
    """
    a = array_of(A)
    times = tuple(_places(reps)) if isinstance(_places(reps), list) else (_places(reps),)
    rank = max(a.ndim, len(times))
    times = (1,) * (rank - len(times)) + times
    if any(n < 0 for n in times):
        raise ValueError("negative dimensions are not allowed")
    a = a[(None,) * (rank - a.ndim) + (Ellipsis,)]
    if all(n == 1 for n in times):
        return _cast(a, a.dtype)
    wide = _broadcast(a[tuple(each for _ in range(rank) for each in (None, slice(None)))], sum(zip(times, a.shape), ()))
    return _reshape(_cast(wide, a.dtype, True), tuple(n * m for n, m in zip(times, a.shape)))


def delete(arr: Any, obj: Any, axis: Any = None) -> ndarray:
    """A copy without the elements at indices along an axis: a number, a slice, indices or a mask. Without an axis, of one row.

    >>> weft.delete(weft.arange(4), [0, 2])
    array([1, 3])
    """
    a = array_of(arr)
    if axis is None:
        a, axis = flat(a), 0
    axis = axis_of(axis, a.ndim)
    n = a.shape[axis]
    index = obj if isinstance(obj, slice) else _host_index(obj)
    left = np.delete(np.arange(n), index)
    if isinstance(index, slice) or np.size(index) == 1:
        order = turned_if_fortran(a)
    else:
        # As a subscript by an array has it, which NumPy takes for several.
        order = (axis, *(i for i in _order_of_copy(a) or range(a.ndim) if i != axis))
    made = lying((*a.shape[:axis], len(left), *a.shape[axis + 1 :]), order, 0, a.dtype, a.device)
    _assign(made, joined_runs(a, left, axis))
    return made


def _host_index(obj: Any) -> Any:
    return _to_numpy(obj) if isinstance(obj, ndarray) else obj


def joined_runs(a: ndarray, places: np.ndarray, axis: int) -> ndarray:
    """The elements at growing places along an axis, copied by slices where few make them up, else gathered."""
    cuts = np.flatnonzero(np.diff(places) != 1) + 1
    if len(cuts) > 8:
        from .gathering import take

        return take(a, places, axis)
    runs = [run for run in np.split(places, cuts) if len(run)]
    if not runs:
        return _full((*a.shape[:axis], 0, *a.shape[axis + 1 :]), 0, a.dtype, a.device)
    return concatenate([_part(a, axis, int(run[0]), int(run[-1]) + 1) for run in runs], axis)


def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> ndarray:
    """A copy with values put before indices along an axis. Without an axis, into the array as one row.

    >>> weft.insert(weft.asarray([1, 2]), 1, 9)
    array([1, 9, 2])
    """
    a = beside(arr, values)
    if axis is None:
        a, axis = flat(a), 0
    axis = axis_of(axis, a.ndim)
    n = a.shape[axis]
    index = np.arange(n)[obj] if isinstance(obj, slice) else np.asarray(_host_index(obj))
    if index.dtype.kind == "b":
        index = np.flatnonzero(index)
    if index.ndim > 1:
        raise ValueError("index array argument obj to insert must be one dimensional or scalar")
    values = values_for(values, a.dtype, a.device)
    # One index takes what fits there as a whole; several take one part each.
    if index.ndim == 0 and values.ndim:
        values = moveaxis(values[(None,) * (a.ndim - values.ndim) + (Ellipsis,)], 0, axis) if values.ndim <= a.ndim else values
    before = _before(np.atleast_1d(index), n, values, axis, index.ndim == 0)
    order = np.argsort(before, kind="stable")
    count = len(before)
    made = lying((*a.shape[:axis], n + count, *a.shape[axis + 1 :]), turned_if_fortran(a), 0, a.dtype, a.device)
    room = _broadcast(values, (*a.shape[:axis], count, *a.shape[axis + 1 :]))
    start = 0
    for number, place in enumerate([*before[order].tolist(), n]):
        _part(made, axis, start + number, place + number)[...] = _part(a, axis, start, place)
        if number < count:
            source = int(order[number])
            _part(made, axis, place + number, place + number + 1)[...] = _part(room, axis, source, source + 1)
        start = place
    return made


def _before(index: np.ndarray, n: int, values: ndarray, axis: int, single: bool) -> np.ndarray:
    """The places that new elements stand before, counted from the front."""
    index = index.astype(np.int64)
    for i in index.tolist():
        if not -n <= i <= n:
            raise IndexError(f"index {i} is out of bounds for axis {axis} with size {n}")
    index = np.where(index < 0, index + n, index)
    if single and values.ndim > axis and values.shape[axis] != 1:
        return np.repeat(index, values.shape[axis])
    return index

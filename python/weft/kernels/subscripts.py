"""Subscripts with masks and arrays of indices, and NumPy's functions that take and put: places are computed where the arrays are.

Indices that may be outside are looked at by one flag, which is read before anything is done, and how many elements a mask selects is
read: these are the only syncs.
"""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

import numpy as np

from weft._weft import _assign, _broadcast, _cast, _fold, _from_numpy, _full, _iota, _reshape, _to_numpy, ndarray
from weft.arrays import indexing
from weft.arrays._common import Order, in_c_order, in_order, out_of_order, select, u
from weft.errors import UnsupportedError
from weft.kernels.moving import INDEX, chosen, moved_to, put, put_apart, row, taken
from weft.kernels.scan import sums_of
from weft.kernels.searching import below

__all__ = [
    "along", "compressed", "got", "index_beside", "put_flat", "put_where", "repeated",
    "set_", "taken_along", "true_places", "written",
]  # fmt: skip


def index_beside(index: Any, like: ndarray) -> ndarray:
    """Indices on the device of an array, as integers of its."""
    if isinstance(index, ndarray) and index.device == like.device:
        return index
    host = _to_numpy(index) if isinstance(index, ndarray) else np.asarray(index)
    if host.dtype.kind in "iu" and host.dtype.itemsize == 8 and not like.device.int64:
        # What does not fit is outside as well as before.
        host = np.clip(host, -(2**31), 2**31 - 1).astype(np.int32)
    return _from_numpy(host if host.dtype.isnative else host.astype(host.dtype.newbyteorder("=")), like.device)


class _Bounds:
    """Indices that have to lie on their axes, which one look tells."""

    def __init__(self) -> None:
        self._looks: list[tuple[ndarray, int, int]] = []
        self._flags: list[ndarray] = []

    def within(self, index: ndarray, axis: int, n: int) -> ndarray:
        """Indices of an axis of `n` elements, counted from the front; whether they lie on it is not yet known."""
        narrow = index.dtype.kind == "b" or index.dtype.itemsize < 4
        kind = INDEX if narrow or not index.device.int64 else np.dtype(np.int64)
        if index.dtype == np.uint32 and kind == INDEX:
            # They have no sign to count from the back with.
            self._note(u("greater_equal", index, n), index, axis, n)
            return _cast(index, INDEX)
        wide = index if index.dtype == kind else _cast(index, kind)
        self._note(u("logical_or", u("less", wide, -n), u("greater_equal", wide, n)), index, axis, n)
        return _cast(select(u("less", wide, 0), u("add", wide, n), wide), INDEX)

    def _note(self, outside: ndarray, index: ndarray, axis: int, n: int) -> None:
        if index.size:
            self._flags.append(_fold("logical_or", outside, tuple(range(outside.ndim))) if outside.ndim else outside)
            self._looks.append((index, axis, n))

    def check(self) -> None:
        """IndexError for the first index that is outside: one sync, if there is an index."""
        if self._flags and bool(reduce(lambda x, y: u("logical_or", x, y), self._flags)):
            for index, axis, n in self._looks:
                host = _to_numpy(index).astype(np.int64).reshape(-1)
                if ((host < -n) | (host >= n)).any():
                    raise IndexError(indexing._outside(host, axis, n))


def _steps(shape: tuple[int, ...]) -> tuple[int, ...]:
    """How far apart elements are along each axis of a row in C's order."""
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def _grid(dims: list[tuple[int, int]], like: ndarray) -> ndarray:
    """The places of all positions on axes of these sizes and steps."""
    total = _full((1,) * len(dims), 0, INDEX, like.device)
    for axis, (n, step) in enumerate(dims):
        line = _iota(n, 0, step, INDEX, like.device)
        total = u("add", total, _reshape(line, tuple(n if i == axis else 1 for i in range(len(dims)))))
    return total


def _together(parts: list[ndarray]) -> ndarray:
    """The sums of places, which have to broadcast."""
    try:
        whole = np.broadcast_shapes(*(part.shape for part in parts))
    except ValueError:
        shapes = " ".join(str(part.shape) for part in parts)
        raise IndexError(f"shape mismatch: indexing arrays could not be broadcast together with shapes {shapes} ") from None
    total = reduce(lambda x, y: u("add", x, y), parts)
    return total if total.shape == whole else _broadcast(total, whole)


def _places(x: ndarray, entries: list[Any]) -> ndarray:
    """The places of the elements that a subscript selects, in the array as one row in C's order, in the result's shape."""
    steps = _steps(x.shape)
    bounds, parts, start, axis = _Bounds(), [], 0, 0
    for part in entries:
        sizes, own = x.shape[axis : axis + part.axes], steps[axis : axis + part.axes]
        if part.kind in ("int", "scalar"):
            start += part.value * own[0]
        elif part.kind == "bool":
            parts.append(_full((int(part.value),), 0, INDEX, x.device))
        elif part.kind == "mask":
            parts.append(u("multiply", chosen(row(index_beside(part.value, x)), None), own[-1]))
        elif part.kind == "array":
            parts.append(u("multiply", bounds.within(index_beside(part.value, x), axis, sizes[0]), own[0]))
        else:
            start += indexing._dims(part, sizes, own)[0]
        axis += part.axes
    together = _together(parts)
    # Indices that are broadcast to none are never looked up.
    if together.size:
        bounds.check()
    before, behind = indexing._sides(x.shape, steps, entries)
    grid = _grid([*before, *[(1, 0)] * together.ndim, *behind], x)
    return u("add", u("add", grid, start), _reshape(together, (*together.shape, *(1,) * len(behind))))


def _is_whole_mask(x: ndarray, entries: list[Any]) -> bool:
    return len(entries) == 1 and entries[0].kind == "mask" and entries[0].value.shape == x.shape


def got(x: ndarray, entries: list[Any], order: Order) -> ndarray:
    """What a subscript selects."""
    if _is_whole_mask(x, entries):
        return chosen(row(index_beside(entries[0].value, x)), row(x))
    return out_of_order(taken(x, in_order(_places(x, entries), order)), order)


def set_(x: ndarray, entries: list[Any], value: Any) -> None:
    """Puts values where a subscript selects elements; of an element named twice the last value stays."""
    if isinstance(value, ndarray):
        given = moved_to(value if value.dtype == x.dtype else _cast(value, x.dtype), x)
    else:
        given = _from_numpy(indexing._values(x, value), x.device)
    if given.ndim > 1 and len(entries) == 1 and entries[0].kind in ("mask", "bool") and entries[0].value_shape == x.shape:
        raise TypeError(f"NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, input has {given.ndim} dimensions")
    places = _places(x, entries)
    surplus = max(given.ndim - places.ndim, 0)
    if given.shape[:surplus] == (1,) * surplus:
        given = _reshape(given, given.shape[surplus:])
    try:
        spread = _broadcast(given, places.shape)
    except ValueError:
        raise ValueError(indexing._shapes_differ(entries, given.shape, places.shape)) from None
    # Each place is there once where no array of indices names it.
    apart = all(part.kind != "array" for part in entries)
    written(x, places, _reshape(given, ()) if given.size == 1 else spread, apart)


def written(x: ndarray, places: ndarray, values: ndarray, apart: bool) -> None:
    """Puts values, as many as places or one, into an array at places in C's order."""
    # What is read may be elements of the array.
    values = _cast(values, values.dtype, True)
    whole = in_c_order(x) and x._writeable
    target = row(x) if whole else _reshape(_cast(x, x.dtype, True), (x.size,))
    (put_apart if apart else put)(target, row(places), values)
    if not whole:
        _assign(x, _reshape(target, x.shape))


def true_places(a: ndarray) -> list[ndarray]:
    """The indices along each axis of the elements that are not zero."""
    flags = a if a.dtype.kind == "b" else u("not_equal", a, 0)
    rest = chosen(row(flags), None)
    found = []
    for n in reversed(a.shape[1:]):
        found.append(u("remainder", rest, n) if n else rest)
        rest = u("floor_divide", rest, n) if n else rest
    return [rest, *reversed(found)]


def compressed(flags: ndarray, a: ndarray, axis: int) -> ndarray:
    """The elements along an axis where a row of flags is set; IndexError for those behind the axis."""
    if flags.size == a.size and a.ndim == 1:
        return chosen(flags, a)
    at = chosen(flags, None)
    return taken_along(a, at, axis, "raise" if flags.size > a.shape[axis] else "inside")


def taken_along(a: ndarray, index: ndarray, axis: int, mode: str) -> ndarray:
    """The elements with these indices along an axis; with the mode "inside" all of them are known to be."""
    n = a.shape[axis]
    shape = (*a.shape[:axis], *index.shape, *a.shape[axis + 1 :])
    if 0 in shape:
        return _full(shape, 0, a.dtype, a.device)
    index = index_beside(index, a)
    index = _cast(index, INDEX) if index.dtype.kind == "b" else index
    if mode == "raise":
        bounds = _Bounds()
        index = bounds.within(index, axis, n)
        bounds.check()
    elif mode != "inside":
        index = _inside(index, n, mode)
    steps = _steps(a.shape)
    before, behind = list(zip(a.shape[:axis], steps)), list(zip(a.shape[axis + 1 :], steps[axis + 1 :]))
    grid = _grid([*before, *[(1, 0)] * index.ndim, *behind], a)
    scaled = u("multiply", _cast(index, INDEX), steps[axis])
    return taken(a, u("add", grid, _reshape(scaled, (*index.shape, *(1,) * len(behind)))))


def _inside(index: ndarray, n: int, mode: str) -> ndarray:
    """Indices brought to an axis."""
    wide = _cast(index, np.dtype(np.int64) if index.device.int64 else INDEX)
    found = u("remainder", wide, n) if mode == "wrap" else u("minimum", u("maximum", wide, 0), n - 1)
    return _cast(found, INDEX)


def along(a: ndarray, index: ndarray, axis: int) -> ndarray:
    """The places in C's order of the elements with these indices along an axis, where each row has its own."""
    steps, n = _steps(a.shape), a.shape[axis]
    bounds = _Bounds()
    index = bounds.within(index_beside(index, a), axis, n)
    shape = np.broadcast_shapes(index.shape, tuple(1 if i == axis else m for i, m in enumerate(a.shape)))
    if math.prod(shape):
        bounds.check()
    grid = _grid([(1, 0) if i == axis else (m, step) for i, (m, step) in enumerate(zip(a.shape, steps))], a)
    return _broadcast(u("add", grid, u("multiply", index, steps[axis])), shape)


def put_flat(a: ndarray, index: ndarray, values: ndarray, mode: str) -> None:
    """NumPy's `put`."""
    if not index.size or not values.size:
        return
    if not a.size:
        raise IndexError("cannot replace elements of an empty array")
    index = row(index_beside(index, a))
    index = _cast(index, INDEX) if index.dtype.kind == "b" else index
    if mode == "raise":
        bounds = _Bounds()
        index = bounds.within(index, 0, a.size)
        bounds.check()
    else:
        index = _inside(index, a.size, mode)
    written(a, index, _repeated(moved_to(values, a), index.size), False)


def put_where(a: ndarray, flags: ndarray, values: ndarray) -> None:
    """NumPy's `place`."""
    at = chosen(row(moved_to(flags, a)), None)
    if not at.size:
        return
    if not values.size:
        raise ValueError("Cannot insert from an empty array!")
    written(a, at, _repeated(moved_to(values, a), at.size), True)


def _repeated(values: ndarray, n: int) -> ndarray:
    """So many values, from the first again where there are fewer."""
    if values.size >= n:
        return values[:n]
    return values if values.size == 1 else taken(values, u("remainder", _iota(n, 0, 1, INDEX, values.device), values.size))


def repeated(a: ndarray, counts: ndarray, axis: int) -> ndarray:
    """Each element along an axis as often as a row of counts says, whose least and whose sum are read: one sync."""
    counts = moved_to(counts, a)
    wide = np.dtype(np.int64) if a.device.int64 else INDEX
    pair = _full((2,), 0, wide, a.device)
    if counts.size:
        signed = _cast(counts, wide)
        pair[0], pair[1] = _fold("minimum", signed, (0,)), _fold("add", signed, (0,), wide)
    least, total = (int(each) for each in _to_numpy(pair))
    if least < 0:
        raise ValueError("repeats may not contain negative values.")
    if total >= 2**31:
        raise UnsupportedError(f"repeat makes fewer than 2**31 parts on a device, not {total}: use device='cpu'")
    at = below(sums_of(counts), _iota(total, 0, 1, INDEX, a.device), "right", INDEX)
    return taken_along(a, at, axis, "inside")

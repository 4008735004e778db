"""Subscripts with masks and arrays of indices, and NumPy's functions that take and put: places are computed where the arrays are.

Indices of a device that may be outside are looked at by one flag, which is read before anything is done, and how many elements a mask
selects is read: these are the only syncs.
"""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

import numpy as np

from weft._weft import _assign, _broadcast, _capture_number, _cast, _fold, _from_numpy, _full, _iota, _reshape, _to_numpy, ndarray
from weft.arrays import indexing
from weft.arrays._common import Order, in_c_order, in_order, out_of_order, select, u
from weft.errors import UnsupportedError
from weft.kernels.lines import row
from weft.kernels.moving import INDEX, chosen, looked_up, moved_to, put, put_apart, taken
from weft.kernels.scan import sums_of
from weft.kernels.searching import below

__all__ = [
    "along", "compressed", "got", "places_of", "repeated", "set_", "taken_along", "taken_beside", "true_places", "with_values",
    "with_values_beside", "with_values_where", "written",
]  # fmt: skip


def _on_host(index: Any) -> np.ndarray | None:
    """Indices that the host has, in 64 bits; None where a device has them."""
    if isinstance(index, ndarray):
        if index.device.kind != "cpu":
            return None
        index = _to_numpy(index)
    return np.asarray(index).astype(np.int64)


def _mask_beside(mask: Any, like: ndarray) -> ndarray:
    """A mask as a row on the device of an array."""
    return row(moved_to(mask, like) if isinstance(mask, ndarray) else _from_numpy(mask, like.device))


class _Bounds:
    """Indices that have to lie on their axes: those of the host are looked at there, those of a device by one flag."""

    def __init__(self) -> None:
        self._wrong: list[str] = []
        self._looks: list[tuple[ndarray, int, int]] = []
        self._flags: list[ndarray] = []

    def within(self, index: Any, axis: int, n: int, like: ndarray) -> ndarray:
        """Indices of an axis of `n` elements of an array, on its device and counted from the front."""
        host = _on_host(index)
        if host is not None:
            if ((host < -n) | (host >= n)).any():
                self._wrong.append(indexing._outside(host.reshape(-1), axis, n))
                host = np.zeros_like(host)
            return _from_numpy(np.where(host < 0, host + n, host).astype(INDEX), like.device)
        index = moved_to(index, like)
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
        """IndexError for an index that is outside: one sync, if a device has indices."""
        if self._wrong:
            raise IndexError(self._wrong[0])
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


def places_of(x: ndarray, entries: list[Any]) -> ndarray:
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
            parts.append(u("multiply", chosen(_mask_beside(part.value, x), None), own[-1]))
        elif part.kind == "array":
            parts.append(u("multiply", bounds.within(part.value, axis, sizes[0], x), own[0]))
        else:
            start += indexing._dims(part, sizes, own)[0]
        axis += part.axes
    together = _together(parts) if parts else _full((), 0, INDEX, x.device)
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
        return chosen(_mask_beside(entries[0].value, x), row(x))
    if order is None and x.ndim == 1 and len(entries) == 1 and _is_looked_up(x, entries[0].value):
        index = entries[0].value
        found, is_inside = looked_up(x, index)
        if not is_inside:
            raise IndexError(indexing._outside(_to_numpy(index).astype(np.int64).reshape(-1), 0, x.size))
        return found
    return out_of_order(taken(x, in_order(places_of(x, entries), order)), order)


def _is_looked_up(x: ndarray, index: Any) -> bool:
    """Whether elements of a row are read as their indices are looked at, which is not known before a graph that is captured runs."""
    is_there = isinstance(index, ndarray) and index.device == x.device and index.dtype.kind == "i" and index.dtype.itemsize >= 4
    return is_there and x.size > 0 and index.size > 0 and _capture_number() is None


def set_(x: ndarray, entries: list[Any], value: Any) -> None:
    """Puts values where a subscript selects elements; of an element named twice the last value stays."""
    if isinstance(value, ndarray):
        given = moved_to(value if value.dtype == x.dtype else _cast(value, x.dtype), x)
    else:
        given = _from_numpy(indexing._values(x, value), x.device)
    if given.ndim > 1 and len(entries) == 1 and entries[0].kind in ("mask", "bool") and entries[0].value_shape == x.shape:
        raise TypeError(f"NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, input has {given.ndim} dimensions")
    places = places_of(x, entries)
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


def taken_along(a: ndarray, index: Any, axis: int, mode: str) -> ndarray:
    """The elements with these indices along an axis; with the mode "inside" all of them are known to be."""
    n = a.shape[axis]
    shape = (*a.shape[:axis], *index.shape, *a.shape[axis + 1 :])
    if 0 in shape:
        return _full(shape, 0, a.dtype, a.device)
    index = _at(index, axis, n, mode, a)
    steps = _steps(a.shape)
    before, behind = list(zip(a.shape[:axis], steps)), list(zip(a.shape[axis + 1 :], steps[axis + 1 :]))
    grid = _grid([*before, *[(1, 0)] * index.ndim, *behind], a)
    scaled = u("multiply", index, steps[axis])
    return taken(a, u("add", grid, _reshape(scaled, (*index.shape, *(1,) * len(behind)))))


def _at(index: Any, axis: int, n: int, mode: str, like: ndarray) -> ndarray:
    """Indices of an axis as NumPy's modes bring them there, and as they are where they are known to be inside."""
    if mode == "raise":
        bounds = _Bounds()
        found = bounds.within(index, axis, n, like)
        bounds.check()
        return found
    host = _on_host(index)
    if host is not None:
        host = host if mode == "inside" else np.remainder(host, n) if mode == "wrap" else np.clip(host, 0, n - 1)
        return _from_numpy(host.astype(INDEX), like.device)
    found = moved_to(index, like)
    if mode != "inside":
        found = _cast(found, np.dtype(np.int64) if found.device.int64 else INDEX)
        found = u("remainder", found, n) if mode == "wrap" else u("minimum", u("maximum", found, 0), n - 1)
    return _cast(found, INDEX)


def along(a: ndarray, index: Any, axis: int) -> ndarray:
    """The places in C's order of the elements with these indices along an axis, where each row has its own."""
    steps, n = _steps(a.shape), a.shape[axis]
    bounds = _Bounds()
    index = bounds.within(index, axis, n, a)
    shape = np.broadcast_shapes(index.shape, tuple(1 if i == axis else m for i, m in enumerate(a.shape)))
    if math.prod(shape):
        bounds.check()
    grid = _grid([(1, 0) if i == axis else (m, step) for i, (m, step) in enumerate(zip(a.shape, steps))], a)
    return _broadcast(u("add", grid, u("multiply", index, steps[axis])), shape)


def taken_beside(arr: ndarray, indices: Any, axis: int) -> ndarray:
    """NumPy's `take_along_axis`."""
    return taken(arr, along(arr, indices, axis))


def with_values_beside(arr: ndarray, indices: Any, values: ndarray, axis: int) -> ndarray:
    """A copy in which NumPy's `put_along_axis` has put values."""
    places, copy, values = along(arr, indices, axis), _cast(arr, arr.dtype, True), moved_to(values, arr)
    if places.size:
        written(copy, places, _reshape(values, ()) if values.size == 1 else _broadcast(values, places.shape), False)
    return copy


def with_values(a: ndarray, index: Any, values: ndarray, mode: str) -> ndarray:
    """A copy in which NumPy's `put` has put values."""
    copy = _cast(a, a.dtype, True)
    if index.size and values.size:
        if not a.size:
            raise IndexError("cannot replace elements of an empty array")
        places = row(_at(index, 0, a.size, mode, a))
        written(copy, places, _repeated(moved_to(values, a), places.size), False)
    return copy


def with_values_where(a: ndarray, flags: ndarray, values: ndarray) -> ndarray:
    """A copy in which NumPy's `place` has put values."""
    at, copy = chosen(row(moved_to(flags, a)), None), _cast(a, a.dtype, True)
    if at.size:
        if not values.size:
            raise ValueError("Cannot insert from an empty array!")
        written(copy, at, _repeated(moved_to(values, a), at.size), True)
    return copy


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
    # Places are counted in 32 bits, a block behind the last one included.
    if total >= 2**31 - 2**16:
        raise UnsupportedError(f"repeat makes fewer than 2**31 - 2**16 parts on a device, not {total}: use device='cpu'")
    at = below(sums_of(counts), _iota(total, 0, 1, INDEX, a.device), "right", INDEX)
    return taken_along(a, at, axis, "inside")

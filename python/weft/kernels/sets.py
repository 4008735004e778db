"""Different elements of a row, and rows as sets, made of sorts and scans. How many are found is read: one sync for each search."""

from __future__ import annotations

import numpy as np

from weft._weft import _cast, _fold, _full, _iota, _reshape, _unset, ndarray
from weft.arrays._common import flat, in_c_order, kind_of, result_dtype, u
from weft.arrays.joining import concatenate
from weft.kernels.lines import row
from weft.kernels.moving import INDEX, chosen, moved_to, put_apart, selected, taken
from weft.kernels.radix import order_of_keys, order_of_rows, sorted_rows
from weft.kernels.searching import below

__all__ = ["common", "different_parts", "distinct", "is_among", "only_in_one"]

_COUNT = np.dtype(np.int64)


def distinct(a: ndarray, index: bool, inverse: bool, counts: bool, equal_nan: bool) -> tuple[ndarray, ...]:
    """The different elements of a row in sorted order; on demand where each is first, which of them each element is, and how often each
    is there."""
    order = order_of_rows(a) if index or inverse else None
    ordered = sorted_rows(a) if order is None else taken(a, order)
    x, y = ordered[:-1], ordered[1:]
    new = u("not_equal", x, y)
    if equal_nan and kind_of(a.dtype) in "fc":
        new = u("logical_and", new, u("logical_or", u("equal", x, x), u("equal", y, y)))
    flags = _after_the_first(new, a)
    found = selected(flags)
    return (chosen(flags, ordered, found), *_told(flags, found, order, index, inverse, counts))


def different_parts(rows: ndarray, index: bool, inverse: bool, counts: bool) -> tuple[ndarray, ...]:
    """The places of the different rows of a matrix in the order of their elements, and what else is asked for, as `distinct` has it."""
    n = rows.shape[0]
    order = order_of_keys(*(rows[:, i] for i in reversed(range(rows.shape[1]))))
    ordered = taken(_reshape(rows, (rows.size,)), _places_of_rows(order, rows.shape[1]))
    flags = _after_the_first(_fold("logical_or", u("not_equal", ordered[1:], ordered[:-1]), (1,)), rows)
    found = selected(flags)
    first = taken(order, chosen(flags, None, found)) if n else order
    return (first, *_told(flags, found, order, index, inverse, counts))


def _places_of_rows(order: ndarray, width: int) -> ndarray:
    return u("add", u("multiply", _reshape(order, (order.size, 1)), width), _iota(width, 0, 1, INDEX, order.device))


def _after_the_first(new: ndarray, like: ndarray) -> ndarray:
    """Flags of elements that are other than the one before; the first one is."""
    flags = _full((like.shape[0],), True, np.dtype(bool), like.device)
    if like.shape[0] > 1:
        flags[1:] = new
    return flags


def _told(flags: ndarray, found: tuple[ndarray, int], order: ndarray | None, index: bool, inverse: bool, counts: bool) -> list[ndarray]:
    """What `distinct` tells beside the elements, in 64 bits."""
    told = []
    starts = chosen(flags, None, found) if index or counts else None
    if index:
        told.append(_cast(taken(order, starts), _COUNT))
    if inverse:
        which = _unset((flags.size,), INDEX, flags.device)
        put_apart(which, order, u("subtract", found[0], 1))
        told.append(_cast(which, _COUNT))
    if counts:
        ends = _full(starts.shape, flags.size, INDEX, flags.device)
        if starts.size:
            ends[:-1] = starts[1:]
        told.append(_cast(u("subtract", ends, starts), _COUNT))
    return told


def _pair(a: ndarray, b: ndarray) -> tuple[ndarray, ndarray]:
    """Two rows of one dtype on one device, which a kernel can read."""
    dtype = result_dtype(a, b)
    return tuple(_whole(each if each.dtype == dtype else _cast(each, dtype)) for each in (flat(a), moved_to(flat(b), a)))


def _whole(x: ndarray) -> ndarray:
    return x if in_c_order(x) else _cast(x, x.dtype, True)


def common(a: ndarray, b: ndarray, assume_unique: bool, indices: bool) -> tuple[ndarray, ...]:
    """The different elements that both rows have; on demand also where each is first in one and in the other."""
    a, b = _pair(a, b)
    firsts = None
    if not assume_unique:
        (a, *first), (b, *second) = (distinct(each, indices, False, False, True) for each in (a, b))
        firsts = (*first, *second)
    joined = concatenate((a, b))
    order = order_of_rows(joined) if indices else None
    ordered = sorted_rows(joined) if order is None else taken(joined, order)
    flags = u("equal", ordered[1:], ordered[:-1])
    found = selected(flags)
    values = chosen(flags, ordered[:-1], found)
    if not indices:
        return (values,)
    one, other = (chosen(flags, part, found) for part in (order[:-1], order[1:]))
    other = u("subtract", other, a.size)
    if firsts:
        one, other = taken(firsts[0], one), taken(firsts[1], other)
    return values, _cast(one, _COUNT), _cast(other, _COUNT)


def only_in_one(a: ndarray, b: ndarray, assume_unique: bool) -> ndarray:
    """The different elements that only one of two rows has."""
    a, b = _pair(a, b)
    if not assume_unique:
        (a,), (b,) = (distinct(each, False, False, False, True) for each in (a, b))
    ordered = sorted_rows(concatenate((a, b)))
    if not ordered.size:
        return ordered
    new = u("not_equal", ordered[1:], ordered[:-1])
    before, behind = (_full((ordered.size,), True, np.dtype(bool), ordered.device) for _ in "ab")
    before[1:], behind[:-1] = new, new
    return chosen(row(u("logical_and", before, behind)), ordered)


def is_among(a: ndarray, b: ndarray, invert: bool) -> ndarray:
    """Whether each element of a row is one of another's, or none of them. NaN is none."""
    a, b = _pair(a, b)
    ordered = sorted_rows(b)
    places = below(ordered, a, "left", INDEX)
    return u("not_equal" if invert else "equal", taken(ordered, u("minimum", places, b.size - 1)), a)

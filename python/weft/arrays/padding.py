"""`pad`: arrays with a border around them."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from weft._weft import _broadcast, _cast, ndarray

from ._common import Order, beside, lying, refuse, turned_if_fortran, u
from .ranges import linspace
from .reductions import max as _max
from .reductions import mean as _mean
from .reductions import min as _min
from .shapes import flip, moveaxis
from .statistics import median as _median

# Modes whose border is made of the array's own elements: NumPy says of which, given the numbers of an axis.
_MIRRORS = ("edge", "reflect", "symmetric", "wrap")
_STATISTICS = {"maximum": _max, "minimum": _min, "mean": _mean, "median": _median}


def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> ndarray:
    """A copy with a border: so many elements before and behind each axis.

    `mode` is "constant" (with `constant_values`), "edge", "reflect" or "symmetric" (with `reflect_type="even"`), "wrap", "empty",
    "linear_ramp" (with `end_values`), or "maximum", "minimum", "mean" or "median" (with `stat_length`, of how many elements at each end).
    A function is called with each row of the result along each axis, the widths, the axis and the keywords, and writes the border.

    >>> weft.pad(weft.asarray([1, 2]), (1, 2), constant_values=9)
    array([9, 1, 2, 9, 9])
    """
    a = beside(array, *kwargs.values())
    widths = _widths(pad_width, a.ndim)
    if callable(mode):
        return _by_function(_framed(a, widths, "empty"), widths, mode, kwargs)
    allowed = {
        "constant": ("constant_values",),
        "linear_ramp": ("end_values",),
        "reflect": ("reflect_type",),
        "symmetric": ("reflect_type",),
        **dict.fromkeys(_STATISTICS, ("stat_length",)),
    }
    if mode not in (*_MIRRORS, *_STATISTICS, "constant", "empty", "linear_ramp"):
        raise ValueError(f"mode '{mode}' is not supported")
    unknown = set(kwargs) - set(allowed.get(mode, ()))
    if unknown:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {unknown}")
    if kwargs.get("reflect_type", "even") != "even":
        raise refuse("pad", "reflect_type is 'even'")
    order = turned_if_fortran(a)
    if mode in _MIRRORS and any(map(any, widths)):
        for axis, width in enumerate(widths):
            a = _mirrored(a, axis, width, mode, order) if any(width) else a
        return a
    if mode in _MIRRORS:
        return _framed(a, widths, "empty")
    if mode in _STATISTICS:
        return _framed(a, widths, mode, lengths=_lengths(kwargs.get("stat_length"), a.ndim))
    return _framed(a, widths, mode, kwargs.get("end_values" if mode == "linear_ramp" else "constant_values", 0))


def _by_function(made: ndarray, widths: list[tuple[int, int]], function: Any, keywords: dict[str, Any]) -> ndarray:
    for axis, width in enumerate(widths):
        rows = moveaxis(made, axis, -1)
        for index in np.ndindex(rows.shape[:-1]):
            function(rows[(*index, Ellipsis)], width, axis, keywords)
    return made


def _lengths(given: Any, rank: int) -> list[tuple[Any, Any]]:
    """Of how many elements at each end of each axis the border is made; None is all."""
    if given is None:
        return [(None, None)] * rank
    found = np.broadcast_to(np.round(np.asarray(given)).astype(np.intp), (rank, 2))
    if (found < 0).any():
        raise ValueError("index can't contain negative values")
    return [(before, behind) for before, behind in found.tolist()]


def _widths(given: Any, rank: int) -> list[tuple[int, int]]:
    if isinstance(given, dict):
        pairs: list[Any] = [(0, 0)] * rank
        for axis, width in given.items():
            pairs[axis] = width if isinstance(width, tuple) else (width, width)
        given = pairs
    widths = np.broadcast_to(np.asarray(given), (rank, 2))
    if widths.dtype.kind not in "iu":
        raise TypeError("`pad_width` must be of integral type.")
    if (widths < 0).any():
        raise ValueError("index can't contain negative values")
    return [(operator.index(before), operator.index(behind)) for before, behind in widths]


def _framed(a: ndarray, widths: list[tuple[int, int]], mode: str, values: Any = 0, lengths: list[tuple[Any, Any]] | None = None) -> ndarray:
    """The array in the middle of a larger one, whose border is filled axis by axis, corners last."""
    shape = tuple(before + n + behind for (before, behind), n in zip(widths, a.shape))
    made = lying(shape, turned_if_fortran(a), 0, a.dtype, a.device)
    if (mode in _STATISTICS or mode == "linear_ramp") and a.size == 0:
        for axis, (n, width) in enumerate(zip(a.shape, widths)):
            if n == 0 and any(width):
                raise ValueError(f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'")
    inner = tuple(slice(before, before + n) for (before, _), n in zip(widths, a.shape))
    made[(*inner, Ellipsis)] = a
    if mode == "empty":
        return made
    pairs = _pairs(values, a.ndim)
    for axis, (before, behind) in enumerate(widths):
        # Along axes whose border is not there yet, only the array's own extent.
        middle = made[tuple(slice(None) if i <= axis else inner[i] for i in range(a.ndim))]
        end = before + a.shape[axis]
        row = _between(middle, axis, before, end)
        sides = ((0, before), (end, end + behind))
        found = _statistics(mode, row, axis, lengths[axis], sides) if lengths is not None else pairs[axis]
        for side, (start, stop) in enumerate(sides):
            if start == stop:
                continue
            border = _between(middle, axis, start, stop)
            border[...] = _ramp(row, axis, side, stop - start, found[side]) if mode == "linear_ramp" else found[side]
    return made


def _between(a: ndarray, axis: int, start: int, stop: int) -> ndarray:
    return a[(slice(None),) * axis + (slice(start, stop),)]


def _statistics(mode: str, row: ndarray, axis: int, lengths: tuple[Any, Any], sides: Any) -> list[Any]:
    """What the border before an axis and that behind it are made of, as far as there are any."""
    n = row.shape[axis]
    known: dict[Any, ndarray] = {}
    found = []
    for side, (length, (start, stop)) in enumerate(zip(lengths, sides)):
        count = n if length is None else min(length, n)
        if count == 0 and start != stop and mode in ("maximum", "minimum"):
            raise ValueError("stat_length of 0 yields no value for padding")
        key = None if count == n else side
        if key not in known and start != stop:
            known[key] = _statistic(mode, _between(row, axis, n - count if side else 0, n if side else count), axis)
        found.append(known.get(key))
    return found


def _statistic(mode: str, row: ndarray, axis: int) -> ndarray:
    found = _STATISTICS[mode](row, axis=axis, keepdims=True)
    if row.dtype.kind in "iu" and found.dtype.kind == "f":
        found = _cast(u("rint", found), row.dtype)
    return found


def _ramp(row: ndarray, axis: int, side: int, width: int, value: Any) -> ndarray:
    """Numbers from a value to what is at an end of the axis, without it."""
    edge = row[(slice(None),) * axis + (-1 if side else 0,)]
    found = linspace(value, edge, width, endpoint=False, dtype=row.dtype, axis=axis)
    return flip(found, axis) if side else found


def _pairs(values: Any, rank: int) -> list[tuple[Any, Any]]:
    """The constants before and behind each axis."""
    if isinstance(values, ndarray):
        wide = _broadcast(values, (rank, 2))
        return [(wide[i, 0], wide[i, 1]) for i in range(rank)]
    found = np.broadcast_to(np.asarray(values), (rank, 2))
    return [(before, behind) for before, behind in found.tolist()]


def _mirrored(a: ndarray, axis: int, width: tuple[int, int], mode: str, order: Order) -> ndarray:
    """The array with a border along one axis that repeats its own elements, copied run by run."""
    n = a.shape[axis]
    if n == 0:
        raise ValueError(f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'")
    places = np.pad(np.arange(n), width, mode)
    made = lying((*a.shape[:axis], len(places), *a.shape[axis + 1 :]), order, 0, a.dtype, a.device)
    start = 0
    while start < len(places):
        stop, step = start + 1, 0
        if stop < len(places):
            step = int(places[stop] - places[start])
            step = step if abs(step) <= 1 else 0
            while stop < len(places) and places[stop] - places[stop - 1] == step:
                stop += 1
        first = int(places[start])
        source = a[(slice(None),) * axis + (_run(first, step, stop - start),)]
        made[(slice(None),) * axis + (slice(start, stop),)] = source
        start = stop
    return made


def _run(first: int, step: int, count: int) -> slice:
    """The slice of so many places; for a step of 0 the one element, which is broadcast."""
    if step >= 0:
        return slice(first, first + (count if step else 1))
    end = first - count
    return slice(first, None if end < 0 else end, -1)

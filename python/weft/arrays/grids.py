"""Rows and grids written with slices in brackets (`mgrid`, `ogrid`, `r_`, `c_`), and walks over indices."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from weft._weft import _iota, ndarray

from ._common import array_of, place_of, result_dtype, u
from .joining import concatenate
from .ranges import arange, linspace
from .shapes import transpose

ndindex = np.ndindex


def ndenumerate(arr: Any) -> Iterator[tuple[tuple[int, ...], ndarray]]:
    """Every index of an array with the element there, which is an array without axes.

    >>> [(index, int(x)) for index, x in weft.ndenumerate([[5, 6]])]
    [((0, 0), 5), ((0, 1), 6)]
    """
    a = array_of(arr)
    return ((index, a[index]) for index in np.ndindex(a.shape))


class _Grid:
    """What `mgrid` and `ogrid` are: a slice for each axis, whose step is a complex number where it is a count of numbers."""

    def __init__(self, sparse: bool) -> None:
        self._sparse = sparse

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, tuple):
            return _along(key, None)
        dtype = np.result_type(0, *(part for each in key for part in _parts(each)))
        if not self._sparse and any(_count(each) < 0 for each in key):
            raise ValueError("negative dimensions are not allowed")
        rows = [_along(each, dtype) for each in key]
        shape = tuple(row.size for row in rows)
        open_grid = [row[tuple(slice(None) if i == axis else None for i in range(len(rows)))] for axis, row in enumerate(rows)]
        if self._sparse:
            return tuple(open_grid)
        from .creation import zeros

        # Counts between integers give floats, whatever the axes are.
        made = zeros((len(rows), *shape), dtype=result_dtype(*(row.dtype for row in rows)) if rows else dtype)
        for axis, row in enumerate(open_grid):
            made[axis] = row
        return made

    def __len__(self) -> int:
        return 0


def _parts(each: slice) -> tuple[Any, Any, Any]:
    """Start, stop and step as NumPy finds a dtype for them."""
    step = 1 if each.step is None else each.step
    return (0 if each.start is None else each.start, each.stop, abs(step) if isinstance(step, (complex, np.complexfloating)) else step)


def _count(each: slice) -> int:
    """How many numbers there are; less than none where the stop is on the other side."""
    start, stop, step = _parts(each)
    return int(step) if isinstance(each.step, (complex, np.complexfloating)) else math.ceil((stop - start) / step)


def _along(each: slice, dtype: Any) -> ndarray:
    """The numbers of a slice."""
    start, stop, step = _parts(each)
    if not isinstance(each.step, (complex, np.complexfloating)):
        if dtype is None:
            return arange(start, stop, step)
        return u("add", u("multiply", _iota(max(0, _count(each)), 0, 1, dtype), step), start)
    count = _count(each)
    width = (stop - start) / float(count - 1) if count != 1 else count
    return u("add", u("multiply", _iota(count, 0, 1, np.result_type(start, stop, step) if dtype is None else dtype), width), start)


mgrid = _Grid(sparse=False)
ogrid = _Grid(sparse=True)


class _Joined:
    """What `r_` and `c_` are: numbers, arrays and slices, joined along an axis.

    A text in front names the axis, how many axes the parts have at least, and where those of parts with fewer go.
    """

    def __init__(self, axis: int, least: int, place: int) -> None:
        self._defaults = axis, least, place

    def __getitem__(self, key: Any) -> ndarray:
        parts = list(key) if isinstance(key, tuple) else [key]
        axis, least, place = self._defaults
        if parts and isinstance(parts[0], str):
            axis, least, place = self._directive(parts.pop(0))
        if any(isinstance(part, str) for part in parts):
            raise ValueError("special directives must be the first entry.")
        weak = [part if isinstance(part, (bool, int, float, complex)) else None for part in parts]
        device = place_of(*parts)
        made = [_part(part, least, place, device) for part in parts]
        if made:
            dtype = result_dtype(*(each.dtype if number is None else number for number, each in zip(weak, made)))
            for number in weak:
                # One that the dtype does not hold is said.
                array_of(0 if number is None else number, dtype)
            made = [array_of(each, dtype, device) for each in made]
        return concatenate(made, axis)

    def __len__(self) -> int:
        return 0

    def _directive(self, text: str) -> tuple[int, int, int]:
        axis, least, place = self._defaults
        if text in ("r", "c"):
            raise ValueError(f"the directive {text!r} asks for a matrix, and Weft has arrays only")
        try:
            numbers = [int(each) for each in text.split(",")]
        except ValueError as error:
            raise ValueError(f"unknown special directive {text!r}") from error
        return tuple(numbers[:3] + [axis, least, place][len(numbers) :])  # type: ignore[return-value]


def _part(part: Any, least: int, place: int, device: Any) -> ndarray:
    """One of the parts, with as many axes as asked for."""
    if isinstance(part, slice):
        start, _, step = _parts(part)
        counted = isinstance(part.step, (complex, np.complexfloating))
        made = linspace(start, part.stop, int(step), device=device) if counted else arange(start, part.stop, step, device=device)
        had = 0
    else:
        made = array_of(part, device=device)
        had = made.ndim
    missing = least - made.ndim
    made = made[(None,) * missing + (Ellipsis,)] if missing > 0 else made
    if isinstance(part, slice):
        return made.swapaxes(-1, place) if least > 1 and place != -1 else made
    if isinstance(part, (bool, int, float, complex, np.generic)) or place == -1 or had >= least:
        return made if made.ndim else made[None]
    new = least - had
    first = place + new + 1 if place < 0 else place
    axes = list(range(least))
    return transpose(made, (*axes[:first], *axes[new:], *axes[first:new]))


r_ = _Joined(0, 1, -1)
c_ = _Joined(-1, 2, 0)

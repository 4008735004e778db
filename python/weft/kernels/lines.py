"""How arrays lie for kernels: as one row, and as lines along an axis."""

from __future__ import annotations

import math

from weft._weft import _reshape, ndarray

__all__ = ["around", "row"]


def row(a: ndarray) -> ndarray:
    """The elements in C's order, one behind the other: a view where there is one."""
    return a if a.ndim == 1 else _reshape(a, (a.size,))


def around(shape: tuple[int, ...], axis: int) -> tuple[int, int, int]:
    """How many rows lie before an axis, its length, and how many elements lie behind."""
    return math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])

"""How arrays lie for kernels: as one row, and as lines along an axis."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from weft._weft import _full, _reshape, _unset, ndarray

__all__ = ["around", "row", "unset"]


def row(a: ndarray) -> ndarray:
    """The elements in C's order, one behind the other: a view where there is one."""
    return a if a.ndim == 1 else _reshape(a, (a.size,))


def around(shape: tuple[int, ...], axis: int) -> tuple[int, int, int]:
    """How many rows lie before an axis, its length, and how many elements lie behind."""
    return math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])


def unset(shape: tuple[int, ...], dtype: np.dtype, device: Any) -> ndarray:
    """An array for what a kernel writes as a whole. Where the device lacks the dtype it is refused as zeros are."""
    lacks = not device.int64 if dtype.kind in "iu" else not device.float64
    if lacks and dtype.itemsize == (16 if dtype.kind == "c" else 8):
        return _full(shape, 0, dtype, device)
    return _unset(shape, dtype, device)

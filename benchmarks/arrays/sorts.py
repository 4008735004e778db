"""Sorted arrays, the indices that sort, and different elements, of 10⁷ numbers each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from programs import Program, rng

N = 10_000_000
# Nobody else has functions for these that are more than NumPy's; what JAX's gives is in the order of NumPy's, too.
NOT_THERE = {"numexpr": None, "numba": None, "mlx": None}


def _numbers(dtype: str) -> np.ndarray:
    """Normal floats, and integers from the whole range."""
    if np.dtype(dtype).kind == "f":
        return rng().standard_normal(N).astype(dtype)
    ends = np.iinfo(dtype)
    return rng().integers(ends.min, ends.max, N, dtype)


def _program(name: str, dtype: str) -> Program:
    def make(xp: Any, number: Any = float) -> Callable[..., Any]:
        return (lambda a: xp.argsort(a, stable=True)) if name == "argsort" else getattr(xp, name)

    return Program(
        name=f"{name}-{dtype}",
        title=f"`{name}` of 10⁷ {dtype}",
        make=make,
        arguments=lambda: (_numbers(dtype),),
        others=NOT_THERE,
        tolerance=0.0,
        seconds=4.0,
    )


SORTS = [_program(name, dtype) for name in ("sort", "argsort", "unique") for dtype in ("float32", "float64", "int32", "int64")]

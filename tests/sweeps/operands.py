"""What the sweeps go over: types, edge values of each, and which part of it all `make test` takes.

Everything is swept with ``WEFT_SWEEP=all``; otherwise pairs of different types take turns by a fixed rule (`taken`).
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable

import ml_dtypes
import numpy as np

EVERYTHING = os.environ.get("WEFT_SWEEP") == "all"
# Of the pairs of different types, and of other long lists, one in so many is swept when not everything is.
ONE_IN = 14

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
INTEGERS = [np.dtype(f"{sign}int{bits}") for bits in (8, 16, 32, 64) for sign in ("", "u")]
FLOATS = [np.dtype(name) for name in ("float16", "float32", "float64")]
COMPLEX = [np.dtype(name) for name in ("complex64", "complex128")]
REAL = [np.dtype(bool), *INTEGERS, *FLOATS]
DTYPES = [*REAL, *COMPLEX]
# Python's numbers, which take the type of what they meet.
PYTHON = {"bool": [True, False], "int": [0, 1, 2, 5, 63, 100], "float": [0.0, -0.0, 0.5, 2.0, -1.5, float("inf")], "complex": [0j, 1 - 2j]}


def taken(items: Iterable, one_in: int = ONE_IN) -> list:
    """All items where everything is swept, else those that a fixed rule takes."""
    items = list(items)
    return items if EVERYTHING else items[:: max(1, one_in)]


def pairs(dtypes: list[np.dtype] = DTYPES) -> list[tuple[np.dtype, np.dtype]]:
    """All pairs of types, or each with itself and some of the others."""
    mixed = taken((a, b) for a, b in itertools.product(dtypes, dtypes) if a != b)
    return [(a, a) for a in dtypes] + mixed


def values(dtype: np.dtype) -> np.ndarray:
    """Edge values: zeros of both signs, ones, the ends of the range, infinities, NaN, subnormal and halfway numbers."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        small = [0, 1, 2, 3, 5, 7, 8, 16, 64, 100]
        if dtype.kind == "i":
            small += [-1, -2, -3, -7]
        ends = [info.min, info.min + 1, info.max - 1, info.max, info.max // 2 + 1]
        return np.array(sorted(set(small + ends)), dtype)
    if dtype.kind == "c":
        return _complex_values(dtype)
    return _float_values(dtype)


def _float_values(dtype: np.dtype) -> np.ndarray:
    info = ml_dtypes.finfo(dtype)
    sizes = [0.0, 1.0, 0.5, 1.5, 2.5, 3.0, 10.0, float(info.smallest_subnormal), float(info.smallest_normal)]
    sizes += [float(info.max), 1 + float(info.eps), 0.75, np.inf]
    both = np.array(sizes + [-v for v in sizes] + [np.nan, 100.25], np.float64)
    return both.astype(dtype)


def _complex_values(dtype: np.dtype) -> np.ndarray:
    parts = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, np.inf, -np.inf, np.nan]
    grid = [complex(a, b) for a in parts for b in (0.0, -0.0, 1.0, -0.75)] + [complex(b, a) for a in parts[6:] for b in (0.0, 1.5, np.inf)]
    return np.array([*grid, 3 - 4j, 1e-3 + 5j, -1e3 + 1e-3j], dtype)


def few(dtype: np.dtype) -> np.ndarray:
    """A handful of `values`, for sweeps in which each costs a call."""
    dtype = np.dtype(dtype)
    if dtype.kind == "c":
        return np.array([0, 1 - 2j, complex(-0.0, 1.5), complex(np.inf, 0)], dtype)
    if dtype.kind == "b":
        return values(dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return np.array([0, 1, 3, info.max] + [-1, info.min] * (dtype.kind == "i"), dtype)
    return np.array([0.0, -0.0, 1.0, -2.5, 0.5, np.inf, np.nan], dtype)


def crossed(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every element of one array beside every element of the other."""
    return np.repeat(a, len(b)), np.tile(b, len(a))

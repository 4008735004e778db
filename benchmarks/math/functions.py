"""The common elementary functions, the arguments they are timed on, and what each contender calls them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Function:
    """One function. Its name is C's; `numpy` is NumPy's, if NumPy has it."""

    name: str
    low: float
    high: float
    numpy: str | None = None
    exponents: tuple[float, float] | None = None
    """The range of the second argument, where there is one."""

    @property
    def arity(self) -> int:
        """One argument or two."""
        return 2 if self.exponents else 1

    def arguments(self, count: int, dtype: type) -> list[np.ndarray]:
        """Random arguments, the same in every run, aligned to cache lines."""
        rng = np.random.default_rng(5)
        ranges = [(self.low, self.high)] + ([self.exponents] if self.exponents else [])
        return [filled(rng.uniform(low, high, count).astype(dtype)) for low, high in ranges]

    def reference(self, arguments: list[np.ndarray]) -> np.ndarray:
        """The function in extended precision, or where NumPy has none, as glibc has it."""
        if self.name in ("erf", "erfc"):
            return np.frompyfunc(getattr(math, self.name), 1, 1)(arguments[0].astype(np.float64)).astype(np.longdouble)
        wide = [a.astype(np.longdouble) for a in arguments]
        return np.power(np.longdouble(10), *wide) if self.name == "exp10" else getattr(np, self.numpy or self.name)(*wide)

    def scalar(self, exp10: Callable[[Any], Any] | None) -> Any:
        """What a compiled kernel calls."""
        if self.name == "exp10":
            return exp10
        return getattr(math, self.name) if self.name in ("erf", "erfc") else getattr(np, self.numpy or self.name)


FUNCTIONS = [
    Function("sin", -100, 100),
    Function("cos", -100, 100),
    Function("tan", -100, 100),
    Function("asin", -1, 1, "arcsin"),
    Function("acos", -1, 1, "arccos"),
    Function("atan", -10, 10, "arctan"),
    Function("atan2", -10, 10, "arctan2", exponents=(-10, 10)),
    Function("sinh", -10, 10),
    Function("cosh", -10, 10),
    Function("tanh", -5, 5),
    Function("asinh", -10, 10, "arcsinh"),
    Function("acosh", 1, 20, "arccosh"),
    Function("atanh", -1, 1, "arctanh"),
    Function("exp", -20, 20),
    Function("exp2", -20, 20),
    Function("exp10", -20, 20),
    Function("expm1", -5, 5),
    Function("log", 1e-3, 1e3),
    Function("log2", 1e-3, 1e3),
    Function("log10", 1e-3, 1e3),
    Function("log1p", -0.9, 100),
    Function("pow", 0.1, 10, "power", exponents=(-5, 5)),
    Function("cbrt", -100, 100),
    Function("hypot", -10, 10, exponents=(-10, 10)),
    Function("erf", -3, 3),
    Function("erfc", -3, 3),
]


def filled(values: np.ndarray) -> np.ndarray:
    """A copy that starts at a cache line."""
    room = np.empty(values.size + 64, values.dtype)
    start = (-room.ctypes.data // values.itemsize) % (64 // values.itemsize)
    aligned = room[start : start + values.size]
    aligned[:] = values
    return aligned


def ulps(result: np.ndarray, exact: np.ndarray) -> float:
    """The largest error in units of the last place of the exact value. A NaN where there should be none is infinitely wrong."""
    info = np.finfo(result.dtype)
    exponent = np.maximum(np.frexp(exact)[1], info.minexp + 1)
    error = np.abs(result.astype(np.longdouble) - exact) / np.ldexp(np.longdouble(1), exponent - info.nmant - 1)
    return float(np.max(np.where(np.isnan(error), np.inf, error)))

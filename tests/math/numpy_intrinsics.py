"""The kernel language's intrinsics on NumPy arrays, so that the math library's text runs under plain Python."""

from __future__ import annotations

from contextvars import ContextVar
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.generic]

# The float type that weak numbers end up with: that of the library function's arguments.
weak: ContextVar[type] = ContextVar("weak", default=np.float64)


def bits(x: Array) -> Array:
    """The bits of a float array as signed integers of its width."""
    x = np.asarray(x)
    return x.view(np.int32 if x.dtype == np.float32 else np.int64)


def from_bits(i: Array) -> Array:
    """The floats whose bits are given: int32 gives float32, int64 float64."""
    i = np.asarray(i)
    assert i.dtype in (np.int32, np.int64), i.dtype
    return i.view(np.float32 if i.dtype == np.int32 else np.float64)


def select(cond: Array, a: Array | float, b: Array | float) -> Array:
    """`a` where `cond`, else `b`. Two literals are weak: they take the width of the function that is running."""
    chosen = np.where(cond, a, b)
    return chosen.astype(weak.get()) if isinstance(a, float) and isinstance(b, float) else chosen


def fma(a: Array | float, b: Array | float, c: Array | float) -> Array:
    """a b + c with one rounding, at the width of the arrays among the operands."""
    dtype = np.result_type(a, b, c)
    a, b, c = np.broadcast_arrays(*(np.asarray(v, dtype) for v in (a, b, c)))
    return _fma32(a, b, c) if dtype == np.float32 else _fma64(a, b, c)


def _fma32(a: Array, b: Array, c: Array) -> Array:
    """The product is exact in float64; the sum is rounded to odd there, which makes the second rounding harmless."""
    return _sum_to_odd(a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)).astype(np.float32)


def _sum_to_odd(x: Array, y: Array) -> Array:
    """x + y, where inexact, as the one of its two neighbours whose last bit is set.

    S. Boldo and G. Melquiond, "Emulation of FMA and correctly rounded sums", IEEE Trans. Comput. 57 (2008)."""
    s, e = _two_sum(x, y)
    i = s.view(np.int64)
    change = np.isfinite(s) & (e != 0) & (i & 1 == 0)
    toward = np.where((e > 0) == (s > 0), 1, -1)
    return np.where(change, i + toward, i).view(np.float64)


def _two_sum(x: Array, y: Array) -> tuple[Array, Array]:
    s = x + y
    t = s - x
    return s, (x - (s - t)) + (y - t)


def _two_product(x: Array, y: Array) -> tuple[Array, Array]:
    p = x * y
    xh, yh = (v * 134217729.0 - (v * 134217729.0 - v) for v in (x, y))
    xl, yl = x - xh, y - yh
    return p, ((xh * yh - p) + xh * yl + xl * yh) + xl * yl


def _fma64(a: Array, b: Array, c: Array) -> Array:
    """Boldo and Melquiond's emulation where nothing can overflow or underflow; fractions elsewhere."""
    uh, ul = _two_product(a, b)
    th, tl = _two_sum(c, ul)
    vh, vl = _two_sum(uh, th)
    result = np.array(vh + _sum_to_odd(tl, vl))
    product = np.abs(a * b)
    safe = (np.abs(a) < 1e290) & (np.abs(b) < 1e290) & (np.abs(c) < 1e290) & (product < 1e290) & ((product > 1e-250) | (a == 0) | (b == 0))
    safe &= (np.abs(c) > 1e-250) | (c == 0)
    safe &= (product != 0) & (c != 0)
    for i in np.ndindex(result.shape):
        if not safe[i]:
            result[i] = _fma_exact(float(a[i]), float(b[i]), float(c[i]))
    return result


def _fma_exact(a: float, b: float, c: float) -> float:
    simple = a * b + c
    if not (np.isfinite(a) and np.isfinite(b) and np.isfinite(c)):
        return simple
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return 0.0 * a * b + c if c == 0 or a == 0 or b == 0 else 0.0
    try:
        return float(exact)
    except OverflowError:
        return float("inf") if exact > 0 else float("-inf")


def sqrt(x: Array) -> Array:
    return np.sqrt(x)


def floor(x: Array) -> Array:
    return np.floor(x)


def rint(x: Array) -> Array:
    return np.rint(x)


def trunc(x: Array) -> Array:
    return np.trunc(x)


def copysign(a: Array | float, b: Array) -> Array:
    return np.copysign(np.asarray(a, np.asarray(b).dtype), b)


def isnan(x: Array) -> Array:
    return np.isnan(x)


def isinf(x: Array) -> Array:
    return np.isinf(x)


def signbit(x: Array) -> Array:
    return np.signbit(x)

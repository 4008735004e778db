"""Cube root.

|x| = 2^(3 j) t with t in [1, 8). A short polynomial gives 1 / cbrt(t), one step of third order (Newton's with one more term) makes it good to
nearly the working precision, and a last step on t times its square, with the residual computed exactly, rounds it. No division.
Polynomials: generate/coefficients.py.
"""

import numpy as np
from weft import intrinsics


def cbrt_f64(x):
    """Cube root. At most 1 ULP."""
    a = abs(x)
    b = intrinsics.bits(a)
    bias = 4503599627371519.0
    if b < 0x10000000000000:
        b = intrinsics.bits(a * 18014398509481984.0)
        bias = 4503599627371573.0
    e = intrinsics.from_bits((b >> 52) | 0x4330000000000000) - bias
    shifted = intrinsics.fma(e, 0.3333333333333333, -0.3333333333333333) + 6755399441055744.0
    e = e - 3.0 * (shifted - 6755399441055744.0)
    m = intrinsics.from_bits((b & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000)
    t = intrinsics.select(e == 0.0, m, intrinsics.select(e == 1.0, m + m, 4.0 * m))
    c = _rcbrt_f64(m) * intrinsics.select(e == 0.0, 1.0, intrinsics.select(e == 1.0, 0.7937005259840998, 0.6299605249474366))
    d = intrinsics.fma(-t * c, c * c, 1.0)
    c = intrinsics.fma(c * d, intrinsics.fma(d, 0.2222222222222222, 0.3333333333333333), c)
    y = t * (c * c)
    z = y * y
    d = intrinsics.fma(-y, intrinsics.fma(y, y, -z), intrinsics.fma(-z, y, t))
    y = intrinsics.fma(d * 0.3333333333333333, c * c, y)
    y = intrinsics.from_bits(intrinsics.bits(y) + (intrinsics.bits(shifted) << 52))
    y = intrinsics.select((a > 0.0) & (a < np.inf), y, a)
    return intrinsics.copysign(y, x)


def _rcbrt_f64(m):
    """1 / cbrt(m) for m in [1, 2); error 2^-17."""
    p = intrinsics.fma(m, -0.0170189808891401, 0.1560712320031039)
    p = intrinsics.fma(m, p, -0.5978719966091756)
    p = intrinsics.fma(m, p, 1.243784599951405)
    p = intrinsics.fma(m, p, -1.5660281841537287)
    return intrinsics.fma(m, p, 1.7810575810867886)


def cbrt_f32(x):
    """Cube root. At most 1 ULP."""
    a = abs(x)
    b = intrinsics.bits(a)
    bias = np.float32(8388735.0)
    if b < 0x800000:
        b = intrinsics.bits(a * 33554432.0)
        bias = np.float32(8388760.0)
    e = intrinsics.from_bits((b >> 23) | 0x4B000000) - bias
    shifted = intrinsics.fma(e, 0.33333334, -0.33333334) + 12582912.0
    e = e - 3.0 * (shifted - 12582912.0)
    m = intrinsics.from_bits((b & 0x7FFFFF) | 0x3F800000)
    t = intrinsics.select(e == 0.0, m, intrinsics.select(e == 1.0, m + m, 4.0 * m))
    c = _rcbrt_f32(m) * intrinsics.select(
        e == 0.0, np.float32(1.0), intrinsics.select(e == 1.0, np.float32(0.7937005), np.float32(0.62996054))
    )
    d = intrinsics.fma(-t * c, c * c, 1.0)
    c = intrinsics.fma(c * d, intrinsics.fma(d, 0.2222222222222222, 0.3333333333333333), c)
    y = t * (c * c)
    z = y * y
    d = intrinsics.fma(-y, intrinsics.fma(y, y, -z), intrinsics.fma(-z, y, t))
    y = intrinsics.fma(d * 0.33333334, c * c, y)
    y = intrinsics.from_bits(intrinsics.bits(y) + (intrinsics.bits(shifted) << 23))
    y = intrinsics.select((a > 0.0) & (a < np.inf), y, a)
    return intrinsics.copysign(y, x)


def _rcbrt_f32(m):
    """1 / cbrt(m) for m in [1, 2); error 2^-9."""
    p = intrinsics.fma(m, 0.093397945, -0.4833226)
    return intrinsics.fma(m, p, 1.3881569)

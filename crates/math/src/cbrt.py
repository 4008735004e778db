"""Cube root.

float64: |x| = 2^(3 j) t with t in [1, 8). A short polynomial gives 1 / cbrt(t), one step of third order (Newton's with one more term) makes it good to
nearly the working precision. float32: the bits themselves, read as a number, are nearly a logarithm; they give a guess. A last step on the argument times
the inverse's square, with the residual computed exactly, rounds it. No division.
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
    y = _cbrt_normal_f32(a)
    b = intrinsics.bits(a)
    if (b < 0xD800000) | (b >= 0x7F800000):
        y = _rare_cbrt_f32(a)
    return intrinsics.copysign(y, x)


def _rare_cbrt_f32(a):
    """The cube root of a number so small that the last step's residual would underflow; zero, infinity and NaN of themselves."""
    y = _cbrt_normal_f32(a * 4722366482869645213696.0) * 5.9604644775390625e-08
    return intrinsics.select((a > 0.0) & (a < np.inf), y, a)


def _cbrt_normal_f32(a):
    """The cube root where nothing underflows, from a guess at its inverse and one step of fourth order.

    The guess is a third of the bits (the upper 24, which a float holds), as a number, from the constant for which its cube is off least, by 0.103.
    """
    third = np.int32(intrinsics.fma(np.float32(intrinsics.bits(a) >> 7), -0.33333334, 11092992.0))
    c = intrinsics.from_bits(third << 7)
    d = intrinsics.fma(-(a * c), c * c, 1.0)
    c = intrinsics.fma(c * d, intrinsics.fma(d, intrinsics.fma(d, 0.17283951, 0.22222222), 0.33333334), c)
    s = c * c
    y = a * s
    z = y * y
    d = intrinsics.fma(-y, intrinsics.fma(y, y, -z), intrinsics.fma(-z, y, a))
    return intrinsics.fma(d * 0.33333334, s, y)

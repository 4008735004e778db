"""Cube root.

The bits of a float, read as a number, are nearly a logarithm; minus a third of them are nearly the bits of the inverse cube root. One step of high order
(the series of (1 - d)^(-1/3), d what the guess's cube leaves of 1), in float64 another, make that good to half of the digits and more. A last step on the
argument times the inverse's square, with the residual computed exactly, rounds it. No division. Polynomials: generate/coefficients.py.
"""

import numpy as np
from weft import intrinsics


def cbrt_f64(x):
    """Cube root. At most 1 ULP."""
    a = abs(x)
    y = _cbrt_normal_f64(a)
    b = intrinsics.bits(a)
    if (b < 0x400000000000000) | (b >= 0x7FF0000000000000):
        y = _rare_cbrt_f64(a)
    return intrinsics.copysign(y, x)


def _rare_cbrt_f64(a):
    """The cube root of a number so small that the last step's residual would underflow; zero, infinity and NaN of themselves."""
    y = _cbrt_normal_f64(a * 5.846006549323612e48) * 5.551115123125783e-17
    return intrinsics.select((a > 0.0) & (a < np.inf), y, a)


def _cbrt_normal_f64(a):
    """The cube root where nothing underflows."""
    c = _rcbrt_guess_f64(a)
    d = intrinsics.fma(-(a * c), c * c, 1.0)
    c = intrinsics.fma(c * d, _rcbrt_step_f64(d), c)
    d = intrinsics.fma(-(a * c), c * c, 1.0)
    c = intrinsics.fma(c * d, 0.3333333333333333, c)
    s = c * c
    y = a * s
    z = y * y
    d = intrinsics.fma(-y, intrinsics.fma(y, y, -z), intrinsics.fma(-z, y, a))
    return intrinsics.fma(d * 0.3333333333333333, s, y)


def _rcbrt_guess_f64(a):
    """1 / cbrt(a) but for 3.5 percent: a^3 times it is off by 0.103 at most.

    The upper 52 bits stand in the fraction of a number from 2^52 on, as does what is left of the constant when a third of them is taken away.
    """
    b = intrinsics.from_bits((intrinsics.bits(a) >> 12) | 0x4330000000000000)
    return intrinsics.from_bits(intrinsics.bits(intrinsics.fma(b, -0.3333333333333333, 7504458706607599.0)) << 12)


def _rcbrt_step_f64(d):
    """((1 - d)^(-1/3) - 1) / d for |d| <= 0.104; error 2^-23."""
    p = intrinsics.fma(d, 0.1451926982777215, 0.17457992368792924)
    p = intrinsics.fma(d, p, 0.22222007776167715)
    return intrinsics.fma(d, p, 0.33332850768540295)


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
    """The cube root where nothing underflows."""
    c = _rcbrt_guess_f32(a)
    d = intrinsics.fma(-(a * c), c * c, 1.0)
    c = intrinsics.fma(c * d, intrinsics.fma(d, intrinsics.fma(d, 0.17283951, 0.22222222), 0.33333334), c)
    s = c * c
    y = a * s
    z = y * y
    d = intrinsics.fma(-y, intrinsics.fma(y, y, -z), intrinsics.fma(-z, y, a))
    return intrinsics.fma(d * 0.33333334, s, y)


def _rcbrt_guess_f32(a):
    """As _rcbrt_guess_f64, of the upper 23 bits."""
    b = intrinsics.from_bits((intrinsics.bits(a) >> 9) | 0x4B000000)
    return intrinsics.from_bits(intrinsics.bits(intrinsics.fma(b, -0.33333334, 13958056.0)) << 9)

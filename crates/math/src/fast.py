"""Shorter versions for callers with `fastmath=True`: at most 4 ULP on the usual ranges, which each names, and no care for what lies beyond.

`sin_f32_fast` stands for `sin_f32` there; a function without such a definition is the same for all callers. No NaN or infinity is expected, subnormal
results may be zero. They are compiled as written, too, so that they give the same bits everywhere. Polynomials: generate/coefficients.py.
"""

import numpy as np
from weft import intrinsics


def sin_f64_fast(x):
    """Sine for |x| <= 1000: x less a multiple of pi, in three parts, and one polynomial up to pi/2."""
    shifted = intrinsics.fma(x, 0.3183098861837907, 6755399441055744.0)
    n = shifted - 6755399441055744.0
    r = intrinsics.fma(n, 2.9947698097183397e-33, intrinsics.fma(n, -1.2246467991473532e-16, intrinsics.fma(n, -3.141592653589793, x)))
    s = r * r
    y = intrinsics.fma(r * s, _sin_half_fast_f64(s), r)
    return intrinsics.from_bits(intrinsics.bits(y) ^ (intrinsics.bits(shifted) << 63))


def cos_f64_fast(x):
    """Cosine for |x| <= 1000: as the sine, of the distance from an odd multiple of pi/2."""
    shifted = intrinsics.fma(x, 0.3183098861837907, -0.5) + 6755399441055744.0
    n = (shifted - 6755399441055744.0) + 0.5
    r = intrinsics.fma(n, 2.9947698097183397e-33, intrinsics.fma(n, -1.2246467991473532e-16, intrinsics.fma(n, -3.141592653589793, x)))
    s = r * r
    y = intrinsics.fma(r * s, _sin_half_fast_f64(s), r)
    return intrinsics.from_bits(intrinsics.bits(y) ^ (~intrinsics.bits(shifted) << 63))


def _sin_half_fast_f64(s):
    """(sin(r) - r) / r^3 in s = r^2 <= (pi/2)^2; error 2^-61.54 of sin(r)."""
    w = s * s
    p = intrinsics.fma(w, -7.643019374311364e-13, -2.5052106904422922e-08)
    p = intrinsics.fma(w, p, -0.0001984126984121248)
    p = intrinsics.fma(w, p, -0.16666666666666666)
    o = intrinsics.fma(w, 2.7214196281699496e-15, 1.605894100232562e-10)
    o = intrinsics.fma(w, o, 2.7557319211569482e-06)
    o = intrinsics.fma(w, o, 0.008333333333333207)
    return intrinsics.fma(s, o, p)


def exp_f64_fast(x):
    """e to the x, 0 where it is subnormal."""
    shifted = intrinsics.fma(x, 1.4426950408889634, 6755399441055744.0)
    n = shifted - 6755399441055744.0
    h = intrinsics.fma(n, -2.3190468138462996e-17, intrinsics.fma(n, -0.6931471805599453, x))
    p = 1.0 + intrinsics.fma(h * h, _exp_tail_fast_f64(h), h)
    y = intrinsics.from_bits(intrinsics.bits(p) + (intrinsics.bits(shifted) << 52))
    y = intrinsics.select(x > 709.78, np.inf, y)
    return intrinsics.select(x < -708.39, 0.0, y)


def _exp_tail_fast_f64(h):
    """(exp(h) - 1 - h) / h^2 for |h| <= 0.3468; error 2^-51.59 of exp(h)."""
    w = h * h
    p = intrinsics.fma(w, 2.747671971690783e-07, 2.4801932397549498e-05)
    p = intrinsics.fma(w, p, 0.0013888888515117563)
    p = intrinsics.fma(w, p, 0.04166666666814233)
    p = intrinsics.fma(w, p, 0.4999999999999832)
    o = intrinsics.fma(w, 2.7635068251000274e-06, 0.00019841185067508732)
    o = intrinsics.fma(w, o, 0.00833333337098234)
    o = intrinsics.fma(w, o, 0.16666666666611335)
    return intrinsics.fma(h, o, p)


def exp2_f64_fast(x):
    """2 to the x, 0 where it is subnormal."""
    shifted = x + 6755399441055744.0
    r = x - (shifted - 6755399441055744.0)
    p = intrinsics.fma(r, _exp2_tail_fast_f64(r), 1.0)
    y = intrinsics.from_bits(intrinsics.bits(p) + (intrinsics.bits(shifted) << 52))
    y = intrinsics.select(x >= 1024.0, np.inf, y)
    return intrinsics.select(x < -1022.0, 0.0, y)


def _exp2_tail_fast_f64(r):
    """(2^r - 1) / r for |r| <= 1/2; error 2^-54.42 of 2^r."""
    w = r * r
    p = intrinsics.fma(w, 4.0769735638696155e-10, 1.0180655891757168e-07)
    p = intrinsics.fma(w, p, 1.5252727362941537e-05)
    p = intrinsics.fma(w, p, 0.0013333558153466071)
    p = intrinsics.fma(w, p, 0.05550410866479027)
    p = intrinsics.fma(w, p, 0.6931471805599457)
    o = intrinsics.fma(w, 7.07258451987618e-09, 1.3215442604951604e-06)
    o = intrinsics.fma(w, o, 0.00015403530441687196)
    o = intrinsics.fma(w, o, 0.009618129107606935)
    o = intrinsics.fma(w, o, 0.24022650695910097)
    return intrinsics.fma(r, o, p)


def hypot_f64_fast(x, y):
    """Length of (x, y) where its square neither overflows nor underflows."""
    return intrinsics.sqrt(intrinsics.fma(x, x, y * y))


def sin_f32_fast(x):
    """Sine for |x| <= 1000: x less a multiple of pi, in three parts, and one polynomial up to pi/2."""
    shifted = intrinsics.fma(x, 0.31830987, 12582912.0)
    n = shifted - 12582912.0
    r = intrinsics.fma(n, 3.430249e-15, intrinsics.fma(n, 8.742278e-08, intrinsics.fma(n, -3.1415927, x)))
    s = r * r
    y = intrinsics.fma(r * s, _sin_half_fast_f32(s), r)
    return intrinsics.from_bits(intrinsics.bits(y) ^ (intrinsics.bits(shifted) << 31))


def cos_f32_fast(x):
    """Cosine for |x| <= 1000: as the sine, of the distance from an odd multiple of pi/2."""
    shifted = intrinsics.fma(x, 0.31830987, -0.5) + 12582912.0
    n = (shifted - 12582912.0) + 0.5
    r = intrinsics.fma(n, 3.430249e-15, intrinsics.fma(n, 8.742278e-08, intrinsics.fma(n, -3.1415927, x)))
    s = r * r
    y = intrinsics.fma(r * s, _sin_half_fast_f32(s), r)
    return intrinsics.from_bits(intrinsics.bits(y) ^ (~intrinsics.bits(shifted) << 31))


def _sin_half_fast_f32(s):
    """(sin(r) - r) / r^3 in s = r^2 <= (pi/2)^2; error 2^-27.26 of sin(r)."""
    p = intrinsics.fma(s, 2.6060818e-06, -0.00019809774)
    p = intrinsics.fma(s, p, 0.008333069)
    return intrinsics.fma(s, p, -0.1666666)


def exp_f32_fast(x):
    """e to the x, 0 where it is subnormal."""
    shifted = intrinsics.fma(x, 1.442695, 12582912.0)
    n = shifted - 12582912.0
    h = intrinsics.fma(n, 1.9046542e-09, intrinsics.fma(n, -0.6931472, x))
    p = 1.0 + intrinsics.fma(h * h, _exp_tail_fast_f32(h), h)
    y = intrinsics.from_bits(intrinsics.bits(p) + (intrinsics.bits(shifted) << 23))
    y = intrinsics.select(x > 88.72, np.inf, y)
    return intrinsics.select(x < -87.33, 0.0, y)


def _exp_tail_fast_f32(h):
    """(exp(h) - 1 - h) / h^2 for |h| <= 0.3468; error 2^-23.17 of exp(h)."""
    p = intrinsics.fma(h, 0.008312461, 0.041890323)
    p = intrinsics.fma(h, p, 0.16667116)
    return intrinsics.fma(h, p, 0.4999923)


def exp2_f32_fast(x):
    """2 to the x, 0 where it is subnormal."""
    shifted = x + 12582912.0
    r = x - (shifted - 12582912.0)
    p = intrinsics.fma(r, _exp2_tail_fast_f32(r), 1.0)
    y = intrinsics.from_bits(intrinsics.bits(p) + (intrinsics.bits(shifted) << 23))
    y = intrinsics.select(x >= 128.0, np.inf, y)
    return intrinsics.select(x < -126.0, 0.0, y)


def _exp2_tail_fast_f32(r):
    """(2^r - 1) / r for |r| <= 1/2; error 2^-25.49 of 2^r."""
    p = intrinsics.fma(r, 0.00015594682, 0.0013406645)
    p = intrinsics.fma(r, p, 0.009617693)
    p = intrinsics.fma(r, p, 0.055503104)
    p = intrinsics.fma(r, p, 0.24022652)
    return intrinsics.fma(r, p, 0.69314724)


def hypot_f32_fast(x, y):
    """Length of (x, y) where its square neither overflows nor underflows."""
    return intrinsics.sqrt(intrinsics.fma(x, x, y * y))


def tanh_f32_fast(x):
    """Hyperbolic tangent: a polynomial up to 1/2, beyond 1 - 2 / (exp(2 x) + 1)."""
    a = abs(x)
    z = x * x
    near = intrinsics.fma(x * z, _tanh_tail_fast_f32(z), x)
    far = 1.0 - 2.0 / (exp_f32_fast(a + a) + 1.0)
    return intrinsics.select(a < 0.53, near, intrinsics.copysign(far, x))


def _tanh_tail_fast_f32(z):
    """(tanh(x) - x) / x^3 in z = x^2 <= 0.3; error 2^-24.75 of tanh(x)."""
    p = intrinsics.fma(z, 0.016475325, -0.052691035)
    p = intrinsics.fma(z, p, 0.13321015)
    return intrinsics.fma(z, p, -0.3333296)

"""Shorter versions of exponentials, logarithms and powers for callers with `fastmath=True`: at most 4 ULP on the usual ranges, which each names.

`exp_f32_fast` stands for `exp_f32` there; a function without such a definition is the same for all callers. No NaN or infinity is expected, subnormal
results may be zero. They are compiled as written, too, so that they give the same bits everywhere. Polynomials: generate/coefficients.py.
"""

import numpy as np
from weft import intrinsics


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


def hypot_each_fast(x, y):
    """Length of (x, y) where its square neither overflows nor underflows."""
    return intrinsics.sqrt(intrinsics.fma(x, x, y * y))


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

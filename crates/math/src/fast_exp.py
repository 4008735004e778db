"""Shorter versions of exponentials for callers with `fastmath=True`: at most 4 ULP on the usual ranges, which each names.

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
    """2 to the x, wrong where it is subnormal. At -1023 and 1024 the exponent field becomes that of zero and of infinity."""
    x = intrinsics.select(x > 1024.0, 1024.0, x)
    x = intrinsics.select(x < -1023.0, -1023.0, x)
    shifted = x + 6755399441055744.0
    r = x - (shifted - 6755399441055744.0)
    p = intrinsics.fma(r, _exp2_tail_fast_f64(r), 1.0)
    return intrinsics.from_bits(intrinsics.bits(p) + (intrinsics.bits(shifted) << 52))


def _exp2_tail_fast_f64(r):
    """(2^r - 1) / r for |r| <= 1/2; error 2^-51.58 of 2^r."""
    w = r * r
    p = intrinsics.fma(w, 1.021050590271358e-07, 1.5252647749927464e-05)
    p = intrinsics.fma(w, p, 0.0013333558246477878)
    p = intrinsics.fma(w, p, 0.055504108664346595)
    p = intrinsics.fma(w, p, 0.6931471805599516)
    o = intrinsics.fma(w, 7.111748822562953e-09, 1.3215235672214555e-06)
    o = intrinsics.fma(w, o, 0.00015403530800774942)
    o = intrinsics.fma(w, o, 0.00961812910738073)
    o = intrinsics.fma(w, o, 0.24022650695910472)
    return intrinsics.fma(r, o, p)


def exp10_f64_fast(x):
    """10 to the x, 0 where it is subnormal."""
    shifted = intrinsics.fma(x, 3.321928094887362, 6755399441055744.0)
    n = shifted - 6755399441055744.0
    r = intrinsics.fma(n, 2.8037281277851704e-18, intrinsics.fma(n, -0.3010299956639812, x))
    p = intrinsics.fma(r, _exp10_tail_fast_f64(r), 1.0)
    y = intrinsics.from_bits(intrinsics.bits(p) + (intrinsics.bits(shifted) << 52))
    y = intrinsics.select(x > 308.25, np.inf, y)
    return intrinsics.select(x < -307.65, 0.0, y)


def _exp10_tail_fast_f64(r):
    """(10^r - 1) / r for |r| <= 0.1506; error 2^-51.55 of 10^r."""
    w = r * r
    p = intrinsics.fma(w, 0.005029916288731585, 0.06808898011842093)
    p = intrinsics.fma(w, p, 0.5393829332555542)
    p = intrinsics.fma(w, p, 2.034678592275992)
    p = intrinsics.fma(w, p, 2.3025850929940668)
    o = intrinsics.fma(w, 0.001163812396782747, 0.019597321400130843)
    o = intrinsics.fma(w, o, 0.20699585418917305)
    o = intrinsics.fma(w, o, 1.1712551488819702)
    o = intrinsics.fma(w, o, 2.6509490552392436)
    return intrinsics.fma(r, o, p)


def expm1_f64_fast(x):
    """exp(x) - 1, infinite from 709.1 on: 2^n (exp(h) - 1) + (2^n - 1). What n is added to makes it the exponent field of 2^n."""
    y = intrinsics.select(x < -50.0, -50.0, x)
    shifted = intrinsics.fma(y, 1.4426950408889634, 6755399441056767.0)
    n = shifted - 6755399441056767.0
    h = intrinsics.fma(n, -2.3190468138462996e-17, intrinsics.fma(n, -0.6931471805599453, y))
    t = intrinsics.from_bits(intrinsics.bits(shifted) << 52)
    p = intrinsics.fma(h * h, intrinsics.fma(h, _expm1_tail_f64(h), 0.5), h)
    return intrinsics.select(x > 709.1, np.inf, intrinsics.fma(t, p, t - 1.0))


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
    """2 to the x, wrong where it is subnormal. At -127 and 128 the exponent field becomes that of zero and of infinity."""
    x = intrinsics.select(x > 128.0, 128.0, x)
    x = intrinsics.select(x < -127.0, -127.0, x)
    shifted = x + 12582912.0
    r = x - (shifted - 12582912.0)
    p = intrinsics.fma(r, _exp2_tail_fast_f32(r), 1.0)
    return intrinsics.from_bits(intrinsics.bits(p) + (intrinsics.bits(shifted) << 23))


def _exp2_tail_fast_f32(r):
    """(2^r - 1) / r for |r| <= 1/2; error 2^-26.3 of that."""
    p = intrinsics.fma(r, 0.0001520835, 0.001339144)
    p = intrinsics.fma(r, p, 0.009619012)
    p = intrinsics.fma(r, p, 0.05550359)
    p = intrinsics.fma(r, p, 0.24022643)
    return intrinsics.fma(r, p, 0.6931472)


def exp10_f32_fast(x):
    """10 to the x, 0 where it is subnormal."""
    shifted = intrinsics.fma(x, 3.321928, 12582912.0)
    n = shifted - 12582912.0
    r = intrinsics.fma(n, 1.4320989e-08, intrinsics.fma(n, -0.30103, x))
    p = intrinsics.fma(r, _exp10_tail_fast_f32(r), 1.0)
    y = intrinsics.from_bits(intrinsics.bits(p) + (intrinsics.bits(shifted) << 23))
    y = intrinsics.select(x > 38.53, np.inf, y)
    return intrinsics.select(x < -37.92, 0.0, y)


def _exp10_tail_fast_f32(r):
    """(10^r - 1) / r for |r| <= 0.1506; error 2^-25.67 of 10^r."""
    p = intrinsics.fma(r, 0.2095673, 0.5423426)
    p = intrinsics.fma(r, p, 1.171202)
    p = intrinsics.fma(r, p, 2.0346417)
    p = intrinsics.fma(r, p, 2.6509492)
    return intrinsics.fma(r, p, 2.3025851)


def expm1_f32_fast(x):
    """exp(x) - 1, infinite from 88.1 on: 2^n (exp(h) - 1) + (2^n - 1). What n is added to makes it the exponent field of 2^n."""
    y = intrinsics.select(x < -25.0, -25.0, x)
    shifted = intrinsics.fma(y, 1.442695, 12583039.0)
    n = shifted - 12583039.0
    h = intrinsics.fma(n, 1.9046542e-09, intrinsics.fma(n, -0.6931472, y))
    t = intrinsics.from_bits(intrinsics.bits(shifted) << 23)
    p = intrinsics.fma(h * h, intrinsics.fma(h, _expm1_tail_f32(h), 0.5), h)
    return intrinsics.select(x > 88.1, np.inf, intrinsics.fma(t, p, t - 1.0))

"""Shorter versions of exponentials and error functions for callers with `fastmath=True`: at most 4 ULP on the usual ranges, which each names.

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
    """exp(x) - 1, infinite from 709.1 on: 2^n (exp(h) - 1) + (2^n - 1)."""
    y = intrinsics.select(x < -50.0, -50.0, x)
    shifted = intrinsics.fma(y, 1.4426950408889634, 6755399441055744.0)
    n = shifted - 6755399441055744.0
    h = intrinsics.fma(n, -2.3190468138462996e-17, intrinsics.fma(n, -0.6931471805599453, y))
    t = intrinsics.from_bits((intrinsics.bits(shifted) << 52) + 0x3FF0000000000000)
    p = intrinsics.fma(h * h, intrinsics.fma(h, _expm1_tail_f64(h), 0.5), h)
    return intrinsics.select(x > 709.1, np.inf, intrinsics.fma(t, p, t - 1.0))


def erf_f64_fast(x):
    """Error function: 1 - 2^q of q = log2(erfc(|x|)), where q = n + r and 2^r - 1 keeps its digits: one formula for all x."""
    a = abs(x)
    a = intrinsics.select(a > 5.95, 5.95, a)
    q = a * _erfc_log_fast_f64(a)
    shifted = q + 6755399441055744.0
    r = q - (shifted - 6755399441055744.0)
    t = intrinsics.from_bits((intrinsics.bits(shifted) << 52) + 0x3FF0000000000000)
    y = intrinsics.fma(-t, r * _exp2m1_tail_fast_f64(r), 1.0 - t)
    return intrinsics.copysign(y, x)


def _erfc_log_fast_f64(a):
    """The binary logarithm of erfc(a), over a, for 0 <= a <= 5.95; error 2^-53 of erf(a)."""
    w = a * a
    p = intrinsics.fma(w, 6.860725299627758e-13, 1.3776624244101493e-10)
    p = intrinsics.fma(w, p, 4.549386899969588e-09)
    p = intrinsics.fma(w, p, -1.2075198595404351e-08)
    p = intrinsics.fma(w, p, -1.2316507605836151e-06)
    p = intrinsics.fma(w, p, -5.142759535005237e-06)
    p = intrinsics.fma(w, p, 4.230491593355665e-05)
    p = intrinsics.fma(w, p, -3.744545516183438e-05)
    p = intrinsics.fma(w, p, -0.002447114521051981)
    p = intrinsics.fma(w, p, 0.027596515573492738)
    p = intrinsics.fma(w, p, -0.918448188526614)
    o = intrinsics.fma(w, -1.7026362463669238e-14, -1.2583309183998591e-11)
    o = intrinsics.fma(w, o, -9.827036128803114e-10)
    o = intrinsics.fma(w, o, -1.1228824151857676e-08)
    o = intrinsics.fma(w, o, 2.5116229105954004e-07)
    o = intrinsics.fma(w, o, 3.5054601322664117e-06)
    o = intrinsics.fma(w, o, -4.0335717262617975e-06)
    o = intrinsics.fma(w, o, -9.275087150626512e-05)
    o = intrinsics.fma(w, o, 0.0008514018841758635)
    o = intrinsics.fma(w, o, 0.000301804921576513)
    o = intrinsics.fma(w, o, -0.14826952512024374)
    p = intrinsics.fma(a, o, p)
    return intrinsics.fma(a, p, -1.6279070286111148)


def _exp2m1_tail_fast_f64(r):
    """(2^r - 1) / r for |r| <= 1/2; error 2^-53.8 of that, twice as much where r > 0."""
    w = r * r
    p = intrinsics.fma(w, 7.072668632930686e-09, 1.3215442594185386e-06)
    p = intrinsics.fma(w, p, 0.00015403530440188771)
    p = intrinsics.fma(w, p, 0.009618129107610144)
    p = intrinsics.fma(w, p, 0.2402265069591008)
    o = intrinsics.fma(w, 4.41355254375995e-10, 1.0178346949131822e-07)
    o = intrinsics.fma(w, o, 1.5252733129491792e-05)
    o = intrinsics.fma(w, o, 0.0013333558147142145)
    o = intrinsics.fma(w, o, 0.05550410866481891)
    p = intrinsics.fma(r, o, p)
    return intrinsics.fma(r, p, 0.6931471805599453)


def erfc_f64_fast(x):
    """Complementary error function, up to 26.5: exp(-a^2) G / (a + 3.078125) with a = |x|."""
    a = abs(x)
    a = intrinsics.select(a > 26.5, 26.5, a)
    z = a * a
    shifted = intrinsics.fma(z, -1.4426950408889634, 6755399441055744.0)
    n = shifted - 6755399441055744.0
    h = intrinsics.fma(n, -0.6931471805599453, -z) + intrinsics.fma(n, -2.3190468138462996e-17, -intrinsics.fma(a, a, -z))
    p = 1.0 + intrinsics.fma(h * h, _exp_tail_f64(h), h)
    d = a + 3.078125
    c = 1.0 / d
    v = _erfcx_fast_f64(intrinsics.fma(a + a, c, -1.0))
    g = v * c
    g = intrinsics.fma(intrinsics.fma(-g, d, v), c, g)
    y = g * intrinsics.from_bits(intrinsics.bits(p) + (intrinsics.bits(shifted) << 52))
    return intrinsics.select(x < 0.0, 2.0 - y, y)


def _erfcx_fast_f64(t):
    """(a + 3.078125) exp(a^2) erfc(a) for 0 <= a <= 27.3, in t = (a - 3.078125) / (a + 3.078125); error 2^-54.1."""
    w = t * t
    p = intrinsics.fma(w, -3.88347140927784e-09, 2.7291019890643264e-08)
    p = intrinsics.fma(w, p, -1.0329024990439538e-07)
    p = intrinsics.fma(w, p, 2.871502860591872e-07)
    p = intrinsics.fma(w, p, -9.14757209731217e-07)
    p = intrinsics.fma(w, p, 9.802500224550762e-06)
    p = intrinsics.fma(w, p, -0.00017987594900212606)
    p = intrinsics.fma(w, p, 0.002992945401962795)
    p = intrinsics.fma(w, p, -0.03541826930309686)
    p = intrinsics.fma(w, p, -0.3311453419341371)
    p = intrinsics.fma(w, p, -0.8932262614540843)
    o = intrinsics.fma(w, -8.825853087841734e-09, 8.888847269288846e-08)
    o = intrinsics.fma(w, o, -5.79543337167129e-07)
    o = intrinsics.fma(w, o, 3.4501469180828677e-06)
    o = intrinsics.fma(w, o, -2.138147641644421e-05)
    o = intrinsics.fma(w, o, 0.00014193317951360687)
    o = intrinsics.fma(w, o, -0.0008967247640865312)
    o = intrinsics.fma(w, o, 0.001455921419814857)
    o = intrinsics.fma(w, o, 0.1356661234629816)
    o = intrinsics.fma(w, o, 0.6083993762186665)
    p = intrinsics.fma(t, o, p)
    return intrinsics.fma(t, p, 1.0764090930655679)


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
    """exp(x) - 1, infinite from 88.1 on: 2^n (exp(h) - 1) + (2^n - 1)."""
    y = intrinsics.select(x < -25.0, -25.0, x)
    shifted = intrinsics.fma(y, 1.442695, 12582912.0)
    n = shifted - 12582912.0
    h = intrinsics.fma(n, 1.9046542e-09, intrinsics.fma(n, -0.6931472, y))
    t = intrinsics.from_bits((intrinsics.bits(shifted) << 23) + 0x3F800000)
    p = intrinsics.fma(h * h, intrinsics.fma(h, _expm1_tail_f32(h), 0.5), h)
    return intrinsics.select(x > 88.1, np.inf, intrinsics.fma(t, p, t - 1.0))


def erf_f32_fast(x):
    """Error function: 1 - 2^q of q = log2(erfc(|x|)), where q = n + r and 2^r - 1 keeps its digits: one formula for all x."""
    a = abs(x)
    a = intrinsics.select(a > 3.95, 3.95, a)
    q = a * _erfc_log_fast_f32(a)
    shifted = q + 12582912.0
    r = q - (shifted - 12582912.0)
    t = intrinsics.from_bits((intrinsics.bits(shifted) << 23) + 0x3F800000)
    y = intrinsics.fma(-t, r * _exp2_tail_fast_f32(r), 1.0 - t)
    return intrinsics.copysign(y, x)


def _erfc_log_fast_f32(a):
    """The binary logarithm of erfc(a), over a, for 0 <= a <= 3.95; error 2^-27 of erf(a)."""
    p = intrinsics.fma(a, 1.3353964e-05, -0.00016972046)
    p = intrinsics.fma(a, p, 0.0009129905)
    p = intrinsics.fma(a, p, -0.002405012)
    p = intrinsics.fma(a, p, 0.00023140248)
    p = intrinsics.fma(a, p, 0.02763203)
    p = intrinsics.fma(a, p, -0.14827706)
    p = intrinsics.fma(a, p, -0.9184476)
    return intrinsics.fma(a, p, -1.627907)


def erfc_f32_fast(x):
    """Complementary error function, up to 9.1: 2 exp(-a^2) G / (a + 2.875) with a = |x|."""
    a = abs(x)
    a = intrinsics.select(a > 9.1, 9.1, a)
    z = a * a
    shifted = intrinsics.fma(z, -1.442695, 12582912.0)
    n = shifted - 12582912.0
    h = intrinsics.fma(n, -0.6931472, -z) + intrinsics.fma(n, 1.9046542e-09, -intrinsics.fma(a, a, -z))
    p = 1.0 + intrinsics.fma(h * h, _exp_tail_f32(h), h)
    d = a + 2.875
    c = 2.0 / d
    v = _erfcx_fast_f32(intrinsics.fma(a, c, -1.0))
    g = v * c
    y = g * intrinsics.from_bits(intrinsics.bits(p) + (intrinsics.bits(shifted) << 23))
    return intrinsics.select(x < 0.0, 2.0 - y, y)


def _erfcx_fast_f32(t):
    """(a + 2.875) exp(a^2) erfc(a) / 2 for 0 <= a <= 10.1, in t = (a - 2.875) / (a + 2.875); error 2^-25.3."""
    w = t * t
    p = intrinsics.fma(w, -0.00011635393, 0.0012704576)
    p = intrinsics.fma(w, p, -0.007325295)
    p = intrinsics.fma(w, p, -0.13830602)
    p = intrinsics.fma(w, p, -0.43321648)
    o = intrinsics.fma(w, 4.1965362e-05, -0.0021223482)
    o = intrinsics.fma(w, o, 0.04723334)
    o = intrinsics.fma(w, o, 0.27974543)
    p = intrinsics.fma(t, o, p)
    return intrinsics.fma(t, p, 0.53490794)

"""Exponentials.

x is written as n times the base's logarithm of 2, and a rest; the rest's exponential comes from one polynomial, and 2^n is added to the exponent field. Results that
overflow or are subnormal take a rare branch that scales twice. Polynomials: generate/coefficients.py.
"""

import numpy as np
from weft import intrinsics


def exp_f64(x):
    """e to the x. At most 1 ULP."""
    shifted = intrinsics.fma(x, 1.4426950408889634, 6755399441055744.0)
    n = shifted - 6755399441055744.0
    r = intrinsics.fma(n, -0.6931471805599453, x)
    h = intrinsics.fma(n, -2.3190468138462996e-17, r)
    p = _exp_kernel_f64(h, 0.0)
    y = intrinsics.from_bits(intrinsics.bits(p) + (intrinsics.bits(shifted) << 52))
    if not abs(x) <= 708.0:
        y = _scale_f64(p, shifted)
        y = intrinsics.select(x > 709.782712893384, np.inf, intrinsics.select(x < -745.1332191019412, 0.0, y))
        y = intrinsics.select(intrinsics.isnan(x), x, y)
    return y


def exp2_f64(x):
    """2 to the x. At most 1 ULP."""
    shifted = x + 6755399441055744.0
    r = x - (shifted - 6755399441055744.0)
    h = intrinsics.fma(r, 0.6931471805599453, 1.0)
    l = intrinsics.fma(r, 0.6931471805599453, 1.0 - h)
    p = h + intrinsics.fma(r * r, _exp2_tail_f64(r), l)
    y = intrinsics.from_bits(intrinsics.bits(p) + (intrinsics.bits(shifted) << 52))
    if not abs(x) <= 1021.0:
        y = _scale_f64(p, shifted)
        y = intrinsics.select(x >= 1024.0, np.inf, intrinsics.select(x < -1075.0, 0.0, y))
        y = intrinsics.select(intrinsics.isnan(x), x, y)
    return y


def exp10_f64(x):
    """10 to the x. At most 1 ULP."""
    shifted = intrinsics.fma(x, 3.321928094887362, 6755399441055744.0)
    n = shifted - 6755399441055744.0
    r = intrinsics.fma(n, 2.8037281277851704e-18, intrinsics.fma(n, -0.3010299956639812, x))
    h = intrinsics.fma(r, 2.302585092994046, 1.0)
    l = intrinsics.fma(r, -2.1707562233822494e-16, intrinsics.fma(r, 2.302585092994046, 1.0 - h))
    p = h + intrinsics.fma(r * r, _exp10_tail_f64(r), l)
    y = intrinsics.from_bits(intrinsics.bits(p) + (intrinsics.bits(shifted) << 52))
    if not abs(x) <= 307.0:
        y = _scale_f64(p, shifted)
        y = intrinsics.select(x > 308.25471555991675, np.inf, intrinsics.select(x < -323.60724533877976, 0.0, y))
        y = intrinsics.select(intrinsics.isnan(x), x, y)
    return y


def _exp_kernel_each(h, l):
    """exp(h + l) for |h| <= 0.35: 1 + h, with what its rounding lost, + h^2 Q(h) + l."""
    s = 1.0 + h
    return s + intrinsics.fma(h * h, _exp_tail_each(h), ((1.0 - s) + h) + l)


def _exp_pair_each(h, l):
    """What _exp_kernel_each adds last: 1 + h, and the rest."""
    s = 1.0 + h
    return s, intrinsics.fma(h * h, _exp_tail_each(h), ((1.0 - s) + h) + l)


def _scale_f64(p, shifted):
    """p 2^n where n stands in the low bits of `shifted`, in two steps so that one rounding makes a subnormal."""
    n = intrinsics.bits(shifted) - 4843621399236968448
    half = n >> 1
    first = intrinsics.from_bits((half + 1023) << 52)
    second = intrinsics.from_bits((n - half + 1023) << 52)
    return (p * first) * second


def _exp_tail_f64(h):
    """(exp(h) - 1 - h) / h^2 for |h| <= 0.3468; error 2^-56.3 of exp(h)."""
    z = h * h
    p = intrinsics.fma(z, 2.763030628274882e-07, 2.4801492949546764e-05)
    p = intrinsics.fma(z, p, 0.001388888894376004)
    p = intrinsics.fma(z, p, 0.041666666666529725)
    p = intrinsics.fma(z, p, 0.5000000000000011)
    o = intrinsics.fma(z, 2.5000015959912138e-08, 2.755758681269047e-06)
    o = intrinsics.fma(z, o, 0.00019841269505764325)
    o = intrinsics.fma(z, o, 0.008333333333494982)
    o = intrinsics.fma(z, o, 0.1666666666666641)
    return intrinsics.fma(h, o, p)


def _exp2_tail_f64(r):
    """(2^r - 1 - r ln 2) / r^2 for |r| <= 1/2; error 2^-58 of 2^r."""
    z = r * r
    p = intrinsics.fma(z, 2.5616774888407617e-11, 7.054978855688404e-09)
    p = intrinsics.fma(z, p, 1.3215486590348725e-06)
    p = intrinsics.fma(z, p, 0.00015403530393633079)
    p = intrinsics.fma(z, p, 0.009618129107628345)
    p = intrinsics.fma(z, p, 0.24022650695910072)
    o = intrinsics.fma(z, 4.456172676315266e-10, 1.0178054850752126e-07)
    o = intrinsics.fma(z, o, 1.5252733846428028e-05)
    o = intrinsics.fma(z, o, 0.0013333558146402364)
    o = intrinsics.fma(z, o, 0.05550410866482164)
    return intrinsics.fma(r, o, p)


def _exp10_tail_f64(r):
    """(10^r - 1 - r ln 10) / r^2 for |r| <= 0.1506; error 2^-56 of 10^r."""
    z = r * r
    p = intrinsics.fma(z, 0.0011575575344544954, 0.019597620071473015)
    p = intrinsics.fma(z, p, 0.20699584951465136)
    p = intrinsics.fma(z, p, 1.1712551489084175)
    p = intrinsics.fma(z, p, 2.6509490552392045)
    o = intrinsics.fma(z, 0.00024116421271340246, 0.005013977520322581)
    o = intrinsics.fma(z, o, 0.06808936392308144)
    o = intrinsics.fma(z, o, 0.5393829292060442)
    o = intrinsics.fma(z, o, 2.034678592293445)
    return intrinsics.fma(r, o, p)


def exp_f32(x):
    """e to the x. At most 1 ULP."""
    shifted = intrinsics.fma(x, 1.442695, 12582912.0)
    n = shifted - 12582912.0
    r = intrinsics.fma(n, -0.6931472, x)
    h = intrinsics.fma(n, 1.9046542e-09, r)
    p = _exp_kernel_f32(h, 0.0)
    y = intrinsics.from_bits(intrinsics.bits(p) + (intrinsics.bits(shifted) << 23))
    if not abs(x) <= 87.0:
        y = _scale_f32(p, shifted)
        y = intrinsics.select(x > 88.72284, np.inf, intrinsics.select(x < -103.97208, 0.0, y))
        y = intrinsics.select(intrinsics.isnan(x), x, y)
    return y


def exp2_f32(x):
    """2 to the x. At most 1 ULP."""
    shifted = x + 12582912.0
    r = x - (shifted - 12582912.0)
    p = intrinsics.fma(r, _exp2_tail_f32(r), 1.0)
    y = intrinsics.from_bits(intrinsics.bits(p) + (intrinsics.bits(shifted) << 23))
    if not abs(x) <= 125.0:
        y = _scale_f32(p, shifted)
        y = intrinsics.select(x >= 128.0, np.inf, intrinsics.select(x < -150.0, 0.0, y))
        y = intrinsics.select(intrinsics.isnan(x), x, y)
    return y


def exp10_f32(x):
    """10 to the x. At most 1 ULP."""
    shifted = intrinsics.fma(x, 3.321928, 12582912.0)
    n = shifted - 12582912.0
    r = intrinsics.fma(n, 1.4320989e-08, intrinsics.fma(n, -0.30103, x))
    h = intrinsics.fma(r, 2.3025851, 1.0)
    l = intrinsics.fma(r, -3.1975436e-08, intrinsics.fma(r, 2.3025851, 1.0 - h))
    p = h + intrinsics.fma(r * r, _exp10_tail_f32(r), l)
    y = intrinsics.from_bits(intrinsics.bits(p) + (intrinsics.bits(shifted) << 23))
    if not abs(x) <= 37.0:
        y = _scale_f32(p, shifted)
        y = intrinsics.select(x > 38.53184, np.inf, intrinsics.select(x < -45.154500, 0.0, y))
        y = intrinsics.select(intrinsics.isnan(x), x, y)
    return y


def _scale_f32(p, shifted):
    """p 2^n where n stands in the low bits of `shifted`, in two steps so that one rounding makes a subnormal."""
    n = intrinsics.bits(shifted) - 1262485504
    half = n >> 1
    first = intrinsics.from_bits((half + 127) << 23)
    second = intrinsics.from_bits((n - half + 127) << 23)
    return (p * first) * second


def _exp_tail_f32(h):
    """(exp(h) - 1 - h) / h^2 for |h| <= 0.3468; error 2^-28 of exp(h)."""
    p = intrinsics.fma(h, 0.0013814558, 0.008368745)
    p = intrinsics.fma(h, p, 0.04166839)
    p = intrinsics.fma(h, p, 0.16666521)
    return intrinsics.fma(h, p, 0.49999994)


def _exp2_tail_f32(r):
    """(2^r - 1) / r for |r| <= 1/2; error 2^-30 of 2^r."""
    z = r * r
    p = intrinsics.fma(z, 1.3359813e-05, 0.0013341953)
    p = intrinsics.fma(z, p, 0.055504005)
    p = intrinsics.fma(z, p, 0.6931472)
    o = intrinsics.fma(z, 0.0001546138, 0.009618057)
    o = intrinsics.fma(z, o, 0.2402265)
    return intrinsics.fma(r, o, p)


def _exp10_tail_f32(r):
    """(10^r - 1 - r ln 10) / r^2 for |r| <= 0.1506; error 2^-28 of 10^r."""
    z = r * r
    p = intrinsics.fma(z, 0.20588805, 1.1713036)
    p = intrinsics.fma(z, p, 2.6509488)
    o = intrinsics.fma(z, 0.54167503, 2.0346608)
    return intrinsics.fma(r, o, p)

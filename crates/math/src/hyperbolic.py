"""exp(x) - 1 and the hyperbolic functions.

With x = n ln 2 + h + l, exp(x) - 1 = (2^n - 1) + 2^n (h + h^2/2) + 2^n (h^3 R(h) + l), and with M and P half the difference and sum of 2^n and 2^-n,
sinh(x) = M cosh(h + l) + P sinh(h + l), cosh(x) = P cosh(h + l) + M sinh(h + l): no division, and n = 0 needs no care. In each the first two terms are
summed without error, and the rest is small beside them. tanh(x) is N / (N + 2) with N = exp(2 x) - 1 in two parts; in float32 a polynomial up to 1
and 1 - 2 / (exp(2 x) + 1) beyond are shorter. Polynomials: generate/coefficients.py.
"""

import numpy as np
from weft import intrinsics


def expm1_f64(x):
    """exp(x) - 1. At most 1 ULP."""
    t, s, l = _expm1_parts_f64(intrinsics.select(x < -50.0, -50.0, x))
    t1 = t - 1.0
    g = intrinsics.fma(s, t, t1)
    y = g + intrinsics.fma(l, t, intrinsics.fma(s, t, t1 - g))
    if not x <= 37.0:
        y = _rare_expm1_f64(x)
    return intrinsics.copysign(y, x)


def sinh_f64(x):
    """Hyperbolic sine. At most 1 ULP."""
    a = abs(x)
    h, l, big, small = _hyperbolic_parts_f64(a)
    m = big - small
    p = big + small
    z = h * h
    y = intrinsics.fma(h, p, m)
    l = intrinsics.fma(h, p, m - y) + intrinsics.fma(l, p, (big - m) - small)
    l = intrinsics.fma(z * _cosh_tail_f64(z), m, intrinsics.fma((h * z) * _sinh_tail_f64(z), p, l))
    y = y + l
    if not a <= 700.0:
        y = _rare_exp_half_f64(a)
    return intrinsics.copysign(y, x)


def cosh_f64(x):
    """Hyperbolic cosine. At most 1 ULP."""
    a = abs(x)
    h, l, big, small = _hyperbolic_parts_f64(a)
    m = big - small
    p = big + small
    z = h * h
    y = intrinsics.fma(h, m, p)
    l = intrinsics.fma(h, m, p - y) + intrinsics.fma(l, m, (big - p) + small)
    l = intrinsics.fma(z * _cosh_tail_f64(z), p, intrinsics.fma((h * z) * _sinh_tail_f64(z), m, l))
    y = y + l
    if not a <= 700.0:
        y = _rare_exp_half_f64(a)
    return y


def tanh_f64(x):
    """Hyperbolic tangent: the quotient of two sums of two. At most 1 ULP."""
    a = abs(x)
    y = intrinsics.select(a > 22.0, 22.0, a)
    t, h, l = _exp_parts_f64(y + y)
    l = intrinsics.fma(h * h, intrinsics.fma(h, _expm1_tail_f64(h), 0.5), l)
    s = h + l
    l = (h - s) + l
    m = t - 1.0
    n = intrinsics.fma(s, t, m)
    nl = intrinsics.fma(l, t, intrinsics.fma(s, t, m - n))
    d = n + 2.0
    dl = ((intrinsics.select(n > 2.0, n, 2.0) - d) + intrinsics.select(n > 2.0, 2.0, n)) + nl
    c = 1.0 / d
    q = n * c
    e = intrinsics.fma(-q, dl, intrinsics.fma(-q, d, n) + nl)
    return intrinsics.copysign(intrinsics.fma(e, c, q), x)


def _hyperbolic_parts_f64(a):
    """(h, l, big, small) with a = n ln 2 + h + l, big = 2^n / 2 and small = 2^-n / 2. What n is added to makes it the exponent field of big."""
    shifted = intrinsics.fma(a, 1.4426950408889634, 6755399441056766.0)
    n = shifted - 6755399441056766.0
    r = intrinsics.fma(n, -0.6931471805599453, a)
    h = intrinsics.fma(n, -2.3190468138462996e-17, r)
    l = intrinsics.fma(n, -2.3190468138462996e-17, r - h)
    big = intrinsics.bits(shifted) << 52
    return h, l, intrinsics.from_bits(big), intrinsics.from_bits(0x7FC0000000000000 - big)


def _rare_expm1_f64(x):
    """exp(x) - 1 for x so large that 1 is less than a unit in the last place; infinity and NaN of themselves."""
    shifted = intrinsics.fma(x, 1.4426950408889634, 6755399441055744.0)
    n = shifted - 6755399441055744.0
    h = intrinsics.fma(n, -2.3190468138462996e-17, intrinsics.fma(n, -0.6931471805599453, x))
    one = intrinsics.select(n > 100.0, 0.0, intrinsics.from_bits(0x3FF0000000000000 - (intrinsics.bits(shifted) << 52)))
    y = _scale_f64(_exp_kernel_f64(h, -one), shifted)
    return intrinsics.select(x < 711.0, y, intrinsics.select(x >= 711.0, np.inf, x))


def _rare_exp_half_f64(a):
    """exp(a) / 2 for large a."""
    shifted = intrinsics.fma(a, 1.4426950408889634, 6755399441055744.0)
    n = shifted - 6755399441055744.0
    h = intrinsics.fma(n, -2.3190468138462996e-17, intrinsics.fma(n, -0.6931471805599453, a))
    y = _scale_f64(_exp_kernel_f64(h, 0.0), shifted - 1.0)
    return intrinsics.select(a < 711.0, y, intrinsics.select(a >= 711.0, np.inf, a))


def _expm1_parts_each(x):
    """(t, s, l) with exp(x) - 1 = (t - 1) + t (s + l), t a power of two, l small beside s, for x in the exponential's range."""
    t, h, l = _exp_parts_each(x)
    half = 0.5 * h
    s = intrinsics.fma(half, h, h)
    l = intrinsics.fma(half, h, h - s) + l
    return t, s, intrinsics.fma((h * h) * h, _expm1_tail_each(h), l)


def _exp_parts_f64(x):
    """(t, h, l) with exp(x) = t exp(h + l), t = 2^n, for x in the exponential's range. What n is added to makes it the exponent field of t."""
    shifted = intrinsics.fma(x, 1.4426950408889634, 6755399441056767.0)
    n = shifted - 6755399441056767.0
    r = intrinsics.fma(n, -0.6931471805599453, x)
    h = intrinsics.fma(n, -2.3190468138462996e-17, r)
    l = intrinsics.fma(n, -2.3190468138462996e-17, r - h)
    return intrinsics.from_bits(intrinsics.bits(shifted) << 52), h, l


def _sinh_tail_f64(z):
    """(sinh(h) - h) / h^3 in z = h^2, |h| <= 0.3468; error 2^-62 of sinh(h)/h."""
    p = intrinsics.fma(z, 2.5109321175099484e-08, 2.7557243451684484e-06)
    p = intrinsics.fma(z, p, 0.00019841269886815836)
    p = intrinsics.fma(z, p, 0.008333333333321386)
    return intrinsics.fma(z, p, 0.16666666666666677)


def _cosh_tail_f64(z):
    """(cosh(h) - 1) / h^2 in z = h^2, |h| <= 0.3468; error 2^-58 of cosh(h)."""
    p = intrinsics.fma(z, 2.7631809980956075e-07, 2.4801488506668553e-05)
    p = intrinsics.fma(z, p, 0.0013888888948355444)
    p = intrinsics.fma(z, p, 0.04166666666651047)
    return intrinsics.fma(z, p, 0.5000000000000013)


def _expm1_tail_f64(h):
    """(exp(h) - 1 - h - h^2/2) / h^3 for |h| <= 0.3468; error 2^-60 of exp(h)."""
    z = h * h
    p = intrinsics.fma(z, 2.5115342586371733e-08, 2.75572251190835e-06)
    p = intrinsics.fma(z, p, 0.00019841269906386482)
    p = intrinsics.fma(z, p, 0.008333333333312902)
    p = intrinsics.fma(z, p, 0.16666666666666688)
    o = intrinsics.fma(z, 2.1014387498217725e-09, 2.7556978280208237e-07)
    o = intrinsics.fma(z, o, 2.4801587630683468e-05)
    o = intrinsics.fma(z, o, 0.0013888888888756688)
    o = intrinsics.fma(z, o, 0.041666666666666845)
    return intrinsics.fma(h, o, p)


def expm1_f32(x):
    """exp(x) - 1. At most 1 ULP."""
    t, s, l = _expm1_parts_f32(intrinsics.select(x < -25.0, -25.0, x))
    t1 = t - 1.0
    g = intrinsics.fma(s, t, t1)
    y = g + intrinsics.fma(l, t, intrinsics.fma(s, t, t1 - g))
    if not x <= 16.9:
        y = _rare_expm1_f32(x)
    return intrinsics.copysign(y, x)


def sinh_f32(x):
    """Hyperbolic sine. At most 1 ULP."""
    a = abs(x)
    h, l, big, small = _hyperbolic_parts_f32(a)
    m = big - small
    p = big + small
    z = h * h
    y = intrinsics.fma(h, p, m)
    l = intrinsics.fma(h, p, m - y) + intrinsics.fma(l, p, (big - m) - small)
    l = intrinsics.fma(z * _cosh_tail_f32(z), m, intrinsics.fma((h * z) * _sinh_tail_f32(z), p, l))
    y = y + l
    if not a <= 86.0:
        y = _rare_exp_half_f32(a)
    return intrinsics.copysign(y, x)


def cosh_f32(x):
    """Hyperbolic cosine. At most 1 ULP."""
    a = abs(x)
    h, l, big, small = _hyperbolic_parts_f32(a)
    m = big - small
    p = big + small
    z = h * h
    y = intrinsics.fma(h, m, p)
    l = intrinsics.fma(h, m, p - y) + intrinsics.fma(l, m, (big - p) + small)
    l = intrinsics.fma(z * _cosh_tail_f32(z), p, intrinsics.fma((h * z) * _sinh_tail_f32(z), m, l))
    y = y + l
    if not a <= 86.0:
        y = _rare_exp_half_f32(a)
    return y


def tanh_f32(x):
    """Hyperbolic tangent: a polynomial up to 1, beyond 1 - 2 / (exp(2 a) + 1), which has few errors where the fraction is small. At most 1 ULP."""
    a = abs(x)
    z = a * a
    near = intrinsics.fma(a * z, _tanh_tail_f32(z), a)
    b = intrinsics.select(a > 10.0, 10.0, a)
    # What n is added to makes it the exponent field of t.
    shifted = intrinsics.fma(b, 2.88539, 12583039.0)
    h = intrinsics.fma(shifted - 12583039.0, -0.3465736, b)
    t = intrinsics.from_bits(intrinsics.bits(shifted) << 23)
    far = 1.0 - 2.0 / intrinsics.fma(t, _exp_twice_f32(h), 1.0)
    return intrinsics.copysign(intrinsics.select(a > 1.0, far, near), x)


def _tanh_tail_f32(z):
    """(tanh(a) - a) / a^3 in z = a^2 <= 1; error 2^-27.68 of tanh(a)."""
    p = intrinsics.fma(z, -0.00035838148, 0.0023011954)
    p = intrinsics.fma(z, p, -0.007945992)
    p = intrinsics.fma(z, p, 0.021486672)
    p = intrinsics.fma(z, p, -0.053879846)
    p = intrinsics.fma(z, p, 0.13332346)
    return intrinsics.fma(z, p, -0.33333296)


def _exp_twice_f32(h):
    """exp(2 h) for |h| <= 0.1734; error 2^-25.8."""
    p = intrinsics.fma(h, 0.088555574, 0.26799545)
    p = intrinsics.fma(h, p, 0.66669166)
    p = intrinsics.fma(h, p, 1.3333136)
    p = intrinsics.fma(h, p, 1.9999996)
    p = intrinsics.fma(h, p, 2.0)
    return intrinsics.fma(h, p, 1.0)


def _hyperbolic_parts_f32(a):
    """(h, l, big, small) with a = n ln 2 + h + l, big = 2^n / 2 and small = 2^-n / 2. What n is added to makes it the exponent field of big."""
    shifted = intrinsics.fma(a, 1.442695, 12583038.0)
    n = shifted - 12583038.0
    r = intrinsics.fma(n, -0.6931472, a)
    h = intrinsics.fma(n, 1.9046542e-09, r)
    l = intrinsics.fma(n, 1.9046542e-09, r - h)
    big = intrinsics.bits(shifted) << 23
    return h, l, intrinsics.from_bits(big), intrinsics.from_bits(0x7E000000 - big)


def _rare_expm1_f32(x):
    """exp(x) - 1 for x so large that 1 is less than a unit in the last place; infinity and NaN of themselves."""
    shifted = intrinsics.fma(x, 1.442695, 12582912.0)
    n = shifted - 12582912.0
    h = intrinsics.fma(n, 1.9046542e-09, intrinsics.fma(n, -0.6931472, x))
    one = intrinsics.select(n > 100.0, 0.0, intrinsics.from_bits(0x3F800000 - (intrinsics.bits(shifted) << 23)))
    y = _scale_f32(_exp_kernel_f32(h, -one), shifted)
    return intrinsics.select(x < 90.0, y, intrinsics.select(x >= 90.0, np.inf, x))


def _rare_exp_half_f32(a):
    """exp(a) / 2 for large a."""
    shifted = intrinsics.fma(a, 1.442695, 12582912.0)
    n = shifted - 12582912.0
    h = intrinsics.fma(n, 1.9046542e-09, intrinsics.fma(n, -0.6931472, a))
    y = _scale_f32(_exp_kernel_f32(h, 0.0), shifted - 1.0)
    return intrinsics.select(a < 90.0, y, intrinsics.select(a >= 90.0, np.inf, a))


def _exp_parts_f32(x):
    """(t, h, l) with exp(x) = t exp(h + l), t = 2^n, for x in the exponential's range. What n is added to makes it the exponent field of t."""
    shifted = intrinsics.fma(x, 1.442695, 12583039.0)
    n = shifted - 12583039.0
    r = intrinsics.fma(n, -0.6931472, x)
    h = intrinsics.fma(n, 1.9046542e-09, r)
    l = intrinsics.fma(n, 1.9046542e-09, r - h)
    return intrinsics.from_bits(intrinsics.bits(shifted) << 23), h, l


def _sinh_tail_f32(z):
    """(sinh(h) - h) / h^3 in z = h^2, |h| <= 0.3468; error 2^-26 of sinh(h)/h."""
    return intrinsics.fma(z, 0.008366546, 0.16666543)


def _cosh_tail_f32(z):
    """(cosh(h) - 1) / h^2 in z = h^2, |h| <= 0.3468; error 2^-33 of cosh(h)."""
    p = intrinsics.fma(z, 0.0013935429, 0.04166646)
    return intrinsics.fma(z, p, 0.5)


def _expm1_tail_f32(h):
    """(exp(h) - 1 - h - h^2/2) / h^3 for |h| <= 0.3468; error 2^-27.8 of exp(h)."""
    p = intrinsics.fma(h, 0.0014035609, 0.008372288)
    p = intrinsics.fma(h, p, 0.041665554)
    return intrinsics.fma(h, p, 0.16666488)

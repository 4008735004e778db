"""Shorter versions of trigonometric and hyperbolic functions for callers with `fastmath=True`: at most 4 ULP on the usual ranges, which each names.

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


def tan_each_fast(x):
    """Tangent for |x| <= 1000: x less a multiple of pi/2 and one polynomial up to pi/4; in odd quadrants its inverse."""
    q, r = _tan_reduce_fast_each(x)
    s = r * r
    h = intrinsics.fma(r * s, _tan_tail_fast_each(s), r)
    return intrinsics.select((q & 1) != 0, -1.0 / h, h)


def _tan_reduce_fast_f64(x):
    """(q, r) with x = q pi/2 + r, pi/2 in three parts; only the low bits of q count."""
    shifted = intrinsics.fma(x, 0.6366197723675814, 6755399441055744.0)
    n = shifted - 6755399441055744.0
    r = intrinsics.fma(n, 1.4973849048591698e-33, intrinsics.fma(n, -6.123233995736766e-17, intrinsics.fma(n, -1.5707963267948966, x)))
    return intrinsics.bits(shifted), r


def _tan_reduce_fast_f32(x):
    """(q, r) with x = q pi/2 + r, pi/2 in three parts; only the low bits of q count."""
    shifted = intrinsics.fma(x, 0.63661975, 12582912.0)
    n = shifted - 12582912.0
    r = intrinsics.fma(n, 1.7151245e-15, intrinsics.fma(n, 4.371139e-08, intrinsics.fma(n, -1.5707964, x)))
    return intrinsics.bits(shifted), r


def _tan_tail_fast_f64(s):
    """(tan(r) - r) / r^3 in s = r^2 <= (pi/4)^2; error 2^-52.39 of tan(r)/r."""
    w = s * s
    p = intrinsics.fma(w, 4.4864929187400806e-05, 0.00016805478615096423)
    p = intrinsics.fma(w, p, 0.00029490529902869106)
    p = intrinsics.fma(w, p, 0.001461151558193213)
    p = intrinsics.fma(w, p, 0.008863348098026396)
    p = intrinsics.fma(w, p, 0.05396825435363908)
    p = intrinsics.fma(w, p, 0.3333333333334016)
    o = intrinsics.fma(w, -8.276549311052368e-05, -6.877750369394759e-06)
    o = intrinsics.fma(w, o, 0.0005693756328872901)
    o = intrinsics.fma(w, o, 0.003591184114456541)
    o = intrinsics.fma(w, o, 0.021869479945929613)
    o = intrinsics.fma(w, o, 0.13333333332464858)
    return intrinsics.fma(s, o, p)


def _tan_tail_fast_f32(s):
    """(tan(r) - r) / r^3 in s = r^2 <= (pi/4)^2; error 2^-25.74 of tan(r)/r."""
    w = s * s
    p = intrinsics.fma(w, 0.0031014823, 0.0534082)
    p = intrinsics.fma(w, p, 0.33333156)
    o = intrinsics.fma(w, 0.009396526, 0.024441391)
    o = intrinsics.fma(w, o, 0.13338836)
    return intrinsics.fma(s, o, p)


def asin_each_fast(x):
    """Arc sine: a polynomial up to 1/2, beyond pi/2 - 2 asin(sqrt((1 - a) / 2))."""
    a = abs(x)
    s = _asin_half_fast_each(a)
    return intrinsics.copysign(intrinsics.select(a > 0.5, intrinsics.fma(-2.0, s, 1.5707963267948966), s), x)


def acos_each_fast(x):
    """Arc cosine: that of |x| as the arc sine, of negative x what is left to pi."""
    a = abs(x)
    s = _asin_half_fast_each(a)
    y = intrinsics.select(a > 0.5, s + s, 1.5707963267948966 - s)
    return intrinsics.select(x < 0.0, 3.141592653589793 - y, y)


def _asin_half_fast_each(a):
    """asin(a) for a <= 1/2, asin(sqrt((1 - a) / 2)) above."""
    far = a > 0.5
    rest = intrinsics.fma(-0.5, a, 0.5)
    z = intrinsics.select(far, rest, a * a)
    s = intrinsics.select(far, _sqrt_fast_each(rest), a)
    return intrinsics.fma(s * z, _asin_tail_each(z), s)


def _sqrt_fast_f64(v):
    """Square root of zero or of a number that float32 has, too: its inverse from there, and a step of third order. float64's own takes longer."""
    c = np.float64(1.0 / intrinsics.sqrt(np.float32(v) + 1e-30))
    r = v * c
    e = intrinsics.fma(-r, c, 1.0)
    return intrinsics.fma(r, e * intrinsics.fma(e, 0.375, 0.5), r)


def _sqrt_fast_f32(v):
    """Square root."""
    return intrinsics.sqrt(v)


def atan_each_fast(x):
    """Arc tangent: one polynomial up to 1, of the inverse beyond."""
    a = abs(x)
    steep = a > 1.0
    y = _atan_unit_fast_each(intrinsics.select(steep, 1.0 / a, a))
    return intrinsics.copysign(intrinsics.select(steep, 1.5707963267948966 - y, y), x)


def atan2_each_fast(y, x):
    """Angle of the point (x, y) where neither is infinite."""
    ax = abs(x)
    ay = abs(y)
    steep = ay > ax
    d = intrinsics.select(steep, ay, ax)
    t = _atan_unit_fast_each(intrinsics.select(steep, ax, ay) / intrinsics.select(d > 0.0, d, 1.0))
    t = intrinsics.select(steep, 1.5707963267948966 - t, t)
    return intrinsics.copysign(intrinsics.select(intrinsics.signbit(x), 3.141592653589793 - t, t), y)


def _atan_unit_fast_each(u):
    """atan(u) for 0 <= u <= 1."""
    s = u * u
    return intrinsics.fma(u * s, _atan_tail_fast_each(s), u)


def _atan_tail_fast_f64(s):
    """(atan(u) - u) / u^3 in s = u^2 <= 1; error 2^-54.88 of atan(u)."""
    w = s * s
    p = intrinsics.fma(w, -2.0235930400744012e-05, -0.0011631863869862027)
    p = intrinsics.fma(w, p, -0.009180515529352938)
    p = intrinsics.fma(w, p, -0.02582190332925596)
    p = intrinsics.fma(w, p, -0.040924430078874745)
    p = intrinsics.fma(w, p, -0.05239206074791673)
    p = intrinsics.fma(w, p, -0.06665859152504823)
    p = intrinsics.fma(w, p, -0.09090901220586713)
    p = intrinsics.fma(w, p, -0.14285714271302116)
    p = intrinsics.fma(w, p, -0.33333333333331855)
    o = intrinsics.fma(w, 0.00022281374749871672, 0.003853683382197166)
    o = intrinsics.fma(w, o, 0.01697288450093547)
    o = intrinsics.fma(w, o, 0.034064280491841716)
    o = intrinsics.fma(w, o, 0.04673866706550421)
    o = intrinsics.fma(w, o, 0.058773011511959856)
    o = intrinsics.fma(w, o, 0.07692212770150632)
    o = intrinsics.fma(w, o, 0.11111110677850308)
    o = intrinsics.fma(w, o, 0.19999999999754414)
    return intrinsics.fma(s, o, p)


def _atan_tail_fast_f32(s):
    """(atan(u) - u) / u^3 in s = u^2 <= 1; error 2^-25.59 of atan(u)."""
    w = s * s
    p = intrinsics.fma(w, -0.01635089, -0.07551461)
    p = intrinsics.fma(w, p, -0.14211005)
    p = intrinsics.fma(w, p, -0.33333153)
    o = intrinsics.fma(w, 0.0029142755, 0.043195345)
    o = intrinsics.fma(w, o, 0.106657945)
    o = intrinsics.fma(w, o, 0.19993767)
    return intrinsics.fma(s, o, p)


def sinh_each_fast(x):
    """Hyperbolic sine: as without fastmath, in single floats."""
    a = abs(x)
    m, p, h, endless = _hyperbolic_parts_fast_each(a)
    z = h * h
    s = intrinsics.fma(h * z, _sinh_tail_each(z), h)
    y = intrinsics.fma(s, p, intrinsics.fma(z * _cosh_tail_each(z), m, m))
    return intrinsics.copysign(intrinsics.select(endless, np.inf, y), x)


def cosh_each_fast(x):
    """Hyperbolic cosine: as without fastmath, in single floats."""
    a = abs(x)
    m, p, h, endless = _hyperbolic_parts_fast_each(a)
    z = h * h
    s = intrinsics.fma(h * z, _sinh_tail_each(z), h)
    y = intrinsics.fma(s, m, intrinsics.fma(z * _cosh_tail_each(z), p, p))
    return intrinsics.select(endless, np.inf, y)


def _hyperbolic_parts_fast_f64(a):
    """(m, p, h, endless) with a = n ln 2 + h, m and p half the difference and sum of 2^n and 2^-n; whether the result overflows, or nearly does."""
    shifted = intrinsics.fma(a, 1.4426950408889634, 6755399441056766.0)
    n = shifted - 6755399441056766.0
    h = intrinsics.fma(n, -2.3190468138462996e-17, intrinsics.fma(n, -0.6931471805599453, a))
    e = intrinsics.bits(shifted) << 52
    big = intrinsics.from_bits(e)
    small = intrinsics.from_bits(0x7FC0000000000000 - e)
    return big - small, big + small, h, a > 710.0


def _hyperbolic_parts_fast_f32(a):
    """(m, p, h, endless) with a = n ln 2 + h, m and p half the difference and sum of 2^n and 2^-n; whether the result overflows, or nearly does."""
    shifted = intrinsics.fma(a, 1.442695, 12583038.0)
    n = shifted - 12583038.0
    h = intrinsics.fma(n, 1.9046542e-09, intrinsics.fma(n, -0.6931472, a))
    e = intrinsics.bits(shifted) << 23
    big = intrinsics.from_bits(e)
    small = intrinsics.from_bits(0x7E000000 - e)
    return big - small, big + small, h, a > 89.0


def tanh_f64_fast(x):
    """Hyperbolic tangent: N / (N + 2) with N = exp(2 |x|) - 1. What n is added to makes it the exponent field of 2^n."""
    a = abs(x)
    a = intrinsics.select(a > 20.0, 20.0, a)
    shifted = intrinsics.fma(a, 2.8853900817779268, 6755399441056767.0)
    h = intrinsics.fma(shifted - 6755399441056767.0, -0.6931471805599453, a + a)
    p = intrinsics.fma(h * h, intrinsics.fma(h, _expm1_tail_f64(h), 0.5), h)
    t = intrinsics.from_bits(intrinsics.bits(shifted) << 52)
    n = intrinsics.fma(p, t, t - 1.0)
    return intrinsics.copysign(n / (n + 2.0), x)


def tanh_f32_fast(x):
    """Hyperbolic tangent: N / (N + 2) with N = exp(2 |x|) - 1. What n is added to makes it the exponent field of 2^n."""
    a = abs(x)
    a = intrinsics.select(a > 10.0, 10.0, a)
    shifted = intrinsics.fma(a, 2.88539, 12583039.0)
    h = intrinsics.fma(shifted - 12583039.0, -0.6931472, a + a)
    p = intrinsics.fma(h * h, intrinsics.fma(h, _expm1_tail_f32(h), 0.5), h)
    t = intrinsics.from_bits(intrinsics.bits(shifted) << 23)
    n = intrinsics.fma(p, t, t - 1.0)
    return intrinsics.copysign(n / (n + 2.0), x)


def asinh_each_fast(x):
    """Inverse hyperbolic sine where the square does not overflow: log(u) of u = a + sqrt(1 + a^2). (u - 1) / (u + 1) is a / (1 + sqrt(1 + a^2))."""
    a = abs(x)
    r = intrinsics.sqrt(intrinsics.fma(a, a, 1.0))
    return intrinsics.copysign(_log_quotient_fast_each(r, a, a, r + 1.0), x)


def acosh_each_fast(x):
    """Inverse hyperbolic cosine where the square does not overflow: log(u) of u = x + sqrt(x^2 - 1). (u - 1) / (u + 1) is sqrt(x^2 - 1) / (x + 1)."""
    v = x - 1.0
    r = intrinsics.sqrt(intrinsics.fma(v, v, v + v))
    return _log_quotient_fast_each(x, r, r, x + 1.0)


def atanh_each_fast(x):
    """Inverse hyperbolic tangent for |x| <= 1 - 2^-50 (float32: 1 - 2^-21): half of the logarithm of (1 + a) / (1 - a)."""
    a = abs(x)
    k, t = _ratio_scale_each(1.0 + a, 1.0 - a)
    y = _ratio_log_fast_each(k, intrinsics.fma(a, t + 1.0, t - 1.0), intrinsics.fma(a, t - 1.0, t + 1.0))
    return intrinsics.copysign(0.5 * y, x)


def _log_quotient_fast_each(u, v, n, d):
    """log(u + v) for u >= 1, v >= 0. Near 1 n / d is (u + v - 1) / (u + v + 1), of which the sum has lost digits."""
    w = u + v
    k, t, near = _log_scale_each(w)
    n = intrinsics.select(near, n, intrinsics.fma(v, t, intrinsics.fma(u, t, -1.0)))
    return _ratio_log_fast_each(k, n, intrinsics.select(near, d, intrinsics.fma(w, t, 1.0)))


def _ratio_log_fast_f64(k, n, d):
    """k ln 2 + log((d + n) / (d - n))."""
    q = (n + n) / d
    z = q * q
    return intrinsics.fma(k, 0.6931471805599453, intrinsics.fma(q * z, _ratio_log_tail_fast_f64(z), q))


def _ratio_log_fast_f32(k, n, d):
    """k ln 2 + log((d + n) / (d - n))."""
    q = (n + n) / d
    z = q * q
    return intrinsics.fma(k, 0.6931472, intrinsics.fma(q * z, _ratio_log_tail_f32(z), q))


def _ratio_log_tail_fast_f64(z):
    """(2 atanh(q / 2) - q) / q^3 in z = q^2 <= 0.163; error 2^-55.67 of the logarithm."""
    w = z * z
    p = intrinsics.fma(w, 4.7027028843566735e-06, 8.880189437376139e-05)
    p = intrinsics.fma(w, p, 0.002232142927962233)
    p = intrinsics.fma(w, p, 0.08333333333334196)
    o = intrinsics.fma(w, 1.860936606597655e-05, 0.0004340260118758548)
    o = intrinsics.fma(w, o, 0.01249999999865544)
    return intrinsics.fma(z, o, p)

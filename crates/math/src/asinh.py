"""Inverse hyperbolic functions.

All are logarithms of some 2^k (d + n) / (d - n), which are k ln 2 + 2 atanh(n / d); n / d is small, and n and d need no logarithm. For atanh that number is
(1 + a) / (1 - a), for asinh a + sqrt(1 + a^2), for acosh x + sqrt(x^2 - 1). Where k = 0 the last two have quotients in which nothing cancels:
a / (1 + sqrt(1 + a^2)) and sqrt(x^2 - 1) / (x + 1). n and d come in two parts; the difference of numbers within a factor of two of each other is exact
(P. H. Sterbenz). In float32, whose logarithm needs no quotient, asinh and acosh are a polynomial up to 1/2 and the logarithm of a sum of two beyond.
Arguments whose square overflows take a rare branch. Polynomials: generate/coefficients.py.
"""

import numpy as np
from weft import intrinsics


def asinh_f64(x):
    """Inverse hyperbolic sine. At most 1 ULP."""
    a = abs(x)
    v = intrinsics.fma(a, a, 1.0)
    r = intrinsics.sqrt(v)
    rl = (intrinsics.fma(-r, r, v) + intrinsics.fma(a, a, 1.0 - v)) * _half_inverse_f64(r)
    u = r + a
    k, t, near = _log_scale_f64(u)
    p = intrinsics.select(near, r, u * t)
    l = intrinsics.select(near, rl, (((r - u) + a) + rl) * t)
    d = p + 1.0
    n = intrinsics.select(near, a, p - 1.0)
    y = _ratio_log_f64(k, n, intrinsics.select(near, 0.0, l), d, ((1.0 - d) + p) + l)
    if not a <= 1e150:
        y = _rare_log_twice_f64(a)
    return intrinsics.copysign(y, x)


def acosh_f64(x):
    """Inverse hyperbolic cosine. At most 1 ULP."""
    v = x - 1.0
    v2 = v + v
    s = intrinsics.fma(v, v, v2)
    r = intrinsics.sqrt(s)
    rl = (intrinsics.fma(-r, r, s) + intrinsics.fma(v, v, v2 - s)) * _half_inverse_f64(r)
    u = x + r
    k, t, near = _log_scale_f64(u)
    p = intrinsics.select(near, x, u * t)
    l = intrinsics.select(near, rl, (((x - u) + r) + rl) * t)
    d = p + 1.0
    n = intrinsics.select(near, r, p - 1.0)
    y = _ratio_log_f64(k, n, l, d, ((1.0 - d) + p) + intrinsics.select(near, 0.0, l))
    if not (x >= 1.0) & (x <= 1e150):
        y = intrinsics.select(x < 1.0, np.nan, _rare_log_twice_f64(x))
    return y


def asinh_f32(x):
    """Inverse hyperbolic sine: a polynomial up to 1/2, beyond log(a + sqrt(1 + a^2)) of a = |x|. At most 1 ULP."""
    a = abs(x)
    z = a * a
    near = intrinsics.fma(a * z, _asinh_tail_f32(z), a)
    v = intrinsics.fma(a, a, 1.0)
    r = intrinsics.sqrt(v)
    rl = (intrinsics.fma(-r, r, v) + intrinsics.fma(a, a, 1.0 - v)) * _half_inverse_f32(r)
    u = r + a
    y = intrinsics.select(a > 0.521, _log_half_f32(u, ((r - u) + a) + rl), near)
    if not a <= 1e18:
        y = _rare_log_twice_f32(a)
    return intrinsics.copysign(y, x)


def acosh_f32(x):
    """Inverse hyperbolic cosine: asinh(r) of r = sqrt(x^2 - 1), by a polynomial up to 1/2, beyond log(x + r). At most 1 ULP."""
    u = x - 1.0
    u2 = u + u
    v = intrinsics.fma(u, u, u2)
    r = intrinsics.sqrt(v)
    rl = (intrinsics.fma(-r, r, v) + intrinsics.fma(u, u, u2 - v)) * _half_inverse_f32(r)
    near = r + intrinsics.fma(r * v, _asinh_tail_f32(v), rl)
    w = x + r
    y = intrinsics.select(x > 1.1277, _log_half_f32(w, ((x - w) + r) + rl), near)
    if not (x >= 1.0) & (x <= 1e18):
        y = intrinsics.select(x < 1.0, np.nan, _rare_log_twice_f32(x))
    return y


def atanh_each(x):
    """Inverse hyperbolic tangent. At most 1 ULP."""
    a = abs(x)
    u = 1.0 + a
    ul = (1.0 - u) + a
    v = 1.0 - a
    vl = (1.0 - v) - a
    k, t = _ratio_scale_each(u, v)
    p = u * t
    d = p + v
    y = 0.5 * _ratio_log_each(k, p - v, intrinsics.fma(ul, t, -vl), d, ((p - d) + v) + intrinsics.fma(ul, t, vl))
    if not a < 1.0:
        y = intrinsics.select(a == 1.0, np.inf, np.nan)
    return intrinsics.copysign(y, x)


def _log_scale_f64(u):
    """(k, 2^-k, k == 0) with u 2^-k in [3/4, 3/2), for u >= 1."""
    e = intrinsics.bits(u) + 0x8000000000000
    k = intrinsics.from_bits((e >> 52) | 0x4330000000000000) - 4503599627371519.0
    return k, intrinsics.from_bits(0x7FE0000000000000 - (e & 0x7FF0000000000000)), e < 0x4000000000000000


def _ratio_scale_f64(u, v):
    """(k, 2^-k) with u 2^-k / v between 2^-0.6 and 2^0.6, for u >= v > 0: the difference of their bits is the logarithm but for 0.09."""
    e = (intrinsics.bits(u) - intrinsics.bits(v)) + 0x8000000000000
    k = intrinsics.from_bits((e >> 52) | 0x4330000000000000) - 4503599627370496.0
    return k, intrinsics.from_bits(0x3FF0000000000000 - (e & 0x7FF0000000000000))


def _log_scale_f32(u):
    """(k, 2^-k, k == 0) with u 2^-k in [3/4, 3/2), for u >= 1."""
    e = intrinsics.bits(u) + 0x400000
    k = intrinsics.from_bits((e >> 23) | 0x4B000000) - np.float32(8388735.0)
    return k, intrinsics.from_bits(0x7F000000 - (e & 0x7F800000)), e < 0x40000000


def _ratio_scale_f32(u, v):
    """(k, 2^-k) with u 2^-k / v between 2^-0.6 and 2^0.6, for u >= v > 0: the difference of their bits is the logarithm but for 0.09."""
    e = (intrinsics.bits(u) - intrinsics.bits(v)) + 0x400000
    k = intrinsics.from_bits((e >> 23) | 0x4B000000) - np.float32(8388608.0)
    return k, intrinsics.from_bits(0x3F800000 - (e & 0x7F800000))


def _ratio_log_f64(k, n, nl, d, dl):
    """k ln 2 + log((d + dl + n + nl) / (d + dl - n - nl)): the quotient q = 2 n / d, what it lacks, and 2 atanh(q / 2) - q."""
    n = n + n
    c = 1.0 / d
    q = n * c
    l = intrinsics.fma(-q, dl, intrinsics.fma(2.0, nl, intrinsics.fma(-q, d, n))) * c
    z = q * q
    l = intrinsics.fma(q * z, _ratio_log_tail_f64(z), l)
    h = intrinsics.fma(k, 0.6931471805592082, q)
    return h + ((intrinsics.fma(k, 0.6931471805592082, -h) + q) + intrinsics.fma(k, 7.371002565167799e-13, l))


def _ratio_log_f32(k, n, nl, d, dl):
    """k ln 2 + log((d + dl + n + nl) / (d + dl - n - nl)): the quotient q = 2 n / d, what it lacks, and 2 atanh(q / 2) - q."""
    n = n + n
    c = 1.0 / d
    q = n * c
    l = intrinsics.fma(-q, dl, intrinsics.fma(2.0, nl, intrinsics.fma(-q, d, n))) * c
    z = q * q
    l = intrinsics.fma(q * z, _ratio_log_tail_f32(z), l)
    h = intrinsics.fma(k, 0.69311523, q)
    return h + ((intrinsics.fma(k, 0.69311523, -h) + q) + intrinsics.fma(k, 3.1946183e-05, l))


def _ratio_log_tail_f64(z):
    """(2 atanh(q / 2) - q) / q^3 in z = q^2 <= 0.163; error 2^-62.42 of the logarithm."""
    w = z * z
    p = intrinsics.fma(w, 4.018387702159814e-06, 8.877760850846295e-05)
    p = intrinsics.fma(w, p, 0.002232142855782752)
    p = intrinsics.fma(w, p, 0.08333333333333323)
    o = intrinsics.fma(w, 1.0592595822814228e-06, 1.878843335131225e-05)
    o = intrinsics.fma(w, o, 0.0004340278221803696)
    o = intrinsics.fma(w, o, 0.012500000000020129)
    return intrinsics.fma(z, o, p)


def _asinh_tail_f32(v):
    """(asinh(r) - r) / r^3 in v = r^2 <= 0.272; error 2^-28.91 of asinh(r)."""
    p = intrinsics.fma(v, -0.012684337, 0.027852511)
    p = intrinsics.fma(v, p, -0.04432281)
    p = intrinsics.fma(v, p, 0.07498186)
    return intrinsics.fma(v, p, -0.16666633)


def _log_half_f32(u, ul):
    """log(u + ul) for u from 1.6, ul at most a last place of it: the logarithm is at least 1/2, all but k ln 2 is small beside it, and one sum of two does.

    What ul adds is divided by 1 + f to a twentieth of it.
    """
    k, f = _log_split_f32(u)
    c = ul * intrinsics.from_bits(0x3F800000 - ((intrinsics.bits(u) - 1060439283) & ~0x7FFFFF))
    l = intrinsics.fma(k, 3.1946183e-05, c * intrinsics.fma(f, -0.85, 1.0))
    return intrinsics.fma(k, 0.69311523, f + intrinsics.fma(f * f, _log_half_tail_f32(f), l))


def _log_half_tail_f32(f):
    """(log(1 + f) - f) / f^2 for 1/sqrt(2) <= 1 + f <= sqrt(2); absolute error 2^-27.04 of log."""
    z = f * f
    p = intrinsics.fma(z, 0.08733746, 0.14980271)
    p = intrinsics.fma(z, p, 0.19953495)
    p = intrinsics.fma(z, p, 0.33334228)
    o = intrinsics.fma(z, -0.1444423, -0.16552067)
    o = intrinsics.fma(z, o, -0.250025)
    o = intrinsics.fma(z, o, -0.49999982)
    return intrinsics.fma(f, p, o)


def _ratio_log_tail_f32(z):
    """(2 atanh(q / 2) - q) / q^3 in z = q^2 <= 0.163; error 2^-28.28 of the logarithm."""
    p = intrinsics.fma(z, 0.00237513, 0.012486218)
    return intrinsics.fma(z, p, 0.08333371)


def _rare_log_twice_each(x):
    """log(2 x) for large x; infinity and NaN of themselves."""
    k, f = _log_split_each(x)
    return intrinsics.select(x < np.inf, _log_sum_each(k + 1.0, f), x)

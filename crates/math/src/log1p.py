"""log(1 + x) and the inverse hyperbolic functions made of it.

1 + x is split as x = 2^k m is for the logarithm, and what its rounding lost is brought back at first order. The inverse hyperbolic functions
hand over their argument as a sum of two floats.
"""

import numpy as np
from weft import intrinsics


def log1p_f64(x):
    """log(1 + x). At most 1 ULP."""
    return intrinsics.copysign(_log1p_sum_f64(x, 0.0, 0.0), x)


def asinh_f64(x):
    """Inverse hyperbolic sine: log1p(a + a^2 / (1 + sqrt(1 + a^2))) of a = |x|. At most 1 ULP."""
    a = abs(x)
    huge = a > 1e18
    b = intrinsics.select(huge, 1.0, a)
    z = b * b
    zl = intrinsics.fma(b, b, -z)
    v = 1.0 + z
    vl = ((intrinsics.select(z > 1.0, z, 1.0) - v) + intrinsics.select(z > 1.0, 1.0, z)) + zl
    r = intrinsics.sqrt(v)
    rl = (intrinsics.fma(-r, r, v) + vl) * (0.5 / r)
    d = 1.0 + r
    dl = (r - (d - 1.0)) + rl
    inverse = 1.0 / d
    q = z * inverse
    ql = (intrinsics.fma(-q, d, z) + intrinsics.fma(-q, dl, zl)) * inverse
    w = b + q
    wl = ((b - w) + q) + ql
    w = intrinsics.select(huge, a, w)
    wl = intrinsics.select(huge, 0.0, wl)
    return intrinsics.copysign(_log1p_sum_f64(w, wl, intrinsics.select(huge, 1.0, 0.0)), x)


def acosh_f64(x):
    """Inverse hyperbolic cosine: log1p(u + sqrt(2 u + u^2)) of u = x - 1. At most 1 ULP."""
    huge = x > 1e18
    u = intrinsics.select(huge, 1.0, intrinsics.select(x < 1.0, np.nan, x - 1.0))
    z = u * u
    u2 = u + u
    v = u2 + z
    above = u2 > z
    vl = ((intrinsics.select(above, u2, z) - v) + intrinsics.select(above, z, u2)) + intrinsics.fma(u, u, -z)
    r = intrinsics.sqrt(v)
    rl = intrinsics.select(v > 0.0, (intrinsics.fma(-r, r, v) + vl) * (0.5 / r), 0.0)
    w = r + u
    wl = ((r - w) + u) + rl
    w = intrinsics.select(huge, x, w)
    wl = intrinsics.select(huge, 0.0, wl)
    return _log1p_sum_f64(w, wl, intrinsics.select(huge, 1.0, 0.0))


def atanh_f64(x):
    """Inverse hyperbolic tangent: half of log1p(2 a / (1 - a)) of a = |x|. At most 1 ULP."""
    a = abs(x)
    n = a + a
    d = 1.0 - a
    dl = (1.0 - d) - a
    inverse = 1.0 / d
    q = n * inverse
    ql = intrinsics.fma(-q, dl, intrinsics.fma(-q, d, n)) * inverse
    y = 0.5 * _log1p_sum_f64(q, ql, 0.0)
    y = intrinsics.select(a < 1e-9, a, intrinsics.select(a == 1.0, np.inf, y))
    return intrinsics.copysign(y, x)


def _log1p_sum_f64(x, xl, extra):
    """log(1 + x + xl) + extra ln 2, where xl is at most a last place of x. The sign of a zero is lost."""
    u = 1.0 + x
    v = u - 1.0
    lost = ((1.0 - (u - v)) + (x - v)) + xl
    b = intrinsics.bits(u)
    t = b + 2638147582215219
    e = (t >> 52) & 0x7FF
    k = intrinsics.from_bits(e | 0x4330000000000000) - 4503599627371519.0
    near = e == 1023
    f = intrinsics.select(near, x, intrinsics.from_bits((t & 0xFFFFFFFFFFFFF) + 4604544271217802189) - 1.0)
    c = lost * intrinsics.from_bits((2046 - e) << 52)
    c = intrinsics.select(near, xl, intrinsics.select(u > 18014398509481984.0, 0.0, c))
    s = f / (2.0 + f)
    half = 0.5 * f
    square = half * f
    h = f - square
    l = ((f - h) - square) - intrinsics.fma(half, f, -square)
    l = intrinsics.fma(s, square + _log_tail_f64(s * s), intrinsics.fma(c, intrinsics.fma(f, f, 1.0 - f), l))
    k = k + extra
    a = k * 0.6931471805592082
    y = a + h
    y = y + (((a - y) + h) + intrinsics.fma(k, 7.371002565167799e-13, l))
    if (b <= 0) | (b >= 0x7FF0000000000000):
        y = _log_edge_f64(u)
    return y


def log1p_f32(x):
    """log(1 + x). At most 1 ULP."""
    return intrinsics.copysign(_log1p_sum_f32(x, 0.0, 0.0), x)


def asinh_f32(x):
    """Inverse hyperbolic sine: log1p(a + a^2 / (1 + sqrt(1 + a^2))) of a = |x|. At most 1 ULP."""
    a = abs(x)
    huge = a > 1e9
    b = intrinsics.select(huge, 1.0, a)
    z = b * b
    zl = intrinsics.fma(b, b, -z)
    v = 1.0 + z
    vl = ((intrinsics.select(z > 1.0, z, 1.0) - v) + intrinsics.select(z > 1.0, 1.0, z)) + zl
    r = intrinsics.sqrt(v)
    rl = (intrinsics.fma(-r, r, v) + vl) * (0.5 / r)
    d = 1.0 + r
    dl = (r - (d - 1.0)) + rl
    inverse = 1.0 / d
    q = z * inverse
    ql = (intrinsics.fma(-q, d, z) + intrinsics.fma(-q, dl, zl)) * inverse
    w = b + q
    wl = ((b - w) + q) + ql
    w = intrinsics.select(huge, a, w)
    wl = intrinsics.select(huge, 0.0, wl)
    return intrinsics.copysign(_log1p_sum_f32(w, wl, intrinsics.select(huge, np.float32(1.0), np.float32(0.0))), x)


def acosh_f32(x):
    """Inverse hyperbolic cosine: log1p(u + sqrt(2 u + u^2)) of u = x - 1. At most 1 ULP."""
    huge = x > 1e9
    u = intrinsics.select(huge, 1.0, intrinsics.select(x < 1.0, np.nan, x - 1.0))
    z = u * u
    u2 = u + u
    v = u2 + z
    above = u2 > z
    vl = ((intrinsics.select(above, u2, z) - v) + intrinsics.select(above, z, u2)) + intrinsics.fma(u, u, -z)
    r = intrinsics.sqrt(v)
    rl = intrinsics.select(v > 0.0, (intrinsics.fma(-r, r, v) + vl) * (0.5 / r), 0.0)
    w = r + u
    wl = ((r - w) + u) + rl
    w = intrinsics.select(huge, x, w)
    wl = intrinsics.select(huge, 0.0, wl)
    return _log1p_sum_f32(w, wl, intrinsics.select(huge, np.float32(1.0), np.float32(0.0)))


def atanh_f32(x):
    """Inverse hyperbolic tangent: half of log1p(2 a / (1 - a)) of a = |x|. At most 1 ULP."""
    a = abs(x)
    n = a + a
    d = 1.0 - a
    dl = (1.0 - d) - a
    inverse = 1.0 / d
    q = n * inverse
    ql = intrinsics.fma(-q, dl, intrinsics.fma(-q, d, n)) * inverse
    y = 0.5 * _log1p_sum_f32(q, ql, 0.0)
    y = intrinsics.select(a < 1e-4, a, intrinsics.select(a == 1.0, np.inf, y))
    return intrinsics.copysign(y, x)


def _log1p_sum_f32(x, xl, extra):
    """log(1 + x + xl) + extra ln 2, where xl is at most a last place of x. The sign of a zero is lost."""
    u = 1.0 + x
    v = u - 1.0
    lost = ((1.0 - (u - v)) + (x - v)) + xl
    b = intrinsics.bits(u)
    t = b + 4913933
    e = (t >> 23) & 0xFF
    k = intrinsics.from_bits(e | 0x4B000000) - np.float32(8388735.0)
    near = e == 127
    f = intrinsics.select(near, x, intrinsics.from_bits((t & 0x7FFFFF) + 1060439283) - 1.0)
    c = lost * intrinsics.from_bits((254 - e) << 23)
    c = intrinsics.select(near, xl, intrinsics.select(u > 33554432.0, 0.0, c))
    half = 0.5 * f
    square = half * f
    h = f - square
    l = ((f - h) - square) - intrinsics.fma(half, f, -square)
    l = intrinsics.fma(f * square, _log_poly_f32(f), intrinsics.fma(c, intrinsics.fma(f, f, 1.0 - f), l))
    k = k + extra
    a = k * 0.69311523
    y = a + h
    y = y + (((a - y) + h) + intrinsics.fma(k, 3.1946183e-05, l))
    if (b <= 0) | (b >= 0x7F800000):
        y = _log_edge_f32(u)
    return y

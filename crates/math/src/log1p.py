"""log(1 + x) and the inverse hyperbolic functions made of it.

They are logarithms of a sum of two floats u + ul: u is split as x = 2^k m is for the logarithm, and ul is brought in at first order. Roots and
quotients come in two parts, too (division.py). Arguments whose square overflows take a rare branch.
"""

import numpy as np
from weft import intrinsics


def log1p_f64(x):
    """log(1 + x). At most 1 ULP."""
    y = _log1p_sum_f64(x, 0.0)
    if not (x > -1.0) & (x <= 1e150):
        y = _rare_log1p_f64(1.0 + x)
    return intrinsics.copysign(y, x)


def asinh_f64(x):
    """Inverse hyperbolic sine: log(a + sqrt(1 + a^2)) of a = |x|; for small a two terms of its series. At most 1 ULP."""
    a = abs(x)
    v = intrinsics.fma(a, a, 1.0)
    r, half = _sqrt_wide_f64(v)
    rl = (intrinsics.fma(-r, r, v) + intrinsics.fma(a, a, 1.0 - v)) * half
    u = r + a
    y = _log_pair_f64(u, ((r - u) + a) + rl)
    y = intrinsics.select(a < 6.1e-5, intrinsics.fma(a * a, a * -0.16666666666666666, a), y)
    if not a <= 1e150:
        y = _rare_log_twice_f64(a)
    return intrinsics.copysign(y, x)


def acosh_f64(x):
    """Inverse hyperbolic cosine: log1p(u + sqrt(2 u + u^2)) of u = x - 1. At most 1 ULP."""
    u = x - 1.0
    u2 = u + u
    v = intrinsics.fma(u, u, u2)
    r, half = _sqrt_wide_f64(v)
    rl = (intrinsics.fma(-r, r, v) + intrinsics.fma(u, u, u2 - v)) * half
    w = r + u
    y = _log1p_sum_f64(w, ((r - w) + u) + rl)
    if not (x >= 1.0) & (x <= 1e150):
        y = intrinsics.select(x < 1.0, np.nan, _rare_log_twice_f64(x))
    return y


def atanh_f64(x):
    """Inverse hyperbolic tangent: half of log1p(2 a / (1 - a)) of a = |x|. At most 1 ULP."""
    a = abs(x)
    n = a + a
    d = 1.0 - a
    dl = (1.0 - d) - a
    c = _reciprocal_f64(d)
    q = n * c
    q = intrinsics.fma(intrinsics.fma(-q, d, n), c, q)
    ql = intrinsics.fma(-q, dl, intrinsics.fma(-q, d, n)) * c
    y = 0.5 * _log1p_sum_f64(q, ql)
    y = intrinsics.select(a < 1e-9, a, y)
    if not a < 1.0:
        y = intrinsics.select(a == 1.0, np.inf, np.nan)
    return intrinsics.copysign(y, x)


def _rare_log1p_each(u):
    """log(u) for u so large that nothing is lost in it, and for what has no logarithm."""
    k, f = _log_split_each(u)
    return _log_edge_each(u, _log_sum_each(k, f))


def _rare_log_twice_each(x):
    """log(2 x) for large x; infinity and NaN of themselves."""
    k, f = _log_split_each(x)
    return intrinsics.select(x < np.inf, _log_sum_each(k + 1.0, f), x)


def _log1p_sum_each(x, xl):
    """log(1 + x + xl) for x > -1 below 1e150 (float32: 1e18), where xl is at most a last place of x. The sign of a zero is lost."""
    u = 1.0 + x
    above = x > 1.0
    return _log_pair_each(u, ((intrinsics.select(above, x, 1.0) - u) + intrinsics.select(above, 1.0, x)) + xl)


def _log_pair_f64(u, ul):
    """log(u + ul) for normal u > 0 below 1e150, where ul is at most a last place of u or of 1."""
    t = intrinsics.bits(u) + 2638147582215219
    k, f = _log_split_f64(u)
    c = ul * intrinsics.from_bits(0x7FE0000000000000 - (t & 0x7FF0000000000000))
    h = intrinsics.fma(k, 0.6931471805592082, f)
    low = intrinsics.fma(k, 0.6931471805592082, -h) + f
    l = intrinsics.fma(c, intrinsics.fma(f, f, 1.0 - f), _log_rest_f64(f))
    return h + (low + intrinsics.fma(k, 7.371002565167799e-13, l))


def log1p_f32(x):
    """log(1 + x). At most 1 ULP."""
    y = _log1p_sum_f32(x, 0.0)
    if not (x > -1.0) & (x <= 1e18):
        y = _rare_log1p_f32(1.0 + x)
    return intrinsics.copysign(y, x)


def asinh_f32(x):
    """Inverse hyperbolic sine: log(a + sqrt(1 + a^2)) of a = |x|; for small a two terms of its series. At most 1 ULP."""
    a = abs(x)
    v = intrinsics.fma(a, a, 1.0)
    r, half = _sqrt_wide_f32(v)
    rl = (intrinsics.fma(-r, r, v) + intrinsics.fma(a, a, 1.0 - v)) * half
    u = r + a
    y = _log_pair_f32(u, ((r - u) + a) + rl)
    y = intrinsics.select(a < 0.0078125, intrinsics.fma(a * a, a * -0.16666666666666666, a), y)
    if not a <= 1e18:
        y = _rare_log_twice_f32(a)
    return intrinsics.copysign(y, x)


def acosh_f32(x):
    """Inverse hyperbolic cosine: log1p(u + sqrt(2 u + u^2)) of u = x - 1. At most 1 ULP."""
    u = x - 1.0
    u2 = u + u
    v = intrinsics.fma(u, u, u2)
    r, half = _sqrt_wide_f32(v)
    rl = (intrinsics.fma(-r, r, v) + intrinsics.fma(u, u, u2 - v)) * half
    w = r + u
    y = _log1p_sum_f32(w, ((r - w) + u) + rl)
    if not (x >= 1.0) & (x <= 1e18):
        y = intrinsics.select(x < 1.0, np.nan, _rare_log_twice_f32(x))
    return y


def atanh_f32(x):
    """Inverse hyperbolic tangent: half of log1p(2 a / (1 - a)) of a = |x|. At most 1 ULP."""
    a = abs(x)
    n = a + a
    d = 1.0 - a
    dl = (1.0 - d) - a
    c = _reciprocal_f32(d)
    q = n * c
    q = intrinsics.fma(intrinsics.fma(-q, d, n), c, q)
    ql = intrinsics.fma(-q, dl, intrinsics.fma(-q, d, n)) * c
    y = 0.5 * _log1p_sum_f32(q, ql)
    y = intrinsics.select(a < 1e-4, a, y)
    if not a < 1.0:
        y = intrinsics.select(a == 1.0, np.inf, np.nan)
    return intrinsics.copysign(y, x)


def _log_pair_f32(u, ul):
    """log(u + ul) for normal u > 0 below 1e18, where ul is at most a last place of u or of 1."""
    t = intrinsics.bits(u) + 4913933
    k, f = _log_split_f32(u)
    c = ul * intrinsics.from_bits(0x7F000000 - (t & 0x7F800000))
    h = intrinsics.fma(k, 0.69311523, f)
    low = intrinsics.fma(k, 0.69311523, -h) + f
    l = intrinsics.fma(c, intrinsics.fma(f, f, 1.0 - f), _log_rest_f32(f))
    return h + (low + intrinsics.fma(k, 3.1946183e-05, l))

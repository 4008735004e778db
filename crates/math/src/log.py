"""Logarithms.

x = 2^k m with m in [1/sqrt(2), sqrt(2)), f = m - 1. With s = f / (2 + f), log m = 2 atanh(s) is summed as f - (f^2/2 - s (f^2/2 + R(s^2))): all after f is
small beside it, so that its roundings hardly count. (The arrangement is that of Sun's fdlibm; W. Kahan is named there.) The quotient s is made by
multiplication. In float32 one polynomial in f does. Polynomials: generate/coefficients.py.
"""

import numpy as np
from weft import intrinsics


def log_f64(x):
    """Natural logarithm. At most 1 ULP."""
    k, f = _log_split_f64(x)
    y = _log_sum_f64(k, f)
    b = intrinsics.bits(x)
    if (b < 0x10000000000000) | (b >= 0x7FF0000000000000):
        y = _rare_log_f64(x)
    return y


def log2_f64(x):
    """Logarithm to base 2. At most 1 ULP."""
    k, f = _log_split_f64(x)
    y = _log2_sum_f64(k, f)
    b = intrinsics.bits(x)
    if (b < 0x10000000000000) | (b >= 0x7FF0000000000000):
        y = _rare_log2_f64(x)
    return y


def log10_f64(x):
    """Logarithm to base 10. At most 1 ULP."""
    k, f = _log_split_f64(x)
    y = _log10_sum_f64(k, f)
    b = intrinsics.bits(x)
    if (b < 0x10000000000000) | (b >= 0x7FF0000000000000):
        y = _rare_log10_f64(x)
    return y


def _rare_log_f64(x):
    """The natural logarithm of a subnormal number, and of what has none."""
    k, f = _log_split_f64(x * 18014398509481984.0)
    return _log_edge_f64(x, _log_sum_f64(k - 54.0, f))


def _rare_log2_f64(x):
    """As _rare_log_f64, to base 2."""
    k, f = _log_split_f64(x * 18014398509481984.0)
    return _log_edge_f64(x, _log2_sum_f64(k - 54.0, f))


def _rare_log10_f64(x):
    """As _rare_log_f64, to base 10."""
    k, f = _log_split_f64(x * 18014398509481984.0)
    return _log_edge_f64(x, _log10_sum_f64(k - 54.0, f))


def _log_edge_each(x, y):
    """y, but for zero, infinity, NaN and negative numbers any logarithm of x."""
    y = intrinsics.select(x < np.inf, y, x)
    return intrinsics.select(x == 0.0, -np.inf, intrinsics.select(x < 0.0, np.nan, y))


def _log_split_f64(x):
    """(k, f) with x = 2^k (1 + f), for normal x > 0."""
    t = intrinsics.bits(x) + 2638147582215219
    k = intrinsics.from_bits((t >> 52) | 0x4330000000000000) - 4503599627371519.0
    return k, intrinsics.from_bits((t & 0xFFFFFFFFFFFFF) + 4604544271217802189) - 1.0


def _log_sum_f64(k, f):
    """k ln 2 + log(1 + f)."""
    h = intrinsics.fma(k, 0.6931471805592082, f)
    low = intrinsics.fma(k, 0.6931471805592082, -h) + f
    return h + (low + intrinsics.fma(k, 7.371002565167799e-13, _log_rest_f64(f)))


def _log2_sum_f64(k, f):
    """k + log2(1 + f). The latter is at most 1/2, and half of what k adds it to unless k is 0: it can be rounded first."""
    a = f * 1.4426950408889634
    l = intrinsics.fma(f, 2.0355273740931033e-17, intrinsics.fma(f, 1.4426950408889634, -a))
    return k + (a + intrinsics.fma(_log_rest_f64(f), 1.4426950408889634, l))


def _log10_sum_f64(k, f):
    """k log10(2) + log10(1 + f)."""
    a = f * 0.4342944819032518
    l = intrinsics.fma(
        _log_rest_f64(f), 0.4342944819032518, intrinsics.fma(f, 1.098319650216765e-17, intrinsics.fma(f, 0.4342944819032518, -a))
    )
    h = intrinsics.fma(k, 0.30102999566361177, a)
    low = intrinsics.fma(k, 0.30102999566361177, -h) + a
    return h + (low + intrinsics.fma(k, 3.694239077158931e-13, l))


def _log_rest_f64(f):
    """log(1 + f) - f for 1/sqrt(2) <= 1 + f <= sqrt(2)."""
    c = _log_inverse_f64(f)
    e = intrinsics.fma(-2.0 - f, c, 1.0)
    s = f * c
    s = intrinsics.fma(s, intrinsics.fma(e, intrinsics.fma(e, e, e), e), s)
    half = 0.5 * f
    return intrinsics.fma(-half, f, s * intrinsics.fma(half, f, _log_tail_f64(s * s)))


def _log_inverse_f64(f):
    """1 / (2 + f) for 1/sqrt(2) <= 1 + f <= sqrt(2); error 2^-13."""
    p = intrinsics.fma(f, -0.057133410305156306, 0.1281366081718516)
    p = intrinsics.fma(f, p, -0.2503867716429193)
    return intrinsics.fma(f, p, 0.4999568684145182)


def _log_tail_f64(z):
    """(2 atanh(s) - 2 s) / s in z = s^2 <= 0.0295; error 2^-58 of log."""
    w = z * z
    p = intrinsics.fma(w, 0.1531383203338632, 0.22222198428921783)
    p = intrinsics.fma(w, p, 0.3999999999940935)
    o = intrinsics.fma(w, 0.14798260342761815, 0.1818357235901749)
    o = intrinsics.fma(w, o, 0.2857142874368678)
    o = intrinsics.fma(w, o, 0.6666666666666735)
    return intrinsics.fma(w, p, z * o)


def log_f32(x):
    """Natural logarithm. At most 1 ULP."""
    k, f = _log_split_f32(x)
    y = _log_sum_f32(k, f)
    b = intrinsics.bits(x)
    if (b < 0x800000) | (b >= 0x7F800000):
        y = _rare_log_f32(x)
    return y


def log2_f32(x):
    """Logarithm to base 2. At most 1 ULP."""
    k, f = _log_split_f32(x)
    y = _log2_sum_f32(k, f)
    b = intrinsics.bits(x)
    if (b < 0x800000) | (b >= 0x7F800000):
        y = _rare_log2_f32(x)
    return y


def log10_f32(x):
    """Logarithm to base 10. At most 1 ULP."""
    k, f = _log_split_f32(x)
    y = _log10_sum_f32(k, f)
    b = intrinsics.bits(x)
    if (b < 0x800000) | (b >= 0x7F800000):
        y = _rare_log10_f32(x)
    return y


def _rare_log_f32(x):
    """The natural logarithm of a subnormal number, and of what has none."""
    k, f = _log_split_f32(x * 33554432.0)
    return _log_edge_f32(x, _log_sum_f32(k - 25.0, f))


def _rare_log2_f32(x):
    """As _rare_log_f32, to base 2."""
    k, f = _log_split_f32(x * 33554432.0)
    return _log_edge_f32(x, _log2_sum_f32(k - 25.0, f))


def _rare_log10_f32(x):
    """As _rare_log_f32, to base 10."""
    k, f = _log_split_f32(x * 33554432.0)
    return _log_edge_f32(x, _log10_sum_f32(k - 25.0, f))


def _log_split_f32(x):
    """(k, f) with x = 2^k (1 + f), for normal x > 0."""
    b = intrinsics.bits(x)
    t = b - 1060439283
    return np.float32(t >> 23), intrinsics.from_bits(b - (t & ~0x7FFFFF)) - 1.0


def _log_sum_f32(k, f):
    """k ln 2 + log(1 + f)."""
    h = intrinsics.fma(k, 0.69311523, f)
    low = intrinsics.fma(k, 0.69311523, -h) + f
    return h + (low + intrinsics.fma(k, 3.1946183e-05, _log_rest_f32(f)))


def _log2_sum_f32(k, f):
    """k + log2(1 + f). The latter is at most 1/2, and half of what k adds it to unless k is 0: it can be rounded first."""
    a = f * 1.442695
    z = f * f
    l = intrinsics.fma(z * f, _log2_poly_f32(f), intrinsics.fma(f, 1.925963e-08, intrinsics.fma(f, 1.442695, -a)))
    return k + (a + intrinsics.fma(z, -0.7213475, l))


def _log10_sum_f32(k, f):
    """k log10(2) + log10(1 + f)."""
    a = f * 0.4342945
    z = f * f
    l = intrinsics.fma(z * f, _log10_poly_f32(f), intrinsics.fma(f, -1.010305e-08, intrinsics.fma(f, 0.4342945, -a)))
    l = intrinsics.fma(z, -0.21714725, l)
    h = intrinsics.fma(k, 0.3010254, a)
    low = intrinsics.fma(k, 0.3010254, -h) + a
    return h + (low + intrinsics.fma(k, 4.605039e-06, l))


def _log_rest_f32(f):
    """log(1 + f) - f for 1/sqrt(2) <= 1 + f <= sqrt(2)."""
    return intrinsics.fma(-0.5 * f, f, ((f * f) * f) * _log_poly_f32(f))


def _log_poly_f32(f):
    """(log(1 + f) - f + f^2/2) / f^3 for 1/sqrt(2) <= 1 + f <= sqrt(2); error 2^-27 of log.

    In float32 the terms this takes cost less than the quotient.
    """
    z = f * f
    p = intrinsics.fma(z, 0.12763672, 0.1420154)
    p = intrinsics.fma(z, p, 0.20001233)
    p = intrinsics.fma(z, p, 0.3333333)
    o = intrinsics.fma(z, -0.076346464, -0.13161094)
    o = intrinsics.fma(z, o, -0.16623248)
    o = intrinsics.fma(z, o, -0.25000823)
    return intrinsics.fma(f, o, p)


def _log2_poly_f32(f):
    """(log2(1 + f) - (f - f^2/2) / ln 2) / f^3 for 1/sqrt(2) <= 1 + f <= sqrt(2); error 2^-29 of log2."""
    z = f * f
    p = intrinsics.fma(z, 0.097334355, 0.171526)
    p = intrinsics.fma(z, p, 0.20514232)
    p = intrinsics.fma(z, p, 0.2885697)
    p = intrinsics.fma(z, p, 0.48089805)
    o = intrinsics.fma(z, -0.1684748, -0.17897129)
    o = intrinsics.fma(z, o, -0.24046844)
    o = intrinsics.fma(z, o, -0.3606739)
    return intrinsics.fma(f, o, p)


def _log10_poly_f32(f):
    """(log10(1 + f) - (f - f^2/2) / ln 10) / f^3 for 1/sqrt(2) <= 1 + f <= sqrt(2); error 2^-27 of log10."""
    z = f * f
    p = intrinsics.fma(z, 0.05543192, 0.061676506)
    p = intrinsics.fma(z, p, 0.08686425)
    p = intrinsics.fma(z, p, 0.14476483)
    o = intrinsics.fma(z, -0.03315685, -0.057157908)
    o = intrinsics.fma(z, o, -0.07219385)
    o = intrinsics.fma(z, o, -0.1085772)
    return intrinsics.fma(f, o, p)

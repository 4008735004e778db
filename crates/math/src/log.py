"""Logarithms.

x = 2^k m with m in [1/sqrt(2), sqrt(2)). With f = m - 1 and s = f / (2 + f), log m = 2 atanh(s) is summed as f - f^2/2 + s (f^2/2 + R(s^2)):
the first difference is kept with its low part, the rest is small. (The arrangement is that of Sun's fdlibm; W. Kahan is named there.)
Polynomials: generate/coefficients.py.
"""

import numpy as np
from weft import intrinsics


def log_f64(x):
    """Natural logarithm. At most 1 ULP."""
    k, h, l = _log_parts_f64(x)
    a = k * 0.6931471805592082
    y = a + h
    y = y + (((a - y) + h) + intrinsics.fma(k, 7.371002565167799e-13, l))
    b = intrinsics.bits(x)
    if (b <= 0) | (b >= 0x7FF0000000000000):
        y = _log_edge_f64(x)
    return y


def log2_f64(x):
    """Logarithm to base 2. At most 1 ULP."""
    k, h, l = _log_parts_f64(x)
    a = h * 1.4426950408889634
    l = intrinsics.fma(h, 1.4426950408889634, -a) + intrinsics.fma(h, 2.0355273740931033e-17, l * 1.4426950408889634)
    y = k + a
    y = y + (((k - y) + a) + l)
    b = intrinsics.bits(x)
    if (b <= 0) | (b >= 0x7FF0000000000000):
        y = _log_edge_f64(x)
    return y


def log10_f64(x):
    """Logarithm to base 10. At most 1 ULP."""
    k, h, l = _log_parts_f64(x)
    a = h * 0.4342944819032518
    l = intrinsics.fma(h, 0.4342944819032518, -a) + intrinsics.fma(h, 1.098319650216765e-17, l * 0.4342944819032518)
    c = k * 0.30102999566361177
    y = c + a
    y = y + (((c - y) + a) + intrinsics.fma(k, 3.694239077158931e-13, l))
    b = intrinsics.bits(x)
    if (b <= 0) | (b >= 0x7FF0000000000000):
        y = _log_edge_f64(x)
    return y


def _log_edge_f64(x):
    """Any logarithm of zero, infinity, NaN and negative numbers."""
    return intrinsics.select(x == 0.0, -np.inf, intrinsics.select(x < 0.0, np.nan, x))


def _log_parts_f64(x):
    """(k, h, l) with x = 2^k m and log m = h + l, for finite x > 0."""
    b = intrinsics.bits(x)
    bias = 4503599627371519.0
    if b < 0x10000000000000:
        b = intrinsics.bits(x * 18014398509481984.0)
        bias = 4503599627371573.0
    t = b + 2638147582215219
    k = intrinsics.from_bits(((t >> 52) & 0x7FF) | 0x4330000000000000) - bias
    f = intrinsics.from_bits((t & 0xFFFFFFFFFFFFF) + 4604544271217802189) - 1.0
    s = f / (2.0 + f)
    half = 0.5 * f
    square = half * f
    h = f - square
    lost = ((f - h) - square) - intrinsics.fma(half, f, -square)
    return k, h, intrinsics.fma(s, square + _log_tail_f64(s * s), lost)


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
    k, h, l = _log_parts_f32(x)
    a = k * 0.69311523
    y = a + h
    y = y + (((a - y) + h) + intrinsics.fma(k, 3.1946183e-05, l))
    b = intrinsics.bits(x)
    if (b <= 0) | (b >= 0x7F800000):
        y = _log_edge_f32(x)
    return y


def log2_f32(x):
    """Logarithm to base 2. At most 1 ULP."""
    k, h, l = _log_parts_f32(x)
    a = h * 1.442695
    l = intrinsics.fma(h, 1.442695, -a) + intrinsics.fma(h, 1.925963e-08, l * 1.442695)
    y = k + a
    y = y + (((k - y) + a) + l)
    b = intrinsics.bits(x)
    if (b <= 0) | (b >= 0x7F800000):
        y = _log_edge_f32(x)
    return y


def log10_f32(x):
    """Logarithm to base 10. At most 1 ULP."""
    k, h, l = _log_parts_f32(x)
    a = h * 0.4342945
    l = intrinsics.fma(h, 0.4342945, -a) + intrinsics.fma(h, -1.010305e-08, l * 0.4342945)
    c = k * 0.3010254
    y = c + a
    y = y + (((c - y) + a) + intrinsics.fma(k, 4.605039e-06, l))
    b = intrinsics.bits(x)
    if (b <= 0) | (b >= 0x7F800000):
        y = _log_edge_f32(x)
    return y


def _log_edge_f32(x):
    """Any logarithm of zero, infinity, NaN and negative numbers."""
    return intrinsics.select(x == 0.0, -np.inf, intrinsics.select(x < 0.0, np.nan, x))


def _log_parts_f32(x):
    """(k, h, l) with x = 2^k m and log m = h + l, for finite x > 0."""
    b = intrinsics.bits(x)
    bias = np.float32(8388735.0)
    if b < 0x800000:
        b = intrinsics.bits(x * 33554432.0)
        bias = np.float32(8388760.0)
    t = b + 4913933
    k = intrinsics.from_bits(((t >> 23) & 0xFF) | 0x4B000000) - bias
    f = intrinsics.from_bits((t & 0x7FFFFF) + 1060439283) - 1.0
    half = 0.5 * f
    square = half * f
    h = f - square
    lost = ((f - h) - square) - intrinsics.fma(half, f, -square)
    return k, h, intrinsics.fma(f * square, _log_poly_f32(f), lost)


def _log_poly_f32(f):
    """2 (log(1 + f) - f + f^2/2) / f^3 for 1/sqrt(2) <= 1 + f <= sqrt(2); error 2^-27 of log.

    In float32 the terms this takes cost less than the division by 2 + f.
    """
    z = f * f
    p = intrinsics.fma(z, 0.25527343, 0.2840308)
    p = intrinsics.fma(z, p, 0.40002465)
    p = intrinsics.fma(z, p, 0.6666666)
    o = intrinsics.fma(z, -0.15269293, -0.2632219)
    o = intrinsics.fma(z, o, -0.33246496)
    o = intrinsics.fma(z, o, -0.50001645)
    return intrinsics.fma(f, o, p)

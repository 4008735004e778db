"""log(1 + x), a logarithm of a sum of two floats u + ul: u is split as x = 2^k m is for the logarithm, and ul is brought in at first order."""

import numpy as np
from weft import intrinsics


def log1p_f64(x):
    """log(1 + x). At most 1 ULP."""
    y = _log1p_sum_f64(x, 0.0)
    if not (x > -1.0) & (x <= 1e150):
        y = _rare_log1p_f64(1.0 + x)
    return intrinsics.copysign(y, x)


def _rare_log1p_each(u):
    """log(u) for u so large that nothing is lost in it, and for what has no logarithm."""
    k, f = _log_split_each(u)
    return _log_edge_each(u, _log_sum_each(k, f))


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


def _log_pair_f32(u, ul):
    """log(u + ul) for normal u > 0 below 1e18, where ul is at most a last place of u or of 1.

    What ul adds is divided by 1 + f to a hundredth of it; 1 - f + f^2 would be off by a twentieth at the upper end. Next to 1 the divisor must
    round to 1, since ul may take half of f away.
    """
    t = intrinsics.bits(u) + 4913933
    k, f = _log_split_f32(u)
    c = ul * intrinsics.from_bits(0x7F000000 - (t & 0x7F800000))
    h = intrinsics.fma(k, 0.69311523, f)
    low = intrinsics.fma(k, 0.69311523, -h) + f
    l = intrinsics.fma(c, intrinsics.fma(f, intrinsics.fma(f, intrinsics.fma(f, -0.8, 1.0), -1.0), 1.0), _log_rest_f32(f))
    return h + (low + intrinsics.fma(k, 3.1946183e-05, l))

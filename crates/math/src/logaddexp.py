"""Sums of exponentials as logarithms: log(e^x + e^y) is the larger argument and log1p(e^-|x - y|).

Where a negative argument and the logarithm cancel, the error is at most 2 ULP of the argument.
"""

import numpy as np
from weft import intrinsics


def logaddexp_f64(x, y):
    """log(exp(x) + exp(y)). At most 2 ULP of the larger of result and arguments."""
    high, d, lost = _logadd_difference_f64(x, y)
    shifted = intrinsics.fma(d, 1.4426950408889634, 6755399441055744.0)
    n = shifted - 6755399441055744.0
    r = intrinsics.fma(n, -0.6931471805599453, d)
    h = intrinsics.fma(n, -2.3190468138462996e-17, r)
    l = _logadd_log_f64(h, intrinsics.fma(n, -2.3190468138462996e-17, r - h), lost, shifted)
    return _logadd_end_f64(x, y, high, high + l, 0.6931471805599453)


def logaddexp2_f64(x, y):
    """log2(2^x + 2^y). At most 2 ULP of the larger of result and arguments."""
    high, d, lost = _logadd_difference_f64(x, y)
    shifted = d + 6755399441055744.0
    r = d - (shifted - 6755399441055744.0)
    h = r * 0.6931471805599453
    l = intrinsics.fma(r, 2.3190468138462996e-17, intrinsics.fma(r, 0.6931471805599453, -h))
    l = _logadd_log_f64(h, l, lost * 0.6931471805599453, shifted)
    return _logadd_end_f64(x, y, high, intrinsics.fma(l, 1.4426950408889634, high), 1.0)


def _logadd_difference_f64(x, y):
    """(larger, smaller - larger, what rounding that lost); differences that do not count any more are cut."""
    high = intrinsics.select(x > y, x, y)
    low = intrinsics.select(x > y, y, x)
    d = low - high
    t = d - low
    lost = (low - (d - t)) - (high + t)
    near = d > -1100.0
    return high, intrinsics.select(near, d, -1100.0), intrinsics.select(near, lost, 0.0)


def _logadd_log_each(h, l, lost, shifted):
    """log(1 + 2^n exp(h + l + lost)) with n in the low bits of `shifted`, the exponential as a sum of two floats."""
    s = 1.0 + h
    t = intrinsics.fma(h * h, _exp_tail_each(h), ((1.0 - s) + h) + l)
    p = s + t
    return _log1p_sum_each(_scale_each(p, shifted), _scale_each(intrinsics.fma(p, lost, (s - p) + t), shifted))


def _logadd_end_each(x, y, high, z, twice):
    """z, but that two equal numbers, such as infinities, give themselves and the logarithm of two, and a NaN a NaN."""
    z = intrinsics.select(x == y, x + twice, z)
    z = intrinsics.select(high == np.inf, np.inf, z)
    return intrinsics.select(intrinsics.isnan(x) | intrinsics.isnan(y), x + y, z)


def logaddexp_f32(x, y):
    """log(exp(x) + exp(y)). At most 2 ULP of the larger of result and arguments."""
    high, d, lost = _logadd_difference_f32(x, y)
    shifted = intrinsics.fma(d, 1.442695, 12582912.0)
    n = shifted - 12582912.0
    r = intrinsics.fma(n, -0.6931472, d)
    h = intrinsics.fma(n, 1.9046542e-09, r)
    l = _logadd_log_f32(h, intrinsics.fma(n, 1.9046542e-09, r - h), lost, shifted)
    return _logadd_end_f32(x, y, high, high + l, 0.6931472)


def logaddexp2_f32(x, y):
    """log2(2^x + 2^y). At most 2 ULP of the larger of result and arguments."""
    high, d, lost = _logadd_difference_f32(x, y)
    shifted = d + 12582912.0
    r = d - (shifted - 12582912.0)
    h = r * 0.6931472
    l = intrinsics.fma(r, -1.9046542e-09, intrinsics.fma(r, 0.6931472, -h))
    l = _logadd_log_f32(h, l, lost * 0.6931472, shifted)
    return _logadd_end_f32(x, y, high, intrinsics.fma(l, 1.442695, high), 1.0)


def _logadd_difference_f32(x, y):
    """(larger, smaller - larger, what rounding that lost); differences that do not count any more are cut."""
    high = intrinsics.select(x > y, x, y)
    low = intrinsics.select(x > y, y, x)
    d = low - high
    t = d - low
    lost = (low - (d - t)) - (high + t)
    near = d > -160.0
    return high, intrinsics.select(near, d, -160.0), intrinsics.select(near, lost, 0.0)

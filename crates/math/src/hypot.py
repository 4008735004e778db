"""Euclidean length.

sqrt(v) with v = x^2 + y^2, of which the root's residual sees also what rounding y^2 lost. The root is made by multiplication (division.py). Lengths whose
squares leave the range take a rare branch that scales first.
"""

import numpy as np
from weft import intrinsics


def hypot_f64(x, y):
    """Length of (x, y). At most 1 ULP. Infinite if either is infinite, even if the other is NaN."""
    square = y * y
    v = intrinsics.fma(x, x, square)
    h = _hypot_root_f64(v, intrinsics.fma(y, y, -square))
    if not (v >= 1e-260) & (v <= 1e300):
        h = _rare_hypot_f64(x, y)
    return h


def _hypot_root_each(v, vl):
    """sqrt(v + vl) for normal v."""
    c = _rsqrt_each(v)
    h = v * c
    return intrinsics.fma(intrinsics.fma(-h, h, v) + vl, 0.5 * c, h)


def _rare_hypot_f64(x, y):
    """The length where the sum of the squares is far from 1, zero or not a number."""
    ax = abs(x)
    ay = abs(y)
    flat = ax > ay
    a = intrinsics.select(flat, ax, ay)
    b = intrinsics.select(flat, ay, ax)
    scale = intrinsics.select(a > 1e140, 4.149515568880993e180, intrinsics.select(a < 1e-120, 1.90109156629516e-211, 1.0))
    a = a / scale
    b = b / scale
    square = b * b
    v = intrinsics.fma(a, a, square)
    h = _hypot_root_f64(v, intrinsics.fma(b, b, -square)) * scale
    h = intrinsics.select(v > 0.0, h, v)
    return intrinsics.select(intrinsics.isinf(x) | intrinsics.isinf(y), np.inf, h)


def hypot_f32(x, y):
    """Length of (x, y). At most 1 ULP. Infinite if either is infinite, even if the other is NaN."""
    square = y * y
    v = intrinsics.fma(x, x, square)
    h = _hypot_root_f32(v, intrinsics.fma(y, y, -square))
    if not (v >= 1e-20) & (v <= 1e37):
        h = _rare_hypot_f32(x, y)
    return h


def _rare_hypot_f32(x, y):
    """The length where the sum of the squares is far from 1, zero or not a number."""
    ax = abs(x)
    ay = abs(y)
    flat = ax > ay
    a = intrinsics.select(flat, ax, ay)
    b = intrinsics.select(flat, ay, ax)
    scale = intrinsics.select(
        a > 1e17, np.float32(1.2089258196146292e24), intrinsics.select(a < 1e-9, np.float32(1.6155871338926322e-27), np.float32(1.0))
    )
    a = a / scale
    b = b / scale
    square = b * b
    v = intrinsics.fma(a, a, square)
    h = _hypot_root_f32(v, intrinsics.fma(b, b, -square)) * scale
    h = intrinsics.select(v > 0.0, h, v)
    return intrinsics.select(intrinsics.isinf(x) | intrinsics.isinf(y), np.inf, h)

"""Euclidean length.

sqrt(x^2 + y^2) with the radicand's rounding errors brought back by one Newton step: C. F. Borges, "An improved algorithm for hypot(a, b)"
(arXiv:1904.09481), in its fused form. Lengths whose squares leave the range take a rare branch that scales first.
"""

import numpy as np
from weft import intrinsics


def hypot_f64(x, y):
    """Length of (x, y). At most 1 ULP. Infinite if either is infinite, even if the other is NaN."""
    ax = abs(x)
    ay = abs(y)
    flat = ax > ay
    a = intrinsics.select(flat, ax, ay)
    b = intrinsics.select(flat, ay, ax)
    scale = 1.0
    if not ((a <= 1e150) & (b >= 1e-140)):
        scale = intrinsics.select(a > 1e150, 4.149515568880993e180, intrinsics.select(a < 1e-120, 1.90109156629516e-211, 1.0))
        a = a / scale
        b = b / scale
    h = intrinsics.sqrt(intrinsics.fma(a, a, b * b))
    square = h * h
    e = intrinsics.fma(-b, b, square - a * a) + intrinsics.fma(h, h, -square) - intrinsics.fma(a, a, -(a * a))
    h = intrinsics.select(h > 0.0, h - e / (2.0 * h), h) * scale
    return intrinsics.select(intrinsics.isinf(x) | intrinsics.isinf(y), np.inf, h)


def hypot_f32(x, y):
    """Length of (x, y). At most 1 ULP. Infinite if either is infinite, even if the other is NaN."""
    ax = abs(x)
    ay = abs(y)
    flat = ax > ay
    a = intrinsics.select(flat, ax, ay)
    b = intrinsics.select(flat, ay, ax)
    scale = np.float32(1.0)
    if not ((a <= 1e18) & (b >= 1e-15)):
        scale = intrinsics.select(a < 1e-15, np.float32(7.703719777548943e-34), np.float32(1.0))
        scale = intrinsics.select(a > 1e18, np.float32(1.2089258196146292e24), scale)
        a = a / scale
        b = b / scale
    h = intrinsics.sqrt(intrinsics.fma(a, a, b * b))
    square = h * h
    e = intrinsics.fma(-b, b, square - a * a) + intrinsics.fma(h, h, -square) - intrinsics.fma(a, a, -(a * a))
    h = intrinsics.select(h > 0.0, h - e / (2.0 * h), h) * scale
    return intrinsics.select(intrinsics.isinf(x) | intrinsics.isinf(y), np.inf, h)

"""Reciprocals and inverse square roots by multiplication.

A vector unit divides and takes roots an order of magnitude slower than it multiplies. Where the quotient or root is wanted in two parts anyway, an
inverse good to well over half of the digits serves: the exact residual (fma) brings the rest. The first guess is an integer subtraction, which
negates the exponent field (for roots: halves it, too) and is linear in the fraction; its constant is the one for which the largest error is
least. Steps of third or fourth order follow.

Arguments are normal numbers whose inverse is normal. Of a NaN comes some number: the residual carries it on.
"""

from weft import intrinsics


def _reciprocal_f64(d):
    """1 / d of either sign, error 2^-38."""
    c = intrinsics.from_bits(0x7FDE620000000000 - intrinsics.bits(d))
    e = intrinsics.fma(-d, c, 1.0)
    c = intrinsics.fma(c, intrinsics.fma(e, e, e), c)
    e = intrinsics.fma(-d, c, 1.0)
    return intrinsics.fma(c, intrinsics.fma(e, e, e), c)


def _reciprocal_f32(d):
    """1 / d of either sign, error 2^-17."""
    c = intrinsics.from_bits(0x7EF31000 - intrinsics.bits(d))
    e = intrinsics.fma(-d, c, 1.0)
    c = intrinsics.fma(c, e, c)
    return intrinsics.fma(c, e * e, c)


def _rsqrt_f64(v):
    """1 / sqrt(v), error 2^-38; of zero some large number."""
    y = intrinsics.from_bits(0x5FE6E8E000000000 - (intrinsics.bits(v) >> 1))
    e = intrinsics.fma(-v * y, y, 1.0)
    y = intrinsics.fma(y, e * intrinsics.fma(e, 0.375, 0.5), y)
    e = intrinsics.fma(-v * y, y, 1.0)
    return intrinsics.fma(y, e * intrinsics.fma(e, 0.375, 0.5), y)


def _sqrt_wide_each(v):
    """(r, h) with r the square root of v but for at most a unit in its last place, and h = 1 / (2 r), which turns the rest of v into what r lacks."""
    c = _rsqrt_each(v)
    h = 0.5 * c
    r = v * c
    return intrinsics.fma(intrinsics.fma(-r, r, v), h, r), h


def _rsqrt_f32(v):
    """1 / sqrt(v), error 2^-17; of zero some large number."""
    y = intrinsics.from_bits(0x5F374740 - (intrinsics.bits(v) >> 1))
    e = intrinsics.fma(-v * y, y, 1.0)
    return intrinsics.fma(y, e * intrinsics.fma(e, intrinsics.fma(e, 0.3125, 0.375), 0.5), y)

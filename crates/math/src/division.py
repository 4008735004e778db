"""Inverse square roots and inverses by multiplication.

A vector unit divides and takes roots an order of magnitude slower than it multiplies, but beside other work: one division or root in thirty operations costs little
more than its place. A second one is made here. What is wanted of it is its low part, for which an inverse good to well over half of the digits serves: the exact
residual (fma) brings the rest. The first guess is an integer subtraction, which negates the exponent field (for roots: halves it, too) and is linear in the
fraction; its constant is the one for which the largest error is least. Steps of second to fourth order follow.

Arguments are normal numbers whose inverse is normal. Of a NaN comes some number: the residual carries it on.
"""

from weft import intrinsics


def _rsqrt_f64(v):
    """1 / sqrt(v), error 2^-38; of zero some large number."""
    y = intrinsics.from_bits(0x5FE6E8E000000000 - (intrinsics.bits(v) >> 1))
    e = intrinsics.fma(-v * y, y, 1.0)
    y = intrinsics.fma(y, e * intrinsics.fma(e, 0.375, 0.5), y)
    e = intrinsics.fma(-v * y, y, 1.0)
    return intrinsics.fma(y, e * intrinsics.fma(e, 0.375, 0.5), y)


def _rsqrt_f32(v):
    """1 / sqrt(v), error 2^-17; of zero some large number."""
    y = intrinsics.from_bits(0x5F374740 - (intrinsics.bits(v) >> 1))
    e = intrinsics.fma(-v * y, y, 1.0)
    return intrinsics.fma(y, e * intrinsics.fma(e, intrinsics.fma(e, 0.3125, 0.375), 0.5), y)


def _half_inverse_f64(r):
    """1 / (2 r) with an error of 2^-8: what it is multiplied with is small."""
    c = intrinsics.from_bits(0x7FCE620000000000 - intrinsics.bits(r))
    return intrinsics.fma(c, intrinsics.fma(-2.0 * r, c, 1.0), c)


def _half_inverse_f32(r):
    """1 / (2 r) with an error of 2^-8: what it is multiplied with is small."""
    c = intrinsics.from_bits(0x7E731000 - intrinsics.bits(r))
    return intrinsics.fma(c, intrinsics.fma(-2.0 * r, c, 1.0), c)

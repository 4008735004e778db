"""Shorter versions of cube root and length for callers with `fastmath=True`: at most 4 ULP on the usual ranges, which each names.

`cbrt_f32_fast` stands for `cbrt_f32` there; a function without such a definition is the same for all callers. No NaN or infinity is expected, subnormal
results may be zero. They are compiled as written, too, so that they give the same bits everywhere. Polynomials: generate/coefficients.py.
"""

from weft import intrinsics


def cbrt_f64_fast(x):
    """Cube root, wrong of subnormal numbers: a guess at the inverse, one step of fifth order, and one from the inverse to the root."""
    a = abs(x)
    c = _rcbrt_guess_f64(a)
    d = intrinsics.fma(-(a * c), c * c, 1.0)
    c = intrinsics.fma(c * d, _rcbrt_step_f64(d), c)
    w = a * c
    d = intrinsics.fma(-w, c * c, 1.0)
    y = w * c
    return intrinsics.copysign(intrinsics.fma(y * d, intrinsics.fma(d, 0.5555555555555556, 0.6666666666666666), y), x)


def hypot_f64_fast(x, y):
    """Length of (x, y) where its square neither overflows nor underflows.

    The guess at the inverse root r and its first step are those that together leave the least error, 2^-10.6.
    """
    v = intrinsics.fma(x, x, y * y)
    r = intrinsics.from_bits(0x5FE40383D1422800 - (intrinsics.bits(v) >> 1))
    r = r * intrinsics.fma((v * r) * r, -0.702736109331706, 1.6809447735214407)
    h = v * r
    d = intrinsics.fma(-h, r, 1.0)
    return intrinsics.fma(h * d, _root_tail_fast_f64(d), h)


def _root_tail_fast_f64(d):
    """(1 / sqrt(1 - d) - 1) / d for |d| <= 0.0013; error 2^-53.9."""
    p = intrinsics.fma(d, 0.27343789609138147, 0.3125005280176431)
    p = intrinsics.fma(d, p, 0.37499999999986783)
    return intrinsics.fma(d, p, 0.4999999999997734)


def cbrt_f32_fast(x):
    """Cube root, wrong of subnormal numbers: a guess at the inverse, and one step from the inverse to the root."""
    a = abs(x)
    c = _rcbrt_guess_f32(a)
    w = a * c
    d = intrinsics.fma(-w, c * c, 1.0)
    y = w * c
    return intrinsics.copysign(intrinsics.fma(y * d, _cbrt_step_fast_f32(d), y), x)


def _cbrt_step_fast_f32(d):
    """((1 - d)^(-2/3) - 1) / d for |d| <= 0.104; error 2^-28."""
    p = intrinsics.fma(d, 0.405448, 0.42984053)
    p = intrinsics.fma(d, p, 0.45264307)
    p = intrinsics.fma(d, p, 0.49378696)
    p = intrinsics.fma(d, p, 0.5555556)
    return intrinsics.fma(d, p, 0.66666675)


def hypot_f32_fast(x, y):
    """Length of (x, y) where its square neither overflows nor underflows."""
    v = intrinsics.fma(x, x, y * y)
    r = intrinsics.from_bits(0x5F374740 - (intrinsics.bits(v) >> 1))
    h = v * r
    d = intrinsics.fma(-h, r, 1.0)
    return intrinsics.fma(h * d, _root_tail_fast_f32(d), h)


def _root_tail_fast_f32(d):
    """(1 / sqrt(1 - d) - 1) / d for |d| <= 0.0695; error 2^-25.2."""
    p = intrinsics.fma(d, 0.2745722, 0.31401315)
    p = intrinsics.fma(d, p, 0.37499893)
    return intrinsics.fma(d, p, 0.49999815)

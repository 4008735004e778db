"""Shorter versions of trigonometric and hyperbolic functions for callers with `fastmath=True`: at most 4 ULP on the usual ranges, which each names.

`sin_f32_fast` stands for `sin_f32` there; a function without such a definition is the same for all callers. No NaN or infinity is expected, subnormal
results may be zero. They are compiled as written, too, so that they give the same bits everywhere. Polynomials: generate/coefficients.py.
"""

from weft import intrinsics


def sin_f64_fast(x):
    """Sine for |x| <= 1000: x less a multiple of pi, in three parts, and one polynomial up to pi/2."""
    shifted = intrinsics.fma(x, 0.3183098861837907, 6755399441055744.0)
    n = shifted - 6755399441055744.0
    r = intrinsics.fma(n, 2.9947698097183397e-33, intrinsics.fma(n, -1.2246467991473532e-16, intrinsics.fma(n, -3.141592653589793, x)))
    s = r * r
    y = intrinsics.fma(r * s, _sin_half_fast_f64(s), r)
    return intrinsics.from_bits(intrinsics.bits(y) ^ (intrinsics.bits(shifted) << 63))


def cos_f64_fast(x):
    """Cosine for |x| <= 1000: as the sine, of the distance from an odd multiple of pi/2."""
    shifted = intrinsics.fma(x, 0.3183098861837907, -0.5) + 6755399441055744.0
    n = (shifted - 6755399441055744.0) + 0.5
    r = intrinsics.fma(n, 2.9947698097183397e-33, intrinsics.fma(n, -1.2246467991473532e-16, intrinsics.fma(n, -3.141592653589793, x)))
    s = r * r
    y = intrinsics.fma(r * s, _sin_half_fast_f64(s), r)
    return intrinsics.from_bits(intrinsics.bits(y) ^ (~intrinsics.bits(shifted) << 63))


def _sin_half_fast_f64(s):
    """(sin(r) - r) / r^3 in s = r^2 <= (pi/2)^2; error 2^-61.54 of sin(r)."""
    w = s * s
    p = intrinsics.fma(w, -7.643019374311364e-13, -2.5052106904422922e-08)
    p = intrinsics.fma(w, p, -0.0001984126984121248)
    p = intrinsics.fma(w, p, -0.16666666666666666)
    o = intrinsics.fma(w, 2.7214196281699496e-15, 1.605894100232562e-10)
    o = intrinsics.fma(w, o, 2.7557319211569482e-06)
    o = intrinsics.fma(w, o, 0.008333333333333207)
    return intrinsics.fma(s, o, p)


def sin_f32_fast(x):
    """Sine for |x| <= 1000: x less a multiple of pi, in three parts, and one polynomial up to pi/2."""
    shifted = intrinsics.fma(x, 0.31830987, 12582912.0)
    n = shifted - 12582912.0
    r = intrinsics.fma(n, 3.430249e-15, intrinsics.fma(n, 8.742278e-08, intrinsics.fma(n, -3.1415927, x)))
    s = r * r
    y = intrinsics.fma(r * s, _sin_half_fast_f32(s), r)
    return intrinsics.from_bits(intrinsics.bits(y) ^ (intrinsics.bits(shifted) << 31))


def cos_f32_fast(x):
    """Cosine for |x| <= 1000: as the sine, of the distance from an odd multiple of pi/2."""
    shifted = intrinsics.fma(x, 0.31830987, -0.5) + 12582912.0
    n = (shifted - 12582912.0) + 0.5
    r = intrinsics.fma(n, 3.430249e-15, intrinsics.fma(n, 8.742278e-08, intrinsics.fma(n, -3.1415927, x)))
    s = r * r
    y = intrinsics.fma(r * s, _sin_half_fast_f32(s), r)
    return intrinsics.from_bits(intrinsics.bits(y) ^ (~intrinsics.bits(shifted) << 31))


def _sin_half_fast_f32(s):
    """(sin(r) - r) / r^3 in s = r^2 <= (pi/2)^2; error 2^-27.26 of sin(r)."""
    p = intrinsics.fma(s, 2.6060818e-06, -0.00019809774)
    p = intrinsics.fma(s, p, 0.008333069)
    return intrinsics.fma(s, p, -0.1666666)


def tanh_f32_fast(x):
    """Hyperbolic tangent: a polynomial up to 1/2, beyond 1 - 2 / (exp(2 x) + 1)."""
    a = abs(x)
    z = x * x
    near = intrinsics.fma(x * z, _tanh_tail_fast_f32(z), x)
    far = 1.0 - 2.0 / (exp_f32_fast(a + a) + 1.0)
    return intrinsics.select(a < 0.53, near, intrinsics.copysign(far, x))


def _tanh_tail_fast_f32(z):
    """(tanh(x) - x) / x^3 in z = x^2 <= 0.3; error 2^-24.75 of tanh(x)."""
    p = intrinsics.fma(z, 0.016475325, -0.052691035)
    p = intrinsics.fma(z, p, 0.13321015)
    return intrinsics.fma(z, p, -0.3333296)

"""Powers with a float exponent.

log|x| is found as a sum of two floats good to about 13 bits more than one, so that after multiplication by y, which makes its absolute error up
to 745 times larger, the exponential still sees enough. Signs, zeros, infinities and NaN are put right in a rare branch, as C99 F.10.4.4 says.
Polynomials: generate/coefficients.py.
"""

import numpy as np
from weft import intrinsics


def pow_f64(x, y):
    """x to the y. At most 1 ULP."""
    h, l = _log_parts_f64(x, 0.0)
    p, shifted, e = _pow_parts_f64(h, l, y)
    z = intrinsics.from_bits(intrinsics.bits(p) + (intrinsics.bits(shifted) << 52))
    b = intrinsics.bits(x)
    if (b < 0x10000000000000) | (b >= 0x7FF0000000000000) | (not abs(e) <= 708.0):
        z = _rare_pow_f64(x, y)
    return z


def _pow_parts_f64(h, l, y):
    """(p, shifted, e) with exp(y (h + l)) = 2^n p, n in the low bits of `shifted`, and e about y (h + l)."""
    e = y * h
    el = intrinsics.fma(y, l, intrinsics.fma(y, h, -e))
    shifted = intrinsics.fma(e + el, 1.4426950408889634, 6755399441055744.0)
    n = shifted - 6755399441055744.0
    r = intrinsics.fma(n, -0.6931471805599453, e)
    el = intrinsics.fma(n, -2.3190468138462996e-17, el)
    h = r + el
    return _exp_kernel_f64(h, (r - h) + el), shifted, e


def _rare_pow_f64(x, y):
    """x to the y where x is not a positive normal number or the result is not."""
    h, l = _log_wide_f64(abs(x))
    p, shifted, e = _pow_parts_f64(h, l, y)
    z = intrinsics.select(e > 709.79, np.inf, intrinsics.select(e < -745.14, 0.0, _scale_f64(p, shifted)))
    return _pow_edge_f64(x, y, z)


def _pow_edge_each(x, y, z):
    """x to the y where x is not positive or one of them is not finite; z is |x| to the y if that is an ordinary number."""
    a = abs(x)
    ends = (a == 0.0) | intrinsics.isinf(a) | (intrinsics.isinf(y) & (a != 1.0))
    z = intrinsics.select(ends, intrinsics.select((a > 1.0) == (y > 0.0), np.inf, 0.0), intrinsics.select(a == 1.0, 1.0, z))
    half = 0.5 * y
    odd = (intrinsics.rint(y) == y) & (intrinsics.rint(half) != half)
    z = intrinsics.select(intrinsics.signbit(x) & odd, -z, z)
    rootless = (x < 0.0) & (intrinsics.rint(y) != y) & (a < np.inf)
    z = intrinsics.select(rootless, np.nan, z)
    z = intrinsics.select(intrinsics.isnan(x) | intrinsics.isnan(y), np.nan, z)
    return intrinsics.select((y == 0.0) | (x == 1.0), 1.0, z)


def _log_wide_f64(x):
    """(h, l) with log x = h + l and l at most half a last place of h, relative error about 2^-66, for finite x > 0."""
    small = x < 2.2250738585072014e-308
    g, gl = _log_parts_f64(intrinsics.select(small, x * 18014398509481984.0, x), intrinsics.select(small, 54.0, 0.0))
    h = g + gl
    return h, (g - h) + gl


def _log_parts_f64(x, taken):
    """(h, l) with log x - taken ln 2 = h + l, l small beside h, relative error about 2^-66, for normal x > 0.

    With s = f / (2 + f) = u + v, u of half as many bits, 2 atanh(s) = u (2 + 2/3 u^2) + v (2 + 2 s u) + s^3 (2/3 - what u^2 was multiplied by + s^2 Q(s^2)):
    u^2 is exact, the first product is kept in two parts, and all else is so small beside it that plain floats do.
    """
    k, f = _log_split_f64(x)
    k = k - taken
    c = _log_inverse_f64(f)
    e = intrinsics.fma(-2.0 - f, c, 1.0)
    e = intrinsics.fma(e, e, e)
    s = f * c
    s = intrinsics.fma(s, e, s)
    u = intrinsics.from_bits(intrinsics.bits(s) & ~0x7FFFFFF)
    v = intrinsics.fma(-u, f, intrinsics.fma(-2.0, u, f)) * intrinsics.fma(c, e, c)
    s = u + v
    z = s * s
    square = u * u
    p = intrinsics.fma(square, 0.6666666666666666, 2.0)
    a = u * p
    l = intrinsics.fma(u, intrinsics.fma(square, 0.6666666666666666, 2.0 - p), intrinsics.fma(u, p, -a))
    l = intrinsics.fma(s * z, intrinsics.fma(z, _log_wide_tail_f64(z), 3.700743415417188e-17), l)
    l = intrinsics.fma(v, intrinsics.fma(s + s, u, 2.0), l)
    h = intrinsics.fma(k, 0.6931471805592082, a)
    l = (intrinsics.fma(k, 0.6931471805592082, -h) + a) + l
    return h, intrinsics.fma(k, 7.371002565167799e-13, l)


def _log_wide_tail_f64(z):
    """(2 atanh(s) - 2 s - 2/3 s^3) / s^5 in z = s^2 <= 0.0295; error 2^-65 of log."""
    w = z * z
    p = intrinsics.fma(w, 0.13197874686479574, 0.15386764072604087)
    p = intrinsics.fma(w, p, 0.22222222521478188)
    p = intrinsics.fma(w, p, 0.4000000000000227)
    o = intrinsics.fma(w, 0.13256655817399085, 0.18181784225720418)
    o = intrinsics.fma(w, o, 0.2857142857009123)
    return intrinsics.fma(z, o, p)


def pow_f32(x, y):
    """x to the y. At most 1 ULP."""
    h, l = _log_parts_f32(x, 0.0)
    p, shifted, e = _pow_parts_f32(h, l, y)
    z = intrinsics.from_bits(intrinsics.bits(p) + (intrinsics.bits(shifted) << 23))
    b = intrinsics.bits(x)
    if (b < 0x800000) | (b >= 0x7F800000) | (not abs(e) <= 87.0):
        z = _rare_pow_f32(x, y)
    return z


def _pow_parts_f32(h, l, y):
    """(p, shifted, e) with exp(y (h + l)) = 2^n p, n in the low bits of `shifted`, and e about y (h + l)."""
    e = y * h
    el = intrinsics.fma(y, l, intrinsics.fma(y, h, -e))
    shifted = intrinsics.fma(e + el, 1.442695, 12582912.0)
    n = shifted - 12582912.0
    r = intrinsics.fma(n, -0.6931472, e) + intrinsics.fma(n, 1.9046542e-09, el)
    return _exp_kernel_f32(r, 0.0), shifted, e


def _rare_pow_f32(x, y):
    """x to the y where x is not a positive normal number or the result is not."""
    h, l = _log_wide_f32(abs(x))
    p, shifted, e = _pow_parts_f32(h, l, y)
    z = intrinsics.select(e > 88.73, np.inf, intrinsics.select(e < -103.98, 0.0, _scale_f32(p, shifted)))
    return _pow_edge_f32(x, y, z)


def _log_wide_f32(x):
    """(h, l) with log x = h + l and l at most half a last place of h, relative error about 2^-35, for finite x > 0."""
    small = x < 1.1754944e-38
    g, gl = _log_parts_f32(intrinsics.select(small, x * 33554432.0, x), intrinsics.select(small, 25.0, 0.0))
    h = g + gl
    return h, (g - h) + gl


def _log_parts_f32(x, taken):
    """(h, l) with log x - taken ln 2 = h + l, l small beside h, relative error about 2^-35, for normal x > 0.

    With s = f / (2 + f) = u + v, u of half as many bits, 2 atanh(s) = u (2 + 2/3 u^2) + v (2 + 2 s u) + s^3 (2/3 - what u^2 was multiplied by + s^2 Q(s^2)):
    u^2 is exact, the first product's sum with k ln 2 is kept in two parts, and all else is so small beside it that plain floats do.
    """
    k, f = _log_split_f32(x)
    k = k - taken
    c = 1.0 / (2.0 + f)
    s = f * c
    u = intrinsics.from_bits(intrinsics.bits(s) & ~0xFFF)
    v = intrinsics.fma(-u, f, intrinsics.fma(-2.0, u, f)) * c
    z = s * s
    square = u * u
    p = intrinsics.fma(square, 0.6666667, 2.0)
    a = k * 0.69311523
    h = intrinsics.fma(u, p, a)
    l = intrinsics.fma(u, intrinsics.fma(square, 0.6666667, 2.0 - p), intrinsics.fma(u, p, a - h))
    l = intrinsics.fma(s * z, intrinsics.fma(z, _log_wide_tail_f32(z), -1.9868216e-08), l)
    l = intrinsics.fma(v, intrinsics.fma(s + s, u, 2.0), l)
    return h, intrinsics.fma(k, 3.1946183e-05, l)


def _log_wide_tail_f32(z):
    """(2 atanh(s) - 2 s - 2/3 s^3) / s^5 in z = s^2 <= 0.0295; error 2^-35.8 of log."""
    p = intrinsics.fma(z, 0.23419768, 0.28547087)
    return intrinsics.fma(z, p, 0.40000153)

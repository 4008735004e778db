"""Functions that take floats apart: IEEE remainder, neighbours and their distance, powers of two, fraction and exponent. All are exact."""

import numpy as np
from weft import intrinsics


def remainder_f64(x, y):
    """x - n y with the integer n next to x / y, the even one of two: exact. IEEE 754's remainder."""
    b = abs(y)
    r = np.fmod(abs(x), b + b)
    over = r > b - r
    s = intrinsics.select(over, r - b, r)
    s = intrinsics.select(over & (s >= b - s), s - b, s)
    return intrinsics.from_bits(intrinsics.bits(s) ^ (intrinsics.bits(x) & (-1 << 63)))


def remainder_f32(x, y):
    """x - n y with the integer n next to x / y, the even one of two: exact. IEEE 754's remainder."""
    b = abs(y)
    r = np.fmod(abs(x), b + b)
    over = r > b - r
    s = intrinsics.select(over, r - b, r)
    s = intrinsics.select(over & (s >= b - s), s - b, s)
    return intrinsics.from_bits(intrinsics.bits(s) ^ (intrinsics.bits(x) & (-1 << 31)))


def nextafter_f64(x, y):
    """The float after x on the way to y."""
    b = intrinsics.bits(x)
    away = (y > x) == (x > 0.0)
    z = intrinsics.from_bits(intrinsics.select(away, b + 1, b - 1))
    z = intrinsics.select(x == 0.0, intrinsics.copysign(5e-324, y), z)
    z = intrinsics.select(x == y, y, z)
    return intrinsics.select(intrinsics.isnan(x) | intrinsics.isnan(y), np.nan, z)


def nextafter_f32(x, y):
    """The float after x on the way to y."""
    b = intrinsics.bits(x)
    away = (y > x) == (x > 0.0)
    z = intrinsics.from_bits(intrinsics.select(away, b + 1, b - 1))
    z = intrinsics.select(x == 0.0, intrinsics.copysign(1e-45, y), z)
    z = intrinsics.select(x == y, y, z)
    return intrinsics.select(intrinsics.isnan(x) | intrinsics.isnan(y), np.nan, z)


def ldexp_f64(x, n):
    """x 2^n for a whole number n, rounded once.

    Steps down are by 2^-969: where one of them underflows, the next leaves nothing, so that no result is rounded twice.
    """
    n = intrinsics.select(n > 4000.0, 4000.0, intrinsics.select(n < -4000.0, -4000.0, n))
    x, n = _ldexp_step_f64(x, n)
    x, n = _ldexp_step_f64(x, n)
    n = intrinsics.select(n > 1023.0, 1023.0, intrinsics.select(n < -1022.0, -1022.0, n))
    return x * intrinsics.from_bits((np.int64(n) + 1023) << 52)


def _ldexp_step_f64(x, n):
    """A step towards x 2^n if n is too large or small for one."""
    large = n > 1023.0
    small = n < -1022.0
    x = x * intrinsics.select(large, 8.98846567431158e307, intrinsics.select(small, 2.004168360008973e-292, 1.0))
    return x, n - intrinsics.select(large, 1023.0, intrinsics.select(small, -969.0, 0.0))


def ldexp_f32(x, n):
    """x 2^n for a whole number n, rounded once.

    Steps down are by 2^-102: where one of them underflows, the next leaves nothing, so that no result is rounded twice.
    """
    n = intrinsics.select(n > 1000.0, 1000.0, intrinsics.select(n < -1000.0, -1000.0, n))
    x, n = _ldexp_step_f32(x, n)
    x, n = _ldexp_step_f32(x, n)
    n = intrinsics.select(n > 127.0, 127.0, intrinsics.select(n < -126.0, -126.0, n))
    return x * intrinsics.from_bits((np.int32(n) + 127) << 23)


def _ldexp_step_f32(x, n):
    """A step towards x 2^n if n is too large or small for one."""
    large = n > 127.0
    small = n < -126.0
    x = x * intrinsics.select(large, 1.7014118346046923e38, intrinsics.select(small, 1.9721522630525295e-31, 1.0))
    return x, n - intrinsics.select(large, 127.0, intrinsics.select(small, -102.0, 0.0))


def frexp_f64(x):
    """(m, n) with x = m 2^n and 1/2 <= |m| < 1; zeros, infinities and NaN give themselves and 0."""
    small = abs(x) < 2.2250738585072014e-308
    b = intrinsics.bits(intrinsics.select(small, x * 18014398509481984.0, x))
    n = ((b >> 52) & 0x7FF) - 1022
    n = intrinsics.select(small, n - 54, n)
    m = intrinsics.from_bits((b & ~(0x7FF << 52)) | 0x3FE0000000000000)
    plain = (x != 0.0) & (abs(x) < np.inf)
    return intrinsics.select(plain, m, x), np.int32(intrinsics.select(plain, n, 0))


def logb_f64(x):
    """The exponent of x as a float: x = m 2^n with 1 <= |m| < 2. Zero gives -inf, infinities inf."""
    _, n = frexp_f64(x)
    y = intrinsics.select(x == 0.0, -np.inf, np.float64(n) - 1.0)
    return intrinsics.select(abs(x) < np.inf, y, abs(x))


def ilogb_each(x):
    """The exponent of x as an int32. Infinities give the largest, zero and NaN the least, as CUDA has it."""
    _, n = frexp_each(x)
    y = intrinsics.select((x == 0.0) | intrinsics.isnan(x), np.int32(-2147483648), n - np.int32(1))
    return intrinsics.select(intrinsics.isinf(x), np.int32(2147483647), y)


def spacing_each(x):
    """The distance from x to the next float away from zero, with the sign of x. NumPy's: a zero's is positive, an infinity's NaN."""
    z = intrinsics.select(x == 0.0, 0.0, x)
    return intrinsics.from_bits(intrinsics.bits(z) + 1) - z


def ulp_f64(x):
    """The value of the last place of |x|. Python's: infinite for infinities, finite for the largest float."""
    a = abs(x)
    y = intrinsics.from_bits(intrinsics.bits(a) + 1) - a
    y = intrinsics.select(intrinsics.isinf(y), 1.99584030953472e292, y)
    return intrinsics.select(a < np.inf, y, a)


def frexp_f32(x):
    """(m, n) with x = m 2^n and 1/2 <= |m| < 1; zeros, infinities and NaN give themselves and 0."""
    small = abs(x) < 1.1754944e-38
    b = intrinsics.bits(intrinsics.select(small, x * 33554432.0, x))
    n = ((b >> 23) & 0xFF) - 126
    n = intrinsics.select(small, n - 25, n)
    m = intrinsics.from_bits((b & ~(0xFF << 23)) | 0x3F000000)
    plain = (x != 0.0) & (abs(x) < np.inf)
    return intrinsics.select(plain, m, x), np.int32(intrinsics.select(plain, n, 0))


def logb_f32(x):
    """The exponent of x as a float: x = m 2^n with 1 <= |m| < 2. Zero gives -inf, infinities inf."""
    _, n = frexp_f32(x)
    y = intrinsics.select(x == 0.0, -np.inf, np.float32(n) - 1.0)
    return intrinsics.select(abs(x) < np.inf, y, abs(x))


def ulp_f32(x):
    """The value of the last place of |x|. Python's: infinite for infinities, finite for the largest float."""
    a = abs(x)
    y = intrinsics.from_bits(intrinsics.bits(a) + 1) - a
    y = intrinsics.select(intrinsics.isinf(y), 2.028241e31, y)
    return intrinsics.select(a < np.inf, y, a)


def modf_any(x):
    """Fraction and whole part, both with the sign of x."""
    whole = intrinsics.trunc(x)
    fraction = intrinsics.select(intrinsics.isinf(x), 0.0, x - whole)
    return intrinsics.copysign(fraction, x), whole


def heaviside_any(x, middle):
    """0 below zero, 1 above, `middle` at zero."""
    y = intrinsics.select(x < 0.0, 0.0, intrinsics.select(x > 0.0, 1.0, x))
    return intrinsics.select(x == 0.0, middle, y)


def isclose_any(a, b, relative, absolute):
    """Equal, or finite and no further apart than the larger one times `relative`, or than `absolute`."""
    d = abs(a - b)
    near = (d <= abs(relative * b)) | (d <= abs(relative * a)) | (d <= absolute)
    return (a == b) | (near & (d < np.inf))


def near_any(a, b, relative, absolute):
    """NumPy's closeness: equal, or finite and no further from b than its size times `relative`, and `absolute`."""
    d = abs(a - b)
    return (a == b) | ((d <= absolute + relative * abs(b)) & (d < np.inf))

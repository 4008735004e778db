"""Functions that take floats apart: IEEE remainder, neighbours, powers of two."""

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

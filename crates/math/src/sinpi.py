"""Sine, cosine and tangent of pi x, and the normalised sinc.

x is brought to [-1/4, 1/4] plus halves, which is exact, and pi times the rest is a sum of two floats: no argument is too large, and half and whole
numbers give exact results. Signs of zeros are C23's (F.10.1.11 to F.10.1.14).
"""

import numpy as np
from weft import intrinsics


def sinpi_f64(x):
    """sin(pi x). At most 1 ULP. At whole numbers a zero with the sign of x."""
    q, h, l = _half_turns_f64(abs(x))
    y = intrinsics.select((q & 1) != 0, _cos_kernel_f64(h, l), _sin_kernel_f64(h, l))
    y = intrinsics.from_bits(intrinsics.bits(y) ^ ((q & 2) << 62) ^ (intrinsics.bits(x) & (-1 << 63)))
    return intrinsics.select(y == 0.0, intrinsics.copysign(0.0, x), y)


def cospi_f64(x):
    """cos(pi x). At most 1 ULP. Halfway between whole numbers it is +0."""
    q, h, l = _half_turns_f64(abs(x))
    y = intrinsics.select((q & 1) != 0, _sin_kernel_f64(h, l), _cos_kernel_f64(h, l))
    y = intrinsics.from_bits(intrinsics.bits(y) ^ (((q + 1) & 2) << 62))
    return intrinsics.select(y == 0.0, 0.0, y)


def tanpi_f64(x):
    """tan(pi x). At most 1 ULP. Halfway between whole numbers it is infinite, with turns of sign, as are zeros."""
    q, h, l = _half_turns_f64(abs(x))
    y = _tan_kernel_f64(q, h, l)
    whole = intrinsics.select((q & 1) != 0, np.inf, h)
    y = intrinsics.select(h == 0.0, intrinsics.from_bits(intrinsics.bits(whole) ^ ((q & 2) << 62)), y)
    return intrinsics.from_bits(intrinsics.bits(y) ^ (intrinsics.bits(x) & (-1 << 63)))


def sinc_f64(x):
    """sin(pi x) / (pi x), which is 1 at 0. At most 2 ULP. Up to 1/4 it is the sine's polynomial, beyond a quotient with its residual."""
    s = sinpi_f64(x)
    d = x * 3.141592653589793
    dl = intrinsics.fma(x, 1.2246467991473532e-16, intrinsics.fma(x, 3.141592653589793, -d))
    near = abs(x) <= 0.25
    z = intrinsics.select(near, d * d, 0.0)
    d = intrinsics.select(near, 1.0, d)
    y = s / d
    y = y + intrinsics.fma(-y, dl, intrinsics.fma(-y, d, s)) / d
    y = intrinsics.select(near, intrinsics.fma(z, _sin_tail_f64(z), 1.0), y)
    return intrinsics.select(abs(x) > 9007199254740992.0, abs(s * 0.0), y)


def _half_turns_f64(a):
    """(q, h, l) with pi a = q pi/2 + h + l modulo 2 pi, for a >= 0."""
    f = a - 2.0 * intrinsics.floor(0.5 * a)
    shifted = intrinsics.fma(2.0, f, 6755399441055744.0)
    r = intrinsics.fma(-0.5, shifted - 6755399441055744.0, f)
    h = r * 3.141592653589793
    return intrinsics.bits(shifted), h, intrinsics.fma(r, 1.2246467991473532e-16, intrinsics.fma(r, 3.141592653589793, -h))


def sinpi_f32(x):
    """sin(pi x). At most 1 ULP. At whole numbers a zero with the sign of x."""
    q, h, l = _half_turns_f32(abs(x))
    y = intrinsics.select((q & 1) != 0, _cos_kernel_f32(h, l), _sin_kernel_f32(h, l))
    y = intrinsics.from_bits(intrinsics.bits(y) ^ ((q & 2) << 30) ^ (intrinsics.bits(x) & (-1 << 31)))
    return intrinsics.select(y == 0.0, intrinsics.copysign(0.0, x), y)


def cospi_f32(x):
    """cos(pi x). At most 1 ULP. Halfway between whole numbers it is +0."""
    q, h, l = _half_turns_f32(abs(x))
    y = intrinsics.select((q & 1) != 0, _sin_kernel_f32(h, l), _cos_kernel_f32(h, l))
    y = intrinsics.from_bits(intrinsics.bits(y) ^ (((q + 1) & 2) << 30))
    return intrinsics.select(y == 0.0, 0.0, y)


def tanpi_f32(x):
    """tan(pi x). At most 1 ULP. Halfway between whole numbers it is infinite, with turns of sign, as are zeros."""
    q, h, l = _half_turns_f32(abs(x))
    y = _tan_kernel_f32(q, h, l)
    whole = intrinsics.select((q & 1) != 0, np.inf, h)
    y = intrinsics.select(h == 0.0, intrinsics.from_bits(intrinsics.bits(whole) ^ ((q & 2) << 30)), y)
    return intrinsics.from_bits(intrinsics.bits(y) ^ (intrinsics.bits(x) & (-1 << 31)))


def sinc_f32(x):
    """sin(pi x) / (pi x), which is 1 at 0. At most 2 ULP. Up to 1/4 it is the sine's polynomial, beyond a quotient with its residual."""
    s = sinpi_f32(x)
    d = x * 3.1415927
    dl = intrinsics.fma(x, -8.742278e-08, intrinsics.fma(x, 3.1415927, -d))
    near = abs(x) <= 0.25
    z = intrinsics.select(near, d * d, 0.0)
    d = intrinsics.select(near, 1.0, d)
    y = s / d
    y = y + intrinsics.fma(-y, dl, intrinsics.fma(-y, d, s)) / d
    y = intrinsics.select(near, intrinsics.fma(z, _sin_tail_f32(z), 1.0), y)
    return intrinsics.select(abs(x) > 16777216.0, abs(s * 0.0), y)


def _half_turns_f32(a):
    """(q, h, l) with pi a = q pi/2 + h + l modulo 2 pi, for a >= 0."""
    f = a - 2.0 * intrinsics.floor(0.5 * a)
    shifted = intrinsics.fma(2.0, f, 12582912.0)
    r = intrinsics.fma(-0.5, shifted - 12582912.0, f)
    h = r * 3.1415927
    return intrinsics.bits(shifted), h, intrinsics.fma(r, -8.742278e-08, intrinsics.fma(r, 3.1415927, -h))

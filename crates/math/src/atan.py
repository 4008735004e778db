"""Arc tangents of one and two arguments.

Both come down to atan(a / b) with 0 <= a <= b, added to the angle where the quadrant starts. One division serves the quotient and its
correction. Quotients above 0.3125 are turned by atan(1/2): (a - b/2) / (b + a/2), whose numerator is exact, so that one polynomial on
[-1/3, 1/3] is enough. Polynomials: generate/coefficients.py.
"""

import numpy as np
from weft import intrinsics


def atan_f64(x):
    """Arc tangent. At most 1 ULP."""
    a = abs(x)
    steep = a > 1.0
    n = intrinsics.select(steep, 1.0, a)
    d = intrinsics.select(steep, intrinsics.select(a > 1e300, 1e300, a), 1.0)
    return intrinsics.copysign(_atan_ratio_f64(n, d, intrinsics.select(steep, -1.5707963267341256, 0.0)), x)


def atan2_f64(y, x):
    """Angle of the point (x, y), in (-pi, pi]. At most 1 ULP. Zeros and infinities as C99 F.10.1.4."""
    ax = abs(x)
    ay = abs(y)
    steep = ay > ax
    a = intrinsics.select(steep, ax, ay)
    b = intrinsics.select(steep, ay, ax)
    if (a < 1e-300) | (b > 1e300):
        a, b = _atan_rescale_f64(a, b)
    left = intrinsics.signbit(x)
    base = intrinsics.select(
        steep,
        intrinsics.select(left, 1.5707963267341256, -1.5707963267341256),
        intrinsics.select(left, -3.1415926534682512, 0.0),
    )
    return intrinsics.copysign(_atan_ratio_f64(a, b, base), y)


def _atan_rescale_f64(a, b):
    """a and b brought to where 1 / b and the quotient's remainder are normal numbers: zero over zero is 0, equal infinities are 1."""
    endless = intrinsics.isinf(b)
    a = intrinsics.select(endless, intrinsics.select(intrinsics.isinf(a), 1.0, a * 0.0), a)
    b = intrinsics.select(endless, 1.0, b)
    scale = intrinsics.select(b > 1e150, 7.458340731200207e-155, 1.3407807929942597e154)
    a = a * scale
    return a, intrinsics.select(b == 0.0, 1.0, b * scale)


def _atan_ratio_f64(a, b, base):
    """base + atan(a / b) for 0 <= a <= b; base is a multiple of the short constant for pi/2.

    The constants' low parts are a fixed ratio of their high parts. The sign of the result is left to the caller, who knows the quadrant.
    """
    turned = a > 0.3125 * b
    n = intrinsics.select(turned, intrinsics.fma(-0.5, b, a), a)
    d = intrinsics.select(turned, intrinsics.fma(0.5, a, b), b)
    inverse = 1.0 / d
    u = n * inverse
    e = intrinsics.fma(-u, d, n)
    low = intrinsics.fma(e, inverse, intrinsics.select(turned, 6.29981671855921e-12, 0.0))
    s = u * u
    low = intrinsics.fma(u * s, _atan_tail_f64(s), low)
    start = base + intrinsics.select(turned, 0.4636476089945063, 0.0)
    h = start + u
    return h + intrinsics.fma(base, 3.868802341256562e-11, ((start - h) + u) + low)


def _atan_tail_f64(s):
    """(atan(u) - u) / u^3 in s = u^2 <= 1/9; error 2^-55.8 of atan(u)/u."""
    z = s * s
    p = intrinsics.fma(z, -0.032588821487271935, -0.06614303485642689)
    p = intrinsics.fma(z, p, -0.09090722925689465)
    p = intrinsics.fma(z, p, -0.14285714199623908)
    p = intrinsics.fma(z, p, -0.33333333333331455)
    o = intrinsics.fma(z, 0.05456873673198353, 0.0768834865075768)
    o = intrinsics.fma(z, o, 0.11111105796419908)
    o = intrinsics.fma(z, o, 0.19999999999315088)
    return intrinsics.fma(s, o, p)


def atan_f32(x):
    """Arc tangent. At most 1 ULP."""
    a = abs(x)
    steep = a > 1.0
    n = intrinsics.select(steep, 1.0, a)
    d = intrinsics.select(steep, intrinsics.select(a > 1e37, 1e37, a), 1.0)
    return intrinsics.copysign(_atan_ratio_f32(n, d, intrinsics.select(steep, np.float32(-1.5703125), np.float32(0.0))), x)


def atan2_f32(y, x):
    """Angle of the point (x, y), in (-pi, pi]. At most 1 ULP. Zeros and infinities as C99 F.10.1.4."""
    ax = abs(x)
    ay = abs(y)
    steep = ay > ax
    a = intrinsics.select(steep, ax, ay)
    b = intrinsics.select(steep, ay, ax)
    if (a < 1e-30) | (b > 1e37):
        a, b = _atan_rescale_f32(a, b)
    left = intrinsics.signbit(x)
    base = intrinsics.select(
        steep,
        intrinsics.select(left, np.float32(1.5703125), np.float32(-1.5703125)),
        intrinsics.select(left, np.float32(-3.140625), np.float32(0.0)),
    )
    return intrinsics.copysign(_atan_ratio_f32(a, b, base), y)


def _atan_rescale_f32(a, b):
    """As _atan_rescale_f64."""
    endless = intrinsics.isinf(b)
    a = intrinsics.select(endless, intrinsics.select(intrinsics.isinf(a), 1.0, a * 0.0), a)
    b = intrinsics.select(endless, 1.0, b)
    scale = intrinsics.select(b > 1e18, np.float32(5.421010862427522e-20), np.float32(1.8446744073709552e19))
    a = a * scale
    return a, intrinsics.select(b == 0.0, 1.0, b * scale)


def _atan_ratio_f32(a, b, base):
    """As _atan_ratio_f64."""
    turned = a > 0.3125 * b
    n = intrinsics.select(turned, intrinsics.fma(-0.5, b, a), a)
    d = intrinsics.select(turned, intrinsics.fma(0.5, a, b), b)
    inverse = 1.0 / d
    u = n * inverse
    e = intrinsics.fma(-u, d, n)
    low = intrinsics.fma(e, inverse, intrinsics.select(turned, np.float32(2.4562125e-05), np.float32(0.0)))
    s = u * u
    low = intrinsics.fma(u * s, _atan_tail_f32(s), low)
    start = base + intrinsics.select(turned, np.float32(0.463623046875), np.float32(0.0))
    h = start + u
    return h + intrinsics.fma(base, 0.0003081086, ((start - h) + u) + low)


def _atan_tail_f32(s):
    """(atan(u) - u) / u^3 in s = u^2 <= 1/9; error 2^-28 of atan(u)/u."""
    p = intrinsics.fma(s, 0.08978259, -0.14096166)
    p = intrinsics.fma(s, p, 0.199932)
    return intrinsics.fma(s, p, -0.33333257)

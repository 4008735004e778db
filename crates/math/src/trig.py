"""Sine, cosine and tangent.

Arguments are reduced to [-pi/4, pi/4] after Cody and Waite: the multiple of pi/2 is subtracted in three parts, each product
exact, so that the remainder is known to about twice the working precision (r + rl). Both kernel polynomials are evaluated and
the quadrant selects. Arguments past the reach of three parts take a rare branch with Payne and Hanek's reduction.
Polynomials: generate/coefficients.py.
"""

import numpy as np
from weft import intrinsics

# 2/pi, 53 bits in each, times 2^512.
TWO_OVER_PI = np.array(
    [
        8.535675632308307e153,
        9.608698730048264e137,
        1.3651380051473272e122,
        1.133360722954605e106,
        4.674192163927224e89,
        6.436725708970157e73,
        1.5412913551904322e56,
        1.5778868323016484e42,
        5.0355754258984466e25,
        22258861188.91254,
        2.8700345619838524e-06,
        3.3239162284304317e-22,
        1.3551671504051687e-38,
        1.6407452549206e-54,
        2.9294781843680784e-70,
        2.282564087305251e-86,
        3.5386063910757366e-102,
        7.2117252299611645e-118,
        6.254157346918886e-134,
        9.498587618271607e-150,
        7.002120296992156e-166,
        4.6243397618683684e-182,
    ]
)

# 2/pi, 24 bits in each, times 2^64.
TWO_OVER_PI_F32 = np.array(
    [
        1.1743562e19,
        473759480000.0,
        5417.985,
        0.00011204601,
        4.735292e-12,
        4.64566e-20,
        1.9341026e-27,
        1.0852749e-34,
    ],
    dtype=np.float32,
)


def sin_f64(x):
    """Sine. At most 0.9 ULP."""
    a = abs(x)
    q, r, rl = _trig_reduce_f64(a)
    if a >= 1647000.0:
        q, r, rl = _rare_trig_reduce_f64(a)
    y = intrinsics.select((q & 1) != 0, _cos_kernel_f64(r, rl), _sin_kernel_f64(r, rl))
    return intrinsics.from_bits(intrinsics.bits(y) ^ ((q & 2) << 62) ^ (intrinsics.bits(x) & (-1 << 63)))


def cos_f64(x):
    """Cosine. At most 0.9 ULP."""
    a = abs(x)
    q, r, rl = _trig_reduce_f64(a)
    if a >= 1647000.0:
        q, r, rl = _rare_trig_reduce_f64(a)
    y = intrinsics.select((q & 1) != 0, _sin_kernel_f64(r, rl), _cos_kernel_f64(r, rl))
    return intrinsics.from_bits(intrinsics.bits(y) ^ (((q + 1) & 2) << 62))


def sincos_f64(x):
    """Sine and cosine of one argument, with one reduction. At most 0.9 ULP each."""
    a = abs(x)
    q, r, rl = _trig_reduce_f64(a)
    if a >= 1647000.0:
        q, r, rl = _rare_trig_reduce_f64(a)
    s = _sin_kernel_f64(r, rl)
    c = _cos_kernel_f64(r, rl)
    odd = (q & 1) != 0
    u = intrinsics.bits(intrinsics.select(odd, c, s))
    v = intrinsics.bits(intrinsics.select(odd, s, c))
    u = u ^ ((q & 2) << 62) ^ (intrinsics.bits(x) & (-1 << 63))
    v = v ^ (((q + 1) & 2) << 62)
    return intrinsics.from_bits(u), intrinsics.from_bits(v)


def tan_f64(x):
    """Tangent. At most 1 ULP."""
    q, r, rl = _trig_reduce_f64(x)
    if abs(x) >= 1647000.0:
        q, r, rl = _rare_trig_reduce_f64(x)
    return _tan_kernel_f64(q, r, rl)


def _tan_kernel_each(q, r, rl):
    """tan(q pi/2 + r + rl) for |r| <= pi/4: one polynomial, and in odd quadrants the inverse of the sum of two that it gives."""
    s = r * r
    v = r * s
    t = _tan_tail_each(s)
    h = intrinsics.fma(v, t, r)
    # What r lacks, at the slope 1 + tan^2; what s lacks, at the slope tan^2 / (2 r), which is about 0.6 tan where it counts.
    l = intrinsics.fma(0.6 * h, intrinsics.fma(r, r, -s), intrinsics.fma(h * h, rl, rl))
    v = intrinsics.fma(v, t, l)
    h = r + v
    c = -1.0 / h
    c = intrinsics.fma(c, intrinsics.fma(c, v, intrinsics.fma(c, r, 1.0)), c)
    return intrinsics.select((q & 1) != 0, c, h)


def _tan_tail_f64(s):
    """(tan(r) - r) / r^3 in s = r^2 <= (pi/4)^2; error 2^-56 of tan(r)/r."""
    z = s * s
    p = intrinsics.fma(z, 2.0901503131469378e-05, 8.97447266037238e-05)
    p = intrinsics.fma(z, p, 0.0001367494571701889)
    p = intrinsics.fma(z, p, 0.0005951012787681632)
    p = intrinsics.fma(z, p, 0.003592290495175403)
    p = intrinsics.fma(z, p, 0.02186948962006457)
    p = intrinsics.fma(z, p, 0.13333333333415584)
    o = intrinsics.fma(z, -4.5034997817579847e-05, -2.6703073620182753e-05)
    o = intrinsics.fma(z, o, 0.000222271581024628)
    o = intrinsics.fma(z, o, 0.001454749324574014)
    o = intrinsics.fma(z, o, 0.008863219007871247)
    o = intrinsics.fma(z, o, 0.0539682539262077)
    p = intrinsics.fma(s, o, p)
    return intrinsics.fma(s, p, 0.3333333333333277)


def _sin_kernel_each(r, rl):
    """sin(r + rl) for |r| <= pi/4: r + (r^3 P(r^2) + rl)."""
    s = intrinsics.fma(r, r, (r + r) * rl)
    return r + intrinsics.fma(r * s, _sin_tail_each(s), rl)


def _sin_tail_f64(s):
    """(sin(r) - r) / r^3 in s = r^2 <= (pi/4)^2; error 2^-58 of sin(r)/r."""
    p = intrinsics.fma(s, 1.589679608061489e-10, -2.5050758486425127e-08)
    p = intrinsics.fma(s, p, 2.755731369733026e-06)
    p = intrinsics.fma(s, p, -0.00019841269829835674)
    p = intrinsics.fma(s, p, 0.008333333333322472)
    return intrinsics.fma(s, p, -0.16666666666666632)


def _cos_kernel_each(r, rl):
    """cos(r + rl) for |r| <= pi/4: 1 + s (-1/2 + s C(s)) with s the square of both parts, so that only one rounding is of 1."""
    s = intrinsics.fma(r, r, (r + r) * rl)
    return intrinsics.fma(s, intrinsics.fma(s, _cos_tail_each(s), -0.5), 1.0)


def _cos_tail_f64(s):
    """(cos(r) - 1 + s/2) / s^2 in s = r^2 <= (pi/4)^2; error 2^-64 of cos(r)."""
    p = intrinsics.fma(s, -1.1359865089206099e-11, 2.087572811225347e-09)
    p = intrinsics.fma(s, p, -2.755731439387462e-07)
    p = intrinsics.fma(s, p, 2.4801587289652868e-05)
    p = intrinsics.fma(s, p, -0.0013888888888874457)
    return intrinsics.fma(s, p, 0.0416666666666666)


def _trig_reduce_f64(a):
    """(q, r, rl) with a = q pi/2 + r + rl, for |a| < 2^20 pi/2; only the low bits of q count.

    The first product is exact under fma and so is its difference with a; pi/2's second part has 33 bits, so that n times it is exact too.
    All parts of pi/2 have one sign, and rl is minus zero where it is nothing: so r + rl has the sign of a zero a.
    """
    shifted = intrinsics.fma(a, 0.6366197723675814, 6755399441055744.0)
    n = shifted - 6755399441055744.0
    r0 = intrinsics.fma(n, -1.5707963267948966, a)
    r = intrinsics.fma(n, -6.12323399538461e-17, r0)
    rl = intrinsics.fma(n, -6.12323399538461e-17, -(r - r0))
    return intrinsics.bits(shifted), r, intrinsics.fma(n, -3.5215598651832e-27, rl)


def _rare_trig_reduce_f64(a):
    """(q, r, rl) with a = q pi/2 + r + rl modulo 2 pi, for any |a| >= 2^20. Infinity gives NaN.

    After Payne and Hanek, "Radian reduction for trigonometric functions", SIGNUM Newsletter 18 (1983), in floats: the product of a with each piece of
    2/pi is taken exactly, as two floats. Whole multiples of four leave each at once, and the rests are summed in three parts. The closest any
    double comes to a multiple of pi/2 is about 2^-61, so 100 bits stay good.
    """
    a = a * 7.458340731200207e-155
    h = 0.0 * a
    m = h
    l = h
    for i in range(22):
        h, m, l = _trig_turns_f64(h, m, l, a, TWO_OVER_PI[i])
    shifted = h + 6755399441055744.0
    t, l = _trig_rest_f64(h - (shifted - 6755399441055744.0), m, l)
    r = t * 1.5707963267948966
    rl = intrinsics.fma(t, 1.5707963267948966, -r)
    rl = intrinsics.fma(t, 6.123233995736766e-17, intrinsics.fma(l, 1.5707963267948966, rl))
    t = r + rl
    return intrinsics.bits(shifted), t, (r - t) + rl


def _trig_turns_each(h, m, l, a, piece):
    """h + m + l + a piece in three parts, but for multiples of four."""
    p = a * piece
    e = intrinsics.fma(a, piece, -p)
    h, m, l = _trig_sum_each(h, m, l, intrinsics.fma(-4.0, intrinsics.rint(0.25 * p), p))
    return _trig_sum_each(h, m, l, intrinsics.fma(-4.0, intrinsics.rint(0.25 * e), e))


def _trig_sum_each(h, m, l, p):
    """h + m + l + p in three parts, the first two without error (D. Knuth's sum of two numbers and what its rounding lost)."""
    s = h + p
    b = s - h
    p = (h - (s - b)) + (p - b)
    u = m + p
    b = u - m
    p = (m - (u - b)) + (p - b)
    return s, u, l + p


def _trig_rest_each(f, m, l):
    """f + m + l in two parts, for |f| above |m|."""
    t = f + m
    return t, ((f - t) + m) + l


def sin_f32(x):
    """Sine. At most 0.9 ULP."""
    a = abs(x)
    q, r, rl = _trig_reduce_f32(a)
    if a >= 6400.0:
        q, r, rl = _rare_trig_reduce_f32(a)
    y = intrinsics.select((q & 1) != 0, _cos_kernel_f32(r, rl), _sin_kernel_f32(r, rl))
    return intrinsics.from_bits(intrinsics.bits(y) ^ ((q & 2) << 30) ^ (intrinsics.bits(x) & (-1 << 31)))


def cos_f32(x):
    """Cosine. At most 0.9 ULP."""
    a = abs(x)
    q, r, rl = _trig_reduce_f32(a)
    if a >= 6400.0:
        q, r, rl = _rare_trig_reduce_f32(a)
    y = intrinsics.select((q & 1) != 0, _sin_kernel_f32(r, rl), _cos_kernel_f32(r, rl))
    return intrinsics.from_bits(intrinsics.bits(y) ^ (((q + 1) & 2) << 30))


def sincos_f32(x):
    """Sine and cosine of one argument, with one reduction. At most 0.9 ULP each."""
    a = abs(x)
    q, r, rl = _trig_reduce_f32(a)
    if a >= 6400.0:
        q, r, rl = _rare_trig_reduce_f32(a)
    s = _sin_kernel_f32(r, rl)
    c = _cos_kernel_f32(r, rl)
    odd = (q & 1) != 0
    u = intrinsics.bits(intrinsics.select(odd, c, s))
    v = intrinsics.bits(intrinsics.select(odd, s, c))
    u = u ^ ((q & 2) << 30) ^ (intrinsics.bits(x) & (-1 << 31))
    v = v ^ (((q + 1) & 2) << 30)
    return intrinsics.from_bits(u), intrinsics.from_bits(v)


def tan_f32(x):
    """Tangent. At most 1 ULP."""
    q, r, rl = _trig_reduce_f32(x)
    if abs(x) >= 6400.0:
        q, r, rl = _rare_trig_reduce_f32(x)
    return _tan_kernel_f32(q, r, rl)


def _tan_tail_f32(s):
    """(tan(r) - r) / r^3 in s = r^2 <= (pi/4)^2; error 2^-29 of tan(r)/r."""
    p = intrinsics.fma(s, 0.00437648, 9.115088e-05)
    p = intrinsics.fma(s, p, 0.010832508)
    p = intrinsics.fma(s, p, 0.021284508)
    p = intrinsics.fma(s, p, 0.054059178)
    p = intrinsics.fma(s, p, 0.13332674)
    return intrinsics.fma(s, p, 0.3333335)


def _sin_tail_f32(s):
    """(sin(r) - r) / r^3 in s = r^2 <= (pi/4)^2; error 2^-28 of sin(r)/r."""
    p = intrinsics.fma(s, -0.00019518599, 0.008332191)
    return intrinsics.fma(s, p, -0.16666655)


def _cos_tail_f32(s):
    """(cos(r) - 1 + s/2) / s^2 in s = r^2 <= (pi/4)^2; error 2^-33 of cos(r)."""
    p = intrinsics.fma(s, 2.443067e-05, -0.0013887301)
    return intrinsics.fma(s, p, 0.041666646)


def _trig_reduce_f32(a):
    """(q, r, rl) with a = q pi/2 + r + rl, for |a| < 2^12 pi/2; only the low bits of q count.

    As _trig_reduce_f64, with 12 bits in the second part of pi/2, whose first is cut off.
    """
    shifted = intrinsics.fma(a, 0.63661975, 12582912.0)
    n = shifted - 12582912.0
    r0 = intrinsics.fma(n, -1.570796251296997, a)
    r = intrinsics.fma(n, -7.549533620476723e-08, r0)
    rl = intrinsics.fma(n, -7.549533620476723e-08, -(r - r0))
    return intrinsics.bits(shifted), r, intrinsics.fma(n, -2.5633440682570896e-12, rl)


def _rare_trig_reduce_f32(a):
    """(q, r, rl) with a = q pi/2 + r + rl modulo 2 pi, for any |a| >= 2^12. Infinity gives NaN.

    As _rare_trig_reduce_f64. The closest any single comes to a multiple of pi/2 is about 2^-29, so 64 bits stay good.
    """
    a = a * 5.421011e-20
    h = 0.0 * a
    m = h
    l = h
    # Not a `for` of a known length, which gangs unroll: this is rare and should stay small.
    i = 0
    while i < 8:
        h, m, l = _trig_turns_f32(h, m, l, a, TWO_OVER_PI_F32[i])
        i = i + 1
    shifted = h + 12582912.0
    t, l = _trig_rest_f32(h - (shifted - 12582912.0), m, l)
    r = t * 1.5707964
    rl = intrinsics.fma(t, 1.5707964, -r)
    rl = intrinsics.fma(t, -4.371139e-08, intrinsics.fma(l, 1.5707964, rl))
    t = r + rl
    return intrinsics.bits(shifted), t, (r - t) + rl

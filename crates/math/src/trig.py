"""Sine, cosine and tangent.

Arguments are reduced to [-pi/4, pi/4] after Cody and Waite: the multiple of pi/2 is subtracted in three parts, each product
exact, so that the remainder is known to about twice the working precision (r + rl). Both kernel polynomials are evaluated and
the quadrant selects. Arguments past the reach of three parts take a rare branch with Payne and Hanek's reduction.
Polynomials: generate/coefficients.py.
"""

import numpy as np
from weft import intrinsics

# 2/pi, 26 bits in each, times 2^512.
TWO_OVER_PI = np.array(
    [
        8.535675487753474e153,
        1.4455483317207067e146,
        9.608698359281611e137,
        3.707666529216177e130,
        1.3651379629978082e122,
        4.214951831242646e114,
        8.472556280026723e106,
        1.4096109697068726e98,
        1.2689634620824226e91,
        4.535754093392822e83,
        3.230557136270047e75,
        6.090251800414378e67,
        1.4062249003094448e60,
        1.7552690683816083e52,
        3.5029001816296343e43,
        2.81380118511275e36,
        5.482920133218492e28,
        1.160452138910322e21,
        6550608936960.0,
        214148.91015625,
        0.0023870557779446244,
        4.763298436238905e-11,
        6.640095432041396e-20,
        7.188264465012127e-27,
        4.3600882003892234e-35,
        1.961022007634667e-43,
        3.7347262778680858e-50,
        4.978232091368776e-58,
        9.4906445692306e-66,
        5.3198229020692844e-74,
        1.9856931497491693e-81,
        1.6028995693430666e-89,
        1.9972629623857727e-97,
        1.6520002648483498e-105,
        6.312647175755381e-113,
        8.704268254950817e-121,
        8.648231086052486e-129,
        2.8567200260563262e-136,
        2.5375129322982225e-144,
        2.8284891165139705e-152,
        2.5769310515750235e-160,
        4.921588157986184e-168,
        1.8923840011323517e-175,
        1.057400146177528e-183,
        1.82708860783193e-192,
    ]
)


def sin_f64(x):
    """Sine. At most 0.85 ULP."""
    a = abs(x)
    q, r, rl = _trig_reduce_f64(a)
    if a >= 1647000.0:
        q, r, rl = _trig_reduce_large_f64(a)
    y = intrinsics.select((q & 1) != 0, _cos_kernel_f64(r, rl), _sin_kernel_f64(r, rl))
    return intrinsics.from_bits(intrinsics.bits(y) ^ ((q & 2) << 62) ^ (intrinsics.bits(x) & (-1 << 63)))


def cos_f64(x):
    """Cosine. At most 0.85 ULP."""
    a = abs(x)
    q, r, rl = _trig_reduce_f64(a)
    if a >= 1647000.0:
        q, r, rl = _trig_reduce_large_f64(a)
    y = intrinsics.select((q & 1) != 0, _sin_kernel_f64(r, rl), _cos_kernel_f64(r, rl))
    return intrinsics.from_bits(intrinsics.bits(y) ^ (((q + 1) & 2) << 62))


def sincos_f64(x):
    """Sine and cosine of one argument, with one reduction. At most 0.85 ULP each."""
    a = abs(x)
    q, r, rl = _trig_reduce_f64(a)
    if a >= 1647000.0:
        q, r, rl = _trig_reduce_large_f64(a)
    s = _sin_kernel_f64(r, rl)
    c = _cos_kernel_f64(r, rl)
    odd = (q & 1) != 0
    u = intrinsics.bits(intrinsics.select(odd, c, s))
    v = intrinsics.bits(intrinsics.select(odd, s, c))
    u = u ^ ((q & 2) << 62) ^ (intrinsics.bits(x) & (-1 << 63))
    v = v ^ (((q + 1) & 2) << 62)
    return intrinsics.from_bits(u), intrinsics.from_bits(v)


def tan_f64(x):
    """Tangent: the quotient of both kernels, each kept with its low part. At most 1 ULP."""
    a = abs(x)
    q, r, rl = _trig_reduce_f64(a)
    if a >= 1647000.0:
        q, r, rl = _trig_reduce_large_f64(a)
    s = r * r
    sl = intrinsics.fma(r, r, -s)
    w = intrinsics.fma(-0.5, s, 1.0)
    v = intrinsics.fma(r * s, _sin_tail_f64(s), rl * w)
    sh = r + v
    v = (r - sh) + v
    u = intrinsics.fma(-0.5, s, 1.0 - w)
    u = intrinsics.fma(s * s, _cos_tail_f64(s), intrinsics.fma(-r, rl, intrinsics.fma(-0.5, sl, u)))
    ch = w + u
    u = (w - ch) + u
    odd = (q & 1) != 0
    n = intrinsics.select(odd, ch, sh)
    nl = intrinsics.select(odd, u, v)
    d = intrinsics.select(odd, sh, ch)
    dl = intrinsics.select(odd, v, u)
    inverse = 1.0 / d
    t = n * inverse
    e = intrinsics.fma(-t, dl, intrinsics.fma(-t, d, n) + nl)
    y = intrinsics.fma(e, inverse, t)
    return intrinsics.from_bits(intrinsics.bits(y) ^ ((q & 1) << 63) ^ (intrinsics.bits(x) & (-1 << 63)))


def _sin_kernel_f64(r, rl):
    """sin(r + rl) for |r| <= pi/4: r + (r^3 P(r^2) + rl)."""
    s = r * r
    return r + intrinsics.fma(r * s, _sin_tail_f64(s), rl)


def _sin_tail_f64(s):
    """(sin(r) - r) / r^3 in s = r^2 <= (pi/4)^2; error 2^-58 of sin(r)/r."""
    p = intrinsics.fma(s, 1.589679608061489e-10, -2.5050758486425127e-08)
    p = intrinsics.fma(s, p, 2.755731369733026e-06)
    p = intrinsics.fma(s, p, -0.00019841269829835674)
    p = intrinsics.fma(s, p, 0.008333333333322472)
    return intrinsics.fma(s, p, -0.16666666666666632)


def _cos_kernel_f64(r, rl):
    """cos(r + rl) for |r| <= pi/4: 1 - s/2, with what its rounding lost, + s^2 C(s) - r rl."""
    s = r * r
    w = intrinsics.fma(-0.5, s, 1.0)
    u = intrinsics.fma(-r, rl, intrinsics.fma(-0.5, s, 1.0 - w))
    return w + intrinsics.fma(s * s, _cos_tail_f64(s), u)


def _cos_tail_f64(s):
    """(cos(r) - 1 + s/2) / s^2 in s = r^2 <= (pi/4)^2; error 2^-64 of cos(r)."""
    p = intrinsics.fma(s, -1.1359865089206099e-11, 2.087572811225347e-09)
    p = intrinsics.fma(s, p, -2.755731439387462e-07)
    p = intrinsics.fma(s, p, 2.4801587289652868e-05)
    p = intrinsics.fma(s, p, -0.0013888888888874457)
    return intrinsics.fma(s, p, 0.0416666666666666)


def _trig_reduce_f64(a):
    """(q, r, rl) with a = q pi/2 + r + rl, for 0 <= a < 2^20 pi/2; only the low bits of q count.

    The first product is exact under fma and so is its difference with a; pi/2's second part has 33 bits, so that n times it is exact too.
    """
    shifted = intrinsics.fma(a, 0.6366197723675814, 6755399441055744.0)
    n = shifted - 6755399441055744.0
    r0 = intrinsics.fma(n, -1.5707963267948966, a)
    r = intrinsics.fma(n, -6.12323399538461e-17, r0)
    rl = intrinsics.fma(n, -6.12323399538461e-17, r0 - r)
    return intrinsics.bits(shifted), r, intrinsics.fma(n, -3.5215598651832e-27, rl)


def _trig_reduce_large_f64(a):
    """(q, r, rl) with a = q pi/2 + r + rl modulo 2 pi, for any a >= 2^20. Infinity gives NaN.

    After Payne and Hanek, "Radian reduction for trigonometric functions", SIGNUM Newsletter 18 (1983), in floats: a has two halves of 27 bits, so
    that their products with 26 bits of 2/pi are exact. Whole multiples of four leave each product at once, and the rests are summed in three
    parts. The closest any double comes to a multiple of pi/2 is about 2^-61, so 100 bits stay good.
    """
    a = a * 7.458340731200207e-155
    upper = intrinsics.from_bits(intrinsics.bits(a) & -0x8000000)
    lower = a - upper
    h = 0.0 * a
    m = h
    l = h
    for i in range(45):
        p = upper * TWO_OVER_PI[i]
        h, m, l = _trig_sum_f64(h, m, l, intrinsics.fma(-4.0, intrinsics.rint(0.25 * p), p))
        p = lower * TWO_OVER_PI[i]
        h, m, l = _trig_sum_f64(h, m, l, intrinsics.fma(-4.0, intrinsics.rint(0.25 * p), p))
    n = intrinsics.rint(h)
    h, m, l = _trig_sum_f64(h, m, l, -n)
    t = h + m
    l = ((h - t) + m) + l
    r = t * 1.5707963267948966
    rl = intrinsics.fma(t, 1.5707963267948966, -r)
    rl = intrinsics.fma(t, 6.123233995736766e-17, intrinsics.fma(l, 1.5707963267948966, rl))
    t = r + rl
    return np.int64(n), t, (r - t) + rl


def _trig_sum_f64(h, m, l, p):
    """h + m + l + p in three parts, the first two without error (D. Knuth's sum of two numbers and what its rounding lost)."""
    s = h + p
    b = s - h
    p = (h - (s - b)) + (p - b)
    u = m + p
    b = u - m
    p = (m - (u - b)) + (p - b)
    return s, u, l + p


def sin_f32(x):
    """Sine. At most 0.85 ULP."""
    a = abs(x)
    q, r, rl = _trig_reduce_f32(a)
    if a >= 6400.0:
        q, r, rl = _trig_reduce_large_f32(a)
    y = intrinsics.select((q & 1) != 0, _cos_kernel_f32(r, rl), _sin_kernel_f32(r, rl))
    return intrinsics.from_bits(intrinsics.bits(y) ^ ((q & 2) << 30) ^ (intrinsics.bits(x) & (-1 << 31)))


def cos_f32(x):
    """Cosine. At most 0.85 ULP."""
    a = abs(x)
    q, r, rl = _trig_reduce_f32(a)
    if a >= 6400.0:
        q, r, rl = _trig_reduce_large_f32(a)
    y = intrinsics.select((q & 1) != 0, _sin_kernel_f32(r, rl), _cos_kernel_f32(r, rl))
    return intrinsics.from_bits(intrinsics.bits(y) ^ (((q + 1) & 2) << 30))


def sincos_f32(x):
    """Sine and cosine of one argument, with one reduction. At most 0.85 ULP each."""
    a = abs(x)
    q, r, rl = _trig_reduce_f32(a)
    if a >= 6400.0:
        q, r, rl = _trig_reduce_large_f32(a)
    s = _sin_kernel_f32(r, rl)
    c = _cos_kernel_f32(r, rl)
    odd = (q & 1) != 0
    u = intrinsics.bits(intrinsics.select(odd, c, s))
    v = intrinsics.bits(intrinsics.select(odd, s, c))
    u = u ^ ((q & 2) << 30) ^ (intrinsics.bits(x) & (-1 << 31))
    v = v ^ (((q + 1) & 2) << 30)
    return intrinsics.from_bits(u), intrinsics.from_bits(v)


def tan_f32(x):
    """Tangent: the quotient of both kernels, each kept with its low part. At most 1 ULP."""
    a = abs(x)
    q, r, rl = _trig_reduce_f32(a)
    if a >= 6400.0:
        q, r, rl = _trig_reduce_large_f32(a)
    s = r * r
    sl = intrinsics.fma(r, r, -s)
    w = intrinsics.fma(-0.5, s, 1.0)
    v = intrinsics.fma(r * s, _sin_tail_f32(s), rl * w)
    sh = r + v
    v = (r - sh) + v
    u = intrinsics.fma(-0.5, s, 1.0 - w)
    u = intrinsics.fma(s * s, _cos_tail_f32(s), intrinsics.fma(-r, rl, intrinsics.fma(-0.5, sl, u)))
    ch = w + u
    u = (w - ch) + u
    odd = (q & 1) != 0
    n = intrinsics.select(odd, ch, sh)
    nl = intrinsics.select(odd, u, v)
    d = intrinsics.select(odd, sh, ch)
    dl = intrinsics.select(odd, v, u)
    inverse = 1.0 / d
    t = n * inverse
    e = intrinsics.fma(-t, dl, intrinsics.fma(-t, d, n) + nl)
    y = intrinsics.fma(e, inverse, t)
    return intrinsics.from_bits(intrinsics.bits(y) ^ ((q & 1) << 31) ^ (intrinsics.bits(x) & (-1 << 31)))


def _sin_kernel_f32(r, rl):
    """sin(r + rl) for |r| <= pi/4: r + (r^3 P(r^2) + rl)."""
    s = r * r
    return r + intrinsics.fma(r * s, _sin_tail_f32(s), rl)


def _sin_tail_f32(s):
    """(sin(r) - r) / r^3 in s = r^2 <= (pi/4)^2; error 2^-28 of sin(r)/r."""
    p = intrinsics.fma(s, -0.00019518599, 0.008332191)
    return intrinsics.fma(s, p, -0.16666655)


def _cos_kernel_f32(r, rl):
    """cos(r + rl) for |r| <= pi/4: 1 - s/2, with what its rounding lost, + s^2 C(s) - r rl."""
    s = r * r
    w = intrinsics.fma(-0.5, s, 1.0)
    u = intrinsics.fma(-r, rl, intrinsics.fma(-0.5, s, 1.0 - w))
    return w + intrinsics.fma(s * s, _cos_tail_f32(s), u)


def _cos_tail_f32(s):
    """(cos(r) - 1 + s/2) / s^2 in s = r^2 <= (pi/4)^2; error 2^-33 of cos(r)."""
    p = intrinsics.fma(s, 2.443067e-05, -0.0013887301)
    return intrinsics.fma(s, p, 0.041666646)


def _trig_reduce_f32(a):
    """(q, r, rl) with a = q pi/2 + r + rl, for 0 <= a < 2^12 pi/2; only the low bits of q count.

    As _trig_reduce_f64, with 12 bits in the second part of pi/2.
    """
    shifted = intrinsics.fma(a, 0.63661975, 12582912.0)
    n = shifted - 12582912.0
    r0 = intrinsics.fma(n, -1.5707963705062866, a)
    r = intrinsics.fma(n, 4.371395334601402e-08, r0)
    rl = intrinsics.fma(n, 4.371395334601402e-08, r0 - r)
    return intrinsics.bits(shifted), r, intrinsics.fma(n, -2.5633440682570896e-12, rl)


def _trig_reduce_large_f32(a):
    """(q, r, rl) for large a, reduced in float64."""
    wide = np.float64(a)
    q, h, l = _trig_reduce_f64(wide)
    if wide >= 1647000.0:
        q, h, l = _trig_reduce_large_f64(wide)
    r = np.float32(h)
    return np.int32(q), r, np.float32((h - np.float64(r)) + l)

"""Sine, cosine and tangent.

Arguments are reduced to [-pi/4, pi/4] after Cody and Waite: the multiple of pi/2 is subtracted in three parts, each product
exact, so that the remainder is known to about twice the working precision (r + rl). Both kernel polynomials are evaluated and
the quadrant selects. Arguments past the reach of three parts take a rare branch with Payne and Hanek's reduction.
Polynomials: generate/coefficients.py.
"""

import numpy as np
from weft import intrinsics


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

    Payne and Hanek, "Radian reduction for trigonometric functions", SIGNUM Newsletter 18 (1983): a = m 2^e with 53 bits in m; the bits of 2/pi
    that make multiples of four when multiplied by a are left out, 192 bits follow, and the product modulo four keeps 126 fraction bits.
    The closest any double comes to a multiple of pi/2 is about 2^-61, so 64 bits stay good.
    """
    b = intrinsics.bits(a)
    m = np.uint64((b & 0xFFFFFFFFFFFFF) | 0x10000000000000)
    p = (b >> 52) - 1013
    i = p >> 6
    # Bits of 2/pi in words of 64, from a word of zeros on; four words from word i on are shifted to the front, bit by bit of i.
    c = (i & 16) != 0
    w0 = intrinsics.select(c, 8441921394348257659, 0)
    w1 = intrinsics.select(c, 4397547296490951402, -6703182060581546711)
    w2 = intrinsics.select(c, 7780917995555872008, -277156292786332224)
    w3 = intrinsics.select(c, 6197850593633725355, -2638381946312093631)
    c = (i & 8) != 0
    w0 = intrinsics.select(c, -1692731182770600828, w0)
    w1 = intrinsics.select(c, -1613291254968254911, w1)
    w2 = intrinsics.select(c, 4148332274289687028, w2)
    w3 = intrinsics.select(c, -7168499653074671557, w3)
    w4 = intrinsics.select(c, 2303758334597371919, -121206125134887583)
    w5 = intrinsics.select(c, -1211730484530615009, -5249950069107600672)
    w6 = intrinsics.select(c, 7869616827067468215, 452944820249399836)
    w7 = intrinsics.select(c, 5712322887342352941, -135693905287338178)
    w8 = intrinsics.select(c, 8441921394348257659, -1692731182770600828)
    w9 = intrinsics.select(c, 4397547296490951402, -1613291254968254911)
    w10 = intrinsics.select(c, 7780917995555872008, 4148332274289687028)
    c = (i & 4) != 0
    w0 = intrinsics.select(c, w4, w0)
    w1 = intrinsics.select(c, w5, w1)
    w2 = intrinsics.select(c, w6, w2)
    w3 = intrinsics.select(c, w7, w3)
    w4 = intrinsics.select(c, w8, w4)
    w5 = intrinsics.select(c, w9, w5)
    w6 = intrinsics.select(c, w10, w6)
    c = (i & 2) != 0
    w0 = intrinsics.select(c, w2, w0)
    w1 = intrinsics.select(c, w3, w1)
    w2 = intrinsics.select(c, w4, w2)
    w3 = intrinsics.select(c, w5, w3)
    w4 = intrinsics.select(c, w6, w4)
    c = (i & 1) != 0
    up = np.uint64(p & 63)
    down = np.uint64(64 - (p & 63))
    u0 = np.uint64(intrinsics.select(c, w1, w0))
    u1 = np.uint64(intrinsics.select(c, w2, w1))
    u2 = np.uint64(intrinsics.select(c, w3, w2))
    u3 = np.uint64(intrinsics.select(c, w4, w3))
    u0 = (u0 << up) | (u1 >> down)
    u1 = (u1 << up) | (u2 >> down)
    u2 = (u2 << up) | (u3 >> down)
    # The product's upper 128 bits: two integer bits, 126 of fraction.
    low = m * u1
    mid = _mulhi_u53(m, u2) + low
    high = _mulhi_u53(m, u1) + m * u0 + np.uint64(mid < low)
    q = (high + 0x2000000000000000) >> 62
    f = np.int64(high - (q << 62))
    # The signed fraction as a double-double, in units of 2^-62 quadrants.
    top = np.float64(f >> 32)
    bottom = np.float64(f & 0xFFFFFFFF)
    tail = np.float64(np.int64(mid >> 32)) + np.float64(np.int64(mid & 0xFFFFFFFF)) * 2.3283064365386963e-10
    h = intrinsics.fma(top, 4294967296.0, bottom)
    l = intrinsics.fma(top, 4294967296.0, -h) + bottom + tail * 2.3283064365386963e-10
    t = h + l
    l = (h - t) + l
    r = t * 3.4061215800865545e-19
    rl = intrinsics.fma(t, 3.4061215800865545e-19, -r)
    rl = intrinsics.fma(t, 1.3277647201629795e-35, intrinsics.fma(l, 3.4061215800865545e-19, rl))
    t = r + rl
    return np.int64(q), t + (a - a), (r - t) + rl


def _mulhi_u53(m, w):
    """The upper 64 bits of m w, for m < 2^53."""
    m0 = m & 0xFFFFFFFF
    m1 = m >> 32
    w0 = w & 0xFFFFFFFF
    w1 = w >> 32
    u = m1 * w0 + ((m0 * w0) >> 32)
    v = m0 * w1 + (u & 0xFFFFFFFF)
    return m1 * w1 + (u >> 32) + (v >> 32)


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

"""Powers with a float exponent.

log|x| is found as a sum of two floats good to about 13 bits more than one, so that after multiplication by y, which makes its absolute error up
to 745 times larger, the exponential still sees enough. Signs, zeros, infinities and NaN are put right in a rare branch, as C99 F.10.4.4 says.
Polynomials: generate/coefficients.py.
"""

import numpy as np
from weft import intrinsics


def pow_f64(x, y):
    """x to the y. At most 1 ULP."""
    h, l = _log_wide_f64(abs(x))
    e = y * h
    el = intrinsics.fma(y, l, intrinsics.fma(y, h, -e))
    shifted = intrinsics.fma(e, 1.4426950408889634, 6755399441055744.0)
    n = shifted - 6755399441055744.0
    r = intrinsics.fma(n, -0.6931471805599453, e)
    el = intrinsics.fma(n, -2.3190468138462996e-17, el)
    h = r + el
    p = _exp_kernel_f64(h, (r - h) + el)
    z = intrinsics.from_bits(intrinsics.bits(p) + (intrinsics.bits(shifted) << 52))
    if not abs(e) <= 708.0:
        z = _scale_f64(p, shifted)
        z = intrinsics.select(e > 709.782712893384, np.inf, intrinsics.select(e < -745.1332191019412, 0.0, z))
    if not ((x > 0.0) & (x < np.inf) & (abs(y) < np.inf)):
        z = _pow_edge_f64(x, y, z)
    return z


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
    """(h, l) with log x = h + l, relative error about 2^-66, for finite x > 0.

    With s = (m - 1) / (m + 1) as a sum of two, 2 atanh(s) = 2 s + s^3 (2/3 + s^2 Q(s^2)); only Q is a plain float.
    """
    b = intrinsics.bits(x)
    bias = 4503599627371519.0
    if b < 0x10000000000000:
        b = intrinsics.bits(x * 18014398509481984.0)
        bias = 4503599627371573.0
    t = b + 2638147582215219
    k = intrinsics.from_bits(((t >> 52) & 0x7FF) | 0x4330000000000000) - bias
    f = intrinsics.from_bits((t & 0xFFFFFFFFFFFFF) + 4604544271217802189) - 1.0
    d = 2.0 + f
    dl = f - (d - 2.0)
    c = _log_inverse_f64(f)
    e = intrinsics.fma(-d, c, 1.0)
    c = intrinsics.fma(c, intrinsics.fma(e, e, e), c)
    s = f * c
    s = intrinsics.fma(intrinsics.fma(-s, d, f), c, s)
    sl = intrinsics.fma(-s, dl, intrinsics.fma(-s, d, f)) * c
    z = s * s
    zl = intrinsics.fma(s + s, sl, intrinsics.fma(s, s, -z))
    q = _log_wide_tail_f64(z)
    p = intrinsics.fma(z, q, 0.6666666666666666)
    pl = intrinsics.fma(z, q, 0.6666666666666666 - p) + intrinsics.fma(zl, q, 3.700743415417188e-17)
    w = s * z
    wl = intrinsics.fma(sl, z, intrinsics.fma(s, zl, intrinsics.fma(s, z, -w)))
    u = w * p
    ul = intrinsics.fma(wl, p, intrinsics.fma(w, pl, intrinsics.fma(w, p, -u)))
    s2 = s + s
    h = s2 + u
    l = ((s2 - h) + u) + (ul + (sl + sl))
    a = k * 0.6931471805592082
    g = a + h
    l = ((a - g) + h) + intrinsics.fma(k, 7.371002565167799e-13, l)
    h = g + l
    return h, (g - h) + l


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
    h, l = _log_wide_f32(abs(x))
    e = y * h
    el = intrinsics.fma(y, l, intrinsics.fma(y, h, -e))
    shifted = intrinsics.fma(e, 1.442695, 12582912.0)
    n = shifted - 12582912.0
    r = intrinsics.fma(n, -0.6931472, e)
    el = intrinsics.fma(n, 1.9046542e-09, el)
    h = r + el
    p = _exp_kernel_f32(h, (r - h) + el)
    z = intrinsics.from_bits(intrinsics.bits(p) + (intrinsics.bits(shifted) << 23))
    if not abs(e) <= 87.0:
        z = _scale_f32(p, shifted)
        z = intrinsics.select(e > 88.72284, np.inf, intrinsics.select(e < -103.97208, 0.0, z))
    if not ((x > 0.0) & (x < np.inf) & (abs(y) < np.inf)):
        z = _pow_edge_f32(x, y, z)
    return z


def _log_wide_f32(x):
    """(h, l) with log x = h + l, relative error about 2^-35, for finite x > 0.

    With s = (m - 1) / (m + 1) as a sum of two, 2 atanh(s) = 2 s + s^3 (2/3 + s^2 Q(s^2)); only Q is a plain float.
    """
    b = intrinsics.bits(x)
    bias = np.float32(8388735.0)
    if b < 0x800000:
        b = intrinsics.bits(x * 33554432.0)
        bias = np.float32(8388760.0)
    t = b + 4913933
    k = intrinsics.from_bits(((t >> 23) & 0xFF) | 0x4B000000) - bias
    f = intrinsics.from_bits((t & 0x7FFFFF) + 1060439283) - 1.0
    d = 2.0 + f
    dl = f - (d - 2.0)
    c = _log_inverse_f32(f)
    c = intrinsics.fma(c, intrinsics.fma(-d, c, 1.0), c)
    s = f * c
    s = intrinsics.fma(intrinsics.fma(-s, d, f), c, s)
    sl = intrinsics.fma(-s, dl, intrinsics.fma(-s, d, f)) * c
    z = s * s
    zl = intrinsics.fma(s + s, sl, intrinsics.fma(s, s, -z))
    q = _log_wide_tail_f32(z)
    p = intrinsics.fma(z, q, 0.6666667)
    pl = intrinsics.fma(z, q, 0.6666667 - p) + intrinsics.fma(zl, q, -1.9868216e-08)
    w = s * z
    wl = intrinsics.fma(sl, z, intrinsics.fma(s, zl, intrinsics.fma(s, z, -w)))
    u = w * p
    ul = intrinsics.fma(wl, p, intrinsics.fma(w, pl, intrinsics.fma(w, p, -u)))
    s2 = s + s
    h = s2 + u
    l = ((s2 - h) + u) + (ul + (sl + sl))
    a = k * 0.69311523
    g = a + h
    l = ((a - g) + h) + intrinsics.fma(k, 3.1946183e-05, l)
    h = g + l
    return h, (g - h) + l


def _log_wide_tail_f32(z):
    """(2 atanh(s) - 2 s - 2/3 s^3) / s^5 in z = s^2 <= 0.0295; error 2^-35.8 of log."""
    p = intrinsics.fma(z, 0.23419768, 0.28547087)
    return intrinsics.fma(z, p, 0.40000153)


def _log_inverse_f32(f):
    """1 / (2 + f) for 1/sqrt(2) <= 1 + f <= sqrt(2); error 2^-9."""
    p = intrinsics.fma(f, 0.11686042, -0.25499773)
    return intrinsics.fma(f, p, 0.5003197)

"""Complex functions of real and imaginary part, with C99's branch cuts and special values (Annex G).

The sign of a zero tells the sides of a cut apart, so nothing here forms x + i y by arithmetic. The inverse functions are W. Kahan's ("Branch cuts
for complex elementary functions", in: The State of the Art in Numerical Analysis, 1987).
"""

import numpy as np
from weft import intrinsics


def cexp_f64(x, y):
    """e to the z. At most 3 ULP in each part."""
    s, c = sincos_f64(y)
    shift = intrinsics.select(x > 700.0, 700.0, 0.0)
    scale = intrinsics.select(x > 700.0, 1.0142320547350045e304, 1.0)
    e = exp_f64(x - shift)
    re = (e * c) * scale
    im = intrinsics.select(y == 0.0, y, (e * s) * scale)
    if intrinsics.isinf(x) & (not abs(y) < np.inf):
        re = abs(x)
        im = y - y
        re = intrinsics.select(x < 0.0, 0.0, re)
        im = intrinsics.select(x < 0.0, intrinsics.copysign(0.0, y), im)
    return re, im


def clog_each(x, y):
    """Principal natural logarithm. The real part is log1p(|z|^2 - 1) / 2 near the unit circle. At most 3 ULP in each part."""
    ax = abs(x)
    ay = abs(y)
    h = hypot_each(x, y)
    flat = ax > ay
    a = intrinsics.select(flat, ax, ay)
    b = intrinsics.select(flat, ay, ax)
    p = a * a
    q = b * b
    pl = intrinsics.fma(a, a, -p)
    ql = intrinsics.fma(b, b, -q)
    u = p - 1.0
    v = u + q
    w = v - u
    low = ((u - (v - w)) + (q - w)) + (pl + ql)
    near = 0.5 * _log1p_near_each(v + low, low - ((v + low) - v))
    re = intrinsics.select((h > 0.7) & (h < 1.4), near, log_each(h))
    return re, atan2_each(y, x)


def _log1p_near_each(x, xl):
    """log(1 + x + xl), made one number where the caller may be far from it."""
    near = abs(x) < 1.0
    return _log1p_sum_each(intrinsics.select(near, x, 0.5), intrinsics.select(near, xl, 0.0))


def clog10_each(x, y):
    """Principal logarithm to base 10."""
    re, im = clog_each(x, y)
    return re * 0.4342944819032518, im * 0.4342944819032518


def csqrt_f64(x, y):
    """Principal square root: t = sqrt((|x| + |z|) / 2) and y / 2t, in the order the half plane asks. At most 3 ULP in each part."""
    ax = abs(x)
    ay = abs(y)
    large = (ax > 4e307) | (ay > 4e307)
    small = (ax < 1e-290) & (ay < 1e-290)
    scale = intrinsics.select(large, 0.0625, intrinsics.select(small, 3.2451855365842673e32, 1.0))
    back = intrinsics.select(large, 4.0, intrinsics.select(small, 5.551115123125783e-17, 1.0))
    u = ax * scale
    v = ay * scale
    t = intrinsics.sqrt(0.5 * (u + hypot_f64(u, v)))
    r = intrinsics.select(t > 0.0, (0.5 * v) / t, 0.0)
    t = t * back
    r = r * back
    left = intrinsics.signbit(x)
    re = intrinsics.select(left, r, t)
    im = intrinsics.select(left, t, r)
    if not ((ax < np.inf) & (ay < np.inf)):
        re, im = _csqrt_edge_f64(x, y)
    return re, intrinsics.copysign(im, y)


def _csqrt_edge_each(x, y):
    """Real part and size of the imaginary part where one of x and y is not finite."""
    re = intrinsics.select(x > 0.0, x, abs(y - y))
    im = intrinsics.select(x > 0.0, abs(y - y), abs(x))
    lost = intrinsics.isnan(x) | (intrinsics.isnan(y) & (abs(x) < np.inf))
    re = intrinsics.select(lost, np.nan, re)
    im = intrinsics.select(lost, np.nan, im)
    endless = intrinsics.isinf(y)
    return intrinsics.select(endless, np.inf, re), intrinsics.select(endless, np.inf, im)


def csinh_f64(x, y):
    """Hyperbolic sine: sinh x cos y + i cosh x sin y. At most 3 ULP in each part."""
    s, c = sincos_f64(y)
    a, b = _sinhcosh_f64(x)
    scale = intrinsics.select(abs(x) > 700.0, 1.0142320547350045e304, 1.0)
    re = intrinsics.select((x == 0.0) & intrinsics.isnan(c), x, (a * c) * scale)
    im = intrinsics.select(y == 0.0, y, (b * s) * scale)
    if intrinsics.isinf(x) & (not abs(y) < np.inf):
        re = x
        im = y - y
    return re, im


def ccosh_f64(x, y):
    """Hyperbolic cosine: cosh x cos y + i sinh x sin y. At most 3 ULP in each part."""
    s, c = sincos_f64(y)
    a, b = _sinhcosh_f64(x)
    scale = intrinsics.select(abs(x) > 700.0, 1.0142320547350045e304, 1.0)
    re = (b * c) * scale
    flat = (x == 0.0) | (y == 0.0)
    im = intrinsics.select(flat, intrinsics.copysign(0.0, x) * intrinsics.copysign(1.0, s), (a * s) * scale)
    if intrinsics.isinf(x) & (not abs(y) < np.inf):
        re = abs(x)
        im = y - y
    return re, im


def _sinhcosh_f64(x):
    """sinh and cosh of x, divided by exp(700.0) where |x| is larger than that."""
    a = abs(x)
    e = 0.5 * exp_f64(a - 700.0)
    far = a > 700.0
    return intrinsics.select(far, intrinsics.copysign(e, x), sinh_f64(x)), intrinsics.select(far, e, cosh_f64(x))


def ctanh_f64(x, y):
    """Hyperbolic tangent after Kahan: with t = tan y, s = sinh x, d = 1 + (1 + t^2) s^2, it is ((1 + t^2) s sqrt(1 + s^2) + i t) / d.

    At most 5 ULP in each part.
    """
    a = abs(x)
    far = a > 22.0
    t = tan_f64(y)
    s = sinh_f64(intrinsics.select(far, 1.0, x))
    beta = 1.0 + t * t
    endless = abs(t) > 1e150
    d = intrinsics.fma(beta * s, s, 1.0)
    root = intrinsics.sqrt(intrinsics.fma(s, s, 1.0))
    re = intrinsics.select(endless, root / s, ((beta * root) * s) / d)
    im = intrinsics.select(endless, (1.0 / t) / (s * s), t / d)
    sy, cy = sincos_f64(y)
    tail = ((4.0 * sy) * cy) * exp_f64(-2.0 * intrinsics.select(far, a, 22.0))
    steady = abs(y) < np.inf
    wide = intrinsics.isinf(x)
    re = intrinsics.select(far & (steady | wide), intrinsics.copysign(1.0, x), re)
    im = intrinsics.select(far, intrinsics.select(wide, intrinsics.copysign(0.0, y), intrinsics.select(steady, tail, np.nan)), im)
    re = intrinsics.select(x == 0.0, x, re)
    return re, intrinsics.select(y == 0.0, y, im)


def csin_each(x, y):
    """Sine: -i sinh(i z)."""
    re, im = csinh_each(-y, x)
    return im, -re


def ccos_each(x, y):
    """Cosine: cosh(i z)."""
    return ccosh_each(-y, x)


def ctan_each(x, y):
    """Tangent: -i tanh(i z)."""
    re, im = ctanh_each(-y, x)
    return im, -re


def casinh_each(x, y):
    """Inverse hyperbolic sine: i asin(-i z)."""
    re, im = casin_each(y, -x)
    return -im, re


def casin_each(x, y):
    """Arc sine. Cuts on the real axis beyond -1 and 1. At most 4 ULP in each part."""
    re, p, far = _cacos_parts_each(x, y)
    ax = abs(x)
    a = intrinsics.select(far, atan2_each(ax, abs(y)), atan2_each(ax, re))
    if not ((ax < np.inf) & (abs(y) < np.inf)):
        a, p = _casin_edge_each(ax, abs(y))
    return intrinsics.copysign(a, x), intrinsics.copysign(p, y)


def cacos_each(x, y):
    """Arc cosine. Cuts on the real axis beyond -1 and 1. At most 4 ULP in each part."""
    re, p, far = _cacos_parts_each(x, y)
    a = intrinsics.select(far, atan2_each(abs(y), x), atan2_each(re, x))
    if not ((abs(x) < np.inf) & (abs(y) < np.inf)):
        a, p = _cacos_edge_each(x, abs(y))
    return a, intrinsics.copysign(p, -y)


def _cacos_parts_f64(x, y):
    """What arc sine and arc cosine share: (Re(sqrt(1 - z) sqrt(1 + z)), |Im asin z|, is z so large that logarithms take over)."""
    ax = abs(x)
    ay = abs(y)
    far = (ax > 1e150) | (ay > 1e150)
    u = intrinsics.select(far, 0.5, ax)
    v = intrinsics.select(far, 0.5, ay)
    # |z + 1|, |z - 1| and (1 - x), as T. Hull, T. Fairgrieve and P. Tang have them (ACM TOMS 23, 1997).
    r = hypot_f64(u + 1.0, v)
    s = hypot_f64(u - 1.0, v)
    a = 0.5 * (r + s)
    inside = u <= 1.0
    v2 = v * v
    side = intrinsics.select(inside, v2 / (s + (1.0 - u)), s + (u - 1.0))
    side = intrinsics.select(inside & (v == 0.0), 0.0, side)
    # a - 1 and a - x without cancellation.
    excess = 0.5 * (v2 / (r + (u + 1.0)) + side)
    p = log1p_f64(excess + intrinsics.sqrt(excess * (a + 1.0)))
    other = intrinsics.select(inside, s + (1.0 - u), v2 / (s + (u - 1.0)))
    other = intrinsics.select((v == 0.0) & (u >= 1.0), 0.0, other)
    difference = 0.5 * (v2 / (r + (u + 1.0)) + other)
    re = intrinsics.sqrt(difference * (a + u))
    m = intrinsics.select(ax > ay, ax, ay)
    n = intrinsics.select(ax > ay, ay, ax)
    ratio = n / m
    large = log_f64(m) + 0.6931471805599453 + 0.5 * log1p_f64(ratio * ratio)
    return re, intrinsics.select(far, large, p), far


def _casin_edge_each(ax, ay):
    """Sizes of the parts of asin where one of x and y is not finite."""
    a = intrinsics.select(intrinsics.isinf(ax), intrinsics.select(intrinsics.isinf(ay), 0.7853981633974483, 1.5707963267948966), 0.0 * ax)
    a = intrinsics.select(intrinsics.isinf(ax) & intrinsics.isnan(ay), ay, a)
    p = intrinsics.select(intrinsics.isinf(ax) | intrinsics.isinf(ay), np.inf, np.nan)
    lost = intrinsics.isnan(ay) & (abs(ax) < np.inf) & (ax != 0.0)
    a = intrinsics.select(intrinsics.isnan(ax) | lost, np.nan, a)
    return a, p


def _cacos_edge_each(x, ay):
    """Real part and size of the imaginary part of acos where one of x and y is not finite."""
    ax = abs(x)
    left = x < 0.0
    a = intrinsics.select(
        left,
        intrinsics.select(intrinsics.isinf(ay), 2.356194490192345, 3.141592653589793),
        intrinsics.select(intrinsics.isinf(ay), 0.7853981633974483, 0.0),
    )
    a = intrinsics.select(intrinsics.isinf(ax), a, 1.5707963267948966)
    nan = intrinsics.isnan(x) | (intrinsics.isnan(ay) & (x != 0.0))
    a = intrinsics.select(nan, np.nan, a)
    return a, intrinsics.select(intrinsics.isinf(ax) | intrinsics.isinf(ay), np.inf, np.nan)


def cacosh_each(x, y):
    """Inverse hyperbolic cosine: acos turned so that its real part is not negative."""
    re, im = cacos_each(x, y)
    return abs(im), intrinsics.copysign(re, y)


def catan_each(x, y):
    """Arc tangent: -i atanh(i z)."""
    re, im = catanh_each(-y, x)
    return im, -re


def catanh_f64(x, y):
    """Inverse hyperbolic tangent: log1p(4 |x| / ((1 - |x|)^2 + y^2)) / 4 and atan2(2 y, (1 - |x|) (1 + |x|) - y^2) / 2."""
    ax = abs(x)
    ay = abs(y)
    far = (ax > 1e150) | (ay > 1e150)
    u = intrinsics.select(far, 2.0, ax)
    v = intrinsics.select(far, 2.0, ay)
    d = 1.0 - u
    v2 = v * v
    square = intrinsics.fma(d, d, v2)
    re = 0.25 * log1p_f64((4.0 * u) / square)
    im = 0.5 * atan2_f64(2.0 * v, intrinsics.fma(d, 1.0 + u, -v2))
    # x / |z|^2, scaled, and pi / 2 when z is that large.
    m = intrinsics.select(ax > ay, ax, ay)
    n = intrinsics.select(ax > ay, ay, ax)
    ratio = n / m
    tail = ((ax / m) / intrinsics.fma(ratio, ratio, 1.0)) / m
    re = intrinsics.select(far, tail, re)
    im = intrinsics.select(far, 1.5707963267948966, im)
    edge = (ax == 1.0) & (v2 == 0.0)
    near = 0.5 * (0.6931471805599453 - log_f64(intrinsics.select(edge & (ay > 0.0), ay, 1.0)))
    re = intrinsics.select(edge, intrinsics.select(ay == 0.0, np.inf, near), re)
    if not ((ax < np.inf) & (ay < np.inf)):
        lost = (intrinsics.isnan(ax) & (ay < np.inf)) | (intrinsics.isnan(ax) & intrinsics.isnan(ay))
        re = intrinsics.select(lost | (intrinsics.isnan(ay) & (ax < np.inf) & (ax != 0.0)), np.nan, 0.0)
        im = intrinsics.select(intrinsics.isnan(ay) | lost, np.nan, 1.5707963267948966)
    return intrinsics.copysign(re, x), intrinsics.copysign(im, y)


def cexp_f32(x, y):
    """e to the z. At most 3 ULP in each part."""
    s, c = sincos_f32(y)
    shift = intrinsics.select(x > 80.0, 80.0, 0.0)
    scale = intrinsics.select(x > 80.0, 5.5406224e34, 1.0)
    e = exp_f32(x - shift)
    re = (e * c) * scale
    im = intrinsics.select(y == 0.0, y, (e * s) * scale)
    if intrinsics.isinf(x) & (not abs(y) < np.inf):
        re = abs(x)
        im = y - y
        re = intrinsics.select(x < 0.0, 0.0, re)
        im = intrinsics.select(x < 0.0, intrinsics.copysign(0.0, y), im)
    return re, im


def csqrt_f32(x, y):
    """Principal square root: t = sqrt((|x| + |z|) / 2) and y / 2t, in the order the half plane asks. At most 3 ULP in each part."""
    ax = abs(x)
    ay = abs(y)
    large = (ax > 8e37) | (ay > 8e37)
    small = (ax < 1e-30) & (ay < 1e-30)
    scale = intrinsics.select(large, 0.0625, intrinsics.select(small, 281474976710656.0, 1.0))
    back = intrinsics.select(large, 4.0, intrinsics.select(small, 5.960464477539063e-08, 1.0))
    u = ax * scale
    v = ay * scale
    t = intrinsics.sqrt(0.5 * (u + hypot_f32(u, v)))
    r = intrinsics.select(t > 0.0, (0.5 * v) / t, 0.0)
    t = t * back
    r = r * back
    left = intrinsics.signbit(x)
    re = intrinsics.select(left, r, t)
    im = intrinsics.select(left, t, r)
    if not ((ax < np.inf) & (ay < np.inf)):
        re, im = _csqrt_edge_f32(x, y)
    return re, intrinsics.copysign(im, y)


def csinh_f32(x, y):
    """Hyperbolic sine: sinh x cos y + i cosh x sin y. At most 3 ULP in each part."""
    s, c = sincos_f32(y)
    a, b = _sinhcosh_f32(x)
    scale = intrinsics.select(abs(x) > 80.0, 5.5406224e34, 1.0)
    re = intrinsics.select((x == 0.0) & intrinsics.isnan(c), x, (a * c) * scale)
    im = intrinsics.select(y == 0.0, y, (b * s) * scale)
    if intrinsics.isinf(x) & (not abs(y) < np.inf):
        re = x
        im = y - y
    return re, im


def ccosh_f32(x, y):
    """Hyperbolic cosine: cosh x cos y + i sinh x sin y. At most 3 ULP in each part."""
    s, c = sincos_f32(y)
    a, b = _sinhcosh_f32(x)
    scale = intrinsics.select(abs(x) > 80.0, 5.5406224e34, 1.0)
    re = (b * c) * scale
    flat = (x == 0.0) | (y == 0.0)
    im = intrinsics.select(flat, intrinsics.copysign(0.0, x) * intrinsics.copysign(1.0, s), (a * s) * scale)
    if intrinsics.isinf(x) & (not abs(y) < np.inf):
        re = abs(x)
        im = y - y
    return re, im


def _sinhcosh_f32(x):
    """sinh and cosh of x, divided by exp(80.0) where |x| is larger than that."""
    a = abs(x)
    e = 0.5 * exp_f32(a - 80.0)
    far = a > 80.0
    return intrinsics.select(far, intrinsics.copysign(e, x), sinh_f32(x)), intrinsics.select(far, e, cosh_f32(x))


def ctanh_f32(x, y):
    """Hyperbolic tangent after Kahan: with t = tan y, s = sinh x, d = 1 + (1 + t^2) s^2, it is ((1 + t^2) s sqrt(1 + s^2) + i t) / d.

    At most 5 ULP in each part.
    """
    a = abs(x)
    far = a > 10.0
    t = tan_f32(y)
    s = sinh_f32(intrinsics.select(far, 1.0, x))
    beta = 1.0 + t * t
    endless = abs(t) > 1e15
    d = intrinsics.fma(beta * s, s, 1.0)
    root = intrinsics.sqrt(intrinsics.fma(s, s, 1.0))
    re = intrinsics.select(endless, root / s, ((beta * root) * s) / d)
    im = intrinsics.select(endless, (1.0 / t) / (s * s), t / d)
    sy, cy = sincos_f32(y)
    tail = ((4.0 * sy) * cy) * exp_f32(-2.0 * intrinsics.select(far, a, 10.0))
    steady = abs(y) < np.inf
    wide = intrinsics.isinf(x)
    re = intrinsics.select(far & (steady | wide), intrinsics.copysign(1.0, x), re)
    im = intrinsics.select(far, intrinsics.select(wide, intrinsics.copysign(0.0, y), intrinsics.select(steady, tail, np.nan)), im)
    re = intrinsics.select(x == 0.0, x, re)
    return re, intrinsics.select(y == 0.0, y, im)


def _cacos_parts_f32(x, y):
    """What arc sine and arc cosine share: (Re(sqrt(1 - z) sqrt(1 + z)), |Im asin z|, is z so large that logarithms take over)."""
    ax = abs(x)
    ay = abs(y)
    far = (ax > 1e15) | (ay > 1e15)
    u = intrinsics.select(far, 0.5, ax)
    v = intrinsics.select(far, 0.5, ay)
    # |z + 1|, |z - 1| and (1 - x), as T. Hull, T. Fairgrieve and P. Tang have them (ACM TOMS 23, 1997).
    r = hypot_f32(u + 1.0, v)
    s = hypot_f32(u - 1.0, v)
    a = 0.5 * (r + s)
    inside = u <= 1.0
    v2 = v * v
    side = intrinsics.select(inside, v2 / (s + (1.0 - u)), s + (u - 1.0))
    side = intrinsics.select(inside & (v == 0.0), 0.0, side)
    # a - 1 and a - x without cancellation.
    excess = 0.5 * (v2 / (r + (u + 1.0)) + side)
    p = log1p_f32(excess + intrinsics.sqrt(excess * (a + 1.0)))
    other = intrinsics.select(inside, s + (1.0 - u), v2 / (s + (u - 1.0)))
    other = intrinsics.select((v == 0.0) & (u >= 1.0), 0.0, other)
    difference = 0.5 * (v2 / (r + (u + 1.0)) + other)
    re = intrinsics.sqrt(difference * (a + u))
    m = intrinsics.select(ax > ay, ax, ay)
    n = intrinsics.select(ax > ay, ay, ax)
    ratio = n / m
    large = log_f32(m) + 0.6931472 + 0.5 * log1p_f32(ratio * ratio)
    return re, intrinsics.select(far, large, p), far


def catanh_f32(x, y):
    """Inverse hyperbolic tangent: log1p(4 |x| / ((1 - |x|)^2 + y^2)) / 4 and atan2(2 y, (1 - |x|) (1 + |x|) - y^2) / 2."""
    ax = abs(x)
    ay = abs(y)
    far = (ax > 1e15) | (ay > 1e15)
    u = intrinsics.select(far, 2.0, ax)
    v = intrinsics.select(far, 2.0, ay)
    d = 1.0 - u
    v2 = v * v
    square = intrinsics.fma(d, d, v2)
    re = 0.25 * log1p_f32((4.0 * u) / square)
    im = 0.5 * atan2_f32(2.0 * v, intrinsics.fma(d, 1.0 + u, -v2))
    # x / |z|^2, scaled, and pi / 2 when z is that large.
    m = intrinsics.select(ax > ay, ax, ay)
    n = intrinsics.select(ax > ay, ay, ax)
    ratio = n / m
    tail = ((ax / m) / intrinsics.fma(ratio, ratio, 1.0)) / m
    re = intrinsics.select(far, tail, re)
    im = intrinsics.select(far, 1.5707964, im)
    edge = (ax == 1.0) & (v2 == 0.0)
    near = 0.5 * (0.6931472 - log_f32(intrinsics.select(edge & (ay > 0.0), ay, 1.0)))
    re = intrinsics.select(edge, intrinsics.select(ay == 0.0, np.inf, near), re)
    if not ((ax < np.inf) & (ay < np.inf)):
        lost = (intrinsics.isnan(ax) & (ay < np.inf)) | (intrinsics.isnan(ax) & intrinsics.isnan(ay))
        re = intrinsics.select(lost | (intrinsics.isnan(ay) & (ax < np.inf) & (ax != 0.0)), np.nan, 0.0)
        im = intrinsics.select(intrinsics.isnan(ay) | lost, np.nan, 1.5707964)
    return intrinsics.copysign(re, x), intrinsics.copysign(im, y)

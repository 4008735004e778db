"""Complex functions that C99 does not have and NumPy or Python do: polar form, powers, exp(z) - 1, log(1 + z), base 2, directions, closeness.

As in complex.py, nothing forms x + i y by arithmetic.
"""

import numpy as np
from weft import intrinsics


def rect_each(r, t):
    """r (cos t + i sin t). An angle of zero leaves any r as it is."""
    s, c = sincos_each(t)
    return intrinsics.select(t == 0.0, r, r * c), intrinsics.select(t == 0.0, intrinsics.copysign(1.0, r) * t, r * s)


def cpow_each(x, y, u, v):
    """z to the w: whole powers below 100 in size by products, others in polar form, |z|^u e^(-v arg z), turned by u arg z + v log|z|.

    The angle is off by its own rounding, so the error of each part is that of the whole: 4 ULP of |z^w|, and one more for each radian of the angle.
    Anything to the 0 is 1; 0 to a power with a positive real part is 0, to others NaN.
    """
    re, im = _cpolar_each(x, y, u, v)
    far = intrinsics.isnan(re) | (abs(x) == np.inf) | (abs(y) == np.inf) | (abs(u) == np.inf) | (abs(v) == np.inf)
    if far & ((x != 0.0) | (y != 0.0)) & ((u != 0.0) | (v != 0.0)):
        a, b = clog_each(x, y)
        a, b = _cproduct_each(u, v, a, b)
        re, im = cexp_each(a, b)
    if (v == 0.0) & (abs(u) < 100.0) & (intrinsics.trunc(u) == u) & (u != 0.0) & ((x != 0.0) | (y != 0.0)):
        re, im = _cwhole_each(x, y, u)
    return re, im


def _cproduct_each(a, b, c, d):
    """C99's product: infinite where a factor is, though its parts were NaN by arithmetic."""
    re = a * c - b * d
    im = a * d + b * c
    left = (abs(a) == np.inf) | (abs(b) == np.inf)
    right = (abs(c) == np.inf) | (abs(d) == np.inf)
    if intrinsics.isnan(re) & intrinsics.isnan(im) & (left | right):
        a = _boxed_each(a, left)
        b = _boxed_each(b, left)
        c = _boxed_each(c, right)
        d = _boxed_each(d, right)
        re = np.inf * (a * c - b * d)
        im = np.inf * (a * d + b * c)
    return re, im


def _boxed_each(a, infinite):
    """A part of an infinite number as one or zero, of another one zero for NaN; the sign is kept."""
    one = intrinsics.select(abs(a) == np.inf, 1.0, 0.0)
    return intrinsics.select(infinite | intrinsics.isnan(a), intrinsics.copysign(one, a), a)


def _cwhole_each(x, y, u):
    """z to a whole power by NumPy's products in its order: from 1 on, but for the first three powers, which start from z."""
    start = (u > 0.0) & (u <= 3.0)
    rest = abs(u)
    re = intrinsics.select(u == u, 1.0, u)
    im = intrinsics.select(u == u, 0.0, u)
    for _ in range(7):
        half = intrinsics.trunc(rest * 0.5)
        even = rest == half + half
        t = intrinsics.select(start, x, re * x - im * y)
        im = intrinsics.select(even, im, intrinsics.select(start, y, re * y + im * x))
        re = intrinsics.select(even, re, t)
        start = start & even
        t = x * x - y * y
        y = x * y + y * x
        x = t
        rest = half
    if u < 0.0:
        flat = abs(re) >= abs(im)
        ratio = intrinsics.select(flat, im / re, re / im)
        scale = 1.0 / (intrinsics.select(flat, re, im) + intrinsics.select(flat, im, re) * ratio)
        none = (re == 0.0) & (im == 0.0)
        re = intrinsics.select(flat, 1.0 + 0.0 * ratio, 1.0 * ratio + 0.0) * scale
        im = intrinsics.select(flat, 0.0 - 1.0 * ratio, 0.0 * ratio - 1.0) * scale
        re = intrinsics.select(none, np.inf, re)
        im = intrinsics.select(none, np.nan, im)
    return re, im


def _cpolar_each(x, y, u, v):
    """z to the w in polar form, as Python has it."""
    r = hypot_each(x, y)
    t = atan2_each(y, x)
    zero = r == 0.0
    r = intrinsics.select(zero, 1.0, r)
    h = u * t
    l = intrinsics.fma(u, t, -h)
    g = v * log_each(r)
    a = h + g
    b = a - h
    l = l + ((h - (a - b)) + (g - b))
    s, c = sincos_each(a)
    size = pow_each(r, u)
    size = intrinsics.select(v == 0.0, size, size * exp_each(-v * t))
    re = size * intrinsics.fma(-s, l, c)
    im = size * intrinsics.fma(c, l, s)
    real = (v == 0.0) & (y == 0.0) & (x > 0.0) & (u == u)
    im = intrinsics.select(real, y, im)
    none = (u == 0.0) & (v == 0.0)
    gone = intrinsics.select(u > 0.0, 0.0, np.nan)
    re = intrinsics.select(none, 1.0, intrinsics.select(zero, gone, re))
    return re, intrinsics.select(none, 0.0, intrinsics.select(zero, gone, im))


def cexp2_f64(x, y):
    """2 to the z: 2^x, turned by y ln 2, of which the low part is kept. At most 3 ULP in each part, but for y's own rounding."""
    h = y * 0.6931471805599453
    l = intrinsics.fma(y, 2.3190468138462996e-17, intrinsics.fma(y, 0.6931471805599453, -h))
    s, c = sincos_f64(h)
    e = exp2_f64(x)
    re = e * intrinsics.fma(-s, l, c)
    im = intrinsics.select(y == 0.0, y, e * intrinsics.fma(c, l, s))
    if (intrinsics.isinf(x) | intrinsics.isinf(e)) & (not intrinsics.isnan(x)):
        re, im = cexp_f64(x * 0.6931471805599453, h)
    return re, im


def cexpm1_f64(x, y):
    """exp(z) - 1, the real part as expm1(x) cos y - 2 sin(y / 2)^2, as NumPy has it. Infinities and NaN are the array API standard's.

    At most 4 ULP in the imaginary part and of the larger term of the real one.
    """
    s, c = sincos_f64(y)
    half = sin_f64(0.5 * y)
    re = intrinsics.fma(expm1_f64(x), c, -2.0 * (half * half))
    im = intrinsics.select(y == 0.0, y, exp_f64(x) * s)
    if not abs(x) < 700.0:
        re, im = cexp_f64(x, y)
        re = re - 1.0
    return intrinsics.select((y == 0.0) & (x == 0.0), 0.0, re), im


def clog1p_each(x, y):
    """log(1 + z): near zero the real part is log1p(2 x + x^2 + y^2) / 2, its argument a sum of two floats. At most 3 ULP in each part."""
    u = 1.0 + x
    re, im = clog_each(u, y)
    near = (abs(x) < 3.0) & (abs(y) < 3.0)
    a = intrinsics.select(near, x, 0.0)
    b = intrinsics.select(near, y, 0.0)
    p = a * a
    q = b * b
    pl = intrinsics.fma(a, a, -p)
    ql = intrinsics.fma(b, b, -q)
    a = a + a
    h = a + p
    t = h - a
    low = (a - (h - t)) + (p - t)
    w = h + q
    t = w - h
    low = low + ((h - (w - t)) + (q - t)) + (pl + ql)
    g = w + low
    near = near & (abs(g) < 0.9)
    low = (w - g) + low
    half = 0.0 + 0.5 * _log1p_near_each(g, low)
    re = intrinsics.select(near, half, re)
    lost = x - (u - 1.0)
    turn = intrinsics.select(near, -y * lost / intrinsics.fma(u, u, y * y), 0.0)
    return re, intrinsics.select(turn == 0.0, im, im + turn)


def clog2_each(x, y):
    """Principal logarithm to base 2. At most 4 ULP in each part."""
    re, im = clog_each(x, y)
    return re * 1.4426950408889634, im * 1.4426950408889634


def csign_each(x, y):
    """z / |z|, 0 at 0. An infinite part alone decides; two of them give NaN."""
    h = hypot_each(x, y)
    both = intrinsics.isinf(x) & intrinsics.isinf(y)
    far = h == np.inf
    if far & (abs(x) < np.inf) & (abs(y) < np.inf):
        x = 0.25 * x
        y = 0.25 * y
        h = hypot_each(x, y)
        far = h == np.inf
    re = x / h
    im = y / h
    re = intrinsics.select(far, intrinsics.select(intrinsics.isinf(x), intrinsics.copysign(1.0, x), 0.0), re)
    im = intrinsics.select(far, intrinsics.select(intrinsics.isinf(y), intrinsics.copysign(1.0, y), 0.0), im)
    nan = both | intrinsics.isnan(h)
    zero = h == 0.0
    re = intrinsics.select(nan, np.nan, intrinsics.select(zero, 0.0, re))
    return re, intrinsics.select(nan, np.nan, intrinsics.select(zero, 0.0, im))


def cexp2_f32(x, y):
    """2 to the z: 2^x, turned by y ln 2, of which the low part is kept. At most 3 ULP in each part, but for y's own rounding."""
    h = y * 0.6931472
    l = intrinsics.fma(y, -1.9046542e-09, intrinsics.fma(y, 0.6931472, -h))
    s, c = sincos_f32(h)
    e = exp2_f32(x)
    re = e * intrinsics.fma(-s, l, c)
    im = intrinsics.select(y == 0.0, y, e * intrinsics.fma(c, l, s))
    if (intrinsics.isinf(x) | intrinsics.isinf(e)) & (not intrinsics.isnan(x)):
        re, im = cexp_f32(x * 0.6931472, h)
    return re, im


def cexpm1_f32(x, y):
    """exp(z) - 1, the real part as expm1(x) cos y - 2 sin(y / 2)^2, as NumPy has it. Infinities and NaN are the array API standard's.

    At most 4 ULP in the imaginary part and of the larger term of the real one.
    """
    s, c = sincos_f32(y)
    half = sin_f32(0.5 * y)
    re = intrinsics.fma(expm1_f32(x), c, -2.0 * (half * half))
    im = intrinsics.select(y == 0.0, y, exp_f32(x) * s)
    if not abs(x) < 80.0:
        re, im = cexp_f32(x, y)
        re = re - 1.0
    return intrinsics.select((y == 0.0) & (x == 0.0), 0.0, re), im


def cisclose_any(x, y, u, v, relative, absolute):
    """Python's closeness: equal, or finite and no further apart than the larger one times `relative`, or than `absolute`."""
    d = abs(complex(x - u, y - v))
    near = (d <= relative * abs(complex(x, y))) | (d <= relative * abs(complex(u, v))) | (d <= absolute)
    return ((x == u) & (y == v)) | (near & (d < np.inf))


def cnear_any(x, y, u, v, relative, absolute):
    """NumPy's closeness: equal, or finite and no further from the second than its size times `relative`, and `absolute`."""
    d = abs(complex(x - u, y - v))
    return ((x == u) & (y == v)) | ((d <= absolute + relative * abs(complex(u, v))) & (d < np.inf))

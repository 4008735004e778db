"""The gamma function and its logarithm.

From 8 on, Stirling's series (its tail a polynomial in 1 / y^2) gives log gamma as a sum of two floats. Below, gamma(y) = gamma(y + 8) / (y (y + 1) ... (y + 7)),
the product kept in two floats. Negative arguments are reflected: gamma(-y) = -pi / (y sin(pi y) gamma(y)). Polynomials: generate/coefficients.py.
"""

import numpy as np
from weft import intrinsics


def gamma_f64(x):
    """Gamma function. At most 4 ULP. NaN at negative whole numbers, infinite at zeros."""
    a = abs(x)
    y = intrinsics.select(a > 190.5, 190.5, a)
    small = y < 8.0
    e, el = _stirling_f64(y)
    p, pl = _rising_f64(y)
    s = sinpi_f64(a)
    left = intrinsics.signbit(x)
    u, ul = _mul_wide_f64(p, pl, intrinsics.select(left, 3.141592653589793, y), intrinsics.select(left, 1.2246467991473532e-16, 0.0))
    # gamma is n / d times exp(e): 1 / (y p) on the right, pi p / sin(pi y) or pi / (y sin(pi y)) on the left.
    n = intrinsics.select(left, intrinsics.select(small, u, 3.141592653589793), 1.0)
    nl = intrinsics.select(left, intrinsics.select(small, ul, 1.2246467991473532e-16), 0.0)
    d = intrinsics.select(left, intrinsics.select(small, s, y * s), intrinsics.select(small, u, 1.0))
    dl = intrinsics.select(small & (not left), ul, 0.0)
    inverse = 1.0 / d
    q = n * inverse
    ql = intrinsics.fma(-q, dl, intrinsics.fma(-q, d, n) + nl) * inverse
    e = intrinsics.select(left, -e, e)
    el = intrinsics.select(left, -el, el)
    shifted = intrinsics.fma(e, 1.4426950408889634, 6755399441055744.0)
    m = shifted - 6755399441055744.0
    r = intrinsics.fma(m, -0.6931471805599453, e)
    l = intrinsics.fma(m, -2.3190468138462996e-17, el)
    h = r + l
    g = _exp_kernel_f64(h, (r - h) + l)
    z = _scale_f64(intrinsics.fma(g, q, g * ql), shifted)
    z = intrinsics.select(left, -z, z)
    z = intrinsics.select(a > 190.5, intrinsics.select(left, 0.0 * z, np.inf), z)
    z = intrinsics.select(a < 1e-100, 1.0 / x, z)
    whole = intrinsics.floor(a) == a
    return intrinsics.select(intrinsics.isnan(x) | (left & whole & (a > 0.0)), np.nan, z)


def lgamma_f64(x):
    """Logarithm of |gamma(x)|. At most 4 ULP, but for negative arguments near its zeros, where the absolute error is some last places of 1."""
    a = abs(x)
    small = a < 8.0
    y = intrinsics.select(a > 2.5599833278516383e305, 1.0, a)
    e, el = _stirling_f64(y)
    p, pl = _rising_f64(intrinsics.select(small, y, 1.0))
    u, ul = _mul_wide_f64(p, pl, intrinsics.select(small, y, 1.0), 0.0)
    u = intrinsics.select(small & (y >= 1e-100), u, 1.0)
    g, gl = _log_wide_f64(u)
    gl = gl + intrinsics.select(small & (y >= 1e-100), ul / u, 0.0)
    g = intrinsics.select(small, g, 0.0)
    gl = intrinsics.select(small, gl, 0.0)
    z = (e - g) + (((e - (e - g)) - g) + (el - gl))
    z = intrinsics.select(abs(y - 1.0) < 0.125, 0.0 + (y - 1.0) * _lgamma_one_f64(y - 1.0), z)
    z = intrinsics.select(abs(y - 2.0) < 0.125, (y - 2.0) * _lgamma_two_f64(y - 2.0), z)
    z = intrinsics.select(y < 1e-100, -log_f64(y), z)
    whole = intrinsics.floor(a) == a
    left = (x < -1e-20) & (not whole)
    f = intrinsics.select(left, y, 0.5)
    z = intrinsics.select(left, (1.1447298858494002 - log_f64(f * abs(sinpi_f64(f)))) - z, z)
    z = intrinsics.select((a > 2.5599833278516383e305) | (whole & (x <= 0.0)), np.inf, z)
    return intrinsics.select(intrinsics.isnan(x), x, z)


def _stirling_f64(y):
    """(h, l) with h + l = log gamma(s), where s is y + 8 for y < 8 and y from there on."""
    small = y < 8.0
    s = intrinsics.select(small, y + 8.0, y)
    sl = intrinsics.select(small, y - (s - 8.0), 0.0)
    g, gl = _log_wide_f64(s)
    inverse = 1.0 / s
    half = s - 0.5
    # (s - 1/2) log s - s + log(2 pi) / 2 is (s - 1/2) (log s - 1) and a constant.
    f = g - 1.0
    fl = ((g - f) - 1.0) + gl
    h = half * f
    l = intrinsics.fma(half, fl, intrinsics.fma(half, f, -h))
    e = h + 0.4189385332046727
    l = l + (((h - e) + 0.4189385332046727) + 1.6728209650585413e-17)
    l = l + intrinsics.fma(inverse, _stirling_tail_f64(inverse * inverse), sl * (g - 0.5 * inverse))
    h = e + l
    return h, (e - h) + l


def _rising_each(y):
    """(h, l) with h + l = (y + 1) (y + 2) ... (y + 7) for y < 8, from w = y (y + 8): (w + 7) (w + 12) (w + 15) (y + 4)."""
    z = y * y
    y8 = 8.0 * y
    w = y8 + z
    wl = ((y8 - w) + z) + intrinsics.fma(y, y, -z)
    a, al = _add_wide_each(w, wl, 7.0)
    b, bl = _add_wide_each(w, wl, 12.0)
    a, al = _mul_wide_each(a, al, b, bl)
    b, bl = _add_wide_each(w, wl, 15.0)
    a, al = _mul_wide_each(a, al, b, bl)
    b, bl = _add_wide_each(y, 0.0, 4.0)
    return _mul_wide_each(a, al, b, bl)


def _add_wide_each(h, l, c):
    """h + l + c as a sum of two floats."""
    s = h + c
    b = s - h
    return s, ((h - (s - b)) + (c - b)) + l


def _mul_wide_each(a, al, b, bl):
    """(a + al) (b + bl) as a sum of two floats."""
    p = a * b
    l = intrinsics.fma(a, b, -p) + intrinsics.fma(a, bl, al * b)
    h = p + l
    return h, (p - h) + l


def _stirling_tail_f64(w):
    """s (log gamma(s) - (s - 1/2) log s + s - log(2 pi) / 2) in w = 1 / s^2 for s >= 8; absolute error 2^-64 of log gamma."""
    p = intrinsics.fma(w, 0.004974048840628443, -0.0018857627533516133)
    p = intrinsics.fma(w, p, 0.0008413806987457806)
    p = intrinsics.fma(w, p, -0.0005952357542914925)
    p = intrinsics.fma(w, p, 0.0007936507860028389)
    p = intrinsics.fma(w, p, -0.0027777777777667264)
    return intrinsics.fma(w, p, 0.08333333333333333)


def _lgamma_one_f64(t):
    """log gamma(1 + t) / t for |t| <= 1/8; relative error 2^-56."""
    p = intrinsics.fma(t, 0.07468328027753786, -0.080688248271623)
    p = intrinsics.fma(t, p, 0.0832912052807482)
    p = intrinsics.fma(t, p, -0.09087254281366178)
    p = intrinsics.fma(t, p, 0.10010000666663815)
    p = intrinsics.fma(t, p, -0.11133513793564577)
    p = intrinsics.fma(t, p, 0.12550966755693085)
    p = intrinsics.fma(t, p, -0.1440498919870381)
    p = intrinsics.fma(t, p, 0.16955717699764433)
    p = intrinsics.fma(t, p, -0.20738555104114625)
    p = intrinsics.fma(t, p, 0.27058080842779547)
    p = intrinsics.fma(t, p, -0.4006856343865192)
    p = intrinsics.fma(t, p, 0.8224670334241132)
    return intrinsics.fma(t, p, -0.5772156649015329)


def _lgamma_two_f64(t):
    """log gamma(2 + t) / t for |t| <= 1/8; relative error 2^-56."""
    p = intrinsics.fma(t, 2.08055924789417e-05, -4.53714184765385e-05)
    p = intrinsics.fma(t, p, 9.944992487170822e-05)
    p = intrinsics.fma(t, p, -0.0002231469193075468)
    p = intrinsics.fma(t, p, 0.0005096696159777477)
    p = intrinsics.fma(t, p, -0.0011927539752518)
    p = intrinsics.fma(t, p, 0.0028905103302114122)
    p = intrinsics.fma(t, p, -0.007385551028441261)
    p = intrinsics.fma(t, p, 0.020580808427785872)
    p = intrinsics.fma(t, p, -0.06735230105319841)
    p = intrinsics.fma(t, p, 0.3224670334241132)
    return intrinsics.fma(t, p, 0.42278433509846713)


def gamma_f32(x):
    """Gamma function. At most 4 ULP. NaN at negative whole numbers, infinite at zeros."""
    a = abs(x)
    y = intrinsics.select(a > 45.5, 45.5, a)
    small = y < 8.0
    e, el = _stirling_f32(y)
    p, pl = _rising_f32(y)
    s = sinpi_f32(a)
    left = intrinsics.signbit(x)
    u, ul = _mul_wide_f32(p, pl, intrinsics.select(left, 3.1415927, y), intrinsics.select(left, -8.742278e-08, 0.0))
    # gamma is n / d times exp(e): 1 / (y p) on the right, pi p / sin(pi y) or pi / (y sin(pi y)) on the left.
    n = intrinsics.select(left, intrinsics.select(small, u, 3.1415927), 1.0)
    nl = intrinsics.select(left, intrinsics.select(small, ul, -8.742278e-08), 0.0)
    d = intrinsics.select(left, intrinsics.select(small, s, y * s), intrinsics.select(small, u, 1.0))
    dl = intrinsics.select(small & (not left), ul, 0.0)
    inverse = 1.0 / d
    q = n * inverse
    ql = intrinsics.fma(-q, dl, intrinsics.fma(-q, d, n) + nl) * inverse
    e = intrinsics.select(left, -e, e)
    el = intrinsics.select(left, -el, el)
    shifted = intrinsics.fma(e, 1.442695, 12582912.0)
    m = shifted - 12582912.0
    r = intrinsics.fma(m, -0.6931472, e)
    l = intrinsics.fma(m, 1.9046542e-09, el)
    h = r + l
    g = _exp_kernel_f32(h, (r - h) + l)
    z = _scale_f32(intrinsics.fma(g, q, g * ql), shifted)
    z = intrinsics.select(left, -z, z)
    z = intrinsics.select(a > 45.5, intrinsics.select(left, 0.0 * z, np.inf), z)
    z = intrinsics.select(a < 1e-20, 1.0 / x, z)
    whole = intrinsics.floor(a) == a
    return intrinsics.select(intrinsics.isnan(x) | (left & whole & (a > 0.0)), np.nan, z)


def lgamma_f32(x):
    """Logarithm of |gamma(x)|. At most 4 ULP, but for negative arguments near its zeros, where the absolute error is some last places of 1."""
    a = abs(x)
    small = a < 8.0
    y = intrinsics.select(a > 4.0850031e36, 1.0, a)
    e, el = _stirling_f32(y)
    p, pl = _rising_f32(intrinsics.select(small, y, 1.0))
    u, ul = _mul_wide_f32(p, pl, intrinsics.select(small, y, 1.0), 0.0)
    u = intrinsics.select(small & (y >= 1e-20), u, 1.0)
    g, gl = _log_wide_f32(u)
    gl = gl + intrinsics.select(small & (y >= 1e-20), ul / u, 0.0)
    g = intrinsics.select(small, g, 0.0)
    gl = intrinsics.select(small, gl, 0.0)
    z = (e - g) + (((e - (e - g)) - g) + (el - gl))
    z = intrinsics.select(abs(y - 1.0) < 0.125, 0.0 + (y - 1.0) * _lgamma_one_f32(y - 1.0), z)
    z = intrinsics.select(abs(y - 2.0) < 0.125, (y - 2.0) * _lgamma_two_f32(y - 2.0), z)
    z = intrinsics.select(y < 1e-20, -log_f32(y), z)
    whole = intrinsics.floor(a) == a
    left = (x < -1e-10) & (not whole)
    f = intrinsics.select(left, y, 0.5)
    z = intrinsics.select(left, (1.1447299 - log_f32(f * abs(sinpi_f32(f)))) - z, z)
    z = intrinsics.select((a > 4.0850031e36) | (whole & (x <= 0.0)), np.inf, z)
    return intrinsics.select(intrinsics.isnan(x), x, z)


def _stirling_f32(y):
    """(h, l) with h + l = log gamma(s), where s is y + 8 for y < 8 and y from there on."""
    small = y < 8.0
    s = intrinsics.select(small, y + 8.0, y)
    sl = intrinsics.select(small, y - (s - 8.0), 0.0)
    g, gl = _log_wide_f32(s)
    inverse = 1.0 / s
    half = s - 0.5
    # (s - 1/2) log s - s + log(2 pi) / 2 is (s - 1/2) (log s - 1) and a constant.
    f = g - 1.0
    fl = ((g - f) - 1.0) + gl
    h = half * f
    l = intrinsics.fma(half, fl, intrinsics.fma(half, f, -h))
    e = h + 0.41893855
    l = l + (((h - e) + 0.41893855) - 1.4168145e-08)
    l = l + intrinsics.fma(inverse, _stirling_tail_f32(inverse * inverse), sl * (g - 0.5 * inverse))
    h = e + l
    return h, (e - h) + l


def _stirling_tail_f32(w):
    """s (log gamma(s) - (s - 1/2) log s + s - log(2 pi) / 2) in w = 1 / s^2 for s >= 8; absolute error 2^-34 of log gamma."""
    p = intrinsics.fma(w, 0.00081214914, -0.0027783343)
    return intrinsics.fma(w, p, 0.083333336)


def _lgamma_one_f32(t):
    """log gamma(1 + t) / t for |t| <= 1/8; relative error 2^-26."""
    p = intrinsics.fma(t, -0.1466044, 0.17304318)
    p = intrinsics.fma(t, p, -0.2073739)
    p = intrinsics.fma(t, p, 0.27055344)
    p = intrinsics.fma(t, p, -0.4006856)
    p = intrinsics.fma(t, p, 0.8224671)
    return intrinsics.fma(t, p, -0.5772157)


def _lgamma_two_f32(t):
    """log gamma(2 + t) / t for |t| <= 1/8; relative error 2^-26."""
    p = intrinsics.fma(t, 0.0029137123, -0.007413585)
    p = intrinsics.fma(t, p, 0.020580519)
    p = intrinsics.fma(t, p, -0.06735214)
    p = intrinsics.fma(t, p, 0.32246703)
    return intrinsics.fma(t, p, 0.42278433)

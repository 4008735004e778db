"""The modified Bessel function of the first kind of order zero.

Up to 8, 1 + z P(z) with z = (x / 2)^2, where all terms are positive. Beyond, exp(x) / sqrt(x) times a polynomial in 16 / x - 1; exponential, root and
quotient are kept with their low parts. Polynomials: generate/coefficients.py.
"""

import numpy as np
from weft import intrinsics


def i0_f64(x):
    """Bessel function I0. At most 2 ULP."""
    a = abs(x)
    half = 0.5 * intrinsics.select(a < 8.0, a, 8.0)
    z = half * half
    p, pl = _i0_near_f64(z)
    near = intrinsics.fma(z, p, 1.0)
    low = intrinsics.fma(z, p, 1.0 - near) + z * pl
    # What rounding z lost, times the derivative, which is within 4 % of I0 / sqrt(1 + z).
    zl = intrinsics.fma(half, half, -z) / intrinsics.sqrt(1.0 + z)
    near = near + intrinsics.fma(zl, near, low)
    far = _i0_large_f64(intrinsics.select(a > 8.0, intrinsics.select(a > 720.0, 720.0, a), 8.0))
    y = intrinsics.select(a <= 8.0, near, far)
    return intrinsics.select(intrinsics.isnan(x), x, y)


def _i0_large_f64(x):
    """I0(x) for 8 <= x <= 720.0."""
    c, cl = _i0_far_f64(16.0 / x - 1.0)
    root = intrinsics.sqrt(x)
    rootl = intrinsics.fma(-root, root, x) * (0.5 / root)
    q = c / root
    ql = (intrinsics.fma(-q, root, c) + intrinsics.fma(-q, rootl, cl)) / root
    shifted = intrinsics.fma(x, 1.4426950408889634, 6755399441055744.0)
    n = shifted - 6755399441055744.0
    r = intrinsics.fma(n, -0.6931471805599453, x)
    h = intrinsics.fma(n, -2.3190468138462996e-17, r)
    e = _exp_kernel_f64(h, intrinsics.fma(n, -2.3190468138462996e-17, r - h))
    return _scale_f64(intrinsics.fma(q, e, ql * e), shifted)


def _i0_near_f64(z):
    """(h, l) with h + l = (I0(x) - 1) / z in z = (x / 2)^2 <= 16; error 2^-58.59 of I0."""
    p = intrinsics.fma(z, 9.188190734452957e-25, 1.1286876410964106e-22)
    p = intrinsics.fma(z, p, 2.638877251333598e-20)
    p = intrinsics.fma(z, p, 4.345894557647761e-18)
    p = intrinsics.fma(z, p, 6.277877522850478e-16)
    p = intrinsics.fma(z, p, 7.593875294580858e-14)
    p = intrinsics.fma(z, p, 7.594071809952451e-12)
    p = intrinsics.fma(z, p, 6.151186627805491e-10)
    p = intrinsics.fma(z, p, 3.9367599148613605e-08)
    p = intrinsics.fma(z, p, 1.9290123450307963e-06)
    p = intrinsics.fma(z, p, 6.944444444551209e-05)
    p = intrinsics.fma(z, p, 0.0017361111111100476)
    p = intrinsics.fma(z, p, 0.027777777777778335)
    h, l = _i0_step_f64(z, p, 0.0, 0.2499999999999999)
    return _i0_step_f64(z, h, l, 1.0)


def _i0_step_each(z, h, l, c):
    """c + z (h + l) as a sum of two floats."""
    t = z * h
    s = t + c
    b = s - t
    return s, ((t - (s - b)) + (c - b)) + intrinsics.fma(z, l, intrinsics.fma(z, h, -t))


def _i0_far_f64(u):
    """(h, l) with h + l = sqrt(x) exp(-x) I0(x) in u = 16 / x - 1; error 2^-53.78."""
    w = u * u
    p = intrinsics.fma(w, -2.4193235324540952e-11, 1.7412505962946529e-10)
    p = intrinsics.fma(w, p, -6.21849658433261e-10)
    p = intrinsics.fma(w, p, 1.5875149453618126e-09)
    p = intrinsics.fma(w, p, -3.562695703721765e-09)
    p = intrinsics.fma(w, p, 7.583651632873195e-09)
    p = intrinsics.fma(w, p, -1.3420051269657485e-08)
    p = intrinsics.fma(w, p, 7.557248924827184e-09)
    p = intrinsics.fma(w, p, 3.932548543235379e-08)
    p = intrinsics.fma(w, p, 2.9735988660928755e-07)
    p = intrinsics.fma(w, p, 1.1143033789942291e-05)
    p = intrinsics.fma(w, p, 0.003360551983667872)
    o = intrinsics.fma(w, -5.57259996864452e-11, 4.3037511131670377e-10)
    o = intrinsics.fma(w, o, -1.5532337201502388e-09)
    o = intrinsics.fma(w, o, 3.5475719240092417e-09)
    o = intrinsics.fma(w, o, -5.875262312409061e-09)
    o = intrinsics.fma(w, o, 7.385992631986791e-09)
    o = intrinsics.fma(w, o, -5.3880825006489875e-09)
    o = intrinsics.fma(w, o, -6.751731079214762e-09)
    o = intrinsics.fma(w, o, 2.154899823645569e-08)
    o = intrinsics.fma(w, o, 8.872214283604961e-08)
    o = intrinsics.fma(w, o, 1.4838475682311698e-06)
    o = intrinsics.fma(w, o, 0.0001362160743918909)
    p = intrinsics.fma(u, o, p)
    h = intrinsics.fma(u, p, 0.4021765094450081)
    return h, intrinsics.fma(u, p, 0.4021765094450081 - h) + -2.39499223886019e-17


def i0_f32(x):
    """Bessel function I0. At most 2 ULP."""
    a = abs(x)
    half = 0.5 * intrinsics.select(a < 8.0, a, 8.0)
    z = half * half
    p, pl = _i0_near_f32(z)
    near = intrinsics.fma(z, p, 1.0)
    low = intrinsics.fma(z, p, 1.0 - near) + z * pl
    # What rounding z lost, times the derivative, which is within 4 % of I0 / sqrt(1 + z).
    zl = intrinsics.fma(half, half, -z) / intrinsics.sqrt(1.0 + z)
    near = near + intrinsics.fma(zl, near, low)
    far = _i0_large_f32(intrinsics.select(a > 8.0, intrinsics.select(a > 92.0, 92.0, a), 8.0))
    y = intrinsics.select(a <= 8.0, near, far)
    return intrinsics.select(intrinsics.isnan(x), x, y)


def _i0_large_f32(x):
    """I0(x) for 8 <= x <= 92.0."""
    c, cl = _i0_far_f32(16.0 / x - 1.0)
    root = intrinsics.sqrt(x)
    rootl = intrinsics.fma(-root, root, x) * (0.5 / root)
    q = c / root
    ql = (intrinsics.fma(-q, root, c) + intrinsics.fma(-q, rootl, cl)) / root
    shifted = intrinsics.fma(x, 1.442695, 12582912.0)
    n = shifted - 12582912.0
    r = intrinsics.fma(n, -0.6931472, x)
    h = intrinsics.fma(n, 1.9046542e-09, r)
    e = _exp_kernel_f32(h, intrinsics.fma(n, 1.9046542e-09, r - h))
    return _scale_f32(intrinsics.fma(q, e, ql * e), shifted)


def _i0_near_f32(z):
    """(h, l) with h + l = (I0(x) - 1) / z in z = (x / 2)^2 <= 16; error 2^-26.12 of I0."""
    p = intrinsics.fma(z, 1.4942514e-11, 3.8456366e-10)
    p = intrinsics.fma(z, p, 4.305252e-08)
    p = intrinsics.fma(z, p, 1.8954305e-06)
    p = intrinsics.fma(z, p, 6.962326e-05)
    p = intrinsics.fma(z, p, 0.0017355698)
    p = intrinsics.fma(z, p, 0.027778635)
    h, l = _i0_step_f32(z, p, 0.0, 0.2499994)
    return _i0_step_f32(z, h, l, 1.0000001)


def _i0_far_f32(u):
    """(h, l) with h + l = sqrt(x) exp(-x) I0(x) in u = 16 / x - 1; error 2^-25.22."""
    w = u * u
    p = intrinsics.fma(w, 3.4842105e-07, 1.1124107e-05)
    p = intrinsics.fma(w, p, 0.0033605539)
    o = intrinsics.fma(w, 1.2690296e-07, 1.4581391e-06)
    o = intrinsics.fma(w, o, 0.00013622145)
    p = intrinsics.fma(u, o, p)
    h = intrinsics.fma(u, p, 0.4021765)
    return h, intrinsics.fma(u, p, 0.4021765 - h) + 9.908709e-09

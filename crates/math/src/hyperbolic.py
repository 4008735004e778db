"""exp(x) - 1 and the hyperbolic functions made of it.

With x = n ln 2 + h + l, expm1(x) = 2^n ((1 - 2^-n) + h + (h^2/2 + h^3 R(h) + l)): the parenthesis is kept as a sum of two floats, without cancellation
that would hurt, and sinh and tanh are quotients of such sums. Polynomials: generate/coefficients.py.
"""

from weft import intrinsics


def expm1_f64(x):
    """exp(x) - 1. At most 1 ULP."""
    y = intrinsics.select(x > 710.0, 710.0, intrinsics.select(x < -50.0, -50.0, x))
    g, gl, _, n = _expm1_wide_f64(y)
    scale = intrinsics.from_bits((n + 1022) << 52)
    y = ((g + gl) * scale) * 2.0
    return intrinsics.copysign(intrinsics.select(abs(x) < 1e-17, x, y), x)


def sinh_f64(x):
    """Hyperbolic sine: with N = expm1(x), half of N + N / (N + 1). At most 1 ULP."""
    a = abs(x)
    y = intrinsics.select(a > 711.0, 711.0, a)
    g, gl, t, n = _expm1_wide_f64(y)
    q, ql = _quotient_f64(g, gl, t)
    # A quarter of it all, so that nothing overflows before the end.
    scale = intrinsics.from_bits((n + 1020) << 52)
    big = g * scale
    small = 0.125 * q
    s = big + small
    l = ((big - s) + small) + intrinsics.fma(gl, scale, 0.125 * ql)
    return intrinsics.copysign(intrinsics.select(a < 1e-9, a, (s + l) * 4.0), x)


def cosh_f64(x):
    """Hyperbolic cosine: half of E + 1 / E with E = exp(|x|). At most 1 ULP."""
    a = abs(x)
    y = intrinsics.select(a > 711.0, 711.0, a)
    g, gl, t, n = _expm1_wide_f64(y)
    p = g + t
    pl = ((intrinsics.select(g > t, g, t) - p) + intrinsics.select(g > t, t, g)) + gl
    r = 1.0 / p
    r = intrinsics.fma(-r * r, pl, r)
    scale = intrinsics.from_bits((n + 1020) << 52)
    big = p * scale
    small = (0.125 * t) * r
    s = big + small
    return (s + (((big - s) + small) + pl * scale)) * 4.0


def tanh_f64(x):
    """Hyperbolic tangent: N / (N + 2) with N = expm1(2 |x|). At most 1 ULP."""
    a = abs(x)
    y = intrinsics.select(a > 22.0, 22.0, a)
    g, gl, t, _ = _expm1_wide_f64(y + y)
    q, ql = _quotient_f64(g, gl, t + t)
    return intrinsics.copysign(q + ql, x)


def _quotient_f64(g, gl, t):
    """(q, ql) with q + ql = (g + gl) / (g + gl + t)."""
    d = g + t
    dl = ((intrinsics.select(g > t, g, t) - d) + intrinsics.select(g > t, t, g)) + gl
    inverse = 1.0 / d
    q = g * inverse
    return q, intrinsics.fma(-q, dl, intrinsics.fma(-q, d, g) + gl) * inverse


def _expm1_wide_f64(x):
    """(g, gl, t, n) with expm1(x) = 2^n (g + gl) and t = 2^-n (0 where it does not matter any more), for x in the exponential's range."""
    shifted = intrinsics.fma(x, 1.4426950408889634, 6755399441055744.0)
    n = shifted - 6755399441055744.0
    r = intrinsics.fma(n, -0.6931471805599453, x)
    h = intrinsics.fma(n, -2.3190468138462996e-17, r)
    l = intrinsics.fma(n, -2.3190468138462996e-17, r - h)
    m = intrinsics.bits(shifted) - 4843621399236968448
    t = intrinsics.select(n > 60.0, 0.0, intrinsics.from_bits((1023 - m) << 52))
    c = 1.0 - t
    g = c + h
    half = 0.5 * h
    square = half * h
    rest = intrinsics.fma(h * square, 2.0 * _expm1_tail_f64(h), intrinsics.fma(half, h, -square) + l)
    gl = ((c - g) + h) + (square + (rest + ((1.0 - c) - t)))
    s = g + gl
    return s, (g - s) + gl, t, m


def _expm1_tail_f64(h):
    """(exp(h) - 1 - h - h^2/2) / h^3 for |h| <= 0.3468; error 2^-60 of exp(h)."""
    z = h * h
    p = intrinsics.fma(z, 2.5115342586371733e-08, 2.75572251190835e-06)
    p = intrinsics.fma(z, p, 0.00019841269906386482)
    p = intrinsics.fma(z, p, 0.008333333333312902)
    p = intrinsics.fma(z, p, 0.16666666666666688)
    o = intrinsics.fma(z, 2.1014387498217725e-09, 2.7556978280208237e-07)
    o = intrinsics.fma(z, o, 2.4801587630683468e-05)
    o = intrinsics.fma(z, o, 0.0013888888888756688)
    o = intrinsics.fma(z, o, 0.041666666666666845)
    return intrinsics.fma(h, o, p)


def expm1_f32(x):
    """exp(x) - 1. At most 1 ULP."""
    y = intrinsics.select(x > 89.0, 89.0, intrinsics.select(x < -50.0, -50.0, x))
    g, gl, _, n = _expm1_wide_f32(y)
    scale = intrinsics.from_bits((n + 126) << 23)
    y = ((g + gl) * scale) * 2.0
    return intrinsics.copysign(intrinsics.select(abs(x) < 1e-8, x, y), x)


def sinh_f32(x):
    """Hyperbolic sine: with N = expm1(x), half of N + N / (N + 1). At most 1 ULP."""
    a = abs(x)
    y = intrinsics.select(a > 90.0, 90.0, a)
    g, gl, t, n = _expm1_wide_f32(y)
    q, ql = _quotient_f32(g, gl, t)
    # A quarter of it all, so that nothing overflows before the end.
    scale = intrinsics.from_bits((n + 124) << 23)
    big = g * scale
    small = 0.125 * q
    s = big + small
    l = ((big - s) + small) + intrinsics.fma(gl, scale, 0.125 * ql)
    return intrinsics.copysign(intrinsics.select(a < 1e-4, a, (s + l) * 4.0), x)


def cosh_f32(x):
    """Hyperbolic cosine: half of E + 1 / E with E = exp(|x|). At most 1 ULP."""
    a = abs(x)
    y = intrinsics.select(a > 90.0, 90.0, a)
    g, gl, t, n = _expm1_wide_f32(y)
    p = g + t
    pl = ((intrinsics.select(g > t, g, t) - p) + intrinsics.select(g > t, t, g)) + gl
    r = 1.0 / p
    r = intrinsics.fma(-r * r, pl, r)
    scale = intrinsics.from_bits((n + 124) << 23)
    big = p * scale
    small = (0.125 * t) * r
    s = big + small
    return (s + (((big - s) + small) + pl * scale)) * 4.0


def tanh_f32(x):
    """Hyperbolic tangent: N / (N + 2) with N = expm1(2 |x|). At most 1 ULP."""
    a = abs(x)
    y = intrinsics.select(a > 10.0, 10.0, a)
    g, gl, t, _ = _expm1_wide_f32(y + y)
    q, ql = _quotient_f32(g, gl, t + t)
    return intrinsics.copysign(q + ql, x)


def _quotient_f32(g, gl, t):
    """(q, ql) with q + ql = (g + gl) / (g + gl + t)."""
    d = g + t
    dl = ((intrinsics.select(g > t, g, t) - d) + intrinsics.select(g > t, t, g)) + gl
    inverse = 1.0 / d
    q = g * inverse
    return q, intrinsics.fma(-q, dl, intrinsics.fma(-q, d, g) + gl) * inverse


def _expm1_wide_f32(x):
    """(g, gl, t, n) with expm1(x) = 2^n (g + gl) and t = 2^-n (0 where it does not matter any more), for x in the exponential's range."""
    shifted = intrinsics.fma(x, 1.442695, 12582912.0)
    n = shifted - 12582912.0
    r = intrinsics.fma(n, -0.6931472, x)
    h = intrinsics.fma(n, 1.9046542e-09, r)
    l = intrinsics.fma(n, 1.9046542e-09, r - h)
    m = intrinsics.bits(shifted) - 1262485504
    t = intrinsics.select(n > 60.0, 0.0, intrinsics.from_bits((127 - m) << 23))
    c = 1.0 - t
    g = c + h
    half = 0.5 * h
    square = half * h
    rest = intrinsics.fma(h * square, 2.0 * _expm1_tail_f32(h), intrinsics.fma(half, h, -square) + l)
    gl = ((c - g) + h) + (square + (rest + ((1.0 - c) - t)))
    s = g + gl
    return s, (g - s) + gl, t, m


def _expm1_tail_f32(h):
    """(exp(h) - 1 - h - h^2/2) / h^3 for |h| <= 0.3468; error 2^-27.8 of exp(h)."""
    p = intrinsics.fma(h, 0.0014035609, 0.008372288)
    p = intrinsics.fma(h, p, 0.041665554)
    return intrinsics.fma(h, p, 0.16666488)

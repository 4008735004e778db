"""The error function and its complement.

Up to 1, erf(x) = x + x P(x^2); beyond, erf(x) = 1 - 2^Q(x) with a polynomial for the binary logarithm of the complement. The complement itself is
exp(-a^2) (1 + 2 a) erfcx(a) / (1 + 2 a) of a = |x|: (1 + 2 a) erfcx(a) is so smooth in (a - k) / (a + k) that one polynomial serves for all a
(M. Shepherd and J. Laframboise, "Chebyshev approximation of (1 + 2x) exp(x^2) erfc x", Math. Comp. 36, 1981). The exponential gets the exact square.
Polynomials: generate/coefficients.py.
"""

from weft import intrinsics


def erf_f64(x):
    """Error function. At most 2 ULP."""
    a = abs(x)
    near = intrinsics.fma(x, _erf_tail_f64(x * x), x)
    e = _erfc_log_f64(intrinsics.select(a > 5.95, 5.95, a) - 1.0)
    shifted = e + 6755399441055744.0
    r = e - (shifted - 6755399441055744.0)
    p = intrinsics.fma(r * r, _exp2_tail_f64(r), intrinsics.fma(r, 0.6931471805599453, 1.0))
    far = 1.0 - intrinsics.from_bits(intrinsics.bits(p) + (intrinsics.bits(shifted) << 52))
    return intrinsics.select(a > 1.0, intrinsics.copysign(far, x), near)


def _erfc_log_f64(t):
    """The binary logarithm of erfc(1 + t) for 0 <= t <= 4.95; error 2^-54 of erf."""
    w = t * t
    p = intrinsics.fma(w, 2.5555952658539475e-11, 4.692127822852671e-09)
    p = intrinsics.fma(w, p, 1.264147219291367e-08)
    p = intrinsics.fma(w, p, -3.249798218454694e-06)
    p = intrinsics.fma(w, p, -3.9360507682999375e-05)
    p = intrinsics.fma(w, p, 0.00034235325899505527)
    p = intrinsics.fma(w, p, 0.014475749002950502)
    p = intrinsics.fma(w, p, -1.2163466576907167)
    p = intrinsics.fma(w, p, -2.6684166967815997)
    o = intrinsics.fma(w, -5.319795025248913e-10, -2.0355363273771536e-08)
    o = intrinsics.fma(w, o, 4.257953068187668e-07)
    o = intrinsics.fma(w, o, 1.412278842544005e-05)
    o = intrinsics.fma(w, o, 3.799908915436375e-05)
    o = intrinsics.fma(w, o, -0.0028535029583742076)
    o = intrinsics.fma(w, o, -0.05995998993950849)
    o = intrinsics.fma(w, o, -3.8072253458535243)
    return intrinsics.fma(t, o, p)


def erfc_f64(x):
    """Complementary error function, 1 - erf(x). At most 2 ULP."""
    a = abs(x)
    p, shifted = _erfc_parts_f64(a)
    y = intrinsics.from_bits(intrinsics.bits(p) + (intrinsics.bits(shifted) << 52))
    y = intrinsics.select(x < 0.0, 2.0 - y, y)
    if not a <= 26.0:
        y = _rare_erfc_f64(x)
    return y


def _rare_erfc_f64(x):
    """erfc(x) where erfc(|x|) is, or is nearly, subnormal, and of NaN."""
    a = abs(x)
    p, shifted = _erfc_parts_f64(intrinsics.select(a < 28.0, a, 28.0))
    y = _scale_f64(p, shifted)
    y = intrinsics.select(x < 0.0, 2.0 - y, y)
    return intrinsics.select(intrinsics.isnan(x), x, y)


def _erfc_parts_f64(a):
    """(p, shifted) with erfc(a) = 2^n p for 0 <= a <= 28.0, n in the low bits of `shifted`."""
    z = a * a
    shifted = intrinsics.fma(z, -1.4426950408889634, 6755399441055744.0)
    n = shifted - 6755399441055744.0
    r = intrinsics.fma(n, -0.6931471805599453, -z)
    l = intrinsics.fma(n, -2.3190468138462996e-17, -intrinsics.fma(a, a, -z))
    h = r + l
    e, el = _exp_pair_f64(h, (r - h) + l)
    twice = a + a
    c, cl = _erfcx_wide_f64(intrinsics.fma(twice, 1.0 / (a + 3.31640625), -1.0))
    d = 1.0 + twice
    dl = twice - (d - 1.0)
    inverse = 1.0 / d
    q = c * inverse
    ql = intrinsics.fma(-q, dl, intrinsics.fma(-q, d, c) + cl) * inverse
    return intrinsics.fma(q, e, intrinsics.fma(q, el, ql * e)), shifted


def _erf_tail_f64(z):
    """erf(x) / x - 1 in z = x^2 <= 1; error 2^-56 of erf(x)/x."""
    w = z * z
    p = intrinsics.fma(w, 1.4344479585682116e-10, 1.6013326063815165e-08)
    p = intrinsics.fma(w, p, 1.6481059752596697e-06)
    p = intrinsics.fma(w, p, 0.00012055386194700648)
    p = intrinsics.fma(w, p, 0.005223977652692805)
    p = intrinsics.fma(w, p, 0.11283791670971098)
    p = intrinsics.fma(w, p, 0.1283791670955126)
    o = intrinsics.fma(w, -1.646520025880768e-09, -1.655714133453986e-07)
    o = intrinsics.fma(w, o, -1.4926881506778504e-05)
    o = intrinsics.fma(w, o, -0.000854832853582349)
    o = intrinsics.fma(w, o, -0.02686617064803115)
    o = intrinsics.fma(w, o, -0.376126389031841)
    return intrinsics.fma(z, o, p)


def _erfcx_wide_f64(t):
    """(h, l) with h + l = (1 + 2 a) exp(a^2) erfc(a) for 0 <= a <= 28.0 in t = (a - 3.31640625) / (a + 3.31640625); error 2^-56.6."""
    w = t * t
    p = intrinsics.fma(w, 1.207612149219639e-09, -2.906403555329501e-09)
    p = intrinsics.fma(w, p, -1.620907122626938e-08)
    p = intrinsics.fma(w, p, 1.8699192406482092e-07)
    p = intrinsics.fma(w, p, -1.1441760523852998e-06)
    p = intrinsics.fma(w, p, 3.8510024964742425e-06)
    p = intrinsics.fma(w, p, 3.199397225819504e-05)
    p = intrinsics.fma(w, p, -0.000988805477658706)
    p = intrinsics.fma(w, p, 0.012441983009941076)
    p = intrinsics.fma(w, p, 0.08260443704756443)
    p = intrinsics.fma(w, p, 0.10921520726263183)
    p = intrinsics.fma(w, p, -0.13911810817021966)
    o = intrinsics.fma(w, 4.965659763818207e-09, -4.1611536811038805e-08)
    o = intrinsics.fma(w, o, 2.391465040781727e-07)
    o = intrinsics.fma(w, o, -1.3573695354213102e-06)
    o = intrinsics.fma(w, o, 8.588187723388644e-06)
    o = intrinsics.fma(w, o, -6.0264996340352105e-05)
    o = intrinsics.fma(w, o, 0.00040565827788500026)
    o = intrinsics.fma(w, o, -0.001080975865579686)
    o = intrinsics.fma(w, o, -0.04027764732186813)
    o = intrinsics.fma(w, o, -0.11824183762936456)
    o = intrinsics.fma(w, o, -0.02267342320478538)
    p = intrinsics.fma(t, o, p)
    h = intrinsics.fma(t, p, 1.2461106409762608)
    return h, intrinsics.fma(t, p, 1.2461106409762608 - h)


def erf_f32(x):
    """Error function. At most 2 ULP."""
    a = abs(x)
    near = intrinsics.fma(x, _erf_tail_f32(x * x), x)
    e = _erfc_log_f32(intrinsics.select(a > 3.95, 3.95, a) - 1.0)
    shifted = e + 12582912.0
    r = e - (shifted - 12582912.0)
    p = intrinsics.fma(r, _exp2_tail_f32(r), 1.0)
    far = 1.0 - intrinsics.from_bits(intrinsics.bits(p) + (intrinsics.bits(shifted) << 23))
    return intrinsics.select(a > 1.0, intrinsics.copysign(far, x), near)


def _erfc_log_f32(t):
    """The binary logarithm of erfc(1 + t) for 0 <= t <= 2.95; error 2^-27 of erf."""
    w = t * t
    p = intrinsics.fma(w, 0.0002689037, 0.014276235)
    p = intrinsics.fma(w, p, -1.2163615)
    p = intrinsics.fma(w, p, -2.6684167)
    o = intrinsics.fma(w, -0.0026393083, -0.059876963)
    o = intrinsics.fma(w, o, -3.8072245)
    return intrinsics.fma(t, o, p)


def erfc_f32(x):
    """Complementary error function, 1 - erf(x). At most 2 ULP."""
    a = abs(x)
    p, shifted = _erfc_parts_f32(a)
    y = intrinsics.from_bits(intrinsics.bits(p) + (intrinsics.bits(shifted) << 23))
    y = intrinsics.select(x < 0.0, 2.0 - y, y)
    if not a <= 9.0:
        y = _rare_erfc_f32(x)
    return y


def _rare_erfc_f32(x):
    """erfc(x) where erfc(|x|) is, or is nearly, subnormal, and of NaN."""
    a = abs(x)
    p, shifted = _erfc_parts_f32(intrinsics.select(a < 10.5, a, 10.5))
    y = _scale_f32(p, shifted)
    y = intrinsics.select(x < 0.0, 2.0 - y, y)
    return intrinsics.select(intrinsics.isnan(x), x, y)


def _erfc_parts_f32(a):
    """(p, shifted) with erfc(a) = 2^n p for 0 <= a <= 10.5, n in the low bits of `shifted`."""
    z = a * a
    shifted = intrinsics.fma(z, -1.442695, 12582912.0)
    n = shifted - 12582912.0
    r = intrinsics.fma(n, -0.6931472, -z)
    l = intrinsics.fma(n, 1.9046542e-09, -intrinsics.fma(a, a, -z))
    h = r + l
    e, el = _exp_pair_f32(h, (r - h) + l)
    twice = a + a
    c, cl = _erfcx_wide_f32(intrinsics.fma(twice, 1.0 / (a + 2.21875), -1.0))
    d = 1.0 + twice
    dl = twice - (d - 1.0)
    inverse = 1.0 / d
    q = c * inverse
    ql = intrinsics.fma(-q, dl, intrinsics.fma(-q, d, c) + cl) * inverse
    return intrinsics.fma(q, e, intrinsics.fma(q, el, ql * e)), shifted


def _erf_tail_f32(z):
    """erf(x) / x - 1 in z = x^2 <= 1; error 2^-29 of erf(x)/x."""
    w = z * z
    p = intrinsics.fma(w, 7.806903e-05, 0.005187162)
    p = intrinsics.fma(w, p, 0.11283579)
    p = intrinsics.fma(w, p, 0.12837917)
    o = intrinsics.fma(w, -0.0007997853, -0.026853347)
    o = intrinsics.fma(w, o, -0.37612626)
    return intrinsics.fma(z, o, p)


def _erfcx_wide_f32(t):
    """(h, l) with h + l = (1 + 2 a) exp(a^2) erfc(a) for 0 <= a <= 10.5 in t = (a - 2.21875) / (a + 2.21875); error 2^-26.8."""
    w = t * t
    p = intrinsics.fma(w, 0.00025132144, -0.0021437346)
    p = intrinsics.fma(w, p, 0.008792321)
    p = intrinsics.fma(w, p, 0.16568169)
    p = intrinsics.fma(w, p, -0.108396925)
    o = intrinsics.fma(w, 0.00016634501, -0.0012422798)
    o = intrinsics.fma(w, o, 0.008544539)
    o = intrinsics.fma(w, o, -0.08001193)
    o = intrinsics.fma(w, o, -0.13501649)
    p = intrinsics.fma(t, o, p)
    h = intrinsics.fma(t, p, 1.2717445)
    return h, intrinsics.fma(t, p, 1.2717445 - h)

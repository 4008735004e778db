"""The error function and its complement.

Up to 1, erf(x) = x + x P(x^2); beyond, erf(x) = 1 - 2^Q(x) with a polynomial for the binary logarithm of the complement. The complement itself is
exp(-x^2) (1 + 2 x) erfcx(x) / (1 + 2 x): (1 + 2 x) erfcx(x) is so smooth in (x - a) / (x + a) that one polynomial serves for all x (M. Shepherd and
J. Laframboise, "Chebyshev approximation of (1 + 2x) exp(x^2) erfc x", Math. Comp. 36, 1981). The exponential gets the exact square.
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


def erfc_each(x):
    """Complementary error function, 1 - erf(x). At most 2 ULP."""
    a = abs(x)
    s = intrinsics.select(a < 0.5, x, 0.0)
    h = 1.0 - s
    near = h + (((1.0 - h) - s) - s * _erf_tail_each(s * s))
    far = _erfc_far_each(intrinsics.select(a > 0.5, a, 0.5))
    far = intrinsics.select(x < 0.0, 2.0 - far, far)
    y = intrinsics.select(a < 0.5, near, far)
    return intrinsics.select(intrinsics.isnan(x), x, y)


def _erfc_far_f64(a):
    """erfc(a) for a >= 1/2."""
    a = intrinsics.select(a > 28.0, 28.0, a)
    z = a * a
    zl = intrinsics.fma(a, a, -z)
    shifted = intrinsics.fma(z, -1.4426950408889634, 6755399441055744.0)
    n = shifted - 6755399441055744.0
    r = intrinsics.fma(n, -0.6931471805599453, -z)
    l = intrinsics.fma(n, -2.3190468138462996e-17, -zl)
    h = r + l
    e = _exp_kernel_f64(h, (r - h) + l)
    c, cl = _erfcx_wide_f64((a - 3.0) / (a + 3.0))
    d = 1.0 + (a + a)
    dl = (a + a) - (d - 1.0)
    inverse = 1.0 / d
    q = c * inverse
    ql = intrinsics.fma(-q, dl, intrinsics.fma(-q, d, c) + cl) * inverse
    return _scale_f64(intrinsics.fma(q, e, ql * e), shifted)


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
    """(h, l) with h + l = (1 + 2 x) exp(x^2) erfc(x) for 1/2 <= x <= 28 in t = (x - 3) / (x + 3); error 2^-56.9."""
    w = t * t
    p = intrinsics.fma(w, -1.4780879637910379e-08, 1.1010519783076263e-07)
    p = intrinsics.fma(w, p, -6.280028213566923e-07)
    p = intrinsics.fma(w, p, 3.4804537938983483e-06)
    p = intrinsics.fma(w, p, -2.0103961064359944e-05)
    p = intrinsics.fma(w, p, 0.0001251002464324122)
    p = intrinsics.fma(w, p, -0.0007798324191275615)
    p = intrinsics.fma(w, p, 0.0025293918305883917)
    p = intrinsics.fma(w, p, 0.06830802734318885)
    p = intrinsics.fma(w, p, 0.12964515870278034)
    p = intrinsics.fma(w, p, -0.1356211061245813)
    o = intrinsics.fma(w, 2.2368587957684627e-08, -1.2024538074615546e-07)
    o = intrinsics.fma(w, o, 3.432215291630544e-07)
    o = intrinsics.fma(w, o, -7.260755947906535e-07)
    o = intrinsics.fma(w, o, 4.948088142045649e-06)
    o = intrinsics.fma(w, o, -0.00010515956837752693)
    o = intrinsics.fma(w, o, 0.0018886903349014982)
    o = intrinsics.fma(w, o, -0.023770514917100784)
    o = intrinsics.fma(w, o, -0.11927366341536215)
    o = intrinsics.fma(w, o, -0.04756229435344999)
    p = intrinsics.fma(t, o, p)
    h = intrinsics.fma(t, p, 1.2530080582697296)
    return h, intrinsics.fma(t, p, 1.2530080582697296 - h) + 4.251587054420117e-17


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


def _erfc_far_f32(a):
    """erfc(a) for a >= 1/2."""
    a = intrinsics.select(a > 10.5, 10.5, a)
    z = a * a
    zl = intrinsics.fma(a, a, -z)
    shifted = intrinsics.fma(z, -1.442695, 12582912.0)
    n = shifted - 12582912.0
    r = intrinsics.fma(n, -0.6931472, -z)
    l = intrinsics.fma(n, 1.9046542e-09, -zl)
    h = r + l
    e = _exp_kernel_f32(h, (r - h) + l)
    c, cl = _erfcx_wide_f32((a - 2.0) / (a + 2.0))
    d = 1.0 + (a + a)
    dl = (a + a) - (d - 1.0)
    inverse = 1.0 / d
    q = c * inverse
    ql = intrinsics.fma(-q, dl, intrinsics.fma(-q, d, c) + cl) * inverse
    return _scale_f32(intrinsics.fma(q, e, ql * e), shifted)


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
    """(h, l) with h + l = (1 + 2 x) exp(x^2) erfc(x) for 1/2 <= x <= 10.5 in t = (x - 2) / (x + 2); error 2^-27.1."""
    w = t * t
    p = intrinsics.fma(w, -0.00021498719, 0.0011375694)
    p = intrinsics.fma(w, p, -0.008003161)
    p = intrinsics.fma(w, p, 0.16404848)
    p = intrinsics.fma(w, p, -0.09276376)
    o = intrinsics.fma(w, -0.0012663081, 0.008659468)
    o = intrinsics.fma(w, o, -0.05421127)
    o = intrinsics.fma(w, o, -0.16603082)
    p = intrinsics.fma(t, o, p)
    h = intrinsics.fma(t, p, 1.2769784)
    return h, intrinsics.fma(t, p, 1.2769784 - h) + 1.1478183e-08

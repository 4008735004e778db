"""Shorter versions of logarithms and powers for callers with `fastmath=True`: at most 4 ULP on the usual ranges, which each names.

`log_f32_fast` stands for `log_f32` there; a function without such a definition is the same for all callers. No NaN or infinity is expected, subnormal
results may be zero. They are compiled as written, too, so that they give the same bits everywhere. Polynomials: generate/coefficients.py.
"""

import numpy as np
from weft import intrinsics


def log_f64_fast(x):
    """Natural logarithm of a normal positive number."""
    k, f = _log_split_f64(x)
    s = _log_ratio_fast_f64(f)
    return intrinsics.fma(k, 0.6931471805599453, intrinsics.fma(s, _log_tail_f64(s * s) - f, f))


def log2_f64_fast(x):
    """Logarithm to base 2 of a normal positive number."""
    k, f = _log_split_f64(x)
    s = _log_ratio_fast_f64(f)
    return intrinsics.fma(s, _log2_poly_fast_f64(s * s), k)


def log10_f64_fast(x):
    """Logarithm to base 10 of a normal positive number."""
    k, f = _log_split_f64(x)
    s = _log_ratio_fast_f64(f)
    return intrinsics.fma(k, 0.3010299956639812, s * _log10_poly_fast_f64(s * s))


def _log2_poly_fast_f64(z):
    """2 atanh(s) / (s ln 2) in z = s^2 <= 0.0295; error 2^-56."""
    w = z * z
    p = intrinsics.fma(w, 0.21914090923169374, 0.3205971152741013)
    p = intrinsics.fma(w, p, 0.5770780162752803)
    p = intrinsics.fma(w, p, 2.8853900817779268)
    o = intrinsics.fma(w, 0.23095012490367384, 0.2624056308874366)
    o = intrinsics.fma(w, o, 0.4121986003291646)
    o = intrinsics.fma(w, o, 0.961796693926117)
    return intrinsics.fma(z, o, p)


def _log10_poly_fast_f64(z):
    """2 atanh(s) / (s ln 10) in z = s^2 <= 0.0295; error 2^-55."""
    w = z * z
    p = intrinsics.fma(w, 0.06553919513116525, 0.09650899958973211)
    p = intrinsics.fma(w, p, 0.17371779271950724)
    p = intrinsics.fma(w, p, 0.8685889638065036)
    o = intrinsics.fma(w, 0.0736821841150504, 0.07900933031719119)
    o = intrinsics.fma(w, o, 0.12408414646203925)
    o = intrinsics.fma(w, o, 0.28952965460224284)
    return intrinsics.fma(z, o, p)


def log1p_f64_fast(x):
    """log(1 + x) for -1 < x < 1e300: 1 + f is 2^-k (1 + x), and f = 2^-k x + (2^-k - 1) is rounded once."""
    t = intrinsics.bits(1.0 + x) + 2638147582215219
    k = intrinsics.from_bits((t >> 52) | 0x4330000000000000) - 4503599627371519.0
    scale = intrinsics.from_bits(0x7FE0000000000000 - (t & 0x7FF0000000000000))
    f = intrinsics.fma(x, scale, scale - 1.0)
    s = _log_ratio_fast_f64(f)
    return intrinsics.fma(k, 0.6931471805599453, intrinsics.fma(s, _log_tail_f64(s * s) - f, f))


def _log_ratio_fast_f64(f):
    """f / (2 + f) for 1/sqrt(2) <= 1 + f <= sqrt(2), by multiplication."""
    c = _log_inverse_fast_f64(f)
    e = intrinsics.fma(-2.0 - f, c, 1.0)
    s = f * c
    return intrinsics.fma(s, intrinsics.fma(e, e, e), s)


def _log_inverse_fast_f64(f):
    """1 / (2 + f) for 1/sqrt(2) <= 1 + f <= sqrt(2); error 2^-20."""
    p = intrinsics.fma(f, -0.013656363549510499, 0.03228559748642897)
    p = intrinsics.fma(f, p, -0.06276247832106786)
    p = intrinsics.fma(f, p, 0.12496375574415541)
    p = intrinsics.fma(f, p, -0.24999391935161538)
    return intrinsics.fma(f, p, 0.5000002135852161)


def log_f32_fast(x):
    """Natural logarithm of a normal positive number."""
    k, f = _log_split_fast_f32(x)
    z = f * f
    return intrinsics.fma(k, 8.262958e-08, intrinsics.fma(z, intrinsics.fma(f, _log_poly_f32(f), -0.5), f))


def log2_f32_fast(x):
    """Logarithm to base 2 of a normal positive number."""
    k, f = _log_split_fast_f32(x)
    return intrinsics.fma(k, 1.1920929e-07, f * _log2_poly_fast_f32(f))


def _log2_poly_fast_f32(f):
    """log2(1 + f) / f for 1/sqrt(2) <= 1 + f <= sqrt(2); error 2^-24.4 of log2."""
    w = f * f
    p = intrinsics.fma(w, 0.12583779, 0.21572939)
    p = intrinsics.fma(w, p, 0.28791463)
    p = intrinsics.fma(w, p, 0.4809107)
    p = intrinsics.fma(w, p, 1.442695)
    o = intrinsics.fma(w, -0.20730244, -0.23894127)
    o = intrinsics.fma(w, o, -0.3607038)
    o = intrinsics.fma(w, o, -0.72134733)
    return intrinsics.fma(f, o, p)


def log10_f32_fast(x):
    """Logarithm to base 10 of a normal positive number."""
    k, f = _log_split_fast_f32(x)
    return intrinsics.fma(k, 3.588557e-08, f * _log10_poly_fast_f32(f))


def _log10_poly_fast_f32(f):
    """log10(1 + f) / f for 1/sqrt(2) <= 1 + f <= sqrt(2); error 2^-24.25 of log10."""
    w = f * f
    p = intrinsics.fma(w, 0.03788095, 0.06494102)
    p = intrinsics.fma(w, p, 0.08667094)
    p = intrinsics.fma(w, p, 0.14476854)
    p = intrinsics.fma(w, p, 0.43429446)
    o = intrinsics.fma(w, -0.062404253, -0.071928486)
    o = intrinsics.fma(w, o, -0.10858266)
    o = intrinsics.fma(w, o, -0.21714719)
    return intrinsics.fma(f, o, p)


def _log_split_fast_f32(x):
    """(2^23 k, f) with x = 2^k (1 + f), for normal x > 0."""
    b = intrinsics.bits(x)
    e = (b - 1060439283) & ~0x7FFFFF
    return np.float32(e), intrinsics.from_bits(b - e) - 1.0


def log1p_f32_fast(x):
    """log(1 + x) for -1 < x < 1e38: 1 + f is 2^-k (1 + x), and f = 2^-k x + (2^-k - 1) is rounded once."""
    e = (intrinsics.bits(1.0 + x) - 1060439283) & ~0x7FFFFF
    scale = intrinsics.from_bits(0x3F800000 - e)
    f = intrinsics.fma(x, scale, scale - 1.0)
    z = f * f
    return intrinsics.fma(np.float32(e), 8.262958e-08, intrinsics.fma(z, intrinsics.fma(f, _log_poly_f32(f), -0.5), f))

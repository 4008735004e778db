"""Shorter versions of the error functions for callers with `fastmath=True`: at most 4 ULP.

`erf_f32_fast` stands for `erf_f32` there. No NaN or infinity is expected, subnormal results may be zero. They are compiled as written, too, so that
they give the same bits everywhere.

Each takes one quotient of two polynomials, arranged so that what they lack where they are large does not count: erf(a) is t - 4/27 t^3, which has no slope
at its greatest value 1, where t = 3/2; and erfc(a) = exp(-a^2) / (sqrt(pi) (a + R(a))) with an R = P / Q small beside a. Polynomials: generate/coefficients.py.
"""

from weft import intrinsics


def erf_each_fast(x):
    """Error function."""
    t = _erf_inner_fast_each(abs(x))
    return intrinsics.copysign(intrinsics.fma(t * (t * t), -0.14814814814814814, t), x)


def erfc_each_fast(x):
    """Complementary error function, up to 26.5 (float32: 9.1)."""
    a, e = _gauss_fast_each(abs(x))
    p, q = _erfcx_quotient_fast_each(a)
    y = (q * e) / intrinsics.fma(a, q, p)
    return intrinsics.select(x < 0.0, 2.0 - y, y)


def _erf_inner_fast_f64(a):
    """The t of which t - 4/27 t^3 is erf(a); error 2^-54.99 of that."""
    a = intrinsics.select(a > 5.93, 5.93, a)
    z = a * a
    p = intrinsics.fma(z, 8.332168604771538e-13, 1.6175311112299998e-10)
    p = intrinsics.fma(z, p, 6.810691073860914e-09)
    p = intrinsics.fma(z, p, 3.2471558018498423e-07)
    p = intrinsics.fma(z, p, 7.055961708312566e-06)
    p = intrinsics.fma(z, p, 0.0001880948635286544)
    p = intrinsics.fma(z, p, 0.002222368652466116)
    p = intrinsics.fma(z, p, 0.03480420475316153)
    p = intrinsics.fma(z, p, 0.1905618557935015)
    p = intrinsics.fma(z, p, 1.8054066673528202)
    q = intrinsics.fma(z, 1.2548300254140391e-14, 1.0386446311083733e-11)
    q = intrinsics.fma(z, q, 7.364584656091501e-10)
    q = intrinsics.fma(z, q, 3.288601600910377e-08)
    q = intrinsics.fma(z, q, 1.0581533189933403e-06)
    q = intrinsics.fma(z, q, 2.52575620826699e-05)
    q = intrinsics.fma(z, q, 0.00045346166374878575)
    q = intrinsics.fma(z, q, 0.006106539574323277)
    q = intrinsics.fma(z, q, 0.05980404978968986)
    q = intrinsics.fma(z, q, 0.40040945177937154)
    q = intrinsics.fma(z, q, 1.6)
    return (a * p) / q


def _gauss_fast_f64(a):
    """(a, exp(-a^2) / sqrt(pi)), a at most 26.5. a^2 less n ln 2 is rounded once: of n ln 2 the greater part has few digits."""
    a = intrinsics.select(a > 26.5, 26.5, a)
    shifted = intrinsics.fma(a * a, 1.4426950408889634, 6755399441055744.0)
    m = intrinsics.fma(shifted, 0.6931471805592082, -4682486076119040.0)
    h = intrinsics.fma(m, 1.063410884715872e-12, intrinsics.fma(-a, a, m))
    p = intrinsics.fma(intrinsics.fma(h * h, _exp_tail_f64(h), h), 0.5641895835477563, 0.5641895835477563)
    return a, intrinsics.from_bits(intrinsics.bits(p) - (intrinsics.bits(shifted) << 52))


def _erfcx_quotient_fast_f64(a):
    """(P, Q) with a + P / Q = 1 / (sqrt(pi) exp(a^2) erfc(a)) for 0 <= a <= 26.5; error 2^-55.57 of that."""
    p = intrinsics.fma(a, 1.2981161887217158e-05, 0.00027558905234621685)
    p = intrinsics.fma(a, p, 0.0028754827842927943)
    p = intrinsics.fma(a, p, 0.01912642862800945)
    p = intrinsics.fma(a, p, 0.08889310352078017)
    p = intrinsics.fma(a, p, 0.29901388057392025)
    p = intrinsics.fma(a, p, 0.7299345827319275)
    p = intrinsics.fma(a, p, 1.2563056095363292)
    p = intrinsics.fma(a, p, 1.4037368915838129)
    p = intrinsics.fma(a, p, 0.802207064106966)
    q = intrinsics.fma(a, 2.5962323776735806e-05, 0.0005511781043875101)
    q = intrinsics.fma(a, q, 0.00577692791063049)
    q = intrinsics.fma(a, q, 0.03880403469898476)
    q = intrinsics.fma(a, q, 0.18349824547526852)
    q = intrinsics.fma(a, q, 0.6354535562108151)
    q = intrinsics.fma(a, q, 1.6291692884374904)
    q = intrinsics.fma(a, q, 3.0561094038237187)
    q = intrinsics.fma(a, q, 4.03056649286499)
    q = intrinsics.fma(a, q, 3.403852550188215)
    q = intrinsics.fma(a, q, 1.421875)
    return p, q


def _erf_inner_fast_f32(a):
    """The t of which t - 4/27 t^3 is erf(a); error 2^-27.56 of that."""
    a = intrinsics.select(a > 3.93, 3.93, a)
    z = a * a
    p = intrinsics.fma(z, 8.525127e-06, 0.0008299287)
    p = intrinsics.fma(z, p, 0.018543445)
    p = intrinsics.fma(z, p, 0.16871038)
    p = intrinsics.fma(z, p, 1.952096)
    q = intrinsics.fma(z, 8.5038155e-05, 0.0026667444)
    q = intrinsics.fma(z, q, 0.04295873)
    q = intrinsics.fma(z, q, 0.3998557)
    q = intrinsics.fma(z, q, 1.73)
    return (a * p) / q


def _gauss_fast_f32(a):
    """(a, exp(-a^2) / sqrt(pi)), a at most 9.1. a^2 less n ln 2 is rounded once: of n ln 2 the greater part has few digits."""
    a = intrinsics.select(a > 9.1, 9.1, a)
    shifted = intrinsics.fma(a * a, 1.442695, 12582912.0)
    m = intrinsics.fma(shifted, 0.69311523, -8721408.0)
    h = intrinsics.fma(m, 4.6090725e-05, intrinsics.fma(-a, a, m))
    p = intrinsics.fma(intrinsics.fma(h * h, _exp_tail_f32(h), h), 0.5641896, 0.5641896)
    return a, intrinsics.from_bits(intrinsics.bits(p) - (intrinsics.bits(shifted) << 23))


def _erfcx_quotient_fast_f32(a):
    """(P, Q) with a + P / Q = 1 / (sqrt(pi) exp(a^2) erfc(a)) for 0 <= a <= 9.1; error 2^-24.62 of that."""
    p = intrinsics.fma(a, 0.0096728485, 0.08227735)
    p = intrinsics.fma(a, p, 0.32545242)
    p = intrinsics.fma(a, p, 0.69924194)
    p = intrinsics.fma(a, p, 0.78986543)
    q = intrinsics.fma(a, 0.019343428, 0.16463202)
    q = intrinsics.fma(a, q, 0.66908973)
    q = intrinsics.fma(a, q, 1.5733268)
    q = intrinsics.fma(a, q, 2.1410787)
    q = intrinsics.fma(a, q, 1.4)
    return p, q

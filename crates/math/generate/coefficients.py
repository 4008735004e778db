"""Every polynomial of the math library, and every quotient of two: what it stands for, where, and how well it fits.

python crates/math/generate/coefficients.py            # print coefficients, lowest first, and log2 of the error reached
python crates/math/generate/coefficients.py --check    # and fail unless the library's sources hold exactly these
python crates/math/generate/coefficients.py sin exp    # only helpers whose names contain these
"""

from __future__ import annotations

import ast
import functools
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from minimax import fit, mp, mpf
from rational import fit_quotient

SOURCES = Path(__file__).resolve().parents[1] / "src"
QUARTER = float((mp.pi / 4 * 1.0005) ** 2)
LN2_HALF = float(mp.log(2) / 2 * 1.0005)
TEN2_HALF = float(mp.log10(2) / 2 * 1.0005)
LOG_END = float(((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2 * 1.001)
LOG_LOW, LOG_HIGH = -0.2929 * 1.0005, 0.41422 * 1.0005
RATIO_END = 0.163
NINTH = float(mpf(1) / 9)


@dataclass
class Polynomial:
    """`helper` of `file` evaluates `terms` coefficients that fit `f` on [low, high]; errors are weighted by `weight`.

    `series` are the first coefficients of f's expansion at 0, used where f's formula cancels. `together`: all coefficients are rounded at
    once (on intervals around 0, where the powers that remain after the first is fixed are no Chebyshev system).
    """

    file: str
    helper: str
    terms: int
    low: float | mpf
    high: float | mpf
    f: Callable[[mpf], mpf]
    weight: Callable[[mpf], mpf]
    series: tuple[mpf, ...] = ()
    together: bool = False

    @property
    def bits(self) -> int:
        return 24 if self.helper.endswith("f32") else 53

    def value(self, x: mpf) -> mpf:
        if self.series and abs(x) < mpf(2) ** -45:
            return sum((c * x**p for p, c in enumerate(self.series)), mpf(0))
        return self.f(x)


@dataclass
class Quotient:
    """`helper` of `file` evaluates two polynomials of these degrees, whose quotient fits `f` on [low, high]; see rational.py."""

    file: str
    helper: str
    degrees: tuple[int, int]
    low: float | mpf
    high: float | mpf
    middle: float
    f: Callable[[mpf], mpf]
    weight: Callable[[mpf], mpf]
    scale: float

    @property
    def bits(self) -> int:
        return 24 if self.helper.endswith("f32") else 53


def _sin(s: mpf) -> mpf:
    r = mp.sqrt(s)
    return (mp.sin(r) - r) / (r * s)


def _cos(s: mpf) -> mpf:
    return (mp.cos(mp.sqrt(s)) - 1 + s / 2) / (s * s)


def _tan(s: mpf) -> mpf:
    r = mp.sqrt(s)
    return (mp.tan(r) - r) / (r * s)


def _atan(s: mpf) -> mpf:
    u = mp.sqrt(s)
    return (mp.atan(u) - u) / (u * s)


def _asin(z: mpf) -> mpf:
    s = mp.sqrt(z)
    return (mp.asin(s) - s) / (s * z)


def _exp(h: mpf) -> mpf:
    return (mp.exp(h) - 1 - h) / h**2


def _power(base: int, taken: int) -> tuple[Callable[[mpf], mpf], Callable[[mpf], mpf], tuple[mpf, ...]]:
    """base^r without the first `taken` terms of its series, over r to that power; the weight is that of base^r."""
    unit = mp.log(base)
    series = [unit**k / mp.factorial(k) for k in range(taken + 4)]

    def f(r: mpf) -> mpf:
        return (mp.power(base, r) - sum(c * r**k for k, c in enumerate(series[:taken]))) / r**taken

    return f, lambda r: r**taken / mp.power(base, r), tuple(series[taken:])


def _expm1(h: mpf) -> mpf:
    return (mp.exp(h) - 1 - h - h * h / 2) / h**3


def _log(z: mpf) -> mpf:
    s = mp.sqrt(z)
    return (2 * mp.atanh(s) - 2 * s) / (s * z)


def _log_wide(z: mpf) -> mpf:
    return (_log(z) - mpf(2) / 3) / z


def _erf(z: mpf) -> mpf:
    x = mp.sqrt(z)
    return mp.erf(x) / x - 1


@functools.cache
def _erfc_log(t: mpf) -> mpf:
    return mp.log(mp.erfc(1 + t)) / mp.log(2)


def _erfcx(middle: mpf) -> Callable[[mpf], mpf]:
    @functools.cache
    def f(t: mpf) -> mpf:
        x = middle * (1 + t) / (1 - t)
        return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)

    return f


@functools.cache
def _erfcx_inverse_rest(a: mpf) -> mpf:
    """1 / (sqrt(pi) exp(a^2) erfc(a)), of which a is the greater part, without a."""
    return 1 / (mp.sqrt(mp.pi) * mp.exp(a * a) * mp.erfc(a)) - a


@functools.cache
def _erf_inner(z: mpf) -> mpf:
    """t / a in z = a^2, where t (1 - 4/27 t^2) is erf(a)."""
    if z < mpf(2) ** -100:
        return ROOT
    a = mp.sqrt(z)
    return 3 * mp.sin((mp.pi / 2 - 2 * mp.asin(mp.sqrt(mp.erfc(a) / 2))) / 3) / a


def _erf_inner_weight(z: mpf) -> mpf:
    """That of erf(a), relative: t (1 - 4/27 t^2) has the slope 1 - 4/9 t^2."""
    if z < mpf(2) ** -100:
        return 1 / ROOT
    return (1 - _erf_inner(z) ** 2 * z * 4 / 9) * mp.sqrt(z) / mp.erf(mp.sqrt(z))


def _stirling(w: mpf) -> mpf:
    s = 1 / mp.sqrt(w)
    return s * (mp.loggamma(s) - (s - mpf(1) / 2) * mp.log(s) + s - mp.log(2 * mp.pi) / 2)


def _lgamma_one(t: mpf) -> mpf:
    return mp.loggamma(1 + t) / t


def _lgamma_two(t: mpf) -> mpf:
    return mp.loggamma(2 + t) / t


def _erfinv_centre(z: mpf) -> mpf:
    x = mp.sqrt(z)
    return mp.erfinv(x) / x


@functools.cache
def _erfinv_over_root(s: mpf) -> mpf:
    return mp.erfinv(1 - mp.exp(-s * s)) / s


def _erfinv_tail(middle: mpf) -> Callable[[mpf], mpf]:
    return lambda t: _erfinv_over_root(middle * (1 + t) / (1 - t))


def _from_to(middle: mpf, first: str, last: str) -> tuple[mpf, mpf]:
    """Where (x - middle) / (x + middle) goes for x from `first` to `last`."""
    low, high = mpf(first), mpf(last)
    return (low - middle) / (low + middle), (high - middle) / (high + middle)


def _i0_near(z: mpf) -> mpf:
    """(I0(x) - 1) / z in z = (x / 2)^2."""
    return (mp.besseli(0, 2 * mp.sqrt(z)) - 1) / z


@functools.cache
def _i0_far(u: mpf) -> mpf:
    """sqrt(x) exp(-x) I0(x) in u = 16 / x - 1."""
    x = 16 / (1 + u)
    return mp.sqrt(x) * mp.exp(-x) * mp.besseli(0, x)


def _log_direct(base: mpf) -> tuple[Callable[[mpf], mpf], Callable[[mpf], mpf], tuple[mpf, ...]]:
    """(log(1 + f) - f + f^2/2) / f^3 to a base, over the logarithm."""
    unit = 1 / mp.log(base)

    def weight(f: mpf) -> mpf:
        return f**3 / mp.log(1 + f) / unit if abs(f) > 1e-20 else mpf(0)

    return lambda f: unit * (mp.log(1 + f) - f + f * f / 2) / f**3, weight, tuple(unit * c for c in _over(3, -4, 5, -6))


def _sinh(z: mpf) -> mpf:
    h = mp.sqrt(z)
    return (mp.sinh(h) - h) / (h * z)


def _cosh(z: mpf) -> mpf:
    return (mp.cosh(mp.sqrt(z)) - 1) / z


def _tanh(z: mpf) -> mpf:
    a = mp.sqrt(z)
    return (mp.tanh(a) - a) / (a * z)


def _asinh(v: mpf) -> mpf:
    r = mp.sqrt(v)
    return (mp.asinh(r) - r) / (r * v)


def _exp2_over(r: mpf) -> mpf:
    return (mp.power(2, r) - 1) / r


def _log_ratio(z: mpf) -> mpf:
    """Of the logarithm of (2 + q) / (2 - q) in z = q^2."""
    q = mp.sqrt(z)
    return (2 * mp.atanh(q / 2) - q) / (q * z)


def _log_over(base: mpf) -> tuple[Callable[[mpf], mpf], Callable[[mpf], mpf], tuple[mpf, ...]]:
    """log(1 + f) / f to a base, over the logarithm."""
    unit = 1 / mp.log(base)
    series = tuple(unit * c for c in _over(1, -2, 3, -4))
    return lambda f: unit * mp.log(1 + f) / f, lambda f: f / mp.log(1 + f) / unit if abs(f) > 1e-20 else 1 / unit, series


def _log_of_ratio(base: mpf) -> tuple[Callable[[mpf], mpf], Callable[[mpf], mpf], tuple[mpf, ...]]:
    """2 atanh(s) / s to a base in z = s^2."""
    unit = 2 / mp.log(base)

    def f(z: mpf) -> mpf:
        return unit * mp.atanh(mp.sqrt(z)) / mp.sqrt(z) if z else unit

    return f, lambda z: 1 / f(z), tuple(unit * c for c in _over(1, 3, 5))


def _inverse_power(p: mpf) -> tuple[Callable[[mpf], mpf], Callable[[mpf], mpf], tuple[mpf, ...]]:
    """((1 - d)^-p - 1) / d, over (1 - d)^-p."""
    series = (p, p * (p + 1) / 2, p * (p + 1) * (p + 2) / 6, p * (p + 1) * (p + 2) * (p + 3) / 24)
    return lambda d: ((1 - d) ** -p - 1) / d, lambda d: d * (1 - d) ** p, series


def _over(*numbers: int) -> tuple[mpf, ...]:
    return tuple(mpf(1) / n for n in numbers)


SIN = (_sin, lambda s: s, _over(-6, 120, -5040))
COS = (_cos, lambda s: s * s, _over(24, -720, 40320))
TAN = (_tan, lambda s: s * mp.sqrt(s) / mp.tan(mp.sqrt(s)) if s else mpf(0), (mpf(1) / 3, mpf(2) / 15, mpf(17) / 315))
ATAN = (_atan, lambda s: s, _over(-3, 5, -7))
# For quotients up to 1, relative to the arc tangent.
ATAN_WIDE = (_atan, lambda s: s * mp.sqrt(s) / mp.atan(mp.sqrt(s)) if s else mpf(0), _over(-3, 5, -7))
ASIN = (_asin, lambda z: z, (mpf(1) / 6, mpf(3) / 40, mpf(5) / 112))
EXP = (_exp, lambda h: h * h / mp.exp(h), _over(2, 6, 24, 120))
EXP_TWICE = (lambda h: mp.exp(2 * h), lambda h: mp.exp(-2 * h), ())
SINH = (_sinh, lambda z: z, _over(6, 120, 5040))
COSH = (_cosh, lambda z: z, _over(2, 24, 720))
TANH = (_tanh, lambda z: z * mp.sqrt(z) / mp.tanh(mp.sqrt(z)) if z else mpf(0), (mpf(-1) / 3, mpf(2) / 15, mpf(-17) / 315))
ASINH = (_asinh, lambda v: v * mp.sqrt(v) / mp.asinh(mp.sqrt(v)) if v else mpf(0), (mpf(-1) / 6, mpf(3) / 40, mpf(-15) / 336))
LOG_HALF = (lambda f: (mp.log(1 + f) - f) / f**2, lambda f: f * f, _over(-2, 3, -4, 5))
EXPM1 = (_expm1, lambda h: h**3 / mp.exp(h), _over(6, 24, 120, 720))
LOG_INVERSE = (lambda f: 1 / (2 + f), lambda f: 2 + f)
LOG = (_log, lambda z: z, (mpf(2) / 3, mpf(2) / 5, mpf(2) / 7))
LOG_WIDE = (_log_wide, lambda z: z * z, (mpf(2) / 5, mpf(2) / 7, mpf(2) / 9))
STIRLING = (_stirling, lambda w: mp.sqrt(w), _over(12, -360, 1260, -1680))
LGAMMA_ONE = (_lgamma_one, lambda t: 1 / (_lgamma_one(t) if abs(t) > 1e-20 else mp.euler), (-mp.euler, mp.pi**2 / 12, -mp.zeta(3) / 3))
LGAMMA_TWO = (_lgamma_two, lambda t: 1 / (_lgamma_two(t) if abs(t) > 1e-20 else 1 - mp.euler), (1 - mp.euler, mp.pi**2 / 12 - mpf(1) / 2))
ROOT = 2 / mp.sqrt(mp.pi)
ERF = (_erf, lambda z: 1 / (1 + _erf(z)) if z else 1 / ROOT, (ROOT - 1, -ROOT / 3, ROOT / 10, -ROOT / 42))
ERFC_LOG = (_erfc_log, lambda t: mp.erfc(1 + t) * mp.log(2) / mp.erf(1 + t))
# Middles for which the first coefficient happens to be a float but for 2^-63 and 2^-31 of it.
MIDDLE_64, MIDDLE_32 = mpf("3.31640625"), mpf("2.21875")
ERFCX_64, ERFCX_32 = _erfcx(MIDDLE_64), _erfcx(MIDDLE_32)
FROM_64, FROM_32 = _from_to(MIDDLE_64, "-0.0001", "28"), _from_to(MIDDLE_32, "-0.0001", "10.5")
ERFINV = (_erfinv_centre, lambda z: ROOT, (1 / ROOT, mp.pi ** mpf("1.5") / 24))
ERFINV_64, ERFINV_32 = _erfinv_tail(mpf(2)), _erfinv_tail(mpf("1.5"))
I0_NEAR = (_i0_near, lambda z: z / (1 + z * _i0_near(z)) if z else mpf(0), (mpf(1), mpf(1) / 4, mpf(1) / 36))
I0_FAR = (_i0_far, lambda u: 1 / _i0_far(u), ())
ERFCX_INVERSE = (_erfcx_inverse_rest, lambda a: 1 / (_erfcx_inverse_rest(a) + a))
ERF_INNER = (_erf_inner, _erf_inner_weight)
SIN_HALF = (_sin, lambda s: s * mp.sqrt(s) / mp.sin(mp.sqrt(s)) if s else s, SIN[2])
LN2 = mp.log(2)
EXP2 = (_exp2_over, lambda r: r / mp.power(2, r), (LN2, LN2**2 / 2, LN2**3 / 6, LN2**4 / 24))
# As EXP2, but good for 2^r - 1 where r < 0, and for 1 - 2^r / 2 where r > 0.
EXP2M1 = (_exp2_over, lambda r: 1 / _exp2_over(r) if r < 0 else r / (2 - mp.power(2, r)) if r > 1e-9 else 1 / LN2, EXP2[2])
EXP10 = (lambda r: (mp.power(10, r) - 1) / r, lambda r: r / mp.power(10, r), tuple(mp.log(10) ** k / mp.factorial(k) for k in range(1, 5)))
RCBRT_STEP, CBRT_STEP, ROOT_STEP = _inverse_power(mpf(1) / 3), _inverse_power(mpf(2) / 3), _inverse_power(mpf(1) / 2)
LOG_RATIO = (_log_ratio, lambda z: z, _over(12, 80, 448))

POLYNOMIALS = [
    Polynomial("trig.py", "_sin_tail_f64", 6, 0, QUARTER, *SIN),
    Polynomial("trig.py", "_sin_tail_f32", 3, 0, QUARTER, *SIN),
    Polynomial("trig.py", "_cos_tail_f64", 6, 0, QUARTER, *COS),
    Polynomial("trig.py", "_cos_tail_f32", 3, 0, QUARTER, *COS),
    Polynomial("trig.py", "_tan_tail_f64", 14, 0, QUARTER, *TAN),
    Polynomial("trig.py", "_tan_tail_f32", 7, 0, QUARTER, *TAN),
    Polynomial("atan.py", "_atan_tail_f64", 9, 0, NINTH, *ATAN),
    Polynomial("atan.py", "_atan_tail_f32", 4, 0, NINTH, *ATAN),
    Polynomial("asin.py", "_asin_tail_f64", 12, 0, 0.25, *ASIN),
    Polynomial("asin.py", "_asin_tail_f32", 5, 0, 0.25, *ASIN),
    Polynomial("asinh.py", "_ratio_log_tail_f64", 8, 0, RATIO_END, *LOG_RATIO),
    Polynomial("asinh.py", "_ratio_log_tail_f32", 3, 0, RATIO_END, *LOG_RATIO),
    Polynomial("asinh.py", "_asinh_tail_f32", 5, 0, 0.272, *ASINH),
    Polynomial("asinh.py", "_log_half_tail_f32", 8, LOG_LOW, LOG_HIGH, *LOG_HALF, together=True),
    Polynomial("exp.py", "_exp_tail_f64", 10, -LN2_HALF, LN2_HALF, *EXP, together=True),
    Polynomial("exp.py", "_exp_tail_f32", 5, -LN2_HALF, LN2_HALF, *EXP, together=True),
    Polynomial("exp.py", "_exp2_tail_f64", 11, -0.50005, 0.50005, *_power(2, 2), together=True),
    Polynomial("exp.py", "_exp2_tail_f32", 7, -0.50005, 0.50005, *_power(2, 1), together=True),
    Polynomial("exp.py", "_exp10_tail_f64", 10, -TEN2_HALF, TEN2_HALF, *_power(10, 2), together=True),
    Polynomial("exp.py", "_exp10_tail_f32", 5, -TEN2_HALF, TEN2_HALF, *_power(10, 2), together=True),
    Polynomial("hyperbolic.py", "_expm1_tail_f64", 10, -LN2_HALF, LN2_HALF, *EXPM1, together=True),
    Polynomial("hyperbolic.py", "_expm1_tail_f32", 4, -LN2_HALF, LN2_HALF, *EXPM1, together=True),
    Polynomial("hyperbolic.py", "_sinh_tail_f64", 5, 0, LN2_HALF**2, *SINH),
    Polynomial("hyperbolic.py", "_sinh_tail_f32", 2, 0, LN2_HALF**2, *SINH),
    Polynomial("hyperbolic.py", "_cosh_tail_f64", 5, 0, LN2_HALF**2, *COSH),
    Polynomial("hyperbolic.py", "_cosh_tail_f32", 3, 0, LN2_HALF**2, *COSH),
    Polynomial("hyperbolic.py", "_tanh_tail_f32", 7, 0, 1, *TANH),
    Polynomial("hyperbolic.py", "_exp_twice_f32", 7, -LN2_HALF / 2, LN2_HALF / 2, *EXP_TWICE, together=True),
    Polynomial("log.py", "_log_inverse_f64", 4, LOG_LOW, LOG_HIGH, *LOG_INVERSE, together=True),
    Polynomial("log.py", "_log_tail_f64", 7, 0, LOG_END, *LOG),
    Polynomial("log.py", "_log_poly_f32", 8, LOG_LOW, LOG_HIGH, *_log_direct(mp.e), together=True),
    Polynomial("log.py", "_log2_poly_f32", 9, LOG_LOW, LOG_HIGH, *_log_direct(mpf(2)), together=True),
    Polynomial("log.py", "_log10_poly_f32", 8, LOG_LOW, LOG_HIGH, *_log_direct(mpf(10)), together=True),
    Polynomial("pow.py", "_log_wide_tail_f64", 7, 0, LOG_END, *LOG_WIDE),
    Polynomial("pow.py", "_log_wide_tail_f32", 3, 0, LOG_END, *LOG_WIDE),
    Polynomial("erf.py", "_erf_tail_f64", 13, 0, 1.0001, *ERF),
    Polynomial("erf.py", "_erf_tail_f32", 7, 0, 1.0001, *ERF),
    Polynomial("erf.py", "_erfc_log_f64", 17, -0.0001, 4.93, *ERFC_LOG, together=True),
    Polynomial("erf.py", "_erfc_log_f32", 7, -0.0001, 2.93, *ERFC_LOG, together=True),
    Polynomial("erf.py", "_erfcx_wide_f64", 24, *FROM_64, ERFCX_64, lambda t: 1 / ERFCX_64(t), together=True),
    Polynomial("erf.py", "_erfcx_wide_f32", 11, *FROM_32, ERFCX_32, lambda t: 1 / ERFCX_32(t), together=True),
    Polynomial("erfinv.py", "_erfinv_centre_f64", 14, 0, 0.2501, *ERFINV),
    Polynomial("erfinv.py", "_erfinv_centre_f32", 7, 0, 0.2501, *ERFINV),
    Polynomial("erfinv.py", "_erfinv_tail_f64", 24, *_from_to(mpf(2), "0.83", "6.1"), ERFINV_64, lambda t: 1 / ERFINV_64(t), together=True),
    Polynomial(
        "erfinv.py", "_erfinv_tail_f32", 10, *_from_to(mpf("1.5"), "0.83", "4.09"), ERFINV_32, lambda t: 1 / ERFINV_32(t), together=True
    ),
    Polynomial("bessel.py", "_i0_near_f64", 15, 0, 16.02, *I0_NEAR),
    Polynomial("bessel.py", "_i0_near_f32", 9, 0, 16.02, *I0_NEAR),
    Polynomial("bessel.py", "_i0_far_f64", 25, mpf("-0.978"), mpf("1.001"), *I0_FAR, together=True),
    Polynomial("bessel.py", "_i0_far_f32", 7, mpf("-0.827"), mpf("1.001"), *I0_FAR, together=True),
    Polynomial("fast_trig.py", "_sin_half_fast_f64", 8, 0, float((mp.pi / 2) ** 2 * 1.001), *SIN_HALF),
    Polynomial("fast_trig.py", "_sin_half_fast_f32", 4, 0, float((mp.pi / 2) ** 2 * 1.001), *SIN_HALF),
    Polynomial("fast_exp.py", "_exp_tail_fast_f64", 9, -LN2_HALF, LN2_HALF, *EXP, together=True),
    Polynomial("fast_exp.py", "_exp_tail_fast_f32", 4, -LN2_HALF, LN2_HALF, *EXP, together=True),
    Polynomial("fast_exp.py", "_exp2_tail_fast_f64", 10, -0.5, 0.5001, *EXP2, together=True),
    Polynomial("fast_exp.py", "_exp2_tail_fast_f32", 6, -0.5, 0.5001, *EXP2M1, together=True),
    Polynomial("fast_exp.py", "_exp10_tail_fast_f64", 10, -TEN2_HALF, TEN2_HALF, *EXP10, together=True),
    Polynomial("fast_exp.py", "_exp10_tail_fast_f32", 6, -TEN2_HALF, TEN2_HALF, *EXP10, together=True),
    Polynomial("fast_log.py", "_log_inverse_fast_f64", 6, LOG_LOW, LOG_HIGH, *LOG_INVERSE, together=True),
    Polynomial("fast_log.py", "_log2_poly_fast_f64", 8, 0, LOG_END, *_log_of_ratio(mpf(2))),
    Polynomial("fast_log.py", "_log10_poly_fast_f64", 8, 0, LOG_END, *_log_of_ratio(mpf(10))),
    Polynomial("fast_log.py", "_log2_poly_fast_f32", 9, LOG_LOW, LOG_HIGH, *_log_over(mpf(2)), together=True),
    Polynomial("fast_log.py", "_log10_poly_fast_f32", 9, LOG_LOW, LOG_HIGH, *_log_over(mpf(10)), together=True),
    Polynomial("fast_root.py", "_cbrt_step_fast_f32", 6, -0.104, 0.104, *CBRT_STEP, together=True),
    Polynomial("fast_root.py", "_root_tail_fast_f64", 4, -0.0013, 0.00131, *ROOT_STEP, together=True),
    Polynomial("fast_root.py", "_root_tail_fast_f32", 4, -0.0695, 0.0696, *ROOT_STEP, together=True),
    Polynomial("fast_trig.py", "_tan_tail_fast_f64", 13, 0, QUARTER, *TAN),
    Polynomial("fast_trig.py", "_tan_tail_fast_f32", 6, 0, QUARTER, *TAN),
    Polynomial("fast_trig.py", "_atan_tail_fast_f64", 19, 0, 1.0001, *ATAN_WIDE),
    Polynomial("fast_trig.py", "_atan_tail_fast_f32", 8, 0, 1.0001, *ATAN_WIDE),
    Polynomial("fast_trig.py", "_ratio_log_tail_fast_f64", 7, 0, RATIO_END, *LOG_RATIO),
    Polynomial("gamma.py", "_stirling_tail_f64", 7, 0, 1 / 64, *STIRLING),
    Polynomial("gamma.py", "_stirling_tail_f32", 3, 0, 1 / 64, *STIRLING),
    # A symmetric interval stalls the exchange here.
    Polynomial("gamma.py", "_lgamma_one_f64", 14, -0.125, 0.12501, *LGAMMA_ONE, together=True),
    Polynomial("gamma.py", "_lgamma_one_f32", 7, -0.125, 0.125, *LGAMMA_ONE, together=True),
    Polynomial("gamma.py", "_lgamma_two_f64", 12, -0.125, 0.125, *LGAMMA_TWO, together=True),
    Polynomial("gamma.py", "_lgamma_two_f32", 6, -0.125, 0.125, *LGAMMA_TWO, together=True),
    Polynomial("cbrt.py", "_rcbrt_step_f64", 4, -0.104, 0.104, *RCBRT_STEP, together=True),
]


QUOTIENTS = [
    Quotient("fast_erf.py", "_erf_inner_fast_f64", (9, 10), 0, mpf("5.93") ** 2, 5, *ERF_INNER, 1.6),
    Quotient("fast_erf.py", "_erf_inner_fast_f32", (4, 4), 0, mpf("3.93") ** 2, 3, *ERF_INNER, 1.73),
    Quotient("fast_erf.py", "_erfcx_quotient_fast_f64", (9, 10), 0, mpf("26.55"), 3, *ERFCX_INVERSE, 1.421875),
    Quotient("fast_erf.py", "_erfcx_quotient_fast_f32", (4, 5), 0, mpf("9.2"), 3, *ERFCX_INVERSE, 1.4),
]


def literal(x: mpf, bits: int) -> float:
    """The shortest decimal that reads back as the same float of that many bits."""
    value = float(x)
    if bits == 53:
        return value
    for digits in range(1, 12):
        short = float(f"{value:.{digits}g}")
        if struct.unpack("f", struct.pack("f", short))[0] == value:
            return short
    return value


def literals(file: str, helper: str) -> set[float]:
    """The float literals in a helper of the library."""
    tree = ast.parse((SOURCES / file).read_text())
    found = set()
    for definition in tree.body:
        if isinstance(definition, ast.FunctionDef) and definition.name == helper:
            for node in ast.walk(definition):
                if isinstance(node, ast.Constant) and isinstance(node.value, float):
                    found.add(node.value)
    return found


def parts(entry: Polynomial | Quotient) -> tuple[list[list[mpf]], mpf]:
    """The coefficients of an entry's polynomials, and log2 of the error they reach."""
    if isinstance(entry, Quotient):
        p, q, error = fit_quotient(entry.f, entry.degrees, entry.low, entry.high, entry.middle, entry.weight, entry.scale, entry.bits)
        return [p, q], error
    coefficients, error = fit(entry.value, entry.terms, entry.low, entry.high, entry.weight, entry.bits, 0 if entry.together else None)
    return [coefficients], error


def main(arguments: list[str]) -> int:
    check = "--check" in arguments
    wanted = [a for a in arguments if not a.startswith("-")]
    missing = 0
    for entry in [*POLYNOMIALS, *QUOTIENTS]:
        if wanted and not any(w in entry.helper for w in wanted):
            continue
        polynomials, error = parts(entry)
        print(f"{entry.file} {entry.helper}: error 2^{mp.nstr(error, 4)}")
        known = literals(entry.file, entry.helper) if check else set()
        for coefficients in polynomials:
            values = [literal(c, entry.bits) for c in coefficients]
            print(f"    {values}")
            absent = [v for v in values if check and abs(v) not in known]
            missing += len(absent)
            if absent:
                print(f"    not in the source: {absent}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Derivatives of the elementary functions: `_dk_f` is that of `f` by its k-th argument, given the arguments and what `f` gives for them.

For gradients, which ask for few ULP and not for the last one. Where the function has no derivative the text gives what its formula gives: an infinity or a NaN at
the end of a domain.
"""

import numpy as np
from weft import intrinsics


def _d0_sin_each(x, r):
    """cos x."""
    return cos_each(x)


def _plain_sincos_each(x):
    """Sine and cosine, each by its own function."""
    return sin_each(x), cos_each(x)


def _d0_cos_each(x, r):
    """-sin x."""
    return -sin_each(x)


def _d0_tan_each(x, r):
    """1 + tan(x)^2."""
    return intrinsics.fma(r, r, 1.0)


def _d0_sinpi_each(x, r):
    """pi cos(pi x)."""
    return 3.141592653589793 * cospi_each(x)


def _d0_cospi_each(x, r):
    """-pi sin(pi x)."""
    return -3.141592653589793 * sinpi_each(x)


def _d0_tanpi_each(x, r):
    """pi (1 + tan(pi x)^2)."""
    return 3.141592653589793 * intrinsics.fma(r, r, 1.0)


def _d0_sinc_each(x, r):
    """(cos(pi x) - sinc x) / x; near zero, where that cancels, its series."""
    s = x * x
    near = x * (-3.289868133696453 + s * (3.2469697011334144 - 1.144346472324424 * s))
    return intrinsics.select(abs(x) < 0.03, near, (cospi_each(x) - r) / intrinsics.select(x == 0.0, 1.0, x))


def _d0_asin_each(x, r):
    """1 / sqrt(1 - x^2)."""
    return 1.0 / intrinsics.sqrt((1.0 - x) * (1.0 + x))


def _d0_acos_each(x, r):
    """-1 / sqrt(1 - x^2)."""
    return -1.0 / intrinsics.sqrt((1.0 - x) * (1.0 + x))


def _d0_atan_each(x, r):
    """1 / (1 + x^2)."""
    return 1.0 / intrinsics.fma(x, x, 1.0)


def _d0_atan2_each(y, x, r):
    """x / (x^2 + y^2)."""
    h = hypot_each(x, y)
    return x / h / h


def _d1_atan2_each(y, x, r):
    """-y / (x^2 + y^2)."""
    h = hypot_each(x, y)
    return -(y / h) / h


def _d0_sinh_each(x, r):
    """cosh x."""
    return cosh_each(x)


def _d0_cosh_each(x, r):
    """sinh x."""
    return sinh_each(x)


def _d0_tanh_each(x, r):
    """1 - tanh(x)^2."""
    return (1.0 - r) * (1.0 + r)


def _d0_asinh_each(x, r):
    """1 / sqrt(1 + x^2)."""
    return 1.0 / hypot_each(x, 1.0 + 0.0 * x)


def _d0_acosh_each(x, r):
    """1 / sqrt(x^2 - 1)."""
    return 1.0 / intrinsics.sqrt((x - 1.0) * (x + 1.0))


def _d0_atanh_each(x, r):
    """1 / (1 - x^2)."""
    return 1.0 / ((1.0 - x) * (1.0 + x))


def _d0_exp_each(x, r):
    """exp x."""
    return r


def _d0_exp2_each(x, r):
    """log(2) 2^x."""
    return 0.6931471805599453 * r


def _d0_exp10_each(x, r):
    """log(10) 10^x."""
    return 2.302585092994046 * r


def _d0_expm1_each(x, r):
    """exp x."""
    return exp_each(x)


def _d0_log_each(x, r):
    """1 / x."""
    return 1.0 / x


def _d0_log2_each(x, r):
    """1 / (x log 2)."""
    return 1.4426950408889634 / x


def _d0_log10_each(x, r):
    """1 / (x log 10)."""
    return 0.4342944819032518 / x


def _d0_log1p_each(x, r):
    """1 / (1 + x)."""
    return 1.0 / (1.0 + x)


def _d0_logaddexp_each(x, y, r):
    """exp(x - r)."""
    return exp_each(x - r)


def _d1_logaddexp_each(x, y, r):
    """exp(y - r)."""
    return exp_each(y - r)


def _d0_logaddexp2_each(x, y, r):
    """2^(x - r)."""
    return exp2_each(x - r)


def _d1_logaddexp2_each(x, y, r):
    """2^(y - r)."""
    return exp2_each(y - r)


def _d0_cbrt_each(x, r):
    """1 / (3 cbrt(x)^2)."""
    return 1.0 / (3.0 * r * r)


def _d0_rsqrt_each(x, r):
    """-1 / (2 x sqrt(x))."""
    return -0.5 * r * r * r


def _d0_hypot_each(x, y, r):
    """x / hypot(x, y), 0 at the origin."""
    return intrinsics.select(r == 0.0, 0.0 * r, x / r)


def _d1_hypot_each(x, y, r):
    """y / hypot(x, y), 0 at the origin."""
    return intrinsics.select(r == 0.0, 0.0 * r, y / r)


def _d0_pow_each(x, y, r):
    """y x^(y - 1)."""
    return intrinsics.select(y == 0.0, 0.0 * y, y * pow_each(x, y - 1.0))


def _d1_pow_each(x, y, r):
    """x^y log x, 0 at x = 0."""
    return intrinsics.select(x == 0.0, 0.0 * x, r * log_each(x))


def _d0_erf_each(x, r):
    """2 / sqrt(pi) exp(-x^2)."""
    return 1.1283791670955126 * exp_each(-(x * x))


def _d0_erfc_each(x, r):
    """-2 / sqrt(pi) exp(-x^2)."""
    return -1.1283791670955126 * exp_each(-(x * x))


def _d0_erfinv_each(x, r):
    """sqrt(pi) / 2 exp(r^2)."""
    return 0.8862269254527580 * exp_each(r * r)


def _d0_lgamma_each(x, r):
    """The digamma function."""
    return _digamma_each(x)


def _d0_gamma_each(x, r):
    """gamma(x) times the digamma function."""
    return r * _digamma_each(x)


def _d0_remainder_each(x, y, r):
    """1."""
    return 1.0 + 0.0 * r


def _d1_remainder_each(x, y, r):
    """Minus the whole number of times that y was taken off."""
    return -intrinsics.rint((x - r) / y)


def _digamma_each(x):
    """The logarithmic derivative of gamma: reflected to x >= 1/2, moved up by eight, where Stirling's series serves (Abramowitz and Stegun 6.3.18)."""
    left = x < 0.5
    z = intrinsics.select(left, 1.0 - x, x)
    below = (
        1.0 / z
        + 1.0 / (z + 1.0)
        + 1.0 / (z + 2.0)
        + 1.0 / (z + 3.0)
        + 1.0 / (z + 4.0)
        + 1.0 / (z + 5.0)
        + 1.0 / (z + 6.0)
        + 1.0 / (z + 7.0)
    )
    w = z + 8.0
    s = 1.0 / (w * w)
    tail = 0.003968253968253968 - s * (
        0.004166666666666667 - s * (0.007575757575757576 - s * (0.021092796092796094 - s * 0.08333333333333333))
    )
    y = log_each(w) - 0.5 / w - s * (0.08333333333333333 - s * (0.008333333333333333 - s * tail)) - below
    return intrinsics.select(left, y - 3.141592653589793 / tanpi_each(x), y)


def _plain_clog_each(x, y):
    """The logarithm of the magnitude, and the angle."""
    return log_each(hypot_each(x, y)), atan2_each(y, x)


def _plain_csqrt_each(x, y):
    """The root of half of what magnitude and real part are together, and what the other part has to be."""
    t = intrinsics.sqrt(0.5 * (hypot_each(x, y) + abs(x)))
    s = abs(y) / (2.0 * t)
    right = x >= 0.0
    return intrinsics.select(right, t, s), intrinsics.copysign(intrinsics.select(right, s, t), y)

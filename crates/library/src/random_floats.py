"""Random floats of distributions that need no rejection, or one (von Mises): by inverse functions of what is equally likely.

`source` is what random_bits says. Where a parameter says which float is computed in, `_..64` and `_..32` stand for it. Bits become a float
in one of three ways: from 0 to below 1 (`_unit`), above 0 up to 1 with the fineness of floats near 0 (`_open`), and symmetrically between 0
and 1 (`_middle`).
"""

import math

import numpy as np
from weft import intrinsics
from weft.math import tanpi

from .random_bits import _words

_PI = 3.141592653589793


def _unit64(bits):
    return np.float64(bits >> np.uint64(11)) * 2.0**-53


def _unit32(bits):
    return np.float32(bits >> np.uint64(40)) * np.float32(2.0**-24)


def _open64(bits):
    return (np.float64(bits) + 0.5) * 2.0**-64


def _open32(bits):
    return (np.float32(bits) + np.float32(0.5)) * np.float32(2.0**-64)


def _middle64(bits):
    return (np.float64(bits >> np.uint64(12)) + 0.5) * 2.0**-52


def _random64(source):
    """From 0 to below 1, of 2^53 numbers."""
    return _unit64(_words(source)[0])


def _random32(source):
    """From 0 to below 1, of 2^24 numbers."""
    return _unit32(_words(source)[0])


def _normal64(source, t=0):
    """Mean 0 and deviation 1, by Box and Muller (Ann. Math. Stat. 29, 1958): a radius and the sine of an angle, up to 9.4."""
    a, b = _words(source, t)
    return np.sqrt(-2.0 * np.log(_open64(a))) * _sine64(np.float64(np.int64(b)) * 2.0**-64)


def _sine64(x):
    """sin(pi x) up to 1/2: the Taylor polynomial of degree 21; error 2^-59 and a rounding or two."""
    z = x * x
    p = intrinsics.fma(z, 5.3926646626081276e-10, -2.294842897341872e-08)
    p = intrinsics.fma(z, p, 7.952054001475513e-07)
    p = intrinsics.fma(z, p, -2.1915353447830217e-05)
    p = intrinsics.fma(z, p, 0.00046630280576761255)
    p = intrinsics.fma(z, p, -0.007370430945714351)
    p = intrinsics.fma(z, p, 0.08214588661112823)
    p = intrinsics.fma(z, p, -0.5992645293207921)
    p = intrinsics.fma(z, p, 2.550164039877345)
    p = intrinsics.fma(z, p, -5.16771278004997)
    return x * intrinsics.fma(z, p, _PI)


def _normal32(source, t=0):
    """The same in float32."""
    a, b = _words(source, t)
    x = np.float32(np.int64(b)) * np.float32(2.0**-64)
    return np.sqrt(np.float32(-2) * np.log(_open32(a))) * _sine32(x)


def _sine32(x):
    """sin(pi x) up to 1/2: the Taylor polynomial of degree 13; error 2^-30 and a rounding or two."""
    z = x * x
    p = intrinsics.fma(z, np.float32(0.00046630280576761255), np.float32(-0.007370430945714351))
    p = intrinsics.fma(z, p, np.float32(0.08214588661112823))
    p = intrinsics.fma(z, p, np.float32(-0.5992645293207921))
    p = intrinsics.fma(z, p, np.float32(2.550164039877345))
    p = intrinsics.fma(z, p, np.float32(-5.16771278004997))
    return x * intrinsics.fma(z, p, np.float32(_PI))


def _exponential64(source, t=0):
    """Mean 1: the logarithm of what is equally likely above 0 up to 1."""
    return 0.0 - np.log(_open64(_words(source, t)[0]))


def _exponential32(source):
    return np.float32(0) - np.log(_open32(_words(source)[0]))


def _uniform(source, low, span):
    return low + span * _random64(source)


def _normal(source, loc, scale):
    return loc + scale * _normal64(source)


def _lognormal(source, mean, sigma):
    return np.exp(mean + sigma * _normal64(source))


def _exponential(source, scale):
    return scale * _exponential64(source)


def _rayleigh(source, scale):
    return scale * np.sqrt(2.0 * _exponential64(source))


def _weibull(source, a):
    found = 0.0
    if a != 0.0:
        found = _exponential64(source) ** (1.0 / a)
    return found


def _pareto(source, a):
    return np.expm1(_exponential64(source) / a)


def _power(source, a):
    return _open64(_words(source)[0]) ** (1.0 / a)


def _cauchy(source):
    return tanpi(_middle64(_words(source)[0]) - 0.5)


def _laplace(source, loc, scale):
    """An exponential of either sign."""
    a, b = _words(source)
    size = 0.0 - np.log(_open64(a))
    return loc + scale * intrinsics.select(b >> np.uint64(63) == np.uint64(0), size, -size)


def _logistic(source, loc, scale):
    u = _middle64(_words(source)[0])
    return loc + scale * (np.log(u) - np.log1p(-u))


def _gumbel(source, loc, scale):
    return loc - scale * np.log(-np.log(_middle64(_words(source)[0])))


def _triangular(source, left, mode, right):
    u = _random64(source)
    base = right - left
    below = mode - left
    rises = u * base <= below
    return intrinsics.select(rises, left + np.sqrt(u * below * base), right - np.sqrt((1.0 - u) * (right - mode) * base))


def _wald(source, mean, scale):
    """After Michael, Schucany and Haas (Amer. Statist. 30, 1976): one of two roots, written so that nothing cancels."""
    n = _normal64(source)
    y = n * n * mean / (2.0 * scale)
    x = mean / (1.0 + y + np.sqrt(y * (2.0 + y)))
    u = _unit64(_words(source, 1)[0])
    return intrinsics.select(u * (mean + x) <= mean, x, mean * (mean / x))


def _vonmises(source, mu, kappa):
    """After Best and Fisher (Appl. Statist. 28, 1979): a wrapped Cauchy distribution around it. A normal one where that is as good."""
    if kappa < 1e-8:
        found = _PI * (2.0 * _random64(source) - 1.0)
    elif not kappa <= 1e6:
        found = _normal64(source) / np.sqrt(kappa)
    else:
        found = _around(source, kappa)
    found = found + mu
    if abs(found) > _PI:
        turned = np.fmod(abs(found) + _PI, 2.0 * _PI) - _PI
        found = intrinsics.select(found < 0.0, -turned, turned)
    return found


def _around(source, kappa):
    s = 1.0 / kappa + kappa
    if kappa >= 1e-5:
        r = 1.0 + np.sqrt(1.0 + 4.0 * kappa * kappa)
        rho = (r - np.sqrt(2.0 * r)) / (2.0 * kappa)
        s = (1.0 + rho * rho) / (2.0 * rho)
    w = 0.0
    side = np.uint64(0)
    t = 0
    tried = False
    while not tried:
        a, b = _words(source, t)
        z = np.cos(_PI * _unit64(a))
        w = (1.0 + s * z) / (s + z)
        y = kappa * (s - w)
        # The last bit, which the float does not use, is the side.
        side = b & np.uint64(1)
        v = _open64(b)
        tried = (y * (2.0 - y) - v >= 0.0) | (np.log(y / v) + 1.0 - y >= 0.0)
        t += 1
    found = math.acos(min(1.0, max(-1.0, w)))
    return intrinsics.select(side == np.uint64(0), found, -found)

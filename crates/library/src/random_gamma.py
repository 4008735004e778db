"""Random floats that are made of gamma distributed ones, of which each is drawn until it is accepted.

`source` is what random_bits says. An element that is made of several draws takes them from blocks of its source far apart: `_SECOND` and
`_THIRD` are the numbers of the first.
"""

import numpy as np
from weft import intrinsics

from .random_bits import _words
from .random_counts import _poisson_from
from .random_floats import _normal64, _open32, _open64, _sine32, _sine64

_SECOND = 1073741824
_THIRD = 2147483648


def _cube64(source, t, d):
    """v with d v distributed by gamma of shape d + 1/3, by the root that it is the cube of; and bits that are left.

    After Marsaglia and Tsang (ACM Trans. Math. Softw. 26, 2000): v is the cube of a normal number's 1 + c x, of which c x is given. Block
    after block: two for each try. The logarithm of their condition is written in log1p, so that large shapes lose nothing.
    """
    c = 1.0 / np.sqrt(9.0 * d)
    y = 0.0
    left = np.uint64(0)
    tried = False
    while not tried:
        a, b = _words(source, t)
        x = np.sqrt(-2.0 * np.log(_open64(a))) * _sine64(np.float64(np.int64(b)) * 2.0**-64)
        y = c * x
        inside = y > -1.0
        y = intrinsics.select(inside, y, 0.0)
        u, left = _words(source, t + 1)
        bound = 0.5 * x * x + d * (3.0 * (np.log1p(y) - y) - y * y * (3.0 + y))
        tried = inside & (np.log(_open64(u)) < bound)
        t += 2
    return y, left


def _gamma64(source, shape, t=0):
    """Scale 1. Shapes below 1 are those one larger times a power of what is equally likely."""
    found = shape
    if (shape > 0.0) & (shape < np.inf):
        d = intrinsics.select(shape < 1.0, shape + 1.0, shape) - 1.0 / 3.0
        y, left = _cube64(source, t, d)
        v = 1.0 + y
        found = d * (v * v * v)
        if shape < 1.0:
            found = found * _open64(left) ** (1.0 / shape)
    return found


def _log_gamma(source, shape, t=0):
    """The logarithm of a gamma distributed number, for shapes so small that the number itself is none above 0."""
    d = intrinsics.select(shape < 1.0, shape + 1.0, shape) - 1.0 / 3.0
    y, left = _cube64(source, t, d)
    found = np.log(d) + 3.0 * np.log1p(y)
    if shape < 1.0:
        found = found + np.log(_open64(left)) / shape
    return found


def _gamma32(source, shape):
    """The same as `_gamma64` in float32."""
    third = np.float32(1.0 / 3.0)
    one = np.float32(1)
    found = shape
    if (shape > np.float32(0)) & (shape < np.float32(np.inf)):
        d = intrinsics.select(shape < one, shape + one, shape) - third
        c = one / np.sqrt(np.float32(9) * d)
        y = np.float32(0)
        left = np.uint64(0)
        t = 0
        tried = False
        while not tried:
            a, b = _words(source, t)
            x = np.sqrt(np.float32(-2) * np.log(_open32(a))) * _sine32(np.float32(np.int64(b)) * np.float32(2.0**-64))
            y = c * x
            inside = y > -one
            y = intrinsics.select(inside, y, np.float32(0))
            u, left = _words(source, t + 1)
            three = np.float32(3)
            bound = np.float32(0.5) * x * x + d * (three * (np.log1p(y) - y) - y * y * (three + y))
            tried = inside & (np.log(_open32(u)) < bound)
            t += 2
        v = one + y
        found = d * (v * v * v)
        if shape < one:
            found = found * _open32(left) ** (one / shape)
    return found


def _gamma(source, shape, scale):
    return scale * _gamma64(source, shape)


def _chisquare(source, df, t=0):
    return 2.0 * _gamma64(source, 0.5 * df, t)


def _beta(source, a, b):
    """The share of one of two gamma distributed numbers; by their logarithms, where both may be 0."""
    if (a <= 1.0) & (b <= 1.0):
        x = _log_gamma(source, a)
        y = _log_gamma(source, b, _SECOND)
        return 1.0 / (1.0 + np.exp(y - x))
    x = _gamma64(source, a)
    y = _gamma64(source, b, _SECOND)
    return x / (x + y)


def _f(source, dfnum, dfden):
    return _chisquare(source, dfnum) * dfden / (_chisquare(source, dfden, _SECOND) * dfnum)


def _student_t(source, df):
    return _normal64(source, _SECOND) * np.sqrt(0.5 * df) / np.sqrt(_gamma64(source, 0.5 * df))


def _noncentral_chisquare(source, df, nonc, t=0):
    """A normal number off its mean and the rest, or as many degrees more as a Poisson distributed number says."""
    if nonc == 0.0:
        return _chisquare(source, df, t)
    if df > 1.0:
        n = _normal64(source, t + _SECOND) + np.sqrt(nonc)
        return _chisquare(source, df - 1.0, t) + n * n
    if not nonc < np.inf:
        return nonc
    n = np.float64(_poisson_from(source, 0.5 * nonc, t + _SECOND))
    return _chisquare(source, df + 2.0 * n, t)


def _noncentral_f(source, dfnum, dfden, nonc):
    return _noncentral_chisquare(source, dfnum, nonc) * dfden / (_chisquare(source, dfden, _THIRD) * dfnum)

"""Windows: rows of weights that signals and filters are multiplied by; and the Bessel function that one of them is made of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from weft._decorators import vectorize
from weft._weft import _cast, _followed, _full, _iota, _reshape, _to_numpy, ndarray
from weft.gradients.primitives import primitive

from ._common import array_of, select, u


def _row(M: Any, weigh: Any) -> ndarray:
    """What a function gives for the places of a window's weights, counted from its middle by twos, and for its length less one."""
    length = _number(M)
    if length < 1:
        return _full((0,), 0, np.dtype(np.float64))
    if length == 1:
        return _full((1,), 1, np.dtype(np.float64))
    count = -int((1 - 2 * length) // 2)
    return weigh(_iota(count, 1 - length, 2, np.dtype(np.float64)), length - 1)


def _number(x: Any) -> Any:
    """An argument as a float64, as NumPy's windows take it: a number, or one that has a gradient."""
    if _followed(x):
        return _cast(_reshape(x, ()), np.dtype(np.float64))
    return float(np.array([0.0, _to_numpy(x)[()] if isinstance(x, ndarray) else x])[1])


def _cosines(n: ndarray, span: float, times: float = 1.0) -> ndarray:
    return u("cos", u("divide", u("multiply", np.pi * times, n), span))


def bartlett(M: Any) -> ndarray:
    """A triangle whose ends are zero.

    >>> weft.bartlett(5)
    array([0. , 0.5, 1. , 0.5, 0. ])
    """

    def weigh(n: ndarray, span: float) -> ndarray:
        part = u("divide", n, span)
        return select(u("less_equal", n, 0), u("add", 1, part), u("subtract", 1, part))

    return _row(M, weigh)


def hanning(M: Any) -> ndarray:
    """A cosine lifted so far that its ends are zero.

    >>> weft.hanning(3)
    array([0., 1., 0.])
    """
    return _row(M, lambda n, span: u("add", 0.5, u("multiply", 0.5, _cosines(n, span))))


def hamming(M: Any) -> ndarray:
    """A cosine lifted so far that its ends are 0.08.

    >>> weft.hamming(3)
    array([0.08, 1.  , 0.08])
    """
    return _row(M, lambda n, span: u("add", 0.54, u("multiply", 0.46, _cosines(n, span))))


def blackman(M: Any) -> ndarray:
    """The sum of two cosines, whose ends are nearly zero.

    >>> weft.round(weft.blackman(5), 2)
    array([-0.  ,  0.34,  1.  ,  0.34, -0.  ])
    """

    def weigh(n: ndarray, span: float) -> ndarray:
        twice = u("multiply", 0.08, _cosines(n, span, 2.0))
        return u("add", u("add", 0.42, u("multiply", 0.5, _cosines(n, span))), twice)

    return _row(M, weigh)


@vectorize
def _bessel(x):
    return np.i0(x)


def i0(x: Any) -> ndarray:
    """The modified Bessel function of the first kind, order 0. TypeError for complex numbers.

    It is `np.i0` of compiled code, see [math](math.md): within 2 units in the last place.

    >>> weft.i0(weft.asarray([0.0, 1.0, 2.0]))
    array([1.        , 1.26606588, 2.2795853 ])
    """
    x = array_of(x)
    if x.dtype.kind == "c":
        raise TypeError("i0 not supported for complex values")
    return bessel(x)


@primitive(rules="special")
def bessel(x: ndarray) -> ndarray:
    """What `i0` gives of an array of real numbers."""
    return _bessel(x)


def kaiser(M: Any, beta: Any) -> ndarray:
    """A window of `M` weights made of `i0`: `beta` 0 is a rectangle, 5 is like `hamming`, 14 a narrow one.

    >>> weft.round(weft.kaiser(5, 5.0), 3)
    array([0.037, 0.553, 1.   , 0.553, 0.037])
    """
    length, beta = float(_number(M)), _number(beta)
    if length == 1:
        return _full((1,), 1, np.dtype(np.float64))
    if not math.isfinite(length):
        raise ValueError("Maximum allowed size exceeded")
    middle = (length - 1) / 2
    places = _iota(max(0, math.ceil(length)), 0, 1, np.dtype(np.float64))
    part = u("divide", u("subtract", places, middle), middle)
    weights = i0(u("multiply", beta, u("sqrt", u("subtract", 1, u("square", part)))))
    return u("divide", weights, i0(beta))

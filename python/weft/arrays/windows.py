"""Windows: rows of weights that signals and filters are multiplied by."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._weft import _full, _iota, _to_numpy, ndarray

from ._common import select, u


def _row(M: Any, weigh: Any) -> ndarray:
    """What a function gives for the places of a window's weights, counted from its middle by twos, and for its length less one."""
    length = float(np.array([0.0, _to_numpy(M)[()] if isinstance(M, ndarray) else M])[1])
    if length < 1:
        return _full((0,), 0, np.dtype(np.float64))
    if length == 1:
        return _full((1,), 1, np.dtype(np.float64))
    count = -int((1 - 2 * length) // 2)
    return weigh(_iota(count, 1 - length, 2, np.dtype(np.float64)), length - 1)


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

"""`numpy.polynomial.polyutils`: rows of coefficients as they are computed with, and lines between domains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.polynomial import polyutils as _numpys

from weft._weft import _to_numpy, ndarray
from weft.arrays._common import array_of, beside, u
from weft.polynomial.polynomial import _on_host, polytrim

trimcoef = polytrim


def as_series(alist: Sequence[Any], trim: bool = True) -> list[ndarray]:
    """Coefficients as rows of one dtype of floats or complex numbers, without zeros at their ends unless `trim=False`.

    ValueError for those that are empty or no rows.

    >>> weft.polynomial.polyutils.as_series([[1, 2, 0], 3])
    [array([1., 2.]), array([3.])]
    """
    return list(_on_host(lambda *rows: tuple(_numpys.as_series(rows, trim)), *alist))


def trimseq(seq: Any) -> ndarray:
    """Coefficients without zeros at their end; one is left.

    >>> weft.polynomial.polyutils.trimseq([1, 0, 2, 0, 0])
    array([1, 0, 2])
    """
    return _on_host(_numpys.trimseq, seq)


def getdomain(x: Any) -> ndarray:
    """The smallest and the largest of some numbers; of complex ones the corners of a rectangle around them.

    >>> weft.polynomial.polyutils.getdomain([3, 1, 2])
    array([1., 3.])
    """
    return _on_host(_numpys.getdomain, x)


def mapparms(old: Any, new: Any) -> tuple[ndarray, ndarray]:
    """The offset and the scale of the line that maps one interval to another one.

    >>> weft.polynomial.polyutils.mapparms((-1, 1), (0, 4))
    (array(2.), array(2.))
    """
    old, new = (_numbers(each) for each in (old, new))
    offset, scale = _numpys.mapparms(old, new)
    return array_of(offset), array_of(scale)


def _numbers(ends: Any) -> Any:
    """The two ends of an interval as numbers."""
    if isinstance(ends, ndarray):
        return _to_numpy(ends)
    return ends if isinstance(ends, np.ndarray) else [_to_numpy(each)[()] if isinstance(each, ndarray) else each for each in ends]


def mapdomain(x: Any, old: Any, new: Any) -> ndarray:
    """Points of one interval where the line that maps it to another one takes them.

    >>> weft.polynomial.polyutils.mapdomain(weft.asarray([-1.0, 0.0]), (-1, 1), (0, 4))
    array([0., 2.])
    """
    offset, scale = _numpys.mapparms(_numbers(old), _numbers(new))
    x = x if isinstance(x, (int, float, complex, np.generic)) else beside(x)
    return u("add", offset, u("multiply", scale, x)) if isinstance(x, ndarray) else array_of(offset + scale * x)

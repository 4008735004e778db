"""Comparisons of arrays with numbers that are none of Python's own four: fractions, decimals."""

from __future__ import annotations

import numbers
import operator
from typing import Any

import numpy as np

from weft._weft import _from_numpy, _to_numpy, ndarray


def with_number(name: str, a: ndarray, b: Any) -> Any:
    """`a < b` and its like, where `b` is nothing for arrays: with a number, element by element as Python's objects and at once.

    >>> from fractions import Fraction
    >>> weft.asarray([0.25, 0.5]) == Fraction(1, 2)
    array([False,  True])
    """
    if not isinstance(b, numbers.Number):
        return NotImplemented
    return _from_numpy(np.asarray(getattr(operator, name)(_to_numpy(a), b), bool), a.device)

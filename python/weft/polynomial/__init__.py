"""Polynomials with NumPy's meaning on every device: `numpy.polynomial`, of which Weft has the power series.

`weft.polynomial.Polynomial` is a class of polynomials; `weft.polynomial.polynomial` has the functions of rows of coefficients that it is
made of, which are here, too; `weft.polynomial.polyutils` what helps with both. Coefficients stand with the lowest power first. The other
series (Chebyshev, Legendre, …) are NumPy's alone.

>>> p = weft.polynomial.Polynomial([1, 2, 3])
>>> p(weft.asarray([0.0, 1.0, 2.0]))
array([ 1.,  6., 17.])
"""

from __future__ import annotations

from typing import Any

# How polynomials are printed is NumPy's setting, which Weft's follow.
from numpy.polynomial import set_default_printstyle

from weft.polynomial import polynomial, polyutils
from weft.polynomial.polynomial import *  # noqa: F403
from weft.polynomial.series import Polynomial

__all__ = ["Polynomial", "polynomial", "polyutils", "set_default_printstyle", *polynomial.__all__]

_OTHERS = ("Chebyshev", "Hermite", "HermiteE", "Laguerre", "Legendre", "chebyshev", "hermite", "hermite_e", "laguerre", "legendre")


def __getattr__(name: str) -> Any:
    """Constants are made when they are asked for, and what is left out says so."""
    if name in polynomial._CONSTANTS:
        return getattr(polynomial, name)
    if name in _OTHERS:
        raise AttributeError(
            f"weft.polynomial has no {name}: of NumPy's series Weft has the powers. numpy.polynomial.{name} takes weft.asnumpy(x), and "
            "its convert(kind=numpy.polynomial.Polynomial) gives the coefficients of powers"
        )
    raise AttributeError(f"module 'weft.polynomial' has no attribute {name!r}")

"""`poly1d`, NumPy's older class of polynomials. New code has `weft.polynomial.Polynomial`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from weft._weft import _to_numpy, ndarray

from ._common import filled, u
from .joining import concatenate
from .polynomials import coefficients, poly, polyadd, polyder, polydiv, polyint, polymul, polysub, polyval, roots
from .shapes import trim_zeros

_ARRAYS = (ndarray, np.ndarray)


class poly1d:
    """A polynomial made of coefficients, the highest power first, or with `r=True` of its zeros. `variable` is printed.

    Zeros in front are left out, for which coefficients are read. It is called with points, whose values are recorded; `p[n]` is the
    coefficient of a power; `+ - * / **` are those of polynomials, `/` by one gives the quotient and the remainder.

    >>> p = weft.poly1d([1, 2, 3])
    >>> p(weft.asarray([0.5, 2.0]))
    array([ 4.25, 11.  ])
    >>> p * p
    poly1d([ 1,  4, 10, 12,  9])
    """

    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None

    def __init__(self, c_or_r: Any, r: bool = False, variable: str | None = None) -> None:
        if isinstance(c_or_r, poly1d):
            self._coeffs, self._variable = c_or_r._coeffs, variable or c_or_r._variable
            return
        given = coefficients(poly(c_or_r) if r else c_or_r)
        if given.ndim > 1:
            raise ValueError("Polynomial must be 1d only.")
        given = trim_zeros(given, trim="f")
        self._coeffs = given if given.shape[0] else filled((1,), 0, given.dtype, given)
        self._variable = "x" if variable is None else variable

    @property
    def coeffs(self) -> ndarray:
        """The coefficients, which may be written to."""
        return self._coeffs

    @coeffs.setter
    def coeffs(self, value: Any) -> None:
        if value is not self._coeffs:
            raise AttributeError("Cannot set attribute")

    c = coef = coefficients = coeffs

    @property
    def variable(self) -> str:
        """What stands for the variable where the polynomial is printed."""
        return self._variable

    @property
    def order(self) -> int:
        """The highest power."""
        return len(self)

    o = order

    @property
    def roots(self) -> ndarray:
        """The zeros."""
        return roots(self._coeffs)

    r = roots

    def integ(self, m: int = 1, k: Any = 0) -> poly1d:
        """The integral, see `polyint`."""
        return poly1d(polyint(self._coeffs, m, k))

    def deriv(self, m: int = 1) -> poly1d:
        """The derivative, see `polyder`."""
        return poly1d(polyder(self._coeffs, m))

    def __call__(self, val: Any) -> Any:
        """The values at points, or the polynomial of a polynomial."""
        return polyval(self._coeffs, val)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self._coeffs, dtype, copy=copy)

    def _numpys(self) -> np.poly1d:
        return np.poly1d(_to_numpy(self._coeffs), variable=self._variable)

    def __repr__(self) -> str:
        return repr(self._numpys())

    def __str__(self) -> str:
        return str(self._numpys())

    def __len__(self) -> int:
        return int(self._coeffs.shape[0]) - 1

    def __iter__(self) -> Iterator[ndarray]:
        return iter(self._coeffs)

    def __getitem__(self, val: int) -> ndarray:
        if not 0 <= val <= self.order:
            return filled((), 0, self._coeffs.dtype, self._coeffs)
        return self._coeffs[self.order - val]

    def __setitem__(self, key: int, val: Any) -> None:
        if key < 0:
            raise ValueError("Does not support negative powers.")
        missing = key - self.order
        if missing > 0:
            self._coeffs = concatenate((filled((missing,), 0, self._coeffs.dtype, self._coeffs), self._coeffs))
        self._coeffs[self.order - key] = val

    def __eq__(self, other: Any) -> Any:
        if not isinstance(other, poly1d):
            return NotImplemented
        return self._coeffs.shape == other._coeffs.shape and bool((self._coeffs == other._coeffs).all())

    def __ne__(self, other: Any) -> Any:
        return not self == other if isinstance(other, poly1d) else NotImplemented

    def __neg__(self) -> poly1d:
        return poly1d(u("negative", self._coeffs))

    def __pos__(self) -> poly1d:
        return self

    def __mul__(self, other: Any) -> poly1d:
        if np.isscalar(other):
            return poly1d(u("multiply", self._coeffs, other))
        return poly1d(polymul(self._coeffs, poly1d(other)._coeffs))

    def __rmul__(self, other: Any) -> Any:
        return u("multiply", other, self._coeffs) if isinstance(other, _ARRAYS) else self * other

    def __add__(self, other: Any) -> poly1d:
        return poly1d(polyadd(self._coeffs, poly1d(other)._coeffs))

    def __radd__(self, other: Any) -> Any:
        return u("add", other, self._coeffs) if isinstance(other, _ARRAYS) else self + other

    def __sub__(self, other: Any) -> poly1d:
        return poly1d(polysub(self._coeffs, poly1d(other)._coeffs))

    def __rsub__(self, other: Any) -> Any:
        if isinstance(other, _ARRAYS):
            return u("subtract", other, self._coeffs)
        return poly1d(polysub(poly1d(other)._coeffs, self._coeffs))

    def __truediv__(self, other: Any) -> Any:
        if np.isscalar(other):
            return poly1d(u("true_divide", self._coeffs, other))
        return polydiv(self, poly1d(other))

    def __rtruediv__(self, other: Any) -> Any:
        if isinstance(other, _ARRAYS):
            return u("true_divide", other, self._coeffs)
        if np.isscalar(other):
            return poly1d(u("true_divide", other, self._coeffs))
        return polydiv(poly1d(other), self)

    def __pow__(self, val: Any) -> poly1d:
        if not np.isscalar(val) or int(val) != val or val < 0:
            raise ValueError("Power to non-negative integers only.")
        found: Any = [1]
        for _ in range(val):
            found = polymul(self._coeffs, found)
        return poly1d(found)

"""`Polynomial`, a power series as an object: `numpy.polynomial.Polynomial` with weft arrays.

Its coefficients are few numbers. What makes other polynomials of them is done on the host, by NumPy's class of that name; values are
computed where the points are, and only recorded.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial as _Numpys
from numpy.polynomial import polyutils

from weft._weft import _to_numpy, ndarray
from weft.arrays._common import array_of, beside, u
from weft.arrays.ranges import linspace
from weft.polynomial import polynomial

_DOMAIN = (-1.0, 1.0)


class _Interval:
    """`domain` and `window`: arrays of two numbers, kept on the host; the class has that of all polynomials."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"_{name}"

    def __get__(self, instance: Any, owner: type) -> ndarray:
        return array_of(np.array(_DOMAIN) if instance is None else getattr(instance, self._name))

    def __set__(self, instance: Any, value: Any) -> None:
        setattr(instance, self._name, _host(value))


class Polynomial:
    """A power series: `coef` are its coefficients, the lowest power first.

    It is evaluated at points of `domain`, which are mapped to `window` first, by a line. `symbol` stands for the variable where the
    polynomial is printed. Polynomials, numbers and rows of coefficients can be added, subtracted, multiplied and divided
    (`//`, `%`, `divmod`); with another domain, window or symbol that is a TypeError or ValueError, as in NumPy.

    >>> p = weft.polynomial.Polynomial([1, 2, 3])
    >>> p(weft.asarray([0.0, 1.0]))
    array([1., 6.])
    >>> (p * p).coef
    array([ 1.,  4., 10., 12.,  9.])
    >>> print(p.deriv())
    2.0 + 6.0·x
    """

    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None
    maxpower = 100
    domain = _Interval()
    window = _Interval()

    def __init__(self, coef: Any, domain: Any = None, window: Any = None, symbol: str = "x") -> None:
        made = _Numpys(_host(coef), _host(domain), _host(window), symbol)
        self._take(made, coef)

    def _take(self, made: _Numpys, *like: Any) -> None:
        self.coef = beside(made.coef, *like)
        self._domain, self._window, self._symbol = made.domain, made.window, made.symbol

    @classmethod
    def _of(cls, made: _Numpys, *like: Any) -> Polynomial:
        """The polynomial that NumPy's class gave, on the device of arrays."""
        found = cls.__new__(cls)
        found._take(made, *like)
        return found

    def _numpys(self) -> _Numpys:
        return _Numpys(_host(self.coef), self._domain, self._window, self._symbol)

    @property
    def symbol(self) -> str:
        """What stands for the variable."""
        return self._symbol

    def __call__(self, arg: Any) -> Any:
        """The values at points, which are recorded; of a polynomial, the polynomial of that polynomial."""
        if isinstance(arg, Polynomial):
            return self._of(self._numpys()(arg._numpys()), self.coef)
        offset, scale = self.mapparms()
        if not isinstance(arg, (bool, int, float, complex, np.generic)):
            arg = beside(arg, self.coef)
        elif type(arg) is bool:
            arg = np.bool_(arg)
        place = u("add", offset, u("multiply", scale, arg)) if isinstance(arg, ndarray) else offset + scale * arg
        return polynomial.polyval(place, self.coef)

    def mapparms(self) -> tuple[Any, Any]:
        """The offset and the scale of the line that maps the domain to the window."""
        return polyutils.mapparms(self._domain, self._window)

    def linspace(self, n: int = 100, domain: Any = None) -> tuple[ndarray, ndarray]:
        """So many points over the domain, or another one, and the values there."""
        first, last = self._domain if domain is None else _host(domain)
        x = linspace(first, last, n, device=self.coef.device)
        return x, self(x)

    def degree(self) -> int:
        """The highest power: one less than there are coefficients, whatever these are."""
        return len(self) - 1

    def copy(self) -> Polynomial:
        """Another polynomial that is the same."""
        return self._of(self._numpys().copy(), self.coef)

    def cutdeg(self, deg: int) -> Polynomial:
        """The polynomial without powers above a degree."""
        return self._of(self._numpys().cutdeg(deg), self.coef)

    def truncate(self, size: int) -> Polynomial:
        """The polynomial of the first so many coefficients."""
        return self._of(self._numpys().truncate(size), self.coef)

    def trim(self, tol: float = 0) -> Polynomial:
        """The polynomial without coefficients at the end that are no larger than `tol`."""
        return self._of(self._numpys().trim(tol), self.coef)

    def deriv(self, m: int = 1) -> Polynomial:
        """The derivative, taken `m` times."""
        return self._of(self._numpys().deriv(m), self.coef)

    def integ(self, m: int = 1, k: Any = (), lbnd: Any = None) -> Polynomial:
        """The integral, taken `m` times, whose values at `lbnd` (0 if None) are those of `k`."""
        constants = [_scalar(each) for each in k] if np.iterable(k) else _scalar(k)
        return self._of(self._numpys().integ(m, constants, None if lbnd is None else _scalar(lbnd)), self.coef)

    def convert(self, domain: Any = None, kind: Any = None, window: Any = None) -> Polynomial:
        """The same polynomial over another domain and window. `kind` is this class, of which there are no others."""
        if kind is not None and kind is not Polynomial:
            raise TypeError("weft.polynomial has power series only: convert gives no other kind of series")
        return self._of(self._numpys().convert(_host(domain), _Numpys, _host(window)), self.coef)

    def roots(self) -> ndarray:
        """The zeros, over the domain."""
        found = polynomial.polyroots(self.coef)
        offset, scale = polyutils.mapparms(self._window, self._domain)
        return u("add", offset, u("multiply", scale, found))

    def has_samecoef(self, other: Any) -> bool:
        """Whether another polynomial has these coefficients."""
        return len(self) == len(other) and bool(np.all(_host(self.coef) == _host(other.coef)))

    def has_samedomain(self, other: Any) -> bool:
        """Whether another polynomial has this domain."""
        return bool(np.all(self._domain == _host(other.domain)))

    def has_samewindow(self, other: Any) -> bool:
        """Whether another polynomial has this window."""
        return bool(np.all(self._window == _host(other.window)))

    def has_sametype(self, other: Any) -> bool:
        """Whether another object is a polynomial of this class."""
        return isinstance(other, self.__class__)

    @classmethod
    def fit(
        cls,
        x: Any,
        y: Any,
        deg: Any,
        domain: Any = None,
        rcond: Any = None,
        full: bool = False,
        w: Any = None,
        window: Any = None,
        symbol: str = "x",
    ) -> Any:
        """The polynomial that is nearest to points, see `polyfit`. Its domain is that of `x` unless one is given; `[]` is the class's."""
        points = beside(x, y)
        if domain is None:
            ends = polyutils.getdomain(_host(points))
            if ends[0] == ends[1]:
                ends = ends + np.array([-1, 1])
        else:
            ends = np.array(_DOMAIN) if isinstance(domain, list) and not domain else _host(domain)
        target = np.array(_DOMAIN) if window is None else _host(window)
        offset, scale = polyutils.mapparms(ends, target)
        found = polynomial.polyfit(u("add", offset, u("multiply", scale, points)), y, deg, rcond, full, w)
        if full:
            return cls(found[0], ends, target, symbol), found[1]
        return cls(found, ends, target, symbol)

    @classmethod
    def fromroots(cls, roots: Any, domain: Any = (), window: Any = None, symbol: str = "x") -> Polynomial:
        """The polynomial that has these zeros, over the class's domain, another one, or with None the zeros' own."""
        ends = None if domain is None else [] if isinstance(domain, (list, tuple)) and not len(domain) else _host(domain)
        return cls._of(_Numpys.fromroots(_host(roots), ends, _host(window), symbol), roots)

    @classmethod
    def identity(cls, domain: Any = None, window: Any = None, symbol: str = "x") -> Polynomial:
        """The polynomial that is x."""
        return cls._of(_Numpys.identity(_host(domain), _host(window), symbol))

    @classmethod
    def basis(cls, deg: int, domain: Any = None, window: Any = None, symbol: str = "x") -> Polynomial:
        """The polynomial that is x to a power."""
        return cls._of(_Numpys.basis(deg, _host(domain), _host(window), symbol))

    @classmethod
    def cast(cls, series: Polynomial, domain: Any = None, window: Any = None) -> Polynomial:
        """A polynomial as one of this class."""
        return series.convert(domain, cls, window)

    def __repr__(self) -> str:
        return repr(self._numpys())

    def __str__(self) -> str:
        return str(self._numpys())

    def __format__(self, fmt_str: str) -> str:
        return format(self._numpys(), fmt_str)

    def _repr_latex_(self) -> str:
        return self._numpys()._repr_latex_()

    def __iter__(self) -> Any:
        return iter(self.coef)

    def __len__(self) -> int:
        return int(self.coef.shape[0])

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, self.__class__) and bool(self._numpys() == other._numpys())

    def __ne__(self, other: Any) -> bool:
        return not self == other

    def __neg__(self) -> Polynomial:
        return self._of(-self._numpys(), self.coef)

    def __pos__(self) -> Polynomial:
        return self

    def __pow__(self, other: Any) -> Polynomial:
        made = self._numpys()
        made.maxpower = self.maxpower
        return self._of(made**other, self.coef)

    def __truediv__(self, other: Any) -> Any:
        if not isinstance(other, numbers.Number) or isinstance(other, bool):
            raise TypeError(f"unsupported types for true division: '{type(self)}', '{type(other)}'")
        return self // other

    def __rtruediv__(self, other: Any) -> Any:
        return NotImplemented


def _host(x: Any) -> Any:
    """Numbers for NumPy: an array's elements, and anything else as it is."""
    if isinstance(x, ndarray):
        return _to_numpy(x)
    return [_scalar(each) for each in x] if isinstance(x, (list, tuple)) else x


def _scalar(x: Any) -> Any:
    """One number for NumPy."""
    return _to_numpy(x)[()] if isinstance(x, ndarray) else x


def _operator(name: str) -> Any:
    """An operator of polynomials that NumPy's class computes; of what it does not take, NotImplemented."""
    of_numpys = getattr(_Numpys, name)

    def act(self: Polynomial, other: Any) -> Any:
        found = of_numpys(self._numpys(), other._numpys() if isinstance(other, Polynomial) else _host(other))
        if isinstance(found, tuple):
            return tuple(self._of(each, self.coef, other) for each in found)
        return found if found is NotImplemented else self._of(found, self.coef, other)

    act.__name__ = act.__qualname__ = name
    return act


for _name in ("add", "sub", "mul", "floordiv", "mod", "divmod", "radd", "rsub", "rmul", "rfloordiv", "rmod", "rdivmod"):
    setattr(Polynomial, f"__{_name}__", _operator(f"__{_name}__"))

"""`numpy.polynomial.polynomial`: functions of power series, whose coefficients stand with the lowest power first.

Values, derivatives, integrals and Vandermonde matrices only record what is to be done. Arithmetic of rows of coefficients leaves out
zeros at their end, so it reads them: it is NumPy's own on the host, and its results are on the device of the arrays.
"""

from __future__ import annotations

import functools
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.polynomial import polynomial as _numpys

import weft
from weft._weft import _cast, _full, _iota, _reshape, _to_numpy, ndarray
from weft.arrays import _compiled
from weft.arrays._common import array_of, arrays_of, axis_of, beside, filled, u
from weft.arrays.joining import concatenate, stack
from weft.arrays.reductions import prod as _prod
from weft.arrays.reductions import sum as _sum
from weft.arrays.shapes import moveaxis

# Arrays that are made anew, on the current device, whenever they are asked for.
_CONSTANTS = {"polydomain": [-1.0, 1.0], "polyzero": [0], "polyone": [1], "polyx": [0, 1]}


def _on_host(function: Callable[..., Any], *rows: Any, **keywords: Any) -> Any:
    """What NumPy's function gives for rows of coefficients; on the device of the first array among them."""
    arrays = [beside(each, *rows) for each in rows]
    return _compiled.on_hosts(functools.partial(function, **keywords) if keywords else function, *arrays, keeps_shape=False)


def polyadd(c1: Any, c2: Any) -> ndarray:
    """The sum of two polynomials.

    >>> weft.polynomial.polyadd([1, 2, 3], [3, 2, 1])
    array([4., 4., 4.])
    """
    return _on_host(_numpys.polyadd, c1, c2)


def polysub(c1: Any, c2: Any) -> ndarray:
    """The difference of two polynomials.

    >>> weft.polynomial.polysub([1, 2, 3], [3, 2, 1])
    array([-2.,  0.,  2.])
    """
    return _on_host(_numpys.polysub, c1, c2)


def polymulx(c: Any) -> ndarray:
    """A polynomial times x.

    >>> weft.polynomial.polymulx([1, 2])
    array([0., 1., 2.])
    """
    return _on_host(_numpys.polymulx, c)


def polymul(c1: Any, c2: Any) -> ndarray:
    """The product of two polynomials.

    >>> weft.polynomial.polymul([1, 2, 3], [3, 2, 1])
    array([ 3.,  8., 14.,  8.,  3.])
    """
    return _on_host(_numpys.polymul, c1, c2)


def polydiv(c1: Any, c2: Any) -> tuple[ndarray, ndarray]:
    """The quotient and the remainder of two polynomials. ZeroDivisionError where the second is zero.

    >>> weft.polynomial.polydiv([1, 2, 3], [3, 2, 1])
    (array([3.]), array([-8., -4.]))
    """
    return _on_host(_numpys.polydiv, c1, c2)


def polypow(c: Any, pow: int, maxpower: int | None = None) -> ndarray:
    """A polynomial to a power that is no negative integer, and no larger than `maxpower`: ValueError for others.

    >>> weft.polynomial.polypow([1, 2], 2)
    array([1., 4., 4.])
    """
    return _on_host(_numpys.polypow, c, pow=pow, maxpower=maxpower)


def polyfromroots(roots: Any) -> ndarray:
    """The polynomial whose highest coefficient is one and that has these zeros.

    >>> weft.polynomial.polyfromroots([-1, 0, 1])
    array([ 0., -1.,  0.,  1.])
    """
    return _on_host(_numpys.polyfromroots, roots)


def polytrim(c: Any, tol: float = 0) -> ndarray:
    """The coefficients without those at the end that are no larger than `tol`; one is left.

    >>> weft.polynomial.polytrim([0, 1, 0, 0])
    array([0., 1.])
    """
    return _on_host(_numpys.polytrim, c, tol=tol)


def polycompanion(c: Any) -> ndarray:
    """The matrix whose eigenvalues are the zeros of a polynomial. ValueError where it has no degree.

    >>> weft.polynomial.polycompanion([1, 2, 3])
    array([[ 0.        , -0.33333333],
           [ 1.        , -0.66666667]])
    """
    return _on_host(_numpys.polycompanion, c)


def polyline(off: Any, scl: Any) -> ndarray:
    """The coefficients of `off + scl*x`.

    >>> weft.polynomial.polyline(1, -1)
    array([ 1, -1])
    """
    return _on_host(_numpys.polyline, off, scl)


def polyroots(c: Any) -> ndarray:
    """The zeros of a polynomial, sorted: the eigenvalues of its companion matrix.

    >>> weft.polynomial.polyroots([-2.0, 1.0])
    array([2.])
    """
    from weft.arrays.polynomials import zeros_of
    from weft.arrays.sorting import sort

    c = polytrim(c)
    if c.shape[0] < 2:
        return filled((0,), 0, c.dtype, c)
    companion = polycompanion(c)
    return companion[0] if c.shape[0] == 2 else sort(zeros_of(companion))


def _coefficients(c: Any, *others: Any) -> ndarray:
    """Coefficients as floats, of one axis at least."""
    c = beside(c, *others)
    c = c if c.ndim else _reshape(c, (1,))
    return c if c.dtype.kind in "fcV" else u("add", c, 0.0)


def polyval(x: Any, c: Any, tensor: bool = True) -> ndarray:
    """The values of a polynomial at `x`, by Horner's rule.

    Of coefficients with more axes than one, each column is a polynomial: all of them are evaluated at every `x`, or with
    `tensor=False` each at the `x` that it is broadcast against.

    >>> weft.polynomial.polyval(weft.asarray([0.0, 2.0]), [1, 2, 3])
    array([ 1., 17.])
    """
    c = _coefficients(c, x)
    x = x if _is_number(x) else beside(x, c)
    if isinstance(x, ndarray) and tensor:
        c = _reshape(c, (*c.shape, *(1,) * x.ndim))
    if c.shape[0] == 0:
        raise IndexError("index -1 is out of bounds for axis 0 with size 0")
    found = u("add", c[-1], x * 0)
    for i in range(2, c.shape[0] + 1):
        found = u("add", c[-i], u("multiply", found, x))
    return found


def _is_number(x: Any) -> bool:
    return isinstance(x, (bool, int, float, complex, np.generic))


def polyvalfromroots(x: Any, r: Any, tensor: bool = True) -> ndarray:
    """The values at `x` of the polynomial that has zeros `r`, as the product of the distances from them.

    >>> weft.polynomial.polyvalfromroots(weft.asarray([0.0, 3.0]), [1, 2])
    array([2., 2.])
    """
    r = beside(r, x)
    r = r if r.ndim else _reshape(r, (1,))
    r = r if r.dtype.kind in "fcV" else _cast(r, np.dtype(np.float64))
    if not _is_number(x):
        x = beside(x, r)
        if tensor:
            r = _reshape(r, (*r.shape, *(1,) * x.ndim))
        elif x.ndim >= r.ndim:
            raise ValueError("x.ndim must be < r.ndim when tensor == False")
    return _prod(u("subtract", x, r), 0)


def polyval2d(x: Any, y: Any, c: Any) -> ndarray:
    """The values of a polynomial of two variables at points: `c[i, j]` stands before `x**i * y**j`.

    >>> weft.polynomial.polyval2d(1.0, 2.0, [[1, 2], [3, 4]])
    array(16.)
    """
    return _at_points("x, y are incompatible", c, x, y)


def polyval3d(x: Any, y: Any, z: Any, c: Any) -> ndarray:
    """The values of a polynomial of three variables at points.

    >>> weft.polynomial.polyval3d(1.0, 2.0, 3.0, weft.ones((2, 2, 2)))
    array(24.)
    """
    return _at_points("x, y, z are incompatible", c, x, y, z)


def _at_points(words: str, c: Any, *places: Any) -> ndarray:
    points = arrays_of(*places, c)[:-1]
    if any(each.shape != points[0].shape for each in points):
        raise ValueError(words)
    found = polyval(points[0], c)
    for each in points[1:]:
        found = polyval(each, found, tensor=False)
    return found


def polygrid2d(x: Any, y: Any, c: Any) -> ndarray:
    """The values of a polynomial of two variables at every `x` with every `y`.

    >>> weft.polynomial.polygrid2d([0.0, 1.0], [0.0, 1.0, 2.0], [[1, 2], [3, 4]])
    array([[ 1.,  3.,  5.],
           [ 4., 10., 16.]])
    """
    c = _coefficients(c, x, y)
    return polyval(y, polyval(x, c))


def polygrid3d(x: Any, y: Any, z: Any, c: Any) -> ndarray:
    """The values of a polynomial of three variables at every `x` with every `y` and every `z`.

    >>> weft.polynomial.polygrid3d([0.0, 1.0], [0.0], [2.0, 3.0], weft.ones((2, 2, 2)))
    array([[[3., 4.]],
    <BLANKLINE>
           [[6., 8.]]])
    """
    return polyval(z, polygrid2d(x, y, _coefficients(c, x, y, z)))


def _integer(x: Any, what: str) -> int:
    try:
        return operator.index(x)
    except TypeError as error:
        raise TypeError(f"{what} must be an integer, received {x}") from error


def polyder(c: Any, m: int = 1, scl: Any = 1, axis: int = 0) -> ndarray:
    """The derivative of polynomials, whose coefficients lie along an axis, taken `m` times; each time multiplied by `scl`.

    >>> weft.polynomial.polyder([1, 2, 3, 4])
    array([ 2.,  6., 12.])
    """
    c = _coefficients(c)
    count, axis = _integer(m, "the order of derivation"), _integer(axis, "the axis")
    if count < 0:
        raise ValueError("The order of derivation must be non-negative")
    axis = axis_of(axis, c.ndim)
    dtype = c.dtype
    c = moveaxis(c, axis, 0)
    if count >= c.shape[0] and count:
        c = u("multiply", c[:1], 0)
    else:
        for _ in range(count):
            c = _scaled(c, scl)[1:]
            c = u("multiply", _along_first(_iota(c.shape[0], 1, 1, dtype, c.device), c), c)
    return moveaxis(_cast(c, dtype), 0, axis)


def _scaled(c: ndarray, scl: Any) -> ndarray:
    """Coefficients times a number, in their dtype, as NumPy's `*=` gives them."""
    return c if type(scl) is int and scl == 1 else weft.multiply(c, scl, out=filled(c.shape, 0, c.dtype, c))


def _along_first(row: ndarray, like: ndarray) -> ndarray:
    """A row as a column that is broadcast along the further axes of an array."""
    return _reshape(row, (row.shape[0], *(1,) * (like.ndim - 1)))


def polyint(c: Any, m: int = 1, k: Any = (), lbnd: Any = 0, scl: Any = 1, axis: int = 0) -> ndarray:
    """The integral of polynomials, whose coefficients lie along an axis, taken `m` times; each time first multiplied by `scl`.

    `k` has the values that the integrals have at `lbnd`, zero where it has none: the first integral's first.

    >>> weft.polynomial.polyint([1.0, 2.0, 3.0], k=7)
    array([7., 1., 1., 1.])
    """
    c = _coefficients(c)
    constants = list(k) if np.iterable(k) else [k]
    count, axis = _integer(m, "the order of integration"), _integer(axis, "the axis")
    if count < 0:
        raise ValueError("The order of integration must be non-negative")
    if len(constants) > count:
        raise ValueError("Too many integration constants")
    for name, value in (("lbnd", lbnd), ("scl", scl)):
        if np.ndim(value) != 0:
            raise ValueError(f"{name} must be a scalar.")
    axis = axis_of(axis, c.ndim)
    c = moveaxis(_cast(c, c.dtype), axis, 0)
    for i in range(count):
        c = _integral(_scaled(c, scl), constants[i] if i < len(constants) else 0, lbnd)
    return moveaxis(c, 0, axis)


def _integral(c: ndarray, constant: Any, lbnd: Any) -> ndarray:
    """One integral along the first axis. That of zero is a number: a polynomial of one coefficient is read for it."""
    n = c.shape[0]
    if n == 1 and not np.any(_to_numpy(c)):
        return weft.add(c, constant, out=c)
    behind = u("true_divide", c, _along_first(_iota(n, 1, 1, c.dtype, c.device), c))
    made = concatenate((filled((1, *c.shape[1:]), 0, c.dtype, c), behind), 0)
    weft.add(u("multiply", c[0], 0), u("subtract", constant, polyval(lbnd, made)), out=made[0])
    return made


def polyvander(x: Any, deg: int) -> ndarray:
    """The powers 0 to `deg` of every element, along a last axis: the matrix that coefficients are multiplied by for values.

    >>> weft.polynomial.polyvander([2.0, 3.0], 2)
    array([[1., 2., 4.],
           [1., 3., 9.]])
    """
    deg = _integer(deg, "deg")
    if deg < 0:
        raise ValueError("deg must be non-negative")
    x = array_of(x)
    x = u("add", x if x.ndim else _reshape(x, (1,)), 0.0)
    powers = [u("add", u("multiply", x, 0), 1)]
    for i in range(deg):
        powers.append(u("multiply", powers[-1], x) if i else x)
    return stack(powers, -1)


def polyvander2d(x: Any, y: Any, deg: Any) -> ndarray:
    """The products of the powers of two variables, along a last axis: those of `y` run fastest.

    >>> weft.polynomial.polyvander2d([2.0], [3.0], [1, 1])
    array([[1., 3., 2., 6.]])
    """
    return _vander_of_several((x, y), deg)


def polyvander3d(x: Any, y: Any, z: Any, deg: Any) -> ndarray:
    """The products of the powers of three variables, along a last axis.

    >>> weft.polynomial.polyvander3d([2.0], [3.0], [5.0], [1, 0, 1])
    array([[ 1.,  5.,  2., 10.]])
    """
    return _vander_of_several((x, y, z), deg)


def _vander_of_several(places: tuple[Any, ...], degrees: Any) -> ndarray:
    n = len(places)
    if len(degrees) != n:
        raise ValueError(f"Expected {n} dimensions of degrees, got {len(degrees)}")
    points = u("add", stack([beside(each, *places) for each in places]), 0.0)
    parts = []
    for i, degree in enumerate(degrees):
        powers = polyvander(points[i], degree)
        parts.append(powers[(Ellipsis, *(slice(None) if i == axis else None for axis in range(n)))])
    found = functools.reduce(operator.mul, parts)
    return _reshape(found, (*found.shape[:-n], int(np.prod(found.shape[-n:]))))


def polyfit(x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None) -> Any:
    """The polynomial that is nearest to points, by the squares of their distances along y; of a degree, or with the powers that `deg`
    lists.

    `y` may have a column for each of several fits. `w` weighs the points; singular values below `rcond` times the largest are taken
    for zero. With `full=True` a list of the residuals, the rank, the singular values and `rcond` comes behind the coefficients. A
    RankWarning says that the points do not decide.

    >>> weft.round(weft.polynomial.polyfit([0.0, 1.0, 2.0, 3.0], [1.0, 3.0, 5.0, 7.0], 1), 6)
    array([1., 2.])
    """
    from weft.arrays.polynomials import _check_points, _linalg

    x, y = u("add", beside(x, y), 0.0), u("add", beside(y, x), 0.0)
    powers = np.asarray(_to_numpy(deg) if isinstance(deg, ndarray) else deg)
    if powers.ndim > 1 or powers.dtype.kind not in "iu" or powers.size == 0:
        raise TypeError("deg must be an int or non-empty 1-D array of int")
    _check_points(x, y, powers.min())
    chosen = list(range(int(powers) + 1)) if powers.ndim == 0 else np.sort(powers).tolist()
    left = polyvander(x, chosen[-1])
    left, right = (left if powers.ndim == 0 else left[:, chosen]).T, y.T
    if w is not None:
        w = u("add", beside(w, x), 0.0)
        if w.ndim != 1:
            raise TypeError("expected 1D vector for w")
        if w.shape[0] != x.shape[0]:
            raise TypeError("expected x and w to have same length")
        left, right = u("multiply", left, w), u("multiply", right, w)
    if rcond is None:
        rcond = x.shape[0] * np.finfo(x.dtype).eps
    scale = u("sqrt", _sum(u("square", u("absolute", left) if left.dtype.kind == "c" else left), 1))
    scale = u("add", scale, u("equal", scale, 0))
    found, residuals, rank, values = _linalg().lstsq(u("true_divide", left.T, scale), right.T, rcond)
    found = u("true_divide", found.T, scale).T
    if powers.ndim:
        every = _full((chosen[-1] + 1, *found.shape[1:]), 0, found.dtype, found.device)
        every[chosen] = found
        found = every
    if int(rank) != len(chosen) and not full:
        warnings.warn("The fit may be poorly conditioned", np.exceptions.RankWarning, stacklevel=2)
    return (found, [residuals, rank, values, rcond]) if full else found


__all__ = [
    "polyadd", "polycompanion", "polyder", "polydiv", "polyfit", "polyfromroots", "polygrid2d", "polygrid3d", "polyint",
    "polyline", "polymul", "polymulx", "polypow", "polyroots", "polysub", "polytrim", "polyval", "polyval2d", "polyval3d",
    "polyvalfromroots", "polyvander", "polyvander2d", "polyvander3d",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Constants; and the class, which stands in a file of its own."""
    if name in _CONSTANTS:
        return array_of(_CONSTANTS[name])
    if name == "Polynomial":
        from weft.polynomial.series import Polynomial

        return Polynomial
    raise AttributeError(f"module 'weft.polynomial.polynomial' has no attribute {name!r}")

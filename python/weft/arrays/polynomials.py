"""NumPy's older functions of polynomials, whose coefficients stand with the highest power first. New code has `weft.polynomial`."""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np

from weft._weft import _assign, _cast, _followed, _full, _iota, _reshape, _to_numpy, ndarray
from weft.gradients.primitives import primitive, unseen

from . import _compiled
from ._common import array_of, beside, filled, u
from .joining import concatenate
from .products import convolve, vander
from .reductions import sum as _sum

RankWarning = np.exceptions.RankWarning


def coefficients(p: Any, *others: Any) -> ndarray:
    """Coefficients as an array of one axis at least, on the device of others."""
    p = beside(_plain(p), *map(_plain, others))
    return p if p.ndim else _reshape(p, (1,))


def _plain(p: Any) -> Any:
    """The coefficients of a `poly1d`, and anything else as it is."""
    return p.coeffs if _is_object(p) else p


@functools.cache
def _class() -> type:
    """`poly1d`, whose file needs this one."""
    from .poly1d import poly1d

    return poly1d


def _is_object(p: Any) -> bool:
    return isinstance(p, (_class(), np.poly1d))


def _as_given(found: Any, *given: Any) -> Any:
    """Coefficients as a `poly1d` if one was given."""
    if not any(map(_is_object, given)):
        return found
    return tuple(map(_class(), found)) if isinstance(found, tuple) else _class()(found)


def polyval(p: Any, x: Any) -> ndarray:
    """The values of a polynomial at `x`, by Horner's rule.

    >>> weft.polyval([3, 0, 1], weft.asarray([0, 1, 2]))
    array([ 1,  4, 13])
    """
    p = beside(_plain(p), _plain(x))
    if _is_object(x):
        return _composed(p, x)
    x = beside(x, p)
    if p.ndim == 0:
        raise TypeError("iteration over a 0-d array")
    if p.shape[0] > _LONG:
        return values_of_long(p, x)
    y = _full(x.shape, 0, x.dtype, x.device)
    for i in range(p.shape[0]):
        y = u("add", u("multiply", y, x), p[i])
    return y


@primitive(rules="sums")
def values_of_long(p: ndarray, x: ndarray) -> ndarray:
    """What `polyval` gives for many coefficients. Computed at once, on the host."""
    return _compiled.on_hosts(np.polyval, p, x)


def _composed(p: ndarray, x: Any) -> Any:
    """The polynomial of a polynomial."""
    found: Any = 0
    for i in range(p.shape[0]):
        found = found * x + p[i]
    return found


# A polynomial with more coefficients would be a kernel that takes long to compile.
_LONG = 256


def polyadd(a1: Any, a2: Any) -> ndarray:
    """The sum of two polynomials.

    >>> weft.polyadd([1, 2], [9, 5, 4])
    array([9, 6, 6])
    """
    return _of_equal_length("add", a1, a2)


def polysub(a1: Any, a2: Any) -> ndarray:
    """The difference of two polynomials.

    >>> weft.polysub([2, 10, -2], [3, 10, -4])
    array([-1,  0,  2])
    """
    return _of_equal_length("subtract", a1, a2)


def _of_equal_length(name: str, a1: Any, a2: Any) -> ndarray:
    """An operation on coefficients of the same powers; the shorter row has zeros in front."""
    given = a1, a2
    a1, a2 = coefficients(a1, a2), coefficients(a2, a1)
    missing = a2.shape[0] - a1.shape[0]
    if missing > 0:
        a1 = concatenate((filled((missing,), 0, a1.dtype, a1), a1))
    elif missing < 0:
        a2 = concatenate((filled((-missing,), 0, a2.dtype, a2), a2))
    return _as_given(u(name, a1, a2), *given)


def polymul(a1: Any, a2: Any) -> ndarray:
    """The product of two polynomials, without zeros in front of them. Computed at once, on the host.

    >>> weft.polymul([1, 2, 3], [9, 5, 1])
    array([ 9, 23, 38, 17,  3])
    """
    first, second = coefficients(a1, a2), coefficients(a2, a1)
    if _followed(first, second):
        found = convolve(*(each[_zeros_in_front(each) :] for each in (first, second)))
    else:
        found = _compiled.on_hosts(np.polymul, first, second, keeps_shape=False)
    return _as_given(found, a1, a2)


def _zeros_in_front(p: ndarray) -> int:
    """How many zeros stand in front, of which one is left where there is nothing else."""
    places = np.flatnonzero(unseen(_to_numpy, p))
    return int(places[0]) if places.size else max(p.shape[0] - 1, 0)


def polydiv(u: Any, v: Any) -> tuple[ndarray, ndarray]:
    """The quotient and the remainder of two polynomials. Computed at once, on the host.

    >>> weft.polydiv([3.0, 5.0, 2.0], [2.0, 1.0])
    (array([1.5 , 1.75]), array([0.25]))
    """
    first, second = coefficients(u, v), coefficients(v, u)
    if _followed(first, second):
        return _as_given(_divided(first, second), u, v)
    found = _compiled.on_hosts(np.polydiv, first, second, keeps_shape=False)
    return _as_given(found, u, v)


def _divided(a: ndarray, b: ndarray) -> tuple[ndarray, ndarray]:
    """The quotient and the remainder by long division, as NumPy goes about it."""
    rest, b = u("add", a, 0.0), u("add", b, 0.0)
    rest = _cast(rest, np.result_type(rest.dtype, b.dtype))
    steps, scale = a.shape[0] - b.shape[0] + 1, u("divide", 1.0, b[0])
    found = filled((max(steps, 1),), 0, rest.dtype, rest)
    for at in range(steps):
        found[at] = u("multiply", scale, rest[at])
        part = rest[at : at + b.shape[0]]
        part[...] = u("subtract", part, u("multiply", found[at], b))
    host = unseen(_to_numpy, rest)
    start = 0
    while start < len(host) - 1 and np.allclose(host[start], 0, rtol=1e-14):
        start += 1
    return found, rest[start:]


def polyder(p: Any, m: int = 1) -> ndarray:
    """The derivative of a polynomial, taken `m` times. A negative number is a ValueError.

    >>> weft.polyder([1, 1, 1, 1])
    array([3, 2, 1])
    """
    m = int(m)
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    given, p = p, array_of(_plain(p))
    if p.ndim == 0:
        raise TypeError("len() of unsized object")
    for _ in range(m):
        p = u("multiply", p[:-1], _powers(p.shape[0] - 1, p))
    return _as_given(p, given)


def _powers(n: int, like: ndarray) -> ndarray:
    """The numbers from n down to 1."""
    return _iota(max(n, 0), n, -1, np.dtype(np.int64), like.device)


def polyint(p: Any, m: int = 1, k: Any = None) -> ndarray:
    """The integral of a polynomial, taken `m` times; `k` is the constant of all integrals, or a row of those of each.

    >>> weft.polyint([1.0, 1.0, 1.0])
    array([0.33333333, 0.5       , 1.        , 0.        ])
    """
    m = int(m)
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    given, p = p, array_of(_plain(p))
    k = _full((m,), 0, np.dtype(np.float64), p.device) if k is None else coefficients(k, p)
    if k.shape[0] == 1 and m > 1:
        k = u("multiply", k[0], _full((m,), 1, np.dtype(np.float64), p.device))
    if k.shape[0] < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    if m and p.ndim == 0:
        raise TypeError("len() of unsized object")
    for i in range(m):
        p = concatenate((u("true_divide", p, _powers(p.shape[0], p)), k[i : i + 1]))
    return _as_given(p, given)


def poly(seq_of_zeros: Any) -> ndarray:
    """The polynomial that has these zeros, or a square matrix's characteristic polynomial. Computed at once, on the host.

    ValueError for what is neither a row nor a square matrix.

    >>> weft.poly([1.0, 2.0])
    array([ 1., -3.,  2.])
    """
    zeros = coefficients(seq_of_zeros)
    if zeros.ndim == 2 and zeros.shape[0] == zeros.shape[1] != 0:
        zeros = _linalg().eigvals(zeros)
    elif zeros.ndim != 1:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    return _with_zeros(zeros) if _followed(zeros) else _compiled.on_hosts(np.poly, zeros, keeps_shape=False)


def _with_zeros(zeros: ndarray) -> ndarray:
    """The product of what has one zero each; of zeros that are each other's conjugates the coefficients are real."""
    found, nothing = filled((1,), 1, zeros.dtype, zeros), filled((1,), 0, zeros.dtype, zeros)
    for at in range(zeros.shape[0]):
        found = u("subtract", concatenate((found, nothing)), concatenate((nothing, u("multiply", found, zeros[at]))))
    if zeros.dtype.kind != "c":
        return found
    host = unseen(_to_numpy, zeros)
    return found.real if np.array_equal(np.sort(host), np.sort(host.conj())) else found


def roots(p: Any) -> ndarray:
    """The zeros of a polynomial: the eigenvalues of its companion matrix. Computed at once. ValueError for what is no row.

    >>> weft.roots([1.0, -3.0, 0.0])
    array([3., 0.])
    """
    p = coefficients(p)
    if p.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    filled_places = np.flatnonzero(unseen(_to_numpy, p))
    if not filled_places.size:
        return _full((0,), 0, np.dtype(np.float64), p.device)
    first, last = int(filled_places[0]), int(filled_places[-1])
    behind = p.shape[0] - last - 1
    p = p[first : last + 1]
    p = _cast(p, np.dtype(np.float64)) if p.dtype.kind not in "fc" else p
    n = p.shape[0]
    if n == 1:
        return _full((behind,), 0, np.dtype(np.float64), p.device)
    companion = _full((n - 1, n - 1), 0, p.dtype, p.device)
    if n > 2:
        companion[np.arange(1, n - 1), np.arange(n - 2)] = 1
    companion[0] = u("true_divide", u("negative", p[1:]), p[0])
    found = zeros_of(companion)
    return concatenate((found, _full((behind,), 0, found.dtype, found.device))) if behind else found


def zeros_of(companion: ndarray) -> ndarray:
    """The eigenvalues of a companion matrix, real if all are and the matrix is, as NumPy's zeros of polynomials."""
    found = _linalg().eigvals(companion)
    is_real = companion.dtype.kind != "c" and not unseen(_to_numpy, found).imag.any()
    return found.real if is_real else found


def _linalg() -> Any:
    """The linear algebra that zeros and fits are found by."""
    import weft

    return weft.linalg


def polyfit(x: Any, y: Any, deg: int, rcond: Any = None, full: bool = False, w: Any = None, cov: Any = False) -> Any:
    """The polynomial of a degree that is nearest to points, by the squares of their distances along y.

    `y` may have a column for each of several fits. `w` weighs the points; singular values below `rcond` times the largest are taken
    for zero. With `full=True` the residuals, the rank, the singular values and `rcond` come behind the coefficients, with `cov=True`
    their covariances, with `cov="unscaled"` as if the weights were exact. A RankWarning says that the points do not decide.

    >>> weft.round(weft.polyfit([0.0, 1.0, 2.0, 3.0], [1.0, 3.0, 5.0, 7.0], 1), 6)
    array([2., 1.])
    """
    order = int(deg) + 1
    x, y = u("add", beside(x, y), 0.0), u("add", beside(y, x), 0.0)
    _check_points(x, y, deg)
    if rcond is None:
        rcond = x.shape[0] * np.finfo(x.dtype).eps
    left, right = vander(x, order), y
    if w is not None:
        w = u("add", beside(w, x), 0.0)
        if w.ndim != 1:
            raise TypeError("expected a 1-d array for weights")
        if w.shape[0] != y.shape[0]:
            raise TypeError("expected w and y to have the same length")
        left = _into_type_of(left, u("multiply", left, w[:, None]))
        right = _into_type_of(right, u("multiply", right, w[:, None] if right.ndim == 2 else w))
    scale = u("sqrt", _sum(u("multiply", left, left), 0))
    left = u("true_divide", left, scale)
    found, residuals, rank, values = _linalg().lstsq(left, right, rcond)
    found = u("true_divide", found.T, scale).T
    if int(rank) != order and not full:
        warnings.warn("Polyfit may be poorly conditioned", RankWarning, stacklevel=2)
    if full:
        return found, residuals, rank, values, rcond
    if not cov:
        return found
    return found, _covariances(left, scale, residuals, x.shape[0], order, y.ndim, cov)


def _check_points(x: ndarray, y: ndarray, deg: Any) -> None:
    """NumPy's errors of points that nothing can be fitted to."""
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if x.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if x.size == 0:
        raise TypeError("expected non-empty vector for x")
    if not 1 <= y.ndim <= 2:
        raise TypeError("expected 1D or 2D array for y")
    if x.shape[0] != y.shape[0]:
        raise TypeError("expected x and y to have same length")


def _into_type_of(x: ndarray, product: ndarray) -> ndarray:
    """A product in the dtype of what it is put into, as NumPy's `*=` has it."""
    if not np.can_cast(product.dtype, x.dtype, "same_kind"):
        raise TypeError(f"Cannot cast ufunc 'multiply' output from {product.dtype!r} to {x.dtype!r} with casting rule 'same_kind'")
    made = filled(x.shape, 0, x.dtype, x)
    _assign(made, product)
    return made


def _covariances(left: ndarray, scale: ndarray, residuals: ndarray, count: int, order: int, rank: int, cov: Any) -> ndarray:
    """How the coefficients of a fit vary together."""
    import weft

    base = _linalg().inv(weft.matmul(left.T, left))
    base = u("true_divide", base, weft.outer(scale, scale))
    factor: Any = 1
    if not (isinstance(cov, str) and cov == "unscaled"):
        if count <= order:
            raise ValueError("the number of data points must exceed order to scale the covariance matrix")
        factor = u("true_divide", residuals, count - order)
    return u("multiply", base if rank == 1 else base[:, :, None], factor)

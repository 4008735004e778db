"""Systems of equations, inverses, determinants, least squares: of each matrix in the last two axes."""

from __future__ import annotations

import math
import operator
from typing import Any, NamedTuple

import numpy as np

from weft._weft import _cast, _reshape, ndarray
from weft.arrays._common import array_of, beside, filled, real_dtype, select, together, u
from weft.arrays.products import matmul
from weft.arrays.reductions import count_nonzero
from weft.arrays.reductions import max as max_of
from weft.arrays.reductions import sum as sum_of
from weft.gradients.primitives import primitive

from ._routines import LinAlgError, call, common, matrices, square, turned
from .decompositions import qr, svd


class SlogdetResult(NamedTuple):
    """The sign of a determinant and the logarithm of its size."""

    sign: ndarray
    logabsdet: ndarray


def solve(a: Any, b: Any) -> ndarray:
    """What times `a` is `b`: x with a x = b, by elimination with partial pivoting.

    `a` is (..., n, n), and `b` a vector (n,) or right-hand sides (..., n, k); the axes in front are broadcast. LinAlgError if a matrix is
    singular or not square.

    >>> weft.linalg.solve(weft.asarray([[2.0, 0.0], [0.0, 4.0]]), weft.asarray([2.0, 2.0]))
    array([1. , 0.5])
    """
    a, b = together(a, b)
    square(a)
    a, b = common(a, b)
    if b.ndim == 1:
        return _solved(a, b[:, None], "(m,m),(m)->(m)")[..., 0]
    return _solved(a, b, "(m,m),(m,n)->(m,n)")


def _solved(a: ndarray, b: ndarray, signature: str) -> ndarray:
    if b.ndim < 2:
        raise ValueError(
            f"solve: Input operand 1 does not have enough dimensions (has {b.ndim}, gufunc core with signature {signature} requires 2)"
        )
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(
            f"solve: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature {signature} "
            f"(size {b.shape[-2]} is different from {a.shape[-1]})"
        )
    return call("solve", a, b)


def inv(a: Any) -> ndarray:
    """The inverses of matrices (..., n, n). LinAlgError if one is singular or not square.

    >>> weft.linalg.inv(weft.asarray([[2.0, 0.0], [0.0, 4.0]]))
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    return call("inv", *square(a))


def det(a: Any) -> ndarray:
    """The determinants of matrices (..., n, n).

    >>> weft.round(weft.linalg.det(weft.asarray([[1.0, 2.0], [3.0, 4.0]])), 12)
    array(-2.)
    """
    return call("det", *square(a))


def slogdet(a: Any) -> SlogdetResult:
    """The signs of determinants, 0 of singular matrices, and the logarithms of their sizes; for complex matrices (..., n, n) signs are
    numbers on the unit circle.

    >>> weft.linalg.slogdet(weft.asarray([[0.0, 1.0], [1.0, 0.0]]))
    SlogdetResult(sign=array(-1.), logabsdet=array(0.))
    """
    return SlogdetResult(*call("slogdet", *square(a)))


_NOT_GIVEN: Any = object()


def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = _NOT_GIVEN) -> ndarray:
    """The pseudo-inverses (..., n, m) of matrices (..., m, n), by their singular values: those up to `rcond` times the largest count as
    zero. If nothing is said, that is the larger of m and n times the epsilon of what they are computed in: NumPy's 1e-15 may be less than
    their rounding, and it divides by that. With `rtol=None` it is the dtype's epsilon.

    >>> weft.linalg.pinv(weft.asarray([[2.0], [0.0]]))
    array([[0.5, 0. ]])
    """
    a = array_of(a)
    (found,) = matrices(a)
    if rcond is not None and rtol is not _NOT_GIVEN:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    if rcond is None and rtol is not _NOT_GIVEN:
        rcond = rtol
    if rcond is None:
        in_double = rtol is _NOT_GIVEN and a.device.kind != "cuda"
        rcond = max(1e-15, max(a.shape[-2:]) * (_EPSILON if in_double else float(np.finfo(found.dtype).eps)))
    if found.size == 0:
        return filled((*found.shape[:-2], found.shape[-1], found.shape[-2]), 0, found.dtype, found)
    return pseudo_inverses(found, rcond, hermitian)


@primitive(rules="decompositions")
def pseudo_inverses(found: ndarray, rcond: Any, hermitian: bool) -> ndarray:
    """What `pinv` gives of matrices with elements."""
    left, values, right = svd(found, full_matrices=False, hermitian=hermitian)
    cutoff = u("multiply", beside(rcond, values)[..., None], max_of(values, axis=-1, keepdims=True))
    one = values.dtype.type(1)
    inverse = select(u("greater", values, cutoff), u("divide", one, values), values.dtype.type(0))
    return matmul(turned(right), u("multiply", _cast(inverse, values.dtype)[..., None], turned(left)))


def lstsq(a: Any, b: Any, rcond: Any = None) -> tuple[ndarray, ndarray, ndarray, ndarray]:
    """The smallest x for which |b - a x| is smallest; the sums of squares of what is left, for each right-hand side, empty unless the
    matrix has full rank and more rows than columns; the rank; the singular values.

    `a` is (m, n), `b` (m,) or (m, k). Singular values up to `rcond` times the largest count as zero: the larger of m and n times
    dtype's epsilon if nothing is said, the epsilon itself for -1. By singular values, behind a QR decomposition of what is tall.

    >>> x, residuals, rank, s = weft.linalg.lstsq(weft.asarray([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), weft.asarray([1.0, 3.0, 5.0]))
    >>> weft.round(x, 12)
    array([1., 2.])
    """
    a, b = together(a, b)
    for x in (a,) if b.ndim == 1 else (a, b):
        if x.ndim != 2:
            raise LinAlgError(f"{x.ndim}-dimensional array given. Array must be two-dimensional")
    a, b = common(a, b)
    dtype = a.dtype
    wide = np.dtype(np.complex128 if dtype.kind == "c" else np.float64)
    a, b = _cast(a, wide), _cast(b, wide)
    (m, n), is_vector = a.shape, b.ndim == 1
    sides = b[:, None] if is_vector else b
    if m != sides.shape[0]:
        raise LinAlgError("Incompatible dimensions")
    if rcond is None:
        rcond = _EPSILON * max(m, n)
    elif not 0 < rcond < 1:
        rcond = _EPSILON
    x, rank, values = least_squares(a, sides, rcond)
    left = filled((0,), 0, values.dtype, a)
    if m > n and int(rank) == n:
        rest = u("absolute", u("subtract", sides, matmul(a, x)))
        left = sum_of(u("multiply", rest, rest), axis=0)
    real = real_dtype(dtype)
    return _cast(x[:, 0] if is_vector else x, dtype), _cast(left, real), rank, _cast(values, real)


# Everything is computed in double precision.
_EPSILON = float(np.finfo(np.float64).eps)

# A matrix this many times taller than wide is worth a QR decomposition before its singular values are looked for.
_TALL = 1.6


@primitive(rules="decompositions")
def least_squares(a: ndarray, sides: ndarray, rcond: float) -> tuple[ndarray, ndarray, ndarray]:
    """The smallest of the nearest solutions, the rank, and the singular values."""
    m, n = a.shape
    if m == 0 or n == 0:
        values = filled((0,), 0, np.empty(0, a.dtype).real.dtype, a)
        return filled((n, sides.shape[1]), 0, a.dtype, a), filled((), 0, np.int32, a), values
    if m > _TALL * n:
        q, a = qr(a)
        sides = matmul(turned(q), sides)
    left, values, right = svd(a, full_matrices=False)
    large = u("greater", values, u("multiply", values[0], values.dtype.type(rcond)))
    inverse = select(large, u("divide", values.dtype.type(1), values), values.dtype.type(0))
    x = matmul(turned(right), u("multiply", _cast(inverse, values.dtype)[:, None], matmul(turned(left), sides)))
    return x, _cast(count_nonzero(large), np.dtype(np.int32)), values


def tensorsolve(a: Any, b: Any, axes: Any = None) -> ndarray:
    """x with tensordot(a, x, x.ndim) = b: `a` is of shape b.shape + x.shape, with as many elements in both. `axes` of `a` are moved to
    the end before.

    >>> weft.linalg.tensorsolve(weft.eye(4).reshape(2, 2, 4), weft.asarray([[1.0, 2.0], [3.0, 4.0]]))
    array([1., 2., 3., 4.])
    """
    a, b = together(a, b)
    if axes is not None:
        order = list(range(a.ndim))
        for axis in axes:
            order.remove(axis)
            order.append(axis)
        a = a.transpose(order)
    shape = a.shape[b.ndim :]
    size = math.prod(shape)
    if a.size != size * size:
        raise LinAlgError("Input arrays must satisfy the requirement             prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])")
    return _reshape(solve(_reshape(a, (size, size)), _reshape(b, (b.size,))), shape)


def tensorinv(a: Any, ind: int = 2) -> ndarray:
    """The array whose tensordot with `a` along `ind` axes is the identity.

    >>> weft.linalg.tensorinv(weft.eye(4).reshape(4, 2, 2), ind=1).shape
    (2, 2, 4)
    """
    a = array_of(a)
    ind = operator.index(ind)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    shape = a.shape[ind:] + a.shape[:ind]
    rows = math.prod(a.shape[ind:])
    found = inv(_reshape(a, (a.size // rows if rows else 0, rows)))
    return _reshape(found, shape)

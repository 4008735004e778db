"""Norms, and what is told from singular values: ranks and condition numbers. Norms of elements are recorded and fused."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from weft._weft import _cast, _reshape, ndarray
from weft.arrays import _compiled
from weft.arrays._common import array_of, axis_of, beside, flat, real_dtype, select, u, with_ones
from weft.arrays.reductions import any as any_of
from weft.arrays.reductions import count_nonzero
from weft.arrays.reductions import max as max_of
from weft.arrays.reductions import min as min_of
from weft.arrays.reductions import sum as sum_of
from weft.arrays.shapes import moveaxis, permute_dims
from weft.gradients.primitives import primitive
from weft.kernels.launching import on_a_device

from ._routines import LinAlgError, called, inexact, square
from .decompositions import svd


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> ndarray:
    """The norm of vectors along an axis or of matrices in two axes; of all elements if neither is said.

    `ord`: of vectors inf, -inf, 0 (how many are not zero), or p for sum(abs(x)**p)**(1/p), 2 if None; of matrices "fro" (also None), "nuc"
    (the sum of the singular values), inf, -inf, 1, -1 (the largest or smallest sum of a row, of a column), 2, -2 (the largest or smallest
    singular value, computed at once).

    >>> weft.linalg.norm(weft.asarray([3.0, 4.0]))
    array(5.)
    """
    x = inexact(x)
    if axis is None:
        if ord is None or (ord in ("f", "fro") and x.ndim == 2) or (ord == 2 and x.ndim == 1):
            found = _root_of_squares(flat(x), (0,))
            return _reshape(found, (1,) * x.ndim) if keepdims else found
        axes = tuple(range(x.ndim))
    elif isinstance(axis, tuple):
        axes = axis
    else:
        try:
            axes = (operator.index(axis),)
        except TypeError as error:
            raise TypeError("'axis' must be None, an integer or a tuple of integers") from error
    if len(axes) == 1:
        return _of_vectors(x, ord, axis_of(axes[0], x.ndim), keepdims)
    if len(axes) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    row, col = (axis_of(each, x.ndim) for each in axes)
    if row == col:
        raise ValueError("Duplicate axes given.")
    found = _of_matrices(x, ord, row, col)
    return _reshape(found, with_ones(x.shape, (row, col))) if keepdims else found


def _root_of_squares(x: ndarray, axes: tuple[int, ...], keepdims: bool = False) -> ndarray:
    if x.dtype.kind == "c":
        squares = u("add", u("square", x.real), u("square", x.imag))
    else:
        squares = u("square", x)
    return u("sqrt", sum_of(squares, axis=axes, keepdims=keepdims))


def _of_vectors(x: ndarray, ord: Any, axis: int, keepdims: bool) -> ndarray:
    if ord is None or ord == 2:
        return _root_of_squares(x, (axis,), keepdims)
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    if ord == np.inf:
        return max_of(u("absolute", x), axis=axis, keepdims=keepdims, initial=0)
    if ord == -np.inf:
        return min_of(u("absolute", x), axis=axis, keepdims=keepdims)
    if ord == 0:
        return sum_of(_cast(u("not_equal", x, x.dtype.type(0)), real_dtype(x.dtype)), axis=axis, keepdims=keepdims)
    if ord == 1:
        return sum_of(u("absolute", x), axis=axis, keepdims=keepdims)
    powers = u("power", u("absolute", x), ord)
    found = sum_of(powers, axis=axis, keepdims=keepdims)
    return u("power", found, found.dtype.type(1) / found.dtype.type(ord))


def _of_matrices(x: ndarray, ord: Any, row: int, col: int) -> ndarray:
    if ord is None or ord in ("fro", "f"):
        return _root_of_squares(x, (row, col))
    if ord in (2, -2, "nuc"):
        values = svd(moveaxis(x, (row, col), (-2, -1)), compute_uv=False)
        if ord == "nuc":
            return sum_of(values, axis=-1)
        return max_of(values, axis=-1, initial=0) if ord == 2 else min_of(values, axis=-1)
    if ord not in (1, -1, np.inf, -np.inf):
        raise ValueError("Invalid norm order for matrices.")
    along, rest = (row, col) if ord in (1, -1) else (col, row)
    sums = sum_of(u("absolute", x), axis=along)
    rest -= rest > along
    return max_of(sums, axis=rest, initial=0) if ord > 0 else min_of(sums, axis=rest)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> ndarray:
    """The norm of the matrices in the last two axes, as `norm` has it.

    >>> weft.linalg.matrix_norm(weft.asarray([[3.0, 0.0], [0.0, 4.0]]))
    array(5.)
    """
    return norm(x, ord=ord, axis=(-2, -1), keepdims=keepdims)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> ndarray:
    """The norm of vectors along an axis, along several taken as one, or of all elements.

    >>> weft.linalg.vector_norm(weft.asarray([[3.0, 4.0], [6.0, 8.0]]), axis=1)
    array([ 5., 10.])
    """
    x = array_of(x)
    shape = x.shape
    if axis is None:
        x, axes, place = flat(x), tuple(range(x.ndim)), 0
    elif isinstance(axis, tuple):
        axes = tuple(axis_of(each, x.ndim) for each in axis)
        rest = [each for each in range(x.ndim) if each not in axes]
        moved = permute_dims(x, (*axes, *rest))
        x, place = _reshape(moved, (math.prod(moved.shape[: len(axes)]), *moved.shape[len(axes) :])), 0
    else:
        axes = (axis_of(axis, x.ndim),)
        place = axes[0]
    found = norm(x, ord=ord, axis=place)
    return _reshape(found, with_ones(shape, axes)) if keepdims else found


def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> ndarray:
    """How many singular values of matrices (..., m, n) are more than `tol`, or than `rtol` times the largest: the larger of m and n times
    the dtype's epsilon if nothing is said. Of a vector, whether it is not zero.

    >>> weft.linalg.matrix_rank(weft.ones((3, 3)))
    array(1)
    """
    if rtol is not None and tol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    x = array_of(A)
    if x.ndim < 2:
        return _cast(any_of(u("not_equal", x, 0)), np.dtype(np.int64))
    values = svd(x, compute_uv=False, hermitian=hermitian)
    if tol is None:
        factor = max(x.shape[-2:]) * float(np.finfo(values.dtype).eps) if rtol is None else beside(rtol, values)[..., None]
        tol = u("multiply", max_of(values, axis=-1, keepdims=True, initial=0), factor)
    else:
        tol = beside(tol, values)[..., None]
    return count_nonzero(u("greater", values, tol), axis=-1)


def cond(x: Any, p: Any = None) -> ndarray:
    """The condition numbers of matrices (..., m, n): the largest singular value over the smallest (`p` None or 2; -2 the other way
    round), or the norm `p` of the matrix times that of its inverse. Infinite where there is none.

    >>> weft.linalg.cond(weft.asarray([[2.0, 0.0], [0.0, 4.0]]))
    array(2.)
    """
    x = array_of(x)
    if x.size == 0 and math.prod(x.shape[-2:]) == 0:
        raise LinAlgError("cond is not defined on empty arrays")
    if p is None or p in (2, -2):
        values = svd(x, compute_uv=False)
        first, last = values[..., 0], values[..., -1]
        found = u("divide", last, first) if p == -2 else u("divide", first, last)
    else:
        (a,) = square(x)
        found = u("multiply", norm(a, p, axis=(-2, -1)), norm(inverse_or_nan(a), p, axis=(-2, -1)))
    is_unknown = u("logical_and", u("isnan", found), u("logical_not", any_of(u("isnan", inexact(x)), axis=(-2, -1))))
    return select(is_unknown, found.dtype.type(np.inf), found)


@primitive(rules="decompositions")
def inverse_or_nan(a: ndarray) -> ndarray:
    """Inverses, NaN for matrices that have none."""
    if on_a_device(a):
        from weft.kernels.lu import inv_or_nan

        return inv_or_nan(a)
    return _compiled.on_hosts(_inverses, a)


def _inverses(a: np.ndarray) -> np.ndarray:
    stack = a.reshape(-1, *a.shape[-2:])
    found = np.full(stack.shape, np.nan, a.dtype)
    for at in range(len(stack)):
        try:
            found[at] = called("inv", stack[at])[0]
        except LinAlgError:
            continue
    return found.reshape(a.shape)

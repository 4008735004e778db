"""Cotangents of decompositions, inverses and solutions of matrices.

Formulas are those of M. B. Giles, "Collected Matrix Derivative Results for Forward and Reverse Mode Algorithmic Differentiation" (2008),
and of G. H. Golub and V. Pereyra, "The Differentiation of Pseudo-Inverses and Nonlinear Least Squares Problems Whose Variables Separate"
(1973), for complex matrices. They are written for cotangents that are paired with what changes; Weft's are multiplied, which are the
conjugates of these: conjugates are taken at both ends. Matrices of which one triangle is read are taken for Hermitian: their cotangents
are, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft._weft import _cast, _full, _iota, _part, _reshape, ndarray
from weft.arrays._common import counting_dtype, real_dtype, select, u
from weft.arrays.joining import concatenate
from weft.arrays.products import matrices, tril, triu
from weft.arrays.shapes import diagonal, matrix_transpose
from weft.errors import CaptureError, GradientError
from weft.gradients.primitives import Call, through, unseen
from weft.gradients.rules.products import fitted
from weft.linalg._routines import LinAlgError, call, turned
from weft.linalg.norms import inverse_or_nan
from weft.linalg.systems import least_squares, pseudo_inverses

__all__: list[str] = []

Given = ndarray | None


def _conjugate(x: Any) -> Any:
    return u("conjugate", x) if isinstance(x, ndarray) and x.dtype.kind == "c" else x


def _product(*factors: ndarray) -> ndarray:
    found = factors[0]
    for each in factors[1:]:
        found = matrices(found, each)
    return found


def _real(x: ndarray) -> ndarray:
    return _part(x, "real") if x.dtype.kind == "c" else x


def _unit(n: int, like: ndarray) -> ndarray:
    """Where the diagonal is, as a mask."""
    numbers = _iota(n, 0, 1, counting_dtype(like.device), like.device)
    return u("equal", numbers[:, None], numbers)


def _on_diagonal(x: ndarray, rest: ndarray) -> ndarray:
    """A matrix with a row on its diagonal and the others' elements beside it."""
    row = x if x.dtype == rest.dtype else _cast(x, rest.dtype)
    return select(_unit(rest.shape[-1], rest), row[..., None, :], rest)


def _hermitian(x: ndarray) -> ndarray:
    return u("multiply", u("add", x, turned(x)), 0.5)


def _half_below(x: ndarray) -> ndarray:
    """The lower triangle with half the diagonal."""
    below = tril(x)
    return select(_unit(x.shape[-1], x), u("multiply", below, 0.5), below)


def _of_routine(cotangents: Any, results: Any, name: str, *arrays: ndarray) -> tuple[Any, ...]:
    rule = _RULES.get(name)
    if rule is None:
        raise GradientError(_REFUSED.get(name, f"{name} has no gradient here"))
    if not isinstance(cotangents, tuple):
        cotangents, results = (cotangents,), (results,)
    found = rule(*cotangents, *results, *arrays)
    found = found if isinstance(found, tuple) else (found,)
    return None, *(fitted(each, array) for each, array in zip(found, arrays))


call.defvjp(_of_routine, takes_none=True)


def _of_inverse(g: ndarray, y: ndarray, a: ndarray) -> ndarray:
    back = matrix_transpose(y)
    return u("negative", _product(back, g, back))


def _of_solution(g: ndarray, x: ndarray, a: ndarray, b: ndarray) -> tuple[ndarray, ndarray]:
    back = call("solve", matrix_transpose(a), g)
    return u("negative", _product(back, matrix_transpose(x))), back


def _of_det(g: ndarray, y: ndarray, a: ndarray) -> ndarray:
    try:
        inverse = call("inv", a)
    except LinAlgError:
        return u("multiply", g[..., None, None], _cofactors(a))
    if _is_lost(a, inverse):
        return u("multiply", g[..., None, None], _cofactors(a))
    return u("multiply", u("multiply", g, y)[..., None, None], matrix_transpose(inverse))


def _is_lost(a: ndarray, inverse: ndarray) -> bool:
    """Whether a matrix is so near a singular one that few digits of its inverse are right. Where nobody can look none is."""
    if not a.size:
        return False
    try:
        sizes = [unseen(lambda x: u("absolute", x).sum(-1).max(-1), each) for each in (a, inverse)]
        most = 0.01 / float(np.finfo(np.float64 if a.device.kind == "cpu" else a.dtype).eps)
        return not unseen(lambda x: bool(u("less", x, most).all()), u("multiply", *sizes))
    except CaptureError:
        return False


def _cofactors(a: ndarray) -> ndarray:
    """The derivatives of determinants, of singular matrices too: the product of the cofactors of the singular value decomposition."""
    left, values, right = call("svd_full", a)
    n = a.shape[-1]
    wide = select(_unit(n, a), values.dtype.type(1), values[..., None, :])
    others = wide[..., 0]
    for at in range(1, n):
        others = u("multiply", others, wide[..., at])
    factor = u("multiply", call("det", left), call("det", right))[..., None]
    rows = u("multiply", factor, others)
    return _product(u("multiply", _conjugate(left), rows[..., None, :]), _conjugate(right))


def _of_slogdet(g_sign: Given, g_log: Given, sign: ndarray, log: ndarray, a: ndarray) -> ndarray:
    g_log = _full(log.shape, 0, log.dtype, log.device) if g_log is None else g_log
    factor = g_log
    if a.dtype.kind == "c" and g_sign is not None:
        # The sign turns as the imaginary part of the logarithm grows.
        turns = _part(u("multiply", g_sign, sign), "imag")
        factor = u("add", g_log, u("multiply", turns, a.dtype.type(1j)))
    return u("multiply", factor[..., None, None], matrix_transpose(call("inv", a)))


def _of_cholesky(g: ndarray, lower: ndarray, a: ndarray) -> ndarray:
    g = tril(_conjugate(g))
    inverse = call("inv", lower)
    middle = _half_below(_product(turned(lower), g))
    return _conjugate(_hermitian(_product(turned(inverse), middle, inverse)))


def _of_upper(g: ndarray, upper: ndarray, a: ndarray) -> ndarray:
    # U is L turned and conjugated; so is its paired cotangent, which is the conjugate of this one.
    return _of_cholesky(matrix_transpose(_conjugate(g)), turned(upper), a)


def _gaps(values: ndarray) -> ndarray:
    """One over the differences of eigenvalues, the column's less the row's: infinite of equal ones, 0 on the diagonal."""
    apart = u("subtract", values[..., None, :], values[..., :, None])
    on = _unit(values.shape[-1], values)
    return select(on, values.dtype.type(0), u("divide", 1, select(on, values.dtype.type(1), apart)))


def _of_eigh(triangle: str) -> Callable[..., ndarray]:
    def rule(g_values: Given, g_vectors: Given, values: ndarray, vectors: ndarray, a: ndarray) -> ndarray:
        inner = None
        if g_vectors is not None:
            inner = u("multiply", _product(turned(vectors), _conjugate(g_vectors)), _gaps(values))
        if g_values is not None:
            inner = _on_diagonal(g_values, _zeros_beside(g_values, vectors) if inner is None else inner)
        return _conjugate(_hermitian(_product(vectors, inner, turned(vectors))))

    return rule


def _zeros_beside(row: ndarray, like: ndarray) -> ndarray:
    return _full((*row.shape, row.shape[-1]), 0, like.dtype, like.device)


def _of_eigvalsh(triangle: str) -> Callable[..., ndarray]:
    def rule(g: ndarray, values: ndarray, a: ndarray) -> ndarray:
        vectors = call(f"eigh_{triangle}", a)[1]
        return _conjugate(_product(u("multiply", vectors, g[..., None, :]), turned(vectors)))

    return rule


def _of_eig(g_values: Given, g_vectors: Given, values: ndarray, vectors: ndarray, a: ndarray) -> ndarray:
    inner = _zeros_beside(values, vectors)
    if g_vectors is not None:
        # Of the vectors' own directions only the phase may change, not the length.
        along = _product(turned(vectors), _conjugate(g_vectors))
        lengths = _real(diagonal(along, 0, -2, -1))
        along = u("subtract", along, u("multiply", _product(turned(vectors), vectors), lengths[..., None, :]))
        inner = u("multiply", along, _conjugate(_gaps(values)))
    if g_values is not None:
        inner = _on_diagonal(_conjugate(g_values), inner)
    back = turned(vectors)
    return _conjugate(call("solve", back, _product(inner, back)))


def _of_eigvals(g: ndarray, values: ndarray, a: ndarray) -> ndarray:
    vectors = call("eig", a)[1]
    back = turned(vectors)
    return _conjugate(call("solve", back, u("multiply", _conjugate(g)[..., :, None], back)))


def _of_qr(g_q: Given, g_r: Given, q: ndarray, r: ndarray, a: ndarray) -> ndarray:
    if a.shape[-2] < a.shape[-1]:
        return _of_wide_qr(g_q, g_r, q, r, a)
    middle = None
    if g_r is not None:
        middle = _product(_conjugate(g_r), turned(r))
    if g_q is not None:
        inner = _product(turned(q), _conjugate(g_q))
        middle = u("negative", inner) if middle is None else u("subtract", middle, inner)
    upper = triu(middle)
    both = u("add", upper, turned(upper))
    on = _unit(both.shape[-1], both)
    back = _product(q, select(on, u("multiply", both, 0.5), both))
    back = back if g_q is None else u("add", back, _conjugate(g_q))
    return _conjugate(turned(call("solve", r, turned(back))))


def _of_wide_qr(g_q: Given, g_r: Given, q: ndarray, r: ndarray, a: ndarray) -> ndarray:
    """Of a wide matrix the square one in front is decomposed, and the rest is multiplied."""
    m = a.shape[-2]

    def formula(a: ndarray) -> tuple[ndarray, ndarray]:
        q, r = call("qr_reduced", a[..., :m])
        return q, concatenate((r, _product(turned(q), a[..., m:])), -1)

    zeros = [_full(each.shape, 0, each.dtype, each.device) if g is None else g for g, each in ((g_q, q), (g_r, r))]
    return through(formula)(tuple(zeros), (q, r), a)[0]


def _of_complete_qr(g_q: Given, g_r: Given, q: ndarray, r: ndarray, a: ndarray) -> ndarray:
    m, n = a.shape[-2:]
    if m <= n:
        return _of_qr(g_q, g_r, q, r, a)
    if g_q is not None:
        raise GradientError(_REFUSED["qr_complete"])
    return _of_qr(None, g_r[..., :n, :], q[..., :n], r[..., :n, :], a)


def _of_triangle(g: ndarray, r: ndarray, a: ndarray) -> ndarray:
    q, r = call("qr_reduced", a)
    return _of_qr(None, g, q, r, a)


def _skew(x: ndarray) -> ndarray:
    return u("subtract", x, turned(x))


def _inverse_or_zero(x: ndarray) -> ndarray:
    """One over a number, and 0 of 0."""
    none = u("equal", x, 0)
    return select(none, x.dtype.type(0), u("divide", 1, select(none, x.dtype.type(1), x)))


def _of_svd(g_u: Given, g_s: Given, g_v: Given, left: ndarray, values: ndarray, right: ndarray, a: ndarray) -> ndarray:
    """Of equal singular values vectors are taken not to turn among themselves, as in JAX."""
    k = values.shape[-1]
    inner = _zeros_beside(values, left)
    row, column = values[..., None, :], values[..., :, None]
    gaps = _inverse_or_zero(u("multiply", u("add", row, column), u("subtract", row, column)))
    inverse = _inverse_or_zero(values)
    g_u = None if g_u is None else _conjugate(g_u)
    g_v = None if g_v is None else _conjugate(g_v)
    if g_u is not None:
        turns = _skew(_product(turned(left), g_u))
        inner = u("add", inner, u("multiply", u("multiply", turns, gaps), row))
        if a.dtype.kind == "c":
            # Both vectors of a pair turn by one phase, which the left one is given.
            phases = u("multiply", diagonal(turns, 0, -2, -1), u("multiply", inverse, 0.5))
            inner = u("add", inner, _on_diagonal(phases, _zeros_beside(values, left)))
    if g_v is not None:
        turns = _skew(_product(right, turned(g_v)))
        inner = u("add", inner, u("multiply", column, u("multiply", turns, gaps)))
    if g_s is not None:
        inner = u("add", inner, _on_diagonal(g_s, _zeros_beside(values, left)))
    back = _product(left, inner)
    if g_u is not None and a.shape[-2] > k:
        off = u("subtract", g_u, _product(left, _product(turned(left), g_u)))
        back = u("add", back, u("multiply", off, inverse[..., None, :]))
    back = _product(back, right)
    if g_v is not None and a.shape[-1] > k:
        off = u("subtract", g_v, _product(_product(g_v, turned(right)), right))
        back = u("add", back, _product(left, u("multiply", off, inverse[..., :, None])))
    return _conjugate(back)


def _of_full_svd(g_u: Given, g_s: Given, g_v: Given, left: ndarray, values: ndarray, right: ndarray, a: ndarray) -> ndarray:
    m, n = a.shape[-2:]
    k = min(m, n)
    if g_u is None and g_v is None:
        return _of_values(g_s, values, a)
    if (g_u is not None and m > k) or (g_v is not None and n > k):
        raise GradientError(_REFUSED["svd_full"])
    return _of_svd(g_u, g_s, g_v, left[..., :k], values, right[..., :k, :], a)


def _of_values(g: ndarray, values: ndarray, a: ndarray) -> ndarray:
    left, _, right = call("svd_reduced", a)
    return _conjugate(_product(u("multiply", left, g[..., None, :]), right))


_REFUSED = {
    "svd_full": "svd with full_matrices=True has no gradient of the vectors that belong to no singular value: use full_matrices=False",
    "qr_complete": "qr with mode='complete' has no gradient of the columns of Q beside those of the matrix: use mode='reduced'",
    "qr_raw": "qr with mode='raw' has no gradient: use mode='reduced'",
}

_RULES: dict[str, Callable[..., Any]] = {
    "inv": _of_inverse,
    "solve": _of_solution,
    "det": _of_det,
    "slogdet": _of_slogdet,
    "cholesky_lower": _of_cholesky,
    "cholesky_upper": _of_upper,
    "eigh_lower": _of_eigh("lower"),
    "eigh_upper": _of_eigh("upper"),
    "eigvalsh_lower": _of_eigvalsh("lower"),
    "eigvalsh_upper": _of_eigvalsh("upper"),
    "eig": _of_eig,
    "eigvals": _of_eigvals,
    "qr_reduced": _of_qr,
    "qr_complete": _of_complete_qr,
    "qr_triangle": _of_triangle,
    "svd_reduced": _of_svd,
    "svd_full": _of_full_svd,
    "svd_values": _of_values,
}


@call.defbatched
def _(made: Call, operands: list[Given], count: int) -> list[ndarray]:
    """The new axis is one more axis in front of the matrices."""
    rank = max(array.ndim for array in made.arrays)
    given = []
    for operand, array in zip(operands, made.arrays):
        given.append(array if operand is None else _reshape(operand, (count, *[1] * (rank - array.ndim), *array.shape)))
    found = call(made.args[0], *given)
    return list(found) if isinstance(found, tuple) else [found]


@inverse_or_nan.defvjp
def _(g: ndarray, y: ndarray, a: ndarray) -> tuple[ndarray]:
    return (_of_inverse(g, y, a),)


@pseudo_inverses.defvjp
def _(g: ndarray, y: ndarray, a: ndarray, rcond: Any, hermitian: bool) -> tuple[Any, ...]:
    g = turned(_conjugate(g))
    back = turned(y)
    along = _product(y, g)
    terms = [
        u("negative", turned(_product(along, y))),
        _product(u("subtract", g, _product(a, along)), y, back),
        _product(back, u("subtract", along, _product(along, y, a))),
    ]
    return _conjugate(u("add", u("add", terms[0], terms[1]), terms[2])), None, None


@pseudo_inverses.defbatched
def _(made: Call, operands: list[Given], count: int) -> list[ndarray]:
    """There are more matrices in the stack."""
    return [pseudo_inverses(operands[0], *made.args[1:])]


def _least_squares(a: ndarray, sides: ndarray, rcond: float) -> tuple[ndarray, ndarray, ndarray]:
    if 0 in a.shape:
        x = _full((a.shape[1], sides.shape[1]), 0, a.dtype, a.device)
        values = _full((0,), 0, real_dtype(a.dtype), a.device)
        return x, _full((), 0, np.dtype(np.int32), a.device), values
    rank = unseen(least_squares, a, sides, rcond)[1]
    return _product(pseudo_inverses(a, rcond, False), sides), rank, call("svd_values", a)


least_squares.defvjp(through(_least_squares))

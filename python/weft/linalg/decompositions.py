"""Decompositions of matrices: of each matrix in the last two axes."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

from weft._weft import _cast, ndarray
from weft.arrays._common import real_dtype, u
from weft.arrays.gathering import take_along_axis
from weft.arrays.shapes import matrix_transpose
from weft.arrays.sorting import argsort

from ._routines import call, matrices, square, triangle, turned


class EigResult(NamedTuple):
    """Eigenvalues, and eigenvectors as columns."""

    eigenvalues: ndarray
    eigenvectors: ndarray


class EighResult(NamedTuple):
    """Eigenvalues in rising order, and eigenvectors as columns."""

    eigenvalues: ndarray
    eigenvectors: ndarray


class QRResult(NamedTuple):
    """Orthonormal columns, and an upper triangle."""

    Q: ndarray
    R: ndarray


class SVDResult(NamedTuple):
    """Left vectors as columns, values in falling order, right vectors as rows."""

    U: ndarray
    S: ndarray
    Vh: ndarray


def cholesky(a: Any, /, *, upper: bool = False) -> ndarray:
    """The lower triangle L of a Hermitian, positive definite matrix a = L Lᴴ, or the upper one U with a = Uᴴ U. Of `a` the same triangle
    is read, and no check is made of the other.

    `a` is (..., n, n); so is the result. LinAlgError if a matrix is not positive definite or not square.

    >>> weft.linalg.cholesky(weft.asarray([[4.0, 2.0], [2.0, 5.0]]))
    array([[2., 0.],
           [1., 2.]])
    """
    (a,) = square(a)
    return call("cholesky_upper" if upper else "cholesky_lower", a)


def qr(a: Any, mode: str = "reduced") -> Any:
    """Orthonormal columns Q and an upper triangle R with a = Q R, by Householder's reflections.

    `a` is (..., m, n); with k the smaller of the two, `mode` is "reduced" (Q (..., m, k), R (..., k, n)), "complete" (Q (..., m, m),
    R (..., m, n)), "r" (R alone) or "raw" (the reflections as LAPACK's geqrf leaves them, turned: (..., n, m), and their scales (..., k)).

    >>> q, r = weft.linalg.qr(weft.asarray([[3.0, 1.0], [4.0, 2.0]]))
    >>> weft.round(weft.abs(r), 12)
    array([[5. , 2.2],
           [0. , 0.4]])
    """
    if mode in ("f", "full"):
        words = "The 'full' option is deprecated in favor of 'reduced'.\nFor backward compatibility let mode default."
        warnings.warn(words, DeprecationWarning, stacklevel=2)
        mode = "reduced"
    elif mode in ("e", "economic"):
        warnings.warn("The 'economic' option is deprecated.", DeprecationWarning, stacklevel=2)
        mode = "economic"
    elif mode not in ("reduced", "complete", "r", "raw"):
        raise ValueError(f"Unrecognized mode '{mode}'")
    (a,) = matrices(a)
    if mode == "r":
        return call("qr_triangle", a)
    if mode == "raw":
        return call("qr_raw", a)
    if mode == "economic":
        return matrix_transpose(call("qr_raw", a)[0])
    return QRResult(*call(f"qr_{mode}", a))


def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """Singular values in falling order, with orthonormal left vectors as columns and right ones as rows: a = U · diag(S) · Vh.

    `a` is (..., m, n); with k the smaller of the two, U is (..., m, m), S (..., k), Vh (..., n, n), or (..., m, k) and (..., k, n) without
    `full_matrices`. Without `compute_uv` the values alone. `hermitian` says that the matrices are, which is faster. LinAlgError if a
    matrix has infinities or NaN.

    >>> weft.linalg.svd(weft.asarray([[3.0, 0.0], [0.0, -4.0]]), compute_uv=False)
    array([4., 3.])
    """
    if hermitian:
        return _hermitian_svd(*square(a), compute_uv)
    (a,) = matrices(a)
    if not compute_uv:
        return call("svd_values", a)
    return SVDResult(*call("svd_full" if full_matrices else "svd_reduced", a))


def _hermitian_svd(a: ndarray, compute_uv: bool) -> Any:
    """From eigenvalues, whose sizes are the singular values and whose signs go to the right vectors."""
    if not compute_uv:
        sizes = u("absolute", eigvalsh(a))
        return -_sorted(u("negative", sizes))
    values, vectors = eigh(a)
    sizes = u("absolute", values)
    order = argsort(u("negative", sizes), axis=-1)
    values, sizes = take_along_axis(values, order, -1), take_along_axis(sizes, order, -1)
    vectors = take_along_axis(vectors, order[..., None, :], -1)
    signs = u("copysign", 1.0, values)
    signed = u("multiply", vectors, _cast(signs, real_dtype(vectors.dtype))[..., None, :])
    return SVDResult(vectors, sizes, turned(signed))


def _sorted(a: ndarray) -> ndarray:
    return take_along_axis(a, argsort(a, axis=-1), -1)


def svdvals(x: Any, /) -> ndarray:
    """Singular values in falling order.

    >>> weft.linalg.svdvals(weft.asarray([[3.0, 0.0], [0.0, -4.0]]))
    array([4., 3.])
    """
    return svd(x, compute_uv=False)


def eigh(a: Any, UPLO: str = "L") -> EighResult:
    """Eigenvalues in rising order, and orthonormal eigenvectors as columns, of a Hermitian matrix, of which one triangle is read.

    `a` is (..., n, n), the values (..., n), real, the vectors (..., n, n).

    >>> weft.linalg.eigh(weft.asarray([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
    array([1., 2.])
    """
    which = triangle(UPLO)
    return EighResult(*call(f"eigh_{which}", *square(a)))


def eigvalsh(a: Any, UPLO: str = "L") -> ndarray:
    """Eigenvalues in rising order of a Hermitian matrix, of which one triangle is read.

    >>> weft.linalg.eigvalsh(weft.asarray([[2.0, 0.0], [0.0, 1.0]]))
    array([1., 2.])
    """
    which = triangle(UPLO)
    return call(f"eigvalsh_{which}", *square(a))


def eig(a: Any) -> EigResult:
    """Eigenvalues, in no order, and eigenvectors of length 1 as columns, of any square matrix (..., n, n).

    Both are complex, as the Array API standard has it: the dtype does not depend on the values, as NumPy's did before its version 2.5.
    LinAlgError if a matrix has infinities or NaN, or so many equal eigenvalues with so few vectors that these cannot be told.

    >>> weft.linalg.eig(weft.asarray([[0.0, -1.0], [1.0, 0.0]])).eigenvalues.dtype
    dtype('complex128')
    """
    return EigResult(*call("eig", *square(a)))


def eigvals(a: Any) -> ndarray:
    """Eigenvalues, in no order, of any square matrix (..., n, n), complex.

    >>> weft.linalg.eigvals(weft.asarray([[1.0, 2.0], [0.0, 1.0]]))
    array([1.+0.j, 1.+0.j])
    """
    return call("eigvals", *square(a))

"""Linear algebra: NumPy's `numpy.linalg` for matrices, by the routines that arrays use, too.

Everything is computed in double precision, as in NumPy, and rounded to the matrices' own type.
"""

import numpy as np

from weft.language import Static, float_type, refuse, routine

_SINGULAR = 1
_NOT_POSITIVE = 2
_NO_MEMORY = 4
_ABSENT = 5


def _check(outcome):
    """What a routine could not do."""
    if outcome == _SINGULAR:
        raise LinAlgError("Singular matrix")
    if outcome == _NOT_POSITIVE:
        raise LinAlgError("Matrix is not positive definite")
    if outcome == _NO_MEMORY:
        raise MemoryError("there is no memory for what linear algebra computes on the way")
    if outcome == _ABSENT:
        raise ValueError("there is no linear algebra here: with debug=True functions run without it")
    if outcome != 0:
        raise LinAlgError("the iteration did not converge, or there are infinities or NaN in the matrix")


def _wide(a):
    """A matrix in double precision."""
    a = np.asarray(a)
    if a.ndim != 2:
        refuse(f"numpy.linalg takes matrices here, not arrays of {a.ndim} axes")
    if a.dtype.kind == "c":
        return a.astype(np.complex128)
    if a.dtype == np.float16:
        refuse("array type float16 is unsupported in linalg")
    return a.astype(np.float64)


def _square(a):
    if a.shape[0] != a.shape[1]:
        raise LinAlgError("Last 2 dimensions of the array must be square")


def _epsilon(values):
    """The distance from 1 to the next number."""
    return 2.0**-52 if values.dtype == np.float64 else 2.0**-23


def _of_square(name: Static, a):
    """What a routine makes of a square matrix: another one."""
    matrix = _wide(a)
    _square(matrix)
    out = np.empty(matrix.shape, matrix.dtype)
    _check(routine(name, matrix, out))
    return out.astype(float_type(a.dtype))


def cholesky(a):
    """The lower triangle L of a Hermitian, positive definite matrix a = L Lᴴ; the upper triangle of `a` is not read.

    >>> np.linalg.cholesky(np.array([[4.0, 2.0], [2.0, 5.0]]))
    array([[2., 0.],
           [1., 2.]])
    """
    return _of_square("cholesky_lower", a)


def solve(a, b):
    """What times `a` is `b`, a vector or right-hand sides as columns; by elimination with partial pivoting.

    >>> np.linalg.solve(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([2.0, 2.0]))
    array([1. , 0.5])
    """
    matrix = _wide(a)
    _square(matrix)
    right = np.asarray(b)
    if right.ndim != 1 and right.ndim != 2:
        refuse(f"solve takes a vector or a matrix of right-hand sides here, not an array of {right.ndim} axes")
    if right.shape[0] != matrix.shape[0]:
        raise ValueError("solve: the lengths of the matrix and of the right-hand sides do not match")
    dtype = np.result_type(matrix.dtype, np.float64, right.dtype)
    columns = right.astype(dtype)
    if right.ndim == 1:
        columns = columns.reshape((len(right), 1))
    out = np.empty(columns.shape, dtype)
    _check(routine("solve", matrix.astype(dtype), columns, out))
    return out.reshape(right.shape).astype(np.result_type(float_type(a.dtype), float_type(b.dtype)))


def inv(a):
    """The inverse of a square matrix.

    >>> np.linalg.inv(np.array([[2.0, 0.0], [0.0, 4.0]]))
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    return _of_square("inv", a)


def det(a):
    """The determinant of a square matrix.

    >>> np.linalg.det(np.array([[2.0, 0.0], [0.0, 4.0]]))
    np.float64(8.0)
    """
    matrix = _wide(a)
    _square(matrix)
    out = np.empty((1,), matrix.dtype)
    _check(routine("det", matrix, out.reshape(())))
    return out.astype(float_type(a.dtype))[0]


def slogdet(a):
    """The sign of a determinant, 0 of a singular matrix, and the logarithm of its size.

    >>> np.linalg.slogdet(np.array([[0.0, 1.0], [1.0, 0.0]]))
    (np.float64(-1.0), np.float64(0.0))
    """
    matrix = _wide(a)
    _square(matrix)
    sign = np.empty((1,), matrix.dtype)
    logarithm = np.empty((1,), np.float64)
    _check(routine("slogdet", matrix, sign.reshape(()), logarithm.reshape(())))
    return sign.astype(float_type(a.dtype))[0], logarithm.astype(float_type(a.real.dtype))[0]


def qr(a, mode: Static = "reduced"):
    """Orthonormal columns Q and an upper triangle R with a = Q R: "reduced", "complete", or R alone, "r".

    >>> np.linalg.qr(np.array([[3.0, 0.0], [4.0, 1.0]]), "r").shape
    (2, 2)
    """
    matrix = _wide(a)
    m, n = matrix.shape
    k = min(m, n)
    if mode == "r":
        triangle = np.empty((k, n), matrix.dtype)
        _check(routine("qr_triangle", matrix, triangle))
        return triangle.astype(float_type(a.dtype))
    if mode == "reduced":
        columns = np.empty((m, k), matrix.dtype)
        triangle = np.empty((k, n), matrix.dtype)
        _check(routine("qr_reduced", matrix, columns, triangle))
        return columns.astype(float_type(a.dtype)), triangle.astype(float_type(a.dtype))
    if mode == "complete":
        columns = np.empty((m, m), matrix.dtype)
        triangle = np.empty((m, n), matrix.dtype)
        _check(routine("qr_complete", matrix, columns, triangle))
        return columns.astype(float_type(a.dtype)), triangle.astype(float_type(a.dtype))
    refuse("the mode of qr is 'reduced', 'complete' or 'r' here")


def svd(a, full_matrices: Static = True, compute_uv: Static = True):
    """Left vectors as columns, singular values in falling order, right vectors as rows; without `compute_uv` the values alone.

    >>> np.linalg.svd(np.array([[3.0, 0.0], [0.0, -4.0]]), compute_uv=False)
    array([4., 3.])
    """
    matrix = _wide(a)
    m, n = matrix.shape
    k = min(m, n)
    values = np.empty((k,), np.float64)
    if not compute_uv:
        _check(routine("svd_values", matrix, values))
        return values.astype(float_type(a.real.dtype))
    if full_matrices:
        left = np.empty((m, m), matrix.dtype)
        right = np.empty((n, n), matrix.dtype)
        _check(routine("svd_full", matrix, left, values, right))
        return left.astype(float_type(a.dtype)), values.astype(float_type(a.real.dtype)), right.astype(float_type(a.dtype))
    left = np.empty((m, k), matrix.dtype)
    right = np.empty((k, n), matrix.dtype)
    _check(routine("svd_reduced", matrix, left, values, right))
    return left.astype(float_type(a.dtype)), values.astype(float_type(a.real.dtype)), right.astype(float_type(a.dtype))


def svdvals(x, /):
    """Singular values in falling order.

    >>> np.linalg.svdvals(np.array([[3.0, 0.0], [0.0, -4.0]]))
    array([4., 3.])
    """
    return svd(x, compute_uv=False)


def eigh(a, UPLO: Static = "L"):
    """Eigenvalues in rising order and eigenvectors as columns of a Hermitian matrix, of which one triangle is read.

    >>> np.linalg.eigh(np.array([[2.0, 0.0], [0.0, 1.0]]))[0]
    array([1., 2.])
    """
    matrix = _wide(a)
    _square(matrix)
    values = np.empty((matrix.shape[0],), np.float64)
    vectors = np.empty(matrix.shape, matrix.dtype)
    if UPLO == "L" or UPLO == "l":
        _check(routine("eigh_lower", matrix, values, vectors))
    elif UPLO == "U" or UPLO == "u":
        _check(routine("eigh_upper", matrix, values, vectors))
    else:
        refuse("UPLO argument must be 'L' or 'U'")
    return values.astype(float_type(a.real.dtype)), vectors.astype(float_type(a.dtype))


def eigvalsh(a, UPLO: Static = "L"):
    """Eigenvalues in rising order of a Hermitian matrix, of which one triangle is read.

    >>> np.linalg.eigvalsh(np.array([[2.0, 0.0], [0.0, 1.0]]))
    array([1., 2.])
    """
    matrix = _wide(a)
    _square(matrix)
    values = np.empty((matrix.shape[0],), np.float64)
    if UPLO == "L" or UPLO == "l":
        _check(routine("eigvalsh_lower", matrix, values))
    elif UPLO == "U" or UPLO == "u":
        _check(routine("eigvalsh_upper", matrix, values))
    else:
        refuse("UPLO argument must be 'L' or 'U'")
    return values.astype(float_type(a.real.dtype))


def eig(a):
    """Eigenvalues, in no order, and eigenvectors of length 1 as columns, of any square matrix; both are complex.

    >>> np.linalg.eig(np.array([[1.0, 2.0], [0.0, 1.0]]))[0]
    array([1.+0.j, 1.+0.j])
    """
    matrix = _wide(a)
    _square(matrix)
    values = np.empty((matrix.shape[0],), np.complex128)
    vectors = np.empty(matrix.shape, np.complex128)
    _check(routine("eig", matrix, values, vectors))
    return values.astype(np.result_type(float_type(a.dtype), np.complex64)), vectors.astype(
        np.result_type(float_type(a.dtype), np.complex64)
    )


def eigvals(a):
    """Eigenvalues, in no order, of any square matrix, complex.

    >>> np.linalg.eigvals(np.array([[1.0, 2.0], [0.0, 1.0]]))
    array([1.+0.j, 1.+0.j])
    """
    matrix = _wide(a)
    _square(matrix)
    values = np.empty((matrix.shape[0],), np.complex128)
    _check(routine("eigvals", matrix, values))
    return values.astype(np.result_type(float_type(a.dtype), np.complex64))


def norm(x, ord: Static = None):
    """The norm of a vector or a matrix: of a vector inf, -inf, 0 (how many are not zero) or p, 2 if None; of a matrix "fro" (also None),
    "nuc", inf, -inf, 1, -1, 2, -2.

    >>> np.linalg.norm(np.array([3.0, 4.0]))
    np.float64(5.0)
    """
    x = np.asarray(x)
    values = x.astype(float_type(x.dtype))
    if ord is None:
        return np.sqrt(np.sum((np.abs(values) ** 2).ravel())).astype(float_type(x.real.dtype))
    if x.ndim == 1:
        return _of_vector(values, ord)
    if x.ndim == 2:
        return _of_matrix(values, ord)
    refuse("Improper number of dimensions to norm.")


def _of_vector(x, ord: Static):
    if ord == "fro" or ord == "nuc":
        refuse(f"Invalid norm order '{ord}' for vectors")
    if ord == np.inf:
        return np.max(np.abs(x), initial=0)
    if ord == -np.inf:
        return np.min(np.abs(x))
    if ord == 0:
        return np.sum((x != 0).astype(float_type(x.real.dtype)))
    if ord == 1:
        return np.sum(np.abs(x))
    if ord == 2:
        return np.sqrt(np.sum(np.abs(x) ** 2))
    return np.sum(np.abs(x) ** ord) ** (1 / ord)


def _of_matrix(x, ord: Static):
    if ord == "fro":
        return np.sqrt(np.sum(np.abs(x) ** 2))
    if ord == "nuc":
        return np.sum(svd(x, compute_uv=False))
    if ord == 2:
        return np.max(svd(x, compute_uv=False), initial=0)
    if ord == -2:
        return np.min(svd(x, compute_uv=False))
    if ord == 1:
        return np.max(np.sum(np.abs(x), axis=0), initial=0)
    if ord == -1:
        return np.min(np.sum(np.abs(x), axis=0))
    if ord == np.inf:
        return np.max(np.sum(np.abs(x), axis=1), initial=0)
    if ord == -np.inf:
        return np.min(np.sum(np.abs(x), axis=1))
    refuse("Invalid norm order for matrices.")


def cond(x, p: Static = None):
    """The condition number of a matrix: the largest singular value over the smallest, or the norm `p` of it times that of its inverse.

    >>> np.linalg.cond(np.array([[2.0, 0.0], [0.0, 4.0]]))
    np.float64(2.0)
    """
    x = np.asarray(x)
    if x.size == 0:
        raise LinAlgError("cond is not defined on empty arrays")
    if p is None or p == 2 or p == -2:
        values = svd(x, compute_uv=False)
        found = values[-1] / values[0] if p == -2 else values[0] / values[-1]
    else:
        found = norm(x, p) * norm(inv(x), p)
    # What is unknown of a matrix of numbers is infinite.
    return np.inf if np.isnan(found) and not np.any(np.isnan(x)) else found


def matrix_rank(A, tol=None):
    """How many singular values of a matrix are more than `tol`: the larger of its lengths times the epsilon of its dtype times the largest
    singular value, if nothing is said.

    >>> np.linalg.matrix_rank(np.ones((3, 3)))
    1
    """
    x = np.asarray(A)
    if x.ndim < 2:
        return 1 if np.any(x != 0) else 0
    values = svd(x, compute_uv=False)
    limit = np.max(values, initial=0) * max(x.shape) * _epsilon(values) if tol is None else tol
    return np.sum(values > limit)


def pinv(a, rcond=None):
    """The pseudo-inverse of a matrix by its singular values; those up to `rcond` times the largest count as zero.

    If nothing is said that is the larger side times the epsilon of float64, in which they are computed: NumPy's 1e-15 may be less than
    their rounding, and it divides by that.

    >>> np.linalg.pinv(np.array([[2.0], [0.0]]))
    array([[0.5, 0. ]])
    """
    left, values, right = svd(np.conj(np.asarray(a)), full_matrices=False)
    # The last number is the epsilon of float64.
    least = max(1e-15, max(left.shape[0], right.shape[1]) * 2.220446049250313e-16) if rcond is None else rcond
    limit = least * np.max(values, initial=0)
    scaled = np.empty(left.shape, left.dtype)
    for j in range(len(values)):
        factor = 1 / values[j] if values[j] > limit else values.dtype.type(0)
        scaled[:, j] = left[:, j] * factor
    return (right.T @ scaled.T).astype(float_type(a.dtype))


def lstsq(a, b, rcond=None):
    """The smallest x for which |b - a x| is smallest, the sums of squares of what is left for each right-hand side (empty unless the matrix has
    full rank and more rows than columns), the rank, and the singular values, of which those up to `rcond` times the largest count as zero.

    >>> np.linalg.lstsq(np.array([[1.0], [1.0]]), np.array([1.0, 3.0]))[0]
    array([2.])
    """
    matrix = np.asarray(a)
    right = np.asarray(b)
    if right.ndim != 1 and right.ndim != 2:
        refuse(f"lstsq takes a vector or a matrix of right-hand sides, not an array of {right.ndim} axes")
    m, n = matrix.shape
    if right.shape[0] != m:
        raise LinAlgError("Incompatible dimensions")
    result = np.result_type(float_type(a.dtype), float_type(b.dtype))
    dtype = np.result_type(float_type(a.dtype), float_type(b.dtype), np.float64)
    columns = right.astype(dtype)
    if right.ndim == 1:
        columns = columns.reshape((m, 1))
    left, values, rows = svd(matrix.astype(dtype), full_matrices=False)
    factor = max(m, n) * 2.0**-52
    if rcond is not None:
        factor = rcond if 0 < rcond < 1 else 2.0**-52
    limit = np.max(values, initial=0) * factor
    parts = np.conj(left.T) @ columns
    rank = 0
    for i in range(len(values)):
        if values[i] > limit:
            rank += 1
            parts[i] = parts[i] / values[i]
        else:
            parts[i] = 0
    x = np.conj(rows.T) @ parts
    rest = np.sum(np.abs(columns - matrix.astype(dtype) @ x) ** 2, axis=0)
    residuals = rest if m > n and rank == n else rest[:0]
    real = np.empty(0, result).real.dtype
    if right.ndim == 1:
        return x.reshape((n,)).astype(result), residuals.astype(real), rank, values.astype(real)
    return x.astype(result), residuals.astype(real), rank, values.astype(real)


def matrix_power(a, n):
    """A square matrix to a whole power, by repeated squaring; its inverse to the opposite one if it is negative.

    >>> np.linalg.matrix_power(np.array([[0.0, 1.0], [-1.0, 0.0]]), 3)
    array([[ 0., -1.],
           [ 1.,  0.]])
    """
    base = np.asarray(a)
    if base.ndim != 2:
        refuse("matrix_power takes a matrix here")
    _square(base)
    if n == 0:
        return np.eye(base.shape[0], dtype=base.dtype)
    power = n
    if n < 0:
        if base.dtype.kind not in "fc":
            raise ValueError("negative powers are those of matrices of floats: convert it before")
        base = inv(base)
        power = -n
    while power % 2 == 0:
        base = base @ base
        power //= 2
    found = base
    power //= 2
    while power > 0:
        base = base @ base
        if power % 2 == 1:
            found = found @ base
        power //= 2
    return found

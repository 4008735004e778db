"""Matrices made from vectors, their diagonals and triangles, and grids of coordinates."""

import numpy as np

from weft.language import Static, axis_of, is_contiguous, refuse, stretched, sum_type, unrolled

from .joining import _check_cast
from .shapes import _flat, moveaxis

# Rows of blocks shorter than this are written one after the other.
_NARROW = 64


def outer(a, b, out=None):
    """The products of every element of one array with every element of another; both are taken as one row.

    >>> np.outer(np.array([1, 2]), np.array([3, 4]))
    array([[3, 4],
           [6, 8]])
    """
    column = _flat(np.asarray(a))
    row = _flat(np.asarray(b))
    if out is not None:
        _check_cast(np.result_type(column, row), out.dtype, "same_kind")
        out[...] = column[:, None] * row
        return out
    products = np.empty((len(column), len(row)), np.result_type(column, row))
    for i in range(len(column)):
        factor = column[i]
        for j in range(len(row)):
            products[i, j] = factor * row[j]
    return products


def inner(a, b, /):
    """The sums of products along the last axes of two arrays, every row of the one with every row of the other.

    >>> np.inner(np.array([1, 2]), np.array([3, 4]))
    np.int64(11)
    """
    a = np.asarray(a)
    b = np.asarray(b)
    if a.ndim == 0 or b.ndim == 0:
        return np.multiply(a, b)
    n = a.shape[-1]
    if b.shape[-1] != n:
        raise ValueError("shapes not aligned: the last axes differ in length")
    if b.ndim == 1:
        if a.ndim <= 2:
            return np.dot(a, b)
    elif a.ndim == 1 and b.ndim == 2:
        return np.dot(b, a)
    # The rows of the second are the columns of a product of matrices.
    columns = _as_matrix(b).T.copy()
    return np.dot(_as_matrix(a), columns).reshape(a.shape[:-1] + b.shape[:-1])


def _as_matrix(a):
    """All rows of an array, one below the other."""
    rows = 1
    for n in unrolled(a.shape[:-1]):
        rows = rows * n
    return a.ravel().reshape((rows, a.shape[-1]))


def vdot(a, b, /):
    """The product of two arrays as vectors, the first conjugated.

    >>> np.vdot(np.array([[1, 2]]), np.array([3, 4]))
    np.int64(11)
    """
    a = np.asarray(a).ravel()
    b = np.asarray(b).ravel()
    if len(a) != len(b):
        raise ValueError("cannot reshape array: vdot takes arrays of as many elements")
    return np.dot(np.conj(a) if a.dtype.kind == "c" else a, b)


def kron(a, b):
    """Every element of one array times the whole of another, as blocks of one array.

    >>> np.kron(np.array([1, 2]), np.array([1, 1]))
    array([1, 1, 2, 2])
    """
    a = np.asarray(a)
    b = np.asarray(b)
    if a.ndim == 0 or b.ndim == 0:
        return np.multiply(a, b)
    rank = max(a.ndim, b.ndim)
    before_a = rank - a.ndim
    before_b = rank - b.ndim
    shape = ()
    pairs = ()
    index_a = ()
    index_b = ()
    for i in unrolled(range(rank)):
        blocks = 1 if i < before_a else a.shape[i - before_a]
        length = 1 if i < before_b else b.shape[i - before_b]
        shape = shape + (blocks * length,)
        pairs = pairs + (blocks, length)
        index_a = index_a + (None if i < before_a else slice(None), None)
        index_b = index_b + (None, None if i < before_b else slice(None))
    out = np.empty(shape, np.result_type(a, b))
    if a.ndim == 2 and b.ndim == 2 and b.shape[1] < _NARROW:
        _kron_in_rows(a, b, out)
    else:
        out.reshape(pairs)[...] = a[index_a] * b[index_b]
    return out


def _kron_in_rows(a, b, out):
    """Blocks that are narrow, row by row of the result: each element of a row of the one times the whole row of the other."""
    width = b.shape[1]
    for i in range(a.shape[0]):
        factors = a[i]
        for k in range(b.shape[0]):
            row = b[k]
            result = out[i * b.shape[0] + k]
            at = 0
            for j in range(len(factors)):
                factor = factors[j]
                for l in range(width):
                    result[at + l] = factor * row[l]
                at += width


def cross(a, b, axisa: Static = -1, axisb: Static = -1, axisc: Static = -1, axis: Static = None):
    """The vectors at right angles to pairs of vectors, which have 3 elements; one of the two may have 2.

    >>> np.cross(np.array([1, 0, 0]), np.array([0, 1, 0]))
    array([0, 0, 1])
    """
    a = np.asarray(a)
    b = np.asarray(b)
    if a.ndim == 0 or b.ndim == 0:
        refuse("At least one array has zero dimension")
    if axis is not None:
        return cross(a, b, axis, axis, axis)
    if axis_of(axisa, a.ndim) != a.ndim - 1:
        a = moveaxis(a, axisa, -1)
    if axis_of(axisb, b.ndim) != b.ndim - 1:
        b = moveaxis(b, axisb, -1)
    m = a.shape[-1]
    n = b.shape[-1]
    if m < 2 or m > 3 or n < 2 or n > 3:
        raise ValueError("incompatible dimensions for cross product (dimension must be 2 or 3)")
    if m == 2 and n == 2:
        raise ValueError("the cross product of vectors of length 2 is a number: compute a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]")
    dtype = np.result_type(a, b)
    if dtype == np.bool_:
        refuse("numpy boolean subtract, the `-` operator, is not supported")
    rank = max(a.ndim, b.ndim)
    shape = ()
    for i in unrolled(range(rank - 1)):
        i_a = i - (rank - a.ndim)
        i_b = i - (rank - b.ndim)
        if i_a < 0:
            shape = shape + (b.shape[i_b],)
        elif i_b < 0:
            shape = shape + (a.shape[i_a],)
        else:
            shape = shape + (b.shape[i_b] if a.shape[i_a] == 1 else a.shape[i_a],)
    out = np.empty(shape + (3,), dtype)
    # These raise where the shapes do not fit.
    a = stretched(a, shape + (m,))
    b = stretched(b, shape + (n,))
    for at in np.ndindex(shape):
        u = a[at]
        v = b[at]
        result = out[at]
        if m == 2:
            result[0] = u[1] * v[2]
            result[1] = -(u[0] * v[2])
        elif n == 2:
            result[0] = -(u[2] * v[1])
            result[1] = u[2] * v[0]
        else:
            result[0] = u[1] * v[2] - u[2] * v[1]
            result[1] = u[2] * v[0] - u[0] * v[2]
        result[2] = u[0] * v[1] - u[1] * v[0]
    if axis_of(axisc, rank) == rank - 1:
        return out
    return moveaxis(out, -1, axisc)


def eye(N, M=None, k=0, dtype: Static = np.float64, order: Static = "C"):
    """Ones on a diagonal, zeros elsewhere.

    >>> np.eye(2, 3, 1)
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    if order != "C":
        refuse("eye makes arrays in order 'C' only in compiled functions")
    columns = N if M is None else M
    a = np.zeros((N, columns), dtype)
    for i in range(max(0, -k), min(N, columns - k)):
        a[i, i + k] = 1
    return a


def identity(n, dtype: Static = None):
    """Ones on the diagonal of a square matrix, zeros elsewhere.

    >>> np.identity(2)
    array([[1., 0.],
           [0., 1.]])
    """
    return eye(n, None, 0, np.float64 if dtype is None else dtype)


def tri(N, M=None, k=0, dtype: Static = np.float64):
    """Ones on a diagonal and below it, zeros elsewhere.

    >>> np.tri(2, 3)
    array([[1., 0., 0.],
           [1., 1., 0.]])
    """
    rows = max(N, 0)
    columns = rows if M is None else max(M, 0)
    a = np.empty((rows, columns), dtype)
    k = min(max(k, -rows), columns)
    for i in range(rows):
        edge = min(max(i + k + 1, 0), columns)
        for j in range(edge):
            a[i, j] = 1
        for j in range(edge, columns):
            a[i, j] = 0
    return a


def tril(m, k=0):
    """The array with zeros above a diagonal of its last two axes.

    >>> np.tril(np.array([[1, 2], [3, 4]]))
    array([[1, 0],
           [3, 4]])
    """
    m = np.asarray(m)
    if m.ndim == 0:
        refuse("tril takes arrays of one axis or more")
    if m.ndim == 1:
        return _triangle(_square(m), k, True)
    return _triangle(m, k, True)


def triu(m, k=0):
    """The array with zeros below a diagonal of its last two axes.

    >>> np.triu(np.array([[1, 2], [3, 4]]))
    array([[1, 2],
           [0, 4]])
    """
    m = np.asarray(m)
    if m.ndim == 0:
        refuse("triu takes arrays of one axis or more")
    if m.ndim == 1:
        return _triangle(_square(m), k, False)
    return _triangle(m, k, False)


def _square(row):
    """A matrix that has the row in every row."""
    a = np.empty((len(row), len(row)), row.dtype)
    a[...] = row
    return a


def _triangle(m, k, lower: Static):
    out = np.empty(m.shape, m.dtype)
    columns = m.shape[-1]
    k = _within(k, m)
    for at in np.ndindex(m.shape[:-1]):
        row = m[at]
        result = out[at]
        # The first column above the diagonal, or the first one on it.
        edge = min(max(at[-1] + k + (1 if lower else 0), 0), columns)
        if lower:
            for j in range(edge):
                result[j] = row[j]
            for j in range(edge, columns):
                result[j] = 0
        else:
            for j in range(edge):
                result[j] = 0
            for j in range(edge, columns):
                result[j] = row[j]
    return out


def tril_indices(n, k=0, m=None):
    """The positions on a diagonal of a matrix of n rows and below it: an array of rows and one of columns.

    >>> np.tril_indices(2)
    (array([0, 1, 1]), array([0, 0, 1]))
    """
    rows = max(n, 0)
    columns = rows if m is None else max(m, 0)
    count = 0
    for i in range(rows):
        count += min(max(i + k + 1, 0), columns)
    found = np.empty(count, np.int64)
    places = np.empty(count, np.int64)
    at = 0
    for i in range(rows):
        for j in range(min(max(i + k + 1, 0), columns)):
            found[at] = i
            places[at] = j
            at += 1
    return found, places


def triu_indices(n, k=0, m=None):
    """The positions on a diagonal of a matrix of n rows and above it: an array of rows and one of columns.

    >>> np.triu_indices(2)
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    rows = max(n, 0)
    columns = rows if m is None else max(m, 0)
    count = 0
    for i in range(rows):
        count += columns - min(max(i + k, 0), columns)
    found = np.empty(count, np.int64)
    places = np.empty(count, np.int64)
    at = 0
    for i in range(rows):
        for j in range(min(max(i + k, 0), columns), columns):
            found[at] = i
            places[at] = j
            at += 1
    return found, places


def diag(v, k=0):
    """A matrix with a row of numbers on a diagonal; or a diagonal of a matrix, a view that cannot be written.

    >>> np.diag(np.array([1, 2]))
    array([[1, 0],
           [0, 2]])
    """
    v = np.asarray(v)
    if v.ndim == 2:
        return diagonal(v, k)
    if v.ndim != 1:
        refuse("Input must be 1- or 2-d.")
    n = len(v) + abs(k)
    a = np.zeros((n, n), v.dtype)
    row = max(0, -k)
    column = max(0, k)
    for i in range(len(v)):
        a[row + i, column + i] = v[i]
    return a


def diagflat(v, k=0):
    """A matrix with all elements of an array on a diagonal.

    >>> np.diagflat(np.array([[1], [2]]))
    array([[1, 0],
           [0, 2]])
    """
    return diag(_flat(np.asarray(v)), k)


def diagonal(a, offset=0, axis1: Static = 0, axis2: Static = 1):
    """A diagonal of two axes, as the last axis: a view that cannot be written.

    >>> np.diagonal(np.array([[1, 2], [3, 4]]))
    array([1, 4])
    """
    planes = _planes(a, axis1, axis2)
    offset = _within(offset, planes)
    if not is_contiguous(planes):
        if planes.ndim == 2 and is_contiguous(planes.T):
            return diagonal(planes.T, -offset)
        refuse(
            "only a diagonal of the last two axes of a contiguous array is a view here: np.diagonal(np.moveaxis(a, axes, (-2, -1)).copy())"
        )
    row = max(0, -offset)
    column = max(0, offset)
    rows = planes.shape[-2]
    columns = planes.shape[-1]
    n = max(0, min(rows - row, columns - column))
    start = row * columns + column
    view = planes.reshape(planes.shape[:-2] + (rows * columns,))[..., start : start + n * (columns + 1) : columns + 1]
    return stretched(view, view.shape)


def trace(a, offset=0, axis1: Static = 0, axis2: Static = 1, dtype: Static = None, out=None):
    """The sum along a diagonal of two axes.

    >>> np.trace(np.array([[1, 2], [3, 4]]))
    np.int64(5)
    """
    planes = _planes(a, axis1, axis2)
    if dtype is None:
        return trace(planes, offset, -2, -1, sum_type(planes.dtype), out)
    # Of int, float and bool, NumPy's types.
    dtype = np.result_type(dtype)
    if planes.ndim == 2:
        if out is not None:
            refuse("trace of a matrix is a number in compiled functions: there is no array to put it into")
        return _trace(planes, offset, dtype)
    if out is None:
        sums = np.empty(planes.shape[:-2], dtype)
    else:
        if out.ndim != planes.ndim - 2 or out.dtype != dtype:
            refuse("the array for the traces has another type or number of axes")
        if out.shape != planes.shape[:-2]:
            raise ValueError("output array has the wrong shape")
        sums = out
    for at in np.ndindex(planes.shape[:-2]):
        sums[at] = _trace(planes[at], offset, dtype)
    return sums


def _trace(plane, offset, dtype: Static):
    offset = _within(offset, plane)
    row = max(0, -offset)
    column = max(0, offset)
    total = dtype.type(0)
    for i in range(min(plane.shape[0] - row, plane.shape[1] - column)):
        total += dtype.type(plane[row + i, column + i])
    return total


def _within(offset, planes):
    """A diagonal's number, or that of one as empty which is not far outside."""
    return min(max(offset, -planes.shape[-2]), planes.shape[-1])


def _planes(a, axis1: Static, axis2: Static):
    """The array with two of its axes behind the others."""
    a = np.asarray(a)
    if a.ndim < 2:
        refuse("a diagonal takes arrays of two axes or more")
    axis1 = axis_of(axis1, a.ndim)
    axis2 = axis_of(axis2, a.ndim)
    if axis1 == axis2:
        refuse("axis1 and axis2 cannot be the same")
    order = ()
    for axis in unrolled(range(a.ndim)):
        if axis != axis1 and axis != axis2:
            order = order + (axis,)
    return np.transpose(a, order + (axis1, axis2))


def vander(x, N=None, increasing: Static = False):
    """The powers of the numbers of a row, each in a column; from the highest to 1, or from 1 upwards.

    >>> np.vander(np.array([2, 3]), 3)
    array([[4, 2, 1],
           [9, 3, 1]])
    """
    x = np.asarray(x)
    if x.ndim != 1:
        refuse("x must be a one-dimensional array or sequence.")
    columns = len(x) if N is None else N
    a = np.empty((len(x), columns), np.result_type(x, np.int64))
    for i in range(len(x)):
        if columns > 0:
            a[i, 0 if increasing else columns - 1] = 1
        # The first power is the number itself: 1 times an infinite complex number is another.
        base = a.dtype.type(x[i])
        power = base
        for j in range(1, columns):
            a[i, j if increasing else columns - 1 - j] = power
            power *= base
    return a


def indices(dimensions, dtype: Static = np.int64, sparse: Static = False):
    """The indices of all points of a grid, one array for each axis: stacked, or a tuple of arrays that broadcast if `sparse`.

    >>> np.indices((1, 2))
    array([[[0, 0]],
           [[0, 1]]])
    """
    if not isinstance(dimensions, (tuple, list)):
        refuse("indices takes a tuple of lengths")
    lengths = tuple(dimensions)
    rank = len(lengths)
    if sparse:
        rows = ()
        for axis in unrolled(range(rank)):
            row = np.empty(max(lengths[axis], 0), dtype)
            for i in range(len(row)):
                row[i] = i
            rows = rows + (row.reshape((1,) * axis + (len(row),) + (1,) * (rank - axis - 1)),)
        return rows
    grid = np.empty((rank,) + lengths, dtype)
    for axis in unrolled(range(rank)):
        plane = grid[axis]
        for at in np.ndindex(plane.shape):
            plane[at] = at[axis]
    return grid


def meshgrid(*xi, copy: Static = True, sparse: Static = False, indexing: Static = "xy"):
    """The coordinates of all points of a grid, from those along each axis: a tuple of arrays, which broadcast if `sparse`; views, unless `copy`.

    >>> np.meshgrid(np.array([1, 2]), np.array([3, 4]))
    (array([[1, 2],
           [1, 2]]), array([[3, 3],
           [4, 4]]))
    """
    if indexing != "xy" and indexing != "ij":
        refuse("Valid values for `indexing` are 'xy' and 'ij'.")
    rank = len(xi)
    shape = ()
    for i in unrolled(range(rank)):
        axis = 1 - i if indexing == "xy" and rank > 1 and i < 2 else i
        shape = shape + (np.asarray(xi[axis]).size,)
    grids = ()
    for i in unrolled(range(rank)):
        axis = 1 - i if indexing == "xy" and rank > 1 and i < 2 else i
        x = _flat(np.asarray(xi[i]))
        grid = x[(None,) * axis + (slice(None),) + (None,) * (rank - axis - 1)]
        if not sparse:
            grid = stretched(grid, shape)
        grids = grids + (grid.copy() if copy else grid,)
    return grids

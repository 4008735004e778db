"""Ranges and weighted averages, and how variables go together: covariances and correlations."""

import numpy as np

from weft.language import Static, axes_of, for_numba, refuse

from .axes import _into, _kept, _rows


def ptp(a, axis: Static = None, out=None, keepdims: Static = False):
    """The distance from the smallest to the largest element.

    >>> np.ptp(np.array([4, 9, 2, 10]))
    np.int64(8)
    """
    a = np.asarray(a)
    if for_numba():
        a = a.astype(np.int64) if a.dtype.kind == "i" else a.astype(np.result_type(a, np.float64))
    axes = axes_of(axis, a.ndim)
    rows = _rows(a, axes)
    if rows.ndim == 1:
        return _into(_kept(np.max(rows) - np.min(rows), axes, a.ndim, keepdims), out)
    return _into(_kept(np.asarray(np.max(rows, -1) - np.min(rows, -1)), axes, a.ndim, keepdims), out)


def average(a, axis: Static = None, weights=None, returned: Static = False, *, keepdims: Static = False):
    """The mean, each element counted as its weight says; with `returned=True` also the sum of the weights.

    >>> np.average(np.array([1.0, 2.0, 6.0]), weights=np.array([3, 1, 1]))
    np.float64(2.2)
    """
    a = np.asarray(a)
    axes = axes_of(axis, a.ndim)
    rows = _rows(a, axes)
    n = rows.shape[-1]
    if weights is None:
        if rows.ndim == 1:
            mean = np.mean(rows)
        else:
            mean = np.mean(rows, -1)
            if mean.size == 0:
                raise ZeroDivisionError("an average over rows of which there are none")
        found = _kept(mean, axes, a.ndim, keepdims)
        if returned:
            if np.ndim(found) == 0:
                return found, found.dtype.type(n)
            return found, np.full(found.shape, n, found.dtype)
        return found
    weights = np.asarray(weights)
    if a.dtype.kind in ("b", "i", "u"):
        dtype = np.result_type(a, weights, np.float64)
    else:
        dtype = np.result_type(a, weights)
    if weights.ndim == a.ndim:
        if weights.shape != a.shape:
            raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
        each = _rows(weights, axes)
    else:
        if axis is None:
            refuse("Axis must be specified when shapes of a and weights differ.")
        if weights.ndim != 1 or len(axes) != 1:
            refuse("the weights of average have the shape of the array or of one axis")
        if len(weights) != n:
            raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
        each = weights
    each = each.astype(dtype)
    if each.ndim == 1:
        total = np.sum(each)
        if total == 0:
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    else:
        total = np.sum(each, -1)
        if np.any(total == 0):
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    if rows.ndim == 1:
        mean = np.sum(rows.astype(dtype) * each) / total
    else:
        mean = np.asarray(np.sum(rows.astype(dtype) * each, -1) / total)
    found = _kept(mean, axes, a.ndim, keepdims)
    if returned:
        if np.ndim(found) == 0:
            return found, total
        sums = np.empty(np.shape(mean), dtype)
        sums[...] = total
        return found, _kept(sums, axes, a.ndim, keepdims)
    return found


def cov(m, y=None, rowvar: Static = True, bias: Static = False, ddof=None, fweights=None, aweights=None, *, dtype: Static = None):
    """How variables vary together: a matrix, each row of `m` and `y` being a variable, or each column with `rowvar=False`; a number for
    a single row.

    >>> np.cov(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 5.0]))
    array([[1., 2.],
           [2., 4.]])
    """
    m = np.asarray(m)
    if m.ndim > 2 or m.ndim == 0:
        refuse("cov takes arrays of one or two axes")
    if dtype is None:
        if y is None:
            kind = np.result_type(m, np.float64)
        else:
            kind = np.result_type(m, np.asarray(y), np.float64)
    else:
        kind = dtype
    if kind.kind != "f" and kind.kind != "c":
        refuse("a covariance is a float or a complex number")
    if m.ndim == 1:
        first = m[None].astype(kind)
    elif rowvar:
        first = m.astype(kind)
    else:
        first = m.T.astype(kind)
    if y is None:
        variables = np.asarray(first)
    else:
        y = np.asarray(y)
        if y.ndim > 2 or y.ndim == 0:
            refuse("cov takes arrays of one or two axes")
        if y.ndim == 1:
            second = np.asarray(y[None].astype(kind))
        elif rowvar:
            second = np.asarray(y.astype(kind))
        else:
            second = _columns_as_rows(y, kind)
        if first.shape[1] != second.shape[1]:
            raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
        both = np.empty((first.shape[0] + second.shape[0], first.shape[1]), kind)
        both[: first.shape[0]] = first
        both[first.shape[0] :] = second
        variables = both
    n = variables.shape[1]
    less = 0 if bias else 1
    if ddof is not None:
        if ddof != int(ddof):
            raise ValueError("ddof must be integer")
        less = int(ddof)
    if fweights is None and aweights is None:
        centred = _centred(variables)
        other = centred
        free = np.float64(n - less)
    else:
        counts = _sample_weights(fweights, n, True)
        parts = _sample_weights(aweights, n, False)
        both_weights = counts * parts
        total = np.sum(both_weights)
        if total == 0:
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        if less == 0:
            free = total
        elif aweights is None:
            free = total - less
        else:
            free = total - less * np.sum(both_weights * parts) / total
        centred = variables
        other = np.empty(variables.shape, kind)
        for i in range(len(variables)):
            row = centred[i]
            row -= np.sum(row * both_weights.astype(kind)) / kind.type(total)
            other[i] = row * both_weights.astype(kind)
    scale = np.divide(1, np.maximum(free, 0.0))
    if m.ndim == 1 and y is None:
        row = centred[0]
        whole = kind.type(0)
        for i in range(len(row)):
            whole += row[i] * np.conj(other[0, i])
        return whole * kind.type(scale)
    if y is None and len(centred) == 1:
        raise ValueError("cov of one variable in a 2-d array cannot be compiled: give it as a 1-d one")
    products = np.empty((len(centred), len(centred)), kind)
    for i in range(len(centred)):
        for j in range(i + 1):
            product = np.dot(centred[i], np.conj(other[j])) * kind.type(scale)
            products[i, j] = product
            products[j, i] = np.conj(product)
    return products


def _sample_weights(weights, n, whole: Static):
    """How often each sample counts, or how much: once where nothing is said."""
    if weights is None:
        return np.full(n, 1.0)
    given = np.asarray(weights)
    if given.ndim != 1:
        refuse("the weights of cov have one axis")
    if len(given) != n:
        raise ValueError("incompatible numbers of samples and weights")
    each = given.astype(np.float64)
    for x in each.flat:
        if whole and x != np.rint(x):
            raise ValueError("fweights must be integer")
        if x < 0:
            raise ValueError("weights cannot be negative")
    return np.asarray(each)


def _centred(rows):
    for i in range(len(rows)):
        row = rows[i]
        row -= np.mean(row)
    return rows


def _columns_as_rows(y, dtype: Static):
    """An array's columns; a single row is one already."""
    variables, n = y.shape[1], y.shape[0]
    if y.shape[0] == 1:
        variables, n = n, variables
    rows = np.empty((variables, n), dtype)
    for i in range(variables):
        for j in range(n):
            rows[i, j] = y[i, j] if y.shape[0] == 1 else y[j, i]
    return rows


def corrcoef(x, y=None, rowvar: Static = True, *, dtype: Static = None):
    """How variables go together, from -1 to 1: the covariances over both deviations.

    >>> np.corrcoef(np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.5]])).shape
    (2, 2)
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if np.ndim(c) == 0:
        return c / c
    n = len(c)
    deviations = np.empty(n, c.dtype.type(0).real.dtype)
    for i in range(n):
        deviations[i] = np.sqrt(c[i, i].real)
    for i in range(n):
        for j in range(n):
            z = c[i, j] / deviations[i] / deviations[j]
            if c.dtype.kind == "c":
                c[i, j] = complex(_clipped(z.real), _clipped(z.imag))
            else:
                c[i, j] = _clipped(z)
    return c


def _clipped(x):
    return np.maximum(np.minimum(x, x.dtype.type(1)), x.dtype.type(-1))

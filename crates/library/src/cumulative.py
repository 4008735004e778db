"""Sums and products of all elements up to each, and differences of neighbours."""

import numpy as np

from weft.language import Static, axis_of, refuse, sum_type, unrolled

from .shapes import moveaxis


def cumsum(a, axis: Static = None, dtype: Static = None, out=None):
    """The sums of all elements up to each, along an axis or along the array as one row.

    >>> np.cumsum(np.array([1, 2, 3]))
    array([1, 3, 6])
    """
    a = np.asarray(a)
    if axis is None:
        return cumsum(a.ravel(), 0, dtype, out)
    axis = axis_of(axis, a.ndim)
    if out is None:
        if dtype is None:
            sums = np.empty(a.shape, sum_type(a.dtype))
        else:
            sums = np.empty(a.shape, dtype)
    else:
        sums = out
    rows = moveaxis(a, axis, -1)
    results = moveaxis(sums, axis, -1)
    for at in np.ndindex(rows.shape[:-1]):
        row = rows[at]
        result = results[at]
        total = sums.dtype.type(0)
        for i in range(len(row)):
            total += sums.dtype.type(row[i])
            result[i] = total
    return sums


def cumprod(a, axis: Static = None, dtype: Static = None, out=None):
    """The products of all elements up to each, along an axis or along the array as one row.

    >>> np.cumprod(np.array([1, 2, 3]))
    array([1, 2, 6])
    """
    a = np.asarray(a)
    if axis is None:
        return cumprod(a.ravel(), 0, dtype, out)
    axis = axis_of(axis, a.ndim)
    if out is None:
        if dtype is None:
            products = np.empty(a.shape, sum_type(a.dtype))
        else:
            products = np.empty(a.shape, dtype)
    else:
        products = out
    rows = moveaxis(a, axis, -1)
    results = moveaxis(products, axis, -1)
    for at in np.ndindex(rows.shape[:-1]):
        row = rows[at]
        result = results[at]
        total = products.dtype.type(1)
        for i in range(len(row)):
            total *= products.dtype.type(row[i])
            result[i] = total
    return products


def diff(a, n: Static = 1, axis: Static = -1):
    """The differences of neighbours along an axis, taken `n` times.

    >>> np.diff(np.array([1, 2, 4, 7]))
    array([1, 2, 3])
    """
    a = np.asarray(a)
    if n < 0:
        refuse("the order of a difference cannot be negative")
    if n == 0:
        return a.copy()
    rows = moveaxis(a, axis_of(axis, a.ndim), 0)
    if a.dtype == np.bool_:
        differences = rows[1:] != rows[:-1]
    else:
        differences = rows[1:] - rows[:-1]
    return diff(moveaxis(differences, 0, axis), n - 1, axis)

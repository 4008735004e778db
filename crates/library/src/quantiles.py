"""Order statistics: medians, quantiles and percentiles by all of NumPy's methods, weighted or not."""

import numpy as np

from weft.language import Static, axes_of, float_type, for_numba, refuse

from .axes import _each_row, _into, _kept, _rows
from .digits import _from_key, _key
from .searching import _below
from .sorting import _MANY, _select, argsort, sort


def _neighbours(row, i):
    """The elements that are number i and i + 1 in sorted order, the second of them the same one at the end."""
    key, smaller, equal = _select(row, i)
    next_key = key
    if i + 1 >= smaller + equal and i + 1 < len(row):
        none = True
        for j in range(len(row)):
            other = _key(row[j])
            if other > key and (none or other < next_key):
                next_key = other
                none = False
    return _from_key(key, row.dtype), _from_key(next_key, row.dtype)


def _has_nan(row):
    if row.dtype.kind == "f" or row.dtype.kind == "c":
        return np.any(row != row)
    return False


def median(a, axis: Static = None, out=None, overwrite_input=False, keepdims: Static = False):
    """The element in the middle of the sorted ones, or the mean of the two that are.

    >>> np.median(np.array([3.0, 1.0, 2.0, 9.0]))
    np.float64(2.5)
    """
    a = np.asarray(a)
    if for_numba() and a.dtype.kind == "f":
        a = a.astype(np.float64)
    axes = axes_of(axis, a.ndim)
    rows = _rows(a, axes)
    if rows.ndim == 1:
        return _into(_kept(_median(rows), axes, a.ndim, keepdims), out)
    found = np.empty(rows.shape[:-1], float_type(a.dtype))
    _each_row(found, _median, rows)
    return _into(_kept(found, axes, a.ndim, keepdims), out)


def _median(row):
    dtype = float_type(row.dtype)
    n = len(row)
    if n == 0:
        return dtype.type(np.nan)
    if row.dtype.kind in ("b", "i", "u", "f") and n >= _MANY:
        if _has_nan(row):
            return dtype.type(np.nan)
        if n % 2 == 1:
            x, _ = _neighbours(row, n // 2)
            return _middle(x, x, dtype)
        x, y = _neighbours(row, n // 2 - 1)
        return _middle(x, y, dtype)
    ordered = sort(row)
    if ordered[n - 1] != ordered[n - 1]:
        return dtype.type(ordered[n - 1])
    if n % 2 == 1:
        return _middle(ordered[n // 2], ordered[n // 2], dtype)
    return _middle(ordered[n // 2 - 1], ordered[n // 2], dtype)


def _middle(x, y, dtype: Static):
    """The mean of two numbers, or the number that they both are."""
    if dtype.itemsize == 2:
        return dtype.type((np.float32(x) + np.float32(y)) / np.float32(2))
    if dtype.kind == "c":
        # A mean divides by a complex number, of which an infinite part makes the other NaN.
        return dtype.type(x) / dtype.type(1) if x == y else (dtype.type(x) + dtype.type(y)) / dtype.type(2)
    if x == y:
        return dtype.type(x)
    return (dtype.type(x) + dtype.type(y)) / dtype.type(2)


_DISCRETE = ("inverted_cdf", "closest_observation", "lower", "higher", "nearest")
_CONTINUOUS = (
    "linear",
    "averaged_inverted_cdf",
    "interpolated_inverted_cdf",
    "hazen",
    "weibull",
    "median_unbiased",
    "normal_unbiased",
    "midpoint",
)


def percentile(
    a, q, axis: Static = None, out=None, overwrite_input=False, method: Static = "linear", keepdims: Static = False, *, weights=None
):
    """What `q` percent of the elements are smaller than; between two elements what the method says.

    >>> np.percentile(np.array([10.0, 7.0, 4.0]), 25)
    np.float64(5.5)
    """
    if isinstance(q, (tuple, list, np.ndarray)):
        return quantile(a, np.asarray(np.asarray(q) / 100), axis, out, overwrite_input, method, keepdims, weights=weights)
    return quantile(a, q / 100, axis, out, overwrite_input, method, keepdims, weights=weights)


def quantile(
    a, q, axis: Static = None, out=None, overwrite_input=False, method: Static = "linear", keepdims: Static = False, *, weights=None
):
    """What a part `q` of the elements, 0.5 for half of them, are smaller than; between two elements what the method says.

    >>> np.quantile(np.array([10.0, 7.0, 4.0]), 0.25)
    np.float64(5.5)
    """
    a = np.asarray(a)
    if for_numba() and a.dtype.kind == "f":
        a = a.astype(np.float64)
    if a.dtype.kind == "c":
        refuse("a must be an array of real numbers")
    if method not in _DISCRETE and method not in _CONTINUOUS:
        refuse(f"there is no method '{method}' of quantiles")
    if weights is not None and method != "inverted_cdf":
        refuse("only the method 'inverted_cdf' takes weights")
    axes = axes_of(axis, a.ndim)
    rows = _rows(a, axes)
    if isinstance(q, (tuple, list, np.ndarray)):
        q = np.asarray(q)
    if q.dtype.kind == "c" or q.dtype.kind == "b":
        refuse("quantiles are real numbers")
    if q.dtype.kind != "f" and method in ("averaged_inverted_cdf", "interpolated_inverted_cdf", "weibull"):
        refuse(f"the method '{method}' takes quantiles with a fraction in compiled functions")
    if np.ndim(q) > 2:
        refuse("q must be a scalar or 1d")
    if np.ndim(q) == 0 and isinstance(q, np.ndarray):
        q = q[()]
    if weights is None:
        if np.ndim(q) == 0:
            if not (0 <= q and q <= 1):
                raise ValueError("quantiles must be in the range [0, 1], percentiles in [0, 100]")
            if method in _DISCRETE or (method == "linear" and q.dtype.kind != "f"):
                dtype = a.dtype
            elif q.dtype.kind != "f":
                dtype = np.result_type(a, 0.5)
            else:
                dtype = np.result_type(a, q)
            if rows.ndim == 1:
                return _into(_kept(_quantile(rows, q, method, dtype), axes, a.ndim, keepdims), out)
            found = np.empty(rows.shape[:-1], dtype)
            _each_row(found, _quantile, rows, q, method, dtype)
            return _into(_kept(found, axes, a.ndim, keepdims), out)
        for part in q.flat:
            if not (0 <= part and part <= 1):
                raise ValueError("quantiles must be in the range [0, 1], percentiles in [0, 100]")
        if method in _DISCRETE or (method == "linear" and q.dtype.kind != "f"):
            dtype = a.dtype
        else:
            dtype = np.result_type(a, q, np.float32 if q.dtype.kind == "f" else np.float64)
        if q.dtype.kind == "f" and q.dtype.itemsize == 2:
            refuse("quantiles of float16 cannot be compiled")
        found = np.empty(q.shape + rows.shape[:-1], dtype)
        for at in np.ndindex(rows.shape[:-1]):
            _quantiles(rows[at], q, method, found, at)
        return _into(_kept(found, axes, a.ndim, keepdims, q.ndim), out)
    weights = np.asarray(weights)
    if np.any(weights < 0):
        raise ValueError("Weights must be non-negative.")
    if weights.ndim == a.ndim:
        if weights.shape != a.shape:
            raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    else:
        if axis is None:
            refuse("Axis must be specified when shapes of a and weights differ.")
        if weights.ndim != 1 or len(axes) != 1:
            refuse("the weights of quantile have the shape of the array or of one axis")
        if len(weights) != rows.shape[-1]:
            raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    each = weights if weights.ndim < a.ndim else _rows(weights, axes)
    if np.ndim(q) == 0:
        found = np.empty((1,) + rows.shape[:-1], a.dtype)
        parts = np.full(1, q)
        for at in np.ndindex(rows.shape[:-1]):
            _weighted(rows[at], each if each.ndim == 1 else each[at], parts, found, at)
        if rows.ndim == 1:
            return _into(_kept(found[0], axes, a.ndim, keepdims), out)
        return _into(_kept(np.asarray(found[0]), axes, a.ndim, keepdims), out)
    found = np.empty(q.shape + rows.shape[:-1], a.dtype)
    for at in np.ndindex(rows.shape[:-1]):
        _weighted(rows[at], each if each.ndim == 1 else each[at], q, found, at)
    return _into(_kept(found, axes, a.ndim, keepdims, q.ndim), out)


def _no_number(dtype: Static):
    """NaN in a type; integers have none, and no need of it."""
    if dtype.kind == "f":
        return dtype.type(np.nan)
    return dtype.type(0)


def _quantile(row, q, method: Static, dtype: Static):
    n = len(row)
    if n == 0:
        raise IndexError("there are no quantiles of no elements")
    if _has_nan(row):
        return _no_number(dtype)
    i, j, part = _place(n, q, method)
    if n >= _MANY:
        x, y = _neighbours(row, i)
        return dtype.type(_between(x, x if j == i else y, part, method, dtype))
    ordered = sort(row)
    return dtype.type(_between(ordered[i], ordered[j], part, method, dtype))


def _quantiles(row, q, method: Static, found, at):
    """Several of one row."""
    dtype = found.dtype
    n = len(row)
    if n == 0:
        raise IndexError("there are no quantiles of no elements")
    if _has_nan(row):
        for number in np.ndindex(q.shape):
            found[number + at] = _no_number(dtype)
    elif n >= _MANY and q.size < 4:
        for number in np.ndindex(q.shape):
            i, j, part = _place(n, q[number], method)
            x, y = _neighbours(row, i)
            found[number + at] = _between(x, x if j == i else y, part, method, dtype)
    else:
        ordered = sort(row)
        for number in np.ndindex(q.shape):
            i, j, part = _place(n, q[number], method)
            found[number + at] = _between(ordered[i], ordered[j], part, method, dtype)


def _place(n, q, method: Static):
    """The numbers of the two elements that a quantile lies between, and how far from the first it does."""
    if method == "linear":
        return _parted(n, (n - 1) * q)
    if method == "lower":
        i = int(np.floor((n - 1) * q))
        return i, i, 0.0
    if method == "higher":
        i = int(np.ceil((n - 1) * q))
        return i, i, 0.0
    if method == "nearest":
        i = int(np.rint((n - 1) * q))
        return i, i, 0.0
    if method == "inverted_cdf":
        at = n * q - 1
        i = int(np.floor(at))
        if at != i:
            i += 1
        return max(i, 0), max(i, 0), 0.0
    if method == "closest_observation":
        at = n * q - 1 - 0.5
        i = int(np.floor(at))
        if at != i or i % 2 == 0:
            i += 1
        return max(i, 0), max(i, 0), 0.0
    if method == "averaged_inverted_cdf":
        i, j, part = _parted(n, n * q - 1)
        return i, j, 0.5 if part == 0 else 1.0
    if method == "midpoint":
        at = 0.5 * (np.floor((n - 1) * q) + np.ceil((n - 1) * q))
        i, j, part = _parted(n, at)
        return i, j, 0.0 if at % 1 == 0 else 0.5
    if method == "interpolated_inverted_cdf":
        return _parted(n, n * q + (0 + q * 0) - 1)
    if method == "hazen":
        return _parted(n, n * q + (0.5 + q * 0.0) - 1)
    if method == "weibull":
        return _parted(n, n * q + (0 + q * 1) - 1)
    if method == "median_unbiased":
        return _parted(n, n * q + (1 / 3.0 + q * (1 - 1 / 3.0 - 1 / 3.0)) - 1)
    return _parted(n, n * q + (3 / 8.0 + q * (1 - 3 / 8.0 - 3 / 8.0)) - 1)


def _parted(n, at):
    i = int(np.floor(at))
    if at >= n - 1:
        return n - 1, n - 1, at + 1
    if at < 0:
        return 0, 0, at
    return i, i + 1, at - i


def _between(x, y, part, method: Static, dtype: Static):
    if method in _DISCRETE or (dtype.kind != "f"):
        return x
    if x.dtype.kind == "b":
        refuse("there is nothing between bools: a method such as 'nearest' takes one of them")
    step = y - x
    if part >= 0.5:
        return dtype.type(y - step * (1 - part))
    return dtype.type(x + step * part)


def _weighted(row, weights, q, found, at):
    """The quantiles of elements that count as their weights say."""
    n = len(row)
    if n == 0:
        raise IndexError("there are no quantiles of no elements")
    order = argsort(row)
    parts = np.empty(n, np.float64)
    total = np.float64(0)
    for i in range(n):
        total += np.float64(weights[order[i]])
        parts[i] = total
    for i in range(n):
        parts[i] /= total
    if parts[n - 1] != parts[n - 1]:
        raise ValueError("Weights included NaN, inf or were all zero.")
    for i in range(n):
        if parts[i] == 0:
            parts[i] = -1.0
    last = row[order[n - 1]]
    for number in np.ndindex(q.shape):
        part = q[number]
        if not (0 <= part and part <= 1):
            raise ValueError("quantiles must be in the range [0, 1], percentiles in [0, 100]")
        if q.dtype.kind == "f" and q.dtype.itemsize == 4:
            refuse("weighted quantiles of float32 cannot be compiled")
        i = min(_below(parts, np.float64(part), False), n - 1)
        found[number + at] = last if last != last else row[order[i]]

"""Averages, medians and quantiles, counts and histograms, and how variables go together."""

import numpy as np

from weft.language import Static, axes_of, float_type, for_numba, refuse, unrolled

from .searching import _below, searchsorted
from .sorting import _MANY, _from_key, _key, _select, argsort, sort


def _rows(a, axes: Static):
    """The array with some axes as one, the last."""
    if len(axes) == a.ndim:
        return a.ravel()
    order = ()
    kept = ()
    n = 1
    for i in unrolled(range(a.ndim)):
        if i not in axes:
            order = order + (i,)
            kept = kept + (a.shape[i],)
    for i in unrolled(axes):
        order = order + (i,)
        n = n * a.shape[i]
    if len(axes) == 1:
        return np.transpose(a, order)
    return np.transpose(a, order).copy().reshape(kept + (n,))


def _kept(found, axes: Static, rank: Static, keepdims: Static, first: Static = 0):
    """A result with axes of length 1 in place of those that are gone; it may have some axes of its own before them."""
    if not isinstance(keepdims, (bool, int, np.bool_)):
        refuse("keepdims is True or False")
    if not keepdims:
        return found
    index = (slice(None),) * first
    for i in unrolled(range(rank)):
        if i in axes:
            index = index + (None,)
        else:
            index = index + (slice(None),)
    if np.ndim(found) == 0:
        return np.full((1,) * rank, found)
    return found[index]


def _into(found, out):
    """The result, written to `out` where that is given."""
    if out is None:
        return found
    if out.ndim != np.ndim(found):
        refuse("'out' has as many axes as the result")
    if np.ndim(found) > 0:
        if out.shape != found.shape:
            raise ValueError("output parameter has the wrong shape")
    if out.dtype != found.dtype:
        refuse("'out' has the dtype of the result in compiled functions")
    out[...] = found
    return out


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
    for at in np.ndindex(rows.shape[:-1]):
        found[at] = _median(rows[at])
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
            for at in np.ndindex(rows.shape[:-1]):
                found[at] = _quantile(rows[at], q, method, dtype)
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


def bincount(x, /, weights=None, minlength=0):
    """How often each of the numbers 0, 1, 2, ... is there, or the sums of the weights that stand beside them.

    >>> np.bincount(np.array([0, 1, 1, 3]))
    array([1, 2, 0, 1])
    """
    x = np.asarray(x)
    if x.ndim != 1:
        refuse("bincount takes arrays of one axis")
    if x.dtype.kind not in ("b", "i", "u"):
        refuse(f"bincount takes integers, not {x.dtype}")
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    n = np.int64(minlength)
    low = np.int64(0)
    for i in range(len(x)):
        n = max(n, np.int64(x[i]) + 1)
        low = min(low, np.int64(x[i]))
    if low < 0:
        raise ValueError("'list' argument must have no negative elements")
    if weights is None:
        counts = np.zeros(n, np.int64)
        for i in range(len(x)):
            counts[np.int64(x[i])] += 1
        return counts
    weights = np.asarray(weights)
    if weights.ndim != 1:
        refuse("the weights of bincount have one axis")
    if weights.dtype.kind == "c":
        refuse("the weights of bincount are real numbers")
    if len(weights) != len(x):
        raise ValueError("The weights and list don't have the same length.")
    sums = np.zeros(n, np.float64)
    for i in range(len(x)):
        sums[np.int64(x[i])] += np.float64(weights[i])
    return sums


def histogram_bin_edges(a, bins=10, range=None, weights=None):
    """The edges of the bins that `np.histogram` counts in.

    >>> np.histogram_bin_edges(np.array([0, 4]), bins=4)
    array([0., 1., 2., 3., 4.])
    """
    a = np.asarray(a)
    if weights is not None:
        if np.ndim(weights) != a.ndim or np.shape(weights) != a.shape:
            raise ValueError("weights should have the same shape as a.")
    return _edges(a, bins, range)


def _edges(a, bins, ends):
    if isinstance(bins, str):
        refuse("how many bins there are is a number in compiled functions, or an array of edges")
    if a.dtype.kind == "c":
        refuse("histograms are made of real numbers")
    if isinstance(bins, (tuple, np.ndarray)):
        given = np.asarray(bins)
        if given.ndim != 1:
            refuse("`bins` must be 1d, when an array")
        for i in range(len(given) - 1):
            if given[i] > given[i + 1]:
                raise ValueError("`bins` must increase monotonically, when an array")
        return given
    if bins.dtype.kind != "i" and bins.dtype.kind != "u":
        refuse("`bins` must be an integer or an array in compiled functions")
    if bins < 1:
        raise ValueError("`bins` must be positive, when an integer")
    first, last = _ends(a, ends)
    dtype = np.result_type(first, last, a)
    if dtype.kind != "f":
        dtype = np.float64
    if ends is None and a.size == 0:
        edges = np.linspace(0.0, 1.0, bins + 1, dtype=dtype)
    else:
        edges = np.linspace(first, last, bins + 1, dtype=dtype)
    for i in range(bins):
        if edges[i] >= edges[i + 1]:
            raise ValueError("Too many bins for data range. Cannot create finite-sized bins.")
    return edges


def _ends(a, ends):
    """Where the first bin starts and the last one ends."""
    if ends is None:
        dtype = float_type(a.dtype)
        first = dtype.type(0)
        last = dtype.type(1)
        if a.size > 0:
            first = dtype.type(np.min(a))
            last = dtype.type(np.max(a))
        return _apart(first, last)
    if not isinstance(ends, tuple) or len(ends) != 2:
        refuse("the range of a histogram is a tuple of two numbers")
    return _apart(_as_float(ends[0]), _as_float(ends[1]))


def _as_float(x):
    if isinstance(x, int):
        return float(x)
    if x.dtype.kind != "f":
        return np.float64(x)
    return x


def _apart(first, last):
    if first > last:
        raise ValueError("max must be larger than min in range parameter.")
    if not (np.isfinite(first) and np.isfinite(last)):
        raise ValueError("the range of a histogram is not finite")
    if first == last:
        return first - 0.5, last + 0.5
    return first, last


def histogram(a, bins=10, range=None, density: Static = None, weights=None):
    """How many elements lie in each bin, and the edges of the bins: so many of one width, or those given. The last edge belongs to the
    last bin. With weights their sums are counted, with `density=True` the area is 1.

    >>> np.histogram(np.array([1, 2, 1]), bins=np.array([0, 1, 2, 3]))
    (array([0, 2, 1]), array([0, 1, 2, 3]))
    """
    a = np.asarray(a)
    if density is not None and not isinstance(density, (bool, int)):
        refuse("density is True or False")
    if for_numba() and a.dtype.kind == "f":
        a = a.astype(np.float64)
    if weights is None:
        return _histogram(a, bins, range, density, None)
    weights = np.asarray(weights)
    if weights.dtype.kind == "b":
        refuse("the weights of a histogram are numbers")
    if weights.ndim != a.ndim or weights.shape != a.shape:
        raise ValueError("weights should have the same shape as a.")
    return _histogram(a, bins, range, density, weights)


def _histogram(a, bins, ends, density: Static, weights):
    edges = _edges(a, bins, ends)
    n = max(len(edges) - 1, 0)
    if weights is None:
        sums = np.zeros(n, np.int64)
    elif weights.dtype.kind == "f":
        sums = np.zeros(n, np.float64)
    elif weights.dtype.kind == "c":
        sums = np.zeros(n, np.complex128)
    else:
        sums = np.zeros(n, weights.dtype)
    each = None if weights is None else weights.ravel()
    if isinstance(bins, (tuple, np.ndarray)):
        row = a.ravel()
        places = searchsorted(edges, row, "right")
        for at in range(len(row)):
            i = places[at] - 1
            if i == n and n > 0 and row[at] == edges[n]:
                i -= 1
            if i >= 0 and i < n:
                sums[i] += 1 if weights is None else sums.dtype.type(each[at])
    else:
        first, last = _ends(a, ends)
        width = np.subtract(last, first)
        for at in np.ndindex(a.shape):
            i = _even_bin(a[at], edges, first, last, width)
            if i >= 0:
                sums[i] += 1 if weights is None else sums.dtype.type(weights[at])
    if density is not None and density:
        widths = (edges[1:] - edges[:-1]).astype(np.float64)
        return np.asarray(sums / widths / np.sum(sums)), edges
    if weights is None:
        return sums, edges
    return sums.astype(weights.dtype), edges


def _even_bin(x, edges, first, last, width):
    """The number of the bin that a number lies in, or -1. It is computed from the bins' width, and put right by the edges."""
    if not (x >= first and x <= last):
        return -1
    n = len(edges) - 1
    x = edges.dtype.type(x)
    i = int((x - first) / width * n)
    if i == n:
        i -= 1
    if x < edges[i]:
        i -= 1
    if x >= edges[i + 1] and i != n - 1:
        i += 1
    return i


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

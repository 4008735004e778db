"""NumPy's functions of whole arrays that pass over NaN."""

import numpy as np

from weft.language import Static, axes_of, axis_of, float_type, refuse, unrolled

from .cumulative import cumprod, cumsum
from .statistics import _CONTINUOUS, _DISCRETE, _into, _kept, _median, _no_number, _quantile, _quantiles, _rows, median, quantile


def _reducible(a, axes: Static):
    """The array, in which several of those axes are one, the last."""
    if len(axes) == 1 and a.ndim > 1:
        return a
    return _rows(a, axes)


def _of(a, number):
    """The array with a number for NaN."""
    if a.dtype.kind == "f" or a.dtype.kind == "c":
        return np.where(a == a, a, a.dtype.type(number))
    return a


def nansum(a, axis: Static = None, dtype: Static = None, out=None, keepdims: Static = False):
    """The sum of the elements that are not NaN.

    >>> np.nansum(np.array([1.0, np.nan, 2.0]))
    np.float64(3.0)
    """
    a = np.asarray(a)
    axes = axes_of(axis, a.ndim)
    numbers = _of(_reducible(a, axes), 0)
    if dtype is None:
        return _into(_kept(_sum(numbers, axes, a.ndim), axes, a.ndim, keepdims), out)
    return _into(_kept(_sum(numbers.astype(dtype), axes, a.ndim), axes, a.ndim, keepdims), out)


def _sum(numbers, axes: Static, rank: Static):
    """Along the axis that is to go."""
    if len(axes) == rank:
        return np.sum(numbers)
    if len(axes) == 1:
        return np.sum(numbers, axes[0])
    return np.sum(numbers, -1)


def nanprod(a, axis: Static = None, dtype: Static = None, out=None, keepdims: Static = False):
    """The product of the elements that are not NaN.

    >>> np.nanprod(np.array([3.0, np.nan, 2.0]))
    np.float64(6.0)
    """
    a = np.asarray(a)
    axes = axes_of(axis, a.ndim)
    numbers = _of(_reducible(a, axes), 1)
    if dtype is None:
        return _into(_kept(_product(numbers, axes, a.ndim), axes, a.ndim, keepdims), out)
    return _into(_kept(_product(numbers.astype(dtype), axes, a.ndim), axes, a.ndim, keepdims), out)


def _product(numbers, axes: Static, rank: Static):
    if len(axes) == rank:
        return np.prod(numbers)
    if len(axes) == 1:
        return np.prod(numbers, axes[0])
    return np.prod(numbers, -1)


def nanmin(a, axis: Static = None, out=None, keepdims: Static = False):
    """The smallest of the elements that are not NaN; NaN where all are.

    >>> np.nanmin(np.array([3.0, np.nan, 2.0]))
    np.float64(2.0)
    """
    a = np.asarray(a)
    axes = axes_of(axis, a.ndim)
    rows = _reducible(a, axes)
    if len(axes) == a.ndim:
        least = np.min(_of_end(rows, True))
        return _into(_kept(_unless_all_nan(least, rows), axes, a.ndim, keepdims), out)
    place = axes[0] if len(axes) == 1 else -1
    least = np.min(_of_end(rows, True), place)
    return _into(_kept(_unless_nan(least, rows, axes, a.ndim), axes, a.ndim, keepdims), out)


def nanmax(a, axis: Static = None, out=None, keepdims: Static = False):
    """The largest of the elements that are not NaN; NaN where all are.

    >>> np.nanmax(np.array([3.0, np.nan, 2.0]))
    np.float64(3.0)
    """
    a = np.asarray(a)
    axes = axes_of(axis, a.ndim)
    rows = _reducible(a, axes)
    if len(axes) == a.ndim:
        most = np.max(_of_end(rows, False))
        return _into(_kept(_unless_all_nan(most, rows), axes, a.ndim, keepdims), out)
    place = axes[0] if len(axes) == 1 else -1
    most = np.max(_of_end(rows, False), place)
    return _into(_kept(_unless_nan(most, rows, axes, a.ndim), axes, a.ndim, keepdims), out)


def _of_end(a, high: Static):
    """The array with the number behind all others, or before them, for NaN."""
    if a.dtype.kind == "f":
        return np.where(a == a, a, a.dtype.type(np.inf if high else -np.inf))
    return a


def _unless_all_nan(x, row):
    if row.dtype.kind == "f":
        if np.isinf(x):
            if np.all(row != row):
                return x.dtype.type(np.nan)
    return x


def _unless_nan(found, a, axes: Static, rank: Static):
    if a.dtype.kind == "f":
        return np.asarray(np.where(np.all(a != a, axes[0] if len(axes) == 1 else -1), found.dtype.type(np.nan), found))
    return found


def nanargmin(a, axis: Static = None, out=None, *, keepdims: Static = False):
    """The position of the smallest of the elements that are not NaN.

    >>> np.nanargmin(np.array([3.0, np.nan, 2.0]))
    np.int64(2)
    """
    return _nanarg(a, axis, out, keepdims, True)


def nanargmax(a, axis: Static = None, out=None, *, keepdims: Static = False):
    """The position of the largest of the elements that are not NaN.

    >>> np.nanargmax(np.array([3.0, np.nan, 2.0]))
    np.int64(0)
    """
    return _nanarg(a, axis, out, keepdims, False)


def _nanarg(a, axis: Static, out, keepdims: Static, least: Static):
    a = np.asarray(a)
    if axis is None or a.ndim == 1:
        if axis is not None:
            axis = axis_of(axis, a.ndim)
        row = a.ravel()
        numbers = np.asarray(_of_end(row, least))
        at = np.argmin(numbers) if least else np.argmax(numbers)
        if row.dtype.kind == "f":
            if np.isinf(numbers[at]):
                if np.all(row != row):
                    raise ValueError("All-NaN slice encountered")
        return _into(_kept(at, axes_of(None, a.ndim), a.ndim, keepdims), out)
    axis = axis_of(axis, a.ndim)
    numbers = np.asarray(_of_end(a, least))
    if a.dtype.kind == "f":
        if np.any(np.all(a != a, axis)):
            raise ValueError("All-NaN slice encountered")
    if least:
        found = np.argmin(numbers, axis)
    else:
        found = np.argmax(numbers, axis)
    return _into(_kept(found, axes_of(axis, a.ndim), a.ndim, keepdims), out)


def nancumsum(a, axis: Static = None, dtype: Static = None, out=None):
    """The sums of all elements up to each, NaN counting as 0.

    >>> np.nancumsum(np.array([1.0, np.nan, 2.0]))
    array([1., 1., 3.])
    """
    return cumsum(np.asarray(_of(np.asarray(a), 0)), axis, dtype, out)


def nancumprod(a, axis: Static = None, dtype: Static = None, out=None):
    """The products of all elements up to each, NaN counting as 1.

    >>> np.nancumprod(np.array([2.0, np.nan, 3.0]))
    array([2., 2., 6.])
    """
    return cumprod(np.asarray(_of(np.asarray(a), 1)), axis, dtype, out)


def nanmean(a, axis: Static = None, dtype: Static = None, out=None, keepdims: Static = False):
    """The mean of the elements that are not NaN; NaN where all are.

    >>> np.nanmean(np.array([1.0, np.nan, 2.0]))
    np.float64(1.5)
    """
    a = np.asarray(a)
    if dtype is None:
        kind = float_type(a.dtype)
    else:
        kind = dtype
    if kind.kind != "f" and kind.kind != "c":
        refuse("nanmean's 'dtype' is that of floats or complex numbers")
    axes = axes_of(axis, a.ndim)
    rows = _reducible(a, axes)
    sums = _sum(_of(rows, 0).astype(kind), axes, a.ndim)
    return _into(_kept(_over(sums, _sum(_known(rows), axes, a.ndim), kind), axes, a.ndim, keepdims), out)


def _known(a):
    """Which elements are not NaN."""
    return a == a


def _over(sums, counts, dtype: Static):
    """Sums over counts, in a type."""
    if np.ndim(sums) == 0:
        return dtype.type(_wide(sums) / counts)
    return np.asarray((_wide(sums) / counts).astype(dtype))


def _wide(x):
    return x * np.float64(1)


def nanvar(a, axis: Static = None, dtype: Static = None, out=None, ddof=0, keepdims: Static = False, *, correction=None):
    """The mean square of the distances from the mean, of the elements that are not NaN.

    >>> np.nanvar(np.array([1.0, np.nan, 3.0]))
    np.float64(1.0)
    """
    a = np.asarray(a)
    if dtype is not None:
        refuse("nanvar and nanstd compute in the array's own type in compiled functions")
    axes = axes_of(axis, a.ndim)
    if correction is not None:
        return _into(_kept(_variance(a, axes, correction), axes, a.ndim, keepdims), out)
    return _into(_kept(_variance(a, axes, ddof), axes, a.ndim, keepdims), out)


def nanstd(a, axis: Static = None, dtype: Static = None, out=None, ddof=0, keepdims: Static = False, *, correction=None):
    """The square root of the mean square of the distances from the mean, of the elements that are not NaN.

    >>> np.nanstd(np.array([1.0, np.nan, 3.0]))
    np.float64(1.0)
    """
    a = np.asarray(a)
    if dtype is not None:
        refuse("nanvar and nanstd compute in the array's own type in compiled functions")
    axes = axes_of(axis, a.ndim)
    if correction is not None:
        return _into(_kept(_roots(_variance(a, axes, correction)), axes, a.ndim, keepdims), out)
    return _into(_kept(_roots(_variance(a, axes, ddof)), axes, a.ndim, keepdims), out)


def _roots(variances):
    if np.ndim(variances) == 0:
        return np.sqrt(variances)
    return np.asarray(np.sqrt(variances))


def _variance(a, axes: Static, ddof):
    dtype = float_type(a.dtype)
    wide = np.result_type(dtype, np.float32)
    rows = _reducible(a, axes)
    counts = _sum(_known(rows), axes, a.ndim)
    means = (_wide(_sum(_of(rows, 0).astype(wide), axes, a.ndim)) / counts).astype(wide)
    if len(axes) == a.ndim:
        distances = rows.astype(wide) - means
    else:
        index = ()
        place = axes[0] if len(axes) == 1 else rows.ndim - 1
        for i in unrolled(range(rows.ndim)):
            if i == place:
                index = index + (None,)
            else:
                index = index + (slice(None),)
        distances = rows.astype(wide) - np.asarray(means)[index]
    if a.dtype.kind == "c":
        squares = np.where(rows == rows, (distances * np.conj(distances)).real, means.dtype.type(0).real)
    else:
        squares = np.where(rows == rows, distances * distances, means.dtype.type(0))
    if a.dtype.kind == "f" or a.dtype.kind == "c":
        free = np.where(counts - ddof <= 0, np.nan, counts - ddof)
    else:
        free = np.maximum(counts - ddof, 0)
    return _over(_sum(squares, axes, a.ndim), free, dtype.type(0).real.dtype)


def _cleaned(row):
    """The elements that are not NaN."""
    if row.dtype.kind == "f" or row.dtype.kind == "c":
        return row[row == row]
    return row


def nanmedian(a, axis: Static = None, out=None, overwrite_input=False, keepdims: Static = False):
    """The element in the middle of the sorted ones that are not NaN, or the mean of the two that are; NaN where all are.

    >>> np.nanmedian(np.array([3.0, np.nan, 2.0]))
    np.float64(2.5)
    """
    a = np.asarray(a)
    if a.dtype.kind == "c":
        refuse("nanmedian takes real numbers in compiled functions")
    if a.dtype.kind != "f":
        return median(a, axis, out, overwrite_input, keepdims)
    axes = axes_of(axis, a.ndim)
    rows = _rows(a, axes)
    if rows.ndim == 1:
        return _into(_kept(_median(_cleaned(rows)), axes, a.ndim, keepdims), out)
    found = np.empty(rows.shape[:-1], a.dtype)
    for at in np.ndindex(rows.shape[:-1]):
        found[at] = _median(_cleaned(rows[at]))
    return _into(_kept(found, axes, a.ndim, keepdims), out)


def nanpercentile(
    a, q, axis: Static = None, out=None, overwrite_input=False, method: Static = "linear", keepdims: Static = False, *, weights=None
):
    """What `q` percent of the elements that are not NaN are smaller than.

    >>> np.nanpercentile(np.array([10.0, np.nan, 4.0]), 50)
    np.float64(7.0)
    """
    if isinstance(q, (tuple, np.ndarray)):
        return nanquantile(a, np.asarray(np.asarray(q) / 100), axis, out, overwrite_input, method, keepdims, weights=weights)
    return nanquantile(a, q / 100, axis, out, overwrite_input, method, keepdims, weights=weights)


def nanquantile(
    a, q, axis: Static = None, out=None, overwrite_input=False, method: Static = "linear", keepdims: Static = False, *, weights=None
):
    """What a part `q` of the elements that are not NaN are smaller than; NaN where all are.

    >>> np.nanquantile(np.array([10.0, np.nan, 4.0]), 0.5)
    np.float64(7.0)
    """
    a = np.asarray(a)
    if weights is not None:
        refuse("nanquantile and nanpercentile with weights cannot be compiled")
    if a.dtype.kind != "f":
        return quantile(a, q, axis, out, overwrite_input, method, keepdims)
    if method not in _DISCRETE and method not in _CONTINUOUS:
        refuse(f"there is no method '{method}' of quantiles")
    if isinstance(q, (tuple, np.ndarray)):
        q = np.asarray(q)
    if q.dtype.kind != "f":
        refuse("nanquantile takes floats for 'q' in compiled functions")
    if np.ndim(q) > 1:
        refuse("q must be a scalar or 1d")
    if np.ndim(q) == 0 and isinstance(q, np.ndarray):
        q = q[()]
    axes = axes_of(axis, a.ndim)
    rows = _rows(a, axes)
    if method in _DISCRETE:
        dtype = a.dtype
    else:
        dtype = np.result_type(a, q)
    if np.ndim(q) == 0:
        if not (0 <= q and q <= 1):
            raise ValueError("quantiles must be in the range [0, 1], percentiles in [0, 100]")
        if rows.ndim == 1:
            return _into(_kept(_one(_cleaned(rows), q, method, dtype), axes, a.ndim, keepdims), out)
        found = np.empty(rows.shape[:-1], dtype)
        for at in np.ndindex(rows.shape[:-1]):
            found[at] = _one(_cleaned(rows[at]), q, method, dtype)
        return _into(_kept(found, axes, a.ndim, keepdims), out)
    for part in q.flat:
        if not (0 <= part and part <= 1):
            raise ValueError("quantiles must be in the range [0, 1], percentiles in [0, 100]")
    if a.size == 0:
        raise ValueError("nanquantile of no elements takes one quantile in compiled functions")
    found = np.empty(q.shape + rows.shape[:-1], dtype)
    for at in np.ndindex(rows.shape[:-1]):
        row = _cleaned(rows[at])
        if len(row) > 0:
            _quantiles(row, q, method, found, at)
        else:
            for number in np.ndindex(q.shape):
                found[number + at] = dtype.type(np.nan)
    return _into(_kept(found, axes, a.ndim, keepdims, 1), out)


def _one(row, q, method: Static, dtype: Static):
    if len(row) == 0:
        return _no_number(dtype)
    return _quantile(row, q, method, dtype)

"""Reductions, quantiles and cumulative sums that pass over NaN."""

import numpy as np

from weft.language import Static, axes_of, axis_of, float_type, for_numba, refuse, unrolled

from .axes import _each_row, _into, _kept, _rows
from .cumulative import cumprod, cumsum
from .quantiles import _CONTINUOUS, _DISCRETE, _median, _no_number, _quantile, _quantiles, median, quantile


def _reducible(a, axes: Static):
    """The array, in which several of those axes are one, the last."""
    if len(axes) == 1 and a.ndim > 1:
        return a
    return _rows(a, axes)


def _with(a, number):
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
    if dtype is None:
        return _into(_kept(_sum(_reducible(a, axes), axes, a.ndim, a.dtype), axes, a.ndim, keepdims), out)
    place = None if len(axes) == a.ndim else (axes[0] if len(axes) == 1 else -1)
    return _into(_kept(np.sum(_with(_reducible(a, axes), 0), place, dtype), axes, a.ndim, keepdims), out)


def _sum(a, axes: Static, rank: Static, dtype: Static):
    """The sum along the axes that are to go, of elements converted to a type. All is one expression, so that no array is made in between."""
    place = None if len(axes) == rank else (axes[0] if len(axes) == 1 else -1)
    if a.dtype.kind == "f" or a.dtype.kind == "c":
        return np.sum(np.where(a == a, a, a.dtype.type(0)).astype(dtype), place)
    return np.sum(a.astype(dtype), place)


def nanprod(a, axis: Static = None, dtype: Static = None, out=None, keepdims: Static = False):
    """The product of the elements that are not NaN.

    >>> np.nanprod(np.array([3.0, np.nan, 2.0]))
    np.float64(6.0)
    """
    a = np.asarray(a)
    axes = axes_of(axis, a.ndim)
    if dtype is None:
        return _into(_kept(_product(_reducible(a, axes), axes, a.ndim, a.dtype), axes, a.ndim, keepdims), out)
    place = None if len(axes) == a.ndim else (axes[0] if len(axes) == 1 else -1)
    return _into(_kept(np.prod(_with(_reducible(a, axes), 1), place, dtype), axes, a.ndim, keepdims), out)


def _product(a, axes: Static, rank: Static, dtype: Static):
    place = None if len(axes) == rank else (axes[0] if len(axes) == 1 else -1)
    if a.dtype.kind == "f" or a.dtype.kind == "c":
        return np.prod(np.where(a == a, a, a.dtype.type(1)).astype(dtype), place)
    return np.prod(a.astype(dtype), place)


def nanmin(a, axis: Static = None, out=None, keepdims: Static = False):
    """The smallest of the elements that are not NaN; NaN where all are.

    >>> np.nanmin(np.array([3.0, np.nan, 2.0]))
    np.float64(2.0)
    """
    a = np.asarray(a)
    axes = axes_of(axis, a.ndim)
    rows = _reducible(a, axes)
    place = None if len(axes) == a.ndim else (axes[0] if len(axes) == 1 else -1)
    if a.dtype.kind == "f":
        found = np.min(np.where(rows == rows, rows, rows.dtype.type(np.inf)), place)
    else:
        found = np.min(rows, place)
    return _into(_kept(_unless_nan(found, rows, place), axes, a.ndim, keepdims), out)


def nanmax(a, axis: Static = None, out=None, keepdims: Static = False):
    """The largest of the elements that are not NaN; NaN where all are.

    >>> np.nanmax(np.array([3.0, np.nan, 2.0]))
    np.float64(3.0)
    """
    a = np.asarray(a)
    axes = axes_of(axis, a.ndim)
    rows = _reducible(a, axes)
    place = None if len(axes) == a.ndim else (axes[0] if len(axes) == 1 else -1)
    if a.dtype.kind == "f":
        found = np.max(np.where(rows == rows, rows, rows.dtype.type(-np.inf)), place)
    else:
        found = np.max(rows, place)
    return _into(_kept(_unless_nan(found, rows, place), axes, a.ndim, keepdims), out)


def _unless_nan(found, a, place: Static):
    """What was found, or NaN where there is nothing else."""
    if a.dtype.kind != "f":
        return found
    if place is None:
        if np.isinf(found):
            if np.all(a != a):
                return found.dtype.type(np.nan)
        return found
    if np.any(np.isinf(found)):
        return np.asarray(np.where(np.all(a != a, place), found.dtype.type(np.nan), found))
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
        if row.dtype.kind != "f":
            at = np.argmin(row) if least else np.argmax(row)
        else:
            if least:
                at = np.argmin(np.where(row == row, row, row.dtype.type(np.inf)))
            else:
                at = np.argmax(np.where(row == row, row, row.dtype.type(-np.inf)))
            if row[at] != row[at]:
                if np.all(row != row):
                    raise ValueError("All-NaN slice encountered")
        return _into(_kept(at, axes_of(None, a.ndim), a.ndim, keepdims), out)
    axis = axis_of(axis, a.ndim)
    if a.dtype.kind == "f":
        if np.any(np.all(a != a, axis)):
            raise ValueError("All-NaN slice encountered")
    if a.dtype.kind != "f":
        found = np.argmin(a, axis) if least else np.argmax(a, axis)
    elif least:
        found = np.argmin(np.where(a == a, a, a.dtype.type(np.inf)), axis)
    else:
        found = np.argmax(np.where(a == a, a, a.dtype.type(-np.inf)), axis)
    return _into(_kept(found, axes_of(axis, a.ndim), a.ndim, keepdims), out)


def nancumsum(a, axis: Static = None, dtype: Static = None, out=None):
    """The sums of all elements up to each, NaN counting as 0.

    >>> np.nancumsum(np.array([1.0, np.nan, 2.0]))
    array([1., 1., 3.])
    """
    return cumsum(np.asarray(_with(np.asarray(a), 0)), axis, dtype, out)


def nancumprod(a, axis: Static = None, dtype: Static = None, out=None):
    """The products of all elements up to each, NaN counting as 1.

    >>> np.nancumprod(np.array([2.0, np.nan, 3.0]))
    array([2., 2., 6.])
    """
    return cumprod(np.asarray(_with(np.asarray(a), 1)), axis, dtype, out)


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
    sums = _sum(rows, axes, a.ndim, kind)
    return _into(_kept(_over(sums, _count(rows, axes, a.ndim), kind), axes, a.ndim, keepdims), out)


def _count(a, axes: Static, rank: Static):
    """How many elements are not NaN."""
    place = None if len(axes) == rank else (axes[0] if len(axes) == 1 else -1)
    return np.sum(a == a, place)


def _over(sums, counts, dtype: Static):
    """Sums over counts, in a type."""
    if np.ndim(sums) == 0:
        return dtype.type(_wide(sums) / counts)
    return np.asarray((_wide(sums) / counts).astype(dtype))


def _wide(x):
    if np.result_type(x).kind == "c":
        return x.astype(np.complex128)
    return x * np.float64(1)


def nanvar(a, axis: Static = None, dtype: Static = None, out=None, ddof=0, keepdims: Static = False, *, correction=None):
    """The mean square of the distances from the mean, of the elements that are not NaN.

    >>> np.nanvar(np.array([1.0, np.nan, 3.0]))
    np.float64(1.0)
    """
    a = np.asarray(a)
    if for_numba() and a.dtype.kind in "fc":
        a = a.astype(np.result_type(a, np.float64))
    if dtype is not None:
        if np.result_type(dtype).kind != "f":
            refuse("the dtype of a variance is one of floats in compiled functions")
        if a.dtype.kind != "f":
            a = a.astype(dtype)
    axes = axes_of(axis, a.ndim)
    if correction is not None:
        return _into(_kept(_variance(a, axes, correction, dtype), axes, a.ndim, keepdims), out)
    return _into(_kept(_variance(a, axes, ddof, dtype), axes, a.ndim, keepdims), out)


def nanstd(a, axis: Static = None, dtype: Static = None, out=None, ddof=0, keepdims: Static = False, *, correction=None):
    """The square root of the mean square of the distances from the mean, of the elements that are not NaN.

    >>> np.nanstd(np.array([1.0, np.nan, 3.0]))
    np.float64(1.0)
    """
    a = np.asarray(a)
    if for_numba() and a.dtype.kind in "fc":
        a = a.astype(np.result_type(a, np.float64))
    if dtype is not None:
        if np.result_type(dtype).kind != "f":
            refuse("the dtype of a variance is one of floats in compiled functions")
        if a.dtype.kind != "f":
            a = a.astype(dtype)
    axes = axes_of(axis, a.ndim)
    if correction is not None:
        return _into(_kept(_roots(_variance(a, axes, correction, dtype)), axes, a.ndim, keepdims), out)
    return _into(_kept(_roots(_variance(a, axes, ddof, dtype)), axes, a.ndim, keepdims), out)


def _roots(variances):
    if np.ndim(variances) == 0:
        return np.sqrt(variances)
    return np.asarray(np.sqrt(variances))


def _variance(a, axes: Static, ddof, sums: Static):
    """`sums` is the dtype in which is summed, if not the array's own."""
    dtype = float_type(a.dtype)
    if sums is not None:
        dtype = np.result_type(sums)
    wide = np.result_type(dtype, np.float32)
    rows = _reducible(a, axes)
    place = None if len(axes) == a.ndim else (axes[0] if len(axes) == 1 else rows.ndim - 1)
    counts = _count(rows, axes, a.ndim)
    means = (_wide(_sum(rows, axes, a.ndim, wide)) / counts).astype(wide)
    if place is None:
        centre = means
    else:
        index = ()
        for i in unrolled(range(rows.ndim)):
            if i == place:
                index = index + (None,)
            else:
                index = index + (slice(None),)
        centre = np.asarray(means)[index]
    if a.dtype.kind == "c":
        distances = np.asarray(rows.astype(wide) - centre)
        squares = np.sum(np.where(rows == rows, (distances * np.conj(distances)).real, 0.0), place)
    else:
        zero = wide.type(0)
        if sums is not None:
            # Distances are rounded to the array's type, and their squares.
            distances = np.asarray((rows - centre).astype(a.dtype))
            squares = np.sum(np.where(rows == rows, (distances * distances).astype(wide), zero), place).astype(dtype)
        else:
            squares = np.sum(np.where(rows == rows, (rows.astype(wide) - centre) * (rows.astype(wide) - centre), zero), place)
    if a.dtype.kind == "f" or a.dtype.kind == "c":
        free = np.where(counts - ddof <= 0, np.nan, counts - ddof)
    else:
        free = np.maximum(counts - ddof, 0)
    return _over(squares, free, dtype.type(0).real.dtype)


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
    if for_numba() and a.dtype.kind in "fc":
        a = a.astype(np.result_type(a, np.float64))
    if a.dtype.kind == "c":
        refuse("nanmedian takes real numbers in compiled functions")
    if a.dtype.kind != "f":
        return median(a, axis, out, overwrite_input, keepdims)
    axes = axes_of(axis, a.ndim)
    rows = _rows(a, axes)
    if rows.ndim == 1:
        return _into(_kept(_nanmedian(rows), axes, a.ndim, keepdims), out)
    found = np.empty(rows.shape[:-1], a.dtype)
    _each_row(found, _nanmedian, rows)
    return _into(_kept(found, axes, a.ndim, keepdims), out)


def _nanmedian(row):
    return _median(_cleaned(row))


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
    if for_numba() and a.dtype.kind in "fc":
        a = a.astype(np.result_type(a, np.float64))
    if weights is not None:
        refuse("nanquantile and nanpercentile with weights cannot be compiled")
    if a.dtype.kind != "f":
        if a.size == 0:
            if np.ndim(q) == 0 and q.dtype.kind == "f" and method not in _DISCRETE and np.result_type(a, q) == np.float64:
                return nanmean(a, axis, None, out, keepdims)
            raise ValueError("nanquantile of no integers takes one quantile, and a method between elements, in compiled functions")
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
            return _into(_kept(_nanquantile(rows, q, method, dtype), axes, a.ndim, keepdims), out)
        found = np.empty(rows.shape[:-1], dtype)
        _each_row(found, _nanquantile, rows, q, method, dtype)
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


def _nanquantile(row, q, method: Static, dtype: Static):
    left = _cleaned(row)
    if len(left) == 0:
        return _no_number(dtype)
    return _quantile(left, q, method, dtype)

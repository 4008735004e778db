"""Cumulative sums and products, differences of neighbours, interpolation and integration."""

import numpy as np
from weft import prange

from weft.language import Static, axes_of, axis_of, for_numba, refuse, sum_type, unrolled

from .joining import concatenate
from .shapes import moveaxis
from .sorting import argsort

# So many numbers are interpolated one after another.
_BLOCK = 1024


def cumsum(a, axis: Static = None, dtype: Static = None, out=None):
    """The sums of all elements up to each, along an axis or along the array as one row.

    >>> np.cumsum(np.array([1, 2, 3]))
    array([1, 3, 6])
    """
    a = np.asarray(a)
    if axis is None:
        return cumsum(a.ravel(), 0, dtype, out)
    sums = _results(a, dtype, out)
    if out is not None:
        # It may share memory with the array.
        sums[...] = cumsum(a, axis, dtype)
        return out
    axis = axis_of(axis, a.ndim)
    rows = moveaxis(a, axis, -1)
    results = moveaxis(sums, axis, -1)
    if axis < a.ndim - 1 and a.ndim == 2:
        # Row by row: neighbours in memory are added at once.
        if len(a) > 0:
            sums[0] = a[0].astype(sums.dtype)
        for i in range(1, len(a)):
            sums[i] = sums[i - 1] + a[i].astype(sums.dtype)
        return sums
    for at in np.ndindex(rows.shape[:-1]):
        row = rows[at]
        result = results[at]
        if len(row) > 0:
            total = sums.dtype.type(row[0])
            result[0] = total
            for i in range(1, len(row)):
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
    products = _results(a, dtype, out)
    if out is not None:
        # It may share memory with the array.
        products[...] = cumprod(a, axis, dtype)
        return out
    axis = axis_of(axis, a.ndim)
    rows = moveaxis(a, axis, -1)
    results = moveaxis(products, axis, -1)
    if axis < a.ndim - 1 and a.ndim == 2:
        if len(a) > 0:
            products[0] = a[0].astype(products.dtype)
        for i in range(1, len(a)):
            products[i] = products[i - 1] * a[i].astype(products.dtype)
        return products
    for at in np.ndindex(rows.shape[:-1]):
        row = rows[at]
        result = results[at]
        if len(row) > 0:
            total = products.dtype.type(row[0])
            result[0] = total
            for i in range(1, len(row)):
                total *= products.dtype.type(row[i])
                result[i] = total
    return products


def _results(a, dtype: Static, out):
    """Where sums or products of all elements up to each go."""
    if out is None:
        if dtype is None:
            return np.empty(a.shape, sum_type(a.dtype))
        return np.empty(a.shape, dtype)
    if dtype is None:
        if out.dtype != sum_type(a.dtype):
            refuse("'out' has the dtype of the result in compiled functions")
    elif out.dtype != dtype:
        refuse("'out' has the dtype of the result in compiled functions")
    if out.ndim != a.ndim:
        refuse("'out' has as many axes as the result")
    if out.shape != a.shape:
        raise ValueError("provided out is the wrong size for the accumulation")
    return out


def diff(a, n: Static = 1, axis: Static = -1, prepend=None, append=None):
    """The differences of neighbours along an axis, taken `n` times; of the array between `prepend` and `append` where they are given.

    >>> np.diff(np.array([1, 2, 4, 7]))
    array([1, 2, 3])
    """
    a = np.asarray(a)
    if n < 0:
        refuse("the order of a difference cannot be negative")
    if n == 0:
        return a
    if a.ndim == 0:
        refuse("diff takes arrays of one axis or more")
    axis = axis_of(axis, a.ndim)
    if prepend is not None and append is not None:
        return diff(concatenate((_beside(a, prepend, axis), a, _beside(a, append, axis)), axis), n, axis)
    if prepend is not None:
        return diff(concatenate((_beside(a, prepend, axis), a), axis), n, axis)
    if append is not None:
        return diff(concatenate((a, _beside(a, append, axis)), axis), n, axis)
    rows = moveaxis(a, axis, 0)
    if a.dtype == np.bool_:
        differences = moveaxis(np.asarray(rows[1:] != rows[:-1]), 0, axis)
    else:
        differences = moveaxis(np.asarray(rows[1:] - rows[:-1]), 0, axis)
    if n == 1:
        return differences
    return diff(differences, n - 1, axis)


def _beside(a, b, axis: Static):
    """What is put before or behind an array: a number fills one place of the axis."""
    b = np.asarray(b)
    if b.ndim > 0:
        return b
    return np.full(a.shape[:axis] + (1,) + a.shape[axis + 1 :], b[()], b.dtype)


def ediff1d(ary, to_end=None, to_begin=None):
    """The differences of neighbours in an array as one row, between what `to_begin` and `to_end` put before and behind them.

    >>> np.ediff1d(np.array([1, 2, 4]), to_begin=-9)
    array([-9,  1,  2])
    """
    ary = np.asarray(ary)
    row = ary.ravel()
    before = np.empty(0, row.dtype) if to_begin is None else _same_kind(to_begin, row.dtype)
    behind = np.empty(0, row.dtype) if to_end is None else _same_kind(to_end, row.dtype)
    n = max(len(row) - 1, 0)
    found = np.empty(len(before) + n + len(behind), row.dtype)
    found[: len(before)] = before
    if row.dtype == np.bool_:
        refuse("numpy boolean subtract is not supported")
    found[len(before) : len(before) + n] = row[1:] - row[:n]
    found[len(before) + n :] = behind
    return found


def _same_kind(x, dtype: Static):
    """A number or array as a row of a type of the same kind or a higher one."""
    row = np.asarray(x).ravel()
    kind, to = row.dtype.kind, dtype.kind
    if (
        (kind == "c" and to != "c")
        or (kind == "f" and to not in ("f", "c"))
        or (kind == "i" and to not in ("i", "f", "c"))
        or (kind == "u" and to == "b")
    ):
        refuse("the dtype of what is put before or behind must be of the array's kind or a lower one")
    return row.astype(dtype)


def trapezoid(y, x=None, dx=1.0, axis: Static = -1):
    """The area under a line through points, along an axis: they lie at `x` or have the distance `dx`.

    >>> np.trapezoid(np.array([1, 2, 3]))
    np.float64(4.0)
    """
    y = np.asarray(y)
    if for_numba() and y.dtype.kind == "b":
        refuse("Numba adds bools as numbers here: convert them with .astype(np.int64)")
    axis = axis_of(axis, y.ndim)
    rows = moveaxis(y, axis, -1)
    if x is None:
        return np.sum(dx * (rows[..., 1:] + rows[..., :-1]) / 2.0, -1)
    x = np.asarray(x)
    if x.ndim == 1:
        return np.sum(_steps(x) * (rows[..., 1:] + rows[..., :-1]) / 2.0, -1)
    places = moveaxis(x, axis_of(axis, x.ndim), -1)
    return np.sum(_steps(places) * (rows[..., 1:] + rows[..., :-1]) / 2.0, -1)


def _steps(places):
    """From each place along the last axis to the next; between bools a step is a change."""
    if places.dtype.kind == "b":
        return places[..., 1:] != places[..., :-1]
    return places[..., 1:] - places[..., :-1]


def interp(x, xp, fp, left=None, right=None, period=None):
    """The height at `x` of the line through the points `xp` (which grow) and `fp`. Before and behind them it is that of the first and the
    last, or `left` and `right`. With a `period` the points repeat.

    >>> np.interp(2.5, np.array([1, 2, 3]), np.array([3, 2, 0]))
    np.float64(1.0)
    """
    xp = np.asarray(xp)
    fp = np.asarray(fp)
    if np.result_type(x).kind == "c" or xp.dtype.kind == "c":
        refuse("interp takes real numbers for 'x' and 'xp'")
    if xp.ndim != 1 or fp.ndim != 1:
        refuse("the points of interp are arrays of one axis")
    if len(xp) != len(fp):
        raise ValueError("fp and xp are not of the same length")
    if len(xp) == 0:
        raise ValueError("array of sample points is empty")
    if period is not None:
        if period == 0:
            raise ValueError("period must be a non-zero value")
        width = np.float64(abs(period))
        places = xp.astype(np.float64) % width
        order = argsort(places)
        places = places[order]
        heights = fp[order]
        around = concatenate((places[-1:] - width, places, places[:1] + width))
        heights = concatenate((heights[-1:], heights, heights[:1]))
        if isinstance(x, (tuple, np.ndarray)):
            return interp(np.asarray(x).astype(np.float64) % width, around, heights)
        return interp(np.float64(x) % width, around, heights)
    dtype = np.complex128 if fp.dtype.kind == "c" else np.float64
    before = dtype(fp[0]) if left is None else dtype(left)
    behind = dtype(fp[len(fp) - 1]) if right is None else dtype(right)
    if not isinstance(x, (tuple, np.ndarray)):
        return _height(np.float64(x), xp, fp, before, behind, 0)[0]
    x = np.asarray(x)
    if x.ndim == 0:
        return _height(np.float64(x[()]), xp, fp, before, behind, 0)[0]
    heights = np.empty(x.shape, dtype)
    if x.ndim == 1:
        for block in prange((len(x) + _BLOCK - 1) // _BLOCK):
            near = 0
            for i in range(block * _BLOCK, min((block + 1) * _BLOCK, len(x))):
                heights[i], near = _height(np.float64(x[i]), xp, fp, before, behind, near)
    else:
        near = 0
        for at in np.ndindex(x.shape):
            heights[at], near = _height(np.float64(x[at]), xp, fp, before, behind, near)
    return heights


def _height(x, xp, fp, before, behind, near):
    """The height of the line at x, and the number of the point before it, which is looked for near another."""
    last = len(xp) - 1
    if x != x and last > 0:
        return before.dtype.type(x), near
    if x < xp[0]:
        return before, 0
    if x > xp[last]:
        return behind, last
    i = near
    if not (i < last and xp[i] <= x and x < xp[i + 1]):
        # xp[low] <= x < xp[high]
        low = 0
        high = last + 1
        while high - low > 1:
            middle = (low + high) // 2
            if xp[middle] <= x:
                low = middle
            else:
                high = middle
        i = low
    x0 = np.float64(xp[i])
    y0 = before.dtype.type(fp[i])
    if i == last or x0 == x:
        return y0, i
    x1 = np.float64(xp[i + 1])
    y1 = before.dtype.type(fp[i + 1])
    if before.dtype.kind == "c":
        steps = 1.0 / (x1 - x0)
        real = _between(x, x0, y0.real, x1, y1.real, (y1.real - y0.real) * steps)
        imag = _between(x, x0, y0.imag, x1, y1.imag, (y1.imag - y0.imag) * steps)
        return complex(real, imag), i
    return _between(x, x0, y0, x1, y1, (y1 - y0) / (x1 - x0)), i


def _between(x, x0, y0, x1, y1, slope):
    y = slope * (x - x0) + y0
    if y != y:
        # An infinite slope may do from the other side.
        y = slope * (x - x1) + y1
        if y != y and y0 == y1:
            y = y0
    return y


def unwrap(p, discont=None, axis: Static = -1, *, period=6.283185307179586):
    """Angles along an axis with whole periods added, so that neighbours differ by half a period at most.

    >>> np.unwrap(np.array([0, 1, 2, -1, 0]), period=4)
    array([0, 1, 2, 3, 4])
    """
    p = np.asarray(p)
    if p.dtype.kind == "c":
        refuse("unwrap takes real numbers")
    if for_numba() and p.dtype.kind == "u":
        refuse("Numba unwraps unsigned numbers otherwise: convert them with .astype(np.float64)")
    axis = axis_of(axis, p.ndim)
    dtype = np.result_type(p, period)
    if dtype.kind == "u":
        refuse("unwrap takes signed numbers, or a period with a fraction")
    if dtype.kind == "i":
        high = period // 2
        both = period % 2 == 0
    else:
        high = period / 2
        both = True
    least = period / 2 if discont is None else discont
    found = np.empty(p.shape, dtype)
    rows = moveaxis(p, axis, -1)
    results = moveaxis(found, axis, -1)
    for at in np.ndindex(rows.shape[:-1]):
        row = rows[at]
        result = results[at]
        added = dtype.type(0)
        for i in range(len(row)):
            if i > 0:
                if p.dtype.kind == "b":
                    step = row[i] != row[i - 1]
                else:
                    step = row[i] - row[i - 1]
                near = np.mod(step + high, period) - high
                if both and near == -high and step > 0:
                    near = dtype.type(high)
                if not (abs(step) < least):
                    added += dtype.type(near - step)
            result[i] = dtype.type(row[i]) + added
    return found


def gradient(f, d0=None, d1=None, d2=None, d3=None, *, axis: Static = None, edge_order: Static = 1):
    """The slopes of an array along an axis, or along each of several: one array for each. Behind the array the distance of its points may
    stand, or one distance or array of places for each axis.

    >>> np.gradient(np.array([1.0, 2.0, 4.0, 7.0]))
    array([1. , 1.5, 2.5, 3. ])
    """
    f = np.asarray(f)
    if f.dtype.kind in ("i", "u"):
        return gradient(f.astype(np.float64), d0, d1, d2, d3, axis=axis, edge_order=edge_order)
    if f.dtype.kind == "b":
        refuse("gradient takes numbers")
    if edge_order != 1 and edge_order != 2:
        refuse("gradient's 'edge_order' is 1 or 2")
    given = ()
    for d in unrolled((d0, d1, d2, d3)):
        if d is not None:
            given = given + (d,)
    axes = axes_of(axis, f.ndim)
    if len(given) == 0:
        given = (1.0,) * len(axes)
    elif len(given) == 1 and np.ndim(given[0]) == 0:
        given = given * len(axes)
    if len(given) != len(axes):
        refuse("gradient takes one distance, or one for each axis")
    slopes = ()
    for i in unrolled(range(len(axes))):
        slopes = slopes + (_slopes(f, given[i], axes[i], edge_order),)
    if len(axes) == 1:
        return slopes[0]
    return slopes


def _slopes(f, d, axis: Static, edge_order: Static):
    n = f.shape[axis]
    if n < edge_order + 1:
        raise ValueError("Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are required.")
    found = np.empty(f.shape, f.dtype)
    rows = moveaxis(f, axis, 0)
    results = moveaxis(found, axis, 0)
    if np.ndim(d) == 0:
        _even_slopes(rows, d, results, edge_order)
    else:
        if np.ndim(d) != 1:
            refuse("distances must be either scalars or 1d")
        if len(d) != n:
            raise ValueError("when 1d, distances must match the length of the corresponding dimension")
        if d.dtype.kind in ("b", "i", "u"):
            places = d.astype(np.float64)
        else:
            places = d
        steps = np.asarray(places[1:] - places[:-1])
        if np.all(steps == steps[0]):
            _even_slopes(rows, steps[0], results, edge_order)
        else:
            _uneven_slopes(rows, steps, results, edge_order)
    return found


def _even_slopes(f, d, out, edge_order: Static):
    """Of points at one distance from each other, along the first axis."""
    n = len(f)
    out[1:-1] = (f[2:] - f[:-2]) / (2.0 * d)
    if edge_order == 1:
        out[0] = (f[1] - f[0]) / d
        out[n - 1] = (f[n - 1] - f[n - 2]) / d
    else:
        out[0] = -1.5 / d * f[0] + 2.0 / d * f[1] + -0.5 / d * f[2]
        out[n - 1] = 0.5 / d * f[n - 3] + -2.0 / d * f[n - 2] + 1.5 / d * f[n - 1]


def _uneven_slopes(f, steps, out, edge_order: Static):
    n = len(f)
    for i in range(1, n - 1):
        d1 = steps[i - 1]
        d2 = steps[i]
        a = -d2 / (d1 * (d1 + d2))
        b = (d2 - d1) / (d1 * d2)
        c = d1 / (d2 * (d1 + d2))
        out[i] = a * f[i - 1] + b * f[i] + c * f[i + 1]
    if edge_order == 1:
        out[0] = (f[1] - f[0]) / steps[0]
        out[n - 1] = (f[n - 1] - f[n - 2]) / steps[n - 2]
    else:
        d1 = steps[0]
        d2 = steps[1]
        a = -(2.0 * d1 + d2) / (d1 * (d1 + d2))
        b = (d1 + d2) / (d1 * d2)
        c = -d1 / (d2 * (d1 + d2))
        out[0] = a * f[0] + b * f[1] + c * f[2]
        d1 = steps[n - 3]
        d2 = steps[n - 2]
        a = d2 / (d1 * (d1 + d2))
        b = -(d2 + d1) / (d1 * d2)
        c = (2.0 * d2 + d1) / (d2 * (d1 + d2))
        out[n - 1] = a * f[n - 3] + b * f[n - 2] + c * f[n - 1]

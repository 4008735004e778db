"""Sums and their like with all that NumPy's take: several axes, `dtype`, `out`, `keepdims`, `initial`, `where`.

Of the whole array or along one axis, with nothing else asked, the compiler has loops of its own: what is called `np.sum` here.
"""

import numpy as np

from weft.language import Static, axes_of, axis_of, first_true, float_type, for_numba, highest, lies_along, lowest, refuse, unrolled

from .shapes import expand_dims, moveaxis

# How many elements are looked at together.
BLOCK = 1024
# Rows shorter than this are not worth a statement of their own.
WIDE = 16


def sum(a, axis: Static = None, dtype: Static = None, out=None, keepdims: Static = False, initial=None, where=None):
    """The sum of the elements: of all, along an axis, or over a tuple of axes.

    >>> np.sum(np.ones((2, 3, 4)), axis=(0, 2), keepdims=True).shape
    (1, 3, 1)
    """
    a = _chosen(np.asarray(a), where, 0)
    result = _started(np.add, np.sum, _converted(a, dtype, out), axis, keepdims, initial)
    return _given(_of_type(result, dtype, out), out)


def prod(a, axis: Static = None, dtype: Static = None, out=None, keepdims: Static = False, initial=None, where=None):
    """The product of the elements: of all, along an axis, or over a tuple of axes.

    >>> np.prod(np.full((2, 3), 2), axis=1, dtype=np.float32)
    array([8., 8.], dtype=float32)
    """
    a = _chosen(np.asarray(a), where, 1)
    result = _started(np.multiply, np.prod, _converted(a, dtype, out), axis, keepdims, initial)
    return _given(_of_type(result, dtype, out), out)


def min(a, axis: Static = None, out=None, keepdims: Static = False, initial=None, where=None):
    """The least element: of all, along an axis, or over a tuple of axes.

    >>> np.min(np.array([3, 1, 2]), initial=0)
    0
    """
    a = np.asarray(a)
    if where is not None:
        if initial is None:
            refuse("min with where needs an initial value")
        _check_mask(where)
        return min(np.where(where, a, highest(a.dtype)), axis, out, keepdims, initial)
    return _extreme(np.minimum, np.min, a, axis, keepdims, initial, out)


def max(a, axis: Static = None, out=None, keepdims: Static = False, initial=None, where=None):
    """The greatest element: of all, along an axis, or over a tuple of axes.

    >>> np.max(np.array([[3, 1], [2, 5]]), axis=0, keepdims=True)
    array([[3, 5]])
    """
    a = np.asarray(a)
    if where is not None:
        if initial is None:
            refuse("max with where needs an initial value")
        _check_mask(where)
        return max(np.where(where, a, lowest(a.dtype)), axis, out, keepdims, initial)
    return _extreme(np.maximum, np.max, a, axis, keepdims, initial, out)


def any(a, axis: Static = None, out=None, keepdims: Static = False, where=None):
    """Is an element true: of all, along an axis, or over a tuple of axes.

    >>> np.any(np.array([[False, True], [False, False]]), axis=1, keepdims=True)
    array([[ True],
           [False]])
    """
    return _along(np.any, _chosen(np.asarray(a), where, 0), axis, keepdims, out)


def all(a, axis: Static = None, out=None, keepdims: Static = False, where=None):
    """Are the elements true: all of them, along an axis, or over a tuple of axes.

    >>> np.all(np.array([[True, True], [False, True]]), axis=0, keepdims=True)
    array([[False,  True]])
    """
    return _along(np.all, _chosen(np.asarray(a), where, 1), axis, keepdims, out)


def argmin(a, axis: Static = None, out=None, *, keepdims: Static = False):
    """The position of the first least element, of all or along an axis.

    >>> np.argmin(np.array([[3, 1], [2, 5]]), axis=1, keepdims=True)
    array([[1],
           [0]])
    """
    return _given(_positions(np.asarray(a), axis, keepdims, True), out)


def argmax(a, axis: Static = None, out=None, *, keepdims: Static = False):
    """The position of the first greatest element, of all or along an axis.

    >>> np.argmax(np.array([[3, 1], [2, 5]]), axis=1, keepdims=True)
    array([[0],
           [1]])
    """
    return _given(_positions(np.asarray(a), axis, keepdims, False), out)


def mean(a, axis: Static = None, dtype: Static = None, out=None, keepdims: Static = False, where=None):
    """The mean of the elements: of all, along an axis, or over a tuple of axes.

    >>> np.mean(np.array([[1, 2], [3, 4]]), axis=0, keepdims=True)
    array([[2., 3.]])
    """
    a = np.asarray(a)
    if dtype is not None and np.result_type(dtype).kind != "f" and np.result_type(dtype).kind != "c":
        refuse("the dtype of a mean is one of floats or complex numbers")
    if where is not None:
        if dtype is None:
            kind = float_type(a.dtype)
        else:
            kind = dtype
        total = sum(a, axis, kind, None, keepdims, None, where)
        count = sum(np.broadcast_to(where, a.shape), axis, np.int64, None, keepdims)
        return _given(_of_type(total / count, kind, None), out)
    if dtype is None:
        return _along(np.mean, a, axis, keepdims, out)
    return _along(np.mean, a.astype(dtype), axis, keepdims, out)


def var(a, axis: Static = None, dtype: Static = None, out=None, ddof=0, keepdims: Static = False, *, correction=None):
    """The variance: the mean squared distance from the mean, with `n - ddof` for the number of elements.

    >>> np.var(np.array([1.0, 2.0, 3.0, 4.0]), ddof=1)
    1.6666666666666667
    """
    a = np.asarray(a)
    if correction is not None:
        return var(a, axis, dtype, out, correction, keepdims)
    if for_numba() and a.dtype.kind == "c":
        a = a.astype(np.complex128)
    if dtype is not None:
        if np.result_type(dtype).kind != "f":
            refuse("the dtype of a variance is one of floats in compiled functions")
        a = a.astype(dtype)
    elif a.dtype.kind != "f" and a.dtype.kind != "c":
        a = a.astype(np.float64)
    center = mean(a, axis, keepdims=True)
    squares = _squares(a, center)
    total = sum(squares, axis, keepdims=keepdims)
    left = _count(a, axis) - ddof
    if left < 0:
        left = left * 0
    return _given(total / squares.dtype.type(left), out)


def std(a, axis: Static = None, dtype: Static = None, out=None, ddof=0, keepdims: Static = False, *, correction=None):
    """The standard deviation: the square root of the variance.

    >>> np.std(np.array([1.0, 2.0, 3.0, 4.0]), ddof=1)
    1.2909944487358056
    """
    return _given(np.sqrt(var(a, axis, dtype, None, ddof, keepdims, correction=correction)), out)


def _positions(a, axis: Static, keepdims: Static, least: Static):
    if axis is None:
        return _kept(_position(a.ravel(), least), a.ndim, axis, keepdims)
    axis = axis_of(axis, a.ndim)
    if a.ndim == 1:
        return _kept(_position(a, least), 1, axis, keepdims)
    slices = moveaxis(a, axis, 0)
    found = np.zeros(slices.shape[1:], np.int64)
    if len(slices) == 0:
        raise ValueError("attempt to get argmin or argmax of an empty sequence")
    if not lies_along(a, axis) and found.size >= WIDE:
        # Slice by slice: elements that are neighbours in memory belong to different results.
        best = slices[0].copy()
        for i in range(1, len(slices)):
            one = slices[i]
            better = _is_better(one, best, least)
            found[...] = np.where(better, i, found)
            best[...] = np.where(better, one, best)
    else:
        rows = moveaxis(a, axis, -1)
        for at in np.ndindex(found.shape):
            found[at] = _position(rows[at], least)
    return _kept(found, a.ndim, axis, keepdims)


def _is_better(one, best, least: Static):
    if least:
        return (one < best) | ((one != one) & (best == best))
    return (one > best) | ((one != one) & (best == best))


def _position(a, least: Static):
    """Where the first least or greatest element of a vector is, or the first NaN. Only the block that has it is looked through."""
    n = len(a)
    if n == 0:
        raise ValueError("attempt to get argmin or argmax of an empty sequence")
    best = a[0]
    start = 0
    for first in range(0, n, BLOCK):
        block = a[first : first + BLOCK]
        extreme = np.min(block) if least else np.max(block)
        if extreme != extreme:
            best = extreme
            start = first
            break
        if (extreme < best) if least else (extreme > best):
            best = extreme
            start = first
    block = a[start : start + BLOCK]
    if a.dtype.kind == "f":
        if best != best:
            return np.int64(start + first_true(np.isnan(block)))
    return np.int64(start + first_true(block == best))


def _squares(a, center):
    if a.dtype.kind == "c":
        return (a - center).real ** 2 + (a - center).imag ** 2
    return (a - center) * (a - center)


def _chosen(a, where, neutral: Static):
    """The elements where `where` is true, else one that changes nothing."""
    if where is None:
        return a
    _check_mask(where)
    return np.where(where, a, a.dtype.type(neutral))


def _check_mask(where):
    if not isinstance(where, (bool, np.bool_, np.ndarray)):
        refuse("where is an array of bools")
    if np.asarray(where).dtype.kind != "b":
        refuse("where is an array of bools")


def _converted(a, dtype: Static, out):
    """The elements in the type that they are combined in."""
    if dtype is not None:
        kind = np.result_type(dtype)
    elif out is not None:
        kind = out.dtype
        if a.dtype.kind in ("f", "c"):
            # Elements are not cut before they are combined.
            if kind.kind in ("b", "i", "u"):
                refuse(f"'out' is an array of {kind}, which has no room for the fractions of {a.dtype}")
    else:
        kind = a.dtype
    if a.dtype == kind:
        return a
    return a.astype(kind)


def _of_type(result, dtype: Static, out):
    """A result in the type that was asked for: integers of more bits, which wrap as those of fewer."""
    if dtype is not None:
        kind = np.result_type(dtype)
    elif out is not None:
        kind = out.dtype
    else:
        return result
    if np.ndim(result) == 0:
        return kind.type(result)
    return result.astype(kind)


def _started(f, fold, a, axis: Static, keepdims: Static, initial):
    if initial is None:
        return _along(fold, a, axis, keepdims, None)
    result = _along(fold, a, axis, keepdims, None)
    return f(result, _as_type(initial, np.result_type(result)))


def _as_type(initial, kind: Static):
    """An initial value in the type of the result."""
    if kind.kind == "u" and initial < 0:
        raise OverflowError("a negative initial value for unsigned integers")
    return kind.type(initial)


def _extreme(f, fold, a, axis: Static, keepdims: Static, initial, out):
    if initial is not None and _count(a, axis) == 0:
        nothing = _along(np.sum, a, axis, keepdims, None)
        if np.ndim(nothing) == 0:
            return _given(_as_type(initial, a.dtype), out)
        return _given(np.full(np.shape(nothing), _as_type(initial, a.dtype)), out)
    return _given(_started(f, fold, a, axis, keepdims, initial), out)


def _count(a, axis: Static):
    """How many elements are combined into one."""
    count = 1
    for place in unrolled(axes_of(axis, a.ndim)):
        count *= a.shape[place]
    return count


def _along(fold, a, axis: Static, keepdims: Static, out):
    if axis is None:
        result = fold(a)
    elif isinstance(axis, tuple):
        axes = axes_of(axis, a.ndim)
        if len(axes) == a.ndim:
            result = fold(a)
        elif len(axes) == 0:
            result = fold(expand_dims(a, -1), -1)
        else:
            result = fold(a, axes)
    else:
        result = fold(a, axis)
    return _given(_kept(result, a.ndim, axis, keepdims), out)


def _kept(result, rank: Static, axis: Static, keepdims: Static):
    """The result with axes of length 1 for those that were reduced, if these are to be kept."""
    if not isinstance(keepdims, (bool, int, np.bool_)):
        refuse("keepdims is True or False")
    if not keepdims:
        return result
    if np.ndim(result) == 0:
        shape = ()
        for _ in unrolled(range(rank)):
            shape = shape + (1,)
        return np.full(shape, result)
    return expand_dims(result, axes_of(axis, rank))


def _given(result, out):
    """The result, or the array that was given for it."""
    if out is None:
        return result
    if np.shape(result) != out.shape:
        raise ValueError("the output array has the wrong shape")
    out[...] = result
    return out

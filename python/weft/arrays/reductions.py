"""Sums and their like: folds of all elements, along an axis or along several."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from weft._weft import _arg, _cast, _fold, _part, _reshape, ndarray

from ._common import (
    MISSING,
    Shape,
    array_of,
    as_dtype,
    axes_of,
    axis_of,
    beside,
    broadcast_shape,
    checked_out,
    flat,
    float_dtype,
    given,
    is_half,
    is_true,
    mask_of,
    real_dtype,
    select,
    stretched,
    u,
    with_ones,
)
from ._reducing import complex_position, reduced
from .shapes import moveaxis
from .ufuncs import UFUNCS


def _axes(a: ndarray, axis: Any) -> Shape:
    """Axes to reduce; a number without axes has one to be named, as in NumPy."""
    if a.ndim == 0 and axis in (0, -1) and not isinstance(axis, bool):
        return ()
    return axes_of(axis, a.ndim)


def _counted_axes(a: ndarray, axis: Any, where: Any) -> Shape:
    """Axes along which elements are counted: where a mask says which, NumPy asks the mask's sum, which names axes as sums do."""
    return axes_of(axis, a.ndim) if _mask(where, a) is None else _axes(a, axis)


def kept(result: ndarray, a: ndarray, axes: Shape, keepdims: Any) -> ndarray:
    """A result with the reduced axes kept at length one if they are to be."""
    return _reshape(result, with_ones(a.shape, axes)) if is_true(keepdims) else result


def _mask(where: Any, a: ndarray) -> ndarray | None:
    """The mask of a reduction; None if everything is taken."""
    if where is MISSING or where is True:
        return None
    return mask_of(where, a)


def _masked(a: ndarray, where: Any, other: Any) -> ndarray:
    """The array with another number where a mask is false."""
    mask = _mask(where, a)
    if mask is None:
        return a
    shape = broadcast_shape(a.shape, mask.shape)
    if len(shape) > a.ndim and shape != a.shape:
        raise ValueError(f"non-broadcastable operand with shape {a.shape} doesn't match the broadcast shape {shape}")
    return select(mask, stretched(a, shape), a.dtype.type(other))


def _reduced(
    function: str, a: Any, axis: Any, dtype: Any, out: Any, keepdims: Any, initial: Any = MISSING, where: Any = MISSING
) -> ndarray:
    """`reduce` of a ufunc."""
    a = array_of(a)
    checked_out(out)
    return reduced(UFUNCS[function], a, axis, dtype, out, is_true(keepdims), initial, True if where is MISSING else where)


def sum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = MISSING, initial: Any = MISSING, where: Any = MISSING
) -> ndarray:
    """The sum of the elements: of all, along an axis, or over a tuple of axes.

    Integers are summed in 64 bits if no `dtype` is given, 16-bit floats in float32. `initial` is added, `where` is a mask of what is
    taken. AxisError for axes that are not there.

    >>> weft.sum(weft.asarray([[1, 2], [3, 4]]), axis=0)
    array([4, 6])
    """
    return _reduced("add", a, axis, dtype, out, keepdims, initial, where)


def prod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = MISSING, initial: Any = MISSING, where: Any = MISSING
) -> ndarray:
    """The product of the elements, as `sum` is their sum.

    >>> weft.prod(weft.asarray([[1, 2], [3, 4]]), axis=1)
    array([ 2, 12])
    """
    return _reduced("multiply", a, axis, dtype, out, keepdims, initial, where)


def max(a: Any, axis: Any = None, out: Any = None, keepdims: Any = MISSING, initial: Any = MISSING, where: Any = MISSING) -> ndarray:
    """The greatest element: of all, along an axis, or over a tuple of axes. NaN is the greatest.

    ValueError where there is none, unless `initial` is given, which `where` needs.

    >>> weft.max(weft.asarray([[1, 4], [3, 2]]), axis=0)
    array([3, 4])
    """
    return _reduced("maximum", a, axis, None, out, keepdims, initial, where)


def min(a: Any, axis: Any = None, out: Any = None, keepdims: Any = MISSING, initial: Any = MISSING, where: Any = MISSING) -> ndarray:
    """The least element, as `max` is the greatest. NaN comes before all others.

    >>> weft.min(weft.asarray([[1, 4], [3, 2]]), axis=0, keepdims=True)
    array([[1, 2]])
    """
    return _reduced("minimum", a, axis, None, out, keepdims, initial, where)


amax, amin = max, min


def _size(shape: Shape) -> int:
    found = 1
    for n in shape:
        found *= n
    return found


def kept_shape(a: ndarray, axes: Shape, keepdims: Any) -> Shape:
    """The shape that a reduction over axes gives."""
    return with_ones(a.shape, axes) if is_true(keepdims) else tuple(n for i, n in enumerate(a.shape) if i not in axes)


def any(a: Any, axis: Any = None, out: Any = None, keepdims: Any = MISSING, *, where: Any = MISSING) -> ndarray:
    """Whether an element is true: of all, along an axis, or over a tuple of axes.

    >>> weft.any(weft.asarray([[0, 1], [0, 0]]), axis=1)
    array([ True, False])
    """
    return _reduced("logical_or", a, axis, None, out, keepdims, where=where)


def all(a: Any, axis: Any = None, out: Any = None, keepdims: Any = MISSING, *, where: Any = MISSING) -> ndarray:
    """Whether every element is true: of all, along an axis, or over a tuple of axes.

    >>> weft.all(weft.asarray([[1, 1], [0, 1]]), axis=1)
    array([ True, False])
    """
    return _reduced("logical_and", a, axis, None, out, keepdims, where=where)


def argmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = MISSING) -> ndarray:
    """The position of the first greatest element, of all or along an axis, as int64. NaN is the greatest.

    ValueError where there is none.

    >>> weft.argmax(weft.asarray([[1, 4], [3, 2]]), axis=1)
    array([1, 0])
    """
    return _position("argmax", a, axis, out, keepdims)


def argmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = MISSING) -> ndarray:
    """The position of the first least element, of all or along an axis, as int64. NaN comes before all others.

    >>> weft.argmin(weft.asarray([3, 1, 2]))
    array(1)
    """
    return _position("argmin", a, axis, out, keepdims)


def _position(op: str, a: Any, axis: Any, out: Any, keepdims: Any) -> ndarray:
    a = array_of(a)
    row = flat(a) if axis is None or a.ndim == 0 else a
    axis_ = 0 if axis is None else axis_of(axis, row.ndim)
    if row.shape[axis_] == 0 and (row.size or _size(kept_shape(row, (axis_,), False))):
        raise ValueError(f"attempt to get {op} of an empty sequence")
    axes = tuple(range(a.ndim)) if axis is None or a.ndim == 0 else (axis_,)
    if a.dtype.kind == "c" and row.size:
        found = complex_position(moveaxis(row, axis_, -1), op == "argmax")
    else:
        found = _arg(op, row, axis_)
    return given(kept(found, a, axes, keepdims), out, "unsafe")


def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> ndarray:
    """How many elements are not zero, of the whole array or along axes, as int64.

    >>> weft.count_nonzero(weft.asarray([[0, 1], [2, 3]]), axis=0)
    array([1, 2])
    """
    a = array_of(a)
    axes = _axes(a, axis)
    counted = a if a.dtype.kind == "b" else u("not_equal", a, a.dtype.type(0))
    return kept(_fold("add", counted, axes, np.dtype(np.int64)), a, axes, keepdims)


def _count(a: ndarray, axes: Shape, where: Any, keepdims: bool) -> Any:
    """How many elements are taken: a number, or an array of numbers if there is a mask."""
    mask = _mask(where, a)
    if mask is None:
        return _size(tuple(a.shape[i] for i in axes))
    wide = stretched(mask, broadcast_shape(a.shape, mask.shape))
    return kept(_fold("add", wide, axes, np.dtype(np.int64)), a, axes, keepdims)


def _divided(total: ndarray, count: Any, dtype: np.dtype) -> ndarray:
    """A sum divided by a count, of a dtype."""
    result = u("true_divide", total, count)
    return result if result.dtype == dtype else _cast(result, dtype)


def mean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = MISSING, *, where: Any = MISSING) -> ndarray:
    """The mean of the elements: of all, along an axis, or over a tuple of axes.

    Integers have a mean in float64, floats one of their own dtype; 16-bit floats are summed in float32. The mean of nothing is NaN,
    with a RuntimeWarning.

    >>> weft.mean(weft.asarray([[1, 2], [3, 4]]), axis=1)
    array([1.5, 3.5])
    """
    a = array_of(a)
    checked_out(out)
    axes = _counted_axes(a, axis, where)
    count = _count(a, axes, where, is_true(keepdims))
    if isinstance(count, int) and count == 0:
        warnings.warn("Mean of empty slice.", RuntimeWarning, stacklevel=2)
    kind = float_dtype(a.dtype) if dtype is None else as_dtype(dtype)
    computed = np.dtype(np.float32) if dtype is None and is_half(kind) else kind
    total = kept(_fold("add", _masked(a, where, 0), axes, computed), a, axes, keepdims)
    return given(_divided(total, count, kind), out, "unsafe")


def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = MISSING,
    *,
    where: Any = MISSING,
    mean: Any = MISSING,
    correction: Any = MISSING,
) -> ndarray:
    """The mean of the squared distances from the mean, divided by the number of elements less `ddof` (or `correction`).

    Dtypes are those of `mean`, real ones for complex numbers. `mean` is what has been computed already with `keepdims=True`.

    >>> weft.var(weft.asarray([1.0, 2.0, 3.0, 4.0]))
    array(1.25)
    """
    a = array_of(a)
    checked_out(out)
    less = _correction(ddof, correction)
    axes = _counted_axes(a, axis, where)
    count = _count(a, axes, where, is_true(keepdims))
    if isinstance(count, int) and less >= count:
        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=2)
    kind = float_dtype(a.dtype) if dtype is None else as_dtype(dtype)
    computed = np.dtype(np.float32) if dtype is None and is_half(kind) else kind
    if mean is MISSING:
        total = kept(_fold("add", _masked(a, where, 0), axes, computed), a, axes, True)
        middle = _divided(total, _count(a, axes, where, True), computed)
    else:
        middle = beside(mean, a)
    # What is left out is left out of gradients, too, where it may be no number.
    squares = _squares(_masked(u("subtract", a, middle), where, 0))
    # What was asked for is what squares are summed in; else they are real, whatever the numbers are.
    total = _fold("add", _masked(squares, where, 0), axes, squares.dtype if dtype is None else computed)
    free = _free(count, less)
    wanted = real_dtype(kind) if dtype is None else kind
    return given(_divided(kept(total, a, axes, keepdims), free, wanted), out, "unsafe")


def _correction(ddof: Any, correction: Any) -> Any:
    if correction is MISSING:
        return ddof
    if ddof != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return correction


def _free(count: Any, less: Any) -> Any:
    """The number of elements less the degrees of freedom, not below 0."""
    if isinstance(count, int):
        return count - less if count > less else 0
    return u("maximum", u("subtract", count, less), 0)


def _squares(x: ndarray) -> ndarray:
    """The squares of numbers, of the absolute values of complex ones."""
    if x.dtype.kind != "c":
        return u("multiply", x, x)
    real, imag = _part(x, "real"), _part(x, "imag")
    return u("add", u("multiply", real, real), u("multiply", imag, imag))


def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = MISSING,
    *,
    where: Any = MISSING,
    mean: Any = MISSING,
    correction: Any = MISSING,
) -> ndarray:
    """The square root of `var`, with the same arguments.

    >>> weft.std(weft.asarray([1.0, 3.0]))
    array(1.)
    """
    checked_out(out)
    found = var(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)
    return given(u("sqrt", found), out)


def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = MISSING) -> ndarray:
    """The distance from the least to the greatest element.

    >>> weft.ptp(weft.asarray([4, 9, 2]))
    array(7)
    """
    a = array_of(a)
    return given(u("subtract", max(a, axis, keepdims=keepdims), min(a, axis, keepdims=keepdims)), out, "unsafe")

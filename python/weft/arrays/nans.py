"""Sums and their like of the elements that are not NaN."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._weft import _cast, _fold, ndarray

from . import _compiled, statistics
from ._common import MISSING, array_of, as_dtype, axes_of, axis_of, beside, given, is_inexact, select, u
from ._reducing import complex_extreme
from .cumulative import cumprod, cumsum
from .reductions import argmax, argmin, kept
from .reductions import max as _max
from .reductions import mean as _mean
from .reductions import min as _min
from .reductions import prod as _prod
from .reductions import sum as _sum
from .reductions import var as _var


def _replaced(a: Any, value: Any) -> ndarray:
    """The array with a number where it has NaN."""
    a = array_of(a)
    if not is_inexact(a.dtype):
        return a
    # The order of a copy, as NumPy makes one.
    a = _cast(a, a.dtype)
    return select(u("isnan", a), a.dtype.type(value), a)


def nansum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = MISSING, initial: Any = MISSING, where: Any = MISSING
) -> ndarray:
    """The sum of the elements that are not NaN, as `sum` is that of all.

    >>> weft.nansum(weft.asarray([1.0, np.nan]))
    array(1.)
    """
    return _sum(_replaced(a, 0), axis, dtype, out, keepdims, initial, where)


def nanprod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = MISSING, initial: Any = MISSING, where: Any = MISSING
) -> ndarray:
    """The product of the elements that are not NaN, as `prod` is that of all.

    >>> weft.nanprod(weft.asarray([2.0, np.nan]))
    array(2.)
    """
    return _prod(_replaced(a, 1), axis, dtype, out, keepdims, initial, where)


def nanmax(a: Any, axis: Any = None, out: Any = None, keepdims: Any = MISSING, initial: Any = MISSING, where: Any = MISSING) -> ndarray:
    """The greatest of the elements that are not NaN; NaN where all are. ValueError where there are none.

    >>> weft.nanmax(weft.asarray([1.0, np.nan]))
    array(1.)
    """
    return _extreme("fmax", _max, a, axis, out, keepdims, initial, where)


def nanmin(a: Any, axis: Any = None, out: Any = None, keepdims: Any = MISSING, initial: Any = MISSING, where: Any = MISSING) -> ndarray:
    """The least of the elements that are not NaN; NaN where all are. ValueError where there are none.

    >>> weft.nanmin(weft.asarray([1.0, np.nan]))
    array(1.)
    """
    return _extreme("fmin", _min, a, axis, out, keepdims, initial, where)


def _extreme(op: str, plain: Any, a: Any, axis: Any, out: Any, keepdims: Any, initial: Any, where: Any) -> ndarray:
    a = array_of(a)
    if not is_inexact(a.dtype):
        return plain(a, axis, out, keepdims, initial, where)
    if initial is not MISSING or where is not MISSING:
        # With a first operand there is always a number.
        lost = plain(_replaced(a, -np.inf if op == "fmax" else np.inf), axis, None, keepdims, initial, where)
        return given(lost, out)
    axes = axes_of(axis, a.ndim)
    if 0 in [a.shape[i] for i in axes]:
        plain(a, axis, out, keepdims)
    if a.dtype.kind == "c":
        lost = u("isnan", a)
        other = complex(-np.inf, -np.inf) if op == "fmax" else complex(np.inf, np.inf)
        found = complex_extreme("maximum" if op == "fmax" else "minimum", select(lost, a.dtype.type(other), a), axes)
        found = select(_fold("logical_and", lost, axes), a.dtype.type(complex(np.nan, 0)), found)
    else:
        found = _fold(op, a, axes)
    return given(kept(found, a, axes, keepdims), out)


def nanargmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = MISSING) -> ndarray:
    """The position of the first greatest of the elements that are not NaN. ValueError where all are, for which they are read.

    >>> weft.nanargmax(weft.asarray([1.0, np.nan, 2.0]))
    array(2)
    """
    return argmax(_compared(a, axis, -np.inf), axis, out, keepdims=keepdims)


def nanargmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = MISSING) -> ndarray:
    """The position of the first least of the elements that are not NaN. ValueError where all are, for which they are read.

    >>> weft.nanargmin(weft.asarray([1.0, np.nan, 2.0]))
    array(0)
    """
    return argmin(_compared(a, axis, np.inf), axis, out, keepdims=keepdims)


def _compared(a: Any, axis: Any, other: float) -> ndarray:
    a = array_of(a)
    if not is_inexact(a.dtype):
        return a
    lost = u("isnan", a)
    axes = tuple(range(a.ndim)) if axis is None else (axis_of(axis, a.ndim),)
    rows = _fold("logical_and", lost, axes)
    if a.size:
        a = _compiled.unless(_fold("logical_or", rows, tuple(range(rows.ndim))), ValueError("All-NaN slice encountered"), a)
    return select(lost, a.dtype.type(other), a)


def nanmean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = MISSING, *, where: Any = MISSING) -> ndarray:
    """The mean of the elements that are not NaN, NaN where all are.

    >>> weft.nanmean(weft.asarray([1.0, np.nan, 3.0]))
    array(2.)
    """
    a = array_of(a)
    if not is_inexact(a.dtype):
        return _mean(a, axis, dtype, out, keepdims, where=where)
    _check_inexact(dtype, out)
    return _mean(a, axis, dtype, out, keepdims, where=_numbers(a, where))


def _check_inexact(dtype: Any, out: Any) -> None:
    if dtype is not None and not is_inexact(as_dtype(dtype)):
        raise TypeError("If a is inexact, then dtype must be inexact")
    if isinstance(out, ndarray) and not is_inexact(out.dtype):
        raise TypeError("If a is inexact, then out must be inexact")


def _numbers(a: ndarray, where: Any) -> ndarray:
    """Where there are numbers, and a mask is true."""
    numbers = u("logical_not", u("isnan", a))
    return numbers if where is MISSING else u("logical_and", numbers, beside(where, a))


def nanvar(
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
    """The variance of the elements that are not NaN, as `var` is that of all; NaN where they are not more than `ddof`.

    >>> weft.nanvar(weft.asarray([1.0, np.nan, 3.0]))
    array(1.)
    """
    a = array_of(a)
    words: dict[str, Any] = {"mean": mean, "correction": correction}
    if not is_inexact(a.dtype):
        return _var(a, axis, dtype, out, ddof, keepdims, where=where, **words)
    _check_inexact(dtype, out)
    less = ddof if correction is MISSING else correction
    mask = _numbers(a, where)
    found = _var(a, axis, dtype, None, ddof, keepdims, where=mask, **words)
    axes = axes_of(axis, a.ndim)
    count = kept(_fold("add", mask, axes, np.dtype(np.int64)), a, axes, keepdims)
    return given(select(u("less_equal", count, less), found.dtype.type(np.nan), found), out)


def nanstd(
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
    """The square root of `nanvar`, with the same arguments.

    >>> weft.nanstd(weft.asarray([1.0, np.nan, 3.0]))
    array(1.)
    """
    found = nanvar(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)
    return given(u("sqrt", found), out)


def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> ndarray:
    """The sums of all elements up to each, NaN counted as 0. Computed at once.

    >>> weft.nancumsum(weft.asarray([1.0, np.nan, 3.0]))
    array([1., 1., 4.])
    """
    return cumsum(_replaced(a, 0), axis, dtype, out)


def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> ndarray:
    """The products of all elements up to each, NaN counted as 1. Computed at once.

    >>> weft.nancumprod(weft.asarray([2.0, np.nan, 3.0]))
    array([2., 2., 6.])
    """
    return cumprod(_replaced(a, 1), axis, dtype, out)


def nanmedian(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> ndarray:
    """The median of the elements that are not NaN, NaN where all are. Computed at once.

    >>> weft.nanmedian(weft.asarray([1.0, np.nan, 3.0]))
    array(2.)
    """
    return statistics.middle("nanmedian", a, axis, out, keepdims)


def nanpercentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> ndarray:
    """What `q` percent of the elements that are not NaN are smaller than. Computed at once; weights are refused.

    >>> weft.nanpercentile(weft.asarray([10.0, np.nan, 4.0]), 50)
    array(7.)
    """
    return statistics.parted("nanpercentile", a, q, axis, out, method, keepdims, weights)


def nanquantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> ndarray:
    """What a part `q` of the elements that are not NaN are smaller than. Computed at once; weights are refused.

    >>> weft.nanquantile(weft.asarray([10.0, np.nan, 4.0]), 0.5)
    array(7.)
    """
    return statistics.parted("nanquantile", a, q, axis, out, method, keepdims, weights)

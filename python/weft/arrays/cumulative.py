"""Sums and products up to each element, differences of neighbours, slopes, areas and interpolation."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from weft._weft import _cast, _fold, _order, _order_of_copy, _reshape, ndarray
from weft.gradients.primitives import primitive
from weft.kernels.launching import fits, launched, on_a_device

from . import _compiled
from ._common import (
    MISSING,
    array_of,
    arrays_of,
    as_dtype,
    axes_of,
    axis_of,
    beside,
    checked_out,
    filled,
    flat,
    given,
    in_order,
    is_inexact,
    lying,
    lying_as_copy,
    operands,
    out_of_order,
    place_in,
    sum_dtype,
    u,
)
from .joining import concatenate
from .shapes import moveaxis, ndim


def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> ndarray:
    """The sums of all elements up to each, along an axis or along the array as one row. Computed at once.

    Small integers are summed in 64 bits if no `dtype` is given.

    >>> weft.cumsum(weft.asarray([1, 2, 3]))
    array([1, 3, 6])
    """
    return accumulated("cumsum", a, axis, dtype, out)


def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> ndarray:
    """The products of all elements up to each, as `cumsum` gives their sums. Computed at once.

    >>> weft.cumprod(weft.asarray([1, 2, 3]))
    array([1, 2, 6])
    """
    return accumulated("cumprod", a, axis, dtype, out)


def accumulated(function: str, a: Any, axis: Any, dtype: Any, out: Any) -> ndarray:
    """A function that gives as many elements along an axis as there are."""
    a = array_of(a)
    checked_out(out)
    if axis is None:
        a, axis = flat(a), 0
    if a.ndim == 0:
        # NumPy takes a number for a row of one.
        axis_of(axis, 1)
        a, axis = _reshape(a, (1,)), 0
    axis = axis_of(axis, a.ndim)
    kind = sum_dtype(a.dtype) if dtype is None else as_dtype(dtype)
    if out is not None and dtype is None and np.can_cast(kind, out.dtype, "same_kind"):
        kind = out.dtype
    order = _order([a])
    found = running(function, in_order(a, order), place_in(order, axis), kind)
    return given(out_of_order(found, order), out, "unsafe")


@primitive(rules="running")
def running(function: str, a: ndarray, axis: int, kind: np.dtype) -> ndarray:
    """What `cumsum` or `cumprod` gives along an axis, of a dtype."""
    if on_a_device(a) and fits(a):
        from weft.kernels.scan import scanned

        return launched(scanned, "add" if function == "cumsum" else "multiply", a, axis, kind)
    a = a if a.dtype == kind else _cast(a, kind)
    words = "" if kind == sum_dtype(kind) else f", {_compiled.literal(kind)}"
    return _compiled.call(f"np.{function}(a, {axis}{words})", a=a)


def cumulative_sum(x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False) -> ndarray:
    """`cumsum`, for arrays of one axis or with `axis`; on demand with a zero in front.

    >>> weft.cumulative_sum(weft.asarray([1, 2, 3]), include_initial=True)
    array([0, 1, 3, 6])
    """
    return _with_initial("cumsum", 0, x, axis, dtype, out, include_initial)


def cumulative_prod(x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False) -> ndarray:
    """`cumprod`, for arrays of one axis or with `axis`; on demand with a one in front.

    >>> weft.cumulative_prod(weft.asarray([1, 2, 3]), include_initial=True)
    array([1, 1, 2, 6])
    """
    return _with_initial("cumprod", 1, x, axis, dtype, out, include_initial)


def _with_initial(function: str, first: int, x: Any, axis: Any, dtype: Any, out: Any, include_initial: bool) -> ndarray:
    x = array_of(x)
    if x.ndim == 0:
        x = _reshape(x, (1,))
    if axis is None:
        if x.ndim != 1:
            raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
        axis = 0
    axis = axis_of(axis, x.ndim)
    found = accumulated(function, x, axis, dtype, None if include_initial else out)
    if not include_initial:
        return found
    start = lying((*x.shape[:axis], 1, *x.shape[axis + 1 :]), _order_of_copy(found), first, found.dtype, found.device)
    return given(concatenate((start, found), axis), out)


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = MISSING, append: Any = MISSING) -> ndarray:
    """The differences of neighbours along an axis, taken `n` times; of the array between `prepend` and `append` where they are given.

    >>> weft.diff(weft.asarray([1, 2, 4, 7]))
    array([1, 2, 3])
    """
    n = operator.index(n)
    a = beside(a, *(each for each in (prepend, append) if isinstance(each, ndarray)))
    if n == 0:
        return a
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    if a.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    axis = axis_of(axis, a.ndim)
    parts = [*_beside(a, prepend, axis), a, *_beside(a, append, axis)]
    found = concatenate(parts, axis) if len(parts) > 1 else a
    op = "not_equal" if found.dtype.kind == "b" else "subtract"
    for _ in range(n):
        found = u(op, _from(found, axis, 1, None), _from(found, axis, None, -1))
    return found


def _beside(a: ndarray, b: Any, axis: int) -> list[ndarray]:
    """What is put before or behind an array: a number fills one place of the axis."""
    if b is MISSING or b is None:
        return []
    b = beside(b, a)
    if b.ndim:
        return [b]
    made = filled((*a.shape[:axis], 1, *a.shape[axis + 1 :]), 0, b.dtype, a)
    made[...] = b
    return [made]


def _from(a: ndarray, axis: int, start: Any, stop: Any) -> ndarray:
    return a[(slice(None),) * axis + (slice(start, stop),)]


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> ndarray:
    """The differences of neighbours in the array as one row, between what `to_begin` and `to_end` put before and behind them.

    >>> weft.ediff1d(weft.asarray([1, 2, 4]), to_begin=-9)
    array([-9,  1,  2])
    """
    row = flat(beside(ary, to_begin, to_end))
    parts = [u("subtract", row[1:], row[:-1])]
    for name, value, place in (("to_begin", to_begin, 0), ("to_end", to_end, None)):
        if value is not None:
            ends = flat(beside(value, row))
            if not np.can_cast(ends.dtype, row.dtype, "same_kind"):
                raise TypeError(f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule.")
            parts.insert(len(parts) if place is None else 0, _cast(ends, row.dtype))
    return concatenate(parts) if len(parts) > 1 else parts[0]


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> ndarray:
    """The area under a line through points, along an axis: they lie at `x` or have the distance `dx`.

    >>> weft.trapezoid(weft.asarray([1, 2, 3]))
    array(4.)
    """
    from .reductions import sum as _sum

    y, given = beside(y, x), axis
    axis = axis_of(axis, y.ndim)
    if x is None:
        steps = dx
    else:
        x = beside(x, y)
        if x.ndim == 1:
            steps = diff(x)
            steps = _reshape(steps, tuple(steps.size if i == axis else 1 for i in range(y.ndim)))
        else:
            steps = diff(x, axis=given)
    both = u("add", _from(y, axis, 1, None), _from(y, axis, None, -1))
    # Where the distances have more axes than the points, a negative axis is counted from the last one.
    return _sum(u("true_divide", u("multiply", *operands(steps, both)), 2.0), given)


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """The slopes of an array along its axes, or along those named: a tuple of arrays, or one array for one axis.

    Behind the array stands the distance of its points, or one distance or row of places for each axis. At the ends the slope is
    that of the first two points, or with `edge_order=2` of a parabola.

    >>> weft.gradient(weft.asarray([1.0, 2.0, 4.0, 7.0]))
    array([1. , 1.5, 2.5, 3. ])
    """
    f = beside(f, *varargs)
    axes = axes_of(axis, f.ndim)
    if len(varargs) == 0:
        spacing: list[Any] = [1.0] * len(axes)
    elif len(varargs) == 1 and ndim(varargs[0]) == 0:
        spacing = list(varargs) * len(axes)
    elif len(varargs) == len(axes):
        spacing = [_spacing(each, f, f.shape[axis]) for each, axis in zip(varargs, axes)]
    else:
        raise TypeError("invalid number of arguments")
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    if not is_inexact(f.dtype):
        f = f if f.dtype.kind == "b" else _cast(f, np.dtype(np.float64))
    found = tuple(_slopes(f, axis, step, edge_order) for axis, step in zip(axes, spacing))
    return found[0] if len(axes) == 1 else found


def _spacing(given: Any, f: ndarray, n: int) -> Any:
    """One distance, or the distances between places, which are read: where all are equal they are one."""
    if ndim(given) == 0:
        return given
    places = beside(given, f)
    if places.ndim != 1:
        raise ValueError("distances must be either scalars or 1d")
    if places.size != n:
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    if places.dtype.kind in "iu":
        places = _cast(places, np.dtype(np.float64))
    steps = diff(places)
    same = _fold("logical_and", u("equal", steps, steps[0]), (0,)) if steps.size else False
    return steps[0] if same else steps


def _slopes(f: ndarray, axis: int, step: Any, edge_order: int) -> ndarray:
    if f.shape[axis] < edge_order + 1:
        raise ValueError("Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are required.")
    made = lying_as_copy(f, f.dtype if is_inexact(f.dtype) else np.dtype(np.float64))
    rows, slopes = moveaxis(f, axis, 0), moveaxis(made, axis, 0)
    if ndim(step) == 0:
        slopes[1:-1] = u("true_divide", u("subtract", rows[2:], rows[:-2]), _times(2.0, step))
        before = behind = step
    else:
        first, second = (_column(each, f.ndim) for each in (step[:-1], step[1:]))
        a = -second / (first * (first + second))
        b = (second - first) / (first * second)
        c = first / (second * (first + second))
        slopes[1:-1] = a * rows[:-2] + b * rows[1:-1] + c * rows[2:]
        before, behind = step[0], step[-1]
    if edge_order == 1:
        slopes[0] = u("true_divide", u("subtract", rows[1], rows[0]), before)
        slopes[-1] = u("true_divide", u("subtract", rows[-1], rows[-2]), behind)
        return made
    next_, last = (step, step) if ndim(step) == 0 else (step[1], step[-2])
    if ndim(step) == 0:
        start = (-1.5 / step, 2.0 / step, -0.5 / step)
        end = (0.5 / step, -2.0 / step, 1.5 / step)
    else:
        start = (
            -(2.0 * before + next_) / (before * (before + next_)),
            (before + next_) / (before * next_),
            -before / (next_ * (before + next_)),
        )
        end = (behind / (last * (last + behind)), -(behind + last) / (last * behind), (2.0 * behind + last) / (behind * (last + behind)))
    slopes[0] = start[0] * rows[0] + start[1] * rows[1] + start[2] * rows[2]
    slopes[-1] = end[0] * rows[-3] + end[1] * rows[-2] + end[2] * rows[-1]
    return made


def _times(x: float, y: Any) -> Any:
    return u("multiply", x, y) if isinstance(y, ndarray) else x * y


def _column(x: ndarray, rank: int) -> ndarray:
    return x[(slice(None),) + (None,) * (rank - 1)]


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> ndarray:
    """The height at `x` of the line through the points `xp`, which grow, and `fp`. Computed at once.

    Before and behind them it is that of the first and the last, or `left` and `right`. With a `period` the points repeat.

    >>> weft.interp(2.5, [1, 2, 3], [3, 2, 0])
    array(1.)
    """
    x, xp, fp = (_wide(each) for each in arrays_of(x, xp, fp))
    if any(each.dtype.kind == "c" for each in (x, xp)):
        raise TypeError("Cannot cast array data from dtype('complex128') to dtype('float64') according to the rule 'safe'")
    if period is not None:
        if period == 0:
            raise ValueError("period must be a non-zero value")
        left = right = None
    if xp.ndim != 1 or fp.ndim != 1:
        raise ValueError("Data points must be 1-D sequences" if period is not None else "object too deep for desired array")
    if xp.size != fp.size:
        raise ValueError("fp and xp are not of the same length")
    if xp.size == 0:
        raise ValueError("array of sample points is empty")
    ends = {name: _end(value, fp) for name, value in (("left", left), ("right", right)) if value is not None}
    if period is not None:
        ends["period"] = float(period)
    return _reshape(heights(flat(x), xp, fp, **ends), x.shape)


@primitive(rules="statistics")
def heights(x: ndarray, xp: ndarray, fp: ndarray, **ends: Any) -> ndarray:
    """What `interp` gives at a row of places; `ends` are its other arguments, as far as there are any."""
    if on_a_device(x) and fits(x, xp):
        from weft.kernels.interpolation import heights

        return launched(heights, x, xp, fp, *(ends.get(name) for name in ("left", "right", "period")))
    words = "".join(f", {name}={name}" for name in ends)
    return _compiled.call(f"np.interp(x, xp, fp{words})", x=x, xp=xp, fp=fp, **ends)


def _wide(x: ndarray) -> ndarray:
    """Interpolation is in 64 bits."""
    return _cast(x, np.dtype(np.complex128 if x.dtype.kind == "c" else np.float64))


def _end(value: Any, fp: ndarray) -> Any:
    return complex(value) if fp.dtype.kind == "c" else float(value)

"""Rows of numbers at equal distances."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from weft._weft import _cast, _fold, _full, _iota, _to_numpy, ndarray
from weft.gradients.primitives import unseen

from ._common import array_of, arrays_of, as_device, as_dtype, beside, place_of, real_dtype, refuse, result_dtype, select, u
from .shapes import expand_dims, moveaxis


def arange(start: Any, /, stop: Any = None, step: Any = 1, dtype: Any = None, *, device: Any = None) -> ndarray:
    """The numbers from `start` (0 if it is the only one) up to `stop` in steps; `stop` itself is not among them.

    The dtype is int64 for integers and float64 for others, if none is given.

    >>> weft.arange(2, 10, 3)
    array([2, 5, 8])
    """
    start, stop, step = (_number(x) for x in ((0, start, step) if stop is None else (start, stop, step)))
    step = 1 if step is None else step
    if step == 0:
        raise ZeroDivisionError("division by zero")
    found = np.result_type(np.int64, *(np.asarray(x).dtype for x in (start, stop, step))) if dtype is None else as_dtype(dtype)
    if any(isinstance(x, (complex, np.complexfloating)) for x in (start, stop, step)):
        raise refuse("arange", "ranges are of real numbers")
    n = _length(start, stop, step)
    if n >= 2**63:
        raise ValueError("Maximum allowed size exceeded")
    found = as_dtype(found)
    if found.kind == "b":
        if n > 2:
            raise TypeError("no fill-function for data-type.")
        ends = [bool(start), bool(start + step)][:n]
        return array_of(np.array(ends, bool), device=as_device(device))
    if found.kind == "c":
        return _cast(arange(start, stop, step, real_dtype(found), device=device), found)
    # As in NumPy, the first two numbers are converted, and their difference is the step.
    with np.errstate(all="ignore"):
        # Of the second nobody asks where there is one number, and of neither where there is none.
        first = _converted(start, found) if n else found.type(0)
        second = _converted(start + step, found) if n > 1 else first
        wide = np.float32 if found.itemsize == 2 and found.kind not in "iu" else found.type
        delta = int(second) - int(first) if found.kind in "iu" else wide(second) - wide(first)
        if n < 2:
            # Not even the start would be left of an infinite step.
            delta = delta if isinstance(delta, int) else wide(0)
    if not isinstance(delta, int) and not np.isfinite(delta):
        return _leaps(n, first, second, delta, found, as_device(device))
    return _iota(n, first.item(), delta if isinstance(delta, int) else delta.item(), found, as_device(device))


def _leaps(n: int, first: Any, second: Any, delta: Any, dtype: np.dtype, device: Any) -> ndarray:
    """Numbers whose step their floats do not hold: the first two are as they are, the others infinite or NaN."""
    with np.errstate(all="ignore"):
        made = _full((n,), dtype.type(first + delta), dtype, device)
    for i, x in enumerate((first, second)[:n]):
        made[i] = x
    return made


def _number(x: Any) -> Any:
    if isinstance(x, ndarray):
        x = _to_numpy(x)
    return x[()] if isinstance(x, np.ndarray) and x.ndim == 0 else x


def _converted(x: Any, dtype: np.dtype) -> Any:
    """A number as one of a dtype. As in NumPy, OverflowError if integers do not hold it; what is behind the point is left out."""
    if dtype.kind in "iu":
        return np.asarray(int(x), dtype)[()]
    return np.asarray(x).astype(dtype)[()]


def _length(start: Any, stop: Any, step: Any) -> int:
    """How many numbers there are."""
    if all(isinstance(x, (int, np.integer)) for x in (start, stop, step)):
        return max(0, -((int(start) - int(stop)) // int(step)))
    steps = (stop - start) / step
    if not math.isfinite(steps):
        if math.isnan(steps):
            raise ValueError("arange: cannot compute length")
        if steps > 0:
            raise ValueError("Maximum allowed size exceeded")
    if steps == 0 and start != stop:
        # A step that is too large for the quotient to be a number: the start is there, if the step leads to the stop.
        return 0 if math.copysign(1, steps) < 0 else 1
    return max(0, math.ceil(steps)) if math.isfinite(steps) else 0


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """Numbers at equal distances from `start` to `stop`, which is the last one unless `endpoint=False`.

    The dtype is a float if none is given; with one of integers the numbers are rounded down. Between arrays the numbers lie along
    `axis`. `retstep=True` gives the distance, too. A negative `num` is a ValueError.

    >>> weft.linspace(0, 1, 5)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    num = operator.index(num)
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    div = num - 1 if endpoint else num
    place = as_device(device) or place_of(start, stop)
    start, stop = _end(start, place), _end(stop, place)
    found = result_dtype(start, stop, 1.0)
    wanted = found if dtype is None else as_dtype(dtype)
    if isinstance(start, ndarray) or isinstance(stop, ndarray):
        y, step = _between_arrays(start, stop, num, div, endpoint, found)
    else:
        y, step = _between_numbers(start, stop, num, div, endpoint, found, place)
    if axis != 0:
        y = moveaxis(y, 0, axis)
    if wanted.kind in "iu":
        y = u("floor", y)
    y = y if wanted == y.dtype else _cast(y, wanted)
    return (y, step) if retstep else y


def _end(x: Any, place: Any) -> Any:
    """A bound: an array, or a number, which is NumPy's unless it is Python's."""
    if isinstance(x, ndarray) or type(x) in (bool, int, float, complex):
        return x
    given = np.asarray(x)
    return array_of(given, device=place) if given.ndim else given[()]


def _between_numbers(start: Any, stop: Any, num: int, div: int, endpoint: bool, dtype: np.dtype, device: Any) -> tuple[ndarray, Any]:
    with np.errstate(all="ignore"):
        delta = np.subtract(stop, start, dtype=dtype)
        step = delta / div if div > 0 else math.nan
    y, last = _places(num, dtype, device)
    if div <= 0:
        y = u("multiply", y, delta)
    elif step == 0:
        # A step too small to be a number is divided last.
        y = u("multiply", u("true_divide", y, dtype.type(div)), delta)
    else:
        y = u("multiply", y, step)
    y = u("add", y, dtype.type(start))
    return (select(last, dtype.type(stop), y) if endpoint and num > 1 else y), step


def _between_arrays(start: Any, stop: Any, num: int, div: int, endpoint: bool, dtype: np.dtype) -> tuple[ndarray, Any]:
    delta = u("subtract", stop, start, dtype=dtype)
    y, last = _places(num, dtype, delta.device)
    apart = (slice(None),) + (None,) * delta.ndim
    y, last = y[apart], last[apart]
    if div > 0:
        step = u("true_divide", delta, dtype.type(div))
        scaled = u("multiply", u("true_divide", y, dtype.type(div)), delta)
        # As in NumPy, all are scaled so where one step is too small to be a number.
        some = _fold("logical_or", u("equal", step, dtype.type(0)), tuple(range(step.ndim)))
        y = select(some, scaled, u("multiply", y, step))
    else:
        step = math.nan
        y = u("multiply", y, delta)
    y = u("add", y, start)
    return (select(last, _cast(beside(stop, delta), dtype), y) if endpoint and num > 1 else y), step


def _places(num: int, dtype: np.dtype, device: Any) -> tuple[ndarray, ndarray]:
    """The numbers 0, 1, 2, … of a dtype, and which of them is the last."""
    place = _iota(num, 0, 1, real_dtype(dtype), device)
    return (_cast(place, dtype) if dtype.kind == "c" else place), u("equal", place, place.dtype.type(num - 1))


def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0, *, device: Any = None
) -> ndarray:
    """Numbers whose logarithms are at equal distances, from `base**start` to `base**stop`. Several bases lie as several starts do.

    >>> weft.logspace(0, 2, 3)
    array([  1.,  10., 100.])
    """
    if getattr(base, "ndim", 0) or isinstance(base, (list, tuple)):
        ends = arrays_of(start, stop, base)
        rank = max(each.ndim for each in ends)
        start, stop, base = (each[(None,) * (rank - each.ndim) + (Ellipsis,)] for each in ends)
        base = expand_dims(base, axis)
    powers = linspace(start, stop, num, endpoint, axis=axis, device=device)
    y = u("power", base, powers)
    return y if dtype is None else _cast(y, as_dtype(dtype))


def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0, *, device: Any = None
) -> ndarray:
    """Numbers each of which is so many times the one before, from `start` to `stop`. A zero is a ValueError.

    >>> weft.geomspace(1, 8, 4)
    array([1., 2., 4., 8.])
    """
    place = as_device(device) or place_of(start, stop)
    first, last = (array_of(each, device=place) for each in (start, stop))
    for end in (first, last):
        if not np.all(unseen(_to_numpy, end)):
            raise ValueError("Geometric sequence cannot include zero")
    # As in NumPy, float64 is among the dtypes that meet where none is given.
    found = result_dtype(first, last, float(num), as_dtype(float if dtype is None else dtype))
    wanted = found if dtype is None else as_dtype(dtype)
    first, last = _cast(first, found), _cast(last, found)
    # All is turned towards positive numbers, and back.
    turn = u("sign", first)
    first, last = u("true_divide", first, turn), u("true_divide", last, turn)
    powers = linspace(u("log10", first), u("log10", last), num, endpoint)
    y = _cast(u("power", 10.0, powers), found)
    if num > 0:
        y[0] = first
        if num > 1 and endpoint:
            y[-1] = last
    y = u("multiply", y, turn)
    if axis != 0:
        y = moveaxis(y, 0, axis)
    return y if wanted == y.dtype else _cast(y, wanted)

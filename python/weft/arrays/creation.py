"""Arrays made of numbers, ranges and other things: what needs no array, and what takes the shape of one."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from weft._weft import _assign, _cast, _fold, _from_numpy, _full, _iota, _permute, _to_numpy, ndarray

from ._common import (
    array_of,
    as_device,
    as_dtype,
    check_order,
    flat,
    ordered,
    real_dtype,
    refuse,
    result_dtype,
    select,
    shape_of,
    stretched,
    u,
)


def _made(shape: Any, value: Any, dtype: Any, order: Any, device: Any) -> ndarray:
    """A new array of one number."""
    shape, turned = ordered(shape_of(shape), order)
    made = _full(shape, value, as_dtype(dtype), as_device(device))
    return _permute(made, tuple(reversed(range(len(shape))))) if turned else made


def zeros(shape: Any, dtype: Any = float, order: str = "C", *, device: Any = None) -> ndarray:
    """An array of zeros.

    `shape` is a number or a tuple of them, `dtype` float64 by default, `device` a device or its name. Negative lengths are a
    ValueError.

    >>> weft.zeros((2, 3), dtype=weft.int8)
    array([[0, 0, 0],
           [0, 0, 0]], dtype=int8)
    """
    return _made(shape, 0, float if dtype is None else dtype, order, device)


def ones(shape: Any, dtype: Any = float, order: str = "C", *, device: Any = None) -> ndarray:
    """An array of ones, as `zeros` is one of zeros.

    >>> weft.ones(3)
    array([1., 1., 1.])
    """
    return _made(shape, 1, float if dtype is None else dtype, order, device)


def empty(shape: Any, dtype: Any = float, order: str = "C", *, device: Any = None) -> ndarray:
    """An array whose elements are not said: here zeros, which cost nothing where they are written over.

    >>> weft.empty((2, 0)).shape
    (2, 0)
    """
    return _made(shape, 0, float if dtype is None else dtype, order, device)


def full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", *, device: Any = None) -> ndarray:
    """An array of one number, or of an array that is broadcast to the shape; of its dtype if none is given.

    >>> weft.full((2, 2), 7)
    array([[7, 7],
           [7, 7]])
    """
    if isinstance(fill_value, (bool, int, float, complex)):
        found = np.asarray(fill_value).dtype if dtype is None else as_dtype(dtype)
        if found.kind in "iu" and type(fill_value) is not int:
            fill_value = int(np.asarray(fill_value).astype(found))
        return _made(shape, fill_value, found, order, device)
    value = array_of(fill_value)
    made = _made(shape, 0, value.dtype if dtype is None else dtype, order, device)
    _assign(made, value)
    return made


def _like(a: Any, value: Any, dtype: Any, order: Any, shape: Any, device: Any) -> ndarray:
    check_order("…_like", order)
    a = array_of(a)
    found = a.dtype if dtype is None else as_dtype(dtype)
    return full(a.shape if shape is None else shape, value, found, device=a.device if device is None else device)


def zeros_like(a: Any, dtype: Any = None, order: str = "K", *, shape: Any = None, device: Any = None) -> ndarray:
    """Zeros in the shape of an array, of its dtype and on its device if no others are given.

    >>> weft.zeros_like(weft.asarray([1, 2]), dtype=weft.float32)
    array([0., 0.], dtype=float32)
    """
    return _like(a, 0, dtype, order, shape, device)


def ones_like(a: Any, dtype: Any = None, order: str = "K", *, shape: Any = None, device: Any = None) -> ndarray:
    """Ones in the shape of an array, of its dtype and on its device if no others are given.

    >>> weft.ones_like(weft.asarray([5, 6]))
    array([1, 1])
    """
    return _like(a, 1, dtype, order, shape, device)


def empty_like(a: Any, dtype: Any = None, order: str = "K", *, shape: Any = None, device: Any = None) -> ndarray:
    """An array in the shape of another, whose elements are not said.

    >>> weft.empty_like(weft.asarray([1, 2]), shape=(3, 1)).shape
    (3, 1)
    """
    return _like(a, 0, dtype, order, shape, device)


def full_like(a: Any, fill_value: Any, dtype: Any = None, order: str = "K", *, shape: Any = None, device: Any = None) -> ndarray:
    """One number in the shape of an array, of its dtype and on its device if no others are given.

    >>> weft.full_like(weft.asarray([1, 2]), 9)
    array([9, 9])
    """
    return _like(a, fill_value, dtype, order, shape, device)


def array(object: Any, dtype: Any = None, *, copy: bool | None = True, order: str = "K", ndmin: int = 0, device: Any = None) -> ndarray:
    """An array of numbers, nested sequences, NumPy's arrays or weft arrays; a new one unless `copy` is None or False.

    `ndmin` puts axes of length one in front until there are so many. `copy=False` is a ValueError where a copy is needed.

    >>> weft.array([1, 2], dtype=weft.float32, ndmin=2)
    array([[1., 2.]], dtype=float32)
    """
    made = asarray(object, dtype, order if order != "K" else None, device=device, copy=copy)
    return made[(None,) * (ndmin - made.ndim) + (Ellipsis,)] if made.ndim < ndmin else made


def asarray(a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: bool | None = None) -> ndarray:
    """An array of what is given: itself if it is one of that dtype on that device, else a new one.

    `copy=True` copies always; `copy=False` raises ValueError where a copy is needed, which it is for all but weft arrays.

    >>> weft.asarray([[1, 2], [3, 4]], dtype=weft.uint8)
    array([[1, 2],
           [3, 4]], dtype=uint8)
    """
    check_order("asarray", order)
    found = None if dtype is None else as_dtype(dtype)
    place = as_device(device)
    if not isinstance(a, ndarray):
        if copy is False:
            raise ValueError(_COPY_NEEDED)
        if hasattr(a, "__dlpack__") and not isinstance(a, (np.ndarray, np.generic)) and not hasattr(a, "__array__"):
            a = from_dlpack(a)
            return asarray(a, found, device=place)
        return array_of(a, found, place)
    if (found is None or found == a.dtype) and (place is None or place.name == a.device.name):
        return _cast(a, a.dtype) if copy else a
    if copy is False:
        raise ValueError(_COPY_NEEDED)
    moved = a if place is None or place.name == a.device.name else _from_numpy(_to_numpy(a), place)
    return moved if found is None or found == a.dtype else _cast(moved, found)


_COPY_NEEDED = (
    "Unable to avoid copy while creating an array as requested.\n"
    "If using `np.array(obj, copy=False)` replace it with `np.asarray(obj)` to allow a copy when needed (no behavior change in NumPy 1.x)."
)


def asanyarray(a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: bool | None = None) -> ndarray:
    """`asarray`: weft arrays have no subclasses.

    >>> weft.asanyarray((1.5, 2))
    array([1.5, 2. ])
    """
    return asarray(a, dtype, order, device=device, copy=copy)


def ascontiguousarray(a: Any, dtype: Any = None) -> ndarray:
    """The array itself if its elements follow each other in C's order, else a copy in which they do; of one axis at least.

    >>> weft.ascontiguousarray(weft.asarray([[1, 2], [3, 4]]).T).strides
    (16, 8)
    """
    a = asarray(a, dtype)
    a = a if a.ndim else a[None]
    step, follows = a.itemsize, True
    for n, stride in zip(reversed(a.shape), reversed(a.strides)):
        follows = follows and (n == 1 or stride == step)
        step *= n
    if follows or not a.size:
        return a
    made = _full(a.shape, 0, a.dtype, a.device)
    _assign(made, a)
    return made


def copy(a: Any, order: str = "K") -> ndarray:
    """A copy with memory of its own.

    >>> weft.copy(weft.asarray([1, 2]))
    array([1, 2])
    """
    check_order("copy", order)
    a = array_of(a)
    return _cast(a, a.dtype)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> ndarray:
    """An array with the elements of an object that has `__dlpack__`: a weft array itself, a copy of any other.

    `copy=False` is a ValueError for those.

    >>> weft.from_dlpack(np.arange(3))
    array([0, 1, 2])
    """
    if isinstance(x, ndarray):
        return asarray(x, device=device, copy=copy)
    if not hasattr(x, "__dlpack__"):
        raise AttributeError(f"'{type(x).__name__}' object has no attribute '__dlpack__'")
    if copy is False:
        raise ValueError(_COPY_NEEDED)
    return array_of(np.from_dlpack(x), device=as_device(device))


def fromfunction(function: Any, shape: Any, *, dtype: Any = float, **kwargs: Any) -> Any:
    """What a function gives for the arrays of indices of a shape.

    >>> weft.fromfunction(lambda i, j: i + j, (2, 2), dtype=int)
    array([[0, 1],
           [1, 2]])
    """
    return function(*indices(shape_of(shape), dtype=dtype), **kwargs)


def fromiter(iter: Any, dtype: Any, count: int = -1) -> ndarray:
    """An array of the numbers that an iterator gives: of all, or of the first `count`.

    >>> weft.fromiter((x * x for x in range(3)), int)
    array([0, 1, 4])
    """
    return _from_numpy(np.fromiter(iter, as_dtype(dtype), count))


def frombuffer(buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0) -> ndarray:
    """A copy of the numbers in an object's memory.

    >>> weft.frombuffer(b"\\x01\\x02", dtype=weft.uint8)
    array([1, 2], dtype=uint8)
    """
    return _from_numpy(np.frombuffer(buffer, as_dtype(dtype), count, offset))


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
    if found.kind == "b" and n > 2:
        raise TypeError("no fill-function for data-type.")
    if found.kind == "c":
        return _cast(arange(start, stop, step, real_dtype(found), device=device), found)
    # As in NumPy, the first two numbers are converted, and their difference is the step.
    with np.errstate(all="ignore"):
        first, second = _converted(start, found), _converted(start + step, found)
        wide = np.float32 if found.itemsize == 2 and found.kind not in "iu" else found.type
        delta = int(second) - int(first) if found.kind in "iub" else wide(second) - wide(first)
    return _iota(n, first.item(), delta if isinstance(delta, int) else delta.item(), found, as_device(device))


def _number(x: Any) -> Any:
    if isinstance(x, ndarray):
        x = _to_numpy(x)
    return x[()] if isinstance(x, np.ndarray) and x.ndim == 0 else x


def _converted(x: Any, dtype: np.dtype) -> Any:
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
    start, stop = _end(start), _end(stop)
    found = result_dtype(start, stop, 1.0)
    wanted = found if dtype is None else as_dtype(dtype)
    if isinstance(start, ndarray) or isinstance(stop, ndarray):
        y, step = _between_arrays(start, stop, num, div, endpoint, found)
    else:
        y, step = _between_numbers(start, stop, num, div, endpoint, found, as_device(device))
    if axis != 0:
        from .shapes import moveaxis

        y = moveaxis(y, 0, axis)
    if wanted.kind in "iu":
        y = u("floor", y)
    y = y if wanted == y.dtype else _cast(y, wanted)
    return (y, step) if retstep else y


def _end(x: Any) -> Any:
    """A bound: an array, or a number, which is NumPy's unless it is Python's."""
    if isinstance(x, ndarray) or type(x) in (bool, int, float, complex):
        return x
    given = np.asarray(x)
    return array_of(given) if given.ndim else given[()]


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
    return (select(last, _cast(array_of(stop), dtype), y) if endpoint and num > 1 else y), step


def _places(num: int, dtype: np.dtype, device: Any) -> tuple[ndarray, ndarray]:
    """The numbers 0, 1, 2, … of a dtype, and which of them is the last."""
    place = _iota(num, 0, 1, real_dtype(dtype), device)
    return (_cast(place, dtype) if dtype.kind == "c" else place), u("equal", place, place.dtype.type(num - 1))


def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0, *, device: Any = None
) -> ndarray:
    """Numbers whose logarithms are at equal distances, from `base**start` to `base**stop`.

    >>> weft.logspace(0, 2, 3)
    array([  1.,  10., 100.])
    """
    if getattr(base, "ndim", 0) or isinstance(base, (list, tuple)):
        raise refuse("logspace", "the base is one number")
    powers = linspace(start, stop, num, endpoint, axis=axis, device=device)
    y = u("power", base, powers)
    return y if dtype is None else _cast(y, as_dtype(dtype))


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = float, order: str = "C", *, device: Any = None) -> ndarray:
    """A matrix with ones along a diagonal, the one that starts `k` places to the right, and zeros elsewhere.

    >>> weft.eye(2, 3, 1)
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    if order == "F":
        return eye(operator.index(N if M is None else M), N, -k, dtype, device=device).T
    check_order("eye", order, "C")
    rows, columns = _grid(N, N if M is None else M, device)
    return _cast(u("equal", u("add", rows, operator.index(k)), columns), as_dtype(float if dtype is None else dtype))


def identity(n: int, dtype: Any = None, *, device: Any = None) -> ndarray:
    """A square matrix with ones along its diagonal.

    >>> weft.identity(2)
    array([[1., 0.],
           [0., 1.]])
    """
    return eye(n, dtype=float if dtype is None else dtype, device=device)


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = float, *, device: Any = None) -> ndarray:
    """A matrix of ones at and below a diagonal, and zeros above.

    >>> weft.tri(2, 3, dtype=int)
    array([[1, 0, 0],
           [1, 1, 0]])
    """
    rows, columns = _grid(N, N if M is None else M, device)
    return _cast(u("greater_equal", u("add", rows, operator.index(k)), columns), as_dtype(dtype))


def _grid(n: int, m: int, device: Any) -> tuple[ndarray, ndarray]:
    """The numbers of rows as a column, and those of columns as a row."""
    n, m = max(operator.index(n), 0), max(operator.index(m), 0)
    place = as_device(device)
    return _iota(n, 0, 1, np.dtype(np.int64), place)[:, None], _iota(m, 0, 1, np.dtype(np.int64), place)


def indices(dimensions: Any, dtype: Any = int, sparse: bool = False, *, device: Any = None) -> Any:
    """The indices of every element of a shape: one array for each axis, joined along a new first axis; with `sparse=True` a tuple of
    arrays that broadcast.

    >>> weft.indices((2, 2))
    array([[[0, 0],
            [1, 1]],
    <BLANKLINE>
           [[0, 1],
            [0, 1]]])
    """
    shape = shape_of(dimensions)
    found, place = as_dtype(dtype), as_device(device)
    open_grid = tuple(
        _iota(n, 0, 1, found, place)[tuple(slice(None) if i == axis else None for i in range(len(shape)))] for axis, n in enumerate(shape)
    )
    if sparse:
        return open_grid
    made = _full((len(shape), *shape), 0, found, place)
    for axis, row in enumerate(open_grid):
        made[axis] = row
    return made


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[ndarray, ...]:
    """The coordinates of a grid: an array for each row of numbers, all in the shape of the grid, or with `sparse=True` in shapes that
    broadcast to it.

    `indexing="xy"` takes the first two in exchange, as plots do. `copy=False` gives read-only views of the rows.

    >>> weft.meshgrid(weft.arange(3), weft.arange(2))
    (array([[0, 1, 2],
           [0, 1, 2]]), array([[0, 0, 0],
           [1, 1, 1]]))
    """
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    rows = [array_of(x) for x in xi]
    rank = len(rows)
    places = list(range(rank))
    if indexing == "xy" and rank > 1:
        places[0], places[1] = 1, 0
    shape = [0] * rank
    for row, place in zip(rows, places):
        shape[place] = row.size
    found = []
    for row, place in zip(rows, places):
        line = (row if row.ndim == 1 else flat(row))[tuple(slice(None) if i == place else None for i in range(rank))]
        wide = line if sparse else stretched(line, tuple(shape))
        found.append(_cast(wide, wide.dtype) if copy else wide)
    return tuple(found)

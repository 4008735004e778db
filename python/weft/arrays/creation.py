"""Arrays made of numbers, ranges and other things: what needs no array, and what takes the shape of one."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from weft._weft import DeviceArray, _assign, _cast, _from_numpy, _full, _iota, _order_of_copy, _permute, _to_device, ndarray

from ._common import (
    Order,
    array_of,
    arrays_of,
    as_device,
    as_dtype,
    beside,
    check_order,
    copied,
    counting_dtype,
    flat,
    lies_in,
    lying,
    number_as,
    ordered,
    out_of_order,
    place_of,
    shape_of,
    stretched,
    turned_if_fortran,
    u,
)
from .interop import from_device, is_foreign_half, refuse_negated


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
        fill_value = number_as(fill_value, found)
        return _made(shape, fill_value, found, order, device)
    device = as_device(device)
    value = array_of(fill_value, device=device)
    device = device or (value.device if value.ndim else None)
    made = _made(shape, 0, value.dtype if dtype is None else dtype, order, device)
    _assign(made, value)
    return made


def _like(a: Any, value: Any, dtype: Any, order: Any, shape: Any, device: Any) -> ndarray:
    check_order("…_like", order, "CFAK")
    a = beside(a, value)
    found = a.dtype if dtype is None else as_dtype(dtype)
    size = a.shape if shape is None else shape_of(shape)
    place = a.device if device is None else as_device(device)
    axes = _order_like(a, len(size), order)
    if axes is None:
        return full(size, value, found, device=place)
    if isinstance(value, (bool, int, float, complex)):
        return out_of_order(full(tuple(size[axis] for axis in axes), value, found, device=place), axes)
    made = lying(size, axes, 0, found, place)
    _assign(made, array_of(value, device=place))
    return made


def _order_like(a: ndarray, rank: int, order: Any) -> Order:
    """The order of an array that is made in the likeness of another one."""
    if order == "C" or (order == "A" and turned_if_fortran(a) is None) or (order in ("K", None) and rank != a.ndim):
        return None
    return tuple(reversed(range(rank))) if order in ("F", "A") else _order_of_copy(a)


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


def empty_like(prototype: Any, dtype: Any = None, order: str = "K", *, shape: Any = None, device: Any = None) -> ndarray:
    """An array in the shape of another, whose elements are not said.

    >>> weft.empty_like(weft.asarray([1, 2]), shape=(3, 1)).shape
    (3, 1)
    """
    return _like(prototype, 0, dtype, order, shape, device)


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
    made = asarray(object, dtype, order, device=device, copy=copy)
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
        if isinstance(a, DeviceArray) or hasattr(a, "__cuda_array_interface__"):
            return asarray(from_device(a), found, order, device=place)
        if hasattr(a, "__dlpack__") and not isinstance(a, (np.ndarray, np.generic)) and (not hasattr(a, "__array__") or is_foreign_half(a)):
            a = from_dlpack(a)
            return asarray(a, found, order, device=place)
        return _in_order(array_of(a, found, place), order)
    if (found is None or found == a.dtype) and (place is None or place.name == a.device.name) and (copy or lies_in(a, order)):
        return copied(a, a.dtype, order) if copy else a
    if copy is False:
        raise ValueError(_COPY_NEEDED)
    moved = a if place is None or place.name == a.device.name else _to_device(a, place)
    return _in_order(moved, order) if found is None or found == a.dtype else copied(moved, found, order)


def asarrays(*xs: Any) -> tuple[ndarray, ...]:
    """What `asarray` gives of several arguments: those that are no arrays become new ones on the device of those that are."""
    place = place_of(*xs)
    return tuple(x if isinstance(x, ndarray) else asarray(x, device=place) for x in xs)


def _in_order(made: ndarray, order: str | None) -> ndarray:
    """A new array, in the order that is asked for."""
    return made if lies_in(made, order) else copied(made, made.dtype, order)


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
    a = asarray(a, dtype, "C")
    return a if a.ndim else a[None]


def asfortranarray(a: Any, dtype: Any = None) -> ndarray:
    """The array itself if its elements follow each other in Fortran's order, the first axis first, else a copy in which they do.

    >>> weft.asfortranarray(weft.asarray([[1, 2], [3, 4]])).strides
    (8, 16)
    """
    a = asarray(a, dtype, "F")
    return a if a.ndim else a[None]


def copy(a: Any, order: str = "K") -> ndarray:
    """A copy with memory of its own.

    >>> weft.copy(weft.asarray([1, 2]))
    array([1, 2])
    """
    check_order("copy", order)
    a = array_of(a)
    return copied(a, a.dtype, order)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> ndarray:
    """An array with the elements of an object that has `__dlpack__`: a weft array itself, a copy of any other, on its device.

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
    if x.__dlpack_device__()[0] in _ON_CUDA or is_foreign_half(x):
        return asarray(from_device(x), device=device)
    refuse_negated(x)
    return array_of(np.from_dlpack(x), device=as_device(device))


# Kinds of devices in DLPack: CUDA's memory, and what it manages.
_ON_CUDA = (2, 13)


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
    return _cast(u("equal", u("add", rows, within(k, rows.size, columns.size)), columns), as_dtype(float if dtype is None else dtype))


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
    return _cast(u("greater_equal", u("add", rows, within(k, rows.size, columns.size)), columns), as_dtype(dtype))


def within(k: Any, rows: int, columns: int) -> int:
    """The number of a diagonal, or of the nearest one that has no elements."""
    return max(-rows, min(operator.index(k), columns))


def _grid(n: int, m: int, device: Any) -> tuple[ndarray, ndarray]:
    """The numbers of rows as a column, and those of columns as a row."""
    n, m = max(operator.index(n), 0), max(operator.index(m), 0)
    place = as_device(device)
    dtype = counting_dtype(place)
    return _iota(n, 0, 1, dtype, place)[:, None], _iota(m, 0, 1, dtype, place)


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
    rows = arrays_of(*xi)
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
        found.append(_cast(wide, wide.dtype, True) if copy else wide)
    return tuple(found)

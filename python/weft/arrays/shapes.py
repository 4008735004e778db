"""Other shapes of the same elements: views where NumPy has views."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from weft._weft import _broadcast, _cast, _full, _permute, _reshape, _strided, _to_numpy, ndarray

from ._common import (
    Shape,
    array_of,
    arrays_of,
    axes_of,
    axis_of,
    broadcast_shape,
    check_order,
    flat,
    in_c_order,
    length_of,
    lying_as_copy,
    row_of_number,
    shape_of,
)


def shape(a: Any) -> Shape:
    """The lengths of an array's axes.

    >>> weft.shape([[1, 2, 3]])
    (1, 3)
    """
    return a.shape if hasattr(a, "shape") else array_of(a).shape


def ndim(a: Any) -> int:
    """How many axes an array has.

    >>> weft.ndim([[1, 2, 3]])
    2
    """
    return len(shape(a))


def size(a: Any, axis: Any = None) -> int:
    """How many elements an array has, or how long an axis is, or several together.

    >>> weft.size([[1, 2, 3]], axis=1)
    3
    """
    lengths = shape(a)
    found = 1
    for i in axes_of(axis, len(lengths)):
        found *= lengths[i]
    return found


def reshape(a: Any, /, shape: Any, order: str = "C", *, copy: bool | None = None) -> ndarray:
    """The elements in another shape, one of whose lengths may be -1: it follows from the others.

    A view where NumPy makes one, else a copy. `copy=True` copies always, `copy=False` is a ValueError where a view is not possible.
    `order="F"` reads and writes the elements with the first axis changing fastest.

    >>> weft.reshape(weft.arange(6), (3, -1))
    array([[0, 1],
           [2, 3],
           [4, 5]])
    """
    a = array_of(a)
    wanted = _whole_shape(a, shape)
    if order == "F":
        turned = _permute(a, tuple(reversed(range(a.ndim))))
        found = reshape(turned, wanted[::-1], copy=copy)
        return _permute(found, tuple(reversed(range(len(wanted)))))
    check_order("reshape", order, "CA")
    if copy:
        return _reshape(_cast(a, a.dtype), wanted)
    if copy is False and not _is_view(a, wanted):
        raise ValueError("Unable to avoid creating a copy while reshaping.")
    return _reshape(a, wanted)


def _whole_shape(a: ndarray, shape: Any) -> Shape:
    """A shape of an array's elements, with what -1 stands for."""
    if isinstance(shape, ndarray):
        shape = _to_numpy(shape)
    several = isinstance(shape, Iterable) and getattr(shape, "ndim", 1)
    given = tuple(length_of(n) for n in shape) if several else (length_of(shape),)
    unknown = [i for i, n in enumerate(given) if n < 0]
    if len(unknown) > 1:
        raise ValueError("can only specify one unknown dimension")
    known = 1
    for n in given:
        known *= n if n >= 0 else 1
    if (unknown and (known == 0 or a.size % known)) or (not unknown and known != a.size):
        raise ValueError(f"cannot reshape array of size {a.size} into shape {str(given).replace(' ', '')}")
    return tuple(n if n >= 0 else a.size // known for n in given)


def _is_view(a: ndarray, wanted: Shape) -> bool:
    """Whether a view in another shape is possible: NumPy says so of an array of the same strides."""
    if not a.size:
        return True
    like = np.lib.stride_tricks.as_strided(np.empty(1, np.int8), a.shape, a.strides, writeable=False)
    view = like.view()
    try:
        view.shape = wanted
    except AttributeError:
        return False
    return True


def ravel(a: Any, order: str = "C") -> ndarray:
    """The elements as one row: a view where they follow each other in memory, else a copy.

    >>> weft.ravel(weft.asarray([[1, 2], [3, 4]]))
    array([1, 2, 3, 4])
    """
    a = array_of(a)
    if order == "F":
        a = _permute(a, tuple(reversed(range(a.ndim))))
    else:
        check_order("ravel", order, "CA")
    # Of a row with gaps there is a view, too, which NumPy does not give here.
    return flat(a if in_c_order(a) else _cast(a, a.dtype))


def transpose(a: Any, axes: Any = None) -> ndarray:
    """A view with the axes in another order, by default in reverse.

    >>> weft.transpose(weft.zeros((2, 3, 4)), (1, 0, 2)).shape
    (3, 2, 4)
    """
    a = array_of(a)
    if axes is None:
        return _permute(a, tuple(reversed(range(a.ndim))))
    axes = tuple(axes) if getattr(axes, "ndim", 1) and isinstance(axes, Iterable) else (axes,)
    if len(axes) != a.ndim:
        raise ValueError("axes don't match array")
    return _permute(a, axes_of(axes, a.ndim, repeated="repeated axis in transpose"))


permute_dims = transpose


def matrix_transpose(x: Any, /) -> ndarray:
    """A view with the last two axes exchanged. ValueError for arrays of fewer.

    >>> weft.matrix_transpose(weft.zeros((2, 3, 4))).shape
    (2, 4, 3)
    """
    x = array_of(x)
    if x.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {x.ndim}")
    return swapaxes(x, -1, -2)


def swapaxes(a: Any, axis1: int, axis2: int) -> ndarray:
    """A view with two axes exchanged.

    >>> weft.swapaxes(weft.zeros((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    a = array_of(a)
    first, second = axis_of(axis1, a.ndim, "axis1"), axis_of(axis2, a.ndim, "axis2")
    order = list(range(a.ndim))
    order[first], order[second] = second, first
    return _permute(a, tuple(order))


def moveaxis(a: Any, source: Any, destination: Any) -> ndarray:
    """A view with axes moved to other places; the others keep their order.

    >>> weft.moveaxis(weft.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    a = array_of(a)
    source = axes_of(source, a.ndim, "source", "repeated axis in `source` argument")
    destination = axes_of(destination, a.ndim, "destination", "repeated axis in `destination` argument")
    if len(source) != len(destination):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    order = [i for i in range(a.ndim) if i not in source]
    for to, axis in sorted(zip(destination, source)):
        order.insert(to, axis)
    return _permute(a, tuple(order))


def rollaxis(a: Any, axis: int, start: int = 0) -> ndarray:
    """A view with an axis moved before the one that is at `start`.

    >>> weft.rollaxis(weft.zeros((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    a = array_of(a)
    axis = axis_of(axis, a.ndim)
    begin = operator.index(start)
    if not -a.ndim <= begin <= a.ndim:
        raise np.exceptions.AxisError(f"'start' arg requires {-a.ndim} <= start < {a.ndim + 1}, but {start} was passed in")
    begin += a.ndim if begin < 0 else 0
    begin -= 1 if axis < begin else 0
    order = [i for i in range(a.ndim) if i != axis]
    order.insert(begin, axis)
    return _permute(a, tuple(order))


def expand_dims(a: Any, axis: Any) -> ndarray:
    """A view with new axes of length one at places of the result's shape.

    >>> weft.expand_dims(weft.arange(3), (0, 2)).shape
    (1, 3, 1)
    """
    a = array_of(a)
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    new = axes_of(axis, a.ndim + count, repeated="repeated axis")
    return a[tuple(None if i in new else slice(None) for i in range(a.ndim + count))]


def squeeze(a: Any, axis: Any = None) -> ndarray:
    """A view without axes of length one: without all of them, or those named; ValueError if one is longer.

    >>> weft.squeeze(weft.zeros((1, 3, 1)), axis=0).shape
    (3, 1)
    """
    a = array_of(a)
    if a.ndim == 0 and not isinstance(axis, tuple):
        row_of_number(a, axis)
        return a[...]
    dropped = [i for i, n in enumerate(a.shape) if n == 1] if axis is None else axes_of(axis, a.ndim)
    if any(a.shape[i] != 1 for i in dropped):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return a[tuple(0 if i in dropped else slice(None) for i in range(a.ndim))] if dropped else a[...]


def _at_least(rank: int, arrays: Sequence[Any], place: Any) -> Any:
    found = tuple(array_of(a) for a in arrays)
    found = tuple(a if a.ndim >= rank else a[place(a.ndim)] for a in found)
    return found[0] if len(found) == 1 else found


def atleast_1d(*arys: Any) -> Any:
    """Arrays of one axis at least: a number becomes a row. A tuple for several.

    >>> weft.atleast_1d(3.0)
    array([3.])
    """
    return _at_least(1, arys, lambda rank: None)


def atleast_2d(*arys: Any) -> Any:
    """Arrays of two axes at least: new ones are in front. A tuple for several.

    >>> weft.atleast_2d(weft.arange(2))
    array([[0, 1]])
    """
    return _at_least(2, arys, lambda rank: (None,) * (2 - rank))


def atleast_3d(*arys: Any) -> Any:
    """Arrays of three axes at least: a row gets one on each side, a matrix one behind. A tuple for several.

    >>> weft.atleast_3d(weft.arange(2)).shape
    (1, 2, 1)
    """
    places = {0: (None, None, None), 1: (None, slice(None), None), 2: (Ellipsis, None)}
    return _at_least(3, arys, places.__getitem__)


def broadcast_to(array: Any, shape: Any) -> ndarray:
    """A read-only view in a larger shape; ValueError where it does not broadcast.

    >>> weft.broadcast_to(weft.arange(2), (2, 2))
    array([[0, 1],
           [0, 1]])
    """
    array = array_of(array)
    wanted = shape_of(shape)
    lengths = (1,) * (len(wanted) - array.ndim) + array.shape
    if len(lengths) != len(wanted) or any(n not in (1, m) for n, m in zip(lengths, wanted)):
        raise ValueError(
            "operands could not be broadcast together with remapped shapes [original->remapped]: "
            f"{str(array.shape).replace(' ', '')}  and requested shape {str(wanted).replace(' ', '')}"
        )
    return _broadcast(array, wanted)


def broadcast_arrays(*args: Any) -> tuple[ndarray, ...]:
    """Read-only views of arrays in the shape that they meet in.

    >>> weft.broadcast_arrays(weft.arange(2), weft.zeros((1, 1)))
    (array([[0, 1]]), array([[0., 0.]]))
    """
    arrays = arrays_of(*args)
    wanted = broadcast_shape(*(a.shape for a in arrays))
    return tuple(a if a.shape == wanted else _broadcast(a, wanted) for a in arrays)


def broadcast_shapes(*args: Any) -> Shape:
    """The shape that arrays of these shapes meet in.

    >>> weft.broadcast_shapes((3, 1), (2,))
    (3, 2)
    """
    return broadcast_shape(*(shape_of(each) for each in args))


def flip(m: Any, axis: Any = None) -> ndarray:
    """A view with the elements along axes in reverse; along all if none is named.

    >>> weft.flip(weft.arange(3))
    array([2, 1, 0])
    """
    m = array_of(m)
    turned = axes_of(axis, m.ndim, repeated="repeated axis")
    return m[tuple(slice(None, None, -1) if i in turned else slice(None) for i in range(m.ndim))]


def fliplr(m: Any) -> ndarray:
    """A view with the second axis in reverse.

    >>> weft.fliplr(weft.asarray([[1, 2]]))
    array([[2, 1]])
    """
    m = array_of(m)
    if m.ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return m[:, ::-1]


def flipud(m: Any) -> ndarray:
    """A view with the first axis in reverse.

    >>> weft.flipud(weft.asarray([[1], [2]]))
    array([[2],
           [1]])
    """
    m = array_of(m)
    if m.ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return m[::-1]


def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> ndarray:
    """A view turned by `k` right angles, from the first of two axes towards the second.

    >>> weft.rot90(weft.asarray([[1, 2], [3, 4]]))
    array([[2, 4],
           [1, 3]])
    """
    m = array_of(m)
    axes = tuple(axes)
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    if any(not -m.ndim <= axis < m.ndim for axis in axes):
        raise ValueError(f"Axes={axes} out of range for array of ndim={m.ndim}.")
    first, second = (axis_of(axis, m.ndim) for axis in axes)
    if first == second:
        raise ValueError("Axes must be different.")
    k %= 4
    if k == 0:
        return m[...]
    if k == 2:
        return flip(m, (first, second))
    if k == 1:
        return swapaxes(flip(m, second), first, second)
    return flip(swapaxes(m, first, second), second)


def roll(a: Any, shift: Any, axis: Any = None) -> ndarray:
    """A copy with the elements moved along axes; those that leave at one end come in at the other. Without an axis, as one row.

    >>> weft.roll(weft.arange(4), 1)
    array([3, 0, 1, 2])
    """
    a = array_of(a)
    if axis is None:
        return _reshape(roll(flat(a), shift, 0), a.shape)
    axes = axes_of(axis, a.ndim, repeated="") if not isinstance(axis, (tuple, list)) else tuple(axis_of(each, a.ndim) for each in axis)
    shifts = tuple(shift) if isinstance(shift, (tuple, list)) else (shift,)
    if len(shifts) != len(axes) and 1 not in (len(shifts), len(axes)):
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    count = max(len(shifts), len(axes))
    moved = dict.fromkeys(axes, 0)
    for by, i in zip(shifts * (count // len(shifts)), axes * (count // len(axes))):
        moved[i] += int(by)
    found = lying_as_copy(a)
    _copy_rolled(a, found, [(i, by % n) for i, by in moved.items() if (n := a.shape[i]) > 1 and by % n], ())
    return found


def _copy_rolled(a: ndarray, found: ndarray, moves: list[tuple[int, int]], done: tuple[tuple[int, slice, slice], ...]) -> None:
    """Writes every box of the array into the place that it moves to."""
    if not moves:
        take, put = [slice(None)] * a.ndim, [slice(None)] * a.ndim
        for axis, source, target in done:
            take[axis], put[axis] = source, target
        found[(*put, Ellipsis)] = a[(*take, Ellipsis)]
        return
    (axis, by), *rest = moves
    n = a.shape[axis]
    _copy_rolled(a, found, rest, (*done, (axis, slice(0, n - by), slice(by, n))))
    _copy_rolled(a, found, rest, (*done, (axis, slice(n - by, n), slice(0, by))))


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> ndarray:
    """A view of the diagonal of two axes, the one that starts `offset` places to the right; it is the last axis of the result.

    Views of diagonals can be written to, unlike NumPy's.

    >>> weft.diagonal(weft.asarray([[1, 2], [3, 4]]))
    array([1, 4])
    """
    a = array_of(a)
    if a.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    first, second = axis_of(axis1, a.ndim, "axis1"), axis_of(axis2, a.ndim, "axis2")
    if first == second:
        raise ValueError("axis1 and axis2 cannot be the same")
    offset = operator.index(offset)
    rest = [i for i in range(a.ndim) if i not in (first, second)]
    rows, columns = a.shape[first], a.shape[second]
    length = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    start = max(offset, 0) * a.strides[second] + max(-offset, 0) * a.strides[first]
    shape = (*(a.shape[i] for i in rest), length)
    strides = (*(a.strides[i] for i in rest), a.strides[first] + a.strides[second])
    return _strided(a, shape, strides, start if length else 0)


def diag(v: Any, k: int = 0) -> ndarray:
    """A matrix with a row of numbers along a diagonal, or a view of the diagonal of a matrix.

    >>> weft.diag(weft.asarray([1, 2]))
    array([[1, 0],
           [0, 2]])
    """
    v = array_of(v)
    if v.ndim == 2:
        return diagonal(v, k)
    if v.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    n = v.shape[0] + abs(k)
    made = _full((n, n), 0, v.dtype, v.device)
    if v.size:
        diagonal(made, k)[...] = v
    return made


def diagflat(v: Any, k: int = 0) -> ndarray:
    """A matrix with the elements of an array along a diagonal.

    >>> weft.diagflat([[1], [2]], 1)
    array([[0, 1, 0],
           [0, 0, 2],
           [0, 0, 0]])
    """
    return diag(flat(array_of(v)), k)


def resize(a: Any, new_shape: Any) -> ndarray:
    """A copy in a shape of any size: the elements are repeated as often as it takes.

    >>> weft.resize(weft.arange(3), (2, 2))
    array([[0, 1],
           [2, 0]])
    """
    from .joining import tile

    row = flat(array_of(a))
    wanted = tuple(operator.index(n) for n in (new_shape if isinstance(new_shape, (tuple, list)) else (new_shape,)))
    if any(n < 0 for n in wanted):
        raise ValueError("all elements of `new_shape` must be non-negative")
    total = math.prod(wanted)
    if row.size == 0 or total == 0:
        return _full(wanted, 0, row.dtype, row.device)
    return _reshape(tile(row, -(-total // row.size))[:total], wanted)


def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> ndarray:
    """A view without the slices of zeros at the front ("f"), the back ("b") or both ends of each axis, or of those named.

    >>> weft.trim_zeros(weft.asarray([0, 1, 2, 0]))
    array([1, 2])
    >>> weft.trim_zeros(weft.asarray([[0, 0, 0], [0, 3, 0]]), axis=1)
    array([[0],
           [3]])
    """
    from .searching import argwhere

    a = array_of(filt)
    if trim.lower() not in ("f", "b", "fb", "bf"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    axes = axes_of(axis, a.ndim, "axis")
    if not axes:
        return a
    places = _to_numpy(argwhere(a))
    key = [slice(None)] * a.ndim
    for each in axes:
        along = places[:, each]
        if not along.size:
            key[each] = slice(0, 0)
        else:
            first = int(along.min()) if "f" in trim.lower() else None
            key[each] = slice(first, int(along.max()) + 1 if "b" in trim.lower() else None)
    return a[tuple(key)]

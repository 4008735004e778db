"""Sorted arrays, the indices that sort, partitions, and the largest elements. All are computed at once."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from weft._weft import _cast, _followed, _order_of_copy, _reshape, _to_numpy, ndarray
from weft.gradients.primitives import without_gradient
from weft.kernels.launching import fits, launched, on_a_device

from . import _compiled
from ._common import array_of, arrays_of, axis_of, flat, in_order, out_of_order, place_in, positions, u

_KINDS = "qhms"
# Rows from this length on are sorted in buckets, `_LARGE` in the library: shorter ones need no code for that.
_LARGE = 131_072


def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, descending: bool = False, stable: Any = None) -> ndarray:
    """A sorted copy: along an axis, or of all elements as one row. NaN come last, first if `descending`. Sorting is always stable.

    `order` is for fields, which arrays do not have.

    >>> weft.sort(weft.asarray([3, 1, 2]))
    array([1, 2, 3])
    """
    a, axis = _along(a, axis, kind, order, stable, "sort")
    if a.ndim == 0:
        raise np.exceptions.AxisError(-1, 0)
    if _followed(a):
        return _taken(a, argsort(a, axis, descending=descending), axis)
    if on_a_device(a) and fits(a):
        return _in_order_of_copy(a, axis, descending)
    found = _in_copy("np.sort(a, {axis}" + long_word(a.shape[axis]) + ")", a, axis)
    return found[(slice(None),) * axis + (slice(None, None, -1),)] if descending else found


def _taken(a: ndarray, order: ndarray, axis: int) -> ndarray:
    """What an order makes of an array along an axis, for which there is a gradient."""
    from .gathering import take_along_axis

    return take_along_axis(a, order, axis)


def argsort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, descending: bool = False, stable: Any = None) -> ndarray:
    """The indices that sort an array: along an axis, or of all elements as one row. Equal elements keep their order.

    >>> weft.argsort(weft.asarray([3, 1, 2]))
    array([1, 2, 0])
    """
    a, axis = _along(a, axis, kind, order, stable, "argsort")
    if a.ndim == 0:
        axis_of(axis, 1)
        return positions(1, a)
    return order_of(a, axis, bool(descending))


@without_gradient
def order_of(a: ndarray, axis: int, descending: bool) -> ndarray:
    """What `argsort` gives along an axis counted from the front."""
    if on_a_device(a) and fits(a):
        from weft.kernels.radix import order_along

        return launched(order_along, a, axis, descending)
    if not descending:
        return _compiled.call(f"np.argsort(a, {axis})", a=a)
    # Equal elements are to keep their order, so both the array and the indices are turned around.
    turn = (slice(None),) * axis + (slice(None, None, -1),)
    return u("subtract", a.shape[axis] - 1, _compiled.call(f"np.argsort(a, {axis})", a=a[turn]))[turn]


@order_of.defbatched
def _(call: Any, operands: list[ndarray | None], count: int) -> list[ndarray]:
    """The new axis is one more in front."""
    return [order_of(operands[0], call.args[1] + 1, call.args[2])]


def long_word(n: int) -> str:
    """What a text says of rows that are so long."""
    return ", _long=True" if n >= _LARGE else ""


def _in_copy(text: str, a: ndarray, axis: int, **arguments: Any) -> ndarray:
    """What a function makes of a copy along an axis, which lies as the array does."""
    order = _order_of_copy(a)
    place = place_in(order, axis)
    return out_of_order(_compiled.call(text.format(axis=place), a=in_order(a, order), **arguments), order)


def _in_order_of_copy(a: ndarray, axis: int, descending: Any = False) -> ndarray:
    """A sorted copy on another device than the CPU, which lies as the array does."""
    from weft.kernels.radix import sorted_along

    order = _order_of_copy(a)
    return out_of_order(launched(sorted_along, in_order(a, order), place_in(order, axis), bool(descending)), order)


def _along(a: Any, axis: Any, kind: Any, order: Any, stable: Any, function: str) -> tuple[ndarray, int]:
    """The array, and an axis of it counted from the front."""
    if kind is not None and stable is not None:
        raise ValueError("`kind` and keyword parameters can't be provided at the same time. Use only one of them.")
    _check_kind(kind)
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")
    a = array_of(a)
    if axis is None:
        return flat(a), 0
    if a.ndim == 0 and function == "argsort":
        return a, operator.index(axis)
    return a, axis_of(axis, a.ndim)


def _check_kind(kind: Any) -> None:
    """Refuses what NumPy takes for no kind of sort: it goes by the first letter."""
    if kind is None:
        return
    if not isinstance(kind, (str, bytes)):
        raise TypeError(f"sort kind must be str, not {type(kind).__name__}")
    letter = kind[:1].decode("latin-1") if isinstance(kind, bytes) else kind[:1]
    if not letter or letter.lower() not in _KINDS:
        raise ValueError(f"sort kind must be one of 'quick', 'heap', or 'stable' (got {kind!r})")


def _numbers(kth: Any, n: int | None) -> Any:
    """The numbers of the elements of a partition, counted from the front: one, or a row of them. Without elements (None) any will do."""
    values = np.asarray(_to_numpy(kth) if isinstance(kth, ndarray) else kth)
    if values.dtype.kind not in "iu":
        raise TypeError("Partition index must be integer")
    if values.ndim > 1:
        raise ValueError("kth array must have dimension <= 1")
    if n is None:
        return None
    for k in values.reshape(-1).tolist():
        if not -n <= k < n:
            raise ValueError(f"kth(={k}) out of bounds ({n})")
    values = np.where(values < 0, values + n, values).astype(np.int64)
    return array_of(np.unique(values)) if values.ndim else int(values)


def partition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None) -> ndarray:
    """A copy in which the element number `kth`, or each of several, is where sorting would put it, smaller ones before it and larger
    ones behind.

    >>> weft.partition(weft.asarray([3, 1, 2]), 1)
    array([1, 2, 3])
    """
    return _partitioned("partition", a, kth, axis, kind, order)


@without_gradient
def argpartition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None) -> ndarray:
    """The indices that make a partition of an array.

    >>> weft.argpartition(weft.asarray([3, 1, 2]), 1)
    array([1, 2, 0])
    """
    return _partitioned("argpartition", a, kth, axis, kind, order)


def _partitioned(function: str, a: Any, kth: Any, axis: Any, kind: str, order: Any) -> ndarray:
    if not isinstance(kind, (str, bytes)):
        raise TypeError(f"select kind must be str, not {type(kind).__name__}")
    if kind not in ("introselect", b"introselect"):
        raise ValueError(f"select kind must be 'introselect' (got {kind!r})")
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")
    a = array_of(a)
    if axis is None:
        a, axis = flat(a), 0
    if a.ndim == 0 and function == "argpartition":
        return _partitioned(function, _reshape(a, (1,)), kth, axis, kind, order)
    axis = axis_of(axis, a.ndim)
    # The numbers are arguments: others need no other code.
    numbers = _numbers(kth, a.shape[axis] if a.size else None)
    if not a.size:
        return _cast(a, a.dtype if function == "partition" else np.dtype(np.int64))
    if _followed(a) and function == "partition":
        return _taken(a, argpartition(a, kth, axis), axis)
    if on_a_device(a) and fits(a):
        # What is sorted is parted.
        return _in_order_of_copy(a, axis) if function == "partition" else argsort(a, axis)
    if function == "partition":
        return _in_copy("np.partition(a, kth, {axis})", a, axis, kth=numbers)
    return _compiled.call(f"np.argpartition(a, kth, {axis})", a=a, kth=numbers)


def topk(x: Any, k: int, axis: int = -1, *, largest: bool = True) -> tuple[ndarray, ndarray]:
    """The `k` largest elements along an axis, or the smallest with `largest=False`, and their indices: as `torch.topk` and
    `jax.lax.top_k` have them. Computed at once.

    They are sorted, the first one first of all; of equal ones that with the smaller index comes first. NaN is larger than any number.
    ValueError where there are not so many.

    >>> weft.topk(weft.asarray([3, 9, 1, 7]), 2)
    (array([9, 7]), array([1, 3]))
    """
    from .gathering import take_along_axis

    x = array_of(x)
    if x.ndim == 0:
        x = _reshape(x, (1,))
    axis, k = axis_of(axis, x.ndim), operator.index(k)
    if not 0 <= k <= x.shape[axis]:
        raise ValueError(f"k={k} is out of bounds for an axis of {x.shape[axis]} elements")
    if on_a_device(x) and fits(x) and not _followed(x):
        from weft.kernels.radix import top

        return launched(top, x, k, axis, bool(largest))
    order = argsort(x, axis, descending=largest)[(slice(None),) * axis + (slice(0, k),)]
    return take_along_axis(x, order, axis), order


def sort_complex(a: Any) -> ndarray:
    """A sorted copy as complex numbers: by the real parts, then by the imaginary ones.

    >>> weft.sort_complex(weft.asarray([2, 1]))
    array([1.+0.j, 2.+0.j])
    """
    found = sort(a)
    if found.dtype.kind == "c":
        return found
    small = found.dtype.name in ("int8", "uint8", "int16", "uint16")
    return _cast(found, np.dtype(np.complex64 if small else np.complex128))


@without_gradient
def lexsort(keys: Any, axis: int = -1) -> ndarray:
    """The indices that sort by several keys, the last one first of all.

    >>> weft.lexsort((weft.asarray([1, 0, 2]), weft.asarray([1, 1, 0])))
    array([2, 1, 0])
    """
    from .gathering import take_along_axis

    parts = [keys[i] for i in range(len(keys))] if isinstance(keys, ndarray) else list(arrays_of(*keys))
    if not parts:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    if any(part.shape != parts[0].shape for part in parts):
        raise ValueError("all keys need to be the same shape")
    if parts[0].ndim == 0:
        axis_of(axis, 1)
        return positions(1, parts[0])[0]
    axis = axis_of(axis, parts[0].ndim)
    if on_a_device(parts[0]) and fits(parts[0]):
        from weft.kernels.radix import order_of_all

        return launched(order_of_all, axis, *parts)
    order = argsort(parts[0], axis)
    for part in parts[1:]:
        order = take_along_axis(order, argsort(take_along_axis(part, order, axis), axis), axis)
    return order

"""Updates of elements that are named several times: an operation once for each time, in the order of the names."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft import cuda
from weft._weft import _assign, _broadcast, _cast, _full, _reshape, ndarray
from weft.arrays import indexing
from weft.arrays._common import in_c_order, u
from weft.kernels.lines import row
from weft.kernels.moving import INDEX, moved_to, taken
from weft.kernels.radix import order_by_digits
from weft.kernels.scan import may_group, operation
from weft.kernels.subscripts import places_of

__all__ = ["has_update", "updated"]

_THREADS = 256
# Sorted places that a thread goes through, and how many are few enough for one.
_CHUNK = 16
_FEW = 256


def _subtract(x, y):
    return x - y


@cuda.jit(cache=True, fma=False)
def _update(op, out, at, order, values, step, count):
    """Places are sorted. The thread of the first one of equal ones goes through them: what came first is done first."""
    i = np.int32(cuda.blockIdx.x) * np.int32(cuda.blockDim.x) + np.int32(cuda.threadIdx.x)
    if i < count:
        place = at[i]
        if i == 0 or at[max(i - np.int32(1), np.int32(0))] != place:
            x = out[place]
            more = True
            while more:
                x = out.dtype.type(op(x, values[i if order is None else order[i] * step]))
                i += np.int32(1)
                more = i < count and at[min(i, count - np.int32(1))] == place
            out[place] = x


@cuda.jit(cache=True, fma=False)
def _update_chunks(op, out, at, order, values, step, firsts, rest, count):
    """A thread goes through 16 sorted places, and does what is named there first. The run of equal places that it begins in may be part of
    a longer one: what that run's values are together is left, with its place, for the next pass."""
    thread = np.int32(cuda.blockIdx.x) * np.int32(cuda.blockDim.x) + np.int32(cuda.threadIdx.x)
    i = thread * np.int32(_CHUNK)
    if i < count:
        stop = min(i + np.int32(_CHUNK), count)
        place = at[i]
        is_first = True
        firsts[thread] = place
        x = out.dtype.type(values[i if order is None else order[i] * step])
        i += np.int32(1)
        while i < stop:
            value = out.dtype.type(values[i if order is None else order[i] * step])
            other = at[i]
            if other == place:
                x = out.dtype.type(op(x, value))
            else:
                if is_first:
                    rest[thread] = x
                else:
                    out[place] = x
                is_first = False
                place = other
                x = out.dtype.type(op(out[place], value))
            i += np.int32(1)
        if is_first:
            rest[thread] = x
        else:
            out[place] = x


def has_update(name: str, dtype: np.dtype) -> bool:
    """Whether there is an update by a ufunc's name, of elements and by values of a dtype."""
    return (name == "subtract" and dtype.kind != "b") or operation(name, dtype) is not None


def updated(name: str, x: ndarray, key: Any, values: ndarray) -> None:
    """NumPy's `ufunc.at`: the elements that a subscript selects are combined with values of their dtype. Sorting says which are the same.

    Integers, and extremes, are combined in groups, whatever an element is named. Of floats sums and products are rounded in NumPy's order,
    so that the bits are NumPy's: an element that is named very often is the work of one thread.
    """
    places = places_of(x, indexing._entries(x, key))
    try:
        spread = _broadcast(moved_to(values, x), places.shape)
    except ValueError:
        raise ValueError("array is not broadcastable to correct shape") from None
    if not places.size:
        return
    # Values may be elements of the target, which threads write: a copy.
    values = row(_cast(_reshape(values, (1,)) if values.size == 1 else spread, values.dtype, True))
    at = _cast(row(places), INDEX)
    order = order_by_digits(at, x.size)
    whole = in_c_order(x) and x._writeable
    target = row(x) if whole else _reshape(_cast(x, x.dtype, True), (x.size,))
    values, step = moved_to(values, x), np.int32(values.size > 1)
    _combined(name, target, taken(at, order), order, values, step)
    if not whole:
        _assign(x, _reshape(target, x.shape))


def _combined(name: str, target: ndarray, at: ndarray, order: ndarray | None, values: ndarray, step: np.int32) -> None:
    """The updates of sorted places."""
    dtype, count = target.dtype, at.size
    if name == "subtract" and dtype.kind in "iu":
        # What is taken away may be added up before.
        name, values = "add", u("negative", values)
    op = _subtract if name == "subtract" else operation(name, dtype)
    while count > _FEW and may_group(name, dtype):
        threads = -(-count // _CHUNK)
        firsts, rest = _full((threads,), 0, INDEX, target.device), _full((threads,), 0, dtype, target.device)
        _update_chunks[-(-threads // _THREADS), _THREADS](op, target, at, order, values, step, firsts, rest, np.int32(count))
        at, order, values, count = firsts, None, rest, threads
    _update[-(-count // _THREADS), _THREADS](op, target, at, order, values, step, np.int32(count))

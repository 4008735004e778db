"""Updates of elements that are named several times: an operation once for each time, in the order of the names."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft import cuda
from weft._weft import _assign, _broadcast, _cast, _reshape, ndarray
from weft.arrays import indexing
from weft.arrays._common import in_c_order
from weft.kernels.moving import INDEX, moved_to, row, taken
from weft.kernels.radix import order_by_digits
from weft.kernels.scan import operation
from weft.kernels.subscripts import places_of

__all__ = ["has_update", "updated"]

_THREADS = 256


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
                x = out.dtype.type(op(x, values[order[i] * step]))
                i += np.int32(1)
                more = i < count and at[min(i, count - np.int32(1))] == place
            out[place] = x


def has_update(name: str, dtype: np.dtype) -> bool:
    """Whether there is an update by a ufunc's name, of elements and by values of a dtype."""
    return (name == "subtract" and dtype.kind != "b") or operation(name, dtype) is not None


def updated(name: str, x: ndarray, key: Any, values: ndarray) -> None:
    """NumPy's `ufunc.at`: the elements that a subscript selects are combined with values of their dtype. Sorting says which are the same,
    so that the bits are NumPy's: an element that is named very often is the work of one thread."""
    places = places_of(x, indexing._entries(x, key))
    try:
        spread = _broadcast(moved_to(values, x), places.shape)
    except ValueError:
        raise ValueError("array is not broadcastable to correct shape") from None
    if not places.size:
        return
    values = row(_reshape(values, (1,)) if values.size == 1 else _cast(spread, values.dtype, True))
    at = _cast(row(places), INDEX)
    order = order_by_digits(at, x.size)
    whole = in_c_order(x) and x._writeable
    target = row(x) if whole else _reshape(_cast(x, x.dtype, True), (x.size,))
    op = _subtract if name == "subtract" else operation(name, x.dtype)
    blocks, step = -(-at.size // _THREADS), np.int32(values.size > 1)
    _update[blocks, _THREADS](op, target, taken(at, order), order, moved_to(values, x), step, np.int32(at.size))
    if not whole:
        _assign(x, _reshape(target, x.shape))

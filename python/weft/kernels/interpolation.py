"""Lines through points: a thread looks for the two points that each place lies between."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft import cuda
from weft._weft import _cast, _part, _unset, ndarray
from weft.arrays._common import u
from weft.arrays.joining import concatenate
from weft.kernels.moving import moved_to, taken
from weft.kernels.radix import order_of_rows

__all__ = ["heights"]

_THREADS = 256
# Which ends are given, and whether slopes are multiplied by one over the distance, as NumPy does it for complex numbers.
_LEFT, _RIGHT, _RECIPROCAL = np.int32(1), np.int32(2), np.int32(4)


@cuda.jit(cache=True, fma=False)
def _heights(x, xp, fp, out, left, right, how, points, count):
    """The height of the line at each place."""
    at = np.int32(cuda.blockIdx.x) * np.int32(cuda.blockDim.x) + np.int32(cuda.threadIdx.x)
    if at < count:
        place = x[at]
        last = points - np.int32(1)
        if place != place and last > 0:
            out[at] = place
        elif place < xp[0]:
            out[at] = left if how & _LEFT != 0 else fp[0]
        elif place > xp[last]:
            out[at] = right if how & _RIGHT != 0 else fp[last]
        else:
            low, high = np.int32(0), points
            while high - low > 1:
                middle = (low + high) // np.int32(2)
                if xp[middle] <= place:
                    low = middle
                else:
                    high = middle
            x0, y0 = xp[low], fp[low]
            y = y0
            if low < last and x0 != place:
                x1, y1 = xp[low + 1], fp[low + 1]
                slope = (y1 - y0) * (1.0 / (x1 - x0)) if how & _RECIPROCAL != 0 else (y1 - y0) / (x1 - x0)
                y = slope * (place - x0) + y0
                if y != y:
                    # An infinite slope may do from the other side.
                    y = slope * (place - x1) + y1
                    if y != y and y0 == y1:
                        y = y0
            out[at] = y


def heights(x: ndarray, xp: ndarray, fp: ndarray, left: Any, right: Any, period: float | None) -> ndarray:
    """NumPy's `interp` at a row of places: of rows of float64, the heights perhaps of complex128."""
    xp, fp = moved_to(xp, x), moved_to(fp, x)
    if period is not None:
        width = abs(period)
        x, xp = u("remainder", x, width), u("remainder", xp, width)
        order = order_of_rows(xp)
        xp, fp = taken(xp, order), taken(fp, order)
        xp = concatenate((u("subtract", xp[-1:], width), xp, u("add", xp[:1], width)))
        fp = concatenate((fp[-1:], fp, fp[:1]))
    out = _unset((x.size,), fp.dtype, x.device)
    if fp.dtype.kind != "c":
        _fill(out, x, xp, fp, left, right, np.int32(0))
        return out
    for part in ("real", "imag"):
        ends = (None if end is None else getattr(complex(end), part) for end in (left, right))
        found = _unset((x.size,), xp.dtype, x.device)
        _fill(found, x, xp, _part(fp, part), *ends, _RECIPROCAL)
        _part(out, part)[...] = found
    return out


def _fill(out: ndarray, x: ndarray, xp: ndarray, fp: ndarray, left: Any, right: Any, how: np.int32) -> None:
    how = np.int32(how | (0 if left is None else _LEFT) | (0 if right is None else _RIGHT))
    ends = (np.float64(0 if end is None else end) for end in (left, right))
    if x.size:
        rows = (_cast(each, each.dtype, True) for each in (x, xp, fp))
        _heights[-(-x.size // _THREADS), _THREADS](*rows, out, *ends, how, np.int32(xp.size), np.int32(x.size))

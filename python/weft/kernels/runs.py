"""Elements taken together one after the other, in NumPy's order, by any operation: along an axis, and in runs of it.

A thread goes along a line or a run, so that the bits are those of the loops on the CPU. Many lines keep a device busy; a few long ones do
not, and are left to the host. Runs whose elements may be taken together in any grouping are blocks' work where they are long.
"""

from __future__ import annotations

import functools
import linecache
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from weft import cuda
from weft._weft import _from_numpy, _full, _reshape, _unset, ndarray
from weft.kernels.lines import around, row
from weft.kernels.moving import INDEX
from weft.kernels.scan import MANY, may_group, operation, walked

__all__ = ["folded", "folded_runs", "goes_along", "may_fold_runs", "may_refuse", "scanned_in_order"]

_THREADS = 256
# Runs of so many elements are long: a block takes one that may be grouped, and else a thread of few would be slower than the host.
_LONG = 256
_TOO_LONG = 4096
_ALL = np.uint32(0xFFFFFFFF)


@functools.cache
def in_order(name: str) -> Callable[[Any, Any], Any]:
    """For kernels: what a ufunc does with two numbers."""
    text = f"def {name}(x, y):\n    return np.{name}(x, y)\n"
    file = f"<weft.kernels: {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope: dict[str, Any] = {"np": np}
    exec(compile(text, file, "exec"), scope)
    return scope[name]


@cuda.jit(cache=True, fma=False)
def _fold_runs(op, x, starts, first, out, n, inner, runs, count):
    """A thread folds a run of a line, from its start to the next one's, and the first element at least; where `first` has an element, that
    comes before all others."""
    i = np.int32(cuda.blockIdx.x) * np.int32(cuda.blockDim.x) + np.int32(cuda.threadIdx.x)
    if i < count:
        q, run = i % inner, i // inner % runs
        start = starts[run]
        stop = starts[run + 1] if run + 1 < runs else n
        place = (i // (inner * runs) * n + start) * inner + q
        total = x[place]
        if first is not None:
            total = out.dtype.type(op(first[0], total))
        for _ in range(start + np.int32(1), stop):
            place += inner
            total = out.dtype.type(op(total, x[place]))
        out[i] = total


@cuda.jit(cache=True, fma=False)
def _fold_long_runs(op, x, starts, out, n, inner, runs, across):
    """A block folds a run of `across` lines side by side, in any grouping of neighbours.

    Each of its 8 warps takes a part of the run: neighbouring threads have neighbouring lines, or elements.
    """
    parts = cuda.shared.array(256, out.dtype)
    t = np.int32(cuda.threadIdx.x)
    beside = (inner + across - np.int32(1)) // across
    block = np.int32(cuda.blockIdx.x)
    column, warp = t % across, t // np.int32(32)
    # Lines that are not there are read as the last one.
    q, run = min(block % beside * across + column, inner - np.int32(1)), block // beside % runs
    front = block // (beside * runs)
    start = starts[run]
    stop = max(start + np.int32(1), starts[run + 1] if run + 1 < runs else n)
    each = (stop - start + np.int32(7)) // np.int32(8)
    rows, behind = np.int32(32) // across, t % np.int32(32) // across
    at, end = start + warp * each, min(stop, start + warp * each + each)
    total = x[(front * n + start) * inner + q]
    is_first = True
    while at < end:
        i = at + behind
        one = x[(front * n + min(i, end - np.int32(1))) * inner + q]
        step = np.int32(1)
        while step < rows:
            other = cuda.shfl_down_sync(_ALL, one, step * across)
            if i + step < end:
                one = out.dtype.type(op(one, other))
            step *= np.int32(2)
        total = one if is_first else out.dtype.type(op(total, one))
        is_first = False
        at += rows
    if behind == 0:
        parts[warp * across + column] = total
    cuda.syncthreads()
    if t < across and block % beside * across + t < inner:
        w = np.int32(1)
        # The last warps have nothing where a run is short.
        while w < 8 and start + w * each < stop:
            total = out.dtype.type(op(total, parts[w * across + t]))
            w += np.int32(1)
        out[(front * runs + run) * inner + q] = total


def may_refuse(name: str, dtype: np.dtype) -> bool:
    """Whether a ufunc refuses some numbers of a dtype, which no kernel tells: the host does."""
    return name == "power" and dtype.kind == "i"


def goes_along(name: str, dtype: np.dtype, x: ndarray, axes: tuple[int, ...]) -> bool:
    """Whether threads, which go along a line each, do what a ufunc does in a dtype along axes, and are no slower than a copy to the host:
    there are many lines."""
    return not may_refuse(name, dtype) and x.size > 0 and math.prod(n for axis, n in enumerate(x.shape) if axis not in axes) >= MANY


def scanned_in_order(name: str, x: ndarray, axis: int) -> ndarray:
    """The scan of an array along an axis, in the array's dtype."""
    return walked(in_order(name), x, axis, x.dtype)


def folded(name: str, x: ndarray, axis: int, first: Any) -> ndarray:
    """The fold of an array along an axis with elements, in the array's dtype; it starts with `first`, unless that is None."""
    shape = (*x.shape[:axis], *x.shape[axis + 1 :])
    starts = _full((1,), 0, INDEX, x.device)
    start = None if first is None else _full((1,), first, x.dtype, x.device)
    return _reshape(_by_threads(name, x, axis, starts, start), shape)


def may_fold_runs(name: str, x: ndarray, axis: int, starts: np.ndarray) -> bool:
    """Whether `folded_runs` does it, and is no slower than a copy to the host."""
    if may_refuse(name, x.dtype):
        return False
    if not x.size or not starts.size:
        return True
    count = starts.size * (x.size // x.shape[axis])
    if count >= 2**31 - 2**16:
        return False
    return may_group(name, x.dtype) or count >= MANY or _longest(starts, x.shape[axis]) <= _TOO_LONG


def folded_runs(name: str, x: ndarray, axis: int, starts: np.ndarray) -> ndarray:
    """NumPy's `reduceat` along an axis, in the array's dtype: `starts` are places on it."""
    shape = (*x.shape[:axis], starts.size, *x.shape[axis + 1 :])
    if not math.prod(shape):
        return _full(shape, 0, x.dtype, x.device)
    there = _from_numpy(starts.astype(np.int32), x.device)
    if not may_group(name, x.dtype) or _longest(starts, x.shape[axis]) <= _LONG:
        return _reshape(_by_threads(name, x, axis, there, None), shape)
    front, n, inner = around(x.shape, axis)
    across = min(32, 1 << (inner - 1).bit_length())
    out = _unset((math.prod(shape),), x.dtype, x.device)
    blocks = front * starts.size * -(-inner // across)
    sizes = (np.int32(number) for number in (n, inner, starts.size, across))
    _fold_long_runs[blocks, _THREADS](operation(name, x.dtype), row(x), there, out, *sizes)
    return _reshape(out, shape)


def _longest(starts: np.ndarray, n: int) -> int:
    return int(np.diff(starts, append=n).max(initial=1))


def _by_threads(name: str, x: ndarray, axis: int, starts: ndarray, first: ndarray | None) -> ndarray:
    front, n, inner = around(x.shape, axis)
    out = _unset((front * starts.size * inner,), x.dtype, x.device)
    sizes = (np.int32(number) for number in (n, inner, starts.size, out.size))
    _fold_runs[-(-out.size // _THREADS), _THREADS](in_order(name), row(x), starts, first, out, *sizes)
    return out

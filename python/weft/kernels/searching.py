"""Where numbers belong in a sorted row: a thread halves the row for each of them."""

from __future__ import annotations

import numpy as np

from weft import cuda
from weft._weft import _cast, _full, _reshape, _to_numpy, _unset, ndarray
from weft.arrays._common import result_dtype, u
from weft.kernels.lines import row
from weft.kernels.moving import moved_to

__all__ = ["below", "digitized", "place_in"]

_THREADS = 256
# Elements of a row that a block has in shared memory, if so many numbers are looked for.
_FEW = 1024
_MANY = 4096


@cuda.jit(device=True, fma=False)
def precedes(x, y):
    """Does x come before y in sorted order? NaN come last; complex numbers are ordered by their real parts first."""
    if x.dtype.kind == "c":
        xr, xi, yr, yi = x.real, x.imag, y.real, y.imag
        if xr < yr:
            return xi == xi or yi != yi
        if xr > yr:
            return yi != yi and xi == xi
        if xr == yr or (xr != xr and yr != yr):
            return xi < yi or (yi != yi and xi == xi)
        return yr != yr
    if x.dtype.kind in ("b", "i", "u"):
        return x < y
    return x < y or (y != y and x == x)


@cuda.jit(device=True, fma=False)
def place_in(a, n, x, right):
    """How many of the `n` elements of a sorted row come before a number; with `right` also those that are equal to it.

    What it looks at is what NumPy looks at, which shows where a row is not sorted.
    """
    low, rest = np.int32(0), n
    if right != 0:
        while rest > 0:
            half = rest // np.int32(2)
            is_behind = not precedes(x, a[low + half])
            low += half + np.int32(1) if is_behind else np.int32(0)
            rest = rest - half - np.int32(1) if is_behind else half
    else:
        while rest > 0:
            half = rest // np.int32(2)
            is_behind = precedes(a[low + half], x)
            low += half + np.int32(1) if is_behind else np.int32(0)
            rest = rest - half - np.int32(1) if is_behind else half
    return low


@cuda.jit(cache=True, fma=False)
def _below(a, v, out, n, count, right):
    """Where numbers belong in a sorted row of `n` elements."""
    i = np.int32(cuda.blockIdx.x) * np.int32(cuda.blockDim.x) + np.int32(cuda.threadIdx.x)
    if i < count:
        out[i] = place_in(a, n, v[i], right)


@cuda.jit(cache=True, fma=False)
def _below_few(a, v, out, n, count, right):
    """The same of at most 1024 elements, which a block has in shared memory, where threads look at different ones at once."""
    here = cuda.shared.array(1024, a.dtype)
    held = cuda.local.array(4, v.dtype)
    t, width = np.int32(cuda.threadIdx.x), np.int32(cuda.blockDim.x)
    k = t
    while k < n:
        here[k] = a[k]
        k += width
    cuda.syncthreads()
    start, step = np.int32(cuda.blockIdx.x) * width + t, np.int32(cuda.gridDim.x) * width
    turns = (count - np.int32(1) - start) // (step * np.int32(4)) + np.int32(1) if start < count else np.int32(0)
    for turn in range(turns):
        first = start + step * np.int32(4) * np.int32(turn)
        left = count - np.int32(1) - first
        # All are read before any is needed.
        for j in range(4):
            held[j] = v[first + min(step * np.int32(j), left)]
        for j in range(4):
            if step * np.int32(j) <= left:
                out[first + step * np.int32(j)] = place_in(here, n, held[j], right)


def below(a: ndarray, v: ndarray, side: str, dtype: np.dtype) -> ndarray:
    """Where numbers belong in a sorted row of their dtype: before equal elements, or behind them with the side "right"."""
    v = moved_to(v, a)
    if not a.size:
        return _full(v.shape, 0, dtype, a.device)
    out = _unset((v.size,), dtype, a.device)
    if v.size:
        few = a.size <= _FEW and v.size > _MANY
        kernel, blocks = (_below_few, min(-(-v.size // _MANY), 1024)) if few else (_below, -(-v.size // _THREADS))
        kernel[blocks, _THREADS](a, row(v), out, np.int32(a.size), np.int32(v.size), np.int32(side == "right"))
    return out if v.ndim == 1 else _reshape(out, v.shape)


def digitized(x: ndarray, bins: ndarray, right: bool) -> ndarray:
    """NumPy's `digitize`. The edges are read, to see whether they grow or fall."""
    if bins.dtype.kind == "c":
        raise TypeError(f"Cannot cast array data from {bins.dtype!r} to dtype('float64') according to the rule 'safe'")
    host = _to_numpy(bins)
    falls = _falls(host)
    kind = result_dtype(x, bins)
    edges = moved_to(bins, x)[::-1] if falls else moved_to(bins, x)
    edges, x = (each if each.dtype == kind else _cast(each, kind) for each in (edges, x))
    found = below(_cast(edges, kind, True) if falls else edges, x, "left" if right else "right", np.dtype(np.int64))
    return u("subtract", bins.size, found) if falls else found


def _falls(edges: np.ndarray) -> bool:
    """Do edges fall, rather than grow? What differs first says it; those that do neither raise."""
    with np.errstate(all="ignore"):
        # The first is not asked: NaN differs from itself.
        others = 1 + np.flatnonzero(edges[1:] != edges[0]) if edges.size else []
        if not len(others):
            return False
        falls = not edges[0] < edges[others[0]]
        first, second = edges[:-1], edges[1:]
        if np.any((first < second if falls else first > second)[others[0] :]):
            raise ValueError("bins must be monotonically increasing or decreasing")
    return falls

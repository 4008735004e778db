"""Counts of numbers, sums of what stands beside them, and histograms.

Counts are added by atomic operations on integers, whose order changes nothing: in shared memory where there are few bins. Weights are
sorted by their bins and then added up run by run, so that no bit depends on which thread comes first: one after the other, as NumPy
does, where runs are short on the average, and else in 256 parts, element k in part k % 256, which are then added in pairs.
"""

from __future__ import annotations

import numpy as np

from weft import cuda
from weft._weft import _cast, _fold, _from_numpy, _full, _iota, _to_numpy, ndarray
from weft.arrays._common import is_half, result_dtype, select, u
from weft.errors import UnsupportedError
from weft.kernels.lines import row
from weft.kernels.moving import INDEX, moved_to, taken
from weft.kernels.radix import order_by_digits
from weft.kernels.searching import below, place_in

__all__ = ["counted", "edges_of", "histogram"]

_THREADS = 256
# Bins that a block counts in shared memory.
_FEW = 2048
# Bins whose edges it has there, too.
_BETWEEN = 1024
# Elements that a block counts at least.
_EACH = 4096
# So many elements of a bin on the average are worth a block.
_LONG = 64


@cuda.jit(cache=True, fma=False)
def _tally(bins, counts, n, few):
    """Counts each number."""
    here = cuda.shared.array(2048, np.int32)
    t, width = np.int32(cuda.threadIdx.x), np.int32(cuda.blockDim.x)
    if few > 0:
        k = t
        while k < few:
            here[k] = 0
            k += width
    cuda.syncthreads()
    start, step = np.int32(cuda.blockIdx.x) * width + t, np.int32(cuda.gridDim.x) * width
    turns = (n - np.int32(1) - start) // step + np.int32(1) if start < n else np.int32(0)
    for j in range(turns):
        i = start + step * np.int32(j)
        if few > 0:
            cuda.atomic.add(here, bins[i], np.int32(1))
        else:
            cuda.atomic.add(counts, bins[i], np.int32(1))
    cuda.syncthreads()
    if few > 0:
        k = t
        while k < few:
            if here[k] != 0:
                cuda.atomic.add(counts, k, here[k])
            k += width


@cuda.jit(cache=True, fma=False)
def _tally_between(a, edges, counts, n, bins):
    """Counts how many numbers are in each of at most 1024 bins, of which the last one has its upper edge, too."""
    here = cuda.shared.array(1024, np.int32)
    bounds = cuda.shared.array(1025, edges.dtype)
    held = cuda.local.array(4, a.dtype)
    t, width = np.int32(cuda.threadIdx.x), np.int32(cuda.blockDim.x)
    k = t
    while k <= bins:
        bounds[k] = edges[k]
        if k < bins:
            here[k] = 0
        k += width
    cuda.syncthreads()
    start, step = np.int32(cuda.blockIdx.x) * width + t, np.int32(cuda.gridDim.x) * width
    turns = (n - np.int32(1) - start) // (step * np.int32(4)) + np.int32(1) if start < n else np.int32(0)
    for turn in range(turns):
        first = start + step * np.int32(4) * np.int32(turn)
        left = n - np.int32(1) - first
        # All are read before any is needed.
        for j in range(4):
            held[j] = a[first + min(step * np.int32(j), left)]
        for j in range(4):
            x = held[j]
            low = place_in(bounds, bins + np.int32(1), x, np.int32(1))
            if low > bins and x == bounds[bins]:
                low = bins
            if step * np.int32(j) <= left and low > 0 and low <= bins:
                cuda.atomic.add(here, low - np.int32(1), np.int32(1))
    cuda.syncthreads()
    k = t
    while k < bins:
        if here[k] != 0:
            cuda.atomic.add(counts, k, here[k])
        k += width


@cuda.jit(cache=True, fma=False)
def _add_runs(values, starts, sums, n, bins):
    """A thread adds up the run of a bin."""
    k = np.int32(cuda.blockIdx.x) * np.int32(cuda.blockDim.x) + np.int32(cuda.threadIdx.x)
    if k < bins:
        i = starts[k]
        stop = starts[k + 1] if k + 1 < bins else n
        total = sums.dtype.type(0)
        while i < stop:
            total = sums.dtype.type(total + values[i])
            i += np.int32(1)
        sums[k] = total


@cuda.jit(cache=True, fma=False)
def _add_long_runs(values, starts, sums, n, bins):
    """A block adds up the run of a bin."""
    parts = cuda.shared.array(256, sums.dtype)
    t, k = np.int32(cuda.threadIdx.x), np.int32(cuda.blockIdx.x)
    i = starts[k] + t
    stop = starts[k + 1] if k + 1 < bins else n
    total = sums.dtype.type(0)
    while i < stop:
        total = sums.dtype.type(total + values[i])
        i += np.int32(256)
    parts[t] = total
    cuda.syncthreads()
    half = np.int32(128)
    while half > 0:
        if t < half:
            parts[t] = sums.dtype.type(parts[t] + parts[t + half])
        cuda.syncthreads()
        half //= np.int32(2)
    if t == 0:
        sums[k] = parts[0]


def _tallied(bins: ndarray, count: int) -> ndarray:
    """How often each of so many numbers is in a row of them."""
    counts = _full((count,), 0, INDEX, bins.device)
    if bins.size:
        blocks = _blocks(bins.size)
        few = count if count <= _FEW else 0
        _tally[blocks, _THREADS](_cast(bins, INDEX), counts, np.int32(bins.size), np.int32(few))
    return _cast(counts, np.dtype(np.int64))


def _blocks(size: int) -> int:
    return min(-(-size // _EACH), 1024)


def _summed(bins: ndarray, weights: ndarray, count: int) -> ndarray:
    """The sums of the weights that stand beside each number, in their dtype."""
    sums = _full((count,), 0, weights.dtype, weights.device)
    if not bins.size or not count:
        return sums
    bins = _cast(bins, INDEX)
    order = order_by_digits(bins, count)
    starts = below(taken(bins, order), _iota(count, 0, 1, INDEX, bins.device), "left", INDEX)
    values = taken(row(weights), order)
    if bins.size > _LONG * count:
        _add_long_runs[count, _THREADS](values, starts, sums, np.int32(bins.size), np.int32(count))
    else:
        _add_runs[-(-count // _THREADS), _THREADS](values, starts, sums, np.int32(bins.size), np.int32(count))
    return sums


def _ends(a: ndarray) -> np.ndarray:
    """The least and the greatest element, which are read: one sync."""
    axes = tuple(range(a.ndim))
    is_first = u("equal", _iota(2, 0, 1, INDEX, a.device), 0)
    return _to_numpy(select(is_first, _fold("minimum", a, axes), _fold("maximum", a, axes)))


def counted(x: ndarray, weights: ndarray | None, minlength: int) -> ndarray:
    """NumPy's `bincount` of a row of integers, with weights in float64."""
    x = _cast(x, INDEX) if x.dtype.kind == "b" else x
    count = minlength
    if x.size:
        low, high = (int(end) for end in _ends(x))
        if low < 0:
            raise ValueError("'list' argument must have no negative elements")
        count = max(count, high + 1)
    # Places are counted in 32 bits, a block behind the last one included.
    if count >= 2**31 - 2**16:
        raise UnsupportedError(f"bincount counts fewer than 2**31 - 2**16 numbers on a device, not {count}: use device='cpu'")
    return _tallied(x, count) if weights is None else _summed(x, moved_to(weights, x), count)


def edges_of(a: ndarray, bins: int | ndarray, low: float | None, high: float | None) -> np.ndarray:
    """The edges of the bins of a histogram: those given, or NumPy's between the least and the greatest element, which are read."""
    ends = None if low is None else (low, high)
    if isinstance(bins, ndarray):
        return np.histogram_bin_edges(np.zeros(0), _to_numpy(bins))
    sample = _ends(a) if a.size and ends is None else np.zeros(0, a.dtype)
    if sample.dtype.kind == "b":
        sample = sample.astype(np.uint8)
    return np.histogram_bin_edges(sample, bins, ends)


def histogram(
    a: ndarray, bins: int | ndarray, low: float | None, high: float | None, weights: ndarray | None, density: bool
) -> tuple[ndarray, ndarray]:
    """NumPy's `histogram` of a row of real numbers."""
    given = isinstance(bins, ndarray)
    host = edges_of(a, bins, low, high)
    edges = moved_to(bins, a) if given else _from_numpy(host, a.device)
    count = max(edges.size - 1, 0)
    kind = result_dtype(a, edges) if given else edges.dtype
    if a.dtype.kind == "b":
        a = _cast(a, np.dtype(np.uint8))
    if weights is None and a.size and a.dtype == kind and kind.kind == "f" and not is_half(kind) and 0 < count <= _BETWEEN:
        found = _full((count,), 0, INDEX, a.device)
        _tally_between[_blocks(a.size), _THREADS](row(a), _cast(edges, kind, True), found, np.int32(a.size), np.int32(count))
        return _weighed(_cast(found, np.dtype(np.int64)), edges, density)
    number = _bin_of(_cast(a, kind), _cast(edges, kind), count)
    if not given:
        # As NumPy, which leaves out what is outside before it converts.
        inside = u("logical_and", u("greater_equal", a, host[0]), u("less_equal", a, host[-1]))
        number = select(inside, number, count)
    if weights is None:
        sums = _tallied(number, count + 1)[:count]
    else:
        weights = moved_to(weights, a)
        wide = {"f": np.float64, "c": np.complex128}.get(weights.dtype.kind)
        sums = _summed(number, weights if wide is None else _cast(weights, np.dtype(wide)), count + 1)[:count]
        sums = _cast(sums, weights.dtype) if not density else sums
    return _weighed(sums, edges, density)


def _weighed(sums: ndarray, edges: ndarray, density: bool) -> tuple[ndarray, ndarray]:
    """What a histogram gives for the sums of its bins."""
    if density:
        widths = _cast(u("subtract", edges[1:], edges[:-1]), np.dtype(np.float64))
        sums = u("true_divide", u("true_divide", sums, widths), _fold("add", sums, (0,)))
    return _cast(sums, sums.dtype, True), edges


def _bin_of(a: ndarray, edges: ndarray, count: int) -> ndarray:
    """The number of the bin of each element, as many as there are bins for those outside; the last edge belongs to the last bin."""
    if not count:
        return _full(a.shape, 0, INDEX, a.device)
    number = u("subtract", below(_cast(edges, edges.dtype, True), a, "right", INDEX), 1)
    number = select(u("logical_and", u("equal", number, count), u("equal", a, edges[-1])), count - 1, number)
    return _cast(select(u("less", number, 0), count, number), INDEX)

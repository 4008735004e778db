"""Elements taken from places and put into places, and those that a mask selects.

Places count elements of a row, in 32 bits: rows are shorter than 2**31. Elements are moved as unsigned integers of their size, so that
a few kernels serve every dtype and no bit of them changes.
"""

from __future__ import annotations

import numpy as np

from weft import cuda
from weft._weft import _bits, _cast, _full, _reshape, _to_device, _unset, ndarray
from weft.errors import UnsupportedError
from weft.kernels.lines import row
from weft.kernels.scan import sums_of

__all__ = ["INDEX", "chosen", "looked_up", "moved_to", "put", "put_apart", "selected", "taken"]

INDEX = np.dtype(np.int32)
"""What places are counted in."""

_THREADS = 256
# Elements of a tile: eight for each thread.
_TILE = 2048
_ALL = np.uint32(0xFFFFFFFF)
_WORDS = {1: np.dtype(np.uint8), 2: np.dtype(np.uint16), 4: np.dtype(np.uint32), 8: np.dtype(np.uint64)}


@cuda.jit(cache=True, fma=False)
def _take(a, at, out, n, m, count):
    """Of each row of `n` elements, `m` at places in it."""
    i = np.int32(cuda.blockIdx.x) * np.int32(cuda.blockDim.x) + np.int32(cuda.threadIdx.x)
    if i < count:
        out[i] = a[i // m * n + at[i]]


@cuda.jit(cache=True, fma=False)
def _look_up(a, at, out, wrong, n, count):
    """The elements of a row of `n` at indices, of which negative ones count from the back; those that are outside set a flag."""
    i = np.int32(cuda.blockIdx.x) * np.int32(cuda.blockDim.x) + np.int32(cuda.threadIdx.x)
    if i < count:
        place = at[i]
        if place < 0:
            place += n
        if place < 0 or place >= n:
            cuda.atomic.max(wrong, 0, np.int32(1))
        else:
            out[i] = a[np.int32(place)]


@cuda.jit(cache=True, fma=False)
def _put(out, at, values, step, last, count):
    """Puts values, or with a step of 0 one, at places; where `last` has elements only those that it names."""
    i = np.int32(cuda.blockIdx.x) * np.int32(cuda.blockDim.x) + np.int32(cuda.threadIdx.x)
    if i < count:
        place = at[i]
        if last.size == 0 or last[place] == i + 1:
            out[place] = values[i * step]


@cuda.jit(cache=True, fma=False)
def _last(at, last, count):
    """Who comes last to each place, counted from 1."""
    i = np.int32(cuda.blockIdx.x) * np.int32(cuda.blockDim.x) + np.int32(cuda.threadIdx.x)
    if i < count:
        cuda.atomic.max(last, at[i], i + np.int32(1))


@cuda.jit(cache=True, fma=False)
def _choose(flags, sums, a, out, count):
    """The elements where a flag is set, one behind the other; their places where `a` is not given."""
    i = np.int32(cuda.blockIdx.x) * np.int32(cuda.blockDim.x) + np.int32(cuda.threadIdx.x)
    if i < count:
        if flags[i]:
            if a is None:
                out[sums[i] - np.int32(1)] = i
            else:
                out[sums[i] - np.int32(1)] = a[i]


@cuda.jit(cache=True, fma=False)
def _set_of_tiles(flags, counts, n):
    """How many flags are set in each tile of 2048."""
    parts = cuda.shared.array(8, np.int32)
    held = cuda.local.array(8, np.int32)
    t, block = np.int32(cuda.threadIdx.x), np.int32(cuda.blockIdx.x)
    warp, start = t // np.int32(32), block * np.int32(2048) + t
    # All are read before any is needed.
    for j in range(8):
        i = start + np.int32(256) * np.int32(j)
        held[j] = np.int32(1) if flags[min(i, n - np.int32(1))] and i < n else np.int32(0)
    count = np.int32(0)
    for j in range(8):
        count += np.int32(cuda.popc(np.uint32(cuda.ballot_sync(_ALL, held[j] != 0))))
    if t % np.int32(32) == 0:
        parts[warp] = count
    cuda.syncthreads()
    if t == 0:
        total = np.int32(0)
        for w in range(8):
            total += parts[w]
        counts[block] = total


@cuda.jit(cache=True, fma=False)
def _choose_of_tiles(flags, sums, a, out, n):
    """The elements of each tile of 2048 where a flag is set, behind those of the tiles before; their places where `a` is not given.

    A warp has 256 elements that follow each other, 32 at a time.
    """
    parts = cuda.shared.array(8, np.int32)
    votes = cuda.local.array(8, np.uint32)
    held = cuda.local.array(8, np.int32)
    t, block = np.int32(cuda.threadIdx.x), np.int32(cuda.blockIdx.x)
    lane, warp = t % np.int32(32), t // np.int32(32)
    start = block * np.int32(2048) + warp * np.int32(256) + lane
    for j in range(8):
        i = start + np.int32(32) * np.int32(j)
        held[j] = np.int32(1) if flags[min(i, n - np.int32(1))] and i < n else np.int32(0)
    count = np.int32(0)
    for j in range(8):
        votes[j] = np.uint32(cuda.ballot_sync(_ALL, held[j] != 0))
        count += np.int32(cuda.popc(votes[j]))
    if lane == 0:
        parts[warp] = count
    cuda.syncthreads()
    to = sums[block - np.int32(1)] if block > 0 else np.int32(0)
    for w in range(warp):
        to += parts[w]
    below = np.uint32(cuda.lanemask_lt())
    for j in range(8):
        if held[j] != 0:
            i = start + np.int32(32) * np.int32(j)
            place = to + np.int32(cuda.popc(votes[j] & below))
            if a is None:
                out[place] = i
            else:
                out[place] = a[i]
        to += np.int32(cuda.popc(votes[j]))


def moved_to(x: ndarray, like: ndarray) -> ndarray:
    """An array on the device of another one."""
    return x if x.device == like.device else _to_device(x, like.device)


def _words(a: ndarray) -> ndarray:
    """A row as unsigned integers, where there are such."""
    kind = _WORDS.get(a.dtype.itemsize)
    if kind is None or kind == a.dtype or (kind.itemsize == 8 and not a.device.int64):
        return a
    return _bits(a, kind)


def _blocks(count: int) -> int:
    if count >= 2**31 - _THREADS:
        raise UnsupportedError(f"{count} elements are too many for one array of gathered elements on a device: use device='cpu'")
    return -(-count // _THREADS)


def _indices(at: ndarray) -> ndarray:
    at = row(at)
    return at if at.dtype == INDEX else _cast(at, INDEX)


def taken(a: ndarray, at: ndarray, per_row: bool = False) -> ndarray:
    """The elements at places of an array as one row, or with `per_row` at places along the last axis of each row; in the places' shape.

    The places are within.
    """
    out = _unset((at.size,), a.dtype, a.device)
    if at.size:
        n, m = (a.shape[-1], at.shape[-1]) if per_row else (0, at.size)
        _take[_blocks(at.size), _THREADS](_words(row(a)), _indices(at), _words(out), np.int32(n), np.int32(m), np.int32(at.size))
    return out if at.ndim == 1 else _reshape(out, at.shape)


def looked_up(a: ndarray, at: ndarray) -> tuple[ndarray, bool]:
    """The elements of a row at indices of 32 or 64 bits, in their shape, and whether all are inside: one sync, behind all the work."""
    out, wrong = _unset((at.size,), a.dtype, a.device), _full((1,), 0, INDEX, a.device)
    n = at.dtype.type(a.size)
    _look_up[_blocks(at.size), _THREADS](_words(a), row(at), _words(out), wrong, n, np.int32(at.size))
    return out if at.ndim == 1 else _reshape(out, at.shape), int(wrong[0]) == 0


def put(out: ndarray, at: ndarray, values: ndarray) -> None:
    """Puts values, as many as places or one, at places of a row. Of several for one place the last one stays, as if put one by one."""
    count = at.size
    if not count:
        return
    at = _indices(at)
    last = _full((out.size if values.size > 1 else 0,), 0, INDEX, out.device)
    if last.size:
        _last[_blocks(count), _THREADS](at, last, np.int32(count))
    _written(out, at, values, last)


def put_apart(out: ndarray, at: ndarray, values: ndarray) -> None:
    """Puts values, as many as places or one, at places of a row that are different."""
    if at.size:
        _written(out, _indices(at), values, _full((0,), 0, INDEX, out.device))


def _written(out: ndarray, at: ndarray, values: ndarray, last: ndarray) -> None:
    step = np.int32(1 if values.size > 1 else 0)
    _put[_blocks(at.size), _THREADS](_words(out), at, _words(row(values)), step, last, np.int32(at.size))


def selected(flags: ndarray) -> tuple[ndarray, int]:
    """The sums of flags up to each, and how many there are, which is read: one sync."""
    sums = sums_of(flags)
    return sums, int(sums[flags.size - 1]) if flags.size else 0


def chosen(flags: ndarray, a: ndarray | None, found: tuple[ndarray, int] | None = None) -> ndarray:
    """The elements of a row where flags are set, or their places. How many there are is read, unless `selected` has done so."""
    if found is None:
        return _chosen_of_tiles(flags, a)
    sums, count = found
    out = _room_for(count, flags, a)
    if count:
        _choose[_blocks(flags.size), _THREADS](flags, sums, *_rows_of(a, out), np.int32(flags.size))
    return out


def _chosen_of_tiles(flags: ndarray, a: ndarray | None) -> ndarray:
    """The same, by how many flags are set in each tile."""
    tiles, n = -(-flags.size // _TILE), np.int32(flags.size)
    if not tiles:
        return _room_for(0, flags, a)
    counts = _unset((tiles,), INDEX, flags.device)
    _set_of_tiles[tiles, _THREADS](flags, counts, n)
    sums = sums_of(counts)
    count = int(sums[tiles - 1])
    out = _room_for(count, flags, a)
    if count:
        _choose_of_tiles[tiles, _THREADS](flags, sums, *_rows_of(a, out), n)
    return out


def _room_for(count: int, flags: ndarray, a: ndarray | None) -> ndarray:
    return _unset((count,), INDEX if a is None else a.dtype, flags.device)


def _rows_of(a: ndarray | None, out: ndarray) -> tuple[ndarray | None, ndarray]:
    return (None, out) if a is None else (_words(a), _words(out))

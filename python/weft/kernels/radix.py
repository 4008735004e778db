"""Stable sorts of rows: by digits of eight bits where rows are long, by a network in shared memory where they are short.

Elements become unsigned integers in whose order they are sorted: NaN last, all of them equal, both zeros equal. A pass over a digit is
three kernels: each block counts the digits of its tile, the counts are scanned (rows outside, then digits, then tiles, so that one scan
serves all rows), and each block puts its elements behind what others have before them. Where several lanes of a warp have one digit,
they find each other by a vote and keep their order; warps have counters of their own in shared memory. A tile is put in order there first,
so that neighbours are written together.

The method is that of D. Merrill and A. Grimshaw, "High performance and scalable radix sorting" (2011); ranks by votes are from
A. Adinets and D. Merrill, "Onesweep" (2022). The network is K. Batcher's bitonic one (1968), made stable by comparing places, too.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from weft import cuda
from weft._weft import _bits, _cast, _full, _part, _permute, _reshape, _unset, ndarray
from weft.arrays._common import select, u
from weft.kernels.launching import shared_bytes
from weft.kernels.lines import row
from weft.kernels.moving import INDEX, moved_to, taken
from weft.kernels.scan import sums_of

__all__ = ["order_along", "order_of_rows", "sorted_along", "sorted_rows"]

_THREADS = 256
# Elements of a tile, and those of a thread.
_EACH = 8
_TILE = _THREADS * _EACH
# Rows up to this length are sorted by a network.
_SHORT = 1024
_ALL = np.uint32(0xFFFFFFFF)
# Keys of 64 bits in order, what goes with them and counters have so many bytes together.
_ROOM = 26 << 10
# What a pass writes, and whether it is the first one.
_KEYS = np.int32(1)
_ORDER = np.int32(2)
_FIRST = np.int32(4)


@cuda.jit(cache=True, fma=False)
def _network(keys, ordered, order, wanted, rows, n, wide):
    """A block sorts the rows that fit into 1024 places: each has `wide` of them, a power of two. `wanted` says what is written."""
    key = cuda.shared.array(1024, keys.dtype)
    place = cuda.shared.array(1024, np.int32)
    t = np.int32(cuda.threadIdx.x)
    first = np.int32(cuda.blockIdx.x) * (np.int32(1024) // wide)
    s = t
    while s < 1024:
        r, j = first + s // wide, s % wide
        # What is behind the row comes last: it has the greatest key, and a greater place.
        key[s] = keys[r * n + j] if r < rows and j < n else ~keys.dtype.type(0)
        place[s] = j
        s += np.int32(256)
    size = np.int32(2)
    while size <= wide:
        step = size // np.int32(2)
        while step > 0:
            cuda.syncthreads()
            q = t
            while q < 512:
                i = 2 * q - (q & (step - 1))
                x, y = key[i], key[i + step]
                at, other = place[i], place[i + step]
                wrong = x > y or (x == y and at > other)
                if wrong == ((i % wide) & size == 0):
                    key[i], key[i + step] = y, x
                    place[i], place[i + step] = other, at
                q += np.int32(256)
            step //= np.int32(2)
        size *= np.int32(2)
    cuda.syncthreads()
    s = t
    while s < 1024:
        r, j = first + s // wide, s % wide
        if r < rows and j < n:
            if wanted & _KEYS != 0:
                ordered[r * n + j] = key[s]
            if wanted & _ORDER != 0:
                order[r * n + j] = place[s]
        s += np.int32(256)


@cuda.jit(cache=True, fma=False)
def _count(keys, counts, n, tiles, shift):
    """How often each digit is in a tile: the counts lie by row, digit and tile."""
    found = cuda.shared.array(256, np.int32)
    own = cuda.local.array(8, keys.dtype)
    t = np.int32(cuda.threadIdx.x)
    block = np.int32(cuda.blockIdx.x)
    r, tile = block // tiles, block % tiles
    start = tile * np.int32(2048) + t
    # All are read before any is needed.
    for j in range(8):
        own[j] = keys[r * n + min(start + np.int32(256) * np.int32(j), n - np.int32(1))]
    found[t] = 0
    cuda.syncthreads()
    for j in range(8):
        if start + np.int32(256) * np.int32(j) < n:
            digit = np.int32((own[j] >> shift) & keys.dtype.type(255))
            cuda.atomic.add(found, digit, np.int32(1))
    cuda.syncthreads()
    counts[(r * np.int32(256) + t) * tiles + tile] = found[t]


def _spread(like: ndarray) -> Any:
    """The kernel that puts the elements of a tile where their digit says, for the device of an array."""
    return _spread_from(2048 if shared_bytes(like.device.name) >= _ROOM else 0)


@functools.cache
def _spread_from(kept: int) -> Any:
    """The kernel with so many keys of a tile, all or none, in shared memory."""
    room = max(kept, 1)

    @cuda.jit(cache=True, fma=False)
    def spread(keys, places, sums, ordered, order, wanted, n, tiles, shift):  # type: ignore[no-untyped-def]
        """Puts the elements of a tile where their digit says, and what goes with each of them: its place in the row at first.

        What is not wanted, or not there at first, is any array: one form of the kernel serves all passes.
        """
        found = cuda.shared.array(2048, np.int32)
        sorted_keys = cuda.shared.array(room, keys.dtype)
        begins = cuda.shared.array(256, np.int32)
        totals = cuda.shared.array(8, np.int32)
        rank = cuda.local.array(8, np.int32)
        t = np.int32(cuda.threadIdx.x)
        lane, warp = t % np.int32(32), t // np.int32(32)
        own = warp * np.int32(256)
        block = np.int32(cuda.blockIdx.x)
        r, tile = block // tiles, block % tiles
        for w in range(8):
            found[np.int32(w) * np.int32(256) + t] = 0
        cuda.syncthreads()
        # A warp has 256 elements that follow each other, 32 at a time.
        start = tile * np.int32(2048) + own + lane
        for j in range(8):
            i = start + np.int32(32) * np.int32(j)
            inside = i < n
            digit = np.int32((keys[r * n + i] >> shift) & keys.dtype.type(255)) if inside else np.int32(0)
            same = np.uint32(cuda.ballot_sync(_ALL, inside))
            for bit in range(8):
                is_one = (digit >> np.int32(bit)) & np.int32(1) == 1
                ones = np.uint32(cuda.ballot_sync(_ALL, is_one))
                same &= ones if is_one else ~ones
            before = np.int32(cuda.popc(same & np.uint32(cuda.lanemask_lt())))
            base = found[own + digit] if inside else np.int32(0)
            rank[j] = base + before
            cuda.syncwarp()
            if inside and before == 0:
                found[own + digit] = base + np.int32(cuda.popc(same))
            cuda.syncwarp()
        cuda.syncthreads()
        # Where digit t begins in the tile in order: behind all smaller ones.
        total = np.int32(0)
        for w in range(8):
            total += found[np.int32(w) * np.int32(256) + t]
        behind = total
        step = np.int32(1)
        while step < 32:
            below = cuda.shfl_up_sync(_ALL, behind, step)
            if lane >= step:
                behind += below
            step *= np.int32(2)
        if lane == 31:
            totals[warp] = behind
        cuda.syncthreads()
        first = behind - total
        for w in range(warp):
            first += totals[w]
        at = (r * np.int32(256) + t) * tiles + tile
        begins[t] = (sums[at - np.int32(1)] if at > 0 else np.int32(0)) - first
        # Where those of each warp begin.
        for w in range(8):
            k = np.int32(w) * np.int32(256) + t
            here = found[k]
            found[k] = first
            first += here
        cuda.syncthreads()
        for j in range(8):
            i = start + np.int32(32) * np.int32(j)
            if i < n:
                key = keys[r * n + i]
                to = found[own + np.int32((key >> shift) & keys.dtype.type(255))] + rank[j]
                rank[j] = to
                if kept > 0:
                    sorted_keys[to] = key
        cuda.syncthreads()
        # The counters have done their work: what goes with the keys is put in order in their memory.
        if kept == 0 or wanted & _ORDER != 0:
            for j in range(8):
                i = start + np.int32(32) * np.int32(j)
                if i < n:
                    # Without room for the keys they are read again, and what goes with them is, too.
                    found[rank[j]] = i if kept == 0 or wanted & _FIRST != 0 else places[r * n + i]
        cuda.syncthreads()
        # Neighbouring threads write neighbouring elements, but where a digit ends.
        s = t
        while s < 2048 and tile * np.int32(2048) + s < n:
            i = found[s]
            key = sorted_keys[s] if kept > 0 else keys[r * n + i]
            to = begins[np.int32((key >> shift) & keys.dtype.type(255))] + s
            if wanted & _KEYS != 0:
                ordered[to] = key
            if wanted & _ORDER != 0:
                order[to] = i if kept > 0 or wanted & _FIRST != 0 else places[r * n + i]
            s += np.int32(256)

    return spread


def _passes(keys: ndarray, bits: int, rows: int, n: int, wanted: int) -> tuple[ndarray, ndarray]:
    """Keys of so many bits in order, and where they were in their rows; what is not wanted is an array without elements."""
    wants_keys, wants_order = wanted & int(_KEYS), wanted & int(_ORDER)
    if n <= _SHORT:
        ordered, order = (_room(keys, kind, want) for kind, want in ((keys.dtype, wants_keys), (INDEX, wants_order)))
        wide = max(2, 1 << (n - 1).bit_length())
        blocks = -(-rows // (_SHORT // wide))
        _network[blocks, _THREADS](keys, ordered, order, np.int32(wanted), np.int32(rows), np.int32(n), np.int32(wide))
        return ordered, order
    tiles = -(-n // _TILE)
    order = _room(keys, INDEX, 0)
    # Passes write to one and the other in turn.
    rooms = [(_room(keys, keys.dtype, wants_keys or bits > 8), _room(keys, INDEX, wants_order)) for _ in range(2 if bits > 8 else 1)]
    for shift in range(0, bits, 8):
        counts = _unset((rows * 256 * tiles,), INDEX, keys.device)
        _count[rows * tiles, _THREADS](keys, counts, np.int32(n), np.int32(tiles), keys.dtype.type(shift))
        sums = sums_of(counts)
        writes_keys = wants_keys or shift + 8 < bits
        ordered, moved = rooms[shift // 8 % 2]
        what = np.int32((_KEYS if writes_keys else 0) | wants_order | (0 if shift else _FIRST))
        _spread(keys)[rows * tiles, _THREADS](keys, order, sums, ordered, moved, what, np.int32(n), np.int32(tiles), keys.dtype.type(shift))
        keys, order = ordered, moved
    return keys, order


def _room(keys: ndarray, dtype: np.dtype, wanted: int) -> ndarray:
    """A row for as many elements as there are keys, or for none."""
    return _unset((keys.size if wanted else 0,), dtype, keys.device)


_UNSIGNED = {1: np.dtype(np.uint8), 2: np.dtype(np.uint16), 4: np.dtype(np.uint32), 8: np.dtype(np.uint64)}
_KEY = np.dtype(np.uint32)
# How many bits of a float are its fraction: what is above infinity is NaN.
_FRACTION = {"float16": 10, "bfloat16": 7, "float32": 23, "float64": 52}


def _key(x: ndarray) -> tuple[ndarray, int]:
    """Unsigned integers in whose order real numbers are sorted, and how many bits they have."""
    dtype = x.dtype
    kind, bits = _UNSIGNED[dtype.itemsize], 8 * dtype.itemsize
    if dtype.kind == "b":
        return _cast(x, _KEY), 8
    high = 1 << (bits - 1)
    found = x if dtype == kind else _bits(x, kind)
    if dtype.kind == "i":
        found = u("bitwise_xor", found, high)
    elif dtype.kind != "u":
        infinity = high - (1 << _FRACTION[dtype.name])
        size = u("bitwise_and", found, high - 1)
        negative = u("logical_and", u("greater_equal", found, high), u("not_equal", size, 0))
        mapped = select(negative, u("invert", found), u("bitwise_or", size, high))
        found = select(u("greater", size, infinity), kind.type(2 * high - 1), mapped)
    return (found if bits >= 32 else _cast(found, _KEY)), bits


def _number(key: ndarray, dtype: np.dtype) -> ndarray:
    """The integers or bools with these keys."""
    if dtype.kind == "b":
        return _cast(key, dtype)
    kind = _UNSIGNED[dtype.itemsize]
    found = key if key.dtype == kind else _cast(key, kind)
    if dtype.kind == "u":
        return found
    return _bits(u("bitwise_xor", found, 1 << (8 * dtype.itemsize - 1)), dtype)


def _keys(x: ndarray) -> list[tuple[ndarray, int]]:
    """The keys to sort by one after the other, the last one first of all.

    Complex numbers are sorted by their real parts, then by their imaginary ones; behind them come those with an imaginary part, then
    those with a real part, then those with both that are NaN.
    """
    if x.dtype.kind != "c":
        return [_key(x)]
    real, imaginary = _part(x, "real"), _part(x, "imag")
    lost = u("add", u("multiply", _cast(u("isnan", real), _KEY), 2), _cast(u("isnan", imaginary), _KEY))
    return [_key(_cast(imaginary, imaginary.dtype, True)), _key(_cast(real, real.dtype, True)), (lost, 8)]


def _turned(key: ndarray, bits: int, descending: bool) -> ndarray:
    """Keys in a row, for the other order if that is asked for."""
    if descending:
        key = u("subtract", key.dtype.type((1 << bits) - 1), key)
    return row(key)


def order_of_rows(x: ndarray, descending: bool = False) -> ndarray:
    """Where along the last axis the elements of each row lie in sorted order, as 32-bit integers. Equal elements keep their order."""
    n = x.shape[-1]
    if not x.size:
        return _full(x.shape, 0, INDEX, x.device)
    order: ndarray | None = None
    for key, bits in _keys(x):
        key = _reshape(_turned(key, bits, descending), x.shape)
        key = key if order is None else taken(key, order, True)
        _, found = _passes(row(key), bits, x.size // n, n, int(_ORDER))
        found = _reshape(found, x.shape)
        order = found if order is None else taken(order, found, True)
    return order


def sorted_rows(x: ndarray, descending: bool = False) -> ndarray:
    """The elements of each row in sorted order. Equal ones keep theirs, of which floats have two: both zeros."""
    if not x.size:
        return _full(x.shape, 0, x.dtype, x.device)
    if x.dtype.kind not in "biu":
        return taken(x, order_of_rows(x, descending), True)
    n = x.shape[-1]
    key, bits = _key(x)
    keys, _ = _passes(_turned(key, bits, descending), bits, x.size // n, n, int(_KEYS))
    if descending:
        keys = u("subtract", keys.dtype.type((1 << bits) - 1), keys)
    return _reshape(_number(keys, x.dtype), x.shape)


def sorted_along(a: ndarray, axis: int, descending: bool) -> ndarray:
    """The elements in sorted order along an axis; the result lies in C's order."""
    return _back(sorted_rows(_last(a, axis), descending), axis)


def order_along(a: ndarray, axis: int, descending: bool) -> ndarray:
    """The indices that sort along an axis."""
    return _cast(_back(order_of_rows(_last(a, axis), descending), axis), np.dtype(np.int64))


def _last(a: ndarray, axis: int) -> ndarray:
    """The array with an axis as the last one."""
    return a if axis == a.ndim - 1 else _permute(a, (*(i for i in range(a.ndim) if i != axis), axis))


def _back(a: ndarray, axis: int) -> ndarray:
    """The last axis put back, in C's order of memory."""
    if axis == a.ndim - 1:
        return a
    return _cast(_permute(a, (*range(axis), a.ndim - 1, *range(axis, a.ndim - 1))), a.dtype, True)


def top(a: ndarray, k: int, axis: int, largest: bool) -> tuple[ndarray, ndarray]:
    """The `k` elements that come first along an axis in sorted order, or in the other one, and their indices."""
    rows = _last(a, axis)
    order = order_of_rows(rows, largest)[..., :k]
    return _back(taken(rows, order, True), axis), _cast(_back(order, axis), np.dtype(np.int64))


def order_of_keys(*keys: ndarray) -> ndarray:
    """Where the elements of each row lie in the order of several keys, the last one first of all, as 32-bit integers."""
    order: ndarray | None = None
    for key in keys:
        found = order_of_rows(key if order is None else taken(key, order, True))
        order = found if order is None else taken(order, found, True)
    return order


def order_of_all(axis: int, *keys: ndarray) -> ndarray:
    """NumPy's `lexsort` along an axis."""
    keys = tuple(moved_to(key, keys[0]) for key in keys)
    return _cast(_back(order_of_keys(*(_last(key, axis) for key in keys)), axis), np.dtype(np.int64))


def order_by_digits(numbers: ndarray, limit: int) -> ndarray:
    """Where the elements of a row of natural numbers below a limit lie in sorted order."""
    bits = max(1, (limit - 1).bit_length())
    return _passes(_cast(numbers, _KEY), bits, 1, numbers.size, int(_ORDER))[1]

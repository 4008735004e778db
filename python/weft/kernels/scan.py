"""Inclusive scans along an axis: sums, products, extremes of all elements up to each.

A row is cut into tiles, a block scans one. Where a row has several, their totals come first, and the scan of these is what each tile
starts with: every element is read twice and written once, and no block waits for another one. A short row by itself is left to one
block, which goes from tile to tile. Many short rows, axes with others
behind them, and all products of floats are walked by a thread each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft import cuda
from weft._weft import _cast, _full, _permute, _reshape, _unset, ndarray
from weft.arrays._common import is_half, is_inexact
from weft.kernels.lines import around, row

__all__ = ["MANY", "may_group", "operation", "scanned", "sums_of", "walked"]

_THREADS = 256
# Elements of a tile: eight for each thread.
_TILE = 2048
# A single row up to this length is scanned by one block.
_ALONE = 4 * _TILE
# Up to so many elements a thread walks along a row of its own.
_WALKED = 32
MANY = 2048
"""So many threads are enough for a device."""
_ALL = np.uint32(0xFFFFFFFF)


def _add(x, y):
    return x + y


def _multiply(x, y):
    return x * y


def _or(x, y):
    return x | y


def _and(x, y):
    return x & y


def _xor(x, y):
    return x ^ y


def _maximum(x, y):
    return np.maximum(x, y)


def _minimum(x, y):
    return np.minimum(x, y)


def _fmax(x, y):
    return np.fmax(x, y)


def _fmin(x, y):
    return np.fmin(x, y)


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add": _add,
    "multiply": _multiply,
    "maximum": _maximum,
    "minimum": _minimum,
    "fmax": _fmax,
    "fmin": _fmin,
    "bitwise_or": _or,
    "bitwise_and": _and,
    "bitwise_xor": _xor,
    "logical_or": _or,
    "logical_and": _and,
    "logical_xor": _xor,
}
"""What can be scanned in any grouping, by the name of its ufunc."""
_OF_BOOLS = {"add": _or, "multiply": _and, "maximum": _or, "fmax": _or, "minimum": _and, "fmin": _and}


@cuda.jit(cache=True, fma=False)
def _walk(op, a, out, n, inner, lines):
    """A thread scans a line of `n` elements that lie `inner` apart."""
    at = np.int32(cuda.blockIdx.x) * np.int32(cuda.blockDim.x) + np.int32(cuda.threadIdx.x)
    if at < lines:
        place = at // inner * n * inner + at % inner
        total = out.dtype.type(a[place])
        out[place] = total
        for _ in range(np.int32(1), n):
            place += inner
            total = out.dtype.type(op(total, out.dtype.type(a[place])))
            out[place] = total


@cuda.jit(cache=True, fma=False)
def _totals(op, a, out, n, whole, tile):
    """A block combines a whole tile of a row: each has `whole` of them, and perhaps a last one that nobody asks for. A warp combines a
    part of the tile, 32 neighbours at once: which of equal zeros remains depends on their order."""
    parts = cuda.shared.array(8, out.dtype)
    own = cuda.local.array(8, out.dtype)
    t = np.int32(cuda.threadIdx.x)
    lane, warp = t % np.int32(32), t // np.int32(32)
    block = np.int32(cuda.blockIdx.x)
    start = block // whole * n + block % whole * tile + warp * np.int32(256) + lane
    # All are read before any is needed.
    for j in range(8):
        own[j] = out.dtype.type(a[start + np.int32(32) * np.int32(j)])
    for j in range(8):
        x = own[j]
        for k in range(5):
            x = out.dtype.type(op(x, cuda.shfl_down_sync(_ALL, x, np.int32(1) << np.int32(k))))
        own[j] = x
    total = own[0]
    for j in range(1, 8):
        total = out.dtype.type(op(total, own[j]))
    if lane == 0:
        parts[warp] = total
    cuda.syncthreads()
    if t == 0:
        for w in range(1, 8):
            total = out.dtype.type(op(total, parts[w]))
        out[block] = total


@cuda.jit(cache=True, fma=False)
def _scan(op, a, before, out, n, tiles, tile):
    """A block scans a tile of a row, which starts with what `before` has for the tile before: eight elements at once for each thread.

    A warp scans 256 elements that follow each other, 32 at a time, and adds the totals of the warps before it.
    """
    totals = cuda.shared.array(8, out.dtype)
    own = cuda.local.array(8, out.dtype)
    t, width = np.int32(cuda.threadIdx.x), np.int32(cuda.blockDim.x)
    lane, warp = t % np.int32(32), t // np.int32(32)
    block = np.int32(cuda.blockIdx.x)
    row, number = block // tiles, block % tiles
    start = row * n
    stop = start + min(n, number * tile + tile)
    start += number * tile
    carried = number > 0
    carry = before[row * (tiles - np.int32(1)) + number - np.int32(1)] if carried else out.dtype.type(a[start])
    while start < stop:
        first = start + warp * np.int32(256) + lane
        # All are read before any is needed. What is behind the tile is of no use to what is in it.
        for j in range(8):
            own[j] = out.dtype.type(a[min(first + np.int32(32) * np.int32(j), stop - np.int32(1))])
        for j in range(8):
            x = own[j]
            for k in range(5):
                y = cuda.shfl_up_sync(_ALL, x, np.int32(1) << np.int32(k))
                if lane >= np.int32(1) << np.int32(k):
                    x = out.dtype.type(op(y, x))
            own[j] = x
        for j in range(1, 8):
            own[j] = out.dtype.type(op(cuda.shfl_sync(_ALL, own[j - 1], np.int32(31)), own[j]))
        if lane == 31:
            totals[warp] = own[7]
        cuda.syncthreads()
        behind, some = carry, carried
        for w in range(warp):
            behind = out.dtype.type(op(behind, totals[w])) if some else totals[w]
            some = True
        for j in range(8):
            i = first + np.int32(32) * np.int32(j)
            if i < stop:
                out[i] = out.dtype.type(op(behind, own[j])) if some else own[j]
        start += width * np.int32(8)
        if start < stop:
            # What the next elements start with.
            for w in range(width // np.int32(32)):
                carry = out.dtype.type(op(carry, totals[w])) if carried else totals[w]
                carried = True
            cuda.syncthreads()


def operation(name: str, dtype: np.dtype) -> Callable[[Any, Any], Any] | None:
    """What a ufunc does with two numbers of a dtype, where it may be grouped in any way; complex numbers have no greatest here."""
    if name not in OPERATIONS or (name.startswith("logical") and dtype.kind != "b"):
        return None
    if dtype.kind == "c" and name not in ("add", "multiply"):
        return None
    return _OF_BOOLS.get(name, OPERATIONS[name]) if dtype.kind == "b" else OPERATIONS[name]


def may_group(name: str, dtype: np.dtype) -> bool:
    """Whether there is such an operation, of which every grouping of neighbours gives the same bits. Their order does matter: of zeros of
    both signs an extreme is the last one, or of some dtypes the first."""
    return operation(name, dtype) is not None and (dtype.kind in "biu" or name in ("maximum", "minimum", "fmax", "fmin"))


def scanned(name: str, a: ndarray, axis: int, dtype: np.dtype) -> ndarray:
    """The scan of an array along an axis, computed in a dtype, which the array is cast to. It lies in C's order.

    Integers are exact, and wrap. Floats and complex numbers are multiplied one after the other, as NumPy does. They are added in another
    order than NumPy's, which goes from one to the next: in groups of 32 and of 256, then of whole tiles, by fixed rules that the shape
    alone decides. What rounding does differs from NumPy's by no more than the number of elements times the sum of the absolute
    values times the rounding of the type, and a sum of some elements may leave the range of the type where NumPy's sums do not.
    Floats of 16 bits are added in float32 and rounded in the end; their products are rounded one by one.
    """
    kind = np.dtype(np.float32) if is_half(dtype) and name == "add" else dtype
    if not a.size:
        return _full(a.shape, 0, dtype, a.device)
    if a.dtype != kind and not (is_half(a.dtype) and kind.name == "float32") and not _is_wider(a.dtype, kind):
        a = _cast(a, kind)
    op = operation(name, kind)
    outer, n, inner = around(a.shape, axis)
    # Of a product in parts a part may leave the range of the type where no product of all up to an element does.
    is_walked = n <= _WALKED or (name == "multiply" and is_inexact(kind))
    if inner > 1 and not is_walked and outer * inner < MANY:
        turned = _permute(a, (*(i for i in range(a.ndim) if i != axis), axis))
        found = _reshape(_rows(op, turned, outer * inner, n, kind), turned.shape)
        back = (*range(axis), a.ndim - 1, *range(axis, a.ndim - 1))
        found = _permute(found, back)
    elif inner > 1 or is_walked:
        found = walked(op, a, axis, kind)
    else:
        found = _reshape(_rows(op, a, outer, n, kind), a.shape)
    return found if found.dtype == dtype else _cast(found, dtype)


def walked(op: Callable[[Any, Any], Any], a: ndarray, axis: int, dtype: np.dtype) -> ndarray:
    """The scan of an array along an axis by any operation, in a dtype: a thread goes along a line."""
    outer, n, inner = around(a.shape, axis)
    out = _unset((a.size,), dtype, a.device)
    lines = outer * inner
    _walk[-(-lines // _THREADS), _THREADS](op, row(a), out, np.int32(n), np.int32(inner), np.int32(lines))
    return _reshape(out, a.shape)


def sums_of(counts: ndarray) -> ndarray:
    """The sums of all elements up to each of a row, in 32 bits, which the caller knows to suffice."""
    return _rows(_add, counts, 1, counts.size, np.dtype(np.int32)) if counts.size else _full((0,), 0, np.dtype(np.int32), counts.device)


def _rows(op: Callable[[Any, Any], Any], a: ndarray, rows: int, n: int, kind: np.dtype) -> ndarray:
    """The scans of rows, one behind the other."""
    elements = row(a)
    out = _unset((rows * n,), kind, a.device)
    # Where a block may take a row as a whole, which it does tile by tile, there is but one.
    tile = n if rows == 1 and n <= _ALONE else _TILE
    tiles = -(-n // tile)
    threads = min(_THREADS, -(-n // _THREADS) * 32)
    # Of one tile nobody asks for it.
    before = out
    if tiles > 1:
        whole = tiles - 1
        totals = _unset((rows * whole,), kind, a.device)
        _totals[rows * whole, _THREADS](op, elements, totals, np.int32(n), np.int32(whole), np.int32(tile))
        before = totals if whole == 1 else _rows(op, totals, rows, whole, kind)
    _scan[rows * tiles, threads](op, elements, before, out, np.int32(n), np.int32(tiles), np.int32(tile))
    return out


def _is_wider(small: np.dtype, dtype: np.dtype) -> bool:
    """Whether a kernel may read one and compute in the other: integers and bools in wider integers."""
    return small.kind in "biu" and dtype.kind in "iu" and np.can_cast(small, dtype)

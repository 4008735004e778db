"""Attention by an online softmax: a thread goes along the keys for one query, with the largest score so far and sums relative to it
(Milakov and Gimelshein, 2018; Dao and others, 2022), so that no matrix of scores is ever in memory.

The threads of a block share tiles of keys and values, which all of them read at the same time. Arrays are (n, heads, length, size), views
as they lie, stretched ones too. Floats of 16 bits are computed in single precision.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from weft import cuda
from weft._weft import _unset, ndarray
from weft.arrays._common import is_half

from .launching import SHARED_BYTES, launched, number, pieces

__all__ = ["WIDEST", "attended"]

WIDEST = 128
"""The most numbers of a query, key or value: a thread has those of its query in registers."""

_THREADS = 128
# The most blocks along the second axis of a grid.
_GRID = 65535


@functools.cache
def _kernel(dtype: np.dtype, width: int, masked: str, causal: bool) -> Any:
    """The kernel for vectors of up to `width` numbers; `masked` says what the mask is of: "b" bools, "f" what is added, or nothing."""
    held = np.float32 if is_half(dtype) else dtype.type
    keys = min(SHARED_BYTES // (2 * width * np.dtype(held).itemsize), 32)
    zero, none = held(0), held(-math.inf)

    @cuda.jit(cache=True)
    def online_softmax(out, logs, q, k, v, mask, scale, first):  # type: ignore[no-untyped-def]
        key_tile = cuda.shared.array((keys, width), held)
        value_tile = cuda.shared.array((keys, width), held)
        query = cuda.local.array(width, held)
        sums = cuda.local.array(width, held)
        t = cuda.threadIdx.x
        place = first + cuda.blockIdx.y
        n, head = place // q.shape[1], place % q.shape[1]
        row0 = cuda.blockIdx.x * _THREADS
        row, rows, size = row0 + t, q.shape[2], q.shape[3]
        of_k, of_v = k[n, head], v[n, head]
        length, out_size = of_k.shape[0], of_v.shape[1]
        for i in range(width):
            query[i] = held(q[n, head, row, i]) * scale if row < rows and i < size else zero
            sums[i] = zero
        largest, total = none, zero
        end = min(length, row0 + _THREADS) if causal else length
        for start in range(0, end, keys):
            for at in range(t, keys * width, _THREADS):
                j, i = at // width, at % width
                key_tile[j, i] = held(of_k[start + j, i]) if start + j < length and i < size else zero
                value_tile[j, i] = held(of_v[start + j, i]) if start + j < length and i < out_size else zero
            cuda.syncthreads()
            for j in range(min(keys, end - start)):
                score = zero
                for i in range(width):
                    score += query[i] * key_tile[j, i]
                if row < rows:
                    if masked == "b":
                        if not mask[n, head, row, start + j]:
                            score = none
                    elif masked == "f":
                        score += held(mask[n, head, row, start + j])
                if causal and start + j > row:
                    score = none
                if score > largest:
                    # What there is is relative to what was the largest.
                    by = np.exp(largest - score)
                    total *= by
                    for i in range(width):
                        sums[i] *= by
                    largest = score
                if score != none:
                    part = np.exp(score - largest)
                    total += part
                    for i in range(width):
                        sums[i] += part * value_tile[j, i]
            cuda.syncthreads()
        if row < rows:
            # A query that looks at nothing gets nothing.
            share = held(1) / total if total != zero else zero
            for i in range(width):
                if i < out_size:
                    out[n, head, row, i] = sums[i] * share
            logs[n, head, row] = largest + np.log(total) if total != zero else none

    return online_softmax


def attended(q: ndarray, k: ndarray, v: ndarray, mask: ndarray | None, causal: bool, scale: float) -> tuple[ndarray, ndarray]:
    """What queries find among values by their keys, (n, heads, queries, size of a value), and the logarithms of the sums of their softmax.

    Keys and values have as many heads as queries; the mask, of bools or floats, is stretched to (n, heads, queries, keys).
    """
    return launched(_attended, q, k, v, mask, causal, scale)


def _attended(q: ndarray, k: ndarray, v: ndarray, mask: ndarray | None, causal: bool, scale: float) -> tuple[ndarray, ndarray]:
    single = np.dtype(np.float32) if is_half(q.dtype) else q.dtype
    out = _unset((*q.shape[:3], v.shape[3]), q.dtype, q.device)
    logs = _unset(q.shape[:3], single, q.device)
    width = max(16, 1 << (max(q.shape[3], v.shape[3]) - 1).bit_length())
    kind = "" if mask is None else "b" if mask.dtype.kind == "b" else "f"
    kernel = _kernel(q.dtype, width, kind, causal)
    blocks = -(-q.shape[2] // _THREADS)
    for part in pieces(q.shape[0] * q.shape[1], _GRID):
        across = min(part.stop, q.shape[0] * q.shape[1]) - part.start
        first = number(part.start, q)
        kernel[(blocks, across), _THREADS](out, logs, q, k, v, q if mask is None else mask, single.type(scale), first)
    return out, logs

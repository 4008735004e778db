"""Compiled loops over rows of elements that lie where lists of offsets say: what indexing, `accumulate` and `at` are made of.

Each takes one-dimensional arrays, and elements as unsigned integers of their size: so a few compiled forms serve every rank, dtype and
layout. Offsets count elements.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from weft._decorators import njit
from weft._weft import Device, _adopt, _from_numpy, ndarray

_WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


@njit
def add_offsets(index, size, stride, out):
    """Adds what the indices of an axis of `size` elements are in offsets to `out`; gives the place of the first one outside, or -1."""
    for j in range(index.size):
        i = index[j]
        if i < -size or i >= size:
            return j
        out[j] += (i + size if i < 0 else i) * stride
    return -1


@njit
def true_places(mask):
    """The positions of the true elements of a vector."""
    return np.flatnonzero(mask)


@njit
def gather(base, places, out):
    """Takes the elements at these places."""
    for j in range(places.size):
        out[j] = base[places[j]]


@njit
def scatter(base, places, values):
    """Puts values at these places, one after the other."""
    for j in range(places.size):
        base[places[j]] = values[j]


@njit
def gather_rows(base, before, places, after, count, step, out):
    """Takes rows of `count` elements, `step` apart, that start at each sum of one offset from each list."""
    n = 0
    for p in range(before.size):
        for j in range(places.size):
            for s in range(after.size):
                start = before[p] + places[j] + after[s]
                for q in range(count):
                    out[n + q] = base[start + q * step]
                n += count


@njit
def scatter_rows(base, before, places, after, count, step, values):
    """Puts values where `gather_rows` takes them from, in that order."""
    n = 0
    for p in range(before.size):
        for j in range(places.size):
            for s in range(after.size):
                start = before[p] + places[j] + after[s]
                for q in range(count):
                    base[start + q * step] = values[n + q]
                n += count


def words(array: np.ndarray) -> np.ndarray:
    """The same memory as unsigned integers of the elements' size, where there are such."""
    kind = _WORDS.get(array.dtype.itemsize)
    return array if kind is None else array.view(kind)


def memory_of(array: np.ndarray) -> tuple[np.ndarray, int, tuple[int, ...]]:
    """All the memory between an array's first and last byte as one row of words, where in it the first element is, and the strides.

    An array of no elements has no memory to show: the caller sees to it that none are asked for.
    """
    item = array.dtype.itemsize
    if any(stride % item for stride in array.strides):
        array = np.ascontiguousarray(array)
    strides = tuple(stride // item for stride in array.strides)
    first = sum(-stride * (n - 1) for n, stride in zip(array.shape, strides) if stride < 0)
    reach = first + sum(stride * (n - 1) for n, stride in zip(array.shape, strides) if stride > 0) + 1
    lowest = array[tuple(-1 if stride < 0 else 0 for stride in strides)] if array.ndim else array
    # A view, not a scalar: the subscript ends with an ellipsis.
    if array.ndim:
        lowest = array[(*(slice(-1, None) if stride < 0 else slice(0, 1) for stride in strides),)]
    return words(as_strided(lowest, (reach,), (item,), writeable=array.flags.writeable)), first, strides


def adopted(array: np.ndarray, device: Device) -> ndarray:
    """An array of Weft's on a device that takes over a fresh NumPy array."""
    return _adopt(array) if device.kind == "cpu" else _from_numpy(array, device)


def grid_of(dims: list[tuple[int, int]]) -> np.ndarray:
    """The offsets of all positions on axes of these sizes and strides, in C's order."""
    offsets: Any = np.zeros((), np.int64)
    for n, stride in dims:
        offsets = offsets[..., None] + np.arange(n, dtype=np.int64) * stride
    return offsets.reshape(-1)


def run_of(dims: list[tuple[int, int]]) -> tuple[list[tuple[int, int]], int, int]:
    """The last axes taken together as one row of equal steps, and the axes before them: (axes, count, step)."""
    left = [(n, stride) for n, stride in dims if n != 1]
    if not left:
        return [], 1, 0
    count, step = left.pop()
    while left and left[-1][1] == step * count:
        count *= left.pop()[0]
    return left, count, step

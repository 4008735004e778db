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
def ends(index):
    """The least and the greatest of some integers and 0 and -1."""
    low, high = np.int64(0), np.int64(-1)
    for j in range(index.size):
        low, high = min(low, index[j]), max(high, index[j])
    return low, high


@njit
def add_offsets(index, size, stride, out):
    """Adds what the indices of an axis of `size` elements are in offsets to `out`."""
    for j in range(index.size):
        i = index[j]
        out[j] += (i + size if i < 0 else i) * stride


@njit
def true_places(mask):
    """The positions of the true elements of a vector."""
    return np.flatnonzero(mask)


@njit
def take(base, index, size, first, stride, out):
    """Takes the elements with these indices from an axis of `size` elements."""
    for j in range(index.size):
        i = index[j]
        out[j] = base[first + (i + size if i < 0 else i) * stride]


@njit
def gather(base, places, out):
    """Takes the elements at these places."""
    for j in range(places.size):
        out[j] = base[places[j]]


@njit
def scatter(base, places, values, stride):
    """Puts values at these places, one after the other; with a stride of 0, one value everywhere."""
    for j in range(places.size):
        base[places[j]] = values[j * stride]


@njit
def gather_rows(base, before, places, after, count, step, out):
    """Takes rows of `count` elements, `step` apart, that start at each sum of one offset from each list."""
    n = 0
    if after.size * count == 1:
        for p in range(before.size):
            for j in range(places.size):
                out[n + j] = base[before[p] + places[j] + after[0]]
            n += places.size
        return
    for p in range(before.size):
        for j in range(places.size):
            for s in range(after.size):
                start = before[p] + places[j] + after[s]
                for q in range(count):
                    out[n + q] = base[start + q * step]
                n += count


@njit
def scatter_rows(base, before, places, after, count, step, values, stride):
    """Puts values where `gather_rows` takes them from, in that order; with a stride of 0, one value everywhere."""
    n = 0
    if after.size * count == 1:
        for p in range(before.size):
            for j in range(places.size):
                base[before[p] + places[j] + after[0]] = values[(n + j) * stride]
            n += places.size
        return
    for p in range(before.size):
        for j in range(places.size):
            for s in range(after.size):
                start = before[p] + places[j] + after[s]
                for q in range(count):
                    base[start + q * step] = values[(n + q) * stride]
                n += count


def is_outside(index: np.ndarray, size: int) -> bool:
    """Is one of the indices not on an axis of so many elements?"""
    low, high = ends(index)
    return bool(low < -size or high >= size)


def words(array: np.ndarray) -> np.ndarray:
    """The same memory as unsigned integers of the elements' size, where there are such."""
    kind = _WORDS.get(array.dtype.itemsize)
    return array if kind is None else array.view(kind)


def memory_of(array: np.ndarray) -> tuple[np.ndarray, int, tuple[int, ...]]:
    """All the memory between an array's first and last byte as one row of words, where in it the first element is, and the strides.

    An array of no elements has no memory to show: the caller sees to it that none are asked for.
    """
    item = array.dtype.itemsize
    if array.flags.c_contiguous:
        return words(array.reshape(-1)), 0, tuple(stride // item for stride in array.strides)
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


def row_of(values: np.ndarray) -> tuple[np.ndarray, int]:
    """Values, broadcast perhaps, as one row, and how far apart in it they are: 0 if they are one."""
    if values.size > 1 and not any(n > 1 and stride for n, stride in zip(values.shape, values.strides)):
        return np.ascontiguousarray(values[(slice(0, 1),) * values.ndim]).reshape(-1), 0
    return np.ascontiguousarray(values).reshape(-1), 1


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

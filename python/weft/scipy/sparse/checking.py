"""What a sparse matrix is given, checked: its indices are copied first, so that nothing written later makes them others.

The loops of sparse matrices rely on indices without a look at them (`loops.py`), and would read and write outside of arrays otherwise.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

import weft
from weft._weft import ndarray

Triples = tuple[ndarray, ndarray, ndarray]


def shape_of(given: Any) -> tuple[int, int]:
    shape = tuple(operator.index(n) for n in given)
    if len(shape) != 2:
        raise ValueError(f"shape must be a 2-tuple of integers, not {shape}")
    if min(shape) < 0:
        raise ValueError("'shape' elements cannot be negative")
    _check_size(shape)
    return shape


def _check_size(shape: tuple[int, ...]) -> None:
    if max(shape) > np.iinfo(np.int64).max:
        raise OverflowError(f"no sparse matrix is of the shape {shape}: its dimensions are below 2**63")


def as_asked(data: ndarray, dtype: Any, copy: bool) -> ndarray:
    """Elements of the dtype that a constructor was asked for, in memory of their own if it was."""
    data = data if dtype is None else data.astype(dtype, copy=False)
    return weft.copy(data) if copy else data


def _own(given: Any) -> np.ndarray:
    """Indices in memory that nobody else writes, to be checked there: loops rely on them for as long as the matrix lives."""
    found = np.array(weft.asnumpy(weft.asarray(given)))
    if found.size and found.dtype.kind not in "iu":
        raise TypeError(f"the indices of a sparse matrix are integers, not {found.dtype}")
    return found


def _kept(indices: np.ndarray, largest: int, device: Any) -> ndarray:
    """Checked indices where the elements are, of the dtype that the largest of them needs."""
    return weft.asarray(indices.astype(index_dtype(largest)), device=device)


def _check_range(indices: np.ndarray, count: int, axis: int) -> None:
    if not indices.size:
        return
    largest, least = int(indices.max()), int(indices.min())
    if largest >= count:
        raise ValueError(f"axis {axis} index {largest} exceeds matrix dimension {count}")
    if least < 0:
        raise ValueError(f"negative axis {axis} index: {least}")


def checked(data: Any, row: Any, column: Any, shape: tuple[int, int] | None) -> tuple[tuple[int, int], Triples]:
    """Triples whose indices, copied, are within a shape, which is that of the largest if none is given."""
    data, rows, columns = weft.asarray(data), _own(row), _own(column)
    if not (data.ndim == rows.ndim == columns.ndim == 1 and data.size == rows.size == columns.size):
        raise ValueError("row, column, and data array must all be the same length")
    if shape is None:
        if data.size == 0:
            raise ValueError("cannot infer dimensions from zero sized index arrays")
        shape = int(rows.max()) + 1, int(columns.max()) + 1
    for axis, each in enumerate((rows, columns)):
        _check_range(each, shape[axis], axis)
    _check_size(shape)
    return shape, (_kept(rows, max(shape), data.device), _kept(columns, max(shape), data.device), data)


def checked_rows(data: Any, indices: Any, indptr: Any, shape: Any, flipped: bool) -> tuple[Any, ...]:
    """Elements by rows whose columns, copied, are within a shape, and whose rows begin in order."""
    data, indices, starts = weft.asarray(data), _own(indices), _own(indptr)
    if not (data.ndim == indices.ndim == starts.ndim == 1):
        raise ValueError("data, indices, and indptr should be 1-D")
    if indices.size != data.size:
        raise ValueError("indices and data should have the same size")
    if shape is None:
        if not indices.size:
            raise ValueError("unable to infer matrix dimensions")
        lines = starts.size - 1, int(indices.max()) + 1
        shape = lines[::-1] if flipped else lines
    shape = shape_of(shape)
    lines, across = shape[::-1] if flipped else shape
    if starts.size != lines + 1:
        raise ValueError(f"index pointer size {starts.size} should be {lines + 1}")
    if starts[0] != 0:
        raise ValueError("index pointer should start with 0")
    if int(starts[-1]) > indices.size:
        raise ValueError("Last value of index pointer should be less than the size of index and data arrays")
    # Compared and not subtracted: differences of unsigned numbers are none of them negative.
    if (starts[1:] < starts[:-1]).any():
        raise ValueError("index pointer values must form a non-decreasing sequence")
    count = int(starts[-1])
    data, indices = data[:count], indices[:count]
    if indices.size and int(indices.max()) >= across:
        raise ValueError(f"indices must be < {across}")
    if indices.size and int(indices.min()) < 0:
        raise ValueError("indices must be >= 0")
    _check_size(shape)
    largest = max(*shape, count)
    return shape, data, _kept(indices, largest, data.device), _kept(starts, largest, data.device)


def index_dtype(largest: int) -> type:
    return np.int32 if largest <= np.iinfo(np.int32).max else np.int64

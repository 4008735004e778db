"""The loops of sparse matrices: products on the CPU by rows on all cores, on other devices a thread for each element of the result.

Indices have been checked when a matrix was made, and are not again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import weft
from weft import cuda, prange
from weft._decorators import njit
from weft._weft import ndarray

ROWS = 1024
"""Rows that one thread takes at a time, one after the other: as lanes of a vector they would gather every element."""


@njit(parallel=True)
def times_vector(indptr, indices, data, x, like):
    """The product of rows and a vector; `like` is of the result's dtype."""
    rows = indptr.size - 1
    found = np.empty(rows, like.dtype)
    for block in prange((rows + ROWS - 1) // ROWS):
        first = block * ROWS
        some_times_vector(indptr, indices, data, x, first, min(first + ROWS, rows), found)
    return found


@njit
def some_times_vector(indptr, indices, data, x, first, last, found):
    """The product of some rows and a vector. Places that are unsigned are known not to count from the end."""
    # What makes an array, were it of one element, is no lane of a vector.
    zero = np.zeros(1, found.dtype)[0]
    at = np.uint64(indptr[first])
    for row in range(first, last):
        total = zero
        end = np.uint64(indptr[row + 1])
        while at < end:
            total += data[at] * x[np.uint64(indices[at])]
            at += np.uint64(1)
        found[row] = total


@njit(parallel=True)
def times_matrix(indptr, indices, data, x, like):
    """The product of rows and a matrix with elements everywhere."""
    rows = indptr.size - 1
    found = np.empty((rows, x.shape[1]), like.dtype)
    for block in prange((rows + ROWS - 1) // ROWS):
        first = block * ROWS
        some_times_matrix(indptr, indices, data, x, first, min(first + ROWS, rows), found)
    return found


@njit
def some_times_matrix(indptr, indices, data, x, first, last, found):
    """The product of some rows and a matrix."""
    zero = np.zeros(1, found.dtype)[0]
    at = np.uint64(indptr[first])
    for row in range(first, last):
        for column in range(x.shape[1]):
            found[row, column] = zero
        end = np.uint64(indptr[row + 1])
        while at < end:
            weight = data[at]
            source = np.uint64(indices[at])
            for column in range(x.shape[1]):
                found[row, column] += weight * x[source, column]
            at += np.uint64(1)


@cuda.jit(fma=False)
def on_device(indptr, indices, data, x, found):
    """The product of rows and a matrix: an element for each thread."""
    place = cuda.grid(1)
    if place < found.size:
        row = place // found.shape[1]
        column = place % found.shape[1]
        total = found[row, column]
        for at in range(indptr[row], indptr[row + 1]):
            total += data[at] * x[indices[at], column]
        found[row, column] = total


def product_on_device(rows: int, kind: Any, indptr: ndarray, indices: ndarray, data: ndarray, columns: ndarray) -> ndarray:
    """The product of so many rows and the columns of a matrix, where these are."""
    found = weft.zeros((rows, columns.shape[1]), kind, device=data.device)
    if found.size and data.size:
        with data.device:
            on_device.forall(found.size)(indptr, indices, data, weft.ascontiguousarray(columns), found)
    return found


@njit
def by_rows(rows, columns, data, count):
    """Triples in order of their rows, those of one row as they came: where each row begins, columns, elements."""
    indptr = np.zeros(count + 1, np.int64)
    for at in range(rows.size):
        indptr[rows[at] + 1] += 1
    for row in range(count):
        indptr[row + 1] += indptr[row]
    places = indptr.copy()
    found, values = np.empty(columns.size, columns.dtype), np.empty(data.size, data.dtype)
    for at in range(rows.size):
        place = places[rows[at]]
        places[rows[at]] = place + 1
        found[place] = columns[at]
        values[place] = data[at]
    return indptr, found, values


@njit
def rows_of(indptr, columns):
    """The row of each element."""
    found = np.empty(columns.size, np.int64)
    for row in range(indptr.size - 1):
        for at in range(indptr[row], indptr[row + 1]):
            found[at] = row
    return found


@njit
def merged(indptr, columns, data):
    """Rows in order of columns with elements of one place added up."""
    starts = np.zeros(indptr.size, np.int64)
    found, values = columns.copy(), data.copy()
    count = 0
    for row in range(indptr.size - 1):
        first = count
        for at in range(indptr[row], indptr[row + 1]):
            if count > first and found[count - 1] == columns[at]:
                values[count - 1] += data[at]
            else:
                found[count] = columns[at]
                values[count] = data[at]
                count += 1
        starts[row + 1] = count
    return starts, found[:count].copy(), values[:count].copy()


@njit
def merged_triples(rows, columns, data):
    """Triples of which those of one place are next to each other, these added up."""
    found_rows, found_columns, values = rows.copy(), columns.copy(), data.copy()
    count = 0
    for at in range(rows.size):
        if count > 0 and found_rows[count - 1] == rows[at] and found_columns[count - 1] == columns[at]:
            values[count - 1] += data[at]
        else:
            found_rows[count] = rows[at]
            found_columns[count] = columns[at]
            values[count] = data[at]
            count += 1
    return found_rows[:count].copy(), found_columns[:count].copy(), values[:count].copy()


@njit
def without_zeros(indptr, columns, data):
    """Rows without elements that are zero."""
    starts = np.zeros(indptr.size, np.int64)
    found, values = columns.copy(), data.copy()
    count = 0
    for row in range(indptr.size - 1):
        for at in range(indptr[row], indptr[row + 1]):
            if data[at] != 0:
                found[count] = columns[at]
                values[count] = data[at]
                count += 1
        starts[row + 1] = count
    return starts, found[:count].copy(), values[:count].copy()


@njit
def product_sizes(indptr, columns, other_indptr, other_columns, width):
    """Where each row of a product of two matrices begins (F. G. Gustavson, 1978)."""
    starts = np.zeros(indptr.size, np.int64)
    seen = np.full(width, -1)
    for row in range(indptr.size - 1):
        count = 0
        for at in range(indptr[row], indptr[row + 1]):
            between = columns[at]
            for other in range(other_indptr[between], other_indptr[between + 1]):
                if seen[other_columns[other]] != row:
                    seen[other_columns[other]] = row
                    count += 1
        starts[row + 1] = starts[row] + count
    return starts


@njit
def product(indptr, columns, data, other_indptr, other_columns, other, starts, width, like):
    """The columns and the elements of a product of two matrices, whose rows begin as `product_sizes` says."""
    found = np.empty(starts[starts.size - 1], columns.dtype)
    values = np.zeros(found.size, like.dtype)
    places = np.full(width, -1)
    for row in range(indptr.size - 1):
        count = starts[row]
        for at in range(indptr[row], indptr[row + 1]):
            between = columns[at]
            weight = data[at]
            for step in range(other_indptr[between], other_indptr[between + 1]):
                column = other_columns[step]
                if places[column] < starts[row]:
                    places[column] = count
                    found[count] = column
                    count += 1
                values[places[column]] += weight * other[step]
    return found, values

"""Systems of equations with triangles of any size, solved where the right-hand sides lie.

A triangle is halved until 32 rows are left, which a block solves in shared memory; between the halves stands a product of matrices. Rows
are eliminated from the first to the last. What is conjugated and what is unit is said by flags, what is turned, and upper, by the views
that are given.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from weft import cuda
from weft._weft import ndarray

from .launching import number, pieces
from .products import GRID, conjugate, subtract_product

__all__ = ["ROWS", "half", "less_product", "place_in_triangle", "solve_lower"]

ROWS = 32
"""The most rows of what one block solves or factorizes."""

_COLUMNS = 8


def place_in_triangle(i: Any, j: Any) -> Any:
    """Where an element of a lower triangle lies in one row of shared memory.

    Those of a column are in different banks, as those of a row are: the sums of the numbers up to each leave all remainders by a power of
    two.
    """
    return i * (i + 1) // 2 + j


def less_product(dtype: np.dtype) -> Any:
    """For kernels: a number less a product of two others."""
    return _less_complex if dtype.kind == "c" else _less


def _less(s: Any, x: Any, y: Any) -> Any:
    return s - x * y


def _less_complex(s: Any, x: Any, y: Any) -> Any:
    return complex(s.real - x.real * y.real + x.imag * y.imag, s.imag - x.real * y.imag - x.imag * y.real)


@functools.cache
def _substitution(dtype: np.dtype, unit: bool, conjugates: bool) -> Any:
    """The kernel of one matrix of at most 32 rows and 8 right-hand sides for each block: a thread for each number."""
    held, less, rows, columns = dtype.type, less_product(dtype), ROWS, _COLUMNS
    loaded, cells = (conjugate if conjugates else held), place_in_triangle(ROWS, 0)

    @cuda.jit(cache=True)
    def substitution(a, b, first, by_rows):  # type: ignore[no-untyped-def]
        lower = cuda.shared.array(cells, held)
        done = cuda.shared.array((rows, columns), held)
        t = cuda.threadIdx.x
        place = first + cuda.blockIdx.y
        n = a.shape[1]
        for turn in range(rows * rows // (rows * columns)):
            i, j = (turn * columns + t // rows, t % rows) if by_rows else (t % rows, turn * columns + t // rows)
            if i < n and j <= i:
                lower[place_in_triangle(i, j)] = loaded(a[place, i, j])
        row, column = (t // columns, t % columns) if by_rows else (t % rows, t // rows)
        column_there = cuda.blockIdx.x * columns + column
        inside = row < n and column_there < b.shape[2]
        s = b[place, row, column_there] if inside else held(0)
        cuda.syncthreads()
        for i in range(n):
            if row == i:
                if not unit:
                    s = held(s / lower[place_in_triangle(i, i)])
                done[i, column] = s
            cuda.syncthreads()
            if row > i and row < n:
                s = less(s, lower[place_in_triangle(row, i)], done[i, column])
        if inside:
            b[place, row, column_there] = s

    return substitution


def half(n: int) -> int:
    """Where a matrix of more than 32 rows is cut."""
    return -(-n // (2 * ROWS)) * ROWS


def solve_lower(a: ndarray, b: ndarray, unit: bool = False, conjugates: bool = False) -> None:
    """Replaces right-hand sides (p, n, k) by solutions, of lower triangles (p, n, n), of which nothing else is read."""
    n = a.shape[1]
    if b.size == 0:
        return
    if n > ROWS:
        cut = half(n)
        solve_lower(a[:, :cut, :cut], b[:, :cut], unit, conjugates)
        _subtract(b[:, cut:], a[:, cut:, :cut], b[:, :cut], conjugates)
        solve_lower(a[:, cut:, cut:], b[:, cut:], unit, conjugates)
        return
    kernel = _substitution(b.dtype, unit, conjugates and b.dtype.kind == "c")
    by_rows = abs(b.strides[2]) <= abs(b.strides[1])
    for places in pieces(b.shape[0], GRID):
        grid = (-(-b.shape[2] // _COLUMNS), places.stop - places.start)
        kernel[grid, ROWS * _COLUMNS](a, b, number(places.start, b), by_rows)


def _subtract(c: ndarray, a: ndarray, b: ndarray, conjugates: bool) -> None:
    if conjugates:
        # The products' kernels conjugate the second matrix: the other way around it is the first one.
        c, a, b = c.transpose(0, 2, 1), b.transpose(0, 2, 1), a.transpose(0, 2, 1)
    subtract_product(c, a, b, conjugates=conjugates)

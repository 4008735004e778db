"""The Cholesky decomposition of stacks of matrices.

A matrix is halved until 32 rows are left, which a block factorizes in shared memory; between the halves stand a system of equations with a
triangle and a product of matrices, of which only tiles of the lower triangle are computed.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from weft import cuda
from weft._weft import _cast, _full, _reshape, ndarray
from weft.arrays._common import u
from weft.arrays.shapes import matrix_transpose

from .launching import launched, number, pieces, wide
from .products import GRID, conjugate, subtract_product
from .triangles import ROWS, half, less_product, place_in_triangle, solve_lower

__all__ = ["cholesky"]


@functools.cache
def _small(dtype: np.dtype, groups: int) -> Any:
    """The kernel of one matrix of at most 32 rows for each block of 32 threads by `groups`, in place. A flag is set where a pivot is not
    positive."""
    held, less, cells = dtype.type, less_product(dtype), place_in_triangle(ROWS, 0)
    other = conjugate if dtype.kind == "c" else held

    @cuda.jit(cache=True, launch_bounds=32 * groups)
    def cholesky_of_small(a, flags, first):  # type: ignore[no-untyped-def]
        box = cuda.shared.array(cells, held)
        row, group = cuda.threadIdx.x, cuda.threadIdx.y
        place = first + cuda.blockIdx.x
        n = a.shape[1]
        for i in range(group, n, groups):
            if row <= i:
                box[place_in_triangle(i, row)] = a[place, i, row]
        cuda.syncthreads()
        for j in range(n):
            pivot = box[place_in_triangle(j, j)].real
            if row == 0 and group == 0 and not pivot > 0:
                flags[place] = True
            root = math.sqrt(pivot)
            below = box[place_in_triangle(row, j)] / root if row > j and row < n else held(0)
            cuda.syncthreads()
            if group == 0:
                if row == j:
                    box[place_in_triangle(j, j)] = root
                elif row > j and row < n:
                    box[place_in_triangle(row, j)] = below
            cuda.syncthreads()
            for i in range(group, n, groups):
                if i > j and i <= row and row < n:
                    at = place_in_triangle(row, i)
                    box[at] = less(box[at], below, other(box[place_in_triangle(i, j)]))
            cuda.syncthreads()
        for i in range(group, n, groups):
            if row <= i:
                a[place, i, row] = box[place_in_triangle(i, row)]

    return cholesky_of_small


@cuda.jit(cache=True)
def _clear_above(a, first):  # type: ignore[no-untyped-def]
    """Zeros above the diagonals."""
    place = first + cuda.blockIdx.z
    column, row = cuda.grid(2)
    if row < column and column < a.shape[2]:
        a[place, row, column] = 0


def cholesky(a: ndarray, upper: bool) -> ndarray:
    """The triangles of matrices (..., n, n) in their dtype; LinAlgError if one is not positive definite, or has NaN."""
    return launched(functools.partial(_triangles, upper), a, like=_like)


def _like(a: ndarray) -> ndarray:
    return _full(a.shape, 0, a.dtype, a.device)


def _triangles(upper: bool, a: ndarray) -> ndarray:
    n, count = a.shape[-1], math.prod(a.shape[:-2])
    if a.size == 0:
        return _like(a)
    given = _turned(a) if upper else a
    work = _cast(_reshape(given, (count, n, n)), wide(a), True)
    flags = _full((count,), False, np.dtype(bool), a.device)
    _factorize(work, flags)
    if bool(flags.any()):
        raise LinAlgError("Matrix is not positive definite")
    for places in pieces(count, GRID):
        _clear_above[(-(-n // 32), -(-n // 8), places.stop - places.start), (32, 8)](work, number(places.start, a))
    found = _reshape(_cast(work, a.dtype), a.shape)
    return _turned(found) if upper else found


def _turned(a: ndarray) -> ndarray:
    a = matrix_transpose(a)
    return u("conjugate", a) if a.dtype.kind == "c" else a


def _factorize(a: ndarray, flags: ndarray) -> None:
    """Replaces the lower triangles of matrices (p, n, n)."""
    n = a.shape[1]
    if n <= ROWS:
        groups = 1 if n <= 8 else 8
        kernel = _small(a.dtype, groups)
        for places in pieces(a.shape[0], GRID):
            kernel[places.stop - places.start, (ROWS, groups)](a, flags, number(places.start, a))
        return
    cut = half(n)
    above, below, rest = a[:, :cut, :cut], a[:, cut:, :cut], a[:, cut:, cut:]
    _factorize(above, flags)
    # below = x aboveᴴ, so that the conjugated triangle times xᵀ is belowᵀ.
    solve_lower(above, below.transpose(0, 2, 1), conjugates=True)
    subtract_product(rest, below, below.transpose(0, 2, 1), lower_only=True, conjugates=True)
    _factorize(rest, flags)

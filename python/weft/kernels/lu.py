"""Elimination with partial pivoting of stacks of matrices, and what follows from it: solutions, inverses, determinants.

Columns are halved until 16 are left, whose rows one block eliminates from the first column to the last; between the halves rows are
exchanged, a system of equations with a triangle is solved, and a product of matrices taken away. Matrices of at most 32 rows are one
block's, in shared memory. The pivot is the first of the largest elements of its column, by the sum of the parts' sizes if they are complex.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from weft import cuda
from weft._weft import _broadcast, _cast, _full, _reshape, ndarray
from weft.arrays._common import broadcast_shape, real_dtype, select, u
from weft.arrays.reductions import any as any_of
from weft.arrays.shapes import diagonal, matrix_transpose

from .launching import launched, number, pieces, wide
from .products import GRID, subtract_product
from .triangles import ROWS, less_product, solve_lower

__all__ = ["det", "inv", "inv_or_nan", "slogdet", "solve"]

_PANEL = 16


def _size(x: Any) -> Any:
    return abs(x)


def _size_of_complex(x: Any) -> Any:
    return abs(x.real) + abs(x.imag)


def is_larger(x: Any, y: Any) -> Any:
    """In kernels: NaN is larger than every number, so that it is a pivot and not lost."""
    return x > y or (x != x and y == y)


def _place(i: Any, j: Any) -> Any:
    """Where an element of a matrix of 32 rows and columns lies in shared memory: each row is turned by its number, so that the elements of
    a column are in different banks."""
    return i * ROWS + (i + j) % ROWS


@functools.cache
def _small(dtype: np.dtype, groups: int) -> Any:
    """The kernel of one matrix of at most 32 rows for each block of 32 threads by `groups`, in place."""
    held, less, cells = dtype.type, less_product(dtype), ROWS * ROWS
    size = _size_of_complex if dtype.kind == "c" else _size
    least = real_dtype(dtype).type(-1)

    @cuda.jit(cache=True, launch_bounds=32 * groups)
    def lu_of_small(a, pivots, first):  # type: ignore[no-untyped-def]
        box = cuda.shared.array(cells, held)
        row, group = cuda.threadIdx.x, cuda.threadIdx.y
        place = first + cuda.blockIdx.x
        n = a.shape[1]
        for j in range(group, n, groups):
            if row < n:
                box[_place(row, j)] = a[place, row, j]
        cuda.syncthreads()
        for j in range(n):
            # Every thread looks for itself: that takes no barriers.
            largest, at = least, np.int32(j)
            for i in range(j, n):
                found = size(box[_place(i, j)])
                if is_larger(found, largest):
                    largest, at = found, np.int32(i)
            cuda.syncthreads()
            if group == 0 and row < n:
                one, other = _place(j, row), _place(at, row)
                box[one], box[other] = box[other], box[one]
                if row == 0:
                    pivots[place, j] = at
            cuda.syncthreads()
            ratio = held(0)
            if row > j and row < n and largest != 0:
                ratio = held(box[_place(row, j)] / box[_place(j, j)])
                for k in range(group, n, groups):
                    if k > j:
                        box[_place(row, k)] = less(box[_place(row, k)], ratio, box[_place(j, k)])
            cuda.syncthreads()
            if group == 0 and row > j and row < n:
                box[_place(row, j)] = ratio
        cuda.syncthreads()
        for j in range(group, n, groups):
            if row < n:
                a[place, row, j] = box[_place(row, j)]

    return lu_of_small


@functools.cache
def _panel(dtype: np.dtype, threads: int) -> Any:
    """The kernel of a few columns of one matrix for each block, in place: rows of threads go down the columns."""
    held, less = dtype.type, less_product(dtype)
    size, real = (_size_of_complex if dtype.kind == "c" else _size), real_dtype(dtype).type
    least = real(-1)

    # A block of many threads has few registers for each.
    @cuda.jit(cache=True, launch_bounds=threads)
    def lu_of_panel(a, pivots, first, top):  # type: ignore[no-untyped-def]
        sizes, places = cuda.shared.array(threads, real), cuda.shared.array(threads, np.int32)
        t = cuda.threadIdx.x
        panel, chosen = a[first + cuda.blockIdx.x], pivots[first + cuda.blockIdx.x]
        n, width = panel.shape
        for j in range(width):
            largest, at = least, np.int32(j)
            for i in range(j + t, n, threads):
                found = size(panel[i, j])
                if is_larger(found, largest):
                    largest, at = found, np.int32(i)
            sizes[t], places[t] = largest, at
            cuda.syncthreads()
            step = threads // 2
            while step > 0:
                if t < step:
                    other, further = sizes[t + step], places[t + step]
                    if is_larger(other, sizes[t]) or (not is_larger(sizes[t], other) and further < places[t]):
                        sizes[t], places[t] = other, further
                cuda.syncthreads()
                step //= 2
            largest, at = sizes[0], places[0]
            if t < width:
                panel[j, t], panel[at, t] = panel[at, t], panel[j, t]
            if t == 0:
                chosen[j] = top + at
            cuda.syncthreads()
            if largest != 0:
                pivot = panel[j, j]
                for i in range(j + 1 + t, n, threads):
                    ratio = held(panel[i, j] / pivot)
                    panel[i, j] = ratio
                    for k in range(j + 1, width):
                        panel[i, k] = less(panel[i, k], ratio, panel[j, k])
            cuda.syncthreads()

    return lu_of_panel


# Pairs of rows that a warp exchanges at once, warps of a block, and the columns of each.
_PAIRS = 32
_WARPS = 8
_EACH = 4


@cuda.jit(cache=True)
def _exchange(a, pivots, first, top):  # type: ignore[no-untyped-def]
    """Exchanges pairs of rows one after the other, in effect. Columns lie together: a warp exchanges 32 pairs in a column at once, of which
    the upper rows lie side by side."""
    others = cuda.shared.array(_PAIRS, np.int32)
    lane, group = np.int32(cuda.threadIdx.x), np.int32(cuda.threadIdx.y)
    place = first + cuda.blockIdx.y
    count, columns = np.int32(pivots.shape[1]), np.int32(a.shape[2])
    start = np.int32(0)
    while start < count:
        here = min(np.int32(_PAIRS), count - start)
        if group == 0 and lane < here:
            others[lane] = pivots[place, start + lane] - top
        cuda.syncthreads()
        # What comes to stand in the upper row and in the lower one stood where undoing the exchanges leads.
        row = start + lane
        below = others[lane] if lane < here else row
        upper, lower = row, below
        # A row among the upper ones, or that a later pair has, too, is another thread's.
        has_lower = lane < here and below >= start + here
        for back in range(here):
            pair = here - np.int32(1) - np.int32(back)
            one, other = start + pair, others[pair]
            upper = other if upper == one else one if upper == other else upper
            lower = other if lower == one else one if lower == other else lower
            if pair > lane and other == below:
                has_lower = False
        for turn in range(_EACH):
            column = (np.int32(cuda.blockIdx.x) * np.int32(_EACH) + np.int32(turn)) * np.int32(_WARPS) + group
            inside = lane < here and column < columns
            x, y = a.dtype.type(0), a.dtype.type(0)
            if inside:
                x = a[place, upper, column]
                if has_lower:
                    y = a[place, lower, column]
            cuda.syncthreads()
            if inside:
                a[place, row, column] = x
                if has_lower:
                    a[place, below, column] = y
        cuda.syncthreads()
        start += np.int32(_PAIRS)


@cuda.jit(cache=True)
def _rows_taken(rows, pivots, first):  # type: ignore[no-untyped-def]
    """Which row comes to stand at a place after all exchanges: they are undone from the last to the first."""
    place = first + cuda.blockIdx.y
    row = cuda.grid(1)
    if row < rows.shape[1]:
        at, n = np.int32(row), pivots.shape[1]
        for back in range(n):
            j = n - 1 - back
            other = pivots[place, j]
            at = other if at == j else np.int32(j) if at == other else at
        rows[place, row] = at


@cuda.jit(cache=True)
def _take_rows(into, rows, a, first):  # type: ignore[no-untyped-def]
    place = first + cuda.blockIdx.z
    column, row = cuda.grid(2)
    if row < into.shape[1] and column < into.shape[2]:
        into[place, row, column] = a[place, rows[place, row], column]


@functools.cache
def _determinant(dtype: np.dtype) -> Any:
    """The kernel of the product of one matrix's pivots for each block of 32 threads, and of its sign and the logarithm of its size."""
    held, real, threads, is_complex = dtype.type, real_dtype(dtype).type, 32, dtype.kind == "c"
    # Where the logarithms' sizes are no more than this together, no part of the product leaves the range of normal numbers.
    safe = real(0.98 * math.log(float(np.finfo(real).max)))

    @cuda.jit(cache=True)
    def determinant_of_triangles(wholes, signs, logarithms, a, pivots, first):  # type: ignore[no-untyped-def]
        products, units = cuda.shared.array(threads, held), cuda.shared.array(threads, held)
        sizes, odd = cuda.shared.array(threads, real), cuda.shared.array(threads, np.int32)
        spans, nulls = cuda.shared.array(threads, real), cuda.shared.array(threads, np.int32)
        t = cuda.threadIdx.x
        place = first + cuda.blockIdx.x
        product, unit, logarithm, span, exchanges, null = held(1), held(1), real(0), real(0), np.int32(0), np.int32(0)
        for i in range(t, a.shape[1], threads):
            pivot = a[place, i, i]
            size = abs(pivot)
            product = held(product * pivot)
            # What comes behind a pivot of zero was not divided by it: the sign alone says that there is one.
            if size == 0:
                null = np.int32(1)
            else:
                # Divided part by part, which does not go by way of the reciprocal of a size that may have none.
                if is_complex:
                    unit = held(unit * complex(pivot.real / size, pivot.imag / size))
                elif pivot < 0:
                    # As NumPy, infinite ones and NaN have signs, too.
                    unit = -unit
                logarithm += math.log(size)
                span += abs(math.log(size))
            if pivots[place, i] != i:
                exchanges += 1
        products[t], units[t], sizes[t], spans[t], odd[t] = product, unit, logarithm, span, exchanges
        nulls[t] = null
        cuda.syncthreads()
        step = threads // 2
        while step > 0:
            if t < step:
                products[t] = held(products[t] * products[t + step])
                units[t] = held(units[t] * units[t + step])
                sizes[t] += sizes[t + step]
                spans[t] += spans[t + step]
                odd[t] += odd[t + step]
                nulls[t] |= nulls[t + step]
            cuda.syncthreads()
            step //= 2
        if t == 0:
            parity = real(-1 if odd[0] % 2 == 1 else 1)
            product, unit, logarithm = held(parity * products[0]), held(parity * units[0]), sizes[0]
            if nulls[0] != 0:
                product, unit, logarithm = held(0), held(0), real(-np.inf)
            elif spans[0] > safe and math.isfinite(logarithm):
                # Parts of the product may leave the range where the whole does not.
                product = held(unit * real(math.exp(logarithm)))
            wholes[place], signs[place], logarithms[place] = product, unit, logarithm

    return determinant_of_triangles


@cuda.jit(cache=True)
def _rows_of_one(into, rows, first):  # type: ignore[no-untyped-def]
    """The same of the identity."""
    place = first + cuda.blockIdx.z
    column, row = cuda.grid(2)
    if row < into.shape[1] and column < into.shape[2]:
        into[place, row, column] = 1 if rows[place, row] == column else 0


def _factorized(a: ndarray) -> tuple[ndarray, ndarray]:
    """Both triangles of matrices (..., n, n) in one stack (p, n, n), and the rows that each row was exchanged with (p, n)."""
    n, count = a.shape[-1], math.prod(a.shape[:-2])
    # Columns lie together, along which threads go.
    work = matrix_transpose(_cast(matrix_transpose(_reshape(a, (count, n, n))), wide(a), True))
    pivots = _full((count, n), 0, np.dtype(np.int32), a.device)
    if work.size == 0:
        return work, pivots
    if n <= ROWS:
        groups = 1 if n <= 8 else 8
        for places in pieces(count, GRID):
            _small(work.dtype, groups)[places.stop - places.start, (ROWS, groups)](work, pivots, number(places.start, a))
    else:
        _eliminate(work, pivots, 0)
    return work, pivots


def _eliminate(a: ndarray, pivots: ndarray, top: int) -> None:
    """Replaces columns (p, m, w) by their triangles, whose first row is that of number `top`."""
    width = a.shape[2]
    if width <= _PANEL:
        threads = 1024 if a.shape[1] > 1024 and a.device.limits()["threads_per_block"] >= 1024 else 256
        for places in pieces(a.shape[0], GRID):
            _panel(a.dtype, threads)[places.stop - places.start, threads](a, pivots, number(places.start, a), np.int32(top))
        return
    cut = -(-width // (2 * _PANEL)) * _PANEL
    left, right = a[:, :, :cut], a[:, :, cut:]
    _eliminate(left, pivots[:, :cut], top)
    _exchanged(right, pivots[:, :cut], top)
    solve_lower(left[:, :cut], right[:, :cut], unit=True)
    subtract_product(right[:, cut:], left[:, cut:], right[:, :cut])
    _eliminate(right[:, cut:], pivots[:, cut:], top + cut)
    _exchanged(left[:, cut:], pivots[:, cut:], top + cut)


def _exchanged(a: ndarray, pivots: ndarray, top: int) -> None:
    for places in pieces(a.shape[0], GRID):
        grid = (-(-a.shape[2] // (_WARPS * _EACH)), places.stop - places.start)
        _exchange[grid, (_PAIRS, _WARPS)](a, pivots, number(places.start, a), np.int32(top))


def _regular(triangles: ndarray) -> None:
    """LinAlgError if a pivot is zero: the flag is read."""
    if bool(u("equal", diagonal(triangles, 0, 1, 2), 0).any()):
        raise LinAlgError("Singular matrix")


def solve(a: ndarray, b: ndarray) -> ndarray:
    """What times matrices (..., n, n) is (..., n, k), in their dtype; the axes in front are broadcast. LinAlgError for singular ones."""
    return launched(_solved, a, b, like=_like)


def _like(a: ndarray, b: ndarray) -> ndarray:
    return _full((*broadcast_shape(a.shape[:-2], b.shape[:-2]), *b.shape[-2:]), 0, a.dtype, a.device)


def _solved(a: ndarray, b: ndarray) -> ndarray:
    front = broadcast_shape(a.shape[:-2], b.shape[:-2])
    (n, k), count = b.shape[-2:], math.prod(front)
    triangles, pivots = _factorized(a)
    _regular(triangles)
    if count * n * k == 0:
        return _like(a, b)
    rows = _sources(pivots)
    if front != a.shape[:-2]:
        triangles = _in_front(triangles, a.shape[:-2], front)
        rows = _in_front(rows, a.shape[:-2], front)
    sides = _reshape(_broadcast(_cast(b, triangles.dtype), (*front, n, k)), (count, n, k))
    x = _full((count, n, k), 0, triangles.dtype, a.device)
    _rows_launched(_take_rows, x, rows, sides)
    _substituted(triangles, x)
    return _reshape(_cast(x, a.dtype), (*front, n, k))


def _sources(pivots: ndarray) -> ndarray:
    """The numbers of the rows that come to stand at each place (p, n)."""
    rows = _full(pivots.shape, 0, pivots.dtype, pivots.device)
    for places in pieces(rows.shape[0], GRID):
        grid = (-(-rows.shape[1] // 64), places.stop - places.start)
        _rows_taken[grid, 64](rows, pivots, number(places.start, rows))
    return rows


def _rows_launched(kernel: Any, x: ndarray, *arrays: ndarray) -> None:
    across = 32 if x.shape[2] >= 32 else 1
    for places in pieces(x.shape[0], GRID):
        grid = (-(-x.shape[2] // across), -(-x.shape[1] * across // 256), places.stop - places.start)
        kernel[grid, (across, 256 // across)](x, *arrays, number(places.start, x))


def _substituted(triangles: ndarray, x: ndarray) -> None:
    """Replaces right-hand sides, whose rows are exchanged, by solutions."""
    solve_lower(triangles, x, unit=True)
    # Rows and columns the other way around the upper triangle is a lower one.
    solve_lower(triangles[:, ::-1, ::-1], x[:, ::-1])


def _in_front(a: ndarray, front: tuple[int, ...], wanted: tuple[int, ...]) -> ndarray:
    """A stack (p, ...) in a larger one."""
    rest = a.shape[1:]
    return _reshape(_broadcast(_reshape(a, (*front, *rest)), (*wanted, *rest)), (math.prod(wanted), *rest))


def inv(a: ndarray) -> ndarray:
    """The inverses of matrices (..., n, n); LinAlgError for singular ones."""
    return launched(_inverses, a, like=lambda a: _full(a.shape, 0, a.dtype, a.device))


def _inverses(a: ndarray) -> ndarray:
    triangles, pivots = _factorized(a)
    _regular(triangles)
    return _reshape(_cast(_inverted(triangles, pivots), a.dtype), a.shape)


def _inverted(triangles: ndarray, pivots: ndarray) -> ndarray:
    x = _full(triangles.shape, 0, triangles.dtype, triangles.device)
    if x.size:
        _rows_launched(_rows_of_one, x, _sources(pivots))
        _substituted(triangles, x)
    return x


def inv_or_nan(a: ndarray) -> ndarray:
    """The inverses of matrices (..., n, n), NaN for singular ones."""
    return launched(_inverses_or_nan, a)


def _inverses_or_nan(a: ndarray) -> ndarray:
    triangles, pivots = _factorized(a)
    is_singular = any_of(u("equal", diagonal(triangles, 0, 1, 2), 0), axis=1)
    found = select(is_singular[:, None, None], triangles.dtype.type(np.nan), _inverted(triangles, pivots))
    return _reshape(_cast(found, a.dtype), a.shape)


def slogdet(a: ndarray) -> tuple[ndarray, ndarray]:
    """The signs of determinants and the logarithms of their sizes."""
    return launched(_in_parts, a)


def _in_parts(a: ndarray) -> tuple[ndarray, ndarray]:
    _, sign, logarithm = _determinants(a)
    return sign, logarithm


def det(a: ndarray) -> ndarray:
    """The determinants of matrices (..., n, n)."""
    return launched(lambda a: _determinants(a)[0], a)


def _determinants(a: ndarray) -> tuple[ndarray, ndarray, ndarray]:
    """Determinants, their signs and the logarithms of their sizes."""
    triangles, pivots = _factorized(a)
    count, real = triangles.shape[0], real_dtype(triangles.dtype)
    found = [_full((count,), 0, dtype, a.device) for dtype in (triangles.dtype, triangles.dtype, real)]
    for places in pieces(count, GRID):
        _determinant(triangles.dtype)[places.stop - places.start, 32](*found, triangles, pivots, number(places.start, a))
    dtypes = (a.dtype, a.dtype, real_dtype(a.dtype))
    whole, sign, logarithm = (_reshape(_cast(x, dtype), a.shape[:-2]) for x, dtype in zip(found, dtypes))
    return whole, sign, logarithm

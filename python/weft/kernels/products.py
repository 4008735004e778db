"""Products of matrices: tiles in shared memory, rows of a matrix times a vector, one thread for each number where there is little to do.

Every kernel takes views as they lie, transposed, reversed and stretched ones, too, with two axes of matrices in front. Sums go along the
inner axis in rising order, one product after the other, rounded once each (float16 and bfloat16: in float32, rounded at the end). Where
too few threads would work, a long inner axis is cut into parts of equal length, whose sums are added by a fold; the products with a vector
have 32 or 8 sums side by side, added in pairs. All of that follows from the shapes, and from how the operands lie. What tensor cores
multiply is in `tensor_cores`; inside of one instruction they add as they like.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from weft import cuda
from weft._weft import _broadcast, _cast, _fold, _full, _reshape, _unset, ndarray
from weft.arrays._common import broadcast_shape, is_half, u

from . import tensor_cores
from .launching import SHARED_BYTES, launched, number, pieces

__all__ = ["GRID", "conjugate", "products", "subtract_product"]


class Numbers(NamedTuple):
    """How elements of a dtype are multiplied and added."""

    held: Any
    """The type that they have in shared memory and in registers."""
    add: Callable[[Any, Any, Any], Any]
    """A sum and one more product."""
    stored: Callable[[Any], Any]
    """The element that a sum is."""


def _add(s: Any, x: Any, y: Any) -> Any:
    return s + x * y


def _any(s: Any, x: Any, y: Any) -> Any:
    return s | (x & y)


def _add_complex(s: Any, x: Any, y: Any) -> Any:
    # In parts, so that every product is rounded together with its sum.
    return complex(s.real + x.real * y.real - x.imag * y.imag, s.imag + x.real * y.imag + x.imag * y.real)


def _sum(x: Any, y: Any) -> Any:
    return x + y


def _either(x: Any, y: Any) -> Any:
    return x | y


def conjugate(x: Any) -> Any:
    """In kernels: a complex number with the other imaginary part."""
    return complex(x.real, -x.imag)


def _as_it_is(s: Any) -> Any:
    return s


def _is_not_zero(s: Any) -> Any:
    return s != 0


def _numbers(dtype: np.dtype) -> Numbers:
    if dtype.kind == "b":
        return Numbers(np.int32, _any, _is_not_zero)
    if dtype.kind == "c":
        return Numbers(dtype.type, _add_complex, _as_it_is)
    if is_half(dtype):
        return Numbers(np.float32, _add, _as_it_is)
    # Integers of fewer bits are the last bits of the same sums.
    return Numbers(np.int32 if dtype.kind in "iu" and dtype.itemsize < 4 else dtype.type, _add, _as_it_is)


# A block has 16 by 16 threads, the most that every GPU has; each holds a square of sums in registers.
_SIDE = 16
_THREADS = _SIDE * _SIDE

# The blocks that keep a GPU busy, and the least length of the parts that an inner axis is cut into to have them.
_BLOCKS = 128
_PART = 256

# The most blocks along the second and the third axis of a grid.
GRID = 65535


@functools.cache
def _tiled(dtype: np.dtype, square: int, subtracts: bool = False, conjugates: bool = False) -> Any:
    """The kernel of one tile for each block: `square` by `square` sums for each thread. With `subtracts` they are taken from what is there,
    with `conjugates` the second matrix is conjugated."""
    held, add, stored = _numbers(dtype)
    tile = _SIDE * square
    # Complex numbers, and large tiles, are more work for each that is loaded. Tiles of both matrices take 16 KiB at most.
    steps = 8 if (dtype.kind == "c" and square > 1) or square > 4 else 16
    while 2 * steps * (tile + 4) * np.dtype(held).itemsize > SHARED_BYTES:
        steps //= 2
    loads = tile * steps // _THREADS
    # Four more in each row keep the threads that store a column off each other's banks, and rows aligned for loads of 16 bytes, of which
    # those of neighbouring threads lie side by side.
    row = tile + 4
    load = max(min(square, 16 // np.dtype(held).itemsize), 1)
    together = 4
    zero = held(0)
    loaded = conjugate if conjugates else held

    @cuda.jit(cache=True)
    def product_of_tiles(c, a, b, first, a_by_rows, b_by_rows, lower_only):  # type: ignore[no-untyped-def]
        left = cuda.shared.array((steps, row), held)
        right = cuda.shared.array((steps, row), held)
        sums = cuda.local.array((square, square), held)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        row0, column0 = cuda.blockIdx.x * tile, cuda.blockIdx.y * tile
        if lower_only and column0 >= row0 + tile:
            return
        place = first + cuda.blockIdx.z
        outer, inner = place // a.shape[1], place % a.shape[1]
        rows_of_a, columns_of_b = a[outer, inner, row0:], b[outer, inner, :, column0:]
        (rows, depth), columns = rows_of_a.shape, columns_of_b.shape[1]
        for i in range(square):
            for j in range(square):
                sums[i, j] = zero
        # Neighbouring threads load what lies side by side.
        t = y * _SIDE + x
        a_row, a_step = (t // steps, t % steps) if a_by_rows else (t % tile, t // tile)
        b_column, b_step = (t % tile, t // tile) if b_by_rows else (t // steps, t % steps)
        for start in range(0, depth, steps):
            for n in range(loads):
                i = a_row + (_THREADS // steps * n if a_by_rows else 0)
                q = a_step + (0 if a_by_rows else _THREADS * n // tile)
                inside = i < rows and start + q < depth
                left[q, i] = held(rows_of_a[i, start + q]) if inside else zero
                j = b_column + (0 if b_by_rows else _THREADS // steps * n)
                q = b_step + (_THREADS * n // tile if b_by_rows else 0)
                inside = j < columns and start + q < depth
                right[q, j] = loaded(columns_of_b[start + q, j]) if inside else zero
            cuda.syncthreads()
            for q0 in range(0, steps, together):
                # As many turns as the compiler writes out.
                for further in range(together):
                    q = q0 + further
                    for i in range(square):
                        for j in range(square):
                            k = x * load + j % load + j // load * (_SIDE * load)
                            sums[i, j] = add(sums[i, j], left[q, y * square + i], right[q, k])
            cuda.syncthreads()
        for i in range(square):
            for j in range(square):
                row_in, column_in = y * square + i, x * load + j % load + j // load * (_SIDE * load)
                if row_in < rows and column_in < columns:
                    if subtracts:
                        c[place, row0 + row_in, column0 + column_in] -= sums[i, j]
                    else:
                        c[place, row0 + row_in, column0 + column_in] = stored(sums[i, j])

    return product_of_tiles


@functools.cache
def _with_vector(dtype: np.dtype, across: bool, subtracts: bool = False) -> Any:
    """The kernel of rows times a vector. Lanes go along a row that lies together (`across`), else along the rows."""
    held, add, stored = _numbers(dtype)
    zero, both = held(0), _either if dtype.kind == "b" else _sum
    lanes, groups, together = 32, 8, 4

    @cuda.jit(cache=True)
    def product_with_vector(c, a, b, first):  # type: ignore[no-untyped-def]
        box = cuda.shared.array((groups, lanes), held)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        place = first + cuda.blockIdx.z
        outer, inner = place // a.shape[1], place % a.shape[1]
        rows_of_a, b_there = a[outer, inner], b[outer, inner]
        row = cuda.blockIdx.x * groups + y if across else cuda.blockIdx.x * lanes + x
        lane, width, depth = (x, lanes, b_there.shape[0]) if across else (y, groups, b_there.shape[0])
        # Several sums at once, so that several loads are on their way.
        sums = cuda.local.array(together, held)
        for turn in range(together):
            sums[turn] = zero
        if row < rows_of_a.shape[0]:
            stride = together * width
            for start in range(0, depth - stride + 1, stride):
                for turn in range(together):
                    q = start + turn * width + lane
                    sums[turn] = add(sums[turn], held(rows_of_a[row, q]), held(b_there[q]))
            for q in range(depth - depth % stride + lane, depth, width):
                sums[0] = add(sums[0], held(rows_of_a[row, q]), held(b_there[q]))
        box[y, x] = both(both(sums[0], sums[1]), both(sums[2], sums[3]))
        cuda.syncthreads()
        half = (lanes if across else groups) // 2
        while half > 0:
            if (x if across else y) < half:
                box[y, x] = both(box[y, x], box[y, x + half] if across else box[y + half, x])
            cuda.syncthreads()
            half //= 2
        if (x if across else y) == 0 and row < rows_of_a.shape[0]:
            if subtracts:
                c[place, row] -= box[y, x]
            else:
                c[place, row] = stored(box[y, x])

    return product_with_vector


@functools.cache
def _one_by_one(dtype: np.dtype) -> Any:
    """The kernel of one thread for each number."""
    held, add, stored = _numbers(dtype)
    zero = held(0)

    @cuda.jit(cache=True)
    def product_one_by_one(c, a, b):  # type: ignore[no-untyped-def]
        place = cuda.grid(1)
        rows, columns = a.shape[2], b.shape[3]
        if place < c.shape[0]:
            above, column = place // columns, place % columns
            at, row = above // rows, above % rows
            outer, inner = at // a.shape[1], at % a.shape[1]
            s = zero
            for q in range(a.shape[3]):
                s = add(s, held(a[outer, inner, row, q]), held(b[outer, inner, q, column]))
            c[place] = stored(s)

    return product_one_by_one


def products(a: ndarray, b: ndarray) -> ndarray:
    """The products of matrices in the last two axes of arrays of one dtype; the axes in front are broadcast."""
    return launched(_products, a, b)


def _products(a: ndarray, b: ndarray) -> ndarray:
    front = broadcast_shape(a.shape[:-2], b.shape[:-2])
    rows, depth, columns = a.shape[-2], a.shape[-1], b.shape[-1]
    count = math.prod(front)
    if count * rows * columns == 0 or depth == 0:
        return _full((*front, rows, columns), 0, a.dtype, a.device)
    if b.ndim == 2 and a.ndim > 2 and _is_one_stack(a):
        # The rows of all matrices are those of one.
        return _reshape(_products(_reshape(a, (count * rows, depth)), b), (*front, rows, columns))
    a, b = _in_two_axes(a, b, front)
    if columns == 1 or rows == 1:
        make = _vectors
    elif tile := tensor_cores.tile_for(a, b, _BLOCKS):
        return _reshape(_on_tensor_cores(a, b, tile), (*front, rows, columns))
    elif depth <= 4 or (min(rows, columns) <= 8 and depth <= 16) or (max(rows, columns) <= 8 and depth <= 64):
        make = _numbers_each
    else:
        make = _tiles
    return _reshape(make(a, b, a.dtype), (*front, rows, columns))


def _is_one_stack(a: ndarray) -> bool:
    """Whether the rows of all matrices follow each other."""
    steps = list(zip(a.shape[:-1], a.strides[:-1]))
    return all(step == further * n for (_, step), (n, further) in itertools.pairwise(steps))


def _in_two_axes(a: ndarray, b: ndarray, front: tuple[int, ...]) -> tuple[ndarray, ndarray]:
    """Both with two axes in front, stretched to the same lengths: views, unless more axes are left that lie apart."""
    a, b = (_broadcast(x, (*front, *x.shape[-2:])) for x in (a, b))
    axes = [(n, *steps) for n, *steps in zip(front, a.strides, b.strides) if n != 1]
    lengths: list[int] = []
    for at, (n, *steps) in enumerate(axes):
        if at and all(before == step * n for before, step in zip(axes[at - 1][1:], steps)):
            lengths[-1] *= n
        else:
            lengths.append(n)
    if len(lengths) > 2:
        lengths = [math.prod(lengths)]
    lengths = [1] * (2 - len(lengths)) + lengths
    return _reshape(a, (*lengths, *a.shape[-2:])), _reshape(b, (*lengths, *b.shape[-2:]))


def _numbers_each(a: ndarray, b: ndarray, into: np.dtype) -> ndarray:
    """Matrices (p, q, m, k) times others (p, q, k, n): (p q, m, n), each number by itself."""
    shape = (a.shape[0] * a.shape[1], a.shape[2], b.shape[3])
    found = _unset((math.prod(shape),), into, a.device)
    _one_by_one(a.dtype).forall(found.size)(found, a, b)
    return _reshape(found, shape)


def _vectors(a: ndarray, b: ndarray, into: np.dtype) -> ndarray:
    """The same where one of the two is a row or a column: (p q, m, 1) or (p q, 1, n)."""
    is_row = b.shape[3] > 1
    matrix, vector = (b.transpose(0, 1, 3, 2), a[:, :, 0]) if is_row else (a, b[..., 0])
    count, rows = matrix.shape[0] * matrix.shape[1], matrix.shape[2]
    across = abs(matrix.strides[3]) <= abs(matrix.strides[2])
    blocks = -(-rows // (8 if across else 32))
    if _parts(blocks * count, matrix.shape[3]) > 1:
        return _in_parts(_vectors, a, b, _parts(blocks * count, matrix.shape[3]), into)
    found = _unset((count, rows), into, a.device)
    _launch_with_vector(_with_vector(a.dtype, across), blocks, found, matrix, vector)
    return found[:, None] if is_row else found[..., None]


def _launch_with_vector(kernel: Any, blocks: int, c: ndarray, a: ndarray, b: ndarray) -> None:
    for places in pieces(c.shape[0], GRID):
        kernel[(blocks, 1, places.stop - places.start), (32, 8)](c, a, b, number(places.start, a))


def _tiles(a: ndarray, b: ndarray, into: np.dtype) -> ndarray:
    """Matrices (p, q, m, k) times others (p, q, k, n): (p q, m, n)."""
    count, (rows, depth), columns = a.shape[0] * a.shape[1], a.shape[2:], b.shape[3]
    square = _square(rows, columns, count, a.dtype)
    tile = square * _SIDE
    parts = _parts(-(-rows // tile) * -(-columns // tile) * count, depth)
    if parts > 1:
        return _in_parts(_tiles, a, b, parts, into)
    found = _unset((count, rows, columns), into, a.device)
    _launch_tiles(_tiled(a.dtype, square), tile, found, a, b)
    return found


def _on_tensor_cores(a: ndarray, b: ndarray, tile: int) -> ndarray:
    """The same on tensor cores."""
    count, (rows, depth), columns = a.shape[0] * a.shape[1], a.shape[2:], b.shape[3]
    parts = max(_parts(-(-rows // tile) * -(-columns // tile) * count, depth), 1)
    found = tensor_cores.parts_of_products(a, b, tile, parts)
    return _cast(_fold("add", found, (1,), found.dtype), a.dtype) if parts > 1 else found[:, 0]


def _square(rows: int, columns: int, count: int, dtype: np.dtype) -> int:
    """How many sums each thread has along each axis: small matrices, and few, are cut into small tiles."""
    if min(rows, columns) <= 16:
        return 1
    if min(rows, columns) <= 32 or -(-rows // 64) * -(-columns // 64) * count < _BLOCKS // 2:
        return 2
    # The registers of a thread hold 64 sums of 32 bits.
    is_large = min(rows, columns) >= 128 and -(-rows // 128) * -(-columns // 128) * count >= _BLOCKS
    return 8 if is_large and dtype.kind in "fiu" and dtype.itemsize == 4 else 4


def _launch_tiles(kernel: Any, tile: int, c: ndarray, a: ndarray, b: ndarray, lower_only: bool = False) -> None:
    """The tiles of all matrices, in as many launches as the grid asks for."""
    by_rows = (abs(a.strides[3]) <= abs(a.strides[2]), abs(b.strides[3]) <= abs(b.strides[2]))
    for columns in pieces(c.shape[2], GRID * tile):
        for places in pieces(c.shape[0], GRID):
            grid = (-(-c.shape[1] // tile), -(-(columns.stop - columns.start) // tile), places.stop - places.start)
            kernel[grid, (_SIDE, _SIDE)](c[:, :, columns], a, b[..., columns], number(places.start, a), *by_rows, lower_only)


def _parts(blocks: int, depth: int) -> int:
    """Into how many parts the inner axis is cut."""
    return min(_BLOCKS // blocks, depth // _PART)


def _in_parts(make: Callable[..., ndarray], a: ndarray, b: ndarray, parts: int, into: np.dtype) -> ndarray:
    """The sum of the products of parts that are as long as each other, and of what is left."""
    wide = np.dtype(np.float32) if is_half(a.dtype) else a.dtype
    count, (rows, depth), columns = a.shape[0] * a.shape[1], a.shape[2:], b.shape[3]
    span = depth // parts
    whole = span * parts
    left = _reshape(a[..., :whole], (*a.shape[:3], parts, span)).transpose(0, 1, 3, 2, 4)
    right = _reshape(b[..., :whole, :], (*b.shape[:2], parts, span, columns))
    left, right = (_reshape(x, (count, parts, *x.shape[3:])) for x in (left, right))
    found = _reshape(make(left, right, wide), (count, parts, rows, columns))
    found = _fold("logical_or", found, (1,)) if a.dtype.kind == "b" else _fold("add", found, (1,), wide)
    if whole < depth:
        rest = _numbers_each(a[..., whole:], b[..., whole:, :], wide)
        found = u("logical_or" if a.dtype.kind == "b" else "add", found, rest)
    return found if found.dtype == into else _cast(found, into)


def subtract_product(c: ndarray, a: ndarray, b: ndarray, lower_only: bool = False, conjugates: bool = False) -> None:
    """Takes the products of matrices (p, m, k) and (p, k, n), which may be conjugated, from those that are there (p, m, n).

    With `lower_only` only those on and below the diagonal are sure to be taken.
    """
    if c.size == 0 or a.shape[-1] == 0:
        return
    if c.shape[2] == 1 and not conjugates:
        across = abs(a.strides[2]) <= abs(a.strides[1])
        blocks = -(-c.shape[1] // (8 if across else 32))
        _launch_with_vector(_with_vector(c.dtype, across, True), blocks, c[..., 0], a[None], b[None, :, :, 0])
        return
    if abs(c.strides[1]) < abs(c.strides[2]) and not lower_only and not conjugates:
        # Neighbouring threads write what lies side by side.
        c, a, b = c.transpose(0, 2, 1), b.transpose(0, 2, 1), a.transpose(0, 2, 1)
    square = _square(c.shape[1], c.shape[2], c.shape[0], c.dtype)
    kernel = _tiled(c.dtype, square, True, conjugates and c.dtype.kind == "c")
    _launch_tiles(kernel, square * _SIDE, c, a[None], b[None], lower_only)

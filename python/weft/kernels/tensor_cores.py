"""Products of matrices on the tensor cores of CUDA devices: 16-bit floats always, float32 where TensorFloat-32 is asked for.

A block has one tile of the product, of which each warp adds up a part in registers. Pieces of both factors, 64 bytes along the inner axis,
pass through shared memory: while the warps multiply one, the next is on its way from memory to registers, and goes to the other half of
shared memory from there. It is moved by words of 64 bits, so that the last axis of what is read is a whole number of them, zeros behind its
end; factors that do not lie so are copied first. Rows or columns may be what lies together: the tensor cores take either.

Products are exact (of float32: of numbers rounded to 11 bits), sums are in float32, rounded to the dtype at the end. In which order a
tensor core adds is its own business, so that the last bits may differ between generations of GPUs.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from weft import cuda
from weft._weft import Device, _bits, _broadcast, _full, _lent, _reshape, _unset, ndarray
from weft.arrays._common import is_half

from . import tensor_float
from .launching import pieces

__all__ = ["parts_of_products", "tile_for"]

# What words are, and how many of them the piece of a factor has along the inner axis.
_WORD = np.dtype(np.int64)
_WORDS = 8

# Four warps have a quarter of the tile each: as many sums as fit a thread's registers, so that words in shared memory are read for as many
# of them as possible.
_THREADS = 128

# The most blocks along the second and the third axis of a grid.
_GRID = 65535


def tile_for(a: ndarray, b: ndarray, blocks: int) -> int:
    """The side of the tiles of products (p, q, m, k) times (p, q, k, n); 0 where tensor cores are not for them.

    They are for 16-bit floats and, if `WEFT_TF32` says so, float32, from compute capability 8.0 on, unless matrices are small. Tiles are
    small for a few rows or columns, and large where there are so many blocks of them.
    """
    rows, depth, columns = a.shape[2], a.shape[3], b.shape[3]
    if min(rows, columns, depth) < 16 or not _multiplies(a.dtype, a.device):
        return 0
    if min(rows, columns) <= 32:
        return 32
    count = a.shape[0] * a.shape[1]
    return 128 if min(rows, columns) >= 128 and -(-rows // 128) * -(-columns // 128) * count >= blocks else 64


def _multiplies(dtype: np.dtype, device: Device) -> bool:
    if device.kind != "cuda" or device.compute_capability < (8, 0):
        return False
    return is_half(dtype) or (dtype.char == "f" and tensor_float.is_allowed())


class _Factor(NamedTuple):
    """A matrix as the kernel reads it."""

    words: ndarray
    """Four axes: two of stacks, then those of the matrix or of its transpose, the last of which lies together, in words."""
    transposed: bool


@functools.cache
def _kernel(dtype: np.dtype, tile: int, left_transposed: bool, right_transposed: bool) -> Any:
    """The kernel of one tile for each block."""
    held = 8 // dtype.itemsize
    down, across = tile // 32, tile // 16
    # The inner axis is the last of a left factor as it is, of a right one that is transposed.
    left_rows, left_words = (_WORDS * held, tile // held) if left_transposed else (tile, _WORDS)
    right_rows, right_words = (tile, _WORDS) if right_transposed else (_WORDS * held, tile // held)
    loads = tile * _WORDS // _THREADS
    # Behind each row 16 bytes, or 32 where single numbers of float32 are read down a column: lanes read from different banks.
    left_row = left_words + (4 if left_transposed and held == 2 else 2)
    right_row = right_words + (2 if right_transposed or held == 4 else 4)
    # Words along the inner axis, or rows, of what one `mma` takes.
    step = 4
    left_down, left_right = (step * held, 0) if left_transposed else (0, step)
    right_down, right_right = (0, step) if right_transposed else (step * held, 0)
    left_down_of_piece, left_right_of_piece = 2 * left_down, 2 * left_right
    right_down_of_piece, right_right_of_piece = 2 * right_down, 2 * right_right
    element = dtype.type
    # Written out, so that sums are in registers wherever they are named.
    tiles_down = tuple(range(down))

    @cuda.jit(cache=True)
    def product_on_tensor_cores(c, a, b, first, parts, pieces_of_part):  # type: ignore[no-untyped-def]
        left = cuda.shared.array((2, left_rows, left_row), np.int64)
        right = cuda.shared.array((2, right_rows, right_row), np.int64)
        sums = cuda.local.array((down, across, 4), np.float32)
        left_ahead = cuda.local.array(loads, np.int64)
        right_ahead = cuda.local.array(loads, np.int64)
        t = cuda.threadIdx.x
        warp, lane = t // 32, t % 32
        row_in, column_in = warp % 2 * (tile // 2), warp // 2 * (tile // 2)
        row0, column0 = cuda.blockIdx.x * tile, cuda.blockIdx.y * tile
        place = first + cuda.blockIdx.z
        which, start = place // parts, place % parts * pieces_of_part
        outer, inner = which // a.shape[1], which % a.shape[1]
        # The words of the first piece that this thread moves first; of the others it moves those as many rows further down.
        left_y, left_x = t // left_words, t % left_words
        right_y, right_x = t // right_words, t % right_words
        # Rows of eight words are stored two at a time; four rows further on begins the other half of the banks.
        if left_words == 8:
            left_y = left_y // 8 * 8 + left_y % 2 * 4 + left_y // 2 % 4
        if right_words == 8:
            right_y = right_y // 8 * 8 + right_y % 2 * 4 + right_y // 2 % 4
        a_y = left_y + start * left_down_of_piece + (0 if left_transposed else row0)
        a_x = left_x + start * left_right_of_piece + (row0 // held if left_transposed else 0)
        b_y = right_y + start * right_down_of_piece + (column0 if right_transposed else 0)
        b_x = right_x + start * right_right_of_piece + (0 if right_transposed else column0 // held)
        # From there on no index is negative, which would have to be asked for each.
        a_there, b_there = a[outer, inner, a_y:, a_x:], b[outer, inner, b_y:, b_x:]
        (a_rows, a_words), (b_rows, b_words) = a_there.shape, b_there.shape
        # Where in the pieces the warp's rows and columns begin.
        left_in, left_beside = (0, row_in // held) if left_transposed else (row_in, 0)
        right_in, right_beside = (column_in, 0) if right_transposed else (0, column_in // held)
        for i in range(down):
            for j in range(across):
                for n in range(4):
                    sums[i, j, n] = np.float32(0)
        for piece in range(pieces_of_part + 1):
            if piece < pieces_of_part:
                x = piece * left_right_of_piece
                for i in range(loads):
                    y = i * (_THREADS // left_words) + piece * left_down_of_piece
                    left_ahead[i] = a_there[y, x] if y < a_rows and x < a_words else 0
                x = piece * right_right_of_piece
                for i in range(loads):
                    y = i * (_THREADS // right_words) + piece * right_down_of_piece
                    right_ahead[i] = b_there[y, x] if y < b_rows and x < b_words else 0
            if piece > 0:
                side = (piece - 1) % 2
                for part in range(2):
                    rows = left[side, part * left_down + left_in :, part * left_right + left_beside :]
                    columns = right[side, part * right_down + right_in :, part * right_right + right_beside :]
                    cuda.mma(sums, rows, columns, left_transposed, right_transposed, element)
            if piece < pieces_of_part:
                side = piece % 2
                for i in range(loads):
                    left[side, left_y + i * (_THREADS // left_words), left_x] = left_ahead[i]
                for i in range(loads):
                    right[side, right_y + i * (_THREADS // right_words), right_x] = right_ahead[i]
            cuda.syncthreads()
        for i in tiles_down:
            for j in range(across):
                for n in range(4):
                    row = row0 + row_in + 16 * i + lane // 4 + n // 2 * 8
                    column = column0 + column_in + 8 * j + lane % 4 * 2 + n % 2
                    if row < c.shape[1] and column < c.shape[2]:
                        c[place, row, column] = sums[i, j, n]

    return product_on_tensor_cores


def parts_of_products(a: ndarray, b: ndarray, tile: int, parts: int) -> ndarray:
    """Products of parts of the inner axis, for the caller to add: (p, q, m, k) times (p, q, k, n) gives (p q, parts, m, n).

    They are float32 where there are several, else of the factors' dtype.
    """
    count, rows, depth, columns = a.shape[0] * a.shape[1], a.shape[2], a.shape[3], b.shape[3]
    found = _unset((count * parts, rows, columns), np.dtype(np.float32) if parts > 1 else a.dtype, a.device)
    left, right = _factor(a), _factor(b)
    kernel = _kernel(a.dtype, tile, left.transposed, right.transposed)
    held = 8 // a.dtype.itemsize
    pieces_of_part = -(-depth // (_WORDS * held * parts))
    for across in pieces(columns, _GRID * tile):
        there = right.words[..., across, :] if right.transposed else right.words[..., across.start // held : -(-across.stop // held)]
        for places in pieces(count * parts, _GRID):
            grid = (-(-rows // tile), -(-(across.stop - across.start) // tile), places.stop - places.start)
            kernel[grid, _THREADS](found[:, :, across], left.words, there, places.start, parts, pieces_of_part)
    return _reshape(found, (count, parts, rows, columns))


def _factor(x: ndarray) -> _Factor:
    """A factor as words: as it lies, or a copy whose rows are filled up with zeros."""
    for transposed in (False, True):
        there = x.transpose(0, 1, 3, 2) if transposed else x
        if _is_of_words(there):
            return _Factor(_bits(there, _WORD), transposed)
    return _Factor(_bits(_filled_up(x), _WORD), False)


def _is_of_words(x: ndarray) -> bool:
    held = 8 // x.dtype.itemsize
    if x.strides[3] != x.dtype.itemsize or x.shape[3] % held or any(step % 8 for n, step in zip(x.shape[:3], x.strides) if n > 1):
        return False
    return _lent(x)[1] % 8 == 0


def _filled_up(x: ndarray) -> ndarray:
    """A copy whose last axis is a whole number of words; what repeats is copied once."""
    held = 8 // x.dtype.itemsize
    once = x[tuple(slice(0, 1) if step == 0 else slice(None) for step in x.strides[:2])]
    copy = _full((*once.shape[:3], -(-x.shape[3] // held) * held), 0, x.dtype, x.device)
    copy[..., : x.shape[3]] = once
    return _broadcast(copy, (*x.shape[:3], copy.shape[3]))

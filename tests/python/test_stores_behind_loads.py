"""What was read before a store stays what was there, also where loads and stores are masked: branches in loops, and the last lanes."""

import numpy as np
import pytest

import weft
from weft import cuda, prange


def cleared(x, y, out):
    for i in prange(x.shape[0]):
        t = x[i] * 0 + 1
        if x[i] > 0:
            v = y[i]
            y[i] = 7
            t = v
        out[i] = t


def swapped(x, y, out):
    for i in prange(x.shape[0]):
        if x[i] > 0:
            v = y[i]
            y[i] = out[i]
        else:
            v = x[i] * 0 + 2
        out[i] = v


def taken(x, y, out):
    for i in prange(x.shape[0]):
        v = y[i]
        y[i] = 0
        if x[i] > 0:
            out[i] = v
        out[i // 2 * 0] += x[i] * 0


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int32", "int64"])
@pytest.mark.parametrize("function", [cleared, swapped, taken], ids=lambda function: function.__name__)
def test_loops(function, dtype):
    for n in (3, 64, 131):
        arrays = [np.where(np.arange(n) % 3 == 0, 1, -1).astype(dtype), np.arange(n).astype(dtype), np.arange(n)[::-1].astype(dtype)]
        expected = [array.copy() for array in arrays]
        function(*expected)
        for parallel in (False, True) if function is not taken else (False,):
            found = [array.copy() for array in arrays]
            weft.njit(function, parallel=parallel)(*found)
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_array_equal(one, other, f"{n} {parallel}")


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint8"])
@pytest.mark.parametrize("block", [(32, 1), (16, 2), (8, 4), (5, 3)])
def test_kernels(dtype, block):
    @cuda.jit
    def moved(sums, y):
        j, i = cuda.grid(2)
        if i >= y.shape[0] or j >= y.shape[1]:
            return
        v = y[i, j]
        y[i, j] = 0
        cuda.atomic.add(sums, i % sums.shape[0], v)

    @cuda.jit
    def largest(sums, y):
        j, i = cuda.grid(2)
        if i < y.shape[0] and j < y.shape[1]:
            v = y[i, j]
            y[i, j] = 0
            cuda.atomic.max(sums, i % sums.shape[0], v)

    y = (np.arange(51).reshape(3, 17) % 7).astype(dtype)
    grid = tuple(-(-n // of) for n, of in zip((17, 3), block, strict=True))
    for count in (1, 2):
        rows = [y[at::count] for at in range(count)]
        for kernel, fold in ((moved, np.sum), (largest, np.max)):
            sums, left = np.zeros(count, dtype), y.copy()
            kernel[grid, block](sums, left)
            assert not left.any()
            assert sums.tolist() == [fold(row) for row in rows]

"""However a name of the kernel vocabulary is reached, it means the same."""

import cmath
import math
from math import sqrt

import numpy as np
import pytest

import weft
import weft.cuda as gpu
import weft.numba as nb
from weft import cuda, njit
from weft import numba as numba_face
from weft.cuda import atomic, blockDim, blockIdx, threadIdx
from weft.numba import float32, prange
from weft.numba import int64 as integer

LOCAL = np.float32


@cuda.jit
def by_module(out):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    cuda.atomic.add(out, 0, i)


@nb.cuda.jit
def by_name(out):
    i = blockIdx.x * blockDim.x + threadIdx.x
    atomic.add(out, 0, i)


@gpu.jit
def by_alias(out):
    i = gpu.grid(1)
    gpu.atomic.add(out, 0, i)


@weft.cuda.jit
def by_package(out):
    i = nb.cuda.grid(1)
    weft.cuda.atomic.add(out, 0, i)


@pytest.mark.parametrize("kernel", [by_module, by_name, by_alias, by_package])
def test_kernels(kernel):
    out = np.zeros(1, np.int64)
    kernel[2, 32](out)
    assert out[0] == 64 * 63 // 2


def test_types_and_functions():
    @njit
    def f(x):
        a = float32(x) + LOCAL(1) + np.float32(1) + nb.float32(1) + weft.types.float32(1)
        b = integer(x) + numba_face.int64(1)
        return a, b, sqrt(x), math.pi, np.pi, cmath.pi, np.e

    got = f(4.0)
    want = (np.float32(8), np.int64(5), 2.0, math.pi, np.pi, cmath.pi, np.e)
    assert got == want
    assert [type(g) for g in got] == [type(w) for w in want]


def test_loops():
    @njit(parallel=True)
    def f(n):
        total = 0
        for i in prange(n):
            total += i
        for i in nb.prange(n):
            total += i
        for i in weft.prange(n):
            total += i
        return total

    assert f(10) == 3 * 45


def test_names_are_looked_up_when_compiled():
    @njit
    def f(x):
        return later(x)

    def later(x):
        return x + 1

    assert f(1) == 2


def test_builtins_can_be_shadowed():
    abs = 3

    @njit
    def f(x):
        return x * abs

    assert f(-2) == -6


def test_an_empty_closure_cell():
    @njit
    def f(x):
        return x + undefined

    with pytest.raises(weft.NameError_):
        f(1)
    undefined = 1
    assert f(1) == 2


def test_arrays_and_tuples_as_constants():
    pairs = ((1, 2.5), (3, 4.5))
    table = np.array([[1, 2], [3, 4]], np.int32)

    @njit
    def f(i):
        return pairs[1][0] + pairs[0][1], table[i, -1], table.shape

    assert f(1) == (5.5, 4, (2, 2))


def test_what_has_no_meaning():
    thing = object()

    @njit
    def f(x):
        return x + thing

    with pytest.raises(weft.TypingError, match="object"):
        f(1)

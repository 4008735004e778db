"""What Numba's users have at hand beside kernels: lambdas, reductions, random numbers, hints for arguments, kernels made for types."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import weft
import weft.numba
from weft import cuda
from weft.cuda.random import (
    create_xoroshiro128p_states,
    xoroshiro128p_next,
    xoroshiro128p_normal_float32,
    xoroshiro128p_normal_float64,
    xoroshiro128p_uniform_float32,
    xoroshiro128p_uniform_float64,
)
from weft.types import float32, float64, int64

twice = weft.jit(lambda x: 2 * x)
first, second = weft.jit(lambda x: x + 1), weft.jit(lambda x: x + 2)


def scaled(by):
    return weft.vectorize(["float64(float64)"])(lambda x: x * by
                                                + 1)  # fmt: skip


def test_lambdas():
    assert (twice(3), first(1), second(1)) == (6, 2, 3)
    assert scaled(3)(np.arange(3.0)).tolist() == [1, 4, 7]
    assert scaled(4)(np.arange(3.0)).tolist() == [1, 5, 9]


def test_errors_in_lambdas_point_at_them():
    with pytest.raises(weft.NameError_, match="undefined_name") as caught:
        weft.jit(lambda x: x + undefined_name)(1)  # noqa: F821
    assert "lambda x: x + undefined_name" in str(caught.value)


@pytest.mark.parametrize("n", [0, 1, 15, 255, 256, 257, 1000, 200_000])
def test_reductions(device, n):
    total = cuda.reduce(lambda a, b: a + b)
    a = np.arange(n, dtype=np.float64) + 1
    assert total(a) == a.sum()
    assert total(cuda.to_device(a)) == a.sum()


def test_reductions_start_and_end_where_they_are_told(device):
    @cuda.reduce
    def largest(a, b):
        return max(a, b)

    total = cuda.Reduce(lambda a, b: a + b)
    a = np.arange(3717.0)
    assert largest(a) == 3716 and largest(-a - 1, init=-10000) == -1
    ints = np.arange(10)
    assert total(ints, init=3) == 48 and total(ints, size=4) == 6
    assert total(ints).dtype == ints.dtype
    result = cuda.to_device(np.full(2, 7, np.int64))
    assert total(cuda.to_device(ints)[::2], res=result, stream=cuda.stream()) is None
    cuda.synchronize()
    assert result.copy_to_host().tolist() == [20, 7]
    with pytest.raises(ValueError, match="cannot reduce 11 elements"):
        total(ints, size=11)
    with pytest.raises(TypeError, match="rank 1"):
        total(ints.reshape(2, 5))


def state_after(seed, steps):
    """The published algorithm in Python's integers: xoroshiro128+ of 2016 with a state made by splitmix64."""
    mask = 2**64 - 1
    z = (seed + 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    a = b = z ^ (z >> 31)
    found = []
    for _ in range(steps):
        found.append((a + b) & mask)
        b ^= a
        a = ((a << 55 | a >> 9) & mask) ^ b ^ (b << 14 & mask)
        b = (b << 36 | b >> 28) & mask
    return found


def test_random_bits_are_the_algorithms(device):
    @cuda.jit
    def draw(states, out):
        for i in range(out.size):
            out[i] = xoroshiro128p_next(states, 0)

    out = np.zeros(20, np.uint64)
    draw[1, 1](create_xoroshiro128p_states(1, seed=5), out)
    assert out.tolist() == state_after(5, 20)


def test_states_follow_each_other():
    states = cuda.random.create_xoroshiro128p_states(10, seed=1).copy_to_host()
    later = cuda.random.create_xoroshiro128p_states(10, seed=1, subsequence_start=3).copy_to_host()
    assert len({tuple(row) for row in states.tolist()}) == 10
    np.testing.assert_array_equal(states[3:], later[:7])


@pytest.mark.parametrize(
    "draw, dtype, mean, deviation",
    [
        (xoroshiro128p_uniform_float32, np.float32, 0.5, 12**-0.5),
        (xoroshiro128p_uniform_float64, np.float64, 0.5, 12**-0.5),
        (xoroshiro128p_normal_float32, np.float32, 0, 1),
        (xoroshiro128p_normal_float64, np.float64, 0, 1),
    ],
)
def test_random_numbers_are_spread_as_they_should(device, draw, dtype, mean, deviation):
    @cuda.jit
    def fill(states, out):
        i = cuda.grid(1)
        for j in range(out.shape[1]):
            out[i, j] = draw(states, i)

    out = cuda.device_array((64, 200), dtype)
    fill[2, 32](create_xoroshiro128p_states(64, seed=1), out)
    found = out.copy_to_host()
    assert abs(found.mean() - mean) < 0.05 and abs(found.std() - deviation) < 0.05
    assert len(np.unique(found)) > 0.99 * found.size
    if mean:
        assert 0 <= found.min() and found.max() < 1


def test_hints(device):
    @cuda.jit
    def double(out, a):
        i = cuda.grid(1)
        out[i] = 2 * a[i]

    a, out = np.arange(8.0), np.zeros(8)
    double[1, 8](cuda.Out(out), cuda.In(a))
    double[1, 8](cuda.InOut(out), cuda.In(cuda.to_device(out)))
    assert out.tolist() == (4 * a).tolist()
    with pytest.raises(TypeError, match="read-only"):
        double[1, 8](cuda.In(out), a)


def test_kernels_for_types(device):
    @cuda.jit
    def scale(a, by):
        a[cuda.grid(1)] *= by

    overload = scale.compile((float32[::1], int64))
    assert scale.nopython_signatures == [overload.signature] and not scale.specialized
    a = np.ones(4)
    narrow = scale.specialize(a, 3.0)
    assert scale.specialize(float64[::1], float64).signatures == narrow.signatures
    assert narrow.specialized and narrow.signatures == [(float64[::1], float64)]
    narrow[1, 4](a, 3)
    scale.configure(1, 4)(a, 2.0)
    assert a.tolist() == [6] * 4
    with pytest.raises(RuntimeError, match="already specialized"):
        narrow.specialize(a, 3.0)


def test_ufuncs_of_the_device(device):
    @cuda.vectorize(["float64(float64, float64)"])
    def add(x, y):
        return x + y

    assert add(cuda.to_device(np.arange(3.0)), 1.0).copy_to_host().tolist() == [1, 2, 3]
    assert cuda.int32 is weft.types.int32 and cuda.void is weft.types.void
    assert cuda.is_float16_supported() and cuda.is_bfloat16_supported()


def test_atomics_of_programs_for_numba_cut_float_indices_off(device):
    """There a tuple of an unsigned and a signed integer is one of floats."""

    def count(counts):
        i = weft.numba.cuda.grid(1)
        weft.numba.cuda.atomic.add(counts, (i % 3 + 0.75, 1), 1)

    counts = np.zeros((3, 2), np.int32)
    weft.numba.cuda.jit(count)[1, 7](counts)
    assert counts.tolist() == [[0, 3], [0, 2], [0, 2]]
    with pytest.raises(weft.TypingError, match="an integer is needed here"):
        cuda.jit(count)[1, 7](counts)


TAKEN = """
import sys

class Redirector:
    def find_spec(self, name, path, target=None):
        if "numba.cuda" in name:
            raise RecursionError(name)

sys.meta_path.insert(0, Redirector())
import weft.numba
import weft.numba.cuda.random
from weft.numba import cuda
assert cuda is sys.modules["weft.numba.cuda"] and cuda.random.create_xoroshiro128p_states
"""


def test_a_finder_of_numba_cudas_does_not_find_ours():
    """numba-cuda's looks after all names with "numba.cuda" in them, and calls itself without end."""
    subprocess.run([sys.executable, "-c", TAKEN], check=True)

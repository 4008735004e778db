"""Functions of integers against Python's and NumPy's, for every integer type, alone and on arrays."""

from __future__ import annotations

import math

import numpy as np
import pytest

import weft
from weft import njit

SIGNED = [np.int8, np.int16, np.int32, np.int64]
UNSIGNED = [np.uint8, np.uint16, np.uint32, np.uint64]
TYPES = pytest.mark.parametrize("dtype", SIGNED + UNSIGNED, ids=lambda t: t.__name__)


@weft.vectorize
def gcd(a, b):
    return np.gcd(a, b)


@weft.vectorize
def lcm(a, b):
    return np.lcm(a, b)


@weft.vectorize
def bitwise_count(a):
    return np.bitwise_count(a)


def numbers(dtype: type, count: int = 300) -> np.ndarray:
    """Small ones, any, powers of two and their neighbours, and the ends."""
    rng = np.random.default_rng(3)
    info = np.iinfo(dtype)
    ends = [0, 1, 2, info.max, info.max - 1, info.min, info.min + 1]
    powers = [v + d for v in (1 << k for k in range(info.bits - 1)) for d in (-1, 0, 1) if v + d <= info.max]
    return np.concatenate(
        [
            np.array(ends + powers, dtype),
            rng.integers(0, 100, count).astype(dtype),
            rng.integers(info.min, info.max, count, dtype, endpoint=True),
        ]
    )


@TYPES
def test_divisors(dtype, device):
    x = numbers(dtype)
    y = np.random.default_rng(4).permutation(x)
    np.testing.assert_array_equal(gcd(x, y), np.gcd(x, y))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(lcm(x, y), np.lcm(x, y))


@TYPES
def test_square_roots(dtype, device):
    x = numbers(dtype)
    x = x[x >= 0]
    roots = np.array([math.isqrt(int(v)) for v in x])
    squares = np.concatenate([roots * roots, roots * roots + 2 * roots]).astype(dtype)
    x = np.concatenate([x, squares[squares >= 0]])
    got = weft.math.isqrt(x)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, np.array([math.isqrt(int(v)) for v in x], dtype))


def test_counts(device):
    n, k = (a.ravel() for a in np.meshgrid(np.arange(62), np.arange(62)))
    fits = np.array([math.comb(int(a), int(b)) < 2**63 for a, b in zip(n, k)])
    np.testing.assert_array_equal(weft.math.comb(n, k)[fits], [math.comb(int(a), int(b)) for a, b in zip(n[fits], k[fits])])
    fits = np.array([math.perm(int(a), int(b)) < 2**63 for a, b in zip(n, k)])
    np.testing.assert_array_equal(weft.math.perm(n, k)[fits], [math.perm(int(a), int(b)) for a, b in zip(n[fits], k[fits])])
    np.testing.assert_array_equal(weft.math.factorial(np.arange(21)), [math.factorial(i) for i in range(21)])
    assert weft.math.factorial(np.uint8(5)) == 120


@TYPES
def test_bits(dtype, device):
    x = numbers(dtype)
    width = np.iinfo(dtype).bits
    patterns = [format(int(v) % (1 << width), f"0{width}b") for v in x]
    np.testing.assert_array_equal(weft.math.popcount(x), [p.count("1") for p in patterns])
    np.testing.assert_array_equal(weft.math.clz(x), [len(p) - len(p.lstrip("0")) for p in patterns])
    np.testing.assert_array_equal(weft.math.ctz(x), [len(p) - len(p.rstrip("0")) for p in patterns])
    np.testing.assert_array_equal(weft.math.brev(x), np.array([int(p[::-1], 2) for p in patterns], np.uint64).astype(dtype))
    got = bitwise_count(x)
    assert got.dtype == np.uint8
    np.testing.assert_array_equal(got, [abs(int(v)).bit_count() for v in x])


def test_python_refuses_negative_numbers():
    @njit
    def root(n):
        return math.isqrt(n)

    @njit
    def choices(n, k):
        return math.comb(n, k), math.perm(n, k), math.perm(n), math.factorial(n)

    assert root(99) == 9 and isinstance(root(99), int)
    assert choices(6, 2) == (15, 30, 720, 720)
    with pytest.raises(ValueError, match="nonnegative"):
        root(-1)
    with pytest.raises(ValueError, match="non-negative"):
        choices(5, -1)


def test_any_number_of_integers():
    @njit
    def f(a, b, c):
        return math.gcd(a, b, c), math.lcm(a, b, c), math.gcd(a), math.gcd(), math.lcm()

    assert f(12, -18, 30) == (6, 180, 12, 0, 1)

"""`math.fsum` and `math.sumprod` in compiled functions: rounded once, on arrays and tuples, on every device and interpreted."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from weft import cuda, njit

FLOATS = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])


@njit
def total(x):
    return math.fsum(x)


@njit
def products(x, y):
    return math.sumprod(x, y)


@cuda.jit
def totals(rows, out):
    i = cuda.grid(1)
    if i < len(out):
        out[i] = math.fsum(rows[i])


def nearest(exact: Fraction, dtype: type) -> np.floating:
    """The float nearest to a fraction, ties to even, by going through the neighbours of a guess."""
    limit = Fraction(float(np.finfo(dtype).max)) * (1 + Fraction(2) ** -(np.finfo(dtype).nmant + 2))
    if abs(exact) >= limit:
        return dtype(math.inf if exact > 0 else -math.inf)
    with np.errstate(over="ignore"):
        guess = dtype(float(max(min(exact, Fraction(np.finfo(np.float64).max)), -Fraction(np.finfo(np.float64).max))))
        around = [c for c in (np.nextafter(guess, dtype(-np.inf)), guess, np.nextafter(guess, dtype(np.inf))) if np.isfinite(c)]
    even = dtype(0).view(f"i{dtype().itemsize}").dtype
    return min(around, key=lambda c: (abs(Fraction(float(c)) - exact), int(c.view(even)) & 1))


def rows(dtype: type, count: int, length: int = 9) -> np.ndarray:
    """Terms that cancel, that are ties but for a last bit far below, of all sizes, subnormal, and near overflow."""
    rng = np.random.default_rng(5)
    info = np.finfo(dtype)
    sizes = np.ldexp(rng.uniform(-1, 1, (count, length)), rng.integers(info.minexp - info.nmant, info.maxexp + 1, (count, length)))
    alike = rng.uniform(-1, 1, (count, length)) * 2.0 ** rng.integers(-3, 3, (count, length))
    least = float(info.smallest_subnormal)
    ends = [1.0, -1.0, info.eps / 2, -info.eps / 2, info.eps / 4, least, -least, float(info.tiny), float(info.max), -float(info.max), 0.0]
    picked = rng.choice(np.array(ends, dtype), (count, length))
    with np.errstate(over="ignore"):
        x = np.where(rng.random((count, 1)) < 0.4, alike, np.where(rng.random((count, length)) < 0.5, sizes, picked)).astype(dtype)
    x[np.isinf(x)] = info.max
    x[::3, length // 2 :] = -x[::3, : length - length // 2]
    return x


def exact_sum(x: np.ndarray) -> Fraction:
    return sum((Fraction(float(v)) for v in x), Fraction(0))


@FLOATS
def test_sums_are_rounded_once(dtype):
    for x in rows(dtype, 400):
        got = total(x)
        assert type(got) is dtype or (dtype is np.float64 and type(got) is float)
        assert got == nearest(exact_sum(x), dtype), x


def test_as_python_has_it():
    for x in rows(np.float64, 200):
        try:
            want = math.fsum(x)
        except OverflowError:
            continue
        assert total(x) == want


@FLOATS
def test_on_devices(dtype, device):
    x = rows(dtype, 64)
    out = np.zeros(len(x), dtype)
    totals[2, 32](x, out)
    np.testing.assert_array_equal(out, [nearest(exact_sum(row), dtype) for row in x])


def test_interpreted():
    checked = njit(total.py_func, debug=True)
    for x in rows(np.float64, 10):
        assert checked(x) == total(x)


def test_many_terms():
    x = np.random.default_rng(6).standard_normal(20001) * 1e10
    assert total(x) == math.fsum(x)
    assert total(x[::2]) == math.fsum(x[::2])
    assert total(x * 3) == math.fsum(x * 3)
    assert total(np.full(100000, 0.1)) == math.fsum([0.1] * 100000)


@pytest.mark.parametrize("terms", [(), (0.1,), (0.1,) * 10, (1, 2.5, True), (-0.0,)])
def test_tuples(terms):
    got = total(terms)
    assert type(got) is float and got == math.fsum(terms) and math.copysign(1, got) == math.copysign(1, math.fsum(terms))


def test_integers_and_halves():
    assert total(np.arange(10)) == 45.0 and type(total(np.arange(10))) is np.float64
    x = np.full(3000, 0.1, np.float16)
    assert total(x) == np.float16(3000 * float(np.float16(0.1))) and type(total(x)) is np.float16


def test_not_finite():
    for terms, want in (([1.0, np.inf], np.inf), ([-np.inf, 2.0], -np.inf), ([np.nan, 1.0], np.nan), ([np.inf, -np.inf], np.nan)):
        np.testing.assert_equal(total(np.array(terms)), want)
    assert total(np.array([1e308] * 10)) == np.inf
    assert total(np.array([-1e308] * 10)) == -np.inf
    assert total((1e308, 1e308, -1e308)) == 1e308


@FLOATS
def test_products_are_summed_exactly(dtype):
    rng = np.random.default_rng(8)
    for _ in range(200):
        p, q = (rng.standard_normal((2, 12)) * 2.0 ** rng.integers(-20, 20, (2, 12))).astype(dtype)
        p[6:], q[6:] = p[:6], -q[:6]
        q[-1] = np.nextafter(q[-1], dtype(9))
        exact = sum((Fraction(float(a)) * Fraction(float(b)) for a, b in zip(p, q)), Fraction(0))
        assert products(p, q) == nearest(exact, dtype)


def test_products_of_integers_and_tuples():
    x = np.arange(1000, dtype=np.int32)
    got = products(x * 1000, x)
    assert got == sum(1000 * i * i for i in range(1000)) and type(got) is int
    assert products((1, 2, 3), (4, 5, 6)) == 32
    assert products((0.1, 2), (10, 0.25)) == 1.5
    assert products((), ()) == 0
    np.testing.assert_equal(products(np.array([np.inf, 1.0]), np.array([1.0, 2.0])), np.inf)
    np.testing.assert_equal(products(np.array([np.inf]), np.array([0.0])), np.nan)


def test_refusals():
    with pytest.raises(ValueError, match="not the same length"):
        products(np.ones(3), np.ones(4))
    for bad in (np.ones((2, 2)), 1.0, np.ones(3, complex)):
        with pytest.raises(TypeError, match="fsum takes"):
            total(bad)
    with pytest.raises(TypeError, match="two arrays or two tuples"):
        products(np.ones(2), (1.0, 2.0))

"""`round` of Python's numbers is Python's, correctly rounded; `round` and `np.round` of NumPy's are NumPy's."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support import texts

from weft import cuda, njit, vectorize

pytestmark = pytest.mark.filterwarnings("ignore")

EDGES = [0.0, 0.4, 0.5, 1.5, 2.5, 2.675, 1.005, 0.125, 0.375, 1e-300, 5e-324, 1e22, 1e23, 1e308, 1.7976931348623157e308, 9007199254740993.0,
         4503599627370495.5, 2251799813685247.75, 0.1, 1e16, 123456789.987654321, 5e22, 15e22, 2.0**-30, math.inf, math.nan]  # fmt: skip
DIGITS = [0, 1, 2, 3, 5, 10, 15, 16, 17, 20, 22, 23, 25, 30, 100, 300, 308, 309, 322, 323, 324, 400, 2**40]


def python_round(x, n):
    """Python's; what overflows becomes infinite."""
    try:
        return round(x, n)
    except OverflowError:
        return math.copysign(math.inf, x)


@njit(error_model="numpy")
def round_all(xs, ns, out):
    for i in range(xs.size):
        out[i] = round(float(xs[i]), ns[i])


def same_bits(got, want):
    got, want = np.asarray(got), np.asarray(want)
    return (got.view(np.int64) == want.view(np.int64)) | (np.isnan(got) & np.isnan(want))


def check_all(xs, ns, rounder=round_all):
    xs, ns = np.array(xs, float), np.array(ns)
    got = np.zeros_like(xs)
    rounder(xs, ns, got)
    want = np.array([python_round(float(x), int(n)) for x, n in zip(xs, ns)])
    wrong = ~same_bits(got, want)
    assert not wrong.any(), [(x, n, g, w) for x, n, g, w in zip(xs[wrong], ns[wrong], got[wrong], want[wrong])][:5]


def edge_cases():
    pairs = [(s * x, t * n) for x in EDGES for s in (1, -1) for n in DIGITS for t in (1, -1)]
    return [x for x, _ in pairs], [n for _, n in pairs]


def random_cases(rng, count):
    """Floats of all sizes at digits where something is rounded; decimals and halves of decimals."""
    xs = rng.integers(0, 2**64, count, np.uint64).view(float)
    places = np.nan_to_num(np.log10(np.abs(xs)), nan=0, posinf=0, neginf=0)
    near = np.clip(rng.integers(-2, 19, count) - places.astype(int), -330, 330)
    decimals = np.round(rng.random(count) * 1e6, 3), rng.integers(-6, 8, count)
    tens = rng.integers(-12, 12, count)
    halves = np.array([float(f"{2 * int(k) + 1}e{-int(n) - 1}") * 5 for k, n in zip(rng.integers(0, 10**6, count), tens)])
    return np.concatenate([xs, xs, decimals[0], halves]), np.concatenate([near, rng.integers(-330, 330, count), decimals[1], tens])


def test_python_floats():
    check_all(*edge_cases())
    check_all(*random_cases(np.random.default_rng(1), 20_000))


def test_kernels_and_ufuncs(device):
    @cuda.jit
    def kernel(xs, ns, out):
        i = cuda.grid(1)
        if i < xs.size:
            out[i] = round(float(xs[i]), ns[i])

    def launch(xs, ns, out):
        kernel.forall(xs.size)(xs, ns, out)

    check_all(*edge_cases(), launch)
    check_all(*random_cases(np.random.default_rng(2), 300), launch)
    rounded = vectorize(lambda x, n: round(float(x), n))
    xs, ns = map(np.array, edge_cases())
    assert same_bits(rounded(xs, ns), [python_round(float(x), int(n)) for x, n in zip(xs, ns)]).all()


@pytest.mark.parametrize("n", [0, 1, 2, 7, 22, 23, 150, 400, -1, -3, -22, -23, -300, -400])
def test_written_digits(n):
    f = texts.function_of(f"def f(x):\n    return round(x, {n})\n", {})
    compiled = njit(f)
    for size in EDGES:
        for x in (size, -size):
            try:
                want = f(x)
            except OverflowError:
                with pytest.raises(OverflowError, match="too large"):
                    compiled(x)
                continue
            assert same_bits(compiled(x), want), (x, n)
            assert type(compiled(x)) is float


def test_debug():
    f = njit(lambda x, n: round(x, n), debug=True)
    for x, n in ((2.675, 2), (1e-30, 31), (1e300, -299), (-0.4, 0)):
        assert same_bits(f(x, n), round(x, n))


def test_python_integers():
    f = njit(lambda x, n: round(x, n))
    for x in (0, 5, 15, 25, 26, -5, -15, -25, 149, 150, 250, 10**18, 2**63 - 1, -(2**63), 5 * 10**18, -5 * 10**18, True):
        for n in (0, 1, 5, 400, -1, -2, -3, -17, -18, -19, -20, -400):
            want = round(x, n)
            if -(2**63) <= want < 2**63:
                assert f(x, n) == want and type(f(x, n)) is int, (x, n)
                g = texts.function_of(f"def f(x):\n    return round(x, {n})\n", {})
                if n in (0, -1, -2, -19, -20):
                    assert njit(g)(x) == want, (x, n)
        assert njit(lambda x: round(x))(x) == round(x)
    rng = np.random.default_rng(3)
    for x, n in zip(rng.integers(-(2**62), 2**62, 500), rng.integers(-18, 2, 500)):
        assert f(int(x), int(n)) == round(int(x), int(n))


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_numpy_numbers(dtype):
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        ends = np.iinfo(dtype)
        a = np.array([ends.min, ends.max, ends.max // 2, ends.max // 3, 0, 5, 15, 25, 26, 45, 95, 101], dtype)
    else:
        a = np.array([x for x in EDGES for x in (x, -x)]).astype(dtype)
        if dtype.kind == "c":
            a = a + a[::-1] * dtype.type(1j)
    given = njit(lambda a, n: np.round(a, n))
    plain = njit(lambda a: np.round(a))
    np.testing.assert_array_equal(plain(a), np.round(a))
    one = njit(lambda x, n: round(x, n))
    for n in (0, 1, 2, 5, 16, 23, 37, 39, 300, 400, -1, -2, -3, -9, -10, -19, -20, -23, -300, -400):
        want = np.round(a, n)
        got = given(a, n)
        assert got.dtype == want.dtype
        if dtype.kind == "u" and n < 0:
            # What a uint32 or uint64 makes of a float that it cannot hold is not defined.
            fits = (n >= -308) & (np.round(a.astype(float), n) < 2.0 ** (8 * dtype.itemsize))
            got, want = np.where(fits, got, 0), np.where(fits, want, 0)
        np.testing.assert_array_equal(got, want, err_msg=f"{dtype} {n}")
        np.testing.assert_array_equal(np.signbit(got.real[got == 0]), np.signbit(want.real[want == 0]))
        written = texts.function_of(f"def f(a):\n    return np.round(a, {n})\n", {"np": np})
        if n in (0, 2, 23, -1, -2, -10, -400) and not (dtype.kind == "u" and n < 0):
            np.testing.assert_array_equal(njit(written)(a), want, err_msg=f"{dtype} {n}")
        if dtype.kind != "c":
            for x in a[:6]:
                if dtype.kind == "u" and n < 0:
                    continue
                want = round(x, n)
                got = one(x, n)
                assert type(got) is type(want)
                np.testing.assert_array_equal(got, want)


def test_numpy_functions_of_python_numbers():
    for expression in ("2.675, 2", "15, -1", "25", "0.5", "1.25 + 2.35j, 1", "7, 1", "True"):
        f = texts.function_of(f"def f():\n    return np.round({expression})\n", {"np": np})
        want, got = f(), njit(f)()
        assert type(got) is type(want) and got == want


def test_refusals():
    with pytest.raises(TypeError):
        njit(lambda x: round(x, 1.5))(2.5)
    with pytest.raises(TypeError):
        njit(lambda x: round(x, 1))(1j)

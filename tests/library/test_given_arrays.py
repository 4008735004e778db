"""Arrays that are given for results: `out` of `clip` and `round`, and which kinds of numbers go into which."""

import itertools

import numpy as np
import pytest
from support import texts

from weft import TypingError, UnsupportedError, njit
from weft.errors import ArgumentError

DTYPES = ["bool", "int8", "uint8", "int64", "uint64", "float16", "float32", "float64", "complex64", "complex128"]
CASTINGS = ["no", "equiv", "safe", "same_kind", "unsafe"]


@njit
def clipped(a, low, high, out):
    return np.clip(a, low, high, out=out)


@njit
def clipped_method(a, low, high, out):
    return a.clip(low, high, out)


@njit
def rounded(a, out):
    return np.round(a, 1, out)


@njit
def rounded_method(a, out):
    return a.round(decimals=1, out=out)


CALLS = [
    (clipped, lambda f, a, o: f(a, 2, 5, o)),
    (clipped_method, lambda f, a, o: f(a, 2, 5, o)),
    (rounded, lambda f, a, o: f(a, o)),
    (rounded_method, lambda f, a, o: f(a, o)),
]


@pytest.mark.parametrize(("function", "call"), CALLS, ids=[f.__name__ for f, _ in CALLS])
@pytest.mark.parametrize("of", ["int8", "uint8", "int64", "float32", "float64"])
@pytest.mark.parametrize("into", DTYPES)
def test_results_go_where_numpy_puts_them(function, call, of, into):
    a = (np.arange(12).reshape(3, 4) * 0.77).astype(of)
    want, got = np.zeros((3, 4), into), np.zeros((3, 4), into)
    try:
        given = call(function.__wrapped__, a, want)
    except TypeError:
        with pytest.raises((UnsupportedError, TypingError)):
            call(function, a, got)
        return
    assert given is want
    if function in (rounded, rounded_method) and np.dtype(of).kind == "f" and into != of:
        with pytest.raises(UnsupportedError, match="are rounded into an array of"):
            call(function, a, got)
        return
    result = call(function, a, got)
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(result, want)


@pytest.mark.parametrize(("function", "call"), CALLS, ids=[f.__name__ for f, _ in CALLS])
def test_the_array_may_be_the_operand(function, call):
    for a in (np.arange(12.0) * 0.77, (np.arange(24.0) * 0.77)[::-2]):
        want = a.copy()
        call(function.__wrapped__, want, want)
        call(function, a, a)
        np.testing.assert_array_equal(a, want)


@pytest.mark.parametrize(("function", "call"), CALLS, ids=[f.__name__ for f, _ in CALLS])
def test_arrays_of_other_shapes(function, call):
    with pytest.raises(ValueError):
        call(function, np.arange(4.0), np.zeros(5))


def test_bounds_of_the_method():
    @njit
    def least(a):
        return a.clip(3)

    @njit
    def most(a):
        return a.clip(max=3)

    @njit
    def none(a):
        return a.clip()

    a = np.arange(6)
    np.testing.assert_array_equal(least(a), a.clip(3))
    np.testing.assert_array_equal(most(a), a.clip(max=3))
    with pytest.raises(ArgumentError, match="min or max"):
        none(a)


def test_can_cast():
    for casting in CASTINGS:
        pairs = list(itertools.product(DTYPES, repeat=2))
        lines = [f"np.can_cast(np.{a}, np.{b}, casting={casting!r})," for a, b in pairs]
        f = texts.function_of("def f():\n    return (" + " ".join(lines) + ")\n", {"np": np})
        assert njit(f)() == f()


@pytest.mark.parametrize("equal_nan", [True, False])
def test_isclose_with_equal_nan(equal_nan):
    @njit
    def f(a, b, equal):
        return np.isclose(a, b, equal_nan=equal)

    values = [0.0, 1.0, np.nan, np.inf, -np.inf]
    a, b = (np.array(x) for x in zip(*itertools.product(values, repeat=2)))
    for dtype in ("float16", "float32", "float64", "complex128"):
        np.testing.assert_array_equal(f(a.astype(dtype), b.astype(dtype), equal_nan), np.isclose(a, b, equal_nan=equal_nan))
    z = np.empty(a.shape, np.complex128)
    z.real, z.imag = a, b
    np.testing.assert_array_equal(f(z, z[::-1].copy(), equal_nan), np.isclose(z, z[::-1], equal_nan=equal_nan))

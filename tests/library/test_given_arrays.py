"""Arrays that are given for results: `out` of `clip` and `round`, and which kinds of numbers go into which."""

import itertools

import numpy as np
import pytest
from support import texts

from weft import TypingError, UnsupportedError, cuda, njit
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


def test_results_go_into_arrays_of_kernels(device):
    @cuda.jit
    def kernel(a, clipped, rounded):
        own = cuda.local.array(4, np.float32)
        own[:] = a
        np.clip(own, 0, 2, out=own)
        own.round(1, own)
        clipped[:] = own
        np.round(a, 1, out=rounded)
        a.clip(0, 2, a)

    a = np.array([-1.55, 0.26, 1.55, 3], np.float32)
    clipped, rounded, before = np.zeros(4, np.float32), np.zeros(4, np.float32), a.copy()
    kernel[1, 1](a, clipped, rounded)
    np.testing.assert_array_equal(clipped, np.clip(before, 0, 2).round(1))
    np.testing.assert_array_equal(rounded, before.round(1))
    np.testing.assert_array_equal(a, before.clip(0, 2))


def test_results_are_broadcast_into_larger_arrays():
    a, out = np.arange(4.0), np.zeros((3, 4))
    clipped(a, 1, 2, out)
    np.testing.assert_array_equal(out, [a.clip(1, 2)] * 3)


@pytest.mark.parametrize("call", [lambda x: x.round(1), lambda x: x.clip(0, 1)])
def test_pythons_numbers_have_no_such_methods(call):
    with pytest.raises(TypingError, match="has no attribute"):
        njit(call)(3.25)
    assert njit(call)(np.float64(3.25)) == call(np.float64(3.25))


def test_reductions_put_any_number_into_their_arrays():
    @njit
    def f(a, most, mean):
        np.max(a, axis=0, out=most)
        np.mean(a, axis=0, out=mean)

    a = np.array([[1.5, 4.0, 2.0], [3.0, 1.0, 5.0]])
    got, want = [(np.zeros(3, np.int32), np.zeros(3, np.int64)) for _ in range(2)]
    f(a, *got)
    f.__wrapped__(a, *want)
    for ours, theirs in zip(got, want):
        np.testing.assert_array_equal(ours, theirs)

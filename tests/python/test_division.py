"""Division by zero, and zero to negative powers: NumPy's numbers and arrays give what NumPy gives, Python's raise as Python's do."""

from __future__ import annotations

import numpy as np
import pytest
from support import texts

import weft
from weft import cuda, njit, vectorize

INTS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
REAL = [*INTS, "f2", "f4", "f8"]
ALL = [*REAL, "c8", "c16"]
PYTHON = [1, 0, -1, True, False, 1.5, 0.0, -0.0]
OPERATORS = {"a / b": ALL, "a // b": ["?", *REAL], "a % b": ["?", *REAL], "divmod(a, b)": REAL}
UFUNCS = {"np.divide(a, b)": ALL, "np.floor_divide(a, b)": REAL, "np.remainder(a, b)": REAL, "np.divmod(a, b)": REAL}
pytestmark = pytest.mark.filterwarnings("ignore")


def function_of(expression, names="a, b"):
    return texts.function_of(f"def f({names}):\n    return {expression}\n", {"np": np})


def numbers(dtype):
    """A number and its opposite, and zeros of both signs."""
    dtype = np.dtype(dtype)
    return np.array([1, 0] if dtype.kind in "bu" else [1, 0, -1, -0.0] if dtype.kind in "fc" else [1, 0, -1], dtype)


def assert_same(got, want, context):
    """The same type and value, signs of zeros included. Which NaN a complex infinity comes with is the device's."""
    if isinstance(want, tuple):
        assert len(got) == len(want), context
        for g, w in zip(got, want):
            assert_same(g, w, context)
        return
    assert type(got) is type(want), f"{context}: {got!r}, not {want!r}"
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype, context
    np.testing.assert_array_equal(got, want, err_msg=str(context))
    if want.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(got[~np.isnan(got)]), np.signbit(want[~np.isnan(want)]), err_msg=str(context))


def check(compiled, f, args):
    """Weft's result or exception is that of the undecorated function."""
    try:
        want = f(*args)
    except Exception as error:
        with pytest.raises(type(error)):
            compiled(*args)
        return
    assert_same(compiled(*args), want, (f.__name__, args))


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("expression", {**OPERATORS, **UFUNCS})
def test_strong_numbers_and_arrays(expression, debug):
    f = function_of(expression)
    compiled = njit(f, debug=debug)
    for dtype in {**OPERATORS, **UFUNCS}[expression]:
        a = np.repeat(numbers(dtype), len(numbers(dtype)))
        b = np.tile(numbers(dtype), len(numbers(dtype)))
        check(compiled, f, (a, b))
        check(compiled, f, (a, b[1]))
        check(compiled, f, (a, 0))
        check(compiled, f, (1, b))
        for x, y in zip(a, b):
            check(compiled, f, (x, y))
        check(compiled, f, (a[0], 0))
        check(compiled, f, (1, b[1]))


@pytest.mark.parametrize("expression", {**OPERATORS, **UFUNCS})
def test_python_numbers(expression):
    f = function_of(expression)
    compiled = njit(f)
    numbers = [*PYTHON, 1j, 0j] if expression in ("a / b", "np.divide(a, b)") else PYTHON
    for a in numbers:
        for b in numbers:
            if isinstance(a, bool) and isinstance(b, bool) and expression.startswith("np."):
                continue  # NumPy has loops of its own for bools
            check(compiled, f, (a, b))
            check(njit(lambda a, b: f(a, b), error_model="numpy"), lambda a, b: numpys(expression, a, b), (a, b))


def numpys(expression, a, b):
    """What NumPy gives, as a Python number where it is an operator's."""
    result = function_of(expression)(np.array(a)[()], np.array(b)[()])
    if expression.startswith("np."):
        return result
    return tuple(r.item() for r in result) if isinstance(result, tuple) else result.item()


def test_literal_zeros():
    for expression in ("a / 0", "a / 0.0", "a // 0", "a % 0", "0 % a", "divmod(a, 0)", "np.divide(a, 0)", "a / -0.0"):
        f = function_of(expression, "a")
        for dtype in REAL:
            for a in numbers(dtype):
                check(njit(f), f, (a,))
            check(njit(f), f, (numbers(dtype),))
    for expression in ("a / 0", "a // 0.0", "a % 0", "divmod(a, 0)", "1 / 0"):
        with pytest.raises(weft.ZeroDivisionError_, match="division by zero"):
            njit(function_of(expression, "a"))(1)
        with pytest.raises(ZeroDivisionError):
            njit(function_of(expression, "a"))(1.5)
        njit(function_of(expression, "a"), error_model="numpy")(1)
    assert njit(function_of("1 / a - 1 / 0", "a"), error_model="numpy")(-0.0) == -np.inf


def test_in_place():
    def f(a, b):
        a /= b
        a[1:] /= 0.0
        a[0] //= 0.0

    a, b = np.array([1.0, -1.0, 0.0]), np.zeros(3)
    want = a.copy()
    f(want, b)
    for compiled in (njit(f), njit(f, parallel=True), njit(f, debug=True)):
        got = a.copy()
        compiled(got, b)
        np.testing.assert_array_equal(got, want)

    def g(a):
        a //= 0
        a[1] %= 0

    for dtype in INTS:
        got = np.ones(3, dtype)
        njit(g)(got)
        np.testing.assert_array_equal(got, np.zeros(3))


@pytest.mark.parametrize("expression", ["a ** b", "pow(a, b)", "np.power(a, b)", "a ** -1", "a ** -2", "np.float_power(a, b)"])
def test_negative_powers_of_zero(expression):
    f = function_of(expression)
    compiled = njit(f)
    for a in (0.0, -0.0, 2.0, np.float32(0), np.float64(-0.0), np.float64(2), np.zeros(2)):
        for b in (-1.0, -2.0, -1.5, 0.0, 1.0, -1, 0, np.float64(-1), np.float32(-2)):
            check(compiled, f, (a, b))
    # Python has an OverflowError here, which is no division by zero.
    assert njit(function_of("a ** -2", "a"))(1e-200) == np.inf
    for a in (0j, 1j, 1 + 1j):
        for b in (-1.0, 1j, 0j, -1 + 0j, 2.0):
            if a and not expression.startswith("np."):
                assert np.isclose(compiled(a, b), f(a, b))
            elif not expression.startswith("np."):
                check(compiled, f, (a, b))


def test_negative_powers_of_integers():
    for a, b in ((2, -1), (np.int32(2), np.int32(-1)), (np.array([1, 2]), np.array([1, -1]))):
        with pytest.raises(ValueError, match="negative integer powers"):
            njit(lambda a, b: a**b)(a, b)
        with pytest.raises(ValueError, match="negative integer powers"):
            njit(lambda a, b: np.power(a, b))(a, b)


def test_signatures_make_strong_numbers():
    assert njit("float64(float64, float64)")(lambda a, b: a / b)(1.0, 0.0) == np.inf
    assert njit("int64(int64, int64)")(lambda a, b: a // b)(1, 0) == 0


def test_calls_divide_as_their_arguments():
    inner = njit(lambda a, b: a / b)

    def outer(a, b, n, m):
        return inner(a, b), inner(n, m)

    assert njit(outer)(np.float64(1), np.float64(0), 1, 2) == (np.inf, 0.5)
    with pytest.raises(ZeroDivisionError):
        njit(outer)(np.float64(1), np.float64(0), 1, 0)


@pytest.mark.parametrize("dtype", ["i1", "u4", "i8", "u8", "f4", "f8"])
def test_kernels_never_raise(device, dtype):
    @cuda.jit
    def kernel(a, b, quotient, floor, rest, weak, literal):
        i = cuda.grid(1)
        if i < a.size:
            quotient[i] = a[i] / b[i]
            floor[i] = a[i] // b[i]
            rest[i] = a[i] % b[i]
            weak[i] = (i + 1) / (i * 0)
            literal[i] = a[i] / 0 + 1 / 0

    a = np.repeat(numbers(dtype), len(numbers(dtype)))
    b = np.tile(numbers(dtype), len(numbers(dtype)))
    got = [np.zeros_like(a / b), np.zeros_like(a // b), np.zeros_like(a % b), np.zeros(len(a)), np.zeros(len(a))]
    kernel.forall(len(a))(a, b, *got)
    for have, want in zip(got, (a / b, a // b, a % b, np.full(len(a), np.inf), (a / 0 + np.inf).astype(float))):
        assert_same(have, want, dtype)


def test_ufuncs_never_raise(device):
    divide, floor, rest = (vectorize(function_of(f"a {op} b")) for op in ("/", "//", "%"))
    literal = vectorize(function_of("a / 0 + b * (1 / 0)"))
    for dtype in ("i4", "f4", "f8"):
        a = np.repeat(numbers(dtype), len(numbers(dtype)))
        b = np.tile(numbers(dtype), len(numbers(dtype)))
        for compiled, want in ((divide, a / b), (floor, a // b), (rest, a % b), (literal, a / 0 + b * np.inf)):
            np.testing.assert_array_equal(compiled(a, b), want)
    assert (divide(1, 0), floor(1, 0), rest(1, 0)) == (np.inf, 0, 0)

"""Arithmetic on numbers that stand in the source: Python's value, or a refusal with the line. Nothing wraps, nothing takes long."""

from __future__ import annotations

import math
import random
import time

import numpy as np
import pytest
from support import texts

import weft
from weft import njit, numba

NAMES = {"np": np, "math": math}
SEEDS = 40
PER_SEED = 30


def function_of(expression, params=""):
    return texts.function_of(f"def f({params}):\n    return {expression}\n", dict(NAMES))


def outcome(function, *args):
    try:
        return function(*args)
    except weft.WeftError:
        raise
    except (ArithmeticError, ValueError) as error:
        return type(error)


class Expressions:
    """Random expressions of literals: small ones, those at the ends of types, and huge ones."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def integer(self):
        ends = [0, 1, 2, 3, 7, 2**31, 2**53, 2**63, 2**64, 2**100, 2**126, 2**127]
        value = self.random.choice(ends) + self.random.choice([-1, 0, 1])
        return str(value) if value >= 0 else f"({value})"

    def number(self):
        floats = ["0.5", "3.0", "-2.5", "1e18", "1e30", "1e300", "9007199254740992.0", "-0.0"]
        return self.random.choice(floats) if self.random.random() < 0.2 else self.integer()

    def of(self, depth):
        if depth == 0:
            return self.number()
        a = self.of(depth - 1)
        kind = self.random.random()
        if kind < 0.15:
            return f"({self.random.choice(['-', '~', '+'])}{a})"
        if kind < 0.25:
            return f"{self.random.choice(['int', 'float', 'round', 'math.floor', 'math.ceil', 'abs'])}({a})"
        b = self.of(self.random.randrange(depth))
        if kind < 0.4:
            return f"({a} {self.random.choice(['<<', '>>', '**'])} {self.random.choice(['0', '1', '5', '62', '63', '70', '130', '(-3)'])})"
        if kind < 0.5:
            return f"({a} {self.random.choice(['<', '<=', '==', '!=', '>', '>='])} {b})"
        return f"({a} {self.random.choice(['+', '-', '*', '//', '%', '/', '&', '|', '^'])} {b})"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(SEEDS))
def test_constants_are_python_s_or_refused(seed):
    expressions = Expressions(seed)
    exact = 0
    for _ in range(PER_SEED):
        text = expressions.of(3)
        f = function_of(text)
        try:
            want = f()
        except (TypeError, ArithmeticError, ValueError) as error:
            want = type(error)
        try:
            got = outcome(njit(f))
        except weft.WeftError as refused:
            assert "line 2" in str(refused) or ":2" in str(refused), text
            continue
        if want is OverflowError and "**" in text:
            # The types guide: powers of floats that are too large are infinite.
            continue
        if isinstance(want, type):
            assert got is want, (text, got, want)
        else:
            assert (type(got), got) == (type(want), want) or (got != got and want != want), (text, got, want)
            exact += 1
    assert exact, seed


HUGE = [
    "1 << 10**6",
    "1 << 200",
    "2 ** 200",
    "(1 << 120) * (1 << 120)",
    "1 << 10**9",
    "10 ** 10 ** 9",
    "1 << (1 << 100)",
    "(1 << 126) + (1 << 126)",
]
HUGE += ["-(1 << 126) - (1 << 126) - 2", "int(1e300)", "round(1e300)", "math.floor(1e300)", "0x" + "f" * 40, "9" * 60, "int(float('nan'))"]


@pytest.mark.parametrize("text", HUGE)
@pytest.mark.parametrize("use", ["n + ({})", "n < ({})", "({})", "float({})", "range({})[0]", "({}) - ({})", "n + int(({}) > 0)"])
@pytest.mark.parametrize("jit", [njit, numba.njit])
def test_huge_constants_are_refused_at_once(text, use, jit):
    before = time.perf_counter()
    with pytest.raises((weft.WeftError, OverflowError)):
        jit(function_of(use.replace("{}", text), "n"))(5)
    assert time.perf_counter() - before < 5


@pytest.mark.parametrize("jit", [njit, numba.njit])
@pytest.mark.parametrize(
    "text", ["n + (1 << 64)", "n * (2 ** 70)", "n + -(1 << 64)", "n // (1 << 64)", "n + int(1e20)", "n & (1 << 65)", "n + math.floor(1e20)"]
)
def test_constants_beyond_64_bits_become_no_value(jit, text):
    with pytest.raises(weft.WeftError, match=r"does not fit u?int64"):
        jit(function_of(text, "n"))(5)


FITTING = [
    "n + ((1 << 100) >> 99)",
    "n + (2 ** 80) // (2 ** 79)",
    "n / (1 << 100)",
    "n * float(10 ** 30)",
    "n + (2 ** 126 - 2 ** 126)",
    "n ** -20",
]
FITTING += [
    "(n < 2 ** 70, n > 2 ** 70, n == 2 ** 70, n != -(2 ** 70), 2 ** 70 <= n, -(2 ** 70) <= n)",
    "n + 0x10000000000000000 // 0x1000000000000000",
]
FITTING += [
    "2 ** 53 + 1 > 2.0 ** 1 * 2 ** 52",
    "(2 ** 60 + 1) / 3",
    "10 ** -30",
    "n if n < 10 ** 30 else 0",
    "(1, n)[: 10 ** 30]",
    "int(1e18) + n",
]
FITTING += [
    "(True & False, True | False, True ^ True, True + True, True & 3, n)",
    "round(2.5) + round(-3.5) + math.floor(-2.5) + math.ceil(2.1) + math.trunc(-2.7) + n",
    "(0 / -5, n)",
    "0 ** 10 ** 30 + n",
]


@pytest.mark.parametrize("text", FITTING)
def test_constants_are_exact_on_the_way(text):
    f = function_of(text, "n")
    for n in (5, -3):
        want, got = f(n), njit(f)(n)
        assert got == want and type(got) is type(want)
        assert repr(got) == repr(want)


def test_numbers_of_all_integer_types_compare_with_huge_constants():
    f = function_of("(n < 2 ** 64, n >= 2 ** 63, n == 2 ** 100, n != 2 ** 100, n > -(2 ** 63), n < -(2 ** 64), 2 ** 64 > n)", "n")
    for dtype in "bBhHiIlL":
        for n in (np.iinfo(dtype).min, 0, np.iinfo(dtype).max):
            for value in (np.dtype(dtype).type(n), np.full(3, n, dtype)):
                want, got = f(value), njit(f)(value)
                for g, w in zip(got, want):
                    np.testing.assert_array_equal(g, w)
                    assert type(g) is type(w)


@pytest.mark.parametrize(
    ("dtype", "value"), [("b", "300.7"), ("B", "-3.5"), ("l", "1e30"), ("h", "float('nan')"), ("i", "float('inf')"), ("b", "300")]
)
def test_constants_that_an_array_cannot_hold(dtype, value):
    def program(use):
        return texts.function_of(f"def f(a):\n    {use}\n    return a\n", dict(NAMES))

    name = np.dtype(dtype).type.__name__
    for use in (f"a[0] = {value}", f"a[:] = {value}", f"a[0] = np.{name}({value})"):
        with pytest.raises((OverflowError, ValueError)):
            program(use)(np.zeros(2, dtype))
        with pytest.raises(weft.WeftError):
            njit(program(use))(np.zeros(2, dtype))


def test_long_repetitions_are_refused():
    for times in ("2 ** 64", "2 ** 100", "2 ** 32"):
        with pytest.raises(weft.WeftError, match="too long"):
            njit(function_of(f"(n, n) * ({times})", "n"))(1)
    with pytest.raises(weft.WeftError, match="negative shift count"):
        njit(function_of("n + (1 << -1)", "n"))(1)


@pytest.mark.parametrize(
    "text", ["math.comb(70, 35)", "math.perm(21)", "math.perm(30, 20)", "math.lcm(2**40, 3**30)", "math.comb(100, 50)"]
)
def test_numbers_of_choices_that_do_not_fit(text):
    with pytest.raises(weft.WeftError, match="does not fit 64 bits"):
        njit(function_of(f"n + {text}", "n"))(1)


def test_numbers_of_choices_that_fit():
    text = "math.comb(66, 33), math.comb(5, 7), math.perm(20, 20), math.perm(3, 4), math.lcm(2**40, 3**14), math.lcm(0, 5), math.lcm()"
    assert njit(function_of(text, "n"))(1) == eval(text)


def test_factorials():
    assert njit(function_of("n + math.factorial(20)", "n"))(1) == math.factorial(20) + 1
    with pytest.raises(weft.WeftError, match="does not fit 64 bits"):
        njit(function_of("n + math.factorial(21)", "n"))(1)


def test_frozen_integers_of_any_size():
    for value in (2**64, 2**126, 2**127, -(2**127), 2**200, 10**400):
        f = texts.function_of("def f(n):\n    return n + BIG\n", {"BIG": value})
        with pytest.raises((weft.WeftError, OverflowError)):
            njit(f)(1)
        negated = texts.function_of("def f(n):\n    return n + (-BIG // BIG) + (BIG % -1)\n", {"BIG": value})
        try:
            assert njit(negated)(1) == negated(1)
        except weft.WeftError:
            assert abs(value) >= 2**127


WHOLE = [
    "-9223372036854775808",
    "-(2**63)",
    "2**63 - 1",
    "2**63",
    "(1 << 64) - 1",
    "2**64 // 2**60",
    "-9223372036854775808 // -1",
    "1 << 63",
    "-7 % 3",
]


@pytest.mark.parametrize("expression", [*WHOLE, "5 / 2", "2**-1", "2.0**1023 * 1.5", "(1 << 100) / (1 << 99)"])
def test_in_numba_s_dialect_too(expression):
    """Python computes what is written out before Numba sees it: `-9223372036854775808` is no negated uint64."""
    plain = function_of(expression)
    for f in (plain, function_of(f"np.array([{expression}])[0]"), function_of(f"({expression}) + x", "x")):
        args = (0,) * f.__code__.co_argcount
        if f is not plain and abs(plain()) >= 2**63:
            continue
        got, want = numba.njit(f)(*args), f(*args)
        assert got == want and isinstance(got, float) == isinstance(want, float)


def test_numbers_that_fit_no_type_are_refused_in_numba_s_dialect():
    for expression in ("-18446744073709551615", "-9223372036854775809", "2**64", "-(2**100)"):
        with pytest.raises(weft.WeftError, match="does not fit"):
            numba.njit(function_of(expression))()


def test_slices_to_the_lowest_integer():
    f = texts.function_of("def f(a):\n    b = a.copy()\n    b[:-9223372036854775808:2] = 7\n    return b\n", {})
    for compiled in (njit(f), numba.njit(f)):
        assert (compiled(np.arange(4)) == np.arange(4)).all()

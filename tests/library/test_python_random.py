"""Python's `random` in compiled functions: Numba's numbers, which mostly are CPython's from the same words; one state a thread."""

from __future__ import annotations

import os
import random
import threading
from random import gauss, getrandbits
from random import random as unit
from typing import Any

import numpy as np
import pytest
from support import texts
from support.forks import from_a_child

import weft
from weft import cuda, njit, prange
from weft.errors import TypingError, UnsupportedError

# What Numba 0.68.1 gives from the seed 2026 behind 40 of each, twice, and a float behind them.
RECORDED: dict[str, list[float]] = {
    "random()": [0.9399288607089527, 0.31175372444251737, 0.023002568396193634],
    "getrandbits(1)": [0, 0, 0.12140543858998842],
    "getrandbits(32)": [131396244, 77597033, 0.12140543858998842],
    "getrandbits(33)": [4036963719, 5633939335, 0.023002568396193634],
    "getrandbits(64)": [3061866246436760967, 10887503511265679239, 0.023002568396193634],
    "randrange(10)": [9, 9, 0.36928202577041],
    "randrange(-7, 2**40)": [1095062239038, 481287311787, 0.6006287753809204],
    "randrange(10, -1000, -7)": [-865, -515, 0.20718000021475524],
    "randint(1, 6)": [6, 6, 0.6829203721828514],
    "randint(0, 2**31 - 1)": [98795284, 2011340605, 0.24909584155915754],
    "uniform(-1.5, 4)": [3.6696087338992394, 0.21464548443384546, 0.023002568396193634],
    "triangular(-1.0, 4.0)": [3.1334613446948305, 0.9740621964698748, 0.023002568396193634],
    "triangular(-1.0, 4.0, 0.5)": [2.9746976360149517, 0.5295087059241963, 0.023002568396193634],
    "triangular(2.0, 2.0, 2.0)": [2.0, 2.0, 0.21934563492692294],
    "gauss(1.0, 2.0)": [0.9797454426414101, 1.2730314018060593, 0.37213830696289096],
    "normalvariate(-3, 0.5)": [-3.0050636393396473, -2.931742149548485, 0.37213830696289096],
    "lognormvariate(0.1, 0.7)": [1.097363961187572, 1.215992955839588, 0.37213830696289096],
    "expovariate(2.5)": [1.1248903056971458, 0.14944341857663107, 0.023002568396193634],
    "gammavariate(0.3, 2.0)": [2.762935218295228, 2.7672304756815342, 0.32381723319762956],
    "gammavariate(1.0, 2.0)": [5.624451528485729, 0.7472170928831553, 0.023002568396193634],
    "gammavariate(7.5, 0.5)": [3.080141771134664, 4.364162592431389, 0.5968167217005191],
    "betavariate(0.4, 0.7)": [0.00033322414219857997, 0.4131704729441193, 0.08856572976632737],
    "betavariate(3.0, 9.0)": [0.34648727683214414, 0.12233048765722007, 0.23925786873621468],
    "paretovariate(2.2)": [3.5904747578826655, 1.1850939647183267, 0.023002568396193634],
    "weibullvariate(2.0, 1.7)": [3.6743215671625435, 1.1207544388949462, 0.023002568396193634],
    "vonmisesvariate(1.5, 2.5)": [2.8058660972708003, 1.3872958811975025, 0.4176727986940275],
    "vonmisesvariate(-0.5, 1e-7)": [5.905747207400539, 1.9588064208757385, 0.023002568396193634],
}

# Calls that give what CPython's Random gives when its state is set to the words that the seed stands for here.
AS_PYTHON = """
    random() | getrandbits(1) | getrandbits(31) | getrandbits(32) | getrandbits(33) | getrandbits(64) | getrandbits(7)
    randrange(1) | randrange(2) | randrange(1000) | randrange(stop=9, start=3) | randrange(5, 6) | randrange(-4, 4) | randrange(0, 101, 10)
    randrange(7, -50, -3) | randrange(2, 3, 100) | randrange(-(2**63), 2**63 - 1) | randrange(2**63 - 1, -(2**63), -3)
    randrange(-(2**63), 2**63 - 1, 2**62) | randint(4, 4) | randint(1, 6) | randint(0, 2**63 - 1) | randint(-(2**63), 2**63 - 2)
    randint(b=9, a=-9) | randint(-(2**63), 2**63 - 1)
    uniform(2, 5) | uniform(3.5, -1.0) | uniform(b=2.0, a=1.0) | triangular() | triangular(2, 7) | triangular(high=3.0, low=1.0, mode=2.5)
    triangular(0.0, 1.0, 1.0) | triangular(0.0, 1.0, 0.0) | triangular(0.0, 1.0, 3.0) | triangular(0.0, 1.0, None)
    triangular(5.0, -5.0, 1.0) | triangular(4.0, 4.0) | expovariate(0.25) | expovariate(3) | expovariate(-1.5)
    gammavariate(0.2, 3.0) | gammavariate(1, 2) | gammavariate(1.001, 1.0) | gammavariate(40, 0.1)
    betavariate(2, 5) | betavariate(0.5, 0.5) | betavariate(1e-300, 0.0) | betavariate(1e-300, -2.0) | betavariate(1e-300, 1.0)
    betavariate(1e-300, float("nan")) | gammavariate(1e-300, 2.0) | gammavariate(8e307, 1.0) | gammavariate(2.5, float("inf"))
    betavariate(8e307, 8e307)
    weibullvariate(1.0, 2.0) | weibullvariate(3, 1) | weibullvariate(2.0, -1.5) | vonmisesvariate(0.5, 4.0) | vonmisesvariate(3, 0)
    vonmisesvariate(-1.0, -2.0) | vonmisesvariate(7.0, 1000.0)
"""
# Calls that give what a function of NumPy's RandomState gives, by which Numba makes them.
AS_NUMPY = {
    "gauss()": "normal()",
    "gauss(1.0, 2.0)": "normal(1.0, 2.0)",
    "normalvariate(sigma=3, mu=2)": "normal(2, 3)",
    "gauss(0.0, -1.0)": "standard_normal() * -1.0 + 0.0",
    "lognormvariate(0.5, 0.25)": "lognormal(0.5, 0.25)",
    "random()": "random_sample()",
}


def calls(text: str) -> list[str]:
    return [call.strip() for line in text.strip().split("\n") for call in line.split("|")]


def drawn(call: str, before: int) -> Any:
    """A function of a seed: two of a call's results behind some others, and a float."""
    lines = ["random.seed(s)", f"for i in range({before}):", f"    random.{call}", f"return random.{call}, random.{call}, random.random()"]
    return texts.function_of("\n    ".join(["def f(s):", *lines]) + "\n", {"random": random})


def as_python(seed: int) -> random.Random:
    """CPython's generator in the state that a seed makes here."""
    found = random.Random()
    found.setstate((3, (*(int(word) for word in np.random.RandomState(seed).get_state()[1]), 624), None))
    return found


@pytest.mark.parametrize("call", RECORDED)
def test_gives_what_numba_gives(call: str) -> None:
    assert list(njit(drawn(call, 40))(2026)) == RECORDED[call]


@pytest.mark.parametrize("call", calls(AS_PYTHON))
def test_gives_what_python_gives(call: str) -> None:
    compiled = njit(drawn(call, 300))
    for seed in (0, 2**32 - 1):
        theirs = as_python(seed)
        every = [eval(f"theirs.{call}", {"theirs": theirs}) for _ in range(302)]
        found = compiled(seed)
        assert list(found) == [*every[300:], theirs.random()]
        assert isinstance(found[0], (type(every[0]), np.uint64))


@pytest.mark.parametrize("call", AS_NUMPY)
def test_gives_what_random_state_gives(call: str) -> None:
    theirs = np.random.RandomState(11)
    every = [eval(f"theirs.{AS_NUMPY[call]}", {"theirs": theirs}) for _ in range(43)]
    assert list(njit(drawn(call, 41))(11)) == [*every[41:], theirs.random_sample()]


@pytest.mark.parametrize("before", (0, 1, 622, 623, 624, 625))
def test_floats_across_the_end_of_the_words(before: int) -> None:
    """A float takes two words, the second of which may be the first of the next 624."""

    @njit
    def floats(before: int, found: Any) -> None:
        random.seed(3)
        for _ in range(before):
            random.getrandbits(32)
        for i in range(len(found)):
            found[i] = random.random()

    found, theirs = np.empty(700), as_python(3)
    floats(before, found)
    theirs.getrandbits(32 * before)
    assert found.tolist() == [theirs.random() for _ in found]


def test_shuffles_in_place() -> None:
    @njit
    def shuffled(x: Any) -> float:
        random.seed(9)
        random.shuffle(x)
        return random.random()

    for x in (np.arange(37), np.arange(12.0)[::-2], np.arange(0), np.arange(1), np.arange(24, dtype=np.int8).reshape(6, 2, 2)):
        ours, places, theirs = x.copy(), list(range(len(x))), as_python(9)
        theirs.shuffle(places)
        assert shuffled(ours) == theirs.random()
        assert np.array_equal(ours, x[places])


def test_numbers_may_have_any_type() -> None:
    @njit
    def found(n: Any, x: Any) -> Any:
        random.seed(4)
        return random.randrange(n), random.randint(0, n), random.getrandbits(n), random.uniform(x, n), random.gauss(x, x)

    wanted = found(9, 0.5)
    for n in (np.int8(9), np.uint8(9), np.int32(9), np.uint64(9)):
        assert found(n, np.float32(0.5)) == wanted


@njit
def seeded(seed: int) -> None:
    random.seed(seed)


@njit
def three() -> Any:
    return random.random(), random.random(), random.random()


def test_a_seed_is_its_lowest_bits() -> None:
    for seed in (-1, 2**32 + 5, -(2**40)):
        seeded(seed)
        assert three()[0] == as_python(seed % 2**32).random()


def test_the_state_outlives_calls_and_is_that_of_nothing_else() -> None:
    @njit
    def of_numpy(seed: int) -> float:
        np.random.seed(seed)
        return np.random.normal()

    random.seed(123)
    wanted = random.Random(123).random()
    seeded(5)
    one = njit(lambda: random.gauss(0.0, 1.0))
    theirs = np.random.RandomState(5)
    assert one() == theirs.normal()
    assert of_numpy(8) == np.random.RandomState(8).normal()
    assert one() == theirs.normal()
    assert [*three(), *three()] == theirs.random_sample(6).tolist()
    assert random.random() == wanted
    one()
    seeded(5)
    assert one() == np.random.RandomState(5).normal()


def test_each_thread_has_its_own() -> None:
    found = []

    def run() -> None:
        found.append(three())
        seeded(5)
        found.append(three())

    seeded(6)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert list(found[1]) == np.random.RandomState(5).random_sample(3).tolist() != list(found[0])
    assert list(three()) == np.random.RandomState(6).random_sample(3).tolist()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_forked_child_has_others() -> None:
    seeded(7)
    theirs = from_a_child(three)
    assert len(theirs) == 3 and not set(theirs) & set(three())


def test_threads_of_a_parallel_loop_do_not_repeat_each_other() -> None:
    @njit(parallel=True)
    def filled(n: int) -> Any:
        found = np.empty(n)
        for i in prange(n):
            found[i] = random.random()
        return found

    found = filled(50_000)
    assert len(set(found.tolist())) == 50_000 and abs(found.mean() - 0.5) < 0.02


def test_debug_goes_on_where_compiled_code_left_off() -> None:
    def drawn() -> Any:
        return random.gauss(0.0, 1.0), random.randrange(10**6), random.getrandbits(40), random.gammavariate(0.5, 1.0)

    slow, fast = njit(debug=True)(drawn), njit(drawn)
    seeded(4)
    wanted = [fast(), fast(), fast()]
    seeded(4)
    assert [fast(), slow(), fast()] == wanted


def test_names_imported_from_it() -> None:
    @njit
    def found() -> Any:
        random.seed(2)
        return unit(), gauss(1.0, 2.0), getrandbits(20)

    @njit
    def same() -> Any:
        random.seed(2)
        return random.random(), random.gauss(1.0, 2.0), random.getrandbits(20)

    assert found() == same()


@pytest.mark.parametrize("name", ["random", "getrandbits", "gauss"])
def test_functions_of_another_generator_are_refused(name: str) -> None:
    other = getattr(random.Random(3), name)
    with pytest.raises(weft.errors.WeftError):
        njit(lambda: other(*((1,) if name == "getrandbits" else ())))()


PYTHON_REFUSES = {
    "randrange(0)": ValueError,
    "randrange(3, 3)": ValueError,
    "randrange(3, 1)": ValueError,
    "randrange(1, 3, -1)": ValueError,
    "randrange(1, 3, 0)": ValueError,
    "randint(3, 2)": ValueError,
    "getrandbits(-1)": (ValueError, OverflowError),
    "expovariate(0.0)": ZeroDivisionError,
    "gammavariate(0.0, 1.0)": ValueError,
    "gammavariate(1.0, -1.0)": ValueError,
    "betavariate(-1.0, 1.0)": ValueError,
    "betavariate(2.0, 0.0)": ValueError,
    "paretovariate(0.0)": ZeroDivisionError,
    "weibullvariate(1.0, 0.0)": ZeroDivisionError,
}


@pytest.mark.parametrize("call", PYTHON_REFUSES)
def test_what_python_refuses(call: str) -> None:
    function = texts.function_of(f"def f():\n    return random.{call}\n", {"random": random})
    with pytest.raises(PYTHON_REFUSES[call]):
        function()
    with pytest.raises(PYTHON_REFUSES[call]):
        njit(function)()


NUMBA_REFUSES = {"getrandbits(0)": OverflowError, "getrandbits(65)": OverflowError, "paretovariate(1e-6)": ZeroDivisionError}
OURS = {
    "betavariate(inf, inf)": ValueError,
    "betavariate(inf, 0.0)": ValueError,
    "betavariate(1.0, nan)": ValueError,
    "gammavariate(nan, 1.0)": ValueError,
    "randrange(np.uint64(2**63), np.uint64(2**63 + 9))": OverflowError,
}


@pytest.mark.parametrize(("call", "error"), (NUMBA_REFUSES | OURS).items())
def test_what_is_refused_besides(call: str, error: type) -> None:
    names = {"random": random, "np": np, "nan": np.nan, "inf": np.inf}
    with pytest.raises(error):
        njit(texts.function_of(f"def f():\n    return random.{call}\n", names))()


# Calls for which Python and Numba draw without an end.
ENDLESS = {
    "gammavariate(inf, 1.0)": np.inf,
    "gammavariate(2.0**1023, 0.5)": 2.0**1022,
    "gammavariate(1.7e308, 1.0)": 1.7e308,
    "betavariate(1.0, inf)": 0.0,
    "betavariate(inf, 1.0)": 1.0,
    "betavariate(1e-300, inf)": 0.0,
    "betavariate(1.7e308, 1.7e308)": 0.5,
    "betavariate(2.0**1023, 2.0**1021)": 0.8,
}


@pytest.mark.parametrize("call", ENDLESS)
def test_what_would_never_end(call: str) -> None:
    assert njit(texts.function_of(f"def f():\n    return random.{call}\n", {"random": random, "inf": np.inf}))() == ENDLESS[call]


NOT_COMPILED = """
    choice(np.arange(3)) | choices((1, 2)) | sample((1, 2), 1) | getstate() | randbytes(3) | seed() | seed(None) | seed(1.5) | seed("a")
    random(3) | randrange(2.5) | randint(1.0, 2.0) | uniform(1j, 2) | uniform(np.zeros(2), 1.0) | shuffle((1, 2)) | shuffle(3)
    shuffle(np.array(1.0)) | getrandbits(2.5) | Random(3) | seed(1, 2)
"""


@pytest.mark.parametrize("call", calls(NOT_COMPILED))
def test_what_is_not_compiled(call: str) -> None:
    function = texts.function_of(f"def f():\n    x = random.{call}\n    return x\n", {"random": random, "np": np})
    with pytest.raises(weft.errors.WeftError):
        njit(function)()


def test_kernels_have_none() -> None:
    @cuda.jit
    def kernel(x: Any) -> None:
        x[0] = random.random()

    with pytest.raises((TypingError, UnsupportedError), match="neither kernels nor ufuncs"):
        kernel[1, 1](np.zeros(1))

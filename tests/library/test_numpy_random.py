"""`np.random` in compiled functions: Numba's numbers, which mostly are RandomState's; one state a thread, which outlives calls."""

from __future__ import annotations

import os
import re
import threading
from typing import Any

import numpy as np
import pytest
from support import texts
from support.forks import from_a_child

import weft
from weft import cuda, njit, prange, vectorize
from weft.errors import TypingError, UnsupportedError

# Calls that give what RandomState gives, bit for bit. Every kind of parameters that leads to another method is among them.
AS_NUMPY = """
    random() random(3) random_sample((2, 2)) sample(2) ranf() rand() rand(3) rand(2,3) randn() randn(2) random(size=()) normal()
    normal(2.0) normal(2.0, 3.0) normal(2, 3) normal(scale=0.5, size=5) standard_normal((3,1)) lognormal(0.5, 0.25) lognormal(0.1,
    0.2, 3) uniform() uniform(-3.0, 5.0) uniform(1, 4) uniform(high=9.0, size=4) exponential() exponential(2.5) exponential(2.5,
    (2,2)) standard_exponential(3) standard_exponential() laplace() laplace(1.0, 2.0) laplace(1.0, 2.0, 5) logistic() logistic(1.0,
    2.0, 3) gumbel() gumbel(1.0, 2.0) gumbel(1.0, 2.0, 4) standard_cauchy() standard_cauchy(3) weibull(0.0) wald(2.0, 0.5) wald(0.3,
    4.0, 4) poisson() poisson(0.0) poisson(3.7) poisson(9.99, 5) poisson(10.0) poisson(33.3, 5) poisson(1e9) binomial(0,0.5)
    binomial(20,0.3) binomial(20,0.8,5) binomial(100,0.4) binomial(10000,0.9,3) binomial(10**9,0.37)
    geometric(0.05) geometric(0.3,4) geometric(0.34) geometric(1.0) geometric(0.9,3) hypergeometric(30,20,10) hypergeometric(20,30,10)
    hypergeometric(30.0,20,np.float32(10)) hypergeometric(5,5,10,4)
    logseries(0.1) logseries(0.6,5) logseries(0.9999) zipf(1.1) zipf(2.0,4) zipf(6.5)
    randint(10) randint(0,1) randint(-5,12) randint(0,2**31) randint(0,2**32) randint(-(2**40),2**50,3) randint(-(2**63),2**63-1)
    randint(3,size=(2,2)) multinomial(20,np.array([0.2,0.3,0.5])) multinomial(500,np.array([0.1,0.2,0.7]),3)
    multinomial(9,np.array([0.5,0.5]),(2,2)) multinomial(0,np.array([1.0])) permutation(12) permutation(np.arange(10.0))
    permutation(np.arange(12).reshape(4,3)) permutation(0) choice(9) choice(9,4) choice(9,(2,2)) choice(9,5,False)
    choice(np.arange(5.0)) choice(np.arange(5.0),3) choice(np.arange(7),4,replace=False) choice(4,6,p=np.array([0.1,0.2,0.3,0.4]))
    choice(np.arange(3.0),5,True,np.array([0.5,0.0,0.5])) choice(5,0) choice(4,3,False,np.array([0.1,0.2,0.3,0.4]))
    choice(np.arange(5.0),(2,2),False,p=np.array([0.9,0.04,0.03,0.02,0.01]))
    choice(np.arange(3)*2,2,p=np.array([0.5,0.0,0.5]),replace=False) choice(3,None,False,np.array([0.5,0.0,0.5]))
    choice(30,30,False,np.arange(30)/435.0+1e-10) choice(30,(2,0),False) choice(30,0,False) choice(np.arange(5.0),(0,3),False)
    choice(0,0,False) choice(0,(0,2)) choice(-3,0) choice(np.arange(0),0,False) choice(30,(2,0)) choice(1,0,False)
    choice(3,0,False,np.array([1.0,0.0,0.0]))
    choice(np.arange(6)[::2],2,False,np.array([0.25,0.25,0.5])) choice(np.arange(3)==1,3,False,np.array([0.25,0.25,0.5]))
"""


def calls(text: str) -> list[str]:
    """The calls that stand in a text."""
    return re.findall(r"\w+\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)", " ".join(text.split()))


# What Numba 0.68.1 gives from the seed 2026 behind 40 of each, twice, and a float behind them: its methods are not RandomState's.
RECORDED: dict[str, list[float]] = {
    "gamma(0.3, 2.0)": [2.762935218295228, 2.7672304756815342, 0.32381723319762956],
    "gamma(1.0, 2.0)": [5.624451528485729, 0.7472170928831553, 0.023002568396193634],
    "gamma(7.5, 0.5)": [3.080141771134664, 4.364162592431389, 0.5968167217005191],
    "standard_gamma(0.6)": [2.2238225334070587, 0.30168656728446996, 0.93453946745492],
    "beta(0.4, 0.7)": [0.00033322414219857997, 0.4131704729441193, 0.08856572976632737],
    "beta(3.0, 9.0)": [0.34648727683214414, 0.12233048765722007, 0.23925786873621468],
    "chisquare(0.9)": [0.8927745258246895, 3.1040884123995194, 0.42529262277267266],
    "chisquare(11.0)": [13.16226746392479, 12.452554160254502, 0.9182215349447359],
    "f(2.5, 7.0)": [3.8967451376833715, 0.5691855045846278, 0.7200839719018082],
    "standard_t(3.5)": [-0.2853478009041255, 0.2637695334105916, 0.9322059574865724],
    "noncentral_chisquare(0.8, 2.5)": [0.043030835061190674, 9.70882171906466, 0.6009132051037237],
    "noncentral_chisquare(4.0, 1.5)": [7.698260450268092, 3.558221508410889, 0.7268383822986144],
    "pareto(2.2)": [2.5904747578826655, 0.18509396471832673, 0.023002568396193634],
    "power(0.7)": [0.915301689822082, 0.1891793750944165, 0.023002568396193634],
    "vonmises(1.5, 2.5)": [2.8058660972708003, 1.3872958811975025, 0.4176727986940275],
    "vonmises(-0.5, 1e-7)": [5.905747207400539, 1.9588064208757385, 0.023002568396193634],
    "rayleigh(1.3)": [3.083070398667679, 1.1237423579150752, 0.023002568396193634],
    "triangular(-1.0, 0.5, 2.0)": [1.4800768068168981, 0.18443731788192497, 0.023002568396193634],
    "negative_binomial(4.5, 0.2)": [11, 22, 0.48682728551693544],
    "negative_binomial(90.0, 0.3)": [180, 237, 0.5301656599246548],
    "weibull(1.7)": [1.8371607835812718, 0.5603772194474731, 0.023002568396193634],
    "binomial(5, 0.0)": [0, 0, 0.21934563492692294],
    "binomial(5, 1.0)": [5, 5, 0.21934563492692294],
    "dirichlet(np.array([0.5, 3.0, 1.0]))": [
        0.10919068320124374,
        0.656487827393999,
        0.23432148940475717,
        0.009971600211618553,
        0.9159621472502188,
        0.07406625253816272,
        0.4310843576465714,
    ],
}


def drawn(call: str, before: int) -> Any:
    """A function of a seed: two of a call's results behind some others, and a float."""
    lines = [
        "np.random.seed(s)",
        f"for i in range({before}):",
        f"    np.random.{call}",
        f"return np.random.{call}, np.random.{call}, np.random.random()",
    ]
    return texts.function_of("\n    ".join(["def f(s):", *lines]) + "\n", {"np": np})


def same(ours: Any, theirs: Any) -> None:
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs):
        assert np.shape(one) == np.shape(other) and np.asarray(one).dtype == np.asarray(other).dtype, (one, other)
        assert np.array_equal(one, other, equal_nan=np.asarray(one).dtype.kind == "f"), (one, other)


@pytest.mark.parametrize("call", calls(AS_NUMPY))
def test_gives_what_random_state_gives(call: str) -> None:
    function = drawn(call, 40)
    compiled = njit(function)
    for seed in (0, 2**32 - 1):
        same(compiled(seed), function(seed))


@pytest.mark.parametrize("call", RECORDED)
def test_gives_what_numba_gives(call: str) -> None:
    found = njit(drawn(call, 40))(2026)
    assert np.concatenate([np.ravel(part) for part in found]).tolist() == RECORDED[call]


def test_shuffles_in_place() -> None:
    def shuffled(x: Any) -> Any:
        np.random.seed(9)
        np.random.shuffle(x)
        return np.random.random()

    for x in (
        np.arange(11),
        np.arange(12.0).reshape(6, 2)[:, ::-1],
        np.arange(24, dtype=np.int8).reshape(4, 3, 2),
        np.arange(0),
        np.arange(1),
    ):
        ours, theirs = x.copy(), x.copy()
        assert njit(shuffled)(ours) == shuffled(theirs)
        assert np.array_equal(ours, theirs)


@njit
def seeded(seed: int) -> None:
    np.random.seed(seed)


@njit
def three() -> Any:
    return np.random.random(3)


def test_the_state_outlives_calls_and_is_not_numpys() -> None:
    np.random.seed(123)
    seeded(5)
    assert three().tolist() + three().tolist() == np.random.RandomState(5).random(6).tolist()
    assert np.random.random() == np.random.RandomState(123).random()
    np.random.seed(123)
    assert three()[0] == np.random.RandomState(5).random(7)[6]


def test_a_normal_number_is_kept_until_the_next_seed() -> None:
    one = njit(lambda: np.random.normal())
    seeded(8)
    theirs = np.random.RandomState(8)
    assert [one(), one(), one()] == [theirs.normal(), theirs.normal(), theirs.normal()]
    seeded(8)
    assert one() == np.random.RandomState(8).normal()


def test_each_thread_has_its_own() -> None:
    found = []

    def run() -> None:
        found.append(three().tolist())
        seeded(5)
        found.append(three().tolist())

    seeded(6)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found[1] == np.random.RandomState(5).random(3).tolist() != found[0]
    assert three().tolist() == np.random.RandomState(6).random(3).tolist()


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
            found[i] = np.random.random()
        return found

    @njit(parallel=True)
    def mean(n: int) -> float:
        total = 0.0
        for _ in prange(n):
            total += np.random.normal(1.0, 1.0)
        return total / n

    seeded(1)
    found = filled(100_000)
    assert len(set(found.tolist())) == 100_000 and abs(found.mean() - 0.5) < 0.01
    assert abs(mean(100_000) - 1.0) < 0.05


def test_other_loops_draw_in_order() -> None:
    def summed(n: int) -> float:
        np.random.seed(3)
        total = 0.0
        for _ in range(n):
            total += np.random.random()
        return total

    def filled(n: int) -> Any:
        np.random.seed(3)
        found = np.zeros(n, np.float32)
        for i in range(n):
            found[i] = np.random.random() + i
        found[:] += np.random.random()
        return found

    for options in ({}, {"parallel": True}):
        assert njit(**options)(summed)(2000) == summed(2000)
        assert np.array_equal(njit(**options)(filled)(700), filled(700))
    assert njit(fastmath=True)(summed)(2000) == pytest.approx(summed(2000), rel=1e-12)


def test_debug_goes_on_where_compiled_code_left_off() -> None:
    def drawn() -> Any:
        return np.random.normal(), np.random.poisson(20.0), np.random.randint(0, 2**40), np.random.gamma(0.5)

    slow, fast = njit(debug=True)(drawn), njit(drawn)
    seeded(4)
    wanted = [fast(), fast(), fast()]
    seeded(4)
    assert [fast(), slow(), fast()] == wanted
    njit(debug=True)(seeded.py_func)(4)
    assert [slow(), fast(), slow()] == wanted


def test_names_imported_from_it() -> None:
    from numpy import random
    from numpy.random import normal as bell
    from numpy.random import ranf

    def found() -> Any:
        random.seed(2)
        return bell(1.0, 2.0), ranf()

    assert njit(found)() == found()
    other = np.random.RandomState(3).normal

    def of_another() -> float:
        return other()

    with pytest.raises(weft.errors.WeftError):
        njit(of_another)()


def test_numbers_are_weak() -> None:
    @njit
    def scaled(x: Any) -> Any:
        return x * np.random.random(), x * np.random.randint(1, 5)

    assert [part.dtype for part in scaled(np.ones(2, np.float32))] == [np.float32] * 2


NUMPY_REFUSES = """
    normal(0.0,-1.0) exponential(-1.0) gumbel(0.0,-1.0) laplace(0.0,-1.0) logistic(0.0,-1.0) lognormal(0.0,-1.0) rayleigh(-1.0)
    weibull(-1.0) pareto(0.0) power(0.0) beta(0.0,1.0) beta(1.0,0.0) chisquare(0.0) f(0.0,1.0) f(1.0,0.0) standard_t(0.0)
    wald(0.0,1.0) wald(1.0,0.0) vonmises(0.0,-1.0) triangular(2.0,1.0,3.0) triangular(0.0,4.0,3.0) poisson(-1.0) poisson(np.nan)
    binomial(-1,0.5) binomial(2,1.5) binomial(2,np.nan) geometric(0.0) geometric(1.5) hypergeometric(1,1,3) hypergeometric(4,3,0)
    hypergeometric(-1,1,0)
    logseries(1.0) zipf(1.0) zipf(np.nan) negative_binomial(0.0,0.5) negative_binomial(1.0,1.5) noncentral_chisquare(0.0,1.0)
    noncentral_chisquare(1.0,-1.0) randint(0) randint(3,3) randint(5,-5) choice(0) choice(3,4,False) choice(-3,0,False) choice(0,1,False)
    choice(2,p=np.array([0.5,0.4]))
    choice(2,p=np.array([1.5,-0.5])) choice(2,3,False,np.array([0.5,0.5]))
    choice(3,3,False,np.array([0.5,0.0,0.5])) choice(2,2,False,np.array([0.5,0.4])) choice(2,1,False,np.array([0.5,0.25,0.25]))
    choice(2,2,False,np.array([np.nan,1.0])) multinomial(-1,np.array([1.0])) multinomial(2,np.array([0.9,0.9,0.1]))
    dirichlet(np.array([0.0,1.0])) seed(-1) seed(2**32) random(-1)
"""


@pytest.mark.parametrize("call", calls(NUMPY_REFUSES))
def test_what_numpy_refuses(call: str) -> None:
    function = texts.function_of(f"def f():\n    return np.random.{call}\n", {"np": np})
    with pytest.raises(ValueError):
        function()
    with pytest.raises(ValueError):
        njit(function)()


# Calls whose numbers are those that RandomState gives, and for which Numba draws without an end.
ENDLESS = """
    gamma(np.inf) gamma(np.inf,2.0) gamma(1.7e308) gamma(2.0**1023,0.5) standard_gamma(np.inf) chisquare(np.inf) beta(1.0,np.inf)
    beta(np.inf,1.0) f(np.inf,1.0) f(1.0,np.inf) standard_t(np.inf) noncentral_chisquare(np.inf,1.0)
"""


@pytest.mark.parametrize("call", calls(ENDLESS))
def test_what_would_never_end(call: str) -> None:
    function = texts.function_of(f"def f():\n    return np.random.{call}\n", {"np": np})
    with np.errstate(all="ignore"):
        assert np.array_equal(njit(function)(), function(), equal_nan=True)


def test_powers_of_which_all_are_ones() -> None:
    """RandomState and Numba draw without an end for them; NumPy's Generator gives 1."""

    @njit
    def drawn(a: float) -> Any:
        return np.random.zipf(a, 5)

    for a in (1024.5, 1025.0, 1e300, np.inf):
        assert drawn(a).tolist() == [1] * 5 == np.random.default_rng(1).zipf(a, 5).tolist()


REFUSED_BESIDES = """
    noncentral_chisquare(1.0,np.inf) noncentral_chisquare(0.5,1e300) negative_binomial(1e300,0.5) negative_binomial(2.0,1e-300)
    negative_binomial(np.inf,0.5)
    hypergeometric(2.5,4,3) hypergeometric(3,np.nan,2) hypergeometric(3,2,np.inf)
    gamma(0.0) gamma(np.nan) gamma(1.0,0.0) rayleigh(0.0) logseries(0.0)
"""


@pytest.mark.parametrize("call", calls(REFUSED_BESIDES))
def test_what_is_refused_besides(call: str) -> None:
    with pytest.raises(ValueError):
        njit(texts.function_of(f"def f():\n    return np.random.{call}\n", {"np": np}))()


NOT_COMPILED = """
    normal(np.zeros(3)) normal(1j) randint(1.5) randint(0,3,dtype=np.int8) random("3") seed() seed(1.5) shuffle(3)
    shuffle(np.array(1.0)) choice(np.zeros((2,2))) choice(4,p=np.full((2,2),0.25)) permutation(2.5) binomial(2.5,0.5) get_state()
    multivariate_normal(np.zeros(2),np.eye(2)) bytes(3) default_rng()
"""


@pytest.mark.parametrize("call", calls(NOT_COMPILED))
def test_what_is_not_compiled(call: str) -> None:
    with pytest.raises(weft.errors.WeftError):
        njit(texts.function_of(f"def f():\n    return np.random.{call}\n", {"np": np}))()


def test_kernels_and_ufuncs_have_none() -> None:
    @cuda.jit
    def kernel(x):
        x[0] = np.random.random()

    with pytest.raises((TypingError, UnsupportedError), match="neither kernels nor ufuncs"):
        kernel[1, 1](np.zeros(1))

    @vectorize
    def noisy(x):
        return x + np.random.random()

    with pytest.raises((TypingError, UnsupportedError), match="neither kernels nor ufuncs"):
        noisy(np.zeros(3))


def test_calls_that_need_a_deeper_stack_go_on_with_the_numbers_of_their_thread() -> None:
    """Functions that call themselves run on another thread where this one has little stack."""

    @njit
    def seeded(n: int) -> None:
        np.random.seed(n)

    @njit
    def deep(n: int) -> float:
        return np.random.random() if n <= 0 else deep(n - 1)

    found = []

    def work() -> None:
        seeded(7)
        found.extend(deep(3) for _ in range(3))

    before = threading.stack_size(1 << 20)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert found == np.random.RandomState(7).random_sample(3).tolist()

"""Random numbers are distributed as their names say: against distribution functions, by Kolmogorov and Smirnov or chi-square, and moments.

Seeds are fixed, so that a test that passes does so always. XORWOW goes through the same texts.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from support import distributions as of

import weft

N = 40_000
PI = math.pi


def rng(kind: str = "philox", seed: int = 5) -> weft.random.Generator:
    return weft.random.Generator(weft.random.Philox4x32(seed) if kind == "philox" else weft.random.XORWOW(seed))


# What is drawn, and its distribution function.
FLOATS = {
    "random()": lambda x: x,
    "random(dtype=np.float32)": lambda x: x,
    "uniform(-3, 5)": lambda x: (x + 3) / 8,
    "standard_normal()": of.normal,
    "standard_normal(dtype=np.float32)": of.normal,
    "normal(2, 3)": lambda x: of.normal((x - 2) / 3),
    "lognormal(0.5, 0.7)": lambda x: of.normal((np.log(x) - 0.5) / 0.7),
    "standard_exponential()": lambda x: -np.expm1(-x),
    "standard_exponential(dtype=np.float32)": lambda x: -np.expm1(-x),
    "exponential(4)": lambda x: -np.expm1(-x / 4),
    "standard_gamma(0.05)": lambda x: of.gamma(0.05, x),
    "standard_gamma(0.6)": lambda x: of.gamma(0.6, x),
    "standard_gamma(1)": lambda x: of.gamma(1, x),
    "standard_gamma(7.5)": lambda x: of.gamma(7.5, x),
    "standard_gamma(900)": lambda x: of.gamma(900, x),
    "standard_gamma(0.6, dtype=np.float32)": lambda x: of.gamma(0.6, x),
    "standard_gamma(7.5, dtype=np.float32)": lambda x: of.gamma(7.5, x),
    "gamma(2, 3)": lambda x: of.gamma(2, x / 3),
    "gamma(1e12, 1)": lambda x: of.normal((x - 1e12) / 1e6),
    "beta(0.5, 0.5)": lambda x: of.beta(0.5, 0.5, x),
    "beta(0.1, 0.3)": lambda x: of.beta(0.1, 0.3, x),
    "beta(2, 5)": lambda x: of.beta(2, 5, x),
    "beta(0.5, 4)": lambda x: of.beta(0.5, 4, x),
    "beta(1, 1)": lambda x: x,
    "chisquare(3)": lambda x: of.gamma(1.5, x / 2),
    "f(3, 8)": lambda x: of.f(3, 8, x),
    "standard_t(4)": lambda x: of.student(4, x),
    "standard_cauchy()": lambda x: 0.5 + np.arctan(x) / PI,
    "laplace(1, 2)": lambda x: np.where(x < 1, 0.5 * np.exp((x - 1) / 2), 1 - 0.5 * np.exp(-(x - 1) / 2)),
    "logistic(1, 2)": lambda x: 1 / (1 + np.exp(-(x - 1) / 2)),
    "gumbel(1, 2)": lambda x: np.exp(-np.exp(-(x - 1) / 2)),
    "pareto(3)": lambda x: 1 - (1 + x) ** -3.0,
    "power(2.5)": lambda x: x**2.5,
    "rayleigh(2)": lambda x: -np.expm1(-x * x / 8),
    "wald(1.5, 2)": lambda x: of.wald(1.5, 2, x),
    "weibull(1.7)": lambda x: -np.expm1(-(x**1.7)),
    "triangular(-1, 0, 3)": lambda x: np.where(x < 0, (x + 1) ** 2 / 4, 1 - (3 - x) ** 2 / 12),
    "triangular(0, 0, 1)": lambda x: 1 - (1 - x) ** 2,
    "vonmises(0, 1.3)": lambda x: of.vonmises(1.3, x),
    "vonmises(0, 1e-9)": lambda x: (x + PI) / (2 * PI),
    "vonmises(0, 1e-6)": lambda x: (x + PI) / (2 * PI),
    "vonmises(0, 2000)": lambda x: of.vonmises(2000, x),
    "vonmises(0, 1e7)": lambda x: of.normal(x * math.sqrt(1e7)),
    "noncentral_chisquare(3, 2)": lambda x: of.mixed(lambda k: of.gamma(1.5 + k, x / 2), 1),
    "noncentral_chisquare(0.7, 5)": lambda x: of.mixed(lambda k: of.gamma(0.35 + k, x / 2), 2.5),
    "noncentral_chisquare(0.7, 60)": lambda x: of.mixed(lambda k: of.gamma(0.35 + k, x / 2), 30),
    "noncentral_f(3, 8, 2)": lambda x: of.mixed(lambda k: of.beta(1.5 + k, 4, 3 * x / (3 * x + 8)), 1),
}

# What is drawn, its probabilities, the first number that there is.
COUNTS = {
    "integers(3, 40)": (lambda k: np.where((k >= 3) & (k < 40), 1 / 37, 0), 3),
    "integers(-5, 5, endpoint=True)": (lambda k: np.where(abs(k) <= 5, 1 / 11, 0), -5),
    "poisson(0.3)": (of.poisson(0.3), 0),
    "poisson(9.9)": (of.poisson(9.9), 0),
    "poisson(10)": (of.poisson(10), 0),
    "poisson(55.5)": (of.poisson(55.5), 0),
    "poisson(4000)": (of.poisson(4000), 0),
    "binomial(1, 0.3)": (of.binomial(1, 0.3), 0),
    "binomial(20, 0.5)": (of.binomial(20, 0.5), 0),
    "binomial(50, 0.1)": (of.binomial(50, 0.1), 0),
    "binomial(50, 0.9)": (of.binomial(50, 0.9), 0),
    "binomial(100, 0.35)": (of.binomial(100, 0.35), 0),
    "binomial(20000, 0.7)": (of.binomial(20000, 0.7), 0),
    "geometric(0.25)": (lambda k: 0.25 * 0.75 ** (k - 1.0), 1),
    "geometric(0.9)": (lambda k: 0.9 * 0.1 ** (k - 1.0), 1),
    "negative_binomial(3, 0.4)": (of.negative_binomial(3, 0.4), 0),
    "negative_binomial(0.5, 0.02)": (of.negative_binomial(0.5, 0.02), 0),
    "hypergeometric(7, 5, 6)": (of.hypergeometric(7, 5, 6), 0),
    "hypergeometric(7, 5, 11)": (of.hypergeometric(7, 5, 11), 0),
    "hypergeometric(90, 60, 70)": (of.hypergeometric(90, 60, 70), 0),
    "hypergeometric(900, 600, 300)": (of.hypergeometric(900, 600, 300), 0),
    "hypergeometric(30000, 60000, 70000)": (of.hypergeometric(30000, 60000, 70000), 0),
    "zipf(3.5)": (lambda k: k**-3.5 / 1.1267338673170566, 1),
    "logseries(0.7)": (lambda k: -(0.7**k) / (k * math.log(0.3)), 1),
    "logseries(0.99)": (lambda k: -(0.99**k) / (k * math.log(0.01)), 1),
}


def drawn(text: str, generator: weft.random.Generator, count: int = N) -> np.ndarray:
    call = text[:-1] + (", " if text[-2] != "(" else "") + f"size={count})"
    return weft.asnumpy(eval(f"generator.{call}", {"generator": generator, "np": np}))


@pytest.mark.parametrize("kind", ["philox", "xorwow"])
@pytest.mark.parametrize("text", FLOATS)
def test_floats(text: str, kind: str) -> None:
    x = drawn(text, rng(kind), N // 8 if "noncentral" in text else N)
    assert x.dtype == (np.float32 if "float32" in text else np.float64)
    assert of.distance(x, FLOATS[text]) < 1.95


@pytest.mark.parametrize("kind", ["philox", "xorwow"])
@pytest.mark.parametrize("text", COUNTS)
def test_counts(text: str, kind: str) -> None:
    chance, least = COUNTS[text]
    x = drawn(text, rng(kind))
    assert x.dtype == np.int64
    assert of.chi_square(x, chance, least) < 3.5


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_tails_of_normal_numbers_are_those_of_the_distribution(dtype: type) -> None:
    x = rng().standard_normal(20_000_000, dtype=dtype)
    for bound in (3.0, 4.0, 5.0):
        expected = 20_000_000 * math.erfc(bound / math.sqrt(2))
        assert abs(int((abs(x) > bound).sum()) - expected) < 4 * math.sqrt(expected) + 1
    assert abs(float(x.mean(dtype=np.float64))) < 4 / math.sqrt(20_000_000)


def test_large_parameters_lose_nothing() -> None:
    """Where deviations are whole numbers by the thousand and more, distributions are as good as normal."""
    for text, mean, deviation in [
        ("poisson(1e12)", 1e12, 1e6),
        ("poisson(9e18)", 9e18, 3e9),
        ("binomial(10**12, 0.25)", 2.5e11, math.sqrt(1e12 * 0.25 * 0.75)),
        ("binomial(2**62, 0.5)", 2.0**61, 2.0**30),
        ("hypergeometric(9 * 10**8, 6 * 10**8, 5 * 10**8)", 3e8, math.sqrt(5e8 * 0.6 * 0.4 * 10 / 15)),
        ("negative_binomial(1e10, 0.5)", 1e10, math.sqrt(2e10)),
    ]:
        x = drawn(text, rng()).astype(float)
        assert of.distance(x, lambda x, mean=mean, deviation=deviation: of.normal((x - mean) / deviation)) < 1.95, text


def test_numbers_that_are_too_large_are_the_largest() -> None:
    most = np.iinfo(np.int64).max
    assert int(rng().geometric(1e-300)) == most
    x = weft.asnumpy(rng().zipf(1.0000001, N))
    assert x.min() >= 1 and x.max() > 2**55
    # Nearly as likely as 1 / k: sums are harmonic numbers.
    edges = np.array([1, 2, 3, 5, 20, 1000, 10**6, 10**10, 10**14, 2**60, most])
    sums = np.array([0 if k == 1 else np.log(k - 1.0) + 0.5772156649 + 0.5 / (k - 1) - 1 / (12.0 * (k - 1.0) ** 2) for k in edges])
    sums[1:4] = 1, 1.5, 25 / 12
    expected = np.diff(sums) / sums[-1] * N
    statistic = ((np.histogram(x, edges)[0] - expected) ** 2 / expected).sum()
    assert statistic < 9 + 3.5 * math.sqrt(18)


def test_logarithmic_series_whose_parameter_is_near_1() -> None:
    """As good as continuous in the logarithm: P(K <= k) is about (log k + 0.5772) / -log(1 - p) well below 1 / (1 - p)."""
    x = weft.asnumpy(rng().logseries(1 - 1e-13, N))
    scale = 13 * math.log(10)
    for bound in (1, 10, 1e4, 1e8, 1e11):
        expected = (sum(1 / k for k in range(1, 11)) if bound == 10 else 1 if bound == 1 else math.log(bound) + 0.5772) / scale
        assert abs((x <= bound).mean() - expected) < 4 * math.sqrt(expected * (1 - expected) / N) + 3e-4


def test_parameters_at_the_ends() -> None:
    g = rng()
    with np.errstate(all="raise"):
        assert not weft.asnumpy(g.standard_gamma(0.0, 10)).any() and not weft.asnumpy(g.weibull(0.0, 10)).any()
        assert not weft.asnumpy(g.poisson(0, 10)).any() and not weft.asnumpy(g.binomial(0, 0.5, 10)).any()
        assert (weft.asnumpy(g.binomial(7, [0.0, 1.0], (5, 2))) == [0, 7]).all()
        assert (weft.asnumpy(g.geometric(1.0, 10)) == 1).all() and (weft.asnumpy(g.negative_binomial(3, 1.0, 10)) == 0).all()
        assert (weft.asnumpy(g.hypergeometric(5, 0, 3, 10)) == 3).all() and (weft.asnumpy(g.hypergeometric(0, 0, 0, 3)) == 0).all()
        assert (weft.asnumpy(g.logseries(0.0, 10)) == 1).all() and (weft.asnumpy(g.zipf(np.inf, 10)) == 1).all()
        assert (weft.asnumpy(g.normal(3.0, 0.0, 10)) == 3).all() and (weft.asnumpy(g.uniform(3.0, 3.0, 10)) == 3).all()
        assert not weft.asnumpy(g.dirichlet([0.0, 0.0], 3)).any() and (weft.asnumpy(g.dirichlet([0.0, 1.0], 3)) == [0, 1]).all()
        assert (weft.asnumpy(g.noncentral_chisquare(3, 0, 10)) > 0).all()
    for text in ("standard_gamma", "vonmises", "beta", "noncentral_chisquare", "standard_t", "wald", "normal"):
        one = text in ("standard_gamma", "standard_t")
        assert np.isnan(weft.asnumpy(getattr(g, text)(*([np.nan] if one else [np.nan, np.nan]), 5))).all(), text
    assert np.isinf(weft.asnumpy(g.standard_gamma(np.inf, 5))).all()


def test_whole_numbers_are_equally_likely_where_the_count_is_no_power_of_two() -> None:
    """3 * 2^62 numbers: bits taken modulo the count would have a third of them twice as often."""
    n = 3 * 2**62
    x = weft.asnumpy(rng().integers(0, n, N, dtype=np.uint64))
    assert of.distance(x / n, lambda y: y) < 1.95
    assert of.chi_square((x % np.uint64(3)).astype(int), lambda k: np.where((k >= 0) & (k < 3), 1 / 3, 0), 0) < 3.5


@pytest.mark.parametrize("kind", ["philox", "xorwow"])
def test_shares(kind: str) -> None:
    g = rng(kind)
    for alpha in ([0.5, 2.0, 3.5], [0.01, 0.02, 0.05]):
        x = weft.asnumpy(g.dirichlet(alpha, N))
        assert x.shape == (N, 3) and np.allclose(x.sum(axis=1), 1)
        for j in range(3):
            a, b = alpha[j], sum(alpha) - alpha[j]
            assert of.distance(np.maximum(x[:, j], 1e-300), lambda y, a=a, b=b: of.beta(a, b, y), 0.999) < 1.95
    x = weft.asnumpy(g.multinomial(30, [0.2, 0.5, 0.3], N))
    assert (x.sum(axis=1) == 30).all()
    for j, p in enumerate((0.2, 0.5, 0.3)):
        assert of.chi_square(x[:, j], of.binomial(30, p), 0) < 3.5
    assert abs(np.cov(x[:, 0], x[:, 1])[0, 1] + 30 * 0.2 * 0.5) < 0.1
    x = weft.asnumpy(g.multivariate_hypergeometric([7, 5, 8], 9, N))
    assert (x.sum(axis=1) == 9).all()
    for j, n in enumerate((7, 5, 8)):
        assert of.chi_square(x[:, j], of.hypergeometric(n, 20 - n, 9), 0) < 3.5


@pytest.mark.parametrize("method", ["svd", "eigh", "cholesky"])
def test_normal_numbers_that_depend_on_each_other(method: str) -> None:
    mean, cov = [1.0, -2.0, 3.0], np.array([[2.0, 0.5, 0.0], [0.5, 1.0, -0.3], [0.0, -0.3, 0.5]])
    x = weft.asnumpy(rng().multivariate_normal(mean, cov, N, method=method))
    assert np.abs(x.mean(axis=0) - mean).max() < 0.03 and np.abs(np.cov(x.T) - cov).max() < 0.04
    assert of.distance(x @ [1, 1, 1], lambda y: of.normal((y - 2) / math.sqrt(cov.sum()))) < 1.95


def test_orders_are_equally_likely() -> None:
    g = rng()
    x = weft.asnumpy(g.permuted(np.broadcast_to(np.arange(4), (N, 4)), axis=1))
    assert of.chi_square(x @ [64, 16, 4, 1], _of_orders(4), 0) < 3.5
    x = np.array([g.permutation(3).tolist() for _ in range(3000)])
    assert of.chi_square(x @ [16, 4, 1], _of_orders(3), 0) < 3.5
    x = np.array([g.choice(20000, 2, replace=False).tolist() for _ in range(3000)])
    assert (x[:, 0] != x[:, 1]).all() and of.distance(x.ravel() / 20000, lambda y: y) < 1.95


def _of_orders(n: int):
    import itertools

    codes = {sum(4 ** (n - 1 - i) * v for i, v in enumerate(order)) for order in itertools.permutations(range(n))}
    return np.vectorize(lambda k: 1 / len(codes) if k in codes else 0.0)


def test_choices_by_chances() -> None:
    g = rng()
    p = [0.1, 0.4, 0.0, 0.5]
    x = weft.asnumpy(g.choice(4, N, p=p))
    assert of.chi_square(x, lambda k: np.where(k < 4, np.take(p, np.minimum(k, 3)), 0), 0) < 3.5
    x = np.array([g.choice(4, 2, p=p, replace=False).tolist() for _ in range(4000)])
    pairs = {(i, j): p[i] * p[j] / (1 - p[i]) for i in range(4) for j in range(4) if i != j}
    assert of.chi_square(x @ [4, 1], np.vectorize(lambda k: pairs.get(divmod(k, 4), 0.0)), 0) < 3.5


def test_the_references_are_right() -> None:
    """Those that are not one line each, against multiple precision."""
    mp = pytest.importorskip("mpmath")
    for a, x in [(0.05, 0.001), (0.6, 2.0), (7.5, 6.0), (7.5, 12.0), (900, 880.0), (900, 960.0)]:
        assert math.isclose(of.gamma(a, np.array([x]))[0], mp.gammainc(a, 0, x, regularized=True), rel_tol=1e-9)
    for a, b, x in [(0.1, 0.3, 0.01), (2, 5, 0.9), (0.5, 0.5, 0.5), (30, 4, 0.8)]:
        assert math.isclose(of.beta(a, b, np.array([x]))[0], mp.betainc(a, b, 0, x, regularized=True), rel_tol=1e-9)
    assert math.isclose(
        of.vonmises(1.3, np.array([0.5]))[0],
        mp.quad(lambda t: mp.exp(1.3 * mp.cos(t)), [-mp.pi, 0.5]) / (2 * mp.pi * mp.besseli(0, 1.3)),
        rel_tol=1e-6,
    )
    assert math.isclose(mp.zeta(3.5), 1.1267338673170566, rel_tol=1e-15)

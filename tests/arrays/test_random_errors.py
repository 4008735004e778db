"""What `weft.random` refuses it refuses as NumPy does: the same classes of errors, in the same words."""

from __future__ import annotations

import numpy as np
import pytest

import weft

nan, inf = float("nan"), float("inf")

# X is each of the values.
_ONE = """
    exponential(X) chisquare(X) standard_t(X) pareto(X) weibull(X) power(X) rayleigh(X) poisson(X) zipf(X) geometric(X) logseries(X)
    standard_gamma(X) gamma(X) gamma(1,X) beta(X,1) beta(1,X) f(X,1) f(1,X) noncentral_f(X,1,1) noncentral_f(1,X,1) noncentral_f(1,1,X)
    noncentral_chisquare(X,1) noncentral_chisquare(1,X) normal(0,X) normal(X,1) laplace(0,X) gumbel(0,X) logistic(0,X) lognormal(0,X)
    vonmises(0,X) wald(X,1) wald(1,X) binomial(5,X) negative_binomial(X,0.5) negative_binomial(2,X) uniform(0,X) uniform(X,0.5)
    triangular(X,0.5,1) triangular(0,X,1) triangular(0,0.5,X)
"""
ONE = _ONE.split()
VALUES = [
    "-1",
    "-0.0",
    "0",
    "0.5",
    "1",
    "1.5",
    "nan",
    "inf",
    "1e19",
    "'a'",
    "1j",
    "None",
    "[-1.0]",
    "[0.0, 1.0]",
    "[nan]",
    "[1e19]",
    "[1, 2]",
]

OTHERS = [
    "binomial(-1, 0.5)",
    "binomial([-1], 0.5)",
    "binomial(1.5, 0.5)",
    "negative_binomial(1e18, 0.01)",
    "negative_binomial([1e18], 0.01)",
    "hypergeometric(-1, 5, 1)",
    "hypergeometric(5, -1, 1)",
    "hypergeometric(1, 1, -1)",
    "hypergeometric(1, 1, 3)",
    "hypergeometric([1], 1, 3)",
    "hypergeometric([-1], 5, 1)",
    "hypergeometric(10**10, 1, 3)",
    "hypergeometric([10**10], 1, 3)",
    "normal([0, 1], size=3)",
    "normal([0, 1], size=1)",
    "normal([0, 1], size=(3, 2))",
    "normal(size=-1)",
    "normal([0, 1], [1, 2, 3])",
    "random('a')",
    "random(1.5)",
    "random((2, -1))",
    "random((2, 1.5))",
    "random(3, dtype=np.int32)",
    "random(3, dtype=np.float16)",
    "random(dtype='x')",
    "standard_normal(3, dtype=int)",
    "standard_gamma(3, dtype=int)",
    "standard_exponential(3, dtype=int)",
    "integers(0)",
    "integers(-3)",
    "integers(5, 5)",
    "integers(5, 4, endpoint=True)",
    "integers(0, -1, endpoint=True)",
    "integers(0, 257, dtype=np.uint8)",
    "integers(-1, 5, dtype=np.uint8)",
    "integers(0, 1.5)",
    "integers(0, [1.5])",
    "integers(0, 5, dtype=np.float32)",
    "integers(0, 5, dtype='>i4')",
    "integers([0, 5], 5)",
    "integers([0, 0], 0)",
    "integers([0], [257], dtype=np.uint8)",
    "integers([-1], [5], dtype=np.uint8)",
    "integers(0, 3, dtype=bool)",
    "integers(2**63)",
    "integers(2**63 + 1)",
    "integers(-2**63 - 1, 0)",
    "integers([0], 2**64 + 1, dtype=np.uint64)",
    "bytes(3)",
    "dirichlet([-1, 1])",
    "dirichlet([0, 1])",
    "dirichlet([])",
    "dirichlet([[1, 1]])",
    "multinomial(-1, [0.5, 0.5])",
    "multinomial(1, [1.5, 0.6])",
    "multinomial(1, [0.9, 0.6, 0.1])",
    "multinomial(1, [])",
    "multinomial(1, 0.5)",
    "multinomial(1, [nan, 0.5])",
    "multinomial(1, [-0.5, 0.5])",
    "multinomial([3, 4], [0.5, 0.5])",
    "multinomial([3, 4], [0.5, 0.5], size=(3, 2))",
    "multinomial([3, -4], [[0.5, 0.5], [0.1, 0.9]])",
    "multinomial([3, 4], [[0.5, 0.5], [0.1, 0.9]])",
    "multinomial(1.5, [0.5, 0.5])",
    "multinomial([1, 2], [[0.9, 0.9, 0.1], [0.1, 0.1, 0.8]])",
    "multinomial(1, np.array([0.99, 0.99, 1e-9, 1e-9], np.float32) / np.float32(1.98))",
    "integers(0, 0, size=0)",
    "integers(0, -5, size=(3, 0))",
    "multivariate_hypergeometric(10, 4)",
    "multivariate_hypergeometric([1, 2], 4)",
    "multivariate_hypergeometric([-1, 2], 1)",
    "multivariate_hypergeometric([1, 2], -1)",
    "multivariate_hypergeometric([1, 2], 2, method='x')",
    "multivariate_hypergeometric([[1, 2]], 2)",
    "multivariate_hypergeometric([1.5, 2], 2)",
    "multivariate_hypergeometric([2, 3, 5], 8.5)",
    "multivariate_hypergeometric([2, 3, 5], 'a')",
    "multivariate_hypergeometric([2, 3], 2**63)",
    "multivariate_hypergeometric([2**62, 2**62], 12, method='count')",
    "multivariate_hypergeometric([2**60, 1], 3, method='count')",
    "multivariate_hypergeometric([1, 2], 2, size=(2, 3))",
    "multivariate_hypergeometric([10**9, 10**9], 2)",
    "multivariate_hypergeometric([], 0)",
    "multivariate_normal([[0]], [[1]])",
    "multivariate_normal([0], [1])",
    "multivariate_normal([0], [[1, 0], [0, 1]])",
    "multivariate_normal([0, 0], np.eye(2), method='x')",
    "multivariate_normal([0, 0], np.eye(2), check_valid='x')",
    "multivariate_normal([0, 0], [[1, 2], [2, 1]], check_valid='raise')",
    "multivariate_normal([0, 0], [[1, 2], [2, 1]], method='cholesky')",
    "multivariate_normal([0, 0], [[1, 2], [2, 1]], check_valid='raise', method='eigh')",
    "multivariate_normal([0, 0], np.eye(2), size=(2, 3))",
    "multivariate_normal([0, 0], np.eye(2), size=0)",
    "multivariate_normal([0, 0], np.eye(2) * 1j)",
    "choice(0)",
    "choice(0, 0)",
    "choice(-1)",
    "choice(1.5)",
    "choice('ab')",
    "choice([])",
    "choice([], 0)",
    "choice(2, p=[0.5])",
    "choice(2, p=[0.5, 0.6])",
    "choice(2, p=[1.5, -0.5])",
    "choice(2, p=[nan, 0.5])",
    "choice(2, p=[[0.5, 0.5]])",
    "choice(2, 3, replace=False)",
    "choice(2, -3, replace=False)",
    "choice(3, 2, replace=False, p=[0, 0, 1])",
    "choice([[1, 2], [3, 4]], 3, axis=1)",
    "choice([[1, 2], [3, 4]], axis=1)",
    "choice([[1, 2], [3, 4]], 3, axis=2)",
    "choice(5, (2, 2), replace=False)",
    "choice(3, replace=False)",
    "permutation(5)",
    "permutation(-1)",
    "permutation([[1, 2], [3, 4]], axis=1)",
    "permutation([[1, 2], [3, 4]], axis=2)",
    "permutation(1.5)",
    "shuffle((1, 2, 3))",
    "shuffle(5)",
    "shuffle([1, 2], axis=1)",
    "shuffle(np.zeros((2, 2)), axis=2)",
    "shuffle(np.array(3))",
    "permuted([[1, 2], [3, 4]])",
    "permuted([[1, 2], [3, 4]], axis=2)",
    "permuted(5)",
]

# NumPy's words are of what it is made of.
OTHER_WORDS = {"shuffle((1, 2, 3))", "shuffle(5)", "dirichlet([[1, 1]])", "choice([[1, 2], [3, 4]], 3, axis=2)", "random(dtype='x')"}


def outcome(text: str, generator: object) -> object:
    try:
        found = eval(f"generator.{text}", {"generator": generator, "np": np, "nan": nan, "inf": inf})
    except Exception as error:
        return error
    if isinstance(found, bytes) or found is None:
        return type(found), None if found is None else len(found)
    return np.shape(found), np.asarray(found).dtype


@pytest.mark.parametrize("text", [*OTHERS, *ONE])
def test_as_numpy(text: str) -> None:
    for call in [text.replace("X", value) for value in VALUES] if "X" in text else [text]:
        if call.startswith("negative_binomial") and "None" in call:
            # NumPy takes it for NaN here, and for no number elsewhere.
            continue
        theirs, ours = outcome(call, np.random.default_rng(1)), outcome(call, weft.random.default_rng(1))
        if isinstance(theirs, Exception):
            assert isinstance(ours, type(theirs)), f"{call}: NumPy raises {theirs!r}, Weft gives {ours!r}"
            assert str(ours) == str(theirs) or text in OTHER_WORDS, f"{call}: NumPy raises {theirs!r}, Weft {ours!r}"
        else:
            assert ours == theirs, call


def test_seeds() -> None:
    for seed in ("-1", "'a'", "1.5", "[-1]", "[1, 2]", "2**200", "None", "np.int8(3)"):
        theirs, ours = (outcome(f"default_rng({seed}).random(2)", where) for where in (np.random, weft.random))
        assert (type(theirs), str(theirs)) == (type(ours), str(ours)), seed
    for call in (
        "seed(-1)",
        "seed('a')",
        "seed(2**32)",
        "randint(5, 5)",
        "randint(5, dtype=float)",
        "set_state(5)",
        "rand(-1)",
        "rand('a')",
        "seed([[1, 2]])",
        "seed([])",
        "hypergeometric(10, 20, 0)",
        "hypergeometric([10] * 3, [20], [0])",
        "hypergeometric(10, 20, 35)",
        "multinomial(10, [[0, 1], [1, 0]])",
        "multinomial([3, 4], [0.5, 0.5])",
        "multinomial(3.5, [0.5, 0.5])",
    ):
        theirs, ours = outcome(call, np.random.RandomState(1)), outcome(call, weft.random.RandomState(1))
        assert type(theirs) is type(ours), (call, theirs, ours)
    with pytest.raises(TypeError, match="takes a bit generator"):
        weft.random.Generator(5)
    with pytest.raises(ValueError, match="seed and key"):
        weft.random.Philox4x32(1, key=2)


@pytest.mark.parametrize("width", [np.float64, np.float32])
def test_out(width: type) -> None:
    g = weft.random.default_rng(1)
    other = np.float32 if width is np.float64 else np.float64
    with pytest.raises(TypeError, match=r"Supplied output array has the wrong type\. Expected"):
        g.random(dtype=width, out=weft.zeros(3, other))
    with pytest.raises(ValueError, match=r"size must match out\.shape when used together"):
        g.random(2, dtype=width, out=weft.zeros(3, width))
    with pytest.raises(ValueError, match="Supplied output array must be contiguous"):
        g.random(dtype=width, out=weft.zeros(6, width)[::2])
    with pytest.raises(ValueError, match="method is 'zig' or 'inv'"):
        g.standard_exponential(3, method="x")
    with pytest.raises(TypeError, match="Cannot cast array data"):
        g.permuted(weft.zeros(3), out=weft.zeros(3, int))
    with pytest.raises(ValueError, match="out must have the same shape"):
        g.permuted(weft.zeros(3), out=weft.zeros(2))

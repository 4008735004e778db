"""Distribution functions to hold random numbers against, from their definitions: incomplete gamma and beta functions by series and
continued fractions (Abramowitz and Stegun 6.5.29, 6.5.31, 26.5.8), and probabilities of whole numbers by logarithms of factorials.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

_erf = np.vectorize(math.erf)
_erfc = np.vectorize(math.erfc)
_lgamma = np.vectorize(math.lgamma, otypes=[float])


def normal(x: np.ndarray) -> np.ndarray:
    """Of mean 0 and deviation 1."""
    return 0.5 * _erfc(-np.asarray(x) / math.sqrt(2))


def gamma(a: float, x: np.ndarray) -> np.ndarray:
    """Of shape a."""
    x = np.asarray(x, float)
    low = np.minimum(x, a + 1)
    term = total = np.full(x.shape, 1.0 / a)
    for n in range(1, 60 + int(8 * math.sqrt(a)) + 40):
        term = term * low / (a + n)
        total = total + term
    with np.errstate(divide="ignore", invalid="ignore"):
        series = total * np.exp(a * np.log(low) - low - math.lgamma(a))
    high = np.maximum(x, a + 1)
    # Lentz's way to take a continued fraction.
    b = high + 1 - a
    c, d = np.full(x.shape, 1e300), 1 / b
    h = d
    for n in range(1, 60 + int(8 * math.sqrt(a))):
        an = -n * (n - a)
        b = b + 2
        d = 1 / (an * d + b)
        c = b + an / c
        h = h * d * c
    fraction = h * np.exp(a * np.log(high) - high - math.lgamma(a))
    return np.where(x <= 0, 0.0, np.where(x < a + 1, series, 1 - fraction))


def beta(a: float, b: float, x: np.ndarray) -> np.ndarray:
    """On 0 to 1."""
    x = np.clip(np.asarray(x, float), 0, 1)
    turned = x > (a + 1) / (a + b + 2)
    found = np.where(turned, 1 - _beta_fraction(b, a, np.where(turned, 1 - x, 0.5)), _beta_fraction(a, b, np.where(turned, 0.5, x)))
    return np.where(x == 0, 0.0, np.where(x == 1, 1.0, found))


def _beta_fraction(a: float, b: float, x: np.ndarray) -> np.ndarray:
    c, d = np.ones(x.shape), 1 / (1 - (a + b) * x / (a + 1))
    h = d
    for m in range(1, 120):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / (1 + even * d)
        c = 1 + even / c
        h = h * d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / (1 + odd * d)
        c = 1 + odd / c
        h = h * d * c
    with np.errstate(divide="ignore"):
        return h * np.exp(a * np.log(x) + b * np.log1p(-x) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)) / a


def f(m: float, n: float, x: np.ndarray) -> np.ndarray:
    """Fisher's, of m and n degrees of freedom."""
    return beta(m / 2, n / 2, m * x / (m * x + n))


def student(df: float, x: np.ndarray) -> np.ndarray:
    """Student's t."""
    tail = 0.5 * beta(df / 2, 0.5, df / (df + x * x))
    return np.where(x > 0, 1 - tail, tail)


def wald(mean: float, scale: float, x: np.ndarray) -> np.ndarray:
    """The inverse Gaussian one."""
    root = np.sqrt(scale / x)
    return normal(root * (x / mean - 1)) + np.exp(2 * scale / mean) * normal(-root * (x / mean + 1))


def mixed(of: Callable[[int], np.ndarray], mean: float) -> np.ndarray:
    """A mixture of distributions by a Poisson distributed number of this mean."""
    most = int(mean + 12 * math.sqrt(mean) + 20)
    return sum(math.exp(-mean + k * math.log(mean) - math.lgamma(k + 1)) * of(k) for k in range(most))


def vonmises(kappa: float, x: np.ndarray) -> np.ndarray:
    """On -pi to pi, by the trapezoidal rule."""
    grid = np.linspace(-math.pi, math.pi, 20001)
    density = np.exp(kappa * (np.cos(grid) - 1))
    sums = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2)])
    return np.interp(x, grid, sums / sums[-1])


def poisson(mean: float) -> Callable[[np.ndarray], np.ndarray]:
    """Probabilities, as of the other whole numbers below."""
    return lambda k: np.exp(-mean + k * math.log(mean) - _lgamma(k + 1.0))


def binomial(n: int, p: float) -> Callable[[np.ndarray], np.ndarray]:
    def chance(k: np.ndarray) -> np.ndarray:
        inside = (k >= 0) & (k <= n)
        k = np.where(inside, k, 0)
        return np.where(inside, np.exp(_choose(n, k) + k * math.log(p) + (n - k) * math.log1p(-p)), 0)

    return chance


def negative_binomial(n: float, p: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda k: np.exp(_lgamma(k + n) - _lgamma(k + 1.0) - math.lgamma(n) + n * math.log(p) + k * math.log1p(-p))


def hypergeometric(good: int, bad: int, count: int) -> Callable[[np.ndarray], np.ndarray]:
    def chance(k: np.ndarray) -> np.ndarray:
        inside = (k >= max(0, count - bad)) & (k <= min(good, count))
        k = np.where(inside, k, max(0, count - bad))
        return np.where(inside, np.exp(_choose(good, k) + _choose(bad, count - k) - _choose(good + bad, count)), 0)

    return chance


def _choose(n: float, k: np.ndarray) -> np.ndarray:
    return _lgamma(n + 1.0) - _lgamma(k + 1.0) - _lgamma(n - k + 1.0)


def distance(sample: np.ndarray, cdf: Callable[[np.ndarray], np.ndarray], below: float = math.inf) -> float:
    """Kolmogorov's and Smirnov's: the largest difference of distribution functions, times the root of the sample's size.

    Of right samples it is above 1.95 once in a thousand times. It is looked at `below` a number only, where floats from there on stand for
    many numbers.
    """
    x = np.sort(np.asarray(sample, float))
    n = len(x)
    steps = np.arange(n + 1) / n
    x = x[x < below]
    y = cdf(x)
    return float(max(np.max(steps[1 : len(x) + 1] - y), np.max(y - steps[: len(x)])) * math.sqrt(n))


def chi_square(sample: np.ndarray, chance: Callable[[np.ndarray], np.ndarray], least: int) -> float:
    """How many deviations Pearson's statistic is above its mean, for whole numbers from `least` on; rare ones are taken together."""
    sample = np.asarray(sample)
    n = len(sample)
    assert sample.min() >= least
    numbers = np.arange(least, sample.max() + 50)
    expected = chance(numbers) * n
    counts = np.bincount(sample - least, minlength=len(numbers)).astype(float)
    common = expected >= 10
    assert np.any(common)
    parts = [((counts - expected) ** 2 / np.where(common, expected, 1))[common]]
    rest = n - expected[common].sum()
    if rest >= 5:
        parts.append(np.array([(counts[~common].sum() - rest) ** 2 / rest]))
    statistic, freedom = sum(part.sum() for part in parts), sum(map(len, parts)) - 1
    return float((statistic - freedom) / math.sqrt(2 * max(freedom, 1)))

"""Random whole numbers of distributions: by search from the first one up where few are likely, else drawn until one is accepted.

`source` is what random_bits says. Logarithms of probabilities are Loader's ("Fast and accurate computation of binomial probabilities",
2000): of large numbers no logarithms of factorials are subtracted that would leave nothing.
"""

import numpy as np
from weft import intrinsics

from .random_bits import _words
from .random_floats import _exponential64, _open64, _unit64
from .random_gamma import _gamma64

_MOST = 9223372036854775807
# Numbers from here on are that one.
_BEYOND = 9.2233720368547748e18
_HALF_LOG_TWO_PI = 0.9189385332046727
_SECOND = 1073741824


def _whole(x):
    """A float as an int64, the largest one where it is too large."""
    found = np.int64(_MOST)
    if x < _BEYOND:
        found = np.int64(x)
    return found


def _rest_of_stirling(n):
    """What Stirling's formula lacks of log(n!), for n above 0: five terms of its series, to nine digits and more."""
    z = 1.0 / (n * n)
    rest = (1.0 / 12.0 - z * (1.0 / 360.0 - z * (1.0 / 1260.0 - z * (1.0 / 1680.0 - z * (1.0 / 1188.0))))) / n
    few = intrinsics.select(n == 1.0, 0.08106146679532726, intrinsics.select(n == 2.0, 0.0413406959554093, 0.02767792568499834))
    return intrinsics.select(n < 4.0, few, rest)


def _deviance(x, mean):
    """x log(x / mean) + mean - x."""
    d = x - mean
    v = d / (x + mean)
    z = v * v
    tail = 1.0 / 3.0 + z * (1.0 / 5.0 + z * (1.0 / 7.0 + z * (1.0 / 9.0 + z * (1.0 / 11.0 + z * (1.0 / 13.0 + z * (1.0 / 15.0))))))
    found = d * v + 2.0 * x * v * z * tail
    if z > 0.01:
        found = x * np.log(x / mean) - d
    return found


def _log_poisson(k, mean):
    """The logarithm of the probability of k."""
    if k == 0.0:
        return -mean
    return -_rest_of_stirling(k) - _deviance(k, mean) - _HALF_LOG_TWO_PI - 0.5 * np.log(k)


def _log_binomial(k, n, p):
    """The logarithm of the probability of k of n, for 0 < p < 1."""
    q = 1.0 - p
    if (p >= 1.0) | (n == 0.0):
        return 0.0
    if k == 0.0:
        return n * np.log1p(-p)
    if k == n:
        return n * np.log(p)
    parts = _rest_of_stirling(n) - _rest_of_stirling(k) - _rest_of_stirling(n - k)
    parts = parts - _deviance(k, n * p) - _deviance(n - k, n * q)
    return parts - _HALF_LOG_TWO_PI - 0.5 * (np.log(k) + np.log1p(-k / n))


def _poisson(source, mean):
    return _poisson_from(source, mean, 0)


def _poisson_from(source, mean, t):
    if mean >= 10.0:
        return _whole(_large_poisson(source, mean, t))
    u = _unit64(_words(source, t)[0])
    k = 0
    p = np.exp(-mean)
    while (u >= p) & (k < 1000):
        u = u - p
        k += 1
        p = p * (mean / k)
    return np.int64(k)


def _large_poisson(source, mean, t):
    """After Hörmann ("The transformed rejection method for generating Poisson random variables", 1993): PTRS."""
    b = 0.931 + 2.53 * np.sqrt(mean)
    a = -0.059 + 0.02483 * b
    inverse = 1.1239 + 1.1328 / (b - 3.4)
    sure = 0.9277 - 3.6224 / (b - 2.0)
    k = 0.0
    tried = False
    while not tried:
        first, second = _words(source, t)
        u = _unit64(first) - 0.5
        v = _open64(second)
        s = 0.5 - abs(u)
        k = np.floor((2.0 * a / s + b) * u + mean + 0.43)
        tried = (s >= 0.07) & (v <= sure)
        if (not tried) & (k >= 0.0) & ((s >= 0.013) | (v <= s)):
            tried = np.log(v * inverse / (a / (s * s) + b)) <= _log_poisson(k, mean)
        t += 1
    return k


def _binomial(source, n, p):
    return _binomial_from(source, n, p, 0)


def _binomial_from(source, n, p, t):
    few = intrinsics.select(p > 0.5, 1.0 - p, p)
    if (n <= 0) | (few <= 0.0):
        k = np.int64(0)
    elif np.float64(n) * few < 10.0:
        k = np.int64(_few_of(source, n, few, t))
    else:
        k = _whole(_many_of(source, np.float64(n), few, t))
        k = intrinsics.select(k > n, n, k)
    return intrinsics.select(p > 0.5, n - k, k)


def _few_of(source, n, p, t):
    u = _unit64(_words(source, t)[0])
    m = np.float64(n)
    odds = p / (1.0 - p)
    chance = np.exp(m * np.log1p(-p))
    k = 0
    while (u >= chance) & (k < n) & (k < 1000):
        u = u - chance
        chance = chance * (odds * (m - k) / (k + 1))
        k += 1
    return k


def _many_of(source, n, p, t):
    """After Hörmann ("The generation of binomial random variates", 1993): BTRS."""
    spread = np.sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = n * p + 0.5
    sure = 0.92 - 4.2 / b
    scale = (2.83 + 5.1 / b) * spread
    most = _log_binomial(np.floor((n + 1.0) * p), n, p)
    k = 0.0
    tried = False
    while not tried:
        first, second = _words(source, t)
        u = _unit64(first) - 0.5
        v = _open64(second)
        s = 0.5 - abs(u)
        k = np.floor((2.0 * a / s + b) * u + c)
        tried = (s >= 0.07) & (v <= sure)
        if (not tried) & (k >= 0.0) & (k <= n):
            tried = np.log(v * scale / (a / (s * s) + b)) <= _log_binomial(k, n, p) - most
        t += 1
    return k


def _geometric(source, p):
    """The first success: an exponential number of units, rounded up."""
    return _whole(max(1.0, np.ceil(_exponential64(source) / -np.log1p(-p))))


def _negative_binomial(source, n, p):
    """Poisson distributed around a gamma distributed mean."""
    return _poisson_from(source, _gamma64(source, n) * ((1.0 - p) / p), _SECOND)


def _zipf(source, a):
    """After Devroye ("Non-uniform random variate generation", 1986, X.6.1); of numbers that an int64 holds."""
    e = a - 1.0
    within = -np.expm1(-43.66827237527655 * e)
    bound = -np.expm1(-0.6931471805599453 * e)
    x = 1.0
    t = 0
    tried = False
    while not tried:
        u, v = _words(source, t)
        x = np.floor(np.exp(-np.log1p(-within * _unit64(u)) / e))
        # A power of 1 + 1 / x, less 1: near 1 nothing would be left of it.
        r = np.expm1(e * np.log1p(1.0 / x))
        tried = _unit64(v) * x * r <= (r + 1.0) * bound
        t += 1
    return _whole(x)


def _logseries(source, p):
    """After Kemp (Appl. Statist. 30, 1981): a geometric distribution with a random parameter, 1 less a power of 1 - p."""
    u, v = _words(source)
    power = np.log1p(-p) * _open64(u)
    log_of_rest = np.log1p(-np.exp(power))
    if power > -0.6931471805599453:
        log_of_rest = np.log(-np.expm1(power))
    found = 1.0
    if p > 0.0:
        found = np.floor(1.0 + np.log(_open64(v)) / log_of_rest)
    return _whole(max(1.0, found))


def _hypergeometric(source, good, bad, count):
    """Good ones among so many that are taken without putting them back."""
    n = np.float64(count)
    some = np.float64(good)
    others = np.float64(bad)
    least = max(0.0, n - others)
    most = min(n, some)
    mode = min(most, max(least, np.floor((n + 1.0) * (some + 1.0) / (some + others + 2.0))))
    p = n / (some + others)
    if least >= most:
        k = most
    elif mode - least < 40.0:
        k = _taken_by_search(source, some, others, n, p, least, most)
    else:
        k = _taken_by_rejection(source, some, others, n, p, least, most, mode)
    return _whole(k)


def _log_taken(k, some, others, n, p):
    """The logarithm of the probability of k good ones, but for a constant: by two binomial probabilities with any p."""
    return _log_binomial(k, some, p) + _log_binomial(n - k, others, p)


def _taken_by_search(source, some, others, n, p, least, most):
    u = _unit64(_words(source)[0])
    chance = np.exp(_log_taken(least, some, others, n, p) - _log_binomial(n, some + others, p))
    k = least
    while (u >= chance) & (k < most):
        u = u - chance
        chance = chance * ((some - k) / (k + 1.0) * ((n - k) / (others - n + k + 1.0)))
        k = k + 1.0
    return k


def _taken_by_rejection(source, some, others, n, p, least, most, mode):
    """After Devroye (1986, X.1.4): right for every log-concave distribution, from its mode and the probability there."""
    top = _log_taken(mode, some, others, n, p)
    height = np.exp(top - _log_binomial(n, some + others, p))
    w = 1.0 + 0.5 * height
    k = mode
    t = 0
    tried = False
    while not tried:
        part, place = _words(source, t)
        further, chance = _words(source, t + 1)
        y = _unit64(place) * w / height
        if _unit64(part) > w / (1.0 + w):
            y = (w - np.log(_open64(further))) / height
        x = np.floor(y + 0.5)
        k = mode + intrinsics.select(chance & np.uint64(1) == np.uint64(0), x, -x)
        if (k >= least) & (k <= most):
            tried = np.log(_open64(chance)) + min(0.0, w - height * y) <= _log_taken(k, some, others, n, p) - top
        t += 2
    return k

"""NumPy's random whole numbers by its older names, `numpy.random.poisson` and its like, from the twister of the thread.

The numbers, and which words of the twister they take, are those of Numba 0.68 and, but for what becomes of gamma distributed numbers, of
NumPy's RandomState.
"""

import numpy as np

from weft.language import libm

from .numpy_random import _gamma, _source
from .twister import _counts, _masked, _real, _unit, _whole


_LARGEST_MEAN = 9.223372006484771e18


def randint(low, high=None, size=None):
    """Whole numbers from `low` to below `high`, or from 0 to below `low`.

    >>> np.random.seed(1)
    >>> np.random.randint(0, 100, 3)
    array([37, 12, 72])
    """
    if high is None:
        return _counts(size, _between, _source(), np.int64(0), _above(np.int64(0), _whole(low)))
    return _counts(size, _between, _source(), _whole(low), _above(_whole(low), _whole(high)))


def _above(low, high):
    """How far the last one is from the first."""
    if low >= high:
        raise ValueError("low >= high")
    return np.uint64(high) - np.uint64(low) - np.uint64(1)


def _between(source, low, last):
    return np.int64(np.uint64(low) + _masked(source, last))


def poisson(lam=1.0, size=None):
    """How many events there are in a time in which there are `lam` on average (Hoermann's PTRS, 1993; below 10 Knuth's products).

    >>> np.random.seed(2)
    >>> np.random.poisson(20.0, 3)
    array([19, 21, 19])
    """
    mean = _real(lam)
    if not mean >= 0.0:
        raise ValueError("lam < 0 or lam is NaN")
    if mean > _LARGEST_MEAN:
        raise ValueError("lam value too large")
    return _counts(size, _poisson, _source(), mean)


def _poisson(source, lam):
    if lam >= 10.0:
        return _poisson_ptrs(source, lam)
    found = np.int64(0)
    if lam > 0.0:
        least = libm("exp", -lam)
        product = _unit(source)
        while product > least:
            product = product * _unit(source)
            found = found + 1
    return found


def _poisson_ptrs(source, lam):
    # Of means that gamma distributed numbers are, or parts of parameters: no whole number of 64 bits would ever be accepted.
    if lam > _LARGEST_MEAN:
        raise ValueError("lam value too large")
    root = np.sqrt(lam)
    log_lam = libm("log", lam)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    sure = 0.9277 - 3.6224 / (b - 2.0)
    found = np.int64(-1)
    tried = False
    while not tried:
        u = _unit(source) - 0.5
        v = _unit(source)
        side = 0.5 - abs(u)
        found = np.int64(np.floor((2.0 * a / side + b) * u + lam + 0.43))
        if (side >= 0.07) & (v <= sure):
            tried = True
        elif (found >= 0) & ((side >= 0.013) | (v <= side)):
            k = np.float64(found)
            left = libm("log", v) + libm("log", inverse_alpha) - libm("log", a / (side * side) + b)
            tried = left <= -lam + k * log_lam - _log_gamma(k + 1.0)
    return found


def _log_gamma(x):
    """The logarithm of the gamma function, by Stirling's series from 7 on (Zhang and Jin, Computation of Special Functions, 1996)."""
    found = 0.0
    if (x != 1.0) & (x != 2.0):
        n = np.int64(0)
        at = x
        if x <= 7.0:
            n = np.int64(7.0 - x)
            at = x + np.float64(n)
        z = 1.0 / (at * at)
        series = -1.39243221690590e00
        series = series * z + 1.796443723688307e-01
        series = series * z - 2.955065359477124e-02
        series = series * z + 6.410256410256410e-03
        series = series * z - 1.917526917526918e-03
        series = series * z + 8.417508417508418e-04
        series = series * z - 5.952380952380952e-04
        series = series * z + 7.936507936507937e-04
        series = series * z - 2.777777777777778e-03
        series = series * z + 8.333333333333333e-02
        found = series / at + 0.9189385332046727 + (at - 0.5) * libm("log", at) - at
        for _ in range(n):
            found = found - libm("log", at - 1.0)
            at = at - 1.0
    return found


def binomial(n, p, size=None):
    """How many of `n` trials succeed, each with probability `p` (Kachitvichyanukul and Schmeiser's BTPE, 1988; below a mean of 30 by search).

    >>> np.random.seed(2)
    >>> np.random.binomial(100, 0.4, 3)
    array([34, 38, 33])
    """
    count, chance = _whole(n), _real(p)
    if count < 0:
        raise ValueError("n < 0")
    if not (chance >= 0.0) & (chance <= 1.0):
        raise ValueError("p < 0, p > 1 or p is NaN")
    return _counts(size, _binomial, _source(), count, chance)


def _binomial(source, n, p):
    if p == 0.0:
        return np.int64(0)
    if p == 1.0:
        return n
    flipped = p > 0.5
    r = 1.0 - p if flipped else p
    if np.float64(n) * r > 30.0:
        found = _btpe(source, n, r)
    else:
        found = _searched(source, n, r)
    return n - found if flipped else found


def _searched(source, n, p):
    """Adds up the probabilities until they pass a random number; starts anew where that is so large that they do not."""
    q = 1.0 - p
    mean = np.float64(n) * p
    none = libm("pow", q, np.float64(n))
    bound = min(np.float64(n), mean + 10.0 * np.sqrt(mean * q + 1.0))
    found = np.int64(0)
    u = _unit(source)
    chance = none
    while u > chance:
        u = u - chance
        found = found + 1
        chance = (np.float64(n - found + 1) * p * chance) / (np.float64(found) * q)
        if np.float64(found) > bound:
            found = np.int64(0)
            u = _unit(source)
            chance = none
    return found


def _btpe(source, n, r):
    """Under a parallelogram, two triangles and two exponential tails."""
    q = 1.0 - r
    count = np.float64(n)
    mode = count * r + r
    m = np.floor(mode)
    nrq = count * r * q
    p1 = np.floor(2.195 * np.sqrt(nrq) - 4.6 * q) + 0.5
    middle = m + 0.5
    left = middle - p1
    right = middle + p1
    c = 0.134 + 20.5 / (15.3 + m)
    a = (mode - left) / (mode - left * r)
    left_rate = a * (1.0 + a / 2.0)
    a = (right - mode) / (right * q)
    right_rate = a * (1.0 + a / 2.0)
    p2 = p1 * (1.0 + 2.0 * c)
    p3 = p2 + c / left_rate
    p4 = p3 + c / right_rate
    y = -1.0
    tried = False
    while not tried:
        u = _unit(source) * p4
        v = _unit(source)
        fits = True
        if u <= p1:
            y = np.floor(middle - p1 * v + u)
            tried = True
        elif u <= p2:
            x = left + (u - p1) / c
            v = v * c + 1.0 - abs(m - x + 0.5) / p1
            fits = v <= 1.0
            y = np.floor(x)
        elif u <= p3:
            y = np.floor(left + libm("log", v) / left_rate)
            fits = (y >= 0.0) & (v != 0.0)
            v = v * (u - p2) * left_rate
        else:
            y = np.floor(right - libm("log", v) / right_rate)
            fits = (y <= count) & (v != 0.0)
            v = v * (u - p3) * right_rate
        if fits & (not tried):
            tried = _is_under(v, y, m, count, r, q, nrq, middle)
    return np.int64(y)


def _is_under(v, y, m, n, r, q, nrq, middle):
    """Is a random number under the probability of `y`, as a part of that of the mode, `m`?"""
    k = abs(y - m)
    if (k <= 20.0) | (k >= nrq / 2.0 - 1.0):
        s = r / q
        a = s * (n + 1.0)
        ratio = 1.0
        if m < y:
            for i in range(np.int64(m) + 1, np.int64(y) + 1):
                ratio = ratio * (a / np.float64(i) - s)
        else:
            for i in range(np.int64(y) + 1, np.int64(m) + 1):
                ratio = ratio / (a / np.float64(i) - s)
        return v <= ratio
    rho = (k / nrq) * ((k * (k / 3.0 + 0.625) + 0.16666666666666666) / nrq + 0.5)
    t = -k * k / (2.0 * nrq)
    log_v = libm("log", v)
    if log_v < t - rho:
        return True
    if log_v > t + rho:
        return False
    above, below, most, rest = y + 1.0, m + 1.0, n + 1.0 - m, n - y + 1.0
    return log_v <= (
        middle * libm("log", below / above)
        + (n - m + 0.5) * libm("log", most / rest)
        + (y - m) * libm("log", rest * r / (above * q))
        + _stirling(below)
        + _stirling(most)
        + _stirling(above)
        + _stirling(rest)
    )


def _stirling(x):
    """What Stirling's formula leaves of the logarithm of a factorial."""
    z = x * x
    return (13680.0 - (462.0 - (132.0 - (99.0 - 140.0 / z) / z) / z) / z) / x / 166320.0


def negative_binomial(n, p, size=None):
    """How many trials fail before `n` succeed.

    >>> np.random.seed(2)
    >>> np.random.negative_binomial(5.0, 0.4)
    7
    """
    count, chance = _real(n), _real(p)
    if not count > 0.0:
        raise ValueError("n <= 0")
    if not (chance > 0.0) & (chance <= 1.0):
        raise ValueError("p <= 0, p > 1 or p is NaN")
    return _counts(size, _negative_binomial, _source(), count, chance)


def _negative_binomial(source, n, p):
    scale = (1.0 - p) / p
    if scale == 0.0:
        return np.int64(0)
    return _poisson(source, _gamma(source, n, scale))


def geometric(p, size=None):
    """How many trials it takes until one succeeds.

    >>> np.random.seed(2)
    >>> np.random.geometric(0.2, 3)
    array([3, 1, 4])
    """
    chance = _real(p)
    if not (chance > 0.0) & (chance <= 1.0):
        raise ValueError("p <= 0, p > 1 or p contains NaNs")
    return _counts(size, _geometric, _source(), chance)


def _geometric(source, p):
    q = 1.0 - p
    if p < 0.333333333333333333333333:
        return np.int64(np.ceil(libm("log", 1.0 - _unit(source)) / libm("log", q)))
    found = np.int64(1)
    total = p
    product = p
    u = _unit(source)
    while u > total:
        product = product * q
        total = total + product
        found = found + 1
    return found


def hypergeometric(ngood, nbad, nsample, size=None):
    """How many good ones are among `nsample` that are taken of `ngood` good and `nbad` bad ones.

    >>> np.random.seed(2)
    >>> np.random.hypergeometric(30, 20, 10, 3)
    array([9, 6, 9])
    """
    good, bad, taken = _items(ngood), _items(nbad), _items(nsample)
    if good < 0:
        raise ValueError("ngood < 0")
    if bad < 0:
        raise ValueError("nbad < 0")
    if taken < 1:
        raise ValueError("nsample < 1 or nsample is NaN")
    if good + bad < taken:
        raise ValueError("ngood + nbad < nsample")
    return _counts(size, _hypergeometric, _source(), good, bad, taken)


def _items(x):
    """How many there are: a whole number, of any type."""
    if not isinstance(x, (float, np.floating)):
        return _whole(x)
    number = np.float64(x)
    if not (number == np.floor(number)) & (abs(number) < 9223372036854775808.0):
        raise ValueError("hypergeometric takes whole numbers of items")
    return np.int64(number)


def _hypergeometric(source, good, bad, taken):
    fewer = np.float64(min(good, bad))
    others = good + bad - taken
    left = fewer
    k = taken
    while (left > 0.0) & (k > 0):
        left = left - np.floor(_unit(source) + left / np.float64(others + k))
        k = k - 1
    found = np.int64(fewer - left)
    return taken - found if good > bad else found


def logseries(p, size=None):
    """Numbers k with probabilities in proportion to p^k / k (Kemp, Appl. Statist. 30, 1981).

    >>> np.random.seed(2)
    >>> np.random.logseries(0.9, 3)
    array([1, 2, 2])
    """
    chance = _real(p)
    if not (chance > 0.0) & (chance < 1.0):
        raise ValueError("p <= 0, p >= 1 or p contains NaNs")
    return _counts(size, _logseries, _source(), chance)


def _logseries(source, p):
    r = libm("log", 1.0 - p)
    found = np.int64(0)
    while found < 1:
        v = _unit(source)
        if v >= p:
            found = np.int64(1)
        else:
            q = 1.0 - libm("exp", r * _unit(source))
            if v <= q * q:
                if v > 0.0:
                    found = np.int64(1.0 + libm("log", v) / libm("log", q))
            elif v >= q:
                found = np.int64(1)
            else:
                found = np.int64(2)
    return found


def zipf(a, size=None):
    """Numbers k with probabilities in proportion to k^-a (Devroye, Non-Uniform Random Variate Generation, 1986).

    >>> np.random.seed(2)
    >>> np.random.zipf(1.8, 3)
    array([2, 2, 1])
    """
    exponent = _real(a)
    if not exponent > 1.0:
        raise ValueError("a <= 1 or a is NaN")
    return _counts(size, _zipf, _source(), exponent)


def _zipf(source, a):
    less = a - 1.0
    b = libm("pow", 2.0, less)
    # From an exponent of 1025 on none would ever be accepted; others than 1 are too seldom to be seen.
    x = 1.0
    tried = not b < np.inf
    while not tried:
        u = 1.0 - _unit(source)
        v = _unit(source)
        x = np.floor(libm("pow", u, -1.0 / less))
        if (x >= 1.0) & (x < 9223372036854775808.0):
            t = libm("pow", 1.0 + 1.0 / x, less)
            tried = v * x * (t - 1.0) / (b - 1.0) <= t / b
    return np.int64(x)

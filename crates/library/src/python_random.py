"""Python's module `random`, from a twister of the thread that is not that of `numpy.random`.

The numbers, and which words of the twister they take, are those of Numba 0.68, which mostly are those that CPython's methods make of the
same words. Where one of the two refuses a parameter, so does this.
"""

import numpy as np

from weft.intrinsics import clz
from weft.language import libm, thread_state

from .numpy_random import _beta, _gamma, _lognormal, _normal, _positive, _standard_exponential, _triangular, _uniform, _vonmises
from .numpy_random_orders import _shuffle
from .twister import _next32, _real, _set_words, _unit, _whole

_NOT_POSITIVE = "gammavariate: alpha and beta must be > 0.0"


def _source():
    return thread_state("python_words"), thread_state("python_normal")


def seed(a):
    """Makes the thread's random numbers start anew from the lowest 32 bits of a whole number.

    >>> random.seed(1)
    >>> random.random()
    0.417022004702574
    """
    _set_words(thread_state("python_words"), np.uint32(np.uint64(_whole(a)) & np.uint64(0xFFFFFFFF)))
    thread_state("python_normal")[1] = 0.0


def random():
    """A float from 0 to below 1.

    >>> random.seed(2)
    >>> random.random()
    0.43599490214200376
    """
    return float(_unit(_source()))


def getrandbits(k):
    """A whole number of `k` random bits, 64 at most.

    >>> random.seed(2)
    >>> random.getrandbits(10)
    446
    """
    count = _whole(k)
    if (count < 1) | (count > 64):
        raise OverflowError("getrandbits() limited to 64 bits")
    return _upper_bits(thread_state("python_words"), count)


def _upper_bits(words, count):
    """So many bits, the upper ones of one word or of the second of two."""
    first = np.uint64(_next32(words))
    if count <= 32:
        return first >> np.uint64(32 - count)
    return first | ((np.uint64(_next32(words)) >> np.uint64(64 - count)) << np.uint64(32))


def _any_word(words):
    """What is added to the least of all whole numbers of 64 bits, and is from 0 to below 2**64: Python draws 65 bits until the upmost is 0."""
    while True:
        found = _upper_bits(words, 64)
        if np.uint64(_next32(words)) < np.uint64(2147483648):
            return found + np.uint64(9223372036854775808)


def _below(source, count):
    """From 0 to below `count`: as many bits as that has are drawn until they are less."""
    bits = np.int64(64) - np.int64(clz(count))
    found = _upper_bits(source[0], bits)
    while found >= count:
        found = _upper_bits(source[0], bits)
    return found


def randrange(start, stop=None, step=1):
    """A whole number of `range(start, stop, step)`.

    >>> random.seed(3)
    >>> random.randrange(0, 100, 5)
    85
    """
    if stop is None:
        return _of_range(np.int64(0), _signed(start), _signed(step))
    return _of_range(_signed(start), _signed(stop), _signed(step))


def randint(a, b):
    """A whole number from `a` to `b`, both among them.

    >>> random.seed(3)
    >>> random.randint(1, 6)
    5
    """
    low, high = _signed(a), _signed(b)
    if low > high:
        raise ValueError("empty range for randrange()")
    if (low == np.int64(-9223372036854775808)) & (high == np.int64(9223372036854775807)):
        # Their number is none of 64 bits.
        return int(np.int64(_any_word(_source()[0])))
    return _at(low, np.uint64(high) - np.uint64(low) + np.uint64(1), np.int64(1))


def _signed(x):
    number = _whole(x)
    if isinstance(x, np.uint64) and number < 0:
        raise OverflowError("random takes whole numbers below 2**63")
    return number


def _of_range(start, stop, step):
    if step == 0:
        raise ValueError("zero step for randrange()")
    if (start >= stop) if step > 0 else (start <= stop):
        raise ValueError("empty range for randrange()")
    if step > 0:
        count = (np.uint64(stop) - np.uint64(start) - np.uint64(1)) // np.uint64(step) + np.uint64(1)
    else:
        count = (np.uint64(start) - np.uint64(stop) - np.uint64(1)) // (np.uint64(0) - np.uint64(step)) + np.uint64(1)
    return _at(start, count, step)


def _at(start, count, step):
    return int(np.int64(np.uint64(start) + _below(_source(), count) * np.uint64(step)))


def shuffle(x):
    """Puts the items along the first axis of an array in a random order, in place (Durstenfeld, CACM 7, 1964).

    >>> random.seed(1)
    >>> x = np.arange(5)
    >>> random.shuffle(x)
    >>> x
    array([2, 1, 4, 0, 3])
    """
    _shuffle(x, _source(), _below)


def uniform(a, b):
    """A float from `a` to `b`.

    >>> random.seed(4)
    >>> random.uniform(-1.0, 1.0)
    0.9340596780273533
    """
    return float(_uniform(_source(), _real(a), _real(b)))


def triangular(low=0.0, high=1.0, mode=None):
    """A float from `low` to `high` whose density rises up to `mode`, by default the middle, and falls from there.

    >>> random.seed(4)
    >>> random.triangular(0.0, 4.0, 1.0)
    3.370999259272392
    """
    if mode is None:
        return float(_even_triangular(_source(), _real(low), _real(high)))
    return float(_triangular(_source(), _real(low), _real(mode), _real(high)))


def _even_triangular(source, low, high):
    u = _unit(source)
    if u > 0.5:
        return high + (low - high) * np.sqrt((1.0 - u) * 0.5)
    return low + (high - low) * np.sqrt(u * 0.5)


def gauss(mu=0.0, sigma=1.0):
    """A normal number, by Marsaglia's polar method, which makes two at once.

    >>> random.seed(3)
    >>> random.gauss(10.0, 2.0)
    13.577256946860636
    """
    return float(_normal(_source(), _real(mu), _real(sigma)))


def normalvariate(mu=0.0, sigma=1.0):
    """A normal number, as of `gauss`.

    >>> random.seed(3)
    >>> random.normalvariate(10.0, 2.0)
    13.577256946860636
    """
    return float(_normal(_source(), _real(mu), _real(sigma)))


def lognormvariate(mu=0.0, sigma=1.0):
    """The exponential of a normal number.

    >>> random.seed(3)
    >>> random.lognormvariate(0.0, 0.5)
    2.445658071756572
    """
    return float(_lognormal(_source(), _real(mu), _real(sigma)))


def expovariate(lambd=1.0):
    """The time until an event that happens `lambd` times in 1 on average.

    >>> random.seed(5)
    >>> random.expovariate(0.5)
    0.5020399546453052
    """
    return float(_standard_exponential(_source()) / _not_zero(lambd))


def _not_zero(x):
    number = _real(x)
    if number == 0.0:
        raise ZeroDivisionError("division by zero")
    return number


def gammavariate(alpha, beta):
    """A gamma distributed number of shape `alpha` and scale `beta`: Cheng's, below a shape of 1 Ahrens and Dieter's GS.

    From a shape of 2**1023 on, for which Python never ends, it is `alpha * beta`: others are too seldom to be seen.

    >>> random.seed(8)
    >>> random.gammavariate(2.5, 2.0)
    13.134619423035907
    """
    return float(_gamma(_source(), _positive(alpha, _NOT_POSITIVE), _positive(beta, _NOT_POSITIVE)))


def betavariate(alpha, beta):
    """A beta distributed number, by two gamma distributed ones: 0 where the first is, whatever `beta` may be.

    From 2**1023 on, for which Python never ends, it is `alpha / (alpha + beta)`: 1 for an infinite `alpha`, 0 for an infinite `beta`.
    ValueError if both are infinite.

    >>> random.seed(8)
    >>> random.betavariate(2.0, 3.0)
    0.46575426256030983
    """
    a, b = _positive(alpha, _NOT_POSITIVE), _real(beta)
    if (2.0 * a == np.inf) | (2.0 * b == np.inf):
        return float(_huge_share(a, _positive(beta, _NOT_POSITIVE)))
    return float(_beta(_source(), a, b))


def _huge_share(a, b):
    if a == np.inf:
        if b == np.inf:
            raise ValueError("betavariate: alpha and beta must not both be infinite")
        return 1.0
    # Halves, since the sum may be infinite.
    return 0.5 * a / (0.5 * a + 0.5 * b)


def paretovariate(alpha):
    """A number of Pareto's distribution, which starts at 1.

    >>> random.seed(5)
    >>> random.paretovariate(3.0)
    1.0872736515094132
    """
    power = libm("pow", 1.0 - _unit(_source()), 1.0 / _not_zero(alpha))
    return float(1.0 / _not_zero(power))


def weibullvariate(alpha, beta):
    """`alpha` times a power of an exponential number: `beta` is 1 over the power.

    >>> random.seed(5)
    >>> random.weibullvariate(1.0, 2.0)
    0.501018939085792
    """
    return float(_real(alpha) * libm("pow", _standard_exponential(_source()), 1.0 / _not_zero(beta)))


def vonmisesvariate(mu, kappa):
    """An angle around `mu` (Best and Fisher, Appl. Statist. 28, 1979).

    >>> random.seed(7)
    >>> random.vonmisesvariate(0.5, 4.0)
    0.4399138297251382
    """
    return float(_vonmises(_source(), _real(mu), _real(kappa)))

"""The Mersenne Twister (Matsumoto and Nishimura, ACM Trans. Model. Comput. Simul. 8, 1998) of the thread that runs a compiled function.

`words` is its state: 624 words of 32 bits and, behind them, how many of these have been used. A *source* is these words and `kept`, a normal
number that may be left of the last two and whether it is. Whole numbers and floats are made of it as NumPy's RandomState and Numba make them.
What begins with `_rare_` stays a function of its own, beside the few instructions that most draws are.
"""

import numpy as np

from weft.language import libm, refuse

_N = 624
_M = 397


def _set_words(words, seed):
    """The state that a whole number of 32 bits stands for."""
    word = np.uint32(seed)
    for i in range(_N):
        words[i] = word
        word = np.uint32(1812433253) * (word ^ (word >> np.uint32(30))) + np.uint32(i + 1)
    words[_N] = np.uint32(_N)


def _twisted(one, next_one, far):
    """A new word, of an old one, the one behind it, and one that is further on."""
    y = (one & np.uint32(0x80000000)) | (next_one & np.uint32(0x7FFFFFFF))
    return far ^ (y >> np.uint32(1)) ^ ((y & np.uint32(1)) * np.uint32(0x9908B0DF))


def _rare_refill(words):
    """The next 624 words."""
    for i in range(_N - _M):
        words[i] = _twisted(words[i], words[i + 1], words[i + _M])
    for i in range(_N - _M, _N - 1):
        words[i] = _twisted(words[i], words[i + 1], words[i + _M - _N])
    words[_N - 1] = _twisted(words[_N - 1], words[0], words[_M - 1])
    words[_N] = np.uint32(0)


def _tempered(word):
    """A word as it is given."""
    y = word ^ (word >> np.uint32(11))
    y = y ^ ((y << np.uint32(7)) & np.uint32(0x9D2C5680))
    y = y ^ ((y << np.uint32(15)) & np.uint32(0xEFC60000))
    return y ^ (y >> np.uint32(18))


def _next32(words):
    """The next 32 bits."""
    if words[_N] >= np.uint32(_N):
        _rare_refill(words)
    used = words[_N]
    words[_N] = used + np.uint32(1)
    return _tempered(words[used])


def _joined(first, second):
    """From 0 to below 1, of 2^53 numbers."""
    return (np.float64(first >> np.uint32(5)) * 67108864.0 + np.float64(second >> np.uint32(6))) * 2.0**-53


def _rare_unit(words):
    """A number whose second word may be one of the next 624."""
    first = _next32(words)
    return _joined(first, _next32(words))


def _unit(source):
    """From 0 to below 1, of 2^53 numbers."""
    words = source[0]
    used = words[_N]
    if used >= np.uint32(_N - 1):
        return _rare_unit(words)
    words[_N] = used + np.uint32(2)
    return _joined(_tempered(words[used]), _tempered(words[used + np.uint32(1)]))


def _masked(source, last):
    """From 0 to `last`, of 64 bits: as many bits as that has are drawn until they are no more than it."""
    mask = last
    mask = mask | (mask >> np.uint64(1))
    mask = mask | (mask >> np.uint64(2))
    mask = mask | (mask >> np.uint64(4))
    mask = mask | (mask >> np.uint64(8))
    mask = mask | (mask >> np.uint64(16))
    mask = mask | (mask >> np.uint64(32))
    found = last
    if last > np.uint64(0):
        found = _bits(source[0], mask)
        while found > last:
            found = _bits(source[0], mask)
    return found


def _bits(words, mask):
    """Random bits where the mask has some: of more than 32 the upper ones are drawn first."""
    low = np.uint64(0xFFFFFFFF)
    found = np.uint64(0)
    if mask > low:
        found = np.uint64(_next32(words)) << np.uint64(32)
    return (found | np.uint64(_next32(words))) & mask


def _gauss(source):
    """Mean 0 and deviation 1, by Marsaglia's polar method: of the two numbers that it makes one is kept for the next time."""
    kept = source[1]
    if kept[1] != 0.0:
        kept[1] = 0.0
        return kept[0]
    x = 0.0
    y = 0.0
    r = 0.0
    while (r >= 1.0) | (r == 0.0):
        x = 2.0 * _unit(source) - 1.0
        y = 2.0 * _unit(source) - 1.0
        r = x * x + y * y
    f = np.sqrt(-2.0 * libm("log", r) / r)
    kept[0] = f * x
    kept[1] = 1.0
    return f * y


def _real(x):
    """A parameter."""
    if not isinstance(x, (int, float, np.integer, np.floating, np.bool_)):
        refuse("random numbers are drawn one after the other here: parameters are numbers, not arrays; draw in a loop")
    return np.float64(x)


def _whole(x):
    """A parameter that is a whole number."""
    if not isinstance(x, (int, np.integer)):
        refuse("a whole number is needed here")
    return np.int64(x)


def _floats(size, draw, *parameters):
    """One float, or an array of them."""
    if size is None:
        return float(draw(*parameters))
    found = np.empty(size)
    flat = found.reshape(-1)
    for i in range(len(flat)):
        flat[i] = draw(*parameters)
    return found


def _counts(size, draw, *parameters):
    """One whole number, or an array of them."""
    if size is None:
        return int(draw(*parameters))
    found = np.empty(size, np.int64)
    flat = found.reshape(-1)
    for i in range(len(flat)):
        flat[i] = draw(*parameters)
    return found

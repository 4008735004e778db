"""Random bits: where all random numbers come from, and whole numbers below a bound.

A source is a tuple. Of three numbers, (position, high, key), it is Philox 4x32-10 (Salmon, Moraes, Dror and Shaw, SC 2011): its 128-bit
counter is `position` and, above it, `high`; nothing is remembered. Of one array, (state,), it is XORWOW (Marsaglia 2003) with the five
words and the counter that the array holds, which go on by each word that is taken.

What needs more than 128 bits asks for further blocks of its source by their number `t`: Philox adds it to `high`, XORWOW just goes on.
So an element has a stream of its own, and what it becomes depends on no other element.
"""

import numpy as np

_LOW = 0xFFFFFFFF


def _words(source, t=0):
    """Block `t`: 128 bits, as two numbers of 64."""
    if len(source) == 1:
        return _next64(source[0]), _next64(source[0])
    return _philox(source[0], source[1] + np.uint64(t), source[2])


def _bits(source, t=0):
    """The first 64 bits of a block."""
    return _words(source, t)[0]


def _philox(position, high, key):
    """Philox 4x32-10. Words are 32 bits of numbers of 64, so that products are whole; what stands above them is of no account.

    Of two words the first is the upper half of what is given: it takes the least to put them together.
    """
    c0, c1 = position, position >> np.uint64(32)
    c2, c3 = high, high >> np.uint64(32)
    k0, k1 = key, key >> np.uint64(32)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    a, b = _products(c0, c2)
    return b ^ ((c1 ^ k0) << np.uint64(32)), a ^ ((c3 ^ k1) << np.uint64(32))


def _products(c0, c2):
    low = np.uint64(_LOW)
    return (c0 & low) * np.uint64(0xD2511F53), (c2 & low) * np.uint64(0xCD9E8D57)


def _round(c0, c1, c2, c3, k0, k1):
    """The next words, and the key of the next round."""
    a, b = _products(c0, c2)
    c0, c2 = (b >> np.uint64(32)) ^ c1 ^ k0, (a >> np.uint64(32)) ^ c3 ^ k1
    return c0, b, c2, a, k0 + np.uint64(0x9E3779B9), k1 + np.uint64(0xBB67AE85)


def _next32(state):
    """The next word of XORWOW."""
    low = np.uint64(_LOW)
    t = np.uint64(state[0])
    last = np.uint64(state[4])
    t = t ^ (t >> np.uint64(2))
    last = (last ^ (last << np.uint64(4)) ^ t ^ (t << np.uint64(1))) & low
    state[0] = state[1]
    state[1] = state[2]
    state[2] = state[3]
    state[3] = state[4]
    state[4] = np.uint32(last)
    count = (np.uint64(state[5]) + np.uint64(362437)) & low
    state[5] = np.uint32(count)
    return (last + count) & low


def _next64(state):
    low = _next32(state)
    return low | (_next32(state) << np.uint64(32))


def _fill_words(state, found):
    """Writes the next words of XORWOW."""
    for i in range(len(found)):
        found[i] = np.uint32(_next32(state))


def _times(a, b):
    """The product of two numbers of 64 bits: its upper and its lower half."""
    low = np.uint64(_LOW)
    half = np.uint64(32)
    a0, a1, b0, b1 = a & low, a >> half, b & low, b >> half
    p = a0 * b0
    q = a1 * b0 + (p >> half)
    r = a0 * b1 + (q & low)
    return a1 * b1 + (q >> half) + (r >> half), a * b


def _below(source, low, last):
    """A whole number from `low` to `low + last`, which wrap at 64 bits, each as likely as the others.

    After Lemire (ACM Trans. Model. Comput. Simul. 29, 2019): the upper half of the bits' product with the count n of numbers; bits whose
    lower half is one of the 2^64 mod n that would make some numbers likelier than others are drawn anew.
    """
    bits, more = _words(source)
    return low + _scaled(source, bits, more, last)


def _scaled(source, bits, more, last):
    n = last + np.uint64(1)
    upper, lower = _times(bits, n)
    if n == np.uint64(0):
        upper = bits
    elif lower < n:
        least = (np.uint64(0) - n) % n
        t = 0
        spare = True
        while lower < least:
            if spare:
                bits = more
            else:
                t += 1
                bits, more = _words(source, t)
            spare = not spare
            upper, lower = _times(bits, n)
    return upper

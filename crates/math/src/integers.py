"""Integers: common divisors and multiples, roots, and what combinatorics counts. Each text serves every integer type; results wrap at its width.

`_any` in a name: the text is the same for all types.
"""

import numpy as np
from weft import intrinsics


def gcd_any(a, b):
    """Greatest common divisor of unsigned numbers. After J. Stein (J. Comput. Phys. 1, 1967): factors of two go at once, then differences."""
    twos = intrinsics.ctz(a | b)
    if (a != 0) & (b != 0):
        a = a >> intrinsics.ctz(a)
        while b != 0:
            b = b >> intrinsics.ctz(b)
            low = intrinsics.select(a < b, a, b)
            b = intrinsics.select(a < b, b - a, a - b)
            a = low
        a = a << twos
    return a | b


def lcm_any(a, b):
    """Least common multiple of unsigned numbers; 0 if either is 0."""
    d = gcd_any(a, b)
    return intrinsics.select(d == 0, d, a // intrinsics.select(d == 0, d + 1, d) * b)


def isqrt_any(n):
    """Whole part of the square root: that of the nearest float64, put right by one where it is off. 0 for negative numbers."""
    n = np.uint64(intrinsics.select(n > 0, n, n - n))
    r = np.uint64(intrinsics.sqrt(np.float64(n)))
    most = np.uint64(4294967295)
    r = intrinsics.select(r > most, most, r)
    r = intrinsics.select(r * r > n, r - np.uint64(1), r)
    return intrinsics.select((n - r * r > r + r) & (r < most), r + np.uint64(1), r)


def factorial_any(n):
    """Product of the numbers from 1 to n."""
    product = n - n + 1
    i = product
    while i < n:
        i = i + 1
        product = product * i
    return product


def perm_any(n, k):
    """Ways to choose and order k of n things: n (n - 1) ... (n - k + 1); 0 if k > n."""
    product = n - n + 1
    i = k - k
    while (i < k) & (product != 0):
        product = product * (n - i)
        i = i + 1
    return product


def comb_any(n, k):
    """Ways to choose k of n things; 0 if k > n. Exact wherever the result fits: each quotient is taken before its product."""
    k = intrinsics.select((k > n - k) & (k <= n), n - k, k)
    product = n - n + 1
    i = k - k
    while (i < k) & (product != 0):
        factor = n - i
        i = i + 1
        product = product // i * factor + product % i * factor // i
    return product

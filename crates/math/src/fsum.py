"""Sums of many floats, rounded once.

The sum is kept exactly, as a whole number of 2^-1074: in digits of 32 bits, each in an int64, so that 2^30 terms can be added before carries
have to move on. After R. Neal's small superaccumulator ("Fast exact summation using small and large superaccumulators", 2015).
"""

import numpy as np
from weft import intrinsics


def fsum_each(terms):
    """The sum of an array's or a tuple's numbers, rounded once to the nearest float, as Python's fsum. Infinite and NaN terms as added one by one."""
    digits = intrinsics.local_array(69, np.int64)
    _exact_clear(digits)
    special = np.float64(0.0)
    count = 0
    for term in terms:
        special = special + _exact_add(digits, np.float64(term))
        count = count + 1
        if count & 1073741823 == 0:
            _exact_carry(digits)
    return _exact_rounded_each(digits, special)


def sumprod_f64(p, q):
    """The sum of products: each as two floats, which is exact unless it leaves the range of normal numbers, and all of them rounded once."""
    digits = intrinsics.local_array(69, np.int64)
    _exact_clear(digits)
    special = np.float64(0.0)
    count = 0
    for x, y in zip(p, q):
        a = np.float64(x)
        b = np.float64(y)
        product = a * b
        special = special + _exact_add(digits, product)
        if abs(product) < np.inf:
            special = special + _exact_add(digits, intrinsics.fma(a, b, -product))
        count = count + 1
        if count & 536870911 == 0:
            _exact_carry(digits)
    return _exact_rounded_f64(digits, special)


def sumprod_f32(p, q):
    """The sum of products, which are exact in float64, rounded once."""
    digits = intrinsics.local_array(69, np.int64)
    _exact_clear(digits)
    special = np.float64(0.0)
    count = 0
    for x, y in zip(p, q):
        special = special + _exact_add(digits, np.float64(x) * np.float64(y))
        count = count + 1
        if count & 1073741823 == 0:
            _exact_carry(digits)
    return _exact_rounded_f32(digits, special)


def _exact_clear(digits):
    """A sum of nothing. The digit k counts units of 2^(32 (k - 2) - 1074): the two below the least float stay empty and spare the end a test."""
    for k in range(69):
        digits[k] = 0


def _exact_add(digits, x):
    """Adds x to the digits if it is finite and gives 0; otherwise gives x back."""
    bits = intrinsics.bits(x)
    exponent = (bits >> 52) & 2047
    if exponent == 2047:
        return x
    mantissa = bits & 4503599627370495
    if exponent > 0:
        mantissa = mantissa | 4503599627370496
        exponent = exponent - 1
    k = (exponent >> 5) + 2
    shift = exponent & 31
    low = (mantissa & 4294967295) << shift
    high = (mantissa >> 32) << shift
    sign = intrinsics.select(bits < 0, -1, 1)
    digits[k] = digits[k] + sign * (low & 4294967295)
    digits[k + 1] = digits[k + 1] + sign * ((low >> 32) + (high & 4294967295))
    digits[k + 2] = digits[k + 2] + sign * (high >> 32)
    return 0.0


def _exact_carry(digits):
    """Leaves 32 bits in each digit but the last, which has the sign."""
    for k in range(68):
        digit = digits[k]
        digits[k] = digit & 4294967295
        digits[k + 1] = digits[k + 1] + (digit >> 32)


def _exact_magnitude(digits):
    """Makes the sum positive; was it negative?"""
    _exact_carry(digits)
    negative = digits[68] < 0
    if negative:
        for k in range(69):
            digits[k] = -digits[k]
        _exact_carry(digits)
    return negative


def _exact_bits(digits, places, lowest, endless):
    """The bits of the float nearest to a positive sum, ties to even: of so many binary places, the least of which counts 2^(lowest - 1074)."""
    k = 67
    while (k > 2) & (digits[k] == 0):
        k = k - 1
    # The upper 63 bits, the first of them set unless the sum is 0, and what is below them.
    lead = intrinsics.select(digits[k] == 0, 31, intrinsics.clz(digits[k]) - 32)
    upper = (digits[k] << 31) | (digits[k - 1] >> 1)
    lower = ((digits[k - 1] & 1) << 32) | digits[k - 2]
    t = (upper << lead) | (lower >> (33 - lead))
    lost = lower & ((1 << (33 - lead)) - 1)
    for i in range(k - 2):
        lost = lost | digits[i]
    # How far the first bit is above where normal numbers start; if below, fewer places are left.
    above = 32 * (k - 2) + 31 - lead - lowest - (places - 1)
    drop = 63 - places + intrinsics.select(above < 0, -above, 0)
    cut = intrinsics.min(drop, 63)
    q = t >> cut
    rest = t & ((1 << cut) - 1)
    half = 1 << (cut - 1)
    up = (rest > half) | ((rest == half) & ((lost != 0) | (q & 1 != 0)))
    bits = (intrinsics.max(above, 0) << (places - 1)) + q + intrinsics.select(up & (drop < 64), 1, 0)
    far = (digits[68] != 0) | (above + 1 >= endless >> (places - 1))
    return intrinsics.select(far, endless, bits)


def _exact_rounded_f64(digits, special):
    """The sum as a float64; what was not finite decides if there was such a thing."""
    negative = _exact_magnitude(digits)
    y = intrinsics.from_bits(_exact_bits(digits, 53, 0, 9218868437227405312))
    return intrinsics.select(special == 0.0, intrinsics.select(negative, -y, y), special)


def _exact_rounded_f32(digits, special):
    """The sum as a float32; what was not finite decides if there was such a thing."""
    negative = _exact_magnitude(digits)
    y = intrinsics.from_bits(np.int32(_exact_bits(digits, 24, 925, 2139095040)))
    return intrinsics.select(special == 0.0, intrinsics.select(negative, -y, y), np.float32(special))

"""Python's round(x, n): the decimal number with n digits behind the point that is next to x, and the float next to that.

Up to 22 digits the power of ten is a float. Then the product or the rest of the division is exact as two floats, and the quotient or product of the
whole number it gives is rounded once. Beyond, whole numbers of up to 1,100 bits are multiplied and divided by powers of five: digits of 32
bits, each in an int64, the lowest first.
"""

import numpy as np
from weft import intrinsics

TENS = np.array(
    [
        1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ]
)  # fmt: skip


def _ten_to(n):
    """10^n as NumPy computes it: by multiplications, which round from 10^23 on."""
    p = 1.0
    while (n > 0) & (p < np.inf):
        p = p * 10.0
        n = n - 1
    return p


def _round_digits(x, n):
    """x rounded to n digits behind the point, or to tens and so on if n is negative."""
    if (n >= 0) & (n <= 22):
        return _round_after_point(x, TENS[n])
    if (n < 0) & (n >= -22):
        return _round_before_point(x, TENS[-n])
    return _round_far(x, n)


def _round_after_point(x, p):
    """x rounded to whole multiples of 1 / p; p is one of 10^0 to 10^22.

    Where the product reaches 2^53, x is already the float next to its decimal. Below it is a whole number and half of one at the most from that,
    of which both parts of the product know on which side.
    """
    a = abs(x)
    high = a * p
    if not high < 9007199254740992.0:
        return x
    low = intrinsics.fma(a, p, -high)
    q = intrinsics.rint(high)
    t = high - q
    odd = (np.int64(q) & 1) == 1
    more = ((t == 0.5) & (low > 0.0)) | ((low == 0.5) & odd)
    less = ((t == -0.5) & (low < 0.0)) | ((low == -0.5) & odd)
    q = q + intrinsics.select(more, 1.0, intrinsics.select(less, -1.0, 0.0))
    return intrinsics.copysign(q / p, x)


def _round_before_point(x, p):
    """x rounded to whole multiples of p, which is one of 10^1 to 10^22."""
    a = abs(x)
    q = a / p
    if not q < 9007199254740992.0:
        return x
    q = intrinsics.rint(q)
    rest = intrinsics.fma(-q, p, a)
    half = p * 0.5
    odd = (np.int64(q) & 1) == 1
    more = (rest > half) | ((rest == half) & odd)
    less = (rest < -half) | ((rest == -half) & odd)
    q = q + intrinsics.select(more, 1.0, intrinsics.select(less, -1.0, 0.0))
    return intrinsics.copysign(q * p, x)


def _round_far(x, n):
    """x rounded to more than 22 digits on either side of the point."""
    bits = intrinsics.bits(abs(x))
    exponent = bits >> 52
    m = bits & 4503599627370495
    if (exponent == 2047) | (n > 323):
        return x
    if n < -308:
        return 0.0 * x
    if exponent > 0:
        m = m | 4503599627370496
        exponent = exponent - 1
    e = exponent - 1074
    # |x| = m 2^e and log2(10) lies between 3.3219 and 3.322. Where half of 10^-n is less than 2^e / 8, x stays; where |x| is less than
    # half of 10^-n, nothing is left.
    fewest = n * intrinsics.select(n > 0, 33219, 33220)
    most = n * intrinsics.select(n > 0, 33220, 33219)
    if fewest > (2 - e) * 10000:
        return x
    if (e + 53) * 10000 + most < -10000:
        return 0.0 * x
    digits = intrinsics.local_array(36, np.int64)
    q = _round_far_whole(digits, m, e, n)
    if q == 0:
        return 0.0 * x
    return intrinsics.copysign(_round_far_float(digits, q, n), x)


def _round_far_whole(digits, m, e, n):
    """The whole number next to m 2^e 10^n, the even one of two."""
    if n > 0:
        _round_far_set(digits, m, 0)
        _round_far_times(digits, n)
        return _round_far_shifted(digits, -(e + n), 0)
    up = e + n
    up = intrinsics.select(up > 0, up, 0)
    _round_far_set(digits, m, up + 2)
    rest = _round_far_over(digits, -n)
    return _round_far_shifted(digits, up + 2 - (e + n), rest)


def _round_far_float(digits, q, n):
    """The float next to q 10^-n."""
    rest = 0
    up = -n
    if n > 0:
        scale = 64 + (n * 149 >> 6)
        _round_far_set(digits, q, scale)
        rest = _round_far_over(digits, n)
        up = -n - scale
    else:
        _round_far_set(digits, q, 0)
        _round_far_times(digits, -n)
    length = 0
    for k in range(36):
        d = digits[k]
        length = intrinsics.select(d > 0, 32 * k + 32 - (intrinsics.clz(d) - 32), length)
    # 53 bits, or those from 2^-1074 on.
    down = length - 53
    down = intrinsics.select(down + up < -1074, -1074 - up, down)
    return ldexp_f64(np.float64(_round_far_shifted(digits, down, rest)), np.float64(down + up))


def _round_far_set(digits, m, up):
    """The digits of m 2^up."""
    for k in range(36):
        digits[k] = 0
    k = up >> 5
    s = up & 31
    low = (m & 4294967295) << s
    high = ((m >> 32) << s) + (low >> 32)
    digits[k] = low & 4294967295
    digits[k + 1] = high & 4294967295
    digits[k + 2] = high >> 32


def _round_far_times(digits, n):
    """Multiplies by 5^n."""
    while n > 0:
        f = intrinsics.select(n >= 13, 1220703125, 5)
        n = n - intrinsics.select(n >= 13, 13, 1)
        carry = np.int64(0)
        for k in range(36):
            d = digits[k] * f + carry
            digits[k] = d & 4294967295
            carry = d >> 32


def _round_far_over(digits, n):
    """Divides by 5^n; gives 1 where something is left over, else 0."""
    over = np.int64(0)
    while n > 0:
        f = intrinsics.select(n >= 13, 1220703125, 5)
        n = n - intrinsics.select(n >= 13, 13, 1)
        rest = np.int64(0)
        for k in range(36):
            d = (rest << 32) | digits[35 - k]
            q = d // f
            rest = d - q * f
            digits[35 - k] = q
        over = intrinsics.select(rest > 0, 1, over)
    return over


def _round_far_shifted(digits, down, rest):
    """The digits over 2^down, at least 1, as the next whole number, the even one of two. It has less than 60 bits; `rest` says that something follows."""
    k = down >> 5
    s = down & 31
    q = (digits[k] >> s) | (digits[k + 1] << (32 - s))
    if s > 0:
        q = q | (digits[k + 2] << (64 - s))
    half = down - 1
    j = half >> 5
    bit = (digits[j] >> (half & 31)) & 1
    below = digits[j] & ((1 << (half & 31)) - 1)
    for i in range(36):
        below = below | intrinsics.select(i < j, digits[i], 0)
    more = (bit == 1) & ((below != 0) | (rest != 0) | ((q & 1) == 1))
    return q + intrinsics.select(more, 1, 0)

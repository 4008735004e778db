"""Polynomials as rows of coefficients, the highest power first; and rows without the zeros at their ends."""

import numpy as np

from weft.language import Static, float_type, refuse, unrolled

from .joining import concatenate
from .signals import convolve

# What `trim_zeros` takes.
_ENDS = ("f", "b", "fb", "bf", "F", "B", "FB", "BF", "Fb", "fB", "Bf", "bF")


def polyval(p, x):
    """The values of a polynomial at `x`, by Horner's rule.

    >>> np.polyval(np.array([3, 0, 1]), np.array([0, 1, 2]))
    array([ 1,  4, 13])
    """
    p = _row(p)
    if isinstance(x, (tuple, np.ndarray)):
        x = np.asarray(x)
        values = np.zeros(x.shape, np.result_type(p.dtype, x.dtype))
        for i in range(len(p)):
            values[...] = values * x + p[i]
        return values
    dtype = np.result_type(p.dtype, np.result_type(x))
    value = dtype.type(0)
    for i in range(len(p)):
        value = dtype.type(value * dtype.type(x) + dtype.type(p[i]))
    return value


def _row(p):
    p = np.asarray(p)
    if p.ndim > 1:
        refuse("polynomials are rows of coefficients")
    return p.reshape(1) if p.ndim == 0 else p


def polyadd(a1, a2):
    """The sum of two polynomials.

    >>> np.polyadd(np.array([1, 2]), np.array([9, 5, 4]))
    array([9, 6, 6])
    """
    a1, a2 = _row(a1), _row(a2)
    n = max(len(a1), len(a2))
    return _behind_zeros(a1, n) + _behind_zeros(a2, n)


def polysub(a1, a2):
    """The difference of two polynomials.

    >>> np.polysub(np.array([2, 10, -2]), np.array([3, 10, -4]))
    array([-1,  0,  2])
    """
    a1, a2 = _row(a1), _row(a2)
    n = max(len(a1), len(a2))
    return _behind_zeros(a1, n) - _behind_zeros(a2, n)


def _behind_zeros(a, n):
    """Coefficients with zeros in front of them, so many in all."""
    row = np.zeros(n, a.dtype)
    row[n - len(a) :] = a
    return row


def polymul(a1, a2):
    """The product of two polynomials, without zeros in front of them.

    >>> np.polymul(np.array([1, 2, 3]), np.array([9, 5, 1]))
    array([ 9, 23, 38, 17,  3])
    """
    return convolve(_without_zeros(_row(a1)), _without_zeros(_row(a2)))


def _without_zeros(a):
    """Coefficients from the first that is not zero, or one zero."""
    first = 0
    while first < len(a) and a[first] == 0:
        first += 1
    return np.zeros(1, a.dtype) if first == len(a) else a[first:].copy()


def polydiv(u, v):
    """The quotient and the remainder of two polynomials.

    >>> np.polydiv(np.array([3.0, 5.0, 2.0]), np.array([2.0, 1.0]))
    (array([1.5 , 1.75]), array([0.25]))
    """
    u, v = _row(u), _row(v)
    if len(u) == 0 or len(v) == 0:
        raise IndexError("index 0 is out of bounds for axis 0 with size 0")
    dtype = np.result_type(float_type(u.dtype), float_type(v.dtype))
    v = v.astype(dtype)
    rest = u.astype(dtype)
    n = len(v)
    scale = dtype.type(1.0 / v[0])
    quotient = np.zeros(max(len(rest) - n + 1, 1), dtype)
    for k in range(len(rest) - n + 1):
        factor = dtype.type(scale * rest[k])
        quotient[k] = factor
        rest[k : k + n] -= factor * v
    first = 0
    while first < len(rest) - 1 and abs(rest[first]) <= 1e-8:
        first += 1
    return quotient, rest[first:]


def polyder(p, m: Static = 1):
    """The derivative of a polynomial, taken `m` times.

    >>> np.polyder(np.array([1, 1, 1, 1]))
    array([3, 2, 1])
    """
    p = np.asarray(p)
    if p.ndim != 1:
        refuse("polynomials are rows of coefficients")
    if m < 0:
        refuse("the order of a derivative is not negative: see polyint")
    for i in unrolled(range(m)):
        p = p[:-1] * np.arange(len(p) - 1, 0, -1)
    return p


def polyint(p, m: Static = 1, k=None):
    """The integral of a polynomial, taken `m` times; `k` is the constant of all integrals, or a row of those of each.

    >>> np.polyint(np.array([1.0, 1.0, 1.0]))
    array([0.33333333, 0.5       , 1.        , 0.        ])
    """
    p = np.asarray(p)
    if p.ndim != 1:
        refuse("polynomials are rows of coefficients")
    if m < 0:
        refuse("the order of an integral is not negative: see polyder")
    constants = np.zeros(m) if k is None else _row(k)
    if len(constants) < m and len(constants) != 1:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    for i in unrolled(range(m)):
        at = i if len(constants) > 1 else 0
        constant = constants[at : at + 1]
        if m > 1 and k is not None:
            # One for all is made a row of floats.
            constant = constant * np.ones(1) if len(constants) == 1 else constant + np.zeros(1)
        p = concatenate((p / np.arange(len(p), 0, -1), constant))
    return p


def trim_zeros(filt, trim: Static = "fb"):
    """A view of a row without zeros at its front ("f"), its back ("b") or both.

    >>> np.trim_zeros(np.array([0, 1, 2, 0]))
    array([1, 2])
    """
    row = np.asarray(filt)
    if row.ndim != 1:
        refuse("trim_zeros takes a row")
    if trim not in _ENDS:
        refuse(f"unexpected character(s) in trim: '{trim}'")
    first, last = 0, len(row)
    while first < last and row[first] == 0:
        first += 1
    if first == last:
        return row[:0]
    while row[last - 1] == 0:
        last -= 1
    return row[first if "f" in trim or "F" in trim else 0 : last if "b" in trim or "B" in trim else len(row)]

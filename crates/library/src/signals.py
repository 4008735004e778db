"""Convolution and correlation of one-dimensional arrays."""

import numpy as np

from weft.language import Static, for_numba, refuse

# So many sums are made at a time, so that they stay in the fastest memory.
_BLOCK = 1024


def convolve(a, v, mode: Static = "full"):
    """The sums of the products of one row with the parts of another in reverse: wherever they overlap, as many as the longer one has
    (`mode="same"`), or where they overlap as a whole ("valid").

    >>> np.convolve(np.array([1, 2, 3]), np.array([0, 1, 2]))
    array([0, 1, 4, 7, 6])
    """
    a, v = _rows_of(a, v)
    if len(v) > len(a):
        return _slide(v, a[::-1], mode)
    return _slide(a, v[::-1], mode)


def correlate(a, v, mode: Static = "valid"):
    """The sums of the products of one row with the parts of another, which is conjugated: where they overlap as a whole, as many as the
    longer one has (`mode="same"`), or wherever they overlap ("full").

    >>> np.correlate(np.array([1, 2, 3]), np.array([0, 1, 2]), "full")
    array([2, 5, 8, 3, 0])
    """
    if np.ndim(a) == 0 or np.ndim(v) == 0:
        refuse("correlate takes arrays of one axis")
    a, v = _rows_of(a, v)
    if for_numba() and a.dtype.kind == "b":
        refuse("Numba correlates bools as int8: convert them with .astype(np.int8)")
    if v.dtype.kind == "c":
        v = np.asarray(np.conj(v))
    if len(v) > len(a):
        return _slide(v, a, mode)[::-1].copy()
    return _slide(a, v, mode)


def _rows_of(a, v):
    a = np.asarray(a)
    v = np.asarray(v)
    if a.ndim > 1 or v.ndim > 1:
        refuse("convolve and correlate take arrays of one axis")
    a = a.reshape(1) if a.ndim == 0 else a
    v = v.reshape(1) if v.ndim == 0 else v
    if len(a) == 0:
        raise ValueError("a cannot be empty")
    if len(v) == 0:
        raise ValueError("v cannot be empty")
    return a, v


def _slide(a, v, mode: Static):
    """The sums of the products of a row with the parts of one that is as long or longer, in order."""
    dtype = np.result_type(a, v)
    n, m = len(a), len(v)
    if mode == "full":
        before, behind = m - 1, m - 1
    elif mode == "same":
        before, behind = m // 2, m - m // 2 - 1
    elif mode == "valid":
        before, behind = 0, 0
    else:
        refuse(f"mode must be 'full', 'same' or 'valid', not '{mode}'")
    whole = n - m + 1
    sums = np.zeros(before + whole + behind, dtype)
    long = np.asarray(a, dtype)
    for i in range(before):
        for j in range(before - i, m):
            sums[i] += long[i - before + j] * dtype.type(v[j])
    for start in range(0, whole, _BLOCK):
        stop = min(start + _BLOCK, whole)
        part = sums[before + start : before + stop]
        for j in range(0, m - 3, 4):
            f0, f1, f2, f3 = dtype.type(v[j]), dtype.type(v[j + 1]), dtype.type(v[j + 2]), dtype.type(v[j + 3])
            x0, x1 = long[start + j : stop + j], long[start + j + 1 : stop + j + 1]
            x2, x3 = long[start + j + 2 : stop + j + 2], long[start + j + 3 : stop + j + 3]
            for i in range(stop - start):
                part[i] += x0[i] * f0 + x1[i] * f1 + x2[i] * f2 + x3[i] * f3
        for j in range(m - m % 4, m):
            factor = dtype.type(v[j])
            x = long[start + j : stop + j]
            for i in range(stop - start):
                part[i] += x[i] * factor
    for i in range(behind):
        for j in range(m - 1 - i):
            sums[before + whole + i] += long[whole + i + j] * dtype.type(v[j])
    return sums

"""Comparison of whole arrays: whether two are equal, or nearly."""

import numpy as np

from weft.language import Static, unrolled


def array_equal(a1, a2, equal_nan: Static = False):
    """Whether two arrays have the same shape and the same elements. With `equal_nan` NaN is the same as NaN.

    >>> np.array_equal(np.array([1, 2]), np.array([1, 2]))
    True
    """
    a1 = _given(a1)
    a2 = _given(a2)
    if a1.ndim != a2.ndim:
        return False
    for i in unrolled(range(a1.ndim)):
        if a1.shape[i] != a2.shape[i]:
            return False
    return _same(a1, a2, equal_nan)


def array_equiv(a1, a2):
    """Whether two arrays have the same elements once they are broadcast to one shape; not if there is no such shape.

    >>> np.array_equiv(np.array([1, 1]), np.array([[1], [1]]))
    True
    """
    a1 = _given(a1)
    a2 = _given(a2)
    for i in unrolled(range(1, min(a1.ndim, a2.ndim) + 1)):
        n1 = a1.shape[a1.ndim - i]
        n2 = a2.shape[a2.ndim - i]
        if n1 != n2 and n1 != 1 and n2 != 1:
            return False
    return _same(a1, a2, False)


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan: Static = False):
    """Whether all elements differ by no more than `atol + rtol * abs(b)`. With `equal_nan` NaN is close to NaN.

    >>> np.allclose(np.array([1.0, 2.0]), np.array([1.0, 2.00001]))
    True
    """
    # Python's numbers stay weak: they take the type of what they are compared with.
    if not isinstance(a, (int, float, complex)):
        a = _given(a)
    if not isinstance(b, (int, float, complex)):
        b = _given(b)
    if b.dtype.kind in "biu":
        # Of the smallest integer there is no size: integers are compared as floats.
        return bool(np.all((np.abs(a - b * 1.0) <= atol + rtol * np.abs(b * 1.0)) | (a == b * 1.0)))
    if equal_nan:
        return bool(np.all((np.abs(a - b) <= atol + rtol * np.abs(b)) & np.isfinite(b) | (a == b) | np.isnan(a) & np.isnan(b)))
    return bool(np.all((np.abs(a - b) <= atol + rtol * np.abs(b)) & np.isfinite(b) | (a == b)))


def _given(a):
    """A number as NumPy's, anything else as an array."""
    if isinstance(a, (bool, int, float, complex, np.generic)):
        return a.dtype.type(a)
    return np.asarray(a)


def _same(a, b, equal_nan: Static):
    if equal_nan and a.dtype.kind in "fc" and b.dtype.kind in "fc":
        return bool(np.all((a == b) | np.isnan(a) & np.isnan(b)))
    return bool(np.all(a == b))

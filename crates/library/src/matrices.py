"""Matrices made from vectors, and their diagonals and triangles."""

import numpy as np

from weft.language import Static


def outer(a, b, out=None):
    """The products of every element of one array with every element of another; both are taken as one row.

    >>> np.outer(np.array([1, 2]), np.array([3, 4]))
    array([[3, 4],
           [6, 8]])
    """
    column = np.ravel(a).reshape((-1, 1))
    row = np.ravel(b)
    if out is None:
        return column * row
    out[...] = column * row
    return out


def eye(N, M=None, k=0, dtype: Static = np.float64):
    """Ones on a diagonal, zeros elsewhere.

    >>> np.eye(2, 3, 1)
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    columns = N if M is None else M
    a = np.zeros((N, columns), dtype)
    for i in range(max(0, -k), min(N, columns - k)):
        a[i, i + k] = 1
    return a

"""Sparse matrices that are made of nothing else."""

from __future__ import annotations

from typing import Any

import weft
from weft.scipy.sparse.matrices import coo_matrix, spmatrix


def eye(m: int, n: int | None = None, k: int = 0, dtype: Any = float, format: str | None = None) -> spmatrix:
    """Ones on a diagonal, counted from the one in the middle. ValueError for one outside of the matrix.

    >>> weft.scipy.sparse.eye(2, 3, k=1).toarray()
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    n = m if n is None else n
    if min(m + k, n - k) < 0:
        raise ValueError(f"Offset {k} (index 0) out of bounds")
    first, count = max(-k, 0), max(min(m + min(k, 0), n - max(k, 0)), 0)
    rows = weft.arange(first, first + count, dtype="int32")
    made = coo_matrix((weft.ones(count, dtype), (rows, rows + k)), (m, n))
    return made.asformat(format or "csr")


def identity(n: int, dtype: Any = float, format: str | None = None) -> spmatrix:
    """Ones on the diagonal of a square.

    >>> weft.scipy.sparse.identity(2).toarray()
    array([[1., 0.],
           [0., 1.]])
    """
    return eye(n, dtype=dtype, format=format)

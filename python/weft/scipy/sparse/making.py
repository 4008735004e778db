"""Sparse matrices that are made of nothing else."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

import weft
from weft.scipy.sparse.checking import shape_of
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


def vstack(blocks: Sequence[Any], format: str | None = None, dtype: Any = None) -> spmatrix:
    """Sparse matrices below each other; ValueError if they are not equally wide.

    >>> weft.scipy.sparse.vstack([weft.scipy.sparse.eye(1, 2), weft.scipy.sparse.eye(1, 2)]).toarray()
    array([[1., 0.],
           [1., 0.]])
    """
    return _stacked(blocks, 0, format, dtype)


def hstack(blocks: Sequence[Any], format: str | None = None, dtype: Any = None) -> spmatrix:
    """Sparse matrices beside each other; ValueError if they are not equally high.

    >>> weft.scipy.sparse.hstack([weft.scipy.sparse.eye(2), weft.scipy.sparse.eye(2)]).toarray()
    array([[1., 0., 1., 0.],
           [0., 1., 0., 1.]])
    """
    return _stacked(blocks, 1, format, dtype)


def _stacked(blocks: Sequence[Any], axis: int, format: str | None, dtype: Any) -> spmatrix:
    parts = [each if isinstance(each, spmatrix) else coo_matrix(each) for each in blocks]
    if not parts:
        raise ValueError("blocks must be 2-D")
    other = 1 - axis
    if len({each.shape[other] for each in parts}) > 1:
        shapes = ", ".join(str(each.shape) for each in parts)
        raise ValueError(f"matrices of the shapes {shapes} do not fit {'beside' if axis else 'below'} each other")
    natural = np.result_type(*(each.dtype for each in parts))
    kind = natural if dtype is None else np.dtype(dtype)
    triples = [each.tocoo() for each in parts]
    # In Python's integers: of several that are nearly 2**63 wide the last would begin before the first.
    starts = list(itertools.accumulate((each.shape[axis] for each in parts), initial=0))
    shape = [parts[0].shape[other]] * 2
    shape[axis] = starts[-1]
    found = shape_of(shape)
    places = [[each.row, each.col] for each in triples]
    for place, start in zip(places, starts):
        place[axis] = place[axis].astype(np.int64) + start
    row, column = (weft.concatenate([place[at].astype(np.int64) for place in places]) for at in (0, 1))
    alike = {each.format for each in parts} == {parts[0].format} and format in (None, parts[0].format)
    data = weft.concatenate([each.data.astype(natural if alike else kind, copy=False) for each in triples])
    if alike:
        # Elements of one place stay several.
        return parts[0]._of_part(found, row, column, data).astype(kind, copy=False)
    return coo_matrix._of(found, row, column, data).asformat(format)

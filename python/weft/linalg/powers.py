"""Products of several matrices."""

from __future__ import annotations

import operator
from typing import Any

from weft._weft import ndarray
from weft.arrays._common import array_of, beside, given, stretched
from weft.arrays.creation import eye
from weft.arrays.products import dot, matmul

from ._routines import LinAlgError
from .systems import inv


def matrix_power(a: Any, n: Any) -> ndarray:
    """Square matrices (..., m, m) to a whole power, by repeated squaring; their inverses to the opposite one if it is negative.

    >>> weft.linalg.matrix_power(weft.asarray([[0, 1], [-1, 0]]), 3)
    array([[ 0, -1],
           [ 1,  0]])
    """
    a = array_of(a)
    if a.ndim < 2:
        raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be at least two-dimensional")
    if a.shape[-1] != a.shape[-2]:
        raise LinAlgError("Last 2 dimensions of the array must be square")
    try:
        n = operator.index(n)
    except TypeError as error:
        raise TypeError("exponent must be an integer") from error
    if n == 0:
        one = eye(a.shape[-1], dtype=a.dtype, device=a.device)
        return stretched(one, a.shape).copy()
    if n < 0:
        a, n = inv(a), -n
    found = None
    while True:
        if n & 1:
            found = a if found is None else matmul(found, a)
        n >>= 1
        if not n:
            return found.copy() if found is a else found
        a = matmul(a, a)


def multi_dot(arrays: Any, *, out: Any = None) -> ndarray:
    """The product of a chain of matrices, in the order that takes the fewest multiplications. The first may be a row, the last a column.

    By dynamic programming over the chain (Cormen, Leiserson, Rivest and Stein, Introduction to Algorithms, 15.2).

    >>> weft.linalg.multi_dot([weft.ones((2, 9)), weft.ones((9, 1)), weft.ones((1, 9))]).shape
    (2, 9)
    """
    arrays = list(arrays)
    chain = [beside(a, *arrays) for a in arrays]
    if len(chain) < 2:
        raise ValueError("Expecting at least two arrays.")
    is_row, is_column = chain[0].ndim == 1, chain[-1].ndim == 1
    if len(chain) == 2:
        return given(dot(chain[0], chain[1]), out, "no")
    if is_row:
        chain[0] = chain[0][None, :]
    if is_column:
        chain[-1] = chain[-1][:, None]
    for a in chain:
        if a.ndim != 2:
            raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be two-dimensional")
    found = _product(chain, _splits([a.shape[0] for a in chain] + [chain[-1].shape[1]]), 0, len(chain) - 1)
    found = found[0] if is_row else found
    found = found[..., 0] if is_column else found
    return given(found, out, "no")


def _splits(lengths: list[int]) -> list[list[int]]:
    """Behind which matrix the part of the chain from i to j is best split."""
    n = len(lengths) - 1
    cost = [[0] * n for _ in range(n)]
    split = [[0] * n for _ in range(n)]
    for span in range(1, n):
        for i in range(n - span):
            j = i + span
            costs = [cost[i][k] + cost[k + 1][j] + lengths[i] * lengths[k + 1] * lengths[j + 1] for k in range(i, j)]
            cost[i][j] = min(costs)
            split[i][j] = i + costs.index(cost[i][j])
    return split


def _product(chain: list[ndarray], split: list[list[int]], i: int, j: int) -> ndarray:
    if i == j:
        return chain[i]
    k = split[i][j]
    return dot(_product(chain, split, i, k), _product(chain, split, k + 1, j))

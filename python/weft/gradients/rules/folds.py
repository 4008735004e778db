"""Cotangents of elements that were combined along axes: sums, products, extremes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from weft._weft import _broadcast, _cast, _fold, _full, _permute, _reshape, _ufunc, ndarray
from weft.errors import GradientError

__all__ = ["pulled_back"]


def pulled_back(name: str, cotangent: ndarray, result: ndarray, of: ndarray, axes: Sequence[int]) -> ndarray:
    """The cotangent of what was folded by a ufunc along some axes."""
    rule = _RULES.get(name)
    if rule is None:
        raise GradientError(f"elements that are folded by {name} have no gradient here")
    return rule(cotangent, result, of, axes)


def _over(x: ndarray, of: ndarray, axes: Sequence[int]) -> ndarray:
    """What was folded, along all axes again."""
    ones = set(axes)
    kept = _reshape(x, tuple(1 if axis in ones else n for axis, n in enumerate(of.shape)))
    return _broadcast(kept, of.shape)


def _of_sum(cotangent: ndarray, result: ndarray, of: ndarray, axes: Sequence[int]) -> ndarray:
    return _over(cotangent, of, axes)


def _of_product(cotangent: ndarray, result: ndarray, of: ndarray, axes: Sequence[int]) -> ndarray:
    kept = [axis for axis in range(of.ndim) if axis not in axes]
    order = [*kept, *axes]
    turned = _permute(of, order)
    count = math.prod(of.shape[axis] for axis in axes)
    rows = _reshape(turned, (*(of.shape[axis] for axis in kept), count))
    others = _reshape(_of_the_others(rows), turned.shape)
    back = sorted(range(of.ndim), key=order.__getitem__)
    return _ufunc("multiply", (_over(cotangent, of, axes), _permute(others, back)), None)


def _of_the_others(rows: ndarray) -> ndarray:
    """For each element of a row the product of all others: no quotient, so that zeros are no exception, at any order.

    Halves are multiplied with each other going up a tree, and with what stands beside them going down.
    """
    n = rows.shape[-1]
    size = 1 << (n - 1).bit_length() if n > 1 else 1
    front = rows.shape[:-1]
    level = rows
    if size != n:
        level = _full((*front, size), 1, rows.dtype, rows.device)
        level[..., :n] = rows
    levels = []
    while level.shape[-1] > 1:
        pairs = _reshape(level, (*front, level.shape[-1] // 2, 2))
        levels.append(pairs)
        level = _ufunc("multiply", (pairs[..., 0], pairs[..., 1]), None)
    beside = _full((*front, 1), 1, rows.dtype, rows.device)
    for pairs in reversed(levels):
        made = _full(pairs.shape, 0, rows.dtype, rows.device)
        made[..., 0] = _ufunc("multiply", (beside, pairs[..., 1]), None)
        made[..., 1] = _ufunc("multiply", (beside, pairs[..., 0]), None)
        beside = _reshape(made, (*front, pairs.shape[-2] * 2))
    return beside[..., :n]


def _of_extreme(cotangent: ndarray, result: ndarray, of: ndarray, axes: Sequence[int]) -> ndarray:
    """Elements that are the extreme share its cotangent."""
    is_it = _cast(_ufunc("equal", (of, _over(result, of, axes)), None), of.dtype)
    share = _ufunc("divide", (cotangent, _fold("add", is_it, list(axes))), None)
    return _ufunc("multiply", (_over(share, of, axes), is_it), None)


_RULES: dict[str, Callable[[ndarray, ndarray, ndarray, Sequence[int]], ndarray]] = {
    "add": _of_sum,
    "multiply": _of_product,
    "maximum": _of_extreme,
    "minimum": _of_extreme,
    "fmax": _of_extreme,
    "fmin": _of_extreme,
}

"""Cotangents of products of matrices."""

from __future__ import annotations

from typing import Any

from weft._weft import _cast, _permute, _reshape, ndarray
from weft.arrays.products import lies_turned, matrices, matrices_with_rule
from weft.gradients.sweep import unstretched


def turned(a: ndarray) -> ndarray:
    """Matrices with their last two axes turned around."""
    return _permute(a, (*range(a.ndim - 2), a.ndim - 1, a.ndim - 2))


@matrices_with_rule.defvjp
def _(cotangent: ndarray, result: ndarray, a: ndarray, b: ndarray) -> tuple[ndarray, ndarray]:
    # The cotangent of what is a turned view is made as a turned one, too: nothing has to be moved to turn it back.
    of_a = turned(matrices(b, turned(cotangent))) if lies_turned(a) else matrices(cotangent, turned(b))
    of_b = turned(matrices(turned(cotangent), a)) if lies_turned(b) else matrices(turned(a), cotangent)
    return fitted(of_a, a), fitted(of_b, b)


def fitted(cotangent: ndarray, value: ndarray) -> ndarray:
    """A cotangent in the shape and the dtype of its value, which was broadcast and cast."""
    found = unstretched(cotangent, value.shape)
    if found.dtype.kind == "c" and value.dtype.kind != "c":
        found = found.real
    return found if found.dtype == value.dtype else _cast(found, value.dtype)


@matrices_with_rule.defbatched
def _(call: Any, operands: list[ndarray | None], count: int) -> list[ndarray]:
    """The new axis is one more axis in front of the matrices."""
    rank = max(array.ndim for array in call.arrays)
    made = []
    for operand, array in zip(operands, call.arrays):
        if operand is None:
            made.append(array)
        else:
            made.append(_reshape(operand, (count, *[1] * (rank - array.ndim), *array.shape)))
    return [matrices(*made)]

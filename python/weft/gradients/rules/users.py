"""Cotangents of functions of numbers that `vectorize` compiles: the derivatives are functions of numbers, too, and fuse as these do."""

from __future__ import annotations

from typing import Any

from weft._weft import ndarray
from weft.errors import GradientError

__all__ = ["know", "pulled_back"]

# By the number of the operation: what has it. A process has so many functions of users.
_KNOWN: dict[int, Any] = {}


def know(number: int, ufunc: Any) -> None:
    """Notes whose operation a number is."""
    _KNOWN.setdefault(number, ufunc)


def pulled_back(operation: int, number: int, cotangent: ndarray, result: ndarray, args: list[ndarray]) -> ndarray | None:
    """The cotangent of an operand of a user's function; none if it is no float."""
    if args[number].dtype.kind not in "fcV":
        return None
    ufunc = _KNOWN.get(operation)
    if ufunc is None:
        raise GradientError("a function of numbers that was recorded before the tape began has no gradient")
    rule = getattr(ufunc, "vjp_rule", None)
    if rule is not None:
        return rule(cotangent, result, *args)[number]
    return ufunc.pullback(number)(*args, cotangent)

"""The keyword `axes` of NumPy's generalised ufuncs: which axes of each operand are multiplied and summed, its core, and where the result
has its own."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from weft._weft import _permute, ndarray

from ._common import axis_of

Core = tuple[int, ...]


def operands_with_cores_last(
    function: str, arrays: list[ndarray], cores: tuple[int, ...], axes: Any, *, keepdims: bool | None = None
) -> tuple[list[ndarray], Core | None]:
    """The operands with the axes of their cores last, and those of the result's core, or None where none were named.

    `cores` says how many axes the core of each operand has, and of the result. Functions whose result has none pass `keepdims`, with
    which it has one all the same; it need not be named. TypeError where `axes` is no list of tuples, ValueError
    where it has another number of items or an axis twice, AxisError for axes that are not there.
    """
    if not isinstance(axes, list):
        raise TypeError("axes should be a list.")
    if len(axes) != len(cores) and (keepdims is None or len(axes) != len(arrays)):
        raise ValueError(
            f"axes should be a list with an entry for all {len(cores)} inputs and outputs; entries for outputs can only be omitted if none "
            "of them has core axes."
        )
    cores = (*cores[:-1], 1) if keepdims else cores
    rank = max(a.ndim - core for a, core in zip(arrays, cores)) + cores[-1]
    found = [_core(function, at, item, cores[at]) for at, item in enumerate(axes)]
    ranks = [*(a.ndim for a in arrays), rank]
    found = [_checked(at, core, ranks[at]) for at, core in enumerate(found)]
    moved = [_permute(a, (*(i for i in range(a.ndim) if i not in core), *core)) for a, core in zip(arrays, found)]
    return moved, found[len(arrays)] if len(found) > len(arrays) else None


def with_core_at(result: ndarray, core: Core | None) -> ndarray:
    """A result whose core is in the last axes, with it at those that were named."""
    if not core:
        return result
    front = result.ndim - len(core)
    sources = dict(zip(core, range(front, result.ndim)))
    rest = iter(range(front))
    return _permute(result, tuple(sources[at] if at in sources else next(rest) for at in range(result.ndim)))


def _core(function: str, at: int, item: Any, count: int) -> Core:
    """An item of `axes` as a tuple: of one axis it may be the number."""
    if isinstance(item, tuple):
        if len(item) != count:
            raise np.exceptions.AxisError(
                f"{function}: operand {at} has {count} core dimensions, but {len(item)} dimensions are specified by axes tuple."
            )
        return item
    try:
        number = operator.index(item)
    except TypeError as error:
        raise TypeError(f"{function}: axes item {at} should be a tuple.") from error
    if count != 1:
        raise np.exceptions.AxisError(f"{function}: operand {at} has {count} core dimensions, but the axes item is a single integer.")
    return (number,)


def _checked(at: int, core: Core, rank: int) -> Core:
    """The axes counted from the front, each of them once."""
    found: list[int] = []
    for axis in core:
        number = axis_of(operator.index(axis), rank)
        if number in found:
            raise ValueError(f"axes item {at} has value {number} repeated")
        found.append(number)
    return tuple(found)

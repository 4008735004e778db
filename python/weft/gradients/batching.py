"""`vmap`: a function of single values, for many of them at once.

The function is run once, for values of which there is nothing but a shape, while a tape takes down what is made of them. What was taken
down is then made again of all values at once, which lie along a first axis.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft._weft import _broadcast, _full, _reshape, _tape_place, ndarray
from weft.gradients.sweep import taken_down
from weft.gradients.trees import flatten, unflatten

__all__ = ["vmap"]


def vmap(function: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0, axis_size: int | None = None) -> Callable[..., Any]:
    """A function of arrays with one more axis than those that a function takes, along which it is applied to each, as `jax.vmap`.

    `in_axes` says which axis that is, for all arguments or for each of them in a tuple (a tree like the argument, or an axis for all of
    it); `None` is an argument that is the same for all. `out_axes` says where the axis is in the results. Nobody can look at elements
    inside: a function that decides by them raises `CaptureError`. ValueError for axes of different lengths.

    >>> weft.vmap(lambda x, y: (x * y).sum())(weft.ones((3, 2)), weft.arange(6.0).reshape(3, 2))
    array([1., 5., 9.])
    """

    @functools.wraps(function)
    def batched(*args: Any, **keywords: Any) -> Any:
        leaves, spec = flatten((args, keywords))
        axes = _axes(in_axes, args, keywords)
        arrays, places = [], []
        for at, (leaf, axis) in enumerate(zip(leaves, axes)):
            if axis is not None:
                places.append(at)
                arrays.append(_first(leaf, axis))
        count = _count(arrays, axis_size)
        examples = [_full(array.shape[1:], 0, array.dtype, array.device) for array in arrays]

        def call(followed: list[ndarray]) -> tuple[list[ndarray], Any, list[Any]]:
            row = list(leaves)
            for at, each in zip(places, followed):
                row[at] = each
            own_args, own_keywords = unflatten(spec, row)
            results, outer = flatten(function(*own_args, **own_keywords))
            results = [_result(each) for each in results]
            return results, outer, [_tape_place(each) for each in results]

        (results, outer, found), tape = taken_down(examples, True, call)
        values = _forward(tape, arrays, count, found)
        made = []
        for place, result in zip(found, results):
            made.append(values[place] if place is not None else _broadcast(result, (count, *result.shape)))
        to = _spread(out_axes, unflatten(outer, made), "out_axes")
        return unflatten(outer, [_moved(each, axis) for each, axis in zip(made, to)])

    return batched


def _axes(in_axes: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> list[int | None]:
    """The axis of each leaf."""
    if isinstance(in_axes, (tuple, list)):
        if len(in_axes) != len(args):
            raise ValueError(
                "vmap in_axes must be an int, None, or a tuple of entries corresponding to the positional arguments passed to the "
                f"function, but got len(in_axes)={len(in_axes)}, len(args)={len(args)}"
            )
        found = [axis for part, arg in zip(in_axes, args) for axis in _spread(part, arg, "in_axes")]
    else:
        found = [axis for arg in args for axis in _spread(in_axes, arg, "in_axes")]
    return found + [0 for _ in flatten(keywords)[0]]


def _spread(axes: Any, tree: Any, what: str) -> list[int | None]:
    """An axis for each leaf of a tree, from one for all, or from a tree that begins as this one does."""
    if axes is None or isinstance(axes, int):
        return [axes] * len(flatten(tree)[0])
    if isinstance(axes, dict) and isinstance(tree, dict) and set(axes) == set(tree):
        return [axis for key in _keys(tree) for axis in _spread(axes[key], tree[key], what)]
    if isinstance(axes, (tuple, list)) and isinstance(tree, (tuple, list)) and len(axes) == len(tree):
        return [axis for part, each in zip(axes, tree) for axis in _spread(part, each, what)]
    raise ValueError(f"vmap {what} is no tree that begins as the {'result' if what == 'out_axes' else 'argument'}: {axes}")


def _keys(tree: dict[Any, Any]) -> tuple[Any, ...]:
    return flatten(tree)[1][1]


def _first(leaf: Any, axis: int) -> ndarray:
    """An argument with the axis in front."""
    from weft.arrays._common import array_of, axis_of
    from weft.arrays.shapes import moveaxis

    if not isinstance(leaf, (ndarray, np.ndarray)):
        raise ValueError(f"vmap takes arrays along an axis, and not a {type(leaf).__name__}: in_axes=None is for what is the same for all")
    made = array_of(leaf)
    if made.ndim == 0:
        raise ValueError(
            "vmap was requested to map its argument along axis 0, which implies that its rank should be at least 1, but is only 0"
        )
    axis = axis_of(axis, made.ndim)
    return made if axis == 0 else moveaxis(made, axis, 0)


def _result(given: Any) -> ndarray:
    """What a function gives, as an array: numbers are the same for all."""
    from weft.arrays._common import array_of

    if not isinstance(given, (ndarray, np.ndarray, np.generic, bool, int, float, complex)):
        raise TypeError(f"a function that vmap is given returns arrays and numbers, and not a {type(given).__name__}")
    return array_of(given)


def _count(arrays: Sequence[ndarray], axis_size: int | None) -> int:
    counts = sorted({array.shape[0] for array in arrays} | ({axis_size} if axis_size is not None else set()))
    if not counts:
        raise ValueError("vmap must have at least one non-None value in in_axes, or an axis_size")
    if len(counts) > 1:
        raise ValueError(f"vmap got inconsistent sizes for array axes to be mapped: {', '.join(map(str, counts))}")
    return counts[0]


def _moved(value: ndarray, axis: int | None) -> ndarray:
    from weft.arrays.shapes import moveaxis

    if axis is None:
        raise ValueError("vmap has a batch in each of its results: out_axes=None is not supported")
    return value if axis == 0 else moveaxis(value, 0, axis)


def _forward(tape: Any, arrays: Sequence[ndarray], count: int, wanted: Sequence[int | None]) -> dict[int, ndarray]:
    """What was taken down, of all values at once: an array for each place that wanted ones are made of."""
    values = dict(zip(tape.leaves(), arrays))
    for at in _needed(tape, wanted):
        operands = [None if place is None else values[place] for place in tape.operands(at)]
        if tape.sort(at) == "call":
            made = _called(tape.what(at), operands, count)
        else:
            made = [tape.batched(at, operands, count)]
        for place, each in zip(tape.results(at), made):
            if place is not None:
                values[place] = each
    return values


def _needed(tape: Any, wanted: Sequence[int | None]) -> list[int]:
    """The entries that wanted places are made by.

    Others cannot even be computed where a `vmap` inside of this one made them of its own values, of which there are elements nowhere.
    """
    needed, found = {place for place in wanted if place is not None}, []
    for at in reversed(range(len(tape))):
        if not needed.isdisjoint(tape.results(at)):
            found.append(at)
            needed.update(place for place in tape.operands(at) if place is not None)
    return found[::-1]


def _called(call: Any, operands: list[ndarray | None], count: int) -> list[ndarray]:
    """A call of each value by itself, unless it has a rule for all of them."""
    from weft.arrays.joining import stack

    by_rule = call.batched(operands, count)
    if by_rule is not None:
        return by_rule
    if count == 0:
        return [_full((0, *result.shape), 0, result.dtype, result.device) for result in call.results]
    rows = []
    for at in range(count):
        given = [array if operand is None else operand[at] for operand, array in zip(operands, call.arrays)]
        rows.append(call.again(given))
    return [_reshape(stack(column), (count, *column[0].shape)) for column in zip(*rows)]

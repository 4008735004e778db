"""Trees: nested tuples, lists and dicts, and what hangs on them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

__all__ = ["Spec", "flatten", "flatten_as", "leaves", "map_tree", "unflatten"]

Spec = Any
"""A tree's shape: `None` for a leaf, or the class of a branch with what makes it."""

# What stands for None, which is a branch without leaves.
_NOTHING = (type(None), None, ())


def flatten(tree: Any) -> tuple[list[Any], Spec]:
    """The leaves of a tree, in order, and its shape; dicts by their sorted keys, ordered ones as they are, None is a branch without leaves.

    >>> from weft.gradients.trees import flatten
    >>> flatten({"b": (1, 2), "a": [3]})[0]
    [3, 1, 2]
    """
    found: list[Any] = []
    return found, _flatten(tree, found)


def _flatten(tree: Any, found: list[Any]) -> Spec:
    kind = type(tree)
    if tree is None:
        return _NOTHING
    if kind is tuple or kind is list:
        return (kind, None, tuple(_flatten(each, found) for each in tree))
    if kind is dict:
        keys = _sorted(tree)
        return (kind, keys, tuple(_flatten(tree[key], found) for key in keys))
    if kind is OrderedDict:
        return (kind, tuple(tree), tuple(_flatten(each, found) for each in tree.values()))
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return (kind, "fields", tuple(_flatten(each, found) for each in tree))
    found.append(tree)
    return None


def flatten_as(tree: Any, spec: Spec) -> list[Any]:
    """What a tree has where another one, whose shape is given, has leaves: a leaf, or a sequence that is an array's elements.

    ValueError for a tree of another shape.

    >>> from weft.gradients.trees import flatten, flatten_as
    >>> flatten_as(([1, 2], 3), flatten(("x", "y"))[1])
    [[1, 2], 3]
    """
    if spec is None:
        if tree is None or isinstance(tree, dict):
            raise ValueError("trees of different shapes")
        return [tree]
    kind, what, branches = spec
    if type(tree) is not kind:
        raise ValueError("trees of different shapes")
    if kind is type(None):
        return []
    if isinstance(tree, dict):
        keys = tuple(tree) if kind is OrderedDict else _sorted(tree)
        parts = [tree[key] for key in keys] if keys == what else []
    else:
        parts = list(tree)
    if len(parts) != len(branches):
        raise ValueError("trees of different shapes")
    return [leaf for part, branch in zip(parts, branches) for leaf in flatten_as(part, branch)]


def _sorted(tree: dict[Any, Any]) -> tuple[Any, ...]:
    try:
        return tuple(sorted(tree))
    except TypeError:
        return tuple(tree)


def unflatten(spec: Spec, given: Iterable[Any]) -> Any:
    """The tree of a shape with these leaves.

    >>> from weft.gradients.trees import flatten, unflatten
    >>> unflatten(flatten((1, [2]))[1], "xy")
    ('x', ['y'])
    """
    left = iter(given)
    made = _unflatten(spec, left)
    if next(left, left) is not left:
        raise ValueError("more leaves than the tree has")
    return made


def _unflatten(spec: Spec, left: Iterator[Any]) -> Any:
    if spec is None:
        for leaf in left:
            return leaf
        raise ValueError("fewer leaves than the tree has")
    kind, what, branches = spec
    if kind is type(None):
        return None
    if kind is dict or kind is OrderedDict:
        return kind((key, _unflatten(each, left)) for key, each in zip(what, branches))
    made = [_unflatten(each, left) for each in branches]
    return kind(*made) if what == "fields" else kind(made)


def leaves(tree: Any) -> list[Any]:
    """The leaves of a tree, in order."""
    return flatten(tree)[0]


def map_tree(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """A tree of what a function gives for each leaf, and those of other trees at the same place. ValueError for trees of another shape.

    >>> from weft.gradients.trees import map_tree
    >>> map_tree(lambda a, b: a + b, {"w": 1, "b": 2}, {"w": 10, "b": 20})
    {'b': 22, 'w': 11}
    """
    first, spec = flatten(tree)
    rows = [first]
    for other in others:
        found, same = flatten(other)
        if same != spec:
            raise ValueError("trees of different shapes")
        rows.append(found)
    return unflatten(spec, [function(*each) for each in zip(*rows)])

"""Trees: arrays in nested dicts, lists and tuples, as parameters are kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["flatten", "map", "unflatten"]


def flatten(tree: Any) -> tuple[list[Any], Any]:
    """The leaves of a tree in order, and what it looks like without them; dicts in the order of their keys' insertion. None is a leaf
    that there is none of.

    >>> from weft.nn import trees
    >>> leaves, spec = trees.flatten({"a": 1, "b": [2, (3,)]})
    >>> leaves, trees.unflatten(spec, leaves)
    ([1, 2, 3], {'a': 1, 'b': [2, (3,)]})
    """
    leaves: list[Any] = []
    return leaves, _spec(tree, leaves)


def _spec(tree: Any, leaves: list[Any]) -> Any:
    if tree is None:
        return None
    if type(tree) is dict:
        return (dict, tuple((key, _spec(each, leaves)) for key, each in tree.items()))
    if type(tree) in (list, tuple):
        return (type(tree), tuple(_spec(each, leaves) for each in tree))
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return (type(tree), tuple(_spec(each, leaves) for each in tree))
    leaves.append(tree)
    return "leaf"


def unflatten(spec: Any, leaves: list[Any]) -> Any:
    """The tree of a spec and its leaves. ValueError if there are not as many.

    >>> weft.nn.trees.unflatten("leaf", [5])
    5
    """
    rest = iter(leaves)
    try:
        tree = _built(spec, rest)
    except StopIteration:
        raise ValueError(f"{len(leaves)} leaves are too few for the tree") from None
    if next(rest, rest) is not rest:
        raise ValueError(f"{len(leaves)} leaves are too many for the tree")
    return tree


def _built(spec: Any, leaves: Any) -> Any:
    if spec is None:
        return None
    if spec == "leaf":
        return next(leaves)
    kind, parts = spec
    if kind is dict:
        made = {}
        for key, each in parts:
            made[key] = _built(each, leaves)
        return made
    items = []
    for each in parts:
        items.append(_built(each, leaves))
    return kind(*items) if hasattr(kind, "_fields") else kind(items)


def map(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """The tree of what a function gives for the leaves of trees that look the same. ValueError if they do not.

    >>> weft.nn.trees.map(lambda x, y: x + y, {"a": 1}, {"a": 2})
    {'a': 3}
    """
    leaves, spec = flatten(tree)
    columns = [leaves]
    for other in others:
        found, like = flatten(other)
        if not _alike(spec, like):
            raise ValueError("the trees do not look the same")
        columns.append(found if like == spec else _in_order(spec, other))
    return unflatten(spec, [function(*row) for row in zip(*columns)])


def _alike(one: Any, two: Any) -> bool:
    """Whether trees look the same; the order of the keys of dicts makes no difference."""
    if not isinstance(one, tuple) or not isinstance(two, tuple):
        return one == two
    if one[0] is not two[0] or len(one[1]) != len(two[1]):
        return False
    if one[0] is dict:
        other = dict(two[1])
        return all(key in other and _alike(each, other[key]) for key, each in one[1])
    return all(_alike(a, b) for a, b in zip(one[1], two[1]))


def _in_order(spec: Any, tree: Any) -> list[Any]:
    """The leaves of a tree in the order of another's keys."""
    if spec is None:
        return []
    if spec == "leaf":
        return [tree]
    if spec[0] is dict:
        return [leaf for key, each in spec[1] for leaf in _in_order(each, tree[key])]
    return [leaf for each, part in zip(spec[1], tree) for leaf in _in_order(each, part)]

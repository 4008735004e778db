"""Trees: there and back, in the order of one of them, and what does not look the same."""

from __future__ import annotations

from collections import namedtuple

import pytest

from weft.nn import trees

Pair = namedtuple("Pair", "x y")


def test_there_and_back() -> None:
    for tree in (1, None, [], {}, (), {"b": [1, (2, None)], "a": Pair(3, {"c": 4})}, [[[5]]]):
        leaves, spec = trees.flatten(tree)
        assert trees.unflatten(spec, leaves) == tree
        assert type(trees.unflatten(spec, leaves)) is type(tree)
    assert trees.flatten({"b": 1, "a": 2, "c": [3, None]})[0] == [1, 2, 3]


def test_map() -> None:
    assert trees.map(lambda x: 2 * x, {"a": [1, (2,)], "b": None}) == {"a": [2, (4,)], "b": None}
    assert trees.map(lambda x, y: x - y, {"a": 1, "b": [2]}, {"b": [5], "a": 7}) == {"a": -6, "b": [-3]}
    assert trees.map(lambda x: -x, Pair(1, 2)) == Pair(-1, -2)


def test_what_does_not_fit() -> None:
    for other in ({"a": 1}, {"a": 1, "c": 2}, [1, 2], {"a": 1, "b": [2]}, {"a": 1, "b": None}):
        with pytest.raises(ValueError, match="do not look the same"):
            trees.map(lambda x, y: x, {"a": 1, "b": 2}, other)
    _, spec = trees.flatten([1, 2])
    for leaves, says in (([1], "too few"), ([1, 2, 3], "too many")):
        with pytest.raises(ValueError, match=says):
            trees.unflatten(spec, leaves)

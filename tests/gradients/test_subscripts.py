"""Subscripts by arrays and masks under gradients: read, written, added to, and for many values at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft
from weft.errors import CaptureError

_GENERATOR = np.random.default_rng(7)
_X = _GENERATOR.uniform(0.3, 1.5, (3, 4, 5)) * _GENERATOR.choice([-1.0, 1.0], (3, 4, 5))
_I, _J = np.array([0, 2, 2]), np.array([[1], [2]])

# Elements that are named twice, index arrays beside each other and apart, integers among them, new axes, masks, and nothing.
_KEYS: list[tuple[Any, ...]] = [
    (_I,),
    (slice(None), _I),
    (_I, slice(None), _I),
    (0, slice(None), _I),
    (_J, _I),
    (None, _I),
    (slice(None), None, _I, slice(1, 3)),
    (_X > 0,),
    (_X[:, :, 0] > 0,),
    (slice(None), _X[0] > 0),
    (Ellipsis, _I),
    (_I, Ellipsis, _J),
    (slice(None), 1, _I),
    (_I[:0],),
    (slice(None, None, -1), _J, -1),
]
_names = pytest.mark.parametrize("key", _KEYS, ids=str)
_NO_MASKS = [key for key in _KEYS if not any(getattr(part, "dtype", None) == np.bool_ for part in key)]


def _ours(key: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(weft.asarray(part) if isinstance(part, np.ndarray) else part for part in key)


def _like(shape: tuple[int, ...], seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, shape)


@_names
def test_elements_that_are_read(key: tuple[Any, ...]) -> None:
    weights = _like(_X[key].shape, 1)
    found = weft.grad(lambda x: (x[_ours(key)] ** 2 * weights).sum())(weft.asarray(_X))
    wanted = np.zeros_like(_X)
    np.add.at(wanted, key, 2 * weights * _X[key])
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-13)
    direction = _like(_X.shape, 2)
    _, tangent = weft.jvp(lambda x: x[_ours(key)] ** 2, (weft.asarray(_X),), (weft.asarray(direction),))
    np.testing.assert_allclose(np.asarray(tangent), 2 * _X[key] * direction[key], rtol=1e-13)


def _written(m: Any, key: Any, x: Any, v: Any) -> Any:
    made = x * 2
    made[key] = v * v
    return (made * made * _X).sum()


@_names
def test_elements_that_are_written(key: tuple[Any, ...]) -> None:
    """Of an element that is named twice the last value stays, and no other has a gradient."""
    v = _like(_X[key].shape, 3)
    to_x, to_v = weft.grad(lambda x, v: _written(weft, _ours(key), x, v), (0, 1))(weft.asarray(_X), weft.asarray(v))
    made = _X * 2
    made[key] = v * v
    slopes = 2 * made * _X
    places = np.full(_X.shape, -1)
    places[key] = np.arange(v.size).reshape(v.shape)
    np.testing.assert_allclose(np.asarray(to_x), np.where(places < 0, slopes * 2, 0), rtol=1e-13)
    stays = places[key] == np.arange(v.size).reshape(v.shape)
    np.testing.assert_allclose(np.asarray(to_v), np.where(stays, slopes[key] * 2 * v, 0), rtol=1e-13)


def test_a_number_that_is_written_to_many_elements() -> None:
    def f(x: Any, v: Any) -> Any:
        made = x * 1
        made[weft.asarray(_I)] = v
        return (made * weft.asarray(_X)).sum()

    to_x, to_v = weft.grad(f, (0, 1))(weft.asarray(_X), weft.asarray(2.0))
    np.testing.assert_allclose(np.asarray(to_x)[[0, 2]], 0)
    np.testing.assert_allclose(float(to_v), _X[[0, 2]].sum())


@_names
def test_many_at_once(key: tuple[Any, ...]) -> None:
    many, values = _like((2, *_X.shape), 4), _like((2, *_X[key].shape), 5)
    ours = _ours(key)
    found = weft.vmap(lambda x: x[ours])(weft.asarray(many))
    np.testing.assert_array_equal(np.asarray(found), np.stack([x[key] for x in many]))
    back = weft.grad(lambda x, v: _written(weft, ours, x, v) + (x[ours] ** 3).sum(), (0, 1))
    to_x, to_v = weft.vmap(back)(weft.asarray(many), weft.asarray(values))
    for at in range(2):
        wanted = back(weft.asarray(many[at]), weft.asarray(values[at]))
        np.testing.assert_allclose(np.asarray(to_x[at]), np.asarray(wanted[0]), rtol=1e-12)
        np.testing.assert_allclose(np.asarray(to_v[at]), np.asarray(wanted[1]), rtol=1e-12)


@pytest.mark.parametrize("key", _NO_MASKS, ids=str)
@pytest.mark.parametrize("has_axis", [True, False])
def test_many_subscripts_at_once(key: tuple[Any, ...], has_axis: bool) -> None:
    """Index arrays that are others for each value, of one array or of many."""
    many = _like((2, *_X.shape), 6)
    places = [at for at, part in enumerate(key) if isinstance(part, np.ndarray)]
    indices = [np.stack([key[at], key[at][::-1]]) for at in places]

    def f(x: Any, *given: Any) -> Any:
        parts = list(key)
        for at, each in zip(places, given):
            parts[at] = each
        return x[tuple(parts)]

    def cubes(x: Any, *given: Any) -> Any:
        return (f(x, *given) ** 3).sum()

    axes = (0 if has_axis else None, *[0] * len(places))
    x = many if has_axis else _X
    found = weft.vmap(f, axes)(weft.asarray(x), *map(weft.asarray, indices))
    rows = [(x[at] if has_axis else x, *(each[at] for each in indices)) for at in range(2)]
    np.testing.assert_array_equal(np.asarray(found), np.stack([f(*row) for row in rows]))
    found = weft.vmap(weft.grad(cubes), axes)(weft.asarray(x), *map(weft.asarray, indices))
    for at, row in enumerate(rows):
        np.testing.assert_allclose(np.asarray(found[at]), np.asarray(weft.grad(cubes)(*map(weft.asarray, row))), rtol=1e-12)


def test_sums_of_other_kinds_of_numbers() -> None:
    """Floats that are added to complex numbers, and complex numbers to floats, of which the real parts are."""

    def f(x: Any, v: Any) -> Any:
        made = x * 2
        weft.add.at(made, [0, 2, 2], v)
        return (weft.abs(made) ** 2).sum()

    x, v = _X[0, 0, :3], _X[1, 1, :3]
    to_x, to_v = weft.grad(f, (0, 1))(weft.asarray(x + 1j), weft.asarray(v))
    made = 2 * (x + 1j)
    np.add.at(made, [0, 2, 2], v)
    np.testing.assert_allclose(np.asarray(to_x), 4 * made.conj())
    np.testing.assert_allclose(np.asarray(to_v), 2 * made.real[[0, 2, 2]])
    with pytest.warns(np.exceptions.ComplexWarning):
        to_x, to_v = weft.grad(f, (0, 1))(weft.asarray(x), weft.asarray(v + 1j))
    np.testing.assert_allclose(np.asarray(to_x), 4 * made.real)
    np.testing.assert_allclose(np.asarray(to_v), 2 * made.real[[0, 2, 2]])


def test_masks_of_many_values_are_refused() -> None:
    with pytest.raises(CaptureError, match=r"use weft\.where"):
        weft.vmap(lambda x: x[x > 0])(weft.asarray(_X))
    with pytest.raises(CaptureError):
        weft.vmap(weft.nonzero)(weft.asarray(_X))
    with pytest.raises(CaptureError):
        weft.vmap(weft.unique)(weft.asarray(_X))


def test_indices_that_are_found_in_many_values() -> None:
    x = weft.asarray(_X[0])
    np.testing.assert_array_equal(np.asarray(weft.vmap(weft.argsort)(x)), np.argsort(_X[0], axis=1))
    found = weft.vmap(lambda x: weft.searchsorted(weft.asarray([-0.5, 0.5]), x))(x)
    np.testing.assert_array_equal(np.asarray(found), np.searchsorted([-0.5, 0.5], _X[0]))
    found = weft.vmap(lambda x: weft.take(x, weft.argmax(x)))(x)
    np.testing.assert_array_equal(np.asarray(found), _X[0].max(axis=1))


# Indices of which there are many.

_ROWS = np.array([[0, 0, 2], [1, 1, 1], [3, 0, 3]])
_NUMBERS = np.array([1, 2, 0])
_MANY = np.random.default_rng(5).uniform(0.5, 1.5, (3, 4, 3))


def _put(x: Any, *key_and_value: Any) -> Any:
    *key, value = key_and_value
    made = x * x
    made[tuple(key)] = value
    return made


def _added(x: Any, *key_and_value: Any) -> Any:
    *key, value = key_and_value
    made = x * x
    made[tuple(key)] += value
    return made


# Of each a function of an element of the batch, and the arguments that have one for each.
_OF_MANY: dict[str, tuple[Any, ...]] = {
    "one": (lambda x, i: x[i], _MANY, _NUMBERS),
    "one, of the last": (lambda x, i: x[..., i], _MANY, _NUMBERS),
    "one, behind a slice": (lambda x, i: x[1:, i], _MANY, _NUMBERS),
    "one, from the end": (lambda x, i: x[-i - 1], _MANY, _NUMBERS),
    "two": (lambda x, i, j: x[i, j], _MANY, _NUMBERS, _NUMBERS[::-1]),
    "one beside a row": (lambda x, i, j: x[j, i], _MANY, _NUMBERS, _ROWS),
    "one with a new axis": (lambda x, i: x[i, None, ::2], _MANY, _NUMBERS),
    "a row": (lambda x, i: x[i], _MANY, _ROWS),
    "put at one": (_put, _MANY, _NUMBERS, _MANY[:, 0]),
    "put at one of one": (_put, _MANY, _NUMBERS, _NUMBERS, _MANY[:, 0, 0]),
    "put at one beside a row": (_put, _MANY, _ROWS, _NUMBERS, _MANY[:, 0]),
    "put at a row": (_put, _MANY, _ROWS, _MANY[:, 1:]),
    "put at a row, all alike": (_put, _MANY, _ROWS, _MANY[:, 0, 0]),
    "added at one": (_added, _MANY, _NUMBERS, _MANY[:, 0]),
    "added at a row": (_added, _MANY, _ROWS, _MANY[:, 1:]),
}


@pytest.mark.parametrize("is_mapped", [True, False], ids=["mapped", "the same"])
@pytest.mark.parametrize("name", _OF_MANY)
def test_indices_of_which_there_are_many(name: str, is_mapped: bool) -> None:
    """As one by one; gradients, too, and inside of another batch, and inside of a captured function."""
    f, x, *rest = _OF_MANY[name]
    x = x if is_mapped else x[0]
    axes = (0 if is_mapped else None, *[0] * len(rest))
    given = [weft.asarray(each) for each in (x, *rest)]
    of_each = [[each if axis is None else each[at] for each, axis in zip(given, axes)] for at in range(3)]
    numbers = [[int(each) if each.dtype.kind == "i" and not each.ndim else each for each in row] for row in of_each]
    np.testing.assert_array_equal(weft.vmap(f, axes)(*given), np.stack([np.asarray(f(*row)) for row in numbers]))
    np.testing.assert_array_equal(weft.compile(weft.vmap(f, axes))(*given), np.stack([np.asarray(f(*row)) for row in numbers]))
    places = [at for at, each in enumerate(given) if each.dtype.kind == "f"]

    def loss(*args: Any) -> Any:
        found = f(*args)
        return (found * weft.arange(float(found.size)).reshape(found.shape) ** 2).sum()

    found = weft.vmap(weft.grad(loss, places), axes)(*given)
    wanted = [weft.grad(loss, places)(*row) for row in numbers]
    for at, each in enumerate(found):
        np.testing.assert_allclose(each, np.stack([np.asarray(row[at]) for row in wanted]), rtol=1e-12)
    inner = weft.vmap(lambda x: weft.vmap(lambda *rest: f(x, *rest))(*given[1:]))(weft.asarray(_MANY))
    np.testing.assert_array_equal(inner, np.stack([[np.asarray(f(weft.asarray(each), *row[1:])) for row in numbers] for each in _MANY]))

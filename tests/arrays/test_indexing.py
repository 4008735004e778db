"""Subscripts of arrays against NumPy's: random keys of every kind, read and assigned, and what is refused."""

from __future__ import annotations

import random
from typing import NamedTuple

import ml_dtypes
import numpy as np
import pytest

import weft
import weft.arrays
from weft._weft import _from_numpy, _to_numpy, ndarray

DTYPES = ["bool", "int8", "uint16", "int32", "float16", "float64", "complex64", "complex128", ml_dtypes.bfloat16]
LAYOUTS = {
    "rows": lambda a: a,
    "columns": lambda a: a.T.copy().T,
    "turned": lambda a: a.T,
    "backwards": lambda a: a[::-1, ..., ::-1] if a.ndim > 1 else a[::-1],
    "every second": lambda a: np.repeat(a, 2, 0)[::2],
}


def weft_of(host, layout):
    """The same array as Weft's, in the same layout."""
    if layout == "columns":
        return _from_numpy(np.ascontiguousarray(host.T)).T
    if layout == "turned":
        return _from_numpy(np.ascontiguousarray(host.T)).T
    if layout == "backwards":
        key = (slice(None, None, -1), Ellipsis, slice(None, None, -1)) if host.ndim > 1 else slice(None, None, -1)
        return _from_numpy(np.ascontiguousarray(host[key]))[key]
    if layout == "stretched":
        return weft._weft._broadcast(_from_numpy(host), (3, *host.shape))
    if layout == "every second":
        return _from_numpy(np.repeat(host, 2, 0))[::2]
    return _from_numpy(host)


KINDS = ["int", "int0", "slice", "slice", "new", "array", "array", "array", "list", "mask", "mask", "bool", "wide"]


class Keys:
    """Makes keys for arrays of a shape, the same for both: (NumPy's, Weft's)."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)

    def key(self, shape):
        axis, parts, gap = 0, [], self.random.random() < 0.3
        common = self.some_shape()
        while axis < len(shape) and self.random.random() < 0.85:
            if gap and self.random.random() < 0.3:
                gap = False
                parts.append((Ellipsis, Ellipsis))
                axis += self.random.randint(0, len(shape) - axis)
                continue
            part, axes = self.part(shape[axis:], common)
            parts.append(part)
            axis += axes
        parts = parts or [self.part(shape, common)[0]] if shape else [(self.random.random() < 0.5,) * 2]
        if len(parts) == 1 and self.random.random() < 0.5:
            return parts[0]
        return tuple(theirs for theirs, _ in parts), tuple(ours for _, ours in parts)

    def some_shape(self):
        return tuple(self.random.choice([0, 1, 2, 2, 3]) for _ in range(self.random.choice([1, 1, 1, 2, 3])))

    def part(self, shape, common):
        kind = self.random.choice(KINDS)
        n = shape[0]
        if kind in ("int", "int0") and n:
            i = self.random.randrange(-n, n)
            if kind == "int":
                return (i, i), 1
            host = np.array(i, self.random.choice(["int8", "int64"]))
            return (host, self.random.choice([host, _from_numpy(host)])), 1
        if kind == "slice":
            ends = [None, *range(-n - 1, n + 2)]
            part = slice(self.random.choice(ends), self.random.choice(ends), self.random.choice([None, 1, 2, -1, -2]))
            return (part, part), 1
        if kind == "new":
            return (None, None), 0
        if kind == "bool" and self.random.random() < 0.3:
            flag = self.random.random() < 0.7
            return (flag, self.random.choice([flag, np.bool_(flag), _from_numpy(np.array(flag))])), 0
        if kind == "mask":
            axes = self.random.randint(1, len(shape))
            lengths = tuple(0 if self.random.random() < 0.05 else n for n in shape[:axes])
            host = self.numbers.random(lengths) < self.random.choice([0, 0.2, 0.5, 1])
            return (host, self.random.choice([host, _from_numpy(host), host.tolist() if host.size else host])), axes
        if kind in ("array", "list", "wide") and n:
            own = tuple(self.random.choice([length, 1]) for length in common)[self.random.randint(0, len(common) - 1) :]
            beyond = n if self.random.random() < 0.05 else 0
            host = self.numbers.integers(-n - beyond, n + beyond, own).astype(self.random.choice(["int8", "int32", "int64"]))
            if kind == "wide":
                host = (host % n).astype("uint8" if n < 200 else "uint64")
            if kind == "list":
                return (host.tolist(), host.tolist()), 1
            return (host, self.random.choice([host, _from_numpy(host)])), 1
        return (slice(None), slice(None)), 1


def outcome(act, *args):
    """What a call gives, or the class of what it raises."""
    try:
        return act(*args)
    except Exception as error:
        return type(error)


def same(ours, theirs, note):
    if isinstance(ours, type) or isinstance(theirs, type):
        assert isinstance(ours, type) and isinstance(theirs, type) and issubclass(ours, theirs), (ours, theirs, note)
        return
    assert isinstance(ours, ndarray), note
    theirs = np.asarray(theirs)
    assert ours.shape == theirs.shape and ours.dtype == theirs.dtype, (ours.shape, theirs.shape, note)
    assert _to_numpy(ours).tobytes() == theirs.tobytes(), note


def some_array(keys, dtype):
    shape = tuple(keys.random.choice([0, 1, 2, 3, 4, 5]) for _ in range(keys.random.choice([0, 1, 1, 2, 2, 3, 3, 4])))
    host = np.arange(int(np.prod(shape))).reshape(shape) + 1
    if np.dtype(dtype).kind == "c":
        return np.asarray(host * (1 + 2j), dtype)
    return np.asarray(host % 3 > 0 if dtype == "bool" else host, dtype)


@pytest.mark.parametrize("seed", range(600))
def test_any_key_reads_what_numpy_reads(seed):
    keys = Keys(seed)
    host = some_array(keys, keys.random.choice(DTYPES))
    layout = keys.random.choice(sorted(LAYOUTS)) if host.ndim else "rows"
    array = weft_of(host, layout)
    for _ in range(4):
        theirs, ours = keys.key(host.shape)
        note = (seed, host.shape, theirs, layout)
        same(outcome(array.__getitem__, ours), outcome(host.__getitem__, theirs), note)


@pytest.mark.parametrize("seed", range(600))
def test_any_key_assigns_what_numpy_assigns(seed):
    keys = Keys(10_000 + seed)
    host = some_array(keys, keys.random.choice(DTYPES))
    layout = keys.random.choice(sorted(LAYOUTS)) if host.ndim else "rows"
    array = weft_of(host, layout)
    host = host.copy()
    for _ in range(4):
        theirs, ours = keys.key(host.shape)
        if is_of_integers(theirs):
            continue
        value = value_for(keys, host, theirs)
        given = _from_numpy(value) if isinstance(value, np.ndarray) and keys.random.random() < 0.5 else value
        note = (seed, host.shape, theirs, layout, value)
        left, right = outcome(array.__setitem__, ours, given), outcome(host.__setitem__, theirs, value)
        if isinstance(right, type):
            assert isinstance(left, type) and issubclass(left, right), (left, right, note)
        else:
            assert left is None, (left, note)
        same(array, host, note)


def is_of_integers(key):
    """Such a key is the native class's business, which takes arrays of one element where NumPy wants a number."""
    parts = key if isinstance(key, tuple) else (key,)
    return not any(isinstance(part, bool) for part in parts) and all(
        isinstance(part, (int, np.ndarray)) and np.ndim(part) == 0 for part in parts
    )


def value_for(keys, host, key):
    """A number, an array of the selection's shape, of a shape that it is broadcast from, or of one that does not fit."""
    shape = outcome(lambda: host[key].shape)
    kind = keys.random.choice(["number", "whole", "part", "ones", "wrong"])
    if kind == "number" or isinstance(shape, type):
        return keys.random.choice([0, 1, True, 2])
    if kind == "part":
        shape = tuple(keys.random.choice([n, 1]) for n in shape)[keys.random.randint(0, len(shape)) :]
    if kind == "ones":
        shape = (1, *shape)
    if kind == "wrong":
        shape = (*shape, 3)
    value = keys.numbers.integers(0, 5, shape)
    return value.astype(keys.random.choice(["int64", "float32", host.dtype]))


@pytest.mark.parametrize(
    "key",
    [3, -4, (0, 9), [0, 3], [-4], ([0], [4]), (slice(None), [7]), 1.0, "a", [0.5], ([0, 1], [0, 1, 2]), (0, 0, 0), ([0], [0], [0]),
     (..., ...), (..., [0], ...), np.zeros(4, bool), np.zeros((3, 2), bool), (0, np.zeros(3, bool)), {}, object(), ([[0], [0, 1]],),
     np.array([1.0]), (None, 5), np.zeros((3, 4, 1), bool), (True, 5), ([], 9)],
    ids=lambda key: "an object" if type(key) is object else repr(key),
)  # fmt: skip
def test_what_numpy_refuses_is_refused_in_its_words(key):
    host = np.arange(12).reshape(3, 4)
    array = _from_numpy(host)
    for act in (lambda a: a[key], lambda a: a.__setitem__(key, 1)):
        with pytest.raises(Exception) as theirs:
            act(host.copy())
        with pytest.raises(type(theirs.value)) as ours:
            act(array)
        if theirs.type is IndexError:
            assert str(ours.value).strip() == str(theirs.value).strip()
    np.testing.assert_array_equal(_to_numpy(array), host)


def test_values_that_do_not_fit_are_refused_in_numpys_words():
    host = np.arange(12).reshape(3, 4)
    for key, value in [([0, 1], [1, 2, 3]), (host > 5, [1, 2]), ((slice(None), [0, 1]), np.zeros((2, 2))), (host[0] > 1, np.zeros(5))]:
        with pytest.raises((ValueError, IndexError)) as theirs:
            host.copy()[key] = value
        with pytest.raises(theirs.type) as ours:
            _from_numpy(host)[key] = value
        assert str(ours.value).strip() == str(theirs.value).strip()


def test_numbers_that_do_not_fit_the_dtype():
    array = _from_numpy(np.zeros(3, np.int8))
    for key in ([0], np.array([True, False, False])):
        with pytest.raises(OverflowError):
            array[key] = 300
        with pytest.raises(TypeError):
            array[key] = 1j
    assert _to_numpy(array).tolist() == [0, 0, 0]


def test_of_an_element_named_twice_the_last_value_stays():
    array = _from_numpy(np.zeros(3))
    array[[0, 0, 1, 0]] = [1, 2, 3, 4]
    assert _to_numpy(array).tolist() == [4, 3, 0]
    array[[1, 1]] += 1
    assert _to_numpy(array).tolist() == [4, 4, 0]


@pytest.mark.parametrize("seed", range(100))
def test_stretched_arrays(seed):
    keys = Keys(20_000 + seed)
    host = some_array(keys, keys.random.choice(DTYPES))
    array, host = weft_of(host, "stretched"), np.broadcast_to(host, (3, *host.shape))
    theirs, ours = keys.key(host.shape)
    same(outcome(array.__getitem__, ours), outcome(host.__getitem__, theirs), (seed, host.shape, theirs))


def test_parts_of_complex_numbers():
    host = (np.arange(24) + 1j * np.arange(24)[::-1]).reshape(2, 3, 4).astype(np.complex64)
    array = _from_numpy(host)
    for part in ("real", "imag"):
        left, right = getattr(array, part), getattr(host, part)
        same(left[:, [2, 0]], right[:, [2, 0]], part)
        same(left[right > 5], right[right > 5], part)
        left[[1], :, [[0], [3]]] = right[[1], :, [[0], [3]]] = 99
        left[left > 20] = right[right > 20] = -1
    same(array, host, "both")


def test_keys_of_other_kinds():
    class Pair(NamedTuple):
        first: object
        second: object

    host = np.arange(12).reshape(3, 4)
    array = _from_numpy(host)
    one = _from_numpy(np.array(1))
    same(array[Pair([0, 1], 2)], host[Pair([0, 1], 2)], "named tuple")
    same(array[[one, 0]], host[[1, 0]], "a list of arrays")
    same(array[[one, 0], one:], host[[1, 0], 1:], "a slice of arrays")
    same(array[range(2)], host[range(2)], "a range")
    same(array[np.array([2], np.uint64)], host[np.array([2], np.uint64)], "unsigned")
    same(array[np.array([2], ">i4")], host[[2]], "of another order")


def test_what_is_read_is_a_copy_and_what_is_assigned_through_a_view_shows():
    array = _from_numpy(np.arange(6.0).reshape(2, 3))
    taken = array[[0]]
    taken += 10
    assert _to_numpy(array)[0].tolist() == [0, 1, 2]
    view = array.T[1:]
    view[[0, 1], [1, 0]] = [50, 20]
    view[view == 5] = -5
    assert _to_numpy(array).tolist() == [[0, 1, 20], [3, 50, -5]]
    array[:, array[0] > 0] *= 2
    assert _to_numpy(array).tolist() == [[0, 2, 40], [3, 100, -10]]


def test_a_value_that_overlaps_is_read_before():
    host = np.arange(6)
    array = _from_numpy(host)
    array[[1, 2, 3, 4, 5]] = array[:-1]
    array[array > 2] = array[1]
    assert _to_numpy(array).tolist() == [0, 0, 1, 2, 0, 0]


def test_views_that_cannot_be_written():
    array = weft._weft._broadcast(_from_numpy(np.zeros(1)), (3,))
    for key in ([0], np.array([True, False, False])):
        with pytest.raises(ValueError, match="read-only"):
            array[key] = 1


def test_writing_to_what_is_read_only_is_said_first():
    """Whatever the subscript or the value is."""
    for text in ["5", "5, ...", "[5]", "0, 7", "'x'", "None, 5, 5, 5", "x > 9", "..., ..."]:
        for value in (1, "x", np.ones(7)):
            for xp in (np, weft):
                x = xp.broadcast_to(xp.zeros(3), (2, 3))
                with pytest.raises(ValueError, match="assignment destination is read-only"):
                    exec(f"x[{text}] = value", {"x": x, "value": value})

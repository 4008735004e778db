"""What compiled functions give becomes an array without a copy, unless it is a view of what they read, or of another result."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import weft
from weft.arrays._compiled import _is_own, on_hosts


@weft.njit
def itself(a):
    return a


@weft.njit
def tail(a):
    return a[1:]


@weft.njit
def reversed_(a):
    return a[::-1]


@weft.njit
def of_second(a, b):
    return b[:2]


@weft.njit
def fresh(a):
    return a + 1


@weft.njit
def part_of_fresh(a):
    return (a + 1)[1:3]


@weft.njit
def one_twice(a):
    found = a + 1
    return found, found


@weft.njit
def parts_that_overlap(a):
    found = a + 1
    return found[:3], found[1:]


@weft.njit
def fresh_and_view(a):
    return a + 1, a[1:]


def nested(a):
    return (a[1:], a + 1), a + 2


def plain_view(a):
    return a[1:]


def plain_itself(a):
    return a


def plain_fresh(a):
    return a + 1


def apart(*arrays: weft.ndarray) -> None:
    """Each is written, and no other is another by it."""
    for array in arrays:
        kept = [weft.asnumpy(other, copy=True) for other in arrays]
        array[...] = -1
        for other, before in zip(arrays, kept):
            assert other is array or weft.asnumpy(other).tolist() == before.tolist()


FUNCTIONS = (
    itself,
    tail,
    reversed_,
    fresh,
    part_of_fresh,
    one_twice,
    parts_that_overlap,
    fresh_and_view,
    plain_view,
    plain_itself,
    plain_fresh,
)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_results_are_nobody_elses(function: Callable) -> None:
    for make in (np.arange(4.0), np.arange(8.0)[::2], np.arange(9.0)[1:5]):
        x = weft.asarray(make.copy())
        found = on_hosts(function, x)
        results = found if isinstance(found, tuple) else (found,)
        wanted = getattr(function, "py_func", function)(make.copy())
        for result, each in zip(results, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
            assert weft.asnumpy(result).tolist() == each.tolist()
        apart(x, *results)


def test_tuples_in_tuples() -> None:
    x = weft.asarray(np.arange(4.0))
    (view, one), two = on_hosts(nested, x)
    assert view.tolist() == [1, 2, 3] and one.tolist() == [1, 2, 3, 4] and two.tolist() == [2, 3, 4, 5]
    apart(x, view, one, two)


def test_views_of_what_compiled_code_made_before() -> None:
    """NumPy's arrays that are read may be held as results are: by an object of an earlier call."""
    made = fresh(np.arange(4.0))
    for function in (itself, tail, plain_itself, plain_view):
        given = made if function in (itself, tail) else made[:]
        found = on_hosts(function, given)
        before = given.tolist()
        found[...] = -5
        assert given.tolist() == before
    x = weft.asarray(np.arange(4.0))
    found = on_hosts(of_second, x, made)
    before = made.tolist()
    found[...] = -5
    assert made.tolist() == before


def test_what_is_own() -> None:
    x = np.arange(4.0)
    assert _is_own(fresh(x), [x]) and _is_own(part_of_fresh(x), [x, x[1:]])
    assert not _is_own(tail(x), [x]) and not _is_own(x, [x])
    made = fresh(x)
    assert not _is_own(made, [made]) and not _is_own(made[1:], [x, made])
    first, second = parts_that_overlap(x)
    assert not _is_own(second, [x, first])

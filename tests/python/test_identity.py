"""Globals are told apart by what they are, however many there are and however briefly they live."""

import enum
import linecache
import sys
import types

import numpy as np
import pytest

import weft
from weft import cuda, njit

FIRST = np.array([1.0, 2.0, 3.0])
SECOND = FIRST * 10
SAME_BYTES = np.array([1, 2, 3], np.int64)
OTHER_SHAPE = SAME_BYTES.reshape(3, 1)
PAIR = (FIRST + 1, FIRST + 2)
ONE, OTHER = object(), object()


@njit
def both(i):
    return FIRST[i], SECOND[i], FIRST[0], SECOND[1]


def test_two_global_arrays():
    assert both(0) == (1.0, 10.0, 1.0, 20.0)
    assert both(2) == (3.0, 30.0, 1.0, 20.0)


def test_arrays_in_a_tuple_and_of_other_shapes():
    @njit
    def f(i):
        return PAIR[0][i], PAIR[1][i], SAME_BYTES[i], OTHER_SHAPE[i, 0]

    assert f(1) == (3.0, 4.0, 2, 2)


def test_many_arrays_in_many_functions():
    tables = [np.full(4, float(i)) for i in range(40)]
    helpers = []
    for table in tables:

        def helper(i, table=table):
            return table[i]

        helpers.append(njit(helper))
    text = "def f(i):\n    return (" + ", ".join(f"h{k}(i), t{k}[i]" for k in range(40)) + ")\n"
    world = {f"h{k}": helper for k, helper in enumerate(helpers)} | {f"t{k}": table for k, table in enumerate(tables)}
    linecache.cache["<many>"] = (len(text), None, text.splitlines(keepends=True), "<many>")
    exec(compile(text, "<many>", "exec"), world)
    assert njit(world["f"])(2) == tuple(float(k) for k in range(40) for _ in range(2))


def test_an_array_is_copied_once():
    class Counting(np.ndarray):
        copies = 0

        def tobytes(self, order="C"):
            Counting.copies += 1
            return super().tobytes(order)

    table = np.arange(4.0).view(Counting)

    @njit
    def helper(i):
        return table[i] + table[i + 1]

    @njit
    def f(i):
        s = table[i] + table[0]
        for k in range(3):
            s += table[k] * helper(k)
        return s

    assert f(1) == 1 + 0 + 0 * 1 + 1 * 3 + 2 * 5
    assert Counting.copies == 1


@pytest.mark.parametrize("device", ["cpu", "cuda:0", "vulkan:0"])
def test_two_global_arrays_in_a_kernel(device):
    if device not in [d.name for d in weft.devices()]:
        pytest.skip(f"no {device} here")

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        if i < 3:
            out[i] = FIRST[i] + SECOND[i] * 100

    out = np.zeros(3)
    with weft.device(device):
        kernel[1, 32](out)
    np.testing.assert_array_equal(out, FIRST + SECOND * 100)


def test_objects_that_mean_nothing():
    @njit
    def f():
        return ONE is OTHER, ONE is ONE, ONE is not OTHER, ONE is None

    assert f() == (False, True, True, False)

    @njit
    def equal():
        return ONE == OTHER

    with pytest.raises(weft.errors.TypingError, match="cannot be compared"):
        equal()


def test_lists_and_ranges_are_not_equal_for_being_lists_and_ranges():
    a, b = [1, 2], [3]
    for call in (lambda x: a == b, lambda x: range(x) == range(2), lambda x: x.sum == x.max):
        with pytest.raises(weft.errors.WeftError):
            njit(call)(np.ones(2) if "sum" in call.__code__.co_names else 1)


def test_classes_of_one_name():
    def exceptions():
        class Problem(Exception):
            pass

        return Problem

    first, second = exceptions(), exceptions()

    @njit
    def fail(kind):
        raise kind

    @njit
    def f(which):
        if which:
            fail(first)
        fail(second)

    for which, kind in ((True, first), (False, second)):
        with pytest.raises(kind) as caught:
            f(which)
        assert type(caught.value) is kind

    colours = [enum.Enum("Colour", {"red": value}) for value in (1, 2)]
    one, two = colours

    @njit
    def value(colour):
        return colour.red.value

    @njit
    def values():
        return value(one), value(two), one is two

    assert values() == (1, 2, False)


def test_functions_that_a_module_makes_anew():
    module = types.ModuleType("making")

    def make(name):
        if not name.startswith("times"):
            raise AttributeError(name)
        factor = float(name[5:])

        def times(x):
            return x * factor

        return times

    module.__getattr__ = make
    sys.modules["making"] = module
    try:

        @njit
        def f(x):
            return module.times2(x), module.times3(x), module.times4(x), module.times2(x)

        assert f(1.0) == (2.0, 3.0, 4.0, 2.0)
    finally:
        del sys.modules["making"]

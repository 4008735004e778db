"""Arrays without axes, without elements, and operands that are no arrays: what NumPy makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft

from .against_numpy import check

EMPTY = ((0,), (0, 3), (3, 0), (0, 0), (2, 0, 3), ())


@pytest.mark.parametrize("axis", [0, -1, 1, None, (0,), ()], ids=str)
def test_axes_of_numbers(axis: Any) -> None:
    a = np.asarray(3)
    check(f"xp.squeeze(a, {axis})", a=a)
    if not isinstance(axis, tuple):
        for text in ("xp.repeat(a, 2, {})", "xp.repeat(a, [2], {})", "xp.compress([True], a, {})", "xp.take(a, [0, 0], {})"):
            check(text.format(axis), a=a)


@pytest.mark.parametrize("text", ["0, 7", "[0], [7]", "-1, 7", "1, 7", "[], []", "[0, 0], [5, 6]"])
def test_put_into_a_number(text: str) -> None:
    check(f"xp.put(a, {text})", a=np.asarray(3))


@pytest.mark.parametrize("decimals", [-1, 0, 2])
def test_rounded_bools(decimals: int) -> None:
    check(f"xp.round(a, {decimals})", a=np.array([True, False]))


@pytest.mark.parametrize("function", ["partition", "argpartition"])
@pytest.mark.parametrize("kth", ["0", "5", "-1", "1.5", "[[1]]", "[0, 1]"])
def test_partitions_of_nothing(function: str, kth: str) -> None:
    for shape in EMPTY[:3]:
        for axis in (0, -1):
            check(f"xp.{function}(a, {kth}, axis={axis})", a=np.zeros(shape))


@pytest.mark.parametrize("name", ["maximum", "fmin", "add", "multiply", "subtract", "logaddexp", "bitwise_and", "logical_or", "gcd"])
def test_reductions_of_nothing(name: str) -> None:
    for shape in EMPTY:
        for axis in (None, 0, -1):
            for dtype in ("float64", "uint8", "complex128", "bool"):
                for initial in ("", ", initial=3", ", initial=None"):
                    check(f"xp.{name}.reduce(a, axis={axis}{initial})", a=np.zeros(shape, dtype))


def test_functions_reduce_as_ufuncs_do() -> None:
    for shape in EMPTY:
        for axis in (None, 0, -1):
            for name in ("sum", "prod", "max", "min"):
                for initial in ("", ", initial=3", ", initial=None"):
                    check(f"xp.{name}(a, axis={axis}{initial})", a=np.zeros(shape, "float32"))
    check("xp.min(a, initial=0)", a=np.array([True]))
    check("xp.max(a, axis=1, initial=2, where=m)", a=np.array([[1 + 2j, 3], [4, 1j]]), m=np.array([True, False]))


@pytest.mark.parametrize(
    "text",
    ["x == None", "x != None", "x == 'a'", "x != b'a'", "x < None", "x + None", "x + 'a'", "x == [1, 2, 3]", "x + [1, 2]", "x + (1, 2, 3)",
     "[1, 2, 3] - x", "x ** [1, 2, 3]", "[2, 2, 2] ** x", "x + [[1], [1, 2]]", "divmod(x, [2, 2, 2])", "x < (2, 2, 2)", "x[:0] == None",
     "(x > 1) ** 2", "x + ['a', 'b', 'c']", "x += [1, 2, 3]\nx"],
)  # fmt: skip
def test_lists_and_others_beside_operators(text: str) -> None:
    check(text, x=np.array([1, 2, 3]))


def test_outputs_that_are_read_only_are_refused_before_types() -> None:
    shown = weft.broadcast_to(weft.asarray([1, 2, 3]), (2, 3))
    with pytest.raises(ValueError, match="output array is read-only"):
        shown *= 1.5
    with pytest.raises(ValueError, match="output array is read-only"):
        weft.subtract(weft.asarray([True]), weft.asarray([True]), out=shown)
    with pytest.raises(ValueError, match="output array is read-only"):
        weft.sum(weft.zeros((2, 2, 3)), axis=0, out=shown)


def test_types_are_refused_before_shapes() -> None:
    with pytest.raises(TypeError, match="same_kind"):
        weft.subtract(weft.zeros((1, 4), dtype=weft.complex64), weft.zeros((7, 2)), out=weft.zeros((7, 2)))


@pytest.mark.parametrize("to", ["bool", "int8", "float32", "float64", "complex64", "complex128"])
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_complex_numbers_cast(to: str) -> None:
    host = np.array([1.5 + 2j, 0, 3j, -2], np.complex64)
    given = (weft.asarray(host) * 1).astype(to)
    np.testing.assert_array_equal(weft.asnumpy(given), host.astype(to))


def test_bools_are_assigned_any_number() -> None:
    check("a[:2] = 1 - 2j\na[2] = 0j\na[3:] = 2.5\na", a=np.array([False, False, True, False]))


def test_a_row_assigned_from_itself_is_read_before_it_is_written() -> None:
    """NumPy writes over what it has still to read here: it takes the order of the rows for safe."""
    a = weft.arange(14)
    a[::2] = a[2:9]
    assert a.tolist() == [2, 1, 3, 3, 4, 5, 5, 7, 6, 9, 7, 11, 8, 13]

"""Arrays made of several arrays, and several made of one, against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from numpy_calls import ALL, KINDS, array, axes, check, compiled, layouts

from weft import WeftError

FLOATS_2D = array((3, 4), np.float64)
MATRIX = array((3, 3), np.float64, seed=1)
INTEGERS_2D = array((3, 4), np.int32)
ROW = array((4,), np.float64)
CUBE = array((2, 3, 4), np.float32)
NUMBER = np.array(3.5)


@pytest.mark.parametrize("axis", [*axes(3), 3])
@pytest.mark.parametrize("name", ["concatenate", "stack"])
def test_axes(name: str, axis: int | None) -> None:
    a = array((2, 3, 4), np.float64)
    check(f"np.{name}((a, b), axis={axis})", a=a, b=a[::-1])
    check(f"np.{name}([a, b, a], {axis})", a=a, b=array((2, 3, 4), np.int8))


@pytest.mark.parametrize(
    "shapes", [((2, 3), (4, 3)), ((0, 3), (2, 3)), ((2, 3), (2, 4)), ((3,), (2,)), ((2, 3), (3,)), ((), ()), ((2, 2, 1, 3), (1, 2, 1, 3))]
)
def test_shapes(shapes: tuple[tuple[int, ...], ...]) -> None:
    a, b = (array(shape, np.float64) for shape in shapes)
    for text in (
        "np.concatenate((a, b))",
        "np.concatenate((a, b), -1)",
        "np.concatenate((a, b), None)",
        "np.stack((a, b))",
        "np.vstack((a, b))",
        "np.hstack((a, b))",
        "np.dstack((a, b))",
        "np.column_stack((a, b))",
        "np.append(a, b)",
        "np.append(a, b, axis=0)",
    ):
        check(text, a=a, b=b)


@pytest.mark.parametrize("dtype", ALL)
def test_types_of_results(dtype: type) -> None:
    a = array((3,), dtype)
    check("np.concatenate((a, b)), np.concatenate((c, a)), np.stack((a, a))", a=a, b=array((2,), np.uint8), c=array((2,), np.int64))
    check("np.concatenate((a, a), dtype=np.float32, casting='unsafe')", a=a.real)
    check("np.append(a, 1), np.append(a, 1.5), np.append(a, True), np.append(1, a), np.repeat(a, 2), np.tile(a, 2)", a=a)


@pytest.mark.parametrize("given", KINDS)
@pytest.mark.parametrize("wanted", ["np.float32", "np.int8", "np.uint64", "np.bool_", "np.complex64"])
def test_casts_of_results(given: type, wanted: str) -> None:
    check(f"np.concatenate((a, a), dtype={wanted})", a=array((3,), given))


def test_layouts() -> None:
    for a in layouts(array((3, 3), np.float64)):
        for b in (MATRIX, MATRIX.T):
            check("np.concatenate((a, b)), np.concatenate((b, a), 1), np.stack((a, b), 2)", a=a, b=b)


def test_out() -> None:
    for out in layouts(np.zeros((6, 4))):
        check("np.concatenate((a, b), out=out)", a=FLOATS_2D, b=INTEGERS_2D, out=out)
    for out in (np.zeros((4, 6)), np.zeros((6, 4), np.int32), np.zeros(24)):
        check("np.concatenate((a, b), out=out)", a=FLOATS_2D, b=INTEGERS_2D, out=out)
    check("np.concatenate((a, b), casting='unsafe', out=out)", a=FLOATS_2D, b=INTEGERS_2D, out=np.zeros((6, 4), np.int32))
    check("np.concatenate((a, b), 0, out, dtype=np.float64)", a=FLOATS_2D, b=INTEGERS_2D, out=np.zeros((6, 4)))
    check("np.stack((a, b), 1, out)", a=FLOATS_2D, b=INTEGERS_2D, out=np.zeros((3, 2, 4), np.complex128))


@pytest.mark.parametrize("name", ["concatenate", "stack", "vstack", "hstack", "dstack", "column_stack"])
@pytest.mark.parametrize("a", [ROW, FLOATS_2D, CUBE, CUBE[None], np.zeros((0, 2))])
def test_items_of_one_array(name: str, a: np.ndarray) -> None:
    check(f"np.{name}(a)", a=a)


@pytest.mark.parametrize("name", ["vstack", "hstack", "dstack", "column_stack"])
@pytest.mark.parametrize("items", ["(v, v)", "(a, a)", "[c, c]", "(1, 2.5)", "(v, 1)", "(a, v)", "()", "(v, (1, 2, 3, 4))"])
def test_stacks(name: str, items: str) -> None:
    check(f"np.{name}({items})", v=ROW, a=FLOATS_2D, c=CUBE)


def test_types_of_stacks() -> None:
    check("np.vstack((v, v), dtype=np.float32), np.hstack((v, v), casting='unsafe', dtype=np.int64)", v=ROW)
    check("np.stack((v, v), dtype=np.complex64), np.stack(a, 1, dtype=np.float32)", v=ROW, a=FLOATS_2D)
    check("np.vstack((v, v), dtype=np.int32)", v=ROW)


@pytest.mark.parametrize("axis", [*axes(2), 2])
def test_append(axis: int | None) -> None:
    check(f"np.append(a, b, {axis})", a=FLOATS_2D, b=INTEGERS_2D)
    check(f"np.append(a, ((1, 2, 3, 4),), {axis})", a=FLOATS_2D)
    check(f"np.append(a, 3, {axis})", a=FLOATS_2D)


def test_append_to_array_likes() -> None:
    check("np.append((1, 2), [3.5, 4]), np.append(a, a)", a=np.zeros(0, np.int8))


def test_lists_of_rows() -> None:
    for text in (
        "np.append(a, [v], 0)",
        "np.append(a, (v, v), axis=0)",
        "np.append(v, [v, v])",
        "np.concatenate(([v, v], a))",
        "np.append(a, [v[:2]], 0)",
    ):
        check(text, a=FLOATS_2D, v=ROW)


@pytest.mark.parametrize("parts", ["1", "2", "3", "5", "0", "-1", "(1, 3)", "[1, 1, 2]", "(-1,)", "(3, 1)", "(2, 9)", "()"])
@pytest.mark.parametrize("name", ["split", "array_split"])
def test_split(name: str, parts: str) -> None:
    check(f"np.{name}(a, {parts})", a=ROW)
    check(f"np.{name}(a, {parts}, axis=1)", a=FLOATS_2D.T)


@pytest.mark.parametrize("name", ["hsplit", "vsplit", "dsplit", "array_split"])
def test_named_splits(name: str) -> None:
    for a in (NUMBER, ROW, FLOATS_2D, CUBE, array((2, 3, 4, 2), np.float64), np.zeros((0, 2, 2))):
        check(f"np.{name}(a, (1, 2))", a=a)
        check(f"np.{name}(a, 2)", a=a)


@pytest.mark.parametrize("axis", [*axes(4), 4])
def test_array_split_along_every_axis(axis: int | None) -> None:
    check(f"np.array_split(a, 2, {axis})", a=array((2, 3, 1, 5), np.int64))


def test_tile_of_rows_of_many_lengths() -> None:
    for n in (1, 3, 999, 1500):
        for times in (0, 1, 2, 700):
            check("np.tile(a, n)", a=array((n,), np.float64), n=times)


def test_parts_at_places_that_the_run_finds_are_views() -> None:
    check("p = np.split(a, (i, i + 1))\np[1][0] = 9\nreturn p", a=ROW.copy(), i=2)


@pytest.mark.parametrize("axis", [*axes(3), 3])
def test_repeat(axis: int | None) -> None:
    a = array((2, 3, 2), np.float64)
    for times in (0, 1, 3, -1):
        check(f"np.repeat(a, n, axis={axis}), a.repeat(n, {axis})", a=a, n=times)
    for counts in ((1, 2), (2, 0, 1), (2,), (1, -1, 0)):
        check(f"np.repeat(a, n, {axis})", a=a, n=np.array(counts))


def test_counts_of_repeat() -> None:
    for counts in ("2", "True", "[1, 0, 2, 1]", "(3,)", "np.array(2)", "np.uint8(2)", "((1, 2), (3, 4))", "()"):
        check(f"np.repeat(a, {counts})", a=ROW)
    for dtype in (np.bool_, np.int8, np.uint32, np.float64, np.uint64):
        check("np.repeat(a, n)", a=ROW, n=array((4,), dtype) % dtype(3) if dtype is not np.bool_ else array((4,), dtype))
    check("np.repeat(3, 4), np.repeat((1, 2), 2)")
    check("np.repeat(a, 3), np.repeat(a, n)", a=np.zeros(0), n=np.zeros(0, np.int64))
    check("np.repeat(a, 3)", a=NUMBER)


@pytest.mark.parametrize("name", ["repeat", "tile"])
def test_repetitions_of_layouts(name: str) -> None:
    for shape in ((4,), (3, 4), (2, 3, 2)):
        for a in layouts(array(shape, np.int64)):
            check(f"np.{name}(a, 2)", a=a)


@pytest.mark.parametrize("times", ["2", "0", "(2,)", "(2, 3)", "[2, 1]", "(2, 1, 3)", "()", "-1", "(n, 2)"])
def test_tile(times: str) -> None:
    for a in (NUMBER, ROW, FLOATS_2D, np.zeros((2, 0)) if "-" not in times else ROW):
        check(f"np.tile(a, {times})", a=a, n=3)
    check(f"np.tile(5, {times})", n=3)
    check(f"np.tile((1, 2), {times})", n=3)


@pytest.mark.parametrize(
    "text", ["np.concatenate(3)", "np.stack(())", "np.vstack(2.5)", "np.concatenate([])", "np.hstack(a)", "np.concatenate((a, b))"]
)
def test_what_is_not_joined(text: str) -> None:
    check(text, a=NUMBER, b=ROW)


@pytest.mark.parametrize(
    "text",
    ["np.concatenate((a, a), casting='no')", "np.tile(a, n)", "np.array_split(a, n)", "np.array_split(a, n[0])", "np.repeat(a, 1.5)"],
)
def test_what_is_refused_that_numpy_takes(text: str) -> None:
    with pytest.raises(WeftError):
        compiled(text, "a, n")[1](ROW, np.array([1, 2]))

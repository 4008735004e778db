"""Arrays joined, split, repeated and padded, against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import weft

from .against_numpy import ALL, array, axes, cases, check, refused

A, B = array((2, 3)), array((2, 3), np.int32, seed=1)


@pytest.mark.parametrize("dtype", ALL)
def test_dtypes(dtype: type) -> None:
    for other in (np.float32, np.int8, np.bool_, np.complex64):
        check("xp.concatenate((a, b))", a=array((2, 3), dtype), b=array((1, 3), other))


@pytest.mark.parametrize("name", ["concatenate", "stack", "concat"])
def test_axes(name: str) -> None:
    for axis in axes(2):
        check(f"xp.{name}((a, b), axis={axis})", a=A, b=B)
        check(f"xp.{name}([a], axis={axis})", a=A)
        check(f"xp.{name}((a, b[:, :2]), axis={axis})", a=A, b=B)
    check(f"xp.{name}(a)", a=array((2, 3, 4)))
    check(f"xp.{name}(())")
    check(f"xp.{name}((a, 1))", a=A)
    check(f"xp.{name}((a, a[0]))", a=A)
    for words in ("dtype=xp.float32", "dtype=xp.int8", "dtype=xp.int8, casting='unsafe'", "out=o", "out=o, dtype=float"):
        check(f"xp.{name}((a, b), {words})", a=A, b=B, o=np.zeros((2, 2, 3) if name == "stack" else (4, 3)))


@pytest.mark.parametrize("name", ["hstack", "vstack", "dstack", "column_stack"])
def test_stacks(name: str) -> None:
    for shape in ((), (3,), (2, 3), (2, 3, 4)):
        check(f"xp.{name}((a, a))", a=array(shape))
    check(f"xp.{name}((a, b))", a=array((3,)), b=array((4,)))
    check(f"xp.{name}(a)", a=array((2, 3)))
    check(f"xp.{name}(([1, 2], [3.5, 4]))")


@pytest.mark.parametrize("name", ["concatenate", "stack", "hstack", "vstack", "dstack", "column_stack"])
def test_what_is_joined_is_a_sequence(name: str) -> None:
    for text in ("(a for a in [[1], [2]])", "map(list, [(1,)])", "{1, 2}", "3", "xp.asarray(3)", "[]", "()"):
        check(f"xp.{name}({text})")
    for text in ("([1], [[2]])", "([[1]], [2])", "([1], 2)"):
        with pytest.raises(ValueError) as theirs:
            np.concatenate(eval(text))
        with pytest.raises(ValueError) as ours:
            weft.concatenate(eval(text))
        assert str(ours.value) == str(theirs.value)


def test_block_tells_where_lists_are_not_nested_alike() -> None:
    for wrong in ([], [[]], [[1], []], ([1],), [[1], (2,)], [[1, 2], 3], [1, [2]], [[[1]], [2]], [[], 1], [[1, 2, [3]], [[]]]):
        with pytest.raises((ValueError, TypeError)) as theirs:
            np.block(wrong)
        with pytest.raises(theirs.type) as ours:
            weft.block(wrong)
        assert str(ours.value) == str(theirs.value)


def test_block_and_append() -> None:
    a, b = array((2, 2)), array((2, 3))
    for text in ("[a, b]", "[[a, b], [b, a]]", "a", "[[a, b], [a]]", "[]", "[[a], b]", "[1, 2]", "[[a], [[5, 6]]]"):
        check(f"xp.block({text})", a=a, b=b)
    for axis in axes(2):
        check(f"xp.append(a, b, {axis})", a=a, b=b)
    check("xp.append(a, 5)", a=a)


@pytest.mark.parametrize("name", ["split", "array_split", "hsplit", "vsplit", "dsplit"])
def test_split(name: str) -> None:
    for shape, parts in cases(((6,), (4, 6), (2, 4, 6)), (2, 3, 4, 0, -1, [1, 3], [0, 9], [], [3, 1])):
        check(f"xp.{name}(a, {parts})", a=array(shape))
        if not name.endswith("hsplit") and name in ("split", "array_split"):
            check(f"xp.{name}(a, {parts}, axis=-1)", a=array(shape))
    check("b = xp.split(a, 2)\nb[0][0] = 9\na", a=array((4,)))
    check("xp.unstack(a, axis=1)", a=A)
    check("xp.unstack(a)", a=np.array(1.0))


def test_repeat() -> None:
    for repeats in ("0", "1", "3", "-1", "[2]", "[1, 0, 2]", "[1, 2]", "[-1, 1, 1]", "xp.asarray([2, 1, 1])"):
        for axis in axes(2):
            check(f"xp.repeat(a, {repeats}, {axis})", a=A)
    check("xp.repeat(3, 4)")
    check("xp.repeat(a, xp.asarray([2.5]), 0)", a=A)
    check("xp.repeat(a, 2, axis=1)", a=array((2, 3, 2))[::-1])


def test_tile() -> None:
    for reps in ("0", "1", "2", "(2, 1)", "(1, 2, 3)", "()", "(2, -1)", "xp.asarray([2, 2])"):
        for a in (np.array(2.0), array((3,)), A, np.zeros((0, 2))):
            check(f"xp.tile(a, {reps})", a=a)


def test_delete_and_insert() -> None:
    for where in ("0", "-1", "[0, 2]", "slice(None, None, 2)", "[1, 1]", "7", "[True, False, True]", "[]", "[-1, 0]"):
        check(f"xp.delete(a, {where}, 1)", a=A)
        check(f"xp.delete(a, {where})", a=array((3,)))
    check("xp.delete(a, slice(0, 40, 2))", a=array((40,)))
    for where in ("0", "1", "-1", "[0, 2]", "[2, 0]", "3", "5", "[1, 1]", "slice(0, 2)"):
        for value in ("9", "[5, 6]"):
            check(f"xp.insert(a, {where}, {value})", a=array((3,)))
            check(f"xp.insert(a, {where}, {value}, axis=0)", a=array((3, 2)))
            check(f"xp.insert(a, {where}, {value}, axis=1)", a=array((2, 3)))
    check("xp.insert(a, 1, 2.7)", a=array((3,), np.int32))
    check("xp.insert(a, [1], [[7], [8]], axis=1)", a=array((2, 3)))


@pytest.mark.parametrize(
    "mode", ["constant", "edge", "reflect", "symmetric", "wrap", "maximum", "minimum", "mean", "median", "linear_ramp"]
)
def test_pad(mode: str) -> None:
    for width in ("1", "(2, 3)", "((1, 2), (0, 3))", "0", "((7, 5), (8, 9))", "((1, 2),)", "-1", "1.5", "((1, 2), (1, 2), (1, 2))"):
        check(f"xp.pad(a, {width}, '{mode}')", exact=False, a=A)
        check(f"xp.pad(a, {width}, '{mode}')", exact=False, a=B)
    check(f"xp.pad(a, 2, '{mode}')", a=np.zeros((0, 3)))
    check(f"xp.pad(a, 3, '{mode}')", exact=False, a=array((1, 3)))
    check(f"xp.pad(a, {{0: 1, 1: (2, 0)}}, '{mode}')", exact=False, a=A)


def test_pad_constants() -> None:
    for values in ("7", "(1, 2)", "((1, 2), (3, 4))", "2.7"):
        check(f"xp.pad(a, ((1, 2), (0, 3)), constant_values={values})", a=A)
        check(f"xp.pad(a, 1, constant_values={values})", a=B)
    check("xp.pad(a, 1, 'edge', constant_values=1)", a=A)
    check("xp.pad(a, 1, 'nothing')", a=A)
    refused("xp.pad(a, 1, 'reflect', reflect_type='odd')", a=A)


def test_pad_with_statistics_of_the_ends() -> None:
    for length in ("1", "2", "(1, 3)", "((2, 1), (3, 9))", "None", "0", "-1", "2.4"):
        for mode in ("maximum", "minimum", "median"):
            check(f"xp.pad(a, ((1, 2), (0, 3)), {mode!r}, stat_length={length})", exact=False, a=A)
            check(f"xp.pad(a, 2, {mode!r}, stat_length={length})", exact=False, a=B)
        if length != "0":
            check(f"xp.pad(a, ((1, 2), (0, 3)), 'mean', stat_length={length})", exact=False, a=B)


def test_pad_with_ramps() -> None:
    for values in ("0", "5", "(1, -2)", "((1, 2), (3, 4))", "2.5"):
        for a in (A, B):
            check(f"xp.pad(a, ((1, 2), (0, 5)), 'linear_ramp', end_values={values})", exact=False, a=a)
    check("xp.pad(a, 1, 'linear_ramp', constant_values=1)", a=A)


def test_pad_by_a_function() -> None:
    write = "row[: width[0]] = words['by'] + axis; row[row.shape[0] - width[1] :] = row[width[0]]"
    for width in ("2", "((1, 2), (0, 3))"):
        check(f"def write(row, width, axis, words): {write}\nxp.pad(a, {width}, write, by=7)", a=A)


def test_pad_lies_as_its_array() -> None:
    for mode in ("constant", "mean", "empty", "linear_ramp", "edge"):
        for text in ("a", "a.T"):
            check(f"xp.pad({text}, 1, {mode!r}).flags.c_contiguous", a=A)


def test_numbers_among_what_is_joined_have_no_dtype() -> None:
    parts = ("[np.float32(1), 1.0]", "[np.int8(1), 300]", "[xp.ones(2, 'f4'), 1j]", "[True, 1]", "[[1, 2], 3.0]", "[np.float16(1), 1]")
    for name, text in cases(("concatenate", "stack", "hstack", "append", "column_stack", "block"), parts):
        words = {"concatenate": ", axis=None", "append": ""}.get(name, "")
        check(f"xp.{name}({'*' if name == 'append' else ''}{text}{words})")

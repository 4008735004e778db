"""Elements taken from, and put into, places that indices or masks say, against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from numpy_calls import ALL, INTEGERS, array, axes, check, compiled, layouts

from weft import WeftError, cuda

ROW = array((4,), np.float64)
MATRIX = array((3, 4), np.float64)
CUBE = array((2, 3, 4), np.float32)
NUMBER = np.array(3.5)
INDICES = np.array([0, 2, -1, 1])
MODES = ("raise", "wrap", "clip")


@pytest.mark.parametrize("dtype", ALL)
def test_every_dtype(dtype: type) -> None:
    a = array((4,), dtype)
    check(
        "np.take(a, i), np.take(a, 1), np.take_along_axis(a, i, 0), np.extract(a, a), np.compress(a, a), np.compress(a.real > 0, a)",
        a=a,
        i=INDICES,
    )
    check("np.put(a, i, 1)\nnp.put_along_axis(a, i[:1], 0, 0)\nreturn a", a=a, i=INDICES)
    check("np.place(a, a == a[0], a[1:])\nreturn a", a=a)
    check("np.fill_diagonal(a, a[0])\nreturn a", a=array((3, 3), dtype))


@pytest.mark.parametrize("dtype", [*INTEGERS, np.bool_, np.float64])
def test_every_type_of_index(dtype: type) -> None:
    i = (array((3,), dtype) % 3).astype(dtype) if dtype is not np.bool_ else array((3,), dtype)
    check("np.take(a, i)", a=ROW, i=i)
    check("np.take_along_axis(a, i, 0)", a=ROW, i=i)
    check("np.put(a, i, 9)\nreturn a", a=ROW.copy(), i=i)
    check("np.put_along_axis(a, i, 9, 0)\nreturn a", a=ROW.copy(), i=i)
    check("np.unravel_index(i, (3, 4)), np.unravel_index(i[0], (3, 4))", i=i)
    check("np.ravel_multi_index((i, i), (3, 4)), np.ravel_multi_index((i[0], i), (3, 4))", i=i)


@pytest.mark.parametrize("axis", [*axes(3), 3])
@pytest.mark.parametrize("mode", MODES)
def test_take(axis: int | None, mode: str) -> None:
    a = array((2, 3, 4), np.float64)
    for indices in (np.array([1, 0, -2]), np.array([[0, 9], [-9, 1]]), np.array([-1]), np.zeros((0,), np.int64)):
        check(f"np.take(a, i, axis={axis}, mode='{mode}'), a.take(i, {axis}, None, '{mode}')", a=a, i=indices)
    for index in (0, -1, 9):
        check(f"np.take(a, i, axis={axis}, mode='{mode}')", a=a, i=index)


def test_take_of_layouts_and_empty_arrays() -> None:
    for shape in ((4,), (4, 3), (4, 1, 2), (4, 2, 1, 3)):
        for a in layouts(array(shape, np.int16)):
            check("np.take(a, i), np.take(a, i, 0), np.take(a, 2, axis=0)", a=a, i=INDICES)
    for i in layouts(np.array([[0, 1], [2, -1]])):
        check("np.take(a, i), np.take(a, i, 1)", a=MATRIX, i=i)
    for mode in MODES:
        for i in (INDICES, INDICES[:0]):
            check(f"np.take(a, i, mode='{mode}')", a=ROW[:0], i=i)
            check(f"np.take(a, i, 1, mode='{mode}')", a=np.zeros((0, 3)), i=i)


@pytest.mark.parametrize("indices", ["(0, 2)", "[0, 1]", "True", "np.uint8(2)", "()", "[]"])
def test_indices_of_take(indices: str) -> None:
    check(f"np.take(a, {indices}), np.take((1, 2, 3), {indices})", a=ROW)


def test_out_of_take() -> None:
    for out in (*layouts(np.zeros((3, 4))), np.zeros((4, 4)), np.zeros(12)):
        check("np.take(a, i, 1, out)", a=MATRIX, i=INDICES, out=out)
    check("np.take(a, 0)", a=NUMBER)
    check("np.take(a, 0, mode='other')", a=ROW)


ALONG = ((3, 1), (3, 6), (1, 4), (1, 1), (3, 0), (2, 4), (3, 2))


@pytest.mark.parametrize("axis", [0, 1, -1, 2])
def test_along_an_axis(axis: int) -> None:
    for shape in ALONG:
        i = np.random.default_rng(0).integers(-3, 3, shape)
        for a in (MATRIX, MATRIX[:1], np.asfortranarray(MATRIX)):
            check(f"np.take_along_axis(a, i, {axis})", a=a, i=i)
        check(f"np.put_along_axis(a, i, 7, {axis})\nreturn a", a=MATRIX.copy(), i=i)
    check(f"np.take_along_axis(a, i, axis={axis})", a=MATRIX, i=np.array([[9]]))
    check(f"np.put_along_axis(a, i, 7, {axis})\nreturn a", a=MATRIX.copy(), i=np.array([[-9]]))


@pytest.mark.parametrize("axis", [*axes(3)])
def test_along_axes_of_cubes(axis: int | None) -> None:
    i = np.random.default_rng(0).integers(-2, 2, (2, 1, 4))
    check(f"np.take_along_axis(a, i, {axis})", a=CUBE, i=i)
    check(f"np.take_along_axis(a, i, {axis})", a=CUBE, i=i.ravel())
    check(f"np.put_along_axis(a, i, i * 2.5, {axis})\nreturn a", a=CUBE.copy(), i=i)


def test_take_along_the_last_axis_by_default() -> None:
    check("np.take_along_axis(a, i)", a=MATRIX, i=np.array([[1], [0], [3]]))


@pytest.mark.parametrize("values", ["7", "2.9", "(1, 2, 3, 4)", "((1,), (2,), (3,))", "b", "b[0]", "a[::-1]", "(1, 2)", "b[None]", "True"])
def test_values_put_along_an_axis(values: str) -> None:
    i = np.array([[1, 0, 3, 2]])
    if values == "b[None]":
        with pytest.raises(WeftError):
            compiled(f"np.put_along_axis(a, i, {values}, 1)", "a, i, b")[1](MATRIX, i, MATRIX)
        return
    check(f"np.put_along_axis(a, i, {values}, 1)\nreturn a", a=MATRIX.copy(), i=i, b=array((3, 4), np.float64, 1))
    check(f"np.put_along_axis(a, i, {values}, 1)\nreturn a", a=array((3, 4), np.int32), i=i, b=array((3, 4), np.float64, 1))


def test_put_along_no_axis() -> None:
    check("np.put_along_axis(a, i, 9, None)\nreturn a", a=ROW.copy(), i=INDICES)
    check("np.put_along_axis(a, i, 9, None)\nreturn a", a=ROW.copy(), i=INDICES[None])


@pytest.mark.parametrize("mode", MODES)
def test_put(mode: str) -> None:
    for values in (9, 2.5, np.array([1.5, 2, 3]), np.zeros(0), np.array([[7, 8]])):
        for a in (*layouts(array((3, 4), np.float64)), array((4,), np.int32), array((2, 2, 1, 3), np.float64)):
            check(f"a.put(i, v, '{mode}')\nreturn a", a=a, i=INDICES, v=values)
    for a in (ROW, MATRIX):
        for i in (np.array([[1, 2], [0, 30]]), np.array([-13]), np.zeros(0, np.int64), 2, -3, 99):
            check(f"np.put(a, i, (1, 2, 3), mode='{mode}')\nreturn a", a=a.copy(), i=i)
    check(f"np.put(a, i, 1, '{mode}')\nreturn a", a=np.zeros(0), i=INDICES)


def test_put_of_elements_of_the_array_itself() -> None:
    check("np.put(a, i, a[::-1])\nreturn a", a=ROW.copy(), i=INDICES)
    check("np.put(a, a, a[::-1])\nreturn a", a=np.array([2, 0, 3, 1]))
    check("np.put(a.T, (1, 2, 3), (1, 2, 3))\nreturn a", a=MATRIX.copy())
    check("np.put((1, 2), 0, 1)")


@pytest.mark.parametrize("values", ["9", "(1.5, 2.5)", "a[1]", "a", "()", "((1, 2), (3, 4))"])
def test_place(values: str) -> None:
    for a in (*layouts(MATRIX.copy()), array((3, 4), np.int64)):
        check(f"np.place(a, m, {values})\nreturn a", a=a, m=MATRIX > 1)
    check(f"np.place(a, m, {values})\nreturn a", a=MATRIX.copy(), m=MATRIX > 99)
    check(f"np.place(a, m, {values})\nreturn a", a=MATRIX.copy(), m=(MATRIX > 1).reshape(2, 6))
    check(f"np.place(a, m, {values})\nreturn a", a=MATRIX.copy(), m=MATRIX[:2] > 1)


def test_masks_of_numbers_and_lists() -> None:
    check("np.place(a, [1, 0, 2, 0], (7, 8))\nreturn a", a=ROW.copy())
    check("np.place(a, i, (7, 8))\nreturn a", a=ROW.copy(), i=INDICES)
    check("np.place((1, 2), (True, False), 7)")


def test_extract() -> None:
    for a in layouts(MATRIX):
        for m in layouts(MATRIX > 1):
            check("np.extract(m, a)", a=a, m=m)
    for m in (np.array([True, False, True]), np.zeros(14, bool), np.arange(14) == 13, np.zeros(0, bool), np.ones((3, 4), bool), MATRIX):
        check("np.extract(m, a)", a=MATRIX, m=m)
    check("np.extract((1, 0), (5, 6)), np.extract(True, a), np.extract([True, False], a)", a=ROW)


@pytest.mark.parametrize("axis", [*axes(3), 3])
def test_compress(axis: int | None) -> None:
    for condition in ((True, False), (True, True, False), (), (False, False), (0, 1, 0, 0, 0), (0, 0, 0, 2)):
        for a in (array((2, 3, 4), np.float64), np.asfortranarray(array((2, 3, 4), np.float64))):
            check(f"np.compress(c, a, axis={axis}), a.compress(c, {axis})", a=a, c=np.array(condition))
    check(f"np.compress((True, False), a, {axis})", a=CUBE)


def test_compress_of_nothing() -> None:
    for shape in ((0, 3, 0), (2, 3, 0), (0, 3, 2), (2, 0, 2)):
        for axis in (0, 1, 2):
            check(
                f"np.compress(c, a, {axis}), np.take(a, i, {axis})",
                a=np.zeros(shape),
                c=np.array([False, False, False, True]),
                i=np.array([9]),
            )


def test_out_of_compress() -> None:
    for out in (*layouts(np.zeros((2, 4))), np.zeros((3, 4)), np.zeros(8)):
        check("np.compress((1, 0, 1), a, 0, out)", a=MATRIX, out=out)
    check("np.compress(a, a)", a=MATRIX)


@pytest.mark.parametrize("shape", [(3, 3), (3, 5), (7, 2), (8, 3), (2, 2, 2), (2, 2, 2, 2), (0, 2), (3, 0), (2, 3, 2), (4,)])
@pytest.mark.parametrize("wrap", [False, True])
def test_fill_diagonal(shape: tuple[int, ...], wrap: bool) -> None:
    if shape == (3, 0):
        wrap = False
    for a in layouts(np.zeros(shape)):
        check("np.fill_diagonal(a, 5.5, wrap=w)\nreturn a", a=a, w=wrap)
    for value in ("(1, 2)", "np.arange(40.0)", "((1, 2), (3, 4))", "True"):
        check(f"np.fill_diagonal(a, {value}, {wrap})\nreturn a", a=np.zeros(shape))


def test_fill_diagonal_with_itself() -> None:
    check("np.fill_diagonal(a, a[::-1])\nreturn a", a=array((3, 3), np.float64))
    check("np.fill_diagonal(a, 2.9)\nreturn a", a=array((3, 3), np.int8))


MULTI = (
    ("(1, 2)", "(3, 4)"),
    ("(i, i)", "(3, 4)"),
    ("(i, 1)", "(3, 4)"),
    ("(i, j)", "(3, 5)"),
    ("(j, i, 0)", "(4, 5, 6)"),
    ("[2, 1]", "[3, 4]"),
)
MORE = (
    ("(3,)", "5"),
    ("(7, 1)", "(3, 4)"),
    ("(-1, i)", "(3, 4)"),
    ("j", "(3,)"),
    ("m", "(4, 4)"),
    ("(1, 2)", "(3,)"),
    ("((1, 2), i)", "(3, 4)"),
)


@pytest.mark.parametrize("case", [*MULTI, *MORE])
@pytest.mark.parametrize("arguments", ["", ", 'wrap'", ", mode='clip'", ", order='F'", ", 'wrap', 'F'"])
def test_ravel_multi_index(case: tuple[str, str], arguments: str) -> None:
    check(
        f"np.ravel_multi_index({case[0]}, {case[1]}{arguments})",
        i=np.array([0, 2]),
        j=np.array([[1], [-1], [7]]),
        m=np.array([[1, 2], [3, 0]]),
    )


def test_more_of_ravel_multi_index() -> None:
    check("np.ravel_multi_index((i, i), (3, 3), mode=('wrap', 'clip'))", i=INDICES)
    check("np.ravel_multi_index((i, i), (3, 3), mode='other')", i=INDICES)
    check("np.ravel_multi_index((i, 1.5), (3, 3))", i=INDICES)
    check("np.ravel_multi_index((i, i), (n, n + 1))", i=abs(INDICES), n=3)


@pytest.mark.parametrize("shape", ["(3, 4)", "(2, 3, 4)", "12", "[4, 3]", "(3, 0)", "()", "(n, 4, n)"])
@pytest.mark.parametrize("order", ["", ", order='F'"])
def test_unravel_index(shape: str, order: str) -> None:
    for i in (
        6,
        0,
        -1,
        24,
        np.int8(5),
        np.array([0, 11, 5]),
        np.array([[1], [2]], np.uint8),
        np.array([0, -1]),
        np.zeros(0, np.int64),
        np.array(3),
    ):
        check(f"np.unravel_index(i, {shape}{order})", i=i, n=2)
    check(f"np.unravel_index((1, 2), {shape}{order})", n=2)


def test_what_unravel_index_refuses() -> None:
    check("np.unravel_index(1.5, (3, 4))")
    check("np.unravel_index(1, (3, 4), 'K')")


@pytest.mark.parametrize("text", ["np.take(a, 0, out=b)", "np.put_along_axis(m, i, 0, None)", "np.take(a, i, out=i)", "np.take(a, 1.5)"])
def test_what_is_refused_that_numpy_takes(text: str) -> None:
    with pytest.raises(WeftError):
        compiled(text, "a, b, m, i")[1](ROW, np.zeros(()), MATRIX, INDICES)


def test_numbers_in_kernels() -> None:
    @cuda.jit
    def kernel(a, m, out):
        i = cuda.grid(1)
        if i < out.size:
            row, column = np.unravel_index(i, (2, 2))
            out[i] = np.take(a, i, mode="wrap") + 10 * row + 100 * column + 1000 * np.ravel_multi_index((i, 1), (4, 2))
            np.put(a, i, 7)
            if i == 0:
                np.fill_diagonal(m, 5)

    a, m, out = np.arange(4.0), np.zeros((2, 2)), np.zeros(4)
    kernel[1, 4](a, m, out)
    i = np.arange(4)
    assert np.array_equal(out, i + 10 * (i // 2) + 100 * (i % 2) + 1000 * (2 * i + 1))
    assert np.array_equal(a, [7, 7, 7, 7]) and np.array_equal(m, [[5, 0], [0, 5]])

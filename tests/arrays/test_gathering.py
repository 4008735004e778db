"""Elements read and written by indices and masks, against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from .against_numpy import ALL, array, axes, check

A = array((3, 4))
NEW = np.lib.NumpyVersion(np.__version__) >= "2.5.0"


@pytest.mark.parametrize("dtype", ALL)
def test_dtypes(dtype: type) -> None:
    check("xp.take(a, i, 1)", a=array((3, 4), dtype), i=np.array([0, 3, -1]))
    check("xp.compress(c, a, 0)", a=array((3, 4), dtype), c=np.array([True, False, True]))
    check("xp.put(a, i, 1)\na", a=array((3, 4), dtype), i=np.array([0, 3, -1]))


def test_take() -> None:
    for index in (
        "0",
        "-1",
        "3",
        "7",
        "[0, 2]",
        "[[0, 1], [2, -1]]",
        "[]",
        "[5]",
        "xp.asarray([1.5])",
        "[True, False]",
        "xp.asarray([1, 2])",
    ):
        for axis in axes(2):
            check(f"xp.take(a, {index}, {axis})", a=A)
    for mode in ("wrap", "clip", "raise", "none"):
        check(f"xp.take(a, [-7, 2, 9], 1, mode='{mode}')", a=A)
    check("xp.take(a, [0, 1], out=o)", a=A, o=np.zeros(2))
    check("xp.take(a, [0], 0)", a=np.zeros((0, 3)))
    check("xp.take(a, [], 0)", a=np.zeros((0, 3)))
    check("xp.take(5, [0, 0])")


def test_along_axis() -> None:
    i = np.array([[0], [2], [1]])
    check("xp.take_along_axis(a, i, 1)", a=A, i=i)
    check("xp.take_along_axis(a, i, axis=-1)", a=A, i=i)
    check("xp.take_along_axis(a, i, None)", a=A, i=np.array([5, 0]))
    check("xp.take_along_axis(a, i, None)", a=A, i=i)
    check("xp.take_along_axis(a, i, 0)", a=A, i=np.array([[0, 1, 2, 0]]))
    for bad in (np.array([[9], [0], [0]]), np.array([[0.0], [1], [2]]), np.array([0, 1]), np.array([[0], [1]])):
        check("xp.take_along_axis(a, i, 1)", a=A, i=bad)
    check("xp.put_along_axis(a, i, 9, 1)\na", a=A, i=i)
    check("xp.put_along_axis(a, i, v, 1)\na", a=A, i=i, v=np.array([[1], [2], [3]]))
    check("xp.put_along_axis(a, i, 9, None)\na", a=A, i=np.array([5, 0]))
    check("xp.put_along_axis(a.T, i.T, 9, 0)\na", a=A, i=i)


def test_put_and_place() -> None:
    for words in (
        "[0, 2], 9",
        "[0, -1, 5], [1, 2]",
        "99, 1",
        "[], 1",
        "[0, 1], []",
        "[20, -30], 1, mode='wrap'",
        "[20], 1, mode='clip'",
        "xp.asarray([1.5]), 1",
    ):
        check(f"xp.put(a, {words})\na", a=A)
    check("xp.put(a[::2], [0, 1], 9)\na", a=A)
    check("xp.place(a, a > 1, [7, 8])\na", a=A)
    check("xp.place(a, a > 1, [])\na", a=A)
    check("xp.place(a, a > 100, [])\na", a=A)
    check("xp.place(a, [1, 0], [3])\na", a=A)
    check("xp.putmask(a, a > 1, [7, 8, 9])\na", a=A)
    check("xp.putmask(a, a > 1, a * 10)\na", a=A)
    check("xp.putmask(a, a > 1, 5)\na", a=array((3, 4), np.int32))
    check("xp.copyto(a, 5)\na", a=A)
    check("xp.copyto(a, [1, 2, 3, 4], where=m)\na", a=A, m=A > 0)
    check("xp.copyto(a, 1.5)\na", a=array((2,), np.int32))
    check("xp.copyto(a, b)\na", a=array((2,), np.int32), b=np.ones(2))
    check("xp.copyto(a, b, casting='unsafe')\na", a=array((2,), np.int32), b=np.ones(2) * 1.5)


def test_masks() -> None:
    for condition in ("[True, False, True]", "[0, 1]", "[]", "[1, 1, 1, 1, 1]", "[[True]]"):
        for axis in axes(2):
            check(f"xp.compress({condition}, a, {axis})", a=A)
    check("xp.extract(a > 1, a)", a=A)
    check("xp.extract([1, 0], a)", a=A)


def test_choose_and_select() -> None:
    i = np.array([[0, 1], [2, 0]])
    for mode in ("raise", "wrap", "clip"):
        check(f"xp.choose(i, (a, 5, [7, 8]), mode='{mode}')", i=i, a=array((2, 2)))
        check(f"xp.choose(i - 1, (1, 2, 3), mode='{mode}')", i=i)
    check("xp.choose(i, [])", i=i)
    check("xp.select([a < 0, a > 2], [a, a * 10], 7)", a=A)
    check("xp.select([a < 0, a > 2], [a, 1])", a=array((3, 4), np.int32))
    check("xp.select([a < 0], [a, 1])", a=A)
    check("xp.select([], [])")
    check("xp.select([a], [a])", a=A)
    check("xp.piecewise(a, [a < 0, a >= 0], [-1, lambda x: x * 2])", a=A)
    check("xp.piecewise(a, [a < 0], [-1, lambda x: x - x.max()])", a=A)
    check("xp.piecewise(a, [a < 0, a > 3], [-1])", a=A)


def test_fill_diagonal() -> None:
    for shape in ((3, 3), (2, 4), (5, 2), (9, 2), (3,), (2, 2, 2), (2, 3, 2)):
        for words in ("7", "[1, 2]", "[1, 2, 3, 4, 5, 6, 7, 8]"):
            check(f"xp.fill_diagonal(a, {words})\na", a=array(shape))
            check(f"xp.fill_diagonal(a, {words}, wrap=True)\na", a=array(shape))


def test_positions() -> None:
    for words in ("([0, 1], [2, 0]), (2, 3)", "([0, 5], [2, 0]), (2, 3)", "([0, 5], [2, -1]), (2, 3), mode='wrap'"):
        for order in ("C", "F"):
            check(f"xp.ravel_multi_index({words}, order='{order}')")
    check("xp.ravel_multi_index(([0, 5], [2, -1]), (2, 3), mode=('clip', 'wrap'))")
    check("xp.ravel_multi_index(([0.5], [1]), (2, 3))")
    for index in ("[2, 3]", "5", "[[0], [1]]", "[6]", "-1", "1.5", "[]"):
        for order in ("C", "F"):
            check(f"xp.unravel_index({index}, (2, 3), order='{order}')")
    check("xp.ix_([0, 1], [True, False, True])")
    check("xp.ix_([[0]])")
    check("xp.diag_indices(3)")
    for text in ("nonzero(a)", "flatnonzero(a)", "argwhere(a)", "where(a)"):
        for a in (A, A[0], np.zeros((0, 3)), A > 0, np.array(3.0), np.array(0)):
            if text != "where(a)" or a.ndim:
                check(f"xp.{text}", a=a)


def test_indices_of_shapes_without_elements_and_of_too_many() -> None:
    for mode in ("raise", "wrap", "clip"):
        check(f"xp.ravel_multi_index(xp.zeros((3, 0), dtype=int), (2, 1, 0), mode={mode!r})")
        check(f"xp.ravel_multi_index(xp.zeros((3, 1), dtype=int), (2, 1, 0), mode={mode!r})")
        check(f"xp.ravel_multi_index(([0], [0]), (2**62, 2), mode={mode!r})")
        check(f"xp.ravel_multi_index(([0], [0]), (2**62 - 1, 2), mode={mode!r})")
    for text in (
        "1, (2**32 - 1, 2**31 + 1)",
        "[0], ()",
        "0, ()",
        "[1], ()",
        "1, ()",
        "xp.zeros(0, dtype=int), (2, 1, 0)",
        "[1], (2, 1, 0)",
    ):
        check(f"xp.unravel_index({text})")


def test_numbers_among_choices_have_no_dtype() -> None:
    for text in ("1, [np.float32(1), 1.0]", "[0, 1], [np.int8(1), 2]", "1, [np.int8(1), 300]", "0, [1, 2.5]", "0, [xp.ones(2, 'f4'), 1j]"):
        check(f"xp.choose({text})")


def test_out_is_safe_to_convert_to_what_is_gathered() -> None:
    for text in ("take(a, [0, 1], out=o)", "compress([True, True], a, 0, out=o)", "choose(xp.asarray([0, 0]), [a, a], out=o)"):
        for dtype in (np.int8, np.int64, np.float32, np.float64):
            for other in (np.int8, np.int64, np.float32, np.float64):
                if NEW and not np.can_cast(other, dtype, "safe"):
                    continue  # From NumPy 2.5 on everything is converted to what `out` has.
                check(f"xp.{text}\no", a=array((2,), dtype), o=np.zeros(2, other))

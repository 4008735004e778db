"""Grids and rows written in brackets, and functions of slices, against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import weft

from .against_numpy import array, axes, check

KEYS = (
    "0:3", "1:4:2", ":3", "0:1:3j", "0:1:1j", "-1:1:5j", "0:3, 0:4:2", "0:3, 0:1:3j", ":2, 1:3, 0:1:2j", "0:0, 0:2", "3:0:-1, 0:2",
    "0:1:0.25", "0.5:3", "np.float32(0):3", "0:1:np.complex64(3j)", "5:2, 0:1",
)  # fmt: skip


@pytest.mark.parametrize("key", KEYS)
def test_grids(key: str) -> None:
    check(f"xp.mgrid[{key}]", exact=False)
    check(f"xp.ogrid[{key}]", exact=False)


JOINED = (
    "1:4", "1:4, 0, 7", "[1, 2], 3.5", "a", "a, a", "a, 0:3", "0:1:3j, 5", "'0,2', [1, 2], [3, 4]", "'1,2', [1, 2], [3, 4]",
    "'0,2,0', [1, 2], [3, 4]", "'1,2,0', [1, 2], [3, 4]", "'0,3', a", "'1', [[1, 2]], [[3]]", "'0,2,-1', [1], [2]", "'-1,2,0', 0:2, [5, 6]",
    "np.float32(1), 1.0", "np.int8(1), 2", "np.int8(1), 300", "'x', 1", "1, '0,2'", "'0,2,3,4', 1", "[[1, 2]], [3]", "True, 2", "1j, 2",
    "np.array(1), 2", "xp.asarray(3.5), [1]", "()",
)  # fmt: skip


@pytest.mark.parametrize("key", JOINED)
def test_joined(key: str) -> None:
    check(f"xp.r_[{key}]", exact=False, a=np.arange(4.0))
    check(f"xp.c_[{key}]", exact=False, a=np.arange(4.0))


def test_matrices_are_refused() -> None:
    for directive in ("r", "c"):
        with pytest.raises(ValueError, match="matrix"):
            weft.r_[directive, [1, 2]]


def test_indices_one_after_the_other() -> None:
    for shape in ((), (3,), (2, 3), (0, 2)):
        check("[index for index, _ in xp.ndenumerate(a)]", a=array(shape))
        check("[float(x) for _, x in xp.ndenumerate(a)]", a=array(shape))
    assert list(weft.ndindex(2, 1)) == [(0, 0), (1, 0)]


def test_along_an_axis() -> None:
    a = array((2, 3, 4))
    for axis in axes(3):
        if axis is not None:
            check(f"xp.apply_along_axis(lambda row: row.max() - row[0], {axis}, a)", a=a)
            check(f"xp.apply_along_axis(lambda row, n, less=0: row[::2] * n - less, {axis}, a, 2, less=1)", a=a)
            check(f"xp.apply_along_axis(lambda row: xp.outer(row, row), {axis}, a)", a=a)
    check("xp.apply_along_axis(lambda row: row.sum(), 0, a)", a=array((3,)))
    check("xp.apply_along_axis(lambda row: (1, 2, 3), 1, a)", a=array((2, 3)))
    check("xp.apply_along_axis(lambda row: row.sum(), 0, a)", a=array((3, 0)))


def test_over_axes() -> None:
    a = array((2, 3, 4))
    for over in ("0", "[0, 2]", "(0, -1)", "()", "xp.asarray([1])"):
        check(f"xp.apply_over_axes(xp.sum, a, {over})", exact=False, a=a)
    check("xp.apply_over_axes(lambda x, axis: x.sum(axis).sum(0), a, 0)", a=a)


def test_diagonals() -> None:
    for shape in ((2, 2), (3, 3, 3), (2, 3), (3,)):
        check("xp.diag_indices_from(a)", a=array(shape))

"""Sums up to each element, differences, slopes, areas and interpolation, against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from .against_numpy import ALL, array, axes, check

A = array((3, 4))


@pytest.mark.parametrize("dtype", ALL)
def test_dtypes(dtype: type) -> None:
    a = array((3, 5), dtype)
    for text in ("cumsum(a)", "cumprod(a, 1)", "diff(a)", "diff(a, 2, 0)", "trapezoid(a)", "cumulative_sum(a, axis=0)", "ediff1d(a)"):
        check(f"xp.{text}", exact=False, a=a)
    if np.dtype(dtype).kind != "b":
        check("xp.gradient(a, axis=1)", exact=False, a=a)
    for to in ("float32", "int8", "complex128"):
        check(f"xp.cumsum(a, 0, xp.{to})", exact=False, a=a)


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_cumulative(name: str) -> None:
    for shape in ((), (4,), (3, 4), (2, 3, 4), (0,), (2, 0)):
        for axis in axes(len(shape)):
            check(f"xp.{name}(a, {axis})", exact=False, a=array(shape))
    check(f"xp.{name}(a, 0, out=o)", exact=False, a=A, o=np.zeros((3, 4)))
    check(f"xp.{name}(a, 0, out=o)", exact=False, a=A, o=np.zeros((3, 4), int))
    check(f"xp.{name}(a, 0, out=o)", exact=False, a=A, o=np.zeros((3, 3)))
    check(f"xp.{name}(a.T[::-1], 0)", exact=False, a=A)


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
def test_with_initial(name: str) -> None:
    for shape in ((4,), (3, 4), (0,)):
        for axis in axes(len(shape)):
            for words in ("", ", include_initial=True", ", include_initial=True, dtype=xp.float32"):
                check(f"xp.{name}(a, axis={axis}{words})", exact=False, a=array(shape))


def test_diff() -> None:
    for n in (-1, 0, 1, 2, 5):
        for axis in range(-3, 3):
            check(f"xp.diff(a, {n}, {axis})", a=A)
    for words in ("prepend=0", "append=9", "prepend=a, append=5", "prepend=[[1], [2], [3]]", "prepend=[1, 2]"):
        check(f"xp.diff(a, {words})", a=A)
    check("xp.diff(3)")
    check("xp.diff(a)", a=np.array([True, False, False]))
    for words in ("", ", to_end=5", ", to_begin=[1, 2]", ", [7, 8], 9", ", to_end=1.5"):
        check(f"xp.ediff1d(a{words})", a=array((5,), np.int64))
    check("xp.ediff1d(a)", a=np.zeros(0))


def test_trapezoid() -> None:
    for axis in range(-3, 3):
        for words in ("", ", dx=0.5", ", dx=2"):
            check(f"xp.trapezoid(a, axis={axis}{words})", exact=False, a=A)
        check(f"xp.trapezoid(a, a * 2, axis={axis})", exact=False, a=A)
    check("xp.trapezoid(a, [1, 2, 4, 8])", exact=False, a=A)
    check("xp.trapezoid(a, x, axis=0)", exact=False, a=array((3, 4, 2)), x=np.array([1.0, 3, 4]))
    check("xp.trapezoid([1, 2, 3], [4, 6, 8])")


def test_gradient() -> None:
    a = array((5, 6))
    for order in (1, 2, 3):
        for words in (
            "",
            ", 2.0",
            ", axis=0",
            ", 2.0, axis=1",
            ", 1.0, 2.0",
            ", x, y",
            ", x, 0.5",
            ", x, axis=0",
            ", 1.0, 2.0, 3.0",
            ", y, y",
        ):
            check(f"xp.gradient(a{words}, edge_order={order})", exact=False, a=a, x=np.array([0.0, 1, 3, 4, 9]), y=np.arange(6.0))
    check("xp.gradient(a)", exact=False, a=np.array([1, 5, 2, 9], np.uint8))
    check("xp.gradient(a)", exact=False, a=np.array([1.0]))
    check("xp.gradient(a)", exact=False, a=array((5,), np.complex64))
    check("xp.gradient(a, i)", exact=False, a=array((4,)), i=np.array([1, 2, 4, 8], np.uint8))


def test_interp() -> None:
    x, y = np.array([1.0, 2.0, 4.0]), np.array([3.0, 2.0, 0.0])
    for at in ("2.5", "[0, 1, 1.5, 9]", "[[1, 2], [3, 4]]", "xp.asarray([1, 3])", "float('nan')", "[]"):
        for words in ("", ", left=-1", ", right=7", ", left=-1, right=7", ", period=3", ", period=-3, left=1", ", period=0"):
            check(f"xp.interp({at}, x, y{words})", exact=False, x=x, y=y)
    check("xp.interp([1.5], x, y)", exact=False, x=x, y=y + 1j)
    check("xp.interp([1.5, 0], x, y, left=2j)", exact=False, x=x, y=y + 1j)
    check("xp.interp([1.5], x, y)", exact=False, x=x.astype(np.int32), y=y.astype(np.float32))
    check("xp.interp([1.5], x, y[:2])", x=x, y=y)
    check("xp.interp([1.5], x[:0], y[:0])", x=x, y=y)
    check("xp.interp([1j], x, y)", x=x, y=y)


@pytest.mark.parametrize("axis", [0, -1, 1, -2, 5, None, (0,), (1,)])
def test_what_has_no_axes_has_nothing_to_go_along(axis) -> None:
    for a in (np.array(3.0), np.ones(3), np.ones((2, 3))):
        check(f"xp.add.accumulate(a, axis={axis})", a=a)
        check(f"xp.add.reduceat(a, [0, 1], axis={axis})", a=a)

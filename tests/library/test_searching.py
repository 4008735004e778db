"""Positions of elements and places among sorted numbers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy_calls import ALL, KINDS, array, axes, check, layouts


@pytest.mark.parametrize("dtype", ALL)
def test_positions_of_every_dtype(dtype: type) -> None:
    for text in ("np.count_nonzero(a)", "np.nonzero(a)", "np.argwhere(a)"):
        check(text, a=array((3, 4), dtype))


@pytest.mark.parametrize("text", ["np.nonzero(a)", "a.nonzero()", "np.argwhere(a)", "np.flatnonzero(a)", "np.count_nonzero(a)"])
@pytest.mark.parametrize("shape", [(7,), (0,), (3, 4), (3, 0), (2, 3, 2), (2, 1, 3, 2)])
def test_positions(text: str, shape: tuple[int, ...]) -> None:
    for a in layouts(array(shape, np.float64, nan=True)):
        check(text, a=a)


def test_positions_in_numbers() -> None:
    for a in (np.array(3), np.array(0.0), 0, 2.5):
        check("np.count_nonzero(a)", a=a)
        check("np.argwhere(a)", a=a)
        check("np.flatnonzero(a)", a=a)
        check("np.nonzero(a)", a=a)


@pytest.mark.parametrize("axis", [*axes(3), (0, 1), (0, -1), (2, 1), (0, 1, 2), (), 3, (0, 0)])
@pytest.mark.parametrize("keepdims", ["", ", keepdims=True"])
def test_counts_along_axes(axis: object, keepdims: str) -> None:
    for shape in ((3, 4, 2), (3, 0, 2)):
        check(f"np.count_nonzero(a, {axis}{keepdims})", a=array(shape, np.int64))


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", ALL)
def test_searchsorted(dtype: type, side: str) -> None:
    text = f"np.searchsorted(a, v, side='{side}')"
    for n in (0, 1, 40):
        check(text, a=np.sort(array((n,), dtype, nan=True)), v=array((9,), dtype, 1, nan=True))


@pytest.mark.parametrize(
    "v", [3, 2.5, -100, 300, np.float32(0.25), np.uint8(2), np.nan, array((2, 3), np.int16), array((2, 0, 3), np.float64), np.array(1.5)]
)
@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.int64])
def test_searchsorted_of_two_types(dtype: type, v: object) -> None:
    a = np.sort(array((12,), dtype))
    check("a.searchsorted(v)", a=a, v=v)
    check("np.searchsorted(a, v, 'right')", a=a, v=v)


def test_searchsorted_finds_neighbours() -> None:
    a = np.sort(array((300,), np.float64))
    for v in (a, a[::-1], np.sort(array((2500,), np.float64, 3, nan=True)), np.linspace(-9, 9, 3000)):
        check("np.searchsorted(a, v)", a=a, v=v)
        check("np.searchsorted(a, v, 'right')", a=a, v=v)


def test_searchsorted_with_a_sorter() -> None:
    a = array((12,), np.int64)
    for given in layouts(a):
        check("np.searchsorted(a, v, sorter=o)", a=given, v=array((5,), np.int64, 2), o=np.argsort(a))
    check("np.searchsorted(a, 3, sorter=o)", a=a, o=np.argsort(a)[1:])


@pytest.mark.parametrize("text", ["np.searchsorted(a, 1)", "np.searchsorted(b, 1, 'middle')", "np.searchsorted(a[0, 0], 1)"])
def test_searchsorted_refuses(text: str) -> None:
    check(text, a=array((2, 3), np.float64), b=array((3,), np.float64))


@pytest.mark.parametrize("right", ["", ", right=True"])
@pytest.mark.parametrize("dtype", [kind for kind in KINDS if kind is not np.complex128])
def test_digitize(dtype: type, right: str) -> None:
    text = f"np.digitize(x, bins{right})"
    x = array((9,), dtype, 1, nan=True)
    for bins in (np.sort(array((6,), dtype)), np.sort(array((6,), dtype))[::-1], array((0,), dtype), np.ones(3, dtype)):
        check(text, x=x, bins=bins)
        check(text, x=2, bins=bins)
    check(text, x=x.reshape(3, 3), bins=np.array([-2.5, 0.0, 1.0, 1.0, 4.0]))


def test_digitize_refuses() -> None:
    check("np.digitize(x, bins)", x=array((3,), np.float64), bins=np.array([0.0, 2.0, 1.0]))
    check("np.digitize(x, bins)", x=array((3,), np.float64), bins=np.array([2.0, 1.0, 3.0]))
    check("np.digitize(x, bins)", x=array((3,), np.complex128), bins=np.array([0.0, 2.0]))
    check("np.digitize(x, bins)", x=array((3,), np.float64), bins=np.zeros((2, 2)))
    check("np.digitize(x, bins)", x=array((3,), np.float64), bins=np.array([0.0, 2.0, np.nan]))

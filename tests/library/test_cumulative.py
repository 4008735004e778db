"""Sums and products up to each element, differences, slopes, areas and lines between points."""

from __future__ import annotations

import numpy as np
import pytest
from numpy_calls import ALL, array, axes, check, check_parallel, layouts


@pytest.mark.parametrize("dtype", ALL)
def test_sums_and_products_of_every_dtype(dtype: type) -> None:
    for text in ("np.cumsum(a)", "np.cumprod(a)", "np.diff(a)"):
        check(text, a=array((7,), dtype, nan=True))


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 4), (0, 3), (3, 0)])
def test_along_axes(name: str, shape: tuple[int, ...]) -> None:
    for axis in axes(len(shape)):
        check(f"np.{name}(a, {axis})", a=array(shape, np.int32))
    for a in layouts(array(shape, np.float64, nan=True)):
        check(f"a.{name}(0)", a=a)
        check(f"np.{name}(a)", a=a)
        check(f"np.{name}(a, -1)", a=a)
    check(f"np.{name}(a, {len(shape)})", a=array(shape, np.int32))


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_dtype_and_out(name: str) -> None:
    a = array((3, 4), np.int16)
    for text in (
        f"np.{name}(a, 1, dtype=np.int8)",
        f"np.{name}(a, 0, np.float32)",
        f"np.{name}(a, dtype=np.complex64)",
        f"np.{name}(a, dtype=np.bool_)",
    ):
        check(text, a=a)
    check(f"np.{name}(a, 1, out=out)\nreturn 0", a=a, out=np.zeros((3, 4), np.int64))
    check(f"np.{name}(a, 0, np.float32, out)\nreturn 0", a=a, out=np.zeros((3, 4), np.float32))
    check(f"np.{name}(a, 0, out=out)\nreturn 0", a=a, out=np.zeros((4, 3), np.int64))
    check(f"np.{name}(a, 0, out=out)\nreturn 0", a=a, out=np.zeros(3, np.int64))
    check(f"np.{name}(a)", a=np.array(3.0))
    check(f"np.{name}((1, 2, 3))")


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, -1])
def test_differences(n: int) -> None:
    for axis in (0, 1, -1):
        check(f"np.diff(a, {n}, {axis})", a=array((3, 4), np.uint8))
    check(f"np.diff(a, n={n})", a=array((2, 3, 4), np.bool_))
    for a in layouts(array((5,), np.float64, nan=True)):
        check(f"np.diff(a, {n})", a=a)


@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.bool_, np.complex128])
def test_differences_with_more(dtype: type) -> None:
    a, b = array((3, 4), dtype), array((3, 2), dtype, 1)
    for text in (
        "np.diff(a, append=b)",
        "np.diff(a, prepend=b, append=1)",
        "np.diff(a, prepend=0.5, axis=0)",
        "np.diff(a, 2, append=a)",
        "np.diff(a, axis=0, append=b)",
    ):
        check(text, a=a, b=b)
    for text in (
        "np.ediff1d(a)",
        "np.ediff1d(a, to_end=1)",
        "np.ediff1d(a, to_begin=b, to_end=b)",
        "np.ediff1d(a, 1.5)",
        "np.ediff1d(a[0, :0], to_begin=a)",
        "np.ediff1d(a[0, :1])",
    ):
        check(text, a=a, b=b)


def test_differences_of_numbers() -> None:
    check("np.diff(a)", a=np.array(1.0))
    check("np.ediff1d(a)", a=np.array(1.0))
    check("np.diff((1, 3, 7))")


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.complex128])
def test_slopes(dtype: type) -> None:
    x = np.array([1.0, 2, 4, 7, 8.5])
    a = array((3, 4, 5), dtype, nan=True)
    for text in (
        "np.gradient(a[0, 0])",
        "np.gradient(a)",
        "np.gradient(a, 2)",
        "np.gradient(a, 1, 2, x)",
        "np.gradient(a, x, axis=-1, edge_order=2)",
        "np.gradient(a, 0.5, axis=(0, 1), edge_order=2)",
    ):
        check(text, a=a, x=x)


def test_slopes_at_places() -> None:
    a = array((4, 5), np.float32)
    for x in (np.arange(5), np.array([0, 1, 2, 5, 6], np.uint8), np.array([0.5, 1, 2, 5, 6], np.float32), np.arange(4.0), np.zeros((2, 5))):
        check("np.gradient(a, x, axis=1)", a=a, x=x)
    for b in layouts(a):
        check("np.gradient(b, 2.0, axis=0)", b=b)


@pytest.mark.parametrize(
    "text",
    [
        "np.gradient(a, 1, 2, 3)",
        "np.gradient(a, edge_order=3)",
        "np.gradient(a[:1])",
        "np.gradient(a[:2], edge_order=2)",
        "np.gradient(a, axis=2)",
        "np.gradient(a, x)",
        "np.gradient(a > 0)",
    ],
)
def test_slopes_refused(text: str) -> None:
    check(text, a=array((4, 5), np.float64), x=np.arange(4.0))


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.bool_, np.complex128])
def test_areas(dtype: type) -> None:
    a, x = array((3, 4, 5), dtype), np.array([1.0, 2, 4, 7, 8.5])
    for text in (
        "np.trapezoid(a)",
        "np.trapezoid(a, axis=0, dx=2)",
        "np.trapezoid(a[0, 0])",
        "np.trapezoid(a, x)",
        "np.trapezoid(a, a * 2, axis=1)",
        "np.trapezoid(a[0, 0], x, 3)",
        "np.trapezoid(a, x, axis=3)",
    ):
        check(text, exact=False, a=a, x=x)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8, np.bool_])
def test_unwrapped_angles(dtype: type) -> None:
    p = array((3, 9), dtype)
    for text in ("np.unwrap(p)", "np.unwrap(p, axis=0)", "np.unwrap(p, 3)", "np.unwrap(p, 5.0, period=4.0)"):
        check(text, p=p)
    if dtype is not np.uint8:
        check("np.unwrap(p, period=4)", p=p)
        check("np.unwrap(p, period=5)", p=p)
    check("np.unwrap(p * 1.7)", p=p)
    check("np.unwrap(p)", p=p[:0])


X = np.concatenate([array((19,), np.float64, 4, nan=True), [-20.0, 0.0, 6.0]])


@pytest.mark.parametrize("dtype", [np.float64, np.uint8, np.complex128])
def test_lines_between_points(dtype: type) -> None:
    xp, fp = np.linspace(-3, 6, 7), array((7,), dtype, 1, nan=True)
    for text in (
        "np.interp(x, xp, fp)",
        "np.interp(x, xp, fp, left=-1, right=2.5)",
        "np.interp(x, xp, fp, period=4.1)",
        "np.interp(x, xp[:1], fp[:1])",
        "np.interp(x.reshape(2, 11), xp, fp)",
    ):
        check(text, x=X, xp=xp, fp=fp)
    for x in (2.5, 3, -9, np.float32(1.5), np.array(0.25)):
        check("np.interp(x, xp, fp)", x=x, xp=xp, fp=fp)
        check("np.interp(x, xp, fp, 1, 2, period=-3.5)", x=x, xp=xp, fp=fp)


def test_lines_between_odd_points() -> None:
    fp = np.array([1.0, np.inf, np.inf, 2.0, 2.0, 3.0])
    for xp in (np.array([0.0, 1, 2, 3, 3, 4]), np.array([-np.inf, 0, 1, 2, 3, np.inf]), np.arange(6), np.arange(6)[::-1][::-1]):
        check("np.interp(x, xp, fp)", x=np.array([0.5, 1.0, 1.5, 2.5, 3.0, 3.5, np.inf, -np.inf]), xp=xp, fp=fp)
    check("np.interp(x, xp, fp)", x=np.linspace(-1, 6, 300), xp=np.arange(6.0), fp=np.arange(6) ** 2)
    check("np.interp(x, xp, fp)", x=np.linspace(-1, 6, 300)[::-1], xp=np.arange(6.0), fp=np.arange(6) ** 2)


@pytest.mark.parametrize(
    "text",
    [
        "np.interp(x, xp, fp)",
        "np.interp(x, xp[:0], xp[:0])",
        "np.interp(x, xp, xp, period=0)",
        "np.interp(x * 1j, xp, xp)",
        "np.interp(x, m, m)",
    ],
)
def test_lines_refused(text: str) -> None:
    check(text, x=X, xp=np.arange(6.0), fp=np.arange(5.0), m=np.zeros((2, 2)))


def test_areas_over_bools() -> None:
    """Between bools a step is a change."""
    x, y = np.array([False, True, True, False]), array((2, 4), np.float64)
    check("np.trapezoid(a, b)", exact=False, a=y, b=x)
    check("np.trapezoid(a, b)", exact=False, a=y > 0, b=y > 1)


@pytest.mark.parametrize("heights", [np.float64, np.complex128])
def test_parallel_interp(heights: type) -> None:
    """Threads take blocks of places each; the results are the same."""
    rng = np.random.default_rng(3)
    places, points = rng.standard_normal(20_000), np.sort(rng.standard_normal(300))
    places[::97] = np.nan
    values = rng.standard_normal(300).astype(heights)
    check_parallel("np.interp(a, x, y)", a=places, x=points, y=values)
    check_parallel("np.interp(a, x, y)", a=np.sort(places), x=points, y=values)
    check_parallel("np.interp(a, x, y, period=2.5)", a=places, x=points, y=values)

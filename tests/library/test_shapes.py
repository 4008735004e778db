"""Views with other axes, and arrays with their elements in other places, against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from numpy_calls import ALL, array, axes, check, layouts

from weft import cuda

SHAPES = ((4,), (3, 4), (2, 3, 2), (2, 1, 3, 2))
NUMBER = np.array(3.5)


@pytest.mark.parametrize(
    "text", ["np.moveaxis(a, {0}, {1})", "np.swapaxes(a, {0}, {1})", "a.swapaxes({1}, {0})", "np.rot90(a, 1, ({0}, {1}))"]
)
def test_two_axes(text: str) -> None:
    a = array((2, 3, 4), np.float64)
    for source in (0, 1, 2, -1, -3, 3):
        for destination in (0, 2, -2):
            check(text.format(source, destination), a=a)
    check(text.format(0, 0), a=a[0, 0])
    check(text.format(0, 0), a=NUMBER)


@pytest.mark.parametrize(
    "arguments", ["(0, 2), (-1, 1)", "(3, 1, 0), (0, 1, 2)", "(0, 1), (2,)", "(0, 0), (1, 2)", "(), ()", "(0, 4), (1, 2)", "[0, 1], [2, 3]"]
)
def test_moveaxis_of_several(arguments: str) -> None:
    check(f"np.moveaxis(a, {arguments})", a=array((2, 1, 3, 2), np.int32))


@pytest.mark.parametrize("shape", SHAPES)
def test_views_of_every_layout(shape: tuple[int, ...]) -> None:
    for a in layouts(array(shape, np.int64)):
        check("np.flip(a), np.flipud(a), np.moveaxis(a, 0, -1), np.swapaxes(a, 0, -1), np.expand_dims(a, 1)", a=a)
        if len(shape) > 1:
            check("np.fliplr(a), np.rot90(a), np.rot90(a, 2), np.rot90(a, k=-1), np.rot90(a, 4), np.flip(a, (0, -1))", a=a)


@pytest.mark.parametrize("axis", ["0", "3", "-1", "-4", "4", "(0, 1)", "(1, 4)", "(-1, 0)", "(0, 0)", "()", "[0, 1]"])
def test_expand_dims(axis: str) -> None:
    check(f"np.expand_dims(a, {axis})", a=array((2, 1, 3), np.float32))
    check(f"np.expand_dims(a, {axis})", a=NUMBER)


@pytest.mark.parametrize("axis", ["0", "2", "-1", "(0, 2)", "(0, -1)", "()", "1", "3", "(0, 0)"])
def test_squeeze(axis: str) -> None:
    a = array((1, 3, 1), np.float64)
    check(f"np.squeeze(a, {axis}), a.squeeze(axis={axis})", a=a)


def test_squeeze_of_lengths_that_the_run_finds() -> None:
    a = array((1, 1), np.float64)
    check("np.squeeze(a, (0, 1)) + 1", a=a)
    check("np.squeeze(a, 0)", a=array((2, 1), np.float64))


@pytest.mark.parametrize("axis", [*axes(3), 3, "(0, 2)", "(1, 1)", "()"])
def test_flip(axis: object) -> None:
    check(f"np.flip(a, {axis})", a=array((2, 3, 2), np.float64))


def test_what_flips_and_turns_refuse() -> None:
    for text in ("np.fliplr(a)", "np.rot90(a)", "np.rot90(a, 1, (0, 0))", "np.rot90(a, 1, (0, 1, 0))"):
        check(text, a=array((3,), np.float64))
    check("np.flipud(a)", a=NUMBER)
    check("np.flip(a)", a=NUMBER)


def test_a_view_is_written_through() -> None:
    for text in (
        "np.flip(a)",
        "np.rot90(a)",
        "np.moveaxis(a, 0, 1)",
        "np.swapaxes(a, 0, 1)",
        "np.expand_dims(a, 0)",
        "np.atleast_3d(a)",
        "np.flipud(a)",
    ):
        check(f"b = {text}\nb[0, 0] = 7\nreturn b", a=array((3, 3), np.float64))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("arguments", ["s", "s, 0", "s, -1", "(1, s), (0, -1)", "s, (0, -1)", "(1, s), 0", "(1, s)"])
def test_roll(shape: tuple[int, ...], arguments: str) -> None:
    for shift in (0, 2, -7):
        check(f"np.roll(a, {arguments})", a=array(shape, np.float64), s=shift)


def test_roll_of_every_layout() -> None:
    for shape in SHAPES[:3]:
        for a in layouts(array(shape, np.int16)):
            check("np.roll(a, 1, axis=0), np.roll(a, -2)", a=a)


def test_roll_of_nothing_and_of_one() -> None:
    check("np.roll(a, s), np.roll(a, s, 1), np.roll(a, s, 0)", a=np.zeros((0, 3)), s=2)
    check("np.roll(a, s, ()), np.roll(a, (), ()), np.roll(a, (1, 2, 3), (0, 1, 1))", a=array((3, 4), np.float64), s=2)
    check("np.roll(a, 2)", a=NUMBER)
    check("np.roll((1, 2, 3), 1), np.roll([1, 2, 3], [1, 1], [0, 0])")


@pytest.mark.parametrize("arguments", ["1, 2", "1, 0.5", "(1, 2, 3), (0, 1)", "1, (0, 2)"])
def test_what_roll_refuses(arguments: str) -> None:
    check(f"np.roll(a, {arguments})", a=array((3, 4), np.float64))


@pytest.mark.parametrize("dtype", ALL)
def test_every_dtype(dtype: type) -> None:
    check("np.roll(a, 1), np.flip(a), np.atleast_2d(a), np.broadcast_to(a, (2, 4)), np.rot90(a[None])", a=array((4,), dtype))


@pytest.mark.parametrize("name", ["atleast_1d", "atleast_2d", "atleast_3d"])
def test_at_least_axes(name: str) -> None:
    for shape in ((0,), *SHAPES):
        for a in layouts(array(shape, np.float32)):
            check(f"np.{name}(a)", a=a)
    for value in (NUMBER, 3, 2.5, True, np.float32(1), 1j):
        check(f"np.{name}(a)", a=value)
    check(f"np.{name}(a, 2, (1, 2), a[0])", a=array((3, 4), np.float64))
    check(f"np.{name}()")


@pytest.mark.parametrize("shape", [(), (3,), (0,), (2, 3), (4, 2, 3), (0, 2, 3), (4, 1, 3), (2, 3, 1), (2, -1)])
def test_broadcast_to(shape: tuple[int, ...]) -> None:
    for a in (
        NUMBER,
        3,
        array((1,), np.int64),
        array((3,), np.float64),
        array((2, 3), np.int8),
        array((2, 1), np.bool_),
        array((1, 3), np.complex64),
    ):
        check("np.broadcast_to(a, shape)", a=a, shape=shape)


def test_broadcast_to_a_length() -> None:
    for n in (3, 1, 0, -1):
        check("np.broadcast_to(a, n)", a=array((3,), np.float64), n=n)
        check("np.broadcast_to(a, n)", a=2.0, n=n)
        check("np.broadcast_to((1,), n)", n=n)
    for a in layouts(array((2, 3), np.float64)):
        check("np.broadcast_to(a, shape=(2, 2, 3))", a=a)


def test_what_is_broadcast_is_a_view_that_cannot_be_written() -> None:
    check("b = np.broadcast_to(a, (2, 3))\na[0] = 9\nreturn b, b.sum(0), b.copy()", a=array((3,), np.float64))
    check("b = np.broadcast_to(a, (2, 3))\nb[0, 0] = 9\nreturn b", a=array((3,), np.float64))


def test_views_in_kernels() -> None:
    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        if i < out.size:
            turned = np.rot90(a)[0, i] + np.flip(a)[i, 0] + np.fliplr(a)[i, 0] + np.flipud(a)[0, i]
            moved = np.moveaxis(a, 0, 1)[0, i] + np.swapaxes(a, 0, 1)[0, i] + np.expand_dims(a, 0)[0, i, 1]
            out[i] = turned + 10 * moved + np.squeeze(a[i : i + 1], 0)[2] + np.atleast_3d(a)[i, 0, 0] + np.broadcast_to(a[0], (3, 3))[1, i]

    a = array((3, 3), np.float64)
    out = np.zeros(3)
    kernel[1, 3](a, out)
    i = np.arange(3)
    turned = a[i, 2] + a[::-1, ::-1][i, 0] + a[i, 2] + a[2, i]
    assert np.array_equal(out, turned + 10 * (a[i, 0] + a[i, 0] + a[i, 1]) + a[i, 2] + a[i, 0] + a[0, i])

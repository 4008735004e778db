"""Other shapes of the same elements against NumPy's, views included."""

from __future__ import annotations

import numpy as np
import pytest

import weft

from .against_numpy import array, axes, check, host

A = np.arange(24).reshape(2, 3, 4)


def test_reshape() -> None:
    for shape in ("6, 4", "-1", "24", "(2, -1, 2)", "(5, -1)", "(-1, -1)", "(2, 3)", "(0, -1)", "(2, 3, 4, 1)", "(-2, 12)"):
        for order in ("C", "F", "A"):
            check(f"xp.reshape(a, ({shape},) if not isinstance({shape}, tuple) else {shape}, order='{order}')", a=A)
    check("xp.reshape(a, (4, 6))", a=A.T)
    check("xp.reshape(a, (0, 3))", a=np.zeros((3, 0)))
    check("xp.reshape(a, (0, -1))", a=np.zeros((3, 0)))
    check("xp.reshape(a, ())", a=np.zeros(1))
    check("b = xp.reshape(a, (4, 6))\nb[0] = 9\na", a=A.copy())
    check("b = xp.reshape(a, (4, 6), copy=True)\nb[0] = 9\na", a=A.copy())
    check("xp.reshape(a, 24, copy=False)", a=A.T)
    check("xp.reshape(a, (3, 2, 4), copy=False)", a=A)
    check("xp.reshape(a, 24, order='X')", a=A)
    check("xp.reshape(a, 2.5)", a=A)
    for order in ("C", "F"):
        check(f"xp.ravel(a, '{order}')", a=A)
        check(f"xp.ravel(a, '{order}')", a=A.T)


def test_order_of_axes() -> None:
    for words in ("", ", (1, 0, 2)", ", (-1, 0, 1)", ", (0, 0, 1)", ", (0, 1)", ", (0, 1, 3)"):
        check(f"xp.transpose(a{words})", a=A)
    check("xp.permute_dims(a, (2, 0, 1))", a=A)
    for first in range(-4, 4):
        for second in (-1, 0, 2, 3):
            check(f"xp.swapaxes(a, {first}, {second})", a=A)
            check(f"xp.moveaxis(a, {first}, {second})", a=A)
            check(f"xp.rollaxis(a, {first}, {second})", a=A)
    check("xp.moveaxis(a, (0, 1), (2, 0))", a=A)
    check("xp.moveaxis(a, (0, 0), (2, 0))", a=A)
    check("xp.moveaxis(a, (0, 1), 2)", a=A)
    check("xp.matrix_transpose(a)", a=A)
    check("xp.matrix_transpose(a)", a=A[0, 0])
    check("b = xp.swapaxes(a, 0, 2)\nb[1] = -1\na", a=A.copy())


def test_axes_of_length_one() -> None:
    for axis in ("0", "-1", "3", "(0, 2)", "(0, -1)", "4", "(0, 0)", "(1, 7)"):
        check(f"xp.expand_dims(a, {axis})", a=A)
    b = A.reshape(1, 2, 1, 12)
    for axis in ("", ", 0", ", -2", ", (0, 2)", ", 1", ", 4", ", (0, 0)"):
        check(f"xp.squeeze(b{axis})", b=b)
    check("xp.squeeze(a)", a=np.ones((1, 1)))
    for name in ("atleast_1d", "atleast_2d", "atleast_3d"):
        for a in (np.array(3.0), A[0, 0], A[0], A, A[None]):
            check(f"xp.{name}(a)", a=a)
        check(f"xp.{name}(a, 3, [1, 2])", a=A)


def test_broadcast() -> None:
    for shape in ("(4, 2, 3)", "(2, 3)", "(3,)", "(2, 4)", "(0, 3)", "3", "(2, -1)"):
        check(f"xp.broadcast_to(a, {shape})", a=np.arange(3))
        check(f"xp.broadcast_to(2.5, {shape})")
    check("xp.broadcast_arrays(a, b, 1)", a=np.arange(3), b=np.arange(2)[:, None])
    check("xp.broadcast_arrays(a, b)", a=np.arange(3), b=np.arange(2))
    check("xp.broadcast_shapes((3, 1), (2,), 1, ())")
    check("xp.broadcast_shapes((3, 1), (2, 2))")
    with pytest.raises(ValueError, match="read-only"):
        weft.broadcast_to(weft.arange(3), (2, 3))[0] = 1


@pytest.mark.parametrize("name", ["flip", "fliplr", "flipud", "rot90"])
def test_turned(name: str) -> None:
    for a in (A, A[0], A[0, 0], np.zeros((0, 3))):
        check(f"xp.{name}(a)", a=a)
    check(f"b = xp.{name}(a)\nb[0] = 9\na", a=A.copy())


def test_turned_along_axes() -> None:
    for axis in axes(3):
        check(f"xp.flip(a, {axis})", a=A)
    check("xp.flip(a, (0, 2))", a=A)
    for k in range(-4, 5):
        check(f"xp.rot90(a, {k})", a=A)
        check(f"xp.rot90(a, {k}, (2, 1))", a=A)
    for each in ("(0, 0)", "(0, 3)", "(0, 1, 2)", "(-1, -2)"):
        check(f"xp.rot90(a, 1, {each})", a=A)


def test_roll() -> None:
    for shift in (-5, -1, 0, 1, 3, 30):
        for axis in axes(3):
            check(f"xp.roll(a, {shift}, {axis})", a=A)
    for text in ("(1, 2), (0, 1)", "(1, 2), 2", "1, (0, 2)", "(1, 2), (1, 1)", "(1, 2, 3), (0, 1)"):
        check(f"xp.roll(a, {text})", a=A)
    check("xp.roll(a, 1)", a=np.zeros((0, 3)))


def test_diagonals() -> None:
    for a in (A[0], A, A.T, np.zeros((0, 3)), np.zeros((3, 0)), A[0, ::2]):
        for offset in (-3, -1, 0, 1, 2, 5):
            check(f"xp.diagonal(a, {offset})", a=a)
            check(f"xp.trace(a, {offset})", a=a)
    for text in ("1, 0, 2", "0, -1, 0", "0, 1, 1", "0, 0, 3"):
        check(f"xp.diagonal(a, {text})", a=A)
        check(f"xp.trace(a, {text}, dtype=xp.float32)", a=A)
    for k in (-2, 0, 1):
        check(f"xp.diag(a, {k})", a=A[0, 0])
        check(f"xp.diag(a, {k})", a=A[0])
        check(f"xp.diagflat(a, {k})", a=A[0])
    check("xp.diag(a)", a=A)
    x = weft.zeros((3, 3))
    weft.diagonal(x)[...] = 5
    assert host(x).tolist() == [[5, 0, 0], [0, 5, 0], [0, 0, 5]]


def test_resize() -> None:
    for shape in ("5", "(2, 3)", "(3, 0)", "(7, 7)", "-1"):
        check(f"xp.resize(a, {shape})", a=A)
    check("xp.resize(a, 3)", a=np.zeros(0))
    for trim in ("fb", "f", "b"):
        check(f"xp.trim_zeros(a, '{trim}')", a=np.array([0, 0, 1, 0, 2, 0]))
    check("xp.trim_zeros(a)", a=np.zeros(3))


def test_sizes() -> None:
    for a in (A, 3, [1, 2]):
        for text in ("xp.shape(a)", "xp.ndim(a)", "xp.size(a)", "xp.size(a, 0)"):
            check(text, a=a)
    assert weft.size(weft.asarray(array((2, 3))), -1) == 3


def test_shapes_and_axes_are_arrays_too() -> None:
    a = array((2, 3, 4))
    for made in ("np.array", "xp.asarray"):
        for text in ("reshape(a, V([4, 6]))", "reshape(a, V([-1, 6]))", "reshape(a, V(24))", "zeros(V([2, 3]))", "zeros(V(3))"):
            check(f"V = {made}\nxp.{text}", a=a)
        for text in ("transpose(a, V([1, 0, 2]))", "transpose(a, V([1, 0]))", "flip(a, V([0, 1]))", "moveaxis(a, V([0, 1]), V([1, 2]))"):
            check(f"V = {made}\nxp.{text}", a=a)
        for text in ("a.transpose(V([1, 0, 2]))", "a.reshape(V([4, 6]))", "a.transpose(V(0), 2, V(1))"):
            check(f"V = {made}\n{text}", a=a)
    for text in ("zeros(2**63)", "ones((2, 2**63))", "zeros(2**64)", "reshape(a, 2**63)", "zeros((2**40, 2**40))"):
        check(f"xp.{text}", a=a)

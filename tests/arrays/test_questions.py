"""Small functions of the namespace against NumPy's: questions about arrays, `broadcast`, `topk`, `frompyfunc`, the state of errors."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import weft
from weft.errors import UnsupportedError

from .against_numpy import ALL, array, cases, check, difference, host

REAL = tuple(dtype for dtype in ALL if np.dtype(dtype).kind != "c")


def test_questions() -> None:
    for text in ("iterable(3)", "iterable([3])", "iterable(a)", "iterable(a[0, 0])", "isfortran(a)", "isfortran(a.T)", "isfortran(a[0])"):
        check(f"xp.{text}", a=array((3, 4)))
    for dtype in ALL:
        check("xp.common_type(a)", a=array((2,), dtype))
        check("xp.common_type(a, b)", a=array((2,), dtype), b=array((2,), np.float32))
        check("xp.real_if_close(a)", a=array((2, 2), dtype))
        check("xp.asarray_chkfinite(a)", a=array((2, 2), dtype))
    for tol in ("100", "1e-3", "1000", "0.5"):
        check(f"xp.real_if_close(a, tol={tol})", a=np.array([2.1 + 4e-14j, 5.2 + 3e-15j]))
        check(f"xp.real_if_close(a, {tol})", a=np.array([2.1 + 4e-4j], np.complex64))
        check(f"xp.real_if_close(a, {tol})", a=np.zeros(0, complex))
    for value in ("[1, xp.nan]", "[1, xp.inf]", "[1, 1j]", "xp.asarray([1.0, xp.nan])", "[[1], [2]], xp.float32", "[[1, 2]], None, 'F'"):
        check(f"xp.asarray_chkfinite({value})")
    with pytest.raises(TypeError):
        weft.common_type(weft.ones(2, "bfloat16"))


@pytest.mark.parametrize("letters", ["", "C", "F", "A", "W", "O", "E", "CW", "FO", "CF", "X"])
def test_require(letters: str) -> None:
    a = np.asfortranarray(array((3, 4)))
    for words in (f"a, None, {list(letters)}", f"a, xp.float32, {list(letters)}", f"a[:, ::2], requirements={list(letters)}"):
        check(f"xp.require({words})", a=a)
        if letters not in ("CF", "X"):
            check(f"xp.require({words}).flags.c_contiguous", a=a)
            check(f"xp.require({words}).flags.f_contiguous", a=a)
    with pytest.raises(UnsupportedError, match="like"):
        weft.require(a, like=weft.ones(1))
    fixed = weft.broadcast_to(weft.ones(3), (2, 3))
    assert not fixed.flags.writeable and weft.require(fixed, requirements="W").flags.writeable


def test_trim_zeros() -> None:
    a = np.zeros((4, 5, 3))
    a[1:3, 2, :2] = 1
    for trim, axis in cases(("fb", "f", "B", "bf", "x"), ("None", "0", "1", "-1", "(0, 2)", "()", "3", "(0, 0)")):
        for x in (a, a * 0, a[:0], a.T):
            check(f"xp.trim_zeros(a, {trim!r}, {axis})", a=x)
    for dtype in ALL:
        check("xp.trim_zeros(a)", a=np.array([0, 0, 1, 0, 2, 0], dtype))
    check("xp.trim_zeros(a)", a=np.float64(3) * np.ones(()))


def test_broadcast() -> None:
    a, b, c = array((3, 1)), array((4,), np.int32), array((2, 1, 1), np.complex64)
    for words in ("", "a", "a, b", "a, b, c", "a, 3", "[1, 2], [[3]]", "a, xp.broadcast(b, c)", "b, b[:2]", "a[:0], b"):
        for name in ("shape", "ndim", "nd", "size", "numiter", "index"):
            check(f"xp.broadcast({words}).{name}", a=a, b=b, c=c)
        if words:
            check(f"[tuple(each) for each in xp.broadcast({words})]", a=a, b=b, c=c)
            check(f"[list(each) for each in xp.broadcast({words}).iters]", a=a, b=b, c=c)
    x = weft.ones((3, 1))
    assert weft.broadcast(x, [1, 2]).iters[0].base is x
    for count in (0, 64, 65):
        check(f"xp.broadcast(*[a] * {count}).numiter", a=a)
    for words in ("[[1, 2, 3]], [[4], [5]], [6, 7]", "b, b[:2]", "a[:2], b, a", "a[:0], a[:2]"):
        texts = []
        for xp in (np, weft):
            with pytest.raises(ValueError, match="shape mismatch") as caught:
                eval(f"xp.broadcast({words})", {"xp": xp, "a": a, "b": b})
            texts.append(str(caught.value))
        assert texts[0] == texts[1]
    check("x = xp.broadcast(a, b)\nn = [next(x), next(x)]\ni = x.index\nx.reset()\n[i, x.index, next(x)]", a=a, b=b)


@pytest.mark.parametrize("dtype", REAL)
def test_topk(dtype: type) -> None:
    for shape in ((7,), (3, 5), (2, 3, 4), (1,), (4, 0)):
        for axis in range(-len(shape), len(shape)):
            a = array(shape, dtype, nan=True)
            for k, largest in cases(sorted({0, min(2, shape[axis]), shape[axis]}), (True, False)):
                found, places = weft.topk(weft.asarray(a), k, axis, largest=largest)
                order = _order(a, axis, largest)
                wanted = np.take(order, np.arange(k), axis)
                assert difference(wanted, places, True) is None
                assert difference(np.take_along_axis(a, wanted, axis), found, True) is None


def _order(a: np.ndarray, axis: int, largest: bool) -> np.ndarray:
    """What sorts an array, equal elements by their indices; NaN are above all numbers."""
    if not largest:
        return np.argsort(a, axis, stable=True)
    turned = np.flip(a, axis)
    return np.flip(a.shape[axis] - 1 - np.argsort(turned, axis, stable=True), axis)


def test_topk_of_odd_arguments() -> None:
    for k in (-1, 4):
        with pytest.raises(ValueError, match="out of bounds"):
            weft.topk([1, 2, 3], k)
    with pytest.raises(np.exceptions.AxisError):
        weft.topk([1, 2, 3], 1, 1)
    with pytest.raises(TypeError):
        weft.topk([1, 2, 3], 1.5)
    assert [x.tolist() for x in weft.topk(5, 1)] == [[5], [0]]
    half = weft.asarray([1, 3, 2], dtype="bfloat16")
    assert [x.tolist() for x in weft.topk(half, 2)] == [[3, 2], [1, 2]]


def test_frompyfunc() -> None:
    add = weft.frompyfunc(lambda x, y: x + 2 * y, 2, 1)
    both = weft.frompyfunc(lambda x: (x + 1, x * 0.5), 1, 2)
    for dtype in (np.float32, np.int64, np.complex128):
        a, b = array((3, 1), dtype), array((4,), dtype)
        assert difference(a + 2 * b, add(weft.asarray(a), weft.asarray(b)), True) is None
        assert difference(a[:, None] + 2 * b, add.outer(a[:, 0], weft.asarray(b))[:, None], True) is None
        assert difference((a + 1, a * 0.5), both(weft.asarray(a)), True) is None
    assert add(1, 2).tolist() == 5 and add([1, 2], 3).tolist() == [7, 8]
    assert (add.nin, add.nout, add.nargs, both.nout) == (2, 1, 3, 2)
    with weft.syncs("error"):
        add(weft.ones(3), both(weft.ones(3))[0])
    for wrong, error in (
        (lambda: weft.frompyfunc(3, 1, 1), TypeError), (lambda: weft.frompyfunc(abs, 0, 1), ValueError),
        (lambda: weft.frompyfunc(abs, 1, 0), ValueError), (lambda: weft.frompyfunc(abs, 64, 1), ValueError),
        (lambda: weft.frompyfunc(abs, "a", 1), TypeError),
        (lambda: add(1), TypeError), (lambda: both.outer([1], [2]), ValueError), (lambda: add.reduce([1, 2]), UnsupportedError),
        (lambda: both([1], out=weft.ones(1)), UnsupportedError), (lambda: add.nothing, AttributeError),
    ):  # fmt: skip
        with pytest.raises(error):
            wrong()
    assert "vectorized" in repr(add)


def test_errors_of_floats_are_ignored() -> None:
    assert weft.geterr() == {"divide": "ignore", "over": "ignore", "under": "ignore", "invalid": "ignore"} == weft.seterr(all="ignore")
    assert weft.geterrcall() is None
    with weft.errstate(divide="ignore", invalid="ignore"):
        assert (weft.asarray([1.0]) / 0).tolist() == [np.inf]
    with weft.errstate():
        pass
    for way in ("warn", "raise", "call", "print", "log"):
        for use in (lambda way=way: weft.seterr(over=way), lambda way=way: weft.errstate(all=way).__enter__()):
            with pytest.raises(UnsupportedError, match=way):
                use()
    with pytest.raises(ValueError, match="Bad value"):
        weft.seterr(all="nothing")
    with pytest.raises(TypeError):
        weft.errstate(nothing="ignore").__enter__()
    with pytest.raises(UnsupportedError, match="calls"):
        weft.errstate(call=print).__enter__()


@pytest.mark.parametrize("dtype", REAL)
def test_numbers_of_other_classes_are_compared(dtype: type) -> None:
    a = array((3, 4), dtype)
    for number in (Fraction(1, 2), Fraction(2), Decimal("0.25"), Fraction(1, 10)):
        for operator in ("==", "!=", "<", "<=", ">", ">="):
            check(f"a {operator} n", a=a, n=number)
            if not isinstance(number, Decimal):
                check(f"n {operator} a", a=a, n=number)
    assert (weft.asarray(a) == object()) is False


def test_dtypes_by_their_classes_and_none() -> None:
    for dtype in ALL:
        name = type(np.dtype(dtype))
        assert weft.zeros(2, name).dtype == np.dtype(dtype) == weft.asarray([1], dtype=name).dtype
    with pytest.raises(TypeError, match="do not exist in Weft"):
        weft.zeros(2, np.dtypes.ObjectDType)
    for text in ("can_cast('i1', None)", "can_cast(None, 'i1')", "can_cast(xp.int8, 'f4')"):
        check(f"xp.{text}")


NUMBERS = (np.inf, -np.inf, np.nan, 1e20, -1.5, 3.7, True, 7, 1j, 2.5 - 1j, 0.0)


@pytest.mark.parametrize("dtype", ALL)
def test_numbers_are_cast_as_numpy_casts_them(dtype: type) -> None:
    """What NumPy leaves to the processor, such as NaN as an unsigned integer, is what it gives here."""
    for number in NUMBERS:
        check("xp.full(3, n, dtype)", n=number, dtype=dtype)
        check("xp.full_like(a, n)", a=array((2, 2), dtype), n=number)
        for where in ("True", "[True, False]"):
            check(f"xp.copyto(a, n, 'unsafe', {where})\na", a=array((2, 2), dtype), n=number)
    for number in (300, -1, 2**40, 2**70):
        check("xp.full(3, n, dtype)", n=number, dtype=dtype)
        check("xp.copyto(a, n, 'unsafe')\na", a=array((2, 2), dtype), n=number)
    with pytest.warns(np.exceptions.ComplexWarning):
        weft.full(2, 1j, dtype=weft.float32)
    with pytest.warns(RuntimeWarning, match="invalid value"):
        weft.copyto(weft.zeros(2, int), np.inf, casting="unsafe")


def test_what_is_numpys_own() -> None:
    for name in ("floating", "integer", "number", "generic", "inexact", "s_", "index_exp", "exceptions", "printoptions", "dtypes", "short"):
        assert getattr(weft, name) is getattr(np, name)
    assert weft.issubdtype(weft.float32, weft.floating) and not weft.issubdtype(weft.int8, weft.floating)
    assert weft.zeros(2, weft.longlong).dtype == np.int64 and weft.zeros(2, weft.ubyte).dtype == np.uint8
    x = weft.arange(6)
    assert x[weft.s_[1:5:2]].tolist() == [1, 3]
    with pytest.raises(weft.exceptions.AxisError):
        weft.sum(x, axis=3)


def test_numpys_functions_are_wefts() -> None:
    x = weft.asarray([1.0, 2.0])
    found: list[Any] = [np.i0(x), np.real_if_close(x), np.trim_zeros(x, axis=0)]
    assert all(isinstance(each, weft.ndarray) for each in found)
    np.testing.assert_allclose(host(found[0]), np.i0(host(x)))

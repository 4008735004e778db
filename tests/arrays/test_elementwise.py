"""Functions of every element that are no ufuncs, and comparing arrays, against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import weft

from .against_numpy import ALL, array, check, difference, host, refused

A = array((3, 4), nan=True)


@pytest.mark.parametrize("dtype", ALL)
def test_dtypes(dtype: type) -> None:
    a = array((3, 4), dtype, nan=True)
    for text in (
        "real(a)",
        "imag(a)",
        "nan_to_num(a)",
        "iscomplex(a)",
        "isreal(a)",
        "iscomplexobj(a)",
        "isrealobj(a)",
        "angle(a)",
        "fix(a)",
    ):
        check(f"xp.{text}", exact=False, a=a)
    for decimals in (0, 1, 2, -1):
        check(f"xp.round(a, {decimals})", exact=False, a=a)
    for text in ("clip(a, 0, 3)", "clip(a, -1000, 3)", "clip(a, 0, 1000)", "clip(a, None, 2)", "clip(a, 0.5, 2)"):
        check(f"xp.{text}", a=a)
    for text in ("where(a, a, 0)", "where(a, 1, a)", "where(a > 0, a, 1.5)", "isclose(a, 1)", "isposinf(a)", "isneginf(a)"):
        check(f"xp.{text}", a=a)
    for other in (np.float32, np.int8, np.bool_, np.complex64):
        b = array((4,), other)
        check("xp.where(a > 0, a, b)", a=a, b=b)
        check("xp.isclose(a, b)", a=a, b=b)
        check("xp.array_equal(a, b)", a=a, b=b)


def test_where() -> None:
    for text in ("(m, 1, 2)", "(m, 1.5, 2)", "(m, True, 2)", "(m, a, [1, 2, 3, 4])", "(m, a)", "(m, a, x=1)", "(m[:2], a, a)", "(1, a, 0)"):
        check(f"xp.where{text}", a=A, m=A > 0)


def test_clip() -> None:
    for words in (
        "min=1",
        "max=2",
        "min=1, max=2",
        "a_min=1, a_max=2",
        "None, None",
        "[0, 1, 2, 3], 3",
        "3, 1",
        "a, 2",
        "np.float32(1), 2",
    ):
        check(f"xp.clip(a, {words})", a=A)
    check("xp.clip(a, 1, 2, out=o)", a=A, o=np.zeros((3, 4)))
    check("xp.clip(a, 1, 2, out=o)", a=A, o=np.zeros((3, 4), np.int32))
    refused("xp.clip(a, 1, 2, min=3)", a=A)
    assert difference(np.maximum(A, 1), host(weft.clip(weft.asarray(A), 1)), True) is None
    check("xp.clip(a, 300, 400)", a=array((3,), np.uint8))
    check("xp.clip(a, -5, 300)", a=array((3,), np.uint8))


def test_round() -> None:
    for a in (np.array([0.5, 1.5, -0.5, 2.675, 1e300, np.inf]), np.array([15, 25, -15, 149]), np.array([1.25 + 3.75j])):
        for decimals in (-2, -1, 0, 1, 3):
            check(f"xp.around(a, {decimals})", a=a)
    check("xp.round(a, out=o)", a=A, o=np.zeros((3, 4)))
    check("xp.round(a, 1.5)", a=A)


def test_complex_parts() -> None:
    check("b = xp.real(a)\nb[0] = 9\na", a=array((3,), np.complex128))
    check("b = xp.imag(a)\nb[0] = 9\na", a=array((3,), np.complex128))
    check("xp.angle(a, deg=True)", a=array((3,), np.complex64), exact=False)


def test_nan_to_num() -> None:
    for words in ("", ", nan=5", ", posinf=1, neginf=2", ", copy=False", ", nan=xp.asarray([1.0, 2, 3, 4])"):
        check(f"xp.nan_to_num(a{words})", a=A)
    check("xp.nan_to_num(a, nan=1)", a=array((4,), np.complex64, nan=True))
    check("xp.nan_to_num(1.5)")
    check("xp.sinc(a)", exact=False, a=array((5,)))


def test_close() -> None:
    b = A + 1e-9
    for words in ("", ", rtol=0", ", atol=1", ", equal_nan=True", ", 1e-3, 1e-3"):
        for other in ("b", "1", "2.5", "[1, 2, 3, 4]"):
            check(f"xp.isclose(a, {other}{words})", a=A, b=b)
            check(f"xp.allclose(a, {other}{words})", a=A, b=b)
    check("xp.isclose(1, 1.0)")
    check("xp.isclose(a, 0.1)", a=np.array([0.1, 0.100001], np.float32))
    check("xp.isclose(a, a.T)", a=A)
    for other in ("a", "b", "a[:2]", "a[0]", "1"):
        for name in ("array_equal", "array_equiv"):
            check(f"xp.{name}(a, {other})", a=A, b=b)
    check("xp.array_equal(a, a, equal_nan=True)", a=A)
    check("xp.array_equiv(a[:1], a[[0, 0]])", a=array((2, 3)))
    same = weft.allclose(weft.asarray([1.0]), 1.0)
    assert isinstance(same, weft.ndarray) and same.shape == () and bool(same)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int32])
def test_unwrap(dtype: type) -> None:
    a = array((4, 6), dtype)
    for words in ("", ", period=4", ", period=5", ", axis=0", ", discont=3", ", axis=5"):
        check(f"xp.unwrap(a{words})", exact=False, a=a)


def test_random_numbers_round_as_numpys() -> None:
    a = np.random.default_rng(0).standard_normal(1000) * 100
    for decimals in (0, 1, 2, 5):
        assert difference(np.round(a, decimals), host(weft.round(weft.asarray(a), decimals)), True) is None


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_powers_by_a_half(dtype: str) -> None:
    """NumPy takes the root where there is one exponent for all: of -inf and -0 it is another number than the power."""
    a = np.asarray([-np.inf, -0.0, 4.0, np.nan], dtype)
    exponents = {
        "number": 0.5,
        "half": np.float16(0.5),
        "single": np.float32(0.5),
        "double": np.float64(0.5),
        "no axes": np.asarray(0.5, np.float64),
        "of its type": np.asarray(0.5, dtype),
        "one": np.asarray([0.5], dtype),
        "many": np.asarray([0.5] * 4, dtype),
        "two": np.float32(2.0),
        "reciprocal": np.asarray(-1.0),
    }
    for exponent in exponents.values():
        for base in (a, a[:1], a[1:2].reshape(())):
            check("a ** e", exact=False, a=base, e=exponent)
            check("xp.power(a, e)", exact=False, a=base, e=exponent)
            check("xp.signbit(xp.power(a, e))", a=base, e=exponent)
            check("xp.power(a, e * 0.5 + e * 0.5)", exact=False, a=base, e=exponent)
        check("a[...] **= e\na", exact=False, a=a, e=exponent)
        check("xp.float_power(a, e)", exact=False, a=a, e=exponent)

"""Sums and their like with all keywords, against NumPy."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
from numpy_calls import KINDS, array, check, compiled, layouts

import weft

SHAPE = (3, 4, 5)
FOLDS = ("sum", "prod", "min", "max", "mean", "any", "all")
AXES = ("None", "0", "-1", "(0,)", "(0, 2)", "(-1, 1)", "(0, 1, 2)", "()")


@pytest.mark.parametrize("name", [*FOLDS, "var", "std"])
@pytest.mark.parametrize("axis", AXES)
def test_axes_and_keepdims(name: str, axis: str) -> None:
    a = array(SHAPE, np.float64)
    check(f"np.{name}(a, axis={axis}), a.{name}(axis={axis}, keepdims=True)", exact=False, a=a)


@pytest.mark.parametrize("name", [*FOLDS, "var", "std", "argmin", "argmax"])
def test_kinds_and_strides(name: str) -> None:
    for dtype in KINDS:
        if np.dtype(dtype).kind == "c" and name in ("argmin", "argmax", "min", "max"):
            continue  # Complex numbers have no order in compiled functions.
        for a in layouts(array((4, 3), dtype)):
            check(f"np.{name}(a, axis=1, keepdims=True)", exact=False, a=a)


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "std"])
@pytest.mark.parametrize("dtype", ["np.float32", "np.complex64", "'f8'"])
def test_dtype(name: str, dtype: str) -> None:
    if name in ("var", "std") and "complex" in dtype:
        pytest.skip("refused")
    for of in (np.int8, np.float64):
        check(f"np.{name}(a, axis=1, dtype={dtype})", exact=False, a=array((4, 3), of))


def test_dtypes_of_integers() -> None:
    check("np.sum(a, dtype=np.int8), np.prod(a, axis=0, dtype=np.uint16), a.sum(0, np.int64)", a=array((4, 3), np.int32))


@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "mean", "std"])
def test_out(name: str) -> None:
    check(f"np.{name}(a, 0, out=b)", exact=False, a=array((4, 3), np.float64), b=np.zeros(3))
    check(f"np.{name}(a, 0, out=b)", exact=False, a=array((4, 3), np.float64), b=np.zeros(4))


@pytest.mark.parametrize("name", ["sum", "prod", "min", "max"])
def test_initial(name: str) -> None:
    for dtype in (np.float32, np.int64):
        check(f"np.{name}(a, axis=1, initial=2), a.{name}(initial=3)", exact=False, a=array((4, 3), dtype))


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "any", "all"])
def test_where(name: str) -> None:
    check(f"np.{name}(a, axis=1, where=m), np.{name}(a, where=m)", exact=False, a=array((4, 3), np.float64), m=array((4, 3), np.bool_))


def test_where_of_extremes() -> None:
    a, m = array((4, 3), np.float64), array((4, 3), np.bool_)
    check("np.min(a, axis=1, where=m, initial=9), np.max(a, where=m, initial=-9)", a=a, m=m)


@pytest.mark.parametrize(
    "call", ["np.var(a, ddof=1)", "np.std(a, axis=0, ddof=1)", "np.var(a, correction=1)", "np.std(a, ddof=1.5)", "np.var(a, ddof=99)"]
)
def test_degrees_of_freedom(call: str) -> None:
    for dtype in (np.float32, np.int16, np.complex128):
        check(call, exact=False, a=array((4, 3), dtype))


@pytest.mark.parametrize("name", FOLDS)
def test_of_nothing(name: str) -> None:
    check(f"np.{name}(a, axis=(0, 2))", exact=False, a=np.zeros((0, 3, 2)))
    check(f"np.{name}(a, axis=1, keepdims=True)", exact=False, a=np.zeros((0, 3)))


@pytest.mark.parametrize(
    "call",
    [
        "np.sum(a, axis=3)",
        "np.sum(a, axis=(0, 0))",
        "np.sum(a, axis=(0, 5))",
        "np.max(a, axis=1.5)",
        "np.sum(a, axis=[0])",
        "a.mean(axis=[0, 1])",
        "np.argmax(a, axis=True)",
        "np.min(a, where=m)",
        "np.sum(a, wrong=1)",
    ],
)
def test_refused(call: str) -> None:
    check(call, a=array((4, 3), np.float64), m=array((4, 3), np.bool_))


def test_what_is_no_axis_is_named() -> None:
    for given, what in (([0], "list"), (True, "bool")):
        with pytest.raises(weft.TypingError, match=f"an axis is an integer, a tuple of integers or None, not {what}"):
            compiled(f"np.sum(a, axis={given})", "a")[1](np.ones((2, 2)))


def test_products_of_halves_are_rounded_once() -> None:
    """In float32, as NumPy's are: in float16 some of these would be 0 or infinite on the way."""
    rng = np.random.default_rng(5)
    for shape, axis in (((81,), None), ((81, 7), 0), ((7, 81), 1)):
        a = (rng.normal(size=shape) * 2).astype(np.float16)
        _, product = compiled(f"np.prod(a, axis={axis})", "a")
        with np.errstate(over="ignore"):
            exact = np.prod(a.astype(np.float64), axis=axis).astype(np.float16)
        np.testing.assert_allclose(product(a), exact, rtol=2e-3, atol=1e-7)


@pytest.mark.parametrize("name", ["argmin", "argmax"])
def test_positions(name: str) -> None:
    for a in (array((70, 40), np.float32, nan=True), array((40, 70), np.int8), array((9000,), np.float64), array((3, 5, 20), np.bool_)):
        axes = "0", "-1", "None"
        check(", ".join(f"np.{name}(a, axis={axis})" for axis in axes), a=a)
        check(f"np.{name}(a, 0, keepdims=True), a.{name}()", a=a[::-1])
    late = np.zeros(9000)
    late[8999] = 1 if name == "argmax" else -1
    check(f"np.{name}(a)", a=late)
    late[8990] = np.nan
    check(f"np.{name}(a)", a=late)
    _, fast = compiled(f"np.{name}(a)", "a")
    for dtype in (np.float16, np.float32, ml_dtypes.bfloat16):
        assert fast(np.array([1, 2, np.nan, 3], dtype)) == 2
    check(f"np.{name}(a, 1)", a=np.zeros((3, 0)))
    check(f"np.{name}(a, 0)", a=np.zeros((3, 0)))
    check(f"np.{name}(a, 1)", a=np.zeros((4, 0, 0)))
    check(f"np.{name}(a, 0)", a=np.zeros((4, 0, 0)))
    check(f"np.{name}(a, 1)", a=np.zeros((0, 0)))
    check(f"np.{name}(a, axis=(0, 1))", a=np.zeros((3, 3)))


@weft.njit
def whole_sums(a: np.ndarray, out: np.ndarray) -> np.ndarray:
    return np.sum(a, axis=0, out=out)


@weft.njit
def whole_products(a: np.ndarray, out: np.ndarray) -> np.ndarray:
    return np.prod(a, axis=(0, 1), out=out)


@pytest.mark.parametrize("function", [whole_sums, whole_products])
def test_fractions_do_not_go_into_integers(function: Callable) -> None:
    """NumPy cuts the result; elements that are cut before would give another."""
    a = np.full((3, 3, 3), 1.6)
    rank = 2 if function is whole_sums else 1
    with pytest.raises(weft.TypingError, match="no room for the fractions of float64"):
        function(a, np.zeros((3,) * rank, np.int64))
    floats = np.zeros((3,) * rank)
    function(a, floats)
    np.testing.assert_allclose(floats, a.sum(0) if rank == 2 else a.prod((0, 1)))

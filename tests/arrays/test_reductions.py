"""Sums and their like against NumPy's."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import weft

from .against_numpy import ALL, KINDS, array, axes, check, refused

SUMS = ("sum", "prod", "max", "min", "any", "all", "mean", "var", "std", "ptp", "argmax", "argmin", "count_nonzero")
SHAPES = ((), (5,), (3, 4), (2, 3, 4), (0,), (3, 0), (0, 3), (2, 0, 3))


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("dtype", ALL)
def test_every_dtype(name: str, dtype: type) -> None:
    a = array((3, 4), dtype, nan=True)
    for axis in (None, 0, 1):
        check(f"xp.{name}(a, axis={axis})", exact=False, a=a)


@pytest.mark.parametrize("name", SUMS)
def test_shapes_and_axes(name: str) -> None:
    for shape in SHAPES:
        for axis in axes(len(shape)):
            for keepdims in ("", ", keepdims=True"):
                check(f"xp.{name}(a, axis={axis}{keepdims})", exact=False, a=array(shape))


@pytest.mark.parametrize("name", [name for name in SUMS if not name.startswith("arg")])
def test_several_axes(name: str) -> None:
    for axis in ((0, 2), (2, 0), (-1, 1), (), (0, 1, 2), (0, 0), (0, 3)):
        for keepdims in ("", ", keepdims=True"):
            check(f"xp.{name}(a, axis={axis}{keepdims})", exact=False, a=array((2, 3, 4)))
    check(f"xp.{name}(a.T, axis=(0, 2))", exact=False, a=array((2, 3, 4)))


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "std"])
@pytest.mark.parametrize("dtype", KINDS)
def test_dtype(name: str, dtype: type) -> None:
    for to in ("int64", "float32", "float64", "complex128", "float16", "bool"):
        if name in ("sum", "prod", "mean") or to not in ("int64", "bool"):
            check(f"xp.{name}(a, axis=0, dtype=xp.{to})", exact=False, a=array((3, 4), dtype))


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
def test_initial_and_where(name: str) -> None:
    a, m = array((3, 4)), array((3, 4), np.bool_)
    check(f"xp.{name}(a, initial=2)", a=a)
    check(f"xp.{name}(a, axis=1, initial=2.5, where=m)", a=a, m=m)
    check(f"xp.{name}(a, axis=0, where=m)", a=a, m=m)
    check(f"xp.{name}(a, axis=0, where=m, initial=0)", a=a, m=m[0])
    check(f"xp.{name}(a, initial=3)", a=array((0,)))
    check(f"xp.{name}(a, axis=1, initial=3)", a=array((2, 0), np.int32))


def test_where_of_others() -> None:
    a, m = array((3, 4)), array((3, 4), np.bool_)
    for name in ("mean", "var", "std", "any", "all"):
        for axis in (None, 0, 1):
            check(f"xp.{name}(a, axis={axis}, where=m)", exact=False, a=a, m=m)
            check(f"xp.{name}(a, axis={axis}, where=m, keepdims=True)", exact=False, a=a, m=m)
    check("xp.sum(a, where=m)", a=a, m=array((3, 4), np.int64))


def test_out() -> None:
    for name in ("sum", "prod", "max", "min", "mean", "var", "std", "ptp"):
        check(f"xp.{name}(a, axis=0, out=o)", exact=False, a=array((3, 4)), o=np.zeros(4))
        check(f"xp.{name}(a, axis=0, keepdims=True, out=o)", exact=False, a=array((3, 4)), o=np.zeros((1, 4)))
        check(f"xp.{name}(a, axis=0, out=o)", exact=False, a=array((3, 4)), o=np.zeros(3))
    check("xp.sum(a, axis=0, out=o)", a=array((3, 4)), o=np.zeros(4, np.int64))
    check("xp.sum(a, axis=0, out=o)", a=array((3, 4), np.int8), o=np.zeros(4, np.float32))
    check("xp.argmax(a, axis=0, out=o)", a=array((3, 4)), o=np.zeros(4, np.int64))
    check("xp.any(a, axis=0, out=o)", a=array((3, 4)), o=np.zeros(4, np.bool_))
    refused("xp.sum(a, out=np.zeros(()))", a=array((3,)))


def test_degrees_of_freedom() -> None:
    for name in ("var", "std"):
        for words in ("ddof=1", "correction=1", "ddof=1.5", "ddof=5", "ddof=1, correction=1", "mean=xp.mean(a, axis=0, keepdims=True)"):
            check(f"xp.{name}(a, axis=0, {words})", exact=False, a=array((4, 3)))


def test_nothing_is_ignored() -> None:
    for text in ("xp.sum(a, order='F')", "xp.mean(a, initial=1)", "xp.argmax(a, where=True)", "xp.max(a, dtype=float)"):
        check(text, a=array((3,)))


@pytest.mark.parametrize("shape", [(600_001,), (900, 701), (3, 200_001), (200_001, 3), (1, 600_000), (600_000, 1), (50, 60, 202)], ids=str)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "int64", "float16", "float32", "float64", "complex64"])
def test_folds_of_computed_elements_have_the_bits_of_folds_of_stored_ones(dtype: str, shape: tuple[int, ...]) -> None:
    # Elements that are computed are stored for a part of the index space at a time.
    given = (np.random.default_rng(len(shape)).standard_normal(shape) * 3).astype(dtype)
    for name in ("sum", "prod", "max", "min", "argmax", "any", "all"):
        x = weft.asarray(given)
        fold = getattr(weft, name)
        computed = fold(weft.logical_not(x) if dtype == "bool" else x + x)
        stored = weft.logical_not(x) if dtype == "bool" else x + x
        weft.eval(stored)
        expected = fold(stored)
        assert np.asarray(computed).tobytes() == np.asarray(expected).tobytes(), name


@pytest.mark.parametrize("name", ["add", "multiply", "gcd", "hypot", "maximum", "logical_or", "bitwise_and"])
def test_no_axes_begin_with_the_identity(name: str) -> None:
    """NumPy computes 0 + -0 and 1 * NaN even of one element."""
    values = [-0.0, 3.0, -3.0]
    for dtype in ("int64",) if name in ("gcd", "bitwise_and") else ("float64", "float32", "float16", "complex128"):
        if name == "hypot" and dtype == "complex128":
            continue
        for value in values if dtype != "complex128" else [complex(np.nan, 0), complex(-0.0, -0.0), complex(np.inf, 0)]:
            for more in ("", ", axis=()", ", keepdims=True"):
                check(f"np.asarray(xp.{name}.reduce(a{more})).view(np.uint8)", a=np.asarray(value).astype(dtype))
            check(f"np.asarray(xp.{name}.reduce(a, axis=())).view(np.uint8)", a=np.asarray([value, value]).astype(dtype))
    if name in ("add", "multiply"):
        for more in ("", ", initial=-0.0", ", where=True", ", axis=()"):
            check(f"xp.signbit(xp.{'sum' if name == 'add' else 'prod'}(a{more}))", a=np.asarray(-0.0))
    check("xp.signbit(xp.mean(a))", a=np.asarray(-0.0))


@pytest.mark.parametrize("letter", "efdFD")
def test_sums_that_start_with_negative_zero(letter: str) -> None:
    """Of nothing but -0 they are -0, as nothing else is."""
    negative = complex(-0.0, -0.0) if letter in "FD" else -0.0
    starts = (-0.0, negative, complex(0.0, -0.0), complex(-0.0, 2)) if letter in "FD" else (-0.0,)
    for length, start in itertools.product((0, 1, 5, 100), starts):
        for first in ([], [0.0], [1.0, -1.0]):
            x = np.array([*first, *[negative] * length], letter)
            for text in ("xp.sum(x, initial=s)", "xp.sum(xp.stack([x, x]), axis=1, initial=s)", "xp.sum(x, initial=s, where=m)"):
                arguments = {"s": start, "m": np.arange(x.size) % 2 == 0}
                ours = weft.asnumpy(eval(text, {"xp": weft, "x": weft.asarray(x), **arguments}))
                theirs = eval(text, {"xp": np, "x": x, **arguments})
                assert ours.tobytes() == theirs.tobytes(), (text, x, start)


@pytest.mark.parametrize("name", ["sum", "prod", "any", "all", "mean", "var", "std"])
def test_masks_of_what_has_no_axes(name: str) -> None:
    """NumPy's means name axes as its sums do where a mask says what is counted, and not elsewhere."""
    given = {"a": np.asarray(np.float32(3)), "w": np.asarray(True)}
    for axis in (0, -1, 1, (0,), (), None):
        for keepdims in ("", ", keepdims=True"):
            check(f"xp.{name}(a, axis={axis}, where=w{keepdims})", exact=False, **given)
            check(f"xp.{name}(a, axis={axis}, where=True{keepdims})", exact=False, **given)

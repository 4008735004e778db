"""Quantiles of no elements, counts of unsigned numbers, tables that NumPy has not: its results, warnings and errors, everywhere."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import weft

PLACES = list({one.kind: one.name for one in reversed(weft.devices()) if one.float64}.values())


def told(work: Callable[[], Any]) -> tuple[Any, list[tuple[str, str]]]:
    """What work gives, as dtype, shape and elements, or its error; and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            made = work()
            host = np.asarray(weft.asnumpy(made) if isinstance(made, weft.ndarray) else made)
            found: Any = (host.dtype, host.shape, repr(host.tolist()))
        except Exception as error:
            found = (type(error), str(error))
    return found, [(one.category.__name__, str(one.message)) for one in caught]


def both(text: str, place: str, **arrays: np.ndarray) -> None:
    """An expression of `xp` with arrays in NumPy and on a device."""
    theirs = told(lambda: eval(text, {"xp": np, **arrays}))
    with weft.device(place):
        ours = told(lambda: eval(text, {"xp": weft, **{name: weft.asarray(array) for name, array in arrays.items()}}))
    assert ours == theirs, text


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("function", ["quantile", "percentile", "nanquantile", "nanpercentile", "median", "nanmedian"])
def test_quantiles_of_no_elements(place: str, function: str) -> None:
    for letter, shape in itertools.product("dfeilD?", [(0,), (0, 3), (3, 0), (2, 0, 3)]):
        a = np.zeros(shape, letter)
        for axis, keeps in itertools.product([None, 0, 1, (0, 1)], [False, True]):
            if len(shape) == 1 and axis not in (None, 0):
                continue
            rest = f"axis={axis}, keepdims={keeps}"
            if function.endswith("median"):
                both(f"xp.{function}(a, {rest})", place, a=a)
                continue
            for q in ("0.5", "1", "[0.1, 0.9]", "xp.zeros(0)"):
                both(f"xp.{function}(a, {q}, {rest})", place, a=a)
        if function in ("quantile", "percentile"):
            for method in ("lower", "nearest", "weibull", "inverted_cdf", "midpoint"):
                both(f"xp.{function}(a, 0.5, method={method!r})", place, a=a)
            both(f"xp.{function}(a, 0.5, method='inverted_cdf', weights=a.real)", place, a=a)


@pytest.mark.parametrize("place", PLACES)
def test_medians_of_no_elements_of_bfloat16(place: str) -> None:
    a = weft.asarray(np.zeros((0, 2), ml_dtypes.bfloat16), device=place)
    with pytest.warns(RuntimeWarning, match="Mean of empty slice"):
        found = weft.median(a, axis=0)
    assert found.dtype == weft.bfloat16 and found.device.name == place and bool(weft.isnan(found).all())
    out = weft.zeros(2, dtype=np.float64, device=place)
    with pytest.warns(RuntimeWarning, match="Mean of empty slice"):
        assert weft.median(weft.zeros((0, 2), device=place), axis=0, out=out) is out
    assert bool(weft.isnan(out).all())


@pytest.mark.parametrize("place", PLACES)
def test_counts_of_unsigned_numbers(place: str) -> None:
    w = np.array([1.5, 2, 4])
    for letter in "BHILQ":
        both("xp.bincount(a)", place, a=np.array([0, 3, 1], letter))
        both("xp.bincount(a, minlength=7)", place, a=np.array([0, 3, 1], letter))
        both("xp.bincount(a, w)", place, a=np.array([0, 3, 1], letter), w=w)
        both("xp.bincount(a, minlength=2)", place, a=np.zeros(0, letter))
        both("xp.bincount(a, w)", place, a=np.zeros(0, letter), w=w[:0])
        both("xp.bincount(a, w, 3)", place, a=np.zeros(0, letter), w=w[:0])
        both("xp.bincount(a, w)", place, a=np.zeros(0, letter), w=w)
    both("xp.bincount([], [])", place)
    both("xp.bincount(a)", place, a=np.array([2**63, 1], np.uint64))
    both("xp.bincount(a)", place, a=np.array([2**64 - 1], np.uint64))
    both("xp.bincount(a, w)", place, a=np.array([1, 0, 1], np.uint64), w=np.array([2, 3, 4], np.uint64))


@pytest.mark.parametrize("place", PLACES)
def test_tables_of_integers_too_far_apart(place: str) -> None:
    for letter, low, high in [("b", -128, 127), ("b", -100, 27), ("b", -100, 28), ("q", -(2**62), 2**62 + 1), ("q", -(2**63), 2**63 - 1)]:
        for kind, inverts in itertools.product(["table", "sort", None], [False, True]):
            if letter == "b" or kind != "table" or high - low >= 2**63:
                values = {"a": np.array([1, 27, 2], letter), "b": np.array([low, high], letter)}
                both(f"xp.isin(a, b, kind={kind!r}, invert={inverts})", place, **values)
    both("xp.isin(a, b, kind='table')", place, a=np.array([1, 2]), b=np.array([True, False]))
    both("xp.isin(a, b, kind='table')", place, a=np.array([1.0]), b=np.array([1]))
    both("xp.isin(a, b, kind='table')", place, a=np.array([1, 2]), b=np.zeros(0, np.int64))


@pytest.mark.parametrize("place", PLACES)
def test_tables_in_captured_graphs(place: str) -> None:
    with weft.device(place):
        captured = weft.compile(lambda a, b: weft.isin(a, b, kind="table"))
        for _ in range(3):
            found = captured(weft.asarray(np.array([1, 2, 3])), weft.asarray(np.array([3, 1])))
            assert weft.asnumpy(found).tolist() == [True, False, True]

"""Sums and their like without NaN, against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from .against_numpy import ALL, array, check, refused

FOLDS = ("nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd", "nanargmax", "nanargmin", "nanmedian")


@pytest.mark.parametrize("name", FOLDS)
@pytest.mark.parametrize("dtype", ALL)
def test_every_dtype(name: str, dtype: type) -> None:
    if name == "nanmedian" and np.dtype(dtype).kind in "bc":
        return
    for nan in (False, True):
        for axis in (None, 0, 1):
            check(f"xp.{name}(a, axis={axis})", exact=False, a=array((5, 7), dtype, nan=nan))


@pytest.mark.parametrize("name", FOLDS)
def test_rows_of_nan(name: str) -> None:
    a = array((3, 4))
    a[1] = np.nan
    for words in ("axis=1", "axis=0", "", "axis=1, keepdims=True"):
        check(f"xp.{name}(a, {words})", exact=False, a=a)
    check(f"xp.{name}(a)", exact=False, a=np.zeros(0))


def test_keywords() -> None:
    a, m = array((3, 4), nan=True), array((3, 4), np.bool_)
    for name in ("nansum", "nanprod", "nanmean", "nanvar", "nanstd"):
        check(f"xp.{name}(a, axis=0, where=m)", exact=False, a=a, m=m)
        check(f"xp.{name}(a, axis=(0, 1), keepdims=True)", exact=False, a=a)
        check(f"xp.{name}(a, axis=0, dtype=xp.float32)", exact=False, a=a)
        check(f"xp.{name}(a, axis=0, out=o)", exact=False, a=a, o=np.zeros(4))
    for words in ("ddof=1", "correction=2", "ddof=3"):
        check(f"xp.nanvar(a, axis=0, {words})", exact=False, a=a)
    check("xp.nanmean(a, dtype=int)", a=a)
    check("xp.nanmax(a, axis=0, initial=3)", a=a)
    check("xp.nanmin(a, axis=0, initial=3, where=m)", a=a, m=m)


@pytest.mark.parametrize("name", ["nancumsum", "nancumprod"])
def test_cumulative(name: str) -> None:
    for axis in (None, 0, 1, 2):
        check(f"xp.{name}(a, axis={axis})", exact=False, a=array((3, 4), nan=True))
    check(f"xp.{name}(a, dtype=xp.float32)", exact=False, a=array((3, 4), nan=True))


@pytest.mark.parametrize("name", ["nanquantile", "nanpercentile"])
def test_quantiles(name: str) -> None:
    for q in ("0.3", "[0.1, 0.9]", "[[0.1], [0.2]]", "1", "2000"):
        for words in ("", ", axis=0", ", axis=1, keepdims=True", ", axis=(0, 1)", ", method='lower'", ", axis=0, method='hazen'"):
            check(f"xp.{name}(a, {q}{words})", exact=False, a=array((5, 7), nan=True))
    refused(f"xp.{name}(a, 0.5, weights=a, method='inverted_cdf')", a=np.ones(3))

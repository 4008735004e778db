"""Averages, order statistics, covariances and histograms against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import weft

from .against_numpy import ALL, array, cases, check

A = array((5, 6))


@pytest.mark.parametrize("dtype", ALL)
def test_dtypes(dtype: type) -> None:
    kind = np.dtype(dtype).kind
    a = array((5, 6), dtype)
    check("xp.average(a, 0)", exact=False, a=a)
    check("xp.average(a, 0, weights=[1, 2, 3, 4, 5])", exact=False, a=a)
    if kind != "b":
        check("xp.cov(a)", exact=False, a=a)
    if kind not in "bc":
        for text in ("median(a)", "median(a, 1)", "percentile(a, 30, 0)", "quantile(a, 0.3)", "quantile(a, 0.3, 1)"):
            check(f"xp.{text}", exact=False, a=a)
    if kind in "iu" and np.dtype(dtype) != np.uint64:
        check("xp.bincount(xp.ravel(xp.abs(a)))", a=a)
    if kind in "iuf":
        check("xp.histogram(a, 4)", exact=False, a=a)


def test_average() -> None:
    for words in ("", ", axis=1", ", axis=(0, 1)", ", weights=a + 10", ", 1, weights=a + 10, keepdims=True", ", 0, [1, 2, 3, 4, 5], True"):
        check(f"xp.average(a{words})", exact=False, a=A)
    for words in ("returned=True", "axis=0, weights=[1, 2]", "weights=[1, 2, 3, 4, 5]", "axis=0, weights=[0, 0, 0, 0, 0]", "axis=3"):
        check(f"xp.average(a, {words})", exact=False, a=A)
    check("xp.average(a, axis=(2, 0), weights=w)", exact=False, a=array((2, 3, 4)), w=array((4, 2)) + 9)


def test_median() -> None:
    for shape in ((5,), (6,), (3, 4), (2, 3, 4), (0,), (1,)):
        for words in ("", ", axis=0", ", axis=-1, keepdims=True", ", axis=(0, 1)", ", keepdims=True", ", axis=7"):
            check(f"xp.median(a{words})", exact=False, a=array(shape))
            check(f"xp.median(a{words})", exact=False, a=array(shape, nan=True))
    check("xp.median(a, 0, out=o)", exact=False, a=A, o=np.zeros(6))


@pytest.mark.parametrize(
    "method",
    [
        "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull", "linear",
        "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest", "none",
    ],
)  # fmt: skip
def test_quantile(method: str) -> None:
    for q in ("0.3", "[0.1, 0.9]", "[[0.1, 0.5]]", "0.0", "1.0", "1.5", "-0.1"):
        for words in ("", ", axis=0", ", axis=(0, 1), keepdims=True", ", axis=1"):
            check(f"xp.quantile(a, {q}{words}, method='{method}')", exact=False, a=A)
    check(f"xp.percentile(a, [10, 90], 1, method='{method}')", exact=False, a=A)
    check(f"xp.percentile(a, 25, method='{method}')", exact=False, a=array((7,), np.int32))


@pytest.mark.parametrize("method", ["linear", "nearest", "lower", "hazen", "inverted_cdf", "midpoint"])
def test_parts_of_bools(method: str) -> None:
    """Between which most methods find nothing: what is no part is refused before."""
    for function, part in cases(
        ("quantile", "nanquantile", "percentile", "nanpercentile"),
        ("1.5", "-1", "2", "[0.5, 2.0]", "1", "0", "float('nan')", "0.5", "[0, 1]", "[]", "50", "100", "101.0", "xp.asarray([0.5, -1])"),
    ):
        for axis in (None, 0):
            check(f"xp.{function}(a, {part}, {axis}, method='{method}')", a=np.array([[True, False], [False, False]]))
    with pytest.raises(ValueError, match=r"Quantiles must be in the range \[0, 1\]"):
        weft.quantile(weft.asarray([True, False]), 1.5)
    with pytest.raises(ValueError, match=r"Percentiles must be in the range \[0, 100\]"):
        weft.percentile(weft.asarray([True, False]), 101)


def test_whole_quantiles_and_weights() -> None:
    for q in ("0", "1", "[0, 1]", "2"):
        check(f"xp.quantile(a, {q})", a=A)
        check(f"xp.quantile(a, {q}, axis=0)", a=array((4, 3), np.int32))
    check("xp.quantile(a, 0.4, weights=w, method='inverted_cdf')", a=A, w=np.abs(A) + 1)
    check("xp.quantile(a, [0.4, 0.5], axis=0, weights=w, method='inverted_cdf')", a=A, w=np.arange(5.0) + 1)
    check("xp.quantile(a, 0.4, weights=w)", a=A, w=A)
    check("xp.quantile(a, 0.5)", a=array((3,), np.complex64))


def test_covariances() -> None:
    x, y = array((3, 8)), array((2, 8), seed=3)
    for words in ("x", "x, y", "x.T, rowvar=False", "x, bias=True", "x, ddof=0", "x, ddof=3", "x[0]", "x[0], x[1]", "x, dtype=xp.float32"):
        check(f"xp.cov({words})", exact=False, x=x, y=y)
    for words in ("fweights=f", "aweights=w", "fweights=f, aweights=w", "aweights=-w", "fweights=f[:2]", "ddof=1.5", "fweights=w"):
        check(f"xp.cov(x, {words})", exact=False, x=x, f=np.arange(8) % 3 + 1, w=np.arange(8.0) + 0.5)
    for words in ("x", "x, y", "x.T, rowvar=False", "x[0]", "x[0], x[1]", "x, dtype=xp.float32"):
        check(f"xp.corrcoef({words})", exact=False, x=x, y=y)
    check("xp.cov(x)", exact=False, x=array((3, 8), np.complex128))
    check("xp.cov(x)", x=array((2, 2, 2)))


def test_counts() -> None:
    a = np.array([0, 1, 1, 3, 2, 1])
    for words in ("", ", minlength=9", ", minlength=-1", ", weights=w", ", weights=w[:2]", ", w, 7", ", minlength=1.5"):
        check(f"xp.bincount(a{words})", a=a, w=np.arange(6) / 4)
    for bad in ("[-1, 1]", "xp.asarray([1.5])", "[[1]]", "[]", "3"):
        check(f"xp.bincount({bad})")
    for x, w in cases(([-1, 2], [1, 2], [], [3]), ([1j, 2], [1j], [1.0, 2.0], [1.0], [[1, 2]])):
        check("xp.bincount(x, w)", x=np.array(x, int), w=np.array(w))
    for bins in ("5", "[0, 1, 2.5, 6]", "xp.asarray([-3, 0, 3])", "0", "[3, 1]", "[[1]]", "2.5"):
        for words in ("", ", density=True", ", weights=w", ", weights=w, density=True", ", range=(-2, 2)", ", range=(2, -2)"):
            check(f"xp.histogram(a, {bins}{words})", exact=False, a=A, w=np.abs(A))
            if "density" not in words:
                check(f"xp.histogram_bin_edges(a, {bins}{words})", exact=False, a=A, w=A)
    check("xp.histogram(a)", exact=False, a=np.zeros(0))
    check("xp.histogram(a)", exact=False, a=np.ones(3, np.int64))
    check("xp.histogram(a, range=(0, float('inf')))", a=A)
    check("xp.histogram(a)", a=np.array([1.0, np.nan]))


def test_rules_for_the_number_of_bins() -> None:
    a = array((60,))
    for rule in ("auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt", "nonsense"):
        for words in ("", ", range=(-3, 3)"):
            check(f"xp.histogram(a, bins={rule!r}{words})", exact=False, a=a)
            check(f"xp.histogram_bin_edges(a, bins={rule!r}{words})", exact=False, a=a)
    check("xp.histogram(a, bins='auto', weights=a)", a=a)
    check("xp.histogram(a, bins='auto')", a=array((0,)))


def test_ends_of_a_histogram_have_their_dtype() -> None:
    for low in ("0.5", "np.float32(0.5)", "np.float64(0.5)", "xp.asarray([0.5, 4])[0]", "np.float64(1) + np.finfo(float).eps"):
        for dtype in (np.float16, np.float32, np.float64, np.int8):
            if dtype is np.float64 and "float32" in low:
                # NumPy divides the width as float32 there.
                continue
            check(f"xp.histogram(a, bins=3, range=({low}, 4))", exact=False, a=array((20,), dtype))
            check(f"xp.histogram_bin_edges(a, bins=3, range=({low}, 4))", exact=False, a=array((20,), dtype))

"""Averages, medians, quantiles, counts, histograms and covariances."""

from __future__ import annotations

import numpy as np
import pytest
from numpy_calls import ALL, COMPLEX, array, axes, check, check_parallel, layouts

import weft

REAL_KINDS = (np.float64, np.float32, np.int64, np.uint8)
DISCRETE = ("inverted_cdf", "closest_observation", "lower", "higher", "nearest")
CONTINUOUS = (
    "linear",
    "averaged_inverted_cdf",
    "interpolated_inverted_cdf",
    "hazen",
    "weibull",
    "median_unbiased",
    "normal_unbiased",
    "midpoint",
)
Q = np.array([0, 0.1, 0.25, 1 / 3, 0.5, 0.75, 0.8, 1])
AXES = ("None", "0", "1", "-1", "(0, 2)", "(0, 1, 2)", "3", "(0, 0)")


@pytest.mark.parametrize("dtype", REAL_KINDS)
def test_ptp(dtype: type) -> None:
    for axis in axes(2):
        check(f"np.ptp(a, {axis})", a=array((3, 4), dtype))
    check("np.ptp(a, (0, 1), keepdims=True)", a=array((3, 4), dtype))
    check("np.ptp(a, 1, keepdims=True)", a=array((3, 4), dtype, nan=True))
    check("np.ptp(a)", a=array((0,), dtype))
    check("np.ptp(a > 1)", a=array((3,), dtype))


@pytest.mark.parametrize("axis", AXES)
def test_averages(axis: str) -> None:
    a, w = array((3, 4, 5), np.float64), np.abs(array((3, 4, 5), np.float64, 1)) + 1
    for text in (
        "np.average(a, {})",
        "return np.average(a, {}, returned=True)",
        "np.average(a, {}, w)",
        "np.average(a, {}, w, True, keepdims=True)",
    ):
        check(text.format(axis), exact=False, a=a, w=w)


@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.bool_, np.complex128])
def test_averages_of_types(dtype: type) -> None:
    a = array((3, 5), dtype)
    for w in (np.array([1, 2, 3, 0, 4]), np.array([0.5, 2, 0, 1, 1], np.float32)):
        check("np.average(a, 1, w)", exact=False, a=a, w=w)
        check("return np.average(a, 1, w, returned=True)", exact=False, a=a, w=w)
        check("np.average(a[0], weights=w)", exact=False, a=a, w=w)
    check("np.average(a, 1, w)", a=a, w=np.zeros(5))
    check("np.average(a, 1, w)", a=a, w=np.ones(4))
    check("np.average(a, weights=w)", a=a, w=np.ones(5))
    check("np.average(a)", exact=False, a=a)


@pytest.mark.parametrize("dtype", [*ALL, np.float16])
def test_medians(dtype: type) -> None:
    for n in (1, 2, 3, 8):
        check("np.median(a)", exact=False, a=array((n,), dtype))
    check("np.median(a)", exact=False, a=array((9,), dtype, nan=True))
    check("np.median(a)", a=array((0,), dtype))


@pytest.mark.parametrize("axis", AXES)
def test_medians_along_axes(axis: str) -> None:
    for text in ("np.median(a, {})", "np.median(a, axis={}, keepdims=True)"):
        check(text.format(axis), a=array((3, 4, 5), np.float64))
        check(text.format(axis), a=array((3, 4, 5), np.float64, nan=True))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
def test_medians_of_many(dtype: type) -> None:
    rng = np.random.default_rng(0)
    for n in (3000, 3001):
        a = (rng.standard_normal(n) * 1000).astype(dtype)
        check("np.median(a)", a=a)
        check("np.percentile(a, 30)", a=a)
        check("np.quantile(a, np.array([0, 0.2, 1]))", a=a)
        check("np.median(a)", a=np.where(a > 900, np.nan, a).astype(dtype) if dtype is not np.int16 else a // 300)


def test_medians_into_out() -> None:
    a = array((3, 4), np.float64)
    check("np.median(a, 0, out)\nreturn 0", a=a, out=np.zeros(4))
    check("np.median(a, 0, out=out)\nreturn 0", a=a, out=np.zeros(3))
    check("np.quantile(a, 0.3, 1, out)\nreturn 0", a=a, out=np.zeros(3))
    check("np.ptp(a, 1, out)\nreturn 0", a=a, out=np.zeros(3))


@pytest.mark.parametrize("method", [*DISCRETE, *CONTINUOUS])
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_methods_of_quantiles(dtype: type, method: str) -> None:
    for n in (1, 4, 7):
        check(f"np.quantile(a, q, method='{method}')", a=array((n,), dtype), q=Q)
    check(f"np.quantile(a, 0.4, method='{method}')", a=array((4,), dtype))


@pytest.mark.parametrize("axis", AXES)
def test_quantiles_along_axes(axis: str) -> None:
    for text in ("np.percentile(a, 40, {})", "np.quantile(a, q, axis={}, keepdims=True)"):
        check(text.format(axis), a=array((3, 4, 5), np.float64), q=Q)
        check(text.format(axis), a=array((3, 4, 5), np.float64, nan=True), q=Q)


@pytest.mark.parametrize(
    "q", [0, 1, 0.3, np.float64(0.3), np.float32(0.3), np.array(0.3), np.array([0, 1]), np.array([0.3, 0.9], np.float32), Q.reshape(2, 4)]
)
@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_types_of_quantiles(dtype: type, q: object) -> None:
    check("np.quantile(a, q)", a=array((6,), dtype), q=q)
    check("np.percentile(a, q * 100)", a=array((6,), dtype), q=q)


@pytest.mark.parametrize(
    "text",
    [
        "np.quantile(a, 1.5)",
        "np.percentile(a, -1)",
        "np.percentile(a, (50, 101))",
        "np.quantile(a, 0.5, method='none')",
        "np.quantile(a, 0.5, weights=a)",
        "np.quantile(a * 1j, 0.5)",
        "np.quantile(a > 0, 0.5)",
        "np.quantile(a[:0], 0.5)",
        "np.quantile(a, np.nan)",
    ],
)
def test_quantiles_refused(text: str) -> None:
    check(text, a=array((5,), np.float64))


def test_weighted_quantiles() -> None:
    a, w = array((4, 5), np.float64, nan=True), np.abs(array((4, 5), np.float64, 2))
    for q in (0.4, 0, Q):
        check("np.quantile(a, q, 1, method='inverted_cdf', weights=w)", a=a, w=w, q=q)
        check("np.quantile(a[1:], q, method='inverted_cdf', weights=w[1:])", a=array((4, 5), np.int64), w=w, q=q)
        check("np.percentile(a, q, 0, method='inverted_cdf', weights=w)", a=a, w=np.array([0, 1, 2.0, 0.5]), q=q)
    check("np.quantile(a, 0.5, method='inverted_cdf', weights=w - 3)", a=a, w=w)
    check("np.quantile(a, 0.5, method='inverted_cdf', weights=w * 0)", a=a, w=w)


@pytest.mark.parametrize("dtype", ALL)
def test_bincount(dtype: type) -> None:
    x = array((9,), dtype)
    check("np.bincount(x)", x=x)
    if x.dtype.kind not in "c":
        x = np.abs(x)
        for text in (
            "np.bincount(x)",
            "np.bincount(x, minlength=10)",
            "np.bincount(x[:0], minlength=2)",
            "np.bincount(x, w)",
            "np.bincount(x, w[:3])",
            "np.bincount(x, minlength=-1)",
            "np.bincount(x[:0])",
        ):
            check(text, x=x, w=array((9,), np.float32))


def test_bincount_of_layouts() -> None:
    for x in layouts(np.abs(array((9,), np.int64))):
        check("np.bincount(x, x)", x=x)
    check("np.bincount(x)", x=np.zeros((2, 2), int))
    check("np.bincount((1, 1, 4))")


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, np.bool_])
def test_histograms(dtype: type) -> None:
    for text in (
        "np.histogram(a)",
        "np.histogram(a, 5, (0, 3))",
        "np.histogram(a, 5, (-1.5, 3.0))",
        "np.histogram(a, 3, density=True)",
        "np.histogram(a, np.array([-2, 0, 0, 0.5, 2.5]))",
        "np.histogram(a, np.array([0, 1, 2, 6]), density=True)",
        "np.histogram(a, 4, weights=w)",
        "np.histogram(a, 4, (2, 2), weights=w > 1 if 0 else w)",
        "np.histogram(a, np.array([0, 1, 2, 6]), weights=w)",
        "np.histogram_bin_edges(a, 3)",
        "np.histogram_bin_edges(a, 3, (0, 5))",
        "np.histogram(a[:0])",
        "np.histogram(a[0], (0, 1, 5))",
        "np.histogram(a, bins=[0, 1, 2])",
        "np.histogram(a, [-1, 0.5, 2.5], density=True, weights=w)",
        "np.histogram(a, [2])",
        "np.histogram_bin_edges(a, [0, 1, 2.5])",
    ):
        check(text, exact=False, a=array((3, 5), dtype), w=array((3, 5), np.float64, 1))
    check("np.histogram(a, 4, weights=w)", exact=False, a=array((15,), dtype), w=array((15,), np.int16, 1))
    check("np.histogram(a, 4, weights=w)", exact=False, a=array((15,), dtype), w=array((15,), np.complex64, 1))


@pytest.mark.parametrize("seed", range(6))
def test_histograms_at_edges(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a = np.round(rng.standard_normal(2000) * 10.0**seed, 3)
    for given in (a, a.astype(np.float32), np.linspace(0, 1, 2000), np.linspace(-0.1, 0.9, 1999, dtype=np.float32)):
        check("np.histogram(a, bins)", a=given, bins=7 + 13 * seed)
        check("np.histogram(a, bins, (0, 0.7))", a=given, bins=7 + 13 * seed)
        check("np.histogram(a, bins)", a=given, bins=np.unique(given)[::50])


@pytest.mark.parametrize(
    "text",
    [
        "np.histogram(a, 0)",
        "np.histogram(a, 3, (2, 1))",
        "np.histogram(a, 3, (0, np.inf))",
        "np.histogram(b)",
        "np.histogram(a, np.array([1, 0]))",
        "np.histogram(a, [1, 0])",
        "np.histogram(a, [[0, 1], [1, 2]])",
        "np.histogram(a, 2.5)",
        "np.histogram(a, weights=b[1:])",
        "np.histogram(a, np.zeros((2, 2)))",
        "np.histogram(a, 1000, (1, 1 + 1e-15))",
    ],
)
def test_histograms_refused(text: str) -> None:
    check(text, a=array((5,), np.float64), b=np.array([1.0, np.nan, 2, 3, 4]))


def test_histograms_pass_over_nan() -> None:
    b = np.array([1.0, np.nan, 2, 3, 4, np.inf])
    check("np.histogram(b, 3, (0, 4))", b=b)
    check("np.histogram(b, np.array([0, 2.0, 4]))", b=b)
    for a in layouts(array((4, 5), np.float64)):
        check("np.histogram(a, 3)", a=a)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.complex128])
def test_covariances(dtype: type) -> None:
    a = array((4, 5), dtype)
    for text in (
        "np.cov(a)",
        "np.cov(a, a[1:])",
        "np.cov(a, a[0])",
        "np.cov(a, rowvar=False)",
        "np.cov(a[0])",
        "np.cov(a[0], a[1], bias=True)",
        "np.cov(a, ddof=3)",
        "np.cov(a, dtype=np.float32)" if dtype is not np.complex128 else "np.cov(a, dtype=np.complex64)",
        "np.corrcoef(a)",
        "np.corrcoef(a[0], a[1])",
        "np.corrcoef(a[0])",
        "np.cov(a, a[:, :1], False)",
        "np.cov(a, a[:, :2])",
        "np.cov(a, a[None])",
        "np.cov(a[:, :1])",
    ):
        check(text, exact=False, a=a)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128, np.int64])
def test_weighted_covariances(dtype: type) -> None:
    a, f, w = array((3, 5), dtype), np.array([1, 2, 0, 3, 1]), np.array([0.5, 1.0, 2.0, 0.25, 1.0])
    for text in (
        "np.cov(a, fweights=f)",
        "np.cov(a, aweights=w)",
        "np.cov(a, fweights=f, aweights=w)",
        "np.cov(a[0], fweights=f, ddof=0)",
        "np.cov(a, aweights=w, ddof=2)",
    ):
        check(text, exact=False, a=a, f=f, w=w)
    for text in ("np.cov(a, fweights=w)", "np.cov(a, aweights=-w)", "np.cov(a, fweights=f[1:])", "np.cov(a, fweights=f * 0)"):
        check(text, exact=False, a=a, f=f, w=w)


@pytest.mark.parametrize("shape", [(3, 0), (0, 3), (0, 0), (2, 3)])
def test_averages_of_no_elements(shape: tuple[int, int]) -> None:
    for axis in (0, 1):
        check(f"np.average(a, axis={axis})", a=np.ones(shape))
        check(f"np.average(a, axis={axis}, returned=True)", a=np.ones(shape))


@pytest.mark.parametrize("dtype", COMPLEX)
def test_medians_of_infinite_complex_numbers(dtype: type) -> None:
    for z in (complex(np.inf, 1), complex(np.inf, 0), complex(1, np.inf), 2 + 3j):
        for n in (1, 2, 3):
            check("np.median(a)", a=np.full(n, z, dtype))
            check("np.median(a, axis=1)", a=np.full((2, n), z, dtype))


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
@pytest.mark.parametrize(
    "call", ["np.median(a, axis=1)", "np.median(a, axis=0)", "np.quantile(a, 0.3, axis=1)", "np.percentile(a, 30.0, axis=0)"]
)
def test_rows_of_parallel_functions(call: str, dtype: type) -> None:
    """Threads take rows each; the results are the same."""
    check_parallel(call, a=array((200, 300), dtype))
    check_parallel(call, a=array((3, 3000), dtype))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_histograms_of_the_widest_ranges_raise(dtype: type) -> None:
    """Where the distance of two elements is no number, nothing is counted, least of all outside the bins."""
    most = np.finfo(dtype).max
    with pytest.raises(ValueError, match=r"too wide|Too many bins"):
        counted(np.array([-most, 0, most], dtype))
    with pytest.raises(ValueError, match=r"too wide|Too many bins"):
        counted_between(np.full(7, most / 2, dtype), float(-most), float(most))


@weft.njit
def counted(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.histogram(a, 5)


@weft.njit
def counted_between(a: np.ndarray, first: float, last: float) -> tuple[np.ndarray, np.ndarray]:
    return np.histogram(a, 9, (first, last))


def test_an_argument_that_is_not_compiled_is_refused_by_its_name() -> None:
    a = array((3, 4), np.float64)
    for name, function in (
        ("var", lambda a: np.var(a, where=a > 1)),
        ("std", lambda a: np.std(a, where=a > 1)),
        ("std", lambda a: a.std(where=a > 1)),
    ):
        with pytest.raises(TypeError, match=f"'{name}' takes no 'where' in compiled functions"):
            weft.njit(function)(a)


def test_an_axis_given_twice_has_one_message() -> None:
    a = array((3, 4), np.float64)
    for function in (
        lambda a: np.sum(a, axis=(1, -1)),
        lambda a: np.median(a, axis=(1, -1)),
        lambda a: np.flip(a, axis=(1, 1)),
        lambda a: np.quantile(a, 0.5, axis=(-1, 1)),
    ):
        with pytest.raises(weft.TypingError, match="the axis 1 is given twice"):
            weft.njit(function)(a)

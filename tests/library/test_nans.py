"""Functions of whole arrays that pass over NaN."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy_calls import KINDS, array, check, check_parallel, layouts

from weft import njit

REAL_KINDS = tuple(kind for kind in KINDS if kind is not np.complex128)
REDUCTIONS = ("nansum", "nanprod", "nanmin", "nanmax", "nanmean", "nanvar", "nanstd", "nanmedian")
KEYWORDS = ("axis=0", "axis=-1, keepdims=True", "axis=(0, 2)", "keepdims=True", "axis=3", "axis=(1, 1)")


def with_nans(dtype: type) -> np.ndarray:
    """NaN here and there, and a row and a column of nothing else."""
    a = array((3, 4, 5), dtype, nan=True)
    if a.dtype.kind in "fc":
        a[:, 1, 2] = np.nan
        a[0, 3] = np.nan
    return a


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8, np.complex128])
def test_reductions_of_kinds(dtype: type, name: str) -> None:
    if dtype is np.complex128 and name in ("nanmin", "nanmax", "nanmedian"):
        return
    for text in (f"np.{name}(a)", f"np.{name}(a, axis=1)"):
        check(text, exact=False, a=array((3, 4, 5), dtype))
        check(text, exact=False, a=with_nans(dtype))
        check(text, exact=False, a=with_nans(dtype)[:, :0])
    check(f"np.{name}(a)", exact=False, a=with_nans(dtype)[0, 3])


@pytest.mark.parametrize("keywords", KEYWORDS)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_axes(name: str, keywords: str) -> None:
    check(f"np.{name}(a, {keywords})", exact=False, a=with_nans(np.float64))


@pytest.mark.parametrize("name", REDUCTIONS)
def test_layouts(name: str) -> None:
    for a in layouts(array((3, 4), np.float64, nan=True)):
        check(f"np.{name}(a, 0)", exact=False, a=a)
        check(f"np.{name}(a)", exact=False, a=a)
    check(f"np.{name}(a)", exact=False, a=array((7,), np.float16))


@pytest.mark.parametrize("name", ["nansum", "nanprod", "nanmean"])
def test_dtypes(name: str) -> None:
    check(f"np.{name}(a, dtype=np.float32)", exact=False, a=with_nans(np.float64))
    check(f"np.{name}(a, 1, np.float64)", exact=False, a=with_nans(np.float32))
    check(f"np.{name}(a, 1, np.float64)", exact=False, a=with_nans(np.int64))
    check(f"np.{name}(a, 1, out=out)\nreturn 0", exact=False, a=with_nans(np.float64), out=np.zeros((3, 5)))
    check(f"np.{name}(a, 1, out=out)\nreturn 0", exact=False, a=with_nans(np.float64), out=np.zeros((3, 4)))


@pytest.mark.parametrize(
    "text",
    [
        "np.nanvar(a, ddof=1)",
        "np.nanvar(a, 1, ddof=4)",
        "np.nanstd(a, 1, ddof=2)",
        "np.nanstd(a, correction=1)",
        "np.nanvar(a, 0, ddof=0.5)",
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.complex128])
def test_degrees_of_freedom(dtype: type, text: str) -> None:
    check(text, exact=False, a=np.where(np.isinf(with_nans(dtype)), 1, with_nans(dtype)).astype(dtype))


@pytest.mark.parametrize("name", ["nanargmin", "nanargmax"])
@pytest.mark.parametrize("dtype", REAL_KINDS)
def test_positions(dtype: type, name: str) -> None:
    a = array((3, 4, 5), dtype, nan=True)
    for text in (
        f"np.{name}(a)",
        f"np.{name}(a, 1)",
        f"np.{name}(a, -1, keepdims=True)",
        f"np.{name}(a, keepdims=True)",
        f"np.{name}(a[0, 0], 0)",
        f"np.{name}(a, 3)",
    ):
        check(text, a=a)
    check(f"np.{name}(a)", a=with_nans(dtype)[0, 3])
    check(f"np.{name}(a, 1)", a=with_nans(dtype))
    check(f"np.{name}(a)", a=a[:0])


@pytest.mark.parametrize("name", ["nancumsum", "nancumprod"])
@pytest.mark.parametrize("dtype", KINDS)
def test_up_to_each(dtype: type, name: str) -> None:
    a = with_nans(dtype)
    for text in (f"np.{name}(a)", f"np.{name}(a, 1)", f"np.{name}(a[0], 0)", f"np.{name}(a[0], -1, np.complex128)", f"np.{name}(a, 3)"):
        check(text, a=a)


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_quantiles(dtype: type) -> None:
    q = np.array([0.1, 0.6])
    texts = [
        "np.nanpercentile(a, 30, 1)",
        "np.nanquantile(a, q)",
        "np.nanquantile(a, q, 0, keepdims=True)",
        "np.nanquantile(a, 0.3, (0, 1), method='nearest')",
    ]
    for text in texts:
        check(text, a=with_nans(dtype), q=q)
    check("np.nanpercentile(a, 30)", a=with_nans(dtype)[0, 3])
    check("np.nanpercentile(a, 30, method='hazen')", a=array((3000,), dtype, nan=True))


@pytest.mark.parametrize(
    "text",
    [
        "np.nanquantile(a, 1.5)",
        "np.nanquantile(a, 0.5, method='none')",
        "np.nanquantile(a * 1j, 0.5)",
        "np.nanquantile(a, np.zeros((2, 2, 2)))",
    ],
)
def test_quantiles_refused(text: str) -> None:
    check(text, a=array((5,), np.float64))


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.float64])
def test_quantiles_of_no_elements(dtype: type) -> None:
    empty = np.zeros((0, 3), dtype)
    for axis in (None, 0, 1):
        check(f"np.nanquantile(a, 0.5, axis={axis})", a=empty)
        check(f"np.nanquantile(a, 0.5, axis={axis}, keepdims=True)", a=empty)
        check(f"np.nanpercentile(a, 50.0, axis={axis})", a=empty)
        check(f"np.nanmedian(a, axis={axis})", a=empty)
    check("np.nanquantile(a, 0.5)", a=np.arange(5).astype(dtype))


@pytest.mark.parametrize("call", ["np.nanmedian(a, axis=1)", "np.nanquantile(a, 0.3, axis=0)", "np.nanpercentile(a, 30.0, axis=1)"])
def test_rows_of_parallel_functions(call: str) -> None:
    """Threads take rows each; the results are the same."""
    a = array((200, 300), np.float64, nan=True)
    a[3] = np.nan
    check_parallel(call, a=a)


def test_means_of_complex_infinities():
    @njit
    def f(a):
        return np.nanmean(a)

    for value in (complex(np.inf, 2), complex(1, np.inf), complex(-np.inf, np.inf), complex(1, np.nan)):
        a = np.array([value, 1 + 1j])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.testing.assert_array_equal(f(a), f.__wrapped__(a))

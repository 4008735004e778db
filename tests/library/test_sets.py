"""Different elements, and which of them other arrays have."""

from __future__ import annotations

import numpy as np
import pytest
from numpy_calls import ALL, array, check, layouts

ON_DEMAND = (
    "",
    ", return_index=True",
    ", return_inverse=True",
    ", return_counts=True",
    ", True, True, True",
    ", False, True, True",
    ", equal_nan=False",
    ", return_counts=True, equal_nan=False",
)


@pytest.mark.parametrize("dtype", ALL)
def test_unique_of_every_dtype(dtype: type) -> None:
    for n in (0, 1, 30, 1000):
        check("np.unique(a)", a=array((n,), dtype, nan=True))


@pytest.mark.parametrize("keywords", ON_DEMAND)
@pytest.mark.parametrize("dtype", [np.float64, np.uint8, np.complex128])
def test_unique(dtype: type, keywords: str) -> None:
    for shape in ((12,), (0,)):
        check(f"return np.unique(a{keywords})", a=array(shape, dtype, nan=True))
    check(f"return np.unique(a{keywords})", a=array((3, 4), dtype, 1, nan=True))


def test_unique_of_layouts() -> None:
    for a in layouts(array((3, 4), np.int64)):
        check("return np.unique(a, return_inverse=True)", a=a)
    check("np.unique((3, 1, 3))")
    check("np.unique(a)", a=np.array(3.0))
    check("return np.unique(a, return_inverse=True)", a=np.full(5, np.nan))


PAIRS = (
    "np.intersect1d(a, b)",
    "return np.intersect1d(a, b, return_indices=True)",
    "np.union1d(a, b)",
    "np.setxor1d(a, b)",
    "np.setdiff1d(a, b)",
    "np.setdiff1d(a, b, True)",
)
MEMBERS = ("np.isin(a, b)", "np.isin(a, b, invert=True)", "np.isin(a, 2)", "np.isin(2.0, b)", "np.isin(a, b, kind='sort')")


@pytest.mark.parametrize("text", [*PAIRS, *MEMBERS])
@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.complex128])
def test_pairs(dtype: type, text: str) -> None:
    a, b = array((3, 8), dtype, nan=True), array((9,), dtype, 3, nan=True)
    check(text, a=a, b=b)
    check(text, a=a, b=b[:0])
    check(text, a=a[:0], b=b)


@pytest.mark.parametrize("text", [*PAIRS, *MEMBERS])
@pytest.mark.parametrize("dtype", [np.float32])
def test_pairs_of_two_types(dtype: type, text: str) -> None:
    check(text, a=array((9,), dtype), b=array((7,), np.int32, 2))


@pytest.mark.parametrize(
    "text",
    [
        "np.intersect1d(a, b, True)",
        "return np.intersect1d(a, b, assume_unique=True, return_indices=True)",
        "np.setxor1d(a, b, True)",
        "np.isin(a, b, True)",
        "np.setdiff1d(a, b, assume_unique=True)",
    ],
)
def test_pairs_of_different_elements(text: str) -> None:
    a, b = np.array([5, 1, 3, 9, -2]), np.array([3, 4, 5])
    check(text, a=a, b=b)
    check(text, a=a * 0.5, b=b * 0.5)
    check(text, a=a[:0], b=b)


@pytest.mark.parametrize("text", ["np.isin(a, b, kind='other')", "np.isin(a * 0.5, b, kind='table')", "np.isin(a, (1, 2))"])
def test_members_refused(text: str) -> None:
    check(text, a=np.arange(4), b=np.arange(3))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("spread", [10, None])
def test_integers_in_a_table_and_by_searching(dtype, spread):
    info = np.iinfo(dtype)
    rng = np.random.default_rng(1)
    low, high = (max(info.min, -spread), spread) if spread else (info.min, info.max)
    a = np.append(rng.integers(low, high, 300, dtype=dtype, endpoint=True), [info.min, info.max, 0]).astype(dtype)
    for b in (a[::7], a[:1], a[:0], a[:-3], np.array([info.min, info.max], dtype)):
        check("np.isin(a, b)", a=a, b=b)
        check("np.isin(a, b, invert=True)", a=a, b=b)

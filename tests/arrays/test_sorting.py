"""Sorting, searching and sets against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import weft

from .against_numpy import ALL, array, axes, check, host

A = array((3, 4), nan=True)


@pytest.mark.parametrize("dtype", ALL)
def test_dtypes(dtype: type) -> None:
    a = array((40,), dtype, nan=True)
    for text in ("sort(a)", "argsort(a, kind='stable')", "unique(a)", "sort_complex(a)", "lexsort((a, a[::-1]))", "partition(a, 7)[7]"):
        check(f"xp.{text}", a=a)
    check("xp.unique(a, return_index=True, return_inverse=True, return_counts=True)", a=a)
    check("xp.searchsorted(xp.sort(a), a)", a=a)
    check("xp.isin(a, b)", a=a, b=array((5,), dtype))
    for other in (np.float32, np.int8, np.complex64):
        for name in ("intersect1d", "union1d", "setdiff1d", "setxor1d", "isin"):
            check(f"xp.{name}(a, b)", a=array((9,), dtype), b=array((7,), other, seed=3))


@pytest.mark.parametrize("name", ["sort", "argsort"])
def test_sort(name: str) -> None:
    for shape in ((), (5,), (3, 4), (2, 3, 4), (0,), (2, 0)):
        for axis in axes(len(shape)):
            check(f"xp.{name}(a, {axis}, stable=True)", a=array(shape))
    for words in ("kind='stable'", "kind='fast'", "kind='stable', stable=True", "order='x'", "stable=True"):
        check(f"xp.{name}(a, {words})", a=A)
    check(f"xp.{name}(a.T, 0, stable=True)", a=A)


@pytest.mark.parametrize("name", ["sort", "argsort"])
def test_kinds_go_by_their_first_letter(name: str) -> None:
    for kind in ("quick", "q", "Q", "Heap", "m", "stable", "S", "merge", "", "x", "radixsort", b"q", b"x", 3, None):
        check(f"xp.{name}(a, kind={kind!r})", a=np.asarray([3, 1, 2]))
    for kind in ("introselect", "i", "", b"introselect", 3, None):
        check(f"xp.{name.replace('sort', 'partition')}(a, 1, kind={kind!r})[1]", a=np.asarray([3, 1, 2]))


def test_descending() -> None:
    a = array((3, 8), np.int64)
    for axis in (0, 1, -1):
        order = host(weft.argsort(weft.asarray(a), axis, descending=True))
        assert np.array_equal(np.take_along_axis(a, order, axis), -np.sort(-a, axis))
        assert np.array_equal(order, np.argsort(-a, axis, kind="stable"))
        assert np.array_equal(host(weft.sort(weft.asarray(a), axis, descending=True)), -np.sort(-a, axis))


def test_partition() -> None:
    a = array((3, 9))
    for kth in ("0", "4", "-1", "(1, 5)", "[3]", "9", "1.5", "xp.asarray([2, 7])"):
        for axis in axes(2):
            check(f"k = {kth}\nx = xp.partition(a, k, {axis})\nxp.sort(x, {axis})", a=a)
    check("xp.partition(a, 4, 1)[:, 4]", a=a)
    check("xp.take_along_axis(a, xp.argpartition(a, 4, 1), 1)[:, 4]", a=a)
    check("xp.partition(a, 0, kind='quick')", a=a)
    check("xp.argpartition(a, (1, 2), None)[1:3] * 0", a=a)


def test_lexsort() -> None:
    a, b = array((2, 6), np.int64), array((2, 6), np.int64, seed=5)
    for axis in (-1, 0, 1, 2):
        check(f"xp.lexsort((a, b), axis={axis})", a=a, b=b)
    check("xp.lexsort(a)", a=a)
    check("xp.lexsort((a, b[0]))", a=a, b=b)
    check("xp.lexsort(())")
    for axis in (0, -1, 1, 2):
        check(f"xp.lexsort((xp.asarray(1.0),), axis={axis})")


def test_searchsorted() -> None:
    a = np.array([1.0, 2, 2, 5])
    for value in ("2", "2.5", "[0, 2, 9]", "[[1, 2], [5, 7]]", "xp.asarray(2)", "[]", "float('nan')"):
        for side in ("left", "right", "up"):
            check(f"xp.searchsorted(a, {value}, '{side}')", a=a)
    check("xp.searchsorted(a, 2, sorter=s)", a=np.array([5.0, 1, 2]), s=np.array([1, 2, 0]))
    check("xp.searchsorted(a, 2, sorter=s)", a=np.array([5.0, 1, 2]), s=np.array([1, 2]))
    check("xp.searchsorted(a, 2, sorter=s)", a=np.array([5.0, 1, 2]), s=np.array([1.0, 2, 0]))
    check("xp.searchsorted(a, 2)", a=A)
    check("xp.searchsorted(a, 3)", a=np.array([1, 2, 5], np.int8))
    check("xp.searchsorted(a, 300)", a=np.array([1, 2, 5], np.int8))
    for bins in ("[0, 1, 2]", "[2, 1, 0]", "[0, 2, 1]", "[]", "[[1]]", "[1, 1, 2]"):
        for right in (True, False):
            check(f"xp.digitize(a, {bins}, {right})", a=array((3, 4)))
    check("xp.digitize(1.5, [1, 2])")
    check("xp.digitize(1j, [1, 2])")


def test_unique() -> None:
    a = array((3, 4, 2), np.int64)
    for words in ("return_index=True", "return_inverse=True", "return_counts=True", "return_index=True, return_counts=True"):
        check(f"xp.unique(a, {words})", a=a)
        for axis in range(-4, 4):
            check(f"xp.unique(a % 2, axis={axis}, {words})", a=a)
    check("xp.unique(a, equal_nan=False)", a=A)
    check("xp.unique(a)", a=np.zeros((0, 3)))
    check("xp.unique(a, axis=0)", a=np.zeros((0, 3)))
    check("xp.unique(a, axis=0)", a=np.zeros((3, 0)))
    check("xp.unique(a, axis=1)", a=array((3, 5), np.bool_))
    for name in ("unique_all", "unique_counts", "unique_inverse", "unique_values"):
        # NumPy gives values in no order where no more than they is asked for.
        text = "xp.sort(xp.unique_values(a))" if name == "unique_values" else f"xp.{name}(a)"
        check(text, a=a)
        check(text, a=A)
    check("xp.unique_all(a).inverse_indices", a=a)


def test_sets() -> None:
    a, b = array((9,), np.int64), array((3, 4), np.int64, seed=2)
    for text in (
        "intersect1d(a, b, return_indices=True)", "setxor1d(a, b)", "setdiff1d(a, b, assume_unique=True)", "isin(b, a, invert=True)",
        "isin(a, b, kind='table')", "isin(a, [])", "isin(a, 3)", "isin(3, a)", "union1d(a, [])", "intersect1d([], [])",
        "isin(b, a, kind='x')",
        "intersect1d(xp.unique(a), xp.unique(b), assume_unique=True, return_indices=True)",
    ):  # fmt: skip
        check(f"xp.{text}", a=a, b=b)
    check("xp.isin(a, a, kind='table')", a=array((3,)))
    check("xp.isin(a, a)", a=np.array([np.nan, 1]))


def test_unique_parts_of_a_row_are_its_elements() -> None:
    row = np.asarray([np.nan, 0, 0, np.nan, -0.0])
    for axis in (0, -1, 1):
        for words in ("", ", equal_nan=False", ", return_index=True, return_counts=True, return_inverse=True"):
            check(f"xp.unique(a, axis={axis}{words})", a=row)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int32])
def test_long_rows(dtype: type) -> None:
    """The lengths from which on rows are sorted in buckets, and threads share them: the same for any number of these."""
    before = weft.get_num_threads()
    a = np.resize(array((5000,), dtype, nan=True), 140_000)
    a[::3] = np.random.default_rng(0).standard_normal(len(a[::3])).astype(np.float32) * 1000
    x = weft.asarray(a)
    try:
        for threads in (1, 2, 3):
            weft.set_num_threads(threads)
            for n in (131_071, 131_072, 140_000):
                assert np.array_equal(host(weft.sort(x[:n])), np.sort(a[:n]), equal_nan=True)
                assert np.array_equal(host(weft.unique(x[:n])), np.unique(a[:n]), equal_nan=True)
                assert np.array_equal(host(weft.argsort(x[:n])), np.argsort(a[:n], kind="stable"))
        check("xp.unique(a, return_counts=True)", a=a)
        check("xp.sort(a, 0)", a=np.stack((a, a[::-1]), axis=1))
    finally:
        weft.set_num_threads(before)

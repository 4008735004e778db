"""Sorted arrays, the indices that sort, and partitions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from numpy_calls import ALL, KINDS, array, axes, check, layouts

import weft
from weft import njit

# Lengths that are sorted in different ways.
LENGTHS = (0, 1, 2, 8, 20, 100, 1000)


def spread(n: int, dtype: object, seed: int = 0) -> np.ndarray:
    """Numbers from a type's whole range, NaN and infinities of both signs among them."""
    dtype = np.dtype(dtype)
    rng = np.random.default_rng(seed)
    if dtype.kind in "iu":
        ends = np.iinfo(dtype)
        return rng.integers(ends.min, ends.max, n, dtype, endpoint=True)
    if dtype.kind == "b":
        return rng.integers(0, 2, n).astype(dtype)
    with np.errstate(over="ignore"):
        values = (rng.standard_normal(n) * 10.0 ** rng.integers(-30, 30, n)).astype(np.float32 if dtype.kind == "c" else dtype)
    for special in (np.nan, np.inf, -np.inf, 0.0, -0.0):
        values[rng.integers(0, n, n // 20)] = special
    if dtype.kind == "c":
        made = values.astype(dtype)
        made.imag = np.roll(values, 7)
        return made
    return values


@pytest.mark.parametrize("dtype", [*ALL, np.float16])
def test_sort_of_every_dtype(dtype: type) -> None:
    for n in LENGTHS:
        check("np.sort(a)", a=array((n,), dtype, nan=True))
    for n in (300, 5000):
        check("np.sort(a)", a=spread(n, dtype))


@pytest.mark.parametrize("dtype", [*ALL, np.float16])
def test_argsort_of_every_dtype(dtype: type) -> None:
    for n in LENGTHS:
        check("np.argsort(a, kind='stable')", a=array((n,), dtype, nan=True))
    for n in (300, 5000):
        check("np.argsort(a, kind='stable')", a=spread(n, dtype))


@pytest.mark.parametrize(
    "order", ["np.arange(n)", "np.arange(n)[::-1]", "np.arange(n) % 7", "np.arange(n) // 3", "np.zeros(n)", "np.abs(np.arange(n) - n // 2)"]
)
def test_sort_of_what_has_an_order(order: str) -> None:
    for n in (50, 300, 3000):
        a = eval(order, {"np": np, "n": n})
        check("np.sort(a)", a=a)
        check("np.argsort(a, stable=True)", a=a)
        check("np.argsort(a * 0.5, stable=True)", a=a)


@pytest.mark.parametrize("text", ["np.sort(a, {axis})", "np.argsort(a, {axis}, kind='stable')"])
@pytest.mark.parametrize("axis", [*axes(3), 3, -4])
def test_axes(text: str, axis: int | None) -> None:
    check(text.format(axis=axis), a=array((3, 4, 5), np.int64))
    check(text.format(axis=axis), a=array((3, 0, 5), np.int64))


@pytest.mark.parametrize("shape", [(6,), (3, 40), (2, 3, 5), (3, 0), (0, 3)])
def test_shapes(shape: tuple[int, ...]) -> None:
    for a in layouts(array(shape, np.float64, nan=True)):
        check("np.sort(a)", a=a)
        check("a.argsort(kind='stable')", a=a)
        check("a.sort(0)\nreturn 0", a=a)


def test_four_axes() -> None:
    check("np.sort(a, 1)", a=array((2, 3, 2, 4), np.float32))
    check("a.argsort(2, kind='stable')", a=array((2, 3, 2, 4), np.float32))


@pytest.mark.parametrize("dtype", KINDS)
def test_sort_in_place(dtype: type) -> None:
    for n in (10, 500):
        for a in layouts(array((n,), dtype, nan=True)):
            check("a.sort()\nreturn 0", a=a)
            check("a.sort(kind='stable')\nreturn 0", a=a)


def test_zeros_keep_their_order() -> None:
    a = np.where(np.arange(1000) % 3 == 0, -0.0, 0.0)
    a[::7] = np.arange(143)
    for n in (12, 100, 1000):
        check("np.signbit(np.sort(a, kind='stable'))", a=a[:n])
        check("np.argsort(a, kind='stable')", a=a[:n])
        check("np.argsort(a, kind='stable')", a=a[:n].astype(np.float32))


KINDS_OF_SORTING = [
    "kind='quicksort'",
    "kind='heapsort'",
    "kind='mergesort'",
    "kind='stable'",
    "stable=True",
    "stable=False",
    "kind='quicksort', stable=True",
    "kind='bubble'",
    "order='x'",
]


@pytest.mark.parametrize("keyword", KINDS_OF_SORTING)
def test_kinds(keyword: str) -> None:
    check(f"np.sort(a, {keyword})", a=array((30,), np.float64))
    check(f"np.argsort(a, {keyword})[:0]", a=array((30,), np.float64))
    check(f"a.sort({keyword})\nreturn 0", a=array((30,), np.float64))


@pytest.mark.parametrize("text", ["np.sort(a)", "np.argsort(a)", "np.partition(a, 0)", "np.argpartition(a, 0)", "a.sort(axis=None)"])
def test_numbers_are_refused(text: str) -> None:
    check(text, a=np.array(3.0) if "None" not in text else np.zeros((2, 2)))


def test_sort_of_tuples() -> None:
    check("np.sort((3, 1, 2))")
    check("np.argsort((3.5, 1, 2))")
    check("np.partition((3, 1, 2), 0)")


@pytest.mark.parametrize("n", [1, 7, 3000])
@pytest.mark.parametrize("dtype", [*KINDS, np.int8, np.int32, np.float16])
def test_partitions(dtype: type, n: int) -> None:
    a = array((n,), dtype, nan=True) if n < 3000 else spread(n, dtype)
    # Sorted as another type: NumPy 2.4 leaves some float16 arrays unsorted where it has AVX-512.
    wide = "np.result_type(a, np.float32)"
    for k in (0, n // 3, n - 1, -1, -(n // 2)):
        for text in ("np.partition(a, k)", "a[np.argpartition(a, k)]"):
            check(f"p = {text}\nq = p.astype({wide})\nreturn p[k], np.sort(q[:k]), np.sort(q[k:])", a=a, k=k)
        check("np.sort(np.argpartition(a, k))", a=a, k=k)
    check(f"a.partition(k)\nx = a[k]\nb = np.sort(a.astype({wide}))\na[:] = x\nreturn x, b", a=a, k=n // 4)


@pytest.mark.parametrize("shape", [(4, 5), (2, 3, 6), (2, 0), (0, 2)])
def test_partitions_of_rows(shape: tuple[int, ...]) -> None:
    a = array(shape, np.int64)
    check("np.partition(a, 1)[..., 1:2]", a=a)
    check("np.partition(a, 0, axis=None)[:1]", a=a)
    check("np.sort(np.argpartition(a, 1), axis=-1)", a=a)


@pytest.mark.parametrize("text", ["np.partition(a, -1, axis=0)[-1:]", "np.partition(a, 1)[:, 1]", "np.argpartition(a, 1, axis=0).shape"])
def test_partitions_of_layouts(text: str) -> None:
    for a in layouts(array((4, 5), np.float32)):
        check(text, a=a)


def test_partitions_at_several_places() -> None:
    a = array((40,), np.float64, nan=True)
    for kth in ("(3, 7)", "np.array([3, 7])"):
        check(f"p = np.partition(a, {kth})\nreturn p[3], p[7], np.sort(p[:3]), np.sort(p[3:7])", a=a)
        check(f"p = a[np.argpartition(a, {kth})]\nreturn p[3], p[7], np.sort(p[:3]), np.sort(p[3:7])", a=a)


@pytest.mark.parametrize(
    "text",
    [
        "np.partition(a, 5)",
        "np.partition(a, -6)",
        "np.partition(a, (1, 9))",
        "np.argpartition(a, 5)",
        "np.partition(a, 1.5)",
        "np.partition(a, 1, kind='quick')",
        "np.partition(a, 1, order='x')",
        "np.argpartition(a, 1, 1)",
    ],
)
def test_partitions_refuse(text: str) -> None:
    check(text, a=array((5,), np.float64))


@pytest.mark.parametrize("dtype", [np.int16, np.uint16])
@pytest.mark.parametrize("n", [5000, 2**15 - 1, 2**15, 50_000])
def test_long_rows_of_16_bits(dtype: type, n: int) -> None:
    """The longer ones are counted."""
    info = np.iinfo(dtype)
    a = np.random.default_rng(n).integers(info.min, info.max, n, dtype, endpoint=True)
    check("np.sort(a)", a=a)
    check("np.sort(a)", a=np.resize(a, 3 * n)[::3])
    check("np.sort(a, axis=0)", a=np.stack((a, a[::-1]), axis=1))
    check("np.unique(a)", a=a)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint16])
def test_rows_that_are_sorted_already(dtype: type) -> None:
    a = np.sort(array((300,), dtype))
    check("np.sort(a)", a=a)
    check("np.sort(a, stable=True)", a=a)
    nearly = a.copy()
    nearly[-1] = nearly[0]
    check("np.sort(a)", a=nearly)


def test_zeros_and_nan_in_sorted_rows() -> None:
    a = np.concatenate((np.full(100, -0.0), np.zeros(100), np.full(100, 2.0), np.full(9, np.nan)))
    check("np.sort(a)", a=a)
    check("np.signbit(np.sort(a, kind='stable'))", a=a)


# Rows from this length on are sorted in buckets: `_LARGE` in crates/library/src/buckets.py.
LARGE = 131_072


def long_rows(n: int, dtype: object) -> Iterator[np.ndarray]:
    """Rows that fill buckets in different ways."""
    dtype = np.dtype(dtype)
    rng = np.random.default_rng(n)
    yield spread(n, dtype)
    # Many equal ones, some of which fill buckets of their own.
    yield rng.integers(0, 50, n).astype(dtype)
    yield np.arange(n)[::-1].astype(dtype)
    if dtype.kind == "f":
        yield rng.standard_normal(n).astype(dtype)
        zeros = np.where(rng.random(n) < 0.5, -0.0, 0.0).astype(dtype)
        yield zeros
        # Zeros of both signs beside the smallest numbers, all NaN but a few.
        yield np.where(rng.random(n) < 0.3, zeros, np.copysign(np.finfo(dtype).smallest_subnormal, rng.standard_normal(n)).astype(dtype))
        yield np.where(rng.random(n) < 0.9, np.nan, rng.standard_normal(n)).astype(dtype)
    else:
        # Close together, but for a few at the ends of the type.
        close = rng.integers(0, 1 << 16, n).astype(dtype)
        close[rng.integers(0, n, 40)] = np.iinfo(dtype).max
        close[rng.integers(0, n, 40)] = np.iinfo(dtype).min
        yield close
        # Far apart, and close to one another in each of few places.
        yield rng.integers(0, 4, n).astype(dtype) * dtype.type(np.iinfo(dtype).max // 4) + rng.integers(0, 30, n).astype(dtype)


@pytest.fixture
def threads() -> Iterator[None]:
    """The number of threads is as it was again."""
    before = weft.get_num_threads()
    yield
    weft.set_num_threads(before)


def check_sorted(found: np.ndarray, wanted: np.ndarray) -> None:
    """The same numbers, and zeros of the same signs."""
    assert np.array_equal(found, wanted, equal_nan=wanted.dtype.kind == "f")
    if wanted.dtype.kind == "f":
        assert np.array_equal(np.signbit(found[wanted == 0]), np.signbit(wanted[wanted == 0]))


@njit
def sorted_by_one(a):
    return np.sort(a)


@njit
def sorted_as_long_by_one(a):
    return np.sort(a, _long=True)


@njit(parallel=True)
def sorted_by_threads(a):
    return np.sort(a, _long=True)


@njit(parallel=True)
def sort_in_place(a):
    a.sort(kind="stable")


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64])
def test_long_rows(dtype: type, threads: None) -> None:
    """With any number of threads what NumPy's stable sort gives."""
    for n in (LARGE - 1, LARGE, LARGE + 4099):
        for a in long_rows(n, dtype):
            wanted = np.sort(a, kind="stable")
            check_sorted(sorted_by_one(a), wanted)
            check_sorted(sorted_as_long_by_one(a), wanted)
            for count in (1, 2, 3):
                weft.set_num_threads(count)
                check_sorted(sorted_by_threads(a), wanted)
            sort_in_place(a)
            check_sorted(a, wanted)


def test_long_rows_of_layouts() -> None:
    a = np.stack([spread(LARGE, np.float64), spread(LARGE, np.float64, 1)], axis=1)
    for rows in (a, np.asfortranarray(a), a[::-1]):
        check("np.sort(a, axis=0)", a=rows)
        check("np.sort(a[:, 1])", a=rows)
        check("b = a.copy()\nb[:, 0].sort()\nreturn b", a=rows)


def changes(ordered: np.ndarray, equal_nan: bool) -> np.ndarray:
    """Where a sorted row has another element than before."""
    before, after = ordered[:-1], ordered[1:]
    new = (before != after) & ~(equal_nan & (before != before) & (after != after))
    return np.concatenate(([True], new))


@njit(parallel=True)
def different(a):
    return np.unique(a, _long=True)


@njit
def different_and_counts(a):
    return np.unique(a, return_counts=True, _long=True)


@njit(parallel=True)
def all_different(a):
    return np.unique(a, return_counts=True, equal_nan=False, _long=True)


@pytest.mark.parametrize("dtype", [np.int32, np.uint64, np.float32, np.float64])
def test_different_elements_of_long_rows(dtype: type, threads: None) -> None:
    for a in long_rows(LARGE + 17, dtype):
        # In stable order the first of two zeros is that which is there first: `np.unique` would sort once more, which is not stable.
        ordered = np.sort(a, kind="stable")
        wanted = ordered[changes(ordered, True)]
        for count in (1, 3):
            weft.set_num_threads(count)
            check_sorted(different(a), wanted)
        for function, equal_nan in ((different_and_counts, True), (all_different, False)):
            starts = np.flatnonzero(changes(ordered, equal_nan))
            found, times = function(a)
            check_sorted(found, ordered[starts])
            assert np.array_equal(times, np.diff(starts, append=len(a)))

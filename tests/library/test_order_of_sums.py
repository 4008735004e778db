"""Sums of arrays combine in one order, which the extents alone fix: here it is written down step by step, and compared bit by bit."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft

CHAINS, BLOCK, ROW, CHUNKS, LEAST = 32, 2048, 64, 64, 8

Array = np.ndarray[Any, Any]


def in_order(values: Array, combine: Callable[[Any, Any], Any], identity: Any) -> Any:
    """The combination of all elements in the order of `weft_ir::order`."""
    if values.size == 0:
        return identity
    rows = values.reshape(-1, values.shape[-1])
    columns = rows.shape[1]
    group, per_row = 1 if columns >= ROW else BLOCK // columns, -(-columns // BLOCK)
    blocks = []
    for first in range(0, len(rows), group):
        for column in range(0, columns, BLOCK):
            chains = np.full(CHAINS, identity)
            for row in rows[first : first + group]:
                part = row[column : column + BLOCK]
                for start in range(0, len(part), CHAINS):
                    piece = part[start : start + CHAINS]
                    chains[: len(piece)] = combine(chains[: len(piece)], piece)
            while len(chains) > 1:
                half = len(chains) // 2
                chains = combine(chains[:half], chains[half:])
            blocks.append(chains[0])
    chunk = max(LEAST, -(-len(blocks) // CHUNKS))
    if values.ndim > 1:
        chunk = -(-chunk // per_row) * per_row
    total = identity
    for start in range(0, len(blocks), chunk):
        part_sum = identity
        for block in blocks[start : start + chunk]:
            part_sum = combine(part_sum, block)
        total = combine(total, part_sum)
    return total


@weft.njit
def total(a: Array) -> Any:
    return a.sum()


@weft.njit(parallel=True)
def total_on_threads(a: Array) -> Any:
    return np.sum(a)


@weft.njit
def product(a: Array) -> Any:
    return np.prod(a)


@weft.njit
def of_squares(a: Array, b: Array) -> Any:
    return np.sum((a - b) * (a - b))


@weft.njit
def of_transposed(a: Array) -> Any:
    return a.T.sum()


@weft.njit(parallel=True)
def of_transposed_on_threads(a: Array) -> Any:
    return a.T.sum()


SHAPES = [
    (0,), (1,), (7,), (31,), (32,), (33,), (1000,), (1025,), (2048,), (2049,), (20_000,), (300_001,),
    (3, 0), (0, 3), (0, 40_000), (40_000, 0),
    (1, 1), (5, 7), (10, 100), (16, 64), (2, 5, 64),
    (70, 100), (900, 50), (90, 63), (90, 64), (5, 2048), (3, 5000), (40, 4100), (4, 5, 6), (2, 300, 33),
    # The rows of an array in Fortran's order are gone through together.
    (255, 64), (256, 63), (256, 64), (300, 65), (1030, 130), (257, 2049), (5, 300, 70), (256, 2, 64),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sums_have_the_one_order(shape: tuple[int, ...], dtype: type) -> None:
    rng = np.random.default_rng(len(shape) + sum(shape))
    a = (rng.normal(size=shape) * 10.0 ** rng.integers(-3, 4, size=shape)).astype(dtype)
    expected = in_order(a, np.add, dtype(-0.0)) + dtype(0)
    for function in (total, total_on_threads):
        found = function(a)
        assert found == expected, (function, found, expected)
    backwards = np.ascontiguousarray(a[..., ::-1])[..., ::-1]
    assert total(backwards) == expected
    assert total(a.astype(a.dtype, order="F")) == expected
    turned = in_order(np.ascontiguousarray(a.T), np.add, dtype(-0.0)) + dtype(0)
    assert of_transposed(a) == turned and of_transposed_on_threads(a) == turned


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(33,), (5000,), (70, 100), (3, 2100)], ids=str)
def test_products_and_expressions_have_it_too(shape: tuple[int, ...], dtype: type) -> None:
    rng = np.random.default_rng(len(shape) + sum(shape))
    a = (1 + rng.normal(size=shape) / 100).astype(dtype)
    b = rng.normal(size=shape).astype(dtype)
    assert product(a) == in_order(a, np.multiply, dtype(1))
    exact = (a - b) * (a - b)
    assert np.isclose(of_squares(a, b), in_order(exact, np.add, dtype(0)), rtol=1e-5)


def along(axis: int) -> tuple[Callable[[Array], Any], ...]:
    """Sums along an axis: by lanes and by threads, and of an expression."""

    def plain(a: Array) -> Any:
        return np.sum(a, axis=axis)

    def doubled(a: Array) -> Any:
        return np.sum(a + a, axis=axis)

    return weft.njit(plain), weft.njit(parallel=True)(plain), weft.njit(doubled)


ALONG = {axis: along(axis) for axis in (0, 1, 2)}
LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "columns": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "backwards": lambda a: np.ascontiguousarray(a[::-1])[::-1],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
@pytest.mark.parametrize(
    "shape",
    [
        (0, 3),
        (3, 0),
        (1, 1),
        (40, 15),
        (40, 16),
        (40, 17),
        (33, 70),
        (3, 2049),
        (2100, 5),
        (2, 20_000),
        (17_000, 2),
        (70, 3, 5),
        (2, 40, 33),
        # So many points go through the rows together.
        (63, 256),
        (64, 255),
        (64, 256),
        (130, 1030),
        (2200, 520),
        (17_000, 256),
        (3, 100, 300),
    ],
    ids=str,
)
def test_each_sum_along_an_axis_has_it(shape: tuple[int, ...], dtype: type, layout: str) -> None:
    rng = np.random.default_rng(sum(shape))
    a = (rng.normal(size=shape) * 10.0 ** rng.integers(-3, 4, size=shape)).astype(dtype)
    if dtype == np.complex64:
        a = (a + 1j * rng.normal(size=shape)).astype(dtype)
    given = LAYOUTS[layout](a)
    for axis in range(a.ndim):
        lines = np.moveaxis(a, axis, -1)
        expected = np.empty(lines.shape[:-1], dtype)
        for at in np.ndindex(expected.shape):
            expected[at] = in_order(lines[at], np.add, dtype(-0.0)) + dtype(0)
        plain, on_threads, doubled = ALONG[axis]
        for function, want in ((plain, expected), (on_threads, expected), (doubled, expected + expected)):
            found = function(given)
            assert found.dtype == want.dtype and found.tobytes() == want.tobytes(), (axis, function, found, want)


@weft.njit(parallel=True)
def of_rows(a: Array, out: Array) -> None:
    for i in weft.prange(len(a)):
        out[i] = a[i].sum()


@weft.njit(parallel=True)
def of_two(a: Array, b: Array, out: Array) -> None:
    n, _m = a.shape
    _k = b.shape[1]
    for i in weft.prange(n):
        out[i] = a[i].sum() + b[i].sum()


@weft.njit(parallel=True)
def of_planes(a: Array, out: Array) -> None:
    n, _m, _k = a.shape
    for i in weft.prange(n):
        out[i] = a[i].sum()


@pytest.mark.parametrize("short", [1, 5, 15, 16, 40])
def test_rows_of_several_lengths_have_it(short: int) -> None:
    rng = np.random.default_rng(short)
    a, b = rng.normal(size=(50, short)).astype(np.float32), rng.normal(size=(50, 30_000)).astype(np.float32)
    out = np.empty(50, np.float32)
    of_two(a, b, out)
    sums = [[in_order(row, np.add, np.float32(-0.0)) for row in rows] for rows in (a, b)]
    assert out.tolist() == np.add(*sums).tolist()
    planes = rng.normal(size=(50, 700, short)).astype(np.float32)
    of_planes(planes, out)
    assert out.tolist() == [float(in_order(plane, np.add, np.float32(-0.0))) for plane in planes]


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("shape", [(70, 100), (1500, 40), (40, 1500), (3, 5000), (100, 3000)], ids=str)
def test_products_of_fortran_arrays_have_it(shape: tuple[int, ...], dtype: type) -> None:
    a = (1 + np.random.default_rng(1).normal(size=shape) / 4000).astype(dtype)
    assert product(np.asfortranarray(a)) == product(a)
    assert product(np.ones(shape, dtype, order="F")) == 1


def test_sums_inside_of_loops_have_it() -> None:
    a = np.random.default_rng(3).normal(size=(50, 3000)).astype(np.float32)
    out = np.empty(50, np.float32)
    of_rows(a, out)
    assert out.tolist() == [float(in_order(row, np.add, np.float32(-0.0))) for row in a]


def test_threads_change_no_bit() -> None:
    a = np.random.default_rng(5).normal(size=1_000_003).astype(np.float32)
    assert len({total_on_threads(a) for _ in range(10)} | {total(a)}) == 1


@weft.njit
def again_and_again(a: Array, n: int) -> Any:
    out = np.empty(n, a.dtype)
    for i in range(n):
        out[i] = a.sum()
    return out


@pytest.mark.parametrize("shape", [(10, 100), (16, 64), (2, 5, 64), (9, 64), (16, 60), (1000,)], ids=str)
def test_short_sums_have_it_each_time(shape: tuple[int, ...]) -> None:
    """Short index spaces run where they stand, but now and then by way of the runtime."""
    rng = np.random.default_rng(3)
    for _ in range(5):
        a = rng.normal(size=shape).astype(np.float32) * 100
        expected = in_order(a, np.add, np.float32(-0.0)) + np.float32(0)
        assert (again_and_again(a, 9000) == expected).all()


WIDE: dict[str, Callable[[Array], Any]] = {
    "sum": lambda a: np.sum(a, axis=0),
    "prod": lambda a: np.prod(a, axis=0),
    "max": lambda a: np.max(a, axis=0),
    "min": lambda a: np.min(a, axis=0),
    "ptp": lambda a: np.ptp(a, axis=0),
    "mean": lambda a: np.mean(a, axis=0),
    "any": lambda a: np.any(a > 2, axis=0),
    "count": lambda a: np.count_nonzero(a > 0, axis=0),
    "squares": lambda a: np.sum(a * a + a, axis=0),
}
WIDE_ONE = {name: weft.njit(function) for name, function in WIDE.items()}
WIDE_SHARED = {name: weft.njit(parallel=True)(function) for name, function in WIDE.items()}
COLUMNS = 20


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64, np.int8, np.uint32, np.int64])
def test_columns_side_by_side_give_what_few_give(dtype: type, layout: str) -> None:
    """Many columns go through the rows together, or by threads; few go one by one: the bits are the same, but for the sign of a zero that
    is an extreme of zeros of both signs, which nothing says."""
    rng = np.random.default_rng(7)
    for shape in [(63, 256), (64, 256), (65, 300), (511, 256), (512, 257), (700, 1030), (2113, 2600)]:
        a = rng.normal(size=shape) * 3
        if np.dtype(dtype).kind == "f":
            a = a * 10.0 ** rng.integers(-2, 2, size=shape)
            a[rng.integers(0, shape[0], 9), rng.integers(0, shape[1], 9)] = np.nan
        wide = LAYOUTS[layout]((a % 7 if np.dtype(dtype).kind == "u" else a).astype(dtype))
        for name in WIDE:
            if np.dtype(dtype).kind == "c" and name not in ("sum", "prod", "mean", "squares"):
                continue
            found, shared = WIDE_ONE[name](wide), WIDE_SHARED[name](wide)
            few = [WIDE_ONE[name](np.ascontiguousarray(wide[:, at : at + COLUMNS])) for at in range(0, shape[1], COLUMNS)]
            assert same_bits(found, np.concatenate(few)), (name, shape)
            assert same_bits(found, shared), (name, shape)
            if name in ("max", "min", "any", "count"):
                np.testing.assert_array_equal(found, WIDE[name](wide))


def same_bits(a: Array, b: Array) -> bool:
    """Which NaN an operation gives is not said."""
    both = (np.isnan(a) & np.isnan(b)) if a.dtype.kind in "fc" else np.zeros(a.shape, np.bool_)
    return a.dtype == b.dtype and a.shape == b.shape and a[~both].tobytes() == b[~both].tobytes()


@weft.njit
def into_its_first_row(a: Array) -> None:
    a[0] = np.sum(a, axis=0)


@weft.njit
def less_its_sum(a: Array) -> None:
    a[:, :] = a - np.sum(a, axis=0)


@weft.njit(parallel=True)
def less_its_greatest(a: Array) -> None:
    a -= np.max(a, axis=0)


@pytest.mark.parametrize("function", [into_its_first_row, less_its_sum, less_its_greatest], ids=lambda f: f.__name__)
@pytest.mark.parametrize("shape", [(64, 256), (600, 300)], ids=str)
def test_an_array_may_take_its_own_sums(shape: tuple[int, ...], function: Any) -> None:
    a = np.random.default_rng(2).integers(-9, 9, size=shape).astype(np.float64)
    expected = a.copy()
    function.py_func(expected)
    function(a)
    assert a.tolist() == expected.tolist()


def sums_into(a: Array, out: Array) -> None:
    out[:] = np.sum(a, axis=0)


def less_sums(a: Array, b: Array) -> None:
    b[:, :] = a - np.sum(a, axis=0)


def products_into(a: Array, b: Array, out: Array) -> None:
    out[:] = np.sum(a * b, axis=0)


def greatest_into(a: Array, b: Array, out: Array) -> None:
    out[:] = np.max(a - b, axis=0) + out


OVERLAPPING: dict[str, tuple[Callable[..., None], Callable[[Array, int, int], tuple[Array, ...]]]] = {
    # The whole of a row, and parts of two.
    "a row": (sums_into, lambda m, rows, columns: (m.reshape(-1, columns)[:rows], m.reshape(-1, columns)[rows // 2])),
    "two rows": (sums_into, lambda m, rows, columns: (m.reshape(-1, columns)[:rows], m[7 : 7 + columns])),
    # Rows that lie one, or part of one, further on.
    "the next": (less_sums, lambda m, rows, columns: (m.reshape(-1, columns)[:rows], m.reshape(-1, columns)[1:])),
    "between": (
        less_sums,
        lambda m, rows, columns: (m[: rows * columns].reshape(-1, columns), m[3 : 3 + rows * columns].reshape(-1, columns)),
    ),
    "backwards": (less_sums, lambda m, rows, columns: (m.reshape(-1, columns)[:rows], m.reshape(-1, columns)[rows:0:-1])),
    "neighbours": (
        products_into,
        lambda m, rows, columns: (m.reshape(-1, columns)[:rows], m.reshape(-1, columns)[1:], m.reshape(-1, columns)[rows]),
    ),
    "extremes": (
        greatest_into,
        lambda m, rows, columns: (m.reshape(-1, columns)[:rows], m.reshape(-1, columns)[1:], m[5 : 5 + columns]),
    ),
}


@pytest.mark.parametrize("parallel", [False, True], ids=["one", "threads"])
@pytest.mark.parametrize("case", OVERLAPPING)
def test_arrays_of_the_caller_may_overlap(case: str, parallel: bool) -> None:
    """Also with so many rows that they are several blocks, and several chunks of those."""
    plain, views = OVERLAPPING[case]
    compiled = weft.njit(parallel=parallel)(plain)
    for rows, columns in [(64, 256), (65, 1100), (2049, 300), (4100, 2600), (17_000, 256)]:
        memory = np.random.default_rng(rows).integers(-9, 9, size=(rows + 1) * columns).astype(np.float64)
        expected = memory.copy()
        plain(*views(expected, rows, columns))
        compiled(*views(memory, rows, columns))
        np.testing.assert_array_equal(memory, expected, err_msg=f"{rows} rows of {columns}")

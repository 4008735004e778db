"""Floats of 16 bits with NaN, infinities and both zeros: every function that orders, compares or skips them, of bfloat16 against NumPy's
of the same numbers in float32, whose results are rounded; of float16 against NumPy's own."""

from __future__ import annotations

import linecache
import warnings

import ml_dtypes
import numpy as np
import pytest

import weft

BF16 = np.dtype(ml_dtypes.bfloat16)
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, -np.nan, 1.5, -2.0, 1.5, 3e30, 2.0, -0.0]

ONE = [
    "np.sort(a)",
    "np.sort(a, kind='stable')",
    "np.sort(a, axis=None)",
    "np.argsort(a, kind='stable')",
    "np.unique(a)",
    "np.unique(a, equal_nan=False)",
    "np.unique(a, return_counts=True)",
    "np.unique(a, return_index=True, return_inverse=True)",
    "np.median(a)",
    "np.nanmedian(a)",
    "np.nanmin(a)",
    "np.nanmax(a)",
    "np.nanargmin(a)",
    "np.nanargmax(a)",
    "np.min(a)",
    "np.max(a)",
    "np.argmin(a)",
    "np.argmax(a)",
    "np.ptp(a)",
    "np.count_nonzero(a)",
    "np.flatnonzero(a)",
    "np.partition(a, 3)[3]",
    "a[np.argpartition(a, 3)][3]",
    "np.array_equal(a, a)",
    "np.array_equal(a, a, equal_nan=True)",
    "np.array_equiv(a, a)",
    "np.allclose(a, a)",
    "np.allclose(a, a, equal_nan=True)",
    "np.isclose(a, a)",
    "np.isclose(a, a, equal_nan=True)",
    "np.any(a)",
    "np.all(a)",
    "np.flip(a)",
    "np.roll(a, 2)",
    "np.repeat(a, 2)",
    "np.diff(a)",
    "np.trim_zeros(a)",
    "np.percentile(a, 25)",
    "np.quantile(a, 0.25)",
    "np.quantile(a, 0.75, method='lower')",
    "np.quantile(a, 0.75, method='higher')",
    "np.quantile(a, 0.75, method='nearest')",
    "np.quantile(a, 0.75, method='inverted_cdf')",
    "np.nanquantile(a, 0.75, method='lower')",
    "np.nanquantile(a, 0.25)",
    "np.nanpercentile(a, 25)",
]
TWO = [
    "np.isin(a, b)",
    "np.isin(a, b, invert=True)",
    "np.union1d(a, b)",
    "np.intersect1d(a, b)",
    "np.intersect1d(a, b, return_indices=True)",
    "np.setdiff1d(a, b)",
    "np.setxor1d(a, b)",
    "np.searchsorted(np.sort(a), b)",
    "np.searchsorted(np.sort(a), b, side='right')",
    "np.lexsort((a, b))",
    "np.array_equal(a, b)",
    "np.isclose(a, b)",
    "np.concatenate((a, b))",
]


def numbers(n: int, seed: int) -> np.ndarray:
    """Numbers that bfloat16 and float16 have, special ones among them if there are many enough."""
    rng = np.random.default_rng(seed)
    made = rng.integers(-20, 20, n).astype(np.float32) / 4
    for at, x in enumerate(SPECIAL):
        made[at * 5 % n] = x
    return rng.permutation(made).astype(BF16).astype(np.float32)


def agree(found: object, wanted: object, dtype: np.dtype) -> None:
    if isinstance(wanted, tuple):
        assert isinstance(found, tuple) and len(found) == len(wanted)
        for each, other in zip(found, wanted):
            agree(each, other, dtype)
        return
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.shape == wanted.shape
    if wanted.dtype == np.float32 or wanted.dtype == np.float16:
        assert found.dtype == dtype
        wanted = wanted.astype(dtype)
        np.testing.assert_array_equal(found.astype(np.float64), wanted.astype(np.float64))
    else:
        np.testing.assert_array_equal(found, wanted)


def wanted_of(text: str, names: dict[str, np.ndarray]) -> object:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return eval(text, {"np": np, **names})


def compiled(text: str, names: dict[str, np.ndarray]) -> object:
    scope: dict[str, object] = {"np": np}
    exec(compile(f"def f({', '.join(names)}):\n    return {text}", "<half>", "exec"), scope)
    linecache.cache["<half>"] = (1, None, [f"def f({', '.join(names)}):\n", f"    return {text}\n"], "<half>")
    return weft.njit(scope["f"])(*names.values())


SIZES = (5, 40, 300, 5000)


def operands(text: str, n: int, dtype: np.dtype) -> tuple[dict, dict]:
    names = {"a": numbers(n, 1), "b": numbers(n, 2)} if text in TWO else {"a": numbers(n, 1)}
    with np.errstate(over="ignore"):
        of_dtype = {name: x.astype(dtype) for name, x in names.items()}
    return (of_dtype, of_dtype) if dtype == np.float16 else (of_dtype, names)


# What arrays have and compiled functions have not.
ARRAYS_ONLY = ("lexsort",)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("text", [each for each in ONE + TWO if not any(name in each for name in ARRAYS_ONLY)])
def test_compiled(text: str, dtype: str) -> None:
    for n in SIZES:
        given, theirs = operands(text, n, np.dtype(dtype) if dtype == "float16" else BF16)
        with np.errstate(all="ignore"):
            agree(compiled(text, given), wanted_of(text, theirs), given["a"].dtype)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("text", ONE + TWO)
def test_arrays(text: str, dtype: str) -> None:
    for n in SIZES:
        given, theirs = operands(text, n, np.dtype(dtype) if dtype == "float16" else BF16)
        ours = {name: weft.asarray(x) for name, x in given.items()}
        found = eval(text, {"np": weft, **ours})
        agree(found, wanted_of(text, theirs), given["a"].dtype)


def test_axes_and_rows_of_quantiles() -> None:
    """Results of bfloat16 for all kinds of `q`, along each axis: between two elements the float32 value, but for rounding."""
    rows = numbers(60, 3)
    rows = np.where(np.isfinite(rows) & (np.abs(rows) < 100), rows, np.float32(1)).reshape(5, 12)
    a = weft.asarray(rows.astype(BF16))
    for name, q in [
        ("quantile", 0.3),
        ("quantile", [0.0, 0.3, 1.0]),
        ("percentile", 30),
        ("percentile", [0, 30, 100]),
        ("nanquantile", 0.3),
    ]:
        for axis in (None, 0, 1, -1):
            found = getattr(weft, name)(a, q, axis=axis)
            wanted = getattr(np, name)(rows, q, axis=axis)
            assert found.shape == wanted.shape, (name, q, axis, found.dtype)
            np.testing.assert_allclose(np.asarray(found).astype(np.float64), wanted, rtol=2**-7, atol=2**-7)


def test_a_users_function_has_the_kind_of_numpy() -> None:
    """Only the library's own texts count bfloat16 among the floats."""
    assert BF16.kind == "V"
    assert compiled("a.dtype.kind == 'V'", {"a": numbers(3, 0).astype(BF16)})
    assert not compiled("a.dtype.kind == 'f'", {"a": numbers(3, 0).astype(BF16)})

"""`np.linspace` to the last bit, and histograms with the edges that it gives."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from weft import njit


def spaced(start, stop, num):
    return np.linspace(start, stop, num)


def spaced_without_end(start, stop, num):
    return np.linspace(start, stop, num, endpoint=False)


def whole(start, stop, num):
    return np.linspace(start, stop, num, dtype=np.int64)


def as_float32(start, stop, num):
    return np.linspace(start, stop, num, dtype=np.float32)


def ends(dtype, count):
    """Pairs of ends: of any size, near to each other, and such that steps are less than the type's smallest normal number."""
    rng = np.random.default_rng(5)
    info = np.finfo(dtype)
    for scale in (1.0, 300.0, float(info.tiny) * 4, float(info.smallest_subnormal) * 9):
        for start, stop in rng.normal(0, scale, (count, 2)).astype(dtype):
            yield start, stop
            yield start, start + dtype(scale / 64)
    yield dtype(0), dtype(info.max)
    yield dtype(info.max), dtype(-info.max)
    yield dtype(3), dtype(3)
    yield dtype(0), dtype(np.inf)
    yield dtype(np.nan), dtype(1)


@pytest.mark.parametrize("function", [spaced, spaced_without_end, as_float32])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_every_bit_is_numpy_s(dtype, function):
    compiled = njit(function)
    with np.errstate(all="ignore"):
        for i, (start, stop) in enumerate(ends(dtype, 40)):
            for num in (0, 1, 2, 3, 7 + i % 60):
                got, want = compiled(start, stop, num), function(start, stop, num)
                assert got.dtype == want.dtype
                np.testing.assert_array_equal(got, want, err_msg=f"{start!r}, {stop!r}, {num}")


def test_more_points_than_float16_counts():
    with np.errstate(all="ignore"):
        for num in (2049, 4100, 65505, 65519, 65520, 65521, 70000):
            for function in (spaced, spaced_without_end):
                args = np.float16(0.25), np.float16(3), num
                np.testing.assert_array_equal(njit(function)(*args), function(*args))


@pytest.mark.parametrize("ends", [(-1.5, 1.5), (-7, 2), (2.5, -9.75), (np.float32(-3.3), 4), (np.float16(-8.1), np.float16(3))])
def test_integers_are_rounded_down(ends):
    for num in range(12):
        got, want = njit(whole)(*ends, num), whole(*ends, num)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


def test_complex_ends():
    for args in ((0, 1j, 5), (1 + 2j, -3.5, 7), (0, 5e-324j, 5)):
        np.testing.assert_array_equal(njit(spaced)(*args), spaced(*args))
    with pytest.raises(weft.TypingError, match="linspace gives no integers between complex numbers"):
        njit(whole)(0, 1j, 5)


@pytest.mark.parametrize("bins", [1, 3, 10, 37])
def test_histograms_of_float16(bins):
    def evenly(a, bins):
        return np.histogram(a, bins)

    def between(a, bins):
        return np.histogram(a, bins, range=(-1, 2.5))

    rng = np.random.default_rng(bins)
    for scale in (1.0, 100.0, 1e-3):
        a = rng.normal(0, scale, 500).astype(np.float16)
        for function in (evenly, between):
            for got, want in zip(njit(function)(a, bins), function(a, bins), strict=True):
                assert got.dtype == want.dtype
                np.testing.assert_array_equal(got, want)

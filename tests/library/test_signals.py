"""Sums of products of one row with the parts of another."""

from __future__ import annotations

import numpy as np
import pytest
from numpy_calls import ALL, KINDS, array, check, layouts


@pytest.mark.parametrize("dtype", ALL)
def test_every_dtype(dtype: type) -> None:
    a, v = array((9,), dtype), array((4,), dtype, 1)
    for text in ("np.convolve(a, v)", "np.correlate(a, v, 'full')"):
        check(text, exact=False, a=a, v=v)


@pytest.mark.parametrize("mode", ["", ", 'full'", ", 'same'", ", mode='valid'", ", 'none'"])
@pytest.mark.parametrize("name", ["convolve", "correlate"])
@pytest.mark.parametrize("dtype", [np.int64, np.complex128])
def test_modes(name: str, mode: str, dtype: type) -> None:
    rows = [array((n,), dtype, n) for n in (1, 2, 3, 8, 9)]
    for a in rows:
        for v in rows:
            check(f"np.{name}(a, v{mode})", exact=False, a=a, v=v)


@pytest.mark.parametrize("dtype", KINDS)
def test_two_types(dtype: type) -> None:
    for other in (np.float32, np.int16):
        check("np.convolve(a, v)", exact=False, a=array((9,), dtype), v=array((4,), other))
        check("np.correlate(a, v, 'same')", exact=False, a=array((4,), other), v=array((9,), dtype))


def test_long_rows() -> None:
    for n, m in ((5000, 7), (3000, 3000), (40, 2500)):
        for mode in ("full", "same", "valid"):
            check(f"np.convolve(a, v, '{mode}')", exact=False, a=array((n,), np.float64), v=array((m,), np.float64))
            check(f"np.correlate(a, v, '{mode}')", exact=False, a=array((n,), np.float64), v=array((m,), np.float64))


def test_layouts() -> None:
    for a in layouts(array((9,), np.float64)):
        check("np.convolve(a, a[:3])", exact=False, a=a)
        check("np.correlate(a, a[:3])", exact=False, a=a)


@pytest.mark.parametrize(
    "text",
    [
        "np.convolve(a, a[:0])",
        "np.correlate(a[:0], a)",
        "np.convolve(m, a)",
        "np.convolve(a, 2)",
        "np.convolve((1, 2, 3), (1, 1))",
        "np.correlate(a, 2)",
    ],
)
def test_odd_arguments(text: str) -> None:
    check(text, a=np.arange(4), m=np.zeros((2, 2)))

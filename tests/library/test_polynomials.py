"""Polynomials as rows of coefficients, rows without zeros at their ends, and windows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy_calls import ALL, KINDS, array, check, layouts


@pytest.mark.parametrize("dtype", ALL)
def test_every_dtype(dtype: type) -> None:
    p, q, x = array((4,), dtype), array((2,), dtype, 1), array((5,), dtype, 2)
    p[0] = q[0] = 1
    for text in ("polyadd(p, q)", "polysub(q, p)", "polymul(p, q)", "polyder(p)", "polyder(p, 2)", "polyint(p)", "polyint(p, 2)"):
        if not (text.startswith("polysub") and np.dtype(dtype).kind == "b"):
            check(f"np.{text}", exact=False, p=p, q=q)
    check("np.polyval(p, x)", exact=False, p=p, x=x)
    check("np.polyval(p, x)", exact=False, p=p, x=x[0])
    check("np.trim_zeros(p)", p=p)
    if dtype is not np.float16:
        check("np.polydiv(p, q)", exact=False, p=p, q=q)


@pytest.mark.parametrize("dtype", KINDS)
def test_two_types(dtype: type) -> None:
    p = array((4,), dtype)
    for other in (np.float32, np.int16, np.complex64):
        q, x = array((6,), other, 1), array((2, 3), other, 2)
        for text in ("polyadd(p, q)", "polysub(q, p)", "polymul(p, q)", "polyval(p, x)", "polyval(q, p)", "polyint(p, k=q)"):
            check(f"np.{text}", exact=False, p=p, q=q, x=x)


def test_arguments() -> None:
    p, x = np.array([0.0, 2, 0, -3, 1]), array((3, 2), np.float64)
    for text in (
        "polyval(p, 2)", "polyval(p, 2.5)", "polyval(p, 1j)", "polyval(p, (1.0, 2.0))", "polyval(p[:0], x)", "polyval(p[:1], x)",
        "polyval((1, 2, 3), x)", "polyval(p, x[0, 0])", "polyval(p, np.float32(2))", "polyadd(p, 3)", "polyadd(2, 3.5)",
        "polysub(p[:0], p)",
        "polymul(p, p[:1])", "polymul(p * 0, p)", "polymul(p[:0], p)", "polymul(p, 2)", "polydiv(p[1:], p[1:3])",
        "polydiv(p[1:3], p[1:])",
        "polydiv(p[:0], p)", "polydiv(p, p[:0])",
        "polydiv(p[1:], p[1:])", "polyder(p, 0)", "polyder(p, 3)", "polyder(p, 7)", "polyder(p[:0])",
        "polyint(p, 0)", "polyint(p, 3)", "polyint(p, 2, 3)", "polyint(p, 2, k=(1, 2))", "polyint(p, 2, k=p)",
        "polyint(p, 3, k=p[:2])",
        "polyint(p, 1, k=1j)", "polyint(p[:0])",
    ):  # fmt: skip
        check(f"np.{text}", exact=False, p=p, x=x)
    for trim in ("f", "b", "fb", "BF"):
        for row in (p, p * 0, p[:0], p[::-1], np.array([0, 0, np.nan, 0])):
            check(f"np.trim_zeros(p, '{trim}')", p=row)
    for a in layouts(np.array([0, 1, 2, 0, 0])):
        check("np.trim_zeros(p)", p=a)
        check("np.polymul(p, p[:2])", p=a)
        check("np.polyval(p, p)", p=a)


def test_kernels_take_values() -> None:
    import weft

    @weft.njit(parallel=True)
    def values(p, x):
        made = np.empty(len(x))
        for i in weft.prange(len(x)):
            made[i] = np.polyval(p, x[i])
        return made

    x = np.linspace(-1, 1, 100)
    np.testing.assert_allclose(values(np.array([1.0, 2, 3]), x), np.polyval([1.0, 2, 3], x), rtol=1e-15)


@pytest.mark.parametrize("name", ["bartlett", "hanning", "hamming", "blackman"])
@pytest.mark.parametrize("length", [0, 1, 2, 7, 8, -3, 6.5, 0.5, 1.0, np.int32(5), np.float32(4)])
def test_windows(name: str, length: float) -> None:
    check(f"np.{name}(m)", exact=False, m=length)


@pytest.mark.parametrize("beta", [0, 5.0, 14, np.float32(2.5)])
def test_kaiser(beta: float) -> None:
    for length in (0, 1, 2, 7, -3, 6.5, 0.5):
        check("np.kaiser(m, b)", exact=False, m=length, b=beta)

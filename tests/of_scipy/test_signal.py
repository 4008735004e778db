"""`weft.scipy.signal` against SciPy: convolutions and filters over dtypes, axes, modes, shapes, and errors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.signal

import weft
from weft.errors import UnsupportedError
from weft.scipy import signal

from .against_scipy import check, examples

SHAPES = [((7,), (3,)), ((3,), (8,)), ((1,), (1,)), ((5, 6), (2, 3)), ((2, 3), (4, 4)), ((4, 1), (1, 4)), ((3, 4, 5), (2, 2, 2)), ((), ())]


def values(shape: tuple[int, ...], dtype: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if dtype[0] in "ui":
        return np.asarray(rng.integers(0 if dtype[0] == "u" else -5, 6, shape)).astype(dtype)
    made = rng.normal(size=shape)
    return np.asarray(made + 1j * rng.normal(size=shape) if dtype[0] == "c" else made).astype(dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "int64", "uint8", "complex64", "complex128"])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolutions(mode: str, dtype: str) -> None:
    for first, second in SHAPES:
        x, y = values(first, dtype, 1), values(second, dtype, 2)
        for method in ("auto", "direct"):
            check(scipy.signal, signal, "m.convolve(x, y, mode, method)", x=x, y=y, mode=mode, method=method)
            check(scipy.signal, signal, "m.correlate(x, y, mode, method)", x=x, y=y, mode=mode, method=method)
    check(
        scipy.signal, signal, "m.convolve(x, y, mode)", x=values((4, 5), dtype, 3)[::-1, ::2], y=values((3, 3), "float64", 4).T, mode=mode
    )


def test_bools_and_halves() -> None:
    x, y = np.random.default_rng(0).random((5, 6)) > 0.6, np.random.default_rng(1).random((2, 2)) > 0.3
    wanted = scipy.signal.convolve(x.astype(int), y.astype(int)) > 0
    assert (weft.asnumpy(signal.convolve(weft.asarray(x), weft.asarray(y))) == wanted).all()
    h = values((5, 6), "float32", 5).astype("float16")
    found = signal.convolve(weft.asarray(h), weft.asarray(h[:2, :2]))
    assert found.dtype == np.float16
    np.testing.assert_allclose(weft.asnumpy(found), scipy.signal.convolve(h.astype(float), h[:2, :2].astype(float)), rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "complex128"])
def test_by_ffts(dtype: str) -> None:
    for mode in ("full", "same", "valid"):
        for first, second in SHAPES:
            x, y = values(first, dtype, 1), values(second, dtype, 2)
            check(scipy.signal, signal, "m.fftconvolve(x, y, mode)", 1e-11, x=x, y=y, mode=mode)
            check(scipy.signal, signal, "m.convolve(x, y, mode, 'fft')", 1e-11, x=x, y=y, mode=mode)
        for axes in (0, -1, [1], (0, 1)):
            x, y = values((6, 7), dtype, 1), values((6, 7), dtype, 2)
            check(scipy.signal, signal, "m.fftconvolve(x, y, mode, axes)", 1e-11, x=x, y=y, mode=mode, axes=axes)


def test_many_axes_need_ffts() -> None:
    with pytest.raises(UnsupportedError, match="up to 3 axes"):
        signal.convolve(weft.ones((2, 2, 2, 2)), weft.ones((2, 2, 2, 2)), method="direct")


FILTERS = [
    ([1.0], [1.0, -0.5]),
    ([0.5, 0.25, 0.1], [2.0]),
    ([1.0, 2.0, 1.0], [4.0, -1.0, 0.5]),
    ([1.0], [1.0]),
    ([1.0, 0.3], [1.0, 0.2, 0.1, 0.05]),
]


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex64", "complex128", "int32"])
@pytest.mark.parametrize("b, a", FILTERS)
def test_filters(b: list[float], a: list[float], dtype: str) -> None:
    kind = "float32" if dtype in ("float32", "complex64") else "float64"
    b, a = np.asarray(b, kind), np.asarray(a, kind)
    order = max(len(a), len(b)) - 1
    for x in (values((20,), dtype, 1), values((3, 8), dtype, 2)):
        check(scipy.signal, signal, "m.lfilter(b, a, x)", b=b, a=a, x=x)
        check(scipy.signal, signal, "m.lfilter(b, a, x, axis=0)", b=b, a=a, x=x.T)
        zi = np.random.default_rng(3).normal(size=(*x.shape[:-1], order)).astype(kind)
        check(scipy.signal, signal, "m.lfilter(b, a, x, zi=zi)", b=b, a=a, x=x, zi=zi)
        if x.ndim == 2:
            check(scipy.signal, signal, "m.lfilter(b, a, x, zi=zi)", b=b, a=a, x=x, zi=zi[:1])
            check(scipy.signal, signal, "m.lfilter(b, a, x, 0, zi)", b=b, a=a, x=x.T, zi=zi.T)
    # Of no elements SciPy takes filters with feedback, and refuses others.
    empty = signal.lfilter(weft.asarray(b), weft.asarray(a), weft.zeros((2, 0), dtype))
    assert empty.shape == (2, 0) and empty.dtype == np.result_type(kind, dtype)


def test_errors() -> None:
    x, y = np.ones((3, 3)), np.ones(3)
    for text in (
        "convolve(x, y)",
        "convolve(x, x, 'none')",
        "convolve(x, x, method='none')",
        "convolve(np.ones((2, 5)), x, 'valid')",
        "correlate(x, y)",
        "lfilter([[1.0]], [1.0], y)",
        "lfilter([], [1.0], y)",
        "lfilter([1.0], [], y)",
        "lfilter([1], [1, 2], y.astype(int))",
        "lfilter([1.0, 2.0], [1.0], y, zi=np.ones(3))",
        "lfilter([1.0, 2.0], [1.0], y, zi=np.ones((1, 1)))",
        "lfilter([1.0], [1.0], y, axis=1)",
    ):
        check(scipy.signal, signal, f"m.{text}", x=x, y=y)
    with pytest.raises(ValueError, match="zero"):
        signal.lfilter([1.0], [0.0, 1.0], weft.ones(3))


@pytest.mark.parametrize("name", ["convolve", "correlate", "lfilter"])
def test_examples(name: str) -> None:
    examples(getattr(signal, name), name)

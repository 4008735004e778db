"""`np.fft` in compiled functions, against the functions undecorated."""

from __future__ import annotations

import signal
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy_calls import check, check_parallel, compiled

import weft
import weft.fft

ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
MANY = ("fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2")
OF_REALS = ("rfft", "ihfft", "rfftn", "rfft2")
# NumPy does not look at `out` in these.
NOT_INTO = ("hfft", "ifft2", "irfft2")
NORMS = (None, "backward", "ortho", "forward")


def numbers(shape: Any, dtype: Any, seed: int = 0) -> np.ndarray:
    """Numbers without a pattern."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "c":
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    return (rng.standard_normal(shape) * (4 if dtype.kind in "iu" else 1)).astype(np.int64 if dtype.kind == "u" else dtype).astype(dtype)


def near(text: str, **arguments: Any) -> None:
    check(text, exact=False, **arguments)


def real(name: str) -> Any:
    return np.float32 if name in OF_REALS else np.complex64


@pytest.mark.parametrize("name", [*ONE, *MANY])
def test_dtypes(name: str) -> None:
    for dtype in (np.float32, np.float64, np.int8, np.uint32, np.bool_, np.complex64, np.complex128):
        near(f"np.fft.{name}(a)", a=numbers((3, 6), dtype))
    # NumPy's factor has half precision, too.
    a = numbers((3, 6), np.float16)
    plain, fast = compiled(f"np.fft.{name}(a)", "a")
    wanted, found = plain(a), fast(a)
    assert found.dtype == wanted.dtype and np.allclose(found, wanted, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("name", ONE)
def test_lengths_are_arguments(name: str) -> None:
    for dtype in (np.float64, np.complex64):
        for n in (*range(1, 18), 64, 100, 127, 1009):
            if dtype == np.float64 or name not in OF_REALS:
                near(f"np.fft.{name}(a, n)", a=numbers(9, dtype, n), n=n)
                near(f"np.fft.{name}(a)", a=numbers(n + 1, dtype, n))
    near(f"np.fft.{name}(a, 7)", a=numbers((2, 5), np.float64))
    near(f"np.fft.{name}(a, np.int32(4))", a=numbers((2, 5), np.float64))


@pytest.mark.parametrize("name", ONE)
def test_axes_norms_and_layouts(name: str) -> None:
    whole = numbers((4, 6, 5), real(name))
    for axis in (-3, 1, 2):
        for norm in NORMS:
            near(f"np.fft.{name}(a, axis={axis}, norm={norm!r})", a=whole)
    for view in (whole[::-1], whole[:, ::2], whole.T, np.asfortranarray(whole), whole[..., 3], np.broadcast_to(whole[0, 0], (3, 5))):
        near(f"np.fft.{name}(a, n, 0)", a=view, n=4)
    near(f"np.fft.{name}(a[1:, ::-2].T * 2 + 1)", a=whole[0])
    near(f"np.fft.{name}([1, 2.5, x])", x=3)
    for empty in (whole[:0], whole[:, :0]):
        near(f"np.fft.{name}(a)", a=empty)


@pytest.mark.parametrize("name", MANY)
def test_many_axes(name: str) -> None:
    a = numbers((3, 4, 5), real(name))
    for axes in ("(0,)", "(1, 0)", "(-1, 0)", "(2, 1, 0)", "(1, 1)", "(0, 2, 0)"):
        near(f"np.fft.{name}(a, axes={axes})", a=a)
        near(f"np.fft.{name}(a, (m, n, 6)[:{axes.count(',') + (axes[-2] != ',')}], {axes}, 'ortho')", a=a, m=5, n=3)
    near(f"np.fft.{name}(a, (m, 6), axes=(0, 1))", a=a, m=-1)
    near(f"np.fft.{name}(a, (None, 6), axes=(0, 1))", a=a)
    if not name.endswith("2"):
        near(f"np.fft.{name}(a)", a=a)
        near(f"np.fft.{name}(a, (3, 6))", a=a)
        near(f"np.fft.{name}(a, axes=())", a=a)
    for norm in NORMS:
        near(f"np.fft.{name}(a, norm={norm!r})", a=a)


@pytest.mark.parametrize("name", [*ONE, *MANY])
def test_out(name: str) -> None:
    a = numbers((4, 6), real(name))
    theirs = getattr(np.fft, name)(a)
    for out in (np.zeros_like(theirs), np.zeros((*theirs.shape[:-1], 2 * theirs.shape[-1]), theirs.dtype)[..., ::2]):
        if name in NOT_INTO:
            _, into = compiled(f"np.fft.{name}(a, out=out)", "a, out")
            assert np.array_equal(into(a, out), out) and np.allclose(out, theirs, atol=1e-4)
        else:
            near(f"np.fft.{name}(a, out=out)", a=a, out=out)
    if name in ("fft", "ifftn"):
        near(f"np.fft.{name}(a, out=a)", a=a)
    for out in (np.zeros((3, 9), theirs.dtype), np.zeros(6, theirs.dtype), np.zeros(theirs.shape, np.int32)):
        if name not in NOT_INTO:
            near(f"np.fft.{name}(a, out=out)", a=a, out=out)


@pytest.mark.parametrize("name", ONE)
def test_errors(name: str) -> None:
    a = numbers((3, 4), np.float64)
    for asked in ("0", "-1", "2.5", "'3'", "axis=2", "axis=-3", "axis=None", "norm='x'", "3, axis=1.0"):
        near(f"np.fft.{name}(a, {asked})", a=a)
    for n in (0, -3, 2.0):
        near(f"np.fft.{name}(a, n)", a=a, n=n)
    near(f"np.fft.{name}(a)", a=a[0, 0])
    near(f"np.fft.{name}(a, axis=0)", a=a[:0])
    near(f"np.fft.{name}(a)", a=a[:, :0])
    with pytest.raises(ValueError, match="Invalid number of FFT data points"):
        weft.njit(lambda a, n: np.fft.fft(a, n))(a, 0)
    with pytest.raises(weft.WeftError, match="takes no complex ones"):
        weft.njit(lambda a: np.fft.rfft(a))(a + 1j)
    with pytest.raises((ValueError, MemoryError)):
        weft.njit(lambda a, n: np.fft.fft(a, n))(a, 1 << 58)


@pytest.mark.parametrize("name", MANY)
def test_errors_of_many_axes(name: str) -> None:
    a = numbers((3, 4), np.float64)
    for asked in ("(2,), (0, 1)", "(2, 2, 2), (0, 1)", "axes=(0, 5)", "(3, 0), (0, 1)", "3", "axes=1", "norm='x'", "(2.5, 2), (0, 1)"):
        near(f"np.fft.{name}(a, {asked})", a=a)
    near(f"np.fft.{name}(a)", a=a[:0])
    near(f"np.fft.{name}(a)", a=a[0, 0])


def test_frequencies_and_shifts() -> None:
    for n in (1, 2, 5, 8, 0, -3):
        for name in ("fftfreq", "rfftfreq"):
            check(f"np.fft.{name}(n)", n=n)
            check(f"np.fft.{name}(n, d)", n=n, d=0.1)
            check(f"np.fft.{name}(n, d=3)", n=n)
    check("np.fft.fftfreq(n)", n=4.0)
    check("np.fft.fftfreq(4, 0)")
    a = numbers((4, 5), np.int32)
    for name in ("fftshift", "ifftshift"):
        for axes in ("None", "0", "-1", "(0,)", "(0, 1)", "(1, 0, 1)", "3", "(0, 2)", "()"):
            check(f"np.fft.{name}(a, {axes})", a=a)
        for other in (a[0], a[:, :0], a.T, np.zeros(0), a[0, 0]):
            check(f"np.fft.{name}(a)", a=other)


def test_bfloat16() -> None:
    a = np.arange(8.0).astype(ml_dtypes.bfloat16)
    found = weft.njit(lambda a: np.fft.fft(a))(a)
    assert found.dtype == np.complex64 and np.allclose(found, np.fft.fft(np.arange(8.0)), atol=1e-4)


def test_fields_of_records() -> None:
    records = np.zeros((4, 6), [("x", "f8"), ("y", "c16")])
    records["y"] = numbers((4, 6), np.complex128)
    for field in (records["y"], records["y"][::-1, 1]):
        near("np.fft.fft(a, 5, 0)", a=field)


def test_bits_are_those_of_arrays() -> None:
    """The same code: the same bits as `weft.fft`, with threads and without."""
    a = numbers((300, 210), np.float64)
    wanted = weft.asnumpy(weft.fft.fft2(a))
    for parallel in (False, True):
        np.testing.assert_array_equal(weft.njit(parallel=parallel)(lambda a: np.fft.fft2(a))(a), wanted)
    check_parallel("np.fft.irfft(a, axis=0)", a=numbers((300, 40), np.complex64))


def test_in_loops_and_threads() -> None:
    @weft.njit(parallel=True)
    def each(a: Any, out: Any) -> None:
        for i in weft.prange(a.shape[0]):
            out[i] = np.abs(np.fft.rfft(a[i] * 2))

    @weft.njit
    def low_pass(a: Any, most: Any) -> Any:
        spectrum = np.fft.rfft(a)
        spectrum[np.fft.rfftfreq(a.size) > most] = 0
        return np.fft.irfft(spectrum, a.size)

    a = numbers((40, 30), np.float64)
    out = np.empty((40, 16))
    each(a, out)
    assert np.allclose(out, np.abs(np.fft.rfft(a * 2)))
    assert np.allclose(low_pass(a[0], 0.2), low_pass.py_func(a[0], 0.2))


def test_where_there_are_none() -> None:
    a = numbers(8, np.float32)
    with pytest.raises(ValueError, match="debug=True"):
        weft.njit(debug=True)(lambda a: np.fft.fft(a))(a)

    @weft.cuda.jit
    def kernel(a: Any) -> None:
        a[0] = np.fft.fft(a)[0].real

    with pytest.raises(weft.WeftError, match="kernels"):
        kernel[1, 1](a)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")
def test_an_interrupt_ends_a_transform() -> None:
    work = weft.njit(lambda a: np.fft.fft2(a))
    a = np.ones((3000, 1009), np.complex64)
    # Compiled before, for arrays in C's order.
    work(a[:2])
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        with pytest.raises(KeyboardInterrupt):
            for _ in range(200):
                work(a)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

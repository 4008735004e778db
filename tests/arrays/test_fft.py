"""`weft.fft` against `numpy.fft`: in values as near to those of extended precision as theory has them, in dtypes, shapes, errors and words.

The bound: an FFT of n points in a precision of eps has an error whose norm is at most some eps·log2(n) times that of the result (N. Higham,
Accuracy and Stability of Numerical Algorithms, theorem 24.2). Primes are convolutions by three transforms of more than twice the length.
"""

from __future__ import annotations

import doctest
import inspect
import os
import signal
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import weft
import weft.fft
from weft._weft import _fft
from weft.errors import CaptureError

from .against_numpy import ALL, check, host

ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
MANY = ("fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2")
OF_REALS = ("rfft", "ihfft", "rfftn", "rfft2")
NORMS = (None, "backward", "ortho", "forward")
LENGTHS = (*range(1, 71), 97, 127, 128, 243, 256, 997, 1009, 1024, 2310)
LONG = (15015, 1 << 15, 10007, 65537, 30030, 3 * 5003)


def numbers(shape, dtype, seed=0):
    """Numbers without a pattern."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "c":
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    return (rng.standard_normal(shape) * (4 if dtype.kind in "iu" else 1)).astype(np.int64 if dtype.kind == "u" else dtype).astype(dtype)


def exact(name, a, *args, **keywords):
    """NumPy's result in extended precision."""
    wide = np.clongdouble if a.dtype.kind == "c" else np.longdouble
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return getattr(np.fft, name)(a.astype(wide), *args, **keywords)


def compare(name, a, *args, ours=None, **keywords):
    """A function of an array: the dtype and shape that NumPy gives, and its elements as near as they have to be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        theirs = getattr(np.fft, name)(a, *args, **keywords)
        found = host(getattr(weft.fft, name)(weft.asarray(a) if ours is None else ours, *args, **keywords))
    shown = f"{name} of {a.dtype}{a.shape} {args} {keywords}"
    assert (found.dtype, found.shape) == (theirs.dtype, theirs.shape), shown
    near(found, exact(name, a, *args, **keywords), shown)


def near(found, wanted, shown=""):
    """Is the error's norm as small as it must be?"""
    eps = float(np.finfo(found.dtype).eps)
    points = max(wanted.size, 2)
    error, scale = (float(np.linalg.norm(x.astype(np.clongdouble).ravel())) for x in (found - wanted, wanted))
    assert np.isfinite(found).all(), shown
    assert error <= 6 * eps * np.log2(2 * points) * scale, f"{shown}: {error / scale / eps} eps"


@pytest.mark.parametrize("name", [*ONE, *MANY])
@pytest.mark.parametrize("dtype", ALL)
def test_dtypes(name, dtype):
    a = numbers((3, 6), dtype)
    if name in OF_REALS and np.dtype(dtype).kind == "c":
        return same_error(f"xp.fft.{name}(a)", a)
    compare(name, a)


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("single", [False, True], ids=["double", "single"])
def test_lengths(name, single):
    for n in LENGTHS:
        for is_complex in [False] if name in OF_REALS else [False, True]:
            dtype = (np.complex64 if single else np.complex128) if is_complex else (np.float32 if single else np.float64)
            if name not in ("irfft", "hfft"):
                compare(name, numbers(n, dtype, n))
                continue
            compare(name, numbers(n // 2 + 1, dtype, n), n)


@pytest.mark.parametrize("n", LONG)
def test_long_lines(n):
    for single in (False, True):
        a, b = (numbers(n, dtype, n) for dtype in ((np.complex64, np.float32) if single else (np.complex128, np.float64)))
        for name, x in [("fft", a), ("ifft", a), ("fft", b), ("rfft", b)]:
            compare(name, x)
        compare("irfft", a[: n // 2 + 1], n)


@pytest.mark.parametrize("name", ONE)
def test_parts_of_lines(name):
    for size in (1, 2, 5, 8):
        for n in (None, 1, 2, 3, 4, 7, 8, 9, 16):
            if (n is None and size == 1 and name in ("irfft", "hfft")) or (n == 0):
                continue
            a = numbers((2, size, 3), np.float64 if name in OF_REALS else np.complex128)
            for norm in NORMS:
                compare(name, a, n, 1, norm)


@pytest.mark.parametrize("name", [*ONE, *MANY])
def test_norms(name):
    a = numbers((4, 5), np.float32)
    for norm in NORMS:
        compare(name, a, norm=norm)


@pytest.mark.parametrize("name", ONE)
def test_axes(name):
    a = numbers((3, 4, 5), np.float32 if name in OF_REALS else np.complex64)
    for axis in (-3, -2, -1, 0, 1, 2):
        compare(name, a, axis=axis)
    # More lines side by side than are read together, and not as many as fill the last block.
    compare(name, numbers((9, 37), np.float64), axis=0)
    compare(name, numbers((300, 5), np.float64), axis=0)
    compare(name, numbers((2, 6, 1), np.float64), axis=1)


@pytest.mark.parametrize("name", MANY)
def test_many_axes(name):
    a = numbers((3, 4, 5), np.float64)
    for axes in [None, (0,), (2,), (1, 0), (0, 1), (0, 2), (-1, 0), (2, 1, 0), (0, 1, 2), (1, 1), (0, 2, 0), (2, 2, 2)]:
        if axes is None and name.endswith("2"):
            continue
        compare(name, a, axes=axes)
        for s in [(3, 4, 6), (5, 2, 2), (2, -1, 7)] if axes is not None else []:
            if "ir" in name and s[len(axes) - 1] == -1:
                continue
            compare(name, a, s=s[: len(axes)], axes=axes, norm="ortho")
    if not name.endswith("2"):
        compare(name, a, s=(3, 6), axes=None)
    compare(name, a, s=(None, 6), axes=(0, 1))
    compare(name, numbers((2, 3, 4, 5), np.float32), axes=(1, -1))


def test_strides():
    whole = numbers((6, 8, 10), np.complex128)
    for view in [
        "[::-1]",
        "[:, ::2]",
        "[..., ::-3]",
        "[1:, 1:5, 2:9]",
        ".T",
        ".transpose(1, 0, 2)",
        "[0]",
        "[:, 3]",
        ".real",
        ".imag",
        "[::2, 0]",
    ]:
        a = eval(f"x{view}", {"x": whole})
        ours = eval(f"x{view}", {"x": weft.asarray(whole)})
        for name in ("fft", "ifft", "irfft", "fftn", "irfft2"):
            compare(name, a, ours=ours)
            if name in ONE:
                compare(name, a, axis=0, ours=ours)
    stretched = weft.broadcast_to(weft.asarray(whole[0, 0]), (4, 10))
    compare("fft", np.broadcast_to(whole[0, 0], (4, 10)), ours=stretched)
    compare("fft", np.broadcast_to(whole[0, 0], (4, 10)), axis=0, ours=stretched)


def test_memory_of_numpys():
    """What the function of NumPy arrays reads as it lies, or copies: other byte orders, odd places, steps that are no whole elements."""
    a = numbers((4, 6), np.float64)
    odd = np.zeros(a.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(a.shape)
    odd[...] = a
    records = np.zeros((4, 6), [("x", "i1"), ("y", "f8")])
    records["y"] = a
    assert not odd.flags.aligned and not records["y"].flags.aligned
    for x in [a, a.astype(">f8"), odd, records["y"], a[::-1, ::2], a.astype(">c8"), a.astype("f2"), a.astype(bool), np.asfortranarray(a)]:
        near(_fft(x, "complex", True, [1], [x.shape[1]], 1.0), exact("fft", x))
        near(_fft(x, "complex", False, [0], [5], 0.5), exact("ifft", x, 5, 0) * 2.5)
    with pytest.raises(TypeError, match="float128"):
        _fft(a.astype(np.longdouble), "complex", True, [1], [6], 1.0)
    for kind, axes, lengths in [
        ("other", [1], [6]),
        ("complex", [2], [6]),
        ("complex", [1, 1], [6, 6]),
        ("complex", [1], [0]),
        ("complex", [], []),
    ]:
        with pytest.raises(ValueError):
            _fft(a, kind, True, axes, lengths, 1.0)


def test_what_is_no_array():
    for name, given in [
        ("fft", [1, 2, 3]),
        ("rfft", (1.5, 2)),
        ("fftn", [[1, 2j]]),
        ("fft", np.arange(4.0)),
        ("irfft", [True, False, True]),
    ]:
        near(host(getattr(weft.fft, name)(given)), exact(name, np.asarray(given)))
    near(host(weft.fft.fft([weft.asarray(1.0), 2.0])), np.fft.fft([1.0, 2.0]))


def test_bfloat16():
    a = weft.arange(8.0).astype(weft.bfloat16)
    assert weft.fft.fft(a).dtype == np.complex64
    assert weft.fft.irfft(a).dtype == weft.bfloat16.dtype
    near(host(weft.fft.fft(a)), exact("fft", np.arange(8.0)))


def test_lines_do_not_mix():
    """Neither a NaN nor a large number in one line makes a difference to the lines beside it."""
    for name in ONE:
        a = numbers((40, 9), np.float64)
        clean = host(getattr(weft.fft, name)(a))
        a[3], a[4, 2] = 1e300, np.nan
        for axis in (1, 0):
            found = host(getattr(weft.fft, name)(a if axis else np.ascontiguousarray(a.T), axis=axis))
            found = found if axis else found.T
            rows = [i for i in range(40) if i not in (3, 4)]
            np.testing.assert_array_equal(found[rows], clean[rows])
            assert np.isnan(found[4]).all()


def test_half_of_a_transform_of_reals():
    """The transform of real numbers is its own conjugate when turned around, to the bit."""
    for n in (6, 7, 64, 105):
        x = weft.asarray(numbers(n, np.float64))
        half, whole = host(weft.fft.rfft(x)), host(weft.fft.fft(x))
        np.testing.assert_array_equal(whole[: n // 2 + 1], half)
        np.testing.assert_array_equal(whole[1:], whole[1:][::-1].conj())
        assert half[0].imag == 0


@pytest.mark.parametrize("name", [*ONE, *MANY])
def test_out(name):
    a = numbers((4, 6), np.float32)
    theirs = getattr(np.fft, name)(a)
    for dtype in (theirs.dtype, np.complex128 if theirs.dtype.kind == "c" else np.float64):
        for out in (weft.zeros(theirs.shape, dtype), weft.zeros((*theirs.shape[:-1], 2 * theirs.shape[-1]), dtype)[..., ::2]):
            assert getattr(weft.fft, name)(weft.asarray(a), out=out) is out
            near(host(out).astype(theirs.dtype), exact(name, a))
    with pytest.raises(TypeError, match=r"output from dtype\('(complex64|float32)'\) to dtype\('int32'\) with casting rule 'same_kind'"):
        getattr(weft.fft, name)(a, out=weft.zeros(theirs.shape, np.int32))
    with pytest.raises(TypeError, match="return arrays must be of ArrayType"):
        getattr(weft.fft, name)(a, out=theirs)
    # NumPy does not look at `out` in these.
    if name not in ("hfft", "ifft2", "irfft2"):
        same_error(f"xp.fft.{name}(a, out=xp.zeros({(*theirs.shape[:-1], theirs.shape[-1] + 1)}, xp.complex64))", a)
    for out in (weft.zeros((3, theirs.shape[-1]), theirs.dtype), weft.broadcast_to(weft.asarray(theirs[:1]), theirs.shape)):
        with pytest.raises(ValueError):
            getattr(weft.fft, name)(a, out=out)
    # In place, and the values of a were read before.
    x = weft.asarray(numbers((4, 6), np.complex64))
    before = host(x).copy()
    if name in ("fft", "ifftn"):
        getattr(weft.fft, name)(x, out=x)
        near(host(x), exact(name, before))


def same_error(text, a):
    """What NumPy raises, in the same words."""
    raised = []
    for xp, x in ((np, a), (weft, weft.asarray(a))):
        with pytest.raises(Exception) as error, warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            eval(text, {"xp": xp, "np": np, "a": x})
        raised.append(error.value)
    theirs, ours = raised
    assert isinstance(theirs, type(ours)), f"{text}: NumPy raises {theirs!r}, Weft {ours!r}"
    assert str(ours) == str(theirs), text


@pytest.mark.parametrize("name", ONE)
def test_errors(name):
    a = numbers((3, 4), np.float64)
    for asked in ("n=0", "n=-1", "axis=2", "axis=-3", "n=3, axis=2", "n=3, axis=-3", "norm='x'", "n=2.5", "n='3'", "axis=None", "axis=1.0",
                  "axis=5, norm='x', n=3", "norm='x', n=0"):  # fmt: skip
        same_error(f"xp.fft.{name}(a, {asked})", a)
    with pytest.raises(TypeError, match="an integer is required"):
        getattr(weft.fft, name)(a, n=True)
    for n in (10**30, 1 << 62, 1 << 58):
        with pytest.raises((ValueError, MemoryError)):
            getattr(weft.fft, name)(a, n=n)
    same_error(f"xp.fft.{name}(a)", a[0, 0])
    same_error(f"xp.fft.{name}(a)", a[:, :0])
    same_error(f"xp.fft.{name}(a, axis=0)", a[:0])
    if name in OF_REALS:
        for n in (3, 4):
            same_error(f"xp.fft.{name}(a, n={n})", a.astype(complex))
            same_error(f"xp.fft.{name}(a, n={n}, axis=7)", a.astype(complex))
    if name in ("irfft", "hfft"):
        same_error(f"xp.fft.{name}(a)", a[:, :1])


@pytest.mark.parametrize("name", MANY)
def test_errors_of_many_axes(name):
    a = numbers((3, 4), np.float64)
    for asked in ("s=(2,), axes=(0, 1)", "s=(2, 2, 2), axes=(0, 1)", "axes=(0, 5)", "axes=(-3,)", "s=(3, 0), axes=(0, 1)",
                  "s=(0, 3), axes=(0, 1)", "s=3", "axes=1", "norm='x'", "s=(3, 3), axes=(0, 5)", "s=(3, -1), axes=(0, 5)",
                  "s=(2.5, 2), axes=(0, 1)"):  # fmt: skip
        same_error(f"xp.fft.{name}(a, {asked})", a)
    with pytest.raises(TypeError):
        getattr(weft.fft, name)(a, axes=(0.5, 1))
    same_error(f"xp.fft.{name}(a)", a[:0])
    same_error(f"xp.fft.{name}(a)", a[:, :0])
    same_error(f"xp.fft.{name}(a)", a[0, 0]) if name not in ("fftn", "ifftn") else compare(name, a[0], axes=())
    if name in OF_REALS:
        same_error(f"xp.fft.{name}(a)", a.astype(complex))
    if name in ("rfftn", "irfftn"):
        same_error(f"xp.fft.{name}(a, axes=())", a)
    with pytest.warns(DeprecationWarning, match="`axes` should not be `None`"):
        weft.fft.fftn(a, s=(2, 2))
    with pytest.warns(DeprecationWarning, match="`None` values to `s`"):
        weft.fft.fftn(a, s=(2, None), axes=(0, 1))


def test_no_axes_change_nothing():
    for name in ("fftn", "ifftn"):
        x = weft.asarray(2.0)
        assert getattr(weft.fft, name)(x) is x and getattr(np.fft, name)(np.asarray(2.0)).dtype == np.float64


def test_no_lines():
    for name in ONE:
        compare(name, np.zeros((0, 3)))
        # NumPy's `irfft` gives whatever is there.
        found = getattr(weft.fft, name)(np.zeros((0, 3)), n=2, axis=0)
        assert found.shape == (2, 3) and not weft.any(found)
    for name in ("fftn", "rfftn", "irfftn"):
        compare(name, np.zeros((0, 3)), axes=(1,))
        compare(name, np.zeros((0, 3, 4)), axes=(1, 2))


def test_frequencies():
    for n in ("1", "2", "5", "8", "0", "-3", "np.int64(4)", "4.0", "np.float64(4)", "'4'"):
        for d in ("", ", 0.1", ", d=3", ", 0", ", d=1j", ", np.float32(0.5)"):
            check(f"xp.fft.fftfreq({n}{d})")
            check(f"xp.fft.rfftfreq({n}{d})")
    for function in (weft.fft.fftfreq, weft.fft.rfftfreq):
        assert function(4, dtype=weft.float32).dtype == np.float32
        np.testing.assert_array_equal(host(function(5, d=0.5, dtype=weft.float32)), host(function(5, d=0.5)).astype(np.float32))
        with pytest.raises(TypeError, match="int32"):
            function(4, dtype=weft.int32)


def test_frequencies_on_devices(device):
    x = weft.fft.fftfreq(6, device=device, dtype=weft.float32)
    assert x.device == device
    np.testing.assert_array_equal(host(x), np.fft.fftfreq(6).astype(np.float32))


def test_shifts():
    a = numbers((4, 5), np.int32)
    for name in ("fftshift", "ifftshift"):
        for axes in ("None", "0", "1", "-1", "(0,)", "(0, 1)", "[1]", "(0, 0)", "np.int64(1)", "3", "(0, 2)", "()"):
            check(f"xp.fft.{name}(a, {axes})", a=a)
            check(f"xp.fft.{name}(a, axes={axes})", a=a.T)
        for other in (a[0], a[:, :0], a[0, 0], np.zeros((0,))):
            check(f"xp.fft.{name}(a)", a=other)
        check(f"xp.fft.{name}([1, 2, 3])")


def test_numpys_functions_find_their_way_here():
    a = numbers((4, 6), np.float64)
    x = weft.asarray(a)
    for name in (*ONE, *MANY, "fftshift", "ifftshift"):
        found = getattr(np.fft, name)(x)
        assert isinstance(found, weft.ndarray)
        np.testing.assert_array_equal(host(found), host(getattr(weft.fft, name)(x)))
    near(host(np.fft.fft(x, n=4, axis=0, norm="ortho")), exact("fft", a, 4, 0, "ortho"))


@pytest.mark.parametrize("shape", [(700, 300), (64, 64, 64), (3000, 64)])
def test_threads_change_no_bit(shape):
    a = weft.asarray(numbers(shape, np.complex64))
    works = [
        lambda: weft.fft.fftn(a),
        lambda: weft.fft.irfftn(a),
        lambda: weft.fft.fft(a.real, axis=0),
        lambda: weft.fft.rfft(a.real, 2 * shape[-1]),
    ]
    before, found = weft.get_num_threads(), []
    try:
        for threads in (1, 2, 5):
            weft.set_num_threads(threads)
            found.append([host(work()).tobytes() for work in works])
    finally:
        weft.set_num_threads(before)
    assert found[0] == found[1] == found[2]
    near(host(works[0]()), exact("fftn", host(a)))


def test_threads_of_python():
    """Threads that make and use the same plans at the same time."""
    a = numbers((5, 210), np.float64)
    wanted, found = [exact("rfft", a, n) for n in range(150, 211)], {}

    def work(thread):
        found[thread] = [host(weft.fft.rfft(a, n)) for n in range(150, 211)]

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for each in found.values():
        for ours, theirs in zip(each, wanted, strict=True):
            near(ours, theirs)


FORKS = """
import os, threading, numpy as np, weft, weft.fft
np.fft
stop = False

def work(seed):
    n = seed
    while not stop:
        n = n % 500 + 2
        weft.fft.fft(np.ones((n, 300), np.complex64), axis=0)

threads = [threading.Thread(target=work, args=(seed,), daemon=True) for seed in (3, 200)]
for thread in threads:
    thread.start()
a = np.random.default_rng(0).standard_normal((400, 300))
for n in range(6):
    child = os.fork()
    if child == 0:
        os._exit(0 if np.allclose(weft.asnumpy(weft.fft.fft2(a, (400, 301 + n))), np.fft.fft2(a, (400, 301 + n))) else 3)
    _, status = os.waitpid(child, 0)
    assert status == 0, status
stop = True
for thread in threads:
    thread.join()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_forks_during_transforms_of_other_threads():
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKS], timeout=120, check=True, env={**os.environ, "WEFT_NUM_THREADS": "2"})


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")
def test_an_interrupt_ends_a_transform():
    a = np.ones((3000, 1009), np.complex64)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        with pytest.raises(KeyboardInterrupt):
            for _ in range(1000):
                weft.fft.fft2(a)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_devices(device):
    a = numbers((4, 6), np.float32)
    x = weft.asarray(a, device=device)
    for name in (*ONE, *MANY):
        found = getattr(weft.fft, name)(x)
        assert found.device == device
        near(host(found), exact(name, a))
    assert weft.fft.fftshift(x).device == device


def test_captured():
    def low_pass(x):
        spectrum = weft.fft.rfft2(x, norm="ortho")
        return weft.fft.irfft2(spectrum * (weft.abs(weft.fft.fftfreq(x.shape[0]))[:, None] < 0.2), x.shape, norm="ortho") + 1

    captured = weft.compile(low_pass)
    for seed in range(3):
        a = weft.asarray(numbers((8, 6), np.float64, seed))
        np.testing.assert_array_equal(host(captured(a)), host(low_pass(a)))
    assert captured.captures == 1
    out = weft.compile(lambda x, out: weft.fft.fft(x, out=out))
    place = weft.zeros(5, weft.complex128)
    for seed in range(3):
        a = numbers(5, np.float64, seed)
        out(weft.asarray(a), place)
        near(host(place), exact("fft", a))


def test_lengths_that_elements_decide_are_not_captured():
    with pytest.raises(CaptureError):
        weft.compile(lambda x: weft.fft.fft(x, n=int(x[0])))(weft.asarray([2.0, 3.0]))


def test_found_when_it_is_used():
    code = (
        "import sys, weft; assert 'weft.fft' not in sys.modules; assert weft.fft.fft is weft.fft.transforms.fft; assert 'fft' in dir(weft)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert set(weft.fft.__all__) == {name for name in np.fft.__all__ if name != "test"}


@pytest.mark.parametrize("name", weft.fft.__all__)
def test_signatures(name):
    ours, theirs = (inspect.signature(getattr(xp.fft, name)).parameters for xp in (weft, np))
    assert [(p.name, p.default) for p in ours.values() if p.name != "dtype"] == [(p.name, p.default) for p in theirs.values()]


@pytest.mark.parametrize("name", weft.fft.__all__)
def test_examples(name):
    function = getattr(weft.fft, name)
    examples = doctest.DocTestParser().get_doctest(function.__doc__, {"weft": weft}, name, None, 0)
    assert examples.examples
    shown = []
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE, verbose=False).run(examples, out=shown.append)
    assert not shown, "".join(shown)

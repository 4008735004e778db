"""`weft.fft` of arrays on devices: kernels of our own, against NumPy in extended precision, and nothing by way of the host.

Bounds are those of `test_fft`. Devices here are software, so that arrays are small.
"""

from __future__ import annotations

import math
import threading
import warnings

import ml_dtypes
import numpy as np
import pytest

import weft
import weft.fft
from weft import _weft
from weft.kernels import fourier

from .against_numpy import ALL, host
from .test_fft import MANY, NORMS, OF_REALS, ONE, exact, near, numbers

DEVICES = [each for each in {each.kind: each.name for each in reversed(weft.devices())}.values() if not each.startswith("cpu")]
SMALL = [each.name for each in weft.devices() if not each.float64 and each.kind != "cpu"][:1]
pytestmark = [
    pytest.mark.skipif(not DEVICES, reason="there is no device but the CPU"),
    pytest.mark.usefixtures("own_kernels"),
]
LENGTHS = (*range(1, 41), 64, 100, 127, 128, 210, 243, 256, 343, 625, 1000, 1009, 1024)
# Those that take several passes, on lines of single and of double precision.
LONG = (512, 1024, 1025, 2048, 2187, 4099, 12000, 16807, 1 << 15)


@pytest.fixture(params=DEVICES, autouse=True)
def there(request):
    """A device that is not the CPU."""
    with weft.device(request.param) as chosen:
        yield chosen


def compare(name, a, *args, ours=None, **keywords):
    """A function of an array on the device: nothing goes by the host, and it gives what NumPy does."""
    x = weft.asarray(a) if ours is None else ours
    weft.eval(x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        before = _weft._sync_count()
        found = getattr(weft.fft, name)(x, *args, **keywords)
        weft.eval(found)
        shown = f"{name} of {a.dtype}{a.shape} {args} {keywords}"
        assert _weft._sync_count() == before, shown
        theirs = getattr(np.fft, name)(a, *args, **keywords)
    assert found.device == x.device == weft.current_device(), shown
    found = host(found)
    assert (found.dtype, found.shape) == (theirs.dtype, theirs.shape), shown
    if theirs.size:
        near(found, exact(name, a, *args, **keywords), shown)
    return found


def of(name, dtype):
    """The dtype of what a function takes in a precision."""
    return np.dtype({"f": "f4", "d": "f8"}[dtype] if name in OF_REALS else {"f": "c8", "d": "c16"}[dtype])


@pytest.mark.parametrize("precision", ["f", "d"])
def test_lengths(precision):
    for n in LENGTHS:
        for name in ONE:
            dtype = of(name, precision)
            if name in ("irfft", "hfft"):
                compare(name, numbers(n // 2 + 1, dtype, n), n)
            elif n < 41 or name in ("ifft", "rfft"):
                compare(name, numbers((3, n) if n % 3 == 0 else n, dtype, n))


@pytest.mark.parametrize("precision", ["f", "d"])
def test_long_lines(precision):
    for n in LONG:
        compare("fft", numbers(n, of("fft", precision), n))
        compare("ifft", numbers((n, 2), of("fft", precision), n), axis=0) if n < 3000 else None
        compare("rfft", numbers(n, of("rfft", precision), n))
        compare("irfft", numbers(n // 2 + 1, of("irfft", precision), n), n)


def test_what_passes_are_made_of():
    for room in (512, 1024):
        for side_by_side in (False, True):
            for n in (1, 2, 1 << 30, 7**11, 3**20, 5**13, 15120, 2 * 3 * 5 * 7, *range(1, 3000)):
                if fourier.is_smooth(n):
                    sizes = fourier.sizes_of(n, room, side_by_side)
                    assert math.prod(sizes) == n and max(sizes) <= room
                    assert len(sizes) <= math.log(n, 128) + 2.5


@pytest.mark.parametrize("dtype", ALL)
def test_dtypes(dtype):
    a = numbers((3, 6), dtype)
    for name in (*ONE, "rfft2", "irfftn"):
        if name in OF_REALS and np.dtype(dtype).kind == "c":
            with pytest.raises(TypeError, match="not supported for the input types"):
                getattr(weft.fft, name)(weft.asarray(a))
        else:
            compare(name, a)


def test_bfloat16():
    a = weft.asarray(np.arange(8.0).astype(ml_dtypes.bfloat16))
    assert weft.fft.fft(a).dtype == np.complex64 and weft.fft.irfft(a).dtype == weft.bfloat16.dtype
    near(host(weft.fft.fft(a)), exact("fft", np.arange(8.0)))


@pytest.mark.parametrize("name", ONE)
def test_parts_of_lines_and_norms(name):
    for size in (1, 2, 5, 8):
        for at, n in enumerate((None, 1, 2, 3, 4, 7, 8, 9, 11, 16)):
            if not (n is None and size == 1 and name in ("irfft", "hfft")):
                a = numbers((2, size, 3), np.float32 if name in OF_REALS else np.complex64)
                compare(name, a, n, 1, NORMS[at % 4])
    # Lines that the array does not have.
    found = getattr(weft.fft, name)(weft.zeros((0, 3), np.float32), n=2, axis=0)
    assert found.shape == (2, 3) and not weft.any(found)
    compare(name, np.zeros((0, 3), np.float32))


@pytest.mark.parametrize("name", ONE)
def test_axes(name):
    a = numbers((3, 4, 5), np.float32 if name in OF_REALS else np.complex64)
    for axis in (-3, -2, -1):
        compare(name, a, axis=axis)
    # More lines side by side than are in a block.
    compare(name, numbers((9, 300), np.float32), axis=0)
    compare(name, numbers((260, 5), np.float32), axis=0)
    compare(name, numbers((2, 11, 2, 3), np.float32), axis=1)


@pytest.mark.parametrize("name", MANY)
def test_many_axes(name):
    a = numbers((3, 4, 5), np.float32)
    for axes in [None, (0,), (1, 0), (0, 2), (2, 1, 0), (0, 1, 2), (1, 1), (0, 2, 0)]:
        if axes is None and name.endswith("2"):
            continue
        compare(name, a, axes=axes)
        for s in [(3, 4, 6), (5, 2, 2), (2, 7, 1)] if axes is not None else []:
            compare(name, a, s=s[: len(axes)], axes=axes, norm="ortho")
    compare(name, a[:, :0], axes=(0, 2))
    for norm in NORMS:
        compare(name, a, norm=norm)


def test_strides():
    whole = numbers((6, 8, 10), np.complex64)
    views = ["[::-1]", "[:, ::2]", "[..., ::-3]", "[1:, 1:5, 2:9]", ".T", ".transpose(1, 0, 2)", "[:, 3]", ".real", ".imag", "[::2, 0]"]
    for view in views:
        a, ours = (eval(f"x{view}", {"x": x}) for x in (whole, weft.asarray(whole)))
        for name in ("ifft", "irfft2"):
            compare(name, a, ours=ours)
        compare("fft", a, axis=0, ours=ours)
    compare("fft", np.broadcast_to(whole[0, 0], (4, 10)), axis=0, ours=weft.broadcast_to(weft.asarray(whole[0, 0]), (4, 10)))
    # What is not yet computed.
    x = weft.asarray(whole)
    near(host(weft.fft.fft(x * 2 + 1)), exact("fft", whole * 2 + 1))


def test_lines_do_not_mix():
    """Neither a NaN nor a large number in one line makes a difference to the lines beside it."""
    for n in (9, 11):
        a = numbers((40, n), np.float32)
        clean = [host(weft.fft.fft(weft.asarray(x), axis=axis)) for x, axis in ((a, 1), (a.T, 0))]
        a[3], a[4, 2] = 1e30, np.nan
        for before, x, axis in zip(clean, (a, a.T), (1, 0)):
            after = host(weft.fft.fft(weft.asarray(np.ascontiguousarray(x)), axis=axis))
            rows = [i for i in range(40) if i not in (3, 4)]
            np.testing.assert_array_equal(after.take(rows, 1 - axis), before.take(rows, 1 - axis))
            assert np.isnan(after.take(4, 1 - axis)).all()


def test_transforms_of_reals_are_real_at_their_ends():
    for n in (6, 11, 22, 64, 1500):
        for made in (weft.fft.rfft(weft.asarray(numbers(n, np.float32))), weft.fft.fft(weft.asarray(numbers(n, np.float32)))):
            found = host(made)
            assert found[0].imag == 0 and (n % 2 == 1 or found[n // 2].imag == 0)


@pytest.mark.parametrize("name", [*ONE, *MANY])
def test_out(name):
    a = numbers((4, 6), np.float32)
    x = weft.asarray(a)
    theirs = getattr(np.fft, name)(a)
    for out in (weft.zeros(theirs.shape, theirs.dtype), weft.zeros((*theirs.shape[:-1], 2 * theirs.shape[-1]), theirs.dtype)[..., ::2]):
        before = _weft._sync_count()
        assert getattr(weft.fft, name)(x, out=out) is out
        weft.eval(out)
        assert _weft._sync_count() == before and out.device == x.device
        near(host(out), exact(name, a))
    if name in ("fft", "ifftn"):
        z = weft.asarray(a.astype(np.complex64))
        getattr(weft.fft, name)(z, out=z)
        near(host(z), exact(name, a))


def test_captured():
    """A graph for two shapes, and tables that are first needed where it is captured."""

    def low_pass(x):
        spectrum = weft.fft.rfft2(x, norm="ortho")
        return weft.fft.irfft2(spectrum * (weft.arange(x.shape[0], dtype=np.float32)[:, None] < 3), x.shape, norm="ortho") + 1

    fourier._tables.renew()
    captured = weft.compile(low_pass)
    for shape in ((13, 6), (8, 17)):
        for seed in range(3):
            a = weft.asarray(numbers(shape, np.float32, seed))
            weft.eval(a)
            before = _weft._sync_count()
            found = captured(a)
            weft.eval(found)
            assert seed == 0 or _weft._sync_count() == before
            np.testing.assert_array_equal(host(found), host(low_pass(a)))
    assert captured.captures == 2
    out = weft.compile(lambda x, out: weft.fft.fft(x, out=out))
    place = weft.zeros(5, weft.complex64)
    for seed in range(3):
        a = numbers(5, np.float32, seed)
        out(weft.asarray(a), place)
        near(host(place), exact("fft", a))


def test_tables_are_few_and_made_by_several_threads_at_once():
    kept, found = fourier._Kept(10), {}
    for n in range(8):
        found[n] = kept.get(n, lambda: (weft.zeros(4),))
        assert kept.get(n, lambda: ()) is found[n]
    assert kept.get(7, lambda: ()) is found[7] and kept.get(0, lambda: ()) == ()
    fourier._tables.renew()
    a, results = numbers((2, 100), np.float32), {}

    def work(thread):
        results[thread] = [host(weft.fft.rfft(x, n)) for n in range(90, 100)]

    x = weft.asarray(a)
    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for each in range(3):
        for n, ours in zip(range(90, 100), results[each], strict=True):
            near(ours, exact("rfft", a, n))


def test_errors():
    x = weft.asarray(numbers((3, 4), np.float32))
    for work, error in (
        (lambda: weft.fft.fft(x, 0), ValueError),
        (lambda: weft.fft.fft(x, axis=2), IndexError),
        (lambda: weft.fft.fft(x, norm="x"), ValueError),
        (lambda: weft.fft.irfft(x[:, :1]), ValueError),
        (lambda: weft.fft.fft(x, out=weft.zeros((3, 5), np.complex64)), ValueError),
        (lambda: weft.fft.fft(x, 1 << 60), (ValueError, MemoryError)),
        (lambda: weft.fft.fft(x, (1 << 60) - 1), (ValueError, MemoryError)),
    ):
        with pytest.raises(error):
            work()


def test_convolutions_by_transforms():
    """`weft.scipy.signal.fftconvolve` is made of these."""
    import weft.scipy.signal

    a, b = numbers(50, np.float32), numbers(20, np.float32)
    x, y = weft.asarray(a), weft.asarray(b)
    weft.eval(x, y)
    before = _weft._sync_count()
    found = weft.scipy.signal.fftconvolve(x, y)
    weft.eval(found)
    assert _weft._sync_count() == before and found.device == x.device
    np.testing.assert_allclose(host(found), np.convolve(a, b), atol=1e-4)


@pytest.mark.skipif(not SMALL, reason="there is no GPU without float64: SwiftShader could not be fetched")
def test_devices_without_float64():
    with weft.device(SMALL[0]):
        # One kernel: the driver takes seconds for each.
        compare("rfft", numbers((2, 60), np.float32))
        with pytest.raises(Exception, match="float64"):
            weft.fft.fft(weft.ones(3, np.int32))


def test_more_elements_than_32_bits_count(there, monkeypatch):
    monkeypatch.setattr(fourier, "_NARROW", 0)
    for n in (60, 11, 1200):
        compare("fft", numbers((3, n), np.complex64))

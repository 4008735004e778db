"""GPUs with neither float64 nor 64-bit integers: Python's floats are float32 there, its integers 32 bits where that is enough, and what is
not is refused by line. SwiftShader, a Vulkan driver for the CPU, is such a device; `scripts/setup.sh` fetches it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import weft
from weft import cli, cuda, demo

SMALL = [device.name for device in weft.devices() if not device.float64 and not device.int64][:1]
pytestmark = pytest.mark.skipif(not SMALL, reason="there is no GPU without float64: SwiftShader could not be fetched")


@pytest.fixture
def small():
    with weft.device(SMALL[0]) as chosen:
        yield chosen


def told(kernel, *args):
    """The warnings of a launch."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kernel.forall(args[0].shape)(*args)
    return [str(one.message) for one in caught if one.category is weft.PrecisionWarning]


def test_it_says_so(small, capsys):
    assert not small.float64 and not small.int64
    assert weft.device("cpu").float64 and weft.device("cpu").int64
    assert cli.main(["info"]) == 0
    assert "no float64: Python's floats are float32" in capsys.readouterr().out


def test_devices_with_float64_come_first(small):
    kinds = [device for device in weft.devices() if device.kind == small.kind and device.software == small.software]
    assert [device.float64 for device in kinds] == sorted((device.float64 for device in kinds), reverse=True)


def test_weak_floats_are_float32_and_a_warning_says_so_once(small):
    @cuda.jit(fma=False)
    def line(out, start, stop):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = start + i * (stop - start) / out.size

    out = np.empty(1000, np.float32)
    (said,) = told(line, out, 0.1, 0.7)
    assert "float32" in said and small.name in said and "start + i * (stop - start) / out.size" in said and "test_small_gpus.py" in said
    assert told(line, out, 0.1, 0.7) == []
    start, stop, i = np.float32(0.1), np.float32(0.7), np.arange(1000, dtype=np.float32)
    np.testing.assert_array_equal(out, start + i * (stop - start) / np.float32(1000))


def test_what_is_float32_everywhere_needs_no_warning(small):
    @cuda.jit
    def saxpy(y, a, x):
        i = cuda.grid(1)
        if i < y.size:
            y[i] += a * x[i] + 0.5

    y, x = np.ones(100, np.float32), np.arange(100, dtype=np.float32)
    assert told(saxpy, y, 2.0, x) == []
    np.testing.assert_array_equal(y, 2 * x + np.float32(1.5))


def test_complex_numbers(small):
    @cuda.jit
    def turn(out, x, z):
        i = cuda.grid(1)
        out[i] = z * complex(x, i) * 1j

    out = np.empty(8, np.complex64)
    assert len(told(turn, out, 0.5, 1 + 2j)) == 1
    np.testing.assert_allclose(out, (1 + 2j) * (0.5 + 1j * np.arange(8)) * 1j, rtol=1e-6)


def test_ufuncs(small):
    @weft.vectorize(target="cuda")
    def scaled(x, a):
        return a * x + 0.1

    x = np.arange(100, dtype=np.float32)
    got = scaled(x, 0.3)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, np.float32(0.3) * x + np.float32(0.1), rtol=2e-7)


@pytest.mark.parametrize(
    "array, message",
    [
        (np.zeros(8), r"no float64, and a is an array of float64: make it one of float32 \(a.astype\(np.float32\)\)"),
        (np.zeros(8, np.complex128), r"no float64, and a is an array of complex128: make it one of complex64"),
        (np.zeros(8, np.int64), r"no 64-bit integers, and a is an array of int64: make it one of int32 \(a.astype\(np.int32\)\)"),
        (np.zeros(8, np.uint64), r"no 64-bit integers, and a is an array of uint64: make it one of uint32"),
    ],
)
def test_wide_arrays_are_refused_by_line(small, array, message):
    @cuda.jit
    def grow(a):
        i = cuda.grid(1)
        a[i] += 1

    with pytest.raises(weft.UnsupportedError, match=message) as error:
        grow.forall(8)(array)
    assert "a[i] += 1" in str(error.value) and "test_small_gpus.py" in str(error.value)


def test_strong_float64_is_refused_by_line(small):
    @cuda.jit
    def half(out, n):
        out[0] = np.int32(n) / 2

    with pytest.raises(weft.UnsupportedError, match=r"no float64, .*: make it float32") as error:
        half[1, 1](np.zeros(1, np.float32), 3)
    assert "np.int32(n) / 2" in str(error.value)


def test_floats_of_numba_are_refused_with_a_hint(small):
    @weft.numba.cuda.jit
    def third(out, x):
        out[0] = x / 3.0

    with pytest.raises(weft.UnsupportedError, match=r"no float64, .*`from weft import njit, cuda`") as error:
        third[1, 1](np.zeros(1, np.float32), 2.5)
    assert "x / 3.0" in str(error.value)


@cuda.jit
def by_hand(a):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < a.size:
        a[i] = i


@cuda.jit
def striding(a):
    i = cuda.grid(1)
    while i < a.size:
        a[i] = i
        i += cuda.gridsize(1)


@cuda.jit
def halving(a):
    i = cuda.grid(1)
    step = cuda.blockDim.x // 2
    rounds = np.int32(0)
    while step > 0:
        rounds += 1
        step //= 2
    if i < a.size:
        a[i] = i + 0 * rounds


@cuda.jit
def pixels(a):
    """Three elements of each pixel: three times as many as 30 bits hold are too many for 32, so code is made for the sizes at hand."""
    i = cuda.grid(1)
    for channel in range(3):
        if 3 * i + channel < a.size:
            a[3 * i + channel] = 3 * i + channel


@pytest.mark.parametrize("kernel", [by_hand, striding, halving, pixels])
@pytest.mark.parametrize("size", [1, 100, 5000, 100_000])
def test_python_integers_fit_32_bits(small, kernel, size):
    a = np.zeros(size, np.int32)
    kernel[max(1, size // 300), 128](a) if kernel is striding else kernel.forall(size)(a)
    np.testing.assert_array_equal(a, np.arange(size))


def test_integers_that_may_grow_are_refused_by_line(small):
    @cuda.jit
    def count(a):
        n = 0
        while a[n % a.size] > 0:
            n += n + 1
        a[0] = n

    with pytest.raises(weft.UnsupportedError, match=r"no 64-bit integers, and .* is not known to fit 32 bits: make it int32") as error:
        count[1, 1](np.zeros(4, np.float32))
    assert "-->" in str(error.value)


def test_large_blocks_say_what_to_do(small):
    if small.limits()["threads_per_block"] >= 1024:
        pytest.skip("it takes blocks of 1024")
    with pytest.raises(weft.LaunchError, match=r"a block may have \d+ threads: got \(1024, 1, 1\).*\.forall\(shape\)"):
        by_hand[1, 1024](np.zeros(1024, np.int32))


def test_the_demo_computes_in_what_the_device_has(small, tmp_path, capsys):
    assert cli.main(["demo", "--sizes", "48", "--out", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert f"{small.name} (software) float32" in out and "left out" not in out + err
    assert "PrecisionWarning" not in err


def test_the_demo_picture(small):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", weft.PrecisionWarning)
        image, wanted = np.zeros((96, 96), np.uint16), np.zeros((96, 96), np.uint16)
        demo.mandelbrot.forall(image.shape)(*demo.VIEW, image, demo.LIMIT)
    with weft.device("cpu"):
        demo.mandelbrot.forall(wanted.shape)(*demo.VIEW, wanted, demo.LIMIT)
    assert (image == wanted).mean() > 0.98


def test_the_validation_layer_has_nothing_to_say(small, tmp_path):
    """Kernels with barriers, warps, shared memory, copies, streams on each Vulkan driver, under Khronos' validation layer."""
    log = tmp_path / "messages.txt"
    (tmp_path / "vk_layer_settings.txt").write_text(
        "khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG\n"
        "khronos_validation.report_flags = error,warn\n"
        f"khronos_validation.log_filename = {log}\n"
    )
    layer = {"VK_INSTANCE_LAYERS": "VK_LAYER_KHRONOS_validation", "VK_LAYER_SETTINGS_PATH": str(tmp_path)}
    tests = Path(__file__).parent.parent
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "vulkan"]
    files = [tests / "kernels" / "test_kernels.py", tests / "python" / "test_streams.py", tests / "python" / "test_cuda_memory.py"]
    run = subprocess.run([*command, *map(str, files)], env={**os.environ, **layer}, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout
    assert log.exists(), "the layer is not there: scripts/setup.sh fetches it"
    assert log.read_text() == ""


@pytest.mark.parametrize("n", [1, 100, 128, 1000])
def test_arrays_of_numbers_in_a_row(small, n):
    """Indices are computed in 32 bits there, however long an array is."""
    for dtype in (np.int32, np.uint8, np.float32, np.complex64, bool):
        np.testing.assert_array_equal(weft.asnumpy(weft.eye(n, n + 3, 2, dtype=dtype)), np.eye(n, n + 3, 2, dtype=dtype))
        np.testing.assert_array_equal(weft.asnumpy(weft.tri(n, k=-1, dtype=dtype)), np.tri(n, k=-1, dtype=dtype))
    for dtype in (np.int32, np.int16, np.float32):
        theirs = np.arange(5, 5 + 7 * n * 30, 7, dtype=dtype)
        ours = weft.arange(5, 5 + 7 * n * 30, 7, dtype=dtype)
        np.testing.assert_array_equal(weft.asnumpy(ours), theirs)
        np.testing.assert_array_equal(weft.asnumpy(ours[::-3] + ours[:1]), theirs[::-3] + theirs[:1])
        np.testing.assert_array_equal(weft.asnumpy(ours.reshape(30, n)[::-2] + ours[:n]), theirs.reshape(30, n)[::-2] + theirs[:n])
    assert int(weft.arange(-30 * n, 30 * n, dtype=np.int32).max()) == 30 * n - 1


def test_quotients_and_roots_of_subnormal_numbers(small):
    """Their results are normal numbers: the operands' bits are looked at, as products take them for zeros there."""
    v = np.array([1, 2, 3, 5, 0x400000, 0x7FFFFF], np.uint32).view(np.float32)
    x = weft.asarray(v, device=small)
    np.testing.assert_array_equal(weft.asnumpy(weft.sqrt(x)), np.sqrt(v))
    np.testing.assert_array_equal(weft.asnumpy(x / x[::-1]), v / v[::-1])
    np.testing.assert_array_equal(weft.asnumpy(-x / x), -v / v)

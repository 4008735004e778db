"""GPUs of other drivers than CUDA's: where they are found, what they can do, and what they say of what they cannot.

Linux has Mesa's driver for the CPU among what `scripts/setup.sh` installs, so that there is always one of them.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import pytest

import weft
from weft import cuda

KINDS = ("vulkan", "metal", "dx12")
GPUS = [device.name for device in weft.devices() if device.kind in KINDS][:1]


@pytest.fixture(params=GPUS)
def gpu(request):
    """The first GPU that is no CUDA device."""
    with weft.device(request.param) as chosen:
        yield chosen


def told(code: str, **env: str) -> str:
    """What a program prints in another environment."""
    base = {name: value for name, value in os.environ.items() if name not in ("WEFT_DEVICE", "WEFT_GPU")}
    run = subprocess.run([sys.executable, "-c", code], env={**base, **env}, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


@pytest.mark.skipif(sys.platform != "linux", reason="Mesa's driver for the CPU is installed on Linux")
def test_linux_has_one():
    assert weft.device("vulkan") == weft.device("vulkan:0")
    assert weft.device("vulkan:0").kind == "vulkan"


def test_the_environment_chooses(gpu):
    name = "import weft; print(weft.current_device().name)"
    assert told(name, WEFT_DEVICE=gpu.kind) == gpu.name
    assert told("import weft; print([one.kind for one in weft.devices()])", WEFT_GPU="none", WEFT_CUDA_DRIVER="none") == "['cpu']"
    if gpu.software:
        assert told(name, WEFT_CUDA_DRIVER="none") == "cpu"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_work_on_the_cpu_asks_no_gpu_driver(tmp_path):
    program = tmp_path / "work.py"
    program.write_text("""
import numpy as np, weft
from weft import cuda
@cuda.jit
def fill(a):
    a[cuda.grid(1)] = 1
a = np.zeros(8)
fill[1, 8](a)
print(a.sum(), "libvulkan" in open("/proc/self/maps").read())
""")
    run = f"import runpy; runpy.run_path({str(program)!r})"
    assert told(run, WEFT_DEVICE="cpu") == "8.0 False"


def test_info_lists_them(gpu):
    run = subprocess.run([sys.executable, "-m", "weft.cli", "info"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert any(line.startswith(gpu.name) and gpu.description in line for line in lines)
    assert any(line.startswith("gpu ") and gpu.description in line for line in lines)


@cuda.jit
def block_sums(values, sums):
    """Threads beyond the end leave before the barriers."""
    part = cuda.shared.array(64, np.float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    part[t] = 0
    cuda.syncthreads()
    if i >= values.size:
        return
    part[t] = values[i]
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if t < half:
            part[t] += part[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]


@cuda.jit
def total(values, out):
    """The first warp adds up what the warps have found."""
    parts = cuda.shared.array(32, np.int64)
    i = cuda.grid(1)
    value = values[i] if i < values.size else 0
    for step in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
    warp = cuda.threadIdx.x // 32
    if cuda.laneid == 0:
        parts[warp] = value
    cuda.syncthreads()
    if warp == 0:
        value = parts[cuda.laneid] if cuda.laneid < cuda.blockDim.x // 32 else 0
        for step in (16, 8, 4, 2, 1):
            value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
        if cuda.laneid == 0:
            out[cuda.blockIdx.x] = value


def test_threads_that_end_early_hold_up_nobody(gpu):
    values = np.arange(100, dtype=np.float32)
    sums = np.zeros(3, np.float32)
    block_sums[3, 64](values, sums)
    np.testing.assert_array_equal(sums, [values[:64].sum(), values[64:].sum(), 0])


def test_one_warp_goes_on_alone(gpu):
    values = np.arange(500)
    out = np.zeros(2, np.int64)
    total[2, 256](values, out)
    np.testing.assert_array_equal(out, [values[:256].sum(), values[256:].sum()])


def test_a_barrier_that_some_threads_miss_is_refused_as_on_the_cpu(gpu):
    @cuda.jit
    def half(a):
        if cuda.threadIdx.x < 4:
            cuda.syncthreads()
        a[cuda.grid(1)] = 1
        cuda.syncthreads()

    said = []
    for device in (weft.device("cpu"), gpu):
        with device, pytest.raises(weft.UnsupportedError, match="a barrier that not all threads of a block may reach") as error:
            half[1, 8](np.zeros(8))
        said.append(str(error.value))
    assert said[0] == said[1]


def test_exceptions_of_kernels_name_the_thread(gpu):
    @cuda.jit
    def positive(a):
        i = cuda.grid(1)
        if a[i] < 0:
            raise ValueError("negative")
        cuda.syncthreads()
        a[i] += 1

    a = cuda.to_device(np.array([1.0, 2.0, -1.0, 3.0]))
    positive[1, 4](a)
    with pytest.raises(ValueError, match="negative"):
        cuda.synchronize()
    np.testing.assert_array_equal(a.copy_to_host(), [2, 3, -1, 4])


def test_what_it_cannot_do_it_says(gpu):
    @cuda.jit
    def waits(a):
        cuda.cg.this_grid().sync()
        a[cuda.grid(1)] = 1

    with pytest.raises(weft.UnsupportedError, match="cannot let the whole grid wait"):
        waits[2, 8](np.zeros(16))
    for make in (cuda.managed_array, cuda.mapped_array):
        with pytest.raises(weft.WeftError, match="do not address the host's"):
            make(8, np.float32)
    with pytest.raises(weft.WeftError, match="streams of other libraries"):
        cuda.external_stream(1234)


def test_other_libraries_get_copies_only(gpu):
    array = cuda.to_device(np.arange(6.0).reshape(2, 3))
    with pytest.raises(AttributeError, match=f"on {gpu.name}, not on a CUDA device"):
        _ = array.__cuda_array_interface__
    assert not hasattr(array, "__cuda_array_interface__")
    with pytest.raises(BufferError, match="copy=True"):
        array.__dlpack__()
    with pytest.raises(BufferError, match="copy=True"):
        array.__dlpack__(copy=False)
    assert array.__dlpack_device__()[0] == {"vulkan": 7, "metal": 8, "dx12": 12}[gpu.kind]
    for lent in (array.__dlpack__(copy=True), array.__dlpack__(dl_device=(1, 0))):
        with weft.device("cpu"):
            taken = cuda.from_dlpack(lent)
        assert taken.device.kind == "cpu"
        np.testing.assert_array_equal(taken.copy_to_host(), np.arange(6.0).reshape(2, 3))


def test_arrays_of_two_devices_in_one_launch(gpu):
    ours = cuda.to_device(np.zeros(4))
    for other in weft.devices():
        if other in (gpu, weft.device("cpu")):
            continue
        theirs = ours.to(other)
        with pytest.raises(weft.WeftError):
            add[1, 4](ours, theirs)


@cuda.jit
def add(a, b):
    i = cuda.grid(1)
    a[i] += b[i]


def test_zeros_that_a_driver_could_compute_itself(gpu):
    """Mesa's driver for the CPU takes `x * 0` for 0 and an absolute value for its argument where it sees what that is."""

    @cuda.jit(fma=False)
    def zeros(p, out):
        x = np.float32(1)
        for _ in range(2):
            x -= np.float32(0.5)
        out[0] = p[0] * x
        y = np.float32(0.25) - np.float32(0.25) if p[1] > 0 else np.float32(0.5) * np.float32(0)
        out[1] = p[0] * y
        out[2] = p[0] * np.float32(np.float16(1e-9))
        out[3] = p[2] / x
        out[4] = p[1] - p[1] + x
        out[5] = abs(np.sqrt(p[3]))
        out[6] = np.fabs(np.sqrt(p[3]))
        out[7] = np.float32(abs(np.sqrt(np.float16(p[3]))))
        out[8] = math.copysign(np.float32(1), abs(np.sqrt(p[3] * np.float32(1))))

    p = np.array([np.nan, 1, 3, -0.0], np.float32)
    out = np.ones(9, np.float32)
    zeros[1, 1](p, out)
    np.testing.assert_array_equal(out, np.array([np.nan, np.nan, np.nan, np.inf, 0, 0, 0, 0, 1], np.float32))
    assert not np.signbit(out[4:8]).any()

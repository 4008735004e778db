"""The names of `weft.cupy` and `weft.cupyx`: what they do, what they refuse, and the examples in their docstrings."""

from __future__ import annotations

import doctest
import importlib
import io
import subprocess
import sys
import threading

import numpy as np
import pytest

import weft
import weft.cupy as cp
import weft.cupyx as cupyx
from weft.cupyx import jit
from weft.errors import UnsupportedError

PLACES = [("weft.cupy", name) for name in sorted(cp.NAMES) if name not in ("RawKernel", "RawModule")]
PLACES += [("weft.cupyx", name) for name in cupyx.__all__ if name not in ("jit", "profiler", "scipy")]
PLACES += [("weft.cupyx.jit", "rawkernel"), ("weft.cupyx.profiler", "benchmark")]


@pytest.mark.parametrize("module, name", PLACES)
def test_examples(module: str, name: str) -> None:
    value = getattr(importlib.import_module(module), name)
    examples = doctest.DocTestParser().get_doctest(value.__doc__ or "", {"cupy": cp, "cupyx": cupyx, "np": np}, name, None, 0)
    assert examples.examples, "a public name has an example"
    shown: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE, verbose=False).run(examples, out=shown.append)
    assert not shown, "".join(shown)


def test_the_namespace_is_wefts() -> None:
    assert cp.ndarray is weft.ndarray and cp.sin is weft.sin and cp.float32 is np.float32 and cp.pi == np.pi
    assert {"ElementwiseKernel", "sum", "cuda", "ndarray"} <= set(dir(cp))
    for name in ("no_such_name", "njit", "Device"):
        with pytest.raises(AttributeError, match=r"weft\.cupy"):
            getattr(cp, name)
    for name in ("linalg", "fft", "random"):
        if hasattr(weft, name):
            assert importlib.import_module(f"weft.cupy.{name}") is getattr(weft, name) is getattr(cp, name)
        else:
            with pytest.raises(ModuleNotFoundError, match=name):
                importlib.import_module(f"weft.cupy.{name}")
    text = "import weft.cupy, sys; assert 'weft.arrays' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", text], check=False).returncode == 0


def test_to_and_from_numpy() -> None:
    x = cp.array([[1, 2], [3, 4]], dtype=cp.float32)
    host = cp.asnumpy(x)
    host[0, 0] = 9
    assert x[0, 0] == 1 and cp.asnumpy(x, order="F").flags.f_contiguous and not x.get().flags.writeable
    out = np.zeros((2, 2), np.float32)
    assert cp.asnumpy(x, out=out) is out and x.get(out=out) is out and out[1, 1] == 4
    with pytest.raises(ValueError, match="Shape mismatch"):
        x.get(out=np.zeros(2, np.float32))
    with pytest.raises(TypeError, match="cannot be obtained"):
        x.get(out=np.zeros((2, 2)))
    x.set(np.full((2, 2), 5, np.float32))
    assert x.tolist() == [[5, 5], [5, 5]]
    for wrong, error in ((np.zeros(2, np.float32), ValueError), (np.zeros((2, 2)), TypeError), ([1], TypeError)):
        with pytest.raises(error):
            x.set(wrong)
    with pytest.raises(AttributeError, match="no pointer"):
        _ = x.data.ptr
    assert cp.get_array_module(np.ones(1), x) is cp and cp.get_array_module(np.ones(1)) is np
    with pytest.raises(UnsupportedError):
        cp.array([1], subok=True)


def test_files() -> None:
    file = io.BytesIO()
    cp.savez(file, cp.arange(2), b=cp.ones(3))
    file.seek(0)
    with cp.load(file) as found:
        assert found.files == ["b", "arr_0"] and found["b"].tolist() == [1, 1, 1] and isinstance(found["arr_0"], cp.ndarray)


def test_pools(device: weft.Device) -> None:
    pool = cp.get_default_memory_pool()
    before = pool.used_bytes()
    x = cp.arange(1_000_000.0).wait()
    assert pool.used_bytes() - before >= 8_000_000 and pool.total_bytes() >= pool.used_bytes()
    del x
    if device.kind == "cpu":
        assert pool.free_bytes() >= 8_000_000, "kept for the next array"
    pool.free_all_blocks()
    # On some devices a little is always kept: what lies in one piece with what others hold.
    assert pool.free_bytes() < 100_000
    if pool.free_bytes() == 0:
        assert pool.n_free_blocks() == 0
    else:
        with pytest.raises(UnsupportedError, match="bytes"):
            pool.n_free_blocks()
    pool.set_limit(size=1000)
    try:
        assert pool.get_limit() == 1000
        with pytest.raises(MemoryError):
            cp.arange(10000.0).wait()
    finally:
        pool.set_limit(size=0)
    assert pool.get_limit() == 0
    pool.set_limit(fraction=0.5)
    assert pool.get_limit() == cp.cuda.Device(device).mem_info[1] // 2
    pool.set_limit(size=0)
    for wrong in ({"size": 1, "fraction": 0.1}, {"size": -1}, {"fraction": 1.5}, {}):
        with pytest.raises(ValueError):
            pool.set_limit(**wrong)
    cp.cuda.set_allocator(cp.cuda.MemoryPool().malloc)
    cp.cuda.set_pinned_memory_allocator(None)
    with cp.cuda.using_allocator(cp.cuda.get_allocator()):
        assert cp.ones(2).sum() == 2
    for refused in (
        lambda: cp.cuda.set_allocator(None),
        lambda: cp.cuda.MemoryPool(print),
        lambda: cp.cuda.alloc(8),
        lambda: pool.malloc(8),
    ):
        with pytest.raises(UnsupportedError):
            refused()


def test_devices_and_streams(device: weft.Device) -> None:
    if device.kind == "vulkan":
        assert repr(cp.cuda.Device(device)) and cp.cuda.runtime.getDeviceCount() == len(weft.cuda.gpus)
        return
    count = cp.cuda.runtime.getDeviceCount()
    assert count == len(weft.cuda.gpus) and cp.cuda.is_available()
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError):
        cp.cuda.Device(count)
    with cp.cuda.Device(0) as chosen, cp.cuda.Device(count - 1) as last:
        assert cp.cuda.runtime.getDevice() == count - 1 == last.id == int(last) == cp.cuda.get_device_id()
        assert cp.ones(1).device == last.weft_device and last == cp.ones(1).device == last and last != 3
        assert (chosen == cp.cuda.Device(0)) and len({chosen, cp.cuda.Device(0)}) == 1
        free, total = last.mem_info
        assert 0 < free <= total == cp.cuda.runtime.memGetInfo()[1]
        assert cp.cuda.runtime.getDeviceProperties(0)["warpSize"] == 32
    stream = cp.cuda.Stream(non_blocking=True)
    start, end = cp.cuda.Event(), cp.cuda.Event()
    with stream:
        assert cp.cuda.get_current_stream() is stream
        start.record()
        y = cp.ones(4) + 1
        end.record()
    assert cp.cuda.get_current_stream() != stream
    stream.wait_event(end)
    stream.synchronize()
    end.synchronize()
    cp.cuda.Stream.null.synchronize()
    cp.cuda.runtime.deviceSynchronize()
    assert stream.done and end.done and cp.cuda.get_elapsed_time(start, end) >= 0 and y.sum() == 8
    called = threading.Event()
    stream.launch_host_func(lambda arg: called.set(), None)
    assert called.wait(10)
    with pytest.raises(UnsupportedError, match=r"weft\.compile"):
        stream.begin_capture()
    with pytest.raises(AttributeError, match="memcpy"):
        _ = cp.cuda.runtime.memcpy


def test_jit_kernels(device: weft.Device) -> None:
    @jit.rawkernel(device=True)
    def scaled(x, factor):
        return x * factor

    @jit.rawkernel()
    def sums_of_blocks(x, sums, n):
        part = jit.shared_memory(np.float32, 32)
        t = jit.threadIdx.x
        part[t] = 0
        for i in jit.range(jit.blockIdx.x * jit.blockDim.x + t, n, jit.gridDim.x * jit.blockDim.x):
            part[t] += scaled(x[i], 2)
        jit.syncthreads()
        jit.atomic_add(sums, jit.blockIdx.x, part[31 - t])

    x = np.arange(100, dtype=np.float32)
    for launch in (lambda *a: sums_of_blocks[2, 32](*a), lambda *a: sums_of_blocks((2,), (32,), a)):
        sums = cp.zeros(2, "float32")
        launch(cp.asarray(x), sums, 100)
        assert float(sums.sum()) == 2 * x.sum()
    for call in (lambda: jit.rawkernel(mode="C"), lambda: sums_of_blocks[3]):
        with pytest.raises(ValueError):
            call()
    with pytest.raises(UnsupportedError):
        _ = jit.thrust


def test_fuse_vectorize_and_scatter() -> None:
    @cp.fuse(kernel_name="difference")
    def difference(x, y):
        return (x - y) * (x - y)

    with weft.syncs("error"):
        lazy = difference(cp.arange(200.0), 1)
    assert lazy[3] == 4 and difference.__name__ == "difference"
    assert cp.fuse(np.sin)(0.0) == 0
    with pytest.raises(TypeError):
        cp.fuse(colour=1)
    made = cp.vectorize(lambda x, y: x + y if x > y else y - x, otypes=[np.float32])
    assert made(cp.arange(3), 1).dtype == np.float32 and made(1, 2) == 1
    with pytest.raises(UnsupportedError):
        cp.vectorize(abs, signature="(n)->()")
    x = cp.zeros((2, 3))
    cupyx.scatter_add(x, (cp.asarray([0, 0, 1]), 2), cp.asarray([1.0, 2.0, 4.0]))
    assert x.tolist() == [[0, 0, 3], [0, 0, 4]]
    assert cupyx.zeros_pinned((2, 2), np.int32).tolist() == [[0, 0], [0, 0]]


def test_benchmark() -> None:
    calls = []
    found = cupyx.profiler.benchmark(
        lambda n: calls.append(n) or {"a": cp.ones(n), "b": [cp.zeros(n)]}, (3,), n_repeat=4, n_warmup=2, name="made"
    )
    assert len(calls) == 6 and found.cpu_times.shape == (4,) and (found.gpu_times[0] >= found.cpu_times).all()
    assert "made" in str(found) and "CPU" in found.to_str()
    assert len(cupyx.profiler.benchmark(cp.ones, (2,), max_duration=0).cpu_times) == 1


def test_testing() -> None:
    t = cp.testing

    @t.for_all_dtypes()
    @t.numpy_cupy_array_equal()
    def doubled(xp, dtype):
        return t.shaped_arange((2, 3), xp, dtype) + t.shaped_reverse_arange((2, 3), xp, dtype)

    doubled()

    @t.numpy_cupy_allclose(rtol=1e-6)
    def wrong(xp):
        return xp.ones(3, "float32") * (1 if xp is np else 2)

    with pytest.raises(AssertionError):
        wrong()

    @t.numpy_cupy_array_equal()
    def other_type(xp):
        return xp.ones(3, "float32" if xp is np else "float64")

    with pytest.raises(AssertionError, match="dtype"):
        other_type()
    t.numpy_cupy_equal()(lambda xp: 3)()
    with pytest.raises(AssertionError):
        t.assert_array_equal(cp.ones(2), cp.zeros(2))
    t.assert_array_less(cp.zeros(2), cp.ones(2))
    t.assert_array_list_equal([cp.ones(2)], [np.ones(2)])
    assert t.shaped_random((3,), np).tolist() == cp.asnumpy(t.shaped_random((3,))).tolist()

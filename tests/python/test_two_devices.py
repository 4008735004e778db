"""Two GPUs in one process: copies between them, which one a call runs on, arrays of the one in kernels of the other."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import weft
from weft import cuda

GPUS = [one.name for one in weft.devices() if one.kind == "cuda"]
pytestmark = pytest.mark.skipif(len(GPUS) < 2, reason="needs two CUDA devices, or the driver's double")


@cuda.jit
def grow(a, by):
    i = cuda.grid(1)
    if i < a.size:
        a[i] += by


@cuda.jit
def combine(out, a, b):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + 10 * b[i]


@cuda.jit
def refuse(a):
    assert a[cuda.grid(1)] > 0, "refused"


@pytest.fixture
def second():
    with weft.device("cuda:1") as chosen:
        yield chosen


def test_a_block_chooses_the_second(second):
    assert weft.current_device() == cuda.get_current_device() == second
    a = cuda.to_device(np.zeros(100))
    assert a.device == second and a.device.index == 1
    grow.forall(100)(a, 2.0)
    assert a.copy_to_host().tolist() == [2] * 100
    with weft.device("cuda:0") as first:
        # A launch is where its arrays are.
        grow.forall(100)(a, 3.0)
        assert cuda.device_array(3).device == first
    assert a.copy_to_host().tolist() == [5] * 100
    assert cuda.stream().device == second and cuda.default_stream().device == second


def test_numbas_names_for_it():
    before = weft.current_device()
    try:
        assert cuda.select_device(1) == cuda.gpus[1] == weft.device("cuda:1")
        assert cuda.to_device(np.ones(3)).device.name == "cuda:1"
        assert cuda.current_context().device.index == 1 and cuda.current_context(0).device.index == 0
        assert len(cuda.gpus) >= 2
    finally:
        weft.set_device(before)
    with cuda.gpus[1]:
        assert cuda.gpus.current.index == 1


def test_host_arrays_go_to_the_current_device(second):
    a = np.arange(10.0)
    used = second.memory()["peak"]
    grow[1, 32](a, 1.0)
    assert a.tolist() == list(range(1, 11))
    assert second.memory()["peak"] >= used


def test_each_thread_has_its_own():
    arrays = {}

    def work(name):
        with weft.device(name):
            a = cuda.to_device(np.zeros(1000))
            for _ in range(20):
                grow.forall(1000)(a, 1.0)
            cuda.synchronize()
            arrays[name] = a

    threads = [threading.Thread(target=work, args=(name,)) for name in GPUS[:2] * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name in GPUS[:2]:
        assert arrays[name].device.name == name
        assert arrays[name].copy_to_host().tolist() == [20] * 1000


@pytest.mark.parametrize("there, back", [("cuda:0", "cuda:1"), ("cuda:1", "cuda:0")])
def test_copies_between_them(there, back):
    host = np.arange(1 << 16, dtype=np.int32).reshape(256, 256)
    with weft.device(there):
        a = cuda.to_device(host)
        grow[256, 256](a.reshape(-1), 1)
    # What the one was given is done before the other takes the bytes.
    b = a.to(back)
    assert (b.device.name, b.shape) == (back, host.shape)
    np.testing.assert_array_equal(b.copy_to_host(), host + 1)
    grow[256, 256](b.reshape(-1), 1)
    a.copy_to_device(b)
    np.testing.assert_array_equal(a.copy_to_host(), host + 2)
    a[3] = b[7]
    np.testing.assert_array_equal(a.copy_to_host()[3], host[7] + 2)
    # Views that are not contiguous go by way of the host.
    np.testing.assert_array_equal(b[::2, 1:].to(there).copy_to_host(), host[::2, 1:] + 2)


def test_kernels_address_each_others_memory():
    first, second = weft.device("cuda:0"), weft.device("cuda:1")
    assert first.can_access_peer(second) and second.can_access_peer(first)
    for _ in range(5):
        with first:
            a = cuda.to_device(np.arange(1000.0))
            grow.forall(1000)(a, 1.0)
        with second:
            b = cuda.to_device(np.arange(1000.0))
            grow.forall(1000)(b, 2.0)
            out = cuda.device_array(1000)
        # Where the first array is; it comes after what the others' device was given, and their downloads come after it.
        combine.forall(1000)(out, a, b)
        np.testing.assert_array_equal(out.copy_to_host(), np.arange(1000.0) * 11 + 21)
        with first:
            stream = cuda.stream()
        combine[4, 256, stream](out, b, a)
        np.testing.assert_array_equal(out.copy_to_host(), np.arange(1000.0) * 11 + 12)


def test_arrays_of_devices_that_do_not_reach_each_other():
    with weft.device("cuda:1"):
        a = cuda.to_device(np.zeros(10))
    with weft.device("cpu"):
        b = cuda.to_device(np.zeros(10))
        stream = cuda.stream()
    with pytest.raises(weft.LaunchError, match="an argument is in memory of cpu, but other arrays are of cuda:1"):
        combine[1, 32](a, b, b)
    with pytest.raises(weft.LaunchError, match="an argument is in memory of cuda:1, but the stream is of cpu"):
        grow[1, 32, stream](a, 1.0)


def test_ufuncs_want_their_arrays_on_one_device():
    @weft.vectorize(["float64(float64, float64)"], target="cuda")
    def add(x, y):
        return x + y

    with weft.device("cuda:0"):
        a = cuda.to_device(np.zeros(10))
    with weft.device("cuda:1"):
        b = cuda.to_device(np.ones(10))
        assert add(b, 1.0).device.name == "cuda:1"
    with pytest.raises(weft.LaunchError, match="cuda:1"):
        add(a, b)


def test_an_error_belongs_to_its_device():
    with weft.device("cuda:1"):
        a = cuda.to_device(np.zeros(4))
        refuse[1, 4](a)
    with weft.device("cuda:0"):
        cuda.synchronize()
    with pytest.raises(AssertionError, match="refused"):
        weft.device("cuda:1").synchronize()


def test_streams_and_events_of_the_two():
    with weft.device("cuda:0"):
        ahead, a, mark = cuda.stream(), cuda.to_device(np.zeros(100)), cuda.event(timing=False)
        go = threading.Event()
        ahead.call_when_done(lambda: go.wait(20))
        grow[1, 128, ahead](a, 4.0)
        mark.record(ahead)
    with weft.device("cuda:1"):
        behind = cuda.stream()
        mark.wait(behind)
        assert not behind.query()
        go.set()
        behind.synchronize()
    assert mark.query()
    assert a.copy_to_host().tolist() == [4] * 100


def test_memory_is_counted_for_each():
    first, second = weft.device("cuda:0"), weft.device("cuda:1")
    before = first.memory()["used"], second.memory()["used"]
    with second:
        held = cuda.device_array(1 << 20, np.uint8)
    assert first.memory()["used"] == before[0]
    assert second.memory()["used"] >= before[1] + held.nbytes

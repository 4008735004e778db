"""Streams as only CUDA has them: the default stream of each thread, and memory of streams that do not wait for one another."""

from __future__ import annotations

import concurrent.futures
import threading

import numpy as np
import pytest

import weft
from weft import cuda

GPUS = [one.name for one in weft.devices() if one.kind == "cuda"]
pytestmark = [
    pytest.mark.skipif(not GPUS, reason="needs a CUDA device, or the driver's double"),
    pytest.mark.parametrize("device", GPUS[:1], indirect=True),
    pytest.mark.usefixtures("device"),
]


@cuda.jit
def number(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = i


def held(stream):
    """Keeps a stream from going on until the result is set."""
    gate = threading.Event()
    stream.add_callback(lambda *_: gate.wait())
    return gate


def test_memory_of_a_nonblocking_stream_outlives_work_on_the_default_stream():
    a = cuda.device_array(64, np.int64, stream=cuda.stream(nonblocking=True))
    number[1, 64](a)
    cuda.synchronize()
    gate = held(cuda.default_stream())
    number[1, 64](a)
    del a
    gate.set()
    cuda.synchronize()


def test_the_default_stream_of_a_thread_is_the_calling_threads():
    ours = cuda.per_thread_default_stream()
    assert ours.handle == 2
    a = cuda.to_device(np.zeros(64, np.int64))
    number[1, 64](a)
    cuda.synchronize()
    gate = held(ours)

    def other():
        number[1, 64, ours](a)
        ours.synchronize()
        return ours.query()

    with concurrent.futures.ThreadPoolExecutor() as pool:
        assert pool.submit(other).result(60)
    assert not ours.query()
    gate.set()
    ours.synchronize()
    np.testing.assert_array_equal(a.copy_to_host(), np.arange(64))


def test_what_another_thread_drops_is_freed_behind_its_own_threads_work():
    ours = cuda.per_thread_default_stream()
    arrays = [cuda.device_array(64, np.int64, stream=ours)]
    number[1, 64, ours](arrays[0])
    ours.synchronize()
    gate = held(ours)
    number[1, 64, ours](arrays[0])
    with concurrent.futures.ThreadPoolExecutor() as pool:
        pool.submit(arrays.clear).result(60)
    gate.set()
    ours.synchronize()

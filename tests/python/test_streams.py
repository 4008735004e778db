"""Streams, events and graphs: on the CPU, whose streams are always done, and on every other device that is present."""

from __future__ import annotations

import asyncio
import gc

import numpy as np
import pytest

from weft import cuda

pytestmark = pytest.mark.usefixtures("device")


@cuda.jit
def double(a, b):
    i = cuda.grid(1)
    if i < a.size:
        b[i] = a[i] * 2


@cuda.jit
def add_one(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] += 1


def test_work_of_a_stream_is_done_in_order():
    stream = cuda.stream()
    host = np.arange(1000.0)
    a = cuda.to_device(host, stream=stream)
    b = cuda.device_array_like(a, stream=stream)
    for _ in range(3):
        double[4, 256, stream](a, b)
        double[4, 256, stream](b, a)
    result = a.copy_to_host(stream=stream)
    stream.synchronize()
    np.testing.assert_array_equal(result, host * 64)
    assert stream.query()


def test_pinned_arrays_are_filled_when_the_stream_is_done():
    stream = cuda.stream()
    host = cuda.pinned_array(500, np.float32)
    host[:] = 3
    a = cuda.to_device(host, stream=stream)
    add_one[2, 256, stream](a)
    back = cuda.pinned_array_like(host)
    with stream.auto_synchronize():
        a.copy_to_host(back, stream=stream)
    np.testing.assert_array_equal(back, np.full(500, 4, np.float32))


def test_an_event_orders_two_streams():
    first, second = cuda.stream(), cuda.stream()
    a = cuda.to_device(np.zeros(100), stream=first)
    add_one[1, 128, first](a)
    ready = cuda.event(timing=False)
    ready.record(first)
    ready.wait(second)
    add_one[1, 128, second](a)
    second.synchronize()
    assert ready.query()
    np.testing.assert_array_equal(a.copy_to_host(), np.full(100, 2.0))


def test_events_measure_time():
    stream = cuda.stream()
    start, end = cuda.event(), cuda.event()
    a = cuda.to_device(np.zeros(1 << 16))
    start.record(stream)
    add_one[256, 256, stream](a)
    end.record(stream)
    end.synchronize()
    assert 0 < cuda.event_elapsed_time(start, end) < 60_000


def test_a_graph_does_the_work_again():
    stream = cuda.stream()
    a = cuda.to_device(np.zeros(64))
    add_one[1, 64, stream](a)
    stream.synchronize()
    with stream.capture() as captured:
        add_one[1, 64, stream](a)
        double[1, 64, stream](a, a)
    stream.synchronize()
    np.testing.assert_array_equal(a.copy_to_host(), np.ones(64))
    assert len(captured.graph) == 2
    for expected in (4, 10, 22):
        captured.graph.launch(stream)
        stream.synchronize()
        np.testing.assert_array_equal(a.copy_to_host(), np.full(64, float(expected)))


def test_an_error_in_a_capture_is_the_one_that_is_shown():
    stream = cuda.stream(nonblocking=True)
    event = cuda.event()
    event.record()
    with pytest.raises(ValueError, match="mine"), stream.capture():
        raise ValueError("mine")
    a = cuda.to_device(np.zeros(64))
    with stream.capture() as captured:
        add_one[1, 64, stream](a)
    assert len(captured.graph) == 1


def test_arrays_may_be_dropped_during_a_capture():
    stream = cuda.stream()
    a = cuda.to_device(np.zeros(64))
    for _ in range(3):
        dropped = [cuda.to_device(np.ones(64)), cuda.to_device(np.ones(64), stream), cuda.pinned_array(64)]
        add_one[1, 64, stream](dropped[0])
        cuda.synchronize()
        with stream.capture() as captured:
            add_one[1, 64, stream](a)
            del dropped
            gc.collect()
            add_one[1, 64, stream](a)
        assert len(captured.graph) == 2
        captured.graph.launch(stream)
        stream.synchronize()
    np.testing.assert_array_equal(a.copy_to_host(), np.full(64, 6.0))


def test_callbacks_come_after_the_work():
    stream = cuda.stream()
    seen = []
    a = cuda.to_device(np.zeros(64))
    add_one[1, 64, stream](a)
    stream.add_callback(lambda which, status, arg: seen.append((which is stream, status, arg)), "after")
    stream.synchronize()
    assert seen == [(True, 0, "after")]


def test_a_stream_can_be_awaited():
    async def main():
        stream = cuda.stream()
        a = cuda.to_device(np.zeros(64), stream=stream)
        add_one[1, 64, stream](a)
        assert await stream.async_done() is stream
        return a.copy_to_host()

    np.testing.assert_array_equal(asyncio.run(main()), np.ones(64))


def test_what_is_no_stream():
    a = cuda.to_device(np.zeros(8))
    with pytest.raises(TypeError, match="is no stream"):
        add_one[1, 8, "fast"](a)


def test_other_libraries_take_streams_by_their_protocol():
    stream = cuda.stream()
    assert stream.__cuda_stream__() == (0, stream.handle)
    assert int(cuda.default_stream()) == 0

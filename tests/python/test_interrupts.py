"""Ctrl-C ends a wait for a GPU while it lasts; several threads that wait for one stream all learn of its errors."""

from __future__ import annotations

import collections
import threading
import time

import numpy as np
import pytest
from support.signals import Called, signal_in

import weft
from weft import cuda

pytestmark = pytest.mark.skipif(all(one.kind != "cuda" for one in weft.devices()), reason="needs a CUDA device or its double")


@cuda.jit
def grow(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] += 1


@cuda.jit
def refuse(a, what):
    i = cuda.grid(1)
    if i < a.size:
        assert a[i] != what, "refused"


@cuda.jit
def say(a):
    print("here is", a[0])


def loaded(kernel, array, *rest):
    """Launches a kernel while the device is idle: the first launch loads code, and CUDA lets that wait for all there is to do."""
    kernel[1, 32](cuda.to_device(array), *rest)
    cuda.synchronize()


@pytest.fixture
def busy():
    """A stream of a CUDA device that is busy until the test ends, and an array whose last use is on it."""
    with weft.device("cuda"):
        stream, end = cuda.stream(), threading.Event()
        array = cuda.to_device(np.zeros(100))
        loaded(grow, np.zeros(1))
        stream.call_when_done(lambda: end.wait(20))
        grow[1, 128, stream](array)
        try:
            yield stream, array
        finally:
            end.set()
            cuda.synchronize()
            assert array.copy_to_host().tolist() == [1] * 100


WAITS = {
    "stream": lambda stream, array: stream.synchronize(),
    "device": lambda stream, array: cuda.synchronize(),
    "download on the stream": lambda stream, array: array.copy_to_host(stream=stream),
    "download on the default stream": lambda stream, array: array.copy_to_host(),
    "launch with arrays of the host": lambda stream, array: grow[1, 128, stream](np.zeros(3)),
}


@pytest.mark.parametrize("what", WAITS)
def test_a_wait_ends_when_a_signal_comes(busy, what):
    start = time.perf_counter()
    with signal_in(0.2), pytest.raises(Called):
        WAITS[what](*busy)
    assert 0.15 < time.perf_counter() - start < 5


def test_a_wait_for_an_event_ends_when_a_signal_comes(busy):
    stream, _ = busy
    mark = cuda.event()
    mark.record(stream)
    with signal_in(0.2), pytest.raises(Called):
        mark.synchronize()
    assert not mark.query()


def test_others_that_feed_the_stream_do_not_hold_a_wait_up():
    with weft.device("cuda"):
        stream, array = cuda.stream(), cuda.to_device(np.zeros(100))
        over = threading.Event()

        def feed():
            # Never idle, and never more than some launches ahead: a wait is for those that are queued when it begins.
            marks = collections.deque()
            with weft.device("cuda"):
                while not over.is_set():
                    grow[1, 128, stream](array)
                    marks.append(cuda.event())
                    marks[-1].record(stream)
                    if len(marks) > 16:
                        marks.popleft().synchronize()

        thread = threading.Thread(target=feed)
        thread.start()
        try:
            for _ in range(5):
                stream.synchronize()
        finally:
            over.set()
            thread.join()
        stream.synchronize()


def in_threads(*works):
    """Runs each function in a thread of its own; gives what each returned or raised."""
    results = [None] * len(works)

    def run(number, work):
        try:
            with weft.device("cuda"):
                results[number] = work()
        except Exception as error:
            results[number] = error

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_all_that_wait_when_work_fails_see_the_error():
    with weft.device("cuda"):
        stream, array, go = cuda.stream(), cuda.to_device(np.zeros(10)), threading.Event()
        loaded(refuse, np.ones(1), 0.0)
        stream.call_when_done(lambda: go.wait(20))
        refuse[1, 32, stream](array, 0.0)
        threading.Timer(0.3, go.set).start()
        results = in_threads(*[stream.synchronize] * 4)
        assert [type(result) for result in results] == [AssertionError] * 4
        # This thread launched it, and has not heard of it.
        with pytest.raises(AssertionError, match="refused"):
            stream.synchronize()
        stream.synchronize()


def test_all_that_launched_failing_work_see_the_error():
    with weft.device("cuda"):
        stream, array = cuda.stream(), cuda.to_device(np.zeros(10))
        launched, heard = threading.Barrier(2), threading.Barrier(2)

        def one(waits_first):
            refuse[1, 32, stream](array, 0.0)
            launched.wait()
            if not waits_first:
                heard.wait()
            try:
                stream.synchronize()
            finally:
                if waits_first:
                    heard.wait()

        results = in_threads(lambda: one(True), lambda: one(False))
        assert [type(result) for result in results] == [AssertionError] * 2
        stream.synchronize()


def test_a_thread_that_has_nothing_to_do_with_it_does_not_see_it():
    with weft.device("cuda"):
        stream, array = cuda.stream(), cuda.to_device(np.zeros(10))
        refuse[1, 32, stream](array, 0.0)
        with pytest.raises(AssertionError):
            cuda.synchronize()
        assert in_threads(cuda.synchronize, stream.synchronize) == [None, None]


def test_lines_are_printed_once(capfd):
    with weft.device("cuda"):
        stream, array, go = cuda.stream(), cuda.to_device(np.arange(10)), threading.Event()
        say[1, 1](array)
        cuda.synchronize()
        stream.call_when_done(lambda: go.wait(20))
        say[1, 1, stream](array)
        threading.Timer(0.2, go.set).start()
        assert in_threads(*[stream.synchronize, cuda.synchronize] * 2) == [None] * 4
    assert capfd.readouterr().out == 2 * "here is 0\n"

"""Streams of work, events in them, and graphs captured from them, by Numba's names and CuPy's for graphs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from weft import _weft
from weft._weft import Graph

__all__ = [
    "Event",
    "Graph",
    "Stream",
    "default_stream",
    "event",
    "event_elapsed_time",
    "external_stream",
    "legacy_default_stream",
    "per_thread_default_stream",
    "stream",
]

_LEGACY = 1
_PER_THREAD = 2


class Stream(_weft.Stream):
    """A queue of launches and copies that a device does in order, beside other streams. Made by `stream`.

    ``kernel[blocks, threads, stream](...)`` and the ``stream=`` of copies put work into it. CuPy, PyTorch and others take it through
    ``__cuda_stream__``.
    """

    @contextlib.contextmanager
    def auto_synchronize(self) -> Iterator[Stream]:
        """``with stream.auto_synchronize():`` waits for the stream's work at the end."""
        yield self
        self.synchronize()

    @contextlib.contextmanager
    def capture(self) -> Iterator[Capture]:
        """``with stream.capture() as captured:`` collects the launches and copies given to the stream instead of doing them.

        ``captured.graph`` does them again as often as it is launched, for the price of one launch.
        """
        captured = Capture()
        self.begin_capture()
        try:
            yield captured
        except BaseException:
            # What went wrong in the block is what to show, not that nothing came of the capture.
            with contextlib.suppress(Exception):
                self.end_capture()
            raise
        captured.graph = self.end_capture()

    def add_callback(self, callback: Callable[[Stream, int, Any], object], arg: Any = None) -> None:
        """Calls ``callback(stream, 0, arg)`` on another thread when all work so far is done. It must not use the device."""
        self.call_when_done(lambda: callback(self, 0, arg))

    def async_done(self) -> Any:
        """A future of the running asyncio loop that is done when all work so far is."""
        import asyncio

        loop = asyncio.get_running_loop()
        future: asyncio.Future[Stream] = loop.create_future()

        def finish() -> None:
            if not future.done():
                future.set_result(self)

        self.call_when_done(lambda: loop.call_soon_threadsafe(finish))
        return future

    @property
    def ptr(self) -> int:
        """The driver's handle, by CuPy's name."""
        return self.handle

    def __int__(self) -> int:
        """The driver's handle."""
        return self.handle

    def __cuda_stream__(self) -> tuple[int, int]:
        """The protocol by which libraries lend each other streams: its version and the driver's handle."""
        return (0, self.handle)


class Capture:
    """What `Stream.capture` gives: ``graph``, once the block has ended."""

    graph: Graph


class Event(_weft.Event):
    """A mark in a stream. Made by `event`."""

    def record(self, stream: Any = 0) -> None:
        """Marks `stream` behind all its work so far."""
        self.mark(_weft.stream_argument(stream))

    def wait(self, stream: Any = 0) -> None:
        """Work given to `stream` from now on starts when the mark is reached."""
        self.hold(_weft.stream_argument(stream))


def stream(nonblocking: bool = False, priority: int = 0) -> Stream:
    """A new stream of the current device. With `nonblocking` it does not wait for the default stream, nor that for it."""
    return Stream(nonblocking=nonblocking, priority=priority)


def default_stream() -> Stream:
    """The stream of work that names none."""
    return Stream(default=True)


def legacy_default_stream() -> Stream:
    """CUDA's legacy default stream: other blocking streams wait for it, and it for them."""
    return Stream(handle=_LEGACY)


def per_thread_default_stream() -> Stream:
    """CUDA's default stream of each thread: what it is given goes to the stream of the thread that gives it."""
    return Stream(handle=_PER_THREAD)


def external_stream(ptr: int) -> Stream:
    """A stream that another library made, by the driver's handle. It stays the other's, who must keep it."""
    return Stream(handle=ptr)


def event(timing: bool = True) -> Event:
    """A new event of the current device; without `timing` it is cheaper and `event_elapsed_time` cannot be asked."""
    return Event(timing=timing)


def event_elapsed_time(evtstart: Event, evtend: Event) -> float:
    """Milliseconds between two recorded events that are done."""
    return evtstart.elapsed_time(evtend)

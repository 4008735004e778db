"""`cupy.cuda.Stream` and `Event`: queues for raw kernels. Operations of arrays go by the order in which arrays are used."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NoReturn

from weft import cuda
from weft.errors import UnsupportedError

_current = threading.local()


class Stream:
    """A queue of launches of raw kernels. In a `with`, or after `use`, they go there.

    What is done with arrays is in no stream: it is computed when somebody looks, after what was done with them before.
    """

    null: Stream
    ptds: Stream

    def __init__(self, null: bool = False, non_blocking: bool = False, ptds: bool = False) -> None:
        if null:
            self._weft = cuda.default_stream()
        elif ptds:
            self._weft = cuda.per_thread_default_stream()
        else:
            self._weft = cuda.stream(nonblocking=non_blocking)
        self._before: list[Any] = []

    @property
    def weft_stream(self) -> cuda.Stream:
        """Weft's own object, which launches of `weft.cuda` kernels take."""
        return self._weft

    @property
    def ptr(self) -> int:
        """The driver's handle."""
        return self._weft.handle

    def __cuda_stream__(self) -> tuple[int, int]:
        """The protocol by which libraries lend each other streams."""
        return (0, self.ptr)

    def use(self) -> Stream:
        """Makes it the current stream of this thread."""
        _current.stream = self
        return self

    def __enter__(self) -> Stream:
        """Makes it the current stream until the block ends."""
        self._before.append(getattr(_current, "stream", None))
        return self.use()

    def __exit__(self, *_: object) -> None:
        """The stream from before is the current one again."""
        _current.stream = self._before.pop()

    def synchronize(self) -> None:
        """Waits for the stream's work."""
        self._weft.synchronize()

    @property
    def done(self) -> bool:
        """Whether all its work is done."""
        return self._weft.query()

    def record(self, event: Event | None = None) -> Event:
        """Marks the stream behind its work so far."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Work given to the stream from now on waits for a mark."""
        self._weft.wait(event.weft_event)

    def add_callback(self, callback: Callable[[Stream, int, Any], object], arg: Any) -> None:
        """Calls `callback(stream, 0, arg)` when the work so far is done."""
        self._weft.call_when_done(lambda: callback(self, 0, arg))

    def launch_host_func(self, callback: Callable[[Any], object], arg: Any) -> None:
        """Calls `callback(arg)` when the work so far is done."""
        self._weft.call_when_done(lambda: callback(arg))

    def begin_capture(self, mode: Any = None) -> NoReturn:
        """Refused: operations of arrays are in no stream."""
        raise UnsupportedError("operations of arrays are in no stream and cannot be captured from one: use weft.compile")

    def __eq__(self, other: object) -> bool:
        """Whether they are one stream of the driver."""
        return isinstance(other, Stream) and (self is other or (self.ptr == other.ptr and self.ptr != 0))

    def __hash__(self) -> int:
        """By the driver's handle."""
        return hash(self.ptr)

    def __repr__(self) -> str:
        """As CuPy shows it."""
        return f"<Stream {self.ptr}>"


class ExternalStream(Stream):
    """A stream that another library made, by the driver's handle."""

    def __init__(self, ptr: int, device_id: int = -1) -> None:
        self._weft = cuda.external_stream(ptr)
        self._before = []


class _Default:
    """`Stream.null` and `Stream.ptds`, made when they are asked for: the device is the current one."""

    def __init__(self, which: str) -> None:
        self.which = which

    def __get__(self, instance: object, owner: type) -> Stream:
        return Stream(null=self.which == "null", ptds=self.which == "ptds")


Stream.null, Stream.ptds = _Default("null"), _Default("ptds")  # type: ignore[assignment]


class Event:
    """A mark in a stream. Those of other processes (`interprocess`) are refused."""

    def __init__(self, block: bool = False, disable_timing: bool = False, interprocess: bool = False) -> None:
        if interprocess:
            raise UnsupportedError("events of several processes are not taken")
        self.weft_event = cuda.event(timing=not disable_timing)

    def record(self, stream: Stream | None = None) -> None:
        """Marks a stream, by default the current one, behind its work so far. Arrays that nobody looked at are not computed by it."""
        self.weft_event.record((get_current_stream() if stream is None else stream).weft_stream)

    def synchronize(self) -> None:
        """Waits until the mark is reached."""
        self.weft_event.synchronize()

    @property
    def done(self) -> bool:
        """Whether the mark is reached."""
        return self.weft_event.query()


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    """Milliseconds between two marks that are reached."""
    return start_event.weft_event.elapsed_time(end_event.weft_event)


def get_current_stream(device_id: int | None = None) -> Stream:
    """The stream that raw kernels of this thread go to."""
    found = chosen_stream()
    return Stream(null=True) if found is None else found


def chosen_stream() -> Stream | None:
    """The stream that this thread chose, if it did: without one, raw kernels go to the default stream of their arrays' device."""
    return getattr(_current, "stream", None)

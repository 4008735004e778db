"""`weft.profile`: what devices and the compiler did, as a table like nvprof's and as a trace for Perfetto."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from weft import _weft


class Activity(NamedTuple):
    """One launch, copy or compile. Times are in nanoseconds on one clock; `stream` is the driver's handle, 0 the default stream."""

    what: str
    name: str
    device: str
    stream: int
    start: int
    duration: int
    bytes: int


class profile:
    """Record what happens in a block: ``with weft.profile():`` prints a table when the block ends.

    trace: a file for a trace as well; load it in https://ui.perfetto.dev to see streams side by side.
    show: print the table.

    What is recorded stays in `activities`; `table` gives the text and `save` writes a trace. Work on GPUs is timed by the device. On CUDA
    that is CUPTI's affair where a ``libcupti`` is installed and lets Weft have it, else that of CUDA events: `timers` says which and why.
    `missing` counts launches and copies whose times did not arrive. The environment variable ``WEFT_CUPTI`` names the library;
    ``WEFT_CUPTI=none`` asks for events.

    >>> import numpy as np, weft
    >>> from weft import cuda
    >>> a = cuda.to_device(np.zeros(1000))
    >>> with weft.profile(show=False) as p:
    ...     b = a.copy_to_host()
    >>> [activity.what for activity in p.activities]
    ['copy to host']
    """

    def __init__(self, trace: str | os.PathLike[str] | None = None, *, show: bool = True) -> None:
        self.activities: list[Activity] = []
        self.missing = 0
        self.timers: dict[str, str] = {}
        self._trace = trace
        self._show = show
        self._session: _weft.ProfileSession | None = None

    def __enter__(self) -> profile:
        """Starts recording."""
        self._session = _weft.ProfileSession()
        return self

    def __exit__(self, *_: Any) -> None:
        """Waits for the devices, then prints the table and writes the trace."""
        if self._session is not None:
            rows, missing, timers = self._session.stop()
            self.activities += [Activity(*row) for row in rows]
            self.missing += missing
            self.timers.update(timers)
            self._session = None
        if self._trace is not None:
            self.save(self._trace)
        if self._show:
            print(self.table())

    def table(self) -> str:
        """Percent of the time, total, calls, average, least and most, name: for each device, and for the compiler."""
        work = [one for one in self.activities if one.what != "compile"]
        parts = [
            _section(self._title(device), [one for one in work if one.device == device])
            for device in dict.fromkeys(one.device for one in work)
        ]
        compiles = [one for one in self.activities if one.what == "compile"]
        if compiles:
            parts.append(_section("compiler", compiles))
        if self.missing:
            instead = "; WEFT_CUPTI=none has CUDA events time them" if self.timers.get("cuda", "").startswith("CUPTI") else ""
            parts.append(f"not listed, since their times did not arrive: {self.missing} launches and copies{instead}")
        return "\n\n".join(parts) if parts else "nothing was recorded"

    def _title(self, device: str) -> str:
        timer = self.timers.get(device.split(":")[0])
        return f"{device}: kernels and copies" + (f", timed by {timer}" if timer else "")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a trace in the Trace Event Format, which Perfetto and Chrome's about:tracing read."""
        import json  # It takes as long to import as all of Weft.

        with open(path, "w", encoding="utf-8") as file:
            trace = {"traceEvents": list(_events(self.activities)), "displayTimeUnit": "ns", "otherData": {"timed by": self.timers}}
            json.dump(trace, file)


def _section(title: str, activities: Sequence[Activity]) -> str:
    groups: dict[str, list[int]] = {}
    moved: dict[str, int] = {}
    for one in activities:
        groups.setdefault(one.name, []).append(one.duration)
        moved[one.name] = moved.get(one.name, 0) + one.bytes
    whole = sum(one.duration for one in activities) or 1
    lines = [title, f"{'time (%)':>8} {'total':>10} {'calls':>7} {'average':>10} {'min':>10} {'max':>10}  name"]
    for name, times in sorted(groups.items(), key=lambda group: -sum(group[1])):
        total = sum(times)
        rate = f"  ({moved[name] / max(total, 1):.1f} GB/s)" if moved[name] else ""
        cells = [_duration(t) for t in (total, total / len(times), min(times), max(times))]
        lines.append(
            f"{100 * total / whole:>8.2f} {cells[0]:>10} {len(times):>7} {cells[1]:>10} {cells[2]:>10} {cells[3]:>10}  {name}{rate}"
        )
    return "\n".join(lines)


def _duration(nanoseconds: float) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3f}{unit}"
    return f"{nanoseconds:.0f}ns"


def _events(activities: Sequence[Activity]) -> Any:
    """One process per device and for the compiler, one thread per stream, times in microseconds."""
    places: dict[str, int] = {}
    lanes: set[tuple[int, int]] = set()
    for one in activities:
        owner = "compiler" if one.what == "compile" else one.device
        if owner not in places:
            places[owner] = len(places)
            yield {"ph": "M", "name": "process_name", "pid": places[owner], "args": {"name": owner}}
        lane = (places[owner], one.stream)
        if lane not in lanes:
            lanes.add(lane)
            name = "default stream" if one.stream == 0 else f"stream {one.stream:#x}"
            if owner != "compiler":
                yield {"ph": "M", "name": "thread_name", "pid": lane[0], "tid": lane[1], "args": {"name": name}}
        yield {
            "ph": "X",
            "name": one.name,
            "cat": one.what,
            "pid": lane[0],
            "tid": lane[1],
            "ts": one.start / 1e3,
            "dur": one.duration / 1e3,
            "args": {"bytes": one.bytes} if one.bytes else {},
        }

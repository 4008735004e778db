"""Contenders run in a process of their own, so that one that hangs, crashes or breaks the device costs the others nothing.

`Worker.run` hands the process a job and waits for the outcome; the process says before each step whose turn it is. When a step takes too
long or the process ends, `LostError` names who is to blame; the next job starts another process.
"""

from __future__ import annotations

import gc
import multiprocessing
import time
from multiprocessing.connection import Connection
from typing import Any

# Importing all there is takes a while on a machine that has just been started.
START_SECONDS = 120.0


class LostError(Exception):
    """The process is gone."""

    def __init__(self, name: str, why: str, out_of_time: bool) -> None:
        super().__init__(name, why)
        self.name, self.why, self.out_of_time = name, why, out_of_time


class Worker:
    """The process, started when it is first wanted."""

    def __init__(self, settings: tuple[bool, int, int], patience: float) -> None:
        self.settings, self.patience = settings, patience
        self.left_out: dict[str, str] = {}
        self.names: list[str] = []
        self.process: Any = None
        self.pipe: Connection | None = None

    def start(self, until: float) -> None:
        """Finds the contenders; whoever stops the process from starting is left out."""
        while self.process is None:
            context = multiprocessing.get_context("spawn")
            self.pipe, theirs = context.Pipe()
            self.process = context.Process(target=serve, args=(theirs, self.settings, dict(self.left_out)), daemon=True)
            self.process.start()
            theirs.close()
            try:
                self.names, self.left_out = self._answer(until, START_SECONDS)
            except LostError as lost:
                if lost.out_of_time or lost.name == "weft":
                    raise
                self.left_out[lost.name] = lost.why

    def run(self, title: str, seconds: float, shut_out: dict[str, str], until: float) -> dict[str, Any]:
        """The outcome of a part."""
        self.start(until)
        self.pipe.send((title, seconds, shut_out))
        return self._answer(until, self.patience)

    def stop(self) -> None:
        """Ends the process, however it is."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process = None

    def _answer(self, until: float, longest: float) -> Any:
        name = "weft"
        while True:
            wait = min(longest, until - time.monotonic())
            try:
                if not self.pipe.poll(max(wait, 0)):
                    self.stop()
                    raise LostError(name, f"took over {wait:.0f} seconds", wait < longest)
                kind, what = self.pipe.recv()
            except (EOFError, OSError):
                self.process.join()
                code, self.process = self.process.exitcode, None
                raise LostError(name, f"ended the process ({code})", False) from None
            if kind == "step":
                name = what
            elif kind == "broken":
                self.stop()
                raise LostError(*what, False)
            elif kind == "error":
                raise RuntimeError(what)
            else:
                return what


def serve(pipe: Connection, settings: tuple[bool, int, int], left_out: dict[str, str]) -> None:
    """What runs in the process: one job after the other."""
    import contenders
    import measure
    import parts

    import weft

    def step(name: str) -> None:
        pipe.send(("step", name))

    weft.set_device(weft.device("cuda"))
    libraries = contenders.find(left_out, step)
    pipe.send(("ready", ([library.name for library in libraries], left_out)))
    known = {part.title: part for part in parts.all_parts(*settings)}
    while True:
        try:
            title, seconds, shut_out = pipe.recv()
        except EOFError:
            return
        try:
            if title == parts.LAUNCH:
                result = measure.launches(libraries, shut_out, step, 5 if seconds else 1)
            elif title == parts.FIRST:
                result = measure.first_calls(libraries, seconds, shut_out, step)
            else:
                result = measure.run_part(libraries, known[title], seconds, shut_out, step)
            pipe.send(("done", result))
        except measure.BrokenError as broken:
            pipe.send(("broken", (broken.name, broken.why)))
        except Exception as error:
            pipe.send(("error", contenders.reason(error)))
        gc.collect()
        for library in libraries:
            library.free()

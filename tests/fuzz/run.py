"""Runs random programs by number, in processes of their own, and tells what differs, crashes or hangs, made small.

    python tests/fuzz/run.py --count 10000 --device cpu
    python tests/fuzz/run.py --sort kernel --count 5000 --device cuda        # with WEFT_CUDA_DRIVER=double
    python tests/fuzz/run.py --sort jit --count 1000 --numba .venv-peers/bin/python

A program is its sort and its number: what failed once fails again with `--start NUMBER --count 1`.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import selectors
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

WORKER = Path(__file__).with_name("worker.py")
PATIENCE = 120
"""Seconds after which a program that says nothing hangs. Most take milliseconds; shrinking one takes many."""


@dataclass
class Tally:
    """What became of all programs."""

    counts: collections.Counter[str] = field(default_factory=collections.Counter)
    refusals: collections.Counter[str] = field(default_factory=collections.Counter)
    failures: list[dict] = field(default_factory=list)
    told: Callable[[Tally, dict], None] = lambda tally, said: None
    """Called with every program that has been counted, for those who watch."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, said: dict) -> None:
        """Counts one program."""
        with self.lock:
            self.counts[said["what"]] += 1
            if said["what"] == "refused":
                self.refusals[_gist(said["told"])] += 1
            elif said["what"] not in ("same", "outside", "as in Python"):
                self.failures.append(said)
            self.told(self, said)

    @property
    def total(self) -> int:
        """All programs."""
        return sum(self.counts.values())


def _gist(message: str) -> str:
    """The line of a compiler's message that says what is wrong."""
    return message.strip().splitlines()[0][:120] if message.strip() else ""


def run(
    sort: str,
    start: int,
    count: int,
    device: str = "cpu",
    jobs: int = 2,
    numba: str = "",
    small: bool = True,
    env: dict | None = None,
    told: Callable[[Tally, dict], None] | None = None,
) -> Tally:
    """Runs programs `start` to `start + count`, each process every so many of them."""
    tally = Tally(told=told) if told else Tally()

    def command(first: int) -> list[str]:
        return [str(WORKER), sort, str(first), str(start + count), str(jobs), numba, "small" if small else ""]

    supervise(tally, range(start, start + count), jobs, command, {"WEFT_DEVICE": device, **(env or {})})
    return tally


def supervise(tally: Tally, programs: range, jobs: int, command: Callable[[int], list[str]], env: dict) -> None:
    """Runs programs in so many processes. `command` says what Python runs for one program and every `jobs`th behind it."""
    environment = {**os.environ, **env}
    crew = [threading.Thread(target=_process, args=(tally, programs[j:], jobs, command, environment)) for j in range(jobs)]
    for one in crew:
        one.start()
    for one in crew:
        one.join()


def _process(tally: Tally, programs: range, step: int, command: Callable[[int], list[str]], env: dict) -> None:
    """One process after another: one that dies or hangs has told what it was at, and the next goes on behind it."""
    start, stop = programs.start, programs.stop
    while start < stop:
        args = [sys.executable, *command(start)]
        # A pipe that nobody reads would stop a process that warns often.
        with tempfile.TemporaryFile("w+") as errors:
            worker = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=errors, text=True, env=env)
            at, what = _listen(tally, worker, start)
            if at is None:
                return
            errors.seek(0)
            tally.add({"seed": at, "what": what, "told": errors.read()[-2000:] if what == "crashes" else ""})
        start = at + step


def _listen(tally: Tally, worker: subprocess.Popen, start: int) -> tuple[int | None, str]:
    """Takes what a process says until it ends. Gives the program at which it died or hung, if any."""
    assert worker.stdout is not None
    at: int | None = start
    ready = selectors.DefaultSelector()
    ready.register(worker.stdout, selectors.EVENT_READ)
    while ready.select(PATIENCE):
        line = worker.stdout.readline()
        if not line:
            return (None, "") if worker.wait() == 0 else (at, "crashes")
        said = json.loads(line)
        at = said["seed"]
        if "what" in said:
            tally.add(said)
    worker.kill()
    return at, "hangs"


def show(failure: dict, sort: str) -> str:
    """A failure, to read."""
    lines = [f"--- {sort} {failure['seed']} {failure['what']}: {failure['told']}", failure.get("text", "")]
    lines += [f"{name} = {value}" for name, value in failure.get("inputs", {}).items()]
    return "\n".join(lines)


def _watch(sort: str, count: int) -> Callable[[Tally, dict], None]:
    """Shows failures as they come, and how far a run is."""
    every = max(count // 50, 1)

    def told(tally: Tally, said: dict) -> None:
        if tally.failures and tally.failures[-1] is said:
            print(show(said, sort), flush=True)
        if tally.total % every == 0:
            print(f"{sort}: {tally.total} of {count}", end="\r" if sys.stderr.isatty() else "\n", file=sys.stderr, flush=True)

    return told


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sort", default="jit,kernel,ufunc", help="sorts of programs, with commas")
    parser.add_argument("--start", type=int, default=0, help="the first number")
    parser.add_argument("--count", type=int, default=1000, help="how many of each sort")
    parser.add_argument("--device", default="cpu", help="the device kernels run on")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--numba", default="", help="a Python with Numba, to compare weft.numba with")
    parser.add_argument("--check", action="store_true", help="in checked mode")
    parser.add_argument("--as-found", action="store_true", help="do not make failures small")
    options = parser.parse_args()
    failed = 0
    env = {"WEFT_CHECK": "1"} if options.check else {}
    for sort in options.sort.split(","):
        small, told = not options.as_found, _watch(sort, options.count)
        tally = run(sort, options.start, options.count, options.device, options.jobs, options.numba, small, env, told)
        print(f"{sort} on {options.device}: {tally.total} programs: {dict(tally.counts)}")
        for message, times in tally.refusals.most_common(20):
            print(f"    refused {times}: {message}")
        failed += len(tally.failures)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

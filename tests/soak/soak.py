"""Mixed work for a long time in many threads: compile, launch, fail, fork, interrupt. Results stay right and memory flat.

    python tests/soak/soak.py --seconds 1800 --plot soak.png

Every second line says how much memory the process holds. At the end the last quarter of the time is compared with the second.
"""

from __future__ import annotations

import argparse
import collections
import gc
import os
import random
import signal
import statistics
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from fuzz import outcome, programs

import weft
from weft import cuda, njit, prange, vectorize

SLACK = 24 << 20
"""Bytes that the last quarter may hold beyond a twentieth more than the second: caches of the allocator, one for each thread."""


@njit(parallel=True)
def total_of(a):
    """A loop on all cores."""
    total = 0
    for i in prange(a.size):
        total += a[i] % 7
    return total


@njit
def divided(a, b):
    """Raises for b of 0."""
    return a // b


@cuda.jit
def shifted(a, b):
    """Threads that meet."""
    box = cuda.shared.array(64, np.int32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    box[t] = a[i] if i < a.size else 0
    cuda.syncthreads()
    if i < b.size:
        b[i] = box[63 - t]


@cuda.jit
def demanding(a):
    """Fails in one thread."""
    i = cuda.grid(1)
    assert i != 5
    a[i % a.size] = i


@cuda.jit
def long(a, turns):
    """Takes its time."""
    i = cuda.grid(1)
    x = a[i]
    for _ in range(turns):
        x = x * np.float32(0.999) + np.float32(0.5)
    a[i] = x


@vectorize
def mixed(x, y):
    """A ufunc."""
    return x * 2 + y if x > y else y - x


class Soak:
    """The work, what was done of each sort, and what went wrong."""

    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds
        self.done: collections.Counter[str] = collections.Counter()
        self.wrong: list[str] = []
        self.held: list[tuple[float, int]] = []
        self.devices = [device.name for device in weft.devices()]
        self.lock = threading.Lock()

    def over(self) -> bool:
        """Whether the time is up, or something went wrong."""
        return time.monotonic() > self.end or bool(self.wrong)

    def work(self, seed: int) -> None:
        """One thread's work."""
        rng = random.Random(seed)
        sorts: list[Callable[[random.Random], None]] = [compile_anew, launch, fail, streams, call, call]
        while not self.over():
            sort = rng.choice(sorts)
            try:
                with weft.device(rng.choice(self.devices)):
                    sort(rng)
            except Exception as error:
                self.wrong.append(f"{sort.__name__}: {type(error).__name__}: {error}")
            with self.lock:
                self.done[sort.__name__] += 1

    def lead(self) -> None:
        """The main thread's: forks and interrupts, which only it can have, and looks at the memory."""
        start, last = time.monotonic(), 0.0
        while not self.over():
            for sort in (fork, interrupt):
                try:
                    sort()
                except Exception as error:
                    self.wrong.append(f"{sort.__name__}: {type(error).__name__}: {error}")
                self.done[sort.__name__] += 1
            time.sleep(0.2)
            if time.monotonic() - last > 1:
                last = time.monotonic()
                gc.collect()
                self.held.append((last - start, resident()))
                if len(self.held) % 10 == 1:
                    print(f"{last - start:6.0f} s {self.held[-1][1] >> 20:6} MiB {dict(self.done)}", flush=True)

    def verdict(self) -> list[str]:
        """What is wrong, memory that grew included."""
        quarter = len(self.held) // 4
        if quarter < 3:
            return self.wrong or ["too short to tell"]
        early = statistics.median(held for _, held in self.held[quarter : 2 * quarter])
        late = statistics.median(held for _, held in self.held[-quarter:])
        print(f"memory: {early / 2**20:.1f} MiB in the second quarter, {late / 2**20:.1f} MiB in the last")
        return self.wrong + ([f"memory grew from {early} to {late} bytes"] if late > early * 1.05 + SLACK else [])


def resident() -> int:
    """Bytes of memory that the process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def compile_anew(rng: random.Random) -> None:
    """A random program: compiled, run, compared, dropped."""
    program = programs.generate(rng.randrange(300), rng.choice(["jit", "ufunc"]))
    want = outcome.run(program, "plain")
    told = None if outcome.invalid(want) else outcome.difference(want, outcome.run(program, "weft"))
    assert told is None, f"{program.sort} {program.seed}: {told}"


ON_DEFAULT_STREAM = threading.Lock()
"""Who waits sees the errors of all kernels that were waited for, those of other threads too; and nothing goes on the default stream while a
stream that it waits for is captured. So each of these has it for itself."""


def launch(rng: random.Random) -> None:
    """A kernel on host arrays of some size."""
    a = np.arange(rng.choice([64, 640, 6400]), dtype=np.int32)
    b = np.zeros_like(a)
    with ON_DEFAULT_STREAM:
        shifted[a.size // 64, 64](a, b)
    assert np.array_equal(b, a.reshape(-1, 64)[:, ::-1].ravel())


def fail(rng: random.Random) -> None:
    """An exception of a function, of a kernel, of the compiler."""
    raises(ZeroDivisionError, lambda: divided(rng.randrange(9), 0))
    with ON_DEFAULT_STREAM:
        raises(AssertionError, lambda: demanding[1, 32](np.zeros(32, np.int32)))
    raises(weft.WeftError, lambda: njit(lambda a: a.nothing)(3))


def raises(kind: type[Exception], action: Callable[[], object]) -> None:
    """The action has to raise."""
    try:
        action()
    except kind:
        return
    raise AssertionError(f"no {kind.__name__}")


def streams(rng: random.Random) -> None:
    """Device arrays, a stream, an event, a graph."""
    with ON_DEFAULT_STREAM:
        there = cuda.to_device(np.zeros(640, np.float32))
        stream, event = cuda.stream(), cuda.event()
        with stream.capture() as captured:
            long[10, 64, stream](there, 3)
        for _ in range(rng.randrange(1, 4)):
            captured.graph.launch(stream)
        event.record(stream)
        event.synchronize()
        assert there.copy_to_host()[0] > 0


def call(rng: random.Random) -> None:
    """Functions of the host on arrays of some size."""
    a = np.arange(rng.choice([10, 1000, 100_000]))
    assert total_of(a) == (a % 7).sum()
    x = a.astype(np.float32)
    assert np.array_equal(mixed(x, np.float32(3)), np.where(x > 3, x * 2 + 3, 3 - x))


def fork() -> None:
    """A child that compiles and computes, while threads of the parent are at work."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            with weft.device("cpu"):
                right = njit(lambda a: a + 1)(2) == 3 and total_of(np.arange(1000)) == (np.arange(1000) % 7).sum()
            code = 0 if right else 2
        finally:
            os._exit(code)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert status == 0, f"the child ended with {status}"
            return
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise AssertionError("the child hangs")


def interrupt() -> None:
    """Ctrl-C in the middle of a launch."""
    timer = threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT))
    a = np.ones(1 << 14, np.float32)
    try:
        timer.start()
        with weft.device("cpu"):
            for _ in range(1000):
                long[a.size // 64, 64](a, 20_000)
    except KeyboardInterrupt:
        return
    raise AssertionError("no KeyboardInterrupt")


def draw(soak: Soak, path: str) -> None:
    """A plot of the memory held over time."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 4))
    axes.plot([at for at, _ in soak.held], [held / 2**20 for _, held in soak.held])
    axes.set(xlabel="seconds", ylabel="MiB held", ylim=(0, None), title=f"{sum(soak.done.values())} pieces of work")
    figure.savefig(path, dpi=120)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--threads", type=int, default=3)
    parser.add_argument("--plot", default="", help="a file for a plot of the memory held")
    options = parser.parse_args()
    # Shells have background jobs ignore interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    soak = Soak(options.seconds)
    crew = [threading.Thread(target=soak.work, args=(seed,)) for seed in range(options.threads)]
    for one in crew:
        one.start()
    soak.lead()
    for one in crew:
        one.join()
    wrong = soak.verdict()
    print(f"{sum(soak.done.values())} pieces of work: {dict(soak.done)}")
    if options.plot:
        draw(soak, options.plot)
    for what in wrong:
        print("WRONG", what)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

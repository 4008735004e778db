"""Measures one part: everyone's results are checked, then they take turns. Runs in a worker's process (`worker`).

`step` is told before each thing that may take for ever or end the process, and with whom.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import contenders
import parts
from contenders import Contender, reason

# The least seconds of a sample: shorter work is repeated before it is waited for, so that waiting counts little.
SHORTEST = 0.002
MOST_CALLS = 200
FEWEST_SAMPLES = 3
Step = Callable[[str], None]
# A contender's samples: the round and the seconds of a call.
Times = dict[str, dict[int, float]]


class BrokenError(Exception):
    """A contender has left the device in a state in which nobody can use it."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(name, why)
        self.name, self.why = name, why


def run_part(libraries: list[Any], part: parts.Part, seconds: float, shut_out: dict[str, str], step: Step) -> dict[str, Any]:
    """What a part's contenders take, whose results are wrong, and who could not take part."""
    failed = {name: why for name, why in shut_out.items()}
    ready, wrong = set_up(libraries, part, failed, step)
    times = in_turns(ready, seconds, failed, step)
    return outcome(part, times, wrong, failed)


def outcome(part: parts.Part, times: Times, wrong: list[str], failed: dict[str, str]) -> dict[str, Any]:
    """What is kept of a part."""
    return {
        "method": part.method,
        "bytes": part.moved,
        "copied": part.copied,
        "times": {name: statistics.median(taken.values()) for name, taken in times.items() if taken},
        "ratios": ratios(times),
        "samples": {name: len(taken) for name, taken in times.items()},
        "wrong": wrong,
        "failed": failed,
    }


def ratios(times: Times) -> dict[str, float]:
    """Everyone's time over Weft's: the median over the rounds that both were in."""
    weft = times.get("weft", {})
    paired = {name: [taken[k] / weft[k] for k in taken if k in weft] for name, taken in times.items()}
    return {name: statistics.median(found) for name, found in paired.items() if found}


def set_up(libraries: list[Any], part: parts.Part, failed: dict[str, str], step: Step) -> tuple[dict[str, Contender], list[str]]:
    """The contenders that have run once, and those whose results are wrong. Adds to `failed` what kept others from it."""
    step("the host's arrays")
    arguments = part.data()
    expected = part.expected(*arguments) if part.expected else None
    ready: dict[str, Contender] = {}
    wrong = []
    for library in libraries:
        make = getattr(library, part.method, None)
        if make is None or library.name in failed:
            continue
        step(library.name)
        try:
            contender = make(*arguments)
            contender.run()
            contender.sync()
            found = contender.result()
            # Where there is nothing better, the first is what the others are compared with: Weft, whose own tests have run before.
            expected = found if expected is None else expected
            if found is not None and not part.right(found, expected):
                wrong.append(library.name)
            ready[library.name] = contender
        except Exception as error:
            failed[library.name] = reason(error)
            still_there(libraries, library.name, error)
    return ready, wrong


def still_there(libraries: list[Any], name: str, error: Exception) -> None:
    """Says so if Weft cannot use the device any more, which it shares with everyone in the process."""
    try:
        libraries[0].put(parts.numbers(0, 1))
        libraries[0].sync()
    except Exception:
        raise BrokenError(name, reason(error)) from None


def in_turns(ready: dict[str, Contender], seconds: float, failed: dict[str, str], step: Step) -> Times:
    """Samples of everyone until `seconds` are over, in an order that rotates. Who is slow sits out after some rounds."""
    calls: dict[str, int] = {}
    times: Times = {name: {} for name in ready}
    until = time.perf_counter() + seconds
    turn = 0
    # One round without a clock: it says how many calls make a sample, and is the rest of the warming up.
    while turn <= (FEWEST_SAMPLES if seconds else 1) or time.perf_counter() < until:
        names = [name for name in ready if name not in failed]
        for k in range(len(names)):
            name = names[(k + turn) % len(names)]
            taken = times[name]
            if len(taken) >= FEWEST_SAMPLES and sum(taken.values()) * calls[name] > seconds / 2:
                continue
            step(name)
            try:
                spent = sample(ready[name], calls.get(name, 1))
            except Exception as error:
                failed[name] = reason(error)
                continue
            if turn:
                taken[turn] = spent
            else:
                calls[name] = max(1, min(MOST_CALLS, int(SHORTEST / max(spent, 1e-9))))
        turn += 1
        if not names:
            break
    return times


def sample(contender: Contender, calls: int) -> float:
    """Seconds of a call."""
    contender.sync()
    start = time.perf_counter()
    for _ in range(calls):
        contender.run()
    contender.sync()
    return (time.perf_counter() - start) / calls


def launches(libraries: list[Any], shut_out: dict[str, str], step: Step, rounds: int) -> dict[str, Any]:
    """Host seconds of a warm launch, without waiting for it: the best of each round's twenty, so that a full queue does not count."""
    failed = {name: why for name, why in shut_out.items()}
    part = parts.launches()
    ready, wrong = set_up(libraries, part, failed, step)
    times: Times = {name: {} for name in ready}
    for turn in range(rounds):
        for name, contender in ready.items():
            step(name)
            times[name][turn] = min(burst(contender, 200) for _ in range(20 if rounds > 1 else 1))
    return outcome(part, times, wrong, failed)


def burst(contender: Contender, calls: int) -> float:
    """Host seconds of one of so many launches."""
    contender.sync()
    start = time.perf_counter()
    for _ in range(calls):
        contender.run()
    spent = time.perf_counter() - start
    contender.sync()
    return spent / calls


def first_calls(libraries: list[Any], seconds: float, shut_out: dict[str, str], step: Step) -> dict[str, Any]:
    """Seconds of the first call, each in a new process with empty caches; as many rounds as there is time for, five at most."""
    failed = {name: why for name, why in shut_out.items()}
    names = [lib.name for lib in libraries if lib.name in ("weft", *contenders.OTHERS) and hasattr(lib, "mandelbrot")]
    times: Times = {name: {} for name in names}
    start = time.perf_counter()
    for turn in range(5 if seconds else 1):
        for name in names:
            # Weft's own are quick, and have a budget.
            if name in failed or (name != "weft" and turn and time.perf_counter() - start > seconds):
                continue
            step(name)
            try:
                times[name][turn] = first_call(name)
            except Exception as error:
                failed[name] = reason(error)
    return outcome(parts.Part(parts.FIRST, "first", tuple, None, 0.0), times, [], failed)


def first_call(name: str) -> float:
    """In one new process."""
    caches = ("WEFT_CACHE_DIR", "XDG_CACHE_HOME", "CUDA_CACHE_PATH", "NUMBA_CACHE_DIR", "CUPY_CACHE_DIR", "TRITON_CACHE_DIR")
    with tempfile.TemporaryDirectory() as empty:
        environment = {**os.environ, **{cache: str(Path(empty, cache)) for cache in caches}, "JAX_ENABLE_COMPILATION_CACHE": "0"}
        command = [sys.executable, str(Path(__file__).with_name("first_call.py")), name]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=45)
    lines = [line for line in done.stdout.splitlines() if line.startswith("seconds ")]
    if done.returncode or not lines:
        said = [line for line in done.stderr.splitlines() if line.strip(" :")] or ["it said nothing"]
        raise RuntimeError(next((line for line in reversed(said) if "Error" in line), said[-1]))
    return float(lines[-1].split()[1])

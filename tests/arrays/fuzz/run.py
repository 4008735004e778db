"""Runs random programs on arrays by number, in processes of their own, and tells what differs, crashes or hangs, made small.

    python tests/arrays/fuzz/run.py --count 50000 --tier both
    python tests/arrays/fuzz/run.py --count 5000 --device cuda        # with WEFT_CUDA_DRIVER=double
    python tests/arrays/fuzz/run.py --count 600 --module LateReader   # NumPy with a defect: see stand_in.py

A program is its number: what failed once fails again with `--start NUMBER --count 1`. What is shown runs by itself.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from fuzz.run import Tally, supervise

WORKER = Path(__file__).with_name("worker.py")
TIERS = {"0": {"WEFT_ARRAYS_TIER": "0"}, "1": {"WEFT_ARRAYS_TIER": "1"}, "both": {}}
"""What says which tiers run: interpreted tiles, compiled kernels, or the one and then the other."""

PER_PROCESS = 10_000
"""Processes keep the kernels that they compile, each mapped into memory by itself, and Linux lets a process have some 65,000 mappings."""


def run(
    programs: range,
    module: str = "weft",
    device: str = "cpu",
    tier: str = "both",
    jobs: int = 2,
    small: bool = True,
    told: Callable[[Tally, dict], None] | None = None,
) -> Tally:
    """Runs the programs of these numbers."""
    tally = Tally(told=told) if told else Tally()

    def command(stop: int, first: int) -> list[str]:
        return [str(WORKER), module, str(first), str(stop), str(jobs), "small" if small else ""]

    for first in range(programs.start, programs.stop, PER_PROCESS):
        some = range(first, min(first + PER_PROCESS, programs.stop))
        supervise(tally, some, jobs, partial(command, some.stop), {"WEFT_DEVICE": device, **TIERS[tier]})
    return tally


def show(failure: dict) -> str:
    """A failure, to read and to run."""
    return f"--- {failure['seed']} {failure['what']}: {failure['told']}\n{failure.get('text', '')}"


def _watch(count: int) -> Callable[[Tally, dict], None]:
    """Shows failures as they come, and how far a run is."""
    every = max(count // 50, 1)

    def told(tally: Tally, said: dict) -> None:
        if tally.failures and tally.failures[-1] is said:
            print(show(said), flush=True)
        if tally.total % every == 0:
            print(f"{tally.total} of {count}", end="\r" if sys.stderr.isatty() else "\n", file=sys.stderr, flush=True)

    return told


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--start", type=int, default=0, help="the first number")
    parser.add_argument("--count", type=int, default=1000, help="how many")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--device", default="cpu", help="the device that arrays are on")
    parser.add_argument("--tier", default="both", choices=TIERS, help="of the CPU: interpreted, compiled, both")
    parser.add_argument("--module", default="weft", help="the module that is tested")
    parser.add_argument("--as-found", action="store_true", help="do not make failures small")
    options = parser.parse_args()
    programs = range(options.start, options.start + options.count)
    tally = run(programs, options.module, options.device, options.tier, options.jobs, not options.as_found, _watch(options.count))
    print(f"{options.module} on {options.device}, tier {options.tier}: {tally.total} programs: {dict(tally.counts)}")
    for message, times in tally.refusals.most_common(20):
        print(f"    refused {times}: {message}")
    last = options.start + options.count - options.count // 5
    late = [failure["seed"] for failure in tally.failures if failure["seed"] >= last]
    print(f"{len(tally.failures)} failures, {len(late)} of them in the last fifth (from {last})")
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())

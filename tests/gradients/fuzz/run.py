"""Differentiates random programs by number, in processes of their own, and tells what differs, crashes or hangs, made small.

    python tests/gradients/fuzz/run.py --count 10000
    python tests/gradients/fuzz/run.py --count 500 --device cuda        # with WEFT_CUDA_DRIVER=double

A program is its number: what failed once fails again with `--start NUMBER --count 1`. What is shown runs by itself.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from arrays.fuzz.run import TIERS, _watch
from fuzz.run import Tally, supervise

WORKER = Path(__file__).with_name("worker.py")


def run(
    programs: range,
    device: str = "cpu",
    tier: str = "both",
    jobs: int = 2,
    small: bool = True,
    told: Callable[[Tally, dict], None] | None = None,
) -> Tally:
    """Differentiates the programs of these numbers."""
    tally = Tally(told=told) if told else Tally()

    def command(first: int) -> list[str]:
        return [str(WORKER), str(first), str(programs.stop), str(jobs), "small" if small else ""]

    supervise(tally, programs, jobs, command, {"WEFT_DEVICE": device, **TIERS[tier]})
    return tally


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--start", type=int, default=0, help="the first number")
    parser.add_argument("--count", type=int, default=1000, help="how many")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--device", default="cpu", help="the device that arrays are on")
    parser.add_argument("--tier", default="both", choices=TIERS, help="of the CPU: interpreted, compiled, both")
    parser.add_argument("--as-found", action="store_true", help="do not make failures small")
    options = parser.parse_args()
    programs = range(options.start, options.start + options.count)
    tally = run(programs, options.device, options.tier, options.jobs, not options.as_found, _watch(options.count))
    print(f"on {options.device}, tier {options.tier}: {tally.total} programs: {dict(tally.counts)}")
    for message, times in tally.refusals.most_common(30):
        print(f"    refused {times}: {message}")
    print(f"{len(tally.failures)} failures")
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())

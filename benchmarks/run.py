"""Runs the benchmarks: `python run.py [--list] [--quick] [--record] [NAME ...]` (a file of `suite` or a benchmark)."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "suite")]

import harness  # noqa: E402
import report  # noqa: E402

SUITE = ["mandelbrot", "haversine", "streams", "sum", "matmul", "histogram", "nbody", "launch", "cold"]
PACKAGES = ["weft", "numpy", "numba", "numexpr", "jax", "taichi", "warp-lang", "icc-rt"]


def say(text: str) -> None:
    """Progress."""
    print(text, flush=True)


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Compare Weft with its peers and with hand-written code, as ratios.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="files of suite/, or benchmarks; all if none is given")
    parser.add_argument("--list", action="store_true", help="list the benchmarks and stop")
    parser.add_argument("--quick", action="store_true", help="a quarter of the repeats")
    parser.add_argument("--cpu-time", action="store_true", help="CPU time on one thread: for a machine busy with other things")
    parser.add_argument("--record", action="store_true", help="keep the results: in results/ and as the table of README.md")
    return parser.parse_args()


def outcomes(chosen: argparse.Namespace) -> list[harness.Outcome]:
    """Run what was chosen."""
    found = []
    for name in SUITE:
        suite = importlib.import_module(name)
        whole = not chosen.names or name in chosen.names
        for benchmark in getattr(suite, "BENCHMARKS", []):
            if not whole and benchmark.name not in chosen.names:
                continue
            if chosen.list:
                say(f"{name}: {benchmark.name}: {benchmark.title}")
                continue
            say(f"==> {benchmark.title}")
            if chosen.quick:
                benchmark = dataclasses.replace(benchmark, seconds=benchmark.seconds / 4)
            found.append(harness.run(benchmark, say))
            say(report.contenders_table(found[-1:]))
        for measure in getattr(suite, "MEASURES", []) if whole else []:
            if chosen.list:
                say(f"{name}: {getattr(measure, 'args', [name])[0] if getattr(measure, 'args', None) else 'wheel'}")
                continue
            say(f"==> {measure.args[1] if getattr(measure, 'args', None) else 'the wheel'}")
            found.append(measure(say=say))
            say(report.contenders_table(found[-1:]))
    return found


def main() -> None:
    """Run, print, write."""
    chosen = options()
    if chosen.cpu_time:
        harness.Clock.use_cpu_time()
    found = outcomes(chosen)
    if chosen.list:
        return
    if not found:
        raise SystemExit(f"no benchmark is called {' or '.join(chosen.names)}; --list shows them")
    text = report.write(found, harness.installed(PACKAGES), HERE / ("results" if chosen.record else "build/results"))
    say("\n" + text)
    if chosen.record:
        report.record(text, HERE / "README.md")


if __name__ == "__main__":
    main()

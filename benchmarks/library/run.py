"""NumPy's functions in compiled code, a million elements, one core: `python run.py [--list] [--quick] [--cpu-time] [--record] [NAME ...]`.

Each call in turns as NumPy does it, compiled by Numba and compiled by Weft, after the results have been compared. A name is a part of the
call.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
# One core, whoever it is; read when the libraries are imported.
for variable in ("WEFT_NUM_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402
from functions import FUNCTIONS, Function  # noqa: E402
from harness import WEFT, Benchmark, Clock, Contender, Outcome, Work, installed, module, run  # noqa: E402
from report import machine  # noqa: E402
from statements import STATEMENTS, TURNS, Statement  # noqa: E402

ALLOWED = 1.5
BEGIN, END = "<!-- library: begin -->", "<!-- library: end -->"


def contenders(function: Function) -> list[Contender]:
    """NumPy, Numba and Weft."""
    arguments = tuple(function.arguments.values())

    def compiled(package: str) -> Work:
        fast = module(package).njit(function.function())
        return lambda: fast(*arguments)

    def plain() -> Work:
        slow = function.function()
        return lambda: slow(*arguments)

    return [
        Contender(WEFT, lambda: compiled("weft"), WEFT, "weft"),
        Contender("numpy", plain),
        Contender("numba", lambda: compiled("numba"), needs="numba"),
    ]


def wrong(result: object, reference: object, loose: bool) -> str | None:
    """What is wrong with a result."""
    if isinstance(reference, tuple | list):
        if len(result) != len(reference):
            return "not as many items"
        return next(filter(None, (wrong(a, b, loose) for a, b in zip(result, reference, strict=True))), None)
    a, b = np.asarray(result), np.asarray(reference)
    if a.shape != b.shape:
        return f"shape {a.shape} for {b.shape}"
    exact = 1e-9 if b.dtype.itemsize > 4 else 1e-4
    same = (
        np.allclose(a, b, rtol=exact, atol=exact * max(1.0, np.nanmax(np.abs(b), initial=0)))
        if loose
        else np.array_equal(a, b, equal_nan=b.dtype.kind in "fc")
    )
    return None if same else "other values"


def benchmark(function: Function, seconds: float) -> Benchmark:
    """A call as the harness takes it."""
    plain, arguments = function.function(), tuple(function.arguments.values())
    return Benchmark(
        name=function.name,
        title=function.name,
        contenders=contenders(function),
        reference=lambda: plain(*arguments),
        check=lambda result, reference: wrong(result, reference, function.loose),
        seconds=seconds,
    )


def cells(function: Function, outcome: Outcome) -> list[str]:
    """A line of the table: times in milliseconds, and Weft's over the better of the others."""
    medians = {row.name: row.median for row in outcome.rows}
    notes = {row.name: row.note for row in outcome.rows}
    kinds = {np.asarray(a).dtype.name for a in function.arguments.values()} - {"int64", "bool"} or {"int64"}

    def time(name: str) -> str:
        median = medians[name]
        return f"{median * 1e3:.3g}" if median else ("—" if name == "numba" else notes[name])

    best = min((medians[name] for name in ("numpy", "numba") if medians[name]), default=None)
    ratio = medians[WEFT] / best if medians[WEFT] and best else None
    shown = "—" if ratio is None else f"{ratio:.2f}" if ratio <= ALLOWED else f"**{ratio:.2f}**"
    return [f"`{function.text}`", ", ".join(sorted(kinds)), time(WEFT), time("numpy"), time("numba"), shown]


def statement(one: Statement, seconds: float) -> Benchmark:
    """A loop around a short statement."""

    def arguments() -> tuple:
        return tuple(argument.copy() for argument in one.arguments)

    def compiled(package: str) -> Work:
        # What it writes to, it goes on with: the first result is the one that is compared.
        fast, own = module(package).njit(one.function), arguments()
        return lambda: fast(*own, TURNS)

    return Benchmark(
        name=one.name,
        title=one.name,
        contenders=[
            Contender(WEFT, lambda: compiled("weft"), WEFT, "weft"),
            Contender("numba", lambda: compiled("numba"), needs="numba"),
        ],
        reference=lambda: one.function(*arguments(), TURNS),
        check=lambda result, reference: wrong(result, reference, loose=True),
        seconds=seconds,
    )


def cost(one: Statement, outcome: Outcome) -> list[str]:
    """A line of the table of statements: nanoseconds for each."""
    medians = {row.name: row.median for row in outcome.rows}
    notes = {row.name: row.note for row in outcome.rows}

    def time(name: str) -> str:
        median = medians[name]
        return f"{median / TURNS / one.count * 1e9:.0f}" if median else notes[name] or "—"

    ratio = outcome.ratio(WEFT, "numba")
    return [one.name, time(WEFT), time("numba"), "—" if ratio is None else f"{ratio:.2f}"]


def table(head: list[str], rows: list[list[str]], words: int) -> str:
    """In Markdown; all columns but the first ones, which hold words, to the right."""
    ruler = ["---" if i < words else "---:" for i in range(len(head))]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ruler, *rows])


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="parts of calls; all if none is given")
    parser.add_argument("--list", action="store_true", help="list the calls and stop")
    parser.add_argument("--quick", action="store_true", help="a quarter of the repeats")
    parser.add_argument("--cpu-time", action="store_true", help="CPU time: for a machine busy with other things")
    parser.add_argument("--record", action="store_true", help="keep the results in benchmarks/results")
    return parser.parse_args()


def main() -> None:
    """Run, print, write."""
    chosen = options()
    functions = [f for f in FUNCTIONS if not chosen.names or any(name in f.text for name in chosen.names)]
    if chosen.list:
        print("\n".join(f.name for f in functions))
        return
    if chosen.cpu_time:
        Clock.use_cpu_time()
    rows, numbers = [], []
    for function in functions:
        outcome = run(benchmark(function, 0.15 if chosen.quick else 0.6), lambda text: None)
        rows.append(cells(function, outcome))
        numbers.append({"call": function.text, "seconds": {row.name: row.median for row in outcome.rows}})
        print(" | ".join(rows[-1]), flush=True)
    costs = []
    for one in [one for one in STATEMENTS if not chosen.names or any(name in one.name for name in chosen.names)]:
        outcome = run(statement(one, 0.15 if chosen.quick else 0.6), lambda text: None)
        costs.append(cost(one, outcome))
        numbers.append({"statement": one.name, "seconds": {row.name: row.median for row in outcome.rows}})
        print(" | ".join(costs[-1]), flush=True)
    versions = ", ".join(f"{name} {version}" for name, version in installed(["weft", "numpy", "numba"]).items())
    calls = table(["call", "dtype", "Weft, ms", "NumPy, ms", "Numba, ms", "Weft / the better"], rows, 2)
    statements = table(["one statement in a loop", "Weft, ns", "Numba, ns", "Weft / Numba"], costs, 1)
    folder = HERE.parent / ("results" if chosen.record else "build/results")
    folder.mkdir(parents=True, exist_ok=True)
    text = f"{machine().replace(' cores', ' cores, one used')}. {versions}.\n\n{calls}\n\n{statements}\n"
    (folder / "library.md").write_text(text)
    (folder / "library.json").write_text(json.dumps(numbers, indent=1) + "\n")
    if chosen.record:
        page = HERE.parents[1] / "docs/library.md"
        before, rest = page.read_text().split(BEGIN)
        page.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    main()

"""The measuring machinery: what a benchmark is, how contenders are interleaved, what is kept of the times.

Nothing here knows a particular benchmark. The rule is the same for all: every contender's result is checked against the
reference before anything is timed; contenders then take turns, so that whatever else the machine does falls on all
alike; a ratio is the median over rounds of times measured in the same round.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import importlib.util
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

WEFT = "weft"
LIMIT = "limit"

Work = Callable[[], Any]


class Clock:
    """What is read before and after: the wall's time, or with `--cpu-time` the time this process got from the processor."""

    now: Callable[[], float] = time.perf_counter
    cpu = False

    @classmethod
    def use_cpu_time(cls) -> None:
        """For a machine that is busy with other things: CPU time of all threads, and one thread for everyone."""
        cls.now, cls.cpu = time.process_time, True
        for variable in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "WEFT_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS"):
            os.environ[variable] = "1"


class NotInstalledError(Exception):
    """A peer, a library or a compiler that this contender needs is not there."""


@dataclass(frozen=True)
class Contender:
    """One way of doing the work. `prepare` imports what is needed and returns the work, which returns its result."""

    name: str
    prepare: Callable[[], Work]
    rank: str = "peer"
    """`weft`, `limit` (variants compete: the fastest is the limit) or `peer`."""
    needs: str | None = None
    """The module whose absence means "not installed"."""


@dataclass(frozen=True)
class Budget:
    """What Weft must reach: at most `factor` times the time of contender `against`, or at most `absolute`."""

    text: str
    against: str | None = None
    factor: float = 1.0
    absolute: float | None = None
    weft: str = WEFT
    """Which of Weft's contenders it is about."""
    error: bool = False
    """The budget is about the result's error, not about time."""

    def found(self, outcome: Outcome) -> float | None:
        """What this run found, to be compared with `allowed`; None if Weft or its opponent was not measured."""
        if self.against is not None:
            return outcome.ratio(self.weft, self.against)
        row = outcome.row(self.weft)
        if row is None:
            return None
        return row.value if self.error or not row.times else row.median

    @property
    def allowed(self) -> float:
        """The most that meets the budget."""
        return self.factor if self.absolute is None else self.absolute


@dataclass(frozen=True)
class Benchmark:
    """Contenders on one task, timed in turns."""

    name: str
    title: str
    contenders: Sequence[Contender]
    reference: Callable[[], Any]
    check: Callable[[Any, Any], str | None]
    """`check(result, reference)`: what is wrong with the result, or None."""
    budgets: Sequence[Budget] = ()
    work: tuple[float, str] | None = None
    """Amount of work in one call and its unit, to show rates (`(1.2e8, "B")`)."""
    describe: Callable[[Any, Any], str] | None = None
    """A word on a right result, such as its error."""
    error: Callable[[Any, Any], float] | None = None
    """The result's error, where a budget asks for it."""
    seconds: float = 6.0
    inner: int = 1
    """Calls per sample, for work too short to time alone."""


@dataclass
class Row:
    """One contender's outcome: times of its samples in seconds (per call), or why there are none."""

    name: str
    rank: str
    times: list[float] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)
    """The round each sample was taken in."""
    note: str = ""
    value: float | None = None
    """What was found besides times: bytes, or the result's error."""

    @property
    def median(self) -> float | None:
        """The middle of the samples, in seconds."""
        return statistics.median(self.times) if self.times else None

    @property
    def best(self) -> float | None:
        """The shortest sample, in seconds."""
        return min(self.times) if self.times else None


@dataclass
class Outcome:
    """All rows of a benchmark, with what its budgets need."""

    name: str
    title: str
    rows: list[Row]
    budgets: Sequence[Budget] = ()
    work: tuple[float, str] | None = None
    unit: str = "s"

    def row(self, name: str) -> Row | None:
        """The row of a contender; `limit` is the fastest of the limit's variants; None if it was not measured."""
        named = [r for r in self.rows if (r.rank == LIMIT if name == LIMIT else r.name == name)]
        measured = [r for r in named if r.times or r.value is not None]
        return min(measured, key=lambda r: r.median or 0.0) if measured else None

    def ratio(self, name: str, against: str) -> float | None:
        """Time of one contender over another's: the median over the rounds in which both ran."""
        a, b = self.row(name), self.row(against)
        if a is None or b is None:
            return None
        return paired_ratio(a, b)


def paired_ratio(a: Row, b: Row) -> float | None:
    """Median over common rounds of a's time over b's; without common rounds, the ratio of medians."""
    other = dict(zip(b.rounds, b.times, strict=True))
    ratios = [t / other[r] for r, t in zip(a.rounds, a.times, strict=True) if r in other]
    if ratios:
        return statistics.median(ratios)
    if a.median is None or b.median is None:
        return None
    return a.median / b.median


def installed(packages: Sequence[str]) -> dict[str, str]:
    """What is installed of the packages."""
    found = {}
    for package in packages:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def module(name: str) -> Any:
    """Import a peer, or say that it is not installed."""
    if importlib.util.find_spec(name.split(".")[0]) is None:
        raise NotInstalledError(name)
    return importlib.import_module(name)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Some peers greet on import; keep the progress lines readable."""
    with open(os.devnull, "w") as sink, contextlib.redirect_stdout(sink):
        yield


def run(benchmark: Benchmark, say: Callable[[str], None]) -> Outcome:
    """Check every contender, then time them in turns for about `benchmark.seconds` each."""
    rows: list[Row] = []
    ready: list[tuple[Row, Work, float]] = []
    reference = benchmark.reference()
    for contender in benchmark.contenders:
        row = Row(contender.name, contender.rank)
        rows.append(row)
        say(f"  {contender.name}")
        work = _ready(contender, benchmark, reference, row)
        if work is not None:
            ready.append((row, work, _once(work, benchmark.inner)))
    say("  timing")
    _interleave(ready, benchmark.seconds, benchmark.inner)
    return Outcome(benchmark.name, benchmark.title, rows, benchmark.budgets, benchmark.work)


def _ready(contender: Contender, benchmark: Benchmark, reference: Any, row: Row) -> Work | None:
    """The contender's work once its result has been found right; else the reason is noted in its row."""
    try:
        if contender.needs is not None:
            with quiet():
                module(contender.needs)
        with quiet():
            work = contender.prepare()
        result = work()
        wrong = benchmark.check(result, reference)
        if wrong is None and benchmark.describe is not None:
            row.note = benchmark.describe(result, reference)
        if wrong is None and benchmark.error is not None:
            row.value = benchmark.error(result, reference)
    except NotInstalledError as error:
        row.note = f"not installed ({error})"
        return None
    except Exception as error:  # a peer may fail in any way; the others are still measured
        row.note = f"failed: {type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"[:160]
        return None
    if wrong is not None:
        row.note = f"wrong result: {wrong}"
        return None
    return work


def _once(work: Work, inner: int) -> float:
    start = Clock.now()
    for _ in range(inner):
        work()
    return (Clock.now() - start) / inner


def _interleave(ready: list[tuple[Row, Work, float]], seconds: float, inner: int) -> None:
    """Rounds of one sample each, in an order that rotates. A contender that is slow sits out some rounds, never all."""
    if not ready:
        return
    fastest = min(first for _, _, first in ready) * inner
    rounds = max(5, min(60, int(seconds / max(fastest, 1e-4) / 4)))
    for turn in range(rounds):
        for k in range(len(ready)):
            row, work, first = ready[(k + turn) % len(ready)]
            affordable = max(3, min(rounds, int(seconds / (first * inner)))) if first > 0 else rounds
            if turn * affordable // rounds == (turn - 1) * affordable // rounds and turn > 0:
                continue
            time.sleep(0.01)  # let the thread pools of whoever ran before stop spinning
            row.times.append(_once(work, inner))
            row.rounds.append(turn)


def limit_threads(cores: int) -> None:
    """For whoever is imported from here on."""
    os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:cores]))
    for name in ("WEFT", "OMP", "OPENBLAS", "MKL"):
        os.environ[f"{name}_NUM_THREADS"] = str(cores)
    if cores == 1:
        os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


def marked(ratio: float | None) -> str:
    """Weft's time over another's as tables have it: in bold where Weft is slower."""
    return "—" if ratio is None else f"{ratio:.2f}" if ratio <= 1.05 else f"**{ratio:.2f}**"


@dataclass(frozen=True)
class Table:
    """The table of a page, with a line for each case; `main` is its program.

    The page is docs/NAME.md, which has the table between two marks, and a copy is kept in benchmarks/results.
    """

    name: str
    description: str
    head: Sequence[str]
    packages: Sequence[str]
    cases: Callable[[], Sequence[tuple[Any, ...]]]
    """Each begins with its name. Called when threads are limited."""
    line: Callable[[tuple[Any, ...], float], list[str]]
    """The line of a case, measured for about so many seconds for each contender."""

    def main(self) -> None:
        """Measures what is asked for; `--record` puts the table into the page."""
        parser = argparse.ArgumentParser(description=self.description)
        parser.add_argument("names", nargs="*", metavar="NAME", help="parts of names; all if none is given")
        parser.add_argument("--list", action="store_true", help="list them and stop")
        parser.add_argument("--quick", action="store_true", help="a quarter of the time")
        parser.add_argument("--record", action="store_true", help=f"keep the results: docs/{self.name}.md and benchmarks/results")
        parser.add_argument("--cores", type=int, default=1)
        chosen = parser.parse_args()
        limit_threads(chosen.cores)
        wanted = [case for case in self.cases() if not chosen.names or any(part in case[0] for part in chosen.names)]
        if chosen.list:
            print(*(case[0] for case in wanted), sep="\n")
            return
        rows = [list(self.head), ["---", *["---:"] * (len(self.head) - 1)]]
        for at, case in enumerate(wanted, 1):
            print(f"[{at}/{len(wanted)}] {case[0]}", file=sys.stderr, flush=True)
            rows.append(self.line(case, 1.0 if chosen.quick else 4.0))
            print("| " + " | ".join(rows[-1]) + " |", flush=True)
        if chosen.record:
            self._record("\n".join("| " + " | ".join(row) + " |" for row in rows), chosen.cores)

    def _record(self, table: str, cores: int) -> None:
        from report import machine

        here = Path(__file__).resolve().parent
        page, begin, end = here.parent / "docs" / f"{self.name}.md", f"<!-- {self.name}: begin -->", f"<!-- {self.name}: end -->"
        before, rest = page.read_text().split(begin)
        _, after = rest.split(end)
        used = "one used" if cores == 1 else f"{cores} used"
        versions = ", ".join(f"{name} {version}" for name, version in installed(self.packages).items())
        shown = f"{machine().replace(' cores', f' cores, {used}')}. {versions}.\n\n{table}"
        page.write_text(f"{before}{begin}\n\n{shown}\n\n{end}{after}")
        (here / "results" / f"{self.name}.md").write_text(shown + "\n")

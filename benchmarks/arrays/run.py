"""Array code against the peers: `python run.py [--list] [--quick] [--record] [--cores one|all|both] [GROUP or NAME ...]`.

The groups are `mesh`, `chain`, `programs`, `small`, `draws`, `folds`, `sorts`, `transforms` and `fresh`. Everyone's result is checked, then
everyone takes turns; one core and all cores are a process each.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
GROUPS = ["mesh", "chain", "programs", "small", "draws", "folds", "sorts", "transforms", "fresh"]
# What all cores do is measured of these only.
ON_ALL = ["mesh", "chain", "programs", "sorts", "transforms"]
FIRST = ["mesh", "chain", "black-scholes", "blur", "image", "k-means", "jacobi", "pi", "sum-4000×1000-1", "softmax-4000×1000-1"]
SAMPLES = 5


def one_core() -> None:
    """For whoever is imported from here on."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    for name in ("WEFT", "NUMBA", "OMP", "OPENBLAS", "NUMEXPR", "MKL"):
        os.environ[f"{name}_NUM_THREADS"] = "1"
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


def wrong(result: Any, reference: Any, tolerance: float) -> str | None:
    """What is wrong with a result."""
    import numpy as np

    if isinstance(reference, tuple):
        parts = [wrong(a, b, tolerance) for a, b in zip(result, reference, strict=True)]
        return next(filter(None, parts), None)
    a, b = np.asarray(result), np.asarray(reference)
    if a.shape != b.shape:
        return f"shape {a.shape} for {b.shape}"
    if tolerance == 0.0:
        return None if np.array_equal(a, b) else "other values"
    off = float(np.max(np.abs(a.astype(b.dtype) - b))) / float(np.abs(b).max())
    return None if off <= tolerance else f"off by {off:.0e}"


def benchmarks(cores: str) -> list[tuple[str, Any, float | None, int]]:
    """Group, benchmark, bytes moved, and how many operations a call counts for."""
    import avx2
    from contenders import contenders, in_numpy, mesh_by_hand, triad
    from draws import DRAWS
    from harness import LIMIT, Benchmark, Contender
    from programs import CHAIN, FOLDS, MESH, PROGRAMS
    from small import SMALL
    from sorts import SORTS
    from transforms import ONE, TWO

    def of(program: Any, extra: list[Any]) -> Any:
        return Benchmark(
            name=program.name,
            title=program.title,
            contenders=[*contenders(program), *extra],
            reference=lambda: in_numpy(program)(),
            check=lambda result, reference: wrong(result, reference, program.tolerance),
            seconds=program.seconds,
        )

    streams = Benchmark("triad", "triad, 10⁷, float64", [Contender("C", triad, LIMIT)], lambda: None, lambda result, reference: None)
    found = [("mesh", of(MESH, mesh_by_hand()), None, 1), ("chain", of(CHAIN, []), CHAIN.moved, 1), ("chain", streams, None, 1)]
    found += [("programs", of(p, []), None, 1) for p in PROGRAMS]
    if cores == "one":
        found += [("small", b, None, count) for b, count in SMALL]
        found += [("draws", b, None, count) for b, count in DRAWS]
        found += [("folds", of(p, []), None, 1) for p in FOLDS]
        found += [("transforms", b, None, 1) for b in ONE]
    for p in SORTS:
        # NumPy's order of equal elements and its different ones depend on no code; what sorts does.
        extra = [avx2.contender("sort", p.arguments)] if p.name.startswith("sort-") else []
        found.append(("sorts", of(p, extra), None, 1))
    found += [("transforms", b, None, 1) for b in TWO]
    return found


def worker(chosen: argparse.Namespace) -> None:
    """Measures on one core or on all, in this process."""
    import dataclasses

    from harness import run
    from table import Line

    lines = []
    for group, benchmark, moved, count in benchmarks(chosen.cores):
        if chosen.names and group not in chosen.names and benchmark.name not in chosen.names:
            continue
        if chosen.list:
            print(f"{group}: {benchmark.name}: {benchmark.title}")
            continue
        if chosen.quick:
            benchmark = dataclasses.replace(benchmark, seconds=benchmark.seconds / 4)
        outcome = run(benchmark, lambda text: None)
        line = Line(group, benchmark.name, benchmark.title, chosen.cores, moved=moved)
        for row in outcome.rows:
            if row.best is not None:
                line.times[row.name] = row.best / count
            else:
                line.notes[row.name] = row.note
        lines.append(line)
        said = [f"{name} {seconds * 1e3:.4g} ms" for name, seconds in sorted(line.times.items(), key=lambda each: each[1])]
        print(f"{line.title} ({chosen.cores}): " + ", ".join(said + [f"{name}: {note}" for name, note in line.notes.items()]), flush=True)
        chosen.worker.write_text(json.dumps([asdict(each) for each in lines]))


def measured(chosen: argparse.Namespace, cores: str) -> list[Any]:
    """What a process of its own measures."""
    from table import Line

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "lines.json"
        command = [sys.executable, __file__, "--worker", str(out), "--cores", cores, *chosen.names]
        flags = ["--quick"] * chosen.quick + ["--list"] * chosen.list
        done = subprocess.run([*command, *flags], check=False)
        if done.returncode != 0:
            print(f"the process for {cores} cores ended with {done.returncode}", file=sys.stderr)
        return [Line(**line) for line in json.loads(out.read_text())] if out.exists() else []


def once(*arguments: str, **environment: str) -> dict[str, Any]:
    """One measurement in a fresh process with empty caches."""
    with tempfile.TemporaryDirectory() as empty:
        environment = {**os.environ, "WEFT_CACHE_DIR": empty, **environment}
        command = [sys.executable, str(HERE / "once.py"), *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode != 0:
        return {"failed": (done.stderr.strip().splitlines() or ["no output"])[-1]}
    return json.loads(done.stdout)


def fresh(say: Callable[[str], None], samples: int) -> dict[str, Any]:
    """What a newcomer waits for, and what is compiled when."""
    found: dict[str, Any] = {"first": {}, "peak": {}}
    for program in FIRST:
        runs: dict[str, list[dict[str, Any]]] = {"weft": [], "numpy": []}
        for _ in range(samples):
            for library, own in runs.items():
                own.append(once("first", library, program))
        failed = next((run["failed"] for own in runs.values() for run in own if "failed" in run), None)
        good = {library: min(own, key=lambda each: sum(each.values())) for library, own in runs.items()} if failed is None else {}
        found["first"][program] = good or {"failed": failed}
        say(f"first call of {program}: {found['first'][program]}")
    for library in ("weft", "numpy"):
        large, tiny = once("peak", library, "1000"), once("peak", library, "10")
        if "failed" not in large and "failed" not in tiny:
            found["peak"][library] = {"bytes": large["bytes"] - tiny["bytes"]}
    # With compiled code alone, so that every kernel shows.
    found["shapes"] = once("shapes", "weft", WEFT_ARRAYS_TIER="1")
    found["steps"] = once("steps", "weft", WEFT_ARRAYS_TIER="1")
    found["pending"] = once("pending", "weft")
    for name in ("peak", "shapes", "steps", "pending"):
        say(f"{name}: {found[name]}")
        found[name] = {} if "failed" in found[name] else found[name]
    return found


def with_what_was_recorded(lines: list[Any], seen: dict[str, Any], path: Path) -> tuple[list[Any], dict[str, Any]]:
    """What was measured now, and of all else what was recorded on such a machine before."""
    from table import Line, machine

    before = json.loads(path.read_text())
    if before["machine"] != machine():
        sys.exit(f"recorded was on another machine ({before['machine']}): measure all groups on this one")
    now = {(line.name, line.cores) for line in lines}
    kept = [Line(**line) for line in before["lines"] if (line["name"], line["cores"]) not in now]
    order = {name: at for at, name in enumerate(GROUPS)}
    return sorted(kept + lines, key=lambda line: order[line.group]), seen or before["fresh"]


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="groups, or names of tasks; all if none is given")
    parser.add_argument("--list", action="store_true", help="list the tasks and stop")
    parser.add_argument("--quick", action="store_true", help="a quarter of the repeats")
    kept = "keep the results in benchmarks/results and docs/arrays.md; of groups that are not named what is there stays"
    parser.add_argument("--record", action="store_true", help=kept)
    parser.add_argument("--cores", choices=["one", "all", "both"], default="both", help="one core, all cores, or each in turn")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    """Run, print, write."""
    chosen = options()
    if chosen.worker:
        if chosen.cores == "one":
            one_core()
        worker(chosen)
        return
    lines: list[Any] = []
    for cores in ("one", "all"):
        if chosen.cores in (cores, "both") and chosen.names != ["fresh"]:
            lines += measured(chosen, cores)
    if chosen.list:
        return
    seen = fresh(print, 2 if chosen.quick else SAMPLES) if not chosen.names or "fresh" in chosen.names else {}
    from harness import installed
    from table import record, write

    versions = installed(["weft", "numpy", "scipy", "numexpr", "numba", "jax", "mlx", "icc-rt"])
    if versions["weft"] == "not installed":
        # It may be run from where it is built.
        import weft

        versions["weft"] = weft.__version__
    folder = HERE.parent / ("results" if chosen.record else "build/results")
    if chosen.record and chosen.names:
        lines, seen = with_what_was_recorded(lines, seen, folder / "arrays.json")
    text = write(lines, seen, versions, folder)
    print("\n" + text)
    if chosen.record:
        record(text, HERE.parents[1] / "docs/arrays.md")


if __name__ == "__main__":
    main()

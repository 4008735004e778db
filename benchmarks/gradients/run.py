"""Gradients of programs: `python run.py [--list] [--quick] [--record] [--cores N] [NAME ...]`.

Each in turns with JAX, PyTorch and Warp, gradients compared before they are timed.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
BEGIN, END = "<!-- gradients: begin -->", "<!-- gradients: end -->"
PAGE = HERE.parent.parent / "docs" / "gradients.md"

SIZES: dict[str, tuple[Any, ...]] = {"bodies-512": (512,), "bodies-2048": (2048,), "heat-256-50": (256, 50), "heat-1024-50": (1024, 50)}
PEERS = ("jax", "torch", "warp")


def limit_threads(cores: int) -> None:
    """For whoever is imported from here on."""
    os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:cores]))
    for name in ("WEFT", "OMP", "OPENBLAS", "MKL"):
        os.environ[f"{name}_NUM_THREADS"] = str(cores)
    if cores == 1:
        os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


def benchmark(name: str, seconds: float) -> Any:
    """A case as the harness takes it: each contender's gradient, and Weft's program without."""
    import numpy as np
    import programs
    from harness import WEFT, Benchmark, Contender

    kind, sizes = name.split("-")[0], SIZES[name]
    args: tuple[Any, ...] = (programs.bodies(*sizes),) if kind == "bodies" else (*programs.plate(sizes[0]), sizes[1])
    reference = {"bodies": programs.forces, "heat": programs.slope}[kind]

    def gradient(way: str) -> Any:
        return lambda: getattr(programs, f"{kind}_{way}")(*args)[1]

    def forward() -> Any:
        from programs import bodies_in_weft, heat_in_weft

        work = (bodies_in_weft if kind == "bodies" else heat_in_weft)(*args)[0]
        known = reference(*args)

        def only() -> Any:
            work()
            return known

        return only

    def check(result: Any, wanted: Any) -> str | None:
        off = float(np.abs(np.asarray(result) - wanted).max()) / float(np.abs(wanted).max())
        return None if off < 1e-4 else f"off by {off:.0e}"

    return Benchmark(
        name=name,
        title=name,
        contenders=[
            Contender(WEFT, gradient("in_weft"), WEFT, "weft"),
            Contender("without", forward, WEFT, "weft"),
            Contender("arrays", gradient("of_arrays"), WEFT, "weft"),
            Contender("jax", gradient("in_jax"), needs="jax"),
            Contender("torch", gradient("in_torch"), needs="torch"),
            Contender("warp", gradient("in_warp"), needs="warp"),
        ],
        reference=lambda: reference(*args),
        check=check,
        seconds=seconds,
    )


def line(name: str, outcome: Any) -> list[str]:
    """A line of the table: milliseconds, and Weft's time over others'."""
    medians = {row.name: row.median for row in outcome.rows}
    for row in outcome.rows:
        if row.note:
            print(f"  {row.name}: {row.note}", file=sys.stderr)
    shown = [f"{medians[one] * 1e3:.3g}" if medians.get(one) else "—" for one in ("weft", "arrays", *PEERS)]
    best = min((medians[peer] for peer in PEERS if medians.get(peer)), default=None)
    over = "—" if best is None or not medians.get("weft") else f"{best / medians['weft']:.2f}"
    forward = "—" if not medians.get("without") or not medians.get("weft") else f"{medians['weft'] / medians['without']:.2f}"
    return [f"`{name}`", *shown, over, forward]


def main() -> None:
    """Measures what is asked for; `--record` puts the table into the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="parts of names; all if none is given")
    parser.add_argument("--list", action="store_true", help="list them and stop")
    parser.add_argument("--quick", action="store_true", help="a quarter of the time")
    parser.add_argument("--record", action="store_true", help="keep the results: docs/gradients.md and benchmarks/results")
    parser.add_argument("--cores", type=int, default=1)
    chosen = parser.parse_args()
    limit_threads(chosen.cores)
    from harness import installed, run
    from report import machine

    wanted = [name for name in SIZES if not chosen.names or any(part in name for part in chosen.names)]
    if chosen.list:
        print(*wanted, sep="\n")
        return
    head = [
        "gradient",
        "Weft's adjoint, ms",
        "Weft's arrays, ms",
        "JAX, ms",
        "PyTorch, ms",
        "Warp, ms",
        "best peer / adjoint",
        "adjoint / forward",
    ]
    rows = [head, ["---", *["---:"] * 7]]
    for at, name in enumerate(wanted, 1):
        print(f"[{at}/{len(wanted)}] {name}", file=sys.stderr, flush=True)
        rows.append(line(name, run(benchmark(name, 1.0 if chosen.quick else 4.0), lambda _: None)))
        print("| " + " | ".join(rows[-1]) + " |", flush=True)
    table = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    if chosen.record:
        text = PAGE.read_text()
        before, rest = text.split(BEGIN)
        _, after = rest.split(END)
        used = "one used" if chosen.cores == 1 else f"{chosen.cores} used"
        versions = ", ".join(f"{name} {version}" for name, version in installed(["weft", "numpy", "jax", "torch", "warp-lang"]).items())
        shown = f"{machine().replace(' cores', f' cores, {used}')}. {versions}.\n\n{table}"
        PAGE.write_text(f"{before}{BEGIN}\n\n{shown}\n\n{END}{after}")
        (HERE.parent / "results" / "gradients.md").write_text(shown + "\n")


if __name__ == "__main__":
    main()

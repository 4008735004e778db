"""Gradients of programs: `python run.py [--list] [--quick] [--record] [--cores N] [NAME ...]`.

Each in turns with JAX, PyTorch and Warp, gradients compared before they are timed.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

SIZES: dict[str, tuple[Any, ...]] = {"bodies-512": (512,), "bodies-2048": (2048,), "heat-256-50": (256, 50), "heat-1024-50": (1024, 50)}
PEERS = ("jax", "torch", "warp")


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


def line(case: tuple[Any, ...], seconds: float) -> list[str]:
    """A line of the table: milliseconds, and Weft's time over others'."""
    from harness import run

    (name,) = case
    outcome = run(benchmark(name, seconds), lambda _: None)
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
    """See the top."""
    from harness import Table

    ours, theirs = ["Weft's adjoint, ms", "Weft's arrays, ms"], ["JAX, ms", "PyTorch, ms", "Warp, ms"]
    head = ["gradient", *ours, *theirs, "best peer / adjoint", "adjoint / forward"]
    packages = ["weft", "numpy", "jax", "torch", "warp-lang"]
    Table("gradients", __doc__.splitlines()[0], head, packages, lambda: [(name,) for name in SIZES], line).main()


if __name__ == "__main__":
    main()

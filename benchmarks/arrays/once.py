"""Run in a fresh process: `python once.py <what> <library> [<program>]` prints numbers of one measurement as JSON.

`first`: seconds of the import, and of the first call of a program with a look at its result. `peak`: bytes that the process had at the
most. `shapes`, `steps` and `pending`: how many kernels are compiled, and how memory grows.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]


def first(library: str, program: str) -> dict[str, float]:
    """NumPy's import counts for both: arrays need it."""
    start = time.perf_counter()
    import numpy as np

    if library == "weft":
        import weft as xp

        xp.asarray(0.0)
    else:
        xp = np
    imported = time.perf_counter() - start
    made, arrays = _program(program, xp, np)
    start = time.perf_counter()
    result = made(*arrays)
    for each in result if isinstance(result, tuple) else (result,):
        np.asarray(each)
    return {"import": imported, "call": time.perf_counter() - start}


def _program(name: str, xp: Any, np: Any) -> tuple[Any, list[Any]]:
    from programs import CHAIN, FOLDS, MESH, PROGRAMS

    found = next(p for p in [MESH, CHAIN, *PROGRAMS, *FOLDS] if p.name == name)
    arrays = [xp.asarray(a) for a in found.arguments()]
    return found.make(xp), arrays


def peak(library: str, side: str) -> dict[str, float]:
    """The mesh of a side, until nothing more is compiled: bytes that the process ever had. What it has for a tiny mesh is no mesh."""
    import numpy as np
    import programs

    if library == "weft":
        from contenders import settled

        import weft as xp
    else:
        xp, settled = np, lambda work: work
    programs.N = int(side)
    mesh = programs.mesh(xp)
    work = settled(lambda: np.asarray(mesh()))
    for _ in range(3):
        work()
    return {"bytes": _most()}


def _most() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _now() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def shapes(library: str) -> dict[str, float]:
    """Kernels compiled for three shapes, and for a hundred more."""
    import numpy as np

    import weft

    def program(n: int, m: int) -> None:
        x = weft.asarray(np.ones((n, m), np.float32))
        y = weft.exp(x * 2.0 - x.mean(axis=1, keepdims=True)) + x[:, ::-1]
        np.asarray(y.sum(axis=0) / n)

    for k in range(3):
        program(40 + k, 50 + 3 * k)
        weft._weft._finish_compiling()
    before = weft._weft._compiled_count()
    for k in range(100):
        program(60 + 7 * k, 30 + 11 * k)
    weft._weft._finish_compiling()
    return {"before": before, "more": weft._weft._compiled_count() - before}


def steps(library: str) -> dict[str, float]:
    """A loop of 10⁴ steps with state: kernels after the third step, bytes more at the end than after a tenth."""
    import numpy as np

    import weft

    u = weft.asarray(np.random.default_rng(0).random((64, 64)))
    total = weft.zeros(())
    start = time.perf_counter()
    third = tenth = 0
    for step in range(10_000):
        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        total = total + u.mean() * step
        weft.eval(u, total)
        if step == 2:
            weft._weft._finish_compiling()
            third = weft._weft._compiled_count()
        if step == 1000:
            tenth = _now()
    float(total)
    seconds = time.perf_counter() - start
    weft._weft._finish_compiling()
    return {"third": third, "end": weft._weft._compiled_count(), "grown": _now() - tenth, "step": seconds / 10_000}


def pending(library: str) -> dict[str, float]:
    """10⁴ steps that nobody looks at before the end."""
    import numpy as np

    import weft

    x = weft.asarray(np.ones(100_000))
    y = weft.asarray(np.full(100_000, 0.5))
    tenth = 0
    start = time.perf_counter()
    for step in range(10_000):
        x = x * 0.5 + y
        if step == 1000:
            tenth = _now()
    np.asarray(x)
    seconds = time.perf_counter() - start
    return {"grown": _now() - tenth, "most": _most(), "step": seconds / 10_000}


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    print(json.dumps(globals()[what](*arguments)))

"""The second half of ``weft demo``: distances on a mesh, written naively and by hand, with times and peak memory.

Each way runs in a process of its own, ``python -m weft.demo_mesh WAY SIDE``, so that its memory is its own.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

PLACE = (29.5, 100.25)
LATITUDES, LONGITUDES = (29.0, 31.0), (99.0, 101.0)
DIAMETER = 2.0 * 6371.0
SMALL = 256
"""The side of the mesh that is computed until everything is compiled, before memory and times are looked at."""


def naive(xp: Any, side: int) -> Any:
    """The lines that people write first."""
    lat, lon = xp.meshgrid(xp.linspace(*LATITUDES, side), xp.linspace(*LONGITUDES, side))
    p = xp.sin(np.pi / 360 * (PLACE[0] - lat))
    q = xp.sin(np.pi / 360 * (PLACE[1] - lon))
    a = p * p + xp.cos(np.pi / 180 * lat) * np.cos(np.pi / 180 * PLACE[0]) * q * q
    return DIAMETER * xp.arctan2(xp.sqrt(a), xp.sqrt(1.0 - a))


def distance(lat1, lon1, lat2, lon2):
    """Kilometres between two places given in degrees."""
    p = math.sin(math.pi / 360 * (lat2 - lat1))
    q = math.sin(math.pi / 360 * (lon2 - lon1))
    a = p * p + math.cos(math.pi / 180 * lat1) * math.cos(math.pi / 180 * lat2) * q * q
    return DIAMETER * math.atan2(math.sqrt(a), math.sqrt(1.0 - a))


def _numpy() -> Callable[[int], Any]:
    return lambda side: naive(np, side)


def _weft() -> Callable[[int], Any]:
    import weft

    return lambda side: np.asarray(naive(weft, side))


def _kernel() -> Callable[[int], Any]:
    """One thread a point; no mesh is stored."""
    from weft import cuda

    one = cuda.jit(device=True)(distance)

    @cuda.jit
    def mesh(first_lat, step_lat, first_lon, step_lon, lat2, lon2, out):
        i, j = cuda.grid(2)
        if i < out.shape[0] and j < out.shape[1]:
            out[i, j] = one(first_lat + j * step_lat, first_lon + i * step_lon, lat2, lon2)

    def run(side: int) -> Any:
        out = np.empty((side, side))
        steps = [(ends[1] - ends[0]) / (side - 1) for ends in (LATITUDES, LONGITUDES)]
        mesh.forall(out.shape)(LATITUDES[0], steps[0], LONGITUDES[0], steps[1], *PLACE, out)
        return out

    return run


def _numba() -> Callable[[int], Any]:
    import numba

    f = numba.vectorize(["float64(float64, float64, float64, float64)"], target="parallel")(distance)

    def run(side: int) -> Any:
        lat, lon = np.linspace(*LATITUDES, side), np.linspace(*LONGITUDES, side)
        return f(lat[None, :], lon[:, None], *PLACE)

    return run


WAYS: dict[str, tuple[str, Callable[[], Callable[[int], Any]]]] = {
    "numpy": ("NumPy, naive", _numpy),
    "weft": ("Weft, naive", _weft),
    "kernel": ("Weft, kernel by hand", _kernel),
    "numba": ("Numba, vectorize", _numba),
}


@dataclass(frozen=True)
class Measured:
    """What one way took. ``memory`` is what the process had at the most beyond what it had before, in bytes; None where nobody counts."""

    who: str
    seconds: float
    first: float
    memory: int | None


def run(side: int, folder: Path, say: Callable[[str], None]) -> None:
    """Measure every way, print the table, write ``mesh-times.png`` to ``folder``."""
    found: list[Measured] = []
    expected = None
    for way, (who, _) in WAYS.items():
        if way == "numba" and importlib.util.find_spec("numba") is None:
            say("numba is not installed: the mesh is computed without it")
            continue
        say(f"mesh by {who}")
        done = subprocess.run([sys.executable, "-m", "weft.demo_mesh", way, str(side)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            say(f"{who} is left out: {(done.stderr.strip().splitlines() or ['no output'])[-1]}")
            continue
        numbers = json.loads(done.stdout)
        mean = numbers.pop("mean")
        expected = mean if expected is None else expected
        if not math.isclose(mean, expected, rel_tol=1e-9):
            say(f"{who} is left out: its mean distance is {mean}, not {expected}")
            continue
        found.append(Measured(who, **numbers))
    if found:
        _print_table(found, side)
    if found and _plot(found, side, folder / "mesh-times.png"):
        print(f"\nwrote {folder / 'mesh-times.png'}")


def measure(way: str, side: int) -> dict[str, Any]:
    """In this process: the first call on a small mesh, then the shortest of several on the whole one, and the memory these take."""
    f = WAYS[way][1]()
    first = _seconds(f, SMALL)
    _until_compiled(way, f)
    before = _memory_now()
    times, end = [], time.perf_counter() + 2.0
    while len(times) < 3 or (len(times) < 20 and time.perf_counter() < end):
        times.append(_seconds(f, side))
    memory = None if before is None else _memory_at_most() - before
    return {"seconds": min(times), "first": first, "memory": memory, "mean": float(f(side).mean())}


def _until_compiled(way: str, f: Callable[[int], Any]) -> None:
    """What is compiled in the background is compiled once it was run for long enough."""
    for _ in range(60 if way == "weft" else 1):
        f(SMALL)
    if way == "weft":
        from weft import _weft

        _weft._finish_compiling()


def _seconds(f: Callable[[int], Any], side: int) -> float:
    start = time.perf_counter()
    f(side)
    return time.perf_counter() - start


def _memory_now() -> int | None:
    """Bytes of the process, and the mark of the most is set back; None where the system does not count so."""
    try:
        # "5": forget the most so far (proc_pid_clear_refs(5)).
        Path("/proc/self/clear_refs").write_text("5")
        return _status("VmRSS")
    except OSError:
        return None


def _memory_at_most() -> int:
    return _status("VmHWM")


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def _print_table(found: list[Measured], side: int) -> None:
    print(f"\nGreat-circle distances to a mesh of {side} x {side} points, float64; the result takes {side * side * 8 / 1e6:,.0f} MB\n")
    width = max(len(each.who) for each in found)
    print(f"{'':<{width}} {'time':>12} {'times faster':>13} {'first call':>12} {'peak memory':>12}")
    plain = next((each.seconds for each in found if each.who == WAYS["numpy"][0]), None)
    for each in sorted(found, key=lambda each: each.seconds):
        faster = f"{plain / each.seconds:,.1f}" if plain else "-"
        memory = "-" if each.memory is None else f"{each.memory / 1e6:,.0f} MB"
        print(f"{each.who:<{width}} {each.seconds * 1e3:>9,.1f} ms {faster:>13} {each.first * 1e3:>9,.1f} ms {memory:>12}")


def _plot(found: list[Measured], side: int, path: Path) -> bool:
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = sorted(found, key=lambda each: -each.seconds)
    names = [each.who for each in rows]
    colours = ["crimson" if name == WAYS["weft"][0] else "0.6" for name in names]
    figure, (times, memory) = pyplot.subplots(1, 2, figsize=(9, 0.5 * len(rows) + 1.4), sharey=True)
    times.barh(names, [each.seconds * 1e3 for each in rows], color=colours)
    times.set_xlabel("milliseconds")
    memory.barh(names, [(each.memory or 0) / 1e6 for each in rows], color=colours)
    memory.axvline(side * side * 8 / 1e6, color="black", linestyle=":", label="the result alone")
    memory.set_xlabel("MB at the most")
    memory.legend(frameon=False)
    figure.suptitle(f"Great-circle mesh, {side} x {side}, float64")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    return True


if __name__ == "__main__":
    # Threads of whoever is measured, not of NumPy's matrix products.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))

"""What a newcomer waits for: the first call, the import, the download. All in fresh processes, empty caches."""

import importlib.util
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from harness import WEFT, Budget, Clock, Outcome, Row

HERE = Path(__file__).resolve().parent.parent
SAMPLES = 9
SLOW_SAMPLES = 3  # for those that take seconds

MODULES = {"weft": "weft", "numba": "numba", "taichi": "taichi", "warp": "warp", "jax": "jax"}


def sample(library: str, what: str) -> float:
    """Seconds that one fresh process reports."""
    with tempfile.TemporaryDirectory() as empty:
        caches = {
            "WEFT_CACHE_DIR": empty,
            "XDG_CACHE_HOME": empty,
            "NUMBA_CACHE_DIR": empty,
            "WARP_CACHE_PATH": empty,
            "TI_OFFLINE_CACHE": "0",
        }
        done = subprocess.run(
            [sys.executable, str(HERE / "first_call.py"), library, what, "cpu" if Clock.cpu else "wall"],
            env={**os.environ, **caches},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
    lines = [line for line in done.stdout.splitlines() if line.startswith("seconds ")]
    if done.returncode != 0 or not lines:
        raise RuntimeError((done.stderr.strip().splitlines() or ["no output"])[-1])
    return float(lines[-1].split()[1])


def fresh(name: str, title: str, what: str, libraries: list[str], budget: Budget, say: Callable[[str], None]) -> Outcome:
    """Fresh processes of all libraries, in turns."""
    rows = [Row(library, WEFT if library == WEFT else "peer") for library in libraries]
    for row in rows:
        if importlib.util.find_spec(MODULES[row.name]) is None:
            row.note = f"not installed ({MODULES[row.name]})"
    for turn in range(SAMPLES):
        say(f"  round {turn + 1} of {SAMPLES}")
        for row in rows:
            if row.note or (turn >= SLOW_SAMPLES and row.times and min(row.times) > 0.5):
                continue
            try:
                row.times.append(sample(row.name, what))
                row.rounds.append(turn)
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                row.note = f"failed: {error}"[:160]
    return Outcome(name, title, rows, [budget])


def wheel(say: Callable[[str], None]) -> Outcome:
    """Bytes of the newest built wheel, and what it unpacks to."""
    root = HERE.parent
    places = (root / "target" / "wheels", root / "dist")
    wheels = sorted((w for place in places for w in place.glob("weft-*.whl")), key=lambda w: w.stat().st_mtime)
    row = Row(WEFT, WEFT)
    if not wheels:
        row.note = "no wheel in target/wheels or dist"
    else:
        row.value = float(wheels[-1].stat().st_size)
        with zipfile.ZipFile(wheels[-1]) as archive:
            unpacked = sum(item.file_size for item in archive.infolist())
        row.note = f"{unpacked / 1e6:.1f} MB unpacked"
    say(f"  {row.note}")
    return Outcome("wheel", "the wheel", [row], [Budget("at most 20 MB", absolute=20e6)], unit="B")


LIBRARIES = list(MODULES)
MEASURES = [
    partial(
        fresh,
        "first-mandelbrot",
        "first call, Mandelbrot kernel",
        "mandelbrot",
        LIBRARIES,
        Budget("at most 50 ms", absolute=0.050),
    ),
    partial(
        fresh,
        "first-small",
        "first call, three-line function",
        "small",
        [name for name in LIBRARIES if name != "warp"],
        Budget("at most 15 ms", absolute=0.015),
    ),
    partial(fresh, "import", "import beyond NumPy", "import", LIBRARIES, Budget("at most 30 ms", absolute=0.030)),
    wheel,
]

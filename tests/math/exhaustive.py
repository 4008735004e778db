"""Every unary float32 function of the math library on all 2^32 arguments, compiled, and the record that docs/math.md shows.

make math-exhaustive                               # all functions; takes up where an earlier run stopped
python tests/math/exhaustive.py sin exp            # only these
python tests/math/exhaustive.py --every 64         # one block of arguments in 64, for a first look

The float64 function is the yardstick: at the same arguments its own error is a few 2^-30 of a float32's last place. That error is checked
against multiple precision on a sample of every block, and whatever comes near what is promised, and the worst arguments, are settled by
multiple precision. Progress is kept in `target/math-exhaustive.json`; a function whose text has changed starts anew.
"""

from __future__ import annotations

import argparse
import json
import linecache
import sys
import time
from collections.abc import Callable
from pathlib import Path

import compiled
import measured
import numpy as np
from mpmath import mpf
from promises import FUNCTIONS, Function, ulps

import weft

ROOT = Path(__file__).resolve().parents[2]
STATE = ROOT / "target" / "math-exhaustive.json"
BLOCK = 1 << 22
BLOCKS = (1 << 32) // BLOCK
# Arguments of a block whose float64 results are checked, and the worst ones that are settled at the end.
CHECKED, SETTLED = 12, 24
# What the yardstick itself may be off, in last places of a float32.
YARDSTICK = 4 * 2.0**-29
UNARY = [name for name, f in FUNCTIONS.items() if f.arity == 1]


@weft.njit(error_model="numpy")
def gap(y, z):
    """|y - z| in the last place of z as a float32; infinite where one is NaN or infinite and should not be, or a zero of the other sign."""
    w = np.float64(y)
    size = abs(z)
    unit = max(np.spacing(size) * 2.0**29, 2.0**-149)
    error = np.float32(abs(w - z) / unit)
    if size >= 3.4028235677973366e38 or np.isinf(w):
        error = np.float32(0.0) if np.isinf(w) and size >= 3.4028235677973366e38 and (w > 0) == (z > 0) else np.float32(np.inf)
    if w == 0.0 and np.signbit(w) != np.signbit(z):
        error = np.float32(np.inf)
    if np.isnan(w) or np.isnan(z):
        error = np.float32(0.0) if np.isnan(w) and np.isnan(z) else np.float32(np.inf)
    return error


ERRORS = """
def error(x):
    return gap(function(x), function(np.float64(x)))
"""
# Most blocks hold nothing worse than what is kept: to know that takes no memory but the arguments.
PEAK = """
def peak(x):
    worst = np.float32(0.0)
    for i in prange(len(x)):
        worst = max(worst, gap(function(x[i]), function(np.float64(x[i]))))
    return worst
"""


def made(text: str, name: str) -> Callable:
    """The function of a text, for one function of the library."""
    called = text.split("(")[0].split()[-1]
    file = f"<{called} of {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope = {"gap": gap, "np": np, "prange": weft.prange, "function": known(name)}
    exec(compile(text, file, "exec"), scope)
    return scope[called]


def error_of(name: str) -> Callable[[np.ndarray], np.ndarray]:
    """A ufunc: the float32 function's error by its float64 sister."""
    return weft.vectorize(made(ERRORS, name))


def known(name: str) -> object:
    """The function as compiled code calls it: what stands behind `weft.math`'s name, or the Python function of the ufunc under test."""
    function = getattr(compiled, name)
    return function if hasattr(function, "_weft_path_") else weft.njit(function.py_func)


class Run:
    """One function's way through all arguments."""

    def __init__(self, name: str, every: int) -> None:
        self.name, self.every = name, every
        self.function: Function = FUNCTIONS[name]
        self.errors = error_of(name)
        self.peak = weft.njit(parallel=True, error_model="numpy")(made(PEAK, name))
        self.wide = getattr(compiled, name)
        self.rng = np.random.default_rng(1)
        self.first = np.arange(BLOCK, dtype=np.uint32)
        self.bits = np.empty_like(self.first)

    def block(self, number: int, kept: dict) -> None:
        """Measures one block and keeps its worst arguments."""
        np.add(self.first, np.uint32(number * BLOCK), out=self.bits)
        x = self.bits.view(np.float32)
        if self.function.where is not None:
            np.copyto(x, 1, where=~self.function.where(x))
        peak = float(self.peak(x))
        if len(kept["worst"]) < SETTLED or peak > kept["worst"][SETTLED - 1][0]:
            self.keep(x, self.errors(x), peak, kept)
        self.check_yardstick(self.rng.choice(x, CHECKED), kept)
        kept["next"] = number + self.every

    def keep(self, x: np.ndarray, error: np.ndarray, peak: float, kept: dict) -> None:
        """Adds a block's worst arguments to those kept, and all that come near the promise."""
        limit = self.function.bound - YARDSTICK
        found = set(np.argpartition(error, -SETTLED)[-SETTLED:].tolist())
        if peak > limit:
            near = np.flatnonzero(error > limit)
            if len(near) > 1000:
                raise SystemExit(f"{self.name}: {len(near)} arguments near {x[near[0]]!r} miss the promise by far")
            found |= set(near.tolist())
        kept["worst"] += [[float(error[i]), int(x.view(np.uint32)[i])] for i in found]
        count = max(SETTLED, sum(e > limit for e, _ in kept["worst"]))
        kept["worst"] = sorted(kept["worst"], reverse=True)[:count]

    def check_yardstick(self, x: np.ndarray, kept: dict) -> None:
        """The float64 function at some of the arguments, against multiple precision."""
        for a, got in zip(x, np.asarray(self.wide(x.astype(np.float64)))):
            error = ulps(got, self.function.oracle(mpf(float(a))), np.dtype(np.float64))
            kept["yardstick"] = max(kept["yardstick"], error)
            if error > self.function.bound:
                raise SystemExit(f"{self.name} in float64 is off by {error:.3f} ULP at {a!r}: no yardstick")

    def settle(self, kept: dict) -> tuple[float, float]:
        """The largest error, by multiple precision, and where."""
        found = []
        for _, bits in kept["worst"]:
            x = np.uint32(bits).view(np.float32)
            exact = self.function.oracle(mpf(float(x)))
            found.append((ulps(np.float32(self.wide(x)), exact, np.dtype(np.float32)), float(x)))
        return max(found)

    def run(self, kept: dict, save: Callable[[], None]) -> None:
        start, first = time.monotonic(), kept["next"]
        for number in range(first, BLOCKS, self.every):
            self.block(number, kept)
            if number % (self.every * 16) < self.every or number + self.every >= BLOCKS:
                save()
                done = number + self.every
                left = (time.monotonic() - start) / max(done - first, 1) * (BLOCKS - done)
                print(
                    f"\r{self.name}: {100 * done / BLOCKS:5.1f} %, {left / 60:.1f} min left, worst {kept['worst'][0][0]:.4f}",
                    end=" ",
                    flush=True,
                )


def go_through(name: str, every: int, state: dict) -> bool:
    """Measures a function, from where an earlier run stopped, and records what was found. Does it hold its promise?"""
    digest = measured.digest(name, "f32") + measured.digest(name, "f64") + f"/{every}"
    kept = state.get(name, {})
    if kept.get("digest") != digest:
        kept = state[name] = {"digest": digest, "next": 0, "worst": [], "yardstick": 0.0}

    def save() -> None:
        STATE.parent.mkdir(exist_ok=True)
        STATE.write_text(json.dumps(state))

    run = Run(name, every)
    run.run(kept, save)
    error, at = run.settle(kept)
    found = f"{error:.4f} ULP at {at!r}; float64 within {kept['yardstick']:.3f} ULP of multiple precision"
    print(f"\r{name}: {found}{' ' * 20}", flush=True)
    if error > run.function.bound:
        return False
    if every == 1:
        measured.record(name, np.float32, error, f"{at:.9g}", "all")
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    state = json.loads(STATE.read_text()) if STATE.exists() else {}
    with weft.device("cpu"):
        failed = [name for name in options.names or UNARY if not go_through(name, options.every, state)]
    measured.write_page()
    if failed:
        sys.exit(f"off by more than is promised: {', '.join(failed)}")


if __name__ == "__main__":
    main()

"""Measures the largest error of every function of the math library and writes the table of docs/math.md.

python tests/math/measure.py                   # print the table
python tests/math/measure.py --write           # and put it into docs/math.md
python tests/math/measure.py --samples 100000  # more of them (default 20000)
python tests/math/measure.py sin exp           # only these functions
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from mathlib import call
from promises import FUNCTIONS, errors, samples

PAGE = Path(__file__).resolve().parents[2] / "docs" / "math.md"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


def compiled(name: str, *args: np.ndarray) -> np.ndarray:
    """The compiled function where there is one, else the text; a test says that both give the same bits."""
    try:
        import compiled as ufuncs
    except ImportError:
        return call(name, *args)
    function = getattr(ufuncs, name, None)
    return call(name, *args) if function is None else np.asarray(function(*args))


def worst(name: str, dtype: type, count: int) -> tuple[float, str]:
    """The largest error and where it was found."""
    function = FUNCTIONS[name]
    args = samples(function, dtype, count, seed=7)
    error = errors(function, compiled(name, *args), args)
    at = int(np.argmax(error))
    return float(error[at]), ", ".join(f"{float(a[at]):.9g}" for a in args)


def table(names: list[str], count: int) -> str:
    lines = ["| function | promised | float64 | at | float32 | at |", "|---|---|---|---|---|---|"]
    for name in names:
        cells = [f"`{name}`", f"{FUNCTIONS[name].bound:g}"]
        for dtype in (np.float64, np.float32):
            error, where = worst(name, dtype, count)
            cells += [f"{error:.3f}", where]
        lines.append("| " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--samples", type=int, default=20000)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    text = table(options.names or list(FUNCTIONS), options.samples)
    if options.write:
        page = PAGE.read_text()
        start, end = page.index(BEGIN) + len(BEGIN), page.index(END)
        note = f"\n\nLargest error found over about {options.samples} arguments, in ULP of the exact value.\n\n"
        PAGE.write_text(page[:start] + note + text + "\n\n" + page[end:])


if __name__ == "__main__":
    main()

"""Measures the largest error of functions of the math library on a sample and writes the table of docs/math.md.

python tests/math/measure.py                   # measure what has changed since it was measured last
python tests/math/measure.py --samples 100000  # more arguments (default 10000)
python tests/math/measure.py sin exp           # these functions, changed or not

`exhaustive.py` measures float32 functions of one argument on all there are; a sample does not replace that.
"""

from __future__ import annotations

import argparse

import compiled as ufuncs
import measured
import numpy as np
from promises import FUNCTIONS, errors, samples


def worst(name: str, dtype: type, count: int) -> tuple[float, str]:
    """The largest error and where it was found."""
    function = FUNCTIONS[name]
    args = samples(function, dtype, count, seed=7)
    error = errors(function, np.asarray(getattr(ufuncs, name)(*args)), args)
    at = int(np.argmax(error))
    return float(error[at]), ", ".join(f"{float(a[at]):.9g}" for a in args)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--samples", type=int, default=10000)
    options = parser.parse_args()
    for name in options.names or FUNCTIONS:
        for dtype in (np.float64, np.float32):
            known = measured.current(name, dtype)
            if known and (known["of"] == "all" or not options.names):
                continue
            error, at = worst(name, dtype, options.samples)
            measured.record(name, dtype, error, at, options.samples)
            print(f"{name} {np.dtype(dtype).name}: {error:.3f} at {at}", flush=True)
    measured.write_page()


if __name__ == "__main__":
    main()

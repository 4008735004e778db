"""Throughput of the elementary functions on one core: `python run.py [--list] [--quick] [--cpu-time] [--record] [NAME ...]`.

Every function on float64 and float32, on arrays that fit in the first-level cache and on arrays that fit in the third, in turns with
SVML, libmvec, NumPy and Numba. Results are compared with a reference before anything is timed.
"""

from __future__ import annotations

import argparse
import functools
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "suite")]
# One core, whoever it is; read when the libraries are imported.
for variable in ("WEFT_NUM_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402
import table  # noqa: E402
from cold import fresh  # noqa: E402
from contenders import contenders  # noqa: E402
from functions import FUNCTIONS, Function, ulps  # noqa: E402
from harness import Benchmark, Budget, Clock, Outcome, installed, run  # noqa: E402

DTYPES = {"float64": np.float64, "float32": np.float32}
# Bytes of all arrays together. The third-level cache is far larger than this everywhere, the second rarely as large.
SIZES = {"L1": 24 << 10, "L3": 8 << 20}
# Several passes over the larger arrays, or a sample would mostly time their way to a core that slept.
ELEMENTS_PER_SAMPLE = 1 << 22
PACKAGES = ["weft", "numpy", "numba", "intel-cmplr-lib-rt", "icc-rt"]


def benchmark(function: Function, dtype: str, size: str, seconds: float) -> tuple[Benchmark, int]:
    """A function on one type and size, and how many elements a sample computes."""
    kind = DTYPES[dtype]
    count = SIZES[size] // np.dtype(kind).itemsize // (function.arity + 1) // 64 * 64
    passes = max(1, ELEMENTS_PER_SAMPLE // count)
    arguments = function.arguments(count, kind)
    made = Benchmark(
        name=f"{function.name}-{dtype}-{size}",
        title=f"{function.name}, {dtype}, {size}",
        contenders=contenders(function, arguments, passes),
        reference=functools.partial(function.reference, arguments),
        # What vector libraries promise by default is 4 ULP.
        check=lambda result, exact: None if ulps(result, exact) <= 4.5 else f"{ulps(result, exact):.1f} ULP",
        describe=lambda result, exact: f"{ulps(result, exact):.2f} ULP",
        seconds=seconds,
    )
    return made, count * passes


def first_call() -> Outcome:
    """A kernel with three calls, in fresh processes with empty caches."""
    return fresh(
        "first-math", "first call, kernel of sin, exp and log", "math", ["weft", "numba"], Budget("at most 60 ms", absolute=0.060), print
    )


def versions() -> dict[str, str]:
    """What is compared."""
    return {**installed(PACKAGES), "glibc": os.confstr("CS_GNU_LIBC_VERSION").split()[-1]}


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="functions; all if none is given")
    parser.add_argument("--list", action="store_true", help="list the functions and stop")
    parser.add_argument("--quick", action="store_true", help="a quarter of the repeats")
    parser.add_argument("--cpu-time", action="store_true", help="CPU time: for a machine busy with other things")
    parser.add_argument("--record", action="store_true", help="keep the results: in results/, docs/math.md and the README")
    return parser.parse_args()


def main() -> None:
    """Run, print, write."""
    chosen = options()
    known = {f.name: f for f in FUNCTIONS}
    if chosen.list:
        print("\n".join(known))
        return
    unknown = [name for name in chosen.names if name not in known]
    if unknown:
        raise SystemExit(f"no function is called {' or '.join(unknown)}; --list shows them")
    if chosen.cpu_time:
        Clock.use_cpu_time()
    results = []
    for function in [known[name] for name in chosen.names] or FUNCTIONS:
        for dtype in DTYPES:
            for size in SIZES:
                made, elements = benchmark(function, dtype, size, 0.05 if chosen.quick else 0.2)
                outcome = run(made, lambda text: None)
                results.append(table.Result(function.name, dtype, size, elements, outcome))
                print(table.line(results[-1]), flush=True)
    first = None if chosen.names else first_call()
    text = table.markdown(results, first, versions())
    table.write(text, results, first, versions(), HERE.parent / ("results" if chosen.record else "build/results"))
    print("\n" + text)
    if chosen.record:
        table.record(text, results, HERE.parent.parent)


if __name__ == "__main__":
    main()

"""Measures the largest error of functions of the math library on a sample, on every device, and writes the table of docs/math.md.

python tests/math/measure.py                   # measure what has changed since it was measured last
python tests/math/measure.py --samples 100000  # more arguments (default 10000)
python tests/math/measure.py sin exp           # these functions, changed or not

`exhaustive.py` measures float32 functions of one argument on all there are; a sample does not replace that. With `WEFT_CUDA_DRIVER=double`
Weft's stand-in takes the place of an NVIDIA driver.
"""

from __future__ import annotations

import argparse

import compiled as ufuncs
import measured
import numpy as np
from promises import FUNCTIONS, errors, samples
from test_same_bits import compare

import weft

TYPES = (np.float64, np.float32)


def worst(device: str, name: str, dtype: type, count: int) -> tuple[float, str, int]:
    """The largest error on a device, where it was found, and of how many arguments. The bits must be the CPU's."""
    function = FUNCTIONS[name]
    args = samples(function, dtype, count, seed=7)
    with weft.device(device):
        got = np.asarray(getattr(ufuncs, name)(*args))
    if device != "cpu":
        with weft.device("cpu"):
            compare([got], [np.asarray(getattr(ufuncs, name)(*args))], args)
    error = errors(function, got, args)
    at = int(np.argmax(error))
    return float(error[at]), ", ".join(f"{float(a[at]):.9g}" for a in args), len(got)


def others() -> list[weft.Device]:
    """The first device of each kind but the CPU."""
    first = {device.kind: device for device in reversed(weft.devices()) if device.kind != "cpu"}
    return [first[kind] for kind in sorted(first)]


def measure(name: str, dtype: type, count: int, again: bool) -> None:
    """On the CPU, unless that was done on all arguments, then on the others."""
    known = measured.current(name, dtype)
    if known is None or (again and known["of"] != "all"):
        error, at, of = worst("cpu", name, dtype, count)
        measured.record(name, dtype, error, at, of)
        print(f"{name} {np.dtype(dtype).name}: {error:.3f} at {at}", flush=True)
    for device in others():
        if again or known is None or device.kind not in known["on"]:
            error, _, of = worst(device.name, name, dtype, count)
            measured.record_on(device.kind, device.description, name, dtype, error, of)
            print(f"{name} {np.dtype(dtype).name} on {device.name}: {error:.3f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--samples", type=int, default=10000)
    options = parser.parse_args()
    for name in options.names or FUNCTIONS:
        for dtype in TYPES:
            measure(name, dtype, options.samples, again=bool(options.names))
    measured.write_page()


if __name__ == "__main__":
    main()

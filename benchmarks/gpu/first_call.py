"""A library's first call in a process of its own: ``python first_call.py weft`` prints its seconds, the driver already started."""

from __future__ import annotations

import sys
import time

import numpy as np


def main(name: str) -> float:
    """Seconds from the first launch of the Mandelbrot kernel to its end."""
    import contenders

    library = contenders.Kernels("weft") if name == "weft" else contenders._other(name)
    # Arrays are made before, so that the driver is up.
    contender = library.mandelbrot(64, 64, 50, np.float64)
    start = time.perf_counter()
    contender.run()
    contender.sync()
    return time.perf_counter() - start


if __name__ == "__main__":
    print(main(sys.argv[1]))

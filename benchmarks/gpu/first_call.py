"""A library's first call in a process of its own: ``python first_call.py weft`` prints its seconds.

The library is imported and the driver has made an array before the clock starts; it runs from the decorator (where there is one) to the end
of the kernel.
"""

from __future__ import annotations

import sys
import time

import contenders
import numpy as np


def main(name: str) -> float:
    """Seconds."""
    library = contenders.Kernels("weft") if name == "weft" else contenders.other(name)
    if isinstance(library, contenders.Kernels):
        library.put(np.zeros((64, 64), np.uint16))
        library.sync()
    start = time.perf_counter()
    contender = library.mandelbrot(64, 64, 50, np.float64)
    contender.run()
    contender.sync()
    return time.perf_counter() - start


if __name__ == "__main__":
    print("seconds", main(sys.argv[1]))

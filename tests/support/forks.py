"""What a forked child computes."""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike


def from_a_child(make: Callable[[], ArrayLike]) -> np.ndarray:
    """The float64 numbers that a forked child makes, a few of them."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, np.asarray(make(), np.float64).tobytes())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    with os.fdopen(reading, "rb") as numbers:
        return np.frombuffer(numbers.read())

"""Weft weaves plain Python through every lane of the hardware.

`jit` compiles a function, `vectorize` makes a ufunc of one, `weft.cuda` has Numba's kernel vocabulary for whatever device is
present. See docs/guide.md for the guide.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from weft._decorators import jit, njit, vectorize
from weft._profile import profile
from weft._weft import Device, __version__, current_device, device, devices, get_num_threads, set_device, set_num_threads
from weft.errors import (
    ArgumentError,
    ConstantError,
    IndexError_,
    InternalError,
    LaunchError,
    NameError_,
    PrecisionWarning,
    SourceError,
    TypingError,
    UnsupportedError,
    WeftError,
    ZeroDivisionError_,
)

# A file changed after this moment may not be the one that was imported.
_started = time.time()

if TYPE_CHECKING:
    from weft import cuda, errors, fft, linalg, math, numba, polynomial, random, types
    from weft.types import bfloat16

__all__ = [
    "ArgumentError",
    "ConstantError",
    "Device",
    "IndexError_",
    "InternalError",
    "LaunchError",
    "NameError_",
    "PrecisionWarning",
    "SourceError",
    "TypingError",
    "UnsupportedError",
    "WeftError",
    "ZeroDivisionError_",
    "__version__",
    "bfloat16",
    "cuda",
    "current_device",
    "device",
    "devices",
    "errors",
    "fft",
    "get_num_threads",
    "jit",
    "linalg",
    "math",
    "njit",
    "numba",
    "polynomial",
    "prange",
    "profile",
    "random",
    "set_device",
    "set_num_threads",
    "types",
    "vectorize",
]


class prange:
    """``range`` whose rounds may run at the same time, on every core under ``parallel=True``. Outside compiled code it is ``range``."""

    _weft_path_ = "weft.prange"

    def __new__(cls, *args: int) -> Any:
        """A plain range."""
        return range(*args)


def __getattr__(name: str) -> Any:
    """Submodules and the names of arrays are found when they are first used."""
    import importlib

    if name in ("arrays", "cuda", "cupy", "cupyx", "fft", "linalg", "math", "numba", "polynomial", "random", "scipy", "types"):
        return importlib.import_module(f"weft.{name}")
    if name == "gradcheck":
        return importlib.import_module("weft.gradients.checking").gradcheck
    if name == "bfloat16":
        return importlib.import_module("weft.types").bfloat16
    if name.startswith("_") and not name.startswith("__array_"):
        raise AttributeError(f"module 'weft' has no attribute {name!r}")
    found = importlib.import_module("weft.arrays").find(name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """The names of arrays among the others."""
    import importlib

    return sorted({*globals(), *__all__, *importlib.import_module("weft.arrays").NAMES})

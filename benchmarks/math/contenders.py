"""The ways of applying a function to an array, on one core. Each makes a work that applies it `passes` times and returns the result."""

from __future__ import annotations

import ctypes
import functools
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from functions import Function, filled
from harness import WEFT, Contender, NotInstalledError, Work
from limits import BUILD, svml_flags

HERE = Path(__file__).resolve().parent
FAST = "weft, fastmath"
SVML, SVML_HIGH, LIBMVEC = "SVML", "SVML, 1 ULP", "libmvec"
FAMILIES = {SVML: 1, SVML_HIGH: 2, LIBMVEC: 3}


def contenders(function: Function, arguments: list[np.ndarray], passes: int) -> list[Contender]:
    """Everyone who has this function. All write to one array: what fits in a cache must still be there at the next one's turn."""
    arrays = [*arguments, filled(np.zeros_like(arguments[0]))]

    def contender(name: str, make: Callable[..., Work], rank: str = "peer", needs: str | None = None) -> Contender:
        return Contender(name, functools.partial(make, function, arrays, passes), rank, needs)

    found = [contender(name, functools.partial(weft_loop, name == FAST), WEFT, "weft") for name in (WEFT, FAST)]
    found += [contender(name, functools.partial(vector_loop, name)) for name in FAMILIES]
    found.append(contender("numba", numba_loop, needs="numba"))
    if function.name not in ("erf", "erfc"):
        found.append(contender("numpy", numpy_calls))
    return found


def weft_loop(fastmath: bool, function: Function, arrays: list[np.ndarray], passes: int) -> Work:
    """A `prange` loop: one thread, since the process has one, on all lanes; with `fastmath` it gets the shorter versions."""
    import weft

    f = function.scalar(weft.math.exp10)

    @weft.njit(parallel=True, fastmath=fastmath)
    def unary(x, out, passes):
        for _ in range(passes):
            for i in weft.prange(x.shape[0]):
                out[i] = f(x[i])

    @weft.njit(parallel=True, fastmath=fastmath)
    def binary(x, y, out, passes):
        for _ in range(passes):
            for i in weft.prange(x.shape[0]):
                out[i] = f(x[i], y[i])

    return _bound(unary if function.arity == 1 else binary, arrays, passes)


def numba_loop(function: Function, arrays: list[np.ndarray], passes: int) -> Work:
    """The same loop; `fastmath`, so that Numba may use what it has."""
    import numba

    ten = arrays[0].dtype.type(10)

    # Numba has no 10 to the x but the power.
    @numba.njit
    def exp10(x):
        return ten**x

    f = function.scalar(exp10)

    @numba.njit(fastmath=True)
    def unary(x, out, passes):
        for _ in range(passes):
            for i in range(x.shape[0]):
                out[i] = f(x[i])

    @numba.njit(fastmath=True)
    def binary(x, y, out, passes):
        for _ in range(passes):
            for i in range(x.shape[0]):
                out[i] = f(x[i], y[i])

    return _bound(unary if function.arity == 1 else binary, arrays, passes)


def _bound(loop: Any, arrays: list[np.ndarray], passes: int) -> Work:
    def work() -> np.ndarray:
        loop(*arrays, passes)
        return arrays[-1]

    return work


def numpy_calls(function: Function, arrays: list[np.ndarray], passes: int) -> Work:
    """The ufunc, into an array that exists. NumPy has no 10 to the x but the power."""
    *arguments, out = arrays
    ten = out.dtype.type(10)
    f = functools.partial(np.power, ten) if function.name == "exp10" else getattr(np, function.numpy or function.name)

    def work() -> np.ndarray:
        for _ in range(passes):
            f(*arguments, out=out)
        return out

    return work


def vector_loop(family: str, function: Function, arrays: list[np.ndarray], passes: int) -> Work:
    """The loop of `vectors.c` over a library's vector function."""
    library = load(family)
    f = getattr(library, f"{function.name}_{'f32' if arrays[0].dtype == np.float32 else 'f64'}")
    f.argtypes = [ctypes.c_void_p] * len(arrays) + [ctypes.c_long] * 2
    f.restype = None
    addresses = [a.ctypes.data for a in arrays]

    def work() -> np.ndarray:
        f(*addresses, arrays[0].size, passes)
        return arrays[-1]

    return work


@functools.cache
def load(family: str) -> ctypes.CDLL:
    """Compile `vectors.c` for this machine and a library's functions if that is not done yet, and load it."""
    compiler = next((c for c in ("clang-22", "gcc", "cc") if shutil.which(c)), None)
    if compiler is None:
        raise NotInstalledError("a C compiler")
    source = HERE / "vectors.c"
    library = BUILD / f"libvectors{FAMILIES[family]}.so"
    if not library.exists() or library.stat().st_mtime < source.stat().st_mtime:
        BUILD.mkdir(exist_ok=True)
        link = ["-lmvec"] if family == LIBMVEC else ["-Wl,--no-as-needed", *svml_flags()]
        flags = ["-O2", "-march=native", "-shared", "-fPIC", f"-DFAMILY={FAMILIES[family]}"]
        command = [compiler, *flags, str(source), "-o", str(library), *link, "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise NotInstalledError(f"{source.name} does not build here: {done.stderr.strip().splitlines()[-1]}")
    if family != LIBMVEC:
        # SVML's own dependency is looked for beside it only if it is loaded first.
        ctypes.CDLL(str(Path(sys.prefix) / "lib" / "libintlc.so.5"), ctypes.RTLD_GLOBAL)
    return ctypes.CDLL(str(library))

"""Builds and loads the hand-written limits of `limits/*.c` with clang 22 and OpenMP, or with gcc where clang is missing."""

from __future__ import annotations

import ctypes
import functools
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from harness import NotInstalledError

HERE = Path(__file__).resolve().parent
BUILD = HERE / "build"
COMPILERS = ("clang-22", "gcc")


def svml_flags() -> list[str]:
    """How to link Intel's SVML from this environment; raises if it is not installed."""
    lib = Path(sys.prefix) / "lib"
    if not (lib / "libsvml.so").exists():
        raise NotInstalledError("icc-rt")
    # Old tags: the path holds for what SVML itself needs, too.
    return [f"-L{lib}", "-lsvml", "-lintlc", "-Wl,--disable-new-dtags", f"-Wl,-rpath,{lib}"]


@functools.cache
def load(name: str, *, fast_math: bool = False, svml: bool = False) -> ctypes.CDLL:
    """Compile `limits/<name>.c` for this machine if it is newer than what was built, and load it."""
    compiler = next(filter(shutil.which, COMPILERS), None)
    if compiler is None:
        raise NotInstalledError(" or ".join(COMPILERS))
    source = HERE / "limits" / f"{name}.c"
    library = BUILD / f"lib{name}.so"
    if not library.exists() or library.stat().st_mtime < source.stat().st_mtime:
        BUILD.mkdir(exist_ok=True)
        flags = ["-O3", "-march=native", "-fopenmp", "-shared", "-fPIC", "-ffp-contract=fast"]
        flags += ["-ffast-math"] if fast_math else []
        link = svml_flags() if svml else []
        command = [compiler, *flags, str(source), "-o", str(library), *link, "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise NotInstalledError(f"{source.name} does not build here: {done.stderr.strip().splitlines()[-1]}")
    return ctypes.CDLL(str(library))


def function(library: ctypes.CDLL, name: str, *types: Any) -> Any:
    """A function of a limit's library, with its argument types."""
    f = getattr(library, name)
    f.argtypes = list(types)
    f.restype = None
    return f

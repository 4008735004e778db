"""Finds and loads cuBLAS, cuSOLVER and cuFFT of the CUDA that the driver has, when one of them is first asked for.

`WEFT_NVIDIA_LIBRARIES` is "off", the folder to look in (and in no other), or, with the stand-in for the driver, "double" for the stand-ins
that are in the same file. NVIDIA's own libraries do not work with the driver's stand-in, and are not looked for there.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import weft
from weft.cupy import _driver
from weft.errors import LibraryError

from . import signatures

# The number at the end of a library's name under each generation of CUDA.
_NUMBERS = {
    "cublas": {13: 13, 12: 12},
    "cusolver": {13: 12, 12: 11},
    "cufft": {13: 12, 12: 11},
}
# Where NVIDIA's wheels of each generation put it, from a folder of packages.
_WHEELS = {13: "nvidia/cu13", 12: "nvidia/{name}"}
# The oldest devices that libraries of a generation have code for.
_OLDEST = {13: (7, 5)}
_WINDOWS = sys.platform == "win32"
_VARIABLE = "WEFT_NVIDIA_LIBRARIES"


_pauses = 0


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """A block in which no library is used, by any thread: to measure what there is without."""
    global _pauses
    _pauses += 1
    try:
        yield
    finally:
        _pauses -= 1


def library(name: str) -> ctypes.CDLL | None:
    """A library with the types of its calls, or None where there is none that Weft can use."""
    return None if _pauses else _found(name)


@functools.cache
def _found(name: str) -> ctypes.CDLL | None:
    choice = os.environ.get(_VARIABLE, "")
    stand_in = os.environ.get("WEFT_CUDA_DRIVER", "") == "double"
    if choice == "off" or (stand_in and not choice):
        return None
    if choice == "double":
        if not stand_in:
            raise LibraryError(f"{_VARIABLE}=double works with WEFT_CUDA_DRIVER=double only")
        return signatures.typed(name, _driver._library())
    if choice and not Path(choice).is_dir():
        raise LibraryError(f"{_VARIABLE} is {choice!r}, which is no folder")
    for place in _places(name, choice):
        try:
            found = ctypes.CDLL(place)
        except OSError:
            continue
        typed = signatures.typed(name, found)
        if typed is not None:
            return typed
    return None


def _places(name: str, folder: str) -> Iterator[str]:
    """Files that may be the library, and its bare name for the loader to find: of the newest generation first that the driver has."""
    newest = _newest_generation()
    for generation, number in _NUMBERS[name].items():
        if generation > newest:
            continue
        file = f"{name}64_{number}.dll" if _WINDOWS else f"lib{name}.so.{number}"
        if folder:
            yield str(Path(folder) / file)
            continue
        yield file
        for each in _folders(name, generation):
            path = each / file
            if path.is_file():
                yield str(path)


def _folders(name: str, generation: int) -> Iterator[Path]:
    inside = ("bin", "bin/x64") if _WINDOWS else ("lib64", "lib")
    roots = [Path(os.environ[variable]) for variable in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(variable)]
    if not _WINDOWS:
        roots.append(Path("/usr/local/cuda"))
    roots += [Path(each) / _WHEELS[generation].format(name=name) for each in sys.path if each]
    for root in roots:
        yield from (root / each for each in inside)


def _newest_generation() -> int:
    """The newest CUDA whose programs the driver runs and that has code for all devices: an older driver refuses what is newer."""
    version = ctypes.c_int()
    if _driver._library().cuDriverGetVersion(ctypes.byref(version)) != 0:
        return 0
    found = version.value // 1000
    capabilities = [device.compute_capability for device in weft.devices() if device.kind == "cuda"]
    for generation, oldest in _OLDEST.items():
        if any(capability < oldest for capability in capabilities):
            found = min(found, generation - 1)
    return found

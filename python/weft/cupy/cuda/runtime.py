"""`cupy.cuda.runtime`: the calls of CUDA's runtime that ask for devices and their memory, for whatever devices there are."""

from __future__ import annotations

from typing import Any

import weft
from weft.cuda.devices import gpus
from weft.cupy.cuda.devices import number_of, of_number

is_hip = False


class CUDARuntimeError(RuntimeError):
    """What a call of the runtime fails with."""


def getDeviceCount() -> int:
    """How many devices have numbers: the GPUs, or 1 where there is only the CPU."""
    return len(gpus)


def getDevice() -> int:
    """The number of the current device."""
    return number_of(weft.current_device())


def setDevice(device: int) -> None:
    """Makes a device the current one of this thread."""
    weft.set_device(of_number(device))


def deviceSynchronize() -> None:
    """Waits for the current device."""
    weft.current_device().synchronize()


def memGetInfo() -> tuple[int, int]:
    """Free and total bytes of the current device's memory."""
    memory = weft.current_device().memory()
    return memory["free"], memory["total"]


def deviceCanAccessPeer(device: int, peer: int) -> int:
    """1 if one device reads the other's memory."""
    return int(of_number(device).can_access_peer(of_number(peer)))


def getDeviceProperties(device: int) -> dict[str, Any]:
    """What Weft knows of a device, by the names of CUDA's structure; others are not in the dict."""
    found = of_number(device)
    limits = found.limits()
    major, minor = found.compute_capability if found.kind == "cuda" else (0, 0)
    return {
        "name": found.description.encode(),
        "totalGlobalMem": found.memory_bytes,
        "sharedMemPerBlock": limits["shared_bytes"],
        "sharedMemPerBlockOptin": limits["shared_bytes_optin"],
        "regsPerBlock": limits["registers_per_block"],
        "warpSize": limits["warp_size"],
        "maxThreadsPerBlock": limits["threads_per_block"],
        "maxThreadsDim": tuple(limits["block"]),
        "maxGridSize": tuple(limits["grid"]),
        "multiProcessorCount": limits["multiprocessors"],
        "maxThreadsPerMultiProcessor": limits["threads_per_multiprocessor"],
        "major": major,
        "minor": minor,
    }


def __getattr__(name: str) -> Any:
    """Other calls of the runtime are refused by name."""
    raise AttributeError(f"weft.cupy.cuda.runtime has no {name!r}: it has what asks for devices and their memory")

"""Devices and contexts by Numba's names: what `cuda.gpus`, `cuda.select_device` and `cuda.current_context` are there."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import weft
from weft import _weft
from weft._weft import Device, current_device, set_device

__all__ = [
    "Context",
    "DeviceList",
    "MemoryInfo",
    "close",
    "current_context",
    "detect",
    "get_current_device",
    "gpus",
    "is_available",
    "is_bfloat16_supported",
    "is_float16_supported",
    "is_supported_version",
    "list_devices",
    "require_context",
    "select_device",
    "synchronize",
]


class MemoryInfo(NamedTuple):
    """Bytes of a device's memory."""

    free: int
    total: int


class DeviceList:
    """The devices kernels run on: the GPUs, or the CPU where there is none. A driver that runs on the CPU is no GPU."""

    def _devices(self) -> list[Device]:
        devices = weft.devices()
        return [one for one in devices if one.kind != "cpu" and not one.software] or devices[:1]

    @property
    def lst(self) -> list[Device]:
        """All of them."""
        return self._devices()

    @property
    def current(self) -> Device:
        """The current one."""
        return current_device()

    def __getitem__(self, index: int) -> Device:
        """The device of a number."""
        return self._devices()[index]

    def __len__(self) -> int:
        """How many there are."""
        return len(self._devices())

    def __iter__(self) -> Iterator[Device]:
        """One after the other."""
        return iter(self._devices())

    def __repr__(self) -> str:
        """Their names."""
        return f"<devices {', '.join(one.name for one in self)}>"


gpus = DeviceList()


def list_devices() -> DeviceList:
    """The devices kernels run on."""
    return gpus


class Context:
    """What Numba calls a context: the current device as this process uses it."""

    def __init__(self, of: Device) -> None:
        self.device = of

    def get_memory_info(self) -> MemoryInfo:
        """Free and total memory of the device, in bytes."""
        memory = self.device.memory()
        return MemoryInfo(memory["free"], memory["total"])

    def synchronize(self) -> None:
        """Waits until the device has done all work given to it."""
        self.device.synchronize()

    def reset(self) -> None:
        """Waits for the device and gives pooled memory back to the system."""
        self.device.synchronize()
        self.device.free_all()


def current_context(devnum: int | None = None) -> Context:
    """The context of the current device, or of device `devnum`."""
    return Context(current_device() if devnum is None else gpus[devnum])


def get_current_device() -> Device:
    """The device kernels of this thread run on."""
    return current_device()


def select_device(device_id: int) -> Device:
    """Runs the kernels of this thread on device `device_id` from now on."""
    chosen = gpus[device_id]
    set_device(chosen)
    return chosen


def close() -> None:
    """Waits for all devices and gives their pooled memory back; the thread is on the default device again."""
    for one in gpus:
        Context(one).reset()
    set_device(None)


def synchronize() -> None:
    """Waits until the device has done all work given to it; errors of that work are raised here."""
    _weft.synchronize()


def is_available() -> bool:
    """Whether kernels can run: always, since the CPU is a device."""
    return True


def is_supported_version() -> bool:
    """Whether the driver is one Weft works with; a driver that is not gives no device."""
    return True


def is_float16_supported() -> bool:
    """Whether kernels can compute with float16: on every device."""
    return True


def is_bfloat16_supported() -> bool:
    """Whether kernels can compute with bfloat16: on every device."""
    return True


def require_context(function: Callable[..., Any]) -> Callable[..., Any]:
    """For Numba's sake: a device is ready when it is first used."""
    return function


def detect() -> bool:
    """Prints the devices and says whether there are any."""
    found = weft.devices()
    print(f"Found {len(found)} devices")
    for one in found:
        print(f"{one.name:9} {one.description}  {one.features}")
    return bool(found)


@contextlib.contextmanager
def defer_cleanup() -> Iterator[None]:
    """For Numba's sake: memory is freed in the order of its stream, so that freeing it never waits."""
    yield

"""`cupy.cuda.Device`: the GPUs by number, or the CPU as number 0 where there is none."""

from __future__ import annotations

from typing import Any

import weft
from weft import _weft
from weft.cuda.devices import gpus
from weft.errors import UnsupportedError


class Device:
    """A device by number, that of CuPy's programs. In a `with`, or after `use`, arrays are made there and kernels run there.

    Without a number it is the current one. Where a machine has no GPU, number 0 is the CPU.
    """

    def __init__(self, device: Any = None) -> None:
        if isinstance(device, Device):
            self._weft = device._weft
        elif device is None:
            self._weft = weft.current_device()
        elif isinstance(device, _weft.Device):
            self._weft = device
        else:
            self._weft = of_number(device)
        self._entered: list[Any] = []

    @property
    def id(self) -> int:
        """Its number."""
        return number_of(self._weft)

    @property
    def weft_device(self) -> _weft.Device:
        """Weft's own object, which knows its name and its kind."""
        return self._weft

    def use(self) -> Device:
        """Makes it the current device of this thread."""
        weft.set_device(self._weft)
        return self

    def synchronize(self) -> None:
        """Waits until the device has done all work given to it. Arrays that nobody looked at yet are not computed by it."""
        self._weft.synchronize()

    @property
    def mem_info(self) -> tuple[int, int]:
        """Free and total bytes of its memory."""
        memory = self._weft.memory()
        return memory["free"], memory["total"]

    @property
    def compute_capability(self) -> str:
        """As "90". An AttributeError where the device is not one of CUDA."""
        self._is_cuda("compute_capability")
        return "".join(map(str, self._weft.compute_capability))

    @property
    def pci_bus_id(self) -> str:
        """An AttributeError: Weft does not ask for it; devices have a `uuid`."""
        raise AttributeError("pci_bus_id is not known: see weft_device.uuid")

    def _is_cuda(self, what: str) -> None:
        if self._weft.kind != "cuda":
            raise AttributeError(f"{self._weft.name} is no CUDA device and has no {what}")

    def __enter__(self) -> Device:
        """Makes it the current device until the block ends."""
        # A `with` on a Weft device is over with its own exit: the same object can be entered again inside.
        entered = weft.device(self._weft.name)
        entered.__enter__()
        self._entered.append(entered)
        return self

    def __exit__(self, *error: object) -> None:
        """The device from before is the current one again."""
        self._entered.pop().__exit__(*error)

    def __int__(self) -> int:
        """Its number."""
        return self.id

    __index__ = __int__

    def __eq__(self, other: object) -> bool:
        """Whether they are one device; Weft's own objects are taken, too, as `x.device` is."""
        return self._weft == (other._weft if isinstance(other, Device) else other)

    def __hash__(self) -> int:
        """That of Weft's object."""
        return hash(self._weft)

    def __repr__(self) -> str:
        """As CuPy shows it."""
        return f"<CUDA Device {self.id}>" if self._weft.kind == "cuda" else f"<Device {self._weft.name}>"


def of_number(number: Any) -> _weft.Device:
    """Weft's device of a number."""
    at = int(number)
    if not 0 <= at < len(gpus):
        raise runtime_error(f"cudaErrorInvalidDevice: there are {len(gpus)} devices, and none of number {at}")
    return gpus[at]


def number_of(device: _weft.Device) -> int:
    """The number of a device of Weft's."""
    for at, each in enumerate(gpus):
        if each == device:
            return at
    if device.kind == "cpu":
        raise UnsupportedError(f"the current device is the CPU, which has no number beside {len(gpus)} GPUs: use cupy.cuda.Device(0)")
    raise UnsupportedError(f"{device.name} is no device that has a number")


def runtime_error(message: str) -> Exception:
    """`CUDARuntimeError`, which stands in `runtime`."""
    from weft.cupy.cuda.runtime import CUDARuntimeError

    return CUDARuntimeError(message)


def get_device_id() -> int:
    """The number of the current device."""
    return number_of(weft.current_device())


def is_available() -> bool:
    """Whether there is a device to compute on: always."""
    return True

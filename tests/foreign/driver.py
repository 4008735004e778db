"""The CUDA driver's calls that the tests make, on the stand-in for the driver or on what ``WEFT_CUDA_DRIVER`` names."""

from __future__ import annotations

import ctypes
import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np


class Failed(Exception):
    """A call of the driver failed; the message has the code and what the stand-in reports."""


def _library() -> ctypes.CDLL:
    name = os.environ.get("WEFT_CUDA_DRIVER", "double")
    if name != "double":
        return ctypes.CDLL(name)
    package = importlib.util.find_spec("weft")
    assert package and package.origin, "weft is not installed"
    return ctypes.CDLL(str(Path(package.origin).parent / "libweft_cuda_double.so"))


class Driver:
    """Device 0 with its primary context."""

    def __init__(self) -> None:
        self.library = _library()
        self.call("cuInit", 0)
        self.context = ctypes.c_uint64()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), 0)
        self.call("cuCtxSetCurrent", self.context)

    def call(self, name: str, *args: Any) -> None:
        code = getattr(self.library, name)(*args)
        if code != 0:
            raise Failed(f"{name}: {code} {self.report()}".strip())

    def report(self) -> str:
        if not hasattr(self.library, "weft_double_last_report"):
            return ""
        text = ctypes.create_string_buffer(4096)
        self.library.weft_double_last_report(text, ctypes.c_size_t(4096))
        return text.value.decode()

    def reset(self) -> None:
        """After an error that stays."""
        self.library.cuDevicePrimaryCtxReset_v2(0)
        self.call("cuCtxSetCurrent", self.context)

    def load(self, ptx: str) -> Module:
        log = ctypes.create_string_buffer(4096)
        options = (ctypes.c_uint * 2)(5, 6)
        values = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p), 4096)
        handle = ctypes.c_uint64()
        code = self.library.cuModuleLoadDataEx(ctypes.byref(handle), ptx.encode() + b"\0", 2, options, values)
        if code != 0:
            raise Failed(f"cuModuleLoadDataEx: {code} {log.value.decode()}".strip())
        return Module(self, handle)


class Module:
    """A loaded module, whose kernels take NumPy arrays and scalars."""

    def __init__(self, driver: Driver, handle: ctypes.c_uint64) -> None:
        self.driver, self.handle = driver, handle

    def launch(
        self, name: str, grid: int | Sequence[int], block: int | Sequence[int], *args: Any, shared: int = 0, cooperative: bool = False
    ) -> None:
        """Runs a kernel. Arrays are copied to the device and what became of them back."""
        call, function = self.driver.call, ctypes.c_uint64()
        call("cuModuleGetFunction", ctypes.byref(function), self.handle, name.encode())
        held: list[tuple[ctypes.c_uint64, np.ndarray]] = []
        values: list[Any] = []
        for arg in args:
            if isinstance(arg, np.ndarray):
                address = ctypes.c_uint64()
                call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(arg.nbytes, 1)))
                call("cuMemcpyHtoD_v2", address, ctypes.c_void_p(arg.ctypes.data), ctypes.c_size_t(arg.nbytes))
                held.append((address, arg))
                values.append(address)
            else:
                values.append(ctypes.create_string_buffer(np.asarray(arg).tobytes()))
        params = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
        shape = [ctypes.c_uint(n) for dims in (grid, block) for n in (*np.atleast_1d(dims).tolist(), 1, 1)[:3]]
        stream = ctypes.c_uint64()
        if cooperative:
            call("cuLaunchCooperativeKernel", function, *shape, ctypes.c_uint(shared), stream, params)
        else:
            call("cuLaunchKernel", function, *shape, ctypes.c_uint(shared), stream, params, None)
        call("cuCtxSynchronize")
        for address, array in held:
            call("cuMemcpyDtoH_v2", ctypes.c_void_p(array.ctypes.data), address, ctypes.c_size_t(array.nbytes))
            call("cuMemFree_v2", address)

    def unload(self) -> None:
        self.driver.call("cuModuleUnload", self.handle)

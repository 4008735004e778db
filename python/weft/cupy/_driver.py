"""The calls of CUDA's driver that load modules of others and launch their kernels, in the context that Weft works in."""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from weft import _weft
from weft.cupy.cuda.runtime import CUDARuntimeError
from weft.errors import UnsupportedError

_JIT_LOG, _JIT_LOG_BYTES = 5, 6
# Where the driver says which context is no longer current, which nobody reads.
_POPPED = ctypes.byref(ctypes.c_void_p())


@functools.cache
def _library() -> ctypes.CDLL:
    """The driver that Weft has loaded."""
    choice = os.environ.get("WEFT_CUDA_DRIVER", "")
    if choice == "double":
        return ctypes.CDLL(str(Path(_weft.__file__).parent / "libweft_cuda_double.so"))
    return ctypes.CDLL(choice or ("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"))


def _call(name: str, *args: Any) -> None:
    code = getattr(_library(), name)(*args)
    if code != 0:
        text = ctypes.c_char_p()
        _library().cuGetErrorName(code, ctypes.byref(text))
        raise CUDARuntimeError(f"{name}: {(text.value or b'').decode() or code}")


@functools.cache
def _context(index: int) -> ctypes.c_void_p:
    """The primary context of a device, which is Weft's, too."""
    context = ctypes.c_void_p()
    _call("cuInit", 0)
    device = ctypes.c_int()
    _call("cuDeviceGet", ctypes.byref(device), index)
    _call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    return context


class on:
    """A block of what is done on a device."""

    __slots__ = ("_context",)

    def __init__(self, device: _weft.Device) -> None:
        if device.kind != "cuda":
            raise UnsupportedError(f"kernels in CUDA C++ and PTX run on CUDA devices, and {device.name} is none")
        self._context = _context(device.index)

    def __enter__(self) -> None:
        _call("cuCtxPushCurrent_v2", self._context)

    def __exit__(self, *_: object) -> None:
        _call("cuCtxPopCurrent_v2", _POPPED)


def module(image: bytes) -> ctypes.c_void_p:
    """A module of PTX or of a cubin, on the device that this is done on."""
    log = ctypes.create_string_buffer(8192)
    options = (ctypes.c_uint * 2)(_JIT_LOG, _JIT_LOG_BYTES)
    values = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p), len(log))
    handle = ctypes.c_void_p()
    code = _library().cuModuleLoadDataEx(ctypes.byref(handle), image + b"\0", 2, options, values)
    if code != 0:
        raise CUDARuntimeError(f"cuModuleLoadDataEx: {code} {log.value.decode(errors='replace')}".strip())
    return handle


def function(module: ctypes.c_void_p, name: str) -> ctypes.c_void_p:
    """A kernel of a module."""
    handle = ctypes.c_void_p()
    _call("cuModuleGetFunction", ctypes.byref(handle), module, name.encode())
    return handle


def launch(
    kernel: ctypes.c_void_p, grid: Sequence[int], block: Sequence[int], shared: int, stream: int, args: Sequence[bytes], cooperative: bool
) -> None:
    """Launches a kernel with the bytes of its arguments."""
    held = [ctypes.create_string_buffer(each, len(each)) for each in args]
    params = (ctypes.c_void_p * max(len(held), 1))(*(ctypes.addressof(each) for each in held))
    sizes = [ctypes.c_uint(n) for n in (*grid, *block)]
    queue = ctypes.c_void_p(stream)
    if cooperative:
        _call("cuLaunchCooperativeKernel", kernel, *sizes, ctypes.c_uint(shared), queue, params)
    else:
        _call("cuLaunchKernel", kernel, *sizes, ctypes.c_uint(shared), queue, params, None)


def allow_shared(kernel: ctypes.c_void_p, size: int) -> None:
    """Lets a kernel have so much dynamic shared memory."""
    _call("cuFuncSetAttribute", kernel, 8, ctypes.c_int(size))

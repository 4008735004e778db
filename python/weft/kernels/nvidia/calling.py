"""Arrays as NVIDIA's libraries see them: addresses, formats by number, the stream in which arrays are computed; and errors by name.

A device has one handle of each library, used by one thread at a time: all that Weft gives to a library goes to the one stream in which
arrays are computed, so that handles of threads would only have more workspaces. These are arrays, freed in the stream's order.
"""

from __future__ import annotations

import ctypes
import functools
import math
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft import cuda
from weft._weft import Device, _full, _in_place, _lent, _reshape, _unset, ndarray
from weft.arrays._common import copied
from weft.cupy import _driver
from weft.errors import LibraryError

# `cudaDataType` by a dtype's name, and the letter of a routine's name by NumPy's.
FORMATS = {"float32": 0, "float64": 1, "float16": 2, "complex64": 4, "complex128": 5, "bfloat16": 14}
LETTERS = {"f": "S", "d": "D", "F": "C", "D": "Z"}


@functools.cache
def format_of(dtype: np.dtype) -> int | None:
    """The number of a dtype's format, if libraries have one. (A dtype's name takes microseconds to ask for.)"""
    return FORMATS.get(dtype.name)


_locks: dict[Device, Any] = {}


def lock(device: Device) -> Any:
    """Held while a device's handles are made or used."""
    # Two threads that are the first get the same one.
    return _locks.get(device) or _locks.setdefault(device, threading.RLock())


@functools.cache
def stream(device: Device) -> int:
    """The stream in which the arrays of a device are computed."""
    with device:
        return cuda.default_stream().handle


def new(shape: Sequence[int], dtype: Any, device: Device) -> ndarray:
    """An array for a library to write: until then there is anything in it."""
    return _unset(tuple(shape), np.dtype(dtype), device)


def zeros(shape: Sequence[int], dtype: Any, device: Device) -> ndarray:
    """An array of zeros."""
    return _full(tuple(shape), 0, np.dtype(dtype), device)


def dense(a: ndarray) -> ndarray:
    """A copy in C's order, with memory of its own, for a library to write over."""
    return copied(a, a.dtype, "C")


def stacked(a: ndarray) -> ndarray:
    """The matrices in the last two axes of a dense array as one stack."""
    return a if a.ndim == 3 else _reshape(a, (math.prod(a.shape[:-2]), *a.shape[-2:]))


class Operand:
    """An array that a library reads: its address and steps in bytes, as long as this is there."""

    __slots__ = ("address", "held", "strides")

    def __init__(self, array: ndarray) -> None:
        self.held, self.address, strides = _lent(array)
        self.strides = tuple(strides)


def written(device: Device, arrays: Sequence[ndarray], call: Callable[..., None]) -> None:
    """Calls a function with the addresses of arrays that a library writes, in the device's context, by one thread at a time."""

    def enter(addresses: list[int]) -> None:
        with lock(device), _driver.on(device):
            call(*addresses)

    _in_place(list(arrays), enter)


def made(create: Callable[..., int], check: Callable[[int, str], None], name: str, device: Device) -> ctypes.c_void_p:
    """A handle that a call gives. Where a library cannot be used at all, this is where it shows."""
    handle = ctypes.c_void_p()
    if create(ctypes.byref(handle)) != 0:
        # Once more without the memory that Weft keeps for later: libraries take theirs from the driver.
        device.free_all()
        try:
            check(create(ctypes.byref(handle)), name)
        except LibraryError as error:
            raise LibraryError(f"{error}. WEFT_NVIDIA_LIBRARIES=off does without NVIDIA's libraries") from None
    return handle


def checker(library: str, names: dict[int, str]) -> Callable[[int, str], None]:
    """A function that raises a status of a library that is no success."""

    def check(status: int, call: str) -> None:
        if status != 0:
            raise LibraryError(f"{call}: {names.get(status, f'status {status} of {library}')}")

    return check

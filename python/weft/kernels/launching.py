"""How functions that launch kernels are called: at once, and in captured graphs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from weft._weft import device, ndarray
from weft.arrays._compiled import at_once

__all__ = ["SHARED_BYTES", "fits", "launched", "number", "on_a_device", "pieces", "shared_bytes", "wide"]

SHARED_BYTES = 16 << 10
"""The shared memory that a block has on every GPU: no kernel takes more without asking for the device's limit."""


def on_a_device(*arrays: ndarray) -> bool:
    """Whether these kernels are for them: arrays on the CPU have compiled code of their own. ValueError if they are in different places."""
    for a in arrays:
        if a.device.kind != "cpu":
            _refuse_elsewhere(a, arrays)
            return True
    return False


def _refuse_elsewhere(a: ndarray, arrays: Iterable[ndarray]) -> None:
    for other in arrays:
        if other.device != a.device:
            one, two = a.device.name, other.device.name
            raise ValueError(f'operands are on different devices, {one} and {two}: move one with x.to("{one}") or x.to("{two}")')


def number(n: int, like: ndarray) -> Any:
    """A length or a place as a kernel on the device of an array takes it: some GPUs have no integers of 64 bits."""
    return n if like.device.int64 else np.int32(n)


def pieces(n: int, most: int) -> Iterator[slice]:
    """Places that follow each other, so many at a time: a grid has only so many blocks."""
    return (slice(start, min(start + most, n)) for start in range(0, n, most))


def fits(*arrays: ndarray) -> bool:
    """Whether the kernels of orders and scans are for these arrays, the first of which says where.

    They count places in 32 bits, a tile behind the last one included.
    """
    return all(a.size < 2**31 - 2**16 for a in arrays)


@functools.cache
def shared_bytes(name: str) -> int:
    """How much shared memory a block has on a device."""
    return device(name).limits()["shared_bytes"]


def launched(function: Callable[..., Any], *values: Any, keeps_shape: bool = True, like: Callable[..., Any] | None = None) -> Any:
    """What a function of arrays gives that makes arrays, launches kernels and gives one array or a tuple of them.

    A captured graph calls it again whenever it runs, if the shapes of what it gives depend on nothing but shapes. What these are is found
    by a call with zeros, or by `like`, which gives arrays of these shapes and dtypes: needed where the function also reads arrays that it
    keeps, whose elements nobody can look at while a graph is captured.
    """
    return at_once(_of_list, function, list(values), keeps_shape, like)


def _of_list(function: Callable[..., Any], values: list[Any]) -> Any:
    return function(*values)


def wide(a: ndarray) -> np.dtype:
    """What decompositions of floats are computed in: double precision, as NumPy's are, where the device has it."""
    if not a.device.float64:
        return a.dtype
    return np.dtype(np.complex128 if a.dtype.kind == "c" else np.float64)

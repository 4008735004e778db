"""How functions that launch kernels are called: at once, and in captured graphs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from weft._weft import device, ndarray
from weft.arrays._compiled import recorded
from weft.errors import CaptureError

__all__ = ["fits", "launched", "on_a_device"]


def on_a_device(a: ndarray) -> bool:
    """Whether these kernels are for it: arrays on the CPU have compiled code of their own."""
    return a.device.kind != "cpu"


def fits(*arrays: ndarray) -> bool:
    """Whether the kernels of orders and scans are for these arrays, the first of which says where.

    They count places in 32 bits, a tile behind the last one included, and a block of a sort has 26 KB of shared memory.
    """
    return all(a.size < 2**31 - 2**16 for a in arrays) and _has_room(arrays[0].device.name)


@functools.cache
def _has_room(name: str) -> bool:
    return device(name).limits()["shared_bytes"] >= 26 * 1024


def launched(function: Callable[..., Any], *values: Any, keeps_shape: bool = True) -> Any:
    """What a function of arrays gives that makes arrays, launches kernels and gives one array or a tuple of them.

    A captured graph calls it again whenever it runs, if the shapes of what it gives depend on nothing but shapes.
    """
    try:
        return function(*values)
    except CaptureError:
        if not keeps_shape:
            raise
        return recorded(functools.partial(_of_list, function), list(values))


def _of_list(function: Callable[..., Any], values: list[Any]) -> Any:
    return function(*values)

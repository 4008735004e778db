"""CuPy's memory pools: views of the pool that each of Weft's devices has."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import weft
from weft._weft import Device
from weft.errors import UnsupportedError


class MemoryPool:
    """The pool of the current device. A device has one, so that every `MemoryPool` is the same; it is in use from the start.

    >>> pool = cupy.get_default_memory_pool()
    >>> pool.free_all_blocks()
    >>> pool.total_bytes() >= pool.used_bytes()
    True
    """

    def __init__(self, allocator: Any = None) -> None:
        if allocator is not None:
            raise UnsupportedError("a MemoryPool takes its memory from the device: an allocator is not taken")

    def _device(self) -> Device:
        return weft.current_device()

    def used_bytes(self) -> int:
        """The bytes that are in use."""
        return self._device().memory()["used"]

    def total_bytes(self) -> int:
        """The bytes that are in use or kept for later."""
        return self._device().memory()["reserved"]

    def free_bytes(self) -> int:
        """The bytes that are kept for later."""
        memory = self._device().memory()
        return memory["reserved"] - memory["used"]

    def n_free_blocks(self) -> int:
        """0 if nothing is kept for later; otherwise refused: the pool counts bytes."""
        if self.free_bytes():
            raise UnsupportedError("n_free_blocks: Weft's pool knows its free bytes, not its blocks: see free_bytes()")
        return 0

    def free_all_blocks(self, stream: Any = None) -> None:
        """Gives what is kept for later back to the system. The device is waited for."""
        device = self._device()
        device.synchronize()
        device.free_all()

    def free_all_free(self) -> None:
        """The older name of `free_all_blocks`."""
        self.free_all_blocks()

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        """How many bytes may be in use or kept: so many, or a part of the device's memory. 0 is no limit."""
        if size is not None and fraction is not None:
            raise ValueError("size and fraction cannot be specified at one time")
        if fraction is not None:
            if not 0 <= fraction <= 1:
                raise ValueError(f"memory limit fraction out of range: {fraction}")
            size = int(fraction * self._device().memory()["total"])
        if size is None:
            raise ValueError("either a size or a fraction is needed")
        if size < 0:
            raise ValueError(f"memory limit size out of range: {size}")
        self._device().set_memory_limit(size or None)

    def get_limit(self) -> int:
        """The limit in bytes; 0 if there is none."""
        return self._device().memory()["limit"] or 0

    def malloc(self, size: int) -> NoReturn:
        """What `set_allocator` is given. Called, it raises: arrays own their memory."""
        raise UnsupportedError(_NO_POINTERS)


class PinnedMemoryPool:
    """Weft keeps no pinned memory for later: a copy from the host waits for its own."""

    def n_free_blocks(self) -> int:
        """None are kept."""
        return 0

    def free_all_blocks(self) -> None:
        """Nothing is kept that could be freed."""

    def malloc(self, size: int) -> NoReturn:
        """What `set_pinned_memory_allocator` is given. Called, it raises."""
        raise UnsupportedError(_NO_POINTERS)


_NO_POINTERS = "memory without an array is not given out: take an array, weft.cuda.pinned_array for pinned memory of the host"
_POOL, _PINNED = MemoryPool(), PinnedMemoryPool()


def get_default_memory_pool() -> MemoryPool:
    """The pool of the current device.

    >>> cupy.get_default_memory_pool().get_limit()
    0
    """
    return _POOL


def get_default_pinned_memory_pool() -> PinnedMemoryPool:
    """The pool of pinned memory of the host, which keeps none.

    >>> cupy.get_default_pinned_memory_pool().n_free_blocks()
    0
    """
    return _PINNED


def set_allocator(allocator: Callable[[int], Any] | None = None) -> None:
    """Takes the `malloc` of a `MemoryPool`, which is what allocates already; others are refused, None among them."""
    if not isinstance(getattr(allocator, "__self__", None), MemoryPool):
        raise UnsupportedError("arrays are allocated from the pool of their device: only the malloc of a MemoryPool is taken")


def get_allocator() -> Callable[[int], Any]:
    """What allocates: the pool's `malloc`."""
    return _POOL.malloc


@contextlib.contextmanager
def using_allocator(allocator: Callable[[int], Any] | None = None) -> Iterator[None]:
    """`set_allocator` for a block."""
    set_allocator(allocator)
    yield


def set_pinned_memory_allocator(allocator: Callable[[int], Any] | None = None) -> None:
    """Takes the `malloc` of a `PinnedMemoryPool` and None, which change nothing; others are refused."""
    if allocator is not None and not isinstance(getattr(allocator, "__self__", None), PinnedMemoryPool):
        raise UnsupportedError("only the malloc of a PinnedMemoryPool is taken: Weft allocates pinned memory itself")


def alloc(size: int) -> NoReturn:
    """Refused: memory is an array's."""
    raise UnsupportedError(_NO_POINTERS)


alloc_pinned_memory = alloc

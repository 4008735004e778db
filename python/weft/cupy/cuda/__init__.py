"""`cupy.cuda`: devices, streams, events, memory pools. Its names mean the devices that Weft has, whichever they are."""

from __future__ import annotations

from weft.cupy._memory import (
    MemoryPool,
    PinnedMemoryPool,
    alloc,
    alloc_pinned_memory,
    get_allocator,
    set_allocator,
    set_pinned_memory_allocator,
    using_allocator,
)
from weft.cupy.cuda import compiler, runtime
from weft.cupy.cuda.devices import Device, get_device_id, is_available
from weft.cupy.cuda.streams import Event, ExternalStream, Stream, get_current_stream, get_elapsed_time

__all__ = [
    "Device",
    "Event",
    "ExternalStream",
    "MemoryPool",
    "PinnedMemoryPool",
    "Stream",
    "alloc",
    "alloc_pinned_memory",
    "compiler",
    "get_allocator",
    "get_current_stream",
    "get_device_id",
    "get_elapsed_time",
    "is_available",
    "runtime",
    "set_allocator",
    "set_pinned_memory_allocator",
    "using_allocator",
]

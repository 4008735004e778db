"""Numba's kernel vocabulary, on whatever device is present: kernels, threads, shared memory, atomics, device memory.

The names a kernel uses (`grid`, `threadIdx`, `syncthreads`, ...) mean something only inside a compiled kernel; called from plain
Python they raise. Axis x of threads and blocks is the first number of a launch's ``[blocks, threads]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft import _weft, types
from weft._decorators import Function, Inspectable, checked, decorate, dispatcher
from weft.cuda.arrays import (
    DeviceNDArray,
    MappedNDArray,
    device_array,
    device_array_like,
    is_cuda_array,
    managed_array,
    mapped,
    mapped_array,
    mapped_array_like,
    pinned,
    pinned_array,
    pinned_array_like,
    to_device,
)
from weft.cuda.compiling import bounds, compile, compile_for_current_device, compile_ptx, compile_ptx_for_current_device
from weft.cuda.devices import (
    close,
    current_context,
    defer_cleanup,
    detect,
    get_current_device,
    gpus,
    is_available,
    is_supported_version,
    list_devices,
    select_device,
    synchronize,
)
from weft.cuda.interop import as_cuda_array, from_cuda_array_interface, from_dlpack
from weft.cuda.names import (
    activemask,
    all_sync,
    any_sync,
    atomic,
    ballot_sync,
    blockDim,
    blockIdx,
    brev,
    cbrt,
    cg,
    clz,
    const,
    eq_sync,
    ffs,
    fma,
    fp16,
    grid,
    gridDim,
    gridsize,
    laneid,
    lanemask_lt,
    local,
    match_all_sync,
    match_any_sync,
    nanosleep,
    popc,
    selp,
    shared,
    shfl_down_sync,
    shfl_sync,
    shfl_up_sync,
    shfl_xor_sync,
    syncthreads,
    syncthreads_and,
    syncthreads_count,
    syncthreads_or,
    syncwarp,
    threadfence,
    threadfence_block,
    threadfence_system,
    threadIdx,
    warpsize,
)
from weft.cuda.overloads import Measured
from weft.cuda.streams import (
    Event,
    Graph,
    Stream,
    default_stream,
    event,
    event_elapsed_time,
    external_stream,
    legacy_default_stream,
    per_thread_default_stream,
    stream,
)
from weft.errors import UnsupportedError

__all__ = [
    "DeviceNDArray",
    "Event",
    "Graph",
    "Kernel",
    "MappedNDArray",
    "Stream",
    "activemask",
    "all_sync",
    "any_sync",
    "as_cuda_array",
    "atomic",
    "ballot_sync",
    "blockDim",
    "blockIdx",
    "brev",
    "cbrt",
    "cg",
    "close",
    "clz",
    "compile",
    "compile_for_current_device",
    "compile_ptx",
    "compile_ptx_for_current_device",
    "const",
    "current_context",
    "default_stream",
    "defer_cleanup",
    "detect",
    "device_array",
    "device_array_like",
    "eq_sync",
    "event",
    "event_elapsed_time",
    "external_stream",
    "ffs",
    "fma",
    "fp16",
    "from_cuda_array_interface",
    "from_dlpack",
    "get_current_device",
    "gpus",
    "grid",
    "gridDim",
    "gridsize",
    "is_available",
    "is_cuda_array",
    "is_supported_version",
    "jit",
    "laneid",
    "lanemask_lt",
    "legacy_default_stream",
    "list_devices",
    "local",
    "managed_array",
    "mapped",
    "mapped_array",
    "mapped_array_like",
    "match_all_sync",
    "match_any_sync",
    "nanosleep",
    "per_thread_default_stream",
    "pinned",
    "pinned_array",
    "pinned_array_like",
    "popc",
    "select_device",
    "selp",
    "shared",
    "shfl_down_sync",
    "shfl_sync",
    "shfl_up_sync",
    "shfl_xor_sync",
    "stream",
    "synchronize",
    "syncthreads",
    "syncthreads_and",
    "syncthreads_count",
    "syncthreads_or",
    "syncwarp",
    "threadIdx",
    "threadfence",
    "threadfence_block",
    "threadfence_system",
    "to_device",
    "warpsize",
]


class Kernel(Measured, Inspectable):
    """A compiled kernel: launched as ``kernel[blocks, threads](arguments...)`` or ``kernel.forall(n)(arguments...)``."""

    def forall(self, ntasks: Any, tpb: int = 0, stream: Any = 0, sharedmem: int = 0) -> _weft.Launcher:
        """The kernel with one thread per point of `ntasks`, an int or a shape of up to three axes.

        The device chooses the blocks, so there may be more threads than points: a kernel compares its index with the shape. A grid
        for `tpb` threads per block is made if that is given.
        """
        if tpb > 0:
            return self[max(-(-int(ntasks) // tpb), 1), tpb, stream, sharedmem]
        return _weft.Launcher.forall(self, ntasks, stream, sharedmem)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """A kernel has no meaning without a grid."""
        raise TypeError(f"a kernel is launched over a grid: {self.__name__}[blocks, threads](...) or {self.__name__}.forall(n)(...)")


class DeviceFunction(Function):
    """A function for kernels, compiled by ``cuda.jit(device=True)``. Called from Python, it runs as plain Python."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The undecorated function's result."""
        return self.py_func(*args, **kwargs)


def jit(
    signature_or_function: Any = None,
    *,
    device: bool = False,
    inline: Any = "never",
    fastmath: bool = False,
    fma: bool = True,
    debug: bool = False,
    opt: bool = True,
    lineinfo: bool = False,
    max_registers: int | None = None,
    launch_bounds: int | Sequence[int] | None = None,
    cache: bool = False,
    link: Sequence[str] = (),
    boundscheck: bool | None = None,
) -> Any:
    """Compile a kernel, or with ``device=True`` a function that kernels call.

    fma: fuse products into additions where both stand in one expression, as CUDA compilers do.
    debug: run checked, see the guide: finds indices out of bounds, races between threads of a block, reads of uninitialised memory.
    max_registers: of a thread, on devices that share them out.
    launch_bounds: the most threads a block of a launch has, or a tuple of that, the blocks one multiprocessor should have room for, and
        the blocks of a cluster.
    `opt`, `lineinfo` and `inline` are accepted for Numba's sake.
    """
    limits = bounds(launch_bounds, max_registers)
    if link:
        raise UnsupportedError("linking foreign device code is not supported")

    def make(function: Any, signatures: tuple[types.Signature, ...]) -> Any:
        return dispatcher(
            DeviceFunction if device else Kernel,
            function,
            signatures,
            role="device" if device else "kernel",
            parallel=True,
            fastmath=fastmath,
            contract=fma or fastmath,
            check=checked(debug, boundscheck),
            cache=cache,
            bounds=limits,
        )

    return decorate(signature_or_function, make)

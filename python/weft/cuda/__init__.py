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
    "as_cuda_array",
    "atomic",
    "blockDim",
    "blockIdx",
    "cbrt",
    "close",
    "clz",
    "const",
    "current_context",
    "default_stream",
    "defer_cleanup",
    "detect",
    "device_array",
    "device_array_like",
    "event",
    "event_elapsed_time",
    "external_stream",
    "fma",
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
    "legacy_default_stream",
    "list_devices",
    "local",
    "managed_array",
    "mapped",
    "mapped_array",
    "mapped_array_like",
    "per_thread_default_stream",
    "pinned",
    "pinned_array",
    "pinned_array_like",
    "popc",
    "select_device",
    "selp",
    "shared",
    "stream",
    "synchronize",
    "syncthreads",
    "syncwarp",
    "threadIdx",
    "threadfence",
    "threadfence_block",
    "threadfence_system",
    "to_device",
    "warpsize",
]

warpsize = 32


class Kernel(_weft.Dispatcher, Inspectable):
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
    cache: bool = False,
    link: Sequence[str] = (),
    boundscheck: bool | None = None,
) -> Any:
    """Compile a kernel, or with ``device=True`` a function that kernels call.

    fma: fuse products into additions where both stand in one expression, as CUDA compilers do.
    debug: run checked, see the guide: finds indices out of bounds, races between threads of a block, reads of uninitialised memory.
    `opt`, `lineinfo`, `max_registers` and `inline` are accepted for Numba's sake.
    """
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
        )

    return decorate(signature_or_function, make)


class _InKernel:
    """A name that means something only inside a compiled kernel."""

    def __init__(self, path: str, doc: str) -> None:
        self._weft_path_ = f"weft.cuda.{path}"
        self.__doc__ = doc

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raises: there is no thread here."""
        raise RuntimeError(f"cuda.{self._weft_path_[10:]} means something only inside a function compiled with cuda.jit")

    def __repr__(self) -> str:
        return f"<{self._weft_path_}>"


class _Axes(_InKernel):
    """Three numbers of a thread: x, y, z."""

    def _axis(self) -> Any:
        return self()

    x = y = z = property(_axis)


class _Group(_InKernel):
    """A name with functions below it: `atomic.add`, `shared.array`."""

    def __init__(self, path: str, doc: str, members: dict[str, str]) -> None:
        super().__init__(path, doc)
        for name, text in members.items():
            setattr(self, name, _InKernel(f"{path}.{name}", text))


threadIdx = _Axes("threadIdx", "Index of the thread in its block, along x, y and z.")
blockIdx = _Axes("blockIdx", "Index of the block in the grid, along x, y and z.")
blockDim = _Axes("blockDim", "Threads of a block, along x, y and z.")
gridDim = _Axes("gridDim", "Blocks of the grid, along x, y and z.")
laneid = _InKernel("laneid", "Index of the thread in its warp of 32.")
grid = _InKernel("grid", "grid(ndim): index of the thread in the whole grid; an int for 1 axis, a tuple for 2 or 3.")
gridsize = _InKernel("gridsize", "gridsize(ndim): threads of the whole grid; an int for 1 axis, a tuple for 2 or 3.")
syncthreads = _InKernel("syncthreads", "All threads of the block arrive before any goes on.")
syncwarp = _InKernel("syncwarp", "All threads of the warp arrive before any goes on.")
threadfence = _InKernel("threadfence", "Earlier writes of this thread become visible to all before later ones.")
threadfence_block = _InKernel("threadfence_block", "Like `threadfence`, for threads of the block.")
threadfence_system = _InKernel("threadfence_system", "Like `threadfence`, for the host as well.")
fma = _InKernel("fma", "fma(a, b, c): a * b + c with one rounding.")
selp = _InKernel("selp", "selp(condition, a, b): a if the condition holds, else b; both are evaluated.")
popc = _InKernel("popc", "popc(x): bits that are set in an integer.")
clz = _InKernel("clz", "clz(x): leading zero bits of an integer.")
cbrt = _InKernel("cbrt", "cbrt(x): cube root.")
shared = _Group("shared", "Memory of a block.", {"array": "array(shape, dtype): an array that all threads of the block share."})
local = _Group("local", "Memory of a thread.", {"array": "array(shape, dtype): an array of this thread."})
const = _Group("const", "Constant memory.", {"array_like": "array_like(array): a global NumPy array, frozen at compile time."})
_ATOMICS = {
    "add": "add(array, index, value): array[index] += value",
    "sub": "sub(array, index, value): array[index] -= value",
    "min": "min(array, index, value): array[index] = min(array[index], value)",
    "max": "max(array, index, value): array[index] = max(array[index], value)",
    "and_": "and_(array, index, value): array[index] &= value",
    "or_": "or_(array, index, value): array[index] |= value",
    "xor": "xor(array, index, value): array[index] ^= value",
    "exch": "exch(array, index, value): array[index] = value",
    "compare_and_swap": "compare_and_swap(array, old, value): array[0] = value if it equals old",
    "cas": "cas(array, index, old, value): array[index] = value if it equals old",
}
atomic = _Group(
    "atomic", "One step that no other thread sees half done; each gives the old element.",
    {name: f"{text}, atomically; gives the old element." for name, text in _ATOMICS.items()},
)  # fmt: skip

"""Numba's kernel vocabulary, on whatever device is present: kernels, threads, shared memory, atomics, device memory.

The names a kernel uses (`grid`, `threadIdx`, `syncthreads`, ...) mean something only inside a compiled kernel; called from plain
Python they raise. Axis x of threads and blocks is the first number of a launch's ``[blocks, threads]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft import _weft, types
from weft._decorators import Function, Inspectable, checked, decorate, dispatcher
from weft._decorators import vectorize as _vectorize
from weft._differentiable import Differentiable
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
from weft.cuda.compiling import bounds, compile, compile_all, compile_for_current_device, compile_ptx, compile_ptx_for_current_device
from weft.cuda.devices import (
    close,
    current_context,
    defer_cleanup,
    detect,
    get_current_device,
    gpus,
    is_available,
    is_bfloat16_supported,
    is_float16_supported,
    is_supported_version,
    list_devices,
    require_context,
    select_device,
    synchronize,
)
from weft.cuda.hints import In, InOut, Out
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
    mma,
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
from weft.cuda.reduction import Reduce, reduce
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
from weft.types import (
    b1,
    bfloat16,
    bool_,
    boolean,
    byte,
    c8,
    c16,
    char,
    complex64,
    complex128,
    double,
    f2,
    f4,
    f8,
    float16,
    float32,
    float64,
    float_,
    i1,
    i2,
    i4,
    i8,
    int8,
    int16,
    int32,
    int64,
    int_,
    intc,
    intp,
    long_,
    longlong,
    none,
    short,
    u1,
    u2,
    u4,
    u8,
    uint,
    uint8,
    uint16,
    uint32,
    uint64,
    uintc,
    uintp,
    ulonglong,
    ushort,
    void,
)

__all__ = [
    "DeviceNDArray",
    "Event",
    "Graph",
    "In",
    "InOut",
    "Kernel",
    "MappedNDArray",
    "Out",
    "Reduce",
    "Stream",
    "activemask",
    "all_sync",
    "any_sync",
    "as_cuda_array",
    "atomic",
    "b1",
    "ballot_sync",
    "bfloat16",
    "blockDim",
    "blockIdx",
    "bool_",
    "boolean",
    "brev",
    "byte",
    "c8",
    "c16",
    "cbrt",
    "cg",
    "char",
    "close",
    "clz",
    "compile",
    "compile_all",
    "compile_for_current_device",
    "compile_ptx",
    "compile_ptx_for_current_device",
    "complex64",
    "complex128",
    "const",
    "current_context",
    "default_stream",
    "defer_cleanup",
    "detect",
    "device_array",
    "device_array_like",
    "double",
    "eq_sync",
    "event",
    "event_elapsed_time",
    "external_stream",
    "f2",
    "f4",
    "f8",
    "ffs",
    "float16",
    "float32",
    "float64",
    "float_",
    "fma",
    "fp16",
    "from_cuda_array_interface",
    "from_dlpack",
    "get_current_device",
    "gpus",
    "grid",
    "gridDim",
    "gridsize",
    "i1",
    "i2",
    "i4",
    "i8",
    "int8",
    "int16",
    "int32",
    "int64",
    "int_",
    "intc",
    "intp",
    "is_available",
    "is_bfloat16_supported",
    "is_cuda_array",
    "is_float16_supported",
    "is_supported_version",
    "jit",
    "laneid",
    "lanemask_lt",
    "legacy_default_stream",
    "list_devices",
    "local",
    "long_",
    "longlong",
    "managed_array",
    "mapped",
    "mapped_array",
    "mapped_array_like",
    "match_all_sync",
    "match_any_sync",
    "mma",
    "nanosleep",
    "none",
    "per_thread_default_stream",
    "pinned",
    "pinned_array",
    "pinned_array_like",
    "popc",
    "random",
    "reduce",
    "require_context",
    "select_device",
    "selp",
    "shared",
    "shfl_down_sync",
    "shfl_sync",
    "shfl_up_sync",
    "shfl_xor_sync",
    "short",
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
    "types",
    "u1",
    "u2",
    "u4",
    "u8",
    "uint",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "uintc",
    "uintp",
    "ulonglong",
    "ushort",
    "vectorize",
    "void",
    "warpsize",
]


def __getattr__(name: str) -> Any:
    """`random` is imported when it is first used."""
    if name == "random":
        import importlib

        return importlib.import_module("weft.cuda.random")
    raise AttributeError(f"module 'weft.cuda' has no attribute {name!r}")


def vectorize(signatures_or_function: Any = None, **options: Any) -> Any:
    """`weft.vectorize` with ``target="cuda"``: the ufunc runs where its device arrays are, else on the current device."""
    return _vectorize(signatures_or_function, **{"target": "cuda", **options})


class Kernel(Measured, Inspectable, Differentiable):
    """A compiled kernel: launched as ``kernel[blocks, threads](arguments...)`` or ``kernel.forall(n)(arguments...)``."""

    def forall(self, ntasks: Any, tpb: int = 0, stream: Any = 0, sharedmem: int = 0) -> _weft.Launcher:
        """The kernel with one thread per point of `ntasks`, an int or a shape of up to three axes.

        The device chooses the blocks, so there may be more threads than points: a kernel compares its index with the shape. A grid
        for `tpb` threads per block is made if that is given.
        """
        if tpb > 0:
            return self[max(-(-int(ntasks) // tpb), 1), tpb, stream, sharedmem]
        return _weft.Launcher.forall(self, ntasks, stream, sharedmem)

    def configure(self, griddim: Any, blockdim: Any, stream: Any = 0, sharedmem: int = 0) -> _weft.Launcher:
        """The kernel with its grid, as ``kernel[griddim, blockdim, stream, sharedmem]``."""
        return self[griddim, blockdim, stream, sharedmem]

    def compile(self, sig: Any) -> Any:
        """Compiles it for argument types now, on the current device; gives the overload."""
        args = types.as_signature(sig).args
        self._compile(tuple(one._spec_ for one in args))
        return self.overloads[args]

    def specialize(self, *args: Any) -> Kernel:
        """A kernel of the same function for arguments like these, or of these types, alone; compiled already."""
        if self.specialized:
            raise RuntimeError(f"Dispatcher already specialized: {self.__name__} is for one signature")
        found = types.Signature(types.none, [one if isinstance(one, types.Type) else types.from_spec(_weft.typeof(one)) for one in args])
        remake, (cls, function, _, options) = self._remake_
        return remake(cls, function, (found,), options)

    @property
    def specialized(self) -> bool:
        """Whether it was given a single signature."""
        return self._declared() == 1

    @property
    def nopython_signatures(self) -> list[types.Signature]:
        """The signatures it has been compiled for."""
        return [one.signature for one in self.overloads.values()]

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
    forceinline: bool = False,
    _numba: bool = False,
) -> Any:
    """Compile a kernel, or with ``device=True`` a function that kernels call.

    fma: fuse products into additions where both stand in one expression, as CUDA compilers do.
    debug: run checked, see the guide: finds indices out of bounds, races between threads of a block, reads of uninitialised memory,
        and raises ZeroDivisionError.
    lineinfo: say in a CUDA kernel's code which line of the source each instruction comes from; profilers show it.
    max_registers: of a thread, on devices that share them out.
    launch_bounds: the most threads a block of a launch has, or a tuple of that, the blocks one multiprocessor should have room for, and
        the blocks of a cluster.
    `opt`, `inline` and `forceinline` are accepted for Numba's sake: kernels take in all they call.
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
            numba=_numba,
            parallel=True,
            fastmath=fastmath,
            contract=fma or fastmath,
            python_errors=bool(debug),
            check=checked(debug, boundscheck),
            cache=cache,
            lines=lineinfo,
            bounds=limits,
        )

    return decorate(signature_or_function, make)

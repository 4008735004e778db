"""Numba's kernel vocabulary, on whatever device is present: kernels, threads, shared memory, atomics, device memory.

The names a kernel uses (`grid`, `threadIdx`, `syncthreads`, ...) mean something only inside a compiled kernel; called from plain
Python they raise. Axis x of threads and blocks is the first number of a launch's ``[blocks, threads]``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft import _weft, types
from weft._decorators import Function, Inspectable, checked, decorate, dispatcher
from weft.errors import UnsupportedError

__all__ = [
    "DeviceNDArray",
    "Kernel",
    "atomic",
    "blockDim",
    "blockIdx",
    "cbrt",
    "clz",
    "const",
    "device_array",
    "device_array_like",
    "fma",
    "grid",
    "gridDim",
    "gridsize",
    "is_available",
    "is_cuda_array",
    "jit",
    "laneid",
    "local",
    "popc",
    "selp",
    "shared",
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
        if sharedmem:
            raise UnsupportedError("dynamic shared memory is not supported yet; give shared.array a constant shape")
        if tpb > 0:
            return self[max(-(-int(ntasks) // tpb), 1), tpb]
        return _weft.Launcher.forall(self, ntasks)

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


class DeviceNDArray(_weft.DeviceArray):
    """An array in device memory. Kernels take it as an argument; the host copies it, and reads and writes elements."""

    @property
    def dtype(self) -> np.dtype:
        """NumPy's dtype of the elements."""
        return np.dtype(self.dtype_name)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes the elements take."""
        return self.size * self.dtype.itemsize

    @property
    def T(self) -> DeviceNDArray:
        """The view with its axes reversed."""
        return self.transpose()

    def transpose(self, axes: Sequence[int] | None = None) -> DeviceNDArray:
        """A view with the axes in another order."""
        return self._window(lambda shadow: shadow.transpose(axes))

    def reshape(self, *shape: Any) -> DeviceNDArray:
        """A view of another shape; the elements must lie in C order."""
        if not self._is_dense():
            raise ValueError("only a C-contiguous device array can be reshaped")
        return self._window(lambda shadow: shadow.reshape(*shape))

    def ravel(self) -> DeviceNDArray:
        """The view of rank 1 on the same elements."""
        return self.reshape(-1)

    def __len__(self) -> int:
        """Length of the first axis."""
        if not self.shape:
            raise TypeError("len() of a device array of rank 0")
        return self.shape[0]

    def __getitem__(self, index: Any) -> Any:
        """An element as a NumPy scalar, or a view for slices."""
        index = _basic(index)
        view = self._window(lambda shadow: shadow[index])
        return view.copy_to_host()[()] if _is_element(index, self.ndim) else view

    def __setitem__(self, index: Any, value: Any) -> None:
        """Writes an element, or an array that broadcasts to the slices."""
        index = _basic(index)
        view = self._window(lambda shadow: shadow[index])
        if isinstance(value, DeviceNDArray):
            value = value.copy_to_host()
        view.copy_to_device(np.broadcast_to(np.asarray(value, self.dtype), view.shape))

    def copy_to_host(self, ary: np.ndarray | None = None, stream: Any = 0) -> np.ndarray:
        """The elements as a NumPy array: a new one, or `ary`."""
        out = np.empty(self.shape, self.dtype) if ary is None else ary
        if (out.shape, out.dtype) != (self.shape, self.dtype):
            raise ValueError(f"cannot copy {self.dtype}{self.shape} to {out.dtype}{out.shape}")
        if self.size == 0:
            return out
        if self._is_dense() and out.flags.c_contiguous:
            self.memory.read(self.offset, out)
        else:
            out[...] = self._on_host()[2]
        return out

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        """Writes all elements from an array of the same shape."""
        if isinstance(ary, DeviceNDArray):
            ary = ary.copy_to_host()
        ary = np.asarray(ary)
        if ary.shape != self.shape:
            raise ValueError(f"cannot copy an array of shape {ary.shape} to one of shape {self.shape}")
        if self.size == 0:
            return
        if self._is_dense():
            self.memory.write(self.offset, np.ascontiguousarray(ary, self.dtype))
        else:
            low, span, elements = self._on_host()
            elements[...] = ary
            self.memory.write(low, span)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """A copy on the host."""
        if copy is False:
            raise ValueError("the elements are in device memory, so a copy cannot be avoided")
        out = self.copy_to_host()
        return out if dtype is None else out.astype(dtype)

    def __repr__(self) -> str:
        """Shape and dtype; the elements stay where they are."""
        return f"DeviceNDArray(shape={self.shape}, dtype={self.dtype})"

    def _is_dense(self) -> bool:
        return self._shadow().flags.c_contiguous

    def _shadow(self) -> np.ndarray:
        """An array of this shape and strides over memory that is not there: NumPy does the index arithmetic, nobody reads it."""
        return np.lib.stride_tricks.as_strided(np.empty(1, self.dtype), self.shape, self.strides)

    def _window(self, change: Callable[[np.ndarray], np.ndarray]) -> DeviceNDArray:
        """The view that `change`, an indexing or reshaping that copies nothing, makes of this array."""
        before = self._shadow()
        after = change(before)
        moved = _address(after) - _address(before)
        return DeviceNDArray(self.memory, self.offset + moved, after.shape, after.strides, self.dtype_name)

    def _on_host(self) -> tuple[int, np.ndarray, np.ndarray]:
        """Where in the memory the elements begin, a copy of the bytes they span, and the elements as a view of that."""
        reach = [(n - 1) * s for n, s in zip(self.shape, self.strides, strict=True)]
        low = self.offset + sum(r for r in reach if r < 0)
        high = self.offset + sum(r for r in reach if r > 0) + self.dtype.itemsize
        span = np.empty(high - low, np.uint8)
        self.memory.read(low, span)
        return low, span, np.ndarray(self.shape, self.dtype, span, self.offset - low, self.strides)


def _address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


def _basic(index: Any) -> tuple[Any, ...]:
    """The index with an Ellipsis in it, so that NumPy gives a view of what is not there instead of reading an element."""
    items = index if isinstance(index, tuple) else (index,)
    for item in items:
        if not (item is None or item is Ellipsis or isinstance(item, slice) or hasattr(item, "__index__")) or np.ndim(item):
            raise TypeError("a device array is indexed with ints and slices; copy_to_host() first for anything else")
    return items if Ellipsis in items else (*items, Ellipsis)


def _is_element(index: tuple[Any, ...], rank: int) -> bool:
    ints = [item for item in index if hasattr(item, "__index__")]
    return len(ints) == rank and len(index) == rank + 1 and index[-1] is Ellipsis


def device_array(shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C", stream: Any = 0) -> DeviceNDArray:
    """A new array in device memory, its elements unset."""
    dtype = np.dtype(dtype.dtype if isinstance(dtype, types.Scalar) else dtype)
    shape = (int(shape),) if hasattr(shape, "__index__") else tuple(map(int, shape))
    if any(n < 0 for n in shape):
        raise ValueError("negative dimensions are not allowed")
    if strides is None:
        strides = _dense_strides(shape, dtype.itemsize, order)
    span = sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) + dtype.itemsize if math.prod(shape) else 0
    return DeviceNDArray(_weft.Memory(max(span, 1)), 0, shape, tuple(strides), dtype.name)


def _dense_strides(shape: tuple[int, ...], item: int, order: str) -> tuple[int, ...]:
    axes = range(len(shape)) if order == "F" else reversed(range(len(shape)))
    strides = [0] * len(shape)
    for axis in axes:
        strides[axis] = item
        item *= max(shape[axis], 1)
    return tuple(strides)


def device_array_like(ary: Any, stream: Any = 0) -> DeviceNDArray:
    """A new array in device memory with the shape, dtype and order of `ary`."""
    fortran = isinstance(ary, np.ndarray) and ary.flags.f_contiguous and not ary.flags.c_contiguous
    return device_array(ary.shape, ary.dtype, order="F" if fortran else "C")


def to_device(obj: Any, stream: Any = 0, copy: bool = True, to: DeviceNDArray | None = None) -> DeviceNDArray:
    """A copy of an array in device memory: a new one, or `to`."""
    if isinstance(obj, DeviceNDArray):
        return obj
    host = np.asarray(obj)
    target = device_array_like(host) if to is None else to
    if copy:
        target.copy_to_device(host)
    return target


def is_cuda_array(obj: Any) -> bool:
    """Whether `obj` is an array in device memory."""
    return isinstance(obj, DeviceNDArray)


def synchronize() -> None:
    """Waits until the device has done all work given to it."""
    _weft.synchronize()


def is_available() -> bool:
    """Whether kernels can run: always, since the CPU is a device."""
    return True

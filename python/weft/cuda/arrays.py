"""Arrays in device memory: making them, copying them, indexing them from the host. Names and arguments are Numba's."""

from __future__ import annotations

import contextlib
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from weft import _weft, types
from weft._weft import Device
from weft.cuda import interop
from weft.cuda.layout import dense_strides, is_too_big, reach
from weft.errors import UnsupportedError

__all__ = [
    "DeviceNDArray",
    "MappedNDArray",
    "device_array",
    "device_array_like",
    "is_cuda_array",
    "managed_array",
    "mapped",
    "mapped_array",
    "mapped_array_like",
    "pinned",
    "pinned_array",
    "pinned_array_like",
    "to_device",
]


class DeviceNDArray(_weft.DeviceArray):
    """An array in device memory. Kernels take it as an argument; the host copies it, and reads and writes elements."""

    @property
    def dtype(self) -> np.dtype:
        """NumPy's dtype of the elements."""
        return self._element.dtype

    @property
    def _element(self) -> types.Scalar:
        return types.element(self.dtype_name)

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
        return self.size * self._element.itemsize

    @property
    def T(self) -> DeviceNDArray:
        """The view with its axes reversed."""
        return self.transpose()

    def transpose(self, axes: Sequence[int] | None = None) -> DeviceNDArray:
        """A view with the axes in another order."""
        return self._window(lambda shadow: shadow.transpose(axes))

    def reshape(self, *shape: Any, order: str = "C") -> DeviceNDArray:
        """A view of another shape; the elements must lie in the order, C or F (A: whichever they do), that they are read in."""
        if order == "A":
            order = "F" if self.is_f_contiguous() and not self.is_c_contiguous() else "C"
        if not (self.is_c_contiguous() if order == "C" else self.is_f_contiguous()):
            raise ValueError(f"only a {order}-contiguous device array can be reshaped")
        return self._window(lambda shadow: shadow.reshape(*shape, order=order))

    def ravel(self, order: str = "C", stream: Any = 0) -> DeviceNDArray:
        """The view of rank 1 on the same elements, which must lie in the order, C or F, that they are read in."""
        return self.reshape(-1, order=order)

    def view(self, dtype: Any) -> DeviceNDArray:
        """The same bytes as elements of another type; where it is of another size the last axis must be contiguous and fit."""
        elem = types.element(dtype)
        shape, strides = self.shape, self.strides
        if elem.itemsize != self._element.itemsize:
            if not shape or not self.is_c_contiguous():
                raise ValueError("only a C-contiguous device array of at least one axis can be viewed as elements of another size")
            last, left = divmod(shape[-1] * self._element.itemsize, elem.itemsize)
            if left:
                raise ValueError(f"a last axis of {shape[-1]} elements of {self.dtype_name} holds no whole number of {elem.name}")
            shape = (*shape[:-1], last)
            strides = dense_strides(shape, elem.itemsize)
        return type(self)(self.memory, self.offset, shape, strides, elem.name)

    def split(self, section: int, stream: Any = 0) -> Iterator[DeviceNDArray]:
        """Views of `section` elements each, one after the other, of an array of rank 1; the last may be shorter."""
        if self.ndim != 1:
            raise ValueError("only a device array of rank 1 can be split")
        for start in range(0, self.size, section):
            yield self[start : start + section]

    def is_c_contiguous(self) -> bool:
        """Whether the elements lie in C order without gaps."""
        return self._shadow().flags.c_contiguous

    def is_f_contiguous(self) -> bool:
        """Whether the elements lie in Fortran order without gaps."""
        return self._shadow().flags.f_contiguous

    @property
    def flags(self) -> dict[str, bool]:
        """NumPy's flags of contiguity, by name."""
        return {"C_CONTIGUOUS": self.is_c_contiguous(), "F_CONTIGUOUS": self.is_f_contiguous()}

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
        self.setitem(index, value)

    def getitem(self, index: Any, stream: Any = 0) -> Any:
        """``self[index]``, elements read in the order of `stream`."""
        found = self[index] if not stream else self._window(lambda shadow: shadow[_basic(index)])
        return found if not isinstance(found, DeviceNDArray) or found.ndim else found.copy_to_host(stream=stream)[()]

    def setitem(self, index: Any, value: Any, stream: Any = 0) -> None:
        """``self[index] = value`` in the order of `stream`."""
        index = _basic(index)
        view = self._window(lambda shadow: shadow[index])
        if isinstance(value, DeviceNDArray) and value.shape == view.shape:
            view.copy_to_device(value, stream)
            return
        if isinstance(value, DeviceNDArray):
            value = value.copy_to_host()
        view.copy_to_device(np.broadcast_to(np.asarray(value, self.dtype), view.shape), stream)

    def copy_to_host(self, ary: np.ndarray | None = None, stream: Any = 0) -> np.ndarray:
        """The elements as a NumPy array: a new one, or `ary`.

        With a `stream` the copy takes its turn there: pinned arrays (`pinned_array`) are filled later and the call returns at once, so
        wait for the stream before reading them; any other array is filled when the call returns.
        """
        if ary is None:
            in_columns = self.ndim > 1 and self.is_f_contiguous() and not self.is_c_contiguous()
            ary = np.empty(self.shape, self.dtype, order="F" if in_columns else "C")
        out = ary
        if (out.shape, out.dtype) != (self.shape, self.dtype):
            raise ValueError(f"cannot copy {self.dtype}{self.shape} to {out.dtype}{out.shape}")
        if self.size == 0:
            return out
        queue = _weft.stream_argument(stream)
        if self._is_dense() and out.flags.c_contiguous:
            self.memory.read(self.offset, out, queue)
        else:
            if queue:
                queue.synchronize()
            out[...] = self._on_host()[2]
        return out

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        """Writes all elements from an array of the same shape, on the host or on a device, in the order of `stream`."""
        if isinstance(ary, DeviceNDArray):
            if ary._is_dense() and self._is_dense() and (ary.shape, ary.dtype_name) == (self.shape, self.dtype_name):
                self._take(ary, stream)
                return
            ary = ary.copy_to_host(stream=stream)
        ary = np.asarray(ary)
        if ary.shape != self.shape:
            raise ValueError(f"cannot copy an array of shape {ary.shape} to one of shape {self.shape}")
        if self.size == 0:
            return
        queue = _weft.stream_argument(stream)
        if self._is_dense():
            self.memory.write(self.offset, np.ascontiguousarray(ary, self.dtype), queue)
        else:
            if queue:
                queue.synchronize()
            low, span, elements = self._on_host()
            elements[...] = ary
            self.memory.write(low, span, queue)

    def _take(self, other: DeviceNDArray, stream: Any) -> None:
        """Copies from another dense array of the same shape and dtype, on a stream of the GPU if one of the two is there."""
        if self.size:
            with other.device if self.device.kind == "cpu" else self.device:
                queue = _weft.stream_argument(stream) or _weft.Stream(default=True)
                self.memory.take(self.offset, other.memory, other.offset, self.nbytes, queue)

    def copy(self, stream: Any = 0) -> DeviceNDArray:
        """The same elements in new memory of the same device, in C order."""
        return self.to(self.memory.device, stream)

    def to(self, device: Any, stream: Any = 0) -> DeviceNDArray:
        """The same elements in new memory of `device`, a name or a device."""
        with device if isinstance(device, Device) else _weft.device(device):
            made = device_array(self.shape, self.dtype_name)
            made.copy_to_device(self, stream)
        return made

    @property
    def device(self) -> Device:
        """Where the elements are."""
        return self.memory.device

    @property
    def alloc_size(self) -> int:
        """Bytes of the memory that the elements are in."""
        return self.memory.nbytes

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """What other CUDA libraries read (the CUDA Array Interface, version 3). Only arrays of CUDA devices have it."""
        if self.device.kind != "cuda":
            raise AttributeError(f"the array is on {self.device.name}, not on a CUDA device: copy it with .copy_to_host() or .to('cuda')")
        dense = self._is_dense()
        return {
            "shape": self.shape,
            "strides": None if dense else self.strides,
            "typestr": self.dtype.str,
            "data": (self.memory.address + self.offset if self.size else 0, False),
            "version": 3,
            # The legacy default stream: who reads elsewhere waits for it.
            "stream": 1,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        """Kind and number of the device as DLPack counts them."""
        return interop.dlpack_device(self.device)

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None) -> Any:
        """The array for another library (DLPack, see the Python array API standard), without a copy where its memory can be shared."""
        return interop.to_dlpack(self, stream, max_version, dl_device, copy)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """A copy on the host."""
        if copy is False:
            raise ValueError("the elements are in device memory, so a copy cannot be avoided")
        out = self.copy_to_host()
        return out if dtype is None else out.astype(dtype)

    def __repr__(self) -> str:
        """Shape and dtype; the elements stay where they are."""
        return f"DeviceNDArray(shape={self.shape}, dtype={self.dtype_name})"

    def _is_dense(self) -> bool:
        return self.is_c_contiguous()

    def _shadow(self) -> np.ndarray:
        """An array of this shape and strides over memory that is not there: NumPy does the index arithmetic, nobody reads it."""
        return np.lib.stride_tricks.as_strided(np.empty(1, f"V{self._element.itemsize}"), self.shape, self.strides)

    def _window(self, change: Callable[[np.ndarray], np.ndarray]) -> DeviceNDArray:
        """The view that `change`, an indexing or reshaping that copies nothing, makes of this array."""
        before = self._shadow()
        after = change(before)
        moved = _address(after) - _address(before)
        return DeviceNDArray(self.memory, self.offset + moved, after.shape, after.strides, self.dtype_name)

    def _on_host(self) -> tuple[int, np.ndarray, np.ndarray]:
        """Where in the memory the elements begin, a copy of the bytes they span, and the elements as a view of that."""
        below, above = reach(self.shape, self.strides, self._element.itemsize)
        low = self.offset + below
        span = np.empty(above - below, np.uint8)
        self.memory.read(low, span)
        return low, span, np.ndarray(self.shape, self.dtype, span, self.offset - low, self.strides)


class MappedNDArray(DeviceNDArray):
    """An array in memory that host and device both address: kernels take it, and ``np.asarray`` gives the same elements to the host.

    Kernels run later than they are launched: wait for the device before reading on the host what they wrote.
    """

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """What NumPy reads; it would not know bfloat16 from two bytes."""
        if self.dtype_name == "bfloat16":
            raise AttributeError("bfloat16 has no place in NumPy's array interface")
        return self._interface()

    def _interface(self) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "strides": self.strides,
            "typestr": self.dtype.str,
            "data": (self.memory.host_address + self.offset, False),
            "version": 3,
        }

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """The elements themselves, not a copy unless asked for."""
        own = np.asarray(_HostBlock(self.memory, self._interface())).view(self.dtype)
        return np.array(own, dtype, copy=bool(copy)) if copy or dtype not in (None, self.dtype) else own

    def _window(self, change: Callable[[np.ndarray], np.ndarray]) -> DeviceNDArray:
        view = super()._window(change)
        return MappedNDArray(view.memory, view.offset, view.shape, view.strides, view.dtype_name)


class _HostBlock:
    """Memory of the host as NumPy takes it; keeps it alive."""

    def __init__(self, memory: _weft.Memory, interface: dict[str, Any]) -> None:
        self._memory = memory
        self.__array_interface__ = interface


def device_array(shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C", stream: Any = 0) -> DeviceNDArray:
    """A new array in memory of the current device, or of that of `stream`; its elements are unset."""
    elem = types.element(dtype)
    shape, strides, span = _extent(shape, elem, strides, order)
    memory = _weft.Memory(span, _weft.stream_argument(stream))
    return DeviceNDArray(memory, 0, shape, strides, elem.name)


def _extent(shape: Any, elem: types.Scalar, strides: Any, order: str) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """The shape as a tuple, the strides in bytes, and the bytes that an array of them spans."""
    shape = (operator.index(shape),) if hasattr(shape, "__index__") else tuple(map(operator.index, shape))
    if any(n < 0 for n in shape):
        raise ValueError("negative dimensions are not allowed")
    if order not in ("C", "F"):
        raise ValueError(f"order is 'C' or 'F', not {order!r}")
    if strides is None:
        strides = dense_strides(shape, elem.itemsize, order)
    strides = tuple(map(operator.index, strides))
    if len(strides) != len(shape):
        raise ValueError(f"{len(shape)} axes need as many strides, got {len(strides)}")
    if any(s < 0 for s in strides):
        raise ValueError(f"the strides of a new array cannot be negative: {strides}")
    if is_too_big(shape, strides, elem.itemsize):
        raise ValueError(f"array is too big: shape {shape} of {elem.name} would take more than 2**63 - 1 bytes")
    low, high = reach(shape, strides, elem.itemsize)
    return shape, strides, high - low


def _strides_like(ary: Any) -> tuple[int, ...]:
    """Strides of a dense array whose axes lie in the order in which those of `ary` do, as NumPy's ``empty_like`` has it."""
    if not isinstance(ary, np.ndarray | DeviceNDArray) or ary.flags["C_CONTIGUOUS"]:
        return dense_strides(ary.shape, ary.dtype.itemsize)
    if ary.flags["F_CONTIGUOUS"]:
        return dense_strides(ary.shape, ary.dtype.itemsize, "F")
    loosest_first = sorted(range(ary.ndim), key=lambda axis: -abs(ary.strides[axis]))
    packed = dense_strides([ary.shape[axis] for axis in loosest_first], ary.dtype.itemsize)
    strides = dict(zip(loosest_first, packed, strict=True))
    return tuple(strides[axis] for axis in range(ary.ndim))


def device_array_like(ary: Any, stream: Any = 0) -> DeviceNDArray:
    """A new array in device memory with the shape, dtype and order of `ary`."""
    dtype = ary.dtype_name if isinstance(ary, DeviceNDArray) else ary.dtype
    return device_array(ary.shape, dtype, strides=_strides_like(ary), stream=stream)


def to_device(obj: Any, stream: Any = 0, copy: bool = True, to: DeviceNDArray | None = None) -> DeviceNDArray:
    """A copy of an array in device memory: a new one, or `to`. An array of a device that another library made is taken as it is."""
    if isinstance(obj, DeviceNDArray):
        return obj
    if interop.is_foreign(obj):
        return interop.as_cuda_array(obj)
    host = np.asarray(obj)
    target = device_array_like(host, stream) if to is None else to
    if copy:
        target.copy_to_device(host, stream)
    return target


def is_cuda_array(obj: Any) -> bool:
    """Whether `obj` is an array in device memory, of Weft or with a ``__cuda_array_interface__``."""
    return isinstance(obj, DeviceNDArray) or interop.is_foreign(obj)


def pinned_array(shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C") -> np.ndarray:
    """A new NumPy array in page-locked host memory, which copies to and from devices read and write asynchronously."""
    elem = types.element(dtype)
    shape, strides, span = _extent(shape, elem, strides, order)
    memory = _weft.Memory.of_host(span, "pinned")
    interface = {"shape": shape, "strides": strides, "typestr": elem.dtype.str, "data": (memory.host_address, False), "version": 3}
    return np.asarray(_HostBlock(memory, interface)).view(elem.dtype)


def pinned_array_like(ary: Any) -> np.ndarray:
    """A new page-locked NumPy array with the shape, dtype and order of `ary`."""
    return pinned_array(ary.shape, ary.dtype, strides=_strides_like(ary))


def _refuse_mapping() -> None:
    """Raises UnsupportedError if kernels of the current device do not address the host's memory."""
    device = _weft.current_device()
    if device.kind not in ("cpu", "cuda"):
        raise UnsupportedError(
            f"{device.name} has no mapped memory: its kernels do not address the host's; "
            "use cuda.to_device, or pass the NumPy array, which is then copied both ways"
        )


def _mapped(kind: str, shape: Any, dtype: Any, strides: Any, order: str) -> MappedNDArray:
    _refuse_mapping()
    elem = types.element(dtype)
    shape, strides, span = _extent(shape, elem, strides, order)
    return MappedNDArray(_weft.Memory.of_host(span, kind), 0, shape, strides, elem.name)


def mapped_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C", stream: Any = 0, portable: bool = False, wc: bool = False
) -> MappedNDArray:
    """A new array in page-locked host memory that kernels address over the bus. `wc`: slow to read for the host, faster for the device."""
    return _mapped("writecombined" if wc else "pinned", shape, dtype, strides, order)


def mapped_array_like(ary: Any, stream: Any = 0, portable: bool = False, wc: bool = False) -> MappedNDArray:
    """A new mapped array with the shape, dtype and order of `ary`."""
    return mapped_array(ary.shape, ary.dtype, strides=_strides_like(ary), wc=wc)


def managed_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C", stream: Any = 0, attach_global: bool = True
) -> MappedNDArray:
    """A new array in managed memory, whose pages move to whoever touches them."""
    return _mapped("managed", shape, dtype, strides, order)


@contextlib.contextmanager
def pinned(*arylist: np.ndarray) -> Iterator[None]:
    """``with cuda.pinned(a, b):`` page-locks NumPy arrays for the block, so that copies of them are asynchronous."""
    held = [_weft.Memory.pin(ary, mapped=False) for ary in arylist]
    try:
        yield
    finally:
        for memory in held:
            memory.unpin()


@contextlib.contextmanager
def mapped(*arylist: np.ndarray, **kws: Any) -> Iterator[Any]:
    """``with cuda.mapped(a) as d:`` lets kernels address a NumPy array's own memory for the block."""
    _refuse_mapping()
    held = [_weft.Memory.pin(ary, mapped=True) for ary in arylist]
    made = [
        MappedNDArray(memory, _address(ary) - memory.host_address, ary.shape, ary.strides, ary.dtype.name)
        for ary, memory in zip(arylist, held, strict=True)
    ]
    try:
        yield made[0] if len(made) == 1 else made
    finally:
        for memory in held:
            memory.unpin()


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

"""Device arrays of other libraries, and Weft's for them: the CUDA Array Interface and DLPack.

Nothing is copied, but for arrays of GPUs that are no CUDA devices: their memory has no address that other libraries know, so that these are
lent as copies on the host, and only to those who allow that.
"""

from __future__ import annotations

import contextlib
import operator
from typing import TYPE_CHECKING, Any

import weft
from weft import _weft, types
from weft._weft import Device
from weft.cuda.layout import dense_strides, is_too_big, reach

if TYPE_CHECKING:
    from weft.cuda.arrays import DeviceNDArray

__all__ = ["as_cuda_array", "from_cuda_array_interface", "from_dlpack"]

# Kinds of devices in DLPack.
_CPU, _CUDA, _CUDA_HOST, _CUDA_MANAGED = 1, 2, 3, 13
_KINDS = {"cpu": _CPU, "cuda": _CUDA, "vulkan": 7, "metal": 8, "dx12": 12}


def is_foreign(obj: Any) -> bool:
    """Whether another library's array tells its place in CUDA memory."""
    return hasattr(obj, "__cuda_array_interface__")


def as_cuda_array(obj: Any, sync: bool = True) -> DeviceNDArray:
    """A device array on the elements of `obj`, which has a ``__cuda_array_interface__`` (CuPy, PyTorch, Numba) or is one already.

    Work of Weft's default stream waits for the stream that `obj` names, unless `sync` is false. Raises TypeError for anything else.
    """
    from weft.cuda.arrays import DeviceNDArray

    if isinstance(obj, DeviceNDArray):
        return obj
    if isinstance(obj, _weft.ndarray):
        raise TypeError("kernels take weft arrays as they are: there is no device array of one, to which they could be written")
    if not is_foreign(obj):
        raise TypeError(f"{type(obj).__name__} has no __cuda_array_interface__")
    return from_cuda_array_interface(obj.__cuda_array_interface__, owner=obj, sync=sync)


def from_cuda_array_interface(desc: dict[str, Any], owner: Any = None, sync: bool = True) -> DeviceNDArray:
    """A device array on what a ``__cuda_array_interface__`` describes; `owner` is kept alive as long as it."""
    address, shape, strides, elem = _described(desc)
    device = _cuda_device()
    array = array_at(owner, device, address, shape, strides, elem)
    if sync and desc.get("stream") is not None:
        with device:
            _follow(None, _weft.Stream(handle=int(desc["stream"])))
    return array


def _described(desc: dict[str, Any]) -> tuple[int, tuple[int, ...], tuple[int, ...], types.Scalar]:
    """Address, shape, strides and element type of an array, after a check that they could be those of one."""
    if not isinstance(desc, dict):
        raise TypeError(f"__cuda_array_interface__ must be a dict, and this is a {type(desc).__name__}")
    missing = [key for key in ("shape", "typestr", "data") if key not in desc]
    if missing:
        raise ValueError(f"this __cuda_array_interface__ has no {missing[0]!r}")
    if desc.get("mask") is not None:
        raise NotImplementedError("Masked arrays are not supported: a mask has no meaning in kernels")
    if not isinstance(desc["typestr"], str):
        raise TypeError(f"the typestr of a __cuda_array_interface__ must be a str, not {desc['typestr']!r}")
    elem = types.element(desc["typestr"])
    try:
        shape = tuple(map(operator.index, desc["shape"]))
        strides = dense_strides(shape, elem.itemsize) if desc.get("strides") is None else tuple(map(operator.index, desc["strides"]))
        address = operator.index(desc["data"][0] or 0)
    except (TypeError, LookupError) as error:
        raise TypeError(f"this __cuda_array_interface__ is not made of ints: {error}") from None
    if len(strides) != len(shape):
        raise ValueError(f"this __cuda_array_interface__ has {len(shape)} axes and {len(strides)} strides")
    if any(n < 0 for n in shape):
        raise ValueError(f"this __cuda_array_interface__ has the shape {shape}: no axis has a negative length")
    low, high = reach(shape, strides, elem.itemsize)
    if not 0 <= address + low <= address + high < 2**64 or is_too_big(shape, strides, elem.itemsize):
        raise ValueError(f"this __cuda_array_interface__ reaches beyond all memory: shape {shape}, strides {strides} at {address:#x}")
    if address == 0 and 0 not in shape:
        raise ValueError("this __cuda_array_interface__ has elements, but no address")
    return address, shape, strides, elem


def array_at(
    owner: Any, device: Device, address: int, shape: tuple[int, ...], strides: tuple[int, ...], elem: types.Scalar
) -> DeviceNDArray:
    """An array whose first element is at an address of a device, in memory that `owner` keeps."""
    from weft.cuda.arrays import DeviceNDArray

    low, high = reach(shape, strides, elem.itemsize)
    memory = _weft.Memory.foreign(owner, device, address + low, high - low)
    return DeviceNDArray(memory, -low, shape, strides, elem.name)


def _cuda_device() -> Device:
    """The current device if it is a CUDA device, else the first of those."""
    current = weft.current_device()
    return current if current.kind == "cuda" else weft.device("cuda")


def _follow(stream: _weft.Stream | None, other: _weft.Stream | None) -> None:
    """Makes a stream of the current device (None: its default stream) wait for what is in another by now."""
    mark = _weft.Event(timing=False)
    mark.mark(other)
    mark.hold(stream)


def dlpack_device(device: Device) -> tuple[int, int]:
    """Kind and number of a device as DLPack counts them."""
    return (_KINDS[device.kind], device.index)


def to_dlpack(array: DeviceNDArray, stream: Any, max_version: Any, dl_device: Any, copy: bool | None, *, read_only: bool = False) -> Any:
    """The capsule that ``array.__dlpack__`` gives; the consumer's `stream` waits for the array's default stream."""
    if array.device.kind not in ("cpu", "cuda"):
        array = _lendable(array, dl_device, copy)
        copy = None
    if dl_device is not None and tuple(dl_device) != dlpack_device(array.device):
        raise BufferError(f"the array is on {array.device.name}; copy it with .to() or .copy_to_host()")
    if copy:
        array = array.copy()
    if array.device.kind == "cuda" and stream != -1:
        # None and 1 are the legacy default stream, which the array's own stream is.
        if stream not in (None, 0, 1):
            with array.device:
                _follow(_weft.Stream(handle=int(stream)), None)
    elif array.device.kind == "cpu" and stream is not None:
        raise ValueError("stream must be None for an array in the host's memory")
    return _weft.to_dlpack(array, max_version is not None and tuple(max_version) >= (1, 0), read_only)


def _lendable(array: DeviceNDArray, dl_device: Any, copy: bool | None) -> DeviceNDArray:
    """A copy on the host of an array that nobody else can address, if whoever asks allows one."""
    to_host = dl_device is not None and tuple(dl_device) == (_CPU, 0)
    if copy is False or not (copy or to_host):
        raise BufferError(
            f"memory of {array.device.name} has no address that other libraries know: ask for a copy (copy=True), or use .copy_to_host()"
        )
    return array.to("cpu")


def from_dlpack(x: Any) -> DeviceNDArray:
    """A device array on the elements of an array of another library that speaks DLPack, or of a capsule.

    Raises BufferError for devices or element types that Weft does not have.
    """
    capsule = x
    if hasattr(x, "__dlpack__"):
        kind, index = x.__dlpack_device__()
        lent: dict[str, Any] = {"stream": 1} if kind in (_CUDA, _CUDA_MANAGED) else {}
        try:
            capsule = x.__dlpack__(max_version=(1, 0), **lent)
        except TypeError:
            capsule = x.__dlpack__(**lent)
    kind, index, owner, address, shape, strides, name = _weft.from_dlpack(capsule)
    return array_at(owner, _dlpack_home(kind, index), address, tuple(shape), tuple(strides), types.element(name))


def _dlpack_home(kind: int, index: int) -> Device:
    if kind == _CPU:
        return weft.device("cpu")
    if kind in (_CUDA, _CUDA_HOST, _CUDA_MANAGED):
        with contextlib.suppress(ValueError):
            return weft.device(f"cuda:{index if kind == _CUDA else 0}")
    raise BufferError(f"the array is on a device of DLPack's kind {kind}, number {index}, which is none of Weft's here")

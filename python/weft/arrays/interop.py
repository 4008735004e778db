"""Arrays beside those of others: `asnumpy`, `eval`, and the protocols by which NumPy and the Array API find their way here."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from weft import _weft
from weft._weft import _eval, _from_numpy, _lent, _to_numpy, ndarray
from weft.arrays.ufuncs import UFUNCS

# Versions of the Array API standard that the namespace follows.
_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")


def asnumpy(a: Any, *, copy: bool | None = None) -> np.ndarray:
    """A NumPy array of the elements: computes them, and waits for them.

    On the CPU it is a read-only view of the array's own memory, unless `copy=True` asks for one that can be written. `copy=False` is
    a ValueError where the elements are not in the host's memory.

    >>> weft.asnumpy(weft.arange(3))
    array([0, 1, 2])
    """
    if not isinstance(a, ndarray):
        return np.array(a, copy=copy)
    if copy is False and a.device.kind != "cpu":
        raise ValueError(f"Unable to avoid copy while creating an array as requested: the array is on {a.device.name}")
    _eval([a])
    host = _to_numpy(a, True)
    return host.copy() if copy else host


def eval(*arrays: Any, wait: bool = True) -> None:
    """Computes arrays now, and waits for them: arrays, or lists, tuples and dicts of them.

    With `wait=False` work of a GPU is given to it and not waited for: what kernels raise is raised by the next wait. On the CPU arrays
    are computed all the same.

    >>> x = weft.arange(3) + 1
    >>> weft.eval(x)
    """
    found: list[ndarray] = []
    _collect(arrays, found)
    _eval(found, wait)


def _collect(given: Any, found: list[ndarray]) -> None:
    for each in given:
        if isinstance(each, ndarray):
            found.append(each)
        elif isinstance(each, (list, tuple)):
            _collect(each, found)
        elif isinstance(each, dict):
            _collect(each.values(), found)
        else:
            raise TypeError(f"eval takes arrays, and lists, tuples and dicts of them, not {type(each).__name__}")


def array_ufunc(self: ndarray, function: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
    """`__array_ufunc__`: a NumPy ufunc that is given weft arrays is Weft's of that name."""
    name = function.__name__
    ours = UFUNCS.get(name)
    if ours is None and function.signature is not None and method == "__call__":
        ours = _function_of(name)
    if ours is None or not _is_numpys(name, function):
        raise TypeError(f"numpy.{name} has no counterpart in Weft, and weft arrays are never converted: pass it weft.asnumpy(x)")
    if not all(isinstance(x, (ndarray, np.ndarray, np.generic, bool, int, float, complex, list, tuple)) for x in inputs):
        return NotImplemented
    outs = keywords.get("out")
    if outs is not None and method != "at":
        for each in outs:
            if isinstance(each, np.ndarray):
                raise TypeError(
                    f"numpy.{name}: 'out' is a NumPy array and the result a weft array, which is never converted: "
                    "write out[...] = weft.asnumpy(result)"
                )
        if len(outs) == 1:
            keywords["out"] = outs[0]
    act = ours if method == "__call__" else getattr(ours, method)
    return act(*inputs, **keywords)


def array_function(self: ndarray, function: Any, types: Any, args: Any, keywords: Any) -> Any:
    """`__array_function__`: a NumPy function that is given weft arrays is Weft's of that name; one that Weft lacks is refused."""
    if not all(issubclass(each, (ndarray, np.ndarray)) for each in types):
        return NotImplemented
    name = getattr(function, "__name__", repr(function))
    place = getattr(function, "__module__", "numpy")
    ours = _function_of(name) if _is_numpys(name, function) else _function_inside(place, name, function)
    if ours is not None:
        return ours(*args, **keywords)
    raise TypeError(f"{place}.{name} has no counterpart in Weft, and weft arrays are never converted: pass it weft.asnumpy(x)")


def _is_numpys(name: str, function: Any) -> bool:
    """Is it the function of that name in NumPy's own namespace, and not one of a submodule's?"""
    return getattr(np, name, None) is function


def _function_inside(place: str, name: str, function: Any) -> Any:
    """Weft's function for one of a module in NumPy, such as `numpy.linalg.norm`, or None."""
    if not place.startswith("numpy.") or getattr(sys.modules.get(place), name, None) is not function:
        return None
    import weft

    found: Any = weft
    for part in (*place.split(".")[1:], name):
        found = getattr(found, part, None)
    return found if callable(found) else None


def _function_of(name: str) -> Any:
    """Weft's function of a NumPy name, or None."""
    import weft

    found = getattr(weft, name, None)
    return found if callable(found) else None


def array_namespace(self: ndarray, /, *, api_version: str | None = None) -> Any:
    """The namespace of the Array API standard: the module `weft`."""
    import weft

    if api_version is not None and api_version not in _VERSIONS:
        raise ValueError(f'Version "{api_version}" of the Array API Standard is not supported.')
    return weft


def array(self: ndarray, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
    """`__array__`: what `np.asarray(x)` takes, read-only unless it is a copy."""
    host = asnumpy(self, copy=copy)
    if dtype is None or np.dtype(dtype) == host.dtype:
        return host
    if copy is False:
        raise ValueError("Unable to avoid copy while creating an array as requested: its dtype is another one")
    return host.astype(dtype)


def dlpack_device(self: ndarray) -> tuple[int, int]:
    """`__dlpack_device__`: the kind of device, in DLPack's numbers, and which one it is."""
    kinds = {"cpu": 1, "cuda": 2, "vulkan": 7}
    return kinds[self.device.kind], self.device.index if self.device.kind != "cpu" else 0


def dlpack(
    self: ndarray,
    /,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """`__dlpack__`: the elements for another library, a copy unless it can be told that they are read-only.

    DLPack can say so from version 1.0 on. With `copy=False` it is said even to one that has not named its version: who does not know
    the newer capsule refuses it. Elements that lie backwards are copied unless `copy=False`: PyTorch ends the process over such strides.
    """
    if self.device.kind == "cuda" and tuple(dl_device or (2, self.device.index)) != (1, 0):
        return _dlpack_on_cuda(self, stream, max_version, dl_device, copy)
    own = dlpack_device(self)
    if dl_device is not None and tuple(dl_device) not in (own, (1, 0)):
        raise BufferError("unsupported device requested")
    if self.device.kind != "cpu":
        if tuple(dl_device or own) != (1, 0):
            raise BufferError(f"arrays on {self.device.name} are given away from the host's memory: pass dl_device=(1, 0)")
        if copy is False:
            raise BufferError(f"the elements are on {self.device.name}, and have to be copied to the host's memory: drop copy=False")
    if stream is not None:
        raise RuntimeError("arrays in the host's memory are given away without a stream: stream is None")
    readable = max_version is not None and tuple(max_version) >= (1, 0)
    copied = copy is not False and (copy or not readable or min(self.strides, default=0) < 0)
    if self.dtype.kind == "V":
        # NumPy has no bfloat16 that it would tell others of.
        return _weft.to_dlpack(_lent_array(_given_away(self, copied)), readable or copy is False, not copied)
    host = asnumpy(self, copy=True if copied else None)
    if copied:
        # A copy as NumPy makes it may run backwards as well.
        host = np.ascontiguousarray(host) if self.ndim and min(host.strides) < 0 else host
    if not readable and copy is not False:
        return host.__dlpack__()
    return host.__dlpack__(max_version=max_version if readable else (1, 0))


def _given_away(self: ndarray, copied: bool) -> ndarray:
    """The array in the host's memory, or a copy with memory of its own, which nobody else writes to or reads."""
    if self.device.kind != "cpu":
        return self.to("cpu")
    return _from_numpy(asnumpy(self, copy=True)) if copied else self


def _dlpack_on_cuda(self: ndarray, stream: Any, max_version: Any, dl_device: Any, copy: bool | None) -> Any:
    """A capsule of memory on a CUDA device, which the array does not write to while somebody has it."""
    from weft.cuda import interop

    readable = copy is False or (max_version is not None and tuple(max_version) >= (1, 0))
    lent = _lent_array(self)
    if copy or not readable:
        return interop.to_dlpack(lent, stream, max_version, dl_device, True)
    return interop.to_dlpack(lent, stream, (1, 0), dl_device, False, read_only=True)


def _lent_array(self: ndarray) -> Any:
    """A device array of the elements as they are now."""
    from weft import types
    from weft.cuda import interop

    held, address, strides = _lent(self)
    return interop.array_at(held, self.device, address, self.shape, tuple(strides), types.element(self.dtype))


def cuda_array_interface(self: ndarray) -> dict[str, Any]:
    """`__cuda_array_interface__`, version 3, of an array on a CUDA device: its elements as they are now, read-only.

    That memory stays as it is while the array, or a view of it, is there: what is written to the array later goes elsewhere.
    """
    if self.device.kind != "cuda":
        raise AttributeError(f"an array on {self.device.name} has no __cuda_array_interface__")
    if self.dtype.kind == "V":
        raise AttributeError("the CUDA Array Interface has no name for bfloat16: use DLPack, or view it as uint16")
    _held, address, strides = _lent(self, True)
    return {
        "shape": self.shape,
        "strides": None if self.flags.c_contiguous else tuple(strides),
        "typestr": self.dtype.str,
        "data": (address if self.size else 0, True),
        "version": 3,
        # The legacy default stream: who reads elsewhere waits for it.
        "stream": 1,
    }


def is_foreign_half(x: Any) -> bool:
    """Whether it has elements of bfloat16 that NumPy cannot read: a tensor, say."""
    dtype = getattr(x, "dtype", None)
    return not isinstance(x, (np.ndarray, np.generic)) and dtype is not None and str(dtype).rpartition(".")[2] == "bfloat16"


def refuse_negated(x: Any) -> None:
    """Refuses a tensor of PyTorch's that is the negative of what is in its memory, which DLPack does not tell."""
    negated = getattr(x, "is_neg", None)
    if callable(negated) and negated():
        raise BufferError("Can't export tensors with the negative bit set, use tensor.resolve_neg()")


def from_device(x: Any) -> ndarray:
    """A copy of a device array, or of another library's array where DLPack or its address says that it is, which stays there."""
    from weft import cuda

    refuse_negated(x)

    array = (
        x if isinstance(x, _weft.DeviceArray) else cuda.as_cuda_array(x) if hasattr(x, "__cuda_array_interface__") else cuda.from_dlpack(x)
    )
    return _weft._from_device(array if array.is_c_contiguous() else array.copy())

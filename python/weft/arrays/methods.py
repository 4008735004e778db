"""The methods and attributes of `weft.ndarray` that are not native, and `install`, which puts them on the class."""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Iterator
from types import GenericAlias
from typing import Any

import numpy as np

from weft._weft import _assign, _bits, _broadcast, _cast, _eval, _from_numpy, _full, _part, _reshape, _to_device, _to_numpy, _ufunc, ndarray
from weft.arrays import interop
from weft.arrays._common import array_of, as_device, as_dtype, check_order, copied, refuse
from weft.arrays._flat import Flat
from weft.arrays.flags import Flags
from weft.arrays.shapes import ravel, reshape, transpose
from weft.arrays.ufuncs import UFUNCS
from weft.gradients.primitives import unseen

# Functions of the namespace that are methods as they are: the array is their first argument.
_FUNCTIONS = (
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "choose", "clip", "cumprod", "cumsum", "diagonal", "dot", "max", "mean",
    "min", "nonzero", "prod", "put", "ravel", "repeat", "round", "searchsorted", "squeeze", "std", "sum", "swapaxes", "take", "trace",
    "var",
)  # fmt: skip

# What an array is multiplied with.
_OPERANDS = (ndarray, np.ndarray, np.generic, bool, int, float, complex, list, tuple)

# What NumPy lets one assign to, and what is done instead.
_INSTEAD = {
    "shape": "take the array that x.reshape(shape) gives",
    "dtype": "take the array that x.view(dtype) or x.astype(dtype) gives",
    "strides": "take a view such as x[::2] or x.T",
    "T": "assign to the elements: x.T[...] = value",
    "device": "take the array that x.to(device) gives",
}


def astype(
    self: ndarray, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True, *, device: Any = None
) -> ndarray:
    """The elements as another dtype: a new array, or this one where nothing changes and `copy` is false.

    >>> weft.asarray([1.7, -1.7]).astype(weft.int8)
    array([ 1, -1], dtype=int8)
    """
    check_order("ndarray.astype", order)
    wanted = as_dtype(dtype)
    if casting != "unsafe" and not np.can_cast(self.dtype, wanted, casting):
        raise TypeError(f"Cannot cast array data from {self.dtype!r} to {wanted!r} according to the rule '{casting}'")
    if self.dtype.kind == "c" and wanted.kind not in "cb":
        message = "Casting complex values to real discards the imaginary part"
        warnings.warn(message, np.exceptions.ComplexWarning, stacklevel=2)
    moved = self if device is None else to(self, device)
    if wanted == self.dtype and (moved is not self or not copy):
        return moved
    return copied(moved, wanted, order)


def copy(self: ndarray, order: str = "C") -> ndarray:
    """A copy with memory of its own.

    >>> x = weft.zeros(2)
    >>> y = x.copy()
    >>> y += 1
    >>> x
    array([0., 0.])
    """
    check_order("ndarray.copy", order)
    return copied(self, self.dtype, order)


def flatten(self: ndarray, order: str = "C") -> ndarray:
    """A copy of the elements as one row.

    >>> weft.asarray([[1, 2], [3, 4]]).flatten()
    array([1, 2, 3, 4])
    """
    return copy(ravel(self, order))


def reshape_method(self: ndarray, *shape: Any, order: str = "C", copy: bool | None = None) -> ndarray:
    """The elements in another shape, given as a tuple or as numbers; see `weft.reshape`.

    >>> weft.arange(6).reshape(3, -1).shape
    (3, 2)
    """
    if not shape:
        raise TypeError("reshape() takes exactly 1 argument (0 given)")
    return reshape(self, shape[0] if len(shape) == 1 else shape, order, copy=copy)


def transpose_method(self: ndarray, *axes: Any) -> ndarray:
    """A view with the axes in another order, given as a tuple or as numbers, by default in reverse.

    >>> weft.zeros((2, 3, 4)).transpose(1, 0, 2).shape
    (3, 2, 4)
    """
    if not axes:
        return transpose(self)
    return transpose(self, axes[0] if len(axes) == 1 else axes)


def compress(self: ndarray, condition: Any, axis: Any = None, out: Any = None) -> ndarray:
    """The elements, or slices along an axis, where a row of flags is true.

    >>> weft.asarray([1, 2, 3]).compress([True, False, True])
    array([1, 3])
    """
    return _namespace().compress(condition, self, axis, out)


def sort(self: ndarray, axis: int = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> None:
    """Sorts the array itself along an axis.

    >>> x = weft.asarray([3, 1, 2])
    >>> x.sort()
    >>> x
    array([1, 2, 3])
    """
    _assign(self, _namespace().sort(self, axis, kind, order, stable=stable))


def partition(self: ndarray, kth: Any, axis: int = -1, kind: str = "introselect", order: Any = None) -> None:
    """Puts the elements that sorting would put at these positions there, smaller ones before and larger ones behind.

    >>> x = weft.asarray([3, 1, 2])
    >>> x.partition(1)
    >>> x[1]
    array(2)
    """
    _assign(self, _namespace().partition(self, kth, axis, kind, order))


def fill(self: ndarray, value: Any) -> None:
    """Makes all elements one number.

    >>> x = weft.zeros(3)
    >>> x.fill(2)
    >>> x
    array([2., 2., 2.])
    """
    if isinstance(value, (list, tuple)):
        # As an element's assignment: one with NumPy's error.
        _full((1,), 0, self.dtype, self.device)[0] = value
    if getattr(value, "ndim", 0):
        raise ValueError("setting an array element with a sequence.")
    self[...] = value


def view(self: ndarray, dtype: Any = None) -> ndarray:
    """The same memory, with another dtype if one is given.

    >>> weft.asarray([1.0]).view(weft.int64)
    array([4607182418800017408])
    """
    if dtype is None:
        return self[...]
    # Where there are no elements, it is no matter how they lie.
    return _bits(self if self.size else _full(self.shape, 0, self.dtype, self.device), as_dtype(dtype))


def item(self: ndarray, *index: Any) -> Any:
    """An element as a Python number: the only one, that at a position of the flat array, or that at an index.

    >>> weft.asarray([1.5, 2.5]).item(1)
    2.5
    """
    if not index and self.size != 1:
        raise ValueError("can only convert an array of size 1 to a Python scalar")
    return _to_numpy(self).item(*index)


def tolist(self: ndarray) -> Any:
    """The elements as Python numbers, in nested lists.

    >>> weft.asarray([[1, 2], [3, 4]]).tolist()
    [[1, 2], [3, 4]]
    """
    return _to_numpy(self).tolist()


def tobytes(self: ndarray, order: str = "C") -> bytes:
    """The elements' bytes, one element after the other.

    >>> weft.asarray([1, 2], weft.uint8).tobytes()
    b'\\x01\\x02'
    """
    return _to_numpy(self).tobytes(order)


def tofile(self: ndarray, file: Any, sep: str = "", format: str = "%s") -> None:
    """Writes the elements to a file, as NumPy's method does."""
    _to_numpy(self).tofile(file, sep, format)


def conjugate(self: ndarray) -> ndarray:
    """The elements with the other sign of their imaginary part; the array itself where they have none.

    >>> weft.asarray([1 + 2j]).conj()
    array([1.-2.j])
    """
    return _ufunc("conjugate", (self,), None) if self.dtype.kind == "c" else self


def get(self: ndarray, stream: Any = None, order: str = "C", out: Any = None, blocking: bool = True) -> np.ndarray:
    """The elements as a NumPy array, as `weft.asnumpy` gives it, or `out` with the elements in it. The call waits for them, and for a
    stream's work if one is given.

    >>> weft.arange(3).get()
    array([0, 1, 2])
    """
    if stream is not None:
        stream.synchronize()
    host = interop.asnumpy(self)
    if out is None:
        return np.asarray(host, order=order)
    if not isinstance(out, np.ndarray):
        raise TypeError("Only numpy.ndarray can be obtained from cupy.ndarray")
    if out.dtype != host.dtype:
        raise TypeError(f"{out.dtype} array cannot be obtained from {host.dtype} array")
    if out.shape != host.shape:
        raise ValueError(f"Shape mismatch. Expected shape: {host.shape}, actual shape: {out.shape}")
    out[...] = host
    return out


def set_elements(self: ndarray, arr: Any, stream: Any = None) -> None:
    """Makes the elements those of a NumPy array of the same shape and dtype. They are copied when the call returns.

    >>> x = weft.zeros(2)
    >>> x.set(np.asarray([1.0, 2.0]))
    >>> x
    array([1., 2.])
    """
    if not isinstance(arr, np.ndarray):
        raise TypeError("Only numpy.ndarray can be set to cupy.ndarray")
    if arr.dtype != self.dtype:
        raise TypeError(f"{arr.dtype} array cannot be set to {self.dtype} array")
    if arr.shape != self.shape:
        raise ValueError(f"Shape mismatch. Old shape: {self.shape}, new shape: {arr.shape}")
    if stream is not None:
        stream.synchronize()
    self[...] = arr


def _data(self: ndarray) -> Any:
    raise AttributeError(
        "a weft.ndarray has no pointer to its memory, which several arrays may share and writes may leave: take np.asarray(x) on the CPU, "
        "x.__cuda_array_interface__ or DLPack on CUDA"
    )


def wait(self: ndarray) -> ndarray:
    """Computes the array, waits for it, and gives it back.

    >>> (weft.arange(3) + 1).wait()
    array([1, 2, 3])
    """
    _eval([self])
    return self


def to(self: ndarray, device: Any) -> ndarray:
    """The array on a device: itself if it is there, else a copy.

    >>> weft.arange(3).to("cpu").device.name
    'cpu'
    """
    place = as_device(device)
    if place is None:
        raise TypeError("a device is a weft.Device or the name of one, not NoneType")
    return self if place == self.device else _to_device(self, place)


def to_device(self: ndarray, device: Any, /, *, stream: Any = None) -> ndarray:
    """The Array API's name of `to`.

    >>> weft.arange(3).to_device("cpu")
    array([0, 1, 2])
    """
    if stream is not None:
        raise ValueError("The stream argument in to_device() is not supported")
    return to(self, device)


def resize(self: ndarray, *new_shape: Any, refcheck: bool = True) -> None:
    """Refused: memory that views may share keeps its size."""
    raise refuse("ndarray.resize", "an array keeps its size: take the array that weft.resize(x, shape) gives")


def setflags(self: ndarray, write: Any = None, align: Any = None, uic: Any = None) -> None:
    """Takes what is so already: whether an array can be written follows from what it is a view of."""
    for name, value in (("writeable", write), ("aligned", align), ("writebackifcopy", uic)):
        if value is not None:
            setattr(self.flags, name, value)


def _real(self: ndarray) -> ndarray:
    """The real parts: a view; the array itself where it has no others."""
    return _part(self, "real") if self.dtype.kind == "c" else self


def _set_real(self: ndarray, value: Any) -> None:
    _real(self)[...] = value


def _imag(self: ndarray) -> ndarray:
    """The imaginary parts: a view, read-only zeros where there are none."""
    if self.dtype.kind == "c":
        return _part(self, "imag")
    return _broadcast(_full((), 0, self.dtype, self.device), self.shape)


def _set_imag(self: ndarray, value: Any) -> None:
    if self.dtype.kind != "c":
        raise TypeError("array does not have imaginary part to set")
    _part(self, "imag")[...] = value


def _matrix_transposed(self: ndarray) -> ndarray:
    """A view with the last two axes exchanged."""
    if self.ndim < 2:
        raise ValueError("matrix transpose with ndim < 2 is undefined")
    return transpose(self, (*range(self.ndim - 2), self.ndim - 1, self.ndim - 2))


def _set_flat(self: ndarray, value: Any) -> None:
    """Assigns a row, over and over if it is shorter."""
    row = _to_numpy(_reshape(values := array_of(value), (values.size,)))
    if row.size:
        _assign(self, _from_numpy(np.resize(row, self.shape), self.device))


def _iter(self: ndarray) -> Iterator[ndarray]:
    if self.ndim == 0:
        raise TypeError("iteration over a 0-d array")
    return (self[i] for i in range(len(self)))


def _contains(self: ndarray, value: Any) -> bool:
    return bool(UFUNCS["logical_or"].reduce(UFUNCS["equal"](self, value), axis=None))


def _repr(self: ndarray) -> str:
    return np.array_repr(unseen(_to_numpy, self))


def _str(self: ndarray) -> str:
    return np.array_str(unseen(_to_numpy, self))


def _format(self: ndarray, spec: str) -> str:
    if self.ndim == 0:
        return format(unseen(_to_numpy, self)[()], spec)
    if spec:
        raise TypeError("unsupported format string passed to weft.ndarray.__format__")
    return _str(self)


def _copied(self: ndarray, memo: Any = None) -> ndarray:
    return _cast(self, self.dtype)


def _rebuilt(host: np.ndarray) -> ndarray:
    if "dask.array" in sys.modules:
        from weft import _dask

        _dask.register_if_used()
    return _from_numpy(host)


def _dask_token(self: ndarray) -> Any:
    """What Dask names an array by."""
    from weft import _dask

    return _dask.token(self)


def _reduce(self: ndarray, protocol: Any = 4) -> Any:
    """A pickle holds the elements, with protocol 5 out of band; they come back on the device that is current then."""
    return _rebuilt, (_to_numpy(self),)


def _sizeof(self: ndarray) -> int:
    _eval([self])
    return object.__sizeof__(self) + self.nbytes


def _setattr(self: ndarray, name: str, value: Any) -> None:
    if name in _INSTEAD:
        raise AttributeError(f"x.{name} of a weft.ndarray cannot be assigned to: {_INSTEAD[name]}")
    object.__setattr__(self, name, value)


@functools.cache
def _product() -> Any:
    """`matmul`, which is kept: products of small matrices take no longer than it takes to find it."""
    from .products import matmul

    return matmul


def _matmul(self: ndarray, other: Any) -> Any:
    return _product()(self, other) if isinstance(other, _OPERANDS) else NotImplemented


def _rmatmul(self: ndarray, other: Any) -> Any:
    return _product()(other, self) if _is_operand(other) else NotImplemented


def _imatmul(self: ndarray, other: Any) -> Any:
    if not _is_operand(other):
        return NotImplemented
    _assign(self, _same_shape(self, _product()(self, other)))
    return self


def _same_shape(x: ndarray, result: ndarray) -> ndarray:
    if result.shape != x.shape:
        raise ValueError(f"the product has shape {result.shape}, and the array that it is put into {x.shape}")
    if not np.can_cast(result.dtype, x.dtype, "same_kind"):
        raise TypeError(f"Cannot cast ufunc 'matmul' output from {result.dtype!r} to {x.dtype!r} with casting rule 'same_kind'")
    return result


def _divmod(self: ndarray, other: Any) -> Any:
    return UFUNCS["divmod"](self, other) if _is_operand(other) else NotImplemented


def _rdivmod(self: ndarray, other: Any) -> Any:
    return UFUNCS["divmod"](other, self) if _is_operand(other) else NotImplemented


def _is_operand(x: Any) -> bool:
    return isinstance(x, _OPERANDS)


def _namespace() -> Any:
    import weft

    return weft


class _Forwarded:
    """A method that is a function of the namespace, which is looked up when the method is first used."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        function = getattr(_namespace(), self.name)
        setattr(owner, self.name, function)
        return function.__get__(instance, owner)


def backward(self: ndarray, gradient: Any = None) -> None:
    """Adds this array's gradient to `x.grad` of every array that it was made of in a `weft.tape()` block; see `weft.tape`.

    >>> x = weft.asarray([1.0, 2.0])
    >>> with weft.tape():
    ...     (x * x).sum().backward()
    >>> x.grad
    array([2., 4.])
    """
    from weft.gradients import tapes

    tapes.backward(self, gradient)


def install(cls: type) -> None:
    """Puts everything on the class; what is native there already stays."""
    for name in _FUNCTIONS:
        setattr(cls, name, _Forwarded(name))
    for name, member in _OWN.items():
        setattr(cls, name, member)
    for name, member in _UNLESS_NATIVE.items():
        if name not in vars(cls):
            setattr(cls, name, member)


_OWN: dict[str, Any] = {
    "astype": astype,
    "backward": backward,
    "compress": compress,
    "conj": conjugate,
    "conjugate": conjugate,
    "copy": copy,
    "data": property(_data),
    "fill": fill,
    "flags": property(Flags, doc="How the elements lie in memory, and whether they can be written."),
    "flat": property(Flat, _set_flat, doc="The elements as one row, in C's order, to be read, assigned to and gone through."),
    "flatten": flatten,
    "get": get,
    "imag": property(_imag, _set_imag),
    "item": item,
    "mT": property(_matrix_transposed),
    "partition": partition,
    "real": property(_real, _set_real),
    "reshape": reshape_method,
    "resize": resize,
    "set": set_elements,
    "setflags": setflags,
    "sort": sort,
    "to": to,
    "to_device": to_device,
    "tobytes": tobytes,
    "tofile": tofile,
    "tolist": tolist,
    "transpose": transpose_method,
    "view": view,
    "wait": wait,
    "__array_function__": interop.array_function,
    "__array_namespace__": interop.array_namespace,
    "__array_priority__": 1000.0,
    "__array_ufunc__": interop.array_ufunc,
    "__class_getitem__": classmethod(GenericAlias),
    "__contains__": _contains,
    "__copy__": _copied,
    "__dask_tokenize__": _dask_token,
    "__cuda_array_interface__": property(interop.cuda_array_interface),
    "__deepcopy__": _copied,
    "__dlpack__": interop.dlpack,
    "__dlpack_device__": interop.dlpack_device,
    "__format__": _format,
    "__iter__": _iter,
    "__reduce_ex__": _reduce,
    "__reduce__": _reduce,
    "__repr__": _repr,
    "__setattr__": _setattr,
    "__sizeof__": _sizeof,
    "__str__": _str,
}

_UNLESS_NATIVE: dict[str, Any] = {
    "__divmod__": _divmod,
    "__hash__": None,
    "__imatmul__": _imatmul,
    "__matmul__": _matmul,
    "__rdivmod__": _rdivmod,
    "__rmatmul__": _rmatmul,
}

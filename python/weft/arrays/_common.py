"""What the functions of the namespace share: their arguments as arrays, axes, dtypes, devices, and what goes into `out`."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from weft import _weft
from weft._weft import (
    _assign,
    _broadcast,
    _cast,
    _from_numpy,
    _full,
    _iota,
    _order_of_copy,
    _permute,
    _reshape,
    _select,
    _to_device,
    _to_numpy,
    _ufunc,
    ndarray,
)
from weft.errors import UnsupportedError

AxisError = np.exceptions.AxisError
Shape = tuple[int, ...]

# What stands for an argument that was not given, where None is one.
MISSING: Any = type("Missing", (), {"__repr__": lambda self: "<no value>"})()

DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "complex64",
    "complex128",
)  # fmt: skip
# NumPy has several dtypes of one name, such as those of `long` and `long long`, which are equal; one of them is used.
_KNOWN = {np.dtype(name): np.dtype(name) for name in DTYPES}
# What most name a dtype by: NumPy's types and dtypes.
_USUAL = {kind: dtype for dtype in _KNOWN.values() for kind in (dtype, dtype.type)}
_NUMBERS = (bool, int, float, complex)
# The types of NumPy's numbers.
SCALARS = frozenset(dtype.type for dtype in _KNOWN.values())


def bfloat16() -> np.dtype:
    """The dtype of the package `ml_dtypes`, which is imported only for it."""
    from weft import types

    return types.bfloat16.dtype


def as_dtype(dtype: Any) -> np.dtype:
    """The dtype that an argument names; one that arrays do not have is a TypeError."""
    if isinstance(dtype, np.dtype) or type(dtype) is type:
        usual = _USUAL.get(dtype)
        if usual is not None:
            return usual
    if isinstance(dtype, str) and dtype == "bfloat16":
        return bfloat16()
    if hasattr(dtype, "_weft_scalar_"):
        return dtype.dtype
    if isinstance(dtype, type) and issubclass(dtype, np.dtype):
        # A class of dtypes, `np.dtypes.Int16DType`, stands for its dtype.
        dtype = dtype()
    found = np.dtype(dtype)
    if found in _KNOWN:
        return _KNOWN[found]
    if found.name == "bfloat16":
        return found
    raise TypeError(f"arrays of dtype {found} do not exist in Weft: the dtypes are {', '.join(DTYPES)} and bfloat16")


def kind_of(dtype: np.dtype) -> str:
    """NumPy's letter of a dtype's kind, "f" for bfloat16, too."""
    # NumPy itself takes bfloat16 for no kind of number. (A dtype's name takes microseconds to ask for.)
    return "f" if dtype.kind == "V" else dtype.kind


def is_half(dtype: np.dtype) -> bool:
    """The floats of 16 bits."""
    return dtype.itemsize == 2 and dtype.kind in "fV"


def is_inexact(dtype: np.dtype) -> bool:
    """Floats and complex numbers."""
    return kind_of(dtype) in "fc"


def float_dtype(dtype: np.dtype) -> np.dtype:
    """What NumPy divides numbers of a dtype as: integers and bools as float64."""
    return dtype if is_inexact(dtype) else np.dtype(np.float64)


def real_dtype(dtype: np.dtype) -> np.dtype:
    """That of the parts of a complex number; any other as it is."""
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype


def sum_dtype(dtype: np.dtype) -> np.dtype:
    """What sums and products have: small integers are widened to 64 bits."""
    if dtype.kind in "bi":
        return np.dtype(np.int64)
    return np.dtype(np.uint64) if dtype.kind == "u" else dtype


def as_device(device: Any) -> _weft.Device | None:
    """A device from itself or its name; None is the current one."""
    if device is None or isinstance(device, _weft.Device):
        return device
    if isinstance(device, str):
        return _weft.device(device)
    raise TypeError(f"a device is a weft.Device or the name of one, not {type(device).__name__}")


def array_of(x: Any, dtype: Any = None, device: Any = None) -> ndarray:
    """An argument as an array: itself if it is one, a new one of numbers, NumPy's arrays and nested sequences."""
    if isinstance(x, ndarray):
        return x if dtype is None or x.dtype == dtype else _cast(x, dtype)
    if isinstance(x, (list, tuple)) and _holds_arrays(x):
        return _stacked(x, dtype, device)
    if dtype is None and type(x) in SCALARS:
        # A number of a dtype is recorded as one, and not copied to a device.
        return _full((), x, _USUAL[type(x)], device)
    given = x if isinstance(x, np.ndarray) and dtype is None else np.asarray(x, dtype)
    known = as_dtype(given.dtype if given.dtype.isnative else given.dtype.newbyteorder("="))
    if not given.dtype.isnative:
        given = given.astype(known)
    return _from_numpy(given if given.dtype.num == known.num else given.view(known), device)


def values_for(x: Any, dtype: np.dtype, device: Any = None) -> ndarray:
    """What is put into an array of a dtype: integers of Python's must be the dtype's, also in sequences; arrays are cast."""
    if isinstance(x, ndarray):
        return _cast(x, dtype)
    if isinstance(x, (np.ndarray, np.generic)) or dtype.kind == "V":
        # Before they are moved: the device may not have the dtype that they were given in.
        made = _cast(array_of(x, None, _weft.device("cpu")), dtype)
        return made if device is not None and device.kind == "cpu" else _to_device(made, device or _weft.current_device())
    return array_of(x, dtype, device)


def number_as(x: Any, dtype: np.dtype) -> Any:
    """A Python number as NumPy casts it to a dtype, with its warnings: floats to integers, complex numbers to their real parts.

    Integers of Python's are left as they are: those that the dtype does not hold are errors.
    """
    if type(x) is int and dtype.kind == "b" and not -(2**63) <= x < 2**63:
        raise OverflowError("Python int too large to convert to C long")
    if type(x) is complex and dtype.kind not in "cb":
        x = np.asarray(x).astype(np.float64).item()
    return np.asarray(x).astype(dtype).item() if type(x) is float and dtype.kind in "iu" else x


def _holds_arrays(items: Sequence[Any]) -> bool:
    return any(isinstance(item, ndarray) or (isinstance(item, (list, tuple)) and _holds_arrays(item)) for item in items)


def _stacked(items: Sequence[Any], dtype: Any, device: Any) -> ndarray:
    """An array of a sequence that has arrays in it."""
    device = device if device is not None else place_of(*items)
    parts = [array_of(item, dtype, device) for item in items]
    if any(part.shape != parts[0].shape for part in parts):
        raise ValueError(
            "setting an array element with a sequence. The requested array has an inhomogeneous shape after 1 dimensions. "
            f"The detected shape was ({len(parts)},) + inhomogeneous part."
        )
    joined = _full((len(parts), *parts[0].shape), 0, result_dtype(*parts), device)
    for i, part in enumerate(parts):
        joined[i] = part
    return joined


def operand(x: Any, *others: Any) -> Any:
    """An argument of arithmetic: a Python number as it is, since it has no dtype of its own, and anything else as an array.

    What is no array of Weft's becomes one on the device of the others.
    """
    if type(x) in _NUMBERS:
        return x
    if isinstance(x, np.ndarray) and 0 in x.strides:
        # What NumPy stretched is stretched here, too: the order of results depends on its steps.
        first = x[tuple(slice(0, 1) if n > 1 and step == 0 else slice(None) for n, step in zip(x.shape, x.strides))]
        return _broadcast(beside(first, *others), x.shape)
    return beside(x, *others)


def beside(x: Any, *others: Any) -> ndarray:
    """An argument as an array: itself if it is one, else a new one on the device of the others."""
    return x if isinstance(x, ndarray) else array_of(x, device=place_of(*others))


def arrays_of(*xs: Any) -> tuple[ndarray, ...]:
    """Arguments as arrays: those that are none become new ones on the device of those that are."""
    place = None if all(isinstance(x, ndarray) for x in xs) else place_of(*xs)
    return tuple(x if isinstance(x, ndarray) else array_of(x, device=place) for x in xs)


def together(a: Any, b: Any) -> tuple[ndarray, ndarray]:
    """Two arguments as arrays, both on the device of the one that is an array."""
    a = beside(a, b)
    return a, beside(b, a)


def place_of(*xs: Any) -> _weft.Device | None:
    """The device of the first array that has axes, or of the first one; of those in sequences where there are none else."""
    arrays = [x for x in xs if isinstance(x, ndarray)] or [part for x in xs for part in _arrays_in(x)]
    found = next((x for x in arrays if x.ndim), arrays[0] if arrays else None)
    return None if found is None else found.device


def _arrays_in(x: Any) -> Iterator[ndarray]:
    """The arrays in nested sequences."""
    if isinstance(x, (list, tuple)):
        for each in x:
            if isinstance(each, ndarray):
                yield each
            else:
                yield from _arrays_in(each)


def mask_of(where: Any, *others: Any) -> ndarray:
    """A mask as an array on the device of the others; TypeError for what is no array of bools."""
    mask = beside(where, *others)
    if mask.dtype.kind != "b":
        raise TypeError(f"Cannot cast array data from {mask.dtype!r} to dtype('bool') according to the rule 'safe'")
    return mask


def operands(*xs: Any) -> tuple[Any, ...]:
    """Arguments of arithmetic, at least one of them an array."""
    made = tuple(operand(x, *xs) for x in xs)
    return made if any(isinstance(x, ndarray) for x in made) else tuple(array_of(x) for x in made)


def result_dtype(*xs: Any) -> np.dtype:
    """NumPy's `result_type` of arrays, dtypes and Python numbers; bfloat16 meets what it has no rule for as float32 does."""
    parts: list[Any] = []
    for x in xs:
        if isinstance(x, ndarray):
            parts.append(x.dtype)
        elif type(x) in _NUMBERS or isinstance(x, np.dtype):
            parts.append(x)
        elif isinstance(x, (np.ndarray, np.generic)):
            parts.append(x.dtype)
        else:
            parts.append(as_dtype(x))
    if any(isinstance(part, np.dtype) and part.kind == "V" for part in parts):
        return _with_bfloat16(parts)
    found = np.result_type(*parts)
    return _KNOWN.get(found, found)


def weak_or_arrays(given: Iterable[Any], made: Iterable[ndarray]) -> list[Any]:
    """What the dtype of a join follows from: Python's numbers as they were given, and arrays."""
    return [x if type(x) in _NUMBERS else a for x, a in zip(given, made)]


def _with_bfloat16(parts: list[Any]) -> np.dtype:
    """What dtypes and Python numbers meet in if bfloat16 is among them, which NumPy takes for no kind of number."""
    strong = [part for part in parts if isinstance(part, np.dtype)]
    weak = [part for part in parts if not isinstance(part, np.dtype)]
    if all(part.name in ("bfloat16", "bool", "int8", "uint8") for part in strong):
        return np.dtype(np.complex64) if any(isinstance(part, complex) for part in weak) else bfloat16()
    return np.result_type(*(np.float32 if part.name == "bfloat16" else part for part in strong), *weak)


def u(name: str, *args: Any, dtype: Any = None) -> Any:
    """A ufunc of operands."""
    for arg in args:
        if type(arg) is not ndarray and type(arg) not in _NUMBERS:
            args = tuple(operand(arg, *args) for arg in args)
            break
    return _ufunc(name, args, dtype)


def axis_of(axis: Any, ndim: int, name: str | None = None) -> int:
    """An axis counted from the front."""
    axis = operator.index(axis)
    if not -ndim <= axis < ndim:
        raise AxisError(axis, ndim, name)
    return axis + ndim if axis < 0 else axis


def row_of_number(a: ndarray, axis: Any) -> ndarray:
    """An array that NumPy takes for a row of one element along axis 0 or -1 if it has no axes."""
    return _reshape(a, (1,)) if a.ndim == 0 and axis is not None and axis_of(axis, 1) == 0 else a


def axes_of(axis: Any, ndim: int, name: str | None = None, repeated: str = "duplicate value in 'axis'") -> Shape:
    """Axes counted from the front, in the order given; None is all of them."""
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, (tuple, list)) or getattr(axis, "ndim", 0) else (axis,)
    found = tuple(axis_of(each, ndim, name) for each in given)
    if len(set(found)) != len(found):
        raise ValueError(repeated)
    return found


_LONGEST = np.iinfo(np.intp).max


def length_of(n: Any) -> int:
    """A length, or -1 where it follows from others. A bool is none."""
    if isinstance(n, bool):
        raise TypeError("an integer is required")
    return operator.index(n)


def shape_of(shape: Any) -> Shape:
    """A shape from a number or a sequence of numbers, none negative."""
    if isinstance(shape, (ndarray, np.ndarray)):
        shape = (_to_numpy(shape) if isinstance(shape, ndarray) else shape).tolist()
    found = tuple(length_of(n) for n in shape) if isinstance(shape, Iterable) else (length_of(shape),)
    if any(n < 0 for n in found):
        raise ValueError("negative dimensions are not allowed")
    if any(n > _LONGEST for n in found):
        raise ValueError("Maximum allowed dimension exceeded")
    return found


def broadcast_shape(*shapes: Shape) -> Shape:
    """The shape that arrays of these shapes meet in."""
    rank = max(map(len, shapes), default=0)
    found = [1] * rank
    for shape in shapes:
        for i, n in enumerate(shape, rank - len(shape)):
            if n != 1:
                if found[i] not in (1, n):
                    raise ValueError(
                        "shape mismatch: objects cannot be broadcast to a single shape. Mismatch is between "
                        + " and ".join(str(tuple(each)) for each in shapes)
                    )
                found[i] = n
    return tuple(found)


def with_ones(shape: Sequence[int], axes: Iterable[int]) -> Shape:
    """A shape in which axes have become of length one."""
    ones = set(axes)
    return tuple(1 if i in ones else n for i, n in enumerate(shape))


def filled(shape: Shape, value: Any, dtype: Any, like: ndarray) -> ndarray:
    """A new array on the device of another one."""
    return _full(shape, value, dtype, like.device)


Order = Sequence[int] | None
"""The axes of an array in the order of its memory, outermost first; None where that is C's."""


def in_order(x: ndarray, order: Order) -> ndarray:
    """A view with axes in the order of memory."""
    return x if order is None else _permute(x, tuple(order))


def out_of_order(x: ndarray, order: Order) -> ndarray:
    """What `in_order` was made of."""
    return x if order is None else _permute(x, tuple(sorted(range(len(order)), key=order.__getitem__)))


def place_in(order: Order, axis: int) -> int:
    """Which axis of the view `in_order` an axis is."""
    return axis if order is None else order.index(axis)


def lying(shape: Shape, order: Order, value: Any, dtype: Any, device: Any) -> ndarray:
    """A new array of one number whose memory lies in an order."""
    return out_of_order(_full(shape if order is None else tuple(shape[axis] for axis in order), value, dtype, device), order)


def lying_as_copy(x: ndarray, dtype: Any = None) -> ndarray:
    """Zeros that lie as a copy of an array does."""
    return lying(x.shape, _order_of_copy(x), 0, x.dtype if dtype is None else dtype, x.device)


def turned_if_fortran(x: ndarray) -> Order:
    """The order of what NumPy makes in Fortran's order for arrays that lie so, and in C's for all others."""
    return tuple(reversed(range(x.ndim))) if x.ndim > 1 and in_c_order(x.T) and not in_c_order(x) else None


def counting_dtype(device: _weft.Device | None) -> np.dtype:
    """What rows and columns are counted in: 64 bits, or the 32 that a device has. None is the current one."""
    return np.dtype(np.int64 if (device or _weft.current_device()).int64 else np.int32)


def positions(n: int, like: ndarray, dtype: Any = np.int64) -> ndarray:
    """The numbers 0, 1, 2, … on the device of another array."""
    return _iota(n, 0, 1, as_dtype(dtype), like.device)


def select(condition: ndarray, x: Any, y: Any) -> ndarray:
    """Elements of one where a condition is true, and else of the other."""
    return _select(condition, operand(x, condition, y), operand(y, condition, x))


def checked_out(out: Any) -> None:
    """Refuses an `out` that is no array, and one that is not to be written to."""
    if out is None:
        return
    if not isinstance(out, ndarray):
        raise TypeError(f"return arrays must be of ArrayType: 'out' is a weft.ndarray, not {type(out).__name__}")
    if not out._writeable:
        raise ValueError("output array is read-only")


def given(result: ndarray, out: ndarray | None, casting: str = "same_kind") -> ndarray:
    """The result, or `out` with the result in it."""
    if out is None:
        return result
    checked_out(out)
    if out.shape != result.shape:
        raise ValueError(f"output array has shape {out.shape}, and the result {result.shape}")
    if not np.can_cast(result.dtype, out.dtype, casting):
        raise TypeError(f"Cannot cast output from {result.dtype!r} to {out.dtype!r} with casting rule '{casting}'")
    _assign(out, result)
    return out


def is_true(x: Any) -> bool:
    """A flag such as `keepdims`: missing ones are False."""
    return x is not MISSING and bool(x)


def refuse(function: str, what: str) -> UnsupportedError:
    """The error of an argument that is valid in NumPy and not honoured here."""
    return UnsupportedError(f"weft.{function}: {what}")


def check_order(function: str, order: Any, allowed: str = "CFKA") -> None:
    """Accepts the orders that a function knows."""
    if order is None or (isinstance(order, str) and order and order in allowed):
        return
    if order in ("C", "F", "A", "K"):
        raise refuse(function, f"order={order!r} is not available")
    raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")


def copied(x: ndarray, dtype: np.dtype, order: str | None = "K") -> ndarray:
    """A copy in a dtype: in C's order or Fortran's, as it lies ("K"), or in Fortran's if it lies so and else in C's ("A")."""
    if order == "F":
        return _cast(x.T, dtype, True).T
    return _cast(x, dtype, order == "C" or (order == "A" and not in_c_order(x.T)))


def lies_in(x: ndarray, order: str | None) -> bool:
    """Whether an array is in the order that is asked for already."""
    return in_c_order(x) if order == "C" else order != "F" or in_c_order(x.T)


def flat(x: ndarray) -> ndarray:
    """The array as one row: a view where there is one."""
    return x if x.ndim == 1 else _reshape(x, (x.size,))


def in_c_order(x: ndarray) -> bool:
    """Whether the elements follow each other in memory, the last axis first."""
    step = x.itemsize
    for n, stride in zip(reversed(x.shape), reversed(x.strides)):
        if n != 1 and stride != step:
            return x.size == 0
        step *= n
    return True


def stretched(x: ndarray, shape: Shape) -> ndarray:
    """A read-only view in a larger shape."""
    return x if x.shape == shape else _broadcast(x, shape)


def ordered(shape: Shape, order: Any) -> tuple[Shape, bool]:
    """The shape that memory of that order is made in, and whether its axes are then turned around."""
    check_order("creation", order, "CF")
    return (shape[::-1], True) if order == "F" and len(shape) > 1 else (shape, False)

"""Arrays of NumPy's with a bound beside each element.

An array is NumPy's and an array of bounds that lies in memory as it does, so that what makes a view or a copy of one makes one of the
other, too. What a statement means that depends on rounding raises `Undetermined` before anything is changed.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from arrays.fuzz import bounds
from arrays.fuzz.bounds import Undetermined

Given = tuple[Any, ...]

MOVES: dict[str, tuple[int, ...]] = {name: (0,) for name in [
    "reshape", "transpose", "permute_dims", "matrix_transpose", "moveaxis", "swapaxes", "expand_dims", "squeeze", "flip", "fliplr",
    "flipud", "rot90", "roll", "broadcast_to", "broadcast_arrays", "concatenate", "concat", "stack", "hstack", "vstack", "dstack",
    "column_stack", "repeat", "tile", "split", "array_split", "hsplit", "vsplit", "unstack", "atleast_1d", "atleast_2d", "atleast_3d",
    "tril", "triu", "diag", "diagonal", "ravel", "take", "take_along_axis", "copy", "delete", "append", "resize", "pad", "real",
    "imag", "negative", "positive", "trace_of", "conj", "conjugate", "meshgrid", "array", "asarray", "ascontiguousarray",
    "zeros_like", "ones_like", "full_like", "empty_like", "diagflat",
]}  # fmt: skip
"""Functions that only move elements (or turn signs), and which of their arguments have the elements."""
MOVES |= {"where": (1, 2), "compress": (1,), "broadcast_arrays": (0, 1, 2), "meshgrid": (0, 1, 2), "append": (0, 1)}
MOVES |= {"atleast_1d": (0, 1), "atleast_2d": (0, 1), "insert": (0, 2)}


class Array:
    """NumPy's array `v`, and the bounds `t` of its elements if these are floats."""

    __slots__ = ("t", "v")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, v: np.ndarray, t: np.ndarray | None = None) -> None:
        self.v = v
        self.t = t
        if t is None and v.dtype.kind in "fc":
            self.t = np.zeros_like(v, dtype=np.complex128 if v.dtype.kind == "c" else np.float64)

    @property
    def is_exact(self) -> bool:
        """Whether every element is NumPy's, bit for bit."""
        return self.t is None or not self.t.any()

    shape = property(lambda self: self.v.shape)
    ndim = property(lambda self: self.v.ndim)
    size = property(lambda self: self.v.size)
    dtype = property(lambda self: self.v.dtype)
    T = property(lambda self: Array(self.v.T, None if self.t is None else self.t.T))
    mT = property(lambda self: Array(self.v.mT, None if self.t is None else self.t.mT))

    @property
    def real(self) -> Array:
        """A view of the real parts."""
        return Array(self.v.real, None if self.t is None else self.t.real)

    @property
    def imag(self) -> Array:
        """A view of the imaginary parts."""
        return Array(self.v.imag, None if self.t is None else self.t.imag if self.v.dtype.kind == "c" else None)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(exact(self), dtype=dtype)

    def __getitem__(self, key: Any) -> Array:
        key = unwrap(key)
        return Array(np.asarray(self.v[key]), None if self.t is None else np.asarray(self.t[key]))

    def __setitem__(self, key: Any, value: Any) -> None:
        key = unwrap(key)
        if isinstance(key, np.ndarray) and np.may_share_memory(key, self.v):
            # NumPy reads a mask while it overwrites it.
            key = key.copy()
        fits(value, self.dtype)
        if isinstance(value, Array):
            # NumPy itself goes wrong where one row overlaps another with a larger step: `a[::2] = a[2:9]`.
            value = Array(value.v.copy(), None if value.t is None else value.t.copy())
        given = bound_of(value)
        self.v[key] = unwrap(value, exactly=False)
        if self.t is not None:
            self.t[key] = given if self.t.dtype.kind == "c" else np.real(given)
            # What is cast to a narrower dtype is rounded.
            if np.any(given):
                self.t[key] = bounds.rounded(np.asarray(self.t[key]), np.asarray(self.v[key]))

    def __len__(self) -> int:
        return len(self.v)

    def __bool__(self) -> bool:
        return bool(exact(self))

    def __int__(self) -> int:
        return int(exact(self))

    def __float__(self) -> float:
        return float(exact(self))

    def __complex__(self) -> complex:
        return complex(exact(self))

    def __index__(self) -> int:
        return operator.index(exact(self))

    def item(self, *args: int) -> Any:
        """One element."""
        return exact(self).item(*args)

    def tolist(self) -> Any:
        """Elements as Python's."""
        return exact(self).tolist()

    def fill(self, value: Any) -> None:
        """Writes one value everywhere."""
        fits(value, self.dtype)
        self.v.fill(unwrap(value))
        if self.t is not None:
            self.t.fill(0)

    def sort(self, axis: int = -1) -> None:
        """Sorts in place."""
        ordered(self.v)
        own = exact(self)
        if own.dtype == np.float16:
            # NumPy's own loses elements (`reference._sorting`).
            own[...] = np.sort(own.astype(np.float32), axis=axis)
        else:
            own.sort(axis=axis)

    def astype(self, dtype: Any, copy: bool = True) -> Array:
        """Another dtype."""
        fits(self, np.dtype(dtype))
        result = self.v.astype(dtype, copy=copy)
        if result is self.v:
            return self
        return fresh(result, bounds.rounded(self.t, result) if self.t is not None and result.dtype.kind in "fc" else None)

    def view(self, dtype: Any) -> Array:
        """Bits as another dtype: of integers, which have no bounds."""
        if self.t is not None or np.dtype(dtype).kind in "fc":
            raise Undetermined("the bits of floats")
        return Array(self.v.view(dtype))

    def reshape(self, *shape: Any, **kw: Any) -> Array:
        """A view where NumPy makes one."""
        return Array(self.v.reshape(*shape, **kw), None if self.t is None else self.t.reshape(*shape, **kw))

    def transpose(self, *axes: Any) -> Array:
        """Other axes."""
        return Array(self.v.transpose(*axes), None if self.t is None else self.t.transpose(*axes))

    def flatten(self) -> Array:
        """A flat copy."""
        return Array(self.v.flatten(), None if self.t is None else self.t.flatten())

    def copy(self) -> Array:
        """A copy, in C's order."""
        return Array(self.v.copy(), None if self.t is None else self.t.copy())


def exact(value: Array) -> np.ndarray:
    """NumPy's array, where there is nothing to doubt."""
    if not value.is_exact:
        raise Undetermined("elements within bounds only")
    return value.v


def unwrap(value: Any, exactly: bool = True) -> Any:
    """NumPy's arrays for ours, in tuples and lists, too."""
    if isinstance(value, Array):
        return exact(value) if exactly else value.v
    if isinstance(value, (tuple, list)):
        return type(value)(unwrap(each, exactly) for each in value)
    return value


def bound_of(value: Any) -> Any:
    """The bounds of what a function is given."""
    if isinstance(value, Array):
        return value.t if value.t is not None else np.zeros(value.shape)
    if isinstance(value, (tuple, list)):
        return type(value)(bound_of(each) for each in value)
    return np.zeros(np.shape(value))


def fits(value: Any, dtype: np.dtype) -> None:
    """Whether it is certain what becomes of values cast to integers or bools: not of those within bounds, nor outside the range."""
    if isinstance(value, (tuple, list, int)) or dtype.kind not in "iub":
        return
    plain = unwrap(value) if isinstance(value, Array) else np.asarray(value)
    if plain.dtype.kind in "fc" and dtype.kind != "b":
        info, parts = np.iinfo(dtype), plain.real.astype(np.float64)
        if not np.all((parts > float(info.min) - 0.5) & (parts < float(info.max))):
            raise Undetermined("a float outside the range of integers")


def ordered(values: np.ndarray) -> None:
    """NumPy does not say in which order zeros of both signs come."""
    if values.dtype.kind in "fc":
        parts = [values.real, values.imag] if values.dtype.kind == "c" else [values]
        if any(np.signbit(part[part == 0]).any() for part in parts) or (values.dtype.kind == "c" and np.isnan(values).any()):
            raise Undetermined("the order of equal elements")


def fresh(v: Any, t: Any = None) -> Array:
    """A new array whose bounds lie in memory as it does."""
    result = Array(np.asarray(v))
    if t is not None and result.t is not None:
        result.t[...] = t if result.t.dtype.kind == "c" else np.real(t)
    return result


def gather(v: Any, t: Any) -> Any:
    """Arrays for what a function of NumPy's gave: one, several, or no arrays at all."""
    if isinstance(v, (tuple, list)):
        return type(v)(gather(*pair) for pair in zip(v, t)) if not hasattr(v, "_fields") else tuple(gather(*pair) for pair in zip(v, t))
    if not isinstance(v, (np.ndarray, np.generic)):
        return v
    array = np.asarray(v)
    if array.dtype.kind not in "fc":
        return Array(array)
    return Array(array, t) if array.base is not None and isinstance(t, np.ndarray) and t.base is not None else fresh(array, t)

"""What filters and interpolation share: outputs, edges, arguments that are one value or one for each axis."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

import weft
from weft._weft import ndarray

# SciPy's names of edges, and those of `pad`.
_EDGES = {"reflect": "symmetric", "grid-mirror": "symmetric", "mirror": "reflect", "nearest": "edge", "wrap": "wrap", "grid-wrap": "wrap",
          "constant": "constant", "grid-constant": "constant"}  # fmt: skip


class Output:
    """Where a result goes: an array that was given, or a new one of a dtype."""

    def __init__(self, output: Any, input: ndarray, shape: tuple[int, ...] | None = None, complex_output: bool = False) -> None:
        self.shape = input.shape if shape is None else shape
        self.array: ndarray | None = None
        if isinstance(output, ndarray):
            if output.shape != self.shape:
                raise RuntimeError("output shape not correct")
            self.array, self.dtype = output, output.dtype
        elif output is None:
            self.dtype = np.promote_types(input.dtype, np.complex64) if complex_output else input.dtype
        elif isinstance(output, np.ndarray):
            raise TypeError("output is a weft array or a dtype, not a NumPy array")
        else:
            self.dtype = np.dtype(output)
            if complex_output and self.dtype.kind != "c" and not isinstance(output, str):
                warnings.warn("promoting specified output dtype to complex", stacklevel=3)
                self.dtype = np.promote_types(self.dtype, np.complex64)
        if complex_output and self.dtype.kind != "c":
            raise RuntimeError("output must have complex dtype")

    def cast(self, x: ndarray) -> ndarray:
        """A result as the dtype, as C casts it: floats lose what is behind the point."""
        if self.dtype.kind == "b" and x.dtype.kind in "fc":
            # What is below 1 has no whole part.
            x = weft.trunc(x.real)
        return x.astype(self.dtype, copy=False)

    def rounded(self, x: ndarray) -> ndarray:
        """A result as the dtype, as interpolation has it: to the next integer, and for unsigned ones within their range."""
        if self.dtype.kind == "u":
            x = weft.clip(x + 0.5, 0, np.iinfo(self.dtype).max)
        elif self.dtype.kind == "i":
            x = weft.where(x > 0, x + 0.5, x - 0.5)
        return self.cast(x)

    def put(self, x: ndarray, rounded: bool = False) -> ndarray:
        """The result where it is wanted."""
        found = self.rounded(x) if rounded else self.cast(x)
        if self.array is None:
            return found
        self.array[...] = found
        return self.array


def double(x: ndarray) -> ndarray:
    """What sums are made of: float64, or complex128."""
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64, copy=False)


def for_axes(value: Any, rank: int) -> list[Any]:
    """One value for each axis."""
    if isinstance(value, (str, bytes)) or not hasattr(value, "__len__"):
        return [value] * rank
    found = list(value)
    if len(found) != rank:
        raise RuntimeError("sequence argument must have length equal to input rank")
    return found


def axis_of(axis: Any, rank: int) -> int:
    """An axis counted from the front."""
    at = operator.index(axis)
    if not -rank <= at < rank:
        raise np.exceptions.AxisError(at, rank)
    return at % rank


def check_origin(origin: int, size: int) -> int:
    """How far the middle of a filter is moved, which stays inside of it."""
    if not 0 <= size // 2 + origin < size:
        raise ValueError("Invalid origin; origin must satisfy -(len(weights) // 2) <= origin <= (len(weights)-1) // 2")
    return operator.index(origin)


def extended(x: ndarray, before: Sequence[int], after: Sequence[int], modes: Sequence[str], cval: Any) -> ndarray:
    """An array with elements before and behind it along each axis, which the mode says."""
    for axis, (first, last, mode) in enumerate(zip(before, after, modes)):
        if mode not in _EDGES:
            raise RuntimeError("boundary mode not supported")
        if first or last:
            width = [(0, 0)] * x.ndim
            width[axis] = (first, last)
            keywords = {"constant_values": cval} if _EDGES[mode] == "constant" else {}
            x = weft.pad(x, width, mode=_EDGES[mode], **keywords)
    return x


def shifted(x: ndarray, at: Sequence[int], shape: Sequence[int]) -> ndarray:
    """The part of an extended array that begins at a place and has a shape."""
    return x[tuple(slice(start, start + n) for start, n in zip(at, shape))]

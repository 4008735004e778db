"""`broadcast`: several arrays, stretched to one shape and gone through at once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from weft._weft import _broadcast, ndarray

from ._common import Shape, arrays_of
from ._flat import Flat

_MOST = 64


class broadcast:
    """What arrays are together: the shape that they are broadcast to, and their elements, a tuple for each place.

    ValueError where they do not fit, or are more than 64. The elements that it is gone through are arrays without axes.

    >>> both = weft.broadcast([1, 2], [[10], [20]])
    >>> both.shape
    (2, 2)
    >>> [int(x + y) for x, y in both]
    [11, 12, 21, 22]
    """

    def __init__(self, *arrays: Any) -> None:
        parts = [part for each in arrays for part in (each._arrays if isinstance(each, broadcast) else [each])]
        self._arrays = list(arrays_of(*parts))
        if len(self._arrays) > _MOST:
            raise ValueError(f"Need at least 0 and at most {_MOST} array objects.")
        self.shape = _shape([each.shape for each in self._arrays])
        self.ndim = self.nd = len(self.shape)
        self.numiter = len(self._arrays)
        self.size = math.prod(self.shape)
        self.reset()

    @property
    def iters(self) -> tuple[Walk, ...]:
        """A walk over each array's elements, stretched to the shape."""
        return tuple(Walk(each, self.shape) for each in self._arrays)

    @property
    def index(self) -> int:
        """How many places have been gone through."""
        return self._index

    def reset(self, /) -> None:
        """Begins anew."""
        self._index, self._walks = 0, self.iters

    def __iter__(self) -> broadcast:
        return self

    def __next__(self) -> tuple[ndarray, ...]:
        if self._index >= self.size:
            raise StopIteration
        self._index += 1
        return tuple(next(each) for each in self._walks)


class Walk:
    """The elements of an array, `base`, once it is stretched to a shape."""

    def __init__(self, base: ndarray, shape: Shape) -> None:
        self.base = base
        self._elements = iter(Flat(_broadcast(base, shape)))

    def __iter__(self) -> Iterator[ndarray]:
        return self

    def __next__(self) -> ndarray:
        return next(self._elements)


def _shape(shapes: list[Shape]) -> Shape:
    """The shape that arrays meet in; an error names the two that do not."""
    rank = max(map(len, shapes), default=0)
    found = []
    for axis in range(rank):
        length, first = 1, 0
        for number, shape in enumerate(shapes):
            place = axis - (rank - len(shape))
            n = shape[place] if place >= 0 else 1
            if length == 1 and n != 1:
                length, first = n, number
            elif n not in (1, length):
                raise ValueError(
                    "shape mismatch: objects cannot be broadcast to a single shape.  Mismatch is between "
                    f"arg {first} with shape {shapes[first]} and arg {number} with shape {shape}."
                )
        found.append(length)
    return tuple(found)

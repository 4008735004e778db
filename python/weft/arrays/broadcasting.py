"""`broadcast`: several arrays, stretched to one shape and gone through at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from weft._weft import _broadcast, ndarray

from ._common import array_of, broadcast_shape
from ._flat import Flat


class broadcast:
    """What arrays are together: the shape that they are broadcast to, and their elements, a tuple for each place.

    ValueError where they do not fit. The elements that it is gone through are arrays without axes.

    >>> both = weft.broadcast([1, 2], [[10], [20]])
    >>> both.shape
    (2, 2)
    >>> [int(x + y) for x, y in both]
    [11, 12, 21, 22]
    """

    def __init__(self, *args: Any) -> None:
        arrays = [part for each in args for part in (each._views if isinstance(each, broadcast) else [array_of(each)])]
        self.shape = broadcast_shape(*(each.shape for each in arrays))
        self._views = [_broadcast(each, self.shape) for each in arrays]
        self.ndim = self.nd = len(self.shape)
        self.numiter = len(arrays)
        self.size = 1
        for n in self.shape:
            self.size *= n
        self.reset()

    @property
    def iters(self) -> tuple[Iterator[ndarray], ...]:
        """A walk over each array's elements."""
        return tuple(iter(Flat(each)) for each in self._views)

    @property
    def index(self) -> int:
        """How many places have been gone through."""
        return self._index

    def reset(self) -> None:
        """Begins anew."""
        self._index, self._walks = 0, self.iters

    def __iter__(self) -> broadcast:
        return self

    def __next__(self) -> tuple[ndarray, ...]:
        if self._index >= self.size:
            raise StopIteration
        self._index += 1
        return tuple(next(each) for each in self._walks)

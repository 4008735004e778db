"""`x.flat`: an array's elements as one row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from weft._weft import _assign, _cast, _reshape, _to_numpy, ndarray


class Flat:
    """The elements of an array in C's order. Subscripts read copies and assign to the array.

    >>> x = weft.asarray([[1, 2], [3, 4]])
    >>> x.flat[1:3]
    array([2, 3])
    >>> x.flat[-1] = 9
    >>> x
    array([[1, 2],
           [3, 9]])
    """

    def __init__(self, base: ndarray) -> None:
        self.base = base

    def __len__(self) -> int:
        return self.base.size

    def __iter__(self) -> Iterator[ndarray]:
        row = self._row()
        return (row[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> ndarray:
        taken = self._row()[key]
        return _cast(taken, taken.dtype)

    def __setitem__(self, key: Any, value: Any) -> None:
        row = self._row()
        row = _cast(row, row.dtype)
        row[key] = value
        _assign(self.base, _reshape(row, self.base.shape))

    def copy(self) -> ndarray:
        """A copy of the elements as one row."""
        row = self._row()
        return _cast(row, row.dtype)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        host = _to_numpy(self._row())
        return host.copy() if dtype is None else host.astype(dtype)

    def __eq__(self, other: Any) -> Any:
        return self._row() == other

    def __ne__(self, other: Any) -> Any:
        return self._row() != other

    __hash__ = None  # type: ignore[assignment]

    def _row(self) -> ndarray:
        return _reshape(self.base, (self.base.size,))

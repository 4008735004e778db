"""Sums of what goes to the same place."""

from __future__ import annotations

from weft._weft import _full, ndarray
from weft.gradients.primitives import primitive

__all__ = ["sums_at"]


@primitive
def sums_at(places: ndarray, values: ndarray, size: int) -> ndarray:
    """A row of so many elements, each the sum of the values whose place it is."""
    from weft.arrays.ufuncs import UFUNCS

    found = _full((size,), 0, values.dtype, values.device)
    UFUNCS["add"].at(found, places, values)
    return found


@sums_at.defvjp
def _(cotangent: ndarray, result: ndarray, places: ndarray, values: ndarray, size: int) -> tuple[None, ndarray, None]:
    return None, gathered(cotangent, places), None


@primitive
def gathered(row: ndarray, places: ndarray) -> ndarray:
    """The elements of a row at places, which are not negative."""
    from weft.arrays.gathering import take

    return take(row, places)


@gathered.defvjp
def _(cotangent: ndarray, result: ndarray, row: ndarray, places: ndarray) -> tuple[ndarray, None]:
    flat = cotangent.reshape(-1)
    return sums_at(places.reshape(-1), flat, row.size), None

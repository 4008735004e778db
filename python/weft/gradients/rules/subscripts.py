"""Subscripts by arrays of indices and by masks: elements that are read, added to, and written."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft._weft import _broadcast, _cast, _full, _iota, _reshape, _select, _tape_lacks_elements, _ufunc, ndarray
from weft.arrays import _compiled, indexing
from weft.arrays._common import counting_dtype
from weft.arrays.shapes import moveaxis
from weft.errors import CaptureError
from weft.gradients.primitives import Call, primitive, unseen, without_gradient
from weft.gradients.rules.products import fitted
from weft.gradients.sweep import unstretched

__all__ = ["along", "check", "got", "sums_in", "with_elements", "with_sums"]


@primitive
def got(x: ndarray, key: Any) -> ndarray:
    """The elements that a subscript selects."""
    return indexing.elements(x, key)


@got.defvjp
def _(cotangent: ndarray, result: ndarray, x: ndarray, key: Any) -> tuple[ndarray, None]:
    return sums_in(cotangent, key, x.shape), None


@primitive
def sums_in(values: ndarray, key: Any, shape: tuple[int, ...]) -> ndarray:
    """Zeros, to which values are added where a subscript selects them, once for each time that an element is named."""
    rows = _rows_of(values, key, tuple(shape))
    if rows is not None:
        return _reshape(_compiled.on_hosts(_compiled.function_of(_SUMS_OF_ROWS, "at, values, n"), *rows), tuple(shape))
    return _added(_full(tuple(shape), 0, values.dtype, values.device), key, values)


def _rows_of(values: ndarray, key: Any, shape: tuple[int, ...]) -> tuple[ndarray, ndarray, int] | None:
    """Of a subscript by one array of indices, as of a table of rows: these, the rows to add, and how many there are in the end."""
    parts = _parts(key)
    if len(parts) != 1 or not isinstance(parts[0], ndarray) or parts[0].dtype.kind not in "iu" or values.device.kind != "cpu":
        return None
    at, rest = parts[0], shape[1:]
    if not at.ndim or 0 in shape or not values.size or values.shape != (*at.shape, *rest) or values.dtype.char not in "fdFD":
        return None
    width = values.size // at.size
    return _reshape(_cast(at, np.dtype(np.int64)), (at.size,)), _reshape(values, (at.size, width)), shape[0]


_SUMS_OF_ROWS = """    found = np.zeros((n, values.shape[1]), values.dtype)
    for i in range(at.shape[0]):
        place = at[i] + n if at[i] < 0 else at[i]
        if place < 0 or place >= n:
            raise IndexError("index is out of bounds")
        row = found[place]
        for j in range(values.shape[1]):
            row[j] += values[i, j]
    return found
"""


@sums_in.defvjp
def _(cotangent: ndarray, result: ndarray, values: ndarray, key: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    return unstretched(got(cotangent, key), values.shape), None, None


def _added(x: ndarray, key: Any, values: ndarray) -> ndarray:
    """An array, to which values are added, in a captured graph whenever the graph runs."""
    if values.dtype.kind == "b":
        values = _cast(values, np.dtype(np.int64))
    parts = _parts(key)
    try:
        return _add_at([x, values, *parts])
    except CaptureError:
        if any(_is_mask(part) for part in parts):
            raise
        return _compiled.recorded(lambda given: _add_at([_cast(given[0], given[0].dtype, True), *given[1:]]), [x, values, *parts])


def _add_at(given: list[Any]) -> ndarray:
    from weft.arrays.ufuncs import UFUNCS

    x, values, *parts = given
    UFUNCS["add"].at(x, tuple(parts), values)
    return x


@primitive
def with_elements(x: ndarray, key: Any, values: ndarray) -> ndarray:
    """A copy in which a subscript's elements are values; of an element that is named twice the last value stays."""
    return _put(_cast(x, x.dtype, True), key, values)


def _put(x: ndarray, key: Any, values: ndarray) -> ndarray:
    entries = indexing._entries(x, key)
    if indexing._advanced(entries):
        indexing.put(x, entries, values)
    else:
        x[tuple(part.value for part in entries)] = values
    return x


@with_elements.defvjp
def _(cotangent: ndarray, result: ndarray, x: ndarray, key: Any, values: ndarray) -> tuple[Any, ...]:
    nothing = _full((), 0, cotangent.dtype, cotangent.device)
    back = got(cotangent, key)
    return with_elements(cotangent, key, nothing), None, _fitted(_select(stays(x, key, back.shape), back, nothing), values.shape)


@without_gradient
def stays(x: ndarray, key: Any, shape: tuple[int, ...]) -> ndarray:
    """Which of the values that are written, in their shape, are not written over by others."""
    count = int(np.prod(shape))
    numbers = _reshape(_iota(count, 0, 1, counting_dtype(x.device), x.device), shape)
    places = _put(_full(x.shape, -1, counting_dtype(x.device), x.device), key, numbers)
    return _ufunc("equal", (indexing.elements(places, key), numbers), None)


def _fitted(back: ndarray, shape: tuple[int, ...]) -> ndarray:
    """A cotangent of what was broadcast; values may have had axes of length 1 in front that the elements do not have."""
    surplus = max(len(shape) - back.ndim, 0)
    return _reshape(unstretched(back, shape[surplus:]), shape)


@primitive
def with_sums(x: ndarray, key: Any, values: ndarray) -> ndarray:
    """A copy to whose elements values are added, once for each time that a subscript names one, in NumPy's order."""
    return _added(_cast(x, x.dtype, True), key, values)


@with_sums.defvjp
def _(cotangent: ndarray, result: ndarray, x: ndarray, key: Any, values: ndarray) -> tuple[Any, ...]:
    return cotangent, None, fitted(got(cotangent, key), values)


def along(x: ndarray, indices: ndarray, axis: int) -> tuple[ndarray, ...]:
    """The subscript that takes at indices along an axis, where each row has its own."""
    key: list[ndarray] = []
    for at, n in enumerate(x.shape):
        if at == axis:
            key.append(indices)
        else:
            row = _iota(n, 0, 1, counting_dtype(x.device), x.device)
            key.append(_reshape(row, tuple(n if i == at else 1 for i in range(x.ndim))))
    return tuple(key)


def check(key: Any) -> None:
    """Refuses masks without elements: how many are true decides about shapes."""
    for part in _parts(key):
        if isinstance(part, ndarray) and part.dtype.kind == "b" and _tape_lacks_elements([part]):
            raise CaptureError("x[mask] has as many elements as the mask is true, which nobody can look at inside vmap: use weft.where")


def _parts(key: Any) -> tuple[Any, ...]:
    return key if isinstance(key, tuple) else (key,)


class _Batched:
    """A subscript of arrays with one more axis in front: itself, and where the axes that it selects belong."""

    def __init__(self, x: ndarray, key: Any, arrays: dict[int, ndarray], count: int, has_axis: bool) -> None:
        """`arrays`: of those in the subscript that are others for each value all of them. `has_axis`: the array itself has the axis."""
        parts = [np.asarray(part) if isinstance(part, list) else part for part in _parts(key)]
        # Numbers without elements stand in for those of which there are many.
        known = [_full(part.shape, 0, part.dtype, part.device) if id(part) in arrays else part for part in parts]
        entries = indexing._entries(x, tuple(known))
        is_index = [part.kind in ("array", "mask", "bool", "int", "scalar") for part in entries]
        shapes = [np.shape(part) for part, own in zip(parts, is_index) if own and not _is_mask(part)]
        self.rank = max([len(shape) for shape in shapes] + [1 for part in parts if _is_mask(part)] or [0])
        before = is_index.index(True) if True in is_index else len(is_index)
        last = len(is_index) - is_index[::-1].index(True) if True in is_index else before
        self.is_apart = not all(is_index[before:last])
        # Axes of the result in front of those of the indices.
        self.before = (
            0 if self.is_apart else sum(1 if part.kind == "slice" or part.kind == "new" else part.axes for part in entries[:before])
        )
        self.has_axis, self.is_indexed = has_axis, bool(arrays)
        spread = [self._spread(part, arrays, count) if isinstance(part, ndarray) else part for part in parts]
        if not has_axis:
            self.key = tuple(spread)
        elif arrays:
            first = _reshape(_iota(count, 0, 1, counting_dtype(x.device), x.device), (count, *[1] * self.rank))
            self.key = (first, *spread)
        else:
            self.key = (slice(None), *spread)

    def _spread(self, part: ndarray, arrays: dict[int, ndarray], count: int) -> ndarray:
        all_of_it = arrays.get(id(part))
        if all_of_it is None:
            return part
        return _reshape(all_of_it, (count, *[1] * (self.rank - part.ndim), *part.shape))

    def _moves(self) -> tuple[list[int], list[int]]:
        """Which axes of what is selected go where, so that the new axis is the first."""
        if not self.has_axis:
            return [self.before], [0]
        if self.is_indexed:
            axes = list(range(1, 1 + self.rank))
            return (axes, [axis + self.before for axis in axes]) if self.before else ([], [])
        return ([self.rank], [0]) if self.is_apart else ([], [])

    def front(self, found: ndarray) -> ndarray:
        """What the subscript selects, with the new axis in front and the others in their order."""
        return moveaxis(found, *self._moves())

    def back(self, values: ndarray) -> ndarray:
        """The same of values that are written there."""
        sources, places = self._moves()
        return moveaxis(values, places, sources)


def _is_mask(part: Any) -> bool:
    return getattr(part, "dtype", None) == np.bool_ or isinstance(part, (bool, np.bool_))


def _of_key(call: Call, operands: list[ndarray | None], at: int) -> dict[int, ndarray]:
    """Of the arrays in a subscript, an argument of a call, those that are others for each value."""
    known = {id(array): operand for array, operand in zip(call.arrays, operands) if operand is not None}
    return {id(part): known[id(part)] for part in _parts(call.args[at]) if id(part) in known}


def _of_argument(call: Call, operands: list[ndarray | None], at: int) -> ndarray | None:
    for array, operand in zip(call.arrays, operands):
        if array is call.args[at]:
            return operand
    return None


def _all(value: ndarray, operand: ndarray | None, count: int) -> ndarray:
    return _broadcast(value, (count, *value.shape)) if operand is None else operand


@got.defbatched
def _(call: Call, operands: list[ndarray | None], count: int) -> list[ndarray]:
    x, key = call.args
    all_of_x = _of_argument(call, operands, 0)
    batched = _Batched(x, key, _of_key(call, operands, 1), count, all_of_x is not None)
    return [batched.front(got(x if all_of_x is None else all_of_x, batched.key))]


@stays.defbatched
def _(call: Call, operands: list[ndarray | None], count: int) -> list[ndarray]:
    x, key, shape = call.args
    batched = _Batched(x, key, _of_key(call, operands, 1), count, True)
    like = _full((count, *x.shape), 0, np.dtype(bool), x.device)
    rows = batched.back(_broadcast(_full((), 0, np.dtype(bool), x.device), (count, *shape))).shape
    return [batched.front(stays(like, batched.key, rows))]


@sums_in.defbatched
def _(call: Call, operands: list[ndarray | None], count: int) -> list[ndarray]:
    values, key, shape = call.args
    like = _full(tuple(shape), 0, values.dtype, values.device)
    batched = _Batched(like, key, _of_key(call, operands, 1), count, True)
    return [sums_in(batched.back(_all(values, _of_argument(call, operands, 0), count)), batched.key, (count, *shape))]


def _written(function: Any, call: Call, operands: list[ndarray | None], count: int) -> list[ndarray]:
    x, key, values = call.args
    batched = _Batched(x, key, _of_key(call, operands, 1), count, True)
    zeros = [
        _full(array.shape, 0, array.dtype, array.device) if id(array) in _of_key(call, operands, 1) else array for array in _parts(key)
    ]
    shape = unseen(indexing.elements, _full(x.shape, 0, np.dtype(bool), x.device), tuple(zeros)).shape
    all_of_values = _all(values, _of_argument(call, operands, 2), count)
    surplus = max(values.ndim - len(shape), 0)
    own = values.shape[surplus:]
    wide = _broadcast(_reshape(all_of_values, (count, *[1] * (len(shape) - len(own)), *own)), (count, *shape))
    return [function(_all(x, _of_argument(call, operands, 0), count), batched.key, batched.back(wide))]


@with_elements.defbatched
def _(call: Call, operands: list[ndarray | None], count: int) -> list[ndarray]:
    return _written(with_elements, call, operands, count)


@with_sums.defbatched
def _(call: Call, operands: list[ndarray | None], count: int) -> list[ndarray]:
    return _written(with_sums, call, operands, count)

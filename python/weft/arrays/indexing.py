"""Subscripts with boolean masks, arrays of integers and lists, alone or mixed with integers, slices, `None` and `...`, as NumPy has them.

A subscript becomes a `_Plan`: offsets of whole rows in the array's memory. The elements of integers and slices alone are views, and
the native class's business.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft._weft import (
    _assign,
    _broadcast,
    _cast,
    _followed,
    _from_numpy,
    _full,
    _order_of_steps,
    _reshape,
    _select,
    _tape_is_here,
    _tape_lacks_elements,
    _to_numpy,
    ndarray,
)
from weft.arrays import _compiled, _moves
from weft.arrays._common import Order, in_order, out_of_order
from weft.errors import CaptureError
from weft.kernels.launching import fits, on_a_device

_WRONG = "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid indices"


def getitem(x: ndarray, key: Any) -> ndarray:
    """The elements that a subscript with masks or arrays of indices selects: always a copy.

    >>> x = weft.asarray([[1, 2, 3], [4, 5, 6]])
    >>> x[[1, 0, 1], [0, 1, 2]]
    array([4, 2, 6])
    >>> x[x > 4]
    array([5, 6])
    """
    if _tape_is_here() and _followed(x, key):
        from weft.gradients.rules import subscripts

        subscripts.check(key)
        return subscripts.got(x, key)
    return elements(x, key)


def elements(x: ndarray, key: Any) -> ndarray:
    """What `getitem` gives, of which no tape takes notice."""
    entries = _entries(x, key)
    order = _order_of(x, entries)
    try:
        return _got(x, entries, order)
    except CaptureError:
        if _has_masks(entries):
            raise
        found = _compiled.recorded(_got_by, [x, *[part.value for part in entries]])
        return out_of_order(_cast(in_order(found, order), x.dtype, True), order)


def _has_masks(entries: list[_Entry]) -> bool:
    return any(part.kind in ("mask", "bool") for part in entries)


def _got_by(given: list[Any]) -> ndarray:
    return getitem(given[0], tuple(given[1:]))


def _got(x: ndarray, entries: list[_Entry], order: Order) -> ndarray:
    if _advanced(entries) and on_a_device(x) and fits(x):
        from weft.kernels.subscripts import got

        return got(x, entries, order)
    if x.ndim == 1 and len(entries) == 1 and entries[0].kind == "array" and order is None:
        return _taken(x, entries[0].value)
    if not _advanced(entries):
        return _cast(x[tuple(part.value for part in entries)], x.dtype)
    host = _to_numpy(x)
    base, first, strides = _moves.memory_of(host) if host.size else (host, 0, (0,) * host.ndim)
    plan = _plan(x.shape, strides, entries).in_order(order)
    out = np.empty(plan.shape, x.dtype)
    if out.size:
        flat = _moves.words(out.reshape(-1))
        if plan.is_simple:
            _moves.gather(base, plan.places + first if first else plan.places, flat)
        else:
            _moves.gather_rows(base, *plan.rows(first), flat)
    return out_of_order(_moves.adopted(out, x.device), order)


def _order_of(x: ndarray, entries: list[_Entry]) -> Order:
    """The order that selected elements lie in: NumPy has the axes of index arrays first, in C's order, and then the others as in the array.

    Where these have one element, those of index arrays lie as the arrays do.
    """
    if len(entries) == 1 and x.ndim == 1 and len(entries[0].value_shape) < 2:
        return None
    arrays = [part.value for part in entries if part.kind in ("array", "mask")]
    rank = max((array.ndim if array.dtype.kind != "b" else 1 for array in arrays), default=1 if _advanced(entries) else 0)
    before, behind = _sides(x.shape, x.strides, entries)
    first, sides = len(before), before + behind
    rest = [*range(first), *range(first + rank, len(sides) + rank)]
    own: Order = None
    if all(n == 1 for n, _ in sides):
        own = _order_of_steps([_steps(array, rank) for array in arrays if array.dtype.kind != "b"]) if rank > 1 else None
    else:
        rest = [rest[axis] for axis in sorted(range(len(sides)), key=lambda axis: -abs(sides[axis][1]) if sides[axis][0] > 1 else 0)]
    whole = (*(first + axis for axis in own or range(rank)), *rest)
    return whole if list(whole) != sorted(whole) else None


def _steps(array: Any, rank: int) -> list[int]:
    return [0] * (rank - array.ndim) + [step if n > 1 else 0 for n, step in zip(array.shape, array.strides)]


def _sides(shape: tuple[int, ...], strides: tuple[int, ...], parts: list[_Entry]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The axes before those of index arrays in a result and behind these, and the steps along them."""
    sides: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    axis = 0
    # 0: before all index arrays, 1: among them, 2: behind, 3: among them again, so that theirs are the first axes.
    state = 0
    for part in parts:
        if part.kind in ("array", "mask", "bool", "int", "scalar"):
            state = {0: 1, 2: 3}.get(state, state)
        else:
            state = 2 if state == 1 else state
            sides[state > 0].extend(_dims(part, shape[axis : axis + part.axes], strides[axis : axis + part.axes])[1])
        axis += part.axes
    return ([], sides[0] + sides[1]) if state == 3 else sides


def _taken(x: ndarray, index: Any) -> ndarray:
    """The elements of a row with these indices: what `getitem` does, without a list of places."""
    given = _to_numpy(index) if isinstance(index, ndarray) else index
    row = np.ascontiguousarray(given, np.int64).reshape(-1)
    if _moves.is_outside(row, x.size):
        raise IndexError(_outside(row, 0, x.size))
    out = np.empty(given.shape, x.dtype)
    if out.size:
        base, first, strides = _moves.memory_of(_to_numpy(x))
        _moves.take(base, row, x.size, first, strides[0], _moves.words(out.reshape(-1)))
    return _moves.adopted(out, x.device)


def _outside(index: np.ndarray, axis: int, n: int) -> str:
    wrong = index[(index < -n) | (index >= n)][0]
    return f"index {wrong} is out of bounds for axis {axis} with size {n}"


def setitem(x: ndarray, key: Any, value: Any) -> None:
    """Assigns to the elements that a subscript with masks or arrays of indices selects; of an element named twice the last value stays.

    >>> x = weft.zeros(4)
    >>> x[[0, 2]] = [5, 7]
    >>> x[x == 0] = -1
    >>> x
    array([ 5., -1.,  7., -1.])
    """
    if _tape_is_here() and _lacks_elements(key):
        _put_followed(x, key, value)
        return
    entries = _entries(x, key)
    if not _advanced(entries):
        x[tuple(part.value for part in entries)] = value
        return
    if _is_lone_mask(entries) and _set_masked(x, entries[0].value, value):
        return
    if _tape_is_here() and _followed(x, key, value):
        _put_followed(x, key, value)
        return
    put(x, entries, value)


def _lacks_elements(key: Any) -> bool:
    """Whether indices are among a subscript's parts that are arrays without elements, as `vmap` has them: also such without axes."""
    parts = key if isinstance(key, tuple) else (key,)
    return _tape_lacks_elements([part for part in parts if isinstance(part, ndarray)])


def _put_followed(x: ndarray, key: Any, value: Any) -> None:
    from weft.gradients.rules import subscripts

    subscripts.check(key)
    _assign(x, subscripts.with_elements(x, key, _value_for(x, value)))


def _value_for(x: ndarray, value: Any) -> ndarray:
    return _cast(value, x.dtype) if isinstance(value, ndarray) else _from_numpy(_values(x, value), x.device)


def put(x: ndarray, entries: list[_Entry], value: Any) -> None:
    """What `setitem` does, of which no tape takes notice, with a subscript's parts."""
    try:
        _set(x, entries, value)
    except CaptureError:
        if _has_masks(entries):
            raise
        _assign(x, _compiled.recorded(_set_by, [x, value, *[part.value for part in entries]]))


def _set_by(given: list[Any]) -> ndarray:
    copy = _cast(given[0], given[0].dtype)
    setitem(copy, tuple(given[2:]), given[1])
    return copy


def _set(x: ndarray, entries: list[_Entry], value: Any) -> None:
    if on_a_device(x) and fits(x):
        from weft.kernels.subscripts import set_

        set_(x, entries, value)
        return
    given = _values(x, value)
    if given.ndim > 1 and len(entries) == 1 and entries[0].kind in ("mask", "bool") and entries[0].value_shape == x.shape:
        raise TypeError(f"NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, input has {given.ndim} dimensions")
    copy = _to_numpy(x).copy(order="C")
    plan = _plan(x.shape, _strides_of(copy), entries)
    try:
        given = np.broadcast_to(_without_leading_ones(given, len(plan.shape)), plan.shape)
    except ValueError:
        raise ValueError(_shapes_differ(entries, given.shape, plan.shape)) from None
    if given.size == 0:
        return
    flat, values, stride = _moves.words(copy.reshape(-1)), *_moves.row_of(given)
    if plan.is_simple:
        _moves.scatter(flat, plan.places, _moves.words(values), stride)
    else:
        _moves.scatter_rows(flat, *plan.rows(0), _moves.words(values), stride)
    _assign(x, _moves.adopted(copy, x.device))


def _strides_of(array: np.ndarray) -> tuple[int, ...]:
    return tuple(stride // array.itemsize for stride in array.strides)


def places_of(array: np.ndarray, key: Any) -> np.ndarray:
    """Where the selected elements of a contiguous NumPy array lie, counted in elements from the first one, in the result's shape."""
    plan = _plan(array.shape, _strides_of(array), _entries(array, key))
    if plan.is_simple:
        return plan.places.reshape(plan.shape)
    before, places, after, count, step = plan.rows(0)
    ends = _moves.grid_of([(count, step)])
    return (before[:, None, None, None] + places[:, None, None] + after[:, None] + ends).reshape(plan.shape)


@dataclass(frozen=True)
class _Entry:
    """A part of a subscript: `kind` is one of int, scalar, slice, new, gap, array, mask, bool."""

    kind: str
    value: Any
    # So many axes of the array it takes.
    axes: int

    @property
    def value_shape(self) -> tuple[int, ...]:
        return getattr(self.value, "shape", ())


@dataclass(frozen=True)
class _Plan:
    """Rows in memory: axes before the index arrays', offsets of these, axes behind them; sizes and strides in elements."""

    start: int
    before: list[tuple[int, int]]
    places: np.ndarray
    places_shape: tuple[int, ...]
    after: list[tuple[int, int]]

    @property
    def shape(self) -> tuple[int, ...]:
        return (*(n for n, _ in self.before), *self.places_shape, *(n for n, _ in self.after))

    @property
    def is_simple(self) -> bool:
        """Are these elements, not rows?"""
        return self.start == 0 and not self.before and not self.after

    def in_order(self, order: Order) -> _Plan:
        """The plan of a result whose axes are turned so."""
        if order is None:
            return self
        # The axes of index arrays come first.
        rank, first = len(self.places_shape), len(self.before)
        own = [axis - first for axis in order[:rank]]
        places = np.ascontiguousarray(self.places.reshape(self.places_shape).transpose(own))
        axes = [*self.before, *[(0, 0)] * rank, *self.after]
        return _Plan(self.start, [], places.reshape(-1), places.shape, [axes[axis] for axis in order[rank:]])

    def rows(self, first: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, int, int]:
        after, count, step = _moves.run_of(self.after)
        return _moves.grid_of(self.before) + (self.start + first), self.places, _moves.grid_of(after), count, step


def _advanced(entries: list[_Entry]) -> bool:
    return any(part.kind in ("array", "mask", "bool") for part in entries)


def _is_lone_mask(entries: list[_Entry]) -> bool:
    return entries[0].kind == "mask" and all(part.kind == "gap" for part in entries[1:])


def _entries(x: ndarray | np.ndarray, key: Any) -> list[_Entry]:
    parts = [_entry(part) for part in (key if isinstance(key, tuple) else (key,))]
    gaps = [at for at, part in enumerate(parts) if part.kind == "gap"]
    if len(gaps) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    used = sum(part.axes for part in parts)
    if used > x.ndim:
        raise IndexError(f"too many indices for array: array is {x.ndim}-dimensional, but {used} were indexed")
    if gaps:
        parts[gaps[0]] = _Entry("gap", Ellipsis, x.ndim - used)
    elif used < x.ndim:
        parts.append(_Entry("gap", Ellipsis, x.ndim - used))
    return _checked(x.shape, parts)


def _entry(part: Any) -> _Entry:
    if part is None:
        return _Entry("new", None, 0)
    if part is Ellipsis:
        return _Entry("gap", Ellipsis, 0)
    if isinstance(part, slice):
        return _Entry("slice", part, 1)
    if isinstance(part, (bool, np.bool_)):
        return _Entry("bool", bool(part), 0)
    if isinstance(part, (ndarray, np.ndarray)):
        return _array_entry(part)
    if hasattr(part, "__index__"):
        return _Entry("int", operator.index(part), 1)
    if isinstance(part, (str, bytes)) or not hasattr(part, "__len__"):
        raise IndexError(_WRONG)
    array = np.asarray(part)
    if array.size == 0 and array.ndim:
        array = array.astype(np.intp)
    if array.dtype.kind not in "biu":
        raise IndexError(_WRONG)
    return _array_entry(array)


def _array_entry(array: Any) -> _Entry:
    kind = array.dtype.kind
    if kind == "b":
        return _Entry("mask", array, array.ndim) if array.ndim else _Entry("bool", bool(array), 0)
    if kind not in "iu":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    return _Entry("array", array, 1) if array.ndim else _Entry("scalar", operator.index(array), 1)


def _checked(shape: tuple[int, ...], parts: list[_Entry]) -> list[_Entry]:
    """Masks have the sizes of the axes they stand for, and integers lie within."""
    axis = 0
    for at, part in enumerate(parts):
        if part.kind == "mask":
            for k, (n, given) in enumerate(zip(shape[axis:], part.value.shape)):
                # NumPy takes an axis of no flags for any.
                if given not in (n, 0):
                    raise IndexError(
                        f"boolean index did not match indexed array along axis {axis + k}; size of axis is {n} "
                        f"but size of corresponding boolean axis is {given}"
                    )
        elif part.kind in ("int", "scalar"):
            n = shape[axis]
            if not -n <= part.value < n:
                raise IndexError(f"index {part.value} is out of bounds for axis {axis} with size {n}")
            parts[at] = _Entry(part.kind, part.value % n, 1)
        axis += part.axes
    return parts


def _plan(shape: tuple[int, ...], strides: tuple[int, ...], parts: list[_Entry]) -> _Plan:
    start, axis = 0, 0
    places: list[np.ndarray] = []
    outside: list[str] = []
    for part in parts:
        sizes, steps = shape[axis : axis + part.axes], strides[axis : axis + part.axes]
        if part.kind in ("int", "scalar"):
            start += part.value * steps[0]
        elif part.kind in ("array", "mask", "bool"):
            places.append(_places(part, axis, sizes, steps, outside))
        else:
            start += _dims(part, sizes, steps)[0]
        axis += part.axes
    together = _together(places)
    # Indices that are broadcast to none are never looked up.
    if outside and together.size:
        raise IndexError(outside[0])
    before, behind = _sides(shape, strides, parts)
    return _Plan(start, before, np.ascontiguousarray(together).reshape(-1), together.shape, behind)


def _dims(part: _Entry, sizes: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, list[tuple[int, int]]]:
    """The axes that a slice, `None` or `...` leaves, and how far from the start they begin."""
    if part.kind == "new":
        return 0, [(1, 0)]
    if part.kind == "gap":
        return 0, list(zip(sizes, strides))
    begin, stop, step = part.value.indices(sizes[0])
    n = len(range(begin, stop, step))
    return (begin * strides[0] if n else 0), [(n, step * strides[0])]


def _places(part: _Entry, axis: int, sizes: tuple[int, ...], strides: tuple[int, ...], outside: list[str]) -> np.ndarray:
    """The offsets that a mask or an array of indices stands for; says which index is outside."""
    if part.kind == "bool":
        return np.zeros(int(part.value), np.int64)
    array = _to_numpy(part.value) if isinstance(part.value, ndarray) else part.value
    if part.kind == "mask":
        return _mask_places(np.ascontiguousarray(array).reshape(-1), sizes, strides)
    index = np.ascontiguousarray(array, np.int64).reshape(-1)
    if _moves.is_outside(index, sizes[0]):
        outside.append(_outside(index, axis, sizes[0]))
    out = np.zeros(index.size, np.int64)
    _moves.add_offsets(index, sizes[0], strides[0], out)
    return out.reshape(array.shape)


def _mask_places(mask: np.ndarray, sizes: tuple[int, ...], strides: tuple[int, ...]) -> np.ndarray:
    found = _moves.true_places(mask)
    outer, _, step = _moves.run_of(list(zip(sizes, strides)))
    if not outer:
        return found * step if step != 1 else found
    offsets = np.zeros(found.size, np.int64)
    for n, stride in zip(reversed(sizes), reversed(strides)):
        offsets += found % n * stride
        found = found // n
    return offsets


def _together(places: list[np.ndarray]) -> np.ndarray:
    if not places:
        return np.zeros((), np.int64)
    try:
        whole = np.broadcast_shapes(*(each.shape for each in places))
    except ValueError:
        shapes = " ".join(str(each.shape) for each in places)
        raise IndexError(f"shape mismatch: indexing arrays could not be broadcast together with shapes {shapes} ") from None
    total = places[0] if places[0].shape == whole else np.broadcast_to(places[0], whole)
    for each in places[1:]:
        total = total + each
    return total


def _values(x: ndarray, value: Any) -> np.ndarray:
    """What is assigned, as a NumPy array of the array's dtype."""
    if isinstance(value, ndarray):
        value = _to_numpy(value)
    if not isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value, x.dtype)
    with np.errstate(all="ignore"):
        return np.asarray(value).astype(x.dtype, copy=False)


def _without_leading_ones(value: np.ndarray, ndim: int) -> np.ndarray:
    surplus = max(value.ndim - ndim, 0)
    return value.reshape(value.shape[surplus:]) if value.shape[:surplus] == (1,) * surplus else value


def _shapes_differ(entries: list[_Entry], given: tuple[int, ...], wanted: tuple[int, ...]) -> str:
    if _is_lone_mask(entries) and len(given) == len(wanted) == 1:
        return (
            f"NumPy boolean array indexing assignment cannot assign {given[0]} input values to the {wanted[0]} output values "
            "where the mask is true"
        )
    shapes = " ".join("(" + ",".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")" for shape in (given, wanted))
    first, second = shapes.split(" ")
    return f"shape mismatch: value array of shape {first} could not be broadcast to indexing result of shape {second}"


def _set_masked(x: ndarray, mask: Any, value: Any) -> bool:
    """`x[mask] = value` as a selection, without looking at the mask, where all true elements are given the same; else False."""
    if mask.shape != x.shape[: mask.ndim]:
        return False
    rest = x.shape[mask.ndim :]
    given = value if isinstance(value, ndarray) else _values(x, value)
    surplus = max(given.ndim - len(rest), 0)
    if surplus > 1 or given.shape[:surplus] != (1,) * surplus:
        return False
    shape = given.shape[surplus:]
    if any(n not in (1, wanted) for n, wanted in zip(reversed(shape), reversed(rest))):
        return False
    if isinstance(given, ndarray):
        new = given if given.dtype == x.dtype else _cast(given, x.dtype)
    else:
        new = _full((), given.reshape(())[()], x.dtype, x.device) if given.size == 1 else _from_numpy(given, x.device)
    where = mask if isinstance(mask, ndarray) else _from_numpy(mask, x.device)
    where = _broadcast(_reshape(where, (*mask.shape, *(1,) * len(rest))), x.shape)
    _assign(x, _select(where, _reshape(new, shape) if new.shape != shape else new, x))
    return True

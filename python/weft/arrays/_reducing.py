"""The methods of ufuncs: folds of the compiler's own where an operation is one, else compiled loops that go in NumPy's order."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from weft._weft import (
    _arg,
    _assign,
    _broadcast,
    _cast,
    _fold,
    _followed,
    _full,
    _order,
    _order_of_steps,
    _permute,
    _reshape,
    _select,
    _to_numpy,
    _ufunc,
    ndarray,
)
from weft.arrays import _moves, indexing
from weft.arrays._common import MISSING, Order, as_dtype, axes_of, beside, in_order, mask_of, out_of_order, place_in, with_ones
from weft.arrays._rows import converted, in_three, loop_of
from weft.gradients.primitives import primitive
from weft.kernels.launching import fits, launched, on_a_device

if TYPE_CHECKING:
    from weft.arrays.ufuncs import ufunc


def reduced(function: ufunc, x: ndarray, axis: Any, dtype: Any, out: ndarray | None, keepdims: bool, initial: Any, where: Any) -> ndarray:
    """`ufunc.reduce`."""
    axes = axes_of(axis, x.ndim) if x.ndim or axis not in (0, -1) else ()
    computed, taken = _loop_types(function, x, dtype, out)
    if len(axes) > 1 and not function.reorderable:
        raise ValueError(f"reduction operation '{function.__name__}' is not reorderable, so at most one axis may be specified")
    mask = _mask_for(function, x, where, initial)
    start = _start(function, initial, computed)
    if taken != computed:
        result = _looped(function, x, axes, (computed, taken), mask, start)
    elif not axes and mask is not None and function.identity is None:
        result = _started_where(function, x, computed, mask, start)
    elif not axes:
        # NumPy begins with the identity even so: -0 + 0 is 0.
        begin = _identity(function, start, computed) if start is MISSING and function.identity is not None else start
        result = _with_start(function, _without_axes(function, x, computed, mask, start), begin, computed)
        result = _cast(x, computed) if result is x else result
    elif function.is_fold:
        result = _folded(function, x, axes, computed, mask, start)
    else:
        result = _looped(function, x, axes, (computed, taken), mask, start)
    result = _reshape(result, with_ones(x.shape, axes)) if keepdims else result
    return _into(out, result, f"reduction operation {function.__name__}")


def accumulated(function: ufunc, x: ndarray, axis: Any, dtype: Any, out: ndarray | None) -> ndarray:
    """`ufunc.accumulate`."""
    along = _one_axis(x, axis, "accumulate")
    computed = _computed_type(function, x, dtype, out, "accumulate")
    if _followed(x) and (known := _accumulated_followed(function.__name__, _typed(x, computed), along)) is not None:
        if out is not None and out.shape != x.shape:
            raise ValueError("provided out is the wrong size for the accumulation.")
        return _into(out, known, "accumulate")
    order = _order([x])
    place = place_in(order, along)
    result = _scanned(function.__name__, in_order(x, order), place, computed)
    if result is None:
        source = np.ascontiguousarray(_to_numpy(in_order(_typed(x, computed), order)))
        made = np.empty(source.shape, computed)
        if made.size:
            loop_of("accumulate", function.__name__)(in_three(source, place), in_three(made, place))
        result = _moves.adopted(made, x.device)
    if out is not None and out.shape != x.shape:
        raise ValueError("provided out is the wrong size for the accumulation.")
    return _into(out, out_of_order(result, order), "accumulate")


def _accumulated_followed(name: str, x: ndarray, axis: int) -> ndarray | None:
    """`ufunc.accumulate` of an array that has a gradient, by an operation that has one."""
    from weft.arrays.cumulative import running

    if name in ("add", "multiply"):
        return running("cumsum" if name == "add" else "cumprod", x, axis, x.dtype)
    if name not in ("maximum", "minimum", "fmax", "fmin"):
        return None
    from weft.gradients.rules.running import extremes

    return extremes(name, x, axis)


def _scanned(name: str, x: ndarray, axis: int, dtype: np.dtype) -> ndarray | None:
    """The scan of an array on another device than the CPU, where there is one of an operation."""
    if not on_a_device(x) or not fits(x):
        return None
    from weft.kernels.scan import operation, scanned

    if operation(name, dtype):
        return launched(scanned, name, x, axis, dtype)
    from weft.kernels.runs import goes_along, scanned_in_order

    return launched(scanned_in_order, name, _typed(x, dtype), axis) if goes_along(name, dtype, x, (axis,)) else None


def reduced_at(function: ufunc, x: ndarray, indices: Any, axis: Any, dtype: Any, out: ndarray | None) -> ndarray:
    """`ufunc.reduceat`."""
    along = _one_axis(x, axis, "reduceat")
    starts, n = _starts_of(indices), x.shape[along]
    outside = starts[(starts < 0) | (starts >= n)]
    if outside.size:
        raise IndexError(f"index {outside[0]} out-of-bounds in {function.__name__}.reduceat [0, {n})")
    computed = _computed_type(function, x, dtype, out, "reduceat")
    # The axis that is gone along is one of the result alone.
    steps = [0 if axis == along or n == 1 else step for axis, (n, step) in enumerate(zip(x.shape, x.strides))]
    order = _order_of_steps([steps])
    place = place_in(order, along)
    result = runs(function.__name__, in_order(_typed(x, computed), order), place, starts)
    return _into(out, out_of_order(result, order), "reduceat")


@primitive(rules="running")
def runs(name: str, x: ndarray, axis: int, starts: np.ndarray) -> ndarray:
    """What `reduceat` gives of an array whose dtype is the result's."""
    result = _runs_folded_there(name, x, axis, starts)
    if result is not None:
        return result
    source = np.ascontiguousarray(_to_numpy(x))
    made = np.empty((*source.shape[:axis], starts.size, *source.shape[axis + 1 :]), x.dtype)
    if made.size:
        loop_of("reduceat", name)(in_three(source, axis), starts, in_three(made, axis))
    return _moves.adopted(made, x.device)


def _starts_of(indices: Any) -> np.ndarray:
    """Where runs start. As in NumPy lists are made integers in any way, of arrays the dtype has to be one of integers."""
    is_array = isinstance(indices, (ndarray, np.ndarray, np.generic))
    starts = np.asarray(_to_numpy(indices) if isinstance(indices, ndarray) else indices, None if is_array else np.int64)
    if starts.ndim > 1 and not is_array:
        raise ValueError("setting an array element with a sequence. The requested array would exceed the maximum number of dimension of 1.")
    if starts.ndim != 1:
        raise ValueError(f"object {'too deep' if starts.ndim else 'of too small depth'} for desired array")
    if not np.can_cast(starts.dtype, np.int64):
        raise TypeError(f"Cannot cast array data from {starts.dtype!r} to dtype('int64') according to the rule 'safe'")
    return np.ascontiguousarray(starts, np.int64)


def _runs_folded_there(name: str, x: ndarray, axis: int, starts: np.ndarray) -> ndarray | None:
    """What `reduceat` gives on another device than the CPU, unless too few threads would go along too long runs."""
    if not on_a_device(x) or not fits(x):
        return None
    from weft.kernels.runs import folded_runs, may_fold_runs

    return launched(folded_runs, name, x, axis, starts) if may_fold_runs(name, x, axis, starts) else None


def applied_at(function: ufunc, x: Any, key: Any, values: Any) -> None:
    """`ufunc.at`."""
    if not isinstance(x, ndarray):
        raise TypeError("first operand must be array")
    if function.nout != 1:
        raise ValueError("Only single output ufuncs supported at this time")
    if function.nin == 1 and values is not MISSING:
        raise ValueError("second operand provided when ufunc is unary")
    if function.nin == 2 and values is MISSING:
        raise ValueError("second operand needed for ufunc")
    if _followed(x, key, values) and _updated_followed(function.__name__, x, key, values):
        return
    if function.nin == 2 and _updated_there(function, x, key, values):
        return
    given = () if values is MISSING else (beside(values, x),)
    types = (x.dtype, *(each.dtype for each in given), None)
    loop = function.loop(types, casting="unsafe")
    copy = _to_numpy(x).copy(order="C")
    places = indexing.places_of(copy, key)
    flat = places.reshape(-1)
    row = copy.reshape(-1)
    if loop[-1].kind == "c" and x.dtype.kind not in "cb":
        message = "Casting complex values to real discards the imaginary part"
        warnings.warn(message, np.exceptions.ComplexWarning, stacklevel=3)
    read, put = converted("old", x.dtype, loop[0]), converted("new", loop[-1], x.dtype)
    if not given:
        loop_of("at_alone", function.__name__, read, put)(row, flat)
    else:
        loop_of("at", function.__name__, read, put)(row, flat, *_values_at(given[0], places.shape, loop[1]))
    _assign(x, _moves.adopted(copy, x.device))


def _updated_followed(name: str, x: ndarray, key: Any, values: Any) -> bool:
    """Does what `ufunc.at` does to an array that has a gradient, by an operation that has one."""
    if name not in ("add", "subtract"):
        return False
    from weft.gradients.rules import subscripts

    subscripts.check(key)
    given = beside(values, x)
    _assign(x, subscripts.with_sums(x, key, given if name == "add" else _ufunc("negative", (given,))))
    return True


def _updated_there(function: ufunc, x: ndarray, key: Any, values: Any) -> bool:
    """Does what `ufunc.at` does on another device than the CPU, where there is a kernel for it, of elements and values of one type."""
    if not on_a_device(x) or not fits(x):
        return False
    from weft.kernels.updates import has_update, updated

    if not has_update(function.__name__, x.dtype):
        return False
    given = beside(_in_type_of(x, values), x)
    if function.loop((x.dtype, given.dtype, None), casting="unsafe")[:2] != (x.dtype, x.dtype):
        return False
    updated(function.__name__, x, key, _typed(given, x.dtype))
    return True


def _in_type_of(x: ndarray, value: Any) -> Any:
    """An integer of Python's as what it is among elements of an array that is not on the CPU, if they have it.

    NumPy computes with it in 64 bits and converts; what comes of that is the same, for a sum, difference or product of two numbers that is
    rounded twice, first to more than twice the digits, is as if rounded once. Not so beside uint64, where NumPy computes in float64.
    """
    if type(value) is not int or not on_a_device(x) or x.dtype.kind not in "iuf" or x.dtype == np.uint64:
        return value
    try:
        found = np.asarray(value, x.dtype)
        return found if int(found) == value else value
    except OverflowError:
        return value


def _values_at(values: ndarray, shape: tuple[int, ...], dtype: np.dtype) -> tuple[np.ndarray, int]:
    try:
        spread = _broadcast(_typed(values, dtype), shape)
    except ValueError:
        raise ValueError("array is not broadcastable to correct shape") from None
    return _moves.row_of(_to_numpy(spread))


def _loop_types(function: ufunc, x: ndarray, dtype: Any, out: ndarray | None) -> tuple[np.dtype, np.dtype]:
    """The type that NumPy reduces in, and that of the elements that are taken in: for `ldexp` they differ."""
    first = None if out is None else out.dtype
    signature = None if dtype is None else (as_dtype(dtype), None, None)
    return function.loop((first, x.dtype, None), signature, "unsafe", reduction=True)[:2]


def _computed_type(function: ufunc, x: ndarray, dtype: Any, out: ndarray | None, method: str) -> np.dtype:
    """The one type that NumPy goes along an axis in; TypeError if elements have another one."""
    computed, taken = _loop_types(function, x, dtype, out)
    if computed != taken:
        resolved = (computed, taken, computed)
        raise TypeError(f"the resolved dtypes are not compatible with {function.__name__}.{method}. Resolved {resolved}")
    return computed


def _typed(x: ndarray, dtype: np.dtype) -> ndarray:
    return x if x.dtype == dtype else _cast(x, dtype)


def _one_axis(x: ndarray, axis: Any, method: str) -> int:
    if isinstance(axis, tuple) and len(axis) != 1:
        raise ValueError(f"{method} does not allow multiple axes")
    if x.ndim == 0 and (axis is None or axis in (0, -1)):
        raise TypeError(f"cannot {method} on a scalar")
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"{method} does not allow multiple axes")
        axis = 0
    return axes_of(axis, x.ndim)[0]


def _mask_for(function: ufunc, x: ndarray, where: Any, initial: Any) -> ndarray | None:
    if where is True:
        return None
    if initial is None or (function.identity is None and initial is MISSING):
        raise ValueError(
            f"reduction operation '{function.__name__}' does not have an identity, so to use a where mask one has to specify 'initial'"
        )
    return _broadcast(mask_of(where, x), x.shape)


def _start(function: ufunc, initial: Any, dtype: np.dtype) -> Any:
    """The value that a reduction starts with, in the type that is computed in; MISSING without one."""
    if initial is MISSING or initial is None:
        return initial
    if isinstance(initial, ndarray):
        initial = _to_numpy(initial)
    value = np.asarray(initial, dtype) if not isinstance(initial, (np.ndarray, np.generic)) else np.asarray(initial).astype(dtype)
    if value.ndim:
        raise ValueError("Input object to FillWithScalar is not a scalar")
    return value[()]


def _identity(function: ufunc, start: Any, dtype: np.dtype) -> Any:
    """What masked elements are replaced by."""
    return np.asarray(function.identity).astype(dtype)[()] if function.identity is not None else start


def _without_axes(function: ufunc, x: ndarray, dtype: np.dtype, mask: ndarray | None, start: Any) -> ndarray:
    """A reduction along no axis: the elements themselves."""
    if mask is None:
        return _typed(x, dtype)
    return _select(mask, _typed(x, dtype), _full((), _identity(function, start, dtype), dtype, x.device))


def _started_where(function: ufunc, x: ndarray, dtype: np.dtype, mask: ndarray, start: Any) -> ndarray:
    """A reduction along no axis by an operation that nothing is neutral for: what the start and an element give, where the mask is set."""
    # Elements that nobody asks for may be such as the operation refuses: 1 is not.
    asked = _select(mask, _typed(x, dtype), _full((), 1, dtype, x.device))
    return _select(mask, _with_start(function, asked, start, dtype), _full((), start, dtype, x.device))


def _folded(function: ufunc, x: ndarray, axes: tuple[int, ...], dtype: np.dtype, mask: ndarray | None, start: Any) -> ndarray:
    name = function.__name__
    negative = name == "add" and _is_negative_zero(start)
    if mask is not None:
        # What changes nothing, not even -0.
        nothing = complex(-0.0, -0.0) if dtype.kind == "c" else -0.0
        neutral = np.asarray(nothing, dtype)[()] if negative else _identity(function, start, dtype)
        x = _select(mask, _typed(x, dtype), _full((), neutral, dtype, x.device))
    # Folds start with identities; where they may, no size is looked at.
    if (start is None or function.identity is None) and any(x.shape[axis] == 0 for axis in axes):
        return _of_nothing(function, x, axes, dtype, start)
    x = x if name.startswith("logical") else _typed(x, dtype)
    result = complex_extreme(name, x, axes) if _is_of_complex(name, dtype) else _fold(name, x, axes, dtype)
    return _from_negative_zero(x, axes, result, start) if negative else _with_start(function, result, start, dtype)


def _is_negative_zero(start: Any) -> bool:
    return isinstance(start, np.inexact) and any(part == 0 and np.signbit(part) for part in (start.real, start.imag))


def _from_negative_zero(x: ndarray, axes: tuple[int, ...], result: ndarray, start: Any) -> ndarray:
    """Sums that start with -0, where folds start with 0: of nothing but -0 they are -0."""
    if x.dtype.kind == "c":
        both = _full(result.shape, 0, result.dtype, result.device)
        both.real = _from_negative_zero(x.real, axes, result.real, start.real)
        both.imag = _from_negative_zero(x.imag, axes, result.imag, start.imag)
        return both
    first = _full((), start, result.dtype, result.device)
    sums = _ufunc("add", (first, result))
    if not _is_negative_zero(start):
        return sums
    none_else = _fold("logical_and", _ufunc("logical_and", (_ufunc("equal", (x, 0)), _ufunc("signbit", (x,)))), axes, np.dtype(bool))
    return _select(none_else, first, sums)


def _of_nothing(function: ufunc, x: ndarray, axes: tuple[int, ...], dtype: np.dtype, start: Any) -> ndarray:
    """What a reduction along an axis without elements starts with."""
    shape = tuple(n for axis, n in enumerate(x.shape) if axis not in axes)
    if start is MISSING and function.identity is not None:
        start = _identity(function, start, dtype)
    if start is None or start is MISSING:
        raise _no_identity(function)
    return _full(shape, start, dtype, x.device)


def _is_of_complex(name: str, dtype: np.dtype) -> bool:
    return dtype.kind == "c" and name in ("maximum", "minimum")


def _with_start(function: ufunc, result: ndarray, start: Any, dtype: np.dtype) -> ndarray:
    if start is None or start is MISSING:
        return result
    if _is_of_complex(function.__name__, dtype):
        pair = _full((2, *result.shape), start, dtype, result.device)
        pair[1] = result
        return complex_extreme(function.__name__, pair, (0,))
    return _ufunc(function.__name__, (_full((), start, dtype, result.device), result), dtype)


def complex_extreme(name: str, x: ndarray, axes: tuple[int, ...]) -> ndarray:
    """The greatest or least of complex numbers, which are ordered by their real parts first. They are sorted for it, at once."""
    from weft.arrays.gathering import take_along_axis
    from weft.arrays.statistics import rows_of

    order = order_of_rest(x, axes)
    rows = rows_of(x, tuple(sorted(axes)))
    rows = in_order(rows, None if order is None else (*order, len(order)))
    if not rows.size:
        return out_of_order(_full(rows.shape[:-1], 0, x.dtype, x.device), order)
    place = complex_position(rows, name == "maximum")
    return out_of_order(take_along_axis(rows, place[..., None], -1)[..., 0], order)


def order_of_rest(x: ndarray, axes: tuple[int, ...]) -> Order:
    """The order of a result of an array that has lost some axes."""
    order = _order([x])
    if order is None:
        return None
    rest = [axis for axis in range(x.ndim) if axis not in axes]
    return tuple(rest.index(axis) for axis in order if axis not in axes)


def complex_position(rows: ndarray, greatest: bool) -> ndarray:
    """The position of the first greatest or least number along the last axis; one with NaN comes before all others."""
    from weft.arrays.sorting import argsort

    order = argsort(rows, -1, descending=greatest)
    lost = _ufunc("isnan", (rows,), None)
    some = _fold("logical_or", lost, (rows.ndim - 1,))
    return _select(some, _arg("argmax", lost, rows.ndim - 1), order[..., 0])


def _looped(
    function: ufunc, x: ndarray, axes: tuple[int, ...], types: tuple[np.dtype, np.dtype], mask: ndarray | None, start: Any
) -> ndarray:
    """The elements one after the other, in C's order of the axes; the types of what is computed, and of elements that are taken in."""
    dtype, taken = types
    order = order_of_rest(x, axes)
    kept = tuple(axis for axis in range(x.ndim) if axis not in axes)
    kept = kept if order is None else tuple(kept[axis] for axis in order)
    shape = tuple(x.shape[axis] for axis in kept)
    count = math.prod(x.shape[axis] for axis in axes)
    if count and mask is None and dtype == taken and _goes_along_there(function.__name__, dtype, x, axes):
        from weft.kernels.runs import folded

        first = np.asarray(function.identity).astype(dtype)[()] if start is MISSING and function.identity is not None else start
        lying, place = (x, axes[0]) if order is None and len(axes) == 1 else (_permute(x, (*kept, *sorted(axes))), len(kept))
        lying = lying if len(axes) == 1 else _reshape(lying, (*shape, count))
        found = launched(folded, function.__name__, _typed(lying, dtype), place, None if first is MISSING else first)
        return out_of_order(found, order)
    rows = _rows_of(_typed(x, taken), kept, axes, count)
    if start is MISSING and function.identity is not None:
        begin: Any = np.asarray(function.identity).astype(dtype)
    elif start is None or start is MISSING:
        begin = None
    else:
        begin = start
    made = np.empty((rows.shape[0], rows.shape[2]), dtype)
    if begin is None:
        if count == 0:
            raise _no_identity(function)
        made[...] = rows[:, 0, :]
        rows = np.ascontiguousarray(rows[:, 1:, :])
    else:
        made[...] = begin
    if mask is None:
        loop_of("fold", function.__name__)(rows, made)
    else:
        loop_of("fold_where", function.__name__)(rows, _rows_of(mask, kept, axes, count), made)
    return out_of_order(_moves.adopted(made.reshape(shape), x.device), order)


def _goes_along_there(name: str, dtype: np.dtype, x: ndarray, axes: tuple[int, ...]) -> bool:
    """Whether threads of another device than the CPU go along the axes, each along a line of its own."""
    if not on_a_device(x) or not fits(x):
        return False
    from weft.kernels.runs import goes_along

    return goes_along(name, dtype, x, axes)


def _rows_of(x: ndarray, kept: tuple[int, ...], axes: tuple[int, ...], count: int) -> np.ndarray:
    """An array on the host as (before, along, behind) of the reduced axes."""
    if len(axes) == 1 and list(kept) == sorted(kept):
        return in_three(np.ascontiguousarray(_to_numpy(x)), axes[0])
    host = np.ascontiguousarray(_to_numpy(_permute(x, (*kept, *sorted(axes)))))
    return host.reshape(math.prod(host.shape[: len(kept)]), count, 1)


def _no_identity(function: ufunc) -> ValueError:
    return ValueError(f"zero-size array to reduction operation {function.__name__} which has no identity")


def _into(out: ndarray | None, result: ndarray, what: str) -> ndarray:
    if out is None:
        return result
    if out.ndim != result.ndim:
        raise ValueError(f"output parameter for {what} has the wrong number of dimensions: Found {out.ndim} but expected {result.ndim}")
    if out.shape != result.shape:
        raise ValueError(f"non-broadcastable output operand with shape {out.shape} doesn't match the broadcast shape {result.shape}")
    _assign(out, result)
    return out

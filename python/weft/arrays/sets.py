"""Different elements, and arrays as sets of them. All are computed at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from weft._weft import _cast, _fold, _followed, _from_numpy, _reshape, _to_numpy, ndarray
from weft.gradients.primitives import without_gradient
from weft.kernels.launching import fits, launched, on_a_device

from . import _compiled
from ._common import array_of, axis_of, filled, flat, positions, result_dtype, together, u
from .joining import concatenate
from .sorting import long_word


class UniqueAllResult(NamedTuple):
    """What `unique_all` gives."""

    values: ndarray
    indices: ndarray
    inverse_indices: ndarray
    counts: ndarray


class UniqueCountsResult(NamedTuple):
    """What `unique_counts` gives."""

    values: ndarray
    counts: ndarray


class UniqueInverseResult(NamedTuple):
    """What `unique_inverse` gives."""

    values: ndarray
    inverse_indices: ndarray


def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    """The different elements in sorted order, with `axis` the different parts along it; on demand also where each is first, which of
    them each element is, and how often each is there. All NaN are one unless `equal_nan=False`.

    >>> weft.unique(weft.asarray([3, 1, 3]), return_counts=True)
    (array([1, 3]), array([1, 2]))
    """
    a = array_of(ar)
    # The parts of a row are its elements.
    if axis is not None and (a.ndim != 1 or axis_of(axis, 1) != 0):
        return _unique_parts(a, axis, return_index, return_inverse, return_counts)
    if _followed(a):
        return _unique_followed(a, bool(return_index), bool(return_inverse), bool(return_counts), bool(equal_nan))
    if on_a_device(a) and fits(a):
        return _distinct(a, bool(return_index), bool(return_inverse), bool(return_counts), bool(equal_nan))
    words = "".join(
        f", {name}=True"
        for name, wanted in (("return_index", return_index), ("return_inverse", return_inverse), ("return_counts", return_counts))
        if wanted
    )
    found = _compiled.call(f"np.unique(a{words}, equal_nan={bool(equal_nan)}{long_word(a.size)})", a=flat(a))
    if return_inverse:
        place = 1 + bool(return_index)
        found = (*found[:place], _reshape(found[place], a.shape), *found[place + 1 :])
    return found


def _unique_followed(a: ndarray, index: bool, inverse: bool, counts: bool, equal_nan: bool) -> Any:
    """`unique` of an array that has a gradient: each value is the first element that has it."""
    from .gathering import take

    _, first, *rest = _found(unique, a, True, inverse, counts, equal_nan=equal_nan)
    parts = [take(flat(a), first), *([first] if index else []), *rest]
    return parts[0] if len(parts) == 1 else tuple(parts)


@without_gradient(keeps_shape=False)
def _found(function: Any, *args: Any, **keywords: Any) -> Any:
    """What is found by looking at elements."""
    return function(*args, **keywords)


def _distinct(a: ndarray, index: bool, inverse: bool, counts: bool, equal_nan: bool) -> Any:
    """`unique` on another device than the CPU."""
    from weft.kernels.sets import distinct

    found = list(launched(distinct, flat(a), index, inverse, counts, equal_nan, keeps_shape=False))
    if inverse:
        found[1 + index] = _reshape(found[1 + index], a.shape)
    return found[0] if len(found) == 1 else tuple(found)


def _unique_parts(a: ndarray, axis: Any, *wanted: bool) -> Any:
    """The different parts along an axis, in the order of their elements."""
    from .gathering import take
    from .shapes import moveaxis
    from .sorting import lexsort

    axis = axis_of(axis, a.ndim)
    if _followed(a):
        _, first, *rest = _found(_unique_parts, a, axis, True, *wanted[1:])
        parts = [take(a, first, axis), *([first] if wanted[0] else []), *rest]
        return parts[0] if len(parts) == 1 else tuple(parts)
    rows = moveaxis(a, axis, 0)
    n = rows.shape[0]
    rows = _reshape(rows, (n, a.size // n if n else 0))
    if on_a_device(a) and fits(a) and rows.size:
        from weft.kernels.sets import different_parts

        first, *rest = launched(different_parts, rows, *map(bool, wanted), keeps_shape=False)
        parts = take(a, first, axis, mode="clip")
        return (parts, *rest) if rest else parts
    order = lexsort(rows.T[::-1]) if rows.shape[1] else positions(n, a)
    ordered = take(rows, order, 0)
    changes = _to_numpy(u("not_equal", ordered[1:], ordered[:-1])).any(axis=1) if n else np.zeros(0, bool)
    new = np.concatenate((np.ones(min(n, 1), bool), changes))
    starts = np.flatnonzero(new)
    host = _to_numpy(order)
    found: list[Any] = [take(a, _from_numpy(host[starts], a.device), axis)]
    inverse = np.empty(n, np.int64)
    inverse[host] = np.cumsum(new) - 1
    for want, value in zip(wanted, (host[starts], inverse, np.diff(np.append(starts, n)))):
        if want:
            found.append(_from_numpy(value, a.device))
    return found[0] if len(found) == 1 else tuple(found)


def unique_all(x: Any) -> UniqueAllResult:
    """The different elements, where each is first, which of them each element is, and how often each is there; every NaN is another one.

    >>> weft.unique_all(weft.asarray([3, 1, 3])).counts
    array([1, 2])
    """
    return UniqueAllResult(*unique(x, return_index=True, return_inverse=True, return_counts=True, equal_nan=False))


def unique_counts(x: Any) -> UniqueCountsResult:
    """The different elements, and how often each is there; every NaN is another one.

    >>> weft.unique_counts(weft.asarray([3, 1, 3])).values
    array([1, 3])
    """
    return UniqueCountsResult(*unique(x, return_counts=True, equal_nan=False))


def unique_inverse(x: Any) -> UniqueInverseResult:
    """The different elements, and which of them each element is; every NaN is another one.

    >>> weft.unique_inverse(weft.asarray([3, 1, 3])).inverse_indices
    array([1, 0, 1])
    """
    return UniqueInverseResult(*unique(x, return_inverse=True, equal_nan=False))


def unique_values(x: Any) -> ndarray:
    """The different elements, in sorted order; every NaN is another one.

    >>> weft.unique_values(weft.asarray([3, 1, 3]))
    array([1, 3])
    """
    return unique(x, equal_nan=False)


def _both(ar1: Any, ar2: Any) -> tuple[ndarray, ndarray]:
    """Two arrays as rows of one dtype."""
    a, b = (flat(each) for each in together(ar1, ar2))
    dtype = result_dtype(a, b)
    return (a if a.dtype == dtype else _cast(a, dtype)), (b if b.dtype == dtype else _cast(b, dtype))


def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """The different elements that both arrays have, in sorted order; on demand also where each is first in one and in the other.

    >>> weft.intersect1d([1, 3, 4, 3], [3, 1, 2, 1])
    array([1, 3])
    """
    a, b = _both(ar1, ar2)
    if _followed(a, b):
        from .gathering import take

        _, first, second = _found(intersect1d, a, b, assume_unique, True)
        found = take(a, first)
        return (found, first, second) if return_indices else found
    if on_a_device(a) and fits(a, b):
        from weft.kernels.sets import common

        found = launched(common, a, b, bool(assume_unique), bool(return_indices), keeps_shape=False)
        return found if return_indices else found[0]
    return _compiled.call(f"np.intersect1d(a, b, assume_unique={bool(assume_unique)}, return_indices={bool(return_indices)})", a=a, b=b)


def union1d(ar1: Any, ar2: Any) -> ndarray:
    """The different elements that one array has or the other, in sorted order.

    >>> weft.union1d([-1, 0, 1], [-2, 0, 2])
    array([-2, -1,  0,  1,  2])
    """
    return unique(concatenate(_both(ar1, ar2)))


def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> ndarray:
    """The different elements that only one of two arrays has, in sorted order.

    >>> weft.setxor1d([1, 2, 3, 2, 4], [2, 3, 5, 7, 5])
    array([1, 4, 5, 7])
    """
    a, b = _both(ar1, ar2)
    if _followed(a, b):
        values, counts = unique(concatenate((a, b) if assume_unique else (unique(a), unique(b))), return_counts=True)
        return values[u("equal", counts, 1)]
    if on_a_device(a) and fits(a, b):
        from weft.kernels.sets import only_in_one

        return launched(only_in_one, a, b, bool(assume_unique), keeps_shape=False)
    return _compiled.call(f"np.setxor1d(a, b, assume_unique={bool(assume_unique)})", a=a, b=b)


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> ndarray:
    """The different elements of one array that another has not: in sorted order, or with `assume_unique=True` in their own.

    >>> weft.setdiff1d([1, 2, 3, 2, 4], [3, 4, 5])
    array([1, 2])
    """
    a, b = (flat(each) for each in together(ar1, ar2))
    if _followed(a, b) or (on_a_device(a) and fits(a, b)):
        a = a if assume_unique else unique(a)
        return a[isin(a, b, invert=True)]
    return _compiled.call(f"np.setdiff1d(a, b, assume_unique={bool(assume_unique)})", a=a, b=b)


def _in_range(tests: ndarray) -> ndarray:
    """The same integers; RuntimeError where NumPy has no table for them: their differences leave their type. What they lie between is
    read."""
    if tests.dtype.kind == "b":
        return tests
    low, high = (int(end) for end in _to_numpy(concatenate([_reshape(_fold(name, tests, (0,)), (1,)) for name in ("minimum", "maximum")])))
    if high - low > np.iinfo(tests.dtype).max:
        raise RuntimeError(
            "You have specified kind='table', but the range of values in `ar2` or `ar1` exceed the maximum integer of the datatype. "
            "Please set `kind` to None or 'sort'."
        )
    return tests


@without_gradient
def isin(element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: Any = None) -> ndarray:
    """Whether each element is one of others, or with `invert=True` is none of them.

    >>> weft.isin(weft.asarray([0, 2, 5]), [2, 0])
    array([ True,  True, False])
    """
    if kind not in (None, "sort", "table"):
        raise ValueError(f"Invalid kind: '{kind}'. Please use None, 'sort' or 'table'.")
    element, tests = together(element, test_elements)
    if kind == "table" and not all(x.dtype.kind in "biu" for x in (element, tests)):
        raise ValueError("The 'table' method is only supported for boolean or integer arrays. Please select 'sort' or None for kind.")
    if tests.size == 0:
        return filled(element.shape, bool(invert), np.dtype(bool), element)
    if kind == "table":
        tests = launched(_in_range, flat(tests))
    if on_a_device(element) and fits(element, tests):
        from weft.kernels.sets import is_among

        return _reshape(launched(is_among, flat(element), flat(tests), bool(invert)), element.shape)
    found = _compiled.call(f"np.isin(a, b, invert={bool(invert)}, kind={kind!r})", a=flat(element), b=flat(tests))
    return _reshape(found, element.shape)

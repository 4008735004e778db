"""Set operations on arrays: their distinct elements, unions, intersections, membership."""

import numpy as np

from weft import prange
from weft.language import Static, refuse

from .buckets import _LARGE, _in_buckets, _sorted_bucket
from .digits import _from_key
from .joining import concatenate
from .searching import _grow, searchsorted
from .sorting import argsort, sort


def unique(
    ar,
    return_index: Static = False,
    return_inverse: Static = False,
    return_counts: Static = False,
    axis: Static = None,
    *,
    equal_nan: Static = True,
    sorted: Static = True,
    _long: Static = False,
):
    """The different elements in sorted order; on demand also where each is first, which of them each element is, and how often each is
    there. All NaN are one unless `equal_nan=False`.

    >>> np.unique(np.array([3, 1, 3]), return_counts=True)
    (array([1, 3]), array([1, 2]))
    """
    ar = np.asarray(ar)
    if axis is not None:
        refuse("unique along an axis cannot be compiled")
    row = ar.ravel()
    if not return_index and not return_inverse:
        if _long and row.dtype.kind in ("i", "u", "f") and row.dtype.itemsize > 2 and len(row) >= _LARGE:
            different, starts = _distinct_of_long(row, return_counts, equal_nan)
        else:
            different, starts = _distinct(sort(row), return_counts, equal_nan)
        if return_counts:
            return different, np.asarray(starts[1:] - starts[:-1])
        return different
    order = argsort(row)
    ordered = row[order]
    starts = _starts(ordered, equal_nan)
    found = (ordered[starts[:-1]],)
    if return_index:
        found = found + (order[starts[:-1]],)
    if return_inverse:
        inverse = np.empty(len(row), np.int64)
        for number in range(len(starts) - 1):
            for i in range(starts[number], starts[number + 1]):
                inverse[order[i]] = number
        found = found + (inverse.reshape(ar.shape),)
    if return_counts:
        found = found + (np.asarray(starts[1:] - starts[:-1]),)
    return found


def _distinct(ordered, counted: Static, equal_nan: Static):
    """The different elements of a sorted row; where each starts, and the row's length, if they are to be counted."""
    different = np.empty(_count_new(ordered, ordered.dtype, equal_nan), ordered.dtype)
    starts = np.empty(len(different) + 1 if counted else 0, np.int64)
    _pick_new(ordered, different, starts, 0, len(different), counted, equal_nan)
    if counted:
        starts[len(different)] = len(ordered)
    return different, starts


def _distinct_of_long(row, counted: Static, equal_nan: Static):
    """The same of a long row that is not sorted, bucket by bucket: none has elements that another has."""
    if _grow(row, 0, len(row)):
        return _distinct(row, counted, equal_nan)
    keys, bounds = _in_buckets(row)
    buckets = len(bounds) - 1
    numbers = np.empty(buckets, np.int64)
    for bucket in prange(buckets):
        part = _sorted_bucket(keys, bounds, bucket, row.dtype.kind == "f")
        numbers[bucket] = _count_new(part, row.dtype, equal_nan)
    ends = np.cumsum(numbers)
    different = np.empty(ends[-1], row.dtype)
    starts = np.empty(len(different) + 1 if counted else 0, np.int64)
    for bucket in prange(buckets):
        # Memory of its own makes a turn one of threads: as lanes of one vector buckets would wait for the longest.
        end = np.empty(1, np.int64)
        end[0] = ends[bucket]
        part = keys[bounds[bucket] : bounds[bucket + 1]]
        _pick_new(part, different, starts, bounds[bucket], end[0], counted, equal_nan)
    if counted:
        starts[len(different)] = len(row)
    return different, starts


def _count_new(ordered, dtype: Static, equal_nan: Static):
    """How many different elements a sorted row has, of numbers or of their keys."""
    different = 1 if len(ordered) > 0 else 0
    for i in range(1, len(ordered)):
        different += 1 if _differ(_number(ordered[i - 1], dtype), _number(ordered[i], dtype), equal_nan) else 0
    return different


def _pick_new(ordered, different, starts, start, end, counted: Static, equal_nan: Static):
    """Writes the different elements of a sorted row, of numbers or of their keys, before a place of another one; and where they start,
    the row itself at `start`. From the back: what is written last in each place is the first of equal elements."""
    at = end
    after = True
    for i in range(len(ordered) - 1, -1, -1):
        at -= 1 if after else 0
        x = _number(ordered[i], different.dtype)
        different[at] = x
        if counted:
            starts[at] = start + i
        after = i > 0 and _differ(_number(ordered[max(i - 1, 0)], different.dtype), x, equal_nan)


def _number(x, dtype: Static):
    """A number, or the number with a key."""
    return x if x.dtype == dtype else _from_key(x, dtype)


def _starts(ordered, equal_nan: Static):
    """Where each of the different elements of a sorted row starts, and the row's length."""
    return _distinct(ordered, True, equal_nan)[1]


def _differ(x, y, equal_nan: Static):
    """Are neighbours in sorted order different elements?"""
    if equal_nan and (y.dtype.kind == "f" or y.dtype.kind == "c"):
        return (x != y) & ((x == x) | (y == y))
    return x != y


def intersect1d(ar1, ar2, assume_unique: Static = False, return_indices: Static = False):
    """The different elements that both arrays have, in sorted order; on demand also where each is first in one and in the other.

    >>> np.intersect1d(np.array([1, 3, 4, 3]), np.array([3, 1, 2, 1]))
    array([1, 3])
    """
    a = np.asarray(ar1).ravel()
    b = np.asarray(ar2).ravel()
    if assume_unique:
        joined = concatenate((a, b))
        if return_indices:
            order = argsort(joined)
            ordered = joined[order]
            pairs = _pairs(ordered)
            return ordered[pairs], order[pairs], np.asarray(order[pairs + 1] - len(a))
        ordered = sort(joined)
        return ordered[_pairs(ordered)]
    if return_indices:
        first, index1 = unique(a, return_index=True)
        second, index2 = unique(b, return_index=True)
        joined = concatenate((first, second))
        order = argsort(joined)
        ordered = joined[order]
        pairs = _pairs(ordered)
        return ordered[pairs], index1[order[pairs]], index2[np.asarray(order[pairs + 1] - len(first))]
    ordered = sort(concatenate((unique(a), unique(b))))
    return ordered[_pairs(ordered)]


def _pairs(ordered):
    """Where in a sorted row an element equals the next one."""
    if len(ordered) < 2:
        return np.empty(0, np.int64)
    return np.where(ordered[1:] == ordered[:-1])[0]


def union1d(ar1, ar2):
    """The different elements that one array has or the other, in sorted order.

    >>> np.union1d(np.array([-1, 0, 1]), np.array([-2, 0, 2]))
    array([-2, -1,  0,  1,  2])
    """
    return unique(concatenate((np.asarray(ar1), np.asarray(ar2)), None))


def setxor1d(ar1, ar2, assume_unique: Static = False):
    """The different elements that only one of two arrays has, in sorted order.

    >>> np.setxor1d(np.array([1, 2, 3, 2, 4]), np.array([2, 3, 5, 7, 5]))
    array([1, 4, 5, 7])
    """
    a = np.asarray(ar1).ravel()
    b = np.asarray(ar2).ravel()
    if assume_unique:
        ordered = sort(concatenate((a, b)))
    else:
        ordered = sort(concatenate((unique(a), unique(b))))
    n = len(ordered)
    alone = np.empty(n, np.bool_)
    for i in range(n):
        alone[i] = (i == 0 or ordered[i - 1] != ordered[i]) and (i == n - 1 or ordered[i] != ordered[i + 1])
    return ordered[alone]


def isin(element, test_elements, assume_unique: Static = False, invert: Static = False, *, kind: Static = None):
    """Is each element one of others? With `invert=True`: is it none of them?

    >>> np.isin(np.array([0, 2, 5]), np.array([2, 0]))
    array([ True,  True, False])
    """
    if kind not in (None, "sort", "table"):
        refuse(f"Invalid kind: '{kind}'. Please use None, 'sort' or 'table'.")
    element = np.asarray(element)
    tests = np.asarray(test_elements).ravel()
    if kind == "table" and not (element.dtype.kind in ("b", "i", "u") and tests.dtype.kind in ("b", "i", "u")):
        refuse("The 'table' method is only supported for boolean or integer arrays. Please select 'sort' or None for kind.")
    row = element.ravel()
    found = np.zeros(len(row), np.bool_)
    if len(tests) > 0 and not _found_in_table(found, row, tests, kind):
        ordered = sort(tests)
        places = searchsorted(ordered, row)
        for i in range(len(row)):
            at = places[i]
            found[i] = at < len(ordered) and ordered[min(at, len(ordered) - 1)] == row[i]
    if invert:
        for i in range(len(row)):
            found[i] = not found[i]
    return found.reshape(element.shape)


def _found_in_table(found, row, tests, kind: Static):
    """Finds integers that lie close together in a table of all between the least and the greatest; whether they do."""
    if row.dtype != tests.dtype or row.dtype.kind not in ("i", "u") or kind == "sort":
        return False
    least, most = np.min(tests), np.max(tests)
    # Differences are right in 64 bits that wrap, whatever the type.
    if np.uint64(most) - np.uint64(least) > np.uint64(6 * (len(row) + len(tests))):
        return False
    table = np.zeros(np.int64(np.uint64(most) - np.uint64(least)) + 1, np.bool_)
    for i in range(len(tests)):
        table[np.int64(np.uint64(tests[i]) - np.uint64(least))] = True
    for i in range(len(row)):
        if least <= row[i] and row[i] <= most:
            found[i] = table[np.int64(np.uint64(row[i]) - np.uint64(least))]
    return True


def setdiff1d(ar1, ar2, assume_unique: Static = False):
    """The different elements of one array that another has not: in sorted order, or with `assume_unique=True` in their own.

    >>> np.setdiff1d(np.array([1, 2, 3, 2, 4]), np.array([3, 4, 5]))
    array([1, 2])
    """
    a = np.asarray(ar1)
    if assume_unique:
        row = a.ravel()
        return row[isin(row, ar2, invert=True)]
    row = unique(a)
    return row[isin(row, ar2, invert=True)]

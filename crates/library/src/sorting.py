"""Sorting: sorted arrays, the indices that sort arrays, and partitions, which put few elements where sorting would."""

import numpy as np
from weft import prange

from weft.language import Static, axis_of, refuse, unrolled

from .buckets import _LARGE, _sort_long
from .digits import _argsort_digits, _from_key, _key, _ranks, _sort_digits, _sort_keys
from .searching import _grow
from .shapes import moveaxis

# Rows up to this length are sorted by insertion.
_SHORT = 12
# Rows from this length on are sorted digit by digit.
_LONG = 256
# In rows from this length on the numbers of 16 bits are counted.
_COUNTED = 32_768
# Where one element of so many is looked for, the others are not sorted.
_MANY = 2048


def sort(a, axis: Static = -1, kind: Static = None, order: Static = None, *, stable: Static = None, _long: Static = False):
    """A sorted copy: along an axis, or of all elements as one row. NaN come last.

    Who knows that rows have at least `_LARGE` elements says so with `_long=True`: what sorts these fastest is compiled then, too, which
    takes as long again.

    >>> np.sort(np.array([3, 1, 2]))
    array([1, 2, 3])
    """
    a = np.asarray(a)
    if axis is None:
        return sort(a.ravel(), 0, kind, order, stable=stable, _long=_long)
    axis = axis_of(axis, a.ndim)
    _check_kind(kind, order, stable)
    if a.ndim == 1:
        result = np.empty(len(a), a.dtype)
        if _long:
            _sort_into(a, result)
        else:
            result[:] = a
            _sort_row(result)
        return result
    result = a.copy()
    _sort_rows(moveaxis(result, axis, -1), _long)
    return result


def _sort_in_place(a, axis: Static = -1, kind: Static = None, order: Static = None, *, stable: Static = None):
    """The method `a.sort()`."""
    _check_kind(kind, order, stable)
    _sort_rows(moveaxis(a, axis_of(axis, a.ndim), -1), False)


def _check_kind(kind: Static, order: Static, stable: Static):
    if stable is not None and not isinstance(stable, (bool, int)):
        refuse("stable is True or False")
    if order is not None:
        refuse("only structured arrays are sorted with 'order'")
    if kind is not None and stable is not None:
        refuse("sorting takes `kind` or `stable`, not both")
    if kind is not None and kind not in ("quicksort", "heapsort", "mergesort", "stable"):
        refuse(f"there is no kind of sorting '{kind}'")


def _sort_rows(rows, long: Static):
    if rows.ndim == 1:
        _sort_in_row(rows, long)
    elif rows.ndim == 2:
        for i in prange(len(rows)):
            _sort_in_row(rows[i], long)
    else:
        for at in np.ndindex(rows.shape[:-1]):
            _sort_in_row(rows[at], long)


def _sort_in_row(row, long: Static):
    """Sorts a row in place. Equal elements keep their order."""
    if long and row.dtype.kind in ("i", "u", "f") and row.dtype.itemsize > 2 and len(row) >= _LARGE:
        if not _grow(row, 0, len(row)):
            _sort_long(row, row)
    else:
        _sort_row(row)


def _sort_into(row, result):
    """Sorts a row into another one."""
    if row.dtype.kind in ("i", "u", "f") and row.dtype.itemsize > 2 and len(row) >= _LARGE and not _grow(row, 0, len(row)):
        _sort_long(row, result)
    else:
        result[:] = row
        _sort_row(result)


def _sort_row(row):
    """Sorts a row in place, without buckets."""
    n = len(row)
    if n <= _SHORT:
        _insert_sort(row, 0, n)
    elif row.dtype.kind == "b" or row.dtype.itemsize == 1:
        _count_sort(row)
    elif row.dtype.kind not in ("i", "u", "f"):
        _merge_sort(row)
    elif n < _LONG:
        few = np.empty(n, _key(row[0]).dtype)
        for i in range(n):
            # Both zeros have one key.
            few[i] = _key(row[i] + row.dtype.type(0))
        ranks = _ranks(few)
        values = row.copy()
        for i in range(n):
            row[ranks[i]] = values[i]
    elif _grow(row, 0, n):
        return
    elif row.dtype.kind != "f" and row.dtype.itemsize == 2 and n >= _COUNTED:
        _count_sort(row)
    else:
        keys = np.empty((2, n), _key(row[0]).dtype)
        first = keys[0]
        for i in range(n):
            first[i] = _key(row[i])
        if row.dtype.kind == "f":
            _sort_keys(first, keys[1])
        else:
            _sort_digits(first, keys[1])
        for i in range(n):
            row[i] = _from_key(first[i], row.dtype)


def _precedes(x, y):
    """Does x come before y in sorted order? NaN come last; complex numbers are ordered by their real parts first."""
    if x.dtype.kind == "c":
        xr, xi, yr, yi = x.real, x.imag, y.real, y.imag
        if xr < yr:
            return xi == xi or yi != yi
        if xr > yr:
            return yi != yi and xi == xi
        if xr == yr or (xr != xr and yr != yr):
            return xi < yi or (yi != yi and xi == xi)
        return yr != yr
    if x.dtype.kind == "f":
        return (x < y) | ((y != y) & (x == x))
    return x < y


def _insert_sort(row, start, stop):
    for i in range(start + 1, stop):
        x = row[i]
        j = i
        while j > start and _precedes(x, row[j - 1]):
            row[j] = row[j - 1]
            j -= 1
        row[j] = x


def _merge_sort(row):
    """Sorts runs by insertion, then merges them two by two. Equal elements keep their order."""
    n = len(row)
    for start in range(0, n, _SHORT):
        _insert_sort(row, start, min(start + _SHORT, n))
    if n > _SHORT:
        spare = np.empty(n, row.dtype)
        width = _SHORT
        while width < n:
            for start in range(0, n, 2 * width):
                middle = min(start + width, n)
                end = min(middle + width, n)
                if middle < end and _precedes(row[middle], row[middle - 1]):
                    _merge(row, start, middle, end, spare)
            width *= 2


def _merge(row, start, middle, end, spare):
    """Makes one run of two: the first of them goes to the spare row, so that its place is free."""
    n = middle - start
    for i in range(n):
        spare[i] = row[start + i]
    left = 0
    right = middle
    at = start
    while left < n and right < end:
        x = spare[left]
        y = row[right]
        later = _precedes(y, x)
        row[at] = y if later else x
        right += 1 if later else 0
        left += 0 if later else 1
        at += 1
    while left < n:
        row[at] = spare[left]
        left += 1
        at += 1


def _count_sort(row):
    """Counts how often each number of 8 or 16 bits is there."""
    numbers = 2 ** (8 * row.dtype.itemsize)
    counts = np.zeros(numbers, np.int64)
    low = numbers // 2 if row.dtype.kind == "i" else 0
    for i in range(len(row)):
        counts[np.int64(row[i]) + low] += 1
    at = 0
    for value in range(numbers):
        count = counts[value]
        row[at : at + count] = row.dtype.type(value - low)
        at += count


def argsort(a, axis: Static = -1, kind: Static = None, order: Static = None, *, stable: Static = None):
    """The indices that sort an array: along an axis, or of all elements as one row. Equal elements keep their order.

    >>> np.argsort(np.array([3, 1, 2]))
    array([1, 2, 0])
    """
    a = np.asarray(a)
    if axis is None:
        return argsort(a.ravel(), 0, kind, order, stable=stable)
    _check_kind(kind, order, stable)
    if a.ndim == 0:
        return argsort(a.reshape(1), axis)
    axis = axis_of(axis, a.ndim)
    result = np.empty(a.shape, np.int64)
    rows = moveaxis(a, axis, -1)
    indices = moveaxis(result, axis, -1)
    if rows.ndim == 1:
        _argsort_row(rows, indices)
    elif rows.ndim == 2:
        for i in prange(len(rows)):
            _argsort_row(rows[i], indices[i])
    else:
        for at in np.ndindex(rows.shape[:-1]):
            _argsort_row(rows[at], indices[at])
    return result


def _argsort_row(row, indices):
    """Writes down the indices that sort a row."""
    n = len(row)
    if row.dtype.kind not in ("b", "i", "u", "f") or n <= _SHORT:
        for i in range(n):
            indices[i] = i
        _merge_argsort(row, indices)
    elif n < _LONG:
        few = np.empty(n, _key(row[0]).dtype)
        for i in range(n):
            # Both zeros have one key.
            few[i] = _key(row[i] + row.dtype.type(0))
        ranks = _ranks(few)
        for i in range(n):
            indices[ranks[i]] = i
    else:
        keys = np.empty((2, n), _key(row[0]).dtype)
        both = np.empty((2, n), np.int64)
        first = keys[0]
        order = both[0]
        for i in range(n):
            # Both zeros have one key.
            first[i] = _key(row[i] + row.dtype.type(0))
            order[i] = i
        indices[:] = both[_argsort_digits(keys, both)]


def _insert_argsort(row, indices, start, stop):
    for i in range(start + 1, stop):
        index = indices[i]
        x = row[index]
        j = i
        while j > start and _precedes(x, row[indices[j - 1]]):
            indices[j] = indices[j - 1]
            j -= 1
        indices[j] = index


def _merge_argsort(row, indices):
    """As _merge_sort, with the indices in place of the elements."""
    n = len(row)
    for start in range(0, n, _SHORT):
        _insert_argsort(row, indices, start, min(start + _SHORT, n))
    if n > _SHORT:
        spare = np.empty(n, np.int64)
        width = _SHORT
        while width < n:
            for start in range(0, n, 2 * width):
                middle = min(start + width, n)
                end = min(middle + width, n)
                if middle < end and _precedes(row[indices[middle]], row[indices[middle - 1]]):
                    _argmerge(row, indices, start, middle, end, spare)
            width *= 2


def _argmerge(row, indices, start, middle, end, spare):
    n = middle - start
    for i in range(n):
        spare[i] = indices[start + i]
    left = 0
    right = middle
    at = start
    while left < n and right < end:
        i = spare[left]
        j = indices[right]
        later = _precedes(row[j], row[i])
        indices[at] = j if later else i
        right += 1 if later else 0
        left += 0 if later else 1
        at += 1
    while left < n:
        indices[at] = spare[left]
        left += 1
        at += 1


def partition(a, kth, axis: Static = -1, kind: Static = "introselect", order: Static = None):
    """A copy in which the element number `kth`, or each of a tuple or array of numbers, is where sorting would put it, smaller ones
    are before it and larger ones behind.

    >>> np.partition(np.array([3, 1, 2]), 1)
    array([1, 2, 3])
    """
    a = np.asarray(a)
    if axis is None:
        return partition(a.ravel(), kth, 0, kind, order)
    axis = axis_of(axis, a.ndim)
    _check_selection(kind, order)
    _check_numbers(kth, a.shape[axis])
    result = np.empty(a.shape, a.dtype)
    _partition_rows(moveaxis(a, axis, -1), kth, moveaxis(result, axis, -1))
    return result


def _partition_in_place(a, kth, axis: Static = -1, kind: Static = "introselect", order: Static = None):
    """The method `a.partition(kth)`."""
    _check_selection(kind, order)
    axis = axis_of(axis, a.ndim)
    _check_numbers(kth, a.shape[axis])
    _partition_rows(moveaxis(a.copy(), axis, -1), kth, moveaxis(a, axis, -1))


def _partition_rows(rows, kth, results):
    if isinstance(kth, (tuple, np.ndarray)):
        results[...] = rows
        _sort_rows(results, False)
    elif rows.ndim == 1:
        _partition_row(rows, kth, results)
    elif rows.ndim == 2:
        for i in prange(len(rows)):
            _partition_row(rows[i], kth, results[i])
    else:
        for at in np.ndindex(rows.shape[:-1]):
            _partition_row(rows[at], kth, results[at])


def _check_selection(kind: Static, order: Static):
    if order is not None:
        refuse("only structured arrays are sorted with 'order'")
    if kind != "introselect":
        refuse(f"there is no kind of partition '{kind}'")


def _check_numbers(kth, n):
    if isinstance(kth, tuple):
        for k in unrolled(kth):
            _check_number(k, n)
    elif isinstance(kth, np.ndarray):
        if kth.ndim > 1:
            refuse("kth is a number or a row of numbers")
        for k in kth.flat:
            _check_number(k, n)
    else:
        _check_number(kth, n)


def _check_number(k, n):
    if k.dtype.kind != "i" and k.dtype.kind != "u":
        refuse("kth is an integer")
    if n > 0 and (k < -n or k >= n):
        raise ValueError("kth is out of bounds")


def _partition_row(row, kth, result):
    n = len(row)
    if n == 0:
        return
    if row.dtype.kind not in ("b", "i", "u", "f") or n < _MANY:
        result[:] = row
        _sort_row(result)
        return
    pivot, _, _ = _select(row, kth + n if kth < 0 else kth)
    low = 0
    high = n - 1
    for i in range(n):
        # What stands between the ends is written anew.
        x = row[i]
        key = _key(x)
        result[low] = x
        low += 1 if key < pivot else 0
        result[high] = x
        high -= 1 if key > pivot else 0
    value = _from_key(pivot, row.dtype)
    for i in range(low, high + 1):
        result[i] = value


def argpartition(a, kth, axis: Static = -1, kind: Static = "introselect", order: Static = None):
    """The indices that make a partition of an array.

    >>> np.argpartition(np.array([3, 1, 2]), 1)
    array([1, 2, 0])
    """
    a = np.asarray(a)
    if axis is None:
        return argpartition(a.ravel(), kth, 0, kind, order)
    _check_selection(kind, order)
    if a.ndim == 0:
        return argpartition(a.reshape(1), kth, axis)
    axis = axis_of(axis, a.ndim)
    rows = moveaxis(a, axis, -1)
    _check_numbers(kth, rows.shape[-1])
    result = np.empty(a.shape, np.int64)
    indices = moveaxis(result, axis, -1)
    if isinstance(kth, (tuple, np.ndarray)):
        for at in np.ndindex(rows.shape[:-1]):
            _argsort_row(rows[at], indices[at])
    else:
        for at in np.ndindex(rows.shape[:-1]):
            _argpartition_row(rows[at], indices[at], kth)
    return result


def _argpartition_row(row, indices, kth):
    n = len(row)
    if n == 0:
        return
    k = kth + n if kth < 0 else kth
    if row.dtype.kind not in ("b", "i", "u", "f") or n < _MANY:
        _argsort_row(row, indices)
        return
    pivot, smaller, equal = _select(row, k)
    places = np.empty(3, np.int64)
    places[0] = 0
    places[1] = smaller
    places[2] = smaller + equal
    for i in range(n):
        key = _key(row[i])
        part = (1 if key >= pivot else 0) + (1 if key > pivot else 0)
        at = places[part]
        indices[at] = i
        places[part] = at + 1


def _select(row, k):
    """The key of the element that is number k in sorted order, how many keys are smaller, and how many are equal.

    Keys are told apart by 16 bits at a time, from the top; the elements that have the same ones go to the next turn, until few are left.
    """
    n = len(row)
    keys = np.empty(n, _key(row[0]).dtype)
    top = 2**15 if keys.dtype.kind == "i" else 0
    shift = max(8 * keys.dtype.itemsize - 16, 0)
    counts = np.zeros(2**16, np.int64)
    for i in range(n):
        key = _key(row[i])
        keys[i] = key
        counts[_part(key, shift) ^ top] += 1
    smaller = 0
    while True:
        part = 0
        while smaller + counts[part] <= k:
            smaller += counts[part]
            part += 1
        part = part ^ top
        top = 0
        left = 0
        for i in range(n):
            key = keys[i]
            keys[left] = key
            left += 1 if _part(key, shift) == part else 0
        n = left
        if shift == 0 or n < _LONG:
            break
        shift -= 16
        for i in range(2**16):
            counts[i] = 0
        for i in range(n):
            counts[_part(keys[i], shift)] += 1
    if shift == 0:
        return keys[0], smaller, n
    few = keys[:n]
    ranks = _ranks(few)
    pivot = few[0]
    for i in range(n):
        if ranks[i] == k - smaller:
            pivot = few[i]
    equal = 0
    for i in range(n):
        smaller += 1 if few[i] < pivot else 0
        equal += 1 if few[i] == pivot else 0
    return pivot, smaller, equal


def _part(key, shift):
    return np.int64(key >> shift) & 0xFFFF

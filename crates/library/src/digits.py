"""Sorting by digits: integers in whose order numbers are sorted, and how these are sorted digit by digit."""

import numpy as np
from weft.intrinsics import bits, from_bits

from weft.language import Static, highest, unrolled

# Digits have so many bits.
_DIGIT = 8


def _key(x):
    """An integer in whose order real numbers are sorted."""
    if x.dtype.kind == "f":
        if x.dtype.itemsize == 8:
            i = bits(x)
            return np.int64(highest(np.int64)) if x != x else i ^ ((i >> 63) & highest(np.int64))
        j = bits(np.float32(x))
        return np.int32(highest(np.int32)) if x != x else j ^ ((j >> 31) & highest(np.int32))
    if x.dtype.kind == "b":
        return np.uint8(x)
    return x


def _from_key(key, dtype: Static):
    """The number with a key."""
    if dtype.kind == "f":
        if dtype.itemsize == 8:
            return from_bits(key ^ ((key >> 63) & highest(np.int64)))
        return dtype.type(from_bits(key ^ ((key >> 31) & highest(np.int32))))
    return dtype.type(key)


def _ranks(keys):
    """The place of each of a few integers in sorted order: how many others come before it. All are compared with all, many at once."""
    n = len(keys)
    ranks = np.zeros(n, keys.dtype if keys.dtype.itemsize > 1 else np.uint16)
    for i in range(n):
        key = keys[i]
        others = keys[i + 1 :]
        places = ranks[i + 1 :]
        before = ranks.dtype.type(0)
        for j in range(n - i - 1):
            smaller = others[j] < key
            before += ranks.dtype.type(smaller)
            places[j] += ranks.dtype.type(not smaller)
        ranks[i] += before
    return ranks


def _sort_keys(keys, spare):
    """Sorts the keys of floats; the spare row is as long. The two zeros, which are equal, keep their order."""
    signs = np.empty(len(keys), np.bool_)
    zeros, mixed = _note_zeros(keys, signs)
    _sort_digits(keys, spare)
    if mixed:
        _restore_zeros(keys, signs, zeros)


def _note_zeros(keys, signs):
    """Writes down which zeros are negative, in their order; how many zeros there are, and whether of both signs."""
    zeros = 0
    negative = 0
    for i in range(len(keys)):
        key = keys[i]
        signs[zeros] = key == -1
        zeros += 1 if (key == 0) | (key == -1) else 0
        negative += 1 if key == -1 else 0
    return zeros, 0 < negative < zeros


def _restore_zeros(keys, signs, zeros):
    """Writes the zeros of sorted keys anew, in the order they had."""
    first = 0
    last = len(keys)
    while first < last:
        middle = (first + last) // 2
        if keys[middle] < -1:
            first = middle + 1
        else:
            last = middle
    for i in range(zeros):
        keys[first + i] = -1 if signs[i] else 0


def _sort_digits(keys, spare):
    """Sorts integers digit by digit, from the lowest: each time the order so far is kept. A digit that all have in common is passed over."""
    counts = _digit_counts(keys)
    here = True
    for place in range(len(counts)):
        starts = counts[place]
        if starts[_digit(keys[0], place)] != len(keys):
            _starts(starts, _first_digit(keys, place))
            if here:
                _move(keys, spare, place, starts)
            else:
                _move(spare, keys, place, starts)
            here = not here
    if not here:
        _copy(spare, keys)


def _copy(source, target):
    """A loop: copies that are no loops are compiled for several threads, which takes time here."""
    for i in range(len(source)):
        target[i] = source[i]


def _move(source, target, place, starts):
    """Puts each integer where those with its digit are next."""
    for i in range(len(source)):
        x = source[i]
        digit = _digit(x, place)
        to = starts[digit]
        target[to] = x
        starts[digit] = to + np.uint64(1)


def _digit(x, place):
    """A digit of an integer. Unsigned, as counts are: such subscripts are known not to count from the end."""
    return (np.uint64(x) >> (np.uint64(_DIGIT * place) & np.uint64(63))) & np.uint64(2**_DIGIT - 1)


def _digit_counts(keys):
    """How often each digit is there in each place."""
    counts = np.zeros((8 * keys.dtype.itemsize // _DIGIT, 2**_DIGIT), np.uint64)
    rows = ()
    for place in unrolled(range(8 * keys.dtype.itemsize // _DIGIT)):
        rows = rows + (counts[place],)
    for i in range(len(keys)):
        x = keys[i]
        for place in unrolled(range(8 * keys.dtype.itemsize // _DIGIT)):
            rows[place][_digit(x, place)] += np.uint64(1)
    return counts


def _starts(counts, first):
    """Where the elements with each digit start, in place of how many there are. With the digit `first` the order of digits begins."""
    total = np.uint64(0)
    for i in range(len(counts)):
        digit = np.uint64(i ^ first)
        count = counts[digit]
        counts[digit] = total
        total += count


def _first_digit(keys, place):
    """With which digit the order begins: in the highest place of signed integers with that of the smallest."""
    if keys.dtype.kind == "i":
        return 2 ** (_DIGIT - 1) if (place + 1) * _DIGIT == 8 * keys.dtype.itemsize else 0
    return 0


def _argsort_digits(keys, indices):
    """Sorts the first of two rows of integers as `_sort_digits` does, the first of two rows of indices going with them. Which row of
    indices it is then."""
    counts = _digit_counts(keys[0])
    at = 0
    for place in range(len(counts)):
        starts = counts[place]
        source = keys[at]
        if starts[_digit(source[0], place)] != len(source):
            _starts(starts, _first_digit(keys, place))
            sources = indices[at]
            target = keys[1 - at]
            targets = indices[1 - at]
            for i in range(len(source)):
                x = source[i]
                digit = _digit(x, place)
                to = starts[digit]
                target[to] = x
                targets[to] = sources[i]
                starts[digit] = to + np.uint64(1)
            at = 1 - at
    return at

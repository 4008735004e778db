"""Sorting long rows: first into buckets, each of which holds the keys between two bounds, then every bucket by itself, in the cache.

Blocks of the row and then buckets are turns of a `prange`, each with its own counts: where threads share them, the result is the same.
"""

import numpy as np
from weft import prange

from weft.language import Static, highest, lowest

from .digits import _copy, _from_key, _key, _sort_digits, _sort_keys

# Rows from this length on are sorted in buckets,
_LARGE = 131_072
# of about so many elements,
_PER_BUCKET = 8192
# and this many at the most: numbers of 8 bits.
_BUCKETS = 256
# Elements that a block has at least, and how many blocks there are at the most.
_PER_BLOCK = 32_768
_BLOCKS = 64
# Elements by which the bounds of buckets are chosen.
_SAMPLE = 4096
# Of so many elements of the sample one is less than all cells, and one is more.
_TRIMMED = 64
# The bits of digits within a bucket, of which there are two.
_DIGIT = 10
# Buckets up to this length are sorted by insertion.
_FEW = 32
# By so many places elements are moved at the most, on the average, where they are put into order at last.
_STEPS = 4


def _sort_long(row, result):
    """Sorts a long row into another one, or in place. Equal elements keep their order."""
    keys, starts = _in_buckets(row)
    for bucket in prange(len(starts) - 1):
        part = _sorted_bucket(keys, starts, bucket, row.dtype.kind == "f")
        target = result[starts[bucket] : starts[bucket + 1]]
        for i in range(len(part)):
            target[i] = _from_key(part[i], row.dtype)


def _in_buckets(row):
    """The keys of a row, bucket after bucket, and where the buckets start. Within a bucket elements have the order of the row."""
    floats = row.dtype.kind == "f"
    cells, low, high, shift = _choose_buckets(row, floats)
    blocks = min(_BLOCKS, len(row) // _PER_BLOCK)
    places = np.empty((blocks, _BUCKETS), np.uint64)
    for block in prange(blocks):
        counts = np.zeros(_BUCKETS, np.uint64)
        for x in row[_bound(row, blocks, block) : _bound(row, blocks, block + 1)]:
            counts[cells[_cell(_key(x), low, high, shift, floats)]] += np.uint64(1)
        _copy(counts, places[block])
    starts = _add_places(places)
    keys = np.empty(len(row), _key(row[0]).dtype)
    for block in prange(blocks):
        here = np.empty(_BUCKETS, np.uint64)
        _copy(places[block], here)
        for x in row[_bound(row, blocks, block) : _bound(row, blocks, block + 1)]:
            key = _key(x)
            bucket = cells[_cell(key, low, high, shift, floats)]
            to = here[bucket]
            keys[to] = key
            here[bucket] = to + np.uint64(1)
    return keys, starts


def _bound(row, blocks, block):
    """Where a block of a row begins."""
    return len(row) * block // blocks


def _choose_buckets(row, floats: Static):
    """Into which bucket the keys of each cell go. Cells are as wide as each other, and the first and the last one are open; where they
    begin and end, and by how many bits they are narrower than keys are.

    All elements of a cell go into one bucket, and as many elements of the sample into each bucket as can be.
    """
    sample = np.empty(_SAMPLE, _key(row[0]).dtype)
    step = len(row) // _SAMPLE
    for i in range(_SAMPLE):
        # A step of no regular length, which might be that of a pattern.
        sample[i] = _merged(_key(row[i * step + (i * 40503 >> 4) % step]), floats)
    _sort_digits(sample, np.empty(_SAMPLE, sample.dtype))
    low = sample[_SAMPLE // _TRIMMED]
    high = sample[_SAMPLE - 1 - _SAMPLE // _TRIMMED]
    bits = 16 if len(row) >= 1 << 20 else 14
    shift = np.uint64(max(0, _width(low, high) - bits))
    buckets = min(_BUCKETS, len(row) // _PER_BUCKET)
    cells = np.empty(1 << bits, np.uint8)
    cell = 0
    for i in range(_SAMPLE):
        # The cells up to that of this element, which have no bucket yet, begin with it.
        last = np.int64(_cell(sample[i], low, high, shift, floats))
        while cell <= last:
            cells[cell] = i * buckets // _SAMPLE
            cell += 1
    while cell < len(cells):
        cells[cell] = buckets - 1
        cell += 1
    return cells, low, high, shift


def _merged(key, floats: Static):
    """The key, one for both zeros of floats: they go into one cell."""
    if floats:
        return key.dtype.type(0) if key == -1 else key
    return key


def _cell(key, low, high, shift, floats: Static):
    """The cell of a key, an unsigned number of 16 bits."""
    inside = min(max(_merged(key, floats), low), high)
    return ((np.uint64(inside) - np.uint64(low)) >> (shift & np.uint64(63))) & np.uint64(0xFFFF)


def _width(low, high):
    """The bits of a difference. It is right in 64 bits that wrap, whatever the type."""
    rest = np.uint64(high) - np.uint64(low)
    width = 0
    while rest > np.uint64(0):
        rest = rest >> np.uint64(1)
        width += 1
    return width


def _add_places(counts):
    """Where the elements of each block start in each bucket, in place of how many there are. Where the buckets start, and the end."""
    starts = np.empty(_BUCKETS + 1, np.int64)
    total = np.uint64(0)
    for bucket in range(_BUCKETS):
        starts[bucket] = total
        for block in range(len(counts)):
            count = counts[block, bucket]
            counts[block, bucket] = total
            total += count
    starts[_BUCKETS] = total
    return starts


def _sorted_bucket(keys, starts, bucket, floats: Static):
    """Sorts the keys of a bucket and gives them; of floats the two zeros, which are equal, keep their order."""
    part = keys[starts[bucket] : starts[bucket + 1]]
    n = len(part)
    counts = np.empty((2, 2**_DIGIT), np.uint64)
    low, high = _ends(part)
    if low < high:
        # Spare rows of most buckets are of one length: they are made of memory that is kept.
        spare = np.empty(max(n, 2 * len(keys) // (len(starts) - 1)), keys.dtype)[:n]
        if floats and low < 0 and high >= 0:
            # Few buckets have zeros, and numbers that lie as close together as those beside them are gone through digit by digit anyway.
            _sort_keys(part, spare)
        else:
            _sort_between(part, low, high, spare, counts)
    return part


def _ends(keys):
    """The least key and the greatest one; where there are none, ends that lie the wrong way round."""
    low = highest(keys.dtype)
    high = lowest(keys.dtype)
    for i in range(len(keys)):
        low = min(low, keys[i])
        high = max(high, keys[i])
    return low, high


def _sort_between(keys, low, high, spare, counts):
    """Sorts keys by the highest bits of their differences from the least one: two digits, from the lower one. Then few are out of order.

    Where that is not so, since keys lie close together and others far away, all of their digits are gone through.
    """
    if len(keys) <= _FEW:
        _settle(keys, _FEW * _FEW)
        return
    width = _width(low, high)
    shift = np.uint64(max(0, width - 2 * _DIGIT))
    lower, upper = counts[0], counts[1]
    for i in range(2**_DIGIT):
        lower[i] = np.uint64(0)
        upper[i] = np.uint64(0)
    for i in range(len(keys)):
        lower[_digit(keys[i], low, shift)] += np.uint64(1)
        upper[_digit(keys[i], low, shift + np.uint64(_DIGIT))] += np.uint64(1)
    _add_up(lower)
    _add_up(upper)
    _move(keys, spare, low, shift, lower)
    _move(spare, keys, low, shift + np.uint64(_DIGIT), upper)
    if width > 2 * _DIGIT and not _settle(keys, _STEPS * len(keys)):
        _sort_digits(keys, spare)


def _digit(key, low, shift):
    """A digit of a key's difference from the least one."""
    return ((np.uint64(key) - np.uint64(low)) >> (shift & np.uint64(63))) & np.uint64(2**_DIGIT - 1)


def _add_up(counts):
    """Where the keys with each digit start, in place of how many there are."""
    total = np.uint64(0)
    for i in range(len(counts)):
        count = counts[i]
        counts[i] = total
        total += count


def _move(source, target, low, shift, starts):
    """Puts each key where those with its digit are next."""
    for i in range(len(source)):
        key = source[i]
        digit = _digit(key, low, shift)
        to = starts[digit]
        target[to] = key
        starts[digit] = to + np.uint64(1)


def _settle(keys, steps):
    """Sorts keys of which few are out of order by insertion; whether so many steps were enough."""
    most = keys[0]
    for i in range(1, len(keys)):
        key = keys[i]
        if key < most:
            # The one before is the largest so far.
            j = i
            while j > 0 and key < keys[j - 1]:
                keys[j] = keys[j - 1]
                j -= 1
            keys[j] = key
            steps -= i - j
            if steps < 0:
                return False
        else:
            most = key
    return True

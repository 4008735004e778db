"""What the compiled tier does in its own way gives what NumPy gives: each tier is a process."""

import os
import subprocess
import sys

import pytest

CHECK = """
import itertools
import numpy as np
import weft

random = np.random.default_rng(5)
INTEGERS = [np.dtype(f"{kind}int{bits}") for kind in ("", "u") for bits in (8, 16, 32, 64)]


def same(found, expected, what):
    assert found.dtype == expected.dtype, what
    assert np.array_equal(weft.asnumpy(found), expected, equal_nan=expected.dtype.kind in "fc"), what


def ends(dtype):
    info = np.iinfo(dtype)
    near = [n for end in (info.min, 0, info.max) for n in range(end - 3, end + 4)]
    return np.array([n for n in near if info.min <= n <= info.max], dtype)


def divisions():
    for dtype in INTEGERS:
        some = random.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, 40, dtype, endpoint=True)
        small = np.arange(-9 if dtype.kind == "i" else 0, 60).astype(dtype)
        divisors = np.unique(np.concatenate([ends(dtype), some, small]))
        if dtype.itemsize == 1:
            divisors = np.arange(np.iinfo(dtype).min, np.iinfo(dtype).max + 1).astype(dtype)
        if dtype.itemsize <= 2:
            dividends = np.arange(65536).astype(dtype)
        else:
            dividends = random.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, 65536, dtype, endpoint=True)
        with np.errstate(all="ignore"):
            for d in divisors:
                # Where quotients change.
                edges = (dividends // d * d).astype(dtype) if d else dividends
                for x in (dividends, edges, edges - dtype.type(1)):
                    y = np.full(len(x), d)
                    for name in ("floor_divide", "remainder", "fmod"):
                        expected = getattr(np, name)(x, y)
                        for given in (d, weft.asarray(y)):
                            same(getattr(weft, name)(weft.asarray(x), given), expected, (name, dtype, d, type(given)))


def steps():
    for dtype in [np.dtype(bool), *INTEGERS, *map(np.dtype, ("f2", "f4", "f8", "c8", "c16"))]:
        for step, length, rows in itertools.product((2, 3, 4, 5, -2), (1, 3, 64, 200, 1003), (1, 5)):
            extent = length * abs(step)
            host = random.integers(0, 2 if dtype == bool else 100, (rows, 40, extent)).astype(dtype)
            array = weft.asarray(host)
            for offset in range(abs(step)):
                key = (slice(None), slice(None), slice(offset, None, step))
                same(weft.where(array[key] == array[key], array[key], dtype.type(0)), host[key], (dtype, step, length))
        # Neighbours at the end of the memory.
        host = np.arange(999).astype(dtype)
        same(weft.positive(weft.asarray(host)[::2]) if dtype != bool else weft.asarray(host)[::2], host[::2], dtype)


def colours():
    for shape in ((1, 1, 3), (7, 33, 3), (64, 100, 4)):
        host = random.integers(0, 256, shape).astype(np.uint8)
        array = weft.asarray(host)
        planes = [array[:, :, k].astype(np.uint16) for k in range(3)]
        wide = host.astype(np.uint16)
        grey = (wide[:, :, 0] * 77 + wide[:, :, 1] * 150 + wide[:, :, 2] * 29) >> 8
        same((planes[0] * 77 + planes[1] * 150 + planes[2] * 29) >> 8, grey, shape)


def large():
    # Results that go past the caches, wherever their memory starts.
    for dtype in map(np.dtype, ("?", "i1", "f2", "i4", "f4", "f8", "c8", "c16")):
        count = (33 << 20) // dtype.itemsize
        host = random.integers(0, 2, count).astype(dtype) if dtype == bool else (np.arange(count) % 119).astype(dtype)
        array = weft.asarray(host)
        one = host.copy() if dtype == bool else host + dtype.type(1)
        more = weft.logical_or(array, array) if dtype == bool else array + dtype.type(1)
        same(more, one, dtype)
        for first, last in ((1, 0), (3, 5), (16, 1), (63, 64)):
            to, expected = weft.zeros(count + 100, dtype), np.zeros(count + 100, dtype)
            expected[first : first + count - last] = one[: count - last]
            to[first : first + count - last] = (weft.logical_or(array, array) if dtype == bool else array + dtype.type(1))[: count - last]
            same(to, expected, (dtype, first))
        if dtype != bool:
            array += dtype.type(1)
            same(array, one, dtype)


globals()[WHAT]()
"""


@pytest.mark.parametrize("what", ["divisions", "steps", "colours", "large"])
@pytest.mark.parametrize("tier", ["0", "1"])
def test_a_tier_gives_what_numpy_gives(tier, what, tmp_path):
    script = tmp_path / "check.py"
    script.write_text(f"WHAT = {what!r}\n{CHECK}")
    env = {**os.environ, "WEFT_ARRAYS_TIER": tier, "WEFT_DEVICE": "cpu"}
    done = subprocess.run([sys.executable, str(script)], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]

"""Ranges and slices whose starts, stops and steps are as large as integers are: how many numbers they hold is computed without overflow."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from support import texts

from weft import cuda, njit, prange

MOST, LEAST = 2**63 - 1, -(2**63)
BOUNDS = [LEAST, LEAST + 1, -(2**62), -3, -1, 0, 1, 4, 2**62, MOST - 1, MOST]
STEPS = [LEAST, LEAST + 1, -(2**62) - 1, -(2**61), -7, -2, -1, 1, 2, 3, 2**61, 2**62, MOST - 1, MOST]
RANGES = [range(*r) for r in itertools.product(BOUNDS, BOUNDS, STEPS)]
SHORT = [r for r in RANGES if abs(r.stop - r.start) // abs(r.step) < 50]


def firsts(r):
    """The first numbers of a range, which a loop may leave early."""
    return list(itertools.islice(r, 5))


def bounds_of(ranges):
    return [np.array(column) for column in zip(*((r.start, r.stop, r.step) for r in ranges))]


def test_loops():
    @njit
    def visit(starts, stops, steps, seen):
        for k in range(starts.size):
            n = 0
            for i in range(starts[k], stops[k], steps[k]):
                seen[k, n] = i
                n += 1
                if n == 5:
                    break
            seen[k, 5] = n

    check_visited(lambda *args: visit(*args))


def test_loops_of_threads(device):
    @cuda.jit
    def visit(starts, stops, steps, seen):
        k = cuda.grid(1)
        if k < starts.size:
            n = 0
            for i in range(starts[k], stops[k], steps[k]):
                seen[k, n] = i
                n += 1
                if n == 5:
                    break
            seen[k, 5] = n

    check_visited(lambda *args: visit.forall(len(args[0]))(*args))


def check_visited(visit):
    seen = np.zeros((len(RANGES), 6), np.int64)
    visit(*bounds_of(RANGES), seen)
    for r, row in zip(RANGES, seen):
        assert list(row[: row[5]]) == firsts(r), r


def test_sequences_of_ranges():
    @njit
    def visit(starts, stops, steps, seen):
        for k in range(starts.size):
            n = 0
            for i, _ in zip(range(starts[k], stops[k], steps[k]), range(5)):
                seen[k, n] = i
                n += 1
            seen[k, 5] = n

    check_visited(visit)

    @njit
    def backwards(starts, stops, steps, seen):
        for k in range(starts.size):
            for n, i in enumerate(reversed(range(starts[k], stops[k], steps[k]))):
                seen[k, n] = i

    seen = np.zeros((len(SHORT), 51), np.int64)
    backwards(*bounds_of(SHORT), seen)
    for r, row in zip(SHORT, seen):
        assert list(row[: len(r)]) == list(reversed(r)), r


@pytest.mark.parametrize("parallel", [False, True])
def test_prange(parallel):
    @njit(parallel=parallel)
    def add_up(start, stop, step):
        total = np.uint64(0)
        count = 0
        for i in prange(start, stop, step):
            total += np.uint64(i)
            count += 1
        return total, count

    for r in SHORT:
        assert add_up(r.start, r.stop, r.step) == (sum(r) % 2**64, len(r)), r
    assert njit(lambda: sum_of_prange())() == (0, 8)


@njit(parallel=True)
def sum_of_prange():
    total = 0
    count = 0
    for i in prange(-(2**63), 2**63 - 1, 2**61):
        total += i // 2**61
        count += 1
    return total + 4, count


def test_written_steps():
    for step, (start, stop) in itertools.product(STEPS, itertools.combinations(BOUNDS, 2)):
        for r in (range(start, stop, step), range(stop, start, step)):
            if r not in SHORT:
                continue
            f = texts.function_of(
                f"def f(a):\n    n = 0\n    for i, x in zip(range({r.start}, {r.stop}, {r.step}), a):\n        n += 1\n    return n\n", {}
            )
            if step in (LEAST, MOST, -(2**61)):
                assert njit(f)(np.zeros(60)) == len(r), r


def test_arange():
    arange = njit(lambda start, stop, step: np.arange(start, stop, step))
    assert list(njit(lambda: np.arange(0, 5, 2**63 - 1))()) == [0]
    for r in SHORT:
        got = arange(r.start, r.stop, r.step)
        assert list(got) == list(r), r


SLICES = [LEAST, LEAST + 1, -7, -5, -1, 0, 1, 4, 5, 6, MOST - 1, MOST, None]


def test_slices():
    a = np.arange(5.0)
    known = {}
    for step in [None, *STEPS]:
        name = "None" if step is None else str(step)
        known[step] = njit(texts.function_of(f"def f(a, i, j):\n    return a[i:j:{name}]\n", {}))
    any_step = njit(lambda a, i, j, k: a[i:j:k])
    for start, stop, step in itertools.product(SLICES, SLICES, [None, *STEPS]):
        want = a[start:stop:step]
        np.testing.assert_array_equal(known[step](a, start, stop), want, err_msg=str((start, stop, step)))
        if step is not None:
            np.testing.assert_array_equal(any_step(a, start, stop, step), want, err_msg=str((start, stop, step)))


def test_slices_of_threads(device):
    @cuda.jit
    def add_up(a, starts, stops, steps, sums):
        k = cuda.grid(1)
        if k < starts.size:
            part = a[starts[k] : stops[k] : steps[k]]
            total = part.size * 100
            for i in range(part.size):
                total += part[i] + 1
            sums[k] = total

    a = np.arange(5)
    cases = [(i, j, k) for i, j, k in itertools.product(SLICES, SLICES, STEPS) if i is not None and j is not None]
    sums = np.zeros(len(cases), np.int64)
    add_up.forall(len(cases))(a, *(np.array(column) for column in zip(*cases)), sums)
    for (i, j, k), total in zip(cases, sums):
        assert total == (a[i:j:k] + 101).sum(), (i, j, k)


def test_unsigned_bounds():
    """A uint64 of 2**63 or more is large, not negative."""
    a = np.arange(5)
    part = njit(lambda a, i, j, k: a[i:j:k])
    for bounds in itertools.product([np.uint64(v) for v in (1, 2**63 - 1, 2**63, 2**64 - 1)], repeat=3):
        np.testing.assert_array_equal(part(a, *bounds), a[slice(*map(int, bounds))])
    count = njit(lambda i, j: len(np.arange(i, j)))
    for i, j in ((np.uint64(0), np.uint64(2**63)), (np.uint64(2**63), np.uint64(2**63 + 1))):
        with pytest.raises((OverflowError, TypeError, ValueError)):
            count(i, j)

    @njit
    def loop(start, stop):
        n = 0
        for _ in range(start, stop):
            n += 1
        return n

    assert loop(np.uint64(3), np.uint64(5)) == 2
    with pytest.raises(OverflowError):
        loop(np.uint64(2**63), np.uint64(2**63 + 3))

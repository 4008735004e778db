"""``prange``: results that do not depend on the number of threads, bounded memory, what cannot run in parallel."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import weft
from weft import njit, prange


@pytest.fixture
def threads():
    before = weft.get_num_threads()
    yield weft.set_num_threads
    weft.set_num_threads(before)


def same_bits(a, b) -> bool:
    return np.asarray(a).tobytes() == np.asarray(b).tobytes()


@pytest.mark.parametrize("rows, columns", [(1, 3), (63, 3), (64, 5), (65, 5), (1000, 7), (40, 300_000)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_array_sums_do_not_depend_on_the_threads(threads, rows, columns, dtype):
    @njit(parallel=True)
    def sums(a, acc):
        total = 0.0
        for i in prange(a.shape[0]):
            acc += a[i]
            total += a[i].sum()
        return acc, total

    a = np.random.default_rng(rows).random((rows, columns)).astype(dtype)
    results = []
    for count in (1, 2, 3, 7):
        threads(count)
        acc = np.ones(columns, dtype)
        result, total = sums(a, acc)
        assert np.shares_memory(result, acc)
        results.append((result.copy(), total))
    for result, total in results:
        assert same_bits(result, results[0][0]) and total == results[0][1]
    np.testing.assert_allclose(results[0][0], a.sum(0, dtype=np.float64) + 1, rtol=1e-4 if dtype == np.float32 else 1e-12)


def test_points_that_allocate_do_not_depend_on_the_threads(threads):
    @njit(parallel=True)
    def spread(n, k):
        out = np.empty(n)
        total = 0.0
        for i in prange(n):
            t = np.linspace(0.0, 1.0, k) * i
            out[i] = t.sum()
            total += out[i] / 3
        return out, total

    wanted = [np.linspace(0.0, 1.0, 50).sum() * i for i in range(3000)]
    results = []
    for count in (1, 2, 5):
        threads(count)
        results.append(spread(3000, 50))
        np.testing.assert_allclose(results[-1][0], wanted, rtol=1e-12)
    assert all(same_bits(total, results[0][1]) for _, total in results)


LOOPS_THAT_ALLOCATE = """
import resource
import numpy as np
from weft import njit, prange

@njit(parallel=True)
def points(n, k):
    out = np.zeros(n)
    for i in prange(n):
        for j in range(3):
            t = np.zeros(k)
            t += i + j
            out[i] += t[k // 2]
    return out

@njit
def steps(u, n):
    for _ in range(n):
        u = u * 0.5 + 1.0
    return u

@njit
def until(u):
    n = 0
    while u.max() > 1.5:
        u = np.sqrt(u) + 0.0 * u
        n += 1
        if n > 500:
            break
    return u, n

points(4, 10), steps(np.ones(2), 2), until(np.ones(3))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert points(2000, 100_000)[1999] == 3 * 1999 + 3
assert abs(steps(np.ones(100_000), 2000)[7] - 2.0) < 1e-12
u, n = until(np.full(100_000, 1e300))
assert 1 < n < 500 and u[5] <= 1.5
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
assert grown < 100_000, f"{grown} KiB more"
"""


def test_loops_that_allocate_do_not_grow(tmp_path):
    # All they allocate would be gigabytes.
    program = tmp_path / "memory.py"
    program.write_text(LOOPS_THAT_ALLOCATE)
    subprocess.run([sys.executable, str(program)], check=True)


def test_errors_in_points_that_allocate():
    @njit(parallel=True)
    def fails(n):
        out = np.zeros(n)
        for i in prange(n):
            t = np.zeros(3)
            if i == n - 1:
                raise ValueError("the last one")
            out[i] = t.sum()
        return out

    for _ in range(3):
        with pytest.raises(ValueError, match="the last one"):
            fails(500)


def test_out_of_memory_in_points_raises():
    @njit(parallel=True)
    def huge(n, k):
        out = np.zeros(n)
        for i in prange(n):
            out[i] = np.ones(k).sum()
        return out

    with pytest.raises(MemoryError):
        huge(8, 1 << 58)
    assert huge(3, 4).tolist() == [4.0, 4.0, 4.0]


@pytest.mark.parametrize("form", ["carried", "both", "read", "rank", "dtype"])
def test_arrays_that_do_not_combine(form):
    @njit(parallel=True)
    def carried(a, acc):
        for i in prange(len(a)):
            acc = np.sqrt(acc) + a[i]
        return acc

    @njit(parallel=True)
    def read(a, acc):
        for i in prange(len(a)):
            acc += a[i]
            a[i] = acc[0]
        return acc

    @njit(parallel=True)
    def both(a, acc):
        for i in prange(len(a)):
            acc += a[i]
            acc = acc + a[i]
        return acc

    @njit(parallel=True)
    def rank(a, acc):
        for _i in prange(len(a)):
            acc = acc + a
        return acc

    @njit(parallel=True)
    def dtype(a, acc):
        for i in prange(len(a)):
            acc = acc + a[i] * 1j
        return acc

    a, acc = np.arange(12.0).reshape(4, 3), np.ones(3)
    if form == "both":
        # In order: it is not the array alone that is changed.
        wanted, changed = both.py_func(a, acc.copy()), acc + a[0]
        np.testing.assert_array_equal(both(a, acc), wanted)
        np.testing.assert_array_equal(acc, changed)
        return
    messages = {
        "carried": "carries a value",
        "read": "carries a value",
        "rank": "2-d array of the 1-d array",
        "dtype": "array of complex128",
    }
    with pytest.raises(weft.WeftError, match=messages[form]):
        locals()[form](a, acc)


@pytest.mark.parametrize("points", [True, False])
def test_interrupts_stop_a_prange(points):
    @njit(parallel=True)
    def alone(n, k):
        out = np.zeros(n)
        for i in prange(n):
            t = np.zeros(4)
            for j in range(k):
                t[j % 4] += j * 0.5
            out[i] = t.sum()
        return out.sum()

    @njit(parallel=True)
    def lanes(n, k):
        s = 0.0
        for i in prange(n):
            x = 0.5
            for _ in range(k):
                x = x * 3.7 * (1.0 - x)
            s += x + i
        return s

    function = alone if points else lanes
    # What earlier calls took says nothing of this one.
    for _ in range(3):
        function(100, 10)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    try:
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            function(100_000, 2_000_000)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    function(100, 10)

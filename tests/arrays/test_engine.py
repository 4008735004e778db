"""What the engine of lazy arrays does when something goes wrong or several things happen at once: no memory, threads, forks, Ctrl-C."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest

import weft

CPU = next(device for device in weft.devices() if device.kind == "cpu")


class NoMemory:
    """While it lasts, a device has no more memory than it has given out."""

    def __init__(self, device=CPU, more=0):
        self.device, self.more = device, more

    def __enter__(self):
        self.device.set_memory_limit(self.device.memory()["used"] + self.more)

    def __exit__(self, *_):
        self.device.set_memory_limit(None)


def computed(x):
    weft.eval(x)
    return x


def test_an_update_that_finds_no_memory_is_done_later(device):
    a = np.arange(100_000.0)
    x = computed(weft.asarray(a))
    old = x + 0
    kept = x[::2]
    before = x.copy()
    weft.eval(before)
    # What was read of the array keeps its elements, so that a copy is made.
    seen = weft.asnumpy(x) if device.kind == "cpu" else None
    y = x * 1
    weft.eval(y)
    later = x + 1
    x[5:] = -1
    x[:3] = 7
    with NoMemory(device):
        for _ in range(3):
            with pytest.raises(MemoryError):
                weft.eval(x, later)
    a[5:], a[:3] = -1, 7
    np.testing.assert_array_equal(weft.asnumpy(x), a)
    np.testing.assert_array_equal(weft.asnumpy(kept), a[::2])
    np.testing.assert_array_equal(weft.asnumpy(later), np.arange(100_000.0) + 1)
    np.testing.assert_array_equal(weft.asnumpy(old), np.arange(100_000.0))
    assert seen is None or seen[7] == 7


def test_an_update_that_fails_half_way_is_right_or_an_error_for_good(device):
    a = np.random.default_rng(3).random((300, 400))
    column = np.random.default_rng(4).random((300, 1))
    for reads in [False, True]:
        x, c = computed(weft.asarray(a)), computed(weft.asarray(column))
        # The sines of the column are computed first, and need memory.
        shown = np.sin(np.broadcast_to(column, a.shape)) * 3
        sines = weft.sin(c) * 3
        x[:, 1:] = (x[:, 1:] + sines) if reads else sines + weft.zeros((300, 399))
        del sines
        with NoMemory(device):
            for _ in range(2):
                with pytest.raises(MemoryError):
                    weft.eval(x)
        theirs = a.copy()
        theirs[:, 1:] = theirs[:, 1:] * reads + shown[:, 1:]
        try:
            ours = weft.asnumpy(x)
        except MemoryError:
            with pytest.raises(MemoryError):
                weft.asnumpy(x + 1)
            continue
        np.testing.assert_allclose(ours, theirs, rtol=1e-15)


@pytest.mark.parametrize("make", ["x * 2 + 1", "weft.sum(x * 2)", "weft.asarray(x)[::-1].reshape(100, 300).T.reshape(-1) + 1"])
def test_whatever_finds_no_memory_is_computed_later(make, device):
    x = computed(weft.arange(30_000.0))
    with NoMemory(device):
        try:
            y = eval(make)
            with pytest.raises(MemoryError):
                weft.eval(y)
        except MemoryError:
            y = None
    y = eval(make) if y is None else y
    theirs = eval(make.replace("weft.", "np."), {"x": np.arange(30_000.0), "np": np})
    np.testing.assert_array_equal(weft.asnumpy(y), theirs)


LOOKS = """
import numpy as np, weft
from weft._weft import _adopt

class Looks(np.ndarray):
    def __del__(self):
        if self.base is None:
            seen.append(float(weft.sum(pending)))

@weft.njit
def write(x, value):
    for i in range(x.shape[0]):
        x[i] = value

seen, pending, n = [], weft.ones(10) * 3, {n}
x = _adopt(Looks(n))
{does}
assert seen == [30.0], seen
"""


@pytest.mark.parametrize(
    ("does", "n"),
    [
        ("x[:] = 1", 10),
        ("shown = weft.asnumpy(x); write(x, 1.0); del shown", 10),
        ("y = x + 1; x[:] = 0; weft.eval(y)", 10),
        # What waiting work holds is too much, and is computed when the last of these is recorded.
        ("y = x\ndel x\nfor _ in range(100): y = y + 1", 9_000_000),
        ("weft.eval(weft.arange(10) ** (x.astype(int) * 0)); del x", 10),
    ],
)
def test_memory_that_is_let_go_of_may_run_code_that_looks_at_arrays(does, n):
    subprocess.run([sys.executable, "-c", LOOKS.replace("{n}", str(n)).replace("{does}", does)], timeout=60, check=True)


@weft.njit
def write(x, value):
    for i in range(x.shape[0]):
        x[i] = value


@weft.njit
def write_often(x, value, times):
    for n in range(times):
        for i in range(x.shape[0]):
            x[i] = value + n


def test_calls_of_two_threads_write_to_parts_of_one_array():
    size, times = 2000, 3000
    write_often(weft.zeros(4)[:2], 0.0, 1)
    for _ in range(10):
        x = computed(weft.zeros(size))
        parts = [x[: size // 2], x[size // 2 :]]
        go = threading.Barrier(2)

        def work(part, value):
            go.wait()
            write_often(part, value, times)

        threads = [threading.Thread(target=work, args=(part, 1000.0 * at)) for at, part in enumerate(parts)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        theirs = np.repeat([times - 1.0, 1000.0 + times - 1], size // 2)
        np.testing.assert_array_equal(weft.asnumpy(x), theirs)


def test_elements_that_are_replaced_during_a_call_of_another_thread_are_not_lost():
    size, times = 2000, 20_000
    write_often(weft.zeros(4)[:2], 0.0, 1)
    for _ in range(5):
        x = computed(weft.zeros(size))
        thread = threading.Thread(target=write_often, args=(x[1000:], 1.0, times))
        thread.start()
        for i in range(300):
            x[i] = i + 1
            if i % 10 == 0:
                weft.eval(x)
        thread.join()
        theirs = np.zeros(size)
        theirs[1000:], theirs[:300] = times, np.arange(1, 301)
        np.testing.assert_array_equal(weft.asnumpy(x), theirs)


def test_calls_that_write_to_the_same_arrays_in_another_order_end():
    @weft.njit
    def both(x, y):
        for i in range(x.shape[0]):
            x[i] += 1
            y[i] += 2

    a, b = computed(weft.zeros(1000)), computed(weft.zeros(1000))
    both(weft.zeros(3), weft.zeros(3))

    def work(x, y):
        for _ in range(200):
            both(x, y)

    threads = [threading.Thread(target=work, args=args) for args in [(a, b), (b, a), (a, b)]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    np.testing.assert_array_equal(weft.asnumpy(a), np.full(1000, 200.0 * 4))
    np.testing.assert_array_equal(weft.asnumpy(b), np.full(1000, 200.0 * 5))

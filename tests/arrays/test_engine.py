"""What the engine of lazy arrays does when something goes wrong or several things happen at once: no memory, threads, forks, Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

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
    kept = x[::2]
    # What was read of the array keeps its elements, so that a copy is made.
    old, later = x + 0, x + 1
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


def test_an_update_in_place_that_finds_no_memory_is_done_later(device):
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
        np.testing.assert_allclose(weft.asnumpy(x), theirs, rtol=1e-15)


MAKES = {
    "map": lambda x, xp: x * 2 + 1,
    "fold": lambda x, xp: xp.sum(x * 2),
    "reshape": lambda x, xp: x[::-1].reshape(100, 300).T.reshape(-1) + 1,
    "choice": lambda x, xp: xp.where(x > 7, x, -x),
}


@pytest.mark.parametrize("make", MAKES)
def test_whatever_finds_no_memory_is_computed_later(make, device):
    y = MAKES[make](computed(weft.arange(30_000.0)), weft)
    with NoMemory(device):
        for _ in range(2):
            with pytest.raises(MemoryError):
                weft.eval(y)
    np.testing.assert_array_equal(weft.asnumpy(y), MAKES[make](np.arange(30_000.0), np))


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


def write_together(go, part, value, times):
    go.wait()
    write_often(part, value, times)


def test_calls_of_two_threads_write_to_parts_of_one_array():
    size, times = 2000, 3000
    write_often(weft.zeros(4)[:2], 0.0, 1)
    for _ in range(10):
        x = computed(weft.zeros(size))
        parts = [x[: size // 2], x[size // 2 :]]
        go = threading.Barrier(2)

        threads = [threading.Thread(target=write_together, args=(go, part, 1000.0 * at, times)) for at, part in enumerate(parts)]
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


def held_while(work):
    """How many bytes more than before arrays take at the most while something is done."""
    weft.eval(weft.zeros(1) + 1)
    before = CPU.memory()["used"]
    most = 0
    for _ in work():
        most = max(most, CPU.memory()["used"] - before)
    return most


def test_folds_that_nobody_asked_for_do_not_keep_all_that_they_are_of():
    sums = []

    def work():
        for i in range(60):
            x = computed(weft.full(1 << 20, float(i)))
            sums.append(weft.sum(x * 2) if i % 2 else weft.max(x))
            yield

    assert held_while(work) < 200 << 20
    theirs = [float(i) if i % 2 == 0 else 2.0 * i * (1 << 20) for i in range(60)]
    assert [float(each) for each in sums] == theirs


def test_updates_that_nobody_asked_for_do_not_keep_all_that_they_write():
    x = computed(weft.zeros((60, 1 << 20), dtype="f4"))

    def work():
        for i in range(60):
            x[i] = computed(weft.full(1 << 20, float(i), dtype="f4"))
            yield

    assert held_while(work) < 200 << 20
    np.testing.assert_array_equal(weft.asnumpy(x[:, 7]), np.arange(60, dtype="f4"))


def test_choices_that_nobody_asked_for_do_not_keep_all_that_they_choose():
    theirs = np.zeros(1 << 18)

    def work():
        nonlocal theirs
        x = weft.zeros(1 << 18)
        for i in range(200):
            x = weft.where(x < i, computed(weft.full(1 << 18, i + 0.5)), x)
            theirs = np.where(theirs < i, i + 0.5, theirs)
            yield
        np.testing.assert_array_equal(weft.asnumpy(x), theirs)

    assert held_while(work) < 250 << 20


def test_many_small_updates_and_folds_in_a_row():
    x, a = weft.zeros(100), np.zeros(100)
    for i in range(70_000):
        x[i % 100] = i
        a[i % 100] = i
    np.testing.assert_array_equal(weft.asnumpy(x), a)
    s, t = weft.ones(50), np.ones(50)
    for _ in range(2000):
        s, t = s / weft.sum(s) + 1, t / np.sum(t) + 1
    np.testing.assert_allclose(weft.asnumpy(s), t, rtol=1e-12)


def long_work(count):
    """Many kernels, of which none can be left out; and what they give."""
    x, a = computed(weft.zeros(1 << 20)), 0.0
    for i in range(count):
        x[:-1] = weft.sin(x[:-1]) + i
        a = np.sin(a) + i
    return x, a


def test_an_interrupt_ends_a_flush_between_kernels():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        x, a = long_work(400)
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            weft.eval(x)
            # It was over before the signal came.
            timer.join()
            time.sleep(1)
        weft.eval(x)
    finally:
        signal.signal(signal.SIGINT, before)
    np.testing.assert_allclose(weft.asnumpy(x)[:-1], a, rtol=1e-12)
    assert float(x[-1]) == 0


def test_a_signal_handler_may_flush_in_the_middle_of_a_flush():
    seen = []
    other = weft.arange(1000.0) * 2
    before = signal.signal(signal.SIGINT, lambda *_: seen.append((float(weft.sum(other)), float(x[3]))))
    try:
        x, a = long_work(200)
        timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        weft.eval(x)
        timer.join()
        time.sleep(0.1)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(seen) == 1 and seen[0][0] == 999_000
    np.testing.assert_allclose([seen[0][1], float(x[0])], [a, a], rtol=1e-12)


def test_ways_by_the_host_inside_of_a_flush_are_syncs(device):
    if device.kind == "cpu":
        pytest.skip("the CPU has code for all")
    a = np.arange(33, dtype=np.int8)
    x = computed(weft.asarray(a))
    whole = computed(weft.arange(100, dtype="i4"))
    with weft.syncs("error"):
        odd = x[1:].view("i4") + 1
        # It reads and writes the same memory, at places that no kernel of the device takes.
        part = x[1:].view("i4")
        part += 1
        for _ in range(2):
            with pytest.raises(weft.errors.SyncError):
                weft.eval(odd)
            with pytest.raises(weft.errors.SyncError):
                weft.eval(x)
        weft.eval(whole + 1)
    np.testing.assert_array_equal(weft.asnumpy(odd), a[1:].view("i4") + 1)
    a[1:].view("i4")[:] += 1
    np.testing.assert_array_equal(weft.asnumpy(x), a)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_operations_that_are_compiled_alone_take_elements_at_odd_places(dtype):
    for shape in [(1000,), (9, 50)]:
        numbers = np.random.default_rng(5).random(shape).astype(dtype)
        room = np.zeros(numbers.nbytes + 1, "u1")
        odd = room[1:].view(dtype).reshape(shape)
        odd[...] = numbers
        x = weft.asarray(room)
        ours = x[1:].view(dtype).reshape(shape)
        theirs = weft.asnumpy(weft.sin(weft.asarray(numbers)))
        np.testing.assert_array_equal(weft.asnumpy(weft.sin(ours)), theirs)
        np.testing.assert_array_equal(weft.asnumpy(weft.sin(ours[..., ::2])), theirs[..., ::2])
        np.testing.assert_array_equal(weft.asnumpy(weft.sin(weft.asarray(odd))), theirs)
        ours[...] = weft.sin(weft.asarray(numbers))
        np.testing.assert_array_equal(weft.asnumpy(ours), theirs)
        assert weft.asnumpy(x)[0] == 0


FORKS = """
import os, sys, threading
import numpy as np
import weft

stop = False

def work(seed):
    n = 0
    while not stop:
        n += 1
        # Kernels of ever new forms, which are compiled in the background.
        x = weft.arange(400_000.0) * 1e-6 + seed
        for letter in bin(n)[2:]:
            x = x * 2 - 1 if letter == "1" else weft.sqrt(x * x + 1)
        weft.eval(x)

threads = [threading.Thread(target=work, args=(seed,), daemon=True) for seed in range(2)]
for thread in threads:
    thread.start()
shared = weft.arange(1000.0) * 3
for n in range(8):
    child = os.fork()
    if child == 0:
        total = float(weft.sum(shared + n))
        y = weft.arange(2_000_000.0) * 0.5
        for _ in range(8):
            y = weft.sqrt(y * y + n)
        weft.eval(y)
        weft._weft._finish_compiling()
        z = np.arange(2_000_000.0) * 0.5
        for _ in range(8):
            z = np.sqrt(z * z + n)
        os._exit(0 if total == 1498500 + 1000 * n and (weft.asnumpy(y) == z).all() else 3)
    _, status = os.waitpid(child, 0)
    assert status == 0, status
stop = True
for thread in threads:
    thread.join()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_forks_during_flushes_of_other_threads(tmp_path):
    place = {**os.environ, "WEFT_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKS], timeout=300, check=True, env=place)


def test_arrays_that_no_memory_could_hold_are_memory_errors(device):
    for make in [lambda: weft.zeros(1 << 50), lambda: weft.arange(float(1 << 50)), lambda: weft.ones((1 << 25, 1 << 25)) + 1]:
        with pytest.raises(MemoryError):
            weft.eval(make())
    x = computed(weft.ones(1000))
    with pytest.raises(MemoryError):
        weft.eval(weft.broadcast_to(x, (1 << 50, 1000)) + 1)
    np.testing.assert_array_equal(weft.asnumpy(x + 1), np.full(1000, 2.0))


def test_memory_that_is_short_is_said_with_who_holds_it(device):
    x = [computed(weft.ones(1 << 16)) for _ in range(3)]
    with NoMemory(device, 1000), pytest.raises(MemoryError, match="limit"):
        weft.eval(x[0] + x[1])
    np.testing.assert_array_equal(weft.asnumpy(x[0] + x[1]), np.full(1 << 16, 2.0))

"""What a compiled call does to the process around it: signals, threads, the GIL, import."""

import gc
import os
import random
import signal
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import weft
from weft import cuda


@cuda.jit
def spin(out, rounds):
    i = cuda.grid(1)
    x = 0.5
    for _ in range(rounds):
        x = x * 3.7 * (1.0 - x)
    out[i % out.size] = x


@pytest.fixture(autouse=True)
def on_the_cpu():
    """Launches on other devices go on while Python does, and their drivers do not survive a fork."""
    with weft.device("cpu"):
        yield


@pytest.fixture
def interruptible():
    """Python's own handler, which is not there where the tests run in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("threads", [1, 2])
def test_interrupts_stop_a_long_launch(threads, interruptible):
    before = weft.get_num_threads()
    weft.set_num_threads(threads)
    out = np.zeros(64)
    spin[1, 32](out, 1)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    try:
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            spin[60_000, 256](out, 100_000)
    finally:
        timer.join()
        weft.set_num_threads(before)
    spin[1, 32](out, 1)


def test_other_threads_run_during_a_launch():
    out = np.zeros(64)
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(1)
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        before = len(ticks)
        spin[2000, 256](out, 2000)
        during = len(ticks) - before
    finally:
        done.set()
        thread.join()
    assert during > 0


def test_number_of_threads():
    before = weft.get_num_threads()
    try:
        weft.set_num_threads(1)
        assert weft.get_num_threads() == 1
        weft.set_num_threads(3)
        assert weft.get_num_threads() == 3
    finally:
        weft.set_num_threads(before)
    code = "import weft; print(weft.get_num_threads())"
    run = subprocess.run([sys.executable, "-c", code], env={**os.environ, "WEFT_NUM_THREADS": "2"}, capture_output=True, text=True)
    assert run.stdout == "2\n", run.stderr


def test_import_brings_in_little():
    """Everything heavy is imported when it is used first."""
    code = "import sys, numpy; before = set(sys.modules); import weft; print(*sorted(set(sys.modules) - before))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    extra = {name.split(".")[0] for name in run.stdout.split()}
    assert not extra & {"inspect", "asyncio", "matplotlib", "argparse", "multiprocessing", "subprocess"}, extra


def test_fork():
    """A child of a process that has used the pool can use it as well."""
    out = np.zeros(64)
    spin[100, 256](out, 10)
    pid = os.fork()
    if pid == 0:
        try:
            spin[100, 256](out, 10)
            os._exit(0)
        except BaseException:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def weighted(number):
    return lambda a: (np.sqrt(a) + np.sin(a) * number).sum()


def test_forks_while_other_threads_compile():
    """The child finds no function half compiled by a thread that it does not have."""
    for turn in range(10):
        # A number that no run before had: nobody has kept the code.
        number = random.random()
        total = weft.njit(parallel=True)(weighted(number))
        a = np.arange(100.0)
        threads = [threading.Thread(target=total, args=(a,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(turn / 1000)
        pid = os.fork()
        if pid == 0:
            os._exit(0 if np.isclose(total(a), (np.sqrt(a) + np.sin(a) * number).sum()) else 1)
        for thread in threads:
            thread.join()
        assert ended(pid, 30) == 0


def ended(pid, seconds):
    """The exit code of a child, which is killed if it takes longer."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return "hangs"


def test_devices():
    devices = weft.devices()
    assert devices[0].name == "cpu"
    assert devices[0].cores >= 1 and devices[0].simd_bits >= 128 and devices[0].memory_bytes > 2**20
    assert "cpu" in repr(devices[0])


def test_printing_goes_through_sys_stdout(capsys):
    @cuda.jit
    def say(n):
        i = cuda.grid(1)
        if i < n:
            print("thread", i)

    say[1, 32](3)
    assert capsys.readouterr().out == "thread 0\nthread 1\nthread 2\n"


def test_what_was_printed_before_an_error_is_shown(capsys):
    @weft.njit
    def f(x):
        print("before", x)
        assert x > 0, "not positive"
        return x

    with pytest.raises(AssertionError, match="not positive"):
        f(-1)
    assert capsys.readouterr().out == "before -1\n"


def test_compiled_closures_are_garbage_when_nothing_holds_them():
    def make(decorate):
        def inner(x):
            return x + 1 if x else other(x)

        other = decorate(inner)
        return other

    for decorate in (weft.njit, cuda.jit, weft.vectorize):
        reference = weakref.ref(make(decorate))
        gc.collect()
        assert reference() is None, decorate

"""Ctrl-C ends loops of array statements on the CPU while they run, whatever the statement: those that launch nothing allocate."""

import contextlib
import linecache
import signal
import time

import numpy as np
import pytest

import weft


class Called(Exception):
    """What the test's signal handler raises."""


@contextlib.contextmanager
def signal_in(seconds):
    """A signal after a while, whose handler raises."""

    def handler(_number, _frame):
        raise Called

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


STATEMENTS = ("np.cumsum(a)", "np.convolve(a, a)", "np.interp(a, a, a)", "np.searchsorted(a, a)", "np.repeat(a, 2)", "np.sort(a)", "a + 1")


@pytest.mark.parametrize("size", [100, 20_000])
@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_loop_of_statements_ends(statement, size):
    if statement == "np.convolve(a, a)":
        size = min(size, 1000)
    scope = {"np": np}
    text = f"def loop(a, n):\n    for i in range(n):\n        b = {statement}\n    return b\n"
    name = f"<loop of {statement}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), scope)
    loop = weft.njit(scope["loop"])
    a = np.sort(np.random.default_rng(0).random(size))
    loop(a, 1)
    start = time.monotonic()
    with signal_in(0.2), pytest.raises(Called):
        loop(a, 10**9)
    assert time.monotonic() - start < 60, "the loop alone would take minutes"
    assert len(loop(a, 1)) > 0

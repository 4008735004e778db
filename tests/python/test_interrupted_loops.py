"""Ctrl-C ends loops of array statements on the CPU while they run, whatever the statement: those that launch nothing allocate."""

import time

import numpy as np
import pytest
from support import texts
from support.signals import Called, signal_in

import weft

STATEMENTS = ("np.cumsum(a)", "np.convolve(a, a)", "np.interp(a, a, a)", "np.searchsorted(a, a)", "np.repeat(a, 2)", "np.sort(a)", "a + 1")


@pytest.mark.parametrize("size", [100, 20_000])
@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_loop_of_statements_ends(statement, size):
    if statement == "np.convolve(a, a)":
        size = min(size, 1000)
    text = f"def f(a, n):\n    for i in range(n):\n        b = {statement}\n    return b\n"
    loop = weft.njit(texts.function_of(text, {"np": np}))
    a = np.sort(np.random.default_rng(0).random(size))
    loop(a, 1)
    start = time.monotonic()
    with signal_in(0.2), pytest.raises(Called):
        loop(a, 10**9)
    assert time.monotonic() - start < 60, "the loop alone would take minutes"
    assert len(loop(a, 1)) > 0

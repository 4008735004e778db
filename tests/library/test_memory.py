"""Results that go into memory which is read, sizes that no array has, and long loops of short statements."""

from __future__ import annotations

import signal
import time

import numpy as np
import pytest
from numpy_calls import array, check

import weft


@pytest.mark.parametrize(
    "call",
    [
        "np.cumsum(a, axis=1, out=a[::-1])",
        "np.cumsum(a, axis=0, out=a.T)",
        "np.cumprod(a[:, :-1], axis=1, out=a[:, 1:])",
        "np.take(a, [1, 0, 3, 2], axis=0, out=a)",
        "np.sum(a, axis=0, out=a[:, 0])",
        "np.median(a, axis=0, out=a[:, 0])",
    ],
)
def test_out_may_share_memory_with_what_is_read(call: str) -> None:
    check(f"{call}\nreturn a", exact=False, a=array((4, 4), np.float64))


@pytest.mark.parametrize(
    "call",
    [
        "np.repeat(a, n)",
        "np.repeat(a, np.array([n, n, n, n, n, n, n, n]))",
        "np.tile(a, n)",
        "np.broadcast_to(a[:1], (2 * n,))",
        "np.concatenate((np.broadcast_to(b, (n,)), np.broadcast_to(b, (n,)), np.broadcast_to(b, (n,)), np.broadcast_to(b, (n,))))",
    ],
)
def test_sizes_that_no_array_has(call: str) -> None:
    scope: dict[str, object] = {"np": np}
    text = f"def f(a, b, n):\n    return {call}\n"
    exec(text, scope)
    with pytest.raises((ValueError, MemoryError)):
        weft.njit(scope["f"])(np.zeros(8), np.zeros(1, np.int8), 1 << 61)


def test_short_statements_can_be_interrupted() -> None:
    @weft.njit
    def busy(a: np.ndarray, n: int) -> None:
        for _ in range(n):
            a += 1.0

    class Called(Exception):
        pass

    def handler(_number: int, _frame: object) -> None:
        raise Called

    a = np.zeros(64)
    busy(a, 1)
    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        start = time.perf_counter()
        with pytest.raises(Called):
            busy(a, 10_000_000_000)
        assert time.perf_counter() - start < 20
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("debug", [False, True])
def test_a_number_is_stored_twice_without_a_race(debug: bool) -> None:
    @weft.njit(debug=debug)
    def store(a: np.ndarray, i: np.ndarray) -> None:
        a[i] = 2

    a = np.arange(12.0).reshape(3, 4)
    store(a, np.array([0, 0]))
    assert (a[0] == 2).all()

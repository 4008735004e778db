"""Signals that tests send to themselves."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator


class Called(Exception):
    """What the test's signal handler raises."""


@contextlib.contextmanager
def signal_in(seconds: float) -> Iterator[None]:
    """A signal after a while, whose handler raises `Called`."""

    def handler(_number: int, _frame: object) -> None:
        raise Called

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

"""pytest's part of `run.py`: a time limit for each test, outcomes as lines of JSON."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
import stand_in

OUT = Path(os.environ["WEFT_PEERS_OUT"])
SECONDS = 60


def write(name: str, outcome: str, why: str) -> None:
    with OUT.open("a") as file:
        file.write(json.dumps([name, outcome, why]) + "\n")


def last_line(text: str) -> str:
    lines = [line[2:].strip() for line in text.splitlines() if line.startswith("E ")]
    return (lines[0] if lines else text.strip().splitlines()[-1] if text.strip() else "")[:200]


def pytest_collection_finish() -> None:
    """From here on what Weft does not have cannot be used."""
    stand_in.Missing.importing = False


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: Any) -> Any:
    """Ends a test that takes too long."""

    def late(_number: int, _frame: Any) -> None:
        raise TimeoutError(f"over {SECONDS} seconds")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    write(item.nodeid.partition("::")[2], "crashed", "the process ended while it ran")
    yield
    signal.alarm(0)


def pytest_runtest_logreport(report: Any) -> None:
    """The outcome of a test, or of setting it up."""
    if report.when == "call" or report.outcome != "passed":
        why = "" if report.outcome == "passed" else str(report.longrepr) if report.skipped else last_line(report.longreprtext)
        write(report.nodeid.partition("::")[2], report.outcome, why[:300])


def pytest_collectreport(report: Any) -> None:
    """A module that cannot be imported."""
    if report.outcome == "failed":
        write("*", "failed", last_line(report.longreprtext))

"""pytest's part of `run.py`: the outcome of each test, and why, as lines of JSON."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

OUT = Path(os.environ["WEFT_ARRAY_API_OUT"])


def pytest_runtest_logreport(report: Any) -> None:
    """The outcome of a test, or of setting it up."""
    # With xdist every process has this hook; the one that hands out the tests hears of all of them.
    if "PYTEST_XDIST_WORKER" in os.environ or (report.when != "call" and report.outcome == "passed"):
        return
    _write(report.nodeid, report.outcome, report.longrepr[2] if report.skipped else _cause(report.longreprtext))


def pytest_collectreport(report: Any) -> None:
    """A module that cannot be imported."""
    if report.outcome == "failed" and "PYTEST_XDIST_WORKER" not in os.environ:
        _write(report.nodeid, "failed", _cause(report.longreprtext))


def _write(test: str, outcome: str, why: str) -> None:
    with OUT.open("a") as file:
        file.write(json.dumps([test, outcome, why]) + "\n")


def _cause(text: str) -> str:
    """The line of a traceback that says what went wrong: under Hypothesis's notes it is the last error's first."""
    lines = [line.lstrip("| +E").strip() for line in text.splitlines() if line.lstrip(" |+").startswith("E ")]
    told = [line for line in lines if "Error" in line or "Exception" in line]
    return next(iter(told or lines), "")[:300]

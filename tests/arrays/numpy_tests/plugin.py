"""pytest's part of `run.py`: puts Weft behind `numpy`, limits of time for each test and of memory, outcomes as lines of JSON."""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from _pytest.assertion.rewrite import AssertionRewritingHook

sys.path.insert(0, str(Path(__file__).parents[2]))
from arrays.fuzz import worker
from arrays.numpy_tests import modules
from arrays.numpy_tests.behind import Behind, Missing

FOLDER = Path(os.environ["WEFT_NUMPY_TESTS_FOLDER"])
HUNG = (FOLDER / "hung").open("w")
WANTED = set((FOLDER / "only").read_text().splitlines())
DONE = set((FOLDER / "done").read_text().splitlines())
SECONDS = 20
"""A test may compute so long, whatever else the machine does. Python raises in it then; where it is not reached, the process ends later."""
MEMORY = 6 << 30
"""Bytes of addresses: what asks for more fails here, and not the machine."""

resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
BEHIND = Behind(worker.modules(os.environ["WEFT_NUMPY_TESTS_MODULE"])(), os.environ["WEFT_NUMPY_TESTS_PART"])
_plain_exec = AssertionRewritingHook.exec_module


def _exec(self: AssertionRewritingHook, module: Any) -> None:
    """Gives modules of tests their own `__import__`."""
    path = Path(module.__spec__.origin or "")
    if not path.name.startswith("test_"):
        _plain_exec(self, module)
        return
    for test, why in modules.execute(module, path, BEHIND.builtins(), self.config).items():
        write(name_of(f"{path.parent.name}/{path.name}::{test}"), "failed", f"cannot be collected: {why}"[:200])


AssertionRewritingHook.exec_module = _exec  # type: ignore[method-assign]


def name_of(nodeid: str) -> str:
    """`file::Class::test[parameters]`, with nothing of where NumPy is installed."""
    file, _, test = nodeid.partition("::")
    return f"{Path(file).parent.name}/{Path(file).stem}::{test}"


def write(name: str, outcome: str, why: str = "") -> None:
    with (FOLDER / "out").open("a") as file:
        file.write(json.dumps([name, outcome, why]) + "\n")


def last_line(text: str) -> str:
    """What a traceback says: the last error's first line."""
    lines = [line.lstrip(" |+E").strip() for line in text.splitlines() if line.lstrip(" |+").startswith("E ")]
    told = next((line for line in lines if "Error" in line or "NotThere" in line), lines[0]) if lines else text.strip()[-200:]
    return told.removeprefix("arrays.numpy_tests.behind.")[:200]


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Leaves what is asked for and has not run yet."""
    kept = [item for item in items if _is_wanted(name_of(item.nodeid)) and name_of(item.nodeid) not in DONE]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


def _is_wanted(name: str) -> bool:
    return not WANTED or name in WANTED or name.partition("[")[0] in WANTED


def pytest_collection_finish() -> None:
    """From here on what Weft does not have cannot be used."""
    Missing.importing = False


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: Any) -> Any:
    """Ends a test that takes too long."""

    def late(_number: int, _frame: Any) -> None:
        raise TimeoutError(f"over {SECONDS} seconds")

    signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS, 1)
    faulthandler.dump_traceback_later(5 * SECONDS, exit=True, file=HUNG)
    BEHIND.used = False
    write(name_of(item.nodeid), "crashed", "the process ended while it ran")
    yield
    signal.setitimer(signal.ITIMER_PROF, 0)
    faulthandler.cancel_dump_traceback_later()


def pytest_runtest_logreport(report: Any) -> None:
    """The outcome of a test, or of setting it up. What has passed without Weft says nothing of it."""
    if report.when != "call" and report.outcome == "passed":
        return
    expected = hasattr(report, "wasxfail")
    if report.outcome == "passed" and not expected:
        write(name_of(report.nodeid), "passed" if BEHIND.used else "apart")
    elif report.outcome == "skipped" or expected:
        write(name_of(report.nodeid), "skipped", str(report.wasxfail if expected else report.longrepr[2])[:200])
    else:
        write(name_of(report.nodeid), "failed", last_line(report.longreprtext))


def pytest_collectreport(report: Any) -> None:
    """A module that cannot be imported."""
    if report.outcome == "failed":
        write(name_of(f"{report.nodeid}::*"), "failed", last_line(report.longreprtext))

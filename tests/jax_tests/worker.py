"""Runs one file of JAX's tests with Weft behind its names: a line of JSON for each test."""

from __future__ import annotations

import importlib.util
import json
import re
import signal
import sys
import traceback
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SECONDS = 20
"""A test may take so long."""


def main(path: str, wanted: str) -> None:
    """Runs the tests of a file, or those of a list in another."""
    from jax_tests import behind

    behind.install()
    _allow_no_samples()
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    names = set(Path(wanted).read_text().split()) if wanted else None
    behind.Missing.importing = False
    for test in _tests(unittest.defaultTestLoader.loadTestsFromModule(module)):
        name = name_of(Path(path).stem, test)
        if names is None or name in names or name.partition("[")[0] in names:
            print(json.dumps([name, "crashed", "the process ended"]), flush=True)
            print(json.dumps([name, *_run(test, behind)]), flush=True)


def _allow_no_samples() -> None:
    """Parameters that are made of what is not there are none: their test is left out, and not the file."""
    from absl.testing import parameterized

    def patient(plain: Any) -> Any:
        def decorator(*cases: Any, **grid: Any) -> Any:
            try:
                return plain(*cases, **grid)
            except parameterized.NoTestsError:
                return lambda function: None

        return decorator

    for name in ("parameters", "named_parameters", "product"):
        setattr(parameterized, name, patient(getattr(parameterized, name)))


def name_of(file: str, test: Any) -> str:
    """`file::Class::test[number of its sample]`."""
    kind, method = type(test).__name__, test._testMethodName
    found = re.fullmatch(r"(.*?)(\d+)", method)
    base = found and hasattr(type(test), method) and not method.startswith("test_") and found[2] != ""
    return f"{file}::{kind}::{found[1]}[{found[2]}]" if base else f"{file}::{kind}::{method}"


def _tests(suite: Any) -> Iterator[Any]:
    for each in suite:
        if isinstance(each, unittest.TestSuite):
            yield from _tests(each)
        else:
            yield each


def _run(test: Any, behind: Any) -> tuple[str, str]:
    def late(_number: int, _frame: Any) -> None:
        raise TimeoutError(f"over {SECONDS} seconds")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    behind.Used.now = False
    result = unittest.TestResult()
    try:
        test.run(result)
    except BaseException as error:
        return "failed", f"{type(error).__name__}: {error}"[:300]
    finally:
        signal.alarm(0)
    if result.skipped:
        return "skipped", result.skipped[0][1][:200]
    for _, text in result.failures + result.errors:
        return "failed", _gist(text)
    return ("passed" if behind.Used.now else "apart"), ""


def _gist(text: str) -> str:
    """The line of a traceback that says what is wrong."""
    lines = [line for line in text.strip().splitlines() if line and not line.startswith(" ")]
    told = next((line for line in lines if re.match(r"[\w.]+(Error|Exception|NotThere|There)\b", line)), lines[-1] if lines else "")
    rest = text.strip().split(told, 1)[-1].strip().splitlines()
    return f"{told} {rest[0] if told.rstrip().endswith(':') and rest else ''}".strip()[:300]


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    try:
        main(*sys.argv[1:3])
    except Exception:
        print(json.dumps([f"{Path(sys.argv[1]).stem}::*", "failed", "cannot be run: " + traceback.format_exc().strip().splitlines()[-1]]))

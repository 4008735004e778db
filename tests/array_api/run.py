"""``make array-api-tests``: the Array API standard's own tests on Weft's arrays.

They are in `build`, where ``make array-api-tests-setup`` puts them, or in the clone that ``ARRAY_API_TESTS`` names (with its submodule).
`expected_failures.txt` has what must fail, because NumPy means something else there: anything else that fails or is skipped fails the run,
and so does a test of that list that passes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
STANDARD = "2025.12"
OWN_SKIPS = ("array_api_tests/test_operators_and_elementwise_functions.py::test_remainder[",)
"""Tests that the suite itself never runs: it calls them flaky."""

Outcome = tuple[str, str]


def suite() -> Path:
    """Where the tests are."""
    return Path(os.environ.get("ARRAY_API_TESTS") or HERE / "build" / "array-api-tests").resolve()


def run(module: str, examples: int, jobs: int, names: list[str]) -> dict[str, Outcome]:
    """The outcome of each test, and why."""
    tests = suite()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out")
        out.touch()
        packages = [str(HERE), str(HERE / "build" / "packages"), os.environ.get("PYTHONPATH", "")]
        env = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(packages),
            "ARRAY_API_TESTS_MODULE": module,
            "ARRAY_API_TESTS_VERSION": STANDARD,
            "WEFT_ARRAY_API_OUT": str(out),
        }
        command = [sys.executable, "-m", "pytest", "-q", "--no-header", "--no-summary", "-p", "plugin", "-p", "no:cacheprovider",
                   "--disable-deadline", f"--max-examples={examples}", *(["-n", str(jobs)] if jobs > 1 else []),
                   *(names or ["array_api_tests"])]  # fmt: skip
        subprocess.run(command, env=env, cwd=tests, check=False)
        return {test: (outcome, why) for test, outcome, why in map(json.loads, out.read_text().splitlines())}


def expected_failures() -> set[str]:
    """The tests that must fail."""
    lines = (HERE / "expected_failures.txt").read_text().splitlines()
    return {line for line in lines if line.strip() and not line.startswith("#")}


def judge(found: dict[str, Outcome], expected: set[str], whole: bool) -> dict[str, list[str]]:
    """What is wrong, under titles."""
    wrong: dict[str, list[str]] = {
        "fail": [],
        "are skipped": [],
        "pass, though expected not to": [],
        "are expected to fail, but not there": [],
    }
    for test, (outcome, why) in sorted(found.items()):
        if outcome == "failed" and test not in expected:
            wrong["fail"].append(f"{test}  {why}")
        elif outcome == "skipped" and not test.startswith(OWN_SKIPS):
            wrong["are skipped"].append(f"{test}  {why}")
        elif outcome == "passed" and test in expected:
            wrong["pass, though expected not to"].append(test)
    if whole:
        wrong["are expected to fail, but not there"] = sorted(expected - set(found))
    return {title: lines for title, lines in wrong.items() if lines}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="like array_api_tests/test_sorting_functions.py::test_sort; all by default")
    parser.add_argument("--module", default="weft", help="the module that is tested")
    parser.add_argument("--max-examples", type=int, default=100, help="how many of each test")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args()
    if not (suite() / "array-api" / "spec" / STANDARD).exists():
        print("array-api-tests is not here with its submodule: make array-api-tests-setup gets it, or ARRAY_API_TESTS says where it is")
        return 1
    found = run(options.module, options.max_examples, options.jobs, options.names)
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(Counter(outcome for outcome, _ in found.values()).items())))
    wrong = judge(found, expected_failures(), whole=not options.names)
    for title, lines in wrong.items():
        print(f"\n{len(lines)} {title}:", *lines, sep="\n  ")
    return 1 if wrong or not found else 0


if __name__ == "__main__":
    sys.exit(main())

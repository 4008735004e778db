"""``make peer-tests``: numba-cuda's own tests, on Weft under Numba's name, against what is expected of each.

Nothing is fetched here: the tests are those in the wheel of `requirements.txt`, which ``make peer-tests-setup`` puts into `build`. They run
on the stand-in for the CUDA driver unless ``WEFT_CUDA_DRIVER`` names another.

`expected.txt` has what does not pass: a line with a pattern of tests, and behind it why. A failure that no line names fails the run, and
so does a test that passes though a line names it. A line that names a file has it left out. ``--write`` lists failures without a line, to
be given reasons.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import fnmatch
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE / "build"
# Out of its package, so that importing a test does not import numba-cuda.
TESTS = BUILD / "tests"
FOLDERS = ("cudapy", "cudadrv", "doc_examples")
FILE_SECONDS = 600

Outcome = tuple[str, str]


def unpacked() -> bool:
    """Whether the tests are there; takes them out of the installed package."""
    inside = BUILD / "numba_cuda" / "numba" / "cuda" / "tests"
    if inside.exists():
        shutil.rmtree(TESTS, ignore_errors=True)
        shutil.move(inside, TESTS)
    return TESTS.exists()


def run_file(name: str, place: Path) -> dict[str, Outcome]:
    """The outcome of each test of a file, and why; the file itself as `*` where it cannot be imported."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out")
        out.touch()
        env = {
            "WEFT_CUDA_DRIVER": "double",
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]),
            "WEFT_PEERS_TESTS": str(TESTS),
            "WEFT_PEERS_OUT": str(out),
        }
        command = [sys.executable, "-m", "pytest", "-q", "-p", "plugin", "-p", "no:cacheprovider", "--import-mode=importlib",
                   "-c", os.devnull, "--rootdir", str(place), str(place / f"{name}.py")]  # fmt: skip
        try:
            done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, timeout=FILE_SECONDS)
            said = (done.stdout + done.stderr).strip().splitlines()
        except subprocess.TimeoutExpired:
            said = [f"over {FILE_SECONDS} seconds"]
        found: dict[str, Outcome] = {}
        for line in out.read_text().splitlines():
            test, outcome, why = json.loads(line)
            # A test is reported again for each of its parts: one that fails is enough.
            if found.get(f"{place.name}/{name}::{test}", ("", ""))[0] != "failed":
                found[f"{place.name}/{name}::{test}"] = (outcome, why)
        return found or {f"{place.name}/{name}::*": ("failed", said[-1] if said else "no tests ran")}


def read_expected() -> dict[str, str]:
    """Why each pattern of tests fails."""
    lines = (HERE / "expected.txt").read_text().splitlines()
    pairs = [line.split(None, 1) for line in lines if line.strip() and not line.startswith("#")]
    return {pattern: reason for pattern, reason in pairs}


def judge(found: dict[str, Outcome], expected: dict[str, str]) -> tuple[list[str], list[str], list[str]]:
    """Failures without a line, tests that pass though a line names them, and lines that name nothing."""
    unexpected, better, used = [], [], set()
    for test, (outcome, why) in sorted(found.items()):
        # Names of parametrised tests have brackets, which mean something to fnmatch.
        names = [pattern for pattern in expected if fnmatch.fnmatchcase(test, pattern.replace("[", "[[]"))]
        used.update(names)
        if outcome in ("failed", "crashed") and not names:
            unexpected.append(f"{test}  {why}")
        elif outcome == "passed" and names:
            better.append(f"{test}  {expected[names[0]]}")
    return unexpected, better, [pattern for pattern in expected if "::" in pattern and pattern not in used]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", help="like cudapy/test_sync; all by default")
    parser.add_argument("--write", type=Path, help="where to list failures without a line")
    parser.add_argument("--verbose", action="store_true", help="every outcome")
    options = parser.parse_args()
    if not unpacked():
        print("numba-cuda's tests are not here: make peer-tests-setup gets them")
        return 1
    files = [(path.stem, path.parent) for folder in FOLDERS for path in sorted((TESTS / folder).glob("test_*.py"))]
    if options.files:
        files = [(name, place) for name, place in files if f"{place.name}/{name}" in options.files]
    expected = read_expected()
    left_out = {pattern for pattern in expected if "::" not in pattern}
    files = [(name, place) for name, place in files if f"{place.name}/{name}" not in left_out]
    found: dict[str, Outcome] = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for job in concurrent.futures.as_completed([pool.submit(run_file, *file) for file in files]):
            part = job.result()
            found.update(part)
            counts = Counter(outcome for outcome, _ in part.values())
            print(f"{next(iter(part)).partition('::')[0]}: {', '.join(f'{n} {outcome}' for outcome, n in counts.items())}", flush=True)
    unexpected, better, unused = judge(found, expected)
    if options.verbose:
        for test, (outcome, why) in sorted(found.items()):
            print(f"{outcome:8} {test}  {why}")
    if options.write:
        options.write.write_text("\n".join(unexpected) + "\n")
    counts = Counter(outcome for outcome, _ in found.values())
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))
    unused = [] if options.files else unused
    for title, lines in (("fail", unexpected), ("pass, though expected not to", better), ("named, but not there", unused)):
        if lines:
            print(f"\n{len(lines)} {title}:", *lines, sep="\n  ")
    return 1 if unexpected or better or unused else 0


if __name__ == "__main__":
    sys.exit(main())

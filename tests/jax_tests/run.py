"""``make jax-tests``: JAX's own tests of its transforms with Weft behind the names `jax`, `jax.numpy` and `jax.lax`.

Nothing is fetched here: ``make jax-tests-setup`` gets the tests of the version below into `build`. Every test of the files below is run;
one that uses a name of JAX's that Weft does not have ends there. `passing.txt` has those that pass and use Weft: each must. `others.txt`
has the rest, under the reasons why: one that passes without being in the list fails the run, as does one that neither list has. ``--write``
makes both lists anew. Of a test with parameters some samples are run, always the same; the lists have it by its name where all of them
passed or none did.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
TESTS = HERE / "build" / "tests"
VERSION = "0.10.2"
"""The JAX whose tests the lists are of."""

FILES = """api_test custom_api_test lax_autodiff_test lax_numpy_test lax_numpy_reducers_test lax_numpy_operators_test
lax_numpy_indexing_test lax_numpy_einsum_test"""
"""The files of tests that are run."""

FILE_SECONDS = 1200

REASONS = (
    (r"NotThere: (jax[\w.]*?)( is|'s)", "there is no {1}"),
    (r"cannot be run", "the file cannot be read"),
    (r"unexpected keyword argument '(\w+)'", "there is no argument {1}"),
    (r"no attribute '(\w+)'", "there is no {1}"),
    (r"Could not convert <.*Missing|'Missing'|must be an exception type", "names of JAX's that Weft does not have"),
    (r"does not match|Regex", "another text of an error"),
    (r"not raised", "accepted, where JAX raises an error"),
    (r"CaptureError", "elements are looked at inside vmap"),
    (r"(GradientError|UnsupportedError|WeftError): (.*)", "refused: {2}"),
    (r"only integer|integers|float0|int64", "integers, of which JAX has derivatives of a dtype of its own"),
    (r"over \d+ seconds", "takes too long"),
    (r"^AssertionError", "something else than JAX's"),
    (r"^(?:\w+\.)*(\w+Error)", "raises {1}, where JAX has a result"),
)
"""What a test fails with, and what is said of it in the list; the first that fits."""

Outcome = tuple[str, str]


def run_file(name: str, only: set[str] | None) -> dict[str, Outcome]:
    """The outcome of each test of a file."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = ""
        if only is not None:
            wanted = str(Path(folder, "only"))
            Path(wanted).write_text("\n".join(sorted(only)))
        command = [sys.executable, str(HERE / "worker.py"), str(TESTS / f"{name}.py"), wanted]
        try:
            said = subprocess.run(command, capture_output=True, text=True, timeout=FILE_SECONDS).stdout
        except subprocess.TimeoutExpired as error:
            said = (error.stdout or b"").decode()
    found: dict[str, Outcome] = {}
    for line in said.splitlines():
        try:
            test, outcome, why = json.loads(line)
        except ValueError:
            # What tests print.
            continue
        found[test] = (outcome, why)
    return found or {f"{name}::*": ("failed", "cannot be run")}


def reason(why: str) -> str:
    """What stands over a test in the list of the others."""
    why = re.sub(r"/\S*?/(?=\w+\.py)", "", why)
    for pattern, text in REASONS:
        if match := re.search(pattern, why):
            for number, group in enumerate(match.groups(), 1):
                text = text.replace(f"{{{number}}}", (group or "")[:110])
            return text
    return "fails"


def read(name: str) -> dict[str, str]:
    """The tests of a list, and the reason over each."""
    path = HERE / name
    found, why = {}, ""
    for line in path.read_text().splitlines() if path.exists() else []:
        if line.startswith("# "):
            why = line.removeprefix("# ")
        elif line.strip():
            found[line] = why
    return found


def family(name: str) -> str:
    """A test without the number of its sample."""
    return name.partition("[")[0]


def folded(names: set[str], everything: set[str]) -> list[str]:
    """Tests with the numbers of their samples, or without where all of them are in the set."""
    members: dict[str, set[str]] = defaultdict(set)
    for name in everything:
        members[family(name)].add(name)
    whole = {each for each, parts in members.items() if parts <= names}
    return sorted(whole | {name for name in names if family(name) not in whole})


def is_listed(name: str, names: dict[str, str]) -> bool:
    """Whether a list has a test."""
    return name in names or family(name) in names


def write_lists(found: dict[str, Outcome]) -> None:
    """Makes both lists anew."""
    telling = {name for name, (outcome, _) in found.items() if outcome in ("passed", "failed", "crashed")}
    passing = {name for name in telling if found[name][0] == "passed"}
    head = f"# Tests of JAX {VERSION} that pass with Weft behind its names\n"
    (HERE / "passing.txt").write_text(head + "\n".join(folded(passing, telling)) + "\n")
    groups: dict[str, set[str]] = defaultdict(set)
    for name in telling - passing:
        groups[reason(found[name][1])].add(name)
    lines = []
    for why, names in sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])):
        lines += [f"# {why}", *folded(names, telling), ""]
    (HERE / "others.txt").write_text("\n".join(lines))


def judge(found: dict[str, Outcome]) -> dict[str, list[str]]:
    """What is wrong, under titles."""
    passing, others = read("passing.txt"), read("others.txt")
    wrong: dict[str, list[str]] = {"fail": [], "pass, and are not in the list": [], "are in no list": []}
    for name, (outcome, why) in sorted(found.items()):
        if is_listed(name, passing) and outcome in ("failed", "crashed", "apart"):
            wrong["fail"].append(f"{name}  {why}")
        elif outcome == "passed" and not is_listed(name, passing):
            wrong["pass, and are not in the list"].append(name)
        elif outcome in ("failed", "crashed") and not is_listed(name, others):
            wrong["are in no list"].append(f"{name}  {why}")
    return {title: names for title, names in wrong.items() if names}


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="like api_test; all by default")
    parser.add_argument("--listed", action="store_true", help="only the tests that have to pass")
    parser.add_argument("--write", action="store_true", help="write both lists anew")
    parser.add_argument("--verbose", action="store_true", help="every outcome")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at once")
    options = parser.parse_args()
    if not TESTS.exists():
        print("JAX's tests are not here: make jax-tests-setup gets them")
        return 1
    only = {name for name in read("passing.txt")} if options.listed else None
    found: dict[str, Outcome] = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for part in pool.map(lambda name: run_file(name, only), options.files or FILES.split()):
            found.update(part)
            counts = Counter(outcome for outcome, _ in part.values())
            print(f"{next(iter(part)).partition('::')[0]}: {', '.join(f'{n} {outcome}' for outcome, n in counts.items())}", flush=True)
    if options.verbose:
        for name, (outcome, why) in sorted(found.items()):
            print(f"{outcome:8} {name}  {why}")
    if options.write:
        write_lists(found)
        return 0
    wrong = judge(found)
    for title, names in wrong.items():
        print(f"\n{len(names)} {title}:", *names, sep="\n  ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

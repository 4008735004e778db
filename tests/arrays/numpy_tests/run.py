"""``make numpy-tests``: NumPy's own tests of arrays (of its core and its library, of linear algebra, FFT and random numbers) with Weft
behind the name `numpy`.

They come with the NumPy that is installed. `passing.txt` has those that pass and use Weft: each must. `others.txt` has the rest, under the
reasons why: with ``--all`` every test runs, and one that passes without being in the list fails the run, as does one that neither list has.
``--write`` makes both lists anew, or what they have of the files that are named. Masked arrays are left out, and modules that are not about
arrays; tests that pass without using Weft say nothing of it and are in neither list.

A line of a list is a test, `core/test_numeric::TestResize::test_copies`: with its parameters in brackets, or without for all of them.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import numpy

HERE = Path(__file__).resolve().parent
MADE_WITH = "2.4"
"""The NumPy whose tests the lists are of."""

FILE_SECONDS = 900

LEFT_OUT = {
    "builds or reads C code": "test_cython test_limited_api test_mem_policy test_argparse test_custom_dtypes test_arraymethod test_simd "
    "test_simd_module test_cpu_dispatcher test_cpu_features test_hashtable test_extint128 test_conversion_utils test_api test_abc",
    "strings, dates, records, formats of files": "test_strings test_stringdtype test_defchararray test_unicode test_datetime test_records "
    "test_memmap test_recfunctions test_format test__datasource test__iotools test_scalarinherit",
    "processes, versions, printing of scalars": "test_multiprocessing test_multithreading test__version test_scalarprint test_longdouble "
    "test_mixins test_utils test__exceptions test_deprecations test_casting_unittests test_nditer test_einsum",
    "C code that draws from generators": "test_extending",
    "other series than powers": "test_chebyshev test_hermite test_hermite_e test_laguerre test_legendre",
}
"""Files that test something else than arrays of numbers, and why."""

INSIDES = "_core|_utils|core|lib|ma|testing|linalg|fft|random|ctypeslib|polynomial|rec|char|strings|f2py|matrixlib|dtypes|exceptions"

REASONS = (
    (
        rf"numpy\.(?:{INSIDES})\b.* is not there|'?Missing'? object|'Missing'|behind numpy",
        "NumPy's insides, or modules that Weft does not have",
    ),
    (r"numpy\.(\w+) is not there", "there is no {1}"),
    (r"acceptable base type|NameError", "subclasses of arrays, and what is built on them in the tests"),
    (
        r"arrays of dtype|dtype\('[OSUVMm]|StringDType|datetime|structured|longdouble|clongdouble|numpy\.object_|no fields|fields",
        "dtypes that Weft does not have: strings, dates, objects, records, longdouble, other orders of bytes",
    ),
    (r"over (\d+ seconds|all limits of time)", "takes too long"),
    (r"the process ended", "ends the process"),
    (r"DID NOT WARN|not warn|Warning", "warnings, which Weft does not give"),
    (r"FloatingPointError|floating point|errstate", "NumPy's error state, which has no say"),
    (r"cannot create 'weft.ndarray' instances", "arrays are made by functions: ndarray(...) makes none"),
    (r"cannot be assigned to", "shapes, dtypes and strides of arrays are not assigned to"),
    (
        r"memoryview|bytes-like|buffer|__array_(interface|struct)__|ctypes|to bytes|'data'",
        "memory is not shown: it is asked for by np.asarray(x) or DLPack",
    ),
    (
        r"<class 'numpy\.\w+'> (is|==) <class 'weft\.ndarray'>|<class 'weft\.ndarray'> (is|==) <class|<class 'weft.ndarray'>,|_integer",
        "an element is an array without axes, and no scalar",
    ),
    (r"UnsupportedError: weft\.([\w.]+)", "refused by name: {1}"),
    (r"unexpected keyword argument '?(\w+)|'(like)' in mappingproxy", "there is no argument {1}"),
    (r"'Test\w+' object has no attribute", "what the tests of a class are given is made by what Weft does not have"),
    (r"no attribute '(\w+)'", "there is no {1}"),
    (r"WeftError|weft\.errors", "refused by the compiler"),
    (r"Regex pattern did not match|does not match", "another text of an error"),
    (r"DID NOT RAISE|not raised|did not raise", "accepted, where NumPy raises an error"),
    (r"^AssertionError|^assert|^Failed", "something else than NumPy's"),
    (r"^(?:\w+\.)*(\w+Error)", "raises {1}, where NumPy has a result"),
)
"""What a test fails with, and what is said of it in the list; the first that fits."""

SCALARS = (
    "TestComparisons::test_.*_direct_comparison|TestImag::test_(cmplx|real)|TestReal::test_(cmplx|real)|test_scalar_repr_numbers|"
    "test_quantile_scalar_nan|test_percentile_scalar|TestPercentile::test_scalar_q|test_scalar_return_type|test_scalar_to_int_coerce"
)
"""Tests that ask whether an element is one of NumPy's scalars."""

OF_NUMBERS = (
    r"draws/\w+::(Test(RandomDist|Broadcast|Integers|Randint|SingleEltArrayInput|Thread|SetState|Multinomial|Binomial|Seed|MT19937)|"
    r"test_)"
)
"""Tests of random numbers that compare numbers, or the state of a generator, with those written down."""

NUMBERS = (
    r"^AssertionError:?$|ULP|'pos'|has_gauss|^assert (array\(False\)|\[\[\], \[\], 1\])|state must be a dict|"
    r"unhashable type: 'slice'|to unpack"
)
"""What tests of random numbers fail with that are of one generator's numbers, or of its state."""

UNSTABLE = r"test_identity_long_short(_reversed)?\["
"""Tests that compare random numbers closer than rounding allows: now they pass, now they do not. They are in neither list."""

Outcome = tuple[str, str]


def place() -> Path:
    """Where NumPy is."""
    return Path(numpy.__file__).parent


def unpacked(folder: Path) -> list[Path]:
    """Copies the tests out of their package, so that importing one does not import NumPy's; the files that are run, long ones first."""
    shutil.copy(place() / "conftest.py", folder)
    for part in ("core", "lib", "fft", "linalg", "polynomial", "draws"):
        # Beside a folder of the name `random`, Python's own module cannot be imported.
        shutil.copytree(
            place() / {"core": "_core", "draws": "random"}.get(part, part) / "tests", folder / part, ignore=shutil.ignore_patterns("__*")
        )
    out = {f"{name}.py" for names in LEFT_OUT.values() for name in names.split()}
    found = [path for path in folder.glob("*/test_*.py") if path.name not in out]
    return sorted(found, key=lambda path: (-path.stat().st_size, path))


def run_file(path: Path, module: str, only: list[str]) -> dict[str, Outcome]:
    """The outcome of each test of a file. One that ends the process is told, and the others go on in another."""
    found: dict[str, Outcome] = {}
    while True:
        before = len(found)
        found.update(_run_file(path, module, only, list(found)))
        if not any(outcome == "crashed" for outcome, _ in list(found.values())[before:]) or len(found) == before:
            return found


def _run_file(path: Path, module: str, only: list[str], done: list[str]) -> dict[str, Outcome]:
    with tempfile.TemporaryDirectory() as folder:
        for name, lines in (("out", []), ("hung", []), ("only", only), ("done", done)):
            Path(folder, name).write_text("\n".join(lines))
        env = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "WEFT_NUMPY_TESTS_FOLDER": folder,
            "WEFT_NUMPY_TESTS_MODULE": module,
            "WEFT_NUMPY_TESTS_PART": path.parent.name,
        }
        # Long tracebacks of thousands of failures take longer than the tests.
        options = ["-q", "-p", "plugin", "-p", "no:cacheprovider", "--import-mode=importlib", "--tb=short", "--available-memory=1GB"]
        options += ["-m", "not slow", "-c", os.devnull, "--rootdir", str(path.parents[1])]
        command = [sys.executable, "-m", "pytest", *options, str(path)]
        try:
            ended = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, errors="replace", timeout=FILE_SECONDS)
            said = ended.stdout.strip().splitlines()
        except subprocess.TimeoutExpired:
            # The test that it was at has been told as one that ends the process.
            said = [f"over {FILE_SECONDS} seconds"]
        found: dict[str, Outcome] = {}
        for test, outcome, why in map(json.loads, Path(folder, "out").read_text().splitlines()):
            # A test is told again for each of its parts: one that fails is enough.
            if found.get(test, ("", ""))[0] != "failed":
                found[test] = (outcome, why)
        hung = Path(folder, "hung").read_text()
        if hung and found:
            last = list(found)[-1]
            found[last] = ("crashed", f"over all limits of time: {' '.join(hung.split())[:400]}")
        if found or done or only:
            return found
        return {f"{path.parent.name}/{path.stem}::*": ("failed", said[-1] if said else "no tests ran")}


def reason(name: str, why: str) -> str:
    """What stands over a test in the list of the others."""
    if re.search(SCALARS, name):
        return "an element is an array without axes, and no scalar"
    if re.search(OF_NUMBERS, name) and re.search(NUMBERS, why):
        return "numbers of another bit generator, such as MT19937 or PCG64"
    for pattern, text in REASONS:
        match = re.search(pattern, why)
        if match:
            return text.replace("{1}", next(filter(None, match.groups()), ""))
    return why.partition(":")[0] or "fails"


def read(name: str) -> list[str]:
    """The tests of a list."""
    path = HERE / name
    lines = path.read_text().splitlines() if path.exists() else []
    return [line for line in lines if line.strip() and not line.startswith("#")]


def folded(names: set[str], everything: set[str]) -> list[str]:
    """Tests with their parameters, or without where all of them are in the set."""
    families: dict[str, set[str]] = defaultdict(set)
    for name in everything:
        families[name.partition("[")[0]].add(name)
    whole = {family for family, members in families.items() if members <= names}
    return sorted(whole | {name for name in names if name.partition("[")[0] not in whole})


def is_stable(name: str) -> bool:
    """Whether a test has this name every time, and this outcome: not one with addresses in it."""
    return not re.search(rf" at 0x|\n|{UNSTABLE}", name)


def listed(name: str, names: set[str]) -> bool:
    """Whether a list has a test."""
    return name in names or name.partition("[")[0] in names


def read_groups() -> dict[str, set[str]]:
    """The others, by the reasons why."""
    groups: dict[str, set[str]] = defaultdict(set)
    path = HERE / "others.txt"
    why = ""
    for line in path.read_text().splitlines() if path.exists() else []:
        if line.startswith("# "):
            why = line.removeprefix("# ")
        elif line.strip():
            groups[why].add(line)
    return groups


def write_lists(found: dict[str, Outcome]) -> None:
    """Makes both lists anew, as far as they are of the files that ran."""
    ran = {file_of(name) for name in found}
    telling = {name for name, (outcome, _) in found.items() if outcome in ("passed", "failed", "crashed") and is_stable(name)}
    passing = {name for name in telling if found[name][0] == "passed"}
    kept = {name for name in read("passing.txt") if file_of(name) not in ran}
    (HERE / "passing.txt").write_text("\n".join(sorted({*folded(passing, telling), *kept})) + "\n")
    groups = {why: {name for name in names if file_of(name) not in ran} for why, names in read_groups().items()}
    failed: dict[str, set[str]] = defaultdict(set)
    for name in telling - passing:
        failed[reason(name, found[name][1])].add(name)
    for why, names in failed.items():
        groups.setdefault(why, set()).update(folded(names, telling))
    lines = [f"## left out, {why}: {names}" for why, names in LEFT_OUT.items()] + [""]
    for why, names in sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])):
        if names:
            lines += [f"# {why}", *sorted(names), ""]
    (HERE / "others.txt").write_text("\n".join(lines))


def file_of(name: str) -> str:
    """The file that a test of a list is in."""
    return name.partition("::")[0]


def judge(found: dict[str, Outcome], everything: bool) -> dict[str, list[str]]:
    """What is wrong, under titles."""
    passing, others = set(read("passing.txt")), set(read("others.txt"))
    wrong: dict[str, list[str]] = {"fail": [], "pass, and are not in the list": [], "are in no list": []}
    for name, (outcome, why) in sorted(found.items()):
        if outcome in ("failed", "crashed", "apart") and listed(name, passing):
            wrong["fail"].append(f"{name}  {why or 'passes without using Weft'}")
        elif outcome == "passed" and everything and not listed(name, passing) and is_stable(name):
            wrong["pass, and are not in the list"].append(name)
        elif outcome in ("failed", "crashed") and everything and not listed(name, others) and is_stable(name):
            wrong["are in no list"].append(f"{name}  {why}")
    seen = {part for name in found for part in (name, name.partition("[")[0])}
    wrong["are in the list, but not there"] = sorted(passing - seen)
    return {title: names for title, names in wrong.items() if names}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="like test_numeric; all by default")
    parser.add_argument("--all", action="store_true", help="not only those of the list")
    parser.add_argument("--write", action="store_true", help="write both lists anew")
    parser.add_argument("--verbose", action="store_true", help="every outcome")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at once")
    parser.add_argument("--module", default="weft", help="the module that is tested")
    options = parser.parse_args()
    if not numpy.__version__.startswith(MADE_WITH) and not options.write:
        print(f"the lists are of NumPy {MADE_WITH}, not of {numpy.__version__}")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        return run(unpacked(Path(folder)), options)


def run(files: list[Path], options: argparse.Namespace) -> int:
    """Runs what is asked for, and writes the lists or compares with them."""
    every = options.all or options.write
    only = defaultdict(list)
    for name in [] if every else read("passing.txt"):
        only[name.partition("::")[0].partition("/")[2]].append(name)
    chosen = [path for path in files if (not options.files or path.stem in options.files) and (every or path.stem in only)]
    found: dict[str, Outcome] = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = [pool.submit(run_file, path, options.module, only[path.stem]) for path in chosen]
        for job in concurrent.futures.as_completed(jobs):
            part = job.result()
            found.update(part)
            counts = Counter(outcome for outcome, _ in part.values())
            print(f"{next(iter(part), '').partition('::')[0]}: {', '.join(f'{n} {outcome}' for outcome, n in counts.items())}", flush=True)
    if options.verbose:
        for name, (outcome, why) in sorted(found.items()):
            print(f"{outcome:8} {name}  {why}")
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(Counter(outcome for outcome, _ in found.values()).items())))
    if options.write:
        write_lists(found)
        return 0
    wrong = judge(found, every)
    if options.files:
        wrong.pop("are in the list, but not there", None)
    for title, names in wrong.items():
        print(f"\n{len(names)} {title}:", *names, sep="\n  ")
    return 1 if wrong or not found else 0


if __name__ == "__main__":
    sys.exit(main())

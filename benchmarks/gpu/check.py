"""``make gpu-check``: the tests on this machine's GPU, then Weft against its peers there, into ``benchmarks/results/<device>.md``.

Nothing is fetched: it needs Weft's wheel, pytest and NumPy, and compares with numba-cuda, CuPy, PyTorch, Triton and JAX where they are
installed, and with Weft itself on devices of other kinds. All of it takes at most `--minutes`; parts there was no time for are left to
the next run. What is done is kept in ``gpu.json`` in the folder `--work`, so that a run that was stopped goes on where it was, unless
``--fresh`` says to start over.

``--small`` makes every size tiny, ``--dry`` also does without a GPU: Weft runs on the stand-in for the CUDA driver, numba-cuda and Triton
in their simulators, PyTorch and JAX on the processor, NumPy stands in for CuPy. Everyone runs once, results are checked, nothing is kept,
and the end says what has not been run.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(Path(__file__).parent))

import where  # noqa: E402

# The most seconds of measuring one part, and the part of all time that the tests may take.
LONGEST = 2.0
TESTS_SHARE = 0.5
# Seconds that the report needs at the end.
REPORT = 8.0
# So many hold arrays at the same time.
AT_ONCE = 8


class Progress:
    """What is done, on disk after each part, and the time left."""

    def __init__(self, setting: dict[str, Any], minutes: float, file: Path, fresh: bool) -> None:
        self.start = time.monotonic()
        self.end = self.start + 60 * minutes - REPORT
        self.file = file
        kept = json.loads(file.read_text()) if file.exists() and not fresh else {}
        if kept and kept["setting"] != setting:
            print("what was kept is of another device, size or version: starting over")
            kept = {}
        elif kept:
            print(f"going on with {len(kept['tests'])} files of tests and {len(kept['done'])} parts done (--fresh starts over)")
        self.kept = kept or {"setting": setting, "tests": {}, "done": {}, "left_out": {}}
        self.tests: dict[str, str] = self.kept["tests"]
        self.done: dict[str, Any] = self.kept["done"]
        self.left_out: list[str] = []

    def left(self) -> float:
        """Seconds."""
        return self.end - time.monotonic()

    def say(self, text: str, end: str = "\n") -> None:
        """A line with the time so far before it."""
        minutes, seconds = divmod(int(time.monotonic() - self.start), 60)
        print(f"{minutes}:{seconds:02}  {text}", end=end, flush=True)

    def keep(self) -> None:
        """Writes the file whole or not at all."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps(self.kept))
        new.replace(self.file)


def run_tests(progress: Progress, log: Path, only_collect: bool) -> None:
    """Every file of tests there is time for."""
    import suite

    until = time.monotonic() + TESTS_SHARE * progress.left()
    for file in suite.FILES:
        if file in progress.tests:
            progress.say(f"{file}: done before, {progress.tests[file]}")
            continue
        if until - time.monotonic() < 2:
            progress.left_out.append(file)
            continue
        progress.say(f"{file}: ", end="")
        outcome, ended = suite.run(file, until - time.monotonic(), log, only_collect)
        print(outcome, flush=True)
        if ended:
            progress.tests[file] = outcome
            progress.keep()
        else:
            progress.left_out.append(file)


def too_slow(done: dict[str, Any], method: str) -> dict[str, str]:
    """Who has taken so long over a smaller part of the same kind that this one would take all the time there is."""
    slow = {}
    for result in done.values():
        for name, seconds in result["times"].items():
            if result["method"] == method and seconds > 3 and result["ratios"].get(name, 0) > 30:
                slow[name] = "over 30 times slower in an earlier part"
    return slow


def run_part(progress: Progress, worker: Any, title: str, method: str, seconds: float) -> dict[str, Any] | None:
    """One part's outcome, however many contenders have to be left behind; None when time is over."""
    from worker import LostError

    shut_out = too_slow(progress.done, method)
    while True:
        try:
            return worker.run(title, seconds, shut_out, progress.end)
        except LostError as lost:
            if lost.out_of_time:
                return None
            if lost.name in shut_out:
                raise
            print(f"({lost.name} {lost.why}) ", end="", flush=True)
            shut_out[lost.name] = lost.why


def run_parts(progress: Progress, worker: Any, settings: tuple[bool, int, int]) -> None:
    """Every part there is time for that is not done yet."""
    import parts
    import report

    jobs = [(part.title, part.method) for part in parts.all_parts(*settings)]
    jobs[4:4] = [(parts.LAUNCH, "launch"), (parts.FIRST, "first")]
    for number, (title, method) in enumerate(jobs, 1):
        place = f"[{number:2}/{len(jobs)}] {title}: "
        if title in progress.done:
            progress.say(place + "done before")
            continue
        if progress.left() < 5:
            progress.say(place + "no time left; the next run goes on here")
            progress.left_out.append(title)
            continue
        progress.say(place, end="")
        result = run_one(progress, worker, title, method, len(jobs) - number + 1, settings[0])
        if result is None:
            print("no time left; the next run goes on here", flush=True)
            progress.left_out.append(title)
            continue
        progress.done[title] = result
        progress.kept["left_out"] = worker.left_out
        progress.keep()
        print(report.line(result), flush=True)


def run_one(progress: Progress, worker: Any, title: str, method: str, parts_left: int, small: bool) -> dict[str, Any] | None:
    """A part's outcome; one of which nothing can be measured has that as its outcome."""
    share = progress.left() / parts_left
    seconds = min(60.0, 2 * share) if method == "first" else min(LONGEST, share / 3)
    seconds = 0.0 if where.DRY else 0.02 if small else seconds
    try:
        return run_part(progress, worker, title, method, seconds)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"[:160]
        return {"method": method, "bytes": 0, "copied": 0, "times": {}, "ratios": {}, "samples": {}, "wrong": [], "failed": {"weft": why}}


def check(options: argparse.Namespace) -> Progress:
    """All of it."""
    import report
    from worker import Worker

    import weft

    try:
        device = weft.device("cuda")
    except ValueError:
        sys.exit("\n".join(["there is no CUDA device to check:", *weft._weft.cuda_status()]))
    print(device, flush=True)
    versions = report.versions()
    build = hashlib.blake2b(Path(weft._weft.__file__).read_bytes(), digest_size=8).hexdigest()
    setting = {"device": str(device), "versions": versions, "build": build, "small": options.small}
    progress = Progress(setting, options.minutes, options.work / "gpu.json", options.fresh)
    progress.keep()
    if not options.skip_tests:
        run_tests(progress, options.work / "gpu-tests.log", options.dry)
    settings = (options.small, device.memory()["free"], AT_ONCE)
    os.environ[where.ERRORS] = str((options.work / "gpu-errors.log").resolve())
    worker = Worker(settings, options.patience)
    try:
        run_parts(progress, worker, settings)
    finally:
        worker.stop()
    text = report.markdown(device, progress.kept, versions, progress.left_out)
    path = report.write(text, device, progress.kept, options.out)
    print(text)
    print(f"written to {path}")
    if not progress.left_out:
        progress.file.unlink(missing_ok=True)
    return progress


def verdict(progress: Progress) -> int:
    """1 if tests failed, or results of Weft's are wrong or missing."""
    import suite

    bad = [file for file, outcome in progress.tests.items() if suite.bad(outcome)]
    bad += [title for title, result in progress.done.items() if "weft" in (*result["wrong"], *result["failed"])]
    for what in bad:
        print(f"went wrong: {what}")
    return 1 if bad else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="tiny sizes, to try the command")
    parser.add_argument("--dry", action="store_true", help="tiny sizes, once, without a GPU: everyone on whatever stands in for it")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results", help="where the results go")
    parser.add_argument("--work", type=Path, default=ROOT / "benchmarks" / "build", help="where a run that was stopped finds what is done")
    parser.add_argument("--skip-tests", action="store_true")
    parser.add_argument("--fresh", action="store_true", help="start over, whatever a run that was stopped has done")
    parser.add_argument("--minutes", type=float, default=7.5, help="the most that all of it takes")
    parser.add_argument("--patience", type=float, default=60.0, help="the most seconds of one step of one contender")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if not options.dry:
        return verdict(check(options))
    if not where.DRY:
        # Once more, with the environment that the peers look at when they are imported.
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **where.stand_ins()})
    import dry

    with tempfile.TemporaryDirectory() as folder:
        options.small = options.fresh = True
        options.work = options.out = Path(folder)
        progress = check(options)
    return dry.conclude(progress.done, progress.kept["left_out"]) | verdict(progress)


if __name__ == "__main__":
    sys.exit(main())

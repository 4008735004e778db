"""``make gpu-check``: the tests on this machine's GPU, then Weft against its peers there, into ``benchmarks/results/<device>.md``.

Nothing is fetched: it needs Weft's wheel, pytest and NumPy, and compares with numba-cuda, CuPy, PyTorch, Triton and JAX where they are
installed, and with Weft itself on devices of other kinds. All of it takes at most `--minutes`; parts there was no time for are left to
the next run. What is done is kept in ``benchmarks/build/gpu.json``, so that a run that was stopped goes on where it was, unless
``--fresh`` says to start over. ``--small`` makes every size tiny: for trying the command itself, on the CUDA driver's double for example.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(Path(__file__).parent))

import contenders  # noqa: E402
import parts  # noqa: E402
import report  # noqa: E402

TESTS = ["tests/kernels", "tests/python/test_devices.py", "tests/python/test_streams.py", "tests/python/test_interop.py",
         "tests/python/test_profile.py", "tests/python/test_cuda_memory.py", "tests/python/test_two_devices.py",
         "tests/python/test_interrupts.py", "tests/python/test_overloads.py"]  # fmt: skip
KEPT = ROOT / "benchmarks" / "build" / "gpu.json"
LAUNCH = "warm launch, three arrays (host time)"
FIRST = "first call, Mandelbrot"
# The most seconds of measuring one part, and the part of all time that the tests may take.
LONGEST = 2.0
TESTS_SHARE = 0.5


class Progress:
    """What is done, on disk after each part, and the time left."""

    def __init__(self, setting: dict[str, Any], minutes: float, fresh: bool) -> None:
        self.start, self.end = time.monotonic(), time.monotonic() + 60 * minutes
        kept = json.loads(KEPT.read_text()) if KEPT.exists() and not fresh else {}
        if kept and kept["setting"] != setting:
            print("what was kept is of another device, size or version: starting over")
            kept = {}
        elif kept:
            print(f"going on with {len(kept['done'])} parts done (--fresh starts over)")
        self.kept = kept or {"setting": setting, "done": {}}
        self.done: dict[str, Any] = self.kept["done"]
        self.left_out: list[str] = []

    def left(self) -> float:
        """Seconds."""
        return self.end - time.monotonic()

    def say(self, text: str, end: str = "\n") -> None:
        """A line with the time so far before it."""
        minutes, seconds = divmod(int(time.monotonic() - self.start), 60)
        print(f"{minutes}:{seconds:02}  {text}", end=end, flush=True)

    def keep(self, name: str, what: Any) -> None:
        self.done[name] = what
        KEPT.parent.mkdir(parents=True, exist_ok=True)
        KEPT.write_text(json.dumps(self.kept))


def too_slow(done: dict[str, Any]) -> set[str]:
    """Who has taken so long over a part that the larger ones would take all the time there is: Vulkan on a processor, say."""
    of_all = [(name, seconds, part["times"].get("weft", seconds)) for part in done.values() for name, seconds in part["times"].items()]
    return {name for name, seconds, weft in of_all if seconds > 0.1 and seconds > 30 * weft}


def set_up(
    libraries: list[Any], part: parts.Part, slow: set[str] = frozenset()
) -> tuple[dict[str, contenders.Contender], dict[str, str]]:  # fmt: skip
    """The contenders of a part, each of which has run once, and what kept others from it."""
    arguments = part.data()
    ready: dict[str, contenders.Contender] = {}
    failed: dict[str, str] = {}
    for library in libraries:
        make = getattr(library, part.method, None)
        if make is None:
            continue
        if library.name in slow:
            failed[library.name] = "over 30 times slower in an earlier part"
            continue
        try:
            contender = make(*arguments)
            contender.run()
            contender.sync()
        except Exception as error:
            failed[library.name] = f"{type(error).__name__}: {error}".splitlines()[0][:120]
        else:
            ready[library.name] = contender
    return ready, failed


def measure(ready: dict[str, contenders.Contender], seconds: float) -> dict[str, float]:
    """Median seconds of each; they take turns."""
    times: dict[str, list[float]] = {name: [] for name in ready}
    until = time.perf_counter() + seconds
    while time.perf_counter() < until or min(map(len, times.values())) < 3:
        for name, contender in ready.items():
            start = time.perf_counter()
            contender.run()
            contender.sync()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(taken) for name, taken in times.items()}


def run_part(libraries: list[Any], part: parts.Part, seconds: float, slow: set[str]) -> dict[str, Any]:
    """What a part's contenders take, whose results are wrong, and who could not take part."""
    ready, failed = set_up(libraries, part, slow)
    first = ready["weft"].result() if "weft" in ready else None
    wrong = [name for name, contender in ready.items() if first is None or not part.agree(first, contender.result())]
    times = measure(ready, seconds) if ready else {}
    return {"bytes": part.moved, "times": times, "wrong": wrong, "failed": failed}


def launch_overhead(libraries: list[Any]) -> dict[str, Any]:
    """Host seconds of a warm launch with three arrays, without waiting for it."""
    times: dict[str, float] = {}
    ready, failed = set_up(libraries, parts.Part(LAUNCH, "launch", tuple, 0, parts.close(0)))
    for name, contender in ready.items():
        times[name] = float("inf")
        for _ in range(20):
            contender.sync()
            start = time.perf_counter()
            for _ in range(200):
                contender.run()
            times[name] = min(times[name], (time.perf_counter() - start) / 200)
    return {"bytes": 0, "times": times, "wrong": [], "failed": failed}


def first_call(libraries: list[Any]) -> dict[str, Any]:
    """Seconds of the first call in a new process."""
    times, failed = {}, {}
    for library in libraries:
        if library.name not in ("weft", *contenders.OTHERS) or not hasattr(library, "mandelbrot"):
            continue
        command = [sys.executable, str(Path(__file__).with_name("first_call.py")), library.name]
        try:
            taken = [float(subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout) for _ in range(3)]
            times[library.name] = statistics.median(taken)
        except (subprocess.SubprocessError, ValueError) as error:
            failed[library.name] = type(error).__name__
    return {"bytes": 0, "times": times, "wrong": [], "failed": failed}


def run_tests(seconds: float) -> str:
    """pytest's last line."""
    try:
        command = [sys.executable, "-m", "pytest", "-q", *TESTS]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return f"stopped after {seconds:.0f} seconds"
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    if done.returncode:
        print("\n".join(lines[-40:]) or done.stderr[-2000:])
    return lines[-1].strip("= ") if lines and done.returncode < 2 else f"pytest ended with {done.returncode}"


def run_all(progress: Progress, libraries: list[Any], small: bool, memory: int) -> None:
    """Every part there is time for that is not done yet."""
    timed = [library for library in libraries if not isinstance(library, contenders.Elsewhere)]
    jobs = [(part.title, lambda seconds, part=part: run_part(libraries, part, seconds, too_slow(progress.done)))
            for part in parts.all_parts(small, memory, len(timed))]  # fmt: skip
    jobs += [(LAUNCH, lambda seconds: launch_overhead(libraries)), (FIRST, lambda seconds: first_call(libraries))]
    for number, (title, job) in enumerate(jobs, 1):
        place = f"[{number:2}/{len(jobs)}] {title}: "
        if title in progress.done:
            progress.say(place + "done before")
            continue
        if progress.left() < 5:
            progress.say(place + "no time left; the next run goes on here")
            progress.left_out.append(title)
            continue
        progress.say(place, end="")
        result = job(0.1 if small else min(LONGEST, progress.left() / (len(jobs) - number + 1) / 3))
        progress.keep(title, result)
        print(report.line(result), flush=True)
        gc.collect()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="tiny sizes, to try the command")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results", help="where the results go")
    parser.add_argument("--skip-tests", action="store_true")
    parser.add_argument("--fresh", action="store_true", help="start over, whatever a run that was stopped has done")
    parser.add_argument("--minutes", type=float, default=7.5, help="the most that all of it takes")
    options = parser.parse_args()
    import weft

    device = weft.device("cuda")
    weft.set_device(device)
    print(device)
    libraries, left_out = contenders.find()
    for name, why in left_out.items():
        print(f"{name}: {why}")
    versions = report.versions()
    setting = {"device": str(device), "versions": versions, "small": options.small}
    progress = Progress(setting, options.minutes, options.fresh)
    if not options.skip_tests and "tests" not in progress.kept:
        progress.say("tests: ", end="")
        progress.kept["tests"] = run_tests(TESTS_SHARE * progress.left())
        print(progress.kept["tests"], flush=True)
    run_all(progress, libraries, options.small, device.memory()["free"])
    text = report.markdown(device, progress.done, progress.kept.get("tests", "skipped"), versions, left_out, progress.left_out)
    path = report.write(text, device, progress.done, options.out)
    print(text)
    print(f"written to {path}")
    if not progress.left_out:
        KEPT.unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

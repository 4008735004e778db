"""The tests that concern devices, file by file, so that a run that is stopped goes on with the next file."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("devices", "streams", "interop", "cuda_memory", "profile", "overloads", "cooperation", "two_devices", "interrupts", "half",
         "vectorize", "bad_input", "mma")  # fmt: skip
FILES = ("tests/kernels", *(f"tests/python/test_{name}.py" for name in NAMES), "tests/arrays", "tests/math", "tests/of_scipy",
         "tests/for_cupy", "tests/examples")  # fmt: skip
# Folders have each test once for each kind of device: those of processors are not what is asked.
ON_GPUS = ("-k", "cuda or vulkan or nvidia or tensor_cores")
# With pytest-xdist so many run at the same time.
AT_ONCE = min(os.cpu_count() or 1, 12)
# Those that say nothing of devices run where WEFT_DEVICE says.
ANYWHERE = ("overloads", "cooperation", "half", "vectorize", "bad_input")


def run(file: str, seconds: float, log: Path, only_collect: bool) -> tuple[str, bool]:
    """pytest's last line about a file, and whether pytest got to its end. All it says is added to `log`."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-o",
        "addopts=",
        "-q",
        "-p",
        "no:cacheprovider",
        "-rfE",
        "--tb=short",
        *([] if file.endswith(".py") else ON_GPUS),
        *([] if only_collect or importlib.util.find_spec("xdist") is None else ["-n", str(AT_ONCE), "--dist", "worksteal"]),
        file,
    ]
    on_cuda = {"WEFT_DEVICE": "cuda"} if any(name in file for name in ANYWHERE) else {}
    ended = True
    # Into a file, not a pipe: what tests have started may outlive pytest and hold a pipe open.
    with log.open("a+") as out:
        out.write(f"==> {file}\n")
        out.flush()
        start = out.tell()
        collect = ["--collect-only"] if only_collect else []
        process = subprocess.Popen([*command, *collect], cwd=ROOT, env={**os.environ, **on_cuda}, stdout=out, stderr=subprocess.STDOUT)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            ended = False
        finally:
            process.kill()
            process.wait()
        out.seek(start)
        lines = [line for line in out.read().splitlines() if line.strip()]
    if not ended:
        return f"stopped after {seconds:.0f} seconds", False
    if process.returncode:
        print("\n", *lines[-30:], sep="\n")
    last = lines[-1].strip("= ") if lines else "it said nothing"
    return (last if process.returncode in (0, 1) else f"pytest ended with {process.returncode}: {last}"), True


def bad(outcome: str) -> bool:
    """Whether pytest's last line tells of a failure."""
    return any(word in outcome for word in ("failed", "error", "ended with", "stopped"))

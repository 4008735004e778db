"""The tests that concern devices, file by file, so that a run that is stopped goes on with the next file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = ("tests/kernels", *(f"tests/python/test_{name}.py" for name in (
    "devices", "streams", "interop", "cuda_memory", "profile", "overloads", "cooperation", "two_devices", "interrupts", "half", "vectorize",
    "bad_input")))  # fmt: skip
# Those that say nothing of devices run where WEFT_DEVICE says.
ANYWHERE = ("overloads", "cooperation", "half", "vectorize", "bad_input")


def run(file: str, seconds: float, log: Path, only_collect: bool) -> tuple[str, bool]:
    """pytest's last line about a file, and whether pytest got to its end. All it says is added to `log`."""
    command = [sys.executable, "-m", "pytest", "-o", "addopts=", "-q", "-p", "no:cacheprovider", "-rfE", "--tb=short", file]
    on_cuda = {"WEFT_DEVICE": "cuda"} if any(name in file for name in ANYWHERE) else {}
    process = subprocess.Popen(
        [*command, *(["--collect-only"] if only_collect else [])],
        cwd=ROOT,
        env={**os.environ, **on_cuda},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    ended = True
    try:
        said, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        ended = False
        os.killpg(process.pid, signal.SIGKILL)
        said, _ = process.communicate()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    with log.open("a") as out:
        out.write(f"==> {file}\n{said}\n")
    lines = [line for line in said.splitlines() if line.strip()]
    if process.returncode and ended:
        print("\n", *lines[-30:], sep="\n")
    if not ended:
        return f"stopped after {seconds:.0f} seconds", False
    last = lines[-1].strip("= ") if lines else "it said nothing"
    return (last if process.returncode in (0, 1) else f"pytest ended with {process.returncode}: {last}"), True


def bad(outcome: str) -> bool:
    """Whether pytest's last line tells of a failure."""
    return any(word in outcome for word in ("failed", "error", "ended with", "stopped"))

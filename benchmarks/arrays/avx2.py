"""NumPy without its AVX-512 code, in a process of its own: NumPy chooses when it is imported.

What is timed is a word to that process, the call there and a word back: some 50 µs beside the call.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parent.parent))
from harness import Contender, NotInstalledError, Work

NAME = "numpy, AVX2"
# What NumPy 2.4 has code for beyond AVX2, by its own names.
BEYOND = ["X86_V4", "AVX512_ICL", "AVX512_SPR"]


class Elsewhere:
    """A function of NumPy's in the other process, and what it gave last."""

    def __init__(self, function: str, argument: np.ndarray) -> None:
        environment = {**os.environ, "NPY_DISABLE_CPU_FEATURES": " ".join(BEYOND)}
        command = [sys.executable, "-W", "ignore", str(Path(__file__)), function]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        send(self.process.stdin, argument)
        if self._answer() != b"ready\n":
            raise NotInstalledError("a NumPy that takes its AVX2 code when asked to")

    def __call__(self) -> Elsewhere:
        """Calls it there, and waits for that."""
        self._say(b"call\n")
        self._answer()
        return self

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """The result."""
        self._say(b"result\n")
        return received(self.process.stdout)

    def _say(self, word: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(word)
        self.process.stdin.flush()

    def _answer(self) -> bytes:
        assert self.process.stdout is not None
        return self.process.stdout.readline()


def send(pipe: Any, array: Any) -> None:
    """An array through a pipe, its length in front."""
    file = io.BytesIO()
    np.save(file, array)
    pipe.write(b"%d\n" % file.tell() + file.getvalue())
    pipe.flush()


def received(pipe: Any) -> np.ndarray:
    """The other end."""
    return np.load(io.BytesIO(pipe.read(int(pipe.readline()))))


def contender(function: str, arguments: Callable[[], tuple[np.ndarray, ...]]) -> Contender:
    """A function of one array, called there."""

    def work() -> Work:
        return Elsewhere(function, *arguments())

    return Contender(NAME, work)


def serve(function: str) -> None:
    """The other process: reads the array, then calls until nobody asks any more."""
    from numpy._core._multiarray_umath import __cpu_features__

    given, told = sys.stdin.buffer, sys.stdout.buffer

    def say(answer: bytes) -> None:
        told.write(answer)
        told.flush()

    argument = received(given)
    is_so = __cpu_features__["AVX2"] and not any(__cpu_features__.get(name) for name in BEYOND)
    say(b"ready\n" if is_so else b"other code\n")
    result = None
    for asked in given:
        if asked == b"call\n":
            result = None
            result = getattr(np, function)(argument)
            say(b"done\n")
        else:
            send(told, result)


if __name__ == "__main__":
    serve(sys.argv[1])

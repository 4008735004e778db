"""Random programs as functions that can be captured: what needs elements, or raises, is left out."""

from __future__ import annotations

from typing import Any

import numpy as np

import weft
from arrays.fuzz.data import data
from arrays.fuzz.programs import generate
from weft._weft import ndarray


def host(x: Any) -> Any:
    """NumPy's arrays for those of Weft, in whatever they stand."""
    if isinstance(x, ndarray):
        return np.array(x)
    if isinstance(x, (tuple, list)):
        return [host(each) for each in x]
    if isinstance(x, dict):
        return {key: host(each) for key, each in x.items()}
    return x


def same(a: Any, b: Any) -> bool:
    """Bit for bit, in all dtypes and shapes."""
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return type(a) is type(b) and a == b


class Captured:
    """The program of a number: a function of the arrays that its first statements make, which gives all arrays that there are then."""

    def __init__(self, seed: int) -> None:
        lines = [line for line in generate(seed).lines if not line.startswith(("check", "xp.eval"))]
        first = next((at for at, line in enumerate(lines) if " = xp." not in line), len(lines))
        self.start, self.lines = lines[:first], lines[first:]
        self.given = self._names(self._run(self.start, {})[0])
        for _ in range(2):
            self.lines = self._captured()

    def _captured(self) -> list[str]:
        """The statements that do not raise while they are captured."""
        kept: list[str] = []

        def trial(*arrays: ndarray) -> None:
            kept.extend(self._run(self.lines, dict(zip(self.given, arrays)))[1])

        weft.compile(trial)(*self.arrays())
        return kept

    @staticmethod
    def _names(env: dict[str, Any]) -> list[str]:
        return sorted(name for name, value in env.items() if isinstance(value, ndarray))

    @staticmethod
    def _run(lines: list[str], env: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        env = {"xp": weft, "np": np, "data": data, **env}
        kept = []
        with np.errstate(all="ignore"):
            for line in lines:
                try:
                    exec(line, env)
                except Exception:
                    continue
                kept.append(line)
        return env, kept

    def arrays(self, turn: int = 0) -> list[ndarray]:
        """Arguments, in memory of their own: the same elements each time, turned by some places."""
        env = self._run(self.start, {})[0]
        return [weft.asarray(np.roll(host(env[name]), turn)) for name in self.given]

    def __call__(self, *arrays: ndarray) -> dict[str, ndarray]:
        env = self._run(self.lines, dict(zip(self.given, arrays)))[0]
        return {name: env[name] for name in self._names(env)}

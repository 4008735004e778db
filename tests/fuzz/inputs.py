"""Arguments of programs: numbers with hard values among them, arrays of every dtype with odd strides."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np

from fuzz.kinds import COMPLEX, FLOATS, INTEGERS, is_float


@dataclass(frozen=True)
class Input:
    """One argument: a number's or an array's kind, and for an array its shape and how it lies in memory."""

    name: str
    kind: str
    shape: tuple[int, ...] | None = None
    steps: tuple[int, ...] = ()
    order: str = "C"
    seed: int = 0
    zero: bool = False

    def make(self) -> Any:
        """The argument, anew each time."""
        rng = random.Random(self.seed)
        if self.shape is None:
            return number(rng, self.kind)
        dtype = np.dtype(getattr(np, self.kind))
        base = np.zeros([length * abs(step) for length, step in zip(self.shape, self.steps)], dtype, order=self.order)
        view = base[(*(slice(None, None, step) for step in self.steps), ...)]
        if not self.zero:
            for at in np.ndindex(view.shape):
                view[at] = number(rng, self.kind)
        return view


def number(rng: random.Random, kind: str) -> Any:
    """A number of the kind: mostly small, sometimes at the end of its range, infinite or none."""
    if kind in ("bool", "bool_"):
        return rng.random() < 0.5 if kind == "bool" else np.bool_(rng.random() < 0.5)
    if kind == "int":
        return rng.choice([0, 1, 2, 3, 7, 12, 100, -1, -5, -100, 999])
    if kind in INTEGERS:
        info = np.iinfo(kind)
        value = rng.choice([0, 1, 2, 3, 5, 100, info.max, info.min, info.max - 1, -1, -7, rng.randrange(info.min, info.max)])
        return getattr(np, kind)(min(max(value, info.min), info.max))
    if is_float(kind):
        value = rng.choice([0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.75, 100.0, 1e4, rng.uniform(-10, 10), rng.uniform(-1, 1)])
        if rng.random() < 0.12:
            value = rng.choice([float("inf"), -float("inf"), float("nan"), 1e-7, 6e4])
        return value if kind == "float" else getattr(np, kind)(value)
    return getattr(np, kind)(complex(number(rng, "float"), number(rng, "float")))


def random_array(rng: random.Random, name: str, kind: str, shape: tuple[int, ...], zero: bool = False) -> Input:
    """An array argument that lies in memory in one of many ways."""
    steps = tuple(rng.choice([1, 1, 1, 2, -1, -2, 3]) for _ in shape)
    return Input(name, kind, shape, steps, rng.choice("CCF"), rng.randrange(1 << 30), zero)


def random_number(rng: random.Random, name: str, kind: str) -> Input:
    """A number as an argument."""
    return Input(name, kind, seed=rng.randrange(1 << 30))


__all__ = ["COMPLEX", "FLOATS", "Input", "number", "random_array", "random_number"]

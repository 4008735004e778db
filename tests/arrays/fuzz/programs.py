"""Programs by number: statements, and loops of these. They are written while they run on the reference, which knows the arrays."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from arrays.fuzz import reference
from arrays.fuzz.bounded import Array
from arrays.fuzz.bounds import Undetermined
from arrays.fuzz.choices import Choices
from arrays.fuzz.data import data
from arrays.fuzz.statements import Statements

CHECK = "check()"
"""The statement at which all arrays are compared. `check('a1')` compares one."""


@dataclass
class Program:
    """Statements in the order in which they run, those of loops as often as they do."""

    seed: int
    lines: list[str] = field(default_factory=list)

    @property
    def few_wait(self) -> bool:
        """Most arrays of programs are so small that Weft would record nothing of half of them."""
        return self.seed % 2 == 1

    @property
    def part_bytes(self) -> int | None:
        """Small arrays are computed part by part, too, and by several threads, if parts are so small."""
        return 16 << self.seed // 4 % 5 if self.seed // 2 % 2 else None


def environment(module: Any) -> dict[str, Any]:
    """The names that programs start with."""
    return {"xp": module, "np": np, "data": data, "check": lambda *names: None}


def generate(seed: int) -> Program:
    """The program of this number."""
    rng = random.Random(seed)
    env = environment(reference.xp)
    width = rng.choice([8] * 6 + [200, 3000, 20_000])
    writer = Writer(Program(seed), env, Statements(Choices(rng, env, width)), rng.choice([0.0, 0.0, 0.05, 0.2]))
    with np.errstate(all="ignore"):
        writer.write(rng.choice([6, 12, 20, 40]))
    return writer.program


def lost(line: str) -> list[str]:
    """Names that a statement gives to something else, or takes away."""
    names = line.removeprefix("del ") if line.startswith("del ") else line.partition(" = ")[0] if " = " in line else ""
    return [name for name in names.split(", ") if name.isidentifier()]


@dataclass
class Writer:
    """Writes a program."""

    program: Program
    env: dict[str, Any]
    statements: Statements
    checks: float

    def write(self, count: int) -> None:
        """So many statements, some of them loops."""
        rng = self.statements.of.rng
        while len(self.program.lines) < count:
            if len(self.statements.of.names) > 2 and rng.random() < 0.06:
                self.loop(rng.randrange(2, 6), rng.randrange(1, 5))
            else:
                self.line()

    def loop(self, turns: int, length: int) -> None:
        """The same statements again: arrays are carried from turn to turn."""
        start = len(self.program.lines)
        for _ in range(length):
            self.line()
        body = self.program.lines[start:]
        for _ in range(turns - 1):
            for line in body:
                self.run(line)

    def line(self) -> None:
        """One more statement."""
        line = CHECK if self.statements.of.chance(self.checks) else self.statements.statement()
        if line is None:
            return
        for name in lost(line):
            # What goes without having been looked at tests nothing; what is always looked at never waits.
            if name in self.statements.of.names and self.statements.of.chance(0.6):
                self.run(f"check({name!r})")
        self.run(line)

    def run(self, line: str) -> None:
        """Runs a statement on the reference; one whose meaning is open is left out."""
        try:
            exec(line, self.env)
        except Undetermined:
            return
        except Exception:
            pass
        large = any(self.env[name].size > 200_000 for name in self.statements.of.names)
        if large:
            for name in [name for name in self.statements.of.names if self.env[name].size > 200_000]:
                del self.env[name]
            return
        self.program.lines.append(line)


def script(program: Program, module: str) -> str:
    """A program that runs by itself, on NumPy or on Weft: what raises on NumPy stands in a `try`."""
    text = [
        "# PYTHONPATH=tests python THIS",
        "import numpy as np",
        f"import {module} as xp",
        "from arrays.fuzz.data import data",
        "if xp is np:",
        "    xp.eval = lambda *arrays: None",
    ]
    if module == "weft" and program.few_wait:
        text.append("xp._weft._few_at_once(False)")
    if module == "weft" and program.part_bytes:
        text.append(f"xp._weft._part_bytes({program.part_bytes})")
    env = environment(reference.xp)
    for line in [*program.lines, CHECK]:
        try:
            exec(line, env)
            text += _read(line, env) if line.startswith("check(") else [line]
        except Undetermined:
            continue
        except Exception as error:
            text += ["try:", f"    {line}", "except Exception as error:", f"    print(type(error), error)  # {type(error).__name__}"]
    return "\n".join(text) + "\n"


def _read(line: str, env: dict[str, Any]) -> list[str]:
    """What prints one array or all."""
    names = [line[7:-2]] if line != CHECK else [name for name, value in env.items() if isinstance(value, Array)]
    return [f"print({name!r}, np.asarray({name}))" for name in names if name in env]

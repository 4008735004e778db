"""Programs by number: statements, and loops of these. They are written while they run on the reference, which knows what arrays there are."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from arrays.fuzz import reference
from arrays.fuzz.bounds import Undetermined
from arrays.fuzz.choices import Choices
from arrays.fuzz.data import data
from arrays.fuzz.statements import Statements

CHECK = "check()"
"""The statement at which all arrays are compared."""


@dataclass
class Program:
    """Statements in the order in which they run, those of loops as often as they do."""

    seed: int
    lines: list[str] = field(default_factory=list)


def environment(module: Any) -> dict[str, Any]:
    """The names that programs start with."""
    return {"xp": module, "np": np, "data": data, "check": lambda: None}


def generate(seed: int) -> Program:
    """The program of this number."""
    rng = random.Random(seed)
    env = environment(reference.xp)
    width = rng.choice([8] * 6 + [200, 3000, 20_000])
    writer = Writer(Program(seed), env, Statements(Choices(rng, env, width)), rng.choice([0.0, 0.0, 0.05, 0.2]))
    with np.errstate(all="ignore"):
        writer.write(rng.choice([6, 12, 20, 40]))
    return writer.program


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
            if len(self.statements.of.names) > 2 and rng.random() < 0.04:
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
        if line is not None:
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
    """A program that runs by itself, on NumPy or on Weft."""
    import inspect

    lines = "\n".join(f"tried({line!r})" for line in program.lines)
    return f'''import numpy as np
import {module} as xp


{inspect.getsource(data)}

def check():
    print({{name: np.asarray(value) for name, value in globals().items() if type(value) is type(xp.zeros(1))}})


def tried(line):
    try:
        exec(line, globals())
    except Exception as error:
        print(line, "raised", type(error).__name__, error)


if xp is np:
    xp.eval = lambda *arrays: None
{lines}
check()
'''

"""Programs by number: functions of some arrays, written while they run on the oracle."""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradients.fuzz.choices import COMPLEX, PRECISIONS, Parts, is_array
from gradients.fuzz.oracle import Double, OnNumPy, data, double
from gradients.fuzz.statements import Smooth

LARGEST = 6.0
"""No element of a program's arrays is larger."""

ROOTS = re.compile(r"std\(|norm\(|hypot\(|\.absolute\(|\babs\(|sqrt|\*\*|power\(|arctan2|angle")
"""What has no derivative where it gives zero."""

MOST = 48
"""No array of a program has more elements."""


@dataclass
class Program:
    """Statements of some inputs, which are given as text, and whether the first two are one array that was given twice."""

    seed: int
    precision: str = "double"
    inputs: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    @property
    def few_wait(self) -> bool:
        """Weft would record nothing of half of such small arrays."""
        return self.seed % 2 == 1

    def arguments(self) -> list[np.ndarray]:
        """The inputs."""
        return [eval(text, {"data": data, "np": np}) for text in self.inputs]

    def function(self, arr: bool = False) -> str:
        """The text of the function: all arrays at its end, by their names. With `arr` what a statement made is one of NumPy's arrays."""
        text = [f"def program({', '.join(f'x{at}' for at in range(len(self.inputs)))}):"]
        for line in self.lines:
            text.append(f"    {line}")
            if arr:
                text += [f"    {name} = arr({name})" for name in made(line)]
        return "\n".join([*text, "    return results(locals())"]) + "\n"

    @property
    def decides(self) -> bool:
        """Whether elements are looked at."""
        return any(re.search(r"\bif |bool\(|int\(|float\(|xp\.eval|sort|\[[^]]*[<>][^]]*\]|'bool'", line) for line in self.lines)


def made(line: str) -> list[str]:
    """The names that a statement gives to arrays."""
    return sorted(set(re.findall(r"\b([ax]\d+) = ", line)))


def arr(x: Any) -> np.ndarray:
    """NumPy's scalars are arrays without axes on Weft."""
    return np.array(x) if isinstance(x, np.generic) else x


def results(names: dict[str, Any]) -> dict[str, Any]:
    """The arrays of a function that have a gradient."""
    found = {name: value for name, value in names.items() if is_array(name) and hasattr(value, "dtype")}
    return {name: found[name] for name in sorted(found) if np.dtype(found[name].dtype).kind in "fc"}


def compiled(program: Program, module: Any, others: Any, is_oracle: bool = False) -> Callable[..., dict[str, Any]]:
    """The function of a program."""
    env = {"xp": module, "np": np, "t": others, "data": data, "arr": arr, "results": results}
    if is_oracle:
        env["data"] = lambda *args: double(data(*args))
    exec(program.function(is_oracle), env)
    return env["program"]


class OnOracle:
    """A program on the oracle, for its inputs and for others near them."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.kept: list[Any] = []
        self.arguments = [double(each) for each in program.arguments()]
        self.first = self._run(self.arguments, OnNumPy(self.kept))

    def _run(self, arguments: Sequence[np.ndarray], others: OnNumPy) -> dict[str, np.ndarray]:
        with np.errstate(all="ignore"):
            made = compiled(self.program, Double(), others, True)(*[each.copy("K") for each in arguments])
        return {name: np.array(value) for name, value in made.items()}

    def __call__(self, arguments: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
        return self._run(arguments, OnNumPy(self.kept, True))


def generate(seed: int) -> Program:
    """The program of this number."""
    rng = random.Random(seed)
    precision = rng.choice(["double"] * 7 + ["single"] * 3 + ["half"] * (seed % 4 == 0))
    program = Program(seed, precision)
    is_complex = rng.random() < 0.3
    parts = Parts(rng, {}, precision, is_complex)
    shape = parts.shape()
    for at in range(rng.choice([1, 1, 2, 2, 3])):
        if at and parts.chance(0.5):
            shape = parts.shape()
        text = f"data({rng.randrange(10**6)}, {shape}, {parts.dtype()!r})"
        if shape and parts.chance(0.25):
            text += parts.one_of(".T", "[::-1]", "[..., ::-1]", ".T.copy().T", "[1:]")
        program.inputs.append(text)
    if all(each.dtype.kind == "c" for each in program.arguments()) and not is_complex:
        raise AssertionError("floats were asked for")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Writer(program, parts).write(rng.choice([2, 4, 6, 9, 13]))
    return program


class Writer:
    """Writes a program."""

    def __init__(self, program: Program, parts: Parts) -> None:
        self.program = program
        self.parts = parts
        self.statements = Smooth(parts)
        self.start()

    def start(self) -> None:
        """Runs what is written."""
        env = self.parts.env
        env.clear()
        env |= {"xp": Double(), "np": np, "t": OnNumPy([]), "data": lambda *args: double(data(*args))}
        env |= {f"x{at}": double(each) for at, each in enumerate(self.program.arguments())}
        for line in self.program.lines:
            self.run(line)

    def run(self, line: str) -> None:
        """Runs a statement."""
        with np.errstate(all="ignore"):
            exec(line, self.parts.env)
        for name in made(line):
            self.parts.env[name] = arr(self.parts.env[name])

    def write(self, count: int) -> None:
        """So many statements that neither fail nor make large numbers."""
        tries = 0
        while len(self.program.lines) < count and tries < 8 * count:
            tries += 1
            line = self.statements.statement()
            if line is None:
                continue
            try:
                self.run(line)
                is_good = all(is_small(self.parts.env[name]) for name in self.parts.names) and self.has_no_root_of_zero(line)
            except Exception:
                is_good = False
            if is_good and self.parts.names:
                self.program.lines.append(line)
            else:
                self.start()

    def has_no_root_of_zero(self, line: str) -> bool:
        """Whether lengths and deviations are no zeros, where they have no derivative."""
        names = re.findall(r"\b([ax]\d+)\b(?:\[[^=]*\])? (?:\*\*)?= ", line)
        return not ROOTS.search(line) or all(np.all(np.abs(self.parts.env[name]) > 0.02) for name in names)


def is_small(array: np.ndarray) -> bool:
    """Whether an array is small, and its elements are."""
    return array.size <= MOST and bool(np.all(np.abs(array) <= LARGEST))


def dtypes(precision: str) -> list[str]:
    """The dtypes of programs of a precision."""
    return sorted({*PRECISIONS[precision], *(COMPLEX[name] for name in PRECISIONS[precision])})

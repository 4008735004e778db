"""Random C: expressions and statements over variables of random types, which a C compiler and `ElementwiseKernel` both take.

What C leaves undefined does not arise: divisors are not zero, counts of shifts are small, floats are in range of what they become.
"""

from __future__ import annotations

import ctypes
import random
import shutil
import subprocess
from pathlib import Path

import numpy as np

INTEGERS = {"int8": "signed char", "int16": "short", "int32": "int", "int64": "long long", "uint8": "unsigned char",
            "uint16": "unsigned short", "uint32": "unsigned int", "uint64": "unsigned long long"}  # fmt: skip
FLOATS = {"float32": "float", "float64": "double"}
TYPES = {"bool": "bool", **INTEGERS, **FLOATS}
COMPILER = shutil.which("cc")
PRELUDE = "#include <stdbool.h>\n#include <math.h>\n"
LITERALS = [
    "1",
    "7",
    "-3",
    "0x7f",
    "017",
    "100u",
    "2147483648",
    "0xFFFFFFFF",
    "5ll",
    "12345678901ull",
    "1.5",
    "0.1f",
    "2.5e-1",
    "'a'",
    "true",
]


class Maker:
    """Makes expressions; each says whether it is an integer, since some operators are of these only."""

    def __init__(self, seed: int, variables: dict[str, str]) -> None:
        self.random = random.Random(seed)
        self.variables = variables

    def expression(self, depth: int) -> tuple[str, bool]:
        """A text, and whether its value is an integer."""
        choice = self.random.random()
        if depth == 0 or choice < 0.15:
            if self.random.random() < 0.3:
                text = self.random.choice(LITERALS)
                return f"({text})", not ("." in text or (text.endswith("f") and not text.startswith("0x")))
            name = self.random.choice(list(self.variables))
            return name, self.variables[name] not in FLOATS
        if choice < 0.3:
            return self.cast(depth)
        if choice < 0.4:
            a, integer = self.expression(depth - 1)
            operator = self.random.choice("-+!~" if integer else "-+!")
            return f"({operator}{a})", integer or operator == "!"
        if choice < 0.5:
            (a, first), (b, second), (c, _) = (self.expression(depth - 1) for _ in range(3))
            return f"({c} ? {a} : {b})", first and second
        (a, first), (b, second) = self.expression(depth - 1), self.expression(depth - 1)
        integer = first and second
        operators = ["+", "-", "*", "<", "<=", ">", "==", "!=", "&&", "||", "/"]
        operator = self.random.choice(operators + (["%", "&", "|", "^", "<<", ">>"] if integer else []))
        if operator in ("/", "%") and integer:
            # Neither zero nor what the least integer overflows by.
            return f"({a} {operator} (({b} & 7) + 2))", True
        if operator in ("<<", ">>"):
            return f"({a} {operator} ({b} & 7))", True
        return f"({a} {operator} {b})", integer or operator in ("<", "<=", ">", "==", "!=", "&&", "||")

    def cast(self, depth: int) -> tuple[str, bool]:
        """A cast; floats become integers by way of what every integer type holds."""
        a, integer = self.expression(depth - 1)
        wanted = self.random.choice(list(TYPES))
        if wanted in INTEGERS and not integer:
            a = f"fmod({a} != {a} || fabs({a}) > 1e15 ? 1.25 : fabs({a}), 100.0)"
        return f"(({TYPES[wanted]}){a})", wanted not in FLOATS

    def body(self) -> tuple[str, dict[str, str]]:
        """Statements that assign to `z`, of a random type, with loops, branches and locals; and all types."""
        kind = self.random.choice(list(TYPES))
        local = self.random.choice(list(INTEGERS))
        lines = [f"{TYPES[local]} s = {self._as(local)};", f"{TYPES[kind]} t = {self._as(kind)};"]
        inner = dict(self.variables)
        self.variables = {**inner, "s": local, "t": kind}
        lines.append(f"for (int k = 0; k < {self.random.randint(1, 4)}; ++k) {{")
        self.variables["k"] = "int32"
        lines.append(f"  if ({self.expression(2)[0]}) {{ s += {self._as(local)}; continue; }} else t = {self._as(kind)};")
        lines.append(f"  {TYPES[local]} t = s; s ^= t >> 1; if (k > 2) break;")
        lines.append("}")
        del self.variables["k"]
        lines.append("int u = 3; while (u > 0) { u -= 1; s -= u; } do { s++; } while (s % 3 == 1);")
        lines.append(f"z = {self._as(kind)};")
        return "\n".join(lines), {**inner, "z": kind}

    def _as(self, kind: str) -> str:
        text, integer = self.expression(3)
        if kind in INTEGERS and not integer:
            return f"fmod({text} != {text} || fabs({text}) > 1e15 ? 2.75 : fabs({text}), 100.0)"
        return text


def compiled(bodies: list[tuple[str, dict[str, str]]], folder: Path) -> ctypes.CDLL:
    """A library with a function for each body, over rows of elements."""
    assert COMPILER is not None
    parts = [PRELUDE]
    for number, (body, types) in enumerate(bodies):
        rows = ", ".join(f"{TYPES[kind]} *row_{name}" for name, kind in types.items())
        reads = " ".join(f"{TYPES[kind]} {name} = row_{name}[at];" for name, kind in types.items())
        loop = f"for (long long at = 0; at < count; ++at) {{ {reads}\n{body}\nrow_z[at] = z; }}"
        parts.append(f"void body_{number}(long long count, {rows}) {{ {loop} }}")
    source, library = folder / "bodies.c", folder / "bodies.so"
    source.write_text("\n".join(parts))
    options = ["-shared", "-fPIC", "-O0", "-w", "-fwrapv", "-ffp-contract=off", "-fno-builtin"]
    subprocess.run([COMPILER, *options, str(source), "-o", str(library), "-lm"], check=True)
    return ctypes.CDLL(str(library))


def values(kind: str, count: int, seed: int) -> np.ndarray:
    """Elements of a type, the edges of its range among them."""
    rng = np.random.default_rng(seed)
    if kind == "bool":
        return rng.integers(0, 2, count).astype(bool)
    if kind in FLOATS:
        found = (rng.integers(-40, 41, count) / 8).astype(kind)
        found[:4] = [0.0, -0.0, 1e9, 0.1]
        return found
    limits = np.iinfo(kind)
    found = rng.integers(limits.min, limits.max, count, dtype=kind, endpoint=True)
    found[:4] = [0, 1, limits.min, limits.max]
    found[4 : count // 2] = rng.integers(0, 100, count // 2 - 4)
    return found


def run(library: ctypes.CDLL, number: int, types: dict[str, str], rows: dict[str, np.ndarray]) -> np.ndarray:
    """What a function of the library makes of rows."""
    count = len(next(iter(rows.values())))
    z = np.zeros(count, types["z"])
    pointers = [(z if name == "z" else rows[name]).ctypes.data_as(ctypes.c_void_p) for name in types]
    getattr(library, f"body_{number}")(ctypes.c_longlong(count), *pointers)
    return z

"""Fills in the expected values of the run lines of this folder: `python expect.py`.

A line `# run(types): f(args)` is evaluated by CPython on NumPy values of those types and becomes `# run(types): f(args) == value`.
Lines that say `where`, `raises`, `prints` or launch a kernel are left as they are: their expectations are written by hand.
"""

import cmath
import math
import re
import sys
import types
from pathlib import Path

import numpy as np

LINE = re.compile(r"^# run( parallel)?\(([^#]*?)\): (\w+)(\(.*)$")
WEAK = {"int": int, "float": float, "complex": complex, "pybool": bool}


def split_top(text: str) -> list[str]:
    parts, depth, part = [], 0, ""
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += c
    return [*parts, part.strip()] if part.strip() else parts


def convert(value: object, kind: str) -> object:
    if kind.startswith("("):
        return tuple(convert(v, k) for v, k in zip(value, split_top(kind[1:-1])))
    name, _, dims = kind.partition("[")
    if dims and "complex" in name:
        return np.array([complex(*v) for v in value], dtype=name)
    if dims:
        return np.array(value, dtype=name)
    if "complex" in name and isinstance(value, tuple):
        value = complex(*value)
    return WEAK[name](value) if name in WEAK else np.dtype(name).type(value)


def literal(value: object) -> str:
    if isinstance(value, tuple):
        return "(" + ", ".join(literal(v) for v in value) + ("," if len(value) == 1 else "") + ")"
    if isinstance(value, np.ndarray) and value.ndim:
        return "[" + ", ".join(literal(v) for v in value) + "]"
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (complex, np.complexfloating)):
        return f"({literal(value.real)}, {literal(value.imag)})"
    if isinstance(value, (float, np.floating)):
        return repr(float(str(value))) if math.isfinite(value) else str(value)
    return str(int(value))


def expected(line: str, world: dict) -> str:
    match = LINE.match(line)
    if match is None or any(word in line for word in (" where ", " raises ", " prints ")):
        return line
    parallel, kinds, name, call = match.groups()
    about = " ~=" in line
    call = re.split(r" [~=]=", call)[0].strip()
    values = eval("[" + call[1:-1] + "]", {"true": True, "false": False, "nan": math.nan, "inf": math.inf})  # noqa: S307
    args = [convert(v, k) for v, k in zip(values, split_top(kinds), strict=True)]
    try:
        with np.errstate(all="ignore"):
            result = world[name](*args)
    except UnboundLocalError:
        return line
    if result is None:
        return line
    return f"# run{parallel or ''}({kinds}): {name}{call} {'~=' if about else '=='} {literal(result)}"


def main() -> None:
    folder = Path(__file__).parent
    chosen = [Path(name) for name in sys.argv[1:]] or sorted(folder.glob("*.py"))
    for path in chosen:
        if path.name == "expect.py":
            continue
        text = path.read_text()
        world = {"np": np, "math": math, "cmath": cmath, "prange": range}
        world["cuda"] = types.SimpleNamespace(jit=lambda f: f)
        exec(compile(text, path, "exec"), world)  # noqa: S102
        path.write_text("\n".join(expected(line, world) for line in text.splitlines()) + "\n")


if __name__ == "__main__":
    main()

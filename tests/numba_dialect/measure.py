"""Measures what real Numba does with the expressions of `cases`: ``python measure.py`` in an environment that has Numba.

It compares with the table beside it and says what differs; with ``--write`` it writes the table. A line of the table is an expression, the
type Numba gives it, and for some groups its value for each row of arguments. Expressions that Numba refuses are left out.
"""

from __future__ import annotations

import itertools
import os
import re
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import cases

# Types and values are the same, and found sooner.
os.environ.setdefault("NUMBA_OPT", "0")
TABLE = Path(__file__).parent / "table.txt"
COUNTER = itertools.count()


def type_of(ty: Any) -> str:
    """A Numba type by the name that Weft has for it."""
    from numba import types

    if isinstance(ty, types.BaseTuple):
        return "(" + " ".join(map(type_of, ty)) + ")"
    if isinstance(ty, types.Array):
        return f"{type_of(ty.dtype)}[{ty.ndim}]"
    if isinstance(ty, (types.Boolean, types.BooleanLiteral)):
        return "bool"
    return str(types.unliteral(ty))


def inferred(expression: str) -> str | None:
    """The type of one expression; None where Numba refuses it."""
    import math

    import numba
    import numpy as np
    from numba.core import compiler, typed_passes
    from numba.core.registry import cpu_target

    names = [name for name in cases.PARAMETERS if re.search(rf"\b{name}\b", expression)]
    helper = cases.helper_of(expression)
    if helper:
        # The helper itself, with its parameters for the arguments: literals are the values of parameters then.
        inside = expression[len(helper) + 1 : -1].split(", ")
        head, _, body = cases.HELPER_TEXTS[helper].partition("\n")
        params = head[head.index("(") + 1 : head.index(")")].split(", ")
        opening = "".join(f"    {p} = {value}\n" for p, value in zip(params, inside) if p != value)
        text = f"def measured({', '.join(names)}):\n{opening}{body}\n"
    else:
        text = f"def measured({', '.join(names)}):\n    return {expression}\n"
    scope: dict[str, Any] = {"math": math, "np": np}
    exec(text, scope)
    args = tuple(numba.typeof(cases.arguments(0)[cases.PARAMETERS.index(name)]) for name in names)
    try:
        found = typed_passes.type_inference_stage(
            cpu_target.typing_context, cpu_target.target_context, compiler.run_frontend(scope["measured"]), args, None
        )
    except (numba.core.errors.NumbaError, NotImplementedError, AssertionError, TypeError, KeyError, ValueError, AttributeError):
        return None
    return type_of(found.return_type)


def values(folder: Path, rows: range, expressions: list[str]) -> dict[str, list[str]]:
    """The values of expressions that have types, by halves where some do not compile all the same."""
    function = cases.write(folder, f"group{next(COUNTER)}", expressions, "from numba import njit\n")
    try:
        found = [function(*cases.arguments(row)) for row in rows]
    except Exception:
        half = len(expressions) // 2
        return values(folder, rows, expressions[:half]) | values(folder, rows, expressions[half:]) if half else {}
    return {one: [cases.shown(row[i]) for row in found] for i, one in enumerate(expressions)}


def measured(folder: Path, name: str, expressions: list[str]) -> list[str]:
    """The lines of a group."""
    found = {one: inferred(one) for one in expressions}
    typed = [one for one, ty in found.items() if ty]
    known: dict[str, list[str]] = {}
    if cases.has_values(name):
        for at in range(0, len(typed), 30):
            known |= values(folder, cases.rows_of(name), typed[at : at + 30])
        typed = [one for one in typed if one in known]
    return ["", f"## {name}", *(" => ".join([one, str(found[one]), *known.get(one, [])]) for one in typed)]


def main() -> None:
    """Writes the table or compares with it."""
    import numba
    import numpy as np
    from numba.core.registry import cpu_target

    warnings.simplefilter("ignore")
    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()
    groups = cases.groups()
    lines = [f"# Numba {numba.__version__}, NumPy {np.__version__}"]
    with tempfile.TemporaryDirectory() as folder:
        for name in sorted(groups, key=cases.has_values):
            lines += measured(Path(folder), name, groups[name])
            print(f"{name}: {len(lines)} lines", file=sys.stderr, flush=True)
            if "--write" in sys.argv:
                TABLE.write_text("\n".join(lines) + "\n")
    if "--write" in sys.argv:
        return
    different = sorted(set(lines) ^ set(TABLE.read_text().splitlines()))
    print("\n".join(different) if different else f"as in the table: {len(lines)} lines")
    sys.exit(bool(different))


if __name__ == "__main__":
    main()

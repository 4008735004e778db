"""The record of measured errors, `measured.json`, and the table of docs/math.md made of it.

The record has a line per function and type: the largest error on the CPU, where it was found and of how many arguments (`all`, or so many);
on each other device the largest error and of how many; and the digest of the text that was measured.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import json
from pathlib import Path

import mathlib
import numpy as np
from promises import FUNCTIONS

ROOT = Path(__file__).resolve().parents[2]
RECORD = Path(__file__).with_name("measured.json")
PAGE = ROOT / "docs" / "math.md"
NOTE = """\
Largest error found, in ULP of the exact value, and of how many arguments. {} Devices other than the CPU go through a sample, and each of
their results was compared with the CPU's, too: all bits are the same. `tests/math/test_same_bits.py` holds every device to that, and every
vector width of the CPU (`sse2`, `sse4`, `avx2`, `avx512`), and the interpreter."""
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


@functools.cache
def _definitions() -> dict[str, ast.FunctionDef]:
    return {d.name: d for _, tree in mathlib.texts() for d in tree.body if isinstance(d, ast.FunctionDef)}


def digest(name: str, suffix: str) -> str:
    """What a function's text and that of all it calls come to: another digest, another function."""
    definitions = _definitions()
    start = f"{name}_{suffix}" if f"{name}_{suffix}" in definitions else f"{name}_any"
    reached, open_ = set(), [start]
    while open_:
        current = open_.pop()
        if current not in reached:
            reached.add(current)
            open_ += [n.id for n in ast.walk(definitions[current]) if isinstance(n, ast.Name) and n.id in definitions]
    text = "".join(ast.dump(ast.Module(definitions[d].body[1:], [])) for d in sorted(reached))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _suffix(dtype: type) -> str:
    return "f32" if dtype is np.float32 else "f64"


def _load() -> dict:
    return json.loads(RECORD.read_text()) if RECORD.exists() else {"devices": {}, "functions": {}}


def _save(content: dict) -> None:
    lines = ",\n".join(f'  "{key}": {json.dumps(entry)}' for key, entry in sorted(content["functions"].items()))
    devices = json.dumps(content["devices"])
    RECORD.write_text(f'{{\n "devices": {devices},\n "functions": {{\n{lines}\n }}\n}}\n')


def current(name: str, dtype: type) -> dict | None:
    """What is on record for a function as it is now."""
    entry = _load()["functions"].get(f"{name}_{_suffix(dtype)}")
    return entry if entry and entry["digest"] == digest(name, _suffix(dtype)) else None


def record(name: str, dtype: type, error: float, at: str, how: str | int) -> None:
    """Keeps a measurement on the CPU: of `all` arguments, or of so many."""
    known = current(name, dtype) or {"on": {}}
    entry = {"error": round(error, 4), "at": at, "of": how, "on": known["on"], "digest": digest(name, _suffix(dtype))}
    content = _load()
    content["functions"][f"{name}_{_suffix(dtype)}"] = entry
    _save(content)


def record_on(kind: str, description: str, name: str, dtype: type, error: float, count: int) -> None:
    """Keeps a measurement on another device, beside the CPU's."""
    content = _load()
    content["devices"][kind] = description
    content["functions"][f"{name}_{_suffix(dtype)}"]["on"][kind] = {"error": round(error, 4), "of": count}
    _save(content)


def table() -> str:
    kinds = list(_load()["devices"])
    titles = ["function", "type", "promised", "`cpu`", "of", "at", *(part for kind in kinds for part in (f"`{kind}`", "of"))]
    lines = ["| " + " | ".join(titles) + " |", "|---" * len(titles) + "|"]
    for name, function in FUNCTIONS.items():
        for dtype in (np.float64, np.float32):
            cells = [f"`{name}`", np.dtype(dtype).name, f"{function.bound:g}", *_cells(current(name, dtype), kinds)]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cells(entry: dict | None, kinds: list[str]) -> list[str]:
    if entry is None:
        return ["?", "", "not measured since it changed", *["", ""] * len(kinds)]
    cells = [f"{entry['error']:.3f}", "all 2³²" if entry["of"] == "all" else str(entry["of"]), entry["at"]]
    for kind in kinds:
        found = entry["on"].get(kind)
        cells += [f"{found['error']:.3f}", str(found["of"])] if found else ["?", ""]
    return cells


def write_page() -> None:
    page = PAGE.read_text()
    start, end = page.index(BEGIN) + len(BEGIN), page.index(END)
    which = " ".join(f'`{kind}` was "{description}".' for kind, description in _load()["devices"].items())
    PAGE.write_text(page[:start] + f"\n\n{NOTE.format(which)}\n\n" + table() + "\n\n" + page[end:])

"""The record of measured errors, `measured.json`, and the table of docs/math.md made of it."""

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
Largest error found, in ULP of the exact value: of float64 over about {} arguments, of float32 over as many as is said. Measured on the CPU;
the figures are every device's, since all give the same bits: the interpreter, the CPU with `sse2`, `sse4`, `avx2` and `avx512`, and CUDA
(by its double) are held to that by `tests/math/test_same_bits.py`, as is every device that is added."""
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


def load() -> dict:
    return json.loads(RECORD.read_text()) if RECORD.exists() else {}


def current(name: str, dtype: type) -> dict | None:
    """What is on record for a function as it is now."""
    entry = load().get(f"{name}_{_suffix(dtype)}")
    return entry if entry and entry["digest"] == digest(name, _suffix(dtype)) else None


def record(name: str, dtype: type, error: float, at: str, how: str | int) -> None:
    """Keeps a measurement: of `all` arguments, or of so many."""
    entries = load()
    entries[f"{name}_{_suffix(dtype)}"] = {"error": round(error, 4), "at": at, "of": how, "digest": digest(name, _suffix(dtype))}
    RECORD.write_text(json.dumps(dict(sorted(entries.items())), indent=1) + "\n")


def table() -> str:
    lines = ["| function | promised | float64 | at | float32 | of | at |", "|---|---|---|---|---|---|---|"]
    for name, function in FUNCTIONS.items():
        cells = [f"`{name}`", f"{function.bound:g}"]
        for dtype in (np.float64, np.float32):
            entry = current(name, dtype)
            shown = (
                ["?", "", "not measured since it changed"] if entry is None else [f"{entry['error']:.3f}", str(entry["of"]), entry["at"]]
            )
            cells += [shown[0], shown[2]] if dtype is np.float64 else [shown[0], "all 2³²" if shown[1] == "all" else shown[1], shown[2]]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def write_page() -> None:
    page = PAGE.read_text()
    start, end = page.index(BEGIN) + len(BEGIN), page.index(END)
    counts = [e["of"] for e in load().values() if e["of"] != "all"]
    note = NOTE.format(max(counts, default=0))
    PAGE.write_text(page[:start] + f"\n\n{note}\n\n" + table() + "\n\n" + page[end:])

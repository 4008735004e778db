"""The examples in the docstrings of the library's texts, compiled: each gives what it says."""

from __future__ import annotations

import ast
import doctest
import random
import re
from pathlib import Path

import numpy as np
import pytest
from support import texts

from weft import njit

FOLDER = Path(__file__).resolve().parents[2] / "crates/library/src"


# How NumPy 2 shows a scalar, and NumPy 1 does not: np.float64(4.0).
SCALAR = re.compile(r"np\.\w+\(([^()]*)\)")


def examples() -> list:
    """Of every public function with examples its name, the lines that are typed, and what the last one shows."""
    found = []
    for path in sorted(FOLDER.glob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
                continue
            typed = doctest.DocTestParser().get_examples(ast.get_docstring(node) or "")
            lines = [example.source.strip() for example in typed]
            found.append(pytest.param(lines, typed[-1].want if typed else "", id=f"{path.stem}.{node.name}"))
    return found


@pytest.mark.parametrize(("lines", "want"), examples())
def test_gives_what_it_says(lines: list[str], want: str) -> None:
    *before, last = lines
    body = "\n    ".join([*before, f"return {last}"])
    given = njit(texts.function_of(f"def f():\n    {body}\n", {"np": np, "random": random}))()
    with np.printoptions(legacy="1.25"):
        shown = repr(given)
    assert " ".join(shown.split()) == " ".join(SCALAR.sub(r"\1", want).split())

"""The page about NumPy's functions: it names all there are, and its worked example is the library's."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/library.md").read_text()


def test_every_function_is_named() -> None:
    table = (ROOT / "crates/library/src/table.rs").read_text()
    names = re.findall(r'^ +(?:function|method|function_and_method)\("\w+", "([\w.]+)"', table, re.MULTILINE)
    assert len(names) > 100
    missing = [name for name in names if f"`{name}`" not in PAGE]
    assert not missing


def test_the_worked_example_is_in_the_library() -> None:
    (example,) = re.findall(r"```python\n(def .*?)```", PAGE, re.DOTALL)
    assert example.strip() in (ROOT / "crates/library/src/shapes.py").read_text()

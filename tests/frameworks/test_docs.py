"""The Python blocks of docs/frameworks.md run, in order, as one program."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "frameworks.md"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_page(tmp_path):
    for framework in ("torch", "jax", "tensorflow"):
        pytest.importorskip(framework)
    path = tmp_path / "page.py"
    path.write_text("\n\n".join(match[1] for match in BLOCK.finditer(PAGE.read_text())))
    spec = importlib.util.spec_from_file_location("frameworks_page", path)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))

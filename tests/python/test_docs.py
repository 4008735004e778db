"""The Python blocks of the Markdown pages run, page by page, as one program each."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

import weft

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


NAMES = ("guide", "arrays", "lazy", "graphs", "gradients", "namespace", "linalg", "nn", "random", "cupy", "dask", "scipy")
PAGES = ["README.md", *(f"docs/{name}.md" for name in NAMES)]


@pytest.mark.parametrize("page", PAGES)
def test_page(page, tmp_path, monkeypatch):
    if page == "docs/dask.md":
        pytest.importorskip("distributed")
    text = (ROOT / page).read_text()
    program = "\n\n".join(match[1] for match in BLOCK.finditer(text))
    assert program, f"{page} has no Python block"
    path = tmp_path / "page.py"
    path.write_text(program)
    monkeypatch.chdir(tmp_path)
    spec = importlib.util.spec_from_file_location("page", path)
    assert spec is not None and spec.loader is not None
    threads = weft.get_num_threads()
    try:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
    finally:
        weft.set_num_threads(threads)

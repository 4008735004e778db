"""The command that measures a GPU, tried on the driver's double with tiny sizes: it finishes, reports, and goes on where it was stopped."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import weft

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(os.environ.get("WEFT_CUDA_DRIVER") != "double", reason="a GPU is measured by make gpu-check itself")


def check(folder, *options):
    done = subprocess.run(
        [sys.executable, folder / "benchmarks/gpu/check.py", "--small", "--skip-tests", "--out", folder / "out", *options],
        env={**os.environ, "PYTHONPATH": str(Path(weft.__file__).parents[1])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_stops_goes_on_and_reports(tmp_path):
    shutil.copytree(ROOT / "benchmarks" / "gpu", tmp_path / "benchmarks" / "gpu", ignore=shutil.ignore_patterns("__pycache__"))
    kept = tmp_path / "benchmarks" / "build" / "gpu.json"
    said = check(tmp_path, "--minutes", "0.1")
    assert "no time left" in said
    done = json.loads(kept.read_text())["done"]
    assert 1 <= len(done) < 17
    said = check(tmp_path)
    assert f"going on with {len(done)} parts done" in said and said.count("done before") == len(done)
    assert not kept.exists()
    table = (tmp_path / "out" / "weft-cuda-double.md").read_text()
    assert "results differ" not in table and "Error" not in table
    parts = ["Mandelbrot", "haversine", "triad", "copy", "shuffles", "transpose", "matmul", "histogram", "n-body", "launch", "first"]
    assert [part for part in parts if part not in table] == []

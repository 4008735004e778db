"""The command that measures a GPU, tried on the driver's double with tiny sizes: it finishes, reports, goes on where it was stopped, and
contenders that hang, crash or fail cost the others nothing."""

from __future__ import annotations

import importlib.util
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
PARTS = ["Mandelbrot", "haversine", "saxpy", "triad", "copy", "shared memory", "shuffles", "transpose", "matmul", "histogram", "n-body",
         "launch", "first call"]  # fmt: skip

BAD = """
class Library:
    name = "jax"

    def free(self): pass

    def saxpy(self, a, x, y):
        import time
        time.sleep(1000)

    def triad(self, b, c, s):
        import os
        os._exit(7)

    def copy(self, x):
        raise ValueError("no copy")

    def total(self, x):
        from contenders import Contender
        return Contender(lambda: None, lambda: None, lambda: x[:1])
"""


COUNT = 48
"""Parts of a whole run."""


@pytest.fixture
def copy(tmp_path):
    """The command in a folder of its own."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "benchmarks" / "gpu", tmp_path / "benchmarks" / "gpu", ignore=ignored)
    return tmp_path


def start(folder, *options, **environment):
    return subprocess.Popen(
        [sys.executable, folder / "benchmarks/gpu/check.py", "--skip-tests", "--out", folder / "out", "--work", folder / "work", *options],
        env={**os.environ, "PYTHONPATH": str(Path(weft.__file__).parents[1]), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish(process):
    said, _ = process.communicate()
    assert process.returncode == 0, said
    return said


def test_a_run_that_was_killed_goes_on(copy):
    process = start(copy, "--small")
    said = ""
    while f"[ 4/{COUNT}]" not in said:
        said += process.stdout.readline() or pytest.fail(said)
    process.kill()
    process.communicate()
    done = json.loads((copy / "work" / "gpu.json").read_text())["done"]
    assert 4 <= len(done) < COUNT
    said = finish(start(copy, "--small"))
    assert f"{len(done)} parts done" in said and said.count("done before") == len(done)
    assert not (copy / "work" / "gpu.json").exists()
    table = (copy / "out" / "weft-cuda-double.md").read_text()
    assert "results differ" not in table and "Error" not in table
    assert [part for part in PARTS if part not in table] == []
    assert len(json.loads((copy / "out" / "weft-cuda-double.json").read_text())["done"]) == COUNT


def test_no_time_is_no_failure(copy):
    said = finish(start(copy, "--small", "--minutes", "0.1"))
    assert said.count("no time left") == COUNT and "No time was left for: Mandelbrot" in said


def test_without_a_gpu_it_says_why(copy):
    process = start(copy, WEFT_CUDA_DRIVER="none")
    said, _ = process.communicate()
    assert process.returncode == 1 and "there is no CUDA device to check:" in said and "Traceback" not in said


def test_contenders_that_hang_crash_or_fail(copy):
    (copy / "benchmarks" / "gpu" / "in_jax.py").write_text(BAD)
    finish(start(copy, "--small", "--patience", "12"))
    done = json.loads((copy / "out" / "weft-cuda-double.json").read_text())["done"]
    found = {result["method"]: (result["failed"].get("jax"), "jax" in result["wrong"]) for result in done.values()}
    assert found["saxpy"] == ("took over 12 seconds", False)
    assert found["triad"] == ("ended the process (7)", False)
    assert found["copy"] == ("ValueError: no copy", False)
    assert found["total"] == (None, True)
    assert all("weft" in result["times"] for result in done.values())
    assert 'raise ValueError("no copy")' in (copy / "work" / "gpu-errors.log").read_text()


def test_a_dry_run_has_everyone_right(copy):
    said = finish(start(copy, "--dry"))
    assert "All else ran, with the right results" in said
    assert not (copy / "work").exists() and not (copy / "out").exists()


def test_the_files_of_tests_are_there():
    spec = importlib.util.spec_from_file_location("gpu_check_suite", ROOT / "benchmarks" / "gpu" / "suite.py")
    suite = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(suite)
    assert [file for file in suite.FILES if not (ROOT / file).exists()] == []

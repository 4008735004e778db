"""Machine code that is kept on disk: found again, never trusted blindly, never needed."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np
from weft import cuda, njit

@cuda.jit(cache=CACHE)
def fill(a, x):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = x + i

@njit(cache=CACHE)
def total(a):
    s = 0.0
    for x in a:
        s += x
    return s

a = np.zeros(100)
fill.forall(100)(a, 0.5)
print(total(a))
"""


@pytest.fixture
def run(tmp_path):
    program = tmp_path / "program.py"
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)

    def call(asks=True, setting=""):
        program.write_text(f"CACHE = {asks}\n{PROGRAM}")
        env = {**os.environ, "WEFT_CACHE_DIR": str(cache), "WEFT_CACHE": setting}
        done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, env=env)
        assert done.returncode == 0, done.stderr
        assert done.stdout == "5000.0\n"
        return {path: path.read_bytes() for path in cache.rglob("*") if path.is_file()}

    return call


def test_a_second_process_finds_what_the_first_kept(run):
    first = run()
    assert len(first) >= 2
    assert run() == first


def test_the_environment_keeps_all_or_nothing(run):
    assert run(asks=False) == {}
    assert run(setting="0") == {}
    kept = run(asks=False, setting="all")
    assert len(kept) >= 2
    assert run(asks=True) == kept


def test_another_setting_is_refused():
    env = {**os.environ, "WEFT_CACHE": "yes"}
    done = subprocess.run([sys.executable, "-c", "import weft"], capture_output=True, text=True, env=env)
    assert done.returncode == 1 and 'ValueError: WEFT_CACHE is "yes"; it must be 0' in done.stderr


def test_damaged_entries_are_misses(run):
    first = run()
    for path, data in first.items():
        path.write_bytes(data[: len(data) // 2])
    run()
    for path, data in first.items():
        path.write_bytes(bytes(len(data)))
    run()

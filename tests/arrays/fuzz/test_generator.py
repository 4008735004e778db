"""The random programs judge rightly: NumPy against NumPy differs nowhere, and each planted defect is found and made small."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from arrays.fuzz import outcome, programs, stand_in, worker

COUNT = 600
"""In so many programs every defect shows."""


def test_numpy_differs_nowhere_from_itself():
    for seed in range(COUNT // 2):
        found = outcome.run(programs.generate(seed), stand_in.Module())
        assert found.what == "same", f"program {seed}: {found.told}"


def test_other_rounding_is_no_difference():
    for seed in range(COUNT // 2):
        found = outcome.run(programs.generate(seed), stand_in.Rounded())
        assert found.what == "same", f"program {seed}: {found.told}"


@pytest.mark.parametrize("defect", stand_in.DEFECTS, ids=lambda defect: defect.__name__)
def test_defects_are_found(defect):
    generated = map(programs.generate, range(COUNT))
    program = next((each for each in generated if outcome.run(each, defect()).what == "differs"), None)
    assert program is not None
    smaller = worker.shrunk(program, defect)
    assert outcome.run(smaller, defect()).what == "differs"
    assert outcome.run(smaller, stand_in.Module()).what == "same"
    assert len(smaller.lines) <= 8, smaller.lines


def test_the_same_number_is_the_same_program():
    assert programs.generate(7) == programs.generate(7)


def test_programs_do_something():
    """Most statements run: errors are few, but there are some."""
    lines = [line for seed in range(50) for line in programs.generate(seed).lines]
    assert len(lines) > 500
    for text in ("[::-1]", " += ", ".reshape(", "xp.sum(", "del ", "xp.eval(", "out=", "xp.where("):
        assert any(text in line for line in lines), text


def test_scripts_run_by_themselves():
    text = programs.script(programs.generate(3), "numpy")
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", text], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("a")

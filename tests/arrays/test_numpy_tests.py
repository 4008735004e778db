"""NumPy's own tests that pass with Weft behind its name: `numpy_tests/passing.txt`."""

import subprocess
import sys
from pathlib import Path

import numpy
import pytest

from arrays.numpy_tests import run


def test_those_of_the_list_pass():
    if not numpy.__version__.startswith(run.MADE_WITH):
        pytest.skip(f"the list is of NumPy {run.MADE_WITH}")
    done = subprocess.run([sys.executable, str(Path(run.__file__))], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]

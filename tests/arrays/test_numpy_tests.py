"""NumPy's own tests that pass with Weft behind its name: of `numpy_tests/passing.txt` what takes seconds; `make numpy-tests` runs all."""

import subprocess
import sys
from pathlib import Path

import numpy
import pytest

from arrays.numpy_tests import run

FILES = (
    "test_shape_base", "test_indexing", "test_item_selection", "test_index_tricks", "test_twodim_base", "test_histograms", "test_arraypad",
    "test_packbits", "test_type_check", "test_nep50_promotions", "test_stride_tricks", "test_half", "test_dlpack", "test_umath_complex",
    "test_pocketfft", "test_helper",
)  # fmt: skip


def test_those_of_the_list_pass():
    if not numpy.__version__.startswith(run.MADE_WITH):
        pytest.skip(f"the list is of NumPy {run.MADE_WITH}")
    done = subprocess.run([sys.executable, str(Path(run.__file__)), "--jobs", "2", *FILES], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]


def test_every_test_is_in_one_list():
    passing, others = set(run.read("passing.txt")), set(run.read("others.txt"))
    assert passing and others and not passing & others
    assert {run.file_of(name).partition("/")[2] for name in passing} >= set(FILES)

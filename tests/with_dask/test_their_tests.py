"""Dask's own tests of chunks that are not NumPy's: those written for CuPy, with `weft.cupy` behind its name."""

import os
import re
import subprocess
import sys
from pathlib import Path

import dask.array

FILES = "core creation gufunc linalg overlap percentile random reductions routines slicing sparse"

FAILING = {
    "test_asanyarray[like0-arr1]": "CuPy refuses to become a NumPy array unasked; Weft's arrays do become one",
    "test_asanyarray[like0-arr3]": "the same",
    "test_diagonal": "Dask makes the chunk of an empty diagonal itself, and has NumPy make it",
    "test_lstsq": "Dask calls scipy.linalg.solve_triangular for chunks that are not CuPy's by name, which gives NumPy's arrays",
    "test_cupy_unsupported": "that permutation and choice are refused, which Weft has",
}
"""Those that fail, and why; without brackets for all parameters."""


def test_dasks_own_tests(tmp_path):
    tests = Path(dask.array.__file__).parent / "tests"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "behind_cupy", "-p", "no:cacheprovider", "--import-mode=importlib"]
    command += ["--tb=line", "-rf", "-c", os.devnull, "--rootdir", str(tests)]
    command += [str(tests / f"test_cupy_{name}.py") for name in FILES.split()]
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, cwd=tmp_path, capture_output=True, text=True)
    failing = set(re.findall(r"^FAILED .*?::(\S+)", done.stdout, re.MULTILINE))
    unexpected = {name for name in failing if name not in FAILING and name.partition("[")[0] not in FAILING}
    assert not unexpected and done.returncode in (0, 1), done.stdout[-5000:] + done.stderr[-2000:]
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None and int(passed[1]) >= 350, done.stdout[-2000:]
    assert {name.partition("[")[0] for name in failing} == {name.partition("[")[0] for name in FAILING}

"""Every ``# run:`` line of the kernel files, on every device and on the interpreter, against the undecorated function."""

from __future__ import annotations

import builtins
import importlib.util
import inspect
import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from support import runlines

import weft

FILES = sorted(path for path in Path(__file__).parent.glob("*.py") if path.name != "test_kernels.py")
CASES = [(path, line) for path in FILES for line in runlines.read(path.read_text())]
SMALL = [device.name for device in weft.devices() if not device.float64][:1]
"""A GPU without float64: what it does not refuse is right, in float32."""
DEVICES = sorted({device.kind for device in weft.devices()}) + SMALL + ["checked"]
SINGLE = 2e-5
REFUSALS = r"no float64, and|no 64-bit integers, and|no atomic operations on 64-bit elements|cannot let the whole grid wait"


def load(path: Path, device: str) -> ModuleType:
    """A fresh import of a kernel file, so that each device compiles its own kernels."""
    spec = importlib.util.spec_from_file_location(f"kernels_{path.stem}_{device.replace(':', '_')}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def modules() -> dict[tuple[Path, str], ModuleType]:
    return {}


@pytest.mark.filterwarnings("ignore::weft.PrecisionWarning")
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("path, line", CASES, ids=[f"{p.stem}:{c.line}" for p, c in CASES])
def test_run_line(path, line, device, modules, monkeypatch):
    if device == "checked":
        monkeypatch.setenv("WEFT_CHECK", "1")
    with weft.device("cpu" if device == "checked" else device):
        if device not in SMALL:
            check(path, line, device, modules)
            return
        try:
            check(path, line, device, modules)
        except weft.UnsupportedError as error:
            assert re.search(REFUSALS, str(error)) and "-->" in str(error)
        except weft.LaunchError as error:
            assert re.search(r"a block may have \d+ (bytes of shared memory|threads.*\.forall\(shape\))", str(error))


def check(path, line, device, modules):
    """Runs one line on the device that is chosen."""
    key = (path, device)
    if key not in modules:
        modules[key] = load(path, device)
    wanted = runlines.record(modules[key], line.call)
    args = runlines.fresh(wanted.args)

    if refused := refusal(wanted, weft.current_device()):
        with pytest.raises(weft.WeftError, match=refused):
            runlines.run_compiled(wanted, args)
        return

    if line.error:
        with pytest.raises(getattr(builtins, line.error)):
            runlines.run_compiled(wanted, args)
        return
    expected_args = runlines.fresh(wanted.args)
    expected = runlines.run_oracle(wanted, expected_args)
    got = runlines.run_compiled(wanted, args)

    rtol = line.rtol
    if device in SMALL:
        rtol = max(rtol or 0, SINGLE)
    runlines.assert_same(got, expected, rtol, "result")
    for number, (have, want) in enumerate(zip(args, expected_args)):
        if not isinstance(want, np.ndarray):
            continue
        if device in SMALL and want.dtype.kind in "biu":
            # Counts of steps in float32 are others where the steps are chaotic.
            share = 0.99 if any(isinstance(arg, float) for arg in wanted.args) else 1
            assert (have == want).mean() >= share
        else:
            runlines.assert_same(have, want, rtol, f"argument {number}")


def refusal(wanted, device):
    """What a device says of a line that asks for what it does not have."""
    if wanted.launch is None or device.kind in ("cpu", "cuda"):
        return None
    limits = device.limits()
    if "this_grid" in inspect.getsource(wanted.function.py_func) and not limits["cooperative"]:
        return "cannot let the whole grid wait"
    if len(wanted.launch) > 3 and wanted.launch[3] > limits["shared_bytes_optin"]:
        return "bytes of shared memory"
    return None

"""Every kernel and function of the suite that takes floats: its gradient is right along random directions, or it is refused."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from gradients.central import cotangent_like, run
from support import runlines

import weft

FOLDER = Path(__file__).parent.parent / "kernels"
FILES = sorted(path for path in FOLDER.glob("*.py") if path.name != "test_kernels.py")
CASES = [(path, line) for path in FILES for line in runlines.read(path.read_text()) if not line.error]


def load(path: Path):
    spec = importlib.util.spec_from_file_location(f"gradients_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_float(arg):
    return isinstance(arg, (float, np.floating)) or (isinstance(arg, np.ndarray) and np.issubdtype(arg.dtype, np.floating))


def outcome(path, line, device="cpu"):
    """Whether the gradient of a line's call is right, refused, or of nothing."""
    with weft.device(device):
        wanted = runlines.record(load(path), line.call)
        args = list(runlines.fresh(wanted.args))
        function = wanted.function
        if not any(map(is_float, args)) or not hasattr(function, "grad") or any(isinstance(arg, tuple) for arg in args):
            return "nothing"
        rng = np.random.default_rng(1)
        launch = None if wanted.launch is None else tuple(wanted.launch)
        # Away from kinks, where differences mean nothing.
        args = [arg + 0.3 + 0.1 * rng.random(arg.shape).astype(arg.dtype) if isinstance(arg, np.ndarray) and is_float(arg) else arg for arg in args]

        def launched(kernel):
            return kernel.forall(launch[1]) if launch[0] == "forall" else kernel[launch]

        def call(*arguments):
            return function(*arguments) if launch is None else launched(function)(*arguments)

        result = call(*runlines.fresh(args))
        cotangent = cotangent_like(result, rng)
        weights = [rng.standard_normal(arg.shape).astype(arg.dtype) if isinstance(arg, np.ndarray) and is_float(arg) else None for arg in args]
        given = [None if weight is None else weight.copy() for weight in weights]
        scalars = {}
        if launch is not None:
            for at, arg in enumerate(args):
                if isinstance(arg, (float, np.floating)):
                    given[at] = np.zeros(1, np.float64 if type(arg) is float else arg.dtype)
        try:
            if launch is None:
                found = function.grad(tuple(args), tuple(given), cotangent)
                scalars = {at: gradient for at, gradient in enumerate(found) if gradient is not None}
            else:
                launched(function.grad)(tuple(args), tuple(given))
                scalars = {at: given[at][0] for at, arg in enumerate(args) if isinstance(arg, (float, np.floating))}
        except weft.errors.UnsupportedError as error:
            assert "-->" in str(error), error
            return "refused: " + str(error).split("\n")[0]
        direction = [rng.standard_normal(np.shape(arg)) if is_float(arg) else None for arg in args]
        narrow = any(np.asarray(arg).dtype.itemsize < 8 for arg in args if is_float(arg))
        step = 1e-2 if narrow else 1e-6

        def moved(by):
            new = []
            for arg, along in zip(args, direction):
                change = None if along is None else (arg + by * along)
                new.append(arg if along is None else change.astype(arg.dtype) if isinstance(arg, np.ndarray) else type(arg)(change))
            return run(call, new, cotangent, weights)

        expected = (moved(step) - moved(-step)) / (2 * step)
        total = 0.0
        for at, along in enumerate(direction):
            if along is not None:
                gradient = given[at] if isinstance(args[at], np.ndarray) else scalars[at]
                total += float(np.sum(along * np.asarray(gradient, np.float64)))
        scale = 1.0 + abs(expected)
        assert abs(total - expected) <= (5e-2 if narrow else 2e-5) * scale, f"{total}, expected {expected}"
        return "right"


@pytest.mark.parametrize("path, line", CASES, ids=[f"{p.stem}:{c.line}" for p, c in CASES])
def test_right_or_refused(path, line):
    outcome(path, line)

"""Every kernel and function of the suite that takes floats: its gradient along a random direction is right, or it is one of those that are
known to be refused.

Those of 16-bit floats, whose differences are noise, are compared with the gradient of the same call in float64.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from support import runlines

import weft
from gradients.central import cotangent_like, run

FOLDER = Path(__file__).parent.parent / "kernels"
FILES = sorted(path for path in FOLDER.glob("*.py") if path.name != "test_kernels.py")
CASES = [(path, line) for path in FILES for line in runlines.read(path.read_text()) if not line.error]
# Values that are rounded to float32 on the way have no differences to compare with; NaNs none at all.
ROUNDED = {"numpys"}
# What is refused, and words of the reason. A test fails where something is refused that is not in here, or something in here is right.
HANDED_ON = "the turns of this loop hand on"
LANES = "what lanes of a warp exchange"
REFUSED = {
    "barriers.atomic_floats": "`atomic.max`",
    "half.lanes": LANES,
    "half.missing": "`atomic.nan_min`",
    "half.shared_tally": "`atomic.max`",
    "half.tally": "`atomic.max`",
    "parallel.relaxed": HANDED_ON,
    "warps.block_sums": LANES,
    "warps.butterfly": LANES,
    "warps.diffuse": "a barrier of the whole grid",
    "warps.in_step": "a barrier of a warp",
    "warps.inclusive_scan": LANES,
    "warps.last_block_sums": "a fence",
    "warps.missing_values": "`atomic.max`",
    "warps.rare_atomics": "`atomic.nan_min`",
}


def load(path: Path):
    spec = importlib.util.spec_from_file_location(f"gradients_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_float(arg):
    if isinstance(arg, np.ndarray):
        return arg.dtype.kind == "f" or arg.dtype.name == "bfloat16"
    return isinstance(arg, (float, np.floating)) or type(arg).__name__ == "bfloat16"


def launched(kernel, launch):
    return kernel.forall(launch[1]) if launch[0] == "forall" else kernel[launch]


def slope(function, launch, args, weights, cotangent, direction):
    """The gradient's share along a direction."""
    given = [None if weight is None else weight.copy() for weight in weights]
    if launch is None:
        found = list(function.grad(tuple(args), tuple(given), cotangent))
    else:
        for at, arg in enumerate(args):
            if is_float(arg) and not isinstance(arg, np.ndarray):
                given[at] = np.zeros(1, np.asarray(arg).dtype)
        launched(function.grad, launch)(tuple(args), tuple(given))
        found = [array[0] if array is not None and array.size else None for array in given]
    total = 0.0
    for at, along in enumerate(direction):
        if along is not None:
            gradient = given[at] if isinstance(args[at], np.ndarray) else found[at]
            total += float(np.sum(along * np.asarray(gradient, np.float64)))
    return total


def outcome(path, line):
    """Whether the gradient of a line's call is right, refused, or of nothing."""
    with weft.device("cpu"):
        wanted = runlines.record(load(path), line.call)
        args = list(runlines.fresh(wanted.args))
        function, launch = wanted.function, None if wanted.launch is None else tuple(wanted.launch)
        if not any(map(is_float, args)):
            return "nothing"
        rng = np.random.default_rng(1)
        # Away from whole numbers, where many functions have kinks.
        for _at, arg in enumerate(args):
            if is_float(arg) and isinstance(arg, np.ndarray):
                arg += (0.3 + 0.1 * rng.random(arg.shape)).astype(arg.dtype)

        def call(*arguments):
            return function(*arguments) if launch is None else launched(function, launch)(*arguments)

        cotangent = cotangent_like(call(*runlines.fresh(args)), rng)
        weights = [
            rng.standard_normal(arg.shape).astype(arg.dtype) if isinstance(arg, np.ndarray) and is_float(arg) else None for arg in args
        ]
        direction = [rng.standard_normal(np.shape(arg)) if is_float(arg) else None for arg in args]
        try:
            found = slope(function, launch, args, weights, cotangent, direction)
        except weft.errors.UnsupportedError as error:
            assert "-->" in str(error), error
            return "refused: " + str(error).split("\n")[0]
        if any(np.isnan(np.asarray(arg, np.float64)).any() for arg in args if is_float(arg)) or function.__name__ in ROUNDED:
            return "right"
        narrow = min(np.asarray(arg).dtype.itemsize for arg in args if is_float(arg))
        if narrow == 2:
            return half(function, launch, args, weights, direction, found)
        step = 1e-2 if narrow == 4 else 1e-6

        def moved(by):
            new = list(args)
            for at, along in enumerate(direction):
                if along is not None:
                    change = np.asarray(args[at] + by * along)
                    new[at] = change.astype(args[at].dtype) if isinstance(args[at], np.ndarray) else type(args[at])(change[()])
            return run(call, new, cotangent, weights)

        expected = (moved(step) - moved(-step)) / (2 * step)
        assert abs(found - expected) <= (5e-2 if narrow == 4 else 2e-5) * (1.0 + abs(expected)), f"{found}, expected {expected}"
        return "right"


def half(function, launch, args, weights, direction, found):
    """The same call in float64; products and sums of many roundings agree to a few percent of what they are made of."""

    def wide(value):
        return None if value is None else np.asarray(value, np.float64) if isinstance(value, np.ndarray) else float(value)

    cotangent = None
    if launch is None:
        cotangent = cotangent_like(
            function(*[wide(arg) if is_float(arg) else arg for arg in runlines.fresh(args)]), np.random.default_rng(1)
        )
        narrow = runlines.fresh(args)
        given = cotangent_like(function(*narrow), np.random.default_rng(1))
        found = slope(function, launch, args, weights, given, direction)
    args = [wide(arg) if is_float(arg) else arg for arg in args]
    expected = slope(function, launch, args, [wide(weight) for weight in weights], cotangent, direction)
    spread = sum(float(np.sum(np.abs(along))) for along in direction if along is not None)
    assert found == expected or abs(found - expected) <= 0.1 * abs(expected) + 0.05 * spread, f"{found}, expected {expected}"
    return "right"


def name_of(path, line):
    return f"{path.stem}.{line.call.split('(')[0].split('[')[0].split('.')[0]}"


@pytest.mark.parametrize("path, line", CASES, ids=[f"{p.stem}:{c.line}" for p, c in CASES])
def test_right_or_refused(path, line):
    name = name_of(path, line)
    found = outcome(path, line)
    if found.startswith("refused: "):
        assert name in REFUSED, f"{name} is refused, and was right: {found}"
        assert REFUSED[name] in found, f"{name} is refused for another reason: {found}"
    elif found == "right":
        assert name not in REFUSED, f"{name} is right by now: it is none of those that are refused"


def test_the_list_is_of_what_there_is():
    """A name that was given up would refuse nothing."""
    assert set(REFUSED) <= {name_of(path, line) for path, line in CASES}

"""Runs ONNX's backend node tests with Weft, and compares what passes with `others.txt`, the list of what does not, with reasons.

`python tests/nn/onnx_nodes/run.py` says what differs from the list; `--write` makes the list anew; names run only these and show errors.
"""

from __future__ import annotations

import sys
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

import onnx
from onnx.backend.test.loader import load_model_tests

import weft
from nn.onnx_nodes import elements, layers, shapes  # noqa: F401
from nn.onnx_nodes.graphs import Uncovered, run

LIST = Path(__file__).with_name("others.txt")
MADE_WITH = "1.23"
"""The version of ONNX that the list is of."""


def outcome(case: Any) -> str:
    """Nothing if a case passes, else why it does not."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for inputs, outputs in case.data_sets:
                found = run(case.model, inputs)
                for ours, theirs in zip(found, outputs, strict=True):
                    reason = difference(ours, theirs, case)
                    if reason:
                        return reason
    except Uncovered as reason:
        return f"not covered: {reason}"
    except Exception as error:
        return f"raises {type(error).__name__}: {' '.join(str(error).split())[:120]}"
    return ""


def difference(ours: Any, theirs: Any, case: Any) -> str:
    """What two outputs differ in, with the tolerances of ONNX's own runner."""
    if isinstance(theirs, onnx.TensorProto):
        theirs = onnx.numpy_helper.to_array(theirs)
    if not isinstance(theirs, (np.ndarray, np.generic)) or theirs.dtype.kind in "OUS":
        return "not covered: texts, sequences and optional values"
    host = weft.asnumpy(ours)
    if host.shape != theirs.shape:
        return f"shape {host.shape} for {theirs.shape}"
    if host.dtype != theirs.dtype:
        return f"dtype {host.dtype} for {theirs.dtype}"
    half = host.dtype.itemsize == 2 and host.dtype.kind in "fV"
    if host.dtype.kind == "V":
        host, theirs = host.astype(np.float32), theirs.astype(np.float32)
    if not np.allclose(host, theirs, rtol=case.rtol, atol=case.atol, equal_nan=True):
        if half and np.allclose(host, theirs, rtol=2e-2, atol=2e-2, equal_nan=True):
            return "floats of 16 bits are rounded elsewhere than by ONNX's reference"
        return "other values"
    return ""


def cases() -> list[Any]:
    """All cases, in the order of their names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.random.seed(0)
        return sorted(load_model_tests(kind="node"), key=lambda case: case.name)


def read() -> dict[str, str]:
    """The list: names and reasons."""
    found, reason = {}, ""
    for line in LIST.read_text().splitlines():
        if line.startswith("# "):
            reason = line[2:]
        elif line and not line.startswith("##"):
            found[line] = reason
    return found


def write(results: dict[str, str]) -> None:
    """Write the list, what has one reason together."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in results.items():
        if reason:
            by_reason.setdefault(reason, []).append(name)
    passed = sum(not reason for reason in results.values())
    lines = [f"## Of ONNX {onnx.__version__}'s {len(results)} node tests these do not pass, or are not covered; the other {passed} pass."]
    for reason, names in sorted(by_reason.items()):
        lines += ["", f"# {reason}", *names]
    LIST.write_text("\n".join(lines) + "\n")


def compared(results: dict[str, str], listed: dict[str, str]) -> list[str]:
    """What is otherwise than the list says."""
    found = [f"{name} is not in the list: {reason}" for name, reason in results.items() if reason and name not in listed]
    found += [f"{name} passes, and is in the list" for name in listed if not results.get(name, "no case")]
    found += [f"{name} is in the list, and there is no such case" for name in listed if name not in results]
    # Why a case is not run is a part of the list; what is said of a failure may be otherwise on another machine.
    return found + [
        f"{name} is {results[name]!r}, and listed as {listed[name]!r}"
        for name in listed
        if results.get(name, "").startswith("not covered") != listed[name].startswith("not covered") and results.get(name)
    ]


def main(arguments: list[str]) -> int:
    names = [each for each in arguments if not each.startswith("--")]
    if names:
        for case in cases():
            if case.name in names:
                print(case.name, outcome(case) or "passes")
                try:
                    for inputs, outputs in case.data_sets:
                        print(onnx.printer.to_text(case.model.graph), run(case.model, inputs), outputs, sep="\n")
                except Exception:
                    traceback.print_exc()
        return 0
    results = {case.name: outcome(case) for case in cases()}
    print(f"{sum(not reason for reason in results.values())} of {len(results)} pass")
    if "--write" in arguments:
        write(results)
        return 0
    wrong = compared(results, read())
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

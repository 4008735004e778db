"""One process of a run: takes programs by number, runs each on NumPy and on an array module, says what differs."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from arrays.fuzz import outcome, programs, shrink, stand_in


def modules(name: str) -> Callable[[], Any]:
    """What gives the module for each program: `weft`, NumPy as `numpy`, or NumPy with a defect by its name in `stand_in.py`."""
    if name == "numpy":
        return stand_in.Module
    if hasattr(stand_in, name):
        return getattr(stand_in, name)
    module = importlib.import_module(name)
    return lambda: module


def shrunk(program: programs.Program, module: Callable[[], Any]) -> programs.Program:
    """A small program that differs in the same way: in an array, in a number, or in what is raised."""
    sort = _sort(outcome.run(program, module()))
    return shrink.shrink(program, lambda smaller: _sort(outcome.run(smaller, module())) == sort)


def _sort(found: outcome.Outcome) -> tuple[str, str, str]:
    raised, _, expected = found.told.partition(", expected ")
    sorts = [
        text.partition(":")[0] if "Error" in text.partition(":")[0] or text.startswith("no error") else "" for text in (raised, expected)
    ]
    return found.what, sorts[0], sorts[1]


def main(name: str, start: int, stop: int, step: int, small: str) -> None:
    """Programs `start`, `start + step`, … below `stop`; one line of JSON before and one after each."""
    module = modules(name)
    for seed in range(start, stop, step):
        print(json.dumps({"seed": seed}), flush=True)
        program = programs.generate(seed)
        found = outcome.run(program, module())
        said = {"seed": seed, "what": found.what, "told": found.told}
        if found.what == "differs":
            smaller = shrunk(program, module) if small else program
            said["told"] = outcome.run(smaller, module()).told
            said["text"] = programs.script(smaller, name)
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:5]), sys.argv[5])

"""One process of a run: takes programs by number, differentiates each on Weft and by differences, says what differs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from arrays.fuzz.shrink import shrink

import weft
from gradients.fuzz import outcome, programs


def script(program: programs.Program, way: str) -> str:
    """A program, to read and to run."""
    return "\n".join(
        [
            "# PYTHONPATH=tests python THIS",
            "import weft",
            "from gradients.fuzz import outcome, programs",
            f"program = programs.{program!r}",
            *(f"# {line}" for line in program.function().splitlines()),
            f"print(outcome.run(program, weft, {way!r}))",
        ]
    )


def shrunk(program: programs.Program, way: str) -> programs.Program:
    """A small program that differs."""

    def fails(smaller: programs.Program) -> bool:
        try:
            return outcome.run(smaller, weft, way).what == "differs"
        except Exception:
            return False

    return shrink(program, fails, 300)


def main(start: int, stop: int, step: int, small: str) -> None:
    """Programs `start`, `start + step`, … below `stop`; one line of JSON before and one after each."""
    for seed in range(start, stop, step):
        print(json.dumps({"seed": seed}), flush=True)
        program = programs.generate(seed)
        found = outcome.run(program, weft)
        said = {"seed": seed, "what": found.what, "told": found.told}
        if found.what == "differs":
            way = outcome.way_of(program)
            smaller = shrunk(program, way) if small else program
            said["told"] = outcome.run(smaller, weft, way).told
            said["text"] = script(smaller, way)
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]), sys.argv[4])

"""One process of a run: takes programs by number, runs each undecorated and by Weft, says what differs.

`serve` is the other end of a run against Numba, in a Python that has Numba: it takes pickled programs and gives pickled outcomes.
"""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import IO

TESTS = Path(__file__).parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(TESTS))

from fuzz import outcome, programs, shrink  # noqa: E402


class Numba:
    """Numba, in another Python."""

    def __init__(self, python: str) -> None:
        self.process = subprocess.Popen([python, __file__, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self, program: programs.Program) -> outcome.Outcome:
        """What Numba makes of a program."""
        assert self.process.stdin is not None and self.process.stdout is not None
        pickle.dump(program, self.process.stdin)
        self.process.stdin.flush()
        return pickle.load(self.process.stdout)


def serve(source: IO[bytes], sink: IO[bytes]) -> None:
    """Runs what comes in until nothing more does."""
    while True:
        try:
            program = pickle.load(source)
        except EOFError:
            return
        pickle.dump(outcome.run(program, "numba"), sink)
        sink.flush()


class Comparison:
    """Weft against what a program means: undecorated Python, or Numba."""

    def __init__(self, numba: str | None) -> None:
        self.numba = Numba(numba) if numba else None

    def told(self, program: programs.Program) -> tuple[str, str]:
        """What became of it in a word, and how it differs or why it was refused."""
        if self.numba is not None:
            want = self.numba.run(program)
            got = outcome.run(program, "weft.numba")
        else:
            want = outcome.run(program, "plain")
            if outcome.invalid(want):
                return "invalid", want.message
            got = outcome.run(program, "weft")
        told = outcome.difference(want, got, types=self.numba is None)
        if told and self.numba is not None and not outcome.difference(outcome.run(program, "plain"), got, types=False):
            # Numba's own: overlapping views, zeros of both signs, variables that nothing was assigned to.
            return "as in Python", told
        if told:
            return "differs", told
        if outcome.outside(want):
            return "outside", ""
        return ("refused", got.message) if got.what == "refused" else ("same", "")

    def shrunk(self, program: programs.Program) -> programs.Program:
        """A small program that differs in the same way."""
        sort = _sort(self.told(program))
        return shrink.shrink(program, lambda smaller: _sort(self.told(smaller)) == sort)


def _sort(told: tuple[str, str]) -> str:
    """The way in which a program differs: in its result, in its arguments, or in whether and what it raises."""
    what, how = told
    return (
        f"{what} {how.split()[0].split('[')[0]} {how.split('got ')[-1].split()[0] if how.startswith(('raised', 'gave')) else ''}"
        if how
        else what
    )


def main(sort: str, start: int, stop: int, step: int, numba: str, small: str) -> None:
    """Programs `start`, `start + step`, … below `stop`; one line of JSON before and one after each."""
    comparison = Comparison(numba or None)
    for seed in range(start, stop, step):
        print(json.dumps({"seed": seed}), flush=True)
        program = programs.generate(seed, sort)
        what, told = comparison.told(program)
        said = {"seed": seed, "what": what, "told": told}
        if what == "differs":
            smaller = comparison.shrunk(program) if small else program
            said["told"] = comparison.told(smaller)[1]
            said["text"] = smaller.text
            said["inputs"] = {i.name: repr(i.make()) for i in smaller.inputs}
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.stdin.buffer, sys.stdout.buffer)
    else:
        main(sys.argv[1], *map(int, sys.argv[2:5]), *sys.argv[5:7])

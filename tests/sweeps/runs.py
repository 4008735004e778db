"""Running a sweep: expressions in compiled code and in NumPy, what differs listed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from agreement import EXACT, Measure
from batches import evaluated, wanted
from ledger import Ledger

# How far the result of an expression of a name may be off, from its operands and the result wanted.
Measuring = Callable[[str, tuple, object], Measure]


def exactly(name: str, args: tuple, want: object) -> Measure:
    return EXACT


def of_arrays(ledger: Ledger, texts: dict[str, str], parameters: str, args: tuple, title: str, measure: Measuring = exactly) -> list[str]:
    """Deviations of expressions, by their names, of some arguments. What NumPy refuses is compiled alone."""
    want = {name: wanted(text, parameters, args) for name, text in texts.items()}
    got = _compiled(texts, want, parameters, [args])
    lines = [ledger.deviation(f"{texts[name]} of {title}", got[name][0], want[name], measure(name, args, want[name])) for name in texts]
    return [line for line in lines if line]


def of_numbers(
    ledger: Ledger, texts: dict[str, str], parameters: str, columns: tuple, title: str, measure: Measuring = exactly
) -> list[str]:
    """The same of NumPy's numbers, row by row of some columns; NumPy is asked for all rows at once."""
    want = {name: wanted(text, parameters, columns) for name, text in texts.items()}
    got = _compiled(texts, want, parameters, list(zip(*columns)))
    lines = []
    for name, text in texts.items():
        column = _together(got[name])
        lines.append(ledger.deviation(f"{text} of numbers, {title}", column, want[name], measure(name, columns, want[name])))
    return [line for line in lines if line]


def of_rows(
    ledger: Ledger, texts: dict[str, str], parameters: str, rows: list[tuple], title: str, measure: Measuring = exactly
) -> list[str]:
    """The same of rows of numbers, Python's among them, each of which plain Python is asked for."""
    lines = []
    want = {name: [wanted(text, parameters, row) for row in rows] for name, text in texts.items()}
    # Of what plain Python refuses in some rows only the rest can share a function.
    safe = {name: all(not isinstance(w, Exception) for w in want[name]) for name in texts}
    together = [name for name in texts if safe[name]]
    got = dict(zip(together, evaluated([texts[name] for name in together], parameters, rows)))
    got |= {name: evaluated([texts[name]], parameters, rows)[0] for name in texts if not safe[name]}
    for name, text in texts.items():
        for g, w, row in zip(got[name], want[name], rows):
            lines.append(ledger.deviation(f"{text} of {title} {row}", g, w, measure(name, row, w)))
    return [line for line in lines if line]


def _compiled(texts: dict[str, str], want: dict[str, object], parameters: str, rows: list[tuple]) -> dict[str, list]:
    accepted = [name for name in texts if not isinstance(want[name], Exception)]
    got = dict(zip(accepted, evaluated([texts[name] for name in accepted], parameters, rows)))
    return got | {name: evaluated([text], parameters, rows[:1])[0] for name, text in texts.items() if name not in got}


def _together(results: list) -> object:
    """NumPy's numbers of one type as an array, tuples of them as a tuple of arrays; the first exception, or the types that there are."""
    first = next((r for r in results if isinstance(r, Exception)), results[0])
    if isinstance(first, tuple):
        return tuple(_together(list(part)) for part in zip(*results))
    if isinstance(first, Exception):
        return first
    types = {type(r) for r in results}
    return np.array(results, first.dtype) if types == {type(first)} and isinstance(first, np.generic) else types

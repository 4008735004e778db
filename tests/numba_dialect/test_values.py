"""The values that Numba's dialect computes against those of real Numba, as its table has them. `crates/front/tests/numba.rs` has the types.

`measure` made the table; ``make numba-table`` compares it with the Numba that is installed.
"""

from __future__ import annotations

from pathlib import Path

import cases
import pytest

HERE = Path(__file__).parent


def groups() -> dict[str, dict[str, list[str]]]:
    """The values of every expression that has some, by group."""
    refused = {line for name in ("refused.txt", "different.txt") for line in (HERE / name).read_text().splitlines()}
    found: dict[str, dict[str, list[str]]] = {}
    name = ""
    for line in (HERE / "table.txt").read_text().splitlines():
        if line.startswith("## "):
            name = line[3:]
        expression, *fields = line.split(" => ")
        if len(fields) > 1 and expression not in refused:
            found.setdefault(name, {})[expression] = fields[1:]
    return found


GROUPS = groups()


@pytest.mark.parametrize("name", GROUPS)
def test_values_are_numbas(name, tmp_path):
    expressions = list(GROUPS[name])
    wrong = []
    for at in range(0, len(expressions), 40):
        part = expressions[at : at + 40]
        function = cases.write(tmp_path, f"part{at}", part, "from weft.numba import njit\n")
        rows = [function(*cases.arguments(row)) for row in cases.rows_of(name)]
        for i, one in enumerate(part):
            found = [cases.shown(row[i]) for row in rows]
            if found != GROUPS[name][one]:
                wrong.append(f"{one}: {found}, and Numba's are {GROUPS[name][one]}")
    assert not wrong, "\n".join(wrong)


def test_results_are_pythons_numbers(tmp_path):
    function = cases.write(tmp_path, "plain", ["i1", "u8", "f4", "c8", "b1", "(u1, f8)"], "from weft.numba import njit\n")
    found = function(*cases.arguments(1))
    assert [type(one) for one in found] == [int, int, float, complex, bool, tuple]
    assert found[1] == 2**64 - 1 and [type(one) for one in found[5]] == [int, float]

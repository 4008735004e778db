"""What a sweep found: deviations from NumPy, those that are known and why, and whether each of these is still there."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import pytest
from agreement import EXACT, Measure, differences


@dataclass
class Known:
    """A deviation that is expected: a pattern of the expression and its types, and the reason."""

    pattern: str
    reason: str
    seen: int = 0


@dataclass
class Ledger:
    known: list[Known] = field(default_factory=list)

    def deviation(self, title: str, got: object, want: object, measure: Measure = EXACT) -> str | None:
        """A line about what differs. Where NumPy raises, Weft must refuse or raise, too. Known deviations are counted and left out."""
        if isinstance(want, Exception):
            line = None if isinstance(got, Exception) else f"{title}: {got!r} where NumPy raises {type(want).__name__}: {want}"
        elif isinstance(got, Exception):
            line = f"{title}: {type(got).__name__}: {str(got).splitlines()[0] if str(got) else ''}"
        else:
            found = differences(got, want, measure)
            line = f"{title}: {found}" if found else None
        if line is None:
            return None
        for known in self.known:
            if re.search(known.pattern, line):
                known.seen += 1
                return None
        return line

    def stale(self) -> list[str]:
        """Patterns of known deviations that no longer show."""
        return [known.pattern for known in self.known if not known.seen]


def check(lines: list[str]) -> None:
    """Fails with what was found, if anything was."""
    if lines:
        rest = [f"... and {len(lines) - 40} more"] if len(lines) > 40 else []
        pytest.fail("\n".join(lines[:40] + rest), pytrace=False)

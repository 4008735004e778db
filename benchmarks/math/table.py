"""Turns what was measured into a table, a file of numbers, a picture, and a row of the README.

Ratios are of times taken in the same round."""

from __future__ import annotations

import datetime
import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contenders import FAST, LIBMVEC, SVML, SVML_HIGH
from harness import WEFT, Outcome, Row
from report import amount, machine

COLUMNS = [FAST, SVML, SVML_HIGH, LIBMVEC, "numpy", "numba"]
# Which of Weft's versions must be faster than whom. Compilers call libmvec for programs built with -ffast-math only.
AHEAD = {
    "default versions (at most 1 or 2 ULP) ahead of libmvec (at most 4 ULP) everywhere": (WEFT, LIBMVEC),
    "`fastmath` versions (at most 4 ULP) ahead of libmvec everywhere": (FAST, LIBMVEC),
    "default versions ahead of numpy everywhere": (WEFT, "numpy"),
    "default versions ahead of numba everywhere": (WEFT, "numba"),
}
ALLOWED = 1.25
BEGIN, END = "<!-- speed: begin -->", "<!-- speed: end -->"
ROW = "| elementary functions, one core"


@dataclass
class Result:
    """One function on one type and size."""

    function: str
    dtype: str
    size: str
    elements: int
    outcome: Outcome

    def times_weft(self, name: str) -> float | None:
        """A contender's time over Weft's."""
        return self.outcome.ratio(name, WEFT)

    @property
    def nanoseconds(self) -> float | None:
        """Weft's time for one element."""
        row = self.outcome.row(WEFT)
        return row.median / self.elements * 1e9 if row is not None and row.median is not None else None


def line(result: Result) -> str:
    """A line of progress, with everyone's error."""

    def said(row: Row) -> str:
        time = row.median
        return f"{row.name}: {row.note}" if time is None else f"{row.name} {time / result.elements * 1e9:.3f} ns ({row.note})"

    return f"{result.function} {result.dtype} {result.size}: " + ", ".join(map(said, result.outcome.rows))


def mean(results: list[Result], name: str) -> float | None:
    """The geometric mean of a contender's times over Weft's."""
    ratios = [r for r in (result.times_weft(name) for result in results) if r is not None]
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def cell(value: float | None) -> str:
    """A ratio, or that there is none."""
    return "—" if value is None else f"{value:.2f}" if value < 9.995 else f"{value:.0f}"


def markdown(results: list[Result], first: Outcome | None, versions: dict[str, str]) -> str:
    """The whole report."""
    peers = ", ".join(f"{name} {version}" for name, version in versions.items())
    today = f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d}"
    parts = [f"{machine().replace(' cores', ' cores, one used')}; {today}. {peers}.", "", goals(results, first)]
    for dtype in dict.fromkeys(r.dtype for r in results):
        parts += ["", by_function([r for r in results if r.dtype == dtype], dtype)]
    return "\n".join(parts) + "\n"


def goals(results: list[Result], first: Outcome | None) -> str:
    """What must be reached and what was found."""
    lines = ["| goal | found | met |", "|---|---:|---|"]
    svml = mean(results, SVML)
    if svml is not None:
        goal = f"Weft's time over SVML's of default accuracy, geometric mean: at most {ALLOWED}"
        lines.append(f"| {goal} | {1 / svml:.2f} | {met(1 / svml <= ALLOWED)} |")
    for goal, (ours, theirs) in AHEAD.items():
        ratios = [(ratio, f"{r.function} {r.dtype} {r.size}") for r in results if (ratio := r.outcome.ratio(theirs, ours)) is not None]
        if ratios:
            ahead = sum(ratio >= 1 for ratio, _ in ratios)
            least, where = min(ratios)
            found = f"{ahead} of {len(ratios)}, least {least:.2f} ({where})"
            lines.append(f"| {goal} | {found} | {met(ahead == len(ratios))} |")
    row = first.row(WEFT) if first is not None else None
    if first is not None and row is not None and row.median is not None:
        lines.append(
            f"| {first.title}: {first.budgets[0].text} | {amount(row.median, 's')} | {met(row.median <= first.budgets[0].allowed)} |"
        )
    return "\n".join(lines)


def met(yes: bool) -> str:
    """As the other reports say it."""
    return "yes" if yes else "**no**"


def by_function(results: list[Result], dtype: str) -> str:
    """A line a function: Weft's nanoseconds for an element, the others' times over Weft's, in L1 / in L3."""
    lines = [f"| {dtype} | Weft, ns | " + " | ".join(COLUMNS) + " |", "|---|---:|" + "---:|" * len(COLUMNS)]
    for function in dict.fromkeys(r.function for r in results):
        rows = [r for r in results if r.function == function]
        own = " / ".join("—" if r.nanoseconds is None else f"{r.nanoseconds:.2f}" for r in rows)
        lines.append(f"| `{function}` | {own} | " + " | ".join(pair([r.times_weft(name) for r in rows]) for name in COLUMNS) + " |")
    sizes = [[r for r in results if r.size == size] for size in dict.fromkeys(r.size for r in results)]
    lines.append("| geometric mean | | " + " | ".join(pair([mean(rows, name) for rows in sizes]) for name in COLUMNS) + " |")
    return "\n".join(lines)


def pair(values: list[float | None]) -> str:
    """The values of all sizes."""
    return "—" if all(v is None for v in values) else " / ".join(map(cell, values))


def write(text: str, results: list[Result], first: Outcome | None, versions: dict[str, str], folder: Path) -> None:
    """Write `math.md`, `math.json` and `math.png`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "math.md").write_text(text)
    kept = {
        "machine": machine(),
        "versions": versions,
        "first_call": first.row(WEFT).times if first is not None and first.row(WEFT) is not None else None,
        "results": [kept_of(r) for r in results],
    }
    (folder / "math.json").write_text(json.dumps(kept, indent=1) + "\n")
    try:
        plot(results, folder / "math.png")
    except ImportError:
        print("matplotlib is not installed: no plot")


def kept_of(result: Result) -> dict[str, Any]:
    """A function's numbers: nanoseconds for an element, and what was said of each result."""
    rows = {
        row.name: {
            "ns": row.median and round(row.median / result.elements * 1e9, 4),
            "times_weft": result.times_weft(row.name),
            "note": row.note,
        }
        for row in result.outcome.rows
    }
    return {"function": result.function, "dtype": result.dtype, "size": result.size, "rows": rows}


def plot(results: list[Result], path: Path) -> None:
    """A panel a type, a line a function, a mark a contender: time over Weft's. Full marks are L1, hollow ones L3."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    dtypes = list(dict.fromkeys(r.dtype for r in results))
    functions = list(dict.fromkeys(r.function for r in results))[::-1]
    sizes = list(dict.fromkeys(r.size for r in results))
    figure, panels = pyplot.subplots(1, len(dtypes), figsize=(6.5 * len(dtypes), 0.3 * len(functions) + 1.6), sharey=True, squeeze=False)
    for axes, dtype in zip(panels[0], dtypes):
        for y in range(len(functions)):
            axes.axhline(y, color="0.92", zorder=0)
        for k, name in enumerate(COLUMNS):
            for size in sizes:
                rows = [r for r in results if r.dtype == dtype and r.size == size and r.times_weft(name) is not None]
                face = f"C{k}" if size == sizes[0] else "none"
                x, y = [r.times_weft(name) for r in rows], [functions.index(r.function) for r in rows]
                axes.plot(x, y, "o", color=f"C{k}", markerfacecolor=face, label=f"{name}, {size}")
        axes.axvline(1.0, color="crimson", linewidth=2)
        axes.set_xscale("log")
        axes.set_yticks(range(len(functions)), functions)
        axes.set_title(dtype, fontsize=10)
        axes.set_xlabel("time, as a multiple of Weft's (left is faster)")
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
    panels[0][-1].legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False)
    figure.suptitle(machine(), fontsize=10)
    figure.tight_layout()
    figure.savefig(path, dpi=130)


def record(text: str, results: list[Result], root: Path) -> None:
    """Put the report between the markers of docs/math.md, and the geometric means into the README's table."""
    page = root / "docs" / "math.md"
    head, rest = page.read_text().split(BEGIN, 1)
    page.write_text(f"{head}{BEGIN}\n\n{text}\n{END}{rest.split(END, 1)[1]}")
    own = [r.nanoseconds for r in results if r.nanoseconds is not None]
    count = len({r.function for r in results})
    middle = math.exp(sum(map(math.log, own)) / len(own))
    # The table is of another machine, most likely.
    where = re.sub(r"\((R|TM)\)| Processor|, \d+ cores", "", machine())
    cells = [f"{ROW} ({where}), mean of {count} | {middle:.2f} ns", f"{cell(mean(results, SVML))} (SVML)", cell(mean(results, "numba"))]
    row = " | ".join(cells) + " | | | |\n"
    readme = root / "README.md"
    lines = [line for line in readme.read_text().splitlines(keepends=True) if not line.startswith(ROW)]
    after = next(k for k, line in enumerate(lines) if line.startswith("| haversine"))
    readme.write_text("".join([*lines[: after + 1], row, *lines[after + 1 :]]))

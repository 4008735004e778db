"""Turns outcomes into a table, a file of numbers and a picture. All that is shown are ratios measured in one run."""

from __future__ import annotations

import datetime
import json
import os
import platform
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harness import LIMIT, WEFT, Budget, Clock, Outcome, Row


def machine() -> str:
    """The processor, its cores and its widest vectors."""
    info = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    model = re.search(r"model name\s*: (.*)", info)
    family = re.search(r"cpu family\s*: (\d+)", info)
    flags = re.search(r"flags\s*: (.*)", info)
    names = set(flags.group(1).split()) if flags else set()
    vectors = "AVX-512" if "avx512f" in names else "AVX2" if "avx2" in names else platform.machine()
    name = model.group(1).strip() if model else platform.processor() or platform.machine()
    kind = f" (family {family.group(1)})" if family and name in {"AMD EPYC", "AMD EPYC Processor"} else ""
    how = "one thread, CPU time" if Clock.cpu else f"{os.cpu_count()} cores"
    return f"{name}{kind}, {how}, {vectors}"


def amount(value: float, unit: str) -> str:
    """A number with a unit that suits its size."""
    if unit == "B":
        return f"{value / 1e6:.1f} MB"
    for scale, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if value >= scale:
            return f"{value / scale:.3g} {name}"
    return f"{value / 1e-9:.3g} ns"


def shown(row: Row | None, outcome: Outcome) -> str:
    """A row's time or size."""
    if row is None:
        return "—"
    if row.median is not None:
        return amount(row.median, "s")
    return amount(row.value, outcome.unit) if row.value is not None else "—"


def verdict(budget: Budget, outcome: Outcome) -> tuple[str, str, str]:
    """Found, allowed, and whether that is enough."""
    found = budget.found(outcome)
    if budget.against is not None:
        texts = (f"{found:.2f}×" if found is not None else "—", f"{budget.allowed:.2f}×")
    elif budget.error:
        texts = (f"{found:.0e}" if found is not None else "—", f"{budget.allowed:.1e}")
    else:
        texts = (amount(found, outcome.unit) if found is not None else "—", amount(budget.allowed, outcome.unit))
    return *texts, "not measured" if found is None else "yes" if found <= budget.allowed else "**no**"


def budgets_table(outcomes: list[Outcome]) -> str:
    """One line a budget."""
    lines = ["| benchmark | budget | found | allowed | met |", "|---|---|---:|---:|---|"]
    for outcome in outcomes:
        for budget in outcome.budgets:
            found, allowed, met = verdict(budget, outcome)
            lines.append(f"| {outcome.title} | {budget.text} | {found} | {allowed} | {met} |")
    return "\n".join(lines)


def contenders_table(outcomes: list[Outcome]) -> str:
    """One line a contender: its time, also over Weft's. Of the limit's variants, the fastest."""
    lines = ["| benchmark | contender | time | times Weft's | rate | note |", "|---|---|---:|---:|---:|---|"]
    for outcome in outcomes:
        limit = outcome.row(LIMIT)
        for row in sorted(outcome.rows, key=lambda r: r.median if r.median is not None else float("inf")):
            if row.rank == LIMIT and row is not limit and limit is not None:
                continue
            ratio = outcome.ratio(row.name, WEFT) if row.times else None
            rate = ""
            if outcome.work is not None and row.median is not None:
                rate = f"{outcome.work[0] / row.median / 1e9:.1f} G{outcome.work[1]}/s"
            name = f"**{row.name}**" if row.rank == WEFT else f"{row.name} (limit)" if row.rank == LIMIT else row.name
            times = f"{ratio:.2f}" if ratio is not None else "—"
            lines.append(f"| {outcome.title} | {name} | {shown(row, outcome)} | {times} | {rate} | {row.note} |")
    return "\n".join(lines)


def markdown(outcomes: list[Outcome], versions: dict[str, str]) -> str:
    """The whole report."""
    peers = ", ".join(f"{name} {version}" for name, version in versions.items())
    return "\n".join(
        [
            f"{machine()}; {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d}. {peers}.",
            "",
            budgets_table(outcomes),
            "",
            contenders_table(outcomes),
            "",
        ]
    )


def numbers(outcomes: list[Outcome], versions: dict[str, str]) -> dict[str, Any]:
    """Everything that was measured."""
    return {
        "machine": machine(),
        "date": f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d}",
        "versions": versions,
        "outcomes": [
            {
                "name": outcome.name,
                "title": outcome.title,
                "unit": outcome.unit,
                "budgets": [{**asdict(b), "found": b.found(outcome)} for b in outcome.budgets],
                "rows": [{**asdict(r), "median": r.median, "best": r.best} for r in outcome.rows],
            }
            for outcome in outcomes
        ],
    }


def plot(outcomes: list[Outcome], path: Path) -> None:
    """A line a benchmark, a mark a contender: time over Weft's, on a logarithmic axis."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    timed = [o for o in outcomes if o.row(WEFT) is not None and any(r.times for r in o.rows)]
    if not timed:
        return
    peers = sorted({family(r) for o in timed for r in o.rows if r.rank == "peer" and r.times})
    colours = {peer: pyplot.cm.tab10(k % 10) for k, peer in enumerate(peers)}
    figure, axes = pyplot.subplots(figsize=(10, 0.55 * len(timed) + 1.8))
    for y, outcome in enumerate(reversed(timed)):
        axes.axhline(y, color="0.92", zorder=0)
        for peer in peers:
            rows = [r for r in outcome.rows if r.rank == "peer" and family(r) == peer and r.times]
            if rows:
                best = min(rows, key=lambda r: r.median or 0.0)
                axes.plot(outcome.ratio(best.name, WEFT), y, "o", color=colours[peer], markersize=8)
        limit = outcome.ratio(LIMIT, WEFT)
        if limit is not None:
            axes.plot(limit, y, "|", color="black", markersize=18, markeredgewidth=2)
    axes.axvline(1.0, color="crimson", linewidth=2)
    for peer in peers:
        axes.plot([], [], "o", color=colours[peer], label=peer)
    axes.plot([], [], color="crimson", linewidth=2, label="Weft")
    axes.plot([], [], "|", color="black", markersize=12, markeredgewidth=2, linestyle="none", label="C by hand")
    axes.set_xscale("log")
    axes.set_yticks(range(len(timed)), [o.title for o in reversed(timed)])
    axes.set_xlabel("time, as a multiple of Weft's (left is faster)")
    axes.set_title(machine(), fontsize=10)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, dpi=130)


def family(row: Row) -> str:
    """The library a contender belongs to: the first word of its name."""
    return re.split(r"[ ,]", row.name)[0]


def write(outcomes: list[Outcome], versions: dict[str, str], folder: Path) -> str:
    """Write `results.json`, `results.md` and `results.png`; return the report."""
    folder.mkdir(parents=True, exist_ok=True)
    report = markdown(outcomes, versions)
    (folder / "results.md").write_text(report)
    (folder / "results.json").write_text(json.dumps(numbers(outcomes, versions), indent=1) + "\n")
    try:
        plot(outcomes, folder / "results.png")
    except ImportError:
        print("matplotlib is not installed: no plot")
    return report


def record(report: str, readme: Path) -> None:
    """Put the report between the README's markers."""
    text = readme.read_text()
    head, rest = text.split("<!-- results -->\n", 1)
    tail = rest.split("<!-- end of results -->", 1)[1]
    readme.write_text(f"{head}<!-- results -->\n{report}<!-- end of results -->{tail}")

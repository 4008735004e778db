"""Turns what was measured into tables, a file of numbers and a picture. Times are the shortest of interleaved rounds, ratios of these."""

from __future__ import annotations

import datetime
import json
import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from avx2 import NAME as AVX2
from contenders import PEERS
from report import amount, machine

BEGIN, END = "<!-- arrays: begin -->", "<!-- arrays: end -->"
WEFT = "weft"
HAND = ["weft kernel", "weft kernel, sines hoisted", "weft vectorize"]


@dataclass
class Line:
    """One task: everyone's shortest time in seconds, or why there is none."""

    group: str
    name: str
    title: str
    cores: str
    times: dict[str, float] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    moved: float | None = None

    @property
    def best(self) -> tuple[str, float] | None:
        """The fastest peer."""
        peers = [(name, self.times[name]) for name in PEERS if name in self.times]
        return min(peers, key=lambda each: each[1]) if peers else None

    @property
    def ratio(self) -> float | None:
        """Weft's time over that of the fastest peer."""
        return self.times[WEFT] / self.best[1] if WEFT in self.times and self.best else None

    def over(self, name: str) -> float | None:
        """Weft's time over another's."""
        return self.times[WEFT] / self.times[name] if WEFT in self.times and name in self.times else None


Fresh = dict[str, Any]


def mean(ratios: list[float]) -> float | None:
    """Geometric."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def rows(lines: list[Line]) -> str:
    """One line a task: times, who is ahead, Weft's time over the best peer's."""
    peers = [name for name in [*PEERS, AVX2] if any(name in line.times or name in line.notes for line in lines)]
    head = ["task", "Weft", *peers, "ahead", "Weft / the best peer"]
    text = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(peers) + 1) + "---|---:|"]
    for line in lines:
        cells = [amount(line.times[name], "s") if name in line.times else short(line.notes.get(name, "—")) for name in [WEFT, *peers]]
        best, ratio = line.best, line.ratio
        ahead = "—" if best is None or ratio is None else WEFT if ratio <= 1 else best[0]
        shown = "—" if ratio is None else f"{ratio:.2f}" if ratio <= 1 else f"**{ratio:.2f}**"
        text.append("| " + " | ".join([f"{line.title}{cores(line)}", *cells, ahead, shown]) + " |")
    return "\n".join(text)


def short(note: str) -> str:
    """Why there is no time, in a word."""
    return next((word for word in ("not installed", "wrong", "failed") if note.startswith(word)), "—")


def cores(line: Line) -> str:
    """Where others stand beside it."""
    return {"one": "", "all": ", all cores"}[line.cores]


def others(line: Line) -> str:
    """Ways to the mesh besides the naive lines, over these."""
    text = ["| the mesh otherwise | time | naive Weft / this |", "|---|---:|---:|"]
    for name, seconds in sorted(line.times.items(), key=lambda each: each[1]):
        if name != WEFT and name not in PEERS:
            over = line.over(name)
            text.append(f"| {name}{cores(line)} | {amount(seconds, 's')} | {'—' if over is None else f'{over:.2f}'} |")
    for name, note in line.notes.items():
        if name not in PEERS and name not in line.times:
            text.append(f"| {name}{cores(line)} | {note} | — |")
    return "\n".join(text)


def first_calls(fresh: Fresh) -> str:
    """Import and first call, in fresh processes with empty caches."""
    text = [
        "| first call | Weft's import | Weft's call | NumPy's import | NumPy's call | Weft's whole / NumPy's whole |",
        "|---|" + "---:|" * 5,
    ]
    for name, found in fresh.get("first", {}).items():
        ours, theirs = found.get("weft"), found.get("numpy")
        if not ours or not theirs:
            text.append(f"| {name} | {found.get('failed', 'failed')} | | | | |")
            continue
        ratio = sum(ours.values()) / sum(theirs.values())
        numbers = [amount(v, "s") for v in (ours["import"], ours["call"], theirs["import"], theirs["call"])]
        text.append(f"| {name} | " + " | ".join(numbers) + f" | {ratio:.2f} |")
    return "\n".join(text)


def goals(lines: list[Line], fresh: Fresh) -> str:
    """What is asked of arrays, and what was found."""
    text = ["| goal | found | met |", "|---|---:|---|"]

    def goal(what: str, found: float | None, allowed: float, shown: str) -> None:
        met = "not measured" if found is None else "yes" if found <= allowed else "**no**"
        text.append(f"| {what} | {'—' if found is None else shown.format(found)} | {met} |")

    for line in (line for line in lines if line.group == "mesh"):
        where = cores(line)
        goal(f"naive mesh at most 1.15 times Weft's hand-written kernel{where}", line.over("weft kernel"), 1.15, "{:.2f}×")
        goal(f"naive mesh ahead of the SVML limit{where}", line.over("hand SVML"), 1.0, "{:.2f}×")
    peak = fresh.get("peak", {})
    if "weft" in peak:
        goal("no mesh in memory beside the result (8 MB): at most 12 MB more", peak["weft"]["bytes"], 12e6, "{:,.0f} bytes")
    for line in (line for line in lines if line.name == "chain"):
        triad = next((other for other in lines if other.name == "triad" and other.cores == line.cores), None)
        if triad is not None and "C" in triad.times and WEFT in line.times:
            share = (line.moved or 0) / line.times[WEFT] / (2.4e8 / triad.times["C"])
            goal(f"chain of 20 at least 90 % of triad's bandwidth{cores(line)}", -share, -0.9, f"{share:.0%}")
    folds = [line for line in lines if line.group == "folds" and line.ratio is not None]
    if folds:
        behind = sum(line.ratio > 1.05 for line in folds if line.ratio)
        goal(f"reductions no slower than the best peer: how many of {len(folds)} are", behind, 0, "{:.0f}")
    goals_of_transforms([line for line in lines if line.group == "transforms"], goal)
    goals_of_programs([line for line in lines if line.group == "programs"], goal)
    goals_of_sorts([line for line in lines if line.group == "sorts" and line.cores == "all"], goal)
    for line in (line for line in lines if line.name == "normal"):
        goal("10⁷ normal numbers: at most 0.4 times NumPy's time on one core", line.over("numpy"), 0.4, "{:.2f}×")
    goals_of_small(lines, fresh, goal)
    return "\n".join(text)


def goals_of_transforms(transforms: list[Line], goal: Any) -> None:
    """Lines on one core, planes on all of them, against SciPy's one."""
    for name, where, allowed in [("fft", "one", 1.05), ("fft2", "all", 0.7)]:
        own = [line for line in transforms if line.cores == where and line.name.split("-")[0].endswith(name)]
        ratios = [ratio for line in own if (ratio := line.over("scipy")) is not None]
        if ratios:
            goal(f"`{name}` and `r{name}`, {where} of the cores, over SciPy's: the most of {len(ratios)}", max(ratios), allowed, "{:.2f}×")


def goals_of_sorts(sorts: list[Line], goal: Any) -> None:
    """On all cores, which sorts of weft arrays use, against NumPy's one: what sorts against its AVX2 code."""
    for name, peer, whose, allowed in (
        ("sort", AVX2, "NumPy's AVX2 code's", 1.3),
        ("argsort", "numpy", "NumPy's", 0.6),
        ("unique", "numpy", "NumPy's", 0.6),
    ):
        ratios = [ratio for line in sorts if line.name.startswith(f"{name}-") and (ratio := line.over(peer)) is not None]
        if ratios:
            goal(f"`{name}` of 10⁷, all cores, at most {allowed} times {whose}: the most of {len(ratios)}", max(ratios), allowed, "{:.2f}×")


def goals_of_programs(programs: list[Line], goal: Any) -> None:
    """The six programs."""
    one = [line for line in programs if line.cores == "one"]
    faster = mean([1 / ratio for line in one if (ratio := line.over("numpy")) is not None])
    goal("programs, one core: geometric mean at least 3 times NumPy", -faster if faster else None, -3.0, f"{faster or 0:.2f}×")
    for peer in ("jax", "numba"):
        for where in ("one", "all"):
            ratios = [ratio for line in programs if line.cores == where and (ratio := line.over(peer)) is not None]
            if ratios:
                behind = sum(ratio > 1 for ratio in ratios)
                goal(f"programs ahead of {peer}, {where} core{'s' * (where == 'all')}: behind in, of {len(ratios)}", behind, 0, "{:.0f}")


def goals_of_small(lines: list[Line], fresh: Fresh, goal: Any) -> None:
    """Tiny arrays, first calls, compilations."""
    by_name = {line.name: line for line in lines if line.group == "small"}
    for name, what, allowed in (
        ("chained", "a chained operation on 10 elements: at most 0.4 µs", 0.4e-6),
        ("added", "`a + b` read: 1 µs", 1e-6),
    ):
        seconds = by_name[name].times.get(WEFT) if name in by_name else None
        goal(what, None if seconds is None else seconds * 1e6, allowed * 1e6, "{:.2f} µs")
    ratios = [
        (sum(found["weft"].values()) / sum(found["numpy"].values()), name)
        for name, found in fresh.get("first", {}).items()
        if found.get("weft") and found.get("numpy")
    ]
    if ratios:
        worst, name = max(ratios)
        goal("first call of a program at most 1.5 times NumPy's whole time", worst, 1.5, "{:.2f}× at most (" + name + ")")
    if fresh.get("shapes"):
        goal("100 new shapes: kernels compiled", fresh["shapes"]["more"], 0, "{:.0f}")
    if fresh.get("steps"):
        goal("10⁴ steps: kernels compiled after the third", fresh["steps"]["end"] - fresh["steps"]["third"], 0, "{:.0f}")
        goal("10⁴ steps: memory grown after a tenth, at most 1 MB", fresh["steps"]["grown"], 1e6, "{:,.0f} bytes")
    if fresh.get("pending"):
        goal("10⁴ steps that nobody looks at: memory grown after a tenth, at most 64 MB", fresh["pending"]["grown"], 64e6, "{:,.0f} bytes")


def markdown(lines: list[Line], fresh: Fresh, versions: dict[str, str]) -> str:
    """The whole report."""
    peers = ", ".join(f"{name} {version}" for name, version in versions.items())
    today = f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d}"
    parts = [f"{machine()}; one core unless all are said; {today}. {peers}.", goals(lines, fresh)]
    titles = {"mesh": "", "chain": "", "programs": "", "small": "", "folds": "", "sorts": "", "draws": "", "transforms": ""}
    for group in titles:
        chosen = [line for line in lines if line.group == group and line.name != "triad"]
        if chosen:
            parts.append(rows(chosen))
        parts += [others(line) for line in chosen if group == "mesh"]
    triads = [f"{amount(line.times['C'], 's')}{cores(line)}" for line in lines if line.name == "triad" and "C" in line.times]
    if triads:
        parts.append(f"Triad in C on 10⁷ float64, whose bandwidth the chain is measured with: {'; '.join(triads)}.")
    if fresh.get("peak"):
        memory = ", ".join(f"{name} {found['bytes'] / 1e6:.1f} MB" for name, found in fresh["peak"].items() if "bytes" in found)
        parts.append(f"Memory that the mesh takes at the most, its result of 8 MB included: {memory}.")
    if fresh.get("first"):
        parts.append(first_calls(fresh))
    return "\n\n".join(parts) + "\n"


def plot(lines: list[Line], path: Path) -> None:
    """A line a task, a mark a peer: time over Weft's, on a logarithmic axis. Reductions are one line each operation: the geometric mean."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    shown = [line for line in lines if line.group != "folds" and WEFT in line.times and line.best] + means_of_folds(lines)
    if not shown:
        return
    figure, axes = pyplot.subplots(figsize=(10, 0.4 * len(shown) + 1.8))
    for y, line in enumerate(reversed(shown)):
        axes.axhline(y, color="0.92", zorder=0)
        for k, peer in enumerate(PEERS):
            if peer in line.times:
                axes.plot(line.times[peer] / line.times[WEFT], y, "o", color=pyplot.cm.tab10(k), markersize=8)
        for name, mark in (("hand SVML", "|"), ("weft kernel", "x")):
            if name in line.times:
                axes.plot(line.times[name] / line.times[WEFT], y, mark, color="black", markersize=12, markeredgewidth=2)
    axes.axvline(1.0, color="crimson", linewidth=2, label="Weft")
    for k, peer in enumerate(PEERS):
        axes.plot([], [], "o", color=pyplot.cm.tab10(k), label=peer)
    axes.plot([], [], "|", color="black", markersize=12, markeredgewidth=2, linestyle="none", label="C with SVML by hand")
    axes.plot([], [], "x", color="black", markersize=10, markeredgewidth=2, linestyle="none", label="Weft's kernel by hand")
    axes.set_xscale("log")
    axes.set_yticks(range(len(shown)), [f"{line.title}{cores(line)}".replace("`", "") for line in reversed(shown)])
    axes.set_xlabel("time, as a multiple of Weft's (left is faster)")
    axes.set_title(machine(), fontsize=10)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def means_of_folds(lines: list[Line]) -> list[Line]:
    """One line an operation."""
    made = []
    folds = [line for line in lines if line.group == "folds" and WEFT in line.times]
    for op in dict.fromkeys(line.title.split(",")[0] for line in folds):
        own = [line for line in folds if line.title.split(",")[0] == op]
        means = {name: mean([line.times[name] for line in own if name in line.times]) for name in [WEFT, "numpy", "jax", "mlx"]}
        times = {name: value for name, value in means.items() if value and all(name in line.times for line in own)}
        made.append(Line("folds", op, f"{op}, mean of {len(own)} axes and layouts", own[0].cores, times))
    return made


def write(lines: list[Line], fresh: Fresh, versions: dict[str, str], folder: Path) -> str:
    """Write `arrays.json`, `arrays.md` and `arrays.png`; return the report."""
    folder.mkdir(parents=True, exist_ok=True)
    text = markdown(lines, fresh, versions)
    (folder / "arrays.md").write_text(text)
    whole = {"machine": machine(), "versions": versions, "lines": [asdict(line) for line in lines], "fresh": fresh}
    (folder / "arrays.json").write_text(json.dumps(whole, indent=1) + "\n")
    try:
        plot(lines, folder / "arrays.png")
    except ImportError:
        print("matplotlib is not installed: no plot")
    return text


def record(text: str, page: Path) -> None:
    """Put the report between the page's markers."""
    before, rest = page.read_text().split(BEGIN)
    page.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{rest.split(END)[1]}")

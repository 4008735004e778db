"""What was measured on a GPU as a table and a picture. All that is compared was measured in one run."""

from __future__ import annotations

import datetime
import importlib.metadata
from pathlib import Path
from typing import Any

COPY = "device-to-device copy"
PACKAGES = ("weft", "numpy", "numba", "numba-cuda", "cupy-cuda12x", "cupy-cuda13x", "torch", "triton", "jax")


def versions() -> dict[str, str]:
    """Of what is installed of all that takes part."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def line(result: dict[str, Any]) -> str:
    """A part in a line: each contender over Weft."""
    weft = result["times"].get("weft")
    shown = [f"weft {amount(weft)}"] if weft else []
    shown += [f"{name} ×{seconds / weft:.2f}" for name, seconds in result["times"].items() if weft and name != "weft"]
    shown += [f"{name}: results differ" for name in result["wrong"]]
    shown += [f"{name}: {why}" for name, why in result["failed"].items()]
    return ", ".join(shown)


def amount(seconds: float) -> str:
    """A time with a unit that suits its size."""
    for scale, name in ((1.0, "s"), (1e-3, "ms")):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {name}"
    return f"{seconds / 1e-6:.3g} µs"


def markdown(
    device: Any, results: dict[str, Any], tests: str, found: dict[str, str], left_out: dict[str, str], unmeasured: list[str]
) -> str:  # fmt: skip
    """The whole report."""
    from weft import _weft

    names = ", ".join(f"{name} {version}" for name, version in found.items())
    text = [f"# {device.description}", "", f"{datetime.date.today()}; {_weft.cuda_status()[0]}; {names}.", ""]
    text += [f"Left out: {', '.join(f'{name} ({why})' for name, why in left_out.items())}.", ""] if left_out else []
    text += [f"Tests on the device: {tests}.", ""]
    text += [f"No time was left for: {'; '.join(unmeasured)}.", ""] if unmeasured else []
    text += ["| what | contender | time | times Weft's | rate |", "|---|---|---:|---:|---:|"]
    copy = results.get(COPY, {"times": {}})
    bandwidth = copy["bytes"] / copy["times"]["weft"] if "weft" in copy["times"] else None
    for title, result in results.items():
        weft = result["times"].get("weft")
        for who, seconds in sorted(result["times"].items(), key=lambda item: item[1]):
            name = f"**{who}**" if who.startswith("weft") else who
            wrong = " (results differ)" if who in result["wrong"] else ""
            ratio = f"{seconds / weft:.2f}" if weft else "—"
            text.append(f"| {title} | {name}{wrong} | {amount(seconds)} | {ratio} | {rate(result['bytes'] / seconds, bandwidth)} |")
        text += [f"| {title} | {who} | — | — | {why} |" for who, why in result["failed"].items()]
    return "\n".join(text) + "\n"


def rate(moved: float, bandwidth: float | None) -> str:
    """Bytes a second, also as a part of what a copy moves."""
    if not moved:
        return ""
    part = f", {100 * moved / bandwidth:.0f} % of the copy" if bandwidth else ""
    return f"{moved / 1e9:.3g} GB/s{part}"


def plot(device: Any, results: dict[str, Any], path: Path) -> None:
    """A line a benchmark, a mark a contender: time over Weft's, on a logarithmic axis."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    timed = {title: result["times"] for title, result in results.items() if "weft" in result["times"]}
    others = sorted({name for times in timed.values() for name in times if name != "weft"})
    colours = {name: pyplot.cm.tab10(k % 10) for k, name in enumerate(others)}
    figure, axes = pyplot.subplots(figsize=(10, 0.45 * len(timed) + 1.8))
    for y, times in enumerate(reversed(list(timed.values()))):
        axes.axhline(y, color="0.92", zorder=0)
        for name in others:
            if name in times:
                axes.plot(times[name] / times["weft"], y, "o", color=colours[name], markersize=8)
    axes.axvline(1.0, color="crimson", linewidth=2, label="Weft")
    for name in others:
        axes.plot([], [], "o", color=colours[name], label=name)
    axes.set_xscale("log")
    axes.set_yticks(range(len(timed)), list(reversed(timed)))
    axes.set_xlabel("time, as a multiple of Weft's (left is faster)")
    axes.set_title(device.description, fontsize=10)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


def write(text: str, device: Any, results: dict[str, Any], folder: Path) -> Path:
    """Writes the table, and the picture beside it where matplotlib is installed; gives the table's path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{device.description.replace(' ', '-').lower()}.md"
    path.write_text(text)
    try:
        plot(device, results, path.with_suffix(".png"))
    except ImportError:
        print("matplotlib is not installed: no plot")
    return path

"""What was measured on a GPU as a table and a picture. All that is compared was measured in one run."""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import platform
import re
from pathlib import Path
from typing import Any

import budgets

PACKAGES = ("weft", "numpy", "numba", "numba-cuda", "cupy-cuda12x", "cupy-cuda13x", "torch", "triton", "jax", "jaxlib")


def versions() -> dict[str, str]:
    """Of what is installed of all that takes part."""
    from weft.kernels import nvidia

    found = {}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    # Those of NVIDIA's that Weft uses.
    return found | dict.fromkeys(nvidia.used(), "used by Weft")


def driver() -> str:
    """The CUDA driver that Weft uses, and the version of the module in the kernel where there is one."""
    from weft import _weft

    module = Path("/proc/driver/nvidia/version")
    number = re.search(r"(\d+\.\d+[.\d]*)", module.read_text()) if module.exists() else None
    return _weft.cuda_status()[0] + (f", {number.group(1)}" if number else "")


def line(result: dict[str, Any]) -> str:
    """A part in a line: each contender over Weft."""
    weft = result["times"].get("weft")
    shown = [f"weft {amount(weft)}"] if weft else []
    shown += [f"{name} ×{ratio:.2f}" for name, ratio in result["ratios"].items() if name != "weft"]
    shown += [f"{name}: results differ" for name in result["wrong"]]
    shown += [f"{name}: {why}" for name, why in result["failed"].items()]
    return ", ".join(shown)


def amount(seconds: float) -> str:
    """A time with a unit that suits its size."""
    for scale, name in ((1.0, "s"), (1e-3, "ms")):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {name}"
    return f"{seconds / 1e-6:.3g} µs"


def markdown(device: Any, kept: dict[str, Any], found: dict[str, str], unmeasured: list[str]) -> str:
    """The whole report."""
    names = ", ".join(f"{name} {version}" for name, version in found.items())
    date = f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC"
    text = [f"# {device.description}", "", f"{date}; {driver()}; Python {platform.python_version()}; {names}.", ""]
    text += [f"Left out: {', '.join(f'{name} ({why})' for name, why in kept['left_out'].items())}.", ""] if kept["left_out"] else []
    text += ["Tests on the device:", "", *(f"- {name}: {outcome}" for name, outcome in kept["tests"].items()), ""] if kept["tests"] else []
    text += [f"No time was left for: {'; '.join(unmeasured)}.", ""] if unmeasured else []
    text += [*budgets.table(kept["done"]), ""]
    text += [
        "Times are medians; ratios are medians over rounds that both were in. The yardstick is the driver's copy of an array.",
        "",
    ]
    text += ["| what | contender | time | times Weft's | rate |", "|---|---|---:|---:|---:|"]
    for title, result in kept["done"].items():
        for who, seconds in sorted(result["times"].items(), key=lambda item: item[1]):
            name = f"**{who}**" if who.startswith("weft") else who
            wrong = " (results differ)" if who in result["wrong"] else ""
            ratio = f"{result['ratios'][who]:.2f}" if who in result["ratios"] else "—"
            moved = result["copied"] if who == "yardstick" else result["bytes"]
            text.append(f"| {title} | {name}{wrong} | {amount(seconds)} | {ratio} | {rate(moved / seconds)} |")
        text += [f"| {title} | {who} | — | — | {why} |" for who, why in result["failed"].items()]
    return "\n".join(text) + "\n"


def rate(moved: float) -> str:
    """Bytes a second."""
    return f"{moved / 1e9:.4g} GB/s" if moved else ""


def plot(device: Any, results: dict[str, Any], path: Path) -> None:
    """A line a benchmark, a mark a contender: time over Weft's, on a logarithmic axis."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    timed = {title: result["ratios"] for title, result in results.items() if "weft" in result["ratios"]}
    others = sorted({name for ratios in timed.values() for name in ratios if name not in ("weft", "yardstick")})
    colours = {name: pyplot.cm.tab10(k % 10) for k, name in enumerate(others)}
    figure, axes = pyplot.subplots(figsize=(10, 0.45 * len(timed) + 1.8))
    for y, ratios in enumerate(reversed(list(timed.values()))):
        axes.axhline(y, color="0.92", zorder=0)
        for name in others:
            if name in ratios:
                axes.plot(ratios[name], y, "o", color=colours[name], markersize=8)
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


def write(text: str, device: Any, kept: dict[str, Any], folder: Path) -> Path:
    """Writes the table, all numbers as JSON, and the picture where matplotlib is installed; gives the table's path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{re.sub('[^a-z0-9]+', '-', device.description.lower()).strip('-')}.md"
    path.write_text(text)
    path.with_suffix(".json").write_text(json.dumps(kept, indent=1) + "\n")
    try:
        plot(device, kept["done"], path.with_suffix(".png"))
    except ImportError:
        print("matplotlib is not installed: no plot")
    return path

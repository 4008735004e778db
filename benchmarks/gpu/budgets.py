"""What Weft is to reach on a GPU, and whether it did."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

Result = dict[str, Any]


class Budget(NamedTuple):
    """For every part whose method is one of `methods`."""

    methods: tuple[str, ...]
    text: str
    # What was found in a part, if it was; the bound; whether more is better; how to show either.
    found: Callable[[Result], float | None]
    bound: float
    more: bool
    shown: Callable[[float], str]


def over(name: str) -> Callable[[Result], float | None]:
    """Someone's time over Weft's, whoever of that name is first."""
    return lambda result: next((ratio for who, ratio in result["ratios"].items() if who.startswith(name)), None)


def of_the_copy(result: Result) -> float | None:
    """Weft's bytes a second over those of the device's own copy."""
    ratio = result["ratios"].get("yardstick")
    return ratio * result["bytes"] / result["copied"] if ratio else None


def seconds(result: Result) -> float | None:
    return result["times"].get("weft")


def times(ratio: float) -> str:
    return f"{ratio:.2f} times"


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


# Where NVIDIA's libraries do the work for both, little else may be seen.
OF_ARRAYS = tuple(f"array_{name}" for name in (
    "product", "products", "cholesky", "solve", "inverse", "triangle", "eigenvalues", "singular_values", "fft", "fft2", "rfft", "irfft"
))  # fmt: skip
# What Weft's own kernels do, and CuPy's.
OF_ELEMENTS = tuple(f"elements_{name}" for name in (
    "chain", "total", "sum_of_columns", "sum_of_rows", "greatest", "running_sum", "sort", "order", "unique", "counts", "mask", "gather",
    "searches"
))  # fmt: skip
BUDGETS = (
    Budget(OF_ARRAYS, "CuPy's time over Weft's", over("cupy"), 0.95, True, times),
    Budget(OF_ELEMENTS, "CuPy's time over Weft's", over("cupy"), 1.0, True, times),
    Budget(("mandelbrot",), "numba-cuda's time over Weft's", over("numba-cuda"), 1.3, True, times),
    Budget(("haversine", "matmul", "histogram", "nbody", "total", "shuffled_total"),
           "numba-cuda's time over Weft's", over("numba-cuda"), 1.0, True, times),
    Budget(("saxpy", "triad", "total", "shuffled_total", "transpose"),
           "of a device-to-device copy's bandwidth", of_the_copy, 0.9, True, percent),
    Budget(("launch",), "seconds", seconds, 4e-6, False, lambda s: f"{s * 1e6:.2f} µs"),
    Budget(("launch",), "numba-cuda's time over Weft's", over("numba-cuda"), 1.0, True, times),
    Budget(("first",), "seconds", seconds, 0.060, False, lambda s: f"{s * 1e3:.1f} ms"),
    Budget(("mandelbrot", "triad"), "time on Vulkan over that on CUDA", over("weft on vulkan"), 1.25, False, times),
)  # fmt: skip


def verdicts(done: dict[str, Result]) -> Iterator[tuple[str, Budget, float | None, bool]]:
    """Each budget of each part: what was found, and whether that is enough."""
    for title, result in done.items():
        for budget in BUDGETS:
            if result["method"] in budget.methods:
                found = budget.found(result)
                yield title, budget, found, found is not None and (found >= budget.bound if budget.more else found <= budget.bound)


def table(done: dict[str, Result]) -> list[str]:
    """Lines of Markdown."""
    lines = ["| what | budget | found | allowed | met |", "|---|---|---:|---:|---|"]
    for title, budget, found, met in verdicts(done):
        shown = "—" if found is None else budget.shown(found)
        allowed = f"{'≥' if budget.more else '≤'} {budget.shown(budget.bound)}"
        lines.append(
            f"| {title} | {budget.text} | {shown} | {allowed} | {'not measured' if found is None else 'yes' if met else '**no**'} |"
        )
    return lines

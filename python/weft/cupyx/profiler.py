"""`cupyx.profiler`: how long a function of arrays takes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import weft
from weft._weft import ndarray
from weft.errors import UnsupportedError

__all__ = ["PerfCaseResult", "benchmark"]


class PerfCaseResult:
    """What `benchmark` found: `cpu_times`, seconds of each call until it returned, and `gpu_times`, until what it gave was computed."""

    def __init__(self, name: str, cpu_times: np.ndarray, gpu_times: np.ndarray) -> None:
        self.name, self.cpu_times, self.gpu_times = name, cpu_times, gpu_times

    def to_str(self, show_gpu: bool = False) -> str:
        """The times in microseconds: mean, spread, least and most."""
        parts = [f"{self.name:<20}:", self._row("CPU", self.cpu_times)]
        if show_gpu:
            parts += [self._row(f"GPU-{at}", row) for at, row in enumerate(self.gpu_times)]
        return " ".join(parts)

    def _row(self, what: str, times: np.ndarray) -> str:
        micro = times * 1e6
        if not micro.size:
            return f"{what}: no calls"
        text = f"{what}:{micro.mean():9.03f} us"
        return text if micro.size == 1 else f"{text} +/-{micro.std():6.03f} (min:{micro.min():9.03f} / max:{micro.max():9.03f}) us"

    def __str__(self) -> str:
        """All times."""
        return self.to_str(show_gpu=True)

    __repr__ = __str__


def benchmark(
    func: Callable[..., Any],
    args: Sequence[Any] = (),
    kwargs: dict[str, Any] | None = None,
    n_repeat: int = 10000,
    *,
    name: str | None = None,
    n_warmup: int = 10,
    max_duration: float = math.inf,
    devices: Any = None,
) -> PerfCaseResult:
    """Calls a function again and again and says how long it took, until it returned and until the arrays that it gives were computed.

    Operations of arrays are only recorded in the call: what the function does not give back is not computed, and not measured.

    >>> result = cupyx.profiler.benchmark(cupy.exp, (cupy.ones(10),), n_repeat=5)
    >>> result.gpu_times.shape
    (1, 5)
    """
    if devices is not None and len(devices) != 1:
        raise UnsupportedError("benchmark: one device is measured at a time, which is where the arrays are")
    if not callable(func):
        raise ValueError("`func` should be a callable object.")
    keywords = kwargs or {}
    cpu_times, gpu_times = [], []
    begun = time.perf_counter()
    for turn in range(-n_warmup, n_repeat):
        weft.current_device().synchronize()
        start = time.perf_counter()
        found = func(*args, **keywords)
        returned = time.perf_counter()
        weft.eval(*_arrays(found))
        weft.current_device().synchronize()
        end = time.perf_counter()
        if turn >= 0:
            cpu_times.append(returned - start)
            gpu_times.append(end - start)
        if turn >= 0 and end - begun > max_duration:
            break
    title = name if name is not None else getattr(func, "__name__", str(func))
    return PerfCaseResult(title, np.asarray(cpu_times), np.asarray([gpu_times]))


def _arrays(found: Any) -> list[ndarray]:
    if isinstance(found, ndarray):
        return [found]
    if isinstance(found, dict):
        found = list(found.values())
    return [each for item in found for each in _arrays(item)] if isinstance(found, (list, tuple)) else []

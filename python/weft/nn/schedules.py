"""Schedules: learning rates as functions of the step, by optax's and MLX's names. A step is a number or an array, the first one is 0.

They are array expressions, so that a captured training step computes its own rate. An optimizer takes one in place of a number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import weft
from weft._weft import ndarray

__all__ = [
    "Schedule",
    "cosine_decay",
    "exponential_decay",
    "join_schedules",
    "linear_schedule",
    "step_decay",
    "warmup_cosine_decay",
]

Schedule = Callable[[Any], ndarray]


def _step(step: Any) -> ndarray:
    return weft.asarray(step).astype(np.float32)


def linear_schedule(init: float, end: float, steps: int) -> Schedule:
    """From `init` to `end` in so many steps, and `end` from then on.

    >>> rate = weft.nn.linear_schedule(0.0, 1.0, 4)
    >>> rate(1), rate(9)
    (array(0.25, dtype=float32), array(1., dtype=float32))
    """
    _positive("steps", steps)
    return lambda step: init + (end - init) * weft.clip(_step(step) / steps, 0, 1)


def exponential_decay(init: float, decay_rate: float) -> Schedule:
    """`init` times `decay_rate` to the power of the step.

    >>> weft.nn.exponential_decay(1.0, 0.5)(2)
    array(0.25, dtype=float32)
    """
    _positive("decay_rate", decay_rate)
    return lambda step: init * weft.exp(_step(step) * math.log(decay_rate))


def step_decay(init: float, decay_rate: float, step_size: int) -> Schedule:
    """`init` times `decay_rate` once in so many steps.

    >>> weft.nn.step_decay(1.0, 0.5, 10)(25)
    array(0.25, dtype=float32)
    """
    _positive("decay_rate", decay_rate)
    _positive("step_size", step_size)
    return lambda step: init * weft.exp(weft.floor(_step(step) / step_size) * math.log(decay_rate))


def cosine_decay(init: float, decay_steps: int, end: float = 0.0) -> Schedule:
    """Half a wave from `init` to `end` in so many steps, and `end` from then on (Loshchilov and Hutter, 2017).

    >>> weft.nn.cosine_decay(1.0, 10)(10)
    array(0., dtype=float32)
    """
    _positive("decay_steps", decay_steps)

    def rate(step: Any) -> ndarray:
        part = weft.clip(_step(step) / decay_steps, 0, 1)
        return end + (init - end) * 0.5 * (1 + weft.cos(math.pi * part))

    return rate


def warmup_cosine_decay(init: float, peak: float, warmup_steps: int, decay_steps: int, end: float = 0.0) -> Schedule:
    """From `init` straight to `peak` in `warmup_steps`, and by half a wave to `end` at step `decay_steps`.

    >>> rate = weft.nn.warmup_cosine_decay(0.0, 1.0, 4, 12)
    >>> rate(2), rate(4), rate(12)
    (array(0.5, dtype=float32), array(1., dtype=float32), array(0., dtype=float32))
    """
    if not decay_steps > warmup_steps:
        raise ValueError(f"decay_steps are more than warmup_steps, not {decay_steps} and {warmup_steps}")
    return join_schedules([linear_schedule(init, peak, warmup_steps), cosine_decay(peak, decay_steps - warmup_steps, end)], [warmup_steps])


def join_schedules(schedules: Sequence[Schedule], boundaries: Sequence[int]) -> Schedule:
    """One schedule up to the first boundary, the next from there on, and so forth; each counts its steps from its boundary.

    >>> rate = weft.nn.join_schedules([lambda step: 0.0 * step + 1, lambda step: 2.0 * step], [3])
    >>> [float(rate(step)) for step in (2, 3, 4)]
    [1.0, 0.0, 2.0]
    """
    if len(boundaries) != len(schedules) - 1 or list(boundaries) != sorted(boundaries):
        raise ValueError("there is one boundary less than schedules, and they rise")

    def rate(step: Any) -> ndarray:
        step = weft.asarray(step)
        found = weft.asarray(schedules[0](step))
        for boundary, schedule in zip(boundaries, schedules[1:]):
            found = weft.where(step < boundary, found, schedule(step - boundary))
        return found

    return rate


def _positive(name: str, value: float) -> None:
    if not value > 0:
        raise ValueError(f"{name} is above 0, not {value}")

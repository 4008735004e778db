"""Central differences: the oracle of gradients, and what tests compare with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import weft


def random(*shape: int, seed: int = 0) -> np.ndarray:
    """Numbers of both signs, none near zero, the same for the same shape and seed."""
    generator = np.random.default_rng([seed, *shape])
    return generator.uniform(0.3, 1.5, shape) * generator.choice([-1.0, 1.0], shape)


def differences(function: Callable[[np.ndarray], float], x: np.ndarray, step: float = 1e-4) -> np.ndarray:
    """The gradient of a function of float64, of the fourth order in the step."""
    found = np.zeros(x.shape)
    for at in np.ndindex(x.shape):

        def moved(by: float, at: tuple[int, ...] = at) -> float:
            other = x.copy()
            other[at] += by
            return function(other)

        found[at] = (8 * (moved(step) - moved(-step)) - (moved(2 * step) - moved(-2 * step))) / (12 * step)
    return found


def check_gradient(function: Callable[[Any], Any], x: np.ndarray, tolerance: float = 1e-7) -> None:
    """The gradient of a function of an array against differences, to a tolerance relative to the largest of them."""
    found = np.asarray(weft.grad(function)(weft.asarray(x)))
    wanted = differences(lambda x: float(function(weft.asarray(x))), x)
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * max(1.0, abs(wanted).max()))

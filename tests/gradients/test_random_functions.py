"""Random functions and kernels: gradients along a random direction against central differences, or refused with a line."""

from __future__ import annotations

import linecache
import math
import os

import numpy as np
import pytest

import weft
from gradients import random_functions
from gradients.central import run
from weft import cuda, prange

COUNT = int(os.environ.get("WEFT_FUZZ", "300"))


def compiled(text, sort, seed):
    name = f"<random gradient {sort} {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"math": math, "np": np, "cuda": cuda, "prange": prange}
    exec(compile(text, name, "exec"), space)
    if sort == "kernel":
        return cuda.jit(space["main"])
    return weft.njit(parallel=sort == "parallel", error_model="numpy")(space["main"])


def outcome(sort, seed):
    """`right`, `refused`, or `kink` where differences of two steps do not agree."""
    text = random_functions.function(seed, sort == "kernel", sort == "parallel")
    function = compiled(text, sort, seed)
    rng = np.random.default_rng(seed)
    args = [rng.standard_normal(), rng.standard_normal(), *(rng.standard_normal(5) for _ in range(3)), 3]
    weights = [None, None, *(rng.standard_normal(5) for _ in range(3)), None]
    direction = [rng.standard_normal(), rng.standard_normal(), *(rng.standard_normal(5) for _ in range(3)), None]

    def call(*arguments):
        return function[1, 8](*arguments) if sort == "kernel" else function(*arguments)

    given = [None if weight is None else weight.copy() for weight in weights]
    try:
        if sort == "kernel":
            given[0], given[1] = np.zeros(1), np.zeros(1)
            function.grad[1, 8](tuple(args), tuple(given))
            scalars = [given[0][0], given[1][0]]
        else:
            scalars = function.grad(tuple(args), tuple(given), 0.7)
    except weft.errors.UnsupportedError as error:
        assert "-->" in str(error), f"{error}\n{text}"
        return "refused"

    def moved(by):
        new = [arg if along is None else arg + by * along for arg, along in zip(args, direction)]
        return run(call, new, None if sort == "kernel" else 0.7, weights)

    found = sum(float(np.sum(along * (scalars[at] if at < 2 else given[at]))) for at, along in enumerate(direction[:5]))
    steps = [(moved(s) - moved(-s)) / (2 * s) for s in (1e-6, 1e-5)]
    if abs(steps[0] - steps[1]) > 1e-4 * (1 + abs(steps[0])):
        return "kink"
    assert abs(found - steps[0]) <= 1e-4 * (1 + abs(steps[0])), f"{found}, expected {steps[0]}\n{text}"
    return "right"


@pytest.mark.parametrize("sort", ["host", "parallel", "kernel"])
def test_random_functions(sort):
    count = COUNT // 3
    tally = [outcome(sort, seed) for seed in range(count)]
    assert tally.count("right") >= count * (0.35 if sort == "kernel" else 0.85), {one: tally.count(one) for one in set(tally)}

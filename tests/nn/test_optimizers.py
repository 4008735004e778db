"""Optimizers against their papers' lines in NumPy, step by step; schedules; clipping; states as trees; captured training steps."""

from __future__ import annotations

import math

import numpy as np
import pytest

import weft
from weft import nn
from weft.gradients.trees import leaves, map_tree

from .near import BFLOAT16, near, normal


class Sgd:
    """Of one array, as PyTorch's page on SGD has it."""

    def __init__(self, lr: float, momentum: float = 0, dampening: float = 0, weight_decay: float = 0, nesterov: bool = False) -> None:
        self.lr, self.momentum, self.dampening, self.decay, self.nesterov = lr, momentum, dampening, weight_decay, nesterov
        self.b: np.ndarray | None = None

    def step(self, p: np.ndarray, g: np.ndarray) -> np.ndarray:
        g = g + self.decay * p
        if self.momentum:
            self.b = g if self.b is None else self.momentum * self.b + (1 - self.dampening) * g
            g = g + self.momentum * self.b if self.nesterov else self.b
        return p - self.lr * g


class Moments:
    """Adam's and AdamW's lines."""

    def __init__(self, lr: float, betas: tuple = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0, apart: bool = False) -> None:
        self.lr, self.betas, self.eps, self.decay, self.apart = lr, betas, eps, weight_decay, apart
        self.m = self.v = 0.0
        self.t = 0

    def step(self, p: np.ndarray, g: np.ndarray) -> np.ndarray:
        self.t += 1
        if self.apart:
            p = p - self.lr * self.decay * p
        else:
            g = g + self.decay * p
        (one, two), t = self.betas, self.t
        self.m, self.v = one * self.m + (1 - one) * g, two * self.v + (1 - two) * g**2
        return p - self.lr * (self.m / (1 - one**t)) / (np.sqrt(self.v / (1 - two**t)) + self.eps)


CASES = {
    "plain": (lambda: nn.SGD(0.1), lambda: Sgd(0.1)),
    "decay": (lambda: nn.SGD(0.1, weight_decay=0.01), lambda: Sgd(0.1, weight_decay=0.01)),
    "momentum": (lambda: nn.SGD(0.1, 0.9), lambda: Sgd(0.1, 0.9)),
    "dampening": (lambda: nn.SGD(0.1, 0.9, 0.4, 0.02), lambda: Sgd(0.1, 0.9, 0.4, 0.02)),
    "nesterov": (lambda: nn.SGD(0.1, 0.9, nesterov=True), lambda: Sgd(0.1, 0.9, nesterov=True)),
    "adam": (lambda: nn.Adam(0.01), lambda: Moments(0.01)),
    "adam, all": (lambda: nn.Adam(0.01, (0.8, 0.95), 1e-3, 0.1), lambda: Moments(0.01, (0.8, 0.95), 1e-3, 0.1)),
    "adam, no means": (lambda: nn.Adam(0.01, (0.0, 0.0)), lambda: Moments(0.01, (0.0, 0.0))),
    "adamw": (lambda: nn.AdamW(0.01), lambda: Moments(0.01, weight_decay=0.01, apart=True)),
    "adamw, all": (lambda: nn.AdamW(0.01, (0.8, 0.95), 1e-3, 0.1), lambda: Moments(0.01, (0.8, 0.95), 1e-3, 0.1, True)),
}


def tree(seed: int, dtype: object = np.float64) -> dict:
    return {"b": normal((), dtype, seed), "a": [normal((3, 4), dtype, seed + 1), (normal(5, dtype, seed + 2),)], "none": None}


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=str)
@pytest.mark.parametrize("case", CASES)
def test_steps(case: str, dtype: type) -> None:
    make, formula = CASES[case]
    optimizer, params = make(), weft_tree(tree(1, dtype))
    plain = [(formula(), leaf.astype(float)) for leaf in leaves(tree(1, dtype))]
    state = optimizer.init(params)
    for step in range(5):
        grads = tree(10 * (step + 1), dtype)
        # The order of a dict's keys is nobody's business.
        params, state = optimizer.update(params, weft_tree(dict(reversed(grads.items()))), state)
        plain = [(rule, rule.step(p, g.astype(float))) for (rule, p), g in zip(plain, leaves(grads))]
        for ours, (_, theirs) in zip(leaves(params), plain):
            near(ours, theirs, dtype, 3)
    assert int(state["step"]) == 5 and params["none"] is None and isinstance(params["a"][1], tuple)


def weft_tree(numbers: dict) -> dict:
    return map_tree(weft.asarray, numbers)


@pytest.mark.parametrize("dtype", [np.float16, BFLOAT16], ids=str)
def test_half_precision_keeps_its_state_in_single(dtype: np.dtype) -> None:
    optimizer, params = nn.Adam(0.01), {"w": weft.asarray(normal(20, dtype, 1))}
    state = optimizer.init(params)
    wanted = weft.asnumpy(params["w"]).astype(float)
    rule = Moments(0.01)
    for step in range(3):
        g = normal(20, dtype, step)
        params, state = optimizer.update(params, {"w": weft.asarray(g)}, state)
        wanted = rule.step(wanted, g.astype(float))
        assert params["w"].dtype == dtype and state["mean"]["w"].dtype == state["square"]["w"].dtype == np.float32
    near(state["mean"]["w"], rule.m, np.float32, 10)
    near(params["w"], wanted, dtype, 3)


def test_small_corrections_have_their_digits() -> None:
    optimizer, params = nn.Adam(0.1, eps=0.0), {"w": weft.zeros(1, dtype="float32")}
    params, _ = optimizer.update(params, {"w": weft.full(1, 1e-3, dtype="float32")}, optimizer.init(params))
    # 1 - 0.999 in single precision has an error of 5e-5.
    np.testing.assert_allclose(float(params["w"][0]), -0.1, rtol=3e-7)


def test_refusals() -> None:
    params = {"w": weft.zeros(3)}
    for wrong, says in (
        (lambda: nn.SGD(-1), "learning rate"),
        (lambda: nn.SGD(1, -1), "momentum"),
        (lambda: nn.SGD(1, weight_decay=-1), "weight_decay"),
        (lambda: nn.SGD(1, nesterov=True), "Nesterov"),
        (lambda: nn.Adam(1, (1.0, 0.9)), "index 0"),
        (lambda: nn.Adam(1, eps=-1), "epsilon"),
        (lambda: nn.SGD(1).update(params, {"v": weft.zeros(3)}, nn.SGD(1).init(params)), "gradients do not look"),
        (lambda: nn.SGD(1).update(params, {"w": weft.zeros(2)}, nn.SGD(1).init(params)), "has a gradient"),
        (lambda: nn.Adam(1).update(params, params, nn.Adam(1).init({"w": weft.zeros((1, 3))})), "has a state 'mean'"),
        (lambda: nn.SGD(lambda step: weft.ones(3)).update(params, params, nn.SGD(1).init(params)), "one number"),
    ):
        with pytest.raises(ValueError, match=says):
            wrong()
    with pytest.raises(TypeError, match="floats"):
        nn.SGD(1).init({"w": weft.arange(3)}) if nn.SGD(1).kept else nn.Adam(1).init({"w": weft.arange(3)})


def test_norms_and_clipping() -> None:
    grads = weft_tree(tree(3))
    flat = np.concatenate([weft.asnumpy(leaf).ravel() for leaf in leaves(grads)])
    near(nn.global_norm(grads), np.linalg.norm(flat))
    for most in (0.5, 1e3):
        clipped, norm = nn.clip_grad_norm(grads, most)
        near(norm, np.linalg.norm(flat))
        by = min(1, most / (np.linalg.norm(flat) + 1e-6))
        for ours, theirs in zip(leaves(clipped), leaves(grads)):
            near(ours, weft.asnumpy(theirs) * by)
    half = {"w": weft.full(100, 200, dtype="float16")}
    clipped, norm = nn.clip_grad_norm(half, 1.0)
    assert norm.dtype == np.float32 and clipped["w"].dtype == np.float16
    near(norm, 2000.0, np.float32)
    with pytest.raises(ValueError, match="nothing"):
        nn.global_norm({})


SCHEDULES = {
    "linear": (nn.linear_schedule(2.0, 1.0, 10), lambda n: 2 - min(n / 10, 1)),
    "exponential": (nn.exponential_decay(2.0, 0.9), lambda n: 2 * 0.9**n),
    "stairs": (nn.step_decay(2.0, 0.5, 7), lambda n: 2 * 0.5 ** (n // 7)),
    "cosine": (nn.cosine_decay(2.0, 20, 0.5), lambda n: 0.5 + 0.75 * (1 + math.cos(math.pi * min(n / 20, 1)))),
    "warmup": (
        nn.warmup_cosine_decay(0.0, 1.0, 5, 25, 0.1),
        lambda n: n / 5 if n < 5 else 0.1 + 0.45 * (1 + math.cos(math.pi * min((n - 5) / 20, 1))),
    ),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules(name: str) -> None:
    schedule, formula = SCHEDULES[name]
    for step in (0, 1, 4, 5, 6, 7, 19, 20, 21, 300):
        np.testing.assert_allclose(float(schedule(step)), formula(step), rtol=1e-5, atol=1e-7)
        assert float(schedule(weft.asarray(step))) == float(schedule(step))


def test_schedules_refuse() -> None:
    for wrong in (
        lambda: nn.linear_schedule(1, 0, 0),
        lambda: nn.cosine_decay(1, 0),
        lambda: nn.step_decay(1, 0.5, 0),
        lambda: nn.exponential_decay(1, 0.0),
        lambda: nn.warmup_cosine_decay(0, 1, 5, 5),
        lambda: nn.join_schedules([nn.exponential_decay(1, 0.5)], [3]),
    ):
        with pytest.raises(ValueError):
            wrong()


def test_rates_that_change(device: weft.Device) -> None:
    """A captured step computes its rate, and takes one from outside."""
    optimizer = nn.SGD(nn.step_decay(1.0, 0.5, 1))
    params, grads = {"w": weft.zeros(2, dtype="float32")}, {"w": weft.ones(2, dtype="float32")}
    state = optimizer.init(params)
    step = weft.compile(optimizer.update)
    for _ in range(3):
        params, state = step(params, grads, state)
    near(params["w"], np.full(2, -1.75), np.float32)
    moved = weft.compile(lambda rate, params: nn.Adam(rate).update(params, grads, nn.Adam().init(params))[0])
    near(moved(weft.asarray(0.5, dtype="float32"), {"w": weft.zeros(2, dtype="float32")})["w"], [-0.5, -0.5], np.float32)

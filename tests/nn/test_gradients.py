"""Gradients of everything in `weft.nn`: against central differences in double precision, and against PyTorch where it is installed."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import nn
from weft.gradients.trees import flatten, leaves, map_tree, unflatten

from . import formulas
from .near import FLOATS, near, normal


def check(function: Callable[..., Any], *arguments: Any, step: float = 1e-6, tolerance: float = 2e-7) -> None:
    """The gradient of a weighted sum of what a function gives, with regard to every float among its arguments, is that of differences."""
    given = [map_tree(weft.asarray, each) for each in arguments]
    found = weft.asnumpy(function(*given))
    weights = normal(found.shape, seed=99)
    total = lambda *each: (function(*each) * weights).sum()  # noqa: E731
    value, gradients = weft.value_and_grad(total, argnums=tuple(range(len(given))))(*given)
    np.testing.assert_allclose(float(value), (found * weights).sum(), rtol=1e-12)
    flat, spec = flatten(list(arguments))
    for n, (x, gradient) in enumerate(zip(flat, leaves(list(gradients)))):
        assert gradient.shape == np.shape(x) and gradient.dtype == np.float64
        wanted = np.zeros(np.shape(x))
        for at in np.ndindex(np.shape(x)):
            for sign in (1, -1):
                moved = np.array(x, float)
                moved[at] += sign * step
                tree = map_tree(weft.asarray, unflatten(spec, [*flat[:n], moved, *flat[n + 1 :]]))
                wanted[at] += sign * float(total(*tree)) / (2 * step)
        scale = max(np.abs(wanted).max(initial=0), 1)
        np.testing.assert_allclose(weft.asnumpy(gradient), wanted, atol=tolerance * scale)


@pytest.mark.parametrize("name", [*formulas.ACTIVATIONS, "glu", "softmax", "softmin", "log_softmax", "logsumexp"])
def test_activations(name: str) -> None:
    x = normal((2, 4), seed=1, scale=2.0)
    check(getattr(nn, name), x)
    check(lambda x: getattr(nn, name)(x).reshape(-1)[:1], x[:, ::-1].copy())


# What PyTorch and jax.nn have at the corner.
CORNERS = {"relu": 0.0, "relu6": 0.0, "leaky_relu": 0.01, "elu": 1.0, "celu": 1.0, "selu": 1.0507009873554805 * 1.6732632423543772}
CORNERS |= {"sigmoid": 0.25, "log_sigmoid": 0.5, "softplus": 0.5, "softsign": 1.0, "tanh": 1.0, "gelu": 0.5, "silu": 0.5, "mish": 0.6}


@pytest.mark.parametrize("name", CORNERS)
def test_derivatives_at_zero(name: str) -> None:
    np.testing.assert_allclose(float(weft.grad(getattr(nn, name))(weft.asarray(0.0))), CORNERS[name], rtol=1e-14)


@pytest.mark.parametrize("name", formulas.ACTIVATIONS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_derivatives_far_away_are_numbers(name: str, dtype: np.dtype) -> None:
    """No infinity times zero is met on the side that is not chosen."""
    x = np.array([-3e4, -1000, -200, -90, -20, 20, 90, 200, 1000, 3e4]).astype(dtype)
    derivative = weft.grad(lambda x: getattr(nn, name)(x).sum())(weft.asarray(x))
    host = weft.asnumpy(derivative).astype(float)
    assert derivative.dtype == dtype and np.isfinite(host).all()
    one = 1.0507009873554805 if name == "selu" else 1.0
    ends = {"relu6": (0, 0), "hard_tanh": (0, 0), "sigmoid": (0, 0), "log_sigmoid": (1, 0), "softsign": (0, 0), "tanh": (0, 0)}
    ends |= {"hard_sigmoid": (0, 0), "leaky_relu": (0.01, 1)}
    low, high = ends.get(name, (0, one))
    np.testing.assert_allclose(host[[0, -1]], [low, high], rtol=2e-2, atol=1e-6)


def test_second_derivatives() -> None:
    for name in ("gelu", "sigmoid", "softplus", "silu", "mish", "log_sigmoid"):
        function = getattr(nn, name)
        check(weft.grad(lambda x, function=function: function(x).sum()), normal(5, seed=2))
    check(weft.grad(lambda x: (nn.softmax(x) ** 2).sum()), normal((2, 3), seed=3))
    check(weft.grad(lambda x: nn.logsumexp(x, -1).sum()), normal((2, 3), seed=3))


RULES = {
    "convolution": lambda x: nn.conv2d({"weight": weft.asarray(normal((2, 2, 2, 2), seed=40))}, x, padding=1),
    "depthwise": lambda x: nn.conv2d({"weight": weft.asarray(normal((2, 1, 2, 2), seed=41))}, x, groups=2),
    "largest": lambda x: nn.max_pool2d(x, 2),
    "mean": lambda x: nn.avg_pool2d(x, 3, 1, 1),
    "attention": lambda x: nn.scaled_dot_product_attention(x, x, x, is_causal=True),
}


@pytest.mark.parametrize("name", RULES)
def test_rules_under_other_transforms(name: str) -> None:
    """Rules are functions of arrays: they are differentiated again, forwards, and mapped over a new axis."""
    function, x, moved = RULES[name], normal((2, 2, 4, 4), seed=42), normal((2, 2, 4, 4), seed=43)
    check(weft.grad(lambda x: (function(x) ** 2).sum()), x[:1], tolerance=1e-6)
    value, slope = weft.jvp(function, (weft.asarray(x),), (weft.asarray(moved),))
    near(value, weft.asnumpy(function(weft.asarray(x))))
    either = [weft.asnumpy(function(weft.asarray(x + step * moved))) for step in (1e-6, -1e-6)]
    np.testing.assert_allclose(weft.asnumpy(slope), (either[0] - either[1]) / 2e-6, atol=1e-7)
    many = np.stack([x, moved, x - moved])
    near(weft.vmap(function)(weft.asarray(many)), np.stack([weft.asnumpy(function(weft.asarray(each))) for each in many]))


@pytest.mark.parametrize("dtype", FLOATS[2:], ids=str)
def test_half_precision(dtype: np.dtype, device: weft.Device) -> None:
    """Gradients of floats of 16 bits are those of their numbers in double precision, to what their rounding leaves."""

    def total(params: dict, x: weft.ndarray) -> weft.ndarray:
        h = nn.max_pool2d(nn.silu(nn.conv2d(params, x, padding=1)), 2)
        return nn.scaled_dot_product_attention(h, h, h).sum()

    params = {"weight": normal((2, 1, 3, 3), dtype, 44), "bias": normal(2, dtype, 45)}
    x = normal((1, 1, 6, 6), dtype, 46)
    found = weft.compile(weft.grad(total))(map_tree(weft.asarray, params), weft.asarray(x))
    with weft.device("cpu"):
        wanted = weft.grad(total)(map_tree(lambda each: weft.asarray(each.astype(float)), params), weft.asarray(x.astype(float)))
    for ours, theirs in zip(leaves(found), leaves(wanted)):
        assert ours.device == device
        near(ours, weft.asnumpy(theirs), dtype, 8)


TARGETS = np.array([2, 0, 3, 1, 3])


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_losses(reduction: str) -> None:
    x, y = normal((5, 4), seed=4), np.random.default_rng(5).random((5, 4))
    for name in ("mse_loss", "l1_loss", "huber_loss", "smooth_l1_loss", "binary_cross_entropy_with_logits"):
        check(lambda x, y, name=name: getattr(nn, name)(x, y, reduction=reduction), x, y)
    check(
        lambda x, y: nn.binary_cross_entropy(x, y, reduction=reduction),
        np.random.default_rng(6).random((5, 4)),
        y,
        step=1e-7,
        tolerance=1e-5,
    )
    check(lambda x, y: nn.kl_div(x, y, reduction), np.log(y), y / y.sum(), tolerance=1e-6)
    weight = np.array([1.0, 0.5, 2.0, 3.0])
    for weights, ignored, smoothing in itertools.product([None, weight], [-100, 3], [0.0, 0.2]):
        check(lambda x: nn.cross_entropy(x, TARGETS, weights, ignored, smoothing, reduction), x)  # noqa: B023
        check(lambda x, y: nn.cross_entropy(x, y, weights, label_smoothing=smoothing, reduction=reduction), x, y)  # noqa: B023
    check(lambda x: nn.nll_loss(x, TARGETS, weight, 3, reduction), x)


def test_cross_entropy_of_scores_without_chance() -> None:
    x = weft.asarray([[0.0, -np.inf, 1.0], [1e4, 0.0, -1e4]])
    gradient = weft.asnumpy(weft.grad(lambda x: nn.cross_entropy(x, weft.asarray([0, 0]), reduction="sum"))(x))
    np.testing.assert_allclose(gradient, [[1 / (1 + np.e) - 1, 0, np.e / (1 + np.e)], [0, 0, 0]], atol=1e-15)


def test_layers() -> None:
    x = normal((3, 4), seed=7)
    check(nn.linear, {"weight": normal((2, 4), seed=8), "bias": normal(2, seed=9)}, x)
    check(lambda params: nn.embedding(params, np.array([[0, 2], [2, 1]])), {"weight": normal((3, 2), seed=10)})
    check(nn.prelu, {"weight": np.array([0.3])}, x)
    check(nn.prelu, {"weight": normal(4, seed=11)}, x)
    check(lambda x: nn.dropout(weft.random.default_rng(3), x, 0.4), x)


def test_norms() -> None:
    x, params = normal((2, 4, 3), seed=12), {"weight": normal(4, seed=13), "bias": normal(4, seed=14)}
    check(lambda params, x: nn.layer_norm(params, x.swapaxes(1, 2)), params, x)
    check(lambda params, x: nn.rms_norm(params, x.swapaxes(1, 2)), {"weight": params["weight"]}, x)
    check(lambda params, x: nn.group_norm(params, x, 2), params, x)
    state = {"running_mean": weft.asarray(normal(4, seed=15)), "running_var": weft.asarray(normal(4, seed=16) ** 2 + 1)}
    for training in (True, False):
        check(lambda params, x: nn.batch_norm(params, state, x, training)[0], params, x)  # noqa: B023


def test_convolutions() -> None:
    for groups, keywords in itertools.product((1, 2, 4), ({}, {"stride": (2, 1), "padding": 1, "dilation": (1, 2)})):
        params = {"weight": normal((4, 4 // groups, 2, 2), seed=17), "bias": normal(4, seed=18)}
        check(lambda params, x: nn.conv2d(params, x, groups=groups, **keywords), params, normal((2, 4, 4, 4), seed=19))  # noqa: B023
    check(lambda params, x: nn.conv1d(params, x, padding="same"), {"weight": normal((2, 3, 3), seed=20)}, normal((2, 3, 5), seed=21))
    check(lambda params, x: nn.conv2d(params, x), {"weight": normal((2, 3, 1, 1), seed=22)}, normal((3, 2, 2), seed=23))


def test_pools() -> None:
    x = normal((1, 2, 6, 5), seed=24)
    for size, stride, padding, ceil_mode in ((2, None, 0, False), (3, 2, 1, True), ((2, 3), 1, 1, False), (5, 3, 2, True)):
        check(lambda x: nn.max_pool2d(x, size, stride, padding, 1, ceil_mode), x)  # noqa: B023
        check(lambda x: nn.avg_pool2d(x, size, stride, padding, ceil_mode, False), x)  # noqa: B023
    check(lambda x: nn.max_pool1d(x, 2, 1), x[0])
    check(lambda x: nn.avg_pool1d(x, 3, 2, 1), x[0])


def test_attention() -> None:
    q, k, v = normal((1, 2, 3, 4), seed=25), normal((1, 2, 5, 4), seed=26), normal((1, 1, 5, 2), seed=27)
    looks = np.random.default_rng(28).random((3, 5)) < 0.6
    for causal, mask in itertools.product([False, True], [None, looks]):
        check(lambda q, k, v: nn.scaled_dot_product_attention(q, k, v, mask, is_causal=causal), q, k, v)  # noqa: B023
    check(nn.scaled_dot_product_attention, q, k, v, normal((2, 1, 5), seed=29))
    check(lambda q, k, v: nn.scaled_dot_product_attention(q, k, v, enable_gqa=True), q, k[:, :1], v)


def network(params: dict, x: weft.ndarray) -> weft.ndarray:
    h = nn.max_pool2d(nn.relu(nn.conv2d(params["conv"], x, padding=1)), 2)
    h = nn.layer_norm(params["norm"], nn.gelu(nn.linear(params["in"], h.reshape(h.shape[0], -1))))
    return nn.linear(params["out"], h)


def parameters(dtype: str = "float32") -> dict:
    rng = weft.random.default_rng(1)
    return {
        "conv": nn.init.conv2d(rng, 1, 3, 3, dtype=dtype),
        "in": nn.init.linear(rng, 3 * 4 * 4, 8, dtype=dtype),
        "norm": nn.init.layer_norm(8, dtype=dtype),
        "out": nn.init.linear(rng, 8, 4, dtype=dtype),
    }


def test_a_network_and_its_captured_steps(device: weft.Device) -> None:
    """Plain and captured steps give the same parameters, on every device those of the CPU; the loss falls."""
    x, target = weft.asarray(normal((6, 1, 8, 8), np.float32, 30)), weft.asarray(np.array([0, 1, 2, 3, 1, 0]))
    optimizer = nn.AdamW(0.02)

    def step(params: dict, state: dict, x: weft.ndarray, target: weft.ndarray) -> tuple:
        loss, grads = weft.value_and_grad(lambda params: nn.cross_entropy(network(params, x), target))(params)
        grads, norm = nn.clip_grad_norm(grads, 1.0)
        return *optimizer.update(params, grads, state), loss, norm

    runs = []
    for run in (step, weft.compile(step)):
        params = parameters()
        state, losses = optimizer.init(params), []
        for _ in range(4):
            params, state, loss, _ = run(params, state, x, target)
            losses.append(float(loss))
        assert losses[-1] < 0.8 * losses[0]
        runs.append((losses, [weft.asnumpy(leaf) for leaf in leaves(params)]))
    np.testing.assert_allclose(*(losses for losses, _ in runs), rtol=1e-5)
    for one, two in zip(*(found for _, found in runs)):
        np.testing.assert_allclose(one, two, atol=2e-4)


def test_a_network_against_torch() -> None:
    torch = pytest.importorskip("torch")
    functional = torch.nn.functional
    params, x, target = parameters("float64"), normal((6, 1, 8, 8), seed=31), np.array([0, 1, 2, 3, 1, 0])
    theirs = map_tree(lambda leaf: torch.tensor(weft.asnumpy(leaf), requires_grad=True), params)
    h = functional.max_pool2d(functional.relu(functional.conv2d(torch.tensor(x), **theirs["conv"], padding=1)), 2)
    h = functional.gelu(functional.linear(h.flatten(1), **theirs["in"]))
    h = functional.layer_norm(h, (8,), **theirs["norm"])
    loss = functional.cross_entropy(functional.linear(h, **theirs["out"]), torch.tensor(target))
    loss.backward()
    value, grads = weft.value_and_grad(lambda params: nn.cross_entropy(network(params, weft.asarray(x)), weft.asarray(target)))(params)
    near(value, loss.detach().numpy())
    for ours, leaf in zip(leaves(grads), leaves(theirs)):
        near(ours, leaf.grad.numpy())

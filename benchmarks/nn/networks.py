"""A training step of each network by each contender: forward, backward, Adam. All start from the same numbers.

`prepare(name, network)` gives a function that does one step and returns the loss before it. Parameters go on from step to step, so that
losses of some steps are right only if gradients and updates are.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

Step = Callable[[], float]
RATE = 1e-3
SIZES = [784, 512, 256, 10]


def numbers(network: str) -> tuple[list[tuple[np.ndarray, np.ndarray]], np.ndarray, np.ndarray]:
    """Weights and biases, inputs, classes."""
    rng = np.random.default_rng(0)

    def layer(*shape: int) -> tuple[np.ndarray, np.ndarray]:
        scale = np.prod(shape[1:]) ** -0.5
        return (rng.standard_normal(shape) * scale).astype(np.float32), np.zeros(shape[0], np.float32)

    if network == "mlp":
        layers = [layer(out, size) for size, out in itertools.pairwise(SIZES)]
        x = rng.standard_normal((128, SIZES[0]))
    else:
        layers = [layer(16, 1, 3, 3), layer(32, 16, 3, 3), layer(10, 32 * 5 * 5)]
        x = rng.standard_normal((64, 1, 28, 28))
    return layers, x.astype(np.float32), rng.integers(0, 10, len(x))


def in_weft(network: str, dtype: str = "float32") -> Step:
    """`weft.nn`, the step captured by `weft.compile`."""
    import weft
    from weft import nn
    from weft.gradients.trees import leaves

    layers, x, truth = numbers(network)
    params: Any = [{"weight": weft.asarray(w.astype(dtype)), "bias": weft.asarray(b.astype(dtype))} for w, b in layers]
    x, truth = weft.asarray(x.astype(dtype)), weft.asarray(truth)

    def scores(params: Any, x: Any) -> Any:
        for each in params[:-1]:
            x = nn.relu(nn.linear(each, x)) if network == "mlp" else nn.max_pool2d(nn.relu(nn.conv2d(each, x)), 2)
        return nn.linear(params[-1], x.reshape(x.shape[0], -1))

    optimizer = nn.Adam(RATE)

    @weft.compile
    def step(params: Any, state: Any, x: Any, truth: Any) -> Any:
        loss, gradient = weft.value_and_grad(lambda params: nn.cross_entropy(scores(params, x), truth))(params)
        return *optimizer.update(params, gradient, state), loss

    state = optimizer.init(params)

    def work() -> float:
        nonlocal params, state
        params, state, loss = step(params, state, x, truth)
        weft.eval(*leaves((params, state)), loss)
        return float(loss)

    return work


def in_jax(network: str) -> Step:
    """`jax.jit` of the whole step."""
    import jax
    import jax.numpy as jnp

    layers, x, truth = numbers(network)
    params = [(jnp.asarray(w), jnp.asarray(b)) for w, b in layers]
    x, truth = jnp.asarray(x), jnp.asarray(truth)

    def loss(params: Any, x: Any, truth: Any) -> Any:
        for w, b in params[:-1]:
            if network == "mlp":
                x = jax.nn.relu(x @ w.T + b)
            else:
                x = jax.nn.relu(jax.lax.conv_general_dilated(x, w, (1, 1), "VALID") + b[:, None, None])
                x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
        logs = jax.nn.log_softmax(x.reshape(x.shape[0], -1) @ params[-1][0].T + params[-1][1])
        return -jnp.take_along_axis(logs, truth[:, None], 1).mean()

    @jax.jit
    def step(params: Any, state: Any, x: Any, truth: Any) -> Any:
        value, gradient = jax.value_and_grad(loss)(params, x, truth)
        mean, square, count = state
        count = count + 1
        mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradient)
        square = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, square, gradient)

        def moved(p: Any, m: Any, v: Any) -> Any:
            return p - RATE * (m / (1 - 0.9**count)) / (jnp.sqrt(v / (1 - 0.999**count)) + 1e-8)

        return jax.tree.map(moved, params, mean, square), (mean, square, count), value

    zeros = jax.tree.map(jnp.zeros_like, params)
    state = (zeros, zeros, jnp.zeros((), jnp.float32))

    def work() -> float:
        nonlocal params, state
        params, state, value = step(params, state, x, truth)
        jax.block_until_ready((params, state))
        return float(value)

    return work


def in_torch(network: str, compiled: bool) -> Step:
    """PyTorch, as it is or by `torch.compile`: the loss and the optimizer's step."""
    import torch

    functional = torch.nn.functional
    layers, x, truth = numbers(network)
    params = [torch.tensor(each, requires_grad=True) for pair in layers for each in pair]
    x, truth = torch.tensor(x), torch.tensor(truth)

    def loss(x: Any, truth: Any) -> Any:
        pairs = list(zip(params[::2], params[1::2]))
        for w, b in pairs[:-1]:
            if network == "mlp":
                x = functional.relu(functional.linear(x, w, b))
            else:
                x = functional.max_pool2d(functional.relu(functional.conv2d(x, w, b)), 2)
        return functional.cross_entropy(functional.linear(x.flatten(1), *pairs[-1]), truth)

    optimizer = torch.optim.Adam(params, RATE)
    forward, update = (torch.compile(loss), torch.compile(optimizer.step)) if compiled else (loss, optimizer.step)

    def work() -> float:
        optimizer.zero_grad()
        value = forward(x, truth)
        value.backward()
        update()
        return float(value.detach())

    return work


CONTENDERS: dict[str, tuple[str, Callable[[str], Step]]] = {
    "weft": ("weft", in_weft),
    "jax": ("jax", in_jax),
    "torch.compile": ("torch", lambda network: in_torch(network, True)),
    "torch": ("torch", lambda network: in_torch(network, False)),
}
"""The module that each needs, and how its step is made."""


def losses(step: Step, count: int = 5) -> list[float]:
    """Of the first steps."""
    return [step() for _ in range(count)]

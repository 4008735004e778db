"""A step of training: forward, backward, and Adam over all parameters, of a network of two layers and of a small convolutional one.

Weft's step is `weft.compile` of `weft.value_and_grad`, JAX's `jax.jit`, each with parameters and moments given up to the next step; PyTorch
compiles the loss and updates with its fused Adam. Each call is one step, and gives the loss before it.
"""

from typing import Any

import numpy as np
from harness import WEFT, Benchmark, Budget, Contender, Work
from numpy.lib.stride_tricks import sliding_window_view

RATE = 1e-3
BATCH = {"mlp": 128, "cnn": 32}


def weights(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Normal numbers, smaller for more inputs."""
    return (rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)


def data(kind: str) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
    """Parameters, pictures and their classes."""
    rng = np.random.default_rng(0)
    count = BATCH[kind]
    if kind == "mlp":
        layers = {"a": (784, 128), "b": (128, 10)}
        params = {name: {"w": weights(rng, *sizes[::-1]).T.copy(), "b": np.zeros(sizes[1], np.float32)} for name, sizes in layers.items()}
        shape: tuple[int, ...] = (count, 784)
    else:
        params = {
            "c": {"weight": weights(rng, 8, 1, 5, 5), "bias": np.zeros(8, np.float32)},
            "d": {"weight": weights(rng, 16, 8, 5, 5), "bias": np.zeros(16, np.float32)},
            "b": {"w": weights(rng, 10, 256).T.copy(), "b": np.zeros(10, np.float32)},
        }
        shape = (count, 1, 28, 28)
    return params, rng.standard_normal(shape).astype(np.float32), rng.integers(0, 10, count)


def mapped(function: Any, tree: Any) -> Any:
    """A function of every array in dicts of dicts."""
    return {key: mapped(function, each) for key, each in tree.items()} if isinstance(tree, dict) else function(tree)


def flat(tree: Any) -> list[Any]:
    """The arrays of dicts of dicts."""
    return [each for value in tree.values() for each in flat(value)] if isinstance(tree, dict) else [tree]


def reference(kind: str) -> float:
    """The loss before the first step."""
    params, x, y = data(kind)

    def convolved(p: dict[str, np.ndarray], x: np.ndarray) -> np.ndarray:
        windows = sliding_window_view(x, p["weight"].shape[2:], axis=(2, 3))
        found = np.maximum(np.einsum("nchwij,ocij->nohw", windows, p["weight"], optimize=True) + p["bias"][:, None, None], 0)
        return found.reshape(*found.shape[:2], found.shape[2] // 2, 2, found.shape[3] // 2, 2).max(axis=(3, 5))

    if kind == "mlp":
        hidden = np.maximum(x @ params["a"]["w"] + params["a"]["b"], 0)
    else:
        hidden = convolved(params["d"], convolved(params["c"], x)).reshape(len(x), -1)
    z = hidden @ params["b"]["w"] + params["b"]["b"]
    return float((np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(y)), y]).mean())


def of_weft(kind: str) -> Work:
    """`weft.compile` of the step."""
    import weft

    nn = weft.nn

    def loss(p, x, y):
        if kind == "mlp":
            hidden = nn.relu(x @ p["a"]["w"] + p["a"]["b"])
        else:
            hidden = nn.max_pool2d(nn.relu(nn.conv2d(p["c"], x)), 2)
            hidden = nn.max_pool2d(nn.relu(nn.conv2d(p["d"], hidden)), 2).reshape(x.shape[0], -1)
        return nn.cross_entropy(hidden @ p["b"]["w"] + p["b"]["b"], y)

    adam = nn.Adam(RATE)

    @weft.compile(donate=(0, 1))
    def step(params, state, x, y):
        found, slope = weft.value_and_grad(loss)(params, x, y)
        return *adam.update(params, slope, state), found

    params, x, y = data(kind)
    params, x, y = mapped(weft.asarray, params), weft.asarray(x), weft.asarray(y)
    state = adam.init(params)

    def work() -> float:
        nonlocal params, state
        params, state, found = step(params, state, x, y)
        weft.eval(*flat(params), *flat(state), found)
        return float(found)

    return work


def of_jax(kind: str) -> Work:
    """`jax.jit` of the step."""
    import functools

    import jax
    import jax.numpy as jnp
    from jax import lax

    def convolved(p, x):
        found = lax.conv_general_dilated(x, p["weight"], (1, 1), "VALID", dimension_numbers=("NCHW", "OIHW", "NCHW"))
        found = jax.nn.relu(found + p["bias"][:, None, None])
        return lax.reduce_window(found, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")

    def loss(p, x, y):
        if kind == "mlp":
            hidden = jax.nn.relu(x @ p["a"]["w"] + p["a"]["b"])
        else:
            hidden = convolved(p["d"], convolved(p["c"], x)).reshape(x.shape[0], -1)
        z = hidden @ p["b"]["w"] + p["b"]["b"]
        return -jnp.take_along_axis(jax.nn.log_softmax(z), y[:, None], 1).mean()

    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def step(params, state, x, y):
        found, slope = jax.value_and_grad(loss)(params, x, y)
        m, v, t = state
        t = t + 1
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, slope)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, slope)
        changed = jax.tree.map(lambda p, m, v: p - RATE * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8), params, m, v)
        return changed, (m, v, t), found

    params, x, y = data(kind)
    params, x, y = mapped(jnp.asarray, params), jnp.asarray(x), jnp.asarray(y)
    state = mapped(jnp.zeros_like, params), mapped(jnp.zeros_like, params), jnp.float32(0)

    def work() -> float:
        nonlocal params, state
        params, state, found = step(params, state, x, y)
        jax.block_until_ready((params, state))
        return float(found)

    return work


def of_torch(kind: str, compiled: bool) -> Work:
    """The loss compiled or not, and the fused Adam."""
    import torch

    functional = torch.nn.functional
    params, x, y = data(kind)
    params = mapped(lambda each: torch.tensor(each, requires_grad=True), params)
    x, y = torch.tensor(x), torch.tensor(y)
    adam = torch.optim.Adam(flat(params), lr=RATE, fused=True)

    def loss(p, x, y):
        if kind == "mlp":
            hidden = torch.relu(x @ p["a"]["w"] + p["a"]["b"])
        else:
            hidden = functional.max_pool2d(torch.relu(functional.conv2d(x, p["c"]["weight"], p["c"]["bias"])), 2)
            hidden = functional.max_pool2d(torch.relu(functional.conv2d(hidden, p["d"]["weight"], p["d"]["bias"])), 2)
            hidden = hidden.reshape(x.shape[0], -1)
        return functional.cross_entropy(hidden @ p["b"]["w"] + p["b"]["b"], y)

    run = torch.compile(loss) if compiled else loss

    def work() -> float:
        adam.zero_grad(set_to_none=True)
        found = run(params, x, y)
        found.backward()
        adam.step()
        return float(found.detach())

    return work


def wrong(found: float, known: float) -> str | None:
    """Losses are of single precision."""
    return None if abs(found - known) < 1e-4 * abs(known) else f"a loss of {found} instead of {known}"


TITLES = {
    "mlp": "a step of training: 784, 128, 10 units, 128 pictures, float32",
    "cnn": "a step of training: convolutions of 8 and 16 channels, 32 pictures of 28², float32",
}

BENCHMARKS = [
    Benchmark(
        name=f"training {kind}",
        title=title,
        contenders=[
            Contender(WEFT, lambda kind=kind: of_weft(kind), rank=WEFT, needs="weft"),
            Contender("jax", lambda kind=kind: of_jax(kind), needs="jax"),
            Contender("torch.compile", lambda kind=kind: of_torch(kind, True), needs="torch"),
            Contender("torch", lambda kind=kind: of_torch(kind, False), needs="torch"),
        ],
        reference=lambda kind=kind: reference(kind),
        check=wrong,
        budgets=[Budget("no slower than JAX", "jax", 1.0), Budget("no slower than PyTorch's compile", "torch.compile", 1.0)],
    )
    for kind, title in TITLES.items()
]

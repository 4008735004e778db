"""`weft.nn` beside `jax.nn` and `jax.lax`, where JAX is installed: values and gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import weft
from weft import nn

from .near import near, normal

jax = pytest.importorskip("jax")
jnp, lax = jax.numpy, jax.lax

# Weft's name and JAX's function.
ACTIVATIONS = {
    "relu": jax.nn.relu, "relu6": jax.nn.relu6, "sigmoid": jax.nn.sigmoid, "softplus": jax.nn.softplus, "softsign": jax.nn.soft_sign,
    "silu": jax.nn.silu, "log_sigmoid": jax.nn.log_sigmoid, "leaky_relu": jax.nn.leaky_relu, "hard_sigmoid": jax.nn.hard_sigmoid,
    "hard_swish": jax.nn.hard_silu, "hard_tanh": jax.nn.hard_tanh, "elu": jax.nn.elu, "celu": jax.nn.celu, "selu": jax.nn.selu,
    "gelu": lambda x: jax.nn.gelu(x, approximate=False), "glu": jax.nn.glu, "mish": jax.nn.mish, "softmax": jax.nn.softmax,
    "log_softmax": jax.nn.log_softmax, "logsumexp": jax.nn.logsumexp, "tanh": jnp.tanh,
}  # fmt: skip


@pytest.fixture(autouse=True)
def wide_numbers() -> Iterator[None]:
    """JAX has float64, in these tests only."""
    with jax.enable_x64(True):
        yield


def same(ours: Callable[..., Any], theirs: Callable[..., Any], *arguments: np.ndarray, times: float = 1.0) -> None:
    """Values, and gradients of a weighted sum with regard to all arguments."""
    given, places = [weft.asarray(each) for each in arguments], tuple(range(len(arguments)))
    found = ours(*given)
    weights = normal(found.shape, found.dtype, 99)

    def weighted(*each: Any) -> Any:
        value = theirs(*each)
        return (value * weights).sum(), value

    gradients, wanted = jax.jit(jax.grad(weighted, argnums=places, has_aux=True))(*arguments)
    near(found, np.asarray(wanted), wanted.dtype, times)
    found = weft.grad(lambda *each: (ours(*each) * weights).sum(), argnums=places)(*given)
    for one, two in zip(found, gradients):
        near(one, np.asarray(two), two.dtype, 2 * times)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name: str) -> None:
    far = np.array([30.0, -30.0, 0.5, -0.5, 2.5, -2.5, 5.0, 0.0])
    # At 0 JAX has the slope from above, and Weft, as PyTorch, that from below. A softmax of far numbers has no derivative but rounding.
    far = {"leaky_relu": far[:-2], "softmax": far[2:]}.get(name, far)
    same(getattr(nn, name), ACTIVATIONS[name], np.concatenate([normal(40, seed=1, scale=3.0), far]), times=4)


def test_tanh_form_of_gelu() -> None:
    same(lambda x: nn.gelu(x, "tanh"), jax.nn.gelu, normal(50, seed=2, scale=3.0))


@pytest.mark.parametrize("axis", [0, 1, (0, 2), None])
def test_along_axes(axis: Any) -> None:
    x = normal((2, 3, 4), seed=3)
    for name in ("softmax", "log_softmax", "logsumexp"):
        same(lambda x: getattr(nn, name)(x, axis), lambda x: getattr(jax.nn, name)(x, axis), x)  # noqa: B023


def test_one_hot() -> None:
    indices = np.array([[0, 2], [-1, 5]])
    for axis in (-1, 0, 1):
        near(nn.one_hot(indices, 4, axis=axis), np.asarray(jax.nn.one_hot(indices, 4, axis=axis)), np.float32)


def test_convolutions() -> None:
    for groups, stride, padding, dilation in ((1, (1, 1), 0, (1, 1)), (2, (2, 1), 1, (1, 2)), (4, (1, 2), 2, (2, 1))):

        def theirs(x: Any, w: Any, stride: Any = stride, padding: int = padding, dilation: Any = dilation, groups: int = groups) -> Any:
            return lax.conv_general_dilated(x, w, stride, [(padding, padding)] * 2, rhs_dilation=dilation, feature_group_count=groups)

        def ours(x: Any, w: Any, stride: Any = stride, padding: int = padding, dilation: Any = dilation, groups: int = groups) -> Any:
            return nn.conv2d({"weight": w}, x, stride, padding, dilation, groups)

        same(ours, theirs, normal((2, 4, 7, 6), seed=4), normal((4, 4 // groups, 3, 2), seed=5))


def test_pools() -> None:
    def theirs(x: Any) -> Any:
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 3, 2), (1, 1, 2, 2), [(0, 0), (0, 0), (1, 1), (0, 0)])

    same(lambda x: nn.max_pool2d(x, (3, 2), (2, 2), (1, 0)), theirs, normal((2, 3, 7, 6), seed=6))
    # Ties: JAX, too, takes the first.
    same(lambda x: nn.max_pool2d(x, (3, 2), (2, 2), (1, 0)), theirs, np.random.default_rng(7).integers(0, 2, (2, 3, 7, 6)).astype(float))


def test_attention() -> None:
    def theirs(q: Any, k: Any, v: Any, **keywords: Any) -> Any:
        turned = (each.swapaxes(1, 2) for each in (q, k, v))
        return jax.nn.dot_product_attention(*turned, **keywords).swapaxes(1, 2)

    # JAX's softmax is in single precision whatever it is given.
    arrays = [normal((2, 4, 5, 6), np.float32, seed) for seed in (8, 9, 10)]
    looks = np.random.default_rng(11).random((5, 5)) < 0.7
    looks[:, 0] = True
    same(nn.scaled_dot_product_attention, theirs, *arrays)
    same(lambda *each: nn.scaled_dot_product_attention(*each, is_causal=True), lambda *each: theirs(*each, is_causal=True), *arrays)
    same(lambda *each: nn.scaled_dot_product_attention(*each, looks), lambda *each: theirs(*each, mask=looks[None, None]), *arrays)
    shared = [arrays[0], arrays[1][:, :2], arrays[2][:, :2]]
    same(lambda *each: nn.scaled_dot_product_attention(*each, enable_gqa=True), theirs, *shared)

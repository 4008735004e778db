"""`weft.nn` beside PyTorch, where it is installed: the same functions, arguments and defaults, over options."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import weft
from weft import nn

from .near import near, normal

torch = pytest.importorskip("torch")
F = torch.nn.functional

# Weft's name and PyTorch's, where that is another.
ACTIVATIONS = {
    "relu": "relu", "relu6": "relu6", "hard_tanh": "hardtanh", "leaky_relu": "leaky_relu", "elu": "elu", "celu": "celu", "selu": "selu",
    "sigmoid": "sigmoid", "log_sigmoid": "logsigmoid", "softplus": "softplus", "softsign": "softsign", "tanh": "tanh", "gelu": "gelu",
    "silu": "silu", "mish": "mish", "hard_sigmoid": "hardsigmoid", "hard_swish": "hardswish", "glu": "glu",
}  # fmt: skip


def both(*arrays: Any) -> tuple[list, list]:
    return [weft.asarray(x) for x in arrays], [torch.tensor(x) for x in arrays]


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16], ids=str)
def test_activations(name: str, dtype: type) -> None:
    x = np.concatenate([normal(46, dtype, 1, 4.0), np.array([0.0, -0.0, 30.0, -30.0], dtype)])
    near(
        getattr(nn, name)(x),
        getattr(F, ACTIVATIONS[name])(torch.tensor(x)).numpy(),
        dtype,
        1e3 if name == "softplus" and dtype == np.float64 else 2,
    )


def test_activations_with_parameters() -> None:
    x = normal((4, 6), seed=2, scale=3.0)
    (ours,), (theirs,) = both(x)
    for found, wanted in (
        (nn.gelu(ours, "tanh"), F.gelu(theirs, approximate="tanh")),
        (nn.elu(ours, 0.5), F.elu(theirs, 0.5)),
        (nn.celu(ours, 0.5), F.celu(theirs, 0.5)),
        (nn.leaky_relu(ours, 0.2), F.leaky_relu(theirs, 0.2)),
        (nn.hard_tanh(ours, -0.5, 2.0), F.hardtanh(theirs, -0.5, 2.0)),
        (nn.glu(ours, 0), F.glu(theirs, 0)),
        (nn.prelu({"weight": np.full(6, 0.3)}, ours), F.prelu(theirs, torch.full((6,), 0.3, dtype=torch.float64))),
        (nn.softmax(ours, 0), F.softmax(theirs, 0)),
        (nn.softmin(ours, 0), F.softmin(theirs, 0)),
        (nn.log_softmax(ours, 1), F.log_softmax(theirs, 1)),
        (nn.logsumexp(ours, 1), torch.logsumexp(theirs, 1)),
    ):
        near(found, wanted.numpy())


LOSSES = {
    "mse_loss": [{}],
    "l1_loss": [{}],
    "huber_loss": [{}, {"delta": 0.5}],
    "smooth_l1_loss": [{}, {"beta": 0.5}, {"beta": 0.0}],
    "binary_cross_entropy_with_logits": [{}],
}


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_losses(name: str, reduction: str) -> None:
    (x, y), (tx, ty) = both(normal((5, 4), seed=3), np.abs(normal((5, 4), seed=4)))
    for keywords in LOSSES[name]:
        wanted = getattr(F, name)(tx, ty, reduction=reduction, **keywords)
        near(getattr(nn, name)(x, y, reduction=reduction, **keywords), wanted.numpy())


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("shape", [(4,), (6, 4), (2, 4, 3), (2, 4, 3, 2)])
def test_cross_entropy(reduction: str, shape: tuple) -> None:
    x = normal(shape, seed=5, scale=2.0)
    rest = shape[:1] + shape[2:] if len(shape) > 1 else ()
    target = np.random.default_rng(6).integers(0, 4, rest)
    weight = np.array([1.0, 0.5, 2.0, 0.25])
    for weights, ignored, smoothing in itertools.product([None, weight], [-100, 1], [0.0, 0.25]):
        given = None if weights is None else torch.tensor(weights)
        wanted = F.cross_entropy(torch.tensor(x), torch.tensor(target), given, None, ignored, None, reduction, smoothing)
        near(nn.cross_entropy(x, target, weights, ignored, smoothing, reduction), wanted.numpy())
    probabilities = torch.softmax(torch.tensor(normal(shape, seed=7)), 0 if len(shape) == 1 else 1)
    for weights, smoothing in itertools.product([None, weight], [0.0, 0.25]):
        given = None if weights is None else torch.tensor(weights)
        wanted = F.cross_entropy(torch.tensor(x), probabilities, given, reduction=reduction, label_smoothing=smoothing)
        near(nn.cross_entropy(x, probabilities.numpy(), weights, label_smoothing=smoothing, reduction=reduction), wanted.numpy())


def test_other_losses() -> None:
    x, y = normal((5, 4), seed=8), np.random.default_rng(9).random((5, 4))
    logs, target = np.log(y / y.sum(1, keepdims=True)), np.array([0, 3, 1, 1, 2])
    for reduction in ("mean", "sum", "none"):
        near(
            nn.nll_loss(logs, target, None, 1, reduction),
            F.nll_loss(torch.tensor(logs), torch.tensor(target), None, None, 1, None, reduction).numpy(),
        )
        wanted = F.binary_cross_entropy(torch.tensor(y), torch.tensor(np.round(y)), reduction=reduction)
        near(nn.binary_cross_entropy(y, np.round(y), reduction=reduction), wanted.numpy())
        positive = np.array([1.0, 2.0, 0.5, 3.0])
        wanted = F.binary_cross_entropy_with_logits(*map(torch.tensor, (x, y)), None, None, None, reduction, torch.tensor(positive))
        near(nn.binary_cross_entropy_with_logits(x, y, None, positive, reduction), wanted.numpy())
    for reduction in ("mean", "sum", "none", "batchmean"):
        for is_log in (False, True):
            given = np.log(y) if is_log else y
            wanted = F.kl_div(torch.tensor(logs), torch.tensor(given), reduction=reduction, log_target=is_log)
            near(nn.kl_div(logs, given, reduction, is_log), wanted.numpy())


def random_convolution(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, dict]:
    rank = int(rng.integers(1, 3))
    groups, per, outs = (int(n) for n in rng.integers(1, 4, 3))
    size = tuple(rng.integers(1, 5, rank))
    dilation = tuple(int(n) for n in rng.integers(1, 3, rank))
    extents = tuple(int(d * (k - 1) + 1 + rng.integers(0, 6)) for k, d in zip(size, dilation))
    keywords = {
        "stride": tuple(int(n) for n in rng.integers(1, 4, rank)),
        "padding": tuple(int(n) for n in rng.integers(0, 3, rank)),
        "dilation": dilation,
        "groups": groups,
    }
    seed = int(rng.integers(1 << 30))
    x = normal((int(rng.integers(1, 4)), groups * per, *extents), seed=seed)
    return x, normal((groups * outs, per, *size), seed=seed + 1), keywords


def test_random_convolutions_and_their_gradients() -> None:
    rng = np.random.default_rng(10)
    for _ in range(150):
        x, weight, keywords = random_convolution(rng)
        rank = x.ndim - 2
        tx, tw = (torch.tensor(each, requires_grad=True) for each in (x, weight))
        wanted = (F.conv1d if rank == 1 else F.conv2d)(tx, tw, **keywords)
        near((nn.conv1d if rank == 1 else nn.conv2d)({"weight": weight}, x, **keywords), wanted.detach().numpy())
        given = normal(wanted.shape, seed=11)
        wanted.backward(torch.tensor(given))
        ours = conv_gradients(x, weight, given, **keywords)
        for found, theirs in zip(ours, (tx, tw)):
            near(found, theirs.grad.numpy())


def conv_gradients(
    x: np.ndarray, weight: np.ndarray, given: np.ndarray, stride: tuple, padding: tuple, dilation: tuple, groups: int
) -> list:
    from weft.nn._windows import Windows
    from weft.nn.convolution import convolved

    row = x.ndim == 3
    arrays = [weft.asarray(each)[:, :, None] if row else weft.asarray(each) for each in (x, weight, given)]
    one, none = ((1,), (0,)) if row else ((), ())
    windows = Windows(arrays[1].shape[2:], one + stride, one + dilation, none + padding, none + padding)
    forward, backward = convolved(windows, groups).rule
    found = backward(forward(*arrays[:2])[1], arrays[2])
    return [each[:, :, 0] if row else each for each in found]


def test_random_pools() -> None:
    rng = np.random.default_rng(12)
    for _ in range(150):
        rank = int(rng.integers(1, 3))
        size = tuple(int(n) for n in rng.integers(1, 7, rank))
        stride = None if rng.random() < 0.3 else tuple(int(n) for n in rng.integers(1, 4, rank))
        padding = tuple(int(rng.integers(0, n // 2 + 1)) for n in size)
        x = normal((2, 3, *(int(n + rng.integers(0, 8)) for n in size)), seed=int(rng.integers(1 << 30)))
        ceil_mode, with_border = (bool(n) for n in rng.integers(0, 2, 2))
        ours = (nn.max_pool1d, nn.avg_pool1d) if rank == 1 else (nn.max_pool2d, nn.avg_pool2d)
        theirs = (F.max_pool1d, F.avg_pool1d) if rank == 1 else (F.max_pool2d, F.avg_pool2d)
        near(ours[0](x, size, stride, padding, 1, ceil_mode), theirs[0](torch.tensor(x), size, stride, padding, 1, ceil_mode).numpy())
        wanted = theirs[1](torch.tensor(x), size, stride, padding, ceil_mode, with_border)
        near(ours[1](x, size, stride, padding, ceil_mode, with_border), wanted.numpy())


def test_norms() -> None:
    x, weight, bias = normal((4, 6, 5), seed=13, scale=3.0), normal(6, seed=14), normal(6, seed=15)
    (ours, w, b), (theirs, tw, tb) = both(x, weight, bias)
    params = {"weight": w, "bias": b}
    near(nn.group_norm(params, ours, 3), F.group_norm(theirs, 3, tw, tb).numpy())
    near(nn.layer_norm(params, ours.swapaxes(1, 2)), F.layer_norm(theirs.swapaxes(1, 2), (6,), tw, tb).numpy())
    near(nn.rms_norm({"weight": w}, ours.swapaxes(1, 2)), F.rms_norm(theirs.swapaxes(1, 2), (6,), tw).numpy())
    state, (mean, var) = nn.init.batch_norm(6, "float64")[1], (torch.zeros(6, dtype=torch.float64), torch.ones(6, dtype=torch.float64))
    for _ in range(3):
        found, state = nn.batch_norm(params, state, ours, training=True)
        near(found, F.batch_norm(theirs, mean, var, tw, tb, training=True).numpy())
    near(state["running_mean"], mean.numpy())
    near(state["running_var"], var.numpy())
    near(nn.batch_norm(params, state, ours)[0], F.batch_norm(theirs, mean, var, tw, tb).numpy())


def test_attention() -> None:
    (q, k, v), tensors = both(normal((2, 4, 5, 6), seed=16), normal((2, 4, 7, 6), seed=17), normal((2, 4, 7, 3), seed=18))
    looks = np.random.default_rng(19).random((5, 7)) < 0.6
    for keywords in ({}, {"is_causal": True}, {"attn_mask": looks}, {"attn_mask": normal((4, 1, 7), seed=20)}, {"scale": 0.2}):
        given = {name: torch.tensor(each) if isinstance(each, np.ndarray) else each for name, each in keywords.items()}
        near(nn.scaled_dot_product_attention(q, k, v, **keywords), F.scaled_dot_product_attention(*tensors, **given).numpy())
    near(
        nn.scaled_dot_product_attention(q, k[:, :2], v[:, :2], enable_gqa=True),
        F.scaled_dot_product_attention(tensors[0], tensors[1][:, :2], tensors[2][:, :2], enable_gqa=True).numpy(),
    )


OPTIMIZERS = [
    (lambda: nn.SGD(0.1, 0.9, 0.0, 0.01, True), lambda p: torch.optim.SGD(p, 0.1, 0.9, 0.0, 0.01, True)),
    (lambda: nn.SGD(0.1, 0.9, 0.3), lambda p: torch.optim.SGD(p, 0.1, 0.9, 0.3)),
    (lambda: nn.Adam(0.01, weight_decay=0.1), lambda p: torch.optim.Adam(p, 0.01, weight_decay=0.1)),
    (lambda: nn.AdamW(), lambda p: torch.optim.AdamW(p)),
]


@pytest.mark.parametrize("which", range(len(OPTIMIZERS)))
def test_optimizers(which: int) -> None:
    make, theirs = OPTIMIZERS[which]
    start = [normal((3, 2), seed=21), normal(4, seed=22)]
    tensors = [torch.tensor(each, requires_grad=True) for each in start]
    optimizer, other = make(), theirs(tensors)
    params: Any = list(map(weft.asarray, start))
    state = optimizer.init(params)
    for step in range(4):
        grads = [normal(each.shape, seed=30 + 2 * step + i) for i, each in enumerate(start)]
        for tensor, grad in zip(tensors, grads):
            tensor.grad = torch.tensor(grad)
        norm = torch.nn.utils.clip_grad_norm_(tensors, 1.5)
        other.step()
        clipped, ours = nn.clip_grad_norm(list(map(weft.asarray, grads)), 1.5)
        near(ours, norm.numpy())
        params, state = optimizer.update(params, clipped, state)
    for found, tensor in zip(params, tensors):
        near(found, tensor.detach().numpy())

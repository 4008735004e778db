"""What `weft.nn` computes, written in NumPy as plainly as may be: in double precision, element by element where that is plainest."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

erfc = np.vectorize(math.erfc, otypes=[float])


def softplus(x: np.ndarray, beta: float = 1.0) -> np.ndarray:
    return np.logaddexp(0, beta * x) / beta


def sigmoid(x: np.ndarray) -> np.ndarray:
    return np.exp(-np.logaddexp(0, -x))


def elu(x: np.ndarray, alpha: float = 1.0) -> np.ndarray:
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


ACTIVATIONS: dict[str, Any] = {
    "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.clip(x, 0, 6),
    "hard_tanh": lambda x: np.clip(x, -1, 1),
    "leaky_relu": lambda x: np.where(x > 0, x, 0.01 * x),
    "elu": elu,
    "celu": elu,
    "selu": lambda x: 1.0507009873554805 * elu(x, 1.6732632423543772),
    "sigmoid": sigmoid,
    "log_sigmoid": lambda x: -np.logaddexp(0, -x),
    "softplus": softplus,
    "softsign": lambda x: x / (1 + np.abs(x)),
    "tanh": np.tanh,
    "gelu": lambda x: 0.5 * x * erfc(-x / math.sqrt(2)),
    "silu": lambda x: x * sigmoid(x),
    "mish": lambda x: x * np.tanh(softplus(x)),
    "hard_sigmoid": lambda x: np.clip(x + 3, 0, 6) / 6,
    "hard_swish": lambda x: x * (np.clip(x + 3, 0, 6) / 6),
}
"""Functions of each element, with their defaults."""


def softmax(x: np.ndarray, axis: Any = -1) -> np.ndarray:
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def logsumexp(x: np.ndarray, axis: Any = None, keepdims: bool = False) -> np.ndarray:
    top = x.max(axis=axis, keepdims=True)
    found = np.log(np.exp(x - top).sum(axis=axis, keepdims=True)) + top
    return found if keepdims else found.sum(axis=axis)


def convolution(x: np.ndarray, weight: np.ndarray, stride: tuple, border: tuple, dilation: tuple, groups: int = 1) -> np.ndarray:
    """(n, c, ...) by (o, c/groups, ...), window by window; `border` has pairs."""
    rank = weight.ndim - 2
    x = np.pad(x, ((0, 0), (0, 0), *border))
    counts = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(x.shape[2:], weight.shape[2:], stride, dilation)]
    outs, per = weight.shape[:2]
    found = np.zeros((x.shape[0], outs, *counts), np.result_type(x, weight))
    for out, at in itertools.product(range(outs), itertools.product(*map(range, counts))):
        group = out // (outs // groups)
        window = tuple(slice(i * s, i * s + d * (k - 1) + 1, d) for i, s, d, k in zip(at, stride, dilation, weight.shape[2:]))
        part = x[(slice(None), slice(group * per, (group + 1) * per), *window)]
        found[(slice(None), out, *at)] = (part * weight[out]).sum(axis=tuple(range(1, rank + 2)))
    return found


def pool(x: np.ndarray, take: Any, size: tuple, stride: tuple, padding: tuple, dilation: tuple, ceil_mode: bool) -> np.ndarray:
    """What `take` makes of the elements of each window and of how many elements it has with its border; as PyTorch cuts windows."""
    rank = len(size)
    counts = []
    for n, k, s, p, d in zip(x.shape[-rank:], size, stride, padding, dilation):
        room = n + 2 * p - d * (k - 1) - 1
        count = (math.ceil(room / s) if ceil_mode else room // s) + 1
        counts.append(count - 1 if ceil_mode and (count - 1) * s >= n + p else count)
    found = np.zeros((*x.shape[:-rank], *counts), x.dtype)
    for front in np.ndindex(x.shape[:-rank]):
        for at in itertools.product(*map(range, counts)):
            places, size_with_border = [], 1
            for i, n, k, s, p, d in zip(at, x.shape[-rank:], size, stride, padding, dilation):
                start = i * s - p
                places.append([start + j * d for j in range(k) if 0 <= start + j * d < n])
                size_with_border *= min(start + k, n + p) - start
            window = np.array([x[(*front, *place)] for place in itertools.product(*places)])
            found[(*front, *at)] = take(window, size_with_border)
    return found


def normal(x: np.ndarray, axes: Any, eps: float) -> np.ndarray:
    return (x - x.mean(axis=axes, keepdims=True)) / np.sqrt(x.var(axis=axes, keepdims=True) + eps)


def cross_entropy(
    x: np.ndarray, target: np.ndarray, weight: np.ndarray | None, ignore_index: int, smoothing: float, reduction: str
) -> np.ndarray:
    """Of (n, classes) and classes, example by example."""
    logs = np.log(softmax(x, -1))
    classes = x.shape[1]
    weight = np.ones(classes) if weight is None else weight
    losses, shares = np.zeros(len(x)), np.zeros(len(x))
    for i, (row, true) in enumerate(zip(logs, target)):
        if true == ignore_index:
            continue
        truth = np.full(classes, smoothing / classes)
        truth[true] += 1 - smoothing
        losses[i], shares[i] = -(truth * weight * row).sum(), weight[true]
    return {"none": losses, "sum": losses.sum(), "mean": losses.sum() / shares.sum()}[reduction]


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray | None, causal: bool, scale: float) -> np.ndarray:
    """Scores, softmax, product; nothing for a query that may look at nothing."""
    scores = q @ np.swapaxes(k, -1, -2) * scale
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    if causal:
        scores = np.where(np.tri(q.shape[-2], k.shape[-2], dtype=bool), scores, -np.inf)
    with np.errstate(invalid="ignore"):
        e = np.exp(scores - scores.max(-1, keepdims=True))
        return np.nan_to_num(e / e.sum(-1, keepdims=True)) @ v

"""ONNX's operators of networks, by `weft.nn`: convolutions, pools, normalisation, losses, attention, optimizers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import weft
from weft import nn

from .graphs import Node, Uncovered, operator


def _border(node: Node, x: Any, size: list[int], stride: list[int], dilation: list[int]) -> list[tuple[int, int]]:
    """The border of each axis in front and behind."""
    rank = len(size)
    how = node.get("auto_pad", "NOTSET")
    if how == "VALID":
        return [(0, 0)] * rank
    if how in ("SAME_UPPER", "SAME_LOWER"):
        found = []
        for n, k, s, d in zip(x.shape[2:], size, stride, dilation):
            total = max((-(-n // s) - 1) * s + d * (k - 1) + 1 - n, 0)
            less = total // 2
            found.append((less, total - less) if how == "SAME_UPPER" else (total - less, less))
        return found
    pads = node.get("pads", [0] * 2 * rank)
    return list(zip(pads[:rank], pads[rank:]))


def _windows(node: Node, x: Any, size: list[int]) -> tuple[list[int], list[int], list[tuple[int, int]]]:
    rank = len(size)
    stride, dilation = node.get("strides", [1] * rank), node.get("dilations", [1] * rank)
    return stride, dilation, _border(node, x, size, stride, dilation)


@operator("Conv")
def _conv(node: Node, x: Any, weight: Any, bias: Any = None) -> Any:
    rank = x.ndim - 2
    if rank > 2:
        raise Uncovered("windows along three axes")
    stride, dilation, border = _windows(node, x, list(weight.shape[2:]))
    # Borders that differ at both ends are made here.
    x = weft.pad(x, [(0, 0), (0, 0), *border])
    params = {"weight": weight} | ({} if bias is None else {"bias": bias})
    return (nn.conv1d if rank == 1 else nn.conv2d)(params, x, tuple(stride), 0, tuple(dilation), node.get("group", 1))


@operator("ConvInteger")
def _conv_integer(node: Node, x: Any, weight: Any, zero: Any = None, zero_of_weight: Any = None) -> Any:
    if zero_of_weight is not None and weft.asnumpy(zero_of_weight).any():
        raise Uncovered("quantised weights")
    moved = x.astype("float64") - (0 if zero is None else zero.astype("float64"))
    return _conv(node, moved, weight.astype("float64")).astype("int32")


@operator("MaxPool")
def _max_pool(node: Node, x: Any) -> Any:
    if node.outputs > 1:
        raise Uncovered("places of the largest elements")
    return _pool(node, x, True)


@operator("AveragePool")
def _average_pool(node: Node, x: Any) -> Any:
    return _pool(node, x, False)


def _pool(node: Node, x: Any, largest: bool) -> Any:
    """By the windows that pools are made of: those of ONNX have borders that differ, also in what counts."""
    from weft.nn import pooling
    from weft.nn._windows import Windows

    size = node["kernel_shape"]
    if len(size) > 2:
        raise Uncovered("windows along three axes")
    stride, dilation, border = _windows(node, x, size)
    extents = x.shape[2:]
    behind = []
    for n, k, s, d, (low, high) in zip(extents, size, stride, dilation, border):
        reach = d * (k - 1) + 1
        if node.get("ceil_mode", 0):
            count = math.ceil((n + low + high - reach) / s) + 1
            count -= (count - 1) * s >= n + low
            behind.append(max((count - 1) * s + reach - n - low, high))
        else:
            behind.append(high)
    low = tuple(each[0] for each in border)
    even = all(a == b for a, b in border) and all(2 * a <= k for a, k in zip(low, size))
    usual = even and tuple(behind) == low and node.get("auto_pad", "NOTSET") == "NOTSET"
    if usual and largest:
        return (nn.max_pool1d if len(size) == 1 else nn.max_pool2d)(x, tuple(size), tuple(stride), low, tuple(dilation))
    counted = bool(node.get("count_include_pad", 0))
    if usual and set(dilation) == {1}:
        return (nn.avg_pool1d if len(size) == 1 else nn.avg_pool2d)(x, tuple(size), tuple(stride), low, False, counted)
    windows = Windows(tuple(size), tuple(stride), tuple(dilation), low, tuple(behind))
    if largest:
        return pooling.largest(windows)(x)
    ones = weft.ones((1, 1, *extents), dtype=x.dtype)
    if counted:
        ones = weft.pad(ones, [(0, 0), (0, 0), *border], constant_values=1)
        tail = tuple(b - high for b, (_, high) in zip(behind, border))
        counts = pooling.summed(Windows(*windows[:3], (0,) * len(size), tail))(ones)
    else:
        counts = pooling.summed(windows)(ones)
    return pooling.summed(windows)(x) / counts


@operator("LpPool")
def _lp_pool(node: Node, x: Any) -> Any:
    from weft.nn import pooling
    from weft.nn._windows import Windows

    size, p = node["kernel_shape"], node.get("p", 2)
    if len(size) > 2 or node.get("ceil_mode", 0):
        raise Uncovered("windows along three axes")
    stride, dilation, border = _windows(node, x, size)
    windows = Windows(tuple(size), tuple(stride), tuple(dilation), *map(tuple, zip(*border)))
    return pooling.summed(windows)(weft.abs(x) ** p) ** (1 / p)


@operator("GlobalAveragePool", "GlobalMaxPool")
def _global_pool(node: Node, x: Any) -> Any:
    axes = tuple(range(2, x.ndim))
    return (weft.mean if node.type == "GlobalAveragePool" else weft.max)(x, axis=axes, keepdims=True)


@operator("BatchNormalization")
def _batch_norm(node: Node, x: Any, scale: Any, bias: Any, mean: Any, var: Any) -> Any:
    training = bool(node.get("training_mode", 0))
    state = {"running_mean": mean, "running_var": var}
    momentum = 1 - node.get("momentum", 0.9)
    found, after = nn.batch_norm({"weight": scale, "bias": bias}, state, x, training, momentum, node.get("epsilon", 1e-5))
    if not training:
        return found
    # ONNX's running variance is of all elements, PyTorch's of one less.
    count = x.size // x.shape[1]
    old = (1 - momentum) * var
    return found, after["running_mean"], old + (after["running_var"] - old) * ((count - 1) / count)


@operator("InstanceNormalization")
def _instance_norm(node: Node, x: Any, scale: Any, bias: Any) -> Any:
    return nn.group_norm({"weight": scale, "bias": bias}, x, x.shape[1], node.get("epsilon", 1e-5))


@operator("GroupNormalization")
def _group_norm(node: Node, x: Any, scale: Any, bias: Any) -> Any:
    return nn.group_norm({"weight": scale, "bias": bias}, x, node["num_groups"], node.get("epsilon", 1e-5))


@operator("LayerNormalization")
def _layer_norm(node: Node, x: Any, scale: Any, bias: Any = None) -> Any:
    axis = node.get("axis", -1) % x.ndim
    params = {"weight": weft.broadcast_to(scale, x.shape[axis:])}
    params |= {} if bias is None else {"bias": weft.broadcast_to(bias, x.shape[axis:])}
    eps = node.get("epsilon", 1e-5)
    found = nn.layer_norm(params, x, eps)
    if node.outputs == 1:
        return found
    axes = tuple(range(axis, x.ndim))
    return found, weft.mean(x, axis=axes, keepdims=True), 1 / weft.sqrt(weft.var(x, axis=axes, keepdims=True) + eps)


@operator("RMSNormalization")
def _rms_norm(node: Node, x: Any, scale: Any) -> Any:
    axis = node.get("axis", -1) % x.ndim
    return nn.rms_norm({"weight": weft.broadcast_to(scale, x.shape[axis:])}, x, node.get("epsilon", 1e-5))


@operator("LRN")
def _local_response(node: Node, x: Any) -> Any:
    size = node["size"]
    squares = weft.pad(x * x, [(0, 0), ((size - 1) // 2, size // 2)] + [(0, 0)] * (x.ndim - 2))
    sums = sum(squares[:, i : i + x.shape[1]] for i in range(size))
    return x / (node.get("bias", 1.0) + node.get("alpha", 0.0001) / size * sums) ** node.get("beta", 0.75)


@operator("SoftmaxCrossEntropyLoss")
def _cross_entropy(node: Node, x: Any, target: Any, weight: Any = None) -> Any:
    found = nn.cross_entropy(x, target, weight, node.get("ignore_index", -100), reduction=node.get("reduction", "mean"))
    return (found, nn.log_softmax(x, 1))[: node.outputs]


@operator("NegativeLogLikelihoodLoss")
def _nll(node: Node, x: Any, target: Any, weight: Any = None) -> Any:
    return nn.nll_loss(x, target, weight, node.get("ignore_index", -100), node.get("reduction", "mean"))


@operator("Attention")
def _attention(node: Node, q: Any, k: Any, v: Any, mask: Any = None, past_k: Any = None, past_v: Any = None, lengths: Any = None) -> Any:
    flat = q.ndim == 3
    if flat:
        q, k, v = (_heads(x, node[name]) for x, name in ((q, "q_num_heads"), (k, "kv_num_heads"), (v, "kv_num_heads")))
    past = 0
    if past_k is not None:
        past, k, v = past_k.shape[2], weft.concatenate([past_k, k], axis=2), weft.concatenate([past_v, v], axis=2)
    if node.get("softcap", 0.0) or node.outputs > 3 or any(node.get(name) for name in ("softmax_precision",) if node.get(name) != 1):
        raise Uncovered("scores of attention that are capped, shown or of a precision of their own")
    rows, columns = q.shape[2], k.shape[2]
    # Where queries are among the keys: behind those of the past, or the last ones of what is not padding.
    at = weft.arange(rows)[:, None] + (past if lengths is None else lengths[:, None, None, None] - rows)
    to, looks = weft.arange(columns), weft.ones((rows, columns), dtype=bool)
    if node.get("is_causal", 0):
        looks = looks & (to <= at)
    if node.get("left_window_size", -1) >= 0:
        looks = looks & (to >= at - node["left_window_size"])
    if node.get("right_window_size", -1) >= 0:
        looks = looks & (to <= at + node["right_window_size"])
    if lengths is not None:
        looks = looks & (to < lengths[:, None, None, None])
    if mask is not None and mask.shape[-1] < columns:
        fill = False if mask.dtype.kind == "b" else -np.inf
        mask = weft.pad(mask, [(0, 0)] * (mask.ndim - 1) + [(0, columns - mask.shape[-1])], constant_values=fill)
    if mask is None:
        mask = looks
    else:
        mask = mask & looks if mask.dtype.kind == "b" else weft.where(looks, mask, -np.inf)
    found = nn.scaled_dot_product_attention(q, k, v, mask, scale=node.get("scale"), enable_gqa=True)
    if flat:
        found = found.transpose(0, 2, 1, 3).reshape((found.shape[0], rows, -1))
    return (found, k, v)[: node.outputs]


def _heads(x: Any, count: int) -> Any:
    return x.reshape((x.shape[0], x.shape[1], count, -1)).transpose(0, 2, 1, 3)


@operator("RotaryEmbedding")
def _rotary(node: Node, x: Any, cosines: Any, sines: Any, positions: Any = None) -> Any:
    flat = x.ndim == 3
    if flat:
        x = _heads(x, node["num_heads"])
    turned = node.get("rotary_embedding_dim", 0) or x.shape[-1]
    if positions is not None:
        cosines, sines = cosines[positions], sines[positions]
    c, s = (each[:, None, :, : turned // 2] for each in (cosines, sines))
    if node.get("interleaved", 0):
        one, two = x[..., 0:turned:2], x[..., 1:turned:2]
    else:
        one, two = x[..., : turned // 2], x[..., turned // 2 : turned]
    parts = [c * one - s * two, s * one + c * two]
    found = weft.stack(parts, axis=-1).reshape((*x.shape[:3], turned)) if node.get("interleaved", 0) else weft.concatenate(parts, axis=-1)
    found = weft.concatenate([found, x[..., turned:]], axis=-1)
    return found.transpose(0, 2, 1, 3).reshape((x.shape[0], x.shape[2], -1)) if flat else found


@operator("Bernoulli")
def _random(node: Node, *inputs: Any) -> Any:
    raise Uncovered("random numbers of another generator")

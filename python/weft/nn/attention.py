"""Attention: what queries find among values by the likeness of their keys (Vaswani and others, 2017).

On devices one kernel does it without a matrix of scores (`weft.kernels.attention`); on the CPU, and for the gradient, matrices of scores
are made of some queries at a time and multiplied as all matrices are.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import weft
from weft._weft import ndarray
from weft.arrays._common import beside, broadcast_shape

from ._common import floats, narrow, wide
from ._rules import with_rule

__all__ = ["scaled_dot_product_attention"]

# How many bytes of scores are made at a time.
_PART = 16 << 20


def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    *,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> ndarray:
    """softmax(query·keyᵀ·scale + mask)·value: (..., heads, queries, size), (..., heads, keys, size) and (..., heads, keys, size of a value)
    to (..., heads, queries, size of a value). The axes in front are broadcast, and there may be none.

    `attn_mask` broadcasts to (..., queries, keys): True where a query may look, or floats that are added. With `is_causal` query i looks at
    the keys up to i; both may be given. `scale` is 1/sqrt(size) if nothing is said. With `enable_gqa` the heads of keys and values serve so
    many of the queries' heads each as there are more of these. A query that may look at nothing gets zeros.

    >>> q = weft.asarray([[1.0, 0.0]])
    >>> weft.nn.scaled_dot_product_attention(q, weft.asarray([[1.0, 0.0], [0.0, 1.0]]), weft.asarray([[1.0], [3.0]]), scale=0.0)
    array([[2.]])
    """
    of = "scaled_dot_product_attention"
    q, k, v = (floats(of, each, query, key, value) for each in (query, key, value))
    if not q.dtype == k.dtype == v.dtype:
        raise ValueError(f"query, key and value have one dtype, not {q.dtype}, {k.dtype} and {v.dtype}")
    if min(q.ndim, k.ndim, v.ndim) < 2 or q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError(f"{of} takes (..., queries, size), (..., keys, size) and (..., keys, any), not {q.shape}, {k.shape}, {v.shape}")
    if enable_gqa:
        k, v = _for_each_head(q, k), _for_each_head(q, v)
    mask = None if attn_mask is None else beside(attn_mask, q)
    if mask is not None:
        if mask.dtype.kind != "b":
            mask = floats("attn_mask", mask)
        scores = (q.shape[-2], k.shape[-2])
        if broadcast_shape(mask.shape, scores)[-2:] != scores:
            raise ValueError(f"a mask {mask.shape} does not broadcast to scores (..., {scores[0]}, {scores[1]})")
    front = broadcast_shape(q.shape[:-2], k.shape[:-2], v.shape[:-2], () if mask is None else mask.shape[:-2])
    factor = 1 / math.sqrt(q.shape[-1]) if scale is None and q.shape[-1] else float(scale or 0)
    made = [_four_axes(each, front, each.shape[-2:]) for each in (q, k, v)]
    if mask is not None:
        made.append(_four_axes(mask, front, (q.shape[-2], k.shape[-2])))
    found = attention(bool(is_causal), factor, mask is not None and mask.dtype.kind != "b")(*made)
    return found.reshape((*front, q.shape[-2], v.shape[-1]))


def _for_each_head(q: ndarray, x: ndarray) -> ndarray:
    """Heads of keys or values as often as there are heads of queries for them."""
    if q.ndim < 3 or x.ndim < 3 or q.shape[-3] % x.shape[-3]:
        raise ValueError(f"with enable_gqa the heads of queries are a multiple of those of keys and values, not {q.shape} and {x.shape}")
    times = q.shape[-3] // x.shape[-3]
    stretched = weft.broadcast_to(x[..., :, None, :, :], (*x.shape[:-2], times, *x.shape[-2:]))
    return stretched.reshape((*x.shape[:-3], q.shape[-3], *x.shape[-2:]))


def _four_axes(x: ndarray, front: tuple[int, ...], last: tuple[int, ...]) -> ndarray:
    """An array as (n, heads, rows, columns)."""
    x = weft.broadcast_to(x, (*front, *last))
    if len(front) > 1:
        return x.reshape((math.prod(front[:-1]), front[-1], *last))
    return x.reshape((1, *(front or (1,)), *last))


@functools.lru_cache(256)
def attention(causal: bool, scale: float, learned: bool) -> Callable[..., ndarray]:
    """The attention of arrays of four axes, with its rule for gradients; a mask is `learned` if it is of floats."""

    def attend(q: ndarray, k: ndarray, v: ndarray, *mask: ndarray) -> ndarray:
        return _attend(q, k, v, mask[0] if mask else None, causal, scale)[0]

    def forward(q: ndarray, k: ndarray, v: ndarray, *mask: ndarray) -> tuple[ndarray, Any]:
        out, logs = _attend(q, k, v, mask[0] if mask else None, causal, scale)
        return out, (q, k, v, mask, out, logs)

    def backward(kept: Any, given: ndarray) -> tuple[Any, ...]:
        q, k, v, mask, out, logs = kept
        return _backward(q, k, v, mask[0] if mask else None, out, logs, given, causal, scale, learned)

    return with_rule(attend, forward, backward)


def _attend(q: ndarray, k: ndarray, v: ndarray, mask: ndarray | None, causal: bool, scale: float) -> tuple[ndarray, ndarray]:
    """What is found, and the logarithm of each query's sum of exponentials."""
    if q.device.kind != "cpu" and q.size and k.size and v.size:
        from weft.kernels.attention import WIDEST, attended

        if max(q.shape[3], v.shape[3]) <= WIDEST:
            return attended(q, k, v, mask, causal, scale)
    outs, logs = [], []
    keys, values = wide(k).swapaxes(2, 3), wide(v)
    for rows in _parts(q, k):
        scores = _scores(wide(q[:, :, rows]), keys, mask, rows, causal, scale)
        top = weft.max(scores, axis=3, keepdims=True, initial=-np.inf)
        top = weft.where(top == -np.inf, 0, top)
        e = weft.exp(scores - top)
        total = weft.sum(e, axis=3, keepdims=True)
        outs.append(narrow(weft.matmul(e, values) / weft.where(total == 0, 1, total), q.dtype))
        logs.append((weft.log(total) + top)[..., 0])
    return (outs[0], logs[0]) if len(outs) == 1 else (weft.concatenate(outs, axis=2), weft.concatenate(logs, axis=2))


def _parts(q: ndarray, k: ndarray) -> Iterator[slice]:
    """Some queries at a time."""
    each = q.shape[0] * q.shape[1] * k.shape[2] * max(q.dtype.itemsize, 4)
    step = max(_PART // max(each, 1), 16)
    return (slice(start, min(start + step, q.shape[2])) for start in range(0, max(q.shape[2], 1), step))


def _scores(q: ndarray, keys: ndarray, mask: ndarray | None, rows: slice, causal: bool, scale: float) -> ndarray:
    """The scores of some queries: -inf where they may not look."""
    found = weft.matmul(q, keys) * scale
    if mask is not None:
        part = mask[:, :, rows]
        found = weft.where(part, found, -np.inf) if mask.dtype.kind == "b" else found + wide(part)
    if causal:
        at = weft.arange(rows.start, rows.stop, dtype=np.int32, device=q.device)[:, None]
        found = weft.where(weft.arange(keys.shape[3], dtype=np.int32, device=q.device) <= at, found, -np.inf)
    return found


def _backward(
    q: ndarray,
    k: ndarray,
    v: ndarray,
    mask: ndarray | None,
    out: ndarray,
    logs: ndarray,
    given: ndarray,
    causal: bool,
    scale: float,
    learned: bool,
) -> tuple[Any, ...]:
    """What is asked of queries, keys, values and a mask of floats (Dao and others, 2022, appendix B): of the softmax only the logarithms of
    its sums were kept."""
    keys, values = wide(k), wide(v)
    of_q, of_mask, of_k, of_v = [], [], None, None
    for rows in _parts(q, k):
        queries, asked = wide(q[:, :, rows]), wide(given[:, :, rows])
        log = logs[:, :, rows, None]
        log = weft.where(log == -np.inf, 0, log)
        p = weft.exp(_scores(queries, keys.swapaxes(2, 3), mask, rows, causal, scale) - log)
        weighted = weft.sum(asked * wide(out[:, :, rows]), axis=3, keepdims=True)
        of_scores = p * (weft.matmul(asked, values.swapaxes(2, 3)) - weighted)
        of_q.append(weft.matmul(of_scores, keys) * scale)
        part_k, part_v = weft.matmul(of_scores.swapaxes(2, 3), queries) * scale, weft.matmul(p.swapaxes(2, 3), asked)
        of_k, of_v = (part_k, part_v) if of_k is None else (of_k + part_k, of_v + part_v)
        if learned:
            of_mask.append(of_scores)
    found = (_joined(of_q), of_k, of_v)
    made = tuple(narrow(each, like.dtype) for each, like in zip(found, (q, k, v)))
    if mask is None:
        return made
    return (*made, narrow(_joined(of_mask), mask.dtype) if learned else None)


def _joined(parts: list[ndarray]) -> ndarray:
    return parts[0] if len(parts) == 1 else weft.concatenate(parts, axis=2)

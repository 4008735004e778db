"""Attention against scores, softmax and product in double precision: masks, causality, broadcast axes, parts, devices; and its rule."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import weft
from weft import nn
from weft.nn import attention as module

from . import formulas
from .near import FLOATS, laid_out, near, normal


def vectors(queries: int, keys: int, size: int, out: int, front: tuple = (2, 3), dtype: object = np.float64) -> list[np.ndarray]:
    return [normal((*front, n, m), dtype, seed) for seed, (n, m) in enumerate([(queries, size), (keys, size), (keys, out)])]


def masks(queries: int, keys: int) -> list:
    rng = np.random.default_rng(7)
    looks = rng.random((queries, keys)) < 0.6
    return [None, looks, np.where(looks, rng.standard_normal((queries, keys)), -np.inf), rng.standard_normal((2, 1, 1, keys))]


@pytest.mark.parametrize(("queries", "keys", "size", "out"), [(1, 1, 1, 1), (5, 7, 4, 3), (6, 6, 8, 8), (3, 0, 2, 2), (0, 3, 2, 2)])
def test_of_masks(queries: int, keys: int, size: int, out: int) -> None:
    q, k, v = vectors(queries, keys, size, out)
    for mask, causal in itertools.product(masks(queries, keys), [False, True]):
        if keys == 0:
            wanted = np.zeros((2, 3, queries, out))
        else:
            wanted = formulas.attention(q, k, v, mask, causal, 1 / math.sqrt(size))
        near(nn.scaled_dot_product_attention(q, k, v, mask, is_causal=causal), wanted)


def test_layouts_scales_and_axes_in_front() -> None:
    q, k, v = vectors(4, 5, 3, 2)
    wanted = formulas.attention(q, k, v, None, False, 0.3)
    for a, b, c in zip(*map(laid_out, (q, k, v))):
        near(nn.scaled_dot_product_attention(a, b, c, scale=0.3), wanted)
    for front in ((), (0,), (1,)):
        near(nn.scaled_dot_product_attention(q[front], k[front], v[front], scale=0.3), wanted[front])
    near(nn.scaled_dot_product_attention(q[0, 0], k[0, 0], v[0, 0], scale=0.3), wanted[0, 0])
    near(nn.scaled_dot_product_attention(q, k[:, :1], v[:1, :1]), formulas.attention(q, k[:, :1], v[:1, :1], None, False, 1 / math.sqrt(3)))


def test_heads_that_share_keys() -> None:
    q, (_, k, v) = normal((2, 6, 4, 3), seed=8), vectors(4, 5, 3, 2, (2, 2))
    wanted = formulas.attention(q, np.repeat(k, 3, 1), np.repeat(v, 3, 1), None, False, 1 / math.sqrt(3))
    near(nn.scaled_dot_product_attention(q, k, v, enable_gqa=True), wanted)
    with pytest.raises(ValueError, match="multiple"):
        nn.scaled_dot_product_attention(q[:, :5], k, v, enable_gqa=True)
    with pytest.raises(ValueError, match="shape mismatch"):
        nn.scaled_dot_product_attention(q, k, v)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_dtypes(dtype: np.dtype) -> None:
    q, k, v = vectors(6, 7, 4, 4, dtype=dtype)
    near(nn.scaled_dot_product_attention(q, k, v), formulas.attention(*(x.astype(float) for x in (q, k, v)), None, False, 0.5), dtype)


def test_a_query_that_may_look_at_nothing_gets_nothing() -> None:
    q, k, v = vectors(3, 4, 2, 2, ())
    mask = np.array([[True] * 4, [False] * 4, [True] * 4])
    assert nn.scaled_dot_product_attention(q, k, v, mask)[1].tolist() == [0, 0]
    assert nn.scaled_dot_product_attention(q, k, v, np.where(mask, 0.0, -np.inf))[1].tolist() == [0, 0]


def test_far_scores() -> None:
    q, k, v = vectors(3, 4, 2, 2, ())
    near(nn.scaled_dot_product_attention(q * 1e3, k * 1e3, v), formulas.attention(q * 1e3, k * 1e3, v, None, False, 1 / math.sqrt(2)))


def test_refusals() -> None:
    q, k, v = vectors(3, 4, 2, 2)
    for wrong, says in (
        (lambda: nn.scaled_dot_product_attention(q, k[..., :1], v), "takes"),
        (lambda: nn.scaled_dot_product_attention(q, k, v[..., :3, :]), "takes"),
        (lambda: nn.scaled_dot_product_attention(q[0, 0, 0], k, v), "takes"),
        (lambda: nn.scaled_dot_product_attention(q.astype("f4"), k, v), "one dtype"),
        (lambda: nn.scaled_dot_product_attention(q, k, v, np.ones((4, 3), bool)), "mismatch"),
    ):
        with pytest.raises(ValueError, match=says):
            wrong()
    with pytest.raises(TypeError, match="attn_mask takes floats"):
        nn.scaled_dot_product_attention(q, k, v, np.ones((3, 4), int))


def derivative(function: object, x: np.ndarray) -> np.ndarray:
    """Central differences."""
    found = np.zeros_like(x)
    for at in np.ndindex(x.shape):
        for sign in (1, -1):
            moved = x.copy()
            moved[at] += sign * 1e-6
            found[at] += sign * function(moved) / 2e-6
    return found


@pytest.mark.parametrize("causal", [False, True])
def test_rule(causal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PART", 1)
    q, k, v = vectors(18, 5, 3, 2, (1, 2))
    for mask in (None, np.arange(90).reshape(18, 5) % 4 != 1, normal((18, 5), seed=9)):
        arguments = [q, k, v] + ([] if mask is None else [np.broadcast_to(mask, (1, 2, 18, 5))])
        learned = mask is not None and mask.dtype != bool
        forward, backward = module.attention(causal, 0.7, learned).rule
        found, kept = forward(*map(weft.asarray, arguments))
        given = normal(found.shape, seed=10)
        gradients = backward(kept, weft.asarray(given))
        assert len(gradients) == len(arguments)
        for n, (gradient, argument) in enumerate(zip(gradients, arguments)):
            if argument.dtype == bool:
                assert gradient is None
                continue

            def moved(x: np.ndarray, n: int = n, arguments: list = arguments) -> float:
                each = [*arguments[:n], x, *arguments[n + 1 :]]
                return (formulas.attention(*each[:3], each[3] if len(each) > 3 else None, causal, 0.7) * given).sum()  # noqa: B023

            np.testing.assert_allclose(weft.asnumpy(gradient), derivative(moved, argument), atol=2e-8)


@pytest.mark.parametrize(("queries", "keys", "size", "out"), [(3, 5, 4, 4), (130, 70, 20, 8)])
def test_on_devices_and_captured(device: weft.Device, queries: int, keys: int, size: int, out: int) -> None:
    q, k, v = vectors(queries, keys, size, out, (1, 2), np.float32)
    kinds = masks(queries, keys)
    kinds = [each if each is None or each.dtype == bool else each[-1:].reshape(-1, each.shape[-1]).astype(np.float32) for each in kinds]
    for mask, causal in [(kinds[0], False), (kinds[1], True), (kinds[2], False)]:
        wanted = formulas.attention(*(x.astype(float) for x in (q, k, v)), mask, causal, 1 / math.sqrt(size))
        given = [weft.asarray(each) for each in (q, k, v)] + [None if mask is None else weft.asarray(mask)]
        function = lambda *args, causal=causal: nn.scaled_dot_product_attention(*args, is_causal=causal)  # noqa: E731
        found = function(*given)
        assert found.device == device
        near(found, wanted, np.float32, 2)
    near(weft.compile(function)(*given), wanted, np.float32, 2)


def test_rule_on_devices(device: weft.Device) -> None:
    """What the kernel keeps is what the gradient needs."""
    arrays = vectors(5, 6, 4, 4, (1, 2), np.float32)
    forward, backward = module.attention(True, 0.5, False).rule
    given = normal((1, 2, 5, 4), np.float32, 11)
    found = backward(forward(*map(weft.asarray, arrays))[1], weft.asarray(given))
    with weft.device("cpu"):
        wide = [weft.asarray(each.astype(float)) for each in arrays]
        wanted = backward(forward(*wide)[1], weft.asarray(given.astype(float)))
    for ours, theirs in zip(found, wanted):
        near(ours, weft.asnumpy(theirs), np.float32, 2)

"""Layers with parameters against formulas: linear maps, embeddings, dropout, normalisation; dtypes, layouts, refusals, captures."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from weft import nn

from . import formulas
from .near import FLOATS, laid_out, near, normal


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("shape", [(3,), (1, 3), (5, 3), (2, 4, 3), (0, 3)])
def test_linear(dtype: np.dtype, shape: tuple) -> None:
    x, weight, bias = normal(shape, dtype, 1), normal((2, 3), dtype, 2), normal((2,), dtype, 3)
    product = x.astype(float) @ weight.astype(float).T
    for given in laid_out(x):
        near(nn.linear({"weight": weft.asarray(weight)}, given), product, dtype, 2)
    near(nn.linear({"weight": weight, "bias": bias}, x), product + bias.astype(float), dtype, 2)


def test_linear_refuses() -> None:
    weight = normal((2, 3))
    with pytest.raises(ValueError, match=r"takes \(\.\.\., 3\)"):
        nn.linear({"weight": weight}, normal((4, 2)))
    with pytest.raises(KeyError, match="needs params"):
        nn.linear({}, normal((4, 3)))
    with pytest.raises(KeyError, match="no parameters"):
        nn.linear({"weight": weight, "scale": weight}, normal((4, 3)))
    with pytest.raises(TypeError, match="dict"):
        nn.linear(weight, normal((4, 3)))
    with pytest.raises(TypeError, match="floats"):
        nn.linear({"weight": weight}, weft.asarray([[1, 2, 3]]))


def test_embedding() -> None:
    weight = normal((5, 3), np.float32)
    for kind in (np.int32, np.int64, np.uint8):
        indices = np.array([[0, 4], [2, 2]], kind)
        near(nn.embedding({"weight": weight}, indices), weight[indices], np.float32)
    with pytest.raises(IndexError):
        nn.embedding({"weight": weight}, np.array([5])).tolist()
    with pytest.raises(TypeError, match="integers"):
        nn.embedding({"weight": weight}, normal(3))


def test_one_hot() -> None:
    indices = np.array([[0, 2], [1, 3]])
    for axis in (-1, 0, 1):
        found = nn.one_hot(indices, 3, "int32", axis)
        assert (weft.asnumpy(found) == np.moveaxis(np.eye(4, 3, dtype=int)[indices], -1, axis)).all() and found.dtype == np.int32
    assert nn.one_hot(weft.asarray(1), 3).tolist() == [0, 1, 0]
    assert nn.one_hot(indices, 0).shape == (2, 2, 0)
    with pytest.raises(TypeError, match="integers"):
        nn.one_hot(normal(3), 3)
    with pytest.raises(ValueError, match="num_classes"):
        nn.one_hot(indices, -1)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_dropout(dtype: np.dtype) -> None:
    x = weft.ones((100, 100), dtype=dtype)
    rng = weft.random.default_rng(3)
    found = weft.asnumpy(nn.dropout(rng, x, 0.25)).astype(float)
    assert set(np.unique(found)) == {0.0, float(np.asarray(1 / 0.75).astype(dtype))}
    assert abs((found == 0).mean() - 0.25) < 0.02
    again = nn.dropout(weft.random.default_rng(3), x, 0.25)
    assert (weft.asnumpy(again).astype(float) == found).all()
    assert nn.dropout(rng, x, 0.25, training=False) is x and nn.dropout(rng, x, 0.0) is x
    assert float(nn.dropout(rng, x, 1.0).sum()) == 0
    with pytest.raises(ValueError, match="between 0 and 1"):
        nn.dropout(rng, x, 1.5)


def test_dropout_drops_anew_in_each_call_of_a_captured_function() -> None:
    rng, plain = weft.random.default_rng(5), weft.random.default_rng(5)
    captured = weft.compile(lambda x: nn.dropout(rng, x))
    x = weft.ones(50, dtype="float32")
    first, second = captured(x), captured(x)
    assert (first == nn.dropout(plain, x)).all() and (second == nn.dropout(plain, x)).all() and (first != second).any()


def test_dropout_is_the_same_everywhere(device: weft.Device) -> None:
    found = nn.dropout(weft.random.default_rng(7), weft.ones((5, 6), dtype="float32"))
    assert found.device == device
    with weft.device("cpu"):
        assert (weft.asnumpy(found) == weft.asnumpy(nn.dropout(weft.random.default_rng(7), weft.ones((5, 6), dtype="float32")))).all()


def test_prelu() -> None:
    x = normal((2, 3, 4))
    near(nn.prelu({"weight": np.array([0.25])}, x), np.where(x > 0, x, 0.25 * x))
    slopes = np.array([0.1, 0.2, 0.3])
    near(nn.prelu({"weight": slopes}, x), np.where(x > 0, x, slopes[:, None] * x))
    near(nn.prelu({"weight": slopes}, x[:, :, 0]), np.where(x > 0, x, slopes[:, None] * x)[:, :, 0])
    with pytest.raises(ValueError, match="prelu"):
        nn.prelu({"weight": np.ones(2)}, x)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_layer_and_rms_norm(dtype: np.dtype) -> None:
    x = normal((2, 3, 4), dtype, 1, 3.0)
    wide = x.astype(float)
    for last in ((4,), (3, 4)):
        axes = tuple(range(3 - len(last), 3))
        weight, bias = normal(last, dtype, 2), normal(last, dtype, 3)
        wanted = formulas.normal(wide, axes, 1e-5)
        w, b = weight.astype(float), bias.astype(float)
        for given in laid_out(x):
            near(nn.layer_norm({"weight": weight, "bias": bias}, given), wanted * w + b, dtype)
        near(nn.layer_norm({"weight": weight}, x), wanted * w, dtype)
        near(nn.layer_norm({"bias": bias}, x), wanted + b, dtype)
        root = np.sqrt((wide**2).mean(axis=axes, keepdims=True) + 0.01)
        near(nn.rms_norm({"weight": weight}, x, 0.01), wide / root * w, dtype)
    near(nn.layer_norm({}, x, 0.1), formulas.normal(wide, -1, 0.1), dtype)
    near(nn.rms_norm({}, x), wide / np.sqrt((wide**2).mean(-1, keepdims=True)), dtype)


def test_variance_keeps_its_digits_far_from_zero() -> None:
    x = (normal((3, 100)) + 1e4).astype(np.float32)
    near(nn.layer_norm({}, x), formulas.normal(x.astype(float), -1, 1e-5), np.float32, 100)


def test_group_norm() -> None:
    x, weight, bias = normal((2, 6, 3, 2), seed=4), normal(6, seed=5), normal(6, seed=6)
    for groups in (1, 2, 3, 6):
        wanted = formulas.normal(x.reshape(2, groups, -1), 2, 1e-5).reshape(x.shape)
        near(nn.group_norm({}, x, groups), wanted)
        scaled = wanted * weight[:, None, None] + bias[:, None, None]
        for given in laid_out(x):
            near(nn.group_norm({"weight": weight, "bias": bias}, given, groups), scaled)
    for wrong in (4, 0):
        with pytest.raises(ValueError, match="equal groups"):
            nn.group_norm({}, x, wrong)
    with pytest.raises(ValueError, match="6 channels"):
        nn.group_norm({"weight": np.ones(2)}, x, 2)


@pytest.mark.parametrize("shape", [(5, 3), (4, 3, 6), (2, 3, 4, 5)])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_batch_norm(shape: tuple, dtype: np.dtype) -> None:
    x, weight, bias = normal(shape, dtype, 7, 2.0), normal(3, dtype, 8), normal(3, dtype, 9)
    axes, behind = (0, *range(2, len(shape))), (slice(None), *(None,) * (len(shape) - 2))
    wide, w, b = x.astype(float), weight.astype(float)[behind], bias.astype(float)[behind]
    state = {"running_mean": normal(3, np.float32, 10), "running_var": 1 + normal(3, np.float32, 11) ** 2}
    params = {"weight": weight, "bias": bias}
    found, after = nn.batch_norm(params, state, x, training=True, momentum=0.3)
    near(found, formulas.normal(wide, axes, 1e-5) * w + b, dtype)
    near(after["running_mean"], 0.7 * state["running_mean"] + 0.3 * wide.mean(axes), np.float32)
    near(after["running_var"], 0.7 * state["running_var"] + 0.3 * wide.var(axes, ddof=1), np.float32)
    found, same = nn.batch_norm(params, after, x)
    mean, var = (weft.asnumpy(after[name]).astype(float)[behind] for name in ("running_mean", "running_var"))
    near(found, (wide - mean) / np.sqrt(var + 1e-5) * w + b, dtype)
    assert all((weft.asarray(same[name]) == after[name]).all() for name in after)


def test_norms_refuse() -> None:
    with pytest.raises(ValueError, match="more than 1 value per channel"):
        nn.batch_norm({}, nn.init.batch_norm(3)[1], normal((1, 3)), training=True)
    with pytest.raises(ValueError, match="3 channels"):
        nn.batch_norm({}, nn.init.batch_norm(2)[1], normal((2, 3)))
    with pytest.raises(KeyError, match="running_mean"):
        nn.batch_norm({}, {}, normal((2, 3)))
    with pytest.raises(ValueError, match="last axes"):
        nn.layer_norm({"weight": np.ones(3)}, normal((3, 4)))
    with pytest.raises(ValueError, match="one shape"):
        nn.layer_norm({"weight": np.ones(4), "bias": np.ones((3, 4))}, normal((3, 4)))
    with pytest.raises(ValueError, match="last axes"):
        nn.layer_norm({}, weft.asarray(1.0))


def test_captured_on_devices(device: weft.Device) -> None:
    params = {"weight": weft.asarray(normal((4, 6), np.float32, 1)), "bias": weft.asarray(normal(4, np.float32, 2))}
    norm = {"weight": weft.asarray(normal(4, np.float32, 3)), "bias": weft.asarray(normal(4, np.float32, 4))}
    x = weft.asarray(normal((5, 6), np.float32, 5))

    def network(params: dict, norm: dict, x: weft.ndarray) -> weft.ndarray:
        return nn.gelu(nn.layer_norm(norm, nn.linear(params, x)))

    plain = network(params, norm, x)
    assert plain.device == device
    near(weft.compile(network)(params, norm, x), weft.asnumpy(plain), np.float32)
    host = {name: weft.asnumpy(each).astype(float) for name, each in params.items()}
    y = formulas.normal(weft.asnumpy(x).astype(float) @ host["weight"].T + host["bias"], -1, 1e-5)
    wanted = formulas.ACTIVATIONS["gelu"](y * weft.asnumpy(norm["weight"]) + weft.asnumpy(norm["bias"]))
    near(plain, wanted, np.float32, 2)

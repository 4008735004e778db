"""Initialisers: shapes, bounds, deviations, dtypes, seeds; and parameters that layers take."""

from __future__ import annotations

import math

import numpy as np
import pytest

import weft
from weft import nn
from weft.nn import init

from .near import BFLOAT16, near


def rng(seed: int = 0) -> object:
    return weft.random.default_rng(seed)


DEVIATIONS = {
    "uniform": (lambda shape, dtype: init.uniform(rng(), shape, -1, 3, dtype), 4 / math.sqrt(12)),
    "normal": (lambda shape, dtype: init.normal(rng(), shape, 1, 0.5, dtype), 0.5),
    "xavier_uniform": (lambda shape, dtype: init.xavier_uniform(rng(), shape, 2.0, dtype), 2 * math.sqrt(2 / (50 * 6 + 40 * 6))),
    "xavier_normal": (lambda shape, dtype: init.xavier_normal(rng(), shape, 2.0, dtype), 2 * math.sqrt(2 / (50 * 6 + 40 * 6))),
    "kaiming_uniform": (lambda shape, dtype: init.kaiming_uniform(rng(), shape, dtype=dtype), math.sqrt(2 / (50 * 6))),
    "kaiming_normal": (lambda shape, dtype: init.kaiming_normal(rng(), shape, 1.0, "fan_out", dtype), 1 / math.sqrt(40 * 6)),
    "truncated_normal": (lambda shape, dtype: init.truncated_normal(rng(), shape, dtype=dtype), 0.879625661),
}


@pytest.mark.parametrize("name", DEVIATIONS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, BFLOAT16], ids=str)
def test_deviations(name: str, dtype: object) -> None:
    make, deviation = DEVIATIONS[name]
    found = make((40, 50, 2, 3), dtype)
    assert found.shape == (40, 50, 2, 3) and found.dtype == dtype
    assert abs(weft.asnumpy(found).astype(float).std() / deviation - 1) < 0.03
    assert (make((40, 50, 2, 3), dtype) == found).all()


def test_bounds() -> None:
    assert float(abs(init.xavier_uniform(rng(), (30, 20))).max()) <= math.sqrt(6 / 50)
    assert float(abs(init.kaiming_uniform(rng(), (30, 20))).max()) <= math.sqrt(6 / 20)
    far = init.truncated_normal(rng(), 1000, 5.0, 2.0, 4.0, 4.5, "float64")
    assert float(far.min()) >= 4 and float(far.max()) <= 4.5


@pytest.mark.parametrize("shape", [(4, 4), (3, 7), (7, 3), (4, 2, 3)])
def test_orthogonal(shape: tuple) -> None:
    q = weft.asnumpy(init.orthogonal(rng(), shape, 2.0, "float64")).reshape(shape[0], -1)
    product = q @ q.T if q.shape[0] <= q.shape[1] else q.T @ q
    np.testing.assert_allclose(product, 4 * np.eye(len(product)), atol=1e-12)
    # Of either sign: the diagonal of R decides.
    signs = {bool((weft.asnumpy(init.orthogonal(rng(seed), (2, 2), dtype="float64"))[0, 0]) > 0) for seed in range(12)}
    assert signs == {True, False}


def test_layers_take_their_parameters() -> None:
    x = weft.ones((2, 6, 8), dtype="float32")
    assert nn.linear(init.linear(rng(), 8, 5), x).shape == (2, 6, 5)
    assert sorted(init.linear(rng(), 8, 5, bias=False)) == ["weight"]
    assert nn.conv1d(init.conv1d(rng(), 6, 4, 3, groups=2), x, groups=2).shape == (2, 4, 6)
    assert nn.conv2d(init.conv2d(rng(), 2, 4, (3, 2)), x.reshape(2, 2, 6, 4)).shape == (2, 4, 4, 3)
    assert nn.embedding(init.embedding(rng(), 5, 3), weft.asarray([1, 4])).shape == (2, 3)
    near(nn.layer_norm(init.layer_norm((6, 8)), x), np.zeros((2, 6, 8)), np.float32)
    near(nn.rms_norm(init.rms_norm(8), x), np.ones((2, 6, 8)), np.float32)
    near(nn.group_norm(init.group_norm(6), x, 3), np.zeros((2, 6, 8)), np.float32)
    params, state = init.batch_norm(6)
    near(nn.batch_norm(params, state, x, training=True)[0], np.zeros((2, 6, 8)), np.float32)
    near(nn.prelu(init.prelu(), -x), np.full((2, 6, 8), -0.25), np.float32)
    bound = 1 / math.sqrt(8)
    weight = init.linear(rng(), 8, 100)["weight"]
    assert 0.98 * bound < float(abs(weight).max()) <= bound


def test_on_the_current_device(device: weft.Device) -> None:
    params = init.conv2d(rng(), 2, 3, 3)
    assert all(each.device == device for each in params.values())


@pytest.mark.parametrize("name", [each.name for each in weft.devices() if not each.float64])
def test_on_devices_without_wide_numbers(name: str) -> None:
    for make in (lambda: init.truncated_normal(rng(), (3, 4)), lambda: init.orthogonal(rng(), (3, 4)), lambda: init.normal(rng(), (3, 4))):
        with weft.device(name) as place:
            found = make()
            assert found.device == place
        with weft.device("cpu"):
            near(found, weft.asnumpy(make()), np.float32, 2)


def test_refusals() -> None:
    for wrong, says in (
        (lambda: init.xavier_normal(rng(), (3,)), "two axes"),
        (lambda: init.orthogonal(rng(), 3), "two axes"),
        (lambda: init.kaiming_normal(rng(), (3, 3), mode="fan"), "fan_in"),
        (lambda: init.conv2d(rng(), 3, 4, 3, groups=2), "equal groups"),
        (lambda: init.truncated_normal(rng(), 3, low=1.0, high=1.0), "less than high"),
    ):
        with pytest.raises(ValueError, match=says):
            wrong()
    with pytest.raises(TypeError, match="floats"):
        init.normal(rng(), 3, dtype="int32")

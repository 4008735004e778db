"""Losses against formulas: classes and probabilities, weights, what is ignored, smoothing, reductions, far arguments, refusals."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import weft
from weft import nn

from . import formulas
from .near import FLOATS, near, normal

REDUCTIONS = {"mean": np.mean, "sum": np.sum, "none": lambda x: x}


def differences() -> dict:
    def huber(d: np.ndarray, delta: float = 1.0) -> np.ndarray:
        return np.where(np.abs(d) <= delta, d * d / 2, delta * (np.abs(d) - delta / 2))

    return {
        "mse_loss": [({}, lambda d: d * d)],
        "l1_loss": [({}, np.abs)],
        "huber_loss": [({}, huber), ({"delta": 0.3}, lambda d: huber(d, 0.3))],
        "smooth_l1_loss": [({}, huber), ({"beta": 0.3}, lambda d: huber(d, 0.3) / 0.3), ({"beta": 0}, np.abs)],
    }


@pytest.mark.parametrize("name", differences())
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_of_differences(name: str, dtype: np.dtype) -> None:
    for (keywords, formula), shape, (reduction, reduce) in itertools.product(differences()[name], [(), (1,), (4, 3)], REDUCTIONS.items()):
        x, y = normal(shape, dtype, 1), normal(shape, dtype, 2)
        near(getattr(nn, name)(x, y, reduction=reduction, **keywords), reduce(formula(x.astype(float) - y.astype(float))), dtype)
    with pytest.raises(ValueError, match="not the same"):
        getattr(nn, name)(normal((3, 1)), normal((3,)))
    with pytest.raises(ValueError, match="reduction"):
        getattr(nn, name)(normal(3), normal(3), reduction="average")
    with pytest.raises(TypeError, match="takes floats"):
        getattr(nn, name)(weft.asarray([1]), weft.asarray([1]))


def test_bounds_of_differences() -> None:
    with pytest.raises(ValueError, match="non-positive"):
        nn.huber_loss(normal(3), normal(3), delta=0)
    with pytest.raises(ValueError, match="negative"):
        nn.smooth_l1_loss(normal(3), normal(3), beta=-1)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_cross_entropy_of_classes(reduction: str, dtype: np.dtype) -> None:
    x, target = normal((9, 4), dtype, 3, 2.0), np.random.default_rng(4).integers(0, 4, 9)
    weight = np.array([1.0, 0.25, 2.0, 3.0])
    for weights, ignored, smoothing in itertools.product([None, weight], [-100, 2], [0.0, 0.3]):
        wanted = formulas.cross_entropy(x.astype(float), target, weights, ignored, smoothing, reduction)
        given = None if weights is None else weights.astype(dtype)
        near(nn.cross_entropy(x, target, given, ignored, smoothing, reduction), wanted, dtype)
        if not smoothing:
            logs = nn.log_softmax(x.astype(float))
            near(nn.nll_loss(logs, target, weights, ignored, reduction), wanted, np.float64, 1e3 if dtype.itemsize == 2 else 1)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.int64, np.uint64])
def test_cross_entropy_with_axes_behind(kind: type) -> None:
    x, target = normal((2, 3, 4, 5), seed=5), np.random.default_rng(6).integers(0, 3, (2, 4, 5)).astype(kind)
    rows, flat = np.moveaxis(x, 1, -1).reshape(-1, 3), target.reshape(-1).astype(int)
    near(nn.cross_entropy(x, target, reduction="none"), formulas.cross_entropy(rows, flat, None, -100, 0, "none").reshape(2, 4, 5))
    one = nn.cross_entropy(x[0, :, 0, 0], weft.asarray(target[0, 0, 0]))
    near(one, formulas.cross_entropy(rows[:1], flat[:1], None, -100, 0, "sum"))


def test_cross_entropy_of_probabilities() -> None:
    x, truth, weight = normal((6, 4), seed=7), formulas.softmax(normal((6, 4), seed=8)), np.array([1.0, 2.0, 0.5, 3.0])
    logs = np.log(formulas.softmax(x))
    near(nn.cross_entropy(x, truth), -(truth * logs).sum(1).mean())
    near(nn.cross_entropy(x, truth, weight, reduction="none"), -(truth * weight * logs).sum(1))
    near(nn.cross_entropy(x, truth, label_smoothing=0.2, reduction="sum"), -((0.8 * truth + 0.05) * logs).sum())
    with pytest.raises(ValueError, match="ignore_index"):
        nn.cross_entropy(x, truth, ignore_index=1)


def test_cross_entropy_of_far_scores_and_wrong_classes() -> None:
    near(nn.cross_entropy(np.array([[1e4, 0.0], [0.0, 1e4]]), np.array([1, 1]), reduction="none"), [1e4, 0])
    assert np.isnan(weft.asnumpy(nn.cross_entropy(normal((3, 4)), np.array([0, 4, -1]), reduction="none"))).tolist() == [False, True, True]
    assert np.isnan(float(nn.cross_entropy(normal((3, 4)), np.array([0, 4, 1]))))
    assert np.isnan(float(nn.cross_entropy(normal((2, 4)), np.array([-100, -100]))))
    # A class that does not exist, to be ignored.
    near(nn.cross_entropy(np.zeros((2, 4)), np.array([255, 1]), ignore_index=255), np.log(4))


def test_cross_entropy_refuses() -> None:
    x = normal((3, 4))
    with pytest.raises(ValueError, match="a class for each"):
        nn.cross_entropy(x, np.array([[0], [1], [2]]))
    with pytest.raises(ValueError, match="probabilities of all classes"):
        nn.cross_entropy(x, normal((3,)))
    with pytest.raises(ValueError, match="label_smoothing"):
        nn.cross_entropy(x, np.array([0, 1, 2]), label_smoothing=1.5)
    with pytest.raises(ValueError, match="one number for each of 4 classes"):
        nn.cross_entropy(x, np.array([0, 1, 2]), weight=np.ones(3))
    with pytest.raises(TypeError, match="nll_loss are integers"):
        nn.nll_loss(x, normal(3))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_binary_cross_entropy(dtype: np.dtype) -> None:
    x, y = normal((5, 3), dtype, 9, 3.0), np.random.default_rng(10).random((5, 3)).astype(dtype)
    wide, truth = x.astype(float), y.astype(float)
    p, weight, positive = formulas.sigmoid(wide), np.array([1.0, 2.0, 0.5]), np.array([3.0, 1.0, 0.25])
    each = -(truth * np.log(p) + (1 - truth) * np.log1p(-p))
    near(nn.binary_cross_entropy_with_logits(x, y), each.mean(), dtype)
    near(nn.binary_cross_entropy_with_logits(x, y, weight, reduction="sum"), (each * weight).sum(), dtype, 2)
    each = -(positive * truth * np.log(p) + (1 - truth) * np.log1p(-p))
    near(nn.binary_cross_entropy_with_logits(x, y, pos_weight=positive, reduction="none"), each, dtype)


def test_binary_cross_entropy_at_the_ends() -> None:
    far = np.array([1000.0, -1000.0, 1000.0, -1000.0])
    near(nn.binary_cross_entropy_with_logits(far, np.array([1.0, 0.0, 0.0, 1.0]), reduction="none"), [0, 0, 1000, 1000])
    p, y = np.array([0.0, 1.0, 0.25, 0.25]), np.array([1.0, 1.0, 1.0, 0.0])
    near(nn.binary_cross_entropy(p, y, reduction="none"), [100, 0, np.log(4), -np.log(0.75)])
    near(nn.binary_cross_entropy(p, y, np.array([1.0, 1, 2, 1])), (100 + 2 * np.log(4) - np.log(0.75)) / 4)
    p, y = np.array([0.0, 1.0, 0.0, 1.0, 0.25]), np.array([1.0, 0.0, 0.0, 1.0, 1.0])
    slope, other = weft.grad(lambda p, y: nn.binary_cross_entropy(p, y, reduction="sum"), (0, 1))(p, y)
    near(slope, [-1e12, 1e12, 0, 0, -4])
    near(other, [100, -100, 100, -100, np.log(3)])


def test_divergence() -> None:
    x, y = np.log(formulas.softmax(normal((4, 3), seed=11))), formulas.softmax(normal((4, 3), seed=12))
    y[0] = [1, 0, 0]
    each = np.where(y > 0, y * np.log(np.where(y > 0, y, 1)), 0) - y * x
    for reduction, reduce in REDUCTIONS.items():
        near(nn.kl_div(x, y, reduction), reduce(each))
    near(nn.kl_div(x, y, "batchmean"), each.sum() / 4)
    y[0] = [0.5, 0.25, 0.25]
    near(nn.kl_div(x, np.log(y), "sum", log_target=True), (y * (np.log(y) - x)).sum())
    with pytest.raises(ValueError, match="batchmean"):
        nn.kl_div(weft.asarray(1.0), weft.asarray(1.0), "batchmean")


def test_on_devices_and_captured(device: weft.Device) -> None:
    x, target = normal((6, 5), np.float32, 13), np.array([0, 4, 2, 2, 1, 3], np.int32)
    wanted = formulas.cross_entropy(x.astype(float), target, None, 2, 0.1, "mean")
    loss = lambda x, target: nn.cross_entropy(x, target, ignore_index=2, label_smoothing=0.1)  # noqa: E731
    given = weft.asarray(x), weft.asarray(target)
    near(loss(*given), wanted, np.float32)
    near(weft.compile(loss)(*given), wanted, np.float32)

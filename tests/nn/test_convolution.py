"""Convolutions against sums window by window: strides, borders, dilation, groups, layouts, dtypes, parts; and their rules for gradients,
which are those of a linear function of each argument."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import weft
from weft import nn
from weft.nn import convolution as module
from weft.nn._windows import Windows

from . import formulas
from .near import FLOATS, laid_out, near, normal


def wanted(x: np.ndarray, weight: np.ndarray, stride: object, padding: object, dilation: object, groups: int = 1) -> np.ndarray:
    rank = weight.ndim - 2
    each = [n if isinstance(n, tuple) else (n,) * rank for n in (stride, padding, dilation)]
    return formulas.convolution(x, weight, each[0], tuple((p, p) for p in each[1]), each[2], groups)


@pytest.mark.parametrize(("stride", "padding", "dilation"), [*itertools.product([1, 2, (2, 1)], [0, 2, (0, 1)], [1, 2, (1, 3)])])
def test_two_axes(stride: object, padding: object, dilation: object) -> None:
    x, weight, bias = normal((2, 3, 9, 8), seed=1), normal((4, 3, 3, 2), seed=2), normal(4, seed=3)
    found = wanted(x, weight, stride, padding, dilation)
    for given in laid_out(x):
        near(nn.conv2d({"weight": weight}, given, stride, padding, dilation), found)
    near(nn.conv2d({"weight": weight, "bias": bias}, x, stride, padding, dilation), found + bias[:, None, None])


@pytest.mark.parametrize(("stride", "padding", "dilation", "size"), [*itertools.product([1, 2, 3], [0, 1, 3], [1, 2], [1, 2, 3])])
def test_one_axis(stride: int, padding: int, dilation: int, size: int) -> None:
    x, weight = normal((2, 4, 10), seed=4), normal((3, 4, size), seed=5)
    near(nn.conv1d({"weight": weight, "bias": np.ones(3)}, x, stride, padding, dilation), wanted(x, weight, stride, padding, dilation) + 1)


@pytest.mark.parametrize(("groups", "outs"), [(1, 6), (2, 2), (2, 4), (3, 6), (6, 6), (6, 12)])
@pytest.mark.parametrize("size", [(1, 1), (2, 3), (8, 7)])
def test_groups(groups: int, outs: int, size: tuple) -> None:
    x, weight = normal((2, 6, 8, 7), seed=6), normal((outs, 6 // groups, *size), seed=7)
    near(nn.conv2d({"weight": weight}, x, groups=groups), wanted(x, weight, 1, 0, 1, groups))
    near(nn.conv2d({"weight": weight}, x, 2, 1, groups=groups), wanted(x, weight, 2, 1, 1, groups))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_dtypes(dtype: np.dtype) -> None:
    for groups in (1, 4):
        x, weight = normal((2, 4, 6, 6), dtype, 8), normal((4, 4 // groups, 3, 3), dtype, 9)
        near(
            nn.conv2d({"weight": weight}, x, padding=1, groups=groups),
            wanted(x.astype(float), weight.astype(float), 1, 1, 1, groups),
            dtype,
        )


def test_padding_by_name() -> None:
    for size, dilation in itertools.product([(1, 1), (2, 3), (4, 5)], [1, 2]):
        x, weight = normal((2, 3, 12, 11), seed=10), normal((2, 3, *size), seed=11)
        both = [dilation * (n - 1) for n in size]
        border = tuple((n // 2, n - n // 2) for n in both)
        found = formulas.convolution(x, weight, (1, 1), border, (dilation, dilation))
        assert found.shape[2:] == (12, 11)
        near(nn.conv2d({"weight": weight}, x, padding="same", dilation=dilation), found)
        near(nn.conv2d({"weight": weight}, x, padding="valid", dilation=dilation), wanted(x, weight, 1, 0, dilation))


def test_without_a_batch_and_without_examples() -> None:
    x, weight = normal((3, 6, 5), seed=12), normal((2, 3, 2, 2), seed=13)
    near(nn.conv2d({"weight": weight}, x), wanted(x[None], weight, 1, 0, 1)[0])
    near(nn.conv1d({"weight": weight[..., 0]}, x[..., 0]), wanted(x[None, ..., 0], weight[..., 0], 1, 0, 1)[0])
    assert nn.conv2d({"weight": weight}, np.zeros((0, 3, 6, 5))).shape == (0, 2, 5, 4)


def test_parts_of_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    x, weight = normal((5, 3, 8, 8), seed=14), normal((4, 3, 3, 3), seed=15)
    whole = nn.conv2d({"weight": weight}, x, padding=1)
    monkeypatch.setattr(module, "_PART", 2 * 27 * 64 * 8)
    near(nn.conv2d({"weight": weight}, x, padding=1), weft.asnumpy(whole))
    check_rule(Windows((3, 3), (1, 1), (1, 1), (1, 1), (1, 1)), 1, x, weight)


def check_rule(windows: Windows, groups: int, x: np.ndarray, weight: np.ndarray) -> None:
    """<y(x, w), g> is <x, gradient of x> and <w, gradient of w>."""
    forward, backward = module.convolved(windows, groups).rule
    found, kept = forward(weft.asarray(x), weft.asarray(weight))
    given = normal(found.shape, seed=16)
    of_x, of_weight = backward(kept, weft.asarray(given))
    product = (weft.asnumpy(found) * given).sum()
    # y is linear in each: its derivative in any direction is y of the direction.
    for direction, gradient, arguments in (
        (normal(x.shape, seed=17), of_x, lambda d: (d, weight)),
        (normal(weight.shape, seed=18), of_weight, lambda d: (x, d)),
    ):
        moved = forward(*map(weft.asarray, arguments(direction)))[0]
        assert gradient.shape == direction.shape
        np.testing.assert_allclose((weft.asnumpy(gradient) * direction).sum(), (weft.asnumpy(moved) * given).sum(), rtol=1e-10)
    np.testing.assert_allclose((weft.asnumpy(of_x) * x).sum(), product, rtol=1e-10)


@pytest.mark.parametrize(("stride", "border", "dilation"), [*itertools.product([(1, 1), (2, 3)], [(0, 0), (1, 2)], [(1, 1), (2, 1)])])
def test_rules(stride: tuple, border: tuple, dilation: tuple) -> None:
    for groups, size in itertools.product((1, 2, 4), ((1, 1), (3, 2))):
        weight = normal((4, 4 // groups, *size), seed=19)
        check_rule(Windows(size, stride, dilation, border, border[::-1]), groups, normal((2, 4, 9, 8), seed=20), weight)


def test_refusals() -> None:
    x, params = normal((2, 3, 6, 5)), {"weight": normal((4, 3, 3, 3))}
    for wrong, says in (
        (lambda: nn.conv2d(params, x, padding="full"), "'same', 'valid' or numbers"),
        (lambda: nn.conv2d(params, x, 2, "same"), "strided"),
        (lambda: nn.conv2d(params, x, 0), "stride is at least 1"),
        (lambda: nn.conv2d(params, x, (1, 1, 1)), "3 numbers for 2 axes"),
        (lambda: nn.conv2d(params, x, padding=-1), "padding is at least 0"),
        (lambda: nn.conv2d(params, x, dilation=3), "longer than"),
        (lambda: nn.conv2d(params, x, groups=3), "equal groups"),
        (lambda: nn.conv2d(params, x, groups=2), "takes 6 channels"),
        (lambda: nn.conv2d(params, x[:, :2]), "takes 3 channels, not 2"),
        (lambda: nn.conv1d(params, x), "3 axes"),
        (lambda: nn.conv2d(params | {"bias": np.ones(3)}, x), "bias"),
    ):
        with pytest.raises(ValueError, match=says):
            wrong()
    with pytest.raises(TypeError, match="floats"):
        nn.conv2d(params, x.astype(int))


def test_captured_on_devices(device: weft.Device) -> None:
    for groups in (1, 2):
        x, weight = normal((2, 2, 6, 5), np.float32, 21), normal((4, 2 // groups, 3, 3), np.float32, 22)
        function = lambda w, x, groups=groups: nn.conv2d({"weight": w}, x, 2, 1, groups=groups)  # noqa: E731
        found = wanted(x.astype(float), weight.astype(float), 2, 1, 1, groups)
        near(function(weft.asarray(weight), weft.asarray(x)), found, np.float32)
        near(weft.compile(function)(weft.asarray(weight), weft.asarray(x)), found, np.float32)

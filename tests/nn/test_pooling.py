"""Pools against windows taken one by one: sizes, strides, borders, dilation, `ceil_mode`, what counts, dtypes; and their rules."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import weft
from weft import nn
from weft.nn import pooling as module
from weft.nn._windows import Windows

from . import formulas
from .near import BFLOAT16, FLOATS, laid_out, near, normal


def pair(n: object) -> tuple:
    return n if isinstance(n, tuple) else (n, n)


# Size, stride and border; the last two have windows that are taken along one axis after the other.
WINDOWS = [
    (1, None, 0),
    (2, None, 0),
    (2, 1, 1),
    (3, 2, 1),
    ((2, 3), (2, 1), (1, 0)),
    ((1, 4), None, (0, 2)),
    (5, 2, 2),
    ((6, 3), 3, (3, 1)),
]


@pytest.mark.parametrize(("size", "stride", "padding"), WINDOWS)
@pytest.mark.parametrize("ceil_mode", [False, True])
def test_two_axes(size: object, stride: object, padding: object, ceil_mode: bool) -> None:
    x = normal((2, 3, 9, 8), seed=1)
    shape = pair(size), pair(stride or size), pair(padding)
    for dilation in (1, (1, 2)):
        if dilation != 1 and pair(size)[1] * 2 > 9:
            continue
        wanted = formulas.pool(x, lambda window, _: window.max(), *shape, pair(dilation), ceil_mode)
        for given in laid_out(x):
            near(nn.max_pool2d(given, size, stride, padding, dilation, ceil_mode), wanted)
    for with_border, divisor in itertools.product([True, False], [None, 3]):
        take = lambda window, n: window.sum() / (divisor or (n if with_border else len(window)))  # noqa: B023, E731
        wanted = formulas.pool(x, take, *shape, (1, 1), ceil_mode)
        near(nn.avg_pool2d(x, size, stride, padding, ceil_mode, with_border, divisor), wanted)


@pytest.mark.parametrize(("size", "stride", "padding"), [(1, None, 0), (2, None, 1), (3, 1, 1), (3, 2, 0), (17, 3, 8), (20, 1, 0)])
@pytest.mark.parametrize("ceil_mode", [False, True])
def test_one_axis(size: int, stride: int | None, padding: int, ceil_mode: bool) -> None:
    x = normal((2, 3, 20), seed=2)
    shape = (size,), (stride or size,), (padding,), (1,), ceil_mode
    near(nn.max_pool1d(x, size, stride, padding, 1, ceil_mode), formulas.pool(x, lambda window, _: window.max(), *shape))
    near(nn.avg_pool1d(x[0], size, stride, padding, ceil_mode), formulas.pool(x[0], lambda window, n: window.sum() / n, *shape))
    near(nn.avg_pool1d(x, size, stride, padding, ceil_mode, False), formulas.pool(x, lambda window, _: window.mean(), *shape))


@pytest.mark.parametrize("dtype", [*FLOATS, np.int8, np.uint8, np.int32, np.int64], ids=str)
def test_dtypes(dtype: object) -> None:
    x = np.random.default_rng(3).integers(0, 100, (2, 6, 6)).astype(dtype)
    wanted = formulas.pool(x.astype(float), lambda window, _: window.max(), (3, 3), (2, 2), (1, 1), (1, 1), False)
    found = nn.max_pool2d(x, 3, 2, 1)
    assert found.dtype == x.dtype and (weft.asnumpy(found).astype(float) == wanted).all()
    if np.dtype(dtype).kind == "f" or dtype == BFLOAT16:
        wanted = formulas.pool(x.astype(float), lambda window, n: window.sum() / n, (3, 3), (2, 2), (1, 1), (1, 1), False)
        near(nn.avg_pool2d(x, 3, 2, 1), wanted, dtype)
    else:
        with pytest.raises(TypeError, match="floats"):
            nn.avg_pool2d(x, 3)


def test_nan_is_the_largest_and_infinities_are_less_than_the_border() -> None:
    x = np.array([[[1, np.nan, 3, 4], [5, 6, 7, -np.inf]]]).reshape(1, 1, 8)
    assert np.isnan(weft.asnumpy(nn.max_pool1d(x, 2))).tolist() == [[[True, False, False, False]]]
    assert nn.max_pool1d(np.full((1, 1, 4), -np.inf), 2, 2, 1).tolist() == [[[-np.inf] * 3]]
    assert nn.max_pool1d(np.full((1, 1, 4), -128, np.int8), 2, 2, 1).tolist() == [[[-128] * 3]]


def test_refusals() -> None:
    x = normal((2, 3, 6, 5))
    for wrong, says in (
        (lambda: nn.max_pool2d(x, 2, padding=2), "half"),
        (lambda: nn.max_pool2d(x, 7), "longer than"),
        (lambda: nn.max_pool2d(x, 3, 2, dilation=4, ceil_mode=True), "by a stride or more"),
        (lambda: nn.avg_pool1d(x[0], 7, 2, ceil_mode=True), "by a stride or more"),
        (lambda: nn.max_pool2d(x, 0), "kernel_size"),
        (lambda: nn.max_pool2d(x, 2, 0), "stride"),
        (lambda: nn.max_pool2d(x[0, 0], 2), "one example"),
        (lambda: nn.avg_pool2d(x, 2, divisor_override=0), "divisor"),
    ):
        with pytest.raises(ValueError, match=says):
            wrong()
    # A window that reaches over the end by less is one.
    assert nn.avg_pool1d(x[0], 6, 2, ceil_mode=True).shape == (3, 6, 1)
    with pytest.raises(TypeError, match="real"):
        nn.max_pool2d(x.astype(complex), 2)


def windows() -> list[Windows]:
    found = []
    for size, stride, padding in [(2, 2, 0), (3, 2, 1), ((2, 3), (1, 2), (1, 0)), (1, 2, 0), (2, 3, 1)]:
        found.append(Windows(pair(size), pair(stride), (1, 1), pair(padding), pair(padding)))
    return [*found, Windows((2, 2), (1, 1), (2, 3), (1, 1), (1, 2))]


@pytest.mark.parametrize("part", windows(), ids=str)
def test_rules(part: Windows) -> None:
    """The gradient of a maximum goes to the first of the largest elements, that of a sum to all."""
    x = np.random.default_rng(4).integers(0, 3, (2, 2, 7, 6)).astype(float)
    given = None
    for which in (module.largest, module.summed):
        forward, backward = which(part).rule
        found, kept = forward(weft.asarray(x))
        given = normal(found.shape, seed=5)
        (gradient,) = backward(kept, weft.asarray(given))
        near(gradient, _back(x, part, given, which is module.largest))


def _back(x: np.ndarray, part: Windows, given: np.ndarray, only_first: bool) -> np.ndarray:
    made = np.zeros_like(x)
    for at in np.ndindex(given.shape):
        places = []
        for place in itertools.product(*map(range, part.size)):
            i, j = (a * s + p * d - low for a, s, p, d, low in zip(at[2:], part.stride, place, part.dilation, part.before))
            if 0 <= i < x.shape[2] and 0 <= j < x.shape[3]:
                places.append((at[0], at[1], i, j))
        if only_first:
            largest = max((x[place] for place in places), default=math.nan)
            places = [place for place in places if x[place] == largest][:1]
        for place in places:
            made[place] += given[at]
    return made


def test_captured_on_devices(device: weft.Device) -> None:
    x = normal((2, 2, 6, 5), np.float32, 6)

    def pools(x: weft.ndarray) -> tuple[weft.ndarray, weft.ndarray]:
        return nn.max_pool2d(x, 3, 2, 1), nn.avg_pool2d(x, 2)

    wanted = [
        formulas.pool(x.astype(float), lambda window, _: window.max(), (3, 3), (2, 2), (1, 1), (1, 1), False),
        formulas.pool(x.astype(float), lambda window, _: window.mean(), (2, 2), (2, 2), (0, 0), (1, 1), False),
    ]
    for function in (pools, weft.compile(pools)):
        for found, numbers in zip(function(weft.asarray(x)), wanted):
            near(found, numbers, np.float32)

"""Gradients of functions that are computed at once, on every kind of device: those of the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.arrays.on_devices import on_gpus

import weft

_X = np.array([[0.5, -1.25, 0.75, 2.0], [1.5, 0.25, -0.5, -2.5], [-0.75, 1.0, 3.0, -1.5]])


def _places(*numbers: int) -> Any:
    return weft.asarray(np.array(numbers, np.int32))


def _written(x: Any) -> Any:
    made = x * 2
    made[_places(0, 2, 2)] = x * x
    made[weft.asarray(np.array([[True, False, False, True]] * 3))] = 3.0
    return made


_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "subscript": lambda x: x[_places(2, 0, 2), _places(1, 1, 1)] * x[_places(0, 1, 0), 0],
    "mask": lambda x: x[x > 0] ** 2,
    "written": _written,
    "take": lambda x: weft.take(x, [3, 0, 3], axis=1) ** 2,
    "take_along_axis": lambda x: weft.take_along_axis(x, weft.argsort(x, axis=0), 0) ** 2,
    "sort": lambda x: weft.sort(x, axis=1) * weft.asarray(np.arange(4, dtype=np.float32)).astype(x.dtype),
    "topk": lambda x: weft.topk(x, 2)[0] ** 2,
    "cumsum": lambda x: weft.cumsum(x * x, axis=1),
    "cumprod": lambda x: weft.cumprod(x, axis=1),
    "solve": lambda x: weft.linalg.solve(x[:, :3] + 4 * weft.eye(3, dtype=x.dtype), x[:, 3:]),
    "fft": lambda x: weft.abs(weft.fft.rfft(x, axis=1)),
    "median": lambda x: weft.median(x, axis=1),
}


_WIDE = ("median", "sort", "take_along_axis", "topk")


@on_gpus
@pytest.mark.parametrize("name", _FUNCTIONS)
def test_gradients(device: weft.Device, name: str) -> None:
    if name in _WIDE and not device.float64:
        pytest.skip("indices that sort are int64, places between elements float64")
    dtype = np.float64 if device.float64 else np.float32
    x = _X.astype(dtype)

    def loss(x: Any) -> Any:
        return (_FUNCTIONS[name](x) ** 2).sum()

    found = weft.grad(loss)(weft.asarray(x))
    assert found.device == device
    with weft.device("cpu"):
        wanted = np.asarray(weft.grad(loss)(weft.asarray(x)))
    np.testing.assert_allclose(weft.asnumpy(found), wanted, rtol=1e-10 if device.float64 else 1e-3, atol=1e-4 if dtype == np.float32 else 0)

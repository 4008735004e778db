"""Gradients of functions that are computed at once inside of graphs that `weft.compile` captures: those outside of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft

_GENERATOR = np.random.default_rng(0)
_X = _GENERATOR.uniform(0.3, 1.5, (4, 4)) * _GENERATOR.choice([-1.0, 1.0], (4, 4))
_I = np.array([0, 2, 2])


def _written(x: Any) -> Any:
    made = x * 2
    made[weft.asarray(_I)] = x[:3] * x[1:]
    weft.add.at(made, weft.asarray(_I), x[:3])
    return made


_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "rows": lambda x: x[weft.asarray(_I)],
    "elements": lambda x: x[weft.asarray(_I), weft.asarray(_I)],
    "columns": lambda x: x[:, weft.asarray(_I)],
    "written": _written,
    "sort": lambda x: weft.sort(x, axis=0),
    "topk": lambda x: weft.topk(x, 2)[0],
    "cumsum": weft.cumsum,
    "cumprod": lambda x: weft.cumprod(x, axis=1),
    "quantile": lambda x: weft.quantile(x, 0.3, axis=1),
    "cov": weft.cov,
    "interp": lambda x: weft.interp(x, weft.asarray([-2.0, 0.1, 2.0]), weft.asarray([1.0, 2.0, 5.0])),
    "convolve": lambda x: weft.convolve(x[0], x[1]),
    "det": lambda x: weft.linalg.det(x),
    "solve": lambda x: weft.linalg.solve(x + 4 * weft.eye(4), x[:, 0]),
    "svd": lambda x: weft.linalg.svd(x)[1],
    "pinv": lambda x: weft.linalg.pinv(x),
    "rfft": lambda x: weft.abs(weft.fft.rfft(x)),
    "erf": lambda x: weft.scipy.special.erf(x),
}


@pytest.mark.parametrize("name", _FUNCTIONS)
def test_gradients(name: str) -> None:
    gradient = weft.grad(lambda x: (_FUNCTIONS[name](x) ** 2).sum())
    captured = weft.compile(gradient)
    for factor in (1.0, 1.1, 1.2):
        x = weft.asarray(_X * factor)
        np.testing.assert_allclose(np.asarray(captured(x)), np.asarray(gradient(x)), rtol=1e-12, atol=1e-12)

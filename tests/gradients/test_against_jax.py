"""Gradients beside JAX's, where it is installed: where functions have corners and matrices degenerate values, and of the table's cases.

JAX compiles each of these for itself: a few stand for all of them, which are run with `WEFT_TESTS_JAX=all` in the environment.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from tests.gradients import table, table_linalg
from tests.gradients.cases import Case

import weft

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)
jnp = jax.numpy

_ALL = {**table.RIGHT, **table_linalg.LINALG, **table_linalg.FFT}
if os.environ.get("WEFT_TESTS_JAX") != "all":
    _ALL = {name: _ALL[name][:1] for name in ("absolute", "cumprod", "interp", "irfft", "solve")}
_CASES = [pytest.param(name, case, id=f"{name}-{at}") for name, cases in _ALL.items() for at, case in enumerate(cases) if case.jax]
_PREFIX = {**dict.fromkeys(table_linalg.LINALG, "linalg"), **dict.fromkeys(table_linalg.FFT, "fft"), **dict.fromkeys(table.RIGHT, "weft")}


def _results(given: Any) -> list[Any]:
    if isinstance(given, (tuple, list)):
        return [each for part in given for each in _results(part)]
    return [given] if given.dtype.kind in "fc" else []


def _cotangents(m: Any, vjp: Any, f: Any, arrays: list[np.ndarray]) -> list[np.ndarray]:
    values, back = vjp(lambda *arrays: tuple(_results(f(m, *arrays))), *(m.asarray(x) for x in arrays))
    generator = np.random.default_rng(3)
    weights = []
    for y in values:
        step = generator.uniform(-1, 1, y.shape)
        weights.append(m.asarray((step + 0.5j * step[::-1] if y.ndim and y.dtype.kind == "c" else step).astype(y.dtype)))
    return [np.asarray(each) for each in back(tuple(weights))]


@pytest.mark.parametrize(("name", "case"), _CASES)
def test_cases(name: str, case: Case) -> None:
    for dtype in (np.float64, np.complex128) if case.c else (np.float64,):
        arrays = case.arrays(f"{_PREFIX[name]}.{name}", dtype)
        found, wanted = _cotangents(weft, weft.vjp, case.f, arrays), _cotangents(jnp, jax.vjp, case.f, arrays)
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9 * max(1, np.abs(b).max(initial=0)))


_EQUAL = np.array([1.0, 2.0, 2.0, -1.0])
_ZEROS = np.array([0.0, 1.0, 0.0, -0.0])
_CLIPPED = np.repeat([0.0, 1.0, 0.5, -1.0], 3)
# Two are not as in JAX: the derivative of |x| at 0 is 0 here (there 1), and that of x ** 0 is 0 at 0 (there NaN).
_CORNERS: dict[str, tuple[Any, ...]] = {
    "max of equal ones": (lambda m, x: m.max(x), _EQUAL),
    "min of equal ones": (lambda m, x: m.min(-x), _EQUAL),
    "maximum of equal ones": (lambda m, x, y: m.maximum(x, y), _EQUAL, _EQUAL),
    "minimum of equal ones": (lambda m, x, y: m.minimum(x, y), _EQUAL, _EQUAL),
    "absolute of complex zero": (lambda m, x: m.abs(x), _ZEROS + 0j),
    "sign of zero": (lambda m, x: m.sign(x), _ZEROS),
    "sqrt of zero": (lambda m, x: m.sqrt(x), np.array([0.0, 4.0])),
    "norm of zero": (lambda m, x: m.linalg.norm(x), np.zeros(3)),
    "power of zero": (lambda m, x: x**2, _ZEROS),
    "power of zero to a number": (lambda m, x: m.power(x, m.asarray([1.0, 2.0, 3.0])), np.zeros(3)),
    "prod with zeros": (lambda m, x: m.prod(x), _ZEROS),
    "prod with one zero": (lambda m, x: m.prod(x), np.array([0.0, 2.0, 3.0])),
    "cumprod with zeros": (lambda m, x: m.cumprod(x), np.array([2.0, 0.0, 3.0, 0.0, 4.0])),
    "sort of equal ones": (lambda m, x: m.sort(x) * m.arange(4.0), _EQUAL),
    "median of equal ones": (lambda m, x: m.median(x), np.array([1.0, 2.0, 3.0, 9.0])),
    "where of what is no number": (lambda m, x: m.where(x > 0, x, 2.0), _ZEROS),
    "sinc of zero": (lambda m, x: m.sinc(x), np.array([0.0, 0.5])),
    "logaddexp of infinities": (lambda m, x, y: m.logaddexp(x, y), np.array([-np.inf, 1.0]), np.array([0.0, -np.inf])),
    "logaddexp of NaN": (lambda m, x, y: m.logaddexp(x, y), np.array([np.nan, 1.0]), np.array([0.0, np.nan])),
    "mod": (lambda m, x, y: m.remainder(x, y), np.array([5.5, -5.5]), np.array([2.0, 2.0])),
    "svd of equal values": (lambda m, x: m.linalg.svd(x, full_matrices=False)[1], np.eye(3)),
    "eigvalsh of equal values": (lambda m, x: m.linalg.eigvalsh(x), np.eye(3) * 2),
    "det of a singular matrix": (lambda m, x: m.linalg.det(x), np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]])),
    "det of zeros": (lambda m, x: m.linalg.det(x), np.zeros((2, 2))),
    "pinv of equal values": (lambda m, x: m.linalg.pinv(x), np.eye(3) * 2),
    "clip at its ends": (lambda m, x: m.clip(x, 0.0, 1.0), np.array([-1.0, 0.0, 0.5, 1.0, 2.0, np.nan])),
    "clip from below": (lambda m, x: m.clip(x, 0.0, None), np.array([-1.0, -0.0, 0.0, 1.0])),
    "clip by arrays at its ends": (lambda m, x, y, z: m.clip(x, y, z), _CLIPPED, np.tile([0.0, 1.0, 1.0], 4), np.tile([1.0, 1.0, 0.0], 4)),
    "take of one element twice": (lambda m, x: x[m.asarray([1, 1, 0])], _EQUAL),
    "hypot of zeros": (lambda m, x, y: m.hypot(x, y), np.array([3.0]), np.array([4.0])),
    "std of equal ones": (lambda m, x: m.std(x), np.array([1.0, 2.0])),
    "nanmean": (lambda m, x: m.nanmean(x), np.array([1.0, np.nan, 3.0])),
    "nansum": (lambda m, x: m.nansum(x), np.array([1.0, np.nan, 3.0])),
    "nanvar": (lambda m, x: m.nanvar(x), np.array([1.0, np.nan, 3.0])),
    "nanmax": (lambda m, x: m.nanmax(x), np.array([1.0, np.nan, 3.0])),
}


@pytest.mark.parametrize("name", _CORNERS)
def test_corners(name: str) -> None:
    f, *arrays = _CORNERS[name]
    found, wanted = _cotangents(weft, weft.vjp, f, arrays), _cotangents(jnp, jax.vjp, f, arrays)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)

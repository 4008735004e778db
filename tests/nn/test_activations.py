"""Activations, softmax and its like, against formulas in double precision: all floats, odd shapes, far arguments, layouts, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from weft import nn

from . import formulas
from .near import FLOATS, laid_out, near, normal

SHAPES = [(), (0,), (1,), (7,), (2, 0, 3), (3, 1, 4)]
FAR = np.array([0.0, -0.0, 1e-3, -1e-3, 1, -1, 3, -3, 6, -6, 11, -11, 40, -40, 80, -80, 200, -200, 1000, -1000])


@pytest.mark.parametrize("name", formulas.ACTIVATIONS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_of_elements(name: str, dtype: np.dtype) -> None:
    function, formula = getattr(nn, name), formulas.ACTIVATIONS[name]
    for shape in SHAPES:
        x = normal(shape, dtype, 1, 3.0)
        for given in laid_out(x):
            near(function(given), formula(x.astype(np.float64)), dtype)


@pytest.mark.parametrize("name", formulas.ACTIVATIONS)
@pytest.mark.parametrize("dtype", FLOATS[:2], ids=str)
def test_digits_of_far_arguments(name: str, dtype: np.dtype) -> None:
    """Each element is right relative to itself, also where it is near 0."""
    found = weft.asnumpy(getattr(nn, name)(weft.asarray(FAR.astype(dtype)))).astype(float)
    wanted = formulas.ACTIVATIONS[name](FAR.astype(dtype).astype(float))
    tiny = 1e-306 if dtype == np.float64 else 1e-36
    # Rounding of the argument of an exponential is a relative error of the result, as large as the argument.
    np.testing.assert_allclose(found, wanted, rtol=1e-13 if dtype == np.float64 else 1e-5, atol=tiny)


@pytest.mark.parametrize("name", formulas.ACTIVATIONS)
def test_nan_stays(name: str) -> None:
    assert np.isnan(weft.asnumpy(getattr(nn, name)(weft.asarray([np.nan], dtype="float32")))).all()


def test_tanh_form_of_gelu() -> None:
    x = np.linspace(-12, 6, 50)
    wanted = 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    near(nn.gelu(x, approximate="tanh"), wanted)
    # e^-172 instead of the 0 that 1 + tanh has there.
    assert 0 < -float(nn.gelu(weft.asarray(-12.0), "tanh")) < 1e-50
    with pytest.raises(ValueError, match="approximate"):
        nn.gelu(x, "fast")


def test_parameters() -> None:
    x = normal((50,), seed=2, scale=3.0)
    near(nn.leaky_relu(x, 0.3), np.where(x > 0, x, 0.3 * x))
    near(nn.elu(x, 0.7), formulas.elu(x, 0.7))
    near(nn.celu(x, 0.7), np.where(x > 0, x, 0.7 * np.expm1(np.minimum(x, 0) / 0.7)))
    near(nn.softplus(x, 3.0), formulas.softplus(x, 3.0))
    near(nn.hard_tanh(x, -0.5, 2.0), np.clip(x, -0.5, 2.0))
    with pytest.raises(ValueError, match="alpha"):
        nn.celu(x, 0)
    with pytest.raises(ValueError, match="beta"):
        nn.softplus(x, 0)
    with pytest.raises(ValueError, match="less than max_val"):
        nn.hard_tanh(x, 1.0, 1.0)


def test_relu_takes_integers_and_others_do_not() -> None:
    assert nn.relu(weft.asarray([-1, 0, 5])).tolist() == [0, 0, 5]
    assert nn.relu(weft.asarray([-1, 5], dtype="int8")).dtype == np.int8
    for name in set(formulas.ACTIVATIONS) - {"relu"} | {"softmax", "log_softmax", "logsumexp", "softmin", "glu"}:
        with pytest.raises(TypeError, match=f"{name} takes floats, not int64"):
            getattr(nn, name)(weft.asarray([1, 2]))


def test_glu() -> None:
    x = normal((3, 4, 6), seed=3)
    near(nn.glu(x), x[..., :3] * formulas.sigmoid(x[..., 3:]))
    near(nn.glu(x, 1), x[:, :2] * formulas.sigmoid(x[:, 2:]))
    with pytest.raises(ValueError, match="axis 0 has 3"):
        nn.glu(x, 0)


@pytest.mark.parametrize("axis", [-1, 0, 1, (0, 2), None])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_along_axes(axis: object, dtype: np.dtype) -> None:
    x = normal((3, 4, 5), dtype, 4, 4.0)
    wide = x.astype(float)
    for given in laid_out(x):
        near(nn.softmax(given, axis), formulas.softmax(wide, axis), dtype)
        near(nn.softmin(given, axis), formulas.softmax(-wide, axis), dtype)
        near(nn.log_softmax(given, axis), np.log(formulas.softmax(wide, axis)), dtype)
        near(nn.logsumexp(given, axis), formulas.logsumexp(wide, axis), dtype)
        near(nn.logsumexp(given, axis, True), formulas.logsumexp(wide, axis, True), dtype)


def test_softmax_of_large_numbers_and_of_nothing() -> None:
    big = np.array([[1e4, 1e4 - 1], [-np.inf, 0.0]])
    near(nn.softmax(big), [[1 / (1 + np.exp(-1)), 1 / (1 + np.e)], [0, 1]])
    assert weft.asnumpy(nn.log_softmax(big))[1].tolist() == [-np.inf, 0]
    assert np.isnan(weft.asnumpy(nn.softmax(np.full(3, -np.inf)))).all()
    assert nn.logsumexp(np.full((2, 3), -np.inf), 1).tolist() == [-np.inf, -np.inf]
    assert nn.logsumexp(np.array([np.inf, 1.0])).tolist() == np.inf
    assert nn.logsumexp(np.zeros((2, 0)), 1).tolist() == [-np.inf, -np.inf]
    for function in (nn.softmax, nn.log_softmax):
        assert function(np.zeros((0, 3))).shape == (0, 3)
        assert function(np.zeros((3, 0))).shape == (3, 0)
        assert float(function(weft.asarray(3.0), None)) == (1.0 if function is nn.softmax else 0.0)
    with pytest.raises(np.exceptions.AxisError):
        nn.softmax(big, 2)


def test_on_devices(device: weft.Device) -> None:
    x = normal((4, 6), np.float32, 5, 3.0)
    for name in ("gelu", "sigmoid", "mish", "softplus", "elu", "softmax", "log_softmax"):
        along = {"softmax": formulas.softmax, "log_softmax": lambda x: np.log(formulas.softmax(x))}
        near(getattr(nn, name)(weft.asarray(x)), (formulas.ACTIVATIONS | along)[name](x.astype(float)), np.float32)


def test_captured() -> None:
    x = weft.asarray(normal((4, 6), np.float32, 6))
    for name in ("gelu", "silu", "softmax", "log_softmax"):
        function = getattr(nn, name)
        assert (weft.compile(function)(x) == function(x)).all()
    # Exponentials, their sum and the quotients are of one kernel in parts, or a few.
    assert len(weft.explain(nn.softmax(weft.asarray(normal((64, 50), np.float32)))).kernels) <= 4

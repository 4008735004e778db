"""Pullbacks of vectorized functions: scalar functions of the operands and a cotangent, which broadcast and fuse like any other."""

import math

import numpy as np
import pytest

import weft

x = np.linspace(-2, 2, 41)
y = np.linspace(0.5, 3, 41)


@weft.vectorize
def smooth(a, b):
    return math.sin(a) * b + a * a / b


@weft.vectorize
def branches(a, b):
    if a > b:
        return a * b
    s = a
    for _i in range(4):
        s = s * b - a
        if s > 2.0:
            break
    return s


@weft.vectorize
def escape(a, b):
    u, v, n = 0.0, 0.0, 0
    while u * u + v * v < 4.0 and n < 50:
        u, v = u * u - v * v + a, 2.0 * u * v + b
        n += 1
    return u * v


def differences(f, args, by, step=1e-6):
    up, down = list(args), list(args)
    up[by], down[by] = args[by] + step, args[by] - step
    return (f(*up) - f(*down)) / (2 * step)


@pytest.mark.parametrize("function", [smooth, branches])
@pytest.mark.parametrize("by", [0, 1])
def test_against_differences(function, by):
    g = np.linspace(1, 2, 41)
    found = function.pullback(by)(x, y, g)
    assert np.allclose(found, differences(function, (x, y), by) * g, rtol=1e-5, atol=1e-5)


def test_loops_of_any_length():
    a, b = np.linspace(-1, 0.2, 7), np.linspace(-0.2, 0.6, 7)
    for by in (0, 1):
        expected = differences(escape, (a, b), by, 1e-8)
        assert np.allclose(escape.pullback(by)(a, b, 1.0), expected, rtol=1e-3, atol=1e-4)


def test_broadcasting_and_numbers():
    found = smooth.pullback(0)(x[:, None], y[None, :], 1.0)
    assert found.shape == (41, 41) and np.allclose(found[3, 5], np.cos(x[3]) * y[5] + 2 * x[3] / y[5])
    assert smooth.pullback(1)(0.5, 2.0, 3.0) == pytest.approx(3.0 * (math.sin(0.5) - 0.25 / 4))


def test_arrays_of_weft():
    a, b = weft.asarray(x), weft.asarray(y)
    found = smooth.pullback(0)(a, b, weft.ones(41)) * 2.0
    assert type(found) is type(a)
    assert np.allclose(np.asarray(found), 2 * (np.cos(x) * y + 2 * x / y))


def test_dtypes():
    narrow = smooth.pullback(0)(x.astype(np.float32), y.astype(np.float32), np.ones(41, np.float32))
    assert narrow.dtype == np.float32 and np.allclose(narrow, smooth.pullback(0)(x, y, 1.0), rtol=1e-4, atol=1e-5)

    @weft.vectorize(["float64(float64, int64)"])
    def power(a, n):
        return a**n

    assert np.allclose(power.pullback(0)(y, 3, 1.0), 3 * y * y)
    with pytest.raises(weft.errors.UnsupportedError, match="no derivative by its parameter 1"):
        power.pullback(1)(y, 3, 1.0)
    with pytest.raises(TypeError, match="no operand 2"):
        power.pullback(2)


def test_second_derivatives():
    """The pullback is a function like any other: what is derived may be derived again by hand."""
    first = smooth.pullback(0)
    assert np.allclose(differences(lambda a, b: first(a, b, 1.0), (x, y), 0), -np.sin(x) * y + 2 / y, atol=1e-5)


def test_derivatives_of_loops():
    """A loop that adds up has derivatives of any order; one that goes on from its own values is refused by the function's name."""

    @weft.vectorize
    def series(a):
        s = 0.0
        for k in range(1, 5):
            s += a**k / k
        return s

    @weft.vectorize
    def root(a):
        x = 1.0
        while abs(x * x - a) > 1e-12:
            x = (x + a / x) / 2
        return x

    at = weft.asarray(1.5)
    third = weft.grad(weft.grad(weft.grad(series)))
    assert np.allclose([weft.grad(series)(at), weft.hessian(series)(at), third(at)], [8.125, 10.75, 11.0])
    assert np.allclose(weft.grad(root)(at), 0.5 / np.sqrt(1.5))
    for of in (weft.grad(weft.grad(root)), weft.hessian(root), lambda at: weft.jvp(root, (at,), (at,))):
        with pytest.raises(weft.errors.UnsupportedError, match=r"^root has no second derivative here.*loop.*\s+--> .*test_vectorized"):
            of(at)


def test_rules():
    @weft.vectorize
    def step(a):
        return math.floor(a) * 1.0

    assert step.vjp_rule is None

    @step.defvjp
    def rule(g, out, a):
        return (g,)

    assert step.vjp_rule is rule

"""Compiled functions, kernels and vectorized functions inside transforms of arrays, against differences."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from gradients.differences import check_gradient, differences, random
from weft import cuda
from weft.errors import GradientError


@weft.vectorize
def bent(x, y):
    s = x
    for _ in range(3):
        s = s * y + np.sin(x)
    return s if s > 0 else -s * 2


@weft.njit
def energy(p, k):
    total = 0.0
    for i in range(p.shape[0]):
        for j in range(i):
            d = p[i] - p[j]
            total += k[0] / np.sqrt(d * d + 0.1)
    return total


@weft.njit
def added(a, out):
    for i in range(a.shape[0]):
        out[i] = a[i] ** 2 + out[i] * 3


@weft.njit
def both(a, n):
    b = np.empty(a.shape[0])
    for i in range(a.shape[0]):
        b[i] = a[i] ** n
    return b, b.sum() * a[0], n + 1


@weft.njit
def first_part(a):
    return a[:2]


@cuda.jit
def sines(a, out):
    i = cuda.grid(1)
    if i < a.shape[0]:
        out[i] = a[i] * np.sin(a[i])


WEIGHTS = np.arange(4.0)


def test_vectorized_functions_fuse_and_differentiate():
    y = weft.asarray(random(4))
    check_gradient(lambda x: (bent(x, y) * WEIGHTS).sum(), random(3, 4))
    x = weft.asarray(random(3, 4))
    check_gradient(lambda y: (bent(x, y * y) * WEIGHTS).sum(), random(4, seed=1))
    explained = str(weft.explain(weft.grad(lambda x: (bent(x, y) * 2).sum())(x)))
    assert "over 3 × 4" in explained


def test_vectorized_functions_have_second_derivatives():
    y, x = random(4, seed=1), random(4)

    def gradient(x):
        return weft.grad(lambda x: (bent(x, y) * WEIGHTS).sum())(x)

    found = np.asarray(weft.jacfwd(gradient)(x))
    wanted = np.stack([differences(lambda x, at=at: float(gradient(weft.asarray(x))[at]), x) for at in range(4)])
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)


def test_functions_of_numbers_in_batches():
    x = random(5, 4)
    found = weft.vmap(lambda row: bent(row, row[0]).sum())(x)
    np.testing.assert_allclose(found, [np.asarray(bent(row, np.float64(row[0]))).sum() for row in x])


def test_functions_with_loops():
    k = weft.asarray([2.0])
    check_gradient(lambda p: energy(p * 1.5, k) ** 2, random(6))
    p = weft.asarray(random(6))
    check_gradient(lambda k: energy(p, weft.sin(k)), random(1))


def test_what_functions_write_is_the_arrays_next_version():
    def f(p):
        out = weft.ones(6) * p
        before = out * 1
        added(p, out)
        added(out, out=out[::-1].copy())
        return (out * weft.arange(6.0)).sum() + (before**2).sum()

    check_gradient(f, random(6))


def test_functions_that_return_several_things():
    def f(p):
        powers, number, plain = both(p, 3)
        assert plain == 4 and number.shape == ()
        return (powers * weft.arange(1.0, 7.0)).sum() + number**2

    check_gradient(f, random(6))


def test_views_of_arguments_are_refused():
    with pytest.raises(GradientError, match="returns an array that it was given"):
        weft.grad(lambda p: first_part(p).sum())(weft.ones(3))
    x = weft.ones(6)
    with pytest.raises(GradientError, match="given twice"):
        weft.grad(lambda p: added(p, p) or p.sum())(x)


@pytest.mark.parametrize("device", ["cpu", "cuda", "vulkan"])
def test_kernels(device):
    try:
        place = weft.device(device)
    except (ValueError, weft.WeftError):
        pytest.skip(f"there is no {device} here")
    with place:

        def f(p):
            out = weft.zeros(6)
            sines[2, 3](p, out)
            return (out**2 * weft.arange(6.0)).sum()

        x = random(6)
        found = weft.asnumpy(weft.grad(f)(weft.asarray(x)))
        np.testing.assert_allclose(found, differences(lambda x: float(f(weft.asarray(x))), x), rtol=1e-6, atol=1e-6)


def test_captured_gradients_of_functions():
    k = weft.asarray([2.0])
    step = weft.compile(weft.value_and_grad(lambda p: energy(p * 1.5, k) ** 2))
    for seed in range(3):
        p = weft.asarray(random(6, seed=seed))
        value, gradient = step(p)
        np.testing.assert_allclose(float(value), float(energy(weft.asnumpy(p) * 1.5, np.array([2.0]))) ** 2)
        np.testing.assert_allclose(gradient, weft.grad(lambda p: energy(p * 1.5, k) ** 2)(p))


def test_rules_of_compiled_functions():
    @weft.vectorize
    def stepped(x):
        return np.floor(x)

    @stepped.defvjp
    def _(cotangent, output, x):
        return (cotangent * 10,)

    np.testing.assert_allclose(weft.grad(lambda x: stepped(x).sum())(weft.ones(2)), [10.0, 10.0])


def test_jacobians_of_functions_with_loops():
    k, p = weft.asarray([2.0]), random(4)
    found = weft.jacrev(lambda p: weft.stack([energy(p, k), energy(p * 2, k)]))(p)
    rows = [differences(lambda p, by=by: float(energy(weft.asarray(p * by), k)), p) for by in (1, 2)]
    np.testing.assert_allclose(found, rows, rtol=1e-6, atol=1e-6)
    squares = weft.jacrev(lambda p: both(p, 3)[0])(p)
    np.testing.assert_allclose(squares, np.diag(3 * p**2), rtol=1e-9)

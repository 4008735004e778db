"""`out=` and methods that change an array, under gradients: against the same by functions that give new ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft.errors import GradientError

_GENERATOR = np.random.default_rng(3)
_X = _GENERATOR.uniform(0.3, 1.5, (3, 4)) * _GENERATOR.choice([-1.0, 1.0], (3, 4))

# What is put into an array of zeros, and the shape of that.
_OUT: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "sin": (lambda x, out: weft.sin(x, out=out), (3, 4)),
    "add": (lambda x, out: weft.add(x, x * x, out=out), (3, 4)),
    "where": (lambda x, out: weft.sin(x, out=out, where=weft.asarray(_X > 0)), (3, 4)),
    "cumsum": (lambda x, out: weft.cumsum(x, 1, out=out), (3, 4)),
    "cumprod": (lambda x, out: weft.cumprod(x, 0, out=out), (3, 4)),
    "take": (lambda x, out: weft.take(x, [0, 2, 1], 0, out=out), (3, 4)),
    "matmul": (lambda x, out: weft.matmul(x, weft.eye(4) * 2, out=out), (3, 4)),
    "dot": (lambda x, out: weft.dot(x, weft.eye(4) * 2, out=out), (3, 4)),
    "clip": (lambda x, out: weft.clip(x, -0.5, 0.5, out=out), (3, 4)),
    "compress": (lambda x, out: weft.compress([True, True, True], x, 0, out=out), (3, 4)),
    "choose": (lambda x, out: weft.choose(np.zeros((3, 4), int), [x], out=out), (3, 4)),
    "accumulate": (lambda x, out: weft.maximum.accumulate(x, 1, out=out), (3, 4)),
    "concatenate": (lambda x, out: weft.concatenate((x[:1], x[1:]), out=out), (3, 4)),
    "einsum": (lambda x, out: weft.einsum("ij,jk->ik", x, weft.eye(4) * 2, out=out), (3, 4)),
    "sum": (lambda x, out: weft.sum(x, 1, out=out), (3,)),
    "max": (lambda x, out: weft.max(x, 1, out=out), (3,)),
    "median": (lambda x, out: weft.median(x, 1, out=out), (3,)),
    "percentile": (lambda x, out: weft.percentile(x, 30, 1, out=out), (3,)),
    "std": (lambda x, out: weft.std(x, 1, out=out), (3,)),
    "reduceat": (lambda x, out: weft.add.reduceat(x, [0, 2], 0, out=out), (2, 4)),
}

# What changes an array, and a function that gives what it is then.
_CHANGES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "sort": (lambda y, x: y.sort(0), lambda y, x: weft.sort(y, 0)),
    "partition": (lambda y, x: y.partition(1), lambda y, x: weft.partition(y, 1)),
    "fill": (lambda y, x: y.fill(x[0, 0]), lambda y, x: weft.broadcast_to(x[0, 0], (3, 4))),
    "+=": (lambda y, x: y.__iadd__(x), lambda y, x: y + x),
    "*=": (lambda y, x: y.__imul__(y), lambda y, x: y * y),
    "/=": (lambda y, x: y.__itruediv__(x), lambda y, x: y / x),
    "**=": (lambda y, x: y.__ipow__(2), lambda y, x: y**2),
    "@=": (lambda y, x: y.__imatmul__(x.T @ x), lambda y, x: y @ (x.T @ x)),
    "flat": (lambda y, x: y.flat.__setitem__(slice(0, 4), x[1]), lambda y, x: weft.concatenate((x[1:2], y[1:]))),
    "flat by indices": (lambda y, x: y.flat.__setitem__([0, 1], x[1, :2]), lambda y, x: weft.where(_FIRST, x[1], y)),
    "put": (lambda y, x: y.put([0, 1], x[1, :2]), lambda y, x: weft.where(_FIRST, x[1], y)),
    "overlapping": (lambda y, x: y.__setitem__(slice(0, 2), y[1:]), lambda y, x: weft.concatenate((y[1:], y[2:]))),
    "its own product": (lambda y, x: weft.multiply(y, y[::-1], out=y), lambda y, x: y * y[::-1]),
    "its own sum": (lambda y, x: weft.cumsum(y, 1, out=y), lambda y, x: weft.cumsum(y, 1)),
}
_FIRST = np.array([[True, True, False, False], [False] * 4, [False] * 4])


def _gradient(f: Callable[[Any], Any]) -> np.ndarray:
    def loss(x: Any) -> Any:
        y = f(x)
        return (y * y * np.arange(1.0, 1.0 + y.size).reshape(y.shape)).sum()

    return np.asarray(weft.grad(loss)(weft.asarray(_X)))


@pytest.mark.parametrize("name", _OUT)
def test_out(name: str) -> None:
    f, shape = _OUT[name]

    def put(x: Any) -> Any:
        out = weft.zeros(shape)
        assert f(x, out) is out
        return out

    def given(x: Any) -> Any:
        return weft.where(_X > 0, weft.sin(x), 0.0) if name == "where" else f(x, None)

    np.testing.assert_allclose(_gradient(put), _gradient(given), rtol=1e-13)


@pytest.mark.parametrize("name", _CHANGES)
def test_changes(name: str) -> None:
    change, wanted = _CHANGES[name]

    def changed(x: Any) -> Any:
        y = x * 2
        change(y, x)
        return y

    np.testing.assert_allclose(_gradient(changed), _gradient(lambda x: wanted(x * 2, x)), rtol=1e-13)


@pytest.mark.parametrize("read", [float, lambda x: x.item(), lambda x: x.tolist(), weft.asnumpy, lambda x: x.tobytes()])
def test_elements_that_leave_are_refused(read: Callable[[Any], Any]) -> None:
    with pytest.raises(GradientError, match="leave Weft's arrays"):
        weft.grad(lambda x: (read(x[0, 0]), x.sum())[1])(weft.asarray(_X))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: weft.multiply.at(x * 2, [0, 1], x[:2]),
        lambda x: weft.multiply.reduceat(x, [0, 1]),
        lambda x: weft.subtract.reduce(x),
        lambda x: weft.divide.accumulate(x),
        lambda x: weft.percentile(weft.asarray(_X), abs(x[0]) * 10, method="lower"),
        lambda x: weft.linalg.svd(x)[2],
        lambda x: weft.linalg.qr(x.T, "complete")[0],
        lambda x: weft.linalg.qr(x, "raw")[0],
        lambda x: weft.histogram(x, "auto")[1],
        lambda x: weft.histogramdd(x.T, 3)[0],
        lambda x: weft.random.default_rng(0).normal(x),
        lambda x: weft.random.default_rng(0).normal(0.0, abs(x)),
        lambda x: weft.random.default_rng(0).uniform(x, 3.0),
        lambda x: weft.random.default_rng(0).gamma(abs(x)),
        lambda x: weft.random.default_rng(0).poisson(abs(x)) * x,
    ],
)
def test_what_has_no_rule_is_refused(f: Callable[[Any], Any]) -> None:
    def loss(x: Any) -> Any:
        found = f(x)
        return x.sum() if found is None else found.sum()

    with pytest.raises(GradientError):
        weft.grad(loss)(weft.asarray(_X))


def test_text_of_an_array_is_none_of_its_elements() -> None:
    said = []

    def f(x: Any) -> Any:
        said.append(f"{x} {x[0, 0]:.2f} {x!r}")
        return (x * x).sum()

    np.testing.assert_allclose(np.asarray(weft.grad(f)(weft.asarray(_X))), 2 * _X)
    assert said == [f"{_X} {_X[0, 0]:.2f} {_X!r}"]


def test_orders_and_permutations_of_random_numbers() -> None:
    def f(x: Any) -> Any:
        generator = weft.random.default_rng(5)
        mixed = generator.permutation(x) * weft.arange(3.0)[:, None]
        generator.shuffle(mixed)
        return (mixed * weft.arange(3.0)[:, None]).sum() + generator.choice(x[0], 2).sum()

    x, direction = _X, np.ones_like(_X)
    found = np.asarray(weft.grad(f)(weft.asarray(x)))
    # It is linear.
    np.testing.assert_allclose((found * x).sum(), float(f(weft.asarray(x))))
    np.testing.assert_allclose((found * direction).sum(), float(f(weft.asarray(direction))))

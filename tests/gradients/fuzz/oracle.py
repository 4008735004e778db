"""What programs call, on NumPy in double precision, and on Weft; and derivatives by differences."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

DOUBLE = {"float16": np.float64, "float32": np.float64, "complex64": np.complex128}
"""What dtypes are on the oracle."""


def data(seed: int, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """An array by number, whose elements are small."""
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.asarray(rng.random(shape) < 0.5)
    if kind == "i":
        return np.asarray(rng.integers(0, 100, shape), dtype)
    values = rng.normal(0, 1, shape)
    if kind == "c":
        values = values + 1j * rng.normal(0, 1, shape)
    return np.asarray(values).astype(dtype)


class Double:
    """NumPy, whose floats are all of double precision."""

    eval = staticmethod(lambda *arrays: None)

    def __getattr__(self, name: str) -> Any:
        return DOUBLE.get(name) or getattr(np, name)


def double(x: np.ndarray) -> np.ndarray:
    """An array in double precision, lying as it does."""
    return x.astype(DOUBLE.get(x.dtype.name, x.dtype), copy=True)


@dataclass
class OnNumPy:
    """What programs call beside NumPy's functions. What no gradient goes through is kept, to be the same when inputs change."""

    kept: list[Any]
    again: bool = False

    def __post_init__(self) -> None:
        self._left = iter(self.kept) if self.again else None

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function

    checkpoint = compile

    def stop(self, x: Any) -> Any:
        """As it was when inputs were what they are."""
        if self._left is not None:
            return next(self._left).copy()
        self.kept.append(np.array(x))
        return np.array(x)

    def grad(self, function: Callable[..., Any], slope: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x: slope(x) + np.zeros_like(x)

    def slope(self, function: Callable[..., Any], slope: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, tangent: np.sum(slope(x) * tangent)

    def vmap(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x: np.stack([function(each) for each in x])

    def ruled(self, function: Callable[..., Any], slope: Callable[..., Any]) -> Callable[..., Any]:
        return function

    def inner(self, function: Callable[..., Any], slopes: Callable[..., Any]) -> Callable[..., Any]:
        return slopes

    def windows(self, x: np.ndarray, count: int) -> np.ndarray:
        shape = (x.shape[0] - count + 1, count, *x.shape[1:])
        return np.lib.stride_tricks.as_strided(x, shape, (x.strides[0], *x.strides), writeable=False)


class OnWeft:
    """The same on Weft."""

    def __init__(self, module: Any) -> None:
        self._weft = module

    def __getattr__(self, name: str) -> Any:
        return getattr(self._weft, {"stop": "stop_gradient"}.get(name, name))

    def grad(self, function: Callable[..., Any], slope: Callable[..., Any]) -> Callable[..., Any]:
        return self._weft.grad(function)

    def slope(self, function: Callable[..., Any], slope: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, tangent: self._weft.jvp(function, (x,), (tangent,))[1]

    def ruled(self, function: Callable[..., Any], slope: Callable[..., Any]) -> Callable[..., Any]:
        made = self._weft.custom_vjp(function)
        made.defvjp(lambda cotangent, result, x: (cotangent * slope(x),))
        # Programs ask for tangents, too.
        made._is_linear = True
        return made

    def inner(self, function: Callable[..., Any], slopes: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, y: self._weft.grad(function, argnums=(0, 1))(x, y)

    def windows(self, x: Any, count: int) -> Any:
        from weft._weft import _strided

        return _strided(x, (x.shape[0] - count + 1, count, *x.shape[1:]), [x.strides[0], *x.strides], 0)


Run = Callable[[Sequence[np.ndarray]], dict[str, np.ndarray]]


@dataclass
class Difference:
    """A derivative by differences; `known` where the function is smooth enough for it, elementwise."""

    value: np.ndarray
    known: np.ndarray


def along(function: Callable[[float], np.ndarray], step: float) -> Difference:
    """The derivative at 0 of a function of a number, by central differences of three sizes."""
    here = function(0.0)
    halves = [step / 2**at for at in range(3)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ahead, behind = ([function(sign * h) for h in halves] for sign in (1, -1))
        if any(each.shape != here.shape for each in ahead + behind):
            return Difference(np.zeros(here.shape), np.zeros(here.shape, bool))
        slopes = [(a - b) / (2 * h) for a, b, h in zip(ahead, behind, halves)]
        bends = [np.abs(a - 2 * here + b) for a, b in zip(ahead, behind)]
    second = [(4 * fine - coarse) / 3 for coarse, fine in itertools.pairwise(slopes)]
    best = (16 * second[1] - second[0]) / 15
    off = np.abs(best - second[1])
    known = np.isfinite(best) & (off <= 1e-6 * (1 + np.abs(best)))
    # At a kink the bend of a step is as the step; elsewhere as its square.
    known &= (bends[2] < 1e-9 * (1 + np.abs(here))) | (bends[2] < bends[0] / 8)
    return Difference(best, known)

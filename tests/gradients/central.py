"""Compares what `f.grad` and `kernel.grad` give with central differences of the function itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def _is_float(arg: Any) -> bool:
    return isinstance(arg, (float, np.floating))


def _loss(value: Any, cotangent: Any) -> float:
    """The sum of a result's parts times their cotangents."""
    if value is None or cotangent is None:
        return 0.0
    if isinstance(value, tuple):
        return sum(_loss(one, other) for one, other in zip(value, cotangent, strict=True))
    if not np.issubdtype(np.asarray(value).dtype, np.floating):
        return 0.0
    return float(np.sum(np.asarray(value, np.float64) * np.asarray(cotangent, np.float64)))


def cotangent_like(value: Any, rng: np.random.Generator) -> Any:
    """Random numbers of the shapes of a result."""
    if value is None:
        return None
    if isinstance(value, tuple):
        return tuple(cotangent_like(one, rng) for one in value)
    if isinstance(value, np.ndarray):
        known = value.dtype.kind == "f" or value.dtype.name == "bfloat16"
        return rng.standard_normal(value.shape).astype(value.dtype) if known else None
    if isinstance(value, (float, np.floating)) or type(value).__name__ == "bfloat16":
        return type(value)(rng.standard_normal())
    return None


def run(call: Callable[..., Any], args: Sequence[Any], cotangent: Any, adjoints: Sequence[Any]) -> float:
    """What the function leaves for these arguments, weighed: its result, and its arrays by the adjoints that they have."""
    fresh = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    result = call(*fresh)
    total = _loss(result, cotangent)
    for array, adjoint in zip(fresh, adjoints, strict=True):
        if isinstance(array, np.ndarray) and adjoint is not None:
            total += _loss(array, adjoint)
    return total


def differences(call: Callable[..., Any], args: Sequence[Any], cotangent: Any, adjoints: Sequence[Any], step: float) -> list[Any]:
    """The gradient of each argument that has one, by central differences."""
    found: list[Any] = []
    for at, arg in enumerate(args):
        if _is_float(arg):
            moved = [run(call, [*args[:at], type(arg)(arg + s), *args[at + 1 :]], cotangent, adjoints) for s in (step, -step)]
            found.append((moved[0] - moved[1]) / (2 * step))
        elif isinstance(arg, np.ndarray) and adjoints[at] is not None:
            gradient = np.zeros(arg.shape)
            for place in np.ndindex(arg.shape):
                values = []
                for s in (step, -step):
                    changed = arg.copy()
                    changed[place] += s
                    values.append(run(call, [*args[:at], changed, *args[at + 1 :]], cotangent, adjoints))
                gradient[place] = (values[0] - values[1]) / (2 * step)
            found.append(gradient)
        else:
            found.append(None)
    return found


def check(function: Any, *args: Any, inactive: Sequence[int] = (), seed: int = 0, step: float = 1e-6, tolerance: float = 2e-6) -> None:
    """A function's gradient by every float argument, for a random cotangent of what it returns and of the arrays that it writes to."""
    rng = np.random.default_rng(seed)
    untouched = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    result = function(*[arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args])
    cotangent = cotangent_like(result, rng)
    adjoints: list[Any] = []
    for at, arg in enumerate(args):
        active = isinstance(arg, np.ndarray) and np.issubdtype(arg.dtype, np.floating) and at not in inactive
        adjoints.append(rng.standard_normal(arg.shape).astype(arg.dtype) if active else None)
    given = [adjoint if adjoint is None else adjoint.copy() for adjoint in adjoints]
    expected = differences(function, args, cotangent, adjoints, step)
    found = function.grad(tuple(args), tuple(given), cotangent)
    for at, (arg, before) in enumerate(zip(args, untouched, strict=True)):
        if isinstance(arg, np.ndarray):
            assert np.array_equal(arg, before, equal_nan=True), f"the gradient wrote to argument {at}"
            if adjoints[at] is not None:
                close(given[at], expected[at], tolerance, f"argument {at}")
        elif _is_float(arg):
            close(found[at], expected[at], tolerance, f"argument {at}")
        else:
            assert found[at] is None


def close(found: Any, expected: Any, tolerance: float, what: str) -> None:
    found, expected = np.asarray(found, np.float64), np.asarray(expected, np.float64)
    assert found.shape == expected.shape, f"{what}: {found.shape}, expected {expected.shape}"
    scale = 1.0 + np.abs(expected)
    wrong = np.abs(found - expected) > tolerance * scale
    assert not wrong.any(), f"{what}:\n{found}\nexpected\n{expected}"


def check_kernel(
    kernel: Any,
    grid: tuple[Any, ...],
    *args: Any,
    inactive: Sequence[int] = (),
    seed: int = 0,
    step: float = 1e-6,
    tolerance: float = 2e-6,
) -> None:
    """The same of a kernel, launched over a grid; gradients of floats go to arrays of one element."""
    rng = np.random.default_rng(seed)

    def call(*arguments: Any) -> None:
        kernel[grid](*arguments)

    adjoints: list[Any] = []
    for at, arg in enumerate(args):
        active = isinstance(arg, np.ndarray) and np.issubdtype(arg.dtype, np.floating) and at not in inactive
        adjoints.append(rng.standard_normal(arg.shape).astype(arg.dtype) if active else None)
    given: list[Any] = [adjoint if adjoint is None else adjoint.copy() for adjoint in adjoints]
    for at, arg in enumerate(args):
        if _is_float(arg) and at not in inactive:
            given[at] = np.zeros(1, type(arg) if isinstance(arg, np.floating) else np.float64)
    expected = differences(call, args, None, adjoints, step)
    untouched = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    kernel.grad[grid](tuple(args), tuple(given))
    for at, (arg, before) in enumerate(zip(args, untouched, strict=True)):
        if isinstance(arg, np.ndarray):
            assert np.array_equal(arg, before, equal_nan=True), f"the gradient wrote to argument {at}"
        if given[at] is not None:
            close(given[at] if isinstance(arg, np.ndarray) else given[at][0], expected[at], tolerance, f"argument {at}")

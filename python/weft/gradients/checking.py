"""Gradients checked against central differences of the function itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

# Steps and tolerances by the bytes of a real number: the step near the cube root of its precision, where rounding and
# curvature weigh alike.
_STEPS = {2: 1e-1, 4: 1e-2, 8: 1e-6}
_TOLERANCES = {2: (1e-1, 1e-1), 4: (1e-2, 1e-2), 8: (1e-5, 1e-6)}


class GradientError(AssertionError):
    """A gradient that is not what central differences say."""


def gradcheck(
    f: Callable[..., Any],
    args: Sequence[Any],
    gradient: Callable[..., Any] | None = None,
    *,
    step: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    seed: int = 0,
) -> bool:
    """Compares a function's gradient with central differences; True, or an error that shows the worst element.

    `f` is a function of numbers and arrays, called as ``f(*args)``. What it returns (a number, an array, or a tuple
    of them) is weighed with random numbers into one, whose derivatives by every element of every float argument are
    compared. `gradient` is called as ``gradient(args, cotangent)`` and gives a gradient, or None, for each argument;
    it may be left out for what has one of its own: functions of `weft.njit`, whose arrays are then differentiated by
    what is returned and by what is written to them. Arguments that are not floats are constants.

    `step`, `rtol` and `atol` are chosen by the narrowest dtype where they are not given: 1e-6, 1e-5 and 1e-6 for
    float64, 1e-2 for all of them for float32. Complex arguments have JAX's gradients: of a real function the
    derivative by the real part minus i times that by the imaginary one.

    Raises GradientError, an AssertionError, for the first argument that is wrong.

    >>> import numpy as np
    >>> import weft
    >>> @weft.njit
    ... def f(a, x):
    ...     return a * np.sum(x * x * x)
    >>> weft.gradcheck(f, (2.0, np.array([1.0, -2.0, 0.5])))
    True
    """
    args = tuple(args)
    rng = np.random.default_rng(seed)
    items = [np.asarray(arg).real.dtype.itemsize for arg in args if _is_float(arg)]
    if not items:
        raise ValueError("gradcheck: there is no float among the arguments")
    width = min(min(items), 8)
    step = _STEPS[width] if step is None else step
    rtol = _TOLERANCES[width][0] if rtol is None else rtol
    atol = _TOLERANCES[width][1] if atol is None else atol
    result = f(*map(_copy, args))
    cotangent = _weights(result, rng)
    shadows = [_random_like(arg, rng) if gradient is None and isinstance(arg, np.ndarray) and _is_float(arg) else None for arg in args]
    found = _found(f, args, gradient, cotangent, shadows)
    if len(found) != len(args):
        raise TypeError(f"gradcheck: {len(found)} gradients were given for {len(args)} arguments")

    def total(new: list[Any]) -> complex:
        fresh = [_copy(arg) for arg in new]
        value = _weighed(f(*fresh), cotangent)
        return value + sum(_weighed(array, weight) for array, weight in zip(fresh, shadows, strict=True) if weight is not None)

    for at, arg in enumerate(args):
        if _is_float(arg) and found[at] is not None:
            expected = _differences(total, list(args), at, step)
            _compare(np.asarray(found[at]), expected, rtol, atol, at)
    return True


def _found(f: Any, args: tuple[Any, ...], gradient: Callable[..., Any] | None, cotangent: Any, shadows: list[Any]) -> Sequence[Any]:
    if gradient is not None:
        return gradient(args, cotangent)
    own = getattr(f, "grad", None)
    if own is None:
        raise TypeError("gradcheck: the function has no gradient of its own; give one as gradient(args, cotangent)")
    given = tuple(_copy(shadow) for shadow in shadows)
    scalars = own(args, given, cotangent)
    return [shadow if shadow is not None else scalar for shadow, scalar in zip(given, scalars, strict=True)]


def _is_float(arg: Any) -> bool:
    return np.asarray(arg).dtype.kind in "fc" if isinstance(arg, (float, complex, np.ndarray, np.generic)) else hasattr(arg, "__array__")


def _copy(arg: Any) -> Any:
    return arg.copy() if hasattr(arg, "copy") else arg


def _random_like(value: Any, rng: np.random.Generator) -> Any:
    array = np.asarray(value)
    numbers = rng.standard_normal(array.shape)
    if array.dtype.kind == "c":
        numbers = numbers + 1j * rng.standard_normal(array.shape)
    made = np.asarray(numbers).astype(array.dtype)
    return made if isinstance(value, np.ndarray) or (hasattr(value, "__array__") and array.shape) else type(value)(made[()])


def _weights(value: Any, rng: np.random.Generator) -> Any:
    if isinstance(value, tuple):
        return tuple(_weights(item, rng) for item in value)
    if value is None or np.asarray(value).dtype.kind not in "fc":
        return None
    return _random_like(value, rng)


def _weighed(value: Any, weight: Any) -> float:
    """The real part of the sum of products."""
    if weight is None:
        return 0.0
    if isinstance(value, tuple):
        return sum(_weighed(item, w) for item, w in zip(value, weight, strict=True))
    wide = np.asarray(value)
    wide = wide.astype(np.complex128 if wide.dtype.kind == "c" else np.float64)
    return float(np.sum(wide * np.asarray(weight)).real)


def _differences(total: Callable[[list[Any]], Any], args: list[Any], at: int, step: float) -> np.ndarray:
    base = np.asarray(args[at])
    out = np.zeros(base.shape, np.complex128 if base.dtype.kind == "c" else np.float64)

    def moved(place: tuple[int, ...], by: complex) -> float:
        new = base.copy()
        new[place] = new[place] + np.asarray(by).astype(base.dtype)
        changed = new if isinstance(args[at], np.ndarray) else type(args[at])(new[()])
        if hasattr(args[at], "__array__") and not isinstance(args[at], (np.ndarray, np.generic)):
            import weft

            changed = weft.asarray(new)
        return total([*args[:at], changed, *args[at + 1 :]])

    for place in np.ndindex(base.shape):
        out[place] = (moved(place, step) - moved(place, -step)) / (2 * step)
        if base.dtype.kind == "c":
            out[place] -= 1j * (moved(place, 1j * step) - moved(place, -1j * step)) / (2 * step)
    return out


def _compare(found: np.ndarray, expected: np.ndarray, rtol: float, atol: float, at: int) -> None:
    if found.shape != expected.shape:
        raise GradientError(f"the gradient of argument {at} has the shape {found.shape}, expected {expected.shape}")
    far = np.abs(found - expected) - (atol + rtol * np.abs(expected))
    far = np.where(np.isnan(far), np.inf, far)
    if far.size and far.max() > 0:
        place = tuple(int(i) for i in np.unravel_index(int(np.argmax(far)), far.shape))
        count = int((far > 0).sum())
        raise GradientError(
            f"the gradient of argument {at} is wrong in {count} of {far.size} elements; the worst is {list(place)}: "
            f"{found[place]}, and central differences say {expected[place]}"
        )

"""Gradients checked against central differences of the function itself."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.errors import GradcheckError
from weft.gradients.trees import flatten, unflatten

# Steps and tolerances by the bytes of a real number: the step near the cube root of its precision, where rounding and curvature weigh
# alike.
_STEPS = {2: 1e-1, 4: 1e-2, 8: 1e-6}
_TOLERANCES = {2: (1e-1, 1e-1), 4: (1e-2, 1e-2), 8: (1e-5, 1e-6)}


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

    `f` is a function of numbers and arrays, also in tuples, lists and dicts, called as ``f(*args)``. What it returns, as nested as one
    likes, is weighed with random numbers into one number, whose derivatives by every element of every float are compared. `gradient` is
    called as ``gradient(args, cotangent)`` and gives for each argument a gradient, nested as the argument is, or None; it may be left out
    for what has one of its own: functions of `weft.njit`, whose NumPy arrays are then differentiated by what is returned and by what is
    written to them, and functions of weft arrays, which `weft.vjp` differentiates. What is no float is a constant.

    `step`, `rtol` and `atol` are chosen by the narrowest dtype where they are not given: 1e-6, 1e-5 and 1e-6 for float64, 1e-2 for all of
    them for float32, 1e-1 for floats of 16 bits, whose differences tell little more than a sign. Complex arguments have JAX's gradients:
    of a real function the derivative by the real part minus i times that by the imaginary one.

    Raises GradcheckError, an AssertionError, for the first argument that is wrong; ValueError where there is nothing to compare.

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
    leaves, spec = flatten(args)
    widths = [np.asarray(leaf).real.dtype.itemsize for leaf in leaves if _is_float(leaf)]
    if not widths:
        raise ValueError("gradcheck: there is no float among the arguments")
    width = min(*widths, 8)
    step = _STEPS[width] if step is None else step
    rtol = _TOLERANCES[width][0] if rtol is None else rtol
    atol = _TOLERANCES[width][1] if atol is None else atol
    results, of_results = flatten(f(*unflatten(spec, map(_copy, leaves))))
    # None is the weight of what is no float.
    weights = [_random_like(result, rng) if _is_inexact(np.asarray(result).dtype) else None for result in results]
    cotangent = unflatten(of_results, weights)
    own = _own_gradient(f, args, leaves) if gradient is None else None
    # What is left in arrays that compiled code may write to counts as a result.
    shadows = [_random_like(leaf, rng) if own and isinstance(leaf, np.ndarray) and _is_float(leaf) else None for leaf in leaves]
    if gradient is not None:
        given = gradient(args, cotangent)
    elif own is not None:
        given = _by_adjoint(own, args, cotangent, shadows)
    else:
        given = _by_vjp(f, leaves, spec, weights)
    if len(given) != len(args):
        raise TypeError(f"gradcheck: {len(given)} gradients were given for {len(args)} arguments")
    found = [each for at, arg in enumerate(args) for each in _beside(arg, given[at], at)]

    def total(new: list[Any]) -> float:
        fresh = [_copy(leaf) for leaf in new]
        found = flatten(f(*unflatten(spec, fresh)))[0]
        return _weighed(found, weights) + _weighed(fresh, shadows)

    places = _places(args)
    compared = [at for at, leaf in enumerate(leaves) if _is_float(leaf) and found[at] is not None]
    if not compared:
        raise ValueError("gradcheck: no float among the arguments has a gradient")
    for at in compared:
        _compare(np.asarray(found[at]), _differences(total, leaves, at, step), rtol, atol, places[at])
    return True


def _own_gradient(f: Any, args: tuple[Any, ...], leaves: list[Any]) -> Any:
    """The adjoint of compiled code, if there is one, and it is called with numbers and NumPy arrays."""
    own = getattr(f, "grad", None)
    is_plain = len(leaves) == len(args) and all(isinstance(leaf, (np.ndarray, *_NUMBERS)) for leaf in leaves if _is_float(leaf))
    return own if is_plain else None


def _by_adjoint(own: Any, args: tuple[Any, ...], cotangent: Any, shadows: list[Any]) -> list[Any]:
    given = tuple(_copy(shadow) for shadow in shadows)
    scalars = own(args, given, cotangent)
    return [shadow if shadow is not None else scalar for shadow, scalar in zip(given, scalars, strict=True)]


def _by_vjp(f: Callable[..., Any], leaves: list[Any], spec: Any, weights: list[Any]) -> Any:
    """The gradients of a function of weft arrays: what is no float is given to it as it is."""
    from weft.gradients.transforms import vjp

    moving = [at for at, leaf in enumerate(leaves) if _is_float(leaf)]

    def of_moving(*given: Any) -> Any:
        row = list(leaves)
        for at, each in zip(moving, given):
            row[at] = each
        return f(*unflatten(spec, row))

    results, pull_back = vjp(of_moving, *(leaves[at] for at in moving))
    given, of_results = flatten(results)
    filled = [np.zeros_like(np.asarray(each)) if weight is None else weight for each, weight in zip(given, weights, strict=True)]
    found = dict(zip(moving, pull_back(unflatten(of_results, filled))))
    return unflatten(spec, [found.get(at) for at in range(len(leaves))])


def _beside(arg: Any, gradient: Any, at: int) -> list[Any]:
    """A gradient for each leaf of an argument; None is that of a whole branch."""
    leaves, spec = flatten(arg)
    if gradient is None:
        return [None] * len(leaves)
    if spec is None:
        return [gradient]
    parts = _branches(arg)
    if type(gradient) is not type(arg) or [name for name, _ in parts] != [name for name, _ in _branches(gradient)]:
        raise TypeError(f"gradcheck: the gradient of argument {at} is nested in another way than the argument")
    return [each for (_, part), (_, own) in zip(parts, _branches(gradient)) for each in _beside(part, own, at)]


def _branches(tree: Any) -> list[tuple[Any, Any]]:
    """The parts of a tuple, list or dict by their names, in the order of leaves."""
    if tree is None:
        return []
    if isinstance(tree, dict):
        _, (_, keys, *_) = flatten(tree)
        return [(key, tree[key]) for key in (tuple(tree) if isinstance(tree, OrderedDict) else keys)]
    return list(enumerate(tree))


def _places(args: tuple[Any, ...]) -> list[str]:
    """What errors call each leaf: the number of the argument, and the way to the leaf in it."""

    def of(tree: Any, name: str) -> list[str]:
        if flatten(tree)[1] is None:
            return [name]
        return [each for key, part in _branches(tree) for each in of(part, f"{name}[{key!r}]")]

    return [each for at, arg in enumerate(args) for each in of(arg, f"argument {at}")]


_NUMBERS = (float, complex, np.generic)


def _is_inexact(dtype: np.dtype) -> bool:
    return dtype.kind in "fc" or dtype.name == "bfloat16"


def _is_float(leaf: Any) -> bool:
    return (isinstance(leaf, (np.ndarray, *_NUMBERS)) or hasattr(leaf, "__array__")) and _is_inexact(np.asarray(leaf).dtype)


def _copy(leaf: Any) -> Any:
    return leaf.copy() if hasattr(leaf, "copy") else leaf


def _random_like(value: Any, rng: np.random.Generator) -> Any:
    array = np.asarray(value)
    numbers = rng.standard_normal(array.shape)
    if array.dtype.kind == "c":
        numbers = numbers + 1j * rng.standard_normal(array.shape)
    made = np.asarray(numbers).astype(array.dtype)
    return type(value)(made[()]) if isinstance(value, _NUMBERS) else made


def _weighed(values: list[Any], weights: list[Any]) -> float:
    """The real part of the sum of products with those weights that there are."""
    pairs = zip(values, weights, strict=True)
    return sum(float(np.sum(_wide(value) * _wide(weight)).real) for value, weight in pairs if weight is not None)


def _wide(value: Any) -> np.ndarray:
    array = np.asarray(value)
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _differences(total: Callable[[list[Any]], float], leaves: list[Any], at: int, step: float) -> np.ndarray:
    base = np.asarray(leaves[at])
    out = np.zeros(base.shape, np.complex128 if base.dtype.kind == "c" else np.float64)

    def slope(place: tuple[int, ...], by: complex) -> float:
        """Over the steps that there are in the dtype."""
        ends, values = [], []
        for step in (by, -by):
            new = base.copy()
            new[place] = new[place] + np.asarray(step).astype(base.dtype)
            ends.append(_wide(new[place])[()])
            values.append(total([*leaves[:at], _like(leaves[at], new), *leaves[at + 1 :]]))
        return (values[0] - values[1]) / abs(ends[0] - ends[1])

    for place in np.ndindex(base.shape):
        out[place] = slope(place, step)
        if base.dtype.kind == "c":
            out[place] -= 1j * slope(place, 1j * step)
    return out


def _like(arg: Any, new: np.ndarray) -> Any:
    """Other elements as what an argument is: a number, or an array of NumPy's or Weft's."""
    if isinstance(arg, np.ndarray):
        return new
    if isinstance(arg, _NUMBERS):
        return type(arg)(new[()])
    import weft

    return weft.asarray(new)


def _compare(found: np.ndarray, expected: np.ndarray, rtol: float, atol: float, place: str) -> None:
    if found.shape != expected.shape:
        raise GradcheckError(f"the gradient of {place} has the shape {found.shape}, expected {expected.shape}")
    found = _wide(found)
    far = np.abs(found - expected) - (atol + rtol * np.abs(expected))
    far = np.where(np.isnan(far), np.inf, far)
    if far.size and far.max() > 0:
        worst = tuple(int(i) for i in np.unravel_index(int(np.argmax(far)), far.shape))
        count = int((far > 0).sum())
        raise GradcheckError(
            f"the gradient of {place} is wrong in {count} of {far.size} elements; the worst is {list(worst)}: "
            f"{found[worst]}, and central differences say {expected[worst]}"
        )

"""Rules: the bounds of what each of NumPy's functions gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arrays.fuzz import bounds
from arrays.fuzz.bounded import MOVES, Array, Given, bound_of, exact, ordered, unwrap
from arrays.fuzz.bounds import INEXACT, PROPAGATED, Undetermined, both, empty, ulps, worst

Rule = Callable[[Any, Given, dict], Any]


def rule(name: str) -> Rule:
    """That of a function."""
    if name in RULES:
        return RULES[name]
    if name in MOVES:
        return _moved(name)
    if name in INEXACT or name in PROPAGATED or name == "sign":
        return _elementwise(name)
    return _settled


def _settled(result: Any, args: Given, kw: dict) -> Any:
    """What takes no bounds gives none."""
    unwrap(args)
    return _none(result)


def _none(result: Any) -> Any:
    if isinstance(result, (tuple, list)):
        return [_none(each) for each in result]
    return empty(np.asarray(result)) if np.asarray(result).dtype.kind in "fc" else None


def _moved(name: str) -> Rule:
    """Bounds move as elements do."""

    def moved(result: Any, args: Given, kw: dict) -> Any:
        if name in ("zeros_like", "ones_like", "full_like"):
            return _none(result)
        if name in ("negative", "positive", "conj", "conjugate", "real", "imag"):
            given = bound_of(args[0])
            return {"real": np.real, "imag": np.imag}.get(name, np.copy)(given)
        given = [bound_of(each) if place in MOVES[name] else unwrap(each) for place, each in enumerate(args)]
        rest = {key: unwrap(value) for key, value in kw.items() if key not in ("dtype", "constant_values")}
        return getattr(np, name)(*given, **rest)

    return moved


def _elementwise(name: str) -> Rule:
    """Correctly rounded where operands are exact, or so many units in the last place off."""

    def elementwise(result: Any, args: Given, kw: dict) -> Any:
        if np.asarray(result).dtype.kind not in "fc":
            return _settled(result, args, kw)
        values = [np.asarray(unwrap(each, exactly=False)) for each in args]
        given = [bound_of(each) for each in args]
        doubtful = any(np.any(bound) for bound in given)
        if doubtful and name not in PROPAGATED:
            raise Undetermined(f"{name} of elements within bounds")
        bound = bounds.arithmetic(name, result, values, given) if name in PROPAGATED else empty(np.asarray(result))
        if name in INEXACT or (name in ("sqrt", "sign") and result.dtype.kind == "c"):
            bound = bound + _units(result, values)
        if name in ("logaddexp", "logaddexp2"):
            # The greater operand and a logarithm: near 0 the one takes the other away, and what is left is the rounding of both.
            size = np.abs(np.maximum(*(value.astype(np.float64) for value in values)))
            units = bounds.ULPS[result.dtype.str[1:]] * bounds.eps(result.dtype)
            bound = bound + np.where(np.isfinite(result) & np.isfinite(size), units * size, 0.0)
        return bound

    return elementwise


def _units(result: Any, values: list[np.ndarray]) -> np.ndarray:
    result = np.asarray(result)
    bound = bounds.ulps(result, bounds.ULPS[result.dtype.str[1:]])
    if result.dtype.kind == "c":
        # What complex functions give for infinities, NaN and at their edges is compared elsewhere.
        tame = np.isfinite(result)
        for value in values:
            tame = tame & np.isfinite(value) & (np.abs(value) < 50) & (np.abs(value) > 2.0**-10)
        return np.where(tame, both(np.abs(bound), result), both(np.full(result.shape, np.inf), result))
    return bounds.near_overflow(result, bound)


def _absolute(result: Any, args: Given, kw: dict) -> Any:
    given = bound_of(args[0])
    if np.asarray(result).dtype.kind not in "fc":
        return None
    if given.dtype.kind != "c":
        return np.copy(given)
    finite = np.where(np.isfinite(result), bounds.ulps(np.asarray(result), 8), 0.0)
    return bounds.near_overflow(np.asarray(result), 2 * worst(given) + finite)


def _larger(result: Any, args: Given, kw: dict) -> Any:
    """maximum, minimum, clip: of one of the operands; a zero may have either's sign."""
    if np.asarray(result).dtype.kind not in "fc":
        return _settled(result, args, kw)
    bound = np.zeros(np.shape(result))
    for each in args:
        if each is not None:
            bound = np.maximum(bound, worst(bound_of(each)))
    if np.asarray(result).dtype.kind == "c" and bound.any():
        raise Undetermined("the larger of complex elements within bounds")
    return both(np.where((bound == 0) & (np.abs(result) == 0), 5e-324, bound), np.asarray(result))


def _of_axis(args: Given, kw: dict) -> tuple[np.ndarray, np.ndarray, Any, bool]:
    """Values, bounds, axis and keepdims of a reduction."""
    axis = kw.get("axis", args[1] if len(args) > 1 else None)
    array = args[0] if isinstance(args[0], Array) else Array(np.asarray(args[0]))
    return array.v, bound_of(array), axis, bool(kw.get("keepdims", False))


def _extreme(result: Any, args: Given, kw: dict) -> Any:
    values, given, axis, keepdims = _of_axis(args, kw)
    if values.dtype.kind not in "fc":
        return None
    if values.dtype.kind == "c" and given.any():
        raise Undetermined("the largest of complex elements within bounds")
    bound = np.max(worst(given), axis=axis, keepdims=keepdims, initial=0.0)
    several = values.ndim > 1 if axis is None else isinstance(axis, tuple) and len(axis) > 1
    if values.dtype.kind == "c" and several:
        # Which of several NaN it is along several axes depends on how NumPy goes through memory.
        bound = np.where(np.isnan(result), np.inf, bound)
    return both(np.where((bound == 0) & (np.abs(result) == 0), 5e-324, bound), np.asarray(result))


def _sum(result: Any, args: Given, kw: dict) -> Any:
    values, given, axis, keepdims = _of_axis(args, kw)
    result = np.asarray(result)
    if result.dtype.kind not in "fc":
        if values.dtype.kind in "fc":
            raise Undetermined("floats summed as integers")
        return None
    bound = bounds.of_sum(values, given, axis, result.dtype, keepdims, unwrap(kw.get("where", True)))
    if "initial" in kw:
        bound = bound + (values.size + 1) * bounds.eps(result.dtype) * abs(kw["initial"])
    return bounds.near_overflow(result, both(bound, result))


def _product(result: Any, args: Given, kw: dict) -> Any:
    values, given, axis, keepdims = _of_axis(args, kw)
    result = np.asarray(result)
    if result.dtype.kind not in "fc":
        if values.dtype.kind in "fc":
            raise Undetermined("floats multiplied as integers")
        return None
    if "initial" in kw or "where" in kw:
        raise Undetermined("a product of some elements")
    return bounds.near_overflow(result, both(bounds.of_product(values, given, axis, result.dtype, keepdims), result))


def _count(values: np.ndarray, axis: Any, keepdims: bool, where: Any = True) -> np.ndarray:
    return np.sum(np.ones(values.shape), axis=axis, keepdims=keepdims, where=where)


def _mean(result: Any, args: Given, kw: dict) -> Any:
    values, given, axis, keepdims = _of_axis(args, kw)
    where = unwrap(kw.get("where", True))
    result = np.asarray(result)
    if result.dtype.kind not in "fc":
        raise Undetermined("a mean of integers")
    count = np.maximum(_count(values, axis, keepdims, where), 1)
    bound = (bounds.of_sum(values, given, axis, result.dtype, keepdims, where) + 0.0) / count
    bound = np.where(count > 1, bound + 2 * np.where(np.isfinite(result), np.abs(result), 0) * bounds.eps(result.dtype), bound)
    return bounds.near_overflow(result, both(bound, result))


def _variance(root: bool) -> Rule:
    def variance(result: Any, args: Given, kw: dict) -> Any:
        values, given, axis, keepdims = _of_axis(args, kw)
        if given.any() or "where" in kw:
            raise Undetermined("a variance of elements within bounds")
        result = np.asarray(result)
        size = np.abs(values.astype(np.complex128 if values.dtype.kind == "c" else np.float64))
        count = _count(values, axis, keepdims)
        special = np.any(~np.isfinite(size), axis=axis, keepdims=keepdims)
        with np.errstate(all="ignore"):
            squares = np.sum(np.where(np.isfinite(size), size, 0) ** 2, axis=axis, keepdims=keepdims)
            free = np.maximum(count - kw.get("ddof", kw.get("correction", 0)), 0)
            bound = 8 * (count + 4) * bounds.eps(result.dtype) * np.where(free > 0, squares / free, 0.0)
            lost = ~(squares < float(np.finfo(result.dtype).max) / 4)
            if root:
                bound = (
                    np.sqrt(bound)
                    if np.ndim(bound) == 0 and result == 0
                    else np.where(result > 0, np.minimum(bound / result, np.sqrt(bound)), np.sqrt(bound))
                )
                bound = bound + bounds.ulps(result, 4)
        tiny = 64 * float(np.finfo(result.dtype).tiny) ** (0.5 if root else 1)
        return np.where(special | (free <= 0), 0.0, np.where(lost, np.inf, bound + tiny))

    return variance


def _running(whole: Rule) -> Rule:
    """cumsum and cumprod: each element is that of a prefix."""

    def running(result: Any, args: Given, kw: dict) -> Any:
        values, given, axis, _ = _of_axis(args, kw)
        if np.asarray(result).dtype.kind not in "fc":
            return whole(result, args, {})
        if axis is None or values.ndim == 0:
            values, given, axis = values.ravel(), given.ravel(), 0
        bound = np.zeros(result.shape, empty(result).dtype)
        for place in range(values.shape[axis]):
            here = (slice(None),) * (axis % values.ndim) + (slice(0, place + 1),)
            at = (slice(None),) * (axis % values.ndim) + (place,)
            bound[at] = whole(result[at], (Array(values[here], given[here]),), {"axis": axis})
        return bound

    return running


def _sorted(result: Any, args: Given, kw: dict) -> Any:
    ordered(exact(args[0]) if isinstance(args[0], Array) else args[0])
    return _none(result)


def _power(result: Any, args: Given, kw: dict) -> Any:
    """Whether an array of exponents has a negative integer among them is known too late for an error at the call.

    NumPy's loop takes roots where it goes along one exponent of a half, and powers elsewhere: which it does of several exponents depends on
    how they lie in memory, and -inf and -0 have another root than power.
    """
    bound = _elementwise("power")(result, args, kw)
    base, exponent = (np.asarray(unwrap(each, exactly=False)) for each in args[:2])
    if (values := np.asarray(result)).dtype.kind == "c":
        # exp(y log x): an error of the exponent is one of the result, as many times as large.
        with np.errstate(all="ignore"):
            times = np.abs(exponent) * np.abs(np.log(base.astype(np.complex128)))
        return bound + ulps(values, 8.0) * np.where(np.isfinite(times), times, 0.0)
    if np.asarray(result).dtype.kind == "f" and exponent.size > 1:
        bound = np.where((exponent == 0.5) & np.signbit(base) & ((base == 0) | np.isinf(base)), np.inf, bound)
    return bound


def _signbit(result: Any, args: Given, kw: dict) -> Any:
    """No standard says which sign a NaN has that an operation gives."""
    if np.isnan(np.asarray(unwrap(args[0]))).any():
        raise Undetermined("the sign of NaN")
    return None


def _copysign(result: Any, args: Given, kw: dict) -> Any:
    bound = _settled(result, args, kw)
    return np.where(np.isnan(np.asarray(unwrap(args[1]))), np.inf, bound)


def _matching(result: Any, args: Given, kw: dict) -> Any:
    """A rounded mean of elements: median and the like."""
    values = exact(args[0]) if isinstance(args[0], Array) else args[0]
    ordered(values)
    result = np.asarray(result)
    return both(np.abs(bounds.ulps(result, 8)), result) if result.dtype.kind in "fc" else None


RULES: dict[str, Rule] = {
    "absolute": _absolute,
    "abs": _absolute,
    **dict.fromkeys(("maximum", "minimum", "fmax", "fmin", "clip"), _larger),
    **dict.fromkeys(("max", "min", "amax", "amin"), _extreme),
    "sum": _sum,
    "prod": _product,
    "mean": _mean,
    "var": _variance(False),
    "std": _variance(True),
    **dict.fromkeys(("cumsum", "cumulative_sum"), _running(_sum)),
    **dict.fromkeys(("cumprod", "cumulative_prod"), _running(_product)),
    **dict.fromkeys(("sort", "unique", "argsort", "unique_values"), _sorted),
    "power": _power,
    "signbit": _signbit,
    "copysign": _copysign,
    "median": _matching,
}

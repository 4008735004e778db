"""Rules of elementary and special functions that NumPy has no ufuncs for.

Formulas are those of F. W. J. Olver and others, "NIST Digital Library of Mathematical Functions": 5.9 and 5.11 for the digamma function,
10.25, 10.29 and 10.40 for Bessel's functions. Those of SciPy's functions are written so that no part of them is infinite where the whole is
not, since what is left out of a choice is multiplied by 0.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from weft import math as weft_math
from weft._decorators import Vectorized, vectorize
from weft._weft import _full, _reshape, ndarray
from weft.arrays._common import select, u
from weft.arrays.windows import bessel
from weft.gradients.primitives import Call, primitive, through
from weft.gradients.rules.products import fitted

__all__ = ["digamma", "followed", "ruled"]


def _each(call: Call, operands: list[ndarray | None], count: int) -> list[ndarray]:
    """A function of elements for many values at once: the new axis is one more in front."""
    rank = max(array.ndim for array in call.arrays)
    others = {}
    for operand, array in zip(operands, call.arrays):
        if operand is not None:
            others[id(array)] = _reshape(operand, (count, *[1] * (rank - array.ndim), *array.shape))
    return [call.function(*(others.get(id(arg), arg) for arg in call.args))]


def _mul(a: Any, b: Any) -> Any:
    return u("multiply", a, b)


def digamma(x: ndarray) -> ndarray:
    """The derivative of the logarithm of the gamma function: of small numbers by that of larger ones, of negative ones by reflection."""
    below = u("less", x, 0.5)
    z = select(below, u("subtract", 1, x), x)
    shifted = u("add", z, 10)
    square = u("reciprocal", _mul(shifted, shifted))
    # Bernoulli's numbers over twice the power.
    series: Any = 0.0
    for term in (-1 / 12, 691 / 32760, -1 / 132, 1 / 240, -1 / 252, 1 / 120, -1 / 12):
        series = _mul(u("add", _mul(series, 1.0), term) if isinstance(series, ndarray) else _full((), term, x.dtype, x.device), square)
    found = u("add", u("subtract", u("log", shifted), u("divide", 0.5, shifted)), series)
    for at in range(10):
        found = u("subtract", found, u("reciprocal", u("add", z, at)))
    one = x.dtype.type(1)
    # Where nothing is reflected the tangent is that of a number that is no whole one.
    safe = select(below, x, x.dtype.type(0.25))
    sine = weft_math.sinpi(safe)
    cosine = weft_math.cospi(safe)
    turned = u("divide", _mul(cosine, math.pi), select(u("equal", sine, 0), _mul(one, math.nan), sine))
    return select(below, u("subtract", found, turned), found)


@vectorize
def _series_of_order_1(x):
    size = abs(x)
    if size < 30:
        term = x / 2
        total = term
        square = term * term
        for k in range(1, 80):
            term = term * square / (k * (k + 1))
            total += term
        return total
    term = np.exp(size) / np.sqrt(2 * np.pi * size)
    total = term
    for k in range(1, 24):
        term = -term * (4 - (2 * k - 1) ** 2) / (8 * k * size)
        total += term
    return total if x > 0 else -total


@primitive
def bessel_1(x: ndarray) -> ndarray:
    """The modified Bessel function of the first kind, order 1, the derivative of that of order 0."""
    return _series_of_order_1(x)


@bessel_1.defvjp
def _(g: ndarray, y: ndarray, x: ndarray) -> tuple[ndarray]:
    near = u("less", u("absolute", x), 1e-4)
    quotient = u("divide", bessel_1(x), select(near, x.dtype.type(1), x))
    # x/2 + x³/16: its quotient by x.
    small = u("add", _mul(_mul(x, x), 1 / 16), 0.5)
    return (fitted(_mul(g, u("subtract", bessel(x), select(near, small, quotient))), x),)


@bessel.defvjp
def _(g: ndarray, y: ndarray, x: ndarray) -> tuple[ndarray]:
    return (fitted(_mul(g, bessel_1(x)), x),)


bessel_1.defbatched(_each)
bessel.defbatched(_each)

_FLAT = lambda g, y, *args: None  # noqa: E731

# For each function what takes the cotangent, the value and the arguments to each argument's cotangent.
_KNOWN: dict[str, tuple[Callable[..., Any], ...]] = {
    "sinpi": (lambda g, y, x: _mul(g, _mul(weft_math.cospi(x), math.pi)),),
    "cospi": (lambda g, y, x: _mul(g, _mul(weft_math.sinpi(x), -math.pi)),),
    "tanpi": (lambda g, y, x: _mul(g, _mul(u("add", _mul(y, y), 1), math.pi)),),
    "exp10": (lambda g, y, x: _mul(g, _mul(y, math.log(10))),),
    "rsqrt": (lambda g, y, x: _mul(g, _mul(_mul(_mul(y, y), y), -0.5)),),
    "erf": (lambda g, y, x: _mul(g, _bell(x)),),
    "erfc": (lambda g, y, x: u("negative", _mul(g, _bell(x))),),
    "erfinv": (lambda g, y, x: _mul(g, _mul(u("exp", _mul(y, y)), math.sqrt(math.pi) / 2)),),
    "gamma": (lambda g, y, x: _mul(g, _mul(y, digamma(x))),),
    "lgamma": (lambda g, y, x: _mul(g, digamma(x)),),
    "logb": (_FLAT,),
    "remainder": (
        lambda g, y, a, b: g,
        lambda g, y, a, b: u("negative", _mul(g, u("rint", u("divide", u("subtract", a, y), b)))),
    ),
    "fma": (
        lambda g, y, a, b, c: _mul(g, b),
        lambda g, y, a, b, c: _mul(g, a),
        lambda g, y, a, b, c: g,
    ),
}


def _bell(x: ndarray) -> ndarray:
    return _mul(u("exp", u("negative", _mul(x, x))), 2 / math.sqrt(math.pi))


@functools.cache
def _known(function: Vectorized) -> Callable[..., Any]:
    name = function.__qualname__
    rules = _KNOWN.get(name)

    def plain(*args: Any) -> Any:
        return Vectorized.__call__(function, *args)

    plain.__name__ = f"weft.math.{name}"
    made = primitive(plain)
    if rules is not None:

        def rule(g: ndarray, y: ndarray, *args: Any) -> tuple[Any, ...]:
            found = []
            for each, arg in zip(rules, args):
                back = each(g, y, *args) if isinstance(arg, ndarray) and arg.dtype.kind in "fV" else None
                found.append(None if back is None else fitted(back, arg))
            return tuple(found)

        made.defvjp(rule)
    made.defbatched(_each)
    return made


def followed(function: Vectorized, args: tuple[Any, ...]) -> Any:
    """What a function of `weft.math` gives where a tape follows an argument."""
    return _known(function)(*args)


def _when(condition: ndarray, a: Any, b: Any, like: ndarray) -> ndarray:
    kind = like.dtype.type
    return select(condition, a if isinstance(a, ndarray) else kind(a), b if isinstance(b, ndarray) else kind(b))


def _polynomial(x: ndarray, coefficients: list[float]) -> ndarray:
    """Coefficients by rising powers."""
    found = _full((), coefficients[-1], x.dtype, x.device)
    for each in reversed(coefficients[:-1]):
        found = u("add", _mul(found, x), each)
    return found


def _expit(x: ndarray) -> ndarray:
    import weft

    return weft.scipy.special.expit(x)


def _exprel(x: ndarray) -> ndarray:
    near = u("less", u("absolute", x), 0.3)
    small = _polynomial(x, [1 / math.factorial(k + 1) for k in range(16)])
    safe = _when(near, 1, x, x)
    return select(near, small, u("divide", u("expm1", safe), safe))


def _log1prel(x: ndarray) -> ndarray:
    """log(1 + x) / x."""
    near = u("less", u("absolute", x), 0.1)
    small = _polynomial(_when(near, x, 0, x), [(-1) ** k / (k + 1) for k in range(20)])
    safe = _when(near, 1, x, x)
    return select(near, small, u("divide", u("log1p", safe), safe))


def _boxcox(log: ndarray, power: ndarray) -> ndarray:
    return _mul(log, _exprel(_mul(power, log)))


def _quotient(g: ndarray, x: ndarray, y: ndarray) -> ndarray:
    """g x / y, and 0 where x is."""
    none = u("equal", x, 0)
    return _when(none, 0, u("divide", _mul(g, x), _when(none, 1, y, y)), y)


_FORMULAS: dict[str, Callable[..., ndarray]] = {
    "exprel": _exprel,
    "boxcox": lambda x, power: _boxcox(u("log", x), power),
    "boxcox1p": lambda x, power: _boxcox(u("log1p", x), power),
    "inv_boxcox": lambda y, power: u("exp", _mul(y, _log1prel(_mul(y, power)))),
}

# As in `_KNOWN`.
_RULES: dict[str, tuple[Callable[..., Any], ...]] = {
    "expit": (lambda g, y, x: _mul(g, _mul(y, _expit(u("negative", x)))),),
    "log_expit": (lambda g, y, x: _mul(g, _expit(u("negative", x))),),
    "logit": (lambda g, y, x: u("divide", g, _mul(x, u("subtract", 1, x))),),
    "xlogy": (lambda g, y, a, b: _mul(g, u("log", b)), lambda g, y, a, b: _quotient(g, a, b)),
    "xlog1py": (lambda g, y, a, b: _mul(g, u("log1p", b)), lambda g, y, a, b: _quotient(g, a, u("add", b, 1))),
    "entr": (lambda g, y, x: u("negative", _mul(g, u("add", u("log", x), 1))),),
    "rel_entr": (
        lambda g, y, a, b: _mul(g, u("add", u("subtract", u("log", a), u("log", b)), 1)),
        lambda g, y, a, b: u("negative", _quotient(g, a, b)),
    ),
    "kl_div": (
        lambda g, y, a, b: _mul(g, u("subtract", u("log", a), u("log", b))),
        lambda g, y, a, b: u("subtract", g, _quotient(g, a, b)),
    ),
    "ndtr": (lambda g, y, x: _mul(g, _mul(u("exp", _mul(_mul(x, x), -0.5)), 1 / math.sqrt(2 * math.pi))),),
}


@functools.cache
def ruled(name: str, plain: Callable[..., ndarray]) -> Callable[..., ndarray]:
    """A function of `weft.scipy.special`, of arrays of floats, with the rule that it has by its name."""
    if name in _FORMULAS:
        made = primitive(plain)
        formula = _FORMULAS[name]
        made.defvjp(through(lambda *args: formula(*args)))
    elif name in _RULES:
        made, rules = primitive(plain), _RULES[name]
        made.defvjp(lambda g, y, *args: tuple(fitted(rule(g, y, *args), arg) for rule, arg in zip(rules, args)))
    else:
        return plain
    made.defbatched(_each)
    return made

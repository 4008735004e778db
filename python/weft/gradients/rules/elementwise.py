"""Cotangents of operations of elements: a row for each ufunc, a function for each of its operands.

A function is given the result's cotangent, the result, and the operands, and gives the operand's cotangent before it is summed to the
operand's shape. Rows without functions are of operations that are flat wherever they are not steep: their cotangents are zero. As in JAX
the larger of two equal numbers is half of each, and complex derivatives are multiplied with cotangents, not with their conjugates.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, pi
from typing import Any

from weft._weft import _full, _part, _select, _ufunc, ndarray
from weft.errors import GradientError

__all__ = ["ROWS", "pulled_back"]

Rule = Callable[..., Any]


def pulled_back(name: str | int, part: int | None, number: int, cotangent: ndarray, result: ndarray, args: list[ndarray]) -> ndarray | None:
    """The cotangent of an operand of an operation; none if it is zero."""
    if isinstance(name, int):
        from weft.gradients.rules import users

        return users.pulled_back(name, number, cotangent, result, args)
    name = _ALIASES.get(name, name)
    key = name if part is None else f"{name} {part}"
    if key not in ROWS:
        raise GradientError(f"the ufunc {name} has no gradient here: weft.custom_vjp gives a function a rule")
    rules = ROWS[key]
    if not rules:
        return None
    rule = rules[number]
    return None if rule is None else rule(cotangent, result, *args)


def u(name: str, *args: Any) -> Any:
    """A ufunc of arrays and Python's numbers."""
    return _ufunc(name, args, None)


def _add(a: Any, b: Any) -> Any:
    return u("add", a, b)


def _sub(a: Any, b: Any) -> Any:
    return u("subtract", a, b)


def _mul(a: Any, b: Any) -> Any:
    return u("multiply", a, b)


def _div(a: Any, b: Any) -> Any:
    return u("divide", a, b)


def _neg(a: Any) -> Any:
    return u("negative", a)


def _where(condition: ndarray, a: Any, b: Any, like: ndarray) -> ndarray:
    """A choice of arrays and numbers in the dtype of one array."""
    a, b = (x if isinstance(x, ndarray) else _full((), x, like.dtype, like.device) for x in (a, b))
    return _select(condition, a, b)


def _is_complex(x: ndarray) -> bool:
    return x.dtype.kind == "c"


def _is_zero(x: ndarray) -> ndarray:
    return u("equal", x, 0)


def _of_absolute(g: ndarray, y: ndarray, x: ndarray) -> ndarray:
    if not _is_complex(x):
        return _mul(g, u("sign", x))
    safe = _where(_is_zero(y), 1, y, y)
    return _mul(_div(g, safe), u("conjugate", x))


def _of_sign(g: ndarray, y: ndarray, x: ndarray) -> ndarray | None:
    if not _is_complex(x):
        return None
    # z / |z|: what is left of a change when that along z is taken away.
    size = u("absolute", x)
    safe = _where(_is_zero(size), 1, size, size)
    along = _part(_mul(g, y), "real")
    return _div(_sub(g, _mul(along, u("conjugate", y))), safe)


def _of_cast(g: ndarray, y: ndarray, x: ndarray) -> ndarray | None:
    if x.dtype.kind not in "fcV":
        return None
    return _part(g, "real") if _is_complex(g) and not _is_complex(x) else g


def _of_base(g: ndarray, y: ndarray, x: ndarray, e: ndarray) -> ndarray:
    # The derivative of x ** 0 is 0 at 0, too, where it would be 0 * 0 ** -1. Elsewhere it changes with the exponent.
    less = _where(u("logical_and", _is_zero(e), _is_zero(x)), 1, _sub(e, 1), e)
    return _mul(g, _mul(e, u("power", x, less)))


def _of_exponent(g: ndarray, y: ndarray, x: ndarray, e: ndarray) -> ndarray:
    safe = _where(_is_zero(x), 1, x, x)
    return _mul(g, _mul(y, u("log", safe)))


def _shared(larger: str) -> tuple[Rule, Rule]:
    """Of the larger, or smaller, of two: all of it, half of equal ones."""

    def first(g: ndarray, y: ndarray, a: ndarray, b: ndarray) -> ndarray:
        return _mul(g, _share(a, b))

    def second(g: ndarray, y: ndarray, a: ndarray, b: ndarray) -> ndarray:
        return _mul(g, _share(b, a))

    def _share(a: ndarray, b: ndarray) -> ndarray:
        half = _where(u("equal", a, b), 0.5, 0, a)
        return _where(u(larger, a, b), 1, half, a)

    return first, second


def _chosen(larger: str) -> tuple[Rule, Rule]:
    """The same of `fmax` and `fmin`, which take a number rather than none: the second operand unless the first is beyond it."""

    def _is_first(a: ndarray, b: ndarray) -> ndarray:
        return u("logical_or", u(larger, a, b), u("isnan", b))

    def first(g: ndarray, y: ndarray, a: ndarray, b: ndarray) -> ndarray:
        return _where(_is_first(a, b), g, 0, g)

    def second(g: ndarray, y: ndarray, a: ndarray, b: ndarray) -> ndarray:
        return _where(_is_first(a, b), 0, g, g)

    return first, second


def _of_logaddexp(number: int, base: str) -> Rule:
    def rule(g: ndarray, y: ndarray, *args: ndarray) -> ndarray:
        # Where both are infinite there is no difference of the two; NaN stays.
        beyond = _sub(args[number], y)
        beyond = _where(u("equal", args[number], y), 0, beyond, beyond)
        return _mul(g, u(base, beyond))

    return rule


def _of_copysign(g: ndarray, y: ndarray, a: ndarray, b: ndarray) -> ndarray:
    same = u("equal", u("signbit", a), u("signbit", b))
    return _where(same, g, _neg(g), g)


def _of_mantissa(g: ndarray, y: ndarray, x: ndarray) -> ndarray:
    safe = _where(_is_zero(x), 1, x, x)
    return _mul(g, _where(_is_zero(x), 1, _div(y, safe), y))


def _of_root(g: ndarray, power: Any) -> ndarray:
    return _div(g, u("sqrt", power))


def _sum_of_squares(a: ndarray, b: ndarray) -> ndarray:
    return _add(_mul(a, a), _mul(b, b))


_ALIASES = {
    "true_divide": "divide",
    "mod": "remainder",
    "pow": "power",
    "abs": "absolute",
    "conj": "conjugate",
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
}

FLAT: tuple[Rule, ...] = ()

_POWER: tuple[Rule | None, ...] = (_of_base, _of_exponent)

ROWS: dict[str, tuple[Rule | None, ...]] = {
    "cast": (_of_cast,),
    "select": (
        None,
        lambda g, y, c, a, b: _where(c, g, 0, g),
        lambda g, y, c, a, b: _where(c, 0, g, g),
    ),
    "add": (lambda g, y, a, b: g, lambda g, y, a, b: g),
    "subtract": (lambda g, y, a, b: g, lambda g, y, a, b: _neg(g)),
    "multiply": (lambda g, y, a, b: _mul(g, b), lambda g, y, a, b: _mul(g, a)),
    "divide": (lambda g, y, a, b: _div(g, b), lambda g, y, a, b: _neg(_div(_mul(g, y), b))),
    "floor_divide": FLAT,
    # Not the quotient rounded: 1.0 / 0.1 is 10, and 0.1 is in 1.0 nine times.
    "remainder": (lambda g, y, a, b: g, lambda g, y, a, b: _neg(_mul(g, u("floor_divide", a, b)))),
    "fmod": (lambda g, y, a, b: g, lambda g, y, a, b: _neg(_mul(g, u("rint", _div(_sub(a, y), b))))),
    "divmod 0": FLAT,
    "divmod 1": (lambda g, y, a, b: g, lambda g, y, a, b: _neg(_mul(g, u("floor_divide", a, b)))),
    "power": _POWER,
    "float_power": _POWER,
    "negative": (lambda g, y, x: _neg(g),),
    "positive": (lambda g, y, x: g,),
    "absolute": (_of_absolute,),
    "fabs": (_of_absolute,),
    "sign": (_of_sign,),
    "square": (lambda g, y, x: _mul(g, _mul(2, x)),),
    "reciprocal": (lambda g, y, x: _neg(_mul(g, _mul(y, y))),),
    "conjugate": (lambda g, y, x: u("conjugate", g),),
    "sqrt": (lambda g, y, x: _div(_mul(g, 0.5), y),),
    "cbrt": (lambda g, y, x: _div(g, _mul(3, _mul(y, y))),),
    "hypot": (
        lambda g, y, a, b: _mul(g, _div(a, _where(_is_zero(y), 1, y, y))),
        lambda g, y, a, b: _mul(g, _div(b, _where(_is_zero(y), 1, y, y))),
    ),
    "exp": (lambda g, y, x: _mul(g, y),),
    "exp2": (lambda g, y, x: _mul(g, _mul(y, log(2))),),
    "expm1": (lambda g, y, x: _mul(g, _add(y, 1)),),
    "log": (lambda g, y, x: _div(g, x),),
    "log2": (lambda g, y, x: _div(g, _mul(x, log(2))),),
    "log10": (lambda g, y, x: _div(g, _mul(x, log(10))),),
    "log1p": (lambda g, y, x: _div(g, _add(x, 1)),),
    "logaddexp": (_of_logaddexp(0, "exp"), _of_logaddexp(1, "exp")),
    "logaddexp2": (_of_logaddexp(0, "exp2"), _of_logaddexp(1, "exp2")),
    "sin": (lambda g, y, x: _mul(g, u("cos", x)),),
    "cos": (lambda g, y, x: _neg(_mul(g, u("sin", x))),),
    "tan": (lambda g, y, x: _mul(g, _add(_mul(y, y), 1)),),
    "arcsin": (lambda g, y, x: _of_root(g, _sub(1, _mul(x, x))),),
    "arccos": (lambda g, y, x: _neg(_of_root(g, _sub(1, _mul(x, x)))),),
    "arctan": (lambda g, y, x: _div(g, _add(_mul(x, x), 1)),),
    "arctan2": (
        lambda g, y, a, b: _mul(g, _div(b, _sum_of_squares(a, b))),
        lambda g, y, a, b: _neg(_mul(g, _div(a, _sum_of_squares(a, b)))),
    ),
    "sinh": (lambda g, y, x: _mul(g, u("cosh", x)),),
    "cosh": (lambda g, y, x: _mul(g, u("sinh", x)),),
    "tanh": (lambda g, y, x: _mul(g, _sub(1, _mul(y, y))),),
    "arcsinh": (lambda g, y, x: _of_root(g, _add(_mul(x, x), 1)),),
    "arccosh": (lambda g, y, x: _div(g, _mul(u("sqrt", _sub(x, 1)), u("sqrt", _add(x, 1)))),),
    "arctanh": (lambda g, y, x: _div(g, _sub(1, _mul(x, x))),),
    "deg2rad": (lambda g, y, x: _mul(g, pi / 180),),
    "radians": (lambda g, y, x: _mul(g, pi / 180),),
    "rad2deg": (lambda g, y, x: _mul(g, 180 / pi),),
    "degrees": (lambda g, y, x: _mul(g, 180 / pi),),
    "maximum": _shared("greater"),
    "minimum": _shared("less"),
    "fmax": _chosen("greater"),
    "fmin": _chosen("less"),
    "copysign": (_of_copysign, None),
    "ldexp": (lambda g, y, x, e: u("ldexp", g, e), None),
    "frexp 0": (_of_mantissa,),
    "frexp 1": FLAT,
    "modf 0": (lambda g, y, x: g,),
    "modf 1": FLAT,
    "heaviside": (None, lambda g, y, x, h: _where(_is_zero(x), g, 0, g)),
    "rint": FLAT,
    "floor": FLAT,
    "ceil": FLAT,
    "trunc": FLAT,
    "spacing": FLAT,
    "nextafter": FLAT,
}

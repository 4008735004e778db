"""The rows of the table for ufuncs."""

from __future__ import annotations

from typing import Any

from tests.gradients.cases import A, Case, L, P, Spec, U, case, words

_COMPLEX = words(
    """
    absolute add arccosh arcsin arccos arctan arcsinh arctanh conjugate cos cosh divide exp exp2 expm1 log log10 log1p
    log2 multiply negative positive power reciprocal sin sinh sqrt square subtract tan tanh float_power
    """
)


def _unary(name: str, spec: Any) -> list[Case]:
    """A function of one array: with axes, without, of one element and of none."""
    shapes = ((2, 3), (), (1,), (0,))
    c = name in _COMPLEX
    return [case(lambda m, x: getattr(m, name)(x), spec(*shape), c=c, jax=name != "arccosh" or not c) for shape in shapes]


def _binary(name: str, first: Any, second: Any) -> list[Case]:
    """A function of two: of one shape, broadcast against each other, and beside a number."""
    c = name in _COMPLEX

    def made(a: Spec, b: Spec) -> Case:
        return case(lambda m, x, y: getattr(m, name)(x, y), a, b, c=c, jax=name not in ("fmod", "float_power", "remainder", "mod"))

    return [
        made(first(2, 3), second(2, 3)),
        made(first(2, 1), second(3)),
        made(first(), second(2)),
        made(first(0, 2), second(1, 2)),
        case(lambda m, x: getattr(m, name)(x, 0.7), first(3), c=c),
    ]


_UNARY: dict[Any, str] = {
    A: """
        absolute abs fabs negative positive square reciprocal conjugate conj sin cos sinh cosh tanh arcsinh asinh arctan atan exp exp2 expm1
        cbrt deg2rad radians rad2deg degrees
    """,
    P: "sqrt log log2 log10 log1p",
    U: "arcsin asin arccos acos arctanh atanh tan",
    L: "arccosh acosh",
}

_BINARY: dict[str, tuple[Any, Any]] = {
    "add": (A, A),
    "subtract": (A, A),
    "multiply": (A, A),
    "divide": (A, A),
    "true_divide": (A, A),
    "power": (P, A),
    "pow": (P, A),
    "float_power": (P, A),
    "hypot": (A, A),
    "arctan2": (A, A),
    "atan2": (A, A),
    "logaddexp": (A, A),
    "logaddexp2": (A, A),
    "maximum": (A, A),
    "minimum": (A, A),
    "fmax": (A, A),
    "fmin": (A, A),
    "fmod": (A, P),
    "remainder": (A, P),
    "mod": (A, P),
}

RIGHT: dict[str, list[Case]] = {name: _unary(name, spec) for spec, names in _UNARY.items() for name in names.split()}
RIGHT |= {name: _binary(name, *specs) for name, specs in _BINARY.items()}
RIGHT |= {
    "copysign": [case(lambda m, x: m.copysign(x, m.asarray([1.0, -1.0, 1.0])), A(3))],
    "ldexp": [case(lambda m, x: m.ldexp(x, m.asarray([1, -2, 3])), A(3), jax=False)],
    "frexp": [case(lambda m, x: m.frexp(x)[0], A(3), jax=False)],
    "modf": [case(lambda m, x: m.modf(x)[0], A(3))],
    "divmod": [case(lambda m, x, y: m.divmod(x, y)[1], A(3), P(3), jax=False)],
    "heaviside": [case(lambda m, h: m.heaviside(m.asarray([0.0, 1.0, 0.0]), h), A(3))],
    "ufunc": [
        case(lambda m, x: m.add.reduce(x, axis=0), A(3, 2), c=True),
        case(lambda m, x: m.multiply.reduce(x, axis=1), A(2, 3), c=True),
        case(lambda m, x: m.maximum.reduce(x, axis=1), A(2, 3)),
        case(lambda m, x: m.add.reduce(x, axis=0, initial=2.0, where=m.asarray([True, False])), A(3, 2), jax=False),
        case(lambda m, x: m.add.accumulate(x, axis=1), A(2, 3), c=True),
        case(lambda m, x: m.multiply.accumulate(x, axis=0), A(3, 2), c=True),
        case(lambda m, x: m.maximum.accumulate(x, axis=1), A(2, 4), jax=False),
        case(lambda m, x: m.fmin.accumulate(x), A(4), jax=False),
        case(lambda m, x: m.add.reduceat(x, [0, 3, 1], axis=1), A(2, 4), c=True, jax=False),
        case(lambda m, x: m.maximum.reduceat(x, [0, 2]), A(4), jax=False),
        case(lambda m, x, y: m.multiply.outer(x, y), A(2), A(3), c=True),
        case(lambda m, x, y: _at(m.add, x, y), A(3), A(4), c=True, jax=False),
        case(lambda m, x, y: _at(m.subtract, x, y), A(3), A(4), jax=False),
        case(lambda m, x: m.sin(x, where=m.asarray([True, False, True]), out=m.zeros(3)), A(3), jax=False),
        case(lambda m, x: m.add(x, 1, dtype="float32"), A(3), jax=False, loose=1e7, smooth=False),
    ],
}


def _at(ufunc: Any, x: Any, y: Any) -> Any:
    made = x * 2
    ufunc.at(made, [0, 2, 2, 1], y)
    return made


# Operations that are flat wherever they are not steep, and those of truth values and integers.
FLAT: dict[str, Any] = {
    name: lambda m, x, name=name: getattr(m, name)(x)
    for name in words("floor ceil trunc rint sign signbit isfinite isinf isnan logical_not spacing")
}
FLAT |= {
    name: lambda m, x, name=name: getattr(m, name)(x, x[::-1])
    for name in words("equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor floor_divide nextafter")
}

NOTHING = words(
    """
    bitwise_and bitwise_or bitwise_xor bitwise_count bitwise_invert bitwise_not bitwise_left_shift bitwise_right_shift
    invert left_shift right_shift gcd lcm
    """
)

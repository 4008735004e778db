"""Random statements about whole arrays: views, expressions, constructors, reductions, writes to parts that may overlap what is read.

What type and shape an expression has is asked of NumPy, with arrays of ones of the same kinds and shapes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fuzz import expressions as ex
from fuzz.kinds import COMPLEX, FLOATS, INTEGERS, STRONG, kind_of, kind_of_dtype, result, sample
from fuzz.scope import Array

if TYPE_CHECKING:
    from fuzz.statements import Body

_UNARY = (
    "np.negative({0})", "np.absolute({0})", "np.square({0})", "np.sign({0})", "np.floor({0})", "np.sqrt({0})", "np.isnan({0})",
    "np.invert({0})", "np.logical_not({0})", "np.rint({0})", "-{0}", "~{0}", "abs({0})", "{0} ** 2", "{0}.astype(np.float64)",
    "{0}.astype(np.complex128)", "np.zeros_like({0})", "np.ones_like({0})", "{0}.copy()", "np.trunc({0}) + {0}",
    "np.copysign({0}, {0}[::-1])",
)  # fmt: skip
_OF_INTEGERS = ("{0}.astype(np.int8)", "{0}.astype(np.uint16)", "{0}.astype(np.int64)", "{0}.astype(np.bool_)", "{0}.astype(np.float32)")
_BINARY = (
    "{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} * 2 + {1}", "{0} < {1}", "{0} & {1}", "{1} - {0}", "{0} != {1}", "{0} // {1}", "{0} % {1}",
    "{0} / {1}", "np.minimum({0}, {1})", "np.maximum({0}, {1})", "np.where({0} > {1}, {0}, {0})", "{0} ^ {1}",
    "{0} >= {1}",
    "np.add({0}, {1})", "np.logical_and({0}, {1})", "np.equal({1}, {0})", "({0} + {1}) * ({0} - {1})", "np.fmod({0}, {1})",
)  # fmt: skip
# No products: NumPy fuses those of complex arrays on some machines.
_OF_COMPLEX = ("{0} + {1}", "{0} - {1}", "{0} == {1}", "{0} != {1}")
_WHOLE = ("max", "min", "any", "all", "argmax", "argmin")
_EXACT = ("sum", "sum", "prod")
"""Reductions that do not depend on the order of summation, of integers and bools."""


def statement(body: Body) -> bool:
    """One statement about arrays, if there is something to say."""
    makers = [view] * 2 + [expression] * 4 + [reduction] * 3 + [fill] * 3 + [construct, part]
    # Compiled functions refuse these as yet.
    makers += [into] if body.rng.random() < 0.1 else []
    return body.rng.choice(makers)(body)


def some(body: Body, rank: int | None = None) -> Array | None:
    """An array of known shape."""
    found = [a for a in body.scope.arrays.values() if not a.open and (rank is None or len(a.shape) == rank)]
    return body.rng.choice(found) if found else None


def define(body: Body, text: str, known: list[Array], number: tuple[str, str] | None = None) -> bool:
    """A variable for an expression of arrays (and of a number of some kind), if NumPy has a type and a shape for it."""
    names = {array.name: np.ones(array.shape, getattr(np, array.kind)) for array in known}
    dummy = text
    if number is not None:
        names["number_"] = sample(number[1])
        dummy = text.replace("@", "number_")
        text = text.replace("@", number[0])
    try:
        with np.errstate(all="ignore"):
            got = eval(dummy, {"np": np}, names)
    except (TypeError, ValueError, OverflowError, IndexError):
        return False
    if not isinstance(got, np.ndarray):
        kind = kind_of(got)
        if kind is None:
            return False
        name = body.scope.fresh("v")
        body.scope.numbers[name] = kind
    else:
        kind = kind_of_dtype(got.dtype)
        # An expression of arrays without axes is a number in NumPy, and so is its result here.
        if kind is None or got.size > 200 or got.ndim in (0, 5):
            return False
        name = body.scope.fresh("a")
        body.scope.arrays[name] = Array(name, kind, got.shape)
    body.say(f"{name} = {text}")
    return True


def view(body: Body) -> bool:
    """A view of an array: slices with odd steps, reversed and swapped axes, new ones, rows, parts of complex numbers."""
    array, rng = some(body), body.rng
    if array is None:
        return False
    what, writable = rng.random(), array.writable
    if what < 0.15:
        text = f"{array.name}.T"
    elif what < 0.25:
        # Copy or view, as the array lies in memory.
        text, writable = f"{array.name}.{rng.choice(['ravel()', 'flatten()', 'reshape(-1)'])}", False
    elif what < 0.35 and array.kind in COMPLEX:
        text = f"{array.name}.{rng.choice(['real', 'imag'])}"
    else:
        parts = [slice_text(body, length) for length in array.shape[: rng.randint(0, len(array.shape))]]
        if rng.random() < 0.1:
            parts.insert(rng.randint(0, len(parts)), "None")
        text = f"{array.name}[{', '.join(parts) or '...'}]"
    got = eval(text, {array.name: np.ones(array.shape, getattr(np, array.kind)), "np": np})
    if not isinstance(got, np.ndarray) or got.ndim > 4:
        return False
    name = body.scope.fresh("a")
    body.say(f"{name} = {text}")
    body.scope.arrays[name] = Array(name, kind_of_dtype(got.dtype) or "", got.shape, writable)
    return True


def slice_text(body: Body, length: int, whole: bool = False) -> str:
    """A slice with ends that may lie far outside, or (unless only slices are wanted) an index."""
    rng = body.rng
    if not whole and length and rng.random() < 0.25:
        return str(rng.randrange(-length, length))
    far = [2**63 - 1, -(2**63), 2**62]
    ends = [rng.choice(["", "", str(rng.randrange(-length - 2, length + 3))]) for _ in "ab"]
    if rng.random() < 0.03:
        ends[rng.randrange(2)] = str(rng.choice(far))
    step = rng.choice([""] * 20 + ["2", "-1", "-2", "3"] * 4 + [str(far[0]), str(far[1] + 1)])
    return ":".join(ends) + (f":{step}" if step else "")


def expression(body: Body) -> bool:
    """A new array of others and numbers, by operators and functions of NumPy."""
    rng, array = body.rng, some(body)
    if array is None:
        return construct(body)
    what = rng.random()
    if what < 0.3:
        templates = _UNARY + _OF_INTEGERS * 2 if array.kind in (*INTEGERS, "bool_") else _UNARY
        if array.kind in COMPLEX:
            templates = ("-{0}", "{0}.copy()", "np.conjugate({0})", "{0}.real", "np.isnan({0})")
        return define(body, rng.choice(templates).format(array.name), [array])
    others = [a for a in body.scope.arrays.values() if not a.open and _broadcasts(a.shape, array.shape)]
    if what < 0.7 and others:
        other = rng.choice(others)
        templates = _OF_COMPLEX if {array.kind, other.kind} & set(COMPLEX) else _BINARY
        return define(body, rng.choice(templates).format(array.name, other.name), [array, other])
    _, number = ex.meeting(ex.Expr("", array.kind), body.expr())
    templates = _OF_COMPLEX if {array.kind, number.kind} & set(COMPLEX) else _BINARY
    return define(body, rng.choice(templates).format(array.name, "@"), [array], (number.parenthesised().text, number.kind))


def construct(body: Body) -> bool:
    """An array of NumPy's constructors."""
    rng, name = body.rng, body.scope.fresh("a")
    kind = rng.choice(STRONG)
    shape = tuple(rng.randint(1, 4) for _ in range(rng.randint(1, 2)))
    made = rng.choice(["np.zeros({0}, np.{1})", "np.ones({0}, np.{1})", "np.full({0}, {2}, np.{1})", "np.arange({3})"])
    if "arange" in made:
        shape, kind = shape[:1], "int64"
    body.say(f"{name} = {made.format(shape, kind, ex.literal(rng, kind).text, shape[0])}")
    body.scope.arrays[name] = Array(name, kind, shape)
    return True


def fill(body: Body) -> bool:
    """A part of an array set or changed, or all of it in place; what is read may overlap what is written."""
    array, rng = some(body), body.rng
    if array is None or not array.writable or not array.shape:
        return False
    alike = [a for a in body.scope.arrays.values() if a.shape == array.shape and a.kind == array.kind and not a.open]
    what, part = rng.random(), slice_text(body, array.shape[0], whole=True)
    if what < 0.35:
        opposite = f"{array.name}[::-1]" if rng.random() < 0.3 else rng.choice(alike).name
        body.say(f"{array.name}[{part}] = {opposite}[{part}]")
        return True
    if what < 0.6:
        body.say(f"{array.name}[{part}] = {body.expr(array.kind).text}")
        return True
    op = rng.choice("+-" if array.kind in COMPLEX else "+-*")
    if result(f"{{0}} {op} {{1}}", array.kind, array.kind) != array.kind:
        return False
    if what < 0.8:
        body.say(f"{array.name}[{part}] {op}= {rng.choice(alike).name}[{part}]")
    else:
        body.say(f"{array.name} {op}= {rng.choice(alike).name}{rng.choice(['', '', '[::-1]'])}")
    return True


def part(body: Body) -> bool:
    """The real or imaginary parts of a complex array set: they are views."""
    found = [a for a in body.scope.arrays.values() if a.kind in COMPLEX and a.writable and 0 not in a.shape]
    if not found:
        return False
    array, rng = body.rng.choice(found), body.rng
    kind = {"complex64": "float32", "complex128": "float64"}[array.kind]
    which = rng.choice(["real", "imag"])
    place = f"[{ex.subscript(body.scope, array)}]" if rng.random() < 0.5 else "[...]"
    body.say(f"{array.name}.{which}{place} {rng.choice(['=', '+='])} {body.expr(kind).text}")
    return True


def into(body: Body) -> bool:
    """A ufunc that writes into an array it is given, all of it or where a mask says so."""
    rng = body.rng
    outs = [a for a in body.scope.arrays.values() if a.writable and a.shape and not a.open and a.kind in (*INTEGERS, *FLOATS)]
    if not outs:
        return False
    out = rng.choice(outs)
    fitting = [a for a in body.scope.arrays.values() if a.shape == out.shape and a.kind == out.kind and not a.open]
    masks = [a for a in body.scope.arrays.values() if a.shape == out.shape and a.kind == "bool_" and not a.open]
    a, b = rng.choice(fitting), rng.choice(fitting)
    name = rng.choice(["add", "multiply", "subtract", "maximum", "minimum"])
    where = f", where={rng.choice(masks).name}" if masks else ""
    body.say(f"np.{name}({a.name}, {b.name}, {rng.choice(['out=', 'out=', '']) if not where else 'out='}{out.name}{where})")
    return True


def reduction(body: Body) -> bool:
    """A number of a whole array, or one for each row or column."""
    array, rng = some(body), body.rng
    if array is None or 0 in array.shape or array.kind in COMPLEX:
        return False
    exact = array.kind in INTEGERS or array.kind == "bool_"
    # Which of two zeros is the least is a matter of how NumPy goes through the array.
    which = rng.choice(_WHOLE + _EXACT * 2 if exact else _WHOLE[2:])
    axis = f"axis={rng.randrange(-len(array.shape), len(array.shape))}" if len(array.shape) > 1 and rng.random() < 0.5 else ""
    if exact and len(array.shape) == 1 and rng.random() < 0.15:
        return define(body, f"np.dot({array.name}, {array.name}[::-1])", [array])
    if rng.random() < 0.5:
        return define(body, f"{array.name}.{which}({axis})", [array])
    return define(body, f"np.{which}({array.name}{', ' * bool(axis)}{axis})", [array])


def _broadcasts(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    try:
        np.broadcast_shapes(a, b)
    except ValueError:
        return False
    return True

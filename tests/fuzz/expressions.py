"""Random expressions of numbers.

Each has a kind that NumPy gives it (`kinds.result`). What the types guide lists as different from NumPy is kept out: Python's integers stay
small enough for int64 and for the strong integers they meet, floats are made integers only where they are in range, and operands that the
compiler gives one type (`x if c else y`, `and`, `min`) are of one kind to begin with.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from fuzz.kinds import COMPLEX, FLOATS, INTEGERS, REAL, STRONG, UNSIGNED, WEAK, is_bool, is_float, is_integer, is_weak, result
from fuzz.scope import MOST, Expr, Scope

_ARITHMETIC = ("+", "-", "*", "+", "-", "*", "/", "//", "%")
_BITS = ("&", "|", "^")
_ORDER = ("<", "<=", ">", ">=", "==", "!=")
_NP_UNARY = (
    "floor", "ceil", "trunc", "rint", "sqrt", "absolute", "negative", "sign", "square", "isnan", "isinf", "isfinite",
    "logical_not", "positive", "invert", "fabs", "conjugate", "spacing",
)  # fmt: skip
# Without fmin and fmax (of zeros of both signs NumPy gives another one in arrays than in numbers), and without signbit and copysign
# (the sign of a NaN is open).
_NP_BINARY = (
    "minimum", "maximum", "add", "subtract", "multiply", "logical_and", "logical_or", "logical_xor",
    "bitwise_and", "bitwise_or",
    "bitwise_xor", "floor_divide", "remainder", "fmod", "equal", "less", "true_divide", "heaviside", "nextafter", "not_equal",
)  # fmt: skip


def literal(rng: random.Random, kind: str) -> Expr:
    """A number written out."""
    if kind == "bool":
        return Expr(rng.choice(["True", "False"]), kind)
    if kind == "int":
        value = rng.choice([0, 1, 2, 3, 5, 7, 10, 31, 50, 100])
        return Expr(str(value), kind, value)
    if kind == "float":
        return Expr(rng.choice(["0.0", "0.5", "1.0", "1.5", "2.0", "3.0", "0.1", "10.0", "1e-3", "100.25"]), kind)
    if kind == "bool_":
        return Expr(rng.choice(["np.bool_(True)", "np.bool_(False)"]), kind)
    if kind in INTEGERS:
        value = rng.choice([0, 1, 2, 3, 7, 50, 100, 127])
        return Expr(f"np.{kind}({value})", kind)
    if kind in FLOATS:
        return Expr(f"np.{kind}({rng.choice(['0.0', '0.5', '1.0', '2.0', '3.0', '0.1', '7.25', '100.0'])})", kind)
    return Expr(f"np.{kind}({rng.choice(['1.0', '0.5', '1j', '2.0', '1.5j'])})", kind)


def leaf(scope: Scope, kind: str | None = None) -> Expr:
    """A variable, an element of an array, an item of a tuple, or a literal; of the kind if one is asked for."""
    rng = scope.rng
    found: list[Callable[[], Expr]] = []
    for name, has in scope.numbers.items():
        if kind in (None, has):
            found.append(lambda name=name, has=has: Expr(name, has))
    for array in scope.arrays.values():
        if kind in (None, array.kind) and 0 not in array.shape:
            found.append(lambda array=array: element(scope, array))
    for name, items in scope.tuples.items():
        for number, has in enumerate(items):
            if kind in (None, has):
                found.append(lambda name=name, number=number, has=has: Expr(item(scope, name, number), has))
    if found and rng.random() < 0.85:
        return rng.choice(found)()
    return literal(rng, kind or rng.choice(STRONG + WEAK + WEAK))


def item(scope: Scope, name: str, number: int) -> str:
    """An item of a tuple, by its number from either end or by its name."""
    fields = scope.fields.get(name)
    if fields and scope.rng.random() < 0.6:
        return f"{name}.{fields[number]}"
    return f"{name}[{number - len(scope.tuples[name]) if scope.rng.random() < 0.2 else number}]"


def element(scope: Scope, array: object) -> Expr:
    """An element of an array at an index in bounds."""
    return Expr(f"{array.name}[{subscript(scope, array)}]", array.kind)


def subscript(scope: Scope, array: object) -> str:
    """An index in bounds for each axis, from either end."""
    if not array.shape:
        return "()"
    if array.open:
        names = [name for name, kind in scope.numbers.items() if kind == "int"]
        return f"{scope.rng.choice(names)} % {array.name}.shape[0]" if names else scope.rng.choice(["0", "-1"])
    return ", ".join(index(scope, length) for length in array.shape)


def index(scope: Scope, length: int) -> str:
    """A number in `-length .. length - 1`, of any kind of integers."""
    rng = scope.rng
    what = rng.random()
    if what < 0.3:
        return str(rng.randrange(-length, length))
    names = [name for name, kind in scope.numbers.items() if kind == "int" or (kind in INTEGERS and length < 100)]
    if not names:
        return str(rng.randrange(-length, length))
    name = rng.choice(names)
    if what < 0.9 or scope.numbers[name] in UNSIGNED:
        return f"{name} % {length}"
    return f"{name} % {length} - {length}"


def value(scope: Scope, depth: int) -> Expr:
    """Any expression."""
    if depth <= 0 or scope.rng.random() < 0.15:
        return leaf(scope)
    makers = (_binary, _binary, _binary, _unary, _compare, _boolean, _choice, _function, _function, _builtin, _call, _applied)
    for _ in range(4):
        made = scope.rng.choice(makers)(scope, depth - 1)
        if made is not None:
            return made
    return leaf(scope)


def of_kind(scope: Scope, kind: str, depth: int) -> Expr:
    """An expression of just this kind."""
    for _ in range(3):
        made = value(scope, depth)
        if made.kind == kind:
            return made
    if scope.rng.random() < 0.5:
        return leaf(scope, kind)
    return convert(scope, value(scope, depth - 1), kind)


def condition(scope: Scope, depth: int) -> str:
    """What can stand behind `if`."""
    made = value(scope, depth)
    if made.kind in COMPLEX or scope.rng.random() < 0.6:
        made = _compare(scope, depth) or literal(scope.rng, "bool")
    return made.text


def convert(scope: Scope, e: Expr, kind: str) -> Expr:
    """The expression made one of the kind, by a conversion that is defined for every value it can have."""
    if e.kind == kind:
        return e
    if e.kind in COMPLEX and kind not in COMPLEX:
        e = Expr(f"({e.text}).real", {"complex64": "float32", "complex128": "float64"}[e.kind])
        return convert(scope, e, kind)
    if kind == "bool":
        return Expr(f"bool({e.text})", kind)
    if kind == "bool_":
        return Expr(f"np.bool_({e.text})", kind)
    if kind in COMPLEX or kind in FLOATS:
        return Expr(f"np.{kind}({e.text})", kind)
    if kind == "float":
        return Expr(f"float({e.text})", kind)
    if is_float(e.kind):
        return _from_float(scope, e, kind)
    if kind == "int":
        # What no int64 holds wraps.
        text = f"int({e.text} % np.uint64(97))" if e.kind == "uint64" else f"int({e.text})"
        return Expr(f"{text} % 97" if is_integer(e.kind) and e.kind != "int" else text, kind, 97).parenthesised()
    return Expr(f"np.{kind}({small(e, 50).text})", kind)


def _from_float(scope: Scope, e: Expr, kind: str) -> Expr:
    """A float made an integer: by way of a comparison, since one out of range has no defined value."""
    whole = f"(1 if {e.text} > 0 else 0)" if scope.rng.random() < 0.5 else f"int({e.text} > 1)"
    return Expr(whole, "int", 1) if kind == "int" else Expr(f"np.{kind}({whole})", kind)


def small(e: Expr, most: int) -> Expr:
    """A Python integer kept in `0 .. most`, so that every strong integer can hold it."""
    if e.kind != "int" or (e.text.isdigit() and int(e.text) <= most):
        return e
    return Expr(f"({e.text}) % {most + 1}", "int", most).parenthesised()


def tame(e: Expr) -> Expr:
    """A Python integer kept below `MOST`."""
    return e if e.kind != "int" or e.bound <= MOST else Expr(f"({e.text}) % {MOST}", "int", MOST).parenthesised()


def meeting(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Two operands, with Python integers made small where they meet a strong integer."""
    if a.kind in INTEGERS:
        b = small(b, 50)
    if b.kind in INTEGERS:
        a = small(a, 50)
    return tame(a), tame(b)


def _nonzero(scope: Scope, e: Expr, other: Expr) -> Expr:
    """A weak divisor of something weak that is not zero: Python raises there, and only code that may raise can."""
    if not (is_weak(e.kind) and is_weak(other.kind)) or (scope.raises and scope.rng.random() < 0.1):
        return e
    if e.kind == "float":
        return Expr(f"(abs({e.text}) + 1.0)", "float")
    return Expr(f"(({e.text}) % 7 + 1)", "int", 7)


def _binary(scope: Scope, depth: int) -> Expr | None:
    rng = scope.rng
    a, b = meeting(value(scope, depth), value(scope, depth))
    op = rng.choice(_ARITHMETIC)
    whole = not is_float(a.kind) and not is_float(b.kind) and a.kind not in COMPLEX and b.kind not in COMPLEX
    if whole and rng.random() < 0.3:
        op = rng.choice(_BITS)
    elif is_integer(a.kind) and rng.random() < 0.1:
        return _shift(scope, a, rng.choice(["<<", ">>"]))
    elif is_integer(a.kind) and rng.random() < 0.05:
        a = small(a, 50)
        return Expr(f"({a.text} ** {rng.choice([0, 1, 2, 3])})", a.kind, 10**6)
    if op in ("/", "//", "%"):
        if a.kind in COMPLEX or b.kind in COMPLEX:
            op = "*"
        else:
            b = _nonzero(scope, b, a)
    kind = result(f"{{0}} {op} {{1}}", a.kind, b.kind)
    if kind is None:
        return None
    bound = {"+": a.bound + b.bound, "-": a.bound + b.bound, "*": a.bound * b.bound}.get(op, max(a.bound, b.bound) * 2 + 1)
    return tame(Expr(f"({a.text} {op} {b.text})", kind, bound))


def _shift(scope: Scope, a: Expr, op: str) -> Expr:
    """A shift by a count that is less than every width."""
    a = tame(a)
    count = f"np.{a.kind}({scope.rng.randrange(8)})" if a.kind in INTEGERS and scope.rng.random() < 0.5 else str(scope.rng.randrange(8))
    return tame(Expr(f"({a.text} {op} {count})", a.kind, a.bound * 128))


def _unary(scope: Scope, depth: int) -> Expr | None:
    a = tame(value(scope, depth))
    op = scope.rng.choice(["-", "+", "~", "not ", "abs"])
    if op == "abs" and a.kind in COMPLEX:
        return None
    text = f"abs({a.text})" if op == "abs" else f"({op}{a.text})"
    kind = result("abs({0})" if op == "abs" else op + "{0}", a.kind)
    # The inverse of a Python bool is deprecated in Python itself.
    return None if kind is None or (op == "~" and a.kind == "bool") else Expr(text, kind, a.bound + 1)


def _compare(scope: Scope, depth: int) -> Expr | None:
    rng = scope.rng
    a, b = value(scope, depth), value(scope, depth)
    if a.kind in COMPLEX or b.kind in COMPLEX:
        text = f"({a.text} {rng.choice(['==', '!='])} {b.text})"
        return Expr(text, "bool_")
    if rng.random() < 0.15:
        c = of_kind(scope, b.kind, depth)
        first, second = (result("{0} < {1}", x, y) for x, y in ((a.kind, b.kind), (b.kind, c.kind)))
        # A chain is an `and`: one type.
        if first == second and first is not None:
            return Expr(f"({a.text} {rng.choice(_ORDER)} {b.text} {rng.choice(_ORDER)} {c.text})", first)
    kind = result("{0} < {1}", a.kind, b.kind)
    return None if kind is None else Expr(f"({a.text} {rng.choice(_ORDER)} {b.text})", kind)


def _boolean(scope: Scope, depth: int) -> Expr:
    """`and`, `or` of one kind; `not` of anything."""
    a = value(scope, depth)
    if a.kind in COMPLEX or scope.rng.random() < 0.2:
        return Expr(f"(not {a.text})", "bool")
    b = of_kind(scope, a.kind, depth)
    return Expr(f"({a.text} {scope.rng.choice(['and', 'or'])} {b.text})", a.kind, max(a.bound, b.bound))


def _choice(scope: Scope, depth: int) -> Expr:
    a = value(scope, depth)
    b = of_kind(scope, a.kind, depth)
    return Expr(f"({a.text} if {condition(scope, depth)} else {b.text})", a.kind, max(a.bound, b.bound))


def _function(scope: Scope, depth: int) -> Expr | None:
    """A NumPy function whose result is exact."""
    rng = scope.rng
    if rng.random() < 0.5:
        name = rng.choice(_NP_UNARY)
        a = tame(value(scope, depth))
        if a.kind in COMPLEX and name not in ("negative", "square", "conjugate", "positive", "isnan", "isfinite", "isinf", "logical_not"):
            return None
        kind = result(f"np.{name}({{0}})", a.kind)
        return None if kind is None else Expr(f"np.{name}({a.text})", kind)
    name = rng.choice(_NP_BINARY)
    a, b = meeting(value(scope, depth), value(scope, depth))
    if a.kind in COMPLEX or b.kind in COMPLEX:
        return None
    kind = result(f"np.{name}({{0}}, {{1}})", a.kind, b.kind)
    return None if kind is None else Expr(f"np.{name}({a.text}, {b.text})", kind)


def _builtin(scope: Scope, depth: int) -> Expr | None:
    """Python's own functions, and those of `math` on Python's numbers."""
    rng = scope.rng
    what = rng.randrange(7)
    if what == 6:
        a = value(scope, depth)
        if a.kind in COMPLEX:
            return Expr(f"({a.text}).{rng.choice(['real', 'imag'])}", {"complex64": "float32", "complex128": "float64"}[a.kind])
        if is_float(a.kind):
            return Expr(f"round({a.text}, {rng.choice([0, 1, 2, 3, -1, 10])})", a.kind)
        return None if a.kind != "int" else Expr(f"round({tame(a).text}, {rng.choice([-1, -2, 0, 3])})", "int", MOST * 10)
    if what == 0:
        a = value(scope, depth)
        if a.kind in COMPLEX or is_bool(a.kind):
            return None
        b = of_kind(scope, a.kind, depth)
        return Expr(f"{rng.choice(['min', 'max'])}({a.text}, {b.text})", a.kind, max(a.bound, b.bound))
    if what == 1:
        a = value(scope, depth)
        return None if a.kind not in REAL else Expr(f"float({a.text})", "float")
    if what == 2:
        return convert(scope, value(scope, depth), rng.choice(STRONG + WEAK))
    if what == 3:
        a = of_kind(scope, "float", depth)
        return Expr(rng.choice(["math.sqrt(abs({0}))", "math.fabs({0})", "math.copysign({0}, -1.5)", "abs({0})"]).format(a.text), "float")
    if what == 4:
        a = of_kind(scope, "float", depth)
        return Expr(f"math.{rng.choice(['isnan', 'isinf', 'isfinite'])}({a.text})", "bool")
    a = of_kind(scope, "int", depth)
    return Expr(f"divmod({tame(a).text}, {rng.choice([2, 3, 7, -4])})[{rng.randrange(2)}]", "int")


def _call(scope: Scope, depth: int) -> Expr | None:
    """A call of another function, with some arguments by name and some left to their defaults."""
    callees = [callee for callee in scope.callees if len(callee.gives) == 1]
    if not callees:
        return None
    callee = scope.rng.choice(callees)
    text = call(scope, callee, depth)
    return None if text is None else Expr(text, callee.gives[0])


def _applied(scope: Scope, depth: int) -> Expr | None:
    """A lambda called where it stands, or by a function that it is given to; a function given to that one."""
    rng = scope.rng
    if rng.random() < 0.6:
        return None
    plain = [c for c in scope.callees if len(c.gives) == len(c.params) == 1 and not c.params[0][1].endswith("[]")]
    if plain and scope.applies and rng.random() < 0.4:
        callee = rng.choice(plain)
        return Expr(f"{scope.applies}({callee.name}, {tame(of_kind(scope, callee.params[0][1], depth)).text})", callee.gives[0])
    given, name = tame(value(scope, depth)), scope.fresh("p")
    seen = {n: kind for n, kind in scope.numbers.items() if n not in scope.unset}
    made = tame(value(scope.inner(numbers=seen | {name: given.kind}), depth))
    if scope.applies and rng.random() < 0.6:
        return Expr(f"{scope.applies}(lambda {name}: {made.text}, {given.text})", made.kind)
    return Expr(f"(lambda {name}: {made.text})({given.text})", made.kind)


def call(scope: Scope, callee: object, depth: int) -> str | None:
    """The text of a call; nothing if there is no array to give it."""
    rng = scope.rng
    given = len(callee.params) - (rng.randrange(callee.defaults + 1) if callee.defaults else 0)
    texts = []
    by_name = False
    for name, kind in callee.params[:given]:
        if kind.endswith("[]"):
            fitting = [
                a for a in scope.arrays.values() if a.kind == kind[:-2] and len(a.shape) == 1 and len(scope.arrays) and 0 not in a.shape
            ]
            if not fitting:
                return None
            text = rng.choice(fitting).name
        else:
            text = tame(of_kind(scope, kind, depth)).text
        by_name = by_name or rng.random() < 0.15
        texts.append(f"{name}={text}" if by_name else text)
    if callee.rest and given == len(callee.params) and not by_name:
        texts += [tame(of_kind(scope, callee.rest, depth)).text for _ in range(rng.randrange(4))]
    return f"{callee.name}({', '.join(texts)})"

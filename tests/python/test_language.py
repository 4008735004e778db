"""Everything the language has, on many types, against the undecorated function."""

from __future__ import annotations

import cmath
import enum
import itertools
import math
import operator

import numpy as np
import pytest
from support import texts

import weft
from weft import njit

INTS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
FLOATS = [np.float32, np.float64]
COMPLEX = [np.complex64, np.complex128]
REAL = [*INTS, *FLOATS]
ALL = [np.bool_, *REAL, *COMPLEX]


def samples(dtype):
    """A few telling values of a type, or of a Python type."""
    if dtype in (bool, np.bool_):
        return [dtype(0), dtype(1)]
    if dtype is int:
        return [0, 1, 7]
    if dtype in (float, complex):
        return [dtype(v) for v in (0.5, -2.0, 3.25)]
    dtype = np.dtype(dtype)
    if dtype.kind == "u":
        return [dtype.type(v) for v in (0, 3, 100, np.iinfo(dtype).max)]
    if dtype.kind == "i":
        return [dtype.type(v) for v in (0, -3, 100, np.iinfo(dtype).min)]
    if dtype.kind == "f":
        return [dtype.type(v) for v in (-0.0, 2.5, -1.5, np.inf, np.nan)]
    return [dtype.type(v) for v in (0, -1.5 + 2j, 2.5 - 1j)]


def assert_same(got, want, context):
    """The same type and value; floats up to the last bits."""
    if isinstance(want, tuple):
        assert isinstance(got, tuple) and len(got) == len(want), context
        for g, w in zip(got, want):
            assert_same(g, w, context)
        return
    assert type(got) is type(want), f"{context}: {got!r}, expected {want!r}"
    if isinstance(want, np.ndarray):
        assert (got.dtype, got.shape) == (want.dtype, want.shape), f"{context}: {got!r}, expected {want!r}"
    dtype = np.asarray(want).dtype
    rtol = 0 if dtype.kind in "biuO" else 32 * np.finfo(dtype).eps
    np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol, equal_nan=True, err_msg=context)


def function_of(text, *names):
    """A function with a source of its own, as if it stood in a file."""
    source = f"def f({', '.join(names)}):\n" + "".join(f"    {line}\n" for line in text.splitlines())
    return texts.function_of(source, {"np": np, "math": math, "cmath": cmath})


def run(f, compiled, args, context):
    with np.errstate(all="ignore"):
        try:
            want = f(*args)
        except Exception as error:
            with pytest.raises(type(error)):
                compiled(*args)
            return
    assert_same(compiled(*args), want, f"{context} of {args}")


BINARY = {
    "a + b": ALL,
    "a - b": [*REAL, *COMPLEX],
    "a * b": ALL,
    "a / b": [*REAL, *COMPLEX],
    "a // b": REAL,
    "a % b": REAL,
    "divmod(a, b)": REAL,
    "a & b": [np.bool_, *INTS],
    "a | b": [np.bool_, *INTS],
    "a ^ b": [np.bool_, *INTS],
    "a << b": INTS,
    "a >> b": INTS,
    "a < b": REAL,
    "a >= b": REAL,
    "a == b": ALL,
    "a != b": ALL,
}


OPERATORS = {
    "add": ALL,
    "sub": [*REAL, *COMPLEX],
    "mul": ALL,
    "truediv": [*REAL, *COMPLEX],
    "floordiv": REAL,
    "mod": REAL,
    "and_": [np.bool_, *INTS],
    "or_": [np.bool_, *INTS],
    "xor": [np.bool_, *INTS],
    "lshift": INTS,
    "rshift": INTS,
    "lt": REAL,
    "le": REAL,
    "gt": REAL,
    "ge": REAL,
    "eq": ALL,
    "ne": ALL,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OPERATORS)
def test_binary_functions_of_operator(name):
    op = getattr(operator, name)

    def f(a, b):
        return op(a, b)

    compiled = njit(error_model="numpy")(f)
    for left, right in itertools.product(OPERATORS[name], (int, np.int16, np.uint64, np.float32)):
        if right is int or right in OPERATORS[name]:
            for a, b in zip(itertools.cycle(samples(left)), samples(right)):
                run(f, compiled, (a, b), name)


def test_other_functions_of_operator():
    def f(a, b):
        numbers = operator.neg(a), operator.pos(a), operator.abs(a), operator.pow(a, 2)
        return numbers, operator.not_(a), operator.truth(b), operator.contains((1, b), a), operator.is_(a, None), operator.is_not(b, None)

    def bits(a):
        return operator.invert(a), operator.inv(a)

    def arrays(a, b):
        return operator.add(a, b), operator.lt(a, b), operator.neg(a), operator.abs(a), operator.matmul(a, b)

    for args in ((2, 0), (-3, -3), (2.5, 1)):
        run(f, njit(f), args, "operator")
    for n in (5, np.int8(-4), np.uint16(3)):
        run(bits, njit(bits), (n,), "operator")
    run(arrays, njit(arrays), (np.arange(9.0).reshape(3, 3) - 4, np.ones((3, 3))), "operator")
    with pytest.raises(ZeroDivisionError):
        njit(lambda a, b: operator.truediv(a, b))(1, 0)
    with pytest.raises(weft.WeftError, match=r"'operator\.concat' is not known"):
        njit(lambda a: operator.concat(a, a))((1, 2))


class Color(enum.Enum):
    RED = 1
    GREEN = (2, 0.5)
    ROUGE = 1  # noqa: PIE796


class Code(enum.IntEnum):
    OK = 200
    GONE = 410
    WORST = -1


class Bit(enum.IntFlag):
    LOW = 1
    HIGH = 8


def test_enumerations():
    red = Color.RED

    def f(n):
        if n > Code.OK:
            n -= Code.GONE
        picked = Code["OK"] if n > 0 else Code.WORST
        same = Color.RED == Color.ROUGE, Color.RED != Color.GREEN, Color["GREEN"] is Color.GREEN, red is Color.RED, Color.RED == 1
        parts = Color.GREEN.value[0] * n, Color.GREEN.value[1], Code.GONE.value, Color.ROUGE.value, red.value, len(red.name)
        return n + Code.WORST, picked, same, parts, (n & 6) | Bit.HIGH | Bit.LOW, Code.OK == 200

    for n in (0, 7, 300, np.int64(-3), np.int64(500)):
        want = f(n)
        assert_same(
            njit(f)(n), (want[0], int(want[1]), *want[2:4], want[4] if isinstance(n, np.integer) else int(want[4]), want[5]), "enums"
        )

    @njit
    def device_function(color, n):
        return n if color is Color.RED else -n

    both = njit(lambda n: (device_function(Color.RED, n), device_function(Color.GREEN, n)))
    assert both(3) == (3, -3)


@pytest.mark.parametrize(
    "function, message",
    [
        (lambda n: Color.BLUE, "the enumeration 'Color' has no member 'BLUE'"),
        (lambda n: Color[n], "a member of 'Color' is found by its name, not by int"),
        (lambda n: Color.RED + n, "does not go with the constant 'Color.RED' and int"),
        (lambda n: Color.RED < Color.GREEN, "cannot be compared"),
        (lambda n: Color(n), "the enumeration 'Color' cannot be called"),
        (lambda n: Color.RED if n else Color.GREEN, "Color.RED"),
        (lambda n: Code.OK.twice, "has no attribute 'twice'"),
    ],
)
def test_what_enumerations_do_not_do(function, message):
    with pytest.raises(weft.WeftError, match=message):
        njit(function)(1)


def test_no_string_is_returned():
    @njit
    def name(n):
        return "name"

    with pytest.raises(weft.WeftError, match="'name' returns str, which compiled functions cannot"):
        njit(lambda n: name(n) == "name")(1)


SHAPES = [-1, 24, (-1,), (2, -1), (-1, 4), (2, -1, 4), (1, 24), (-1, -1), (-2, -12), (5, -1), 23, 0, (0, -1)]


@pytest.mark.parametrize("size", [24, 0])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_reshape_to_a_shape_known_at_run_time(shape, size):
    def f(a, shape):
        b = a.reshape(shape)
        return b, b.shape

    args = np.arange(size, dtype=np.int32), shape
    run(f, njit(f), args, "reshape")


def test_reshape_to_what_could_have_any_length():
    f = njit(lambda a: a.reshape(-1, 0))
    with pytest.raises(ValueError, match="cannot reshape"):
        f(np.zeros(0))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", BINARY)
def test_binary_operators(text):
    f = function_of(f"return {text}", "a", "b")
    # Where Python has an exception of its own for division by zero, NumPy's numbers have none.
    compiled = njit(error_model="numpy")(f)
    for left, right in itertools.product(BINARY[text], repeat=2):
        for a, b in zip(itertools.cycle(samples(left)), samples(right)):
            run(f, compiled, (a, b), text)
    # Python numbers are weak.
    for strong in BINARY[text]:
        weak = [t for t in (int, float, complex) if t is int or any(np.dtype(s).kind in "fc" for s in BINARY[text])]
        for weak_type in (t for t in weak if t is not complex or np.complex64 in BINARY[text]):
            for a, b in zip(samples(strong), itertools.cycle(samples(weak_type)[1:])):
                if not (weak_type is complex and strong is np.float64):  # A Python complex takes a float64 for a Python float.
                    run(f, compiled, (a, b), text)


UNARY = {
    "-a": [*REAL, *COMPLEX],
    "+a": [*REAL, *COMPLEX],
    "~a": [np.bool_, *INTS],
    "not a": ALL,
    "abs(a)": ALL,
    "bool(a)": ALL,
    "a.real": ALL,
    "a.imag": ALL,
    "a.conjugate()": [*REAL, *COMPLEX],
    "a ** 2": [*REAL, *COMPLEX],
    "a ** 0.5": [*FLOATS, *COMPLEX],
    "a * 2 + 1": ALL,
    "a * 0.5": ALL,
    "a * 1j": ALL,
    "1 < a < 50": REAL,
    "1 if a else 0": ALL,
    "np.sqrt(a)": [np.int32, np.int64, *FLOATS, *COMPLEX],
    "np.exp(a)": [np.int32, np.int64, *FLOATS, *COMPLEX],
    "np.abs(a)": ALL,
    "np.sign(a)": [*REAL],
    "np.isnan(a)": [*FLOATS, *COMPLEX],
    "np.floor(a)": [*REAL],
    "np.round(a)": [*REAL, *COMPLEX],
    "np.round(a, 1)": [*FLOATS, *COMPLEX],
    "np.conj(a)": [*REAL, *COMPLEX],
    "np.float32(a)": [np.bool_, *REAL],
    "np.float64(a)": [np.bool_, *REAL],
    "np.complex64(a)": ALL,
    "np.int16(a)": [np.bool_, *INTS],
    "np.maximum(a, 2)": REAL,
    "np.minimum(2.5, a)": FLOATS,
    "np.square(a)": [*REAL, *COMPLEX],
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", UNARY)
def test_unary_expressions(text):
    f = function_of(f"return {text}", "a")
    compiled = njit(f)
    for dtype in UNARY[text]:
        for a in samples(dtype):
            run(f, compiled, (a,), text)


@pytest.mark.parametrize("op", ["+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>", "<", "==", "and", "or"])
def test_operators_of_constants(op):
    """What is computed while compiling has Python's values and types, by name and in place."""
    in_place = "z = x" if op in ("<", "==", "and", "or") else f"z = x\nz {op}= y"
    for a, b in itertools.product([False, True, 0, 1, 3, -2, 0.5, -4.0], repeat=2):
        f = function_of(f"x = {a}\ny = {b}\n{in_place}\nreturn x {op} y, z")
        try:
            expected = f()
        except (TypeError, ValueError, ZeroDivisionError):
            continue
        if not isinstance(expected[0], complex):
            assert repr(njit(f)()) == repr(expected), (a, op, b)


def test_distances_of_integers_do_not_wrap():
    f = njit(function_of("return math.dist(p, q)", "p", "q"))
    points = [((np.uint8(0), 5), (np.uint8(3), np.uint8(7))), ((2**63 - 1,), (-(2**63),)), ((np.int8(127), 1.5), (np.int8(-128), 2))]
    for p, q in points:
        assert f(p, q) == math.dist(p, q)


def test_python_numbers():
    """Python's own numbers stay Python's."""
    cases = {
        "a + b, a - b, a * b, a // b, a % b, a / b": [(7, 2), (-7, 2), (7, -2), (7.5, 2), (-7.5, 2.25), (True, 3)],
        "a ** 2, a ** 3, a ** -1, a ** 0": [(3,), (-2,), (2.5,), (1 + 2j,)],
        "a ** b": [(2, 10), (-3, 3), (2.0, -3), (2, 0.5), (1 + 1j, 2)],
        "divmod(a, b), pow(a, b)": [(7, 3), (-7, 3), (7.5, 2.0)],
        "a < b, a <= b, a == b, a != b, a > b, a >= b": [(1, 2), (2.0, 2), (True, 1), (3, 2.5)],
        "a & b, a | b, a ^ b, a << 2, b >> 1, ~a": [(12, 10), (-12, 5)],
        "not a, not b, bool(a), bool(b)": [(0, 1.5), (0.0, -1)],
        "min(a, b), max(a, b)": [(1, 2), (2.5, 1.5)],
        "int(a), float(a), round(a), abs(a)": [(2.5,), (3.5,), (-2.5,), (-7,), (True,)],
        "round(a, 1), round(a, 2)": [(2.345,), (-1.25,)],
        "a.real, a.imag, a.conjugate()": [(1 + 2j,), (2.5,), (7,)],
        "complex(a, b), complex(a)": [(1.5, 2.5), (1, 2)],
        "math.floor(a), math.ceil(a), math.trunc(a), math.sqrt(abs(a))": [(2.5,), (-2.5,), (7,)],
        "math.atan2(a, b), math.hypot(a, b), math.fmod(a, b), math.copysign(a, b)": [(1.5, -2.5), (3, 4)],
        "cmath.exp(a), cmath.sqrt(a), cmath.phase(a)": [(1 + 2j,), (-1.0,)],
        "a and b": [(1, 2), (0, 2), (1.5, 0.0)],
        "a or b": [(1, 2), (0, 2), (0.0, 2.5)],
        "a if a > b else b": [(1, 2), (2.5, 1.5)],
        "True, False, a": [(1,)],
    }
    for text, rows in cases.items():
        names = "ab"[: len(rows[0])]
        f = function_of(f"return {text}", *names)
        compiled = njit(f)
        for args in rows:
            run(f, compiled, args, text)


PROGRAMS = {
    "augmented": """
x = a
x += 1
x *= 2
x -= 3
y = x
y //= 2
y %= 5
z = y
z /= 4
return x, y, z
""",
    "tuples": """
t = (a, (a + 1, a * 2), True)
x, (y, z), w = t
x, y = y, x
n = 0
for item in (1, 2, 3):
    n += item
return t, x, y, z, w, t[-1], t[1][0], len(t), n, (x,) + (y, z)
""",
    "chained": """
x = y = a + 1
x += 1
return x, y
""",
    "while_else": """
n = 0
i = 0
while i < 10:
    i += 1
    if i == a:
        break
    if i % 2:
        continue
    n += i
else:
    n = -1
return n, i
""",
    "for_else": """
found = -1
for i in range(5):
    for j in range(5):
        if i * j == a:
            found = i
            break
    else:
        continue
    break
else:
    found = -2
return found
""",
    "returns": """
'''A docstring.'''
if a > 3:
    return 1
elif a > 1:
    pass
else:
    for i in range(4):
        if i + a == 2:
            return i + 10
    return 3
assert a < 100, 'large'
return 2
""",
    "ranges": """
n = 0
for i in range(10, -1, -3):
    n = n * 11 + i
for i in range(a, 20, 4):
    n = n * 11 + i
for i in range(0):
    n = -1
return n, i
""",
    "iteration": """
n = 0
for i, (x, y) in enumerate(zip(range(5), range(a, 10)), 3):
    n = n * 7 + i * x + y
for i in reversed(range(3)):
    n = n * 7 + i
return n
""",
    "booleans": """
n = 0
if a > 1 and a < 5 or not a:
    n += 1
if 0 < a <= 3 != 2:
    n += 2
if a > 0 and 10 // a > 3:
    n += 4
n += 8 if a == 2 else 16 if a == 3 else 32
return n
""",
    "annotations": """
x: int = a
y: float
y = 2.5
return x * y
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_statements(name):
    f = function_of(PROGRAMS[name].strip(), "a")
    compiled = njit(f)
    for a in range(7):
        run(f, compiled, (a,), name)


ARRAYS = {
    "elements": "a[0] = a[1] + a[-1]\na[i] += 1\na[-2] = a[i] * 2\nreturn a[0], a[i], a",
    "slices": "b = a[1:-1]\nc = a[::2]\nd = a[::-1]\nb[0] = 3\nreturn b, c, d, a[i:], a[:i], a[i:i], len(c)",
    "expressions": "return a + 1, a * a, -a, a - a[0], a / 2, a == a[0], (a + a)[1:]",
    "shapes": "return a.shape, a.ndim, a.size, a.T.shape, len(a), a.sum(), a.mean()",
    "loops": "n = 0\nfor x in a:\n    n += x\nfor k, x in enumerate(a):\n    n += k\nfor x, y in zip(a, a[1:]):\n    n += y - x\nreturn n",
    "in_place": "a += 1\na[1:] *= 2\na[:2] -= a[-2:]\nb = a\nb += a\nreturn a, b",
    "makers": "b = np.zeros_like(a)\nc = np.full(3, a[0])\nb[1:] = a[:-1]\nreturn b, c, np.ones((2, 2), a.dtype)",
    "copies": "d = np.empty(len(a), a.dtype)\nd[:] = a\ne = a.copy()\ne[0] = 1\nreturn d, e, np.arange(i), np.linspace(0, 1, 5)",
    "masked": "b = a.copy()\nb[a == a[0]] = 0\nreturn b, np.where(a == a[1], a, b)",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", ARRAYS)
@pytest.mark.parametrize("dtype", [t for t in ALL if t is not np.bool_])
def test_arrays(text, dtype):
    f = function_of(ARRAYS[text], "a", "i")
    compiled = njit(f)
    base = np.arange(14).astype(dtype)
    for make in (lambda: base[:7].copy(), lambda: base.copy()[::2], lambda: base[:7].copy()[::-1]):
        wanted, got = make(), make()
        want = f(wanted, 2)
        assert_same(compiled(got, 2), want, text)
        assert_same(got, wanted, text)


MATRICES = {
    "views": "return a[1], a[:, 1], a[1:, ::-1], a[None, 0], a.T, a[..., 0], a[-1, -1], a[1][2]",
    "writes": "a[0] = 1\na[:, 1] = a[:, 0] + 1\na[1, 1:] *= 2\na.T[2] = 5\na[-1, ...] -= 1\nreturn a",
    "broadcast": "return a + a[0], a * a[:, :1], a - 1, a[0] + a[:, 0].sum()",
    "reductions": "return a.sum(), a.sum(axis=0), a.min(), a.max(), a.mean(axis=1), a[0].argmax(), (a > 3).any(), a.prod()",
    "sizes": "return a.shape, a.shape[0], a.shape[-1], a.size, a.ndim, a.T.shape, a[0].shape, a.reshape(-1).shape",
    "rows": "n = 0\nfor row in a:\n    for x in row:\n        n = n * 2 + x\nreturn n",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", MATRICES)
@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.float32, np.float64])
def test_matrices(text, dtype):
    f = function_of(MATRICES[text], "a")
    compiled = njit(f)
    base = np.arange(48).astype(dtype).reshape(6, 8) % 11
    layouts = [
        lambda: base[:3, :4].copy(),
        lambda: np.asfortranarray(base[:3, :4]),
        lambda: base.copy()[::2, ::2],
        lambda: base.copy()[:3, 4:][::-1, ::-1],
        lambda: np.ascontiguousarray(base[:4, :3]).T,
    ]
    for make in layouts:
        if text == "sizes" and not make().flags.c_contiguous:
            continue
        wanted, got = make(), make()
        want = f(wanted)
        assert_same(compiled(got), want, text)
        assert_same(got, wanted, text)


def test_empty_and_0d_arrays():
    def sizes(a):
        n = 0
        for _x in a:
            n += 1
        return a.shape, a.size, len(a), n, a + 1, a[:0], a.sum()

    compiled = njit(sizes)
    for shape in [(0,), (0, 3), (3, 0)]:
        a = np.zeros(shape)
        assert_same(compiled(a), sizes(a), str(shape))

    @njit
    def point(a):
        a[()] += 2
        return a.shape, a.size, a.ndim, a[()] * 2

    a = np.array(5.0)
    assert point(a) == ((), 1, 0, 14.0)
    assert a == 7.0


@njit
def area(width, height=2, *, scale=1):
    return width * height * scale


@njit
def minmax(a):
    low = high = a[0]
    for x in a:
        low, high = min(low, x), max(high, x)
    return low, high


def test_calls():
    @njit
    def calls(a):
        low, high = minmax(a)
        return area(3), area(3, 4), area(width=low, height=high), area(2, scale=5), area(1.5, height=2)

    a = np.array([3, 1, 2])
    assert_same(calls(a), calls.py_func(a), "calls")


FROZEN = (1, 2.5, np.float32(3))
TABLE = np.array([10, 20, 30])


def test_globals_and_closures_are_frozen():
    offset = 4

    @njit
    def frozen(i):
        return offset + FROZEN[1] + TABLE[i], FROZEN[2], TABLE.shape, i

    assert_same(frozen(1), frozen.py_func(1), "frozen")
    before = frozen(2)
    offset = 5
    TABLE[2] += 1
    try:
        assert frozen(2) == before
    finally:
        TABLE[2] -= 1


def test_prints(capfd):
    @njit
    def prints(a, b):
        print("a =", a, b, 1.0, 2j, True)
        print()
        print("done")

    args = (np.float32(0.1), 3)
    prints.py_func(*args)
    want = capfd.readouterr().out
    prints(*args)
    assert capfd.readouterr().out == want


def test_what_was_printed_before_an_exception_is_shown(capfd):
    @njit
    def fails(n):
        for i in range(n):
            print("at", i)
            assert i < 2, "too far"

    with pytest.raises(AssertionError, match="too far"):
        fails(5)
    assert capfd.readouterr().out == "at 0\nat 1\nat 2\n"


@pytest.mark.parametrize(
    "dtype, text, ufunc",
    [
        (np.int64, "a += 2.5", "add"),
        (np.int32, "a /= 2", "divide"),
        (np.uint8, "a -= np.int8(1)", "subtract"),
        (np.float32, "a *= 1j", "multiply"),
        (np.bool_, "a += 1", "add"),
        (np.int16, "a[1:] += 0.5", "add"),
        (np.int16, "b = a[::2]\nb **= 0.5", "power"),
        (np.uint64, "a //= np.int64(2)", "floor_divide"),
    ],
)
def test_arrays_changed_in_place_keep_their_kind(dtype, text, ufunc):
    f = function_of(f"{text}\nreturn a", "a")
    with pytest.raises(TypeError, match="same_kind"):
        f(np.ones(4, dtype))
    a = np.ones(4, dtype)
    with pytest.raises(weft.errors.TypingError, match=f"cannot cast ufunc '{ufunc}' output from .* with casting rule 'same_kind'"):
        njit(f)(a)
    assert a.all()


@pytest.mark.parametrize(
    "dtype, text", [(np.float32, "a += np.float64(0.1)"), (np.int8, "a += 1"), (np.complex64, "a *= 0.5"), (np.int8, "a[0] += 2.5")]
)
def test_arrays_take_what_is_of_their_kind(dtype, text):
    f = function_of(f"{text}\nreturn a", "a")
    a, b = np.ones(4, dtype), np.ones(4, dtype)
    assert_same(njit(f)(a), f(b), text)


def test_integers_to_negative_powers():
    @njit
    def power(a, n):
        return a**n

    assert [power(2, n) for n in (0, 1, 10)] == [1, 2, 1024]
    for a in (2, np.int32(2), np.int64(-1)):
        with pytest.raises(ValueError, match="Integers to negative integer powers"):
            power(a, -1)
    assert power(2.0, -1) == 0.5
    assert njit(error_model="numpy")(power.py_func)(2, -1) == 0

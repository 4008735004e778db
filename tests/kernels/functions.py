"""Host functions: scalars, control flow, tuples, calls."""

import cmath
import math

import numpy as np

from weft import njit

GLOBAL = 3
PAIR = (2, 0.5)


# run: add(1, 2)
# run: add(1, 2.5)
# run: add(np.float32(1.5), 2)
# run: add(np.int8(100), np.int8(100))
# run: add(1j, 2)
# run: add(True, 2)
@njit
def add(a, b):
    return a + b


# run: divisions(7, 2)
# run: divisions(-7, 2)
# run: divisions(7, -2)
# run: divisions(7.5, -2.0)
# run: divisions(np.int32(-7), np.int32(3))
# run: divisions(np.float32(7.5), np.float32(2))
# run: divisions(1, 0)  raises ZeroDivisionError
@njit
def divisions(a, b):
    return a / b, a // b, a % b


# run: divmods(17, 5)
# run: divmods(-17.5, 5.0)
@njit
def divmods(a, b):
    q, r = divmod(a, b)
    return q, r


# run: powers(3)
# run: powers(np.float32(1.5))
# run: powers(2.5)
@njit
def powers(x):
    return x**2, x**3, x**0, 2**3


# run: bits(12, 10)
# run: bits(np.uint8(200), np.uint8(3))
@njit
def bits(a, b):
    return a & b, a | b, a ^ b, ~a, a << 2, a >> 1


# run: compare(1, 2, 3)
# run: compare(3, 2, 2)
# run: compare(1.5, 2, 2)
@njit
def compare(a, b, c):
    return a < b < c, a == b or b == c, not a > b, a != b and c


# run: builtins_(-2.5, 7)
# run: builtins_(-3, 3.5)
@njit
def builtins_(a, b):
    return abs(a), min(a, b), max(a, b, 1), round(a), int(a), float(b), bool(a), complex(a, b)


# run: fib(20)
@njit
def fib(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


# run: loops(10)
# run: loops(0)
@njit
def loops(n):
    total = 0
    for i in range(n, 0, -2):
        total += i
    i = 0
    while i < n:
        i += 1
        if i == 5:
            break
    else:
        total += 100
    for j in range(2, n):
        for k in range(2, j):
            if j % k == 0:
                break
        else:
            total += j
    return total, i


# run: tuples((1, 2.5), 3)
@njit
def tuples(pair, x):
    a, b = pair
    nested = (a, (b, x), pair)
    (p, (q, r)), s = (a, (b, x)), len(pair)
    return nested[1][0] + p, nested[-1], (q, r, s)


# run: defaults(1)
# run: defaults(1, 5)
@njit
def defaults(a, b=10, c=100):
    return a + b * c


@njit
def helper(x, scale=2, shift=0):
    return x * scale + shift, x


# run: calls(3)
# run: calls(1.5)
@njit
def calls(x):
    a, b = helper(x)
    c, _ = helper(b, shift=a)
    d = helper(scale=3, x=c)
    return a, c, d[0]


# run: globals_(2)
@njit
def globals_(x):
    return x * GLOBAL + PAIR[0] * PAIR[1]


# run: ternary(5)
# run: ternary(-5)
@njit
def ternary(x):
    return x if x > 0 else -x * 2


# run: unify(True)
# run: unify(False)
@njit
def unify(flag):
    if flag:
        x = 1
    else:
        x = 2.5
    return x


# run: maths(0.5)  -> rtol=1e-14
# run: maths(np.float32(0.5))  -> rtol=1e-6
@njit
def maths(x):
    return (
        math.sin(x),
        math.cos(x),
        math.tan(x),
        math.atan(x),
        math.exp(x),
        math.log(x),
        math.sqrt(x),
        math.floor(x),
        math.ceil(x),
    )


# run: maths2(0.5, -2.0)  -> rtol=1e-14
@njit
def maths2(x, y):
    return (
        math.atan2(x, y),
        math.hypot(x, y),
        x**y,
        math.pow(x, y),
        math.fabs(y),
        math.copysign(x, y),
        math.trunc(y),
        math.pi,
    )


# run: numpys(0.5)  -> rtol=1e-14
# run: numpys(np.float32(0.5))  -> rtol=1e-6
@njit
def numpys(x):
    return (
        np.sin(x),
        np.sqrt(x),
        np.exp(x),
        np.float32(x),
        np.int64(x),
        np.minimum(x, 2),
        np.maximum(x, 2),
        np.arctan2(x, x),
    )


# run: complexes(1 + 2j, 3 - 1j)  -> rtol=1e-14
# run: complexes(np.complex64(1 + 2j), np.complex64(2j))  -> rtol=1e-6
@njit
def complexes(a, b):
    return a + b, a - b, a * b, a / b, -a, abs(a), a.real, b.imag, a.conjugate(), a == b, a**2


# run: cmaths(1 + 2j)  -> rtol=1e-13
@njit
def cmaths(a):
    return cmath.sqrt(a), cmath.exp(a), cmath.phase(a)


# run: array_loop(f64(20))  -> rtol=1e-14
# run: array_loop(every(2, f32(20)))  -> rtol=1e-5
@njit
def array_loop(a):
    total = 0.0
    for x in a:
        total += x
    for i, x in enumerate(a):
        if i % 2:
            total -= x
    for x, y in zip(a, a[1:]):
        total += x * y
    return total


# run: slices(f64(10))
# run: slices(i32(10))
@njit
def slices(a):
    return a[2:5][1], a[-3], a[::-1][0], a[1:-1].shape[0], len(a[20:]), a[::3].size, a[-4:].ndim


# run: matrix(f64(4, 5))
# run: matrix(f64(5, 4).T)
@njit
def matrix(a):
    row = a[1]
    col = a[:, 2]
    a[2:, 1:3] = 7
    a[0, :] = row
    return row[0] + col[-1], a.T[2, 3], a.shape


# run: write_view(f64(10))
@njit
def write_view(a):
    b = a[1::2]
    for i in range(len(b)):
        b[i] = i
        b[i] *= 2


# run: zero_d(np.array(5.0))
@njit
def zero_d(a):
    a[()] = a[()] + 1
    return a[()]


# run: asserts(1)
# run: asserts(-1)  raises AssertionError
@njit
def asserts(x):
    assert x > 0, "must be positive"
    return x


# run: returns_none(f64(3))
@njit
def returns_none(a):
    a[0] = 1


# run: early(3)
# run: early(-3)
@njit
def early(x):
    """A docstring."""
    if x < 0:
        return -1
    for i in range(10):
        if i * i > x:
            return i
    return 0


# run: chained(4)
@njit
def chained(n):
    a = b = n
    a += 1
    b -= 1
    a *= b
    return a, b


def make(scale):
    @njit
    def closure(x):
        return x * scale

    return closure


scaled = make(2.5)


# run: scaled(4)
# run: annotated(2, 3.0)
@njit
def annotated(a: int, b: float) -> float:
    total: float = 0.0
    total += a * b
    return total

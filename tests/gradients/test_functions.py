"""Gradients of functions: each against central differences of the function itself, in float64."""

import math

import numpy as np
import pytest

import weft
from gradients.central import check
from weft import prange

x5 = np.array([0.3, -1.2, 0.7, 1.9, -0.4])
y5 = np.array([1.1, 0.6, -0.8, 0.2, 1.7])


def test_straight_code():
    @weft.njit
    def f(x, y):
        return x * x * y + x / y - y

    check(f, 1.3, 0.7)
    assert f.grad((1.3, 0.7), (None, None)) == pytest.approx((2 * 1.3 * 0.7 + 1 / 0.7, 1.3**2 - 1.3 / 0.49 - 1))


FUNCTIONS = [
    ("sin", 0.7), ("cos", 0.7), ("tan", 0.7), ("asin", 0.3), ("acos", 0.3), ("atan", 0.7), ("sinh", 0.7), ("cosh", 0.7), ("tanh",
    0.7), ("asinh", 0.7), ("acosh", 1.7), ("atanh", 0.3), ("exp", 0.7), ("exp2", 0.7), ("expm1", 0.7), ("log", 0.7), ("log2",
    0.7), ("log10", 0.7), ("log1p", 0.7), ("cbrt", 0.7), ("erf", 0.7), ("erfc", 0.7), ("gamma", 2.7), ("lgamma", 2.7), ("sqrt",
    0.7), ("fabs", -0.7), ("floor", 0.7),
]  # fmt: skip


@pytest.mark.parametrize(("name", "at"), FUNCTIONS)
def test_elementary_functions(name, at):
    function = getattr(math, name, None)
    if function is None:
        pytest.skip("of a later Python")

    @weft.njit
    def f(x):
        return function(x) * x

    check(f, at)


@pytest.mark.parametrize("name", ["sinpi", "cospi", "tanpi", "exp10", "rsqrt", "erfinv"])
def test_functions_of_weft(name):
    function = getattr(weft.math, name)

    @weft.njit
    def f(x):
        return function(x) * x

    check(f, 0.3)


@pytest.mark.parametrize(
    "name",
    ["arctan2", "hypot", "logaddexp", "logaddexp2", "power", "maximum", "minimum", "fmax", "fmin", "copysign", "fmod", "mod", "remainder"],
)
def test_functions_of_two_numbers(name):
    function = getattr(np, name)

    @weft.njit
    def f(x, y):
        return function(x, y) * x

    check(f, 2.3, 0.7)
    check(f, 0.4, 1.7)


@pytest.mark.parametrize(("a", "b"), [(1.0, 0.1), (0.6, 0.2), (-1.0, 0.1), (7.0, -2.5), (1.0, -np.inf), (6.0, 2.0)])
def test_remainders_of_quotients_that_round(a, b):
    """1.0 / 0.1 is 10, and 1.0 % 0.1 is 1.0 - 9 * 0.1."""
    floored, truncated = -np.floor_divide(a, b), -np.rint((a - np.fmod(a, b)) / b)
    python, c = weft.njit(lambda a, b: a % b), weft.njit(lambda a, b: math.fmod(a, b))
    assert python.grad((a, b), (None, None)) == (1, floored) and c.grad((a, b), (None, None)) == (1, truncated)
    assert float(weft.vectorize(lambda a, b: a % b).pullback(1)(a, b, 1.0)) == floored
    for function in (weft.remainder, lambda a, b: weft.divmod(a, b)[1]):
        assert float(weft.grad(function, 1)(a, b)) == floored
    assert float(weft.grad(weft.fmod, 1)(a, b)) == truncated


@pytest.mark.parametrize("x", [0.001, 0.02, 0.029, 0.031, 1.3, -2.7])
def test_sinc(x):
    @weft.njit
    def f(x):
        return np.sinc(x)

    check(f, x)


def test_powers():
    @weft.njit
    def f(x, y):
        return x**3 + x**y + x**-2 + x**0.5 + x**2.5

    check(f, 1.3, 2.2)


def test_branches():
    @weft.njit
    def f(x, y):
        if x > y:
            z = x * y
        elif x > 0:
            z = x - y * y
        else:
            z = y
        return z * z

    check(f, 2.0, 0.7)
    check(f, 0.4, 0.7)
    check(f, -0.4, 0.7)


def test_early_returns():
    @weft.njit
    def f(x, y):
        if x > 1.0:
            return x * y
        t = x * x
        if y > t:
            return t * y * y
        for _i in range(5):
            t = t * x
            if t < 0.1:
                return t * y
        return t

    for x, y in [(1.5, 0.3), (0.5, 0.9), (0.7, 0.2), (0.99, 0.2)]:
        check(f, x, y)


def test_horner():
    @weft.njit
    def f(c, x):
        y = 0.0
        for i in range(c.shape[0]):
            y = y * x + c[i]
        return y

    check(f, x5, 0.8)
    check(f, np.zeros(0), 0.8)


def test_dot_and_norm():
    @weft.njit
    def dot(x, y):
        s = 0.0
        for i in range(len(x)):
            s += x[i] * y[i]
        return s

    check(dot, x5, y5)

    @weft.njit
    def norm(x):
        s = 0.0
        for v in x:
            s += v * v
        return math.sqrt(s)

    check(norm, x5)


def test_matmul():
    @weft.njit
    def matmul(a, b, c):
        for i in range(a.shape[0]):
            for j in range(b.shape[1]):
                s = 0.0
                for k in range(a.shape[1]):
                    s += a[i, k] * b[k, j]
                c[i, j] = s

    rng = np.random.default_rng(0)
    check(matmul, rng.standard_normal((3, 4)), rng.standard_normal((4, 2)), np.zeros((3, 2)))


def test_n_body():
    @weft.njit
    def forces(x, m, f):
        for i in range(x.shape[0]):
            a = 0.0
            for j in range(x.shape[0]):
                d = x[j] - x[i]
                r = math.sqrt(d * d + 0.01)
                a += m[j] * d / (r * r * r)
            f[i] = a

    check(forces, x5, y5 * y5, np.zeros(5), tolerance=1e-5)


def test_heat():
    @weft.njit
    def heat(u, v, k, steps):
        for _t in range(steps):
            for i in range(1, u.shape[0] - 1):
                v[i] = u[i] + k * (u[i - 1] - 2 * u[i] + u[i + 1])
            for i in range(1, u.shape[0] - 1):
                u[i] = v[i]

    check(heat, np.sin(np.arange(7.0)), np.zeros(7), 0.2, 5)


def test_nonlinear_steps_in_place():
    @weft.njit
    def steps(u, k, n):
        for _t in range(n):
            for i in range(1, u.shape[0] - 1):
                u[i] = u[i] + k * u[i] * u[i - 1] - 0.1 * u[i + 1] ** 2
        s = 0.0
        for i in range(u.shape[0]):
            s += u[i] * u[i]
        return s

    check(steps, np.cos(np.arange(6.0)), 0.2, 4, tolerance=1e-5)


def test_while_loops():
    @weft.njit
    def mandelbrot(x, y):
        a, b, n = 0.0, 0.0, 0
        while a * a + b * b < 4.0 and n < 30:
            a, b = a * a - b * b + x, 2.0 * a * b + y
            n += 1
        return a * b + a

    check(mandelbrot, 0.31, 0.52, tolerance=1e-5)
    check(mandelbrot, 0.1, 0.1, tolerance=1e-5)

    @weft.njit
    def newton(a):
        x = a
        while abs(x * x - a) > 1e-12:
            x = 0.5 * (x + a / x)
        return x

    check(newton, 3.0)


def test_break_and_continue():
    @weft.njit
    def f(x, y):
        s = 1.0
        for i in range(x.shape[0]):
            if x[i] < -1.0:
                continue
            s = s * (1.0 + x[i] * y[i])
            if s > 1.5:
                s = s * s
                break
            for j in range(i):
                if j == 2:
                    break
                s += y[j] * x[i] * s
        return s

    for seed in range(6):
        rng = np.random.default_rng(seed)
        check(f, rng.standard_normal(6), rng.standard_normal(6), tolerance=1e-5)


def test_nested_loops_that_carry():
    @weft.njit
    def f(x, n):
        s = x
        for i in range(n):
            t = s
            for _j in range(i + 1):
                t = math.sin(t) * s + 0.1
                for _k in range(2):
                    t = t * t + 0.2 * s
            s = s + t * 0.3
        return s

    check(f, 0.4, 4, tolerance=1e-5)


def test_backward_ranges():
    @weft.njit
    def f(x, a, b, c):
        s = 1.0
        for i in range(a, b, c):
            s = s * (x[i] + 0.3 * i)
        return s

    for a, b, c in [(0, 5, 1), (4, -1, -1), (4, 0, -2), (0, 5, 2), (1, 5, 3), (3, 1, 1), (0, 0, -1)]:
        check(f, x5, a, b, c, tolerance=1e-5)


def test_calls():
    @weft.njit
    def inner(x, y):
        if x > 0:
            return x * y
        return y * y

    @weft.njit
    def outer(x, v):
        s = 0.0
        for i in range(v.shape[0]):
            s += inner(v[i], x) * inner(x, v[i])
        return s

    check(outer, 0.7, x5)


def test_gathers_and_scatters():
    @weft.njit
    def f(x, index, y):
        for i in range(index.shape[0]):
            y[index[i]] += x[index[i]] * x[i]
        return y[0] * y[1]

    check(f, x5, np.array([0, 2, 2, 1, 0]), y5.copy())

    @weft.njit
    def last_wins(x, index, y):
        for i in range(index.shape[0]):
            y[index[i]] = x[i] * x[i]

    check(last_wins, x5, np.array([0, 2, 2, 1, 0]), y5.copy())


def test_arrays_as_expressions():
    @weft.njit
    def f(x, y):
        z = np.exp(x) * y + x[::-1]
        return (z * z).sum()

    check(f, x5, y5, tolerance=1e-5)

    @weft.njit
    def g(x, y):
        return np.sin(x) * y, x.sum()

    check(g, x5, y5)

    @weft.njit
    def h(a, x):
        b = a @ x
        return np.sum(b * b)

    m = np.arange(10.0).reshape(2, 5) / 7
    check(h, m, x5)


def test_axes_and_views():
    @weft.njit
    def f(a):
        s = a.sum(axis=0)
        t = a[1:].T * 2.0
        t[0] = s[0]
        return t[1].sum() * s[1] + np.mean(a[0])

    check(f, np.arange(6.0).reshape(2, 3) / 5)
    check(f, np.asfortranarray(np.arange(6.0).reshape(2, 3) / 5))
    check(f, np.arange(24.0).reshape(4, 6)[::2, ::2] / 5)


def test_maxima_and_products():
    @weft.njit
    def f(x):
        return x.max() * x.min() + np.prod(x)

    check(f, x5)


def test_prange():
    @weft.njit(parallel=True)
    def f(a, x, y):
        s = 0.0
        for i in prange(x.shape[0]):
            t = a * x[i]
            y[i] = t * t
            s += t * x[x.shape[0] - 1 - i]
        return s

    check(f, 0.7, x5, y5)

    @weft.njit(parallel=True)
    def n_body(x, f):
        for i in prange(x.shape[0]):
            a = 0.0
            for j in range(x.shape[0]):
                d = x[j] - x[i]
                a += d / (d * d + 0.1)
            f[i] = a

    check(n_body, x5, y5)

    @weft.njit(parallel=True)
    def product(x):
        p = 1.0
        for i in prange(x.shape[0]):
            p *= x[i]
        return p

    check(product, x5)


def test_prange_that_carries():
    @weft.njit(parallel=True)
    def f(x, y, n):
        for i in prange(x.shape[0]):
            t = x[i]
            for _j in range(4):
                t = math.sin(t) + 0.1 * t * t
            y[i] = t

    check(f, x5, y5, 4)


def test_loops_of_any_length_under_prange():
    @weft.njit(parallel=True)
    def f(x, n, y):
        for i in prange(x.shape[0]):
            t = x[i]
            for _j in range(n[i]):
                t = math.sin(t) + 0.1 * t * t
            y[i] = t

    check(f, np.linspace(0.1, 0.9, 7), np.array([0, 1, 31, 32, 33, 65, 150]), np.zeros(7))


def test_in_place_under_prange():
    @weft.njit(parallel=True)
    def f(x):
        for i in prange(x.shape[0]):
            x[i] = x[i] * x[i]
        for i in prange(x.shape[0]):
            x[i] = math.sin(x[i]) * x[i]

    check(f, x5)


def test_temporaries():
    @weft.njit
    def f(x):
        t = np.zeros(x.shape[0])
        for i in range(x.shape[0]):
            t[i] = x[i] * x[i]
        for i in range(1, x.shape[0]):
            t[i] = t[i] * t[i - 1]
        s = 0.0
        for i in range(x.shape[0]):
            s += t[i] * x[i]
        return s

    check(f, x5)


def test_results_that_are_arguments():
    @weft.njit
    def f(x):
        x[0] = x[1] * x[1]
        return x[1:], x

    check(f, x5)


def test_what_has_no_shadow_is_constant():
    @weft.njit
    def f(x, y):
        s = 0.0
        for i in range(x.shape[0]):
            s += x[i] * y[i]
        return s

    dx = np.zeros(5)
    f.grad((x5, y5), (dx, None))
    assert np.array_equal(dx, y5)

    @weft.njit
    def through(x, t):
        for i in range(x.shape[0]):
            t[i] = x[i] * x[i]
        return t[0]

    with pytest.raises(weft.errors.UnsupportedError, match="`t`, which is written here"):
        through.grad((x5, y5.copy()), (dx, None))


def test_float32():
    @weft.njit
    def f(a, x):
        s = np.float32(0.0)
        for i in range(x.shape[0]):
            s += a * np.tanh(x[i]) * x[i]
        return s

    check(f, np.float32(0.7), x5.astype(np.float32), step=1e-2, tolerance=2e-2)


def test_raising():
    @weft.njit
    def f(x):
        s = 0.0
        for i in range(x.shape[0]):
            if x[i] < 0:
                raise ValueError("negative")
            s += x[i] * x[i]
        return s

    check(f, np.abs(x5))
    with pytest.raises(ValueError, match="negative"):
        f.grad((x5,), (np.zeros(5),))


def test_integers_are_constants():
    @weft.njit
    def f(x, n):
        return x**n + int(x) * x + round(x)

    check(f, 1.3, 3)


def test_wrong_adjoints():
    @weft.njit
    def f(x, n):
        return x[0] * n

    with pytest.raises(ValueError, match="2 arguments and 1 adjoints"):
        f.grad((x5, 2), (None,))
    with pytest.raises(ValueError, match="shape"):
        f.grad((x5, 2), (np.zeros(4), None))
    with pytest.raises(weft.errors.TypingError, match="float64"):
        f.grad((x5, 2), (np.zeros(5, np.float32), None))
    with pytest.raises(ValueError, match="shares memory"):
        f.grad((x5, 2), (x5, None))
    with pytest.raises(ValueError, match="cotangent"):
        f.grad((x5, 2), (np.zeros(5), None), x5)
    with pytest.raises(TypeError, match="no kernel"):
        f.grad[1, 1]


def test_complex_numbers():
    """As JAX has them: of a real function the derivative by the real part minus i times that by the imaginary one."""

    @weft.njit
    def f(z, w, x):
        s = 0j
        for i in range(x.shape[0]):
            s += x[i] * x[i] * z / (x[i] + w)
        return s * w, abs(s)

    z = np.array([1 + 2j, 0.5 - 1j])
    assert weft.gradcheck(f, (1.2 - 0.7j, 0.3 + 0.4j, z))

    @weft.njit
    def g(z):
        return np.exp(z) * np.sin(z) + np.sqrt(z), np.abs(z), z.real, np.log(z)

    assert weft.gradcheck(g, (0.7 + 0.4j,))

    @weft.njit
    def h(x, y):
        x[0] = x[1] * y
        x *= 2j
        return x.real.sum(), x

    assert weft.gradcheck(h, (z, 1.3 + 0.2j))


def test_arguments_that_share_memory():
    @weft.njit
    def f(x, y):
        for i in range(x.shape[0]):
            y[i] = x[i] * x[i]
        return y[0] * x[0]

    x = x5.copy()
    with pytest.raises(ValueError, match="x and y may share memory"):
        f.grad((x, x), (np.zeros(5), np.zeros(5)))
    with pytest.raises(ValueError, match="may share memory"):
        f.grad((x[:4], x[1:]), (np.zeros(4), np.zeros(4)))

    @weft.njit
    def dot(x, y):
        return np.sum(x * y)

    dx, dy = np.zeros(5), np.zeros(5)
    dot.grad((x, x), (dx, dy))
    assert np.array_equal(dx, x) and np.array_equal(dy, x)


def test_rules():
    @weft.njit
    def f(x, y):
        return np.floor(x).sum() * y

    @f.defvjp
    def rule(cotangent, output, x, y):
        return cotangent * y * np.ones_like(x), cotangent * output / y

    dx = np.zeros(5)
    found = f.grad((x5, 2.0), (dx, None), 3.0)
    assert np.array_equal(dx, np.full(5, 6.0)) and found == (None, 3.0 * np.floor(x5).sum())


EXTREMES = {
    "maximum": (lambda a, b: np.maximum(a, b), (0.5, 0.5)),
    "minimum": (lambda a, b: np.minimum(a, b), (0.5, 0.5)),
    "clip from below": (lambda a, b: np.clip(a, b, 9.0), (0.5, 0.5)),
    "clip from above": (lambda a, b: np.clip(a, -9.0, b), (0.5, 0.5)),
    "max": (lambda a, b: max(a, b), (1.0, 0.0)),
    "min": (lambda a, b: min(a, b), (1.0, 0.0)),
}


@pytest.mark.parametrize("name", EXTREMES)
def test_extremes_of_equal_numbers(name):
    """NumPy's hand half to each, as JAX's; Python's are choices of the first."""
    function, shares = EXTREMES[name]
    assert weft.njit(function).grad((2.0, 2.0), (None, None), 3.0) == tuple(3.0 * share for share in shares)

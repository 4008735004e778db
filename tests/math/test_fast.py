"""`fastmath` takes the shorter versions, which are within 4 ULP on the usual ranges; without it nothing changes."""

from __future__ import annotations

import math

import compiled
import numpy as np
import pytest
from mathlib import LIBRARY, call, call_fast
from promises import FUNCTIONS, errors

import weft
from weft import njit

# The usual range of the arguments, up to this size. Of logarithms only what is above the second number.
RANGES = {"sin": 1000, "cos": 1000, "tan": 1000, "asin": 1, "acos": 1, "atan": 1e6, "atan2": 1e6}
RANGES |= {"sinh": 80, "cosh": 80, "tanh": 12, "asinh": 1e6, "acosh": 1e6, "atanh": 1 - 1e-6}
RANGES |= {"exp": 80, "exp2": 120, "exp10": 35, "expm1": 80, "hypot": 1e6, "cbrt": 1e30, "erf": 10, "erfc": 9}
RANGES |= {"log": 1e30, "log2": 1e30, "log10": 1e30, "log1p": 1e30}
ABOVE = {"log": 0, "log2": 0, "log10": 0, "log1p": -1}
VERSIONS = sorted(name for name in LIBRARY if name.endswith("_fast") and not name.startswith("_"))


def arguments(name: str, dtype: type, count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(12)
    top = RANGES[name]
    columns = []
    for _ in range(FUNCTIONS[name].arity):
        scaled = np.exp2(rng.uniform(-20, np.log2(top), count)) * rng.choice([-1, 1], count)
        multiples = np.arange(-300, 300) * (math.pi / 2)
        near = 1 + np.exp2(rng.uniform(-20, -2, count)) * rng.choice([-1, 1], count)
        small = rng.uniform(-1, 1, count) * min(top, 4)
        x = np.concatenate([rng.uniform(-top, top, count), small, scaled, near[near <= top], multiples[abs(multiples) < top]])
        x = 1 + abs(x) if name == "acosh" else x
        x = x.astype(dtype)
        columns.append(rng.permutation(x[x > ABOVE.get(name, -np.inf)]))
    return columns


@pytest.mark.parametrize("version", VERSIONS)
def test_error(version):
    name, suffix, _ = version.split("_")
    dtype = np.float32 if suffix == "f32" else np.float64
    args = arguments(name, dtype, 1500)
    error = errors(FUNCTIONS[name], call_fast(name, *args), args)
    worst = int(np.argmax(error))
    assert error[worst] <= 4, f"{version}({[a[worst] for a in args]}) is off by {error[worst]:.2f} ULP"


@pytest.mark.parametrize("version", VERSIONS)
def test_fastmath_takes_them(version, device):
    name, suffix, _ = version.split("_")
    args = arguments(name, np.float32 if suffix == "f32" else np.float64, 500)
    fast = weft.vectorize(getattr(compiled, name).py_func, fastmath=True)
    np.testing.assert_array_equal(fast(*args), call_fast(name, *args))
    np.testing.assert_array_equal(getattr(compiled, name)(*args), call(name, *args))


def test_a_function_without_a_shorter_version_stays():
    fast = weft.vectorize(compiled.gamma.py_func, fastmath=True)
    x = np.linspace(0.5, 20, 100)
    np.testing.assert_array_equal(fast(x), call("gamma", x))


def test_callees_keep_their_own_options():
    @njit
    def exact(x):
        return math.sin(x)

    @njit(fastmath=True)
    def fast(x):
        return math.sin(x)

    @njit(fastmath=True)
    def both(x):
        return exact(x), fast(x), math.sin(x)

    @njit
    def neither(x):
        return exact(x), fast(x), math.sin(x)

    x = 0.1 + np.arange(50.0)
    as_exact, as_fast = call("sin", x), call_fast("sin", x)
    np.testing.assert_array_equal(np.transpose([both(v) for v in x]), [as_exact, as_fast, as_fast])
    np.testing.assert_array_equal(np.transpose([neither(v) for v in x]), [as_exact, as_fast, as_exact])

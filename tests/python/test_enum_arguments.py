"""Members of enumerations as arguments of functions and kernels, against the undecorated function."""

from __future__ import annotations

import enum
from typing import NamedTuple

import numpy as np
import pytest

import weft
import weft.numba as numba
from weft import cuda, njit, types


class Color(enum.Enum):
    RED = 1
    GREEN = 2.5
    ROUGE = 1  # noqa: PIE796


class Planet(enum.Enum):
    VENUS = (4.869e24, 6.0518e6)
    MARS = (6.421e23, 3.3972e6)


class Code(enum.IntEnum):
    OK = 200
    GONE = 410


class Mode(str, enum.Enum):
    FAST = "fast"
    SLOW = "slow"


class Setting(NamedTuple):
    """A member inside a tuple."""

    color: Color
    scale: float


def _same(a, b):
    return a == b, a != b, a is b, a is not b


PAIRS = [(Color.RED, Color.RED), (Color.RED, Color.ROUGE), (Color.RED, Color.GREEN), (Planet.VENUS, Planet.MARS), (Color.RED, Planet.MARS)]


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_comparisons(pair):
    assert njit(_same)(*pair) == _same(*pair)


def test_values_and_names():
    def f(color, planet, n):
        if color is Color.RED:
            n += 1
        return color.value * n, planet.value[1], planet == Planet.MARS, len(color.name)

    compiled = njit(f)
    for color in Color:
        for planet in Planet:
            got, want = compiled(color, planet, 3), f(color, planet, 3)
            assert got == want and list(map(type, got)) == list(map(type, want))
    assert len(compiled.signatures) == 4


def test_members_pass_through_functions_and_variables():
    @njit
    def weight(color, x):
        return color.value * x

    def f(setting, n):
        color = setting.color
        total = 0.0
        for _ in range(n):
            total += weight(color, setting.scale)
            color = setting.color
        return total, setting.color is Color.GREEN

    for setting in (Setting(Color.RED, 2.0), Setting(Color.GREEN, 3)):
        assert njit(f)(setting, 4) == (lambda color, s: (4 * color.value * s, color is Color.GREEN))(*setting)


def test_members_that_are_numbers_are_these():
    def f(code, n):
        return code + n, code == Code.GONE, code > Code.OK

    compiled = njit(f)
    assert [compiled(code, 1) for code in Code] == [f(code, 1) for code in Code] and len(compiled.signatures) == 1


def test_members_that_are_strings_are_these():
    f = njit(lambda mode, n: n * 2 if mode == "fast" else n)
    assert [f(mode, 3) for mode in Mode] == [6, 3]


def test_types_of_members():
    assert numba.typeof(Color.RED) == types.EnumMember(Color.ROUGE) != numba.typeof(Color.GREEN)
    f = njit([(types.EnumMember(Color.RED), types.int64)])(lambda color, n: color.value + n)
    assert f(Color.RED, 2) == 3 and list(f.signatures) == [(types.EnumMember(Color.RED), types.int64)]
    with pytest.raises(weft.WeftError, match=r"other argument types than \(Color.GREEN, int\); it takes\n  \(Color.RED, int64\)"):
        f(Color.GREEN, 2)


@pytest.mark.parametrize(
    "function, message",
    [
        (lambda c: c < Color.RED, "cannot be compared"),
        (lambda c: c + 1, "does not go with the constant 'Color.GREEN' and int"),
        (lambda c: c.twice, "has no attribute 'twice'"),
        (lambda c: c, "returns the constant 'Color.GREEN', which compiled functions cannot"),
    ],
)
def test_what_members_do_not_do(function, message):
    with pytest.raises(weft.WeftError, match=message):
        njit(function)(Color.GREEN)


def test_kernels(device):
    def f(color, code, setting, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = color.value * i + code if color is not setting.color else setting.scale

    kernel = cuda.jit(f)
    for color in Color:
        out = np.zeros(40, np.float32)
        kernel.forall(40)(color, Code.GONE, Setting(Color.GREEN, np.float32(0.5)), out)
        want = color.value * np.arange(40) + 410 if color is not Color.GREEN else np.full(40, 0.5)
        np.testing.assert_array_equal(out, want.astype(np.float32))

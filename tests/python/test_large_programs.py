"""Programs of thousands of branches, operands and items compile, and what is nested too deeply is refused with words."""

import importlib.util

import numpy as np
import pytest

import weft
from weft import cuda, njit


@pytest.fixture
def load(tmp_path):
    """The function `f` of a text, which stands in a file as compiled functions must."""

    def load(text):
        path = tmp_path / "large_program.py"
        path.write_text("from weft import cuda, njit\n" + text)
        spec = importlib.util.spec_from_file_location("large_program", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.f

    return load


def lines(n, line):
    return "".join(line(i) for i in range(n))


PROGRAMS = {
    "items of a constant tuple": "def f(x):\n    return ({})[x]\n".format(lines(4000, lambda i: f"{i * 7 % 1000}, ")),
    "items of a tuple": "def f(x):\n    return ({})[x]\n".format(lines(500, lambda i: f"x + {i * 7 % 100}, ")),
    "and": "def f(x):\n    return {} x\n".format(lines(3000, lambda i: f"x < {i + 20} and ")),
    "or": "def f(x):\n    if {} x == -1:\n        return 1\n    return 2\n".format(lines(1000, lambda i: f"x == {i + 5} or ")),
    "if": "def f(x):\n    s = 0\n{}    return s\n".format(lines(2000, lambda i: f"    if x > {i % 9}:\n        s += {i}\n")),
    "if with return": "def f(x):\n{}    return -1\n".format(lines(2000, lambda i: f"    if x == {i}:\n        return {i * 7 % 13}\n")),
    "statements": "def f(x):\n    s = x\n{}    return s\n".format(lines(2000, lambda i: f"    s = (s * 3 + {i}) % 1001\n")),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_long_programs(load, name):
    f = load(PROGRAMS[name])
    compiled = njit(f)
    for x in (-1, 0, 3, 8, 33):
        assert compiled(x) == f(x)


@pytest.mark.parametrize("n", [31, 32, 33, 64, 65, 200])
def test_long_chains_of_elif(load, n):
    last = n - 1
    branches = lines(n, lambda i: f"    {'el' if i else ''}if x == {i} or x == {1000 + i}:\n        s += {i}\n")
    ends = lines(n, lambda i: f"    {'el' if i else ''}if x == {i}:\n        return {i * 3}\n")
    mixed = lines(n, lambda i: f"    {'el' if i else ''}if x == {i}:\n        {'return 7' if i % 5 == 1 else f's = {i}'}\n")
    steps = ("break", "continue", "s += k")
    jumps = lines(n, lambda i: f"        {'el' if i else ''}if k == {i}:\n            {steps[i % 3]}\n")
    for text in (
        f"def f(x):\n    s = 0\n{branches}    return s\n",
        f"def f(x):\n    s = 0\n{branches}    else:\n        s = -5\n    return s\n",
        f"def f(x):\n{ends}    else:\n        return -1\n",
        f"def f(x):\n{ends}    return -2\n",
        f"def f(x):\n    s = 0\n{mixed}    else:\n        s = -1\n    return s\n",
        f"def f(x):\n    s = 0\n{branches}    elif True:\n        s = 9\n    elif x == 'no number':\n        s = 10\n    return s\n",
        f"def f(x):\n    s = 0\n    for k in range(x, x + 3):\n{jumps}        s += 100\n    return s\n",
    ):
        f = load(text)
        compiled = njit(f)
        for x in (0, 1, 30, 31, 32, 33, 63, 64, last, n, 1000, 1000 + last, -1):
            assert compiled(x) == f(x), (text[-200:], x)


@pytest.mark.parametrize("device", [device.name for device in weft.devices()])
def test_long_chains_of_elif_in_kernels(load, device):
    branches = lines(70, lambda i: f"    {'el' if i else ''}if x == {i}:\n        s = {i * 7 % 13}\n")
    kernel = cuda.jit(load(f"def f(a):\n    x = cuda.grid(1)\n    s = 50\n{branches}    else:\n        s = 60\n    a[x] = s\n"))
    a = np.zeros(96, np.int32)
    with weft.device(device):
        kernel[3, 32](a)
    assert a.tolist() == [i * 7 % 13 if i < 70 else 60 for i in range(96)]


def test_items_of_long_tuples_in_kernels(load):
    kernel = cuda.jit(load("def f(a):\n    x = cuda.grid(1)\n    a[x] = ({})[x]\n".format(lines(64, lambda i: f"{i * 7 % 13}, "))))
    for device in weft.devices():
        a = np.zeros(64, np.int32)
        with device:
            if not device.int64:
                # The items of a tuple this long become an array of int64.
                with pytest.raises(weft.UnsupportedError, match="no 64-bit integers"):
                    kernel[2, 32](a)
                continue
            kernel[2, 32](a)
        assert a.tolist() == [i * 7 % 13 for i in range(64)]


def test_items_of_long_tuples_out_of_range(load):
    f = load("def f(x):\n    return ({})[x]\n".format(lines(100, lambda i: f"{i}.5, ")))
    compiled = njit(f)
    assert [compiled(i) for i in (0, 99, -1, -100)] == [0.5, 99.5, 99.5, 0.5]
    for outside in (100, -101, 2**62, -(2**63)):
        with pytest.raises(IndexError):
            compiled(outside)


def test_long_tuples_as_arguments():
    @njit
    def f(t, i):
        return t[i]

    items = tuple(range(300))
    assert [f(items, i) for i in (0, 255, -1)] == [0, 255, 299]
    with pytest.raises(IndexError):
        f(items, 300)


def nested(depth, twice=False):
    t = ()
    for _ in range(depth):
        t = (t, t) if twice else (t,)
    return t


DEEP = nested(5000)
WIDE = nested(60, twice=True)


@pytest.mark.parametrize("t", [DEEP, WIDE, (DEEP, 1), (0,) * 100_000], ids=["deep", "wide", "inside", "long"])
def test_tuples_that_are_too_large(t):
    f = njit(lambda t: 1)
    with pytest.raises(weft.TypingError, match="nested 64 deep"):
        f(t)
    with pytest.raises(weft.TypingError):
        cuda.jit(lambda t: None)[1, 1](t)
    assert f(nested(60)) == 1


def test_frozen_tuples_that_are_too_large():
    for f in (njit(lambda: DEEP[0]), njit(lambda: WIDE[0])):
        with pytest.raises(weft.TypingError, match="too large"):
            f()


def chain(n, line):
    functions = lines(n, lambda i: f"@njit\ndef f{i}(x):\n    return x + 1\n" if i == 0 else f"@njit\ndef f{i}(x):\n{line.format(i - 1)}\n")
    return f"{functions}f = f{n - 1}\n"


def test_chains_of_calls(load):
    assert load(chain(99, "    y = f{0}(x)\n    return y + 1"))(1) == 100
    with pytest.raises(weft.UnsupportedError, match="100 functions deep"):
        load(chain(120, "    y = f{0}(x)\n    z = f{0}(x)\n    return y + z"))(1)
    with pytest.raises(weft.UnsupportedError, match="too large"):
        load(chain(60, "    y = f{0}(x)\n    z = f{0}(x)\n    return y + z"))(1)


def test_nests_of_loops(load):
    nest = "    s = 0\n" + lines(10, lambda d: "    " * (d + 1) + f"for i{d} in range(2 if {d} == 9 else 1):\n")
    body = nest + "    " * 11 + "s += f{0}(x)\n    return s"
    assert load(chain(4, body))(1) == 16
    with pytest.raises(weft.UnsupportedError, match="loops are nested more than 64 deep"):
        load(chain(9, body))(1)


@pytest.mark.parametrize("text", ["-" * 900 + "x", "x" + " + x" * 900, "x" + ".real" * 900, "not " * 900 + "x"])
def test_expressions_that_are_nested_too_deeply(load, text):
    with pytest.raises(weft.UnsupportedError, match="deep"):
        njit(load(f"def f(x):\n    return {text}\n"))(1)


@pytest.mark.parametrize("n", [3, 60, 200])
def test_many_variables_of_a_parallel_loop(load, n):
    """What the iterations leave is found for all variables at once."""
    unset = lines(n, lambda i: f"    v{i} = False\n")
    found = lines(n, lambda i: f"        if a[i] == {i}:\n            v{i} = True\n")
    counted = lines(n, lambda i: f"    s += int(v{i})\n")
    f = load(f"from weft import prange\ndef f(a):\n{unset}    for i in prange(len(a)):\n{found}    s = 0\n{counted}    return s\n")
    a = np.arange(0, n, 3)
    assert njit(parallel=True)(f)(a) == f(a) == len(a)


@pytest.mark.parametrize("n", [3, 60])
def test_many_parallel_loops_leave_a_variable(load, n):
    arms = lines(n, lambda i: f"    {'el' if i else ''}if k == {i}:\n        for j in prange(m):\n            x = j * {i}\n")
    f = load(f"from weft import prange\ndef f(k, m):\n    x = j = -1\n{arms}    return x, j\n")
    compiled = njit(parallel=True)(f)
    for k, m in ((0, 5), (2, 7), (n - 1, 1), (n - 1, 0), (n, 3)):
        assert compiled(k, m) == f(k, m)

"""Shapes whose sizes overflow: an error before anything is touched, in compiled functions as in device memory."""

import importlib.util

import numpy as np
import pytest
from support import texts

import weft
from weft import cuda, njit
from weft.errors import UnsupportedError

# An expression of `n`, and the `n` at which no array can be that large.
TOO_BIG = [
    ("np.ones(n)", 2**61),
    ("np.ones(n)", 2**63 - 1),
    ("np.full(n, 3.0)", 2**61),
    ("np.full((n, n), 3)", 2**31),
    ("np.empty(n)", 2**61),
    ("np.zeros(n)", 2**60),
    ("np.zeros((n, n))", 2**32),
    ("np.zeros((n, n, n), np.int8)", 2**22),
    ("np.zeros((n, 0, n))", 2**32),
    ("np.zeros((n, n), np.complex128)", 2**30),
    ("np.zeros_like(np.zeros((n, 0)), np.complex128)", 2**59),
    ("np.ones_like(np.zeros((n, 0)), np.complex128)", 2**59),
    ("np.full_like(np.zeros((n, 0)), 1, np.complex128)", 2**59),
    ("np.zeros((n, 0)).astype(np.complex128)", 2**59),
    ("np.arange(n)", 2**61),
    ("np.arange(0.0, n)", float("inf")),
    ("np.arange(0.0, 1.0, n)", 1e-300),
    ("np.linspace(0.0, 1.0, n)", 2**61),
    ("np.zeros((n, 0)) @ np.zeros((0, n))", 2**40),
    ("np.zeros((n, 1, 0)) + np.zeros((1, n, 0))", 2**40),
    ("np.zeros(-n)", 1),
    ("np.zeros((-n, -n))", 5),
    ("np.zeros((0, -n))", 5),
    ("np.zeros(0).reshape(n, n)", 2**32),
    ("np.zeros(0).reshape((n, n))", 2**32),
    ("np.zeros(0).reshape(n, 0, n)", 2**32),
    ("np.zeros(0).reshape(0, n)", 2**61),
    ("np.zeros(6).reshape(n, n, -1)", 2**32),
    ("np.zeros(0).reshape(n, n, -1)", 2**32),
    ("np.zeros(6).reshape(-1, -n)", 3),
    ("np.zeros(6).reshape(-2, -n)", 3),
    ("np.zeros(6).reshape((-2, -n))", 3),
]

# The same where there is room.
FITS = [
    ("np.zeros((n, 0))", 2**40),
    ("np.zeros((0, n, 0), np.int8)", 2**40),
    ("np.zeros(0).reshape(n, 0)", 2**40),
    ("np.zeros((n, 0)).reshape(0, n)", 2**40),
    ("np.zeros((2, n)).reshape(n, -1)", 3),
    ("np.zeros((2, n)).reshape((n, 1, -1))", 3),
    ("np.zeros((n, n), np.int8).reshape((n, -1, n))", 3),
    ("np.zeros((n, 0)) @ np.zeros((0, n))", 30),
    ("np.zeros((n, 1, 0)) + np.zeros((1, n, 0))", 30),
    ("np.arange(-n, n)", 5),
]


@pytest.fixture(scope="module")
def functions(tmp_path_factory):
    """The expressions as plain functions of `n`, in a file that can be compiled from."""
    path = tmp_path_factory.mktemp("sizes") / "functions_of_sizes.py"
    cases = dict.fromkeys(expression for expression, _ in TOO_BIG + FITS)
    path.write_text("import numpy as np\n" + "".join(f"def f{i}(n):\n    return {expression}\n" for i, expression in enumerate(cases)))
    spec = importlib.util.spec_from_file_location("functions_of_sizes", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {expression: getattr(module, f"f{i}") for i, expression in enumerate(cases)}


@pytest.mark.parametrize("expression, n", TOO_BIG)
def test_shapes_that_no_array_can_have(functions, expression, n):
    function = functions[expression]
    with pytest.raises((ValueError, MemoryError)):
        function(n)
    with pytest.raises((ValueError, MemoryError)):
        njit(function)(n)


@pytest.mark.parametrize("expression, n", FITS)
def test_shapes_with_room(functions, expression, n):
    function = functions[expression]
    wanted, got = function(n), njit(function)(n)
    assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype)


def test_the_error_says_where():
    @njit
    def f(n):
        return np.zeros((n, n)).sum()

    with pytest.raises(ValueError, match="too big") as caught:
        f(2**32)
    assert "np.zeros((n, n))" in "\n".join(getattr(caught.value, "__notes__", ["np.zeros((n, n))"]))


def test_checked_mode_refuses_the_same():
    @njit(debug=True)
    def f(n):
        return np.zeros((n, n, 0)).size

    assert f(2**20) == 0
    with pytest.raises(ValueError, match="too big"):
        f(2**32)


def test_broadcast_sizes():
    @njit
    def size(a, b):
        return (a + b).size

    @njit
    def mean(a, b):
        return (a + b).mean()

    column, row = (np.broadcast_to(np.zeros(1), shape) for shape in ((2**32, 1), (1, 2**32)))
    with pytest.raises(ValueError):
        column + row
    for function in (size, mean):
        with pytest.raises(ValueError, match="too big"):
            function(column, row)


def test_positions_of_huge_shapes():
    @njit
    def count(n, m):
        found = 0
        for _ in np.ndindex((n, m)):
            found += 1
        return found

    assert count(3, 4) == 12
    with pytest.raises(ValueError, match="too big"):
        count(2**32, 2**32)


DEVICES = [device.name for device in weft.devices()]


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("shape", [2**61, 2**63, 2**100, (2**32, 2**32), (2**40, 2**40, 0), (2**70, 0), -1, (3, -1)])
def test_device_arrays_that_cannot_be(name, shape):
    makers = [cuda.device_array, cuda.pinned_array]
    if name.startswith(("cpu", "cuda")):
        makers += [cuda.mapped_array, cuda.managed_array]
    with weft.device(name):
        for make in makers:
            with pytest.raises((ValueError, MemoryError)):
                make(shape)


@pytest.mark.parametrize("name", DEVICES)
def test_device_arrays_beyond_all_memory(name):
    with weft.device(name), pytest.raises(MemoryError):
        cuda.device_array(2**56, np.int8)


@pytest.mark.parametrize("shape", [2.9, (2.9,), (3, 2.0), "3", None, [[3]]])
def test_shapes_are_made_of_ints(shape):
    for make in (cuda.device_array, cuda.pinned_array, cuda.mapped_array):
        with pytest.raises(TypeError), weft.device("cpu"):
            make(shape)
    assert cuda.device_array((np.int8(3), True)).shape == (3, 1)


@pytest.mark.parametrize("strides", [(8,), (-8, 8), (2**62, 8), (1.5, 8)])
def test_strides_that_cannot_be(strides):
    with pytest.raises((ValueError, TypeError)):
        cuda.device_array((3, 4), np.float64, strides=strides)


def test_arrays_of_kernels():
    @cuda.jit
    def local_none(a):
        b = cuda.local.array(0, np.float64)
        a[0] = b.size

    @cuda.jit
    def local_negative(a):
        b = cuda.local.array((3, -1), np.float64)
        a[0] = b.size

    @cuda.jit
    def local_huge(a):
        b = cuda.local.array((2**32, 2**32), np.float64)
        a[0] = b.size

    @cuda.jit
    def shared_huge(a):
        b = cuda.shared.array((2**32, 2**32), np.float64)
        a[0] = b.size

    for name in DEVICES:
        with weft.device(name):
            for kernel, words in ((local_none, "no elements"), (local_negative, "negative"), (local_huge, "large"), (shared_huge, "large")):
                with pytest.raises(weft.ConstantError, match=words):
                    kernel[1, 1](np.zeros(1))


def test_a_huge_view_of_one_element():
    one = np.lib.stride_tricks.as_strided(np.ones(1, np.int8), (2**40,), (0,))

    @njit
    def f(a):
        return a.size, a[2**39]

    assert f(one) == (2**40, 1)


class Described:
    """An object of another library with a nonsense description of itself."""

    def __init__(self, **changes):
        self.__cuda_array_interface__ = {"shape": (3,), "typestr": "<f8", "data": (4096, False), "version": 3, "strides": None} | changes


NONSENSE = [
    dict(shape=(-1,)),
    dict(shape=3),
    dict(shape=("a",)),
    dict(shape=(2**40, 2**40)),
    dict(shape=(2**70,)),
    dict(typestr="nonsense"),
    dict(typestr="|O8"),
    dict(typestr=None),
    dict(data=None),
    dict(data=("here", False)),
    dict(data=(-8, False)),
    dict(data=(0, False)),
    dict(data=(2**64 - 8, False)),
    dict(strides=(8, 8)),
    dict(strides=("a",)),
    dict(strides=(2**62,)),
]


@pytest.mark.parametrize("changes", NONSENSE)
def test_nonsense_of_other_libraries(changes):
    with pytest.raises((TypeError, ValueError)):
        cuda.as_cuda_array(Described(**changes))
    with pytest.raises((TypeError, ValueError)):
        njit(lambda a: 1)(Described(**changes))


def test_descriptions_that_lack_something():
    for desc in (None, 3, {}, {"shape": (3,)}, {"shape": (3,), "typestr": "<f8"}):
        with pytest.raises((TypeError, ValueError)):
            cuda.from_cuda_array_interface(desc)


@pytest.mark.parametrize("view", ["a[::2]", "a[::-1]", "a[:6].copy().reshape(2, 3)[:, :2]", "a[:6].copy().reshape(2, 3).T"])
def test_reshaping_what_does_not_lie_in_order_is_refused(view):
    """NumPy gives a view of some and a copy of others, as strides have it: what is written through it may be lost."""
    f = texts.function_of(f"def f(a):\n    v = {view}\n    c = v.reshape(-1)\n    c += 1\n    return c\n", {})
    with pytest.raises(UnsupportedError, match=r"a\.copy\(\)\.reshape"):
        njit(f)(np.arange(8.0))
    g = texts.function_of(f"def f(a):\n    v = {view}\n    c = v.copy().reshape(-1)\n    c += 1\n    return c + v.ravel()\n", {})
    assert (njit(g)(np.arange(8.0)) == g(np.arange(8.0))).all()

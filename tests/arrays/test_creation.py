"""Creation against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from weft.errors import UnsupportedError

from .against_numpy import ALL, array, cases, check, host, refused

NAMES = ("bool", "int8", "uint8", "int32", "uint64", "int64", "float16", "float32", "float64", "complex64", "complex128")


@pytest.mark.parametrize("name", ["zeros", "ones"])
def test_filled(name: str) -> None:
    for shape in ("()", "3", "(2, 3)", "(0,)", "(2, 0, 3)", "[2, 2]", "-1", "(2, -1)", "2.5"):
        check(f"xp.{name}({shape})")
    for dtype in NAMES:
        check(f"xp.{name}((2, 3), xp.{dtype})")
        check(f"xp.{name}((2, 3), dtype='{dtype}', order='F')")
    check(f"xp.{name}(3, order='X')")
    check(f"xp.{name}(3, dtyp=int)")


def test_full() -> None:
    for value in ("1", "1.5", "True", "2j", "xp.float32(3)", "[1, 2, 3]", "xp.asarray([1.5, 2, 3])", "-1", "2**63"):
        check(f"xp.full((2, 3), {value})")
        check(f"xp.full((2, 3), {value}, dtype=xp.float32)") if "j" not in value else None
    check("xp.full(3, 300, dtype=xp.uint8)")
    check("xp.full(2, 1.7, dtype=int)")
    check("xp.full((2, 3), [1, 2])")


@pytest.mark.parametrize("dtype", ALL)
def test_like(dtype: type) -> None:
    a = array((2, 3), dtype)
    for text in ("zeros_like(a)", "ones_like(a)", "full_like(a, 1)", "zeros_like(a, dtype=xp.int8)", "ones_like(a, shape=(4,))"):
        check(f"xp.{text}", a=a)
    check("xp.empty_like(a).shape", a=a)


def test_asarray() -> None:
    for value in ("[1, 2]", "[[1, 2.5], [3, 4]]", "3", "2.5", "True", "(1, 2j)", "[]", "[[], []]", "np.arange(3)", "np.float32(1)"):
        check(f"xp.asarray({value})")
        check(f"xp.array({value}, dtype=xp.complex64, ndmin=2)")
    check("xp.asarray([1, [2, 3]])")
    check("xp.asarray('text')") if False else None
    x = weft.asarray([1, 2])
    assert weft.asarray(x) is x and weft.asarray(x, copy=False) is x
    y = weft.asarray(x, copy=True)
    y[0] = 9
    assert host(x).tolist() == [1, 2]
    for given in ([1], np.arange(3)):
        with pytest.raises(ValueError, match="Unable to avoid copy"):
            weft.asarray(given, copy=False)
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        weft.asarray(x, dtype=weft.float32, copy=False)
    with pytest.raises(TypeError, match="do not exist in Weft"):
        weft.asarray(["a"])
    with pytest.raises(TypeError, match="do not exist in Weft"):
        weft.zeros(3, "datetime64[s]")
    assert host(weft.asarray([x, [3, 4]])).tolist() == [[1, 2], [3, 4]]
    a = np.arange(3)
    b = weft.asarray(a)
    a[0] = 7
    assert host(b).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "text",
    [
        "5", "0", "-3", "1, 5", "5, 1", "1, 10, 3", "10, 1, -3", "0, 1, 0.1", "1.0", "0.5, 3", "3, 0.5, -0.5", "0, 5, 0",
        "1, 2, 1, xp.float32", "1.0, 2.0, 0.1, dtype=xp.float16", "0.5, 5, 1, dtype=int", "0, 5, dtype=xp.int8", "2, dtype=bool",
        "3, dtype=bool", "3, dtype=complex", "xp.int8(3)", "np.float32(3)", "np.uint64(3)", "0, 0.0, 1", "float('nan')",
        "float('inf')", "0, 1e9, 1e8", "-1, -2, -0.25", "1, stop=3", "2**62, 2**62 + 3",
        "1e30", "1e19", "-1e30, 1e30", "2**64",
    ],
)  # fmt: skip
def test_arange(text: str) -> None:
    check(f"xp.arange({text})")


@pytest.mark.parametrize("dtype", ["u1", "u2", "i1", "i4", "i8", "u8", "f2", "f4", "f8", "D", "?"])
def test_ranges_that_a_dtype_does_not_hold(dtype: str) -> None:
    for numbers in (
        "-3, 10, 127.0", "0, 300, 299", "-3, -1", "-1, 0, 1.0", "0, 70000, 69999", "0, 3, 70000", "-0.5, 3.0", "-1.5, 3.0", "5, -1, -10",
        "5, -5, -3", "np.int64(-3), 10, 127", "0, 1e6, 70000.0", "1e30, 2e30, 1e30", "3, 5, 1e30", "-3, -4", "70000, 70000",
        "70000, 70001", "0, 5, np.inf", "1e19, 1.1e19, 1e18", "2**63, 2**63 + 2", "126, 129", "250, 256", "np.float64(-3), 10, 127.0",
    ):  # fmt: skip
        check(f"xp.arange({numbers}, dtype='{dtype}')")


def test_linspace() -> None:
    for ends, num, endpoint in cases(("0, 1", "1, 0", "-2.5, 7", "3, 3", "0, 10", "1j, 2", "0, 1e-320"), (0, 1, 2, 5, 50), (True, False)):
        check(f"xp.linspace({ends}, {num}, endpoint={endpoint})")
    for dtype in ("float32", "float16", "int32", "complex64"):
        check(f"xp.linspace(-1, 4, 11, dtype=xp.{dtype})")
    check("xp.linspace(0, 1, 5, retstep=True)[1]")
    check("xp.linspace(0, 1, -1)")
    check("xp.linspace(0, 1, 2.5)")
    check("xp.linspace(np.float32(0), np.float32(1), 7)")
    for axis in (0, 1, -1):
        check(f"xp.linspace(a, b, 5, axis={axis})", a=array((3,)), b=array((3,), seed=1))
        check(f"xp.linspace(a, 2.0, 5, axis={axis}, endpoint=False)", a=array((2, 3), np.float32))
    check("xp.linspace(a, a, 3)", a=array((3,)))
    check("xp.logspace(0, 2, 5)", exact=False)
    check("xp.logspace(0, 2, 5, base=2, dtype=xp.float32)", exact=False)


def test_matrices() -> None:
    for n, m, k in cases((0, 1, 3), ("None", 0, 2, 4), (-2, 0, 1, 5)):
        check(f"xp.eye({n}, {m}, {k})")
        check(f"xp.eye({n}, {m}, k={k}, dtype=xp.int8, order='F')")
        check(f"xp.tri({n}, {m}, {k})")
    check("xp.eye(2.5)")
    check("xp.identity(3)")
    check("xp.identity(3, xp.float32)")
    for a in (array((3, 4)), array((4, 4), np.int8), array((2, 3, 4)), array((4,)), array((3, 0)), array((2, 2), np.bool_)):
        for k in (-2, 0, 1, 7):
            check(f"xp.tril(a, {k})", a=a)
            check(f"xp.triu(a, {k})", a=a)
    for text in ("3", "3, 1", "3, -1, 4", "0"):
        check(f"xp.tril_indices({text})")
        check(f"xp.triu_indices({text})")
    check("xp.vander(a)", a=array((4,)))
    check("xp.vander(a, 3, increasing=True)", a=array((4,), np.int32))
    check("xp.vander(a)", a=array((4, 2)))


def test_grids() -> None:
    a, b, c = array((3,)), array((4,), np.int32), array((2,), np.float32)
    for words in ("", ", indexing='ij'", ", sparse=True", ", copy=False", ", indexing='ij', sparse=True", ", indexing='xx'"):
        check(f"xp.meshgrid(a, b{words})", a=a, b=b)
        check(f"xp.meshgrid(a, b, c{words})", a=a, b=b, c=c)
        check(f"xp.meshgrid(a{words})", a=a)
        check(f"xp.meshgrid({words[2:]})")
    check("xp.meshgrid(a, 2)", a=a)
    for shape in ("(2, 3)", "(2,)", "(2, 0, 3)", "()"):
        for words in ("", ", dtype=xp.float32", ", sparse=True"):
            check(f"xp.indices({shape}{words})")
    check("xp.fromfunction(lambda i, j: i * j, (3, 2))")


def test_of_memory() -> None:
    check("xp.frombuffer(b'abcdefgh', dtype=xp.uint16)")
    check("xp.frombuffer(b'abcdefgh', dtype=xp.uint8, count=2, offset=3)")
    check("xp.fromiter(range(5), xp.float32)")
    check("xp.from_dlpack(np.arange(4.0))")


def test_devices() -> None:
    for device in weft.devices():
        try:
            weft.zeros(1, device=device)
        except UnsupportedError:
            continue
        for given in (device, device.name):
            assert weft.zeros(3, device=given).device.name == device.name
            assert weft.linspace(0, 1, 3, device=given).device.name == device.name
            assert weft.asarray([1], device=given).device.name == device.name
            assert weft.eye(3, device=given).device.name == device.name
        with weft.device(device.name):
            assert weft.arange(3).device.name == device.name
        assert weft.zeros_like(weft.ones(3, device=device)).device.name == device.name
        assert host(weft.asarray(weft.arange(3), device=device)).tolist() == [0, 1, 2]
    with pytest.raises(TypeError, match="a device is"):
        weft.zeros(3, device=1)


def test_refused() -> None:
    refused("xp.zeros(3, like=np.zeros(1))")
    refused("xp.asarray([1], subok=True)")


def test_logspace_of_several_bases() -> None:
    for base, axis in cases(("[2, 3]", "xp.asarray([2.0, 3.0])", "[[2], [3]]"), (0, 1, -1)):
        check(f"xp.logspace([1, 2], 3, 5, base={base}, axis={axis})", exact=False)
        check(f"xp.logspace(1, 3, 5, base={base}, axis={axis})", exact=False)


def test_diagonals_far_away() -> None:
    for k in (2**63, -(2**63), 2**40):
        if abs(k) < 2**63:
            check(f"xp.tril(a, {k})", a=array((3, 4)))
        assert not host(weft.eye(3, k=k)).any() and host(weft.tri(3, k=k)).all() == (k > 0)


def test_geomspace() -> None:
    for ends in (
        "1, 1000",
        "1000, 1",
        "-1, -1000",
        "1, 1000, 4",
        "2, 3, 1",
        "2, 3, 0",
        "1j, 16j, 5",
        "-1, 1 + 0j, 5",
        "0, 1",
        "1, 0",
        "3, 3",
    ):
        check(f"xp.geomspace({ends})", exact=False)
        check(f"xp.geomspace({ends}, endpoint=False)", exact=False)
    for dtype in ("float32", "int32", "complex64", "float64"):
        check(f"xp.geomspace(1, 256, num=9, dtype={dtype!r})", exact=False)
    for axis in (0, 1, -1, 2):
        check(f"xp.geomspace(a, a + 5, 3, axis={axis})", exact=False, a=np.asarray([1.0, 2.0]))
    check("xp.geomspace(1, 2, -1)")
    check("xp.geomspace(np.float32(1), np.float32(8), 4)", exact=False)


def test_steps_beyond_the_stop() -> None:
    for text in (
        "0, 1, np.inf",
        "0, 1, -np.inf",
        "0, -1, -np.inf",
        "0, -1, np.inf",
        "0, 1e-300, 1e300",
        "0, 0, np.inf",
        "0, -1e-300, 1e300",
    ):
        check(f"xp.arange({text})")


def test_bools_are_no_lengths() -> None:
    for text in ("zeros(True)", "zeros((True, 2))", "ones((1, 1)).reshape(True, -1)", "reshape(xp.ones((1, 1)), (True, -1))"):
        check(f"xp.{text}")

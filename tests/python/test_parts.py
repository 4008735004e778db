"""The real and imaginary parts of complex arrays are views: what is written to them is in the array, whole, by element and in slices."""

from __future__ import annotations

import numpy as np
import pytest
from support import texts

import weft
from weft import cuda, njit

COMPLEX = [np.complex64, np.complex128]
PROGRAMS = {
    "whole": "a.real = 7\na.imag = b.real",
    "slices": "a.real[1:] = b.real[:-1]\na.imag[::2] += 1",
    "elements": "a.real[1] = 5\na.imag[-1] -= 3\na.imag[0] = a.real[0] * 2",
    "in_place": "a.real += 1\na.imag *= b.real\na.imag[:] /= 2",
    "overlap": "a.real = a.imag\na.imag[1:] = a.real[:-1] + a.imag[1:]\na.real[1:] = a.real[:-1]",
    "swapped": "r = a.real.copy()\na.real = a.imag\na.imag = r",
    "named": "r = a.real\ni = a.imag\nr[0] = i[1]\ni += r\na[2] = 1 + 2j\nr[1] = i[2]",
    "chosen": "r = a.real\nif n > 2:\n    r = a.imag\nr[1] = 9\nfor k in range(r.size):\n    r[k] += k",
    "reversed": "a[::-1].real = b.imag\na.imag[::-1][0] = 4",
    "expression": "a.real = b.real + a.imag * 2 + (a * b).imag",
    "numpy": "np.real(a)[0] = 3\nnp.imag(a)[:] = np.real(b)\na[:] = a + np.imag(b)",
    "points": "for i, x in enumerate(a.real):\n    a.imag[i] = x + i",
    "calls": "fill(a.imag, 2)\nfill(a.real[::2], 3)",
    "masks": "a.real[a.imag > 0] = -1",
    "results": "b[:] = a.real.sum() + a.imag.max()",
}


def fill(x, value):
    for i in range(x.size):
        x[i] = value + i


def function_of(body):
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return texts.function_of(f"def f(a, b, n):\n{lines}", {"np": np, "fill": fill})


def arrays(dtype, strided):
    rng = np.random.default_rng(3)
    made = [(rng.integers(-9, 9, 12) + 1j * rng.integers(-9, 9, 12)).astype(dtype) for _ in range(2)]
    return [x[::-2] if strided else x[:6] for x in made]


@pytest.mark.parametrize("options", [{}, {"debug": True}, {"parallel": True}])
@pytest.mark.parametrize("name", PROGRAMS)
def test_functions(name, options):
    f = function_of(PROGRAMS[name])
    compiled = njit(f, **options)
    for dtype in COMPLEX:
        for strided in (False, True):
            for n in (1, 3):
                want, got = arrays(dtype, strided), arrays(dtype, strided)
                f(*want, n)
                compiled(*got, n)
                for w, g in zip(want, got):
                    np.testing.assert_array_equal(g, w, err_msg=f"{name} {dtype} {strided}")


MATRICES = ["a.T.real[0] = 5", "a.real.T[1, 0] = 5\na.imag.T[:, 1] += a.real[0]", "a[1].imag = 3", "a.real[1, ::2] = a.imag[0, ::2]",
            "a.imag = np.arange(3)", "a.real[:, None] = 2", "a.real.T[...] = a.imag.copy().T", "a.real = a.T.imag[0, 1]"]  # fmt: skip


@pytest.mark.parametrize("body", MATRICES)
def test_matrices(body):
    f = texts.function_of("def f(a):\n" + "".join(f"    {line}\n" for line in body.splitlines()), {"np": np})
    for order in "CF":
        want = np.array([[1 + 2j, 3 - 1j, 5], [-2j, 4 + 4j, 7 - 3j]], order=order)
        got = want.copy(order)
        f(want)
        njit(f)(got)
        np.testing.assert_array_equal(got, want)


def test_results_are_views():
    a = np.array([1 + 2j, 3 + 4j])
    for f in (lambda a: a.real, lambda a: a.imag, lambda a: a[::-1].imag, lambda a: np.real(a), lambda a: (a.real, a.imag)):
        want, got = f(a), njit(f)(a)
        for w, g in zip(want, got) if isinstance(want, tuple) else [(want, got)]:
            np.testing.assert_array_equal(g, w)
            assert (g.dtype, g.strides, g.ctypes.data) == (w.dtype, w.strides, w.ctypes.data)
            assert np.shares_memory(g, a)

    @njit
    def fresh(n):
        z = np.zeros(n, np.complex128)
        r = z.real
        z[1] = 3 + 1j
        return r, z.imag

    real, imag = fresh(3)
    assert list(real) == [0, 3, 0] and list(imag) == [0, 1, 0]


def test_real_arrays():
    """The real part of a real array is the array, its imaginary part zeros that cannot be written."""
    for dtype in (np.float32, np.int8, np.bool_, np.float64):
        a = np.array([1, 0, 1], dtype)
        assert njit(lambda a: a.real)(a).ctypes.data == a.ctypes.data
        for of in (a, a.reshape(3, 1), a[:0]):
            zeros = njit(lambda a: a.imag)(of)
            np.testing.assert_array_equal(zeros, of.imag)
            assert zeros.dtype == dtype and not (of.size and zeros.flags.writeable)

    def set_real(a):
        a.real = 3
        a.real[1] += 1

    a = np.zeros(3)
    njit(set_real)(a)
    assert list(a) == [3, 4, 3]

    def set_imag(a):
        a.imag[0] = 1

    def set_all(a):
        a.imag = 1

    def set_kept(a):
        z = a.imag
        z[0] = 1

    for f in (set_imag, set_all, set_kept):
        with pytest.raises(weft.TypingError, match="read-only"):
            njit(f)(np.zeros(3))


def test_refusals():
    def number(z):
        z.real = 1.0
        return z

    def attribute(a):
        a.T = 1

    def narrow(a):
        a.real += 1j

    frozen = np.zeros(2, complex)
    frozen.flags.writeable = False

    def read_only(a):
        a.real[0] = 1

    for f, argument, words in ((number, 1j, "'real' cannot be assigned"), (attribute, np.zeros(2), "'T' cannot be assigned"),
                               (narrow, np.zeros(2, complex), "cannot cast"), (read_only, frozen, "read-only")):  # fmt: skip
        with pytest.raises(weft.WeftError, match=words):
            njit(f)(argument)


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("check", [False, True])
def test_kernels(device, dtype, check):
    @cuda.jit(device=True)
    def double(x, i):
        x[i] *= 2

    @cuda.jit(debug=check, opt=not check)
    def kernel(a, b, which):
        tile = cuda.shared.array(8, dtype)
        own = cuda.local.array(2, dtype)
        i = cuda.grid(1)
        tile.real[i] = i
        tile.imag[i] = -i
        own.real[0] = 1
        own.imag[0] = 0
        own[0] = own[0].real + 1j
        own.imag[0] += a.real[i]
        cuda.syncthreads()
        part = b.real
        if which > 0:
            part = b.imag
        part[i] = tile.real[7 - i] + tile[i].imag
        double(a.imag, i)
        if i > 0:
            a[1:].real[i - 1] += own.imag[0]
        cuda.syncthreads()
        cuda.atomic.add(b.real, 0, 1)

    rng = np.random.default_rng(4)
    a = (rng.integers(-9, 9, 8) + 1j * rng.integers(-9, 9, 8)).astype(dtype)
    for which in (0, 1):
        x, y = a.copy(), np.zeros(8, dtype)
        want_x, want_y = a.copy(), np.zeros(8, dtype)
        kernel[1, 8](x, y, which)
        (want_y.imag if which else want_y.real)[:] = 7 - 2 * np.arange(8)
        want_y[0] += 8
        want_x.imag *= 2
        want_x[1:].real += 1 + a[1:].real
        np.testing.assert_array_equal(x, want_x)
        np.testing.assert_array_equal(y, want_y)

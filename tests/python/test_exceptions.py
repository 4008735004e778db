"""Exceptions of the user's own classes raised in compiled code, against the undecorated function."""

from __future__ import annotations

import linecache

import numpy as np
import pytest

import weft
from weft import cuda, njit


class Outside(Exception):
    """A class of the user's."""


class FarOutside(Outside, ValueError):
    """One that is caught as others are."""


class Told(Exception):
    """One that makes something of its message."""

    def __init__(self, message):
        super().__init__(message.upper())
        self.length = len(message)


class Picky(Exception):
    """One that cannot be made of one message."""

    def __init__(self, a, b):
        super().__init__(a, b)


def _raises(n):
    if n == 1:
        raise Outside
    if n == 2:
        raise Outside("too far")
    if n == 3:
        raise FarOutside("much too far")
    if n == 4:
        raise Told("quiet")
    if n == 5:
        raise Picky("one")
    if n == 6:
        raise NotImplementedError("six")
    if n == 7:
        raise np.linalg.LinAlgError("seven")
    if n == 8:
        raise Outside()
    return n


def _raised(function, *args):
    with pytest.raises(Exception) as caught:
        function(*args)
    return caught.value


@pytest.mark.parametrize("n", range(1, 9))
def test_functions_raise_what_python_raises(n):
    got, want = _raised(njit(_raises), n), _raised(_raises, n)
    assert type(got) is type(want) and got.args == want.args and vars(got).keys() - {"__notes__"} == vars(want).keys()


def test_no_exception_without_a_reason():
    assert njit(_raises)(0) == 0


def test_where_it_was_raised_is_a_note():
    error = _raised(njit(_raises), 2)
    text = "\n".join(getattr(error, "__notes__", [str(error)]))
    assert 'raise Outside("too far")' in text and "test_exceptions.py" in text


def test_what_a_name_means_decides():
    """A name of one of Python's exceptions may be somebody else's."""
    names = {"ZeroDivisionError": Outside, "OverflowError": 3}
    text = "def f(n):\n    if n:\n        raise ZeroDivisionError('no')\n    return n\n\n"
    text += "def g(n):\n    if n:\n        raise OverflowError('no')\n    return n\n"
    linecache.cache["<other names>"] = len(text), None, text.splitlines(True), "<other names>"
    exec(compile(text, "<other names>", "exec"), names)
    assert type(_raised(njit(names["f"]), 1)) is type(_raised(names["f"], 1)) is Outside
    with pytest.raises(weft.UnsupportedError, match="this exception cannot be raised"):
        njit(names["g"])(1)

    def local(n):
        IndexError = Told
        if n:
            raise IndexError("no")
        return n

    assert type(_raised(njit(local), 1)) is Told
    renamed = ValueError

    def other_name(n):
        if n:
            raise renamed("no")
        return n

    assert type(_raised(njit(other_name), 1)) is ValueError


def test_classes_of_closures():
    def make(error):
        @njit
        def f(n):
            if n > 1:
                raise error("large")
            return n

        return f

    assert [type(_raised(make(error), 2)) for error in (Outside, FarOutside, Outside)] == [Outside, FarOutside, Outside]


def test_through_functions():
    @njit
    def inner(x):
        if x < 0:
            raise Outside("negative")
        return x**0.5

    f = njit(lambda a: inner(a[0]) + inner(a[1]))
    assert f(np.array([4.0, 9.0])) == 5
    assert type(_raised(f, np.array([4.0, -9.0]))) is Outside


@pytest.mark.parametrize("debug", [False, True])
def test_kernels(device, debug):
    @cuda.jit(debug=debug)
    def f(a):
        i = cuda.grid(1)
        if i < a.size and a[i] < 0:
            raise Outside("negative")

    f.forall(10)(np.ones(10))
    cuda.synchronize()
    a = np.ones(10)
    a[3] = -1

    def launch():
        f[2, 5](a)
        cuda.synchronize()

    error = _raised(launch)
    assert type(error) is Outside and "negative (thread (3, 0, 0) of block (0, 0, 0))" in str(error)


def test_what_cannot_be_raised():
    def not_a_class(n):
        raise n

    def unknown(n):
        raise Unknown("x")  # noqa: F821

    def number(n):
        raise Outside(n)

    for function, message in (
        (not_a_class, "this exception cannot be raised"),
        (unknown, "this exception cannot be raised"),
        (number, "must be a constant string"),
    ):
        with pytest.raises(weft.UnsupportedError, match=message):
            njit(function)(1)


def test_in_warps_that_wrap_round_a_block(device):
    @cuda.jit
    def checked(x, out):
        if x > 5 and cuda.threadIdx.y == 2 and cuda.threadIdx.x > 3:
            raise ValueError("too large")
        out[cuda.threadIdx.y, cuda.threadIdx.x] = cuda.shfl_xor_sync(0xFFFFFFFF, x, 1)

    out = np.zeros((4, 8), np.int64)
    checked[1, (8, 4)](3, out)
    assert (out == 3).all()
    with pytest.raises(ValueError, match="too large"):
        checked[1, (8, 4)](6, out)
        cuda.synchronize()

"""`weft.gradcheck` finds gradients that are wrong, and says where."""

import numpy as np
import pytest

import weft
from weft.errors import GradcheckError
from weft.gradients.checking import gradcheck


@weft.njit
def cubes(a, x):
    return a * np.sum(x * x * x), x * a


def test_right_ones():
    x = np.array([[1.0, -2.0, 0.5], [0.1, 0.2, 0.3]])
    assert gradcheck(cubes, (2.0, x))
    assert gradcheck(cubes, (np.float32(2.0), x.astype(np.float32)))
    assert gradcheck(lambda x: np.sin(x), (x,), lambda args, g: (np.cos(args[0]) * g,))
    assert gradcheck(lambda x, n: x**n, (2.0, 3), lambda args, g: (3 * args[0] ** 2 * g, None))


def test_wrong_ones():
    x = np.array([1.0, -2.0, 0.5])

    def wrong(args, g):
        gradient = np.cos(args[0]) * g
        gradient[1] += 0.1
        return (gradient,)

    with pytest.raises(GradcheckError, match=r"argument 0 is wrong in 1 of 3 elements; the worst is \[1\]"):
        gradcheck(lambda x: np.sin(x), (x,), wrong)
    with pytest.raises(GradcheckError, match="shape"):
        gradcheck(lambda x: np.sin(x), (x,), lambda args, g: (np.zeros(2),))
    with pytest.raises(GradcheckError, match="nan"):
        gradcheck(lambda x: np.sin(x), (x,), lambda args, g: (args[0] * np.nan,))


def test_complex_numbers():
    z = np.array([1.0 + 2.0j, -0.5 + 0.3j])
    assert gradcheck(lambda z: z * z, (z,), lambda args, g: (2 * args[0] * g,))
    assert gradcheck(lambda z: np.abs(z) ** 2, (z,), lambda args, g: (2 * np.conj(args[0]) * g,))
    with pytest.raises(GradcheckError):
        gradcheck(lambda z: np.abs(z) ** 2, (z,), lambda args, g: (2 * args[0] * g,))


def test_what_it_cannot_check():
    with pytest.raises(ValueError, match="no float"):
        gradcheck(lambda n: n, (3,))
    with pytest.raises(TypeError, match="gives arrays, and not a str"):
        gradcheck(lambda x: "text", (3.0,))
    with pytest.raises(TypeError, match="1 gradients were given for 2"):
        gradcheck(lambda x, y: x, (3.0, 2.0), lambda args, g: (g,))


def test_functions_of_arrays():
    x, w = weft.asarray([[0.5, -1.0], [2.0, 1.5]]), weft.asarray([1.0, 2.0])
    assert gradcheck(lambda x, w, n: (weft.sin(x @ w) ** n, x.sum(axis=0)), (x, w, 3))
    wrong = weft.custom_vjp(lambda x: x * x)
    wrong.defvjp(lambda g, y, x: (g * x,))
    with pytest.raises(GradcheckError, match="argument 0 is wrong in 2 of 2 elements"):
        gradcheck(wrong, (w,))

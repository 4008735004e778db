"""`weft.gradcheck` finds gradients that are wrong, and says where."""

import numpy as np
import pytest

import weft
from weft.gradients.checking import GradientError, gradcheck


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

    with pytest.raises(GradientError, match=r"argument 0 is wrong in 1 of 3 elements; the worst is \[1\]"):
        gradcheck(lambda x: np.sin(x), (x,), wrong)
    with pytest.raises(GradientError, match="shape"):
        gradcheck(lambda x: np.sin(x), (x,), lambda args, g: (np.zeros(2),))
    with pytest.raises(GradientError, match="nan"):
        gradcheck(lambda x: np.sin(x), (x,), lambda args, g: (args[0] * np.nan,))


def test_complex_numbers():
    z = np.array([1.0 + 2.0j, -0.5 + 0.3j])
    assert gradcheck(lambda z: z * z, (z,), lambda args, g: (2 * args[0] * g,))
    assert gradcheck(lambda z: np.abs(z) ** 2, (z,), lambda args, g: (2 * np.conj(args[0]) * g,))
    with pytest.raises(GradientError):
        gradcheck(lambda z: np.abs(z) ** 2, (z,), lambda args, g: (2 * args[0] * g,))


def test_what_it_cannot_check():
    with pytest.raises(ValueError, match="no float"):
        gradcheck(lambda n: n, (3,))
    with pytest.raises(TypeError, match="no gradient of its own"):
        gradcheck(lambda x: x, (3.0,))
    with pytest.raises(TypeError, match="1 gradients were given for 2"):
        gradcheck(lambda x, y: x, (3.0, 2.0), lambda args, g: (g,))

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


HALVES = [np.dtype(np.float16), weft.types.bfloat16.dtype]


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_floats_of_16_bits(dtype):
    x = np.array([0.5, 1.5, -0.7], dtype)

    @weft.njit
    def squares(x):
        total = 0.0
        for i in range(x.shape[0]):
            total += x[i] * x[i]
        return total

    @weft.njit
    def square(a):
        return a * a

    assert gradcheck(lambda x: weft.sin(x) * x, (weft.asarray(x),))
    assert gradcheck(lambda x: weft.sin(weft.asarray(x)).sum(), (x,))
    assert gradcheck(lambda x: x * x, (x,), lambda args, g: (2 * args[0] * g,))
    assert gradcheck(squares, (x,)) and gradcheck(square, (x[1],))
    assert gradcheck(lambda x, y: x * y, (weft.asarray(x), weft.asarray([1.0, 2.0, 3.0])))
    with pytest.raises(GradcheckError, match="argument 0 is wrong in"):
        gradcheck(lambda x: np.sin(x), (x,), lambda args, g: (args[0] * g,))
    wrong = weft.custom_vjp(lambda x: x * x)
    wrong.defvjp(lambda g, y, x: (g * x,))
    with pytest.raises(GradcheckError, match="argument 0 is wrong in"):
        gradcheck(wrong, (weft.asarray(x),))


def test_trees():
    params = {"w": weft.asarray([[1.0, 2.0], [0.5, -1.0]]), "rest": [np.array([3.0, 4.0]), (0.5, 2)], "none": None}

    def f(params, n):
        made = weft.tanh(params["w"] @ params["rest"][0]) * params["rest"][1][0] ** params["rest"][1][1]
        return {"made": made * n, "others": [made.sum(), (made > 0)], "nothing": None}

    assert gradcheck(f, (params, 3))

    def gradient(args, cotangent):
        assert cotangent["others"][1] is None
        _, back = weft.vjp(lambda w: {"made": f({**params, "w": w}, 3)["made"], "sum": f({**params, "w": w}, 3)["others"][0]}, params["w"])
        return {"w": back({"made": cotangent["made"], "sum": cotangent["others"][0]})[0] * scale, "rest": None, "none": None}, None

    scale = 1.0
    assert gradcheck(f, (params, 3), gradient)
    scale = 1.1
    with pytest.raises(GradcheckError, match=r"argument 0\['w'\] is wrong in 2 of 4 elements"):
        gradcheck(f, (params, 3), gradient)
    with pytest.raises(TypeError, match="gradient of argument 0 is nested in another way"):
        gradcheck(f, (params, 3), lambda args, cotangent: ({"w": None}, None))
    with pytest.raises(ValueError, match="no float among the arguments has a gradient"):
        gradcheck(f, (params, 3), lambda args, cotangent: (None, None))
    with pytest.raises(ValueError, match="no float among the arguments"):
        gradcheck(lambda p: p[0], ([1, "text", None],))
    with pytest.raises(GradcheckError, match=r"argument 0\[1\]\[0\] is wrong"):
        gradcheck(lambda p: p[1][0] ** 2, ([1.0, (2.0,)],), lambda args, g: ([0.0, (g,)],))


def test_compiled_functions_of_weft_arrays():
    """Their adjoint takes NumPy arrays: those of Weft's go the way of arrays, and are looked at."""
    x = weft.asarray([1.0, -2.0, 0.5])
    assert gradcheck(cubes, (2.0, x))

    @weft.njit
    def doubled(x):
        return x * 2

    doubled.defvjp(lambda cotangent, output, x: (cotangent,))
    for given in (x, np.asarray(x)):
        with pytest.raises(GradcheckError, match="wrong in 3 of 3"):
            gradcheck(doubled, (given,))


@weft.njit
def twice(x):
    made = x * x
    return made, made


@weft.njit
def with_views(x):
    made = x * x
    return made, made[1:], made[::-1]


@weft.njit
def in_place(x, out):
    out[:] = x * x
    return out, out


def test_arrays_that_are_returned_twice():
    """Each has a cotangent, and these add up."""
    x = np.array([1.0, 2.0])
    assert gradcheck(twice, (x,)) and gradcheck(with_views, (x,)) and gradcheck(in_place, (x, np.zeros(2)))
    dx = np.zeros(2)
    twice.grad((x,), (dx,), (np.ones(2), np.array([10.0, 100.0])))
    np.testing.assert_array_equal(dx, 2 * x * [11.0, 101.0])
    _, back = weft.vjp(twice, weft.asarray(x))
    np.testing.assert_array_equal(back((weft.ones(2), weft.asarray([10.0, 100.0])))[0], 2 * x * [11.0, 101.0])
    with pytest.raises(weft.errors.GradientError, match="returns an array that it was given"):
        weft.vjp(lambda x: in_place(x, weft.zeros(2)), weft.asarray(x))

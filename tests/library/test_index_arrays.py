"""Subscripts with arrays of indices and bools against NumPy: read, assigned, changed in place, on hosts and in kernels."""

from __future__ import annotations

import numpy as np
import pytest
from numpy_calls import ALL, INTEGERS, array, check, layouts

import weft

# Subscripts of a (4, 5, 6) array: i, j are index vectors, m a mask of the whole, r of the first axis, k a matrix of indices, n an integer.
SUBSCRIPTS = [
    "i",
    "i, j",
    ":, i",
    "..., i",
    "i, :, j",
    "i, 1:4, j",
    "n, i",
    "n, :, i",
    "i, n",
    ":, n, i",
    "k",
    "k, i",
    ":, k",
    "None, i",
    "i, None, j",
    "i, None",
    "1:3, i, ::2",
    "::-1, i",
    "m",
    "r",
    "r, n",
    "r, :, 2",
    "m[:, :, 0]",
    "m[:, :, 0], i[0]",
    "n, m[1]",
    "[0, 2, 1]",
    "[0, -1], :, [1, 2]",
    "i[:0]",
    "m & False",
    "np.nonzero(m)",
    "a > 1",
    "i, ..., 1, 1",
    ":, i, ..., j",
    ":, 1, ..., i",
    "[]",
]


def arguments(dtype: object = np.float64) -> dict[str, object]:
    """What the subscripts name."""
    a = array((4, 5, 6), dtype)
    i, j, k = np.array([0, 3, -1, 2]), np.array([1, -2, 3, 0]), np.array([[0, -1], [2, 3]])
    return {"a": a, "i": i, "j": j, "k": k, "m": array((4, 5, 6), np.bool_), "r": np.array([True, False, True, True]), "n": 1}


@pytest.mark.parametrize("subscript", SUBSCRIPTS)
def test_read_assigned_and_changed(subscript: str) -> None:
    given = arguments()
    check(f"a[{subscript}]", **given)
    check(f"a[{subscript}] = 7\nreturn a", **given)
    check(f"a[{subscript}] += a[{subscript}] * 2\nreturn a", **given)
    check(f"a[{subscript}] = a[{subscript}][..., ::-1]\nreturn a", **given)


@pytest.mark.parametrize("dtype", ALL)
def test_elements_of_all_types(dtype: object) -> None:
    given = arguments(dtype)
    for a in layouts(given["a"]):
        check("a[i, 1:, j], a[m], a[:, k]", **{**given, "a": a})


@pytest.mark.parametrize("dtype", INTEGERS)
def test_indices_of_all_types(dtype: object) -> None:
    given = arguments()
    check("a[i], a[:, j]", **{**given, "i": np.array([0, 3, 1], dtype), "j": np.array([[4, 0]], dtype)})


def test_an_element_named_twice_has_what_comes_last() -> None:
    check("a[i] = b\nreturn a", a=np.zeros(4), i=np.array([1, 1, 2, 1]), b=np.arange(4.0))
    check("a[i] += b\nreturn a", a=np.zeros(4), i=np.array([1, 1, 2, 1]), b=np.arange(4.0))


def test_what_is_stored_may_be_the_array_itself() -> None:
    check("a[a] = a[::-1]\nreturn a", a=np.array([2, 0, 3, 1]))
    check("a[i] = a[:3]\nreturn a", a=np.arange(6.0), i=np.array([2, 4, 0]))
    check("a[1:][i] = a[:-1][i]\nreturn a", a=np.arange(6.0), i=np.array([0, 1, 2, 3]))
    check("a[np.broadcast_to(a, (3,))] = v\nreturn a", a=np.array([1, 2, 0]), v=np.array([5, 6, 7]))


def test_indices_may_be_a_read_only_view_of_the_array() -> None:
    def f(a: np.ndarray, i: np.ndarray, v: np.ndarray) -> np.ndarray:
        a[i] = v
        return a

    def given() -> tuple:
        a = np.array([1, 2, 0])
        i = a[:]
        i.flags.writeable = False
        return a, i, np.array([0, 1, 2])

    np.testing.assert_array_equal(weft.njit(f)(*given()), f(*given()))


def test_an_index_outside_leaves_the_array_as_it_was() -> None:
    def f(a: np.ndarray, i: np.ndarray) -> None:
        a[i] = 5

    a = np.array([7, 7, 2, 3])
    with pytest.raises(IndexError):
        weft.njit(f)(a, np.array([0, 10]))
    np.testing.assert_array_equal(a, [7, 7, 2, 3])


@pytest.mark.parametrize("shape", [(3, 1), (1, 4), (3, 5)])
def test_a_mask_has_the_shape_of_the_array(shape: tuple) -> None:
    check("a[m] = 5\nreturn a", a=np.zeros((3, 4)), m=np.ones(shape, np.bool_))


@pytest.mark.parametrize(
    "text",
    [
        "a[i + 9]",
        "a[i - 9]",
        "a[i * 1.0]",
        "a[m[:1]]",
        "a[m, n]",
        "a[i, j, k, n]",
        "a[i, j[:3]]",
        "a[i] = a[:3]",
        "a[m] = np.ones(2)",
        "a[i + 9] = 0",
        "a[:, i + 9] += 1",
    ],
)
def test_what_numpy_refuses(text: str) -> None:
    check(text if "=" not in text else f"{text}\nreturn a", **arguments())


def test_a_list_of_arrays_is_their_stack() -> None:
    check("np.array([a, b]), np.asarray((a, b), dtype=np.float32)", a=np.arange(3), b=np.ones(3))


def test_kernels_store_by_arrays_of_indices() -> None:
    @weft.cuda.jit
    def kernel(a: object, i: object, b: object) -> None:
        if weft.cuda.grid(1) == 0:
            a[i] = 5
            a[i[:1]] = b[1:2]

    a, i = np.arange(6.0), np.array([0, -1, 2])
    kernel[1, 1](a, i, a + 10)
    np.testing.assert_array_equal(a, [11, 1, 5, 3, 4, 5])


def test_kernels_read_no_array_that_they_overwrite() -> None:
    @weft.cuda.jit
    def backwards(a: object, i: object) -> None:
        a[i] = a[::-1]

    @weft.cuda.jit
    def by_itself(a: object) -> None:
        a[a] = 1

    with pytest.raises(weft.UnsupportedError, match="while it overwrites them"):
        backwards[1, 1](np.arange(5.0), np.arange(5))
    with pytest.raises(weft.UnsupportedError, match="while it overwrites them"):
        by_itself[1, 1](np.array([1, 2, 0]))


def test_kernels_make_no_arrays() -> None:
    @weft.cuda.jit
    def kernel(a: object, i: object) -> None:
        a[0] = a[i][0]

    with pytest.raises(weft.UnsupportedError, match="makes a new array"):
        kernel[1, 1](np.arange(6.0), np.array([1]))

"""Transforms of functions against derivatives that are known, each other, and central differences."""

from __future__ import annotations

import gc
import sys
import threading
import weakref

import numpy as np
import pytest

import weft
from gradients.differences import check_gradient, random
from weft._weft import _tape_innermost, _tape_is_here
from weft.errors import CaptureError, GradientError
from weft.gradients.tapes import _TAPES


def same(found, wanted, tolerance=1e-12):
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=tolerance, atol=tolerance)


# Trees and arguments.


def test_gradients_are_trees_like_the_arguments():
    tree = {"w": [weft.asarray([1.0, 2.0]), (3.0, np.float32(4.0))], "none": None}
    found = weft.grad(lambda t: (t["w"][0] ** 2).sum() * t["w"][1][0] + t["w"][1][1] ** 2)(tree)
    assert set(found) == {"w", "none"} and found["none"] is None and type(found["w"][1]) is tuple
    same(found["w"][0], [6.0, 12.0])
    same(found["w"][1][0], 5.0)
    same(found["w"][1][1], 8.0)
    assert found["w"][1][1].dtype == np.float32


def test_argnums_choose_the_arguments():
    def f(a, b, c, *, scale):
        return (a * b**2 * c * scale).sum()

    assert float(weft.grad(f, 1)(2.0, 3.0, 4.0, scale=5.0)) == 240.0
    one, other = weft.grad(f, (0, -1))(2.0, 3.0, 4.0, scale=5.0)
    assert (float(one), float(other)) == (180.0, 90.0)
    assert isinstance(weft.grad(f, [1])(2.0, 3.0, 4.0, scale=5.0), tuple)
    with pytest.raises(ValueError, match="argnums=3"):
        weft.grad(f, 3)(1.0, 2.0, 3.0, scale=1.0)


def test_what_stands_beside_the_value_is_returned_as_it_is():
    def f(x):
        return (x * x).sum(), {"x": x, "text": "beside"}

    (value, beside), gradient = weft.value_and_grad(f, has_aux=True)(weft.asarray([1.0, 2.0]))
    assert float(value) == 5.0 and beside["text"] == "beside"
    same(beside["x"], [1.0, 2.0])
    same(gradient, [2.0, 4.0])
    gradient, beside = weft.grad(f, has_aux=True)(weft.asarray([1.0, 2.0]))
    same(gradient, [2.0, 4.0])
    _, pull_back, beside = weft.vjp(f, weft.asarray([1.0, 2.0]), has_aux=True)
    same(pull_back(1.0)[0], [2.0, 4.0])
    _, tangent, beside = weft.jvp(f, (weft.asarray([1.0, 2.0]),), (weft.asarray([1.0, 0.0]),), has_aux=True)
    assert float(tangent) == 2.0 and beside["text"] == "beside"


@pytest.mark.parametrize(
    ("function", "args", "error", "words"),
    [
        (lambda x: x, (weft.ones(3),), TypeError, r"scalar-output functions. Output had shape: \(3,\)"),
        (lambda x: 1.0, (1.0,), TypeError, "gave a float"),
        (lambda x: x, (1 + 2j,), TypeError, "real-valued outputs"),
        (lambda x: weft.sum(x > 0), (weft.ones(3),), TypeError, "real-valued outputs"),
        (lambda x: x, (3,), TypeError, "real- or complex-valued inputs"),
        (lambda x: x, ("text",), TypeError, "not a str"),
        (lambda x: x * float(x), (1.0,), GradientError, "stop_gradient"),
        (lambda x: weft.asarray(np.asarray(x)), (1.0,), GradientError, "stop_gradient"),
        (lambda x: x * x.item(), (1.0,), GradientError, "stop_gradient"),
    ],
)  # fmt: skip
def test_what_has_no_gradient_is_refused(function, args, error, words):
    with pytest.raises(error, match=words):
        weft.grad(function)(*args)
    # The tape is over.
    assert float(weft.grad(lambda x: x * x)(2.0)) == 4.0


def test_errors_name_the_users_line():
    with pytest.raises(GradientError, match=r"test_transforms.py:\d+"):
        weft.grad(lambda x: x * float(x))(1.0)


def test_tapes_end_where_functions_fail():
    with pytest.raises(ZeroDivisionError):
        weft.grad(lambda x: x / (1 // 0))(1.0)
    with pytest.raises(ZeroDivisionError), weft.tape():
        1 // 0
    assert not weft._weft._tape_is_here()


# Control flow, views and writes.


def _by_a_block(x):
    with weft.tape(x):
        y = (x * x).sum()
    y.backward()
    with weft.tape(x):
        (x * x).sum().backward()
    return x.grad


INTERRUPTED = {
    "gradients": lambda x: weft.grad(weft.checkpoint(lambda x: (weft.sort(x) * x).sum()))(x),
    "batches": lambda x: weft.vmap(weft.grad(lambda x: x * x))(x),
    "directions": lambda x: weft.jvp(lambda x: x[[0, 0]] * x, (x,), (x,)),
    "blocks": _by_a_block,
}


@pytest.mark.parametrize("name", INTERRUPTED)
def test_tapes_end_where_functions_are_interrupted(name):
    """Ctrl-C comes when a call of C returns: it is tried after each of them."""
    job, left = INTERRUPTED[name], [0]
    job(weft.asarray([1.0, 2.0]))

    def interrupt(frame, event, _):
        if event == "c_return" and "gradients" in frame.f_code.co_filename:
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt

    for before in range(10_000):
        left[0] = before
        x = weft.asarray([1.0, 2.0])
        sys.setprofile(interrupt)
        try:
            job(x)
        except KeyboardInterrupt:
            continue
        finally:
            sys.setprofile(None)
            assert _tape_innermost() is None and not _tape_is_here() and not _TAPES.open
        break
    assert 10 < before < 9_999
    same(weft.grad(lambda x: (x * x).sum())(x), [2.0, 4.0])


def test_control_flow_sees_the_elements():
    def f(x):
        y = x
        while y < 100.0:
            y = y * x
        return y if y > 200.0 else -y

    assert float(weft.grad(f)(3.0)) == 5 * 3.0**4
    assert float(weft.grad(f)(5.0)) == -3 * 25.0


def writes(x):
    y = x * 1.0
    y[::2] = y[1::2] * y[::2]
    y[0] += y[-1]
    y *= x
    z = y.reshape(2, 3).T
    z[1] = weft.sin(z[2])
    z[0, :] = z[0, ::-1] * 2
    return (y * weft.arange(6.0)).sum() + (z[2] ** 2).sum()


def test_writes_differentiate():
    check_gradient(writes, random(6))


def test_writes_do_not_reach_what_was_given():
    x = weft.asarray([1.0, 2.0])

    def f(x):
        x *= 3
        return x.sum()

    same(weft.grad(f)(x), [3.0, 3.0])
    same(x, [1.0, 2.0])


def test_what_was_read_before_a_write_keeps_its_gradient():
    def f(x):
        before = x[1:] * 2
        x[1:] = 0
        return (before * weft.arange(1.0, 3.0)).sum() + x.sum()

    same(weft.grad(f)(weft.asarray([1.0, 2.0, 3.0])), [1.0, 2.0, 4.0])


def views(x):
    a = x.reshape(4, 6)
    windows = a[:, ::-2]
    diagonal = a[:4, :4].diagonal()
    crossed = (a[None, :, 1] * a[:, None, 2]).sum()
    return (windows**2).sum() + (diagonal * diagonal[::-1]).sum() + crossed + a.T[3:, ::2].prod() + a.ravel()[5] ** 3


def test_views_differentiate():
    check_gradient(views, random(24))


def test_windows_that_overlap_differentiate():
    from weft._weft import _strided

    def f(x):
        windows = _strided(x * 1.0, (4, 3), [8, 8], 0)
        return (windows * weft.arange(12.0).reshape(4, 3) * windows).sum()

    check_gradient(f, random(6))


def test_parts_of_complex_numbers_differentiate():
    def f(x):
        z = weft.zeros(3, dtype=weft.complex128)
        z.real = x[:3]
        z.imag = x[3:] * z.real
        w = z * z.conj() * (1 + 2j) + z**2
        return (w.real * w.imag).sum() + abs(w).sum() + weft.angle(z).sum()

    check_gradient(f, random(6))


def test_pairs_of_floats_as_complex_numbers_differentiate():
    def f(x):
        return abs((x * 1.0).view(weft.complex128) ** 2 + 1j).sum()

    check_gradient(f, random(6))


def test_gradients_of_complex_numbers_are_those_of_jax():
    z = weft.asarray([1 + 2j, -0.5 + 1j])
    # Real functions: the conjugate of the direction of steepest ascent.
    same(weft.grad(lambda z: (z.real**2 + 3 * z.imag).sum())(z), 2 * np.asarray(z).real - 3j)
    same(weft.grad(lambda z: abs(z).sum())(z), np.conj(np.asarray(z)) / abs(np.asarray(z)))
    same(weft.grad(lambda z: (z**3).sum(), holomorphic=True)(z), 3 * np.asarray(z) ** 2)
    with pytest.raises(TypeError, match="holomorphic=True requires inputs of complex dtype"):
        weft.grad(lambda z: z, holomorphic=True)(1.0)


# Orders, directions, batches.


def smooth(x):
    return weft.tanh(x[:2] * x[1:]).prod() + weft.exp(-(x**2)).sum()


def test_hessians_are_the_derivatives_of_gradients():
    x = random(3)
    found = np.asarray(weft.hessian(smooth)(x))
    step = 1e-5
    for at in range(3):
        move = np.zeros(3)
        move[at] = step
        up, down = (np.asarray(weft.grad(smooth)(weft.asarray(x + sign * move))) for sign in (1, -1))
        same(found[at], (up - down) / (2 * step), 1e-8)
    same(weft.jacrev(weft.jacrev(smooth))(x), found)
    same(weft.jacfwd(weft.jacfwd(smooth))(x), found)
    same(weft.jacrev(weft.jacfwd(smooth))(x), found)


def test_products_with_hessians():
    x, v = random(3), random(3)
    wanted = np.asarray(weft.hessian(smooth)(x)) @ v
    same(weft.jvp(weft.grad(smooth), (x,), (v,))[1], wanted)
    same(weft.grad(lambda x: (weft.grad(smooth)(x) * v).sum())(x), wanted)
    same(weft.vjp(weft.grad(smooth), x)[1](weft.asarray(v))[0], wanted)


def test_third_derivatives():
    third = weft.grad(weft.grad(weft.grad(lambda x: weft.sin(x) * x**2)))
    x = 0.7
    same(third(x), -(x**2) * np.cos(x) - 6 * x * np.sin(x) + 6 * np.cos(x))


def test_inner_gradients_do_not_mix_with_outer_ones():
    # The inner derivative is that of y -> x * y, which is x.
    assert float(weft.grad(lambda x: x * weft.grad(lambda y: x * y)(1.0))(2.0)) == 4.0
    assert float(weft.grad(lambda x: weft.grad(lambda y: y * weft.stop_gradient(y) * x)(3.0))(2.0)) == 3.0


def test_products_of_zeros_have_second_derivatives():
    found = weft.hessian(lambda x: x.prod())(weft.asarray([1.0, 0.0, 0.0, 3.0]))
    same(found, [[0, 0, 0, 0], [0, 0, 3, 0], [0, 3, 0, 0], [0, 0, 0, 0]])


def test_directions_agree():
    x, v, u = random(3, 4), random(3, 4), random(3)

    def f(x):
        return weft.sin(x @ x.T).sum(axis=0) * x.max(axis=1)

    _, tangent = weft.jvp(f, (x,), (v,))
    _, pull_back = weft.vjp(f, x)
    same((np.asarray(tangent) * u).sum(), (np.asarray(pull_back(weft.asarray(u))[0]) * v).sum())
    _, push = weft.linearize(f, x)
    same(push(v), tangent)


def test_directions_of_trees_are_refused_if_they_are_others():
    with pytest.raises(TypeError, match="same tree"):
        weft.jvp(weft.sin, (1.0,), ((1.0, 2.0),))
    with pytest.raises(ValueError, match="shape"):
        weft.jvp(weft.sin, (1.0,), (weft.ones(2),))
    with pytest.raises(TypeError, match="tuples or lists"):
        weft.jvp(weft.sin, 1.0, 1.0)
    with pytest.raises(ValueError, match="no tree"):
        weft.vjp(weft.sin, 1.0)[1]((1.0, 2.0))


def test_jacobians_of_trees():
    def f(p):
        return {"sum": p["a"].sum() * p["b"], "outer": p["a"][:, None] * p["b"]}

    p = {"a": weft.asarray([1.0, 2.0]), "b": weft.asarray([3.0, 4.0, 5.0])}
    for jacobian in (weft.jacrev, weft.jacfwd):
        found = jacobian(f)(p)
        same(found["sum"]["a"], [[3.0, 3.0], [4.0, 4.0], [5.0, 5.0]])
        same(found["sum"]["b"], 3 * np.eye(3))
        assert found["outer"]["a"].shape == (2, 3, 2) and found["outer"]["b"].shape == (2, 3, 3)
        same(found["outer"]["b"], np.asarray(p["a"])[:, None, None] * np.eye(3))


def test_batches_are_loops():
    x, y = random(5, 3, 2), random(2, 5)

    def f(a, b, c):
        return (a @ b * c["s"]).sum(), weft.where(a > 0, a, 0)[..., ::-1], c["s"] * 1.0

    found = weft.vmap(f, in_axes=(0, 1, None), out_axes=(0, 1, 0))(x, y, {"s": 2.0})
    same(found[0], [(x[i] @ y[:, i] * 2).sum() for i in range(5)])
    same(found[2], [2.0] * 5)
    same(found[1], np.stack([np.where(x[i] > 0, x[i], 0)[..., ::-1] for i in range(5)], axis=1))


def test_batches_of_gradients_and_gradients_of_batches():
    x = random(4, 3)
    rows = np.stack([np.asarray(weft.grad(smooth)(weft.asarray(row))) for row in x])
    same(weft.vmap(weft.grad(smooth))(x), rows)
    same(weft.grad(lambda x: weft.vmap(smooth)(x).sum())(x), rows)
    same(weft.vmap(weft.vmap(lambda a: a * 2))(x), x * 2)
    same(weft.vmap(lambda r: weft.vmap(lambda a, b: a * b, in_axes=(0, None))(r, r.sum()))(x), x * x.sum(axis=1, keepdims=True))


FUNCTIONS_OF_ROWS = {
    "products of matrices": lambda x: (x[:, None] @ x[None, :]).sum() ** 2,
    "sorts": lambda x: (weft.sort(x) * weft.arange(4.0)).sum() ** 2,
    "subscripts": lambda x: (x[[0, 0, 3, 2, -1]] ** 3).sum() * x[0],
    "running sums": lambda x: (weft.cumsum(x) * weft.exp(-x)).sum(),
    "systems": lambda x: weft.linalg.solve(weft.outer(x, x) + 9 * weft.eye(4), x).sum(),
    "transforms": lambda x: (abs(weft.fft.fft(x)) ** 2 * weft.arange(4.0)).sum(),
}


@pytest.mark.parametrize("name", FUNCTIONS_OF_ROWS)
def test_batches_of_what_is_a_batch_itself_are_loops(name):
    f = FUNCTIONS_OF_ROWS[name]
    x = weft.asarray(random(3, 4))
    for inner in [weft.hessian(f), weft.jacrev(weft.grad(f)), lambda row: weft.vmap(lambda k: weft.jvp(f, (row,), (k * row,))[1])(row)]:
        same(weft.vmap(inner)(x), [np.asarray(inner(row)) for row in x], 1e-10)


def test_what_batches_refuse():
    with pytest.raises(CaptureError, match=r"weft\.vmap"):
        weft.vmap(lambda x: x if x > 0 else -x)(weft.ones(3))
    with pytest.raises(ValueError, match="inconsistent sizes"):
        weft.vmap(lambda a, b: a + b)(weft.ones(3), weft.ones(4))
    with pytest.raises(ValueError, match="len\\(in_axes\\)=1, len\\(args\\)=2"):
        weft.vmap(lambda a, b: a, in_axes=(0,))(weft.ones(3), weft.ones(3))
    with pytest.raises(ValueError, match="rank should be at least 1"):
        weft.vmap(lambda a: a)(weft.asarray(1.0))
    with pytest.raises(TypeError, match="returns arrays"):
        weft.vmap(lambda a: "text")(weft.ones(3))
    assert weft.vmap(lambda: weft.ones(2), axis_size=3)().shape == (3, 2)
    assert weft.vmap(lambda a: a @ weft.ones((2, 4)))(weft.ones((0, 3, 2))).shape == (0, 3, 4)


# Rules of one's own.


def test_rules_of_a_function():
    @weft.custom_vjp
    def scaled(x, factor):
        return x * factor

    with pytest.raises(GradientError, match="no rule"):
        scaled(1.0, 2.0)

    @scaled.defvjp
    def _(cotangent, result, x, factor):
        return cotangent * 10, None

    same(weft.grad(lambda x: scaled(x, 3.0).sum())(weft.ones(2)), [10.0, 10.0])
    assert float(scaled(weft.asarray(2.0), factor=3.0)) == 6.0
    scaled.defvjp(lambda x, factor: (x * factor, (x, factor)), lambda kept, cotangent: (cotangent * kept[1], cotangent * kept[0]))
    one, other = weft.grad(lambda x, f: scaled(x, f), (0, 1))(2.0, 3.0)
    assert (float(one), float(other)) == (3.0, 2.0)
    assert float(weft.grad(weft.grad(lambda x: scaled(x, x)))(2.0)) == 2.0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (lambda g: g, "gives a tuple of cotangents"),
        (lambda g: (g, g), "one for each of its 1 arguments"),
        (lambda g: (weft.ones(3),), "shape"),
        (lambda g: (weft.ones(2, dtype=weft.complex128),), "complex128"),
    ],
)
def test_rules_that_give_something_else(given, words):
    f = weft.custom_vjp(lambda x: x * 2)
    f.defvjp(lambda g, y, x: given(g))
    with pytest.raises(GradientError, match=words):
        weft.grad(lambda x: f(x).sum())(weft.ones(2))


def test_rules_along_a_direction():
    @weft.custom_jvp
    def f(x, y):
        return x * weft.sin(y)

    @f.defjvp
    def _(primals, tangents):
        (x, y), (s, t) = primals, tangents
        return f(x, y), weft.sin(y) * s + 100 * t

    one, other = weft.grad(f, (0, 1))(2.0, 3.0)
    same([float(one), float(other)], [np.sin(3.0), 100.0])
    same(weft.jvp(f, (2.0, 3.0), (0.0, 1.0))[1], 100.0)


def test_rules_along_a_direction_have_tangents_of_numbers():
    @weft.custom_jvp
    def scaled(x, by, table, times):
        return x * by * table.sum() * times

    @scaled.defjvp
    def _(primals, tangents):
        x, by, table, times = primals
        assert tangents[3] is None
        t = tangents[0] * by * table.sum() + x * tangents[1] * table.sum() + x * by * tangents[2].sum()
        return scaled(*primals), t * times

    table = np.array([1.0, 2.0])
    assert float(weft.grad(scaled)(5.0, 2.0, table, 3)) == 18.0
    assert float(weft.grad(scaled, 1)(5.0, 2.0, table, 3)) == 45.0


def test_transforms_of_what_was_transformed_are_its_own():
    """What a wrapper has of the function that it wraps says nothing of itself."""

    def cube(x):
        return (x**3).sum()

    ruled = weft.custom_vjp(cube)
    ruled.defvjp(lambda x: (cube(x), x), lambda x, cotangent: (cotangent * 3 * x * x,))
    directed = weft.custom_jvp(cube)
    directed.defjvp(lambda primals, tangents: (cube(*primals), (3 * primals[0] ** 2 * tangents[0]).sum()))
    x = weft.asarray([1.0, 2.0])
    backwards = (weft.grad, weft.jacrev, lambda f: weft.checkpoint(weft.grad(f)))
    for f in (cube, weft.compile(cube), ruled, directed, weft.checkpoint(cube), weft.compile(ruled)):
        # A rule for cotangents alone knows no other direction.
        only_back = f is ruled or getattr(f, "__wrapped__", None) is ruled
        for transform in backwards if only_back else (*backwards, weft.jacfwd):
            same(weft.compile(transform(f))(x), [3.0, 12.0])
            again = weft.custom_vjp(transform(f))
            again.defvjp(lambda cotangent, result, x: (10 * cotangent,))
            same(again(x), [3.0, 12.0])
            same(weft.vjp(again, x)[1](weft.ones(2))[0], [10.0, 10.0])
            again = weft.custom_jvp(transform(f))
            again.defjvp(lambda primals, tangents: (primals[0], 10 * tangents[0]))
            same(again(x), [3.0, 12.0])
            same(weft.vjp(again, x)[1](weft.ones(2))[0], [10.0, 10.0])
        value, slope = weft.compile(weft.value_and_grad(f))(x)
        assert float(value) == 9.0
        same(slope, [3.0, 12.0])
        hessian = weft.jacrev(weft.grad(f)) if only_back else weft.hessian(f)
        same(weft.compile(hessian)(x), [[6.0, 0.0], [0.0, 12.0]])
        same(weft.compile(weft.vmap(f))(x), [1.0, 8.0])


def test_checkpoints_keep_nothing_and_give_the_same():
    calls = []

    def inner(x, power):
        calls.append(1)
        return weft.sin(x**power) * x

    f = weft.checkpoint(inner)
    same(weft.grad(lambda x: f(x, 2).sum())(random(3)), weft.grad(lambda x: inner(x, 2).sum())(random(3)))
    assert len(calls) == 3
    same(weft.hessian(lambda x: f(x, 3).sum())(random(3)), weft.hessian(lambda x: inner(x, 3).sum())(random(3)))


# Tapes.


def test_tapes_add_up_as_pytorch_does():
    x, w = weft.asarray([1.0, 2.0]), weft.asarray([[1.0, 0.0], [0.0, 3.0]])
    assert x.grad is None
    for turn in (1, 2):
        with weft.tape():
            loss = ((w @ x) ** 2).sum()
        loss.backward()
        same(x.grad, np.array([2.0, 36.0]) * turn)
    assert w.grad.shape == (2, 2)
    x.grad = None
    assert x.grad is None
    with weft.tape(x):
        y = x * w[1]
        y.backward(weft.asarray([1.0, 10.0]))
        (x[1] ** 2).backward()
    same(x.grad, [0.0, 34.0])
    before = np.asarray(w.grad).copy()
    same(w.grad, before)


def test_views_show_their_arrays_gradient():
    base = weft.asarray([[1.0, 2.0], [3.0, 4.0]])
    row = base[1]
    with weft.tape():
        (row**2).sum().backward()
    same(row.grad, [6.0, 8.0])
    same(base.grad, [[0.0, 0.0], [6.0, 8.0]])


def test_numbers_are_not_taken_for_arrays_of_the_same_number():
    one, two = weft.asarray(2.0), weft.asarray(2.0)
    with weft.tape():
        y = one * 2.0 + two * 2.0 * 2.0
    y.backward()
    assert (float(one.grad), float(two.grad)) == (2.0, 4.0)
    copy = one.copy()
    one.grad = None
    with weft.tape():
        y = one * copy
    y.backward()
    assert (float(one.grad), float(copy.grad)) == (2.0, 2.0)


def test_what_is_made_in_a_block_is_no_parameter():
    x = weft.asarray([2.0, 3.0])
    with weft.tape():
        inner = weft.ones(2)
        scale = float(weft.stop_gradient(x * 2).sum()) + float(inner[0])
        loss = (x * inner).sum() * scale
    loss.backward()
    same(x.grad, [11.0, 11.0])
    assert inner.grad is None


def test_what_tapes_refuse():
    x = weft.asarray(2.0)
    with weft.tape():
        y = x * x
    y.backward()
    with pytest.raises(GradientError, match="no tape"):
        y.backward()
    with pytest.raises(GradientError, match="needs the cotangent"):
        weft.ones(3).backward()
    with pytest.raises(GradientError, match="int64"):
        weft.asarray(3).backward()
    with pytest.raises(TypeError, match="int64"):
        weft.tape(weft.asarray(3))
    with pytest.raises(ValueError, match="gradient has the shape"):
        x.grad = weft.ones(3)


def test_each_thread_has_its_own_tape():
    found = {}

    def work(n):
        for _ in range(20):
            found[n] = float(weft.grad(lambda x: (x * n) ** 2)(3.0))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: 6.0 * n * n for n in range(8)}


# Captured graphs.


def test_compiled_gradients_are_the_same_bits():
    def loss(w, x):
        y = weft.tanh(x @ w["a"]) @ w["b"]
        y[0] *= 2
        return ((y - 1) ** 2).mean()

    w = {"a": weft.asarray(random(4, 8)), "b": weft.asarray(random(8, 2))}
    x = weft.asarray(random(16, 4))
    plain = weft.value_and_grad(loss)
    compiled = weft.compile(plain)
    for _ in range(3):
        (value, found), (other, wanted) = compiled(w, x), plain(w, x)
        assert float(value) == float(other)
        for key in w:
            assert np.array_equal(np.asarray(found[key]), np.asarray(wanted[key]))
    assert compiled.captures == 1


def test_gradients_go_through_compiled_functions():
    f = weft.compile(lambda x: weft.sin(x) * x)
    f(weft.ones(3))
    same(weft.grad(lambda x: f(x).sum())(weft.ones(3)), np.cos(np.ones(3)) + np.sin(1.0))


def test_long_tapes_neither_recurse_nor_stay():
    def f(x):
        for _ in range(20_000):
            x = x * 1.0001
        return x

    same(weft.grad(f)(1.0), 1.0001**20_000, 1e-9)
    gc.collect()


class _Thing:
    """What a reference that does not count can be held of."""


def cycle(way):
    """A call that a tape took down knows a function, and this the way back over that tape: a thing in the cycle, and who holds it."""
    thing = _Thing()
    held = {"thing": thing}

    @weft.custom_vjp
    def f(x):
        return x * 2

    f.defvjp(lambda x: (f(x), (held, x)), lambda kept, cotangent: (kept[0]["thing"].by * cotangent,))
    f._is_linear = True
    thing.by = 3.0
    x = weft.asarray([1.0, 2.0])
    if way == "linearize":
        held["back"] = weft.linearize(f, x)[1]
    elif way == "nested":
        held["back"] = weft.vjp(lambda x: weft.vjp(f, x)[1](weft.ones(2))[0] * f(x), x)[1]
    elif way == "residuals":
        f.defvjp(lambda x: (f(x), held), lambda kept, cotangent: (kept["thing"].by * cotangent,))
        _, held["back"] = weft.vjp(lambda x: weft.sin(f(x)) * 2, x)
    else:
        _, held["back"] = weft.vjp(lambda x: f(f(x)) + 1, x)
        same(held["back"](weft.ones(2))[0], [9.0, 9.0])
    return thing, held


@pytest.mark.parametrize("way", ["vjp", "linearize", "nested", "residuals"])
def test_cycles_through_tapes_are_collected(way):
    found = list(cycle(way))
    alive = weakref.ref(found.pop(0))
    gc.collect()
    assert alive() is found[0]["thing"]
    same(found[0]["back"](weft.ones(2))[0] * 0, [0.0, 0.0])
    found.clear()
    gc.collect()
    assert alive() is None


# What a rule for cotangents cannot do.


def _of_sines(rule):
    f = weft.custom_vjp(lambda x: weft.sin(x) * 2)
    if rule == "one":
        f.defvjp(lambda cotangent, result, x: (cotangent * weft.cos(x) * 2,))
    else:
        f.defvjp(lambda x: (weft.sin(x) * 2, weft.cos(x) * 2), lambda slope, cotangent: (cotangent * slope,))
    return f


_FORWARD = {
    "jvp": lambda f, x: weft.jvp(f, (x,), (x,)),
    "jacfwd": lambda f, x: weft.jacfwd(f)(x),
    "linearize": lambda f, x: weft.linearize(f, x),
    "jvp of vmap": lambda f, x: weft.jvp(weft.vmap(f), (x,), (x,)),
    "vmap of jvp": lambda f, x: weft.vmap(lambda x: weft.jvp(f, (x,), (x,))[1])(x),
    "jvp of checkpoint": lambda f, x: weft.jvp(weft.checkpoint(f), (x,), (x,)),
    "grad of jvp": lambda f, x: weft.grad(lambda x: weft.jvp(f, (x,), (weft.ones(2),))[1].sum())(x),
}


@pytest.mark.parametrize("rule", ["one", "two"])
@pytest.mark.parametrize("way", _FORWARD)
def test_no_tangents_of_custom_vjp(way, rule):
    """JAX's words; what goes backwards first is no matter of it."""
    f, x = _of_sines(rule), weft.asarray([0.5, 1.0])
    with pytest.raises(GradientError, match=r"can't apply forward-mode.*\(jvp\) to a custom_vjp function: .*weft\.custom_jvp"):
        _FORWARD[way](f, x)
    # It is over: nothing of it is left to the next.
    same(weft.grad(lambda x: f(x).sum())(x), 2 * np.cos([0.5, 1.0]))
    same(weft.grad(lambda x: weft.grad(lambda x: f(x).sum())(x).sum())(x), -2 * np.sin([0.5, 1.0]))
    same(weft.jvp(weft.grad(lambda x: f(x).sum()), (x,), (weft.ones(2),))[1], -2 * np.sin([0.5, 1.0]))
    same(weft.hessian(lambda x: f(x).sum())(x), np.diag(-2 * np.sin([0.5, 1.0])))
    same(weft.jvp(lambda x: x * f(weft.stop_gradient(x)), (x,), (weft.ones(2),))[1], 2 * np.sin([0.5, 1.0]))


def test_arrays_that_rules_do_not_know_of():
    """A tape of whatever is read would follow them, were they not read by a function with a rule: their gradient would be lost."""
    w, x = weft.asarray([1.0, 2.0]), weft.asarray([3.0, 4.0])
    scaled = weft.custom_vjp(lambda x: x * w)
    scaled.defvjp(lambda cotangent, result, x: (cotangent * w,))
    with weft.tape(), pytest.raises(GradientError, match="none of its arguments"):
        scaled(x)
    with weft.tape(x):
        y = scaled(x).sum()
    y.backward()
    same(x.grad, [1.0, 2.0])
    x.grad = None
    stopped = weft.custom_vjp(lambda x: x * weft.stop_gradient(w) + weft.ones(2))
    stopped.defvjp(lambda cotangent, result, x: (cotangent * w,))
    with weft.tape():
        y = stopped(x).sum()
    y.backward()
    same(x.grad, [1.0, 2.0])
    assert w.grad is None
    both = weft.custom_vjp(lambda x, w: x * w)
    both.defvjp(lambda cotangent, result, x, w: (cotangent * w, cotangent * x))
    with weft.tape():
        y = both(x, w).sum()
    y.backward()
    same(w.grad, [3.0, 4.0])

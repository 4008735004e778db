"""What would be a wrong gradient, or memory of others, is refused: shapes, shared memory, writes that are lost, tapes out of order."""

from __future__ import annotations

import asyncio
import threading

import numpy as np
import pytest

import weft
from weft import cuda
from weft.errors import GradientError

BUFFER = np.zeros(3)


@weft.njit
def squares(x):
    return x * x


@weft.njit
def two(x):
    return x * 2, x.sum()


@weft.njit
def energy(parts):
    total = 0.0
    for i in range(parts[0].shape[0]):
        total += parts[0][i] ** 2
    return total


@weft.njit
def doubled_into(x, out):
    for i in range(x.shape[0]):
        out[i] = x[i] * 2


@cuda.jit
def kernel_into(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = x[i] * 2


def test_cotangents_have_the_shapes_of_results():
    found = np.zeros(5)
    with pytest.raises(ValueError, match=r"a result has the shape \(5,\) and its cotangent \(2,\)"):
        squares.grad((np.ones(5),), (found,), np.ones(2))
    with pytest.raises(ValueError, match=r"\(5,\) and its cotangent \(1,\)"):
        two.grad((np.ones(5),), (found,), (np.ones(1), 1.0))
    with pytest.raises(ValueError, match=r"\(5,\) and its cotangent \(2,\)"):
        squares.grad((weft.ones(5),), (weft.zeros(5),), weft.ones(2))
    with pytest.raises(TypeError, match="tuple of as many"):
        two.grad((np.ones(5),), (found,), np.ones(5))
    assert not found.any()
    two.grad((np.ones(5),), (found,), (np.ones(5), None))
    assert found.tolist() == [2.0] * 5


def test_adjoints_in_tuples_have_the_shapes_of_arguments():
    big = np.zeros(12)
    with pytest.raises(ValueError, match=r"argument 0\[0\] has the shape \(10,\) and its adjoint \(2,\)"):
        energy.grad(((np.ones(10),),), ((big[:2],),))
    with pytest.raises(TypeError, match="a tuple as long"):
        energy.grad(((np.ones(10),),), (big,))
    assert not big.any()
    energy.grad(((np.ones(10),),), ((big[:10],),))
    assert big.tolist() == [2.0] * 10 + [0.0] * 2


@pytest.mark.parametrize("array", [weft.asarray, np.asarray])
def test_adjoints_share_no_memory(array):
    y = array([1.0, 2.0, 3.0])
    for args, adjoints in (((y,), (y,)), ((y[:2],), (y[1:],))):
        with pytest.raises(ValueError, match="shares memory"):
            squares.grad(args, adjoints, array([1.0] * len(args[0])))
    with pytest.raises(ValueError, match="shares memory"):
        energy.grad(((y,),), ((y,),))
    device = cuda.to_device(np.ones(3))
    with pytest.raises(ValueError, match="shares memory"):
        kernel_into.grad[1, 3]((device, cuda.to_device(np.ones(3))), (device, cuda.to_device(np.ones(3))))


def test_writes_to_arrays_of_others_are_refused():
    for code in (doubled_into, kernel_into[1, 32]):

        def f(x, code=code, buffer=BUFFER):
            code(x, buffer)
            return (weft.asarray(buffer) * x).sum()

        with pytest.raises(GradientError, match="none of Weft's"):
            weft.grad(f)(weft.asarray([1.0, 2.0, 3.0]))


def test_derivatives_of_adjoints_are_refused():
    with pytest.raises(GradientError, match=r"is an adjoint|no gradient"):
        weft.grad(lambda x: weft.grad(lambda x: squares(x).sum())(x).sum())(weft.ones(3))


def test_rules_of_functions_that_write_are_refused():
    @weft.njit
    def f(x, out):
        for i in range(x.shape[0]):
            out[i] = x[i] * 2

    @f.defvjp
    def _(cotangent, output, x, out):
        return (cotangent, None)

    def g(x):
        out = weft.ones(2) * x
        f(x, out)
        return out.sum()

    with pytest.raises(GradientError, match="has a rule and writes"):
        weft.grad(g)(weft.ones(2))


def test_rules_see_arguments_as_they_were():
    @weft.njit
    def bumped(x):
        x[0] += 1
        return x[0] * 2

    bumped.defvjp(lambda cotangent, output, x: (cotangent * x,))
    for x in (np.array([1.0, 2.0]), weft.asarray([1.0, 2.0])):
        bumped.grad((x,), (None,), 1.0)
        assert np.asarray(x).tolist() == [1.0, 2.0]


def test_arguments_by_name_alone_are_not_dropped():
    @weft.custom_vjp
    def scaled(x, *, k=1.0):
        return x * k

    scaled.defvjp(lambda cotangent, result, x: (cotangent,))
    with pytest.raises(TypeError, match="k by name alone"):
        scaled(weft.asarray(2.0), k=3.0)


def test_residuals_are_kept_as_they_are():
    kept = weft.zeros(2)

    def forward(x):
        kept[...] = x * 10
        return x * x, kept

    f = weft.custom_vjp(lambda x: x * x)
    f.defvjp(forward, lambda residuals, cotangent: (cotangent * residuals,))
    found = weft.grad(lambda x: (f(x) + f(x * 2)).sum())(weft.asarray([1.0, 2.0]))
    np.testing.assert_allclose(found, [10.0 + 40.0, 20.0 + 80.0])


def test_argnums_name_each_argument_once():
    f = lambda a, b: a * b  # noqa: E731
    for transform in (weft.grad, weft.jacrev, weft.jacfwd):
        with pytest.raises(ValueError, match="twice"):
            transform(f, (0, -2))(1.0, 2.0)
    assert float(weft.grad(f, np.int64(1))(3.0, 2.0)) == 3.0


def test_functions_that_draw_are_not_called_again():
    rng = weft.random.default_rng(0)
    with pytest.raises(GradientError, match="random numbers"):
        weft.grad(weft.checkpoint(lambda x: (x * rng.random(3)).sum()))(weft.ones(3))


def test_sinc_has_all_derivatives_at_0():
    np.testing.assert_allclose(weft.hessian(lambda x: weft.sinc(x))(0.0), -(np.pi**2) / 3)
    np.testing.assert_allclose(weft.grad(weft.grad(weft.grad(weft.grad(weft.sinc))))(1e-9), np.pi**4 / 5, rtol=1e-6)
    x = np.array([-0.7, -0.1, 0.0, 0.02, 0.159, 0.16, 2.5])
    np.testing.assert_allclose(weft.vjp(weft.sinc, x)[0], np.sinc(x), rtol=3e-16)


# Tapes.


def test_tapes_of_other_threads_leave_arrays_followed():
    w = weft.asarray([1.0, 2.0])

    def other():
        with weft.tape(w):
            (w * 1).sum()

    with weft.tape():
        y = (w * w).sum()
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        z = y + (w * 3).sum()
    z.backward()
    assert w.grad.tolist() == [5.0, 7.0]


def test_what_was_made_before_a_backward_in_the_block_is_no_parameter():
    w = weft.ones(2)
    with weft.tape():
        h = w * 2
        h.sum().backward()
        with pytest.raises(GradientError, match="no tape"):
            (h * h).sum().backward()
        (w * w).sum().backward()
    assert h.grad is None and w.grad.tolist() == [4.0, 4.0]


def test_a_backward_that_fails_leaves_the_tape():
    w = weft.ones(2)
    with weft.tape():
        y = (w * w).sum()
    with pytest.raises(GradientError, match="no tape"):
        weft.asarray(1.0).backward()
    y.backward()
    assert w.grad.tolist() == [2.0, 2.0]
    with weft.tape():
        y = (w * w).sum()
        with pytest.raises(GradientError, match="no tape"):
            weft.asarray(1.0).backward()
        y.backward()
    assert w.grad.tolist() == [4.0, 4.0]


def test_backward_inside_of_transforms_is_refused():
    w = weft.ones(2)

    def f(x):
        (x * w).sum().backward()
        return x.sum()

    with weft.tape():
        y = (w * 2).sum()
        with pytest.raises(GradientError, match="transform"):
            weft.grad(f)(weft.ones(2))
        y.backward()
    assert w.grad.tolist() == [2.0, 2.0]

    def step(x):
        with weft.tape():
            (x * w).sum().backward()
        return x

    with pytest.raises(GradientError, match="value_and_grad"):
        weft.compile(step)(weft.ones(2))
    assert not weft._weft._tape_is_here()


def test_blocks_that_end_out_of_order():
    """They are refused, and nothing is taken down from then on."""
    first, second = weft.tape(), weft.tape()
    first.__enter__()
    second.__enter__()
    for block in (first, second, first):
        with pytest.raises(GradientError, match="reverse order"):
            block.__exit__(None, None, None)
        assert not weft._weft._tape_is_here()


def test_blocks_of_coroutines_that_take_turns():
    async def one(x):
        with weft.tape(x):
            y = x * x
            await asyncio.sleep(0)
            y = y * 3
        y.backward()
        return x.grad

    async def all_of_them():
        return await asyncio.gather(*(one(weft.asarray(float(n))) for n in range(3)), return_exceptions=True)

    assert any(isinstance(each, GradientError) for each in asyncio.run(all_of_them()))
    assert not weft._weft._tape_is_here()
    assert float(asyncio.run(one(weft.asarray(2.0)))) == 12.0


def test_vmap_writes_to_no_arrays_from_outside():
    log, given = weft.zeros(()), weft.zeros(3)

    def f(x):
        log[...] = x.sum()
        return x * 2

    def g(x, out):
        out += x
        return out

    with pytest.raises(ValueError, match=r"weft\.vmap"):
        weft.vmap(f)(weft.ones((3, 2)))
    with pytest.raises(ValueError, match=r"weft\.vmap"):
        weft.vmap(g, in_axes=(0, None))(weft.ones((2, 3)), given)
    assert float(log) == 0.0 and given.tolist() == [0.0] * 3


@weft.njit
def rounded(x):
    return round(x) * 1.0


@rounded.defvjp
def _(cotangent, output, x):
    return (cotangent,)


@weft.njit
def of_rounded(x):
    return rounded(x[0]) * x[1]


def test_rules_of_what_compiled_code_calls():
    """What is derived of the code would be another gradient."""
    within = rounded
    x, out = np.array([1.7, 3.0]), np.zeros(2)

    @weft.njit
    def further(x):
        return of_rounded(x) + 1.0

    @weft.vectorize
    def of_numbers(x):
        return within(x) * x

    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i] = within(x[i]) * x[i]

    for gradient in (
        lambda: of_rounded.grad((x,), (out,)),
        lambda: further.grad((x,), (out,)),
        lambda: weft.grad(lambda x: further(x) * 1.0)(weft.asarray(x)),
        lambda: of_numbers.pullback(0),
        lambda: weft.grad(lambda x: of_numbers(x).sum())(x),
        lambda: kernel.grad[1, 32]((x, out), (np.zeros(2), np.ones(2))),
    ):
        with pytest.raises(weft.errors.UnsupportedError, match="calls rounded, which has a rule of its own"):
            gradient()

    @of_rounded.defvjp
    def _(cotangent, output, x):
        return (cotangent * np.array([x[1], round(x[0])]),)

    of_rounded.grad((x,), (out,))
    assert out.tolist() == [3.0, 2.0]
    del of_rounded.__dict__["_vjp_"]

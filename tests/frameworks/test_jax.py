"""Operations of JAX: values, jit, vmap, gradients, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402

import weft  # noqa: E402
from weft import njit  # noqa: E402

from . import functions as f  # noqa: E402
from .functions import DTYPES, SORTS, numbers  # noqa: E402

like = weft.like


@pytest.fixture(scope="module", autouse=True)
def wide():
    """64-bit types, as the other tests have them."""
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.fixture(scope="module")
def ops():
    """One operation of every sort."""
    return f.operations(weft.jax_op, {**f.RULES, "kernel with blocks": lambda x, g: jnp.broadcast_to(g, x.shape)})


@pytest.fixture(scope="module")
def derived():
    """The same without a rule: their gradients are Weft's own."""
    return f.operations(weft.jax_op)


def arguments(name: str) -> tuple:
    generator = np.random.default_rng(1)
    return f.arguments(name, lambda *shape: jnp.asarray(generator.standard_normal(shape)))


def right(name: str, *a) -> list:
    """The same in JAX's own words."""
    return f.expected(name, a)


def results(given) -> list:
    return list(given) if isinstance(given, tuple) else [given]


def close(given, expected) -> None:
    for one, other in zip(given, expected, strict=True):
        assert one.shape == other.shape and one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", SORTS)
def test_values(ops, name):
    args = arguments(name)
    close(results(ops[name](*args)), right(name, *args))
    close(results(jax.jit(ops[name])(*args)), right(name, *args))


@pytest.mark.parametrize("whose", ["a rule's", "Weft's"])
@pytest.mark.parametrize("name", SORTS)
def test_gradients(ops, derived, name, whose):
    ops = derived if whose == "Weft's" else ops
    args = arguments(name)
    arrays = tuple(i for i, a in enumerate(args) if isinstance(a, jax.Array))

    def loss(compute):
        return lambda *a: sum((r * r).sum() for r in compute(*a))

    expected = jax.grad(loss(lambda *a: right(name, *a)), arrays)(*args)
    close(jax.grad(loss(lambda *a: results(ops[name](*a))), arrays)(*args), expected)
    close(jax.jit(jax.grad(loss(lambda *a: results(ops[name](*a))), arrays))(*args), expected)


@pytest.mark.parametrize("name", SORTS)
def test_batches(ops, name):
    args = arguments(name)
    axes = tuple(0 if isinstance(a, jax.Array) else None for a in args)
    batch = tuple(jnp.stack([a, 2 * a, -a]) if axis == 0 else a for a, axis in zip(args, axes, strict=True))
    expected = [
        jnp.stack(each)
        for each in zip(
            *(right(name, *(a[i] if axis == 0 else a for a, axis in zip(batch, axes, strict=True))) for i in range(3)), strict=True
        )
    ]
    close(results(jax.vmap(ops[name], axes)(*batch)), expected)


def test_batches_of_one_operand(ops):
    x, y = jnp.arange(12.0).reshape(3, 4), jnp.ones((5, 4))
    op = ops["two operands"]
    close([jax.vmap(op, (1, None))(x, jnp.ones(3))], [2 * x.T**2 + 1])
    close([jax.vmap(jax.vmap(op, (None, 0)), (0, None))(x, y)], [2 * x[:, None] ** 2 + y])
    gradient = jax.vmap(jax.grad(lambda x, y: op(x, y).sum()), (0, None))(x, y[0])
    close([gradient], [4 * x])


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_of_every_dtype(ops, dtype):
    for shape in ((3, 4), (), (0, 3), (1,)):
        x = jnp.asarray(numbers(shape, dtype)).astype(dtype)
        given = jax.jit(ops["vectorized"])(x)
        expected = f.double(np.asarray(x))
        assert given.dtype == expected.dtype and given.tolist() == np.asarray(expected).tolist()


def test_numbers_and_names(ops):
    x = jnp.ones(2)
    op = ops["two operands"]
    assert op(x, y=x, n=3).tolist() == [5, 5] and jax.jit(op)(x, x, jnp.float64(0.5)).tolist() == [1.5, 1.5]
    assert op.__name__ == "mixed"
    with pytest.raises(TypeError, match="no other parameter 'q'"):
        op(x, x, q=1)
    with pytest.raises(TypeError, match="needs its argument 'y'"):
        op(x)
    with pytest.raises(TypeError, match="takes 4 arguments"):
        op(*[x] * 5)
    with pytest.raises(TypeError, match=r"2.0 has no dtype: make an array of it"):
        op(x, 2.0)
    with pytest.raises(TypeError, match="a is one number, not an array"):
        op(x, x, x)


def test_what_is_refused(ops):
    x = jnp.ones(3)
    with pytest.raises(TypeError, match="mutates"):
        weft.jax_op(f.added, mutates="y")
    with pytest.raises(Exception, match="returns an array of shape"):
        weft.jax_op(f.transposed, like("x"))(jnp.ones((2, 3))).block_until_ready()
    with pytest.raises(Exception, match="it is positive"):

        @njit
        def failing(x):
            if x[0] > 0:
                raise ValueError("it is positive")
            return x

        weft.jax_op(failing, like("x"))(x).block_until_ready()
    with pytest.raises(Exception, match=r"name it, mutates=\('x',\), or in out="):
        weft.jax_op(f.overwriting, like("x"))(x).block_until_ready()
    with pytest.raises(TypeError, match="forward-mode"):
        jax.jvp(ops["vectorized"], (x,), (x,))
    with pytest.raises(ValueError, match=r"the gradient of double has the shape \(7,\), and the argument \(3,\)"):
        jax.grad(lambda x: weft.jax_op(f.double, vjp=lambda g: jnp.ones(7))(x).sum())(x)


def test_narrow_types(ops):
    """Without 64-bit types a result of 64 bits is not one that JAX has."""
    with jax.enable_x64(False):
        x = jnp.ones(3)
        assert ops["vectorized"](x).dtype == jnp.float32
        with pytest.raises(ValueError, match="jax_enable_x64"):
            ops["returns a number"](x)


def test_arrays_both_ways():
    for dtype in DTYPES:
        x = jnp.asarray(numbers((3, 4), dtype)).astype(dtype)
        for each in (x, x[0, 0], x[:0], x.T):
            for taken in (weft.asarray(each), weft.from_dlpack(each) if dtype != "bool" else weft.asarray(each)):
                assert taken.dtype == each.dtype and taken.tolist() == each.tolist()
            back = jnp.from_dlpack(weft.asarray(np.asarray(each)))
            assert back.dtype == each.dtype and back.tolist() == each.tolist()
            assert jnp.asarray(weft.asarray(np.asarray(each))).tolist() == each.tolist()


def test_gradients_by_numbers_are_refused() -> None:
    @weft.njit
    def scaled(x, a: float):
        return x * a

    op = weft.jax_op(scaled, out=weft.like("x"))
    x = jnp.ones(2)
    with pytest.raises(TypeError, match="gradients by numbers are not taken"):
        jax.grad(lambda a: op(x, a).sum())(2.0)
    assert jax.grad(lambda x: op(x, 3.0).sum())(x).tolist() == [3.0, 3.0]
    assert jax.jit(jax.grad(lambda x: op(x, 3.0).sum()))(x).tolist() == [3.0, 3.0]

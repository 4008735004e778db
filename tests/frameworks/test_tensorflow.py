"""Operations of TensorFlow: values, graphs, gradients, and what is refused."""

from __future__ import annotations

import os

import numpy as np
import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
tf = pytest.importorskip("tensorflow")

import weft  # noqa: E402

from . import functions as f  # noqa: E402
from .functions import DTYPES, numbers  # noqa: E402

like = weft.like


def operations(derived: bool = False) -> dict:
    """Operations of every sort with their rules, or with Weft's own gradients."""
    if derived:
        return {
            "double": (weft.tf_op(f.double), ((3, 4),), lambda x: [2 * x]),
            "mixed": (weft.tf_op(f.mixed), ((3, 1), (4,)), lambda x, y: [2 * x * x + y]),
            "squares": (weft.tf_op(f.squares, like("x", shape=(), dtype="float64")), ((5,),), lambda x: [tf.reduce_sum(x * x)]),
            "both": (
                weft.tf_op(f.sums, (lambda x, y: ((x.shape[0], y.shape[1]), x.dtype), like("x", shape=()))),
                ((3, 4), (4, 2)),
                lambda x, y: [x @ y, tf.reduce_sum(x)],
            ),
            "written": (weft.tf_op(f.written, {"out": like("x")}), ((5,),), lambda x: [3 * x]),
            "product": (weft.tf_op(f.product, like("a")), ((9,), (9,)), lambda a, b: [a * b]),
        }
    return {
        "double": (weft.tf_op(f.double, vjp=lambda g: 2 * g), ((3, 4),), lambda x: [2 * x]),
        "mixed": (
            weft.tf_op(f.mixed, vjp=lambda x, g: (4 * x * g, g)),
            ((3, 1), (4,)),
            lambda x, y: [2 * x * x + y],
        ),
        "squares": (
            weft.tf_op(f.squares, like("x", shape=(), dtype="float64"), vjp=lambda x, g: 2 * x * g),
            ((5,),),
            lambda x: [tf.reduce_sum(x * x)],
        ),
        "both": (
            weft.tf_op(
                f.both,
                (lambda x, y: ((x.shape[0], y.shape[1]), x.dtype), like("x", shape=())),
                vjp=lambda x, y, g: (g[0] @ tf.transpose(y) + g[1], tf.transpose(x) @ g[0]),
            ),
            ((3, 4), (4, 2)),
            lambda x, y: [x @ y, tf.reduce_sum(x)],
        ),
        "written": (weft.tf_op(f.written, {"out": like("x")}, vjp=lambda g: 3 * g), ((5,),), lambda x: [3 * x]),
        "product": (weft.tf_op(f.product, like("a"), vjp=lambda a, b, g: (g * b, g * a)), ((9,), (9,)), lambda a, b: [a * b]),
    }


NAMES = ["double", "mixed", "squares", "both", "written", "product"]


@pytest.mark.parametrize("graph", [False, True], ids=["eager", "graph"])
@pytest.mark.parametrize("derived", [False, True], ids=["a rule's", "Weft's"])
@pytest.mark.parametrize("name", NAMES)
def test_values_and_gradients(name, derived, graph):
    op, shapes, right = operations(derived)[name]
    generator = np.random.default_rng(1)
    args = [tf.constant(generator.standard_normal(shape)) for shape in shapes]

    def program(compute):
        def run(*args):
            with tf.GradientTape() as tape:
                tape.watch(args)
                given = compute(*args)
                given = list(given) if isinstance(given, (list, tuple)) else [given]
                loss = tf.add_n([tf.reduce_sum(each * each) for each in given])
            return given, tape.gradient(loss, args)

        return tf.function(run) if graph else run

    given, grads = program(op)(*args)
    expected, expected_grads = program(right)(*args)
    for one, other in zip([*given, *grads], [*expected, *expected_grads], strict=True):
        assert one.shape == other.shape and one.dtype == other.dtype
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-12)


def _second(op, x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(op(x) + x * x)
        slope = tape.gradient(loss, x)
    return outer.gradient(slope, x)


@pytest.mark.parametrize("graph", [False, True], ids=["eager", "graph"])
def test_second_derivatives_are_a_rules_or_refused(graph):
    """TensorFlow takes what a callback gives for numbers, whose derivatives are zero: beside others that would not be seen."""
    second = tf.function(_second) if graph else _second
    x = tf.constant([0.5, 2.0])
    for rule in (lambda x, g: 3 * x * x * g, lambda x, out, g: 3 * out / x * g):
        np.testing.assert_allclose(second(weft.tf_op(weft.vectorize(lambda x: x**3), vjp=rule), x), 6 * x + 2, rtol=1e-6)
    for op in (
        weft.tf_op(f.double),
        weft.tf_op(f.squares, like("x", shape=(), dtype="float64")),
        weft.tf_op(f.written, {"out": like("x")}),
    ):
        with pytest.raises(NotImplementedError, match="second derivatives are not derived"):
            second(op, tf.constant([0.5, 2.0], tf.float64))
    # Of several results a rule is given all.
    both = weft.tf_op(f.both, (like("x"), like("x", shape=())), vjp=lambda x, y, out, g: (g[0] * 0 + g[1] * out[1], g[0] * 0))
    x = tf.ones((2, 2), tf.float64)
    np.testing.assert_allclose(second(lambda x: both(x, x)[1], x), np.full((2, 2), 4.0**3 + 2), rtol=1e-12)


def test_forward_mode():
    x = tf.constant([0.5, 2.0])
    op = weft.tf_op(weft.vectorize(lambda x: x**3), vjp=lambda x, g: 3 * x * x * g)
    with tf.autodiff.ForwardAccumulator(x, tf.ones(2)) as accumulator:
        y = op(x)
    np.testing.assert_allclose(accumulator.jvp(y), 3 * x * x, rtol=1e-6)
    with pytest.raises(NotImplementedError, match="second derivatives"), tf.autodiff.ForwardAccumulator(x, tf.ones(2)):
        weft.tf_op(f.double)(x)


def test_shapes_in_a_graph():
    op = weft.tf_op(f.double)
    found = []

    @tf.function(input_signature=[tf.TensorSpec((None, 3), tf.float32)])
    def program(x):
        found.append(op(x).shape)
        return op(x)

    # What is unknown of the argument is unknown of the result, and no more.
    assert program(tf.ones((2, 3))).shape == (2, 3) and found[0].as_list() == [None, 3]
    tf.function(lambda x: found.append(op(x).shape) or op(x))(tf.ones((2, 3)))
    assert found[-1] == (2, 3)


@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype != "bfloat16"])
def test_elements_of_every_dtype(dtype):
    for shape in ((3, 4), (), (0, 3)):
        x = np.asarray(numbers(shape, dtype))
        given = weft.tf_op(f.double)(tf.constant(x)).numpy()
        right = np.asarray(f.double(x))
        assert given.dtype == right.dtype and given.tolist() == right.tolist()


def test_what_is_refused():
    x = tf.ones(3)
    op = weft.tf_op(f.mixed)
    with pytest.raises(TypeError, match="needs its argument 'y'"):
        op(x)
    with pytest.raises(TypeError, match="no other parameter 'q'"):
        op(x, x, q=1)
    with pytest.raises(TypeError, match=r"2.0 has no dtype: make an array of it"):
        op(x, 2.0)
    with pytest.raises(TypeError, match="mutates"):
        weft.tf_op(f.added, mutates="y")
    with pytest.raises(Exception, match="returns an array of shape"):
        weft.tf_op(f.transposed, like("x"))(tf.ones((2, 3)))
    with pytest.raises(Exception, match=r"name it, mutates=\('x',\)"):
        weft.tf_op(f.overwriting, like("x"))(x)


def test_arrays_both_ways():
    for dtype in ("float32", "int64", "bool", "complex64", "bfloat16"):
        x = tf.cast(tf.constant([[0, 1], [2, 3]]), getattr(tf, dtype))
        taken = weft.asarray(x)
        assert str(taken.dtype) == dtype and taken.tolist() == x.numpy().tolist()
        if dtype != "bfloat16":
            assert tf.convert_to_tensor(weft.asnumpy(taken)).numpy().tolist() == x.numpy().tolist()

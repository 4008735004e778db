"""Weft's functions as operations of TensorFlow: `tf_op`.

TensorFlow calls back into Python for each, by `tf.numpy_function`: slow beside an operation of its own, on the CPU only, and not part of a
graph that is saved. It is there for functions that compute much.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from . import adjoints
from .operation import Operation, gradients, warn_if_older
from .running import explained, number_of, result_dtype, runner

warn_if_older("TensorFlow", tf.__version__, (2, 21))

_DTYPES = {"float": tf.float64, "int": tf.int64, "bool": tf.bool}


def tf_op(
    f: Any,
    out: Any = None,
    *,
    vjp: Callable[..., Any] | None = None,
    grid: Any = None,
    launch: Any = None,
    numbers: Mapping[str, Any] | None = None,
) -> Callable[..., Any]:
    """An operation of TensorFlow made of a function that `njit`, `vectorize` or `cuda.jit` compiles: slow to call, see this module.

    Parameters are as for `torch_op`; there is no `mutates`, since tensors of TensorFlow's never change.

    TypeError and ValueError for what cannot be an operation.

    >>> @weft.vectorize
    ... def double(x):
    ...     return 2 * x
    >>> op = weft.tf_op(double, vjp=lambda g: 2 * g)  # doctest: +SKIP
    >>> op(tf.ones(2)).numpy()  # doctest: +SKIP
    array([2., 2.], dtype=float32)
    """
    operation = Operation(f, out=out, vjp=vjp, grid=grid, launch=launch, numbers=numbers)
    host = _host(operation)
    derived = _derived(operation) if operation.rule is None else None

    def op(*args: Any, **named: Any) -> Any:
        return _call(operation, host, derived, _arguments(operation, args, named))

    op.__name__, op.__doc__ = operation.name, operation.f.py_func.__doc__
    # A graph takes it as it is: there is nothing in it that TensorFlow would have to translate.
    return tf.autograph.experimental.do_not_convert(op)


def _host(operation: Operation) -> Callable[..., Any]:
    """What TensorFlow calls with NumPy's arrays."""
    run = runner(operation)

    def host(*arrays: Any) -> Any:
        values = []
        for p, array in zip(operation.parameters, arrays, strict=True):
            array = np.asarray(array)
            if p.is_array:
                # TensorFlow's own memory, which is not to change.
                array = array.view()
                array.flags.writeable = False
            values.append(array if p.is_array else number_of(p.kind, array))
        outs = [np.empty(shape, dtype) for shape, dtype in _results(operation, values)]
        try:
            run(values, outs, None)
        except Exception as error:
            raise explained(operation, error) from None
        return outs

    return host


def _results(operation: Operation, values: Any) -> list[tuple[tuple[int, ...], Any]]:
    """Shapes and NumPy's dtypes of the results, for arrays or for what has their shapes and dtypes."""
    named = {p.name: value for p, value in zip(operation.parameters, values, strict=True)}
    if operation.sort == "vectorized":
        arrays = [named[p.name] for p in operation.arrays]
        return [(np.broadcast_shapes(*(a.shape for a in arrays)), result_dtype(operation, tuple(_numpy(a.dtype) for a in arrays)))]
    found = []
    for output in operation.outputs:
        shape, dtype = output.described(named)
        found.append((shape, _numpy(named[output.template].dtype if dtype is None else dtype)))
    return found


def _numpy(dtype: Any) -> Any:
    return np.dtype(dtype.as_numpy_dtype if isinstance(dtype, tf.DType) else dtype)


def _arguments(operation: Operation, args: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
    values = zip(operation.parameters, operation.bound(args, named), strict=True)
    return [tf.convert_to_tensor(value) if p.is_array else tf.cast(value, _DTYPES[p.kind]) for p, value in values]


class _Described:
    """What is known of a tensor before it is there."""

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape, self.dtype = shape, dtype


def _known_shapes(operation: Operation, tensors: Any) -> list[Any]:
    """The results' shapes, as far as those of the arguments are known and tell them."""
    if operation.sort == "vectorized":
        shapes = [tensor.shape for p, tensor in zip(operation.parameters, tensors, strict=True) if p.is_array]
        return [functools.reduce(tf.broadcast_static_shape, shapes)]
    if not all(tensor.shape.is_fully_defined() for tensor in tensors):
        return [None] * max(len(operation.outputs), 1)
    static = [
        _Described(tuple(tensor.shape), _numpy(tensor.dtype)) if p.is_array else tf.get_static_value(tensor)
        for p, tensor in zip(operation.parameters, tensors, strict=True)
    ]
    if any(value is None for value in static):
        return [None] * max(len(operation.outputs), 1)
    return [shape for shape, _ in _results(operation, static)]


def _dtypes(operation: Operation, tensors: Any) -> list[Any]:
    if operation.sort == "vectorized":
        arrays = [_numpy(t.dtype) for p, t in zip(operation.parameters, tensors, strict=True) if p.is_array]
        return [tf.as_dtype(result_dtype(operation, tuple(arrays)))]
    named = {p.name: t for p, t in zip(operation.parameters, tensors, strict=True)}
    return [tf.as_dtype(output.dtype_of(named)) for output in operation.outputs]


def _call(operation: Operation, host: Callable[..., Any], derived: Callable[..., Any] | None, tensors: list[Any]) -> Any:
    rule = operation.rule
    single = operation.sort == "vectorized" or len(operation.outputs) == 1

    @tf.custom_gradient
    def run(*given: Any) -> Any:
        made = tf.numpy_function(host, given, _dtypes(operation, given))
        made = list(made) if isinstance(made, (list, tuple)) else [made]
        for result, shape in zip(made, _known_shapes(operation, given), strict=True):
            if shape is not None:
                result.set_shape(shape)

        def backward(*g: Any) -> Any:
            values = {p.name: t for p, t in zip(operation.parameters, given, strict=True)}
            if rule is None:
                found = iter(derived(values, g))
            else:
                values["g"] = g[0] if single else g
                out = [_differentiated(made, at, backward, given) for at in range(len(made))]
                values["out"] = out[0] if single else tuple(out)
                found = iter(gradients(operation, rule(values)))
            return [_fitting(next(found), t) if p.is_array else None for p, t in zip(operation.parameters, given, strict=True)]

        return (made[0] if single else tuple(made)), backward

    return run(*tensors)


def _differentiated(made: list[Any], at: int, backward: Callable[..., Any], given: Any) -> Any:
    """A result as a rule is given it: TensorFlow would take it for a number, but it has the rule's gradient, too."""

    @tf.custom_gradient
    def result(*given: Any) -> Any:
        return tf.identity(made[at]), lambda g: backward(*(g if n == at else tf.zeros_like(each) for n, each in enumerate(made)))

    return result(*given)


def _once(operation: Operation, host: Callable[..., Any], tensors: list[Any], dtypes: list[Any]) -> list[Any]:
    """What a function gives for tensors, whose derivatives are refused: TensorFlow would go on as if they were zero."""

    @tf.custom_gradient
    def run(*given: Any) -> Any:
        made = tf.numpy_function(host, given, dtypes)

        def refused(*g: Any) -> Any:
            raise NotImplementedError(
                f"{operation.name}: second derivatives are not derived. Give the first ones as a rule, tf_op(..., vjp=), of operations "
                "that have gradients"
            )

        return (tuple(made) if isinstance(made, (list, tuple)) else made), refused

    made = run(*tensors)
    return list(made) if isinstance(made, (list, tuple)) else [made]


def _derived(operation: Operation) -> Callable[..., Any]:
    """A function of the arguments by name and of the results' gradients: gives the gradients by the arrays, from Weft's own adjoint."""
    if operation.sort == "vectorized":
        if adjoints.has_rule(operation.f):
            raise ValueError(f"{operation.name} has a rule of its own (defvjp), one of Weft's arrays: give it in TensorFlow's words, vjp=")

        @functools.cache
        def by(parameter: Any) -> tuple[Operation, Callable[..., Any]]:
            pullback = adjoints.pullback(operation, parameter)
            return pullback, _host(pullback)

        def elementwise(values: dict[str, Any], g: Any) -> list[Any]:
            found = []
            for p in operation.arrays:
                args = [*values.values(), g[0]]
                pullback, host = by(p) if _has_gradient(operation, values[p.name]) else (None, None)
                found.append(None if pullback is None else _once(operation, host, args, _dtypes(pullback, args))[0])
            return found

        return elementwise
    pull = adjoints.puller(operation)

    def derived(values: dict[str, Any], g: Any) -> list[Any]:
        wanted = [p.is_array and _has_gradient(operation, values[p.name]) for p in operation.parameters]

        def host(*arrays: Any) -> Any:
            given = [
                np.asarray(array) if p.is_array else number_of(p.kind, np.asarray(array)) for p, array in zip(operation.parameters, arrays)
            ]
            shadows = [np.zeros_like(array) if each else None for array, each in zip(given, wanted, strict=True)]
            pull(given, shadows, [np.array(each) for each in arrays[len(given) :]], None)
            return [shadow for shadow in shadows if shadow is not None]

        like = [tensor.dtype for tensor, each in zip(values.values(), wanted, strict=True) if each]
        found = iter(_once(operation, host, [*values.values(), *g], like) if like else [])
        every = [next(found) if each else None for each in wanted]
        return [each for p, each in zip(operation.parameters, every, strict=True) if p.is_array]

    return derived


def _has_gradient(operation: Operation, tensor: Any) -> bool:
    if tensor.dtype.is_complex:
        raise TypeError(f"{operation.name}: gradients by complex tensors are not derived: give a rule, tf_op(..., vjp=)")
    return tensor.dtype.is_floating


def _fitting(gradient: Any, tensor: Any) -> Any:
    """A gradient in the shape of its argument: summed where the argument was stretched."""
    if gradient is None or not (tensor.dtype.is_floating or tensor.dtype.is_complex):
        return None
    gradient = tf.convert_to_tensor(gradient)
    shape, own = tf.shape(gradient), tf.shape(tensor)
    _, axes = tf.raw_ops.BroadcastGradientArgs(s0=shape, s1=own)
    return tf.cast(tf.reshape(tf.reduce_sum(gradient, axes), own), tensor.dtype)

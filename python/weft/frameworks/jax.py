"""Weft's functions as operations of JAX: `jax_op`.

XLA calls one C function of Weft's, in this process, with the addresses of its buffers and the operation's number, inside of what `jit`
compiles: nothing is copied. On CUDA devices the work is given to XLA's stream.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero

from weft import _weft

from . import adjoints
from .operation import Operation, gradients, warn_if_older
from .running import Streams, explained, number_of, result_dtype, runner

warn_if_older("JAX", jax.__version__, (0, 10))

_TARGET = "weft_operation"
_STREAMS = Streams()
_NUMBERS = {"float": float, "int": int, "bool": bool}


def jax_op(
    f: Any,
    out: Any = None,
    *,
    vjp: Callable[..., Any] | None = None,
    grid: Any = None,
    launch: Any = None,
    numbers: Mapping[str, Any] | None = None,
) -> Callable[..., Any]:
    """An operation of JAX made of a function that `njit`, `vectorize` or `cuda.jit` compiles, for `jax.jit`, `jax.vmap` and `jax.grad`.

    Parameters are as for `torch_op`; there is no `mutates`, since arrays of JAX's never change. Under `jax.vmap` a vectorized function runs
    once for the whole batch, any other once for each of its items. `vjp` makes it differentiable in reverse.

    TypeError and ValueError for what cannot be an operation.

    >>> @weft.vectorize
    ... def double(x):
    ...     return 2 * x
    >>> op = weft.jax_op(double, vjp=lambda g: 2 * g)  # doctest: +SKIP
    >>> jax.jit(op)(jnp.ones(2))  # doctest: +SKIP
    Array([2., 2.], dtype=float32)
    """
    operation = Operation(f, out=out, vjp=vjp, grid=grid, launch=launch, numbers=numbers)
    _register_targets()
    call = _caller(operation, _weft._xla_register(_host(operation)))
    return _differentiable(operation, call)


@functools.cache
def _register_targets() -> None:
    for platform in ("cpu", "cuda"):
        jax.ffi.register_ffi_target(_TARGET, _weft._xla_handler(platform), platform={"cpu": "cpu", "cuda": "CUDA"}[platform])


def _host(operation: Operation) -> Callable[..., None]:
    """What Weft's C function calls: with arrays on XLA's buffers, and XLA's stream on CUDA."""
    run = runner(operation)
    kinds = [p.kind for p in operation.parameters]

    def host(arguments: tuple[Any, ...], results: tuple[Any, ...], stream: int | None) -> None:
        place = None
        if stream is not None:
            index = results[0].memory.device.index
            place = (index, _STREAMS.of(index, stream))
            if any(kind != "array" for kind in kinds):
                raise RuntimeError(f"{operation.name}: to read a number from the device would wait for it: make an array of the parameter")
        values = [array if kind == "array" else number_of(kind, array) for kind, array in zip(kinds, arguments, strict=True)]
        try:
            run(values, results, place)
        except Exception as error:
            raise explained(operation, error) from None

    return host


def _caller(operation: Operation, number: int) -> Callable[..., Any]:
    """A function of JAX's arrays, one for each parameter."""
    method = "expand_dims" if operation.sort == "vectorized" else "sequential"

    def call(*args: Any) -> Any:
        if operation.sort == "vectorized":
            args, described = _elementwise(operation, args)
        else:
            described = _described(operation, args)
        single = len(described) == 1
        made = jax.ffi.ffi_call(_TARGET, described[0] if single else described, vmap_method=method)
        given = made(*args, number=np.int64(number))
        return given if single else tuple(given)

    return call


def _elementwise(operation: Operation, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[Any]]:
    """The arguments with as many axes as the result has, and what the result is."""
    arrays = [a for p, a in zip(operation.parameters, args, strict=True) if p.is_array]
    shape = jnp.broadcast_shapes(*(a.shape for a in arrays))
    dtype = result_dtype(operation, tuple(np.dtype(a.dtype) for a in arrays))
    described = jax.ShapeDtypeStruct(shape, jax.dtypes.canonicalize_dtype(dtype))
    wide = [a.reshape((1,) * (len(shape) - a.ndim) + a.shape) if p.is_array else a for p, a in zip(operation.parameters, args, strict=True)]
    return tuple(wide), [described]


def _described(operation: Operation, args: tuple[Any, ...]) -> list[Any]:
    values = {p.name: a for p, a in zip(operation.parameters, args, strict=True)}
    found = []
    for output in operation.outputs:
        shape, dtype = output.described(values)
        dtype = np.dtype(values[output.template].dtype if dtype is None else dtype)
        if jax.dtypes.canonicalize_dtype(dtype) != dtype:
            raise ValueError(f"{operation.name} gives {dtype}, which JAX has with jax.config.update('jax_enable_x64', True) only")
        found.append(jax.ShapeDtypeStruct(shape, dtype))
    return found


def _arguments(operation: Operation, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    """JAX's arrays for the parameters, in their order."""
    found = []
    for p, value in zip(operation.parameters, operation.bound(args, named), strict=True):
        found.append(jnp.asarray(value) if p.is_array else jnp.asarray(value, jax.dtypes.canonicalize_dtype(_NUMBERS[p.kind])))
        if not p.is_array and found[-1].ndim:
            raise TypeError(f"{operation.name}: {p.name} is one number, not an array of shape {found[-1].shape}")
    return tuple(found)


@jax.tree_util.register_static
class _Shapes(tuple):
    """Shapes and dtypes of arguments, which are no arrays to JAX."""

    __slots__ = ()


def _differentiable(operation: Operation, call: Callable[..., Any]) -> Callable[..., Any]:
    rule = operation.rule
    derived = None if rule is not None else _derived(operation)
    kept = [p.name for p in operation.parameters if rule is None or p.name in rule.names]
    keeps_out = rule is not None and "out" in rule.names
    traced = jax.custom_vjp(call)

    def forward(*primals: Any) -> Any:
        for p, primal in zip(operation.parameters, primals, strict=True):
            if primal.perturbed and not p.is_array and p.kind == "float":
                raise TypeError(f"{operation.name}: {p.name} is a number, and gradients by numbers are not taken: make it an array of one")
        args = tuple(primal.value for primal in primals)
        out = call(*args)
        values = {p.name: a for p, a in zip(operation.parameters, args, strict=True)}
        shapes = _Shapes((values[p.name].shape, values[p.name].dtype) for p in operation.arrays)
        return out, ({name: values[name] for name in kept}, out if keeps_out else None, shapes)

    def backward(saved: Any, g: Any) -> Any:
        held, out, shapes = saved
        g = jax.tree.map(_spelt_out, g, is_leaf=lambda each: isinstance(each, SymbolicZero))
        # JAX keeps names sorted.
        values = {p.name: held[p.name] for p in operation.parameters if p.name in held}
        found = derived(values, g) if rule is None else gradients(operation, rule({**values, "out": out, "g": g}))
        fitting = iter(_fitting(operation, each, *like) for each, like in zip(found, shapes, strict=True))
        return tuple(next(fitting) if p.is_array else None for p in operation.parameters)

    traced.defvjp(forward, backward, symbolic_zeros=True)

    @functools.wraps(operation.f.py_func)
    def op(*args: Any, **named: Any) -> Any:
        return traced(*_arguments(operation, args, named))

    return op


def _spelt_out(g: Any) -> Any:
    """A gradient that JAX says is zero, as zeros."""
    return jnp.zeros(g.shape, g.dtype) if isinstance(g, SymbolicZero) else g


def _derived(operation: Operation) -> Callable[..., list[Any]]:
    """A function of the arguments by name and of the results' gradients: gives the gradients by the arrays, from Weft's own adjoint."""
    if operation.sort == "vectorized":
        if adjoints.has_rule(operation.f):
            raise ValueError(
                f"{operation.name} has a rule of its own (defvjp), which is one of Weft's arrays: give it in JAX's words, vjp="
            )

        @functools.cache
        def by(parameter: Any) -> Callable[..., Any]:
            pullback = adjoints.pullback(operation, parameter)
            return _caller(pullback, _weft._xla_register(_host(pullback)))

        return lambda values, g: [
            by(p)(*values.values(), g) if _has_gradient(operation, values[p.name]) else None for p in operation.arrays
        ]

    @functools.cache
    def number() -> int:
        return _weft._xla_register(_adjoint_host(operation))

    def derived(values: dict[str, Any], g: Any) -> list[Any]:
        cotangents = g if isinstance(g, tuple) else (g,)
        # Gradients of whole numbers have a type of JAX's own, and tell nothing.
        cotangents = [jnp.zeros(each.shape, jnp.int32) if each.dtype == jax.dtypes.float0 else each for each in cotangents]
        wanted = [p.is_array and _has_gradient(operation, values[p.name]) for p in operation.parameters]
        like = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a, each in zip(values.values(), wanted, strict=True) if each]
        bits = sum(1 << i for i, each in enumerate(wanted) if each)
        made = jax.ffi.ffi_call(_TARGET, like, vmap_method="sequential")
        found = iter(made(*values.values(), *cotangents, jnp.int32(bits), number=np.int64(number())))
        every = [next(found) if each else None for each in wanted]
        return [each for p, each in zip(operation.parameters, every, strict=True) if p.is_array]

    return derived


def _has_gradient(operation: Operation, array: Any) -> bool:
    if jnp.issubdtype(array.dtype, jnp.complexfloating):
        raise TypeError(f"{operation.name}: gradients by complex arrays are not derived: give a rule, jax_op(..., vjp=)")
    return bool(jnp.issubdtype(array.dtype, jnp.floating))


def _adjoint_host(operation: Operation) -> Callable[..., None]:
    """What Weft's C function calls for gradients: with arguments, the results' gradients and the number whose bits say what is wanted."""
    pull = adjoints.puller(operation)
    kinds = [p.kind for p in operation.parameters]

    def host(arguments: tuple[Any, ...], results: tuple[Any, ...], stream: int | None) -> None:
        *given, bits = arguments
        place = None
        if stream is not None:
            raise RuntimeError(
                f"{operation.name}: gradients of kernels and functions are derived on the CPU only in JAX: give a rule, vjp="
            )
        values = [array if kind == "array" else number_of(kind, array) for kind, array in zip(kinds, given, strict=False)]
        left = iter(results)
        shadows = [next(left) if int(bits.item()) >> i & 1 else None for i in range(len(kinds))]
        for shadow in results:
            shadow.fill(0)
        # What a function writes to has its gradient used up.
        pull(values, shadows, [g if operation.returns else g.copy() for g in given[len(kinds) :]], place)

    return host


def _fitting(operation: Operation, gradient: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """A gradient in the shape of its argument: summed where the argument was stretched."""
    if gradient is None or not jnp.issubdtype(dtype, jnp.inexact):
        return None
    gradient = jnp.asarray(gradient)
    if gradient.shape != shape:
        lead = gradient.ndim - len(shape)
        if lead < 0 or any(n not in (1, m) for n, m in zip(shape, gradient.shape[lead:], strict=True)):
            raise ValueError(f"the gradient of {operation.name} has the shape {gradient.shape}, and the argument {shape}")
        axes = (*range(lead), *(lead + i for i, n in enumerate(shape) if n == 1 and gradient.shape[lead + i] != 1))
        gradient = gradient.sum(axes, keepdims=False).reshape(shape)
    return gradient.astype(dtype)

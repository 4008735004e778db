"""Gradients of operations by Weft's own adjoints: of functions and kernels that have no rule.

A `vectorize`d function has one more operation for each array among its parameters, which gives the gradient by that; any other function
has a single one, which gives all gradients and runs the function again for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft import _weft, errors

from .operation import ABSENT, Operation, Parameter
from .running import Launchers, explained, fill

COTANGENT = "g"


def has_rule(f: Any) -> bool:
    """Whether the function was given a rule of its own, by `defvjp`."""
    return getattr(f, "vjp_rule", None) is not None


def pullback(operation: Operation, parameter: Parameter) -> Operation:
    """The operation of a vectorized function's arguments and the result's gradient that gives the gradient by one parameter."""
    at = operation.parameters.index(parameter)
    derived = Operation.__new__(Operation)
    derived.__dict__.update(operation.__dict__)
    derived.f = operation.f.pullback(at)
    derived.everywhere = lambda: _weft.Ufunc(operation.f._weft_dispatcher_, True, at)
    derived.name = f"{operation.name}_by_{parameter.name}"
    last = Parameter(_unused(operation), "array", ABSENT)
    derived.parameters = [*(p._replace(default=ABSENT) for p in operation.parameters), last]
    derived.arrays = [p for p in derived.parameters if p.is_array]
    derived.rule = None
    derived.is_derived = True
    return derived


def _unused(operation: Operation) -> str:
    name = COTANGENT
    while name in [p.name for p in operation.parameters]:
        name += "_"
    return name


def is_differentiable(dtype: Any) -> bool:
    """Whether arrays of a dtype of NumPy's have gradients: floats, bfloat16 too. Complex numbers are refused."""
    dtype = np.dtype(dtype)
    if dtype.kind == "c":
        raise errors.UnsupportedError("gradients by complex arrays are not derived for operations: give a rule, vjp=")
    return dtype.kind in "fV"


def puller(operation: Operation) -> Callable[[Any, Any, Any, Any], None]:
    """A function that adds to the gradients by the arrays of a function or a kernel.

    It takes the arguments, for each an array of zeros (or None where no gradient is wanted), the results' gradients, and on CUDA a
    device's number with a stream there.
    """
    launchers = Launchers(operation) if operation.sort == "kernel" else None

    def pull(values: Any, adjoints: Any, g: Any, place: Any) -> None:
        try:
            if operation.returns:
                _returning(operation, values, adjoints, g)
            else:
                _writing(operation, launchers, values, adjoints, g, place)
        except Exception as error:
            raise explained(operation, error) from None

    return pull


def _returning(operation: Operation, values: Any, adjoints: Any, g: Any) -> None:
    # What is returned as a number has a number for its gradient.
    given = tuple(None if each.dtype.kind not in "fcV" else each if each.ndim else each[()] for each in g)
    grad = operation.f.grad
    # What comes from a framework is of the result's shape.
    (grad.of_fitting if operation.f.vjp_rule is None else grad)(tuple(values), tuple(adjoints), given[0] if len(given) == 1 else given)


def _writing(operation: Operation, launchers: Launchers | None, values: Any, adjoints: Any, g: Any, place: Any) -> None:
    outs = [_empty_like(each, place) for each in g]
    fill(operation, outs, place)
    passed = tuple(outs[i] if where == "out" else values[i] for where, i in operation.order)
    # The adjoint of what is written holds the gradient, and is used up.
    shadows = tuple(g[i] if where == "out" else adjoints[i] for where, i in operation.order)
    if launchers is None:
        operation.f.grad(passed, shadows, None)
    elif place is None:
        _launch(operation, launchers, launchers.find(outs[0], values), launchers.cpu_stream, outs[0], values)(passed, shadows)
    else:
        with _weft.device(f"cuda:{place[0]}"):
            found = launchers.made(launchers.key(outs[0], values), place[1] or 0)
            _launch(operation, launchers, found, place[1] or 0, outs[0], values)(passed, shadows)


def _launch(operation: Operation, launchers: Launchers, forward: Any, stream: Any, first: Any, values: Any) -> Callable[[Any, Any], None]:
    """The adjoint of a kernel with the grid of a launch."""
    if 0 in forward.blocks:
        # There is nothing to launch, and all gradients are zero.
        return lambda passed, shadows: None
    return operation.f.grad[forward.blocks, forward.threads, stream, launchers.shared(first, values)]


def _empty_like(array: Any, place: Any) -> Any:
    if place is None:
        return np.empty(array.shape, array.dtype)
    from weft import cuda

    return cuda.device_array(tuple(array.shape), array.dtype_name, stream=place[1] or 0)

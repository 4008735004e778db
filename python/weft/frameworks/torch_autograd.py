"""Gradients of operators of PyTorch: what autograd calls, and what saves tensors for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.autograd import forward_ad

from . import torch_adjoints
from .operation import Operation, gradients

_below = torch._C._AutoDispatchBelowAutograd
_after = torch._C._after_autograd_keyset
_any_requires_grad = torch._C._any_requires_grad
_is_grad_enabled = torch.is_grad_enabled


def register(operation: Operation, op: torch._ops.OpOverload, library: torch.library.Library) -> None:
    """Tells PyTorch the gradient of an operator, or that it has none."""
    if operation.mutates:
        library.impl(op._opname, _shortened(op, _refused(op)), "Autograd", with_keyset=True)
        return
    backward, setup = _rule(operation, op.name())
    torch.library.register_autograd(op.name(), backward, setup_context=setup, lib=_Shortened(library, op))


class _Shortened:
    """A library for `register_autograd`, which puts a short way before what that makes: for calls of which no gradient is wanted."""

    def __init__(self, library: torch.library.Library, op: torch._ops.OpOverload) -> None:
        self.library, self.op = library, op

    def impl(self, name: Any, kernel: Callable[..., Any], key: str, *, with_keyset: bool) -> None:
        """What `Library.impl` is."""
        self.library.impl(name, _shortened(self.op, kernel), key, with_keyset=with_keyset)


def _shortened(op: torch._ops.OpOverload, kernel: Callable[..., Any]) -> Callable[..., Any]:
    redispatch = op._handle.redispatch_boxed

    def autograd(keyset: Any, *args: Any, **named: Any) -> Any:
        if forward_ad._current_level >= 0:
            _refuse_duals(op, args)
        if _is_grad_enabled() and _any_requires_grad(*args):
            return kernel(keyset, *args, **named)
        with _below():
            return redispatch(keyset & _after, *args, **named)

    return autograd


def _refuse_duals(op: torch._ops.OpOverload, args: tuple[Any, ...]) -> None:
    """PyTorch itself would go on with a derivative of zero."""
    for a in args:
        if isinstance(a, torch.Tensor) and forward_ad.unpack_dual(a).tangent is not None:
            raise NotImplementedError(f"{op.name()} has no derivative in forward mode (jvp, jacfwd): use reverse mode")


def _refused(op: torch._ops.OpOverload) -> Callable[..., Any]:
    """What is called of an operator that writes to its arguments where a gradient is wanted of one."""

    def refuse(keyset: Any, *args: Any) -> Any:
        raise RuntimeError(
            f"{op.name()} writes to its arguments and has no gradient: call it under torch.no_grad(), or with detached tensors, or make "
            "an operator that gives results of its own (out=)"
        )

    return refuse


def _refused_again(full: str) -> tuple[Callable[..., Any], None]:
    """The backward function of an operator that gives another one's gradient."""

    def refuse(ctx: Any, *grads: Any) -> Any:
        raise RuntimeError(
            f"{full} has no gradient: second derivatives are not derived. Give the first ones as a rule, torch_op(..., vjp=), of operators "
            "that have gradients"
        )

    return refuse, None


def _rule(operation: Operation, full: str) -> tuple[Callable[..., Any], Callable[..., None] | None]:
    """The backward function of an operator, and what saves tensors for it."""
    rule = operation.rule
    if rule is None:
        return _refused_again(full) if operation.is_derived else torch_adjoints.rule(operation, full)

    kept = [i for i, p in enumerate(operation.parameters) if p.name in rule.names and p.is_array]
    numbers = [i for i, p in enumerate(operation.parameters) if p.name in rule.names and not p.is_array]
    keeps_out = "out" in rule.names
    count = 1 if operation.sort == "vectorized" else len(operation.outputs)

    def of_nothing_kept(ctx: Any, *grads: Any) -> Any:
        found = iter(gradients(operation, rule({"g": grads[0] if count == 1 else grads})))
        return tuple(next(found) if p.is_array else None for p in operation.parameters)

    if not (kept or numbers or keeps_out):
        return of_nothing_kept, None

    def setup(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        outs = () if not keeps_out else (output,) if count == 1 else tuple(output)
        ctx.save_for_backward(*(inputs[i] for i in kept), *outs)
        ctx.numbers = [inputs[i] for i in numbers]

    def backward(ctx: Any, *grads: Any) -> Any:
        saved = ctx.saved_tensors
        values = {operation.parameters[i].name: tensor for i, tensor in zip(kept, saved, strict=False)}
        values.update({operation.parameters[i].name: number for i, number in zip(numbers, ctx.numbers, strict=True)})
        values["g"] = grads[0] if count == 1 else grads
        if keeps_out:
            outs = saved[len(kept) :]
            values["out"] = outs[0] if count == 1 else outs
        found = iter(gradients(operation, rule(values)))
        return tuple(next(found) if p.is_array else None for p in operation.parameters)

    return backward, setup

"""Gradients of operators of PyTorch by Weft's own adjoints, which are operators themselves: autograd and the compiler see them as such."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from weft._weft import view_of_dlpack

from . import adjoints, torch_cuda
from .operation import Operation, Parameter

_capsule = torch._C._to_dlpack


def rule(operation: Operation, full: str) -> tuple[Callable[..., Any], Callable[..., None]]:
    """The backward function of an operator without a rule, and what saves tensors for it."""
    arrays = [i for i, p in enumerate(operation.parameters) if p.is_array]
    numbers = [i for i, p in enumerate(operation.parameters) if not p.is_array]
    gradients = _elementwise(operation, full) if operation.sort == "vectorized" else _adjoint(operation, full)

    def setup(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.save_for_backward(*(inputs[i] for i in arrays))
        ctx.numbers = [inputs[i] for i in numbers]

    def backward(ctx: Any, *grads: Any) -> Any:
        args: list[Any] = [None] * len(operation.parameters)
        for i, tensor in zip(arrays, ctx.saved_tensors, strict=True):
            args[i] = tensor
        for i, number in zip(numbers, ctx.numbers, strict=True):
            args[i] = number
        # Arguments that are defaults are not told of; none of them is a tensor.
        needs = ctx.needs_input_grad
        wanted = [i < len(needs) and needs[i] and _differentiable(full, args[i]) for i in range(len(args))]
        return gradients(args, wanted, grads)

    return backward, setup


def _differentiable(full: str, tensor: torch.Tensor) -> bool:
    if tensor.is_complex():
        raise RuntimeError(f"{full}: gradients by complex tensors are not derived: give a rule, torch_op(..., vjp=)")
    return tensor.is_floating_point()


def _elementwise(operation: Operation, full: str) -> Callable[..., Any]:
    """An operator for each tensor that a gradient is wanted for."""
    from .torch import define

    if adjoints.has_rule(operation.f):
        raise ValueError(
            f"{operation.name} has a rule of its own (defvjp), which is one of Weft's arrays: give it in PyTorch's words, vjp="
        )

    @functools.cache
    def by(parameter: Parameter) -> torch._ops.OpOverload:
        return define(adjoints.pullback(operation, parameter), f"{full}_by_{parameter.name}")

    def gradients(args: list[Any], wanted: list[bool], grads: tuple[Any, ...]) -> Any:
        found: list[Any] = [None] * len(args)
        for i, (p, each) in enumerate(zip(operation.parameters, wanted, strict=True)):
            if each:
                found[i] = by(p)(*args, grads[0]).sum_to_size(args[i].shape).to(args[i].dtype)
        return tuple(found)

    return gradients


def _adjoint(operation: Operation, full: str) -> Callable[..., Any]:
    """One operator for all gradients; which are wanted is told by the bits of a number."""

    @functools.cache
    def made() -> torch._ops.OpOverload:
        return _define(operation, f"{full}_backward")

    def gradients(args: list[Any], wanted: list[bool], grads: tuple[Any, ...]) -> Any:
        bits = sum(1 << i for i, each in enumerate(wanted) if each)
        found = made()(*args, *grads, bits)
        given = iter(found if isinstance(found, tuple) else (found,))
        every = [next(given) if p.is_array else None for p in operation.parameters]
        return tuple(each if needed else None for each, needed in zip(every, wanted, strict=True))

    return gradients


def _define(operation: Operation, full: str) -> torch._ops.OpOverload:
    from . import torch_autograd
    from .torch import library_for

    library, name, find = library_for(full)
    kinds = ["Tensor" if p.is_array else p.kind for p in operation.parameters]
    parts = [f"{kind} a{i}" for i, kind in enumerate(kinds)] + [f"Tensor g{i}" for i in range(len(operation.outputs))] + ["int wanted"]
    gives = "Tensor" if len(operation.arrays) == 1 else f"({', '.join(['Tensor'] * len(operation.arrays))})"
    library.define(f"{name}({', '.join(parts)}) -> {gives}", tags=(torch.Tag.pt2_compliant_tag,))
    op = find()
    pull = adjoints.puller(operation)
    count = len(operation.parameters)

    def allocate(*args: Any) -> Any:
        made = [_zeros(args[i], args[-1] >> i & 1) for i, p in enumerate(operation.parameters) if p.is_array]
        return made[0] if len(made) == 1 else tuple(made)

    def run(*args: Any) -> Any:
        made = allocate(*args)
        given = iter(made if isinstance(made, tuple) else (made,))
        shadows = [next(given) if p.is_array else None for p in operation.parameters]
        values = [_view(a, False) if p.is_array else a for p, a in zip(operation.parameters, args, strict=False)]
        wanted = [_view(shadow, True) if args[-1] >> i & 1 else None for i, shadow in enumerate(shadows)]
        # What a function writes to has its gradient used up.
        cotangents = [g if operation.returns else g.clone(memory_format=torch.contiguous_format) for g in args[count:-1]]
        device = args[next(i for i, p in enumerate(operation.parameters) if p.is_array)].device
        place = (device.index, torch_cuda.current(device.index)) if device.type == "cuda" else None
        pull(values, wanted, [_view(g, not operation.returns) for g in cotangents], place)
        return made

    library.impl(name, run, "CPU")
    if operation.sort == "kernel":
        library.impl(name, run, "CUDA")
    torch.library.register_fake(full, allocate, lib=library)
    derived = Operation.__new__(Operation)
    derived.__dict__.update(operation.__dict__)
    derived.is_derived, derived.rule = True, None
    torch_autograd.register(derived, op, library)
    return op


def _zeros(tensor: torch.Tensor, wanted: int) -> torch.Tensor:
    return torch.zeros_like(tensor, memory_format=torch.contiguous_format) if wanted else tensor.new_empty(0)


def _view(tensor: torch.Tensor, writable: bool) -> Any:
    return view_of_dlpack(_capsule(tensor), tensor, writable)

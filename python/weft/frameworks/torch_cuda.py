"""Operators of PyTorch for tensors on CUDA devices: the function runs on PyTorch's current stream, and nothing waits for it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from weft._weft import view_of_dlpack

from .operation import Operation
from .running import Launchers, Streams

_capsule = torch._C._to_dlpack


def implementation(operation: Operation, allocate: Callable[..., Any]) -> Callable[..., Any]:
    """What is called for tensors on a CUDA device."""
    from .torch import touched

    if operation.sort == "function":
        return _refusing(operation)
    run = _elementwise(operation) if operation.sort == "vectorized" else _kernel(operation)
    defaults = [p.default for p in operation.parameters]
    tensors = [i for i, p in enumerate(operation.parameters) if p.is_array]
    mutated = [i for i, p in enumerate(operation.parameters) if p.name in operation.mutates]
    overlaps = _overlap_check(operation) if operation.mutates else None

    def on_cuda(*args: Any) -> Any:
        args = (*args, *defaults[len(args) :])
        device = args[tensors[0]].device
        for i in tensors:
            if args[i].device != device:
                raise RuntimeError(f"{operation.name}: {operation.parameters[i].name} is on {args[i].device}, and others are on {device}")
        if overlaps is not None:
            overlaps(*args)
        outs = allocate(*args)
        every = () if outs is None else outs if isinstance(outs, tuple) else (outs,)
        values = [view_of_dlpack(_capsule(a), a, True) if i in tensors else a for i, a in enumerate(args)]
        run(args, values, every, [view_of_dlpack(_capsule(o), o, True) for o in every], device.index)
        touched(*(args[i] for i in mutated))
        return outs

    return on_cuda


def _overlap_check(operation: Operation) -> Callable[..., None]:
    from .torch import _overlap_check as check

    return check(operation)


def _refusing(operation: Operation) -> Callable[..., Any]:
    def on_cuda(*args: Any) -> Any:
        raise RuntimeError(
            f"{operation.name} is an njit function, which runs on the CPU: pass tensors there (x.cpu()), or make the operator of a "
            "cuda.jit kernel or a vectorized function"
        )

    return on_cuda


STREAMS = Streams()


def current(index: int) -> Any:
    """PyTorch's current stream of a device as Weft's; None is the default stream."""
    return STREAMS.of(index, torch.cuda.current_stream(index).cuda_stream)


def _elementwise(operation: Operation) -> Callable[..., None]:
    everywhere = functools.cache(operation.everywhere)

    def run(args: tuple[Any, ...], values: list[Any], outs: tuple[Any, ...], views: list[Any], index: int) -> None:
        everywhere()._run_on(current(index), *values, views[0])

    return run


def _kernel(operation: Operation) -> Callable[..., None]:
    names = [p.name for p in operation.parameters]
    launchers = Launchers(operation)

    def run(args: tuple[Any, ...], values: list[Any], outs: tuple[Any, ...], views: list[Any], index: int) -> None:
        given = dict(zip(names, args, strict=True))
        first = outs[0] if outs else next(given[name] for name in names if name in operation.mutates)
        passed = [views[i] if where == "out" else values[i] for where, i in operation.order]
        launchers.launch(first, args, passed, index, current(index))

    return run

"""Gradients of compiled functions and kernels: `f.grad(args, adjoints, cotangent)` and `kernel.grad[blocks, threads](args, adjoints)`.

The code is derived from the function's IR (`docs/architecture/adjoint.md`) and compiled for the types of its
arguments, as any other. A rule given with `@f.defvjp` is used in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft import _weft


class Gradient:
    """The adjoint of one function or kernel."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.code = function._adjoint()

    def __call__(self, args: Sequence[Any], adjoints: Sequence[Any], cotangent: Any = None) -> tuple[Any, ...]:
        if self.function._is_kernel():
            raise TypeError(
                f"{self.function.__name__} is a kernel: its gradient is launched, "
                f"{self.function.__name__}.grad[blocks, threads](args, adjoints)"
            )
        args, adjoints = _checked(self.function, args, adjoints)
        rule = self.function.vjp_rule
        if rule is not None:
            return self._by_rule(rule, args, adjoints, cotangent)
        given = iter(self.code(args, adjoints, cotangent))
        return tuple(next(given) if _is_float(arg) else None for arg in args)

    def __getitem__(self, config: Any) -> Launch:
        if not self.function._is_kernel():
            raise TypeError(f"{self.function.__name__} is no kernel: call {self.function.__name__}.grad(args, adjoints, cotangent)")
        return Launch(self, config)

    def forall(self, ntasks: Any, tpb: int = 0, stream: Any = 0, sharedmem: int = 0) -> Launch:
        """A kernel's adjoint with one thread per point of `ntasks`, as `kernel.forall`."""
        if tpb > 0:
            return self[max(-(-int(ntasks) // tpb), 1), tpb, stream, sharedmem]
        return Launch(self, None, _weft.Launcher.forall(self.code, ntasks, stream, sharedmem))

    def _by_rule(self, rule: Callable[..., Any], args: tuple[Any, ...], adjoints: tuple[Any, ...], cotangent: Any) -> tuple[Any, ...]:
        output = self.function(
            *[
                arg.copy() if isinstance(arg, np.ndarray) and adjoint is not None else arg
                for arg, adjoint in zip(args, adjoints, strict=True)
            ]
        )
        found = rule(1.0 if cotangent is None else cotangent, output, *args)
        if not isinstance(found, tuple) or len(found) != len(args):
            raise TypeError(f"the rule of {self.function.__name__} gives a tuple of {len(args)} gradients, one for each argument, or None")
        for adjoint, gradient in zip(adjoints, found, strict=True):
            if adjoint is not None and gradient is not None:
                adjoint += gradient
        return tuple(gradient if _is_float(arg) else None for arg, gradient in zip(args, found, strict=True))

    def __repr__(self) -> str:
        return f"<gradient of {self.function.__name__}>"


class Launch:
    """An adjoint with its grid: what `kernel.grad[blocks, threads]` gives."""

    def __init__(self, gradient: Gradient, config: Any, launcher: Any = None) -> None:
        self.gradient = gradient
        self.launcher = gradient.code[config] if launcher is None else launcher

    def __call__(self, args: Sequence[Any], adjoints: Sequence[Any]) -> None:
        function = self.gradient.function
        args, adjoints = _checked(function, args, adjoints)
        if function.vjp_rule is not None:
            function.vjp_rule(adjoints, None, *args)
            return
        self.launcher(args, adjoints, None)


def _is_float(arg: Any) -> bool:
    return isinstance(arg, (float, complex, np.floating, np.complexfloating)) or type(arg).__name__ == "bfloat16"


def _checked(function: Any, args: Sequence[Any], adjoints: Sequence[Any]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Refuses adjoints that do not fit their arguments, or lie where others do."""
    name = function.__name__
    if not isinstance(args, (tuple, list)) or not isinstance(adjoints, (tuple, list)):
        raise TypeError(f"the gradient of {name} takes a tuple of arguments and one of adjoints")
    if len(args) != len(adjoints):
        raise ValueError(f"{name}: {len(args)} arguments and {len(adjoints)} adjoints were given; there is one for each, or None")
    for at, (arg, adjoint) in enumerate(zip(args, adjoints, strict=True)):
        if adjoint is None or isinstance(arg, (tuple, list)):
            continue
        wanted = getattr(arg, "shape", ())
        if wanted == () and not hasattr(arg, "__setitem__"):
            wanted = (1,)
        shape = getattr(adjoint, "shape", None)
        if shape is None:
            raise TypeError(f"{name}: the adjoint of argument {at} is an array or None, not a {type(adjoint).__name__}")
        if tuple(shape) != tuple(wanted):
            raise ValueError(f"{name}: argument {at} has the shape {tuple(wanted)} and its adjoint {tuple(shape)}")
    arrays = [adjoint for adjoint in adjoints if isinstance(adjoint, np.ndarray)]
    others = [arg for arg in args if isinstance(arg, np.ndarray)]
    for at, adjoint in enumerate(arrays):
        for other in [*arrays[:at], *others]:
            if np.may_share_memory(adjoint, other) and np.shares_memory(adjoint, other):
                raise ValueError(f"{name}: an adjoint shares memory with another array; give each its own, and add them up")
    return tuple(args), tuple(adjoints)

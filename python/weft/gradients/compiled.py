"""Gradients of compiled functions and kernels: `f.grad(args, adjoints, cotangent)` and `kernel.grad[blocks, threads](args, adjoints)`.

The code is derived from the function's IR (`docs/architecture/adjoint.md`) and compiled for the types of its arguments, as any other. A
rule given with `@f.defvjp` is used in its place.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from types import CodeType, ModuleType
from typing import Any

import numpy as np

from weft import _weft
from weft._differentiable import Ruled
from weft.errors import UnsupportedError


class Gradient:
    """The adjoint of one function or kernel."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.code = function._adjoint()
        self._callees = callees(function)

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
        _check_cotangent(self.function, args, cotangent)
        return self.of_fitting(args, adjoints, cotangent)

    def of_fitting(self, args: tuple[Any, ...], adjoints: tuple[Any, ...], cotangent: Any) -> tuple[Any, ...]:
        """The same of what is known to fit: adjoints of the arguments' shapes, apart from each other, and cotangents of the results'."""
        self.refuse_rules_within()
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
        output = self.function(*map(_copied, args))
        # The rule's arrays are its own: what it writes to them is nothing to the caller.
        found = rule(1.0 if cotangent is None else cotangent, output, *map(_copied, args))
        if not isinstance(found, tuple) or len(found) != len(args):
            raise TypeError(f"the rule of {self.function.__name__} gives a tuple of {len(args)} gradients, one for each argument, or None")
        for adjoint, gradient in zip(adjoints, found, strict=True):
            if adjoint is not None and gradient is not None:
                adjoint += gradient
        return tuple(gradient if _is_float(arg) else None for arg, gradient in zip(args, found, strict=True))

    def refuse_rules_within(self) -> None:
        """What is derived would be another gradient than that of the rule."""
        refuse_rules(self.function, self._callees)

    def __repr__(self) -> str:
        return f"<gradient of {self.function.__name__}>"


def callees(function: Any) -> list[Any]:
    """The compiled functions that a function's code names, and those that theirs names, besides itself."""
    found: list[Any] = []
    left = [function]
    while left:
        named = _named(getattr(left.pop(), "py_func", None))
        new = [each for each in named if each is not function and not any(each is known for known in found)]
        found += new
        left += new
    return found


def _named(function: Any) -> list[Any]:
    """What may have a rule among the values of a function's names, and their attributes that it names."""
    if not hasattr(function, "__code__"):
        return []
    known = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    codes, names = [function.__code__], set[str]()
    while codes:
        code = codes.pop()
        names.update(code.co_names, code.co_freevars)
        codes += [each for each in code.co_consts if isinstance(each, CodeType)]
    values = [known[name] for name in names if name in known]
    values += [getattr(value, name, None) for value in values if isinstance(value, ModuleType) for name in names]
    return [value for value in values if isinstance(value, Ruled)]


def refuse_rules(function: Any, among: Sequence[Any]) -> None:
    """UnsupportedError if one of these has a rule."""
    for each in among:
        if each.vjp_rule is not None:
            raise UnsupportedError(
                f"{function.__name__} calls {each.__name__}, which has a rule of its own for its gradient: a rule is Python's, and what "
                f"compiled code calls cannot have one. Give {function.__name__} a rule with defvjp"
            )


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
        self.gradient.refuse_rules_within()
        self.launcher(args, adjoints, None)


def _is_float(arg: Any) -> bool:
    return isinstance(arg, (float, complex, np.floating, np.complexfloating)) or type(arg).__name__ == "bfloat16"


def _checked(function: Any, args: Sequence[Any], adjoints: Sequence[Any]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Refuses adjoints that do not fit their arguments, or lie where others do."""
    name = function.__name__
    if not isinstance(args, (tuple, list)) or not isinstance(adjoints, (tuple, list)):
        raise TypeError(f"the gradient of {name} takes a tuple of arguments and one of adjoints")
    if type(args) is type(adjoints) is tuple and len(args) == len(adjoints) and _weft._fits_plainly(args, adjoints):
        return args, adjoints
    if len(args) != len(adjoints):
        raise ValueError(f"{name}: {len(args)} arguments and {len(adjoints)} adjoints were given; there is one for each, or None")
    pairs: list[tuple[str, Any, Any]] = []
    for at, (arg, adjoint) in enumerate(zip(args, adjoints, strict=True)):
        _pair(name, f"argument {at}", arg, adjoint, pairs)
    given = [adjoint for _, _, adjoint in pairs if adjoint is not None]
    others = [arg for _, arg, _ in pairs if hasattr(arg, "shape")]
    for at, adjoint in enumerate(given):
        if any(_share(adjoint, other) for other in [*given[:at], *others]):
            raise ValueError(f"{name}: an adjoint shares memory with another array; give each its own, and add them up")
    return tuple(args), tuple(adjoints)


def _pair(name: str, what: str, arg: Any, adjoint: Any, pairs: list[tuple[str, Any, Any]]) -> None:
    """Appends an argument and its adjoint, those in tuples one by one."""
    if isinstance(arg, (tuple, list)):
        if adjoint is not None and (not isinstance(adjoint, (tuple, list)) or len(adjoint) != len(arg)):
            raise TypeError(f"{name}: the adjoint of {what}, a tuple, is a tuple as long, or None")
        for at, item in enumerate(arg):
            _pair(name, f"{what}[{at}]", item, None if adjoint is None else adjoint[at], pairs)
        return
    pairs.append((what, arg, adjoint))
    if adjoint is None:
        return
    wanted = getattr(arg, "shape", ())
    if wanted == () and not hasattr(arg, "__setitem__"):
        wanted = (1,)
    shape = getattr(adjoint, "shape", None)
    if shape is None:
        raise TypeError(f"{name}: the adjoint of {what} is an array or None, not a {type(adjoint).__name__}")
    if tuple(shape) != tuple(wanted):
        raise ValueError(f"{name}: {what} has the shape {tuple(wanted)} and its adjoint {tuple(shape)}")


def _share(a: Any, b: Any) -> bool:
    """Whether two arrays may have an element in common: two of Weft's are taken to if one is a view of the other."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.may_share_memory(a, b) and np.shares_memory(a, b)
    if isinstance(a, _weft.ndarray) and isinstance(b, _weft.ndarray):
        return a._place[0] == b._place[0]
    spans = [_span(each) for each in (a, b)]
    return all(spans) and spans[0][0] < spans[1][1] and spans[1][0] < spans[0][1]


def _span(array: Any) -> tuple[int, int] | None:
    """The addresses between which a device array lies, of Weft's or of another library."""
    if isinstance(array, _weft.DeviceArray):
        first, shape, strides, item = array.memory.address + array.offset, array.shape, array.strides, array.dtype.itemsize
    else:
        about = None if isinstance(array, (np.ndarray, _weft.ndarray)) else getattr(array, "__cuda_array_interface__", None)
        if about is None:
            return None
        first, shape, item = about["data"][0], about["shape"], np.dtype(about["typestr"]).itemsize
        strides = about.get("strides") or tuple(item * math.prod(shape[at + 1 :]) for at in range(len(shape)))
    if 0 in shape:
        return None
    ends = [(n - 1) * step for n, step in zip(shape, strides)]
    return first + sum(min(end, 0) for end in ends), first + sum(max(end, 0) for end in ends) + item


def _check_cotangent(function: Any, args: tuple[Any, ...], cotangent: Any) -> None:
    """Refuses arrays of cotangents of another shape than the results: that is known of a call only, which is done with copies."""
    given = cotangent if isinstance(cotangent, (tuple, list)) else (cotangent,)
    if any(getattr(each, "shape", ()) for each in given):
        _fit(function.__name__, function(*map(_copied, args)), cotangent)


def _fit(name: str, result: Any, cotangent: Any) -> None:
    if cotangent is None:
        return
    if isinstance(result, tuple):
        if not isinstance(cotangent, (tuple, list)) or len(cotangent) != len(result):
            raise TypeError(f"{name} returns {len(result)} values: the cotangent is a tuple of as many")
        for each, part in zip(result, cotangent, strict=True):
            _fit(name, each, part)
        return
    shapes = [tuple(getattr(each, "shape", ())) for each in (result, cotangent)]
    if shapes[0] != shapes[1]:
        raise ValueError(f"{name}: a result has the shape {shapes[0]} and its cotangent {shapes[1]}")


def _copied(arg: Any) -> Any:
    if isinstance(arg, (tuple, list)):
        return type(arg)(*map(_copied, arg)) if hasattr(arg, "_fields") else type(arg)(map(_copied, arg))
    return arg.copy() if isinstance(arg, (np.ndarray, _weft.ndarray)) else arg

"""Calls of compiled functions and launches of kernels with arrays that a tape follows.

The extension comes here where an argument is followed. The call is done with copies, so that what it reads stays as it was; what it wrote
becomes the next version of the arrays that it was given. The way back is the adjoint that Weft derives (`f.grad`), or the rule that
`f.defvjp` was given.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from weft._weft import Launcher, _assign, _full, _tape_lacks_elements, ndarray
from weft.errors import CaptureError, GradientError
from weft.gradients.primitives import followed_call
from weft.gradients.trees import flatten, unflatten

__all__ = ["called"]


def called(code: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """What a compiled function or a launcher gives for arguments of which a tape follows some; numbers are arrays of no axes."""
    function = _function(code)
    if not hasattr(function, "grad"):
        if _tape_lacks_elements([leaf for leaf in flatten(args)[0] if isinstance(leaf, ndarray)]):
            # Of a batch it is done one by one, when there are elements.
            raise CaptureError(f"{function.__name__} is an adjoint, which needs elements")
        raise GradientError(f"{function.__name__} is an adjoint: derivatives of gradients of compiled functions are not taken here")
    call = _Call(code, _positional(code, args, keywords))
    made = followed_call(call.forward, call.rule, tuple(call.arrays), {})
    return call.given(list(made))


def _function(code: Any) -> Any:
    return code.kernel if isinstance(code, Launcher) else code


def _positional(code: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, ...]:
    if not keywords:
        return args
    bound = inspect.signature(_function(code).py_func).bind(*args, **keywords)
    bound.apply_defaults()
    if bound.kwargs:
        raise GradientError(f"{_function(code).__name__} takes {', '.join(bound.kwargs)} by name alone: pass such arguments by position")
    return bound.args


class _Call:
    """One call: its arguments, and what is written to."""

    def __init__(self, code: Any, args: tuple[Any, ...]) -> None:
        self.code = code
        self.name = _function(code).__name__
        self.leaves, self.spec = flatten(args)
        self.places = [at for at, leaf in enumerate(self.leaves) if isinstance(leaf, ndarray)]
        self.arrays = [self.leaves[at] for at in self.places]
        self.written = [at for at, is_written in enumerate(code._written(*args)) if is_written]
        self._refuse_shared()
        if self.written and _function(code).vjp_rule is not None:
            raise GradientError(f"{self.name} has a rule and writes to its arguments: a rule says what comes of results alone")
        self.result: Any = None
        self.plain: list[Any] = []
        self.count = 0

    def _refuse_shared(self) -> None:
        """A write that shows in another argument would be lost."""
        storages = [array._place[0] for array in self.arrays]
        for at in self.written:
            if storages.count(storages[at]) > 1:
                raise GradientError(
                    f"{self.name} writes to an array that it is given twice, or as views of one array: such a call has no gradient here"
                )

    def _args(self, arrays: tuple[ndarray, ...]) -> Any:
        leaves = list(self.leaves)
        for at, array in zip(self.places, arrays):
            leaves[at] = array
        return unflatten(self.spec, leaves)

    def forward(self, *arrays: ndarray) -> tuple[ndarray, ...]:
        """What the call gives, numbers as arrays, and behind that what it made of the arrays that it writes to."""
        from weft.kernels.launching import launched

        return tuple(_listed(launched(self._forward, *arrays)))

    def _forward(self, *arrays: ndarray) -> tuple[ndarray, ...]:
        passed = [array.copy() if at in self.written else array for at, array in enumerate(arrays)]
        leaves, self.result = flatten(self.code(*self._args(tuple(passed))))
        storages = {array._place[0] for array in passed}
        made: list[ndarray] = []
        self.plain = []
        for leaf in leaves:
            if isinstance(leaf, ndarray) and leaf._place[0] in storages:
                raise GradientError(
                    f"{self.name} returns an array that it was given, or a view of one: return a copy where a gradient is taken"
                )
            array = _as_array(leaf)
            self.plain.append(leaf if array is None else None)
            if array is not None:
                made.append(array)
        self.count = len(made)
        return (*made, *(passed[at] for at in self.written))

    def given(self, made: list[ndarray]) -> Any:
        """What the caller gets; the arrays that are written to get their next version."""
        for at, after in zip(self.written, made[self.count :]):
            _assign(self.arrays[at], after)
        left = iter(made[: self.count])
        return unflatten(self.result, [next(left) if plain is None else plain for plain in self.plain])

    def rule(self, cotangents: tuple[ndarray, ...], results: tuple[ndarray, ...], *arrays: ndarray) -> tuple[ndarray | None, ...]:
        """The cotangents of the arrays that the call was given."""
        from weft.kernels.launching import launched

        moving = [at for at, array in enumerate(arrays) if array.dtype.kind in "fcV"]
        found = iter(_listed(launched(self._back, len(arrays), *arrays, *cotangents)))
        return tuple(next(found) if at in moving else None for at in range(len(arrays)))

    def _back(self, count: int, *values: ndarray) -> tuple[ndarray, ...]:
        arrays, cotangents = values[:count], values[count:]
        of_results, of_written = cotangents[: self.count], cotangents[self.count :]
        adjoints: list[ndarray | None] = []
        for at, array in enumerate(arrays):
            if array.dtype.kind not in "fcV":
                adjoints.append(None)
                continue
            made = _full(array.shape, 0, array.dtype, array.device)
            if at in self.written:
                made[...] = of_written[self.written.index(at)]
            adjoints.append(made)
        leaves: list[Any] = [None] * len(self.leaves)
        for at, adjoint in zip(self.places, adjoints):
            leaves[at] = adjoint
        args, shadows = self._args(arrays), unflatten(self.spec, leaves)
        if isinstance(self.code, Launcher):
            self.code.kernel.grad[self.code.config](args, shadows)
        else:
            grad, cotangent = self.code.grad, self._cotangent(of_results)
            (grad if self.code.vjp_rule is not None else grad.of_fitting)(args, shadows, cotangent)
        return tuple(adjoint for adjoint in adjoints if adjoint is not None)

    def _cotangent(self, given: tuple[ndarray, ...]) -> Any:
        left = iter(given)
        row: list[Any] = []
        for plain in self.plain:
            cotangent = next(left) if plain is None else None
            row.append(cotangent if cotangent is None or cotangent.ndim else cotangent.item())
        return unflatten(self.result, row)


def _listed(given: Any) -> list[ndarray]:
    return list(given) if isinstance(given, tuple) else [given]


def _as_array(leaf: Any) -> ndarray | None:
    """A result that has a gradient as an array; none of an integer, a truth or a text."""
    from weft.arrays._common import array_of

    if isinstance(leaf, ndarray):
        return leaf
    is_number = isinstance(leaf, (float, complex, np.floating, np.complexfloating, np.ndarray)) or type(leaf).__name__ == "bfloat16"
    return array_of(leaf) if is_number else None

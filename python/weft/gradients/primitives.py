"""Functions with gradients of their own: Weft's that are computed at once, and those of users who give a rule."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np

from weft._weft import (
    _as_it_is,
    _followed,
    _full,
    _is_same,
    _tape_call,
    _tape_innermost,
    _tape_is_here,
    _tape_lacks_elements,
    _tape_pause,
    _tape_place,
    _unfollowed,
    ndarray,
)
from weft.errors import CaptureError, GradientError
from weft.gradients.trees import flatten, map_tree, unflatten

__all__ = ["Call", "custom_jvp", "custom_vjp", "later", "primitive", "through", "unseen", "without_gradient"]

Rule = Callable[..., Any]


class LostGradientError(GradientError):
    """A function that has a rule did what the rule knows nothing of: a gradient would be lost."""


class ForwardModeError(GradientError, TypeError):
    """Tangents of a function whose rule is for cotangents alone."""


class _Transposing(threading.local):
    """The number of the tape of which the way back is transposed on this thread, which is how tangents go forward; else none."""

    tape: int | None = None


_TRANSPOSING = _Transposing()


def is_transposing() -> bool:
    """Whether tangents go forward on this thread."""
    return _TRANSPOSING.tape is not None


@contextmanager
def transposing(tape: int | None) -> Iterator[None]:
    """A block in which the way back over a tape is transposed, or, with None, one that is gone for itself."""
    before, _TRANSPOSING.tape = _TRANSPOSING.tape, tape
    try:
        yield
    finally:
        _TRANSPOSING.tape = before


class Call:
    """A call as a tape has it: what it was given, and how cotangents of what it gave go back."""

    def __init__(
        self,
        function: Callable[..., Any],
        vjp: Rule,
        args: tuple[Any, ...],
        keywords: dict[str, Any],
        arrays: list[ndarray],
        like: Callable[..., Any] | None,
        keeps: bool = False,
        backward_only: bool = False,
    ) -> None:
        self.function = function
        # The rule is a user's, who promises nothing but cotangents: no tangents go through a call that the innermost tape took down.
        self._backward_only = backward_only
        self._tape = _tape_innermost()
        self._like = like
        self._keeps = keeps
        # What the function kept for its rule.
        self.residuals: Any = None
        self.args = args
        self.keywords = keywords
        self.arrays = arrays
        self._vjp = vjp
        self.results: list[ndarray] = []
        self.spec: Any = None

    def pull_back(self, cotangents: list[ndarray | None]) -> list[ndarray | None]:
        """The cotangents of the arrays that it was given; none of those that have none."""
        filled = cotangents
        if not getattr(self._vjp, "_weft_takes_none_", False):
            filled = [_zeros(result) if each is None else each for each, result in zip(cotangents, self.results)]
        first = (self.residuals,) if self._keeps else ()
        if self._backward_only and is_transposing() and _TRANSPOSING.tape == self._tape:
            raise ForwardModeError(
                f"can't apply forward-mode autodiff (jvp) to a custom_vjp function: {_name(self.function)} has a rule for "
                "cotangents alone; give it one for tangents with weft.custom_jvp, of which its gradient is made, too"
            )
        with transposing(None if self._backward_only else _TRANSPOSING.tape):
            given = self._vjp(*first, unflatten(self.spec, filled), unflatten(self.spec, self.results), *self.args, **self.keywords)
        return _aligned(given, self.args, self.arrays, self.function)

    def batched(self, operands: list[ndarray | None], count: int) -> list[ndarray] | None:
        """What it gives for many values of some of its arrays at once, along a first axis; none if it has no rule for that."""
        rule = getattr(self.function, "_weft_batched_", None)
        return None if rule is None else rule(self, operands, count)

    def again(self, arrays: list[ndarray]) -> list[ndarray]:
        """What the function gives for other arrays."""
        others = {id(before): now for before, now in zip(self.arrays, arrays)}
        leaves, spec = flatten((self.args, self.keywords))
        args, keywords = unflatten(spec, [others.get(id(leaf), leaf) for leaf in leaves])
        if _followed(args, keywords):
            return flatten(followed_call(self.function, self._vjp, args, keywords, self._like, self._keeps, self._backward_only))[0]
        given = self.function(*args, **keywords)
        return flatten(given[0] if self._keeps else given)[0]


def _zeros(x: ndarray) -> ndarray:
    return _full(x.shape, 0, x.dtype, x.device)


def _aligned(given: Any, args: tuple[Any, ...], arrays: list[ndarray], function: Callable[..., Any]) -> list[ndarray | None]:
    """The cotangents that a rule gives, one for each argument, one for each array among these."""
    name = getattr(function, "__name__", "a function")
    if not isinstance(given, (tuple, list)) or len(given) != len(args):
        count = f"{len(given)} of them" if isinstance(given, (tuple, list)) else f"a {type(given).__name__}"
        raise GradientError(f"the rule of {name} gives a tuple of cotangents, one for each of its {len(args)} arguments, and not {count}")
    found: dict[int, ndarray] = {}
    for arg, cotangent in zip(args, given):
        _match(arg, cotangent, found, name)
    return [found.get(id(array)) for array in arrays]


def _match(arg: Any, cotangent: Any, found: dict[int, ndarray], name: str) -> None:
    """Cotangents of the arrays of an argument; None stands for those of a whole branch that has none."""
    if cotangent is None:
        return
    if isinstance(arg, ndarray):
        found[id(arg)] = fitting(cotangent, arg, name)
    elif isinstance(arg, dict) and isinstance(cotangent, dict) and set(arg) == set(cotangent):
        for key, part in arg.items():
            _match(part, cotangent[key], found, name)
    elif isinstance(arg, (tuple, list)) and isinstance(cotangent, (tuple, list)) and len(arg) == len(cotangent):
        for part, each in zip(arg, cotangent):
            _match(part, each, found, name)
    elif isinstance(arg, (tuple, list, dict)):
        raise GradientError(f"the rule of {name} gives cotangents in another tree than the argument's")


def fitting(cotangent: Any, value: ndarray, name: str) -> ndarray:
    """A cotangent as an array of a value's shape and dtype; GradientError if it is none."""
    from weft.arrays._common import array_of

    made = array_of(cotangent, None, value.device)
    if made.shape != value.shape:
        raise GradientError(f"the rule of {name} gives a cotangent of shape {made.shape} for an argument of shape {value.shape}")
    if made.dtype != value.dtype:
        if not np.can_cast(made.dtype, value.dtype, "same_kind"):
            raise GradientError(f"the rule of {name} gives a cotangent of {made.dtype} for an argument of {value.dtype}")
        made = made.astype(value.dtype)
    return made


def followed_call(
    function: Callable[..., Any],
    vjp: Rule,
    args: tuple[Any, ...],
    keywords: dict[str, Any],
    like: Callable[..., Any] | None = None,
    keeps: bool = False,
    backward_only: bool = False,
) -> Any:
    """What a function gives, which is taken down as one call: no tape looks inside.

    `like` gives arrays of the same shapes and dtypes where there are no elements and the function cannot be called with zeros. A function
    that `keeps` gives a pair, the second part of which is the first argument of the rule. `backward_only`: the rule may not be transposed.
    """
    leaves, spec = flatten((args, keywords))
    # What is written to the arrays later is nothing to the rule.
    kept = [_as_it_is(leaf) if isinstance(leaf, ndarray) else leaf for leaf in leaves]
    arrays = [leaf for leaf in kept if isinstance(leaf, ndarray)]
    call = Call(function, vjp, *unflatten(spec, kept), arrays, like, keeps, backward_only)
    work, as_given = function, _unfollowed
    if _tape_lacks_elements(arrays):
        # Those that have elements are given as they are: an order among them may decide what is done.
        work, as_given = like or function, lambda leaf: _zeros(leaf) if _tape_lacks_elements([leaf]) else _unfollowed(leaf)
    own = [as_given(leaf) if isinstance(leaf, ndarray) else leaf for leaf in kept]
    own_args, own_keywords = unflatten(spec, own)
    pause = _tape_pause()
    try:
        before = [_as_it_is(leaf) for leaf in own if isinstance(leaf, ndarray)]
        given = work(*own_args, **own_keywords)
        if keeps:
            given, residuals = _pair(function, given)
        results, call.spec = flatten(given)
        results = [_as_it_is(_as_array(function, each)) for each in results]
    finally:
        is_of_others = pause.end()
    if is_of_others:
        raise LostGradientError(
            f"{_name(function)} reads an array that a gradient is taken of and that is none of its arguments: the gradient would be lost. "
            "Pass it as an argument, or read weft.stop_gradient(x)"
        )
    if not all(map(_is_same, before, (leaf for leaf in own if isinstance(leaf, ndarray)))):
        raise LostGradientError(
            f"{_name(function)} writes to an array that it is given, of which its rule knows nothing: let it write to a copy"
        )
    if keeps:
        # What is written to such arrays later is nothing to the rule. Those that others follow are followed in the rule, too.
        call.residuals = map_tree(lambda leaf: _as_it_is(leaf) if isinstance(leaf, ndarray) else leaf, residuals)
    made = _tape_call(call, arrays, results)
    call.results = [_as_it_is(each) for each in made]
    return unflatten(call.spec, made)


def _pair(function: Callable[..., Any], given: Any) -> tuple[Any, Any]:
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise GradientError(f"{_name(function)} gives a pair of its result and what the rule needs of it, and not {type(given).__name__}")
    return given[0], given[1]


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", "a function")


def _as_array(function: Callable[..., Any], result: Any) -> ndarray:
    from weft.arrays._common import array_of

    if isinstance(result, ndarray):
        return result
    if not isinstance(result, (np.ndarray, np.generic, bool, int, float, complex)):
        raise GradientError(f"{_name(function)} gives a {type(result).__name__}, of which there is no gradient: only arrays have one")
    return array_of(result)


def primitive(
    function: Callable[..., Any] | None = None,
    *,
    rules: str | None = None,
    like: Callable[..., Any] | None = None,
    shaped_by: int | None = None,
) -> Any:
    """A function of arrays that is computed at once, with a rule for its gradient, which `defvjp` of what this gives sets.

    The rule is a function of the results' cotangents, the results, and the arguments; it gives the arguments' cotangents, linear in those
    of the results and made by functions that have gradients themselves. Where no tape follows an argument the function is called as it is.
    `rules` names the file of `weft.gradients.rules` that sets the rule, which is read when it is first needed. `defbatched` sets how it is
    computed for many values at once (see `Call.batched`). On the elements of the argument with the number `shaped_by` the shape of what
    it gives depends, so that there is nothing to take down where there are none.
    """
    if function is None:
        return functools.partial(primitive, rules=rules, like=like, shaped_by=shaped_by)
    rule: list[Rule] = []

    @functools.wraps(function)
    def called(*args: Any, **keywords: Any) -> Any:
        if not _tape_is_here() or not _followed(args, keywords):
            return function(*args, **keywords)
        if not rule and rules is not None:
            import_module(f"weft.gradients.rules.{rules}")
        if shaped_by is not None and _lacks_elements((args[shaped_by],), {}):
            raise _unknown_shape(function)
        if not rule:
            raise GradientError(f"{function.__name__} has no gradient")
        return followed_call(function, rule[0], args, keywords, like)

    def defvjp(vjp: Rule, *, takes_none: bool = False) -> Rule:
        # Results without a cotangent have zeros, unless the rule takes None.
        if takes_none:
            vjp._weft_takes_none_ = True  # type: ignore[attr-defined]
        rule[:] = [vjp]
        return vjp

    called.defvjp = defvjp  # type: ignore[attr-defined]
    called.defbatched = functools.partial(_set_batched, function)  # type: ignore[attr-defined]
    return called


def _lacks_elements(args: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    return _tape_lacks_elements([leaf for leaf in flatten((args, keywords))[0] if isinstance(leaf, ndarray)])


def _unknown_shape(function: Callable[..., Any]) -> CaptureError:
    return CaptureError(
        f"the shape of what {function.__name__} gives depends on elements, which nobody can look at inside vmap: do this outside of it"
    )


def without_gradient(
    function: Callable[..., Any] | None = None, *, keeps_shape: bool = True, like: Callable[..., Any] | None = None
) -> Any:
    """A function of arrays that is computed at once, of which there is no gradient: indices, counts, what changes in steps.

    What it gives is followed by no tape, but by those of `vmap`.
    """
    if function is None:
        return functools.partial(without_gradient, keeps_shape=keeps_shape, like=like)

    @functools.wraps(function)
    def called(*args: Any, **keywords: Any) -> Any:
        if not _tape_is_here() or not _followed(args, keywords):
            return function(*args, **keywords)
        if not _lacks_elements(args, keywords):
            return unseen(function, *args, **keywords)
        if not keeps_shape:
            raise _unknown_shape(function)
        return followed_call(function, _nothing, args, keywords, like)

    called.defbatched = functools.partial(_set_batched, function)  # type: ignore[attr-defined]
    return called


def _set_batched(function: Callable[..., Any], batched: Callable[..., Any]) -> Callable[..., Any]:
    function._weft_batched_ = batched  # type: ignore[attr-defined]
    return batched


def _nothing(cotangents: Any, results: Any, *args: Any, **keywords: Any) -> tuple[None, ...]:
    return (None,) * len(args)


def unseen(function: Callable[..., Any], *args: Any, **keywords: Any) -> Any:
    """What a function gives for arrays, of which no tape takes notice, for what has no gradient anyway.

    Where there are no elements that is left to `vmap`, whose tape has to take it down.
    """
    if _lacks_elements(args, keywords):
        return function(*args, **keywords)
    pause = _tape_pause()
    try:
        return function(*args, **keywords)
    finally:
        pause.end()


def later(function: Callable[..., Any], values: list[Any], like: Callable[..., Any] | None) -> Any:
    """What a function without a rule gives for arrays that have no elements yet: it is called when there are some."""

    def called(*values: Any) -> Any:
        return function(list(values))

    def refused(cotangents: Any, results: Any, *args: Any) -> Any:
        raise GradientError("a function that is computed at once has no gradient here")

    return followed_call(called, refused, tuple(values), {}, None if like is None else lambda *values: like(list(values)))


def through(formula: Callable[..., Any]) -> Rule:
    """The rule of a function that is a formula of others with rules: the way back through the formula.

    Of the arguments those that are floats or complex numbers have cotangents, also in tuples and lists.
    """

    def rule(cotangents: Any, results: Any, *args: Any, **keywords: Any) -> tuple[Any, ...]:
        from weft.gradients.transforms import pullback_of

        leaves, spec = flatten(args)
        moving = [at for at, leaf in enumerate(leaves) if isinstance(leaf, ndarray) and leaf.dtype.kind in "fcV"]

        def again(*given: ndarray) -> Any:
            row = list(leaves)
            for at, each in zip(moving, given):
                row[at] = each
            return formula(*unflatten(spec, row), **keywords)

        _, pull_back = pullback_of(again, [leaves[at] for at in moving])
        found = dict(zip(moving, pull_back(cotangents)))
        return tuple(unflatten(spec, [found.get(at) for at in range(len(leaves))]))

    return rule


class custom_vjp:
    """A function of arrays whose gradient is what a rule says, as in JAX.

    `f.defvjp(forward, backward)`: `forward(*args)` gives the result and whatever `backward(residuals, cotangent)` needs, which gives a
    tuple of the arguments' cotangents, `None` for one that has none. Or `@f.defvjp` over one function `rule(cotangent, result, *args)`.
    `nondiff_argnums`: arguments that are no arrays; with two functions they come first to `backward`, as JAX passes them. There are no
    tangents of such a function: `jvp`, `linearize` and `jacfwd` of it are refused, and `custom_jvp` has both.

    >>> @weft.custom_vjp
    ... def clipped(x):
    ...     return weft.clip(x, -1, 1)
    >>> @clipped.defvjp
    ... def _(cotangent, result, x):
    ...     return (cotangent,)
    >>> weft.grad(clipped)(5.0)
    array(1.)
    """

    def __init__(self, function: Callable[..., Any], nondiff_argnums: tuple[int, ...] = ()) -> None:
        # First: a function made of another one with a rule has its attributes, and those here are others.
        functools.update_wrapper(self, function)
        self._function = function
        self._fixed = tuple(nondiff_argnums)
        # Is the rule, as Weft's own are, linear in the cotangent and made of what has gradients, so that tangents may go through it?
        self._is_linear = False
        self._rule: Rule | None = None
        self._forward: Callable[..., Any] | None = None

    def defvjp(self, forward: Callable[..., Any], backward: Callable[..., Any] | None = None) -> Callable[..., Any]:
        """Sets the rule: JAX's two functions, or one of the cotangent, the result and the arguments."""
        if backward is None:
            self._rule, self._forward = forward, None
        else:
            self._rule, self._forward = backward, forward
        return forward

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """A method takes its instance as an argument."""
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if self._rule is None:
            name = getattr(self._function, "__name__", "the function")
            raise GradientError(f"{name} was given to custom_vjp, and no rule to defvjp")
        if keywords:
            import inspect

            bound = inspect.signature(self._function).bind(*args, **keywords)
            bound.apply_defaults()
            if bound.kwargs:
                name = getattr(self._function, "__name__", "the function")
                raise TypeError(f"custom_vjp passes arguments by position, and {name} takes {', '.join(bound.kwargs)} by name alone")
            args = bound.args
        if not _followed(args):
            return self._function(*args)
        if self._forward is None:
            return followed_call(self._function, self._rule, args, {}, backward_only=not self._is_linear)
        return self._with_residuals(args)

    def _with_residuals(self, args: tuple[Any, ...]) -> Any:
        def rule(residuals: Any, cotangent: Any, result: Any, *args: Any) -> tuple[Any, ...]:
            # Under an outer tape what the forward function kept is made of what that one follows: it is made again.
            if _followed(args):
                residuals = self._forward(*args)[1]
            given = self._rule(*(args[at] for at in self._fixed), residuals, cotangent)
            if not self._fixed:
                return given
            left = iter(given)
            return tuple(None if at in self._fixed else next(left) for at in range(len(args)))

        return followed_call(self._forward, rule, args, {}, keeps=True, backward_only=not self._is_linear)


class custom_jvp:
    """A function of arrays whose derivative along a direction is what a rule says, as in JAX: its gradient is made of that.

    `@f.defjvp` over `rule(primals, tangents)`, which gives the result and its tangent, linear in `tangents`. Of integers, bools and what is
    no number the tangent is None.

    >>> @weft.custom_jvp
    ... def cube(x):
    ...     return x * x * x
    >>> @cube.defjvp
    ... def _(primals, tangents):
    ...     (x,), (t,) = primals, tangents
    ...     return cube(x), 3 * x * x * t
    >>> weft.grad(cube)(2.0)
    array(12.)
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._rule: Callable[..., Any] | None = None
        self._transposing = threading.local()

    def defjvp(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Sets the rule."""
        self._rule = rule
        return rule

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """A method takes its instance as an argument."""
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any) -> Any:
        if self._rule is None:
            name = getattr(self._function, "__name__", "the function")
            raise GradientError(f"{name} was given to custom_jvp, and no rule to defjvp")
        if not _followed(args) or (getattr(self._transposing, "now", False) and _is_any_of_the_innermost(args)):
            # A rule may be a call of the function itself: in what it is linear there it is its own derivative.
            return self._function(*args)
        return followed_call(self._function, self._transposed, args, {})

    def _transposed(self, cotangent: Any, result: Any, *args: Any) -> tuple[Any, ...]:
        """The rule's transpose: the tangent it gives is linear in those that it is given."""
        from weft.gradients.transforms import pullback_of

        leaves, spec = flatten(args)
        moving = [at for at, leaf in enumerate(leaves) if isinstance(leaf, ndarray) and leaf.dtype.kind in "fcV"]

        def tangent(*tangents: ndarray) -> Any:
            given = list(tangents)
            row = [given.pop(0) if at in moving else _still(leaf) for at, leaf in enumerate(leaves)]
            before, self._transposing.now = getattr(self._transposing, "now", False), True
            try:
                return self._rule(args, unflatten(spec, row))[1]
            finally:
                self._transposing.now = before

        _, pull_back = pullback_of(tangent, [_zeros(leaves[at]) for at in moving])
        found = iter(pull_back(cotangent))
        return tuple(unflatten(spec, [next(found) if at in moving else None for at in range(len(leaves))]))


def _still(leaf: Any) -> Any:
    """The tangent of what no tape follows: zero of a number, None of what is none, or has no derivative."""
    if isinstance(leaf, (float, complex)):
        return 0.0
    return np.zeros_like(leaf) if isinstance(leaf, np.ndarray) and leaf.dtype.kind in "fc" else None


def _is_any_of_the_innermost(args: tuple[Any, ...]) -> bool:
    return any(_tape_place(leaf) is not None for leaf in flatten(args)[0] if isinstance(leaf, ndarray))

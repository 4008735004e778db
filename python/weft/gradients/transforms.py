"""Transforms of functions of arrays: gradients, and products with Jacobians from either side.

A function is run once while a tape takes down what is made of its arguments. The way back over the tape is a computation of arrays itself:
it is lazy, it fuses, it runs where the arrays are, and tapes around it take it down, which gives derivatives of any order.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft._weft import _full, _tape_innermost, _tape_lacks_elements, _tape_place, _unfollowed, device, ndarray
from weft.errors import GradientError
from weft.gradients.primitives import LostGradientError, _nothing, followed_call, is_transposing, transposing
from weft.gradients.sweep import sweep, taken_down
from weft.gradients.trees import flatten, flatten_as, unflatten

__all__ = ["checkpoint", "grad", "jvp", "linearize", "pullback_of", "stop_gradient", "value_and_grad", "vjp"]


def array_of_leaf(leaf: Any, what: str) -> ndarray:
    """A leaf of an argument as an array of floats or complex numbers."""
    from weft.arrays._common import array_of, kind_of

    if not isinstance(leaf, (ndarray, np.ndarray, np.generic, float, complex, int)):
        raise TypeError(f"{what} takes arrays and numbers, and tuples, lists and dicts of them, and not a {type(leaf).__name__}")
    made = array_of(leaf)
    if kind_of(made.dtype) not in "fc":
        raise TypeError(
            f"{what} requires real- or complex-valued inputs (input dtype that is a sub-dtype of np.inexact), but got {made.dtype}"
        )
    return made


class _Taped:
    """What a function made of arrays, and the tape of it."""

    def __init__(self, function: Callable[..., Any], arrays: Sequence[ndarray], transposed: bool = False) -> None:
        """`transposed`: the way back is gone in order to be transposed. So are those that it begins itself."""
        transposed = transposed or is_transposing()

        def call(followed: list[ndarray]) -> None:
            self.arrays = followed
            self.number = _tape_innermost() if transposed else None
            self.given = function(*followed)
            self.results, self.spec = flatten(self.given)
            self.places = [_tape_place(each) if isinstance(each, ndarray) else None for each in self.results]

        _, self.tape = taken_down(arrays, False, call)

    def pull_back(self, cotangents: Sequence[ndarray]) -> list[ndarray]:
        """The cotangents of the arrays from those of the results, zeros where there is no way from one to the other."""
        seeds = [(place, each) for place, each in zip(self.places, cotangents) if place is not None]
        made = []
        with transposing(self.number):
            found = sweep(self.tape, seeds, self.tape.leaves())
        for array, each in zip(self.arrays, found):
            if each is None:
                made.append(_full(array.shape, 0, array.dtype, array.device))
            else:
                made.append(array._of_base(each))
        return made


def pullback_of(
    function: Callable[..., Any], arrays: Sequence[ndarray], transposed: bool = False
) -> tuple[Any, Callable[[Any], list[ndarray]]]:
    """What a function gives for arrays, and the function from its cotangents to the arrays', which may be there to be transposed."""
    taped = _Taped(function, arrays, transposed)
    for each in taped.results:
        if not isinstance(each, ndarray):
            raise TypeError(f"a function of arrays gives arrays, and not a {type(each).__name__}")

    def pull_back(cotangent: Any) -> list[ndarray]:
        try:
            cotangents = flatten_as(cotangent, taped.spec)
        except ValueError:
            cotangents = None
        # Beside a number a sequence is a tree, and not an array's elements.
        pairs = zip(cotangents or (), taped.results)
        if cotangents is None or any(isinstance(each, (list, tuple)) and result.ndim == 0 for each, result in pairs):
            raise ValueError("the cotangent is no tree like that of the function's results")
        fitted = [as_cotangent(each, result) for each, result in zip(cotangents, taped.results)]
        return taped.pull_back(fitted)

    return taped.given, pull_back


def as_cotangent(given: Any, value: ndarray, what: str = "cotangent") -> ndarray:
    from weft.arrays._common import array_of, place_of, values_for

    # Numbers of the host are cast there: the device may not have the dtype that they were given in.
    of_host = place_of(given) is None
    made = array_of(given, None, device("cpu") if of_host else value.device)
    if made.shape != value.shape:
        raise ValueError(f"the {what} of an array of shape {value.shape} has the shape {made.shape}")
    if made.dtype != value.dtype:
        if not np.can_cast(made.dtype, value.dtype, "same_kind"):
            raise TypeError(f"the {what} of an array of {value.dtype} is one of {made.dtype}")
    return values_for(given, value.dtype, value.device) if of_host else made.astype(value.dtype, copy=False)


def vjp(function: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """What a function gives, and the function that gives the product of a cotangent with its Jacobian, as `jax.vjp`.

    `primals` are arrays, or trees of them; the cotangent is a tree like the result, of what `asarray` takes, and the second function gives
    a tuple of trees like the primals. With `has_aux` the function gives a pair, of which the second part is returned as a third result.
    TypeError for arguments of integers.

    >>> y, pull_back = weft.vjp(weft.sin, weft.asarray([0.0, 1.0]))
    >>> pull_back(weft.ones(2))[0]
    array([1.        , 0.54030231])
    """
    leaves, spec = flatten(primals)
    arrays = [array_of_leaf(leaf, "vjp") for leaf in leaves]
    aux: list[Any] = []

    def of_arrays(*given: ndarray) -> Any:
        result = function(*unflatten(spec, given))
        if has_aux:
            result, rest = pair(result, "vjp")
            aux[:] = [rest]
        return result

    given, pull_back = pullback_of(of_arrays, arrays)

    def to_primals(cotangent: Any) -> Any:
        return unflatten(spec, pull_back(cotangent))

    return (given, to_primals, aux[0]) if has_aux else (given, to_primals)


def pair(result: Any, what: str) -> tuple[Any, Any]:
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise TypeError(f"with has_aux the function that {what} is given returns a pair, the second part of which is returned as it is")
    return result[0], result[1]


def value_and_grad(
    function: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[..., Any]:
    """A function that gives a function's value and its gradient, as `jax.value_and_grad`.

    The function gives one real number, an array of shape `()`; its arguments with the numbers `argnums` are arrays or trees of them, and
    the gradient is a tree like these: a tuple of trees where `argnums` is a sequence. With `has_aux` the function gives a pair of the
    number and anything else, which stands beside the value. TypeError for results that are no real number and for arguments of integers.

    >>> weft.value_and_grad(lambda x: (x * x).sum())(weft.asarray([1.0, 2.0]))
    (array(5.), array([2., 4.]))
    """

    @functools.wraps(function)
    def value_and_gradient(*args: Any, **keywords: Any) -> Any:
        numbers = numbers_of(argnums)
        places = arguments_at(numbers, len(args))
        leaves, spec = flatten([args[at] for at in places])
        arrays = [array_of_leaf(leaf, "grad") for leaf in leaves]
        _check_real(arrays, holomorphic)
        aux: list[Any] = []

        def of_arrays(*given: ndarray) -> Any:
            filled = list(args)
            for at, tree in zip(places, unflatten(spec, given)):
                filled[at] = tree
            result = function(*filled, **keywords)
            if has_aux:
                result, rest = pair(result, "grad")
                aux[:] = [rest]
            return _scalar(result, holomorphic)

        value, pull_back = pullback_of(of_arrays, arrays)
        found = unflatten(spec, pull_back(_full((), 1, value.dtype, value.device)))
        gradient = found[0] if is_one(argnums) else tuple(found)
        return ((value, aux[0]), gradient) if has_aux else (value, gradient)

    return value_and_gradient


def is_one(argnums: Any) -> bool:
    """Whether it is one argument that is asked for, and not a sequence of them."""
    return hasattr(argnums, "__index__")


def numbers_of(argnums: int | Sequence[int]) -> list[int]:
    """The numbers of arguments."""
    return [operator.index(at) for at in ([argnums] if is_one(argnums) else argnums)]  # type: ignore[list-item, union-attr]


def arguments_at(numbers: Sequence[int], count: int) -> list[int]:
    """The places of arguments, counted from the front; ValueError for one that there is not, or that is named twice."""
    places = [_argument(at, count) for at in numbers]
    if len(set(places)) != len(places):
        raise ValueError(f"argnums={tuple(numbers)} names an argument twice")
    return places


def _argument(at: int, count: int) -> int:
    if not -count <= at < count:
        raise ValueError(
            f"differentiating with respect to argnums={at} requires at least {at + 1} positional arguments, but got only {count}"
        )
    return at % count


def _check_real(arrays: Sequence[ndarray], holomorphic: bool) -> None:
    if holomorphic and any(array.dtype.kind != "c" for array in arrays):
        raise TypeError("grad with holomorphic=True requires inputs of complex dtype")


def _scalar(result: Any, holomorphic: bool) -> ndarray:
    if not isinstance(result, ndarray):
        raise TypeError(
            f"grad requires a function whose result is an array, and this one gave a {type(result).__name__}; "
            "float() and item() give numbers, which have no gradient"
        )
    if result.shape != ():
        raise TypeError(f"Gradient only defined for scalar-output functions. Output had shape: {result.shape}.")
    if holomorphic:
        if result.dtype.kind != "c":
            raise TypeError(f"grad with holomorphic=True requires outputs of complex dtype, but got {result.dtype}")
    elif result.dtype.kind not in "fV":
        what = "For holomorphic differentiation, pass holomorphic=True." if result.dtype.kind == "c" else "Only floats have a gradient."
        raise TypeError(
            f"grad requires real-valued outputs (output dtype that is a sub-dtype of np.floating), but got {result.dtype}. {what}"
        )
    return result


def grad(
    function: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[..., Any]:
    """A function that gives a function's gradient; see `value_and_grad`. With `has_aux` also what stood beside the value.

    >>> weft.grad(lambda x: weft.sin(x) ** 2)(1.0)
    array(0.90929743)
    """
    with_value = value_and_grad(function, argnums, has_aux, holomorphic)

    @functools.wraps(function)
    def gradient(*args: Any, **keywords: Any) -> Any:
        value, found = with_value(*args, **keywords)
        return (found, value[1]) if has_aux else found

    return gradient


def jvp(function: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False) -> Any:
    """What a function gives, and the product of its Jacobian with a tangent, as `jax.jvp`.

    `primals` and `tangents` are sequences of as many arrays, or trees of them, of the same shapes and dtypes. The product is made of the
    way back: that is linear in the cotangent, and its own way back is the way forward.

    >>> weft.jvp(weft.sin, (0.0,), (1.0,))
    (array(0.), array(1.))
    """
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise TypeError("primal and tangent arguments to jvp must be tuples or lists")
    leaves, spec = flatten(tuple(primals))
    directions, same = flatten(tuple(tangents))
    if spec != same:
        raise TypeError("primal and tangent arguments to jvp must have the same tree structure")
    arrays = [array_of_leaf(leaf, "jvp") for leaf in leaves]
    tangents = [as_cotangent(each, array, "tangent") for each, array in zip(directions, arrays)]
    aux: list[Any] = []

    def of_arrays(*given: ndarray) -> Any:
        result = function(*unflatten(spec, given))
        if has_aux:
            result, rest = pair(result, "jvp")
            aux[:] = [rest]
        return result

    given, push = linear(of_arrays, arrays)
    tangent = push(tangents)
    return (given, tangent, aux[0]) if has_aux else (given, tangent)


def linear(function: Callable[..., Any], arrays: list[ndarray]) -> tuple[Any, Callable[[Sequence[ndarray]], Any]]:
    """What a function gives for arrays, and the function from their tangents to its results'."""
    given, pull_back = pullback_of(function, arrays, transposed=True)
    results, spec = flatten(given)
    moving = [each for each in results if each.dtype.kind in "fcV"]
    zeros = [_full(each.shape, 0, each.dtype, each.device) for each in moving]

    def of_cotangents(*cotangents: ndarray) -> list[ndarray]:
        left = iter(cotangents)
        row = [next(left) if each.dtype.kind in "fcV" else _full(each.shape, 0, each.dtype, each.device) for each in results]
        return pull_back(unflatten(spec, row))

    _, push = pullback_of(of_cotangents, zeros)

    def to_results(tangents: Sequence[ndarray]) -> Any:
        found = iter(push(list(tangents)))
        none = [_full(each.shape, 0, np.bool_, each.device) for each in results]
        return unflatten(spec, [next(found) if each.dtype.kind in "fcV" else zero for each, zero in zip(results, none)])

    return given, to_results


def linearize(function: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """What a function gives, and the function from tangents of its arguments to that of its result, as `jax.linearize`.

    >>> y, push = weft.linearize(weft.exp, weft.asarray([0.0, 1.0]))
    >>> push(weft.asarray([1.0, 0.0]))
    array([1., 0.])
    """
    leaves, spec = flatten(primals)
    arrays = [array_of_leaf(leaf, "linearize") for leaf in leaves]
    given, push = linear(lambda *given: function(*unflatten(spec, given)), arrays)

    def to_results(*tangents: Any) -> Any:
        directions, same = flatten(tangents)
        if same != spec:
            raise TypeError("tangents have the tree of the arguments")
        return push([as_cotangent(each, array, "tangent") for each, array in zip(directions, arrays)])

    return given, to_results


def checkpoint(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, of which gradients keep nothing but the arguments: what they need besides is computed again, as `jax.checkpoint`.

    A function that writes to its arguments, or reads other arrays that a gradient is taken of, is called twice, and of that call is kept
    what is kept of any.

    >>> weft.grad(weft.checkpoint(lambda x: weft.sin(weft.sin(x))))(0.0)
    array(1.)
    """

    def rule(cotangent: Any, result: Any, *args: Any, **keywords: Any) -> tuple[Any, ...]:
        leaves, spec = flatten((args, keywords))
        moving = [at for at, leaf in enumerate(leaves) if isinstance(leaf, ndarray) and leaf.dtype.kind in "fcV"]

        def again(*given: ndarray) -> Any:
            row = list(leaves)
            for at, each in zip(moving, given):
                row[at] = each
            args, keywords = unflatten(spec, row)
            return function(*args, **keywords)

        _, pull_back = pullback_of(again, [leaves[at] for at in moving])
        found = dict(zip(moving, pull_back(cotangent)))
        args_back, keywords_back = unflatten(spec, [found.get(at) for at in range(len(leaves))])
        if any(each is not None for each in flatten(keywords_back)[0]):
            raise GradientError("weft.checkpoint takes arrays that have a gradient as positional arguments")
        return args_back

    @functools.wraps(function)
    def checkpointed(*args: Any, **keywords: Any) -> Any:
        from weft._weft import _followed
        from weft.gradients.tapes import follows_everything

        # A tape that follows whatever is read has to see what is read inside.
        if not _followed(args, keywords) or follows_everything():
            return function(*args, **keywords)
        before = _drawn()
        try:
            given = followed_call(function, rule, args, keywords)
            if _drawn() != before:
                raise GradientError(
                    "weft.checkpoint calls its function again, which would draw other random numbers: draw them before, and pass them"
                )
            return given
        except LostGradientError:
            return function(*args, **keywords)

    return checkpointed


def _drawn() -> int:
    """How often this thread drew random numbers."""
    import sys

    generators = sys.modules.get("weft.random._bit_generators")
    return 0 if generators is None else generators.drawn()


def stop_gradient(tree: Any) -> Any:
    """The same arrays, as numbers that are given: no gradient goes through them, as `jax.lax.stop_gradient`.

    >>> weft.grad(lambda x: x * weft.stop_gradient(x))(3.0)
    array(3.)
    """
    found, spec = flatten(tree)
    return unflatten(spec, [_stopped(leaf) if isinstance(leaf, ndarray) else leaf for leaf in found])


def _stopped(leaf: ndarray) -> ndarray:
    # What `vmap` follows has no elements without it.
    return followed_call(_itself, _nothing, (leaf,), {}) if _tape_lacks_elements([leaf]) else _unfollowed(leaf)


def _itself(x: ndarray) -> ndarray:
    return x


def _stopped_at_once(call: Any, operands: list[ndarray], count: int) -> list[ndarray]:
    # Tapes around the `vmap` follow the values that it computes with in the end.
    return [_stopped(each) for each in operands]


_itself._weft_batched_ = _stopped_at_once  # type: ignore[attr-defined]

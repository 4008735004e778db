"""Jacobians and Hessians: products with all rows of a unit matrix at once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from weft._weft import _full, _strided, ndarray
from weft.gradients.batching import vmap
from weft.gradients.transforms import arguments_at, array_of_leaf, is_one, linear, numbers_of, pair, pullback_of
from weft.gradients.trees import flatten, unflatten

__all__ = ["hessian", "jacfwd", "jacrev"]


def _basis(arrays: Sequence[ndarray]) -> list[list[ndarray]]:
    """For each array the rows of a unit matrix in its shape, in the places of all of them: one batch for the elements of all."""
    count = sum(array.size for array in arrays)
    made, before = [], 0
    for array in arrays:
        rows = _full((count, array.size), 0, array.dtype, array.device)
        if array.size:
            part = rows[before : before + array.size]
            step = (array.size + 1) * array.dtype.itemsize
            _strided(part, (array.size,), [step], 0)[...] = 1
        made.append(rows.reshape((count, *array.shape)))
        before += array.size
    return made


def jacrev(
    function: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[..., Any]:
    """A function that gives a function's Jacobian, row by row, as `jax.jacrev`: for functions of many numbers that give few.

    For a result of shape `s` and an argument of shape `t` an array of shape `s + t`; for trees of them a tree of the results' shape of
    trees of the arguments'.

    >>> weft.jacrev(lambda x: x * x)(weft.asarray([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """

    def by_rows(of_trees: Callable[..., Any], arrays: list[ndarray]) -> tuple[Any, list[list[ndarray]]]:
        given, pull_back = pullback_of(of_trees, arrays)
        results, outer = flatten(given)
        _check_results(results, holomorphic, "jacrev")
        rows = vmap(lambda cotangents: pull_back(unflatten(outer, cotangents)))(_basis(results))
        made, before = [], 0
        for result in results:
            made.append([row[before : before + result.size].reshape((*result.shape, *array.shape)) for row, array in zip(rows, arrays)])
            before += result.size
        return outer, made

    return _jacobian(function, by_rows, argnums, has_aux, holomorphic, "jacrev")


def jacfwd(
    function: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[..., Any]:
    """A function that gives a function's Jacobian, column by column, as `jax.jacfwd`: for functions of few numbers that give many.

    >>> weft.jacfwd(lambda x: x * x)(weft.asarray([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """

    def by_columns(of_trees: Callable[..., Any], arrays: list[ndarray]) -> tuple[Any, list[list[ndarray]]]:
        given, push = linear(of_trees, arrays)
        results, outer = flatten(given)
        _check_results(results, holomorphic, "jacfwd")
        columns = flatten(vmap(push)(_basis(arrays)))[0]
        made = []
        for result, column in zip(results, columns):
            parts, before = [], 0
            for array in arrays:
                part = column[before : before + array.size]
                turned = part.transpose((*range(1, part.ndim), 0))
                parts.append(turned.reshape((*result.shape, *array.shape)))
                before += array.size
            made.append(parts)
        return outer, made

    return _jacobian(function, by_columns, argnums, has_aux, holomorphic, "jacfwd")


def _jacobian(
    function: Callable[..., Any],
    parts_of: Callable[[Callable[..., Any], list[ndarray]], tuple[Any, list[list[ndarray]]]],
    argnums: int | Sequence[int],
    has_aux: bool,
    holomorphic: bool,
    what: str,
) -> Callable[..., Any]:
    """The function of a Jacobian, from the tree of the results and for each of them its parts, one for each array."""

    @functools.wraps(function)
    def jacobian(*args: Any, **keywords: Any) -> Any:
        of_trees, arrays, spec, aux = _of_arguments(function, argnums, has_aux, what, args, keywords)
        _check_jacobian(arrays, holomorphic, what)
        outer, made = parts_of(of_trees, arrays)
        found = unflatten(outer, [_of_argnums(unflatten(spec, parts), argnums) for parts in made])
        return (found, aux[0]) if has_aux else found

    return jacobian


def _check_jacobian(arrays: Sequence[ndarray], holomorphic: bool, what: str) -> None:
    is_complex = [array.dtype.kind == "c" for array in arrays]
    if holomorphic and not all(is_complex):
        raise TypeError(f"{what} with holomorphic=True requires inputs of complex dtype")
    if not holomorphic and any(is_complex):
        raise TypeError(
            f"{what} requires real-valued inputs (input dtype that is a sub-dtype of np.floating). "
            "For holomorphic differentiation, pass holomorphic=True."
        )


def _check_results(results: Sequence[ndarray], holomorphic: bool, what: str) -> None:
    for result in results:
        kind = result.dtype.kind
        if kind not in ("c" if holomorphic else "fV"):
            raise TypeError(f"{what} requires {'complex' if holomorphic else 'real'}-valued outputs, but got {result.dtype}")


def _of_arguments(
    function: Callable[..., Any], argnums: int | Sequence[int], has_aux: bool, what: str, args: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[Callable[..., Any], list[ndarray], Any, list[Any]]:
    """A function of the arrays in some arguments alone, these arrays, their tree, and where it puts what stands beside its result."""
    numbers = numbers_of(argnums)
    places = arguments_at(numbers, len(args))
    leaves, spec = flatten([args[at] for at in places])
    arrays = [array_of_leaf(leaf, what) for leaf in leaves]
    aux: list[Any] = []

    def of_arrays(*given: ndarray) -> Any:
        filled = list(args)
        for at, tree in zip(places, unflatten(spec, given)):
            filled[at] = tree
        result = function(*filled, **keywords)
        if has_aux:
            result, rest = pair(result, what)
            aux[:] = [rest]
        return result

    return of_arrays, arrays, spec, aux


def _of_argnums(trees: list[Any], argnums: int | Sequence[int]) -> Any:
    return trees[0] if is_one(argnums) else tuple(trees)


def hessian(
    function: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[..., Any]:
    """A function that gives a function's second derivatives, as `jax.hessian`.

    >>> weft.hessian(lambda x: (x**3).sum())(weft.asarray([1.0, 2.0]))
    array([[ 6.,  0.],
           [ 0., 12.]])
    """
    return jacfwd(jacrev(function, argnums, has_aux, holomorphic), argnums, has_aux, holomorphic)

"""Sums of products in Einstein's notation: `einsum` and `einsum_path`.

A term names the axes of each operand by letters; letters that the result lacks are summed over. Pairs of operands are contracted one after
the other: as products of matrices where letters are summed over, else elementwise, recorded and fused.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from weft._weft import _cast, _permute, _reshape, ndarray

from ._common import as_dtype, beside, check_order, filled, given, result_dtype, u
from .products import matrices
from .reductions import sum as sum_of
from .shapes import diagonal

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def einsum(*operands: Any, out: Any = None, optimize: Any = False, dtype: Any = None, order: Any = "K", casting: str = "safe") -> ndarray:
    """The sums of products that a text such as "ij,jk->ik" describes: letters name the axes of the operands, and those that the result
    lacks are summed over. Without an arrow the result has the letters that appear once, in alphabetical order; "..." stands for further
    axes, which are broadcast. Operands may also be given each with a list of numbers instead of letters.

    `optimize` chooses the order of contractions as `numpy.einsum` does: False (pairs from the left), True or "greedy", "optimal", or a path
    of `einsum_path`. ValueError for texts that do not fit the operands.

    >>> a = weft.asarray([[1, 2], [3, 4]])
    >>> weft.einsum("ij,jk->ik", a, a)
    array([[ 7, 10],
           [15, 22]])
    >>> weft.einsum("ii", a)
    array(5)
    """
    check_order("einsum", order)
    terms, result, arrays = _parsed(operands, sums_dots=optimize is not False and optimize is not None)
    wanted = result_dtype(*arrays) if dtype is None else as_dtype(dtype)
    for number, a in enumerate(arrays):
        if not np.can_cast(a.dtype, wanted, casting):
            raise TypeError(
                f"Iterator operand {number} dtype could not be cast from {a.dtype!r} to {wanted!r} according to the rule '{casting}'"
            )
    arrays = [a if a.dtype == wanted else _cast(a, wanted) for a in arrays]
    sizes = _sizes(terms, arrays)
    operands_left = [_single(a, term, sizes) for a, term in zip(arrays, terms)]
    if 0 in sizes.values():
        # Sums of no products: were operands summed first, their zeros might be multiplied by infinities.
        return given(filled(tuple(sizes[letter] for letter in result), 0, wanted, arrays[0]), out, casting)
    for places in _path(terms, result, arrays, optimize):
        taken = [operands_left.pop(at) for at in sorted(places, reverse=True)][::-1]
        kept = set(result).union(*(term for _, term in operands_left))
        operands_left.append(_joined(taken, kept))
    found, term = operands_left[0]
    return given(_finished(found, term, result), out, casting)


def einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: bool = False) -> tuple[list[Any], str]:
    """The order in which `einsum` is to contract its operands, and a text that describes it; NumPy's own search, which looks at shapes
    alone.

    >>> a = weft.ones((2, 2))
    >>> weft.einsum_path("ij,jk,kl->il", a, a, a)[0]
    ['einsum_path', (0, 1), (0, 1)]
    """
    if einsum_call:
        raise TypeError("einsum_path: einsum_call is NumPy's own and is not honoured")
    terms, result, arrays = _parsed(operands, sums_dots=True)
    return np.einsum_path(f"{','.join(terms)}->{result}", *map(_stand_in, arrays), optimize=optimize)


def _stand_in(a: ndarray) -> np.ndarray:
    """A NumPy array of the same shape that holds one number."""
    return np.broadcast_to(np.zeros((), a.dtype), a.shape)


def _parsed(operands: tuple[Any, ...], sums_dots: bool) -> tuple[list[str], str, list[ndarray]]:
    """The letters of each operand's axes and of the result's, no dots among them, and the operands.

    Dots that the result lacks are summed over where NumPy does, with `optimize`.
    """
    if not operands:
        raise ValueError(
            "must specify the einstein sum subscripts string and at least one operand, or at least one operand and its subscripts list"
        )
    if isinstance(operands[0], str):
        text, arrays = operands[0].replace(" ", ""), [beside(x, *operands[1:]) for x in operands[1:]]
    else:
        text, arrays = _text_of_lists(operands)
    for letter in text:
        if letter not in _LETTERS and letter not in ".,->":
            raise ValueError(f"invalid subscript '{letter}' in einstein sum subscripts string, subscripts must be letters")
    if text.count("->") > 1 or text.count("-") != text.count("->") or text.count(">") != text.count("->"):
        raise ValueError("einstein sum subscript string does not contain proper '->' output specified")
    inputs, arrow, result = text.partition("->")
    terms = inputs.split(",")
    if len(terms) > len(arrays):
        raise ValueError("fewer operands provided to einstein sum function than specified in the subscripts string")
    if len(terms) < len(arrays):
        raise ValueError("more operands provided to einstein sum function than specified in the subscripts string")
    return _without_dots(terms, result if arrow else None, arrays, sums_dots)


def _without_dots(terms: list[str], result: str | None, arrays: list[ndarray], sums_dots: bool) -> tuple[list[str], str, list[ndarray]]:
    """Letters in place of the dots, the same for axes that are broadcast together, counted from the last."""
    for term in [*terms, result or ""]:
        if term.replace("...", "", 1).count("."):
            raise ValueError("einstein sum subscripts string contains a '.' that is not part of an ellipsis ('...')")
    spare = [letter for letter in _LETTERS if not any(letter in term for term in [*terms, result or ""])]
    rank = 0
    counts = []
    for number, (term, a) in enumerate(zip(terms, arrays)):
        count = a.ndim - len(term.replace("...", ""))
        if count < 0:
            raise ValueError(f"einstein sum subscripts string contains too many subscripts for operand {number}")
        if count and "..." not in term:
            raise ValueError(
                "operand has more dimensions than subscripts given in einstein sum, but no '...' ellipsis provided to broadcast the extra "
                "dimensions."
            )
        counts.append(count)
        rank = max(rank, count)
    if rank > len(spare):
        raise ValueError("einsum: there are more axes than letters")
    front = "".join(spare[:rank])
    whole = [term.replace("...", front[rank - count :]) for term, count in zip(terms, counts)]
    if result is None:
        joined = "".join(terms).replace(".", "")
        once = "".join(sorted(letter for letter in set(joined) if joined.count(letter) == 1))
        return whole, front + once, arrays
    if rank and "..." not in result and not sums_dots:
        raise ValueError(
            "output has subscripts but no '...' ellipsis provided to broadcast the extra dimensions."
            if result
            else "output had too few broadcast dimensions"
        )
    found = result.replace("...", front)
    for letter in found:
        if found.count(letter) > 1:
            raise ValueError(f"einstein sum subscripts string includes output subscript '{letter}' multiple times")
        if not any(letter in term for term in whole):
            raise ValueError(f"einstein sum subscripts string included output subscript '{letter}' which never appeared in an input")
    return whole, found, arrays


def _text_of_lists(operands: tuple[Any, ...]) -> tuple[str, list[ndarray]]:
    """The text of operands that are each followed by a list of numbers, and perhaps a list for the result."""
    pairs, last = operands, None
    if len(operands) % 2:
        pairs, last = operands[:-1], operands[-1]
    arrays = [beside(x, *pairs[::2]) for x in pairs[::2]]
    terms = [_letters(each) for each in pairs[1::2]]
    return ",".join(terms) + ("" if last is None else "->" + _letters(last)), arrays


def _letters(numbers: Any) -> str:
    if isinstance(numbers, str):
        raise TypeError("einsum: axes are given as a list of numbers behind each operand, or all in one text in front")
    found = ""
    for number in numbers:
        if number is Ellipsis:
            found += "..."
            continue
        try:
            at = operator.index(number)
        except TypeError as error:
            raise TypeError("each subscript must be either an integer or an ellipsis") from error
        if not 0 <= at < len(_LETTERS):
            raise ValueError("subscript is not within the valid range [0, 52)")
        found += (_LETTERS[26:] + _LETTERS[:26])[at]
    return found


def _sizes(terms: list[str], arrays: list[ndarray]) -> dict[str, int]:
    """The length of each letter's axes: 1 is broadcast."""
    sizes: dict[str, int] = {}
    for term, a in zip(terms, arrays):
        for letter, n in zip(term, a.shape):
            known = sizes.setdefault(letter, n)
            if known == 1:
                sizes[letter] = n
            elif n not in (1, known):
                raise ValueError(
                    f"operands could not be broadcast together with remapped shapes: axis '{letter}' has the lengths {known} and {n}"
                )
    return sizes


Term = tuple[ndarray, str]


def _single(a: ndarray, term: str, sizes: dict[str, int]) -> Term:
    """An operand with every letter once: what repeats is the diagonal. Axes that are broadcast are taken away."""
    for letter in dict.fromkeys(term):
        while term.count(letter) > 1:
            first = term.index(letter)
            second = term.index(letter, first + 1)
            if a.shape[first] != a.shape[second]:
                # One of the two is broadcast: NumPy refuses that within one operand.
                raise ValueError(
                    f"dimensions in single operand for collapsing index '{letter}' don't match ({a.shape[first]} != {a.shape[second]})"
                )
            a = diagonal(a, 0, first, second)
            term = term[:first] + term[first + 1 : second] + term[second + 1 :] + letter
    for at in reversed(range(a.ndim)):
        if a.shape[at] == 1 and sizes[term[at]] != 1:
            a = a[(slice(None),) * at + (0,)]
            term = term[:at] + term[at + 1 :]
    return a, term


def _path(terms: list[str], result: str, arrays: list[ndarray], optimize: Any) -> list[tuple[int, ...]]:
    """Which operands are joined, step by step; what comes of them is the last one then."""
    if optimize is False or optimize is None or len(arrays) < 3:
        steps: list[tuple[int, ...]] = [(0, 1)] if len(arrays) > 1 else [(0,)]
        return steps + [(0, count - 1) for count in range(len(arrays) - 1, 1, -1)]
    return np.einsum_path(f"{','.join(terms)}->{result}", *map(_stand_in, arrays), optimize=optimize)[0][1:]


def _joined(taken: list[Term], kept: set[str]) -> Term:
    """The product of operands, summed over the letters that nobody needs any more."""
    found = _summed(taken[0], kept.union(*(term for _, term in taken[1:])))
    for at, other in enumerate(taken[1:], 1):
        needed = kept.union(*(term for _, term in taken[at + 1 :]))
        found = _pair(found, _summed(other, needed | set(found[1])), needed)
        found = _summed(found, needed)
    return found


def _summed(one: Term, needed: set[str]) -> Term:
    """An operand, summed over letters that it alone has."""
    a, term = one
    alone = tuple(at for at, letter in enumerate(term) if letter not in needed)
    if not alone:
        return one
    return _sum(a, alone), "".join(letter for letter in term if letter in needed)


def _sum(a: ndarray, axes: tuple[int, ...]) -> ndarray:
    """Sums in the array's own dtype, as einsum's are."""
    return sum_of(a, axis=axes, dtype=a.dtype)


def _pair(one: Term, other: Term, needed: set[str]) -> Term:
    """The product of two operands: letters of both that nobody needs any more are summed over, by a product of matrices."""
    (a, left), (b, right) = one, other
    shared = [letter for letter in left if letter in right and letter not in needed]
    both = [letter for letter in left if letter in right and letter in needed]
    rows = [letter for letter in left if letter not in right]
    columns = [letter for letter in right if letter not in left]
    if not shared:
        return _elementwise(a, left, b, right)
    found = matrices(_as_stack(a, left, both, rows, shared), _as_stack(b, right, both, shared, columns))
    lengths = {**dict(zip(left, a.shape)), **dict(zip(right, b.shape))}
    term = "".join((*both, *rows, *columns))
    return _reshape(found, tuple(lengths[letter] for letter in term)), term


def _as_stack(a: ndarray, term: str, stack: list[str], first: list[str], second: list[str]) -> ndarray:
    """An operand as a stack of matrices, whose rows and columns are several letters each."""
    order = [term.index(letter) for letter in (*stack, *first, *second)]
    lengths = dict(zip(term, a.shape))
    rows, columns = (math.prod(lengths[letter] for letter in part) for part in (first, second))
    return _reshape(_permute(a, order), (*(lengths[letter] for letter in stack), rows, columns))


def _elementwise(a: ndarray, left: str, b: ndarray, right: str) -> Term:
    term = left + "".join(letter for letter in right if letter not in left)
    order = [right.index(letter) for letter in term if letter in right]
    b = _permute(b, order)
    index = tuple(slice(None) if letter in right else None for letter in term)
    a = a[(Ellipsis, *(None,) * (len(term) - len(left)))]
    return u("multiply" if a.dtype.kind != "b" else "logical_and", a, b[index]), term


def _finished(a: ndarray, term: str, result: str) -> ndarray:
    """The result with its axes in the order that was asked for."""
    return _permute(a, [term.index(letter) for letter in result])

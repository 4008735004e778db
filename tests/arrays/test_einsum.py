"""Einstein's notation against NumPy's: random texts, and what both refuse."""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np
import pytest

import weft

from .against_numpy import array, check, difference

DTYPES = (["f8"], ["f4"], ["i4"], ["f8", "i2", "c16"], ["?"], ["u1"], ["f2"], ["c8", "f4"])


def _program(rng: random.Random) -> tuple[str, list[np.ndarray], dict[str, Any]]:
    """A text, operands that fit it most of the time, and keywords."""
    letters = "ijklmn"[: rng.randint(1, 6)]
    sizes = {each: rng.choice([0, 1, 2, 3, 4]) for each in letters}
    terms = ["".join(rng.choice(letters) for _ in range(rng.randint(0, 4))) for _ in range(rng.choice([1, 1, 2, 2, 2, 3, 4]))]
    terms = [_dotted(rng, term) if rng.random() < 0.15 else term for term in terms]
    dtypes = rng.choice(DTYPES)
    operands = []
    for term in terms:
        shape: list[int] = []
        for letter in term.replace("...", "."):
            if letter == ".":
                shape += [rng.choice([1, 2]) for _ in range(rng.randint(0, 2))]
            else:
                shape.append(1 if rng.random() < 0.08 else sizes[letter])
        operands.append(array(tuple(shape), rng.choice(dtypes), seed=rng.randrange(1000)))
    text = ",".join(terms)
    if rng.random() < 0.6:
        known = list(dict.fromkeys(text.replace(",", "").replace(".", "")))
        rng.shuffle(known)
        result = "".join(known[: rng.randint(0, len(known))])
        text += "->" + (_dotted(rng, result) if "..." in text and rng.random() < 0.9 else result)
    return text, operands, {"optimize": rng.choice([True, "greedy", "optimal", False])} if rng.random() < 0.3 else {}


def _dotted(rng: random.Random, term: str) -> str:
    at = rng.randint(0, len(term))
    return term[:at] + "..." + term[at:]


@pytest.mark.parametrize("seed", range(8))
def test_random_texts(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(120):
        text, operands, keywords = _program(rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted, found = (_result(xp, text, operands, keywords) for xp in (np, weft))
        shown = f"{text} of {[(a.shape, a.dtype.name) for a in operands]} with {keywords}: {wanted!r}, Weft {found!r}"
        if isinstance(wanted, Exception):
            assert type(found) is type(wanted), shown
            continue
        assert not isinstance(found, Exception), shown
        assert difference(wanted, found, exact=False) is None, shown


def _result(xp: Any, text: str, operands: list[np.ndarray], keywords: dict[str, Any]) -> Any:
    try:
        return xp.einsum(text, *(weft.asarray(a) if xp is weft else a for a in operands), **keywords)
    except Exception as error:
        return error


def test_lists_instead_of_letters() -> None:
    a, b = array((2, 3)), array((3, 4), seed=1)
    check("xp.einsum(a, [0, 1], b, [1, 2], [0, 2])", exact=False, a=a, b=b)
    check("xp.einsum(a, [0, 1], b, [1, 2])", exact=False, a=a, b=b)
    check("xp.einsum(a, [..., 1], b, [1, 2], [..., 2])", exact=False, a=a, b=b)
    check("xp.einsum(a, [0, 99], b, [1, 2])", a=a, b=b)
    check("xp.einsum(a, [0, 1.5], b, [1, 2])", a=a, b=b)


def test_texts_that_are_refused() -> None:
    a = array((2, 2))
    for text in ("ij,jk", "ijk", "i", "ij->kk", "ij->z", "ij->ii", "i1", "i-j", "ij>j", "ij->j->i", "i..j", "....ij", "...i...", "", "ij,"):
        check(f"xp.einsum({text!r}, a)", exact=False, a=a)
    check("xp.einsum()")
    check("xp.einsum('ij')")


def test_sums_of_nothing_are_zero() -> None:
    """Also beside infinities and NaN, by which no zeros are multiplied."""
    a, b, c = np.zeros(0), np.array([np.inf, np.nan]), np.array([[np.inf], [1.0]])
    for text in ("i,j->j", "i,j->", "j,i->j", "i,j,jk->k", "j,i,jk->jk", "jk,j,i->j", "i,j->ij"):
        operands = {"i": a, "j": b, "jk": c}
        names = ", ".join(f"x{at}" for at in range(text.count(",") + 1))
        given = {f"x{at}": operands[term] for at, term in enumerate(text.split("->")[0].split(","))}
        check(f"xp.einsum({text!r}, {names})", **given)
        # NumPy multiplies sums that it has already, where it optimizes: zero times infinity.
        wanted = np.einsum(text, *given.values())
        assert difference(wanted, weft.einsum(text, *map(weft.asarray, given.values()), optimize=True), exact=True) is None
    check("xp.einsum('i,j->j', a, b)", a=np.zeros(0, np.int32), b=np.array([3, 4], np.int32))
    check("xp.einsum('i,j->j', a, b, out=o)", a=a, b=b, o=np.ones(2))


def test_keywords() -> None:
    a = array((3, 3))
    check("xp.einsum('ij,jk', a, a, out=o)", exact=False, a=a, o=np.zeros((3, 3)))
    check("xp.einsum('ij,jk', a, a, dtype='f4')", exact=False, a=a)
    check("xp.einsum('ij,jk', a, a, dtype='f4', casting='same_kind')", exact=False, a=a)
    check("xp.einsum('ij,jk', a, a, dtype='c16')", exact=False, a=a)
    check("xp.einsum('ij,jk,kl->il', a, a, a, optimize=['einsum_path', (1, 2), (0, 1)])", exact=False, a=a)


def test_paths_are_numpys() -> None:
    shapes = ((8, 2), (2, 9), (9, 3), (3, 5))
    operands = [array(shape, seed=at) for at, shape in enumerate(shapes)]
    for optimize in ("greedy", "optimal", True, False, ("greedy", 100)):
        wanted = np.einsum_path("ij,jk,kl,lm->im", *operands, optimize=optimize)
        assert weft.einsum_path("ij,jk,kl,lm->im", *(weft.asarray(a) for a in operands), optimize=optimize) == wanted


def test_numpys_function_finds_it() -> None:
    a = weft.asarray(array((3, 3)))
    assert isinstance(np.einsum("ij->ji", a), weft.ndarray)

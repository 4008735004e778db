"""One way of calling a function of NumPy's, run on one array's dtype, rank and layout: many calls in one compiled function, those that
NumPy or Weft refuse one by one."""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy_calls import array, compiled, difference

from weft import WeftError, errors

DTYPES = [np.dtype(c) for c in ("f8", "i1", "c16", "u4", "f4", "?", "i8", "f2", "u1", "c8", "i2", "u8", "i4", "u2")]
LAYOUTS = ("C", "backwards", "F", "gaps", "broadcast", "window")
SHAPES = {
    0: [()],
    1: [(5,), (1,), (0,), (37,)],
    2: [(3, 4), (4, 4), (1, 1), (0, 3), (3, 0)],
    3: [(2, 3, 4), (1, 1, 1), (0, 3, 2), (2, 0, 3), (2, 3, 0)],
}
# Calls of one compiled function.
TOGETHER = 10


@dataclass(frozen=True)
class Case:
    """What the arrays of a call are like."""

    dtype: np.dtype
    shape: tuple[int, ...]
    layout: str = "C"
    special: bool = False

    def array(self, seed: int = 0, shape: tuple[int, ...] | None = None, dtype: object = None) -> np.ndarray:
        """Random numbers; if special with NaN, infinities and zeros of both signs among them, or the ends of the integers."""
        dtype = np.dtype(self.dtype if dtype is None else dtype)
        made = np.array(array(self.shape if shape is None else shape, dtype, seed, self.special))
        if self.special and made.size:
            flat = made.reshape(-1)
            edges = [-0.0, -np.inf, 0.0] if dtype.kind in "fc" else [np.iinfo(dtype).max, np.iinfo(dtype).min] if dtype.kind in "iu" else []
            for at, edge in enumerate(edges):
                flat[(at * 3 + seed) % flat.size] = edge
        return self.laid(made)

    def laid(self, a: np.ndarray) -> np.ndarray:
        """The elements in the layout of this case; of a broadcast one the first row for every row."""
        if a.ndim == 0 or self.layout == "C":
            return a
        if self.layout == "F":
            return np.asfortranarray(a)
        if self.layout == "backwards":
            memory = a[(slice(None, None, -1),) * a.ndim].copy()
            return memory[(slice(None, None, -1),) * a.ndim]
        if self.layout == "broadcast":
            return np.broadcast_to(a[:1].copy(), a.shape)
        step = 2 if self.layout == "gaps" else 1
        room = np.ones(tuple(step * n + 2 for n in a.shape), a.dtype)
        view = room[tuple(slice(1, 1 + step * n, step) for n in a.shape)]
        view[...] = a
        return view

    def __str__(self) -> str:
        return f"{self.dtype} {self.shape} {self.layout}{' special' if self.special else ''}"


Maker = Callable[[Case], object]


@dataclass(frozen=True)
class Refused:
    """Calls that NumPy does and Weft does not: a pattern of the call and its case, and what the message says."""

    pattern: str
    says: str


@dataclass(frozen=True)
class Differs:
    """Calls whose result is not NumPy's, and what shows it: each is as the documentation says, or an accident of NumPy's."""

    pattern: str
    shows: str


@dataclass(frozen=True)
class Row:
    """The ways of calling a function. `{axis}` in them stands for each axis, `{axes}` for tuples of them, `{order}` for orders of all.

    `more` makes the arguments beside the array `a`; `out` is a call whose result's type and shape the array `o` has. What is not `exact`
    sums in another order; `products` of complex infinities are whatever is not finite. `signs=False`: NumPy itself gives either zero.
    """

    name: str
    forms: tuple[str, ...]
    more: dict[str, Maker] = field(default_factory=dict)
    ranks: tuple[int, ...] = (0, 1, 2, 3)
    exact: bool = True
    signs: bool = True
    products: bool = False
    special: bool = True
    out: str | None = None
    refused: tuple[Refused, ...] = ()
    differs: tuple[Differs, ...] = ()
    makes: Maker = Case.array

    def texts(self, rank: int) -> list[str]:
        texts = [text for form in self.forms for text in _expanded(form, rank)]
        return texts + [f"{self.out[:-1]}, out=o)"] if self.out else texts

    def arguments(self, case: Case) -> dict[str, object]:
        made = {"a": self.makes(case)} | {name: make(case) for name, make in self.more.items()}
        if self.out:
            plain, _ = compiled(self.out, ", ".join(made))
            result = _outcome(plain, tuple(made.values()))
            made["o"] = np.zeros(3) if isinstance(result, Exception) else np.zeros_like(np.asarray(result))
        return made


def _expanded(form: str, rank: int) -> list[str]:
    if "{axis}" in form:
        return [form.replace("{axis}", str(axis)) for axis in ([*range(rank), -1] if rank > 1 else [0])]
    if "{axes}" in form:
        tuples = {0: [], 1: ["(0,)"], 2: ["(0, 1)", "(-1,)"], 3: ["(0, 2)", "(-1, 1)", "(2, 0, 1)"]}
        return [form.replace("{axes}", axes) for axes in tuples[rank]]
    if "{order}" in form:
        return [form.replace("{order}", str(order)) for order in itertools.permutations(range(rank))][:4]
    return [form]


def _outcome(f: Callable, values: tuple) -> object:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return f(*values)
        except errors.InternalError:
            raise
        except Exception as error:
            return error


def cases(row: Row, dtype: np.dtype, rank: int, layout: str) -> list[Case]:
    """Every length with numbers as they come, and special ones where that says something."""
    special = row.special and (row.exact or dtype.kind in "fc")
    shapes = SHAPES[rank]
    return [Case(dtype, shape, layout) for shape in shapes] + [Case(dtype, shape, layout, True) for shape in shapes[:2] if special]


def deviations(row: Row, cases: list[Case], one_in: int = 1) -> list[str]:
    """What differs from NumPy in cases of one dtype, rank and layout. Of the calls that NumPy refuses one in so many is tried."""
    parameters = ", ".join(row.arguments(cases[0]))
    found = []
    # Calls that NumPy does in the same cases share a function.
    together: dict[tuple[Case, ...], list[str]] = {}
    for number, text in enumerate(row.texts(len(cases[0].shape))):
        done = []
        for case in cases:
            listed, known = (next((r for r in of if re.search(r.pattern, f"{text} of {case}")), None) for of in (row.refused, row.differs))
            raises = _raises(row, case, text, parameters)
            if known:
                found.append(_different(row, case, text, parameters, known))
            elif (raises and number % one_in == 0) or (listed and not raises):
                found.append(_alone(row, case, text, parameters, None if raises else listed))
            elif not raises:
                done.append(case)
        together.setdefault(tuple(done), []).append(text)
    for done, texts in together.items():
        for case, start in itertools.product(done, range(0, len(texts), TOGETHER)):
            found += _group(row, case, texts[start : start + TOGETHER], parameters)
    return [line for line in found if line]


def _raises(row: Row, case: Case, text: str, parameters: str) -> bool:
    plain, _ = compiled(text, parameters)
    return isinstance(_outcome(plain, tuple(row.arguments(case).values())), Exception)


def _different(row: Row, case: Case, text: str, parameters: str, known: Differs) -> str | None:
    """A call that must differ as is listed."""
    raises = _raises(row, case, text, parameters)
    line = _alone(row, case, text, parameters, None) if raises else " ".join(_group(row, case, [text], parameters))
    return None if line and re.search(known.shows, line) else f"{text} of {case}: no longer differs as listed: {line}"


def _alone(row: Row, case: Case, text: str, parameters: str, listed: Refused | None) -> str | None:
    """A call that must be refused: by a message that says what is listed, or in any way that NumPy refuses it."""
    _, fast = compiled(text, parameters)
    given = _outcome(fast, tuple(row.arguments(case).values()))
    if not isinstance(given, Exception):
        return f"{text} of {case}: {given!r} where {'a refusal is listed' if listed else 'NumPy raises'}"
    # What depends on lengths is refused at run time, without the function's text.
    if isinstance(given, WeftError) and ("2 |" not in str(given) or text.split("(")[0] not in str(given)):
        return f"{text} of {case}: a refusal without its line: {given}"
    if listed and not re.search(listed.says, str(given)):
        return f"{text} of {case}: another refusal than the one listed: {given}"
    return None


def _group(row: Row, case: Case, texts: list[str], parameters: str) -> list[str]:
    """Calls that NumPy does, as one function; halved to find what is refused or raises."""
    if not texts:
        return []
    plain, fast = compiled(f"return ({', '.join(texts)},)", parameters)
    own, others = (tuple(row.arguments(case).values()) for _ in range(2))
    wanted, given = _outcome(plain, own), _outcome(fast, others)
    if isinstance(given, Exception) and len(texts) > 1:
        half = len(texts) // 2
        return _group(row, case, texts[:half], parameters) + _group(row, case, texts[half:], parameters)
    if isinstance(given, Exception):
        return [f"{texts[0]} of {case}: {type(given).__name__}: {str(given).splitlines()[0]}"]
    found = []
    for text, want, got in zip((*texts, *parameters.split(", ")), (*wanted, *own), (*given, *others), strict=True):
        if row.products:
            want, got = _marked(want), _marked(got)
        differ = difference(want, got, row.exact) or (row.signs and row.exact and _signs(want, got))
        if differ:
            found.append(f"{text} of {case}: {differ}: {_short(got)} instead of {_short(want)}")
    return found


def _marked(value: object) -> object:
    """What is not finite in complex numbers as NaN: whether a product with an infinity has one depends on the order of its steps."""
    if np.asarray(value).dtype.kind != "c":
        return value
    return np.where(np.isfinite(value), value, np.asarray(value).dtype.type(np.nan))


def _short(value: object) -> str:
    return re.sub(r"\s+", " ", repr(value))[:300]


def _signs(wanted: object, given: object) -> str | None:
    """Zeros of one sign where the other is wanted."""
    if isinstance(wanted, tuple | list):
        return next(filter(None, (_signs(w, g) for w, g in zip(wanted, given, strict=True))), None)
    for part in (np.real, np.imag):
        a, b = part(wanted), part(given)
        if np.asarray(a).dtype.kind == "f" and np.any((np.signbit(a) != np.signbit(b)) & ~np.isnan(a)):
            return "signs of zeros"
    return None

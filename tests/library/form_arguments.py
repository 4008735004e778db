"""The arguments of the calls in the tables of forms."""

from __future__ import annotations

import numpy as np
from form_runs import DTYPES, Case, Maker, Refused

COMPLEX = Refused(r" of complex", "complex|order|real")
# NumPy takes axis 0 of a number, whose axes it does not have.
NO_AXES = Refused(r"(axis=|\(a, )0.* of \S+ \(\)", "no axis|no axes|as many axes")
# NumPy warns that imaginary parts are lost.
IMAGINARY = Refused(r"dtype=np\.(float64|int8).* of complex", "cannot be converted")


def like(seed: int) -> Maker:
    """An array of the same dtype and shape."""
    return lambda c: c.array(seed)


def mixed(c: Case) -> np.ndarray:
    """An array of another dtype."""
    return c.array(2, dtype=DTYPES[(DTYPES.index(c.dtype) + 5) % len(DTYPES)])


def mask(c: Case) -> np.ndarray:
    return c.array(3, dtype=bool)


def row_of(n: int, dtype: object = None, seed: int = 4) -> Maker:
    """A row of so many elements."""
    return lambda c: c.array(seed, (n,), dtype)


def along(axis: int, dtype: object = None, seed: int = 5) -> Maker:
    """A row as long as an axis."""
    return lambda c: c.array(seed, c.shape[axis:][:1] if c.shape else (1,), dtype)


def given(*values: object, dtype: object = None) -> Maker:
    """A row of these numbers, in the case's layout."""
    return lambda c: c.laid(np.array(values, c.dtype if dtype is None else dtype))


def number(value: object) -> Maker:
    return lambda c: c.dtype.type(value)


def weights(c: Case) -> np.ndarray:
    return np.abs(Case(c.dtype, c.shape, c.layout).array(6, dtype=np.float64)) + 1


def weights_along(axis: int) -> Maker:
    return lambda c: np.abs(along(axis, np.float64)(Case(c.dtype, c.shape, c.layout))) + 1


def sorted_row(c: Case) -> np.ndarray:
    """A row that increases, or does not decrease where there are few numbers."""
    return c.laid(np.arange(5).astype(c.dtype) if c.dtype.kind != "b" else np.array([False, False, True]))


def small_naturals(c: Case) -> np.ndarray:
    a = Case(c.dtype, c.shape, c.layout).array()
    return abs(a) if a.dtype.kind == "i" else a

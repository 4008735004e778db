"""Kinds of numbers that programs compute with: weak ones (Python's) and strong ones (NumPy's).

No rule of promotion stands here: what an operation gives is asked of Python and NumPy themselves, with a sample of each kind.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
FLOATS = ("float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
STRONG = ("bool_", *INTEGERS, *FLOATS, *COMPLEX)
WEAK = ("bool", "int", "float")
REAL = ("bool_", *INTEGERS, *FLOATS, *WEAK)

_OF_TYPE: dict[type, str] = {getattr(np, name): name for name in STRONG} | {bool: "bool", int: "int", float: "float"}


def kind_of(value: Any) -> str | None:
    """The kind of a number; nothing for what is none of these."""
    return _OF_TYPE.get(type(value))


def kind_of_dtype(dtype: np.dtype) -> str | None:
    """The kind of an array's elements."""
    return _OF_TYPE.get(dtype.type)


def sample(kind: str) -> Any:
    """A number of the kind."""
    return {"bool": True, "int": 1, "float": 1.0}[kind] if kind in WEAK else getattr(np, kind)(1)


@functools.lru_cache(None)
def result(template: str, *kinds: str) -> str | None:
    """What kind an expression with places `{0}`, `{1}` gives for numbers of these kinds, if any."""
    names = dict(zip("abc", map(sample, kinds)))
    try:
        with np.errstate(all="ignore"):
            return kind_of(eval(template.format(*names), {"np": np, "math": math}, names))
    except (TypeError, ValueError, OverflowError):
        return None


def is_weak(kind: str) -> bool:
    """Whether numbers of the kind are Python's."""
    return kind in WEAK


def is_integer(kind: str) -> bool:
    """Whether numbers of the kind are integers; bools are not."""
    return kind in INTEGERS or kind == "int"


def is_float(kind: str) -> bool:
    """Whether numbers of the kind are real and not integers."""
    return kind in FLOATS or kind == "float"


def is_bool(kind: str) -> bool:
    """Whether it is a kind of truth values."""
    return kind in ("bool", "bool_")

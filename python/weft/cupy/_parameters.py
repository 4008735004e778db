"""The parameters of CuPy's kernels: `"raw T x, float32 y"` read, given types by the arguments of a call, and their arguments checked."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft._weft import ndarray
from weft.cupy._c.ctypes import ALL
from weft.errors import UnsupportedError


@dataclass(frozen=True)
class Parameter:
    """One parameter: its name, the dtype or the placeholder that it is declared with, and whether it is raw."""

    name: str
    type: str
    raw: bool

    @functools.cached_property
    def is_placeholder(self) -> bool:
        """Whether the type is what an argument says."""
        return len(self.type) == 1


def parsed(text: str) -> tuple[Parameter, ...]:
    """The parameters of a list such as `"T x, raw float32 y"`."""
    return tuple(_parameter(part.split()) for part in text.strip().split(",") if part.strip())


def _parameter(words: list[str]) -> Parameter:
    if len(words) < 2:
        raise ValueError(f"Syntax error: {' '.join(words)}")
    *marks, kind, name = words
    for mark in marks:
        if mark not in ("raw", "const", "_non_const"):
            raise ValueError(f'Unknown keyword "{mark}"')
    if name in ("n", "i") or name.startswith("_"):
        raise ValueError(f'Can not use "{name}" as a parameter name')
    if not name.isidentifier():
        raise ValueError(f"{name!r} is no name")
    if len(kind) == 1:
        if not kind.isalpha():
            raise ValueError(f"Wrong type {kind}")
        return Parameter(name, kind, "raw" in marks)
    try:
        known = np.dtype(kind).name
    except TypeError:
        raise TypeError(f"data type {kind!r} not understood") from None
    if known != kind:
        raise ValueError(f"Wrong type {kind}")
    if kind not in ALL:
        raise UnsupportedError(f"kernels have no values of {kind}")
    return Parameter(name, kind, "raw" in marks)


@functools.cache
def name_of(dtype: np.dtype) -> str:
    """A dtype's name, which NumPy puts together each time."""
    return dtype.name


def checked(args: Sequence[Any], name: str) -> list[Any]:
    """Arguments, of which none is an array of somebody else's."""
    for each in args:
        if isinstance(each, ndarray):
            if name_of(each.dtype) not in ALL:
                raise UnsupportedError(f"{name}: kernels have no values of {each.dtype.name}")
        elif not isinstance(each, (bool, int, float, complex, np.generic)):
            raise TypeError(f"Unsupported type {type(each)}")
    return list(args)


def types_of(inputs: Sequence[Parameter], outputs: Sequence[Parameter], args: Sequence[Any], outs: Sequence[Any]) -> dict[str, str]:
    """What each placeholder stands for: the dtype of the arrays that have it, which has to be one. Numbers say nothing."""
    kinds: dict[str, str] = {}
    for parameter, arg in [*zip(outputs, outs), *zip(inputs, args)]:
        if not isinstance(arg, ndarray):
            continue
        own = name_of(arg.dtype)
        if not parameter.is_placeholder:
            if own != parameter.type:
                raise TypeError(f"Type is mismatched. {parameter.name} {own} {parameter.type}")
        elif kinds.setdefault(parameter.type, own) != own:
            raise TypeError(f"Type is mismatched. {parameter.name} {own} {kinds[parameter.type]} {parameter.type}")
    for parameter in [*inputs, *outputs]:
        if parameter.is_placeholder and parameter.type not in kinds:
            raise TypeError(f"no array says what {parameter.type} of {parameter.name} is")
    return kinds


def as_scalar(value: Any, kind: str) -> Any:
    """A number as one of a type."""
    return np.dtype(kind).type(value)

"""Random parts of statements on arrays of floats: those of `arrays.fuzz`, of numbers that stay small."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from arrays.fuzz.choices import Choices

PRECISIONS = {
    "double": ["float64"],
    "single": ["float32", "float32", "float64"],
    "half": ["float16", "float32"],
}
"""The dtypes of a program's arrays, by the precision that its results have."""

COMPLEX = {"float64": "complex128", "float32": "complex64", "float16": "complex64"}


class Parts(Choices):
    """A source of choices that knows the arrays there are."""

    def __init__(self, rng: random.Random, env: dict[str, Any], precision: str, is_complex: bool) -> None:
        super().__init__(rng, env, 8)
        self.floats = PRECISIONS[precision]
        self.is_complex = is_complex

    @property
    def names(self) -> list[str]:
        """Arrays of the program that have a gradient."""
        return [name for name, value in self.env.items() if isinstance(value, np.ndarray) and value.dtype.kind in "fc" and is_array(name)]

    def dtype(self) -> str:
        """One of the dtypes that this program is about."""
        name = self.rng.choice(self.floats)
        return COMPLEX[name] if self.is_complex and self.chance(0.3) else name

    def shape(self, most: int = 3) -> tuple[int, ...]:
        """Of a new array."""
        ndim = self.rng.choice([0, 1, 1, 1, 2, 2, 2, 3])
        sizes = [1, 2, 3, 3, 4, 5] if ndim < 3 else [1, 2, 2, 3]
        shape = [self.rng.choice(sizes) for _ in range(ndim)]
        if ndim and self.chance(0.02):
            shape[0] = 0
        return tuple(shape)

    def numpy_array(self, shape: tuple[int, ...], dtype: str | None = None, kind: str | None = None) -> str:
        """Text of one of NumPy's arrays."""
        return f"data({self.rng.randrange(10**6)}, {shape}, {dtype or self.dtype()!r})"

    def index_array(self, length: int, shape: tuple[int, ...]) -> str:
        """Integers, as a list or an array."""
        if len(shape) == 1 and self.chance(0.5):
            return str([self.rng.randrange(-length, max(length, 1 - length)) for _ in range(shape[0])])
        text = f"data({self.rng.randrange(10**6)}, {shape}, 'int64') % {max(length, 1)}"
        return f"xp.asarray({text})" if self.chance(0.7) else text

    def scalar(self, like: Any = None) -> str:
        """A number."""
        if self.is_complex and self.chance(0.1):
            return self.one_of("1j", "(0.5-1.25j)")
        return self.one_of("2", "0.5", "-1.5", "1.25", "-1", "0.75", "np.float64(0.5)", "np.float32(1.5)", "3", "0")

    def real(self) -> str | None:
        """An array of floats."""
        return self.array(lambda array: array.dtype.kind == "f")


def is_array(name: str) -> bool:
    """Whether a name is one of a program's arrays: x0, a1, …"""
    return name[0] in "ax" and name[1:].isdigit()

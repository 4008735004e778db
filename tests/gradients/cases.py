"""What a row of the table of gradients is made of: a function with arrays to call it with."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Make = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]


@dataclass(frozen=True)
class Spec:
    """An array of a shape, with numbers of some range."""

    make: Make
    shape: tuple[int, ...]


def _mixed(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return generator.uniform(0.3, 1.5, shape) * generator.choice([-1.0, 1.0], shape)


def A(*shape: int) -> Spec:
    """Numbers of both signs, none near zero."""
    return Spec(_mixed, shape)


def P(*shape: int) -> Spec:
    """Positive numbers."""
    return Spec(lambda generator, shape: generator.uniform(0.3, 1.5, shape), shape)


def U(*shape: int) -> Spec:
    """Numbers within -0.9 and 0.9."""
    return Spec(lambda generator, shape: generator.uniform(0.2, 0.9, shape) * generator.choice([-1.0, 1.0], shape), shape)


def L(*shape: int) -> Spec:
    """Numbers above 1."""
    return Spec(lambda generator, shape: generator.uniform(1.2, 2.6, shape), shape)


def G(*shape: int) -> Spec:
    """Numbers that grow along the last axis."""
    return Spec(lambda generator, shape: np.cumsum(generator.uniform(0.3, 1.0, shape), -1) - 1, shape)


@dataclass(frozen=True)
class Case:
    """A function of a namespace of arrays (weft, or another with its names) and of arrays, at which it has a gradient.

    `c`: for complex numbers, too. `smooth`: it has second derivatives where it is tested. `vmap`: it may be inside `vmap`, and not only
    where elements can be looked at. `jax`: JAX has it and means the same. `loose`: how much rounding is more than usual.
    """

    f: Callable[..., Any]
    specs: tuple[Spec, ...]
    c: bool = False
    smooth: bool = True
    vmap: bool = True
    jax: bool = True
    loose: float = 1.0

    def arrays(self, name: str, dtype: Any = np.float64, seed: int = 0) -> list[np.ndarray]:
        """The arrays, the same for each name and seed."""
        generator = np.random.default_rng([zlib.crc32(name.encode()), seed])
        made = []
        for spec in self.specs:
            x = np.asarray(spec.make(generator, spec.shape))
            if np.dtype(dtype).kind == "c":
                x = x + 1j * _mixed(generator, spec.shape) / 2
            made.append(x.astype(dtype))
        return made


def case(f: Callable[..., Any], *specs: Spec, **words: Any) -> Case:
    """A function that has a gradient, with the arrays to test it with."""
    return Case(f, specs, **words)


def words(text: str) -> list[str]:
    """The words of a text."""
    return text.split()

"""Random parts of statements: scalars, keys, shapes, operands."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from arrays.fuzz.bounded import Array
from arrays.fuzz.data import DTYPES

FLOATS = ("float16", "float32", "float64")


class Choices:
    """A source of choices that knows the arrays there are."""

    def __init__(self, rng: random.Random, env: dict[str, Any], width: int) -> None:
        self.rng = rng
        self.env = env
        self.width = width
        self.seeds = 0
        self.hard = rng.random() < 0.45
        self.recent: list[str] = []
        self.dtypes = rng.sample(DTYPES + ["float32", "float64"] * 3, rng.choice([1, 2, 3, len(DTYPES)]))

    def one_of(self, *choices: Any) -> Any:
        """Any of them."""
        return self.rng.choice(choices)

    def chance(self, part: float) -> bool:
        """Now and then."""
        return self.rng.random() < part

    @property
    def names(self) -> list[str]:
        """Arrays of the program."""
        return [name for name, value in self.env.items() if isinstance(value, Array)]

    def array(self, wanted: Callable[[Array], bool] = lambda array: True) -> str | None:
        """A name whose array is as wanted: often one of those used last, so that what has just been read is soon written to."""
        names = [name for name in self.names if wanted(self.env[name])]
        if not names:
            return None
        last = [name for name in self.recent[-4:] if name in names]
        chosen = self.rng.choice(last if last and self.chance(0.5) else names)
        self.recent.append(chosen)
        return chosen

    def shape(self, most: int = 3) -> tuple[int, ...]:
        """Of a new array: mostly small, sometimes empty, sometimes wide."""
        ndim = self.rng.choice([0, 1, 1, 1, 2, 2, 2, 3][: 4 + most * 4 // 3])
        sizes = [1, 2, 3, 3, 4, 5, 6, 7] + ([0] if self.chance(0.1) else [])
        shape = [self.rng.choice(sizes) for _ in range(ndim)]
        if ndim and self.width > 10 and self.chance(0.6):
            shape[self.rng.randrange(ndim)] = self.rng.randrange(2, self.width) // max(1, 4 ** (ndim - 1))
        return tuple(shape)

    def dtype(self) -> str:
        """One of the dtypes that this program is about, mostly."""
        return self.rng.choice(self.dtypes) if self.chance(0.8) else self.rng.choice(DTYPES)

    def numpy_array(self, shape: tuple[int, ...], dtype: str | None = None, kind: str | None = None) -> str:
        """Text of one of NumPy's arrays."""
        self.seeds += 1
        kind = kind or ("hard" if self.hard and self.chance(0.5) else self.one_of("tame", "round"))
        return f"data({self.rng.randrange(10**6)}, {shape}, {dtype or self.dtype()!r}, {kind!r})"

    def scalar(self, like: Array | None = None) -> str:
        """A number of Python's or NumPy's."""
        if self.chance(0.5):
            weak = ["2", "3", "-1", "0", "1", "7", "True", "0.5", "-1.5", "2.0", "1e3", "1j", "300", "(1-2j)"]
            return self.rng.choice(weak[:8] if self.chance(0.5) else weak)
        dtype = self.one_of("float64", "float64", "float32", "int64", self.dtype(), self.dtype())
        if dtype == "bool":
            return "np.bool_(True)"
        return f"np.{dtype}({self.one_of('1', '2', '3', '5') if 'int' in dtype else self.one_of('0.5', '1.25', '-3.0', '2.0')})"

    def part(self, length: int) -> str:
        """A slice of an axis."""
        rng = self.rng
        step = rng.choice(["", "", "2", "-1", "-2", "3", "-3"])
        start = rng.choice(["", "", str(rng.randrange(-length - 1, length + 2))])
        stop = rng.choice(["", "", str(rng.randrange(-length - 1, length + 2))])
        return f"{start}:{stop}" + (f":{step}" if step else "")

    def basic_key(self, shape: tuple[int, ...], ints: bool = True) -> str:
        """Slices, integers, None and an ellipsis."""
        parts: list[str] = []
        dots = False
        for length in shape[: self.rng.randrange(len(shape) + 1)] if self.chance(0.3) else shape:
            if self.chance(0.1):
                parts.append("None")
            if not dots and self.chance(0.1):
                parts.append("...")
                dots = True
                continue
            if ints and length and self.chance(0.2):
                parts.append(str(self.rng.randrange(-length, length + (1 if self.chance(0.03) else 0))))
            else:
                parts.append(self.part(length))
        # An integer for every axis gives NumPy's scalar, which is no view.
        if not any(":" in part for part in parts) and "..." not in parts:
            parts.append("...")
        return ", ".join(parts) if parts else "..."

    def index_array(self, length: int, shape: tuple[int, ...]) -> str:
        """Integers that are in range, mostly."""
        if len(shape) == 1 and self.chance(0.5):
            low, high = -length, length + (1 if self.chance(0.03) else 0)
            return str([self.rng.randrange(low, max(high, low + 1)) for _ in range(shape[0])])
        text = f"data({self.rng.randrange(10**6)}, {shape}, 'int64', 'index') % {max(length, 1)}"
        return f"xp.asarray({text})" if self.chance(0.7) else text

    def key(self, name: str) -> str:
        """Any key: basic, boolean, of integer arrays, mixed."""
        shape = self.env[name].shape
        sort = self.one_of("basic", "basic", "mask", "mask", "ints", "mixed")
        if sort == "mask" and shape:
            rank = self.rng.randrange(1, len(shape) + 1)
            if self.chance(0.5):
                other = self.array(lambda array: array.shape == shape[:rank] and array.dtype.kind == "b")
                if other is not None:
                    return other
            if self.chance(0.5) and rank == len(shape) and self.env[name].dtype.kind != "c":
                return f"{name} > {self.one_of('0', '1', '2')}"
            text = self.numpy_array(shape[:rank], "bool")
            return f"xp.asarray({text})" if self.chance(0.7) else text
        if sort == "ints" and shape:
            count = self.rng.randrange(1, len(shape) + 1)
            common = self.one_of((3,), (2,), (2, 2), (1, 3))
            return ", ".join(self.index_array(length, common) for length in shape[:count])
        if sort == "mixed" and len(shape) > 1:
            parts = [self.part(length) for length in shape]
            places = self.rng.sample(range(len(shape)), self.one_of(1, 1, 2))
            for place in places:
                parts[place] = self.index_array(shape[place], (2,))
            if self.chance(0.2):
                parts.insert(self.rng.randrange(len(parts) + 1), "None")
            if self.chance(0.3) and len(shape) > 2:
                at = next(place for place in range(len(shape)) if place not in places)
                parts = [part for part in parts if part != "None"]
                parts[at] = str(self.rng.randrange(max(shape[at], 1)))
            return ", ".join(parts)
        return self.basic_key(shape)

    def compatible(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape that broadcasts to this one; now and then one that does not."""
        drop = self.rng.randrange(len(shape) + 1) if self.chance(0.3) else 0
        made = [1 if self.chance(0.2) else length for length in shape[drop:]]
        if made and self.chance(0.02):
            made[self.rng.randrange(len(made))] += 2
        return tuple(made)

    def operand(self, shape: tuple[int, ...], dtype: str | None = None) -> str:
        """Something to put beside an array of this shape."""
        kind = self.rng.random()
        if kind < 0.45:
            name = self.array(lambda array: _broadcasts(array.shape, shape) and (dtype is None or array.dtype == dtype))
            if name is not None:
                return name
        if kind < 0.6:
            view = self.view_of_shape(shape)
            if view is not None:
                return view
        if kind < 0.8:
            return self.scalar()
        text = self.numpy_array(self.compatible(shape), dtype)
        return text if self.chance(0.4) else f"xp.asarray({text})"

    def view_of_shape(self, shape: tuple[int, ...]) -> str | None:
        """A part of an array with just this shape: it may overlap anything."""
        name = self.array(lambda array: array.ndim == len(shape) and array.ndim > 0 and all(a >= s for a, s in zip(array.shape, shape)))
        if name is None:
            return None
        parts = []
        for have, want in zip(self.env[name].shape, shape):
            step = self.one_of(1, 1, 2) if have >= 2 * want else 1
            first = self.rng.randrange(have - (want - 1) * step) if want else 0
            if want and self.chance(0.4):
                last = first - 1
                parts.append(f"{first + (want - 1) * step}:{last if last >= 0 else ''}:{-step}")
            else:
                parts.append(f"{first}:{first + max((want - 1) * step + 1, 0) if want else first}:{step}")
        return f"{name}[{', '.join(parts)}]"

    def axis(self, ndim: int) -> int:
        """One that there is, mostly."""
        return self.rng.randrange(-ndim, ndim) if ndim and not self.chance(0.02) else ndim


def _broadcasts(small: tuple[int, ...], to: tuple[int, ...]) -> bool:
    """Whether an array of one shape can be written to one of the other."""
    return len(small) <= len(to) and all(a in (1, b) for a, b in zip(small[::-1], to[::-1]))

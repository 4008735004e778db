"""What a program may name at one place: variables, arrays, tuples and functions, with what is known of them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

# Variables that hold Python's integers stay below this, so that no sum or product of some of them leaves int64: there Python's grow on.
MOST = 1000


@dataclass(frozen=True)
class Expr:
    """An expression: its text, its kind, and for Python's integers how large it can be."""

    text: str
    kind: str
    bound: int = MOST

    def parenthesised(self) -> Expr:
        """The same as one operand."""
        return replace(self, text=f"({self.text})")


@dataclass(frozen=True)
class Array:
    """An array of known shape, or (a parameter of a function) of one axis of any length but 0."""

    name: str
    kind: str
    shape: tuple[int, ...]
    writable: bool = True
    open: bool = False


@dataclass(frozen=True)
class Callee:
    """A function that can be called: the kinds (or arrays) it takes, how many of the last have defaults, and what it gives."""

    name: str
    params: tuple[tuple[str, str], ...]
    defaults: int
    gives: tuple[str, ...]
    """The kind of the result, or the kinds of the items of the tuple it is."""
    rest: str = ""
    """The kind of any more arguments it takes, as `*rest`."""


@dataclass
class Scope:
    """Names at one place of a function. Blocks work on copies: what is first assigned in one is unknown behind it."""

    rng: random.Random
    numbers: dict[str, str] = field(default_factory=dict)
    fixed: set[str] = field(default_factory=set)
    """Numbers that are not assigned to: globals, loop variables, and what a function inside another one reads from around it."""
    held: set[str] = field(default_factory=set)
    """Numbers whose kind stays: functions inside this one read them."""
    unset: set[str] = field(default_factory=set)
    """Numbers that may have no value."""
    arrays: dict[str, Array] = field(default_factory=dict)
    tuples: dict[str, tuple[str, ...]] = field(default_factory=dict)
    records: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Classes of named tuples, with their fields."""
    fields: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Those of the tuples that are named ones."""
    callees: list[Callee] = field(default_factory=list)
    applies: str = ""
    """The name of a function that calls its first argument with its second."""
    kernel: bool = False
    raises: bool = True
    """Whether the code may raise: kernels and parallel loops say nothing of which thread came first."""
    counter: list[int] = field(default_factory=lambda: [0])

    def inner(self, **changes: object) -> Scope:
        """A scope for a block."""
        own = {"numbers": dict(self.numbers), "fixed": set(self.fixed), "arrays": dict(self.arrays)}
        return replace(self, **own | {"tuples": dict(self.tuples), "fields": dict(self.fields), "callees": list(self.callees)} | changes)

    def fresh(self, stem: str) -> str:
        """A name not used yet."""
        self.counter[0] += 1
        return f"{stem}{self.counter[0]}"

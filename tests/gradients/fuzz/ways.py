"""Ways to differentiate a program: what each gives is compared with differences of numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradients.fuzz.oracle import data, double

Arrays = list[np.ndarray]
Function = Callable[..., dict[str, Any]]


def weights(name: str, like: Any) -> np.ndarray:
    """What the elements of an array count for in the number that a program's arrays make."""
    kind = np.dtype(like.dtype).kind
    return data(int(name[1:]) * 2 + (name[0] == "x"), tuple(like.shape), "complex128" if kind == "c" else "float64")


def directions(arguments: Sequence[Any]) -> Arrays:
    """A change of the inputs, of their dtypes."""
    return [data(900 + at, tuple(each.shape), str(each.dtype)) for at, each in enumerate(arguments)]


def loss_of(arrays: dict[str, Any]) -> Any:
    """One number of all arrays."""
    total: Any = 0.0
    for name, array in arrays.items():
        part = (array * weights(name, array)).sum()
        total = total + (part.real if part.dtype.kind == "c" else part)
    return total


@dataclass
class Found:
    """What a way gives: the arrays of the program; and the gradients of the inputs, or the changes of the arrays."""

    values: dict[str, Any] | None
    gradients: list[Any] | None = None
    changes: dict[str, Any] | None = None


class Ways:
    """The ways, on Weft."""

    def __init__(self, weft: Any, function: Function, arguments: Arrays) -> None:
        self.weft = weft
        self.function = function
        self.arguments = [weft.asarray(each) for each in arguments]
        self.numbers = tuple(range(len(arguments)))

    def loss(self, *args: Any) -> Any:
        """A number, and the arrays."""
        found = self.function(*args)
        total = loss_of(found)
        return (total if found else args[0].sum() * 0), found

    def number(self, *args: Any) -> Any:
        """The number alone."""
        return self.loss(*args)[0]

    def grad(self) -> Found:
        (_, values), gradients = self.weft.value_and_grad(self.loss, self.numbers, has_aux=True)(*self.arguments)
        return Found(values, list(gradients))

    def vjp(self) -> Found:
        values, back = self.weft.vjp(self.function, *self.arguments)
        given = {name: weights(name, value).astype(value.dtype) for name, value in values.items()}
        return Found(values, list(back(given)))

    def jvp(self) -> Found:
        values, changes = self.weft.jvp(self.function, self.arguments, directions(self.arguments))
        return Found(values, changes=changes)

    def linearize(self) -> Found:
        values, push = self.weft.linearize(self.function, *self.arguments)
        return Found(values, changes=push(*directions(self.arguments)))

    def backward(self) -> Found:
        # What programs write to their inputs is written to those that are followed.
        with self.weft.tape(*self.arguments):
            total, values = self.loss(*self.arguments)
        total.backward()
        zeros = self.weft.zeros_like
        return Found(values, [zeros(each) if each.grad is None else each.grad for each in self.arguments])

    def watched(self) -> Found:
        # Every array that is read in the block is followed as it is when it is first read, which is before anything is written to it.
        with self.weft.tape():
            for each in self.arguments:
                each + 0
            total, values = self.loss(*self.arguments)
            if total.ndim == 0:
                total.backward()
        zeros = self.weft.zeros_like
        return Found(values, [zeros(each) if each.grad is None else each.grad for each in self.arguments])

    def compiled(self) -> Found:
        gradient = self.weft.compile(self.weft.grad(self.number, self.numbers))
        gradient(*self.arguments)
        return Found(None, list(gradient(*self.arguments)))

    def checkpoint(self) -> Found:
        return Found(None, list(self.weft.grad(self.weft.checkpoint(self.number), self.numbers)(*self.arguments)))

    def tree(self) -> Found:
        # All inputs in one argument.
        def of_tree(tree: dict[str, Any], scale: float) -> Any:
            first, rest = tree["first"], tree["rest"]
            return self.number(first, *rest) * scale

        given = {"rest": tuple(self.arguments[1:]), "first": self.arguments[0]}
        found = self.weft.grad(of_tree)(given, scale=1.0)
        return Found(None, [found["first"], *found["rest"]])


WAYS = ["grad", "grad", "vjp", "vjp", "jvp", "jvp", "backward", "watched", "compiled", "checkpoint", "tree", "linearize"]
"""Programs take turns with them. `second` and `batch` of `outcome.py` are two more."""


def moved(arguments: Arrays, tangents: Arrays, by: float) -> Arrays:
    """The inputs, changed in double precision, lying as they do: which reshapes are views depends on it."""
    made = [double(each) for each in arguments]
    for each, change in zip(made, tangents):
        each[...] += by * double(change)
    return made

"""What one short statement costs: programs of scientists make thousands of them, on a row of 7 or a sum of 30."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

# Turns of the loop around a statement.
TURNS = 20_000


@dataclass(frozen=True)
class Statement:
    """A loop around a statement, what it is called with, and how many statements a turn has."""

    name: str
    function: Callable
    arguments: tuple
    count: int = 1


def rows_in_place(a, b, n):
    for _ in range(n):
        b[:] = a * 2.0 + b
    return b


def sums(a, n):
    total = 0.0
    for _ in range(n):
        total += a.sum()
    return total


def dots(a, b, n):
    total = 0.0
    for _ in range(n):
        total += np.dot(a, b)
    return total


def rows_of_a_matrix(a, b, n):
    for _ in range(n):
        for i in range(a.shape[0]):
            b[i] = a[i] * 3.0
    return b


def parts_that_overlap(a, n):
    for _ in range(n):
        for i in range(a.shape[0]):
            a[i, 1:] += a[i, :-1]
    return a


def fresh_arrays(a, n):
    total = 0.0
    for _ in range(n):
        b = a * 2.0
        total += b[0]
    return total


def ones(*shape: int) -> np.ndarray:
    """Small, so that nothing overflows."""
    return np.full(shape, 1e-12)


STATEMENTS = [
    Statement("`b[:] = a * 2.0 + b`, 7 elements", rows_in_place, (ones(7), ones(7))),
    Statement("`b[:] = a * 2.0 + b`, 1000 elements", rows_in_place, (ones(1000), ones(1000))),
    Statement("`a.sum()`, 30 elements", sums, (ones(30),)),
    Statement("`a.sum()`, 1000 elements", sums, (ones(1000),)),
    Statement("`np.dot(a, b)`, 33 elements", dots, (ones(33), ones(33))),
    Statement("`b[i] = a[i] * 3.0`, rows of 30", rows_of_a_matrix, (ones(10, 30), ones(10, 30)), 10),
    Statement("`a[i, 1:] += a[i, :-1]`, rows of 30", parts_that_overlap, (ones(10, 30),), 10),
    Statement("`b = a * 2.0`, a new array of 30", fresh_arrays, (ones(30),)),
]

"""Random orders, and choices that depend on each other: one after the other, at once.

`source` is what random_bits says. Each step has an element's bits of its own, so that results are the same wherever they are made.
"""

import numpy as np

from .random_bits import _below
from .random_counts import _binomial, _hypergeometric


def _element(source, i):
    """The source of an element that is so much further on."""
    if len(source) == 1:
        return source
    return source[0] + np.uint64(i), source[1], source[2]


def _up_to(source, i, last):
    """A whole number from 0 to the last."""
    return np.int64(_below(_element(source, i), np.uint64(0), np.uint64(last)))


def _permutation(source, n):
    """The numbers below n in an order of which each is as likely: each is exchanged with one that is no further on (Durstenfeld 1964)."""
    found = np.arange(n)
    for i in range(n - 1, 0, -1):
        j = _up_to(source, i, i)
        kept = found[i]
        found[i] = found[j]
        found[j] = kept
    return found


def _shuffled_rows(source, rows, n):
    """A row of the numbers below n for each of so many, in orders of their own."""
    found = np.empty((rows, n), np.int64)
    for row in range(rows):
        found[row] = _permutation(_element(source, row * n), n)
    return found


def _chosen(source, population, count):
    """So many different numbers below the population's size, in any order: the first steps of a shuffle.

    Where it is much larger than what is chosen, only places that were exchanged are remembered, in a table.
    """
    if population <= 8 * count + 1024:
        order = np.arange(population)
        for i in range(count):
            j = i + _up_to(source, i, population - 1 - i)
            kept = order[i]
            order[i] = order[j]
            order[j] = kept
        return order[:count].copy()
    room = 16
    while room < 4 * count:
        room = room * 2
    places = np.full(room, np.int64(-1))
    values = np.empty(room, np.int64)
    found = np.empty(count, np.int64)
    for i in range(count):
        j = i + _up_to(source, i, population - 1 - i)
        at = _place(places, j)
        found[i] = values[at] if places[at] == j else j
        here = _place(places, i)
        moved = values[here] if places[here] == i else np.int64(i)
        places[at] = j
        values[at] = moved
    return found


def _place(places, number):
    """Where a number stands in the table, or would stand."""
    mask = len(places) - 1
    at = np.int64((np.uint64(number) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & mask
    while (places[at] != number) & (places[at] != -1):
        at = (at + 1) & mask
    return at


def _multinomial(source, counts, chances):
    """How many of each row's count fall to each of some outcomes: binomial numbers of what is left. The last outcome takes the rest."""
    outcomes = chances.shape[1]
    found = np.zeros((len(counts), outcomes), np.int64)
    for row in range(len(counts)):
        left = np.int64(counts[row])
        rest = 1.0
        for j in range(outcomes - 1):
            p = chances[row, j]
            if (left > 0) & (p > 0.0):
                share = min(1.0, p / rest) if rest > 0.0 else 1.0
                taken = _binomial(_element(source, row * outcomes + j), left, share)
                found[row, j] = taken
                left = left - taken
            rest = rest - p
        if outcomes > 0:
            found[row, outcomes - 1] = left
    return found


def _multivariate_hypergeometric(source, colors, count, rows):
    """How many of each colour are among so many that are taken without putting them back."""
    found = np.zeros((rows, len(colors)), np.int64)
    all_left = np.int64(0)
    for j in range(len(colors)):
        all_left = all_left + colors[j]
    for row in range(rows):
        left = np.int64(count)
        others = all_left
        for j in range(len(colors)):
            others = others - colors[j]
            taken = left
            if others > 0:
                taken = _hypergeometric(_element(source, row * len(colors) + j), np.int64(colors[j]), others, left)
            found[row, j] = taken
            left = left - taken
    return found

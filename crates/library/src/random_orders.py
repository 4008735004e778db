"""Random orders, and counts that depend on each other: one after the other, at once.

Each step has an element's bits of its own, so that results are the same wherever they are made. Orders are given the random numbers of
their steps, which are made beforehand; for counts `source` is what random_bits says.
"""

import numpy as np

from .random_counts import _binomial, _hypergeometric


def _element(source, i):
    """The source of an element that is so much further on."""
    if len(source) == 1:
        return source
    return source[0] + np.uint64(i), source[1], source[2]


def _permutation(picks):
    """The numbers below n in a random order: each from the last one on is exchanged with one that is no further on (Durstenfeld 1964).

    `picks` says with which: a random number from 0 to i for each i.
    """
    found = np.arange(len(picks))
    for i in range(len(picks) - 1, 0, -1):
        j = picks[i]
        kept = found[i]
        found[i] = found[j]
        found[j] = kept
    return found


def _shuffled_rows(picks):
    """Such an order for each row."""
    found = np.empty_like(picks)
    for row in range(len(picks)):
        found[row] = _permutation(picks[row])
    return found


def _chosen(picks, population):
    """Different numbers below the population's size: the first steps of a shuffle from the front.

    `picks` says how far on the one is that each is exchanged with. Where the population is much larger than what is chosen, only places
    that were exchanged are remembered, in a table.
    """
    count = len(picks)
    if population <= 8 * count + 1024:
        order = np.arange(population)
        for i in range(count):
            j = i + picks[i]
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
        j = i + picks[i]
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

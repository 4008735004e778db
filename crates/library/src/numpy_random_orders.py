"""NumPy's random orders and choices by its older names, `numpy.random.shuffle` and its like, from the twister of the thread.

Numba 0.68 and NumPy's RandomState give the same.
"""

import numpy as np

from weft.language import refuse

from .numpy_random import _random, _with_row
from .numpy_random_counts import _above, _between, _binomial
from .twister import _real, _whole


def shuffle(x):
    """Puts the items along the first axis of an array in a random order, in place (Durstenfeld, CACM 7, 1964).

    >>> np.random.seed(1)
    >>> x = np.arange(5)
    >>> np.random.shuffle(x)
    >>> x
    array([2, 1, 4, 0, 3])
    """
    if not isinstance(x, np.ndarray):
        refuse("shuffle takes an array")
    if x.ndim == 0:
        refuse("shuffle takes an array of one axis at least")
    for i in range(len(x) - 1, 0, -1):
        j = _below(i + 1)
        if x.ndim == 1:
            kept = x[i]
            x[i] = x[j]
            x[j] = kept
        elif i != j:
            row = x[i].copy()
            x[i] = x[j]
            x[j] = row


def _below(n):
    return _between(np.int64(0), _above(np.int64(0), np.int64(n)))


def permutation(x):
    """The items along the first axis of an array, or the whole numbers below `x`, in a random order.

    >>> np.random.seed(1)
    >>> np.random.permutation(5)
    array([2, 1, 4, 0, 3])
    """
    if isinstance(x, np.ndarray):
        found = x.copy()
    else:
        found = np.arange(_whole(x))
    shuffle(found)
    return found


def choice(a, size=None, replace=True, p=None):
    """Items of an array of one axis, or whole numbers below `a`; with probabilities, where they are put back.

    >>> np.random.seed(1)
    >>> np.random.choice(10, 3)
    array([5, 8, 9])
    """
    if p is not None:
        return _weighted(a, size, replace, p)
    count = _population(a)
    if size is None:
        if count <= 0:
            raise ValueError("a must be greater than 0 unless no samples are taken")
        return _item(a, _below(count))
    chosen = _places(size, a)
    flat = chosen.reshape(-1)
    if len(flat) == 0:
        return chosen
    if count <= 0:
        raise ValueError("a must be greater than 0 unless no samples are taken")
    if replace:
        for i in range(len(flat)):
            flat[i] = _item(a, _below(count))
    else:
        if len(flat) > count:
            raise ValueError("Cannot take a larger sample than population when 'replace=False'")
        order = permutation(a)
        for i in range(len(flat)):
            flat[i] = order[i]
    return chosen


def _population(a):
    """How many there are to choose from."""
    if isinstance(a, np.ndarray):
        if a.ndim != 1:
            refuse("choice takes from an array of one axis, or from the whole numbers below one")
        return np.int64(len(a))
    return _whole(a)


def _item(a, i):
    if isinstance(a, np.ndarray):
        return a[i]
    return int(i)


def _places(size, a):
    """Room for what is chosen."""
    if isinstance(a, np.ndarray):
        return np.empty(size, a.dtype)
    return np.empty(size, np.int64)


def _weighted(a, size, replace, p):
    if (size is not None) & (not replace):
        raise ValueError("choice with p puts back what it takes in compiled code: replace=True")
    count = _population(a)
    chances = np.asarray(p).astype(np.float64)
    if len(chances) != count:
        raise ValueError("'a' and 'p' must have same size")
    if count == 0:
        raise ValueError("a must be greater than 0 unless no samples are taken")
    upto = np.empty(count)
    total = 0.0
    for i in range(count):
        if not chances[i] >= 0.0:
            raise ValueError("Probabilities are not non-negative")
        total = total + chances[i]
        upto[i] = total
    if abs(total - 1.0) > 1.4901161193847656e-08:
        raise ValueError("Probabilities do not sum to 1")
    upto = upto / total
    if size is None:
        return _item(a, np.int64(np.searchsorted(upto, _random(), side="right")))
    chosen = _places(size, a)
    flat = chosen.reshape(-1)
    for i in range(len(flat)):
        flat[i] = _item(a, np.searchsorted(upto, _random(), side="right"))
    return chosen


def multinomial(n, pvals, size=None):
    """How many of `n` experiments have each outcome: binomial numbers of what is left. The last outcome takes the rest.

    >>> np.random.seed(1)
    >>> np.random.multinomial(20, np.array([0.2, 0.3, 0.5]))
    array([4, 7, 9])
    """
    count = _whole(n)
    if count < 0:
        raise ValueError("n < 0")
    chances = np.asarray(pvals).astype(np.float64)
    if chances.ndim != 1:
        refuse("pvals has one axis")
    outcomes = len(chances)
    total = 0.0
    for j in range(outcomes):
        if not (chances[j] >= 0.0) & (chances[j] <= 1.0):
            raise ValueError("pvals < 0, pvals > 1 or pvals contains NaNs")
        if j < outcomes - 1:
            total = total + chances[j]
    if total > 1.0 + 1e-12:
        raise ValueError("sum(pvals[:-1]) > 1.0")
    found = np.zeros(_with_row(size, outcomes), np.int64)
    if outcomes > 0:
        rows = found.reshape((-1, outcomes))
        for row in range(len(rows)):
            _experiments(count, chances, rows[row])
    return found


def _experiments(n, chances, found):
    left = n
    rest = 1.0
    for j in range(len(chances) - 1):
        if left > 0:
            taken = _binomial(left, min(1.0, chances[j] / rest))
            found[j] = taken
            left = left - taken
            rest = rest - chances[j]
    found[len(chances) - 1] = left

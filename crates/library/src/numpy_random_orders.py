"""NumPy's random orders and choices by its older names, `numpy.random.shuffle` and its like, from the twister of the thread.

Numba 0.68 and NumPy's RandomState give the same.
"""

import numpy as np

from weft.language import refuse

from .numpy_random import _source, _with_row
from .numpy_random_counts import _binomial
from .twister import _masked, _unit, _whole


def shuffle(x):
    """Puts the items along the first axis of an array in a random order, in place (Durstenfeld, CACM 7, 1964).

    >>> np.random.seed(1)
    >>> x = np.arange(5)
    >>> np.random.shuffle(x)
    >>> x
    array([2, 1, 4, 0, 3])
    """
    _shuffle(x, _source(), _below)


def _shuffle(x, source, below):
    """Exchanges each item, from the last one on, for one before it or itself: `below` draws which."""
    if not isinstance(x, np.ndarray):
        refuse("shuffle takes an array")
    if x.ndim == 0:
        refuse("shuffle takes an array of one axis at least")
    for i in range(len(x) - 1, 0, -1):
        j = np.int64(below(source, np.uint64(i + 1)))
        if x.ndim == 1:
            kept = x[i]
            x[i] = x[j]
            x[j] = kept
        elif i != j:
            row = x[i].copy()
            x[i] = x[j]
            x[j] = row


def _below(source, count):
    return _masked(source, count - np.uint64(1))


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
    """Items of an array of one axis, or whole numbers below `a`, with probabilities, where they are given.

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
        return _item(a, np.int64(_below(_source(), np.uint64(count))))
    chosen = _places(size, a)
    flat = chosen.reshape(-1)
    if (count <= 0) & (len(flat) > 0):
        raise ValueError("a must be greater than 0 unless no samples are taken")
    if replace:
        for i in range(len(flat)):
            flat[i] = _item(a, np.int64(_below(_source(), np.uint64(count))))
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
    count = _population(a)
    chances = np.asarray(p).astype(np.float64)
    if chances.ndim != 1:
        refuse("p has one axis")
    if len(chances) != count:
        raise ValueError("'a' and 'p' must have same size")
    if count == 0:
        raise ValueError("a must be greater than 0 unless no samples are taken")
    total = 0.0
    for i in range(count):
        if not chances[i] >= 0.0:
            raise ValueError("Probabilities are not non-negative")
        total = total + chances[i]
    if abs(total - 1.0) > 1.4901161193847656e-08:
        raise ValueError("Probabilities do not sum to 1")
    if size is None:
        return _item(a, np.int64(_drawn(_sums(chances))))
    chosen = _places(size, a)
    flat = chosen.reshape(-1)
    if replace:
        upto = _sums(chances)
        for i in range(len(flat)):
            flat[i] = _item(a, _drawn(upto))
    else:
        _fill_with_different(flat, a, chances)
    return chosen


def _sums(chances):
    """Running sums as parts of the last one."""
    upto = np.empty(len(chances))
    total = 0.0
    for i in range(len(chances)):
        total = total + chances[i]
        upto[i] = total
    return upto / total


def _drawn(upto):
    return np.searchsorted(upto, _unit(_source()), side="right")


def _fill_with_different(flat, a, chances):
    """Draws as many as are wanted, keeps those that are new, and draws the rest again of what is left, as NumPy does."""
    if len(flat) > len(chances):
        raise ValueError("Cannot take a larger sample than population when 'replace=False'")
    possible = 0
    for i in range(len(chances)):
        if chances[i] > 0.0:
            possible = possible + 1
    if possible < len(flat):
        raise ValueError("Fewer non-zero entries in p than size")
    done = 0
    while done < len(flat):
        upto = _sums(chances)
        for _ in range(len(flat) - done):
            i = _drawn(upto)
            if chances[i] > 0.0:
                flat[done] = _item(a, i)
                chances[i] = 0.0
                done = done + 1


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
            _experiments(_source(), count, chances, rows[row])
    return found


def _experiments(source, n, chances, found):
    left = n
    rest = 1.0
    for j in range(len(chances) - 1):
        if left > 0:
            taken = _binomial(source, left, min(1.0, chances[j] / rest))
            found[j] = taken
            left = left - taken
            rest = rest - chances[j]
    found[len(chances) - 1] = left

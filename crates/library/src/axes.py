"""Some axes of an array as one, and results with or without the axes that are gone, written to `out` where that is given."""

import numpy as np
from weft import prange

from weft.language import Static, refuse, unrolled


def _rows(a, axes: Static):
    """The array with some axes as one, the last."""
    if len(axes) == a.ndim:
        return a.ravel()
    order = ()
    kept = ()
    n = 1
    for i in unrolled(range(a.ndim)):
        if i not in axes:
            order = order + (i,)
            kept = kept + (a.shape[i],)
    for i in unrolled(axes):
        order = order + (i,)
        n = n * a.shape[i]
    if len(axes) == 1:
        return np.transpose(a, order)
    return np.transpose(a, order).copy().reshape(kept + (n,))


def _each_row(found, function, rows, *others):
    """Writes down what a function makes of each row: of several at once where there are threads for it."""
    if rows.ndim == 2:
        for i in prange(len(rows)):
            found[i] = function(rows[i], *others)
    else:
        for at in np.ndindex(rows.shape[:-1]):
            found[at] = function(rows[at], *others)


def _kept(found, axes: Static, rank: Static, keepdims: Static, first: Static = 0):
    """A result with axes of length 1 in place of those that are gone; it may have some axes of its own before them."""
    if not isinstance(keepdims, (bool, int, np.bool_)):
        refuse("keepdims is True or False")
    if not keepdims:
        return found
    index = (slice(None),) * first
    for i in unrolled(range(rank)):
        if i in axes:
            index = index + (None,)
        else:
            index = index + (slice(None),)
    if np.ndim(found) == 0:
        return np.full((1,) * rank, found)
    return found[index]


def _into(found, out):
    """The result, written to `out` where that is given."""
    if out is None:
        return found
    if out.ndim != np.ndim(found):
        refuse("'out' has as many axes as the result")
    if np.ndim(found) > 0:
        if out.shape != found.shape:
            raise ValueError("output parameter has the wrong shape")
    if out.dtype != found.dtype:
        refuse("'out' has the dtype of the result in compiled functions")
    out[...] = found
    return out

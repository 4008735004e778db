"""Views of arrays with other axes, and arrays with their elements moved: flipped, rolled, rotated."""

import numpy as np

from weft.language import Static, axes_of, axis_of, is_constant, refuse, stretched, unrolled


def moveaxis(a, source: Static, destination: Static):
    """The array with axes moved to other places: a view. `source` and `destination`: an axis or a tuple of axes.

    >>> np.moveaxis(np.zeros((3, 4, 5)), 0, -1).shape
    (4, 5, 3)
    """
    a = np.asarray(a)
    source = axes_of(source, a.ndim)
    destination = axes_of(destination, a.ndim)
    if len(source) != len(destination):
        refuse("moveaxis takes as many destinations as sources")
    order = ()
    rest = ()
    for axis in unrolled(range(a.ndim)):
        if axis not in source:
            rest = rest + (axis,)
    taken = 0
    for place in unrolled(range(a.ndim)):
        if place in destination:
            for i in unrolled(range(len(source))):
                if destination[i] == place:
                    order = order + (source[i],)
        else:
            order = order + (rest[taken],)
            taken = taken + 1
    return np.transpose(a, order)


def swapaxes(a, axis1: Static, axis2: Static):
    """The array with two axes exchanged: a view.

    >>> np.swapaxes(np.zeros((3, 4, 5)), 0, 2).shape
    (5, 4, 3)
    """
    a = np.asarray(a)
    axis1 = axis_of(axis1, a.ndim)
    axis2 = axis_of(axis2, a.ndim)
    order = ()
    for axis in unrolled(range(a.ndim)):
        if axis == axis1:
            order = order + (axis2,)
        elif axis == axis2:
            order = order + (axis1,)
        else:
            order = order + (axis,)
    return np.transpose(a, order)


def matrix_transpose(x, /):
    """The array with its last two axes exchanged: a view.

    >>> np.matrix_transpose(np.zeros((2, 3, 4))).shape
    (2, 4, 3)
    """
    x = np.asarray(x)
    if x.ndim < 2:
        refuse("matrix_transpose takes arrays of two axes or more")
    return swapaxes(x, -1, -2)


def expand_dims(a, axis: Static):
    """A view with axes of length 1 put in where `axis`, an integer or a tuple, says: places in the result.

    >>> np.expand_dims(np.zeros((3, 4)), (0, 3)).shape
    (1, 3, 4, 1)
    """
    a = np.asarray(a)
    if axis is None:
        refuse("expand_dims needs an axis")
    if isinstance(axis, (tuple, list)):
        places = axes_of(axis, a.ndim + len(axis))
    else:
        places = axes_of(axis, a.ndim + 1)
    index = ()
    for place in unrolled(range(a.ndim + len(places))):
        if place in places:
            index = index + (None,)
        else:
            index = index + (slice(None),)
    return a[index]


def squeeze(a, axis: Static = None):
    """A view without axes of length 1, which `axis` names: how many axes an array has must be known.

    >>> np.squeeze(np.zeros((1, 3, 1)), axis=(0, 2)).shape
    (3,)
    """
    a = np.asarray(a)
    if axis is None and a.ndim > 0:
        refuse("squeeze needs the axes in compiled functions, where lengths are known at run time only: squeeze(a, axis=0)")
    places = axes_of(axis, a.ndim)
    index = ()
    for place in unrolled(range(a.ndim)):
        if place in places:
            if a.shape[place] != 1:
                raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
            index = index + (0,)
        else:
            index = index + (slice(None),)
    return a[index]


def flip(m, axis: Static = None):
    """A view with the elements in reverse order along axes, all of them by default.

    >>> np.flip(np.array([1, 2, 3]))
    array([3, 2, 1])
    """
    m = np.asarray(m)
    places = axes_of(axis, m.ndim)
    index = ()
    for place in unrolled(range(m.ndim)):
        if place in places:
            index = index + (slice(None, None, -1),)
        else:
            index = index + (slice(None),)
    return m[index]


def fliplr(m):
    """A view with the elements in reverse order along the second axis.

    >>> np.fliplr(np.array([[1, 2], [3, 4]]))
    array([[2, 1],
           [4, 3]])
    """
    m = np.asarray(m)
    if m.ndim < 2:
        refuse("fliplr takes arrays of two axes or more")
    return m[:, ::-1]


def flipud(m):
    """A view with the elements in reverse order along the first axis.

    >>> np.flipud(np.array([[1, 2], [3, 4]]))
    array([[3, 4],
           [1, 2]])
    """
    m = np.asarray(m)
    if m.ndim < 1:
        refuse("flipud takes arrays of one axis or more")
    return m[::-1]


def rot90(m, k: Static = 1, axes: Static = (0, 1)):
    """The array turned by 90 degrees `k` times, from the first of two axes towards the second: a view.

    >>> np.rot90(np.array([[1, 2], [3, 4]]))
    array([[2, 4],
           [1, 3]])
    """
    m = np.asarray(m)
    if len(axes) != 2:
        refuse("rot90 takes two axes")
    first = axis_of(axes[0], m.ndim)
    second = axis_of(axes[1], m.ndim)
    if first == second:
        refuse("rot90 takes two different axes")
    if not is_constant(k):
        refuse("rot90 takes a constant number of turns: how often the axes change places is known when it is compiled")
    turns = k % 4
    if turns == 0:
        return m[...]
    if turns == 1:
        return swapaxes(flip(m, second), first, second)
    if turns == 2:
        return flip(m, (first, second))
    return flip(swapaxes(m, first, second), second)


def roll(a, shift, axis: Static = None):
    """The elements moved along axes, those that leave at the end come in at the start. Without an axis, along the array as one row.

    >>> np.roll(np.arange(5), 2)
    array([3, 4, 0, 1, 2])
    """
    a = np.asarray(a)
    if isinstance(shift, np.ndarray):
        refuse("roll takes a number or a tuple of numbers: how many there are must be known")
    shifts = shift if isinstance(shift, (tuple, list)) else (shift,)
    if axis is None:
        total = 0
        for one in unrolled(shifts):
            total += one
        return roll(_flat(a), total, 0).reshape(a.shape)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    for one in unrolled(axes):
        axis_of(one, a.ndim)
    turns = max(len(shifts), len(axes))
    if len(shifts) == 1:
        shifts = shifts * len(axes)
    if len(axes) == 1:
        axes = axes * len(shifts)
    if len(axes) != len(shifts):
        refuse("roll takes as many shifts as axes")
    # An axis that is named several times moves by the sum.
    rolled = ()
    moves = ()
    for place in unrolled(range(a.ndim)):
        move = 0
        for i in unrolled(range(len(axes))):
            if axis_of(axes[i], a.ndim) == place:
                if place not in rolled:
                    rolled = rolled + (place,)
                move += shifts[i]
        moves = moves + (move % max(a.shape[place], 1),)
    out = np.empty(a.shape, a.dtype)
    # Along each of these axes the array is cut in two: so there are that many blocks, which change places.
    for block in unrolled(range(2 ** len(rolled))):
        halves = block
        lengths = ()
        start = ()
        target = ()
        for place in unrolled(range(a.ndim)):
            n = a.shape[place]
            move = moves[place]
            if place not in rolled:
                lengths = lengths + (n,)
                start = start + (0,)
                target = target + (0,)
            else:
                if halves % 2 == 0:
                    lengths = lengths + (n - move,)
                    start = start + (0,)
                    target = target + (move,)
                else:
                    lengths = lengths + (move,)
                    start = start + (n - move,)
                    target = target + (0,)
                halves = halves // 2
        for at in np.ndindex(lengths):
            out[_moved(at, target)] = a[_moved(at, start)]
    return out


def _flat(a):
    """The array as one row: itself if it is one."""
    return a if a.ndim == 1 else a.ravel()


def _moved(at, by):
    """A position moved by another."""
    there = ()
    for i in unrolled(range(len(at))):
        there = there + (at[i] + by[i],)
    return there


def atleast_1d(*arys):
    """The array with one axis at least; a tuple of such for several arrays.

    >>> np.atleast_1d(5)
    array([5])
    """
    if len(arys) == 1:
        return _atleast_1d(arys[0])
    made = ()
    for a in unrolled(arys):
        made = made + (_atleast_1d(a),)
    return made


def _atleast_1d(a):
    a = np.asarray(a)
    if a.ndim == 0:
        return _raised(a, 1)
    return a


def _raised(a, ndim: Static):
    """A number, or the array of one, with axes of length 1."""
    if isinstance(a, np.ndarray):
        return a[(None,) * ndim]
    return np.full((1,) * ndim, a, a.dtype)


def atleast_2d(*arys):
    """The array with two axes at least, new ones in front; a tuple of such for several arrays.

    >>> np.atleast_2d(np.array([1, 2]))
    array([[1, 2]])
    """
    if len(arys) == 1:
        return _atleast_2d(arys[0])
    made = ()
    for a in unrolled(arys):
        made = made + (_atleast_2d(a),)
    return made


def _atleast_2d(a):
    a = np.asarray(a)
    if a.ndim == 0:
        return _raised(a, 2)
    if a.ndim == 1:
        return a[None]
    return a


def atleast_3d(*arys):
    """The array with three axes at least: a row becomes (1, n, 1), a matrix (m, n, 1). A tuple of such for several arrays.

    >>> np.atleast_3d(np.array([1, 2])).shape
    (1, 2, 1)
    """
    if len(arys) == 1:
        return _atleast_3d(arys[0])
    made = ()
    for a in unrolled(arys):
        made = made + (_atleast_3d(a),)
    return made


def _atleast_3d(a):
    a = np.asarray(a)
    if a.ndim == 0:
        return _raised(a, 3)
    if a.ndim == 1:
        return a[None, :, None]
    if a.ndim == 2:
        return a[:, :, None]
    return a


def broadcast_to(array, shape, subok: Static = False):
    """A view of the array that repeats it to fill a shape; it cannot be written.

    >>> np.broadcast_to(np.array([1, 2]), (2, 2))
    array([[1, 2],
           [1, 2]])
    """
    if subok:
        refuse("there are no subclasses of arrays in compiled functions")
    if not isinstance(shape, (tuple, list)):
        return broadcast_to(array, (shape,))
    return stretched(np.asarray(array), tuple(shape))

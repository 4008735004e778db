"""Products of vectors and matrices, and matrices with something along or beside their diagonals."""

from __future__ import annotations

import math
import operator
import warnings
from typing import Any

import numpy as np

from weft._weft import _cast, _fold, _followed, _full, _linalg_captured, _linalg_here, _permute, _reshape, _to_numpy, ndarray
from weft.errors import CaptureError
from weft.gradients.primitives import primitive
from weft.kernels import nvidia
from weft.kernels.launching import on_a_device

from . import _compiled
from ._common import (
    MISSING,
    array_of,
    as_dtype,
    axes_of,
    axis_of,
    broadcast_shape,
    counting_dtype,
    flat,
    given,
    is_half,
    positions,
    result_dtype,
    select,
    stretched,
    sum_dtype,
    together,
    u,
)
from ._core_axes import operands_with_cores_last, with_core_at
from .creation import tri, within
from .searching import nonzero
from .shapes import diagonal, expand_dims, moveaxis


def _of_one_dtype(*arrays: ndarray) -> list[ndarray]:
    dtype = arrays[0].dtype
    if all(a.dtype == dtype for a in arrays):
        return list(arrays)
    dtype = result_dtype(*arrays)
    return [a if a.dtype == dtype else _cast(a, dtype) for a in arrays]


def _summed(a: ndarray, b: ndarray, axis: int) -> ndarray:
    """The sum of the products along an axis, of the arrays' dtype; 16-bit floats are multiplied and added in float32."""
    a, b = _of_one_dtype(a, b)
    dtype = a.dtype
    if is_half(dtype):
        a, b = (_cast(x, np.dtype(np.float32)) for x in (a, b))
    products = u("multiply", a, b)
    axis = axis_of(axis, products.ndim)
    if dtype.kind == "b":
        return _fold("logical_or", products, (axis,))
    found = _fold("add", products, (axis,), products.dtype)
    return found if found.dtype == dtype else _cast(found, dtype)


def dot(a: Any, b: Any, out: Any = None) -> ndarray:
    """The product of two arrays: of vectors, of matrices, or the sums along the last axis of one and the last but one of the other. A
    number scales.

    Products of vectors are folds; those of matrices are computed at once.

    >>> weft.dot(weft.asarray([1, 2]), weft.asarray([3, 4]))
    array(11)
    """
    a, b = together(a, b)
    if a.ndim == 0 or b.ndim == 0:
        return given(u("multiply", a, b), out, "no")
    if b.ndim == 1:
        if a.shape[-1] != b.shape[0]:
            raise ValueError(f"shapes {_shown(a)} and {_shown(b)} not aligned: {a.shape[-1]} (dim {a.ndim - 1}) != {b.shape[0]} (dim 0)")
        return given(_summed(a, b, -1) if a.ndim == 1 else matrices(a, b[:, None])[..., 0], out, "no")
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(
            f"shapes {_shown(a)} and {_shown(b)} not aligned: {a.shape[-1]} (dim {a.ndim - 1}) != {b.shape[-2]} (dim {b.ndim - 2})"
        )
    return given(tensordot(a, b, ((a.ndim - 1,), (b.ndim - 2,))), out, "no")


def _shown(a: ndarray) -> str:
    return str(a.shape).replace(" ", "")


def matrices(a: ndarray, b: ndarray) -> ndarray:
    """The products of matrices in the last two axes; the axes in front are broadcast.

    Of 16-bit floats they are those of float32, rounded once. On a device that is not the CPU they are kernels of Weft's own.
    """
    if _followed(a, b):
        return matrices_with_rule(a, b)
    if a.dtype != b.dtype:
        a, b = _of_one_dtype(a, b)
    place, dtype = a.device.kind, a.dtype
    if place == "cuda":
        found = nvidia.product(a, b)
        if found is not None:
            return found
    if (place != "cpu" or b.device.kind != "cpu") and on_a_device(a, b):
        from weft.kernels.products import products

        return products(a, b)
    if dtype.char in "fdFD":
        return _native(a, b)
    if is_half(dtype):
        single = np.dtype(np.float32)
        return _cast(_native(_cast(a, single), _cast(b, single)), dtype)
    return _compiled_product(a, b)


matrices_with_rule = primitive(rules="products")(matrices)
"""The same where a tape follows the matrices."""


def _native(a: ndarray, b: ndarray) -> ndarray:
    """The same by the routine for floats."""
    if b.ndim == 2 and a.ndim > 2:
        # The rows of all matrices are those of one.
        found = _native(_reshape(a, (math.prod(a.shape[:-1]), a.shape[-1])), b)
        return _reshape(found, (*a.shape[:-1], b.shape[-1]))
    try:
        return _linalg_here("matmul", _to_numpy(a), _to_numpy(b))
    except CaptureError:
        return _linalg_captured("matmul", a, b)


def lies_turned(x: ndarray) -> bool:
    """Whether the numbers of a column lie side by side, and not those of a row."""
    return x.ndim > 1 and x.strides[-2] == x.dtype.itemsize != x.strides[-1]


def _compiled_product(a: ndarray, b: ndarray) -> ndarray:
    """The same by compiled code, for integers and truth values."""
    if b.ndim == 2 and a.ndim > 2:
        # The rows of all matrices are those of one.
        found = _compiled_product(_reshape(a, (math.prod(a.shape[:-1]), a.shape[-1])), b)
        return _reshape(found, (*a.shape[:-1], b.shape[-1]))
    if a.ndim == b.ndim == 2:
        return _compiled.call("np.dot(a, b)", a=a, b=b)
    front = broadcast_shape(a.shape[:-2], b.shape[:-2])
    count = math.prod(front)
    a, b = (_reshape(stretched(x, (*front, *x.shape[-2:])), (count, *x.shape[-2:])) for x in (a, b))
    found = _compiled.call(_EACH, a=a, b=b)
    return _reshape(found, (*front, a.shape[-2], b.shape[-1]))


_EACH = """    found = np.empty((a.shape[0], a.shape[1], b.shape[2]), a.dtype)
    for i in range(a.shape[0]):
        found[i] = np.dot(a[i], b[i])
    return found
"""


_MATMUL = "(n?,k),(k,m?)->(n?,m?)"


def matmul(x1: Any, x2: Any, /, out: Any = None, *, casting: str = "same_kind", dtype: Any = None, axes: Any = MISSING) -> ndarray:
    """The product of matrices in the last two axes; a vector is a row in front and a column behind. Computed at once.

    `axes` names other axes than these: a list of tuples, for both operands and the result. ValueError for numbers and for lengths that do
    not meet.

    >>> weft.matmul(weft.asarray([[1, 2], [3, 4]]), weft.asarray([1, 1]))
    array([3, 7])
    """
    # Products of small matrices take less time than to ask what else there may be.
    a, b = (x1, x2) if type(x1) is type(x2) is ndarray else together(x1, x2)
    core, left, right = None, a.shape, b.shape
    is_plain = axes is MISSING and len(left) == len(right) == 2
    if not is_plain:
        _have_cores("matmul", a, b, _MATMUL, (1, 1))
        if axes is not MISSING:
            cores = (min(a.ndim, 2), min(b.ndim, 2), min(a.ndim, 2) + min(b.ndim, 2) - 2)
            (a, b), core = operands_with_cores_last("matmul", [a, b], cores, axes)
            left, right = a.shape, b.shape
    n = right[0] if len(right) == 1 else right[-2]
    if left[-1] != n:
        raise ValueError(
            f"matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature {_MATMUL} "
            f"(size {n} is different from {left[-1]})"
        )
    if dtype is not None or casting != "same_kind":
        a, b = _as_asked(a, b, dtype, casting)
    if is_plain:
        return matrices(a, b) if out is None else given(matrices(a, b), out, casting)
    if a.ndim == b.ndim == 1:
        return given(_summed(a, b, 0), out, casting)
    rows = a[None] if a.ndim == 1 else a
    columns = b[:, None] if b.ndim == 1 else b
    found = matrices(rows, columns)
    found = found[..., 0, :] if a.ndim == 1 else found[..., 0] if b.ndim == 1 else found
    return given(with_core_at(found, core), out, casting)


def _have_cores(function: str, a: ndarray, b: ndarray, signature: str, least: tuple[int, int]) -> None:
    """Refuses operands that have fewer axes than a function multiplies and sums."""
    for number, (x, count) in enumerate(zip((a, b), least)):
        if x.ndim < count:
            raise ValueError(
                f"{function}: Input operand {number} does not have enough dimensions (has {x.ndim}, gufunc core with signature {signature} "
                f"requires {count})"
            )


def _as_asked(a: ndarray, b: ndarray, dtype: Any, casting: str) -> tuple[ndarray, ndarray]:
    """Operands in the dtype that is asked for, if there is one."""
    if dtype is None:
        # What NumPy says of a rule that it does not know.
        np.can_cast(a.dtype, a.dtype, casting)
        return a, b
    wanted = as_dtype(dtype)
    for x in (a, b):
        if not np.can_cast(x.dtype, wanted, casting):
            raise TypeError(f"Cannot cast from {x.dtype!r} to {wanted!r} with casting rule '{casting}'")
    return _cast(a, wanted), _cast(b, wanted)


def matvec(x1: Any, x2: Any, /, out: Any = None, *, axes: Any = MISSING) -> ndarray:
    """The product of matrices in the last two axes with vectors in the last one, or in those that `axes` names. Computed at once.

    >>> weft.matvec(weft.asarray([[1, 2], [3, 4]]), weft.asarray([1, 1]))
    array([3, 7])
    """
    a, b = together(x1, x2)
    _have_cores("matvec", a, b, "(m,n),(n)->(m)", (2, 1))
    core = None
    if axes is not MISSING:
        (a, b), core = operands_with_cores_last("matvec", [a, b], (2, 1, 1), axes)
    if a.shape[-1] != b.shape[-1]:
        raise ValueError(f"matvec: operands of shapes {a.shape} and {b.shape} do not meet the signature (m,n),(n)->(m)")
    return given(with_core_at(matrices(a, b[..., None])[..., 0], core), out)


def vecmat(x1: Any, x2: Any, /, out: Any = None, *, axes: Any = MISSING) -> ndarray:
    """The product of conjugated vectors in the last axis with matrices in the last two, or in those that `axes` names. Computed at once.

    >>> weft.vecmat(weft.asarray([1, 1]), weft.asarray([[1, 2], [3, 4]]))
    array([4, 6])
    """
    a, b = together(x1, x2)
    _have_cores("vecmat", a, b, "(n),(n,m)->(m)", (1, 2))
    core = None
    if axes is not MISSING:
        (a, b), core = operands_with_cores_last("vecmat", [a, b], (1, 2, 1), axes)
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(f"vecmat: operands of shapes {a.shape} and {b.shape} do not meet the signature (n),(n,m)->(m)")
    return given(with_core_at(matrices(_conjugate(a)[..., None, :], b)[..., 0, :], core), out)


def _conjugate(a: ndarray) -> ndarray:
    return u("conjugate", a) if a.dtype.kind == "c" else a


def vecdot(
    x1: Any,
    x2: Any,
    /,
    out: Any = None,
    *,
    axes: Any = MISSING,
    axis: Any = MISSING,
    keepdims: bool = False,
    casting: str = "same_kind",
    dtype: Any = None,
) -> ndarray:
    """The sums of the products along an axis, the last one by default, the first array conjugated.

    `axes` names one for each array, and with `keepdims=True` where the result keeps it.

    >>> weft.vecdot(weft.asarray([[1, 2], [3, 4]]), weft.asarray([1, 1]))
    array([3, 7])
    """
    a, b = together(x1, x2)
    _have_cores("vecdot", a, b, "(n),(n)->()", (1, 1))
    if axes is not MISSING and axis is not MISSING:
        raise TypeError("cannot specify both 'axis' and 'axes'")
    if axes is MISSING:
        along = -1 if axis is MISSING else operator.index(axis)
        axes = [along, along, along] if keepdims else [along, along]
    (a, b), core = operands_with_cores_last("vecdot", list(_as_asked(a, b, dtype, casting)), (1, 1, 0), axes, keepdims=keepdims)
    if a.shape[-1] != b.shape[-1]:
        raise ValueError(
            "vecdot: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature (n),(n)->() "
            f"(size {b.shape[-1]} is different from {a.shape[-1]})"
        )
    found = _summed(_conjugate(a), b, -1)
    if keepdims:
        found = with_core_at(expand_dims(found, -1), core if core is not None else (found.ndim,))
    return given(found, out, casting)


def vdot(a: Any, b: Any, /) -> ndarray:
    """The product of two arrays as vectors, the first conjugated.

    >>> weft.vdot(weft.asarray([1j, 2]), weft.asarray([1j, 1]))
    array(3.+0.j)
    """
    a, b = (flat(x) for x in together(a, b))
    if a.size != b.size:
        raise ValueError("cannot reshape array: vdot takes arrays of as many elements")
    return _summed(_conjugate(a), b, 0)


def inner(a: Any, b: Any, /) -> ndarray:
    """The sums of the products along the last axes of two arrays, for each pair of rows. A number scales.

    >>> weft.inner(weft.asarray([1, 2]), weft.asarray([3, 4]))
    array(11)
    """
    a, b = together(a, b)
    if a.ndim == 0 or b.ndim == 0:
        return u("multiply", a, b)
    if a.shape[-1] != b.shape[-1]:
        raise ValueError(
            f"shapes {_shown(a)} and {_shown(b)} not aligned: {a.shape[-1]} (dim {a.ndim - 1}) != {b.shape[-1]} (dim {b.ndim - 1})"
        )
    return tensordot(a, b, ((-1,), (-1,)))


def outer(a: Any, b: Any, out: Any = None) -> ndarray:
    """The products of every element of one array with every element of the other: a matrix.

    >>> weft.outer(weft.asarray([1, 2]), weft.asarray([3, 4]))
    array([[3, 4],
           [6, 8]])
    """
    a, b = together(a, b)
    return given(u("multiply", flat(a)[:, None], flat(b)), out)


def tensordot(a: Any, b: Any, axes: Any = 2) -> ndarray:
    """The sums of products along axes of two arrays: so many last ones of `a` and first ones of `b`, or those named in two tuples.

    Products of vectors are folds; others are computed at once.

    >>> weft.tensordot(weft.asarray([[1, 2], [3, 4]]), weft.asarray([1, 1]), 1)
    array([3, 7])
    """
    a, b = together(a, b)
    if isinstance(axes, (tuple, list)):
        first, second = axes
        first = axes_of(first, a.ndim) if isinstance(first, (tuple, list)) else (axis_of(first, a.ndim),)
        second = axes_of(second, b.ndim) if isinstance(second, (tuple, list)) else (axis_of(second, b.ndim),)
    else:
        count = operator.index(axes)
        # An axis that one of them does not have is an IndexError, but not before others that do not match.
        if any(a.shape[i - count] != b.shape[i] for i in range(count)):
            raise ValueError("shape-mismatch for sum")
        first, second = tuple(range(a.ndim - count, a.ndim)), tuple(range(max(count, 0)))
    if len(first) != len(second) or any(a.shape[i] != b.shape[j] for i, j in zip(first, second)):
        raise ValueError("shape-mismatch for sum")
    left = [i for i in range(a.ndim) if i not in first]
    right = [i for i in range(b.ndim) if i not in second]
    inner_size = math.prod(tuple(a.shape[i] for i in first))
    shape = (*(a.shape[i] for i in left), *(b.shape[i] for i in right))
    rows = _reshape(_permute(a, (*left, *first)), (math.prod(tuple(a.shape[i] for i in left)), inner_size))
    columns = _reshape(_permute(b, (*second, *right)), (inner_size, math.prod(tuple(b.shape[i] for i in right))))
    if not left and not right:
        return _summed(rows[0], columns[:, 0], 0)
    return _reshape(matrices(rows, columns), shape)


def kron(a: Any, b: Any) -> ndarray:
    """The second array once for every element of the first, scaled by it.

    >>> weft.kron(weft.asarray([1, 10]), weft.asarray([1, 2]))
    array([ 1,  2, 10, 20])
    """
    a, b = together(a, b)
    rank = max(a.ndim, b.ndim)
    a, b = (x[(None,) * (rank - x.ndim) + (Ellipsis,)] for x in (a, b))
    products = u(
        "multiply",
        a[tuple(each for _ in range(rank) for each in (slice(None), None))],
        b[tuple(each for _ in range(rank) for each in (None, slice(None)))],
    )
    return _reshape(products, tuple(n * m for n, m in zip(a.shape, b.shape)))


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> ndarray:
    """The vectors at right angles to pairs of vectors of three elements; vectors of two lie in a plane, of two such the third element.

    >>> weft.cross(weft.asarray([1, 0, 0]), weft.asarray([0, 1, 0]))
    array([0, 0, 1])
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = together(a, b)
    if a.ndim < 1 or b.ndim < 1:
        raise ValueError("At least one array has zero dimension")
    a = moveaxis(a, axis_of(axisa, a.ndim, "axisa"), -1)
    b = moveaxis(b, axis_of(axisb, b.ndim, "axisb"), -1)
    if a.shape[-1] not in (2, 3) or b.shape[-1] not in (2, 3):
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, "
            f"but they are {a.shape[-1]} and {b.shape[-1]} dimensional instead."
        )
    if a.shape[-1] == 2 or b.shape[-1] == 2:
        warnings.warn(
            "Arrays of 2-dimensional vectors are deprecated. Use arrays of 3-dimensional vectors instead. (deprecated in NumPy 2.0)",
            DeprecationWarning,
            stacklevel=2,
        )
    (a0, a1, a2), (b0, b1, b2) = _three(a), _three(b)
    third = u("subtract", u("multiply", a0, b1), u("multiply", a1, b0))
    if a2 is None and b2 is None:
        return third
    made = _full((*third.shape, 3), 0, third.dtype, third.device)
    made[..., 0] = _difference(a1, b2, a2, b1)
    made[..., 1] = _difference(a2, b0, a0, b2)
    made[..., 2] = third
    return moveaxis(made, -1, axis_of(axisc, made.ndim, "axisc"))


def _three(a: ndarray) -> tuple[ndarray, ndarray, ndarray | None]:
    return a[..., 0], a[..., 1], a[..., 2] if a.shape[-1] == 3 else None


def _difference(a: ndarray | None, b: ndarray | None, c: ndarray | None, d: ndarray | None) -> ndarray:
    """a*b - c*d, where what is missing is zero."""
    if a is None or b is None:
        return u("negative", u("multiply", c, d))
    return u("multiply", a, b) if c is None or d is None else u("subtract", u("multiply", a, b), u("multiply", c, d))


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> ndarray:
    """The sum along a diagonal.

    >>> weft.trace(weft.asarray([[1, 2], [3, 4]]))
    array(5)
    """
    line = diagonal(a, offset, axis1, axis2)
    kind = sum_dtype(line.dtype) if dtype is None else as_dtype(dtype)
    return given(_fold("add", line, (line.ndim - 1,), kind), out)


def tril(m: Any, k: int = 0) -> ndarray:
    """A copy with zeros above a diagonal of the last two axes.

    >>> weft.tril(weft.asarray([[1, 2], [3, 4]]))
    array([[1, 0],
           [3, 4]])
    """
    m = array_of(m)
    return select(_below(m, k), m, m.dtype.type(0))


def triu(m: Any, k: int = 0) -> ndarray:
    """A copy with zeros below a diagonal of the last two axes.

    >>> weft.triu(weft.asarray([[1, 2], [3, 4]]))
    array([[1, 2],
           [0, 4]])
    """
    m = array_of(m)
    return select(_below(m, operator.index(k) - 1), m.dtype.type(0), m)


def _below(m: ndarray, k: int) -> ndarray:
    """Where a matrix of the last two axes is at or below a diagonal."""
    if m.ndim == 0:
        raise TypeError("tri() missing 1 required positional argument: 'N'")
    dtype = counting_dtype(m.device)
    rows, columns = positions(m.shape[-2] if m.ndim > 1 else m.shape[-1], m, dtype), positions(m.shape[-1], m, dtype)
    return u("greater_equal", u("add", rows[:, None], within(k, rows.size, columns.size)), columns)


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[ndarray, ...]:
    """The indices of the elements at and below a diagonal of an n×m matrix.

    >>> weft.tril_indices(2)
    (array([0, 1, 1]), array([0, 0, 1]))
    """
    return nonzero(tri(n, m, k, np.dtype(bool)))


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[ndarray, ...]:
    """The indices of the elements at and above a diagonal of an n×m matrix.

    >>> weft.triu_indices(2)
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    return nonzero(u("logical_not", tri(n, m, k - 1, np.dtype(bool))))


def tril_indices_from(arr: Any, k: int = 0) -> tuple[ndarray, ...]:
    """The indices of the elements at and below a diagonal of a matrix.

    >>> weft.tril_indices_from(weft.zeros((1, 2)))
    (array([0]), array([0]))
    """
    arr = array_of(arr)
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return tril_indices(arr.shape[-2], k, arr.shape[-1])


def triu_indices_from(arr: Any, k: int = 0) -> tuple[ndarray, ...]:
    """The indices of the elements at and above a diagonal of a matrix.

    >>> weft.triu_indices_from(weft.zeros((1, 2)))
    (array([0, 0]), array([0, 1]))
    """
    arr = array_of(arr)
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return triu_indices(arr.shape[-2], k, arr.shape[-1])


def vander(x: Any, N: Any = None, increasing: bool = False) -> ndarray:
    """The powers of the elements of a row as the columns of a matrix, falling or growing. Computed at once.

    >>> weft.vander(weft.asarray([2, 3]), 3)
    array([[4, 2, 1],
           [9, 3, 1]])
    """
    x = array_of(x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    n = x.size if N is None else operator.index(N)
    if n < 0:
        raise ValueError("negative dimensions are not allowed")
    return powers(x, n, bool(increasing))


@primitive(rules="sums")
def powers(x: ndarray, n: int, increasing: bool) -> ndarray:
    """What `vander` gives of a row."""
    return _compiled.call(f"np.vander(x, n, {increasing})", x=x, n=n)


def convolve(a: Any, v: Any, mode: str = "full") -> ndarray:
    """The sums of the products of one row with the parts of another in reverse: wherever they overlap, as many as the longer one has
    (`mode="same"`), or where they overlap as a whole ("valid"). Computed at once.

    >>> weft.convolve(weft.asarray([1, 2, 3]), weft.asarray([0, 1, 2]))
    array([0, 1, 4, 7, 6])
    """
    return _slid("convolve", a, v, mode)


def correlate(a: Any, v: Any, mode: str = "valid") -> ndarray:
    """The sums of the products of one row with the parts of another, which is conjugated: where they overlap as a whole, as many as the
    longer one has (`mode="same"`), or wherever they overlap ("full"). Computed at once.

    >>> weft.correlate(weft.asarray([1, 2, 3]), weft.asarray([0, 1, 2]), "full")
    array([2, 5, 8, 3, 0])
    """
    return _slid("correlate", a, v, mode)


def _slid(function: str, a: Any, v: Any, mode: str) -> ndarray:
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    a, v = together(a, v)
    if function == "convolve":
        a, v = (x if x.ndim else x[None] for x in (a, v))
    for x in (a, v):
        if x.ndim != 1:
            raise ValueError("object too deep for desired array" if x.ndim else "object of too small depth for desired array")
    for name, x in (("a", a), ("v", v)):
        if x.size == 0:
            raise ValueError(f"{name} cannot be empty" if function == "convolve" else "first array argument cannot be empty")
    return slid(function, *_of_one_dtype(a, v), mode)


@primitive(rules="sums")
def slid(function: str, a: ndarray, v: ndarray, mode: str) -> ndarray:
    """What `convolve` or `correlate` gives of two rows of one dtype."""
    return _compiled.call(f"np.{function}(a, v, {mode!r})", a=a, v=v)

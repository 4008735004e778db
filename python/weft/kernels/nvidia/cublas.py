"""cuBLAS: products of matrices.

Its matrices are in column-major order, in which a matrix of C's order is its own transpose: what is asked for is the transpose of the
product, with the operands exchanged. A matrix that lies transposed is named so by a flag; only one that lies neither way is copied.
"""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from weft._weft import Device, _from_numpy, _reshape, ndarray
from weft.arrays._common import broadcast_shape
from weft.kernels import tensor_float
from weft.kernels.launching import launched

from . import calling, finding
from .calling import Operand, format_of

_STATUSES = {
    1: "CUBLAS_STATUS_NOT_INITIALIZED",
    3: "CUBLAS_STATUS_ALLOC_FAILED",
    7: "CUBLAS_STATUS_INVALID_VALUE",
    8: "CUBLAS_STATUS_ARCH_MISMATCH",
    11: "CUBLAS_STATUS_MAPPING_ERROR",
    13: "CUBLAS_STATUS_EXECUTION_FAILED",
    14: "CUBLAS_STATUS_INTERNAL_ERROR",
    15: "CUBLAS_STATUS_NOT_SUPPORTED",
    16: "CUBLAS_STATUS_LICENSE_ERROR",
}
check = calling.checker("cuBLAS", _STATUSES)

_PLAIN, _TRANSPOSED = 0, 1
_COMPUTE_SINGLE, _COMPUTE_DOUBLE, _COMPUTE_TENSOR_FLOAT = 68, 70, 77
_DEFAULT_ALGORITHM = -1
# Sums of 16-bit floats stay in float32 until the end.
_NO_REDUCED_SUMS = 16


@functools.cache
def handle(device: Device) -> ctypes.c_void_p:
    """The handle of a device, which is the current one. The caller has its lock."""
    library = finding.library("cublas")
    found = calling.made(library.cublasCreate_v2, check, "cublasCreate_v2", device)
    check(library.cublasSetStream_v2(found, calling.stream(device)), "cublasSetStream_v2")
    check(library.cublasSetMathMode(found, _NO_REDUCED_SUMS), "cublasSetMathMode")
    return found


def product(a: ndarray, b: ndarray) -> ndarray | None:
    """The products of matrices, or None where cuBLAS has no part in them: no library, other dtypes, nothing to add up."""
    if a.dtype != b.dtype or format_of(a.dtype) is None or a.device != b.device:
        return None
    if a.size == 0 or b.size == 0 or finding.library("cublas") is None:
        return None
    if b.ndim == 2 and a.ndim > 2:
        # The rows of all matrices are those of one.
        found = launched(_product, _reshape(a, (math.prod(a.shape[:-1]), a.shape[-1])), b)
        return _reshape(found, (*a.shape[:-1], b.shape[-1]))
    return launched(_product, a, b)


class _Stack(NamedTuple):
    """How cuBLAS is told that matrices lie."""

    turned: int
    leading: int
    """Elements from a row to the next; of those that lie transposed, from a column to the next."""
    steps: tuple[int, ...]
    """Elements from a matrix to the next, along each axis in front."""


class _Plan(NamedTuple):
    """What is the same for all products of operands that lie alike."""

    shape: tuple[int, ...]
    """Of the result."""
    begin: tuple[int, ...]
    """What calls begin with: the transpose of the product is asked for, so that the right operand comes first."""
    first: tuple[int, int]
    second: tuple[int, int]
    """Format and leading dimension of the right operand, and of the left one."""
    axes: tuple[tuple[int, int, int], ...]
    """Axes in front, and the steps of the left and the right operand along them."""


@functools.lru_cache(maxsize=1024)
def _plan(a: tuple[int, ...], b: tuple[int, ...], down: tuple[int, ...], along: tuple[int, ...], dtype: np.dtype) -> _Plan | None:
    """The plan of operands of these shapes and steps in bytes; None where one of them lies as cuBLAS takes no matrix."""
    front = broadcast_shape(a[:-2], b[:-2])
    left, right = _lying(a, down, dtype.itemsize, front), _lying(b, along, dtype.itemsize, front)
    if left is None or right is None:
        return None
    form, (m, k), n = format_of(dtype), a[-2:], b[-1]
    begin = (right.turned, left.turned, n, m, k)
    return _Plan((*front, m, n), begin, (form, right.leading), (form, left.leading), _merged(front, left.steps, right.steps))


def _lying(shape: tuple[int, ...], strides: tuple[int, ...], size: int, front: tuple[int, ...]) -> _Stack | None:
    if any(step % size or step < 0 for step, n in zip(strides, shape) if n > 1):
        return None
    steps = [step // size if n > 1 else 0 for step, n in zip(strides, shape)]
    (rows, columns), (down, along) = shape[-2:], steps[-2:]
    steps = (*[0] * (len(front) - len(shape) + 2), *steps[:-2])
    if (columns == 1 or along == 1) and (rows == 1 or down >= columns):
        return _Stack(_PLAIN, max(down, columns), steps)
    if (rows == 1 or down == 1) and (columns == 1 or along >= rows):
        return _Stack(_TRANSPOSED, max(along, rows), steps)
    return None


def _merged(front: tuple[int, ...], first: tuple[int, ...], second: tuple[int, ...]) -> tuple[tuple[int, int, int], ...]:
    """Axes in front and the operands' steps along them, as few as will do."""
    found: list[tuple[int, int, int]] = []
    for n, x, y in zip(front, first, second):
        if n == 1:
            continue
        if found and found[-1][1] == n * x and found[-1][2] == n * y:
            found[-1] = (found[-1][0] * n, x, y)
        else:
            found.append((n, x, y))
    return tuple(found)


def _readable(x: ndarray) -> Operand:
    """An operand as it lies, or a copy of it where cuBLAS does not take it so."""
    operand, size = Operand(x), x.dtype.itemsize
    if operand.address % size or _lying(x.shape, operand.strides, size, x.shape[:-2]) is None:
        return Operand(calling.dense(x))
    return operand


def _product(a: ndarray, b: ndarray) -> ndarray:
    device, dtype = a.device, a.dtype
    left, right = Operand(a), Operand(b)
    plan = _plan(a.shape, b.shape, left.strides, right.strides, dtype)
    if plan is None or (left.address | right.address) % dtype.itemsize:
        left, right = _readable(a), _readable(b)
        plan = _plan(a.shape, b.shape, left.strides, right.strides, dtype)
        if plan is None:
            raise RuntimeError("a dense copy that does not lie in C's order")
    found = calling.new(plan.shape, dtype, device)
    (one, zero), how = _factors(dtype), (_compute(dtype), _DEFAULT_ALGORITHM)
    library: Any = finding.library("cublas")
    if len(plan.axes) > 1:
        _call_listed(library, plan, left.address, right.address, found, how)
        return found

    def call(to: int) -> None:
        x, y, form, n = right.address, left.address, plan.first[0], plan.shape[-1]
        if not plan.axes:
            begin = (handle(device), *plan.begin, one)
            check(library.cublasGemmEx_64(*begin, x, *plan.first, y, *plan.second, zero, to, form, n, *how), "cublasGemmEx_64")
            return
        count, step, other = plan.axes[0]
        operands = (x, *plan.first, other, y, *plan.second, step, zero, to, form, n, plan.shape[-2] * n)
        made = library.cublasGemmStridedBatchedEx_64(handle(device), *plan.begin, one, *operands, count, *how)
        check(made, "cublasGemmStridedBatchedEx_64")

    calling.written(device, [found], call)
    return found


def _call_listed(library: Any, plan: _Plan, left: int, right: int, found: ndarray, how: tuple[int, int]) -> None:
    """The call for matrices whose places have no one step: their addresses are listed on the device."""
    device, dtype, (m, n) = found.device, found.dtype, found.shape[-2:]
    (one, zero), count = _factors(dtype), math.prod(n for n, _, _ in plan.axes)

    def call(to: int) -> None:
        x, y = (_addresses(start, plan.axes, at, dtype.itemsize) for start, at in ((right, 2), (left, 1)))
        z = to + np.arange(count, dtype=np.uint64) * np.uint64(m * n * dtype.itemsize)
        lists = Operand(_from_numpy(np.concatenate([x, y, z]), device))
        at = lists.address
        operands = (at, *plan.first, at + 8 * count, *plan.second, zero, at + 16 * count, plan.first[0], n, count)
        check(library.cublasGemmBatchedEx_64(handle(device), *plan.begin, one, *operands, *how), "cublasGemmBatchedEx_64")

    calling.written(device, [found], call)


def _addresses(start: int, axes: Sequence[tuple[int, int, int]], at: int, size: int) -> np.ndarray:
    """The address of every matrix of a stack that begins there, in C's order of the axes in front."""
    found = np.array([start], dtype=np.uint64)
    for axis in axes:
        steps = np.arange(axis[0], dtype=np.uint64) * np.uint64(axis[at] * size)
        found = (found[:, None] + steps).reshape(-1)
    return found


@functools.cache
def _factors(dtype: np.dtype) -> tuple[ctypes.Array[Any], ctypes.Array[Any]]:
    """One and zero, as numbers that a product is scaled by."""
    pair = (ctypes.c_double if _computes_in_double(dtype) else ctypes.c_float) * 2
    return pair(1, 0), pair(0, 0)


@functools.cache
def _computes_in_double(dtype: np.dtype) -> bool:
    return dtype.name in ("float64", "complex128")


def _compute(dtype: np.dtype) -> int:
    """How products are computed: in the dtype itself, 16-bit floats in float32; TensorFloat-32 only where it is asked for."""
    if _computes_in_double(dtype):
        return _COMPUTE_DOUBLE
    if dtype.char in "fF" and tensor_float.is_allowed():
        return _COMPUTE_TENSOR_FLOAT
    return _COMPUTE_SINGLE

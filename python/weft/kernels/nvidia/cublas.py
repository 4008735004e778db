"""cuBLAS: products of matrices.

Its matrices are in column-major order, in which a matrix of C's order is its own transpose: what is asked for is the transpose of the
product, with the operands exchanged. A matrix that lies transposed is named so by a flag; only one that lies neither way is copied.
"""

from __future__ import annotations

import ctypes
import functools
import math
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
    """Matrices as cuBLAS is told of them."""

    operand: Operand
    turned: int
    leading: int
    """Elements from a row to the next; of those that lie transposed, from a column to the next."""
    steps: tuple[int, ...]
    """Elements from a matrix to the next, along each axis in front."""


def _stack(x: ndarray, front: tuple[int, ...]) -> _Stack:
    """An operand as it lies, or a copy of it."""
    operand = Operand(x)
    found = _lying(x.shape, operand, x.dtype.itemsize, front)
    if found is None:
        operand = Operand(calling.dense(x))
        found = _lying(x.shape, operand, x.dtype.itemsize, front)
    if found is None:
        raise RuntimeError("a dense copy that does not lie in C's order")
    return found


def _lying(shape: tuple[int, ...], operand: Operand, size: int, front: tuple[int, ...]) -> _Stack | None:
    if operand.address % size or any(step % size or step < 0 for step, n in zip(operand.strides, shape) if n > 1):
        return None
    strides = [step // size if n > 1 else 0 for step, n in zip(operand.strides, shape)]
    (rows, columns), (down, along) = shape[-2:], strides[-2:]
    steps = (*[0] * (len(front) - len(shape) + 2), *strides[:-2])
    if (columns == 1 or along == 1) and (rows == 1 or down >= columns):
        return _Stack(operand, _PLAIN, max(down, columns), steps)
    if (rows == 1 or down == 1) and (columns == 1 or along >= rows):
        return _Stack(operand, _TRANSPOSED, max(along, rows), steps)
    return None


def _merged(front: tuple[int, ...], first: tuple[int, ...], second: tuple[int, ...]) -> list[tuple[int, int, int]]:
    """Axes in front and the operands' steps along them, as few as will do."""
    found: list[tuple[int, int, int]] = []
    for n, x, y in zip(front, first, second):
        if n == 1:
            continue
        if found and found[-1][1] == n * x and found[-1][2] == n * y:
            found[-1] = (found[-1][0] * n, x, y)
        else:
            found.append((n, x, y))
    return found


def _product(a: ndarray, b: ndarray) -> ndarray:
    front = broadcast_shape(a.shape[:-2], b.shape[:-2])
    m, k, n = *a.shape[-2:], b.shape[-1]
    device, dtype = a.device, a.dtype
    left, right = _stack(a, front), _stack(b, front)
    found = calling.new((*front, m, n), dtype, device)
    axes = _merged(front, left.steps, right.steps)
    form, one, zero = format_of(dtype), *_factors(dtype)
    # The transpose of the product: the right operand comes first.
    shape = (right.turned, left.turned, n, m, k, one)
    how = (_compute(dtype), _DEFAULT_ALGORITHM)
    first, second, third = (form, right.leading), (form, left.leading), (form, n)
    library: Any = finding.library("cublas")

    def call(to: int) -> None:
        x, y = right.operand.address, left.operand.address
        if len(axes) == 0:
            check(library.cublasGemmEx_64(handle(device), *shape, x, *first, y, *second, zero, to, *third, *how), "cublasGemmEx_64")
        else:
            count, step, other = axes[0]
            strided = (x, *first, other, y, *second, step, zero, to, *third, m * n, count, *how)
            check(library.cublasGemmStridedBatchedEx_64(handle(device), *shape, *strided), "cublasGemmStridedBatchedEx_64")

    if len(axes) <= 1:
        calling.written(device, [found], call)
        return found
    count = math.prod(n for n, _, _ in axes)

    def call_listed(to: int) -> None:
        x, y = (_addresses(stack, axes, at, dtype.itemsize) for at, stack in ((2, right), (1, left)))
        z = to + np.arange(count, dtype=np.uint64) * np.uint64(m * n * dtype.itemsize)
        lists = Operand(_from_numpy(np.concatenate([x, y, z]), device))
        at = lists.address
        batched = (at, *first, at + 8 * count, *second, zero, at + 16 * count, *third, count, *how)
        check(library.cublasGemmBatchedEx_64(handle(device), *shape, *batched), "cublasGemmBatchedEx_64")

    calling.written(device, [found], call_listed)
    return found


def _addresses(stack: _Stack, axes: list[tuple[int, int, int]], at: int, size: int) -> np.ndarray:
    """The address of every matrix of a stack, in C's order of the axes in front."""
    found = np.array([stack.operand.address], dtype=np.uint64)
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

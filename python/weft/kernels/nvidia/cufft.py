"""cuFFT: Fourier transforms of up to three axes at once, others one after the other.

Plans are kept, the last `_PLANS` of each device; their workspaces are arrays that are there for one transform. What becomes real numbers
is copied first, since cuFFT uses it as a workspace, and the parts that NumPy does not look at are made zero there, since cuFFT does.
"""

from __future__ import annotations

import ctypes
import math
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import weft
from weft._weft import Device, _cast, _permute, ndarray
from weft.arrays._common import is_half, real_dtype, u
from weft.kernels.launching import launched

from . import calling, finding
from .calling import Operand, new, written

_STATUSES = {
    0x1: "CUFFT_INVALID_PLAN",
    0x2: "CUFFT_ALLOC_FAILED",
    0x3: "CUFFT_INVALID_TYPE",
    0x4: "CUFFT_INVALID_VALUE",
    0x5: "CUFFT_INTERNAL_ERROR",
    0x6: "CUFFT_EXEC_FAILED",
    0x7: "CUFFT_SETUP_FAILED",
    0x8: "CUFFT_INVALID_SIZE",
    0x9: "CUFFT_UNALIGNED_DATA",
    0xB: "CUFFT_INVALID_DEVICE",
    0xD: "CUFFT_NO_WORKSPACE",
    0xE: "CUFFT_NOT_IMPLEMENTED",
    0x10: "CUFFT_NOT_SUPPORTED",
    0x11: "CUFFT_MISSING_DEPENDENCY",
    0x12: "CUFFT_NVRTC_FAILURE",
    0x13: "CUFFT_NVJITLINK_FAILURE",
}
_check = calling.checker("cuFFT", _STATUSES)

# `cufftType` by the kind of transform, in single and in double precision, and the letters of the call.
_KINDS = {
    ("complex", False): (0x29, "C2C"),
    ("complex", True): (0x69, "Z2Z"),
    ("from real", False): (0x2A, "R2C"),
    ("from real", True): (0x6A, "D2Z"),
    ("to real", False): (0x2C, "C2R"),
    ("to real", True): (0x6C, "Z2D"),
}
_FORWARD, _INVERSE = -1, 1
_MOST_AXES = 3
_PLANS = 32


def transform(a: ndarray, kind: str, forward: bool, axes: Sequence[int], lengths: Sequence[int], factor: float) -> ndarray | None:
    """A transform, or None where there is no library or nothing to transform. Axes are those of NumPy's order, the real one last."""
    if 0 in a.shape or 0 in lengths or finding.library("cufft") is None:
        return None
    if a.dtype.kind not in "biufc" and not is_half(a.dtype):
        return None
    return launched(_transformed, a, kind, forward, tuple(axes), tuple(lengths), float(factor))


def _transformed(a: ndarray, kind: str, forward: bool, axes: tuple[int, ...], lengths: tuple[int, ...], factor: float) -> ndarray:
    single = is_half(a.dtype) or a.dtype.char in "fF"
    real, whole = (np.dtype(np.float32), np.dtype(np.complex64)) if single else (np.dtype(np.float64), np.dtype(np.complex128))
    # Of what becomes real the last axis is given by its first half and one.
    given = (*lengths[:-1], lengths[-1] // 2 + 1) if kind == "to real" else lengths
    a = _cast(a, real if kind == "from real" else whole)
    for axis, n in zip(axes, given):
        a = _fitted(a, axis, n)
    if kind == "to real":
        # Of real numbers the other transform is that of the conjugates.
        a = u("conjugate", a) if forward else a
        a = _steps(a, False, axes[:-1], lengths[:-1])
        found = _run(a, kind, False, axes[-1:], lengths[-1:])
    elif kind == "from real":
        rest = max(len(axes) - _MOST_AXES, 0)
        found = _run(a, kind, True, axes[rest:], lengths[rest:])
        found = _steps(found, True, axes[:rest], lengths[:rest])
        found = found if forward else u("conjugate", found)
    else:
        found = _steps(a, forward, axes, lengths)
    if factor != 1.0:
        found = u("multiply", found, real_dtype(found.dtype).type(factor))
    return found


def _fitted(a: ndarray, axis: int, n: int) -> ndarray:
    """Cut, or with zeros behind, to so many elements along an axis."""
    have = a.shape[axis]
    if have >= n:
        return a if have == n else a[(slice(None),) * axis + (slice(0, n),)]
    rest = calling.zeros((*a.shape[:axis], n - have, *a.shape[axis + 1 :]), a.dtype, a.device)
    return weft.concatenate([a, rest], axis=axis)


def _steps(a: ndarray, forward: bool, axes: tuple[int, ...], lengths: tuple[int, ...]) -> ndarray:
    """Complex transforms along any number of axes."""
    for start in range(0, len(axes), _MOST_AXES):
        end = start + _MOST_AXES
        a = _run(a, "complex", forward, axes[start:end], lengths[start:end])
    return a


class _Side(NamedTuple):
    """How the input or the output of a plan lies: extents that are stored, and elements between neighbours and between transforms."""

    embedding: tuple[int, ...]
    stride: int
    distance: int


def _side(shape: Sequence[int], strides: Sequence[int], rank: int) -> _Side | None:
    """The side of an array whose last axes are transformed, from its steps in elements; None where no plan has such a one."""
    inner = 1
    for n, step in zip(reversed(shape[-rank:]), reversed(strides[-rank:])):
        if n > 1:
            inner = step
            break
    if inner < 1:
        return None
    embedding, reach = [], inner
    for axis in range(-1, -rank, -1):
        # What is stored along this axis is where the next outer one goes on.
        outer = strides[axis - 1] if shape[axis - 1] > 1 else reach * shape[axis]
        if outer % reach or outer // reach < shape[axis]:
            return None
        embedding.insert(0, outer // reach)
        reach = outer
    distance, expected = 0, None
    for n, step in zip(reversed(shape[:-rank]), reversed(strides[:-rank])):
        if n == 1:
            continue
        if step < 1 or (expected is not None and step != expected):
            return None
        distance, expected = distance or step, step * n
    return _Side((shape[-rank], *embedding), inner, distance or 1)


def _c_strides(shape: Sequence[int]) -> list[int]:
    found = [1]
    for n in reversed(shape[1:]):
        found.insert(0, found[0] * n)
    return found


def _run(a: ndarray, kind: str, forward: bool, axes: tuple[int, ...], lengths: tuple[int, ...]) -> ndarray:
    """A transform along up to three axes, along which the array has what is needed."""
    rank, dtype, device = len(axes), a.dtype, a.device
    order = [*(axis for axis in range(a.ndim) if axis not in axes), *axes]
    a = _permute(a, order)
    last = lengths[-1] // 2 + 1 if kind == "from real" else lengths[-1]
    shape = (*a.shape[: a.ndim - rank], *lengths[:-1], last)
    made = real_dtype(dtype) if kind == "to real" else np.result_type(dtype, np.complex64)
    found, side, is_turned = _result(shape, order, rank, made, device)
    spent: list[ndarray] = []
    if kind == "to real":
        spent = [_as_looked_at(a, lengths[-1])]
        operand, source = None, _side(a.shape, _c_strides(a.shape), rank)
    else:
        operand, source = _operand(a, rank)
    number, letters = _KINDS[kind, made.char in "dD"]
    batch = math.prod(shape[: len(shape) - rank])
    name = f"cufftExec{letters}"
    direction = () if kind != "complex" else (_FORWARD if forward else _INVERSE,)
    library: Any = finding.library("cufft")

    def call(to: int, *given: int) -> None:
        plan, size = _plan(device, lengths, source, side, number, batch)
        work = Operand(new((max(size, 1),), np.uint8, device))
        _check(library.cufftSetWorkArea(plan, work.address), "cufftSetWorkArea")
        _check(getattr(library, name)(plan, given[0] if operand is None else operand.address, to, *direction), name)

    written(device, [found, *spent], call)
    return calling.dense(_permute(found, np.argsort(order).tolist())) if is_turned else found


def _result(shape: tuple[int, ...], order: list[int], rank: int, dtype: np.dtype, device: Device) -> tuple[ndarray, _Side, bool]:
    """An array for the result in C's order of the axes as they were, if a plan can write that; else with those transformed behind, and
    True."""
    natural = [shape[order.index(axis)] for axis in range(len(shape))]
    strides = _c_strides(natural)
    side = _side(shape, [strides[axis] for axis in order], rank)
    if side is not None:
        return new(natural, dtype, device), side, False
    return new(shape, dtype, device), _dense_side(shape, rank), True


def _dense_side(shape: Sequence[int], rank: int) -> _Side:
    return _Side(tuple(shape[-rank:]), 1, math.prod(shape[-rank:]))


def _operand(a: ndarray, rank: int) -> tuple[Operand, _Side]:
    """What is transformed, as it lies or as a copy."""
    operand, size = Operand(a), a.dtype.itemsize
    steps = [step for step, n in zip(operand.strides, a.shape) if n > 1]
    # Real numbers are read in pairs, too.
    if operand.address % (size if a.dtype.kind == "c" else 2 * size) == 0 and not any(step % size for step in steps):
        side = _side(a.shape, [step // size for step in operand.strides], rank)
        if side is not None:
            return operand, side
    return Operand(calling.dense(a)), _dense_side(a.shape, rank)


def _as_looked_at(a: ndarray, n: int) -> ndarray:
    """A copy for what becomes n real numbers, without the parts that there are none of: those of the first coefficient, and of the middle
    one."""
    a = calling.dense(a)
    for at in (0, n // 2):
        if 2 * at % n == 0:
            a[..., at] = _cast(weft.real(a[..., at]), a.dtype)
    return a


_kept: dict[Device, OrderedDict[Any, tuple[int, int]]] = {}


def _plan(device: Device, lengths: tuple[int, ...], source: _Side, side: _Side, kind: int, batch: int) -> tuple[int, int]:
    """A plan of the current device, and the bytes of its workspace. The caller has the device's lock."""
    plans = _kept.setdefault(device, OrderedDict())
    key = (lengths, source, side, kind, batch)
    if key in plans:
        plans.move_to_end(key)
        return plans[key]
    library: Any = finding.library("cufft")
    if len(plans) >= _PLANS:
        # What it gives back may still be used.
        device.synchronize()
        _check(library.cufftDestroy(plans.popitem(last=False)[1][0]), "cufftDestroy")
    plan, size = ctypes.c_int(), ctypes.c_size_t()
    _check(library.cufftCreate(ctypes.byref(plan)), "cufftCreate")
    try:
        _check(library.cufftSetAutoAllocation(plan, 0), "cufftSetAutoAllocation")
        of_sides = (x for each in (source, side) for x in (_longs(each.embedding), each.stride, each.distance))
        made = library.cufftMakePlanMany64(plan, len(lengths), _longs(lengths), *of_sides, kind, batch, ctypes.byref(size))
        _check(made, "cufftMakePlanMany64")
        _check(library.cufftSetStream(plan, calling.stream(device)), "cufftSetStream")
    except BaseException:
        library.cufftDestroy(plan)
        raise
    plans[key] = plan.value, size.value
    return plans[key]


def _longs(numbers: Sequence[int]) -> ctypes.Array[Any]:
    return (ctypes.c_longlong * len(numbers))(*numbers)

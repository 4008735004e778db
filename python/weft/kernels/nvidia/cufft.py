"""cuFFT: Fourier transforms of up to three axes at once, others one after the other.

Plans are kept, the last `_PLANS` of each device; their workspaces are arrays that are there for one transform. What becomes real numbers
is copied first, since cuFFT uses it as a workspace, without the parts that NumPy does not look at, since cuFFT does.
"""

from __future__ import annotations

import ctypes
import functools
import math
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import weft
from weft._weft import Device, _cast, _permute, ndarray
from weft.arrays._common import is_half, positions, real_dtype, select, u
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
# Real numbers and complex ones, in single and in double precision.
_SINGLE = np.dtype(np.float32), np.dtype(np.complex64)
_DOUBLE = np.dtype(np.float64), np.dtype(np.complex128)
_BYTE = np.dtype(np.uint8)
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
    real, whole = _SINGLE if a.dtype.char in "fF" or is_half(a.dtype) else _DOUBLE
    wanted = real if kind == "from real" else whole
    if a.dtype != wanted:
        a = _cast(a, wanted)
    # Of what becomes real the last axis is given by its first half and one.
    given = (*lengths[:-1], lengths[-1] // 2 + 1) if kind == "to real" else lengths
    for axis, n in zip(axes, given):
        if a.shape[axis] != n:
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
    if have > n:
        return a[(slice(None),) * axis + (slice(0, n),)]
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


class _Way(NamedTuple):
    """How arrays that lie alike are transformed."""

    shape: tuple[int, ...]
    """Of what the library writes."""
    dtype: np.dtype
    plan: tuple[Any, ...]
    """Lengths, the input's and the output's side, cuFFT's number of the kind, how many transforms: what the plan follows from."""
    name: str
    back: tuple[int, ...] | None
    """How axes of what is written are put in order, by a copy; None where they are."""


@functools.lru_cache(maxsize=1024)
def _order(ndim: int, axes: tuple[int, ...]) -> tuple[int, ...] | None:
    """All axes, those transformed behind; None where they are."""
    order = (*(axis for axis in range(ndim) if axis not in axes), *axes)
    return None if order == tuple(range(ndim)) else order


@functools.lru_cache(maxsize=1024)
def _way(
    shape: tuple[int, ...], strides: tuple[int, ...] | None, dtype: np.dtype, kind: str, order: tuple[int, ...], lengths: tuple[int, ...]
) -> _Way | None:
    """The way of arrays of a shape, with such steps in bytes (None: in C's order), axes being in `order`; None where no plan reads them."""
    rank, size = len(lengths), dtype.itemsize
    source: _Side | None
    if strides is None:
        source = _side(shape, _c_strides(shape), rank)
    elif any(step % size for step, n in zip(strides, shape) if n > 1):
        source = None
    else:
        source = _side(shape, [step // size for step in strides], rank)
    if source is None:
        return None
    last = lengths[-1] // 2 + 1 if kind == "from real" else lengths[-1]
    made = (*shape[: len(shape) - rank], *lengths[:-1], last)
    dtype = real_dtype(dtype) if kind == "to real" else np.result_type(dtype, np.complex64)
    # In C's order of the axes as they were, if a plan can write that; else of those in `order`.
    natural = tuple(made[order.index(axis)] for axis in range(len(made)))
    steps = _c_strides(natural)
    side = _side(made, [steps[axis] for axis in order], rank)
    back = None if side is not None else tuple(np.argsort(order).tolist())
    if side is None:
        side = _Side(tuple(made[-rank:]), 1, math.prod(made[-rank:]))
    number, letters = _KINDS[kind, dtype.char in "dD"]
    plan = (lengths, source, side, number, math.prod(made[: len(made) - rank]))
    return _Way(made if back else natural, dtype, plan, f"cufftExec{letters}", back)


def _run(a: ndarray, kind: str, forward: bool, axes: tuple[int, ...], lengths: tuple[int, ...]) -> ndarray:
    """A transform along up to three axes, along which the array has what is needed."""
    device, order = a.device, _order(a.ndim, axes)
    if order is not None:
        a = _permute(a, order)
    order = order or tuple(range(a.ndim))
    operand, spent = None, []
    if kind == "to real":
        spent = [_as_looked_at(a, lengths[-1])]
        way = _way(a.shape, None, a.dtype, kind, order, lengths)
    else:
        operand = Operand(a)
        way = _way(a.shape, operand.strides, a.dtype, kind, order, lengths) if _is_aligned(operand, a.dtype) else None
        if way is None:
            operand = Operand(calling.dense(a))
            way = _way(a.shape, None, a.dtype, kind, order, lengths)
    if way is None:
        raise RuntimeError("there is no plan for a copy in C's order")
    found = new(way.shape, way.dtype, device)
    direction = () if kind != "complex" else (_FORWARD if forward else _INVERSE,)
    library: Any = finding.library("cufft")

    def call(to: int, *given: int) -> None:
        plan, size = _plan(device, way.plan)
        if size:
            work = Operand(new((size,), _BYTE, device))
            _check(library.cufftSetWorkArea(plan, work.address), "cufftSetWorkArea")
        _check(getattr(library, way.name)(plan, given[0] if operand is None else operand.address, to, *direction), way.name)

    written(device, [found, *spent], call)
    return found if way.back is None else calling.dense(_permute(found, way.back))


def _is_aligned(operand: Operand, dtype: np.dtype) -> bool:
    # Real numbers are read in pairs, too.
    return operand.address % (dtype.itemsize if dtype.kind == "c" else 2 * dtype.itemsize) == 0


def _as_looked_at(a: ndarray, n: int) -> ndarray:
    """A copy for what becomes n real numbers, without the parts that there are none of: those of the first coefficient, and of the middle
    one."""
    places = positions(n // 2 + 1, a, np.int32)
    alone = u("equal", places, 0)
    if n % 2 == 0:
        alone = u("logical_or", alone, u("equal", places, n // 2))
    return calling.dense(select(alone, _cast(weft.real(a), a.dtype), a))


_kept: dict[Device, OrderedDict[Any, tuple[int, int]]] = {}


def _plan(device: Device, key: tuple[Any, ...]) -> tuple[int, int]:
    """A plan of the current device, and the bytes of its workspace. The caller has the device's lock."""
    plans = _kept.setdefault(device, OrderedDict())
    known = plans.get(key)
    if known is not None:
        plans.move_to_end(key)
        return known
    library: Any = finding.library("cufft")
    if len(plans) >= _PLANS:
        # What it gives back may still be used.
        device.synchronize()
        _check(library.cufftDestroy(plans.popitem(last=False)[1][0]), "cufftDestroy")
    lengths, source, side, kind, batch = key
    plan, size = ctypes.c_int(), ctypes.c_size_t()
    _check(library.cufftCreate(ctypes.byref(plan)), "cufftCreate")
    try:
        _check(library.cufftSetAutoAllocation(plan, 0), "cufftSetAutoAllocation")
        of_sides = (x for each in (source, side) for x in (_longs(each.embedding), each.stride, each.distance))
        made = library.cufftMakePlanMany64(plan, len(lengths), _longs(lengths), *of_sides, kind, batch, ctypes.byref(size))
        _check(made, "cufftMakePlanMany64")
        _check(library.cufftSetStream(plan, calling.stream(device)), "cufftSetStream")
        if size.value == 0:
            _check(library.cufftSetWorkArea(plan, 0), "cufftSetWorkArea")
    except BaseException:
        library.cufftDestroy(plan)
        raise
    plans[key] = plan.value, size.value
    return plans[key]


def _longs(numbers: Sequence[int]) -> ctypes.Array[Any]:
    return (ctypes.c_longlong * len(numbers))(*numbers)

"""Bits of bytes as elements, and back."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from weft._weft import _cast, _full, ndarray

from ._common import array_of, axis_of, flat, positions, u
from .joining import concatenate
from .reductions import sum as total
from .shapes import moveaxis

_BYTE = np.dtype(np.uint8)


def _shifts(like: ndarray, bitorder: Any) -> ndarray:
    """How far each of a byte's bits is from its lowest, in the order of elements."""
    if not isinstance(bitorder, str):
        raise TypeError(f"bitorder must be str, not {type(bitorder).__name__}")
    if bitorder not in ("big", "little"):
        raise ValueError("'order' must be either 'little' or 'big'")
    places = positions(8, like, np.uint8)
    return u("subtract", 7, places) if bitorder == "big" else places


def _last(a: ndarray, axis: Any) -> tuple[ndarray, int]:
    """The array with the axis behind all others, and which it was; without one, as one row."""
    if axis is None:
        return flat(a), 0
    if a.ndim == 0:
        axis_of(axis, 1)
        return flat(a), 0
    place = axis_of(axis, a.ndim)
    return moveaxis(a, place, -1), place


def packbits(a: Any, /, axis: Any = None, bitorder: str = "big") -> ndarray:
    """Bytes whose bits say which elements are not zero: along an axis, or of all elements as one row. Zeros fill up the last one.

    >>> weft.packbits(weft.asarray([1, 0, 1, 0, 0, 0, 0, 1, 1]))
    array([161, 128], dtype=uint8)
    """
    given = array_of(a)
    if given.dtype.kind not in "biu":
        raise TypeError("Expected an input array of integer or boolean data type")
    shifts = _shifts(given, bitorder)
    bits, place = _last(given, axis)
    bits = _cast(u("not_equal", bits, 0), _BYTE)
    missing = -bits.shape[-1] % 8
    if missing:
        bits = concatenate((bits, _full((*bits.shape[:-1], missing), 0, _BYTE, bits.device)), -1)
    bits = bits.reshape(*bits.shape[:-1], bits.shape[-1] // 8, 8)
    return moveaxis(total(u("left_shift", bits, shifts), -1, _BYTE), -1, place)


def unpackbits(a: Any, /, axis: Any = None, count: Any = None, bitorder: str = "big") -> ndarray:
    """The bits of bytes, each as a byte of 0 or 1: along an axis, or of all elements as one row.

    `count` takes so many of them: all but so many from the end if it is negative, and zeros behind those that there are.

    >>> weft.unpackbits(weft.asarray([161], dtype=weft.uint8))
    array([1, 0, 1, 0, 0, 0, 0, 1], dtype=uint8)
    """
    given = array_of(a)
    if given.dtype != _BYTE:
        raise TypeError("Expected an input array of unsigned byte data type")
    shifts = _shifts(given, bitorder)
    rows, place = _last(given, axis)
    bits = u("bitwise_and", u("right_shift", rows[..., None], shifts), 1)
    bits = bits.reshape(*rows.shape[:-1], rows.shape[-1] * 8)
    if count is not None:
        bits = _counted(bits, operator.index(count))
    return moveaxis(bits, -1, place)


def _counted(bits: ndarray, count: int) -> ndarray:
    have = bits.shape[-1]
    if count < -have:
        raise ValueError(f"-ve count {count} larger than number of elements")
    if count <= have:
        return bits[..., : count if count >= 0 else have + count]
    return concatenate((bits, _full((*bits.shape[:-1], count - have), 0, _BYTE, bits.device)), -1)

"""Packed bits against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from .against_numpy import INTEGERS, array, axes, cases, check


@pytest.mark.parametrize("dtype", [np.bool_, *INTEGERS])
def test_packbits(dtype: type) -> None:
    for shape, order in cases(((9,), (16,), (3, 5), (2, 3, 8), (0,), (2, 0), ()), ("big", "little")):
        for axis in axes(len(shape)):
            check(f"xp.packbits(a, {axis}, bitorder={order!r})", a=array(shape, dtype))
    check("xp.packbits(a.T, 1)", a=array((3, 9), dtype))


def test_unpackbits() -> None:
    for shape, order in cases(((3,), (2, 3), (0,), (2, 0), ()), ("big", "little")):
        a = np.asarray(array(shape, np.int64) * 37 % 256).astype(np.uint8)
        for axis, count in cases(list(axes(len(shape))), (None, 0, 5, 8, 19, 40, -3, -24, -100)):
            if shape and a.size == 0 and (count or 0) > 0:
                # NumPy gives what is in the memory there.
                continue
            check(f"xp.unpackbits(a, {axis}, {count}, {order!r})", a=a)


def test_what_is_no_bit_is_refused() -> None:
    for text in (
        "packbits([1.5])",
        "unpackbits([1])",
        "packbits(a, bitorder='x')",
        "unpackbits(a, bitorder=3)",
        "unpackbits(a, count=1.5)",
    ):
        check(f"xp.{text}", a=np.arange(3, dtype=np.uint8))

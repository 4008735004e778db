"""What sorts, counts, searches and sums up, of every dtype and on every device, in few elements: always NumPy's."""

from __future__ import annotations

import warnings

import ml_dtypes
import numpy as np
import pytest

import weft

from .against_numpy import ALL, array, difference

ORDER = (
    "sort(a)", "sort(a, 0)", "sort(a, None)",
    "argsort(a, stable=True)", "argsort(a, 0, stable=True)", "partition(a, 2)[:, 2]",
    "take_along_axis(a, xp.argpartition(a, 1, 0), 0)[1]", "unique(a)", "unique(a, return_index=True, return_inverse=True)",
    "lexsort((a[0], a[1]))",
    "searchsorted(xp.sort(b), a)", "searchsorted(xp.sort(b), a, 'right')", "isin(a, b)", "union1d(a, b)", "intersect1d(a, b)",
    "setdiff1d(a, b)", "setxor1d(a, b)", "sort_complex(b)", "flatnonzero(a)", "median(a, 1)", "digitize(a, xp.sort(b))",
)  # fmt: skip
SUMS = ("cumsum(a, 1)", "cumprod(b)", "cumulative_sum(a, axis=0, include_initial=True)", "nancumsum(a, 0)", "nancumprod(b)")
NATURALS = ("bincount(abs(b))", "bincount(abs(b), w)", "bincount(abs(b), minlength=9)")
# NumPy has none of complex numbers.
REAL_ONLY = ("digitize", "median")


@pytest.mark.parametrize("dtype", ALL)
def test_numpys(dtype: type, device: weft.Device) -> None:
    if not device.float64 and np.dtype(dtype).itemsize // (2 if np.dtype(dtype).kind == "c" else 1) > 4:
        pytest.skip("the device has no numbers of 64 bits")
    given = {"a": array((4, 6), dtype, nan=True), "b": array((5,), dtype, 3), "w": np.arange(5.0) / 4}
    is_natural = np.dtype(dtype).kind in "iu" and dtype is not np.uint64
    # Floats of 16 bits are summed in another order.
    for text in (*ORDER, *SUMS, *(NATURALS if is_natural and device.float64 else ())):
        if np.dtype(dtype).kind == "c" and text.startswith(REAL_ONLY):
            continue
        results = []
        for xp in (np, weft):
            used = {name: xp.asarray(value) for name, value in given.items() if name != "w" or "w" in text}
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                results.append(eval(f"xp.{text}", {"xp": xp, **used}))
        differ = difference(*results, text not in SUMS and not text.startswith("median"))
        assert differ is None, f"{text} of {dtype.__name__}: {differ}\n{results[0]!r}\n{results[1]!r}"
        found = results[1] if isinstance(results[1], tuple) else (results[1],)
        assert {each.device for each in found} == {device}


def test_bfloat16(device: weft.Device) -> None:
    """As float32 of the same numbers, which bfloat16 has."""
    a, b = array((4, 6), np.float32, nan=True), array((5,), np.float32, 3)
    ours = {name: weft.asarray(value.astype(ml_dtypes.bfloat16)) for name, value in (("a", a), ("b", b))}
    for text in ORDER:
        if text.startswith(("sort_complex", "median")):
            continue
        theirs = eval(f"xp.{text}", {"xp": np, "a": a, "b": b})
        found = eval(f"xp.{text}", {"xp": weft, **ours})
        for wanted, each in zip(theirs if isinstance(theirs, tuple) else (theirs,), found if isinstance(found, tuple) else (found,)):
            assert each.device == device
            each = each.astype(weft.float32) if each.dtype.kind == "V" else each
            assert difference(wanted, each, True) is None, text

"""Histograms of several variables against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import weft

from .against_numpy import ALL, array, check, difference, host

POINTS = array((40, 3))


@pytest.mark.parametrize("dtype", ALL)
def test_every_dtype(dtype: type) -> None:
    points = array((30, 2), dtype)
    if np.dtype(dtype).kind == "c":
        return
    check("xp.histogramdd(a, 4)", exact=False, a=points)
    check("xp.histogramdd(a, [xp.asarray([-3, 0, 1, 3]), 2])", exact=False, a=points)
    check("xp.histogram2d(a[:, 0], a[:, 1], 3)", exact=False, a=points)
    check("xp.histogramdd(a, 4, weights=w)", exact=False, a=points, w=array((30,), dtype, 3))


def test_arguments() -> None:
    for words in (
        "a", "a, 3", "a, (2, 3, 4)", "a, (2, 3)", "a, (2, 0, 3)", "a, 0", "a, 1.5", "a, (2, [0, 1, 2], [1, 0])", "a, (2, [0, 1, 2], 3)",
        "a, 3, [(0, 1), (0, 2), None]", "a, 3, [(0, 1), (0, 2)]", "a, 3, [(1, 0), None, None]", "a, 3, [(0, xp.inf), None, None]",
        "a, 3, density=True", "a, 3, density=True, weights=w", "a, 3, weights=w", "a, 3, weights=w[:3]", "a, (2, [[1, 2]], 3)",
        "a, 3, [(2, 2), None, None]", "a[:0], 3", "a[:1], 3", "a[:, 0], 4", "a[:, :0]", "a[::-2], (2, 2, 2)", "a.T[:2].T, 3",
        "[a[:, 0], a[:, 1]], 3", "(a[:, 0], a[:, 1], a[:, 2])", "a[None], 3", "a, (2, [], 3)", "a[0, 0], 3",
    ):  # fmt: skip
        check(f"xp.histogramdd({words})", exact=False, a=POINTS, w=np.arange(40.0))
    holes = array((40, 3), nan=True)
    check("xp.histogramdd(a, 3)", a=holes)
    check("xp.histogramdd(a, 3, [(0, 1)] * 3)", exact=False, a=holes)
    for words in (
        "x, y", "x, y, 3", "x, y, [0, 1, 2, 3]", "x, y, [3, 4]", "x, y, [3, [0, 1, 2]]", "x, y[:3]", "x, y, 3, [[0, 1], [0, 2]]",
        "x, y, 3, None, True", "x, y, 3, weights=x", "x, y, xp.asarray([0, 1, 2, 3])", "x, y, 0", "x, y, [2]",
    ):  # fmt: skip
        check(f"xp.histogram2d({words})", exact=False, x=POINTS[:, 0], y=POINTS[:, 1])


def test_points_on_edges() -> None:
    x = np.repeat(np.linspace(0, 1, 7), 3)
    for edges in ("7", "[0, 0.5, 1]", "[0.5, 0.5, 1]", "xp.asarray([0.25, 0.5], xp.float32)"):
        check(f"xp.histogram2d(x, x[::-1], [{edges}, 3])", exact=False, x=x)


def test_numpys_functions_are_wefts() -> None:
    x = weft.asarray(POINTS)
    for found, wanted in (
        (np.histogramdd(x, 3), np.histogramdd(POINTS, 3)),
        (np.histogram2d(x[:, 0], x[:, 1], 3), np.histogram2d(POINTS[:, 0], POINTS[:, 1], 3)),
    ):
        assert isinstance(found[0], weft.ndarray)
        assert difference(wanted, found, False) is None


def test_on_devices(device: weft.Device) -> None:
    if not device.float64:
        pytest.skip("counts are of float64")
    counts, edges = weft.histogramdd(weft.asarray(POINTS), [[-3, 0, 3], 2, 2])
    assert {counts.device, *(each.device for each in edges)} == {device}
    np.testing.assert_array_equal(host(counts), np.histogramdd(POINTS, [[-3, 0, 3], 2, 2])[0])

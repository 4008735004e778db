"""`weft.scipy.ndimage` against SciPy: every filter and interpolation over dtypes, shapes, edges, origins, outputs, and errors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.ndimage

import weft
from weft.errors import UnsupportedError
from weft.scipy import ndimage

from .against_scipy import check, examples

DTYPES = ("float64", "float32", "uint8", "int32", "int64", "complex128", "complex64")
EDGES = ("reflect", "constant", "nearest", "mirror", "wrap")
SPLINE_EDGES = (*EDGES, "grid-wrap", "grid-constant", "grid-mirror")
ALONG = [
    "correlate1d(a, [1, 2.5, -1], mode=mode, cval=2)",
    "correlate1d(a, [1, 2, 1], axis=0, mode=mode)",
    "correlate1d(a, [1, 2j, 1], mode=mode)",
    "convolve1d(a, [1, 2, 4, 8], mode=mode, origin=1)",
    "convolve1d(a, np.ones(25), 0, 'complex128' if a.dtype.kind == 'c' else 'float64', mode)",
    "gaussian_filter(a, 1.5, mode=mode)",
    "gaussian_filter(a, 0.7, order=1, mode=mode, truncate=3)",
    "gaussian_filter1d(a, 1.0, order=2, mode=mode, radius=3)",
    "uniform_filter(a, 3, mode=mode)",
    "uniform_filter(a, 4, mode=mode, origin=-1, cval=9)",
    "sobel(a, mode=mode)",
    "prewitt(a, 0, mode=mode)",
    "laplace(a, mode=mode)",
    "median_filter(a, 3, mode=mode)",
    "median_filter(a, 5, mode=mode, cval=1.5)",
    "maximum_filter(a, 3, mode=mode, cval=50)",
    "maximum_filter1d(a, 2, 0, mode=mode, origin=-1)",
    "minimum_filter(a, 4, mode=mode, cval=0.5)",
    "percentile_filter(a, 30, 3, mode=mode)",
    "rank_filter(a, -2, 4, mode=mode)",
]
OF_MATRICES = [
    "correlate(a, w, mode=mode)",
    "convolve(a, w, mode=mode, origin=(0, -1), cval=3)",
    "correlate(a, w * 1j, mode=mode)",
    "gaussian_filter(a, (1, 2), order=(0, 1), mode=(mode, 'wrap'), axes=(1, 0))",
    "uniform_filter(a, (1, 3), mode=mode)",
    "median_filter(a, footprint=[[1, 0, 1], [0, 1, 0]], mode=mode)",
    "maximum_filter(a, footprint=[[1, 0, 1], [0, 1, 0]], origin=(0, 1), mode=mode)",
    "minimum_filter(a, (2, 3), axes=(1, 0), mode=mode)",
]


def pictures(dtype: str) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    matrix, row = rng.random((7, 9)) * 100, rng.random(6) * 50
    if dtype.startswith("complex"):
        matrix, row = matrix + 1j * rng.random((7, 9)), row - 2j
    return [matrix.astype(dtype), row.astype(dtype), matrix[:1, :1].astype(dtype), rng.random((3, 4, 5)).astype(dtype)]


@pytest.mark.parametrize("mode", EDGES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_filters(dtype: str, mode: str) -> None:
    for picture in pictures(dtype)[:3]:
        for text in ALONG:
            check(scipy.ndimage, ndimage, f"m.{text}", a=picture, mode=mode)
    for text in OF_MATRICES:
        check(scipy.ndimage, ndimage, f"m.{text}", a=pictures(dtype)[0], mode=mode, w=np.arange(12.0).reshape(3, 4) - 4)


def test_three_axes_and_layouts() -> None:
    solid = pictures("float64")[3]
    for picture in (solid, solid.transpose(2, 0, 1), solid[::-1, :, ::2]):
        for text in ("gaussian_filter(a, 1)", "sobel(a, 1)", "median_filter(a, 3)", "zoom(a, (2, 1, 0.5), order=1)", "shift(a, 0.5)"):
            check(scipy.ndimage, ndimage, f"m.{text}", a=picture)
    check(scipy.ndimage, ndimage, "m.correlate(a, np.ones((2, 3, 2)))", a=solid)
    places = np.random.default_rng(1).random((3, 11)) * 6 - 1
    for order in (0, 1, 3):
        check(scipy.ndimage, ndimage, "m.map_coordinates(a, c, order=order, mode='mirror')", a=solid, c=places, order=order)


def test_filters_are_recorded_and_fuse() -> None:
    x = weft.asarray(np.random.default_rng(0).random((50, 50)))
    with weft.syncs("error"):
        lazy = ndimage.sobel(ndimage.gaussian_filter(x, 1)) * 2 + ndimage.median_filter(x, 3)
    host = weft.asnumpy(x)
    wanted = scipy.ndimage.sobel(scipy.ndimage.gaussian_filter(host, 1)) * 2 + scipy.ndimage.median_filter(host, 3)
    np.testing.assert_allclose(weft.asnumpy(lazy), wanted, rtol=1e-12, atol=1e-12)


def test_outputs() -> None:
    x = pictures("float64")[0]
    for dtype in ("float32", np.int16, np.dtype("uint8")):
        check(scipy.ndimage, ndimage, "m.gaussian_filter(a, 1, output=d)", a=x, d=dtype)
    out = weft.zeros(x.shape, "int32")
    assert ndimage.correlate1d(weft.asarray(x), [1, 2, 3], output=out) is out
    assert (weft.asnumpy(out) == scipy.ndimage.correlate1d(x, [1, 2, 3], output=np.int32)).all()
    inside = weft.asarray(x)
    ndimage.correlate(inside, np.ones((3, 3)), output=inside)
    np.testing.assert_allclose(weft.asnumpy(inside), scipy.ndimage.correlate(x, np.ones((3, 3))), rtol=1e-13)
    for wrong in (weft.zeros(3), np.zeros(x.shape)):
        with pytest.raises((RuntimeError, TypeError)):
            ndimage.sobel(weft.asarray(x), output=wrong)


@pytest.mark.parametrize("mode", SPLINE_EDGES)
@pytest.mark.parametrize("dtype", ("float64", "float32", "uint8", "int32", "complex128"))
@pytest.mark.parametrize("order", (0, 1, 3))
def test_interpolation(order: int, dtype: str, mode: str) -> None:
    rng = np.random.default_rng(2)
    # SciPy's coefficients at edges that reflect are off by about 0.27 to twice the length: here the rows are long enough for the digits.
    matrix, row = rng.random((24, 26)) * 100, rng.random(40) * 50
    if dtype == "complex128":
        matrix, row = matrix - 1j * matrix[::-1], row + 3j
    on_matrix, on_row = rng.random((2, 5, 8)) * 60 - 18, rng.random((1, 60)) * 130 - 45
    a, b = matrix.astype(dtype), row.astype(dtype)
    for text in (
        "map_coordinates(a, c, order=order, mode=mode, cval=7)",
        "map_coordinates(b, d, order=order, mode=mode, cval=-7, prefilter=False)",
        "map_coordinates(b, d, 'complex64' if b.dtype.kind == 'c' else 'float32', order, mode)",
        "zoom(a, 2, order=order, mode=mode)",
        "zoom(a, (0.6, 1.3), order=order, mode=mode, cval=5)",
        "zoom(b.real, 2.3, order=order, mode=mode, grid_mode=True)",
        "shift(b, 2.3, order=order, mode=mode, cval=3)",
        "shift(a, (-1.5, 31), order=order, mode=mode, cval=3)",
        "shift(a, 1, order=order, mode=mode)",
        "spline_filter1d(a, order, 0, mode=mode)",
    ):
        check(scipy.ndimage, ndimage, f"m.{text}", 1e-11, a=a, b=b, c=on_matrix, d=on_row, order=order, mode=mode)
    if order == 3:
        check(scipy.ndimage, ndimage, "m.spline_filter(a, mode=mode)", 1e-11, a=a, mode=mode)


def test_splines_go_through_their_elements() -> None:
    for length in (2, 3, 7):
        x = np.random.default_rng(3).random(length)
        for mode in SPLINE_EDGES:
            if mode in ("nearest", "grid-constant"):
                continue
            found = ndimage.map_coordinates(weft.asarray(x), weft.arange(float(length))[None], mode=mode)
            np.testing.assert_allclose(weft.asnumpy(found), x, rtol=1e-12, atol=1e-12)


def test_coordinates_that_lead_nowhere() -> None:
    places = weft.asarray([[np.nan, np.inf, -np.inf, 1e300, -1e18, 1.0], [1.0] * 6])
    for mode in SPLINE_EDGES:
        for order in (0, 1, 3):
            found = ndimage.map_coordinates(weft.asarray(pictures("float64")[0]), places, order=order, mode=mode, cval=-1)
            assert np.isfinite(float(found[5])) and np.isnan(float(found[0]))
    assert ndimage.map_coordinates(weft.ones(3), places[:1, 1:3], mode="constant", cval=-1).tolist() == [-1, -1]


def test_errors() -> None:
    x = pictures("float64")[0]
    for text in (
        "correlate1d(a, [])",
        "correlate1d(a, [1, 2], origin=2)",
        "correlate1d(a, [1, 2], axis=2)",
        "correlate1d(a, [1, 2], mode='none')",
        "correlate(a, [1, 2])",
        "correlate(a, np.ones((2, 2)), origin=2)",
        "correlate(a, np.ones((2, 2)), mode=('wrap', 'wrap'))",
        "gaussian_filter(a, (1, 2, 3))",
        "gaussian_filter(a, 1, order=-1)",
        "gaussian_filter1d(a, 1, radius=-1)",
        "uniform_filter1d(a, 0)",
        "median_filter(a)",
        "median_filter(a * 1j, 3)",
        "rank_filter(a, 9, 3)",
        "percentile_filter(a, 101, 3)",
        "maximum_filter(a)",
        "maximum_filter(a, footprint=np.zeros((2, 2)))",
        "map_coordinates(a, np.zeros((3, 2)))",
        "map_coordinates(a, np.zeros(2))",
        "zoom(a, 2, order=6)",
        "zoom(a, (1, 2, 3))",
        "shift(a, 1, mode='none')",
        "spline_filter(a, 1)",
    ):
        check(scipy.ndimage, ndimage, f"m.{text}", a=x)
    for text in ("zoom", "shift", "spline_filter"):
        with pytest.raises(UnsupportedError, match="order 0, 1 and 3"):
            getattr(ndimage, text)(weft.asarray(x), **({"order": 2} if text == "spline_filter" else {text: 1.5, "order": 4}))


@pytest.mark.parametrize("name", ndimage.__all__)
def test_examples(name: str) -> None:
    examples(getattr(ndimage, name), name)

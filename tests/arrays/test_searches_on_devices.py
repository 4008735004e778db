"""Subscripts, gathers, searches, sets, counts and quantiles on devices against NumPy, and how many syncs each takes."""

from __future__ import annotations

import itertools
import warnings

import ml_dtypes
import numpy as np
import pytest

import weft
from weft._weft import _from_numpy, _to_numpy

from .on_devices import DTYPES, SMALL, has, numbers, on_gpus, plain, same, syncs

I4, F4 = np.dtype(np.int32), np.dtype(np.float32)


def run(text, device, exact=True, count=None, **given):
    """An expression gives on the device what it gives in NumPy, and takes so many syncs."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        theirs = eval(text, {"xp": np, "np": np, **given})
        arrays = {name: weft.asarray(value) if isinstance(value, np.ndarray) else value for name, value in given.items()}
        weft.eval(*(each for each in arrays.values() if isinstance(each, weft.ndarray)))
        work = lambda: eval(text, {"xp": weft, "np": np, **arrays})  # noqa: E731
        ours = work() if count is None else syncs(work, count)
    if exact:
        same(ours, theirs, device)
        return
    pairs = zip(ours, theirs) if isinstance(theirs, tuple) else ((ours, theirs),)
    for one, other in pairs:
        assert one.dtype == other.dtype and one.device == device
        np.testing.assert_allclose(_to_numpy(one), other, rtol=1e-12 if other.dtype == np.float64 else 2e-5)


ALL_INTEGERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]


@on_gpus
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_selected_elements_have_their_bits(device, dtype):
    if not has(device, dtype):
        pytest.skip("not on this device")
    host = numbers((700, 7), dtype)
    mask = np.random.default_rng(1).integers(0, 3, host.shape) == 0
    at = np.random.default_rng(2).integers(-700, 700, 900).astype(np.int32)
    x, m, i = weft.asarray(host), weft.asarray(mask), weft.asarray(at)
    for work, theirs in (
        (lambda: x[m], host[mask]),
        (lambda: x[m[:, 0]], host[mask[:, 0]]),
        (lambda: x[i], host[at]),
        (lambda: x[::-1, 1:][i, ::2], host[::-1, 1:][at, ::2]),
        (lambda: x[i, 3], host[at, 3]),
        (lambda: weft.take(x, i[:50], 0), host.take(at[:50], 0)),
        (lambda: weft.compress(m[0], x, 1), host.compress(mask[0], 1)),
    ):
        found = _to_numpy(syncs(work, 1))
        assert found.dtype == dtype and found.tobytes() == theirs.tobytes()
    for key, ours in ((mask, m), (at, i), ((slice(None, None, -1), np.array([1, 1, 3])), None), ((at % 5, slice(2)), None)):
        selected = host[key]
        values = numbers(selected.shape, dtype, 9)
        mine, copy = weft.asarray(host), host.copy()
        copy[key] = values
        mine[ours if ours is not None else key] = weft.asarray(values)
        assert _to_numpy(mine).tobytes() == copy.tobytes()


@on_gpus
def test_assignments(device):
    host = np.arange(60, dtype=np.float32).reshape(6, 10)
    mask = host % 3 == 0

    def both(change):
        ours, theirs = weft.asarray(host), host.copy()
        change(ours, weft)
        change(theirs, np)
        same(ours, theirs, device)

    both(lambda x, xp: x.__setitem__([0, 0, 2], xp.asarray([1, 2, 3], dtype=np.float32)[:, None]))
    both(lambda x, xp: x.__setitem__(([5, 5, 5], [1, 1, 1]), xp.asarray([7, 8, 9], dtype=np.float32)))
    both(lambda x, xp: x[1::2].__setitem__((slice(None), [3, 4]), -1))
    both(lambda x, xp: x.T.__setitem__([1, 2], x.T[[2, 1]]))
    both(lambda x, xp: x[0].__setitem__([0, 1, 2], x[0, 1:4]))
    both(lambda x, xp: x.__setitem__(xp.asarray(mask), xp.arange(20, dtype=np.float32)))
    both(lambda x, xp: x.__setitem__((slice(None), xp.asarray(mask[0])), 5))
    both(lambda x, xp: xp.put(x, [3, -1, 3], [1, 2, 4]))
    both(lambda x, xp: xp.put(x, [100, 1], 8, mode="wrap"))
    both(lambda x, xp: xp.place(x, xp.asarray(mask), [1, 2, 3]))
    both(lambda x, xp: xp.put_along_axis(x, xp.asarray(np.array([[1], [0], [3], [3], [3], [9]])), 77, 1) if device.int64 else None)
    for wrong in ((lambda x: x.__setitem__([6], 1)), lambda x: x[[0, -7]], lambda x: weft.take(x, [10], 1), lambda x: weft.put(x, [60], 1)):
        mine = weft.asarray(host)
        with pytest.raises(IndexError, match="out of bounds"):
            wrong(mine)
        same(mine, host, device)
    same(syncs(lambda: weft.take(weft.asarray(host), [1, -1], 1), 0), host[:, [1, -1]], device)
    same(syncs(lambda: weft.asarray(host)[:, [1, -1]], 0), host[:, [1, -1]], device)
    with pytest.raises(ValueError, match="cannot assign 3 input values to the 20 output"):
        weft.asarray(host)[weft.asarray(mask)] = weft.asarray(np.arange(3, dtype=np.float32))
    with pytest.raises(ValueError, match="shape mismatch"):
        weft.asarray(host)[[0, 1]] = weft.asarray(np.arange(3, dtype=np.float32))


@on_gpus
@pytest.mark.parametrize("name", ["float32", "int32", "bool", "complex64", "float64", "uint8"])
def test_updates_of_elements_named_several_times(device, name):
    dtype = np.dtype(name)
    if not has(device, dtype) or (device.kind != "cuda" and name not in ("float32", "int32")):
        pytest.skip("not on this device")
    source = np.random.default_rng(6)
    at, row = source.integers(-20, 20, 3000).astype(np.int32), np.abs(source.standard_normal(3000) * 3).astype(dtype)
    # A subscript, values, and how many syncs its mask takes.
    every = [((slice(None), at), row, 0), ((1, at[:50]), row[3], 0), ((slice(1, 2), at[:20] > 0), row[:1], 1), (at[:0], row[:0, None], 0)]
    for function in ("add", "subtract", "multiply", "maximum"):
        if (function == "subtract" and dtype.kind == "b") or (function == "maximum" and dtype.kind == "c"):
            continue
        for key, values, count in every:
            theirs = np.ones((3, 20), dtype)
            ours = weft.asarray(theirs)
            # A view that lies the other way around, too.
            theirs, ours = (theirs[::-1], ours[::-1]) if function == "add" else (theirs, ours)
            with np.errstate(all="ignore"):
                getattr(np, function).at(theirs, key, values)

            def work():
                getattr(weft, function).at(ours, key, weft.asarray(values))  # noqa: B023
                return ours  # noqa: B023

            same(syncs(work, count), theirs, device)
    with pytest.raises(IndexError, match="out of bounds"):
        weft.add.at(weft.zeros(3, dtype=np.float32), [3], 1)


@on_gpus
@pytest.mark.parametrize("dtype", ALL_INTEGERS)
def test_updates_by_integers_of_pythons(device, dtype):
    """At the ends of the range: NumPy computes with them in 64 bits, and beside uint64 in float64."""
    if not has(device, np.dtype(dtype)):
        return
    ends = np.iinfo(dtype)
    # A float that uint64 does not hold becomes what the processor makes of it.
    at, values = (ends.max, (1, 3, -1, ends.max)) if dtype != "u8" else (2**60 + 2, (1, 3))
    for value in values:
        for name in ("add", "subtract", "multiply", "maximum"):
            theirs = np.array([ends.min if dtype != "u8" else 9, at - 1, at, 5], dtype)
            ours = weft.asarray(theirs)
            with np.errstate(all="ignore"):
                getattr(np, name).at(theirs, [1, 1, 2, 1, 0], value)
            getattr(weft, name).at(ours, [1, 1, 2, 1, 0], value)
            same(ours, theirs, device)


@on_gpus
@pytest.mark.parametrize("name", ["int32", "float32", "bool", "int8", "uint64", "float64"])
def test_updates_of_few_elements_named_very_often(device, name):
    """Values are combined in groups where that gives the same bits: runs begin and end anywhere in them."""
    dtype = np.dtype(name)
    if not has(device, dtype) or (device.kind != "cuda" and name not in ("float32", "int32")):
        pytest.skip("not on this device")
    whole = ("add", "subtract", "multiply", "minimum")
    functions = {"b": ("add", "logical_xor"), "f": ("maximum", "fmin", "subtract")}.get(dtype.kind, whole)
    for count, distinct in [(257, 1), (3000, 1), (1024, 2), (9000, 3), (9000, 300)]:
        source = np.random.default_rng(count + distinct)
        at = source.integers(0, distinct, count).astype(np.int32)
        for values in (numbers(count, dtype, count), numbers(1, dtype, 5)[0]):
            for function in functions:
                theirs = numbers(distinct + 1, dtype)
                ours = weft.asarray(theirs.copy())
                with np.errstate(all="ignore"):
                    getattr(np, function).at(theirs, at, values)
                getattr(weft, function).at(ours, at, weft.asarray(values))
                same(ours, theirs, device)


@on_gpus
@pytest.mark.parametrize("name", ["int32", "float32", "float64", "uint8", "complex64", "float16"])
def test_updates_by_elements_of_the_target(device, name):
    """They are what stood there before."""
    dtype = np.dtype(name)
    if not has(device, dtype) or (device.kind != "cuda" and name not in ("float32", "int32")):
        pytest.skip("not on this device")
    at = np.array([0, 0, 1, 2, 0] * 100, np.int32)
    # A subscript, and a view of the target for values.
    cases = [
        (at, lambda t: t[:1, 0]),
        (at, lambda t: t[:1]),
        (at, lambda t: t[1]),
        (at[:9], lambda t: t[0, 0]),
        ((slice(None), at[:20] % 2), lambda t: t[:, :1]),
        ((at, at % 3), lambda t: t[1, 2]),
        ((at[:12].reshape(3, 4),), lambda t: t[2:5, None, ::-1]),
        (at[:6], lambda t: t[::-1, ::-1]),
    ]
    for function in ("add", "subtract") if dtype.kind == "c" else ("add", "subtract", "multiply", "maximum", "fmin"):
        for key, view in cases:
            for turn in (lambda t: t, lambda t: t[::-1, ::-1]):
                host = (np.arange(24) % 5 + 1).astype(dtype).reshape(6, 4)
                theirs, ours = turn(host.copy()), turn(weft.asarray(host))
                with np.errstate(all="ignore"):
                    getattr(np, function).at(theirs, key, view(theirs))
                getattr(weft, function).at(ours, key, view(ours))
                same(ours, theirs, device)


@on_gpus
def test_arrays_elsewhere_say_where(device):
    host = np.arange(40, dtype=np.int32)
    x = weft.asarray(host)
    with weft.device("cpu"):
        at, mask = weft.asarray(np.array([3, -3], np.int32)), weft.asarray(host % 2 == 0)
        same(x[at], host[[3, -3]], device)
        same(x[mask], host[::2], device)
        same(weft.take(x, [1, 2]), host[1:3], device)
        x[at] = at
    host[[3, -3]] = 3, -3
    same(x, host, device)


@on_gpus
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_searches_and_sets(device, dtype):
    if not has(device, dtype) or not device.int64:
        pytest.skip("not on this device, or its indices are none")
    a, b = numbers((3000,), dtype, 1), numbers((90,), dtype, 2)
    ordered = np.sort(plain(b), kind="stable").astype(dtype)
    for side in ("left", "right"):
        theirs = np.searchsorted(plain(ordered), plain(a), side)
        x, y = weft.asarray(a), weft.asarray(ordered)
        same(syncs(lambda: weft.searchsorted(y, x, side), 0), theirs, device)  # noqa: B023
    if dtype.kind == "V":
        return
    run("xp.isin(a, b)", device, count=0, a=a, b=b)
    run("xp.isin(a, b, invert=True)", device, count=0, a=a.reshape(30, 100), b=b)
    for words in ("", ", equal_nan=False", ", return_counts=True"):
        found = syncs(lambda: weft.unique(x, equal_nan="equal_nan" not in words, return_counts="counts" in words), 1)  # noqa: B023
        theirs = eval(f"np.unique(a{words})", {"np": np, "a": a})
        for one, other in zip(found if isinstance(found, tuple) else (found,), theirs if isinstance(theirs, tuple) else (theirs,)):
            np.testing.assert_array_equal(_to_numpy(one), other)
    run("xp.unique(a, return_index=True, return_inverse=True, return_counts=True)", device, count=1, a=a)
    # With indices NumPy's sort is stable, too.
    run("xp.unique(a, return_index=True, return_inverse=True, equal_nan=False)", device, count=1, a=a.reshape(50, 60))
    for name in ("union1d", "setdiff1d", "setxor1d", "intersect1d"):
        ours, theirs = getattr(weft, name)(x, weft.asarray(b)), getattr(np, name)(a, b)
        np.testing.assert_array_equal(_to_numpy(ours), theirs)
    run("xp.intersect1d(a, b, return_indices=True)", device, a=a, b=b)


@on_gpus
def test_sets_of_few_and_of_parts(device):
    if not device.int64:
        pytest.skip("indices are int64")
    rows = np.random.default_rng(0).integers(0, 2, (50, 3, 2)).astype(np.float32)
    words = "return_index=True, return_inverse=True, return_counts=True"
    for axis in range(3):
        run(f"xp.unique(a, axis={axis}, {words})", device, count=1, a=rows)
    none = np.zeros(0, np.int32)
    for text in ("unique(a)", f"unique(a, {words})", "setxor1d(a, a)", "isin(a, a)", "isin(b, a)", "nonzero(a)", "searchsorted(a, b)"):
        run(f"xp.{text}", device, a=none, b=np.arange(3, dtype=np.int32))
    holes = np.random.default_rng(1).integers(0, 3, (40, 50, 3)) % 2
    run("xp.nonzero(a)", device, count=1, a=holes)
    run("xp.argwhere(a)", device, count=1, a=holes)
    run("xp.flatnonzero(a)", device, count=1, a=holes[0, 0, :1] * 0)
    run("xp.take_along_axis(a, xp.argsort(a, 1), 1)", device, a=rows)
    run("xp.repeat(a, n, 0)", device, count=1, a=rows, n=np.arange(50) % 4)
    run("xp.searchsorted(a, b, sorter=xp.argsort(a))", device, a=rows[:, 0, 0], b=rows[:9, 1, 1])
    run("xp.digitize(a, xp.asarray(np.array([0.5, 0.2], 'f4')), right=True)", device, count=1, a=rows)
    with pytest.raises(ValueError, match="monotonic"):
        weft.digitize(weft.asarray(rows), weft.asarray(np.array([1, 3, 2], np.float32)))


@on_gpus
def test_edges_that_are_nan(device):
    """Every order of few edges. Of such as NumPy searches although NaN is between them nothing is promised."""
    if not device.int64:
        pytest.skip("indices are int64")
    x = np.array([5, 1, np.nan, 2, np.inf], np.float32)
    for n in range(4):
        for edges in itertools.product((np.nan, 1, 3), repeat=n):
            edges = np.array(edges, np.float32)
            lost = np.isnan(edges)
            if lost.any() and not lost.all() and not lost[0]:
                continue
            if lost.any() and not (np.diff(edges[lost.sum() :]) <= 0).all():
                continue
            for right in (False, True):
                try:
                    np.digitize(x, edges, right)
                except ValueError:
                    with pytest.raises(ValueError, match="monotonic"):
                        weft.digitize(weft.asarray(x), weft.asarray(edges), right)
                else:
                    run(f"xp.digitize(x, e, {right})", device, x=x, e=edges)


@on_gpus
def test_counts(device):
    if not device.float64:
        pytest.skip("counts are int64, and sums float64")
    source = np.random.default_rng(3)
    for n, most in ((0, 3), (1, 1), (5000, 7), (5000, 4000), (9000, 100)):
        x = source.integers(0, most, n)
        run("xp.bincount(x)", device, count=1 if n else 0, x=x)
        run("xp.bincount(x, minlength=50)", device, x=x.astype(np.uint8 if most < 256 else np.int16))
        if n:
            run("xp.bincount(x, w)", device, n <= 64 * most, count=1, x=x, w=source.standard_normal(n))
    x = weft.asarray(x)
    weights = weft.asarray(source.standard_normal(9000))
    assert _to_numpy(weft.bincount(x, weights)).tobytes() == _to_numpy(weft.bincount(x, weights)).tobytes()
    run("xp.bincount(x)", device, x=np.array([True, False, True]))
    with pytest.raises(ValueError, match="must have no negative"):
        weft.bincount(weft.asarray([1, -1]))
    for dtype in (np.float64, np.float32, np.int32, np.uint8):
        a = (source.standard_normal(3000) * 40).astype(dtype)
        edges = np.sort(a[:20])
        for text in ("a, 7", "a, 10, (-10, 30)", "a, e", "a, 5, density=True", "a, 5, weights=w", "a, e, weights=i"):
            run(f"xp.histogram({text})", device, "density" not in text and "w)" not in text + ")", a=a, e=edges, w=a / 8, i=np.arange(3000))
        run("xp.histogram_bin_edges(a, 9)", device, count=1, a=a)
    run("xp.histogram(a, 4)", device, a=np.array([1.0, np.nan])[:1])
    points = source.standard_normal((500, 2))
    ours = weft.histogramdd(weft.asarray(points), bins=(3, 4), range=((-2, 2), (-1, 1)))
    theirs = np.histogramdd(points, bins=(3, 4), range=((-2, 2), (-1, 1)))
    same(ours[0], theirs[0], device)


@on_gpus
@pytest.mark.parametrize("name", ["float32", "float16", "float64", "int8", "int32", "uint8", "bool"])
def test_quantiles(device, name):
    dtype = np.dtype(name)
    if not device.float64 or not has(device, dtype) or (device.kind != "cuda" and name != "float32"):
        pytest.skip("quantiles are float64")
    for shape, lost in (((6, 41), False), ((3, 1030), False), ((6, 40), True), ((1, 1), False)):
        a = (np.random.default_rng(2).integers(0, 90, shape) / 4).astype(dtype)
        if lost and dtype.kind == "f":
            a[2, 3] = np.nan
            a[4] = np.nan
        for axis in (0, 1, None, (0, 1)):
            run(f"xp.median(a, {axis})", device, count=0, a=a)
            run(f"xp.nanmedian(a, {axis}, keepdims=True)", device, count=0, a=a)
        if name == "bool":
            continue
        for method in ("linear", "hazen", "nearest", "inverted_cdf", "midpoint", "averaged_inverted_cdf"):
            run(f"xp.percentile(a, 30, axis=1, method='{method}')", device, a=a)
            run(f"xp.nanpercentile(a, 30, axis=1, method='{method}')", device, a=a)
        run("xp.quantile(a, [0, 0.25, 0.5, 1.0], axis=0)", device, a=a)
        run("xp.quantile(a, 0.3)", device, count=0, a=a)
        run("xp.nanquantile(a, [0, 0.25, 1.0], axis=0)", device, count=0, a=a)
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        weft.quantile(weft.asarray(np.arange(3)), 1.5)


@on_gpus
def test_lines_through_points(device):
    if not device.float64:
        pytest.skip("heights are float64")
    source = np.random.default_rng(4)
    xp, fp, x = np.sort(source.standard_normal(300)), source.standard_normal(300), source.standard_normal((20, 30)) * 2
    xp[40] = xp[41]
    fp[[50, 51]] = np.inf
    x[0, :3] = np.nan, np.inf, -np.inf
    x[1] = xp[:30]
    for words in ("", ", left=-5", ", left=1, right=2.5", ", period=1.5"):
        run(f"xp.interp(x, p, f{words})", device, count=0, x=x, p=xp, f=fp)
    run("xp.interp(x, p, f, right=1j)", device, count=0, x=x, p=xp, f=fp[:] * 0.25 + 1j * np.arange(300))
    run("xp.interp(x, p, f)", device, count=0, x=x, p=xp[:1], f=fp[:1])
    run("xp.interp(x, p, f)", device, count=0, x=x[:0], p=xp, f=fp)


@on_gpus
def test_captured(device):
    @weft.compile
    def captured(x, at):
        x[at] = x[at + 1] * 2
        return weft.take(x, at, 0, mode="wrap") + 1

    for n in (5, 300, 5):
        host = np.random.default_rng(n).integers(-9, 9, (n, 2)).astype(np.float32)
        at = np.array([0, 2, n - 2, 0], np.int32)
        theirs = host.copy()
        theirs[at] = theirs[at + 1] * 2
        ours = weft.asarray(host)
        same(captured(ours, weft.asarray(at)), theirs[at] + 1, device)
        same(ours, theirs, device)


def test_bfloat16_is_no_kind_of_number_to_numpy(device):
    x = weft.asarray(np.array([3, 1, 1], ml_dtypes.bfloat16))
    assert _to_numpy(weft.unique(x).astype(F4)).tolist() == [1, 3]
    assert _to_numpy(weft.isin(x, x[:1])).tolist() == [True, False, False]


@pytest.mark.skipif(not SMALL, reason="there is no GPU without float64")
def test_what_a_device_lacks():
    there = weft.device(SMALL[0])
    x = _from_numpy(np.array([3, 0, 5], I4), there)
    same(x[x > 0], np.array([3, 5], I4), there)
    same(x[[-1, 0]], np.array([5, 3], I4), there)
    same(weft.unique(x), np.array([0, 3, 5], I4), there)
    same(weft.isin(x, x[1:]), np.array([False, True, True]), there)
    with pytest.raises(IndexError, match="out of bounds"):
        x[np.array([2**32])]
    for wrong in (lambda: weft.nonzero(x), lambda: weft.searchsorted(x, x), lambda: weft.unique(x, return_index=True)):
        with pytest.raises(weft.errors.UnsupportedError, match="int64"):
            wrong()

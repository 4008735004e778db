"""`reduceat`, and folds and accumulations of operations that go from one element to the next, on devices: as on the CPU, without a sync."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from weft._weft import _to_numpy
from weft.kernels import runs

from .on_devices import has, numbers, on_gpus, plain, same, syncs

SHAPES = [((1,), 0), ((700,), 0), ((2500, 2), 0), ((3, 40), 1), ((3, 700, 5), 1), ((2, 600, 40), -2), ((0, 3), 1), ((3, 2, 0), 1)]


def starts_of(n: int) -> list[list[int]]:
    """Places in order, backwards, named twice, none; short runs and long ones."""
    source = np.random.default_rng(n)
    return [[0], [0, n // 2], [n - 1, 0, n // 3, n // 3, n - 1], [], sorted(source.integers(0, n, 40)), list(source.integers(0, n, 40))]


def by_cpu(work):
    """What work gives with arrays on the CPU."""
    with weft.device("cpu"):
        return _to_numpy(work())


@on_gpus
@pytest.mark.parametrize(
    "name", ["int32", "float32", "bool", "int8", "uint64", "float64", "complex64", "complex128", "float16", "bfloat16"]
)
def test_reduceat(device, name):
    dtype = np.dtype(weft.bfloat16 if name == "bfloat16" else name)
    if not has(device, dtype) or (device.kind != "cuda" and name not in ("int32", "float32")):
        pytest.skip("not on this device")
    functions = {"b": ["add", "logical_and"], "c": ["add", "multiply"]}.get(dtype.kind, ["add", "maximum", "multiply", "subtract"])
    functions += ["bitwise_xor", "gcd"] if dtype.kind in "iu" else ["hypot"] if dtype.kind == "f" else []
    for shape, axis in SHAPES[:] if device.kind == "cuda" else SHAPES[1:6:2]:
        host = numbers(shape, dtype, 3)
        if dtype.kind == "f" and dtype.itemsize < 4:
            host = np.nan_to_num(host, posinf=1, neginf=1)
        for starts in starts_of(shape[axis]):
            for function in functions:
                given = None if device.int64 else dtype
                with np.errstate(all="ignore"):
                    theirs = by_cpu(lambda: getattr(weft, function).reduceat(weft.asarray(host), starts, axis, dtype=given))  # noqa: B023
                    if dtype.kind in "biu":
                        np.testing.assert_array_equal(
                            theirs, getattr(np, function).reduceat(host, np.array(starts, int), axis, dtype=given)
                        )
                x = weft.asarray(host)
                same(syncs(lambda: getattr(weft, function).reduceat(x, starts, axis, dtype=given), 0), theirs, device)  # noqa: B023


@on_gpus
def test_reduceat_of_views_and_into_arrays(device):
    host = np.arange(24 * 50, dtype=np.int32).reshape(24, 50)
    x, out = weft.asarray(host), weft.zeros((3, 25), np.int32)
    for view in (lambda a: a.T, lambda a: a[::-1, ::2], lambda a: a[3:, 1:7]):
        for axis in (0, 1):
            same(weft.bitwise_xor.reduceat(view(x), [2, 0, 5], axis), np.bitwise_xor.reduceat(view(host), [2, 0, 5], axis), device)
    given = weft.maximum.reduceat(x[:, ::2], [0, 5, 9], out=out)
    assert given is out
    same(out, np.maximum.reduceat(host[:, ::2], [0, 5, 9]), device)
    with pytest.raises(IndexError, match=r"index 24 out-of-bounds in add.reduceat \[0, 24\)"):
        weft.add.reduceat(x, [0, 24])
    same(weft.maximum.reduceat(x, weft.asarray(np.array([0, 3], np.int32))), np.maximum.reduceat(host, [0, 3]), device)


def zeros_of_both_signs(shape, dtype, seed, function):
    """Few zeros, which are the extremes."""
    source = np.random.default_rng(seed)
    other = -1 if function in ("maximum", "fmax") else 1
    return np.where(source.random(shape) < 0.02, source.choice([0.0, -0.0], shape), other).astype(dtype)


@on_gpus
@pytest.mark.parametrize("name", ["float32", "float64", "float16", "bfloat16"])
def test_extremes_are_the_zeros_of_the_cpu(device, name):
    """In long runs, and in rows of several tiles."""
    dtype = np.dtype(weft.bfloat16 if name == "bfloat16" else name)
    if not has(device, dtype) or (device.kind != "cuda" and name != "float32"):
        pytest.skip("not on this device")
    for function in ("maximum", "minimum", "fmax", "fmin"):
        for shape, axis in [((512,), 0), ((5001,), 0), ((3, 700), 1), ((700, 3), 0), ((2, 600, 8), 1), ((600, 40), 0)]:
            for seed in range(3):
                host = zeros_of_both_signs(shape, dtype, seed, function)
                for starts in ([0], [1, 300], [7, 0, 290]):
                    work = lambda: getattr(weft, function).reduceat(weft.asarray(host), starts, axis)  # noqa: B023, E731
                    same(syncs(work, 0), by_cpu(work), device)
        for shape, axis in [((2049,), 0), ((5000,), 0), ((2, 4500), 1), ((4500, 2), 0), ((20, 2), 0), ((70,), 0)]:
            host = zeros_of_both_signs(shape, dtype, 5, function)
            work = lambda: getattr(weft, function).accumulate(weft.asarray(host), axis)  # noqa: B023, E731
            same(syncs(work, 0), by_cpu(work), device)
        host = zeros_of_both_signs(3000, dtype, 6, function)
        at = np.sort(np.random.default_rng(7).integers(0, 4, 3000)).astype(np.int32)

        def work():
            found = weft.full(4, host[host != 0][0], dtype=dtype)  # noqa: B023
            getattr(weft, function).at(found, at, weft.asarray(host))  # noqa: B023
            return found

        same(work(), by_cpu(work), device)


@on_gpus
def test_long_runs_of_every_length(device):
    """Warps without elements, and such as are half full, of lines side by side."""
    source = np.random.default_rng(8)
    for length in (257, 260, 263, 264, 289, 511, 1027):
        for inner in (1, 2, 3, 7, 33):
            host = source.integers(-(2**31), 2**31, (length + 5, inner)).astype(np.int32)
            for function in ("add", "minimum"):
                theirs = getattr(np, function).reduceat(host, [5, 3], 0, dtype=np.int32)
                same(getattr(weft, function).reduceat(weft.asarray(host), [5, 3], 0, dtype=np.int32), theirs, device)


@on_gpus
def test_few_long_runs_of_rounded_sums_are_the_hosts(device):
    host = np.random.default_rng(1).standard_normal(10_000).astype(np.float32)
    same(
        syncs(lambda: weft.add.reduceat(weft.asarray(host), [0, 9]), 1),
        by_cpu(lambda: weft.add.reduceat(weft.asarray(host), [0, 9])),
        device,
    )
    whole = host.view(np.int32)
    same(syncs(lambda: weft.maximum.reduceat(weft.asarray(whole), [0, 9]), 0), np.maximum.reduceat(whole, [0, 9]), device)


@on_gpus
@pytest.mark.parametrize("name", ["int32", "float32", "bool", "uint8", "int64", "float64", "complex128", "float16", "bfloat16"])
def test_operations_from_one_element_to_the_next(device, name, monkeypatch):
    monkeypatch.setattr(runs, "MANY", 6)
    dtype = np.dtype(weft.bfloat16 if name == "bfloat16" else name)
    if not has(device, dtype) or (device.kind != "cuda" and name not in ("int32", "float32")):
        pytest.skip("not on this device")
    letters = {"b": ["not_equal", "less_equal"], "i": ["subtract", "gcd", "right_shift"], "u": ["subtract", "floor_divide"]}
    functions = letters.get(dtype.kind, ["subtract", "true_divide"] + ([] if dtype.kind == "c" else ["hypot", "copysign"]))
    for shape, axis in [((9, 7), 0), ((9, 7), 1), ((2, 5, 4), 1), ((8, 1), 1)]:
        host = numbers(shape, dtype, 2)
        for function in functions:
            x = weft.asarray(host)
            for method, more in (
                ("accumulate", {}),
                ("reduce", {}),
                ("reduce", {"initial": dtype.type(1)}),
                ("reduce", {"keepdims": True}),
            ):
                if method == "reduce" and function == "less_equal":
                    continue
                work = lambda x: getattr(getattr(weft, function), method)(x, axis=axis, **more)  # noqa: B023, E731
                with np.errstate(all="ignore"):
                    theirs = by_cpu(lambda: work(weft.asarray(host)))  # noqa: B023
                    if dtype.kind in "biu":
                        numpys = getattr(getattr(np, function), method)(plain(host), axis=axis, **more)
                        np.testing.assert_array_equal(theirs, numpys)
                    if method == "accumulate":
                        same(syncs(lambda: work(x), 0), theirs, device)  # noqa: B023
                    same(syncs(lambda: work(x.T.copy().T) if x.ndim == 2 else work(x), 0), theirs, device)  # noqa: B023


@on_gpus
def test_folds_along_several_axes(device, monkeypatch):
    monkeypatch.setattr(runs, "MANY", 4)
    host = np.random.default_rng(3).integers(1, 2**12, (4, 3, 5, 6)).astype(np.int32) * 12
    x = weft.asarray(host)
    for axis in ((0, 1), (3, 1), (2, 0)):
        for keeps in (False, True):
            same(syncs(lambda: weft.gcd.reduce(x, axis=axis, keepdims=keeps), 0), np.gcd.reduce(host, axis=axis, keepdims=keeps), device)  # noqa: B023
            turned = syncs(lambda: weft.gcd.reduce(x.T, axis=axis, keepdims=keeps), 0)  # noqa: B023
            same(turned, np.gcd.reduce(host.T, axis=axis, keepdims=keeps), device)


@on_gpus
def test_in_captured_graphs(device):
    host = np.random.default_rng(4).integers(0, 100, (30, 40)).astype(np.int32)

    @weft.compile
    def captured(x):
        return weft.maximum.reduceat(x + 1, [0, 7], axis=0), weft.minimum.reduceat(x, [3], axis=1)

    for _ in range(3):
        same(captured(weft.asarray(host)), (np.maximum.reduceat(host + 1, [0, 7]), np.minimum.reduceat(host, [3], axis=1)), device)

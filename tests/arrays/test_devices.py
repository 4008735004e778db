"""Arrays on every device that is present: every primitive against NumPy, operands of different devices, what devices lack, and memory."""

from __future__ import annotations

import ctypes
import threading

import ml_dtypes
import numpy as np
import pytest

import weft
from weft import _weft, cuda
from weft._weft import _arg, _assign, _bits, _fold, _from_numpy, _full, _iota, _part, _select, _strided, _to_device, _to_numpy, _ufunc

DTYPES = [*(np.dtype(letter) for letter in "?bBhHiIlLefdFD"), np.dtype(ml_dtypes.bfloat16)]
SMALL = [one.name for one in weft.devices() if not one.float64 and not one.int64][:1]
OTHERS = [one.name for one in weft.devices() if one.kind != "cpu" and one.float64]
on_cuda = pytest.mark.skipif("cuda:0" not in OTHERS, reason="needs a CUDA device, or its double: WEFT_CUDA_DRIVER=double")
FOLDS = ["add", "multiply", "maximum", "minimum", "fmax", "fmin", "logical_and", "logical_or", "bitwise_and", "bitwise_or", "bitwise_xor"]


def numbers(shape, dtype, seed=0):
    """Numbers of a dtype, none large, some of them the same."""
    source = np.random.default_rng(seed)
    if dtype.kind == "b":
        return source.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        return source.integers(0 if dtype.kind == "u" else -9, 10, shape).astype(dtype)
    found = (source.integers(-40, 40, shape) / 8).astype(dtype)
    return found + (1j * source.integers(-9, 9, shape)).astype(dtype) if dtype.kind == "c" else found


def same(ours, theirs, device):
    """An array on the device, of the elements of NumPy's, bit for bit but for NaNs."""
    assert ours.device == device
    host, theirs = _to_numpy(ours), np.asarray(theirs)
    assert host.dtype == theirs.dtype and host.shape == theirs.shape
    wide = (lambda x: x.astype(np.float32)) if theirs.dtype.name in ("bfloat16", "float16") else (lambda x: x)
    np.testing.assert_array_equal(wide(host), wide(theirs))


def without_detours(work):
    """What a function gives that is not to go by way of the host."""
    before = _weft._sync_count()
    found = work()
    weft.eval(found)
    assert _weft._sync_count() == before
    return found


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_arrays_come_and_go(device, dtype):
    for shape in [(), (7,), (0,), (3, 5), (2, 0, 3)]:
        given = numbers(shape, dtype)
        same(_from_numpy(given, device), given, device)
        same(weft.asarray(given).to("cpu").to(device), given, device)
    same(_from_numpy(np.asfortranarray(numbers((4, 3), dtype)), device), numbers((4, 3), dtype), device)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_numbers_are_made_where_they_are(device, dtype):
    same(without_detours(lambda: _full((3, 4), 1, dtype, device)), np.ones((3, 4), dtype), device)
    if dtype.kind != "b":
        wide = np.float32 if dtype.itemsize == 2 and dtype.kind not in "iu" else dtype
        theirs = (np.arange(300) * np.asarray(3, wide) + np.asarray(2, wide)).astype(wide).astype(dtype)
        ours = without_detours(lambda: _iota(300, 2, 3, dtype, device))
        same(ours, theirs, device)
        same(without_detours(lambda: ours[5::7] + ours[1:44]), theirs[5::7] + theirs[1:44], device)
        rows = _iota(300, 2, 3, dtype, device)[::-2][:, None]
        columns = _iota(5, 1, 1, dtype, device)
        right = (np.arange(5) * np.asarray(1, wide) + np.asarray(1, wide)).astype(wide).astype(dtype)
        same(without_detours(lambda: rows + columns), theirs[::-2][:, None] + right, device)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_maps_views_and_broadcasts(device, dtype):
    a, b = numbers((6, 5), dtype, 1), numbers((5,), dtype, 2)
    x, y = _from_numpy(a, device), _from_numpy(b, device)
    same(without_detours(lambda: x * y), a * b, device)
    same(without_detours(lambda: (x + y)[::-2, 1:4].T), (a + b)[::-2, 1:4].T, device)
    same(without_detours(lambda: x == y), a == b, device)
    same(without_detours(lambda: _select(x == y, x, y)), np.where(a == b, a, b), device)
    same(without_detours(lambda: weft.reshape(x.T, (10, 3))), a.T.reshape(10, 3), device)
    if dtype.kind != "c":
        for to in DTYPES:
            if not (dtype.kind == "f" and to.kind == "u"):
                same(without_detours(lambda to=to: x.astype(to)), a.astype(to), device)


def test_pairs_of_results(device):
    a, b = numbers((50,), np.dtype("i8")), numbers((50,), np.dtype("i8"), 1) | 1
    for ours, theirs in zip(_ufunc("divmod", (_from_numpy(a, device), _from_numpy(b, device))), np.divmod(a, b)):
        same(without_detours(lambda ours=ours: ours), theirs, device)


def test_other_ways_to_look_at_memory(device):
    z = numbers((4, 6), np.dtype("D"))
    x = _from_numpy(z, device)
    same(_part(x, "imag") * 2, z.imag * 2, device)
    same(_strided(x, (3, 2), (16, 96), 32), np.lib.stride_tricks.as_strided(z.ravel()[2:], (3, 2), (16, 96)), device)
    same(_bits(x, np.dtype("i8")) ^ 5, z.view("i8") ^ 5, device)


def test_elements_at_odd_places_go_by_way_of_the_host_and_are_counted(device):
    a = np.arange(33, dtype=np.int8)
    x = _from_numpy(a, device)
    odd = _bits(x[1:], np.dtype("f8"))
    before = _weft._sync_count()
    same(odd.view(np.int64) + 1, a[1:].view("i8") + 1, device)
    if device.kind != "cpu":
        assert _weft._sync_count() > before


AXES = [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2), ()]


@pytest.mark.parametrize(("dtype", "axes"), [*((dtype, (0, 2)) for dtype in DTYPES), *((np.dtype("f4"), axes) for axes in AXES)], ids=str)
def test_folds_have_the_bits_of_the_cpu(device, dtype, axes):
    a = numbers((3, 40, 5), dtype)
    if dtype.kind == "f":
        a = np.where(np.random.default_rng(1).integers(0, 90, a.shape) == 0, np.asarray(np.nan, dtype), a)
    here, there = _from_numpy(a, "cpu"), _from_numpy(a, device)
    for name in FOLDS:
        if name.startswith("bitwise") and dtype.kind not in "biu":
            continue
        of = (lambda x: x * 3) if dtype.kind != "b" else (lambda x: ~x)
        for look in (lambda x: x[:, ::-3], of):
            host = name.startswith(("max", "min", "fm")) and dtype.kind == "c"
            ours = _fold(name, look(there), axes) if host else without_detours(lambda: _fold(name, look(there), axes))  # noqa: B023
            same(ours, _to_numpy(_fold(name, look(here), axes)), device)


def test_folds_of_nothing(device):
    x = weft.zeros((0, 3))
    same(_fold("add", x, (0,)), np.zeros(3), device)
    same(_fold("multiply", x, (0, 1)), np.asarray(1.0), device)
    same(_fold("maximum", weft.zeros((3, 0)), (0,)), np.zeros(0), device)
    with pytest.raises(ValueError, match="no identity"):
        _fold("maximum", x, (0,))


@pytest.mark.parametrize("shape", [(100_000,), (3, 70_001), (70_001, 3), (300, 301), (1, 5000), (5000, 1)], ids=str)
def test_long_sums_have_the_bits_of_the_cpu(device, shape):
    for dtype in (np.float32, np.float64, np.complex64, np.float16):
        a = np.random.default_rng(3).standard_normal(shape).astype(dtype)
        for axis in (None, *range(len(shape))):
            theirs = _to_numpy(weft.sum(_from_numpy(a, "cpu"), axis=axis))
            same(without_detours(lambda: weft.sum(_from_numpy(a, device), axis=axis)), theirs, device)  # noqa: B023


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_places_of_extremes(device, dtype):
    a = numbers((40, 7), dtype)
    for name in ("argmax", "argmin"):
        for axis in (0, 1):
            work = lambda: _arg(name, _from_numpy(a, device) + _full((), 0, dtype, device), axis)  # noqa: B023, E731
            same(work() if dtype.kind == "c" else without_detours(work), getattr(np, name)(a, axis=axis), device)
    if dtype.kind == "f":
        a[3, 2] = a[20, 2] = np.nan
        same(_arg("argmin", _from_numpy(a, device), 0), np.argmin(a.astype(np.float32), axis=0), device)


def test_updates(device):
    a = np.arange(60.0).reshape(6, 10)
    x = weft.asarray(a)
    y, view = x + 1, x[1::2]
    view += 10
    x[0] = x[1, ::-1]
    x[2:, 3] = 7
    x[1:] = x[:-1]
    b = a.copy()
    b[1::2] += 10
    b[0] = b[1, ::-1].copy()
    b[2:, 3] = 7
    b[1:] = b[:-1].copy()
    for ours, theirs in ((x, b), (y, a + 1), (view, b[1::2])):
        same(ours, theirs, device)
    _assign(x, np.ones(10, np.int8))
    same(x, np.ones((6, 10)), device)
    x[x > 0] = 4
    same(x, np.full((6, 10), 4.0), device)


def test_library_functions_go_by_way_of_the_host_and_are_counted(device):
    a = numbers((9, 4), np.dtype("f8"))
    x = weft.asarray(a)
    weft.eval(x)
    before = _weft._sync_count()
    same(weft.vander(x[:, 0]), np.vander(a[:, 0]), device)
    assert (_weft._sync_count() > before) == (device.kind != "cpu")


@pytest.mark.parametrize("count", [19, 21, 40, 90])
def test_kernels_of_many_arrays(device, count):
    source = np.random.default_rng(count)
    hosts = [source.normal(size=7 if i % 3 else 1).astype(np.float32) for i in range(count)]
    arrays = [weft.asarray(host) for host in hosts]
    # One after the other, in pairs, and all of them looked at through views.
    chain, chained = arrays[0], hosts[0]
    for array, host in zip(arrays[1:], hosts[1:]):
        chain, chained = chain * 0.5 + array, chained * np.float32(0.5) + host
    same(chain, chained, device)
    tree, added = list(arrays), list(hosts)
    while len(tree) > 1:
        tree = [weft.broadcast_to(a + b, (3, 7))[1] for a, b in zip(tree[::2], tree[1::2])] + tree[len(tree) & ~1 :]
        added = [np.broadcast_to(a + b, (3, 7))[1] for a, b in zip(added[::2], added[1::2])] + added[len(added) & ~1 :]
    same(tree[0], added[0], device)
    total = weft.maximum(chain, tree[0]).sum()
    np.testing.assert_allclose(float(total), np.maximum(chained, added[0]).sum(), rtol=1e-5)


def test_library_functions_in_captured_graphs(device):
    @weft.compile
    def captured(x):
        return weft.sort(x + 1, axis=0) * 2

    for shape in ((9, 4), (9, 4), (2, 3)):
        a = numbers(shape, np.dtype("f8"))
        same(captured(weft.asarray(a)), np.sort(a + 1, axis=0) * 2, device)


def test_where_arrays_are_made(device):
    assert weft.zeros(3).device == weft.arange(3).device == weft.asarray([1, 2]).device == device
    assert weft.__array_namespace_info__().default_device() == device
    assert weft.zeros(3, device="cpu").device.name == "cpu"
    x = weft.ones(3, device="cpu")
    assert (x + 1).device == weft.ones_like(x).device == weft.sum(x).device == weft.add(x, [1, 2, 3]).device == x.device


def test_nobody_asked_for_a_gpu():
    """Where no device was chosen arrays are NumPy's neighbours, whatever GPUs there are."""
    import subprocess
    import sys

    text = "import weft; print(weft.zeros(3).device.name)"
    import os

    env = {name: value for name, value in os.environ.items() if name != "WEFT_DEVICE"}
    said = subprocess.run([sys.executable, "-c", text], env=env, capture_output=True, text=True, check=True)
    assert said.stdout == "cpu\n"


@pytest.mark.skipif(not OTHERS, reason="there is no device but the CPU")
def test_operands_on_different_devices():
    x, y = weft.ones(3, device="cpu"), weft.ones(3, device=OTHERS[0])
    for mix in (
        lambda: x + y,
        lambda: weft.where(x > 0, x, y),
        lambda: x.__iadd__(y),
        lambda: y.__setitem__(slice(None), x),
        lambda: weft.concatenate([x, y]),
    ):
        with pytest.raises(ValueError, match=rf"cpu.*{OTHERS[0]}|{OTHERS[0]}.*cpu"):
            mix()
    same(x.to(OTHERS[0]) + y, np.full(3, 2.0), y.device)


@pytest.mark.skipif(not OTHERS, reason="there is no device but the CPU")
def test_numbers_and_numpys_arrays_move_to_the_others():
    y = weft.ones(3, device=OTHERS[0])
    for one in (2, np.float64(2), np.full(3, 2.0), [2, 2, 2], weft.asarray(2.0, device="cpu"), weft.sum(weft.ones(2, device="cpu"))):
        if not isinstance(one, list):
            same(y * one, np.full(3, 2.0), y.device)
        same(weft.multiply(one, y), np.full(3, 2.0), y.device)
    y[0] = weft.sum(weft.ones(2, device="cpu"))
    same(y, np.asarray([2.0, 1, 1]), y.device)
    same(weft.ones(3, device="cpu") * weft.sum(y), np.full(3, 4.0), weft.device("cpu"))


def test_an_array_where_it_is_is_itself(device):
    x = weft.ones(3)
    assert x.to(device) is x and x.to_device(device.name) is x
    moved = x.to("cpu")
    x += 1
    same(_to_device(moved, device), np.ones(3) if device.kind != "cpu" else np.full(3, 2.0), device)


def test_a_view_brings_little_more_than_it_shows(device):
    x = weft.asarray(np.arange(10_000.0))
    weft.eval(x)
    part = _to_numpy(x[::1000])
    assert part.tolist() == [1000.0 * i for i in range(10)]
    assert not part.flags.writeable


@pytest.mark.skipif(not SMALL, reason="there is no GPU without float64: SwiftShader could not be fetched")
def test_what_a_device_lacks_is_refused_by_name():
    small = weft.device(SMALL[0])
    x = weft.asarray(np.arange(12, dtype=np.float32).reshape(3, 4), device=small)
    same(weft.sum(x * 2, axis=0), np.arange(12, dtype=np.float32).reshape(3, 4).sum(axis=0) * 2, small)
    same(weft.arange(5, dtype=np.int32, device=small) * 3, np.arange(5, dtype=np.int32) * 3, small)
    for make, what in (
        (lambda: weft.zeros(3, device=small), "float64"),
        (lambda: x.astype(np.complex128), "complex128"),
        (lambda: weft.arange(3, dtype=np.int64, device=small), "int64"),
        (lambda: weft.asarray(np.arange(3), device=small), "int64"),
        (lambda: weft.argmax(x, axis=0), "int64"),
        (lambda: weft.ones(3, device="cpu").to(small), "float64"),
        (lambda: x.astype(np.int32) / 2, "float64"),
    ):
        with pytest.raises(weft.errors.UnsupportedError, match=f"{small.name}.*{what}"):
            make()


def test_no_memory_says_who_holds_it(device):
    if device.kind == "cpu":
        pytest.skip("the CPU's memory has no limit of Weft's")
    held = [weft.ones(100_000) for _ in range(3)]
    weft.eval(held)
    device.set_memory_limit(device.memory()["used"] + 100_000)
    try:
        big = weft.ones(1_000_000)
        with pytest.raises(MemoryError, match=rf"{device.name}: no device memory for 8000000 bytes.*weft arrays hold \d+ .*\d+ of 800000"):
            weft.eval(big)
        del held
        device.set_memory_limit(device.memory()["used"] + 9_000_000)
        same(big + 0, np.ones(1_000_000), device)
    finally:
        device.set_memory_limit(None)


def test_threads(device):
    a = np.arange(2000.0)
    wrong = []

    def work(seed):
        with device:
            x = weft.asarray(a + seed)
            for _ in range(20):
                x = x * 0.5 + 1
                if seed % 2:
                    x[::2] += 1
            theirs = a + seed
            for _ in range(20):
                theirs = theirs * 0.5 + 1
                if seed % 2:
                    theirs[::2] += 1
            if not np.array_equal(weft.asnumpy(x), theirs):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_new_shapes_and_numbers_compile_nothing(device):
    def work(n, m, scale):
        x = weft.arange(n * m, dtype=np.float64).reshape(n, m) * scale
        return weft.sum(x + weft.arange(m, dtype=np.float64), axis=1)

    weft.eval(work(30, 40, 1.5))
    _weft._finish_compiling()
    before = _weft._compiled_count()
    for i in range(2, 40):
        weft.eval(work(30 + i, 40 + i, float(i)))
    if device.kind != "cpu":
        assert _weft._compiled_count() == before


@cuda.jit
def doubled(out, a):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 2 * a[i]


@pytest.mark.skipif(len(OTHERS) < 2, reason="needs two devices that are not the CPU")
def test_kernels_refuse_arrays_that_are_elsewhere():
    first, second = (weft.ones(3, device=name) for name in OTHERS[:2])
    with pytest.raises(weft.errors.LaunchError, match=OTHERS[1]):
        doubled.forall(3)(first, second)
    with pytest.raises(weft.errors.LaunchError, match=OTHERS[0]):
        weft.njit(lambda a: a.sum())(first)


def test_vectorised_functions_and_kernels_run_where_arrays_are(device):
    triple = weft.vectorize(lambda x: 3 * x)
    same(without_detours(lambda: triple(weft.arange(6.0)) + 1), np.arange(6.0) * 3 + 1, device)
    same(without_detours(lambda: weft.sum(triple(weft.arange(6.0)))), np.asarray(45.0), device)
    x, out = weft.arange(6.0), weft.zeros(12)
    before, odd = out + 0, out[1::2]
    doubled.forall(6)(odd, x)
    same(odd, np.arange(6.0) * 2, device)
    same(out[::2] + before[::2], np.zeros(6), device)


@on_cuda
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_other_libraries_read_arrays_on_cuda(dtype):
    with weft.device("cuda"):
        host = numbers((3, 4), dtype)
        whole = weft.asarray(host)
        whole = whole + whole if dtype.kind != "b" else whole | whole
        expected = weft.asnumpy(whole)
        for key in (..., (slice(None), slice(None, None, 2)), (slice(None, None, -1), 1), (2, 3), (slice(3, 3),)):
            array, part = whole[key], expected[key]
            assert array.__dlpack_device__() == (2, 0)
            for lent in (array.__dlpack__(), array.__dlpack__(copy=True), array.__dlpack__(max_version=(1, 0), copy=True)):
                np.testing.assert_array_equal(cuda.from_dlpack(lent).copy_to_host(), part)
            with pytest.raises(BufferError, match="read-only"):
                cuda.from_dlpack(array)
            np.testing.assert_array_equal(np.from_dlpack(Host(array)), part) if dtype.kind != "V" else None
            if dtype.kind == "V":
                with pytest.raises(AttributeError, match="bfloat16"):
                    _ = array.__cuda_array_interface__
                continue
            told = array.__cuda_array_interface__
            assert (told["shape"], told["typestr"], told["data"][1], told["version"]) == (part.shape, dtype.str, True, 3)
            np.testing.assert_array_equal(cuda.as_cuda_array(Foreign(told, array)).copy_to_host(), part)
            if array.size:
                assert read_only(array.__dlpack__(max_version=(1, 0))) == told["data"][0]
            with pytest.raises(TypeError, match="as they are"):
                cuda.as_cuda_array(array)


def read_only(capsule):
    """The address in a versioned capsule, which says that what lies there is not to be written to: `dlpack.h`."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    words = (ctypes.c_uint64 * 5).from_address(pointer(capsule, b"dltensor_versioned"))
    assert words[3] & 1
    return words[4]


class Host:
    """Asks for what is in the host's memory."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **how):
        return self.array.__dlpack__(dl_device=(1, 0))


class Foreign:
    """Another library's array."""

    def __init__(self, told, owner):
        self.__cuda_array_interface__, self.owner = told, owner


@on_cuda
def test_what_others_read_stays_as_it_was():
    with weft.device("cuda"):
        array = weft.arange(5.0)
        seen = cuda.as_cuda_array(Foreign(array.__cuda_array_interface__, array))
        for step in range(3):
            array += 1
            doubled.forall(5)(array, array)
            other = cuda.as_cuda_array(Foreign(array.__cuda_array_interface__, array))
            np.testing.assert_array_equal(other.copy_to_host(), weft.asnumpy(array))
            filled = weft.ones(5) * step
            weft.eval(filled)
        np.testing.assert_array_equal(seen.copy_to_host(), np.arange(5.0))


@on_cuda
def test_arrays_of_other_libraries_on_cuda_are_copied_there():
    with weft.device("cuda"):
        host = np.arange(24.0).reshape(2, 3, 4)
        there = cuda.to_device(host)
        told = there.__cuda_array_interface__

        class OnlyDlpack:
            __dlpack__, __dlpack_device__ = there.__dlpack__, there.__dlpack_device__

        steps = {**told, "shape": (4, 3, 2), "strides": (8, 32, 96)}
        found = [weft.asarray(there), weft.asarray(Foreign(told, there)), weft.from_dlpack(there), weft.from_dlpack(OnlyDlpack())]
        turned = weft.asarray(Foreign(steps, there), dtype=weft.float32)
        there.copy_to_device(np.zeros((2, 3, 4)))
    for array in found:
        assert array.device.kind == "cuda"
        np.testing.assert_array_equal(weft.asnumpy(array), host)
    assert turned.device.kind == "cuda"
    np.testing.assert_array_equal(weft.asnumpy(turned), host.T.astype("f4"))
    assert weft.asarray(there, device="cpu").device.kind == "cpu"
    with pytest.raises(ValueError, match="copy"):
        weft.asarray(there, copy=False)

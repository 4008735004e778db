"""Arrays in files and as text: what Weft writes NumPy reads, and the other way round."""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import weft
from weft.errors import UnsupportedError

from .against_numpy import ALL, array, difference, host


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 4), (2, 0, 3)])
def test_files_of_numpys_formats(tmp_path: Path, dtype: type, shape: tuple[int, ...]) -> None:
    a = np.asarray(array(shape, dtype, nan=True))
    x = weft.asarray(a)
    weft.save(tmp_path / "one", x)
    np.save(tmp_path / "theirs", a)
    assert (tmp_path / "one.npy").read_bytes() == (tmp_path / "theirs.npy").read_bytes()
    assert difference(a, weft.load(tmp_path / "one.npy"), True) is None
    for function in (weft.savez, weft.savez_compressed, np.savez):
        function(tmp_path / "some.npz", x, named=x)
        with weft.load(tmp_path / "some.npz") as found:
            assert isinstance(found["named"], weft.ndarray) and sorted(found) == ["arr_0", "named"] == sorted(found.files)
            assert len(found) == 2 and "named" in found and "other" not in found
            assert all(difference(a, each, True) is None for each in found.values())
            with pytest.raises(KeyError):
                found["other"]
        assert difference(a, np.load(tmp_path / "some.npz")["arr_0"], True) is None
    if shape and 0 not in shape:
        x.tofile(tmp_path / "raw")
        assert difference(a.reshape(-1), weft.fromfile(tmp_path / "raw", dtype), True) is None
        assert difference(a.reshape(-1)[1:], weft.fromfile(tmp_path / "raw", dtype, offset=a.itemsize), True) is None


def test_views_are_written_as_they_lie(tmp_path: Path) -> None:
    a = array((4, 6))
    x = weft.asarray(a)
    for view, theirs in ((x.T, a.T), (x[::-2, 1::2], a[::-2, 1::2]), (x[0], a[0])):
        weft.save(tmp_path / "one.npy", view)
        assert difference(theirs, np.load(tmp_path / "one.npy"), True) is None
        text = io.StringIO()
        weft.savetxt(text, view, fmt="%.3f", header="numbers")
        wanted = io.StringIO()
        np.savetxt(wanted, theirs, fmt="%.3f", header="numbers")
        assert text.getvalue() == wanted.getvalue()


def test_what_files_cannot_hold(tmp_path: Path) -> None:
    half = weft.ones(3, "bfloat16")
    for write in (weft.save, weft.savez, weft.savez_compressed, np.save):
        with pytest.raises(UnsupportedError, match="bfloat16"):
            write(tmp_path / "one", half)
    weft.save(tmp_path / "one", half.view(weft.uint16))
    assert weft.load(tmp_path / "one.npy").view("bfloat16").tolist() == [1, 1, 1]
    assert host(half).dtype == ml_dtypes.bfloat16
    np.save(tmp_path / "objects", np.array([None]))
    with pytest.raises(ValueError, match="allow_pickle"):
        weft.load(tmp_path / "objects.npy")
    with pytest.raises(TypeError, match="do not exist in Weft"):
        weft.load(tmp_path / "objects.npy", allow_pickle=True)
    assert weft.load(tmp_path / "one.npy", allow_pickle=True).dtype == np.uint16
    (tmp_path / "pickle").write_bytes(pickle.dumps([1, 2]))
    assert weft.load(tmp_path / "pickle", allow_pickle=True).tolist() == [1, 2]
    with pytest.raises(UnsupportedError, match=r"weft\.load"):
        weft.load(tmp_path / "one.npy", mmap_mode="r")
    np.save(tmp_path / "texts", np.array(["a"]))
    with pytest.raises(TypeError, match="do not exist in Weft"):
        weft.load(tmp_path / "texts.npy")
    with pytest.raises(FileNotFoundError):
        weft.load(tmp_path / "nothing.npy")


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("loadtxt", "1 2\n3 4", {}), ("loadtxt", "1 2\n3 4", {"dtype": int}), ("loadtxt", "# a\n1,2\n3,4", {"delimiter": ","}),
        ("loadtxt", "1 2\n3 4", {"unpack": True}), ("loadtxt", "1 2\n3 4", {"usecols": 1, "ndmin": 2}), ("loadtxt", "1 x", {}),
        ("loadtxt", "1 2\n3", {}), ("loadtxt", "1 2 3", {"dtype": np.float32, "max_rows": 1, "skiprows": 0}),
        ("genfromtxt", "1,,3\n4,5,6", {"delimiter": ","}), ("genfromtxt", "1,x,3", {"delimiter": ",", "filling_values": 7}),
        ("genfromtxt", "1 2\n3 4", {"dtype": None}), ("genfromtxt", "1 2\n3 4", {"usecols": (1,), "skip_header": 1}),
    ],
)  # fmt: skip
def test_numbers_of_texts(name: str, text: str, words: dict[str, Any]) -> None:
    try:
        theirs = getattr(np, name)(io.StringIO(text), **words)
    except Exception as error:
        with pytest.raises(type(error)):
            getattr(weft, name)(io.StringIO(text), **words)
        return
    found = getattr(weft, name)(io.StringIO(text), **words)
    assert isinstance(found, weft.ndarray) and difference(theirs, found, True) is None


def test_numbers_of_strings_and_refusals(tmp_path: Path) -> None:
    assert difference(np.array([1.0, 2.0]), weft.fromstring("1 2", sep=" "), True) is None
    assert difference(np.array([1], np.int8), weft.fromstring("1 2", "i1", 1, sep=" "), True) is None
    (tmp_path / "text").write_text("1, 2, 3")
    assert difference(np.array([1.0, 2, 3]), weft.fromfile(tmp_path / "text", sep=","), True) is None
    with pytest.raises(TypeError, match="do not exist in Weft"):
        weft.loadtxt(io.StringIO("a b"), dtype=str)
    with pytest.raises(TypeError, match="do not exist in Weft"):
        weft.genfromtxt(io.StringIO("a b\n1 2"), names=True)
    with pytest.raises(UnsupportedError, match="like"):
        weft.loadtxt(io.StringIO("1 2"), like=weft.ones(1))


def test_on_devices(device: weft.Device) -> None:
    file = io.BytesIO()
    x = weft.asarray(np.arange(3, dtype=np.float32))
    assert x.device == device
    weft.save(file, x)
    for place in (None, device, device.name):
        file.seek(0)
        found = weft.load(file, device=place)
        assert found.device == device and found.tolist() == [0, 1, 2]
    file.seek(0)
    assert weft.load(file, device="cpu").device.name == "cpu"
    assert weft.loadtxt(io.StringIO("1 2"), np.float32).device == device
    assert weft.array_repr(x) == np.array_repr(host(x))


@pytest.mark.parametrize("dtype", ALL)
def test_texts(dtype: type) -> None:
    for shape in ((), (0,), (3,), (2, 3), (40, 40)):
        a = np.asarray(array(shape, dtype))
        x = weft.asarray(a)
        assert weft.array_repr(x) == np.array_repr(a) == np.array_repr(x) == repr(x)
        assert weft.array_str(x) == np.array_str(a) == np.array_str(x)
        assert weft.array2string(x, separator=", ", threshold=5) == np.array2string(a, separator=", ", threshold=5)
    with weft.printoptions(precision=2):
        assert repr(weft.asarray([1 / 3])) == "array([0.33])"
    assert weft.array_repr(x, 20, 2, True) == np.array_repr(a, 20, 2, True)


def test_numbers_as_texts() -> None:
    for value in (1 / 3, 1e-20, -2.5, np.float32(0.1), np.nan):
        x = weft.asarray(value)
        for name in ("format_float_positional", "format_float_scientific"):
            assert getattr(weft, name)(x) == getattr(np, name)(np.asarray(value)[()]) == getattr(weft, name)(value)
            assert getattr(weft, name)(x, precision=3, trim="-") == getattr(np, name)(np.asarray(value)[()], precision=3, trim="-")
    for value in (0, 5, -5, 255):
        assert weft.binary_repr(weft.asarray(value), 12) == np.binary_repr(value, 12)
        assert weft.base_repr(weft.asarray(value), 7, 2) == np.base_repr(value, 7, 2)

"""Safetensors: there and back, by the package `safetensors` where it is installed, and files that are not as the format has it."""

from __future__ import annotations

import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import weft
from weft import nn

DTYPES = ["?", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "c8"]


def arrays() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    found = {f"of {name}": (rng.standard_normal((3, 5)) * 50).astype(np.int8).astype(name) for name in DTYPES}
    found["half"] = rng.standard_normal(7).astype(ml_dtypes.bfloat16)
    return found | {"scalar": np.float32(2.5), "none": np.zeros((2, 0, 3), np.float32), "Größe": np.arange(3)}


def test_there_and_back(tmp_path: Path) -> None:
    path = tmp_path / "all.safetensors"
    nn.save_safetensors(path, arrays(), {"format": "pt", "wer": "äöü"})
    found = nn.load_safetensors(path)
    assert sorted(found) == sorted(arrays())
    for name, wanted in arrays().items():
        host = weft.asnumpy(found[name])
        assert host.dtype == wanted.dtype and host.shape == wanted.shape and host.tobytes() == wanted.tobytes()
    assert nn.load_safetensors_metadata(path) == {"format": "pt", "wer": "äöü"}
    assert [entry.name for entry in tmp_path.iterdir()] == ["all.safetensors"]


def test_views_and_nested_names(tmp_path: Path) -> None:
    path = tmp_path / "nested.safetensors"
    x = weft.arange(12).reshape(3, 4)
    tree = {"a": {"weight": x.T, "deep": {"er": x[::-1, ::2]}}, "b": x[0, 0]}
    nn.save_safetensors(path, tree)
    assert sorted(nn.load_safetensors(path)) == ["a.deep.er", "a.weight", "b"]
    back = nn.load_safetensors(path, nested=True)
    assert back["a"]["weight"].tolist() == x.T.tolist() and back["a"]["deep"]["er"].tolist() == x[::-1, ::2].tolist()
    assert nn.load_safetensors_metadata(path) == {}
    nn.save_safetensors(path, {})
    assert nn.load_safetensors(path) == {}


def test_lists_are_saved_by_numbers(tmp_path: Path) -> None:
    """Arrays of one shape in a list are not one array."""
    path = tmp_path / "lists.safetensors"
    x = weft.arange(6.0).reshape(2, 3)
    nn.save_safetensors(path, {"layers": [x, x + 1], "more": ({"w": x[0]}, [np.ones(2)]), "row": [1.0, 2.0]})
    found = nn.load_safetensors(path)
    assert sorted(found) == ["layers.0", "layers.1", "more.0.w", "more.1.0", "row"]
    assert found["layers.1"].tolist() == (x + 1).tolist() and found["row"].tolist() == [1, 2]
    assert nn.load_safetensors(path, nested=True)["more"]["1"]["0"].tolist() == [1, 1]
    for wrong, says in (([x], "as a dict"), ({"w": {"b": None}}, "'w.b' is None")):
        with pytest.raises(TypeError, match=says):
            nn.save_safetensors(path, wrong)


def test_on_devices(device: weft.Device, tmp_path: Path) -> None:
    path = tmp_path / "device.safetensors"
    nn.save_safetensors(path, {"x": weft.arange(3, dtype="float32")})
    assert nn.load_safetensors(path)["x"].device == device
    assert nn.load_safetensors(path, device="cpu")["x"].device.kind == "cpu"


def test_by_the_package(tmp_path: Path) -> None:
    package = pytest.importorskip("safetensors.numpy")
    path = tmp_path / "theirs.safetensors"
    plain = {name: np.ascontiguousarray(x) for name, x in arrays().items() if x.dtype != ml_dtypes.bfloat16 and x.dtype.kind != "c"}
    package.save_file(plain, path, {"by": "safetensors"})
    found = nn.load_safetensors(path)
    assert sorted(found) == sorted(plain) and nn.load_safetensors_metadata(path) == {"by": "safetensors"}
    for name, x in plain.items():
        assert weft.asnumpy(found[name]).tobytes() == x.tobytes() and found[name].shape == x.shape and found[name].dtype == x.dtype
    nn.save_safetensors(path, plain, {"by": "weft"})
    theirs = package.load_file(path)
    assert all(theirs[name].tobytes() == x.tobytes() and theirs[name].shape == x.shape for name, x in plain.items())


def written(path: Path, header: object, data: bytes = b"", length: int | None = None) -> Path:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes((len(text) if length is None else length).to_bytes(8, "little") + text + data)
    return path


def row(dtype: object = "F32", shape: object = (2,), places: object = (0, 8)) -> dict:
    return {"dtype": dtype, "shape": shape, "data_offsets": places}


WRONG = {
    "short": (b"", b"", None, "header does not start"),
    "too long": (b"{}", b"", 1 << 40, "is longer than 100000000"),
    "past the end": (b"{}", b"", 10, "longer than the file"),
    "no dict": (b"[]", b"", None, "does not start"),
    "no JSON": (b"{,}", b"", None, "no JSON"),
    "deep": (b'{"a":' + b"[" * 100_000, b"", None, "no JSON"),
    "no text": (b'{"\xff":1}', b"", None, "no JSON"),
    "twice": (b'{"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},"a":{}}', b"0000", None, "twice"),
    "no row": ({"a": 3}, b"", None, "a dtype, a shape"),
    "more": ({"a": row() | {"more": 1}}, b"0" * 8, None, "a dtype, a shape"),
    "dtype": ({"a": row("F8_E4M3")}, b"0" * 8, None, "a dtype that Weft does not have"),
    "dtype of none": ({"a": row(["F32"])}, b"0" * 8, None, "a dtype that Weft does not have"),
    "negative": ({"a": row(shape=[-2])}, b"0" * 8, None, "whole numbers"),
    "float": ({"a": row(shape=[2.0])}, b"0" * 8, None, "whole numbers"),
    "true": ({"a": row(shape=[True])}, b"0" * 4, None, "whole numbers"),
    "huge": ({"a": row(shape=[1 << 70])}, b"0" * 8, None, "whole numbers"),
    "product": ({"a": row(shape=[1 << 40, 1 << 40])}, b"0" * 8, None, "has .* bytes, not 8"),
    "backwards": ({"a": row(places=[8, 0])}, b"0" * 8, None, "data_offsets"),
    "one place": ({"a": row(places=[8])}, b"0" * 8, None, "data_offsets"),
    "size": ({"a": row(places=[0, 4])}, b"0" * 4, None, "has 8 bytes, not 4"),
    "ends early": ({"a": row()}, b"0" * 4, None, "the file 4"),
    "goes on": ({"a": row()}, b"0" * 12, None, "the file 12"),
    "gap": ({"a": row(places=[4, 12])}, b"0" * 12, None, "starts at byte 4"),
    "overlap": ({"a": row(), "b": row(places=[4, 12])}, b"0" * 12, None, "starts at byte 4"),
    "hole": ({"a": row(), "b": row(places=[12, 20])}, b"0" * 20, None, "starts at byte 12"),
    "bools": ({"a": row("BOOL", places=[0, 2])}, b"\0\2", None, "neither 0 nor 1"),
    "metadata": ({"__metadata__": {"a": 1}}, b"", None, "texts by name"),
    "metadata of none": ({"__metadata__": []}, b"", None, "texts by name"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_files(case: str, tmp_path: Path) -> None:
    header, data, length, says = WRONG[case]
    with pytest.raises(ValueError, match=says):
        nn.load_safetensors(written(tmp_path / "x", header, data, length))


def test_damaged_files(tmp_path: Path) -> None:
    """Whatever is in a file, it is read or refused with a ValueError."""
    path = tmp_path / "x"
    nn.save_safetensors(path, {"a": weft.ones((2, 3), dtype="float32"), "b": weft.zeros(2, dtype="bool")})
    whole = path.read_bytes()
    rng = np.random.default_rng(2)
    refused = 0
    for _ in range(400):
        damaged = bytearray(whole)
        for _ in range(rng.integers(1, 4)):
            damaged[rng.integers(len(damaged))] = rng.integers(256)
        path.write_bytes(bytes(damaged[: rng.integers(len(damaged) + 1)] if rng.random() < 0.3 else damaged))
        try:
            nn.load_safetensors(path, nested=True)
        except ValueError:
            refused += 1
    assert refused > 200


def test_wrong_arrays(tmp_path: Path) -> None:
    path = tmp_path / "x"
    x = weft.ones(2)
    for wrong, error, says in (
        ({"a": x.astype("complex128")}, TypeError, "complex128"),
        ({1: x}, TypeError, "by names"),
        ({"a.b": x, "a": {"b": x}}, ValueError, "two arrays"),
        ({"__metadata__": x}, ValueError, "no name"),
    ):
        with pytest.raises(error, match=says):
            nn.save_safetensors(path, wrong)
    with pytest.raises(TypeError, match="texts"):
        nn.save_safetensors(path, {}, {"a": 1})
    assert not path.exists()
    nn.save_safetensors(path, {"a": x, "a.b": x})
    with pytest.raises(ValueError, match="within an array"):
        nn.load_safetensors(path, nested=True)

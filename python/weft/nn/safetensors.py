"""Safetensors: arrays by name in a file, as the README of the package `safetensors` describes the format.

Eight bytes say how long the header is, little endian; the header is JSON: a dtype, a shape and the first byte and the one behind the last
for each name, and texts under `__metadata__`; then the elements, little endian, in C's order, one array behind the other without gaps.
Files of others are not to be trusted: all of that is checked before anything is made of them.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

import weft
from weft._files import Path, whole_file
from weft._weft import ndarray
from weft.arrays._common import array_of, bfloat16

__all__ = ["load_safetensors", "load_safetensors_metadata", "save_safetensors"]

MOST_HEADER = 100_000_000
"""The longest header, as the format has it."""

_NAMES = {
    "BOOL": "bool", "U8": "uint8", "I8": "int8", "U16": "uint16", "I16": "int16", "U32": "uint32", "I32": "int32", "U64": "uint64",
    "I64": "int64", "F16": "float16", "F32": "float32", "F64": "float64", "C64": "complex64", "BF16": "bfloat16",
}  # fmt: skip
_CODES = {name: code for code, name in _NAMES.items()}


def save_safetensors(file: Path, arrays: Mapping[str, Any], metadata: Mapping[str, str] | None = None) -> None:
    """Write arrays by name, or nested dicts of arrays, whose keys are joined by points; `metadata` are texts by name.

    Lists and tuples of arrays or dicts are like dicts with the keys "0", "1", …, as PyTorch's are.

    TypeError for a dtype that the format does not have, such as complex128. What was in the file is replaced when all is written.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.safetensors"
    >>> weft.nn.save_safetensors(path, {"layer": {"weight": weft.asarray([1.0, 2.0])}})
    >>> weft.nn.load_safetensors(path)
    {'layer.weight': array([1., 2.])}
    """
    flat = _by_names(arrays, "")
    # Larger elements first, so that all are aligned.
    named = sorted(flat.items(), key=lambda pair: (-pair[1].dtype.itemsize, pair[0]))
    header: dict[str, Any] = {}
    if metadata is not None:
        if not all(isinstance(text, str) for pair in metadata.items() for text in pair):
            raise TypeError("metadata are texts by name")
        header["__metadata__"] = dict(metadata)
    at = 0
    for name, array in named:
        end = at + array.size * array.dtype.itemsize
        header[name] = {"dtype": _code(name, array), "shape": list(array.shape), "data_offsets": [at, end]}
        at = end
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > MOST_HEADER:
        raise ValueError(f"the header of {len(text)} bytes is longer than {MOST_HEADER}")
    with whole_file(file) as out:
        out.write(len(text).to_bytes(8, "little"))
        out.write(text)
        for _, array in named:
            host = np.ascontiguousarray(weft.asnumpy(array))
            out.write(host.reshape(-1).view(np.uint8).data if host.size else b"")


def _by_names(tree: Mapping[str, Any], front: str) -> dict[str, ndarray]:
    """The arrays of nested dicts by their keys, joined by points."""
    if not isinstance(tree, Mapping):
        raise TypeError(f"arrays are saved by names, as a dict, and not as a {type(tree).__name__}")
    found: dict[str, ndarray] = {}
    for key, value in tree.items():
        if not isinstance(key, str):
            raise TypeError(f"arrays are saved by names, not by {key!r}")
        if value is None:
            raise TypeError(f"{front + key!r} is None, and no array")
        branch = _branch(value)
        more = {front + key: array_of(value)} if branch is None else _by_names(branch, f"{front}{key}.")
        if clash := sorted(set(more) & set(found)):
            raise ValueError(f"two arrays have the name {clash[0]!r}")
        found |= more
    if "__metadata__" in found:
        raise ValueError("'__metadata__' is no name for an array")
    return found


def _branch(value: Any) -> Mapping[str, Any] | None:
    """The parts of a value by their names; none if it is an array, as lists of numbers are."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, (list, tuple)) and any(isinstance(each, (ndarray, np.ndarray)) or _branch(each) is not None for each in value):
        return {str(at): each for at, each in enumerate(value)}
    return None


def _code(name: str, array: ndarray) -> str:
    if array.dtype.name not in _CODES:
        raise TypeError(f"safetensors has no {array.dtype}, which {name!r} is of")
    return _CODES[array.dtype.name]


def load_safetensors(file: Path, device: Any = None, nested: bool = False) -> dict[str, Any]:
    """The arrays of a file by name, on a device; with `nested` in dicts of dicts, the names taken apart at their points.

    ValueError, which says what, for a file that is not as the format has it, or of dtypes that Weft does not have.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.safetensors"
    >>> weft.nn.save_safetensors(path, {"layer.bias": weft.zeros(2), "scale": weft.asarray(3)})
    >>> weft.nn.load_safetensors(path, nested=True)
    {'layer': {'bias': array([0., 0.])}, 'scale': array(3)}
    """
    with open(file, "rb") as data:
        whole = os.fstat(data.fileno()).st_size
        header, start = _header(data, whole)
        header.pop("__metadata__", None)
        rows = _checked(header, whole - start)
        found = {}
        for name, (dtype, shape, at, end) in rows.items():
            data.seek(start + at)
            bytes_ = data.read(end - at)
            if len(bytes_) != end - at:
                raise ValueError(f"the file ends within {name!r}")
            if dtype == np.bool_ and bytes_.strip(b"\0\1"):
                raise ValueError(f"{name!r} of bools has bytes that are neither 0 nor 1")
            host = np.frombuffer(bytes_, dtype).reshape(shape)
            found[name] = weft.asarray(host, device=device)
    return _nested(found) if nested else found


def load_safetensors_metadata(file: Path) -> dict[str, str]:
    """The texts that a file has beside its arrays; nothing else of it is read.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.safetensors"
    >>> weft.nn.save_safetensors(path, {"x": weft.ones(2)}, {"format": "pt"})
    >>> weft.nn.load_safetensors_metadata(path)
    {'format': 'pt'}
    """
    with open(file, "rb") as data:
        header, _ = _header(data, os.fstat(data.fileno()).st_size)
        return header.get("__metadata__", {})


def _header(data: Any, whole: int) -> tuple[dict[str, Any], int]:
    """The header, and where the elements start."""
    first = data.read(8)
    if len(first) < 8:
        raise ValueError("the file is shorter than the length of a header")
    length = int.from_bytes(first, "little")
    if length > MOST_HEADER:
        raise ValueError(f"the header of {length} bytes is longer than {MOST_HEADER}")
    if length > whole - 8:
        raise ValueError(f"the header of {length} bytes is longer than the file")
    text = data.read(length)
    if not text.startswith(b"{"):
        raise ValueError("the header does not start with {")
    try:
        header = json.loads(text.decode("utf-8"), object_pairs_hook=_once)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"the header is no JSON: {error}") from None
    texts = header.get("__metadata__", {})
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise ValueError("__metadata__ are texts by name")
    return header, 8 + length


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("the header has a name twice")
    return found


def _checked(header: dict[str, Any], size: int) -> dict[str, tuple[np.dtype, tuple[int, ...], int, int]]:
    """Dtype, shape and place of each array, which fill what is behind the header without gaps or overlaps."""
    rows = {name: _row(name, row) for name, row in header.items()}
    at = 0
    for name, (_, _, start, end) in sorted(rows.items(), key=lambda pair: pair[1][2:]):
        if start != at:
            raise ValueError(f"{name!r} starts at byte {start}, and what is before it ends at byte {at}")
        at = end
    if at != size:
        raise ValueError(f"the arrays have {at} bytes, and the file {size} behind its header")
    return rows


def _row(name: str, row: Any) -> tuple[np.dtype, tuple[int, ...], int, int]:
    if not isinstance(row, dict) or set(row) != {"dtype", "shape", "data_offsets"}:
        raise ValueError(f"{name!r} has a dtype, a shape and data_offsets, not {row!r:.80}")
    code, shape, places = row["dtype"], row["shape"], row["data_offsets"]
    if not isinstance(code, str) or code not in _NAMES:
        raise ValueError(f"{name!r} is of {code!r:.40}, a dtype that Weft does not have")
    for what, numbers in (("shape", shape), ("data_offsets", places)):
        if not isinstance(numbers, list) or not all(type(n) is int and 0 <= n < 2**63 for n in numbers):
            raise ValueError(f"the {what} of {name!r} are whole numbers, not {numbers!r:.80}")
    if len(places) != 2 or places[0] > places[1]:
        raise ValueError(f"the data_offsets of {name!r} are a first byte and the one behind the last, not {places!r:.80}")
    dtype = bfloat16() if code == "BF16" else np.dtype(_NAMES[code]).newbyteorder("<")
    size = math.prod(shape) * dtype.itemsize
    if size != places[1] - places[0]:
        raise ValueError(f"{name!r} of the shape {tuple(shape)} has {size} bytes, not {places[1] - places[0]}")
    return dtype, tuple(shape), *places


def _nested(flat: dict[str, ndarray]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for name, array in flat.items():
        *path, last = name.split(".")
        place = tree
        for key in path:
            place = place.setdefault(key, {})
            if not isinstance(place, dict):
                raise ValueError(f"{name!r} is within an array")
        if last in place:
            raise ValueError(f"{name!r} is within an array, or has arrays within")
        place[last] = array
    return tree

"""`save_graph` and `load_graph`: captured graphs in files, as text that is checked when it is read. `docs/graphs.md` says what it means."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from weft._files import Path, whole_file
from weft._weft import _followed, _full, _Graph, _graph_of_text, ndarray

from ._common import as_device, as_dtype
from .compiling import Compiled, _built, _flattened, _Same, _told

_VERSION = 1
_FIRST = f"weft-graph {_VERSION}"
_MOST_DEPTH = 64
_DEVICE = re.compile(r"%\d+ [a-z0-9]+\[[0-9,]*\]@([a-z]+:\d+) ")


def save_graph(path: Path, function: Callable[..., Any], /, *args: Any, **keywords: Any) -> None:
    """Captures a function, or what `compile` made of one, for arguments like these, and writes the graph to a file.

    The graph holds for arrays of the dtypes, shapes and devices of `args` and `keywords`, and for all other arguments as they are.
    Arrays that the function knows by global names are written with their elements. What is written is text: operations by their
    names, and numbers; `load_graph` runs nothing else. What was in the file is replaced when all is written. ValueError for what a
    file cannot hold: random numbers, functions that are called at once but for products of matrices and the steps of `weft.nn`'s
    optimizers, vectorized functions of yours, writes to arrays known by global names.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "scaled.graph")
    >>> weft.save_graph(path, lambda x, by: (x - x.mean()) * by, weft.zeros(3), 2)
    >>> weft.load_graph(path)(weft.arange(3.0), 2)
    array([-2.,  0.,  2.])
    """
    given = function._function if isinstance(function, Compiled) else function
    if not callable(given):
        raise TypeError(f"save_graph takes a function, not {type(given).__name__}")
    compiled = Compiled(given)
    arrays: list[ndarray] = []
    spec = (_flattened(args, arrays, compiled._name), _flattened(keywords, arrays, compiled._name))
    told = _json(("arguments", [_line_of(spec[0], 0), _line_of(spec[1], 0)]))
    graph, results = compiled._captured(spec, [_full(x.shape, 0, x.dtype, x.device) for x in arrays])
    body = graph.text()
    text = f"{_FIRST}\n{told}\n{_json(('returns', [_line_of(results, 0)]))}\n{body}"
    content = text.encode("ascii")
    with whole_file(path) as file:
        file.write(content + f"end {hashlib.sha256(content).hexdigest()}\n".encode("ascii"))


def load_graph(path: Path) -> LoadedGraph:
    """The graph that `save_graph` wrote, to be called as the function was: with arrays of the same dtypes, shapes and devices.

    All of the file is checked before any of it is used. ValueError with the number of the line where it is damaged, of another version, or
    says what no graph does.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "f.graph")
    >>> weft.save_graph(path, lambda x: x.sum(axis=0), weft.ones((2, 3)))
    >>> f = weft.load_graph(path)
    >>> f(weft.ones((2, 3)))
    array([2., 2., 2.])
    >>> f(weft.ones((3, 3)))
    Traceback (most recent call last):
    ValueError: array 0 is a float64 of (3,3) on cpu, and the graph was captured for a float64 of (2,3) on cpu
    """
    with open(path, "rb") as file:
        content = file.read()
    try:
        text = content.decode("ascii")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ValueError(f"{os.fspath(path)!r} is no graph: line {line}: this is no ASCII") from None
    try:
        return _of_text(text)
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)!r} is no graph: {error}") from None


class LoadedGraph:
    """A graph of a file: called as the function of which it was captured."""

    def __init__(self, graph: _Graph, arguments: list[Any], result: Any) -> None:
        self._graph = graph
        self._arguments = arguments
        self._result = result

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        arrays: list[ndarray] = []
        spec = [_flattened(args, arrays, self._name), _flattened(keywords, arrays, self._name)]
        if spec != self._arguments:
            raise ValueError("the arguments are others than those that the graph was captured for: " + _difference(spec, self._arguments))
        if _followed(*arrays):
            raise ValueError("a loaded graph has no gradient: take that of the function, and save a graph of both")
        return _built(self._result, self._graph.replay_anyhow(arrays))

    def __repr__(self) -> str:
        return f"<weft graph of {self._graph.nodes} steps>"

    def _name(self) -> str:
        return "a loaded graph"


def _difference(given: list[Any], known: list[Any]) -> str:
    """Where two argument lists differ first, in words."""
    for where, (one, other) in zip(("arguments", "keywords"), zip(given, known)):
        if one != other:
            return f"{where} {_shown(one)} instead of {_shown(other)}"
    return "they differ"


def _shown(spec: Any) -> str:
    if spec[0] == "array":
        return "array"
    if spec[0] == "constant":
        return repr(spec[3].object)
    if spec[0] is dict:
        return "{" + ", ".join(f"{_shown(key)}: {_shown(each)}" for key, each in zip(spec[1], spec[2:])) + "}"
    inside = ", ".join(_shown(each) for each in spec[1:])
    return f"[{inside}]" if spec[0] is list else f"({inside})"


def _of_text(text: str) -> LoadedGraph:
    lines = text.split("\n")
    if lines[0] != _FIRST:
        if re.fullmatch(r"weft-graph \d{1,9}", lines[0]):
            raise ValueError(f"line 1: it is of version {lines[0].split()[1]}, and this Weft reads version {_VERSION}")
        raise ValueError(f"line 1: a graph begins with {_FIRST!r}")
    if len(lines) < 5 or lines[-1] != "" or not lines[-2].startswith("end "):
        raise ValueError(f"line {len(lines)}: a graph ends with a line 'end' and a checksum")
    before = text[: len(text) - len(lines[-2]) - 1]
    if lines[-2] != f"end {hashlib.sha256(before.encode('ascii')).hexdigest()}":
        raise ValueError(f"line {len(lines) - 1}: the checksum is another one: the file was changed or damaged")
    return _of_lines(lines[1], lines[2], "\n".join(lines[3:-2]))


def _of_lines(told: str, returns: str, body: str) -> LoadedGraph:
    """The graph of the lines that say what it takes, what it gives, and how that is made."""
    arguments = _parsed(told, "arguments", 2)
    places: list[int] = []
    args = [_spec_of(each, 2, places) for each in arguments]
    if args[0][0] is not tuple or args[1][0] is not dict:
        raise ValueError("line 2: the arguments are a tuple and a dict")
    if any(key[0] != "constant" or key[1] is not str for key in args[1][1]):
        raise ValueError("line 2: keywords are strings")
    given: list[int] = []
    result = _spec_of(_parsed(returns, "returns", 1)[0], 3, given)
    # Devices have a number as soon as an array is on them.
    for name in sorted(set(_DEVICE.findall(body))):
        try:
            _full((), 0, np.dtype(np.bool_), as_device(name))
        except Exception as error:
            raise ValueError(f"it is of {name!r}, and that is not here: {error}") from None
    graph = _graph_of_text(body, 4)
    for line, found, count in ((2, places, graph.arguments), (3, given, graph.results)):
        if found != list(range(count)):
            raise ValueError(f"line {line}: it has to name the arrays 0 to {count - 1}, each once, in their order")
    return LoadedGraph(graph, args, result)


def _json(line: tuple[str, list[Any]]) -> str:
    return f"{line[0]} {json.dumps(line[1], ensure_ascii=True, allow_nan=False)}"


def _parsed(line: str, word: str, count: int) -> list[Any]:
    number = 2 if word == "arguments" else 3
    if not line.startswith(word + " "):
        raise ValueError(f"line {number}: it begins with {word!r}")
    try:
        found = json.loads(line[len(word) + 1 :])
    except (ValueError, RecursionError) as error:
        raise ValueError(f"line {number}: this is no JSON: {error}") from None
    if not isinstance(found, list) or len(found) != count:
        raise ValueError(f"line {number}: it is a list of {count}")
    return found


def _line_of(spec: Any, depth: int) -> Any:
    """What stands in a file for arguments or results: arrays by their places, and constants with their types."""
    if depth > _MOST_DEPTH:
        raise ValueError("tuples, lists and dicts are nested too deep for a graph's file")
    if spec[0] == "array":
        return ["array", spec[1]]
    if spec[0] is tuple or spec[0] is list:
        return [spec[0].__name__, *[_line_of(each, depth + 1) for each in spec[1:]]]
    if spec[0] is dict:
        return ["dict", [_line_of(key, depth + 1) for key in spec[1]], *[_line_of(each, depth + 1) for each in spec[2:]]]
    if spec[0] == "constant":
        return _constant(spec[3].object)
    raise ValueError(f"a {getattr(spec[1], '__name__', 'object')}, which a graph's file cannot hold: pass a tuple or a dict")


def _constant(value: Any) -> list[Any]:
    kind = type(value)
    if value is None or value is Ellipsis:
        return ["none" if value is None else "ellipsis"]
    if kind is bool or kind is str:
        return [kind.__name__, value]
    if kind is int:
        return ["int", str(value)]
    if kind is float:
        return ["float", value.hex()]
    if kind is complex:
        return ["complex", value.real.hex(), value.imag.hex()]
    if kind is bytes:
        return ["bytes", base64.b64encode(value).decode("ascii")]
    if kind is slice:
        return ["slice", *[_constant(each) for each in (value.start, value.stop, value.step)]]
    if isinstance(value, np.dtype) and as_dtype(value) == value and value.isnative:
        return ["dtype", value.name]
    if isinstance(value, np.generic) and value.dtype.kind in "biufc":
        return ["number", value.dtype.name, base64.b64encode(value.tobytes()).decode("ascii")]
    raise ValueError(f"a constant of type {kind.__name__}, which a graph's file cannot hold")


def _spec_of(line: Any, number: int, places: list[int], depth: int = 0) -> Any:
    """The arguments or results that stand in a file; the places of arrays are appended to a list."""
    if depth > _MOST_DEPTH or not isinstance(line, list) or not line or not isinstance(line[0], str):
        raise ValueError(f"line {number}: this is nothing that arguments or results are made of: {str(line)[:60]}")
    word, *rest = line
    if word == "array":
        if len(rest) != 1 or type(rest[0]) is not int:
            raise ValueError(f"line {number}: an array has one place")
        places.append(rest[0])
        return ("array", rest[0])
    if word in ("tuple", "list"):
        return (tuple if word == "tuple" else list, *[_spec_of(each, number, places, depth + 1) for each in rest])
    if word == "dict":
        if not rest or not isinstance(rest[0], list) or len(rest[0]) != len(rest) - 1:
            raise ValueError(f"line {number}: a dict has as many keys as values")
        keys = tuple(_spec_of(key, number, [], depth + 1) for key in rest[0])
        if any(_has_arrays(key) for key in keys) or len(set(keys)) != len(keys):
            raise ValueError(f"line {number}: keys of a dict are different constants")
        return (dict, keys, *[_spec_of(each, number, places, depth + 1) for each in rest[1:]])
    try:
        value = _value_of(word, rest)
    except (ValueError, TypeError, OverflowError, KeyError) as error:
        raise ValueError(f"line {number}: this is no constant: {str(line)[:60]} ({error})") from None
    return ("constant", type(value), _told(value), _Same(value))


def _has_arrays(spec: Any) -> bool:
    """Whether it is something that cannot be a key: an array, or a list or dict."""
    if spec[0] == "constant":
        return isinstance(spec[3].object, slice)
    return spec[0] is not tuple or any(_has_arrays(each) for each in spec[1:])


def _value_of(word: str, rest: list[Any]) -> Any:
    if word in ("none", "ellipsis") and not rest:
        return None if word == "none" else Ellipsis
    if word == "slice" and len(rest) == 3:
        return slice(*[_value_of(each[0], each[1:]) for each in rest])
    if word == "complex" and len(rest) == 2:
        return complex(_float_of(rest[0]), _float_of(rest[1]))
    if word == "number" and len(rest) == 2:
        dtype = as_dtype(_text(rest[0]))
        content = base64.b64decode(_text(rest[1]), validate=True)
        if dtype.name != rest[0] or dtype.kind not in "biufc" or len(content) != dtype.itemsize or (dtype.kind == "b" and content > b"\1"):
            raise ValueError("this is no number of the type")
        return np.frombuffer(content, dtype)[0]
    if len(rest) != 1:
        raise ValueError("this is no kind of constants")
    (value,) = rest
    if (word == "bool" and type(value) is bool) or (word == "str" and type(value) is str):
        return value
    if word == "int" and re.fullmatch(r"-?\d{1,4000}", _text(value)):
        return int(value)
    if word == "float":
        return _float_of(value)
    if word == "bytes":
        return base64.b64decode(_text(value), validate=True)
    if word == "dtype":
        dtype = as_dtype(_text(value))
        if dtype.name != value:
            raise ValueError("dtypes stand by their names")
        return dtype
    raise ValueError("this is no kind of constants")


def _text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError("this is no string")
    return value


def _float_of(value: Any) -> float:
    return float.fromhex(_text(value))

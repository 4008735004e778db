"""Graphs in files: what is loaded gives what the function gives; what is damaged is refused, with its line."""

from __future__ import annotations

import hashlib
import math
import os
import random
import re
import threading

import numpy as np
import pytest

import weft
from arrays.captured import Captured, host, same
from arrays.fuzz.data import DTYPES
from weft.arrays.graphs import _of_text

PROGRAMS = int(os.environ.get("WEFT_GRAPHS", "150"))
DAMAGED = int(os.environ.get("WEFT_DAMAGED", "3000"))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "f.graph"


def kept(path, function, *args, **keywords):
    weft.save_graph(path, function, *args, **keywords)
    return weft.load_graph(path)


def step(state, x, y, *, rate=0.5):
    """A step of training of two layers."""
    (a, b), moment = state["params"], state["moment"]
    hidden = weft.tanh(x @ a)
    error = hidden @ b - y
    moment = 0.9 * moment + (hidden.T @ error)
    b = b - rate * moment
    return {"params": (a - rate * (x.T @ ((error @ b.T) * (1 - hidden * hidden))), b), "moment": moment}, (error * error).sum()


def state(seed=0):
    rng = np.random.default_rng(seed)
    a, b, m, x, y = (weft.asarray(rng.standard_normal(shape)) for shape in ((3, 4), (4, 2), (4, 2), (5, 3), (5, 2)))
    return {"params": (a, b), "moment": m}, x, y


def test_a_step_of_training(path):
    loaded = kept(path, step, *state(), rate=0.25)
    compiled = weft.compile(step)
    for seed in range(3):
        expected = host(step(*state(seed), rate=0.25))
        assert same(host(loaded(*state(seed), rate=0.25)), expected) and same(host(compiled(*state(seed), rate=0.25)), expected)


def test_random_programs(path):
    refused = 0
    for seed in range(PROGRAMS):
        program = Captured(seed)
        given = program.arrays()
        expected, after = host(program(*given)), None
        after = host(given)
        given = program.arrays()
        assert same(host(weft.compile(program.__call__)(*given)), expected), (seed, program.lines)
        assert same(host(given), after), (seed, program.lines)
        try:
            loaded = kept(path, program.__call__, *program.arrays())
        except ValueError as error:
            assert "a graph's file cannot hold" in str(error)
            refused += 1
            continue
        given = program.arrays()
        assert same(host(loaded(*given)), expected), (seed, program.lines)
        assert same(host(given), after), (seed, program.lines)
    assert refused < PROGRAMS * 0.6


def test_arguments_in_whatever_memory(path):
    loaded = kept(path, lambda x, y: x @ y + x.sum(), weft.zeros((3, 4)), weft.zeros((4, 5)))
    a, b = np.arange(12.0).reshape(3, 4), np.arange(20.0).reshape(4, 5)
    views = [
        (weft.asarray(a.T.copy()).T, weft.asarray(b)),
        (weft.asarray(a[:, ::-1].copy())[:, ::-1], weft.asarray(np.repeat(b, 2, axis=0))[::2]),
        (weft.asarray(a.ravel()).reshape(3, 4), weft.asarray(b) + 0),
    ]
    for x, y in views:
        assert same(host(loaded(x, y)), host(weft.asarray(a) @ weft.asarray(b) + a.sum()))


def test_writes_and_views_of_arguments(path):
    def f(x, y):
        x[1:] += y[0]
        return x, x[::-1], y * 2

    loaded = kept(path, f, weft.zeros(4), weft.zeros(2))
    x, y = weft.asarray(np.arange(4.0)), weft.asarray([10.0, 20])
    whole, turned, twice = loaded(x, y)
    assert host(x).tolist() == [0, 11, 12, 13] and host(turned).tolist() == [13, 12, 11, 0] and host(twice).tolist() == [20, 40]
    whole[0] = 5
    assert host(x)[0] == 5 and host(turned)[-1] == 5
    big = weft.asarray(np.arange(8.0))
    with pytest.raises(ValueError, match="a view of array 0"):
        loaded(big[::2], y)
    with pytest.raises(ValueError, match="shares its memory"):
        loaded(big[:4], big[4:6])
    with pytest.raises(ValueError, match="read-only"):
        loaded(weft.broadcast_to(weft.asarray(1.0), (4,)), y)
    assert host(big).tolist() == list(range(8))

    def only(x):
        x *= 2

    loaded = kept(path, only, weft.zeros(4))
    loaded(big[1::2])
    assert host(big).tolist() == [0, 2, 2, 6, 4, 10, 6, 14]


def test_global_arrays_are_in_the_file(path):
    weight = weft.asarray(np.arange(3, dtype="f4"))
    loaded = kept(path, lambda x: x * weight + weft.arange(3, dtype="f4"), weft.zeros(3, dtype="f4"))
    weight += 1
    assert host(loaded(weft.ones(3, dtype="f4"))).tolist() == [0, 2, 4]


@pytest.mark.parametrize("dtype", [*DTYPES, "bfloat16"])
def test_dtypes_and_constants(path, dtype):
    dtype = weft.zeros(1, dtype=dtype).dtype
    table = weft.asarray(np.arange(6).astype(dtype).reshape(2, 3))

    def f(x, k):
        y = weft.where(x == table, table, x)
        given = y.sum(axis=0), (y == k).astype("int16"), weft.full((2,), k, dtype=dtype)
        # Complex numbers are searched by calls.
        return given if y.dtype.kind == "c" else (*given, y.max(axis=1), y.argmax(axis=1))

    k = True if dtype.kind == "b" else 3
    x = weft.asarray(np.array([[0, 5, 2], [3, 9, 1]]).astype(dtype))
    assert same(host(kept(path, f, x, k)(x, k)), host(f(x, k)))


def test_arguments_of_all_kinds(path):
    given = (None, ..., True, 3, -(10**30), 2.5, float("inf"), -0.0, 1 - 2j, "ein Wort \u00e9\n", b"\0\xff", slice(1, None, -2))
    given = (*given, np.dtype("f4"), np.float32(1.5), np.int8(-3), np.bool_(True), [1, (2, {"a": 3, (1, "b"): None})], {})

    def f(x, *rest, **keywords):
        return {"x": x + 1, "rest": rest[0], "keywords": keywords, 2.5: [rest[3]], None: ()}

    x = weft.arange(3)
    loaded = kept(path, f, x, *given, key=given[4])
    assert host(loaded(x, *given, key=given[4])) and repr(loaded(x, *given, key=given[4])) == repr(f(x, *given, key=given[4]))
    for at in range(len(given)):
        other = list(given)
        other[at] = "other"
        with pytest.raises(ValueError, match="the arguments are others"):
            loaded(x, *other, key=given[4])
    with pytest.raises(ValueError, match="instead of"):
        loaded(x, *given, other=given[4])
    for same_value in (1.0, np.int64(1), True):
        one = kept(path, lambda x, k: x + k, x, 1)
        with pytest.raises(ValueError, match="the arguments are others"):
            one(x, same_value)


def test_arrays_are_checked(path):
    loaded = kept(path, lambda x: x + 1, weft.zeros((2, 3)))
    for other in (weft.zeros((3, 2)), weft.zeros(6), weft.zeros((2, 3), dtype="f4"), weft.zeros(())):
        with pytest.raises(ValueError, match=r"array 0 is a .* and the graph was captured for a float64 of"):
            loaded(other)
    with pytest.raises(TypeError, match=r"pass weft.asarray\(x\)"):
        loaded(np.zeros((2, 3)))


def test_what_a_file_cannot_hold(path):
    state = weft.zeros(2)

    @weft.vectorize
    def mine(x):
        return x * 2.0

    def writes(x):
        state[0] = x[0]
        return x

    x = weft.ones(2)
    generator = weft.random.default_rng(0)
    cases = [lambda x: generator.random(2) + x, mine, writes, lambda x: state, lambda x: weft.sort(x), lambda x: (x, np.float16)]
    for function in cases:
        with pytest.raises(ValueError, match="cannot hold"):
            weft.save_graph(path, function, x)
    assert not path.exists()
    with pytest.raises(TypeError, match="takes a function"):
        weft.save_graph(path, 3, x)
    with pytest.raises(weft.errors.CaptureError):
        weft.save_graph(path, lambda x: float(x[0]), x)


def test_what_is_compiled_can_be_saved(path):
    compiled = weft.compile(lambda x: x * 2)
    compiled(weft.ones(3))
    loaded = kept(path, compiled, weft.zeros(2))
    assert host(loaded(weft.ones(2))).tolist() == [2, 2] and compiled.captures == 1
    outer = weft.compile(lambda x: loaded(x) + 1)
    assert host(outer(weft.ones(2))).tolist() == [3, 3] == host(outer(weft.ones(2))).tolist()


def test_devices(path):
    for device in weft.devices():
        if device.kind == "cpu":
            continue
        x = weft.asarray(np.arange(6, dtype="f4").reshape(2, 3), device=device)
        loaded = kept(path, lambda x: (x - x.max(axis=1, keepdims=True)) * 2 + 1, x)
        assert same(host(loaded(x)), host((x - x.max(axis=1, keepdims=True)) * 2 + 1))
        with pytest.raises(ValueError, match="captured for a float32 of"):
            loaded(weft.asarray(host(x), device="cpu"))
        text = path.read_text()
        name = f"@{device.name}"
        assert name in text
        with pytest.raises(ValueError, match="is not here"):
            _of_text(summed(text.replace(name, "@cuda:99")))


def test_threads(path):
    loaded = kept(path, step, *state(), rate=0.25)
    expected = [host(step(*state(seed), rate=0.25)) for seed in range(4)]
    wrong = []

    def work(seed):
        for _ in range(20):
            if not same(host(loaded(*state(seed), rate=0.25)), expected[seed]):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def summed(text):
    """A text with its checksum put right."""
    body = text[: text.rindex("end ")] if "end " in text else text
    return f"{body}end {hashlib.sha256(body.encode('ascii', 'replace')).hexdigest()}\n"


def texts(path):
    """Graphs of every kind of line."""
    weight = weft.asarray(np.arange(4.0))

    def lines(x, y, k):
        x[1:] += weight[:3] * k
        low, high = weft.divmod(x, 2.0)
        z = weft.broadcast_to(y, (3, 4)).copy()
        z[::2, 1] = 5
        return x, z.T, low.view("int64"), high.reshape(2, 2).astype("f4"), z.argmin(axis=1), weft.arange(1, 5) + z.sum(axis=(0, 1))

    for function, *args in [(step, *state()), (lines, weft.ones(4), weft.ones(4), 2)]:
        weft.save_graph(path, function, *args)
        yield path.read_text()
    for seed in range(40):
        program = Captured(seed)
        try:
            weft.save_graph(path, program.__call__, *program.arrays())
        except ValueError:
            continue
        if len(path.read_bytes()) < 20_000:
            yield path.read_text()


def reworded(rng, text):
    """A text with a word in the place of another one, a number changed, or a line left out, repeated or moved."""
    lines = text.split("\n")[:-2]
    sort, at = rng.randrange(10), rng.randrange(3, len(lines))
    if sort == 0:
        del lines[at]
    elif sort == 1:
        lines.insert(rng.randrange(3, len(lines)), lines[at])
    elif sort == 2:
        other = rng.randrange(3, len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    else:
        words = lines[at].split(" ")
        place = rng.randrange(len(words))
        if sort < 6:
            words[place] = rng.choice(rng.choice(lines[3:]).split(" "))
        else:
            digits = [i for i, c in enumerate(words[place]) if c.isdigit()]
            if digits:
                i = rng.choice(digits)
                words[place] = (
                    words[place][:i] + rng.choice(["0", "1", "2", "3", "7", "99", "-1", "4611686018427387904"]) + words[place][i + 1 :]
                )
        lines[at] = " ".join(words)
    return "\n".join(lines) + "\nend "


def test_damaged_files_are_refused(path):
    for text in texts(path):
        content = text.encode()
        rng = random.Random(len(text))
        for _ in range(20):
            at = rng.randrange(len(content))
            changed = bytes([rng.choice([b for b in range(256) if b != content[at]])])
            path.write_bytes(content[:at] + changed + content[at + 1 :])
            with pytest.raises(ValueError, match=r"is no graph: .*line \d+"):
                weft.load_graph(path)
        for cut in (0, 5, len(content) // 2, len(content) - 1):
            path.write_bytes(content[:cut])
            with pytest.raises(ValueError, match=r"line \d+"):
                weft.load_graph(path)
        path.write_bytes(content + b"\n")
        with pytest.raises(ValueError, match=r"line \d+"):
            weft.load_graph(path)


def test_changed_texts_are_refused_or_mean_something(path):
    """With a right checksum: what is accepted computes something, or raises, and never reads what is not there."""
    all_texts = list(texts(path))
    accepted = 0
    for seed in range(DAMAGED):
        rng = random.Random(seed)
        text = summed(reworded(rng, all_texts[seed % len(all_texts)]))
        try:
            loaded = _of_text(text)
        except ValueError as error:
            assert str(error).startswith(("line ", "it is of")), error
            continue
        accepted += 1
        lengths = [[int(n) for n in shape.split(",") if n] for shape in re.findall(r"\[([0-9,]*)\] ", text)]
        if max(map(math.prod, lengths), default=0) < 1_000_000:
            run(loaded, text)
    assert accepted > DAMAGED // 50


def run(loaded, text):
    """Calls a graph with arrays of the types that it names."""
    arrays = []
    for line in text.split("\n"):
        words = line.split(" ")
        if words[0].startswith("%") and words[3:4] == ["argument"]:
            dtype, shape = words[1].rstrip("]").split("[")
            arrays.append(weft.ones(tuple(int(n) for n in shape.split(",") if n), dtype=dtype))
    try:
        results = loaded._graph.replay_anyhow(arrays)
        weft.eval(*results)
    except (ValueError, MemoryError, IndexError, OverflowError, TypeError):
        pass


def test_versions_and_frames(path):
    weft.save_graph(path, lambda x: x + 1, weft.zeros(2))
    text = path.read_text()
    for other, what in [
        (text.replace("weft-graph 1", "weft-graph 2"), "line 1: it is of version 2, and this Weft reads version 1"),
        (text.replace("weft-graph 1", "weft graph 1"), "line 1: a graph begins with"),
        (summed(text.replace("arguments [", "arguments [[")), "line 2: this is no JSON"),
        (summed(text.replace('["array", 0]', '["array", 1]', 1)), "line 2: it has to name the arrays 0 to 0"),
        (summed(text.replace('returns [["array", 0]]', 'returns [["tuple", ["array", 0], ["array", 0]]]')), "line 3: it has to name"),
        (summed(text.replace('returns [["array", 0]]', "returns " + "[" * 5000 + "]" * 5000)), "line 3: "),
        (summed(text.replace("map add", "map __import__")), "line 6: there is no operation"),
        (summed(text.replace("%2 float64[2]", "%2 float64[3]")), "line 6: the operands' shapes do not broadcast"),
        (summed(text.replace("%0 %1", "%0 %7")), "line 6: %7 is no value before this line"),
        (summed(text.replace("%0 %1", "%0 %1 %1")), 'line 6: "%1" is too much'),
        (summed(text.replace("%0 float64[2]", "%0 float64[4611686018427387904,8]")), "line 4: "),
        (text.replace("end ", "end 0"), "the checksum is another one"),
    ]:
        assert other != text
        with pytest.raises(ValueError) as caught:
            _of_text(other)
        assert what in str(caught.value), (what, str(caught.value))
    path.write_bytes(text.encode() + "é".encode())
    with pytest.raises(ValueError, match="is no ASCII"):
        weft.load_graph(path)
    with pytest.raises(FileNotFoundError):
        weft.load_graph(path.with_name("none"))

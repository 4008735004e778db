"""Vectorised functions of arrays: recorded, fused with what is around them, with the bits that they have when they are called at once."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import weft
from weft._weft import _is_evaluated, ndarray

RNG = np.random.default_rng(11)


@weft.vectorize
def blend(a, b, t):
    return a + (b - a) * t


@weft.vectorize
def five(a, b, c, d, e):
    return a * b + np.sin(c) - d / e


@weft.vectorize
def steps(x, limit):
    n = 0
    while x > limit and n < 60:
        x = x / 2
        n += 1
    return n


@weft.vectorize(["float32(float32)", "float64(float64)"])
def halved(x):
    return x / 2


@weft.vectorize
def checked_root(x):
    if x < 0:
        raise ValueError("negative")
    return np.sqrt(x)


def bits(x):
    return np.ascontiguousarray(weft.asnumpy(x)).tobytes()


def check(result, expected):
    expected = np.asarray(expected)
    assert type(result) is ndarray and result.dtype == expected.dtype and result.shape == expected.shape
    assert bits(result) == np.ascontiguousarray(expected).tobytes()


def test_it_is_recorded():
    x = weft.asarray(RNG.random(1000)) * 2
    y = blend(x, 1.0, 0.25)
    assert not _is_evaluated(x) and not _is_evaluated(y)
    with weft.syncs("error"):
        blend(x, x, x) + 1


def test_it_fuses_with_what_is_around_it():
    x, y = weft.asarray(RNG.random(100)), weft.asarray(RNG.random(100))
    explained = weft.explain(blend(x * 2, y, 0.5) + 1)
    assert len(explained.kernels) == 1 and "blend(" in explained.kernels[0].text


def test_functions_of_the_library_inside_cost_what_they_cost_outside():
    columns = [weft.asarray(RNG.random(100)) for _ in range(5)]
    assert len(weft.explain(five(*columns) * 2 + 1).kernels) == 1


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "u8", "f2", "c16"])
def test_dtypes_and_shapes(dtype):
    a, b = (RNG.random((5, 7)) * 9).astype(dtype), (RNG.random(7) * 9).astype(dtype)
    x, y = weft.asarray(a), weft.asarray(b)
    check(blend(x, y, 2), blend(a, b, 2))
    check(blend(x.T[:, ::-1], x.T, b[0]), blend(a.T[:, ::-1], a.T, b[0]))
    check(blend(x, b, 1), blend(a, b, 1))
    check(blend([1, 2, 3], x[:, :3], 1), blend([1, 2, 3], a[:, :3], 1))
    check(blend(x[0, 0], y[:0], 1), blend(a[0, 0], b[:0], 1))


def test_mixed_dtypes():
    a, b = np.arange(6, dtype="i4"), RNG.random(6).astype("f4")
    check(blend(weft.asarray(a), weft.asarray(b), 0.5), blend(a, b, 0.5))
    check(five(weft.asarray(a), b, 2, np.float32(3), weft.asarray(b + 1)), five(a, b, 2, np.float32(3), b + 1))
    check(blend(weft.asarray(a), True, np.int8(3)), blend(a, True, np.int8(3)))


def test_a_result_without_axes_is_an_array():
    result = blend(weft.asarray(1.0), 2, 0.5)
    assert type(result) is ndarray and result.shape == () and float(result) == 1.5


def test_many_operands_and_loops():
    columns = [RNG.random(1000) + 0.5 for _ in range(5)]
    check(five(*map(weft.asarray, columns)), five(*columns))
    a = RNG.random(1000) * 1e6
    check(steps(weft.asarray(a), 3.0) + 1, steps(a, 3.0) + 1)


def test_declared_signatures():
    a = np.arange(5, dtype="f4")
    check(halved(weft.asarray(a)), halved(a))
    check(halved(weft.asarray(a).astype("f8")), halved(a.astype("f8")))
    check(halved(weft.asarray(a.astype("i2"))), halved(a.astype("i2")))
    check(halved(weft.asarray(a), dtype="f8"), halved(a, dtype="f8"))
    with pytest.raises(weft.TypingError):
        halved(weft.asarray(a.astype("c16")))


def test_out():
    a, b = RNG.random(6), RNG.random(6)
    x, y, out = weft.asarray(a), weft.asarray(b), weft.zeros((2, 6))
    pending = out + 1
    assert blend(x, y, 0.5, out=out[1]) is not None and blend(x, y, 0.5, out=(out,)) is out
    assert (weft.asnumpy(out) == np.stack([blend(a, b, 0.5)] * 2)).all() and (weft.asnumpy(pending) == 1).all()
    host = np.zeros(6, "f4")
    assert blend(x, y, 0.5, out=host, casting="same_kind") is host
    assert (host == blend(a, b, 0.5, out=np.zeros(6, "f4"))).all()
    whole = weft.zeros(6, dtype="f4")
    assert blend(a, b, 0.5, whole) is whole and bits(whole) == host.tobytes()
    x[...] = a
    blend(x[::-1], x, 0.5, out=x)
    assert (weft.asnumpy(x) == blend(a[::-1], a, 0.5)).all()


def test_out_is_checked():
    x = weft.asarray(RNG.random(3))
    with pytest.raises(TypeError, match="cannot cast the output"):
        blend(x, x, 1.0, out=weft.zeros(3, dtype="i4"))
    with pytest.raises(ValueError, match="non-broadcastable output"):
        blend(x, x, 1.0, out=weft.zeros(()))
    with pytest.raises(ValueError, match="read-only"):
        blend(x, x, 1.0, out=weft.broadcast_to(weft.asarray(0.0), (3,)))
    with pytest.raises(ValueError):
        blend(x, weft.zeros(4), 1.0)
    with pytest.raises(weft.UnsupportedError, match="order='F'"):
        blend(x, x, 1.0, order="F")
    with pytest.raises(TypeError, match="signature"):
        blend(x, x, 1.0, signature="ddd->d")


def test_where():
    a, mask = RNG.random(6), np.arange(6) % 2 == 0
    x, out = weft.asarray(a), weft.full(6, 5.0)
    blend(x, 2, 0.5, out=out, where=mask)
    expected = blend(a, 2, 0.5, out=np.full(6, 5.0), where=mask)
    assert bits(out) == expected.tobytes()
    host = np.full(6, 5.0)
    blend(a, 2, 0.5, out=host, where=weft.asarray(mask))
    assert (host == expected).all()
    check(blend(x, 2, 0.5, where=mask)[mask.nonzero()[0]], expected[mask])
    assert bits(blend(x, 2, 0.5, where=True)) == blend(a, 2, 0.5).tobytes()
    with pytest.raises(TypeError, match="where must be an array of bool"):
        blend(x, 2, 0.5, where=x)


def test_dtype_and_casting():
    a = np.arange(4)
    x = weft.asarray(a)
    check(blend(x, 2, 1, dtype="f4"), blend(a, 2, 1, dtype="f4"))
    with pytest.raises(TypeError):
        blend(x, 2.5, 1, dtype="i4", casting="safe")
    with pytest.raises(ValueError, match="casting must be"):
        blend(x, 2, 1, casting="any")


def test_what_raises_runs_at_once():
    x = weft.asarray([1.0, 4.0])
    y = checked_root(x)
    assert type(y) is ndarray and _is_evaluated(y) and weft.asnumpy(y).tolist() == [1, 2]
    with pytest.raises(ValueError, match="negative"):
        checked_root(x - 2)
    out = weft.zeros(2)
    assert checked_root(x, out=out, where=weft.asarray([True, False])) is out and weft.asnumpy(out).tolist() == [1, 0]


def test_what_prints_prints_once(capfd):
    @weft.vectorize
    def loud(x):
        print("x")
        return x + 1

    y = loud(weft.asarray([1.0])) * 2
    assert weft.asnumpy(y + y).tolist() == [8]
    assert sum(capfd.readouterr().out.count("x") for _ in range(1)) == 1


def test_fast_math_runs_at_once_with_its_own_bits():
    @weft.vectorize(fastmath=True)
    def sloppy(a, b, c):
        return a * b + c

    columns = [RNG.random(1000) for _ in range(3)]
    result = sloppy(*map(weft.asarray, columns))
    assert _is_evaluated(result) and bits(result) == sloppy(*columns).tobytes()


def test_a_function_defined_again_is_another():
    x = weft.asarray([1.0, 2.0])

    def times(by):
        @weft.vectorize
        def times(a):
            return a * by

        return times

    made = [times(by)(x) + 0 for by in (2.0, 3.0)]
    assert [weft.asnumpy(y).tolist() for y in made] == [[2, 4], [3, 6]]


def test_tables_and_helpers_of_several_functions():
    first, second = np.array([1.0, 10.0, 100.0]), np.array([2.0, 20.0, 200.0])

    @weft.njit
    def helper(x):
        return np.cos(x) + 1

    @weft.vectorize
    def one(i, x):
        return first[i] * helper(x)

    @weft.vectorize
    def two(i, x):
        return second[i] + helper(x) * np.exp(x)

    index, host = np.arange(300) % 3, RNG.random(300)
    i, x = weft.asarray(index), weft.asarray(host)
    for _ in range(2):
        check(two(i, one(i, x) * 0.01) + one(i, x), two(index, one(index, host) * 0.01) + one(index, host))


def test_the_gpu_s_functions_take_arrays():
    @weft.vectorize(target="cuda")
    def scaled(x, by):
        return x * by

    a = RNG.random(100)
    result = scaled(weft.asarray(a), 3.0)
    assert type(result) is ndarray and bits(result) == (a * 3.0).tobytes()


PROGRAM = """
import hashlib
import numpy as np
import weft

@weft.vectorize
def f(a, b, c, d, e):
    return np.exp(a * b) + np.sin(c) * d - e / (a + 1)

@weft.vectorize
def g(a, b):
    return a if a > b else b * b

rng = np.random.default_rng(5)
digest = hashlib.sha256()
for n in (1, 7, 1000, 4096):
    columns = [weft.asarray(rng.random((3, n)).astype(t)) for t in ("f8", "f4", "f8", "f8", "f4")]
    for _ in range(3):
        y = g(f(*columns) * 0.5, columns[1][:, ::-1]) + np.float32(2)
        host = [weft.asnumpy(c) for c in columns]
        expected = g(f(*host) * 0.5, host[1][:, ::-1]) + np.float32(2)
        assert weft.asnumpy(y).tobytes() == expected.tobytes()
        digest.update(weft.asnumpy(y).tobytes())
        columns[0] = columns[0] + y.mean()
print(digest.hexdigest(), weft._weft._compiled_count() > 0)
"""


def test_both_tiers_have_the_same_bits(tmp_path):
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)

    def run(tier):
        env = {**os.environ, "WEFT_ARRAYS_TIER": tier}
        done = subprocess.run([sys.executable, str(file)], env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    (tiles, none), (compiled, some) = run("0"), run("1")
    assert tiles == compiled and (none, some) == ("False", "True")

"""Operations of few stored elements are done at once: with the bits that they have when they wait, and only where nobody can tell."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest

import weft
from weft._weft import _few_at_once, _is_evaluated, ndarray
from weft.arrays.ufuncs import UFUNCS

DTYPES = [np.dtype(letter) for letter in "?bBhHiIlLefdFD"]
MOST = 128
RNG = np.random.default_rng(3)
# Of the CPU, whatever the tests' device is.
CPU = "cpu"


def array(values) -> ndarray:
    return weft.asarray(values, device=CPU)


def some(dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    values = RNG.normal(size=shape) * 9
    if dtype.kind in "fc":
        values.flat[:: max(values.size // 3, 1)] = np.nan
    return values.astype(np.int64).astype(dtype) if dtype.kind in "biu" else values.astype(dtype)


def shown(result) -> list:
    """What a call gives, bit for bit, or what it raises."""
    results = result if isinstance(result, tuple) else (result,)
    return [(str(each.dtype), each.shape, weft.asnumpy(each).tobytes()) for each in results]


def outcome(act, *operands):
    try:
        return act(*operands)
    except Exception as error:
        return error


@pytest.fixture
def waiting():
    """What runs an operation with everything recorded."""

    def run(act, *operands):
        _few_at_once(False)
        try:
            result = outcome(act, *operands)
            return result if isinstance(result, Exception) else shown(result)
        finally:
            _few_at_once(True)

    yield run
    _few_at_once(True)


@pytest.mark.parametrize("name", sorted(UFUNCS))
@pytest.mark.filterwarnings("ignore")
def test_every_ufunc_gives_the_same_bits(name, waiting):
    """Of all dtypes, of arrays and numbers, as many elements as there are at the most among them."""
    function = UFUNCS[name]
    for first, second in itertools.product(DTYPES, DTYPES if function.nin > 1 else DTYPES[:1]):
        for shape in ((5,), (2, 64), ()):
            x, y = array(some(first, shape)), array(some(second, shape))
            pairs = [(x,)] if function.nin == 1 else [(x, y), (x, array(some(second, ()))), (x, 3), (2, y)]
            for operands in pairs:
                now = outcome(function, *operands)
                expected = waiting(function, *operands)
                if isinstance(now, Exception):
                    assert (type(now), str(now)) == (type(expected), str(expected))
                else:
                    assert shown(now) == expected, (name, first, second, shape)


@pytest.mark.filterwarnings("ignore")
def test_casts_and_choices(waiting):
    for first, second in itertools.product(DTYPES, DTYPES):
        x, y = array(some(first, (7,))), array(some(second, (7,)))
        with np.errstate(all="ignore"):
            cast = x.astype(second)
            assert _is_evaluated(cast) and shown(cast) == waiting(lambda x=x, to=second: x.astype(to))
            assert shown(weft.where(x != 0, x, y)) == waiting(lambda x=x, y=y: weft.where(x != 0, x, y))


def test_what_is_done_at_once():
    x, large, number = array(np.arange(MOST)), array(np.arange(MOST + 1)), array(np.array(3))
    for done in (
        x + x,
        x * 2,
        x + number,
        2.5 - x,
        x == x,
        -x,
        number + 1,
        x + np.arange(MOST),
        x.astype(np.float32),
        x + weft.ones(MOST, device=CPU),
    ):
        assert _is_evaluated(done)
    for waits in (large + large, large * number, x[::2] + 1, x.reshape(2, 64) * 2, array(np.ones((1, 3))) + array(np.ones((2, 1)))):
        assert not _is_evaluated(waits)
    created = weft.arange(5, device=CPU)
    assert not _is_evaluated(created * 2)


def test_what_writes_comes_after_what_was_read():
    x = array(np.arange(8.0))
    before, view = x * 2, x[::-1]
    x += before
    view[:3] = x[:3] * 10
    expected = np.arange(8.0)
    expected += np.arange(8.0) * 2
    expected[::-1][:3] = expected[:3] * 10
    assert x.tolist() == expected.tolist() and before.tolist() == [0, 2, 4, 6, 8, 10, 12, 14]
    y = array(np.arange(4))
    kept, y[1] = y + y, 50
    weft.add(y, y, out=y)
    assert kept.tolist() == [0, 2, 4, 6] and y.tolist() == [0, 100, 4, 6]


def test_captured_functions_keep_their_operations():
    @weft.compile
    def chain(x, y):
        return (x + y) * 2 - x

    for turn in range(3):
        x, y = np.arange(5.0) + turn, np.ones(5)
        assert chain(array(x), array(y)).tolist() == ((x + y) * 2 - x).tolist()


def test_nobody_has_looked():
    with weft.syncs("error"):
        (array(np.arange(5)) + 1) * 2


def test_of_the_compiled_tier_nothing_is():
    code = """
import numpy as np, weft
from weft._weft import _is_evaluated
x = weft.asarray(np.arange(5), device="cpu")
print(_is_evaluated(x + x), (x + x).tolist())
"""
    ran = subprocess.run([sys.executable, "-c", code], env=os.environ | {"WEFT_ARRAYS_TIER": "1"}, capture_output=True, text=True)
    assert ran.stdout.split() == ["False", "[0,", "2,", "4,", "6,", "8]"], ran.stderr

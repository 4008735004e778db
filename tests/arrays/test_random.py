"""`weft.random`: known answers, whole streams against an independent reference, splits, state, captures, threads."""

from __future__ import annotations

import copy
import doctest
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import weft
from weft.random import XORWOW, Generator, Philox4x32, RandomState, SeedSequence, default_rng

LOW = 0xFFFFFFFF
KEY = 0x1234567890ABCDEF


def philox(counter: int, key: int) -> list[int]:
    """The four words of a block, as the paper has it."""
    c, k = [counter >> 32 * i & LOW for i in range(4)], [key & LOW, key >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ k[0], b & LOW, a >> 32 ^ c[3] ^ k[1], a & LOW]
        k = [k[0] + 0x9E3779B9 & LOW, k[1] + 0xBB67AE85 & LOW]
    return c


def blocks(counters: np.ndarray, key: int = KEY, high: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The halves of blocks, by NumPy."""
    low = np.uint64(LOW)
    half = np.uint64(32)
    c = [counters & low, counters >> half, np.full_like(counters, high & LOW), np.full_like(counters, high >> 32)]
    k = [key & LOW, key >> 32]
    for _ in range(10):
        a, b = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [b >> half ^ c[1] ^ np.uint64(k[0]), b & low, a >> half ^ c[3] ^ np.uint64(k[1]), a & low]
        k = [k[0] + 0x9E3779B9 & LOW, k[1] + 0xBB67AE85 & LOW]
    return c[0] << half | c[1], c[2] << half | c[3]


def xorwow(seed: int, count: int) -> np.ndarray:
    """The words of cuRAND's generator, as its headers and Marsaglia's paper have them."""
    s0, s1 = seed & LOW ^ 0xAAD26B49, seed >> 32 ^ 0xF7DCEFDD
    t0, t1 = 1099087573 * s0 & LOW, 2591861531 * s1 & LOW
    v = [123456789 + t0 & LOW, 362436069 ^ t0, 521288629 + t1 & LOW, 88675123 ^ t1, 5783321 + t0 & LOW]
    d = 6615241 + t1 + t0 & LOW
    found = []
    for _ in range(count):
        t = v[0] ^ v[0] >> 2
        v = [*v[1:], (v[4] ^ v[4] << 4 ^ t ^ t << 1) & LOW]
        d = d + 362437 & LOW
        found.append(v[4] + d & LOW)
    return np.array(found, np.uint32)


def host(x: weft.ndarray) -> np.ndarray:
    assert type(x) is weft.ndarray
    return weft.asnumpy(x)


KNOWN = [
    (0, 0, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    (2**128 - 1, 2**64 - 1, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    (0x0370734413198A2E85A308D3243F6A88, 0x299F31D0A4093822, "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


@pytest.mark.parametrize(("counter", "key", "words"), KNOWN)
def test_known_answers_of_philox(counter: int, key: int, words: str) -> None:
    """The vectors of Random123's `kat_vectors` for philox4x32 with 10 rounds."""
    expected = [int(word, 16) for word in words.split()]
    assert philox(counter, key) == expected
    assert int(Philox4x32(counter=counter, key=key).random_raw()) == expected[0] << 32 | expected[1]
    # The sine of the angle that the second half is: here it is seen alone.
    x = int(np.int64(np.uint64(expected[2] << 32 | expected[3]))) * 2.0**-64
    u = ((expected[0] << 32 | expected[1]) + 0.5) * 2.0**-64
    normal = float(Generator(Philox4x32(counter=counter, key=key)).standard_normal())
    assert np.isclose(normal, np.sqrt(-2 * np.log(u)) * np.sin(np.pi * x), rtol=1e-14)


def test_known_answers_of_xorwow() -> None:
    """The start that Marsaglia's paper gives (there d is added after it went on, as here); and cuRAND's of seeds."""
    bits = XORWOW(0)
    words = [123456789, 362436069, 521288629, 88675123, 5783321]
    bits.state = {"bit_generator": "XORWOW", "state": {"words": words, "counter": 6615241}}
    t = words[0] ^ words[0] >> 2
    first = (words[4] ^ words[4] << 4 ^ t ^ t << 1) & LOW
    assert int(bits.random_raw()) == first + 6615241 + 362437 & LOW
    for seed in (0, 1, 2**40 + 12345, 2**64 - 1):
        assert (host(XORWOW(seed).random_raw(1000)) == xorwow(seed, 1000)).all()


@pytest.mark.parametrize("position", [0, 5, 2**32 - 500, 2**63 - 300, 2**64 - 400])
def test_the_stream_is_that_of_the_reference(position: int) -> None:
    at = np.uint64(position) + np.arange(1000, dtype=np.uint64)
    a, b = blocks(at, KEY, 7 << 32)
    start = position | 7 << 96

    def g() -> Generator:
        return Generator(Philox4x32(counter=start, key=KEY))

    assert (host(g().bit_generator.random_raw(1000)) == a).all()
    assert (host(g().random(1000)) == (a >> np.uint64(11)) * 2.0**-53).all()
    assert (host(g().random(1000, dtype=np.float32)) == (a >> np.uint64(40)).astype(np.float32) * np.float32(2**-24)).all()
    x = np.sqrt(-2 * np.log((a.astype(float) + 0.5) * 2.0**-64)) * np.sin(np.pi * b.view(np.int64) * 2.0**-64)
    assert np.allclose(host(g().standard_normal(1000)), x, rtol=1e-13, atol=1e-15)
    assert np.allclose(host(g().standard_normal(1000, dtype=np.float32)), x, rtol=2e-6, atol=2e-5)
    assert np.allclose(host(g().standard_exponential(1000)), -np.log((a.astype(float) + 0.5) * 2.0**-64), rtol=1e-14)
    assert (host(g().integers(0, 2**32, 1000)) == (a >> np.uint64(32)).astype(np.int64)).all()
    expected = [int(word) * 1000 >> 64 for word in a]
    assert host(g().integers(5, 1005, 1000)).tolist() == [5 + each for each in expected]
    assert g().bytes(20) == a.astype("<u8").tobytes()[:20]


def test_bits_that_would_make_some_numbers_likelier_are_drawn_anew() -> None:
    n = 3 * 2**62
    a, b = blocks(np.arange(2000, dtype=np.uint64))
    c, _ = blocks(np.arange(2000, dtype=np.uint64), high=1)
    expected = []
    for words in zip(a.tolist(), b.tolist(), c.tolist()):
        kept = [word * n >> 64 for word in words if word * n % 2**64 >= 2**64 % n]
        expected.append(kept[0] if kept else None)
    found = host(Generator(Philox4x32(key=KEY)).integers(0, n, 2000, dtype=np.uint64)).tolist()
    assert sum(x is None for x in expected) < 100 and len({*expected}) > 1800
    assert all(x is None or x == y for x, y in zip(expected, found))


# Every distribution, as a call with a size.
CALLS = [
    "random({})", "random({}, np.float32)", "standard_normal({})", "standard_exponential({})", "standard_gamma(0.5, {})",
    "standard_gamma(2.5, {}, np.float32)", "uniform(2, 3, {})", "normal(1, 2, {})", "lognormal(1, 2, {})", "exponential(2, {})",
    "gamma(2, 3, {})", "beta(0.5, 2, {})", "chisquare(3, {})", "noncentral_chisquare(3, 1, {})", "f(3, 4, {})",
    "noncentral_f(3, 4, 1, {})", "standard_t(3, {})", "standard_cauchy({})", "laplace(1, 2, {})", "logistic(1, 2, {})",
    "gumbel(1, 2, {})", "pareto(2, {})", "power(2, {})", "rayleigh(2, {})", "wald(1, 2, {})", "weibull(2, {})",
    "triangular(0, 1, 3, {})", "vonmises(1, 2, {})", "integers(0, 100, {})", "integers(-5, 5, {}, np.int8)", "integers(0, 2, {}, bool)",
    "poisson(3, {})", "poisson(30, {})", "binomial(10, 0.3, {})", "binomial(1000, 0.3, {})", "geometric(0.3, {})",
    "negative_binomial(3, 0.3, {})", "hypergeometric(5, 6, 7, {})", "hypergeometric(500, 600, 700, {})", "zipf(2, {})",
    "logseries(0.5, {})", "dirichlet([1, 2, 3], {})", "multinomial(10, [0.2, 0.8], {})", "multivariate_hypergeometric([3, 4, 5], 6, {})",
    "multivariate_normal([0, 1], [[2, 1], [1, 2]], {})", "choice(10, {})", "choice(4, {}, p=[0.1, 0.2, 0.3, 0.4])",
]  # fmt: skip


def drawn(g: Generator, call: str, size: object) -> np.ndarray:
    return host(eval("g." + call.format("size"), {"g": g, "np": np, "size": size}))


@pytest.mark.parametrize("bits", [Philox4x32, XORWOW])
@pytest.mark.parametrize("call", CALLS)
def test_however_it_is_split_it_is_the_same(call: str, bits: type) -> None:
    whole = drawn(Generator(bits(9)), call, 700)
    g = Generator(bits(9))
    parts = [drawn(g, call, n) for n in (2, 0, 1, 130, 567)]
    assert np.concatenate(parts).tobytes() == whole.tobytes()
    for shape in [(2, 350), (700,), (350, 2), (7, 10, 10), (1, 700)]:
        found = drawn(Generator(bits(9)), call, shape)
        assert found.shape[: len(shape)] == shape and found.tobytes() == whole.tobytes()
    one = drawn(Generator(bits(9)), call, None)
    assert one.tobytes() == whole[0].tobytes()


def test_rows_that_are_long_are_counted_along_their_axes() -> None:
    whole = host(default_rng(9).normal(size=3 * 2 * 300))
    found = default_rng(9).normal(size=(3, 2, 300))
    assert (host(found).ravel() == whole).all()
    assert (host(default_rng(9).normal(size=(3, 2, 300)).transpose(2, 0, 1)[5]) == whole.reshape(3, 2, 300)[:, :, 5]).all()


def test_it_fuses_with_what_uses_it() -> None:
    """Monte Carlo's pi stores nothing of the points' size."""
    g = default_rng(7)
    n = 400_000
    x, y = g.random(n), g.random(n)
    explained = weft.explain((x * x + y * y < 1).mean() * 4)
    assert sum(kernel.read + kernel.written for kernel in explained.kernels) < 100
    # What is drawn by rejection fuses as well.
    explained = weft.explain((g.gamma(0.5, size=(20, 20_000)) < weft.arange(20.0)[:, None]).sum(axis=1))
    assert sum(kernel.read + kernel.written for kernel in explained.kernels) < 1000
    a = host(default_rng(7).random(2 * n)).reshape(2, n)
    g = default_rng(7)
    x, y = g.random(n), g.random(n)
    assert float((x * x + y * y < 1).sum()) == float((a[0] ** 2 + a[1] ** 2 < 1).sum())


def test_parameters_broadcast() -> None:
    g = default_rng(3)
    loc, scale = np.arange(6.0).reshape(3, 2, 1), np.arange(1.0, 5)
    expected = loc + scale * host(default_rng(3).standard_normal((3, 2, 4)))
    assert np.allclose(host(g.normal(loc, scale)), expected, rtol=1e-15)
    assert (host(default_rng(3).normal(weft.asarray(loc), weft.asarray(scale[::-1])[::-1], size=(3, 2, 4))) == expected).all()
    assert default_rng(3).normal(loc, scale, (5, 3, 2, 4)).shape == (5, 3, 2, 4)
    low, high = [0, 10, -(2**63)], [[1], [2**63]]
    with pytest.raises(ValueError, match="low >= high"):
        g.integers(low, high)
    found = host(g.integers([0, 10, -(2**63)], [[11], [2**63]], size=(1000, 2, 3)))
    assert (found[:, 0, 1] == 10).all() and found[:, 1, 2].min() < -(2**61) and found[:, 1, 2].max() > 2**61
    assert host(g.integers(np.array([2**63], np.uint64), [2**64], size=(100, 1), dtype=np.uint64)).min() >= 2**63


@pytest.mark.parametrize("dtype", ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_integers_of_every_dtype(dtype: str) -> None:
    least, most = (0, 1) if dtype == "bool" else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
    x = host(default_rng(1).integers(least, most, 4000, dtype=dtype, endpoint=True))
    assert x.dtype == dtype
    assert x.min() <= least + (most - least) * 0.01 and x.max() >= most - (most - least) * 0.01
    wide = np.where(x > least + (most - least) // 2, 1, 0).mean()
    assert 0.45 < wide < 0.55
    assert (host(default_rng(1).integers(most, most, 5, dtype=dtype, endpoint=True)) == most).all()
    assert (host(default_rng(1).integers(least, least + 1, 5, dtype=dtype)) == least).all()


def test_out() -> None:
    for dtype in (np.float64, np.float32):
        for name, args in [("random", ()), ("standard_normal", ()), ("standard_exponential", ()), ("standard_gamma", (2.0,))]:
            out = weft.zeros((3, 4), dtype)
            assert getattr(default_rng(2), name)(*args, dtype=dtype, out=out) is out
            assert (host(out) == host(getattr(default_rng(2), name)(*args, (3, 4), dtype=dtype))).all()
    out = weft.zeros(3)
    default_rng(2).standard_gamma([1.0, 2.0, 3.0], out=out)
    assert (host(out) == host(default_rng(2).standard_gamma([1.0, 2.0, 3.0]))).all()
    with pytest.raises(TypeError, match="is a weft"):
        default_rng(2).random(out=np.zeros(3))


def test_orders_and_choices_keep_what_there_is() -> None:
    g = default_rng(4)
    a = np.arange(24).reshape(4, 6)
    for axis in (0, 1, -1):
        found = host(g.permutation(a, axis))
        assert found.shape == a.shape and np.array_equal(np.sort(found, axis), np.sort(a, axis))
        lines = found if axis == 0 else found.T
        assert sorted(map(tuple, lines)) == sorted(map(tuple, a if axis == 0 else a.T))
        mixed = host(g.permuted(a, axis=axis))
        assert np.array_equal(np.sort(mixed, axis), a) and not np.array_equal(mixed, a)
    assert sorted(host(g.permuted(a)).ravel()) == sorted(a.ravel())
    x = weft.asarray(a)
    view = x[1:3]
    g.shuffle(view, axis=1)
    assert np.array_equal(host(x)[[0, 3]], a[[0, 3]]) and sorted(map(tuple, host(view).T)) == sorted(map(tuple, a[1:3].T))
    items = list("abcdefgh")
    g.shuffle(items)
    assert sorted(items) == list("abcdefgh") and items != list("abcdefgh")
    theirs = a.copy()
    g.shuffle(theirs)
    assert sorted(map(tuple, theirs)) == sorted(map(tuple, a))
    assert np.array_equal(host(default_rng(4).choice(a, 3, axis=1)), a[:, host(default_rng(4).choice(6, 3))])


@pytest.mark.parametrize(("n", "k"), [(10, 10), (10, 0), (5000, 3), (10**15, 2000), (2000, 2000), (2**63 - 1, 40)])
def test_choices_without_replacement_are_the_first_steps_of_a_shuffle(n: int, k: int) -> None:
    """With a list of places as well as with a table of those that were exchanged."""
    moved: dict[int, int] = {}
    expected = []
    for i, word in enumerate(blocks(np.arange(k, dtype=np.uint64))[0].tolist()):
        j = i + (word * (n - i) >> 64)
        expected.append(moved.get(j, j))
        moved[j] = moved.get(i, i)
    found = host(Generator(Philox4x32(key=KEY)).choice(n, k, replace=False)).tolist()
    assert found == expected and len({*found}) == k


def test_permutations_are_those_of_the_reference() -> None:
    n = 300
    words = blocks(np.arange(n, dtype=np.uint64))[0].tolist()
    expected = list(range(n))
    for i in range(n - 1, 0, -1):
        j = words[i] * (i + 1) >> 64
        expected[i], expected[j] = expected[j], expected[i]
    assert host(Generator(Philox4x32(key=KEY)).permutation(n)).tolist() == expected
    rows = host(Generator(Philox4x32(key=KEY)).permuted(np.broadcast_to(np.arange(4), (3, 4)), axis=1))
    one = [host(Generator(Philox4x32(key=KEY, counter=4 * row)).permutation(4)).tolist() for row in range(3)]
    assert rows.tolist() == one


def test_state_copies_and_spawned_streams() -> None:
    for bits in (Philox4x32, XORWOW):
        g = Generator(bits(11))
        g.random(13)
        others = [pickle.loads(pickle.dumps(g)), copy.deepcopy(g), Generator(bits(1))]
        others[2].bit_generator.state = g.bit_generator.state
        expected = host(g.normal(size=9)).tobytes()
        assert all(host(other.normal(size=9)).tobytes() == expected for other in others)
        children = g.spawn(2)
        again = Generator(bits(11)).spawn(2)
        assert [host(c.random(4)).tolist() for c in children] == [host(c.random(4)).tolist() for c in again]
        assert len({host(c.random(1)).item() for c in [*children, g]}) == 3
        with pytest.raises(ValueError, match="state must be for a"):
            g.bit_generator.state = {"bit_generator": "PCG64", "state": {}}
    assert Philox4x32(5).state["state"]["key"] == int(np.random.SeedSequence(5).generate_state(1, np.uint64)[0])
    assert SeedSequence is np.random.SeedSequence
    bits = Philox4x32(5)
    bits.advance(100).advance(-97)
    assert int(bits.random_raw()) == host(Philox4x32(5).random_raw(4))[3]
    assert int(Philox4x32(5).jumped(3).random_raw()) == int(
        blocks(np.zeros(1, np.uint64), Philox4x32(5).state["state"]["key"], 3 << 32)[0][0]
    )
    assert default_rng(g) is g and default_rng(bits).bit_generator is bits
    with pytest.raises(TypeError, match="NumPy's"):
        default_rng(np.random.default_rng(1))


def test_threads_never_draw_the_same() -> None:
    for bits in (Philox4x32, XORWOW):
        g = Generator(bits(3))
        with ThreadPoolExecutor(8) as pool:
            parts = list(pool.map(lambda _, g=g: host(g.random(50)), range(80)))
        assert np.array_equal(np.sort(np.concatenate(parts)), np.sort(host(Generator(bits(3)).random(4000))))


@pytest.mark.parametrize("bits", [Philox4x32, XORWOW])
def test_captured_functions_go_on(bits: type) -> None:
    """Each call of a captured function draws what the function itself would have drawn, in its order."""
    g = Generator(bits(21))

    def step(x):
        first = g.normal(size=3)
        unused = g.random(5)
        second = g.integers(0, 100, 3)
        order = g.permutation(3)
        return x + second - first, order, unused.sum() * 0 + g.gamma(weft.abs(x) + 1)

    captured = weft.compile(step)
    found = [[host(each) for each in captured(weft.full(3, float(i)))] for i in range(4)]
    assert captured.captures == 1
    g.bit_generator.state = bits(21).state
    expected = [[host(each) for each in step(weft.full(3, float(i)))] for i in range(4)]
    assert all(np.array_equal(a, b) for row, other in zip(found, expected) for a, b in zip(row, other))
    with pytest.raises(ValueError, match="scale < 0"):
        weft.compile(lambda x: g.normal(0, x))(weft.asarray([-1.0]))


def test_older_names() -> None:
    R = weft.random
    R.seed(5)
    first = [host(x) for x in (R.rand(2, 3), R.randn(4), R.randint(3, 9, 5), R.random_sample(2), R.normal(1, 2, 3), R.permutation(4))]
    state = R.get_state()
    after = host(R.uniform(size=3))
    R.set_state(state)
    assert (host(R.uniform(size=3)) == after).all()
    R.seed(5)
    again = [host(x) for x in (R.rand(2, 3), R.randn(4), R.randint(3, 9, 5), R.ranf(2), R.normal(1, 2, 3), R.permutation(4))]
    assert all(np.array_equal(a, b) for a, b in zip(first, again))
    same = RandomState(5)
    assert (host(same.rand(2, 3)) == first[0]).all()
    assert same.tomaxint().shape == () and R.sample().shape == () and R.rand().shape == ()
    with pytest.warns(DeprecationWarning, match="Please call randint"):
        assert 1 <= int(R.random_integers(3)) <= 3
    with pytest.raises(ValueError, match="legacy"):
        R.get_state(legacy=True)
    theirs = {name for name in np.random.__all__ if name[0].islower()}
    assert theirs - {*R.__all__} == set()
    assert {name for name in dir(np.random.Generator) if name[0] != "_"} - {*dir(Generator)} == set()
    assert {name for name in dir(np.random.RandomState) if name[0] != "_"} - {*dir(RandomState)} == set()
    theirs = {name for name in dir(np.random.Philox) if name[0] != "_"} - {"capsule", "cffi", "ctypes"}
    assert theirs - {*dir(Philox4x32)} == set()


# A few of each kind, by the beginnings of their names: to compile all for every tier and device would take minutes.
SOME = [call for call in CALLS if call.startswith(("random", "standard_n", "integers", "beta", "vonmises", "poisson", "dirichlet"))]
FEW = [call for call in CALLS if call.startswith(("random", "standard_n", "integers(0, 100", "vonmises"))]

TIERS = """
import hashlib, sys
import numpy as np
import weft
from tests.arrays.test_random import SOME, drawn
from weft.random import default_rng
if len(sys.argv) > 1:
    weft.set_num_threads(int(sys.argv[1]))
total = hashlib.sha256()
for call in SOME:
    total.update(drawn(default_rng(6), call, (3, 700)).tobytes())
x, y = default_rng(1).random(50000), default_rng(2).normal(size=50000)
total.update(repr(float((weft.exp(x) * y).sum())).encode())
print(total.hexdigest())
"""


def test_tiers_threads_and_vectors_give_the_same() -> None:
    def of(tier: str, threads: str, features: str = "") -> str:
        env = {**os.environ, "WEFT_ARRAYS_TIER": tier}
        if features:
            env["WEFT_CPU_FEATURES"] = features
        ran = subprocess.run([sys.executable, "-c", TIERS, threads], env=env, capture_output=True, text=True, cwd=os.getcwd())
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    assert len({of("0", "1"), of("1", "2"), of("0", "2", "sse2"), of("0", "1", "avx2")}) == 1


SEEDS = """
import numpy as np
import weft

def work(seed):
    g = weft.random.default_rng(seed)
    n = 1000 * (seed + 1)
    x, y = g.random(n), g.random(n)
    for each in ((x * x + y * y < 1).mean(), g.normal(seed, 1.0 + seed, n), g.integers(0, 10 + seed, n), g.random((10 + seed, 300))):
        np.asarray(each)
    weft._weft._finish_compiling()
    return weft._weft._compiled_count()

print([work(seed) for seed in range(6)])
"""


def test_new_seeds_places_and_parameters_compile_nothing() -> None:
    env = {**os.environ, "WEFT_ARRAYS_TIER": "1"}
    ran = subprocess.run([sys.executable, "-c", SEEDS], env=env, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    counts = eval(ran.stdout)
    assert 0 < counts[0] and len({*counts}) == 1


def test_devices_give_the_same(device: weft.Device) -> None:
    for call in FEW if device.kind == "vulkan" else SOME:
        found = eval("g." + call.format("size"), {"g": default_rng(6), "np": np, "size": 130})
        assert found.device == device, call
        with weft.device("cpu"):
            expected = drawn(default_rng(6), call, 130)
        assert host(found).tobytes() == expected.tobytes(), call

    def others() -> list[weft.ndarray]:
        g = default_rng(6)
        return [g.normal(weft.asarray([1.0, 2.0]), size=(3, 2)), g.permutation(7), g.random((2, 300))]

    found = others()
    with weft.device("cpu"):
        expected = others()
    for one, other in zip(found, expected):
        assert one.device == device and host(one).tobytes() == host(other).tobytes()


def test_devices_without_the_types_have_the_same_from_the_cpu() -> None:
    small = [device for device in weft.devices() if not (device.float64 and device.int64)]
    if not small:
        pytest.skip("there is no device without float64 or int64")
    calls = [
        "random({}, np.float32)",
        "standard_normal({}, np.float32)",
        "integers(-5, 5, {}, np.int8)",
        "integers(0, [100], {}, np.int32)",
        "standard_gamma(2.5, {}, np.float32)",
    ]
    for device in small[:1]:
        for bits in (Philox4x32, XORWOW):
            for call, size in [(call, size) for call in calls for size in (100, (2, 300))]:
                g = Generator(bits(6))
                with weft.device(device.name):
                    found = eval("g." + call.format("size"), {"g": g, "np": np, "size": size})
                    for refused, lacking in [
                        ("random(3)", "float64"),
                        ("permutation(3)", "int64"),
                        ("choice(9, 2, replace=False)", "int64"),
                    ]:
                        with pytest.raises(weft.UnsupportedError, match=f"no {lacking}"):
                            eval(f"g.{refused}", {"g": g})
                    order = g.permutation(weft.arange(5, dtype=np.int32))
                assert order.device == device and sorted(order.tolist()) == [0, 1, 2, 3, 4]
                assert found.device == device and host(found).tobytes() == drawn(Generator(bits(6)), call, size).tobytes()


def examples() -> list:
    found = []
    for owner in (Generator, Philox4x32, RandomState, XORWOW):
        for name in ("__doc__", *vars(owner), *dir(owner)):
            what = owner if name == "__doc__" else getattr(owner, name, None)
            if (name == "__doc__" or not name.startswith("_")) and callable(what) and ">>>" in (what.__doc__ or ""):
                found.append(pytest.param(what, id=f"{owner.__name__}.{name}"))
    return found


@pytest.mark.parametrize("what", [default_rng, *{param.values[0].__qualname__: param for param in examples()}.values()])
def test_examples(what: object) -> None:
    examples = doctest.DocTestParser().get_doctest(what.__doc__ or "", {"weft": weft, "np": np}, str(what), None, 0)
    assert examples.examples
    shown: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE, verbose=False).run(examples, out=shown.append)
    assert not shown, "".join(shown)


def test_public_methods_have_examples() -> None:
    for name in dir(Generator):
        if not name.startswith("_") and name != "bit_generator":
            assert ">>>" in (getattr(Generator, name).__doc__ or ""), name

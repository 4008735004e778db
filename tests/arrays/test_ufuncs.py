"""Ufuncs against NumPy's: every one over dtypes, its keywords, its methods, and what they refuse."""

from __future__ import annotations

import doctest
import pickle
import random
import warnings

import ml_dtypes
import numpy as np
import pytest

import weft
import weft.arrays
from weft._weft import _from_numpy, _to_numpy, ndarray
from weft.arrays._ufunc_rows import REORDERABLE, ROWS, SPELLINGS
from weft.arrays.ufuncs import UFUNCS, ufunc

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = [np.dtype(letter) for letter in "?bBhHiIlLefdFD"]
NAMES = [row[0] for row in ROWS]
# What is correctly rounded, or made of whole numbers: there is one right answer.
EXACT = {
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "fmod", "divmod", "negative", "positive", "absolute",
    "fabs", "sign", "square", "reciprocal", "conjugate", "sqrt", "floor", "ceil", "trunc", "rint", "modf", "frexp", "ldexp",
    "spacing", "nextafter", "copysign", "signbit", "heaviside", "maximum", "minimum", "fmax", "fmin", "gcd", "lcm", "bitwise_and",
    "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift", "bitwise_count", "equal", "not_equal", "less", "less_equal",
    "greater", "greater_equal", "logical_and", "logical_or", "logical_xor", "logical_not", "isnan", "isinf", "isfinite",
}  # fmt: skip


def outcome(act, *args, **keywords):
    """What a call gives, or the class of what it raises."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return act(*args, **keywords)
        except Exception as error:
            return error


def agree(ours, theirs, name, note, places=4):
    if isinstance(ours, tuple) and isinstance(theirs, tuple):
        for left, right in zip(ours, theirs, strict=True):
            agree(left, right, name, note, places)
        return
    if isinstance(ours, Exception) or isinstance(theirs, Exception):
        both = isinstance(ours, Exception) and isinstance(theirs, Exception)
        assert both and isinstance(ours, basic(type(theirs))), (ours, theirs, note)
        return
    assert isinstance(ours, ndarray), note
    left, right = _to_numpy(ours), np.asarray(theirs)
    assert left.dtype == right.dtype and left.shape == right.shape, (left.dtype, right.dtype, left.shape, right.shape, note)
    if left.dtype.kind == "c" or (left.dtype.kind in "fV" and name not in EXACT):
        # No operation on complex numbers is rounded once.
        places = 64 if left.dtype.kind == "c" else places
        wide = np.complex128 if left.dtype.kind == "c" else np.float64
        part = np.dtype(f"f{left.itemsize // 2}") if left.dtype.kind == "c" else left.dtype
        step = float(ml_dtypes.finfo(part).eps)
        np.testing.assert_allclose(left.astype(wide), right.astype(wide), rtol=places * step, atol=places * step, err_msg=str(note))
    else:
        wide = left.dtype if left.dtype != BFLOAT16 else np.float32
        np.testing.assert_array_equal(left.astype(wide), right.astype(wide), err_msg=str(note))


def basic(kind):
    """The builtin exception that NumPy's own, private one is."""
    return next(each for each in kind.__mro__ if each.__module__ == "builtins")


def numbers(dtype, shape, seed=0):
    """Numbers of all signs and sizes for a dtype, special ones among them."""
    rng = np.random.default_rng(seed)
    if dtype.kind == "b":
        return np.asarray(rng.random(shape) < 0.5)
    if dtype.kind in "iu":
        return np.asarray(rng.integers(-5 if dtype.kind == "i" else 0, 9, shape), dtype)
    values = rng.normal(size=shape) * 3
    if dtype.kind == "c":
        return np.asarray(values + 1j * rng.normal(size=shape), dtype)
    special = rng.choice([0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 0.5, 2.5], shape)
    return np.where(rng.random(shape) < 0.4, special, values).astype(dtype)


def test_every_ufunc_of_numpy_is_there():
    theirs = {name for name in dir(np) if isinstance(getattr(np, name), np.ufunc) and getattr(np, name).signature is None} - {"isnat"}
    assert set(UFUNCS) == theirs
    for name, ours in UFUNCS.items():
        known = getattr(np, name)
        assert isinstance(ours, ufunc) and ours.__name__ == known.__name__ and ours is getattr(weft, name)
        assert (ours.nin, ours.nout, ours.nargs, ours.signature) == (known.nin, known.nout, known.nargs, known.signature)
        assert ours.identity == known.identity or (ours.identity is None and known.identity is None)
        assert ours.ntypes == len(ours.types) and set(ours.types) <= set(known.types)
        assert pickle.loads(pickle.dumps(ours)) is ours
    for spelling, name in SPELLINGS.items():
        assert UFUNCS[spelling] is UFUNCS[name]


@pytest.mark.parametrize("name", NAMES)
def test_every_dtype(name):
    ours, theirs = UFUNCS[name], getattr(np, name)
    for dtype in [*DTYPES, BFLOAT16]:
        first = numbers(dtype, (3, 5), 1)
        others = [()] if theirs.nin == 1 else [(numbers(other, 5, 2),) for other in DTYPES] + [(2,), (1.5,), (True,), (1j,)]
        for other in others:
            note = (name, dtype, [np.asarray(each).dtype for each in other])
            # What NumPy makes of bfloat16 beside other types is its package's business, as is what it computes angles in.
            if dtype == BFLOAT16 and (name in ("radians", "degrees") or (other and not isinstance(other[0], int))):
                continue
            given = [_from_numpy(each) if isinstance(each, np.ndarray) else each for each in (first, *other)]
            label = "length" if name == "absolute" and dtype.kind == "c" else name
            agree(outcome(ours, *given), outcome(theirs, first, *other), label, note)


@pytest.mark.parametrize("name", NAMES)
def test_the_example_of_its_docs(name):
    run_examples(UFUNCS[name])


def run_examples(thing, name="thing"):
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    tests = [each for each in doctest.DocTestFinder(recurse=False).find(thing, name, globs={"weft": weft, "np": np}) if each.examples]
    assert tests, "no example"
    for test in tests:
        assert runner.run(test).failed == 0


@pytest.mark.parametrize("method", ["reduce", "accumulate", "reduceat", "outer", "at"])
def test_the_examples_of_methods(method):
    run_examples(getattr(ufunc, method))


@pytest.mark.parametrize("seed", range(300))
def test_keywords(seed):
    """Random `out`, `where`, `dtype` and `casting`, with shapes that fit and others."""
    rng = random.Random(seed)
    name = rng.choice(
        ["add", "multiply", "subtract", "divide", "power", "maximum", "less", "logical_or", "negative", "sin", "divmod", "frexp"]
    )
    ours, theirs = UFUNCS[name], getattr(np, name)
    shapes = [(2, 3), (3,), (1, 3), (2, 1), (), (4,)]
    kinds = [np.dtype(letter) for letter in "?bilefdD"]
    args = [numbers(rng.choice(kinds), rng.choice(shapes[:5]), seed + i) for i in range(theirs.nin)]
    keywords, mine = {}, {}
    if rng.random() < 0.7:
        outs = [np.full(rng.choice([(2, 3), (2, 3), (2, 3), (3,), (4,)]), 7).astype(rng.choice(kinds)) for _ in range(theirs.nout)]
        keywords["out"], mine["out"] = tuple(outs), tuple(map(_from_numpy, outs))
    if rng.random() < 0.4 and "out" in keywords:
        mask = np.asarray(np.random.default_rng(seed).random(rng.choice(shapes)) < 0.5)
        keywords["where"], mine["where"] = mask, rng.choice([mask, _from_numpy(np.asarray(mask))])
    if rng.random() < 0.4:
        keywords["dtype"] = mine["dtype"] = rng.choice([*kinds, "float64", "int32", bool, float])
    if rng.random() < 0.4:
        keywords["casting"] = mine["casting"] = rng.choice(["no", "equiv", "safe", "same_kind", "unsafe", "wrong"])
    note = (name, args, keywords)
    agree(outcome(ours, *map(_from_numpy, args), **mine), outcome(theirs, *args, **keywords), name, note)
    if "out" in keywords:
        for left, right in zip(mine["out"], keywords["out"]):
            agree(left, right, name, note)


def test_out_is_given_back_and_may_overlap_what_is_read():
    x = _from_numpy(np.arange(6.0))
    assert weft.add(x[:-1], x[1:], out=x[1:]) is not x
    assert _to_numpy(x).tolist() == [0, 1, 3, 5, 7, 9]
    assert weft.sqrt(x, x) is x
    first, second = _from_numpy(np.zeros(2)), _from_numpy(np.zeros(2))
    assert weft.divmod(_from_numpy(np.array([7.0, 8.0])), 3, first, second) == (first, second)
    assert (_to_numpy(first).tolist(), _to_numpy(second).tolist()) == ([2, 2], [1, 2])
    assert weft.modf(_from_numpy(np.array([1.5, 2.5])), out=(None, first))[1] is first


def test_without_out_what_where_leaves_is_zero():
    assert _to_numpy(weft.add([1, 2], 1, where=[True, False])).tolist() == [2, 0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m, a: m.add(a), "takes from 2 to 3 positional arguments but 1"),
        (lambda m, a: m.add(a, a, a, a), "takes from 2 to 3 positional arguments but 4"),
        (lambda m, a: m.add(a, a, foo=1), "foo"),
        (lambda m, a: m.add(a, a, out=[1]), "return arrays must be of ArrayType"),
        (lambda m, a: m.add(a, a, a, out=a), "cannot specify 'out' as both"),
        (lambda m, a: m.divmod(a, a, out=a), "'out' must be a tuple of arrays"),
        (lambda m, a: m.divmod(a, a, out=(a,)), "must have exactly one entry per ufunc output"),
        (lambda m, a: m.add(a, a, casting="wrong"), "casting must be one of"),
        (lambda m, a: m.add(a, a, order="wrong"), "order must be one of"),
        (lambda m, a: m.add(a, a, where=a), "Cannot cast array data from dtype('float64') to dtype('bool') according to the rule 'safe'"),
        (lambda m, a: m.add(a, a[:2]), "operands could not be broadcast together with shapes (3,) (2,)"),
        (lambda m, a: m.add(a, a, out=a[:1]), "non-broadcastable output operand with shape (1,) doesn't match the broadcast shape (3,)"),
        (lambda m, a: m.add(a, 1j, out=a), "Cannot cast ufunc 'add' output from dtype('complex128') to dtype('float64')"),
        (lambda m, a: m.bitwise_and(a, a), "not supported for the input types"),
        (lambda m, a: m.add(a, a, dtype="int32"), "Cannot cast ufunc 'add' input 0 from dtype('float64') to dtype('int32')"),
        (lambda m, a: m.sin(a, dtype="int32"), "No loop matching the specified signature and casting was found for ufunc sin"),
        (lambda m, a: m.sin.reduce(a), "reduce only supported for binary functions"),
        (lambda m, a: m.divmod.accumulate(a), "accumulate only supported for functions returning a single value"),
        (lambda m, a: m.sin.outer(a, a), "outer product only supported for binary functions"),
        (lambda m, a: m.add.outer(a), "exactly two arguments expected"),
        (lambda m, a: m.add.accumulate(a[0]), "cannot accumulate on a scalar"),
        (lambda m, a: m.add.reduceat(a, [5]), "index 5 out-of-bounds in add.reduceat [0, 3)"),
        (lambda m, a: m.add.reduceat(a, [[0]]), "setting an array element with a sequence. The requested array would exceed the maximum"),
        (lambda m, a: m.add.reduceat(a, [[0], [1, 2]]), "setting an array element with a sequence."),
        (lambda m, a: m.add.reduceat(a, m.asarray([[0]])), "object too deep for desired array"),
        (lambda m, a: m.add.reduceat(a, m.asarray([[1.5]])), "object too deep for desired array"),
        (lambda m, a: m.add.reduceat(a, 1), "object of too small depth for desired array"),
        (lambda m, a: m.add.reduceat(a, m.asarray(1)), "object of too small depth for desired array"),
        (lambda m, a: m.add.reduceat(a, m.asarray([1.5])), "Cannot cast array data from dtype('float64') to dtype('int64')"),
        (lambda m, a: m.add.reduceat(a, m.asarray([], dtype="float64")), "Cannot cast array data from dtype('float64') to dtype('int64')"),
        (lambda m, a: m.add.reduceat(a, m.asarray([1], dtype="uint64")), "Cannot cast array data from dtype('uint64') to dtype('int64')"),
        (lambda m, a: m.add.reduceat(a, [2**70]), "Python int too large to convert to C long"),
        (lambda m, a: m.add.reduceat(a, [1j]), "int() argument must be"),
        (lambda m, a: m.add.reduceat(a, [float("nan")]), "cannot convert float NaN to integer"),
        (lambda m, a: m.maximum.reduce(a[:0]), "zero-size array to reduction operation maximum which has no identity"),
        (lambda m, a: m.subtract.reduce(a[:0]), "zero-size array to reduction operation subtract which has no identity"),
        (lambda m, a: m.add.reduce(a[:0], initial=None), "zero-size array to reduction operation add which has no identity"),
        (lambda m, a: m.maximum.reduce(a, where=[True, False, True]), "does not have an identity, so to use a where mask"),
        (lambda m, a: m.subtract.reduce(a[None], axis=(0, 1)), "is not reorderable, so at most one axis may be specified"),
        (lambda m, a: m.add.reduce(a, axis=3), "axis 3 is out of bounds for array of dimension 1"),
        (lambda m, a: m.add.reduce(a, axis=(0, 0)), "duplicate value in 'axis'"),
        (lambda m, a: m.add.reduce(a, out=a), "output parameter for reduction operation add has the wrong number of dimensions"),
        (lambda m, a: m.add.at(a, [5], 1), "index 5 is out of bounds for axis 0 with size 3"),
        (lambda m, a: m.add.at(a, [0]), "second operand needed for ufunc"),
        (lambda m, a: m.negative.at(a, [0], 1), "second operand provided when ufunc is unary"),
        (lambda m, a: m.divmod.at(a, [0], 1), "Only single output ufuncs supported at this time"),
        (lambda m, a: m.add.at(a, [0, 1], [1, 2, 3]), "array is not broadcastable to correct shape"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_what_is_refused_in_numpys_words(call, words):
    host = np.arange(3.0)
    with pytest.raises(Exception) as theirs:
        call(np, host)
    with pytest.raises(basic(theirs.type)) as ours:
        call(weft, _from_numpy(host))
    assert words in str(ours.value)
    assert words in str(theirs.value) or words == "foo"


def test_runs_start_at_lists_of_any_numbers():
    host = np.arange(4.0)
    for starts in (
        [1.5],
        [1.0, 0],
        (0, True),
        [True],
        [np.float64(1.9)],
        range(2),
        [],
        [np.int8(3)],
        np.array([True]),
        np.array([2], "u4"),
    ):
        np.testing.assert_array_equal(_to_numpy(weft.add.reduceat(_from_numpy(host), starts)), np.add.reduceat(host, starts))


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "hypot", "maximum", "less"])
def test_updates_of_bfloat16(name):
    source = np.random.default_rng(1)
    host, values = (source.standard_normal(n).astype(ml_dtypes.bfloat16) for n in (5, 40))
    at = source.integers(0, 5, 40)
    ours, theirs = _from_numpy(host), host.copy()
    getattr(weft, name).at(ours, at, _from_numpy(values))
    for place, value in zip(at, values):
        theirs[place] = getattr(np, name)(theirs[place], value)
    np.testing.assert_array_equal(_to_numpy(ours).astype(np.float32), theirs.astype(np.float32))
    weft.negative.at(ours, [0, 0, 1])
    assert float(ours[0]) == float(theirs[0]) and float(ours[1]) == -float(theirs[1])


def test_orders_that_arrays_do_not_have():
    x = _from_numpy(np.arange(6.0).reshape(2, 3))
    assert weft.add(x.T, 1, order="C").strides == (16, 8)
    with pytest.raises(NotImplementedError, match="order='F' is not available"):
        weft.add(x, 1, order="F")


@pytest.mark.parametrize("seed", range(500))
def test_reductions(seed):
    rng = random.Random(seed)
    name = rng.choice([*sorted(REORDERABLE), "subtract", "divide", "copysign", "power", "lcm", "less", "not_equal", "fmod", "floor_divide"])
    shape = tuple(rng.choice([0, 1, 2, 3, 4, 5]) for _ in range(rng.choice([0, 1, 1, 2, 2, 3])))
    dtype = rng.choice([*DTYPES, BFLOAT16]) if rng.random() < 0.9 else np.dtype(bool)
    host = numbers(dtype, shape, seed)
    keywords = {}
    if rng.random() < 0.8:
        axes = tuple(rng.sample(range(len(shape)), rng.randint(0, len(shape))))
        keywords["axis"] = rng.choice([None, axes, axes[0] if axes else -1, -1, 0])
    if rng.random() < 0.3:
        keywords["keepdims"] = True
    if rng.random() < 0.3:
        keywords["initial"] = rng.choice([0, 1, 2, True])
    if rng.random() < 0.2:
        keywords["dtype"] = rng.choice(["float64", "int64", "bool", "float32", "complex128"])
    if rng.random() < 0.3:
        keywords["where"] = np.asarray(np.random.default_rng(seed).random(shape) < 0.6)
    mine = {key: _from_numpy(value) if isinstance(value, np.ndarray) else value for key, value in keywords.items()}
    compare_method(name, "reduce", host, (), keywords, mine, seed)


def compare_method(name, method, host, args, keywords, mine, note):
    """The order of sums is Weft's own, and so is what 16-bit floats are summed in."""
    host = np.asarray(host)
    if host.dtype.itemsize == 2 and host.dtype.kind in "fV" and name in ("add", "multiply") and method == "reduce":
        return
    left = outcome(getattr(UFUNCS[name], method), _from_numpy(host), *args, **mine)
    right = outcome(getattr(getattr(np, name), method), host, *args, **keywords)
    inexact = method == "reduce" and name in ("add", "multiply")
    agree(left, right, "sum" if inexact else name, (name, method, host, args, keywords, note), 64)


@pytest.mark.parametrize("seed", range(300))
def test_accumulate_and_reduceat(seed):
    rng = random.Random(seed)
    name = rng.choice([*sorted(REORDERABLE), "subtract", "divide", "power", "lcm", "greater", "fmod"])
    shape = tuple(rng.choice([0, 1, 2, 3, 4, 5]) for _ in range(rng.choice([0, 1, 1, 2, 2, 3])))
    host = numbers(rng.choice(DTYPES), shape, seed)
    keywords = {"axis": rng.randint(-len(shape), len(shape))} if rng.random() < 0.7 else {}
    if rng.random() < 0.2:
        keywords["dtype"] = rng.choice(["float64", "int64", "bool", "complex128"])
    compare_method(name, "accumulate", host, (), keywords, keywords, seed)
    if shape:
        n = shape[keywords.get("axis", 0)] if -len(shape) <= keywords.get("axis", 0) < len(shape) else 3
        indices = [rng.randint(0, max(n - 1, 0)) for _ in range(rng.randint(0, 6))]
        if rng.random() < 0.1:
            indices.append(n)
        compare_method(name, "reduceat", host, (np.array(indices, int),), keywords, keywords, seed)


def test_accumulate_and_reduce_into_out():
    x = _from_numpy(np.arange(6).reshape(2, 3))
    out = _from_numpy(np.zeros((2, 3)))
    assert weft.add.accumulate(x, axis=1, out=out) is out
    assert _to_numpy(out).tolist() == [[0, 1, 3], [3, 7, 12]]
    assert weft.add.accumulate(x, 0, None, x) is x
    assert _to_numpy(x).tolist() == [[0, 1, 2], [3, 5, 7]]
    row = _from_numpy(np.zeros(3, np.float32))
    assert weft.add.reduce(x, out=(row,)) is row
    assert _to_numpy(row).tolist() == [3, 6, 9]
    assert weft.add.reduce(x, axis=1, out=x[:, 0]).shape == (2,)
    assert _to_numpy(x)[:, 0].tolist() == [3, 15]


@pytest.mark.parametrize("seed", range(100))
def test_outer(seed):
    rng = random.Random(seed)
    name = rng.choice(["add", "multiply", "less", "arctan2", "divmod", "bitwise_or"])
    first, second = (numbers(rng.choice(DTYPES), rng.choice([(), (2,), (2, 3)]), seed + i) for i in range(2))
    left = outcome(UFUNCS[name].outer, _from_numpy(np.asarray(first)), _from_numpy(np.asarray(second)))
    agree(left, outcome(getattr(np, name).outer, first, second), name, (name, first, second))


@pytest.mark.parametrize("seed", range(300))
def test_at(seed):
    rng = random.Random(seed)
    name = rng.choice(
        ["add", "subtract", "multiply", "maximum", "negative", "power", "bitwise_or", "logical_not", "divide", "less", "square"]
    )
    dtype = rng.choice(DTYPES)
    host = np.abs(numbers(dtype, (4, 3), seed)) if dtype.kind != "b" else numbers(dtype, (4, 3), seed)
    host = np.where(np.isfinite(host), host, 1).astype(dtype)
    key = rng.choice(
        [[0, 0, 2], ([1, 1, -1], [0, 0, 2]), ([3, 3], slice(None)), (slice(None), [0, 0, 1]), host > 1, slice(1, 3), 2, [9], ...]
    )
    values = ()
    if getattr(np, name).nin == 2:
        shape = np.shape(outcome(lambda: host[key]))
        made = np.asarray(np.random.default_rng(seed).integers(0, 3, shape if rng.random() < 0.7 else ()))
        values = (made.astype(rng.choice([dtype, np.dtype("i1"), np.dtype("f8")])),)
    array, wanted = _from_numpy(host), host.copy()
    left = outcome(UFUNCS[name].at, array, key, *map(_from_numpy, values))
    right = outcome(getattr(np, name).at, wanted, key, *values)
    if isinstance(right, Exception):
        assert isinstance(left, basic(type(right))), (left, right, name, host, key, values)
    else:
        assert left is None, (left, name, host, key, values)
    agree(array, wanted, name, (name, host, key, values))


@pytest.mark.parametrize("name", [name for name, _, nout, *_ in ROWS if nout == 1])
def test_updates_of_every_type_by_every_type(name):
    """What is computed in another type is cast to the target's, as NumPy does it: complex numbers to real ones and to truth, too."""
    # Of what is not finite it is C's affair what unsigned integers become.
    letters = "?biLefdFD" if UFUNCS[name].nin == 2 else "?biefdFD"
    for letter in letters:
        host = np.array([1, 2, 0, 3]).astype(letter)
        host = host + np.array([1j, 0, 2j, 0]).astype(letter) if letter in "FD" else host
        for other in letters if UFUNCS[name].nin == 2 else "d":
            given = np.array([2, 1, 1]).astype(other)
            values = () if UFUNCS[name].nin == 1 else (given * given.dtype.type(1 + 1j) if other in "FD" else given,)
            ours, theirs = _from_numpy(host), host.copy()
            left = outcome(UFUNCS[name].at, ours, [0, 0, 2], *map(_from_numpy, values))
            right = outcome(getattr(np, name).at, theirs, [0, 0, 2], *values)
            assert (left is None) is (right is None) and isinstance(left, basic(type(right))), (left, right, letter, other)
            agree(ours, theirs, name, (name, letter, other), 64)


def test_updates_that_discard_imaginary_parts_warn():
    for letter, count in (("L", 1), ("d", 1), ("?", 0), ("F", 0)):
        for make, add in ((np.asarray, np.add), (weft.asarray, weft.add)):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                add.at(make(np.array([1, 2], letter)), [0], make(np.array(1j)))
            assert [each.category for each in caught] == [np.exceptions.ComplexWarning] * count
            assert all(each.filename == __file__ for each in caught)

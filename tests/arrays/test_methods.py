"""Methods and attributes of arrays against NumPy's: over dtypes and layouts, with what they refuse."""

from __future__ import annotations

import copy
import inspect
import warnings

import ml_dtypes
import numpy as np
import pytest

import weft
import weft.arrays
from weft._weft import _from_numpy, _to_numpy, ndarray
from weft.arrays import _flat, interop, methods

from .test_ufuncs import agree, basic, outcome, run_examples

DTYPES = [*(np.dtype(letter) for letter in "?bBhHiIlLefdFD"), np.dtype(ml_dtypes.bfloat16)]
SHAPES = [(), (1,), (4,), (0,), (2, 3), (3, 0), (2, 3, 4), (1, 1)]
# What NumPy's class has and Weft's does not, with the reason.
LACKING = {
    "base": "whose memory it is, is not shown",
    "byteswap": "arrays are in the machine's order",
    "ctypes": "memory is not shown",
    "dump": "pickle does it",
    "dumps": "pickle does it",
    "getfield": "there are no records",
    "setfield": "there are no records",
}


def arrays():
    for dtype in DTYPES:
        for shape in SHAPES:
            host = np.asarray(np.arange(np.prod(shape, dtype=int)).reshape(shape) % 7 - 2).astype(dtype)
            yield host, _from_numpy(host)
            if host.ndim > 1:
                yield host.T, _from_numpy(host).T
            if host.ndim:
                yield host[::-1], _from_numpy(host)[::-1]


def compare(call, exact=True):
    """One expression of NumPy's array and of Weft's."""
    for host, array in arrays():
        left, right = outcome(call, array), outcome(call, host)
        note = (host.dtype, host.shape)
        if isinstance(right, (np.ndarray, np.generic, tuple, Exception)) and not isinstance(right, (float, complex)):
            agree(left, right, "add" if exact else "sin", note, 64)
        else:
            assert not isinstance(left, Exception), (left, note)
            assert repr(np.asarray(left)) == repr(np.asarray(right)), note


def test_no_method_of_numpys_is_missing():
    theirs = {name for name in dir(np.ndarray) if not name.startswith("_")}
    assert theirs - set(dir(ndarray)) == set(LACKING)


@pytest.mark.parametrize(
    "call",
    [
        lambda a: a.astype("float32"),
        lambda a: a.astype(bool),
        lambda a: a.astype("complex64"),
        lambda a: a.astype("int16", casting="same_kind"),
        lambda a: a.astype("float64", casting="safe"),
        lambda a: a.astype(a.dtype, copy=False),
        lambda a: a.astype("int64", order="wrong"),
        lambda a: a.copy(),
        lambda a: a.flatten(),
        lambda a: a.flatten("F"),
        lambda a: a.ravel(),
        lambda a: a.ravel("F"),
        lambda a: a.reshape(-1),
        lambda a: a.reshape(3, -1),
        lambda a: a.reshape((2, -1), order="F"),
        lambda a: a.reshape(),
        lambda a: a.reshape(5),
        lambda a: a.reshape(-1, -1),
        lambda a: a.transpose(),
        lambda a: a.transpose(1, 0),
        lambda a: a.transpose((1, 0)),
        lambda a: a.transpose(None),
        lambda a: a.transpose(0, 0),
        lambda a: a.T,
        lambda a: a.mT,
        lambda a: a.squeeze(),
        lambda a: a.swapaxes(0, 1),
        lambda a: a.swapaxes(0, 5),
        lambda a: a.diagonal(),
        lambda a: a.diagonal(1),
        lambda a: a.real,
        lambda a: a.imag,
        lambda a: a.conj(),
        lambda a: a.conjugate(),
        lambda a: a.view(),
        lambda a: a.view("uint8"),
        lambda a: a.view("int16"),
        lambda a: a.any(),
        lambda a: a.all(axis=0),
        lambda a: a.max(),
        lambda a: a.min(axis=-1),
        lambda a: a.argmax(),
        lambda a: a.argmin(axis=0),
        lambda a: a.clip(min=1),
        lambda a: a.nonzero(),
        lambda a: a.argsort(kind="stable"),
        lambda a: a.repeat(2),
        lambda a: a.take([0, -1]),
        lambda a: a.take([0, 9]),
        lambda a: a.compress([False, True, True]),
        lambda a: a.item(),
        lambda a: a.item(0),
        lambda a: a.item(1, 2),
        lambda a: a.item((0, 1)),
        lambda a: a.item(99),
        lambda a: a.item(1, 2, 3, 4),
        lambda a: a.tolist(),
        lambda a: list(a.tobytes()),
        lambda a: list(a.tobytes("F")),
        lambda a: a.tobytes("wrong"),
        lambda a: a.__array_namespace__(api_version="2030.12"),
        lambda a: a.to_device("nowhere"),
        lambda a: len(a),
        lambda a: 1 in a,
        lambda a: 9 in a,
        lambda a: next(iter(a)),
        lambda a: [int(np.real(each)) for each in a.ravel()],
        lambda a: hash(a),
        lambda a: a.flat[1:3],
        lambda a: a.flat[0],
        lambda a: a.flat[[0, 1]],
        lambda a: len(a.flat),
        lambda a: copy.copy(a),
        lambda a: copy.deepcopy(a),
        lambda a: abs(a),
        lambda a: divmod(a, 2),
        lambda a: divmod(7, a),
        lambda a: a.searchsorted(1),
    ],
)
def test_what_is_read(call):
    compare(call)


@pytest.mark.parametrize(
    "call",
    [
        lambda a: a.sum(),
        lambda a: a.sum(axis=0, keepdims=True),
        lambda a: a.sum(axis=-1, dtype="float64"),
        lambda a: a.sum(axis=5),
        lambda a: a.prod(axis=0),
        lambda a: a.mean(),
        lambda a: a.mean(axis=0),
        lambda a: a.std(axis=0),
        lambda a: a.var(ddof=1),
        lambda a: a.cumsum(),
        lambda a: a.cumsum(axis=0),
        lambda a: a.cumprod(axis=-1),
        lambda a: a.trace(),
    ],
)
def test_what_is_computed(call):
    for host, array in arrays():
        if host.dtype.itemsize == 2 and host.dtype.kind in "efV":
            continue
        agree(outcome(call, array), outcome(call, host), "sin", (host.dtype, host.shape), 64)


def set_to(name, value):
    return lambda a: setattr(a, name, value)


@pytest.mark.parametrize(
    "act",
    [
        lambda a: a.fill(3),
        lambda a: a.fill(np.float64(2)),
        lambda a: a.sort(),
        lambda a: a.sort(axis=0),
        lambda a: a.sort(axis=7),
        set_to("real", 4),
        set_to("flat", [1, 2, 3]),
        set_to("flat", 5),
        set_to("flat", []),
        lambda a: a.flat.__setitem__(slice(1, 3), 1),
        lambda a: a.flat.__setitem__([0, 1], [3, 2]),
        lambda a: a.flat.__setitem__(0, 3),
        lambda a: a.__setitem__(Ellipsis, 1),
    ],
)
def test_what_is_written(act):
    for host, array in arrays():
        host = host.copy()
        note = (host.dtype, host.shape)
        left, right = outcome(act, array), outcome(act, host)
        if isinstance(right, Exception):
            assert isinstance(left, basic(type(right))), (left, right, note)
            continue
        assert left is None, (left, note)
        agree(array, host, "add", note)


@pytest.mark.parametrize(
    "call",
    [
        lambda a: a.squeeze(0),
        lambda a: a.repeat(2, axis=0),
        lambda a: a.compress([True, False], axis=0),
        lambda a: a.clip(0, 2),
        lambda a: a.round(1),
        lambda a: a.put([0], 5),
    ],
)
def test_of_arrays_that_have_axes(call):
    for host, array in arrays():
        if not host.size or not host.ndim or host.dtype.kind in "bV":
            continue
        host = host.copy()
        left, right = outcome(call, array), outcome(call, host)
        if right is not None:
            agree(left, right, "add", (host.dtype, host.shape))
        agree(array, host, "add", (host.dtype, host.shape))


def test_sorting_in_place_and_filling():
    array = _from_numpy(np.array([3.0, 1.0, 2.0, 0.0]))
    array.partition(2)
    assert array[2] == 2 and sorted(array.tolist()[:2]) == [0, 1]
    array.T[::-1].sort()
    assert array.tolist() == [3, 2, 1, 0]
    with pytest.raises(ValueError, match="setting an array element with a sequence"):
        array.fill([1, 2])


def test_parts_of_complex_numbers_are_views():
    array = _from_numpy(np.array([1 + 2j, 3 + 4j]))
    array.real += 10
    array.imag = [7, 8]
    assert array.tolist() == [11 + 7j, 13 + 8j]
    row = _from_numpy(np.arange(3.0))
    assert row.real is row
    with pytest.raises(TypeError, match="array does not have imaginary part to set"):
        row.imag = 1
    with pytest.raises(ValueError, match="read-only"):
        row.imag[0] = 1


def test_views_and_copies():
    array = _from_numpy(np.arange(6.0).reshape(2, 3))
    for view in (array.T, array.reshape(3, 2), array.view(), array.ravel(), array.swapaxes(0, 1), array.mT, array.transpose(1, 0)):
        before = array.tolist()[0][0]
        view += 1
        assert array.tolist()[0][0] == before + 1
    before = array.tolist()
    for fresh in (array.copy(), array.flatten(), array.astype(float), copy.copy(array), copy.deepcopy(array), array.flat.copy()):
        fresh += 1
    assert array.tolist() == before
    assert array.astype(float, copy=False) is array


def test_what_is_printed_is_what_numpy_prints():
    for host, array in arrays():
        assert repr(array) == repr(host)
        assert (str(array), f"{array}") == (str(np.asarray(host)), f"{np.asarray(host)}")
        if not host.ndim and host.dtype.kind == "f":
            assert f"{array:.3f}" == f"{host[()]:.3f}"
    with pytest.raises(TypeError, match="unsupported format string"):
        f"{_from_numpy(np.zeros(2)):.2f}"
    with np.printoptions(precision=2, threshold=5):
        long = np.arange(10.0) / 3
        assert repr(_from_numpy(long)) == repr(long)


@pytest.mark.parametrize(
    ("name", "words"), [("shape", "reshape"), ("dtype", "view"), ("strides", "view"), ("T", "elements"), ("device", "to")]
)
def test_attributes_that_are_not_assigned_to(name, words):
    with pytest.raises(AttributeError, match=words):
        setattr(_from_numpy(np.zeros(2)), name, (2, 1))


def test_what_is_refused_says_what_to_do():
    array = _from_numpy(np.zeros(2))
    with pytest.raises(NotImplementedError, match=r"weft\.resize"):
        array.resize(3)
    with pytest.raises(NotImplementedError, match="broadcast_to"):
        array.setflags(write=False)
    with pytest.raises(TypeError, match="datetime64"):
        array.astype("datetime64[s]")
    with pytest.raises(TypeError):
        array.sum(nonsense=1)


def test_casts_that_lose_the_imaginary_part_warn():
    with pytest.warns(np.exceptions.ComplexWarning):
        assert _from_numpy(np.array([1 + 2j])).astype(float).tolist() == [1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert _from_numpy(np.array([0j, 2j])).astype(bool).tolist() == [False, True]


def test_devices():
    array = _from_numpy(np.arange(3, dtype=np.float32))
    assert array.to(array.device.name) is array and array.to_device(array.device) is array
    for device in weft.devices():
        try:
            there = array.to(device)
        except weft.UnsupportedError as refusal:
            assert device.name in str(refusal)
            continue
        assert there.device.name == device.name
        assert there.to("cpu").tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="stream"):
        array.to_device("cpu", stream=1)
    with pytest.raises(TypeError):
        array.to(None)


def test_iteration_gives_views():
    array = _from_numpy(np.zeros((2, 3)))
    for number, row in enumerate(array):
        row += number
    assert array.tolist() == [[0, 0, 0], [1, 1, 1]]


@pytest.mark.parametrize(
    "name", [name for name, each in vars(methods).items() if inspect.isfunction(each) and ">>>" in (each.__doc__ or "")]
)
def test_examples(name):
    run_examples(getattr(methods, name))


@pytest.mark.parametrize("thing", [interop.asnumpy, interop.eval, _flat.Flat], ids=lambda thing: thing.__name__)
def test_examples_of_other_modules(thing):
    run_examples(thing)


def test_the_class():
    assert weft.ndarray is ndarray
    assert ndarray[float, int].__origin__ is ndarray
    assert _to_numpy(_from_numpy(np.zeros(2)).wait()).tolist() == [0, 0]

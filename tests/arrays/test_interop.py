"""Arrays beside NumPy's: what NumPy's functions make of them, DLPack, pickles, files."""

from __future__ import annotations

import io
import pickle
import sys

import ml_dtypes
import numpy as np
import pytest

import weft
import weft.arrays
from weft._weft import _from_numpy, _to_numpy, ndarray

DTYPES = [*(np.dtype(letter) for letter in "?bBhHiIlLefdFD"), np.dtype(ml_dtypes.bfloat16)]


def numbers(dtype, shape=(2, 3)):
    return (np.arange(np.prod(shape)).reshape(shape) - 1).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_numpy_takes_an_array_without_a_copy(dtype):
    host = numbers(dtype)
    array = _from_numpy(host)
    for taken in (np.asarray(array), weft.asnumpy(array), array.get()):
        assert taken.dtype == dtype and taken.tobytes() == host.tobytes()
        assert not taken.flags.writeable and np.shares_memory(taken, _to_numpy(array))
    for own in (np.array(array), weft.asnumpy(array, copy=True)):
        own[...] = 0
    assert _to_numpy(array).tobytes() == host.tobytes()
    assert np.asarray(array.T).tobytes() == host.T.tobytes()
    assert np.asarray(array, dtype="complex128").dtype == np.complex128


def test_copies_that_cannot_be_avoided():
    array = _from_numpy(np.arange(3))
    assert np.asarray(array, copy=False).base is not None
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        np.asarray(array, dtype=float, copy=False)
    assert weft.asnumpy([1, 2]).tolist() == [1, 2]


def test_eval():
    x, y = weft.asarray([1.0]) + 1, weft.asarray([2.0]) * 2
    assert weft.eval(x, [y, (x,)], {"y": y}) is None
    assert weft._weft._is_evaluated(x) and weft._weft._is_evaluated(y)
    with pytest.raises(TypeError, match="eval takes arrays"):
        weft.eval(x, 3)


@pytest.mark.parametrize(
    "call",
    [
        lambda a: np.add(a, 1),
        lambda a: np.sin(a),
        lambda a: np.arange(3.0) + a,
        lambda a: np.float64(2) * a,
        lambda a: 2 - a,
        lambda a: np.arange(6.0).reshape(2, 3) < a,
        lambda a: np.add.reduce(a, axis=1),
        lambda a: np.maximum.accumulate(a, 1),
        lambda a: np.multiply.outer(a, np.arange(2)),
        lambda a: np.sum(a, axis=0),
        lambda a: np.mean(a),
        lambda a: np.concatenate([a, a], axis=1),
        lambda a: np.concatenate((np.ones((1, 3)), a)),
        lambda a: np.stack([a, a]),
        lambda a: np.where(a > 1, a, 0),
        lambda a: np.reshape(a, (3, 2)),
        lambda a: np.transpose(a),
        lambda a: np.zeros_like(a),
        lambda a: np.sort(a),
        lambda a: np.clip(a, 0, 2),
        lambda a: np.broadcast_to(a, (2, 2, 3)),
        lambda a: np.matmul(a, np.ones((3, 2))),
        lambda a: np.ones((4, 2)) @ a,
        lambda a: a @ np.ones(3),
        lambda a: np.vecdot(a, a),
        lambda a: np.zeros((2, 2), like=a),
        lambda a: np.asarray([1, 2], like=a),
    ],
)
def test_numpys_functions_are_wefts(call):
    host = np.array([[1.0, 5.0, 0.5], [2.0, -1.0, 3.0]])
    ours, theirs = call(_from_numpy(host)), call(host)
    theirs = np.asarray(theirs)
    assert isinstance(ours, ndarray)
    assert ours.dtype == theirs.dtype
    np.testing.assert_allclose(_to_numpy(ours), theirs, rtol=1e-14)


def test_numpys_functions_write_into_wefts_arrays():
    array = _from_numpy(np.zeros(3))
    assert np.add([1, 2, 3], 1, out=array) is array
    assert array.tolist() == [2, 3, 4]
    np.add.at(array, [0, 0], 1)
    assert array.tolist() == [4, 3, 4]
    array += np.ones(3)
    assert array.tolist() == [5, 4, 5]


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda a: np.busday_count(a, a), r"numpy\.busday_count"),
        (lambda a: np.isnat(a), r"numpy\.isnat"),
        (lambda a: np.frompyfunc(lambda x: x, 1, 1)(a), "no counterpart in Weft"),
    ],
)
def test_what_weft_lacks_is_refused_by_name(call, name):
    with pytest.raises(TypeError, match=name):
        call(_from_numpy(np.arange(3.0)))


def test_a_numpy_array_never_takes_a_weft_array_silently():
    host = np.zeros(3)
    with pytest.raises(TypeError, match="is a NumPy array"):
        host += _from_numpy(np.ones(3))
    with pytest.raises(TypeError, match="'out' is a NumPy array"):
        np.add(_from_numpy(np.ones(3)), 1, out=host)
    assert host.tolist() == [0, 0, 0]


def test_other_classes_have_their_say():
    class Mine:
        def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
            return "mine"

        def __array_function__(self, function, types, args, keywords):
            return "mine"

        def __radd__(self, other):
            return "mine"

    array = _from_numpy(np.zeros(2))
    assert np.add(array, Mine()) == "mine"
    assert np.concatenate([array, Mine()]) == "mine"
    assert array + Mine() == "mine"


@pytest.mark.parametrize("dtype", DTYPES[:-1], ids=str)
def test_dlpack_both_ways(dtype):
    host = numbers(dtype)
    array = _from_numpy(host)
    taken = np.from_dlpack(array)
    assert taken.dtype == dtype and taken.tobytes() == host.tobytes()
    assert not taken.flags.writeable and np.shares_memory(taken, _to_numpy(array))
    own = np.from_dlpack(array, copy=True)
    own[...] = 0
    assert array.tolist() == host.tolist()
    back = weft.from_dlpack(host)
    assert isinstance(back, ndarray) and back.dtype == dtype and back.tolist() == host.tolist()
    assert weft.from_dlpack(array).tolist() == host.tolist()
    assert array.__dlpack_device__() == (1, 0)


def test_dlpack_of_bfloat16():
    """NumPy has none, but others do: the capsules are Weft's own."""
    array = _from_numpy(numbers(DTYPES[-1]))
    for view in (array, array.T, array[:, ::2], array[::-1], array[0, 0], array[:0]):
        assert '"dltensor"' in repr(view.__dlpack__())
        assert "dltensor_versioned" in repr(view.__dlpack__(max_version=(1, 0)))
        # A plain capsule lends a copy that may be written to.
        lent = weft.cuda.from_dlpack(view.__dlpack__())
        assert lent.shape == view.shape and lent.dtype == view.dtype and lent.copy_to_host().tolist() == view.tolist()


def test_dlpack_of_what_runs_backwards():
    """PyTorch ends the process over negative strides, so that they are given away only if a copy is ruled out."""
    host = np.arange(24.0).reshape(2, 3, 4)
    for at in (np.s_[::-1], np.s_[:, ::-1], np.s_[::-1, :, ::-2]):
        view = _from_numpy(host)[at]
        for each in (view, view.T):
            taken = np.from_dlpack(each)
            assert min(taken.strides) > 0 and taken.tolist() == each.tolist()
            assert min(np.from_dlpack(each, copy=False).strides) < 0


def test_what_dlpack_refuses():
    array = _from_numpy(np.arange(3))
    assert "dltensor" in repr(array.__dlpack__())
    with pytest.raises(BufferError, match="unsupported device"):
        array.__dlpack__(dl_device=(2, 0))
    # Without a copy the elements are read-only, which only a newer capsule says.
    assert "dltensor_versioned" in repr(array.__dlpack__(copy=False))
    with pytest.raises(RuntimeError, match="stream"):
        array.__dlpack__(stream=1)
    with pytest.raises(AttributeError, match="__dlpack__"):
        weft.from_dlpack([1, 2])
    assert not hasattr(array, "__cuda_array_interface__")


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_pickles(dtype, protocol):
    for host in (numbers(dtype), numbers(dtype).T, numbers(dtype)[:, ::2], numbers(dtype, (0, 2)), numbers(dtype)[0, 0, ...]):
        back = pickle.loads(pickle.dumps(_from_numpy(np.asarray(host)), protocol))
        assert isinstance(back, ndarray) and back.dtype == dtype and back.shape == host.shape
        assert back.tolist() == host.tolist()
        back += back


def test_pickles_out_of_band():
    buffers = []
    text = pickle.dumps(_from_numpy(np.arange(100_000.0)), 5, buffer_callback=buffers.append)
    assert len(text) < 1000 and len(buffers) == 1
    back = pickle.loads(text, buffers=buffers)
    back += 1
    assert back[:2].tolist() == [1, 2]


def test_files(tmp_path):
    array = _from_numpy(numbers(np.dtype("f4")))
    np.save(tmp_path / "one.npy", array)
    np.savez(tmp_path / "two.npz", array, named=array)
    np.savez_compressed(tmp_path / "three.npz", array)
    np.savetxt(tmp_path / "four.txt", array)
    array.tofile(tmp_path / "five.bin")
    host = _to_numpy(array)
    for back in (
        np.load(tmp_path / "one.npy"),
        np.load(tmp_path / "two.npz")["named"],
        np.load(tmp_path / "three.npz")["arr_0"],
        np.loadtxt(tmp_path / "four.txt", np.float32),
        np.fromfile(tmp_path / "five.bin", np.float32).reshape(2, 3),
    ):
        np.testing.assert_array_equal(back, host)
    file = io.BytesIO()
    np.save(file, array.T)
    assert np.array_repr(array) == np.array_repr(host) and np.array2string(array) == np.array2string(host)


def test_sizes_and_namespaces():
    array = _from_numpy(np.zeros(1000))
    assert sys.getsizeof(array) >= array.nbytes
    assert array.__array_namespace__() is weft and array.__array_namespace__(api_version="2025.12") is weft
    with pytest.raises(ValueError, match="not supported"):
        array.__array_namespace__(api_version="2019.12")
    with pytest.raises(TypeError, match="unhashable"):
        hash(array)
    assert array.__array_priority__ > 0

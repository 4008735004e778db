"""Arrays lent to other libraries and taken from them: DLPack, and the CUDA Array Interface where a CUDA device is present."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import weft
from weft import cuda

CUDA = [device.name for device in weft.devices() if device.kind == "cuda"]


@cuda.jit
def negate(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = -a[i]


def on_cpu(host):
    with weft.device("cpu"):
        return cuda.to_device(host)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "uint64", "float32", "float64", "complex64", "complex128"])
def test_numpy_reads_a_device_array_of_the_cpu_in_place(dtype):
    host = np.arange(24).reshape(2, 3, 4).astype(dtype)
    array = on_cpu(host)
    for shared in (np.from_dlpack(array), np.from_dlpack(array[:, ::2])):
        assert shared.dtype == host.dtype
    np.testing.assert_array_equal(np.from_dlpack(array), host)
    np.testing.assert_array_equal(np.from_dlpack(array.T[1:, ::-1]), host.T[1:, ::-1])
    array[0, 0, 0] = 1
    assert np.from_dlpack(array)[0, 0, 0] == 1


def test_kernels_write_to_arrays_of_others():
    host = np.arange(10.0)
    taken = cuda.from_dlpack(host)
    assert taken.device.name == "cpu" and taken.shape == (10,)
    negate.forall(10)(taken)
    np.testing.assert_array_equal(host, -np.arange(10.0))
    negate.forall(5)(cuda.from_dlpack(host[::2]))
    np.testing.assert_array_equal(host[::2], np.arange(0, 10, 2.0))


def test_what_is_lent_lives_as_long_as_it_is_used():
    class Watched(np.ndarray):
        pass

    host = np.arange(6.0).view(Watched)
    gone = weakref.ref(host)
    taken = cuda.from_dlpack(host)
    view = taken[2:]
    del host, taken
    gc.collect()
    assert gone() is not None
    np.testing.assert_array_equal(view.copy_to_host(), [2, 3, 4, 5])
    del view
    gc.collect()
    assert gone() is None


def test_a_capsule_that_nobody_takes_is_freed():
    array = on_cpu(np.zeros(100))
    capsule = array.__dlpack__()
    assert "dltensor" in repr(capsule)
    del capsule
    used = array.__dlpack__(max_version=(1, 0))
    cuda.from_dlpack(used)
    with pytest.raises(TypeError, match="nobody has used yet"):
        cuda.from_dlpack(used)


def test_what_cannot_be_shared():
    frozen = np.arange(3.0)
    frozen.flags.writeable = False
    with pytest.raises(BufferError):
        cuda.from_dlpack(frozen)
    with pytest.raises(TypeError, match="__dlpack__"):
        cuda.from_dlpack([1, 2])
    with pytest.raises(TypeError, match="__cuda_array_interface__"):
        cuda.as_cuda_array(np.zeros(3))
    assert not hasattr(on_cpu(np.zeros(3)), "__cuda_array_interface__")
    with pytest.raises(BufferError, match="copy it"):
        on_cpu(np.zeros(3)).__dlpack__(dl_device=(2, 0))


def test_a_copy_is_apart():
    array = on_cpu(np.zeros(4))
    apart = np.from_dlpack(array, copy=True) if np.lib.NumpyVersion(np.__version__) >= "2.1.0" else np.array(array)
    apart[:] = 1
    np.testing.assert_array_equal(array.copy_to_host(), np.zeros(4))


class Lender:
    """Another library's array: tells its place by the CUDA Array Interface and nothing else."""

    def __init__(self, array, stream=None):
        self.array = array
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, "stream": stream}


@pytest.mark.parametrize("name", CUDA)
def test_the_cuda_array_interface(name):
    with weft.device(name):
        host = np.arange(24.0).reshape(4, 6)
        array = cuda.to_device(host)
        interface = array.__cuda_array_interface__
        assert interface["version"] == 3 and interface["shape"] == (4, 6) and interface["strides"] is None
        assert array[:, ::2].__cuda_array_interface__["strides"] == (48, 16)
        taken = cuda.as_cuda_array(Lender(array[1:, ::-1], stream=1))
        assert cuda.is_cuda_array(Lender(array))
        np.testing.assert_array_equal(taken.copy_to_host(), host[1:, ::-1])
        negate.forall(24)(Lender(array.reshape(24)))
        np.testing.assert_array_equal(array.copy_to_host(), -host)
        np.testing.assert_array_equal(cuda.from_dlpack(array).copy_to_host(), -host)
        assert array.__dlpack_device__() == (2, weft.device(name).index)

"""Choosing devices, their memory, and arrays that host and device share."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import weft
from weft import cuda


@cuda.jit
def fill(a, value):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = value


def test_the_cpu_is_always_there():
    assert weft.devices()[0] == weft.device("cpu")
    assert weft.device("cpu").kind == "cpu"


def test_a_block_chooses_and_ends():
    before = weft.current_device()
    with weft.device("cpu") as chosen, chosen, weft.device("cpu"):
        assert weft.current_device() == chosen
    assert weft.current_device() == before


def test_each_thread_chooses_for_itself():
    seen = []
    with weft.device("cpu"):
        thread = threading.Thread(target=lambda: seen.append(weft.current_device()))
        thread.start()
        thread.join()
    assert seen == [weft.current_device()]


def test_a_name_that_is_no_device():
    with pytest.raises(ValueError, match="no device is called 'cuda:99' here; there is cpu"):
        weft.device("cuda:99")
    with pytest.raises(ValueError, match="no device is called 'abacus'"):
        weft.set_device("abacus")


@pytest.mark.parametrize("wish, code", [("cpu", 0), ("cuda:77", 1)])
def test_the_environment_chooses(wish, code):
    run = subprocess.run(
        [sys.executable, "-c", "import weft; print(weft.current_device().name)"],
        env={**os.environ, "WEFT_DEVICE": wish},
        capture_output=True,
        text=True,
    )
    assert run.returncode == code
    if code == 0:
        assert run.stdout.strip() == wish
    else:
        assert "WEFT_DEVICE is 'cuda:77': no device is called" in run.stderr


def test_numbas_names(device, capsys):
    assert cuda.is_available() and cuda.is_supported_version()
    assert len(cuda.gpus) >= 1 and cuda.gpus[0] in list(cuda.list_devices())
    cuda.select_device(0)
    assert cuda.get_current_device() == cuda.gpus.current == cuda.gpus[0]
    free, total = cuda.current_context().get_memory_info()
    assert 0 < free <= total
    assert cuda.detect() and "Found" in capsys.readouterr().out
    cuda.close()
    with cuda.defer_cleanup():
        cuda.synchronize()


def test_memory_is_counted_and_limited(device):
    before = device.memory()["used"]
    a = cuda.device_array(1 << 20, np.uint8)
    assert device.memory()["used"] >= before + (1 << 20)
    device.set_memory_limit(device.memory()["used"] + 1000)
    try:
        with pytest.raises(MemoryError):
            cuda.device_array(1 << 20, np.uint8)
    finally:
        device.set_memory_limit(None)
    del a
    device.synchronize()
    device.free_all()
    assert device.memory()["used"] == before
    assert device.memory()["peak"] >= before + (1 << 20)


def test_arrays_move_between_devices(device):
    host = np.arange(12.0).reshape(3, 4)
    a = cuda.to_device(host)
    assert a.device == device
    for other in weft.devices():
        moved = a.to(other)
        assert moved.device == other
        np.testing.assert_array_equal(moved.copy_to_host(), host)
    np.testing.assert_array_equal(a[1:, ::2].to("cpu").copy_to_host(), host[1:, ::2])
    b = cuda.device_array_like(a)
    b.copy_to_device(a)
    b[0] = a[2]
    host_b = host.copy()
    host_b[0] = host[2]
    np.testing.assert_array_equal(b.copy().copy_to_host(), host_b)


def test_mapped_and_managed_arrays_are_the_hosts_too(device):
    if device.kind not in ("cpu", "cuda"):
        for make in (cuda.mapped_array, cuda.managed_array):
            with pytest.raises(weft.UnsupportedError, match="do not address the host's"):
                make((4, 8), np.float32)
        return
    for make in (cuda.mapped_array, cuda.managed_array):
        a = make((4, 8), np.float32)
        view = np.asarray(a)
        view[:] = 1
        fill.forall(16)(a.reshape(-1)[:16], 7.0)
        cuda.synchronize()
        np.testing.assert_array_equal(view, [[7] * 8, [7] * 8, [1] * 8, [1] * 8])
        np.testing.assert_array_equal(a.copy_to_host(), view)
    like = cuda.mapped_array_like(np.zeros((2, 3), np.int16))
    assert (like.shape, like.dtype) == ((2, 3), np.int16)


def test_numpy_arrays_can_be_pinned_and_mapped_for_a_while(device):
    host = np.zeros(100)
    if device.kind in ("cpu", "cuda"):
        with cuda.mapped(host) as mapped:
            fill.forall(100)(mapped, 5.0)
            cuda.synchronize()
    else:
        with pytest.raises(weft.UnsupportedError, match="has no mapped memory"), cuda.mapped(host):
            pass
        fill.forall(100)(host, 5.0)
    np.testing.assert_array_equal(host, np.full(100, 5.0))
    with cuda.pinned(host):
        stream = cuda.stream()
        a = cuda.to_device(host, stream=stream)
        stream.synchronize()
    np.testing.assert_array_equal(a.copy_to_host(), host)


def test_limits(device):
    limits = device.limits()
    assert limits["threads_per_block"] == 1024 and limits["warp_size"] == 32
    assert device.compute_capability >= (0, 0)


def test_kernels_take_numpy_arrays_in_any_layout(device):
    host = np.arange(60, dtype=np.int32).reshape(3, 4, 5)
    views = [host.copy(), np.asfortranarray(host), host[:, ::2], host.T, host[::-1], host[1:2, 1:2, ::-2]]
    for view in views:
        expected = view + 1
        flat_add.forall(view.shape)(view)
        np.testing.assert_array_equal(view, expected)
    frozen = np.arange(4.0)
    frozen.flags.writeable = False
    out = np.zeros(4)
    copy.forall(4)(frozen, out)
    np.testing.assert_array_equal(out, frozen)
    empty = np.zeros((0, 3, 2), np.int32)
    flat_add.forall((1, 1, 1))(empty)


@cuda.jit
def flat_add(a):
    i, j, k = cuda.grid(3)
    if i < a.shape[0] and j < a.shape[1] and k < a.shape[2]:
        a[i, j, k] += 1


@cuda.jit
def copy(a, b):
    i = cuda.grid(1)
    if i < a.size:
        b[i] = a[i]


@weft.vectorize(["float32(float32, float32)", "float64(float64, float64)"], target="cuda")
def hypotenuse(x, y):
    return (x * x + y * y) ** 0.5


def test_a_ufunc_runs_where_its_operands_are(device):
    x, y = np.arange(12.0).reshape(3, 4), np.ones(4)
    expected = np.sqrt(x * x + y * y)
    np.testing.assert_allclose(hypotenuse(x, y), expected, rtol=1e-15)
    on_device = hypotenuse(cuda.to_device(x), y)
    assert isinstance(on_device, cuda.DeviceNDArray) and on_device.device == device
    np.testing.assert_allclose(on_device.copy_to_host(), expected, rtol=1e-15)
    out = cuda.device_array((3, 4), np.float64)
    assert hypotenuse(x, cuda.to_device(y), out=out) is out
    np.testing.assert_allclose(out.copy_to_host(), expected, rtol=1e-15)
    np.testing.assert_allclose(hypotenuse(cuda.to_device(x.T)[:, 1], 2.0).copy_to_host(), np.hypot(x.T[:, 1], 2.0), rtol=1e-15)

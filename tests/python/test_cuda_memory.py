"""Device arrays: copies both ways, elements, views, and kernels that use them."""

import gc
import itertools

import numpy as np
import pytest

from weft import cuda

pytestmark = pytest.mark.usefixtures("device")


@cuda.jit
def add_one(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] += 1


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint16, np.int64, np.float32, np.complex128])
@pytest.mark.parametrize("shape", [(), (5,), (3, 4), (2, 0, 3)])
def test_there_and_back(dtype, shape):
    a = (np.arange(np.prod(shape, dtype=int)).reshape(shape) % 7).astype(dtype)
    d = cuda.to_device(a)
    assert (d.shape, d.dtype, d.ndim, d.size, d.nbytes) == (a.shape, a.dtype, a.ndim, a.size, a.nbytes)
    got = d.copy_to_host()
    assert got.dtype == a.dtype
    np.testing.assert_array_equal(got, a)
    out = np.empty_like(a)
    assert d.copy_to_host(out) is out
    np.testing.assert_array_equal(out, a)


def test_a_kernel_changes_the_device_array_and_not_the_host_array():
    a = np.zeros(100)
    d = cuda.to_device(a)
    add_one[4, 32](d)
    cuda.synchronize()
    assert a.sum() == 0
    assert d.copy_to_host().sum() == 100


def test_numpy_arguments_are_used_in_place():
    a = np.zeros(100)
    add_one.forall(a.size)(a)
    assert a.sum() == 100


def test_elements_and_slices():
    a = np.arange(24.0).reshape(4, 6)
    d = cuda.to_device(a)
    assert d[1, 2] == 8 and isinstance(d[1, 2], np.float64)
    assert d[-1, -1] == 23
    np.testing.assert_array_equal(d[1].copy_to_host(), a[1])
    np.testing.assert_array_equal(d[::2, 1::2].copy_to_host(), a[::2, 1::2])
    np.testing.assert_array_equal(d[::-1, 3].copy_to_host(), a[::-1, 3])
    d[1, 2] = 100
    d[3] = 7
    d[:2, ::3] = np.array([[1.0], [2.0]])
    a[1, 2] = 100
    a[3] = 7
    a[:2, ::3] = np.array([[1.0], [2.0]])
    np.testing.assert_array_equal(d.copy_to_host(), a)
    with pytest.raises(IndexError):
        d[4, 0]
    with pytest.raises(TypeError):
        d[[0, 1]]
    with pytest.raises(TypeError):
        d[a > 3]


def test_views_share_memory():
    d = cuda.to_device(np.zeros((4, 6)))
    column = d[:, 1]
    add_one[1, 32](column)
    expected = np.zeros((4, 6))
    expected[:, 1] = 1
    np.testing.assert_array_equal(d.copy_to_host(), expected)
    np.testing.assert_array_equal(d.T.copy_to_host(), expected.T)
    np.testing.assert_array_equal(d.reshape(3, 8).copy_to_host(), expected.reshape(3, 8))
    np.testing.assert_array_equal(d.ravel().copy_to_host(), expected.ravel())
    with pytest.raises(ValueError):
        d.T.reshape(24)


def test_a_view_keeps_its_memory():
    view = cuda.to_device(np.arange(1000.0))[500:]
    gc.collect()
    others = [cuda.to_device(np.full(1000, np.nan)) for _ in range(20)]
    np.testing.assert_array_equal(view.copy_to_host(), np.arange(500.0, 1000))
    assert len(others) == 20


def test_copies_check_shape_and_dtype():
    d = cuda.to_device(np.zeros(3))
    with pytest.raises(ValueError):
        d.copy_to_host(np.zeros(4))
    with pytest.raises(ValueError):
        d.copy_to_host(np.zeros(3, np.float32))
    with pytest.raises(ValueError):
        d.copy_to_device(np.zeros(4))
    d.copy_to_device(np.ones(3))
    assert d.copy_to_host().sum() == 3
    d.copy_to_device(cuda.to_device(np.full(3, 2.0)))
    assert np.asarray(d).sum() == 6


def test_new_device_arrays():
    d = cuda.device_array((2, 3), np.int32)
    assert d.shape == (2, 3) and d.strides == (12, 4)
    f = cuda.device_array_like(np.asfortranarray(np.zeros((2, 3))))
    assert f.strides == (8, 16)
    assert cuda.device_array(5).dtype == np.float64
    with pytest.raises(ValueError):
        cuda.device_array((-1,))
    with pytest.raises(TypeError):
        cuda.device_array(3, object)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(10,), (10, 12), (3, 1, 4), (4, 3, 2)])
def test_arrays_like_others_lie_as_numpy_has_them(device, shape, order):
    """Of contiguous arrays, of their views with gaps, and of those with the axes in another order."""
    host, copy = np.zeros(shape, np.float32, order=order), cuda.device_array(shape, np.float32, order=order)
    likes = [cuda.device_array_like, cuda.pinned_array_like] + [cuda.mapped_array_like] * (device.kind in ("cpu", "cuda"))
    for axes in itertools.permutations(range(len(shape))):
        for step in (1, 2):
            gaps = (slice(None, None, step),) * len(shape)
            view, of_device = host[gaps].transpose(axes), copy[gaps].transpose(axes)
            for like in likes:
                assert like(view).strides == like(of_device).strides == np.empty_like(view).strides


def test_forall_shapes():
    @cuda.jit
    def mark(a):
        x, y = cuda.grid(2)
        if x < a.shape[0] and y < a.shape[1]:
            a[x, y] = 100 * x + y

    for shape in [(1, 1), (3, 70), (70, 3), (600, 5)]:
        a = np.zeros(shape)
        mark.forall(shape)(a)
        np.testing.assert_array_equal(a, 100 * np.arange(shape[0])[:, None] + np.arange(shape[1]))
    mark.forall((0, 5))(np.zeros((0, 5)))


def test_signatures_of_kernels():
    from weft.types import float32, void

    @cuda.jit(void(float32[:], float32))
    def fill(a, x):
        i = cuda.grid(1)
        if i < a.size:
            a[i] = x

    a = np.zeros(10, np.float32)
    fill[1, 32](a, 2)
    fill.forall(10)(a[::2], 3.5)
    np.testing.assert_array_equal(a, [3.5, 2] * 5)
    with pytest.raises(TypeError):
        fill[1, 32](np.zeros(10), 2)
    assert fill.signatures == [(float32[:], float32)]


def test_other_views_of_the_same_bytes():
    a = np.arange(24.0).reshape(4, 6)
    d = cuda.to_device(a)
    f = cuda.to_device(np.asfortranarray(a))
    assert d.is_c_contiguous() and not d.is_f_contiguous() and f.flags == {"C_CONTIGUOUS": False, "F_CONTIGUOUS": True}
    assert f.copy_to_host().flags.f_contiguous and d.copy_to_host().flags.c_contiguous
    np.testing.assert_array_equal(f.ravel("A").copy_to_host(), a.ravel(order="F"))
    np.testing.assert_array_equal(f.ravel(order="F").copy_to_host(), a.ravel(order="F"))
    np.testing.assert_array_equal(f.reshape(2, 12, order="F").copy_to_host(), a.reshape(2, 12, order="F"))
    np.testing.assert_array_equal(d.view(np.int64).copy_to_host(), a.view(np.int64))
    np.testing.assert_array_equal(d.view(np.uint16).copy_to_host(), a.view(np.uint16))
    np.testing.assert_array_equal(d[::2].view(np.uint64).copy_to_host(), a[::2].view(np.uint64))
    np.testing.assert_array_equal(d.view(np.complex128).copy_to_host(), a.view(np.complex128))
    parts = list(d.ravel().split(10))
    assert [part.size for part in parts] == [10, 10, 4]
    np.testing.assert_array_equal(np.concatenate([part.copy_to_host() for part in parts]), a.ravel())
    for wrong in (lambda: f.ravel(), lambda: d[:, :3].reshape(12), lambda: d[:, ::2].view(np.int8), lambda: list(d.split(3))):
        with pytest.raises(ValueError):
            wrong()
    with pytest.raises(ValueError, match="no whole number"):
        d[:, :1].copy().reshape(4).view(np.int8)[:9].copy().view(np.int64)


def test_arrays_on_one_page_are_pinned_together():
    memory = np.arange(1024.0)
    a, b, both = memory[10:20], memory[30:40], memory[5:500]
    d = cuda.device_array(10)
    with cuda.pinned(a, b), cuda.pinned(both), cuda.pinned(a):
        d.copy_to_device(a)
        d.copy_to_host(b)
    np.testing.assert_array_equal(b, a)
    with cuda.pinned(a):
        d.copy_to_device(a + 1)
        d.copy_to_host(a)
    np.testing.assert_array_equal(a, np.arange(11.0, 21.0))

"""Arrays of Weft's beside tensors of PyTorch's, by DLPack and by NumPy."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import weft  # noqa: E402

from .functions import DTYPES, numbers  # noqa: E402


def views(x) -> list:
    return [x, x.t(), x[::2], x[:, 1:], x[:0], x[1, 2], x[None].expand(2, *x.shape), torch.zeros(0, dtype=x.dtype)]


@pytest.mark.parametrize("dtype", DTYPES)
def test_tensors_become_arrays(dtype):
    base = torch.from_numpy(numbers((3, 4), dtype)).to(getattr(torch, dtype))
    for x in views(base):
        for make in (weft.asarray, weft.array, weft.from_dlpack):
            taken = make(x)
            assert isinstance(taken, weft.ndarray) and str(taken.dtype) == dtype
            assert taken.shape == tuple(x.shape) and taken.tolist() == x.tolist()
    taken = weft.asarray(base)
    base.zero_()
    assert taken.tolist() == torch.from_numpy(numbers((3, 4), dtype)).to(base.dtype).tolist()


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_become_tensors(dtype):
    base = weft.asarray(numbers((3, 4), dtype)).astype(dtype)
    for x in (base, base.T, base[::2], base[:, 1:], base[:0], base[1, 2], base[::-1], base[:, ::-1].T, base[None, ::-2]):
        taken = torch.from_dlpack(x)
        assert taken.dtype == getattr(torch, dtype) and tuple(taken.shape) == x.shape and taken.tolist() == x.tolist()
    # No copy: the same memory, which Weft leaves alone from then on.
    taken = torch.from_dlpack(base)
    before = taken.tolist()
    assert taken.data_ptr() == torch.from_dlpack(base).data_ptr()
    base[...] = 0
    assert taken.tolist() == before and not np.any(base.tolist())


def test_tensors_that_are_no_plain_memory():
    grad = torch.ones(2, requires_grad=True)
    for make in (weft.asarray, weft.array, weft.from_dlpack):
        with pytest.raises((RuntimeError, BufferError), match="detach"):
            make(grad)
        with pytest.raises((RuntimeError, BufferError), match="detach"):
            make(grad.bfloat16())
        assert make(grad.detach()).tolist() == [1, 1]
    conjugate = (torch.ones(2, dtype=torch.complex64) * 1j).conj()
    for make in (weft.asarray, weft.from_dlpack):
        with pytest.raises((RuntimeError, BufferError), match="conjugate bit"):
            make(conjugate)
        with pytest.raises((RuntimeError, BufferError), match="negative bit"):
            make(conjugate.imag)
        assert make(conjugate.imag.resolve_neg()).tolist() == [-1, -1]
    for odd in (torch.ones(2, 2).to_sparse(), torch.empty(2, device="meta"), torch.ones(2).to(torch.float8_e4m3fn)):
        with pytest.raises((TypeError, BufferError, RuntimeError)):
            weft.asarray(odd)


def test_other_ways_in():
    x = torch.arange(6.0).reshape(2, 3)
    assert weft.asarray(x, dtype="int16").dtype == np.int16
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        weft.asarray(x, copy=False)
    assert weft.asarray(x, device="cpu").device.name == "cpu"
    assert np.asarray(torch.from_dlpack(weft.arange(3))).tolist() == [0, 1, 2]
    assert torch.asarray(weft.arange(3.0)).tolist() == [0, 1, 2]

"""`RawModule` and `RawKernel`: PTX on CUDA devices, CUDA C++ where NVRTC is, and clear words elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

import weft
import weft.cupy as cp
from weft.cupy import _nvrtc
from weft.errors import UnsupportedError

PTX = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry scale(.param .u64 x, .param .u32 n, .param .f32 factor)
{
    .reg .pred %p; .reg .u32 %r<5>; .reg .u64 %d<3>; .reg .f32 %f<3>;
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
    mad.lo.u32 %r1, %r1, %r2, %r3;
    ld.param.u32 %r4, [n];
    setp.ge.u32 %p, %r1, %r4;
    @%p ret;
    ld.param.u64 %d1, [x];
    mul.wide.u32 %d2, %r1, 4;
    add.u64 %d1, %d1, %d2;
    ld.global.f32 %f1, [%d1];
    ld.param.f32 %f2, [factor];
    mul.f32 %f1, %f1, %f2;
    st.global.f32 [%d1], %f1;
    ret;
}
"""
CODE = """
template <typename T> __global__ void fill(T* x, T value) { x[threadIdx.x] = value; }
extern "C" __global__ void add(const float* a, const float* b, float* sum, long long n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) sum[i] = a[i] + b[i];
}
"""
CUDA = any(each.kind == "cuda" for each in weft.devices())


@pytest.fixture
def scale(tmp_path) -> cp.RawKernel:
    path = tmp_path / "scale.ptx"
    path.write_text(PTX)
    return cp.RawModule(path=path).get_function("scale")


@pytest.mark.skipif(not CUDA, reason="there is no CUDA device")
def test_a_kernel_in_ptx(scale) -> None:
    with weft.device("cuda:0"):
        x = cp.arange(100, dtype="float32")
    part, before = x[50:], x + 0
    scale((4,), (32,), (x, np.uint32(100), np.float32(3)))
    assert x.tolist() == [3 * n for n in range(100)] and part[0] == 150 and before[1] == 1
    with cp.cuda.Device(0), cp.cuda.Stream():
        scale(4, 32, (part, np.uint32(10), np.float32(2)))
    assert x[48:62].tolist() == [144, 147, *(6 * n for n in range(50, 60)), 180, 183]
    # No strides are seen: x[::2] begins where x does, and what is read-only stays as it is.
    scale(1, 3, (x[30::2], np.uint32(3), np.float32(2)))
    assert x[30:34].tolist() == [180, 186, 192, 99]
    fixed = weft.broadcast_to(x[:2], (2,))
    scale(1, 2, (fixed, np.uint32(2), np.float32(2)))
    assert x[:2].tolist() == [0, 3]
    scale(1, 2, (x[:0], np.uint32(0), np.float32(2)))


@pytest.mark.skipif(not CUDA, reason="there is no CUDA device")
def test_what_is_recorded_before_and_behind(scale) -> None:
    with weft.device("cuda:0"):
        x = cp.arange(6, dtype="float32")
    double, same = x * 2, x
    for _ in range(3):
        x += 1
        scale(1, 6, (x, np.uint32(6), np.float32(2)))
        x -= 1
    assert double.tolist() == [0, 2, 4, 6, 8, 10] and same is x
    assert x.tolist() == [8 * n + 7 for n in range(6)]


@pytest.mark.skipif(not CUDA, reason="there is no CUDA device")
def test_what_is_refused(scale, tmp_path) -> None:
    with weft.device("cuda:0"):
        x = cp.arange(10, dtype="float32")
    number = (np.uint32(10), np.float32(3))
    with pytest.raises(ValueError, match="on one device"):
        scale(1, 1, (x, cp.ones(2, "float32", device="cpu")))
    with pytest.raises(UnsupportedError, match="bfloat16"):
        scale(1, 1, (x.astype(weft.bfloat16), *number))
    with pytest.raises(TypeError, match="Unsupported type"):
        scale(1, 1, (x, "10"))
    with pytest.raises(ValueError, match="one to three axes"):
        scale((1, 1, 1, 1), 1, (x, *number))
    broken = tmp_path / "broken.ptx"
    broken.write_text(PTX.replace("mul.f32", "mul.f33"))
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError):
        cp.RawModule(path=broken).get_function("scale")(1, 1, (x, *number))
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="NOT_FOUND"):
        cp.RawModule(path=tmp_path / "scale.ptx").get_function("none")(1, 1, (x,))


def test_elsewhere_it_is_said() -> None:
    kernel = cp.RawKernel(CODE, "add")
    with pytest.raises(UnsupportedError, match="run on CUDA devices only, and this one is to run on cpu"):
        kernel((1,), (1,), (cp.ones(1, "float32"),))
    with weft.device("cpu"), pytest.raises(UnsupportedError, match="CUDA devices only"):
        kernel.compile()
    for wrong in ({"code": CODE, "backend": "nvcc"}, {"code": CODE, "jitify": True}, {"code": CODE, "translate_cucomplex": True}):
        with pytest.raises(UnsupportedError):
            cp.RawModule(**wrong)
    for wrong in ({}, {"code": CODE, "path": "x.ptx"}):
        with pytest.raises(TypeError):
            cp.RawModule(**wrong)


def has_nvrtc() -> bool:
    try:
        _nvrtc.library()
    except UnsupportedError:
        return False
    return True


@pytest.mark.skipif(not CUDA, reason="there is no CUDA device")
def test_cuda_c(monkeypatch) -> None:
    with weft.device("cuda:0"):
        a, sums = cp.arange(25, dtype="float32").reshape(5, 5), cp.zeros((5, 5), dtype="float32")
    if not has_nvrtc():
        with pytest.raises(UnsupportedError, match="no libnvrtc was found"):
            cp.RawKernel(CODE, "add")((5,), (5,), (a, a + 1, sums, 25))
        return
    try:
        cp.RawKernel(CODE, "add")((5,), (5,), (a, a + 1, sums, 25))
    except cp.cuda.runtime.CUDARuntimeError as error:
        pytest.skip(f"NVRTC is newer than the driver: {error}")
    assert sums.tolist() == (2 * np.arange(25.0) + 1).reshape(5, 5).tolist()
    filling = cp.RawModule(code=CODE, name_expressions=["fill<double>"]).get_function("fill<double>")
    with weft.device("cuda:0"):
        x = cp.zeros(8)
    filling((1,), (8,), (x, 2.5))
    assert x.tolist() == [2.5] * 8
    with pytest.raises(cp.cuda.compiler.CompileException, match="expected"):
        cp.RawKernel("int x = ;", "f")((1,), (1,), (x,))

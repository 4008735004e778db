"""What kernels say of themselves: registers, memory, threads, blocks of a cooperative launch."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from weft import cuda
from weft.types import float32, float64, int64, void


def make():
    @cuda.jit
    def tile(out, a):
        held = cuda.shared.array(256, np.float32)
        own = cuda.local.array(8, np.float64)
        i = cuda.threadIdx.x
        for k in range(8):
            own[(k + i) % 8] = a[i] * k
        held[i] = own[i % 8]
        cuda.syncthreads()
        out[i] = held[255 - i]

    return tile


def test_by_types(device):
    tile = make()
    assert tile.overloads == {}
    assert tile.get_regs_per_thread() == {}
    tile[1, 256](np.zeros(256, np.float32), np.zeros(256, np.float32))
    tile[1, 256](np.zeros(256), np.zeros(256))
    singles, doubles = (float32[::1],) * 2, (float64[::1],) * 2
    assert set(tile.overloads) == {singles, doubles}
    registers = tile.get_regs_per_thread()
    assert set(registers) == {singles, doubles}
    assert registers[singles] == tile.get_regs_per_thread(void(*singles)) == tile.overloads[singles].regs_per_thread
    assert all((n > 0) == (device.kind == "cuda") for n in registers.values())
    assert tile.get_shared_mem_per_block(singles) == 1024
    # Drivers other than CUDA's keep that to themselves.
    assert tile.get_local_mem_per_thread(doubles) >= (64 if device.kind in ("cpu", "cuda") else 0)
    assert tile.get_const_mem_size(singles) >= 0
    assert 256 <= tile.get_max_threads_per_block(singles) <= 1024
    with pytest.raises(KeyError):
        tile.get_regs_per_thread((int64,))


def test_one_signature_is_asked_for_without_naming_it(device):
    @cuda.jit("void(float32[::1])")
    def clear(a):
        a[cuda.grid(1)] = 0

    assert clear.get_max_threads_per_block() == 1024
    assert isinstance(clear.get_regs_per_thread(), int)
    assert clear.get_shared_mem_per_block() == 0


def test_launch_bounds(device):
    @cuda.jit("void(float32[::1])", launch_bounds=128)
    def clear(a):
        a[cuda.grid(1)] = 0

    assert clear.get_max_threads_per_block() == (128 if device.kind == "cuda" else 1024)


def test_an_overload(device):
    tile = make()
    tile[1, 256](np.zeros(256, np.float32), np.zeros(256, np.float32))
    one = tile.overloads[(float32[::1],) * 2]
    assert one.argument_types == (float32[::1],) * 2
    assert one.signature == void(float32[::1], float32[::1])
    assert one.inspect_llvm() == tile.inspect_llvm()[one.argument_types]
    assert ("ptx" in one.inspect_asm() or ".version" in one.inspect_asm()) == (device.kind == "cuda")
    assert "tile" in repr(one)


def test_python_numbers_have_an_overload(device):
    @cuda.jit
    def scale(a, k):
        a[cuda.grid(1)] *= k

    a = np.ones(4)
    scale[1, 4](a, 3)
    assert a.tolist() == [3] * 4
    assert scale.get_max_threads_per_block((float64[::1], int64)) == 1024


def test_blocks_that_run_at_the_same_time(device):
    tile = make()
    tile[1, 256](np.zeros(256, np.float32), np.zeros(256, np.float32))
    one = tile.overloads[(float32[::1],) * 2]
    if not device.limits()["cooperative"]:
        with pytest.raises(weft.WeftError, match="cooperative"):
            one.max_cooperative_grid_blocks(256)
        return
    flat = one.max_cooperative_grid_blocks(256)
    assert flat == one.max_cooperative_grid_blocks((16, 16)) == one.max_cooperative_grid_blocks((16, 4, 4))
    assert flat >= 1
    if device.kind == "cuda":
        assert flat % device.cores == 0
        assert one.max_cooperative_grid_blocks(256, 40 << 10) < flat


def test_a_grid_of_as_many_blocks_waits_for_itself(device):
    @cuda.jit
    def rounds(a):
        grid = cuda.cg.this_grid()
        i = cuda.grid(1)
        for _ in range(3):
            here = a[(i + 1) % a.size]
            grid.sync()
            a[i] = here
            grid.sync()

    a = np.arange(64)
    if not device.limits()["cooperative"]:
        with pytest.raises(weft.UnsupportedError, match="cannot let the whole grid wait"):
            rounds[1, 64](a)
        return
    rounds[1, 64](a)
    most = rounds.overloads[(int64[::1],)].max_cooperative_grid_blocks(64)
    blocks = min(most, 4)
    a = np.arange(64 * blocks)
    rounds[blocks, 64](a)
    assert a.tolist() == np.roll(np.arange(64 * blocks), -3).tolist()

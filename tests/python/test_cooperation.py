"""What launches promise and are refused: launch bounds, dynamic shared memory, grids that wait for themselves; what checked mode finds."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from weft import cuda


@cuda.jit(launch_bounds=64)
def bounded(a):
    a[cuda.grid(1)] += 1


@cuda.jit
def boxed(a):
    box = cuda.shared.array(0, np.int64)
    box[cuda.threadIdx.x] = a[cuda.grid(1)]
    cuda.syncthreads()
    a[cuda.grid(1)] = box[0]


@cuda.jit
def meeting(a):
    cuda.cg.this_grid().sync()
    a[cuda.grid(1)] += 1


@cuda.jit
def raising_in_a_meeting(a):
    i = cuda.grid(1)
    cuda.cg.this_grid().sync()
    assert i != 5, "five"
    cuda.cg.this_grid().sync()
    a[i] += 1


@cuda.jit(debug=True)
def some_lanes(a):
    if cuda.laneid < 4:
        a[cuda.laneid] = cuda.ballot_sync(0xFF, True)
    else:
        cuda.syncwarp(0xFF)


@cuda.jit(debug=True)
def no_such_lane(a):
    a[cuda.laneid] = cuda.shfl_down_sync(0xFFFFFFFF, a[cuda.laneid], 4)


@cuda.jit(debug=True)
def unsynchronised(a):
    box = cuda.shared.array(32, np.int64)
    box[cuda.laneid] = a[cuda.laneid]
    a[cuda.laneid] = box[cuda.laneid ^ 1]


def test_launches_keep_to_their_bounds(device):
    a = np.zeros(128)
    bounded[2, 64](a)
    assert a.sum() == 128
    with pytest.raises(weft.LaunchError, match="launch bounds of bounded allow blocks of 64 threads: got 128"):
        bounded[1, 128](a)


@pytest.mark.parametrize("bounds", [(1, 2, 3, 4), (), 0, -5, 1.5, (64, "many")])
def test_bounds_that_are_none(bounds):
    with pytest.raises(ValueError, match="launch"):
        cuda.jit(launch_bounds=bounds)(bounded.py_func)


@pytest.mark.parametrize("bounds", [32, (32,), (32, 4), (32, 4, 1), [32]])
def test_bounds_of_one_to_three_numbers(bounds):
    kernel = cuda.jit(launch_bounds=bounds, max_registers=24)(bounded.py_func)
    kernel[1, 32](np.zeros(32))
    (text,) = kernel.inspect_ir().values()
    assert "max_threads 32" in text and "max_registers 24" in text


def test_dynamic_shared_memory_is_limited():
    a = np.arange(8)
    boxed[2, 4, 0, 32](a)
    assert a.tolist() == [0] * 4 + [4] * 4
    most = weft._weft.current_device().limits()["shared_bytes_optin"]
    boxed[2, 4, 0, most](a)
    with pytest.raises(weft.LaunchError, match=f"{most} bytes of shared memory: got {most + 1}"):
        boxed[2, 4, 0, most + 1](a)
    for wrong in (-1, 1.5, "much"):
        with pytest.raises(weft.LaunchError, match="dynamic shared memory"):
            boxed[2, 4, 0, wrong](a)


def test_checked_mode_knows_how_long_dynamic_shared_memory_is(monkeypatch):
    monkeypatch.setenv("WEFT_CHECK", "1")
    kernel = cuda.jit(boxed.py_func)
    with pytest.raises(IndexError, match=r"dynamic shared memory\[3\] of shape \(3,\)"):
        kernel[1, 4, 0, 31](np.arange(4))


def test_grids_that_wait_for_themselves_are_limited():
    a = np.zeros(4096)
    # GPUs have room for as many blocks as fit.
    with weft.device("cpu"):
        meeting[4096, 1](a)
        assert (a == 1).all()
        with pytest.raises(weft.LaunchError, match="4096 blocks at the same time"):
            meeting[4097, 1](a)


@cuda.jit
def leaving_before_a_meeting(a, first, last):
    i = cuda.grid(1)
    if i >= first and i < last:
        a[i] = -1
        return
    cuda.cg.this_grid().sync()
    if i >= 8:
        a[i] += a[15 - i]


@cuda.jit
def raising_before_a_meeting(a):
    i = cuda.grid(1)
    assert i != 4, "four"
    cuda.cg.this_grid().sync()
    a[i] += 1


@pytest.mark.parametrize(("first", "last"), [(0, 1), (0, 2), (2, 3), (0, 8), (5, 6), (4, 8)])
def test_a_grid_does_not_wait_for_threads_that_have_returned(first, last):
    a = np.arange(16)
    leaving_before_a_meeting[8, 2](a, first, last)
    left = [-1 if first <= i < last else i for i in range(8)]
    # The upper half reads what the lower wrote before the meeting.
    assert a.tolist() == left + [i + left[15 - i] for i in range(8, 16)]


def test_an_error_before_a_meeting_ends_the_launch():
    a = np.zeros(16)
    with pytest.raises(AssertionError, match="four"):
        raising_before_a_meeting[8, 2](a)
    assert a[4] == 0
    meeting[8, 2](a)


def test_an_error_ends_a_grid_that_waits():
    a = np.zeros(16)
    with pytest.raises(AssertionError, match="five"):
        raising_in_a_meeting[8, 2](a)
    assert a[5] == 0


def test_checked_mode_finds_lanes_that_do_not_meet():
    with pytest.raises(AssertionError, match="0x000000ff, which do not all come"):
        some_lanes[1, 8](np.zeros(8, np.int64))
    with pytest.raises(AssertionError, match="reads lane 8, which takes no part"):
        no_such_lane[1, 8](np.zeros(8, np.int64))
    with pytest.raises(AssertionError, match="read before anything wrote it"):
        unsynchronised[1, 8](np.zeros(8, np.int64))

"""Memory that the CPU keeps for the next array: what lies in it is not seen, who still looks at it keeps it, and it does not grow."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import weft

CPU = weft.device("cpu")
N = 100_000
MOST = 64 << 20


def kept() -> int:
    memory = CPU.memory()
    return memory["reserved"] - memory["used"]


def dirty(bytes_: int, value: int = 7) -> None:
    weft.eval(weft.full(bytes_ // 8, value, "i8"))


def test_what_was_freed_is_kept_and_given_back() -> None:
    CPU.free_all()
    assert kept() == 0
    dirty(8 * N)
    assert 8 * N <= kept() <= 10 * N
    CPU.free_all()
    assert kept() == 0


@pytest.mark.parametrize("dtype", ["i8", "f4", "c16", "?"])
def test_zeros_are_zeros_in_used_memory(dtype: str) -> None:
    for n in (N, N - 1, N // 2):
        size = np.dtype(dtype).itemsize
        dirty(size * N)
        for made in (weft.zeros(n, dtype), weft.zeros_like(weft.ones(n, dtype)), weft.empty(n, dtype) * 0):
            assert not np.asarray(made).any()
        loop = weft.njit(lambda n: np.zeros(n))
        dirty(8 * N)
        assert not loop(n).any()


def test_parts_of_matrices_that_nobody_writes_are_zeros() -> None:
    dirty(8 * 400 * 400)
    a = weft.asarray(np.eye(400) * 2)
    assert (np.triu(np.asarray(weft.linalg.cholesky(a)), 1) == 0).all()
    dirty(16 * 400 * 201)
    line = np.random.default_rng(1).standard_normal((400, 300))
    # The array is shorter than the transform: what it lacks is zero.
    np.testing.assert_allclose(weft.asnumpy(weft.fft.rfft2(line, (400, 400))), np.fft.rfft2(line, (400, 400)), atol=1e-9)


def test_who_looks_at_memory_keeps_it() -> None:
    x = weft.arange(N) + 1
    view = np.asarray(x)[::2]
    del x
    for _ in range(3):
        dirty(8 * N)
    assert (view == np.arange(1, N + 1, 2)).all()


def test_what_is_kept_has_a_limit() -> None:
    many = [weft.full(N * k, 1.0) for k in range(1, 20)]
    weft.eval(many)
    many.clear()
    assert kept() <= MOST
    dirty(2 * MOST)
    assert kept() <= MOST


def test_threads_do_not_share_what_they_make() -> None:
    def work(number: int) -> bool:
        for _ in range(20):
            x = np.asarray(weft.full(N, number) + 0)
            if not (x == number).all():
                return False
        return True

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(work, range(8)))

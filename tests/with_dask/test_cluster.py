"""`dask.array` with weft chunks on a cluster of two worker processes: programs, what tasks leave behind, and a worker that is killed."""

from __future__ import annotations

import os
import signal
import time

import dask.array as da
import distributed
import numpy as np
import pytest

import weft

from .programs import PROGRAMS, check, operands

ON_CLUSTER = ("map_blocks", "sum of columns", "var", "argmin", "tensordot", "matmul", "cumsum", "cumsum at once", "overlap",
              "overlap of several kinds", "rechunked", "percentile", "einsum", "svd", "qr")  # fmt: skip


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None, memory_limit=0) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.parametrize("name", ON_CLUSTER)
def test_programs(client, name: str) -> None:
    check(PROGRAMS[name], PROGRAMS[name](*operands(weft)).compute())


def pending(dask_worker) -> list[bool]:
    """Of the arrays that a worker holds, which are not computed."""
    from weft._weft import _is_evaluated, ndarray

    return [not _is_evaluated(each) for each in dask_worker.data.values() if isinstance(each, ndarray)]


def test_what_is_pending_never_leaves_a_task(client) -> None:
    x = (operands(weft)[0] * 2 + 1).map_blocks(lambda block: block[::2].T + 1).persist()
    distributed.wait(x)
    found = [each for held in client.run(pending).values() for each in held]
    assert len(found) >= 9 and not any(found)


def slowly(block):
    """A task that takes long enough to be killed in the middle of."""
    time.sleep(0.1)
    return block * 2 + 1


def test_a_killed_worker_loses_nothing(client) -> None:
    x, y = operands(weft)
    lazy = da.tensordot(x.map_blocks(slowly), y.map_blocks(slowly), axes=1).cumsum(axis=0)
    future = client.compute(lazy)
    before = client.run(os.getpid)
    time.sleep(0.3)
    os.kill(next(iter(before.values())), signal.SIGKILL)
    given = future.result(timeout=60)
    check(lambda x, y: da.tensordot(x * 2 + 1, y * 2 + 1, axes=1).cumsum(axis=0), given)
    deadline = time.monotonic() + 30
    while len(client.run(os.getpid)) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert set(client.run(os.getpid).values()) != set(before.values())
    assert np.isfinite(float(x.sum().compute()))

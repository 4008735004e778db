"""Random programs give undecorated and compiled the same, on every device. `run.py` runs more of them."""

import os

import pytest

import weft
from fuzz import run

COUNT = int(os.environ.get("WEFT_FUZZ", "1000"))
"""Programs in all: over half of them functions of the host."""

SHARES = {("jit", "cpu"): 0.55, ("ufunc", "cpu"): 0.1, ("kernel", "cpu"): 0.15, ("kernel", "cuda"): 0.1, ("kernel", "vulkan"): 0.1}


@pytest.mark.parametrize("sort, kind", SHARES)
def test_random_programs(sort, kind):
    device = next((d.name for d in weft.devices() if d.kind == kind), None)
    if device is None:
        pytest.skip(f"no {kind} device")
    count = int(COUNT * SHARES[sort, kind])
    tally = run.run(sort, 0, count, device)
    assert tally.total == count
    assert not tally.failures, "\n".join(run.show(failure, sort) for failure in tally.failures)
    # Programs that are refused, or mean nothing that is promised, test nothing.
    assert tally.counts["refused"] <= count * 0.1, tally.refusals.most_common(20)
    assert tally.counts["same"] >= count * 0.75, tally.counts


@pytest.mark.parametrize("tier, threads", [("sse2", "1"), ("avx2", "3")])
def test_random_programs_for_lesser_machines(tier, threads):
    count = COUNT // 20
    for sort in ("jit", "kernel"):
        tally = run.run(sort, 10_000, count, env={"WEFT_CPU_FEATURES": tier, "WEFT_NUM_THREADS": threads})
        assert tally.total == count
        assert not tally.failures, "\n".join(run.show(failure, sort) for failure in tally.failures)

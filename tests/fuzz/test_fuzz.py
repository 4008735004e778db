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


@pytest.mark.parametrize(
    "env",
    [
        {"WEFT_CPU_FEATURES": "sse2", "WEFT_NUM_THREADS": "1"},
        {"WEFT_CPU_FEATURES": "avx2", "WEFT_NUM_THREADS": "3"},
        {"WEFT_CHECK": "1"},
    ],
    ids=lambda env: "-".join(env.values()),
)
def test_random_programs_otherwise(env):
    """For lesser machines, with other numbers of threads, and in checked mode."""
    count = COUNT // 20
    for sort in ("jit", "kernel"):
        tally = run.run(sort, 10_000, count, env=env)
        assert tally.total == count
        assert not tally.failures, "\n".join(run.show(failure, sort) for failure in tally.failures)

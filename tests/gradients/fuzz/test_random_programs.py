"""Derivatives of random programs are those that differences of numbers give. `run.py` runs more of them."""

import os

import pytest
from arrays.fuzz.run import show

import weft
from gradients.fuzz import run

COUNT = int(os.environ.get("WEFT_FUZZ", "1000"))
SHARES = {("cpu", "both"): 0.62, ("cpu", "0"): 0.3, ("cpu", "1"): 0.03, ("cuda", "both"): 0.025, ("vulkan", "both"): 0.025}


@pytest.mark.parametrize("kind, tier", SHARES)
def test_random_programs(kind, tier):
    device = next((d.name for d in weft.devices() if d.kind == kind), None)
    if device is None:
        pytest.skip(f"no {kind} device")
    count = int(COUNT * SHARES[kind, tier])
    start = int(COUNT * sum(list(SHARES.values())[: list(SHARES).index((kind, tier))]))
    tally = run.run(range(start, start + count), device=device, tier=tier)
    assert tally.total == count
    assert not tally.failures, "\n".join(map(show, tally.failures))
    # What is refused or nowhere smooth tests little.
    assert tally.counts["refused"] <= max(count * 0.15, 6), tally.refusals.most_common(20)
    assert tally.counts["outside"] <= max(count * 0.06, 4)

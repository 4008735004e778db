"""Random programs give the same on Weft's arrays and on NumPy's. `run.py` runs more of them."""

import os

import pytest

import weft
from arrays.fuzz import run

COUNT = int(os.environ.get("WEFT_FUZZ", "1000"))
SHARES = {("cpu", "0"): 0.3, ("cpu", "1"): 0.2, ("cpu", "both"): 0.3, ("cuda", "both"): 0.1, ("vulkan", "both"): 0.1}


@pytest.mark.parametrize("kind, tier", SHARES)
def test_random_programs(kind, tier):
    device = next((d.name for d in weft.devices() if d.kind == kind), None)
    if device is None:
        pytest.skip(f"no {kind} device")
    count = int(COUNT * SHARES[kind, tier])
    tally = run.run(range(count), device=device, tier=tier)
    assert tally.total == count
    assert not tally.failures, "\n".join(map(run.show, tally.failures))
    # Programs that are refused test only what stands before the refusal.
    assert tally.counts["refused"] <= count * (0.02 if kind == "cpu" else 0.1), tally.refusals.most_common(20)

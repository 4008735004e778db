"""Whether arrays of a test use NVIDIA's libraries."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from weft.kernels.nvidia import finding


@pytest.fixture
def own_kernels() -> Iterator[None]:
    """Weft's own kernels are what is tested, also where NVIDIA's libraries are installed."""
    with finding.paused():
        yield

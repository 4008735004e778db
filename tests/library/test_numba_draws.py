"""Random numbers of compiled functions have Numba's bits, of which `numba_draws.txt` holds digests."""

from __future__ import annotations

import pytest
from numba_draws import CALLS, LIBRARY, digest, of_library, table

from weft import njit

TABLE = table()


def test_the_table_has_all() -> None:
    assert set(TABLE) == {LIBRARY, *CALLS} and len(CALLS) == len(set(CALLS))


@pytest.mark.skipif(of_library() != TABLE[LIBRARY], reason="this C library has other logarithms than that of the table")
@pytest.mark.parametrize("call", CALLS)
def test_draws_what_numba_draws(call: str) -> None:
    assert digest(call, njit) == TABLE[call]

"""Every function of the library in every way of calling it: dtypes, ranks, axes, layouts, empty arrays, NaN, infinities and zeros' signs.

`make test` takes of each function one dtype and layout for each rank, by turns; ``WEFT_SWEEP=all`` takes all, some hours;
``WEFT_SWEEP=20`` twenty of each rank.
"""

from __future__ import annotations

import itertools
import os
import re
from pathlib import Path

import pytest
from form_runs import DTYPES, LAYOUTS, cases, deviations
from forms import ROWS

# The functions that the library was asked to have first, those that pass over NaN among them.
ASKED = """
    argmin argmax argsort sort partition searchsorted digitize bincount histogram unique nonzero where flatnonzero argwhere
    count_nonzero concatenate stack hstack vstack dstack column_stack append split array_split repeat tile roll flip fliplr flipud rot90
    transpose swapaxes moveaxis expand_dims squeeze broadcast_to take take_along_axis put clip cumsum cumprod diff ediff1d gradient
    trapezoid interp median percentile quantile ptp average cov corrcoef var std any all isclose allclose array_equal outer inner kron
    cross trace diag diagflat tri tril triu eye identity vander meshgrid indices convolve correlate isin union1d intersect1d setdiff1d
    ravel_multi_index unravel_index nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod
    nanquantile nanstd nansum nanvar
"""
TABLE = Path(__file__).resolve().parents[2] / "crates/library/src/table.rs"
SWEEP = os.environ.get("WEFT_SWEEP", "1")
# Units of a rank, of the product of dtypes and layouts.
UNITS = None if SWEEP == "all" else int(SWEEP)


def test_every_function_has_a_row() -> None:
    library = re.findall(r'^ +(?:function|method|function_and_method)\("\w+", "(\w+)"', TABLE.read_text(), re.MULTILINE)
    names = [row.name for row in ROWS]
    assert len(library) > 100
    assert set(names) == {*ASKED.split(), *library}
    assert len(names) == len(set(names))


def test_every_row_calls_its_function() -> None:
    assert not [row.name for row in ROWS if f"np.{row.name}(" not in row.forms[0]]


def units(number: int, rank: int) -> list[tuple]:
    """Pairs of a dtype and a layout: all, or so many, beginning elsewhere for each row and rank, so that kinds of dtypes take turns."""
    layouts = LAYOUTS if rank > 1 else [layout for layout in LAYOUTS if layout != "F"] if rank else LAYOUTS[:1]
    every = list(itertools.product(DTYPES, layouts))
    if UNITS is None or UNITS >= len(every):
        return every
    return [(DTYPES[(k + 3 * number) % len(DTYPES)], layouts[(k + number) % len(layouts)]) for k in range(rank, rank + UNITS)]


CALLS = {f"{row.name}-{rank}d": (n, rank) for n, row in enumerate(ROWS) for rank in row.ranks}


@pytest.mark.parametrize(("number", "rank"), CALLS.values(), ids=CALLS)
def test_calls(number: int, rank: int) -> None:
    row = ROWS[number]
    lines = []
    for dtype, layout in units(number, rank):
        lines += deviations(row, cases(row, dtype, rank, layout), 1 if UNITS is None else 5)
    if lines:
        pytest.fail("\n".join(lines[:60] + [f"... {len(lines)} in all"]), pytrace=False)

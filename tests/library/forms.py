"""The ways of calling each function of the library: the table of `test_every_function.py`."""

from __future__ import annotations

from forms_of_places import JOINS, MAKERS, MATRICES, PLACES, SHAPES
from forms_of_series import POLYNOMIALS
from forms_of_sums import NEIGHBOURS, ORDER, REDUCTIONS, TOGETHER

ROWS = (*REDUCTIONS, *ORDER, *PLACES, *JOINS, *SHAPES, *NEIGHBOURS, *TOGETHER, *MATRICES, *MAKERS, *POLYNOMIALS)

"""The ways of calling functions of polynomials, and of rows of weights and zeros."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from form_arguments import number, row_of
from form_runs import Differs, Refused, Row
from forms_of_places import of_numbers

ROWS_OF_TWO = {"b": row_of(3), "n": number(1)}

POLYNOMIALS = (
    Row("polyadd", ("np.polyadd(a, b)", "np.polyadd(b, a)", "np.polyadd(a, n)", "np.polyadd(a, 2)"), ROWS_OF_TWO, ranks=(0, 1)),
    Row("polysub", ("np.polysub(a, b)", "np.polysub(b, a)", "np.polysub(a, n)", "np.polysub(a, 2)"), ROWS_OF_TWO, ranks=(0, 1)),
    Row(
        "polymul",
        ("np.polymul(a, b)", "np.polymul(b, a)", "np.polymul(a, n)", "np.polymul(a, 2)"),
        ROWS_OF_TWO,
        ranks=(0, 1),
        exact=False,
        products=True,
    ),
    Row(
        "polydiv",
        ("np.polydiv(a, b)", "np.polydiv(b, a)", "np.polydiv(a, n)", "np.polydiv(a, 2.0)"),
        {"b": lambda c: c.laid(np.array([1, 2, 1], c.dtype)), "n": number(1)},
        ranks=(0, 1),
        exact=False,
        special=False,
    ),
    Row(
        "polyval",
        ("np.polyval(b, a)", "np.polyval(a, b)", "np.polyval(a, n)", "np.polyval(a, 2)", "np.polyval(b, 0.5)"),
        ROWS_OF_TWO,
        exact=False,
        special=False,
        refused=(Refused(r"polyval\(a, .* of \S+ \(\d+, \d", "rows of coefficients"),),
        # NumPy's result has the type of `x` where there are no coefficients, and types follow from types here.
        differs=(Differs(r"polyval\(a, 2\) of (float|complex|uint64)\S* \(0,\)", "dtype"),),
    ),
    Row("polyder", ("np.polyder(a)", "np.polyder(a, 2)", "np.polyder(a, m=0)", "np.polyder(a, -1)"), ranks=(1,), exact=False),
    Row(
        "polyint",
        ("np.polyint(a)", "np.polyint(a, 2)", "np.polyint(a, 2, k=b)", "np.polyint(a, k=n)", "np.polyint(a, m=0)", "np.polyint(a, -1)"),
        ROWS_OF_TWO,
        ranks=(1,),
        exact=False,
    ),
    Row("trim_zeros", ("np.trim_zeros(a)", "np.trim_zeros(a, 'f')", "np.trim_zeros(a, trim='B')", "np.trim_zeros(a, 'x')"), ranks=(1,)),
    *(of_numbers(name, "n", "0", "1", "n + 1", "n + 0.5", "-2") for name in ("bartlett", "blackman", "hamming", "hanning")),
    replace(of_numbers("kaiser", "n, 5.0", "0, 1", "1, 3", "n + 1, 14", "n + 0.5, 2", "-2, 1"), exact=False),
)

"""The examples in the docstrings of the arrays' namespace give what they say."""

from __future__ import annotations

import doctest
import importlib

import numpy as np
import pytest

import weft
from weft.arrays import NAMES
from weft.polynomial import polynomial

# Their examples need least squares and eigenvalues.
POLYUTILS = ("as_series", "trimseq", "getdomain", "mapparms", "mapdomain")


def functions() -> list:
    """Every name of the namespace that is a function of this package."""
    found = []
    for name, (module, inside) in sorted(NAMES.items()):
        if module == "ufuncs":
            continue
        value = getattr(importlib.import_module(f"weft.arrays.{module}"), inside)
        if getattr(value, "__module__", "") == f"weft.arrays.{module}" and callable(value):
            found.append(pytest.param(value, id=name))
    found += [pytest.param(getattr(polynomial, name), id=f"polynomial.{name}") for name in polynomial.__all__]
    found += [pytest.param(getattr(weft.polynomial.polyutils, name), id=f"polyutils.{name}") for name in POLYUTILS]
    return [*found, pytest.param(weft.polynomial, id="polynomial"), pytest.param(weft.polynomial.Polynomial, id="Polynomial")]


@pytest.mark.parametrize("function", functions())
def test_gives_what_it_says(function: object) -> None:
    examples = doctest.DocTestParser().get_doctest(function.__doc__ or "", {"weft": weft, "np": np}, str(function), None, 0)
    assert examples.examples, "a public function has an example"
    shown: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE, verbose=False).run(examples, out=shown.append)
    assert not shown, "".join(shown)

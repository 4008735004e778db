"""The examples in the docstrings of `weft.nn` give what they say, and every public name has one."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

import weft
from weft import nn

NAMES = [("nn", nn, name) for name in nn.__all__ if name != "init"]
NAMES += [("nn.init", nn.init, name) for name in nn.init.__all__]


@pytest.mark.parametrize(("inside", "name"), [pytest.param(module, name, id=f"{path}.{name}") for path, module, name in NAMES])
def test_gives_what_it_says(inside: object, name: str) -> None:
    examples = doctest.DocTestParser().get_doctest(getattr(inside, name).__doc__ or "", {"weft": weft, "np": np}, name, None, 0)
    assert examples.examples, "a public function has an example"
    shown: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE, verbose=False).run(examples, out=shown.append)
    assert not shown, "".join(shown)

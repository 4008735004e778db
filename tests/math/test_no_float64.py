"""Functions of float32 ask no float64 of a device, which many GPUs have not."""

from __future__ import annotations

import re

import numpy as np
import pytest
from exhaustive import known
from promises import FUNCTIONS

import weft


@pytest.mark.parametrize("name", FUNCTIONS)
def test_float32_only(name):
    function = known(name)

    def unary(x):
        return function(x)

    def binary(x, y):
        return function(x, y)

    arity = FUNCTIONS[name].arity
    compiled = weft.njit(unary if arity == 1 else binary)
    compiled(*[np.float32(0.5)] * arity)
    (text,) = compiled.inspect_ir().values()
    assert "f32" in text
    assert not re.findall(r".*\bf64\b.*", text)

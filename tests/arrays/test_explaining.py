"""`explain` says by which kernels an array was computed."""

from __future__ import annotations

import xml.etree.ElementTree

import numpy as np
import pytest

import weft


def test_one_kernel_for_one_expression():
    x = weft.asarray(np.arange(1000.0))
    found = weft.explain(weft.sqrt(x * 2 + 1) - x)
    (kernel,) = found.kernels
    assert (kernel.what, kernel.extents, kernel.read, kernel.written) == ("map", (1000,), 8000, 8000)
    assert kernel.operations == 4 and found.moved == 16000


def test_what_depends_on_one_axis_is_computed_for_that_axis():
    x, y = weft.asarray(np.arange(40.0)), weft.asarray(np.arange(30.0))[:, None]
    (kernel,) = weft.explain(weft.sin(x) + weft.cos(y)).kernels
    assert sorted(each.extents for each in kernel.inner) == [(1, 40), (30, 1)]


def test_runs_of_one_kernel_over_parts_are_one_line():
    x = weft.asarray(np.random.default_rng(0).random((1000, 1000)))
    found = weft.explain((x * x + 1).sum(axis=1))
    assert sum(kernel.text.startswith("def") for kernel in found.kernels) == len(found.kernels)
    for kernel in found.kernels:
        for one, other in zip(kernel.inner, kernel.inner[1:], strict=False):
            assert (one.what, one.text, one.tier) != (other.what, other.text, other.tier) or one.inner or other.inner
    assert len(str(found).splitlines()) < 40


def test_what_is_in_memory_needs_nothing():
    x = weft.ones(3) + 1
    weft.eval(x)
    assert weft.explain(x).kernels == []
    assert "nothing to do" in str(weft.explain(x))


def test_the_picture_is_xml_and_is_written(tmp_path):
    path = tmp_path / "kernels.svg"
    picture = weft.explain(weft.arange(9) < 3).svg(str(path))
    assert path.read_text(encoding="utf-8") == picture
    root = xml.etree.ElementTree.fromstring(picture)
    assert root.tag.endswith("svg") and "map over 9" in picture


def test_only_arrays_are_explained():
    with pytest.raises(TypeError, match="not list"):
        weft.explain([1, 2])

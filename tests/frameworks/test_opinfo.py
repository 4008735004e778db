"""PyTorch's samples of its operators: values and gradients of Weft's functions, where PyTorch is."""

import pytest

pytest.importorskip("torch.testing._internal.common_methods_invocations", reason="PyTorch's samples are not there", exc_type=ImportError)

from frameworks import opinfo


def test_operators_are_right_or_listed():
    found = opinfo.run_all()
    assert not opinfo.judge(found)
    right = [outcome for outcome in found.values() if outcome.what == "passed"]
    assert len(right) > 200
    assert sum(outcome.gradients for outcome in right) > 2000


def test_the_list_names_operators():
    names = {opinfo.name_of(op) for op in opinfo.operators()}
    assert set(opinfo.read()) <= names

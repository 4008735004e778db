"""ONNX's backend node tests, where ONNX is installed: what passes and what does not is as `onnx_nodes/others.txt` says."""

from __future__ import annotations

import pytest

onnx = pytest.importorskip("onnx")

from .onnx_nodes import run  # noqa: E402


def test_node_cases() -> None:
    if not onnx.__version__.startswith(run.MADE_WITH):
        pytest.skip(f"the list is of ONNX {run.MADE_WITH}")
    results = {case.name: run.outcome(case) for case in run.cases()}
    assert len(results) > 1800 and sum(not reason for reason in results.values()) > 1300
    assert run.compared(results, run.read()) == []


def test_the_list_is_compared_both_ways() -> None:
    listed = {"fails": "other values", "uncovered": "not covered: x", "gone": "other values", "worse": "not covered: x"}
    results = {"fails": "", "uncovered": "not covered: x", "new": "other values", "worse": "other values", "passes": ""}
    assert len(run.compared(results, listed)) == 4
    assert run.compared({"fails": "other values", "passes": ""}, {"fails": "shape"}) == []


def test_every_case_that_does_not_pass_has_a_reason() -> None:
    assert all(run.read().values())

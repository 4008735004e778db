"""Compiled objects in other processes."""

from __future__ import annotations

import copy
import multiprocessing
import pickle

import numpy as np
import picklable
import pytest

import weft
from weft import njit


@pytest.fixture(scope="module")
def pool():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        yield pool


@pytest.mark.parametrize("name", ["square", "total", "fill", "half", "cube", "negated"])
def test_globals_are_pickled_by_name(name):
    function = getattr(picklable, name)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(function, protocol)) is function
    assert len(pickle.dumps(function)) < 100
    assert pickle.loads(pickle.dumps(picklable.Holder.inside)) is picklable.Holder.inside


def test_objects_made_of_plain_functions_are_made_again():
    halved, ratio, halves = pickle.loads(pickle.dumps((picklable.halved, picklable.ratio, picklable.halves)))
    assert halved.py_func is picklable.plain
    assert halved.signatures == picklable.halved.signatures
    assert (halved(7), type(halved(7))) == (3, np.int32)
    assert ratio(1.0, 0.0) == np.inf
    assert halves(np.array([5, -5])).tolist() == [2, -3]


def test_what_has_no_name_cannot_be_pickled():
    @njit
    def local(x):
        return x

    with pytest.raises(pickle.PicklingError, match=r"local of .*test_pickling cannot be pickled.*top level of a module"):
        pickle.dumps(local)
    assert copy.copy(local) is local
    assert copy.deepcopy([local])[0] is local


def test_spawned_processes(pool):
    a = np.arange(10.0)
    assert pool.map(picklable.square, [1, 2.5, np.float32(3)]) == [1, 6.25, 9]
    assert pool.apply(picklable.total, (a,)) == (a * a).sum()
    assert pool.apply(picklable.run_kernel, (picklable.fill, 8)).tolist() == [7.0] * 8
    np.testing.assert_array_equal(pool.apply(picklable.cube, (a,)), a**3)
    assert pool.apply(picklable.call, (picklable.half, 3)) == 1.5
    assert pool.apply(picklable.call, (picklable.halved, 9)) == 4


def test_errors_cross_processes(pool):
    with pytest.raises(AssertionError, match="too small"):
        pool.apply(picklable.checked, (3,))
    with pytest.raises(weft.WeftError, match="undefined_name"):
        pool.apply(picklable.refused, (3,))

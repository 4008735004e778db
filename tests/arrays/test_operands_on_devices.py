"""Numbers, sequences and NumPy's arrays beside an array on a device: they become arrays on that device, whatever the function.

Each function is called with one array on a device that is not the current one, and NumPy says what comes of it: a list of calls by hand,
in which lists are also given as NumPy's arrays, and all of the tables of gradients.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.gradients import table, table_linalg
from tests.gradients.cases import Case

import weft
from weft._weft import _to_numpy

DEVICE = next((each.name for each in weft.devices() if each.kind != "cpu" and each.float64 and each.int64), None)
pytestmark = pytest.mark.skipif(DEVICE is None, reason="there is no other device")

# `m` is NumPy or Weft, `v` and `i` are rows of floats and of integers, and `w` writes into a copy.
CALLS = """
m.append(v, 5.0)
m.append(5.0, v)
m.insert(v, 1, 5.0)
m.insert(v, [0, 2], [5.0, 6.0])
m.insert([1, 2], 1, v)
m.concatenate([v, [1.0]])
m.concatenate([[1.0], v], axis=None)
m.stack([v, [1, 2, 3]])
m.block([v, 1.0])
m.average(v, weights=[1, 2, 1])
m.trapezoid(v, [0.0, 1.0, 3.0])
m.trapezoid([0.0, 1.0, 3.0], v)
m.trapezoid(v, dx=[0.5, 1.0])
m.diff(v, append=[1.0, 2.0])
m.diff(v, prepend=1, append=2)
m.diff([1, 2], append=v)
m.ediff1d(v, to_end=[9, 8], to_begin=-1)
m.gradient(v, [0.0, 1.0, 3.0])
m.gradient([1.0, 2.0, 5.0], v)
m.interp([0.5, 1.5], v, [1, 2, 3])
m.interp(0.5, [0.0, 1.0, 2.0], v, left=1, right=[2.0][0])
m.isclose(v, [1.0, 2.0, 3.0], rtol=[1e-5, 1e-5, 1e-5])
m.isclose([1.0, 2.0, 3.0], v)
m.allclose([1.0, 2.0, 3.0], v)
m.array_equal([1.0, 2.0, 3.0], v)
m.array_equal(v, [1.0, 2.0])
m.array_equiv([1.0, 2.0, 3.0], v)
m.clip([0, 2, 9], v, 8)
m.clip(v, 1.5, [2, 3, 4])
m.where([True, False, True], v, [1, 2, 3])
m.where(v > 1, 5, [1, 2, 3])
m.where([True, False, True], 1, v)
m.select([[True, False, True], v > 2], [[1, 2, 3], 4], v)
m.select([v > 2], [[1, 2, 3]], -1)
m.piecewise(v, [[True, False, False]], [5, 7])
m.choose([0, 1, 0], [v, [4, 5, 6]])
m.choose(i, [[1, 2, 3], [4, 5, 6], [7, 8, 9]])
m.choose(i, [[1, 2, 3], 4, 5])
m.compress([True, False, True], v)
m.compress(v > 1, [1, 2, 3])
m.extract([True, False, True], v)
m.extract(v > 1, [1, 2, 3])
m.take([1, 2, 3], i)
m.take(v, [2, 0])
m.repeat(v, [1, 0, 2])
m.repeat([4, 5, 6], i)
m.digitize(v, [0.0, 1.5, 9.0])
m.digitize([0.5, 1.5], v)
m.searchsorted(v, [0.5, 2.5])
m.searchsorted([0.5, 2.5], v)
m.searchsorted(v, 2)
m.searchsorted([3.0, 1.0, 2.0], v, sorter=[1, 2, 0])
m.isin(v, [1, 5])
m.isin([1, 5], v)
m.intersect1d(v, [1, 5])
m.intersect1d([1, 5], v)
m.union1d([1, 5], v)
m.setdiff1d([1, 5], v)
m.setdiff1d(v, [1, 5])
m.setxor1d([1, 5], v)
m.lexsort([[1, 0, 1], v])
m.lexsort([v, [1, 0, 1]])
m.bincount(i, [1.0, 2.0, 3.0])
m.bincount([1, 0, 1], v)
m.histogram(v, [0.0, 1.5, 9.0])[0]
m.histogram([0.5, 1.5, 2.0], v)[0]
m.histogram([0.5, 1.5, 2.0], 2, weights=v)[0]
m.histogram_bin_edges([0.5, 1.5, 2.0], v)
m.histogram2d(v, [1.0, 2.0, 3.0], 2)[0]
m.histogram2d([1.0, 2.0, 3.0], v, [2, [0.0, 2.0, 4.0]])[0]
m.histogramdd([v, [1.0, 2.0, 3.0]], [[0.0, 2.0, 4.0], 2])[0]
m.cov(v, [3.0, 1.0, 2.0])
m.cov([3.0, 1.0, 2.0], v)
m.cov(v, fweights=[1, 2, 1], aweights=[0.5, 1.0, 2.0])
m.cov([3.0, 1.0, 2.0], aweights=v)
m.corrcoef([3.0, 1.0, 2.0], v)
m.quantile(v, [0.2, 0.7])
m.quantile([3.0, 1.0, 2.0], v / 4)
m.quantile(v, 0.4, weights=[1.0, 2.0, 1.0], method='inverted_cdf')
m.nanpercentile([3.0, 1.0, 2.0], v)
m.sum(v, where=[True, False, True])
m.prod(v, where=[True, False, True], initial=2)
m.max(v, where=[True, False, True], initial=-1)
m.all(v, where=[True, False, True])
m.mean(v, where=[True, False, True])
m.var(v, where=[True, False, True])
m.var(v, mean=[2.0])
m.std(v, mean=[2.0], where=[True, False, True])
m.nansum(v, where=[True, False, True])
m.nanmean(v, where=[True, False, True])
m.nanvar(v, where=[True, False, True])
m.add.reduce(v, where=[True, False, True])
m.add.outer([1, 2], v)
m.add(v, [1, 2, 3], where=[True, False, True], out=m.zeros_like(v))
m.copysign(v, [1, -1, 1])
m.ldexp(v, [1, 2, 3])
m.equal([1, 2, 3], v)
m.heaviside(v, [1, 2, 3])
m.divmod(v, [2, 2, 2])[1]
m.convolve(v, [1, 2])
m.convolve([1, 2], v)
m.correlate([1, 2], v)
m.cross(v, [1, 0, 2])
m.dot(v, [1, 2, 3])
m.dot([1, 2, 3], v)
m.dot([[1, 2, 3]], v)
m.vdot([1, 2, 3], v)
m.inner([1, 2, 3], v)
m.outer([1, 2, 3], v)
m.kron([1, 2], v)
m.tensordot([1, 2, 3], v, 1)
m.einsum('i,i', [1, 2, 3], v)
m.matmul([[1, 2, 3]], v)
m.matvec([[1, 2, 3]], v)
m.vecdot([[1, 2, 3]], v)
m.linalg.solve([[2.0, 0, 0], [0, 1, 0], [0, 0, 1]], v)
m.linalg.lstsq([[2.0, 0, 0], [0, 1, 0], [0, 0, 1]], v, rcond=None)[0]
m.linalg.multi_dot([v, [[2.0, 0], [0, 1], [0, 1]], [1, 2]])
m.linalg.vecdot([1, 2, 3], v)
m.linalg.outer([1, 2, 3], v)
m.linalg.cross([1, 2, 3], v)
m.linalg.tensorsolve([[2.0, 0, 0], [0, 1, 0], [0, 0, 1]], v)
m.polyadd([1, 2], v)
m.polymul([1, 2], v)
m.polydiv(v, [1.0, 2.0])[0]
m.polyval([1, 2], v)
m.polyval(v, [1, 2])
m.polyfit(v, [1.0, 2.0, 4.0], 1, w=[1, 2, 1])
m.polyfit([1.0, 2.0, 4.0], v, 1)
m.polyint(v, k=[1.0])
m.polynomial.polynomial.polyadd([1, 2], v)
m.polynomial.polynomial.polymul([1, 2], v)
m.polynomial.polynomial.polyval([1, 2], v)
m.polynomial.polynomial.polyval(v, [1, 2])
m.polynomial.polynomial.polyval2d([1, 2, 3], v, [[1.0, 2], [3, 4]])
m.polynomial.polynomial.polygrid2d([1, 2], v, [[1.0, 2], [3, 4]])
m.polynomial.polynomial.polyfit([1.0, 2.0, 4.0], v, 1, w=[1, 2, 1])
m.polynomial.polynomial.polyvander2d([1, 2, 3], v, [1, 1])
m.polynomial.polynomial.polyvalfromroots([1.0, 2], v)
m.polynomial.polynomial.polyint(v, k=[1.0])
m.polynomial.polynomial.polydiv(v, [1.0, 2.0])[0]
m.broadcast_arrays(v, [[1], [2]])[1]
list(m.broadcast([1, 2, 3], v))[0][0]
m.meshgrid([1, 2], v)[0]
m.ravel_multi_index(([0, 1, 1], i), (3, 3))
m.linspace([1, 2, 3], v, 4)
m.linspace(v, 9, 4)
m.linspace(0, v, 4)
m.geomspace([1.0, 2, 3], v, 4)
m.geomspace(1.0, v, 4)
m.logspace([0, 1, 0], v, 3)
m.logspace(0, 1, 3, base=v)
m.logspace(v, 1, 3, base=[2.0, 3.0, 4.0])
m.full((2, 3), v)
m.full_like(v, [1, 2, 3])
m.full_like([1.0, 2, 3], v)
m.pad(v, 1, constant_values=5)
m.pad(v, 1, constant_values=[5, 6])
m.pad(v, 2, 'linear_ramp', end_values=[5.0, 6])
m.r_[v, 1, [2, 3]]
m.r_[0:3, v]
m.c_[[1, 2, 3], v]
m.nan_to_num(v, nan=[1, 2, 3])
w(v, lambda a: m.copyto(a, [7, 8, 9], where=[True, False, True]))
w(v, lambda a: m.place(a, [True, False, True], [7, 8]))
w(v, lambda a: m.put(a, [0, 2], [7, 8]))
w(v, lambda a: m.putmask(a, [True, False, True], [7, 8, 9]))
w(m.diag(v), lambda a: m.fill_diagonal(a, [7, 8, 9]))
w(v, lambda a: m.add.at(a, [0, 0], [7, 8]))
w(v, lambda a: m.multiply.at(a, [0, 0], 3))
w(v, lambda a: m.maximum.at(a, [0, 0], [7.5, 8]))
w(v, lambda a: a.__setitem__([0, 2], [7, 8]))
w(v, lambda a: a.__setitem__([True, False, True], [7, 8]))
w(v, lambda a: a.__setitem__(slice(None), [7, 8, 9]))
w(v, lambda a: a.__iadd__([7, 8, 9]))
m.outer(v, v)[m.ix_([0, 2], i)]
m.outer(v, v)[m.ix_([0, 2], v > 1)]
v + [1, 2, 3]
[1, 2, 3] @ v
v.clip([1, 1, 1], 2)
v.dot([1, 2, 3])
v.searchsorted([1, 2])
v.take([0, 1])
v.repeat([0, 1, 2])
v.compress([True, False, True])
v.sum(where=[True, False, True])
v.mean(where=[True, False, True])
m.take_along_axis(v, np.array([2, 0, 1]), 0)
m.take_along_axis(np.array([4, 5, 6]), i, 0)
w(v, lambda a: m.put_along_axis(a, np.array([0, 2]), 7, 0))
m.array([v, [1.0, 2, 3]])
m.linalg.matrix_rank(m.diag(v), tol=[1e-3])
v[[0, 2]]
v[[True, False, True]]
m.outer(v, v)[m.ix_([0, 2], i)]
m.outer(v, v)[m.ix_([0, 2], v > 1)]
v.choose([[1, 2, 3], 4, 5, 6]) if v.dtype == int else i.choose([v, [4, 5, 6], 7])
m.add(v, np.float32(2))
m.append(v, np.float32(2))
m.concatenate([v, np.array([1, 2], np.int8)])
""".strip().splitlines()

_ROW, _PLACES = np.array([1.0, 2.0, 3.0]), np.array([1, 0, 2])
# A list of numbers that is no subscript, and stands in no other list.
_LIST = re.compile(r"(?<=[(, ])(?<!\[)\[[-0-9., ]+\](?!\])")


def _written(x: Any, write: Any) -> Any:
    copy = x.copy()
    write(copy)
    return copy


def _called(text: str, m: Any, v: Any, i: Any) -> Any:
    return eval(text, {"m": m, "v": v, "i": i, "w": _written, "np": np})


def _leaves(found: Any) -> list[Any]:
    return [leaf for each in found for leaf in _leaves(each)] if isinstance(found, (tuple, list)) else [found]


def _same(ours: Any, theirs: Any, dtypes: bool = True) -> None:
    """Results on the device that have NumPy's numbers."""
    found, expected = _leaves(ours), _leaves(theirs)
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        if isinstance(one, weft.ndarray):
            assert one.device.name == DEVICE, f"a result on {one.device.name}"
            one = _to_numpy(one)
            other = _to_numpy(other) if isinstance(other, weft.ndarray) else np.asarray(other)
            assert not dtypes or one.dtype == other.dtype, (one.dtype, other.dtype)
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("text", CALLS)
def test_calls(text: str) -> None:
    for written in {text, _LIST.sub(lambda found: f"np.array({found.group(0)})", text)}:
        expected = _called(written, np, _ROW, _PLACES)
        _same(_called(written, weft, weft.asarray(_ROW, device=DEVICE), weft.asarray(_PLACES, device=DEVICE)), expected)


class _Space:
    """A namespace whose `asarray` and `eye` leave what is given, and make what is taken, on the host."""

    def __init__(self, real: Any) -> None:
        self._real, self.eye = real, np.eye

    def asarray(self, x: Any) -> Any:
        return x if isinstance(x, (list, np.ndarray)) else self._real.asarray(x)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


TABLES = {
    "": table.RIGHT,
    "linalg": table_linalg.LINALG,
    "scipy.special": table_linalg.SPECIAL,
    "math": table_linalg.MATH,
    "scipy.signal": table_linalg.SIGNAL,
    "scipy.ndimage": table_linalg.NDIMAGE,
}
ROWS = [(space, name) for space, rows in TABLES.items() for name, cases in rows.items() if any(len(case.specs) > 1 for case in cases)]
# What is written to is an array, and not what becomes one; a case of `where` has an argument that it does not use.
_FIRST = {"copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask", "ufunc", "where"}


def _mixtures(name: str, case: Case) -> Iterator[tuple[int, list[Any]]]:
    """Which of the arguments is to be on the device, and the others as lists and as NumPy's arrays."""
    arrays = case.arrays(name)
    for kept in range(1 if name in _FIRST else len(arrays)):
        for made in (np.ndarray.tolist, np.asarray):
            yield kept, [x if at == kept else made(x) for at, x in enumerate(arrays)]


def _expected(case: Case, args: list[Any], kept: int) -> Any:
    """What NumPy gives, and where it lacks the function, Weft on the CPU; None of a case that computes with lists itself."""
    on_host = [weft.asarray(x) if at == kept else x for at, x in enumerate(args)]
    for space, given in ((np, args), (weft, on_host)):
        try:
            return case.f(_Space(space), *given)
        except (AttributeError, TypeError, ValueError):
            continue
    return None


@pytest.mark.parametrize(("space", "name"), ROWS)
def test_functions_of_the_tables(space: str, name: str) -> None:
    compared = 0
    for case in TABLES[space][name]:
        if len(case.specs) < 2 or any(0 in spec.shape for spec in case.specs):
            continue
        for kept, args in _mixtures(name, case):
            expected = _expected(case, args, kept)
            if expected is None:
                continue
            mixed = [weft.asarray(x, device=DEVICE) if at == kept else x for at, x in enumerate(args)]
            _same(case.f(_Space(weft), *mixed), expected, False)
            compared += 1
    assert compared


LOSSES = {
    "mse_loss": ([0.5, 0.25], [1.0, 0.0]),
    "huber_loss": ([0.5, 0.25], [1.0, 0.0]),
    "binary_cross_entropy": ([0.5, 0.25], [1.0, 0.0]),
    "binary_cross_entropy_with_logits": ([0.5, 0.25], [1.0, 0.0]),
    "cross_entropy": ([[0.5, 0.25]], [1]),
    "nll_loss": ([[0.5, 0.25]], [1]),
    "kl_div": ([0.5, 0.25], [1.0, 0.0]),
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses(name: str) -> None:
    loss, (given, target) = getattr(weft.nn, name), LOSSES[name]
    expected = loss(weft.asarray(given), weft.asarray(target))
    _same(loss(weft.asarray(given, device=DEVICE), target), expected)
    _same(loss(given, weft.asarray(target, device=DEVICE)), expected)


@pytest.mark.parametrize(
    "text",
    [
        "weft.add(a, b)", "weft.append(a, b)", "weft.concatenate([a, b])", "weft.insert(a, 1, b)", "weft.average(a, weights=b)",
        "weft.trapezoid(a, b)", "weft.diff(a, append=b)", "weft.select([a > 1], [b], 0)", "weft.stack([[1, 2, 3], a, b])",
        "weft.asarray([a, b])", "weft.isclose(a, b)", "weft.choose(b, [a, a])",
    ],
)  # fmt: skip
def test_arrays_on_two_devices_stay_an_error(text: str) -> None:
    there, here = weft.asarray(_ROW, device=DEVICE), weft.asarray([1, 0, 1])
    for a, b in ((there, here), (here, there)):
        if "choose" in text and b is there:
            continue
        with pytest.raises(ValueError, match="different devices"):
            weft.eval(eval(text, {"weft": weft, "a": a, "b": b}))


def test_cotangents() -> None:
    x = weft.asarray(np.float32([1, 2, 3]), device=DEVICE)
    for given in ([1.0, 2, 3], (1, 2, 3), np.array([1.0, 2, 3]), [weft.asarray(1.0, device=DEVICE), 2, 3]):
        _, pull_back = weft.vjp(lambda x: x * 2, x)
        _same(pull_back(given)[0], np.float32([2, 4, 6]))
    _, pull_back = weft.vjp(lambda x: {"a": (x, x * x), "b": x[0]}, x)
    _same(pull_back({"b": 4, "a": ([1.0, 1, 1], np.float32([1, 0, 1]))})[0], np.float32([7, 1, 7]))
    for wrong in ([1.0, 2, 3], {"a": [[1.0, 1, 1]], "b": 1}, {"a": ([1.0, 1, 1], None), "b": 1}, {"c": 1}):
        with pytest.raises(ValueError, match="no tree like"):
            pull_back(wrong)

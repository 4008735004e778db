"""Reductions in other types than the elements', under masks and along no axis, and what they refuse: on every device as NumPy does it."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest

import weft
from weft._weft import _to_numpy
from weft.arrays._ufunc_rows import ROWS
from weft.kernels import runs

from .on_devices import GPUS

BINARY = [name for name, nin, nout, *_ in ROWS if (nin, nout) == (2, 1)]
VIEWS = [(lambda x: x, 0), (lambda x: x[::-1], 0), (lambda x: x.T, 0), (lambda x: x[:, ::2], 1), (lambda x: x[1], 0)]
everywhere = pytest.mark.parametrize("device", ["cpu", *GPUS], indirect=True)
# NumPy's vector loops of these read sums of theirs that are not there yet: the truth is what it gives element by element.
ONE_BY_ONE = {"power", "arctan2", "ldexp"}
ROUNDING = {2: 2e-2, 4: 1e-4, 8: 1e-9, 16: 1e-9}


def outcome(act):
    """What a call gives, or what it raises."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return act()
        except Exception as error:
            return error


def agree(ours, theirs, note):
    if isinstance(theirs, Exception) or isinstance(ours, Exception):
        assert isinstance(ours, Exception) and isinstance(theirs, Exception), (note, ours, theirs)
        assert isinstance(ours, type(theirs)) or isinstance(theirs, type(ours)), (note, ours, theirs)
        return
    found, theirs = _to_numpy(ours), np.asarray(theirs)
    assert (found.dtype, found.shape) == (theirs.dtype, theirs.shape), (note, found.dtype, theirs.dtype)
    step = ROUNDING[found.dtype.itemsize // (2 if found.dtype.kind == "c" else 1)] if found.dtype.kind in "fc" else 0
    np.testing.assert_allclose(found, theirs, rtol=step, atol=step, err_msg=str(note))


def numbers(letter, seed=3):
    source = np.random.default_rng(seed)
    made = source.integers(0 if letter in "?BHIL" else -3, 4, (4, 6)).astype(letter)
    if letter in "fed":
        made = (made + source.integers(0, 4, made.shape) / 4).astype(letter)
    return (made + 1j * source.integers(-3, 4, made.shape)).astype(letter) if letter in "FD" else made


@everywhere
@pytest.mark.parametrize("name", BINARY)
def test_every_type_is_taken_together_in_every_other(device, name):
    if device.kind == "vulkan" and name not in ("add", "multiply", "maximum", "fmax", "fmin", "subtract", "logical_or"):
        pytest.skip("every kernel is compiled for a software driver")
    letters = "?biLefdFD" if device.kind == "cpu" else "?idFD" if device.float64 else "?if"
    for source in letters:
        host = numbers(source)
        x = weft.asarray(host)
        for letter in letters:
            for (view, axis), method in ((each, method) for each in VIEWS for method in ("reduce", "accumulate", "reduceat")):
                if name in ONE_BY_ONE and method != "accumulate":
                    continue
                more = ([0, 2, 1],) if method == "reduceat" else ()
                theirs = outcome(lambda: getattr(getattr(np, name), method)(view(host), *more, axis=axis, dtype=letter))  # noqa: B023
                ours = outcome(lambda: getattr(getattr(weft, name), method)(view(x), *more, axis=axis, dtype=letter))  # noqa: B023
                agree(ours, theirs, (name, source, letter, method))


@everywhere
def test_extremes_of_complex_numbers_that_are_converted(device):
    host = numbers("F", 5)
    host[1, 1:3] = np.nan, complex(1, np.nan)
    x = weft.asarray(host)
    # The others need sorts, whose positions are of 64 bits.
    for name in ("fmax", "fmin", "maximum", "minimum") if device.int64 else ("fmax", "fmin"):
        for view, axis in VIEWS:
            ours, theirs = getattr(weft, name).reduce, getattr(np, name).reduce
            if device.float64:
                agree(ours(view(x).astype("D"), axis), theirs(view(host).astype("D"), axis), name)
                out = weft.zeros(theirs(view(host), axis).shape, "D")
                assert ours(view(x), axis, out=out) is out
                agree(out, theirs(view(host), axis).astype("D"), name)
                captured = weft.compile(lambda x: getattr(weft, name).reduce(x, dtype="D"))  # noqa: B023
                for _ in range(2):
                    agree(captured(weft.asarray(host)), theirs(host, dtype="D"), name)
            agree(ours(view(x), axis), theirs(view(host), axis), name)


@everywhere
def test_elements_of_ldexp_are_integers(device):
    host = numbers("i")
    x = weft.asarray(host)
    for letter in "efd" if device.float64 else "f":
        for axis in (0, 1):
            lines = np.moveaxis(host, axis, 0)
            theirs = functools.reduce(np.ldexp, lines[1:], lines[0].astype(letter))
            agree(weft.ldexp.reduce(x, axis, dtype=letter), theirs, (letter, axis))
        agree(weft.ldexp.reduce(x, (), dtype=letter, initial=3), np.ldexp(np.dtype(letter).type(3), host), letter)
    for method, more in (("accumulate", ()), ("reduceat", ([0],))):
        with pytest.raises(TypeError, match=f"the resolved dtypes are not compatible with ldexp.{method}"):
            getattr(weft.ldexp, method)(x, *more, dtype="f")


@everywhere
@pytest.mark.parametrize("name", [name for name in BINARY if name not in ONE_BY_ONE])
def test_masks_along_every_axis_and_none(device, name):
    if device.kind == "vulkan" and name not in ("subtract", "floor_divide", "left_shift", "maximum", "gcd"):
        pytest.skip("every kernel is compiled for a software driver")
    mask = np.random.default_rng(2).integers(0, 2, (4, 6)).astype(bool)
    where = weft.asarray(mask)
    for letter in "?idF" if device.float64 else "i":
        host = numbers(letter)
        x = weft.asarray(host)
        for view in (lambda x: x, lambda x: x[::-1], lambda x: x[0, 0], lambda x: x[:0]):
            for axis in ((), 0, 1, (0, 1), None):
                for keywords in ({}, {"initial": 3}, {"initial": None}, {"initial": 1, "keepdims": True}):
                    if not device.int64:
                        keywords = {**keywords, "dtype": "i"}
                    theirs = outcome(lambda: getattr(np, name).reduce(view(host), axis, where=view(mask), **keywords))  # noqa: B023
                    ours = outcome(lambda: getattr(weft, name).reduce(view(x), axis, where=view(where), **keywords))  # noqa: B023
                    agree(ours, theirs, (name, letter, axis, keywords))


@everywhere
def test_masked_exponents_are_not_looked_at(device):
    x, where = weft.asarray(np.array([2, -1], np.int32)), weft.asarray(np.array([True, False]))
    agree(weft.power.reduce(x, (), initial=3, where=where), np.array([9, 3], np.int32), "power")


@everywhere
@pytest.mark.parametrize("letter", "bil")
def test_integers_to_negative_powers_are_refused(device, letter, monkeypatch):
    if letter == "l" and not device.int64:
        pytest.skip("not on this device")
    monkeypatch.setattr(runs, "MANY", 2)
    host = np.array([[2, 3, 2], [2, -1, 3]], letter)
    x = weft.asarray(host)
    for axis in (0, 1):
        for method, more in (("reduce", ()), ("accumulate", ()), ("reduceat", ([0],))):
            with pytest.raises(ValueError, match=r"Integers to negative integer powers are not allowed\."):
                getattr(weft.power, method)(x, *more, axis=axis)
            ours = getattr(weft.power, method)(weft.asarray(abs(host)), *more, axis=axis)
            agree(ours, getattr(np.power, method)(abs(host), *more, axis=axis), method)

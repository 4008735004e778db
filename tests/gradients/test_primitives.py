"""Every function of the namespaces under gradients: right, flat, or refused, as the table says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.gradients import page, table, table_linalg, table_ufuncs
from tests.gradients.cases import Case

import weft
from weft.errors import CaptureError, GradientError

_RIGHT = {
    **{f"weft.{name}": cases for name, cases in table.RIGHT.items()},
    **{f"linalg.{name}": cases for name, cases in table_linalg.LINALG.items()},
    **{f"fft.{name}": cases for name, cases in table_linalg.FFT.items()},
    **{f"special.{name}": cases for name, cases in table_linalg.SPECIAL.items()},
    **{f"math.{name}": cases for name, cases in table_linalg.MATH.items()},
    **{f"signal.{name}": cases for name, cases in table_linalg.SIGNAL.items()},
    **{f"ndimage.{name}": cases for name, cases in table_linalg.NDIMAGE.items()},
}
_CASES = [pytest.param(name, case, id=f"{name}-{at}") for name, cases in _RIGHT.items() for at, case in enumerate(cases)]
_COMPLEX = [pytest.param(name, case, id=f"{name}-{at}") for name, cases in _RIGHT.items() for at, case in enumerate(cases) if case.c]

Many = list[np.ndarray]


def _results(given: Any) -> list[Any]:
    """The arrays of floats and complex numbers that a function gave."""
    if isinstance(given, (tuple, list)):
        return [each for part in given for each in _results(part)]
    return [given] if given.dtype.kind in "fc" else []


def _of_arrays(case: Case) -> Callable[..., tuple[Any, ...]]:
    return lambda *arrays: tuple(_results(case.f(weft, *arrays)))


def _like(arrays: list[Any], seed: int) -> Many:
    """Random directions of arrays."""
    generator = np.random.default_rng(seed)
    made = []
    for x in arrays:
        x = np.asarray(x)
        step = generator.uniform(-1, 1, x.shape)
        made.append((step + 1j * generator.uniform(-1, 1, x.shape) if x.dtype.kind == "c" else step).astype(x.dtype))
    return made


def _weft(arrays: Many) -> list[Any]:
    return [weft.asarray(x) for x in arrays]


def _numpy(arrays: Any) -> Many:
    return [np.asarray(x) for x in arrays]


def _along(f: Callable[..., Any], arrays: Many, directions: Many, step: float = 1e-4) -> Many:
    """The derivative of a function along a direction, by differences of the fourth order."""

    def at(by: float) -> Many:
        return _numpy(f(*_weft([x + by * t for x, t in zip(arrays, directions)])))

    parts = zip(at(step), at(-step), at(2 * step), at(-2 * step))
    return [(8 * (a - b) - (c - d)) / (12 * step) for a, b, c, d in parts]


def _close(found: Any, wanted: Any, tolerance: float) -> None:
    for a, b in zip(_numpy(found), _numpy(wanted), strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * max(1.0, np.abs(b).max(initial=0)))


def _paired(first: Any, second: Any) -> complex:
    return sum(complex((a * b).sum()) for a, b in zip(_numpy(first), _numpy(second)))


def _check(name: str, case: Case, dtype: Any) -> None:
    """The tangent against differences, the cotangent against the tangent, and the same of the cotangent as a function."""
    arrays = case.arrays(name, dtype)
    f = _of_arrays(case)
    directions = _like(arrays, 1)
    values, tangents = weft.jvp(f, tuple(_weft(arrays)), tuple(_weft(directions)))
    _close(values, f(*_weft(arrays)), 1e-13)
    _close(tangents, _along(f, arrays, directions), 1e-8 * case.loose)
    weights = _like(list(values), 2)

    def back(*arrays: Any) -> Any:
        return weft.vjp(f, *arrays)[1](tuple(_weft(weights)))

    cotangents = back(*_weft(arrays))
    assert [g.dtype for g in cotangents] == [x.dtype for x in arrays]
    forwards, backwards = _paired(weights, tangents), _paired(cotangents, directions)
    assert abs(forwards.real - backwards.real) <= 1e-10 * case.loose * max(1, abs(forwards))
    if case.smooth:
        _, second = weft.jvp(back, tuple(_weft(arrays)), tuple(_weft(directions)))
        _close(second, _along(back, arrays, directions), 1e-6 * case.loose)


@pytest.mark.parametrize(("name", "case"), _CASES)
def test_derivatives(name: str, case: Case) -> None:
    _check(name, case, np.float64)


@pytest.mark.parametrize(("name", "case"), _COMPLEX)
def test_derivatives_of_complex(name: str, case: Case) -> None:
    _check(name, case, np.complex128)


@pytest.mark.parametrize(("name", "case"), _CASES)
def test_single_precision_and_turned_memory(name: str, case: Case) -> None:
    """Cotangents of float32, of arrays that lie backwards, against those of float64."""
    arrays = case.arrays(name)
    f = _of_arrays(case)
    values, back = weft.vjp(f, *_weft(arrays))
    weights = _like(list(values), 2)
    wanted = back(tuple(_weft(weights)))
    turned = [weft.asarray(np.flip(x).copy())[(slice(None, None, -1),) * x.ndim] for x in arrays]
    _close(weft.vjp(f, *turned)[1](tuple(_weft(weights))), wanted, 1e-12)
    singles = [weft.asarray(x.astype(np.float32)) for x in arrays]
    values, back = weft.vjp(f, *singles)
    found = back(tuple(weft.asarray(w.astype(y.dtype)) for w, y in zip(weights, values)))
    assert all(each.dtype == np.float32 for each in found)
    _close(found, wanted, 2e-3 * min(case.loose, 10))


@pytest.mark.parametrize(("name", "case"), _CASES)
def test_many_at_once(name: str, case: Case) -> None:
    """`vmap` of a function and of its cotangents against a loop."""
    batches = [np.stack(pair) for pair in zip(case.arrays(name), case.arrays(name, seed=1))]
    f = _of_arrays(case)

    def back(*arrays: Any) -> Any:
        values, pull = weft.vjp(f, *arrays)
        return tuple(values), pull(tuple(weft.ones(y.shape, y.dtype) for y in values))

    if not case.vmap:
        with pytest.raises((CaptureError, TypeError)):
            weft.vmap(back)(*_weft(batches))
        return
    found = weft.vmap(back)(*_weft(batches))
    for at in range(2):
        wanted = back(*_weft([x[at] for x in batches]))
        for some, others in zip(found, wanted):
            _close([x[at] for x in some], others, 1e-10 * case.loose)


def _flat_rows() -> dict[str, Any]:
    rows = {f"weft.{name}": f for name, f in table.FLAT.items()}
    rows |= {f"linalg.{name}": f for name, f in table_linalg.LINALG_FLAT.items()}
    return rows | {f"math.{name}": f for name, f in table_linalg.MATH_FLAT.items()}


@pytest.mark.parametrize(("name", "f"), _flat_rows().items())
def test_flat(name: str, f: Any) -> None:
    """What it gives is a number of integers, truth values or text, or has the gradient zero."""
    x = np.asarray([0.4, -1.3, 0.9, 1.7])
    given: list[Any] = []

    def loss(x: Any) -> Any:
        found = f(weft, x)
        parts = found if isinstance(found, (tuple, list)) else (found,)
        given[:] = [each for each in parts if isinstance(each, weft.ndarray)]
        return sum(((each * 2.5).sum() for each in given if each.dtype.kind in "fc"), start=(x * 0).sum())

    found = np.asarray(weft.grad(loss)(weft.asarray(x)))
    np.testing.assert_array_equal(found, np.zeros(4))


@pytest.mark.parametrize(("name", "f"), table.REFUSED.items())
def test_refused(name: str, f: Any) -> None:
    def loss(x: Any) -> Any:
        f(weft, x)
        return x.sum()

    with pytest.raises(GradientError):
        weft.grad(loss)(weft.asarray([0.4, -1.3, 0.9, 1.7]))


def _known(*parts: Any) -> set[str]:
    return {name for part in parts for name in part}


def test_every_name_is_in_the_table() -> None:
    """A new function of a namespace needs a row."""
    from weft import arrays, fft, linalg, math
    from weft.scipy import ndimage, signal, special

    names = _known(table.RIGHT, table.FLAT, table.REFUSED, table.NOTHING, table_ufuncs.NOTHING)
    assert set(arrays.NAMES) == names
    assert set(linalg.__all__) == _known(table_linalg.LINALG, table_linalg.LINALG_FLAT, table_linalg.LINALG_NOTHING)
    assert set(fft.__all__) == _known(table_linalg.FFT, table_linalg.FFT_NOTHING)
    assert set(special.__all__) == _known(table_linalg.SPECIAL)
    assert set(signal.__all__) == _known(table_linalg.SIGNAL)
    assert set(ndimage.__all__) == _known(table_linalg.NDIMAGE)
    assert set(math.__all__) == _known(table_linalg.MATH, table_linalg.MATH_FLAT, table_linalg.MATH_NOTHING)


def test_the_page_says_what_the_table_does() -> None:
    assert page.PAGE.read_text() == page.page(), "python -m tests.gradients.page writes it"

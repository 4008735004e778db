"""`weft.scipy.special` against SciPy: values over edges and random arguments, dtypes, what is refused, and the docstrings' examples."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.special

import weft
from weft.errors import UnsupportedError
from weft.scipy import special

from .against_scipy import examples

TWO = ("xlogy", "xlog1py", "rel_entr", "kl_div", "huber", "pseudo_huber", "boxcox", "boxcox1p", "inv_boxcox")
ALONG = ("logsumexp", "softmax", "log_softmax")
ONE = tuple(name for name in special.__all__ if name not in (*TWO, *ALONG, "factorial", "sinc"))
EDGES = [0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 0.5, -0.5, 0.3, 0.65, 2, 3, -2, -3, 1e-30, 1e30, 1e-8, 30, -30, 100, -100, 170, 172,
         700, -740]  # fmt: skip
# Units in the last place of the result beside which a function is exact, and where terms cancel or are tiny an absolute error.
ULP = {"erfc": 200, "kl_div": 4, "ndtr": 2000, "inv_boxcox": 3000, "gamma": 8, "gammaln": 8, "boxcox": 1500, "boxcox1p": 1500,
       "pseudo_huber": 40}  # fmt: skip
# SciPy's own error near multiples of 2 pi.
BESIDE = {"cosm1": 1e-16, "kl_div": 1e-15, "gammaln": 1e-15}


def arguments() -> np.ndarray:
    rng = np.random.default_rng(0)
    parts = [EDGES, rng.normal(size=80) * 3, rng.random(80), rng.random(40) * 1e-5, 1 - rng.random(40) * 1e-5]
    return np.concatenate([*parts, -30 * rng.random(40), 160 * rng.random(40)])


def compare(name: str, given: weft.ndarray, wanted: np.ndarray) -> None:
    host = weft.asnumpy(given)
    assert isinstance(given, weft.ndarray) and host.dtype == wanted.dtype and host.shape == wanted.shape
    eps = np.finfo(wanted.dtype).eps
    beside = BESIDE.get(name, 0) * (eps / 2e-16)
    np.testing.assert_allclose(host, wanted, rtol=ULP.get(name, 4) * eps, atol=max(beside, 1e-37 if eps > 1e-10 else 1e-300))


def scipys(name: str, *args: object, **keywords: object) -> np.ndarray:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(getattr(scipy.special, name)(*args, **keywords))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ONE)
def test_of_one_argument(name: str, dtype: str) -> None:
    x = arguments().astype(dtype)
    if name == "i0":
        x = x[np.isfinite(x)]
    with weft.syncs("error"):
        lazy = getattr(special, name)(weft.asarray(x))
    compare(name, lazy, scipys(name, x))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", TWO)
def test_of_two_arguments(name: str, dtype: str) -> None:
    x = arguments().astype(dtype)[:, None]
    y = np.concatenate([EDGES[:20], np.random.default_rng(1).random(20) * 3]).astype(dtype)
    if name == "inv_boxcox":
        # There the result is as sensitive as its argument is rounded.
        x, y = x[np.abs(x) < 50][:, None], y[np.abs(y) > 0.01]
    with weft.syncs("error"):
        lazy = getattr(special, name)(weft.asarray(x), weft.asarray(y))
    compare(name, lazy, scipys(name, x, y))


@pytest.mark.skipif(
    np.lib.NumpyVersion(scipy.__version__) >= "1.18.0", reason="computes more in single precision than Weft, which has the dtypes of 1.17"
)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "uint64", "float16", "float32", "float64"])
@pytest.mark.parametrize("name", [*ONE, *TWO])
def test_dtypes_shapes_and_layouts(name: str, dtype: str) -> None:
    x = np.asarray([[1, 0, 1], [1, 1, 0]]).astype(dtype)
    function = getattr(special, name)
    if name in TWO:
        compare(name, function(weft.asarray(x), 2.0), scipys(name, x, 2.0))
        compare(name, function(1, weft.asarray(x)), scipys(name, 1, x))
        return
    for part in (x, x.T, x[:, ::-2], x[0, 0], x[:0]):
        compare(name, function(weft.asarray(x)) if part is x else function(weft.asarray(part)), scipys(name, part))
    out = weft.zeros((2, 3), scipys(name, x).dtype)
    assert function(weft.asarray(x), out=out) is out
    compare(name, out, scipys(name, x))


def test_of_pythons_numbers() -> None:
    assert special.erf(1).dtype == np.float64 and float(special.expit(0.0)) == 0.5


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1)])
def test_along_axes(axis: object) -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(4, 5)) * 300
    for name in ALONG:
        for kind in ("float64", "float32"):
            compare(name, getattr(special, name)(weft.asarray(x.astype(kind)), axis=axis), scipys(name, x.astype(kind), axis=axis))
    weights = rng.normal(size=(4, 5)).round(1)
    found, sign = special.logsumexp(weft.asarray(x), axis=axis, b=weft.asarray(weights), return_sign=True, keepdims=True)
    wanted = scipy.special.logsumexp(x, axis=axis, b=weights, return_sign=True, keepdims=True)
    compare("logsumexp", found, np.asarray(wanted[0]))
    compare("logsumexp", sign, np.asarray(wanted[1]))
    assert float(special.logsumexp(weft.full(3, -np.inf))) == -np.inf


def test_factorials() -> None:
    n = np.arange(-2, 172)
    compare("gamma", special.factorial(weft.asarray(n)), scipy.special.factorial(n))
    with pytest.raises(UnsupportedError, match="exact"):
        special.factorial(3, exact=True)
    with pytest.raises(ValueError):
        special.factorial(weft.asarray([1.5]))


def test_what_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="real numbers"):
        special.erf(weft.asarray([1j]))
    with pytest.raises(TypeError):
        special.erf(weft.ones(2), where=True)
    with pytest.raises(TypeError, match="takes 2 arrays"):
        special.xlogy(weft.ones(2))


@pytest.mark.parametrize("name", special.__all__)
def test_examples(name: str) -> None:
    examples(getattr(special, name), name)

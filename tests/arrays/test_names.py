"""`docs/names.md`: every name of NumPy's and of JAX's is there, or says what to use instead; what runs at once is right on every device."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import weft
from weft.arrays import NAMES, _absent

from .against_numpy import array, difference
from .names import page
from .test_page import CALLS, NEED_NONE

# Calls of functions that run at once, in the names of `values`.
AT_ONCE = {
    "apply_along_axis": "(lambda row: row[::2], 0, x)", "argpartition": "(v, 1)[1]", "argsort": "(x, 0)", "argwhere": "(b)",
    "asarray_chkfinite": "(x)", "average": "(x, 0, weights=w)", "bincount": "(i, v)", "choose": "(i, [v, -v, v * 2, v * 3])",
    "compress": "(b[0], x, 1)", "convolve": "(v, w)", "corrcoef": "(x)", "correlate": "(v, w)", "cov": "(x)", "cumprod": "(x, 0)",
    "cumsum": "(x, 1)", "cumulative_prod": "(x, axis=1)", "cumulative_sum": "(x, axis=0)", "digitize": "(x, w)", "dot": "(x, y.T)",
    "extract": "(b, x)", "flatnonzero": "(b)", "histogram": "(x, 3)", "histogram2d": "(v, v[::-1], 2)", "histogram_bin_edges": "(x, 3)",
    "einsum": "('ij,kj->ik', x, x)", "histogramdd": "(x, 2)",
    "inner": "(x, y)", "interp": "(x, w, w * 2)", "intersect1d": "(v, w)", "isin": "(x, w)", "lexsort": "((i, v))",
    "mask_indices": "(3, xp.triu)", "matmul": "(x, y.T)", "matvec": "(x, v)", "median": "(x, 0)", "nanargmax": "(x, 0)",
    "nanargmin": "(x, 1)", "nancumprod": "(x, 0)", "nancumsum": "(x, 0)", "nanmedian": "(x, 1)", "nanpercentile": "(x, 30, 0)",
    "nanquantile": "(x, 0.3, 0)", "nonzero": "(b)", "partition": "(x, 1)[:, 1]", "percentile": "(x, 30, 0)",
    "piecewise": "(x, [x < 0, x >= 0], [0, lambda t: t * 2])", "quantile": "(x, [0.3, 0.5], 0)", "ravel_multi_index": "((i, i), (4, 4))",
    "real_if_close": "(z)", "searchsorted": "(w, x)", "setdiff1d": "(v, w)", "setxor1d": "(v, w)", "sort": "(x, 0)", "sort_complex": "(z)",
    "take": "(x, i, 1)", "take_along_axis": "(x, i[None], 0)", "tensordot": "(x, y, ([0, 1], [0, 1]))", "tril_indices": "(3)",
    "tril_indices_from": "(s)", "trim_zeros": "(v)", "triu_indices": "(3)", "triu_indices_from": "(s)", "union1d": "(v, w)",
    "unique": "(x, return_counts=True)", "unique_all": "(x)", "unique_counts": "(x)", "unique_inverse": "(x)",
    "unique_values": "(x)", "unravel_index": "(i, (2, 2))", "unwrap": "(x)", "vander": "(v, 3)", "vecmat": "(w, x)", "poly": "(v)",
    "polydiv": "(w + 1, v[1:3])", "polymul": "(v, w)", "array2string": "(x)", "array_repr": "(x)", "array_str": "(x)",
}  # fmt: skip
# They write to an array instead of giving one: what it is then.
WRITES = {"place": "(x, b, w)", "put": "(x, i, v)", "put_along_axis": "(x, i[None], y[:1], 0)", "copyto": "(x, v)",
          "fill_diagonal": "(x, 3)", "putmask": "(x, x > 1, y)"}  # fmt: skip
# Their calls of `test_page` give what NumPy does not have, or elements that are not said.
APART = (
    "broadcast",
    "empty_like",
    "frompyfunc",
    "may_share_memory",
    "shares_memory",
    "ndenumerate",
    "from_dlpack",
    "ix_",
    "apply_over_axes",
)
ELSEWHERE = ("poly1d", "topk", "polyfit", "roots", "base_repr", "binary_repr", "format_float_positional", "format_float_scientific")
RECORDED = [name for name in page.there() if page.how(name) == page.RECORDED and name not in (*NEED_NONE, *APART, *WRITES)]


def values() -> dict[str, np.ndarray]:
    return {
        "x": array((3, 4)), "y": array((3, 4), seed=1), "v": array((4,), seed=2), "w": np.array([-1.0, 0.5, 2.0]),
        "i": np.array([0, 3, 1, 1]) % 3, "b": array((3, 4), seed=5) > 0, "s": array((2, 3)), "z": array((4,), np.complex128),
    }  # fmt: skip


def test_the_page_says_what_is_so() -> None:
    if not np.__version__.startswith(page.MADE_WITH):
        pytest.skip(f"the page is made with NumPy {page.MADE_WITH}")
    assert page.PAGE.read_text() == page.text(), "run `python -m arrays.names.page` in the folder tests"


def test_every_name_is_there_or_says_what_to_use() -> None:
    for name in page.missing():
        assert _absent.reason(name), f"{name} is neither there nor explained"
        with pytest.raises(AttributeError, match="has no attribute"):
            getattr(weft, name)
    # What is explained is not there, and has not come without its sentence being taken away.
    assert [name for name in _absent.names() if hasattr(weft, name)] == []
    with pytest.raises(AttributeError, match=r"masked arrays: weft\.where"):
        weft.ma
    assert not hasattr(weft, "nothing") and _absent.reason("nothing") == ""


def test_the_lists_are_of_the_versions_they_name() -> None:
    if np.__version__.startswith(page.MADE_WITH):
        assert [name for name in dir(np) if not name.startswith("_")] == page.listed("numpy.txt")
    assert len(page.listed("jax.txt")) == 416


def test_what_the_page_is_made_of_is_there() -> None:
    every = set(page.there()) | {name for name in NAMES if name.startswith("__")}
    assert set(page.HOST_FUNCTIONS) | set(page.TELL) | set(page.DIFFERENCES) | set(page.OF_WEFT) <= every
    starred = {name for name in every if page.STARRED.get(name)}
    assert starred - set(AT_ONCE) - set(WRITES) - set(ELSEWHERE) - {name for name in starred if NAMES[name][0] == "files"} == set()


@pytest.mark.parametrize("name", [*AT_ONCE, *WRITES])
def test_what_runs_at_once_is_numpys_on_every_device(name: str, device: weft.Device) -> None:
    if not device.float64:
        pytest.skip("the numbers are of float64")
    text = f"xp.{name}{AT_ONCE.get(name) or WRITES[name]}"
    results = []
    for xp, arrays in ((np, values()), (weft, {key: weft.asarray(value) for key, value in values().items()})):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = eval(text, {"xp": xp, **arrays})
        results.append(arrays["x"] if name in WRITES else found)
    differ = difference(*results, False)
    assert differ is None, f"{text}: {differ}\n{results[0]!r}\n{results[1]!r}"
    on = {each.device for each in _arrays(results[1])}
    assert on in ({device}, set())


def _arrays(found: object) -> list[weft.ndarray]:
    if isinstance(found, (tuple, list)):
        return [each for part in found for each in _arrays(part)]
    return [found] if isinstance(found, weft.ndarray) else []


@pytest.mark.parametrize("name", RECORDED)
def test_what_is_recorded_is_numpys(name: str, device: weft.Device) -> None:
    if not device.float64:
        pytest.skip("the numbers are of float64")
    is_ufunc = isinstance(getattr(weft, name), weft.ufunc)
    call = CALLS.get(name) or (("(x)" if getattr(weft, name).nin == 1 else "(x, y)") if is_ufunc else "(x)")
    kinds = [np.float64]
    if is_ufunc and not any(row.startswith("d") for row in getattr(np, name).types):
        kinds = [np.int64]
    call = {"ldexp": "(x, i)", "astype": "(x, np.float32)"}.get(name, call)
    results = []
    for xp in (np, weft):
        arrays = {key: xp.asarray(value if value.dtype.kind in "bic" else value.astype(kinds[0])) for key, value in values().items()}
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            results.append(eval(f"xp.{name}{call}".replace("weft.", "xp."), {"xp": xp, "np": np, **arrays}))
    differ = difference(*results, False)
    assert differ is None, f"{name}{call}: {differ}\n{results[0]!r}\n{results[1]!r}"

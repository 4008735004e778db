"""Dtypes, the information about the namespace, and how it is loaded."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import weft
from weft.arrays import NAMES

from .against_numpy import ALL, array, check


def test_names_are_numpys() -> None:
    for name in (
        "int8",
        "uint64",
        "float16",
        "float32",
        "float64",
        "complex64",
        "complex128",
        "bool_",
        "dtype",
        "pi",
        "inf",
        "newaxis",
        "e",
    ):
        assert getattr(weft, name) is getattr(np, name)
    assert weft.bool is np.bool_ and np.isnan(weft.nan)


def test_every_name_is_there() -> None:
    for name in NAMES:
        assert name == "newaxis" or getattr(weft, name) is not None
        assert name in dir(weft)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        weft.nothing


def test_arrays_are_loaded_when_they_are_used() -> None:
    text = "import sys, weft; assert 'weft.arrays' not in sys.modules; weft.zeros; assert 'weft.arrays' in sys.modules"
    assert subprocess.run([sys.executable, "-c", text], check=False).returncode == 0


@pytest.mark.parametrize("dtype", ALL)
def test_dtypes(dtype: type) -> None:
    name = np.dtype(dtype).name
    for other in ALL:
        to = np.dtype(other).name
        check(f"xp.can_cast(xp.{name if name != 'bool' else 'bool_'}, '{to}')")
        check(f"xp.promote_types('{name}', '{to}')")
        check(f"xp.astype(a, '{to}')", a=array((3,), dtype))
    for kind in ("bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric"):
        check(f"xp.isdtype(np.dtype('{name}'), '{kind}')")
    check(f"xp.isdtype(np.dtype('{name}'), ('integral', np.dtype('float32')))")
    for number in (True, 1, 1.5, 2j):
        check(f"xp.result_type(a, {number})", a=array((3,), dtype))
    if np.dtype(dtype).kind in "fc":
        for attribute in ("bits", "eps", "max", "min", "tiny", "smallest_normal", "resolution", "precision"):
            assert getattr(weft.finfo(dtype), attribute) == getattr(np.finfo(dtype), attribute)
        assert weft.finfo(weft.ones(1, dtype)).dtype == np.finfo(dtype).dtype
    if np.dtype(dtype).kind in "iu":
        assert weft.iinfo(weft.ones(1, dtype)).max == np.iinfo(dtype).max


def test_errors() -> None:
    for text in ("result_type()", "finfo(xp.int8)", "iinfo(xp.float32)", "can_cast(1, xp.int8)", "isdtype(np.dtype('int8'), 'small')"):
        check(f"xp.{text}")
    with pytest.raises(TypeError, match="Input should be"):
        weft.astype([1], weft.int8)
    with pytest.raises(TypeError, match="do not exist in Weft"):
        weft.result_type("U5")


def test_astype() -> None:
    x = weft.asarray([1, 2])
    assert weft.astype(x, weft.int64, copy=False) is x
    assert weft.astype(x, weft.int64) is not x


def test_information() -> None:
    info = weft.__array_namespace_info__()
    assert weft.__array_api_version__ == "2025.12"
    assert info.capabilities()["boolean indexing"] and info.default_device() == weft.current_device()
    assert set(info.dtypes(kind="real floating")) == {"float32", "float64"}
    assert set(info.dtypes(kind=("bool", "complex floating"))) == {"bool", "complex64", "complex128"}
    with pytest.raises(ValueError, match="is not a known kind"):
        info.dtypes(kind="small")


def test_bfloat16() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = weft.asarray([3.5, 1, 2], dtype="bfloat16")
    assert x.dtype == ml_dtypes.bfloat16 and weft.asarray([1], dtype=weft.bfloat16).dtype == x.dtype
    assert weft.result_type(x, weft.int8) == x.dtype and weft.result_type(x, 1.5) == x.dtype
    assert weft.result_type(x, weft.int64) == np.float64 and weft.promote_types(x.dtype, weft.float16) == np.float32
    assert weft.isdtype(x.dtype, "real floating") and weft.finfo(x).bits == 16 and weft.finfo(weft.bfloat16).max > 1e38
    for found in (
        weft.sum(x),
        weft.mean(x),
        weft.var(x),
        weft.sort(x),
        weft.cumsum(x),
        weft.round(x, 1),
        weft.median(x),
        weft.concat((x, x)),
    ):
        assert found.dtype == x.dtype
    assert float(weft.sum(x)) == 6.5 and weft.asnumpy(weft.sort(x)).astype(float).tolist() == [1, 2, 3.5]
    assert weft.matmul(x, x).dtype == x.dtype and float(weft.matmul(x, x)) == 17.25

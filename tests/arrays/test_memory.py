"""What arrays say of their memory against NumPy: `flags`, `shares_memory` and `may_share_memory`."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import weft
from weft.errors import UnsupportedError

from .against_numpy import check, host

VIEWS = (
    "a", "a[:]", "a.T", "a[::2]", "a[1:]", "a[:, ::-1]", "a[:, :1]", "a[0]", "a[1:1]", "a[..., None]", "a.reshape(3, 4)", "a.reshape(-1)",
    "a.T.reshape(-1)", "a + 0", "a.T + 1", "a.copy()", "a.T.copy(order='K')", "xp.broadcast_to(a, (2, 4, 3))", "a[0, 0, ...]",
    "a.view('i8')", "a.view('c16' if a.shape[-1] % 2 == 0 else 'u8')", "a.sum(axis=0)", "a[[0, 1]]", "xp.diag(a[:3, :3])",
)  # fmt: skip
FLAGS = (
    "C", "CONTIGUOUS", "F", "FORTRAN", "W", "A", "X", "B", "CA", "FA", "C_CONTIGUOUS", "F_CONTIGUOUS", "WRITEABLE", "ALIGNED",
    "WRITEBACKIFCOPY", "FNC", "FORC", "BEHAVED", "CARRAY", "FARRAY",
)  # fmt: skip
# Those of NumPy's that are read-only there and can be written here.
WRITTEN = ("xp.diag(a[:3, :3])",)


@pytest.mark.parametrize("view", VIEWS)
def test_flags(view: str) -> None:
    a = np.arange(12.0).reshape(4, 3)
    for name in FLAGS:
        if view in WRITTEN and name in ("W", "WRITEABLE", "B", "BEHAVED"):
            continue
        check(f"({view}).flags[{name!r}]", a=a)
    for name in ("c_contiguous", "f_contiguous", "contiguous", "fortran", "fnc", "forc", "aligned", "carray", "farray", "writebackifcopy"):
        check(f"({view}).flags.{name}", a=a)


def test_views_do_not_own_their_memory() -> None:
    for text in ("a[:]", "a.T", "a[0]", "a.reshape(3, 4)", "a[1:]", "a.view()", "a.T.T", "xp.broadcast_to(a, (2, 4, 3))"):
        check(f"({text}).flags.owndata", a=np.arange(12.0).reshape(4, 3).copy())
    for text in ("a + 1", "a.T + 1", "a.copy()", "xp.zeros((2, 3))", "xp.asarray([1, 2])", "xp.sort(a)", "a[[0]]", "a.T.copy(order='K')"):
        check(f"({text}).flags.owndata", a=np.arange(12.0).reshape(4, 3).copy())


def test_flags_are_numbered_shown_and_compared() -> None:
    a = np.arange(3.0)
    for text in ("a.flags.num", "repr(a.flags)", "a[::2].flags.num", "repr(a[::2].flags)", "a.flags == a[:3].copy().flags"):
        check(text, a=a)
    with pytest.raises(TypeError):
        hash(weft.arange(3).flags)


def test_flags_of_elements_at_odd_places() -> None:
    odd = weft.zeros(17, "u1")[1:].view("f8")
    assert not odd.flags.aligned and not odd.flags.behaved
    assert weft.zeros(16, "u1")[8:].view("f8").flags.aligned


def test_flags_stay_as_they_are() -> None:
    for text in ("a.flags['w']", "a.flags[3]", "a.flags.foo", "a.flags.__setitem__('C', True)", "setattr(a.flags, 'num', 3)"):
        check(text, a=np.arange(3.0))
    with pytest.raises(ValueError, match="cannot set WRITEABLE flag to True of this array"):
        weft.broadcast_to(weft.arange(3), (2, 3)).setflags(write=True)
    x = weft.arange(3)
    x.flags.writeable = True
    x.flags["W"] = True
    x.setflags(write=True, align=True, uic=False)
    with pytest.raises(UnsupportedError, match="broadcast_to"):
        x.flags.writeable = False
    with pytest.raises(UnsupportedError):
        x.setflags(write=False)
    with pytest.raises(ValueError, match="cannot set WRITEBACKIFCOPY"):
        x.flags.writebackifcopy = True


@pytest.mark.parametrize("pair", list(itertools.product(VIEWS, VIEWS)))
def test_sharing(pair: tuple[str, str]) -> None:
    for name in ("shares_memory", "may_share_memory"):
        # A reshape that copies is a view of the copy for NumPy.
        check(f"a = a.copy()\nxp.{name}({pair[0]}, {pair[1]})", a=np.arange(12.0).reshape(4, 3))


def test_sharing_that_is_hard_to_tell() -> None:
    x = weft.zeros((4, 5, 6), dtype="i1")
    first, second = x[:, ::2, ::3], x[:, ::3, ::2]
    with pytest.raises(np.exceptions.TooHardError):
        weft.shares_memory(first, second, max_work=1)
    assert weft.may_share_memory(first, second) and weft.shares_memory(first, second)


def test_sharing_with_numpys_arrays() -> None:
    x = weft.arange(10)
    assert weft.shares_memory(x, np.asarray(x)) and weft.shares_memory(np.asarray(x)[3:], x) and weft.shares_memory(x, host(x[::2]))
    assert not weft.shares_memory(x, np.arange(10)) and not weft.may_share_memory(x[:3], host(x)[5:])
    assert np.shares_memory(x, x[1:]) and np.may_share_memory(x, x[1:])


def test_sharing_is_of_views_not_of_values() -> None:
    x = weft.arange(4)
    kept = x
    x += 1
    assert weft.shares_memory(x, kept) and not weft.shares_memory(x, x + 0) and not weft.may_share_memory(x.copy(), x)

"""NumPy's handling of divisions by zero, overflow and their like: in Weft they give inf, NaN or 0 and are never said, which is NumPy's
"ignore". That may be asked for, so that programs which ask for it run; other ways of handling them are refused.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ._common import refuse

_KINDS = ("divide", "over", "under", "invalid")
_WAYS = ("ignore", "warn", "raise", "call", "print", "log")


def geterr() -> dict[str, str]:
    """How errors of floats are handled: all are ignored.

    >>> weft.geterr()["divide"]
    'ignore'
    """
    return dict.fromkeys(_KINDS, "ignore")


def seterr(all: Any = None, divide: Any = None, over: Any = None, under: Any = None, invalid: Any = None) -> dict[str, str]:
    """Takes "ignore", which is how errors of floats are handled; any other way is an UnsupportedError. Gives what `geterr` gives.

    >>> _ = weft.seterr(all="ignore")
    """
    for way in (all, divide, over, under, invalid):
        _check("seterr", way)
    return geterr()


def _check(function: str, way: Any) -> None:
    if way is None or way == "ignore":
        return
    if way not in _WAYS:
        raise ValueError(f"Bad value for error mode: {way!r}")
    raise refuse(
        function,
        f"{way!r} is not available: divisions by zero and overflow give inf, NaN or 0 and are not told. "
        "weft.isfinite(x).all() asks; np.errstate is for NumPy's own arrays",
    )


@contextlib.contextmanager
def errstate(*, call: Any = None, **kinds: Any) -> Iterator[None]:
    """A block in which errors of floats are ignored, as they are everywhere. Any other way is an UnsupportedError.

    >>> with weft.errstate(divide="ignore"):
    ...     print(weft.asarray([1.0]) / 0)
    [inf]
    """
    if call is not None:
        raise refuse("errstate", "there is nothing that calls a function")
    seterr(**kinds)
    yield


def geterrcall() -> None:
    """The function that is called for errors of floats: none.

    >>> weft.geterrcall() is None
    True
    """

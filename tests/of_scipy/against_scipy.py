"""Expressions in the vocabulary `m`, a module of SciPy's and Weft's of that name: values, dtypes, shapes, and classes of errors."""

from __future__ import annotations

import doctest
import warnings
from typing import Any

import numpy as np

import weft


def check(theirs: Any, ours: Any, text: str, tolerance: float = 1e-12, **arguments: Any) -> None:
    """An expression gives in Weft what it gives in SciPy; NumPy's arrays among the arguments are weft arrays there."""
    wanted = _run(text, theirs, arguments)
    woven = {name: weft.asarray(value) if isinstance(value, np.ndarray) else value for name, value in arguments.items()}
    given = _run(text, ours, woven)
    shown = f"{text} of {', '.join(f'{name}={value!r}' for name, value in arguments.items())}"
    if isinstance(wanted, Exception):
        assert isinstance(given, type(wanted)), f"{shown}: SciPy raises {wanted!r}, Weft gives {given!r}"
        return
    if isinstance(given, Exception):
        raise AssertionError(shown) from given
    for one, other in zip(wanted, given) if isinstance(wanted, tuple) else [(wanted, given)]:
        host = weft.asnumpy(other)
        assert isinstance(other, weft.ndarray) and host.dtype == one.dtype and host.shape == one.shape, (
            f"{shown}: {host.dtype} {host.shape}"
        )
        scale = np.abs(one[np.isfinite(one)]).max(initial=1.0) if one.size else 1.0
        rough = {"float32": 3e-7, "complex64": 3e-7, "float16": 2e-3}.get(one.dtype.name, 0)
        near = max(tolerance, rough) if one.dtype.kind in "fc" else 0
        np.testing.assert_allclose(host, one, rtol=near, atol=near * scale, err_msg=shown)


def _run(text: str, module: Any, arguments: dict[str, Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return eval(text, {"m": module, "np": np, **arguments})
        except Exception as error:
            return error


def examples(function: Any, name: str) -> None:
    """The examples in a docstring give what they say."""
    found = doctest.DocTestParser().get_doctest(function.__doc__, {"weft": weft, "np": np}, name, None, 0)
    assert found.examples, "a public function has an example"
    shown: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE, verbose=False).run(found, out=shown.append)
    assert not shown, "".join(shown)

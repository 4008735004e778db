"""Ufuncs in kernels on every device: NumPy's values of edge cases.

`make test` takes some of the pairs of different types by a fixed rule; ``WEFT_SWEEP=all`` takes all.
"""

from __future__ import annotations

import numpy as np
import pytest
from ledger import check
from operands import DTYPES, EVERYTHING, crossed, pairs, taken, values
from runs import EXACT
from support import texts
from test_ufuncs import BINARY, LEDGER, UNARY, measure

from weft import cuda

TOGETHER = 10
MIXED = pairs() if EVERYTHING else [(d, d) for d in taken(DTYPES, 3)] + taken(pairs(), 9)


def kernel(names: list[str], operands: str):
    """A kernel that stores the results of some ufuncs of the elements of `a` and `b`."""
    results = [[f"o{i}_{j}" for j in range(getattr(np, name).nout)] for i, name in enumerate(names)]
    lines = [f"        {', '.join(f'{o}[i]' for o in outs)} = np.{name}({operands})" for name, outs in zip(names, results)]
    parameters = ", ".join(["a", "b", *(o for outs in results for o in outs)])
    text = f"def f({parameters}):\n    i = cuda.grid(1)\n    if i < a.size:\n" + "\n".join(lines) + "\n"
    return cuda.jit(fma=False)(texts.function_of(text, {"np": np, "cuda": cuda}))


def deviations(names: list[str], operands: str, a: np.ndarray, b: np.ndarray, title: str) -> list[str]:
    want = {}
    with np.errstate(all="ignore"):
        for name in names:
            try:
                got = getattr(np, name)(*(a, b)[: getattr(np, name).nin])
            except TypeError:
                continue
            want[name] = got if isinstance(got, tuple) else (got,)
    lines = []
    accepted = list(want)
    for start in range(0, len(accepted), TOGETHER):
        part = accepted[start : start + TOGETHER]
        # What is stored takes the type of the array, so that a result of another type would be seen only where it lost something.
        got = {name: tuple(np.zeros_like(w) for w in want[name]) for name in part}
        kernel(part, operands)[(a.size + 63) // 64, 64](a, b, *(o for name in part for o in got[name]))
        for name in part:
            for g, w in zip(got[name], want[name]):
                exact = measure(name, (a, b)[: getattr(np, name).nin], w) if len(want[name]) == 1 else EXACT
                lines.append(LEDGER.deviation(f"np.{name}({operands}) in a kernel, {title}", g, w, exact))
    return [line for line in lines if line]


@pytest.mark.parametrize("dtype", taken(DTYPES, 3), ids=str)
def test_unary(device, dtype):
    a = values(dtype)
    check(deviations(UNARY, "a[i]", a, a, str(dtype)))


@pytest.mark.parametrize(("left", "right"), MIXED, ids=lambda d: str(d))
def test_binary(device, left, right):
    a, b = values(left), values(right)
    check(deviations(BINARY, "a[i], b[i]", *crossed(a[::2], b), f"{left}, {right}"))

"""Bodies of `ElementwiseKernel` have C's meaning: random ones give what a C compiler's code gives, on every device."""

from __future__ import annotations

import numpy as np
import pytest

import weft
import weft.cupy as cp

from . import c_programs
from .c_programs import TYPES, Maker


def bodies(count: int, seed: int) -> list[tuple[str, dict[str, str]]]:
    """Random bodies with inputs of three types."""
    found = []
    for number in range(count):
        maker = Maker(1000 * seed + number, {})
        kinds = list(TYPES)
        maker.variables = {name: kinds[maker.random.randrange(len(kinds))] for name in ("x", "y", "w")}
        found.append(maker.body())
    return found


@pytest.mark.skipif(c_programs.COMPILER is None, reason="there is no C compiler")
@pytest.mark.parametrize("seed", range(4))
def test_random_bodies(seed: int, tmp_path, device: weft.Device) -> None:
    """As functions of numbers, and every second as kernels, which have a second output."""
    made = bodies(6, seed)
    library = c_programs.compiled(made, tmp_path)
    for number, (body, types) in enumerate(made):
        rows = {name: c_programs.values(kind, 48, at) for at, (name, kind) in enumerate(types.items()) if name != "z"}
        wanted = c_programs.run(library, number, types, rows)
        is_kernel = number % 2 == 1
        params, outputs = ", ".join(f"{types[name]} {name}" for name in rows), f"{types['z']} z" + ", int64 at" * is_kernel
        kernel = cp.ElementwiseKernel(params, outputs, body + "; at = i;" * is_kernel, return_tuple=True)
        given = weft.asnumpy(kernel(*(weft.asarray(each) for each in rows.values()))[0])
        np.testing.assert_array_equal(given, wanted, err_msg=f"{types}\n{body}")
        assert given.dtype == wanted.dtype

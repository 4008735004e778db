"""`docs/namespace.md` names every function, and says truly which of them only record what is to be done."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import weft
from weft.arrays import NAMES

PAGE = Path(__file__).resolve().parents[2] / "docs/namespace.md"
TABLE = "\n".join(line for line in PAGE.read_text().splitlines() if line.startswith("|"))
# What the page has no row of functions for.
OTHERS = ("ufuncs", "information", "interop", "explaining", "compiling", "graphs", "numpys")
# For functions that only record: a call in the names `x` (3×4), `y` (3×4), `v` (4) and `w` (3).
CALLS = {
    "append": "(v, v)", "array_split": "(x, 2)", "asarray": "(x)", "asanyarray": "(x)", "ascontiguousarray": "(x.T)", "block": "([[x, y]])",
    "atleast_1d": "(v)", "atleast_2d": "(v)", "atleast_3d": "(v)", "broadcast_arrays": "(x, v)", "broadcast_to": "(v, (3, 4))",
    "concat": "((x, y))", "concatenate": "((x, y))", "column_stack": "((x, y))", "copyto": "(x, v)", "cross": "(x[:, :3], y[:, :3])",
    "delete": "(x, 1, 0)", "diag": "(v)", "diagflat": "(v)", "diagonal": "(x)", "dsplit": "(x[None], 2)", "dstack": "((x, y))",
    "expand_dims": "(x, 0)", "fill_diagonal": "(x, 3)", "hsplit": "(x, 2)", "hstack": "((x, y))", "insert": "(x, 1, 0, axis=0)",
    "isclose": "(x, y)", "allclose": "(x, y)", "array_equal": "(x, y)", "array_equiv": "(x, v)", "kron": "(v, w)", "meshgrid": "(v, w)",
    "moveaxis": "(x, 0, 1)", "outer": "(v, w)", "pad": "(x, 1)", "permute_dims": "(x, (1, 0))", "putmask": "(x, x > 1, y)",
    "repeat": "(x, 2)", "reshape": "(x, (4, 3))", "resize": "(x, (5, 5))", "roll": "(x, 1)", "rollaxis": "(x, 1)", "rot90": "(x)",
    "select": "([x > 1], [x])", "split": "(x, 2, 1)", "stack": "((x, y))", "swapaxes": "(x, 0, 1)", "tile": "(x, 2)", "vdot": "(v, v)",
    "vecdot": "(x, y)", "vsplit": "(x, 3)", "vstack": "((x, y))", "where": "(x > 1, x, y)", "zeros_like": "(x)", "full_like": "(x, 2)",
    "diag_indices_from": "(x[:3, :3])", "einsum": "('ij->ji', x)", "apply_over_axes": "(weft.sum, x, [0])", "packbits": "(x > 1)",
    "unpackbits": "(weft.astype(x, weft.uint8))", "may_share_memory": "(x, y)", "shares_memory": "(x, y)", "r_": "[v, w]", "c_": "[v, v]",
    "broadcast": "(x, v)", "polyadd": "(v, w)", "polysub": "(v, w)", "polyval": "(v, x)", "polyder": "(v)", "polyint": "(v)",
}  # fmt: skip
# They need no array, or give something else than arrays.
NEED_NONE = (
    "arange", "array", "empty", "eye", "from_dlpack", "frombuffer", "fromfunction", "fromiter", "full", "identity", "indices", "linspace",
    "logspace", "ones", "tri", "zeros", "diag_indices", "broadcast_shapes", "ndim", "shape", "size", "iscomplexobj", "isrealobj", "ix_",
    "geomspace", "ndindex", "einsum_path", "bartlett", "blackman", "hamming", "hanning", "mgrid", "ogrid",
    "kaiser", "frompyfunc", "errstate", "geterr", "geterrcall", "seterr",
)  # fmt: skip


def names(pattern: str) -> list[str]:
    return re.findall(pattern, TABLE)


def test_every_name_is_on_the_page() -> None:
    functions = {name for name, (module, _) in NAMES.items() if module not in OTHERS}
    listed = set(names(r"`(\w+)`"))
    assert listed <= functions
    assert {name for name in functions - listed if NAMES[name][0] != "dtypes"} == set()


@pytest.mark.parametrize("name", [name for name in names(r"`(\w+)`(?!\\\*)") if NAMES[name][0] != "dtypes" and name not in NEED_NONE])
def test_only_records(name: str, device: weft.Device) -> None:
    kind = weft.float64 if device.float64 else weft.float32
    values = {
        "x": weft.reshape(weft.arange(12.0, dtype=kind), (3, 4)),
        "y": weft.ones((3, 4), dtype=kind),
        "v": weft.arange(4.0, dtype=kind),
        "w": weft.arange(3.0, dtype=kind),
    }
    with weft.syncs("error"):
        found = eval(f"weft.{name}{CALLS.get(name, '(x)')}", {"weft": weft, **values})
    assert all(each.device == device for each in (found if isinstance(found, (tuple, list)) else [found]) if isinstance(each, weft.ndarray))

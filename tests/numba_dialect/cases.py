"""What the Numba dialect is measured by: expressions over scalars and arrays of every type, written once for Numba and for Weft.

`groups` gives them by name. `write` makes a module of a group: a function that returns the values of all its expressions, and the small
functions they call. The arguments are the same on both sides.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

# Short names of NumPy's types, in the order of the parameters.
TYPES = {
    "b1": "bool", "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64", "u1": "uint8", "u2": "uint16", "u4": "uint32",
    "u8": "uint64", "f4": "float32", "f8": "float64", "c8": "complex64", "c16": "complex128",
}  # fmt: skip
# Real types of a few widths, where every pair would only take time.
FEW = ("b1", "i1", "i4", "i8", "u1", "u8", "f4", "f8")
LITERALS = ("True", "1", "3", "200", "0.5", "2.5", "1j")

BINARY = ("+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>", "<", "<=", "==", "!=", ">", ">=")
UNARY = ("-{}", "+{}", "~{}", "not {}", "abs({})", "round({})", "round({}, 1)", "int({})", "float({})", "bool({})", "complex({})",
         "{}.real", "{}.imag", "{}.conjugate()")  # fmt: skip
MATH = ("sqrt", "sin", "exp", "floor", "ceil", "trunc", "fabs", "isnan", "log2", "erf")
UFUNCS = ("sqrt", "sin", "exp", "floor", "rint", "absolute", "negative", "square", "sign", "isnan", "isfinite", "logical_not", "reciprocal",
          "conjugate", "deg2rad", "invert", "log1p", "fabs", "cbrt", "positive", "spacing")  # fmt: skip
BINARY_UFUNCS = ("add", "subtract", "true_divide", "floor_divide", "remainder", "power", "maximum", "fmin", "arctan2", "hypot",
                 "logical_and", "bitwise_or", "left_shift", "greater", "logaddexp", "copysign", "nextafter", "fmod")  # fmt: skip
FUNCTIONS = ("min", "max", "pow", "divmod", "math.atan2", "math.hypot", "math.pow", "math.fmod", "math.copysign", "plus", "either",
             "first", "counted", "added", "chosen", "stepped")  # fmt: skip
REDUCTIONS = ("{}.sum()", "{}.mean()", "{}.min()", "{}.max()", "{}.prod()", "{}.std()", "{}.var()", "{}.argmax()", "{}.any()", "{}.all()",
              "{}.cumsum()", "np.sum({})", "np.mean({})", "np.prod({})", "{}.cumprod()", "np.median({})", "np.ptp({})", "np.dot({}, {})",
              "total({})", "total_from_float({})", "product({})", "largest({})", "mean_of({})")  # fmt: skip
CONVERSIONS = ("np.bool_", "np.int8", "np.uint8", "np.int32", "np.uint32", "np.int64", "np.uint64", "np.float32", "np.float64")
MAKERS = ("np.zeros(2)", "np.ones(2)", "np.full(2, 1)", "np.full(2, 0.5)", "np.arange(3)", "np.arange(1.5)", "np.arange(0, 3, 0.5)",
          "np.linspace(0, 1, 3)", "np.eye(2)", "np.zeros(2, np.int8)", "np.array([1, 2])", "np.array([1, 0.5])",
          "np.array([True, False])")  # fmt: skip

# The functions that expressions call, by name; each is compiled.
_HELPERS = Path(__file__).parent / "helpers.py"
HELPER_TEXTS = {text.removeprefix("def ").split("(")[0]: text for text in _HELPERS.read_text().strip().split("\n\n\n")[1:]}


def helper_of(expression: str) -> str | None:
    """The name of the helper that an expression calls."""
    name = expression.split("(")[0]
    return name if name in HELPER_TEXTS else None


def groups() -> dict[str, list[str]]:
    """The expressions by the name of their group. A scalar parameter is named for its type, an array with an `x` before."""
    scalars, arrays = list(TYPES), ["x" + name for name in TYPES]
    few = ["x" + name for name in FEW]
    found: dict[str, list[str]] = {}
    for op in BINARY:
        found[f"scalar {op} scalar"] = [f"{a} {op} {b}" for a in scalars for b in scalars]
        found[f"scalar {op} literal"] = [f"{a} {op} {b}" for a in scalars for b in LITERALS]
        found[f"literal {op} scalar"] = [f"{a} {op} {b}" for a in LITERALS for b in scalars]
    found["unary scalar"] = [op.format(a) for op in UNARY for a in scalars]
    found["math"] = [f"math.{name}({a})" for name in MATH for a in scalars]
    found["conversions"] = [f"{to}({a})" for to in CONVERSIONS for a in scalars]
    for name in FUNCTIONS:
        found[name] = [f"{name}({a}, {b})" for a in scalars for b in scalars]
    for name in ("min", "max", "pow", "divmod", "either", "added", "plus"):
        found[f"{name} with literals"] = [f"{name}({a}, {b})" for a in scalars for b in LITERALS]
    for op in ("+", "/", "//", "**", "&", "<<", "<"):
        found[f"array {op} array"] = [f"{a} {op} {b}" for a in arrays for b in arrays]
        found[f"array {op} scalar"] = [f"{a} {op} {b}" for a in arrays for b in FEW]
        found[f"scalar {op} array"] = [f"{a} {op} {b}" for a in FEW for b in arrays]
        found[f"array {op} literal"] = [f"{a} {op} {b}" for a in arrays for b in LITERALS]
        found[f"literal {op} array"] = [f"{a} {op} {b}" for a in LITERALS for b in arrays]
    found["unary array"] = [op.format(a) for op in ("-{}", "+{}", "~{}", "abs({})", "{}.real", "{}.imag") for a in arrays]
    found["ufuncs of scalars"] = [f"np.{name}({a})" for name in UFUNCS for a in scalars]
    found["ufuncs of arrays"] = [f"np.{name}({a})" for name in UFUNCS for a in arrays]
    for name in BINARY_UFUNCS:
        found[f"{name} of scalars"] = [f"np.{name}({a}, {b})" for a in FEW for b in FEW]
    for name in ("add", "maximum", "arctan2", "power"):
        found[f"{name} of arrays"] = [f"np.{name}({a}, {b})" for a in few for b in few]
    for name in ("stored", "stored_sum", "in_place", "in_place_product"):
        found[name] = [f"{name}({a}, {b})" for a in few for b in FEW]
        found[f"{name} with literals"] = [f"{name}({a}, {b})" for a in arrays for b in LITERALS]
    for name in ("in_place", "in_place_product"):
        found[f"{name} of arrays"] = [f"{name}({a}, {b})" for a in few for b in few]
    found["reductions"] = [op.replace("{}", a) for op in REDUCTIONS for a in arrays]
    found["where"] = [f"np.where(xb1, {a}, {b})" for a in few for b in few]
    found["arrays made"] = list(MAKERS)
    return found


def has_values(group: str) -> bool:
    """Whether the table has the values of a group, not the types alone: where the type does not say what an operator does."""
    return group in (
        *(f"scalar {op} scalar" for op in ("+", "-", "*", "/", "//", "%", "**", "&", "|", "<<", ">>", "<", "==")),
        "unary scalar", "conversions", "min", "divmod", "stepped", "array + array", "array ** literal", "stored with literals",
        "reductions",
        "arrays made",
    )  # fmt: skip


def rows_of(group: str) -> range:
    """The rows of arguments that a group's values are for: powers and shifts by large numbers have none that mean something."""
    return range(1 if group in ("scalar ** scalar", "scalar << scalar", "scalar >> scalar") else ROWS)


def arguments(row: int) -> list[Any]:
    """A scalar and an array of every type: the first row has small numbers, the second ones near the ends of the types."""
    found: list[Any] = []
    for name in TYPES.values():
        numbers = _numbers(np.dtype(name), row)
        found += [numbers[0], numbers]
    return found


def _numbers(dtype: np.dtype[Any], row: int) -> Any:
    if dtype.kind == "b":
        return np.array([True, False, True])
    if row == 0:
        return np.array([3, 2, 5]).astype(dtype)
    if dtype.kind in "iu":
        end = np.iinfo(dtype)
        return np.array([end.max, end.max // 3, 7], dtype)
    parts = np.array([2.75, 200.5, 3e5]).astype(dtype)
    return parts + 1j * parts if dtype.kind == "c" else parts


ROWS = 2
PARAMETERS = [prefix + name for name in TYPES for prefix in ("", "x")]


def write(folder: Path, name: str, expressions: Sequence[str], decorators: str) -> Any:
    """The function of a module written for some expressions, whose head imports `njit`."""
    text = decorators + "import cmath, math\nimport numpy as np\n"
    for helper in sorted({helper_of(one) for one in expressions} - {None}, key=str):
        text += "\n@njit\n" + HELPER_TEXTS[str(helper)] + "\n"
    items = "".join(f"        {one},\n" for one in expressions)
    text += f"\n@njit\ndef measured({', '.join(PARAMETERS)}):\n    return (\n{items}    )\n"
    file = folder / f"{name}.py"
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.measured


def shown(value: Any) -> str:
    """A value as the table has it: to 6 digits, since functions of floats may differ in the last places."""
    if isinstance(value, np.ndarray):
        return "[" + " ".join(shown(one) for one in value.ravel().tolist()) + "]"
    if isinstance(value, tuple):
        return "(" + " ".join(map(shown, value)) + ")"
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (complex, np.complexfloating)):
        return f"{_digits(value.real)}{'+' if not str(_digits(value.imag)).startswith('-') else ''}{_digits(value.imag)}j"
    return _digits(value)


def _digits(value: Any) -> str:
    return f"{float(value):.6g}"

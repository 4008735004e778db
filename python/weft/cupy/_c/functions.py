"""The functions that C's expressions call: what types they take and give, and what they are in Python's text.

They are those of CUDA's mathematical functions of numbers; approximate ones (`__expf`) and those without a counterpart are refused.
"""

from __future__ import annotations

from collections.abc import Callable

from weft.cupy._c.ctypes import COMPLEX, FLOATS, INTEGERS, cast, common, is_integer, promoted

Value = tuple[str, str]
# A function of values: its value, or why there is none.
Handler = Callable[[list[Value]], "Value | str"]

# Functions of floats that are NumPy's or Weft's: of an integer they are those of a double.
_OF_FLOATS = {
    "sin": "np.sin", "cos": "np.cos", "tan": "np.tan", "asin": "np.arcsin", "acos": "np.arccos", "atan": "np.arctan", "sinh": "np.sinh",
    "cosh": "np.cosh", "tanh": "np.tanh", "asinh": "np.arcsinh", "acosh": "np.arccosh", "atanh": "np.arctanh", "exp": "np.exp",
    "exp2": "np.exp2", "exp10": "wm.exp10", "expm1": "np.expm1", "log": "np.log", "log2": "np.log2", "log10": "np.log10",
    "log1p": "np.log1p", "sqrt": "np.sqrt", "rsqrt": "wm.rsqrt", "cbrt": "np.cbrt", "floor": "np.floor", "ceil": "np.ceil",
    "trunc": "np.trunc", "rint": "np.rint", "nearbyint": "np.rint", "round": "cr.round_away", "fabs": "np.abs", "erf": "wm.erf",
    "erfc": "wm.erfc", "erfinv": "wm.erfinv", "tgamma": "wm.gamma", "lgamma": "wm.lgamma", "sinpi": "wm.sinpi", "cospi": "wm.cospi",
    "pow": "np.power", "atan2": "np.arctan2", "fmod": "np.fmod", "hypot": "np.hypot", "fmax": "np.fmax", "fmin": "np.fmin",
    "copysign": "np.copysign", "nextafter": "np.nextafter", "remainder": "wm.remainder", "fma": "wm.fma",
}  # fmt: skip
_TWO = {"pow", "atan2", "fmod", "hypot", "fmax", "fmin", "copysign", "nextafter", "remainder"}
_OF_COMPLEX = {
    "exp", "log", "log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "asinh", "acosh", "atanh", "pow",
}  # fmt: skip
_TESTS = {"isnan": "np.isnan", "isinf": "np.isinf", "isfinite": "np.isfinite", "signbit": "np.signbit"}
_WHOLE = {"lrint": "np.rint", "llrint": "np.rint", "lround": "cr.round_away", "llround": "cr.round_away"}
_BITS = {"__popc": ("popcount", "32"), "__popcll": ("popcount", "64"), "__clz": ("clz", "32"), "__clzll": ("clz", "64"),
         "__brev": ("brev", "32"), "__brevll": ("brev", "64")}  # fmt: skip

CONSTANTS: dict[str, Value] = {
    "true": ("True", "bool"),
    "false": ("False", "bool"),
    "M_PI": ("np.float64(3.141592653589793)", "float64"),
    "M_E": ("np.float64(2.718281828459045)", "float64"),
    "M_SQRT2": ("np.float64(1.4142135623730951)", "float64"),
    "M_SQRT1_2": ("np.float64(0.7071067811865476)", "float64"),
    "M_LN2": ("np.float64(0.6931471805599453)", "float64"),
    "INFINITY": ("np.float32(np.inf)", "float32"),
    "NAN": ("np.float32(np.nan)", "float32"),
    "CUDART_INF": ("np.float64(np.inf)", "float64"),
    "CUDART_INF_F": ("np.float32(np.inf)", "float32"),
    "CUDART_NAN": ("np.float64(np.nan)", "float64"),
    "CUDART_NAN_F": ("np.float32(np.nan)", "float32"),
    "FLT_MAX": ("np.float32(3.4028234663852886e38)", "float32"),
    "FLT_MIN": ("np.float32(1.1754943508222875e-38)", "float32"),
    "FLT_EPSILON": ("np.float32(1.1920928955078125e-07)", "float32"),
    "DBL_MAX": ("np.float64(1.7976931348623157e308)", "float64"),
    "DBL_MIN": ("np.float64(2.2250738585072014e-308)", "float64"),
    "DBL_EPSILON": ("np.float64(2.220446049250313e-16)", "float64"),
    "INT_MAX": ("np.int32(2147483647)", "int32"),
    "INT_MIN": ("np.int32(-2147483648)", "int32"),
    "UINT_MAX": ("np.uint32(4294967295)", "uint32"),
    "LLONG_MAX": ("np.int64(9223372036854775807)", "int64"),
    "LLONG_MIN": ("np.int64(-9223372036854775808)", "int64"),
}


def call(name: str, values: list[Value]) -> Value | str | None:
    """The value of a call, why it has none, or None where there is no such function."""
    handler = _HANDLERS.get(name)
    if handler is None and name.endswith("f") and name[:-1] in _OF_FLOATS:
        return call(name[:-1], [(cast(text, kind, "float32"), "float32") for text, kind in values])
    return None if handler is None else handler(values)


def _known(name: str) -> Handler:
    count = 3 if name == "fma" else 2 if name in _TWO else 1

    def handler(values: list[Value]) -> Value | str:
        if len(values) != count:
            return f"{name} takes {count} argument{'s' if count > 1 else ''}, not {len(values)}"
        kinds = [_floating(kind) for _, kind in values]
        kind = kinds[0]
        for other in kinds[1:]:
            kind = common(kind, other)
        if kind in COMPLEX and name not in _OF_COMPLEX:
            return f"{name} does not take complex numbers"
        return f"{_OF_FLOATS[name]}({', '.join(cast(text, own, kind) for text, own in values)})", kind

    return handler


def _floating(kind: str) -> str:
    """The type that a function of floats computes in: an integer is a double for it."""
    return "float64" if is_integer(kind) else promoted(kind)


def _extreme(name: str) -> Handler:
    def handler(values: list[Value]) -> Value | str:
        if len(values) != 2:
            return f"{name} takes 2 arguments, not {len(values)}"
        kind = common(values[0][1], values[1][1])
        if kind in COMPLEX:
            return "complex numbers have no order"
        # Those of floats are fmin and fmax: a number rather than NaN.
        function = f"np.f{name}" if kind in FLOATS else f"np.{name}imum"
        return f"{function}({', '.join(cast(text, own, kind) for text, own in values)})", kind

    return handler


def _abs(values: list[Value]) -> Value | str:
    if len(values) != 1:
        return f"abs takes 1 argument, not {len(values)}"
    text, own = values[0]
    kind = promoted(own)
    if kind[0] == "u":
        return "abs of an unsigned number is ambiguous in C"
    return f"np.abs({cast(text, own, kind)})", {"complex64": "float32", "complex128": "float64"}.get(kind, kind)


def _test(name: str) -> Handler:
    def handler(values: list[Value]) -> Value | str:
        if len(values) != 1 or values[0][1] in COMPLEX:
            return f"{name} takes one real number"
        text, own = values[0]
        kind = _floating(own)
        return f"{_TESTS[name]}({cast(text, own, kind)})", "bool"

    return handler


def _whole(name: str) -> Handler:
    def handler(values: list[Value]) -> Value | str:
        if len(values) != 1 or values[0][1] in COMPLEX:
            return f"{name} takes one real number"
        text, own = values[0]
        return f"np.int64({_WHOLE[name]}({cast(text, own, _floating(own))}))", "int64"

    return handler


def _of_bits(name: str) -> Handler:
    function, width = _BITS[name]

    def handler(values: list[Value]) -> Value | str:
        if len(values) != 1 or not is_integer(values[0][1]):
            return f"{name} takes one integer"
        inside = f"wm.{function}({cast(*values[0], f'uint{width}')})"
        result = "int32" if function != "brev" else f"uint{width}"
        return f"np.{result}({inside})", result

    return handler


def _of_parts(name: str) -> Handler:
    def handler(values: list[Value]) -> Value | str:
        if len(values) != 1 or values[0][1] not in COMPLEX:
            return f"{name} takes one complex number"
        text, own = values[0]
        part = "float32" if own == "complex64" else "float64"
        if name in ("real", "imag"):
            return f"({text}).{name}", part
        if name == "conj":
            return f"np.conj({text})", own
        return (f"cr.norm({text})" if name == "norm" else f"np.arctan2(({text}).imag, ({text}).real)"), part

    return handler


def _polar(values: list[Value]) -> Value | str:
    if len(values) != 2 or any(kind in COMPLEX or kind in INTEGERS for _, kind in values):
        return "polar takes two floats"
    kind = common(values[0][1], values[1][1])
    (r, angle) = (cast(text, own, kind) for text, own in values)
    made = "complex64" if kind == "float32" else "complex128"
    return f"np.{made}(complex({r} * np.cos({angle}), {r} * np.sin({angle})))", made


_HANDLERS: dict[str, Handler] = {
    **{name: _known(name) for name in _OF_FLOATS},
    **{name: _extreme(name) for name in ("min", "max")},
    "abs": _abs,
    **{name: _test(name) for name in _TESTS},
    **{name: _whole(name) for name in _WHOLE},
    **{name: _of_bits(name) for name in _BITS},
    **{name: _of_parts(name) for name in ("real", "imag", "conj", "norm", "arg")},
    "polar": _polar,
}

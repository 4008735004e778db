"""Floats: operators, directed roundings, flushing, short formats, the functions of the C library."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import mpmath
import numpy as np
from unit import C_TYPES, FLOATS, INTEGERS, Unit, dtype, hard, near, same


def _min(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(a), b, np.where(np.isnan(b), a, np.where((a < b) | (a == b) & np.signbit(a), a, b)))


def _max(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(a), b, np.where(np.isnan(b), a, np.where((a > b) | (a == b) & ~np.signbit(a), a, b)))


def _fma(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    return np.array([_fma_one(x, y, z, a.dtype) for x, y, z in zip(a, b, c)])


def _fma_one(x: Any, y: Any, z: Any, kind: np.dtype) -> Any:
    if not (np.isfinite(x) and np.isfinite(y) and np.isfinite(z)):
        wide = np.float64
        # No overflow of the product may turn up on the way.
        return (
            kind.type(np.sign(wide(x)) * np.sign(wide(y)) * (np.inf if np.isinf(x) or np.isinf(y) else 1) + wide(z))
            if not (np.isnan(x) or np.isnan(y) or np.isnan(z)) and not ((np.isinf(x) and y == 0) or (np.isinf(y) and x == 0))
            else kind.type(np.nan)
        )
    exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
    if exact == 0:
        return x * y + z if x == 0 or y == 0 else kind.type(0)
    return _rounded(exact, kind, "n")


def _rounded(exact: Fraction, kind: np.dtype, mode: str) -> Any:
    """An exact value that is not zero, rounded: `n`earest even, to `z`ero, `d`own or `u`p."""
    info = ml_dtypes.finfo(kind)
    digits, lowest = info.nmant + 1, int(info.minexp) - info.nmant
    magnitude, negative = abs(exact), exact < 0
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if Fraction(2) ** exponent > magnitude:
        exponent -= 1
    last = max(exponent - digits + 1, lowest)
    scaled = magnitude / Fraction(2) ** last
    whole, rest = scaled.numerator // scaled.denominator, scaled - scaled.numerator // scaled.denominator
    away = {"z": False, "d": negative, "u": not negative, "n": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1)}[mode]
    whole += 1 if away and rest != 0 else 0
    value = whole * Fraction(2) ** last
    if value > Fraction(float(info.max)):
        large = mode == "n" or away
        value = math.inf if large else float(info.max)
    return kind.type(-float(value) if negative else float(value))


def _directed(function: Callable[..., Fraction], plain: Callable[..., Any], mode: str) -> Callable[..., np.ndarray]:
    """An operation rounded in a direction: exactly, or as NumPy has it for what is not finite or exactly zero."""

    def whole(*arrays: np.ndarray) -> np.ndarray:
        results, kind = [], arrays[0].dtype
        for row in zip(*arrays):
            usual = plain(*row)
            exact = None
            if all(np.isfinite(v) for v in row):
                try:
                    exact = function(*(Fraction(float(v)) for v in row))
                except ZeroDivisionError:
                    exact = None
            if exact is None:
                results.append(usual)
            elif exact == 0:
                cancelled = len(row) > 1 and plain in (operator.add, operator.sub) and row[0] != 0
                mixed = (
                    plain in (operator.add, operator.sub)
                    and row[0] == 0
                    and np.signbit(row[0]) != np.signbit(row[1] if plain is operator.add else -row[1])
                )
                results.append(kind.type(-0.0 if mode == "d" else 0.0) if cancelled or mixed else usual)
            else:
                results.append(_rounded(exact, kind, mode))
        return np.array(results, kind)

    return whole


def flushed(a: np.ndarray) -> np.ndarray:
    small = np.abs(a) < np.finfo(np.float32).tiny
    return np.where(small, np.copysign(np.float32(0), a), a)


def _root(mode: str) -> Callable[[np.ndarray], np.ndarray]:
    def one(v: Any, kind: np.dtype) -> Any:
        if not np.isfinite(v) or v <= 0:
            return np.sqrt(v)
        exact = Fraction(float(v))
        near_ = np.sqrt(v)
        square = Fraction(float(near_)) ** 2
        if mode == "u" and square < exact:
            return np.nextafter(near_, kind.type(np.inf))
        if mode in "zd" and square > exact:
            return np.nextafter(near_, kind.type(0))
        return near_

    return lambda a: np.array([one(v, a.dtype) for v in a])


def operators() -> Unit:
    unit = Unit("floats", options=("--fmad=false",))
    for t in FLOATS:
        for name, symbol, function in (("add", "+", np.add), ("sub", "-", np.subtract), ("mul", "*", np.multiply), ("div", "/", np.divide)):
            unit.elementwise(f"{name}_{t}", t, (t, t), f"x {symbol} y", function)
        for name, test, function in (
            ("lt", "x < y", np.less), ("le", "x <= y", np.less_equal), ("gt", "x > y", np.greater), ("ge", "x >= y", np.greater_equal),
            ("eq", "x == y", np.equal), ("ne", "x != y", np.not_equal), ("nlt", "!(x < y)", lambda a, b: ~(a < b)),
            ("nge", "!(x >= y)", lambda a, b: ~(a >= b)), ("num", "!isnan(x) && !isnan(y)", lambda a, b: ~np.isnan(a) & ~np.isnan(b)),
            ("nan", "isnan(x) || isnan(y)", lambda a, b: np.isnan(a) | np.isnan(b)),
            ("class", "(isfinite(x) ? 1 : 0) + (isinf(x) ? 2 : 0) + (signbit(x) ? 4 : 0) + (isnan(y) ? 8 : 0)",
             lambda a, b: np.isfinite(a) + 2 * np.isinf(a) + 4 * np.signbit(a) * ~np.isnan(a) + 4 * np.signbit(a) * np.isnan(a) + 8 * np.isnan(b)),
        ):  # fmt: skip
            unit.elementwise(f"{name}_{t}", "int32", (t, t), test, function)
        s = "f" if t == "float32" else ""
        unit.elementwise(f"min_{t}", t, (t, t), f"fmin{s}(x, y)", _min)
        unit.elementwise(f"max_{t}", t, (t, t), f"fmax{s}(x, y)", _max)
        unit.elementwise(f"fma_{t}", t, (t, t, t), f"fma{s}(x, y, z)", _fma)
        unit.elementwise(f"copysign_{t}", t, (t, t), f"copysign{s}(x, y)", np.copysign)
        unit.elementwise(f"choose_{t}", t, (t, t, t), "x < y ? y : z", lambda a, b, c: np.where(a < b, b, c))
        unit.elementwise(f"fmod_{t}", t, (t, t), f"fmod{s}(x, y)", np.fmod)
        unit.elementwise(f"nextafter_{t}", t, (t, t), f"nextafter{s}(x, y)", np.nextafter)
        for name, function in (
            ("fabs", np.abs),
            ("sqrt", np.sqrt),
            ("floor", np.floor),
            ("ceil", np.ceil),
            ("trunc", np.trunc),
            ("rint", np.rint),
        ):
            unit.elementwise(f"{name}_{t}", t, (t,), f"{name}{s}(x)", function)
        unit.elementwise(f"neg_{t}", t, (t,), "-x", np.negative)
        unit.elementwise(f"ldexp_{t}", t, (t, "int8"), f"ldexp{s}(x, y)", lambda a, b: np.ldexp(a, b.astype(np.int32)))
        unit.elementwise(f"bits_{t}", "int32" if s else "int64", (t,), "__float_as_int(x)" if s else "__double_as_longlong(x)",
                         lambda a: a.view(f"i{a.dtype.itemsize}"))  # fmt: skip
        for mode, suffix in (("n", "rn"), ("z", "rz"), ("d", "rd"), ("u", "ru")):
            p = "__f" if s else "__d"
            for name, exact, plain in (
                ("add", operator.add, operator.add),
                ("sub", operator.sub, operator.sub),
                ("mul", operator.mul, operator.mul),
            ):
                unit.elementwise(f"{name}_{suffix}_{t}", t, (t, t), f"{p}{name}_{suffix}(x, y)", _directed(exact, plain, mode))
            unit.elementwise(f"div_{suffix}_{t}", t, (t, t), f"{p}div_{suffix}(x, y)", _directed(operator.truediv, operator.truediv, mode))
            unit.elementwise(f"rcp_{suffix}_{t}", t, (t,), f"{p}rcp_{suffix}(x)",
                             _directed(lambda v: 1 / v, lambda v: v.dtype.type(1) / v, mode))  # fmt: skip
            unit.elementwise(f"sqrt_{suffix}_{t}", t, (t,), f"{p}sqrt_{suffix}(x)", _root(mode))
    unit.elementwise(
        "saturate", "float32", ("float32",), "__saturatef(x)", lambda a: np.where(np.isnan(a) | (a <= 0), np.float32(0), np.minimum(a, 1))
    )
    unit.elementwise("fused", "float32", ("float32",) * 3, "__fmaf_rn(x, y, z)", _fma)
    return unit


def flushing() -> Unit:
    """Subnormals are zeros of their sign, as operands and as results."""
    unit = Unit("floats-ftz", options=("--fmad=false", "--ftz=true"))
    f = "float32"
    for name, symbol, function in (("add", "+", np.add), ("sub", "-", np.subtract), ("mul", "*", np.multiply), ("div", "/", np.divide)):
        unit.elementwise(f"{name}_ftz", f, (f, f), f"x {symbol} y", lambda a, b, o=function: flushed(o(flushed(a), flushed(b))))
    unit.elementwise("fma_ftz", f, (f, f, f), "fmaf(x, y, z)", lambda a, b, c: flushed(_fma(flushed(a), flushed(b), flushed(c))))
    unit.elementwise("sqrt_ftz", f, (f,), "sqrtf(x)", lambda a: np.sqrt(flushed(a)))
    unit.elementwise("min_ftz", f, (f, f), "fminf(x, y)", lambda a, b: _min(flushed(a), flushed(b)))
    unit.elementwise("max_ftz", f, (f, f), "fmaxf(x, y)", lambda a, b: _max(flushed(a), flushed(b)))
    unit.elementwise("lt_ftz", "int32", (f, f), "x < y", lambda a, b: flushed(a) < flushed(b))
    unit.elementwise("eq_ftz", "int32", (f, f), "x == y", lambda a, b: flushed(a) == flushed(b))
    unit.elementwise("double_ftz", "float64", (f,), "(double)x", lambda a: flushed(a).astype(np.float64))
    unit.elementwise("single_ftz", f, ("float64",), "(float)x", lambda a: flushed(a.astype(np.float32)))
    unit.elementwise("ceil_ftz", f, (f,), "ceilf(x)", lambda a: np.ceil(flushed(a)))
    unit.elementwise("int_ftz", "int32", (f,), "__float2int_ru(x)", _clamped_to_int, data=lambda *_: [hard(f)[~np.isnan(hard(f))]])
    return unit


def _clamped_to_int(a: np.ndarray) -> np.ndarray:
    return np.clip(np.ceil(flushed(a)).astype(np.float64), -(2.0**31), 2.0**31 - 1).astype(np.int32)


def halves() -> Unit:
    unit = Unit("halves", options=("--fmad=false",), archs=(80, 90, 100))
    unit.parts += ["#include <cuda_fp16.h>", "#include <cuda_bf16.h>"]

    def rounded(function: Callable[..., Any]) -> Callable[..., np.ndarray]:
        """Twice the precision and two bits more make rounding twice harmless."""
        return lambda *arrays: np.asarray(function(*(a.astype(np.float64) for a in arrays))).astype(arrays[0].dtype)

    for t in ("float16", "bfloat16"):
        for name, symbol, function in (("add", "+", np.add), ("sub", "-", np.subtract), ("mul", "*", np.multiply), ("div", "/", np.divide)):
            unit.elementwise(f"{name}_{t}", t, (t, t), f"x {symbol} y", rounded(function), compare=near(1) if name == "div" else same)
        for name, symbol, function in (
            ("lt", "<", np.less),
            ("le", "<=", np.less_equal),
            ("eq", "==", np.equal),
            ("ne", "!=", np.not_equal),
            ("gt", ">", np.greater),
        ):
            unit.elementwise(f"{name}_{t}", "int32", (t, t), f"x {symbol} y", function)
        unit.elementwise(f"fma_{t}", t, (t, t, t), "__hfma(x, y, z)", _fma)
        unit.elementwise(f"fma_relu_{t}", t, (t, t, t), "__hfma_relu(x, y, z)", lambda a, b, c: _relu(_fma(a, b, c)))
        unit.elementwise(f"fma_sat_{t}", t, (t, t, t), "__hfma_sat(x, y, z)", lambda a, b, c: _saturated(_fma(a, b, c)))
        unit.elementwise(f"add_sat_{t}", t, (t, t), "__hadd_sat(x, y)", lambda a, b: _saturated(rounded(np.add)(a, b)))
        unit.elementwise(f"min_{t}", t, (t, t), "__hmin(x, y)", _min)
        unit.elementwise(f"max_{t}", t, (t, t), "__hmax(x, y)", _max)
        unit.elementwise(
            f"min_nan_{t}",
            t,
            (t, t),
            "__hmin_nan(x, y)",
            lambda a, b: np.where(np.isnan(a) | np.isnan(b), a.dtype.type(np.nan), _min(a, b)),
        )
        unit.elementwise(
            f"max_nan_{t}",
            t,
            (t, t),
            "__hmax_nan(x, y)",
            lambda a, b: np.where(np.isnan(a) | np.isnan(b), a.dtype.type(np.nan), _max(a, b)),
        )
        unit.elementwise(f"neg_{t}", t, (t,), "-x", np.negative)
        unit.elementwise(f"abs_{t}", t, (t,), "__habs(x)", np.abs)
        unit.elementwise(f"nan_{t}", "int32", (t, t), "__hisnan(x) + 2 * __hltu(x, y) + 4 * __hneu(x, y) + 8 * __hgeu(x, y)",
                         lambda a, b: np.isnan(a) + 2 * ~(a >= b) + 4 * (a != b) + 8 * ~(a < b))  # fmt: skip
        for name, function in (("hceil", np.ceil), ("hfloor", np.floor), ("htrunc", np.trunc), ("hrint", np.rint), ("hsqrt", np.sqrt)):
            unit.elementwise(f"{name}_{t}", t, (t,), f"{name}(x)", rounded(function))
        for name, function in (("hexp2", np.exp2), ("hlog2", np.log2), ("hrsqrt", lambda a: 1 / np.sqrt(a)), ("hrcp", lambda a: 1 / a),
                               ("hsin", np.sin), ("hcos", np.cos), ("hexp", np.exp), ("hlog", np.log)):  # fmt: skip
            unit.elementwise(f"{name}_{t}", t, (t,), f"{name}(x)", rounded(function), compare=near(3), data=_moderate)
        unit.elementwise(f"tanh_{t}", t, (t,), "htanh(x)", rounded(np.tanh), compare=near(3), data=_moderate)
        h = "h" if t == "float16" else "bf"
        make = "__halves2half2" if h == "h" else "__halves2bfloat162"
        for name, function in (("__hadd2", np.add), ("__hmul2", np.multiply), ("__hsub2", np.subtract)):
            for half in ("low", "high"):
                pick = f"__{half}2{'half' if h == 'h' else 'bfloat16'}"
                turned = (lambda a, b, o=function: rounded(o)(a, b)) if half == "low" else (lambda a, b, o=function: rounded(o)(b, a))
                unit.elementwise(f"k{name}_{half}_{t}", t, (t, t), f"{pick}({name}({make}(x, y), {make}(y, x)))", turned)
        unit.elementwise(f"max2_{t}", t, (t, t), f"__low2{'half' if h == 'h' else 'bfloat16'}(__hmax2({make}(x, y), {make}(y, x)))", _max)
        unit.elementwise(f"eq2_{t}", "int32", (t, t), f"__hbeq2({make}(x, y), {make}(y, x))", np.equal)
        unit.elementwise(f"lt2_{t}", "float32", (t, t), f"(float)__high2{'half' if h == 'h' else 'bfloat16'}(__hlt2({make}(x, y), {make}(y, x)))",
                         lambda a, b: (b < a).astype(np.float32))  # fmt: skip
        unit.elementwise(f"mask2_{t}", "uint32", (t, t), f"__hle2_mask({make}(x, y), {make}(y, x))",
                         lambda a, b: np.where(a <= b, 0xFFFF, 0) | np.where(b <= a, 0xFFFF0000, 0))  # fmt: skip
        name16 = "half" if h == "h" else "bfloat16"
        for mode, suffix in (("n", "rn"), ("z", "rz"), ("d", "rd"), ("u", "ru")):
            unit.elementwise(f"from_float_{suffix}_{t}", t, ("float32",), f"__float2{name16}_{suffix}(x)", _narrowed(t, mode))
            for i, letter in (
                ("int16", "short"),
                ("uint16", "ushort"),
                ("int32", "int"),
                ("uint32", "uint"),
                ("int64", "ll"),
                ("uint64", "ull"),
            ):
                unit.elementwise(f"from_{i}_{suffix}_{t}", t, (i,), f"__{letter}2{name16}_{suffix}(x)", _narrowed(t, mode))
                unit.elementwise(f"to_{i}_{suffix}_{t}", i, (t,), f"__{name16}2{letter}_{suffix}(x)", _integral(i, mode), data=_no_nan)
        unit.elementwise(f"from_double_{t}", t, ("float64",), f"__double2{name16}(x)", _narrowed(t, "n"))
        unit.elementwise(f"to_float_{t}", "float32", (t,), f"__{name16}2float(x)", lambda a: a.astype(np.float32))
    return unit


def _moderate(name: str) -> list[np.ndarray]:
    a = np.random.default_rng(5).uniform(-4, 4, 3000).astype(dtype(name))
    return [a]


def _no_nan(name: str) -> list[np.ndarray]:
    a = hard(name)
    return [a[~np.isnan(a)]]


def _relu(a: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(a), a, np.where(np.signbit(a), a.dtype.type(0), a))


def _saturated(a: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(a) | np.signbit(a), a.dtype.type(0), np.minimum(a, a.dtype.type(1)))


def _narrowed(t: str, mode: str) -> Callable[[np.ndarray], np.ndarray]:
    def one(v: Any) -> Any:
        if v == 0 or (isinstance(v, np.floating) and not np.isfinite(v)):
            return dtype(t).type(v)
        return _rounded(Fraction(int(v)) if isinstance(v, np.integer) else Fraction(float(v)), dtype(t), mode)

    return lambda a: np.array([one(v) for v in a], dtype(t))


def _integral(i: str, mode: str) -> Callable[[np.ndarray], np.ndarray]:
    """To the nearest integers that the type has."""
    info = np.iinfo(i)

    def one(v: float) -> int:
        if math.isinf(v):
            return info.max if v > 0 else info.min
        whole = {"n": round, "z": math.trunc, "d": math.floor, "u": math.ceil}[mode](v)
        return max(info.min, min(info.max, whole))

    return lambda a: np.array([one(float(v)) for v in a], i)


def conversions() -> Unit:
    unit = Unit("conversions")
    every = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64")
    for a in every:
        for b in every:
            if a == b:
                continue
            if a in FLOATS and b in INTEGERS:
                # In C what does not fit is undefined; PTX clamps to 32 and 64 bits.
                if np.dtype(b).itemsize >= 4:
                    unit.elementwise(f"{a}_to_{b}", b, (a,), f"({C_TYPES[b]})x", _integral(b, "z"), data=_no_nan)
                else:
                    unit.elementwise(f"{a}_to_{b}", b, (a,), f"({C_TYPES[b]})x", lambda v, b=b: np.trunc(v).astype(b), data=_fitting(b))
            else:
                unit.elementwise(f"{a}_to_{b}", b, (a,), f"({C_TYPES[b]})x", lambda v, b=b: v.astype(b))
    letters = {"int32": "int", "uint32": "uint", "int64": "ll", "uint64": "ull"}
    for f, c in (("float32", "float"), ("float64", "double")):
        for i, name in letters.items():
            for mode, suffix in (("n", "rn"), ("z", "rz"), ("d", "rd"), ("u", "ru")):
                unit.elementwise(f"{f}_{i}_{suffix}", i, (f,), f"__{c}2{name}_{suffix}(x)", _integral(i, mode), data=_no_nan)
                if not (f == "float64" and np.dtype(i).itemsize == 4):
                    unit.elementwise(f"{i}_{f}_{suffix}", f, (i,), f"__{name}2{c}_{suffix}(x)", _narrowed(f, mode))
            # The manual: zero if neither type has 64 bits, else the highest bit alone.
            wide = f == "float64" or np.dtype(i).itemsize == 8
            want = 1 << 8 * np.dtype(i).itemsize - 1 if wide else 0
            unit.elementwise(f"nan_{f}_{i}", i, (f,), f"__{c}2{name}_rn(x)", lambda v, i=i, w=want: np.full(v.shape, w, np.uint64).astype(i),
                             data=lambda f: [np.array([np.nan, -np.nan], f)])  # fmt: skip
    for mode, suffix in (("n", "rn"), ("z", "rz"), ("d", "rd"), ("u", "ru")):
        unit.elementwise(f"double_float_{suffix}", "float32", ("float64",), f"__double2float_{suffix}(x)", _narrowed("float32", mode))
    return unit


def _fitting(b: str) -> Callable[[str], list[np.ndarray]]:
    def data(a: str) -> list[np.ndarray]:
        values, info = hard(a), np.iinfo(b)
        return [values[(values > info.min - 1) & (values < info.max + 1)]]

    return data


def library() -> Unit:
    """The functions of the C library, whose errors NVIDIA states in units in the last place."""
    unit = Unit("functions", debug=False)
    names = {
        "sin": 2, "cos": 2, "tan": 4, "asin": 4, "acos": 4, "atan": 3, "sinh": 3, "cosh": 3, "tanh": 3, "exp": 2, "exp2": 3, "exp10": 3,
        "expm1": 2, "log": 2, "log2": 2, "log10": 3, "log1p": 2, "cbrt": 2, "rsqrt": 3, "sinpi": 3, "cospi": 3, "asinh": 4, "acosh": 5,
        "atanh": 4, "erf": 3, "erfc": 6, "tgamma": 12, "lgamma": 20,
    }  # fmt: skip
    exact = {
        "sinpi": lambda v: mpmath.sinpi(v), "cospi": lambda v: mpmath.cospi(v), "rsqrt": lambda v: 1 / mpmath.sqrt(v),
        "exp10": lambda v: mpmath.mpf(10) ** v, "exp2": lambda v: mpmath.mpf(2) ** v, "log2": lambda v: mpmath.log(v, 2),
        "cbrt": lambda v: mpmath.sign(v) * mpmath.cbrt(abs(v)), "tgamma": mpmath.gamma, "lgamma": lambda v: mpmath.log(abs(mpmath.gamma(v))),
    }  # fmt: skip
    domains = {"asin": (-1, 1), "acos": (-1, 1), "atanh": (-1, 1), "acosh": (1, 50), "log": (0.001, 50), "log2": (0.001, 50), "log10": (0.001, 50),
               "rsqrt": (0.001, 50), "log1p": (-0.9, 50), "tgamma": (0.1, 20), "lgamma": (3, 30), "sin": (-1e5, 1e5), "cos": (-1e5, 1e5)}  # fmt: skip
    for t in FLOATS:
        s = "f" if t == "float32" else ""
        for name, ulps in names.items():
            low, high = domains.get(name, (-5, 5))

            def data(t: str, low: float = low, high: float = high) -> list[np.ndarray]:
                return [np.random.default_rng(3).uniform(low, high, 200).astype(t)]

            def reference(a: np.ndarray, name: str = name) -> np.ndarray:
                with mpmath.workprec(120):
                    return np.array([float(exact.get(name, getattr(mpmath, name, None))(mpmath.mpf(float(v)))) for v in a])

            unit.elementwise(f"k{name}_{t}", t, (t,), f"{name}{s}(x)", reference, data=data, compare=near(ulps))
        for name, ulps, function in (
            ("pow", 4, np.power),
            ("atan2", 4, np.arctan2),
            ("hypot", 3, np.hypot),
            ("fdim", 0, lambda a, b: np.where(a > b, a - b, 0)),
        ):
            unit.elementwise(f"k{name}_{t}", t, (t, t), f"{name}{s}(x, y)", lambda a, b, o=function: o(a.astype(np.float64), b.astype(np.float64)),
                             data=_positive, compare=near(ulps + (1 if t == "float64" else 0)))  # fmt: skip
    for name, function, tolerance in (("__expf", np.exp, 1e-5), ("__logf", np.log, 1e-5), ("__sinf", np.sin, 1e-5), ("__cosf", np.cos, 1e-5),
                                      ("__log2f", np.log2, 1e-5), ("__exp10f", lambda a: 10**a, 1e-5), ("__tanhf", np.tanh, 1e-3)):  # fmt: skip

        def close(out: np.ndarray, want: np.ndarray, inputs: Any, tolerance: float = tolerance) -> None:
            np.testing.assert_allclose(out, want, rtol=tolerance, atol=tolerance)

        unit.elementwise(f"k{name}", "float32", ("float32",), f"{name}(x)", lambda a, o=function: o(a.astype(np.float64)),
                         data=lambda *_: [np.random.default_rng(3).uniform(0.1, 3, 200).astype(np.float32)], compare=close)  # fmt: skip
    unit.elementwise("kfdividef", "float32", ("float32", "float32"), "__fdividef(x, y)", np.divide, data=_positive, compare=near(2))
    unit.elementwise("kfast_pow", "float32", ("float32", "float32"), "__powf(x, y)", np.power, data=_positive,
                     compare=lambda out, want, _: np.testing.assert_allclose(out, want, rtol=1e-4))  # fmt: skip
    return unit


def _positive(*names: str) -> list[np.ndarray]:
    rng = np.random.default_rng(4)
    return [rng.uniform(0.1, 6, 500).astype(name) for name in names]


def units() -> list[Unit]:
    return [operators(), flushing(), halves(), conversions(), library()]

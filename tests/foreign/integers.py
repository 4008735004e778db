"""Integers of every width: operators, intrinsics, 128 bits."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

import numpy as np
from unit import INTEGERS, Unit, combinations, not_zero


def _shifts(*names: str) -> list[np.ndarray]:
    a, _ = combinations(names[0], "int32")
    return [a, (np.arange(len(a)) % (8 * a.dtype.itemsize)).astype(names[1])]


def _c_div(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.array([abs(int(x)) // abs(int(y)) * (1 if (x < 0) == (y < 0) else -1) for x, y in zip(a, b)], object)


def _c_rem(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.array([int(x) - int(y) * int(q) for x, y, q in zip(a, b, _c_div(a, b))], object)


def operators() -> Unit:
    unit = Unit("integers")
    for t in INTEGERS:
        kind = np.dtype(t)
        for name, symbol, function in (("add", "+", operator.add), ("sub", "-", operator.sub), ("mul", "*", operator.mul),
                                       ("and", "&", operator.and_), ("or", "|", operator.or_), ("xor", "^", operator.xor)):  # fmt: skip
            unit.elementwise(f"{name}_{t}", t, (t, t), f"x {symbol} y", function)
        unit.elementwise(f"div_{t}", t, (t, t), "x / y", lambda a, b: _c_div(a, b).astype(a.dtype), data=not_zero)
        unit.elementwise(f"rem_{t}", t, (t, t), "x % y", lambda a, b: _c_rem(a, b).astype(a.dtype), data=not_zero)
        for name, symbol, function in (("lt", "<", np.less), ("le", "<=", np.less_equal), ("gt", ">", np.greater),
                                       ("ge", ">=", np.greater_equal), ("eq", "==", np.equal), ("ne", "!=", np.not_equal)):  # fmt: skip
            unit.elementwise(f"{name}_{t}", "int32", (t, t), f"x {symbol} y", function)
        unit.elementwise(f"shl_{t}", t, (t, "int32"), "x << y", lambda a, b: a << b.astype(a.dtype), data=_shifts)
        unit.elementwise(f"shr_{t}", t, (t, "int32"), "x >> y", lambda a, b: a >> b.astype(a.dtype), data=_shifts)
        unit.elementwise(f"not_{t}", t, (t,), "~x", np.invert)
        unit.elementwise(f"neg_{t}", t, (t,), "-x", np.negative)
        unit.elementwise(f"logical_{t}", "bool", (t, t), "x && !y || !x && y", lambda a, b: (a != 0) != (b != 0))
        unit.elementwise(f"choose_{t}", t, (t, t, t), "x ? y : z", lambda a, b, c: np.where(a != 0, b, c))
        unit.elementwise(f"mad_{t}", t, (t, t, t), "x * y + z", lambda a, b, c: a * b + c)
        if kind.itemsize >= 4:
            unit.elementwise(f"min_{t}", t, (t, t), "min(x, y)", np.minimum)
            unit.elementwise(f"max_{t}", t, (t, t), "max(x, y)", np.maximum)
        else:
            unit.elementwise(f"min_{t}", t, (t, t), "x < y ? x : y", np.minimum)
            unit.elementwise(f"max_{t}", t, (t, t), "x < y ? y : x", np.maximum)
        if kind.kind == "i":
            unit.elementwise(f"abs_{t}", t, (t,), "x < 0 ? -x : x", np.abs)
    return unit


def _each(function: Callable[..., int], mask: int = 0xFFFFFFFF) -> Callable[..., np.ndarray]:
    """A function of Python's integers, on arrays, its result cut to the low bits."""
    return lambda *arrays: np.array([function(*(int(v) for v in row)) & mask for row in zip(*arrays)], dtype=np.uint64)


def _byte_perm(a: int, b: int, s: int) -> int:
    both = a & 0xFFFFFFFF | (b & 0xFFFFFFFF) << 32
    return sum((both >> 8 * (s >> 4 * i & 7) & 0xFF) << 8 * i for i in range(4))


def _signed_bytes(v: int, signed: bool) -> list[int]:
    parts = [v >> 8 * i & 0xFF for i in range(4)]
    return [p - 256 if signed and p > 127 else p for p in parts]


def _signed_halves(v: int, signed: bool) -> list[int]:
    parts = [v >> 16 * i & 0xFFFF for i in range(2)]
    return [p - 65536 if signed and p > 32767 else p for p in parts]


def _dp4a(signed: bool) -> Callable[..., int]:
    return lambda a, b, c: c + sum(x * y for x, y in zip(_signed_bytes(a, signed), _signed_bytes(b, signed)))


def _dp2a(signed: bool, high: int) -> Callable[..., int]:
    return lambda a, b, c: c + sum(x * y for x, y in zip(_signed_halves(a, signed), _signed_bytes(b, signed)[high:]))


def _lanes(width: int, signed: bool, function: Callable[..., int]) -> Callable[..., int]:
    """Of packed fields, each by itself."""

    def whole(*words: int) -> int:
        result, mask = 0, (1 << width) - 1
        for at in range(0, 32, width):
            fields = [w >> at & mask for w in words]
            if signed:
                fields = [f - (1 << width) if f >> (width - 1) else f for f in fields]
            result |= (function(*fields) & mask) << at
        return result

    return whole


def intrinsics() -> Unit:
    unit = Unit("integer-intrinsics")

    def add(name: str, types: Sequence[str], function: Callable[..., int], result: str | None = None, call: str | None = None) -> None:
        result = result or types[0]
        mask = (1 << 8 * np.dtype(result).itemsize) - 1
        call = call or f"{name}({', '.join('xyz'[: len(types)])})"
        kernel = f"k{name}"
        unit.elementwise(kernel, result, types, call, lambda *a: _each(function, mask)(*a).astype(f"u{np.dtype(result).itemsize}"))

    i, u, ll, ull = "int32", "uint32", "int64", "uint64"
    add("__mulhi", (i, i), lambda a, b: a * b >> 32)
    add("__umulhi", (u, u), lambda a, b: a * b >> 32)
    add("__mul64hi", (ll, ll), lambda a, b: a * b >> 64)
    add("__umul64hi", (ull, ull), lambda a, b: a * b >> 64)
    low24 = lambda v: ((v & 0xFFFFFF) ^ 0x800000) - 0x800000  # noqa: E731
    add("__mul24", (i, i), lambda a, b: low24(a) * low24(b))
    add("__umul24", (u, u), lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF))
    add("__sad", (i, i, u), lambda a, b, c: abs(a - b) + c, result=u)
    add("__usad", (u, u, u), lambda a, b, c: abs(a - b) + c)
    add("__hadd", (i, i), lambda a, b: a + b >> 1)
    add("__rhadd", (i, i), lambda a, b: a + b + 1 >> 1)
    add("__uhadd", (u, u), lambda a, b: a + b >> 1)
    add("__urhadd", (u, u), lambda a, b: a + b + 1 >> 1)
    for suffix, t, width in (("", i, 32), ("ll", ll, 64)):
        whole = (1 << width) - 1
        add(f"__popc{suffix}", (t,), lambda a, w=whole: (a & w).bit_count(), result=i)
        add(f"__clz{suffix}", (t,), lambda a, w=whole, n=width: n - (a & w).bit_length(), result=i)
        add(f"__ffs{suffix}", (t,), lambda a: (a & -a).bit_length(), result=i)
        reverse = lambda a, w=whole, n=width: int(f"{a & w:0{n}b}"[::-1], 2)  # noqa: E731
        add(f"__brev{suffix}", (t,), reverse, result="u" + t)
    add("__byte_perm", (u, u, u), _byte_perm)
    pair = lambda lo, hi: hi << 32 | lo  # noqa: E731
    add("__funnelshift_l", (u, u, u), lambda lo, hi, s: pair(lo, hi) << (s & 31) >> 32)
    add("__funnelshift_r", (u, u, u), lambda lo, hi, s: pair(lo, hi) >> (s & 31))
    add("__funnelshift_lc", (u, u, u), lambda lo, hi, s: pair(lo, hi) << min(s, 32) >> 32)
    add("__funnelshift_rc", (u, u, u), lambda lo, hi, s: pair(lo, hi) >> min(s, 32))
    for name, signed in (("i", True), ("u", False)):
        t = i if signed else u
        cast = "" if signed else "(unsigned)"
        add(f"__dp4a_{name}", (t, t, t), _dp4a(signed), call=f"__dp4a({cast}x, {cast}y, z)")
        for at, high in (("lo", 0), ("hi", 2)):
            add(f"__dp2a_{at}_{name}", (t, t, t), _dp2a(signed, high), call=f"__dp2a_{at}({cast}x, {cast}y, z)")
    for width in (16, 8):
        n, top = 32 // width, (1 << width) - 1
        most, least = top >> 1, -(top >> 1) - 1
        clip = lambda v, a=least, b=most: max(a, min(b, v))  # noqa: E731
        uclip = lambda v, b=top: max(0, min(b, v))  # noqa: E731
        ones = lambda test: lambda *f: -1 if test(*f) else 0  # noqa: E731
        for name, signed, function in (
            ("vadd", False, lambda a, b: a + b), ("vsub", False, lambda a, b: a - b), ("vaddss", True, lambda a, b, c=clip: c(a + b)),
            ("vsubss", True, lambda a, b, c=clip: c(a - b)), ("vaddus", False, lambda a, b, c=uclip: c(a + b)),
            ("vsubus", False, lambda a, b, c=uclip: c(a - b)), ("vabsdiffu", False, lambda a, b: abs(a - b)),
            ("vabsdiffs", True, lambda a, b: abs(a - b)), ("vavgu", False, lambda a, b: a + b + 1 >> 1),
            ("vhaddu", False, lambda a, b: a + b >> 1), ("vmaxs", True, max), ("vmaxu", False, max), ("vmins", True, min),
            ("vminu", False, min), ("vcmpeq", False, ones(lambda a, b: a == b)), ("vcmpne", False, ones(lambda a, b: a != b)),
            ("vcmpgts", True, ones(lambda a, b: a > b)), ("vcmpgtu", False, ones(lambda a, b: a > b)),
            ("vcmples", True, ones(lambda a, b: a <= b)), ("vcmpleu", False, ones(lambda a, b: a <= b)),
            ("vseteq", False, lambda a, b: a == b), ("vsetlts", True, lambda a, b: a < b), ("vsetgeu", False, lambda a, b: a >= b),
        ):  # fmt: skip
            add(f"__{name}{n}", (u, u), _lanes(width, signed, function))
        add(f"__vabs{n}", (u,), _lanes(width, True, abs))
        add(f"__vabsss{n}", (u,), _lanes(width, True, lambda a, c=clip: c(abs(a))))
        add(f"__vneg{n}", (u,), _lanes(width, True, lambda a: -a))
        add(f"__vnegss{n}", (u,), _lanes(width, True, lambda a, c=clip: c(-a)))
        add(f"__vsads{n}", (u, u), lambda a, b, w=width: sum(
            abs(x - y) for x, y in zip((_signed_bytes if w == 8 else _signed_halves)(a, True), (_signed_bytes if w == 8 else _signed_halves)(b, True))))  # fmt: skip
        add(f"__vsadu{n}", (u, u), lambda a, b, w=width: sum(
            abs(x - y) for x, y in zip((_signed_bytes if w == 8 else _signed_halves)(a, False), (_signed_bytes if w == 8 else _signed_halves)(b, False))))  # fmt: skip
    for name, function in (("__viaddmax_s32", lambda a, b, c: max(_wrap(a + b), c)), ("__viaddmin_s32_relu", lambda a, b, c: max(min(_wrap(a + b), c), 0)),
                           ("__vimax3_s32", max), ("__vimin3_s32_relu", lambda a, b, c: max(min(a, b, c), 0))):  # fmt: skip
        add(name, (i, i, i), function)
    for name, signed, function in (("__vimax_s16x2_relu", True, lambda a, b: max(a, b, 0)), ("__vimin3_u16x2", False, min),
                                   ("__viaddmax_u16x2", False, lambda a, b, c: max(a + b & 0xFFFF, c))):  # fmt: skip
        add(name, (u,) * function.__code__.co_argcount if hasattr(function, "__code__") else (u, u, u), _lanes(16, signed, function))
    return unit


def _wrap(value: int) -> int:
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def wide() -> Unit:
    """128 bits, which compilers make of carries."""
    unit = Unit("integers-128", options=("--device-int128",))
    for name, symbol, function in (
        ("add", "+", lambda a, b: a * 3 + b * b),
        ("sub", "-", lambda a, b: a * 3 - b * b),
        ("mul", "*", lambda a, b: a * b * b),
    ):
        left = "p" if name == "mul" else "p * 3"
        source = (
            f'extern "C" __global__ void {name}_128(const long long* a, const long long* b, long long* r, int n) {{\n'
            "  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;\n"
            f"  __int128 p = a[i], q = (__int128)b[i] * b[i]; __int128 s = {left} {symbol} q;\n"
            "  r[2 * i] = (long long)s; r[2 * i + 1] = (long long)(s >> 64);\n}"
        )

        @unit.add(f"{name}_128", source)
        def check(module, name=name, function=function):
            a, b = combinations("int64", "int64")
            out = np.zeros(2 * len(a), np.int64)
            module.launch(f"{name}_128", -(-len(a) // 128), 128, a, b, out, np.int32(len(a)))
            for x, y, low, high in zip(a.tolist(), b.tolist(), out[::2].tolist(), out[1::2].tolist()):
                want = function(x, y) & (1 << 128) - 1
                assert (low & (1 << 64) - 1 | (high & (1 << 64) - 1) << 64) == want, (x, y, low, high, want)

    divide = (
        'extern "C" __global__ void div_128(const long long* a, const long long* b, long long* r, int n) {\n'
        "  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;\n"
        "  __int128 p = (__int128)a[i] * 1000000007 + 5; r[2 * i] = (long long)(p / b[i]); r[2 * i + 1] = (long long)(p % b[i]);\n}"
    )

    @unit.add("div_128", divide)
    def quotient(module) -> None:
        a, b = not_zero("int64", "int64")
        out = np.zeros(2 * len(a), np.int64)
        module.launch("div_128", -(-len(a) // 128), 128, a, b, out, np.int32(len(a)))
        for x, y, q, r in zip(a.tolist(), b.tolist(), out[::2].tolist(), out[1::2].tolist()):
            p = x * 1000000007 + 5
            want = abs(p) // abs(y) * (1 if (p < 0) == (y < 0) else -1)
            assert (q - want) % (1 << 64) == 0 and r == p - y * want, (x, y, q, r)

    return unit


def units() -> list[Unit]:
    return [operators(), intrinsics(), wide()]

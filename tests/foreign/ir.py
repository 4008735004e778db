"""LLVM IR by libNVVM: what CUDA C does not say directly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from driver import Module
from unit import Unit, combinations, hard, same

HEAD = """target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
@cells = internal addrspace(3) global [8 x i64] undef, align 8
!nvvmir.version = !{!0}
!0 = !{i32 2, i32 0}"""

TYPES = {"i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "float": "float32", "double": "float64", "half": "float16"}


class Source(Unit):
    """Kernels of IR, which names its kernels at the end."""

    @property
    def source(self) -> str:
        kernels = "\n".join(
            f'!{i + 1} = !{{void ({sign})* @{name}, !"kernel", i32 1}}' for i, (name, sign) in enumerate(self.signatures.items())
        )
        listed = ", ".join(f"!{i + 1}" for i in range(len(self.signatures)))
        return "\n".join([HEAD, *self.parts, f"!nvvm.annotations = !{{{listed}}}", kernels])

    @property
    def signatures(self) -> dict[str, str]:
        found = {}
        for part in self.parts:
            if "define void @" in part:
                name, rest = part.split("define void @", 1)[1].split("(", 1)
                found[name] = ", ".join(param.rsplit(" ", 1)[0] for param in rest.split(") {")[0].split(", "))
        return found

    def of_elements(
        self,
        name: str,
        result: str,
        operands: Sequence[str],
        body: str,
        reference: Callable[..., Any],
        data: Callable[..., Any] | None = None,
        declare: str = "",
    ) -> None:
        """`body` makes `%r` of `%x`, `%y`, `%z`."""
        params = "".join(f"{op}* %a{v}, " for op, v in zip(operands, "xyz"))
        loads = "\n".join(
            f"  %p{v} = getelementptr {op}, {op}* %a{v}, i32 %i\n  %{v} = load {op}, {op}* %p{v}" for op, v in zip(operands, "xyz")
        )
        if declare and declare not in self.parts:
            self.parts.append(declare)
        source = (
            f"define void @{name}({params}{result}* %ar, i32 %n) {{\n  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
            "  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()\n  %o = mul i32 %b, %d\n  %i = add i32 %o, %t\n"
            f"  %in = icmp slt i32 %i, %n\n  br i1 %in, label %yes, label %no\nyes:\n{loads}\n  {body}\n"
            f"  %pr = getelementptr {result}, {result}* %ar, i32 %i\n  store {result} %r, {result}* %pr\n  br label %no\nno:\n  ret void\n}}"
        )

        @self.add(name, source)
        def check(module: Module) -> None:
            inputs = (data or combinations)(*[TYPES[op] for op in operands])
            out = np.zeros(len(inputs[0]), TYPES[result])
            module.launch(name, -(-len(out) // 128), 128, *inputs, out, np.int32(len(out)))
            with np.errstate(all="ignore"):
                same(out, np.asarray(reference(*inputs)).astype(out.dtype), inputs)


def _unsigned(a: np.ndarray) -> np.ndarray:
    return a.view(f"u{a.dtype.itemsize}")


def elements() -> Unit:
    unit = Source("ir", language="ir")
    for t in ("i8", "i16", "i32", "i64"):
        n, w = TYPES[t], int(t[1:])
        for name, body, reference in (
            ("fshl", f"%r = call {t} @llvm.fshl.{t}({t} %x, {t} %y, {t} 5)", lambda x, y, w=w: x << 5 | (_unsigned(y) >> (w - 5)).view(x.dtype)),
            ("ashr", f"%s = and {t} %y, {w - 1}\n  %r = ashr {t} %x, %s", lambda x, y, w=w: x >> (y & (w - 1))),
            ("lshr", f"%s = and {t} %y, {w - 1}\n  %r = lshr {t} %x, %s", lambda x, y, w=w: (_unsigned(x) >> _unsigned(y & (w - 1))).view(x.dtype)),
            ("udiv", f"%s = or {t} %y, 1\n  %r = udiv {t} %x, %s", lambda x, y: (_unsigned(x) // _unsigned(y | 1)).view(x.dtype)),
            ("urem", f"%s = or {t} %y, 1\n  %r = urem {t} %x, %s", lambda x, y: (_unsigned(x) % _unsigned(y | 1)).view(x.dtype)),
            ("umin", f"%c = icmp ult {t} %x, %y\n  %r = select i1 %c, {t} %x, {t} %y", lambda x, y: np.minimum(_unsigned(x), _unsigned(y)).view(x.dtype)),
            ("carry", f"%c = call {{{t}, i1}} @llvm.uadd.with.overflow.{t}({t} %x, {t} %y)\n  %b1 = extractvalue {{{t}, i1}} %c, 1\n  %r = zext i1 %b1 to {t}",
             lambda x, y: (_unsigned(x + y) < _unsigned(x)).astype(x.dtype)),
            ("overflow", f"%c = call {{{t}, i1}} @llvm.smul.with.overflow.{t}({t} %x, {t} %y)\n  %b1 = extractvalue {{{t}, i1}} %c, 1\n  %r = zext i1 %b1 to {t}",
             lambda x, y: np.array([not np.iinfo(x.dtype).min <= int(a) * int(b) <= np.iinfo(x.dtype).max for a, b in zip(x, y)])),
        ):  # fmt: skip
            declare = ""
            if "@llvm" in body:
                function = body.split("@")[1].split("(")[0]
                declare = (
                    f"declare {{{t}, i1}} @{function}({t}, {t})" if "overflow" in function else f"declare {t} @{function}({t}, {t}, {t})"
                )
            unit.of_elements(f"{name}_{t}", t, (t, t), body, reference, declare=declare)
        for name, call, reference, extra in (
            ("ctpop", "ctpop", lambda x, w=w: [(int(v) & (1 << w) - 1).bit_count() for v in x], ""),
            ("ctlz", "ctlz", lambda x, w=w: [w - (int(v) & (1 << w) - 1).bit_length() for v in x], ", i1 false"),
            ("cttz", "cttz", lambda x, w=w: [((int(v) & -int(v)).bit_length() or w + 1) - 1 for v in x], ", i1 false"),
            ("bitreverse", "bitreverse", lambda x, w=w: np.array([int(f"{int(v) & (1 << w) - 1:0{w}b}"[::-1], 2) for v in x], np.uint64), ""),
        ):  # fmt: skip
            unit.of_elements(f"{name}_{t}", t, (t,), f"%r = call {t} @llvm.{call}.{t}({t} %x{extra})", reference,
                             declare=f"declare {t} @llvm.{call}.{t}({t}{', i1' if extra else ''})")  # fmt: skip
        if w > 8:
            unit.of_elements(
                f"bswap_{t}",
                t,
                (t,),
                f"%r = call {t} @llvm.bswap.{t}({t} %x)",
                lambda x: x.byteswap(),
                declare=f"declare {t} @llvm.bswap.{t}({t})",
            )
        for other in ("i8", "i16", "i32", "i64"):
            if int(other[1:]) > w:
                unit.of_elements(f"sext_{t}_{other}", other, (t,), f"%r = sext {t} %x to {other}", lambda x: x)
                unit.of_elements(f"zext_{t}_{other}", other, (t,), f"%r = zext {t} %x to {other}", _unsigned)
            elif int(other[1:]) < w:
                unit.of_elements(f"trunc_{t}_{other}", other, (t,), f"%r = trunc {t} %x to {other}", lambda x, o=other: x.astype(TYPES[o]))
        for f in ("float", "double"):
            unit.of_elements(f"sitofp_{t}_{f}", f, (t,), f"%r = sitofp {t} %x to {f}", lambda x: x)
            unit.of_elements(f"uitofp_{t}_{f}", f, (t,), f"%r = uitofp {t} %x to {f}", _unsigned)
            unit.of_elements(f"fptosi_{f}_{t}", t, (f,), f"%r = fptosi {f} %x to {t}", lambda x: np.trunc(x), data=_within(n))
    # Odd widths and bits alone.
    unit.of_elements("odd", "i32", ("i32", "i32"), "%u = trunc i32 %x to i17\n  %v = trunc i32 %y to i17\n  %w = mul i17 %u, %v\n  %r = sext i17 %w to i32",
                     lambda x, y: ((x * y) << 15) >> 15)  # fmt: skip
    unit.of_elements("logic", "i32", ("i32", "i32"), "%u = icmp slt i32 %x, %y\n  %v = icmp eq i32 %x, 7\n  %w = xor i1 %u, %v\n  %c = and i1 %w, %u\n  %e = or i1 %c, %v\n  %r = sext i1 %e to i32",
                     lambda x, y: -((((x < y) ^ (x == 7)) & (x < y)) | (x == 7)).astype(np.int32))  # fmt: skip
    unit.of_elements("bytes", "i32", ("i32", "i32"), "%u = bitcast i32 %x to <4 x i8>\n  %v = bitcast i32 %y to <4 x i8>\n  %w = add <4 x i8> %u, %v\n"
                     "  %s = shufflevector <4 x i8> %w, <4 x i8> %u, <4 x i32> <i32 3, i32 1, i32 4, i32 0>\n  %r = bitcast <4 x i8> %s to i32", _bytes)  # fmt: skip
    for predicate, test in {"oeq": lambda x, y: x == y, "une": lambda x, y: x != y, "one": lambda x, y: (x < y) | (x > y), "ueq": lambda x, y: ~((x < y) | (x > y)),
                            "olt": lambda x, y: x < y, "ugt": lambda x, y: ~(x <= y), "ule": lambda x, y: ~(x > y), "ord": lambda x, y: (x == x) & (y == y),
                            "uno": lambda x, y: (x != x) | (y != y)}.items():  # fmt: skip
        for f in ("float", "double"):
            unit.of_elements(f"{predicate}_{f}", "i32", (f, f), f"%c = fcmp {predicate} {f} %x, %y\n  %r = zext i1 %c to i32", test)
    return unit


def _bytes(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    a, b = x.view(np.uint8).reshape(-1, 4), y.view(np.uint8).reshape(-1, 4)
    sum_ = a + b
    return np.ascontiguousarray(np.stack([sum_[:, 3], sum_[:, 1], a[:, 0], sum_[:, 0]], 1)).view(np.int32).ravel()


def _within(t: str) -> Callable[[str], list[np.ndarray]]:
    info = np.iinfo(t)

    def data(f: str) -> list[np.ndarray]:
        values = hard(f)
        return [values[(values.astype(np.float64) > info.min - 1.0) & (values.astype(np.float64) < float(info.max) + (info.max < 2**40))]]

    return data


def memory() -> Unit:
    """Atomics in every order, on global and shared memory."""
    unit = Source("ir-atomics", language="ir")
    operations = {
        "add": np.add,
        "sub": np.subtract,
        "and": np.bitwise_and,
        "or": np.bitwise_or,
        "xor": np.bitwise_xor,
        "max": np.maximum,
        "min": np.minimum,
        "umax": None,
        "umin": None,
    }
    for order in ("monotonic", "acquire", "release", "acq_rel", "seq_cst"):
        for t in ("i32", "i64"):
            for space in (1, 3):
                name = f"rmw_{order}_{t}_{space}"
                lines = []
                for k, operation in enumerate(operations):
                    at = (
                        f"getelementptr {t}, {t} addrspace(1)* %g, i32 {k}"
                        if space == 1
                        else f"getelementptr {t}, {t} addrspace(3)* %s, i32 {k % 8}"
                    )
                    lines.append(f"  %p{k} = {at}\n  %o{k} = atomicrmw {operation} {t} addrspace({space})* %p{k}, {t} %v {order}")
                cast = f"  %s = bitcast [8 x i64] addrspace(3)* @cells to {t} addrspace(3)*\n" if space == 3 else ""
                wide = "%t" if t == "i32" else "%w"
                source = (
                    f"define void @{name}({t}* %a) {{\n  %g = addrspacecast {t}* %a to {t} addrspace(1)*\n{cast}  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
                    f"  %w = zext i32 %t to i64\n  %v = add {t} {wide}, 3\n" + "\n".join(lines) + "\n  ret void\n}"
                )

                @unit.add(name, source)
                def check(module: Module, name: str = name, t: str = t, space: int = space) -> None:
                    a = np.arange(100, 109).astype(TYPES[t])
                    want = a.copy()
                    module.launch(name, 1, 32, a)
                    values = np.arange(3, 35).astype(TYPES[t])
                    if space == 3:
                        return
                    for k, function in enumerate(operations.values()):
                        function = function or (np.maximum if k == 7 else np.minimum)
                        for v in values:
                            want[k] = function(want[k], v)
                    assert (a == want).all(), (a, want)

    return unit


def units() -> list[Unit]:
    return [elements(), memory()]

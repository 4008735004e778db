"""Every form of every instruction: the stand-in for the driver must not take one that NVIDIA's assembler refuses.

Forms are mnemonics with all their modifiers and types, right and wrong ones, for several generations and versions of PTX. What the stand-in
takes goes through `ptxas`, all of it in one file; with ``--all`` so does what it does not take, and what only `ptxas` takes is listed.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
os.environ.setdefault("WEFT_DOUBLE_CC", "10.0")
os.environ.setdefault("WEFT_DOUBLE_DRIVER", "13050")
os.environ.setdefault("WEFT_DOUBLE_DEVICES", "1")

# Generation and version of PTX: the oldest that Weft runs on, and those at which most of what Weft writes was added.
TARGETS = (("70", "6.3"), ("75", "6.3"), ("80", "7.0"), ("80", "8.0"), ("90", "8.6"), ("100", "9.0"))
# The oldest generation that the assembler makes code for; it reads PTX for older ones.
OLDEST = 75

SIZES = {"8": 2, "16": 2, "32": 4, "64": 8, "16x2": 4, "32x2": 8, "128": 16}
INTS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "u16x2", "s16x2")
BITS = ("b8", "b16", "b32", "b64")
FLOATS = ("f16", "f16x2", "bf16", "bf16x2", "f32", "f64", "f32x2")
TYPES = (*INTS, *BITS, *FLOATS)


def register(ty: str, number: int) -> str:
    if ty == "pred":
        return f"%p{number}"
    size = SIZES[re.sub(r"^[a-z]+", "", ty)]
    return {2: "%h", 4: "%r", 8: "%rd", 16: "%rq"}[size] + str(number)


def expand(pattern: str) -> Iterator[str]:
    """`a{.x|.y|}b`: every choice."""
    pieces = re.split(r"\{([^}]*)\}", pattern)
    choices = [piece.split("|") if i % 2 else [piece] for i, piece in enumerate(pieces)]
    return map("".join, itertools.product(*choices))


def plain(pattern: str, types: tuple[str, ...], operands: int) -> Iterator[str]:
    """A destination and so many operands of one type."""
    for head, ty in itertools.product(expand(pattern), types):
        yield f"{head}.{ty} " + ", ".join(register(ty, i) for i in range(operands + 1))


ROUND = "{.rn|.rz|.rm|.rp|.rna|}"
FTZ, SAT = "{.ftz|}", "{.sat|}"
COMPARE = "{eq|ne|lt|le|gt|ge|lo|ls|hi|hs|equ|neu|ltu|leu|gtu|geu|num|nan}"


def arithmetic() -> Iterator[str]:
    yield from plain("{add|sub|mul}" + ROUND + FTZ + SAT, TYPES, 2)
    yield from plain("{div}" + "{.approx|.full|.rn|.rz|.rm|.rp|}" + FTZ, TYPES, 2)
    yield from plain("{fma|mad}" + ROUND + FTZ + "{.sat|.relu|}", TYPES, 3)
    yield from plain("{mul|mad}{.hi|.lo}" + SAT, TYPES, 2)
    yield from plain("{mul|mad}{.hi|.lo}" + SAT, TYPES, 3)
    yield from plain("{mul24|mad24}{.hi|.lo}" + SAT, INTS, 2)
    yield from plain("{mul24|mad24}{.hi|.lo}" + SAT, INTS, 3)
    for ty, twice in (("u16", "u32"), ("s16", "s32"), ("u32", "u64"), ("s32", "s64"), ("u64", "u64"), ("b32", "b64")):
        yield f"mul.wide.{ty} {register(twice, 0)}, {register(ty, 1)}, {register(ty, 2)}"
        yield f"mad.wide.{ty} {register(twice, 0)}, {register(ty, 1)}, {register(ty, 2)}, {register(twice, 3)}"
    yield from plain("{rem|sad|copysign}", TYPES, 2)
    yield from plain("sad", TYPES, 3)
    yield from plain("{abs|neg}" + FTZ + SAT, TYPES, 1)
    yield from plain("{min|max}" + FTZ + "{.NaN|}{.xorsign.abs|}{.relu|}", TYPES, 2)
    yield from plain("{min|max}" + FTZ + "{.NaN|}{.xorsign.abs|}{.relu|}", TYPES, 3)
    yield from plain("{sqrt|rcp|rsqrt|ex2|lg2|sin|cos|tanh}{.approx|.rn|.rz|.rm|.rp|}" + FTZ, TYPES, 1)
    for head, ty, short in itertools.product(expand("{add|sub}" + ROUND + SAT), ("f32", "f64", "f16"), ("f16", "bf16", "f32")):
        yield f"{head}.{ty}.{short} {register(ty, 0)}, {register(short, 1)}, {register(ty, 2)}"
    for head, short in itertools.product(expand("fma" + ROUND + SAT), ("f16", "bf16", "f32")):
        yield f"{head}.f32.{short} %r0, {register(short, 1)}, {register(short, 2)}, %r3"
    yield from plain("{addc|subc|add.cc|sub.cc|addc.cc|subc.cc}", TYPES, 2)
    yield from plain("{mad|madc}{.hi|.lo}{.cc|}", TYPES, 3)


def bits() -> Iterator[str]:
    yield from plain("{and|or|xor}", (*TYPES, "pred"), 2)
    yield from plain("{not|cnot|brev}", (*TYPES, "pred"), 1)
    for head, ty in itertools.product(expand("{clz|popc|bfind|bfind.shiftamt}"), TYPES):
        yield f"{head}.{ty} %r0, {register(ty, 1)}"
    for ty in TYPES:
        yield from (f"{op}.{ty} {register(ty, 0)}, {register(ty, 1)}, %r2" for op in ("shl", "shr"))
        yield f"bfe.{ty} {register(ty, 0)}, {register(ty, 1)}, %r2, %r3"
        yield f"bfi.{ty} {register(ty, 0)}, {register(ty, 1)}, {register(ty, 2)}, %r3, %r4"
    yield from plain("shf{.l|.r}{.clamp|.wrap|}", TYPES, 3)
    yield from plain("{bmsk|szext}{.clamp|.wrap|}", TYPES, 2)
    yield from plain("fns", TYPES, 3)
    yield from (f"prmt.{ty}{mode} {register(ty, 0)}, {register(ty, 1)}, {register(ty, 2)}, {register(ty, 3)}"
                for ty in TYPES for mode in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"))  # fmt: skip
    yield from (f"lop3.{ty} {register(ty, 0)}, {register(ty, 1)}, {register(ty, 2)}, {register(ty, 3)}, 0x80" for ty in TYPES)
    yield from (f"dp4a.{a}.{b} %r0, %r1, %r2, %r3" for a in ("u32", "s32", "b32") for b in ("u32", "s32", "s16"))
    yield from (f"dp2a.{m}.{a}.{b} %r0, %r1, %r2, %r3" for m in ("lo", "hi") for a in ("u32", "s32", "b32") for b in ("u32", "s32"))


def compared() -> Iterator[str]:
    for head, ty in itertools.product(expand("setp." + COMPARE + FTZ), TYPES):
        yield f"{head}.{ty} %p0, {register(ty, 1)}, {register(ty, 2)}"
        yield f"{head}.{ty} %p0|%p1, {register(ty, 1)}, {register(ty, 2)}"
    for head, ty in itertools.product(expand("setp.{lt|eq}{.and|.or|.xor}" + FTZ), TYPES):
        yield f"{head}.{ty} %p0, {register(ty, 1)}, {register(ty, 2)}, %p3"
        yield f"{head}.{ty} %p0|%p1, {register(ty, 1)}, {register(ty, 2)}, !%p3"
    for head, to, ty in itertools.product(expand("set.{lt|neu|lo}{.and|}" + FTZ), TYPES, TYPES):
        yield f"{head}.{to}.{ty} {register(to, 0)}, {register(ty, 1)}, {register(ty, 2)}" + (", %p3" if ".and" in head else "")
    yield from (
        f"testp.{p}.{ty} %p0, {register(ty, 1)}"
        for ty in TYPES
        for p in ("finite", "infinite", "number", "notanumber", "normal", "subnormal")
    )
    yield from (f"selp.{ty} {register(ty, 0)}, {register(ty, 1)}, {register(ty, 2)}, %p3" for ty in (*TYPES, "pred"))
    yield from (f"slct{f}.{ty}.{by} {register(ty, 0)}, {register(ty, 1)}, {register(ty, 2)}, {register(by, 3)}"
                for f in ("", ".ftz") for ty in TYPES for by in ("s32", "f32", "u32", "s64"))  # fmt: skip
    yield from plain("mov", (*TYPES, "pred"), 1)
    yield from (f"mov.{ty} {{%h1, %h2}}, %r0" for ty in TYPES)
    yield from (f"mov.{ty} %rd0, {{%r1, %r2}}" for ty in TYPES)
    yield from (f"mov.{ty} %rd0, {{%h1, %h2, %h3, %h4}}" for ty in TYPES)


def conversions() -> Iterator[str]:
    rounds = "{.rn|.rz|.rm|.rp|.rna|.rni|.rzi|.rmi|.rpi|}"
    for head, to, ty in itertools.product(expand("cvt" + rounds + FTZ + SAT), TYPES, TYPES):
        yield f"{head}.{to}.{ty} {register(to, 0)}, {register(ty, 1)}"
    for head, to, ty in itertools.product(expand("cvt{.rn|.rz|.rna}{.relu|}{.satfinite|}"), FLOATS, FLOATS):
        yield f"{head}.{to}.{ty} {register(to, 0)}, {register(ty, 1)}"
        yield f"{head}.{to}.{ty} {register(to, 0)}, {register(ty, 1)}, {register(ty, 2)}"


SPACES = "{.global|.shared|.shared::cta|.local|.const|.param|}"
SCOPES = "{.cta|.cluster|.gpu|.sys|}"


def memory() -> Iterator[str]:
    for head, v, ty in itertools.product(
        expand("{ld|st}{.weak|.volatile|.relaxed|.acquire|.release|.mmio.relaxed|}" + SCOPES + SPACES),
        ("", ".v2", ".v4"),
        ("b32", "f64", "s8", "u64", "f16", "pred"),
    ):
        value = "{" + ", ".join(register(ty, i + 1) for i in range(int(v[2:]))) + "}" if v else register(ty, 1)
        operands = f"{value}, [%rd9]" if head.startswith("ld") else f"[%rd9], {value}"
        yield f"{head}{v}.{ty} {operands}"
    for head, ty in itertools.product(
        expand("{ld|st}{.global|.shared|.local|}{.ca|.cg|.cs|.lu|.cv|.wb|.wt|.nc|.ca.nc|.cs.nc}"), ("b32", "f64")
    ):
        operands = f"{register(ty, 1)}, [%rd9]" if head.startswith("ld") else f"[%rd9], {register(ty, 1)}"
        yield f"{head}.{ty} {operands}"
    for head, ty in itertools.product(
        expand("{ld|st}{.global|.global.nc|.shared|}{.L1::evict_last|.L1::no_allocate|.L2::128B|.L2::256B|}"), ("b32", "b64")
    ):
        operands = f"{register(ty, 1)}, [%rd9]" if head.startswith("ld") else f"[%rd9], {register(ty, 1)}"
        yield f"{head}.{ty} {operands}"
    wide = "{" + ", ".join(f"%r{i}" for i in range(1, 9)) + "}"
    yield from (f"ld{s}{n}.v8.b32 {wide}, [%rd9]" for s in (".global", ".shared", "") for n in ("", ".nc"))
    yield from (f"st{s}.v8.f32 [%rd9], {wide}" for s in (".global", ".shared", ""))
    yield from (f"ldu.global{v}.{ty} {register(ty, 1)}, [%rd9]" for v in ("",) for ty in TYPES)
    yield from (f"ld.global.{ty} {register(ty, 1)}, [%rd9]" for ty in TYPES)
    yield from (f"st.shared.{ty} [%rd9], {register(ty, 1)}" for ty in TYPES)
    for head, ty in itertools.product(
        expand(
            "{atom|red}{.relaxed|.acquire|.release|.acq_rel|.volatile|}{.gpu|}{.global|.shared|.local|.const|}.{add|and|or|xor|exch|min|max|inc|dec}{.noftz|}"
        ),
        TYPES,
    ):
        operands = f"[%rd9], {register(ty, 2)}"
        yield f"{head}.{ty} " + (f"{register(ty, 1)}, {operands}" if head.startswith("atom") else operands)
    yield from (
        f"atom{s}{p}.cas.{ty} {register(ty, 1)}, [%rd9], {register(ty, 2)}, {register(ty, 3)}"
        for s in ("", ".acquire.cta", ".sys")
        for p in (".global", ".shared", "")
        for ty in TYPES
    )
    yield from expand("fence{.sc|.acq_rel|.acquire|.release|}" + SCOPES)
    yield from expand("membar{.cta|.gl|.sys|.gpu|.sc|}")
    yield from (
        f"cvta{to}.{s}.{ty} {register(ty, 0)}, {register(ty, 1)}"
        for to in ("", ".to")
        for s in ("global", "shared", "shared::cta", "local", "const", "param")
        for ty in ("u64", "u32", "b64", "s64")
    )
    yield from (f"isspacep.{s} %p0, %rd1" for s in ("global", "shared", "shared::cta", "local", "const", "param"))
    yield from (f"prefetch{s}.{level} [%rd9]" for s in (".global", ".local", ".shared", "") for level in ("L1", "L2", "L3"))
    yield from ("prefetchu.L1 [%rd9]", "discard.global.L2 [%rd9], 128", "applypriority.global.L2::evict_normal [%rd9], 128")
    yield from (f"cp.async.{c}.shared{t}.global [%rd8], [%rd9], {n}" for c in ("ca", "cg") for t in ("", "::cta") for n in (4, 8, 16, 2))
    yield from ("cp.async.commit_group", "cp.async.wait_group 1", "cp.async.wait_all")


def together() -> Iterator[str]:
    for name in ("bar", "bar.cta", "barrier", "barrier.cta"):
        for aligned in ("", ".aligned"):
            yield from (
                f"{name}.{what}{aligned} {operands}"
                for what in ("sync", "arrive")
                for operands in ("0", "15", "16", "%r1", "1, 64", "%r1, %r2", "1, 33", "1, 0")
            )
            yield from (f"{name}.red.{op}{aligned}.{ty} {d}, {operands}" for op, d in (("popc", "%r1"), ("and", "%p1"), ("or", "%p1")) for ty in ("u32", "pred", "b32")
                        for operands in ("0, %p2", "1, 64, %p2", "1, %r2, !%p2"))  # fmt: skip
    yield from (f"bar.warp.sync {m}" for m in ("-1", "%r1"))
    for mode, ty in itertools.product(("up", "down", "bfly", "idx"), ("b32", "u32", "f32", "s32", "b64", "b16")):
        yield f"shfl.sync.{mode}.{ty} {register(ty, 0)}, {register(ty, 1)}, 1, 31, -1"
        yield f"shfl.sync.{mode}.{ty} {register(ty, 0)}|%p1, {register(ty, 1)}, %r2, %r3, %r4"
        yield f"shfl.{mode}.{ty} {register(ty, 0)}, {register(ty, 1)}, 1, 31"
    yield from (
        f"vote.sync.{mode}.{ty} {register(ty, 1)}, %p2, -1" for mode in ("all", "any", "uni", "ballot") for ty in ("pred", "b32", "u32")
    )
    yield from (
        f"match.{mode}.sync.{ty} {d}, {register(ty, 2)}, -1"
        for mode in ("any", "all")
        for ty in ("b32", "b64", "u32", "b16")
        for d in ("%r1", "%r1|%p1")
    )
    yield from (
        f"redux.sync.{op}{a}{n}.{ty} %r1, %r2, -1"
        for op in ("add", "min", "max", "and", "or", "xor")
        for a in ("", ".abs")
        for n in ("", ".NaN")
        for ty in ("u32", "s32", "b32", "f32")
    )
    yield from (f"activemask.{ty} %r1" for ty in ("b32", "u32"))
    yield from (f"nanosleep.{ty} {register(ty, 1)}" for ty in ("u32", "b32", "u64"))
    yield from ("exit", "ret", "trap", "brkpt", "ret.uni", "exit.uni", "pmevent 1", "pmevent 16", "pmevent %r1")
    for name in ("%tid.x", "%laneid", "%warpid", "%nwarpid", "%smid", "%nsmid", "%lanemask_lt", "%clock", "%clock_hi", "%dynamic_smem_size", "%total_smem_size",
                 "%envreg1", "%cluster_ctarank", "%clusterid.x", "%reserved_smem_offset_1", "%tid", "%gridid", "%clock64", "%globaltimer"):  # fmt: skip
        yield from (f"mov.{ty} {register(ty, 1)}, {name}" for ty in ("u32", "u64", "b32", "u16"))


def tensors() -> Iterator[str]:
    four, two = "{%r1, %r2, %r3, %r4}", "{%r5, %r6}"
    factors = ("f16.f16", "bf16.bf16", "tf32.tf32", "f16.bf16", "f32.f32")
    for head, shape, sides, ty in itertools.product(
        expand("mma{.sync|}{.aligned|}"), ("m16n8k8", "m16n8k16"), ("row.col", "col.row", "row.row", "row"), factors
    ):
        yield f"{head}.{shape}.{sides}.f32.{ty}.f32 {four}, {four}, {two}, {four}"
    for left, right, sums in itertools.product((four, two, "%r1", "{%r1}"), (two, four, "%r5"), (four, two)):
        yield f"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {sums}, {left}, {right}, {four}"
        yield f"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {four}, {left}, {right}, {sums}"
    for head, count, space, ty in itertools.product(
        expand("ldmatrix{.sync|}{.aligned|}.m8n8"),
        ("x1", "x2", "x4", "x3"),
        ("", ".shared", ".shared::cta", ".global"),
        ("b16", "b8", "f16"),
    ):
        for trans, to in itertools.product(("", ".trans"), ("{%r1}", "{%r1, %r2}", four, "%r1")):
            yield f"{head}.{count}{trans}{space}.{ty} {to}, [%rd9]"
    yield from (f"cvt{r}.tf32.f32 {to}, %r2" for r in (".rna", ".rn", ".rz", "") for to in ("%r1", "%f1", "%rd1", "%ur1", "%h1"))
    yield from (f"cvt.rna.tf32.{ty} %r1, {register(ty, 2)}" for ty in ("f32", "f64", "f16", "b32", "s32"))


def wrong_sizes() -> Iterator[str]:
    """One operand of a register that does not fit."""
    rights = ["add.s32 %r1, %r2, %r3", "add.s64 %rd1, %rd2, %rd3", "add.s16 %h1, %h2, %h3", "add.f32 %r1, %r2, %r3", "add.f64 %rd1, %rd2, %rd3", "add.f16 %h1, %h2, %h3",
              "and.b32 %r1, %r2, %r3", "shl.b64 %rd1, %rd2, %r3", "shl.b16 %h1, %h2, %r3", "mul.wide.s32 %rd1, %r2, %r3", "mad.wide.u16 %r1, %h2, %h3, %r4", "fma.rn.f32 %r1, %r2, %r3, %r4",
              "setp.lt.s32 %p1, %r2, %r3", "setp.lt.f64 %p1, %rd2, %rd3", "selp.b32 %r1, %r2, %r3, %p4", "mov.b32 %r1, %r2", "mov.b64 %rd1, %rd2", "mov.b16 %h1, %h2",
              "cvt.s64.s32 %rd1, %r2", "cvt.rn.f32.f64 %r1, %rd2", "cvt.u8.u32 %r1, %r2", "cvt.u32.u8 %r1, %r2", "cvt.rzi.s32.f32 %r1, %r2", "cvt.rn.f16.f32 %h1, %r2", "cvt.u16.u32 %h1, %r2",
              "ld.global.b32 %r1, [%rd2]", "ld.global.u8 %r1, [%rd2]", "ld.global.s16 %r1, [%rd2]", "ld.global.b64 %rd1, [%rd2]", "ld.global.f32 %r1, [%rd2]", "ld.global.v2.b16 {%h1, %h2}, [%rd3]",
              "st.global.b32 [%rd1], %r2", "st.global.u8 [%rd1], %r2", "st.global.b64 [%rd1], %rd2", "st.shared.b16 [%rd1], %h2", "atom.global.add.u32 %r1, [%rd2], %r3", "atom.shared.cas.b64 %rd1, [%rd2], %rd3, %rd4",
              "shfl.sync.idx.b32 %r1, %r2, %r3, %r4, %r5", "vote.sync.ballot.b32 %r1, %p2, %r3", "popc.b64 %r1, %rd2", "clz.b32 %r1, %r2", "bfind.u64 %r1, %rd2", "bfi.b64 %rd1, %rd2, %rd3, %r4, %r5",
              "prmt.b32 %r1, %r2, %r3, %r4", "shf.l.wrap.b32 %r1, %r2, %r3, %r4", "cvta.global.u64 %rd1, %rd2", "cvta.to.shared.u64 %rd1, %rd2", "bar.sync %r1, %r2", "match.any.sync.b64 %r1, %rd2, %r3",
              "mov.b64 %rd1, {%r2, %r3}", "mov.b32 {%h1, %h2}, %r3", "mov.u32 %r1, %tid.x", "neg.f16x2 %r1, %r2", "abs.bf16 %h1, %h2", "min.s64 %rd1, %rd2, %rd3", "dp4a.u32.u32 %r1, %r2, %r3, %r4",
              "set.lt.u32.s32 %r1, %r2, %r3", "slct.b32.s32 %r1, %r2, %r3, %r4", "testp.finite.f32 %p1, %r2", "ex2.approx.f32 %r1, %r2", "add.cc.u32 %r1, %r2, %r3", "sad.u16 %h1, %h2, %h3, %h4",
              "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%r1, %r2, %r3, %r4}, {%r5, %r6, %r7, %r8}, {%r1, %r2}, {%r3, %r4, %r5, %r6}", "cvt.rna.tf32.f32 %r1, %r2",
              "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r1, %r2, %r3, %r4}, {%r5, %r6, %r7, %r8}, {%r1, %r2}, {%r3, %r4, %r5, %r6}",
              "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1, %r2}, [%rd3]"]  # fmt: skip
    for right in rights:
        yield right
        for found in re.finditer(r"%(p|h|rd|r)(\d)", right):
            for other in ("%p", "%h", "%r", "%rd", "%f", "%fd", "%sr", "%ur"):
                yield right[: found.start()] + other + found[2] + right[found.end() :]
        for number in ("1", "-1", "1.5", "0f3F800000", "0d3FF0000000000000"):
            at = right.rfind(", %")
            if at > 0 and "}" not in right[at:]:
                yield right[:at] + ", " + number


FAMILIES = {f.__name__: f for f in (arithmetic, bits, compared, conversions, memory, together, tensors, wrong_sizes)}

HEAD = """.visible .entry k{number}(.param .u64 a)
{{ .reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %r<10>; .reg .b64 %rd<10>; .reg .f32 %f<10>; .reg .f64 %fd<10>; .reg .s32 %sr<10>; .reg .u32 %ur<10>;
"""


def module(version: str, arch: str, forms: list[str]) -> str:
    """Each form in a kernel of its own, on the third line of it."""
    kernels = "".join(HEAD.format(number=i) + f"{form};\nret; }}\n" for i, form in enumerate(forms))
    return f".version {version}\n.target sm_{arch}\n.address_size 64\n{kernels}"


def ptxas() -> str:
    import sysconfig

    return os.environ.get("WEFT_PTXAS") or str(Path(sysconfig.get_path("purelib")) / "nvidia" / "cu13" / "bin" / "ptxas")


def refused(version: str, arch: str, forms: list[str]) -> dict[str, str]:
    """What the assembler does not take, and what it says."""
    found: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "forms.ptx")
        left = list(forms)
        while left:
            # It is enough to have each read: what is generated then is slow to make.
            file.write_text(module(version, arch, left))
            command = [ptxas(), "--compile-only", f"--gpu-name=sm_{max(int(arch), OLDEST)}", "--opt-level=0", str(file), "-o", os.devnull]
            done = subprocess.run(command, capture_output=True, text=True)
            errors = re.findall(r"line (\d+); (?:error|fatal)\s*: (.*)", done.stderr)
            of_line = {(int(line) - 6) // 4: what for line, what in errors if (int(line) - 6) % 4 == 0}
            if done.returncode == 0:
                return found
            if done.returncode < 0 or not of_line:
                # Some wrong forms take the assembler itself down, or are refused without their line.
                if len(left) == 1:
                    return found | {left[0]: done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "the assembler crashes"}
                middle = len(left) // 2
                return found | refused(version, arch, left[:middle]) | refused(version, arch, left[middle:])
            found |= {left[i]: what for i, what in of_line.items()}
            left = [form for i, form in enumerate(left) if i not in of_line]
    return found


def taken(driver, version: str, arch: str, forms: list[str]) -> list[str]:
    """What the stand-in takes."""
    from driver import Failed

    good = []
    for form in forms:
        try:
            driver.load(module(version, arch, [form])).unload()
        except Failed:
            continue
        good.append(form)
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("families", nargs="*", help="families of instructions (all)")
    parser.add_argument("--target", action="append", help="like 90:8.6")
    parser.add_argument("--all", action="store_true", help="list what only the assembler takes")
    options = parser.parse_args()
    sys.path.insert(0, str(HERE))
    from driver import Driver

    driver, wrong = Driver(), 0
    targets = [tuple(t.split(":")) for t in options.target] if options.target else TARGETS
    for family, (arch, version) in itertools.product(options.families or FAMILIES, targets):
        forms = list(dict.fromkeys(FAMILIES[family]()))
        good = taken(driver, version, arch, forms)
        bad = refused(version, arch, good)
        print(f"{family} sm_{arch} PTX {version}: of {len(forms)} forms {len(good)} are taken, {len(bad)} of them wrongly", flush=True)
        wrong += len(bad)
        for form, why in bad.items():
            print(f"  {form}: {why}")
        if options.all:
            rest = [form for form in forms if form not in set(good)]
            only = set(rest) - set(refused(version, arch, rest))
            print("\n".join(f"  only ptxas: {form}" for form in rest if form in only))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())

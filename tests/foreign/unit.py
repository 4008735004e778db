"""What a test of foreign PTX is made of: a source, and kernels of it with what NumPy says they compute."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
from driver import Module

Check = Callable[[Module], None]

C_TYPES = {
    "bool": "bool", "int8": "signed char", "uint8": "unsigned char", "int16": "short", "uint16": "unsigned short", "int32": "int",
    "uint32": "unsigned", "int64": "long long", "uint64": "unsigned long long", "float16": "__half", "bfloat16": "__nv_bfloat16",
    "float32": "float", "float64": "double",
}  # fmt: skip
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
FLOATS = ("float32", "float64")


def dtype(name: str) -> np.dtype:
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


@dataclass
class Unit:
    """A source that is compiled as a whole."""

    name: str
    language: str = "cuda"
    parts: list[str] = field(default_factory=list)
    checks: dict[str, Check] = field(default_factory=dict)
    archs: Sequence[int] = (75, 90, 100)
    options: Sequence[str] = ()
    # Compiled with debugging information as well, which gives PTX of another style: everything in memory, nothing inlined.
    debug: bool = True

    @property
    def source(self) -> str:
        return "\n".join(self.parts)

    def add(self, name: str, source: str) -> Callable[[Check], Check]:
        """Decorates the check of a kernel that is added."""

        def keep(check: Check) -> Check:
            assert name not in self.checks, name
            self.parts.append(source)
            self.checks[name] = check
            return check

        return keep

    def elementwise(
        self,
        name: str,
        result: str,
        operands: Sequence[str],
        expression: str,
        reference: Callable[..., Any],
        *,
        data: Callable[..., Sequence[np.ndarray]] | None = None,
        compare: Callable[[np.ndarray, np.ndarray, Sequence[np.ndarray]], None] | None = None,
        block: int = 128,
    ) -> None:
        """`expression` of `x`, `y`, `z` on every element."""
        letters = "xyz"[: len(operands)]
        params = "".join(f"const {C_TYPES[op]}* a_{v}, " for op, v in zip(operands, letters))
        loads = " ".join(f"{C_TYPES[op]} {v} = a_{v}[i];" for op, v in zip(operands, letters))
        source = (
            f'extern "C" __global__ void {name}({params}{C_TYPES[result]}* r, int n) {{\n'
            f"  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) {{ {loads} r[i] = {expression}; }}\n}}"
        )

        @cache
        def expected() -> tuple[Sequence[np.ndarray], np.ndarray]:
            inputs = (data or combinations)(*operands)
            with np.errstate(all="ignore"):
                return inputs, np.asarray(reference(*inputs)).astype(dtype(result))

        @self.add(name, source)
        def check(module: Module) -> None:
            inputs, want = expected()
            out = np.zeros(len(want), want.dtype)
            module.launch(name, -(-len(out) // block), block, *inputs, out, np.int32(len(out)))
            (compare or same)(out, want, inputs)


def bits(array: np.ndarray) -> np.ndarray:
    return array.view(f"u{array.dtype.itemsize}")


def is_float(array: np.ndarray) -> bool:
    return array.dtype.kind == "f" or array.dtype == ml_dtypes.bfloat16


def same(out: np.ndarray, want: np.ndarray, inputs: Sequence[np.ndarray] = ()) -> None:
    """Bit for bit, but any NaN for a NaN."""
    differ = bits(out) != bits(want)
    if is_float(out):
        differ &= ~(np.isnan(out.astype(np.float64)) & np.isnan(want.astype(np.float64)))
    complain(differ, out, want, inputs)


def near(ulps: float) -> Callable[[np.ndarray, np.ndarray, Sequence[np.ndarray]], None]:
    """Within so many units in the last place of a result that is itself rounded once; infinities and NaN as they are."""

    def compare(out: np.ndarray, want: np.ndarray, inputs: Sequence[np.ndarray] = ()) -> None:
        a, b = out.astype(np.float64), want.astype(np.float64)
        with np.errstate(all="ignore"):
            off = np.abs(a - b) > ulps * np.spacing(np.abs(want)).astype(np.float64)
        off |= np.isnan(a) != np.isnan(b)
        off &= ~((a == b) | (np.isnan(a) & np.isnan(b)))
        complain(off, out, want, inputs)

    return compare


def complain(differ: np.ndarray, out: np.ndarray, want: np.ndarray, inputs: Sequence[np.ndarray]) -> None:
    if differ.any():
        at = int(np.flatnonzero(differ.ravel())[0])
        given = ", ".join(repr(array.ravel()[at]) for array in inputs if array.size == out.size)
        raise AssertionError(
            f"{int(differ.sum())} of {differ.size} differ, the first at {at}: of {given or 'the launch'} "
            f"{out.ravel()[at]!r}, expected {want.ravel()[at]!r}"
        )


def hard(name: str) -> np.ndarray:
    """Values at which instructions go wrong, and some others."""
    kind, rng = dtype(name), np.random.default_rng(len(name))
    if name == "bool":
        return np.array([False, True])
    if kind.kind in "iu":
        info = np.iinfo(kind)
        edges = [0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 100, info.max, info.max - 1, info.max // 2, info.max // 2 + 1, info.min, info.min + 1]
        edges += [-1, -2, -7, -100] if info.min < 0 else []
        return np.concatenate(
            [
                np.array([e % (1 << 8 * kind.itemsize) for e in edges], np.uint64).astype(kind),
                rng.integers(info.min, info.max, 20, kind, endpoint=True),
            ]
        )
    info = ml_dtypes.finfo(kind)
    tiny, least, most, eps = (float(v) for v in (info.tiny, info.smallest_subnormal, info.max, info.eps))
    edges = [0, least, 3 * least, tiny - least, tiny, 0.1, 0.25, 0.5, 0.75, 1, 1 + eps, 1.5, 2, 2.5, 3, 3.5, 10, 100, 127.5, 128, 255.5]
    edges += [1 / eps, 2 / eps - 1, most / 2, most, np.inf, np.nan] + [2.0**e for e in (15, 16, 31, 32, 62, 63, 64) if 2.0**e < most]
    values = np.array([*edges, *(-e for e in edges)])
    scattered = rng.standard_normal(16) * 2.0 ** rng.integers(-12, 12, 16)
    with np.errstate(all="ignore"):
        return np.concatenate([values, scattered]).astype(kind)


def combinations(*names: str) -> list[np.ndarray]:
    """Every hard value with every other; of three operands, some thousands."""
    grids = [g.ravel() for g in np.meshgrid(*[hard(name) for name in names], indexing="ij")]
    if len(names) > 2:
        chosen = np.random.default_rng(0).permutation(len(grids[0]))[:6000]
        grids = [g[chosen] for g in grids]
    return [np.ascontiguousarray(g) for g in grids]


def not_zero(*names: str) -> list[np.ndarray]:
    """Combinations that an integer division takes."""
    a, b = combinations(*names)
    keep = b != 0
    if a.dtype.kind == "i":
        keep &= ~((b == -1) & (a == np.iinfo(a.dtype).min))
    return [a[keep], b[keep]]

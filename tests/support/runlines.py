"""Reads ``# run:`` lines beside kernels and runs them.

    # run: saxpy[4, 32](2.0, f32(100), f32(100))

The line is a Python expression over the module's names and the helpers below. A kernel indexed with a launch configuration is launched,
anything else is called; results and every array argument must then equal the oracle's. A comment after two blanks may say more:

    # run: f(x)  -> rtol=1e-6     the tolerance, for functions whose last bits may differ
    # run: f(0)  raises ZeroDivisionError
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np

from . import emulator

RUN = re.compile(r"^\s*# run:\s*(?P<call>.*?)(?:\s{2,}(?:->\s*rtol=(?P<rtol>\S+)|raises\s+(?P<error>\w+)))?\s*$")


@dataclass
class RunLine:
    """One ``# run:`` line of a kernel file."""

    line: int
    call: str
    rtol: float | None
    error: str | None


@dataclass
class Recorded:
    """What the expression of a run line asks for."""

    function: Any
    launch: tuple[Any, ...] | None = None
    args: tuple[Any, ...] = field(default=())

    def __getitem__(self, launch: tuple[Any, ...]) -> Recorded:
        return Recorded(self.function, launch)

    def __call__(self, *args: Any) -> Recorded:
        return Recorded(self.function, self.launch, args)

    def forall(self, shape: Any) -> Recorded:
        return Recorded(self.function, ("forall", shape))


def read(text: str) -> list[RunLine]:
    """The run lines of a file's text."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if match := RUN.match(line):
            rtol = match["rtol"]
            found.append(RunLine(number, match["call"], float(rtol) if rtol else None, match["error"]))
    return found


def record(module: ModuleType, call: str) -> Recorded:
    """Evaluate the expression with compiled functions replaced by recorders."""
    compiled = {name: Recorded(value) for name, value in vars(module).items() if hasattr(value, "py_func")}
    result = eval(call, {**vars(module), **HELPERS, **compiled})
    assert isinstance(result, Recorded), f"{call!r} calls no compiled function"
    return result


def run_compiled(wanted: Recorded, args: tuple[Any, ...]) -> Any:
    """Run it the way a user would."""
    if wanted.launch is None:
        return wanted.function(*args)
    if wanted.launch[0] == "forall":
        return wanted.function.forall(wanted.launch[1])(*args)
    return wanted.function[wanted.launch](*args)


def run_oracle(wanted: Recorded, args: tuple[Any, ...]) -> Any:
    """Run the undecorated function."""
    if wanted.launch is None:
        return emulator.call(wanted.function, args)
    blocks, threads, *rest = wanted.launch
    if blocks == "forall":
        shape = threads if isinstance(threads, tuple) else (threads,)
        return emulator.launch(wanted.function, shape, 1, args)
    return emulator.launch(wanted.function, blocks, threads, args, *rest[1:])


def fresh(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Copies that keep strides, order and sharing of memory between arguments."""
    return copy.deepcopy(args, _keep_views(args))


def _keep_views(args: tuple[Any, ...]) -> dict[int, Any]:
    """A deepcopy memo in which views are rebuilt on copies of their bases."""
    bases: dict[int, np.ndarray] = {}
    memo: dict[int, Any] = {}
    for array in (a for a in args if isinstance(a, np.ndarray)):
        base = array
        while isinstance(base.base, np.ndarray):
            base = base.base
        copied = bases.setdefault(id(base), base.copy(order="K"))
        offset = array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
        flat = (copied if copied.flags.c_contiguous else copied.T).reshape(-1).view(np.uint8)
        view = np.ndarray(array.shape, array.dtype, flat, offset, array.strides)
        view.flags.writeable = array.flags.writeable
        memo[id(array)] = view
    return memo


def assert_same(got: Any, want: Any, rtol: float | None, what: str) -> None:
    """Equal values; floats within ``rtol`` where given, NaNs equal; the same structure of tuples."""
    if isinstance(want, (tuple, list)):
        assert isinstance(got, tuple) and len(got) == len(want), f"{what}: {got!r}, expected {want!r}"
        for number, (g, w) in enumerate(zip(got, want)):
            assert_same(g, w, rtol, f"{what}[{number}]")
        return
    if want is None or isinstance(want, str):
        assert got == want, f"{what}: {got!r}, expected {want!r}"
        return
    if getattr(want, "dtype", None) == ml_dtypes.bfloat16:
        assert got.dtype == want.dtype, f"{what}: {got.dtype}"
        got, want = got.astype(np.float32), want.astype(np.float32)
    if rtol is None:
        np.testing.assert_array_equal(got, want, err_msg=what)
    else:
        np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol, err_msg=what)


def _random(dtype: Any, *shape: int) -> np.ndarray:
    generator = np.random.default_rng(sum(shape) + 7)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return generator.integers(0, 2, shape).astype(bool)
    if kind in "iu":
        low = 0 if kind == "u" else -100
        return generator.integers(low, 100, shape).astype(dtype)
    values = generator.uniform(-10, 10, shape)
    if kind == "c":
        values = values + 1j * generator.uniform(-10, 10, shape)
    return values.astype(dtype)


def _maker(dtype: Any) -> Any:
    return lambda *shape: _random(dtype, *shape)


HELPERS: dict[str, Any] = {
    "np": np,
    **{
        short: _maker(name)
        for short, name in {
            "b1": "bool",
            "i8": "int8",
            "i16": "int16",
            "i32": "int32",
            "i64": "int64",
            "u8": "uint8",
            "u16": "uint16",
            "u32": "uint32",
            "u64": "uint64",
            "f16": "float16",
            "bf16": ml_dtypes.bfloat16,
            "f32": "float32",
            "f64": "float64",
            "c64": "complex64",
            "c128": "complex128",
        }.items()
    },
    "zeros": lambda dtype, *shape: np.zeros(shape, dtype),
    "every": lambda step, array: array[(slice(None, None, step),) * array.ndim],
    "fortran": np.asfortranarray,
}

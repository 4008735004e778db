"""Operations in frameworks: `python run.py [--quick] [--record]`, in an environment with PyTorch, and JAX if it is to be shown.

What a call costs on 8 numbers, beside an operator that does nothing (`Library.impl` with an autograd formula, and a function that gives an
unset tensor), and what doubling 10⁷ numbers takes beside a copy. Contenders take turns; each is called some hundred times in a turn, a
result is compared before anything is timed, and the shortest turn of each counts, as the machine may be busy with other things.
`--record` keeps the results in benchmarks/results/frameworks.json.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("WEFT_NUM_THREADS", "1")

import numpy as np
import torch

import weft
from weft import cuda, njit

BENCHMARKS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(BENCHMARKS))

from report import machine  # noqa: E402

RECORD = BENCHMARKS / "results" / "frameworks.json"
MANY = 10_000_000
BARE, BARE_FOR_GRADIENTS = "bare operator", "bare operator, for gradients"
COPY, COPY_INTO = "a copy", "a copy, into memory that is there"

Work = Callable[[], Any]


@weft.vectorize
def double(x):
    return 2 * x


@njit
def doubled(x):
    return 2 * x


@cuda.jit
def doubling(x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = 2 * x[i]


def operators() -> dict[str, Any]:
    """Operators by Weft, and those that tell what PyTorch's own part is."""
    library = torch.library.Library("weft_bench", "FRAGMENT")
    library.define("bare(Tensor x) -> Tensor")
    unset = torch.empty_like
    library.impl("bare", lambda x: unset(x), "CPU")
    torch.library.register_fake("weft_bench::bare", lambda x: unset(x), lib=library)
    torch.library.register_autograd("weft_bench::bare", lambda ctx, g: 2 * g, setup_context=lambda ctx, inputs, output: None, lib=library)

    @torch.library.custom_op("weft_bench::decorated", mutates_args=())
    def decorated(x: torch.Tensor) -> torch.Tensor:
        return 2 * x

    decorated.register_autograd(lambda ctx, g: 2 * g)
    return {
        "library": library,
        "bare": torch.ops.weft_bench.bare.default,
        "decorated": decorated,
        "vectorize": weft.torch_op(double, "weft_bench::double", vjp=lambda g: 2 * g),
        "njit": weft.torch_op(doubled, "weft_bench::doubled", weft.like("x"), vjp=lambda g: 2 * g),
        "kernel": weft.torch_op(doubling, "weft_bench::doubling", weft.like("x"), vjp=lambda g: 2 * g),
        "in place": weft.torch_op(doubling, "weft_bench::doubling_into", mutates="y", grid=lambda x: x.shape),
    }


def in_jax(x: np.ndarray) -> dict[str, Work]:
    """The same in JAX, if it is installed."""
    try:
        import jax
    except ImportError:
        return {}
    there = jax.numpy.asarray(x)
    ours, theirs = jax.jit(weft.jax_op(double)), jax.jit(lambda x: 2 * x)
    return {
        "JAX, by Weft": lambda: ours(there).block_until_ready(),
        "JAX's own": lambda: theirs(there).block_until_ready(),
    }


def calls(ops: dict[str, Any]) -> dict[str, Work]:
    """Calls on 8 numbers."""
    x = torch.arange(8.0)
    wanting = torch.arange(8.0, requires_grad=True)
    return {
        BARE: lambda: ops["bare"](x),
        "Weft, vectorize": lambda: ops["vectorize"](x),
        "Weft, kernel": lambda: ops["kernel"](x),
        "Weft, njit": lambda: ops["njit"](x),
        "custom_op": lambda: ops["decorated"](x),
        "2 * x": lambda: 2 * x,
        BARE_FOR_GRADIENTS: lambda: ops["bare"](wanting),
        "Weft, vectorize, for gradients": lambda: ops["vectorize"](wanting),
        **in_jax(x.numpy()),
    }


def streams(ops: dict[str, Any]) -> dict[str, Work]:
    """Doubling of 10⁷ numbers."""
    x = torch.arange(float(MANY))
    there = torch.zeros_like(x)
    compiled = torch.compile(lambda x: 2 * x)

    def into() -> Any:
        ops["in place"](x, there)
        return there

    return {
        COPY_INTO: lambda: there.copy_(x),
        "Weft, kernel, into memory that is there": into,
        "2 * x, into memory that is there": lambda: torch.mul(x, 2, out=there),
        COPY: lambda: x.clone(),
        "Weft, vectorize": lambda: ops["vectorize"](x),
        "Weft, kernel": lambda: ops["kernel"](x),
        "2 * x": lambda: 2 * x,
        "torch.compile": lambda: compiled(x),
        **in_jax(x.numpy()),
    }


def shortest(works: dict[str, Work], turns: int, inner: int) -> dict[str, float]:
    """Seconds of a call of each, in its shortest turn."""
    best = dict.fromkeys(works, float("inf"))
    names = list(works)
    for turn in range(turns):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            work = works[name]
            start = time.perf_counter()
            for _ in range(inner):
                work()
            best[name] = min(best[name], (time.perf_counter() - start) / inner)
    return best


def check(works: dict[str, Work], count: int) -> None:
    """Ends the program if one of them does not double."""
    for name, work in works.items():
        given = work()
        given = np.asarray(given.detach() if isinstance(given, torch.Tensor) else given)
        right = np.arange(count, dtype=np.float32) * (1 if name in (COPY, COPY_INTO) else 2)
        if not name.startswith("bare") and not np.array_equal(given, right):
            sys.exit(f"{name} gives something else")


def shown(title: str, times: dict[str, float], unit: float, against: str) -> None:
    """Prints a table: times, and their ratios to one of them."""
    print(f"\n| {title} | {'µs' if unit == 1e6 else 'ms'} | beside {against} |\n|---|---:|---:|")
    for name, seconds in times.items():
        print(f"| {name} | {seconds * unit:.2f} | {seconds / times[against]:.2f} |")


def main() -> None:
    """Measures, prints, and keeps what is to be kept."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a quarter of the turns")
    parser.add_argument("--record", action="store_true", help="keep the results in benchmarks/results/frameworks.json")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    turns = 100 if chosen.quick else 400
    ops = operators()
    small, large = calls(ops), streams(ops)
    check(small, 8)
    check(large, MANY)
    few = shortest(small, turns, 200)
    many = shortest(large, max(turns // 20, 5), 1)
    shown("a call on 8 numbers", few, 1e6, BARE)
    shown("doubling 10⁷ float32", many, 1e3, COPY)
    above = {name: few[name] - few[BARE] for name in ("Weft, vectorize", "Weft, kernel", "Weft, njit")}
    print("\nµs above the bare operator: " + ", ".join(f"{name} {seconds * 1e6:.2f}" for name, seconds in above.items()))
    if chosen.record:
        versions = {"torch": torch.__version__, "weft": weft.__version__, "numpy": np.__version__}
        kept = {
            "machine": machine(),
            "threads": 1,
            "versions": versions,
            "call_us": {name: round(seconds * 1e6, 3) for name, seconds in few.items()},
            "stream_ms": {name: round(seconds * 1e3, 3) for name, seconds in many.items()},
        }
        RECORD.write_text(json.dumps(kept, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()

"""An operation that doubles a number, in PyTorch, with its right gradient.

In C++ that is some pages, a build script and a registration, and the gradient is easily got wrong: doubling is not its own gradient, but
twice what comes back, which does not depend on what was doubled. Here it is a function with a decorator; the gradient is derived from it.
The operator is one to PyTorch's checks, its compiler and its autograd. Needs `pip install torch`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import torch
from common import check, table, timed

import weft


@weft.vectorize
def double(x):
    return 2 * x


op = weft.torch_op(double, "weft_examples::double")


def main(argv: Sequence[str] | None = None) -> int:
    """Check values and gradients, time the operator beside PyTorch's own; 1 if something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elements", type=int, default=10_000_000, metavar="N", help="how many numbers are doubled (10000000)")
    asked = parser.parse_args(argv)

    x = torch.randn(asked.elements)
    with torch.no_grad():
        ways = {"Weft": timed(lambda: op(x)), "a copy": timed(lambda: x.clone()), "PyTorch": timed(lambda: 2 * x)}
    table(f"{asked.elements:,} float32 doubled", "cpu", ways)

    small = torch.randn(4, 5, dtype=torch.float64, requires_grad=True)
    op(small).sin().sum().backward()
    compiled = torch.compile(lambda x: op(x).sin().sum(), fullgraph=True, backend="aot_eager")
    verdicts = [
        check("off from PyTorch", float((ways["Weft"].result - ways["PyTorch"].result).abs().max()), 0),
        check("gradient off from 2 cos(2 x)", float((small.grad - 2 * torch.cos(2 * small.detach())).abs().max()), 1e-12),
        check("gradients that differences tell to be wrong", float(not torch.autograd.gradcheck(op, small)), 0),
        check("checks of PyTorch's that fail", sum(each != "SUCCESS" for each in torch.library.opcheck(op, (small,)).values()), 0),
        check("compiled program off", abs(compiled(small).item() - op(small).sin().sum().item()), 1e-12),
    ]
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    raise SystemExit(main())

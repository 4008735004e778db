"""The page of what has a gradient, made of the table: `python -m tests.gradients.page` writes it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from pathlib import Path

from tests.gradients import table, table_linalg, table_ufuncs

PAGE = Path(__file__).parents[2] / "docs" / "gradients-table.md"

_HEAD = """\
# What has a gradient

Every function of the namespaces, as `weft.grad`, `vjp`, `jvp`, `vmap` and tapes have it (see [gradients](gradients.md)). This page is made
of the table that the tests go through: each function under "right" is compared with central differences, first and second derivatives,
float64, float32 and complex numbers, and with JAX where it has the function and is installed.

- **Right**: derivatives of any order, forwards and backwards. Where a function has a corner they are JAX's: of equal extremes each has its
  share, and of what is left out of a choice nothing comes. Two are not: the derivative of `|x|` at 0 is 0, and that of `x ** 0` is 0.
- **Flat**: what it gives changes in steps or not at all, or it gives integers, truth values or text, which have no gradient.
- **Refused**: `GradientError`, since elements leave Weft's arrays or there is no rule. Never a silent zero.
- The other names take no arrays of numbers, or only integers.

What a name stands for may have parts that are refused, each with its own words: of ufuncs' methods `reduce` has a gradient for sums,
products and extremes, `accumulate` for these, `reduceat` for sums and extremes, and `at` for `add` and `subtract`; `quantile` and
`percentile` have one of `q` with `method="linear"`; `qr` has none with `mode="raw"`, nor of the columns of a complete Q that the matrix
has no part in; `svd` none of the vectors that belong to no singular value; `histogramdd` none of edges that it finds itself. Random
numbers with parameters that are followed are refused: write `loc + scale * rng.normal(size=n)`. Eigenvectors and singular vectors have
one up to their phase, and of equal eigenvalues infinite ones; of equal singular values they are taken not to turn among themselves, as in
JAX. `cholesky`, `eigh` and `eigvalsh` read one triangle: their matrix is taken for Hermitian, and so is its cotangent.

Inside `vmap` functions that decide by elements (marked with *) are `CaptureError`, as masks as subscripts and `nonzero` are.
"""


def page() -> str:
    """The whole page."""
    sections = [
        ("`weft`", table.RIGHT, table.FLAT, table.REFUSED, [*table.NOTHING, *table_ufuncs.NOTHING]),
        ("`weft.linalg`", table_linalg.LINALG, table_linalg.LINALG_FLAT, {}, []),
        ("`weft.fft`", table_linalg.FFT, {}, {}, table_linalg.FFT_NOTHING),
        ("`weft.math`", table_linalg.MATH, table_linalg.MATH_FLAT, {}, table_linalg.MATH_NOTHING),
        ("`weft.scipy.special`", table_linalg.SPECIAL, {}, {}, []),
        ("`weft.scipy.signal`", table_linalg.SIGNAL, {}, {}, []),
        ("`weft.scipy.ndimage`", table_linalg.NDIMAGE, {}, {}, []),
    ]
    parts = [_HEAD]
    for title, right, flat, refused, others in sections:
        parts.append(f"\n## {title}\n")
        marked = [name if any(case.vmap for case in cases) else f"{name}*" for name, cases in right.items()]
        for head, names in (("Right", marked), ("Flat", flat), ("Refused", refused), ("Others", others)):
            if names:
                parts.append("\n" + _paragraph(head, names) + "\n")
    return "".join(parts)


def _paragraph(head: str, names: Iterable[str]) -> str:
    listed = [f"`{name.rstrip('*')}`" + ("*" if name.endswith("*") else "") for name in sorted(names, key=str.lower)]
    return "\n".join(textwrap.wrap(f"**{head}**: {', '.join(listed)}.", 140, break_on_hyphens=False, break_long_words=False))


if __name__ == "__main__":
    PAGE.write_text(page())

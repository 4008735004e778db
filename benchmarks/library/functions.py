"""What is timed: calls of NumPy's functions that Weft's library has, on a million elements."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

N = 1_000_000
ROOT = 1000

rng = np.random.default_rng(7)
vector = rng.standard_normal(N)
other = rng.standard_normal(N)
narrow = vector.astype(np.float32)
matrix = vector.reshape(ROOT, ROOT)
whole = rng.integers(-1000, 1000, N)
small = rng.integers(0, 1000, N)
mask = vector > 0.5
ordered = np.sort(vector)
positions = rng.integers(0, N, N)
holes = np.where(rng.random(N) < 0.1, np.nan, vector)
hole_matrix = holes.reshape(ROOT, ROOT)
row = vector[:ROOT].copy()
hundred = matrix[:100, :100].copy()
cube = vector.reshape(100, 100, 100)
thousand = rng.integers(0, 1000, 1000)
place = rng.integers(0, ROOT, (ROOT, ROOT))
wide = rng.standard_normal((4000, 1000), np.float32)


@dataclass(frozen=True)
class Function:
    """A call as it stands in a compiled function, and its arguments by name."""

    name: str
    text: str
    arguments: dict[str, object]
    loose: bool = False
    """Results may differ by rounding, since sums are done in another order."""

    def function(self) -> Callable:
        """The plain function."""
        text = f"def f({', '.join(self.arguments)}):\n    return {self.text}\n"
        file = f"<benchmark of {self.name}>"
        # As if it stood in a file: compilers read the source.
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        scope: dict[str, object] = {"np": np}
        exec(compile(text, file, "exec"), scope)
        return scope["f"]


def call(text: str, loose: bool = False, **arguments: object) -> Function:
    """The name that the table shows is the text."""
    return Function(text, text, arguments, loose)


def reductions() -> list[Function]:
    """Of 4000 by 1000 numbers as they lie, and transposed: along each axis, and of all."""
    arrays: list[dict[str, object]] = [{"wide": wide}, {"turned": wide.T}]
    return [
        call(f"np.{name}({array}{axis})", True, **arguments)
        for name in ("sum", "mean", "var", "max", "argmax")
        for arguments in arrays
        for array in arguments
        for axis in (", axis=0", ", axis=1", "")
    ]


FUNCTIONS = [
    *reductions(),
    # sums and their like
    call("np.sum(a)", True, a=vector),
    call("np.sum(a, axis=0)", True, a=matrix),
    call("np.sum(a, axis=1)", True, a=matrix),
    call("np.mean(a)", True, a=vector),
    call("np.var(a)", True, a=vector),
    call("np.std(a)", True, a=vector),
    call("np.any(a)", a=np.zeros(N, np.bool_)),
    call("np.all(a)", a=np.ones(N, np.bool_)),
    call("np.argmin(a)", a=vector),
    call("np.argmax(a)", a=vector),
    call("np.ptp(a)", a=vector),
    call("np.cumsum(a)", True, a=vector),
    call("np.cumsum(a, axis=0)", True, a=matrix),
    call("np.cumprod(a)", True, a=1 + vector / 1e6),
    call("np.diff(a)", a=vector),
    call("np.ediff1d(a)", a=vector),
    call("np.gradient(a)", a=vector),
    call("np.trapezoid(a)", True, a=vector),
    call("np.interp(a, x, y)", a=vector, x=np.sort(row), y=row),
    call("np.average(a)", True, a=vector),
    call("np.average(a, weights=b)", True, a=vector, b=np.abs(other)),
    call("np.cov(a)", True, a=matrix[:100]),
    call("np.corrcoef(a)", True, a=matrix[:100]),
    # Of a square matrix: above all a product of matrices.
    call("np.cov(square)", True, square=matrix),
    call("np.corrcoef(square)", True, square=matrix),
    # order
    call("np.sort(a)", a=vector),
    call("np.sort(a)", a=whole),
    call("np.sort(a)", a=whole.astype(np.int16)),
    call("np.sort(ordered)", ordered=ordered),
    call("np.sort(a, axis=0)", a=matrix),
    call("np.argsort(a)", a=vector),
    call("np.partition(a, 1000)[1000]", a=vector),
    call("np.searchsorted(a, b)", a=ordered, b=other),
    call("np.digitize(a, b)", a=vector, b=np.linspace(-3, 3, 101)),
    call("np.median(a)", a=vector),
    call("np.percentile(a, 90)", True, a=vector),
    call("np.quantile(a, 0.9)", True, a=vector),
    call("np.unique(a)", a=whole),
    call("np.unique(a)", a=vector),
    call("np.isin(a, b)", a=whole, b=thousand),
    call("np.union1d(a, b)", a=whole, b=small),
    call("np.intersect1d(a, b)", a=whole, b=small),
    call("np.setdiff1d(a, b)", a=whole, b=small),
    call("np.bincount(a)", a=small),
    call("np.histogram(a, 100)", a=vector),
    # where
    call("np.nonzero(a)", a=mask),
    call("np.flatnonzero(a)", a=mask),
    call("np.where(a)", a=mask),
    call("np.where(m, a, b)", m=mask, a=vector, b=other),
    call("np.argwhere(a)", a=mask),
    call("np.count_nonzero(a)", a=mask),
    call("a[m]", a=vector, m=mask),
    call("a[i]", a=vector, i=positions),
    call("np.take(a, i)", a=vector, i=positions),
    call("np.take_along_axis(a, i, axis=1)", a=matrix, i=place),
    call("np.put(a, i, b)", a=vector.copy(), i=positions, b=other),
    call("np.clip(a, -1, 1)", a=vector),
    # joining and shapes
    call("np.concatenate((a, b))", a=vector, b=other),
    call("np.stack((a, b))", a=vector, b=other),
    call("np.hstack((a, b))", a=matrix, b=matrix),
    call("np.vstack((a, b))", a=matrix, b=matrix),
    call("np.dstack((a, b))", a=matrix, b=matrix),
    call("np.column_stack((a, b))", a=vector, b=other),
    call("np.append(a, b)", a=vector, b=other),
    call("np.split(a, 4)", a=vector),
    call("np.array_split(a, 3)", a=vector),
    call("np.concatenate(np.split(a, 4))", a=vector),
    call("np.concatenate(np.array_split(a, 3))", a=vector),
    call("np.repeat(a, 3)", a=vector),
    call("np.tile(a, 3)", a=vector),
    call("np.roll(a, 1000)", a=vector),
    call("np.flip(a).copy()", a=vector),
    call("np.fliplr(a).copy()", a=matrix),
    call("np.flipud(a).copy()", a=matrix),
    call("np.rot90(a).copy()", a=matrix),
    call("np.swapaxes(a, 0, 1).copy()", a=matrix),
    call("np.transpose(a).copy()", a=matrix),
    call("np.moveaxis(a, 0, 2).copy()", a=cube),
    call("np.expand_dims(a, 1).copy()", a=matrix),
    call("np.squeeze(a, axis=1).copy()", a=matrix[:, None]),
    call("np.broadcast_to(a, (1000, 1000)).copy()", a=row),
    # NaN
    call("np.nansum(a)", True, a=holes),
    call("np.nanmean(a)", True, a=holes),
    call("np.nanvar(a)", True, a=holes),
    call("np.nanmin(a)", a=holes),
    call("np.nanmax(a)", a=holes),
    call("np.nanmax(a, axis=0)", a=hole_matrix),
    call("np.nanargmin(a)", a=holes),
    call("np.nanargmax(a)", a=holes),
    call("np.nanprod(a)", True, a=1 + holes / 1e6),
    call("np.nanstd(a)", True, a=holes),
    call("np.nanquantile(a, 0.9)", True, a=holes),
    call("np.nanmedian(a)", a=holes),
    call("np.nanpercentile(a, 90)", True, a=holes),
    call("np.nancumsum(a)", True, a=holes),
    call("np.nancumprod(a)", True, a=1 + holes / 1e6),
    call("np.nansum(a, axis=0)", True, a=hole_matrix),
    # comparing
    call("np.isclose(a, b)", a=vector, b=other),
    call("np.allclose(a, b)", a=vector, b=vector.copy()),
    call("np.array_equal(a, b)", a=vector, b=vector.copy()),
    # matrices
    call("np.outer(a, b)", a=row, b=row),
    call("np.inner(a, b)", True, a=vector, b=other),
    # Of square matrices: their product.
    call("np.inner(square, other)", True, square=matrix, other=other.reshape(ROOT, ROOT)),
    call("np.kron(small, large)", small=hundred[:10, :10], large=hundred),
    call("np.kron(large, small)", small=hundred[:10, :10], large=hundred),
    call("np.cross(a, b)", True, a=vector[:999_999].reshape(-1, 3), b=other[:999_999].reshape(-1, 3)),
    call("np.trace(a)", True, a=matrix),
    call("np.diag(a)", a=row),
    call("np.diagflat(a)", a=row),
    call("np.tri(1000)"),
    call("np.tril(a)", a=matrix),
    call("np.triu(a)", a=matrix),
    call("np.eye(1000)", True),
    call("np.identity(1000)"),
    call("np.indices((1000, 1000))"),
    call("np.vander(a, 4)", True, a=vector),
    call("np.meshgrid(a, b)", a=row, b=row),
    call("np.convolve(a, b)", True, a=vector[:100_000].copy(), b=row[:100].copy()),
    call("np.correlate(a, b)", True, a=vector[:100_000].copy(), b=row[:100].copy()),
    call("np.convolve(a, short)", True, a=vector, short=row[:10].copy()),
    call("np.correlate(a, short)", True, a=vector, short=row[:10].copy()),
    call("np.ravel_multi_index((i, j), (1000, 1000))", i=positions % 1000, j=positions // 1000),
    call("np.unravel_index(i, (1000, 1000))", i=positions),
]

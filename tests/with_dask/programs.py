"""Functions of Dask arrays, and random chunks of them: what they give for weft chunks is compared with what they give for NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask.array as da
import numpy as np

import weft

# Of a matrix `x` of 60 by 40 in chunks of 20 by 15, and `y` of 40 by 30 in chunks of 15 by 10.
PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "arithmetic": lambda x, y: (x + 1) * x.T.T - 2,
    "ufuncs": lambda x, y: np.sin(x) * da.exp(x),
    "map_blocks": lambda x, y: x.map_blocks(lambda block: block * 2 + block.mean()),
    "sum": lambda x, y: x.sum(),
    "sum of columns": lambda x, y: x.sum(axis=0),
    "mean": lambda x, y: x.mean(axis=1),
    "var": lambda x, y: x.var(axis=0),
    "std": lambda x, y: x.std(),
    "extremes": lambda x, y: x.max(axis=0) - x.min(),
    "argmin": lambda x, y: x.argmin(axis=0),
    "prod": lambda x, y: x.prod(axis=1),
    "any": lambda x, y: (x > 0.99).any(axis=0),
    "nanmean": lambda x, y: da.nanmean(da.where(x > 0.5, x, np.nan), axis=0),
    "moment": lambda x, y: da.moment(x, 3, axis=0),
    "tensordot": lambda x, y: da.tensordot(x, y, axes=1),
    "tensordot of first axes": lambda x, y: da.tensordot(x, x, axes=((0,), (0,))),
    "matmul": lambda x, y: x @ y,
    "cumsum": lambda x, y: x.cumsum(axis=0),
    "cumsum at once": lambda x, y: da.cumsum(x, axis=1, method="blelloch"),
    "nancumsum": lambda x, y: da.nancumsum(x, axis=0),
    "overlap": lambda x, y: x.map_overlap(lambda block: block + np.roll(block, 1, 0), depth=1, boundary="reflect"),
    "overlap of several kinds": lambda x, y: da.overlap.overlap(x, depth=2, boundary={0: "periodic", 1: "nearest"}),
    "slices": lambda x, y: x[3:50:3, ::-2],
    "indices": lambda x, y: x[[1, 5, 50, 3]],
    "points": lambda x, y: x.vindex[[1, 2], [3, 4]],
    "mask": lambda x, y: x[x > 0.5].sum(),
    "joined": lambda x, y: da.concatenate([x, da.stack([x, x]).sum(axis=0)], axis=1),
    "rechunked": lambda x, y: x.rechunk((7, 40)).reshape(-1)[::7],
    "where": lambda x, y: da.where(x > 0.5, x, 0).astype("float32"),
    "percentile": lambda x, y: da.percentile(x.reshape(-1), [10, 50]),
    "median": lambda x, y: da.median(x, axis=0),
    "histogram": lambda x, y: da.histogram(x, bins=10, range=(0, 1))[0],
    "topk": lambda x, y: da.topk(x, 3, axis=0),
    "unique": lambda x, y: da.unique((x * 10).astype("int64")),
    "bincount": lambda x, y: da.bincount((x * 10).astype("int64").reshape(-1), minlength=12),
    "differences": lambda x, y: da.gradient(da.diff(x), axis=0),
    "rolled and padded": lambda x, y: da.pad(da.roll(x, 3, axis=0), 2),
    "covariance": lambda x, y: da.cov(x),
    "coarsened": lambda x, y: da.coarsen(np.sum, x, {0: 2, 1: 5}),
    "counts": lambda x, y: da.count_nonzero(x > 0.3, axis=0),
    "like": lambda x, y: da.ones_like(x) + da.full_like(x, 3) * x,
    "average": lambda x, y: da.average(x, axis=0),
    "norm": lambda x, y: da.linalg.norm(x),
    "einsum": lambda x, y: da.einsum("ij,jk->ik", x, y),
    "svd": lambda x, y: da.linalg.svd(x.rechunk((20, 40)))[1],
    "qr": lambda x, y: abs(da.linalg.qr(x.rechunk((20, 40)))[1]),
}


def operands(xp: Any) -> tuple[Any, Any]:
    """The matrices, with chunks of one library."""
    rng = np.random.default_rng(0)
    x, y = rng.random((60, 40)), rng.random((40, 30))
    return (
        da.from_array(xp.asarray(x), chunks=(20, 15), asarray=False),
        da.from_array(xp.asarray(y), chunks=(15, 10), asarray=False),
    )


def check(program: Callable[[Any, Any], Any], given: Any) -> None:
    """What a program gave for weft chunks, computed, is what it gives for NumPy's."""
    wanted = np.asarray(program(*operands(np)).compute(scheduler="sync"))
    assert isinstance(given, weft.ndarray), type(given)
    host = weft.asnumpy(given)
    assert host.shape == wanted.shape and host.dtype == wanted.dtype
    np.testing.assert_allclose(host, wanted, rtol=2e-6 if wanted.dtype == np.float32 else 1e-10, atol=1e-12)

"""What has a gradient: a row for every function of the namespaces.

Of each name the table says that it is *right* (cases in which its derivatives are compared with differences), *flat* (what it gives changes
in steps, or is no number: its gradient is zero, or it gives integers and truth values), *refused* (GradientError, and never a silent zero),
or that it takes no array of numbers that have a gradient.
"""

from __future__ import annotations

import io
import os
from typing import Any

import numpy as np
from tests.gradients import table_ufuncs
from tests.gradients.cases import A, Case, G, P, U, case, words

_MASK = np.array([[True, False, True], [False, True, True]])


def _in_place(write: Any) -> Any:
    """A function that writes into a copy of its first array."""

    def made(m: Any, x: Any, *others: Any) -> Any:
        copy = x * 2
        write(m, copy, *others)
        return copy

    return made


def _simple(text: str, *specs: Any, **words: Any) -> list[Case]:
    """Cases written as expressions in `m` and `x y z`."""
    return [case(eval(f"lambda m, {', '.join('xyz'[: len(specs)])}: {part}"), *specs, **words) for part in text.split("; ")]


_PARTED = "m.{name}(x, 30.0, axis=1); m.{name}(x, m.asarray([20.0, 70.0])); m.{name}(x, 40.0, axis=0, method='midpoint', keepdims=True)"
_QUANTILED = "m.{name}(x, 0.3, axis=1); m.{name}(x, m.asarray([0.2, 0.7])); m.{name}(x, 0.4, axis=0, method='lower')"

MOVES: dict[str, list[Case]] = {
    "append": _simple("m.append(x, y, 0)", A(2, 3), A(1, 3), c=True),
    "apply_along_axis": _simple("m.apply_along_axis(lambda row: row * row.sum(), 1, x)", A(2, 3), jax=False),
    "apply_over_axes": _simple("m.apply_over_axes(m.sum, x, [0])", A(2, 3)),
    "array": _simple("m.array([x, x * 2])", A(2), jax=False),
    "array_split": _simple("m.array_split(x, 2)[1]", A(5), c=True),
    "asanyarray": _simple("m.asanyarray(x) * x", A(2), jax=False),
    "asarray": _simple("m.asarray(x) * x", A(2)),
    "ascontiguousarray": _simple("m.ascontiguousarray(x.T) * 2", A(2, 3), c=True, jax=False),
    "asfortranarray": _simple("m.asfortranarray(x) * 2", A(2, 3), jax=False),
    "astype": _simple("m.astype(x, 'complex128') * 2j", A(2), jax=False),
    "atleast_1d": _simple("m.atleast_1d(x)", A()),
    "atleast_2d": _simple("m.atleast_2d(x)", A(2)),
    "atleast_3d": _simple("m.atleast_3d(x)", A(2, 2)),
    "block": _simple("m.block([[x, y], [y, x]])", A(2, 2), A(2, 2)),
    "broadcast_arrays": _simple("m.broadcast_arrays(x, y)[0] * 2", A(2, 1), A(3)),
    "broadcast_to": _simple("m.broadcast_to(x, (2, 3))", A(3), c=True),
    "choose": _simple("m.choose(m.asarray([0, 1, 0]), [x, y])", A(3), A(3)),
    "clip": [
        case(lambda m, x: m.clip(x, -0.8, 0.9), A(2, 3)),
        case(lambda m, x, y: m.clip(x, y, None), A(2, 3), A(3)),
    ],
    "column_stack": _simple("m.column_stack((x, y))", A(2), A(2)),
    "compress": _simple("m.compress([True, False, True], x, 1)", A(2, 3), c=True, jax=False),
    "concat": _simple("m.concat((x, y), axis=1)", A(2, 1), A(2, 2)),
    "concatenate": _simple("m.concatenate((x, y)); m.concatenate((x, y), axis=None)", A(2, 2), A(1, 2), c=True),
    "copy": _simple("m.copy(x) * 2", A(2)),
    "copyto": [case(_in_place(lambda m, a, y: m.copyto(a, y, where=m.asarray(_MASK))), A(2, 3), A(3), jax=False)],
    "delete": _simple("m.delete(x, 1, 1); m.delete(x, np.array([0, 2]), 1)", A(2, 3), c=True),
    "diag": _simple("m.diag(x)", A(3)) + _simple("m.diag(x, 1)", A(3, 3), c=True),
    "diagflat": _simple("m.diagflat(x)", A(2, 2)),
    "diagonal": _simple("m.diagonal(x, 1)", A(3, 3), c=True),
    "dsplit": _simple("m.dsplit(x, 2)[1]", A(1, 2, 4)),
    "dstack": _simple("m.dstack((x, y))", A(2, 2), A(2, 2)),
    "expand_dims": _simple("m.expand_dims(x, 1)", A(3)),
    "extract": _simple("m.extract(m.asarray([True, False, True]), x)", A(3), c=True, jax=False),
    "fill_diagonal": [case(_in_place(lambda m, a, y: m.fill_diagonal(a, y)), A(3, 3), A(3), jax=False)],
    "flip": _simple("m.flip(x, 1)", A(2, 3), c=True),
    "fliplr": _simple("m.fliplr(x)", A(2, 3)),
    "flipud": _simple("m.flipud(x)", A(2, 3)),
    "full": _simple("m.full((2, 3), x)", A(3)),
    "full_like": _simple("m.full_like(x, y)", A(2, 3), A(3)),
    "hsplit": _simple("m.hsplit(x, 2)[1]", A(2, 4)),
    "hstack": _simple("m.hstack((x, y))", A(2), A(3)),
    "imag": _simple("m.imag(x * (1 + 2j))", A(3), c=True),
    "insert": _simple("m.insert(x, [0, 2], y, 1)", A(2, 3), A(2, 2), jax=False) + _simple("m.insert(x, 1, y)", A(3), A()),
    "matrix_transpose": _simple("m.matrix_transpose(x)", A(2, 3)),
    "meshgrid": _simple("m.meshgrid(x, y)[1]", A(2), A(3)),
    "moveaxis": _simple("m.moveaxis(x, 0, 2)", A(2, 3, 2)),
    "pad": _simple(
        "; ".join(f"m.pad(x, ((1, 2), (0, 1)), {mode!r})" for mode in ("constant", "edge", "reflect", "wrap", "mean", "maximum")), A(2, 3)
    )
    + _simple("m.pad(x, 2, 'linear_ramp', end_values=y)", A(3), A(), jax=False),
    "partition": _simple("m.partition(x, 1, axis=1)", A(2, 4), c=True, jax=False),
    "permute_dims": _simple("m.permute_dims(x, (1, 0))", A(2, 3)),
    "piecewise": _simple("m.piecewise(x, [x < 0, x >= 0], [lambda v: v * v, lambda v: v * 3])", A(4), vmap=False, jax=False),
    "place": [case(_in_place(lambda m, a, y: m.place(a, m.asarray(_MASK), y)), A(2, 3), A(3), jax=False)],
    "put": [case(_in_place(lambda m, a, y: m.put(a, m.asarray([0, 4, 0]), y)), A(2, 3), A(3), c=True, jax=False)],
    "put_along_axis": [
        case(_in_place(lambda m, a, y: m.put_along_axis(a, m.asarray([[1], [0]]), y, 1)), A(2, 3), A(2, 1), c=True, jax=False)
    ],
    "putmask": [case(_in_place(lambda m, a, y: m.putmask(a, m.asarray(_MASK), y)), A(2, 3), A(2), jax=False)],
    "ravel": _simple("m.ravel(x)", A(2, 3)),
    "real": _simple("m.real(x * (1 + 2j))", A(3), c=True),
    "real_if_close": _simple("m.real_if_close(x)", A(3), jax=False),
    "repeat": _simple("m.repeat(x, 2, axis=1); m.repeat(x, np.array([1, 0, 2]), axis=1)", A(2, 3), c=True),
    "require": _simple("m.require(x, requirements='C') * 2", A(2), jax=False),
    "reshape": _simple("m.reshape(x, (3, 2))", A(2, 3)),
    "resize": _simple("m.resize(x, (2, 4))", A(3)),
    "roll": _simple("m.roll(x, 1, axis=1)", A(2, 3)),
    "rollaxis": _simple("m.rollaxis(x, 1)", A(2, 3)),
    "rot90": _simple("m.rot90(x)", A(2, 3)),
    "select": _simple("m.select([x < 0, x > 1], [x * x, y], 3 * x)", A(4), A(4)),
    "sort": _simple("m.sort(x, axis=0); m.sort(x, axis=None)", A(3, 3), c=True) + _simple("m.sort(x, descending=True)", A(4)),
    "sort_complex": _simple("m.sort_complex(x)", A(4), c=True),
    "split": _simple("m.split(x, [1, 2])[1]", A(4)),
    "squeeze": _simple("m.squeeze(x)", A(1, 3)),
    "stack": _simple("m.stack((x, y), axis=1)", A(3), A(3), c=True),
    "swapaxes": _simple("m.swapaxes(x, 0, 1)", A(2, 3)),
    "take": _simple("m.take(x, m.asarray([2, 0, 2]), axis=1); m.take(x, m.asarray([5, 0]))", A(2, 3), c=True)
    + _simple("m.take(x, m.asarray([7, -1]), axis=0, mode='wrap')", A(3, 2)),
    "take_along_axis": _simple("m.take_along_axis(x, m.asarray([[2, 0], [1, 1]]), axis=1)", A(2, 3), c=True),
    "tile": _simple("m.tile(x, (2, 2))", A(2, 2)),
    "topk": _simple("m.topk(x, 2)[0]; m.topk(x, 2, axis=0, largest=False)[0]", A(3, 3), jax=False),
    "transpose": _simple("m.transpose(x)", A(2, 3), c=True),
    "tril": _simple("m.tril(x)", A(3, 3)),
    "trim_zeros": _simple("m.trim_zeros(x)", A(3), vmap=False),
    "triu": _simple("m.triu(x, 1)", A(3, 3), c=True),
    "unstack": _simple("m.unstack(x)[1]", A(2, 3)),
    "vsplit": _simple("m.vsplit(x, 2)[0]", A(4, 2)),
    "vstack": _simple("m.vstack((x, y))", A(2), A(2)),
    "where": _simple("m.where(x > 0, x * y, y); m.where(m.asarray([True, False, True]), x, 2.0)", A(3), A(3), c=False),
}

SETS: dict[str, list[Case]] = {
    "intersect1d": _simple("m.intersect1d(x, x[::2]) * 2", A(5), vmap=False, jax=False),
    "setdiff1d": _simple("m.setdiff1d(x, x[:2])", A(5), vmap=False, jax=False),
    "setxor1d": _simple("m.setxor1d(x, y)", A(3), A(2), vmap=False, jax=False),
    "union1d": _simple("m.union1d(x, y)", A(3), A(2), vmap=False, jax=False),
    "unique": _simple(
        "m.unique(m.concatenate((x, x)), return_counts=True)[0]; m.unique(x.reshape(2, 2), axis=0)", A(4), vmap=False, jax=False
    ),
    "unique_all": _simple("m.unique_all(x).values", A(4), vmap=False, jax=False),
    "unique_counts": _simple("m.unique_counts(x).values", A(4), vmap=False, jax=False),
    "unique_inverse": _simple("m.unique_inverse(x).values", A(4), vmap=False, jax=False),
    "unique_values": _simple("m.unique_values(x)", A(4), vmap=False, jax=False),
}

SUMS: dict[str, list[Case]] = {
    "amax": _simple("m.amax(x, axis=1)", A(2, 3)),
    "amin": _simple("m.amin(x)", A(2, 3)),
    "angle": _simple("m.angle(x * (1 + 1j))", A(3), c=True),
    "average": _simple("m.average(x, axis=1, weights=y)", A(2, 3), P(3)) + _simple("m.average(x)", A(2, 3)),
    "convolve": [
        case(lambda m, x, y, mode=mode: m.convolve(x, y, mode), A(*a), A(*b), c=True)
        for mode, a, b in (("full", (4,), (3,)), ("same", (3,), (4,)), ("valid", (5,), (2,)))
    ],
    "correlate": [
        case(lambda m, x, y, mode=mode: m.correlate(x, y, mode), A(*a), A(*b), c=True)
        for mode, a, b in (("full", (3,), (4,)), ("same", (4,), (3,)), ("valid", (2,), (4,)))
    ],
    "corrcoef": _simple("m.corrcoef(x)", A(2, 4), c=True) + _simple("m.corrcoef(x, y)", A(4), A(4)),
    "cov": _simple("m.cov(x)", A(2, 4), c=True)
    + _simple("m.cov(x, aweights=y, ddof=0); m.cov(x, aweights=y, fweights=m.asarray([1, 2, 1, 3]))", A(2, 4), P(4), vmap=False, jax=False),
    "cross": _simple("m.cross(x, y)", A(2, 3), A(3), c=True),
    "cumprod": _simple("m.cumprod(x, axis=1); m.cumprod(x)", A(2, 3), c=True) + _simple("m.cumprod(x * m.asarray([1, 0, 1, 0]))", A(4)),
    "cumsum": _simple("m.cumsum(x, axis=0); m.cumsum(x)", A(2, 3), c=True) + _simple("m.cumsum(x)", A(0)),
    "cumulative_prod": _simple("m.cumulative_prod(x, axis=0, include_initial=True)", A(3, 2)),
    "cumulative_sum": _simple("m.cumulative_sum(x, axis=1, include_initial=True)", A(3, 2)),
    "diff": _simple("m.diff(x, 2, axis=0)", A(4, 2), c=True) + _simple("m.diff(x, prepend=y)", A(3), A()),
    "dot": _simple("m.dot(x, y)", A(2, 3), A(3, 2), c=True) + _simple("m.dot(x, y)", A(3), A(3), c=True),
    "ediff1d": _simple("m.ediff1d(x, to_begin=y)", A(3), A(2)),
    "einsum": _simple("m.einsum('ij,jk->ik', x, y); m.einsum('ij,ji', x, y)", A(2, 3), A(3, 2), c=True)
    + _simple("m.einsum('ii->i', x); m.einsum('...i->...', x)", A(3, 3), c=True)
    + _simple("m.einsum('ij,jk,k->i', x, y, z)", A(2, 3), A(3, 2), A(2)),
    "gradient": _simple("m.gradient(x, 0.5, axis=0)", A(4, 2)) + _simple("m.gradient(x, edge_order=2)", A(4), jax=False),
    "histogram": _simple("m.histogram(m.asarray([0.1, 0.4, 0.9]), 2, weights=x)[0]", A(3))
    + _simple("m.histogram(x, m.asarray([-2.0, 0.0, 2.0]), weights=y, density=True)[0]", A(4), P(4))
    + _simple("m.histogram(x, 3, density=True)", A(5), jax=False),
    "bincount": _simple("m.bincount(m.asarray([0, 2, 2]), x, 4)", A(3)),
    "histogram2d": _simple("m.histogram2d(m.asarray([0.1, 0.4]), m.asarray([0.9, 0.2]), [2, 2], [(0, 1), (0, 1)], weights=x)[0]", A(2)),
    "histogramdd": _simple(
        "m.histogramdd(m.asarray([[0.1, 0.4], [0.9, 0.2]]), [2, 2], [(0, 1), (0, 1)], density=True, weights=x)[0]", P(2), jax=False
    ),
    "histogram_bin_edges": _simple("m.histogram_bin_edges(x, 3)", A(4)),
    "i0": _simple("m.i0(x)", A(2, 3)),
    "inner": _simple("m.inner(x, y)", A(2, 3), A(2, 3), c=True),
    "interp": _simple("m.interp(x, y, z)", A(4), G(5), A(5))
    + _simple("m.interp(x, y, z, left=1.0); m.interp(x, y, z, period=1.7)", A(4), G(5), A(5), jax=False),
    "kron": _simple("m.kron(x, y)", A(2, 2), A(2, 3), c=True),
    "matmul": _simple("m.matmul(x, y)", A(2, 3), A(3, 2), c=True)
    + _simple("m.matmul(x, y)", A(2, 2, 3), A(3))
    + _simple("m.matmul(x, y)", A(2, 0), A(0, 2)),
    "matvec": _simple("m.matvec(x, y)", A(2, 3), A(3), c=True),
    "max": _simple("m.max(x, axis=0)", A(2, 3), c=True) + _simple("m.max(x, initial=0.5)", A(3)),
    "mean": _simple("m.mean(x, axis=1, keepdims=True); m.mean(x, where=m.asarray([True, False, True]))", A(2, 3), c=True),
    "median": _simple("m.median(x, axis=1); m.median(x)", A(2, 4)) + _simple("m.median(x)", A(3)),
    "min": _simple("m.min(x, axis=1)", A(2, 3)),
    "nan_to_num": _simple("m.nan_to_num(x)", A(3)),
    "nancumprod": _simple("m.nancumprod(m.where(m.asarray([True, False, True]), x, m.nan))", A(3)),
    "nancumsum": _simple("m.nancumsum(m.where(m.asarray([True, False, True]), x, m.nan))", A(3)),
    "nanmax": _simple("m.nanmax(m.where(m.asarray([True, False, True]), x, m.nan))", A(3)),
    "nanmin": _simple("m.nanmin(m.where(m.asarray([True, False, True]), x, m.nan))", A(3)),
    "nanmean": _simple("m.nanmean(m.where(m.asarray([True, False, True]), x, m.nan), axis=1)", A(2, 3)),
    "nanmedian": _simple("m.nanmedian(m.where(m.asarray([True, False, True]), x, m.nan), axis=1)", A(2, 3)),
    "nanpercentile": _simple(_PARTED.format(name="nanpercentile"), A(3, 4)),
    "nanprod": _simple("m.nanprod(m.where(m.asarray([True, False, True]), x, m.nan), axis=1)", A(2, 3)),
    "nanquantile": _simple("m.nanquantile(m.where(m.asarray([True, False, True, True]), x, m.nan), 0.3, axis=1)", A(2, 4)),
    "nanstd": _simple("m.nanstd(m.where(m.asarray([True, False, True]), x, m.nan), axis=1)", A(2, 3)),
    "nansum": _simple("m.nansum(m.where(m.asarray([True, False, True]), x, m.nan), axis=1)", A(2, 3)),
    "nanvar": _simple("m.nanvar(m.where(m.asarray([True, False, True]), x, m.nan), axis=1, ddof=1)", A(2, 3)),
    "outer": _simple("m.outer(x, y)", A(2), A(3), c=True),
    "percentile": _simple(_PARTED.format(name="percentile"), A(3, 4)) + _simple("m.percentile(x, y * 50, axis=1)", A(3, 4), P(2)),
    "polyadd": _simple("m.polyadd(x, y)", A(3), A(2)),
    "polyder": _simple("m.polyder(x)", A(4)),
    "polyfit": _simple("m.polyfit(x, y, 1)", G(5), A(5), vmap=False, loose=10),
    "polyint": _simple("m.polyint(x)", A(3)),
    "polymul": _simple("m.polymul(x, y)", A(3), A(2), vmap=False),
    "polysub": _simple("m.polysub(x, y)", A(3), A(2)),
    "polyval": _simple("m.polyval(x, y)", A(3), A(2), c=True) + _simple("m.polyval(x, y)", A(257), U(2), jax=False),
    "prod": _simple("m.prod(x, axis=1); m.prod(x)", A(2, 3), c=True) + _simple("m.prod(x * m.asarray([1, 0, 0]))", A(3)),
    "ptp": _simple("m.ptp(x, axis=1)", A(2, 3)),
    "quantile": _simple(_QUANTILED.format(name="quantile"), A(3, 4))
    + _simple("m.quantile(x, 0.4, axis=1, method='inverted_cdf', weights=m.asarray([1.0, 2.0, 1.0]))", A(2, 3), jax=False),
    "roots": _simple("m.sum(m.roots(x) ** 3)", A(4), vmap=False, c=True),
    "sinc": _simple("m.sinc(x)", A(2, 3)) + _simple("m.sinc(x * 0)", A()),
    "std": _simple("m.std(x, axis=1)", A(2, 3), c=True),
    "sum": _simple("m.sum(x, axis=1); m.sum(x, where=m.asarray([True, False, True]))", A(2, 3), c=True) + _simple("m.sum(x)", A(0)),
    "tensordot": _simple("m.tensordot(x, y, ([1, 0], [0, 1]))", A(2, 3, 2), A(3, 2), c=True),
    "trace": _simple("m.trace(x, 1)", A(3, 3), c=True),
    "trapezoid": _simple("m.trapezoid(x, y)", A(4), G(4)) + _simple("m.trapezoid(x, dx=0.5, axis=0)", A(3, 2)),
    "unwrap": _simple("m.unwrap(x * 5)", A(5)),
    "vander": _simple("m.vander(x, 4); m.vander(x, increasing=True)", A(3), c=True),
    "var": _simple("m.var(x, axis=0, ddof=1); m.var(x, where=m.asarray([True, False, True]))", A(2, 3), c=True),
    "vdot": _simple("m.vdot(x, y)", A(3), A(3), c=True),
    "vecdot": _simple("m.vecdot(x, y)", A(2, 3), A(3), c=True),
    "vecmat": _simple("m.vecmat(x, y)", A(2), A(2, 3), c=True),
}

RIGHT: dict[str, list[Case]] = {name: cases for name, cases in {**table_ufuncs.RIGHT, **MOVES, **SETS, **SUMS}.items() if cases}

FLAT: dict[str, Any] = {
    **table_ufuncs.FLAT,
    **{
        name: lambda m, x, name=name: getattr(m, name)(x)
        for name in words(
            """
    all any argmax argmin argsort argwhere around count_nonzero fix flatnonzero iscomplex isneginf isposinf isreal
    nanargmax nanargmin nonzero round iscomplexobj isrealobj isfortran iterable ndim shape size array_repr
    array_str array2string common_type result_type ones_like zeros_like empty_like isscalar
    """
        )
    },
    "allclose": lambda m, x: m.allclose(x, x + 1),
    "argpartition": lambda m, x: m.argpartition(x, 1),
    "array_equal": lambda m, x: m.array_equal(x, x),
    "array_equiv": lambda m, x: m.array_equiv(x, x),
    "digitize": lambda m, x: m.digitize(x, m.asarray([0.0, 1.0])),
    "isclose": lambda m, x: m.isclose(x, 1.0),
    "isin": lambda m, x: m.isin(x, x[:1]),
    "ix_": lambda m, x: m.ix_(x > 0),
    "lexsort": lambda m, x: m.lexsort((x, x)),
    "searchsorted": lambda m, x: m.searchsorted(m.asarray([0.0, 1.0]), x),
    "may_share_memory": lambda m, x: m.may_share_memory(x, x),
    "shares_memory": lambda m, x: m.shares_memory(x, x),
    "packbits": lambda m, x: m.packbits(x > 0),
}

RIGHT |= {
    "asarray_chkfinite": _simple("m.asarray_chkfinite(x) * x", A(3), vmap=False, jax=False),
    "c_": _simple("m.c_[x, y]", A(3), A(3)),
    "geomspace": _simple("m.geomspace(x, y, 4)", P(), P(), vmap=False, jax=False),
    "kaiser": _simple("m.kaiser(5, x)", A(), jax=False),
    "poly": _simple("m.poly(x)", A(3), c=True, jax=False) + _simple("m.poly(x)", A(2, 2), vmap=False, jax=False),
    "polydiv": _simple("m.polydiv(x, y)[0]", A(4), A(2), c=True, vmap=False, jax=False),
    "linspace": _simple("m.linspace(x, y, 4)", A(), A()) + _simple("m.linspace(x, y, 3)", A(2), A(2), c=True),
    "logspace": _simple("m.logspace(x, y, 4)", A(), A(), jax=False),
    "ndenumerate": _simple("[each * 2 for _, each in m.ndenumerate(x)]", A(3), jax=False),
    "poly1d": _simple("m.poly1d(x)(y)", A(3), A(2), vmap=False, jax=False),
    "r_": _simple("m.r_[x, y]", A(3), A(2)),
}

FLAT |= {
    "diag_indices_from": lambda m, x: m.diag_indices_from(x.reshape(2, 2)),
    "tril_indices_from": lambda m, x: m.tril_indices_from(x.reshape(2, 2)),
    "triu_indices_from": lambda m, x: m.triu_indices_from(x.reshape(2, 2)),
    "savetxt": lambda m, x: m.savetxt(os.devnull, x),
    "format_float_positional": lambda m, x: m.format_float_positional(x[0]),
    "format_float_scientific": lambda m, x: m.format_float_scientific(x[0]),
    "broadcast": lambda m, x: m.broadcast(x, x).shape,
    "einsum_path": lambda m, x: m.einsum_path("i,i", x, x),
    "can_cast": lambda m, x: m.can_cast(x.dtype, "float64"),
}

REFUSED: dict[str, Any] = {
    "asnumpy": lambda m, x: m.asnumpy(x),
    "savez_compressed": lambda m, x: m.savez_compressed(io.BytesIO(), x),
    "savez": lambda m, x: m.savez(io.BytesIO(), x),
    "save": lambda m, x: m.save(os.devnull, x),
}

# Names of types and constants, what makes arrays of numbers that are no arrays, settings, and what compiles functions or reads files.
NOTHING: list[str] = words(
    """
    __array_api_version__ __array_namespace_info__ arange bartlett base_repr binary_repr blackman bool bool_
    broadcast_shapes byte cdouble character compile complex128 complex64 complex_ complexfloating ComplexWarning csingle
    load_graph save_graph diag_indices double dtype dtypes e empty errstate euler_gamma eval exceptions explain eye False_ finfo flexible
    float16 float32 float64 float_ floating frombuffer fromfile from_dlpack fromfunction fromiter frompyfunc fromstring
    generic genfromtxt geterr geterrcall get_printoptions half hamming hanning identity iinfo index_exp indices inexact
    inf int16 int32 int64 int8 int_ intc integer intp isdtype issubdtype little_endian load loadtxt long longlong
    mask_indices mgrid min_scalar_type mintypecode nan ndindex newaxis number object_ ogrid ones pi printoptions
    promote_types ravel_multi_index s_ seterr set_printoptions short signedinteger single syncs tri tril_indices
    triu_indices True_ typename ubyte uint uint16 uint32 uint64 uint8 uintc uintp ulong ulonglong unpackbits unravel_index
    unsignedinteger ushort zeros
    """
)

"""The ways of calling what finds, moves and makes elements: positions, joins, shapes, matrices."""

from __future__ import annotations

import numpy as np
from form_arguments import (
    NO_AXES,
    along,
    given,
    like,
    mask,
    mixed,
    number,
    row_of,
    small_naturals,
)
from form_runs import Refused, Row

PLACES = (
    Row("nonzero", ("np.nonzero(a)",)),
    Row("flatnonzero", ("np.flatnonzero(a)",)),
    Row("argwhere", ("np.argwhere(a)",)),
    Row(
        "where",
        ("np.where(m, a, b)", "np.where(a, b, a)", "np.where(m, a, n)", "np.where(m, z, a)", "np.where(m, a, 1)", "np.where(m)"),
        {"m": mask, "b": like(1), "z": mixed, "n": number(1)},
    ),
    Row(
        "take",
        (
            "np.take(a, i)",
            "np.take(a, i, axis={axis})",
            "np.take(a, 0)",
            "np.take(a, -1, axis={axis})",
            "np.take(a, j, mode='wrap')",
            "np.take(a, j, {axis}, mode='clip')",
            "np.take(a, j)",
        ),
        {"i": given(0, -1, 0, dtype=np.int64), "j": given(7, -9, 50, dtype=np.int32)},
        out="np.take(a, i, axis=0)",
        refused=(Refused(r"axis=0.* of \S+ \(\)|, 0, mode.* of \S+ \(\)", "no axis"),),
    ),
    Row(
        "take_along_axis",
        ("np.take_along_axis(a, i, axis={axis})", "np.take_along_axis(a, i)", "np.take_along_axis(a, j, axis=None)"),
        {"i": lambda c: c.laid(np.zeros(c.shape, np.int64) - 1), "j": given(0, -1, dtype=np.int64)},
    ),
    Row(
        "put",
        (
            "(np.put(a, i, b), a.copy())",
            "(np.put(a, j, b, mode='wrap'), a.copy())",
            "(np.put(a, j, n, mode='clip'), a.copy())",
        ),
        {"i": given(0, -1, dtype=np.int64), "j": given(7, -9, 50, dtype=np.int64), "b": row_of(2), "n": number(1)},
        refused=(Refused(r" of \S+ \(\)", "indices for a 0-d"),),
    ),
    Row(
        "put_along_axis",
        ("(np.put_along_axis(a, i, n, {axis}), a.copy())", "(np.put_along_axis(a, i, b, axis={axis}), a.copy())"),
        {"i": lambda c: np.zeros(c.shape, np.int64), "b": like(1), "n": number(1)},
    ),
    Row("place", ("(np.place(a, m, b), a.copy())",), {"m": mask, "b": row_of(3)}),
    Row("extract", ("np.extract(m, a)", "np.extract(a, b)"), {"m": mask, "b": like(1)}),
    Row(
        "compress",
        ("np.compress(m, a)", "np.compress(m, a, axis={axis})"),
        {"m": given(True, dtype=bool)},
        out="np.compress(m, a, axis=0)",
        refused=(NO_AXES,),
    ),
    Row(
        "fill_diagonal",
        (
            "(np.fill_diagonal(a, n), a.copy())",
            "(np.fill_diagonal(a, n, wrap=True), a.copy())",
            "(np.fill_diagonal(a, b), a.copy())",
        ),
        {"n": number(1), "b": row_of(2)},
    ),
    Row(
        "ravel_multi_index",
        (
            "np.ravel_multi_index((a, b), (5, 14))",
            "np.ravel_multi_index((a, b), (5, 4), mode='wrap')",
            "np.ravel_multi_index((a, b), (20, 20), mode='clip', order='F')",
            "np.ravel_multi_index((a, 1), (20, 20), order='F')",
        ),
        {"b": lambda c: small_naturals(c)},
        makes=small_naturals,
    ),
    Row(
        "unravel_index",
        (
            "np.unravel_index(a, (5, 4))",
            "np.unravel_index(a, (2, 3, 4), order='F')",
            "np.unravel_index(a, (3, 1))",
            "np.unravel_index(a, (30,))",
        ),
        makes=small_naturals,
    ),
)


JOINS = (
    Row(
        "concatenate",
        (
            "np.concatenate((a, b))",
            "np.concatenate((a, b, a), axis={axis})",
            "np.concatenate((a, z), axis=None)",
            "np.concatenate([a, z], {axis})",
            "np.concatenate((a, b), dtype=np.complex128)",
        ),
        {"b": like(1), "z": mixed},
        out="np.concatenate((a, z), 0)",
    ),
    Row(
        "stack",
        ("np.stack((a, b))", "np.stack((a, z), axis={axis})", "np.stack([a, b], axis=-1)", "np.stack((a, b), 0, dtype=np.complex128)"),
        {"b": like(1), "z": mixed},
        out="np.stack((a, z))",
    ),
    *(
        Row(name, (f"np.{name}((a, b))", f"np.{name}((a, z, a))"), {"b": like(1), "z": mixed})
        for name in ("hstack", "vstack", "dstack", "column_stack")
    ),
    Row(
        "append",
        ("np.append(a, b)", "np.append(a, z, axis={axis})", "np.append(a, z)", "np.append(a, n)", "np.append(a, 1)"),
        {"b": like(1), "z": mixed, "n": number(1)},
    ),
    Row("array_split", ("np.array_split(a, 3)", "np.array_split(a, 2, axis={axis})", "np.array_split(a, (1, 2), {axis})")),
    Row("split", ("np.split(a, 1)", "np.split(a, 2, axis={axis})", "np.split(a, 3, {axis})", "np.split(a, (1, 2), axis={axis})")),
    *(Row(name, (f"np.{name}(a, 1)", f"np.{name}(a, 2)", f"np.{name}(a, (1, 3))")) for name in ("hsplit", "vsplit", "dsplit")),
    Row(
        "repeat",
        ("np.repeat(a, 2)", "np.repeat(a, 3, axis={axis})", "np.repeat(a, 0)", "np.repeat(a, r, axis=0)", "np.repeat(a, i)"),
        {"r": lambda c: np.arange(c.shape[0] if c.shape else 1), "i": given(2, dtype=np.int64)},
        refused=(Refused("axis=0.* of \\S+ \\(\\)", "no axis"),),
    ),
    Row(
        "tile",
        ("np.tile(a, 2)", "np.tile(a, (2,))", "np.tile(a, (2, 3))", "np.tile(a, (2, 1, 2))", "np.tile(a, 0)", "np.tile(a, (1, 1, 2, 1))"),
    ),
)


SHAPES = (
    Row(
        "roll",
        ("np.roll(a, 1)", "np.roll(a, -2, axis={axis})", "np.roll(a, 100)", "np.roll(a, (1, 2), axis=(0, -1))", "np.roll(a, 1, {axes})"),
    ),
    Row("flip", ("np.flip(a)", "np.flip(a, axis={axis})", "np.flip(a, {axes})", "np.flip(a, 3)")),
    Row("fliplr", ("np.fliplr(a)",)),
    Row("flipud", ("np.flipud(a)",)),
    Row(
        "rot90",
        ("np.rot90(a)", "np.rot90(a, 2)", "np.rot90(a, -1)", "np.rot90(a, k=3, axes=(1, 0))", "np.rot90(a, 1, (-1, 0))", "np.rot90(a, 4)"),
    ),
    Row("transpose", ("np.transpose(a)", "np.transpose(a, {order})", "a.T", "a.transpose()", "np.transpose(a, (0, 0))")),
    Row("matrix_transpose", ("np.matrix_transpose(a)",)),
    Row("swapaxes", ("np.swapaxes(a, 0, -1)", "np.swapaxes(a, 1, {axis})", "a.swapaxes(0, {axis})")),
    Row(
        "moveaxis",
        ("np.moveaxis(a, 0, -1)", "np.moveaxis(a, {axis}, 0)", "np.moveaxis(a, (0, 1), (-1, 0))", "np.moveaxis(a, {axes}, {axes})"),
    ),
    Row("expand_dims", ("np.expand_dims(a, 0)", "np.expand_dims(a, {axis})", "np.expand_dims(a, -1)", "np.expand_dims(a, (0, -1))")),
    Row(
        "squeeze",
        (
            "np.squeeze(a, {axis})",
            "np.squeeze(a, axis={axes})",
            "np.squeeze(a[None], 0)",
            "np.squeeze(a[None], axis=(0,))",
            "np.squeeze(a)",
        ),
        refused=(Refused(r"squeeze\(a\) of \S+ \(\d", "needs the axes"), Refused(r"\(a, 0\) of \S+ \(\)", "no axis")),
    ),
    Row(
        "broadcast_to",
        ("np.broadcast_to(a, a.shape)", "np.broadcast_to(a, (2,) + a.shape)", "np.broadcast_to(a, (3, 4))", "np.broadcast_to(n, (2, 3))"),
        {"n": number(1)},
    ),
    *(Row(f"atleast_{n}d", (f"np.atleast_{n}d(a)", f"np.atleast_{n}d(n)", f"np.atleast_{n}d(a, n)"), {"n": number(1)}) for n in (1, 2, 3)),
)


MATRICES = (
    Row(
        "outer", ("np.outer(a, b)", "np.outer(a, z)", "np.outer(a, n)"), {"b": row_of(3), "z": mixed, "n": number(2)}, out="np.outer(a, b)"
    ),
    Row(
        "inner",
        ("np.inner(a, b)", "np.inner(a, z)", "np.inner(a, v)", "np.inner(a, n)"),
        {"b": like(1), "z": mixed, "v": along(-1), "n": number(2)},
        exact=False,
        products=True,
    ),
    Row(
        "vdot",
        ("np.vdot(a, b)", "np.vdot(a, z)", "np.vdot(b, a)"),
        {"b": like(1), "z": mixed},
        exact=False,
        products=True,
    ),
    Row("kron", ("np.kron(a, b)", "np.kron(a, z)", "np.kron(b, a)", "np.kron(a, n)"), {"b": row_of(2), "z": mixed, "n": number(2)}),
    Row(
        "cross",
        ("np.cross(a, b)", "np.cross(a, b[..., :2])", "np.cross(a, b, axis={axis})", "np.cross(a, v)", "np.cross(a, b, axisc=0)"),
        {"b": lambda c: c.array(1, (*c.shape[:-1], 3) if c.shape else ()), "v": row_of(3)},
        makes=lambda c: c.array(0, (*c.shape[:-1], 3) if c.shape else ()),
        refused=(Refused(r"axis=0\) of \S+ \(2", "length 2 is a number"),),
    ),
    Row(
        "trace",
        (
            "np.trace(a)",
            "np.trace(a, 1)",
            "np.trace(a, offset=-1)",
            "np.trace(a, 0, 1, 0)",
            "np.trace(a, axis1={axis}, axis2=1)",
            "np.trace(a, dtype=np.float64)",
        ),
        out="np.trace(a, 0, 0, 1)",
        exact=False,
        refused=(Refused(r"out=o\) of \S+ \(\d, \d\)", "is a number"),),
    ),
    Row(
        "diag",
        ("np.diag(a)", "np.diag(a, 1)", "np.diag(a, k=-2)", "np.diag(a, 9)"),
        refused=(Refused(r" of \S+ \([34], 4\) (backwards|gaps|broadcast|window)", "contiguous"),),
    ),
    Row("diagflat", ("np.diagflat(a)", "np.diagflat(a, 1)", "np.diagflat(a, k=-1)")),
    Row(
        "diagonal",
        ("np.diagonal(a)", "np.diagonal(a, 1)", "np.diagonal(a, offset=-1)", "np.diagonal(a, 0, {axis}, 1)"),
        refused=(
            Refused(r" of \S+ \([34], 4\) (backwards|gaps|broadcast|window)", "contiguous"),
            Refused(r" of \S+ \(\d, \d, \d\) [^C]", "contiguous"),
        ),
    ),
    Row("tril", ("np.tril(a)", "np.tril(a, 1)", "np.tril(a, k=-1)", "np.tril(a, -9)")),
    Row("triu", ("np.triu(a)", "np.triu(a, 1)", "np.triu(a, k=-1)", "np.triu(a, 9)")),
    Row("vander", ("np.vander(a)", "np.vander(a, 3)", "np.vander(a, N=4, increasing=True)", "np.vander(a, 0)"), ranks=(0, 1, 2)),
    Row(
        "meshgrid",
        (
            "np.meshgrid(a, b)",
            "np.meshgrid(a, b, indexing='ij')",
            "np.meshgrid(a, b, sparse=True)",
            "np.meshgrid(a, b, copy=False)",
            "np.meshgrid(a)",
            "np.meshgrid(a, b, z)",
        ),
        {"b": row_of(3), "z": mixed},
        ranks=(0, 1),
    ),
)


def of_numbers(name: str, *forms: str) -> Row:
    """A function that takes lengths; the dtype `d` is that of the case, written out in its forms."""
    return Row(name, tuple(f"np.{name}({form})" for form in forms), {"n": lambda c: 3}, ranks=(0,))


TYPES = (
    "bool_",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)
OF_TYPES = tuple(f"dtype=np.{name}" for name in TYPES)
MAKERS = (
    of_numbers("eye", "n", "n, 4", "n, k=1", "n, 5, -1", "0", "n, 0", "n, 3, 9", *(f"n, 2, {d}" for d in OF_TYPES)),
    of_numbers("identity", "n", "0", "1", *(f"n, {d}" for d in OF_TYPES)),
    of_numbers("tri", "n", "n, 4", "n, k=1", "n, 5, -1", "0", "n, 0", "n, 3, 9", *(f"n, 2, {d}" for d in OF_TYPES)),
    of_numbers("tril_indices", "n", "n, 1", "n, -1, 5", "0", "n, k=9"),
    of_numbers("triu_indices", "n", "n, 1", "n, -1, 5", "0", "n, k=9"),
    of_numbers("indices", "(n, 2)", "(n,)", "(2, n, 4)", "(0, n)", "(n, 2), sparse=True", *(f"(n, 2), {d}" for d in OF_TYPES[1:])),
)

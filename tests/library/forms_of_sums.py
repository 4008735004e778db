"""The ways of calling what computes: sums and their like, order, neighbours, several arrays together."""

from __future__ import annotations

import numpy as np
from form_arguments import (
    COMPLEX,
    IMAGINARY,
    NO_AXES,
    like,
    mask,
    mixed,
    number,
    row_of,
    small_naturals,
    sorted_row,
    weights,
    weights_along,
)
from form_runs import Case, Differs, Refused, Row


def fold(name: str, *more: str, dtype: str = "", axes: bool = True, refused: tuple[Refused, ...] = (), **rest: object) -> Row:
    """A function that makes one number of all elements, or of those along an axis."""
    forms = [f"np.{name}(a)", f"np.{name}(a, axis={{axis}})", f"np.{name}(a, axis={{axis}}, keepdims=True)", f"np.{name}(a, keepdims=True)"]
    forms += [f"np.{name}(a, axis={{axes}})", f"np.{name}(a, {{axes}}, keepdims=True)"] if axes else []
    forms += [f"np.{name}(a, axis={wrong})" for wrong in ("5", "-4")]
    forms += [f"np.{name}(a, dtype={dtype})", f"np.{name}(a, {{axis}}, dtype={dtype})"] if dtype else []
    refused = (*refused, NO_AXES, IMAGINARY)
    return Row(name, (*forms, *more), out=f"np.{name}(a, axis=0)", refused=refused, **rest)


def masked(name: str, initial: bool) -> tuple[str, ...]:
    start = ", initial=n" if initial else ""
    return (f"np.{name}(a, where=m{start})", f"np.{name}(a, {{axis}}, where=m{start})")


def initial(name: str) -> tuple[str, ...]:
    return f"np.{name}(a, initial=n)", f"np.{name}(a, axis={{axis}}, initial=n)"


MASKED = {"m": mask, "n": number(1)}
DDOF = ("{f}(a, ddof=1)", "{f}(a, {axis}, ddof=1)", "{f}(a, axis={axis}, correction=1)")


def ddof(name: str) -> tuple[str, ...]:
    return tuple(form.replace("{f}", f"np.{name}") for form in DDOF)


# NumPy's own reshape of no elements fails.
NO_ELEMENTS = r"\(0, 2\).*\) of {0}\S+ \(2, 0, 3\)|\(-1, 1\).*\) of {0}\S+ \(0, 3, 2\)"
RESHAPED = Differs(NO_ELEMENTS.format(""), "where NumPy raises")
RESHAPED_REAL = Differs(r"np\.(percentile|quantile).*(" + NO_ELEMENTS.format("(?!bool|complex)") + ")", "where NumPy raises")
REDUCTIONS = (
    fold("sum", *masked("sum", False), *initial("sum"), dtype="np.float64", exact=False, more=MASKED),
    fold("prod", *masked("prod", False), *initial("prod"), dtype="np.float64", exact=False, more=MASKED),
    fold("mean", *masked("mean", False), dtype="np.float64", exact=False, more=MASKED),
    fold("var", *ddof("var"), dtype="np.float64", exact=False),
    fold("std", *ddof("std"), dtype="np.float64", exact=False),
    fold("min", *masked("min", True), *initial("min"), signs=False, more=MASKED, refused=(COMPLEX,)),
    fold("max", *masked("max", True), *initial("max"), signs=False, more=MASKED, refused=(COMPLEX,)),
    fold("any", *masked("any", False), more=MASKED),
    fold("all", *masked("all", False), more=MASKED),
    fold("argmin", axes=False, refused=(COMPLEX,)),
    fold("argmax", axes=False, refused=(COMPLEX,)),
    fold("ptp", signs=False, refused=(COMPLEX,)),
    fold("nansum", dtype="np.float64", exact=False),
    fold("nanprod", dtype="np.float64", exact=False),
    fold("nanmean", dtype="np.float64", exact=False),
    fold("nanvar", *ddof("nanvar"), dtype="np.float64", exact=False),
    fold("nanstd", *ddof("nanstd"), dtype="np.float64", exact=False),
    fold("nanmin", signs=False, refused=(COMPLEX,)),
    fold("nanmax", signs=False, refused=(COMPLEX,)),
    fold("nanargmin", axes=False, refused=(COMPLEX,)),
    fold("nanargmax", axes=False, refused=(COMPLEX,)),
    Row(
        "count_nonzero",
        tuple(f"np.count_nonzero(a{rest})" for rest in ("", ", axis={axis}", ", axis={axes}", ", {axis}, keepdims=True", ", axis=4")),
        refused=(NO_AXES,),
    ),
    fold("median", exact=False, differs=(RESHAPED,)),
    fold("nanmedian", exact=False, refused=(COMPLEX,)),
)


def quantile(name: str, q: str, *, several: tuple[float, ...], more: tuple[Refused, ...] = ()) -> Row:
    methods = ("lower", "higher", "nearest", "midpoint", "hazen", "weibull", "median_unbiased", "inverted_cdf")
    forms = [f"np.{name}(a, {q})", f"np.{name}(a, {q}, axis={{axis}})", f"np.{name}(a, {q}, {{axis}}, keepdims=True)"]
    forms += [f"np.{name}(a, {q}, axis={{axes}})", f"np.{name}(a, q)", f"np.{name}(a, q, axis={{axis}})", f"np.{name}(a, q, keepdims=True)"]
    forms += [f"np.{name}(a, {q}, axis=0, method='{method}')" for method in methods]
    return Row(
        name,
        tuple(forms),
        {"q": lambda c: np.array(several)},
        exact=False,
        out=f"np.{name}(a, {q}, axis=0)",
        refused=(COMPLEX, *more),
        differs=(RESHAPED_REAL,),
    )


EMPTY = r" of {0}\S+ \((0,|\d, 0|\d, \d, 0)"
SEVERAL = (
    Refused(r"\(a, q.*" + EMPTY.format(""), "takes one quantile"),
    Refused(r"method='(lower|higher|nearest|inverted_cdf)'.*" + EMPTY.format("(?!float|complex)"), "takes one quantile"),
)

ORDER = (
    quantile("percentile", "30.0", several=(0.0, 37.5, 100.0)),
    quantile("quantile", "0.3", several=(0.0, 0.375, 1.0)),
    quantile("nanpercentile", "30.0", several=(0.0, 37.5, 100.0), more=SEVERAL),
    quantile("nanquantile", "0.3", several=(0.0, 0.375, 1.0), more=SEVERAL),
    Row(
        "sort",
        ("np.sort(a)", "np.sort(a, axis={axis})", "np.sort(a, axis=None)", "np.sort(a, kind='stable')", "np.sort(a, 5)"),
        signs=False,
    ),
    Row("argsort", ("np.argsort(a, kind='stable')", "np.argsort(a, axis={axis}, kind='stable')", "np.argsort(a, None, kind='stable')")),
    Row(
        "partition",
        ("np.partition(a, 0)[..., :1]", "np.sort(np.partition(a, 0, axis={axis}), axis={axis})", "np.partition(a, -1, axis=None)[-1:]"),
        signs=False,
    ),
    Row("argpartition", ("np.argpartition(a, 0).shape", "np.sort(np.argpartition(a, 0, axis={axis}), axis={axis})")),
    Row(
        "searchsorted",
        ("np.searchsorted(s, a)", "np.searchsorted(s, a, side='right')", "np.searchsorted(s, n)", "np.searchsorted(s, z)"),
        {"s": sorted_row, "n": number(1), "z": mixed},
    ),
    Row("digitize", ("np.digitize(a, s)", "np.digitize(a, s, right=True)", "np.digitize(a, s[::-1])"), {"s": sorted_row}),
    Row(
        "bincount",
        ("np.bincount(a)", "np.bincount(a, w)", "np.bincount(a, weights=w, minlength=9)", "np.bincount(a, minlength=20)"),
        {"w": weights},
        ranks=(0, 1, 2),
        makes=small_naturals,
        # Of no numbers NumPy's sums of weights are integers.
        differs=(Differs(r"\(a, w.* of (?!float|complex)\S+ \(0,\)|weights=.* of (?!float|complex)\S+ \(0,\)", "dtype float64 for int64"),),
    ),
    Row(
        "histogram",
        (
            "np.histogram(a)",
            "np.histogram(a, bins=4)",
            "np.histogram(a, 4, (-2, 3))",
            "np.histogram(a, bins=e)",
            "np.histogram(a, 3, density=True)",
            "np.histogram(a, 3, weights=w)",
            "np.histogram(a, 3, (0.5, 4.5), True, w)",
        ),
        {"e": lambda c: np.array([-3.0, 0.0, 1.5, 4.0]), "w": weights},
        exact=False,
        refused=(COMPLEX,),
    ),
    Row(
        "histogram_bin_edges",
        ("np.histogram_bin_edges(a)", "np.histogram_bin_edges(a, 4)", "np.histogram_bin_edges(a, bins=3, range=(-1, 2))"),
        exact=False,
        refused=(COMPLEX,),
    ),
    Row(
        "unique",
        (
            "np.unique(a)",
            "np.unique(a, return_index=True)",
            "np.unique(a, return_inverse=True)",
            "np.unique(a, return_counts=True)",
            "np.unique(a, True, True, True)",
            "np.unique(a, equal_nan=False)",
            "np.unique(a, axis={axis})",
        ),
        signs=False,
        refused=(Refused(r"axis=0", "along an axis cannot be compiled"), Refused(r"axis=[12-]", "along an axis cannot be compiled")),
    ),
    Row(
        "isin",
        ("np.isin(a, b)", "np.isin(a, z)", "np.isin(a, b, invert=True)", "np.isin(np.unique(a), np.unique(b), assume_unique=True)"),
        {"b": row_of(4), "z": mixed},
    ),
    Row("union1d", ("np.union1d(a, b)", "np.union1d(a, z)"), {"b": like(1), "z": mixed}, signs=False),
    Row(
        "intersect1d",
        ("np.intersect1d(a, b)", "np.intersect1d(a, z)", "np.intersect1d(a, b, return_indices=True)"),
        {"b": like(1), "z": mixed},
        signs=False,
    ),
    Row(
        "setdiff1d",
        ("np.setdiff1d(a, b)", "np.setdiff1d(a, z)", "np.setdiff1d(np.unique(a), np.unique(b), assume_unique=True)"),
        {"b": like(1), "z": mixed},
        signs=False,
    ),
    Row("setxor1d", ("np.setxor1d(a, b)", "np.setxor1d(a, z)"), {"b": like(1), "z": mixed}, signs=False),
)


NEIGHBOURS = (
    Row(
        "clip",
        (
            "np.clip(a, n, k)",
            "np.clip(a, 1, 3)",
            "np.clip(a, b, None)",
            "np.clip(a, None, n)",
            "np.clip(a, b, z)",
            "np.clip(a, a_min=n, a_max=k)",
            "a.clip(n, k)",
            "a.clip(max=k)",
            "a.clip(n, None, a.copy())",
        ),
        {"n": number(1), "k": number(3), "b": like(1), "z": mixed},
        signs=False,
        out="np.clip(a, n, k)",
    ),
    Row(
        "cumsum",
        (
            "np.cumsum(a)",
            "np.cumsum(a, axis={axis})",
            "np.cumsum(a, {axis}, dtype=np.float64)",
            "np.cumsum(a, dtype=np.int8)",
            "np.cumsum(a, 4)",
        ),
        out="np.cumsum(a, axis=0)",
        refused=(NO_AXES, IMAGINARY),
    ),
    Row(
        "cumprod",
        (
            "np.cumprod(a)",
            "np.cumprod(a, axis={axis})",
            "np.cumprod(a, {axis}, dtype=np.float64)",
            "np.cumprod(a, dtype=np.int8)",
            "np.cumprod(a, 4)",
        ),
        out="np.cumprod(a, axis=0)",
        refused=(NO_AXES, IMAGINARY),
    ),
    Row(
        "nancumsum",
        ("np.nancumsum(a)", "np.nancumsum(a, axis={axis})", "np.nancumsum(a, {axis}, dtype=np.float64)"),
        out="np.nancumsum(a, axis=0)",
        refused=(NO_AXES, IMAGINARY),
    ),
    Row(
        "nancumprod",
        ("np.nancumprod(a)", "np.nancumprod(a, axis={axis})", "np.nancumprod(a, {axis}, dtype=np.float64)"),
        out="np.nancumprod(a, axis=0)",
        refused=(NO_AXES, IMAGINARY),
    ),
    Row(
        "diff",
        (
            "np.diff(a)",
            "np.diff(a, axis={axis})",
            "np.diff(a, 2, {axis})",
            "np.diff(a, n=0)",
            "np.diff(a, prepend=n)",
            "np.diff(a, axis={axis}, append=b)",
        ),
        {"b": like(1), "n": number(1)},
    ),
    Row("ediff1d", ("np.ediff1d(a)", "np.ediff1d(a, to_end=n)", "np.ediff1d(a, to_begin=b, to_end=b)"), {"n": number(1), "b": row_of(2)}),
    Row(
        "gradient",
        (
            "np.gradient(a)",
            "np.gradient(a, axis={axis})",
            "np.gradient(a, 2.0)",
            "np.gradient(a, x, axis=0)",
            "np.gradient(a, edge_order=2)",
            "np.gradient(a, axis={axes})",
        ),
        {"x": lambda c: np.arange(c.shape[0] if c.shape else 1) ** 2 * 0.5},
        exact=False,
    ),
    Row(
        "trapezoid",
        (
            "np.trapezoid(a)",
            "np.trapezoid(a, axis={axis})",
            "np.trapezoid(a, dx=0.5)",
            "np.trapezoid(a, x, axis=-1)",
            "np.trapezoid(a, b, axis={axis})",
        ),
        {"x": lambda c: np.arange(c.shape[-1] if c.shape else 1) ** 2 * 0.5, "b": like(1)},
        exact=False,
    ),
    Row("unwrap", ("np.unwrap(a)", "np.unwrap(a, axis={axis})", "np.unwrap(a, period=4)", "np.unwrap(a, 2.0)"), exact=False),
    Row(
        "interp",
        ("np.interp(a, x, y)", "np.interp(a, x, y, left=-1.0, right=9.0)", "np.interp(a, x, y, period=3.5)", "np.interp(n, x, y)"),
        {"x": lambda c: c.laid(np.arange(5) / 2), "y": row_of(5), "n": number(1)},
        exact=False,
        refused=(Refused(r"(period|\(n).* of complex", "real numbers"),),
    ),
    *(
        Row(
            name,
            (
                f"np.{name}(a, b)",
                f"np.{name}(a, b, 'same')",
                f"np.{name}(a, b, mode='valid')",
                f"np.{name}(b, a, 'full')",
                f"np.{name}(a, z, 'full')",
            ),
            {"b": row_of(3), "z": lambda c: mixed(Case(c.dtype, (4,), c.layout))},
            ranks=(0, 1, 2),
            exact=False,
            products=True,
        )
        for name in ("convolve", "correlate")
    ),
)


COVARIANCE = (
    IMAGINARY,
    Refused(r" of \S+ \(\)", "one or two axes"),
    # One variable makes a number in NumPy, and lengths are known at run time.
    Refused(r"\(a(, \w+=.*)?\) of \S+ \(1, 1\)", "one variable in a 2-d array"),
)


TOGETHER = (
    Row(
        "average",
        (
            "np.average(a)",
            "np.average(a, axis={axis})",
            "np.average(a, axis={axes})",
            "np.average(a, weights=w)",
            "np.average(a, {axis}, w)",
            "np.average(a, 0, v)",
            "np.average(a, {axis}, w, returned=True)",
            "np.average(a, axis={axis}, keepdims=True)",
        ),
        {"w": weights, "v": weights_along(0)},
        exact=False,
    ),
    Row(
        "cov",
        (
            "np.cov(a)",
            "np.cov(a, b)",
            "np.cov(a, rowvar=False)",
            "np.cov(a, bias=True)",
            "np.cov(a, ddof=0)",
            "np.cov(a, aweights=v)",
            "np.cov(a, dtype=np.float64)",
        ),
        {"b": like(1), "v": weights_along(-1)},
        exact=False,
        refused=COVARIANCE,
    ),
    Row(
        "corrcoef", ("np.corrcoef(a)", "np.corrcoef(a, b)", "np.corrcoef(a, rowvar=False)"), {"b": like(1)}, exact=False, refused=COVARIANCE
    ),
    Row(
        "isclose",
        (
            "np.isclose(a, b)",
            "np.isclose(a, z)",
            "np.isclose(a, b, rtol=0.1, atol=0.3)",
            "np.isclose(a, n)",
            "np.isclose(a, a, equal_nan=True)",
            "np.isclose(a, z, 0.1, 0.3, m.any())",
        ),
        {"b": like(1), "z": mixed, "n": number(1), "m": mask},
    ),
    Row(
        "allclose",
        (
            "np.allclose(a, b)",
            "np.allclose(a, a)",
            "np.allclose(a, z)",
            "np.allclose(a, b, 9.0, atol=9.0)",
            "np.allclose(a, a, equal_nan=True)",
            "np.allclose(a, n)",
        ),
        {"b": like(1), "z": mixed, "n": number(1)},
    ),
    Row(
        "array_equal",
        (
            "np.array_equal(a, b)",
            "np.array_equal(a, a)",
            "np.array_equal(a, z)",
            "np.array_equal(a, a, equal_nan=True)",
            "np.array_equal(a, n)",
        ),
        {"b": like(1), "z": mixed, "n": number(1)},
    ),
    Row(
        "array_equiv",
        ("np.array_equiv(a, b)", "np.array_equiv(a, a)", "np.array_equiv(a, a[None])", "np.array_equiv(a, n)"),
        {"b": like(1), "n": number(1)},
    ),
)

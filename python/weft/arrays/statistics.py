"""Averages, order statistics, covariances and histograms."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from weft._weft import _cast, _fold, _followed, _from_numpy, _full, _order_of_copy, _reshape, _to_numpy, ndarray
from weft.errors import GradientError
from weft.gradients.primitives import primitive, unseen
from weft.kernels.launching import fits, launched, on_a_device

from . import _compiled
from ._common import (
    MISSING,
    array_of,
    as_device,
    as_dtype,
    axes_of,
    beside,
    checked_out,
    flat,
    given,
    in_order,
    is_half,
    is_inexact,
    out_of_order,
    refuse,
    result_dtype,
    stretched,
    u,
)
from .joining import concatenate
from .reductions import kept_shape
from .reductions import mean as _mean
from .reductions import sum as _sum
from .shapes import moveaxis, transpose

_METHODS = (
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull", "linear",
    "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest",
)  # fmt: skip


def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = MISSING) -> Any:
    """The mean, each element counted as its weight says; with `returned=True` also the sum of the weights.

    Weights have the shape of the array, or that of the axes named. ZeroDivisionError where they sum to zero, for which the sum is
    read.

    >>> weft.average(weft.asarray([1.0, 2.0, 6.0]), weights=weft.asarray([3, 1, 1]))
    array(2.2)
    """
    a = beside(a, weights)
    axes = axes_of(axis, a.ndim)
    if weights is None:
        found = _mean(a, axes, keepdims=keepdims)
        if not returned:
            return found
        return found, _full(found.shape, a.size / found.size, found.dtype, found.device)
    weights = _weights(a, beside(weights, a), axis, axes)
    dtype = result_dtype(a, weights) if is_inexact(a.dtype) else result_dtype(a, weights, np.dtype(np.float64))
    total = _sum(weights, axes, dtype, keepdims=keepdims)
    is_zero = _fold("logical_or", u("equal", total, 0), tuple(range(total.ndim)))
    total = _compiled.unless(is_zero, ZeroDivisionError("Weights sum to zero, can't be normalized"), total)
    found = u("true_divide", _sum(u("multiply", a, weights, dtype=dtype), axes, keepdims=keepdims), total)
    return (found, total) if returned else found


def _weights(a: ndarray, weights: ndarray, axis: Any, axes: tuple[int, ...]) -> ndarray:
    """Weights in the shape of an array."""
    if weights.shape == a.shape:
        return weights
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    if weights.shape != tuple(a.shape[i] for i in axes):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    # Their axes stand in the order in which the axes are named.
    order = sorted(range(len(axes)), key=axes.__getitem__)
    turned = transpose(weights, tuple(order))
    return stretched(turned[tuple(slice(None) if i in axes else None for i in range(a.ndim))], a.shape)


def rows_of(a: ndarray, axes: tuple[int, ...]) -> ndarray:
    """The array with axes together as the last one."""
    rest = [i for i in range(a.ndim) if i not in axes]
    turned = moveaxis(a, tuple(axes), tuple(range(len(rest), a.ndim)))
    count = 1
    for i in axes:
        count *= a.shape[i]
    return _reshape(turned, (*(a.shape[i] for i in rest), count))


def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> ndarray:
    """The element in the middle of the sorted ones, or the mean of the two that are: of all, or along axes. Computed at once.

    >>> weft.median(weft.asarray([3.0, 1.0, 2.0, 9.0]))
    array(2.5)
    """
    return middle("median", a, axis, out, keepdims)


def middle(function: str, a: Any, axis: Any, out: Any, keepdims: bool) -> ndarray:
    """The median of rows, by one function or another."""
    a = array_of(a)
    checked_out(out)
    axes = axes_of(axis, a.ndim)
    if a.size == 0:
        return given(_of_nothing(function, a, axis=axis, keepdims=keepdims), out)
    return given(_reshape(middles(function, rows_of(a, axes)), kept_shape(a, axes, keepdims)), out)


@primitive(rules="statistics")
def middles(function: str, rows: ndarray) -> ndarray:
    """The median of each row, by one function or another."""
    if on_a_device(rows) and fits(rows) and rows.dtype.kind != "c":
        return _middle_there(function, rows)
    order = _order_of_copy(rows)
    rest = None if order is None else tuple(axis for axis in order if axis < rows.ndim - 1)
    found = _compiled.call(f"np.{function}(a, -1)", a=in_order(rows, None if rest is None else (*rest, len(rest))))
    return out_of_order(found, rest)


def _of_nothing(function: str, a: ndarray, *values: Any, **keywords: Any) -> ndarray:
    """What NumPy gives for an array of this shape, which has no elements: its results, its warnings and its errors."""
    kind = np.dtype(np.float32) if a.dtype.kind == "V" else a.dtype
    made = np.asarray(getattr(np, function)(np.empty(a.shape, kind), *values, **keywords))
    found = _from_numpy(made, a.device)
    return found if kind == a.dtype or made.dtype != kind else _cast(found, a.dtype)


def _middle_there(function: str, rows: ndarray) -> ndarray:
    """The median of rows on another device than the CPU."""
    from weft.kernels.quantiles import medians, nanmedians

    return launched(nanmedians if function == "nanmedian" and is_inexact(rows.dtype) else medians, rows)


def percentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> ndarray:
    """What `q` percent of the elements are smaller than; between two elements what the method says. Computed at once.

    >>> weft.percentile(weft.asarray([10.0, 7.0, 4.0]), 25)
    array(5.5)
    """
    return parted("percentile", a, q, axis, out, method, keepdims, weights)


def quantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> ndarray:
    """What a part `q` of the elements, 0.5 for half of them, are smaller than; between two elements what the method says. Computed at
    once.

    >>> weft.quantile(weft.asarray([10.0, 7.0, 4.0]), 0.25)
    array(5.5)
    """
    return parted("quantile", a, q, axis, out, method, keepdims, weights)


def parted(function: str, a: Any, q: Any, axis: Any, out: Any, method: str, keepdims: bool, weights: Any) -> ndarray:
    """Quantiles of rows, by one function or another."""
    a = beside(a, q, weights)
    checked_out(out)
    if a.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    if method not in _METHODS:
        raise ValueError(f"{method!r} is not a valid method. Use one of: {set(_METHODS)}")
    if weights is not None and (method != "inverted_cdf" or function.startswith("nan")):
        if function.startswith("nan"):
            raise refuse(function, "weights are not available")
        raise ValueError(f"Only method 'inverted_cdf' supports weights. Got: {method}.")
    # Numbers of the host are looked at there, wherever the array is.
    q = q if type(q) in (int, float) or isinstance(q, ndarray) else array_of(q, device=as_device("cpu"))
    if a.size == 0:
        more = {} if weights is None else {"weights": _to_numpy(array_of(weights))}
        host = _to_numpy(q) if isinstance(q, ndarray) else q
        return given(_of_nothing(function, a, host, axis=axis, method=method, keepdims=keepdims, **more), out)
    if type(q) is int or (type(q) is not float and q.dtype.kind in "iu"):
        # 0 and 1 are an element, not a place between two.
        method = "lower" if method == "linear" and function.endswith("quantile") else method
    part = float(q) if type(q) in (int, float) else q
    if isinstance(part, ndarray):
        if part.dtype.kind not in "iuf" and not is_half(part.dtype):
            raise TypeError("q must be an array of real numbers")
        if part.ndim > 2:
            raise ValueError("q must be a scalar or 1d")
        part = part if part.dtype.kind == "f" and part.dtype.itemsize > 2 else _cast(part, np.dtype(np.float64))
    if a.dtype.kind == "b":
        _check_parts(function, _to_numpy(part) if isinstance(part, ndarray) else part)
    axes = axes_of(axis, a.ndim)
    rows = rows_of(a, axes)
    if weights is not None:
        weights = rows_of(_weights(a, beside(weights, a), axis, axes), axes)
    each = flat(part) if isinstance(part, ndarray) and part.ndim else part
    if method != "linear" and _followed(each):
        raise GradientError(f"{function} has no gradient of q with method={method!r}: of all methods 'linear' has one")
    found = parts(function, rows, each, method, weights)
    shape = part.shape if isinstance(part, ndarray) else ()
    return given(_reshape(found, (*shape, *kept_shape(a, axes, keepdims))), out)


@primitive(rules="statistics")
def parts(function: str, rows: ndarray, each: Any, method: str, weights: ndarray | None) -> ndarray:
    """What a part, or each of a row of them, of every row's elements are smaller than."""
    if weights is None and _is_sorted_there(rows, method):
        from weft.kernels.quantiles import nanquantiles, quantiles

        work = nanquantiles if function.startswith("nan") and is_inexact(rows.dtype) else quantiles
        return launched(work, rows, each, method, 100 if function.endswith("percentile") else 1)
    words = f", method={method!r}" + (", weights=w" if weights is not None else "")
    return _compiled.call(f"np.{function}(a, q, -1{words})", a=rows, q=each, w=weights)


def _check_parts(function: str, part: Any) -> None:
    """Parts are looked at before bools, between which most methods find nothing."""
    most = 100 if function.endswith("percentile") else 1
    if not np.all((part >= 0) & (part <= np.float64(most))):
        raise ValueError(f"{'Percentiles' if most == 100 else 'Quantiles'} must be in the range [0, {most}]")


def _is_sorted_there(rows: ndarray, method: str) -> bool:
    """Whether quantiles are computed on another device than the CPU. Between bools, if the method asks for that, there is nothing."""
    if not on_a_device(rows) or not fits(rows) or not rows.size or not rows.device.float64:
        return False
    from weft.kernels.quantiles import DISCRETE

    return rows.dtype.kind != "b" or method in DISCRETE


def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> ndarray:
    """How variables vary together: a matrix, each row of `m` and `y` being a variable, or each column with `rowvar=False`; a number for
    a single one. Computed at once.

    >>> weft.cov(weft.asarray([1.0, 2.0, 3.0]), weft.asarray([1.0, 3.0, 5.0]))
    array([[1., 2.],
           [2., 4.]])
    """
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    variables = _variables(m, y, rowvar, dtype, fweights, aweights)
    extra: dict[str, Any] = {}
    for name, weights in (("fweights", fweights), ("aweights", aweights)):
        if weights is not None:
            extra[name] = _sample_weights(name, beside(weights, variables), variables.shape[1])
    less = int(ddof) if ddof is not None else 0 if bias else 1
    found = covariances(variables, less, dtype, extra.get("fweights"), extra.get("aweights"))
    return _reshape(found, ()) if variables.shape[0] == 1 else found


@primitive(rules="statistics")
def covariances(variables: ndarray, less: int, dtype: Any, fweights: ndarray | None, aweights: ndarray | None) -> ndarray:
    """What `cov` gives of variables in rows."""
    extra = {name: each for name, each in (("fweights", fweights), ("aweights", aweights)) if each is not None}
    words = "".join(f", {name}={name}" for name in extra) + _asked(dtype)
    return _compiled.call(f"np.cov(m, ddof=less{words})", m=_alone(variables), less=less, **extra)


def _asked(dtype: Any) -> str:
    """The dtype that is asked for, as an argument."""
    return "" if dtype is None else f", dtype={_compiled.literal(as_dtype(dtype))}"


def _alone(variables: ndarray) -> ndarray:
    """Variables as compiled code takes them: one as a row."""
    return variables[0] if variables.shape[0] == 1 else variables


def _variables(m: Any, y: Any, rowvar: bool, dtype: Any, *others: Any) -> ndarray:
    """The rows of one or two arrays, each a variable."""
    given = [each for each in (m, y) if each is not None]
    parts = [beside(each, *given, *others) for each in given]
    for name, part in zip("my", parts):
        if part.ndim > 2:
            raise ValueError(f"{name} has more than 2 dimensions")
    kind = result_dtype(*parts, np.dtype(np.float64)) if dtype is None else as_dtype(dtype)
    rows = []
    for part in parts:
        part = _reshape(part, (1, part.size)) if part.ndim < 2 else part if rowvar else part.T
        rows.append(part if part.dtype == kind else _cast(part, kind))
    return concatenate(rows, 0) if len(rows) > 1 else rows[0]


def _sample_weights(name: str, weights: ndarray, n: int) -> ndarray:
    if weights.ndim > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if weights.shape[0] != n:
        raise RuntimeError(f"incompatible numbers of samples and {name}")
    host = unseen(_to_numpy, weights)
    if name == "fweights" and not np.all(host == np.around(host)):
        raise TypeError("fweights must be integer")
    if (host < 0).any():
        raise ValueError(f"{name} cannot be negative")
    return _cast(weights, np.dtype(np.int64)) if name == "fweights" else weights


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> ndarray:
    """The correlations of variables, which are given as to `cov`. Computed at once.

    >>> weft.corrcoef(weft.asarray([1.0, 2.0, 3.0]), weft.asarray([1.0, 3.0, 5.0]))
    array([[1., 1.],
           [1., 1.]])
    """
    variables = _variables(x, y, rowvar, dtype)
    found = correlations(variables, dtype)
    return _reshape(found, ()) if variables.shape[0] == 1 else found


@primitive(rules="statistics")
def correlations(variables: ndarray, dtype: Any) -> ndarray:
    """What `corrcoef` gives of variables in rows."""
    return _compiled.call(f"np.corrcoef(m{_asked(dtype)})", m=_alone(variables))


def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> ndarray:
    """How often each of the numbers 0, 1, 2, … is there, or the sums of the weights that stand beside them. Computed at once.

    >>> weft.bincount(weft.asarray([0, 1, 1, 3]))
    array([1, 2, 0, 1])
    """
    row = beside(x, weights)
    if row.ndim != 1:
        raise ValueError("object too deep for desired array" if row.ndim else "object of too small depth for desired array")
    if row.size == 0 and not isinstance(x, ndarray):
        row = _cast(row, np.dtype(np.int64))
    if row.dtype.kind not in "biu":
        raise TypeError(f"Cannot cast array data from {row.dtype!r} to dtype('int64') according to the rule 'safe'")
    if row.dtype == np.uint64:
        # As NumPy, which finds the greatest of them to be negative.
        row = _cast(row, np.dtype(np.int64))
    minlength = operator.index(minlength)
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    if weights is None or not row.size:
        # Of no numbers NumPy gives counts, whatever the weights are.
        return sums_of_numbers(row, None, minlength)
    weights = beside(weights, row)
    if weights.dtype.kind == "c" or weights.shape != row.shape:
        raise _weights_refused(row, weights)
    return sums_of_numbers(row, _cast(weights, np.dtype(np.float64)), minlength)


@primitive(rules="statistics", shaped_by=0)
def sums_of_numbers(row: ndarray, weights: ndarray | None, minlength: int) -> ndarray:
    """What `bincount` gives of a row of numbers, and weights of float64."""
    if on_a_device(row) and fits(row):
        return _counted(row, weights, minlength)
    words = "None" if weights is None else "w"
    return _compiled.call(f"np.bincount(x, {words}, n)", x=row, w=weights, n=minlength)


def _weights_refused(row: ndarray, weights: ndarray) -> Exception:
    """What NumPy's `bincount` says to weights that it does not take: it has looked at the numbers before."""
    if row.dtype.kind == "i" and _to_numpy(row).min() < 0:
        return ValueError("'list' argument must have no negative elements")
    if weights.dtype.kind == "c":
        return TypeError(f"Cannot cast array data from {weights.dtype!r} to dtype('float64') according to the rule 'safe'")
    return ValueError("The weights and list don't have the same length.")


def _counted(row: ndarray, weights: ndarray | None, minlength: int) -> ndarray:
    """`bincount` on another device than the CPU."""
    from weft.kernels.counting import counted

    return launched(counted, row, weights, minlength, keeps_shape=False)


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> ndarray:
    """The edges of the bins that `histogram` counts in. Computed at once.

    >>> weft.histogram_bin_edges(weft.asarray([0, 4]), bins=4)
    array([0., 1., 2., 3., 4.])
    """
    a, words, arguments = _binned("histogram_bin_edges", a, bins, range, weights)
    if _followed(a, arguments):
        from weft.gradients.rules.statistics import edges_of as edges

        return edges(a, arguments)
    if _counts_there(a, arguments):
        from weft.kernels.counting import edges_of

        return array_of(edges_of(a, arguments["bins"], arguments.get("low"), arguments.get("high")), device=a.device)
    return _compiled.call(f"np.histogram_bin_edges(a{words})", a=a, **arguments)


def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> tuple[ndarray, ndarray]:
    """How many elements lie in each bin, and the edges of the bins: so many of one width, or those given. The last edge belongs to the
    last bin. With weights their sums are counted, with `density=True` the area is 1. Computed at once.

    A name is that of a rule for the number of bins: NumPy's ("auto", "fd", "sturges", …), which are asked how many there are.

    >>> weft.histogram(weft.asarray([1, 2, 1]), bins=weft.asarray([0, 1, 2, 3]))
    (array([0, 2, 1]), array([0, 1, 2, 3]))
    """
    a, words, arguments = _binned("histogram", a, bins, range, weights)
    return counted(a, arguments, words, bool(density))


@primitive(rules="statistics")
def counted(a: ndarray, arguments: dict[str, Any], words: str, density: bool) -> tuple[ndarray, ndarray]:
    """What `histogram` gives of a row, by arguments and the text that has them."""
    if _counts_there(a, arguments):
        from weft.kernels.counting import histogram

        return launched(histogram, a, *(arguments.get(name) for name in ("bins", "low", "high", "weights")), density)
    return _compiled.call(f"np.histogram(a{words}, density={density})", a=a, **arguments)


def _counts_there(a: ndarray, arguments: dict[str, Any]) -> bool:
    """Whether a histogram is counted on another device than the CPU. NumPy makes no edges for bfloat16, nor sums of bools."""
    weights = arguments.get("weights")
    return on_a_device(a) and fits(a) and a.dtype.kind != "V" and (weights is None or weights.dtype.kind not in "bV")


def _binned(function: str, a: Any, bins: Any, ends: Any, weights: Any) -> tuple[ndarray, str, dict[str, Any]]:
    """The array as a row, and the other arguments as text and values."""
    a = beside(a, bins, weights)
    if a.dtype.kind == "c":
        raise TypeError("histograms are made of real numbers")
    if isinstance(bins, str):
        if weights is not None:
            raise TypeError("Automated estimation of the number of bins is not supported for weighted data")
        bins = len(np.histogram_bin_edges(_to_numpy(a), bins, ends)) - 1
    arguments: dict[str, Any] = {}
    if isinstance(bins, (int, np.integer)):
        arguments["bins"] = int(bins)
        if bins < 1:
            raise ValueError("`bins` must be positive, when an integer")
    else:
        edges = beside(bins, a)
        if edges.ndim == 0:
            raise TypeError("`bins` must be an integer, a string, or an array")
        if edges.ndim != 1:
            raise ValueError("`bins` must be 1d, when an array")
        arguments["bins"] = edges
    words = ", bins=bins"
    if ends is not None and isinstance(arguments["bins"], int):
        first, last = ends
        if first > last:
            raise ValueError("max must be larger than min in range parameter.")
        if not (np.isfinite(first) and np.isfinite(last)):
            raise ValueError(f"supplied range of [{first}, {last}] is not finite")
        # Ends that have a dtype take part in that of the edges.
        strong = [x for x in (first, last) if isinstance(x, (ndarray, np.generic))]
        if strong and is_inexact(found := result_dtype(a, *strong)):
            a = _cast(a, found)
        arguments["low"], arguments["high"] = float(first), float(last)
        words += ", range=(low, high)"
    if weights is not None:
        weights = beside(weights, a)
        if weights.shape != a.shape:
            raise ValueError("weights should have the same shape as a.")
        arguments["weights"] = flat(weights)
        words += ", weights=weights"
    return flat(a), words, arguments

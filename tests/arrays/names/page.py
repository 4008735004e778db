"""`docs/names.md`: every name of NumPy's main namespace, of `jax.numpy` and of Weft's, made of what there is.

``python -m arrays.names.page`` in `tests` writes the page anew; `test_names.py` fails where it does not say what is so. Whether a function
only records is read from the stars of `docs/namespace.md`, which are tested; what NumPy's functions take and Weft's do not is asked of
both; what else differs stands in `DIFFERENCES`. The lists of names are of the versions that they name.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import numpy as np

import weft
from weft.arrays import NAMES, _absent
from weft.arrays.ufuncs import UFUNCS

HERE = Path(__file__).resolve().parent
DOCS = HERE.parents[2] / "docs"
PAGE = DOCS / "names.md"
MADE_WITH = "2.4"
"""The NumPy whose signatures the page compares with."""

RECORDED, AT_ONCE, ON_HOST, TOLD, NUMPYS = "recorded", "at once", "on the host", "no elements", "NumPy's own"
DEVICES = {RECORDED: "all", AT_ONCE: "CPU", ON_HOST: "—", TOLD: "—", NUMPYS: "—"}


def words(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


HOST_FUNCTIONS = words("""
    array2string array_repr array_str base_repr binary_repr format_float_positional format_float_scientific fromfile fromiter frombuffer
    fromstring genfromtxt load loadtxt poly poly1d polydiv polymul save savetxt savez savez_compressed
""")
"""What NumPy or Python computes, or reads and writes, in the host's memory."""

TELL = words("""
    asnumpy broadcast_shapes can_cast common_type compile current_device device devices dtype errstate eval explain finfo
    from_dlpack geterr geterrcall iinfo iscomplexobj isdtype isfortran isrealobj isscalar issubdtype iterable jit
    may_share_memory min_scalar_type ndarray ndim ndindex njit polynomial prange profile promote_types result_type seterr
    shape shares_memory size syncs ufunc vectorize __array_api_version__ __array_namespace_info__
""")
"""What has to do with no elements, or only hands them on."""

OF_WEFT = words("asnumpy bfloat16 compile current_device device devices eval explain jit njit polynomial prange profile syncs topk")
"""Names of Weft's own that the page has beside NumPy's and JAX's."""

ON_DEVICES = words("""
    argpartition argsort argwhere bincount compress cumprod cumsum cumulative_prod cumulative_sum digitize dot einsum extract
    flatnonzero histogram histogram2d histogram_bin_edges histogramdd inner intersect1d interp isin lexsort mask_indices matmul matvec
    median nancumprod nancumsum nanmedian nanpercentile nanquantile nonzero partition percentile place put put_along_axis quantile
    ravel_multi_index searchsorted setdiff1d setxor1d sort sort_complex take take_along_axis tensordot topk tril_indices
    tril_indices_from triu_indices triu_indices_from union1d unique unique_all unique_counts unique_inverse unique_values
    unravel_index vecmat
""")
"""What is computed at once, by kernels of Weft's own where the arrays are not on the CPU."""

ORDER = "sorting is stable whatever is asked for"
DIFFERENCES: dict[str, str] = {
    "argsort": ORDER, "sort": ORDER, "sort_complex": ORDER,
    "all": "an array without axes where NumPy has a scalar, as all folds",
    "apply_along_axis": "calls the function for each row: `weft.vectorize` and array expressions are much faster",
    "asarray": "`copy=False` is refused for all that is no weft array: it is copied",
    "astype": "NaN and what is out of range become what C gives, without a warning",
    "broadcast": "elements are arrays without axes",
    "bfloat16": "that of the package `ml_dtypes`",
    "complex_": "JAX's name for complex128", "float_": "JAX's name for float64",
    "delete": "elements that lie far apart are computed at once",
    "empty": "zeros", "empty_like": "zeros",
    "errstate": "takes \"ignore\" only, which is what Weft does", "seterr": "takes \"ignore\" only, which is what Weft does",
    "frompyfunc": "the function is compiled: results have its dtypes, not objects; no `reduce` and its like",
    "genfromtxt": "no records: columns have no names",
    "histogram": "names of rules for bins are asked of NumPy",
    "histogram_bin_edges": "names of rules for bins are asked of NumPy",
    "i0": "Weft's own, within 2 units in the last place",
    "load": "no `mmap_mode`",
    "max": "of complex numbers: at once", "min": "of complex numbers: at once",
    "nanquantile": "no `weights`", "nanpercentile": "no `weights`",
    "ndarray": "made by functions: `ndarray(…)` makes none",
    "ndenumerate": "elements are arrays without axes",
    "object_": "for `issubdtype`: there are no arrays of objects",
    "pad": "no `reflect_type=\"odd\"`",
    "dot": "of two vectors: recorded", "inner": "of two vectors: recorded", "tensordot": "of two vectors: recorded",
    "polydiv": "coefficients are read", "polymul": "coefficients are read", "poly": "coefficients are read",
    "poly1d": "values are recorded; `numpy.sin(p)` and its like are refused",
    "polyfit": "by `weft.linalg.lstsq`", "roots": "by `weft.linalg.eigvals`",
    "quantile": "on devices by the host with `weights`",
    "repeat": "with a number for each element: at once",
    "save": "bfloat16 is refused", "savez": "bfloat16 is refused", "savez_compressed": "bfloat16 is refused",
    "topk": "as `torch.topk` and `jax.lax.top_k`: values and indices, NaN above all numbers",
    "unique_values": "in sorted order",
    "vectorize": "compiles, as `numba.vectorize` does",
}  # fmt: skip


def listed(name: str) -> list[str]:
    """The names of a list."""
    return [line for line in (HERE / name).read_text().splitlines() if not line.startswith("#")]


def starred() -> dict[str, bool]:
    """The functions of `docs/namespace.md`, and whether they are computed at once."""
    table = "\n".join(line for line in (DOCS / "namespace.md").read_text().splitlines() if line.startswith("|"))
    return {name: bool(star) for name, star in re.findall(r"`(\w+)`(\\\*)?", table)}


def how(name: str) -> str:
    """When a name is computed, and by what."""
    if name in HOST_FUNCTIONS:
        return ON_HOST
    if name in TELL:
        return TOLD
    if name in NAMES and NAMES[name][0] in ("numpys", "dtypes") and name != "astype":
        return NUMPYS
    if getattr(weft, name) in UFUNCS.values():
        return RECORDED
    if name in STARRED:
        return AT_ONCE if STARRED[name] else RECORDED
    return TOLD


STARRED = starred()


def parameters(function: Any) -> dict[str, Any] | None:
    """What a function takes; None where it does not say."""
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return None


def of_signatures(name: str) -> list[str]:
    """What NumPy's function takes and Weft's does not, and the other way round."""
    theirs, ours = getattr(np, name, None), getattr(weft, name)
    if theirs is None or theirs is ours or not callable(theirs) or isinstance(theirs, (type, np.ufunc)):
        return []
    wanted, found = parameters(theirs), parameters(ours)
    if wanted is None or found is None:
        return []
    lists = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    passed_on = any(each.kind == inspect.Parameter.VAR_KEYWORD for each in found.values())
    lacks = [each for each in wanted if each not in found and wanted[each].kind not in lists and not passed_on]
    has = [each for each in found if each not in wanted and found[each].kind not in lists]
    lacks, has = ([each for each in names if each not in ("start", "start_or_stop")] for names in (lacks, has))
    said = [f"no {' '.join(f'`{each}`' for each in lacks)}"] if lacks else []
    return [*said, f"besides {' '.join(f'`{each}`' for each in has)}"] if has else said


def row(name: str) -> str:
    """A line of the table."""
    kind = how(name)
    told = [*of_signatures(name), *([DIFFERENCES[name]] if DIFFERENCES.get(name) else [])]
    if name in UFUNCS and UFUNCS[name].__name__ != name:
        told.insert(0, f"`{UFUNCS[name].__name__}`")
    places = "all" if name in ON_DEVICES else DEVICES[kind]
    return f"| `{name}` | {kind} | {places} | {'; '.join(told)} |"


def there() -> list[str]:
    """Every name of the lists, and of Weft's own, that the namespace has; ufuncs and functions, types, modules."""
    every = {*listed("numpy.txt"), *listed("jax.txt"), *NAMES, *OF_WEFT}
    return sorted((name for name in every if hasattr(weft, name) and not name.startswith("__")), key=lambda name: (name.lower(), name))


def missing() -> list[str]:
    """The names of the lists that the namespace does not have."""
    return sorted((name for name in {*listed("numpy.txt"), *listed("jax.txt")} if not hasattr(weft, name)), key=str.lower)


HEAD = """# Every name of the namespace

The names of NumPy 2.4 and of JAX 0.10's `jax.numpy`, and Weft's own: which of them `weft` has, when and where they are computed, and what
is otherwise than in NumPy. [Functions of arrays](namespace.md) has them by subject, and what holds for all of them.

| when | |
|---|---|
| recorded | only says what is to be done: what is recorded one behind the other becomes one kernel, on every device |
| at once | reads its arguments: compiled code of [the library](library.md) on the CPU; elsewhere kernels, or a copy to the host and back |
| on the host | by NumPy, or by Python, in the host's memory; what it gives is on the arrays' device |
| no elements | asks about arrays, dtypes, devices, or makes functions |
| NumPy's own | the same object: a dtype, a constant, a setting |

"""
MIDDLE = """
## Names that Weft does not have

An `AttributeError` says so with these words.

| name | instead |
|---|---|
"""
SERIES = """
## weft.polynomial

`numpy.polynomial.polynomial`'s functions and class, in `weft.polynomial` and in `weft.polynomial.polynomial`; `weft.polynomial.polyutils`
has `as_series trimseq trimcoef getdomain mapparms mapdomain`. The other series are NumPy's alone.

| name | when | natively on | otherwise than in NumPy |
|---|---|---|---|
"""
SERIES_RECORDED = words("""
    polyder polygrid2d polygrid3d polyint polyval polyval2d polyval3d polyvalfromroots polyvander polyvander2d polyvander3d
""")
SERIES_DIFFERENCES = {
    "Polynomial": "what makes other polynomials is done on the host, values are recorded; `convert` knows no other kind of series",
    "polyfit": "by `weft.linalg.lstsq`",
    "polyroots": "by `weft.linalg.eigvals`",
}


def series() -> list[str]:
    """The lines of the power series."""
    from weft.polynomial import polynomial

    lines = []
    for name in ("Polynomial", *polynomial.__all__):
        kind = RECORDED if name in SERIES_RECORDED else AT_ONCE if name in ("polyfit", "polyroots") else ON_HOST
        lines.append(f"| `{name}` | {kind} | {DEVICES[kind]} | {SERIES_DIFFERENCES.get(name, '')} |")
    return lines


def text() -> str:
    """The page."""
    lines = ["| name | when | natively on | otherwise than in NumPy |", "|---|---|---|---|", *map(row, there())]
    left_out = [f"| `{name}` | {_absent.reason(name).removeprefix(': ') or 'not there yet'} |" for name in missing()]
    return HEAD + "\n".join(lines) + "\n" + SERIES + "\n".join(series()) + "\n" + MIDDLE + "\n".join(left_out) + "\n"


if __name__ == "__main__":
    PAGE.write_text(text())

"""Arrays with NumPy's meaning on every device: the namespace `weft`, loaded name by name.

`NAMES` says in which module of this package each name of the namespace stands. `import weft` imports none of them, nor NumPy.
"""

from __future__ import annotations

import atexit
from importlib import import_module
from typing import Any

_BY_MODULE = {
    "binning": "histogram2d histogramdd",
    "bits": "packbits unpackbits",
    "broadcasting": "broadcast",
    "checking": "asarray_chkfinite base_repr binary_repr common_type isfortran iterable real_if_close require",
    "compiling": "compile",
    "creation": """
        array asanyarray asarray ascontiguousarray asfortranarray copy empty empty_like eye from_dlpack frombuffer fromfunction
        fromiter full full_like identity indices meshgrid ones ones_like tri zeros zeros_like
    """,
    "cumulative": "cumprod cumsum cumulative_prod cumulative_sum diff ediff1d gradient interp trapezoid",
    "dtypes": """
        astype can_cast finfo iinfo isdtype isscalar issubdtype min_scalar_type promote_types result_type
        bool_ complex64 complex128 dtype float16 float32 float64 int8 int16 int32 int64 intp int_ uint8 uint16 uint32 uint64 uintp uint
        half single double csingle cdouble
        e euler_gamma inf nan newaxis pi
    """,
    "einsum": "einsum einsum_path",
    "elementwise": """
        allclose angle around array_equal array_equiv clip copyto fix imag isclose iscomplex iscomplexobj isneginf isposinf isreal
        isrealobj nan_to_num piecewise real round sinc unwrap where
    """,
    "errorstate": "errstate geterr geterrcall seterr",
    "explaining": "explain syncs",
    "files": "fromfile fromstring genfromtxt load loadtxt save savetxt savez savez_compressed",
    "gathering": """
        choose compress diag_indices diag_indices_from extract fill_diagonal ix_ mask_indices place put put_along_axis putmask
        ravel_multi_index take take_along_axis unravel_index
    """,
    "graphs": "load_graph save_graph",
    "grids": "c_ mgrid ndenumerate ndindex ogrid r_",
    "information": "__array_api_version__ __array_namespace_info__",
    "interop": "asnumpy eval",
    "joining": """
        append array_split block column_stack concat concatenate delete dsplit dstack hsplit hstack insert repeat split stack tile
        unstack vsplit vstack
    """,
    "nans": """
        nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar
    """,
    "numpys": """
        byte character complexfloating exceptions dtypes flexible floating generic inexact integer intc long longlong number object_ short
        signedinteger ubyte uintc ulong ulonglong unsignedinteger ushort ComplexWarning complex_ float_ False_ True_
        get_printoptions index_exp little_endian mintypecode printoptions s_ set_printoptions typename
    """,
    "padding": "pad",
    "poly1d": "poly1d",
    "polynomials": "poly polyadd polyder polydiv polyfit polyint polymul polysub polyval roots",
    "printing": "array2string array_repr array_str format_float_positional format_float_scientific",
    "products": """
        convolve correlate cross dot inner kron matmul matvec outer tensordot trace tril tril_indices tril_indices_from triu
        triu_indices triu_indices_from vander vdot vecdot vecmat
    """,
    "pyfuncs": "frompyfunc",
    "ranges": "arange geomspace linspace logspace",
    "reductions": "all amax amin any argmax argmin count_nonzero max mean min prod ptp std sum var",
    "searching": "argwhere digitize flatnonzero nonzero searchsorted",
    "sets": """
        intersect1d isin setdiff1d setxor1d union1d unique unique_all unique_counts unique_inverse unique_values
    """,
    "shapes": """
        atleast_1d atleast_2d atleast_3d broadcast_arrays broadcast_shapes broadcast_to diag diagflat diagonal expand_dims flip fliplr
        flipud matrix_transpose moveaxis ndim permute_dims ravel reshape resize roll rollaxis rot90 shape size squeeze swapaxes
        transpose trim_zeros
    """,
    "sharing": "may_share_memory shares_memory",
    "slices": "apply_along_axis apply_over_axes",
    "sorting": "argpartition argsort lexsort partition sort sort_complex topk",
    "statistics": "average bincount corrcoef cov histogram histogram_bin_edges median percentile quantile",
    "ufuncs": """
        absolute add arccos arccosh arcsin arcsinh arctan arctan2 arctanh bitwise_and bitwise_count bitwise_or bitwise_xor cbrt ceil
        conjugate copysign cos cosh deg2rad degrees divide divmod equal exp exp2 expm1 fabs float_power floor floor_divide fmax fmin
        fmod frexp gcd greater greater_equal heaviside hypot invert isfinite isinf isnan lcm ldexp left_shift less less_equal log log10
        log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or logical_xor maximum minimum mod modf multiply negative
        nextafter not_equal positive power rad2deg radians reciprocal remainder right_shift rint sign signbit sin sinh spacing sqrt
        square subtract tan tanh true_divide trunc ufunc
    """,
    "windows": "bartlett blackman hamming hanning i0 kaiser",
}

# Names that are others: a name in the namespace, and what it is called in its module.
_ALIASES = {
    "abs": ("ufuncs", "absolute"),
    "acos": ("ufuncs", "arccos"),
    "acosh": ("ufuncs", "arccosh"),
    "asin": ("ufuncs", "arcsin"),
    "asinh": ("ufuncs", "arcsinh"),
    "atan": ("ufuncs", "arctan"),
    "atan2": ("ufuncs", "arctan2"),
    "atanh": ("ufuncs", "arctanh"),
    "bitwise_invert": ("ufuncs", "invert"),
    "bitwise_left_shift": ("ufuncs", "left_shift"),
    "bitwise_not": ("ufuncs", "invert"),
    "bitwise_right_shift": ("ufuncs", "right_shift"),
    "bool": ("dtypes", "bool_"),
    "conj": ("ufuncs", "conjugate"),
    "pow": ("ufuncs", "power"),
    "select": ("elementwise", "select_of"),
}

NAMES: dict[str, tuple[str, str]] = {name: (module, name) for module, names in _BY_MODULE.items() for name in names.split()} | _ALIASES


def find(name: str) -> Any:
    """What a name of the namespace is; AttributeError if there is none."""
    if name == "ndarray":
        return import_module("weft._weft").ndarray
    if name not in NAMES:
        from weft.arrays._absent import reason

        raise AttributeError(f"module 'weft' has no attribute {name!r}{reason(name)}")
    module, inside = NAMES[name]
    return getattr(import_module(f"weft.arrays.{module}"), inside)


# What arrays can do besides is set on their class.
methods = import_module("weft.arrays.methods")
methods.install(import_module("weft._weft").ndarray)

# A kernel that is being compiled in the background is waited for: the process's end takes away what its compiler works with.
atexit.register(import_module("weft._weft")._finish_compiling)

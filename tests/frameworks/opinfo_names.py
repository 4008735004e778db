# ruff: noqa: B023, E501, RUF034 -- a table, an operator beside the other.
"""PyTorch's operators as functions of Weft: what is called for a sample of an operator, with PyTorch's arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import weft as w

# The same name, and arrays in the same order.
SAME = """abs acos acosh add all allclose angle any argwhere asin asinh atan atan2 atanh atleast_1d atleast_2d atleast_3d broadcast_to cbrt
ceil column_stack conj copysign corrcoef cos cosh count_nonzero deg2rad dot dstack eq equal exp exp2 expm1 fix flatten flip fliplr
flipud float_power floor floor_divide fmax fmin fmod frexp ge gt heaviside hstack hypot inner isclose isfinite isinf isnan isneginf isposinf
isreal kron ldexp le log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or logical_xor lt matmul maximum minimum
mul multiply ne nextafter outer positive pow rad2deg ravel reciprocal remainder sign signbit sin sinc sinh sqrt square sub subtract
take tan tanh tile trace tril triu true_divide trunc vdot vstack where zeros_like ones_like"""

OTHER = {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "mul": "multiply",
         "sub": "subtract", "equal": "array_equal"}  # fmt: skip


def _axis(x: Any, dim: Any) -> Any:
    """An axis: PyTorch's numbers without axes have one, and no axes are all."""
    return None if x.ndim == 0 or dim == () else dim


def _reduces(name: str) -> Callable[..., Any]:
    """A reduction of `dim` and `keepdim`."""

    def call(x: Any, dim: Any = None, keepdim: bool = False, **more: Any) -> Any:
        axis = _axis(x, tuple(dim) if isinstance(dim, (list, tuple)) else dim)
        return getattr(w, name)(x, axis=axis, keepdims=keepdim, **more)

    return call


def _deviates(name: str) -> Callable[..., Any]:
    def call(x: Any, dim: Any = None, unbiased: Any = None, correction: Any = None, keepdim: bool = False) -> Any:
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        ddof = correction if correction is not None else (1 if unbiased is None else int(unbiased))
        return _reduces(name)(x, dim, keepdim, ddof=ddof)

    return call


def _along(name: str) -> Callable[..., Any]:
    return lambda x, dim, **more: getattr(w, name)(x, axis=dim, **more) if x.ndim else getattr(w, name)(x, **more).reshape(())


def _with_place(value: str, place: str) -> Callable[..., Any]:
    """An extreme along an axis, and where it is."""

    def call(x: Any, dim: Any, keepdim: bool = False) -> Any:
        axis = _axis(x, dim)
        return getattr(w, value)(x, axis=axis, keepdims=keepdim), getattr(w, place)(x, axis=axis, keepdims=keepdim)

    return call


def _add(x: Any, y: Any, alpha: Any = 1) -> Any:
    return x + (y if alpha == 1 else alpha * w.asarray(y))


def _fft(name: str, many: bool) -> Callable[..., Any]:
    def call(x: Any, n: Any = None, dim: Any = None, norm: Any = None, s: Any = None) -> Any:
        if many:
            n, s, dim = ((each,) if isinstance(each, int) else each for each in (n, s, dim))
            return getattr(w.fft, name)(x, n if s is None else s, dim if dim is not None or not name.endswith("2") else (-2, -1), norm)
        return getattr(w.fft, name)(x, n, -1 if dim is None else dim, norm)

    return call


def _div(x: Any, y: Any, rounding_mode: Any = None) -> Any:
    found = w.true_divide(x, y)
    return {None: lambda x: x, "floor": w.floor, "trunc": w.trunc}[rounding_mode](found)


def _clamp(x: Any, min: Any = None, max: Any = None) -> Any:
    return w.clip(x, min, max)


def _split(x: Any, size: Any, dim: int = 0) -> Any:
    places = np.cumsum(size)[:-1].tolist() if isinstance(size, (list, tuple)) else list(range(size, x.shape[dim], size))
    return tuple(w.split(x, places, axis=dim))


def _norm(x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    if dim is None:
        x = x.reshape(-1) if not keepdim else x
    return w.linalg.vector_norm(x, axis=_axis(x, tuple(dim) if isinstance(dim, (list, tuple)) else dim), keepdims=keepdim, ord=ord)


def _index_add(x: Any, dim: int, index: Any, source: Any, alpha: Any = 1) -> Any:
    key = (slice(None),) * (dim % max(x.ndim, 1)) + (index,)
    found = x.copy()
    for at in range(index.size):
        one = (*key[:-1], int(np.asarray(index).reshape(-1)[at]))
        found[one] += alpha * source[(*key[:-1], at)] if source.ndim else alpha * source
    return found


def _masked_fill(x: Any, mask: Any, value: Any) -> Any:
    return w.where(mask, w.asarray(value, dtype=x.dtype) if not isinstance(value, w.ndarray) else value, x)


def _linear(x: Any, weight: Any, bias: Any = None) -> Any:
    return w.nn.linear({"weight": weight, "bias": bias} if bias is not None else {"weight": weight}, x)


def _conv(name: str) -> Callable[..., Any]:
    def call(x: Any, weight: Any, bias: Any = None, **more: Any) -> Any:
        params = {"weight": weight, "bias": bias} if bias is not None else {"weight": weight}
        return getattr(w.nn, name)(params, x, **more)

    return call


def _layer_norm(x: Any, shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    weight = w.ones(tuple(shape)) if weight is None else weight
    return w.nn.layer_norm({"weight": weight, **({} if bias is None else {"bias": bias})}, x, eps)


def _rms_norm(x: Any, shape: Any, weight: Any = None, eps: Any = None) -> Any:
    return w.nn.rms_norm({"weight": w.ones(tuple(shape)) if weight is None else weight}, x, eps)


def _group_norm(x: Any, groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    count = x.shape[1]
    params = {"weight": w.ones(count) if weight is None else weight, "bias": w.zeros(count) if bias is None else bias}
    return w.nn.group_norm(params, x, groups, eps)


def _loss(name: str) -> Callable[..., Any]:
    return lambda x, target, **more: getattr(w.nn, name)(x, target, **more)


def _embedding(weight: Any, indices: Any, **more: Any) -> Any:
    if more:
        raise NotImplementedError(f"embedding's {', '.join(more)}")
    return w.nn.embedding({"weight": weight}, indices)


def _attention(q: Any, k: Any, v: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False, **more: Any) -> Any:
    if dropout_p or set(more) - {"scale", "enable_gqa"}:
        raise NotImplementedError("attention with dropout")
    return w.nn.scaled_dot_product_attention(q, k, v, attn_mask, is_causal=is_causal, **more)


def _softmax(name: str) -> Callable[..., Any]:
    return lambda x, dim, dtype=None: getattr(w.nn, name)(x if dtype is None else x.astype("float64"), axis=_axis(x, dim))


def _pool(name: str) -> Callable[..., Any]:
    def call(x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, *rest: Any, **more: Any) -> Any:
        more |= dict(zip(("ceil_mode", "count_include_pad", "divisor_override"), rest))
        if more.pop("return_indices", False):
            raise NotImplementedError("places of the largest")
        return getattr(w.nn, name)(x, kernel_size, stride or None, padding, **more)

    return call


def _permuted(x: Any, *dims: Any) -> Any:
    return w.transpose(x, dims[0] if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else dims)


def _shape(sizes: Any) -> tuple[int, ...]:
    return tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else tuple(sizes)


def _as_strided(x: Any, size: Any, stride: Any, storage_offset: int = 0) -> Any:
    from weft._weft import _strided

    item = x.dtype.itemsize
    return _strided(x, tuple(size), [each * item for each in stride], storage_offset * item)


def _unbind(x: Any, dim: int = 0) -> Any:
    return tuple(w.moveaxis(x, dim, 0)[at] for at in range(x.shape[dim]))


def _topk(x: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    if x.ndim == 0:
        raise NotImplementedError("of an array without axes")
    places = w.argsort(-x if largest else x, axis=dim, stable=True)
    first = w.take(places, w.arange(k), axis=dim)
    return w.take_along_axis(x, first, axis=dim), first


def _sort(x: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    if x.ndim == 0:
        return x, w.zeros((), dtype="int64")
    places = w.argsort(-x if descending else x, axis=dim, stable=True)
    return w.take_along_axis(x, places, axis=dim), places


def _cross_entropy(
    x: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean", label_smoothing: float = 0.0
) -> Any:
    return w.nn.cross_entropy(x, target, weight=weight, ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing)


def _quantile(name: str) -> Callable[..., Any]:
    def call(x: Any, q: Any, dim: Any = None, keepdim: bool = False, interpolation: str = "linear") -> Any:
        return getattr(w, name)(x, q, axis=_axis(x, dim), keepdims=keepdim, method=interpolation)

    return call


def _median(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    size = x.size if dim is None else x.shape[dim] if x.ndim else 1
    if dim is not None or size % 2 == 0:
        raise NotImplementedError("PyTorch's median of an even count is the lower one")
    return w.median(x)


def _atleast(name: str) -> Callable[..., Any]:
    return lambda *arrays: getattr(w, name)(*(arrays[0] if isinstance(arrays[0], (list, tuple)) else arrays))


def _solve_triangular(a: Any, b: Any, upper: bool = True, left: bool = True, unitriangular: bool = False) -> Any:
    raise NotImplementedError("triangular solves of stacks")


NAMES: dict[str, Callable[..., Any]] = {
    **{name: getattr(w, OTHER.get(name, name), None) for name in SAME.split()},
    **{name: _reduces(of) for name, of in (("sum", "sum"), ("mean", "mean"), ("prod", "prod"), ("amax", "max"), ("amin", "min"),
                                           ("nansum", "nansum"), ("nanmean", "nanmean"), ("argmax", "argmax"), ("argmin", "argmin"),
                                           ("logsumexp", "logaddexp.reduce"), ("all", "all"), ("any", "any"),
                                           ("count_nonzero", "count_nonzero"))},
    **{name: _deviates(name) for name in ("var", "std")},
    **{f"{name}.unbiased": _deviates(name) for name in ("var", "std")},
    **{name: _along(name) for name in ("cumsum", "cumprod", "stack", "roll_", "repeat_")},
    **{f"fft.{name}": _fft(name, False) for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")},
    **{f"fft.{name}": _fft(name, True) for name in ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")},
    "fft.fftshift": lambda x, dim=None: w.fft.fftshift(x, dim), "fft.ifftshift": lambda x, dim=None: w.fft.ifftshift(x, dim),
    "logsumexp": lambda x, dim, keepdim=False: w.nn.logsumexp(x, _axis(x, tuple(dim) if isinstance(dim, (list, tuple)) else dim), keepdim),
    "add": _add, "sub": lambda x, y, alpha=1: _add(x, y, -alpha), "rsub": lambda x, y, alpha=1: w.asarray(y) - alpha * x,
    "neg": w.negative, "absolute": w.abs, "div.no_rounding_mode": _div, "div.floor_rounding": _div, "div.trunc_rounding": _div,
    "clamp": _clamp, "clamp_min": lambda x, low: w.maximum(x, low), "clamp_max": lambda x, high: w.minimum(x, high),
    "max.binary": w.maximum, "min.binary": w.minimum, "max.reduction_no_dim": w.max, "min.reduction_no_dim": w.min,
    "max.reduction_with_dim": _with_place("max", "argmax"), "min.reduction_with_dim": _with_place("min", "argmin"),
    "aminmax": lambda x, dim=None, keepdim=False: (w.min(x, axis=dim, keepdims=keepdim), w.max(x, axis=dim, keepdims=keepdim)),
    "__radd__": lambda x, y: y + x, "__rsub__": lambda x, y: y - x, "__rmul__": lambda x, y: y * x, "__rdiv__": lambda x, y: y / x,
    "__rpow__": lambda x, y: y**x, "__rmod__": lambda x, y: y % x, "__rmatmul__": lambda x, y: y @ x, "__getitem__": lambda x, key: x[key],
    "addcmul": lambda x, a, b, value=1: x + value * a * b, "addcdiv": lambda x, a, b, value=1: x + value * a / b,
    "addmm": lambda c, a, b, beta=1, alpha=1: beta * c + alpha * (a @ b),
    "addmm.decomposed": lambda c, a, b, beta=1, alpha=1: beta * c + alpha * (a @ b),
    "addmv": lambda c, a, b, beta=1, alpha=1: beta * c + alpha * (a @ b), "baddbmm": lambda c, a, b, beta=1, alpha=1: beta * c + alpha * (a @ b),
    "addr": lambda c, a, b, beta=1, alpha=1: (beta * c if beta else w.zeros_like(c)) + alpha * w.outer(a, b),
    "addbmm": lambda c, a, b, beta=1, alpha=1: beta * c + alpha * w.sum(a @ b, axis=0),
    "bmm": w.matmul, "mm": w.matmul, "mv": w.matmul, "einsum": lambda arrays, text: w.einsum(text, *arrays),
    "tensordot": lambda a, b, dims=2: w.tensordot(a, b, axes=dims), "linalg.multi_dot": lambda arrays: w.linalg.multi_dot(list(arrays)),
    "linalg.vecdot": lambda a, b, dim=-1: w.linalg.vecdot(a, b, axis=dim), "cross": lambda a, b, dim=-1: w.cross(a, b, axis=dim),
    "linalg.cross": lambda a, b, dim=-1: w.linalg.cross(a, b, axis=dim), "linalg.matrix_power": w.linalg.matrix_power,
    "linalg.det": w.linalg.det, "linalg.inv": w.linalg.inv, "linalg.slogdet": w.linalg.slogdet, "linalg.solve": lambda a, b, left=True: w.linalg.solve(a, b if b.ndim != 1 else b),
    "linalg.cholesky": lambda x, upper=False: w.linalg.cholesky(x, upper=upper), "cholesky": lambda x, upper=False: w.linalg.cholesky(x, upper=upper),
    "inverse": w.linalg.inv, "logdet": lambda x: w.linalg.slogdet(x)[1] if x.dtype.kind == "f" else _refuse("the logarithm of a complex determinant"), "linalg.eigvalsh": lambda x, UPLO="L": w.linalg.eigvalsh(x, UPLO),
    "linalg.svdvals": w.linalg.svdvals, "linalg.pinv.hermitian": lambda x, hermitian=True, **more: w.linalg.pinv(x, hermitian=hermitian, **more),
    "linalg.pinv": lambda x, rcond=None, hermitian=False, **more: w.linalg.pinv(x, hermitian=hermitian, **more),
    "pinverse": lambda x, **more: w.linalg.pinv(x), "linalg.tensorinv": lambda x, ind=2: w.linalg.tensorinv(x, ind),
    "linalg.tensorsolve": lambda a, b, dims=None: w.linalg.tensorsolve(a, b, dims), "linalg.vander": lambda x, N=None: w.vander(x, N, increasing=True),
    "linalg.vector_norm": _norm, "linalg.diagonal": lambda x, offset=0, dim1=-2, dim2=-1: w.diagonal(x, offset, dim1, dim2),
    "linalg.matrix_norm": lambda x, ord="fro", dim=(-2, -1), keepdim=False, dtype=None: w.linalg.norm(x, ord, tuple(dim), keepdim),
    "linalg.solve_triangular": _solve_triangular, "linalg.cond": lambda x, p=None: w.linalg.cond(x, p),
    "real": lambda x: w.real(x), "imag": lambda x: w.imag(x), "complex": lambda a, b: a + 1j * b, "polar": lambda r, t: r * w.exp(1j * t),
    "resolve_conj": lambda x: x, "resolve_neg": lambda x: x, "conj_physical": w.conj, "clone": lambda x, **_: w.copy(x), "contiguous": lambda x, **_: w.copy(x),
    "double": lambda x, **_: x.astype("float64"), "float": lambda x, **_: x.astype("float32"), "half": lambda x, **_: x.astype("float16"),
    "cdouble": lambda x, **_: x.astype("complex128"), "cfloat": lambda x, **_: x.astype("complex64"),
    "cat": lambda arrays, dim=0: w.concatenate(arrays, axis=dim), "stack": lambda arrays, dim=0: w.stack(arrays, axis=dim),
    "hstack": lambda arrays: w.hstack(arrays), "vstack": lambda arrays: w.vstack(arrays), "dstack": lambda arrays: w.dstack(arrays),
    "column_stack": lambda arrays: w.column_stack(arrays), **{name: _atleast(name) for name in ("atleast_1d", "atleast_2d", "atleast_3d")},
    "chunk": lambda x, count, dim=0: _split(x, -(-x.shape[dim] // count), dim), "split": _split, "split.list_args": _split,
    "split_with_sizes": _split, "split_with_sizes_copy": _split, "unsafe_split": _split,
    "unsafe_chunk": lambda x, count, dim=0: _split(x, -(-x.shape[dim] // count), dim),
    "tensor_split": lambda x, parts, dim=0: tuple(w.array_split(x, np.asarray(parts).tolist(), axis=dim)),
    "hsplit": lambda x, parts: tuple(w.hsplit(x, parts)), "vsplit": lambda x, parts: tuple(w.vsplit(x, parts)),
    "dsplit": lambda x, parts: tuple(w.dsplit(x, parts)), "unbind": _unbind, "unbind_copy": _unbind,
    "permute": _permuted, "permute_copy": _permuted, "transpose": lambda x, a, b: w.swapaxes(x, a, b) if x.ndim else x,
    "transpose_copy": lambda x, a, b: w.swapaxes(x, a, b) if x.ndim else x, "t": lambda x: x.T, "t_copy": lambda x: x.T, "T": lambda x: x.T, "mT": lambda x: x.mT,
    "mH": lambda x: w.conj(x.mT) if x.ndim > 1 else w.conj(x), "H": lambda x: w.conj(x.T), "movedim": w.moveaxis,
    "reshape": lambda x, *sizes: w.reshape(x, _shape(sizes)), "view": lambda x, *sizes: w.reshape(x, _shape(sizes)),
    "view_copy": lambda x, *sizes: w.reshape(x, _shape(sizes)), "reshape_as": lambda x, y: w.reshape(x, y.shape), "view_as": lambda x, y: w.reshape(x, y.shape),
    "flatten": lambda x, start_dim=0, end_dim=-1: w.reshape(x, (*x.shape[: start_dim % x.ndim], -1, *x.shape[end_dim % x.ndim + 1 :])) if x.ndim and x.size else w.reshape(x, -1) if x.ndim == 0 else x,
    "unflatten": lambda x, dim, sizes: w.reshape(x, (*x.shape[: dim % x.ndim], *sizes, *x.shape[dim % x.ndim + 1 :])),
    "squeeze": lambda x, *dims: w.squeeze(x, tuple(d for d in _shape(dims) if x.ndim and x.shape[d] == 1)) if dims else w.squeeze(x),
    "squeeze_copy": lambda x, *dims: w.squeeze(x, tuple(d for d in _shape(dims) if x.ndim and x.shape[d] == 1)) if dims else w.squeeze(x),
    "squeeze.multiple": lambda x, dims: w.squeeze(x, tuple(d for d in dims if x.ndim and x.shape[d] == 1)),
    "unsqueeze": lambda x, dim: w.expand_dims(x, dim), "unsqueeze_copy": lambda x, dim: w.expand_dims(x, dim),
    "expand": lambda x, *sizes: w.broadcast_to(x, tuple(n if n != -1 else x.shape[at - len(_shape(sizes))] for at, n in enumerate(_shape(sizes)))),
    "expand_copy": lambda x, *sizes: w.broadcast_to(x, tuple(n if n != -1 else x.shape[at - len(_shape(sizes))] for at, n in enumerate(_shape(sizes)))),
    "expand_as": lambda x, y: w.broadcast_to(x, y.shape), "broadcast_tensors": lambda *arrays: tuple(w.broadcast_arrays(*arrays)),
    "flip": lambda x, dims: w.flip(x, tuple(dims)), "roll": lambda x, shifts, dims=None: w.roll(x, shifts, dims),
    "rot90": lambda x, k=1, dims=(0, 1): w.rot90(x, k, tuple(dims)), "tile": lambda x, *dims: w.tile(x, _shape(dims)), "repeat": lambda x, *dims: w.tile(x, _shape(dims)),
    "repeat_interleave": lambda x, repeats, dim=None, **_: w.repeat(x, repeats, axis=dim), "diag": lambda x, k=0: w.diag(x, k), "diagflat": lambda x, offset=0: w.diagflat(x, offset),
    "diagonal": lambda x, offset=0, dim1=0, dim2=1: w.diagonal(x, offset, dim1, dim2), "diagonal_copy": lambda x, offset=0, dim1=0, dim2=1: w.diagonal(x, offset, dim1, dim2),
    "tril": lambda x, k=0: w.tril(x, k), "triu": lambda x, k=0: w.triu(x, k), "diff": lambda x, n=1, dim=-1, prepend=None, append=None: w.diff(x, n, dim, **{k: v for k, v in (("prepend", prepend), ("append", append)) if v is not None}),
    "meshgrid.variadic_tensors": lambda *arrays, indexing="ij": tuple(w.meshgrid(*arrays, indexing=indexing)),
    "meshgrid.list_of_tensors": lambda arrays, indexing="ij": tuple(w.meshgrid(*arrays, indexing=indexing)),
    "take_along_dim": lambda x, index, dim=None: w.take_along_axis(x, index, axis=dim) if dim is not None else w.take_along_axis(x, index.reshape(-1), axis=None),
    "gather": lambda x, dim, index: w.take_along_axis(x, index, axis=dim) if x.ndim and all(a == b or d == dim % x.ndim for d, (a, b) in enumerate(zip(x.shape, index.shape))) else _refuse("gathers of smaller indices"),
    "index_select": lambda x, dim, index: w.take(x, index.reshape(-1), axis=dim) if x.ndim else x, "take": lambda x, index: w.take(x.reshape(-1), index),
    "index_add": _index_add, "masked_fill": _masked_fill, "masked_select": lambda x, mask: w.broadcast_to(x, np.broadcast_shapes(x.shape, mask.shape))[w.broadcast_to(mask, np.broadcast_shapes(x.shape, mask.shape))],
    "where": lambda x, c, y: w.where(c, x, y), "select": lambda x, dim, index: w.take(x, index, axis=dim), "narrow": lambda x, dim, start, length: _narrow(x, dim, start, length),
    "narrow_copy": lambda x, dim, start, length: _narrow(x, dim, start, length), "slice": lambda x, dim=0, start=None, end=None, step=1: x[(slice(None),) * (dim % x.ndim) + (slice(start, end, step),)],
    "sort": _sort, "msort": lambda x: w.sort(x, axis=0), "topk": _topk, "argsort": lambda x, dim=-1, descending=False, stable=False: _sort(x, dim, descending)[1],
    "quantile": _quantile("quantile"), "nanquantile": _quantile("nanquantile"), "median": _median,
    "trapezoid": lambda y, x=None, dx=1, dim=-1: w.trapezoid(y, x, dx, dim), "trapz": lambda y, x=None, dx=1, dim=-1: w.trapezoid(y, x, dx, dim),
    "nan_to_num": lambda x, nan=0.0, posinf=None, neginf=None: w.nan_to_num(x, nan=nan if nan is not None else 0.0, posinf=posinf, neginf=neginf),
    "cov": lambda x, correction=1, fweights=None, aweights=None: w.cov(x, ddof=correction, fweights=fweights, aweights=aweights),
    "lerp": lambda a, b, weight: a + weight * (b - a), "frac": lambda x: x - w.trunc(x), "rsqrt": lambda x: 1 / w.sqrt(x),
    "sgn": w.sign, "as_strided": _as_strided, "as_strided_copy": _as_strided, "as_strided.partial_views": _as_strided,
    "var_mean": lambda x, dim=None, unbiased=None, correction=None, keepdim=False: (_deviates("var")(x, dim, unbiased, correction, keepdim), _reduces("mean")(x, dim if not isinstance(dim, bool) else None, keepdim)),
    "std_mean": lambda x, dim=None, unbiased=None, correction=None, keepdim=False: (_deviates("std")(x, dim, unbiased, correction, keepdim), _reduces("mean")(x, dim if not isinstance(dim, bool) else None, keepdim)),
    "round": w.round, "round.decimals_0": lambda x, decimals=0: w.round(x, decimals), "round.decimals_3": lambda x, decimals=0: w.round(x, decimals),
    "constant_pad_nd": lambda x, pad, value=0: _padded(x, pad, value), "nn.functional.pad.constant": lambda x, pad, mode="constant", value=0: _padded(x, pad, value or 0),
    "cumulative_trapezoid": lambda y, x=None, dx=1, dim=-1: _refuse("there is none"), "block_diag": lambda *arrays: _refuse("there is none"),
    "sigmoid": lambda x: w.nn.sigmoid(x), "softmax": _softmax("softmax"), "softmax.with_dtype": _softmax("softmax"), "log_softmax": _softmax("log_softmax"),
    "log_softmax.with_dtype": _softmax("log_softmax"), "nn.functional.softmin": _softmax("softmin"), "nn.functional.softmin.with_dtype": _softmax("softmin"),
    **{f"nn.functional.{name}": (lambda name: lambda x, *args, inplace=False, **more: getattr(w.nn, name)(x, *args, **more))(of) for name, of in (
        ("relu", "relu"), ("relu6", "relu6"), ("hardtanh", "hard_tanh"), ("leaky_relu", "leaky_relu"), ("elu", "elu"), ("celu", "celu"), ("selu", "selu"),
        ("logsigmoid", "log_sigmoid"), ("softsign", "softsign"), ("gelu", "gelu"), ("silu", "silu"), ("mish", "mish"), ("hardsigmoid", "hard_sigmoid"),
        ("hardswish", "hard_swish"))},
    "nn.functional.softplus": lambda x, beta=1.0, threshold=20.0: w.nn.softplus(x, beta) if threshold == 20.0 else _refuse("softplus has no threshold"),
    "nn.functional.glu": lambda x, dim=-1: w.nn.glu(x, dim), "nn.functional.prelu": lambda x, weight: w.nn.prelu({"weight": weight}, x),
    "nn.functional.linear": _linear, "nn.functional.conv1d": _conv("conv1d"), "nn.functional.conv2d": _conv("conv2d"),
    **{f"nn.functional.{name}": _pool(name) for name in ("max_pool1d", "max_pool2d", "avg_pool1d", "avg_pool2d")},
    "nn.functional.layer_norm": _layer_norm, "nn.functional.rms_norm": _rms_norm, "nn.functional.group_norm": _group_norm,
    **{f"nn.functional.{name}": _loss(name) for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div", "binary_cross_entropy",
                                                         "nll_loss", "binary_cross_entropy_with_logits")},
    "nn.functional.cross_entropy": _cross_entropy, "nn.functional.embedding": _embedding, "nn.functional.scaled_dot_product_attention": _attention,
    "nn.functional.tanhshrink": lambda x: x - w.tanh(x),
    **{name: (lambda name: lambda x: getattr(w.scipy.special, name)(x))(of) for name, of in (("erf", "erf"), ("erfc", "erfc"), ("erfinv", "erfinv"),
       ("lgamma", "gammaln"), ("special.ndtr", "ndtr"), ("special.entr", "entr"), ("i0", "i0"), ("digamma", "digamma"), ("special.log_ndtr", "log_ndtr"))},
    "logit": lambda x, eps=None: w.scipy.special.logit(x if eps is None else w.clip(x, eps, 1 - eps)), "xlogy": lambda x, y: w.scipy.special.xlogy(x, y),
    "special.xlog1py": lambda x, y: w.scipy.special.xlog1py(x, y), "sum_to_size": lambda x, *sizes: _summed_to(x, _shape(sizes)),
    "linalg.qr": lambda x, mode="reduced": tuple(w.linalg.qr(x, mode)), "qr": lambda x, some=True: tuple(w.linalg.qr(x, "reduced" if some else "complete")),
    "linalg.inv_ex": lambda x, **_: _refuse("errors as values"), "fill": lambda x, value: w.full_like(x, value) if not isinstance(value, w.ndarray) else w.zeros_like(x) + value,
    "dist": lambda a, b, p=2: _norm(a - b, p), "nn.functional.normalize": lambda x, p=2.0, dim=1, eps=1e-12: x / w.maximum(_norm(x, p, dim if x.ndim else None, bool(x.ndim)), eps),
}  # fmt: skip


def _refuse(why: str) -> Any:
    raise NotImplementedError(why)


def _narrow(x: Any, dim: int, start: Any, length: int) -> Any:
    start = int(np.asarray(start))
    start += x.shape[dim] if start < 0 else 0
    return x[(slice(None),) * (dim % x.ndim) + (slice(start, start + length),)]


def _padded(x: Any, pad: Any, value: Any) -> Any:
    widths = [(0, 0)] * (x.ndim - len(pad) // 2) + [(pad[at], pad[at + 1]) for at in range(len(pad) - 2, -1, -2)]
    kept = tuple(slice(max(-low, 0), n - max(-high, 0)) for (low, high), n in zip(widths, x.shape))
    return w.pad(x[kept], [(max(low, 0), max(high, 0)) for low, high in widths], constant_values=value)


def _summed_to(x: Any, shape: tuple[int, ...]) -> Any:
    more = x.ndim - len(shape)
    axes = (*range(more), *(more + at for at, n in enumerate(shape) if n == 1))
    return w.sum(x, axis=axes, keepdims=True).reshape(shape)

"""Weft behind the name `jax`, for JAX's own tests and for nothing else in their process.

What a test imports as `jax`, `jax.numpy` or `jax.lax` has Weft's functions of that name, and a few that are these by another name. All
else can be imported, so that the other tests of a file run, and raises when it is used: a test that needs it is not one of Weft.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np

import weft


class NotThere(AttributeError):
    """Weft does not have what a test uses."""


class _Made(type):
    """Classes that stand for JAX's: nothing is one of theirs."""

    def __instancecheck__(cls, value: Any) -> bool:
        return False


class Missing:
    """Something that Weft does not have. While files are imported it can be called, decorate and be a base class; in a test it raises."""

    importing = True

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name == "__name__":
            return self._name.rpartition(".")[2]
        if name.startswith("__") or name == "dtype":
            raise AttributeError(name)
        return Missing(f"{self._name}.{name}")

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if Missing.importing:
            return args[0] if len(args) == 1 and not keywords and callable(args[0]) and not isinstance(args[0], Missing) else self
        raise NotThere(f"{self._name} is not there")

    def __mro_entries__(self, _bases: Any) -> tuple[type, ...]:
        return (object,)

    def __iter__(self) -> Any:
        return iter(() if Missing.importing else self())

    def __getitem__(self, key: Any) -> Any:
        return self if Missing.importing else self()

    def __or__(self, other: Any) -> Any:
        return self

    __ror__ = __or__

    def __enter__(self) -> Any:
        return self()

    def __exit__(self, *_args: Any) -> None:
        return None

    def __lt__(self, other: Any) -> bool:
        return bool(self())

    __le__ = __gt__ = __ge__ = __lt__

    def __bool__(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return hash(self._name)


class Used:
    """Whether the test that runs has used Weft."""

    now = False


TRANSFORMS = "grad value_and_grad vjp jvp jacfwd jacrev hessian vmap checkpoint linearize custom_vjp custom_jvp"


def jit(fun: Any = None, **keywords: Any) -> Any:
    """`jax.jit`, which changes nothing of what a function gives: its options are none of Weft's."""
    if keywords:
        raise NotThere("jax.jit's options are not there")
    return fun


def tree_map(function: Any, tree: Any, *others: Any, **keywords: Any) -> Any:
    from weft.gradients.trees import map_tree

    if keywords:
        raise NotThere("jax.tree.map's options are not there")
    return map_tree(function, tree, *others)


def _of_lax() -> dict[str, Any]:
    """What `jax.lax` calls otherwise than NumPy."""
    w = weft
    names = {
        "neg": w.negative, "sub": w.subtract, "mul": w.multiply, "div": w.divide, "max": w.maximum, "min": w.minimum, "pow": w.power,
        "round": lambda x: w.round(x), "abs": w.abs, "rsqrt": lambda x: 1 / w.sqrt(x), "logistic": lambda x: 1 / (1 + w.exp(-x)),
        "complex": lambda x, y: x + 1j * y, "select": lambda c, a, b: w.where(c, a, b), "stop_gradient": w.stop_gradient,
        "convert_element_type": lambda x, dtype: w.asarray(x).astype(dtype),
        "clamp": lambda low, x, high: w.minimum(w.maximum(x, low), high),
        "concatenate": lambda operands, dimension: w.concatenate(list(operands), axis=dimension), "rev": lambda x, axes: w.flip(x, axes),
        "expand_dims": lambda x, axes: w.expand_dims(x, axes), "transpose": lambda x, axes: w.transpose(x, axes),
        "reshape": lambda x, shape: w.reshape(x, shape), "squeeze": lambda x, axes: w.squeeze(x, tuple(axes)),
        "integer_pow": lambda x, n: x**n, "sort": lambda x, dimension=-1: w.sort(x, axis=dimension), "add_any": w.add,
        "cumsum": lambda x, axis=0, reverse=False: _run(w.cumsum, x, axis, reverse),
        "cumprod": lambda x, axis=0, reverse=False: _run(w.cumprod, x, axis, reverse),
        "cummax": lambda x, axis=0, reverse=False: _run(w.maximum.accumulate, x, axis, reverse),
        "cummin": lambda x, axis=0, reverse=False: _run(w.minimum.accumulate, x, axis, reverse),
        "full": lambda shape, value, dtype=None: w.full(shape, value, dtype=dtype), "full_like": w.full_like,
        "dot": lambda a, b: w.dot(a, b), "broadcast": lambda x, sizes: w.broadcast_to(x, (*sizes, *x.shape)),
        "reduce_sum": lambda x, axes: w.sum(x, tuple(axes)), "reduce_max": lambda x, axes: w.max(x, tuple(axes)),
        "reduce_min": lambda x, axes: w.min(x, tuple(axes)), "reduce_prod": lambda x, axes: w.prod(x, tuple(axes)),
        "square": w.square, "rem": w.fmod, "tile": w.tile, "iota": lambda dtype, n: w.arange(n, dtype=dtype),
        "split": lambda x, sizes, axis=0: w.split(x, np.cumsum(sizes)[:-1].tolist(), axis),
        "slice": lambda x, start, limit, strides=None: x[tuple(map(slice, start, limit, strides or [1] * len(start)))],
        "broadcast_shapes": np.broadcast_shapes, "eq": w.equal, "ne": w.not_equal,
        "lt": w.less, "le": w.less_equal, "gt": w.greater, "ge": w.greater_equal,
        "slice_in_dim": lambda x, start, stop, stride=1, axis=0: x[(slice(None),) * axis + (slice(start, stop, stride),)],
    }  # fmt: skip
    special = weft.scipy.special
    names |= {"erf": special.erf, "erfc": special.erfc, "erf_inv": special.erfinv, "lgamma": special.gammaln}
    same = (
        "floor ceil exp exp2 expm1 log log1p sinh cosh tanh sin cos tan asin acos atan atan2 asinh acosh atanh real imag conj sqrt cbrt add"
    )
    same += " sign"
    return {**names, **{name: getattr(w, name) for name in same.split()}}


def _run(function: Any, x: Any, axis: int, reverse: bool) -> Any:
    return weft.flip(function(weft.flip(x, axis), axis=axis), axis) if reverse else function(x, axis=axis)


def _of_jax() -> dict[str, Any]:
    found = {name: getattr(weft, name) for name in TRANSFORMS.split()}
    return {**found, "jit": jit, "remat": weft.checkpoint, "named_call": lambda function, **_: function}


PLAIN = {"float32", "float64", "complex64", "complex128", "int32", "int64", "bool_", "float16", "int8", "uint8", "int16", "uint16",
         "uint32", "uint64", "pi", "inf", "nan", "e", "newaxis", "dtype", "issubdtype", "finfo", "iinfo", "floating", "integer",
         "inexact", "complexfloating", "number", "generic"}  # fmt: skip
"""Names of `jax.numpy` that have nothing to do with who computes."""

OWN = {"float_": np.float64, "int_": np.int64, "complex_": np.complex128, "uint": np.uint64}


class Module(ModuleType):
    """A module of JAX's name."""

    def __init__(self, name: str, found: dict[str, Any], more: Any = None) -> None:
        super().__init__(name)
        self.__path__: list[str] = []
        self._found = found
        self._more = more

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        path = f"{self.__name__}.{name}"
        if path in sys.modules:
            return sys.modules[path]
        if name in self._found:
            return _noticed(self._found[name])
        if self._more is not None and (own := self._more(name)) is not None:
            return own
        if path in KNOWN:
            return importlib.import_module(path)
        return Missing(path)


def _noticed(value: Any) -> Any:
    Used.now = True
    return value


def _of_numpy(name: str) -> Any:
    """What `jax.numpy` has of this name."""
    if name in OWN:
        return OWN[name]
    if name in PLAIN:
        return getattr(np, name)
    if name == "ndarray":
        return weft.ndarray
    if name.startswith("_"):
        return None
    try:
        found = getattr(weft, name)
    except AttributeError:
        return None
    if isinstance(found, ModuleType):
        if name in ("linalg", "fft"):
            return Module(f"jax.numpy.{name}", {}, lambda inner: getattr(found, inner, None))
        return None
    return _noticed(_without_nones(found) if callable(found) and name in OF_PRECISION else found)


OF_PRECISION = {"einsum", "dot", "matmul", "tensordot", "inner", "vdot", "outer", "convolve", "correlate"}
"""Functions that JAX has other keywords of, which say nothing where they are None."""


def _without_nones(function: Any) -> Any:
    def call(*args: Any, **keywords: Any) -> Any:
        mute = {"preferred_element_type", "out_sharding"}
        # Weft's products are as precise as there are any.
        keywords.pop("precision", None)
        return function(*args, **{name: value for name, value in keywords.items() if value is not None or name not in mute})

    return call


def _dtype(given: Any) -> Any:
    """A dtype; of what is not there none."""
    return None if isinstance(given, Missing) else np.dtype(given)


DTYPES = {
    "canonicalize_dtype": _dtype, "issubdtype": np.issubdtype, "finfo": np.finfo, "iinfo": np.iinfo, "dtype": np.result_type,
    "to_inexact_dtype": lambda dtype: np.dtype(dtype) if np.dtype(dtype).kind in "fcV" else np.dtype(np.float64),
    "to_numeric_dtype": lambda dtype: np.dtype(np.int64) if np.dtype(dtype) == np.bool_ else np.dtype(dtype),
    "default_int_dtype": lambda: np.dtype(np.int64), "default_uint_dtype": lambda: np.dtype(np.uint64),
    "default_float_dtype": lambda: np.dtype(np.float64), "result_type": np.result_type,
}  # fmt: skip
"""Of `jax.dtypes`, as NumPy has them."""


def _modules() -> dict[str, Any]:
    from jax_tests import testing

    trees = {"tree_map": tree_map, "tree_leaves": _leaves, "tree_flatten": _flatten}
    of_jax = _of_jax()
    numpy = Module("jax.numpy", {}, _of_numpy)
    types = Module("jax.dtypes", {"bfloat16": ml_dtypes.bfloat16, **DTYPES, "float0": np.dtype([("float0", "V")])})
    tested = Module("jax._src.test_util", vars(testing))
    return {
        "jax": Module("jax", {**of_jax, **trees, "numpy": numpy, "Array": weft.ndarray, "config": testing.CONFIG, "dtypes": types}),
        "jax.numpy": numpy,
        "jax.lax": Module("jax.lax", _of_lax()),
        "jax.tree": Module("jax.tree", {"map": tree_map, "leaves": _leaves, "flatten": _flatten}),
        "jax.tree_util": Module("jax.tree_util", trees),
        "jax.dtypes": types,
        "jax.test_util": tested,
        "jax._src": Module(
            "jax._src", {"test_util": tested, "api": Module("jax._src.api", of_jax), "dtypes": types, "config": testing.CONFIG}
        ),
        "jax._src.test_util": tested,
        "jax._src.api": Module("jax._src.api", of_jax),
        "jax._src.dtypes": types,
        "jax._src.config": testing.CONFIG,
        "jax.ad_checkpoint": Module("jax.ad_checkpoint", {"checkpoint": weft.checkpoint}),
    }


def _leaves(tree: Any) -> list[Any]:
    from weft.gradients.trees import leaves

    return leaves(tree)


def _flatten(tree: Any) -> Any:
    from weft.gradients.trees import flatten

    return flatten(tree)


KNOWN: dict[str, Any] = {}


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules of JAX: those known, and empty ones of any other name."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name.partition(".")[0] in ("jax", "jaxlib"):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: Any) -> ModuleType:
        return KNOWN.get(spec.name) or Module(spec.name, {})

    def exec_module(self, module: ModuleType) -> None:
        pass


def install() -> None:
    """From here on `import jax` gives Weft."""
    KNOWN.update(_modules())
    sys.meta_path.insert(0, Finder())
    sys.modules.update(KNOWN)

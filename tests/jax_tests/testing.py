"""What JAX's tests need of its helpers: samples of parameters, random arrays, comparisons, gradients checked by differences."""

from __future__ import annotations

import contextlib
import functools
import unittest
import warnings
import zlib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from absl.testing import parameterized

import weft
from jax_tests.behind import Missing
from weft.gradients.trees import flatten, unflatten

SAMPLES = 12
"""So many samples of each test's parameters are run, evenly spread."""


class _Config:
    """JAX's settings: doubles are there."""

    jax_enable_x64 = True
    jax_numpy_rank_promotion = "allow"

    class enable_x64:
        value = True

    def parse_flags_with_absl(self) -> None:
        """There are none."""

    def __getattr__(self, name: str) -> Any:
        return Missing(f"jax.config.{name}")


CONFIG = _Config()


class dtypes:
    """Sorts of dtypes."""

    floating = [np.float32, np.float64]
    all_floating = [np.float16, np.float32, np.float64]
    custom_floats: list[Any] = []
    integer = [np.int32, np.int64]
    all_integer = [np.int8, np.int16, np.int32, np.int64]
    unsigned = [np.uint32, np.uint64]
    all_unsigned = [np.uint8, np.uint16, np.uint32, np.uint64]
    complex = [np.complex64, np.complex128]
    boolean = [np.bool_]
    inexact = floating + complex
    all_inexact = all_floating + complex
    numeric = floating + integer + unsigned + complex
    all = all_floating + all_integer + all_unsigned + complex + boolean

    @staticmethod
    def supported(names: Iterable[Any]) -> list[Any]:
        return list(names)


class _Scalar:
    """Shapes that are none."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __len__(self) -> int:
        return 0

    def __getitem__(self, at: int) -> Any:
        raise IndexError(at)

    def __repr__(self) -> str:
        return self._name


NUMPY_SCALAR_SHAPE = _Scalar("NumPy's scalar")
PYTHON_SCALAR_SHAPE = _Scalar("Python's number")


def is_valid_shape(shape: Any, dtype: Any) -> bool:
    return shape is not PYTHON_SCALAR_SHAPE or np.dtype(dtype) in (np.dtype(bool), np.dtype(int), np.dtype(float), np.dtype(complex))


def _dims_of_shape(shape: Any) -> tuple[int, ...]:
    return () if isinstance(shape, _Scalar) else tuple(shape)


def sample_product_testcases(*groups: Any, **parameters: Any) -> list[dict[str, Any]]:
    """Some of all combinations of parameters; of lists of dicts one each."""
    axes = [list(group) for group in groups] + [[{name: value} for value in values] for name, values in parameters.items()]
    count = 1
    for axis in axes:
        count *= len(axis)
    step = max(count // SAMPLES, 1) | 1
    found = []
    for number in range(0, count, step):
        made: dict[str, Any] = {}
        for axis in axes:
            number, at = divmod(number, len(axis))
            made.update(axis[at])
        found.append(made)
    return found[: SAMPLES + 1]


def sample_product(*groups: Any, **parameters: Any) -> Callable[..., Any]:
    """The decorator."""
    cases = sample_product_testcases(*groups, **parameters)
    return parameterized.parameters(*cases) if cases else lambda function: function


def _decorates(*_args: Any, **_keywords: Any) -> Callable[..., Any]:
    return lambda function: function


skip_on_devices = run_on_devices = with_config = skip_on_flag = with_jax_dtype_defaults = _decorates


def thread_unsafe_test(**_keywords: Any) -> Any:
    return lambda function: function


def ignore_warning(**keywords: Any) -> Any:
    """A decorator, and a block."""

    class Ignoring(contextlib.ContextDecorator):
        def __enter__(self) -> None:
            self._caught = warnings.catch_warnings()
            self._caught.__enter__()
            warnings.filterwarnings("ignore", **keywords)

        def __exit__(self, *told: Any) -> None:
            self._caught.__exit__(*told)

        def _recreate_cm(self) -> Any:
            return Ignoring()

    return Ignoring()


def test_device_matches(kinds: Any) -> bool:
    return "cpu" in kinds


def device_under_test() -> str:
    return "cpu"


def num_float_bits(dtype: Any) -> int:
    return np.finfo(np.dtype(dtype)).bits


def numpy_version() -> tuple[int, ...]:
    return tuple(int(part) for part in np.__version__.split(".")[:3])


def strict_promotion_if_dtypes_match(dtypes: Any) -> Any:
    return contextlib.nullcontext()


def promote_like_jnp(function: Callable[..., Any], inexact: bool = False) -> Callable[..., Any]:
    """NumPy's function of operands that are promoted as Weft, and NumPy, promote them."""
    return function


_TOLERANCE = {
    "b": 0.0, "i": 0.0, "u": 0.0, np.dtype(np.float16): 1e-3, np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-14,
    np.dtype(np.complex64): 1e-5, np.dtype(np.complex128): 1e-14,
}  # fmt: skip
default_gradient_tolerance = {
    np.dtype(np.float16): 1e-2, np.dtype(np.float32): 2e-3, np.dtype(np.float64): 1e-5, np.dtype(np.complex64): 1e-3,
    np.dtype(np.complex128): 1e-5,
}  # fmt: skip


def default_tolerance() -> dict[Any, float]:
    return {key: value for key, value in _TOLERANCE.items() if isinstance(key, np.dtype)}


def tolerance(dtype: Any, tol: Any = None) -> float:
    """Of a dtype, from a number, or a table that may have it."""
    dtype = np.dtype(dtype)
    if tol is not None and not isinstance(tol, dict):
        return tol
    table = {np.dtype(key): value for key, value in (tol or {}).items() if not isinstance(key, Missing)}
    return table.get(dtype, _TOLERANCE.get(dtype, _TOLERANCE.get(dtype.kind, 1e-3)))


def join_tolerance(one: Any, other: Any) -> Any:
    """The larger."""
    tables = [each if isinstance(each, dict) else dict.fromkeys(default_gradient_tolerance, each or 0.0) for each in (one, other)]
    tables = [{np.dtype(key): value for key, value in table.items()} for table in tables]
    return {key: max(table.get(key, 0.0) for table in tables) for key in {**tables[0], **tables[1]}}


def _random(shape: Any, dtype: Any, draw: Callable[[Any], np.ndarray], post: Callable[[Any], Any] = lambda x: x) -> Any:
    size = () if isinstance(shape, _Scalar) else tuple(shape)
    dtype = np.dtype(dtype)
    values = draw(size)
    if dtype.kind == "c":
        values = values + 1j * draw(size)
    if dtype.kind == "u":
        values = np.abs(values)
    if dtype.kind == "b":
        values = values > 0
    made = post(np.asarray(values).astype(dtype))
    made = np.asarray(made, dtype)
    if shape is PYTHON_SCALAR_SHAPE:
        return made.item()
    return made[()] if shape is NUMPY_SCALAR_SHAPE else made


def _drawn(draw: Callable[..., np.ndarray], post: Callable[[Any], Any] = lambda x: x) -> Callable[..., Any]:
    def factory(rng: Any, *args: Any, **keywords: Any) -> Any:
        return lambda shape, dtype: _random(shape, dtype, lambda size: draw(rng, size, *args, **keywords), post)

    return factory


rand_default = _drawn(lambda rng, size, scale=3: rng.normal(0, scale, size))
rand_small = _drawn(lambda rng, size: rng.normal(0, 0.2, size))
rand_small_positive = _drawn(lambda rng, size: rng.uniform(0.1, 1.2, size))
rand_positive = _drawn(lambda rng, size: rng.uniform(0.5, 3, size))
rand_nonzero = rand_not_small = _drawn(lambda rng, size, offset=1.0: (lambda x: x + np.sign(x) * offset)(rng.normal(0, 3, size)))
rand_uniform = _drawn(lambda rng, size, low=0.0, high=1.0: rng.uniform(low, high, size))
rand_int = _drawn(lambda rng, size, low=0, high=None: rng.integers(*((low, high) if high is not None else (0, low)), size))
rand_bool = _drawn(lambda rng, size: rng.normal(0, 1, size))
rand_some_zero = _drawn(lambda rng, size: rng.normal(0, 3, size) * (rng.random(size) > 0.5))
rand_some_equal = _drawn(lambda rng, size: np.where(rng.random(size) > 0.7, 0.5, rng.normal(0, 3, size)))


def _some(values: list[float]) -> Callable[..., Any]:
    def draw(rng: Any, size: Any) -> np.ndarray:
        made = rng.normal(0, 3, size)
        return np.where(rng.random(size) > 0.7, rng.choice(values, size), made)

    def factory(rng: Any) -> Any:
        def of(shape: Any, dtype: Any) -> Any:
            whole = np.dtype(dtype).kind in "iub"
            return _random(shape, dtype, (lambda size: rng.normal(0, 3, size)) if whole else lambda size: draw(rng, size))

        return of

    return factory


def rand_fullrange(rng: Any, standardize_nans: bool = False) -> Callable[..., Any]:
    """Any bits."""

    def of(shape: Any, dtype: Any) -> Any:
        size, dtype = _dims_of_shape(shape), np.dtype(dtype)
        bits = rng.integers(0, 256, (*size, dtype.itemsize), dtype=np.uint8)
        return rng.random(size) < 0.5 if dtype.kind == "b" else bits.view(dtype).reshape(size)

    return of


def rand_unique_int(rng: Any, high: int | None = None) -> Callable[..., Any]:
    """Integers of which none comes twice."""

    def of(shape: Any, dtype: Any) -> Any:
        size = int(np.prod(_dims_of_shape(shape)))
        return rng.choice(np.arange(high or size, dtype=dtype), _dims_of_shape(shape), replace=False)

    return of


rand_some_nan = _some([np.nan])
rand_some_inf = _some([np.inf, -np.inf])
rand_some_inf_and_nan = _some([np.inf, -np.inf, np.nan])


def _arrays(tree: Any) -> list[np.ndarray]:
    return [np.asarray(each) for each in flatten(tree)[0]]


class JaxTestCase(parameterized.TestCase):
    """A class of tests."""

    def setUp(self) -> None:
        super().setUp()
        self._rng = np.random.default_rng(zlib.adler32(self._testMethodName.encode()))

    def rng(self) -> Any:
        return _Generator(self._rng)

    def assertAllClose(self, actual: Any, desired: Any, *, check_dtypes: bool = True, atol: Any = None, rtol: Any = None, **_: Any) -> None:
        """Trees of arrays of the same shapes, near each other. Of which dtype a number is NumPy says for Weft, and not JAX."""
        one, other = _tree(actual), _tree(desired)
        if flatten(one)[1] != flatten(other)[1]:
            raise AssertionError(f"trees of different shapes: {one} and {other}")
        for a, b in zip(_arrays(one), _arrays(other)):
            if a.shape != b.shape:
                raise AssertionError(f"the shape {a.shape} is not {b.shape}")
            near = max(_near(x, rtol) for x in (a, b))
            least = max(_near(x, atol) for x in (a, b))
            np.testing.assert_allclose(a, b, near, least)

    assertArraysAllClose = assertAllClose

    def assertArraysEqual(self, x: Any, y: Any, **_: Any) -> None:
        np.testing.assert_array_equal(np.asarray(x), np.asarray(y))

    def _CheckAgainstNumpy(
        self, of_numpy: Any, function: Any, args_maker: Any, check_dtypes: bool = True, tol: Any = None, **_: Any
    ) -> None:
        args = args_maker()
        with np.errstate(all="ignore"):
            wanted = of_numpy(*args)
        found = function(*[weft.asarray(each) if isinstance(each, np.ndarray) else each for each in args])
        self.assertAllClose(found, wanted, atol=tol, rtol=tol)

    def _CompileAndCheck(self, function: Any, args_maker: Any, *, rtol: Any = None, atol: Any = None, **_: Any) -> None:
        """What is compiled by JAX is here what is differentiated: it is called on arrays again, and gives the same."""
        args = [weft.asarray(each) if isinstance(each, np.ndarray) else each for each in args_maker()]
        function(*args)


BufferDonationTestCase = JaxTestCase


class _Generator:
    """NumPy's old and new names."""

    def __init__(self, rng: Any) -> None:
        self._rng = rng

    def __getattr__(self, name: str) -> Any:
        old = {"rand": lambda *shape: self._rng.random(shape), "randn": lambda *shape: self._rng.normal(0, 1, shape)}
        old |= {"randint": self._rng.integers, "random_sample": self._rng.random}
        return old.get(name) or getattr(self._rng, name)


def _tree(tree: Any) -> Any:
    """Named tuples as tuples, and dicts of other classes as dicts."""
    if isinstance(tree, dict):
        return {key: _tree(value) for key, value in tree.items()}
    if isinstance(tree, tuple):
        return tuple(map(_tree, tree))
    return list(map(_tree, tree)) if isinstance(tree, list) else tree


def _near(x: np.ndarray, tol: Any) -> float:
    return max(tolerance(x.dtype, tol), {"f": 1e-12, "c": 1e-12}.get(x.dtype.kind, 0.0))


JaxTestLoader = unittest.TestLoader


def check_eq(xs: Any, ys: Any, err_msg: str = "") -> None:
    for x, y in zip(_arrays(xs), _arrays(ys), strict=True):
        np.testing.assert_array_equal(x, y)


def check_raises(thunk: Callable[[], Any], kind: type[BaseException], message: str) -> None:
    try:
        thunk()
    except kind as error:
        if not str(error).startswith(message):
            raise AssertionError(f"another text: {error}") from None
        return
    raise AssertionError(f"{kind.__name__} was not raised")


# Gradients by differences.


def _dot(xs: list[Any], ys: list[Any]) -> complex:
    return sum(complex(np.sum(np.asarray(x).astype(np.complex128) * np.asarray(y))) for x, y in zip(xs, ys))


def _like(rng: Any, x: Any) -> np.ndarray:
    x = np.asarray(x)
    return _random(x.shape, x.dtype, lambda size: rng.normal(0, 1, size))


def _tolerances(leaves: list[Any], tol: Any) -> float:
    return max(
        (tolerance(np.asarray(x).dtype, default_gradient_tolerance | (tol if isinstance(tol, dict) else {})) for x in leaves), default=0
    )


def _moved(leaves: list[np.ndarray], directions: list[np.ndarray], by: float) -> list[np.ndarray]:
    return [x + np.asarray(by * v).astype(x.dtype) for x, v in zip(leaves, directions)]


def _difference(
    function: Callable[..., Any], leaves: list[np.ndarray], spec: Any, directions: list[np.ndarray], eps: float
) -> list[np.ndarray]:
    """By numbers of double precision, where the function takes them and keeps them."""
    wide = [x.astype(np.result_type(x, np.float64)) for x in leaves]
    ahead, behind = (_arrays(function(*unflatten(spec, _moved(wide, directions, sign * eps / 2)))) for sign in (1, -1))
    return [(a.astype(np.result_type(a, np.float64)) - b) / eps for a, b in zip(ahead, behind)]


def check_jvp(function: Any, along: Any, args: Any, atol: Any = None, rtol: Any = None, eps: Any = None, err_msg: str = "") -> None:
    """The change along a direction against differences."""
    leaves, spec = _args(args)
    rng = np.random.default_rng(len(leaves))
    directions = [_like(rng, x) for x in leaves]
    given, changes = along(args, unflatten(spec, directions))
    _compare(_arrays(given), _arrays(function(*args)), leaves, atol, rtol)
    wanted = _difference(function, leaves, spec, directions, _step(leaves, eps))
    _compare(_arrays(changes), wanted, leaves, atol, rtol)


def check_vjp(function: Any, back: Any, args: Any, atol: Any = None, rtol: Any = None, eps: Any = None, err_msg: str = "") -> None:
    """The product of a cotangent with a direction against differences."""
    leaves, spec = _args(args)
    rng = np.random.default_rng(len(leaves) + 1)
    given, pull = back(*args)
    _compare(_arrays(given), _arrays(function(*args)), leaves, atol, rtol)
    directions = [_like(rng, x) for x in leaves]
    results, outer = flatten(given)
    cotangents = [_like(rng, x) for x in results]
    found = _dot(flatten(pull(unflatten(outer, cotangents)))[0], directions)
    wanted = _dot(_difference(function, leaves, spec, directions, _step(leaves, eps)), cotangents)
    _compare([np.asarray(found.real)], [np.asarray(wanted.real)], leaves, atol, rtol)


def _args(args: Any) -> tuple[list[np.ndarray], Any]:
    leaves, spec = flatten(tuple(args))
    return [np.asarray(x, np.result_type(x, np.float64) if not hasattr(x, "dtype") else None) for x in leaves], spec


def _step(leaves: list[np.ndarray], eps: Any) -> float:
    low = any(x.dtype.itemsize // (2 if x.dtype.kind == "c" else 1) < 8 for x in leaves)
    # A function may make numbers of low precision of those of high precision.
    return eps or (1e-2 if low else 1e-5)


def _compare(found: list[np.ndarray], wanted: list[np.ndarray], leaves: list[np.ndarray], atol: Any, rtol: Any) -> None:
    low = any(x.dtype.itemsize // (2 if x.dtype.kind == "c" else 1) < 8 for x in leaves)
    for a, b in zip(found, wanted, strict=True):
        least = max(_number(atol), 2e-2 if low else 1e-6)
        np.testing.assert_allclose(a, b, max(_number(rtol), 2e-2 if low else 1e-5), least * max(1.0, np.max(np.abs(b), initial=0)))


def _number(tol: Any) -> float:
    return max((float(each) for each in tol.values()), default=0.0) if isinstance(tol, dict) else float(tol or 0.0)


def check_grads(
    f: Any, args: Any, order: int, modes: Iterable[str] = ("fwd", "rev"), atol: Any = None, rtol: Any = None, eps: Any = None, **_: Any
) -> None:
    """Derivatives up to an order against differences, forwards and backwards in every sequence."""
    args = tuple(args)

    def check(function: Any, args: Any, left: int) -> None:
        if "fwd" in modes:
            along = functools.partial(weft.jvp, function)
            check_jvp(function, along, args, atol, rtol, eps)
            if left > 1:
                leaves, spec = _args(args)
                directions = [_like(np.random.default_rng(7), x) for x in leaves]
                check(lambda *args: weft.jvp(function, args, unflatten(spec, directions)), args, left - 1)
        if "rev" in modes:
            back = functools.partial(weft.vjp, function)
            check_vjp(function, back, args, atol, rtol, eps)
            if left > 1:
                results, outer = flatten(function(*args))
                cotangents = [_like(np.random.default_rng(8), x) for x in results]

                def pulled(*args: Any) -> Any:
                    given, pull = weft.vjp(function, *args)
                    return given, pull(unflatten(outer, cotangents))

                check(pulled, args, left - 1)

    check(f, args, order)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return Missing(f"jax._src.test_util.{name}")

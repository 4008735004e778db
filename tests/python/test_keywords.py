"""No argument is ignored: every function and method that compiles refuses names and values it has no use for, and takes those it has.

Functions are compiled in the front end only: behind each call under test stands one that never compiles, and which of the two an error is
about says whether the call under test was taken.
"""

import builtins
import cmath
import inspect
import itertools
import linecache
import math
import operator

import numpy as np
import pytest

import weft
from weft import cuda, njit
from weft.errors import WeftError

LAST = object()
KINDS = inspect.Parameter

# What calls are tried with, until one compiles.
FITTING = [
    tuple(args.split("; ")) if args else ()
    for args in (
        *("", "x", "n", "a", "m", "t", "z", "s", "3", "c", "i", "np.float64"),
        *("x; x", "n; n", "a; a", "m; m", "a; m", "m; a", "t; t", "x; n", "x; 2", "m; t", "a; n", "u; n", "t; x", "b; b"),
        *("m; (3, 2)", "n; np.float64", "3; np.float64"),
        *("a; i; x", "x; x; x", "b; x; x", "a; n; x", "u; 0; n", "u; n; n", "f; 0; x", "u; 0; n; n", "n; n; n", "-1; x; n"),
    )
]
NAMES = {
    "x": 1.5,
    "n": 3,
    "z": 1 + 2j,
    "b": True,
    "i": 0,
    "t": (1.0, 2.0),
    "a": np.ones(3),
    "m": np.ones((2, 3)),
    "u": np.ones(3, np.uint32),
    "f": np.ones(3),
    "c": np.ones(3) > 0,
    "s": np.float32(2),
}
counter = itertools.count()


def error_of(call: str, where, kernel: bool) -> str:
    """The first line of what the compiler says of a call; empty if it takes it."""
    text = f"def f({', '.join(NAMES)}):\n    {call}\n    LAST(x)\n"
    file = f"<call {next(counter)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    world = {"f_": where, "np": np, "LAST": LAST}
    exec(compile(text, file, "exec"), world)
    with pytest.raises(WeftError) as caught:
        if kernel:
            cuda.jit(world["f"])[1, 1](*NAMES.values())
        else:
            njit(world["f"])(*NAMES.values())
    del linecache.cache[file]
    message = str(caught.value)
    return "" if "LAST(x)" in message else message


def members(module, prefix=""):
    for name in dir(module):
        thing = getattr(module, name)
        if not name.startswith("_") and callable(thing) and not (isinstance(thing, type) and issubclass(thing, BaseException)):
            yield prefix + name, thing


def kernel_names():
    for name in dir(cuda.names):
        thing = getattr(cuda.names, name)
        if type(thing).__name__ == "_InKernel":
            yield name, thing
        elif type(thing).__name__ == "_Group":
            yield from ((f"{name}.{below}", one) for below, one in vars(thing).items() if type(one).__name__ == "_InKernel")


FUNCTIONS = {
    "numpy": lambda: members(np),
    "math": lambda: members(math),
    "cmath": lambda: members(cmath),
    "operator": lambda: members(operator),
    "builtins": lambda: members(builtins),
    "weft.math": lambda: ((name, getattr(weft.math, name)) for name in weft.math.__all__),
    "weft.numba": lambda: members(weft.numba),
    "cuda": kernel_names,
}
# So many functions of each module must be found to compile with some of the arguments above.
AT_LEAST = {"numpy": 180, "math": 55, "cmath": 23, "operator": 29, "builtins": 19, "weft.math": 20, "weft.numba": 15, "cuda": 78}


def parameters(thing):
    """A function's parameters; `None` where Python does not know them."""
    try:
        params = list(inspect.signature(thing).parameters.values())
    except (TypeError, ValueError):
        return None
    if hasattr(thing, "_weft_path_"):
        # A ufunc, whatever the function was that it is made of.
        params = [param.replace(kind=KINDS.POSITIONAL_ONLY) for param in params]
    return params


def check(label: str, thing, call: str, kernel: bool, params) -> bool:
    """Whether any call of this function compiles; if so, that it refuses what it must and takes what it should."""
    for form, args in itertools.product(("r = {}", "for r in {}: pass"), FITTING):
        message = error_of(form.format(f"{call}({', '.join(args)})"), thing, kernel)
        if not message:
            break
        if any(unknown in message for unknown in ("is not known", "has no attribute", "have no method")):
            return False
    else:
        return False

    def error(*args: str) -> str:
        return error_of(form.format(f"{call}({', '.join(args)})"), thing, kernel)

    assert "bogus" in error(*args, "bogus=1"), f"{label}({args}, bogus=1): {error(*args, 'bogus=1') or 'compiles'}"
    if params is not None:
        refuses_nonsense(label, error, args, params)
        takes_names(label, error, args, params)
    return True


def refuses_nonsense(label, error, args, params):
    """Every other parameter that the function has in Python is obeyed or refused, so that a value that makes no sense never passes."""
    by_position = [p for p in params if p.kind in (KINDS.POSITIONAL_ONLY, KINDS.POSITIONAL_OR_KEYWORD)]
    for param in params:
        if param.kind == KINDS.KEYWORD_ONLY or param in by_position[len(args) :]:
            assert error(*args, f"{param.name}='nonsense'"), f"{label}({args}, {param.name}='nonsense')"
    if not any(p.kind == KINDS.VAR_POSITIONAL for p in params):
        for extra in range(1, len(by_position) - len(args) + 2):
            assert error(*args, *["'nonsense'"] * extra), f"{label}({args}) and {extra} more"


def takes_names(label, error, args, params):
    """What was given by position is taken by name where Python takes it so, and refused where Python refuses it."""
    for i in reversed(range(min(len(args), len(params)))):
        named = [f"{param.name}={arg}" for param, arg in zip(params[i:], args[i:], strict=False)]
        if params[i].kind == KINDS.POSITIONAL_OR_KEYWORD:
            assert not error(*args[:i], *named), f"{label}({args[:i]}, {named}): {error(*args[:i], *named)}"
        elif params[i].kind == KINDS.POSITIONAL_ONLY:
            assert error(*args[:i], *named), f"{label}({args[:i]}, {named})"
        else:
            return


@pytest.mark.parametrize("module", FUNCTIONS)
def test_functions(module):
    kernel = module == "cuda"
    tested = [name for name, thing in FUNCTIONS[module]() if check(f"{module}.{name}", thing, "f_", kernel, parameters(thing))]
    print(module, len(tested), tested)
    assert len(tested) >= AT_LEAST[module], tested


RECEIVERS = [(np.ndarray, "m"), (np.ndarray, "z * a"), (np.float64, "x"), (np.complex128, "z"), (np.float32, "s"), (int, "n")]


@pytest.mark.parametrize(("kind", "receiver"), RECEIVERS)
def test_methods(kind, receiver):
    tested = []
    for name, method in members(kind):
        params = parameters(method)
        if check(f".{name}", None, f"({receiver}).{name}", False, params and params[1:]):
            tested.append(name)
    print(kind, tested)
    assert len(tested) >= 2


CALLS = [
    lambda a, m: np.clip(a, a_min=0, a_max=1),
    lambda a, m: np.clip(a, min=0.5),
    lambda a, m: np.clip(a, None, 1),
    lambda a, m: np.clip(a=a, a_min=m[0], a_max=None),
    lambda a, m: np.dot(a, b=a),
    lambda a, m: np.dot(a=m, b=a),
    lambda a, m: np.sum(a=m, axis=0),
    lambda a, m: np.max(m, axis=1),
    lambda a, m: np.transpose(m, axes=(1, 0)),
    lambda a, m: np.reshape(m, shape=(3, 2), order="C"),
    lambda a, m: m.reshape(3, -1, order="C"),
    lambda a, m: m.T.copy(order="C"),
    lambda a, m: np.round(a * 1.37, decimals=1),
    lambda a, m: np.angle(a + 1j, deg=True),
    lambda a, m: np.isclose(a, b=a + 0.01, rtol=0.1),
    lambda a, m: np.nan_to_num(x=a * np.nan, nan=7.0),
    lambda a, m: np.full(shape=3, fill_value=2, dtype=np.int32),
    lambda a, m: np.full_like(a=m, fill_value=2),
    lambda a, m: np.linspace(start=0, stop=1, num=5, endpoint=False, retstep=False),
    lambda a, m: np.arange(1, stop=7, step=2),
    lambda a, m: round(number=a[0], ndigits=1),
    lambda a, m: pow(base=a[0], exp=2),
    lambda a, m: complex(real=a[0], imag=2.0),
    lambda a, m: math.isclose(a=a[0], b=a[0] + 1e-3, abs_tol=1e-2),
    lambda a, m: math.prod((2.0, a[1]), start=3.0),
    lambda a, m: sum((1.0, a[1]), start=3.0),
]


@pytest.mark.parametrize("call", CALLS, ids=[str(i) for i in range(len(CALLS))])
def test_names_have_pythons_meaning(call):
    a, m = np.array([-0.5, 0.75, 2.0]), np.arange(6.0).reshape(2, 3)
    with np.errstate(all="ignore"):
        expected = call(a, m)
        got = njit(error_model="numpy")(call)(a, m)
    np.testing.assert_allclose(got, expected, rtol=1e-14)
    assert np.asarray(got).dtype == np.asarray(expected).dtype


def test_one_bound_alone_is_refused_as_numpy_does():
    for call in (lambda x: np.clip(x, 1), lambda x: np.clip(x, a_max=1), lambda x: np.clip(x, 0, 1, max=2)):
        with pytest.raises((TypeError, ValueError)):
            call(1.5)
        with pytest.raises(weft.errors.ArgumentError):
            njit(call)(1.5)

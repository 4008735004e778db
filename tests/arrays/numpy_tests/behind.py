"""Weft behind the name `numpy`, for NumPy's own tests and for nothing else in their process.

A module of tests is given its own `__import__`. What it imports as `numpy` has Weft's attributes where Weft has them; NumPy's where these
are no functions of arrays (dtypes, settings, exceptions, helpers of `numpy.testing`); and of everything else, NumPy's insides above all,
nothing: that can be imported, so that the other tests of the module run, and raises when it is used.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import inspect
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy

PLAIN = {
    "dtype", "typecodes", "sctypeDict", "errstate", "seterr", "geterr", "seterrcall", "geterrcall", "errcall", "setbufsize", "getbufsize",
    "iinfo", "finfo", "pi", "e", "inf", "nan", "newaxis", "euler_gamma", "little_endian", "promote_types", "can_cast", "issubdtype",
    "min_scalar_type", "printoptions", "set_printoptions", "get_printoptions", "True_", "False_", "s_", "index_exp", "ScalarType",
    "show_config", "get_include", "typename",
}  # fmt: skip
"""Names that have nothing to do with who computes."""
STATE = ("errstate", "seterr", "geterr", "seterrcall", "geterrcall", "setbufsize", "getbufsize")
"""NumPy's, also where the module has them: tests set them around what they compute, and that they have no say is told in the list."""
SAME = (
    "numpy.exceptions",
    "numpy.dtypes",
    "numpy.testing.overrides",
    "numpy._core.tests",
    "numpy.lib.tests",
    "numpy.version",
    "numpy._utils",
)
"""Modules that are NumPy's own: no functions of arrays, and the tests' helpers."""
COMPARISONS = (
    "assert_equal", "assert_almost_equal", "assert_approx_equal", "assert_array_equal", "assert_array_almost_equal", "assert_array_less",
    "assert_allclose", "assert_array_almost_equal_nulp", "assert_array_max_ulp", "assert_array_compare", "assert_string_equal",
)  # fmt: skip


class NotThere(AttributeError):
    """Weft does not have what a test uses."""


class Missing:
    """Something that Weft does not have. While modules are imported it can be called, decorate and be a base class; in a test it raises."""

    importing = True

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name == "__name__" and self._name.startswith("numpy.polynomial."):
            # Tests of every series name them: without, those of powers were lost with the others.
            return self._name.rpartition(".")[2]
        if name.startswith("__"):
            raise AttributeError(name)
        return Missing(f"{self._name}.{name}")

    def __call__(self, *args: Any, **kw: Any) -> Any:
        if Missing.importing:
            return self
        raise NotThere(f"{self._name} is not there")

    def __mro_entries__(self, _bases: Any) -> tuple[type, ...]:
        return (object,)

    def __iter__(self) -> Any:
        return iter(() if Missing.importing else self())

    def __bool__(self) -> bool:
        return False

    def __enter__(self) -> Any:
        return self()

    def __exit__(self, *_args: Any) -> None:
        return None


class Behind:
    """The module that is tested, and whether the test that runs has used it."""

    def __init__(self, module: Any, part: str = "") -> None:
        self.module = module
        self.array = type(module.zeros(1))
        self.used = False
        random = Sources(self, "numpy.random") if part == "draws" else Made(self, numpy.random)
        self.faces: dict[str, Any] = {"numpy.random": random, "numpy.testing": Testing(self, numpy.testing)}

    def face(self, name: str) -> Any:
        """What a test sees of the module of this name."""
        if name.startswith(SAME):
            return importlib.import_module(name)
        if name.startswith("numpy.testing."):
            return Testing(self, importlib.import_module(name))
        if name not in self.faces:
            self.faces[name] = Face(self, name)
        return self.faces[name]

    def load(self, name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        """`__import__` of the tests."""
        if level or name.partition(".")[0] != "numpy":
            return builtins.__import__(name, globals, locals, fromlist, level)
        return self.face(name if fromlist else "numpy")

    def builtins(self) -> dict[str, Any]:
        """`__builtins__` of a module of tests."""
        return {**vars(builtins), "__import__": self.load}

    def plain(self, value: Any) -> Any:
        """NumPy's arrays for Weft's, to be compared: a test that has some uses Weft, by functions that it found before, too."""
        if isinstance(value, self.array):
            self.used = True
            return numpy.array(numpy.asarray(value))
        if type(value) in (tuple, list):
            return type(value)(map(self.plain, value))
        return {key: self.plain(each) for key, each in value.items()} if type(value) is dict else value

    def made(self, value: Any) -> Any:
        """Weft's arrays for NumPy's."""
        return self.module.asarray(value) if type(value) is numpy.ndarray else value


class Face:
    """`numpy`, or a module in it."""

    def __init__(self, behind: Behind, name: str) -> None:
        self._behind = behind
        self._path = name
        # Not the real one's: Python would look into sys.modules for what is not there.
        self.__name__ = f"behind {name}"

    def __getattr__(self, name: str) -> Any:
        full = f"{self._path}.{name}"
        if self._path == "numpy" and name in STATE:
            return getattr(numpy, name)
        if self._path != "numpy" and not name.startswith("_") and self._is_of_the_top(name):
            return getattr(self._behind.face("numpy"), name)
        own = getattr(self._module(), name, None)
        if isinstance(own, ModuleType) and own.__name__.startswith(self._behind.module.__name__):
            return self._behind.face(full)
        if own is not None and not isinstance(own, ModuleType):
            self._behind.used |= own is not getattr(numpy, name, None)
            return own
        if self._path == "numpy":
            if name in PLAIN or (name.startswith("__") and hasattr(numpy, name)):
                return getattr(numpy, name)
            found = numpy.testing if name == "testing" else getattr(numpy, name, None)
            if isinstance(found, type) and issubclass(found, numpy.generic):
                return found
            if isinstance(found, ModuleType):
                return self._behind.face(full)
        if Missing.importing and not name.startswith("__"):
            return Missing(full)
        raise NotThere(f"{full} is not there")

    def _is_of_the_top(self, name: str) -> bool:
        """Whether a module inside has under this name what `numpy` itself has."""
        module = sys.modules.get(self._path)
        return hasattr(module, name) and hasattr(numpy, name) and getattr(module, name) is getattr(numpy, name)

    def _module(self) -> Any:
        """Where Weft would have it."""
        if self._path == "numpy":
            return self._behind.module
        found = self._behind.module
        for part in self._path.split(".")[1:]:
            found = getattr(found, part, None)
        return found


class Sources(Face):
    """`numpy.random` for its own tests: they ask for bit generators that Weft does not have, and get one that it has.

    What they check of arguments, shapes and errors is the same; what they check of numbers is listed as numbers of another generator.
    """

    def __getattr__(self, name: str) -> Any:
        if name in ("MT19937", "PCG64", "PCG64DXSM", "SFC64"):
            return self._module().Philox4x32
        if name in ("mtrand", "_generator"):
            return self
        return super().__getattr__(name)


class Testing:
    """`numpy.testing`: comparisons take Weft's arrays as NumPy's, and check nothing less."""

    def __init__(self, behind: Behind, module: ModuleType) -> None:
        self._behind = behind
        self._module = module
        self.__name__ = f"behind {module.__name__}"

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        if isinstance(found, ModuleType):
            return Testing(self._behind, found)
        return self._comparing(found) if name in COMPARISONS else found

    def _comparing(self, function: Callable) -> Callable:
        @functools.wraps(function)
        def compare(*args: Any, **kw: Any) -> Any:
            return function(*map(self._behind.plain, args), **kw)

        return compare


class Made:
    """`numpy.random` and what is in it: the arrays that it gives are Weft's."""

    def __init__(self, behind: Behind, real: Any) -> None:
        self._behind = behind
        self._real = real
        self.__name__ = "behind numpy.random"

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._real, name)
        makes = callable(found) and not inspect.isclass(found)
        return Made(self._behind, found) if makes or name in ("RandomState", "default_rng") else found

    def __call__(self, *args: Any, **kw: Any) -> Any:
        result = self._real(*map(self._behind.plain, args), **kw)
        is_source = isinstance(result, (numpy.random.RandomState, numpy.random.Generator))
        return Made(self._behind, result) if is_source else self._behind.made(result)

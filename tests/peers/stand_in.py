"""Weft under Numba's name: what ``numba`` and ``numba.cuda`` are while numba-cuda's own tests run.

`install` puts a finder before Python's own. ``numba`` and ``numba.cuda`` are Weft's; the tests' packages are those of the unpacked wheel;
`testing` is ours. Of Numba's insides, and of packages that only its own tests need, everything can be imported and nothing used: a module
that needs one for one of its tests can run the others.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import types as python_types
import unittest
from pathlib import Path
from typing import Any

# What stands for the modules whose names tests use beyond `numba.cuda` itself.
SAME = {
    "numba": "weft.numba",
    "numba.cuda": "weft.numba.cuda",
    "numba.types": "weft.types",
    "numba.core.types": "weft.types",
    "numba.cuda.types": "weft.types",
    "numba.cuda.compiler": "weft.numba.cuda",
    "numba.cuda.random": "weft.numba.cuda.random",
}
TESTS = "numba.cuda.tests"
PACKAGES = ("numba", "llvmlite", "cffi", "cuda")


class Missing:
    """Something of Numba's insides that Weft does not have. While modules are imported it can be called, decorate and be a base class;
    what it has made of something is as little there. To use it in a test raises.
    """

    # Processes that tests start import no tests.
    importing = "PYTEST_CURRENT_TEST" not in os.environ

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Missing(f"{self._name}.{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if Missing.importing:
            return self
        raise NotImplementedError(f"{self._name} is one of Numba's insides")

    def __iter__(self) -> Any:
        return iter(())

    def __bool__(self) -> bool:
        return False

    def __mro_entries__(self, bases: Any) -> tuple[type, ...]:
        return ()

    def __repr__(self) -> str:
        return f"<{self._name}, which Weft does not have>"


class Named:
    """What stands for `types.Type` where tests make types of their own."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass


class Lenient(python_types.ModuleType):
    """One of Weft's modules under its own name, by which compiled functions know it. What it lacks can be named, as of Numba's insides."""

    __path__: list[str] = []
    HAS_NUMBA = False

    def __init__(self, alias: str, real: str) -> None:
        super().__init__(real)
        self._alias, self._real = alias, importlib.import_module(real)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if hasattr(self._real, name):
            return getattr(self._real, name)
        if f"{self._alias}.{name}" in Finder.made:
            return importlib.import_module(f"{self._alias}.{name}")
        return Missing(f"{self._alias}.{name}")


class Inside(python_types.ModuleType):
    """A module of Numba's insides."""

    __path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Missing(f"{self.__name__}.{name}")


class Loader(importlib.abc.Loader):
    """Gives a module that exists, and gives it back the names that importing writes over."""

    def __init__(self, module: python_types.ModuleType) -> None:
        self.module, self.name = module, module.__name__

    def create_module(self, spec: Any) -> python_types.ModuleType:
        return self.module

    def exec_module(self, module: Any) -> None:
        module.__name__ = self.name


class Finder(importlib.abc.MetaPathFinder):
    """Finds everything below `numba`."""

    made: dict[str, Any] = {}

    def __init__(self, tests: Path) -> None:
        """`tests` is a copy of the folder `numba/cuda/tests`."""
        self.tests = tests
        self.made.update({name: Lenient(name, real) for name, real in SAME.items()})
        self.made["numba.cuda.memory_management.nrt"] = nrt = Inside("numba.cuda.memory_management.nrt")
        # Counters of Numba's own allocator, which tests turn on before they begin.
        nrt.rtsys = python_types.SimpleNamespace(memsys_enable_stats=bool, memsys_disable_stats=bool, get_allocation_stats=_no_allocations)
        vars(importlib.import_module("weft.types")).update(_domains())
        for name in ("numba.types", "numba.core.types", "numba.cuda.types"):
            self.made[name].Type = Named
        self.made["numba.cuda.testing"] = _testing()
        self.made["numba.cuda.utils"] = Inside("numba.cuda.utils")
        self.made["numba.cuda.utils"].PYVERSION = sys.version_info[:2]
        self.made["numba.cuda.np"] = Inside("numba.cuda.np")
        self.made["numba.cuda.np.numpy_support"] = self.made["numba.cuda.np"].numpy_support = _numpy_support()
        self.made["numba.core.errors"] = self.made["numba.cuda.core.errors"] = self.made["numba.cuda.errors"] = _errors()

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        root = name.partition(".")[0]
        if root not in PACKAGES or (root != "numba" and self.is_installed(root)):
            return None
        if name == TESTS or name.startswith(TESTS + "."):
            return self.of_the_tests(name)
        module = self.made.get(name) or Inside(name)
        return importlib.machinery.ModuleSpec(name, Loader(module), is_package=True)

    def is_installed(self, package: str) -> bool:
        others = (finder for finder in sys.meta_path if finder is not self)
        return any(finder.find_spec(package, None) for finder in others)

    def of_the_tests(self, name: str) -> Any:
        place = self.tests.joinpath(*name.split(".")[3:])
        if (place / "__init__.py").exists():
            return importlib.util.spec_from_file_location(name, place / "__init__.py", submodule_search_locations=[str(place)])
        file = place.with_suffix(".py")
        return importlib.util.spec_from_file_location(name, file) if file.exists() else None


def _domains() -> dict[str, Any]:
    """Numba's sets of types, which tests loop over."""
    from weft import types

    signed = (types.int8, types.int16, types.int32, types.int64)
    unsigned = (types.uint8, types.uint16, types.uint32, types.uint64)
    real, complex_ = (types.float32, types.float64), (types.complex64, types.complex128)
    return {
        "signed_domain": signed, "unsigned_domain": unsigned, "integer_domain": signed + unsigned,
        "real_domain": real, "complex_domain": complex_, "number_domain": signed + unsigned + real + complex_,
    }  # fmt: skip


def _no_allocations() -> Any:
    return python_types.SimpleNamespace(alloc=0, free=0, mi_alloc=0, mi_free=0)


def _errors() -> python_types.ModuleType:
    """Numba's names for what Weft raises."""
    from weft import errors

    module = python_types.ModuleType("numba.core.errors")
    module.__dict__.update({name: value for name, value in vars(errors).items() if isinstance(value, type)})
    module.TypingError = (errors.TypingError, errors.UnsupportedError, errors.NameError_, errors.ConstantError)
    module.LoweringError = module.UnsupportedError = module.ConstantInferenceError = module.TypingError
    module.NumbaValueError = module.NumbaTypeError = module.TypingError
    module.NumbaPerformanceWarning = module.NumbaDebugInfoWarning = module.NumbaInvalidConfigWarning = UserWarning
    module.NumbaWarning = module.NumbaDeprecationWarning = module.NumbaPedanticWarning = UserWarning
    module.__getattr__ = lambda name: Missing(f"numba.core.errors.{name}")  # type: ignore[method-assign]
    return module


def _numpy_support() -> python_types.ModuleType:
    """Types for dtypes and back."""
    import numpy

    from weft import types

    module = Inside("numba.cuda.np.numpy_support")
    major, minor = numpy.__version__.split(".")[:2]
    module.__dict__.update(numpy_version=(int(major), int(minor)), from_dtype=types.element, as_dtype=lambda ty: ty.dtype)
    return module


def _testing() -> python_types.ModuleType:
    """What `numba.cuda.testing` has for tests."""
    module = python_types.ModuleType("numba.cuda.testing")

    def skip(reason: Any = "") -> Any:
        return lambda test: unittest.skip(str(reason))(test)

    def keep(reason: Any = "") -> Any:
        return lambda test: test

    def at_least(major: int, minor: int) -> Any:
        import weft

        capability = weft.current_device().compute_capability
        return lambda test: unittest.skipUnless(capability in ((0, 0),) or capability >= (major, minor), "an older device")(test)

    module.__dict__.update(
        unittest=unittest,
        skip_on_cudasim=keep, skip_on_arm=keep, skip_on_wsl2=keep, skip_under_cuda_memcheck=keep, skip_if_external_memmgr=keep,
        skip_with_nvdisasm=keep, skip_on_standalone_numba_cuda=keep(), skip_unless_cudasim=skip,
        skip_unless_conda_cudatoolkit=skip, skip_without_nvdisasm=skip, skip_if_cuda_includes_missing=skip("needs CUDA's headers"),
        skip_if_curand_kernel_missing=skip("needs cuRAND"), skip_if_cudadevrt_missing=keep(), skip_if_nvjitlink_missing=skip,
        skip_on_nvjitlink_13_1_sm_120=keep, skip_unless_cc_50=at_least(5, 0), skip_unless_cc_53=at_least(5, 3),
        skip_unless_cc_60=at_least(6, 0), skip_unless_cc_75=at_least(7, 5), skip_unless_cc_90=at_least(9, 0),
        xfail_unless_cudasim=unittest.expectedFailure, cc_X_or_above=lambda major, minor: True, test_data_dir=Path("/nowhere"),
    )  # fmt: skip

    def case(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        from numba.cuda.tests.support import TestCase  # type: ignore[import-not-found]

        class CUDATestCase(TestCase):
            """Device tests. What they check of Numba's LLVM IR and assembly has no meaning here."""

            FLOAT16_RTOL = 2.0**-10

            def _of_numbas_code(self, *args: Any, **kwargs: Any) -> None:
                self.skipTest("checks the text of Numba's own code generator")

            assertFileCheckAsm = assertFileCheckLLVM = assertFileCheckMatches = _of_numbas_code

        class ForeignArray:
            """An array of another library."""

            def __init__(self, arr: Any) -> None:
                self._arr = arr
                self.__cuda_array_interface__ = arr.__cuda_array_interface__

        module.__dict__.update(CUDATestCase=CUDATestCase, ForeignArray=ForeignArray)
        if name not in module.__dict__:
            raise AttributeError(f"numba.cuda.testing has no {name} here")
        return module.__dict__[name]

    module.__getattr__ = case  # type: ignore[method-assign]
    return module


def install(tests: Path) -> None:
    """From here on `numba` is Weft, and `numba.cuda.tests` that folder."""
    sys.meta_path.insert(0, Finder(tests))

"""What an operation is made of, and what cannot be one. Needs no framework."""

from __future__ import annotations

import doctest
import math
import subprocess
import sys
import warnings

import numpy as np
import pytest

import weft
from weft import cuda, njit
from weft.frameworks.operation import Operation, check_name, gradients, warn_if_older
from weft.frameworks.running import result_dtype, runner

from . import functions as f

like = weft.like


def test_frameworks_are_imported_when_they_are_used():
    program = (
        "import sys, weft; from weft import like; weft.frameworks.operation;"
        "assert not {'torch', 'jax', 'tensorflow'} & set(sys.modules); print(like('x'))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "like('x')\n", done.stderr
    with pytest.raises(AttributeError, match="has no attribute 'mx_op'"):
        weft.frameworks.mx_op


def test_what_stands_in_the_docstrings():
    from weft.frameworks import operation

    found = doctest.testmod(operation, extraglobs={"weft": weft})
    assert found.attempted >= 2 and not found.failed


def test_old_versions_are_told_of():
    with pytest.warns(UserWarning, match=r"tested with 2\.9, this is 2\.4\.1"):
        warn_if_older("PyTorch", "2.4.1+cpu", (2, 9))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_older("PyTorch", "2.10.0", (2, 9))


def test_parameters():
    operation = Operation(f.mixed)
    assert [(p.name, p.kind) for p in operation.parameters] == [("x", "array"), ("y", "array"), ("a", "float"), ("n", "int")]
    assert operation.parameters[2].default == 2.0 and operation.sort == "vectorized"
    assert [p.kind for p in Operation(f.mixed, numbers={"y": float}).parameters] == ["array", "float", "float", "int"]


def test_results_are_the_last_parameters_of_a_kernel():
    one = Operation(f.product, out=like("a"))
    assert [p.name for p in one.parameters] == ["a", "b"] and one.order == [("in", 0), ("in", 1), ("out", 0)]
    other = Operation(f.product, out={"a": like("b")})
    assert [p.name for p in other.parameters] == ["b", "out"] and other.order == [("out", 0), ("in", 0), ("in", 1)]


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: Operation(len), TypeError, "that njit, vectorize or cuda.jit compiles, not of builtin"),
        (lambda: Operation(cuda.jit(device=True)(lambda x: x)), TypeError, "a function for kernels"),
        (lambda: Operation(f.scaled), ValueError, "say what it gives"),
        (lambda: Operation(f.double, out=like("x")), ValueError, "leave out= out"),
        (lambda: Operation(f.scaled, out=like("q")), ValueError, "'q' is no array among the parameters x, factor"),
        (lambda: Operation(f.scaled, out=like("factor")), ValueError, "'factor' is no array"),
        (lambda: Operation(f.scaled, out=3), TypeError, "or several of these, not 3"),
        (lambda: Operation(f.scaled, out=lambda q: q), ValueError, "'q' is none of x, factor"),
        (lambda: Operation(f.scaled, out={"q": like("x")}), ValueError, "has no parameter 'q'"),
        (lambda: Operation(f.growing, mutates="q"), ValueError, "mutates: 'q' is no array"),
        (lambda: Operation(f.double, mutates="x"), ValueError, "leave mutates= out"),
        (lambda: Operation(f.growing, mutates="x", vjp=lambda g: g), ValueError, "has no gradient"),
        (lambda: Operation(f.double, vjp=lambda q: q), ValueError, "'q' is none of x, out, g"),
        (lambda: Operation(f.double, vjp=2), TypeError, "vjp is a function"),
        (lambda: Operation(f.double, numbers={"x": str}), ValueError, "x is float, int or bool"),
        (lambda: Operation(f.double, numbers={"q": int}), ValueError, "has no parameter 'q'"),
        (lambda: Operation(f.double, numbers={"x": float}), ValueError, "no array among its parameters"),
        (lambda: Operation(f.scaled, out=like("x"), grid=3), ValueError, "is no kernel"),
        (lambda: Operation(f.product, out=like("a"), grid=3, launch=(1, 2)), ValueError, "give one of them"),
        (lambda: Operation(f.product, out=[like("a")] * 4), ValueError, "too few for 4 results"),
        (lambda: Operation(njit(lambda x, a=1: x), out=like("x")), ValueError, "a is an array, which has no default"),
        (lambda: Operation(njit(lambda x, a=math.inf: x), out=like("x"), numbers={"a": float}), ValueError, "has to be a finite number"),
        (lambda: Operation(njit(lambda *x: x), out=like("x")), ValueError, "takes any number of arguments"),
        (lambda: Operation(njit(lambda g: g), out=like("g"), vjp=lambda g: g), ValueError, "has a parameter of that name"),
        (lambda: like(3), TypeError, "takes the name of a parameter"),
        (lambda: check_name("double"), ValueError, "named as 'my::op'"),
        (lambda: check_name("my::for"), ValueError, "named as 'my::op'"),
        (lambda: gradients(Operation(f.mixed), (1,)), ValueError, "one for each of x, y"),
    ],
)
def test_what_is_refused(make, error, says):
    with pytest.raises(error, match=says.replace("(", r"\(")):
        make()


def test_result_types_are_numpys():
    assert result_dtype(Operation(f.double), (np.dtype("int8"),)) == f.double(np.ones(1, np.int8)).dtype
    assert result_dtype(Operation(f.mixed), (np.dtype("float32"), np.dtype("int64"))) == np.float64


def test_runs_on_arrays_of_the_host():
    x = np.arange(4.0)
    out = np.empty(4)
    runner(Operation(f.double))([x], [out], None)
    assert out.tolist() == [0, 2, 4, 6]
    runner(Operation(f.scaled, out=like("x")))([x, 3.0], [out], None)
    assert out.tolist() == [0, 3, 6, 9]
    runner(Operation(f.product, out=like("a")))([x, x], [out], None)
    assert out.tolist() == [0, 1, 4, 9]
    sums = np.full(1, 5.0)
    runner(Operation(f.total, out=like("x", shape=1, fill=0), grid=lambda x: x.shape))([x], [sums], None)
    assert sums.tolist() == [6]


CUDA = [device for device in weft.devices() if device.kind == "cuda"]


@pytest.mark.skipif(not CUDA, reason="no CUDA device, nor its double")
def test_runs_on_arrays_of_cuda_devices():
    """As operations of PyTorch and JAX run there: on views of others' memory, in the order of a stream."""
    place = (CUDA[0].index, None)
    with CUDA[0]:
        stream = cuda.stream()
        for where in (place, (CUDA[0].index, stream)):
            x, out = cuda.to_device(np.arange(5, dtype=np.float32)), cuda.to_device(np.zeros(5, np.float32))
            cuda.synchronize()
            runner(Operation(f.double))([x], [out], where)
            stream.synchronize()
            assert out.copy_to_host().tolist() == [0, 2, 4, 6, 8]
            runner(Operation(f.product, out=like("a", fill=0)))([x, x], [out], where)
            stream.synchronize()
            assert out.copy_to_host().tolist() == [0, 1, 4, 9, 16]
            sums = cuda.to_device(np.full(1, 5, np.float32))
            runner(Operation(f.total, out=like("x", shape=1, fill=1), grid=lambda x: x.shape))([x], [sums], where)
            stream.synchronize()
            assert sums.copy_to_host().tolist() == [11]
            with pytest.raises(RuntimeError, match=r"writes to y, an argument of its operation: name it, mutates=\('y',\)"):
                runner(Operation(f.added, out={"x": like("y")}))([x], [out], where)
            with pytest.raises(RuntimeError, match="which runs on the CPU"):
                runner(Operation(f.scaled, out=like("x")))([x, 1.0], [out], where)


@pytest.mark.skipif(not CUDA, reason="no CUDA device, nor its double")
def test_views_of_what_others_lend():
    """A capsule is looked at, and stays whoever's it was."""
    from weft._weft import view_of_dlpack

    host = np.arange(12.0).reshape(3, 4)
    for each in (host, host.T, host[::2], host[:0], host[1, 2, ...], np.ones(2, bool), np.ones(2, np.complex64)):
        capsule = each.__dlpack__()
        view = view_of_dlpack(capsule, each, False)
        assert view.tolist() == each.tolist() and view.dtype == each.dtype and not (each.size and view.flags.writeable)
        assert '"dltensor"' in repr(capsule) and np.shares_memory(view, each) == bool(each.size)
    writable = view_of_dlpack(host.__dlpack__(), host, True)
    writable[0, 0] = 7
    assert host[0, 0] == 7
    with CUDA[0]:
        there = cuda.to_device(host)
    view = view_of_dlpack(there.__dlpack__(), there, True)
    assert view.shape == (3, 4) and view.memory.address == there.__cuda_array_interface__["data"][0]
    with pytest.raises(TypeError, match="a DLPack capsule that nobody has used"):
        view_of_dlpack(host.__dlpack__(max_version=(1, 0)), host, False)
    with pytest.raises(TypeError, match="a DLPack capsule"):
        view_of_dlpack(host, host, False)

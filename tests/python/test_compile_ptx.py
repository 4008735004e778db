"""PTX for programs of others: what it declares, and that NVIDIA's assembler takes it."""

from __future__ import annotations

import glob
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from weft import cuda
from weft.types import boolean, complex64, float32, float64, int8, int32, int64, none, uint8


def add(r, x, y):
    i = cuda.grid(1)
    if i < r.size:
        r[i] = x[i] + y[i]


def plus(x, y):
    return x + y


def ratio(x, y):
    return x / y


def product_and_sum(x, y):
    return x * y + x


def both(x, y):
    return math.sin(x) * y, x > y


@cuda.jit(device=True)
def hypot(x, y):
    return math.sqrt(x * x + y * y)


def norms(r, z):
    i = cuda.grid(1)
    if i < r.size:
        r[i] = hypot(z[i].real, z[i].imag)


def ptxas():
    """NVIDIA's assembler, which the package nvidia-cuda-nvcc has."""
    named = os.environ.get("WEFT_PTXAS")
    found = [named] if named else sorted(glob.glob(str(Path(sys.prefix, "lib/python3.*/site-packages/nvidia/cu*/bin/ptxas"))))
    if not found:
        pytest.skip("no ptxas here: pip install nvidia-cuda-nvcc")
    return found[0]


def assembles(ptx, sm):
    command = [ptxas(), f"-arch=sm_{sm}", "-o", os.devnull, "-"]
    # What is called from elsewhere alone is kept when the assembler makes an object to be linked.
    if ".entry" not in ptx:
        command.insert(1, "-c")
    done = subprocess.run(command, input=ptx, text=True, capture_output=True)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}\n{ptx}"


def params(ptx, name):
    """The types of an entry's parameters in the PTX."""
    declared = re.search(rf"\b{name}\s*\((.*?)\)", ptx, re.DOTALL)
    assert declared, ptx
    return re.findall(r"\.param (?:\.align \d+ )?(\.\w+)", declared[1])


@pytest.mark.parametrize("cc", [(7, 5), (8, 0), (9, 0), (10, 0), (12, 0)])
def test_a_kernel(cc):
    ptx, result = cuda.compile_ptx(add, (float32[::1], float32[::1], float32[:]), cc=cc)
    assert result == none
    assert f".target sm_{cc[0]}{cc[1]}" in ptx
    assert ".visible .entry weft_add(" in ptx
    assert "func_retval" not in ptx
    # An address and a length each; the last has a stride, too. All of them, whether they are read or not.
    assert params(ptx, "weft_add") == [".u64"] * 7
    assembles(ptx, 10 * cc[0] + cc[1])


def test_parameters_do_not_hang_on_what_is_read():
    def unused(n, flag, z, pair, x):
        pass

    ptx, _ = cuda.compile_ptx(unused, "void(int8, bool, complex64, Tuple(int32, float64), float32[:, ::1])")
    assert params(ptx, "weft_unused") == [".u8", ".u8", ".f32", ".f32", ".u32", ".f64", ".u64", ".u64", ".u64"]
    assembles(ptx, 75)


def test_a_kernel_that_calls_a_device_function():
    ptx, _ = cuda.compile_ptx(norms, (float32[:], complex64[:]))
    assembles(ptx, 90)


def test_a_compiled_kernel_is_taken_too():
    kernel = cuda.jit(add)
    ptx, _ = cuda.compile_ptx(kernel, (float64[::1],) * 3)
    assert ".f64" in ptx


@pytest.mark.parametrize(
    "signature, result, returned",
    [
        ((float32, float32), float32, ".b32"),
        ((float64, int32), float64, ".b64"),
        ("int8(int32, int32)", int8, ".b32"),
        (uint8(int64, int64), uint8, ".b32"),
        ((complex64, complex64), complex64, ".b8"),
    ],
)
def test_a_function_as_c_calls_it(signature, result, returned):
    ptx, given = cuda.compile_ptx(plus, signature, device=True)
    assert given == result
    assert ".visible .entry" not in ptx
    assert re.search(rf"\.visible \.func\s+\(\.param (\.align \d+ )?{re.escape(returned)} func_retval0(\[\d+\])?\) plus\(", ptx), ptx
    assembles(ptx, 80)


def test_results_that_are_a_structure_or_nothing():
    ptx, result = cuda.compile(both, (float64, float64))
    assert result.types == (float64, boolean)
    assembles(ptx, 75)

    def nothing(x):
        x[0] = 1

    assert cuda.compile_all(nothing, (float32[:],)) == ([cuda.compile(nothing, (float32[:],))[0]], none)
    ptx, result = cuda.compile(nothing, (float32[:],))
    assert result == none and "func_retval" not in ptx
    assembles(ptx, 75)


def test_names():
    ptx, _ = cuda.compile(plus, int32(int32, int32), abi_info={"abi_name": "sum_of_two"})
    assert ") sum_of_two(" in ptx
    ptx, _ = cuda.compile_ptx(add, (float32[:],) * 3, abi_info={"abi_name": "sum_of_two"})
    assert ".entry sum_of_two(" in ptx
    with pytest.raises(ValueError, match="no name in PTX"):
        cuda.compile(plus, (int32, int32), abi_info={"abi_name": "a-b"})
    with pytest.raises(ValueError, match="abi_info has abi_name"):
        cuda.compile(plus, (int32, int32), abi_info={"nm": "a"})


def test_options():
    exact, _ = cuda.compile(ratio, (float32, float32))
    fast, _ = cuda.compile(ratio, (float32, float32), fastmath=True)
    assert "div.rn.f32" in exact and "div.rn" not in fast
    fused, _ = cuda.compile(product_and_sum, (float32, float32))
    apart, _ = cuda.compile(product_and_sum, (float32, float32), fma=False)
    assert "fma.rn" in fused and "fma.rn" not in apart
    bounded, _ = cuda.compile_ptx(add, (float32[:],) * 3, launch_bounds=(128, 2))
    assert ".maxntid 128" in bounded and ".minnctapersm 2" in bounded


def lines_of(ptx):
    """File and line of every `.loc`, which follow each other."""
    files = dict(re.findall(r'\.file\s+(\d+) "(.*?)"', ptx))
    return [(Path(files[number]).name, int(line)) for number, line in re.findall(r"\.loc\s+(\d+) (\d+) \d+", ptx)]


@pytest.mark.parametrize("option", ["lineinfo", "debug"])
def test_lines_of_the_source(option):
    """Also those of functions that were inlined, in their own files."""
    assert ".loc" not in cuda.compile_ptx(norms, (float64[:], complex64[:]))[0]
    ptx, _ = cuda.compile_ptx(norms, (float64[:], complex64[:]), **{option: True})
    found = lines_of(ptx)
    here = Path(__file__).name
    first = norms.__code__.co_firstlineno
    assert {(here, first + 1), (here, first + 2), (here, first + 3)} <= set(found)
    assert (here, hypot.py_func.__code__.co_firstlineno + 2) in found
    assembles(ptx, 90)
    fast, _ = cuda.compile(both, (float64, float64), **{option: True})
    assert {Path(file).suffix for file, _ in lines_of(fast)} == {".py"} and len({file for file, _ in lines_of(fast)}) == 2
    assembles(fast, 75)


def test_lines_of_a_kernel_that_runs(device):
    plain, lined = cuda.jit(add), cuda.jit(lineinfo=True)(add)
    x, out = np.arange(5, dtype=np.float32), [np.zeros(5, np.float32) for _ in range(2)]
    plain[1, 8](out[0], x, x)
    lined[1, 8](out[1], x, x)
    assert (out[0] == x + x).all() and (out[1] == x + x).all()
    if device.kind == "cuda":
        (text,) = lined.inspect_asm().values()
        (without,) = plain.inspect_asm().values()
        assert (Path(__file__).name, add.__code__.co_firstlineno + 3) in lines_of(text) and ".loc" not in without


def test_what_is_refused():
    with pytest.raises(TypeError, match="cannot return a value"):
        cuda.compile_ptx(plus, (int32, int32))
    with pytest.raises(NotImplementedError, match="The C ABI is not supported for kernels"):
        cuda.compile_ptx(add, (float32[:],) * 3, abi="c")
    with pytest.raises(NotImplementedError, match="Unsupported ABI: fastcall"):
        cuda.compile_ptx(add, (float32[:],) * 3, abi="fastcall")
    with pytest.raises(NotImplementedError, match="convention"):
        cuda.compile_ptx(plus, (int32, int32), device=True, abi="numba")
    with pytest.raises(NotImplementedError, match="Unsupported output type"):
        cuda.compile(plus, (int32, int32), output="ltoir")
    with pytest.raises(ValueError, match=r"no PTX for compute capability \(5, 0\)"):
        cuda.compile_ptx(add, (float32[:],) * 3, cc=(5, 0))
    with pytest.raises(ValueError, match="written"):
        cuda.compile_ptx(add, (float32[:],) * 3, cc=(9, 0, "a"))
    with pytest.raises(TypeError, match="complex64"):
        cuda.compile(plus, "float32(complex64, complex64)")
    with pytest.raises(TypeError, match="expected a Python function"):
        cuda.compile_ptx(3, (int32,))


def test_a_function_has_nobody_to_tell_of_errors():
    def strict(x):
        assert x > 0
        return x

    with pytest.raises(NotImplementedError, match="nobody to tell"):
        cuda.compile(strict, (int32,))


def test_the_current_device(device):
    if device.kind != "cuda":
        with pytest.raises(NotImplementedError, match="takes no PTX"):
            cuda.compile_ptx_for_current_device(add, (float32[:],) * 3)
        return
    major, minor = device.compute_capability
    ptx, _ = cuda.compile_ptx_for_current_device(add, (float32[:],) * 3)
    assert f".target sm_{major}{minor}" in ptx
    ptx, _ = cuda.compile_for_current_device(plus, (float32, float32))
    assert ".visible .func" in ptx

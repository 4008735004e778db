"""What the peers' compilers make of their kernels for a GPU that is not there: ``python compiled.py numba-cuda``, `triton` or `jax`.

Each benchmark is set up as it is when it is measured; where it would be launched it is compiled: by Numba to PTX, by Triton to machine
code, by JAX to what XLA takes. A line for each. Part of a dry run (`run`), in processes without the peers' simulators.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NAMES = ("numba-cuda", "triton", "jax")
GPU = (9, 0)


def run(name: str) -> list[str]:
    """What could not be compiled, and why."""
    import weft

    with tempfile.TemporaryDirectory() as folder:
        # Numba asks the driver for devices even when it only compiles: Weft's stand-in answers.
        Path(folder, "libcuda.so.1").symlink_to(Path(weft.__file__).with_name("libweft_cuda_double.so"))
        environment = {key: value for key, value in os.environ.items() if key not in ("NUMBA_ENABLE_CUDASIM", "TRITON_INTERPRET")}
        environment |= {"LD_LIBRARY_PATH": folder, "TRITON_CACHE_DIR": folder}
        done = subprocess.run([sys.executable, __file__, name], env=environment, capture_output=True, text=True, timeout=300)
    said = [line for line in done.stdout.splitlines() if line.startswith(f"{name}: ")]
    print("\n".join(said), flush=True)
    wrong = [line for line in said if not line.endswith(": compiled")]
    return wrong if said and not done.returncode else [*wrong, f"{name}: {(done.stderr.strip().splitlines() or ['nothing compiled'])[-1]}"]


def all_data() -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Method and data of every part."""
    import parts

    yield from ((part.method, part.data()) for part in [*parts.all_parts(True, 1 << 30, 8), parts.launches()])


def numba_library() -> Any:
    """The kernels as Numba's, which compile where they would be launched."""
    import contenders
    import numba

    class Compiled(contenders.Kernels):
        copy = None

        def put(self, array: Any) -> Any:
            return array

        def contender(self, kernel: Any, _grid: Any, _block: Any, arguments: tuple[Any, ...], _out: Any) -> Any:
            self.cuda.compile_ptx(kernel.py_func, tuple(map(numba.typeof, arguments)), cc=GPU)

    return Compiled("numba-cuda")


def triton_library() -> Any:
    """Triton's, with launches made compilations."""
    import in_triton
    import torch
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    types = {torch.float32: "*fp32", torch.int16: "*i16", int: "i32", float: "fp32"}

    def compile_it(self: Any, *arguments: Any, grid: Any, warmup: bool, **constants: Any) -> None:
        given = {**dict(zip(self.arg_names, arguments, strict=False)), **constants}
        fixed = {name for name, parameter in zip(self.arg_names, self.params, strict=True) if parameter.is_constexpr}
        signature = {name: "constexpr" if name in fixed else types[getattr(v, "dtype", type(v))] for name, v in given.items()}
        values = {(self.arg_names.index(name),): given[name] for name in fixed}
        kernel = triton.compile(
            ASTSource(fn=self, signature=signature, constexprs=values), target=GPUTarget("cuda", 10 * GPU[0] + GPU[1], 32)
        )
        assert kernel.asm["cubin"], "no machine code"

    class Compiled(in_triton.Library):
        def into(self, run: Any, _out: Any) -> Any:
            run()

    triton.runtime.jit.JITFunction.run = compile_it
    return Compiled()


def jax_library() -> Any:
    """JAX's, lowered for CUDA."""
    import in_jax
    import jax

    class Compiled(in_jax.Library):
        def over(self, function: Any, *arrays: Any) -> Any:
            jax.export.export(jax.jit(function), platforms=["cuda"])(*arrays)

    return Compiled()


def main(name: str) -> None:
    """A line for each method."""
    from contenders import reason

    library = {"numba-cuda": numba_library, "triton": triton_library, "jax": jax_library}[name]()
    for method, data in all_data():
        if getattr(library, method, None) is None:
            continue
        try:
            getattr(library, method)(*data)
        except Exception as error:
            print(f"{name}: {method}: {reason(error)}")
        else:
            print(f"{name}: {method}: compiled")


if __name__ == "__main__":
    main(sys.argv[1])

"""The end of a dry run: what went wrong that may not, and what has still not been run."""

from __future__ import annotations

from typing import Any

import budgets
import compiled
import parts

# Contenders that what stands in for the GPU cannot run, by method.
CANNOT = {("numba-cuda", "shuffled_total"): "its simulator has no shuffles"}
NOT_RUN = (
    "Weft: a real driver, and every size but the smallest; NVIDIA's libraries, for which their stand-ins ran",
    "weft on vulkan: a GPU's driver",
    "numba-cuda: its driver; kernels ran in its simulator, all but the sum with shuffles",
    "cupy: CuPy itself, for which NumPy stood in, and NVRTC; the bodies of kernels ran as C++",
    "torch: its CUDA functions, `torch.cuda.synchronize`, `empty_cache`",
    "triton: its launches; kernels ran in its interpreter",
    "jax: XLA's compiler for GPUs, and its allocator there",
)
# What errors are called when nothing is wrong but that a compiler is not installed: of C++ for CuPy's stand-in, NVIDIA's for Numba.
NO_COMPILER = ("NotImplementedError", "NvvmSupportError", "DynamicLibNotFoundError", "CudaSupportError")


def conclude(done: dict[str, Any], left_out: dict[str, str]) -> int:
    """Prints the conclusion; 1 if something is wrong."""
    wrong = [f"no part of method {method}, which has a budget" for method in sorted(without_parts())]
    missing = [name for name, why in left_out.items() if "not installed" in why]
    wrong += [f"{name}: {why}" for name, why in left_out.items() if name not in missing]
    for title, result in done.items():
        wrong += [f"{title}: {name}: results differ" for name in result["wrong"]]
        for name, why in result["failed"].items():
            if why.startswith(NO_COMPILER):
                missing.append(f"a compiler for {name} in {title}")
            elif (name, result["method"]) not in CANNOT:
                wrong.append(f"{title}: {name}: {why}")
    print("\nCompiled for a GPU:")
    for line in (line for name in compiled.NAMES if name not in left_out for line in compiled.run(name)):
        (missing if any(name in line for name in NO_COMPILER) else wrong).append(line)
    print("\nNot run without a GPU:", *NOT_RUN, sep="\n  ")
    if missing:
        print("\nNot installed, so not run at all:", *missing, sep="\n  ")
    if wrong:
        print("\nWrong:", *wrong, sep="\n  ")
    else:
        print("\nAll else ran, with the right results.")
    return 1 if wrong else 0


def without_parts() -> set[str]:
    """Methods with a budget that nothing of full size measures."""
    measured = {part.method for part in parts.all_parts(False, 128 << 30, 8)} | {"launch", "first"}
    return {method for budget in budgets.BUDGETS for method in budget.methods} - measured

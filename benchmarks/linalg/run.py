"""Linear algebra: `python run.py [--list] [--quick] [--record] [--cores N] [NAME ...]`.

Each routine of `weft.linalg` in turns with NumPy's and JAX's, at several sizes, results compared before they are timed. A name is a part
of a routine's name, such as `svd` or `matmul-64`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

# Routines of matrices: of a regular one and of a symmetric, positive definite one; what is compared of the results.
OF_REGULAR: dict[str, Callable[[Any, Any, Any], Any]] = {
    "solve": lambda la, a, b: la.solve(a, b),
    "inv": lambda la, a, b: la.inv(a),
    "det": lambda la, a, b: la.slogdet(a)[1],
    "qr": lambda la, a, b: la.qr(a)[1],
    "svd": lambda la, a, b: la.svd(a, full_matrices=False)[1],
    "svdvals": lambda la, a, b: la.svd(a, compute_uv=False),
    "eig": lambda la, a, b: la.eig(a)[0],
    "eigvals": lambda la, a, b: la.eigvals(a),
}
OF_POSITIVE: dict[str, Callable[[Any, Any, Any], Any]] = {
    "cholesky": lambda la, a, b: la.cholesky(a),
    "eigh": lambda la, a, b: la.eigh(a)[0],
    "eigvalsh": lambda la, a, b: la.eigvalsh(a),
}
PRODUCTS = [(dtype, n) for dtype in ("float32", "float64") for n in (64, 256, 1024, 2048)]
SIZES = (64, 256, 1024)
# Eigenvalues come in any order.
UNORDERED = ("eig", "eigvals")


def cases() -> list[tuple[str, Callable[[Any, Any], Any], tuple[Any, ...]]]:
    """Names, what is done given a namespace and arrays, and the arrays."""
    import numpy as np

    rng = np.random.default_rng(1)

    def product(xp: Any, arrays: Any) -> Any:
        return xp.matmul(*arrays)

    found: list[tuple[str, Callable[[Any, Any], Any], tuple[Any, ...]]] = []
    for dtype, n in PRODUCTS:
        found.append((f"matmul-{n}-{dtype}", product, tuple(rng.standard_normal((2, n, n)).astype(dtype))))
    for dtype in ("float32", "float64"):
        found.append((f"matmul-1000×32-{dtype}", product, tuple(rng.standard_normal((2, 1000, 32, 32)).astype(dtype))))
    for name, routine in {**OF_REGULAR, **OF_POSITIVE}.items():
        for n in SIZES:
            a, b = rng.standard_normal((2, n, n))
            a = a @ a.T + n * np.eye(n) if name in OF_POSITIVE else a
            found.append((f"{name}-{n}", lambda xp, arrays, routine=routine: routine(xp.linalg, *arrays), (a, b)))
    return found


def benchmark(name: str, routine: Callable[[Any, Any], Any], arrays: tuple[Any, ...], seconds: float) -> Any:
    """A case as the harness takes it."""
    import numpy as np
    from harness import WEFT, Benchmark, Contender

    def in_weft() -> Any:
        import weft

        own = tuple(weft.asarray(a) for a in arrays)
        return lambda: weft.asnumpy(routine(weft, own))

    def in_jax() -> Any:
        import jax

        jax.config.update("jax_enable_x64", True)
        own = tuple(jax.numpy.asarray(a) for a in arrays)
        fast = jax.jit(lambda *given: routine(jax.numpy, given))
        return lambda: np.asarray(fast(*own))

    def check(result: Any, reference: Any) -> str | None:
        a, b = (np.sort_complex(x) if name.rsplit("-", 1)[0] in UNORDERED else np.abs(np.asarray(x)) for x in (result, reference))
        off = float(np.abs(a - b).max()) / float(np.abs(b).max())
        return None if off < (1e-3 if b.dtype.itemsize == 4 else 1e-7) else f"off by {off:.0e}"

    return Benchmark(
        name=name,
        title=name,
        contenders=[
            Contender(WEFT, in_weft, WEFT, "weft"),
            Contender("numpy", lambda: lambda: routine(np, arrays)),
            Contender("jax", in_jax, needs="jax"),
        ],
        reference=lambda: routine(np, arrays),
        check=check,
        seconds=seconds,
        inner=calls_of(arrays),
    )


def calls_of(arrays: tuple[Any, ...]) -> int:
    """Calls to be timed together: some hundred microseconds of them."""
    return max(1, 200_000 // arrays[0].size) if arrays[0].ndim == 2 else 1


def line(case: tuple[Any, ...], seconds: float) -> list[str]:
    """A line of the table: milliseconds, and Weft's time over the others'."""
    from harness import WEFT, marked, run

    outcome = run(benchmark(*case, seconds), lambda _: None)
    medians = {row.name: row.median for row in outcome.rows}
    shown = [f"{medians[one] * 1e3:.3g}" if medians.get(one) else "—" for one in (WEFT, "numpy", "jax")]
    known = [medians[WEFT] / medians[other] if medians.get(WEFT) and medians.get(other) else None for other in ("numpy", "jax")]
    return [f"`{outcome.name}`", *shown, *map(marked, known)]


def main() -> None:
    """See the top."""
    from harness import Table

    head = ["call", "Weft, ms", "NumPy, ms", "JAX, ms", "Weft / NumPy", "Weft / JAX"]
    Table("linalg", __doc__.splitlines()[0], head, ["weft", "numpy", "jax"], cases, line).main()


if __name__ == "__main__":
    main()

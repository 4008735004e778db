"""A program for CuPy, kernels in C and all, on any device: Newton's method for z³ = 1 from every point of a square.

Only the line `import weft.cupy as cp` is Weft's: with `import cupy as cp` it is the same program. Weft reads the kernels' C itself, and
compiles it for a CPU as for a GPU, without CUDA. Which of the three roots a point runs to is drawn in three colours, darker for more steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from common import Pixels, arguments, check, save, table, timed

import weft
import weft.cupy as cp

STEPS, NEAR = 80, 1e-12
ROOTS = np.exp(2j * np.pi * np.arange(3) / 3)
COLOURS = np.array([[237, 85, 59], [32, 99, 155], [246, 213, 92]])

newton = cp.ElementwiseKernel(
    "complex128 start, int32 limit, float64 near",
    "complex128 root, int32 steps",
    """
    complex<double> z = start;
    steps = 0;
    while (steps < limit) {
        complex<double> step = (z * z * z - 1.0) / (3.0 * z * z);
        z = z - step;
        steps += 1;
        if (abs(step) < near) {
            break;
        }
    }
    root = z;
    """,
    "newton",
)

distance = cp.ReductionKernel("complex128 x, complex128 y", "float64 z", "norm(x - y)", "a + b", "z = sqrt(a)", "0", "distance")


def plane(side: int) -> Any:
    """The points to start from. Their number is even, so that the origin, from where no step leads on, is none of them."""
    axis = (cp.arange(side) + 0.5) / side * 3 - 1.5
    return axis + 1j * axis[:, None]


def by_numpy(start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same by whole-array steps; points that have arrived stay."""
    z, steps = start.copy(), np.zeros(start.shape, np.int32)
    away = np.ones(start.shape, bool)
    for _ in range(STEPS):
        if not away.any():
            break
        step = np.where(away, (z * z * z - 1) / (3 * z * z), 0)
        z, steps = z - step, steps + away
        away = away & (np.abs(step) >= NEAR)
    return z, steps


def drawn(which: np.ndarray, steps: np.ndarray) -> Pixels:
    """A root's colour, darker the longer it took to get there."""
    return (COLOURS[which] * 0.9 ** np.maximum(steps - 3, 0)[..., None]).astype(np.uint8)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the kernels, compare, draw; 1 if points do not end at roots."""
    asked = arguments(__doc__, "cupy_newton.png", argv, side=(400, "points a side"))
    with weft.device(asked.device) as device:
        start = plane(asked.side + asked.side % 2)
        host = cp.asnumpy(start)
        ours = timed(lambda: newton(start, STEPS, NEAR))
        numpys = timed(lambda: by_numpy(host))
        table(f"Newton's method from {start.size:,} points, complex128", device, {"Weft, CuPy's kernel": ours, "NumPy": numpys})

        root, steps = ours.result
        roots = cp.asarray(ROOTS)
        which = cp.abs(root[..., None] - roots).argmin(axis=-1)
        otherwise = np.abs(cp.asnumpy(root) - numpys.result[0]) > 1e-6
        shares = cp.bincount(which.ravel(), minlength=3) / which.size
        print(f"  {float(steps.mean()):.2f} steps on average; shares of the roots: {' '.join(f'{float(each):.4f}' for each in shares)}\n")
        right = [
            check("distance of all points from their roots", float(distance(root, roots[which])), 1e-9),
            check("shares of the two roots that mirror each other, difference", abs(float(shares[1] - shares[2])), 0.01),
            check("mean of steps, off from NumPy's", abs(float(steps.mean()) - numpys.result[1].mean()), 0.01),
            check("share of points that NumPy has at another root", float(otherwise.mean()), 0.002),
        ]
        save(asked.out, drawn(cp.asnumpy(which), cp.asnumpy(steps)))
    return 0 if all(right) else 1


if __name__ == "__main__":
    raise SystemExit(main())

"""Batched least squares: how fast light fades in every pixel of a stack of pictures, one small system of equations a pixel.

A pixel is a·exp(-r·t) in the picture taken at time t, with noise, so its logarithm is a straight line: log(a) - r·t. The noise of a
logarithm is the larger the darker the pixel was, so each equation is weighted by the brightness, and every pixel has a matrix of its own.
`weft.linalg.qr` and `solve` take stacks of matrices, which are shared among the CPU's threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from common import HEAT, arguments, beside, check, grey, painted, save, table, timed

import weft

NOISE = 0.004


def rates(side: int) -> weft.ndarray:
    """How fast each pixel fades: waves between 0.5 and 2.5."""
    x = weft.linspace(-3, 3, side)
    y = x[:, None]
    return 1.5 + weft.sin(2 * x + weft.sin(2 * y)) * weft.cos(1.5 * y - 0.5 * x)


def stack(rate: weft.ndarray, times: weft.ndarray) -> weft.ndarray:
    """The pictures, (height, width, time), with noise."""
    exact = weft.exp(-rate[:, :, None] * times)
    return weft.maximum(exact + weft.random.default_rng(11).normal(0, NOISE, exact.shape), NOISE)


def fit(xp: Any, pictures: Any, times: Any) -> tuple[Any, Any, Any]:
    """The matrices of all pixels, (height, width, time, 2), their right-hand sides, and (height, width, 2): log(a) and r of each pixel."""
    line = xp.stack([xp.ones_like(times), -times], axis=-1)
    matrix = pictures[..., None] * line
    side = (pictures * xp.log(pictures))[..., None]
    q, r = xp.linalg.qr(matrix)
    return matrix, side, xp.linalg.solve(r, q.swapaxes(-1, -2) @ side)[..., 0]


def main(argv: Sequence[str] | None = None) -> int:
    """Make pictures, fit, compare, draw; 1 if a fit is not the best one."""
    asked = arguments(__doc__, "least_squares.png", argv, side=(128, "pixels a side"), pictures=(16, "how many pictures"))
    with weft.device(asked.device) as device:
        count = max(asked.pictures, 3)
        times = weft.linspace(0, 1.5, count)
        truth = rates(asked.side).wait()
        pictures = stack(truth, times).wait()
        host, host_times = weft.asnumpy(pictures), weft.asnumpy(times)
        ours = timed(lambda: fit(weft, pictures, times))
        numpys = timed(lambda: fit(np, host, host_times))
        title = f"least squares of {asked.side**2:,} matrices of {count} x 2, float64"
        table(title, device, {"Weft": ours, "NumPy": numpys})

        matrix, side, found = ours.result
        left = side - matrix @ found[..., None]
        # What is left over stands at right angles to both columns of the matrix where the fit is the best one.
        angle = weft.abs(matrix.swapaxes(-1, -2) @ left).max()
        off = weft.abs(found[..., 1] - truth)
        print(f"  rates from {float(truth.min()):.3f} to {float(truth.max()):.3f}, fitted ones off by {float(off.mean()):.4f} on average\n")
        right = [
            check("columns of the matrices times what is left", float(angle), 1e-12),
            check("rates off on average", float(off.mean()), 0.08 / count**0.5),
            check("off from NumPy", float(np.abs(weft.asnumpy(found) - numpys.result[2]).max()), 1e-11),
        ]
        last = pictures[..., -1]
        save(asked.out, beside(grey(last / last.max()), painted(truth, HEAT, 0.5, 2.5), painted(found[..., 1], HEAT, 0.5, 2.5)))
    return 0 if all(right) else 1


if __name__ == "__main__":
    raise SystemExit(main())

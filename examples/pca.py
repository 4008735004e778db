"""Principal components: what a set of random pictures has in common, as pictures.

Each picture is a spot of light at a random place. Its components are the eigenvectors of the pixels' covariances, those with the largest
eigenvalues first: they look like the vibrations of a drum, coarse ones first. A few of them describe every picture well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from common import arguments, check, painted, save, table, timed

import weft


def spots(count: int, side: int) -> weft.ndarray:
    """Pictures as rows, (count, side * side), float64."""
    rng = weft.random.default_rng(2)
    at = rng.uniform(-0.5, 0.5, (2, count, 1, 1))
    width = rng.uniform(0.25, 0.35, (count, 1, 1))
    x = weft.linspace(-1, 1, side)
    away = (x[:, None] - at[0]) ** 2 + (x - at[1]) ** 2
    return weft.exp(-away / (2 * width * width)).reshape(count, side * side)


def components(xp: Any, rows: Any) -> tuple[Any, Any, Any]:
    """The mean of the rows; the variances along the components, largest first; the components, as rows."""
    mean = rows.mean(axis=0)
    centred = rows - mean
    variances, vectors = xp.linalg.eigh(centred.T @ centred / rows.shape[0])
    return mean, variances[::-1], vectors.T[::-1]


def mosaic(pictures: Any, across: int, scale: int = 4) -> np.ndarray:
    """Pictures (count, side, side) in rows of `across`, each in its own colours and with a white edge."""
    tiles = [np.pad(painted(each).repeat(scale, 0).repeat(scale, 1), ((3, 3), (3, 3), (0, 0)), constant_values=255) for each in pictures]
    tiles += [np.full_like(tiles[0], 255)] * (-len(tiles) % across)
    return np.concatenate([np.concatenate(tiles[i : i + across], axis=1) for i in range(0, len(tiles), across)])


def main(argv: Sequence[str] | None = None) -> int:
    """Find components, rebuild pictures of some of them, compare, draw; 1 if the components are wrong."""
    asked = arguments(
        __doc__,
        "pca.png",
        argv,
        pictures=(5000, "how many pictures"),
        side=(18, "pixels a side"),
        keep=(12, "how many components are kept"),
    )
    with weft.device(asked.device) as device:
        rows = spots(asked.pictures, asked.side).wait()
        host = weft.asnumpy(rows)
        ours = timed(lambda: components(weft, rows))
        numpys = timed(lambda: components(np, host))
        title = f"components of {asked.pictures:,} pictures of {asked.side} x {asked.side} pixels, float64"
        table(title, device, {"Weft": ours, "NumPy": numpys})

        mean, variances, vectors = ours.result
        share = weft.cumsum(variances) / variances.sum()
        print("  variance of the first components together: " + " ".join(f"{float(each):.1%}" for each in share[: asked.keep]) + "\n")

        keep = min(asked.keep, len(vectors))
        kept = vectors[:keep]
        rebuilt = mean + (rows - mean) @ kept.T @ kept
        lost = float(((rows - rebuilt) ** 2).sum(axis=1).mean())
        upright = weft.abs(vectors @ vectors.T - weft.eye(len(vectors))).max()
        right = [
            check("components off from right angles", float(upright), 1e-12),
            check("what is lost, off from the variances of what is left out", abs(lost - float(variances[keep:].sum())), 1e-10),
            check("variances off from NumPy", float(np.abs(weft.asnumpy(variances) - numpys.result[1]).max()), 1e-10),
        ]
        # A component's sign means nothing: the one with the brighter middle is drawn.
        signs = weft.where(kept.sum(axis=1, keepdims=True) < 0, -1, 1)
        save(asked.out, mosaic(weft.asnumpy((kept * signs).reshape(-1, asked.side, asked.side)), across=6))
    return 0 if all(right) else 1


if __name__ == "__main__":
    raise SystemExit(main())

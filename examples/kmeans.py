"""K-means: a picture in a few colours. Each pixel belongs to the nearest of k colours, and each colour becomes the mean of its pixels.

The differences of all pixels and all colours are an array of (pixels, k, 3) on paper, and so is each pixel under the colour that it
belongs to. Both are fused into the sums that they are for, and never in memory as a whole; `weft.explain` says what each kernel reads and
writes. `weft.compile` records a step once, and does it again without Python.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from common import arguments, beside, check, save, table, timed

import weft

TURNS = 10


def evening(height: int, width: int) -> weft.ndarray:
    """Sunset behind two rows of hills: (height, width, 3) of float32 between 0 and 1."""
    y, x = weft.linspace(1, 0, height)[:, None, None], weft.linspace(-0.5, 0.5, width)[:, None]
    sky = weft.asarray([0.95, 0.55, 0.25]) * (1 - y) + weft.asarray([0.1, 0.15, 0.45]) * y
    from_sun = weft.hypot(x - 0.15, y - 0.45)
    picture = sky + weft.exp(-12 * from_sun**2) * weft.asarray([0.5, 0.35, 0.05])
    picture = weft.where(from_sun < 0.09, weft.asarray([1.0, 0.95, 0.7]), picture)
    for base, waves, colour in ((0.4, 14.0, [0.35, 0.25, 0.4]), (0.22, 8.0, [0.08, 0.12, 0.1])):
        hills = base + 0.05 * weft.sin(waves * x + base) + 0.03 * weft.sin(2.3 * waves * x)
        picture = weft.where(y < hills, weft.asarray(colour) * (0.4 + 1.5 * y), picture)
    return weft.clip(picture, 0, 1).astype(weft.float32)


def nearest(xp: Any, pixels: Any, colours: Any) -> Any:
    """For each pixel the number of the colour that is nearest to it."""
    apart = pixels[:, None, :] - colours
    return (apart * apart).sum(axis=2).argmin(axis=1)


def step(xp: Any, pixels: Any, colours: Any) -> Any:
    """Every colour as the mean of the pixels nearest to it; one that has none stays as it is."""
    own = nearest(xp, pixels, colours)[:, None] == xp.arange(colours.shape[0])
    count = own.sum(axis=0)[:, None]
    sums = xp.where(own[:, :, None], pixels[:, None, :], xp.float32(0)).sum(axis=0)
    return xp.where(count > 0, sums / xp.maximum(count, 1), colours).astype(xp.float32)


def turned(once: Callable[[Any, Any], Any], pixels: Any, colours: Any, turns: int = TURNS) -> Any:
    """Step after step."""
    for _ in range(turns):
        colours = once(pixels, colours)
    return colours


def error(pixels: weft.ndarray, colours: weft.ndarray) -> float:
    """The root of the mean square of the distance between pixels and their colours."""
    apart = pixels - colours[nearest(weft, pixels, colours)]
    return float(weft.sqrt((apart * apart).mean()))


def main(argv: Sequence[str] | None = None) -> int:
    """Find colours, compare, draw; 1 if they are not what they should be."""
    asked = arguments(__doc__, "kmeans.png", argv, side=(240, "pixels a side"), colours=(8, "how many colours"))
    with weft.device(asked.device) as device:
        picture = evening(asked.side, asked.side)
        pixels = picture.reshape(-1, 3).wait()
        # Some pixels to start with, spread from dark to light.
        order = weft.argsort(pixels.sum(axis=1))
        start = pixels[order[(weft.arange(asked.colours) * 2 + 1) * len(pixels) // (2 * asked.colours)]].wait()

        ours_step = weft.compile(lambda pixels, colours: step(weft, pixels, colours))
        ours = timed(lambda: turned(ours_step, pixels, start))
        host, host_start = weft.asnumpy(pixels), weft.asnumpy(start)
        numpys = timed(lambda: turned(lambda pixels, colours: step(np, pixels, colours), host, host_start))
        title = f"{TURNS} steps of k-means: {len(pixels):,} pixels, {asked.colours} colours, float32"
        table(title, device, {"Weft": ours, "NumPy": numpys})

        errors = [error(pixels, turned(ours_step, pixels, start, turns)) for turns in range(TURNS + 1)]
        explained = weft.explain(step(weft, pixels, start))
        written = sum(each.written for each in explained.kernels)
        print("  kernels of a step:\n" + "\n".join(f"    {each.title()}" for each in explained.kernels) + "\n")
        print("  off after each step: " + " ".join(f"{each:.4f}" for each in errors) + "\n")
        right = [
            check("the largest rise of the error in a step", max(np.diff(errors)), 1e-6),
            # A distance to each colour and the number of the nearest one; and some numbers for each colour.
            check(
                "bytes that a step writes for each pixel", written / len(pixels), 4 * asked.colours + 8 + 40 * asked.colours / len(pixels)
            ),
            check("off from NumPy", float(np.abs(weft.asnumpy(ours.result) - numpys.result).max()), 2e-3),
        ]
        few = ours.result[nearest(weft, pixels, ours.result)].reshape(picture.shape)
        save(asked.out, beside(*(np.asarray(weft.round(each * 255).astype(weft.uint8)) for each in (picture, few))))
    return 0 if all(right) else 1


if __name__ == "__main__":
    raise SystemExit(main())

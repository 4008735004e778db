"""A low-pass filter by FFT: a picture with noise and stripes over it, its spectrum times a bell, and back.

Fine detail lies far from the middle of a spectrum, and so does most noise. The spectrum of a real picture has its second half as the
conjugates of the first, so `rfft2` computes one half only. The bell is a product of a column and a row: `weft.explain` shows that its
exponentials are computed once for each row and each column of the spectrum, not for each of its points.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from common import arguments, beside, check, grey, save, table, timed

import weft

NOISE, STRIPES = 0.12, 0.1


def scene(side: int) -> weft.ndarray:
    """A planet in light from the left and its ring, float32 between 0 and 1."""
    y, x = weft.meshgrid(weft.linspace(-1, 1, side), weft.linspace(-1, 1, side), indexing="ij")
    height = weft.sqrt(weft.maximum(0.5**2 - x * x - y * y, 0))
    planet = weft.where(height > 0, 0.25 + 0.6 * weft.clip(0.6 * height - 0.7 * x - 0.4 * y, 0, 1), 0.15)
    along, across = 0.94 * x - 0.34 * y, 0.34 * x + 0.94 * y
    distance = weft.hypot(along, 3.5 * across)
    is_ring = (distance > 0.65) & (distance < 0.9) & ((height == 0) | (across > 0))
    return weft.where(is_ring, 0.5 + 0.25 * weft.cos(30 * distance), planet).astype(weft.float32)


def spoiled(picture: weft.ndarray) -> weft.ndarray:
    """With noise, and the stripes of a bad cable."""
    noise = weft.random.default_rng(5).normal(0, NOISE, picture.shape)
    stripes = STRIPES * weft.sin(2 * weft.pi * weft.arange(picture.shape[1]) / 4)
    return (picture + noise + stripes).astype(weft.float32)


def bell(xp: Any, side: int, width: float) -> Any:
    """How much of each frequency passes: all of frequency 0, little beyond `width` cycles a picture."""
    rows, columns = xp.fft.fftfreq(side, 1 / side), xp.fft.rfftfreq(side, 1 / side)
    return (xp.exp(-0.5 * (rows / width) ** 2)[:, None] * xp.exp(-0.5 * (columns / width) ** 2)).astype(xp.float32)


def lowpass(xp: Any, picture: Any, width: float) -> Any:
    """A picture without its fine detail."""
    return xp.fft.irfft2(xp.fft.rfft2(picture) * bell(xp, picture.shape[0], width), s=picture.shape)


def off(a: Any, b: Any) -> float:
    """The root of the mean square of a difference."""
    return float(weft.sqrt(((a - b) ** 2).mean()))


def main(argv: Sequence[str] | None = None) -> int:
    """Spoil, filter, compare, draw; 1 if a picture is not as it should be."""
    asked = arguments(__doc__, "lowpass.png", argv, side=(1024, "pixels a side", 2), width=(24, "frequencies up to about this pass"))
    with weft.device(asked.device) as device:
        clean = scene(asked.side).wait()
        noisy = spoiled(clean).wait()
        host = weft.asnumpy(noisy)
        ours = timed(lambda: lowpass(weft, noisy, asked.width))
        numpys = timed(lambda: lowpass(np, host, asked.width))
        table(f"low-pass filter of {asked.side} x {asked.side} pixels, float32", device, {"Weft": ours, "NumPy": numpys})

        before, after = off(noisy, clean), off(ours.result, clean)
        print(f"  off from the picture without noise: {before:.4f} before, {after:.4f} after\n")
        print(f"{weft.explain(bell(weft, asked.side, asked.width))}\n")
        right = [
            check("contrast over what it was", float(ours.result.std() / noisy.std()), 1),
            check("mean brightness changed by", abs(float(ours.result.mean() - noisy.mean())), 1e-5),
            check("off from NumPy", float(np.abs(weft.asnumpy(ours.result) - numpys.result).max()), 1e-5),
        ]
        step = max(1, asked.side // 200)
        save(asked.out, beside(*(grey(picture[::step, ::step]) for picture in (noisy, ours.result))))
    return 0 if all(right) else 1


if __name__ == "__main__":
    raise SystemExit(main())

"""A program for a laptop and for a cluster: Dask cuts a landscape into chunks, and Weft computes in each of them.

The landscape is noise, smoothed over two distances; chunks see a margin of their neighbours for it. Its heights are set against the mean
and the deviation of the whole, and light from one side is drawn. Without `--scheduler` the program starts two processes on this machine;
with the address of a cluster's scheduler (`dask scheduler`, and `dask worker ADDRESS` on each machine) it runs there. Nothing else changes.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import dask.array as da
import numpy as np
from common import arguments, check, painted, save, table, timed
from dask.distributed import Client, LocalCluster

import weft

LAND = ((30, 60, 120), (70, 130, 180), (225, 210, 160), (110, 160, 80), (60, 110, 60), (130, 110, 90), (250, 250, 250))
MARGIN, COARSE, FINE = 50, 16.0, 3.0


def filters(block: Any) -> Any:
    """The module of filters that goes with a chunk: SciPy's, or Weft's of the same names."""
    if isinstance(block, weft.ndarray):
        from weft.scipy import ndimage
    else:
        from scipy import ndimage
    return ndimage


def smoothed(block: Any) -> Any:
    """Large hills with small ones on them. In Weft, one record for all of it, computed once the task ends."""
    smooth = filters(block).gaussian_filter
    return COARSE * smooth(block, COARSE, truncate=3.0) + 0.3 * FINE * smooth(block, FINE, truncate=3.0)


def lit(block: Any) -> Any:
    """How bright the ground is under light from the upper left: the slope towards it."""
    slope = np.roll(block, 1, axis=0) - block + np.roll(block, 1, axis=1) - block
    return 0.5 - 0.5 * slope / np.sqrt(1 + slope * slope)


def program(noise: Any, coarser: int) -> tuple[Any, Any]:
    """Heights and light, as smaller pictures of the whole: what is to be done, of chunks of NumPy's or of Weft's."""
    heights = noise.map_overlap(smoothed, depth=MARGIN, boundary="periodic", meta=noise._meta)
    heights = (heights - heights.mean()) / heights.std()
    light = heights.map_overlap(lambda block: lit(6 * block), depth=1, boundary="periodic", meta=noise._meta)
    return tuple(da.coarsen(np.mean, each, {0: coarser, 1: coarser}) for each in (heights, light))


def main(argv: Sequence[str] | None = None) -> int:
    """Compute with chunks of Weft's and of NumPy's, compare, draw; 1 if they do not agree."""
    asked = arguments(
        __doc__,
        "dask_terrain.png",
        argv,
        side=(1200, "points a side", MARGIN + 1),
        chunk=(600, "points a side of a chunk, more than the margin", MARGIN + 1),
        scheduler=("none", "the address of a cluster's scheduler"),
    )
    with ExitStack() as stack:
        address = asked.scheduler
        if address == "none":
            # The processes that are started take this for the device of their arrays.
            os.environ["WEFT_DEVICE"] = asked.device
            address = stack.enter_context(LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None))
        client = stack.enter_context(Client(address))
        noise = da.random.default_rng(3).standard_normal((asked.side, asked.side), chunks=asked.chunk).persist()
        chunks = noise.to_backend("weft").persist()
        coarser = max(1, asked.side // 200)
        ours = timed(lambda: client.gather(client.compute(program(chunks, coarser))))
        numpys = timed(lambda: client.gather(client.compute(program(noise, coarser))))
        devices = client.run(lambda: weft.current_device().name).values()
        title = f"a landscape of {asked.side} x {asked.side} points in {noise.npartitions} chunks, float64"
        table(title, "workers with " + ", ".join(devices), {"Weft's chunks": ours, "NumPy's chunks": numpys})

    heights, light = map(weft.asnumpy, ours.result)
    right = [
        check(f"{name} off from NumPy's chunks", float(np.abs(found - wanted).max()), 1e-11)
        for name, found, wanted in zip(("heights", "light"), (heights, light), numpys.result)
    ]
    right.append(check("mean height", abs(float(heights.mean())), 1e-10))
    shade = np.clip(0.4 + light[..., None], 0, 1).round(1)
    save(asked.out, (painted(heights, LAND, -2.2, 2.2) * shade).astype(np.uint8))
    return 0 if all(right) else 1


if __name__ == "__main__":
    raise SystemExit(main())

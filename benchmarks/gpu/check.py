"""``make gpu-check``: the tests on this machine's GPU, then Weft against its peers there, into ``benchmarks/results/<device>.md``.

Nothing is fetched: it needs Weft's wheel, pytest and NumPy, and compares with numba-cuda, CuPy and PyTorch where they are installed. What
is measured is kept in ``benchmarks/build/gpu.json``, so that a run that was stopped goes on where it was. ``--small`` makes every size
tiny: for trying the command itself, on the CUDA driver's double for example.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(Path(__file__).parent))

import kernels  # noqa: E402

TESTS = ["tests/kernels", "tests/python/test_devices.py", "tests/python/test_streams.py", "tests/python/test_interop.py",
         "tests/python/test_profile.py", "tests/python/test_cuda_memory.py"]  # fmt: skip
Run = Callable[[], None]
Contenders = dict[str, Run]


class Peer:
    """`numba.cuda` or `weft.cuda`: the same kernels, the same calls."""

    def __init__(self, name: str) -> None:
        self.name = name
        if name == "weft":
            from weft import cuda
            from weft import numba as types
        else:
            import numba as types
            from numba import cuda
        self.cuda = cuda
        self.kernels = kernels.make(cuda, types.float32, types.int32)

    def device(self, array: np.ndarray) -> Any:
        return self.cuda.to_device(array)

    def sync(self) -> None:
        self.cuda.synchronize()


def peers() -> list[Peer]:
    found = [Peer("weft")]
    try:
        found.append(Peer("numba-cuda"))
    except Exception as error:
        print(f"numba-cuda is left out: {type(error).__name__}: {error}".splitlines()[0])
    return found


def blocks(n: int, threads: int) -> int:
    return -(-n // threads)


def benchmarks(all_peers: list[Peer], small: bool) -> Iterator[tuple[str, float, Contenders, Callable[[], bool]]]:
    """Name, bytes moved (0 where that says nothing), what to time by contender, and whether the results agree."""
    rng = np.random.default_rng(1)
    mega = 1 << 12 if small else 1 << 20

    def same_picture(height: int, width: int, limit: int, dtype: type) -> Any:
        images = [peer.device(np.zeros((height, width), np.uint16)) for peer in all_peers]
        view = [dtype(v) for v in (-2.0, 1.0, -1.0, 1.0)]
        grid = (blocks(width, 32), blocks(height, 8))
        runs = {
            peer.name: lambda peer=peer, image=image: peer.kernels.mandelbrot[grid, (32, 8)](*view, image, limit)
            for peer, image in zip(all_peers, images)
        }
        return runs, lambda: all((a.copy_to_host() != images[0].copy_to_host()).mean() < 1e-3 for a in images)

    for dtype in (np.float32, np.float64):
        for height, width, limit in ((64, 96, 20), (80, 80, 50)) if small else ((1024, 1536, 20), (10_000, 10_000, 1000)):
            runs, agree = same_picture(height, width, limit, dtype)
            yield f"Mandelbrot {height}x{width}, {limit} iterations, {dtype.__name__}", 0, runs, agree

    for n in (1000, 2000) if small else (10**6, 10**8):
        lat, lon = rng.random(n), rng.random(n)
        held = [[peer.device(a) for a in (lat, lon, np.zeros(n))] for peer in all_peers]
        yield f"haversine, {n} points, float64", 24 * n, _runs(all_peers, held, "haversine", blocks(n, 256), 256), _close(held, 2, 1e-12)

    n = mega if small else 512 * mega
    x, y = rng.random(n, np.float32), rng.random(n, np.float32)
    held = [[peer.device(x), peer.device(y)] for peer in all_peers]
    runs = {p.name: lambda p=p, h=h: p.kernels.saxpy[blocks(n, 256), 256](np.float32(1e-3), h[0], h[1]) for p, h in zip(all_peers, held)}
    runs |= _cupy_saxpy(x, y)
    yield "saxpy, float32", 12 * n, runs, _close(held, 1, 1e-6)
    held = [[peer.device(a) for a in (np.zeros(n, np.float32), x, y)] for peer in all_peers]
    runs = {p.name: lambda p=p, h=h: p.kernels.triad[blocks(n, 256), 256](*h, np.float32(3)) for p, h in zip(all_peers, held)}
    yield "triad, float32", 12 * n, runs, _close(held, 0, 1e-6)
    runs = {"weft": lambda h=held[0]: h[0].copy_to_device(h[1])}
    yield "device-to-device copy", 8 * n, runs, lambda h=held[0]: bool((h[0].copy_to_host() == x).all())
    for name in ("total", "shuffled_total"):
        outs = [[h[1], peer.device(np.zeros(1, np.float32))] for peer, h in zip(all_peers, held)]
        runs = _runs(all_peers, outs, name, 8 if small else 2048, 256)
        yield f"sum ({name}), float32", 4 * n, runs, _equals(outs, 1, x.sum(dtype=np.float64), 1e-4)
    del held

    side = 64 if small else 16384
    square = rng.random((side, side), np.float32)
    held = [[peer.device(square), peer.device(np.zeros_like(square))] for peer in all_peers]
    grid = (blocks(side, 32), blocks(side, 32))
    yield "transpose, float32", 8 * side * side, _runs(all_peers, held, "transpose", grid, (32, 8)), _close(held, 1, 0)
    side = 64 if small else 4096
    a, b = (rng.random((side, side), np.float32) for _ in range(2))
    held = [[peer.device(m) for m in (a, b, np.zeros_like(a))] for peer in all_peers]
    grid = (side // kernels.TILE, side // kernels.TILE)
    yield f"tiled matmul {side}, float32", 0, _runs(all_peers, held, "matmul", grid, (kernels.TILE,) * 2), _close(held, 2, 1e-4)
    data = rng.integers(0, 256, mega if small else 256 * mega, np.uint8)
    held = [[peer.device(data), peer.device(np.zeros(kernels.BINS, np.int32))] for peer in all_peers]
    runs = _runs(all_peers, held, "histogram", 8 if small else 1024, 256)
    yield "histogram, 256 bins, shared atomics", data.nbytes, runs, _equals(held, 1, np.bincount(data, minlength=kernels.BINS), 0)
    n = 256 if small else 65536
    pos = rng.random((n, 3), np.float32)
    held = [[peer.device(pos), peer.device(np.zeros_like(pos))] for peer in all_peers]
    yield f"n-body, {n} bodies, float32", 0, _runs(all_peers, held, "nbody", blocks(n, 128), 128), _close(held, 1, 1e-3)


def _runs(all_peers: list[Peer], held: list[list[Any]], name: str, grid: Any, block: Any) -> Contenders:
    def run(peer: Peer, arrays: list[Any]) -> Run:
        kernel = getattr(peer.kernels, name)
        return lambda: kernel[grid, block](*arrays)

    return {peer.name: run(peer, arrays) for peer, arrays in zip(all_peers, held)}


def _cupy_saxpy(x: np.ndarray, y: np.ndarray) -> Contenders:
    """The same as one fused elementwise kernel of CuPy, where it is installed."""
    try:
        import cupy
    except ImportError:
        return {}
    a, b = cupy.asarray(x), cupy.asarray(y)
    saxpy = cupy.ElementwiseKernel("float32 a, float32 x", "float32 y", "y = a * x + y", "saxpy")
    return {"cupy": lambda: saxpy(np.float32(1e-3), a, b)}


def _close(held: list[list[Any]], which: int, rtol: float) -> Callable[[], bool]:
    def agree() -> bool:
        first, *others = (arrays[which].copy_to_host() for arrays in held)
        return all(np.allclose(first, other, rtol=rtol, atol=1e-6) for other in others)

    return agree


def _equals(held: list[list[Any]], which: int, expected: Any, rtol: float) -> Callable[[], bool]:
    return lambda: all(np.allclose(arrays[which].copy_to_host(), expected, rtol=rtol, atol=0) for arrays in held)


def measure(runs: Contenders, agree: Callable[[], bool], sync: Callable[[], None], seconds: float) -> tuple[bool, dict[str, float]]:
    """Whether the results of one run each are right, and median seconds of each contender; they take turns."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for run in runs.values():
        run()
    sync()
    right = agree()
    until = time.perf_counter() + seconds
    while time.perf_counter() < until or min(map(len, times.values())) < 3:
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            sync()
            times[name].append(time.perf_counter() - start)
    return right, {name: statistics.median(taken) for name, taken in times.items()}


def launch_overhead(peer: Peer) -> float:
    """Host seconds of a warm launch with three arrays, without waiting for it."""
    a, b, c = (peer.device(np.zeros(32)) for _ in range(3))
    launch = peer.kernels.three[1, 32]
    best = float("inf")
    for _ in range(20):
        peer.sync()
        start = time.perf_counter()
        for _ in range(200):
            launch(a, b, c)
        best = min(best, (time.perf_counter() - start) / 200)
    return best


def first_call() -> float:
    """Seconds of the Mandelbrot kernel's first call in a new process, the driver already started."""
    code = (
        f"import sys, time; sys.path.insert(0, {str(Path(__file__).parent)!r}); import numpy as np, kernels; from weft import cuda; "
        "from weft import numba as t; k = kernels.make(cuda, t.float32, t.int32); im = cuda.to_device(np.zeros((64, 64), np.uint16)); "
        "s = time.perf_counter(); k.mandelbrot[(2, 8), (32, 8)](-2.0, 1.0, -1.0, 1.0, im, 50); cuda.synchronize(); "
        "print(time.perf_counter() - s)"
    )
    times = [float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout) for _ in range(3)]
    return statistics.median(times)


def table(device: Any, results: dict[str, Any], passed: str) -> str:
    versions = []
    for package in ("weft", "numpy", "numba", "numba-cuda", "cupy-cuda12x", "torch", "triton", "jax"):
        try:
            versions.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    from weft import _weft

    lines = [f"# {device.description}", "", f"{datetime.date.today()}; {_weft.cuda_status()[0]}; {', '.join(versions)}.", ""]
    lines += [f"Tests on the device: {passed}.", "", "| what | contender | time | times Weft's | rate |", "|---|---|---:|---:|---:|"]
    copy = results.get("device-to-device copy", {"bytes": 0, "times": {"weft": 1.0}})
    bandwidth = copy["bytes"] / copy["times"]["weft"]
    for name, result in results.items():
        for who, seconds in sorted(result["times"].items(), key=lambda item: item[1]):
            rate = ""
            if result["bytes"]:
                moved = result["bytes"] / seconds
                rate = f"{moved / 1e9:.0f} GB/s, {100 * moved / bandwidth:.0f} % of the copy"
            wrong = "" if result["agree"] else " (results differ)"
            ratio = seconds / result["times"]["weft"]
            lines.append(f"| {name} | {who}{wrong} | {seconds * 1e6:,.1f} µs | {ratio:.2f} | {rate} |")
    return "\n".join(lines) + "\n"


def run_tests() -> str:
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", *TESTS], cwd=ROOT, capture_output=True, text=True)
    print(done.stdout[-3000:])
    return done.stdout.strip().splitlines()[-1] if done.stdout.strip() else f"pytest ended with {done.returncode}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="tiny sizes, to try the command")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results", help="where the results go")
    parser.add_argument("--skip-tests", action="store_true")
    options = parser.parse_args()
    import weft

    device = weft.device("cuda")
    weft.set_device(device)
    print(device)
    kept = ROOT / "benchmarks" / "build" / "gpu.json"
    kept.parent.mkdir(parents=True, exist_ok=True)
    results: dict[str, Any] = json.loads(kept.read_text()) if kept.exists() else {}
    passed = "skipped" if options.skip_tests else run_tests()
    found = peers()
    for name, moved, runs, agree in benchmarks(found, options.small):
        if name not in results:
            print(f"{name}: {', '.join(runs)}", flush=True)
            right, times = measure(runs, agree, lambda: [peer.sync() for peer in found] and None, 0.1 if options.small else 2.0)
            results[name] = {"bytes": moved, "times": times, "agree": right}
            kept.write_text(json.dumps(results))
    results["warm launch, three arrays (host time)"] = {"bytes": 0, "agree": True, "times": {p.name: launch_overhead(p) for p in found}}
    results["first call, Mandelbrot"] = {"bytes": 0, "agree": True, "times": {"weft": first_call()}}
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / f"{device.description.replace(' ', '-').lower()}.md"
    path.write_text(table(device, results, passed))
    kept.unlink()
    print(path.read_text())
    return 0


if __name__ == "__main__":
    sys.exit(main())

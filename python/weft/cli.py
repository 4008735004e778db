"""The ``weft`` command: ``weft info``, ``weft demo`` and ``weft profile``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

import weft
from weft import _weft
from weft.errors import LibraryError
from weft.kernels import nvidia


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line ``argv`` (``sys.argv`` without the program by default) and return the exit status."""
    _keep_mesa_from_looking_for_screens()
    options = _parser().parse_args(argv)
    status: int = options.run(options)
    return status


def _keep_mesa_from_looking_for_screens() -> None:
    """Mesa lists the GPU of the screen first. Where no session has one, the search for it writes that XDG_RUNTIME_DIR is missing."""
    if "XDG_RUNTIME_DIR" not in os.environ and "DISPLAY" not in os.environ:
        os.environ.setdefault("NODEVICE_SELECT", "1")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="weft", description="Plain Python on every lane of the hardware.")
    parser.add_argument("--version", action="version", version=f"weft {weft.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    info = commands.add_parser("info", help="list the devices")
    info.set_defaults(run=_info)

    demo = commands.add_parser("demo", help="render the Mandelbrot set on every device, compute a mesh with arrays, and time both")
    demo.add_argument("--sizes", type=_sizes, default=(500, 2500, 5000, 10000), metavar="N,N", help="pixels a side")
    demo.add_argument("--peers", action="store_true", help="time Numba and TensorFlow too, where installed")
    demo.add_argument("--mesh", type=_side, default=2000, metavar="N", help="points a side of the mesh; 0 for none")
    demo.add_argument("--out", default=".", metavar="DIR", help="where mandelbrot.png, mandelbrot-times.png and mesh-times.png go")
    demo.set_defaults(run=_demo)

    profile = commands.add_parser("profile", help="run a script and show what the devices did")
    profile.add_argument("--trace", metavar="FILE", help="write a trace for Perfetto, too")
    profile.add_argument("script", help="a Python file")
    profile.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")
    profile.set_defaults(run=_profile)
    return parser


def _sizes(text: str) -> tuple[int, ...]:
    try:
        sizes = tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of whole numbers like 500,2500") from None
    if not sizes or min(sizes) < 1:
        raise argparse.ArgumentTypeError("sizes start at 1")
    return sizes


def _side(text: str) -> int:
    if not text.isdecimal() or int(text) == 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of points a side: 0, or 2 and more")
    return int(text)


def _info(_: argparse.Namespace) -> int:
    print(f"weft {weft.__version__}, Python {sys.version.split()[0]}")
    for device in weft.devices():
        print(f"{device.name:9} {device.description}")
        print(f"{'':9} {_parts(device)}, {device.memory_bytes / 2**30:.1f} GiB of memory")
        print(f"{'':9} {device.features}")
        if not device.float64:
            print(f"{'':9} no float64: Python's floats are float32 in its kernels, and arrays of float64 are refused")
    timer = _weft.cuda_profiler()
    cuda = _weft.cuda_status() + ([f"profiles are timed by {timer}"] if timer else []) + _libraries()
    for driver, lines in (("cuda", cuda), ("gpu", _weft.gpu_status())):
        print(f"{driver:9} " + f"\n{'':9} ".join(lines))
    return 0


def _libraries() -> list[str]:
    """What is said of NVIDIA's libraries for arrays, where there is a device for them."""
    if not any(device.kind == "cuda" for device in weft.devices()):
        return []
    try:
        return [f"arrays use {', '.join(nvidia.used()) or 'none of the libraries of NVIDIA'}"]
    except LibraryError as error:
        return [str(error)]


def _parts(device: weft.Device) -> str:
    if device.kind == "cpu":
        return f"{device.cores} {'core' if device.cores == 1 else 'cores'}, {device.simd_bits}-bit vectors"
    if device.kind == "cuda":
        return f"{device.cores} multiprocessors, warps of 32 threads"
    in_step = f"{device.simd_bits // 32} threads in step" if device.simd_bits else "threads in step unknown"
    return in_step + (", a driver that runs on the CPU" if device.software else "")


def _profile(options: argparse.Namespace) -> int:
    import runpy
    from pathlib import Path

    sys.argv = [options.script, *options.arguments]
    sys.path.insert(0, str(Path(options.script).resolve().parent))
    with weft.profile(options.trace):
        runpy.run_path(options.script, run_name="__main__")
    return 0


def _demo(options: argparse.Namespace) -> int:
    from weft import demo

    return demo.run(options.sizes, peers=options.peers, out=options.out, mesh=options.mesh)


if __name__ == "__main__":
    sys.exit(main())

"""A training step of small networks: `python run.py [--quick] [--cpu-time] [--cores N] [--first NETWORK CONTENDER] [NETWORK ...]`.

`mlp` is 784-512-256-10 of 128 rows, `cnn` two convolutions of 3 × 3 with pools of 2 × 2 and a linear layer of 64 pictures of 28 × 28; a
step is forward, backward and Adam, float32. Contenders' first five losses are compared with those of Weft in float64 before they are
timed in turns; a first step is timed in a new process with empty caches of compiled code, imports apart.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
NETWORKS = ("mlp", "cnn")


def first_step(network: str, name: str) -> dict[str, float]:
    """Seconds until the end of the first step, and of the import before it, in this process."""
    import importlib

    from harness import Clock
    from networks import CONTENDERS

    module, make = CONTENDERS[name]
    start = Clock.now()
    importlib.import_module(module)
    imported = Clock.now()
    loss = make(network)()
    return {"import": imported - start, "first": Clock.now() - imported, "loss": loss}


def measured_first(network: str, name: str, options: list[str]) -> dict[str, float] | None:
    """The same in a new process with empty caches; None where it fails."""
    with tempfile.TemporaryDirectory() as folder:
        places = {"WEFT_CACHE_DIR": folder, "TORCHINDUCTOR_CACHE_DIR": folder, "XDG_CACHE_HOME": folder}
        # Installed packages have their bytecode.
        places |= {"PYTHONDONTWRITEBYTECODE": ""}
        command = [sys.executable, __file__, *options, "--first", network, name]
        done = subprocess.run(command, env=os.environ | places, capture_output=True, text=True, check=False)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


def warm(step: Any, seconds: float = 3.0) -> Any:
    """A step that has been done for some time: what is compiled in the background is compiled."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        step()
    return step


def benchmark(network: str, seconds: float) -> Any:
    """A network as the harness takes it: its result is the first losses, then it goes on."""
    from harness import WEFT, Benchmark, Contender
    from networks import CONTENDERS, in_weft, losses

    def prepare(make: Any) -> Any:
        step = make(network)
        found = losses(step)
        warm(step)
        results = iter([found])
        # The harness looks at what the first call gives.
        return lambda: next(results, None) or step()

    def check(result: Any, reference: Any) -> str | None:
        off = max(abs(one - two) for one, two in zip(result, reference))
        return None if off < 2e-3 else f"losses {result} for {reference}"

    return Benchmark(
        name=network,
        title=network,
        contenders=[
            Contender(name, lambda make=make: prepare(make), WEFT if name == "weft" else "peer", module)
            for name, (module, make) in CONTENDERS.items()
        ],
        reference=lambda: losses(in_weft(network, "float64")),
        check=check,
        seconds=seconds,
    )


def main() -> None:
    """Measures what is asked for, and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help="mlp, cnn; both if none is given")
    parser.add_argument("--quick", action="store_true", help="a quarter of the time, no first steps")
    parser.add_argument("--cpu-time", action="store_true", help="times of the processor, one core: for a machine that is busy otherwise")
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--first", nargs=2, metavar=("NETWORK", "CONTENDER"), help="the first step of one, in this process")
    chosen = parser.parse_args()
    from harness import WEFT, Clock, installed, limit_threads, marked, run

    limit_threads(chosen.cores)

    if chosen.cpu_time:
        Clock.use_cpu_time()
    if chosen.first:
        print(json.dumps(first_step(*chosen.first)))
        return
    from networks import CONTENDERS
    from report import machine

    import weft

    versions = {"weft": weft.__version__} | installed(["jax", "torch"])
    print(f"{machine()}, {chosen.cores} used. {', '.join(f'{n} {v}' for n, v in versions.items())}.\n")
    print("| network | contender | step, ms | Weft / this | first step, s | this / Weft's first step |")
    print("|---|---|---:|---:|---:|---:|")
    for network in chosen.networks or NETWORKS:
        outcome = run(benchmark(network, 2.0 if chosen.quick else 8.0), lambda _: None)
        options = ["--cores", str(chosen.cores)] + ["--cpu-time"] * chosen.cpu_time
        if not chosen.quick:
            measured_first(network, WEFT, options)
        firsts = {name: None if chosen.quick else measured_first(network, name, options) for name in CONTENDERS}
        for row in outcome.rows:
            if row.best is None:
                print(f"| {network} | {row.name} | {row.note} | | | |", flush=True)
                continue
            first, own = firsts[row.name], firsts[WEFT]
            shown = [f"{row.best * 1e3:.2f}", marked(outcome.ratio(WEFT, row.name))]
            shown += [f"{first['first']:.2f}", f"{first['first'] / own['first']:.1f}"] if first and own else ["—", "—"]
            print(f"| {network} | {row.name} | {' | '.join(shown)} |", flush=True)


if __name__ == "__main__":
    main()

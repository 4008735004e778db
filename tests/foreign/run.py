"""``make foreign-ptx``: kernels that NVIDIA's own compilers made, on the stand-in for the CUDA driver, against NumPy.

Weft's emitter and the stand-in share their authors, so that they could share a mistake. Here PTX comes from NVRTC (CUDA C) and libNVVM
(LLVM IR), and what it must compute from NumPy, exact fractions and multiple precision. Each source is compiled for several generations of
GPUs, with and without debugging information, which gives PTX of two styles.

`expected.txt` lists what runs: unit and kernel, with `agrees`, or what else is expected of it and why. A kernel that is not in the list, and a
line without a kernel, fail the run as a wrong result does; ``--write`` adds and removes lines. Names of units as arguments run these alone.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXPECTED = HERE / "expected.txt"
AGREES = "agrees"

# The newest GPU and driver that the compilers know.
os.environ.setdefault("WEFT_DOUBLE_CC", "10.0")
os.environ.setdefault("WEFT_DOUBLE_DRIVER", "13050")
os.environ.setdefault("WEFT_DOUBLE_DEVICES", "1")


def variants(unit):
    """Generations and options a unit is compiled with."""
    for arch in unit.archs:
        yield arch, unit.options
    if unit.debug:
        yield unit.archs[-1], (*unit.options, "--device-debug" if unit.language == "cuda" else "-g")


def outcomes(driver, unit, show: bool) -> dict[str, str]:
    """What became of each kernel of a unit: `agrees`, or the first thing that went wrong."""
    import compilers
    from driver import Failed

    compile_ = compilers.cuda_c if unit.language == "cuda" else compilers.llvm_ir
    found = dict.fromkeys(unit.checks, AGREES)
    for arch, options in variants(unit):
        where = f"sm_{arch} {' '.join(options)}".strip()
        try:
            ptx = compile_(unit.source, arch, options)
            if show:
                (HERE / "build" / f"{unit.name}.{where.replace(' ', '')}.ptx").write_text(ptx)
            module = driver.load(ptx)
        except (compilers.Refused, Failed) as error:
            return {name: f"{where}: {str(error).strip().splitlines()[0]}" for name in unit.checks}
        for name, check in unit.checks.items():
            try:
                check(module)
            except (AssertionError, Failed) as error:
                said = " ".join(str(error).split())
                if found[name] == AGREES:
                    found[name] = f"{where}: {said[:300]}"
                if isinstance(error, Failed):
                    driver.reset()
                    module = driver.load(ptx)
        module.unload()
    return found


def read_expected() -> dict[str, str]:
    lines = EXPECTED.read_text().splitlines() if EXPECTED.exists() else []
    pairs = [line.split(None, 1) for line in lines if line.strip() and not line.startswith("#")]
    return {name: what for name, what in pairs}


def write_expected(found: dict[str, str], kept: dict[str, str]) -> None:
    head = "# Kernels that NVIDIA's compilers make of the sources here, and what is expected of each on the stand-in for the driver.\n"
    width = max(map(len, found))
    EXPECTED.write_text(head + "".join(f"{name:<{width}} {kept.get(name, AGREES)}\n" for name in found))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("units", nargs="*", help="units to run (all)")
    parser.add_argument("--write", action="store_true", help="write the list anew")
    parser.add_argument("--show", action="store_true", help="keep the PTX in the folder build")
    options = parser.parse_args()
    sys.path.insert(0, str(HERE))
    import sources
    from driver import Driver

    driver, expected = Driver(), read_expected()
    found: dict[str, str] = {}
    chosen = [unit for unit in sources.units() if not options.units or unit.name in options.units]
    for unit in chosen:
        begun = time.monotonic()
        of_unit = {f"{unit.name}/{name}": what for name, what in outcomes(driver, unit, options.show).items()}
        found |= of_unit
        print(
            f"{unit.name}: {sum(w == AGREES for w in of_unit.values())} of {len(of_unit)} kernels agree, {time.monotonic() - begun:.1f} s",
            flush=True,
        )
    if options.write:
        write_expected(found, expected)
        expected = read_expected()
    wrong = [f"{name}: {what}" for name, what in found.items() if expected.get(name, AGREES) == AGREES and what != AGREES]
    wrong += [
        f"{name}: agrees, and the list says: {expected[name]}"
        for name, what in found.items()
        if what == AGREES != expected.get(name, AGREES)
    ]
    wrong += [f"{name}: not in the list" for name in found if name not in expected]
    names = {unit.name for unit in chosen}
    wrong += [f"{name}: in the list, but there is none" for name in expected if name.split("/")[0] in names and name not in found]
    # A unit that does not load is said once.
    print("\n".join({line.split(": ", 1)[1]: line for line in reversed(wrong)}.values()))
    print(f"{len(found)} kernels, {len(wrong)} not as expected")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())

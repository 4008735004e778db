"""The programs of `examples/`, as a shell runs them but small: they find their own results right, on every device, and draw.

Each runs in this process, as `__main__`: functions of a Dask program travel to its workers by value then, as they do from a shell.
"""

from __future__ import annotations

import importlib
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.pictures import read_png

import weft

FOLDER = Path(__file__).parents[2] / "examples"
PAGE = FOLDER / "README.md"
SHARED = "common"
IN_FRAMEWORKS = {"doubling_tensorflow": "tensorflow", "doubling_torch": "torch"}
"""Programs without a picture, for frameworks that not everybody has."""
PROGRAMS = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in (SHARED, *IN_FRAMEWORKS))

SMALL = {
    "conjugate_gradients": ("--side", "12"),
    "cupy_newton": ("--side", "30"),
    "dask_terrain": ("--side", "128", "--chunk", "64"),
    "digits": ("--hidden", "32", "--epochs", "8"),
    "heat": ("--width", "50", "--steps", "10"),
    "heat_backwards": ("--width", "50", "--steps", "10", "--turns", "80"),
    "kmeans": ("--side", "16", "--colours", "4"),
    "least_squares": ("--side", "12", "--pictures", "9"),
    "lowpass": ("--side", "64", "--width", "10"),
    "mandelbrot": ("--side", "30"),
    "pca": ("--pictures", "300", "--side", "10"),
    "slingshot": ("--steps", "400", "--side", "60"),
    "pi": ("--points", "20000"),
}
"""Arguments that make each program a matter of a moment."""

ROW = re.compile(r"^  (?P<who>\S.*?) +(?P<first>[\d,.]+) ms +(?P<then>[\d,.]+) ms +(?P<ratio>[\d.]+)$", re.MULTILINE)
CHECK = re.compile(r"^  (?P<says>right|WRONG): (?P<what>.+): (?P<found>\S+), at most (?P<limit>\S+)$", re.MULTILINE)


NEEDS = {"dask_terrain": "distributed", "digits": "sklearn"}
"""What programs import beside NumPy and Weft."""


def skip_without(name: str) -> None:
    """Skips what needs a package that is not there."""
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])


def run(name: str, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> int:
    """A program's exit status."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setattr("common.PATIENCE", 0.0)
    monkeypatch.setattr(sys, "argv", [f"{name}.py", *arguments])
    # The Dask program sets it, for its workers.
    monkeypatch.setenv("WEFT_DEVICE", os.environ["WEFT_DEVICE"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_every_program_has_small_arguments() -> None:
    assert sorted(SMALL) == PROGRAMS


@pytest.mark.parametrize("name", PROGRAMS)
def test_is_right_on_every_device(name: str, device: weft.Device, tmp_path: Path, monkeypatch, capsys) -> None:
    if not device.float64:
        pytest.skip("the programs compute in float64")
    skip_without(name)
    if name == "dask_terrain" and device.kind != "cpu":
        pytest.skip("its workers are processes of their own, which would have to compile everything again")
    picture = tmp_path / "sub" / "picture.png"
    assert run(name, (*SMALL[name], "--device", device.name, "--out", str(picture)), monkeypatch) == 0
    text = capsys.readouterr().out

    assert device.name in text.splitlines()[0]
    rows = [row.groupdict() for row in ROW.finditer(text)]
    assert [row["who"] for row in rows][-1].startswith(("NumPy", "SciPy")) and rows[0]["who"].startswith("Weft") and len(rows) >= 2
    times = [float(row["then"].replace(",", "")) for row in rows]
    assert all(float(row["first"].replace(",", "")) > 0 for row in rows) and min(times) > 0
    for row, time in zip(rows, times):
        # Times are rounded to 10 µs, the ratio is of those that were not.
        assert float(row["ratio"]) == pytest.approx(times[-1] / time, rel=0.01 / min(times[-1], time) + 0.01, abs=0.01)

    checks = [each.groupdict() for each in CHECK.finditer(text)]
    assert len(checks) >= 2
    for each in checks:
        assert each["says"] == "right" and float(each["found"]) <= float(each["limit"])

    pixels = read_png(picture)
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) >= 3 and pixels.std() > 10
    assert f"wrote {picture}" in text


@pytest.mark.parametrize("name", IN_FRAMEWORKS)
def test_is_right_in_a_framework(name: str, monkeypatch, capsys) -> None:
    pytest.importorskip(IN_FRAMEWORKS[name])
    assert run(name, ("--elements", "1000"), monkeypatch) == 0
    text = capsys.readouterr().out
    assert next(row["who"] for row in ROW.finditer(text)) == "Weft"
    assert len(list(CHECK.finditer(text))) >= 3 and "WRONG" not in text


def test_a_wrong_result_is_said_and_makes_the_program_fail(tmp_path: Path, monkeypatch, capsys) -> None:
    true = weft.fft.rfft2
    monkeypatch.setattr(weft.fft, "rfft2", lambda x: 1.001 * true(x))
    assert run("lowpass", (*SMALL["lowpass"], "--out", str(tmp_path / "picture.png")), monkeypatch) == 1
    said = {each["what"]: each["says"] for each in CHECK.finditer(capsys.readouterr().out)}
    assert said["off from NumPy"] == "WRONG" and said["contrast over what it was"] == "right"


def test_nan_is_not_right(monkeypatch, capsys) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    common = importlib.import_module("common")
    assert not common.check("a number", float("nan"), 1)
    assert "WRONG" in capsys.readouterr().out


def test_from_a_shell(tmp_path: Path) -> None:
    program = [sys.executable, str(FOLDER / "pi.py"), "--points", "1000"]
    done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert read_png(tmp_path / "pi.png").shape == (240, 240, 3)
    refused = subprocess.run([*program[:-1], "0"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert refused.returncode == 2 and "not above 0" in refused.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("heat", "--width", "2"),
        ("lowpass", "--side", "1"),
        ("pi", "--points", "-3"),
        ("pi", "--points", "many"),
        ("dask_terrain", "--side", "50"),
    ],
    ids=" ".join,
)
def test_what_is_too_small_is_said(arguments: tuple[str, ...], monkeypatch, capsys) -> None:
    name, *given = arguments
    skip_without(name)
    assert run(name, tuple(given), monkeypatch) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert f"argument {given[0]}: " in said and given[1] in said


@pytest.mark.parametrize("name", PROGRAMS)
def test_devices_and_places_that_are_none_are_said(name: str, tmp_path: Path, monkeypatch, capsys) -> None:
    """Before anything is computed, and as other wrong arguments are."""
    skip_without(name)
    file = tmp_path / "file"
    file.write_text("")
    for given, why in (
        (("--device", "nothing"), "no device is called 'nothing' here; there is cpu"),
        (("--device", "cpu:7"), "no device is called 'cpu:7' here"),
        (("--device", ""), "no device is called ''"),
        (("--out", str(tmp_path)), f"{tmp_path} is a folder"),
        (("--out", ""), "is a folder"),
        (("--out", str(file / "sub" / "picture.png")), f"{file} is no folder"),
    ):
        assert run(name, given, monkeypatch) == 2
        said = capsys.readouterr().err.splitlines()[-1]
        assert f"error: argument {given[0]}: " in said and why in said


def test_the_same_points_on_every_device() -> None:
    """π by the same seed is the same number."""
    estimates = set()
    for device in weft.devices():
        if device.float64:
            with device:
                x, y = weft.random.default_rng(7).random((2, 5000))
                estimates.add(float(4 * (x * x + y * y < 1).mean()))
    assert len(estimates) == 1


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_gallery_shows_it(name: str) -> None:
    text = PAGE.read_text()
    assert f"]({name}.py)" in text and f"](pictures/{name}.png)" in text
    picture = FOLDER / "pictures" / f"{name}.png"
    assert picture.stat().st_size <= 60_000
    assert read_png(picture).std() > 10


def test_the_gallery_shows_nothing_else() -> None:
    shown = {path.stem for path in (FOLDER / "pictures").iterdir()}
    assert shown == set(PROGRAMS)
    assert set(re.findall(r"\]\((\w+)\.py\)", PAGE.read_text())) == {*PROGRAMS, *IN_FRAMEWORKS, SHARED}

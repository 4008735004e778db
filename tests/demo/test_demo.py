"""The demo end to end: the command, its table, its picture."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from support.pictures import read_png

from weft import cli, cuda, demo, demo_mesh

SIZE = 120


@pytest.fixture(scope="module")
def counts():
    """The picture by the undecorated function, in plain Python."""
    x0, x1, y0, y1 = demo.VIEW
    image = np.empty((SIZE, SIZE), np.uint16)
    for row in range(SIZE):
        for col in range(SIZE):
            x, y = x0 + col * (x1 - x0) / SIZE, y0 + row * (y1 - y0) / SIZE
            image[row, col] = demo.escape.py_func(x, y, demo.LIMIT)
    return image


def test_the_kernel_without_fused_products_equals_plain_python(counts):
    exact = cuda.jit(fma=False)(demo.mandelbrot.py_func)
    image = np.zeros_like(counts)
    exact.forall(image.shape)(*demo.VIEW, image, demo.LIMIT)
    np.testing.assert_array_equal(image, counts)


def test_the_command(tmp_path, counts, capsys):
    status = cli.main(["demo", "--sizes", f"{SIZE},40", "--mesh", "0", "--out", str(tmp_path)])
    assert status == 0
    text = capsys.readouterr().out
    for part in ("cpu", "pure Python", "scaled", f"{SIZE}x{SIZE}", "40x40", "times faster", "mandelbrot.png"):
        assert part in text
    pixels = read_png(tmp_path / "mandelbrot.png")
    wanted = demo.colour(counts)
    assert pixels.shape == wanted.shape
    # The kernel fuses products into sums, so a pixel at the very edge of the set may leave one round sooner or later.
    assert (pixels == wanted).all(axis=2).mean() > 0.99
    assert (tmp_path / "mandelbrot-times.png").stat().st_size > 1000


def test_what_would_take_too_long_is_scaled_and_says_so(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(demo, "PATIENCE", 0.0)
    assert cli.main(["demo", "--sizes", "24,48", "--mesh", "0", "--out", str(tmp_path)]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if " cpu " in line]
    assert len(lines) == 2
    assert "24x24" in lines[0] and "scaled" not in lines[0]
    assert "48x48" in lines[1] and lines[1].endswith("scaled from 24 x 24")


def test_the_program_runs_from_a_shell(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", "from weft.cli import main; raise SystemExit(main())", "info"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert "cpu" in run.stdout and "core" in run.stdout and "GiB" in run.stdout


def test_the_mesh(tmp_path, capsys):
    assert cli.main(["demo", "--sizes", "8", "--mesh", "300", "--out", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    for part in ("300 x 300", "NumPy, naive", "Weft, naive", "Weft, kernel by hand", "peak memory", "mesh-times.png"):
        assert part in text
    assert (tmp_path / "mesh-times.png").stat().st_size > 1000


@pytest.mark.parametrize("way", ["weft", "kernel"])
def test_every_way_to_the_mesh_gives_the_same_distances(way):
    side = 40
    wanted = demo_mesh.naive(np, side)
    np.testing.assert_allclose(demo_mesh.WAYS[way][1]()(side), wanted, rtol=1e-12)
    assert wanted[0, 0] == pytest.approx(demo_mesh.distance(29.0, 99.0, *demo_mesh.PLACE))


def test_what_the_mesh_takes_is_counted():
    # In a process of its own, as the demo does: in one that has run other tests the memory may be there already.
    code = "import json; from weft import demo_mesh; print(json.dumps(demo_mesh.measure('numpy', 700)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert found["seconds"] > 0 and found["first"] > 0
    if found["memory"] is not None:
        assert found["memory"] > 700 * 700 * 8


def test_sizes_that_make_no_sense(capsys):
    for sizes in ("0", "a", "10,-1"):
        with pytest.raises(SystemExit):
            cli.main(["demo", "--sizes", sizes])
    assert "sizes" in capsys.readouterr().err
    for side in ("1", "a", "-3"):
        with pytest.raises(SystemExit):
            cli.main(["demo", "--mesh", side])

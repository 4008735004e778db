"""Profiles: what is recorded on every device, the table, the trace, and the command that profiles a script."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import weft
from weft import cuda

pytestmark = pytest.mark.usefixtures("device")


def kernel():
    """A new kernel, so that it is compiled within the profile."""

    @cuda.jit
    def add_one(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] += 1

    return add_one


def test_launches_copies_and_compiles_are_recorded(device, capsys, tmp_path):
    add_one = kernel()
    host = np.zeros(1 << 16)
    with weft.profile(tmp_path / "trace.json") as p:
        stream = cuda.stream()
        a = cuda.to_device(host, stream=stream)
        for _ in range(5):
            add_one[256, 256, stream](a)
        a.copy_to_host(host, stream=stream)
        stream.synchronize()
    assert host[0] == 5
    launches = [one for one in p.activities if one.what == "kernel"]
    assert [one.name for one in launches] == ["add_one"] * 5
    assert all(one.device == device.name and one.duration > 0 for one in launches)
    copies = {one.what: one.bytes for one in p.activities if one.what.startswith("copy")}
    assert copies == {"copy to device": host.nbytes, "copy to host": host.nbytes}
    assert any(one.what == "compile" and one.name == "add_one" for one in p.activities)
    starts = [one.start for one in p.activities]
    assert starts == sorted(starts)

    table = capsys.readouterr().out
    assert f"{device.name}: kernels and copies" in table and "compiler" in table
    row = next(line for line in table.splitlines() if line.endswith("add_one") and " 5 " in line)
    assert len(row.split()) == 7

    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert sum(event["ph"] == "X" and event["name"] == "add_one" and event["cat"] == "kernel" for event in events) == 5
    names = {event["args"]["name"] for event in events if event["name"] == "process_name"}
    assert names == {device.name, "compiler"}


def test_nothing_is_recorded_outside():
    with weft.profile(show=False) as p:
        pass
    kernel()[1, 32](cuda.to_device(np.zeros(8)))
    assert p.activities == [] and p.table() == "nothing was recorded"


def test_functions_and_ufuncs_of_the_cpu_are_recorded(device):
    if device.kind != "cpu":
        pytest.skip("functions of jit run on the CPU")

    @weft.njit
    def total(a):
        s = 0.0
        for x in a:
            s += x
        return s

    with weft.profile(show=False) as p:
        assert total(np.ones(10)) == 10
    assert [one.name for one in p.activities if one.what == "kernel"] == ["total"]


def test_a_script_is_profiled(tmp_path):
    script = tmp_path / "work.py"
    script.write_text(
        "import sys\nimport numpy as np\nfrom weft import cuda\n\n\n"
        "@cuda.jit\ndef fill(a, v):\n    i = cuda.grid(1)\n    if i < a.size:\n        a[i] = v\n\n\n"
        "a = np.zeros(100)\nfill.forall(100)(a, float(sys.argv[1]))\nprint('filled with', a[0])\n"
    )
    run = subprocess.run(
        [sys.executable, "-m", "weft.cli", "profile", "--trace", str(tmp_path / "t.json"), str(script), "3"],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert "filled with 3.0" in run.stdout and "fill" in run.stdout and "time (%)" in run.stdout
    assert (tmp_path / "t.json").exists()

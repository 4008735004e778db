"""Profiles: what is recorded on every device, the table, the trace, and the command that profiles a script."""

from __future__ import annotations

import itertools
import json
import os
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


ADD_ONE = kernel()
# Nanoseconds by which the clocks of a GPU and of the host may be read differently.
SLACK = {"CUPTI": 1_000_000, "CUDA": 50_000_000, "": 50_000_000}


@weft.njit
def mark():
    """Runs on the CPU, whose rows have the host's times."""
    return 0


def record(streams, launches):
    """A profile of launches on several streams, between a mark before and one after, and the arrays."""
    arrays = [cuda.to_device(np.zeros(100_000, np.float32), stream=stream) for stream in streams]
    for stream, array in zip(streams, arrays, strict=True):
        ADD_ONE[400, 256, stream](array)
    cuda.synchronize()
    with weft.profile(show=False) as p:
        mark()
        for _ in range(launches):
            for stream, array in zip(streams, arrays, strict=True):
                ADD_ONE[400, 256, stream](array)
        copies = [array.copy_to_host(stream=stream) for stream, array in zip(streams, arrays, strict=True)]
        cuda.synchronize()
        mark()
    assert all((copy == launches + 1).all() for copy in copies)
    return p


def test_times_lie_within_those_of_the_host(device):
    streams = [cuda.stream() for _ in range(3)]
    mark()
    p = record(streams, 20)
    assert p.missing == 0
    slack = SLACK[p.timers.get(device.kind, "").split(" ")[0]]
    before, after = [one for one in p.activities if one.name == "mark"]
    ours = [one for one in p.activities if one.name != "mark"]
    assert sorted(one.name for one in ours) == ["add_one"] * 60 + ["copy to host"] * 3
    for one in ours:
        assert one.duration > 0 and one.device == device.name
        assert one.start + slack >= before.start + before.duration and one.start + one.duration <= after.start + slack
    if device.kind == "cuda":
        for stream in streams:
            mine = [one for one in ours if one.stream == stream.handle]
            assert len(mine) == 21
            assert all(one.start + one.duration <= two.start + 1000 for one, two in itertools.pairwise(mine))


def test_cupti_and_events_record_the_same(device, monkeypatch):
    if device.kind != "cuda":
        pytest.skip("other devices have one way to be timed")
    stream = [cuda.stream()]
    by_cupti = record(stream, 10)
    monkeypatch.setenv("WEFT_CUPTI", "none")
    by_events = record(stream, 10)
    assert by_events.timers == {"cuda": "CUDA events (CUPTI is turned off: WEFT_CUPTI=none)"}
    assert f"{device.name}: kernels and copies, timed by CUDA events (" in by_events.table()
    timer = by_cupti.timers["cuda"]
    if timer.startswith("CUDA events"):
        pytest.skip(timer)
    assert timer.startswith("CUPTI (") and f"{device.name}: kernels and copies, timed by CUPTI (" in by_cupti.table()
    rows = [[(one.what, one.name, one.bytes, one.stream) for one in p.activities] for p in (by_cupti, by_events)]
    assert rows[0] == rows[1]


def test_a_library_that_is_not_there_is_said(device, monkeypatch, tmp_path):
    if device.kind != "cuda":
        pytest.skip("other devices have one way to be timed")
    monkeypatch.setenv("WEFT_CUPTI", str(tmp_path / "libcupti.so"))
    p = record([cuda.stream()], 1)
    assert p.timers["cuda"].startswith(f"CUDA events (CUPTI {tmp_path / 'libcupti.so'} cannot be used: ")
    info = subprocess.run([sys.executable, "-m", "weft.cli", "info"], capture_output=True, text=True, check=True).stdout
    assert f"profiles are timed by {p.timers['cuda']}" in info


def test_what_is_missing_is_said():
    p = weft.profile()
    assert "not listed" not in p.table()
    p.missing = 2
    assert p.table() == "not listed, since their times did not arrive: 2 launches and copies"


def test_a_cupti_that_gives_nothing_is_told_apart_from_nothing_done(tmp_path):
    if os.environ.get("WEFT_CUDA_DRIVER") != "double":
        pytest.skip("records are lost by the driver's double only")
    script = tmp_path / "lost.py"
    script.write_text(
        "import numpy as np, weft\nfrom weft import cuda\n\nwith weft.device('cuda'), weft.profile():\n    cuda.to_device(np.zeros(9))\n"
    )
    environment = {**os.environ, "WEFT_DOUBLE_FAIL": "cuptiActivityRecord=1", "WEFT_CUPTI": ""}
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=environment, check=True)
    wanted = "not listed, since their times did not arrive: 1 launches and copies; WEFT_CUPTI=none has CUDA events time them"
    assert run.stdout.strip() == wanted


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

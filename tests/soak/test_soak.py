"""A minute of mixed work in threads, with forks and interrupts: results right, memory flat. `soak.py` does it for longer."""

import os
import subprocess
import sys
from pathlib import Path


def test_soak():
    seconds = os.environ.get("WEFT_SOAK", "60")
    script = Path(__file__).with_name("soak.py")
    done = subprocess.run([sys.executable, str(script), "--seconds", seconds], capture_output=True, text=True, timeout=float(seconds) + 240)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WRONG" not in done.stdout and "pieces of work" in done.stdout

"""The generator still gives the polynomials that the library holds. (`coefficients.py --check` compares all of them, in a minute.)"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

GENERATOR = Path(__file__).resolve().parents[2] / "crates" / "math" / "generate" / "coefficients.py"


def test_generator_reproduces_the_sources():
    done = subprocess.run([sys.executable, GENERATOR, "--check", "_f32"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("error 2^-") >= 10

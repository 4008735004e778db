"""Makes ``tests/support`` importable by every test, and gives tests the devices that are present.

Tests that do not say where they run do so on the CPU; those that take the `device` fixture run once on a device of each kind. ``make test``
has the CUDA driver's double in place of a driver, so that CUDA devices are present on every machine.
"""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
os.environ.setdefault("WEFT_DEVICE", "cpu")

# A second Vulkan driver, with neither float64 nor int64, beside those of the machine. It comes behind those that have float64.
SWIFTSHADER = [Path("/usr/lib/chromium"), Path(sys.prefix) / "swiftshader"]
for folder in SWIFTSHADER:
    if (folder / "vk_swiftshader_icd.json").exists():
        os.environ.setdefault("VK_ADD_DRIVER_FILES", str(folder / "vk_swiftshader_icd.json"))


def pytest_generate_tests(metafunc):
    """Runs what takes `device` on the first device of each kind."""
    if "device" in metafunc.fixturenames and "device" not in _own_parameters(metafunc):
        import weft

        first = {device.kind: device.name for device in reversed(weft.devices())}
        metafunc.parametrize("device", sorted(first.values(), reverse=True), indirect=True)


def _own_parameters(metafunc):
    """Names that the test's own marks give values."""
    marks = metafunc.definition.iter_markers("parametrize")
    return {name.strip() for mark in marks for name in (mark.args[0].split(",") if isinstance(mark.args[0], str) else mark.args[0])}


@pytest.fixture
def device(request):
    """The device that kernels of the test run on."""
    import weft

    with weft.device(request.param) as chosen:
        yield chosen

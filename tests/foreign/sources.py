"""Every unit, in the order they run."""

from __future__ import annotations

import floats
import groups
import integers
import ir
import memory
import threads
from unit import Unit


def units() -> list[Unit]:
    return [*integers.units(), *floats.units(), *threads.units(), *groups.units(), *memory.units(), *ir.units()]

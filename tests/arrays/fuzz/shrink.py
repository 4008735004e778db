"""Makes a program that fails a small one: takes away statements while the same failure stays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from arrays.fuzz.programs import Program


def shrink(program: Program, fails: Callable[[Program], bool], most: int = 800) -> Program:
    """The smallest program found in so many tries for which `fails` holds."""
    tries = 0
    size = max(len(program.lines) // 2, 1)
    while tries < most:
        before = len(program.lines)
        for start in range(before - size, -size, -size):
            lines = program.lines[: max(start, 0)] + program.lines[start + size :]
            smaller = replace(program, lines=lines)
            tries += 1
            if len(lines) < len(program.lines) and fails(smaller):
                program = smaller
        if size == 1 and len(program.lines) == before:
            break
        size = max(size // 2, 1)
    return program

"""What came of running a program: what it gave and wrote, what it raised, or that it was refused; and whether two of these are the same."""

from __future__ import annotations

import linecache
import os
import tempfile
import traceback
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from fuzz.faces import text_for
from fuzz.programs import Program


@dataclass
class Outcome:
    """`gave`: result and arguments afterwards. `raised`: an exception of the program's. `refused`: by the compiler, which says why."""

    what: str
    values: Any = None
    message: str = ""


def run(program: Program, face: str) -> Outcome:
    """Runs the program's main function under a face, on fresh arguments."""
    text = text_for(program.text, face)
    handle, path = tempfile.mkstemp(suffix=".py", prefix="fuzz_")
    with os.fdopen(handle, "w") as file:
        file.write(text)
    try:
        return _run(program, text, path, face)
    finally:
        os.unlink(path)
        # Python keeps the lines of every file that was ever asked for.
        linecache.cache.pop(path, None)


def _run(program: Program, text: str, path: str, face: str) -> Outcome:
    args = [i.make() for i in program.inputs]
    names: dict[str, Any] = {"__name__": "fuzzed", "__file__": path}
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(text, path, "exec"), names)
            result = names["main"](*args)
    except Exception as error:
        kind = type(error).__name__
        if face.startswith("weft") and any(c.__name__ == "WeftError" for c in type(error).__mro__):
            # Those of a launch that found an error in the program are of its class, too.
            return Outcome("refused", kind, str(error))
        if face.startswith("weft") and os.environ.get("WEFT_CHECK") and "threads wait at this barrier; all must reach" in str(error):
            # Checked mode wants all threads of a block at each barrier, those too that go on to the end.
            return Outcome("refused", kind, str(error))
        if face == "numba" and (type(error).__module__.startswith("numba") or _is_of_the_compiler(error)):
            return Outcome("refused", kind, str(error))
        return Outcome("raised", (kind, args), str(error))
    return Outcome("gave", (result, args))


def _is_of_the_compiler(error: Exception) -> bool:
    """Whether Numba failed at compiling, in whatever way: what compiled code raises comes through none of its files."""
    frames = traceback.walk_tb(error.__traceback__)
    return any(f"{os.sep}numba{os.sep}core{os.sep}" in frame.f_code.co_filename for frame, _ in frames)


DEFECTS = ("LLVM IR line", "a defect of Weft")
"""What a refusal says that is none."""


def difference(want: Outcome, got: Outcome, types: bool = True) -> str | None:
    """How they differ, in a line; nothing if they do not, or where the undecorated program is outside the contract."""
    if got.what == "refused" and any(words in got.message for words in DEFECTS):
        return f"the compiler failed: {got.message}"[:1000]
    if outside(want) or got.what == "refused":
        return None
    if want.what != got.what:
        told = got.values[0] if got.what == "raised" else "a result"
        return f"{want.what} {want.values[0]!r}, got {told!r} {got.message}"[:1000]
    if want.what == "raised" and want.values[0] != got.values[0]:
        return f"raised {want.values[0]}, got {got.values[0]} {got.message}"
    if want.what == "gave":
        told = _compare(want.values[0], got.values[0], "result", types)
        if told:
            return told
    return _compare(want.values[1], got.values[1], "arguments", types)


INVALID = ("TypeError", "NameError", "SyntaxError", "AttributeError", "RecursionError")
"""What a program raises only if the generator wrote nonsense."""


def invalid(want: Outcome) -> bool:
    """Whether the program is no program."""
    if want.what == "raised":
        return want.values[0] in INVALID
    return want.what == "gave" and not _is_data(want.values[0])


def _is_data(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return all(map(_is_data, value))
    return value is None or isinstance(value, (np.ndarray, np.generic, bool, int, float, complex))


def outside(want: Outcome) -> bool:
    """Whether an undecorated program did what compiled code is not promised to do: Python's integers left what NumPy's can hold."""
    return want.what == "refused" or (want.what == "raised" and want.values[0] == "OverflowError")


def _compare(want: Any, got: Any, where: str, types: bool) -> str | None:
    if isinstance(want, (tuple, list)):
        if not isinstance(got, type(want)) or len(want) != len(got):
            return f"{where}: {got!r}, expected {want!r}"
        return next((told for n, (w, g) in enumerate(zip(want, got)) if (told := _compare(w, g, f"{where}[{n}]", types))), None)
    if want is None:
        return None if got is None else f"{where}: {got!r}, expected nothing"
    is_array = isinstance(want, np.ndarray) and want.ndim > 0
    same_type = type(got) is type(want) if not isinstance(want, np.ndarray) or is_array else True
    if (types and not same_type) or (is_array and (got.dtype != want.dtype or got.shape != want.shape)):
        return f"{where}: {got!r} ({_type(got)}), expected {want!r} ({_type(want)})"
    return None if _same_bits(np.asarray(want), np.asarray(got)) else f"{where}: {got!r}, expected {want!r}"


def _type(value: Any) -> str:
    return f"{value.dtype}{list(value.shape)}" if isinstance(value, np.ndarray) else type(value).__name__


def _same_bits(want: np.ndarray, got: np.ndarray) -> bool:
    """Equal numbers with equal signs of zeros; any NaN is any other."""
    if want.dtype.kind == "c":
        return _same_bits(want.real, got.real) and _same_bits(want.imag, got.imag)
    if want.dtype.kind != "f" or got.dtype.kind != "f":
        return bool(np.all(want == got))
    nan = np.isnan(want) & np.isnan(got)
    return bool(np.all(nan | ((want == got) & (np.signbit(want) == np.signbit(got)))))

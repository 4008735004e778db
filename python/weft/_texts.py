"""Where the text of a code object may be, and whether a text is the one it was compiled from.

A file that has not changed since the start is taken at its word. Any other text (of a cell, of `python -c`, of the standard input, of an
interactive session, of a string given to `exec`) is compiled again and must give the very code.
"""

import __future__

import inspect
import itertools
import linecache
import os
import sys
from collections.abc import Iterator
from types import CodeType, FrameType, FunctionType

from weft import _started

# What `from __future__ import …` leaves in the flags of code.
_FUTURES = 0
for _name in __future__.all_feature_names:
    _FUTURES |= getattr(__future__, _name).compiler_flag
# What two code objects of one text have in common, but for their constants.
_TOLD = (
    "co_name", "co_firstlineno", "co_code", "co_flags", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_argcount",
    "co_posonlyargcount", "co_kwonlyargcount",
)  # fmt: skip
# A session's statements are looked for among so many lines, newest first.
_TYPED_LINES = 2000


def lines_of(function: FunctionType) -> list[str] | None:
    """The lines in which the code of a function has its line numbers; None if there are none that hold it."""
    code = function.__code__
    linecache.checkcache(code.co_filename)
    kept = linecache.getlines(code.co_filename, function.__globals__)
    if kept and (_is_old_file(code.co_filename) or _holds("".join(kept), code)):
        return kept
    found = next((text for text in _others(code) if _holds(text, code)), None)
    return None if found is None else found.splitlines(keepends=True)


def was_edited(code: CodeType) -> bool:
    """Whether there is a file of that name, which so must hold another text."""
    return os.path.exists(code.co_filename)


def _is_old_file(file: str) -> bool:
    try:
        return os.stat(file).st_mtime < _started
    except OSError:
        return False


def _others(code: CodeType) -> Iterator[str]:
    """Texts that may be the one."""
    if code.co_filename == "<stdin>":
        yield from _input()
        yield from _typed(code)
    elif not was_edited(code):
        word = "lambda" if code.co_name == "<lambda>" else code.co_name
        seen: set[str] = set()
        # Not with the module: its patterns take longer to compile than a short function.
        import textwrap

        for text in itertools.chain(sys.orig_argv, _strings()):
            # `python -c` takes indented text since 3.14, and strings are often indented as the code around them.
            new = {text, textwrap.dedent(text)} - seen if word in text else ()
            seen.update(new)
            yield from new


def _input() -> Iterator[str]:
    """The standard input, where it is a file: what came through a pipe is gone."""
    try:
        size = os.fstat(0).st_size
        yield os.pread(0, size, 0).decode()
    except (OSError, ValueError):
        return


def _typed(code: CodeType) -> Iterator[str]:
    """Statements of an interactive session. Since 3.13 Python keeps them itself."""
    history = sys.modules.get("readline")
    if history is None:
        return
    last = history.get_current_history_length()
    lines = [f"{history.get_history_item(i)}\n" for i in range(max(1, last - _TYPED_LINES), last + 1)]
    for start in reversed(range(len(lines))):
        if code.co_name == "<lambda>":
            yield lines[start]
        elif lines[start].startswith(("def ", "@")):
            yield "".join(inspect.getblock(lines[start:]))


def _strings() -> Iterator[str]:
    """Strings at hand in the calling functions, as one given to `exec` mostly is.

    Variables come last: before Python 3.13, to ask for those of a frame writes them into the dict that `locals()` gave it.
    """
    frames = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    for frame in frames:
        yield from (text for text in frame.f_code.co_consts if isinstance(text, str))
    for frame in frames:
        yield from (text for text in list(frame.f_globals.values()) if isinstance(text, str))
    for frame in frames:
        yield from (text for text in list(frame.f_locals.values()) if isinstance(text, str))


def _holds(text: str, code: CodeType) -> bool:
    """Whether the text compiles to this very code, among other."""
    try:
        module = compile(text, code.co_filename, "exec", code.co_flags & _FUTURES, dont_inherit=True)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return any(_same(code, other) for other in _codes(module))


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _same(a: CodeType, b: CodeType) -> bool:
    if any(getattr(a, what) != getattr(b, what) for what in _TOLD) or constants(a) != constants(b):
        return False
    own, others = ([c for c in code.co_consts if isinstance(c, CodeType)] for code in (a, b))
    return len(own) == len(others) and all(map(_same, own, others))


def constants(code: CodeType) -> list[str]:
    """The constants of a code object but for other code."""
    return [repr(constant) for constant in code.co_consts if not isinstance(constant, CodeType)]
